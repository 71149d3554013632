//! The marginal mixture: it infers the number of groups, and the certainty of each object's label.
//!
//! Where GOC picks one candidate for every object, the marginal mixture sums over all of them.
//! Clusters are normal, each with its own covariance; the covariances share a common, learned
//! metric (`cluster`). The number of clusters has a prior (`prior`) and is reported with its
//! posterior probability. Several Markov chains draw partitions and candidates jointly (`chain`,
//! `split_merge`). The draws give the probability that two objects belong together, one partition
//! that is closest to all of them (`consensus`), and the probability of every candidate.
//!
//! A candidate's weight is its likelihood, `w_ij ~ exp(-strength * penalty)`. The penalties of the
//! paper are squared distances scaled to at most 1 at two standard errors; for these the penalty
//! strength is 2.

mod agreement;
mod beginning;
mod blocks;
mod chain;
mod cluster;
mod co_clustering;
mod consensus;
mod diagnostics;
mod draws;
mod embedded;
mod errors;
mod extent;
mod field;
mod first;
mod matrix;
mod model;
mod moves;
mod narrow;
mod posterior;
mod prior;
mod screening;
mod shape;
mod smooth;
mod split_merge;
mod summary;
mod sums;
mod trace;
mod withheld;

use rayon::prelude::*;

use crate::Candidates;
use crate::candidates::PENALTY_STRENGTH;
use crate::objects::Objects;
use crate::oracle::OracleError;
use beginning::Beginnings;
use blocks::{Blocks, KEPT_BYTES};
use chain::Data;
use chain::kept::Keeper;
pub use chain::kept::{KeepStretches, Stretch};
pub use co_clustering::CoClustering;
pub use diagnostics::{Diagnostics, ENOUGH_AGREEMENT, ENOUGH_DRAWS, ENOUGH_RECURRENCE};
pub use draws::Draw;
pub use errors::Errors;
use extent::Extent;
use field::{Field, Level};
use first::{First, first_clusters, near};
pub use model::{ClusterParts, Model, ModelError, ModelParts, Prediction, Sums};
pub use posterior::Posterior;
use prior::PartitionPrior;
use shape::{Likeness, Shape};
use smooth::Smooth;
use summary::{Counts, Tally, summarise};
use sums::FieldSums;
use trace::Trace;

/// The values that the degrees of freedom of the clusters' covariances may take beyond the number
/// of features, unless given. Few degrees of freedom allow wide and narrow clusters side by side;
/// many make the clusters alike, which is all that little data in many features can support.
const NU_BEYOND: [usize; 5] = [6, 12, 24, 48, 96];
/// Degrees of freedom of the metric's own prior beyond the number of features.
const METRIC_DF_BEYOND: f64 = 2.0;

/// The within-cluster spreads that the metric's prior may expect when none is given: a grid that
/// starts at the smallest and grows by factors of the square root of 2, all equally likely a
/// priori. A Wishart prior hardly allows a metric that is ten times wider than it expects. With the
/// spread drawn, the data decide, for groups of siblings as well as for a few wide clouds. A
/// narrower metric needs no such help, and would let a dozen objects with many candidates collapse
/// into pairs and triples.
const LEAST_SPREAD: f64 = 0.1;
const SPREADS: i32 = 11;

/// When there is a field, no spread wider than this fraction of the field's kernel width is
/// expected. Groups must stand out from the field, and a metric as wide as the field is what
/// remains when there are no groups.
const BESIDE_A_FIELD: f64 = 0.5;

/// How much more readily objects stay alone than the concentration `alpha` alone implies, unless
/// given.
pub const SINGLETON_WEIGHT: f64 = 1.0;

/// The prior probability that there is a field, unless given. One half, so that the default serves
/// data with a field and data without.
pub const FIELD_PRIOR: f64 = 0.5;

/// Seconds of a sweep for each candidate in up to three features, measured on the skies of
/// `bench/scale.py`.
const SECONDS: f64 = 1.2e-7;

