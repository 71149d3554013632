//! HDBSCAN (Campello, Moulavi & Sander 2013): clusters are groups that persist over a wide range of
//! densities.
//!
//! The core distance of a point is the distance to its `min_samples`-th neighbour, counting the
//! point itself. The distance between two points is the mutual reachability, `max(core_a, core_b,
//! |a - b|)`. The minimum spanning tree of these distances, cut at decreasing length, gives a tree
//! of components. Components of at least `min_cluster_size` points are its clusters, and the score
//! of a cluster is its excess of mass
//!
//! `sum over its points of (lambda at which the point leaves - lambda at which the cluster is born)`,
//! `lambda = 1 / length`.
//!
//! The selected clusters are those with the largest total score, none nested within another, and
//! never the whole set. Points in none of them are noise.
//!
//! A k-d tree (`tree`) finds core distances and leads Boruvka's rounds to the spanning tree
//! (`spanning`); the clusters follow from the spanning tree alone (`hierarchy`).
//!
//! # Decisions
//! - The number of clusters follows from the density: **K is not used** (it must still be from 1 to n, as for
//!   every oracle).
//! - Noise is `None` in [`HdbscanFit::labels`] and a cluster of its own in the [`Partition`], so
//!   GOC drops it when it keeps only clusters of more than one member.
//! - Edges of equal length are cut simultaneously, so the order of the points does not matter.
//!   scikit-learn cuts them one after another: there, a point whose core distance equals the length
//!   at which two clusters separate goes with one of them, whereas here it is noise.
//! - Equal points leave at infinite density. A cluster that contains `min_samples` equal points has
//!   an infinite score, and is preferred to parts of it. If all points are equal, nothing
//!   separates, so all are noise, as in scikit-learn.
//! - With fewer points than `min_samples` or `min_cluster_size`, all are noise.
//! - Clusters are numbered by their first member. Nothing is random.
//!
//! Cost: O(n log n) time in few features, approaching O(n^2 q) in many; O(n q) memory. 1e5 points in
//! three features take 0.2 s of CPU time, 2e4 in thirty 0.9 s (`benches/hdbscan.rs`).

mod hierarchy;
mod spanning;
mod tree;

use super::graph::distances_are_finite;
use super::{Oracle, OracleError, Result, Start};
use crate::{Partition, Points, Stream};

/// The HDBSCAN oracle. The defaults are scikit-learn's: clusters of at least five points, and as
/// many samples.
///
/// ```
/// use goc::{Points, oracle::hdbscan::Hdbscan};
/// let points = Points::new(vec![0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 90.0], 1)?;
/// let fit = Hdbscan::new(3).min_samples(2).fit(&points)?;
/// assert_eq!(fit.labels, [Some(0), Some(0), Some(0), Some(1), Some(1), Some(1), None]);
/// assert_eq!(fit.partition().labels(), [0, 0, 0, 1, 1, 1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hdbscan {
    min_cluster_size: usize,
    min_samples: Option<usize>,
}

impl Default for Hdbscan {
    fn default() -> Self {
        Self::new(5)
    }
}

/// The result of HDBSCAN.
#[derive(Clone, Debug, PartialEq)]
pub struct HdbscanFit {
    /// The cluster of each point, numbered by first member; `None` for noise.
    pub labels: Vec<Option<u32>>,
    /// The number of clusters, not counting noise.
    pub clusters: usize,
    /// How much of an outlier each point is for its cluster, from 0 (not at all) to 1 (GLOSH,
    /// Campello et al. 2015).
    pub outlier_scores: Vec<f64>,
}

impl HdbscanFit {
    /// The clusters, and after them every noise point as a cluster of its own.
    pub fn partition(&self) -> Partition {
        let mut alone = self.clusters as u32..;
        let labels: Vec<u32> =
            self.labels.iter().map(|l| l.unwrap_or_else(|| alone.next().unwrap_or(u32::MAX))).collect();
        Partition::from_labels(&labels)
    }
}

