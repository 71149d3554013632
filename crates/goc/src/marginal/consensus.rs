//! From many drawn partitions to a single one.
//!
//! `P_ij` is the share of draws in which `i` and `j` are together. The estimate minimises the lower
//! bound of the expected variation of information (Wade & Ghahramani 2018),
//!
//! ```text
//! sum_i  a log2 |C_i|  -  2 log2 sum_{j in C_i} P_ij,
//! ```
//!
//! where `C_i` is the cluster of `i`. The cost `a` is 1, or larger if joining objects that are
//! apart is worse than separating objects that are together (Dahl, Johnson & Müller 2022). The
//! estimate is the best of all cuts of the average linkage of `1 - P` and of the drawn partitions
//! themselves.
//!
//! If `n^2 / 2` numbers do not fit in memory there is no linkage. Instead, objects of the best draw
//! are moved one by one ([`super::moves`]). After a linkage such moves are omitted: on ten mock
//! Milky Ways they lowered the scores (NMI from 0.939 to 0.936).

use rayon::prelude::*;

use super::co_clustering::CoClustering;
use super::draws::Draw;
use super::moves;
use crate::Partition;
use crate::oracle::dissimilarities::Dissimilarities;
use crate::oracle::linkage::{Linkage, Method};

/// The largest number of objects for which the average linkage is tried: 100 MB of distances.
const LINKAGE_UP_TO: usize = 5000;

/// About this many draws, spread over all chains, are considered as estimates: evaluating one costs
/// as much as evaluating a cut.
const CONSIDERED: usize = 60;

/// How many of them are improved by single moves if there is no linkage.
const IMPROVED: usize = 8;

/// The partition with the lowest cost found, in which each object of `apart` is alone.
pub(super) fn estimate(together: &CoClustering, merge_cost: f64, apart: &[bool]) -> Partition {
    estimate_within(together, merge_cost, apart, LINKAGE_UP_TO)
}

/// The same with a linkage of at most this many objects.
fn estimate_within(
    together: &CoClustering,
    merge_cost: f64,
    apart: &[bool],
    linkage_up_to: usize,
) -> Partition {
    let (n, draws) = (together.len(), together.draws());
    let kept: Vec<usize> = (0..n).filter(|i| !apart[*i]).collect();
    let mut candidates: Vec<Vec<u32>> = Vec::new();
    if !kept.is_empty()
        && kept.len() <= linkage_up_to
        && let Ok(distances) = Dissimilarities::from_condensed(distances(together, &kept))
    {
        // Objects that are kept in groups but occasionally drawn in the field may end up alone.
        let clusters = |draw: &Draw| draw.clusters() + kept.iter().filter(|i| draw.in_field(**i)).count();
        let most = draws.iter().map(clusters).max().unwrap_or(0).max(1);
        candidates.extend(cuts(distances, most).into_iter().map(|cut| spread_out(&cut, &kept, n)));
    }
    let every = draws.len().div_ceil(CONSIDERED).max(1);
    let of_draw = |draw: &Draw| -> Vec<u32> {
        let group = |i: usize| !draw.in_field(i) && !apart[i];
        // Labels above those of the clusters for objects that are alone.
        (0..n).map(|i| if group(i) { draw.label(i) } else { (draw.clusters() + i) as u32 }).collect()
    };
    candidates.extend(draws.iter().step_by(every).map(of_draw));
    let costs: Vec<f64> = candidates.par_iter().map(|labels| cost(together, labels, merge_cost)).collect();
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by(|a, b| costs[*a].total_cmp(&costs[*b]).then(a.cmp(b)));
    if kept.len() <= linkage_up_to {
        let best = order.first().map_or_else(|| vec![0; n], |at| candidates.swap_remove(*at));
        return Partition::from_labels(&best).canonical();
    }
    // Single moves hardly ever take two clusters apart, so several draws are improved.
    let improved = order.par_iter().take(IMPROVED).map(|at| {
        let mut labels = candidates[*at].clone();
        moves::improve(draws, &mut labels, &kept, merge_cost);
        (cost(together, &labels, merge_cost), labels)
    });
    let improved: Vec<(f64, Vec<u32>)> = improved.collect();
    let best = improved.into_iter().reduce(|best, own| if own.0 < best.0 { own } else { best });
    Partition::from_labels(&best.map_or_else(|| vec![0; n], |(_, labels)| labels)).canonical()
}

