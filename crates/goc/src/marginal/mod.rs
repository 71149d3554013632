//! The marginal mixture: groups without being told how many, and how sure each object's is.
//!
//! Where GOC picks one candidate for every object, this sums over all of them. Clusters are normal
//! with covariances of their own that have a common, learned metric (`cluster`); how many there are
//! has a prior (`prior`) and comes out with a probability. Several Markov chains draw partitions
//! and candidates together (`chain`, `split_merge`); the draws give the probability that two
//! objects belong together, one partition that is nearest to all (`consensus`), and the probability
//! of every candidate.
//!
//! A candidate's weight is its likelihood, `w_ij ~ exp(-strength * penalty)`: with the penalties of
//! the paper, the surprise scaled to at most 1 at two standard errors, the penalty strength is 2.

mod blocks;
mod chain;
mod cluster;
mod consensus;
mod diagnostics;
mod draws;
mod field;
mod matrix;
mod model;
mod narrow;
mod prior;
mod screening;
mod split_merge;

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::candidates::PENALTY_STRENGTH;
use crate::objects::Objects;
use crate::oracle::k_means::{KMeans, Seeding};
use crate::oracle::{OracleError, Start};
use crate::scale::median;
use crate::{Candidates, Partition, Points, random};
use blocks::{Blocks, KEPT_BYTES, Reader};
use chain::{Chain, Data, Near};
use cluster::{Base, Shape, weigh_alone};
pub use consensus::CoClustering;
pub use diagnostics::{Diagnostics, ENOUGH_AGREEMENT, ENOUGH_DRAWS};
pub use draws::Draw;
use draws::Members;
pub use model::{ClusterParts, Model, ModelError, ModelParts, Prediction};
use field::FieldPrior;
use prior::PartitionPrior;

/// Degrees of freedom of the clusters' covariances beyond the features, unless told.
const NU_BEYOND: usize = 7;
/// Degrees of freedom of the metric's own prior beyond the features.
const METRIC_DF_BEYOND: f64 = 2.0;

/// The spreads within a cluster that the metric's prior may expect where none is said: so many,
/// from the least on by factors of the root of 2, all alike beforehand. A Wishart prior hardly
/// allows a metric that is ten times wider than it expects; with the spread drawn the data decide,
/// be it for groups of siblings or for a few wide clouds. A narrower one needs no such help, and
/// would let a dozen objects with many candidates fall together by twos and threes.
const LEAST_SPREAD: f64 = 0.1;
const SPREADS: i32 = 11;

/// Objects near each that near splits and mergers concern.
const NEAR: usize = 60;

/// The truth, for experiments.
pub static ORACLE: Mutex<Vec<i64>> = Mutex::new(Vec::new());

/// A setting of the laboratory.
pub fn knob(name: &str, default: f64) -> f64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// Parameters of the marginal mixture; [`Marginal::run`] checks them.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginal {
    power: Option<f64>,
    alpha: Option<f64>,
    singleton_weight: Option<f64>,
    nu: Option<usize>,
    spread: Option<f64>,
    learn: bool,
    penalty_strength: f64,
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
            singleton_weight: Some(1.0),
            nu: None,
            spread: None,
            learn: true,
            penalty_strength: PENALTY_STRENGTH,
            chains: 4,
            burn: 40,
            keep: 140,
            moves: 30,
            begin: None,
            merge_cost: 1.1,
        }
    }
}

/// Why the marginal mixture cannot run.
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
    /// The first clustering failed.
    #[error(transparent)]
    Oracle(#[from] OracleError),
}

