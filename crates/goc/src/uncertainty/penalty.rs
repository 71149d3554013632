//! Penalties: what it costs an object to choose a candidate, `Pen_i` of the paper's eq. (8).
//!
//! | [`Penalty`] | value |
//! |---|---|
//! | `None` | none |
//! | `FromCentre` | squared distance in feature space to `f(zeta_i)`, the features of the measured value |
//! | `FromPoints` | the same to a given point `chi'_i` for each object: the paper's example |
//! | `Surprise` | minus log density relative to the measured value: half the squared Mahalanobis distance, or the scaled l1 distance |
//! | `SurpriseOf` | the same for the marginal density of some coordinates; of the parallax alone it is `dz^2 / (2 sigma^2)`, the penalty of the paper's section 4.2 |
//! | `Custom` | anything, by a closure |
//!
//! Distances are in the units that `f` gives, before any scaling of features. The paper divides all penalties by the largest:
//! [`Propagation::scale_penalties`](super::Propagation::scale_penalties).

use super::{PropagateError, SetError, UncertaintySet};
use crate::Points;
use crate::points::squared_distance;

/// One candidate, as a custom penalty sees it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Draw<'a> {
    /// The object, from 0.
    pub object: usize,
    /// Which of the object's draws, from 0, those that were rejected counted.
    pub draw: usize,
    /// The point of the set.
    pub z: &'a [f64],
    /// Its features.
    pub x: &'a [f64],
}

/// A user's own penalty; not negative.
pub type CustomPenalty<'a> = Box<dyn Fn(&Draw<'_>) -> f64 + Sync + Send + 'a>;

/// What a candidate costs.
#[derive(Default)]
#[non_exhaustive]
pub enum Penalty<'a> {
    /// Nothing.
    #[default]
    None,
    /// Squared distance of its features to those of the measured value.
    FromCentre,
    /// Squared distance of its features to a point for each object.
    FromPoints(Points),
    /// Minus log density of the errors, relative to the measured value.
    Surprise,
    /// The same for these coordinates only, whatever the others are.
    SurpriseOf(Vec<usize>),
    /// By a closure: a column of the user's, say, looked up by object and draw.
    Custom(CustomPenalty<'a>),
}

impl<'a> Penalty<'a> {
    /// A closure as penalty.
    pub fn custom(f: impl Fn(&Draw<'_>) -> f64 + Sync + Send + 'a) -> Self {
        Penalty::Custom(Box::new(f))
    }

    /// The rules that do not depend on one object.
    pub(super) fn check(
        &self,
        objects: usize,
        dimension: usize,
        features: usize,
    ) -> Result<(), PropagateError> {
        match self {
            Penalty::FromPoints(points) if points.len() != objects => {
                Err(PropagateError::PenaltyPoints { expected: objects, found: points.len() })
            }
            Penalty::FromPoints(points) if points.features() != features => {
                Err(PropagateError::PenaltyFeatures { expected: features, found: points.features() })
            }
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

    /// What one object needs for all its candidates; `centre` has the features of the measured value.
    pub(super) fn prepare(
        &self,
        object: usize,
        set: &UncertaintySet,
        centre: impl FnOnce() -> Vec<f64>,
    ) -> Result<Prepared<'_>, SetError> {
        Ok(match self {
            Penalty::None => Prepared::None,
            Penalty::FromCentre => Prepared::From(centre()),
            Penalty::FromPoints(points) => Prepared::From(points.row(object).to_vec()),
            Penalty::Surprise => Prepared::Surprise(set.clone(), (0..set.dimension()).collect()),
            Penalty::SurpriseOf(coordinates) => {
                Prepared::Surprise(set.marginal(coordinates)?, coordinates.clone())
            }
            Penalty::Custom(f) => Prepared::Custom(f),
        })
    }
}

/// A penalty ready for one object.
pub(super) enum Prepared<'a> {
    None,
    From(Vec<f64>),
    Surprise(UncertaintySet, Vec<usize>),
    Custom(&'a CustomPenalty<'a>),
}

impl Prepared<'_> {
    /// The penalty of one candidate; `None` when there are none.
    pub(super) fn value(&self, draw: &Draw<'_>) -> Option<f64> {
        match self {
            Prepared::None => None,
            Prepared::From(point) => Some(squared_distance(draw.x, point)),
            Prepared::Surprise(set, coordinates) => {
                let z: Vec<f64> = coordinates.iter().map(|&c| draw.z[c]).collect();
                Some(set.surprise(&z))
            }
            Prepared::Custom(f) => Some(f(draw)),
        }
    }
}
