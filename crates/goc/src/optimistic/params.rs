//! The parameters of GOC, validated once against the candidates.

use super::{Distance, Trim, trimmed};
use crate::oracle::OracleError;
use crate::{Candidates, Partition};

/// Two sets of choices that belong together. They differ in more than name: see
/// docs/howto/reproducing.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preset {
    /// The paper's description: squared distance, the oracle in every iteration, only clusters with
    /// more than one member counted, and a first representative that belongs to the set.
    Paper,
    /// The behaviour of the authors' published code: unsquared distance in single precision, the
    /// oracle once and then Hartigan-Wong k-means from the last centres, every non-empty cluster
    /// counted, and the set's mean as first representative.
    Authors,
}

/// Step (I): how many clusters are requested of the next clustering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KRule {
    /// Always the initial number. A cluster that becomes empty keeps its centre for the next start.
    Constant,
    /// The number of clusters with at least one member.
    Occupied,
    /// The number of clusters with more than one member (paper, section 4.2); if there are none,
    /// the number of non-empty clusters.
    Plural,
}

/// When step (II) uses the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OracleEvery {
    /// In the first iteration only; then Hartigan-Wong k-means, started from the centres of step
    /// (III).
    First,
    /// In every iteration.
    Always,
}

/// The first representative of each object, Xi(0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Beginning {
    /// The mean of the object's candidates (eq. 10).
    Mean,
    /// The candidate nearest to that mean: a member of the set, as the paper requires.
    NearestToMean,
}

/// The additional search for a better minimum of the joint objective after the best start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Search {
    /// Nothing beyond the requested swap moves: the paper's method.
    #[default]
    Plain,
    /// Swaps of the most dispensable centre to the most profitable place until no swap improves the
    /// objective.
    Thorough,
}

/// How much of each iteration is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    /// Labels and chosen candidates of every object: eight bytes per object and iteration.
    Full,
    /// Counts and the objective only.
    Counts,
}

/// The largest number of objects for which the full history is kept by default.
const FULL_HISTORY: usize = 10_000;

/// Parameters of GOC as requested; [`Optimistic::check`] validates them.
#[derive(Clone, Debug)]
pub struct Optimistic {
    pub(super) k: usize,
    pub(super) lambda: f64,
    pub(super) distance: Distance,
    pub(super) k_rule: KRule,
    pub(super) oracle_every: OracleEvery,
    pub(super) beginning: Beginning,
    pub(super) tolerance: f64,
    pub(super) max_iterations: usize,
    pub(super) starts: usize,
    pub(super) swaps: usize,
    pub(super) search: Search,
    pub(super) trim: Trim,
    pub(super) initial: Option<Vec<i64>>,
    pub(super) detail: Option<Detail>,
}

/// Why GOC cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptimisticError {
    /// K(0) = 0.
    #[error("the number of clusters must be at least 1")]
    NoClusters,
    /// K(0) > n.
    #[error("{k} clusters were asked for, but {}", crate::only_objects(*.n))]
    MoreClustersThanObjects {
        /// Clusters requested.
        k: usize,
        /// The number of objects.
        n: usize,
    },
    /// A weight that is negative or not a number.
    #[error("lambda is {value}; it must be a finite number not below 0")]
    Lambda {
        /// The value given.
        value: f64,
    },
    /// A share outside 0..1.
    #[error("the tolerance is {value}; it is a share of the objects, from 0 to below 1")]
    Tolerance {
        /// The value given.
        value: f64,
    },
    /// A share outside 0..1.
    #[error("trim is {value}; it is a share of the objects, from 0 to below 1")]
    Trim {
        /// The value given.
        value: f64,
    },
    /// K(0) > n - h.
    #[error("{k} clusters were asked for, but trimming leaves {kept} of {n} objects")]
    MoreClustersThanKept {
        /// Clusters requested.
        k: usize,
        /// Objects that are not trimmed.
        kept: usize,
        /// The number of objects.
        n: usize,
    },
    /// No iteration allowed.
    #[error("at least one iteration must be allowed")]
    NoIterations,
    /// Initial labels for a different number of objects.
    #[error("{labels} first labels for {n} objects")]
    InitialLabels {
        /// Labels given.
        labels: usize,
        /// The number of objects.
        n: usize,
    },
    /// Initial labels leave nothing to draw for a second start.
    #[error("first labels fix the start, so there cannot be {starts} starts")]
    InitialLabelsAndStarts {
        /// Starts requested.
        starts: usize,
    },
    /// Step (II) failed.
    #[error(transparent)]
    Oracle(#[from] OracleError),
}

impl Optimistic {
    /// `k` initial clusters, otherwise the paper's choices, with lambda 0.
    pub fn new(k: usize) -> Self {
        Self::preset(Preset::Paper, k)
    }

