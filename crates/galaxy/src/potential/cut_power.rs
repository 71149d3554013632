//! A power law with an edge: rho = A r^-alpha exp(-(r/rc)^2), the bulge of galpy's MWPotential2014.
//!
//! The mass within r is 2 pi A rc^(3-alpha) gamma(3/2 - alpha/2, x) and the potential
//! -G M(r)/r - 2 pi G A rc^(2-alpha) Gamma(1 - alpha/2, x), with x = (r/rc)^2 and the two incomplete
//! gamma functions, which are summed here one point at a time.

use std::f64::consts::PI;

use super::closed_form::CENTRE;
use super::{Curvature, Gradient, Potential, PotentialError, positive};
use crate::real::Real;
use crate::units::G;

/// A sphere whose density is a power law with a Gaussian edge.
///
/// ```
/// use goc_galaxy::potential::{CutPower, Potential};
/// let bulge = CutPower::new(1e9, 1.8, 1.9)?;
/// // Far outside it is a point mass.
/// let mass = bulge.total_mass();
/// let gm = goc_galaxy::units::G * mass;
/// assert!((bulge.value(100.0, 0.0) / (-gm / 100.0) - 1.0).abs() < 1e-12);
/// # Ok::<(), goc_galaxy::potential::PotentialError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CutPower {
    density: f64,
    alpha: f64,
    rc: f64,
    /// Gamma(3/2 - alpha/2) and Gamma(1 - alpha/2).
    whole: (f64, f64),
}

impl CutPower {
    /// Density at 1 kpc without the edge (Msun/kpc^3), slope alpha below 2, edge radius (kpc).
    pub fn new(density: f64, alpha: f64, cut_radius: f64) -> Result<Self, PotentialError> {
        if !(alpha.is_finite() && alpha < 2.0) {
            return Err(PotentialError::Parameter {
                potential: "CutPower",
                parameter: "alpha",
                value: alpha,
                allowed: "below 2, else the centre is infinitely deep",
            });
        }
        Ok(Self {
            density: positive("CutPower", "density", density)?,
            alpha,
            rc: positive("CutPower", "cut-off radius", cut_radius)?,
            whole: (gamma(1.5 - 0.5 * alpha), gamma(1.0 - 0.5 * alpha)),
        })
    }

    /// The bulge with this circular velocity (km/s) at `r` kpc.
    pub(super) fn normalised(alpha: f64, rc: f64, r: f64, speed: f64) -> Result<Self, PotentialError> {
        let one = Self::new(1.0, alpha, rc)?;
        Self::new(speed * speed * r / (G * one.mass_within(r)), alpha, rc)
    }

    /// The total mass, Msun.
    pub fn total_mass(&self) -> f64 {
        self.scale() * self.rc * self.whole.0
    }

    /// 2 pi A rc^(2 - alpha).
    fn scale(&self) -> f64 {
        2.0 * PI * self.density * Real::exp((2.0 - self.alpha) * Real::ln(self.rc))
    }

    fn mass_within(&self, radius: f64) -> f64 {
        let x = radius * radius / (self.rc * self.rc);
        self.scale() * self.rc * incomplete(1.5 - 0.5 * self.alpha, x, self.whole.0).0
    }

    fn phi_at(&self, radius: f64) -> f64 {
        let x = radius * radius / (self.rc * self.rc);
        let outside = incomplete(1.0 - 0.5 * self.alpha, x, self.whole.1).1;
        -G * (self.mass_within(radius) / radius + self.scale() * outside)
    }

    /// q = Phi'/r.
    fn slope(&self, radius: f64) -> f64 {
        G * self.mass_within(radius) / (radius * radius * radius)
    }
}

/// The distance from the centre, not below the smallest that is distinguished.
fn distance(r: f64, z: f64) -> f64 {
    (r * r + z * z).max(CENTRE).sqrt()
}

