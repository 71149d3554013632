//! Uncertainty: from measured values with errors to candidates (paper, sections 2 and 3.1, eqs. 1
//! to 5).
//!
//! An object's covariates were measured as `zeta_i`, with a known error distribution. Each of the
//! following steps is a part of this module:
//!
//! 1. The possible true values form a set `Z_i`, of a [`Size`] such that it contains the truth with
//!    probability at least `1 - eta` (eqs. 1, 2): [`UncertaintySet`].
//! 2. The clustered quantities are features `f(Z)` (eq. 3): [`transform`]. In general `f(Z_i)` has
//!    no closed form and need not be convex.
//! 3. It is therefore sampled: a [`Sampler`] draws points of `Z_i` (eq. 4), and `f` maps them to
//!    the candidates (eq. 5), each with a [`Penalty`] for its distance from the measured value:
//!    [`Propagation`]. A prior on the true values may influence which points are drawn:
//!    [`Propagation::prior`].
//!
//! Each object draws from its own random stream, identified by its key. The candidates of one
//! object therefore do not depend on the other objects, on their order, or on the number of
//! threads.
//!
//! # From values with errors to candidates
//! ```
//! use goc::uncertainty::transform::{Rejection, from_fn};
//! use goc::uncertainty::{
//!     Covariance, Object, Penalty, Propagation, Sampler, Size, UncertaintySet, WhenAllRejected,
//! };
//!
//! // Three stars: parallax (mas), proper motion (mas/yr), their errors and correlation.
//! let stars = [
//!     (11, [0.50, 3.0], [0.05, 0.1], 0.3),
//!     (12, [0.40, -2.0], [0.10, 0.1], -0.2),
//!     (13, [-3.0, 0.5], [0.10, 0.1], 0.0), // no distance
//! ];
//! let mut objects = Vec::new();
//! for (id, value, error, rho) in stars {
//!     let covariance = Covariance::from_correlations(&error, &[1.0, rho, rho, 1.0])?;
//!     let set = UncertaintySet::ellipsoid(&value, covariance, Size::eta(0.05)?)?;
//!     objects.push(Object::new(id, set));
//! }
//!
//! // f: distance (kpc) and tangential velocity (km/s).
//! let f = from_fn(2, |z, x| {
//!     if z[0] <= 0.0 {
//!         return Err(Rejection::new("parallax not positive"));
//!     }
//!     x[0] = 1.0 / z[0];
//!     x[1] = 4.74047 * z[1] / z[0];
//!     Ok(())
//! });
//!
//! let (candidates, report) = Propagation::new(f)
//!     .sampler(Sampler::Sobol)
//!     .draws(64)
//!     .penalty(Penalty::Surprise)
//!     .scale_penalties(true)
//!     .when_all_rejected(WhenAllRejected::LeaveOut)
//!     .seed(1)
//!     .propagate(&objects)?;
//!
//! assert_eq!((candidates.objects(), candidates.total()), (2, 128));
//! assert_eq!(report.reasons().of("parallax not positive"), 64);
//! assert_eq!(report.left_out()[0].object, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod covariance;
mod error;
mod penalty;
mod prior;
mod propagate;
mod report;
mod sampler;
mod set;
mod size;
mod sobol;
pub mod transform;
mod unmeasured;

pub use covariance::Covariance;
pub use error::SetError;
pub use penalty::Penalty;
pub use prior::LnPrior;
pub use propagate::{PropagateError, Propagation, WhenAllRejected};
pub use report::{Losses, Reasons, Report};
pub use sampler::{STUDENT_DF, Sampler, TAIL_FACTOR, TAIL_SHARE};
pub use set::{Density, UncertaintySet};
pub use size::Size;

/// An object to be clustered: its uncertainty set, and the key of its random stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    key: u64,
    set: UncertaintySet,
    unmeasured: Vec<usize>,
    times: usize,
}

impl Object {
    /// The key identifies the object's random stream: a catalogue number, or
    /// [`key_of_text`](crate::random::key_of_text).
    pub fn new(key: u64, set: UncertaintySet) -> Self {
        Self { key, set, unmeasured: Vec::new(), times: 1 }
    }

    /// Marks coordinates that were not measured. There, the centre and error of the set are those
    /// of a normal prior, independent of the other coordinates. As the set is long, `times` as many
    /// points are drawn.
    ///
    /// Samplers that follow the errors ([`Sampler::Density`], [`Sampler::Tails`]) draw such a
    /// coordinate in strata of equal prior probability. It has no heavy tails, and no penalty under
    /// those samplers. A [`Propagation::prior`] should not depend on it.
    pub fn unmeasured(mut self, coordinates: Vec<usize>, times: usize) -> Self {
        (self.unmeasured, self.times) = (coordinates, times.max(1));
        self
    }

    /// The key of the random stream.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The uncertainty set.
    pub fn set(&self) -> &UncertaintySet {
        &self.set
    }
}