    /// `k` initial clusters and the choices of a preset, with lambda 0.
    pub fn preset(preset: Preset, k: usize) -> Self {
        let base = Self {
            k,
            lambda: 0.0,
            distance: Distance::Squared,
            k_rule: KRule::Plural,
            oracle_every: OracleEvery::Always,
            beginning: Beginning::NearestToMean,
            tolerance: 0.0,
            max_iterations: 200,
            starts: 1,
            swaps: 0,
            search: Search::Plain,
            trim: Trim::default(),
            initial: None,
            detail: None,
        };
        match preset {
            Preset::Paper => base,
            Preset::Authors => Self {
                distance: Distance::EuclideanSingle,
                k_rule: KRule::Occupied,
                oracle_every: OracleEvery::First,
                beginning: Beginning::Mean,
                ..base
            },
        }
    }

    setters! {
        /// The weight of the penalties.
        lambda: f64;
        /// The distance of step (III).
        distance: Distance;
        /// The rule of step (I).
        k_rule: KRule;
        /// When step (II) uses the oracle.
        oracle_every: OracleEvery;
        /// The first representatives.
        beginning: Beginning;
        /// Stop once at most this share of the objects change their candidate; 0 requires that none
        /// does.
        tolerance: f64;
        /// Stop after at most this many iterations.
        max_iterations: usize;
        /// Run from this many starts and keep the one with the lowest joint objective.
        starts: usize;
        /// Then try this many swap moves: remove a centre, place it at another object, descend, and
        /// keep the result if it is better.
        swaps: usize;
        /// Then search for better minima.
        search: Search;
        /// Which objects, far from every centre, are left out of all clusters; none by default.
        trim: Trim;
    }

    /// Labels that replace the first clustering, one per object; any numbers.
    pub fn initial_labels(mut self, labels: Vec<i64>) -> Self {
        self.initial = Some(labels);
        self
    }

    /// Sets the initial number of clusters.
    pub fn clusters(mut self, k: usize) -> Self {
        self.k = k;
        self
    }

    /// Whether objects may be trimmed.
    pub fn trims(&self) -> bool {
        self.trim != Trim::default()
    }

    /// Whether initial labels replace the first clustering.
    pub fn has_initial_labels(&self) -> bool {
        self.initial.is_some()
    }

    /// How much of each iteration to keep. By default everything for up to 10 000 objects,
    /// otherwise counts.
    pub fn history(mut self, detail: Detail) -> Self {
        self.detail = Some(detail);
        self
    }

    /// Performs the checks that depend only on the number of objects.
    pub(super) fn check_numbers(&self, n: usize) -> Result<(), OptimisticError> {
        if self.k == 0 {
            return Err(OptimisticError::NoClusters);
        }
        if self.k > n {
            return Err(OptimisticError::MoreClustersThanObjects { k: self.k, n });
        }
        if !(self.lambda.is_finite() && self.lambda >= 0.0) {
            return Err(OptimisticError::Lambda { value: self.lambda });
        }
        if !(0.0..1.0).contains(&self.tolerance) {
            return Err(OptimisticError::Tolerance { value: self.tolerance });
        }
        if self.max_iterations == 0 {
            return Err(OptimisticError::NoIterations);
        }
        if let Trim::Share(value) = self.trim {
            if !(0.0..1.0).contains(&value) {
                return Err(OptimisticError::Trim { value });
            }
            let kept = n - trimmed::count(value, n);
            if self.k > kept {
                return Err(OptimisticError::MoreClustersThanKept { k: self.k, kept, n });
            }
        }
        Ok(())
    }

    /// Checks everything against `candidates`.
    pub fn check(self, candidates: &Candidates) -> Result<ValidOptimistic<'_>, OptimisticError> {
        let n = candidates.objects();
        self.check_numbers(n)?;
        let initial = match &self.initial {
            None => None,
            Some(labels) if labels.len() != n => {
                return Err(OptimisticError::InitialLabels { labels: labels.len(), n });
            }
            Some(_) if self.starts > 1 => {
                return Err(OptimisticError::InitialLabelsAndStarts { starts: self.starts });
            }
            Some(labels) => Some(Partition::from_labels(labels)),
        };
        let detail = self.detail.unwrap_or(if n <= FULL_HISTORY { Detail::Full } else { Detail::Counts });
        let trimmed = match self.trim {
            Trim::Share(share) => trimmed::count(share, n),
            Trim::Auto => 0,
        };
        Ok(ValidOptimistic { params: self, candidates, initial, detail, trimmed })
    }
}

/// Parameters validated against their candidates; made by [`Optimistic::check`].
#[derive(Clone, Debug)]
pub struct ValidOptimistic<'c> {
    pub(super) params: Optimistic,
    pub(super) candidates: &'c Candidates,
    pub(super) initial: Option<Partition>,
    pub(super) detail: Detail,
    /// The number of trimmed objects; 0 before it is learned.
    pub(super) trimmed: usize,
}
