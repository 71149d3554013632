//! Many groupings of the same objects, one of each possible world, and what they have in common.
//!
//! Worlds are drawn with their probability, or all of them are there with their probability each. From them:
//!
//! - **co-association** `p_ij`, the probability that `i` and `j` share a cluster;
//! - **consensus**: average linkage on `1 - p_ij` cut at K, or the world whose grouping is nearest to all
//!   others;
//! - **representatives** (Züfle et al. 2014): groupings `C` with the probability that a random world's
//!   grouping lies within `tau` of `C`;
//! - the **confidence** of an object: its mean co-association with the others of its cluster; for an object
//!   alone, one less its greatest co-association with any other.
//!
//! Groupings are compared by the variation of information (Meila 2007), `VI = H(A|B) + H(B|A)`, a metric,
//! divided by `ln n` so that it runs from 0 to 1. Cost: `W n^2` for co-associations, `W^2 n log n` for
//! nearest worlds and representatives.

use rayon::prelude::*;
use statrs::distribution::{Beta, ContinuousCDF};

use super::{MethodError, Result};
use crate::Partition;
use crate::metrics::Contingency;
use crate::oracle::dissimilarities::Dissimilarities;
use crate::oracle::linkage::{Linkage, Method as LinkageMethod};

/// How the worlds' groupings become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Consensus {
    /// Average linkage on one less the co-association, cut at K. Objects together in every world are never
    /// cut apart.
    #[default]
    AverageLinkage,
    /// The grouping of the world with the least mean variation of information from all worlds.
    NearestWorld,
}

/// Groupings of the same objects with a probability each.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    partitions: Vec<Partition>,
    probabilities: Vec<f64>,
    exact: bool,
}

/// A grouping that stands for many worlds.
#[derive(Clone, Debug, PartialEq)]
pub struct Representative {
    /// Which world's grouping it is.
    pub world: usize,
    /// The grouping.
    pub partition: Partition,
    /// Estimated probability that a random world's grouping lies within `tau` of it.
    pub confidence: f64,
    /// That probability is at least this, except with the probability of error that was allowed.
    pub at_least: f64,
}

impl Ensemble {
    /// Groupings of `W` worlds drawn with their probabilities: each counts `1 / W`.
    ///
    /// No groupings, or groupings of different numbers of objects: an error.
    pub fn sampled(partitions: Vec<Partition>) -> Result<Self> {
        let probability = 1.0 / partitions.len() as f64;
        let probabilities = vec![probability; partitions.len()];
        Self::checked(partitions, probabilities, false)
    }

    /// Groupings of all worlds there are, with their probabilities.
    pub fn exact(partitions: Vec<Partition>, probabilities: Vec<f64>) -> Result<Self> {
        Self::checked(partitions, probabilities, true)
    }

    fn checked(partitions: Vec<Partition>, probabilities: Vec<f64>, exact: bool) -> Result<Self> {
        let failed = |reason: &str| Err(MethodError::Failed { method: "worlds", reason: reason.into() });
        let Some(first) = partitions.first().filter(|p| !p.is_empty()) else {
            return failed("there are no groupings to combine; ask for at least one world");
        };
        if partitions.iter().any(|p| p.len() != first.len()) {
            return failed("the groupings are of different numbers of objects");
        }
        if partitions.len() != probabilities.len()
            || probabilities.iter().any(|p| !(0.0..=1.0 + 1e-9).contains(p))
            || (probabilities.iter().sum::<f64>() - 1.0).abs() > 1e-6
        {
            return failed("every grouping needs a probability, and they must add up to 1");
        }
        Ok(Self { partitions, probabilities, exact })
    }

