//! Clustering by distances between whole sets (paper, section 5.1, Discussion 1).
//!
//! The dissimilarity of two objects is a distance between their candidate sets ([`SetDistance`]);
//! affinity propagation, k-medoids or linkage then clusters the objects. The paper reports affinity
//! propagation with s1, s2 and s3 (`tests/affinity_on_paper.rs`). No candidates are chosen or
//! averaged in advance, and penalties are not used: all candidates count equally.
//!
//! Cost: O(n^2 m^2 q) for the distances, then that of the [`Clusterer`], which does not depend on
//! m.

use super::clusterer::{Clusterer, not_computed};
use super::{Grouped, Method, Result, Tick};
use crate::Candidates;
use crate::set_distance::SetDistance;

/// A set distance and the method that clusters by it.
///
/// ```
/// use goc::baselines::{Method, clusterer::Clusterer, set_distances::SetDistanceClustering};
/// use goc::candidates::CandidatesBuilder;
/// use goc::oracle::linkage::Linkage;
/// use goc::set_distance::SetDistance;
/// let mut builder = CandidatesBuilder::new(1);
/// for set in [[0.0, 4.0], [4.5, 8.0], [9.5, 14.0]] {
///     builder.push(&set, &[])?;
/// }
/// let method = SetDistanceClustering {
///     distance: SetDistance::Min,
///     clusterer: Clusterer::Linkage { linkage: Linkage::default(), k: 2 },
/// };
/// assert_eq!(method.name(), "linkage-s2");
/// assert_eq!(method.group(&builder.build()?, 1)?.partition.labels(), [0, 0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SetDistanceClustering {
    /// The distance between sets.
    pub distance: SetDistance,
    /// The method that clusters by it.
    pub clusterer: Clusterer,
}

impl SetDistanceClustering {
    fn static_name(&self) -> &'static str {
        use SetDistance::{Hausdorff, Mean, Min, MinMax};
        match (&self.clusterer, self.distance) {
            (Clusterer::Affinity(_), Mean) => "affinity-s1",
            (Clusterer::Affinity(_), Min) => "affinity-s2",
            (Clusterer::Affinity(_), MinMax) => "affinity-s3",
            (Clusterer::Affinity(_), Hausdorff) => "affinity-hausdorff",
            (Clusterer::KMedoids { .. }, Mean) => "k-medoids-s1",
            (Clusterer::KMedoids { .. }, Min) => "k-medoids-s2",
            (Clusterer::KMedoids { .. }, MinMax) => "k-medoids-s3",
            (Clusterer::KMedoids { .. }, Hausdorff) => "k-medoids-hausdorff",
            (Clusterer::Linkage { .. }, Mean) => "linkage-s1",
            (Clusterer::Linkage { .. }, Min) => "linkage-s2",
            (Clusterer::Linkage { .. }, MinMax) => "linkage-s3",
            (Clusterer::Linkage { .. }, Hausdorff) => "linkage-hausdorff",
        }
    }
}

