//! Covariances: checked once, then used through their factor.
//!
//! An ellipsoid (paper, after eq. 2) is the image `zeta + rho L u` of the unit ball, with `Sigma =
//! L L^T`. The factor comes from a pivoted Cholesky decomposition of the correlation matrix, so
//! units do not matter: coordinates in radians and in km/s are treated alike.
//!
//! A covariance may be *semi*-definite: a coordinate measured exactly (a row of zeros), or two
//! coordinates that determine each other. Such directions have no error, `L` has fewer columns than
//! rows, and the set is flat there. The threshold is 1e-12 of a coordinate's variance: a smaller
//! conditional variance, given the other coordinates, counts as zero; one below minus the threshold
//! is an error.

use super::SetError;

/// Variance, relative to the coordinate's own, that counts as zero.
const NOTHING: f64 = 1e-12;

/// A symmetric positive semi-definite matrix with its factor.
///
/// ```
/// use goc::uncertainty::Covariance;
/// let sigma = Covariance::new(&[4.0, 1.0, 0.0, 1.0, 9.0, 0.0, 0.0, 0.0, 0.0], 3)?;
/// assert_eq!(sigma.rank(), 2); // the third coordinate is exact
/// let error = Covariance::new(&[4.0, 7.0, 7.0, 9.0], 2).unwrap_err();
/// assert!(error.to_string().contains("correlation 1.16"));
/// # Ok::<(), goc::uncertainty::SetError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Covariance {
    dimension: usize,
    matrix: Vec<f64>,
    rank: usize,
    /// `dimension` rows of `rank`: the factor L.
    factor: Vec<f64>,
    /// The first `rank` entries are the coordinates in which L is lower triangular, in this order.
    pivots: Vec<usize>,
}

