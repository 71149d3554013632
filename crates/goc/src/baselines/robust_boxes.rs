//! Robust clustering of boxes: centres that minimise the worst case (Vo, Le Thi & Pham Dinh 2016).
//!
//! Each object may be anywhere in its box `B_i`, with middle `m_i` and half-widths `h_i`. The
//! centres minimise the sum of squares when every object takes the worst position for its own
//! centre,
//!
//! ```text
//! F(C) = sum_i min_k g_i(c_k),     g_i(c) = max_{x in B_i} |x - c|^2 = sum_f (|c_f - m_if| + h_if)^2
//! ```
//!
//! `g_i` is convex, but its minimum over centres is not. Writing the minimum as the sum of all
//! terms minus the largest sum of all but one makes `F` a difference of two convex functions,
//!
//! ```text
//! F = G - H,     G(C) = sum_i sum_k g_i(c_k),     H(C) = sum_i max_k sum_{l != k} g_i(c_l)
//! ```
//!
//! and the DC algorithm linearises `H`. With `k_i` the centre of lowest `g_i`, a subgradient of `H`
//! in `c_l` is `y_l = sum over i with k_i != l of g_i'(c_l)`, and the next centres minimise `G(C) -
//! <y, C>`. This separates into one problem for each cluster and feature, `min_c sum_i (|c - m_i| +
//! h_i)^2 - y c`, which is piecewise quadratic and solved exactly by one pass over the sorted
//! middles. `F` never increases.
//!
//! As long as the labels do not change, these steps move by a fraction `n_l / n` of the way towards
//! the minimum over the members alone. When a step changes no label, the algorithm jumps there at
//! once (the same one-dimensional problem over the members with `y = 0`), which cannot increase `F`
//! either; if that changes no label, the run has converged. The jump is more than a shortcut: the
//! kink of `g_i` at the middle of a box can hold a centre even if that object belongs to another
//! cluster, and plain DC steps would stop there, short of the minimum.
//!
//! The cost of a round is `n K q`, after one sort of `n` middles for each feature; the number of
//! candidates does not matter.

use super::alternating_minimisation::{DistanceCount, Model, Run, assign, best_of_starts, members_of};
use super::bounding::BoundingBoxes;
use super::{Grouped, Method, Result, Tick, check_k};
use crate::{Candidates, Points};

/// Clustering of boxes that minimises the worst case.
///
/// ```
/// use goc::baselines::{Method, robust_boxes::RobustBoxes};
/// use goc::candidates::CandidatesBuilder;
/// let mut builder = CandidatesBuilder::new(1);
/// for set in [[0.0, 1.0], [0.2, 0.8], [7.0, 9.0]] {
///     builder.push(&set, &[])?;
/// }
/// let grouped = RobustBoxes::new(2).group(&builder.build()?, 1)?;
/// assert_eq!(grouped.partition.canonical().labels(), [0, 0, 1]);
/// assert!((grouped.objective.unwrap() - (0.25 + 0.09 + 1.0)).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RobustBoxes {
    k: usize,
    starts: usize,
    max_iterations: usize,
}

impl RobustBoxes {
    /// For `k` clusters, with 10 starts and at most 200 rounds.
    pub fn new(k: usize) -> Self {
        Self { k, starts: 10, max_iterations: 200 }
    }

    setters! {
        /// The number of starts; at least one is made.
        starts: usize = starts.max(1);
        /// The maximum number of rounds of each start; at least one is made.
        max_iterations: usize = max_iterations.max(1);
    }
}

impl Method for RobustBoxes {
    fn name(&self) -> &str {
        "robust-boxes"
    }

    /// The positions are the middles of the boxes, in scaled features.
    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        check_k(self.k, candidates)?;
        let model = Worst::new(candidates);
        let way = |centres| model.descend(centres, self.max_iterations);
        let run =
            best_of_starts("robust-boxes", &model, self.k, self.starts, seed, |run| run.objective, way)?;
        Ok(run.grouped(model.middles))
    }
}

/// One side of a box: middle and half-width.
#[derive(Clone, Copy, Debug)]
struct Side {
    object: usize,
    middle: f64,
    half: f64,
}

struct Worst {
    boxes: BoundingBoxes,
    middles: Points,
    /// For each feature, all sides sorted by their middles.
    sorted: Vec<Vec<Side>>,
}

impl Model for Worst {
    fn cost(&self, i: usize, centre: &[f64]) -> f64 {
        self.boxes.max_squared(i, centre)
    }

