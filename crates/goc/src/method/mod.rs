//! Methods: everything that groups uncertain objects, behind one trait.
//!
//! A [`Method`] is a struct with its parameters; it takes candidates and a seed and answers with one
//! [`Grouped`], whatever it is: GOC and its relatives ([`greedy`]), the marginal mixture, the baselines
//! ([`crate::baselines`]). What a method does not have (a chosen candidate, an objective, a posterior)
//! is absent from its answer.

pub mod greedy;
mod mixture;

use crate::marginal::{MarginalError, Posterior};
use crate::optimistic::continuous::ContinuousError;
use crate::optimistic::hierarchy::HierarchyError;
use crate::optimistic::weighted::WeightedError;
use crate::optimistic::{Iteration, OptimisticError};
use crate::oracle::OracleError;
use crate::oracle::k_means::means;
use crate::{Candidates, Partition, Points};

/// Called after each step of a long run, from any thread.
pub type Tick<'a> = &'a (dyn Fn() + Sync);

/// What a method answers.
pub type Result<T, E = MethodError> = std::result::Result<T, E>;

/// Groups uncertain objects.
pub trait Method: Sync {
    /// The name used on the command line and in results.
    fn name(&self) -> &str;

    /// Groups the objects; whatever is random follows from `seed`. A method with steps calls `tick` after each
    /// of them.
    fn group_watched(&self, candidates: &Candidates, seed: u64, tick: Tick) -> Result<Grouped>;

    /// As [`Self::group_watched`], with nobody watching.
    fn group(&self, candidates: &Candidates, seed: u64) -> Result<Grouped> {
        self.group_watched(candidates, seed, &|| {})
    }
}

/// What a method for uncertain objects found, in the features it was given.
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
    /// True when the run came back to an earlier state instead of converging.
    pub cycle: bool,
    /// What the method minimises, where it minimises something.
    pub objective: Option<f64>,
    /// Where each object was taken to be, where the method says so.
    pub places: Option<Points>,
    /// The centre of each cluster, where it is not the mean of the places.
    pub centres: Option<Points>,
    /// How sure the method is of each object, from 0 to 1; empty when it does not say.
    pub confidence: Vec<f64>,
    /// The chosen candidate of each object, where the method chooses.
    pub chosen: Option<Vec<u32>>,
    /// Every iteration of GOC.
    pub history: Vec<Iteration>,
    /// Clusters of the first clustering, where that is not the number asked for.
    pub first_k: Option<usize>,
    /// Everything that the marginal mixture knows.
    pub posterior: Option<Box<Posterior>>,
}

impl Grouped {
    /// An answer that is a partition and no more.
    pub fn new(partition: Partition) -> Self {
        Self {
            partition,
            noise: Vec::new(),
            iterations: 0,
            converged: true,
            cycle: false,
            objective: None,
            places: None,
            centres: None,
            confidence: Vec::new(),
            chosen: None,
            history: Vec::new(),
            first_k: None,
            posterior: None,
        }
    }

    /// An answer that puts each object at the chosen one of its candidates.
    fn at_chosen(partition: Partition, candidates: &Candidates, chosen: Vec<u32>, centres: Points) -> Self {
        Self {
            places: Some(candidates.chosen(&chosen)),
            centres: Some(centres),
            chosen: Some(chosen),
            ..Self::new(partition)
        }
    }

    /// Where each object is: as the method says, else the mean of its candidates.
    pub fn take_places(&mut self, candidates: &Candidates) -> Points {
        self.places.take().unwrap_or_else(|| candidates.means())
    }

    /// The centre of each cluster: as the method says, else the mean of the places.
    pub fn take_centres(&mut self, places: &Points) -> Points {
        self.centres.take().unwrap_or_else(|| means(places, &self.partition))
    }

    /// How many objects are noise.
    pub fn noise_count(&self) -> usize {
        self.noise.iter().filter(|noise| **noise).count()
    }

    /// The number of clusters, noise not counted.
    pub fn k(&self) -> usize {
        self.partition.k() - self.noise_count()
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
    /// GOC or GPC cannot run.
    #[error(transparent)]
    Optimistic(#[from] OptimisticError),
    /// GOC over hulls or boxes cannot run.
    #[error(transparent)]
    Continuous(#[from] ContinuousError),
    /// The tree over the clusters cannot be made.
    #[error(transparent)]
    Hierarchy(#[from] HierarchyError),
    /// GOC with weights on the objects cannot run.
    #[error(transparent)]
    Weighted(#[from] WeightedError),
    /// The marginal mixture cannot run.
    #[error(transparent)]
    Marginal(#[from] MarginalError),
}

impl MethodError {
    /// Whether other parameters would mend it, rather than other data.
    pub fn is_about_parameters(&self) -> bool {
        let of_oracle = |error: &OracleError| {
            matches!(error, OracleError::NoClusters | OracleError::MoreClustersThanPoints { .. })
        };
        let of_goc = |error: &OptimisticError| match error {
            OptimisticError::Oracle(inner) => of_oracle(inner),
            _ => true,
        };
        match self {
            Self::NoClusters | Self::MoreClustersThanObjects { .. } | Self::Parameter { .. } => true,
            Self::Failed { .. } | Self::Hierarchy(_) => false,
            Self::Oracle(error) => of_oracle(error),
            Self::Optimistic(error) => of_goc(error),
            Self::Continuous(ContinuousError::Goc(error)) => of_goc(error),
            Self::Continuous(_) | Self::Weighted(_) => true,
            Self::Marginal(MarginalError::Oracle(error)) => of_oracle(error),
            Self::Marginal(error) => matches!(error, MarginalError::Parameter { .. }),
        }
    }
}

/// The rule for K that all methods share.
pub fn check_k(k: usize, candidates: &Candidates) -> Result<()> {
    let n = candidates.objects();
    match k {
        0 => Err(MethodError::NoClusters),
        _ if k > n => Err(MethodError::MoreClustersThanObjects { k, n }),
        _ => Ok(()),
    }
}