impl Covariance {
    /// Checks `matrix`, given in row-major order: finite, symmetric (to 1e-9 of the two errors), no
    /// negative variance, positive semi-definite.
    pub fn new(matrix: &[f64], dimension: usize) -> Result<Self, SetError> {
        let d = dimension;
        if d == 0 {
            return Err(SetError::NoCoordinates);
        }
        if matrix.len() != d * d {
            return Err(SetError::Length { what: "covariance", expected: d * d, found: matrix.len() });
        }
        let at = |i: usize, j: usize| matrix[i * d + j];
        for i in 0..d {
            for j in 0..d {
                if !at(i, j).is_finite() {
                    return Err(SetError::CovarianceNotFinite { row: i, column: j, value: at(i, j) });
                }
            }
            if at(i, i) < 0.0 {
                return Err(SetError::NegativeVariance { coordinate: i, value: at(i, i) });
            }
        }
        let sigma: Vec<f64> = (0..d).map(|i| at(i, i).sqrt()).collect();
        let mut correlation = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..i {
                let scale = sigma[i] * sigma[j];
                if (at(i, j) - at(j, i)).abs() > 1e-9 * scale {
                    return Err(SetError::Asymmetric { row: i, column: j, lower: at(i, j), upper: at(j, i) });
                }
                let covariance = 0.5 * at(i, j) + 0.5 * at(j, i);
                if covariance.abs() > scale * (1.0 + NOTHING) {
                    return Err(SetError::Correlation {
                        row: j,
                        column: i,
                        covariance,
                        correlation: covariance / scale,
                    });
                }
                if scale > 0.0 {
                    correlation[i * d + j] = covariance / scale;
                    correlation[j * d + i] = covariance / scale;
                }
            }
            correlation[i * d + i] = if sigma[i] > 0.0 { 1.0 } else { 0.0 };
        }
        let (unit, pivots, rank) = factorise(&correlation, d)?;
        let mut factor = vec![0.0; d * rank];
        for i in 0..d {
            for k in 0..rank {
                factor[i * rank + k] = sigma[i] * unit[i * d + k];
            }
        }
        let matrix = (0..d * d).map(|at| 0.5 * matrix[at] + 0.5 * matrix[at % d * d + at / d]).collect();
        Ok(Self { dimension, matrix, rank, factor, pivots })
    }

    /// From standard errors and a correlation matrix in row-major order, as found in catalogues.
    /// The diagonal of `correlations` must be 1.
    pub fn from_correlations(errors: &[f64], correlations: &[f64]) -> Result<Self, SetError> {
        let d = errors.len();
        if correlations.len() != d * d {
            return Err(SetError::Length {
                what: "correlation matrix",
                expected: d * d,
                found: correlations.len(),
            });
        }
        super::set::check_not_negative("error", errors)?;
        for i in 0..d {
            let own = correlations[i * d + i];
            if own != 1.0 {
                return Err(SetError::OwnCorrelation { coordinate: i, value: own });
            }
        }
        let matrix: Vec<f64> =
            (0..d * d).map(|at| correlations[at] * errors[at / d] * errors[at % d]).collect();
        Self::new(&matrix, d)
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of independent directions with an error.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The variance of one coordinate.
    pub fn variance(&self, coordinate: usize) -> f64 {
        self.matrix[coordinate * self.dimension + coordinate]
    }

    /// The matrix, in row-major order.
    pub fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    /// The covariance of some of the coordinates: that of the marginal distribution.
    pub fn marginal(&self, coordinates: &[usize]) -> Result<Self, SetError> {
        let mut matrix = Vec::with_capacity(coordinates.len() * coordinates.len());
        for &i in coordinates {
            for &j in coordinates {
                let found =
                    (i < self.dimension && j < self.dimension).then(|| self.matrix[i * self.dimension + j]);
                matrix.push(
                    found.ok_or(SetError::NoSuchCoordinate {
                        coordinate: i.max(j),
                        dimension: self.dimension,
                    })?,
                );
            }
        }
        Self::new(&matrix, coordinates.len())
    }

    /// One row of the factor.
    pub(super) fn factor_row(&self, coordinate: usize) -> &[f64] {
        &self.factor[coordinate * self.rank..(coordinate + 1) * self.rank]
    }

    /// The coordinate that determines direction `k`, and its error conditional on those before it.
    pub(super) fn pivot(&self, k: usize) -> (usize, f64) {
        (self.pivots[k], self.factor_row(self.pivots[k])[k])
    }

    /// `z += scale * L u`.
    pub(super) fn add_image(&self, scale: f64, u: &[f64], z: &mut [f64]) {
        for (i, slot) in z.iter_mut().enumerate() {
            let sum: f64 = self.factor_row(i).iter().zip(u).map(|(l, x)| l * x).sum();
            *slot += scale * sum;
        }
    }

    /// `u` with `L u = dz`; if the covariance is singular, for the nearest point by the pivot
    /// coordinates.
    pub(super) fn solve(&self, dz: &[f64], u: &mut [f64]) {
        for (k, &p) in self.pivots[..self.rank].iter().enumerate() {
            let row = self.factor_row(p);
            let known: f64 = row[..k].iter().zip(&u[..k]).map(|(l, x)| l * x).sum();
            u[k] = (dz[p] - known) / row[k];
        }
    }

    /// `dz^T Sigma^-1 dz`, the squared Mahalanobis distance; uses the pseudo-inverse if the
    /// covariance is singular.
    pub fn squared_distance(&self, dz: &[f64]) -> f64 {
        let mut u = vec![0.0; self.rank];
        self.solve(dz, &mut u);
        u.iter().map(|x| x * x).sum()
    }
}

/// Cholesky with the largest remaining variance first: `(L as d rows of d, order of pivots, rank)`.
fn factorise(correlation: &[f64], d: usize) -> Result<(Vec<f64>, Vec<usize>, usize), SetError> {
    let mut left = correlation.to_vec();
    let mut factor = vec![0.0; d * d];
    let mut order: Vec<usize> = (0..d).collect();
    for k in 0..d {
        let mut best = k;
        for candidate in k + 1..d {
            // Strictly larger: ties go to the lower coordinate.
            if left[order[candidate] * d + order[candidate]] > left[order[best] * d + order[best]] {
                best = candidate;
            }
        }
        // Rotated, not swapped, so that the rest keeps its order.
        order[k..=best].rotate_right(1);
        let p = order[k];
        let pivot = left[p * d + p];
        if pivot <= NOTHING {
            check_nothing_left(&left, &order[k..], d)?;
            return Ok((factor, order, k));
        }
        let root = pivot.sqrt();
        factor[p * d + k] = root;
        for &i in &order[k + 1..] {
            factor[i * d + k] = left[i * d + p] / root;
        }
        for &i in &order[k + 1..] {
            for &j in &order[k + 1..] {
                left[i * d + j] -= factor[i * d + k] * factor[j * d + k];
            }
        }
    }
    Ok((factor, order, d))
}

