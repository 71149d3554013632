//! Learning how many objects to trim: those that a background without groups explains better than
//! the clusters.
//!
//! The joint objective is the likelihood of round normal clusters of one width. With `n_0` objects
//! trimmed and `J` the sum over the others, its variance is
//!
//! ```text
//! s^2 = J / (q (n - n_0 - K)).
//! ```
//!
//! The alternative is one normal distribution as wide as all objects, where S is the covariance of
//! their chosen candidates. The mean of its log density is used in place of the density itself, so
//! that a distant field object is no more likely to be in a group than one in the middle. An object
//! with the value v is equally likely in an average cluster, which has (n - n_0) / K members, and
//! in the background, which has n_0, if v is
//!
//! ```text
//! T = s^2 (q + ln |S| - q ln s^2 + 2 ln((n - n_0) / (K n_0))),
//! ```
//!
//! and objects above it are trimmed next. This is a classification likelihood with a noise
//! component (Banfield & Raftery 1993), maximised alternately over the background membership and
//! over the rest. It starts with half of the objects trimmed, the largest field that any robust
//! start withstands, and continues until the number is stable or recurs. If it started with none
//! trimmed, the field would make the clusters so wide that they keep it.
//!
//! The rule has no tuning parameter. It was chosen on clouds of ten groups of twenty in 2, 3 and 6
//! features and on six mock sets with a third of field stars (`goc simulate --field 137`, seeds
//! 501-506), in preference to the share of objects farther from the centres than the median of a
//! smoothed background (Storey's estimate), which diverged on the clouds;
//! docs/explanation/greedy.md has the figures.

use super::run::Clustering;
use super::select::Selector;
use super::trimmed::marked;
use super::{OptimisticError, ValidOptimistic};
use crate::Points;
use crate::matrix::{cholesky, ln_det};
use crate::method::Tick;
use crate::oracle::Oracle;

/// Maximum number of runs.
const ROUNDS: usize = 20;

impl ValidOptimistic<'_> {
    /// Repeats runs, each with the number of trimmed objects estimated from the run before, until
    /// it is stable.
    pub(super) fn run_learning(
        &self,
        oracle: &dyn Oracle,
        seed: u64,
        tick: Tick,
    ) -> Result<Clustering, OptimisticError> {
        let n = self.candidates.objects();
        let most = n - self.params.k;
        let mut trimmed = (n / 2).min(most);
        let mut seen = Vec::new();
        loop {
            let found = Self { trimmed, ..self.clone() }.run_trimmed(oracle, seed, tick)?;
            seen.push(trimmed);
            let next = self.in_background(&found).map_or(0, |many| many.min(most));
            if next == trimmed || seen.len() == ROUNDS {
                return Ok(found);
            }
            if seen.contains(&next) {
                return Self { trimmed: next, ..self.clone() }.run_trimmed(oracle, seed, tick);
            }
            trimmed = next;
        }
    }

    /// The number of objects that the background explains better than the clusters of `found`;
    /// `None` if there is no spread to compare with.
    fn in_background(&self, found: &Clustering) -> Option<usize> {
        let (n, q) = (self.candidates.objects() as f64, self.candidates.features() as f64);
        let k = found.clusters() as f64;
        let trimmed = marked(&found.trimmed) as f64;
        let freedom = q * (n - trimmed - k);
        if freedom <= 0.0 || found.objective <= 0.0 {
            return None;
        }
        let variance = found.objective / freedom;
        let extent = ln_det_covariance(&self.candidates.chosen(&found.chosen))?;
        let odds = (n - trimmed) / (k * trimmed.max(1.0));
        let bound = variance * (q + extent - q * libm::log(variance) + 2.0 * libm::log(odds));
        let mut selector = Selector::new(self.candidates, self.params.distance, self.params.lambda);
        let (choices, _) = selector.select(&found.moving_centres());
        Some(choices.iter().filter(|choice| choice.value > bound).count())
    }
}

/// `ln |S|` of the points; `None` if they have no extent in some direction.
fn ln_det_covariance(points: &Points) -> Option<f64> {
    let (n, q) = (points.len() as f64, points.features());
    let mut middle = vec![0.0; q];
    for x in points.rows() {
        middle.iter_mut().zip(x).for_each(|(sum, value)| *sum += value / n);
    }
    let mut covariance = vec![0.0; q * q];
    for x in points.rows() {
        for a in 0..q {
            for b in 0..q {
                covariance[a * q + b] += (x[a] - middle[a]) * (x[b] - middle[b]) / n;
            }
        }
    }
    Some(ln_det(&cholesky(&covariance, q)?, q))
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand_distr::StandardNormal;

    use crate::candidates::CandidatesBuilder;
    use crate::optimistic::{Clustering, KRule, Optimistic, Search, Trim};
    use crate::oracle::k_means::KMeans;
    use crate::{Candidates, random};

    /// Six groups of twenty in three features, and a wide field behind them; three candidates per
    /// object.
    fn cloud(field: usize, seed: u64) -> Candidates {
        let mut rng = random::stream(seed, 0);
        let mut normal = |width: f64| -> f64 { width * rng.sample::<f64, _>(StandardNormal) };
        let middles: Vec<f64> = (0..18).map(|_| normal(1.0)).collect();
        let mut builder = CandidatesBuilder::new(3);
        for i in 0..120 + field {
            let place: Vec<f64> = match i < 120 {
                true => (0..3).map(|f| middles[i % 6 * 3 + f] + normal(0.06)).collect(),
                false => (0..3).map(|_| normal(1.5)).collect(),
            };
            let rows: Vec<f64> = (0..9).map(|v| place[v % 3] + normal(0.05)).collect();
            builder.push(&rows, &[0.0, 0.5, 1.0]).unwrap();
        }
        builder.build().unwrap()
    }

    fn learned(candidates: &Candidates) -> Clustering {
        let goc = Optimistic::new(6).k_rule(KRule::Constant).lambda(0.01).search(Search::Thorough);
        goc.trim(Trim::Auto).check(candidates).unwrap().run(&KMeans::default().starts(10), 1).unwrap()
    }

    #[test]
    fn the_share_of_the_field_is_found_and_few_are_trimmed_where_there_is_none() {
        for (field, least, most) in [(0, 0, 8), (30, 24, 38), (60, 50, 70), (100, 86, 114)] {
            for seed in 1..4 {
                let found = learned(&cloud(field, seed));
                let trimmed = found.trimmed.iter().filter(|out| **out).count();
                assert!((least..=most).contains(&trimmed), "{field} {seed}: {trimmed}");
                assert_eq!(found.clusters(), 6);
                let wrong = found.trimmed.iter().take(120).filter(|out| **out).count();
                assert!(wrong <= 9, "{field} {seed}: {wrong} members trimmed");
            }
        }
    }

    #[test]
    fn objects_all_alike_and_as_many_clusters_as_objects_have_an_answer() {
        let alike = |n: usize| {
            let mut builder = CandidatesBuilder::new(2);
            for _ in 0..n {
                builder.push(&[1.0, 2.0], &[]).unwrap();
            }
            builder.build().unwrap()
        };
        for (n, k) in [(8, 1), (3, 3), (1, 1)] {
            let candidates = alike(n);
            let found = Optimistic::new(k).trim(Trim::Auto).check(&candidates).unwrap();
            let found = found.run(&KMeans::default(), 1);
            assert!(found.is_err() || found.unwrap().trimmed.iter().all(|out| !out), "{n} {k}");
        }
    }
}
