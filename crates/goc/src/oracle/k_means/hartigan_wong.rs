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
use crate::kernel::{CentreLanes, LANES, least_lane};

/// Steps of one quick-transfer stage are limited to this many per point, as in R.
const QUICK_STEPS_PER_POINT: usize = 50;

/// More than the rounding of a product and a quotient.
const ROUNDING: f64 = 1.0 + 4.0 * f64::EPSILON;

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
    Ok(Run { labels: state.seats.iter().map(|seat| seat.first).collect(), iterations, converged })
}

/// Where a point is.
#[derive(Clone, Copy)]
struct Seat {
    /// Its cluster, and the one it would go to next.
    first: u32,
    second: u32,
    /// Saving if the point left its cluster; kept from step to step where the cluster did not change.
    saving: f64,
}

struct State<'a> {
    points: &'a Points,
    /// The centres twice: side by side for the look at all of them, row by row for the look at one.
    centres: CentreLanes,
    rows: Vec<f64>,
    seats: Vec<Seat>,
    size: Vec<f64>,
    /// n/(n-1): leaving. n/(n+1): joining. Padded lanes hold 1.
    leave: Vec<f64>,
    join: Vec<f64>,
    /// Until which step of the stage a cluster is in the live set. Padded lanes never are.
    live: Vec<u64>,
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
            seats: vec![Seat { first: 0, second: 0, saving: 0.0 }; n],
            size: vec![0.0; k],
            leave: vec![1.0; k],
            join: vec![1.0; padded],
            live: (0..padded).map(|l| if l < k { n as u64 } else { 0 }).collect(),
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

    /// The number of features: `Q`, known to the compiler, or 0 for any.
    #[inline(always)]
    fn features<const Q: usize>(&self) -> usize {
        if Q == 0 { self.points.features() } else { Q }
    }

    #[inline(always)]
    fn distance<const Q: usize>(&self, i: usize, l: usize) -> f64 {
        let q = self.features::<Q>();
        squared::<Q>(&self.points.values()[i * q..(i + 1) * q], &self.rows[l * q..(l + 1) * q])
    }

    /// Moves point `i` from its cluster to the second one; both centres follow.
    #[inline(always)]
    fn transfer<const Q: usize>(&mut self, i: usize, from: usize, to: usize) {
        let (n_from, n_to) = (self.size[from], self.size[to]);
        let q = self.features::<Q>();
        let point = &self.points.values()[i * q..(i + 1) * q];
        for f in 0..q {
            let x = point[f];
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
        let seat = &mut self.seats[i];
        (seat.first, seat.second) = (to as u32, from as u32);
    }
}

/// The squared distance, summed as by [`crate::points::squared_distance`].
#[inline(always)]
fn squared<const Q: usize>(a: &[f64], b: &[f64]) -> f64 {
    let q = if Q == 0 { a.len() } else { Q };
    let (a, b) = (&a[..q], &b[..q]);
    let mut sum = 0.0;
    for f in 0..q {
        let d = a[f] - b[f];
        sum += d * d;
    }
    sum
}

/// Assigns every point to its nearest centre and makes the centres means. False when one has no point.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn assign_to_nearest(state: &mut State<'_>) -> bool {
    for (row, seat) in state.points.rows().zip(&mut state.seats) {
        let (a, _, b, _) = state.centres.two_nearest(row);
        (seat.first, seat.second) = (a as u32, b as u32);
    }
    let (k, q) = (state.centres.k(), state.points.features());
    let mut sums = vec![0.0; k * q];
    for (row, seat) in state.points.rows().zip(&state.seats) {
        let l = seat.first as usize;
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
    match state.points.features() {
        2 => iterate_in::<2>(state, max_iterations),
        3 => iterate_in::<3>(state, max_iterations),
        _ => iterate_in::<0>(state, max_iterations),
    }
}