impl Hdbscan {
    /// Clusters of at least `min_cluster_size` points; at least two.
    pub fn new(min_cluster_size: usize) -> Self {
        Self { min_cluster_size: min_cluster_size.max(2), min_samples: None }
    }

    /// The neighbour whose distance is the core distance, counting the point itself as the first;
    /// at least 1. Defaults to `min_cluster_size`.
    pub fn min_samples(mut self, min_samples: usize) -> Self {
        self.min_samples = Some(min_samples.max(1));
        self
    }

    /// The full result, of which [`Oracle::cluster`] returns the partition.
    pub fn fit(&self, points: &Points) -> Result<HdbscanFit> {
        let n = points.len();
        let failed = |reason: &str| OracleError::Failed { oracle: self.name().into(), reason: reason.into() };
        if n == 0 {
            return Err(OracleError::NoPoints);
        }
        if !distances_are_finite(points) {
            return Err(failed("the distances are too large to be squared; scale the features"));
        }
        let min_samples = self.min_samples.unwrap_or(self.min_cluster_size);
        if n < min_samples.max(self.min_cluster_size) {
            return Ok(HdbscanFit { labels: vec![None; n], clusters: 0, outlier_scores: vec![0.0; n] });
        }
        let edges = spanning::mutual_reachability_tree(points, min_samples);
        Ok(hierarchy::clusters(edges, self.min_cluster_size))
    }
}

impl Oracle for Hdbscan {
    fn name(&self) -> &str {
        "hdbscan"
    }

