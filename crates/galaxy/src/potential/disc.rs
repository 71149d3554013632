//! A thin disc by an ansatz (Kuijken & Dubinski 1995; Dehnen & Binney 1998).
//!
//! The disc is rho = S(R) h(z) with S = Sigma0 exp(-R/Rd - R0/R). Its potential is sharp only
//! across the plane, so the sharp part is given in closed form, and the remainder is smooth enough
//! for a multipole expansion:
//!
//! Phi_a = 4 pi G f(r) H(z), with f(r) = S taken at the spherical radius r, H'' = h, H(0) = H'(0) = 0.
//!
//! The Laplacian of Phi_a is not quite 4 pi G rho. The [`residual`](Disc::residual) is
//! rho - f h - 2 f' (H + z H') / r - f'' H, and it goes to the multipole.

use super::{Curvature, Gradient, PotentialError, positive};
use crate::real::Real;

/// How a disc's density falls with height; the number is the scale height in kpc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layer {
    /// h = exp(-|z|/zd) / (2 zd).
    Exponential(f64),
    /// h = sech^2(z / 2 zd) / (4 zd), a layer in equilibrium with its own gravity.
    Isothermal(f64),
}

impl Layer {
    /// The scale height, kpc.
    pub fn scale_height(self) -> f64 {
        match self {
            Layer::Exponential(zd) | Layer::Isothermal(zd) => zd,
        }
    }
}

/// A disc: exponential in radius with, perhaps, a hole in the middle. A part of a [`super::Expansion`].
#[derive(Clone, Debug, PartialEq)]
pub struct Disc {
    sigma: f64,
    rd: f64,
    hole: f64,
    layer: Layer,
}

/// f and its first two derivatives along r.
#[derive(Clone, Copy)]
struct Along<T> {
    f: T,
    d: T,
    dd: T,
}

/// H, H' and h at a height >= 0.
#[derive(Clone, Copy)]
struct Across<T> {
    potential: T,
    d: T,
    h: T,
}

/// Radii below this (kpc) are replaced by it in quotients.
const TINY: f64 = 1e-50;

impl Disc {
    /// Surface density that the exponential would have at R = 0 (Msun/kpc^2), scale radius and hole
    /// radius R0 (kpc; 0 for no hole).
    pub fn new(
        surface_density: f64,
        scale_radius: f64,
        hole_radius: f64,
        layer: Layer,
    ) -> Result<Self, PotentialError> {
        if !(hole_radius.is_finite() && hole_radius >= 0.0) {
            return Err(PotentialError::Parameter {
                potential: "Disc",
                parameter: "hole radius",
                value: hole_radius,
                allowed: "finite and not below 0",
            });
        }
        positive("Disc", "scale height", layer.scale_height())?;
        Ok(Self {
            sigma: positive("Disc", "surface density", surface_density)?,
            rd: positive("Disc", "scale radius", scale_radius)?,
            hole: hole_radius,
            layer,
        })
    }

    /// The total mass, Msun.
    pub fn mass(&self) -> f64 {
        // The trapezoidal rule in ln R: the integrand vanishes fast at both ends.
        const STEP: f64 = 1.0 / 64.0;
        let sum: f64 = (-3200..=320)
            .map(|k| {
                let r = self.rd * Real::exp(STEP * f64::from(k));
                self.surface(r) * r * r
            })
            .sum();
        2.0 * std::f64::consts::PI * STEP * sum
    }

    /// The scale radius, kpc.
    pub(super) fn scale_radius(&self) -> f64 {
        self.rd
    }

    /// The scale height, kpc.
    pub(super) fn scale_height(&self) -> f64 {
        self.layer.scale_height()
    }

    #[inline(always)]
    fn surface<T: Real>(&self, r: T) -> T {
        let r = r.max(T::splat(TINY));
        (-(r * (1.0 / self.rd)) - T::splat(self.hole) / r).exp() * self.sigma
    }

    #[inline(always)]
    fn along<T: Real>(&self, r: T) -> Along<T> {
        let inverse = T::splat(1.0) / r.max(T::splat(TINY));
        let f = (-(r * (1.0 / self.rd)) - inverse * self.hole).exp() * self.sigma;
        let k = inverse * inverse * self.hole - 1.0 / self.rd;
        Along { f, d: f * k, dd: f * (k * k - inverse * inverse * inverse * (2.0 * self.hole)) }
    }

