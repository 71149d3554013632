//! One Markov chain over partitions and candidate choices.
//!
//! The state is a label and a candidate for every object, the metric `Psi` and its prior
//! expectation, and the prior's `alpha`, singleton weight `s` and power; everything else is
//! integrated out. Its stationary distribution is, with the candidates' weights `w`,
//!
//! ```text
//! p(labels, choices, Psi, alpha, s | data)  ~  p(labels | alpha, s) p(Psi) prod_i w_{i, choice_i} prod_k M(members of k; Psi).
//! ```
//!
//! A sweep takes each object out in random order, and draws its label and candidate from their
//! exact conditional (Gibbs). [`super::split_merge`] moves many objects at once. Then `Psi` is
//! drawn through the covariances of all clusters with two or more members, and all other parameters
//! are drawn from grids.
//!
//! # Exact draws without a full evaluation
//! The conditional is a sum over all clusters and candidates, nearly all of which are negligible.
//! So every cluster first gets an upper bound on its share (`screening`), then every block of
//! candidates in the remaining clusters (`cluster`), and only blocks that are not negligible are
//! evaluated. With their sum `S` and the bound `U` on all others, the total is between `S` and `S +
//! U`, and a uniform random number `u` decides: if `u S` and `u (S + U)` fall on the same block,
//! that block is drawn whatever the weights of the others. If not, which is rare, the others are
//! evaluated too. Nothing is approximated.

mod density;
pub(super) mod kept;
mod parameters;
mod sweep;

use super::blocks::{Blocks, Extents, LANES, Reader};
use super::cluster::Cluster;
use super::field::Field;
use super::matrix::{cholesky, lower_inverse};
use super::prior::{Cohesion, PartitionPrior};
use super::screening::Screening;
use super::shape::{Likeness, Shape};
use crate::Stream;

/// Blocks whose bounds add up to less than this share of the total are not evaluated at first. The
/// fewer blocks are evaluated, the more often the draw is undecided. Between 0.05 and 0.5 it makes
/// no difference; at 0.001 a sweep takes a fifth longer.
const NEGLIGIBLE: f64 = 0.1;

/// One local move per this many objects after every sweep, in addition to the requested moves.
const NEAR_EVERY: usize = 5;

/// The number of sweeps between draws of the error model: such a draw takes about a quarter of a
/// sweep.
const LAW_EVERY: usize = 4;

/// From this many objects on, candidates do not all fit in the cache, and objects that are
/// neighbours in memory are visited in batches of this size. (One by one, a sweep of 10 000 objects
/// takes twice as long.)
const MANY: usize = 2000;
const BATCH: usize = 32;

/// Streams for the orders in which field objects are processed when a state is judged.
const ORDER: u64 = 0x6f72_6465_7273_6f66;

/// Data that all chains share and none modifies.
pub(super) struct Data<'a> {
    pub(super) blocks: &'a Blocks<'a>,
    pub(super) prior: &'a PartitionPrior,
    pub(super) field: &'a Field,
    /// Under every error model, the sum over candidates of `w H(x)` for every object: the weight of
    /// an object alone.
    pub(super) alone_sum: &'a [Vec<f64>],
    /// The log prior probabilities of the error models.
    pub(super) ln_laws: &'a [f64],
    /// The possible degrees of similarity of the covariances, with equal prior probabilities.
    pub(super) likenesses: &'a [Likeness],
    /// `Psi / (nu - q - 1) ~ Wishart(metric_df, a / metric_df I)`, and whether it is drawn at all.
    pub(super) metric_df: f64,
    /// The values that `a` may take, ascending, and how many of them when there is a field.
    pub(super) scales: &'a [f64],
    pub(super) narrow_scales: usize,
    pub(super) learn: bool,
    /// The neighbours of each object: pairs that are worth trying to split or merge.
    pub(super) near: &'a Near,
}

/// Neighbours of each object that are tried together in splits and mergers.
const NEAREST: usize = 20;

/// A list of neighbours for every object, the nearest first.
pub(super) struct Near {
    starts: Vec<u32>,
    objects: Vec<u32>,
}

