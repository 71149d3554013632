//! A flattened sphere of stars or dark matter with two power laws and, perhaps, an edge.
//!
//! rho = rho0 x^-gamma (1 + x^alpha)^((gamma - beta) / alpha) exp(-(m / r_cut)^xi), x = m / a,
//! m^2 = R^2 + (z/q)^2. Its potential has no closed form and is computed by the multipole
//! expansion.

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
    /// A sphere of density `density` (Msun/kpc^3; at m = a the density is this times 2^((gamma -
    /// beta)/alpha)), scale radius a (kpc), inner slope gamma and outer slope beta.
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

    /// Sets the axis ratio: flattened (below 1) or elongated along z.
    pub fn axis_ratio(mut self, q: f64) -> Result<Self, PotentialError> {
        self.q = positive("Spheroid", "axis ratio", q)?;
        Ok(self)
    }

    /// Sets how sharply the inner slope turns into the outer one: alpha, 1 by default.
    pub fn sharpness(mut self, alpha: f64) -> Result<Self, PotentialError> {
        self.sharpness = positive("Spheroid", "alpha", alpha)?;
        Ok(self)
    }

    /// Adds an edge at `radius` (kpc): a factor exp(-(m/radius)^strength).
    pub fn cut_off(mut self, radius: f64, strength: f64) -> Result<Self, PotentialError> {
        self.cut = Some((
            positive("Spheroid", "cut-off radius", radius)?,
            positive("Spheroid", "cut-off strength", strength)?,
        ));
        Ok(self)
    }

    /// The total mass, Msun; an error if it is infinite.
    pub fn mass(&self) -> Result<f64, PotentialError> {
        if self.cut.is_none() && self.outer <= 3.0 {
            return Err(PotentialError::Parameter {
                potential: "Spheroid",
                parameter: "beta",
                value: self.outer,
                allowed: "above 3 where no cut-off makes the mass finite",
            });
        }
        // The trapezoidal rule in ln m. Far out the integrand falls as m^(3 - beta), perhaps
        // slowly: continue until it is negligible.
        const STEP: f64 = 1.0 / 64.0;
        let shell = |k: i32| {
            let m = self.a * Real::exp(STEP * f64::from(k));
            self.density(m, 0.0) * m * m * m
        };
        let mut sum = 0.0;
        for direction in [1, -1] {
            let mut k = if direction == 1 { 0 } else { -1 };
            loop {
                let part = shell(k);
                sum += part;
                if k.abs() > 1000 && (part <= 1e-16 * sum || k.abs() > 40_000) {
                    break;
                }
                k += direction;
            }
        }
        Ok(4.0 * std::f64::consts::PI * self.q * STEP * sum)
    }

    /// The scale radius, kpc.
    pub(super) fn scale_radius(&self) -> f64 {
        self.a
    }

    /// The density, Msun/kpc^3.
    #[inline(always)]
    pub(super) fn density<T: Real>(&self, r: T, z: T) -> T {
        let y = z * (1.0 / self.q);
        // The centre of the cusp is replaced by a point very near it, since the density there may
        // be infinite.
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
