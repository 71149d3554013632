//! Eigenvalues and eigenvectors of symmetric matrices, for the whole workspace.
//!
//! - [`symmetric`]: all eigenpairs of an explicit matrix. Used for covariances and correlations of
//!   q features (principal components, in `uncertainty` and in the report).
//! - `lanczos`: the largest eigenpairs of a large matrix that is accessed only through products
//!   (spectral clustering, kernel PCA).
//!
//! A matrix up to size [`SMALL`] is diagonalised by Jacobi rotations (Golub & Van Loan, *Matrix
//! Computations*, section 8.5). For a covariance, they continue until each entry is below the
//! rounding of the features that it combines, so that small eigenvalues are found as accurately as
//! large ones, whatever the units of the features (Demmel & Veselić 1992). Larger matrices are
//! reduced to tridiagonal form (`ql`), which is faster but has errors relative to the largest
//! eigenvalue.
//!
//! Only sums, products, quotients and square roots are used, in a fixed order and never fused, so
//! that the bytes are the same on every machine. A linear algebra library tuned to the processor
//! does not guarantee that.
//!
//! Cost: some 60 q^3 operations by rotations, 10 n^3 by the tridiagonal matrix.

pub(crate) mod lanczos;
pub(crate) mod ql;

/// The largest size for which rotations are used. They take 10 ms there.
pub const SMALL: usize = 64;

/// Maximum number of sweeps of rotations. Convergence is quadratic: six to ten are usual.
const SWEEPS: usize = 60;

/// The eigendecomposition of a symmetric matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigenpairs {
    /// Eigenvalues, in no particular order.
    pub values: Vec<f64>,
    /// Their eigenvectors, one after another, each of unit length. Their signs are arbitrary.
    pub vectors: Vec<f64>,
}

impl Eigenpairs {
    /// One vector.
    pub fn vector(&self, k: usize) -> &[f64] {
        let side = self.values.len();
        &self.vectors[k * side..(k + 1) * side]
    }

    /// The indices of the eigenpairs by descending eigenvalue; ties keep their order.
    pub fn largest_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_by(|&a, &b| self.values[b].total_cmp(&self.values[a]));
        order
    }
}

/// All eigenpairs of the symmetric matrix of this size, given in row-major order; it must have
/// `side * side` entries, all finite.
///
/// ```
/// let pairs = goc::eigen::symmetric(vec![2.0, 1.0, 1.0, 2.0], 2);
/// let order = pairs.largest_first();
/// assert!((pairs.values[order[0]] - 3.0).abs() < 1e-14 && (pairs.values[order[1]] - 1.0).abs() < 1e-14);
/// let first = pairs.vector(order[0]);
/// assert!((first[0] - first[1]).abs() < 1e-15 && (first[0].abs() - 0.5_f64.sqrt()).abs() < 1e-15);
/// ```
pub fn symmetric(matrix: Vec<f64>, side: usize) -> Eigenpairs {
    assert_eq!(matrix.len(), side * side, "a matrix of side {side}");
    if side <= SMALL { jacobi(matrix, side) } else { ql::symmetric(matrix, side) }
}