    fn anchors(&self) -> &Points {
        &self.middles
    }

    fn centre(&self, members: &[usize], _old: &[f64]) -> Vec<f64> {
        let mut mine = vec![false; self.middles.len()];
        for &i in members {
            mine[i] = true;
        }
        self.sorted
            .iter()
            .map(|sides| {
                let sides: Vec<Side> = sides.iter().copied().filter(|s| mine[s.object]).collect();
                least_worst(&sides, 0.0)
            })
            .collect()
    }
}

impl Worst {
    fn new(candidates: &Candidates) -> Self {
        let boxes = BoundingBoxes::new(candidates);
        let middles = boxes.middles();
        let sorted = (0..candidates.features())
            .map(|f| {
                let mut sides: Vec<Side> = (0..middles.len())
                    .map(|i| Side { object: i, middle: middles.row(i)[f], half: boxes.half(i, f) })
                    .collect();
                sides.sort_by(|a, b| a.middle.total_cmp(&b.middle));
                sides
            })
            .collect();
        Self { boxes, middles, sorted }
    }

    fn descend(&self, mut centres: Points, max_iterations: usize) -> Run {
        let k = centres.len();
        let mut count = DistanceCount::default();
        let mut labels = assign(self, &mut centres, &mut count);
        for iteration in 1..max_iterations {
            centres = self.dca_step(&labels, &centres);
            let mut after = assign(self, &mut centres, &mut count);
            if after == labels {
                for (l, members) in members_of(&labels, k).iter().enumerate() {
                    if !members.is_empty() {
                        let centre = self.centre(members, &[]);
                        centres.row_mut(l).copy_from_slice(&centre);
                    }
                }
                after = assign(self, &mut centres, &mut count);
                if after == labels {
                    return Run::new(self, &labels, &centres, iteration, true, count);
                }
            }
            labels = after;
        }
        Run::new(self, &labels, &centres, max_iterations, false, count)
    }

    /// Minimises `G(C) - <y, C>`, `y` a subgradient of `H` at `centres`.
    fn dca_step(&self, labels: &[u32], centres: &Points) -> Points {
        let mut next = Vec::with_capacity(centres.values().len());
        for (l, centre) in centres.rows().enumerate() {
            for (sides, &c) in self.sorted.iter().zip(centre) {
                let y = sides
                    .iter()
                    .filter(|s| labels[s.object] as usize != l)
                    .map(|s| 2.0 * (c - s.middle) + 2.0 * s.half * sign(c - s.middle))
                    .sum();
                next.push(least_worst(sides, y));
            }
        }
        Points::trusted(next, centres.features())
    }
}

/// As `signum`, but 0 at 0: a subgradient of `|x|`.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

