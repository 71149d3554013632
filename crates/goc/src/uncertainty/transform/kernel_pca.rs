//! Kernel PCA: the paper's Example 2, after Schölkopf, Smola & Müller (1998).
//!
//! Principal components in the space of a kernel `k(a, b)`, fitted once to the measured values `z_1
//! .. z_n`: the kernel matrix is centred, `K' = K - 1K - K1 + 1K1` with `1` the matrix of 1/n, and
//! its largest eigenvalues `l_c` and eigenvectors `v_c` are computed. Any point is then projected
//! using its own centred row of kernel values:
//!
//! ```text
//! x_c(z) = sum_i v_ci / sqrt(l_c) * (k(z, z_i) - mean_j k(z, z_j) - mean_j k(z_i, z_j) + mean_jl k(z_j, z_l))
//! ```
//!
//! An eigenvector of the centred matrix sums to zero, so of the three means only that over `k(z_i,
//! z_j)` remains in the sum, and it does not depend on `z`.
//!
//! The sign of an eigenvector is chosen so that its largest entry is positive. Fitting takes n^2
//! memory and some hundred products of the matrix with a vector ([`crate::eigen`]); if the
//! eigenvalues are too close together for these products to separate them, it takes n^3 time. A
//! projection takes n kernel values.
//!
//! The default `gamma` is `1 / (d var)`, with `var` the variance of all coordinates of all points
//! together: scikit-learn's "scale" rule for its kernel machines, which, unlike its plain 1/d, does
//! not depend on the unit.
//!
//! The same points give bit-identical results on every machine, with any number of threads.

use super::pca::power_of_two;
use super::{Rejection, Transform, TransformError, sign_of_largest};
use crate::eigen::lanczos::{BLOCK, Lane, Largest, largest};
use crate::eigen::ql::largest_first;
use crate::elementary::exp;
use crate::points::squared_distance;
use crate::{Points, random};
use rayon::prelude::*;

/// Residual of an eigenvector, in units of the matrix's norm.
const TOLERANCE: f64 = 1e-12;
/// Restarts before the matrix is fully decomposed; two to eight are usual.
const RESTARTS: usize = 100;
/// The stream that the search for eigenvectors begins from.
const STREAM: u64 = 0x6b65_726e_5f70_6361;

/// A kernel. `gamma: None` is `1 / (d var)`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kernel {
    /// `exp(-gamma |a - b|^2)`.
    Rbf {
        /// Inverse squared width; positive.
        gamma: Option<f64>,
    },
    /// `(gamma <a, b> + coef0)^degree`.
    Polynomial {
        /// At least 1.
        degree: u32,
        /// Factor of the inner product; positive.
        gamma: Option<f64>,
        /// Non-negative; otherwise the kernel would not be positive.
        coef0: f64,
    },
}

/// A kernel with its gamma known.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fitted {
    Rbf { gamma: f64 },
    Polynomial { degree: i32, gamma: f64, coef0: f64 },
}

impl Fitted {
    fn value(self, a: &[f64], b: &[f64]) -> f64 {
        match self {
            Fitted::Rbf { gamma } => exp(-gamma * squared_distance(a, b)),
            Fitted::Polynomial { degree, gamma, coef0 } => {
                let inner: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
                (gamma * inner + coef0).powi(degree)
            }
        }
    }
}

/// Projection on the first principal components in the space of a kernel.
///
/// ```
/// use goc::Points;
/// use goc::uncertainty::transform::{Kernel, KernelPca, Transform};
/// // Two rings: no straight line separates them, the first kernel component may.
/// let ring = |r: f64| (0..20).flat_map(move |i| [r * (0.314 * i as f64).cos(), r * (0.314 * i as f64).sin()]);
/// let points = Points::new(ring(1.0).chain(ring(3.0)).collect(), 2)?;
/// let f = KernelPca::fit(&points, Kernel::Rbf { gamma: Some(1.0) }, 1)?;
/// let (mut inner, mut outer) = ([0.0], [0.0]);
/// f.apply(&[0.0, 1.0], &mut inner).unwrap();
/// f.apply(&[0.0, 3.0], &mut outer).unwrap();
/// assert!((inner[0] - outer[0]).abs() > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KernelPca {
    points: Points,
    kernel: Fitted,
    /// `v_ci / sqrt(l_c)`, for each point the values of all components.
    weights: Vec<f64>,
    /// For each component the sum over i of its weights times the row means of K.
    weighted_means: Vec<f64>,
    eigenvalues: Vec<f64>,
}

