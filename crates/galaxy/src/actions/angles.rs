//! A star's position on its torus and how fast it moves there: angles and frequencies.
//!
//! The generating function S = int p_lambda dlambda + int p_nu dnu + Lz phi has the constants a =
//! (E, I3, Lz). Its derivatives with respect to them are integrals like those of the actions, with
//! 1/p instead of p (Binney 2012, section 3; Sanders & Binney 2014), and the derivatives of the
//! actions, M = dJ/da, are the same integrals over a whole period, so that
//!
//! ```text
//! theta_i = sum_a dS/da (M^-1)_ai,     Omega_i = (M^-1)_Ei
//! ```
//!
//! With the integrands of [the fudge](super::fudge), s = sqrt(h / 2) against x = ln w and y = sqrt(2 q (1 -
//! v)) against eta,
//!
//! ```text
//! ds/da = (w, -w / lambda, -Lz) / (4 s),     dy/da = (-Delta v, 1, -Lz tau) (1 - v) / y
//! ```
//!
//! They are infinite at the turning points; the substitutions x = x_mid - x_half cos(phase) and
//! eta = eta_max sin(phase) remove the singularities.

use std::f64::consts::{PI, TAU};

use super::Actions;
use super::fudge::{Orbit, Place, Turns, asinh, sinh};
use super::quadrature::gauss_legendre;
use crate::potential::Potential;

/// A bound star on its torus. Arrays are in the order r, z, phi.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Its actions and energy.
    pub actions: Actions,
    /// Angles in [0, 2 pi): r from the pericentre, z from the upward passage through the plane, phi
    /// with the azimuth. Where an action is 0, its angle is undefined and set to 0.
    pub angles: [f64; 3],
    /// The rates of change of the angles, radians per kpc/(km/s). The rate of phi has the sign of
    /// Jphi.
    pub frequencies: [f64; 3],
}

/// Number of nodes for each of the four integrals.
const NODES: usize = 64;
/// Below this half width in ln w, or eta_max, an oscillation is harmonic.
const HARMONIC: f64 = 1e-6;

/// dS/dE, dS/dI3, dS/dLz.
type Slopes = [f64; 3];

/// Integrals from a turning point, or the plane, to the star and to the next turning point.
struct Stretch {
    to_star: Slopes,
    whole: Slopes,
}

/// Angles and frequencies of a bound star.
pub(super) fn motion(
    potential: &dyn Potential,
    (place, orbit, turns): (&Place<f64>, &Orbit<f64>, &Turns<f64>),
    actions: Actions,
    azimuth: f64,
    below: bool,
) -> Motion {
    let rule = gauss_legendre(NODES);
    let lz = orbit.spin2.sqrt().copysign(place.lz);
    let radial = radial(potential, orbit, turns, lz, &rule);
    let vertical = vertical(potential, orbit, turns, lz, &rule);
    let outwards = place.r_vr + place.z * place.vz * orbit.w / orbit.lambda >= 0.0;
    let away = orbit.rest * orbit.lambda.sqrt() * place.vz - orbit.v.sqrt() * place.r_vr >= 0.0;
    // The sums along the path since the pericentre and since the upward passage.
    let mut slopes = [0.0; 3];
    for a in 0..3 {
        let (r, z) = (&radial, &vertical);
        slopes[a] += if outwards { r.to_star[a] } else { 2.0 * r.whole[a] - r.to_star[a] };
        slopes[a] += match (below, away) {
            (false, true) => z.to_star[a],
            (false, false) => 2.0 * z.whole[a] - z.to_star[a],
            (true, true) => 2.0 * z.whole[a] + z.to_star[a],
            (true, false) => 4.0 * z.whole[a] - z.to_star[a],
        };
    }
    // M: Jr = 1/pi int over the whole stretch, Jz = 2/pi.
    let (m_r, m_z) = (radial.whole.map(|x| x / PI), vertical.whole.map(|x| x * 2.0 / PI));
    let determinant = m_r[0] * m_z[1] - m_r[1] * m_z[0];
    let energy = [m_z[1] / determinant, -m_r[1] / determinant];
    let third = [-m_z[0] / determinant, m_r[0] / determinant];
    let along_phi = |by: [f64; 2]| -(by[0] * m_r[2] + by[1] * m_z[2]);
    let (energy_phi, third_phi) = (along_phi(energy), along_phi(third));
    let theta_r = slopes[0] * energy[0] + slopes[1] * third[0];
    let theta_z = slopes[0] * energy[1] + slopes[1] * third[1];
    let theta_phi = azimuth + slopes[2] + slopes[0] * energy_phi + slopes[1] * third_phi;
    Motion {
        actions,
        angles: [
            if actions.jr > 0.0 { turned(theta_r) } else { 0.0 },
            if actions.jz > 0.0 { turned(theta_z) } else { 0.0 },
            turned(theta_phi),
        ],
        frequencies: [energy[0], energy[1], energy_phi],
    }
}

