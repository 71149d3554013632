//! Circular orbits as a function of energy: the largest possible Lz, and how far a star can go.
//!
//! Energies are parametrised by xi = ln(1/Phi(0) - 1/E), which resolves both the centre and the
//! outskirts. Lcirc and the radius of zero velocity are tabulated evenly in xi as cubic Hermite
//! splines. Their slopes are exact, since dLcirc/dE = 1/Omega and dE/dR = Phi_R. Beyond the table
//! they continue as power laws.

use super::ActionError;
use super::lockstep::Lockstep;
use super::solve::solve;
use crate::potential::Potential;
use crate::real::Real;

/// The radii the table spans, kpc.
pub(super) const NEAREST: f64 = 1e-4;
pub(super) const FARTHEST: f64 = 1e5;
/// Number of points at which the potential is sampled to bracket the solutions.
const PROBES: usize = 256;
const CELLS: usize = 640;

/// The potential in the plane at a set of radii, used to solve for radii at given energies.
pub(super) struct Profile<'a> {
    potential: &'a dyn Potential,
    radii: Vec<f64>,
    /// The energies of a star at rest and on a circular orbit at these radii.
    still: Vec<f64>,
    round: Vec<f64>,
}

impl<'a> Profile<'a> {
    pub(super) fn new(potential: &'a dyn Potential) -> Result<Self, ActionError> {
        let step = Real::ln(FARTHEST / NEAREST) / (PROBES - 1) as f64;
        let radii: Vec<f64> = (0..PROBES).map(|i| NEAREST * Real::exp(step * i as f64)).collect();
        let mut still = Vec::with_capacity(PROBES);
        let mut round = Vec::with_capacity(PROBES);
        for &r in &radii {
            let gradient = potential.gradient(r, 0.0);
            still.push(gradient.phi);
            round.push(gradient.phi + 0.5 * r * gradient.d_r);
        }
        for i in 0..PROBES {
            let fault = |what| Err(ActionError::Potential { what, radius: radii[i] });
            if !(still[i].is_finite() && round[i].is_finite()) {
                return fault("is not finite in the plane");
            }
            if still[i] >= 0.0 {
                return fault("is not negative in the plane (it must vanish at infinity)");
            }
            if i > 0 && (still[i] <= still[i - 1] || round[i] <= round[i - 1]) {
                return fault("does not grow outwards with stable circular orbits");
            }
        }
        Ok(Self { potential, radii, still, round })
    }

    /// The radius in the plane at which a star of this energy is at rest.
    pub(super) fn reach(&self, energy: f64) -> f64 {
        self.radius_of(energy, &self.still, |r| self.potential.value(r, 0.0))
    }

    /// The radius of the circular orbit.
    pub(super) fn circular_radius(&self, energy: f64) -> f64 {
        self.radius_of(energy, &self.round, |r| {
            let gradient = self.potential.gradient(r, 0.0);
            gradient.phi + 0.5 * r * gradient.d_r
        })
    }

    fn radius_of(&self, energy: f64, known: &[f64], f: impl Fn(f64) -> f64) -> f64 {
        let above = known.partition_point(|e| *e < energy).clamp(1, PROBES - 1);
        let end = |i: usize| (self.radii[i], known[i] - energy);
        solve(end(above - 1), end(above), 1e-8, |r| f(r) - energy)
    }

    /// The least and the largest energy whose circular orbit and reach both lie between the probes.
    fn energies(&self) -> [f64; 2] {
        [self.round[0], self.still[PROBES - 1]]
    }
}

#[derive(Debug)]
pub(super) struct CircularOrbits {
    inverse_bottom: f64,
    xi_start: f64,
    per_xi: f64,
    /// Per cell: ln Lcirc and its slope (per cell) at both ends, then the same for ln reach.
    rows: Vec<[f64; 8]>,
}

/// Properties of the circular orbit at an energy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circular<T> {
    pub(super) xi: T,
    /// The circular orbit's angular momentum.
    pub(super) spin: T,
    /// The logarithm of the radius in the plane at which a star of this energy is at rest.
    pub(super) ln_reach: T,
}

impl CircularOrbits {
    pub(super) fn new(profile: &Profile<'_>) -> Result<Self, ActionError> {
        let bottom = profile.potential.value(0.0, 0.0);
        if bottom.is_nan() || bottom >= profile.still[0] {
            return Err(ActionError::Potential {
                what: "does not have its least value at the centre",
                radius: 0.0,
            });
        }
        let inverse_bottom = 1.0 / bottom;
        let [xi_start, xi_end] = profile.energies().map(|e| Real::ln(inverse_bottom - 1.0 / e));
        if !(xi_start < xi_end && xi_end.is_finite()) {
            return Err(ActionError::Potential { what: "is too flat to tell orbits apart", radius: NEAREST });
        }
        let width = (xi_end - xi_start) / CELLS as f64;
        let ends: Vec<[f64; 4]> = (0..=CELLS)
            .map(|i| {
                let lift = Real::exp(xi_start + width * i as f64);
                let energy = 1.0 / (inverse_bottom - lift);
                let de = energy * energy * lift * width;
                let (circular, reach) = (profile.circular_radius(energy), profile.reach(energy));
                let force = profile.potential.gradient(circular, 0.0).d_r;
                let spin = circular * (circular * force).sqrt();
                let slope = (circular / force).sqrt() / spin * de;
                let reach_slope = de / (reach * profile.potential.gradient(reach, 0.0).d_r);
                [Real::ln(spin), slope, Real::ln(reach), reach_slope]
            })
            .collect();
        let rows = ends
            .windows(2)
            .map(|w| [w[0][0], w[0][1], w[1][0], w[1][1], w[0][2], w[0][3], w[1][2], w[1][3]])
            .collect();
        Ok(Self { inverse_bottom, xi_start, per_xi: 1.0 / width, rows })
    }

    /// For energies of 0 and above, and below the minimum, the nearest value in the table.
    #[inline(always)]
    pub(super) fn at<T: Lockstep>(&self, energy: T) -> Circular<T> {
        let depth = (T::splat(-1.0) / energy.min(T::splat(-1e-30))) + self.inverse_bottom;
        let xi = depth.max(T::splat(1e-40)).ln();
        let place = (xi - self.xi_start) * self.per_xi;
        let last = self.rows.len() as f64;
        let inside = place.max(T::splat(0.0)).min(T::splat(last));
        let cell = inside.floor().min(T::splat(last - 1.0));
        let (t, over) = (inside - cell, place - inside);
        let row: [T; 8] = T::rows(cell, &self.rows);
        let spin = cubic(&[row[0], row[1], row[2], row[3]], t, over);
        let ln_reach = cubic(&[row[4], row[5], row[6], row[7]], t, over);
        Circular { xi, spin: spin.exp(), ln_reach }
    }

    /// xi of an energy between the minimum and 0.
    pub(super) fn xi(&self, energy: f64) -> f64 {
        self.at(energy).xi
    }
}

/// The cubic with these values and slopes at 0 and 1, extended linearly by `over` beyond an end.
#[inline(always)]
fn cubic<T: Lockstep>(&[y0, d0, y1, d1]: &[T; 4], t: T, over: T) -> T {
    let rise = y1 - y0;
    let bend = rise * 3.0 - d0 * 2.0 - d1;
    let twist = d0 + d1 - rise * 2.0;
    let slope = T::select(over.less(T::splat(0.0)), d0, d1);
    y0 + t * (d0 + t * (bend + t * twist)) + over * slope
}