impl KernelPca {
    /// The maximum number of points it can be fitted to: their matrix then takes 3.2 GB.
    pub const MOST_POINTS: usize = 20_000;

    /// The first `components` components of `points`.
    pub fn fit(points: &Points, kernel: Kernel, components: usize) -> Result<Self, TransformError> {
        let n = points.len();
        if components == 0 {
            return Err(TransformError::Empty);
        }
        if n < 2 {
            return Err(TransformError::TooFewPoints { points: n });
        }
        if n > Self::MOST_POINTS {
            return Err(TransformError::TooManyPoints { points: n, most: Self::MOST_POINTS });
        }
        let kernel = resolve(kernel, points)?;
        let mut matrix = vec![0.0; n * n];
        matrix.par_chunks_exact_mut(n).enumerate().for_each(|(i, row)| {
            row.iter_mut().enumerate().for_each(|(j, k)| *k = kernel.value(points.row(i), points.row(j)));
        });
        if let Some(at) = matrix.iter().position(|k| !k.is_finite()) {
            return Err(TransformError::KernelNotFinite { first: at % n, second: at / n });
        }
        // The matrix is symmetric, so its column means are its row means.
        let row_means: Vec<f64> =
            matrix.chunks_exact(n).map(|row| row.iter().sum::<f64>() / n as f64).collect();
        let mean = row_means.iter().sum::<f64>() / n as f64;
        matrix.par_chunks_exact_mut(n).enumerate().for_each(|(i, row)| {
            row.iter_mut().zip(&row_means).for_each(|(k, other)| *k = *k - other - row_means[i] + mean);
        });
        let found = largest_pairs(matrix, n, components)?;
        let nothing = found.values[0].max(0.0) * f64::EPSILON * n as f64;
        // Those that were found are the largest: if one of them is nothing, all the others are too.
        let available = found.values.iter().filter(|value| **value > nothing).count();
        if components > available {
            return Err(TransformError::TooManyComponents { asked: components, available });
        }
        let mut weights = vec![0.0; n * components];
        let mut weighted_means = vec![0.0; components];
        for (c, (value, vector)) in found.values.iter().zip(found.vectors.chunks_exact(n)).enumerate() {
            let scale = sign_of_largest(vector.iter().copied()) / value.sqrt();
            for (i, v) in vector.iter().enumerate() {
                weights[i * components + c] = v * scale;
                weighted_means[c] += v * scale * row_means[i];
            }
        }
        let eigenvalues = found.values;
        Ok(Self { points: points.clone(), kernel, weights, weighted_means, eigenvalues })
    }

    /// The eigenvalues of the centred kernel matrix, largest first.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// The gamma in use: the one given, or the default.
    pub fn gamma(&self) -> f64 {
        match self.kernel {
            Fitted::Rbf { gamma } | Fitted::Polynomial { gamma, .. } => gamma,
        }
    }
}

/// The `k` largest eigenpairs of a matrix of side `n`, or all if there are fewer.
fn largest_pairs(mut matrix: Vec<f64>, n: usize, k: usize) -> Result<Largest, TransformError> {
    let norm = matrix.chunks_exact(n).map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max);
    if !norm.is_finite() || matrix.iter().any(|x| x.is_nan()) {
        return Err(TransformError::NoConvergence);
    }
    // A norm between 1 and 2, by an exact division.
    let unit = power_of_two(norm);
    matrix.iter_mut().for_each(|x| *x /= unit);
    let apply = |x: &[Lane], y: &mut [Lane]| {
        y.par_iter_mut().zip(matrix.par_chunks_exact(n)).for_each(|(y, row)| *y = weighted_sum(row, x));
    };
    let mut found = largest(n, k, apply, TOLERANCE, RESTARTS, &mut random::stream(STREAM, 0));
    if !found.converged {
        let (mut values, mut vectors) = largest_first(matrix, n);
        values.truncate(k);
        vectors.truncate(k * n);
        found = Largest { values, vectors, ..found };
    }
    found.values.iter_mut().for_each(|value| *value *= unit);
    Ok(found)
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn weighted_sum(row: &[f64], x: &[Lane]) -> Lane {
    let mut sum = [0.0; BLOCK];
    for (k, x) in row.iter().zip(x) {
        for l in 0..BLOCK {
            sum[l] += k * x[l];
        }
    }
    sum
}

