//! The distance of step (III): squared as in the paper, or unsquared as in the authors' code.

use crate::points::squared_distance;

/// The term added to `lambda * penalty` in step (III).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Distance {
    /// `|x - mu|^2`, the paper's.
    #[default]
    Squared,
    /// `|x - mu|`.
    Euclidean,
    /// `|x - mu|` computed in single precision, as in the authors' code, which uses R's pdist.
    /// Near-ties are occasionally resolved differently from double precision, so reproducing their
    /// runs exactly requires it.
    EuclideanSingle,
}

impl Distance {
    /// The distance from its square.
    #[inline(always)]
    pub fn of_squared(self, squared: f64) -> f64 {
        match self {
            Distance::Squared => squared,
            Distance::Euclidean => squared.sqrt(),
            Distance::EuclideanSingle => f64::from((squared as f32).sqrt()),
        }
    }

    /// The squared distance of two points, in the precision of this distance.
    #[inline(always)]
    pub fn squared(self, a: &[f64], b: &[f64]) -> f64 {
        match self {
            Distance::EuclideanSingle => {
                let mut sum = 0.0f32;
                for (x, y) in a.iter().zip(b) {
                    let d = *x as f32 - *y as f32;
                    sum += d * d;
                }
                f64::from(sum)
            }
            _ => squared_distance(a, b),
        }
    }
}