/// By cyclic rotations, each of which zeroes one entry.
fn jacobi(mut a: Vec<f64>, q: usize) -> Eigenpairs {
    let mut vectors: Vec<f64> = (0..q * q).map(|at| f64::from(u8::from(at / q == at % q))).collect();
    let spreads = spreads_of_features(&a, q);
    for _ in 0..SWEEPS {
        if is_diagonal(&a, q) && spreads.as_ref().is_none_or(|spreads| is_resolved(&a, q, &vectors, spreads))
        {
            break;
        }
        for i in 0..q {
            for j in i + 1..q {
                if a[i * q + j] == 0.0 {
                    continue;
                }
                let theta = (a[j * q + j] - a[i * q + i]) / (2.0 * a[i * q + j]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..q {
                    let (x, y) = (a[k * q + i], a[k * q + j]);
                    (a[k * q + i], a[k * q + j]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..q {
                    let (x, y) = (a[i * q + k], a[j * q + k]);
                    (a[i * q + k], a[j * q + k]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (vectors[i * q + k], vectors[j * q + k]);
                    (vectors[i * q + k], vectors[j * q + k]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    Eigenpairs { values: (0..q).map(|i| a[i * q + i]).collect(), vectors }
}

/// Whether the off-diagonal part is negligible relative to the whole.
fn is_diagonal(a: &[f64], q: usize) -> bool {
    let off: f64 = below_diagonal(q).map(|(i, j)| a[i * q + j].powi(2)).sum();
    let all: f64 = (0..q).map(|i| a[i * q + i].powi(2)).sum();
    off <= all * 1e-30
}

/// The square roots of the diagonal, if the matrix can be a covariance: no entry exceeds the
/// product of the two corresponding roots.
fn spreads_of_features(a: &[f64], q: usize) -> Option<Vec<f64>> {
    let spreads: Vec<f64> = (0..q).map(|i| a[i * q + i].sqrt()).collect();
    let can_be = |(i, j): (usize, usize)| a[i * q + j].abs() <= 1.000_001 * (spreads[i] * spreads[j]);
    below_diagonal(q).all(can_be).then_some(spreads)
}

/// Whether each entry of a covariance in the directions `vectors` is below the rounding of the
/// features that make up its two directions.
fn is_resolved(a: &[f64], q: usize, vectors: &[f64], spreads: &[f64]) -> bool {
    let reach: Vec<f64> = vectors
        .chunks_exact(q.max(1))
        .map(|vector| vector.iter().zip(spreads).map(|(v, spread)| v.abs() * spread).sum())
        .collect();
    let rounding = q as f64 * f64::EPSILON;
    below_diagonal(q).all(|(i, j)| a[i * q + j].abs() <= rounding * reach[i] * reach[j])
}

/// The positions below the diagonal, in row-major order.
fn below_diagonal(q: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..q).flat_map(|i| (0..i).map(move |j| (i, j)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::congruential;

    pub(crate) fn random_symmetric(seed: u64, m: usize) -> Vec<f64> {
        let mut uniform = congruential::uniform(seed);
        let mut a = vec![0.0; m * m];
        for i in 0..m {
            for j in 0..=i {
                let x = 2.0 * uniform() - 1.0;
                a[i * m + j] = x;
                a[j * m + i] = x;
            }
        }
        a
    }

    pub(crate) fn worst_residual(a: &[f64], m: usize, values: &[f64], vectors: &[f64]) -> f64 {
        let mut worst: f64 = 0.0;
        for (value, x) in values.iter().zip(vectors.chunks_exact(m)) {
            for i in 0..m {
                let ax: f64 = (0..m).map(|j| a[i * m + j] * x[j]).sum();
                worst = worst.max((ax - value * x[i]).abs());
            }
        }
        worst
    }

    pub(crate) fn worst_overlap(vectors: &[f64], m: usize) -> f64 {
        let rows: Vec<&[f64]> = vectors.chunks_exact(m).collect();
        let mut worst: f64 = 0.0;
        for (i, x) in rows.iter().enumerate() {
            for (j, y) in rows.iter().enumerate() {
                let dot: f64 = x.iter().zip(*y).map(|(a, b)| a * b).sum();
                worst = worst.max((dot - f64::from(u8::from(i == j))).abs());
            }
        }
        worst
    }

    #[test]
    fn matrices_are_taken_apart_into_orthonormal_eigenvectors_by_either_way() {
        for m in [1, 2, 3, 10, 61, SMALL, SMALL + 1, 90] {
            for a in [random_symmetric(m as u64, m), vec![1.0; m * m], vec![0.0; m * m]] {
                let mut sorted = Vec::new();
                for pairs in [symmetric(a.clone(), m), jacobi(a.clone(), m), ql::symmetric(a.clone(), m)] {
                    assert!(worst_residual(&a, m, &pairs.values, &pairs.vectors) < 1e-12);
                    assert!(worst_overlap(&pairs.vectors, m) < 1e-13);
                    let values: Vec<f64> =
                        pairs.largest_first().into_iter().map(|k| pairs.values[k]).collect();
                    assert!(values.is_sorted_by(|x, y| x >= y));
                    sorted.push(values);
                }
                for values in &sorted {
                    assert!(values.iter().zip(&sorted[0]).all(|(x, y)| (x - y).abs() < 1e-12));
                }
            }
        }
        assert!(symmetric(Vec::new(), 0).values.is_empty());
    }

    #[test]
    fn eigenvalues_of_a_path_are_the_cosines() {
        // The path of m nodes: adjacency eigenvalues 2 cos(pi j / (m + 1)).
        for m in [40, 100] {
            let mut a = vec![0.0; m * m];
            for i in 0..m - 1 {
                a[i * m + i + 1] = 1.0;
                a[(i + 1) * m + i] = 1.0;
            }
            let pairs = symmetric(a, m);
            for (j, k) in pairs.largest_first().into_iter().enumerate() {
                let (value, want) =
                    (pairs.values[k], 2.0 * (std::f64::consts::PI * (j + 1) as f64 / (m + 1) as f64).cos());
                assert!((value - want).abs() < 1e-13, "{value} {want}");
            }
        }
    }

    #[test]
    fn units_of_the_features_do_not_cost_precision() {
        // A positive definite matrix whose features are then measured in units from 1e-12 to 1e12:
        // D A D. Each of its small leading blocks knows its smallest eigenvalue by determinants,
        // det(block) / det(block without the last).
        let (q, units) = (4, [1e12, 1e4, 1e-4, 1e-12]);
        let plain = [4.0, 1.0, 0.5, 0.2, 1.0, 3.0, 0.7, 0.3, 0.5, 0.7, 2.0, 0.4, 0.2, 0.3, 0.4, 1.0];
        let a: Vec<f64> = (0..16).map(|at| plain[at] * units[at / q] * units[at % q]).collect();
        let pairs = symmetric(a.clone(), q);
        // The last feature given the others: 1 / (inverse of `plain`)_44 = 0.887..., by elimination.
        let mut left = plain;
        for k in 0..3 {
            for i in k + 1..4 {
                let f = left[i * 4 + k] / left[k * 4 + k];
                (k..4).for_each(|j| left[i * 4 + j] -= f * left[k * 4 + j]);
            }
        }
        let order = pairs.largest_first();
        for k in 0..4 {
            // So far apart are the units that each eigenvalue is a pivot of the elimination, to a
            // part in 1e16.
            let want = left[k * 5] * units[k] * units[k];
            let got = pairs.values[order[k]];
            assert!((got / want - 1.0).abs() < 1e-14, "{got} {want}");
        }
    }
}