/// Parameters of the marginal mixture; [`Marginal::run`] checks them.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginal {
    power: Option<f64>,
    alpha: Option<f64>,
    singleton_weight: Option<f64>,
    field_prior: f64,
    nu: Option<usize>,
    spread: Option<f64>,
    learn: bool,
    penalty_strength: f64,
    tails: Option<usize>,
    chains: usize,
    burn: usize,
    keep: usize,
    moves: usize,
    begin: Option<usize>,
    merge_cost: f64,
}

impl Default for Marginal {
    fn default() -> Self {
        Self {
            power: None,
            alpha: None,
            singleton_weight: Some(SINGLETON_WEIGHT),
            field_prior: FIELD_PRIOR,
            nu: None,
            spread: None,
            learn: true,
            penalty_strength: PENALTY_STRENGTH,
            tails: None,
            chains: 4,
            burn: 40,
            keep: 140,
            moves: 30,
            begin: None,
            merge_cost: 1.1,
        }
    }
}

/// Who watches a run.
#[derive(Clone, Copy)]
pub struct Watching<'a> {
    /// Called after every sweep, from any thread.
    pub tick: &'a (dyn Fn() + Sync),
    /// Whether the draws made so far are enough. Once true, it stays true.
    pub enough: &'a (dyn Fn() -> bool + Sync),
}

/// Why the marginal mixture cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MarginalError {
    /// A parameter outside its range.
    #[error("{name} is {value}, but must be {must}")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// What was given.
        value: f64,
        /// Its range, in words.
        must: &'static str,
    },
    /// The objects have no extent in some direction.
    #[error(
        "the objects lie in one point or in a plane of the features; drop features that depend on others"
    )]
    Flat,
    /// The objects span so small or so large a range that densities are no longer finite numbers.
    #[error(
        "the features are so small or so large that their densities are no numbers; scale them or use another unit"
    )]
    Unit,
    /// The initial clustering failed.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// A checkpoint could not be written or read.
    #[error("{0}")]
    Kept(String),
}

impl Marginal {
    setters! {
        /// How strongly larger clusters attract objects: 1 gives the Dirichlet process, 0 no
        /// attraction by size; `None` draws it.
        power: Option<f64>;
        /// The concentration, i.e. the propensity to open clusters; `None` draws it.
        alpha: Option<f64>;
        /// How much more readily objects belong to no group than the concentration `alpha` alone
        /// implies, [`SINGLETON_WEIGHT`] by default; `None` draws it.
        singleton_weight: Option<f64>;
        /// The prior probability that there is a field of objects that belong to no group; 0 rules
        /// it out.
        field_prior: f64;
        /// Degrees of freedom of the covariances: the larger, the more alike the clusters.
        nu: usize = Some(nu);
        /// The standard deviation within a cluster expected a priori, in scaled features; `None`
        /// draws it.
        spread: Option<f64>;
        /// Whether the metric is learned; otherwise clusters are round with the given spread.
        learn: bool;
        /// What a penalty of 1 costs in log likelihood.
        penalty_strength: f64;
        /// The number of measured quantities with errors, if the candidates were drawn with heavy
        /// tails ([`Sampler::Tails`](crate::uncertainty::Sampler)). The error model is then learned
        /// ([`Errors`]), and penalties are half the squared distance from the measured value, in
        /// units of the quoted errors.
        tails: Option<usize>;
        /// Split and merge moves attempted after every sweep.
        moves: usize;
        /// The number of clusters that the chains start from.
        begin: usize = Some(begin);
        /// The cost of merging objects that are apart, when the single reported partition is
        /// chosen, relative to the cost of splitting objects that are together. 1 gives the
        /// variation of information itself; larger values give more and purer clusters.
        merge_cost: f64;
    }

    /// The number of chains, of burn-in sweeps per chain, and of draws kept per chain.
    pub fn length(mut self, chains: usize, burn: usize, keep: usize) -> Self {
        (self.chains, self.burn, self.keep) = (chains, burn, keep);
        self
    }

    /// Sweeps of each chain, burn-in included.
    pub fn sweeps(&self) -> usize {
        self.burn + self.keep
    }

    /// Sweeps of each chain, including those of initial states that are discarded: how often
    /// [`Self::run_watched`] calls its `tick`.
    pub fn ticks(&self) -> usize {
        self.sweeps() + self.begun()
    }

