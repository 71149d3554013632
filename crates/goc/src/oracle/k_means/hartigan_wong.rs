//! Hartigan & Wong's k-means (1979, Applied Statistics algorithm AS 136), R's default.
//!
//! Lloyd moves a point to the nearest centre; Hartigan and Wong move it where the *sum of squares*
//! decreases most, taking into account that both centres shift when a point changes sides: leaving
//! a cluster of `n` members saves `d^2 n/(n-1)`, joining one costs `d^2 n/(n+1)`. Two stages
//! alternate: the *optimal transfer* examines all clusters that changed recently (the live set),
//! and the *quick transfer* swaps points between their nearest and second-nearest cluster until
//! nothing moves. Centres are updated after every single move. The result can be better than
//! Lloyd's, is never worse by more than rounding, and no cluster ever becomes empty.
//!
//! The order of operations is the algorithm's own, point after point, because R's results depend on
//! it: from the same initial centres it gives the same partition as `stats::kmeans` (tested on 310
//! runs of the paper's authors).

use crate::Points;
use crate::kernel::{CentreLanes, LANES};
use crate::points::squared_distance;

/// Steps of one quick-transfer stage are limited to this many per point, as in R.
const QUICK_STEPS_PER_POINT: usize = 50;

/// What one run ended with. Labels run over all `k` centres; none is empty.
pub(super) struct Run {
    pub(super) labels: Vec<u32>,
    pub(super) iterations: usize,
    pub(super) converged: bool,
}

/// A start where some centre has no point: the caller repairs it and tries again.
pub(super) struct EmptyCluster;

/// Runs from `centres` for at most `max_iterations` rounds of both stages; at least two centres.
pub(super) fn run(points: &Points, centres: &Points, max_iterations: usize) -> Result<Run, EmptyCluster> {
    let mut state = State::new(points, centres);
    if !assign_to_nearest(&mut state) {
        return Err(EmptyCluster);
    }
    let (iterations, converged) = iterate(&mut state, max_iterations);
    Ok(Run { labels: state.first.iter().map(|&l| l as u32).collect(), iterations, converged })
}

struct State<'a> {
    points: &'a Points,
    /// The centres twice: side by side for the look at all of them, row by row for the look at one.
    centres: CentreLanes,
    rows: Vec<f64>,
    /// Cluster of each point, and the one it would go to next.
    first: Vec<usize>,
    second: Vec<usize>,
    /// Saving if the point left its cluster; kept from step to step where the cluster did not change.
    saving: Vec<f64>,
    size: Vec<f64>,
    /// n/(n-1): leaving. n/(n+1): joining. Padded lanes hold 1.
    leave: Vec<f64>,
    join: Vec<f64>,
    /// Until which step of the stage a cluster is in the live set.
    live: Vec<usize>,
    /// At which step a cluster last changed; -1 before the first stage, 0 when not since the last one.
    changed: Vec<i64>,
    quick_changed: Vec<bool>,
    /// Points seen since the last transfer, over stages; a whole round without one means done.
    idle: usize,
}

impl<'a> State<'a> {
    fn new(points: &'a Points, centres: &Points) -> Self {
        let (n, k) = (points.len(), centres.len());
        let rows = centres.values().to_vec();
        let centres = CentreLanes::from_points(centres);
        let padded = centres.padded();
        Self {
            points,
            centres,
            rows,
            first: vec![0; n],
            second: vec![0; n],
            saving: vec![0.0; n],
            size: vec![0.0; k],
            leave: vec![1.0; k],
            join: vec![1.0; padded],
            live: vec![n; k],
            changed: vec![-1; k],
            quick_changed: vec![true; k],
            idle: 0,
        }
    }

    #[inline(always)]
    fn weights(&mut self, l: usize) {
        let n = self.size[l];
        self.leave[l] = if n > 1.0 { n / (n - 1.0) } else { f64::INFINITY };
        self.join[l] = n / (n + 1.0);
    }

    #[inline(always)]
    fn distance(&self, i: usize, l: usize) -> f64 {
        let q = self.points.features();
        squared_distance(self.points.row(i), &self.rows[l * q..(l + 1) * q])
    }

    /// Moves point `i` from its cluster to the second one; both centres follow.
    #[inline(always)]
    fn transfer(&mut self, i: usize, from: usize, to: usize) {
        let (n_from, n_to) = (self.size[from], self.size[to]);
        let q = self.points.features();
        for (f, &x) in self.points.row(i).iter().enumerate() {
            let c = &mut self.rows[from * q + f];
            *c = (*c * n_from - x) / (n_from - 1.0);
            *self.centres.at_mut(from, f) = *c;
            let c = &mut self.rows[to * q + f];
            *c = (*c * n_to + x) / (n_to + 1.0);
            *self.centres.at_mut(to, f) = *c;
        }
        self.size[from] -= 1.0;
        self.size[to] += 1.0;
        self.weights(from);
        self.weights(to);
        self.first[i] = to;
        self.second[i] = from;
    }
}

