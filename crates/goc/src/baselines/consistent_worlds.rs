//! Representative possible worlds, clustered jointly by a spectral clustering that learns what they
//! have in common (after Liu et al. 2021, "RPC").
//!
//! [`super::representative_worlds`] chooses a few representative worlds and clusters each on its
//! own. Liu et al. cluster them jointly: a consistency term is learned within spectral clustering,
//! and every world is drawn towards it. Let `L_r` be the normalised Laplacian of the
//! nearest-neighbour graph of world r, `p_r` the share of worlds that it represents, `U_r` its K
//! orthonormal vectors and `U` those of the consensus. The objective is
//!
//! ```text
//! J = sum_r p_r [ tr(U_r' L_r U_r) + (c / 2) |U_r U_r' - U U'|^2 ]
//! ```
//!
//! The first term is the spectral clustering of a world, the second the distance of its clusters
//! from those of all worlds. J is minimised alternately, each step exactly, so it never increases:
//!
//! - `U_r`: the K largest eigenvectors of `(1 - L_r) + c U U'`;
//! - `U`: the K largest eigenvectors of `sum_r p_r U_r U_r'`.
//!
//! The rows of `U`, normalised to unit length, are clustered by k-means (Ng, Jordan & Weiss 2001).
//!
//! # Relation to the original
//! The worlds, and the joint learning of all spectral embeddings with a consensus, are theirs. The
//! form of the term is that of co-regularised spectral clustering (Kumar, Rai & Daumé 2011), whose
//! squared distance of subspaces does not depend on the choice of the vectors; the original weights
//! and stopping rule may differ in detail.
//!
//! Cost: a search for K eigenvectors for each of R worlds and each round, with at most ten rounds;
//! each takes `n (3 K + 64)^2` operations or, for a few hundred objects, `10 n^3`. Memory: `R n K`
//! numbers.

use rayon::prelude::*;

use super::representative_worlds::representatives;
use super::{Grouped, Method, MethodError, Result, Tick, check_k};
use crate::eigen::lanczos::{BLOCK, Lane, largest};
use crate::oracle::Start;
use crate::oracle::graph::distances_are_finite;
use crate::oracle::k_means::{KMeans, Seeding};
use crate::oracle::spectral::{Graph, neighbour_rows};
use crate::{Candidates, Points, random};

/// The weight `c` of the consistency, equal to that of the cut itself. Not tuned.
pub const CONSISTENCY: f64 = 1.0;
/// The residual at which an eigenvector is accurate enough.
const ACCURATE: f64 = 1e-7;
/// Maximum number of restarts of the search for eigenvectors.
const RESTARTS: usize = 300;

/// Clustering by representative worlds with a learned consistency term.
///
/// ```
/// use goc::baselines::{Method, consistent_worlds::ConsistentWorlds};
/// use goc::candidates::CandidatesBuilder;
/// let mut builder = CandidatesBuilder::new(1);
/// for x in [0.0, 0.2, 0.5, 0.6, 8.0, 8.3, 8.5, 9.0] {
///     builder.push(&[x, x + 0.1], &[])?;
/// }
/// let grouped = ConsistentWorlds::new(2).neighbours(3).group(&builder.build()?, 1)?;
/// assert_eq!(grouped.partition.canonical().labels(), [0, 0, 0, 0, 1, 1, 1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ConsistentWorlds {
    k: usize,
    worlds: usize,
    representatives: usize,
    consistency: f64,
    neighbours: usize,
    rounds: usize,
    tolerance: f64,
}

/// The worlds' clusterings, coupled.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupled {
    /// The K vectors of the consensus, one after another.
    pub consensus: Vec<f64>,
    /// J after each round; the first round is without the consensus term.
    pub history: Vec<f64>,
    /// False if the limit of rounds was reached first, or an eigenvector was not accurate.
    pub converged: bool,
}

impl ConsistentWorlds {
    /// The default number of worlds that are clustered.
    pub const REPRESENTATIVES: usize = 20;

    /// `k` clusters, from 20 of 200 worlds.
    pub fn new(k: usize) -> Self {
        let (worlds, representatives) = (200, Self::REPRESENTATIVES);
        let (neighbours, rounds) = (10, 10);
        Self { k, worlds, representatives, consistency: CONSISTENCY, neighbours, rounds, tolerance: 1e-4 }
    }

