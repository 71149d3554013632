//! Methods that group objects of which only the dissimilarities are known.
//!
//! The methods that compare whole sets ([`super::set_distances`], [`super::kl`]) differ only in the
//! dissimilarity; the clustering itself is one of these three.

use super::{Grouped, MethodError, Result, check_k};
use crate::Candidates;
use crate::oracle::OracleError;
use crate::oracle::affinity::Affinity;
use crate::oracle::dissimilarities::{Dissimilarities, DissimilaritiesError};
use crate::oracle::k_medoids::KMedoids;
use crate::oracle::linkage::Linkage;
use crate::random::stream;

/// Groups objects by their dissimilarities.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Clusterer {
    /// Affinity propagation: K follows from the preference. O(n^2) per round.
    Affinity(Affinity),
    /// k-medoids with `k` clusters (its own distance is not used). O(n^2) per round.
    KMedoids {
        /// The search.
        search: KMedoids,
        /// Clusters requested.
        k: usize,
    },
    /// Agglomerative linkage, cut at `k` clusters. O(n^2).
    Linkage {
        /// The linkage.
        linkage: Linkage,
        /// Clusters requested.
        k: usize,
    },
}

impl Clusterer {
    /// The check on K, made before any distance is computed.
    pub(super) fn check(&self, candidates: &Candidates) -> Result<()> {
        match self {
            Clusterer::Affinity(_) => Ok(()),
            Clusterer::KMedoids { k, .. } | Clusterer::Linkage { k, .. } => check_k(*k, candidates),
        }
    }

    /// Groups the objects; all randomness derives from `seed`. The objective is minus the net
    /// similarity (affinity propagation) or the loss (k-medoids).
    pub fn group(&self, dissimilarities: Dissimilarities, seed: u64) -> Result<Grouped, OracleError> {
        let rng = &mut stream(seed, 0);
        Ok(match self {
            Clusterer::Affinity(affinity) => {
                let fit = affinity.fit_matrix(&dissimilarities, rng)?;
                Grouped {
                    iterations: fit.iterations,
                    converged: fit.converged,
                    objective: Some(-fit.net_similarity),
                    ..Grouped::new(fit.partition)
                }
            }
            Clusterer::KMedoids { search, k } => {
                let fit = search.fit_matrix(&dissimilarities, *k, rng)?;
                Grouped { converged: fit.converged, objective: Some(fit.loss), ..Grouped::new(fit.partition) }
            }
            Clusterer::Linkage { linkage, k } => Grouped::new(linkage.fit_matrix(dissimilarities)?.cut(*k)?),
        })
    }
}

/// A dissimilarity that could not be computed, as an error of `method` that names both objects.
pub(super) fn not_computed(method: &'static str, error: &DissimilaritiesError) -> MethodError {
    MethodError::Failed { method, reason: format!("{error}; scale the features") }
}
