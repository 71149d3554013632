//! The alternation that the k-means-like methods for uncertain objects share.
//!
//! Assign every object to the centre of lowest cost, update each centre for its members, and repeat
//! until no label changes. A [`Model`] defines the cost of an object at a centre and the update of
//! a centre. If `centre` never increases the cost of its members, the objective `sum_i cost(i, its
//! centre)` never increases.
//!
//! # Rules
//! - Starts are drawn as in k-means++: the first centre is the anchor of a random object, and each
//!   next one that of an object drawn with probability proportional to its *excess*, i.e. its cost
//!   at the nearest centre minus its cost at its own anchor. (With squared expected distances this
//!   is exactly k-means++ on the means.)
//! - A centre without members moves to the anchor of the object with the largest excess that is not
//!   alone; if no object would gain, the cluster stays empty and the result has fewer clusters.
//! - Ties between centres go to the lower index, between starts to the earlier.

use rand::RngExt;
use rayon::prelude::*;

use super::{Grouped, MethodError, Result};
use crate::{Partition, Points, Stream, random};

/// The numbers of object-centre distances that were computed, and that were ruled out without
/// computing them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DistanceCount {
    /// Distances computed.
    pub computed: u64,
    /// Distances made unnecessary by a bound.
    pub pruned: u64,
}

pub(super) trait Model: Sync {
    /// The cost of object `i` at a centre.
    fn cost(&self, i: usize, centre: &[f64]) -> f64;

    /// One position for each object at which a centre may be placed for it.
    fn anchors(&self) -> &Points;

    /// The new position of the centre of `members`, currently at `old`.
    fn centre(&self, members: &[usize], old: &[f64]) -> Vec<f64>;

    /// The centre of lowest cost.
    fn nearest(&self, i: usize, centres: &Points, count: &mut DistanceCount) -> usize {
        count.computed += centres.len() as u64;
        least(centres.rows().map(|c| self.cost(i, c)))
    }
}

/// The index of the first minimum.
pub(super) fn least(costs: impl Iterator<Item = f64>) -> usize {
    let (mut best, mut at) = (f64::INFINITY, 0);
    for (k, cost) in costs.enumerate() {
        if cost < best {
            (best, at) = (cost, k);
        }
    }
    at
}

/// The result of one descent.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) partition: Partition,
    /// One per cluster.
    pub(super) centres: Points,
    pub(super) objective: f64,
    pub(super) iterations: usize,
    pub(super) converged: bool,
    pub(super) count: DistanceCount,
}

impl Run {
    pub(super) fn new(
        model: &impl Model,
        labels: &[u32],
        centres: &Points,
        iterations: usize,
        converged: bool,
        count: DistanceCount,
    ) -> Self {
        let objective =
            labels.iter().enumerate().map(|(i, &l)| model.cost(i, centres.row(l as usize))).sum::<f64>();
        let mut used: Vec<usize> = labels.iter().map(|&l| l as usize).collect();
        used.sort_unstable();
        used.dedup();
        let partition = Partition::from_bounded(labels, centres.len());
        Self { partition, centres: centres.subset(&used), objective, iterations, converged, count }
    }

    pub(super) fn grouped(self, places: Points) -> Grouped {
        Grouped {
            iterations: self.iterations,
            converged: self.converged,
            objective: Some(self.objective),
            places: Some(places),
            ..Grouped::new(self.partition)
        }
    }
}

/// The best of several starts by `rank`, the lower the better.
pub(super) fn best_of_starts<M: Model>(
    method: &'static str,
    model: &M,
    k: usize,
    starts: usize,
    seed: u64,
    rank: impl Fn(&Run) -> f64,
    descend: impl Fn(Points) -> Run + Sync,
) -> Result<Run> {
    let runs: Vec<Run> = (0..starts.max(1))
        .into_par_iter()
        .map(|s| descend(draw_start(model, k, &mut random::stream(seed, s as u64))))
        .collect();
    // `min_by` keeps the first of equals.
    let best = runs.into_iter().min_by(|a, b| rank(a).total_cmp(&rank(b)));
    match best {
        Some(run) if run.objective.is_finite() => Ok(run),
        _ => Err(MethodError::Failed {
            method,
            reason: "the distances are too large to be squared and summed; scale the features".into(),
        }),
    }
}