    setters! {
        /// The number of worlds to draw; at least one.
        worlds: usize = worlds.max(1);
        /// The number of them to cluster; at least one.
        representatives: usize = representatives.max(1);
        /// The weight of the consistency; 0 clusters every world separately.
        consistency: f64;
        /// Edges of the graph go to this many nearest neighbours, counting the object itself as the
        /// first.
        neighbours: usize = neighbours.max(2);
        /// Maximum number of rounds after the first.
        rounds: usize;
        /// The run ends once a round lowers J by no more than this share of K.
        tolerance: f64;
    }

    /// Couples these worlds, each with its weight.
    pub fn couple(&self, worlds: &[(Points, f64)], seed: u64) -> Result<Coupled> {
        if !(self.consistency.is_finite() && self.consistency >= 0.0) {
            let (method, name, must) = ("consistent-worlds", "consistency", "a finite number not below 0");
            return Err(MethodError::Parameter { method, name, value: self.consistency, must });
        }
        if worlds.iter().any(|(points, _)| !distances_are_finite(points)) {
            let reason = "the distances are too large to be squared; scale the features".into();
            return Err(MethodError::Failed { method: "consistent-worlds", reason });
        }
        let (n, k) = (worlds[0].0.len(), self.k);
        let others = (self.neighbours - 1).min(n - 1);
        let graphs: Vec<(Graph, f64)> = worlds
            .par_iter()
            .map(|(points, weight)| (Graph::new(neighbour_rows(points, others)), *weight))
            .collect();
        let own = |consensus: Option<&[f64]>| -> Vec<Own> {
            let pull = consensus.map_or(0.0, |_| self.consistency);
            let solve = |(r, (graph, weight)): (usize, &(Graph, f64))| {
                let apply = |x: &[Lane], y: &mut [Lane]| {
                    graph.multiply(x, y);
                    add_projected(consensus.unwrap_or(&[]), pull, x, y);
                    y.iter_mut().flatten().for_each(|v| *v /= 1.0 + pull);
                };
                let mut stream = random::stream(seed, r as u64);
                let found = largest(n, k, apply, ACCURATE, RESTARTS, &mut stream);
                let cut = k as f64 - graph_trace(graph, &found.vectors, n);
                Own { vectors: found.vectors, weight: *weight, cut, converged: found.converged }
            };
            graphs.par_iter().enumerate().map(solve).collect()
        };
        let mut coupled = Coupled { consensus: Vec::new(), history: Vec::new(), converged: false };
        loop {
            let consensus = (!coupled.history.is_empty()).then_some(&coupled.consensus[..]);
            let embeddings = own(consensus);
            let apply = |x: &[Lane], y: &mut [Lane]| {
                y.iter_mut().for_each(|lane| *lane = [0.0; BLOCK]);
                embeddings.iter().for_each(|own| add_projected(&own.vectors, own.weight, x, y));
            };
            let mut stream = random::stream(seed, graphs.len() as u64);
            let found = largest(n, k, apply, ACCURATE, RESTARTS, &mut stream);
            let apart = |own: &Own| k as f64 - overlap(&own.vectors, &found.vectors, n);
            let terms = embeddings.iter().map(|own| own.weight * (own.cut + self.consistency * apart(own)));
            let objective = terms.sum::<f64>();
            let fallen = coupled.history.last().map(|last| last - objective);
            coupled.history.push(objective);
            coupled.consensus = found.vectors;
            let accurate = found.converged && embeddings.iter().all(|own| own.converged);
            let done = fallen.is_some_and(|fallen| fallen <= self.tolerance * k as f64);
            if done || coupled.history.len() > self.rounds {
                coupled.converged = done && accurate;
                return Ok(coupled);
            }
        }
    }
}

impl Method for ConsistentWorlds {
    fn name(&self) -> &str {
        "consistent-worlds"
    }

    /// The iterations are rounds.
    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        check_k(self.k, candidates)?;
        let worlds: Vec<(Points, f64)> = representatives(candidates, self.worlds, self.representatives, seed)
            .into_iter()
            .map(|world| (candidates.chosen(&world.choice), world.probability))
            .collect();
        let mut stream = random::stream(seed, random::key_of_text("consistent worlds"));
        let coupled = self.couple(&worlds, seed)?;
        let rows = Points::trusted(unit_rows(&coupled.consensus, candidates.objects()), self.k);
        let k_means = KMeans::default().seeding(Seeding::PlusPlus).starts(10).max_iterations(100);
        let fit = k_means.fit(&rows, Start::K(self.k), &mut stream)?;
        Ok(Grouped {
            iterations: coupled.history.len(),
            converged: coupled.converged && fit.converged,
            objective: coupled.history.last().copied(),
            ..Grouped::new(fit.partition)
        })
    }
}

