//! Shell orbits: the thin closed orbits that determine the focal distance for an energy and Lz.
//!
//! A star that leaves the plane at right angles from the right radius climbs to a point where it is
//! at rest in both R and z, and returns the way it came. It traces a curve in the meridional plane
//! instead of filling an area: an orbit without radial action. In a Stäckel potential that curve is
//! one of constant lambda, so its radius R in the plane determines the focal distance,
//!
//! ```text
//! D^2 = R^2 (2 (E - Phi) - R Phi_R) / (R Phi_R - (Lz / R)^2)      at (R, 0)
//! ```
//!
//! We search for the R at which the star stops climbing (R vz - z vR = 0) where it stops moving
//! outwards (R vR + z vz = 0), which needs a quarter of a period. The motion is integrated by
//! extrapolation: Störmer's rule with 1, 2, .., 5 substeps, whose error is even in the step, gives
//! order ten (Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I, II.14).

use super::lockstep::Lockstep;
use super::solve::solve;
use crate::potential::Potential;

/// Error allowed in a step, relative to radius and speed.
const STEP_ERROR: f64 = 1e-11;
/// Noise of the forces relative to the potential: rounding, amplified by the cells of a table.
const PHI_NOISE: f64 = 1e-14;
const COLUMNS: usize = 5;
/// Maximum number of steps. A quarter of a period takes about ten; thin layers of gas and splined
/// potentials take a few more.
const MOST_STEPS: usize = 300;

/// Where a shell orbit crosses the plane, and the focal distance it implies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shell<T> {
    /// The radius in the plane, kpc.
    pub(super) radius: T,
    /// D^2, kpc^2; negative where the potential is flattened the other way.
    pub(super) delta: T,
}

/// The shell orbit of energy `energy` and angular momentum `lz` (above 0, below the circular orbit's).
///
/// `circular` is the radius of the circular orbit of this energy, `reach` that of zero velocity,
/// and `guess` the starting radius.
#[inline(always)]
pub(super) fn shell_orbit<T: Lockstep>(
    potential: &dyn Potential,
    [energy, lz]: [T; 2],
    [circular, reach]: [T; 2],
    guess: T,
) -> Shell<T> {
    let zero = T::splat(0.0);
    // The range of radii from which a star can leave the plane.
    let room = |r: T| (energy - T::phi(potential, r, zero)) * r * r * 2.0 - lz * lz;
    let at_circular = room(circular);
    let nearest = solve((zero, -(lz * lz)), (circular, at_circular), 1e-6, &room);
    let farthest = solve((circular, at_circular), (reach, -(lz * lz)), 1e-6, &room);
    let within = |r: T, from: T| {
        let r = T::select(r.less(nearest), (from + nearest) * 0.5, r);
        T::select(farthest.less(r), (from + farthest) * 0.5, r)
    };
    let drift = |r: T| drift_at_top(potential, energy, lz, r);

    let mut here = within(guess, circular);
    let mut d_here = drift(here);
    let (mut last, mut d_last) = (here, d_here);
    let mut factor = T::splat(1.01);
    for _ in 0..40 {
        let same = zero.less(d_here * d_last);
        if !T::any(same) {
            break;
        }
        let outwards = zero.less(d_here);
        let next = within(T::select(outwards, here * factor, here / factor), here);
        factor = T::select(same, factor * factor, factor);
        (last, d_last) = (T::select(same, here, last), T::select(same, d_here, d_last));
        let moved = T::select(same, next, here);
        d_here = T::select(same, drift(moved), d_here);
        here = moved;
    }
    let radius = solve((last, d_last), (here, d_here), 1e-6, drift);
    let gradient = T::gradient(potential, radius, zero);
    let force = radius * gradient.d_r;
    let top = (energy - gradient.phi) * 2.0 - force;
    let bottom = force - lz * lz / (radius * radius);
    let delta = radius * radius * top / bottom;
    // The rounding residue of a spherical potential is not a focal distance.
    let real = T::both((force * 1e-9).less(top.abs()), zero.less(bottom));
    let sound = T::both(delta.abs().less(radius * radius * 1e6), real);
    Shell { radius, delta: T::select(sound, delta, zero) }
}

/// R, z, vR, vz.
type State<T> = [T; 4];

