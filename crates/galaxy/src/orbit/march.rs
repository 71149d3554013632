//! Integrates orbits, one at a time or eight side by side.
//!
//! Every lane has its own time and step, accepts or rejects independently and never looks at its
//! neighbours; a lane whose orbit has ended takes the next one from the queue. So eight orbits run
//! at full width until the queue is empty, and the result for an orbit does not depend on its lane
//! or its neighbours.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::control::Control;
use super::nystrom::{EVALUATIONS, Stages, State, Wide, square, stages, step};
use super::{Orbit, Stop};
use crate::frames::Galactocentric;
use crate::potential::Potential;
use crate::real::Lanes;

/// The task for every orbit. Integrating backwards in time is integrating forwards with all
/// velocities reversed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// Error allowed in a step.
    pub tolerance: f64,
    /// Steps after which an orbit is abandoned.
    pub most_steps: f64,
    /// The duration, positive.
    pub duration: f64,
    /// 1, or -1 for backwards in time.
    pub direction: f64,
}

/// A step shorter than this fraction of the duration means that the star runs into a singularity.
const SHORTEST: f64 = 1e-14;

/// The energy scale for errors is at least this fraction of the kinetic plus potential energy: a
/// marginally bound orbit has zero energy.
const LEAST_ENERGY: f64 = 1e-3;

/// The first step, as a fraction of the time scale (r/a)^1/2.
const FIRST: f64 = 0.1;

/// As many orbits as there are lanes.
#[derive(Clone, Copy)]
pub(super) struct March<T> {
    pub state: State<T>,
    control: Control<T>,
    pub time: T,
    end: T,
    shortest: T,
    /// Energy at the start.
    energy: T,
    /// The energy scale for errors.
    measure: T,
    tolerance: f64,
    accepted: T,
    attempts: T,
    most_attempts: T,
    stages: Stages<T>,
}

/// The outcome of an attempt.
pub(super) struct Taken<T> {
    pub from: State<T>,
    pub step: T,
}

impl<T: Wide> March<T> {
    /// No orbit in any lane: nothing moves, nothing ends.
    pub fn idle() -> Self {
        let (zero, one) = (T::splat(0.0), T::splat(1.0));
        Self {
            state: State { x: [one, zero, zero], v: [zero; 3], a: [zero; 3], phi: -one },
            control: Control::new(zero),
            time: zero,
            end: one,
            shortest: -one,
            energy: -one,
            measure: one,
            tolerance: 1.0,
            accepted: zero,
            attempts: zero,
            most_attempts: T::splat(f64::INFINITY),
            stages: stages(),
        }
    }

    /// Puts an orbit into lane `l`.
    pub fn load(&mut self, l: usize, potential: &dyn Potential, start: &Galactocentric, task: &Task) {
        let one = March::<f64>::begin(potential, start, task);
        let copy3 = |to: &mut [T; 3], from: &[f64; 3]| {
            for c in 0..3 {
                to[c].set(l, from[c]);
            }
        };
        copy3(&mut self.state.x, &one.state.x);
        copy3(&mut self.state.v, &one.state.v);
        copy3(&mut self.state.a, &one.state.a);
        self.state.phi.set(l, one.state.phi);
        self.control.load(l, &one.control);
        self.tolerance = one.tolerance;
        for (to, from) in [
            (&mut self.time, one.time),
            (&mut self.end, one.end),
            (&mut self.shortest, one.shortest),
            (&mut self.energy, one.energy),
            (&mut self.measure, one.measure),
            (&mut self.accepted, one.accepted),
            (&mut self.attempts, one.attempts),
            (&mut self.most_attempts, one.most_attempts),
        ] {
            to.set(l, from);
        }
    }

    /// Empties lane `l`.
    fn unload(&mut self, l: usize) {
        self.shortest.set(l, -1.0);
        self.control.load(l, &Control::new(0.0));
        self.time.set(l, 0.0);
        self.end.set(l, 1.0);
        self.most_attempts.set(l, f64::INFINITY);
    }

    /// One attempt in every lane.
    #[inline(always)]
    pub fn attempt(&mut self, potential: &dyn Potential) -> Taken<T> {
        let from = self.state;
        let mut trial = self.control.trial(&from);
        let rest = self.end - self.time;
        let last = rest.less(trial.step);
        trial.step = T::select(last, rest, trial.step);
        let attempt = step(potential, &from, trial.step, &mut self.stages);
        let error = Control::error(&from, &attempt, self.tolerance, self.measure);
        let fine = error.less(T::splat(1.0));
        let (mut accepted, mut rejected) = (self.control, self.control);
        accepted.accept(&from, &trial, error, &attempt.next);
        rejected.reject(&from, &trial, error);
        self.control = accepted.or(fine, &rejected);
        self.state = attempt.next.or(fine, &from);
        let later = T::select(last, self.end, self.time + trial.step);
        self.time = T::select(fine, later, self.time);
        self.accepted += T::select(fine, T::splat(1.0), T::splat(0.0));
        self.attempts += T::splat(1.0);
        Taken { from, step: T::select(fine, trial.step, T::splat(0.0)) }
    }