    fn cluster(&self, points: &Points, start: Start<'_>, _stream: &mut Stream) -> Result<Partition> {
        start.check(points)?;
        self.fit(points).map(|fit| fit.partition())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congruential;
    use crate::oracle::graph::tests::{
        blobs, does_not_mind_order_place_and_direction, refuses_bad_requests, works_inside_goc,
    };
    use crate::random::stream;

    /// One letter per cluster in order of appearance, a dot for noise.
    fn shown(fit: &HdbscanFit) -> String {
        fit.labels.iter().map(|l| l.map_or('.', |l| (b'A' + l as u8) as char)).collect()
    }

    #[test]
    fn clusters_and_noise_are_those_of_scikit_learn() {
        // scikit-learn 1.9.1: HDBSCAN(min_cluster_size, min_samples).labels_, numbered by first appearance.
        let want = [
            (5, 5, "ABCDABCDA.CDABCDABC.ABCDABCDA.CDABCDABC.ABCDABCDA.CDABCDABC."),
            (3, 2, "ABCDABCDAECDABCDABC.ABCFABCDA.CFABCDABCEABCFABCDA.CDABC.ABCE"),
            (4, 1, "ABCDABCDA.CDABCDABC.ABCDABCDA.CDABCDABC.ABCDABCDA.CDABCDABC."),
            (8, 3, "ABCDABCDA.CDABCDABC.ABCDABCDA.CDABCDABC.ABCDABCDA.CDABCDABC."),
        ];
        for (size, samples, labels) in want {
            let fit = Hdbscan::new(size).min_samples(samples).fit(&blobs(1, 60, 2, 4)).unwrap();
            assert_eq!(shown(&fit), labels, "{size} {samples}");
        }
        let want = [
            (5, 5, "ABCDEABCD.ABCDEABCDBABCDEABCDBABCDEABCD.ABCDEABCDEABCDEABCD.ABCDEABCD.ABCDEABCD."),
            (3, 2, "ABCDEABCD.ABCDEABCDBABCDEABCDBABCDEABCDEABCDEABCDEABCDEABCDBABCDEABCDBABCDEABCD."),
            (8, 3, "ABCDEABCD.ABCDEABCDBABCDEABCDBABCDEABCD.ABCDEABCDEABCDEABCD.ABCDEABCDBABCDEABCD."),
        ];
        for (size, samples, labels) in want {
            let fit = Hdbscan::new(size).min_samples(samples).fit(&blobs(2, 80, 3, 5)).unwrap();
            assert_eq!(shown(&fit), labels, "{size} {samples}");
        }
    }

    #[test]
    fn noise_is_marked_alone_and_a_cluster_of_its_own_in_the_partition() {
        let points = blobs(1, 60, 2, 4);
        let oracle = Hdbscan::default();
        let fit = oracle.fit(&points).unwrap();
        let partition = oracle.cluster(&points, Start::K(7), &mut stream(1, 1)).unwrap();
        let noise = fit.labels.iter().filter(|l| l.is_none()).count();
        assert_eq!((fit.clusters, noise, partition.k()), (4, 6, 10));
        let sizes = partition.sizes();
        for (i, label) in fit.labels.iter().enumerate() {
            assert_eq!(label.is_none(), sizes[partition.labels()[i] as usize] == 1, "{i}");
        }
        assert!(fit.outlier_scores.iter().all(|s| (0.0..=1.0).contains(s)));
    }

    #[test]
    fn order_place_and_direction_do_not_matter() {
        does_not_mind_order_place_and_direction(|points| Hdbscan::default().fit(points).unwrap().partition());
    }

    #[test]
    fn too_few_points_are_noise() {
        for n in 1..5 {
            let fit = Hdbscan::default().fit(&blobs(1, n, 2, 1)).unwrap();
            assert_eq!((fit.labels, fit.clusters, fit.outlier_scores), (vec![None; n], 0, vec![0.0; n]));
        }
        let one = Points::new(vec![5.0], 1).unwrap();
        let partition = Hdbscan::default().cluster(&one, Start::K(1), &mut stream(1, 1)).unwrap();
        assert_eq!(partition.labels(), [0]);
    }

    #[test]
    fn equal_points_are_noise_alone_and_a_cluster_among_others() {
        let equal = Points::new(vec![3.0; 20], 2).unwrap();
        let fit = Hdbscan::default().fit(&equal).unwrap();
        assert_eq!((fit.clusters, fit.partition().k()), (0, 10));
        let two = Points::new((0..14).map(|i| f64::from(i % 2)).collect(), 1).unwrap();
        assert_eq!(shown(&Hdbscan::default().fit(&two).unwrap()), "ABABABABABABAB");
    }

    #[test]
    fn the_order_of_points_with_many_equal_distances_does_not_matter() {
        let mut uniform = congruential::uniform(8);
        let rows: Vec<[f64; 2]> =
            (0..400).map(|_| [(12.0 * uniform()).floor(), (12.0 * uniform()).floor()]).collect();
        let reversed: Vec<[f64; 2]> = rows.iter().rev().copied().collect();
        for (size, samples) in [(3, 2), (5, 5), (8, 3)] {
            let oracle = Hdbscan::new(size).min_samples(samples);
            let fit = |rows: &[[f64; 2]]| oracle.fit(&Points::from_rows(rows).unwrap()).unwrap();
            let (one, other) = (fit(&rows), fit(&reversed));
            assert_eq!(one.clusters, other.clusters);
            let mut back = other.labels.clone();
            back.reverse();
            assert_eq!(
                one.labels.iter().map(Option::is_none).collect::<Vec<_>>(),
                back.iter().map(Option::is_none).collect::<Vec<_>>()
            );
            let mut partner = vec![None; one.clusters];
            for (a, b) in one.labels.iter().zip(&back).filter_map(|(a, b)| Some(((*a)?, (*b)?))) {
                assert_eq!(*partner[a as usize].get_or_insert(b), b);
            }
        }
    }

    #[test]
    fn k_from_one_to_n_changes_nothing() {
        let points = blobs(4, 30, 2, 3);
        let at = |k| Hdbscan::default().cluster(&points, Start::K(k), &mut stream(1, 1)).unwrap();
        assert_eq!(at(1), at(30));
        refuses_bad_requests(&Hdbscan::default());
    }

    #[test]
    fn it_works_inside_goc() {
        works_inside_goc(&Hdbscan::new(4));
    }
}
