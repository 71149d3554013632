//! One Markov chain over partitions and choices of candidates.
//!
//! The state is a label and a candidate for every object, the metric `Psi` and `alpha`; everything else is integrated out. Its
//! stationary law is, with the candidates' weights `w`,
//!
//! ```text
//! p(labels, choices, Psi, alpha | data)  ~  p(labels | alpha) p(Psi) prod_i w_{i, choice_i} prod_k M(members of k; Psi).
//! ```
//!
//! A sweep takes each object out in random order, and draws its label and candidate from their exact conditional, the sum
//! over candidates first (Gibbs). [`super::split_merge`] moves many objects at once. After both, `Psi` is drawn by way of the
//! covariances of all clusters with two members or more, and `alpha` from its grid.

use rand::RngExt;

use super::cluster::{Cluster, Shape};
use super::matrix::{inverse, pick, wishart};
use super::prior::PartitionPrior;
use crate::{Candidates, Stream};

/// What all chains share and none changes.
pub(super) struct Data<'a> {
    pub(super) candidates: &'a Candidates,
    /// One a candidate, sum 1 for every object, in the order of the candidates.
    pub(super) weights: &'a [f64],
    pub(super) prior: &'a PartitionPrior,
    /// `w H(x)` of every candidate, and its sum for every object: what an object alone has.
    pub(super) alone: &'a [f64],
    pub(super) alone_sum: &'a [f64],
    /// `Psi ~ Wishart(metric_df, metric)`, and whether it is drawn at all.
    pub(super) metric_df: f64,
    pub(super) metric_inverse: &'a [f64],
    pub(super) learn: bool,
}

impl Data<'_> {
    pub(super) fn weights(&self, i: usize) -> &[f64] {
        let offsets = self.candidates.offsets();
        &self.weights[offsets[i]..offsets[i + 1]]
    }

    fn alone(&self, i: usize) -> &[f64] {
        let offsets = self.candidates.offsets();
        &self.alone[offsets[i]..offsets[i + 1]]
    }
}

pub(super) struct Chain<'a> {
    pub(super) data: &'a Data<'a>,
    pub(super) shape: Shape,
    pub(super) labels: Vec<u32>,
    pub(super) choice: Vec<u32>,
    pub(super) clusters: Vec<Cluster>,
    pub(super) alpha: f64,
    pub(super) rng: Stream,
    pub(super) buffer: Vec<f64>,
    /// Split and merge moves tried and taken.
    pub(super) moves: [usize; 2],
    order: Vec<usize>,
}

/// An object that is in no cluster for the moment.
const NOWHERE: u32 = u32::MAX;

impl<'a> Chain<'a> {
    /// From these labels (0..k, all used) and choices.
    pub(super) fn new(
        data: &'a Data<'a>,
        shape: Shape,
        labels: Vec<u32>,
        choice: Vec<u32>,
        rng: Stream,
    ) -> Self {
        let n = labels.len();
        let widest = (0..n).map(|i| data.candidates.count(i)).max().unwrap_or(1);
        let mut chain = Self {
            data,
            shape,
            labels,
            choice,
            clusters: Vec::new(),
            alpha: data.prior.first_alpha(),
            rng,
            buffer: vec![0.0; widest],
            moves: [0, 0],
            order: (0..n).collect(),
        };
        chain.rebuild();
        chain
    }

    /// The place of object `i` at candidate `j`.
    pub(super) fn place(&self, i: usize, j: u32) -> Vec<f64> {
        self.data.candidates.candidate(i, j as usize)
    }

    /// All clusters anew from labels and choices.
    pub(super) fn rebuild(&mut self) {
        let k = self.labels.iter().max().map_or(0, |most| *most as usize + 1);
        self.clusters = vec![Cluster::empty(self.shape.q); k];
        for i in 0..self.labels.len() {
            let place = self.place(i, self.choice[i]);
            self.clusters[self.labels[i] as usize].add(&place, &self.shape);
        }
    }

