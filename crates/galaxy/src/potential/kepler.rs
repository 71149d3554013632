//! A point mass: Phi = -G M / r.

use super::closed_form::{CENTRE, Spherical, potential_of_formula};
use super::{PotentialError, positive};
use crate::real::Real;
use crate::units::G;

/// A point mass. At the centre the potential is minus infinity and the force, by symmetry, 0.
///
/// ```
/// use goc_galaxy::potential::{Kepler, Potential};
/// let hole = Kepler::new(1e10)?;
/// assert!((hole.circular_velocity(4.0) - 103.693).abs() < 1e-3);
/// # Ok::<(), goc_galaxy::potential::PotentialError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Kepler {
    gm: f64,
}

impl Kepler {
    /// A point of `mass` Msun.
    pub fn new(mass: f64) -> Result<Self, PotentialError> {
        Ok(Self { gm: G * positive("Kepler", "mass", mass)? })
    }
}

impl Spherical for Kepler {
    #[inline(always)]
    fn phi_at<T: Real>(&self, square: T) -> T {
        -(T::splat(self.gm) / square.sqrt())
    }
    #[inline(always)]
    fn slope<T: Real>(&self, square: T) -> (T, T) {
        let s = square.max(T::splat(CENTRE));
        (self.phi_at(square), T::splat(self.gm) / (s * s.sqrt()))
    }
    fn bend(&self, square: f64) -> (f64, f64) {
        let s = square.max(CENTRE);
        let q = self.gm / (s * s.sqrt());
        (q, -3.0 * q / s)
    }
    fn rho_at(&self, square: f64) -> f64 {
        if square == 0.0 { f64::INFINITY } else { 0.0 }
    }
}

potential_of_formula!(Kepler);
