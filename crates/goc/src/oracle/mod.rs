//! Oracles: methods that cluster plain points.
//!
//! The paper's `C(Xi; K)` (section 3.2): an oracle takes one point per object and returns which
//! objects belong together. There is one file per oracle, and each can be used on its own.
//!
//! # What every oracle here guarantees
//! - No points, `K = 0` or `K > n` is an error that says so.
//! - With fewer distinct points than `K`, each distinct point is a cluster, so the answer has fewer
//!   than `K` clusters.
//! - Equal points get the same label only where the method itself guarantees it; k-means and
//!   k-medoids may break a tie between equal centres by the lower index.
//! - The same points, start and stream give the same labels on any machine with any number of
//!   threads.

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
mod nearest;
pub mod spectral;
#[cfg(test)]
mod threads;

use crate::{Partition, Points, Stream};

/// What an oracle starts from.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// The requested number of clusters; the oracle finds its own start.
    K(usize),
    /// The initial centres, one per cluster. An oracle that cannot use centres uses their number
    /// only.
    Centres(&'a Points),
}

impl Start<'_> {
    /// The requested number of clusters.
    pub fn k(&self) -> usize {
        match self {
            Start::K(k) => *k,
            Start::Centres(centres) => centres.len(),
        }
    }

    /// Checks the conditions common to all oracles; every oracle calls this first.
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

/// A method that clusters plain points.
pub trait Oracle: Sync {
    /// The name used on the command line and in results.
    fn name(&self) -> &str;

    /// Labels for `points`, from `start`; all randomness is drawn from `stream`.
    fn cluster(&self, points: &Points, start: Start<'_>, stream: &mut Stream) -> Result<Partition>;
}

/// What an oracle returns.
pub type Result<T, E = OracleError> = std::result::Result<T, E>;

/// Why an oracle failed.
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
        /// Clusters requested.
        k: usize,
        /// Points given.
        n: usize,
    },
    /// Initial centres of a different dimension.
    #[error("the start centres have {centres} features, the points {points}")]
    FeaturesDiffer {
        /// Features of the centres.
        centres: usize,
        /// Features of the points.
        points: usize,
    },
    /// A user-defined oracle returned labels for a different number of points.
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