impl Method for SetDistanceClustering {
    fn name(&self) -> &str {
        self.static_name()
    }

    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        self.clusterer.check(candidates)?;
        let table = self.distance.of(candidates).map_err(|e| not_computed(self.static_name(), &e))?;
        Ok(self.clusterer.group(table, seed)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::CandidatesBuilder;
    use crate::method::MethodError;
    use crate::oracle::affinity::{Affinity, Preference};
    use crate::oracle::k_medoids::KMedoids;
    use crate::oracle::linkage::{Linkage, Method as LinkageMethod};
    use crate::points::squared_distance;

    fn sets(rows: &[&[f64]]) -> Candidates {
        let mut builder = CandidatesBuilder::new(1);
        for row in rows {
            builder.push(row, &[]).unwrap();
        }
        builder.build().unwrap()
    }

    fn clusterers(k: usize) -> [Clusterer; 3] {
        [
            Clusterer::Affinity(Affinity::default()),
            Clusterer::KMedoids { search: KMedoids::default(), k },
            Clusterer::Linkage { linkage: Linkage::default(), k },
        ]
    }

    fn all(k: usize) -> impl Iterator<Item = SetDistanceClustering> {
        SetDistance::ALL.into_iter().flat_map(move |distance| {
            clusterers(k).into_iter().map(move |clusterer| SetDistanceClustering { distance, clusterer })
        })
    }

    #[test]
    fn every_pairing_separates_two_far_groups() {
        let far = sets(&[&[0.0, 1.0], &[0.5, 1.5, 2.2], &[1.1], &[90.0, 91.0], &[90.6], &[92.3, 91.0, 90.0]]);
        let mut names = std::collections::BTreeSet::new();
        for method in all(2) {
            let method = match method.clusterer {
                // The median lies between the groups; what is wanted is a preference below all of them.
                Clusterer::Affinity(affinity) => SetDistanceClustering {
                    clusterer: Clusterer::Affinity(affinity.preference(Preference::Quantile(0.0))),
                    ..method
                },
                _ => method,
            };
            let grouped = method.group(&far, 1).unwrap();
            assert_eq!(grouped.partition.canonical().labels(), [0, 0, 0, 1, 1, 1], "{}", method.name());
            assert!(grouped.converged);
            names.insert(method.name().to_owned());
        }
        assert_eq!(names.len(), 12, "every pairing has its own name: {names:?}");
    }

    #[test]
    fn objectives_are_those_of_the_answer() {
        let candidates = sets(&[&[0.0, 1.0], &[0.5, 1.6, 2.0], &[1.2], &[8.0, 9.0], &[8.4], &[9.9, 9.1]]);
        let table = SetDistance::Mean.of(&candidates).unwrap();
        let search = KMedoids::default();
        let fit = search.fit_matrix(&table, 2, &mut crate::random::stream(3, 0)).unwrap();
        let method = SetDistanceClustering {
            distance: SetDistance::Mean,
            clusterer: Clusterer::KMedoids { search, k: 2 },
        };
        let grouped = method.group(&candidates, 3).unwrap();
        assert_eq!((grouped.objective, &grouped.partition), (Some(fit.loss), &fit.partition));
        let fit = Affinity::default().fit_matrix(&table, &mut crate::random::stream(3, 0)).unwrap();
        let method = SetDistanceClustering {
            distance: SetDistance::Mean,
            clusterer: Clusterer::Affinity(Affinity::default()),
        };
        let grouped = method.group(&candidates, 3).unwrap();
        assert_eq!(grouped.objective, Some(-fit.net_similarity));
        assert_eq!((grouped.iterations, &grouped.partition), (fit.iterations, &fit.partition));
    }

    #[test]
    fn s2_with_single_linkage_joins_the_nearest_candidates() {
        // The nearest candidates of neighbours touch, though their means lie far apart.
        let candidates = sets(&[&[0.0, 10.0], &[10.1, 30.0], &[30.1, 50.0], &[60.0, 61.0]]);
        let linkage = Linkage::new(LinkageMethod::Single);
        let method = SetDistanceClustering {
            distance: SetDistance::Min,
            clusterer: Clusterer::Linkage { linkage, k: 2 },
        };
        assert_eq!(method.group(&candidates, 1).unwrap().partition.labels(), [0, 0, 0, 1]);
    }

    #[test]
    fn one_candidate_each_is_plain_linkage_for_every_distance() {
        let candidates = sets(&[&[0.0], &[1.0], &[5.0], &[6.5], &[20.0]]);
        let points = candidates.means();
        assert_eq!(squared_distance(points.row(0), points.row(2)), 25.0);
        let plain = Linkage::default().fit(&points).unwrap().cut(3).unwrap();
        for distance in SetDistance::ALL {
            let clusterer = Clusterer::Linkage { linkage: Linkage::default(), k: 3 };
            let method = SetDistanceClustering { distance, clusterer };
            assert_eq!(method.group(&candidates, 1).unwrap().partition, plain);
        }
    }

    #[test]
    fn one_object_is_one_cluster() {
        for method in all(1) {
            assert_eq!(method.group(&sets(&[&[3.0, 4.0]]), 1).unwrap().partition.labels(), [0]);
        }
    }

    #[test]
    fn identical_sets_have_a_defined_answer() {
        let same = sets(&[&[1.0, 2.0][..]; 5]);
        for method in all(2) {
            let k = method.group(&same, 1).unwrap().partition.k();
            // Affinity propagation at its median: one. Linkage never cuts at zero. k-medoids may
            // use what it is given.
            let most = if matches!(method.clusterer, Clusterer::Affinity(_)) { 1 } else { 2 };
            assert!((1..=most).contains(&k), "{}: {k}", method.name());
        }
    }

    #[test]
    fn k_equal_to_n_gives_each_object_its_cluster() {
        let candidates = sets(&[&[0.0, 1.0], &[5.0, 6.0], &[9.0]]);
        for method in all(3).filter(|m| !matches!(m.clusterer, Clusterer::Affinity(_))) {
            assert_eq!(method.group(&candidates, 1).unwrap().partition.k(), 3, "{}", method.name());
        }
    }

    #[test]
    fn bad_requests_are_named() {
        let candidates = sets(&[&[0.0, 1.0], &[5.0, 6.0]]);
        for method in all(0).filter(|m| !matches!(m.clusterer, Clusterer::Affinity(_))) {
            assert_eq!(method.group(&candidates, 1), Err(MethodError::NoClusters));
        }
        for method in all(3).filter(|m| !matches!(m.clusterer, Clusterer::Affinity(_))) {
            let too_many = MethodError::MoreClustersThanObjects { k: 3, n: 2 };
            assert_eq!(method.group(&candidates, 1), Err(too_many));
        }
        for method in all(1) {
            let error = method.group(&sets(&[&[0.0], &[1e200]]), 1).unwrap_err().to_string();
            let want = format!("{}: objects 0 and 1: dissimilarity inf must be a finite", method.name());
            assert!(error.starts_with(&want), "{error}");
        }
    }
}