/// What the chains found.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// One partition: the least expected variation of information.
    pub partition: Partition,
    /// How sure each object's label is: the mean probability of being together with the others of
    /// its cluster, or, for an object by itself, of being alone.
    pub membership: Vec<f64>,
    /// The next best cluster of each object, and the mean probability of being together with its
    /// members.
    pub runner_up: Vec<Option<(u32, f64)>>,
    /// The probability that an object belongs to no group: that it is alone.
    pub alone: Vec<f64>,
    /// The probability that it is in the field.
    pub field: Vec<f64>,
    /// The probability that two objects are together.
    pub together: CoClustering,
    /// The probability of each number of clusters, ascending.
    pub k: Vec<(usize, f64)>,
    /// The probability of each candidate, in the order of the candidates.
    pub candidates: Vec<f64>,
    /// Expected features of each object.
    pub places: Points,
    /// Whether the chains agree.
    pub diagnostics: Diagnostics,
    /// Drawn labels, chain after chain.
    pub draws: Vec<Draw>,
    /// How dense places are where each object is, by the density that the mixture expects of the
    /// places of clusters; its candidates summed over.
    pub base: Vec<f64>,
    /// The metric `Psi`, its mean over the draws: q x q, row after row.
    pub metric: Vec<f64>,
    /// `alpha`, its geometric mean over the draws: its grid is one of logarithms, and a few draws
    /// of a thousand must not make it large.
    pub alpha: f64,
    /// The singleton weight, likewise.
    pub singleton_weight: f64,
    /// The power, its mean over the draws.
    pub power: f64,
}

/// What one chain leaves.
struct Trace {
    draws: Vec<Draw>,
    ln_densities: Vec<f64>,
    moves: [usize; 2],
    field: Vec<u32>,
    /// Sums over the draws of the metric, of the logarithms of `alpha` and the singleton weight,
    /// and of the power.
    metric: Vec<f64>,
    alpha: f64,
    singleton_weight: f64,
    power: f64,
}

impl Marginal {
    setters! {
        /// How much larger clusters draw objects in: 1 is the Dirichlet process, 0 not at all;
        /// `None` draws it.
        power: Option<f64>;
        /// The readiness to open clusters; `None` draws it.
        alpha: Option<f64>;
        /// How much readier objects are to belong to no group than the readiness to open groups
        /// says, 1 by default; `None` draws it.
        singleton_weight: Option<f64>;
        /// Degrees of freedom of the covariances: the larger, the more alike the clusters.
        nu: usize = Some(nu);
        /// The standard deviation within a cluster that is expected beforehand, in scaled features;
        /// `None` draws it.
        spread: Option<f64>;
        /// Whether the metric is learned; else clusters are round with the spread given.
        learn: bool;
        /// What a penalty of 1 costs in log likelihood.
        penalty_strength: f64;
        /// Split and merge moves tried after every sweep.
        moves: usize;
        /// Clusters that the chains begin with.
        begin: usize = Some(begin);
        /// What merging objects that are apart costs in the one partition that is given, where
        /// splitting what is together costs as much as in the variation of information; 1 is that
        /// itself, more gives more and purer clusters.
        merge_cost: f64;
    }

    /// Chains, sweeps of each before draws are kept, and draws kept of each.
    pub fn length(mut self, chains: usize, burn: usize, keep: usize) -> Self {
        (self.chains, self.burn, self.keep) = (chains, burn, keep);
        self
    }

    /// Sweeps of each chain, those before draws are kept included.
    pub fn sweeps(&self) -> usize {
        self.burn + self.keep
    }

