//! Significance: is a cluster more than what the method finds where there are no groups?
//!
//! The method is run on backgrounds generated from the data ([`super::background`]), and the
//! clusters it finds there are scored in the same way as those of the data ([`super::evidence`]). A
//! cluster's p-value is the share of background clusters of comparable size with at least its
//! evidence, with one added to both counts; q-values are those of Benjamini & Hochberg
//! ([`super::discovery`]). Of the clusters with `q <= Q`, a share of about `Q` is expected to be
//! due to chance.
//!
//! Background clusters of at least half and at most twice the size are comparable. If there are
//! fewer than [`ENOUGH`] of them, the nearest in size are added until there are enough. A cluster
//! of one is not tested: its p and q are NaN, and it is never significant.
//!
//! This tests whether *there is* a group, not whether every member belongs to it; for members, see
//! [`super::noise`].
//!
//! The cost per run is that of the method plus that of the evidence.

use rand::RngExt;
use rayon::prelude::*;

use super::background::Background;
use super::discovery::{p_value, q_values};
use super::evidence::{Evidence, evidence};
use super::{ConfidenceError, check_objects};
use crate::candidates::PENALTY_STRENGTH;
use crate::method::Tick;
use crate::random::stream;
use crate::{Candidates, Partition};

/// The streams of significance, separate from those of methods and of stability.
const STREAMS: u64 = 0x5349_0000_0000_0000;

/// The minimum number of background clusters behind a p-value, if that many exist.
pub const ENOUGH: usize = 50;

/// Parameters of the significance test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Significance {
    /// The number of runs of the method on backgrounds.
    pub runs: usize,
    /// How the backgrounds are generated.
    pub background: Background,
    /// The cost of a penalty of 1 in log likelihood, a finite non-negative number.
    pub penalty_strength: f64,
}

/// The test results, by cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Evidence of clusters and objects.
    pub evidence: Evidence,
    /// p-value of each cluster; NaN for a cluster of one.
    pub p: Vec<f64>,
    /// q-value of each cluster; NaN for a cluster of one.
    pub q: Vec<f64>,
    /// The number of clusters with at least two members found in the backgrounds.
    pub null_clusters: usize,
}

impl Verdict {
    /// Which clusters are significant at this false-discovery rate.
    pub fn significant(&self, rate: f64) -> Vec<bool> {
        self.q.iter().map(|q| *q <= rate).collect()
    }
}

impl Significance {
    /// This many runs on smooth backgrounds, with the paper's penalties.
    pub fn new(runs: usize) -> Self {
        Self { runs, background: Background::default(), penalty_strength: PENALTY_STRENGTH }
    }

    /// Runs `method`, a function of candidates and seed, on backgrounds and tests `partition`;
    /// `tick` is called after every run, from any thread.
    ///
    /// ```
    /// use goc::confidence::Significance;
    /// use goc::oracle::{Start, k_means::KMeans};
    /// use goc::{Candidates, Points, random::stream};
    /// // Twenty objects on a loose grid, and a tight group of eight beside it.
    /// let mut rows: Vec<[f64; 2]> = (0..20).map(|i| [f64::from(i % 5), f64::from(i / 5)]).collect();
    /// rows.extend((0..8).map(|i| [7.0 + 0.01 * f64::from(i), 1.5]));
    /// let candidates = Candidates::from_points(&Points::from_rows(&rows)?)?;
    /// let method = |c: &Candidates, seed| {
    ///     Ok::<_, goc::oracle::OracleError>(
    ///         KMeans::default().fit(&c.means(), Start::K(9), &mut stream(seed, 0))?.partition,
    ///     )
    /// };
    /// let partition = method(&candidates, 1)?;
    /// let verdict = Significance::new(60).judge(&candidates, &partition, 1, &method, &|| {})?;
    /// // The group's cluster is the most surprising one.
    /// let own = verdict.p[partition.labels()[20] as usize];
    /// assert!(own < 0.05 && verdict.p.iter().all(|p| p.is_nan() || *p >= own));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn judge<E: Send>(
        &self,
        candidates: &Candidates,
        partition: &Partition,
        seed: u64,
        method: &(dyn Fn(&Candidates, u64) -> Result<Partition, E> + Sync),
        tick: Tick,
    ) -> Result<Verdict, ConfidenceError<E>> {
        if self.runs == 0 {
            return Err(ConfidenceError::NoRepeats);
        }
        check_objects(partition, candidates.objects())?;
        let found: Vec<Result<Vec<(usize, f64)>, E>> = (0..self.runs)
            .into_par_iter()
            .map(|run| {
                let mut rng = stream(seed, STREAMS | run as u64);
                let background = self.background.draw(candidates, &mut rng);
                let clusters = method(&background, rng.random()).map(|found| {
                    let judged = evidence(&background, &found, self.penalty_strength);
                    by_size(&judged).filter(|(size, _)| *size > 1).collect()
                });
                tick();
                clusters
            })
            .collect();
        let mut null: Vec<(usize, f64)> = Vec::new();
        for (run, result) in found.into_iter().enumerate() {
            let what = "a background without groups";
            let clusters =
                result.map_err(|error| ConfidenceError::Repeat { repeat: run + 1, what, error })?;
            null.extend(clusters);
        }
        // By size; equal sizes stay in the order of the runs.
        null.sort_by_key(|(size, _)| *size);
        let evidence = evidence(candidates, partition, self.penalty_strength);
        let p: Vec<f64> = by_size(&evidence)
            .map(|(size, value)| if size < 2 { f64::NAN } else { p_value(value, &comparable(&null, size)) })
            .collect();
        Ok(Verdict { q: q_values(&p), p, evidence, null_clusters: null.len() })
    }
}

