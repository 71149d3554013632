//! The direct sum of every disc's ansatz and every multipole.
//!
//! Slow (a microsecond or more per point), and the reference for the fast table.

use std::f64::consts::PI;

use super::disc::Disc;
use super::multipole::{Multipole, Resolution, Source};
use super::spheroid::Spheroid;
use super::{Curvature, Gradient};
use crate::real::{Lanes, Real};

/// What a galaxy is made of.
#[derive(Clone, Debug)]
pub(super) struct Matter {
    pub discs: Vec<Disc>,
    pub spheroids: Vec<Spheroid>,
}

impl Matter {
    #[inline(always)]
    pub fn density<T: Real>(&self, r: T, z: T) -> T {
        let mut sum = T::splat(0.0);
        for disc in &self.discs {
            sum += disc.density(r, z);
        }
        for spheroid in &self.spheroids {
            sum += spheroid.density(r, z);
        }
        sum
    }

    #[inline(always)]
    fn residual<T: Real>(&self, r: T, z: T) -> T {
        let mut sum = T::splat(0.0);
        for disc in &self.discs {
            sum += disc.residual(r, z);
        }
        for spheroid in &self.spheroids {
            sum += spheroid.density(r, z);
        }
        sum
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn residuals(matter: &Matter, r: &Lanes, z: &Lanes) -> Lanes {
    matter.residual(*r, *z)
}

impl Source for Matter {
    fn densities(&self, r: &Lanes, z: &Lanes) -> Lanes {
        residuals(self, r, z)
    }
}

/// Discs and spheroids as one potential, summed term by term.
#[derive(Clone, Debug)]
pub(super) struct Direct {
    pub four_pi_g: f64,
    pub matter: Matter,
    pub multipole: Multipole,
}

/// Radii below this (kpc) are replaced by it.
const TINY: f64 = 1e-30;

impl Direct {
    pub fn new(matter: Matter, g: f64, resolution: &Resolution) -> Self {
        let multipole = Multipole::new(&matter, g, resolution);
        Self { four_pi_g: 4.0 * PI * g, matter, multipole }
    }

    /// The potential and its gradient.
    pub fn gradient(&self, r: f64, z: f64) -> Gradient {
        let radius = (r * r + z * z).sqrt().max(TINY);
        let (cos, sin) = (r / radius, z.abs() / radius);
        let [phi, along, across, ..] = self.multipole.sum(Real::ln(radius), sin);
        let mut gradient = Gradient {
            phi,
            d_r: (along * cos - across * sin * cos) / radius,
            d_z: (along * sin + across * cos * cos) / radius,
        };
        for disc in &self.matter.discs {
            let one = disc.ansatz_gradient(r, z);
            gradient.phi += self.four_pi_g * one.phi;
            gradient.d_r += self.four_pi_g * one.d_r;
            gradient.d_z += self.four_pi_g * one.d_z;
        }
        gradient.d_z = if z < 0.0 { -gradient.d_z } else { gradient.d_z };
        gradient
    }

    /// Second derivatives.
    pub fn curvature(&self, r: f64, z: f64) -> Curvature {
        let radius = (r * r + z * z).sqrt().max(TINY);
        let (c, s) = (r / radius, z.abs() / radius);
        let [_, f_x, f_m, f_xx, f_xm, f_mm] = self.multipole.sum(Real::ln(radius), s);
        // Derivatives of x = ln r and mu = z/r, times r to the order of the derivative.
        let (x_r, x_z, m_r, m_z) = (c, s, -s * c, c * c);
        let (x_rr, x_rz, x_zz) = (1.0 - 2.0 * c * c, -2.0 * c * s, 1.0 - 2.0 * s * s);
        let (m_rr, m_rz, m_zz) = (s * (3.0 * c * c - 1.0), c * (3.0 * s * s - 1.0), -3.0 * c * c * s);
        let second = |x1: f64, m1: f64, x2: f64, m2: f64, x12: f64, m12: f64| {
            (f_xx * x1 * x2 + f_xm * (x1 * m2 + x2 * m1) + f_mm * m1 * m2 + f_x * x12 + f_m * m12)
                / (radius * radius)
        };
        let mut sum = Curvature {
            d_rr: second(x_r, m_r, x_r, m_r, x_rr, m_rr),
            d_rz: second(x_r, m_r, x_z, m_z, x_rz, m_rz),
            d_zz: second(x_z, m_z, x_z, m_z, x_zz, m_zz),
        };
        for disc in &self.matter.discs {
            let one = disc.ansatz_curvature(r, z);
            sum.d_rr += self.four_pi_g * one.d_rr;
            sum.d_rz += self.four_pi_g * one.d_rz;
            sum.d_zz += self.four_pi_g * one.d_zz;
        }
        sum.d_rz = if z < 0.0 { -sum.d_rz } else { sum.d_rz };
        sum
    }
}