/// An angle reduced to [0, 2 pi).
fn turned(angle: f64) -> f64 {
    let turned = angle - (angle / TAU).floor() * TAU;
    if turned < TAU { turned } else { 0.0 }
}

fn radial(
    potential: &dyn Potential,
    orbit: &Orbit<f64>,
    turns: &Turns<f64>,
    lz: f64,
    rule: &[(f64, f64)],
) -> Stretch {
    let (low, high) = (libm::log(turns.w_min.max(1e-30)), libm::log(turns.w_max));
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
    // half sin(phase) / s at a point; for a nearly circular orbit, from the curvature of h.
    let harmonic = half < HARMONIC;
    let stiff = if harmonic {
        let step = 1e-3;
        let h = |x: f64| orbit.radial(potential, libm::exp(x));
        (2.0 * h(middle) - h(middle - step) - h(middle + step)) / (2.0 * step * step)
    } else {
        0.0
    };
    let slopes = |phase: f64| -> Slopes {
        let w = libm::exp(middle - half * libm::cos(phase));
        let stretch = if harmonic {
            1.0 / (0.5 * stiff).sqrt()
        } else {
            half * libm::sin(phase) / (0.5 * orbit.radial(potential, w)).max(f64::MIN_POSITIVE).sqrt()
        };
        [w, -w / (w + orbit.delta), -lz].map(|x| 0.25 * x * stretch)
    };
    let star = if half > 0.0 { ((middle - libm::log(orbit.w)) / half).clamp(-1.0, 1.0) } else { 0.0 };
    Stretch { to_star: integral(slopes, libm::acos(star), rule), whole: integral(slopes, PI, rule) }
}

fn vertical(
    potential: &dyn Potential,
    orbit: &Orbit<f64>,
    turns: &Turns<f64>,
    lz: f64,
    rule: &[(f64, f64)],
) -> Stretch {
    let eta_max = asinh(turns.tau_max.sqrt());
    let harmonic = eta_max < HARMONIC;
    let stiff = if harmonic {
        let step = 1e-6;
        (orbit.vertical(potential, 0.0) - orbit.vertical(potential, step)) / step
    } else {
        0.0
    };
    let slopes = |phase: f64| -> Slopes {
        let s = sinh(eta_max * libm::sin(phase));
        let tau = s * s;
        let cos2 = 1.0 / (1.0 + tau);
        let stretch = if harmonic {
            1.0 / (2.0 * stiff).sqrt()
        } else {
            let y2 = 2.0 * orbit.vertical(potential, tau) * cos2;
            eta_max * libm::cos(phase) / y2.max(f64::MIN_POSITIVE).sqrt()
        };
        [-orbit.delta * tau * cos2, 1.0, -lz * tau].map(|x| x * cos2 * stretch)
    };
    let eta = asinh((orbit.v / orbit.rest).sqrt());
    let star = if eta_max > 0.0 { (eta / eta_max).min(1.0) } else { 0.0 };
    Stretch { to_star: integral(slopes, libm::asin(star), rule), whole: integral(slopes, 0.5 * PI, rule) }
}

/// Three integrals over the phase from 0 to `end`.
fn integral(slopes: impl Fn(f64) -> Slopes, end: f64, rule: &[(f64, f64)]) -> Slopes {
    let mut sum = [0.0; 3];
    for &(s, weight) in rule {
        for (sum, x) in sum.iter_mut().zip(slopes(end * s)) {
            *sum += weight * end * x;
        }
    }
    sum
}