/// `1 - P` for all pairs of these objects, in the order of [`Dissimilarities`].
fn distances(together: &CoClustering, kept: &[usize]) -> Vec<f64> {
    let rows = (0..kept.len()).into_par_iter().map(|a| {
        let mut row = vec![1.0; kept.len() - a - 1];
        let mut at = a + 1;
        for (j, p) in together.partners(kept[a]) {
            while at < kept.len() && kept[at] < j {
                at += 1;
            }
            if kept.get(at) == Some(&j) {
                row[at - a - 1] = 1.0 - p;
            }
        }
        row
    });
    rows.collect::<Vec<_>>().concat()
}

/// The lower bound, up to a constant.
fn cost(together: &CoClustering, labels: &[u32], merge_cost: f64) -> f64 {
    let partition = Partition::from_labels(labels);
    let sizes = partition.sizes();
    let overlaps = together.overlaps(&partition);
    let of_object = |(overlap, label): (&f64, &u32)| {
        merge_cost * libm::log2(sizes[*label as usize] as f64) - 2.0 * libm::log2(*overlap)
    };
    overlaps.iter().zip(partition.labels()).map(of_object).sum()
}

/// The cuts of the average linkage into up to twice as many clusters as the draws have.
fn cuts(apart: Dissimilarities, most_clusters: usize) -> Vec<Vec<u32>> {
    let n = apart.len();
    let Ok(tree) = Linkage::new(Method::Average).fit_matrix(apart) else { return Vec::new() };
    let most = (2 * most_clusters).min(n);
    (1..=most).filter_map(|k| tree.cut(k).ok()).map(|cut| cut.labels().to_vec()).collect()
}

/// The labels of some of `n` objects, with all others alone.
fn spread_out(labels: &[u32], of: &[usize], n: usize) -> Vec<u32> {
    let beyond = labels.iter().max().map_or(0, |most| *most + 1);
    let mut all: Vec<u32> = (0..n as u32).map(|i| beyond + i).collect();
    for (&i, &label) in of.iter().zip(labels) {
        all[i] = label;
    }
    all
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::Stream;
    use crate::random::stream;

    /// Three groups of four, where one object changes group in a fifth of the draws.
    fn together() -> CoClustering {
        let label = |d: u32, i: u32| if i == 5 && d.is_multiple_of(5) { 2 } else { i / 4 };
        let draws = (0..20).map(|d| Draw::new(&(0..12).map(|i| label(d, i)).collect::<Vec<_>>()));
        CoClustering::of_draws(&draws.collect::<Vec<_>>(), 12)
    }

    #[test]
    fn distances_are_one_minus_the_probabilities() {
        let together = together();
        let kept = [0, 1, 4, 5, 9];
        let all = Dissimilarities::from_condensed(distances(&together, &kept)).unwrap();
        for a in 0..5 {
            for b in (0..5).filter(|b| *b != a) {
                assert_eq!(all.between(a, b), 1.0 - together.between(kept[a], kept[b]));
            }
        }
        assert_eq!((all.between(0, 1), all.between(0, 2)), (0.0, 1.0));
        assert_eq!((together.between(5, 4), together.between(5, 9)), (0.8, 0.2));
    }

    /// Eight groups of ten; in every draw some objects change group and some are in the field, and
    /// in every fifth the first two groups are one.
    fn drawn(seed: u64) -> CoClustering {
        let rng = &mut stream(seed, 0);
        let draw = |t: u32, rng: &mut Stream| {
            let own = |i: u32| if t.is_multiple_of(5) && i < 20 { 0 } else { i / 10 };
            let label = |i: u32| if rng.random::<f64>() < 0.15 { rng.random_range(0..8) } else { own(i) };
            let labels: Vec<u32> = (0..80).map(label).collect();
            let field: Vec<bool> = (0..80).map(|_| rng.random::<f64>() < 0.1).collect();
            Draw::with_field(&labels, &field)
        };
        let draws: Vec<Draw> = (0..60).map(|t| draw(t, rng)).collect();
        CoClustering::of_draws(&draws, 80)
    }

    #[test]
    fn on_small_sets_moves_find_what_the_linkage_finds() {
        for seed in 0..10 {
            let together = drawn(seed);
            let mut apart = [false; 80];
            apart[7 + seed as usize] = true;
            let of = |up_to: usize| estimate_within(&together, 1.1, &apart, up_to);
            let (linked, moved) = (of(LINKAGE_UP_TO), of(0));
            assert_eq!(linked, moved, "seed {seed}");
            assert_eq!(moved.k(), 9);
        }
    }

    #[test]
    fn the_estimate_finds_the_groups_and_keeps_objects_apart() {
        let truth: Vec<u32> = (0..12).map(|i| i / 4).collect();
        assert_eq!(estimate(&together(), 1.0, &[false; 12]).labels(), truth);
        let mut apart = [false; 12];
        apart[3] = true;
        assert_eq!(estimate(&together(), 1.0, &apart).labels(), [0, 0, 0, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
    }
}