    /// About how many seconds of one processor's time a run takes.
    pub fn seconds(&self, objects: &dyn Objects) -> f64 {
        let features = (objects.features() as f64 / 3.0).max(1.0);
        let starts = if self.field_prior > 0.0 { self.begun() } else { 0 };
        let sweeps = (self.chains * (self.sweeps() + starts)) as f64;
        SECONDS * sweeps * objects.total() as f64 * features * features
    }

    /// Sweeps of each trial start.
    fn begun(&self) -> usize {
        if self.field_prior > 0.0 { beginning::tried(self.burn) } else { 0 }
    }

    fn check(&self, q: usize) -> Result<(), MarginalError> {
        let positive = |v: f64| v.is_finite() && v > 0.0;
        let above = "a finite number above 0";
        type Allowed = fn(f64) -> bool;
        let asked: [(_, _, Allowed, _); 9] = [
            ("power", self.power, |v: f64| (0.0..=1.0).contains(&v), "from 0 to 1"),
            ("alpha", self.alpha, positive, above),
            ("singleton_weight", self.singleton_weight, positive, above),
            ("field_prior", Some(self.field_prior), |v| (0.0..1.0).contains(&v), "from 0 to below 1"),
            ("spread", self.spread, positive, above),
            (
                "strength",
                Some(self.penalty_strength),
                |v| v.is_finite() && v >= 0.0,
                "a finite number not below 0",
            ),
            ("merge_cost", Some(self.merge_cost), |v| (1.0..2.0).contains(&v), "from 1 to below 2"),
            ("chains", Some(self.chains as f64), positive, "at least 1"),
            ("keep", Some(self.keep as f64), positive, "at least 1"),
        ];
        for (name, value, allowed, must) in asked {
            if let Some(value) = value.filter(|v| !allowed(*v)) {
                return Err(MarginalError::Parameter { name, value, must });
            }
        }
        match self.nu.filter(|nu| *nu < q + 2) {
            Some(nu) => Err(MarginalError::Parameter {
                name: "nu",
                value: nu as f64,
                must: "at least the number of features and 2",
            }),
            None => Ok(()),
        }
    }

    /// Runs the chains, in parallel, each with its own random stream derived from `seed`.
    pub fn run(&self, candidates: &Candidates, seed: u64) -> Result<Posterior, MarginalError> {
        self.run_watched(candidates, seed, &|| {})
    }

    /// Like [`Self::run`], for objects that are loaded one by one, such as scaled ones
    /// ([`Scaled`](crate::objects::Scaled)): large candidate sets are not copied as a whole. `tick`
    /// is called after every sweep, from any thread.
    pub fn run_watched(
        &self,
        objects: &dyn Objects,
        seed: u64,
        tick: &(dyn Fn() + Sync),
    ) -> Result<Posterior, MarginalError> {
        self.run_keeping(objects, seed, tick, None)
    }

    /// Like [`Self::run_watched`], but chains are checkpointed as they run and resume from their
    /// last checkpoint. `keep` must belong to exactly these objects, parameters and seed.
    pub fn run_keeping(
        &self,
        objects: &dyn Objects,
        seed: u64,
        tick: &(dyn Fn() + Sync),
        keep: Option<&dyn KeepStretches>,
    ) -> Result<Posterior, MarginalError> {
        self.run_until(objects, seed, Watching { tick, enough: &|| false }, keep)
    }

    /// Like [`Self::run_keeping`], but the chains end early once they are told that it is enough:
    /// each with the draws that it has by then, and at least one. That answer is
    /// [partial](Posterior::partial), and it depends on when it was asked for; checkpoints are left
    /// as they were, so a later run resumes as if it had not happened.
    pub fn run_until(
        &self,
        objects: &dyn Objects,
        seed: u64,
        watching: Watching<'_>,
        keep: Option<&dyn KeepStretches>,
    ) -> Result<Posterior, MarginalError> {
        self.run_within(objects, seed, watching, keep, KEPT_BYTES)
    }