/// Where no variance is left there must be no covariance either.
fn check_nothing_left(left: &[f64], rest: &[usize], d: usize) -> Result<(), SetError> {
    for &i in rest {
        let variance = left[i * d + i];
        let covariance = rest.iter().map(|&j| left[i * d + j].abs()).fold(0.0, f64::max);
        if variance < -NOTHING || covariance > 10.0 * NOTHING {
            return Err(SetError::NotPositive { coordinate: i, left: variance.min(-covariance) });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(c: &Covariance) -> Vec<f64> {
        let d = c.dimension();
        (0..d * d)
            .map(|at| c.factor_row(at / d).iter().zip(c.factor_row(at % d)).map(|(a, b)| a * b).sum())
            .collect()
    }

    #[test]
    fn the_factor_multiplies_back_whatever_the_units() {
        let units = [1e-8, 1.0, 1e5, 30.0];
        let base = [2.0, 0.3, -0.5, 0.1, 0.3, 1.0, 0.2, 0.0, -0.5, 0.2, 3.0, 0.9, 0.1, 0.0, 0.9, 0.5];
        let matrix: Vec<f64> = (0..16).map(|at| base[at] * units[at / 4] * units[at % 4]).collect();
        let c = Covariance::new(&matrix, 4).unwrap();
        assert_eq!(c.rank(), 4);
        for (at, (got, want)) in product(&c).iter().zip(&matrix).enumerate() {
            assert!((got - want).abs() <= 1e-14 * units[at / 4] * units[at % 4], "{at}: {got} {want}");
        }
    }

    #[test]
    fn zero_rows_and_copies_of_a_coordinate_lower_the_rank() {
        // Coordinate 1 is exact, coordinate 2 is minus twice coordinate 0.
        let matrix = [1.0, 0.0, -2.0, 0.0, 0.0, 0.0, -2.0, 0.0, 4.0];
        let c = Covariance::new(&matrix, 3).unwrap();
        assert_eq!(c.rank(), 1);
        assert_eq!(product(&c), matrix);
        assert_eq!(c.squared_distance(&[0.5, 0.0, -1.0]), 0.25);
        assert_eq!(Covariance::new(&[0.0; 4], 2).unwrap().rank(), 0);
    }

    #[test]
    fn what_is_wrong_with_a_covariance_is_named() {
        let cases: [(&[f64], usize, &str); 8] = [
            (&[], 0, "an uncertainty set needs at least one coordinate"),
            (&[1.0, 2.0], 2, "covariance: 2 values where 4 are needed"),
            (&[1.0, f64::NAN, 0.0, 1.0], 2, "covariance of coordinates 0 and 1: NaN is not a finite number"),
            (&[1.0, 0.0, 0.0, -2.0], 2, "coordinate 1: the variance -2 is negative"),
            (
                &[1.0, 0.2, 0.3, 1.0],
                2,
                "covariance of coordinates 1 and 0: 0.3 below the diagonal but 0.2 above; it must be symmetric",
            ),
            (
                &[4.0, 5.0, 5.0, 4.0],
                2,
                "covariance of coordinates 0 and 1: 5 is more than their variances allow (correlation 1.25)",
            ),
            (
                &[0.0, 1.0, 1.0, 4.0],
                2,
                "covariance of coordinates 0 and 1: 1 is more than their variances allow (correlation inf)",
            ),
            // Pairwise correlations of -0.9 cannot hold among three: 0.19 - 1.71^2 / 0.19 = -15.2 is left.
            (
                &[1.0, -0.9, -0.9, -0.9, 1.0, -0.9, -0.9, -0.9, 1.0],
                3,
                "the covariance is not positive semi-definite: coordinate 2 is left with -15.2",
            ),
        ];
        for (matrix, d, message) in cases {
            let error = Covariance::new(matrix, d).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn correlations_and_errors_make_the_covariance() {
        let c =
            Covariance::from_correlations(&[2.0, 0.5, 0.0], &[1.0, 0.3, 0.9, 0.3, 1.0, 0.1, 0.9, 0.1, 1.0])
                .unwrap();
        assert_eq!(c.matrix(), [4.0, 0.3, 0.0, 0.3, 0.25, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(c.marginal(&[1]).unwrap().matrix(), [0.25]);
        assert!(c.marginal(&[3]).is_err() && c.marginal(&[]).is_err());
        let error = Covariance::from_correlations(&[1.0], &[0.9]).unwrap_err();
        assert_eq!(error.to_string(), "coordinate 0: its correlation with itself is 0.9, not 1");
    }

    #[test]
    fn mahalanobis_distance_is_that_of_the_inverse() {
        // Inverse of [[2, 1], [1, 2]] is [[2, -1], [-1, 2]] / 3.
        let c = Covariance::new(&[2.0, 1.0, 1.0, 2.0], 2).unwrap();
        assert!((c.squared_distance(&[1.0, 2.0]) - 2.0).abs() < 1e-15);
    }
}
