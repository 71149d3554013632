//! Choosing candidates: step (III) of the paper, eq. (8).
//!
//! Every object takes the pair with the lowest `distance + lambda * penalty` over all its
//! candidates and all centres. Almost all pairs can be skipped. An object's candidates lie along a
//! short curve, so a box around all of them rules out most centres, and boxes around runs of eight
//! rule out most runs for the remaining centres. The choice of the previous iteration is close to
//! the new one, so its value is a sharp initial bound. Once the centres hardly move, a bound on all
//! other centres, maintained from iteration to iteration, even makes it unnecessary to examine
//! their boxes (`benches/select.rs` reports the shares).
//!
//! Skipping never changes the answer. A box distance is computed with the same operations in the
//! same order as a distance, and rounding is monotone, so it never exceeds the distance of a
//! candidate in the box. Bounds that are square roots or differences are widened by a few units of
//! rounding. Ties go to the lower candidate, then to the nearer centre, then to the lower one, so
//! the result does not depend on the order of evaluation.

use std::borrow::Cow;

use rayon::prelude::*;

use super::boxes::Boxes;
use super::distance::Distance;
use super::exhaustive::exhaust_chunk;
use crate::kernel::{CentreLanes, LANES, lane_array};
use crate::{Candidates, Points, points::squared_distance};

/// One object's pair of candidate and centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Candidate within the object.
    pub candidate: u32,
    /// The centre.
    pub centre: u32,
    /// `distance + lambda * penalty`.
    pub value: f64,
}

/// Counts of what a selection evaluated, to show what pruning saves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Candidate-centre distances computed.
    pub distances: u64,
    /// Box-centre distances computed.
    pub boxes: u64,
}

impl Effort {
    fn add(self, other: Self) -> Self {
        Self { distances: self.distances + other.distances, boxes: self.boxes + other.boxes }
    }
}

/// A few units in the last place.
const SLACK: f64 = 8.0 * f64::EPSILON;

/// Objects handled by one task.
const CHUNK: usize = 64;

/// Chooses candidates repeatedly for the same objects as the centres move.
#[derive(Debug)]
pub struct Selector<'c> {
    candidates: Cow<'c, Candidates>,
    boxes: Boxes,
    lambda: f64,
    distance: Distance,
    /// The choices of the last selection; empty before the first.
    choices: Vec<Choice>,
    /// For each object, a lower bound on the root value of every centre except its own.
    others: Vec<f64>,
    centres: Option<Points>,
    /// The maximum error of a value in single precision; 0 in double precision.
    blur: f64,
}

impl<'c> Selector<'c> {
    /// A selector for `distance + lambda * penalty`.
    pub fn new(candidates: &'c Candidates, distance: Distance, lambda: f64) -> Self {
        Self::from_cow(Cow::Borrowed(candidates), distance, lambda)
    }

    fn from_cow(candidates: Cow<'c, Candidates>, distance: Distance, lambda: f64) -> Self {
        let blur = if distance == Distance::EuclideanSingle { single_error(&candidates) } else { 0.0 };
        Self {
            boxes: Boxes::new(&candidates),
            candidates,
            lambda,
            distance,
            choices: Vec::new(),
            others: Vec::new(),
            centres: None,
            blur,
        }
    }

    /// The best pair of every object for `centres`.
    pub fn select(&mut self, centres: &Points) -> (&[Choice], Effort) {
        let n = self.candidates.objects();
        let lanes = CentreLanes::from_points(centres);
        let warm = !self.choices.is_empty();
        // Bounds over all centres remain valid only while the centres are the same ones, moved.
        let moves = self
            .centres
            .as_ref()
            .filter(|old| old.len() == centres.len())
            .map(|old| Moves::new(old, centres));
        if !warm {
            self.choices = (0..n)
                .map(|i| Choice {
                    candidate: (self.candidates.count(i) / 2) as u32,
                    centre: 0,
                    value: f64::INFINITY,
                })
                .collect();
            self.others = vec![f64::NEG_INFINITY; n];
        }
        let task = Task {
            candidates: &self.candidates,
            boxes: &self.boxes,
            lambda: self.lambda,
            distance: self.distance,
            lanes: &lanes,
            centres,
            moves: moves.as_ref(),
            blur: self.blur_at(centres),
        };
        let effort = self
            .choices
            .par_chunks_mut(CHUNK)
            .zip(self.others.par_chunks_mut(CHUNK))
            .enumerate()
            .map(|(c, (choices, others))| select_chunk(&task, c * CHUNK, choices, others))
            .reduce(Effort::default, Effort::add);
        self.centres = Some(centres.clone());
        (&self.choices, effort)
    }

