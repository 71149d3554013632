//! Initial states of the chains.
//!
//! A sampler leaves a bad initial state only slowly: a large group in pieces teaches the metric
//! that groups are small, and a group that starts as part of the field has no cluster for its
//! members to join. So every chain runs two starts for a few sweeps, and continues from the one
//! whose state has the higher density:
//!
//! - few clusters by k-means, all of them groups: right when there is no field;
//! - the dense regions found by HDBSCAN are groups, everything else is field: right when groups are
//!   small compared with the field. Chains differ in the minimum group size. If no field is left
//!   after those sweeps, the first start is used: its few large clusters are split more easily than
//!   many small ones are merged.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rand::RngExt;

use super::chain::{Chain, Data, FIELD};
use super::shape::Shape;
use crate::oracle::hdbscan::Hdbscan;
use crate::oracle::k_means::{KMeans, Seeding};
use crate::oracle::{OracleError, Start};
use crate::random::stream;
use crate::{Partition, Points, Stream};

/// Sweeps of a start before it is judged, and the number of final sweeps that are judged.
const TRIED: usize = 20;
pub(super) const JUDGED: usize = 5;

/// Minimum sizes of dense groups, for each chain in turn, and the neighbour whose distance measures
/// density.
const LEAST: [usize; 4] = [5, 3, 10, 5];
const NEIGHBOUR: usize = 4;

/// How far below the best a chain may be, in units of the square root of the number of objects:
/// chains in the same mode differ by about that much from sweep to sweep.
const FAR: f64 = 5.0;
/// Derives separate streams for chains that continue from another's state.
const RESAMPLED: u64 = 0x7265_7361_6d70_6c65;

/// The largest number of objects for which dense groups are searched: in many features the search
/// takes quadratic time.
const DENSE_UP_TO: usize = 20_000;

/// Sweeps of each start of a chain with `burn` burn-in sweeps.
pub(super) fn tried(burn: usize) -> usize {
    TRIED.min(burn)
}

/// The dense group of each object, by the minimum group size.
pub(super) type Dense = BTreeMap<usize, Vec<Option<u32>>>;

/// The dense groups that the chains may start from; empty if that start is not tried.
pub(super) fn dense_groups(
    data: &Data<'_>,
    points: &Points,
    chains: usize,
    burn: usize,
) -> Result<Dense, OracleError> {
    let mut dense = BTreeMap::new();
    if data.field.is_open() && tried(burn) > 0 && points.len() <= DENSE_UP_TO {
        for size in &LEAST[..chains.min(LEAST.len())] {
            if !dense.contains_key(size) {
                dense.insert(*size, Hdbscan::new(*size).min_samples(NEIGHBOUR).fit(points)?.labels);
            }
        }
    }
    Ok(dense)
}

/// What all starts share.
pub(super) struct Beginnings<'a> {
    pub(super) data: &'a Data<'a>,
    pub(super) shape: &'a Shape,
    /// The likeliest candidate of each object, and its features.
    pub(super) likeliest: &'a [u32],
    pub(super) points: &'a Points,
    pub(super) dense: Dense,
    /// The largest number of k-means clusters, and whether fewer may be tried as well.
    pub(super) k: usize,
    pub(super) chooses_k: bool,
    /// Split and merge moves after every sweep.
    pub(super) moves: usize,
    /// Sweeps before a start is judged.
    pub(super) tried: usize,
}

impl<'a> Beginnings<'a> {
    /// The state that chain `c` continues from. `tick` is called after every sweep.
    pub(super) fn best(&self, seed: u64, c: usize, tick: &dyn Fn()) -> Result<(f64, Chain<'a>), OracleError> {
        let mut rng = stream(seed, c as u64);
        let first = self.few_clusters(&mut rng)?;
        let second = self
            .dense
            .get(&LEAST[c % LEAST.len()])
            .map(|dense| self.tried(in_field(dense), stream(rng.random(), 0), tick));
        let tried = self.data.field.is_open();
        let first = match tried {
            true => self.tried(first.labels().to_vec(), rng, tick),
            false => (0.0, self.begun(first.labels().to_vec(), rng)),
        };
        Ok(match second {
            Some(second) if second.1.in_field > 0 && (second.0 > first.0 || first.1.is_a_field()) => second,
            _ => first,
        })
    }

