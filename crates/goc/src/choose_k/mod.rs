//! Choosing K and lambda, which the paper's method needs but which are rarely known.
//!
//! A [`Criterion`] assigns every number of clusters a score, the larger the better, based on a
//! clustering with that many clusters by any method: the [`silhouette`] of the positions, BIC and
//! ICL of the [`soft`] model, or [`stability`] under resampling of the candidates. A coarse-to-fine
//! search finds the maximum. The default compares the clusterings with the draws of the marginal
//! mixture ([`crate::marginal`]), which does not need K, and takes the K with the largest expected
//! adjusted Rand index. [`lambda`](lambda::lambda) derives the weight of the penalties from the
//! soft model.
//!
//! No criterion considers more than half as many clusters as objects. Silhouette and stability
//! cannot assess a single cluster. If no K has a score (one object, or all objects alike), the
//! answer is one cluster.
//!
//! ```
//! use goc::choose_k::{ChooseError, Chooser, Criterion, Solution};
//! use goc::oracle::{Oracle, Start, k_means::KMeans};
//! use goc::{Candidates, Points, random};
//! let points = Points::new(vec![0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 9.0, 9.1], 1)?;
//! let candidates = Candidates::from_points(&points)?;
//! let solve = |c: &Candidates, k: usize, seed: u64| -> Result<Solution, ChooseError> {
//!     let places = c.means();
//!     let partition = KMeans::default().cluster(&places, Start::K(k), &mut random::stream(seed, 0)).unwrap();
//!     Ok(Solution { partition, places })
//! };
//! let chosen = Chooser::new(Criterion::Silhouette).choose(&candidates, 1, solve)?;
//! assert_eq!(chosen.k, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod expected_rand;
mod grid;
pub mod lambda;
pub mod silhouette;
pub mod soft;
pub mod stability;

use std::collections::BTreeMap;

use crate::candidates::{CandidatesError, PENALTY_STRENGTH};
use crate::marginal::{Marginal, MarginalError};
use crate::{Candidates, Partition, Points};
pub(crate) use grid::{Ties, peak};
use soft::{ROUGHLY, Soft, SoftError};

/// The search goes up to this multiple of the number of clusters of the marginal mixture.
const FARTHER: usize = 2;

/// The criterion for the number of clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Criterion {
    /// Agreement with the draws of the marginal mixture.
    #[default]
    Marginal,
    /// Mean silhouette of the positions.
    Silhouette,
    /// The Bayesian information criterion (Schwarz) of the soft model.
    Bic,
    /// The same minus the entropy of the memberships.
    Icl,
    /// Agreement between clusterings of resampled candidates.
    Stability,
}

/// A clustering with a given K, as evaluated by the criteria.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The clusters.
    pub partition: Partition,
    /// The assumed position of each object, in scaled features.
    pub places: Points,
}

/// Why K or lambda cannot be chosen.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChooseError {
    /// The marginal mixture failed.
    #[error("K by the marginal mixture: {0}; or choose K by another criterion")]
    Marginal(#[from] MarginalError),
    /// The soft model failed.
    #[error(transparent)]
    Soft(#[from] SoftError),
    /// Resampling failed.
    #[error(transparent)]
    Resampled(#[from] CandidatesError),
    /// The clusters have no extent from which lambda could be derived.
    #[error("lambda cannot be found: the clusters have no extent in some direction; give lambda")]
    NoLambda,
}

/// One K that was evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Clusters requested.
    pub k: usize,
    /// The value of the criterion.
    pub value: f64,
    /// The clusters, if a clustering with this K was computed.
    pub partition: Option<Partition>,
}

/// The chosen number of clusters and the scores behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The chosen number of clusters.
    pub k: usize,
    /// Every K that has a score, in ascending order.
    pub curve: Vec<Trial>,
}

/// Chooses K by a criterion.
#[derive(Clone, Debug, PartialEq)]
pub struct Chooser {
    criterion: Criterion,
    penalty_strength: f64,
    repeats: usize,
}

impl Chooser {
    /// Chooses K by this criterion.
    pub fn new(criterion: Criterion) -> Self {
        Self { criterion, penalty_strength: PENALTY_STRENGTH, repeats: stability::REPEATS }
    }

    setters! {
        /// The weight of a penalty in the log likelihood of the soft model.
        penalty_strength: f64;
        /// The number of clusterings of resampled candidates for the stability; at least two.
        repeats: usize = repeats.max(2);
    }

