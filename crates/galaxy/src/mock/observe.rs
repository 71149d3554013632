//! Observing a star of the mock: its brightness, the errors that follow, and what is measured.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::params::{MockError, MockParams};
use crate::frames::Galactocentric;
use crate::frames::{Observed, Sky};
use crate::gaia_errors::{ErrorModel, Errors};

/// What a catalogue says of a star.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// Without noise, Galactic coordinates.
    pub truth: Observed,
    /// Apparent magnitude G.
    pub magnitude: f64,
    /// Measured parallax, mas; it may be negative.
    pub parallax: f64,
    /// Measured proper motions along l (with cos b) and b, mas/yr.
    pub proper_motion: [f64; 2],
    /// Measured radial velocity, km/s.
    pub radial_velocity: f64,
    /// Standard errors.
    pub errors: Errors,
    /// Standard error of the radial velocity, km/s.
    pub radial_velocity_error: f64,
}

/// Radial-velocity error where the error model has none, km/s.
const RADIAL_VELOCITY_ERROR: f64 = 1.0;

/// Observes a star: M_G uniform, noise Gaussian in all but the position on the sky.
pub(super) fn observe(
    params: &MockParams,
    place: &Galactocentric,
    stream: &mut goc::Stream,
) -> Result<Measurement, MockError> {
    let truth = params.sun.observe(place, Sky::Galactic)?;
    let [bright, faint] = params.magnitudes;
    let magnitude = bright + (faint - bright) * stream.random::<f64>() + truth.distance.modulus();
    let errors = errors_at(params.errors, magnitude)?;
    let radial_velocity_error = errors.radial_velocity.unwrap_or(RADIAL_VELOCITY_ERROR);
    let mut noisy = |value: f64, error: f64| {
        let normal: f64 = StandardNormal.sample(stream);
        value + error * normal
    };
    let [pml_error, pmb_error] = errors.galactic_proper_motion;
    Ok(Measurement {
        magnitude,
        parallax: noisy(truth.distance.parallax(), errors.parallax),
        proper_motion: [noisy(truth.proper_motion[0], pml_error), noisy(truth.proper_motion[1], pmb_error)],
        radial_velocity: noisy(truth.radial_velocity, radial_velocity_error),
        truth,
        errors,
        radial_velocity_error,
    })
}

fn errors_at(model: ErrorModel, magnitude: f64) -> Result<Errors, MockError> {
    Ok(model.at(magnitude)?)
}
