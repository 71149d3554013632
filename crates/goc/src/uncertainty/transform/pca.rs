//! Principal components: the directions in which the observed values vary most.
//!
//! Fitted once, to the measured values of all objects. The same directions then transform every
//! candidate, so that all objects share one feature space. The directions are the eigenvectors of
//! the covariance of the values, and the variance along one is its eigenvalue. The sign of a
//! direction is chosen so that its largest entry is positive.
//!
//! Directions along which the values vary by no more than rounding cannot be requested. The
//! rounding threshold depends on the features that make up the direction, not on the largest of
//! all, so units may differ arbitrarily. Dependent features are distinguished as long as the
//! residual spread of one, given the others, exceeds 1.5e-8 sqrt(n) of its own spread.
//!
//! The same points give bit-identical results on every machine.

use super::{Rejection, Transform, TransformError, sign_of_largest};
use crate::Points;
use crate::eigen::symmetric;

/// `f(z) = V^T (z - mean)`, with the first `q` principal directions as columns of `V`.
///
/// ```
/// use goc::Points;
/// use goc::uncertainty::transform::{Pca, Transform};
/// let points = Points::new(vec![0.0, 0.0, 1.0, 2.0, 2.0, 4.0], 2)?;
/// let pca = Pca::fit(&points, 1)?;
/// let mut x = [0.0];
/// pca.apply(&[2.0, 4.0], &mut x).unwrap();
/// assert!((x[0] - 5.0_f64.sqrt()).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pca {
    mean: Vec<f64>,
    /// In row-major order, one row per component.
    components: Vec<f64>,
    variances: Vec<f64>,
}

impl Pca {
    /// The first `components` directions of `points`.
    pub fn fit(points: &Points, components: usize) -> Result<Self, TransformError> {
        let (n, d) = (points.len(), points.features());
        if components == 0 {
            return Err(TransformError::Empty);
        }
        if n < 2 {
            return Err(TransformError::TooFewPoints { points: n });
        }
        let mean: Vec<f64> =
            (0..d).map(|c| points.rows().map(|row| row[c]).sum::<f64>() / n as f64).collect();
        let largest = points.rows().flat_map(|row| row.iter().zip(&mean)).map(|(z, m)| (z - m).abs());
        // In this unit, a power of two, squares neither overflow nor underflow, and nothing is
        // rounded.
        let unit = power_of_two(largest.fold(0.0, f64::max));
        let mut covariance = vec![0.0; d * d];
        let mut off = vec![0.0; d];
        for row in points.rows() {
            off.iter_mut().zip(row).zip(&mean).for_each(|((off, z), m)| *off = (z - m) / unit);
            for a in 0..d {
                for b in 0..=a {
                    covariance[a * d + b] += off[a] * off[b];
                }
            }
        }
        for a in 0..d {
            for b in 0..a {
                covariance[b * d + a] = covariance[a * d + b];
            }
        }
        if covariance.iter().any(|c| !c.is_finite()) {
            return Err(TransformError::NoConvergence);
        }
        let spreads: Vec<f64> = (0..d).map(|a| covariance[a * d + a].sqrt()).collect();
        let pairs = symmetric(covariance, d);
        let varies = |k: usize| {
            let most: f64 = pairs.vector(k).iter().zip(&spreads).map(|(v, s)| v.abs() * s).sum();
            pairs.values[k] > most * most * f64::EPSILON * n.max(d) as f64
        };
        let order: Vec<usize> = pairs.largest_first().into_iter().filter(|&k| varies(k)).collect();
        if components > order.len() {
            return Err(TransformError::TooManyComponents { asked: components, available: order.len() });
        }
        let mut rows = Vec::with_capacity(components * d);
        for &k in &order[..components] {
            let direction = pairs.vector(k);
            let sign = sign_of_largest(direction.iter().copied());
            rows.extend(direction.iter().map(|v| sign * v));
        }
        let variances =
            order[..components].iter().map(|&k| pairs.values[k] / (n - 1) as f64 * unit * unit).collect();
        Ok(Self { mean, components: rows, variances })
    }

    /// The mean of the points it was fitted to.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// One direction, of length 1.
    pub fn component(&self, k: usize) -> &[f64] {
        &self.components[k * self.mean.len()..(k + 1) * self.mean.len()]
    }

    /// The variance (n - 1) along each direction, largest first.
    pub fn variances(&self) -> &[f64] {
        &self.variances
    }
}

/// The largest power of two not above a positive number; 1 for zero and for non-finite values.
pub(super) fn power_of_two(x: f64) -> f64 {
    let power = f64::from_bits(x.to_bits() & 0x7ff0_0000_0000_0000);
    if power.is_normal() { power } else { 1.0 }
}

impl Transform for Pca {
    fn inputs(&self) -> Option<usize> {
        Some(self.mean.len())
    }

    fn outputs(&self) -> usize {
        self.variances.len()
    }

    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
        for (k, slot) in x.iter_mut().enumerate() {
            *slot = self.component(k).iter().zip(z).zip(&self.mean).map(|((v, z), m)| v * (z - m)).sum();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three features with individual and shared variation, 50 points.
    fn rows() -> Vec<[f64; 3]> {
        let wave = |i: usize, by: f64| (i as f64 * by).sin();
        (0..50)
            .map(|i| [wave(i, 0.7), 2.0 * wave(i, 1.3) + wave(i, 0.7), wave(i, 2.9) - wave(i, 1.3)])
            .collect()
    }

    #[test]
    fn a_common_unit_changes_variances_only_and_different_units_leave_every_direction_to_be_found() {
        let plain = Pca::fit(&Points::from_rows(&rows()).unwrap(), 3).unwrap();
        for unit in [1e-140, 1e-9, 1e140] {
            let scaled: Vec<[f64; 3]> = rows().iter().map(|row| row.map(|x| x * unit)).collect();
            let pca = Pca::fit(&Points::from_rows(&scaled).unwrap(), 3).unwrap();
            for k in 0..3 {
                let same =
                    pca.component(k).iter().zip(plain.component(k)).all(|(a, b)| (a - b).abs() < 1e-13);
                assert!(same, "{unit}: {:?} {:?}", pca.component(k), plain.component(k));
                assert!((pca.variances()[k].sqrt() / unit / plain.variances()[k].sqrt() - 1.0).abs() < 1e-13);
            }
        }
        let units = [1e-9, 1.0, 1e12];
        let mixed: Vec<[f64; 3]> =
            rows().iter().map(|row| std::array::from_fn(|f| row[f] * units[f])).collect();
        let pca = Pca::fit(&Points::from_rows(&mixed).unwrap(), 3).unwrap();
        assert!((0..3).all(|k| (pca.component(k)[2 - k] - 1.0).abs() < 1e-9), "{pca:?}");
    }

    #[test]
    fn a_feature_that_others_make_up_is_no_direction() {
        let dependent: Vec<[f64; 3]> =
            rows().iter().map(|[a, b, _]| [*a, 1e6 * b, 0.3 * a - 2e-3 * b]).collect();
        let error = Pca::fit(&Points::from_rows(&dependent).unwrap(), 3).unwrap_err();
        assert_eq!(error, TransformError::TooManyComponents { asked: 3, available: 2 });
        // More features than points: the number of directions is the number of points minus one.
        let few = Points::from_rows(
            &rows()[..3].iter().map(|r| [r[0], r[1], r[2], r[0] * r[1]]).collect::<Vec<_>>(),
        );
        let error = Pca::fit(&few.unwrap(), 4).unwrap_err();
        assert_eq!(error, TransformError::TooManyComponents { asked: 4, available: 2 });
    }
}
