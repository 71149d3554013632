//! The plane of largest variance: the first two principal components.
//!
//! They are the eigenvectors of the covariance of the rows ([`goc::eigen`]), which costs n q^2.

use super::{FigureError, Result};
use goc::eigen::symmetric;

/// Two directions in feature space and the point they start from.
///
/// ```
/// use goc_report::figures::Components;
/// let plane = Components::fit([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]].iter().map(|r| &r[..]))?;
/// let [first, second] = plane.place(&[2.0, 4.0]);
/// assert!((first - 5.0_f64.sqrt()).abs() < 1e-12 && second.abs() < 1e-12);
/// # Ok::<(), goc_report::figures::FigureError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Components {
    mean: Vec<f64>,
    directions: [Vec<f64>; 2],
    shares: [f64; 2],
}

impl Components {
    /// The plane of these rows, all of the same length. A direction's largest entry is positive.
    pub fn fit<'a>(rows: impl Iterator<Item = &'a [f64]> + Clone) -> Result<Self> {
        let q = rows.clone().next().map_or(0, <[f64]>::len);
        if q == 0 {
            return Err(FigureError::Empty { what: "points" });
        }
        let mut mean = vec![0.0; q];
        let mut n = 0.0;
        for (index, row) in rows.clone().enumerate() {
            super::counted("features of a point", q, row.len())?;
            super::finite("point", row.iter().copied()).map_err(|error| match error {
                FigureError::NotFinite { what, value, .. } => FigureError::NotFinite { what, index, value },
                FigureError::Range { what, value, wanted, .. } => {
                    FigureError::Range { what, index, value, wanted }
                }
                other => other,
            })?;
            for (sum, value) in mean.iter_mut().zip(row) {
                *sum += value;
            }
            n += 1.0;
        }
        mean.iter_mut().for_each(|sum| *sum /= n);
        let mut covariance = vec![0.0; q * q];
        for row in rows {
            for a in 0..q {
                for b in 0..=a {
                    covariance[a * q + b] += (row[a] - mean[a]) * (row[b] - mean[b]);
                }
            }
        }
        for a in 0..q {
            for b in 0..a {
                covariance[b * q + a] = covariance[a * q + b];
            }
        }
        let total: f64 = (0..q).map(|a| covariance[a * q + a]).sum();
        let pairs = symmetric(covariance, q);
        let order = pairs.largest_first();
        let direction = |which: usize| -> Vec<f64> {
            // With one feature there is no second direction: everything lies on a line.
            let Some(&k) = order.get(which) else { return vec![0.0; q] };
            let column = pairs.vector(k);
            let largest = column.iter().fold(0.0_f64, |most, v| if v.abs() > most.abs() { *v } else { most });
            column.iter().map(|v| if largest < 0.0 { -v } else { *v }).collect()
        };
        let share = |which: usize| match order.get(which) {
            Some(&k) if total > 0.0 => pairs.values[k] / total,
            _ => 0.0,
        };
        Ok(Self { directions: [direction(0), direction(1)], shares: [share(0), share(1)], mean })
    }

    /// The position of a row in the plane.
    pub fn place(&self, row: &[f64]) -> [f64; 2] {
        let along = |direction: &[f64]| -> f64 {
            row.iter().zip(&self.mean).zip(direction).map(|((x, m), d)| (x - m) * d).sum()
        };
        [along(&self.directions[0]), along(&self.directions[1])]
    }

    /// The fraction of the variance along each direction.
    pub fn shares(&self) -> [f64; 2] {
        self.shares
    }

    /// A direction's entries, 0 for the first and 1 for the second.
    pub fn direction(&self, which: usize) -> &[f64] {
        &self.directions[which.min(1)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::congruential;
    use super::*;
    use goc::Points;
    use goc::uncertainty::transform::Pca;

    #[test]
    fn directions_are_those_of_the_singular_vectors() {
        let mut uniform = congruential(1);
        let mut draw = || uniform() - 0.5;
        for q in [2, 3, 7] {
            let rows: Vec<Vec<f64>> = (0..200)
                .map(|_| {
                    let common = draw();
                    (0..q).map(|f| draw() * (f + 1) as f64 + 3.0 * common + 10.0).collect()
                })
                .collect();
            let plane = Components::fit(rows.iter().map(|r| &r[..])).unwrap();
            let other = Pca::fit(&Points::from_rows(&rows).unwrap(), 2).unwrap();
            for which in 0..2 {
                for (a, b) in plane.direction(which).iter().zip(other.component(which)) {
                    assert!((a - b).abs() < 1e-9, "{q} {which}: {a} {b}");
                }
            }
            let placed: f64 = rows.iter().map(|r| plane.place(r)[0].powi(2)).sum::<f64>() / 199.0;
            assert!((placed - other.variances()[0]).abs() < 1e-9);
        }
    }

    #[test]
    fn points_without_spread_or_with_one_feature_have_a_plane() {
        for rows in [vec![vec![1.0, 2.0]; 4], vec![vec![3.0], vec![5.0]], vec![vec![0.0; 3]]] {
            let plane = Components::fit(rows.iter().map(|r| &r[..])).unwrap();
            assert!(rows.iter().flat_map(|r| plane.place(r)).all(f64::is_finite));
        }
        let error = Components::fit([[1.0, f64::NAN]].iter().map(|r| &r[..])).unwrap_err();
        assert_eq!(error.to_string(), "point 0: NaN is not a finite number and cannot be drawn");
        assert!(Components::fit(std::iter::empty()).is_err());
    }
}