/// R vR + z vz when R vz - z vR has fallen to 0, for a star that leaves (r, 0) upwards.
///
/// These are components along and across the radius; vR and vz would mix close to the axis.
#[inline(always)]
fn drift_at_top<T: Lockstep>(potential: &dyn Potential, energy: T, lz: T, r: T) -> T {
    let zero = T::splat(0.0);
    let lz2 = lz * lz;
    let acceleration = |r: T, z: T| {
        let gradient = T::gradient(potential, r, z);
        [lz2 / (r * r * r) - gradient.d_r, -gradient.d_z]
    };
    let start = T::gradient(potential, r, zero);
    let vz = ((energy - start.phi) * 2.0 - lz2 / (r * r)).max(zero).sqrt();
    let speed = ((energy - start.phi) * 2.0).max(zero).sqrt();
    let mut state = [r, zero, zero, vz];
    let mut a = acceleration(r, zero);
    let mut step = r / speed * 0.1;
    let small = r * vz * 1e-5;
    let mut active = small.less(r * vz);
    // Deep in the centre, speeds are so small relative to the potential that its rounding errors
    // matter.
    let allowed = (start.phi.abs() / (speed * speed)) * PHI_NOISE + STEP_ERROR;
    let scales = [r * allowed, r * allowed, speed * allowed, speed * allowed];
    let climb = |s: &State<T>, a: &[T; 2]| (s[0] * s[3] - s[1] * s[2], s[0] * a[1] - s[1] * a[0]);
    for _ in 0..MOST_STEPS {
        if !T::any(active) {
            break;
        }
        let (next, previous) = extrapolated(&acceleration, &state, &a, step);
        let mut error = zero;
        for i in 0..4 {
            error = error.max((next[i] - previous[i]).abs() / scales[i]);
        }
        // A NaN, from a step through the axis, is not below 1 either.
        let accept = T::both(error.less(T::splat(1.0)), zero.less(next[0]));
        let move_on = T::both(active, accept);
        for i in 0..4 {
            state[i] = T::select(move_on, next[i], state[i]);
        }
        let fresh = acceleration(state[0], state[1]);
        a = [T::select(move_on, fresh[0], a[0]), T::select(move_on, fresh[1], a[1])];
        // The error of the last-but-one column scales as the ninth power of the step.
        let growth = (error.max(T::splat(1e-9)).min(T::splat(1e9)).ln() * (-1.0 / 9.0)).exp() * 0.8;
        let growth = T::select(accept, growth.min(T::splat(4.0)), growth.min(T::splat(0.5)));
        let growth = T::select(error.less(T::splat(1e9)), growth, T::splat(0.25));
        let wanted = step.abs() * growth;
        // Newton's step to the top, forwards or back, once it is within reach.
        let (climbing, slowing) = climb(&state, &a);
        let landing = climbing / -slowing;
        let reachable = T::both(slowing.less(zero), landing.abs().less(wanted));
        let ahead = T::select(zero.less(climbing), wanted, -wanted);
        step = T::select(active, T::select(reachable, landing, ahead), step);
        active = T::both(active, small.less(climbing.abs()));
    }
    let (climbing, slowing) = climb(&state, &a);
    let [r, z, vr, vz] = state;
    let drift_slope = vr * vr + vz * vz + r * a[0] + z * a[1];
    r * vr + z * vz + drift_slope * (climbing / -slowing)
}

/// One step by extrapolation to ever smaller substeps: returns the best value and the one before
/// it.
#[inline(always)]
fn extrapolated<T: Lockstep>(
    acceleration: &impl Fn(T, T) -> [T; 2],
    state: &State<T>,
    a: &[T; 2],
    step: T,
) -> (State<T>, State<T>) {
    let mut table = [[T::splat(0.0); 4]; COLUMNS];
    let mut previous = table[0];
    for j in 0..COLUMNS {
        let n = (j + 1) as f64;
        let h = step / n;
        let mut dr = h * (state[2] + h * a[0] * 0.5);
        let mut dz = h * (state[3] + h * a[1] * 0.5);
        let (mut r, mut z) = (state[0] + dr, state[1] + dz);
        for _ in 0..j {
            let [ar, az] = acceleration(r, z);
            dr += h * h * ar;
            dz += h * h * az;
            r += dr;
            z += dz;
        }
        let [ar, az] = acceleration(r, z);
        let mut entry = [r, z, dr / h + h * ar * 0.5, dz / h + h * az * 0.5];
        // Neville's scheme in the square of the substep, in place: table[k] holds the latest entry of column
        // k.
        for k in 0..j {
            let ratio = n / (j - k) as f64;
            let factor = 1.0 / (ratio * ratio - 1.0);
            let before = entry;
            for i in 0..4 {
                entry[i] = entry[i] + (entry[i] - table[k][i]) * factor;
            }
            table[k] = before;
            previous = before;
        }
        table[j] = entry;
    }
    (table[COLUMNS - 1], previous)
}