/// Up to `k` anchors, drawn as in k-means++; fewer if the rest coincide with those already drawn.
pub(super) fn draw_start(model: &impl Model, k: usize, stream: &mut Stream) -> Points {
    let anchors = model.anchors();
    let n = anchors.len();
    let own: Vec<f64> = (0..n).map(|i| model.cost(i, anchors.row(i))).collect();
    let mut chosen = vec![stream.random_range(0..n)];
    let mut excess = vec![f64::INFINITY; n];
    while chosen.len() < k {
        let newest = anchors.row(chosen[chosen.len() - 1]);
        for i in 0..n {
            excess[i] = excess[i].min((model.cost(i, newest) - own[i]).max(0.0));
        }
        let total: f64 = excess.iter().sum();
        let next = if total > 0.0 && total.is_finite() {
            weighted_index(&excess, stream.random::<f64>() * total)
        } else {
            // Zero costs do not imply equal objects (boxes may overlap): any unused anchor will do.
            let free: Vec<usize> =
                (0..n).filter(|&i| chosen.iter().all(|&c| anchors.row(c) != anchors.row(i))).collect();
            if free.is_empty() {
                break;
            }
            free[stream.random_range(0..free.len())]
        };
        chosen.push(next);
    }
    anchors.subset(&chosen)
}

/// The first index whose running sum of weights exceeds `target`; never one of weight zero unless all are.
pub(super) fn weighted_index(weights: &[f64], mut target: f64) -> usize {
    for (i, w) in weights.iter().enumerate() {
        if target < *w {
            return i;
        }
        target -= w;
    }
    // Rounding overshot the end.
    weights.iter().rposition(|w| *w > 0.0).unwrap_or(0)
}

/// Alternates, starting from `centres`.
pub(super) fn descend<M: Model>(model: &M, mut centres: Points, max_iterations: usize) -> Run {
    let k = centres.len();
    let mut count = DistanceCount::default();
    let mut labels: Vec<u32> = Vec::new();
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); k];
    let mut iteration = 0;
    loop {
        iteration += 1;
        let before = std::mem::replace(&mut labels, assign(model, &mut centres, &mut count));
        let converged = before == labels;
        if converged || iteration >= max_iterations {
            return Run::new(model, &labels, &centres, iteration, converged, count);
        }
        for (l, now) in members_of(&labels, k).into_iter().enumerate() {
            if !now.is_empty() && now != members[l] {
                let moved = model.centre(&now, centres.row(l));
                centres.row_mut(l).copy_from_slice(&moved);
            }
            members[l] = now;
        }
    }
}

/// The members of each of `k` clusters, in order.
pub(super) fn members_of(labels: &[u32], k: usize) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); k];
    for (i, &l) in labels.iter().enumerate() {
        members[l as usize].push(i);
    }
    members
}

/// The nearest centre of every object; centres without objects are moved to where they help.
pub(super) fn assign<M: Model>(model: &M, centres: &mut Points, count: &mut DistanceCount) -> Vec<u32> {
    let (n, k) = (model.anchors().len(), centres.len());
    // Each move lowers the cost of an object, so this terminates; the limit guards against
    // rounding.
    let mut moves_left = n + k;
    loop {
        let labels: Vec<u32> = (0..n).map(|i| model.nearest(i, centres, count) as u32).collect();
        let mut sizes = vec![0usize; k];
        for &l in &labels {
            sizes[l as usize] += 1;
        }
        let Some(empty) = sizes.iter().position(|&s| s == 0).filter(|_| moves_left > 0) else {
            return labels;
        };
        moves_left -= 1;
        let anchors = model.anchors();
        let farthest = (0..n)
            .filter(|&i| sizes[labels[i] as usize] > 1)
            .map(|i| (model.cost(i, centres.row(labels[i] as usize)) - model.cost(i, anchors.row(i)), i))
            .filter(|(excess, _)| *excess > 0.0)
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let Some((_, i)) = farthest else { return labels };
        centres.row_mut(empty).copy_from_slice(anchors.row(i));
    }
}
