//! Dissimilarities of every pair of objects, for methods that need nothing else.
//!
//! Distances between points, or between whole uncertainty sets. They are symmetric with a zero
//! diagonal, so only the pairs `i < j` are stored, in row-major order: `n (n - 1) / 2` numbers, 8
//! bytes each (100 MB at 5000 objects, 40 GB at 100 000). This is the layout of scipy's `pdist` and
//! of `kodama`. All values are checked once to be finite and non-negative.

use crate::Points;
use crate::points::squared_distance;

/// Symmetric dissimilarities of `n` objects: the pairs `i < j`, in row-major order.
///
/// ```
/// use goc::oracle::dissimilarities::Dissimilarities;
/// let d = Dissimilarities::from_condensed(vec![1.0, 2.0, 3.0])?;
/// assert_eq!(d.len(), 3);
/// assert_eq!((d.between(0, 2), d.between(2, 0), d.between(1, 1)), (2.0, 2.0, 0.0));
/// # Ok::<(), goc::oracle::dissimilarities::DissimilaritiesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dissimilarities {
    n: usize,
    condensed: Vec<f64>,
}

/// Why values do not make [`Dissimilarities`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DissimilaritiesError {
    /// The length is not n(n-1)/2 for any n.
    #[error("{values} values are not the pairs of any number of objects; n objects have n(n-1)/2")]
    NotTriangular {
        /// Values given.
        values: usize,
    },
    /// Negative, NaN or infinite.
    #[error("objects {i} and {j}: dissimilarity {value} must be a finite number not below 0")]
    Value {
        /// First object, from 0.
        i: usize,
        /// Second object, from 0.
        j: usize,
        /// The value found.
        value: f64,
    },
}

impl Dissimilarities {
    /// Checks and takes the condensed values. No values mean one object.
    pub fn from_condensed(condensed: Vec<f64>) -> Result<Self, DissimilaritiesError> {
        let n = (1 + 8 * condensed.len()).isqrt().div_ceil(2);
        if n * (n - 1) / 2 != condensed.len() {
            return Err(DissimilaritiesError::NotTriangular { values: condensed.len() });
        }
        let checked = Self { n, condensed };
        for i in 0..n {
            if let Some(at) = checked.row_after(i).iter().position(|v| !(v.is_finite() && *v >= 0.0)) {
                let value = checked.row_after(i)[at];
                return Err(DissimilaritiesError::Value { i, j: i + 1 + at, value });
            }
        }
        Ok(checked)
    }

    /// Computes and checks `between(i, j)` for every `i < j` of `n` objects.
    pub fn from_fn(
        n: usize,
        mut between: impl FnMut(usize, usize) -> f64,
    ) -> Result<Self, DissimilaritiesError> {
        let mut condensed = Vec::with_capacity(n * n.saturating_sub(1) / 2);
        for i in 0..n {
            for j in i + 1..n {
                condensed.push(between(i, j));
            }
        }
        Ok(Self { n, ..Self::from_condensed(condensed)? })
    }

    /// Euclidean distances of points.
    pub fn euclidean(points: &Points) -> Result<Self, DissimilaritiesError> {
        Self::from_fn(points.len(), |i, j| squared_distance(points.row(i), points.row(j)).sqrt())
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.n
    }

    /// True when there are no objects.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The dissimilarity of two objects.
    pub fn between(&self, i: usize, j: usize) -> f64 {
        match i.cmp(&j) {
            std::cmp::Ordering::Less => self.row_after(i)[j - i - 1],
            std::cmp::Ordering::Equal => 0.0,
            std::cmp::Ordering::Greater => self.row_after(j)[i - j - 1],
        }
    }

    /// The pairs `i < j`, in row-major order.
    pub fn condensed(&self) -> &[f64] {
        &self.condensed
    }

    /// Returns the condensed values.
    pub fn into_condensed(self) -> Vec<f64> {
        self.condensed
    }

    /// Object `i` against all objects after it.
    fn row_after(&self, i: usize) -> &[f64] {
        let from = i * self.n - i * (i + 1) / 2;
        &self.condensed[from..from + self.n - i - 1]
    }

    /// All `n * n` values, in row-major order.
    pub(crate) fn square(&self) -> Vec<f64> {
        let n = self.n;
        let mut square = vec![0.0; n * n];
        for i in 0..n {
            for (at, &v) in self.row_after(i).iter().enumerate() {
                let j = i + 1 + at;
                square[i * n + j] = v;
                square[j * n + i] = v;
            }
        }
        square
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_found_in_both_orders() {
        let d = Dissimilarities::from_fn(5, |i, j| (10 * i + j) as f64).unwrap();
        let square = d.square();
        for i in 0..5 {
            for j in 0..5 {
                let want = if i == j { 0.0 } else { (10 * i.min(j) + i.max(j)) as f64 };
                assert_eq!((d.between(i, j), square[5 * i + j]), (want, want));
            }
        }
    }

    #[test]
    fn bad_values_are_refused_by_pair() {
        let error = Dissimilarities::from_condensed(vec![1.0, 2.0]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "2 values are not the pairs of any number of objects; n objects have n(n-1)/2"
        );
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            let error = Dissimilarities::from_condensed(vec![1.0, 2.0, bad]).unwrap_err();
            assert!(error.to_string().starts_with("objects 1 and 2: dissimilarity"), "{error}");
        }
    }

    #[test]
    fn no_objects_and_one_object_have_no_pairs() {
        assert_eq!(Dissimilarities::from_fn(0, |_, _| 1.0).unwrap().len(), 0);
        assert_eq!(Dissimilarities::from_fn(1, |_, _| 1.0).unwrap().len(), 1);
    }
}
