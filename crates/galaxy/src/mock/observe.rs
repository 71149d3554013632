//! Observes a star of the mock: its brightness, the resulting errors, and the measured values.

use goc::uncertainty::{Object, SetError, Size, UncertaintySet};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::draw::Mock;
use super::params::{MockError, MockParams};
use crate::catalogue::ROW;
use crate::frames::Galactocentric;
use crate::frames::{Observed, Sky};
use crate::gaia_errors::{ErrorModel, Errors};

/// The catalogue entry of a star.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// The noise-free values in Galactic coordinates.
    pub truth: Observed,
    /// Apparent magnitude G.
    pub magnitude: f64,
    /// Measured parallax, mas; it may be negative.
    pub parallax: f64,
    /// Measured proper motions along l (including cos b) and b, mas/yr.
    pub proper_motion: [f64; 2],
    /// Measured radial velocity, km/s.
    pub radial_velocity: f64,
    /// Standard errors.
    pub errors: Errors,
    /// Standard error of the radial velocity, km/s.
    pub radial_velocity_error: f64,
}

impl Measurement {
    /// The row of a Galactic [`Catalogue`](crate::catalogue::Catalogue) with parallaxes: l, b,
    /// parallax, proper motions, radial velocity.
    pub fn row(&self) -> [f64; ROW] {
        let ([l, b], [pml, pmb]) = (self.truth.position.in_degrees(), self.proper_motion);
        [l, b, self.parallax, pml, pmb, self.radial_velocity]
    }

    /// The standard errors of the row; the position on the sky has none.
    pub fn row_errors(&self) -> [f64; ROW] {
        let [pml, pmb] = self.errors.galactic_proper_motion;
        [0.0, 0.0, self.errors.parallax, pml, pmb, self.radial_velocity_error]
    }
}

impl Mock {
    /// The box of possible true values of each star around its [row](Measurement::row), named by
    /// the star's number.
    ///
    /// The authors' candidates come from these boxes with a size of 2 sigmas,
    /// [`Sampler::Grid`](goc::uncertainty::Sampler::Grid) along coordinate 2 (the parallax),
    /// [`Penalty::SurpriseOf`](goc::uncertainty::Penalty::SurpriseOf) the parallax, and
    /// [`StarActions`](crate::stars::StarActions).
    pub fn objects(&self, size: Size) -> Result<Vec<Object>, SetError> {
        let set = |star: &super::MockStar| {
            UncertaintySet::cuboid(&star.measured.row(), &star.measured.row_errors(), size)
        };
        self.stars.iter().enumerate().map(|(i, star)| Ok(Object::new(i as u64, set(star)?))).collect()
    }
}

/// Radial-velocity error where the error model has none, km/s.
const RADIAL_VELOCITY_ERROR: f64 = 1.0;

/// Observes a star, with M_G uniform and Gaussian noise in everything except the position on the
/// sky. The noise of the parallax and proper motions is `error_factor` times the quoted error.
pub(super) fn observe(
    params: &MockParams,
    place: &Galactocentric,
    error_factor: f64,
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
    let [pml_error, pmb_error] = errors.galactic_proper_motion.map(|error| error_factor * error);
    Ok(Measurement {
        magnitude,
        parallax: noisy(truth.distance.parallax(), error_factor * errors.parallax),
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
