//! Plummer's sphere: Phi = -G M / sqrt(r^2 + b^2).

use std::f64::consts::PI;

use super::closed_form::{Spherical, potential_of_formula};
use super::{PotentialError, positive};
use crate::real::Real;
use crate::units::G;

/// Plummer's (1911) sphere with a core.
#[derive(Clone, Debug)]
pub struct Plummer {
    mass: f64,
    b2: f64,
}

impl Plummer {
    /// `mass` in Msun, core radius in kpc.
    pub fn new(mass: f64, scale_radius: f64) -> Result<Self, PotentialError> {
        let b = positive("Plummer", "scale radius", scale_radius)?;
        Ok(Self { mass: positive("Plummer", "mass", mass)?, b2: b * b })
    }
}

impl Spherical for Plummer {
    #[inline(always)]
    fn phi_at<T: Real>(&self, square: T) -> T {
        -(T::splat(G * self.mass) / (square + self.b2).sqrt())
    }
    #[inline(always)]
    fn slope<T: Real>(&self, square: T) -> (T, T) {
        let s2 = square + self.b2;
        let phi = -(T::splat(G * self.mass) / s2.sqrt());
        (phi, -phi / s2)
    }
    fn bend(&self, square: f64) -> (f64, f64) {
        let s2 = square + self.b2;
        let q = G * self.mass / (s2 * s2.sqrt());
        (q, -3.0 * q / s2)
    }
    fn rho_at(&self, square: f64) -> f64 {
        let s2 = square + self.b2;
        3.0 * self.mass * self.b2 / (4.0 * PI * s2 * s2 * s2.sqrt())
    }
}

potential_of_formula!(Plummer);