/// Assigns every point to its nearest centre and makes the centres means. False when one has no point.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn assign_to_nearest(state: &mut State<'_>) -> bool {
    for i in 0..state.points.len() {
        let (a, _, b, _) = state.centres.two_nearest(state.points.row(i));
        (state.first[i], state.second[i]) = (a, b);
    }
    let (k, q) = (state.centres.k(), state.points.features());
    let mut sums = vec![0.0; k * q];
    for (i, row) in state.points.rows().enumerate() {
        let l = state.first[i];
        state.size[l] += 1.0;
        for (f, x) in row.iter().enumerate() {
            sums[l * q + f] += x;
        }
    }
    for l in 0..k {
        if state.size[l] == 0.0 {
            return false;
        }
        for f in 0..q {
            state.rows[l * q + f] = sums[l * q + f] / state.size[l];
            *state.centres.at_mut(l, f) = state.rows[l * q + f];
        }
        state.weights(l);
    }
    true
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn iterate(state: &mut State<'_>, max_iterations: usize) -> (usize, bool) {
    let n = state.points.len();
    for iteration in 1..=max_iterations {
        optimal_transfer(state);
        if state.idle == n {
            return (iteration, true);
        }
        if !quick_transfer(state) {
            return (iteration, false);
        }
        // With two clusters the quick stage has seen everything there is.
        if state.centres.k() == 2 {
            return (iteration, true);
        }
        state.changed.fill(0);
    }
    (max_iterations, false)
}

/// One pass over the points; each may move to any cluster of the live set.
#[inline(always)]
fn optimal_transfer(state: &mut State<'_>) {
    let (n, k) = (state.points.len(), state.centres.k());
    for l in 0..k {
        if state.quick_changed[l] {
            state.live[l] = n;
        }
    }
    let mut latest_live = state.live.iter().copied().max().unwrap_or(0);
    for i in 0..n {
        state.idle += 1;
        let from = state.first[i];
        if state.size[from] != 1.0 {
            if state.changed[from] != 0 {
                state.saving[i] = state.distance(i, from) * state.leave[from];
            }
            let second = state.second[i];
            let mut cost = state.distance(i, second) * state.join[second];
            let mut to = second;
            let all = i < state.live[from];
            if all || i < latest_live {
                (to, cost) = cheapest(state, i, from, to, cost, all);
            }
            if cost >= state.saving[i] {
                state.second[i] = to;
            } else {
                state.idle = 0;
                for l in [from, to] {
                    state.live[l] = n + i;
                    state.changed[l] = i as i64 + 1;
                }
                latest_live = n + i;
                state.transfer(i, from, to);
            }
        }
        if state.idle == n {
            return;
        }
    }
    for l in 0..k {
        state.quick_changed[l] = false;
        state.live[l] = state.live[l].saturating_sub(n);
    }
}

/// The cluster that point `i` would join at the least cost; `to` and `cost` hold the best so far, which only
/// a strictly cheaper one replaces. With `all` false only clusters still in the live set are looked at.
#[inline(always)]
fn cheapest(state: &State<'_>, i: usize, from: usize, to: usize, cost: f64, all: bool) -> (usize, f64) {
    let point = state.points.row(i);
    let (mut to, mut cost) = (to, cost);
    for first in (0..state.centres.padded()).step_by(LANES) {
        let mut d = state.centres.squared_block(point, first);
        let mut any = false;
        for l in 0..LANES {
            d[l] *= state.join[first + l];
            any |= d[l] < cost;
        }
        if any {
            for l in 0..LANES {
                let cluster = first + l;
                if d[l] < cost && cluster != from && (all || i < state.live[cluster]) {
                    (to, cost) = (cluster, d[l]);
                }
            }
        }
    }
    (to, cost)
}

/// Swaps points between their two nearest clusters until a whole round moves none.
/// False when that does not happen within the limit (a cycle among rounding errors).
#[inline(always)]
fn quick_transfer(state: &mut State<'_>) -> bool {
    let n = state.points.len();
    let (mut quiet, mut step) = (0, 0i64);
    loop {
        for i in 0..n {
            quiet += 1;
            step += 1;
            if step >= (QUICK_STEPS_PER_POINT * n) as i64 {
                return false;
            }
            let (from, to) = (state.first[i], state.second[i]);
            if state.size[from] != 1.0 {
                if step <= state.changed[from] {
                    state.saving[i] = state.distance(i, from) * state.leave[from];
                }
                if (step < state.changed[from] || step < state.changed[to])
                    && state.distance(i, to) < state.saving[i] / state.join[to]
                {
                    quiet = 0;
                    state.idle = 0;
                    for l in [from, to] {
                        state.quick_changed[l] = true;
                        state.changed[l] = step + n as i64;
                    }
                    state.transfer(i, from, to);
                }
            }
            if quiet == n {
                return true;
            }
        }
    }
}
