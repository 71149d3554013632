//! The nearest point of a convex hull, by Wolfe's active sets (Wolfe 1976, "Finding the nearest
//! point in a polytope").
//!
//! A point of the hull of `x_1 .. x_m` is a mixture `sum_j w_j x_j`, and its penalty is defined as
//! the same mixture of the candidates' penalties. The problem is to find the mixture that minimises
//!
//! ```text
//! F(w) = |sum_j w_j x_j - c|^2 + lambda * sum_j w_j p_j,      w_j >= 0,  sum_j w_j = 1
//! ```
//!
//! for a centre `c`: Wolfe's problem with an additional linear term. At most `q + 1` candidates
//! carry weight; they are the *corral* and are kept affinely independent. The algorithm alternates
//! two steps:
//!
//! - the candidate in whose direction F decreases most steeply joins the corral with weight 0;
//! - F is minimised over the flat through the corral, which is a least-squares problem (QR of the
//!   differences to the first member). If that minimum lies outside the corral's hull, the weights
//!   move towards it until one is 0, that member leaves, and the step is repeated.
//!
//! A new member that already lies in the flat (duplicates, collinear sets, more candidates than
//! dimensions) creates a direction along which the position does not move and F is linear: the
//! weights move downhill along it until one is 0, a pivot as in the simplex method. The corral thus
//! stays independent for any set.
//!
//! The steepest slope is also a certificate: F is convex, so `F(w) - F* <= gap = -min_j slope_j`.
//! It ends the search when nothing can be gained beyond rounding, and earlier when a centre
//! provably cannot beat another. The cost is `O(m q)` per round, with about as many rounds as the
//! corral has members, or one or two when starting from the corral of a centre that has moved
//! slightly.

use crate::Candidates;
use crate::points::squared_distance;

/// Share of a difference's length below which its new direction counts as rounding.
const DEPENDENT: f64 = 1e-12;

/// The gap, relative to the largest possible slope, at which nothing is left to gain.
const GAP: f64 = 1e-13;

/// Rounds without a lower value after which changes are only rounding.
const STALLS: usize = 3;

/// The candidates that carry weight, and their weights, which sum to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Corral {
    pub(crate) members: Vec<u32>,
    pub(crate) weights: Vec<f64>,
}

impl Corral {
    fn remove(&mut self, at: usize) {
        self.members.remove(at);
        self.weights.remove(at);
    }

    fn copy_from(&mut self, other: &Self) {
        self.members.clone_from(&other.members);
        self.weights.clone_from(&other.weights);
    }
}

/// The hull of one object's candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hull<'a> {
    block: &'a [f64],
    m: usize,
    q: usize,
    penalties: &'a [f64],
    lambda: f64,
    /// Diagonal of the bounding box.
    size: f64,
    /// Largest coordinate, by magnitude: rounding is relative to it.
    magnitude: f64,
    /// Largest minus smallest `lambda * penalty`.
    spread: f64,
}

/// The nearest point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nearest {
    /// `|place - c|^2 + lambda * penalty`.
    pub(crate) value: f64,
    /// `lambda * penalty`, the penalty mixed like the place.
    pub(crate) penalty: f64,
    /// The value is at most this much above the minimum; read by tests.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(crate) gap: f64,
}

impl<'a> Hull<'a> {
    pub(crate) fn new(candidates: &'a Candidates, object: usize, lambda: f64) -> Self {
        let (mut squared, mut magnitude) = (0.0, 0.0_f64);
        for f in 0..candidates.features() {
            let (low, high) = range(candidates.feature(object, f));
            squared += (high - low) * (high - low);
            magnitude = magnitude.max(high.abs()).max(low.abs());
        }
        let penalties = candidates.penalties(object);
        let (low, high) = if penalties.is_empty() { (0.0, 0.0) } else { range(penalties) };
        Self {
            block: candidates.block(object),
            m: candidates.count(object),
            q: candidates.features(),
            penalties,
            lambda,
            size: f64::sqrt(squared),
            magnitude,
            spread: lambda * (high - low),
        }
    }

    fn coordinate(&self, j: u32, f: usize) -> f64 {
        self.block[f * self.m + j as usize]
    }

    fn cost(&self, j: u32) -> f64 {
        self.lambda * self.penalties.get(j as usize).copied().unwrap_or(0.0)
    }
}

/// The smallest and the largest value; infinities if there are no values.
pub(crate) fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
}

/// Finds nearest points; owns the scratch memory of one thread.
#[derive(Debug, Default)]
pub(crate) struct Solver {
    slopes: Vec<f64>,
    /// Orthonormal directions of the flat, one after another.
    directions: Vec<f64>,
    /// The triangular factor of `r` differences; column `k` begins at `k * r`.
    triangle: Vec<f64>,
    target: Vec<f64>,
    best: Corral,
    best_place: Vec<f64>,
}

