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
mod matrix;
mod model;
mod moves;
mod narrow;
mod prior;
mod screening;
mod shape;
mod smooth;
mod split_merge;
mod summary;
mod withheld;

use rayon::prelude::*;

use crate::candidates::PENALTY_STRENGTH;
use crate::objects::Objects;
use crate::oracle::OracleError;
use crate::{Candidates, Partition, Points};
use beginning::Beginnings;
use blocks::{Blocks, KEPT_BYTES, Reader};
use chain::kept::Keeper;
pub use chain::kept::{KeepStretches, Stretch};
use chain::{Chain, Data, FIELD, Near};
use cluster::weigh_alone;
pub use co_clustering::CoClustering;
pub use diagnostics::{Diagnostics, ENOUGH_AGREEMENT, ENOUGH_DRAWS, ENOUGH_RECURRENCE};
pub use draws::Draw;
pub use errors::Errors;
use extent::Extent;
use field::{Field, Level};
pub use model::{ClusterParts, Model, ModelError, ModelParts, Prediction, Sums};
use prior::PartitionPrior;
use shape::{Base, Likeness, Shape};
use smooth::Smooth;
use summary::{Counts, Tally, summarise};

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

/// The number of neighbours of each object that local splits and mergers consider.
const NEAR: usize = 60;

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

/// What the chains found.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// A single partition: the one with the least expected variation of information. An object in
    /// no group forms a cluster of its own; these clusters come last.
    pub partition: Partition,
    /// Which objects are in no group: if there is a field, those that are in it or alone. Empty if
    /// there is no field.
    pub in_no_group: Vec<bool>,
    /// Which objects are in no group because their label was withheld ([`Self::withhold`]); empty
    /// unless it was.
    pub withheld: Vec<bool>,
    /// How well each cluster is recovered: the mean over the draws of its Jaccard similarity to the
    /// most similar cluster.
    pub recurrence: Vec<f64>,
    /// The certainty of each object's label: the mean probability of being together with the other
    /// members of its cluster or, for an object in no group, of being in the field or alone.
    pub membership: Vec<f64>,
    /// The second-best cluster of each object, and the mean probability of being together with its
    /// members.
    pub runner_up: Vec<Option<(u32, f64)>>,
    /// The probability that an object is alone in its group.
    pub alone: Vec<f64>,
    /// The probability that the object is in the field.
    pub field: Vec<f64>,
    /// The probability that two objects are together.
    pub together: CoClustering,
    /// The probability of each number of clusters, ascending.
    pub k: Vec<(usize, f64)>,
    /// The probability of each candidate, in the order of the candidates.
    pub candidates: Vec<f64>,
    /// The posterior mean of each object's features.
    pub places: Points,
    /// Whether the chains agree.
    pub diagnostics: Diagnostics,
    /// The metric `Psi`, averaged over the draws through the expected covariance: q x q, in
    /// row-major order.
    pub metric: Vec<f64>,
    /// Degrees of freedom of the covariances: the geometric mean over the draws.
    pub nu: usize,
    /// `alpha`: the geometric mean over the draws. Its grid is logarithmic, and a few draws of a
    /// thousand must not dominate the mean.
    pub alpha: f64,
    /// The singleton weight, averaged in the same way.
    pub singleton_weight: f64,
    /// The power: the mean over the draws.
    pub power: f64,
    /// The inferred error model, if candidates were drawn with heavy tails.
    pub errors: Option<Errors>,
}

impl Posterior {
    /// The number of clusters of the partition, not counting objects without a label.
    pub fn groups(&self) -> usize {
        self.partition.k() - self.unlabelled().into_iter().filter(|is| *is).count()
    }
}

/// What one chain returns.
struct Trace {
    draws: Vec<Draw>,
    ln_densities: Vec<f64>,
    moves: [usize; 2],
    /// The number of draws in which the field is a field, and not a wide group.
    with_field: usize,
    /// The number of draws at each smoothness level of the field.
    levels: Vec<usize>,
    /// Sums over the draws of the shares of the field's densities.
    field_shares: Vec<f64>,
    /// Sums over the draws of the expected covariance, of the logarithms of `nu`, `alpha` and the
    /// singleton weight, and of the power.
    metric: Vec<f64>,
    ln_nu: f64,
    alpha: f64,
    singleton_weight: f64,
    power: f64,
    /// The number of draws under each error model.
    laws: Vec<f64>,
}

