//! Step-size control.
//!
//! **The error.** A step's estimated errors dx and dv change the energy by about |a| |dx| + |v|
//! |dv|. This is kept below the tolerance, relative to the energy of the motion, (v^2 + r |a|)/2,
//! or to the orbit's energy where that is smaller. Energy is what makes an orbit run ahead or
//! behind over many turns, and unlike a bound on each coordinate this one does not tighten where an
//! orbit crosses x = 0. With the orbit's energy alone as the scale, orbits deep in the potential,
//! which make the most revolutions, drifted most.
//!
//! **The trend.** On the way in, time scales shrink with the radius by a fifth in every step, and a
//! controller that only knows the last error is always one step late: every second step was
//! rejected. So the proposal is multiplied by the ratio of the radii in the middle of the coming
//! step and of the last.
//!
//! **The plane.** Thin discs have a sharp crest at z = 0 (an exponential disc is not even smooth
//! there), and a step across it has an error of low order. A step that would cross the plane is
//! shortened so that it ends on it, as far as a cubic can predict; landing within a thousandth of a
//! kiloparsec is enough. How near a star must be to land in one step is learned from the last
//! landing.
//!
//! Together, the trend and the plane save nearly half of the evaluations that standard control
//! needs for the same drift.

use super::nystrom::{Attempt, State, Wide, square};
use crate::real::Real;

/// The estimate is of order 6: it falls with the seventh power of the step.
const POWER: f64 = -1.0 / 7.0;
const SAFETY: f64 = 0.88;
const MOST_GROWTH: f64 = 6.0;
const MOST_SHRINKING: f64 = 1.0 / 3.0;

/// A step is only shortened for the plane if the result is within these fractions of the proposed
/// one.
const WORTH_LANDING: f64 = 0.05;

/// What the controller remembers of an orbit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control<T> {
    /// The next step.
    pub step: T,
    /// How fast the vertical acceleration changed in the last step.
    jerk: T,
    /// From this height the plane can be reached in one step.
    reach: T,
    /// 1 right after a rejection: no growth.
    rejected: T,
}

/// A trial step.
pub(super) struct Trial<T> {
    pub step: T,
    /// 1 where the step is meant to end on the plane.
    landing: T,
}

impl<T: Real> Control<T> {
    pub fn new(step: T) -> Self {
        let zero = T::splat(0.0);
        Self { step, jerk: zero, reach: T::splat(1e300), rejected: zero }
    }

    /// The step to try from here, shortened where it would cross the plane.
    #[inline(always)]
    pub fn trial(&self, from: &State<T>) -> Trial<T> {
        let (z, v, a) = (from.x[2], from.v[2], from.a[2]);
        // Newton's method on z + v t + a t^2/2 + jerk t^3/6 = 0, from the straight line's root.
        let mut t = -z / v;
        for _ in 0..3 {
            let height = z + t * (v + t * (a * 0.5 + t * self.jerk * (1.0 / 6.0)));
            let speed = v + t * (a + t * self.jerk * 0.5);
            t -= height / speed;
        }
        let zero = T::splat(0.0);
        let near = z.abs().less(self.reach * 1.2);
        let landed = T::select(near, t, t * 0.62);
        // Moving away from the plane, t is negative or not a number, and no comparison holds.
        let worth = t.less(self.step);
        let enough = (self.step * WORTH_LANDING).less(t);
        let step = T::select(worth, T::select(enough, landed, self.step), self.step);
        let one = T::splat(1.0);
        let landing = T::select(worth, T::select(enough, T::select(near, one, zero), zero), zero);
        Trial { step, landing }
    }

    /// The error of an attempt in units of the allowed error for an orbit with this `energy` (a
    /// magnitude).
    #[inline(always)]
    pub fn error(from: &State<T>, attempt: &Attempt<T>, tolerance: f64, energy: T) -> T {
        let next = &attempt.next;
        let (v2, a2) = (square(&from.v).max(square(&next.v)), square(&from.a).max(square(&next.a)));
        let kick = (square(&attempt.error_v) * v2).sqrt();
        let shift = (square(&attempt.error_x) * a2).sqrt();
        let motion = (v2 + (square(&next.x) * a2).sqrt()) * 0.5;
        // A star at rest at a centre has no motion to set the scale, but no error either.
        (kick + shift) / (motion.min(energy).max(energy * 1e-12) * tolerance)
    }

    /// Updates the control after `trial` led from `from` to `next` with this `error`.
    #[inline(always)]
    pub fn accept(&mut self, from: &State<T>, trial: &Trial<T>, error: T, next: &State<T>) {
        let zero = T::splat(0.0);
        let fits = factor(error);
        let growth = fits.min(T::splat(MOST_GROWTH));
        let ahead = trial.step * growth.min(T::splat(2.0));
        let ratio = (square(&halfway(next, ahead)) / square(&halfway(from, trial.step))).sqrt();
        let trend = ratio.max(T::splat(0.3)).min(T::splat(2.0));
        let growth = growth * trend;
        let calm = zero.less(self.rejected);
        let growth = T::select(calm, growth.min(T::splat(1.0)), growth);
        let landed = zero.less(trial.landing);
        self.reach = T::select(landed, from.x[2].abs() * fits.min(T::splat(4.0)), self.reach);
        self.jerk = (next.a[2] - from.a[2]) / trial.step;
        self.step = trial.step * growth;
        self.rejected = zero;
    }

    /// Updates the control after an attempt whose error was too large or not finite.
    #[inline(always)]
    pub fn reject(&mut self, from: &State<T>, trial: &Trial<T>, error: T) {
        let shrink = factor(error).max(T::splat(MOST_SHRINKING));
        let shrink = T::select(error.less(T::splat(1e200)), shrink, T::splat(0.1));
        let landed = T::splat(0.0).less(trial.landing);
        self.reach = T::select(landed, from.x[2].abs() * shrink, self.reach);
        self.step = trial.step * shrink;
        self.rejected = T::splat(1.0);
    }

    /// `self` where the mask holds, else `other`.
    #[inline(always)]
    pub fn or(&self, mask: T::Mask, other: &Self) -> Self {
        Self {
            step: T::select(mask, self.step, other.step),
            jerk: T::select(mask, self.jerk, other.jerk),
            reach: T::select(mask, self.reach, other.reach),
            rejected: T::select(mask, self.rejected, other.rejected),
        }
    }
}

/// The factor by which the step may change for this error.
#[inline(always)]
fn factor<T: Real>(error: T) -> T {
    (error.max(T::splat(1e-30)).ln() * POWER).exp() * SAFETY
}

/// The approximate position of the star in the middle of a step `h`.
#[inline(always)]
fn halfway<T: Real>(from: &State<T>, h: T) -> [T; 3] {
    let half = h * 0.5;
    let mut x = from.x;
    for c in 0..3 {
        x[c] += half * (from.v[c] + half * from.a[c] * 0.5);
    }
    x
}

impl<T: Wide> Control<T> {
    /// Loads the state of one orbit into lane `l`.
    pub fn load(&mut self, l: usize, one: &Control<f64>) {
        self.step.set(l, one.step);
        self.jerk.set(l, one.jerk);
        self.reach.set(l, one.reach);
        self.rejected.set(l, one.rejected);
    }
}