    /// The same, with the features of blocks cached if they take at most `kept` bytes.
    fn run_within(
        &self,
        objects: &dyn Objects,
        seed: u64,
        watching: Watching<'_>,
        keep: Option<&dyn KeepStretches>,
        kept: usize,
    ) -> Result<Posterior, MarginalError> {
        let (n, q) = (objects.objects(), objects.features());
        self.check(q)?;
        let nus = self.nu.map_or_else(|| NU_BEYOND.map(|beyond| q + beyond).to_vec(), |nu| vec![nu]);
        let likenesses: Vec<Likeness> = nus.iter().map(|nu| Likeness::new(*nu, q, n)).collect();
        let extent = Extent::of(objects);
        let near = near(objects);
        let prior = PartitionPrior::new(n, self.power, self.alpha, self.singleton_weight);
        let metric_df = q as f64 + METRIC_DF_BEYOND;
        let of = |spread: f64| spread * spread;
        let scales: Vec<f64> = match self.spread {
            Some(spread) => vec![of(spread)],
            None => (0..SPREADS).map(|v| of(LEAST_SPREAD * std::f64::consts::SQRT_2.powi(v))).collect(),
        };
        let first = &likenesses[0];
        let mut psi = vec![0.0; q * q];
        for f in 0..q {
            psi[f * q + f] = of(self.spread.unwrap_or(LEAST_SPREAD)) * (first.nu - q - 1) as f64;
        }
        let mut penalties = Vec::new();
        let ln_laws = if self.tails.is_some() { errors::ln_prior() } else { vec![0.0] };
        let laws = ln_laws.len();
        let blocks = Blocks::new(objects, laws, |i, own| self.weigh(objects, i, &mut penalties, own), kept);
        let base = extent.base()?;
        let (means, robust) = (objects.means(), extent.robust());
        let smooth: Vec<Smooth> = match self.field_prior > 0.0 {
            true => {
                // With edges as well as without, if there are few enough features.
                let mut all: Vec<Smooth> = Vec::new();
                for ends in [false, true].into_iter().take(if q > smooth::MOST_ENDING { 1 } else { 2 }) {
                    let of = |wider: &f64| Smooth::new(&means, &extent.middle, &robust, &base, *wider, ends);
                    all.extend(smooth::LEVELS.iter().map(of).collect::<Option<Vec<_>>>().unwrap_or_default());
                }
                all
            }
            false => Vec::new(),
        };
        let field = match smooth.first() {
            Some(first) => {
                let weigh = |i, spare: &mut Vec<f64>, own: &mut Vec<f64>| self.weigh(objects, i, spare, own);
                // The levels with edges come after those without; the kernels are the same.
                let (plain, ending) = smooth.split_at(smooth.len().min(smooth::LEVELS.len()));
                let mut sums: [Vec<_>; 2] = Default::default();
                for (at, of) in plain.iter().enumerate() {
                    let found = of.sums(ending.get(at), objects, laws, weigh);
                    sums.iter_mut().zip(found).for_each(|(all, sums)| all.push(sums));
                }
                let level = |(of, sums): (&Smooth, Vec<FieldSums>)| Level {
                    sums,
                    narrow: of.narrowness(),
                    ln_prior: of.ln_prior(),
                };
                let levels = smooth.iter().zip(sums.into_iter().flatten()).map(level).collect();
                let [none, some] = self.ln_field_prior(n, q);
                Field::new(n, none, some, levels, first.prior())
            }
            None => Field::none(n),
        };
        let First { alone_sum, likeliest, points } = First::new(&blocks, &base, laws);
        let data = Data {
            blocks: &blocks,
            near: &near,
            prior: &prior,
            alone_sum: &alone_sum,
            ln_laws: &ln_laws,
            likenesses: &likenesses,
            metric_df,
            scales: &scales,
            narrow_scales: smooth.last().map_or(scales.len(), |smooth| {
                let limit = of(smooth.width() * BESIDE_A_FIELD);
                scales.iter().filter(|scale| **scale <= limit).count().max(1)
            }),
            learn: self.learn,
            field: &field,
        };
        let shape = Shape::new(first, psi, base);
        let beginnings = Beginnings {
            data: &data,
            shape: &shape,
            likeliest: &likeliest,
            points: &points,
            dense: beginning::dense_groups(&data, &points, self.chains, self.burn)?,
            k: self.begin.unwrap_or_else(|| first_clusters(n)).clamp(1, n),
            chooses_k: self.begin.is_none(),
            moves: self.moves,
            tried: beginning::tried(self.burn),
        };
        let tally = Tally::new(objects.total());
        let keep = keep.map(|keep| (keep, watching.enough));
        let keeper = |c: usize| Keeper::new(keep, &data, &shape, c, self.sweeps());
        type All<T> = Result<Vec<T>, MarginalError>;
        let begun = |c: usize| keeper(c).begun(|| Ok(beginnings.best(seed, c, watching)?));
        let chains = (0..self.chains).into_par_iter().map(begun).collect::<All<_>>()?;
        let chains = beginning::resample(chains, seed).into_par_iter().enumerate();
        let burnt = chains.map(|(c, chain)| self.burn(chain, keeper(c), watching)).collect::<All<_>>()?;
        let chains = beginning::resample(burnt, seed.wrapping_add(1)).into_par_iter().enumerate();
        let traces = chains
            .map(|(c, chain)| self.walk(chain, keeper(c), objects.offsets(), &smooth, &tally, watching))
            .collect::<All<_>>()?;
        drop(beginnings);
        drop((blocks, near, prior, points, likeliest));
        let draws = traces.iter().map(|trace| trace.draws.len()).sum::<usize>();
        let errors = self.tails.map(|values| {
            let of = |law: usize| traces.iter().map(|trace| trace.laws[law]).sum::<f64>() / draws as f64;
            Errors { values, shares: (0..laws).map(of).collect() }
        });
        let weights = |i, spare: &mut Vec<f64>, own: &mut Vec<f64>| match &errors {
            None => self.weigh(objects, i, spare, own),
            Some(errors) => {
                objects.load_penalties(i, spare);
                errors.weigh(spare, self.penalty_strength, own);
            }
        };
        let counts = Counts { tally, smooth, weights: &weights };
        let found = summarise(objects, traces, counts, self.merge_cost);
        Ok(Posterior { errors, partial: draws < self.chains * self.keep, ..found })
    }

