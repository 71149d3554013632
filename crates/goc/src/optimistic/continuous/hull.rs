//! The nearest point of a convex hull, by Wolfe's active sets (Wolfe 1976, "Finding the nearest point in a
//! polytope").
//!
//! A point of the hull of `x_1 .. x_m` is a mixture `sum_j w_j x_j`, and its penalty is taken as the same
//! mixture of the candidates' penalties. Wanted is the mixture with the least
//!
//! ```text
//! F(w) = |sum_j w_j x_j - c|^2 + lambda * sum_j w_j p_j,      w_j >= 0,  sum_j w_j = 1
//! ```
//!
//! for a centre `c`: Wolfe's problem with a linear term more. Few candidates carry weight, at most `q + 1`;
//! they are the *corral* and are kept affinely independent. In turn:
//!
//! - the candidate where F falls steepest joins the corral with weight 0;
//! - F is minimised over the flat through the corral, where it is a least-squares problem (QR of the
//!   differences to the first member). If that minimum lies outside the corral's hull, the weights go towards
//!   it until one is 0, that member leaves, and again.
//!
//! A newcomer that already lies in the flat (duplicates, collinear sets, more candidates than dimensions) has
//! a direction along which the place does not move and F is linear: the weights go down it until one is 0, a
//! pivot as in the simplex method. So the corral stays independent whatever the set looks like.
//!
//! The steepest slope is also a certificate: F is convex, so `F(w) - F* <= gap = -min_j slope_j`. It ends the
//! search when nothing is left to gain beyond rounding, and earlier when a centre provably cannot beat
//! another. Cost: `O(m q)` a round, and about as many rounds as the corral has members; from the corral of a
//! centre that has moved a little, one or two.

use crate::Candidates;
use crate::points::squared_distance;

/// Share of a difference's length below which its new direction is taken for rounding.
const DEPENDENT: f64 = 1e-12;

/// Gap, as a share of the largest slope possible, at which nothing is left to gain.
const GAP: f64 = 1e-13;

/// Rounds without a lower value after which only rounding is going on.
const STALLS: usize = 3;

/// The candidates that carry weight, and how much; the weights add up to 1.
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
    /// Largest coordinate, by magnitude: what rounding is relative to.
    magnitude: f64,
    /// Largest less smallest `lambda * penalty`.
    spread: f64,
}

/// The nearest point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nearest {
    /// `|place - c|^2 + lambda * penalty`.
    pub(crate) value: f64,
    /// `lambda * penalty`, the penalty mixed like the place.
    pub(crate) penalty: f64,
    /// The value is at most this much above the least one; read by tests.
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

/// The least and the largest value; of no values, infinities.
pub(crate) fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
}

/// Finds nearest points; holds the working memory of one thread.
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

/// What the flat through a corral says.
enum Flat {
    /// `target` holds the weights of its minimum.
    Minimum,
    /// `target` holds a direction that leaves the place where it is.
    Idle,
}

impl Solver {
    /// The nearest point of `hull` to `centre`: `place` and `corral` tell which. A corral that is not empty
    /// is begun from. None once it is certain that no point has a value up to `cutoff`.
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
        // Enough for every candidate to enter and leave; the stalls end it long before.
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
            // Written so that NaN, which values near overflow can make, ends the search.
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

    /// Orthonormal directions in which the nearest point follows the centre: those of the flat through its
    /// corral.
    pub(crate) fn follows(&mut self, hull: &Hull<'_>, centre: &[f64], corral: &Corral) -> &[f64] {
        self.flat(hull, centre, &corral.members);
        &self.directions
    }

    /// Without a corral to begin from, the single candidate with the least value.
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

    /// The candidate towards which F falls steepest from `place`; all slopes are left in `self.slopes`.
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

    /// Lowers F over the corral alone until its weights are the minimum of the flat through it, all above 0.
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
                // Downhill along the idle direction: the distance stays, so the penalties alone decide.
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

    /// Difference `k` is a mixture of those before: weight on it and the opposite mixture leave the place.
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

/// Where the least value is; the first on a tie.
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
