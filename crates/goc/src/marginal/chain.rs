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

pub(super) mod kept;

use rand::RngExt;

use super::blocks::{Blocks, Extents, LANES, Reader};
use super::cluster::{Cluster, bound_all, weigh, weigh_alone, weigh_listed};
use super::field::{Field, pick_ln};
use super::matrix::{cholesky, inverse, lower_inverse, pick, wishart};
use super::prior::{Cohesion, PartitionPrior};
use super::screening::Screening;
use super::shape::{Likeness, Shape};
use crate::Stream;
use crate::random::stream;

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

    /// Visits every object once, in an order that does not depend on the state: batches of
    /// neighbours in memory, in shuffled order.
    pub(super) fn sweep(&mut self) {
        let mut order = std::mem::take(&mut self.order);
        for i in (1..order.len()).rev() {
            order.swap(i, self.rng.random_range(0..=i));
        }
        let n = self.labels.len();
        self.entropy = 0.0;
        for &batch in &order {
            for i in batch * self.batch..((batch + 1) * self.batch).min(n) {
                self.move_one(i);
            }
        }
        self.order = order;
    }

    /// Redraws the label and candidate of object `i`. If that makes a group wider than a field
    /// allows, the object stays where it was: a Metropolis rejection of a proposal from the
    /// conditional without that limit.
    fn move_one(&mut self, i: usize) {
        let (label, spot) = (self.labels[i], self.spots[i]);
        let was = self.take_out(i);
        let drawn = self.draw(i, was);
        let opens = self.in_field == 0;
        self.put(i, drawn);
        let to = self.labels[i];
        let good = |k: usize| self.is_narrow(&self.clusters[k]);
        if self.in_field == 0
            || (to == FIELD && opens && (0..self.clusters.len()).all(good))
            || (!(to == FIELD && opens) && was.is_none_or(good) && (to == FIELD || good(to as usize)))
        {
            return;
        }
        self.take_out(i);
        if label == FIELD {
            self.labels[i] = FIELD;
            self.in_field += 1;
            return;
        }
        let k = was.unwrap_or_else(|| {
            self.clusters.push(Cluster::empty(self.shape.q));
            self.clusters.len() - 1
        });
        self.labels[i] = k as u32;
        self.choose(i, spot);
        let q = self.shape.q;
        self.clusters[k].add(&self.places[i * q..(i + 1) * q], &self.shape);
        self.screen(k);
    }

    /// Whether a cluster is narrow enough in the presence of a field.
    pub(super) fn is_narrow(&self, cluster: &Cluster) -> bool {
        self.data.field.levels()[self.level].narrow.holds(cluster.size, &cluster.scatter)
    }

    /// Returns the cluster that the object was in, if it still exists.
    fn take_out(&mut self, i: usize) -> Option<usize> {
        let (k, q) = (self.labels[i] as usize, self.shape.q);
        let was = std::mem::replace(&mut self.labels[i], NOWHERE);
        if was == FIELD {
            self.in_field -= 1;
            return None;
        }
        self.clusters[k].remove(&self.places[i * q..(i + 1) * q], &self.shape);
        if self.clusters[k].size == 0 {
            self.drop_cluster(k);
            return None;
        }
        self.screen(k);
        Some(k)
    }

    fn screen(&mut self, k: usize) {
        let cluster = &mut self.clusters[k];
        cluster.sharpen(&self.shape);
        self.screening.set(k, cluster, self.joins[cluster.size]);
    }

    /// Draws exactly a cluster and a block, a new cluster or the field. `was` is the cluster the
    /// object comes from.
    fn draw(&mut self, i: usize, was: Option<usize>) -> Drawn {
        let blocks = self.data.blocks;
        self.reader.load(blocks, i);
        let in_field = self.field_join(self.in_field, 1) * self.field_sums[i];
        let alone = self.open_group() * self.data.alone_sum[self.reader.law][i];
        // Both come first, as if they were one cluster: their weight is already known.
        let first = alone + in_field;
        // What is negligible is measured against the known part: the object alone, and its previous
        // cluster.
        let mut known = first;
        if let Some(k) = was {
            let own = self.reader.own(blocks, i);
            let weights = weigh(&self.clusters[k], own, self.spots[i] as usize / LANES);
            known += self.joins[self.clusters[k].size] * weights.iter().sum::<f64>();
        }
        self.extents.measure(self.reader.own(blocks, i), self.screening.metric());
        let least = NEGLIGIBLE * known / ((self.clusters.len() + 1) * self.extents.len()) as f64;
        let mut others = 0.0;
        self.listed.clear();
        for (group, first) in self.extents.groups().zip((0..).step_by(LANES)) {
            others += self.screening.near(group.middle, group.reach, least, &mut self.near);
            self.bounds.clear();
            let clusters = &self.clusters;
            bound_all(clusters, &self.near, &self.joins, group, &mut self.bounds);
            for (k, bounds) in self.near.iter().zip(&self.bounds) {
                for (lane, &bound) in bounds.iter().enumerate() {
                    if bound > least / LANES as f64 {
                        self.listed.push((*k, first + lane as u32));
                    } else {
                        others += bound;
                    }
                }
            }
        }
        self.sums.clear();
        self.weigh_listed(i, 0);
        let u = self.rng.random::<f64>();
        let sum = first + self.sums.iter().sum::<f64>();
        let at = self.reach(first, u * sum);
        if self.reach(first, u * (sum + others)) == at && at <= self.sums.len() {
            return self.drawn(at, alone, in_field, sum);
        }
        let begin = self.listed.len();
        let count = blocks.count(i) as u32;
        let all = (0..self.clusters.len() as u32).flat_map(|k| (0..count).map(move |block| (k, block)));
        let mut known = self.listed.clone();
        known.sort_unstable();
        let rest: Vec<(u32, u32)> = all.filter(|pair| known.binary_search(pair).is_err()).collect();
        self.listed.extend(rest);
        self.weigh_listed(i, begin);
        let sum = first + self.sums.iter().sum::<f64>();
        let at = self.reach(first, u * sum).min(self.sums.len());
        self.drawn(at, alone, in_field, sum)
    }

    /// The outcome at the index from [`Self::reach`], given the weights of being alone, of the
    /// field and in total.
    fn drawn(&mut self, at: usize, alone: f64, in_field: f64, sum: f64) -> Drawn {
        let drawn = match self.listed.get(at.wrapping_sub(1)) {
            Some(&(k, block)) => {
                let own = self.listed.iter().zip(&self.sums).filter(|((l, _), _)| *l == k);
                let total: f64 = own.map(|(_, sum)| sum).sum();
                self.entropy -= libm::log(self.sums[at - 1] / total);
                Drawn::Block(k, block)
            }
            None if in_field > 0.0 && pick(&[alone, in_field], alone + in_field, &mut self.rng) == 1 => {
                Drawn::Field
            }
            None => Drawn::Alone,
        };
        let of_kind = match drawn {
            Drawn::Field => in_field,
            Drawn::Alone => alone,
            Drawn::Block(..) => sum - in_field - alone,
        };
        self.entropy -= libm::log(of_kind / sum);
        drawn
    }

    /// Evaluates the listed blocks of object `i`, starting with `begin`.
    fn weigh_listed(&mut self, i: usize, begin: usize) {
        let own = self.reader.own(self.data.blocks, i);
        weigh_listed(&self.clusters, own, &self.listed[begin..], &mut self.sums);
        for (at, &(k, _)) in self.listed.iter().enumerate().skip(begin) {
            self.sums[at] *= self.joins[self.clusters[k as usize].size];
        }
    }

    /// The index at which the running sum passes `target`: 0 for the object alone or in the field,
    /// then the listed blocks from 1, and one more if it never does.
    fn reach(&self, first: f64, target: f64) -> usize {
        let mut left = target - first;
        let mut at = 0;
        while left >= 0.0 && at < self.sums.len() {
            left -= self.sums[at];
            at += 1;
        }
        if left < 0.0 { at } else { self.sums.len() + 1 }
    }

    /// Puts the object where it was drawn to; the candidate is drawn within the block. An object in
    /// the field keeps its previous candidate, which nothing depends on.
    fn put(&mut self, i: usize, drawn: Drawn) {
        let blocks = self.data.blocks;
        let own = self.reader.own(blocks, i);
        let (to, spot) = match drawn {
            Drawn::Field => {
                self.labels[i] = FIELD;
                self.in_field += 1;
                return;
            }
            Drawn::Alone => {
                let spot = self.spot_alone(i);
                self.clusters.push(Cluster::empty(self.shape.q));
                (self.clusters.len() - 1, spot)
            }
            Drawn::Block(k, block) => {
                let weights = weigh(&self.clusters[k as usize], own, block as usize);
                let sum = weights.iter().sum();
                let lane = pick(&weights, sum, &mut self.rng);
                self.entropy -= libm::log(weights[lane] / sum);
                (k as usize, block * LANES as u32 + lane as u32)
            }
        };
        self.labels[i] = to as u32;
        self.choose(i, spot);
        let q = self.shape.q;
        self.clusters[to].add(&self.places[i * q..(i + 1) * q], &self.shape);
        self.screen(to);
    }

    /// Draws a candidate for object `i` (the last one loaded) when it is alone.
    pub(super) fn spot_alone(&mut self, i: usize) -> u32 {
        let blocks = self.data.blocks;
        let [lanes, alone] = &mut self.alone;
        weigh_alone(&self.shape.base, self.reader.own(blocks, i), lanes);
        blocks.in_order(i, lanes, alone);
        blocks.spot_of(i, pick(alone, self.data.alone_sum[self.reader.law][i], &mut self.rng) as u32)
    }

    /// The weight of opening a group.
    fn open_group(&self) -> f64 {
        self.cohesion.alpha * self.cohesion.singleton_weight
    }

    /// The weight of the field for one more object, comparable with the `joins` of a group: the
    /// ratio of the normalising constants, with `field` objects in the field and `out` objects in
    /// neither.
    pub(super) fn field_join(&self, field: usize, out: usize) -> f64 {
        if !self.data.field.is_open() {
            return 0.0;
        }
        let grouped = self.labels.len() - out - field;
        let ln = self.data.field.ln_share(field + 1) - self.data.field.ln_share(field)
            + self.ln_scale_prior(field + 1)
            - self.ln_scale_prior(field)
            + self.constants[grouped + 1]
            - self.constants[grouped];
        libm::exp(ln)
    }

    /// The weight of joining a cluster.
    pub(super) fn join(&self, cluster: &Cluster) -> f64 {
        self.joins[cluster.size]
    }

    /// Draws the metric and the prior's cohesion. Returns false if numbers went out of range, which
    /// leaves the metric unchanged.
    pub(super) fn draw_shape(&mut self) -> bool {
        let sizes = self.clusters.iter().map(|c| c.size);
        self.cohesion = self.data.prior.draw(sizes, &mut self.rng);
        self.constants = self.data.prior.constants(self.cohesion);
        if self.data.field.is_open() {
            let members = field_of(&self.labels);
            self.field_shares =
                self.data.field.draw(self.reader.law, self.level, members, &self.field_shares, &mut self.rng);
            self.draw_level();
        }
        let drawn = !self.data.learn || self.draw_metric().is_some();
        let drawn = (!self.steps.is_multiple_of(LAW_EVERY) || self.draw_law().is_some()) && drawn;
        self.rebuild();
        drawn
    }

    /// Draws the smoothness of the field, given its members and the width of the groups.
    fn draw_level(&mut self) {
        let levels = self.data.field.levels();
        let ln_of = |level: usize| {
            let narrow = &levels[level].narrow;
            if self.in_field > 0 && !self.clusters.iter().all(|c| narrow.holds(c.size, &c.scatter)) {
                return f64::NEG_INFINITY;
            }
            let members = (0..).zip(&self.labels).filter(|(_, label)| **label == FIELD);
            let each = members
                .map(|(i, _)| libm::log(self.data.field.sum(self.reader.law, level, i, &self.field_shares)));
            levels[level].ln_prior + each.sum::<f64>()
        };
        let ln: Vec<f64> = (0..levels.len()).map(ln_of).collect();
        self.level = pick_ln(&ln, &mut self.rng);
    }

    /// Draws a metric and cohesion that fit the labels, whatever they were before. For initial
    /// states.
    pub(super) fn fit_shape(&mut self) {
        for _ in 0..5 {
            let sizes = self.clusters.iter().map(|c| c.size);
            self.cohesion = self.data.prior.draw(sizes, &mut self.rng);
            if self.data.learn {
                self.draw_metric();
            }
        }
        self.rebuild();
    }

    /// Draws the similarity of the covariances at fixed mean, with the covariances integrated out.
    fn draw_likeness(&mut self) {
        let likenesses = self.data.likenesses;
        if likenesses.len() > 1 {
            let plural = || self.clusters.iter().filter(|cluster| cluster.size > 1);
            let shapes: Vec<Shape> = likenesses.iter().map(|own| self.shape.as_alike(own)).collect();
            let ln_of = |shape: &Shape| plural().map(|cluster| cluster.ln_density(shape)).sum();
            let ln: Vec<f64> = shapes.iter().map(ln_of).collect();
            if ln.iter().all(|ln: &f64| ln.is_finite()) {
                self.shape = shapes[pick_ln(&ln, &mut self.rng)].clone();
            }
        }
    }

    fn draw_metric(&mut self) -> Option<()> {
        self.draw_likeness();
        let (q, nu) = (self.shape.q, self.shape.nu as f64);
        let mut sum = vec![0.0; q * q];
        for f in 0..q {
            sum[f * q + f] = self.data.metric_df / (self.scale * self.shape.expected_times());
        }
        let mut plural = 0.0;
        for cluster in self.clusters.iter().filter(|cluster| cluster.size > 1) {
            let scale = inverse(&cluster.spread(&self.shape), q)?;
            let precision = wishart(nu + cluster.size as f64 - 1.0, &scale, q, &mut self.rng)?;
            for (s, p) in sum.iter_mut().zip(precision) {
                *s += p;
            }
            plural += 1.0;
        }
        let psi = wishart(plural * nu + self.data.metric_df, &inverse(&sum, q)?, q, &mut self.rng)?;
        cholesky(&psi, q)?;
        self.shape.set_psi(psi);
        self.draw_scale();
        Some(())
    }

    /// Draws the prior expectation of the metric, given the metric, from the Wishart density at
    /// every scale of the grid.
    fn draw_scale(&mut self) {
        let (q, df) = (self.shape.q, self.data.metric_df);
        if self.data.scales.len() > 1 {
            let trace = self.trace_of_expected();
            let scales = &self.data.scales[..self.open_scales(self.in_field)];
            let ln_of = |a: &f64| -0.5 * df * (q as f64 * libm::log(*a) + trace / a);
            let ln: Vec<f64> = scales.iter().map(ln_of).collect();
            self.scale = scales[pick_ln(&ln, &mut self.rng)];
        }
    }

    /// The trace of the expected covariance.
    fn trace_of_expected(&self) -> f64 {
        let q = self.shape.q;
        (0..q).map(|f| self.shape.psi[f * q + f]).sum::<f64>() / self.shape.expected_times()
    }

    /// The number of scales allowed with this many objects in the field.
    fn open_scales(&self, in_field: usize) -> usize {
        if in_field == 0 { self.data.scales.len() } else { self.data.narrow_scales }
    }

    /// `ln p` of the scale with this many objects in the field.
    fn ln_scale_prior(&self, in_field: usize) -> f64 {
        let open = &self.data.scales[..self.open_scales(in_field)];
        if open.contains(&self.scale) { -libm::log(open.len() as f64) } else { f64::NEG_INFINITY }
    }

    /// The log of the stationary density, up to constants and the prior of the metric: the quantity
    /// shown in a trace plot.
    pub(super) fn ln_density(&self) -> f64 {
        self.ln_groups() + self.ln_field()
    }

    /// The log density of the objects in the field with the current shares.
    fn ln_field(&self) -> f64 {
        let field = self.labels.iter().zip(&self.field_sums).filter(|(label, _)| **label == FIELD);
        field.map(|(_, sum)| libm::log(*sum)).sum()
    }

    /// The part of it that does not come from field objects.
    fn ln_groups(&self) -> f64 {
        let clusters: f64 = self.clusters.iter().map(|cluster| cluster.ln_density(&self.shape)).sum();
        let grouped = self.spots.iter().enumerate().filter(|(i, _)| self.labels[*i] != FIELD);
        let choices: f64 =
            grouped.map(|(i, &spot)| libm::log(self.data.blocks.weight(self.reader.law, i, spot))).sum();
        clusters + choices + self.ln_prior() + self.data.ln_laws[self.reader.law]
    }

    /// An estimate of the log weight of all states similar to this one, for comparing initial
    /// states. It includes the entropy of the assignments to field or alone and of the candidates,
    /// and the prior of the metric as a density of its logarithm, so it does not depend on the unit
    /// of the features.
    ///
    /// The field's shares are integrated out; otherwise hundreds of shares would fit the data
    /// without paying for it.
    pub(super) fn ln_joint(&self) -> f64 {
        let (q, df) = (self.shape.q as f64, self.data.metric_df);
        let trace = self.trace_of_expected();
        let ln_det = self.shape.ln_det_psi() - q * libm::log(self.shape.expected_times());
        let a = self.scale;
        let prior = 0.5 * (df - q - 1.0) * ln_det - 0.5 * df * (q * libm::log(a) + trace / a);
        let (members, rng) = (field_of(&self.labels).collect(), &mut stream(self.steps as u64, ORDER));
        let field = self.data.field.ln_marginal(self.reader.law, self.level, members, rng);
        let level = self.data.field.levels()[self.level].ln_prior;
        self.ln_groups() + field + level + prior + 0.5 * (q + 1.0) * ln_det + self.entropy
    }

    /// `ln p` of labels, given the cohesion.
    fn ln_prior(&self) -> f64 {
        let each = self.data.prior.ln_weight(self.clusters.iter().map(|c| c.size), self.cohesion);
        each + self.ln_prior_field(self.in_field)
    }

    /// The contribution of one cluster.
    pub(super) fn ln_prior_of(&self, size: usize) -> f64 {
        self.data.prior.ln_weight(std::iter::once(size), self.cohesion)
    }

    /// The contribution of this many objects in the field.
    pub(super) fn ln_prior_field(&self, field: usize) -> f64 {
        self.data.field.ln_share(field) + self.ln_scale_prior(field)
            - self.constants[self.labels.len() - field]
    }
}

/// The objects in the field.
fn field_of(labels: &[u32]) -> impl Iterator<Item = usize> {
    labels.iter().enumerate().filter(|(_, label)| **label == FIELD).map(|(i, _)| i)
}

/// The outcome of a draw for an object.
enum Drawn {
    Alone,
    Field,
    /// A cluster, and a block of the object's candidates.
    Block(u32, u32),
}
