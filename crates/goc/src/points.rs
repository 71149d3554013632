//! Plain points: the input of an oracle.
//!
//! `n` points of `q` features, in row-major order in one flat vector, all finite. This is checked
//! once, here, so that no algorithm has to check again.

/// `n` points of `q` finite features, stored in row-major order.
///
/// ```
/// use goc::Points;
/// let points = Points::new(vec![0.0, 1.0, 2.0, 3.0], 2)?;
/// assert_eq!(points.len(), 2);
/// assert_eq!(points.row(1), [2.0, 3.0]);
/// # Ok::<(), goc::points::PointsError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    values: Vec<f64>,
    features: usize,
}

/// Why values do not make [`Points`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PointsError {
    /// A point without coordinates.
    #[error("points need at least one feature")]
    NoFeatures,
    /// The flat length is not a whole number of rows.
    #[error("{values} values do not make whole rows of {features} features")]
    Ragged {
        /// Length of the flat vector.
        values: usize,
        /// Features requested.
        features: usize,
    },
    /// NaN or infinity.
    #[error("point {row}, feature {feature}: {value} is not a finite number")]
    NotFinite {
        /// Row, from 0.
        row: usize,
        /// Feature, from 0.
        feature: usize,
        /// The value found.
        value: f64,
    },
}

impl Points {
    /// Checks and takes `values`, in row-major order.
    pub fn new(values: Vec<f64>, features: usize) -> Result<Self, PointsError> {
        if features == 0 {
            return Err(PointsError::NoFeatures);
        }
        if !values.len().is_multiple_of(features) {
            return Err(PointsError::Ragged { values: values.len(), features });
        }
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            return Err(PointsError::NotFinite {
                row: at / features,
                feature: at % features,
                value: values[at],
            });
        }
        Ok(Self { values, features })
    }

    /// Rows given one by one.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self, PointsError> {
        let features = rows.first().map_or(0, |r| r.as_ref().len());
        let mut values = Vec::with_capacity(rows.len() * features);
        for row in rows {
            let row = row.as_ref();
            if row.len() != features {
                return Err(PointsError::Ragged { values: row.len(), features });
            }
            values.extend_from_slice(row);
        }
        Self::new(values, features)
    }

    /// For values that this crate computed from checked ones, where another check would be
    /// wasteful.
    pub(crate) fn trusted(values: Vec<f64>, features: usize) -> Self {
        debug_assert!(features > 0 && values.len().is_multiple_of(features));
        Self { values, features }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.values.len() / self.features
    }

    /// True when there is no point.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// One point.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.features..(i + 1) * self.features]
    }

    /// One point, mutable. The caller must keep it finite, so this is private to the crate.
    pub(crate) fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.values[i * self.features..(i + 1) * self.features]
    }

    /// All points in order.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.features)
    }

    /// The flat values, in row-major order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The points at `rows`, in that order.
    pub fn subset(&self, rows: &[usize]) -> Self {
        let mut values = Vec::with_capacity(rows.len() * self.features);
        for &i in rows {
            values.extend_from_slice(self.row(i));
        }
        Self { values, features: self.features }
    }

    /// The number of distinct points (compared bit for bit, with `-0.0` equal to `0.0`).
    pub fn distinct(&self) -> usize {
        self.distinct_rows().len()
    }

    /// The first row of each distinct point, in order of appearance.
    pub fn distinct_rows(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| compare_rows(self.row(a), self.row(b)).then(a.cmp(&b)));
        let mut firsts: Vec<usize> = Vec::new();
        for window in 0..order.len() {
            let new =
                window == 0 || compare_rows(self.row(order[window - 1]), self.row(order[window])).is_ne();
            if new {
                firsts.push(order[window]);
            }
        }
        firsts.sort_unstable();
        firsts
    }
}

fn compare_rows(a: &[f64], b: &[f64]) -> std::cmp::Ordering {
    a.iter()
        .zip(b)
        .map(|(x, y)| x.partial_cmp(y).unwrap_or(std::cmp::Ordering::Equal))
        .find(|o| o.is_ne())
        .unwrap_or(std::cmp::Ordering::Equal)
}

/// Squared Euclidean distance, summed in feature order.
///
/// Every kernel of the crate sums in this order, so that a bound and the distance it bounds are
/// rounded alike.
#[inline]
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (x, y) in a.iter().zip(b) {
        let d = x - y;
        sum += d * d;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_refused_by_row_and_feature() {
        let error = Points::new(vec![0.0, 1.0, f64::NAN, 2.0], 2).unwrap_err();
        assert_eq!(error.to_string(), "point 1, feature 0: NaN is not a finite number");
    }

    #[test]
    fn distinct_counts_each_point_once_and_treats_both_zeros_alike() {
        let points = Points::new(vec![1.0, 0.0, -0.0, 1.0, 2.0], 1).unwrap();
        assert_eq!(points.distinct_rows(), [0, 1, 4]);
    }
}