    /// `z` >= 0; below, the potential is that of the series near the plane.
    #[inline(always)]
    fn across<T: Real>(&self, z: T) -> Across<T> {
        let zd = self.scale_height();
        let x = z * (1.0 / zd);
        let e = (-x).exp();
        match self.layer {
            Layer::Exponential(_) => {
                // The difference suffers cancellation near the plane, where the series takes over.
                let s = x * (1.0 / 7.0) * -1.0 + 1.0;
                let s = x * (-1.0 / 6.0) * s + 1.0;
                let s = x * (-1.0 / 5.0) * s + 1.0;
                let s = x * (-1.0 / 4.0) * s + 1.0;
                let series = x * x * 0.5 * (x * (-1.0 / 3.0) * s + 1.0);
                let far = e - 1.0 + x;
                Across {
                    potential: T::select(x.less(T::splat(0.02)), series, far) * (0.5 * zd),
                    d: -(e - 1.0) * 0.5,
                    h: e * (0.5 / zd),
                }
            }
            Layer::Isothermal(_) => {
                // ln cosh(x/2) and, near the plane, its series.
                let y = x * x * 0.25;
                let s = y * (y * (y * (-17.0 / 2520.0) + 1.0 / 45.0) - 1.0 / 12.0) + 0.5;
                let sum = e + 1.0;
                let far = x * 0.5 + (sum * 0.5).ln();
                Across {
                    potential: T::select(x.less(T::splat(0.1)), y * s, far) * zd,
                    d: -(e - 1.0) * 0.5 / sum,
                    h: e * (1.0 / zd) / (sum * sum),
                }
            }
        }
    }

    /// The disc's density.
    #[inline(always)]
    pub(super) fn density<T: Real>(&self, r: T, z: T) -> T {
        self.surface(r) * self.across(z.abs()).h
    }

    /// The density that the ansatz leaves over.
    #[inline(always)]
    pub(super) fn residual<T: Real>(&self, r: T, z: T) -> T {
        let (z, radius) = (z.abs(), (r * r + z * z).sqrt());
        let (f, h) = (self.along(radius), self.across(z));
        let inverse = T::splat(1.0) / radius.max(T::splat(TINY));
        (self.surface(r) - f.f) * h.h - f.d * (h.potential + z * h.d) * inverse * 2.0 - f.dd * h.potential
    }

    /// The ansatz without its 4 pi G, at spherical radius `radius` and height `z`.
    #[inline(always)]
    pub(super) fn ansatz<T: Real>(&self, radius: T, z: T) -> T {
        self.along(radius).f * self.across(z.abs()).potential
    }

    /// The ansatz continued below the plane as the same function, without the kink an exponential
    /// layer has there.
    #[inline(always)]
    pub(super) fn ansatz_continued<T: Real>(&self, radius: T, z: T) -> T {
        match self.layer {
            // Below the plane the series replaces the exponential, which would grow without bound.
            Layer::Exponential(_) => self.along(radius).f * self.across(z).potential,
            Layer::Isothermal(_) => self.ansatz(radius, z),
        }
    }

    /// The ansatz and its gradient without 4 pi G; the derivative along z is that along |z|.
    #[inline(always)]
    pub(super) fn ansatz_gradient<T: Real>(&self, r: T, z: T) -> Gradient<T> {
        let (z, radius) = (z.abs(), (r * r + z * z).sqrt());
        let (f, h) = (self.along(radius), self.across(z));
        let slope = f.d * h.potential / radius.max(T::splat(TINY));
        Gradient { phi: f.f * h.potential, d_r: slope * r, d_z: slope * z + f.f * h.d }
    }

    /// Second derivatives of the ansatz without 4 pi G; the mixed one is along |z|.
    pub(super) fn ansatz_curvature(&self, r: f64, z: f64) -> Curvature {
        let (z, radius) = (z.abs(), (r * r + z * z).sqrt().max(TINY));
        let (f, h) = (self.along(radius), self.across(z));
        let (cos, sin) = (r / radius, z / radius);
        let q = f.d / radius;
        let e = f.dd - q;
        Curvature {
            d_rr: h.potential * (q + e * cos * cos),
            d_rz: h.potential * e * cos * sin + f.d * cos * h.d,
            d_zz: h.potential * (q + e * sin * sin) + 2.0 * f.d * sin * h.d + f.f * h.h,
        }
    }
}
