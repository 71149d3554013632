//! Where a chain begins.
//!
//! A sampler leaves a bad beginning only slowly: a large group in pieces teaches the metric that
//! groups are small, and a group that begins as part of the field has no cluster that its members
//! could join. So every chain tries two beginnings for a few sweeps, and the one whose state has the
//! higher density goes on:
//!
//! - few clusters by k-means, all of them groups: right where there is no field;
//! - what HDBSCAN finds dense are groups, all else is one component of the field: right where groups
//!   are small beside it. Chains differ in the least size of a group. Where no field is left after
//!   those sweeps, the first goes on: its few large clusters are split more easily than many small
//!   ones are merged.

use std::collections::BTreeMap;

use rand::RngExt;

use super::FIRST_WIDTH;
use super::chain::{Chain, Data};
use super::shape::{GROUP, Shape};
use crate::oracle::hdbscan::Hdbscan;
use crate::oracle::k_means::{KMeans, Seeding};
use crate::oracle::{OracleError, Start};
use crate::random::stream;
use crate::{Partition, Points, Stream};

/// Sweeps of a beginning before it is judged, and those of them, the last, that are.
const TRIED: usize = 20;
const JUDGED: usize = 5;

/// Least sizes of dense groups, chain after chain, and the neighbour that says how dense.
const LEAST: [usize; 4] = [5, 3, 10, 5];
const NEIGHBOUR: usize = 4;

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
    /// Clusters by k-means.
    pub(super) k: usize,
    /// Split and merge moves after every sweep.
    pub(super) moves: usize,
    /// Sweeps before a beginning is judged.
    pub(super) tried: usize,
}

impl<'a> Beginnings<'a> {
    /// The state that chain `c` goes on from. `tick` is called after every sweep.
    pub(super) fn best(&self, seed: u64, c: usize, tick: &dyn Fn()) -> Result<Chain<'a>, OracleError> {
        let mut rng = stream(seed, c as u64);
        let k_means = KMeans::default().starts(3).seeding(Seeding::PlusPlus);
        let first = k_means.fit(self.points, Start::K(self.k), &mut rng)?.partition;
        let kinds = vec![GROUP; first.k()];
        let second = self.dense.get(&LEAST[c % LEAST.len()]).map(|dense| {
            let (labels, kinds) = in_field(dense);
            self.tried(labels, &kinds, stream(rng.random(), 0), tick)
        });
        let tried = self.data.field.is_open();
        let first = match tried {
            true => self.tried(first.labels().to_vec(), &kinds, rng, tick),
            false => (0.0, self.begun(first.labels().to_vec(), &kinds, rng)),
        };
        Ok(match second {
            Some(second) if second.0 > first.0 && second.1.in_field > 0 => second.1,
            _ => first.1,
        })
    }

    fn begun(&self, labels: Vec<u32>, kinds: &[usize], rng: Stream) -> Chain<'a> {
        let mut chain = Chain::new(self.data, self.shape.clone(), labels, kinds, self.likeliest, rng);
        // Before kinds are drawn: what a group is follows from the metric.
        chain.fit_shape();
        chain
    }

    /// A beginning after its sweeps, and the log density of the last of them.
    fn tried(&self, labels: Vec<u32>, kinds: &[usize], rng: Stream, tick: &dyn Fn()) -> (f64, Chain<'a>) {
        let mut chain = self.begun(labels, kinds, rng);
        let mut ln_density = 0.0;
        for t in 0..self.tried {
            chain.step(self.moves);
            if t + JUDGED >= self.tried {
                ln_density += chain.ln_joint();
            }
            tick();
        }
        (ln_density, chain)
    }
}

/// Dense groups as groups, and what is in none as one component of the field, with the kinds of
/// all.
fn in_field(dense: &[Option<u32>]) -> (Vec<u32>, Vec<usize>) {
    let of: Vec<u32> = dense.iter().map(|label| label.map_or(0, |label| label + 1)).collect();
    let partition = Partition::from_labels(&of);
    let mut kinds = vec![GROUP; partition.k()];
    for (label, dense) in partition.labels().iter().zip(dense) {
        if dense.is_none() {
            kinds[*label as usize] = GROUP + 1 + FIRST_WIDTH;
        }
    }
    (partition.labels().to_vec(), kinds)
}