    /// Clusters by k-means: of the numbers 1, 2, 4, ... up to the given one, the number whose state
    /// is the likeliest. A chain escapes from too few clusters by splits, but hardly ever from too
    /// many: pieces of one cloud teach the metric to be narrow, and a narrow metric favours more
    /// pieces.
    fn few_clusters(&self, rng: &mut Stream) -> Result<Partition, OracleError> {
        let k_means = KMeans::default().starts(3).seeding(Seeding::PlusPlus);
        let last = k_means.fit(self.points, Start::K(self.k), rng)?.partition;
        if !self.chooses_k {
            return Ok(last);
        }
        let judged = |labels: &Partition, rng: &mut Stream| {
            self.begun(labels.labels().to_vec(), stream(rng.random(), 0)).ln_joint()
        };
        let mut best = (judged(&last, rng), last);
        let mut k = 1;
        while k < self.k {
            let few = k_means.fit(self.points, Start::K(k), rng)?.partition;
            let ln_joint = judged(&few, rng);
            if ln_joint > best.0 {
                best = (ln_joint, few);
            }
            k *= 2;
        }
        Ok(best.1)
    }

    fn begun(&self, labels: Vec<u32>, rng: Stream) -> Chain<'a> {
        let mut chain = Chain::new(self.data, self.shape.clone(), labels, self.likeliest, rng);
        chain.without_wide_groups();
        chain.fit_shape();
        chain
    }

    /// The state after the sweeps of a start, and the log density of the last of them.
    fn tried(&self, labels: Vec<u32>, rng: Stream, tick: &dyn Fn()) -> (f64, Chain<'a>) {
        let mut chain = self.begun(labels, rng);
        let mut ln_density = 0.0;
        for t in 0..self.tried {
            chain.step(self.moves);
            if t + JUDGED >= self.tried {
                ln_density += chain.ln_joint();
            }
            tick();
        }
        (ln_density / JUDGED as f64, chain)
    }
}

/// Chains that are far less likely than the best continue from the best chain's state, each with
/// its own random numbers. A chain in a mode that it would leave only after a very long time
/// contributes by the weight of that mode, which is negligible here.
///
/// No chain changes its mind about whether there is a field. That is decided by majority and, on a
/// tie, by the likeliest chain: both weights are estimates, and a single chain may be misled.
pub(super) fn resample<'a>(mut chains: Vec<(f64, Chain<'a>)>, seed: u64) -> Vec<Chain<'a>> {
    let some = chains.first().map_or(0.0, |(_, chain)| (chain.labels.len() as f64).sqrt());
    let has_field = |chain: &Chain<'_>| chain.in_field as f64 > some;
    let with = chains.iter().filter(|(_, chain)| has_field(chain)).count();
    let counts = |c: usize| match (2 * with).cmp(&chains.len()) {
        Ordering::Less => !has_field(&chains[c].1),
        Ordering::Equal => true,
        Ordering::Greater => has_field(&chains[c].1),
    };
    let Some(best) = (0..chains.len())
        .filter(|c| counts(*c))
        .reduce(|best, c| if chains[c].0 > chains[best].0 { c } else { best })
    else {
        return Vec::new();
    };
    let least = chains[best].0 - FAR * some;
    let of_best = has_field(&chains[best].1);
    for c in 0..chains.len() {
        if chains[c].0 < least || has_field(&chains[c].1) != of_best {
            let mut chain = chains[best].1.clone();
            chain.rng = stream(seed ^ RESAMPLED, c as u64);
            chains[c].1 = chain;
        }
    }
    chains.into_iter().map(|(_, chain)| chain).collect()
}

/// Labels with the dense groups as groups and all other objects as the field.
fn in_field(dense: &[Option<u32>]) -> Vec<u32> {
    dense.iter().map(|label| label.unwrap_or(FIELD)).collect()
}