/// The outcome for the flat through a corral.
enum Flat {
    /// `target` holds the weights of its minimum.
    Minimum,
    /// `target` holds a direction that leaves the position unchanged.
    Idle,
}

impl Solver {
    /// The nearest point of `hull` to `centre`; `place` and `corral` hold it. A non-empty corral is
    /// used as the start. Returns `None` once it is certain that no point has a value up to
    /// `cutoff`.
    pub(crate) fn nearest(
        &mut self,
        hull: &Hull<'_>,
        centre: &[f64],
        cutoff: f64,
        corral: &mut Corral,
        place: &mut [f64],
    ) -> Option<Nearest> {
        if corral.members.is_empty() {
            self.begin_at_a_candidate(hull, centre, corral);
        }
        let mut found = Nearest { value: f64::INFINITY, penalty: 0.0, gap: f64::INFINITY };
        let mut stalls = 0;
        // Enough for every candidate to enter and leave; the stall limit ends it long before.
        for round in 0..64 + 4 * hull.m {
            self.settle(hull, centre, corral);
            mix(hull, corral, place);
            let penalty: f64 =
                corral.members.iter().zip(&corral.weights).map(|(&j, w)| w * hull.cost(j)).sum();
            let reach = 8.0 * f64::EPSILON * hull.magnitude;
            if place.iter().zip(centre).all(|(x, c)| (x - c).abs() <= reach) {
                place.copy_from_slice(centre);
            }
            let distance = squared_distance(place, centre);
            let value = distance + penalty;

            let steepest = self.steepest(hull, centre, place, penalty);
            let gap = (-self.slopes[steepest as usize]).max(0.0);
            if value < found.value || round == 0 {
                found = Nearest { value, penalty, gap };
                self.best.copy_from(corral);
                self.best_place.clear();
                self.best_place.extend_from_slice(place);
                stalls = 0;
            } else {
                stalls += 1;
            }
            if value - gap > cutoff {
                return None;
            }
            let nothing_left = gap <= GAP * (2.0 * distance.sqrt() * hull.size + hull.spread);
            // Written so that NaN, which can result from values near overflow, ends the search.
            let descending = gap > 0.0 && !nothing_left && stalls < STALLS;
            if !descending || corral.members.contains(&steepest) {
                break;
            }
            corral.members.push(steepest);
            corral.weights.push(0.0);
        }
        corral.copy_from(&self.best);
        place.copy_from_slice(&self.best_place);
        Some(found)
    }

    /// Orthonormal directions in which the nearest point follows the centre: those of the flat
    /// through its corral.
    pub(crate) fn follows(&mut self, hull: &Hull<'_>, centre: &[f64], corral: &Corral) -> &[f64] {
        self.flat(hull, centre, &corral.members);
        &self.directions
    }

    /// Without an initial corral, starts at the single candidate with the lowest value.
    fn begin_at_a_candidate(&mut self, hull: &Hull<'_>, centre: &[f64], corral: &mut Corral) {
        self.slopes.clear();
        self.slopes.extend((0..hull.m as u32).map(|j| hull.cost(j)));
        for (f, c) in centre.iter().enumerate() {
            for (sum, x) in self.slopes.iter_mut().zip(&hull.block[f * hull.m..(f + 1) * hull.m]) {
                *sum += (x - c) * (x - c);
            }
        }
        corral.members.push(least(&self.slopes));
        corral.weights.push(1.0);
    }

    /// The candidate towards which F decreases most steeply from `place`; all slopes are left in
    /// `self.slopes`.
    fn steepest(&mut self, hull: &Hull<'_>, centre: &[f64], place: &[f64], penalty: f64) -> u32 {
        self.slopes.clear();
        self.slopes.extend((0..hull.m as u32).map(|j| hull.cost(j) - penalty));
        for (f, (p, c)) in place.iter().zip(centre).enumerate() {
            let twice = 2.0 * (p - c);
            for (sum, x) in self.slopes.iter_mut().zip(&hull.block[f * hull.m..(f + 1) * hull.m]) {
                *sum += twice * (x - p);
            }
        }
        least(&self.slopes)
    }