    /// The groupings, one a world.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// The worlds' probabilities.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// True when the worlds are all there are.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    fn objects(&self) -> usize {
        self.partitions[0].len()
    }

    /// The probability of sharing a cluster, of the pairs `i < j`, row after row.
    pub fn co_association(&self) -> Vec<f64> {
        let n = self.objects();
        // One task a row; within it the worlds are added in order.
        let rows: Vec<Vec<f64>> = (0..n)
            .into_par_iter()
            .map(|i| {
                let mut row = vec![0.0; n - i - 1];
                for (partition, p) in self.partitions.iter().zip(&self.probabilities) {
                    let labels = partition.labels();
                    for (slot, l) in row.iter_mut().zip(&labels[i + 1..]) {
                        *slot += if *l == labels[i] { *p } else { 0.0 };
                    }
                }
                row
            })
            .collect();
        // Sums of probabilities are rounded; together in every world must be exactly 1.
        rows.concat().into_iter().map(|p| if p > 1.0 - 1e-9 { 1.0 } else { p }).collect()
    }

    /// One grouping out of all.
    pub fn consensus(&self, how: Consensus, k: usize) -> Result<Partition> {
        match how {
            Consensus::AverageLinkage => {
                let apart = self.co_association().into_iter().map(|p| 1.0 - p).collect();
                // The pairs of n objects, all between 0 and 1: this cannot fail.
                let apart = Dissimilarities::from_condensed(apart)
                    .map_err(|error| MethodError::Failed { method: "worlds", reason: error.to_string() })?;
                Ok(Linkage::new(LinkageMethod::Average).fit_matrix(apart)?.cut(k)?)
            }
            Consensus::NearestWorld => {
                let distances = self.distances();
                let mean =
                    |row: &Vec<f64>| -> f64 { row.iter().zip(&self.probabilities).map(|(d, p)| d * p).sum() };
                let at = super::alternating_minimisation::least(distances.iter().map(mean));
                Ok(self.partitions[at].clone())
            }
        }
    }

    /// How sure each object's place in `partition` is, from 0 to 1.
    pub fn confidence(&self, partition: &Partition) -> Vec<f64> {
        let n = self.objects();
        let together = self.co_association();
        // Where the pairs of row i begin, such that pair (i, j) is at start + j.
        let between = |i: usize, j: usize| {
            let (i, j) = (i.min(j), i.max(j));
            together[i * (2 * n - i - 1) / 2 + j - i - 1]
        };
        let labels = partition.labels();
        (0..n)
            .map(|i| {
                let others = (0..n).filter(|&j| j != i && labels[j] == labels[i]);
                let (count, sum) = others.fold((0usize, 0.0), |(c, s), j| (c + 1, s + between(i, j)));
                if count > 0 {
                    sum / count as f64
                } else {
                    1.0 - (0..n).filter(|&j| j != i).map(|j| between(i, j)).fold(0.0, f64::max)
                }
            })
            .collect()
    }

    /// Variation of information between all worlds, divided by `ln n`.
    fn distances(&self) -> Vec<Vec<f64>> {
        let w = self.partitions.len();
        let upper: Vec<Vec<f64>> = (0..w)
            .into_par_iter()
            .map(|a| {
                let from = &self.partitions[a];
                self.partitions[a + 1..].iter().map(|b| variation_of_information(from, b)).collect()
            })
            .collect();
        let mut all = vec![vec![0.0; w]; w];
        for (a, row) in upper.iter().enumerate() {
            for (after, &d) in row.iter().enumerate() {
                let b = a + 1 + after;
                (all[a][b], all[b][a]) = (d, d);
            }
        }
        all
    }

    /// Up to `count` groupings that between them stand for as many worlds as can be, greedily, each with its
    /// confidence.
    ///
    /// `tau` is a normalised variation of information (worlds of the paper's sets at K = 50 lie about .3
    /// apart: below .25 nothing represents anything, above .35 everything does), `error` the probability that
    /// `at_least` may be wrong. Sampled worlds of even number choose, those of odd number are the test: the
    /// worlds that made a grouping the best must not also vouch for it. The bound is that of Clopper &
    /// Pearson (1934). All worlds at hand: the confidence is the probability itself.
    pub fn representatives(&self, tau: f64, count: usize, error: f64) -> Result<Vec<Representative>> {
        let parameter = |name, value, must| MethodError::Parameter { method: "worlds", name, value, must };
        if !(0.0..=1.0).contains(&tau) {
            return Err(parameter("tau", tau, "between 0 and 1"));
        }
        if !(error > 0.0 && error < 1.0) {
            return Err(parameter("error", error, "above 0 and below 1"));
        }
        let w = self.partitions.len();
        if !self.exact && w < 2 {
            let reason = "one world cannot both choose and test a representative; ask for more worlds";
            return Err(MethodError::Failed { method: "worlds", reason: reason.into() });
        }
        let distances = self.distances();
        let choosing: Vec<usize> = (0..w).filter(|a| self.exact || a % 2 == 0).collect();
        let mut covered = vec![false; w];
        let mut found = Vec::new();
        while found.len() < count {
            let gain = |a: usize| -> f64 {
                let new = choosing.iter().filter(|&&b| !covered[b] && distances[a][b] <= tau);
                new.map(|&b| self.probabilities[b]).sum()
            };
            let best = choosing
                .iter()
                .map(|&a| (gain(a), a))
                .fold((0.0, w), |best, this| if this.0 > best.0 { this } else { best });
            let (_, world) = best;
            if world == w {
                break;
            }
            for &b in &choosing {
                covered[b] |= distances[world][b] <= tau;
            }
            let within = |b: &usize| distances[world][*b] <= tau;
            let (confidence, at_least) = if self.exact {
                let sum = (0..w).filter(within).map(|b| self.probabilities[b]).sum::<f64>().min(1.0);
                (sum, sum)
            } else {
                let tests = w / 2;
                let hits = (0..w).filter(|b| b % 2 == 1).filter(within).count();
                (hits as f64 / tests as f64, lower_bound(hits, tests, error))
            };
            found.push(Representative {
                world,
                partition: self.partitions[world].clone(),
                confidence,
                at_least,
            });
        }
        Ok(found)
    }
}