fn resolve(kernel: Kernel, points: &Points) -> Result<Fitted, TransformError> {
    let gamma_of = |given: Option<f64>| match given {
        Some(value) if value.is_finite() && value > 0.0 => Ok(value),
        Some(value) => {
            Err(TransformError::Kernel { name: "gamma", value, must: "must be a finite number above 0" })
        }
        None => default_gamma(points),
    };
    match kernel {
        Kernel::Rbf { gamma } => Ok(Fitted::Rbf { gamma: gamma_of(gamma)? }),
        Kernel::Polynomial { degree, gamma, coef0 } => {
            let power = i32::try_from(degree).unwrap_or(i32::MAX);
            if degree == 0 || power > 100 {
                return Err(TransformError::Kernel {
                    name: "degree",
                    value: f64::from(degree),
                    must: "must be from 1 to 100",
                });
            }
            if !(coef0.is_finite() && coef0 >= 0.0) {
                return Err(TransformError::Kernel {
                    name: "coef0",
                    value: coef0,
                    must: "must be a finite number not below 0",
                });
            }
            Ok(Fitted::Polynomial { degree: power, gamma: gamma_of(gamma)?, coef0 })
        }
    }
}

fn default_gamma(points: &Points) -> Result<f64, TransformError> {
    let count = points.values().len() as f64;
    let mean = points.values().iter().sum::<f64>() / count;
    let variance = points.values().iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
    let gamma = 1.0 / (points.features() as f64 * variance);
    if gamma.is_finite() && gamma > 0.0 {
        Ok(gamma)
    } else {
        Err(TransformError::TooManyComponents { asked: 1, available: 0 }) // all values equal
    }
}

impl Transform for KernelPca {
    fn inputs(&self) -> Option<usize> {
        Some(self.points.features())
    }

    fn outputs(&self) -> usize {
        self.eigenvalues.len()
    }

    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
        for (slot, constant) in x.iter_mut().zip(&self.weighted_means) {
            *slot = -constant;
        }
        for (point, weights) in self.points.rows().zip(self.weights.chunks_exact(x.len())) {
            let value = self.kernel.value(z, point);
            for (slot, w) in x.iter_mut().zip(weights) {
                *slot += w * value;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congruential;

    #[test]
    fn many_points_have_the_components_of_the_whole_decomposition() {
        let mut uniform = congruential::uniform(3);
        let n = 300;
        let points = Points::new((0..3 * n).map(|_| 4.0 * uniform() - 2.0).collect(), 3).unwrap();
        // From a smooth kernel with few large eigenvalues to one whose matrix is nearly the identity.
        for gamma in [0.05, 1.0, 300.0] {
            let f = KernelPca::fit(&points, Kernel::Rbf { gamma: Some(gamma) }, 3).unwrap();
            let kernel = Fitted::Rbf { gamma };
            let mut matrix: Vec<f64> =
                (0..n * n).map(|at| kernel.value(points.row(at / n), points.row(at % n))).collect();
            let means: Vec<f64> =
                matrix.chunks_exact(n).map(|row| row.iter().sum::<f64>() / n as f64).collect();
            let mean = means.iter().sum::<f64>() / n as f64;
            for (at, k) in matrix.iter_mut().enumerate() {
                *k = *k - means[at / n] - means[at % n] + mean;
            }
            let (values, vectors) = largest_first(matrix, n);
            for c in 0..3 {
                assert!((f.eigenvalues()[c] / values[c] - 1.0).abs() < 1e-13, "{gamma} {c}");
                let vector = &vectors[c * n..(c + 1) * n];
                let sign = sign_of_largest(vector.iter().copied());
                // An eigenvector is known as well as its value stands apart from the next.
                let gap =
                    (values[c] - values[c + 1]).min(if c > 0 { values[c - 1] - values[c] } else { 9e9 });
                for (i, v) in vector.iter().enumerate() {
                    let got = f.weights[i * 3 + c] * values[c].sqrt();
                    let off = (got - sign * v).abs() * gap / values[0];
                    assert!(off < 3e-12, "{gamma} {c} {i}: {got} {v}");
                }
            }
        }
    }
}