impl Near {
    /// Rows of at most `most` objects.
    pub(super) fn new<R: IntoIterator<Item = u32>>(
        rows: impl ExactSizeIterator<Item = R>,
        most: usize,
    ) -> Self {
        let mut starts = Vec::with_capacity(rows.len() + 1);
        let mut objects = Vec::with_capacity(rows.len() * most);
        starts.push(0);
        for row in rows {
            objects.extend(row);
            starts.push(objects.len() as u32);
        }
        Self { starts, objects }
    }

    /// The objects nearest to object `i`.
    pub(super) fn of(&self, i: usize) -> &[u32] {
        let around = self.around(i);
        &around[..around.len().min(NEAREST)]
    }

    /// All neighbours of the object.
    pub(super) fn around(&self, i: usize) -> &[u32] {
        &self.objects[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

#[derive(Clone)]
pub(super) struct Chain<'a> {
    pub(super) data: &'a Data<'a>,
    pub(super) shape: Shape,
    pub(super) labels: Vec<u32>,
    /// The positions of the chosen candidates: the lane among all lanes of the object's blocks, and
    /// their features. Stored contiguously, as candidates are scattered in memory.
    spots: Vec<u32>,
    places: Vec<f64>,
    pub(super) reader: Reader,
    pub(super) clusters: Vec<Cluster>,
    pub(super) cohesion: Cohesion,
    /// `ln Z_m` of the cohesion, by the number of grouped objects.
    constants: &'a [f64],
    /// The number of objects in the field, the shares of its densities, and the weight of each
    /// object in the field with these shares.
    pub(super) in_field: usize,
    pub(super) field_shares: Vec<f64>,
    /// The smoothness level of the field.
    pub(super) level: usize,
    pub(super) field_sums: Vec<f64>,
    /// The prior expectation of the metric: `scale I`.
    pub(super) scale: f64,
    /// The weights of joining a cluster, indexed by its size.
    joins: Vec<f64>,
    pub(super) rng: Stream,
    /// The number of split and merge moves tried and accepted.
    pub(super) moves: [usize; 2],
    /// The number of steps made.
    steps: usize,
    /// The sum over the last sweep of `-ln p` of all draws of field or alone, and of all drawn
    /// candidates: an estimate of the entropy of each given everything else. The choice of cluster
    /// is excluded: with small clusters many paths lead to the same partition, and would count as
    /// many partitions.
    entropy: f64,
    /// The extents of one object's candidates, in the current metric.
    extents: Extents,
    screening: Screening,
    /// The number of objects that a sweep visits consecutively, and the order of such batches.
    batch: usize,
    order: Vec<usize>,
    /// Clusters that may matter to one object, and the bounds of its blocks in each.
    near: Vec<u32>,
    bounds: Vec<[f64; LANES]>,
    /// Clusters and blocks that were evaluated, and their weights.
    listed: Vec<(u32, u32)>,
    sums: Vec<f64>,
    /// The weights of one object's candidates when alone, by lane and by candidate.
    alone: [Vec<f64>; 2],
}

/// The label of objects in the field.
pub(super) const FIELD: u32 = u32::MAX - 1;

/// An object that is temporarily unassigned.
const NOWHERE: u32 = u32::MAX;

impl<'a> Chain<'a> {
    /// From these labels (0..k, all used, or [`FIELD`]) and choices.
    pub(super) fn new(
        data: &'a Data<'a>,
        shape: Shape,
        labels: Vec<u32>,
        choice: &[u32],
        rng: Stream,
    ) -> Self {
        let n = labels.len();
        let clusters = labels.iter().filter(|label| **label != FIELD).max().map_or(0, |most| most + 1);
        let batch = if n < MANY { 1 } else { BATCH };
        let mut chain = Self {
            data,
            labels,
            spots: vec![0; n],
            places: vec![0.0; n * shape.q],
            reader: Reader::default(),
            clusters: vec![Cluster::empty(shape.q); clusters as usize],
            cohesion: data.prior.first(),
            constants: data.prior.constants(data.prior.first()),
            in_field: 0,
            field_shares: data.field.first(),
            level: data.field.levels().len() / 2,
            field_sums: vec![0.0; n],
            shape,
            scale: data.scales[data.narrow_scales / 2],
            joins: Vec::new(),
            rng,
            moves: [0, 0],
            steps: 0,
            entropy: 0.0,
            extents: Extents::default(),
            screening: Screening::new(Vec::new(), 0, 0),
            near: Vec::new(),
            batch,
            order: (0..n.div_ceil(batch)).collect(),
            bounds: Vec::new(),
            listed: Vec::new(),
            sums: Vec::new(),
            alone: [Vec::new(), Vec::new()],
        };
        for (i, &j) in choice.iter().enumerate() {
            chain.choose(i, data.blocks.spot_of(i, j));
        }
        chain.rebuild();
        chain
    }

    /// Moves object `i` to this lane of its blocks.
    pub(super) fn choose(&mut self, i: usize, spot: u32) {
        let (q, blocks) = (self.shape.q, self.data.blocks);
        self.spots[i] = spot;
        self.reader.load(blocks, i);
        self.reader.own(blocks, i).copy_place(spot, &mut self.places[i * q..(i + 1) * q]);
    }

    /// The lane of object `i` within its blocks.
    pub(super) fn spot(&self, i: usize) -> u32 {
        self.spots[i]
    }

    /// The chosen candidate of object `i`.
    pub(super) fn choice(&self, i: usize) -> u32 {
        self.data.blocks.candidate(i, self.spots[i])
    }

    /// The features of the chosen candidate of object `i`.
    pub(super) fn place(&self, i: usize) -> &[f64] {
        &self.places[i * self.shape.q..(i + 1) * self.shape.q]
    }

    /// Rebuilds all clusters from labels, choices, the metric and the cohesion.
    pub(super) fn rebuild(&mut self) {
        let q = self.shape.q;
        let k = self.clusters.len();
        self.constants = self.data.prior.constants(self.cohesion);
        for cluster in &mut self.clusters {
            *cluster = Cluster::empty(q);
        }
        self.in_field = 0;
        for (&label, place) in self.labels.iter().zip(self.places.chunks_exact(q)) {
            match label {
                FIELD => self.in_field += 1,
                label => self.clusters[label as usize].take_in(place),
            }
        }
        for cluster in &mut self.clusters {
            cluster.refresh(&self.shape);
        }
        for (i, sum) in self.field_sums.iter_mut().enumerate() {
            *sum = self.data.field.sum(self.reader.law, self.level, i, &self.field_shares);
        }
        // The metric is positive definite: it was so when it was drawn.
        let low = cholesky(&self.shape.psi, q).map_or_else(|| vec![0.0; q * q], |l| lower_inverse(&l, q));
        self.screening = Screening::new(low, q, self.shape.nu);
        self.joins = self.data.prior.joins(self.cohesion);
        for k in 0..k {
            self.screen(k);
        }
    }

    /// Removes cluster `k`, which is empty, and moves the last cluster to its index.
    fn drop_cluster(&mut self, k: usize) {
        let last = self.clusters.len() - 1;
        self.clusters.swap_remove(k);
        self.screening.swap_remove(k);
        if k != last {
            for label in self.labels.iter_mut().filter(|label| **label == last as u32) {
                *label = k as u32;
            }
        }
    }

    /// When there is a field, moves members of groups that are too wide to the field. For initial
    /// states.
    pub(super) fn without_wide_groups(&mut self) {
        if self.in_field == 0 {
            return;
        }
        for k in (0..self.clusters.len()).rev() {
            if !self.is_narrow(&self.clusters[k]) {
                for label in self.labels.iter_mut().filter(|label| **label == k as u32) {
                    *label = FIELD;
                }
                self.drop_cluster(k);
            }
        }
        self.rebuild();
    }

    /// A sweep, split and merge moves, an equal number of local ones, and draws of all shared
    /// parameters.
    pub(super) fn step(&mut self, moves: usize) {
        self.sweep();
        let near = if moves > 0 { moves + self.labels.len() / NEAR_EVERY } else { 0 };
        self.split_and_merge(moves, near);
        self.draw_shape();
        self.steps += 1;
    }
}
