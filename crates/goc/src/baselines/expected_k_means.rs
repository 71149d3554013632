//! k-means by expected squared distances, without the shortcut over the means (Chau et al. 2006; Ngai et al.
//! 2006).
//!
//! UK-means as originally formulated: minimise `sum_i mean_j |x_ij - c_{l_i}|^2` over labels and
//! centres, with the expectation summed over all candidates. Lee, Kao & Cheng (2007) showed that
//! this is unnecessary:
//!
//! ```text
//! mean_j |x_ij - c|^2 = |mean_i - c|^2 + mean_j |x_ij - mean_i|^2
//! ```
//!
//! The last term does not depend on the centre, so the labels are those of k-means on the means
//! ([`super::uk_means`]), and the objective is larger by the sum of the variances. This method
//! exists to show that in a test, and to show what the pruning of Ngai et al. saves where no such
//! shortcut exists. For practical use, prefer [`super::uk_means`].
//!
//! The centre of a cluster is the mean of its members' means. The cost of a round is `n K m q`
//! without pruning; with pruning it is `n K q` plus the pairs that remain.

use super::alternating_minimisation::{DistanceCount, Model, best_of_starts, descend};
use super::expected::{Expected, Power};
use super::{Grouped, Method, Result, Tick, check_k};
use crate::{Candidates, Points};

/// UK-means by sums over all candidates.
///
/// ```
/// use goc::baselines::{Method, expected_k_means::ExpectedKMeans};
/// use goc::candidates::CandidatesBuilder;
/// let mut builder = CandidatesBuilder::new(1);
/// for set in [[0.0, 1.0], [0.2, 0.8], [7.0, 9.0]] {
///     builder.push(&set, &[])?;
/// }
/// let grouped = ExpectedKMeans::new(2).group(&builder.build()?, 1)?;
/// assert_eq!(grouped.partition.canonical().labels(), [0, 0, 1]);
/// assert!((grouped.objective.unwrap() - (0.25 + 0.09 + 1.0)).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedKMeans {
    k: usize,
    starts: usize,
    max_iterations: usize,
    pruning: bool,
}

impl ExpectedKMeans {
    /// For `k` clusters, with 10 starts, at most 100 rounds and pruning.
    pub fn new(k: usize) -> Self {
        Self { k, starts: 10, max_iterations: 100, pruning: true }
    }

    setters! {
        /// The number of starts; at least one is made.
        starts: usize = starts.max(1);
        /// The maximum number of rounds of each start; at least one is made.
        max_iterations: usize = max_iterations.max(1);
        /// Whether bounding boxes are used to rule out distances; the labels are the same either
        /// way.
        pruning: bool;
    }

    /// One run from given centres instead of random ones, and the numbers of expected distances
    /// computed and pruned.
    pub fn group_from(&self, candidates: &Candidates, centres: &Points) -> Result<(Grouped, DistanceCount)> {
        check_k(centres.len(), candidates)?;
        check_features(centres, candidates)?;
        let model = Squares::new(candidates, self.pruning);
        let run = descend(&model, centres.clone(), self.max_iterations);
        let count = run.count;
        Ok((run.grouped(model.means), count))
    }
}

/// Start centres must have the candidates' features.
pub(super) fn check_features(centres: &Points, candidates: &Candidates) -> Result<()> {
    let (centres, points) = (centres.features(), candidates.features());
    if centres != points {
        return Err(crate::oracle::OracleError::FeaturesDiffer { centres, points }.into());
    }
    Ok(())
}

struct Squares<'a> {
    expected: Expected<'a>,
    means: Points,
}

impl<'a> Squares<'a> {
    fn new(candidates: &'a Candidates, pruning: bool) -> Self {
        Self { expected: Expected::new(candidates, Power::Squared, pruning), means: candidates.means() }
    }
}

impl Model for Squares<'_> {
    fn cost(&self, i: usize, centre: &[f64]) -> f64 {
        self.expected.distance(i, centre)
    }

    fn anchors(&self) -> &Points {
        &self.means
    }

    fn centre(&self, members: &[usize], _old: &[f64]) -> Vec<f64> {
        mean_of_rows(&self.means, members)
    }

    fn nearest(&self, i: usize, centres: &Points, count: &mut DistanceCount) -> usize {
        self.expected.nearest(i, centres, count)
    }
}

/// The mean of some rows, added in order.
pub(super) fn mean_of_rows(points: &Points, rows: &[usize]) -> Vec<f64> {
    let mut mean = vec![0.0; points.features()];
    for &i in rows {
        for (s, x) in mean.iter_mut().zip(points.row(i)) {
            *s += x;
        }
    }
    for s in &mut mean {
        *s /= rows.len() as f64;
    }
    mean
}

impl Method for ExpectedKMeans {
    fn name(&self) -> &str {
        "expected-k-means"
    }

    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        check_k(self.k, candidates)?;
        let model = Squares::new(candidates, self.pruning);
        let way = |centres| descend(&model, centres, self.max_iterations);
        let run =
            best_of_starts("expected-k-means", &model, self.k, self.starts, seed, |run| run.objective, way)?;
        Ok(run.grouped(model.means))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::testing::{blobs, elki_objects, identical, one_object};
    use crate::method::MethodError;
    use crate::oracle::Start;
    use crate::oracle::k_means::{Algorithm, KMeans};
    use crate::points::squared_distance;
    use crate::random;

