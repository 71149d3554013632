//! Trimming: a share of the objects is in no cluster and affects no centre.
//!
//! GOC assigns every object to a cluster, even the field between the groups. Trimmed k-means
//! (Cuesta-Albertos, Gordaliza & Matran 1997) leaves out the share of the objects that lie farthest
//! from every centre. With candidates to choose from, let `v_i` be the value that step (III) gives
//! object i, and h = floor(share n). Then
//!
//! ```text
//! J = sum over the n - h least of  v_i = min_{j, k} |x_ij - mu_k|^2 + lambda * Pen_ij.
//! ```
//!
//! After every step (III) the h objects with the largest values are trimmed: they do not enter the
//! means, the next clustering or the objective, but they choose again with the others and return
//! when a centre comes near. For given centres this choice minimises J, so with k-means, the
//! squared distance and constant K no step increases it, as without trimming. Among equal values
//! the later object is trimmed.
//!
//! For a plain descent, a centre on a single distant object is a deep local minimum of J. The
//! thorough search ([`super::Search`]) is therefore recommended: it recognises that moving such a
//! centre elsewhere costs no more than one trimmed object.

use crate::Partition;
use crate::confidence::noise::set_apart;

/// How many objects are trimmed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Trim {
    /// This share of the objects, from 0 to below 1, rounded down to whole objects.
    Share(f64),
    /// As many as are estimated to be in no group, learned from backgrounds without groups.
    Auto,
}

/// Nothing is trimmed.
impl Default for Trim {
    fn default() -> Self {
        Self::Share(0.0)
    }
}

/// `share * n` rounded down; a product that is below an integer only by rounding counts as that
/// integer.
pub(super) fn count(share: f64, n: usize) -> usize {
    const ROUNDING: f64 = 1e-9;
    (share * n as f64 + ROUNDING) as usize
}

