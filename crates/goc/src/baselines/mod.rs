//! Baselines: what GOC is compared with. One file a method.
//!
//! Each is a struct with its parameters and answers through the one trait [`Method`], so that all of them run on the same
//! candidates and come out in one table.

mod alternating_minimisation;
mod bounding;
pub mod boxes;
pub mod clusterer;
pub mod convex_sets;
pub mod ensemble;
mod expected;
pub mod expected_k_means;
pub mod fdbscan;
pub mod kl;
pub mod possible_worlds;
pub mod representative_worlds;
pub mod robust_boxes;
pub mod set_distances;
#[cfg(test)]
pub(crate) mod testing;
pub mod uk_means;
pub mod uk_medians;

pub use alternating_minimisation::DistanceCount;

use crate::oracle::OracleError;
use crate::{Candidates, Partition, Points};

/// Groups uncertain objects.
pub trait Method: Sync {
    /// The name used on the command line and in results.
    fn name(&self) -> &str;

    /// Groups the objects; whatever is random follows from `seed`.
    fn group(&self, candidates: &Candidates, seed: u64) -> Result<Grouped, MethodError>;
}

/// What a method for uncertain objects found.
#[derive(Clone, Debug, PartialEq)]
pub struct Grouped {
    /// The clusters. An object that the method calls noise is a cluster of its own.
    pub partition: Partition,
    /// Which objects are noise; empty when the method knows no noise.
    pub noise: Vec<bool>,
    /// Rounds of the method's own loop; 0 when it has none.
    pub iterations: usize,
    /// False when a limit of rounds came first.
    pub converged: bool,
    /// What the method minimises, where it minimises something.
    pub objective: Option<f64>,
    /// Where each object was taken to be, where the method says so.
    pub places: Option<Points>,
    /// How sure the method is of each object, from 0 to 1; empty when it does not say.
    pub confidence: Vec<f64>,
}

impl Grouped {
    /// An answer that is a partition and no more.
    pub fn new(partition: Partition) -> Self {
        Self {
            partition,
            noise: Vec::new(),
            iterations: 0,
            converged: true,
            objective: None,
            places: None,
            confidence: Vec::new(),
        }
    }
}

/// Why a method has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MethodError {
    /// K = 0.
    #[error("the number of clusters must be at least 1")]
    NoClusters,
    /// K > n.
    #[error("{k} clusters were asked for, but {}", crate::only_objects(*.n))]
    MoreClustersThanObjects {
        /// Clusters asked for.
        k: usize,
        /// Objects given.
        n: usize,
    },
    /// A parameter outside its range.
    #[error("{method}: {name} is {value}, but must be {must}")]
    Parameter {
        /// The method's name.
        method: &'static str,
        /// The parameter's name.
        name: &'static str,
        /// What was given.
        value: f64,
        /// Its range, in words.
        must: &'static str,
    },
    /// The method itself failed.
    #[error("{method}: {reason}")]
    Failed {
        /// The method's name.
        method: &'static str,
        /// What went wrong, and what may help.
        reason: String,
    },
    /// The clustering of plain points within it failed.
    #[error(transparent)]
    Oracle(#[from] OracleError),
}

/// The rule for K that all methods share.
pub fn check_k(k: usize, candidates: &Candidates) -> Result<(), MethodError> {
    let n = candidates.objects();
    match k {
        0 => Err(MethodError::NoClusters),
        _ if k > n => Err(MethodError::MoreClustersThanObjects { k, n }),
        _ => Ok(()),
    }
}