#[inline(always)]
fn iterate_in<const Q: usize>(state: &mut State<'_>, max_iterations: usize) -> (usize, bool) {
    let n = state.points.len();
    for iteration in 1..=max_iterations {
        optimal_transfer::<Q>(state);
        if state.idle == n {
            return (iteration, true);
        }
        if !quick_transfer::<Q>(state) {
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
fn optimal_transfer<const Q: usize>(state: &mut State<'_>) {
    let (n, k) = (state.points.len(), state.centres.k());
    for l in 0..k {
        if state.quick_changed[l] {
            state.live[l] = n as u64;
        }
    }
    let mut latest_live = state.live.iter().copied().max().unwrap_or(0);
    for i in 0..n {
        state.idle += 1;
        let Seat { first, second, saving } = state.seats[i];
        let (from, second) = (first as usize, second as usize);
        if state.size[from] != 1.0 {
            let mut saving = saving;
            if state.changed[from] != 0 {
                saving = state.distance::<Q>(i, from) * state.leave[from];
                state.seats[i].saving = saving;
            }
            let mut cost = state.distance::<Q>(i, second) * state.join[second];
            let mut to = second;
            if (i as u64) < state.live[from] {
                (to, cost) = cheapest::<Q, true>(state, i, from, to, cost);
            } else if (i as u64) < latest_live {
                (to, cost) = cheapest::<Q, false>(state, i, from, to, cost);
            }
            if cost >= saving {
                state.seats[i].second = to as u32;
            } else {
                state.idle = 0;
                latest_live = (n + i) as u64;
                for l in [from, to] {
                    state.live[l] = latest_live;
                    state.changed[l] = i as i64 + 1;
                }
                state.transfer::<Q>(i, from, to);
            }
        }
        if state.idle == n {
            return;
        }
    }
    for l in 0..k {
        state.quick_changed[l] = false;
        state.live[l] = state.live[l].saturating_sub(n as u64);
    }
}

/// The cluster that point `i` would join at the least cost, the lower one of equal ones; `to` and `cost` hold the
/// best so far, which only a strictly cheaper one replaces. Unless `ALL`, only clusters still in the live
/// set are looked at.
#[inline(always)]
fn cheapest<const Q: usize, const ALL: bool>(
    state: &State<'_>,
    i: usize,
    from: usize,
    to: usize,
    cost: f64,
) -> (usize, f64) {
    let q = state.features::<Q>();
    let point = &state.points.values()[i * q..(i + 1) * q];
    let mut best = [cost; LANES];
    let mut step = [0u64; LANES];
    let blocks = state.join.as_chunks::<LANES>().0.iter().zip(state.live.as_chunks::<LANES>().0);
    for (s, (join, live)) in blocks.enumerate() {
        let d = state.centres.squared_block(point, s * LANES);
        for l in 0..LANES {
            let d = d[l] * join[l];
            let allowed = (s * LANES + l != from) & (ALL | ((i as u64) < live[l]));
            let cheaper = (d < best[l]) & allowed;
            best[l] = if cheaper { d } else { best[l] };
            step[l] = if cheaper { s as u64 } else { step[l] };
        }
    }
    let (cluster, least) = least_lane(&best, &step);
    if least < cost { (cluster, least) } else { (to, cost) }
}

/// Swaps points between their two nearest clusters until a whole round moves none.
/// False when that does not happen within the limit (a cycle among rounding errors).
#[inline(always)]
fn quick_transfer<const Q: usize>(state: &mut State<'_>) -> bool {
    let n = state.points.len();
    let (mut quiet, mut step) = (0, 0i64);
    loop {
        let mut i = 0;
        while i < n {
            // Whoever stays ends the search for the next to move: after a whole round, or at the limit.
            let limit = (QUICK_STEPS_PER_POINT * n) as i64 - 1 - step;
            let end = n.min(i + (n - quiet)).min(i + limit as usize);
            let (next, moves) = next_to_move::<Q>(state, i, end, step);
            let seen = next - i + usize::from(moves);
            step += seen as i64;
            quiet += seen;
            if moves {
                let (from, to) = (state.seats[next].first as usize, state.seats[next].second as usize);
                quiet = 0;
                state.idle = 0;
                for l in [from, to] {
                    state.quick_changed[l] = true;
                    state.changed[l] = step + n as i64;
                }
                state.transfer::<Q>(next, from, to);
            } else if quiet == n {
                return true;
            } else if step + 1 >= (QUICK_STEPS_PER_POINT * n) as i64 {
                return false;
            }
            i = next + usize::from(moves);
        }
    }
}

/// The first of the points from `begin` on that would move to its second cluster; `end` and false if none before
/// `end` would. `step` is the number of steps before `begin`.
#[inline(always)]
fn next_to_move<const Q: usize>(state: &mut State<'_>, begin: usize, end: usize, step: i64) -> (usize, bool) {
    let q = state.features::<Q>();
    let (size, changed, leave, join) =
        (&state.size[..], &state.changed[..], &state.leave[..], &state.join[..]);
    let rows = &state.rows[..];
    let points = state.points.values()[begin * q..end * q].chunks_exact(q);
    for ((at, point), seat) in points.enumerate().zip(&mut state.seats[begin..end]) {
        let step = step + at as i64 + 1;
        let (from, to) = (seat.first as usize, seat.second as usize);
        if size[from] == 1.0 {
            continue;
        }
        let from_changed = changed[from];
        if step <= from_changed {
            seat.saving = squared::<Q>(point, &rows[from * q..(from + 1) * q]) * leave[from];
        }
        if step < from_changed.max(changed[to]) {
            let d = squared::<Q>(point, &rows[to * q..(to + 1) * q]);
            // A product decides nearly always; only close to equality it takes R's quotient.
            let far = d * join[to] > seat.saving * ROUNDING;
            if !far && d < seat.saving / join[to] {
                return (begin + at, true);
            }
        }
    }
    (end, false)
}
