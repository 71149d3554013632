//! Oracles: any method that clusters plain points.
//!
//! The paper's `C(Xi; K)` (section 3.2): it takes one point per object and says which belong
//! together. One file an oracle; each is usable alone.
//!
//! # What every oracle here promises
//! - No points, `K = 0`, `K > n`: an error that says so.
//! - Fewer distinct points than `K`: each distinct point is a cluster, so the answer has fewer than `K`.
//! - Equal points get the same label only where the method itself says so; k-means and k-medoids may
//!   break a tie between equal centres by the lower number.
//! - The same points, start and stream give the same labels on any machine and any number of threads.

pub mod affinity;
pub mod convex;
pub mod custom;
pub mod dissimilarities;
pub mod gmm_diag;
pub(crate) mod graph;
pub mod hdbscan;
pub mod k_means;
pub mod k_medoids;
pub mod linkage;
pub mod mclust;
pub mod mean_shift;
pub mod spectral;
#[cfg(test)]
mod threads;

use crate::{Partition, Points, Stream};

/// Where an oracle begins.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// So many clusters are wanted; the oracle finds its own start.
    K(usize),
    /// Begin from these centres, one a cluster. An oracle that cannot use centres takes their number.
    Centres(&'a Points),
}

impl Start<'_> {
    /// How many clusters are wanted.
    pub fn k(&self) -> usize {
        match self {
            Start::K(k) => *k,
            Start::Centres(centres) => centres.len(),
        }
    }

    /// The rules that hold for every oracle; called first by each.
    pub fn check(&self, points: &Points) -> Result<()> {
        let (k, n) = (self.k(), points.len());
        if n == 0 {
            return Err(OracleError::NoPoints);
        }
        if k == 0 {
            return Err(OracleError::NoClusters);
        }
        if k > n {
            return Err(OracleError::MoreClustersThanPoints { k, n });
        }
        if let Start::Centres(centres) = self
            && centres.features() != points.features()
        {
            return Err(OracleError::FeaturesDiffer {
                centres: centres.features(),
                points: points.features(),
            });
        }
        Ok(())
    }
}

/// Clusters plain points.
pub trait Oracle: Sync {
    /// The name used on the command line and in results.
    fn name(&self) -> &str;

    /// Labels for `points`, from `start`; whatever is random is drawn from `stream`.
    fn cluster(&self, points: &Points, start: Start<'_>, stream: &mut Stream) -> Result<Partition>;
}

/// What an oracle answers.
pub type Result<T, E = OracleError> = std::result::Result<T, E>;

/// Why an oracle has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OracleError {
    /// Nothing to cluster.
    #[error("there are no points to cluster")]
    NoPoints,
    /// K = 0.
    #[error("the number of clusters must be at least 1")]
    NoClusters,
    /// K > n.
    #[error("{k} clusters were asked for, but {}", crate::only_objects(*.n))]
    MoreClustersThanPoints {
        /// Clusters asked for.
        k: usize,
        /// Points given.
        n: usize,
    },
    /// Start centres of another dimension.
    #[error("the start centres have {centres} features, the points {points}")]
    FeaturesDiffer {
        /// Features of the centres.
        centres: usize,
        /// Features of the points.
        points: usize,
    },
    /// A user's own oracle answered with labels for another number of points.
    #[error("the oracle labelled {labels} points of {points}")]
    WrongLength {
        /// Labels received.
        labels: usize,
        /// Points given.
        points: usize,
    },
    /// The method itself failed.
    #[error("{oracle}: {reason}")]
    Failed {
        /// The oracle's name.
        oracle: String,
        /// What went wrong, and what may help.
        reason: String,
    },
}
