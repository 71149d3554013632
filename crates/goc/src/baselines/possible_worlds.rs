//! Possible worlds: cluster many versions of the truth, then take the consensus (Volk et al. 2009).
//!
//! A world is one candidate for every object, with all candidates of an object equally likely. As
//! the errors of objects are independent, drawing a world means drawing a candidate for each. Every
//! world consists of plain points, so any oracle can cluster it at K; the [`Ensemble`] of the
//! groupings gives the consensus and the confidence of each object.
//!
//! If there are no more worlds than requested, all are used with their probabilities and nothing is
//! drawn.
//!
//! Cost: `W` runs of the oracle, and `W n^2` to combine them.

use rand::RngExt;
use rayon::prelude::*;

use super::alternating_minimisation::weighted_index;
use super::ensemble::Ensemble;
use super::{Grouped, Method, Result, Tick, check_k};
use crate::oracle::{Oracle, OracleError, Start};
use crate::{Candidates, Partition, random};

/// A choice of one candidate for every object, and its probability.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// The candidate of each object.
    pub choice: Vec<u32>,
    /// Its probability: exact if enumerated, one over the number drawn otherwise.
    pub probability: f64,
}

/// Clustering by possible worlds.
///
/// ```
/// use goc::baselines::{Method, possible_worlds::PossibleWorlds};
/// use goc::candidates::CandidatesBuilder;
/// use goc::oracle::k_means::KMeans;
/// let mut builder = CandidatesBuilder::new(1);
/// for set in [[0.0, 1.0], [0.2, 9.0], [0.3, 0.7], [8.0, 9.0]] {
///     builder.push(&set, &[])?;
/// }
/// let oracle = KMeans::default().starts(5);
/// let grouped = PossibleWorlds::new(&oracle, 2).group(&builder.build()?, 1)?;
/// assert_eq!(grouped.iterations, 16); // all worlds there are
/// // The second object is with the first and third in half of the worlds.
/// assert!(grouped.confidence[1] < grouped.confidence[0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PossibleWorlds<'a> {
    oracle: &'a dyn Oracle,
    k: usize,
    worlds: usize,
}

impl<'a> PossibleWorlds<'a> {
    /// Clusters each world into `k` with `oracle`: 100 worlds, equal weights, average linkage.
    pub fn new(oracle: &'a dyn Oracle, k: usize) -> Self {
        Self { oracle, k, worlds: 100 }
    }

    setters! {
        /// The number of worlds to draw; at least one.
        worlds: usize = worlds.max(1);
    }

    /// The groupings of the worlds, for analyses beyond the consensus, such as other cuts.
    pub fn ensemble(&self, candidates: &Candidates, seed: u64) -> Result<Ensemble> {
        check_k(self.k, candidates)?;
        if let Some(all) = enumerate(candidates, self.worlds) {
            let partitions = cluster_worlds(self.oracle, self.k, candidates, &all, seed)?;
            return Ensemble::exact(partitions, all.into_iter().map(|w| w.probability).collect());
        }
        let drawn = draw(candidates, self.worlds, seed);
        Ensemble::sampled(cluster_worlds(self.oracle, self.k, candidates, &drawn, seed)?)
    }
}

impl Method for PossibleWorlds<'_> {
    fn name(&self) -> &str {
        "worlds"
    }

    /// The iterations are the worlds that were clustered.
    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        let ensemble = self.ensemble(candidates, seed)?;
        let partition = ensemble.consensus(self.k)?;
        let confidence = ensemble.confidence(&partition);
        Ok(Grouped { confidence, iterations: ensemble.partitions().len(), ..Grouped::new(partition) })
    }
}

/// All worlds with their probabilities, with the last object's candidate changing fastest; `None`
/// if there are more than `limit`.
pub fn enumerate(candidates: &Candidates, limit: usize) -> Option<Vec<World>> {
    let n = candidates.objects();
    let count = (0..n).try_fold(1usize, |product, i| product.checked_mul(candidates.count(i)));
    let count = count.filter(|c| *c <= limit)?;
    let probability = (0..n).map(|i| 1.0 / candidates.count(i) as f64).product();
    let mut worlds = Vec::with_capacity(count);
    for mut number in 0..count {
        let mut choice = vec![0u32; n];
        for i in (0..n).rev() {
            let m = candidates.count(i);
            choice[i] = (number % m) as u32;
            number /= m;
        }
        worlds.push(World { choice, probability });
    }
    Some(worlds)
}

