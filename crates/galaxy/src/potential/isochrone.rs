//! Hénon's isochrone: Phi = -G M / (b + a), a = sqrt(b^2 + r^2).
//!
//! The one galaxy-like potential whose actions have a closed form, and so the test of everything
//! that computes actions.

use std::f64::consts::PI;

use super::closed_form::{Spherical, potential_of_formula};
use super::{PotentialError, positive};
use crate::real::Real;
use crate::units::G;

/// Hénon's (1959) isochrone sphere.
///
/// ```
/// use goc_galaxy::potential::{Isochrone, Potential};
/// let sphere = Isochrone::new(1e11, 2.0)?;
/// assert_eq!(sphere.value(0.0, 0.0), -sphere.gm() / 4.0);
/// # Ok::<(), goc_galaxy::potential::PotentialError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Isochrone {
    mass: f64,
    b: f64,
}

impl Isochrone {
    /// `mass` in Msun, scale radius b in kpc.
    pub fn new(mass: f64, scale_radius: f64) -> Result<Self, PotentialError> {
        let b = positive("Isochrone", "scale radius", scale_radius)?;
        Ok(Self { mass: positive("Isochrone", "mass", mass)?, b })
    }

    /// G M, kpc (km/s)^2.
    pub fn gm(&self) -> f64 {
        G * self.mass
    }

    /// The scale radius b, kpc.
    pub fn scale_radius(&self) -> f64 {
        self.b
    }
}

impl Spherical for Isochrone {
    #[inline(always)]
    fn phi_at<T: Real>(&self, square: T) -> T {
        -(T::splat(self.gm()) / ((square + self.b * self.b).sqrt() + self.b))
    }
    #[inline(always)]
    fn slope<T: Real>(&self, square: T) -> (T, T) {
        let a = (square + self.b * self.b).sqrt();
        let phi = -(T::splat(self.gm()) / (a + self.b));
        (phi, -phi / (a * (a + self.b)))
    }
    fn bend(&self, square: f64) -> (f64, f64) {
        let a = (square + self.b * self.b).sqrt();
        let s = a + self.b;
        (self.gm() / (a * s * s), -self.gm() * (3.0 * a + self.b) / (a * s * a * s * a * s))
    }
    fn rho_at(&self, square: f64) -> f64 {
        let a = (square + self.b * self.b).sqrt();
        let s = a + self.b;
        self.mass * self.b * (2.0 * a + self.b) / (4.0 * PI * a * a * a * s * s)
    }
}

potential_of_formula!(Isochrone);