    /// The log prior probabilities of no field and of a field. The field's centre and covariance
    /// are estimated from the objects, whereas groups pay for not knowing theirs. The field
    /// therefore pays as well, by Schwarz's rule: `ln n / 2` for each number estimated from the
    /// data.
    fn ln_field_prior(&self, n: usize, q: usize) -> [f64; 2] {
        let cost = 0.5 * (q * (q + 3) / 2) as f64 * libm::log(n as f64);
        [libm::log(1.0 - self.field_prior), libm::log(self.field_prior) - cost]
    }

    /// The prior weights of all candidates, summing to 1 for every object; errors are taken as
    /// quoted.
    pub fn weights(&self, objects: &dyn Objects) -> Vec<f64> {
        let mut weights = Vec::with_capacity(objects.total());
        let (mut penalties, mut own) = (Vec::new(), Vec::new());
        for i in 0..objects.objects() {
            self.weigh(objects, i, &mut penalties, &mut own);
            weights.extend_from_slice(&own[..objects.count(i)]);
        }
        weights
    }

    /// Writes those of object `i` into `weights`, for each error model in turn, and its penalties
    /// into `penalties`.
    fn weigh(&self, objects: &dyn Objects, i: usize, penalties: &mut Vec<f64>, weights: &mut Vec<f64>) {
        objects.load_penalties(i, penalties);
        if let Some(values) = self.tails {
            return errors::weigh(penalties, self.penalty_strength, values, weights);
        }
        let least = penalties.iter().copied().fold(f64::INFINITY, f64::min);
        weights.clear();
        weights.extend(penalties.iter().map(|p| libm::exp(-self.penalty_strength * (p - least))));
        let sum: f64 = weights.iter().sum();
        for w in weights {
            *w /= sum;
        }
    }
}

#[cfg(test)]
mod geweke;
#[cfg(test)]
mod tests;