impl Potential for CutPower {
    fn value(&self, r: f64, z: f64) -> f64 {
        self.phi_at(distance(r, z))
    }
    fn gradient(&self, r: f64, z: f64) -> Gradient {
        let radius = distance(r, z);
        let q = self.slope(radius);
        Gradient { phi: self.phi_at(radius), d_r: q * r, d_z: q * z }
    }
    fn curvature(&self, r: f64, z: f64) -> Curvature {
        let radius = distance(r, z);
        let q = self.slope(radius);
        let e = 4.0 * PI * G * self.density(r, z).min(f64::MAX) - 3.0 * q;
        let (c, s) = (r / radius, z / radius);
        Curvature { d_rr: q + e * c * c, d_rz: e * c * s, d_zz: q + e * s * s }
    }
    fn density(&self, r: f64, z: f64) -> f64 {
        let radius = distance(r, z);
        let x = radius / self.rc;
        self.density * Real::exp(-self.alpha * Real::ln(radius) - x * x)
    }
}

/// The lower and upper incomplete gamma functions of `a` > 0 at `x` >= 0, given the complete one.
fn incomplete(a: f64, x: f64, whole: f64) -> (f64, f64) {
    if x == 0.0 {
        return (0.0, whole);
    }
    let front = Real::exp(a * Real::ln(x) - x);
    if x < a + 1.0 {
        // gamma = x^a e^-x sum over n of x^n / (a (a+1) ... (a+n)).
        let mut term = 1.0 / a;
        let mut sum = term;
        let mut n = a;
        while term > 1e-17 * sum {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return (front * sum, whole - front * sum);
    }
    // Legendre's continued fraction for Gamma, by Lentz's method.
    let mut b = x + 1.0 - a;
    let mut c = 1e300;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for n in 1..400 {
        let k = f64::from(n);
        let top = -k * (k - a);
        b += 2.0;
        d = 1.0 / (top * d + b);
        c = b + top / c;
        let step = c * d;
        fraction *= step;
        if (step - 1.0).abs() < 1e-16 {
            break;
        }
    }
    (whole - front * fraction, front * fraction)
}

/// Euler's gamma function for positive numbers (Lanczos' formula, g = 7).
fn gamma(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 1.0 {
        return gamma(x + 1.0) / x;
    }
    let y = x - 1.0;
    let mut sum = 0.999_999_999_999_809_9;
    for (n, term) in TERMS.iter().enumerate() {
        sum += term / (y + n as f64 + 1.0);
    }
    let t = y + 7.5;
    (2.0 * PI).sqrt() * Real::exp((y + 0.5) * Real::ln(t) - t) * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_functions_are_the_known_ones() {
        // Gamma(1/2) = sqrt(pi), Gamma(5) = 24, Gamma(0.1) from Abramowitz & Stegun's relation and mpmath.
        for (x, known) in
            [(0.5, PI.sqrt()), (5.0, 24.0), (0.1, 9.513_507_698_668_732), (0.6, 1.489_192_248_812_817)]
        {
            assert!((gamma(x) / known - 1.0).abs() < 3e-14, "Gamma({x}) = {}", gamma(x));
        }
        for a in [0.1, 0.6, 1.5] {
            for x in [1e-6, 0.3, 0.9 + a, 1.1 + a, 9.0, 60.0] {
                let (lower, upper) = incomplete(a, x, gamma(a));
                // gamma(a + 1, x) = a gamma(a, x) - x^a e^-x, and the same for the upper one.
                let (lower1, upper1) = incomplete(a + 1.0, x, gamma(a + 1.0));
                let front = x.powf(a) * (-x).exp();
                assert!((lower1 - (a * lower - front)).abs() < 1e-13 * gamma(a + 1.0), "{a} {x}");
                assert!((upper1 - (a * upper + front)).abs() < 1e-13 * gamma(a + 1.0), "{a} {x}");
            }
        }
    }
}