    /// Lowers F over the corral alone until its weights are the minimum over the flat through it,
    /// all positive.
    fn settle(&mut self, hull: &Hull<'_>, centre: &[f64], corral: &mut Corral) {
        while corral.members.len() > 1 {
            let flat = self.flat(hull, centre, &corral.members);
            if !self.target.iter().all(|t| t.is_finite()) {
                return; // differences near underflow; the weights are still a mixture
            }
            if let Flat::Minimum = flat {
                if self.target.iter().all(|&t| t > 0.0) {
                    corral.weights.copy_from_slice(&self.target);
                    return;
                }
                for (t, w) in self.target.iter_mut().zip(&corral.weights) {
                    *t -= w;
                }
            } else {
                // Downhill along the idle direction: the distance is constant, so the penalties
                // alone decide.
                let mut slope = 0.0;
                for (&j, t) in corral.members.iter().zip(&self.target) {
                    slope += t * hull.cost(j);
                }
                if slope > 0.0 {
                    self.target.iter_mut().for_each(|t| *t = -*t);
                }
            }
            let (mut step, mut leaves) = (f64::INFINITY, 0);
            for (at, (t, w)) in self.target.iter().zip(&corral.weights).enumerate() {
                if *t < 0.0 && w / -t < step {
                    (step, leaves) = (w / -t, at);
                }
            }
            if step == f64::INFINITY {
                return; // no weight falls: only if rounding left a direction of zeros
            }
            for (w, t) in corral.weights.iter_mut().zip(&self.target) {
                *w = (*w + step * t).max(0.0);
            }
            corral.remove(leaves);
            let total: f64 = corral.weights.iter().sum();
            corral.weights.iter_mut().for_each(|w| *w /= total);
        }
        corral.weights[0] = 1.0;
    }

    /// Factorises the differences to the first member and solves; the answer is in `self.target`.
    fn flat(&mut self, hull: &Hull<'_>, centre: &[f64], members: &[u32]) -> Flat {
        let (q, r) = (hull.q, members.len() - 1);
        self.directions.clear();
        self.triangle.clear();
        self.triangle.resize(r * r, 0.0);
        let origin = members[0];
        for k in 0..r {
            let from = self.directions.len();
            self.directions
                .extend((0..q).map(|f| hull.coordinate(members[k + 1], f) - hull.coordinate(origin, f)));
            let (before, own) = self.directions.split_at_mut(from);
            let length = norm(own);
            // Twice: the first pass leaves rounding of the removed parts behind.
            for _ in 0..2 {
                for (i, direction) in before.chunks_exact(q).enumerate() {
                    let along = dot(direction, own);
                    self.triangle[k * r + i] += along;
                    for (x, d) in own.iter_mut().zip(direction) {
                        *x -= along * d;
                    }
                }
            }
            let rest = norm(own);
            if rest <= DEPENDENT * length {
                self.directions.truncate(from);
                self.idle_direction(k, r);
                return Flat::Idle;
            }
            self.triangle[k * r + k] = rest;
            own.iter_mut().for_each(|x| *x /= rest);
        }

        // Normal equations R'R t = R'Q'(c - x_0) - lambda (p - p_0) / 2, without forming R'R.
        let mut t = vec![0.0; r];
        for k in 0..r {
            let mut sum = hull.cost(members[k + 1]) - hull.cost(origin);
            for i in 0..k {
                sum -= self.triangle[k * r + i] * t[i];
            }
            t[k] = sum / self.triangle[k * r + k];
        }
        for (k, direction) in self.directions.chunks_exact(q).enumerate() {
            let mut along = 0.0;
            for (f, d) in direction.iter().enumerate() {
                along += d * (centre[f] - hull.coordinate(origin, f));
            }
            t[k] = along - 0.5 * t[k];
        }
        back_substitute(&self.triangle, r, r, &mut t);
        self.target.clear();
        self.target.push(1.0 - t.iter().sum::<f64>());
        self.target.extend_from_slice(&t);
        Flat::Minimum
    }

    /// Difference `k` is a combination of those before: weight on it and the opposite combination
    /// leave the position unchanged.
    fn idle_direction(&mut self, k: usize, r: usize) {
        let mut t: Vec<f64> = self.triangle[k * r..k * r + k].to_vec();
        back_substitute(&self.triangle, r, k, &mut t);
        self.target.clear();
        self.target.push(t.iter().sum::<f64>() - 1.0);
        self.target.extend(t.iter().map(|x| -x));
        self.target.push(1.0);
        self.target.resize(r + 1, 0.0);
    }
}

/// Solves `R t = t` in place for the leading `size` columns; column `k` begins at `k * stride`.
fn back_substitute(triangle: &[f64], stride: usize, size: usize, t: &mut [f64]) {
    for k in (0..size).rev() {
        t[k] /= triangle[k * stride + k];
        for i in 0..k {
            t[i] -= triangle[k * stride + i] * t[k];
        }
    }
}

fn mix(hull: &Hull<'_>, corral: &Corral, place: &mut [f64]) {
    for (f, slot) in place.iter_mut().enumerate() {
        *slot = corral.members.iter().zip(&corral.weights).map(|(&j, w)| w * hull.coordinate(j, f)).sum();
    }
}

/// The index of the smallest value; the first on a tie.
fn least(values: &[f64]) -> u32 {
    let mut best = 0;
    for j in 1..values.len() {
        if values[j] < values[best] {
            best = j;
        }
    }
    best as u32
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