    fn check(&self, q: usize) -> Result<(), MarginalError> {
        let positive = |v: f64| v.is_finite() && v > 0.0;
        let above = "a finite number above 0";
        type Allowed = fn(f64) -> bool;
        let asked: [(_, _, Allowed, _); 8] = [
            ("power", self.power, |v: f64| (0.0..=1.0).contains(&v), "from 0 to 1"),
            ("alpha", self.alpha, positive, above),
            ("singleton_weight", self.singleton_weight, positive, above),
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

    /// Draws; the chains run side by side, each from its own stream of `seed`.
    pub fn run(&self, candidates: &Candidates, seed: u64) -> Result<Posterior, MarginalError> {
        self.run_watched(candidates, seed, &|| {})
    }

    /// As [`Self::run`] of objects that are loaded one by one, such as scaled ones
    /// ([`Scaled`](crate::objects::Scaled)): no copy of all candidates is made where they are many.
    /// `tick` is called after every sweep, from any thread.
    pub fn run_watched(
        &self,
        objects: &dyn Objects,
        seed: u64,
        tick: &(dyn Fn() + Sync),
    ) -> Result<Posterior, MarginalError> {
        self.run_keeping(objects, seed, tick, KEPT_BYTES)
    }

    /// The same, with features of blocks kept where they take at most `kept` bytes.
    fn run_keeping(
        &self,
        objects: &dyn Objects,
        seed: u64,
        tick: &(dyn Fn() + Sync),
        kept: usize,
    ) -> Result<Posterior, MarginalError> {
        let (n, q) = (objects.objects(), objects.features());
        self.check(q)?;
        let nu = self.nu.unwrap_or(q + NU_BEYOND);
        let (base, covariance) = base_of(objects)?;
        let field = FieldPrior::new(n, knob("NOFIELD", 0.5));
        let near = near(objects);
        let prior = PartitionPrior::new(n, self.power, self.alpha, self.singleton_weight);
        // The mean of Psi is A; that of a covariance, Psi / (nu - q - 1).
        let metric_df = q as f64 + METRIC_DF_BEYOND;
        let of = |spread: f64| spread * spread * (nu - q - 1) as f64;
        let scales: Vec<f64> = match self.spread {
            Some(spread) => vec![of(spread)],
            None => (0..SPREADS).map(|v| of(LEAST_SPREAD * std::f64::consts::SQRT_2.powi(v))).collect(),
        };
        let mut psi = vec![0.0; q * q];
        for f in 0..q {
            psi[f * q + f] = of(self.spread.unwrap_or(LEAST_SPREAD));
        }
        let mut penalties = Vec::new();
        let blocks = Blocks::new(objects, |i, own| self.weigh(objects, i, &mut penalties, own), kept);
        let First { alone_sum, likeliest, points } = First::new(&blocks, &base);
        let data = Data {
            blocks: &blocks,
            near: &near,
            prior: &prior,
            alone_sum: &alone_sum,
            metric_df,
            scales: &scales,
            learn: self.learn,
            field: &field,
        };
        let widths: Vec<f64> = (0..knob("WIDTHS", 4.0) as i32)
            .map(|v| knob("WIDEST", 4.0) * knob("WSTEP", 2.0).powi(-v)).collect();
        let shape = Shape::new(nu, psi, base, n);
        let shape = shape.field(q + knob("NUF", 40.0) as usize, &covariance, &widths);
        let widest = 1 + knob("WIDEST", 4.0).log2() as usize;
        let k = self.begin.unwrap_or_else(|| first_clusters(n)).clamp(1, n);
        let tally = Tally::new(objects.total());
        let traces = (0..self.chains)
            .into_par_iter()
            .map(|c| {
                let mut rng = random::stream(seed, c as u64);
                let k_means = KMeans::default().starts(3).seeding(Seeding::PlusPlus);
                let first = k_means.fit(&points, Start::K(k), &mut rng)?.partition;
                let labels = first.labels().to_vec();
                let kinds = vec![0; k];
                let try_sweeps = knob("TRY", 20.0) as usize;
                let mut best: Option<(f64, Chain<'_>)> = None;
                let starts = knob("STARTS", 3.0) as usize;
                for start in 0..4 {
                    if starts & (1 << start) == 0 { continue; }
                    let begin_rng = random::stream(seed ^ 0x5151_7171, (c * 8 + start) as u64);
                    let mut chain = match start {
                        0 => Chain::new(&data, shape.clone(), labels.clone(), &kinds, &likeliest, begin_rng),
                        1 => {
                            let size = [knob("HSIZE", 5.0), 3.0, 10.0, 5.0][c % 4] as usize;
                            let found = crate::oracle::hdbscan::Hdbscan::new(size).min_samples(knob("HSAMP", 4.0) as usize).fit(&points)?;
                            let own: Vec<u32> = found.labels.iter().map(|l| l.map_or(0, |l| l + 1)).collect();
                            let p = Partition::from_labels(&own);
                            let mut kinds = vec![0; p.k()];
                            for (i, &t) in own.iter().enumerate() { if t == 0 { kinds[p.labels()[i] as usize] = widest; } }
                            Chain::new(&data, shape.clone(), p.labels().to_vec(), &kinds, &likeliest, begin_rng)
                        }
                        3 => {
                            let truth = ORACLE.lock().unwrap();
                            let count = |x: i64| truth.iter().filter(|t| **t == x).count();
                            let own: Vec<i64> = truth.iter().map(|&t| if t < 0 || count(t) < 2 { -1 } else { t }).collect();
                            let p = Partition::from_labels(&own);
                            let mut kinds = vec![0; p.k()];
                            for (i, &t) in own.iter().enumerate() { if t < 0 { kinds[p.labels()[i] as usize] = widest; } }
                            Chain::new(&data, shape.clone(), p.labels().to_vec(), &kinds, &likeliest, begin_rng)
                        }
                        _ => Chain::new(&data, shape.clone(), vec![0; n], &[widest.min(shape.kinds.len() - 1)], &likeliest, begin_rng),
                    };
                    chain.fit_shape();
                    let mut sum = 0.0;
                    for t in 0..try_sweeps {
                        
                        chain.sweep();
                        chain.split_and_merge(self.moves, knob("NEARMOVES", 30.0) as usize);
                        chain.draw_shape();
                        if t + 5 >= try_sweeps { sum += chain.ln_joint() / 5.0; }
                    }
                    if knob("VERBOSE", 0.0) > 0.0 {
                        let g: Vec<usize> = chain.clusters.iter().filter(|c| !c.field).map(|c| c.size).collect();
                        eprintln!("chain {c} start {start}: {sum:.1} field {} comps {} groups {} largest {:?}", chain.in_field, chain.clusters.iter().filter(|c| c.field).count(), g.len(), g.iter().max());
                    }
                    if best.as_ref().is_none_or(|(most, _)| sum > *most) { best = Some((sum, chain)); }
                }
                drop(rng);
                let Some((_, chain)) = best else { unreachable!() };
                Ok(self.walk(chain, objects.offsets(), &tally, tick))
            })
            .collect::<Result<Vec<Trace>, OracleError>>()?;
        drop((blocks, near, prior, points, likeliest));
        Ok(summarise(objects, alone_sum, traces, tally, self.merge_cost))
    }

    /// The weights of all candidates beforehand, sum 1 for every object.
    pub fn weights(&self, objects: &dyn Objects) -> Vec<f64> {
        let mut weights = Vec::with_capacity(objects.total());
        let (mut penalties, mut own) = (Vec::new(), Vec::new());
        for i in 0..objects.objects() {
            self.weigh(objects, i, &mut penalties, &mut own);
            weights.extend_from_slice(&own);
        }
        weights
    }

    /// Those of object `i`, into `weights`; its penalties into `penalties`.
    fn weigh(&self, objects: &dyn Objects, i: usize, penalties: &mut Vec<f64>, weights: &mut Vec<f64>) {
        objects.load_penalties(i, penalties);
        let least = penalties.iter().copied().fold(f64::INFINITY, f64::min);
        weights.clear();
        weights.extend(penalties.iter().map(|p| libm::exp(-self.penalty_strength * (p - least))));
        let sum: f64 = weights.iter().sum();
        for w in weights {
            *w /= sum;
        }
    }

    fn walk(
        &self,
        mut chain: Chain<'_>,
        offsets: &[usize],
        tally: &Tally,
        tick: &(dyn Fn() + Sync),
    ) -> Trace {
        let mut trace = Trace {
            draws: Vec::with_capacity(self.keep),
            ln_densities: Vec::with_capacity(self.keep),
            moves: [0, 0],
            field: vec![0; chain.labels.len()],
            metric: vec![0.0; chain.shape.psi.len()],
            alpha: 0.0,
            singleton_weight: 0.0,
            power: 0.0,
        };
        use statrs::distribution::ContinuousCDF;
        let apart = statrs::distribution::ChiSquared::new(chain.shape.q as f64).unwrap().inverse_cdf(knob("APART", 0.95));
        // The metric and the prior that fit the first clustering, not some beforehand.
        for t in 0..self.burn + self.keep {
            chain.sweep();
            chain.split_and_merge(self.moves, knob("NEARMOVES", 30.0) as usize);
            chain.draw_shape();
            if t >= self.burn {
                let loose = chain.loose(apart);
                let field: Vec<bool> = chain.labels.iter().map(|k| loose[*k as usize]).collect();
                for (times, field) in trace.field.iter_mut().zip(&field) {
                    *times += u32::from(*field);
                }
                trace.draws.push(Draw::with_field(&chain.labels, &field));
                for (i, from) in offsets[..offsets.len() - 1].iter().enumerate() {
                    tally.add(from + chain.choice(i) as usize);
                }
                trace.ln_densities.push(chain.ln_density());
                for (sum, psi) in trace.metric.iter_mut().zip(&chain.shape.psi) {
                    *sum += psi;
                }
                trace.alpha += libm::log(chain.cohesion.alpha);
                trace.singleton_weight += libm::log(chain.cohesion.singleton_weight);
                trace.power += chain.cohesion.power;
            }
            tick();
        }
        if knob("VERBOSE", 0.0) > 1.0 {
            for c in &chain.clusters { if c.size > 4 {
                let ln: Vec<String> = (0..chain.shape.kinds.len()).map(|kind| format!("{:.1}", c.ln_density_as(kind, &chain.shape) + chain.ln_prior_of(c.size, kind))).collect();
                let q = chain.shape.q;
                let sd: Vec<String> = (0..q).map(|f| format!("{:.2}", (c.scatter[f*q+f]/c.size as f64).sqrt())).collect();
                eprintln!("size {} kind {} sd {:?} ln {:?}", c.size, c.kind, sd, ln);
            } }
            eprintln!("psi sd {:?} in field {}", (0..chain.shape.q).map(|f| (chain.shape.psi[f*chain.shape.q+f]/(chain.shape.kinds[0].nu-chain.shape.q-1) as f64).sqrt()).collect::<Vec<_>>(), chain.in_field);
        }
        trace.moves = chain.moves;
        trace
    }
}

/// What is known of every object before the chains begin.
struct First {
    /// What it has alone: the sum over candidates of weight and base density.
    alone_sum: Vec<f64>,
    /// The candidate of the largest weight, and its features.
    likeliest: Vec<u32>,
    points: Points,
}

impl First {
    fn new(blocks: &Blocks<'_>, base: &Base) -> Self {
        let (n, q) = (blocks.objects(), base.features());
        let (mut alone_sum, mut likeliest) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut points = vec![0.0; n * q];
        let (mut reader, mut lanes, mut sorted) = (Reader::default(), Vec::new(), Vec::new());
        for (i, point) in points.chunks_exact_mut(q).enumerate() {
            reader.load(blocks, i);
            let own = reader.own(blocks, i);
            weigh_alone(base, own, &mut lanes);
            blocks.in_order(i, &lanes, &mut sorted);
            alone_sum.push(sorted.iter().sum());
            blocks.in_order(i, own.all_weights(), &mut sorted);
            let best = largest(&sorted);
            likeliest.push(best);
            own.copy_place(blocks.spot_of(i, best), point);
        }
        Self { alone_sum, likeliest, points: Points::trusted(points, q) }
    }
}

/// Clusters to begin with when none are said. Few: a large group that begins in pieces teaches the
/// metric that clusters are small, and stays in pieces; splits are found more easily than such a
/// state is left.
fn first_clusters(n: usize) -> usize {
    ((n as f64).sqrt().ceil() as usize).max(n.min(3))
}

/// The objects that lie near each, by the means of their sets.
fn near(objects: &dyn Objects) -> Near {
    let count = NEAR.min(objects.objects().saturating_sub(1));
    let nearest = crate::oracle::graph::nearest(&objects.means(), count);
    Near::new(nearest.into_iter().map(|row| row.into_iter().map(|(_, j)| j)), count)
}

/// The place of the largest weight, the lower one on a tie.
fn largest(weights: &[f64]) -> u32 {
    let mut best = 0;
    for (j, w) in weights.iter().enumerate() {
        if *w > weights[best] {
            best = j;
        }
    }
    best as u32
}

/// Where clusters may lie: around the median of the objects' medians, as wide as those.
fn base_of(objects: &dyn Objects) -> Result<(Base, Vec<f64>), MarginalError> {
    let (middle, scale) = base_parts(objects);
    let widen = knob("WIDEN", 1.0).powi(2);
    let wide: Vec<f64> = scale.iter().map(|v| widen * v).collect();
    let robust = robust_covariance(objects, &middle, &scale);
    let base = Base::new(middle, &wide).ok_or(MarginalError::Flat)?;
    Ok((base, if knob("ROBUST", 1.0) > 0.0 { robust } else { scale }))
}

/// The middle and the scale of that density.
fn base_parts(objects: &dyn Objects) -> (Vec<f64>, Vec<f64>) {
    let (n, q) = (objects.objects(), objects.features());
    let mut medians = vec![Vec::with_capacity(n); q];
    let mut values = Vec::new();
    for i in 0..n {
        objects.load(i, &mut values);
        for (medians, column) in medians.iter_mut().zip(values.chunks_exact(objects.count(i))) {
            medians.push(median(column.to_vec()));
        }
    }
    let middle: Vec<f64> = medians.iter().map(|column| median(column.clone())).collect();
    let means: Vec<f64> = medians.iter().map(|column| column.iter().sum::<f64>() / n as f64).collect();
    let mut scale = vec![0.0; q * q];
    for a in 0..q {
        for b in 0..q {
            let sum: f64 = (0..n).map(|i| (medians[a][i] - means[a]) * (medians[b][i] - means[b])).sum();
            scale[a * q + b] = sum / (n.max(2) - 1) as f64;
        }
    }
    // A little roundness, so that few objects, or objects in a plane, have a density too.
    let total: f64 = (0..q).map(|f| scale[f * q + f]).sum::<f64>() / q as f64;
    for f in 0..q {
        scale[f * q + f] += if total > 0.0 { 1e-6 * total } else { 1.0 };
    }
    (middle, scale)
}

/// Rounds of the fixed point at most, and the change of the matrix that ends it.
const ROUNDS: usize = 100;
const SETTLED: f64 = 1e-6;

/// Tyler's estimate of the covariance of the objects' medians around `middle`, which no outlier
/// pulls; its size such that half of the objects are as near as half of a normal cloud. `first`
/// where there are too few objects for it.
fn robust_covariance(objects: &dyn Objects, middle: &[f64], first: &[f64]) -> Vec<f64> {
    let (n, q) = (objects.objects(), objects.features());
    let mut values = Vec::new();
    let mut away = Vec::with_capacity(n * q);
    for i in 0..n {
        objects.load(i, &mut values);
        let columns = values.chunks_exact(objects.count(i));
        away.extend(columns.zip(middle).map(|(column, middle)| median(column.to_vec()) - middle));
    }
    let mut v = first.to_vec();
    let trace = |m: &[f64]| (0..q).map(|f| m[f * q + f]).sum::<f64>();
    let distances = |v: &[f64]| -> Option<Vec<f64>> {
        let low = matrix::lower_inverse(&matrix::cholesky(v, q)?, q);
        let of = |x: &[f64]| {
            (0..q).map(|r| (0..=r).map(|f| low[r * q + f] * x[f]).sum::<f64>().powi(2)).sum::<f64>()
        };
        Some(away.chunks_exact(q).map(of).collect())
    };
    if n < 10 * q {
        return v;
    }
    for _ in 0..ROUNDS {
        let Some(d) = distances(&v) else { return first.to_vec() };
        let mut next = vec![0.0; q * q];
        for (x, d) in away.chunks_exact(q).zip(&d).filter(|(_, d)| **d > 0.0) {
            for a in 0..q {
                for b in 0..q {
                    next[a * q + b] += x[a] * x[b] / d;
                }
            }
        }
        let times = trace(&v) / trace(&next);
        next.iter_mut().for_each(|m| *m *= times);
        let change = next.iter().zip(&v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let settled = change < SETTLED * trace(&v);
        v = next;
        if settled { break; }
    }
    use statrs::distribution::ContinuousCDF;
    let Some(d) = distances(&v) else { return first.to_vec() };
    let half = statrs::distribution::ChiSquared::new(q as f64).map_or(1.0, |law| law.inverse_cdf(0.5));
    let times = median(d) / half;
    for m in &mut v { *m *= times; }
    if knob("VERBOSE", 0.0) > 1.0 { eprintln!("robust over plain sd {:?}", (0..q).map(|f| (v[f*q+f]/first[f*q+f]).sqrt()).collect::<Vec<_>>()); }
    v
}

/// How often each candidate was drawn, by all chains together. A byte each, and a list of those
/// that passed 255: additions of whole numbers give the same whatever the order of threads.
struct Tally {
    bytes: Vec<AtomicU8>,
    /// Candidates whose byte has begun anew, once for every time.
    passed: Mutex<Vec<usize>>,
}

impl Tally {
    fn new(candidates: usize) -> Self {
        Self { bytes: (0..candidates).map(|_| AtomicU8::new(0)).collect(), passed: Mutex::default() }
    }

    fn add(&self, at: usize) {
        if self.bytes[at].fetch_add(1, Relaxed) == u8::MAX {
            self.passed.lock().unwrap_or_else(PoisonError::into_inner).push(at);
        }
    }

    /// The counts over `total`.
    fn shares(self, total: f64) -> Vec<f64> {
        let mut passed = self.passed.into_inner().unwrap_or_else(PoisonError::into_inner);
        passed.sort_unstable();
        let mut passed = passed.into_iter().peekable();
        let counts = self.bytes.into_iter().enumerate().map(|(at, byte)| {
            let mut count = u64::from(byte.into_inner());
            while passed.next_if_eq(&at).is_some() {
                count += 256;
            }
            count
        });
        counts.map(|count| count as f64 / total).collect()
    }
}

fn summarise(
    objects: &dyn Objects,
    base: Vec<f64>,
    traces: Vec<Trace>,
    tally: Tally,
    merge_cost: f64,
) -> Posterior {
    let (n, q) = (objects.objects(), objects.features());
    let (diagnostics, together) = co_clustering(&traces, n);
    let mut metric = vec![0.0; q * q];
    for trace in &traces {
        for (sum, psi) in metric.iter_mut().zip(&trace.metric) {
            *sum += psi;
        }
    }
    let alpha: f64 = traces.iter().map(|trace| trace.alpha).sum();
    let singleton_weight: f64 = traces.iter().map(|trace| trace.singleton_weight).sum();
    let power: f64 = traces.iter().map(|trace| trace.power).sum();
    let mut field = vec![0.0; n];
    for trace in &traces {
        for (sum, times) in field.iter_mut().zip(&trace.field) {
            *sum += f64::from(*times);
        }
    }
    let draws: Vec<Draw> = traces.into_iter().flat_map(|trace| trace.draws).collect();
    let total = draws.len() as f64;
    for sum in &mut metric {
        *sum /= total;
    }
    field.iter_mut().for_each(|sum| *sum /= total);
    let mut times_alone = vec![0_u32; n];
    for draw in &draws {
        let sizes = draw.sizes();
        for (times, label) in times_alone.iter_mut().zip(draw.labels()) {
            *times += u32::from(sizes[label as usize] == 1 && (label as usize) < draw.clusters());
        }
    }
    let alone: Vec<f64> = times_alone.into_iter().map(|times| f64::from(times) / total).collect();
    let apart: Vec<bool> = field.iter().zip(&alone).map(|(field, alone)| field + alone > 0.5 && field >= alone).collect();
    let partition = together.estimate(&draws, merge_cost, &apart);
    let mut k: Vec<(usize, f64)> = Vec::new();
    let mut numbers: Vec<usize> = draws.iter().map(Draw::clusters).collect();
    numbers.sort_unstable();
    for number in numbers {
        match k.last_mut() {
            Some((last, share)) if *last == number => *share += 1.0 / total,
            _ => k.push((number, 1.0 / total)),
        }
    }
    let (membership, runner_up) = memberships(&partition, &together, &alone);
    let shares = tally.shares(total);
    let (mut places, mut values) = (Vec::with_capacity(n * q), Vec::new());
    for (i, from) in objects.offsets()[..n].iter().enumerate() {
        objects.load(i, &mut values);
        let m = objects.count(i);
        let own = &shares[*from..from + m];
        places.extend(
            values.chunks_exact(m).map(|column| column.iter().zip(own).map(|(x, p)| x * p).sum::<f64>()),
        );
    }
    Posterior {
        membership,
        runner_up,
        partition,
        alone,
        field,
        together,
        k,
        candidates: shares,
        places: Points::trusted(places, q),
        diagnostics,
        draws,
        base,
        metric,
        alpha: libm::exp(alpha / total),
        singleton_weight: libm::exp(singleton_weight / total),
        power: power / total,
    }
}

/// What the chains say of pairs, each by itself and all together.
fn co_clustering(traces: &[Trace], n: usize) -> (Diagnostics, CoClustering) {
    let members: Vec<Vec<Members>> =
        traces.iter().map(|trace| trace.draws.par_iter().map(Members::of).collect()).collect();
    let chains: Vec<Vec<(&Draw, &Members)>> = traces
        .iter()
        .zip(&members)
        .map(|(trace, members)| trace.draws.iter().zip(members).collect())
        .collect();
    let diagnostics = Diagnostics::new(traces, consensus::agreement(&chains, n));
    (diagnostics, CoClustering::of_members(&chains.concat(), n))
}

/// How sure each label is, and the next best one.
fn memberships(
    partition: &Partition,
    together: &CoClustering,
    alone: &[f64],
) -> (Vec<f64>, Vec<Option<(u32, f64)>>) {
    let (labels, sizes) = (partition.labels(), partition.sizes());
    let mut sums = vec![0.0; partition.k()];
    (0..partition.len())
        .map(|i| {
            let own = labels[i];
            let mut touched = Vec::new();
            for (j, p) in together.partners(i) {
                if sums[labels[j] as usize] == 0.0 {
                    touched.push(labels[j]);
                }
                sums[labels[j] as usize] += p;
            }
            let others = sizes[own as usize] - 1;
            let membership = if others == 0 { alone[i] } else { sums[own as usize] / others as f64 };
            touched.sort_unstable();
            let mut next: Option<(u32, f64)> = None;
            for &l in touched.iter().filter(|l| **l != own) {
                let mean = sums[l as usize] / sizes[l as usize] as f64;
                if next.is_none_or(|(_, best)| mean > best) {
                    next = Some((l, mean));
                }
            }
            for l in touched {
                sums[l as usize] = 0.0;
            }
            (membership, next)
        })
        .unzip()
}

#[cfg(test)]
mod geweke;
#[cfg(test)]
mod tests;
