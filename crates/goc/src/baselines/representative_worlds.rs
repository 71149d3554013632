//! Representative possible worlds: cluster only worlds that represent many others (after Liu et al.
//! 2021, "RPC").
//!
//! Some of the drawn worlds are marginal, i.e. unlike nearly all others, and an equal vote for each
//! lets them disturb the consensus. Liu et al. choose a few worlds that represent the whole well,
//! as measured by the Jensen-Shannon divergence between the distributions of worlds, and cluster
//! these together.
//!
//! # Implementation
//! - A world's distribution: for every feature the shares of its `n` points in `B` bins, which are
//!   equally full over all candidates together. The divergence of two worlds is the mean over
//!   features of `JS(p, r) = (KL(p | mean) + KL(r | mean)) / 2`, between 0 and `ln 2`.
//! - The loss of representatives `R`, `sum_w min_{r in R} JS(w, r)`, is minimised greedily: each
//!   step adds the world that lowers it most.
//! - A representative has the weight of the share of worlds that it is nearest to, so a marginal
//!   world represents at most itself. The consensus is then that of [`super::ensemble`]: weighted
//!   co-association, average linkage.
//!
//! # Simplifications
//! The published method couples the chosen worlds in one spectral clustering with a learned
//! consistency term: for that see [`super::consistent_worlds`]. Here each world is clustered on its
//! own, by any oracle, and the coupling is the weighted co-association. The original loss and
//! search differ in detail: the idea is theirs, but the numbers need not agree.
//!
//! Cost: `W^2 q B` for divergences, `W^2 R` for the choice, then `R` runs of the oracle instead of
//! `W`.

use rayon::prelude::*;

use super::ensemble::Ensemble;
use super::possible_worlds::{World, cluster_worlds, draw};
use super::{Grouped, Method, Result, Tick, check_k};
use crate::Candidates;
use crate::oracle::Oracle;

/// The number of bins of a feature; fewer if there are few objects.
const BINS: usize = 16;

/// Clustering by representative worlds.
///
/// ```
/// use goc::baselines::{Method, representative_worlds::RepresentativeWorlds};
/// use goc::candidates::CandidatesBuilder;
/// use goc::oracle::k_means::KMeans;
/// let mut builder = CandidatesBuilder::new(1);
/// for set in [[0.0, 1.0], [0.2, 0.8], [7.0, 9.0]] {
///     builder.push(&set, &[])?;
/// }
/// let oracle = KMeans::default().starts(5);
/// let grouped = RepresentativeWorlds::new(&oracle, 2).group(&builder.build()?, 1)?;
/// assert_eq!(grouped.partition.canonical().labels(), [0, 0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RepresentativeWorlds<'a> {
    oracle: &'a dyn Oracle,
    k: usize,
    worlds: usize,
    representatives: usize,
}

impl<'a> RepresentativeWorlds<'a> {
    /// Clusters the representatives into `k` with `oracle`: 20 of 200 worlds.
    pub fn new(oracle: &'a dyn Oracle, k: usize) -> Self {
        Self { oracle, k, worlds: 200, representatives: 20 }
    }

    setters! {
        /// The number of worlds to draw; at least one.
        worlds: usize = worlds.max(1);
        /// The number of them to cluster; at least one.
        representatives: usize = representatives.max(1);
    }

    /// The chosen worlds, each with the share of all drawn worlds that it represents.
    pub fn choose(&self, candidates: &Candidates, seed: u64) -> Vec<World> {
        representatives(candidates, self.worlds, self.representatives, seed)
    }
}

