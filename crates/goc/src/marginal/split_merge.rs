//! Moves of many objects at once: a cluster is split, or two are merged.
//!
//! One object at a time, two clusters that ought to be one exchange members for ages. Here two objects are drawn. In one cluster: a split is
//! proposed, the two being its seeds and all others following one after another in random order, each by its exact conditional
//! given those before it, label and candidate (sequential allocation, Dahl 2005). In two clusters: their merger, every member drawing its
//! candidate anew. The seeds keep their candidates. Either is accepted by the ratio of Metropolis and Hastings, for which
//! the probability of the way back is computed along the same order.

use rand::RngExt;

use super::chain::Chain;
use super::cluster::Cluster;
use super::matrix::pick;

impl Chain<'_> {
    /// Proposes a split or a merger.
    pub(super) fn split_or_merge(&mut self) {
        let n = self.labels.len();
        if n < 2 {
            return;
        }
        let i = self.rng.random_range(0..n);
        let mut j = self.rng.random_range(0..n - 1);
        if j >= i {
            j += 1;
        }
        let (ki, kj) = (self.labels[i], self.labels[j]);
        let splits = ki == kj;
        let mut rest: Vec<usize> =
            (0..n).filter(|&l| l != i && l != j && (self.labels[l] == ki || self.labels[l] == kj)).collect();
        for a in (1..rest.len()).rev() {
            rest.swap(a, self.rng.random_range(0..=a));
        }

        let (seed_i, seed_j) = (self.place(i, self.choice[i]), self.place(j, self.choice[j]));
        let q = self.shape.q;
        let mut parts = [Cluster::empty(q), Cluster::empty(q)];
        parts[0].add(&seed_i, &self.shape);
        parts[1].add(&seed_j, &self.shape);
        let mut whole = Cluster::empty(q);
        whole.add(&seed_i, &self.shape);
        whole.add(&seed_j, &self.shape);
        // Both states side by side: the one the chain is in is walked as it is, the other is drawn.
        let (mut ln_to_parts, mut ln_to_whole) = (0.0, 0.0);
        let (mut ln_weights_parts, mut ln_weights_whole) = (0.0, 0.0);
        let mut drawn = Vec::with_capacity(rest.len());
        let mut other = vec![0.0; self.buffer.len()];
        for &l in &rest {
            let m = self.data.candidates.count(l);
            let (block, weights) = (self.data.candidates.block(l), self.data.weights(l));
            let fits = [
                parts[0].weigh(block, weights, &self.shape, &mut self.buffer),
                parts[1].weigh(block, weights, &self.shape, &mut other),
            ];
            let joins: [f64; 2] = std::array::from_fn(|p| self.data.prior.join(parts[p].size) * fits[p]);
            let total = joins[0] + joins[1];
            if !(total > 0.0 && total.is_finite()) {
                return; // too far from both for numbers to tell: no such move
            }
            let part = match splits {
                true => pick(&joins, total, &mut self.rng),
                false => usize::from(self.labels[l] == kj),
            };
            let of_part = if part == 0 { &self.buffer[..m] } else { &other[..m] };
            let at = match splits {
                true => pick(of_part, fits[part], &mut self.rng),
                false => self.choice[l] as usize,
            };
            ln_to_parts += libm::log(joins[part] / total) + libm::log(of_part[at] / fits[part]);
            ln_weights_parts += libm::log(weights[at]);
            let place = self.place(l, at as u32);
            parts[part].add(&place, &self.shape);

            let fit = whole.weigh(block, weights, &self.shape, &mut self.buffer);
            if !(fit > 0.0 && fit.is_finite()) {
                return;
            }
            let merged = match splits {
                true => self.choice[l] as usize,
                false => pick(&self.buffer[..m], fit, &mut self.rng),
            };
            ln_to_whole += libm::log(self.buffer[merged] / fit);
            ln_weights_whole += libm::log(weights[merged]);
            let place = self.place(l, merged as u32);
            whole.add(&place, &self.shape);
            drawn.push(if splits { (part, at as u32) } else { (0, merged as u32) });
        }

        let prior = self.data.prior;
        let ln_parts = prior.ln_weight(parts.iter().map(|part| part.size), self.alpha)
            + parts.iter().map(|part| part.ln_density(&self.shape)).sum::<f64>()
            + ln_weights_parts;
        let ln_whole = prior.ln_weight(std::iter::once(whole.size), self.alpha)
            + whole.ln_density(&self.shape)
            + ln_weights_whole;
        let ln_ratio = ln_parts - ln_whole + ln_to_whole - ln_to_parts;
        let ln_ratio = if splits { ln_ratio } else { -ln_ratio };
        self.moves[0] += 1;
        let accepted = libm::log(self.rng.random::<f64>()) < ln_ratio;
        if !accepted {
            return;
        }
        self.moves[1] += 1;
        let [first, second] = parts;
        for (&l, &(_, at)) in rest.iter().zip(&drawn) {
            self.choice[l] = at;
        }
        if splits {
            let new = self.clusters.len() as u32;
            self.labels[j] = new;
            for (&l, &(part, _)) in rest.iter().zip(&drawn) {
                self.labels[l] = if part == 0 { ki } else { new };
            }
            self.clusters[ki as usize] = first;
            self.clusters.push(second);
        } else {
            self.labels[j] = ki;
            for &l in &rest {
                self.labels[l] = ki;
            }
            self.clusters[ki as usize] = whole;
            self.clusters[kj as usize].size = 0;
            self.drop_cluster(kj as usize);
        }
    }
}