/// The embedding of one world.
struct Own {
    vectors: Vec<f64>,
    weight: f64,
    /// `tr(U' L U)`.
    cut: f64,
    converged: bool,
}

/// `y + factor U U' x`, the vectors of U one after another.
fn add_projected(vectors: &[f64], factor: f64, x: &[Lane], y: &mut [Lane]) {
    for vector in vectors.chunks_exact(x.len()) {
        let mut product = [0.0; BLOCK];
        for (u, lane) in vector.iter().zip(x) {
            product.iter_mut().zip(lane).for_each(|(sum, v)| *sum += u * v);
        }
        for (u, lane) in vector.iter().zip(y.iter_mut()) {
            lane.iter_mut().zip(&product).for_each(|(sum, p)| *sum += factor * u * p);
        }
    }
}

/// `tr(U' W U)` of the normalised affinities W.
fn graph_trace(graph: &Graph, vectors: &[f64], n: usize) -> f64 {
    let (mut x, mut y) = (vec![[0.0; BLOCK]; n], vec![[0.0; BLOCK]; n]);
    let mut trace = 0.0;
    for block in vectors.chunks(n * BLOCK) {
        x.iter_mut().for_each(|lane| *lane = [0.0; BLOCK]);
        for (l, vector) in block.chunks_exact(n).enumerate() {
            x.iter_mut().zip(vector).for_each(|(lane, v)| lane[l] = *v);
        }
        graph.multiply(&x, &mut y);
        trace += x.iter().flatten().zip(y.iter().flatten()).map(|(a, b)| a * b).sum::<f64>();
    }
    trace
}

/// `tr(A A' B B')`, the sum of the squares of all products of their vectors.
fn overlap(a: &[f64], b: &[f64], n: usize) -> f64 {
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    a.chunks_exact(n).map(|x| b.chunks_exact(n).map(|y| product(x, y).powi(2)).sum::<f64>()).sum()
}