/// The `c` that minimises `sum_i (|c - m_i| + h_i)^2 - y c` over sides sorted by their middles.
///
/// Between two middles the derivative is the line `2 n c - 2 sum m + 2 (sum of h to the left - sum of h to
/// the right) - y`; it jumps upwards at each middle. The minimum is where it crosses zero, between two
/// middles or on one.
fn least_worst(sides: &[Side], y: f64) -> f64 {
    let count = sides.len() as f64;
    let base = sides.iter().map(|s| s.middle).sum::<f64>() + y / 2.0;
    let mut balance: f64 = -sides.iter().map(|s| s.half).sum::<f64>();
    for side in sides {
        // Zero of the line that holds to the left of this middle.
        let zero = (base - balance) / count;
        if zero <= side.middle {
            return zero;
        }
        balance += 2.0 * side.half;
        // Below the middle with this side's half-width switched over: the jump at the middle
        // crosses zero.
        if (base - balance) / count <= side.middle {
            return side.middle;
        }
    }
    (base - balance) / count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::testing::{all_partitions, blobs, identical, one_object};
    use crate::method::MethodError;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_walk_over_middles_finds_the_least_worst_case(
            sides in prop::collection::vec((-6i32..6, 0i32..4), 1..8),
            slope in -40i32..40,
        ) {
            let mut sides: Vec<Side> = sides
                .into_iter()
                .map(|(m, h)| Side { object: 0, middle: f64::from(m), half: f64::from(h) })
                .collect();
            sides.sort_by(|a, b| a.middle.total_cmp(&b.middle));
            let y = f64::from(slope);
            let value = |c: f64| {
                let worst = |s: &Side| ((c - s.middle).abs() + s.half).powi(2);
                sides.iter().map(worst).sum::<f64>() - y * c
            };
            let found = value(least_worst(&sides, y));
            for step in -3000..3000 {
                prop_assert!(found <= value(f64::from(step) / 100.0) + 1e-9);
            }
        }
    }

    #[test]
    fn the_best_of_all_partitions_is_found_on_small_data() {
        for seed in 0..8 {
            let candidates = blobs(7, 3, 2, 1.5, seed);
            let model = Worst::new(&candidates);
            let cost = |members: &Vec<usize>| {
                let centre = model.centre(members, &[]);
                members.iter().map(|&i| model.cost(i, &centre)).sum::<f64>()
            };
            let best = all_partitions(7, 3)
                .into_iter()
                .map(|labels| members_of(&labels, 3).iter().filter(|m| !m.is_empty()).map(cost).sum())
                .fold(f64::INFINITY, f64::min);
            let found = RobustBoxes::new(3).starts(40).group(&candidates, 1).unwrap();
            assert!(found.converged);
            let found = found.objective.unwrap();
            assert!((found - best).abs() < 1e-9 * best, "seed {seed}: {found} {best}");
        }
    }

    #[test]
    fn neither_a_dca_step_nor_a_longer_run_raises_the_worst_case() {
        let candidates = blobs(60, 5, 2, 2.0, 3);
        let model = Worst::new(&candidates);
        let worst = |centres: &Points| -> f64 {
            (0..60).map(|i| centres.rows().map(|c| model.cost(i, c)).fold(f64::INFINITY, f64::min)).sum()
        };
        let mut centres = model.middles.subset(&[0, 11, 22, 33, 44]);
        let mut last = worst(&centres);
        for _ in 0..200 {
            let labels: Vec<u32> =
                (0..60).map(|i| model.nearest(i, &centres, &mut DistanceCount::default()) as u32).collect();
            centres = model.dca_step(&labels, &centres);
            let now = worst(&centres);
            assert!(now <= last * (1.0 + 1e-13), "{now} {last}");
            last = now;
        }
        // Where the steps alone stop, the jump to the members' minimum still improves: they get
        // stuck at the middles of other boxes.
        let labels: Vec<u32> =
            (0..60).map(|i| model.nearest(i, &centres, &mut DistanceCount::default()) as u32).collect();
        for (l, members) in members_of(&labels, 5).iter().enumerate() {
            let centre = model.centre(members, &[]);
            centres.row_mut(l).copy_from_slice(&centre);
        }
        assert!(worst(&centres) < last * (1.0 - 1e-6), "{} {last}", worst(&centres));
        let after = |rounds| {
            let method = RobustBoxes::new(5).starts(1).max_iterations(rounds);
            method.group(&candidates, 2).unwrap().objective.unwrap()
        };
        let objectives: Vec<f64> = (1..25).map(after).collect();
        assert!(objectives.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-13)), "{objectives:?}");
        assert!(objectives[23] < objectives[0]);
    }

    #[test]
    fn points_without_width_are_plain_k_means() {
        let candidates = blobs(40, 1, 2, 0.0, 9);
        let robust = RobustBoxes::new(4).starts(30).group(&candidates, 1).unwrap();
        let plain = crate::baselines::expected_k_means::ExpectedKMeans::new(4).starts(30);
        let plain = plain.group(&candidates, 1).unwrap();
        assert!(robust.partition.same_grouping(&plain.partition));
        assert!((robust.objective.unwrap() - plain.objective.unwrap()).abs() < 1e-9);
    }

    #[test]
    fn degenerate_inputs_have_a_defined_answer() {
        assert_eq!(RobustBoxes::new(1).group(&one_object(), 1).unwrap().partition.labels(), [0]);
        assert_eq!(RobustBoxes::new(3).group(&identical(5), 1).unwrap().partition.k(), 1);
        let candidates = blobs(9, 4, 2, 0.5, 2);
        assert_eq!(RobustBoxes::new(9).group(&candidates, 1).unwrap().partition.k(), 9);
        assert!(!RobustBoxes::new(3).starts(1).max_iterations(1).group(&candidates, 1).unwrap().converged);
        let error = |k| RobustBoxes::new(k).group(&candidates, 1).unwrap_err();
        assert_eq!(error(0), MethodError::NoClusters);
        assert_eq!(error(10), MethodError::MoreClustersThanObjects { k: 10, n: 9 });
    }
}
