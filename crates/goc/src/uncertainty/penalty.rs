//! Penalties: the cost of choosing a candidate, `Pen_i` of the paper's eq. (8).
//!
//! | [`Penalty`] | value |
//! |---|---|
//! | `None` | none |
//! | `FromCentre` | squared distance in feature space to `f(zeta_i)`, the features of the measured value |
//! | `Surprise` | minus log density relative to the measured value: half the squared Mahalanobis distance, or the scaled l1 distance |
//! | `SurpriseOf` | the same for the marginal density of some coordinates; of the parallax alone it is `dz^2 / (2 sigma^2)`, the penalty of the paper's section 4.2 |
//!
//! Distances are in the units that `f` returns, before any scaling of features. The paper divides
//! all penalties by the largest:
//! [`Propagation::scale_penalties`](super::Propagation::scale_penalties).

use super::{PropagateError, SetError, UncertaintySet};
use crate::points::squared_distance;

/// The cost of a candidate.
#[derive(Default)]
#[non_exhaustive]
pub enum Penalty {
    /// Nothing.
    #[default]
    None,
    /// Squared distance of its features from those of the measured value.
    FromCentre,
    /// Negative log density of the errors, relative to the measured value.
    Surprise,
    /// The same for these coordinates only, regardless of the others.
    SurpriseOf(Vec<usize>),
}

impl Penalty {
    /// Checks that do not depend on a particular object.
    pub(super) fn check(&self, dimension: usize) -> Result<(), PropagateError> {
        match self {
            Penalty::SurpriseOf(coordinates) => {
                if let Some(&coordinate) = coordinates.iter().find(|&&c| c >= dimension) {
                    let reason = SetError::NoSuchCoordinate { coordinate, dimension };
                    return Err(PropagateError::PenaltyCoordinates { reason });
                }
                if coordinates.is_empty() {
                    return Err(PropagateError::PenaltyCoordinates { reason: SetError::NoCoordinates });
                }
                let mut sorted = coordinates.clone();
                sorted.sort_unstable();
                match sorted.windows(2).find(|w| w[0] == w[1]) {
                    Some(twice) => Err(PropagateError::PenaltyTwice { coordinate: twice[0] }),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Precomputes from an object's set what all its candidates need; `centre` holds the features
    /// of the measured value.
    pub(super) fn prepare(
        &self,
        set: &UncertaintySet,
        centre: impl FnOnce() -> Vec<f64>,
    ) -> Result<Prepared, SetError> {
        Ok(match self {
            Penalty::None => Prepared::None,
            Penalty::FromCentre => Prepared::From(centre()),
            Penalty::Surprise => Prepared::Surprise(set.clone(), (0..set.dimension()).collect()),
            Penalty::SurpriseOf(coordinates) => {
                Prepared::Surprise(set.marginal(coordinates)?, coordinates.clone())
            }
        })
    }
}

/// A penalty ready for one object.
pub(super) enum Prepared {
    None,
    From(Vec<f64>),
    Surprise(UncertaintySet, Vec<usize>),
}

impl Prepared {
    /// The penalty of one candidate; `None` when there are none.
    pub(super) fn value(&self, z: &[f64], x: &[f64]) -> Option<f64> {
        match self {
            Prepared::None => None,
            Prepared::From(point) => Some(squared_distance(x, point)),
            Prepared::Surprise(set, coordinates) => {
                let z: Vec<f64> = coordinates.iter().map(|&c| z[c]).collect();
                Some(set.surprise(&z))
            }
        }
    }
}