/// Draws `count` worlds by their probabilities, each from its own stream.
pub fn draw(candidates: &Candidates, count: usize, seed: u64) -> Vec<World> {
    let equal = |i: usize| vec![1.0 / candidates.count(i) as f64; candidates.count(i)];
    let weights: Vec<Vec<f64>> = (0..candidates.objects()).map(equal).collect();
    let one = |w: usize| {
        let mut stream = random::stream(seed, 2 * w as u64);
        let choice = weights.iter().map(|p| weighted_index(p, stream.random::<f64>()) as u32).collect();
        World { choice, probability: 1.0 / count as f64 }
    };
    (0..count).map(one).collect()
}

/// The oracle's grouping of each world, each from its own stream.
pub(super) fn cluster_worlds(
    oracle: &dyn Oracle,
    k: usize,
    candidates: &Candidates,
    worlds: &[World],
    seed: u64,
) -> Result<Vec<Partition>> {
    let answers: Vec<_> = worlds
        .par_iter()
        .enumerate()
        .map(|(w, world)| {
            let points = candidates.chosen(&world.choice);
            oracle.cluster(&points, Start::K(k), &mut random::stream(seed, 2 * w as u64 + 1))
        })
        .collect();
    // Collected first, so that of several errors it is always the first world's.
    Ok(answers.into_iter().collect::<Result<_, OracleError>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::testing::{blobs, identical, one_object, same_on_any_threads};
    use crate::candidates::CandidatesBuilder;
    use crate::method::MethodError;
    use crate::oracle::OracleError;
    use crate::oracle::custom::Custom;
    use crate::oracle::k_means::KMeans;
    use crate::oracle::linkage::Linkage;
    use crate::{Points, Stream};

    /// Four objects of three candidates, 81 worlds; linkage draws nothing, so every world has one answer.
    fn four() -> Candidates {
        let mut builder = CandidatesBuilder::new(1);
        builder.push(&[0.0, 1.0, 2.0], &[0.0, 0.5, 2.0]).unwrap();
        builder.push(&[1.5, 3.0, 8.0], &[0.1, 0.0, 1.0]).unwrap();
        builder.push(&[6.0, 7.0, 2.5], &[0.0, 0.3, 0.9]).unwrap();
        builder.push(&[9.0, 8.5, 4.0], &[0.0, 0.0, 0.7]).unwrap();
        builder.build().unwrap()
    }

    /// Probability of sharing a cluster, by four plain loops over candidates.
    fn by_hand(candidates: &Candidates) -> Vec<f64> {
        let oracle = Linkage::default();
        let mut together = vec![0.0; 6];
        for a in 0..3 {
            for b in 0..3 {
                for c in 0..3 {
                    for d in 0..3 {
                        let choice = [a, b, c, d];
                        let p = 1.0 / 81.0;
                        let points = candidates.chosen(&choice.map(|j| j as u32));
                        let mut stream = random::stream(0, 0);
                        let labels = oracle.cluster(&points, Start::K(2), &mut stream).unwrap();
                        let l = labels.labels();
                        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
                        for (slot, (i, j)) in together.iter_mut().zip(pairs) {
                            *slot += if l[i] == l[j] { p } else { 0.0 };
                        }
                    }
                }
            }
        }
        together
    }

    #[test]
    fn all_81_worlds_of_four_objects_equal_plain_enumeration() {
        let candidates = four();
        let oracle = Linkage::default();
        let ensemble = PossibleWorlds::new(&oracle, 2).ensemble(&candidates, 1).unwrap();
        assert_eq!(ensemble.partitions().len(), 81);
        let expected = by_hand(&candidates);
        for (a, b) in ensemble.co_association().iter().zip(&expected) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
        assert!(expected.iter().any(|p| *p > 0.1 && *p < 0.9));
    }

    #[test]
    fn drawn_worlds_come_near_the_exact_probabilities_as_their_number_says() {
        let candidates = four();
        let oracle = Linkage::default();
        let drawn = draw(&candidates, 4000, 3);
        let partitions = cluster_worlds(&oracle, 2, &candidates, &drawn, 3).unwrap();
        let sampled = Ensemble::sampled(partitions).unwrap().co_association();
        for (a, p) in sampled.iter().zip(by_hand(&candidates)) {
            let sd = (p * (1.0 - p) / 4000.0).sqrt();
            assert!((a - p).abs() < 4.0 * sd + 1e-12, "{a} {p} {sd}");
        }
        // 81 worlds but only 80 requested: drawn.
        let method = PossibleWorlds::new(&oracle, 2).worlds(80);
        let ensemble = method.ensemble(&candidates, 1).unwrap();
        assert_eq!(ensemble.partitions().len(), 80);
    }

    #[test]
    fn one_candidate_each_is_the_oracle_alone() {
        let points = Points::new(vec![0.0, 0.4, 5.0, 5.3, 9.0], 1).unwrap();
        let candidates = Candidates::from_points(&points).unwrap();
        let oracle = Linkage::default();
        let alone = oracle.cluster(&points, Start::K(3), &mut random::stream(1, 0)).unwrap();
        let grouped = PossibleWorlds::new(&oracle, 3).group(&candidates, 1).unwrap();
        assert!(grouped.partition.same_grouping(&alone));
        assert_eq!((grouped.confidence, grouped.iterations), (vec![1.0; 5], 1));
    }

    #[test]
    fn an_object_between_two_groups_is_less_sure_than_its_neighbours() {
        let mut builder = CandidatesBuilder::new(1);
        for x in [0.0, 0.2, 0.4, 10.0, 10.2, 10.4] {
            builder.push(&[x, x + 0.1, x + 0.05], &[]).unwrap();
        }
        builder.push(&[0.3, 0.2, 10.1], &[]).unwrap();
        let oracle = KMeans::default().starts(10);
        let grouped = PossibleWorlds::new(&oracle, 2).group(&builder.build().unwrap(), 4).unwrap();
        assert_eq!(grouped.partition.canonical().labels(), [0, 0, 0, 1, 1, 1, 0]);
        // In two worlds of three it is with its group: 2/3 up to the draw of 100 worlds, sd 0.047.
        assert!((grouped.confidence[6] - 2.0 / 3.0).abs() < 0.15, "{:?}", grouped.confidence);
        assert_eq!(grouped.confidence[3], 1.0);
    }

    #[test]
    fn the_number_of_threads_does_not_change_a_byte() {
        let candidates = blobs(40, 6, 2, 1.5, 3);
        let oracle = KMeans::default().starts(3);
        let method = PossibleWorlds::new(&oracle, 5).worlds(20);
        same_on_any_threads(|| method.group(&candidates, 7).unwrap());
    }

    #[test]
    fn degenerate_inputs_have_a_defined_answer_or_a_named_error() {
        let oracle = KMeans::default().starts(2);
        let one = PossibleWorlds::new(&oracle, 1).group(&one_object(), 1).unwrap();
        assert_eq!((one.partition.labels(), &one.confidence[..]), (&[0][..], &[1.0][..]));
        // Equal sets do not give equal worlds: the candidates drawn differ. At most K clusters are
        // found.
        let equal = PossibleWorlds::new(&oracle, 3).group(&identical(6), 1).unwrap();
        assert!(equal.partition.k() <= 3);
        let candidates = blobs(9, 4, 2, 0.5, 2);
        assert_eq!(PossibleWorlds::new(&oracle, 9).group(&candidates, 1).unwrap().partition.k(), 9);
        let error = |k| PossibleWorlds::new(&oracle, k).group(&candidates, 1).unwrap_err();
        assert_eq!(error(0), MethodError::NoClusters);
        assert_eq!(error(10), MethodError::MoreClustersThanObjects { k: 10, n: 9 });
        let broken =
            Custom::new("mine", |_: &Points, _: Start<'_>, _: &mut Stream| Err::<Vec<u32>, _>("no licence"));
        let error = PossibleWorlds::new(&broken, 2).group(&candidates, 1).unwrap_err();
        let inner = OracleError::Failed { oracle: "mine".into(), reason: "no licence".into() };
        assert_eq!(error, MethodError::Oracle(inner));
    }
}
