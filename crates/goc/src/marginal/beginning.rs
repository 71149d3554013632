//! Where a chain begins.
//!
//! A sampler leaves a bad beginning only slowly: a large group in pieces teaches the metric that
//! groups are small, and a group that begins as part of the field has no cluster that its members
//! could join. So every chain tries two beginnings for a few sweeps, and the one whose state has the
//! higher density goes on:
//!
//! - few clusters by k-means, all of them groups: right where there is no field;
//! - what HDBSCAN finds dense are groups, all else is one component of the field: right where groups
//!   are small beside it. Chains differ in the least size of a group.

use std::collections::BTreeMap;

use super::chain::{Chain, Data};
use super::cluster::{GROUP, Shape};
use crate::oracle::hdbscan::Hdbscan;
use crate::oracle::k_means::{KMeans, Seeding};
use crate::oracle::{OracleError, Start};
use crate::random::stream;
use crate::{Partition, Points};

/// Sweeps of a beginning before it is judged, and those of them, the last, that are.
pub(super) const TRIED: usize = 20;
const JUDGED: usize = 5;

/// Least sizes of dense groups, chain after chain, and the neighbour that says how dense.
const LEAST: [usize; 4] = [5, 3, 10, 5];
const NEIGHBOUR: usize = 4;

/// Objects up to which dense groups are looked for: the search takes the square of their number.
const DENSE_UP_TO: usize = 20_000;

/// What all beginnings share.
pub(super) struct Beginnings<'a> {
    pub(super) data: &'a Data<'a>,
    pub(super) shape: &'a Shape,
    /// The likeliest candidate of each object, and its features.
    pub(super) likeliest: &'a [u32],
    pub(super) points: &'a Points,
    /// Clusters by k-means.
    pub(super) k: usize,
    /// The kind of the component that the field begins as.
    pub(super) field: usize,
    /// Split and merge moves after every sweep.
    pub(super) moves: usize,
    /// Dense groups by their least size.
    dense: BTreeMap<usize, Vec<Option<u32>>>,
}

/// Labels and the kinds of their clusters.
type Labelled = (Vec<u32>, Vec<usize>);

impl<'a> Beginnings<'a> {
    /// For so many chains.
    pub(super) fn new(
        data: &'a Data<'a>,
        shape: &'a Shape,
        likeliest: &'a [u32],
        points: &'a Points,
        (k, field, moves, chains): (usize, usize, usize, usize),
    ) -> Result<Self, OracleError> {
        let mut dense = BTreeMap::new();
        if data.field.is_open() && points.len() <= DENSE_UP_TO {
            for size in &LEAST[..chains.min(LEAST.len())] {
                if !dense.contains_key(size) {
                    dense.insert(*size, Hdbscan::new(*size).min_samples(NEIGHBOUR).fit(points)?.labels);
                }
            }
        }
        Ok(Self { data, shape, likeliest, points, k, field, moves, dense })
    }

    /// The state that chain `c` goes on from. `tick` is called after every sweep.
    pub(super) fn best(&self, seed: u64, c: usize, tick: &dyn Fn()) -> Result<Chain<'a>, OracleError> {
        let mut rng = stream(seed, c as u64);
        let k_means = KMeans::default().starts(3).seeding(Seeding::PlusPlus);
        let first = k_means.fit(self.points, Start::K(self.k), &mut rng)?.partition;
        let kinds = vec![GROUP; first.k()];
        let mut states: Vec<Labelled> = vec![(first.labels().to_vec(), kinds)];
        states.extend(self.dense.get(&LEAST[c % LEAST.len()]).map(|labels| self.in_field(labels)));
        if states.len() == 1 {
            let (labels, kinds) = states.swap_remove(0);
            let mut chain = Chain::new(self.data, self.shape.clone(), labels, &kinds, self.likeliest, rng);
            chain.fit_shape();
            return Ok(chain);
        }
        let mut best: Option<(f64, Chain<'a>)> = None;
        for (labels, kinds) in states {
            let own = stream(rng.next_u64(), 0);
            let mut chain = Chain::new(self.data, self.shape.clone(), labels, &kinds, self.likeliest, own);
            chain.fit_shape();
            let mut ln_density = 0.0;
            for t in 0..TRIED {
                chain.step(self.moves);
                if t + JUDGED >= TRIED {
                    ln_density += chain.ln_joint();
                }
                tick();
            }
            if best.as_ref().is_none_or(|(most, _)| ln_density > *most) {
                best = Some((ln_density, chain));
            }
        }
        best.map(|(_, chain)| chain).ok_or(OracleError::NoPoints)
    }

    /// Dense groups as groups, and what is in none as one component of the field.
    fn in_field(&self, dense: &[Option<u32>]) -> Labelled {
        let of: Vec<u32> = dense.iter().map(|label| label.map_or(0, |label| label + 1)).collect();
        let partition = Partition::from_labels(&of);
        let mut kinds = vec![GROUP; partition.k()];
        for (label, dense) in partition.labels().iter().zip(dense) {
            if dense.is_none() {
                kinds[*label as usize] = self.field;
            }
        }
        (partition.labels().to_vec(), kinds)
    }
}