/// Size and evidence of each cluster.
fn by_size(evidence: &Evidence) -> impl Iterator<Item = (usize, f64)> + '_ {
    evidence.sizes.iter().zip(&evidence.clusters).map(|(&size, &value)| (size, value))
}

/// The evidence of null clusters of comparable size; `null` is in ascending order of size.
fn comparable(null: &[(usize, f64)], size: usize) -> Vec<f64> {
    let mut from = null.partition_point(|(s, _)| 2 * s < size);
    let mut to = null.partition_point(|(s, _)| *s <= 2 * size);
    let ratio = |s: usize| if s > size { s as f64 / size as f64 } else { size as f64 / s as f64 };
    while to - from < ENOUGH && (from > 0 || to < null.len()) {
        let below = if from > 0 { ratio(null[from - 1].0) } else { f64::INFINITY };
        let above = if to < null.len() { ratio(null[to].0) } else { f64::INFINITY };
        if below <= above { from -= 1 } else { to += 1 }
    }
    null[from..to].iter().map(|(_, value)| *value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Points;
    use crate::oracle::Start;
    use crate::oracle::k_means::KMeans;
    use rand_distr::{Distribution, StandardNormal};

    type Oracle = crate::oracle::OracleError;

    fn k_means(k: usize) -> impl Fn(&Candidates, u64) -> Result<Partition, Oracle> + Sync {
        move |c, seed| {
            let oracle = KMeans::default().starts(3);
            Ok(oracle.fit(&c.means(), Start::K(k.min(c.objects())), &mut stream(seed, 0))?.partition)
        }
    }

    /// `loose` objects of a correlated normal distribution, and groups of `members` each that are
    /// tight.
    fn sky(seed: u64, loose: usize, groups: usize, members: usize) -> Candidates {
        let mut rng = stream(seed, 77);
        let mut draw = || -> f64 { StandardNormal.sample(&mut rng) };
        let mut rows = Vec::new();
        for _ in 0..loose {
            let (a, b) = (draw(), draw());
            rows.push([a, 0.6 * a + 0.8 * b]);
        }
        for _ in 0..groups {
            let (a, b) = (draw(), draw());
            for _ in 0..members {
                rows.push([a + 0.02 * draw(), 0.6 * a + 0.8 * b + 0.02 * draw()]);
            }
        }
        Candidates::from_points(&Points::from_rows(&rows).unwrap()).unwrap()
    }

    #[test]
    fn without_groups_p_values_are_about_uniform_and_discoveries_few() {
        for background in [Background::default(), Background::Shuffled] {
            let (mut p, mut discoveries) = (Vec::new(), 0);
            for seed in 0..12 {
                let c = sky(seed, 120, 0, 0);
                let method = k_means(20);
                let partition = method(&c, seed).unwrap();
                let test = Significance { background, ..Significance::new(20) };
                let verdict = test.judge(&c, &partition, seed, &method, &|| {}).unwrap();
                discoveries += usize::from(verdict.significant(0.1).contains(&true));
                p.extend(verdict.p.into_iter().filter(|p| !p.is_nan()));
            }
            p.sort_by(f64::total_cmp);
            let n = p.len() as f64;
            let off = p.iter().enumerate().map(|(at, p)| (p - at as f64 / n).abs()).fold(0.0, f64::max);
            // Kolmogorov-Smirnov at 1 % for independent values is 1.63 / sqrt n = 0.11; clusters of
            // one data set are dependent.
            assert!(off < 0.14, "{background:?}: {off} of {n}");
            assert!(discoveries <= 3, "{background:?}: {discoveries} of 12 sets");
        }
    }

    #[test]
    fn clusters_that_are_a_tight_group_are_significant_and_clusters_of_loose_objects_are_not() {
        let c = sky(3, 80, 5, 8);
        let method = k_means(25);
        let partition = method(&c, 1).unwrap();
        let verdict = Significance::new(20).judge(&c, &partition, 1, &method, &|| {}).unwrap();
        let significant = verdict.significant(0.05);
        let (mut groups, mut loose) = (0, 0);
        for (label, size) in partition.sizes().into_iter().enumerate() {
            let members = |from: usize, to: usize| {
                (from..to).filter(|&i| partition.labels()[i] as usize == label).count()
            };
            let most = (0..5).map(|g| members(80 + 8 * g, 88 + 8 * g)).max().unwrap();
            // k-means may put loose objects into a group's cluster; it still counts as the group's
            // if they are few.
            if 10 * most >= 8 * size && most >= 6 {
                groups += 1;
                assert!(significant[label], "{most} of {size}: {} {}", verdict.p[label], verdict.q[label]);
            } else if members(80, 120) == 0 {
                loose += usize::from(significant[label]);
            }
        }
        assert!(groups >= 3 && loose <= 1, "{groups} groups, {loose} significant clusters of loose objects");
        assert!(verdict.null_clusters > 300);
    }

    #[test]
    fn threads_do_not_change_the_bytes() {
        let c = sky(4, 60, 2, 6);
        let method = k_means(12);
        let partition = method(&c, 1).unwrap();
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                format!("{:?}", Significance::new(6).judge(&c, &partition, 2, &method, &|| {}).unwrap())
            })
        };
        assert_eq!(on(1), on(2));
        assert_eq!(on(1), on(4));
    }

    #[test]
    fn few_objects_one_cluster_and_singletons_have_an_answer() {
        for n in 1..=3 {
            let c = sky(5, n, 0, 0);
            for k in [1, n] {
                let method = k_means(k);
                let partition = method(&c, 1).unwrap();
                let verdict = Significance::new(5).judge(&c, &partition, 1, &method, &|| {}).unwrap();
                for (size, (p, q)) in partition.sizes().iter().zip(verdict.p.iter().zip(&verdict.q)) {
                    assert_eq!(*size == 1, p.is_nan() && q.is_nan());
                    assert!(*size == 1 || (*p > 0.0 && *p <= 1.0 && *q <= 1.0));
                }
            }
        }
        let c = sky(5, 3, 0, 0);
        let failed =
            Significance::new(0).judge(&c, &Partition::from_labels(&[0, 0, 0]), 1, &k_means(1), &|| {});
        assert_eq!(failed.unwrap_err(), ConfidenceError::NoRepeats);
    }

    #[test]
    fn comparable_sizes_are_taken_first_and_then_the_nearest() {
        let null: Vec<(usize, f64)> = (2..=100).map(|s| (s, s as f64)).collect();
        let near = comparable(&null, 60);
        assert_eq!((near[0], near[near.len() - 1]), (30.0, 100.0));
        // 4: sizes 2 to 8 are seven; more are added from above, as there are none below.
        assert_eq!(comparable(&null, 4).len(), ENOUGH);
        assert!(comparable(&[], 4).is_empty());
    }

    #[test]
    fn penalties_in_another_unit_with_a_strength_to_match_change_nothing() {
        let plain = sky(6, 40, 2, 5);
        let mut builder = crate::candidates::CandidatesBuilder::new(2);
        for i in 0..plain.objects() {
            let x = plain.candidate(i, 0);
            let rows = [x[0], x[1], x[0] + 0.3, x[1], x[0], x[1] - 0.2];
            builder.push(&rows, &[0.1, 0.7, (i % 5) as f64 * 0.4]).unwrap();
        }
        let c = builder.build().unwrap();
        let method = k_means(8);
        let partition = method(&c, 1).unwrap();
        let test = Significance::new(4);
        let found = test.judge(&c, &partition, 1, &method, &|| {}).unwrap();
        let finer = Significance { penalty_strength: test.penalty_strength * 4.0, ..test };
        let again = finer.judge(&c.divide_penalties(4.0), &partition, 1, &method, &|| {}).unwrap();
        assert_eq!(again, found);
    }
}