    /// The error of single precision. The objects may be only a part of all, so centres may be
    /// larger than any of them.
    fn blur_at(&self, centres: &Points) -> f64 {
        if self.distance != Distance::EuclideanSingle {
            return 0.0;
        }
        self.blur.max(single_error_up_to(largest(centres.values()), centres.features()))
    }

    /// The same choices by examining every pair: the reference for pruning.
    pub fn select_exhaustively(&self, centres: &Points) -> Vec<Choice> {
        let lanes = CentreLanes::from_points(centres);
        let mut choices =
            vec![Choice { candidate: 0, centre: 0, value: f64::INFINITY }; self.candidates.objects()];
        choices.par_chunks_mut(CHUNK).enumerate().for_each(|(c, choices)| {
            exhaust_chunk(&self.candidates, self.lambda, self.distance, &lanes, centres, c * CHUNK, choices);
        });
        choices
    }

    /// The candidates of the selector.
    pub fn candidates(&self) -> &Candidates {
        &self.candidates
    }

    /// Bytes used in addition to the candidates themselves.
    pub fn bytes(&self) -> usize {
        self.boxes.bytes()
            + std::mem::size_of_val(&self.choices[..])
            + std::mem::size_of_val(&self.others[..])
    }
}

impl Selector<'static> {
    /// Like [`Selector::new`], but owns the candidates.
    pub fn owning(candidates: Candidates, distance: Distance, lambda: f64) -> Self {
        Self::from_cow(Cow::Owned(candidates), distance, lambda)
    }
}

/// A bound on the error of a distance computed in single precision, for centres that are means of
/// the candidates and therefore not larger.
pub(super) fn single_error(candidates: &Candidates) -> f64 {
    let each = (0..candidates.objects()).map(|i| largest(candidates.block(i)));
    single_error_up_to(each.fold(0.0, f64::max), candidates.features())
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// A few roundings of numbers no larger than `largest`.
fn single_error_up_to(largest: f64, features: usize) -> f64 {
    32.0 * f64::from(f32::EPSILON) * (features as f64).sqrt() * largest
}

/// How far the centres moved since the last selection; 0 only for those that are where they were.
struct Moves {
    each: Vec<f64>,
    most: f64,
}

impl Moves {
    fn new(old: &Points, new: &Points) -> Self {
        let far = |(a, b): (&[f64], &[f64])| match a == b {
            true => 0.0,
            false => (squared_distance(a, b).sqrt() * (1.0 + SLACK)).max(f64::MIN_POSITIVE),
        };
        let each: Vec<f64> = old.rows().zip(new.rows()).map(far).collect();
        let most = each.iter().copied().fold(0.0, f64::max);
        Self { each, most }
    }
}

struct Task<'a> {
    candidates: &'a Candidates,
    boxes: &'a Boxes,
    lambda: f64,
    distance: Distance,
    lanes: &'a CentreLanes,
    centres: &'a Points,
    moves: Option<&'a Moves>,
    blur: f64,
}

