//! A flat rotation curve: Phi = v0^2 / 2 ln(rc^2 + R^2 + (z/q)^2), lengths in kpc.
//!
//! It does not vanish at infinity, so no orbit in it is unbound and its zero point is arbitrary.

use std::f64::consts::PI;

use super::closed_form::{ClosedForm, potential_of_formula};
use super::{Curvature, Gradient, PotentialError, positive};
use crate::real::Real;
use crate::units::G;

/// The logarithmic potential (Binney & Tremaine 2008, eq. 2.71a).
///
/// ```
/// use goc_galaxy::potential::{Logarithmic, Potential};
/// let flat = Logarithmic::new(220.0, 0.1, 0.9)?;
/// assert!((flat.circular_velocity(50.0) - 220.0).abs() < 1e-3);
/// # Ok::<(), goc_galaxy::potential::PotentialError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Logarithmic {
    square: f64,
    core: f64,
    per_q2: f64,
}

impl Logarithmic {
    /// `speed` far out in km/s, core radius in kpc, axis ratio q of the potential.
    pub fn new(speed: f64, core_radius: f64, axis_ratio: f64) -> Result<Self, PotentialError> {
        let v = positive("Logarithmic", "speed", speed)?;
        let rc = positive("Logarithmic", "core radius", core_radius)?;
        let q = positive("Logarithmic", "axis ratio", axis_ratio)?;
        Ok(Self { square: v * v, core: rc * rc, per_q2: 1.0 / (q * q) })
    }
}

impl ClosedForm for Logarithmic {
    #[inline(always)]
    fn phi<T: Real>(&self, r: T, z: T) -> T {
        (r * r + z * z * self.per_q2 + self.core).ln() * (0.5 * self.square)
    }
    #[inline(always)]
    fn first<T: Real>(&self, r: T, z: T) -> Gradient<T> {
        let s = r * r + z * z * self.per_q2 + self.core;
        let k = T::splat(self.square) / s;
        Gradient { phi: s.ln() * (0.5 * self.square), d_r: k * r, d_z: k * z * self.per_q2 }
    }
    fn second(&self, r: f64, z: f64) -> Curvature {
        let s = self.core + r * r + z * z * self.per_q2;
        let k = self.square / s;
        Curvature {
            d_rr: k * (1.0 - 2.0 * r * r / s),
            d_rz: -2.0 * k * r * z * self.per_q2 / s,
            d_zz: k * self.per_q2 * (1.0 - 2.0 * z * z * self.per_q2 / s),
        }
    }
    fn rho(&self, r: f64, z: f64) -> f64 {
        let s = self.core + r * r + z * z * self.per_q2;
        let top =
            (2.0 + self.per_q2) * self.core + r * r * self.per_q2 + (2.0 - self.per_q2) * z * z * self.per_q2;
        self.square * top / (4.0 * PI * G * s * s)
    }
}

potential_of_formula!(Logarithmic);