/// Marks the `count` objects with the largest values, the later of equal ones; empty if `count` is
/// 0.
pub(super) fn worst(values: impl Iterator<Item = f64>, count: usize) -> Vec<bool> {
    if count == 0 {
        return Vec::new();
    }
    let mut order: Vec<(f64, usize)> = values.enumerate().map(|(i, value)| (value, i)).collect();
    let n = order.len();
    order.select_nth_unstable_by(n - count, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut marked = vec![false; n];
    order[n - count..].iter().for_each(|&(_, i)| marked[i] = true);
    marked
}

/// Whether object `i` is marked; `marks` is empty if nothing is marked.
#[inline(always)]
pub(super) fn is_marked(marks: &[bool], i: usize) -> bool {
    marks.get(i).copied().unwrap_or(false)
}

/// The clusters by the index of their centre, below `bound`: empty clusters are removed, and each
/// trimmed object forms a cluster of its own after the others.
pub(super) fn partition(labels: &[u32], bound: usize, trimmed: &[bool]) -> Partition {
    let all = Partition::from_bounded(labels, bound);
    if trimmed.is_empty() { all } else { set_apart(&all, trimmed) }
}

/// The number of marked objects.
pub(super) fn marked(marks: &[bool]) -> usize {
    marks.iter().filter(|mark| **mark).count()
}

/// The objects that are not marked, ascending.
pub(super) fn unmarked(marks: &[bool], n: usize) -> Vec<usize> {
    (0..n).filter(|&i| !is_marked(marks, i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::CandidatesBuilder;
    use crate::optimistic::fixtures::Numbers;
    use crate::optimistic::{Clustering, KRule, Optimistic, OptimisticError, Preset, Search};
    use crate::oracle::k_means::KMeans;
    use crate::points::squared_distance;
    use crate::{Candidates, Points};
    use proptest::prelude::*;

    const LAMBDA: f64 = 0.05;

    fn run(goc: Optimistic, candidates: &Candidates, seed: u64) -> Clustering {
        goc.lambda(LAMBDA).check(candidates).unwrap().run(&KMeans::default().starts(5), seed).unwrap()
    }

    fn constant(k: usize, share: f64) -> Optimistic {
        Optimistic::new(k).k_rule(KRule::Constant).trim(Trim::Share(share))
    }

    #[test]
    fn a_share_of_nothing_is_the_run_without_trimming() {
        let candidates = Numbers::new(3, false).candidates(2, &[5; 40], true);
        for preset in [Preset::Paper, Preset::Authors] {
            for goc in [
                Optimistic::preset(preset, 6).search(Search::Thorough),
                Optimistic::preset(preset, 6).swaps(9),
            ] {
                let with = run(goc.clone().trim(Trim::Share(0.024)), &candidates, 4);
                assert_eq!(with, run(goc, &candidates, 4));
                assert!(with.trimmed.is_empty());
            }
        }
    }

    proptest! {
        #[test]
        fn exactly_the_share_is_trimmed_it_is_the_worst_and_the_objective_never_rises(
            n in 8usize..40, k in 1usize..4, share in 0.0..0.6, seed in any::<u64>(), thorough in any::<bool>(),
        ) {
            let candidates = Numbers::new(seed, false).candidates(2, &vec![4; n], true);
            let search = if thorough { Search::Thorough } else { Search::Plain };
            let found = run(constant(k, share).search(search), &candidates, 1);
            let trimmed = (share * n as f64).floor() as usize;
            prop_assert_eq!(marked(&found.trimmed), trimmed);
            prop_assert_eq!(found.partition.k(), found.clusters() + trimmed);
            prop_assert_eq!(found.centres.len(), found.partition.k());
            let values: Vec<f64> = found.history.iter().map(|t| t.objective).collect();
            prop_assert!(values.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-12)), "{values:?}");
            prop_assert!(found.objective <= values[values.len() - 1] * (1.0 + 1e-12));
            // The objective is that of the kept objects around the means of the kept objects.
            let of = |i: usize| {
                let centre = found.centres.row(found.partition.labels()[i] as usize);
                let (at, own) = (found.chosen[i] as usize, candidates.candidate(i, found.chosen[i] as usize));
                squared_distance(&own, centre) + LAMBDA * candidates.penalty(i, at)
            };
            let total: f64 = unmarked(&found.trimmed, n).into_iter().map(of).sum();
            prop_assert!((total - found.objective).abs() < 1e-9 * (1.0 + total));
        }
    }

    #[test]
    fn the_thorough_search_finds_the_best_of_all_choices_clusters_and_trimmings() {
        let (n, k, h) = (6, 2, 2);
        let mut hits = 0;
        for seed in 0..12 {
            let candidates = Numbers::new(seed, false).candidates(1, &[2; 6], true);
            // Each object is trimmed, or has one of two candidates in one of two clusters.
            let mut best = f64::INFINITY;
            for code in 0..5usize.pow(n as u32) {
                let option = |i: usize| code / 5usize.pow(i as u32) % 5;
                if (0..n).filter(|&i| option(i) == 4).count() != h {
                    continue;
                }
                let mut total = 0.0;
                for c in 0..k {
                    let members: Vec<usize> = (0..n).filter(|&i| option(i) / 2 == c).collect();
                    let place = |i: &usize| candidates.candidate(*i, option(*i) % 2)[0];
                    let mean = members.iter().map(place).sum::<f64>() / members.len().max(1) as f64;
                    let value = |i: &usize| {
                        (place(i) - mean).powi(2) + LAMBDA * candidates.penalty(*i, option(*i) % 2)
                    };
                    total += members.iter().map(value).sum::<f64>();
                }
                best = best.min(total);
            }
            let goc = || constant(k, h as f64 / n as f64).search(Search::Thorough);
            let least = (0..8).map(|s| run(goc(), &candidates, s).objective).fold(f64::INFINITY, f64::min);
            assert!(least > best - 1e-9, "{seed}: {least} {best}");
            hits += usize::from(least < best + 1e-9);
        }
        assert!(hits >= 10, "{hits} of 12");
    }

    /// Three tight groups of ten, and every sixth object far away from all; in the given order.
    fn planted(order: &[usize]) -> Candidates {
        let mut builder = CandidatesBuilder::new(2);
        for &i in order {
            let (far, wiggle) = (i % 6 == 5, 0.01 * (i * 7 % 11) as f64);
            let place = match far {
                true => [40.0 * (i as f64).sin() + 60.0, 50.0 * (i as f64).cos() - 90.0],
                false => [(i % 3) as f64 * 4.0 + wiggle, wiggle],
            };
            builder.push(&[place[0], place[1], place[0] + 0.2, place[1]], &[0.0, 1.0]).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn planted_outliers_are_trimmed_in_whatever_order_the_objects_come() {
        let forth: Vec<usize> = (0..36).collect();
        let back: Vec<usize> = (0..36).rev().collect();
        let goc = || constant(3, 6.0 / 36.0).search(Search::Thorough);
        let one = run(goc(), &planted(&forth), 1);
        let mut two = run(goc(), &planted(&back), 1);
        assert_eq!(one.trimmed, forth.iter().map(|i| i % 6 == 5).collect::<Vec<_>>());
        two.trimmed.reverse();
        assert_eq!(one.trimmed, two.trimmed);
        let labels: Vec<u32> = two.partition.labels().iter().rev().copied().collect();
        assert!(one.partition.same_grouping(&Partition::from_labels(&labels)));
        assert!((one.objective - two.objective).abs() < 1e-12);
        let means: Vec<f64> = one.moving_centres().values().to_vec();
        assert!(means.iter().all(|x| x.abs() < 9.0), "{means:?}");
    }

    #[test]
    fn shares_and_numbers_that_cannot_be_are_named() {
        let plain =
            Candidates::from_points(&Points::new((0..10).map(f64::from).collect(), 1).unwrap()).unwrap();
        for share in [-0.1, 1.0, f64::NAN, f64::INFINITY] {
            let error = constant(2, share).check(&plain).unwrap_err().to_string();
            assert_eq!(error, format!("trim is {share}; it is a share of the objects, from 0 to below 1"));
        }
        let error = constant(5, 0.6).check(&plain).unwrap_err();
        assert_eq!(error, OptimisticError::MoreClustersThanKept { k: 5, kept: 4, n: 10 });
        // 0.29 * 100 is a little less than 29.
        assert_eq!((count(0.29, 100), count(0.299, 100), count(0.999, 10)), (29, 29, 9));
    }
}