/// Up to `count` of this many drawn worlds, each with the share of them that it represents.
pub(super) fn representatives(candidates: &Candidates, worlds: usize, count: usize, seed: u64) -> Vec<World> {
    let drawn = draw(candidates, worlds, seed);
    let divergences = divergences(candidates, &drawn);
    let chosen = greedy(&divergences, count);
    let mut stands_for = vec![0usize; chosen.len()];
    for row in &divergences {
        stands_for[super::alternating_minimisation::least(chosen.iter().map(|&r| row[r]))] += 1;
    }
    let worlds = chosen.iter().zip(stands_for).map(|(&r, count)| World {
        choice: drawn[r].choice.clone(),
        probability: count as f64 / drawn.len() as f64,
    });
    worlds.collect()
}

impl Method for RepresentativeWorlds<'_> {
    fn name(&self) -> &str {
        "representative-worlds"
    }

    /// The iterations are the worlds that were clustered.
    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        check_k(self.k, candidates)?;
        let worlds = self.choose(candidates, seed);
        let partitions = cluster_worlds(self.oracle, self.k, candidates, &worlds, seed)?;
        let iterations = partitions.len();
        let ensemble = Ensemble::exact(partitions, worlds.into_iter().map(|w| w.probability).collect())?;
        let partition = ensemble.consensus(self.k)?;
        let confidence = ensemble.confidence(&partition);
        Ok(Grouped { confidence, iterations, ..Grouped::new(partition) })
    }
}

/// Mean Jensen-Shannon divergence over features between all worlds.
fn divergences(candidates: &Candidates, worlds: &[World]) -> Vec<Vec<f64>> {
    let (n, q) = (candidates.objects(), candidates.features());
    let bins = BINS.min(n.isqrt() + 1);
    let edges: Vec<Vec<f64>> = (0..q)
        .map(|f| {
            let mut all: Vec<f64> = (0..n).flat_map(|i| candidates.feature(i, f)).copied().collect();
            all.sort_by(f64::total_cmp);
            (1..bins).map(|b| all[b * all.len() / bins]).collect()
        })
        .collect();
    let histograms: Vec<Vec<f64>> = worlds
        .par_iter()
        .map(|world| {
            let mut shares = vec![0.0; q * bins];
            for (i, &j) in world.choice.iter().enumerate() {
                for (f, edges) in edges.iter().enumerate() {
                    let x = candidates.feature(i, f)[j as usize];
                    shares[f * bins + edges.partition_point(|e| *e <= x)] += 1.0 / n as f64;
                }
            }
            shares
        })
        .collect();
    histograms
        .par_iter()
        .enumerate()
        .map(|(a, p)| {
            let between = |(b, r): (usize, &Vec<f64>)| {
                // The lower index first, so that both halves of the matrix are rounded alike.
                let js = if a <= b { jensen_shannon(p, r) } else { jensen_shannon(r, p) };
                js / q as f64
            };
            histograms.iter().enumerate().map(between).collect()
        })
        .collect()
}

/// Jensen-Shannon divergence in nats, summed over all features.
fn jensen_shannon(p: &[f64], r: &[f64]) -> f64 {
    let part = |a: f64, b: f64| if a > 0.0 { 0.5 * a * (2.0 * a / (a + b)).ln() } else { 0.0 };
    p.iter().zip(r).map(|(&a, &b)| part(a, b) + part(b, a)).sum::<f64>().max(0.0)
}