/// The rows of the vectors normalised to unit length; an all-zero row stays at 0.
fn unit_rows(vectors: &[f64], n: usize) -> Vec<f64> {
    (0..n)
        .flat_map(|i| {
            let row: Vec<f64> = vectors.chunks_exact(n).map(|vector| vector[i]).collect();
            let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            row.into_iter().map(move |v| if length > 1e-12 { v / length } else { 0.0 })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Partition;
    use crate::baselines::testing::{blobs, identical, one_object, same_on_any_threads};
    use crate::candidates::CandidatesBuilder;
    use crate::oracle::Oracle;
    use crate::oracle::spectral::Spectral;

    /// Pseudo-random, between -0.5 and 0.5; Python's `math.fmod(s * s * 0.618033988749895, 1) -
    /// 0.5`.
    fn step(s: usize) -> f64 {
        ((s * s) as f64 * 0.618_033_988_749_895) % 1.0 - 0.5
    }

    /// World `w` of 30 objects in three groups that overlap.
    fn world(w: usize) -> Points {
        let place =
            |i: usize| [2.0 * (i % 3) as f64 + 3.0 * step(1 + 31 * w + i), 3.0 * step(500 + 37 * w + i)];
        Points::from_rows(&(0..30).map(place).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn the_rounds_are_those_of_numpy() {
        // numpy 2.4.6 with scikit-learn 1.9.1's graph: three worlds of weight 0.5, 0.3 and 0.2, c = 0.5, K = 3, six rounds; J
        // after each of them.
        let worlds = [(world(0), 0.5), (world(1), 0.3), (world(2), 0.2)];
        let method = ConsistentWorlds::new(3).neighbours(6).consistency(0.5).rounds(6).tolerance(-1.0);
        let found = method.couple(&worlds, 1).unwrap();
        let wanted = [
            0.5473618302148668,
            0.46913895645849035,
            0.46292330037851054,
            0.46107606202725876,
            0.4602868346107322,
            0.45988938316511807,
            0.4596721650614609,
        ];
        assert_eq!(found.history.len(), wanted.len());
        for (a, b) in found.history.iter().zip(wanted) {
            assert!((a - b).abs() < 1e-9, "{:?}", found.history);
        }
    }

    #[test]
    fn the_objective_never_rises_whatever_the_weight() {
        let worlds: Vec<(Points, f64)> = (0..5).map(|w| (world(w), 0.2)).collect();
        for consistency in [0.0, 0.1, 1.0, 10.0] {
            let method =
                ConsistentWorlds::new(4).neighbours(5).consistency(consistency).rounds(8).tolerance(-1.0);
            let history = method.couple(&worlds, 1).unwrap().history;
            for pair in history.windows(2) {
                assert!(pair[1] <= pair[0] + 1e-10, "{consistency}: {history:?}");
            }
            let falls = history[0] - history[8];
            assert_eq!(falls > 1e-3, consistency > 0.0, "{consistency}: {history:?}");
        }
    }

    #[test]
    fn consistency_draws_the_worlds_together() {
        let worlds: Vec<(Points, f64)> = (0..5).map(|w| (world(w), 0.2)).collect();
        // J with c = 0 is the cut alone: what the worlds pay for being alike grows with c.
        let cut = |consistency: f64| {
            let method =
                ConsistentWorlds::new(3).neighbours(6).consistency(consistency).rounds(9).tolerance(-1.0);
            let coupled = method.couple(&worlds, 1).unwrap();
            coupled.history[9]
        };
        assert!(cut(0.0) < cut(0.3) && cut(0.3) < cut(3.0));
    }

    /// Three groups far apart.
    fn three(order: impl Fn(usize) -> usize, shift: f64, copies: usize) -> Candidates {
        let mut builder = CandidatesBuilder::new(2);
        for at in 0..45 * copies {
            let i = order(at % 45);
            let x = [9.0 * (i % 3) as f64 + 2.0 * step(1 + i) + shift, 2.0 * step(100 + i)];
            builder.push(&[x[0], x[1], x[0] + step(300 + i), x[1] + step(400 + i)], &[]).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn groups_that_are_far_apart_are_found_whatever_their_order_place_and_number_of_copies() {
        let labels =
            |candidates: &Candidates| ConsistentWorlds::new(3).group(candidates, 1).unwrap().partition;
        let wanted: Vec<u32> = (0..45).map(|i| i % 3).collect();
        assert_eq!(labels(&three(|i| i, 0.0, 1)).canonical().labels(), wanted);
        assert_eq!(labels(&three(|i| i, 1e3, 1)).canonical().labels(), wanted);
        assert_eq!(labels(&three(|i| i, 0.0, 2)).canonical().labels(), wanted.repeat(2));
        let other = |i: usize| (i * 7 + 5) % 45;
        let expected: Vec<u32> = (0..45).map(|i| wanted[other(i)]).collect();
        assert!(labels(&three(other, 0.0, 1)).same_grouping(&Partition::from_labels(&expected)));
    }

    #[test]
    fn one_candidate_each_is_about_the_spectral_oracle() {
        let points = blobs(60, 1, 2, 0.1, 5).means();
        let oracle = Spectral::new(10).cluster(&points, Start::K(5), &mut random::stream(1, 1)).unwrap();
        let found = ConsistentWorlds::new(5).group(&Candidates::from_points(&points).unwrap(), 1).unwrap();
        let rand = crate::metrics::Scores::of(found.partition.labels(), oracle.labels()).unwrap().ari;
        assert!(rand > 0.8, "{rand}");
    }

    #[test]
    fn the_number_of_threads_does_not_change_a_byte() {
        let candidates = blobs(50, 4, 2, 1.0, 3);
        let method = ConsistentWorlds::new(4).worlds(20).representatives(4);
        same_on_any_threads(|| method.group(&candidates, 7).unwrap());
    }

    #[test]
    fn degenerate_inputs_have_a_defined_answer_or_a_named_error() {
        assert_eq!(ConsistentWorlds::new(1).group(&one_object(), 1).unwrap().partition.labels(), [0]);
        assert!(ConsistentWorlds::new(3).group(&identical(6), 1).unwrap().partition.k() <= 3);
        let candidates = blobs(9, 4, 2, 0.5, 2);
        assert!(ConsistentWorlds::new(9).group(&candidates, 1).unwrap().partition.k() <= 9);
        let error = |k| ConsistentWorlds::new(k).group(&candidates, 1).unwrap_err();
        assert_eq!(error(0), MethodError::NoClusters);
        assert_eq!(error(10), MethodError::MoreClustersThanObjects { k: 10, n: 9 });
        let error = ConsistentWorlds::new(2).consistency(-1.0).group(&candidates, 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "consistent-worlds: consistency is -1, but must be a finite number not below 0"
        );
    }
}