    /// Why the orbit in lane `l` ends now, if it does.
    #[inline(always)]
    pub fn ended(&self, l: usize) -> Option<Stop> {
        if self.time.lane(l) >= self.end.lane(l) {
            Some(Stop::Reached)
        } else if self.control.step.lane(l) < self.shortest.lane(l) {
            Some(Stop::Singular)
        } else if self.attempts.lane(l) >= self.most_attempts.lane(l) {
            Some(Stop::Steps)
        } else {
            None
        }
    }

    /// The orbit in lane `l` as it is now.
    pub fn orbit(&self, l: usize, task: &Task, stop: Stop) -> Orbit {
        let lane3 = |u: &[T; 3]| std::array::from_fn(|c| u[c].lane(l));
        let (energy, at_start) = (self.state.energy().lane(l), self.energy.lane(l));
        Orbit {
            end: Galactocentric {
                position: lane3(&self.state.x),
                velocity: lane3(&self.state.v).map(|v: f64| v * task.direction),
            },
            time: self.time.lane(l) * task.direction,
            stop,
            steps: self.accepted.lane(l) as usize,
            evaluations: 1 + EVALUATIONS * self.attempts.lane(l) as usize,
            energy_drift: (energy - at_start) / at_start.abs(),
        }
    }

    /// Attempts until an orbit ends.
    #[inline(always)]
    fn advance(&mut self, potential: &dyn Potential) {
        loop {
            let mut any = false;
            for l in 0..T::WIDTH {
                any |= self.ended(l).is_some();
            }
            if any {
                return;
            }
            self.attempt(potential);
        }
    }
}

impl March<f64> {
    /// An orbit at its start.
    pub fn begin(potential: &dyn Potential, start: &Galactocentric, task: &Task) -> Self {
        let velocity = start.velocity.map(|v| v * task.direction);
        let state = State::new(potential, start.position, velocity);
        let energy = state.energy();
        let (speed2, radius2) = (square(&state.v), square(&state.x));
        let least = LEAST_ENERGY * (0.5 * speed2 + state.phi.abs());
        let guess = FIRST * (radius2 / square(&state.a)).sqrt().sqrt();
        // At a centre without force there is no time scale.
        let first = if guess > 0.0 && guess.is_finite() { guess } else { 1e-3 * task.duration };
        Self {
            state,
            control: Control::new(first.min(task.duration)),
            time: 0.0,
            end: task.duration,
            // If the energy is not finite, the star is already at a singular centre.
            shortest: if energy.is_finite() { SHORTEST * task.duration } else { f64::INFINITY },
            energy,
            measure: energy.abs().max(least),
            tolerance: task.tolerance,
            accepted: 0.0,
            attempts: 0.0,
            most_attempts: task.most_steps,
            stages: stages(),
        }
    }

    /// Integrates a single orbit to the end.
    pub fn run(mut self, potential: &dyn Potential, task: &Task) -> Orbit {
        let stop = loop {
            if let Some(stop) = self.ended(0) {
                break stop;
            }
            self.attempt(potential);
        };
        self.orbit(0, task, stop)
    }

    /// The state in the middle of a step that was taken.
    pub fn midway(potential: &dyn Potential, taken: &Taken<f64>) -> State<f64> {
        step(potential, &taken.from, 0.5 * taken.step, &mut stages()).next
    }
}

/// Takes orbits from the queue, eight side by side, until none is left; each result carries its
/// index.
pub(super) fn work(
    potential: &dyn Potential,
    starts: &[Galactocentric],
    task: &Task,
    queue: &AtomicUsize,
) -> Vec<(usize, Orbit)> {
    let mut done = Vec::new();
    let mut march = March::<Lanes>::idle();
    let mut lanes: [Option<usize>; Lanes::WIDTH] = [None; Lanes::WIDTH];
    loop {
        for l in 0..Lanes::WIDTH {
            if lanes[l].is_some() {
                continue;
            }
            let next = queue.fetch_add(1, Ordering::Relaxed);
            if let Some(start) = starts.get(next) {
                march.load(l, potential, start, task);
                lanes[l] = Some(next);
            } else {
                march.unload(l);
            }
        }
        if lanes.iter().all(Option::is_none) {
            return done;
        }
        advance(&mut march, potential);
        for l in 0..Lanes::WIDTH {
            if let (Some(number), Some(stop)) = (lanes[l], march.ended(l)) {
                done.push((number, march.orbit(l, task, stop)));
                lanes[l] = None;
            }
        }
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn advance(march: &mut March<Lanes>, potential: &dyn Potential) {
    march.advance(potential);
}
