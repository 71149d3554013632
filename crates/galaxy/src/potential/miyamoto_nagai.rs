//! A disc with a closed form: Phi = -G M / sqrt(R^2 + (a + sqrt(z^2 + b^2))^2).

use std::f64::consts::PI;

use super::closed_form::{ClosedForm, potential_of_formula};
use super::{Curvature, Gradient, PotentialError, positive};
use crate::real::Real;
use crate::units::G;

/// Miyamoto & Nagai's (1975) disc: a is its length, b its height; a = 0 is Plummer's sphere.
///
/// ```
/// use goc_galaxy::potential::{MiyamotoNagai, Plummer, Potential};
/// let round = MiyamotoNagai::new(1e11, 0.0, 0.5)?;
/// let sphere = Plummer::new(1e11, 0.5)?;
/// assert!((round.value(3.0, 1.0) / sphere.value(3.0, 1.0) - 1.0).abs() < 1e-15);
/// # Ok::<(), goc_galaxy::potential::PotentialError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MiyamotoNagai {
    mass: f64,
    a: f64,
    b2: f64,
}

impl MiyamotoNagai {
    /// `mass` in Msun, scale length a and scale height b in kpc.
    pub fn new(mass: f64, scale_length: f64, scale_height: f64) -> Result<Self, PotentialError> {
        if !(scale_length.is_finite() && scale_length >= 0.0) {
            return Err(PotentialError::Parameter {
                potential: "MiyamotoNagai",
                parameter: "scale length",
                value: scale_length,
                allowed: "finite and not below 0",
            });
        }
        let b = positive("MiyamotoNagai", "scale height", scale_height)?;
        Ok(Self { mass: positive("MiyamotoNagai", "mass", mass)?, a: scale_length, b2: b * b })
    }

    /// The disc with this circular velocity (km/s) in its plane at `r` kpc.
    pub(super) fn normalised(a: f64, b: f64, r: f64, speed: f64) -> Result<Self, PotentialError> {
        let one = Self::new(1.0, a, b)?;
        Self::new(speed * speed / (r * one.first(r, 0.0).d_r), a, b)
    }
}

impl ClosedForm for MiyamotoNagai {
    #[inline(always)]
    fn phi<T: Real>(&self, r: T, z: T) -> T {
        let w = (z * z + self.b2).sqrt() + self.a;
        -(T::splat(G * self.mass) / (r * r + w * w).sqrt())
    }
    #[inline(always)]
    fn first<T: Real>(&self, r: T, z: T) -> Gradient<T> {
        let s = (z * z + self.b2).sqrt();
        let w = s + self.a;
        let square = r * r + w * w;
        let phi = -(T::splat(G * self.mass) / square.sqrt());
        let k = -phi / square;
        Gradient { phi, d_r: k * r, d_z: k * w / s * z }
    }
    fn second(&self, r: f64, z: f64) -> Curvature {
        let s2 = z * z + self.b2;
        let s = s2.sqrt();
        let w = s + self.a;
        let square = r * r + w * w;
        let k = G * self.mass / (square * square.sqrt());
        Curvature {
            d_rr: k * (1.0 - 3.0 * r * r / square),
            d_rz: -3.0 * k * r * z * w / (s * square),
            d_zz: k * (z * z / s2 + w * self.b2 / (s * s2) - 3.0 * w * w * z * z / (s2 * square)),
        }
    }
    fn rho(&self, r: f64, z: f64) -> f64 {
        let s2 = z * z + self.b2;
        let s = s2.sqrt();
        let w = s + self.a;
        let square = r * r + w * w;
        self.mass * self.b2 * (self.a * r * r + (self.a + 3.0 * s) * w * w)
            / (4.0 * PI * square * square * square.sqrt() * s * s2)
    }
}

potential_of_formula!(MiyamotoNagai);
