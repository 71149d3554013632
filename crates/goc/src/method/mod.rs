//! Methods: everything that clusters uncertain objects, behind one trait.
//!
//! A [`Method`] is a struct with its parameters. It takes candidates and a seed and returns a
//! [`Grouped`]: GOC and its relatives ([`greedy`]), the marginal mixture and the baselines
//! ([`crate::baselines`]). Whatever a method does not provide (a chosen candidate, an objective, a
//! posterior) is absent from the result.
//! posterior) is absent from the result.

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

/// What a method returns.
pub type Result<T, E = MethodError> = std::result::Result<T, E>;

/// A method that groups uncertain objects.
pub trait Method: Sync {
    /// The name used on the command line and in results.
    fn name(&self) -> &str;

    /// Groups the objects; all randomness derives from `seed`. An iterative method calls `tick`
    /// after each step.
    fn group_watched(&self, candidates: &Candidates, seed: u64, tick: Tick) -> Result<Grouped>;

    /// Like [`Self::group_watched`], without a progress callback.
    fn group(&self, candidates: &Candidates, seed: u64) -> Result<Grouped> {
        self.group_watched(candidates, seed, &|| {})
    }
}

/// The result of a method for uncertain objects, in the features it was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Grouped {
    /// The clusters. An object that the method classifies as noise is a cluster of its own.
    pub partition: Partition,
    /// Which objects are noise; empty if the method has no notion of noise.
    pub noise: Vec<bool>,
    /// Iterations of the method's own loop; 0 if it has none.
    pub iterations: usize,
    /// False if the iteration limit was reached first.
    pub converged: bool,
    /// True if the run returned to an earlier state instead of converging.
    pub cycle: bool,
    /// The value of the objective, if the method minimises one.
    pub objective: Option<f64>,
    /// The assumed position of each object, if the method provides one.
    pub places: Option<Points>,
    /// The centre of each cluster, if it is not the mean of the positions.
    pub centres: Option<Points>,
    /// The method's confidence in each object's label, from 0 to 1; empty if it does not provide
    /// one.
    pub confidence: Vec<f64>,
    /// The chosen candidate of each object, if the method chooses one.
    pub chosen: Option<Vec<u32>>,
    /// Every iteration of GOC.
    pub history: Vec<Iteration>,
    /// The number of clusters of the first clustering, if it differs from the number requested.
    pub first_k: Option<usize>,
    /// The full posterior of the marginal mixture.
    pub posterior: Option<Box<Posterior>>,
}

impl Grouped {
    /// A result that consists of a partition only.
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

    /// A result that places each object at its chosen candidate.
    fn at_chosen(partition: Partition, candidates: &Candidates, chosen: Vec<u32>, centres: Points) -> Self {
        Self {
            places: Some(candidates.chosen(&chosen)),
            centres: Some(centres),
            chosen: Some(chosen),
            ..Self::new(partition)
        }
    }

    /// The position of each object: the method's own, or the mean of its candidates.
    pub fn take_places(&mut self, candidates: &Candidates) -> Points {
        self.places.take().unwrap_or_else(|| candidates.means())
    }

    /// The centre of each cluster: the method's own, or the mean of the positions.
    pub fn take_centres(&mut self, places: &Points) -> Points {
        self.centres.take().unwrap_or_else(|| means(places, &self.partition))
    }

    /// The number of noise objects.
    pub fn noise_count(&self) -> usize {
        self.noise.iter().filter(|noise| **noise).count()
    }

    /// The number of clusters, not counting noise.
    pub fn k(&self) -> usize {
        self.partition.k() - self.noise_count()
    }
}

/// Why a method failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MethodError {
    /// K = 0.
    #[error("the number of clusters must be at least 1")]
    NoClusters,
    /// K > n.
    #[error("{k} clusters were asked for, but {}", crate::only_objects(*.n))]
    MoreClustersThanObjects {
        /// Clusters requested.
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
    /// The clustering of plain points inside the method failed.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// GOC or GPC cannot be run.
    #[error(transparent)]
    Optimistic(#[from] OptimisticError),
    /// GOC over hulls or boxes cannot be run.
    #[error(transparent)]
    Continuous(#[from] ContinuousError),
    /// The tree over the clusters cannot be built.
    #[error(transparent)]
    Hierarchy(#[from] HierarchyError),
    /// GOC with object weights cannot be run.
    #[error(transparent)]
    Weighted(#[from] WeightedError),
    /// The marginal mixture cannot be run.
    #[error(transparent)]
    Marginal(#[from] MarginalError),
}

impl MethodError {
    /// Whether different parameters, rather than different data, would fix it.
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

/// The check on K shared by all methods.
pub fn check_k(k: usize, candidates: &Candidates) -> Result<()> {
    let n = candidates.objects();
    match k {
        0 => Err(MethodError::NoClusters),
        _ if k > n => Err(MethodError::MoreClustersThanObjects { k, n }),
        _ => Ok(()),
    }
}