    #[test]
    fn lee_equivalence_labels_are_those_of_the_means_and_the_objective_is_higher_by_the_variances() {
        for seed in 0..40 {
            let candidates = blobs(60, 7, 3, 1.5, seed);
            let means = candidates.means();
            let variances: f64 = (0..60)
                .map(|i| {
                    let m = candidates.count(i);
                    (0..m).map(|j| squared_distance(&candidates.candidate(i, j), means.row(i))).sum::<f64>()
                        / m as f64
                })
                .sum();
            let k = 2 + seed as usize % 9;
            let start = means.subset(&(0..k).map(|l| l * 6).collect::<Vec<_>>());
            let (grouped, _) = ExpectedKMeans::new(k).group_from(&candidates, &start).unwrap();
            let lloyd = KMeans::default().algorithm(Algorithm::Lloyd).max_iterations(100);
            let fit = lloyd.fit(&means, Start::Centres(&start), &mut random::stream(1, 0)).unwrap();
            assert_eq!(grouped.partition, fit.partition, "seed {seed}");
            assert_eq!(grouped.iterations, fit.iterations);
            let objective = grouped.objective.unwrap();
            assert!((objective - (fit.loss + variances)).abs() < 1e-9 * objective, "seed {seed}");
        }
    }

    #[test]
    fn pruning_changes_no_byte_of_the_answer_and_saves_most_distances() {
        let candidates = blobs(200, 20, 2, 0.3, 5);
        let method = ExpectedKMeans::new(12);
        let start = candidates.means().subset(&(0..12).map(|l| l * 16).collect::<Vec<_>>());
        let (with, pruned) = method.group_from(&candidates, &start).unwrap();
        let (without, all) = method.clone().pruning(false).group_from(&candidates, &start).unwrap();
        assert_eq!(with, without);
        assert_eq!(all.pruned, 0);
        assert_eq!(pruned.computed + pruned.pruned, all.computed);
        assert!(pruned.pruned > 4 * pruned.computed, "{pruned:?}");
        assert_eq!(
            method.group(&candidates, 3).unwrap(),
            method.clone().pruning(false).group(&candidates, 3).unwrap()
        );
    }

    #[test]
    fn more_rounds_never_raise_the_objective() {
        let candidates = blobs(80, 9, 2, 2.0, 8);
        let after = |rounds| {
            let method = ExpectedKMeans::new(6).starts(1).max_iterations(rounds);
            method.group(&candidates, 4).unwrap().objective.unwrap()
        };
        let objectives: Vec<f64> = (1..20).map(after).collect();
        assert!(objectives.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-14)), "{objectives:?}");
        assert!(objectives[18] < objectives[0]);
    }

    /// ELKI 0.7.1 (Debian 0.7.1-10.1), UKMeans, K = 5: the best of 200 seeds, and its sum of expected squared
    /// distances.
    #[test]
    fn the_answer_is_elkis() {
        let candidates = elki_objects();
        assert_eq!(candidates.candidate(0, 0)[0], -1.0031107905077374);
        assert_eq!(candidates.candidate(33, 4)[1], -3.5697641918176988);
        let labels = [
            2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 0, 3,
            4, 0,
        ];
        let grouped = ExpectedKMeans::new(5).starts(50).group(&candidates, 1).unwrap();
        assert!(grouped.partition.same_grouping(&crate::Partition::from_labels(&labels)));
        assert!((grouped.objective.unwrap() - 157.25045735404086).abs() < 1e-9);
        let oracle = KMeans::default();
        let means = crate::baselines::uk_means::UkMeans { oracle: &oracle, k: 5 };
        assert!(means.group(&candidates, 1).unwrap().partition.same_grouping(&grouped.partition));
    }

    #[test]
    fn degenerate_inputs_have_a_defined_answer() {
        assert_eq!(ExpectedKMeans::new(1).group(&one_object(), 1).unwrap().partition.labels(), [0]);
        // Equal sets: one cluster, whatever K.
        assert_eq!(ExpectedKMeans::new(3).group(&identical(5), 1).unwrap().partition.k(), 1);
        let candidates = blobs(9, 4, 2, 0.5, 2);
        let all = ExpectedKMeans::new(9).group(&candidates, 1).unwrap();
        assert_eq!(all.partition.k(), 9);
        assert!(!ExpectedKMeans::new(3).starts(1).max_iterations(1).group(&candidates, 1).unwrap().converged);
        let error = |k| ExpectedKMeans::new(k).group(&candidates, 1).unwrap_err();
        assert_eq!(error(0), MethodError::NoClusters);
        assert_eq!(error(10), MethodError::MoreClustersThanObjects { k: 10, n: 9 });
        let wrong = Points::new(vec![1.0], 1).unwrap();
        let error = ExpectedKMeans::new(1).group_from(&candidates, &wrong).unwrap_err();
        assert_eq!(error.to_string(), "the start centres have 1 features, the points 2");
    }
}
