//! A sweep: every object in turn draws its label and candidate (see [`super`]).

use rand::RngExt;

use super::{Chain, FIELD, NEGLIGIBLE, NOWHERE};
use crate::marginal::blocks::LANES;
use crate::marginal::cluster::{Cluster, bound_all, weigh, weigh_alone, weigh_listed};
use crate::marginal::matrix::pick;

impl Chain<'_> {
    /// Visits every object once, in an order that does not depend on the state: batches of
    /// neighbours in memory, in shuffled order.
    pub(in crate::marginal) fn sweep(&mut self) {
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
    pub(in crate::marginal) fn is_narrow(&self, cluster: &Cluster) -> bool {
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

    pub(super) fn screen(&mut self, k: usize) {
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
    pub(in crate::marginal) fn spot_alone(&mut self, i: usize) -> u32 {
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
    pub(in crate::marginal) fn field_join(&self, field: usize, out: usize) -> f64 {
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
    pub(in crate::marginal) fn join(&self, cluster: &Cluster) -> f64 {
        self.joins[cluster.size]
    }
}

/// The outcome of a draw for an object.
enum Drawn {
    Alone,
    Field,
    /// A cluster, and a block of the object's candidates.
    Block(u32, u32),
}