/// Up to `count` worlds, each the one that lowers the loss most; stops early if nothing can be
/// gained.
fn greedy(divergences: &[Vec<f64>], count: usize) -> Vec<usize> {
    let mut nearest = vec![f64::INFINITY; divergences.len()];
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < count.min(divergences.len()) {
        let loss = |row: &Vec<f64>| -> f64 { row.iter().zip(&nearest).map(|(d, n)| d.min(*n)).sum() };
        let best = super::alternating_minimisation::least(divergences.iter().map(loss));
        if chosen.contains(&best) {
            break;
        }
        for (n, d) in nearest.iter_mut().zip(&divergences[best]) {
            *n = n.min(*d);
        }
        chosen.push(best);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::possible_worlds::PossibleWorlds;
    use crate::baselines::testing::{blobs, identical, one_object};
    use crate::method::MethodError;
    use crate::oracle::k_means::KMeans;

    #[test]
    fn the_divergence_has_its_closed_forms() {
        assert_eq!(jensen_shannon(&[0.5, 0.5], &[0.5, 0.5]), 0.0);
        assert!((jensen_shannon(&[1.0, 0.0], &[0.0, 1.0]) - 2f64.ln()).abs() < 1e-15);
        // (1/2, 1/2) against (1, 0): mean (3/4, 1/4).
        let half = 0.5 * (0.5 * (2.0f64 / 3.0).ln() + 0.5 * 2f64.ln()) + 0.5 * (4.0f64 / 3.0).ln();
        assert!((jensen_shannon(&[0.5, 0.5], &[1.0, 0.0]) - half).abs() < 1e-15);
    }

    #[test]
    fn the_first_choice_is_the_medoid_and_each_next_lowers_the_loss_most() {
        let candidates = blobs(30, 5, 2, 3.0, 1);
        let worlds = draw(&candidates, 12, 1);
        let d = divergences(&candidates, &worlds);
        let loss = |set: &[usize]| -> f64 {
            d.iter().map(|row| set.iter().map(|&r| row[r]).fold(f64::INFINITY, f64::min)).sum()
        };
        let chosen = greedy(&d, 4);
        assert_eq!(chosen.len(), 4);
        for taken in 0..4 {
            let found = loss(&chosen[..=taken]);
            for other in 0..12 {
                let with = [&chosen[..taken], &[other]].concat();
                assert!(found <= loss(&with) + 1e-12);
            }
        }
        assert!((0..12).all(|a| d[a][a] == 0.0 && (0..12).all(|b| d[a][b] == d[b][a])));
    }

    #[test]
    fn a_marginal_world_is_not_chosen_before_a_common_one() {
        // Ten worlds alike, one unlike: distance 0 and 0.6.
        let mut d = vec![vec![0.0; 11]; 11];
        for other in 0..10 {
            (d[other][10], d[10][other]) = (0.6, 0.6);
        }
        assert_eq!(greedy(&d, 1), [0]);
        // And it ends when every world is represented.
        assert_eq!(greedy(&d, 5), [0, 10]);
    }

    #[test]
    fn all_worlds_representative_is_the_plain_vote_of_all() {
        let candidates = blobs(40, 6, 2, 2.0, 3);
        let oracle = crate::oracle::linkage::Linkage::default();
        let all = RepresentativeWorlds::new(&oracle, 4).worlds(15).representatives(15);
        assert_eq!(all.choose(&candidates, 2).len(), 15);
        let vote = PossibleWorlds::new(&oracle, 4).worlds(15).group(&candidates, 2).unwrap();
        let grouped = all.group(&candidates, 2).unwrap();
        assert!(grouped.partition.same_grouping(&vote.partition));
        for (a, b) in grouped.confidence.iter().zip(&vote.confidence) {
            assert!((a - b).abs() < 1e-12);
        }
    }

    #[test]
    fn degenerate_inputs_have_a_defined_answer() {
        let oracle = KMeans::default().starts(2);
        let one = RepresentativeWorlds::new(&oracle, 1).group(&one_object(), 1).unwrap();
        assert_eq!(one.partition.labels(), [0]);
        assert!(RepresentativeWorlds::new(&oracle, 3).group(&identical(6), 1).unwrap().partition.k() <= 3);
        let candidates = blobs(9, 4, 2, 0.5, 2);
        assert_eq!(RepresentativeWorlds::new(&oracle, 9).group(&candidates, 1).unwrap().partition.k(), 9);
        let error = |k| RepresentativeWorlds::new(&oracle, k).group(&candidates, 1).unwrap_err();
        assert_eq!(error(0), MethodError::NoClusters);
        assert_eq!(error(10), MethodError::MoreClustersThanObjects { k: 10, n: 9 });
    }
}