    /// Gives cluster `k`, which is empty, the number of the last one, and drops it.
    pub(super) fn drop_cluster(&mut self, k: usize) {
        let last = self.clusters.len() - 1;
        self.clusters.swap_remove(k);
        if k != last {
            for label in self.labels.iter_mut().filter(|label| **label == last as u32) {
                *label = k as u32;
            }
        }
    }

    /// Every object once. `temperature` above 1 flattens the choice of the label, for the first sweeps.
    pub(super) fn sweep(&mut self, temperature: f64) {
        let mut order = std::mem::take(&mut self.order);
        for i in (1..order.len()).rev() {
            order.swap(i, self.rng.random_range(0..=i));
        }
        let mut weights = Vec::new();
        for &i in &order {
            self.take_out(i);
            let k = self.clusters.len();
            weights.clear();
            for cluster in &self.clusters {
                let fit = cluster.weigh(
                    self.data.candidates.block(i),
                    self.data.weights(i),
                    &self.shape,
                    &mut self.buffer,
                );
                weights.push(self.data.prior.join(cluster.size) * fit);
            }
            weights.push(self.alpha * self.data.alone_sum[i]);
            if temperature > 1.0 {
                let most = weights.iter().copied().fold(0.0, f64::max);
                for w in &mut weights {
                    *w = libm::pow(*w / most, 1.0 / temperature);
                }
            }
            let to = pick(&weights, weights.iter().sum(), &mut self.rng);
            self.put(i, to, k);
        }
        self.order = order;
    }

    fn take_out(&mut self, i: usize) {
        let (k, place) = (self.labels[i] as usize, self.place(i, self.choice[i]));
        self.labels[i] = NOWHERE;
        self.clusters[k].remove(&place, &self.shape);
        if self.clusters[k].size == 0 {
            self.drop_cluster(k);
        }
    }

    /// Into cluster `to`, a new one if that is `k`; the candidate is drawn.
    fn put(&mut self, i: usize, to: usize, k: usize) {
        let m = self.data.candidates.count(i);
        let j = if to == k {
            self.clusters.push(Cluster::empty(self.shape.q));
            pick(self.data.alone(i), self.data.alone_sum[i], &mut self.rng)
        } else {
            let total = self.clusters[to].weigh(
                self.data.candidates.block(i),
                self.data.weights(i),
                &self.shape,
                &mut self.buffer,
            );
            pick(&self.buffer[..m], total, &mut self.rng)
        };
        (self.labels[i], self.choice[i]) = (to as u32, j as u32);
        let place = self.place(i, j as u32);
        self.clusters[to].add(&place, &self.shape);
    }

    /// Draws the metric and `alpha`. False when numbers ran out of range, which leaves the metric as it was.
    pub(super) fn draw_shape(&mut self) -> bool {
        self.alpha = self.data.prior.draw_alpha(self.clusters.len(), &mut self.rng);
        let drawn = !self.data.learn || self.draw_metric().is_some();
        self.rebuild();
        drawn
    }

    fn draw_metric(&mut self) -> Option<()> {
        let (q, nu) = (self.shape.q, self.shape.nu as f64);
        let mut sum = self.data.metric_inverse.to_vec();
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
        super::matrix::cholesky(&psi, q)?;
        self.shape.psi = psi;
        Some(())
    }

    /// The log of the stationary density but for constants and the prior of the metric: what a trace plot shows.
    pub(super) fn ln_density(&self) -> f64 {
        let clusters: f64 = self.clusters.iter().map(|cluster| cluster.ln_density(&self.shape)).sum();
        let choices: f64 =
            (0..self.labels.len()).map(|i| libm::log(self.data.weights(i)[self.choice[i] as usize])).sum();
        clusters + choices + self.data.prior.ln_weight(self.clusters.iter().map(|c| c.size), self.alpha)
    }
}
