//! Similarities of every ordered pair of objects, the input of affinity propagation.
//!
//! `n * n` numbers in row-major order; the diagonal is ignored. They need not be symmetric: `s(i,
//! k)` measures how well object `k` represents object `i`. Minus infinity forbids a pair. All
//! values are checked once, here.

use super::Dissimilarities;
use crate::Points;
use crate::points::squared_distance;

/// A square table of similarities; larger values mean more similar.
///
/// ```
/// use goc::oracle::affinity::Similarities;
/// let s = Similarities::from_square(vec![0.0, -1.0, -3.0, 0.0])?;
/// assert_eq!((s.len(), s.row(1)[0]), (2, -3.0));
/// # Ok::<(), goc::oracle::affinity::SimilaritiesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Similarities {
    n: usize,
    square: Vec<f64>,
}

/// Why values do not make [`Similarities`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimilaritiesError {
    /// The length is not n * n for any n.
    #[error("{values} values are not a square table; n objects have n * n similarities")]
    NotSquare {
        /// Values given.
        values: usize,
    },
    /// NaN or plus infinity off the diagonal.
    #[error(
        "objects {i} and {k}: similarity {value} must be a finite number, or minus infinity to forbid the pair"
    )]
    Value {
        /// The object that looks for an exemplar, from 0.
        i: usize,
        /// The exemplar, from 0.
        k: usize,
        /// The value found.
        value: f64,
    },
}

impl Similarities {
    /// Checks and takes `n * n` values, in row-major order; the diagonal may contain anything.
    pub fn from_square(square: Vec<f64>) -> Result<Self, SimilaritiesError> {
        let n = square.len().isqrt();
        if n * n != square.len() {
            return Err(SimilaritiesError::NotSquare { values: square.len() });
        }
        let refused = |s: f64| s.is_nan() || s == f64::INFINITY;
        let bad = |at: &usize| at / n != at % n && refused(square[*at]);
        if let Some(at) = (0..square.len()).find(bad) {
            return Err(SimilaritiesError::Value { i: at / n, k: at % n, value: square[at] });
        }
        Ok(Self { n, square })
    }

    /// The negative squared Euclidean distances of points; an error if they overflow.
    pub fn of_points(points: &Points) -> Result<Self, SimilaritiesError> {
        let n = points.len();
        let mut square = vec![0.0; n * n];
        for i in 0..n {
            for k in i + 1..n {
                let s = -squared_distance(points.row(i), points.row(k));
                if s == f64::NEG_INFINITY {
                    return Err(SimilaritiesError::Value { i, k, value: s });
                }
                square[i * n + k] = s;
                square[k * n + i] = s;
            }
        }
        Ok(Self { n, square })
    }

    /// The negated dissimilarities.
    pub fn negated(dissimilarities: &Dissimilarities) -> Self {
        let square = dissimilarities.square().iter().map(|d| -d).collect();
        Self { n: dissimilarities.len(), square }
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.n
    }

    /// True when there are no objects.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// How well each object represents object `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.square[i * self.n..(i + 1) * self.n]
    }

    /// All finite values off the diagonal.
    pub(super) fn finite(&self) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.square.len());
        for i in 0..self.n {
            let row = self.row(i);
            values.extend(row[..i].iter().chain(&row[i + 1..]).filter(|s| s.is_finite()));
        }
        values
    }
}
