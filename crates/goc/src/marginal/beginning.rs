//! Where a chain begins.
//!
//! A sampler leaves a bad beginning only slowly: a large group in pieces teaches the metric that
//! groups are small, and a group that begins as part of the field has no cluster that its members
//! could join. So every chain tries two beginnings for a few sweeps, and the one whose state has the
//! higher density goes on:
//!
//! - few clusters by k-means, all of them groups: right where there is no field;
//! - what HDBSCAN finds dense are groups, all else is field: right where groups
//!   are small beside it. Chains differ in the least size of a group. Where no field is left after
//!   those sweeps, the first goes on: its few large clusters are split more easily than many small
//!   ones are merged.

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

/// Sweeps of a beginning before it is judged, and those of them, the last, that are.
const TRIED: usize = 20;
pub(super) const JUDGED: usize = 5;

/// Least sizes of dense groups, chain after chain, and the neighbour that says how dense.
const LEAST: [usize; 4] = [5, 3, 10, 5];
const NEIGHBOUR: usize = 4;

/// How far below the best a chain may be, in roots of the number of objects: chains of one law
/// differ by about that much from sweep to sweep.
const FAR: f64 = 5.0;
/// Makes streams of their own for chains that go on from another's state.
const RESAMPLED: u64 = 0x7265_7361_6d70_6c65;

/// Objects up to which dense groups are looked for: the search takes the square of their number.
const DENSE_UP_TO: usize = 20_000;

/// Sweeps of each beginning of a chain that is to have so many before its draws are kept.
pub(super) fn tried(burn: usize) -> usize {
    TRIED.min(burn)
}

/// Who is in which dense group, by the least size of a group.
pub(super) type Dense = BTreeMap<usize, Vec<Option<u32>>>;

/// The dense groups that so many chains may begin from; none where that is not tried.
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

/// What all beginnings share.
pub(super) struct Beginnings<'a> {
    pub(super) data: &'a Data<'a>,
    pub(super) shape: &'a Shape,
    /// The likeliest candidate of each object, and its features.
    pub(super) likeliest: &'a [u32],
    pub(super) points: &'a Points,
    pub(super) dense: Dense,
    /// Clusters by k-means at most, and whether fewer may be as well.
    pub(super) k: usize,
    pub(super) chooses_k: bool,
    /// Split and merge moves after every sweep.
    pub(super) moves: usize,
    /// Sweeps before a beginning is judged.
    pub(super) tried: usize,
}

impl<'a> Beginnings<'a> {
    /// The state that chain `c` goes on from. `tick` is called after every sweep.
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

    /// Clusters by k-means: of the numbers 1, 2, 4, ... up to the one that is told, the one whose
    /// state is the likeliest. A chain leaves clusters that are too few by splits, and those that are
    /// too many hardly ever: pieces of one cloud teach the metric to be narrow, and that asks for
    /// more pieces.
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

    /// A beginning after its sweeps, and the log density of the last of them.
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

/// Chains that are far less likely than the best go on from where that is, each by its own random
/// numbers: what is left of a chain at a state that mixing would take ages to leave is only its
/// weight, which is nothing.
///
/// Whether there is a field, which no chain changes its mind about, is as most of them say, and where
/// they are as many, the likeliest: the weights of both are estimates, and one chain may be misled.
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

/// Dense groups as groups, and what is in none as the field.
fn in_field(dense: &[Option<u32>]) -> Vec<u32> {
    dense.iter().map(|label| label.unwrap_or(FIELD)).collect()
}
