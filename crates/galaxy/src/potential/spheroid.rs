//! A flattened sphere of stars or dark matter with two power laws and, perhaps, an edge.
//!
//! rho = rho0 x^-gamma (1 + x^alpha)^((gamma - beta) / alpha) exp(-(m / r_cut)^xi), x = m / a,
//! m^2 = R^2 + (z/q)^2. Its potential has no closed form; the multipole expansion finds it.

use super::{PotentialError, positive};
use crate::real::Real;

/// A spheroid's density. A part of a [`super::Expansion`].
#[derive(Clone, Debug, PartialEq)]
pub struct Spheroid {
    rho0: f64,
    a: f64,
    inner: f64,
    outer: f64,
    sharpness: f64,
    q: f64,
    cut: Option<(f64, f64)>,
}

impl Spheroid {
    /// A sphere of density `density` (Msun/kpc^3; the density at m = a is this times 2^((gamma - beta)/alpha)),
    /// scale radius a (kpc), slopes gamma within and beta without.
    pub fn new(density: f64, scale_radius: f64, gamma: f64, beta: f64) -> Result<Self, PotentialError> {
        let wrong = |parameter, value, allowed| {
            Err(PotentialError::Parameter { potential: "Spheroid", parameter, value, allowed })
        };
        if !(gamma.is_finite() && gamma < 2.0) {
            return wrong("gamma", gamma, "below 2, else the centre is infinitely deep");
        }
        if !beta.is_finite() {
            return wrong("beta", beta, "finite");
        }
        Ok(Self {
            rho0: positive("Spheroid", "density", density)?,
            a: positive("Spheroid", "scale radius", scale_radius)?,
            inner: gamma,
            outer: beta,
            sharpness: 1.0,
            q: 1.0,
            cut: None,
        })
    }

    /// Flattened (below 1) or drawn out along z.
    pub fn axis_ratio(mut self, q: f64) -> Result<Self, PotentialError> {
        self.q = positive("Spheroid", "axis ratio", q)?;
        Ok(self)
    }

    /// How sharply the inner slope turns into the outer one: alpha, 1 unless told.
    pub fn sharpness(mut self, alpha: f64) -> Result<Self, PotentialError> {
        self.sharpness = positive("Spheroid", "alpha", alpha)?;
        Ok(self)
    }

    /// An edge at `radius` (kpc): times exp(-(m/radius)^strength).
    pub fn cut_off(mut self, radius: f64, strength: f64) -> Result<Self, PotentialError> {
        self.cut = Some((
            positive("Spheroid", "cut-off radius", radius)?,
            positive("Spheroid", "cut-off strength", strength)?,
        ));
        Ok(self)
    }

    /// The density, Msun/kpc^3.
    #[inline(always)]
    pub(super) fn density<T: Real>(&self, r: T, z: T) -> T {
        let y = z * (1.0 / self.q);
        // The cusp's centre is taken as a point very near to it: the density there may be infinite.
        let m = (r * r + y * y).sqrt().max(T::splat(1e-50));
        let ln_x = (m * (1.0 / self.a)).ln();
        let power = if self.sharpness == 1.0 { m * (1.0 / self.a) } else { (ln_x * self.sharpness).exp() };
        let mut exponent =
            (power + 1.0).ln() * ((self.inner - self.outer) / self.sharpness) - ln_x * self.inner;
        if let Some((radius, strength)) = self.cut {
            let s = m * (1.0 / radius);
            exponent -= if strength == 2.0 { s * s } else { (s.ln() * strength).exp() };
        }
        exponent.exp() * self.rho0
    }
}