impl Task<'_> {
    /// A value expressed as a length that changes no faster than the centre moves: `d + lambda p`
    /// itself for the Euclidean distance; for the squared one `sqrt(d^2 + lambda p)`, the length of
    /// a vector with one more coordinate. The triangle inequality therefore carries bounds from
    /// iteration to iteration.
    #[inline(always)]
    fn root(&self, value: f64) -> f64 {
        match self.distance {
            Distance::Squared => value.sqrt(),
            Distance::Euclidean | Distance::EuclideanSingle => value,
        }
    }

    /// The squared distance beyond which nothing with a penalty of at least `penalty` beats `value`.
    #[inline(always)]
    fn reach(&self, value: f64, penalty: f64) -> f64 {
        let gap = value - self.lambda * penalty + SLACK * value + self.blur;
        if gap < 0.0 {
            return -1.0;
        }
        match self.distance {
            Distance::Squared => gap * (1.0 + SLACK),
            Distance::Euclidean | Distance::EuclideanSingle => gap * gap * (1.0 + SLACK),
        }
    }

    #[inline(always)]
    fn value(&self, squared: f64, penalty: f64) -> f64 {
        self.distance.of_squared(squared) + self.lambda * penalty
    }
}

/// Scratch space, reused from object to object.
struct Scratch {
    point: Vec<f64>,
    /// Squared box distances: for each nearby centre, every run.
    boxes: Vec<f64>,
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn select_chunk(task: &Task<'_>, first: usize, choices: &mut [Choice], others: &mut [f64]) -> Effort {
    let mut effort = Effort::default();
    let mut scratch = Scratch { point: vec![0.0; task.candidates.features()], boxes: Vec::new() };
    let mut near: Vec<usize> = Vec::with_capacity(task.centres.len());
    for (offset, (choice, others)) in choices.iter_mut().zip(others).enumerate() {
        let i = first + offset;
        if task.boxes.runs(i) == 0 {
            *choice = few_candidates(task, i, &mut scratch.point, &mut effort);
            continue;
        }
        if let Some(moves) = task.moves
            && task.blur == 0.0
        {
            // The bound on the other centres decreases by the farthest that any of them moved.
            *others = *others - moves.most - SLACK * (others.abs() + moves.most);
            // Cheap test first: can the old pair still be safe from all other centres?
            let own = choice.centre as usize;
            let reachable = task.root(choice.value.max(0.0)) * (1.0 + SLACK) + moves.each[own];
            if reachable < *others && moves.each[own] == 0.0 {
                // Its centre stayed where it was, and no other can have come close enough.
                continue;
            }
            if reachable < *others {
                near.clear();
                near.push(own);
                task.candidates.copy_candidate(i, choice.candidate as usize, &mut scratch.point);
                let d = squared_distance(&scratch.point, task.centres.row(own));
                effort.distances += 1;
                choice.value = task.value(d, task.candidates.penalty(i, choice.candidate as usize));
                search_runs(task, i, &near, choice, &mut scratch, &mut effort);
                if task.root(choice.value) * (1.0 + SLACK) < *others {
                    continue;
                }
            }
        }
        // The old candidate with its nearest centre now: an initial upper bound.
        task.candidates.copy_candidate(i, choice.candidate as usize, &mut scratch.point);
        let (k, d) = task.lanes.nearest(&scratch.point);
        effort.distances += task.lanes.k() as u64;
        choice.centre = k as u32;
        choice.value = task.value(d, task.candidates.penalty(i, choice.candidate as usize));
        if task.blur > 0.0 {
            // Double precision only provides bounds; every pair that may win is then computed in
            // single precision.
            choice.value += task.blur;
            choice.candidate = u32::MAX;
        }

        let whole = task.boxes.whole(i);
        let reach = task.reach(choice.value, whole.penalty);
        near.clear();
        let mut nearest_beyond = [f64::INFINITY; LANES];
        for first in (0..task.lanes.padded()).step_by(LANES) {
            let d = task.lanes.squared_box_block(whole.low, whole.high, first);
            let mut any = false;
            for l in 0..LANES {
                let inside = d[l] <= reach;
                any |= inside;
                let outside = if inside { f64::INFINITY } else { d[l] };
                nearest_beyond[l] = if outside < nearest_beyond[l] { outside } else { nearest_beyond[l] };
            }
            if any {
                near.extend((0..LANES).filter(|&l| d[l] <= reach).map(|l| first + l));
            }
        }
        let beyond = nearest_beyond.iter().copied().fold(f64::INFINITY, f64::min);
        effort.boxes += task.lanes.k() as u64;
        search_runs(task, i, &near, choice, &mut scratch, &mut effort);
        // A bound for all centres except the chosen one: the nearest box of those left out and, for
        // nearby centres, their own box bounds.
        let mut bound = beyond;
        for &k in &near {
            if k != choice.centre as usize {
                bound = bound.min(whole.squared_distance(task.centres.row(k)));
                effort.boxes += 1;
            }
        }
        *others = task.root(task.value(bound, whole.penalty)) * (1.0 - SLACK);
    }
    effort
}

/// Improves `choice` over the runs of object `i` and the centres `near`, in increasing order.
#[inline(always)]
fn search_runs(
    task: &Task<'_>,
    i: usize,
    near: &[usize],
    choice: &mut Choice,
    scratch: &mut Scratch,
    effort: &mut Effort,
) {
    let (m, q) = (task.candidates.count(i), task.candidates.features());
    let block = task.candidates.block(i);
    let penalties = task.candidates.penalties(i);
    let mut found = false;
    let runs = task.boxes.runs(i);
    scratch.boxes.clear();
    for &k in near {
        task.boxes.run_distances(i, task.centres.row(k), &mut scratch.boxes);
    }
    effort.boxes += (runs * near.len()) as u64;
    for (r, &penalty) in task.boxes.run_penalties(i).iter().enumerate() {
        let reach = task.reach(choice.value, penalty);
        let mut best = [f64::INFINITY; LANES];
        let mut any = false;
        let from = r * LANES;
        for (at, &k) in near.iter().enumerate() {
            if scratch.boxes[at * runs + r] > reach {
                continue;
            }
            any = true;
            effort.distances += LANES.min(m - from) as u64;
            let centre = task.centres.row(k);
            let d = match task.distance {
                Distance::EuclideanSingle => squared_run_single(block, m, q, from, centre),
                _ => squared_run(block, m, q, from, centre),
            };
            for l in 0..LANES {
                best[l] = if d[l] < best[l] { d[l] } else { best[l] };
            }
        }
        if any {
            for l in 0..LANES.min(m - from) {
                let j = from + l;
                let value = task.value(best[l], penalties.get(j).copied().unwrap_or(0.0));
                if value < choice.value || (value == choice.value && j < choice.candidate as usize) {
                    (choice.value, choice.candidate) = (value, j as u32);
                    found = true;
                }
            }
        }
    }
    if found {
        // The centre of the chosen candidate: the nearest of the nearby ones, the lower on a tie.
        let j = choice.candidate as usize;
        task.candidates.copy_candidate(i, j, &mut scratch.point);
        let mut nearest = f64::INFINITY;
        for &k in near {
            let d = task.distance.squared(&scratch.point, task.centres.row(k));
            if d < nearest {
                nearest = d;
                choice.centre = k as u32;
            }
        }
        effort.distances += near.len() as u64;
    }
}

/// Squared distances of the candidates `from..from + LANES` to one centre; lanes past the last are
/// infinite.
#[inline(always)]
pub(super) fn squared_run(block: &[f64], m: usize, q: usize, from: usize, centre: &[f64]) -> [f64; LANES] {
    let mut sum = [0.0; LANES];
    let whole = from + LANES <= m;
    for f in 0..q {
        let mut tail = [f64::INFINITY; LANES];
        let x = if whole {
            lane_array(&block[f * m + from..f * m + from + LANES])
        } else {
            tail[..m - from].copy_from_slice(&block[f * m + from..f * m + m]);
            &tail
        };
        for l in 0..LANES {
            let d = x[l] - centre[f];
            sum[l] += d * d;
        }
    }
    sum
}

/// As [`squared_run`], in single precision.
#[inline(always)]
pub(super) fn squared_run_single(
    block: &[f64],
    m: usize,
    q: usize,
    from: usize,
    centre: &[f64],
) -> [f64; LANES] {
    let mut sum = [0.0f32; LANES];
    let width = LANES.min(m - from);
    for f in 0..q {
        let c = centre[f] as f32;
        for l in 0..width {
            let d = block[f * m + from + l] as f32 - c;
            sum[l] += d * d;
        }
    }
    sum.map(f64::from)
}

/// Objects without boxes: every candidate is compared with all centres, eight centres at a time.
#[inline(always)]
fn few_candidates(task: &Task<'_>, i: usize, point: &mut [f64], effort: &mut Effort) -> Choice {
    let mut best = Choice { candidate: 0, centre: 0, value: f64::INFINITY };
    for j in 0..task.candidates.count(i) {
        task.candidates.copy_candidate(i, j, point);
        let (k, d) = nearest(task.distance, task.lanes, task.centres, point);
        let value = task.value(d, task.candidates.penalty(i, j));
        if value < best.value {
            best = Choice { candidate: j as u32, centre: k as u32, value };
        }
    }
    effort.distances += (task.candidates.count(i) * task.lanes.k()) as u64;
    best
}

/// The nearest centre in the precision of `distance`, the lower one on a tie.
#[inline(always)]
pub(super) fn nearest(
    distance: Distance,
    lanes: &CentreLanes,
    centres: &Points,
    point: &[f64],
) -> (usize, f64) {
    if distance != Distance::EuclideanSingle {
        return lanes.nearest(point);
    }
    let mut best = (0, f64::INFINITY);
    for (k, centre) in centres.rows().enumerate() {
        let d = distance.squared(point, centre);
        if d < best.1 {
            best = (k, d);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimistic::fixtures::Numbers;
    use proptest::prelude::*;

    /// Step (III) literally, without kernels or bounds.
    fn by_the_book(c: &Candidates, centres: &Points, distance: Distance, lambda: f64) -> Vec<Choice> {
        (0..c.objects())
            .map(|i| {
                let mut best = Choice { candidate: 0, centre: 0, value: f64::INFINITY };
                for j in 0..c.count(i) {
                    let x = c.candidate(i, j);
                    let (mut k, mut d) = (0, f64::INFINITY);
                    for l in 0..centres.len() {
                        let this = distance.squared(&x, centres.row(l));
                        if this < d {
                            (k, d) = (l, this);
                        }
                    }
                    let value = distance.of_squared(d) + lambda * c.penalty(i, j);
                    if value < best.value {
                        best = Choice { candidate: j as u32, centre: k as u32, value };
                    }
                }
                best
            })
            .collect()
    }

    proptest! {
        #[test]
        fn pruning_and_kernels_never_change_a_choice(
            q in 1usize..6,
            sizes in prop::collection::vec(1usize..45, 1..12),
            k in 1usize..25,
            lambda in prop::sample::select(vec![0.0, 0.01, 0.5, 3.0]),
            distance in prop::sample::select(vec![
                Distance::Squared, Distance::Euclidean, Distance::EuclideanSingle,
            ]),
            coarse in any::<bool>(),
            penalised in any::<bool>(),
            seed in any::<u64>(),
        ) {
            let mut numbers = Numbers::new(seed, coarse);
            let candidates = numbers.candidates(q, &sizes, penalised);
            let mut selector = Selector::new(&candidates, distance, lambda);
            let mut centres = numbers.several(k * q, 4.0);
            // Several rounds with ever smaller moves, so that the carried bounds are exercised.
            for round in 0..6 {
                let points = Points::new(centres.clone(), q).unwrap();
                let expected = by_the_book(&candidates, &points, distance, lambda);
                prop_assert_eq!(&selector.select_exhaustively(&points), &expected);
                let (choices, _) = selector.select(&points);
                prop_assert_eq!(choices, &expected[..], "round {}", round);
                // A third of the centres stays where it is.
                for (at, c) in centres.iter_mut().enumerate() {
                    let step = numbers.one(1.0) * 0.3f64.powi(round);
                    *c += if (at / q + round as usize).is_multiple_of(3) { 0.0 } else { step };
                }
            }
        }
    }
}