impl Trace {
    /// An empty trace with capacity for `draws` draws and the given numbers of field levels, field
    /// shares, metric entries and error models.
    fn new([levels, field_shares, metric, laws]: [usize; 4], draws: usize) -> Self {
        Self {
            draws: Vec::with_capacity(draws),
            ln_densities: Vec::with_capacity(draws),
            moves: [0, 0],
            with_field: 0,
            levels: vec![0; levels],
            field_shares: vec![0.0; field_shares],
            metric: vec![0.0; metric],
            ln_nu: 0.0,
            alpha: 0.0,
            singleton_weight: 0.0,
            power: 0.0,
            laws: vec![0.0; laws],
        }
    }
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
        self.run_within(objects, seed, tick, keep, KEPT_BYTES)
    }

    /// The same, with the features of blocks cached if they take at most `kept` bytes.
    fn run_within(
        &self,
        objects: &dyn Objects,
        seed: u64,
        tick: &(dyn Fn() + Sync),
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
                let level = |(of, sums): (&Smooth, Vec<Vec<f64>>)| Level {
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
        let keeper = |c: usize| Keeper::new(keep, &data, &shape, c, self.sweeps());
        type All<T> = Result<Vec<T>, MarginalError>;
        let begun = |c: usize| keeper(c).begun(|| Ok(beginnings.best(seed, c, tick)?));
        let chains = (0..self.chains).into_par_iter().map(begun).collect::<All<_>>()?;
        let chains = beginning::resample(chains, seed).into_par_iter().enumerate();
        let burnt = chains.map(|(c, chain)| self.burn(chain, keeper(c), tick)).collect::<All<_>>()?;
        let chains = beginning::resample(burnt, seed.wrapping_add(1)).into_par_iter().enumerate();
        let traces = chains
            .map(|(c, chain)| self.walk(chain, keeper(c), objects.offsets(), &smooth, &tally, tick))
            .collect::<All<_>>()?;
        drop(beginnings);
        drop((blocks, near, prior, points, likeliest));
        let errors = self.tails.map(|values| {
            let draws = (self.chains * self.keep) as f64;
            let of = |law: usize| traces.iter().map(|trace| trace.laws[law]).sum::<f64>() / draws;
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
        Ok(Posterior { errors, ..found })
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

    /// The burn-in: sweeps between the initial state and the first kept draw.
    fn burn<'a>(
        &self,
        mut chain: Chain<'a>,
        keeper: Keeper<'a>,
        tick: &(dyn Fn() + Sync),
    ) -> Result<(f64, Chain<'a>), MarginalError> {
        let (from, [mut ln_joint, mut judged]) =
            keeper.burnt(&mut chain)?.unwrap_or((self.begun(), [0.0, 0.0]));
        (self.begun()..from).for_each(|_| tick());
        for t in from..self.burn {
            chain.step(self.moves);
            if t + beginning::JUDGED >= self.burn {
                ln_joint += chain.ln_joint();
                judged += 1.0;
            }
            tick();
            keeper.keep_burnt(&chain, t + 1, self.burn, [ln_joint, judged])?;
        }
        Ok((ln_joint / f64::max(judged, 1.0), chain))
    }

    fn walk<'a>(
        &self,
        mut chain: Chain<'a>,
        keeper: Keeper<'a>,
        offsets: &[usize],
        smooth: &[Smooth],
        tally: &Tally,
        tick: &(dyn Fn() + Sync),
    ) -> Result<Trace, MarginalError> {
        let (levels, shares) = (chain.data.field.levels().len(), chain.field_shares.len());
        let (metric, laws) = (chain.shape.psi.len(), chain.data.ln_laws.len());
        let mut trace = Trace::new([levels, shares, metric, laws], self.keep);
        let from = keeper.walked(&mut chain, &mut trace, tally, offsets)?;
        (0..from).for_each(|_| tick());
        let mut stretch = Vec::new();
        for _ in from..self.keep {
            chain.step(self.moves);
            {
                trace.with_field +=
                    usize::from(smooth.get(chain.level).is_some_and(|smooth| chain.has_field(smooth)));
                trace.levels[chain.level] += 1;
                let field: Vec<bool> = chain.labels.iter().map(|k| *k == FIELD).collect();
                let more = chain.clusters.len() as u32;
                let labels: Vec<u32> = chain.labels.iter().map(|k| (*k).min(more)).collect();
                trace.draws.push(Draw::with_field(&labels, &field));
                for (i, from) in offsets[..offsets.len() - 1].iter().enumerate() {
                    if chain.labels[i] != FIELD {
                        tally.add(from + chain.choice(i) as usize);
                    }
                }
                for (sum, share) in trace.field_shares.iter_mut().zip(&chain.field_shares) {
                    *sum += share;
                }
                trace.ln_densities.push(chain.ln_density());
                for (sum, psi) in trace.metric.iter_mut().zip(&chain.shape.psi) {
                    *sum += psi / chain.shape.expected_times();
                }
                trace.ln_nu += libm::log(chain.shape.nu as f64);
                trace.alpha += libm::log(chain.cohesion.alpha);
                trace.singleton_weight += libm::log(chain.cohesion.singleton_weight);
                trace.power += chain.cohesion.power;
                trace.laws[chain.reader.law] += 1.0;
            }
            tick();
            keeper.keep_walked(&chain, &trace, &mut stretch, self.keep)?;
        }
        trace.moves = chain.moves;
        Ok(trace)
    }
}

/// What is known of every object before the chains start.
struct First {
    /// What the object has when alone, under each error model: the sum over candidates of weight
    /// times base density.
    alone_sum: Vec<Vec<f64>>,
    /// The candidate with the largest weight, and its features.
    likeliest: Vec<u32>,
    points: Points,
}

impl First {
    fn new(blocks: &Blocks<'_>, base: &Base, laws: usize) -> Self {
        let (n, q) = (blocks.objects(), base.features());
        let (mut alone_sum, mut likeliest) = (vec![Vec::with_capacity(n); laws], Vec::with_capacity(n));
        let mut points = vec![0.0; n * q];
        let (mut reader, mut lanes, mut sorted) = (Reader::default(), Vec::new(), Vec::new());
        for (i, point) in points.chunks_exact_mut(q).enumerate() {
            reader.load(blocks, i);
            for (law, sums) in alone_sum.iter_mut().enumerate() {
                reader.law = law;
                weigh_alone(base, reader.own(blocks, i), &mut lanes);
                blocks.in_order(i, &lanes, &mut sorted);
                sums.push(sorted.iter().sum());
            }
            reader.law = 0;
            let own = reader.own(blocks, i);
            blocks.in_order(i, own.all_weights(), &mut sorted);
            let best = largest(&sorted);
            likeliest.push(best);
            own.copy_place(blocks.spot_of(i, best), point);
        }
        Self { alone_sum, likeliest, points: Points::trusted(points, q) }
    }
}

/// The number of initial clusters when none is given. It is small: a large group that starts in
/// pieces teaches the metric that clusters are small, and stays in pieces. Finding a split is
/// easier than leaving such a state.
fn first_clusters(n: usize) -> usize {
    ((n as f64).sqrt().ceil() as usize).max(n.min(3))
}

/// The nearest objects to each object, by the means of their sets.
fn near(objects: &dyn Objects) -> Near {
    let count = NEAR.min(objects.objects().saturating_sub(1));
    let nearest = crate::oracle::graph::nearest(&objects.means(), count);
    Near::new(nearest.into_iter().map(|row| row.into_iter().map(|(_, j)| j)), count)
}

/// The index of the largest weight; the lower one on a tie.
fn largest(weights: &[f64]) -> u32 {
    let mut best = 0;
    for (j, w) in weights.iter().enumerate() {
        if *w > weights[best] {
            best = j;
        }
    }
    best as u32
}

#[cfg(test)]
mod geweke;
#[cfg(test)]
mod tests;