/// `VI(a, b) / ln n`; 0 for a single object.
pub fn variation_of_information(a: &Partition, b: &Partition) -> f64 {
    let n = a.len() as f64;
    let Ok(table) = Contingency::new(a.labels(), b.labels()) else { return 0.0 };
    let sum: f64 = table
        .cells()
        .iter()
        .map(|&(k, l, count)| {
            let count = count as f64;
            let (row, column) = (table.rows()[k as usize] as f64, table.columns()[l as usize] as f64);
            // Each logarithm is not negative, so equal groupings give exactly 0.
            count / n * ((row / count).ln() + (column / count).ln())
        })
        .sum();
    if n > 1.0 { (sum / n.ln()).min(1.0) } else { 0.0 }
}

/// Clopper & Pearson's one-sided lower bound for a probability after `hits` of `tests`.
fn lower_bound(hits: usize, tests: usize, error: f64) -> f64 {
    match hits {
        0 => 0.0,
        _ if hits == tests => error.powf(1.0 / tests as f64),
        _ => Beta::new(hits as f64, (tests - hits + 1) as f64).map_or(0.0, |beta| beta.inverse_cdf(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;
    use rand::RngExt;

    fn partitions(labels: &[&[u32]]) -> Vec<Partition> {
        labels.iter().map(|l| Partition::from_labels(l)).collect()
    }

    #[test]
    fn co_association_is_the_probability_of_sharing_a_cluster() {
        let worlds = partitions(&[&[0, 0, 1, 1], &[0, 0, 0, 1], &[0, 1, 1, 1]]);
        let ensemble = Ensemble::exact(worlds, vec![0.5, 0.25, 0.25]).unwrap();
        assert_eq!(ensemble.co_association(), [0.75, 0.25, 0.0, 0.5, 0.25, 0.75]);
        let consensus = ensemble.consensus(Consensus::AverageLinkage, 2).unwrap();
        assert_eq!(consensus.labels(), [0, 0, 1, 1]);
        assert_eq!(ensemble.confidence(&consensus), [0.75; 4]);
        assert_eq!(ensemble.consensus(Consensus::NearestWorld, 2).unwrap().labels(), [0, 0, 1, 1]);
        let alone = Partition::from_labels(&[0, 0, 0, 1]);
        assert_eq!(ensemble.confidence(&alone), [0.5, 0.625, 0.375, 0.25]);
    }

    #[test]
    fn variation_of_information_is_a_metric_with_known_values() {
        let p = partitions(&[&[0, 0, 1, 1], &[0, 1, 0, 1], &[0, 0, 0, 0], &[0, 1, 2, 3], &[0, 0, 0, 1]]);
        let vi = |a: usize, b: usize| variation_of_information(&p[a], &p[b]);
        // Independent halves: H(A|B) = H(B|A) = ln 2, of ln 4.
        assert!((vi(0, 1) - 1.0).abs() < 1e-15);
        assert!((vi(2, 3) - 1.0).abs() < 1e-15);
        assert!((vi(0, 3) - 0.5).abs() < 1e-15);
        assert_eq!(vi(1, 1), 0.0);
        for a in 0..5 {
            for b in 0..5 {
                assert!((vi(a, b) - vi(b, a)).abs() < 1e-15);
                for c in 0..5 {
                    assert!(vi(a, c) <= vi(a, b) + vi(b, c) + 1e-15);
                }
            }
        }
    }

    /// The bound is the chance at which so many hits or more have the probability `error`.
    #[test]
    fn the_lower_bound_solves_the_binomial_tail() {
        let choose = |n: usize, k: usize| (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64);
        for tests in [1, 5, 12, 50] {
            for hits in 1..=tests {
                for error in [0.01, 0.05, 0.3] {
                    let p = lower_bound(hits, tests, error);
                    let tail: f64 = (hits..=tests)
                        .map(|k| choose(tests, k) * p.powi(k as i32) * (1.0 - p).powi((tests - k) as i32))
                        .sum();
                    assert!((tail - error).abs() < 1e-6 * error, "{hits} of {tests}: {tail} {error}");
                }
            }
        }
        assert_eq!(lower_bound(0, 7, 0.05), 0.0);
    }

    #[test]
    fn two_kinds_of_worlds_get_a_representative_each_with_their_share() {
        let (a, b) = (Partition::from_labels(&[0, 0, 1, 1]), Partition::from_labels(&[0, 1, 0, 1]));
        let exact = Ensemble::exact(vec![a.clone(), b.clone()], vec![0.3, 0.7]).unwrap();
        let found = exact.representatives(0.1, 5, 0.05).unwrap();
        let seen: Vec<(usize, f64, f64)> =
            found.iter().map(|r| (r.world, r.confidence, r.at_least)).collect();
        assert_eq!(seen, [(1, 0.7, 0.7), (0, 0.3, 0.3)]);
        assert_eq!(exact.representatives(1.0, 5, 0.05).unwrap().len(), 1);
    }

    #[test]
    fn the_bound_on_a_confidence_is_wrong_no_more_often_than_allowed() {
        let (a, b) = (Partition::from_labels(&[0, 0, 1, 1]), Partition::from_labels(&[0, 1, 0, 1]));
        let mut stream = random::stream(5, 0);
        let mut wrong = 0;
        for _ in 0..1000 {
            let worlds = (0..60).map(|_| if stream.random::<f64>() < 0.7 { a.clone() } else { b.clone() });
            let found = Ensemble::sampled(worlds.collect()).unwrap().representatives(0.1, 1, 0.1).unwrap();
            let truth = if found[0].partition == a { 0.7 } else { 0.3 };
            wrong += usize::from(found[0].at_least > truth);
        }
        // At most one in ten is allowed: 100 and three standard deviations of the count.
        assert!((20..=128).contains(&wrong), "{wrong}");
    }

    #[test]
    fn bad_ensembles_and_parameters_are_named() {
        let message = |e: MethodError| e.to_string();
        assert_eq!(
            message(Ensemble::sampled(Vec::new()).unwrap_err()),
            "worlds: there are no groupings to combine; ask for at least one world"
        );
        let unequal = partitions(&[&[0, 0], &[0]]);
        assert_eq!(
            message(Ensemble::sampled(unequal).unwrap_err()),
            "worlds: the groupings are of different numbers of objects"
        );
        let halves = Ensemble::exact(partitions(&[&[0, 0]]), vec![0.5]).unwrap_err();
        assert_eq!(message(halves), "worlds: every grouping needs a probability, and they must add up to 1");
        let one = Ensemble::sampled(partitions(&[&[0, 1]])).unwrap();
        assert!(message(one.representatives(0.1, 1, 0.05).unwrap_err()).contains("ask for more worlds"));
        assert_eq!(
            message(one.representatives(f64::NAN, 1, 0.05).unwrap_err()),
            "worlds: tau is NaN, but must be between 0 and 1"
        );
        assert_eq!(
            message(one.representatives(0.1, 1, 1.0).unwrap_err()),
            "worlds: error is 1, but must be above 0 and below 1"
        );
    }
}
