//! The halo of Navarro, Frenk & White: rho = M / (4 pi r (r + a)^2), Phi = -G M ln(1 + r/a) / r.

use std::f64::consts::PI;

use super::closed_form::{CENTRE, Spherical, potential_of_formula};
use super::{PotentialError, positive};
use crate::real::Real;
use crate::units::G;

/// A dark halo (Navarro, Frenk & White 1996). Its mass grows without bound; M is the mass within
/// 5.3 scale radii.
///
/// ```
/// use goc_galaxy::potential::{NFW, Potential};
/// let halo = NFW::new(1e12, 20.0)?;
/// assert!((halo.value(0.0, 0.0) + 4.300_917_270_677_36e-6 * 1e12 / 20.0).abs() < 1e-6);
/// # Ok::<(), goc_galaxy::potential::PotentialError>(())
/// ```
#[derive(Clone, Debug)]
pub struct NFW {
    mass: f64,
    a: f64,
}

/// ln(1 + x) / x and (ln(1 + x) - x / (1 + x)) / x^2, without cancellation near the centre.
#[inline(always)]
fn profile<T: Real>(x: T) -> (T, T) {
    const ORDER: usize = 12;
    let (mut log, mut mass) = (T::splat(0.0), T::splat(0.0));
    for k in (0..ORDER).rev() {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        log = log * x + sign / (k as f64 + 1.0);
        mass = mass * x + sign * (k as f64 + 1.0) / (k as f64 + 2.0);
    }
    let near = x.less(T::splat(0.03));
    let away = x.max(T::splat(0.03));
    // The quotient restores what 1 + x loses in rounding.
    let sum = away + 1.0;
    let full = sum.ln() * (away / (sum - 1.0));
    (T::select(near, log, full / away), T::select(near, mass, (full - away / sum) / (away * away)))
}

impl NFW {
    /// `mass` in Msun, scale radius in kpc.
    pub fn new(mass: f64, scale_radius: f64) -> Result<Self, PotentialError> {
        let a = positive("NFW", "scale radius", scale_radius)?;
        Ok(Self { mass: positive("NFW", "mass", mass)?, a })
    }

    /// The halo with this circular velocity (km/s) at `r` kpc.
    pub(super) fn normalised(scale_radius: f64, r: f64, speed: f64) -> Result<Self, PotentialError> {
        let one = Self::new(1.0, scale_radius)?;
        let (_, q) = one.slope(r * r);
        Self::new(speed * speed / (q * r * r), scale_radius)
    }
}

impl Spherical for NFW {
    #[inline(always)]
    fn phi_at<T: Real>(&self, square: T) -> T {
        -(profile(square.sqrt() * (1.0 / self.a)).0 * (G * self.mass / self.a))
    }
    #[inline(always)]
    fn slope<T: Real>(&self, square: T) -> (T, T) {
        let radius = square.max(T::splat(CENTRE)).sqrt();
        let (log, mass) = profile(radius * (1.0 / self.a));
        let gm = G * self.mass;
        (-(log * (gm / self.a)), mass * (gm / (self.a * self.a)) / radius)
    }
    fn bend(&self, square: f64) -> (f64, f64) {
        let s = square.max(CENTRE);
        let (_, q) = self.slope(s);
        (q, (4.0 * PI * G * self.rho_at(s) - 3.0 * q) / s)
    }
    fn rho_at(&self, square: f64) -> f64 {
        let radius = square.sqrt();
        self.mass / (4.0 * PI * radius * (radius + self.a) * (radius + self.a))
    }
}

potential_of_formula!(NFW);