    /// The K that maximises the criterion. `solve` clusters candidates into the given number of
    /// clusters; all its randomness must derive from the seed it receives.
    pub fn choose<E: From<ChooseError>>(
        &self,
        candidates: &Candidates,
        seed: u64,
        mut solve: impl FnMut(&Candidates, usize, u64) -> Result<Solution, E>,
    ) -> Result<Chosen, E> {
        let n = candidates.objects();
        if n == 1 {
            return Ok(Chosen { k: 1, curve: Vec::new() });
        }
        let draws = match self.criterion {
            Criterion::Marginal => {
                let mixture = Marginal::default().penalty_strength(self.penalty_strength);
                Some(mixture.run(candidates, seed).map_err(ChooseError::from)?)
            }
            _ => None,
        };
        // With one group there is no agreement to measure.
        if draws.as_ref().is_some_and(|draws| draws.groups() <= 1) {
            return Ok(Chosen { k: 1, curve: Vec::new() });
        }
        // Apart from stray objects, another method needs about as many clusters as the mixture;
        // searching further is expensive.
        let most = draws.as_ref().map_or(n, |draws| FARTHER * draws.groups()).min(n.div_ceil(2));
        let least = match self.criterion {
            Criterion::Bic | Criterion::Icl | Criterion::Marginal => 1,
            _ => 2,
        };
        let resampled: Vec<stability::Resampled> = match self.criterion {
            Criterion::Stability => {
                (0..self.repeats as u64).map(|repeat| stability::resample(candidates, seed, repeat)).collect()
            }
            _ => Vec::new(),
        };
        let mut partitions: BTreeMap<usize, Partition> = BTreeMap::new();
        let ties = if self.criterion == Criterion::Stability { Ties::Larger } else { Ties::Smaller };
        let peak = peak(least..=most, ties, |k| -> Result<Option<f64>, E> {
            let solution = solve(candidates, k, seed)?;
            let value = match self.criterion {
                Criterion::Stability => {
                    let mut again = Vec::with_capacity(resampled.len());
                    for (repeat, sets) in resampled.iter().enumerate() {
                        let seed = seed.wrapping_add(1 + repeat as u64);
                        again.push((&sets.objects[..], solve(&sets.candidates, k, seed)?.partition));
                    }
                    stability::agreement(&again)
                }
                Criterion::Bic | Criterion::Icl => {
                    match Soft::fit(
                        candidates,
                        &solution.partition,
                        &solution.places,
                        self.penalty_strength,
                        ROUGHLY,
                    ) {
                        Ok(soft) if self.criterion == Criterion::Bic => Some(soft.bic()),
                        Ok(soft) => Some(soft.icl()),
                        Err(SoftError::Flat) => None,
                        Err(other) => return Err(ChooseError::Soft(other).into()),
                    }
                }
                Criterion::Marginal => draws
                    .as_ref()
                    .and_then(|draws| expected_rand::expected_rand(&draws.together, &solution.partition)),
                Criterion::Silhouette => silhouette::silhouette(&solution.places, &solution.partition),
            };
            partitions.insert(k, solution.partition);
            Ok(value)
        })?;
        let curve =
            peak.values.into_iter().map(|(k, value)| Trial { k, value, partition: partitions.remove(&k) });
        Ok(Chosen { k: peak.best.unwrap_or(1), curve: curve.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::CandidatesBuilder;
    use crate::optimistic::{KRule, Optimistic, OptimisticError, Search};
    use crate::oracle::k_means::KMeans;
    use crate::random::stream;
    use rand::RngExt;
    use rand_distr::StandardNormal;

    const ALL: [Criterion; 5] =
        [Criterion::Marginal, Criterion::Silhouette, Criterion::Bic, Criterion::Icl, Criterion::Stability];

    #[derive(Debug, thiserror::Error)]
    enum Failed {
        #[error(transparent)]
        Choose(#[from] ChooseError),
        #[error(transparent)]
        Goc(#[from] OptimisticError),
    }

    fn greedy(candidates: &Candidates, k: usize, seed: u64) -> Result<Solution, Failed> {
        let goc = Optimistic::new(k).k_rule(KRule::Constant).lambda(0.01).search(Search::Thorough);
        let found = goc.check(candidates)?.run(&KMeans::default().starts(5), seed)?;
        Ok(Solution { places: candidates.chosen(&found.chosen), partition: found.partition })
    }

    /// Well-separated groups on a grid; candidates along a short line.
    fn groups(groups: usize, members: usize, m: usize) -> Candidates {
        let mut rng = stream(4, 0);
        let mut builder = CandidatesBuilder::new(2);
        for i in 0..groups * members {
            let g = i % groups;
            let z: [f64; 2] = std::array::from_fn(|_| rng.sample(StandardNormal));
            let (x, y) = ((g % 3) as f64 * 8.0 + 0.4 * z[0], (g / 3) as f64 * 8.0 + 0.4 * z[1]);
            let (mut rows, mut penalties) = (Vec::new(), Vec::new());
            for j in 0..m {
                let s = if m == 1 { 0.0 } else { 2.0 * j as f64 / (m - 1) as f64 - 1.0 };
                rows.extend([x + 0.5 * s, y + 0.2 * s]);
                penalties.push(s * s);
            }
            builder.push(&rows, &penalties).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn silhouette_bic_and_icl_find_well_separated_groups() {
        let candidates = groups(6, 9, 7);
        for criterion in [Criterion::Silhouette, Criterion::Bic, Criterion::Icl] {
            let chosen = Chooser::new(criterion).choose(&candidates, 1, greedy).unwrap();
            assert_eq!(chosen.k, 6, "{criterion:?}: {:?}", chosen.curve);
            let best = chosen.curve.iter().find(|t| t.k == 6).unwrap();
            assert!(chosen.curve.iter().all(|t| t.value <= best.value));
        }
    }

    #[test]
    fn well_separated_groups_are_perfectly_stable_and_the_largest_such_number_is_taken() {
        let chosen = Chooser::new(Criterion::Stability).choose(&groups(6, 9, 7), 1, greedy).unwrap();
        let stable: Vec<usize> = chosen.curve.iter().filter(|t| t.value == 1.0).map(|t| t.k).collect();
        // A group that happens to have a gap may be split in two again on resampling; the criterion
        // cannot tell.
        assert!(stable.contains(&6), "{:?}", chosen.curve);
        assert_eq!(stable.last(), Some(&chosen.k));
        assert!(chosen.curve.iter().filter(|t| t.k > 9).all(|t| t.value < 0.95), "{:?}", chosen.curve);
    }

    #[test]
    fn plain_points_work_as_well() {
        let candidates = groups(4, 10, 1);
        for criterion in &ALL[1..] {
            let chosen = Chooser::new(*criterion).choose(&candidates, 1, greedy).unwrap();
            assert_eq!(chosen.k, 4, "{criterion:?}");
        }
    }

    #[test]
    fn clusterings_are_compared_with_the_draws_of_the_marginal_mixture() {
        let candidates = groups(6, 9, 7);
        let chosen = Chooser::new(Criterion::Marginal).choose(&candidates, 1, greedy).unwrap();
        assert_eq!(chosen.k, 6, "{:?}", chosen.curve);
        let best = chosen.curve.iter().find(|t| t.k == 6).unwrap();
        assert!(best.value > 0.9 && chosen.curve.iter().all(|t| t.value <= best.value));
    }

    #[test]
    fn strays_of_groups_with_long_tails_are_no_groups() {
        // Three groups of forty from Student's t with two degrees of freedom: the normal mixture
        // separates the strays.
        let mut rng = stream(8, 0);
        let mut builder = CandidatesBuilder::new(2);
        for i in 0..120 {
            let z: [f64; 4] = std::array::from_fn(|_| rng.sample(StandardNormal));
            let wide = 0.3 / ((z[2] * z[2] + z[3] * z[3]) / 2.0).sqrt();
            let middle = [[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]][i % 3];
            builder.push(&[middle[0] + wide * z[0], middle[1] + wide * z[1]], &[]).unwrap();
        }
        let candidates = builder.build().unwrap();
        let chosen = Chooser::new(Criterion::Marginal).choose(&candidates, 1, greedy).unwrap();
        assert!((3..=8).contains(&chosen.k), "{}", chosen.k);
    }

    #[test]
    fn one_two_and_three_objects_have_an_answer_or_a_named_reason() {
        for criterion in ALL {
            for n in 1..=3 {
                let candidates = groups(n, 1, 5);
                match Chooser::new(criterion).choose(&candidates, 1, greedy) {
                    Ok(chosen) => assert!((1..=n).contains(&chosen.k), "{criterion:?} {n}: {}", chosen.k),
                    Err(Failed::Choose(ChooseError::Marginal(error))) => {
                        assert_eq!((criterion, error), (Criterion::Marginal, MarginalError::Flat));
                    }
                    Err(other) => panic!("{criterion:?} {n}: {other}"),
                }
            }
        }
    }

    #[test]
    fn objects_all_alike_are_one_cluster() {
        let mut builder = CandidatesBuilder::new(2);
        for _ in 0..8 {
            builder.push(&[1.0, 2.0, 1.0, 2.0], &[]).unwrap();
        }
        let candidates = builder.build().unwrap();
        for criterion in [Criterion::Silhouette, Criterion::Bic, Criterion::Icl] {
            assert_eq!(Chooser::new(criterion).choose(&candidates, 1, greedy).unwrap().k, 1, "{criterion:?}");
        }
    }

    #[test]
    fn an_error_of_the_method_comes_through() {
        let candidates = groups(3, 3, 2);
        let solve = |_: &Candidates, _: usize, _: u64| -> Result<Solution, Failed> {
            Err(OptimisticError::NoIterations.into())
        };
        let error = Chooser::new(Criterion::Bic).choose(&candidates, 1, solve).unwrap_err();
        assert_eq!(error.to_string(), "at least one iteration must be allowed");
    }

    #[test]
    fn threads_do_not_change_the_curve() {
        let candidates = groups(5, 6, 5);
        for criterion in [Criterion::Silhouette, Criterion::Icl, Criterion::Stability] {
            let curves: Vec<Chosen> = [1, 2, 4]
                .into_iter()
                .map(|threads| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    pool.install(|| Chooser::new(criterion).choose(&candidates, 1, greedy).unwrap())
                })
                .collect();
            assert!(curves[0] == curves[1] && curves[0] == curves[2], "{criterion:?}");
        }
    }
}
