//! Moves of many objects at once: a cluster is split, or two are merged.
//!
//! One object at a time, two clusters that ought to be one exchange members for ages. Here two
//! objects are drawn, one anywhere and the other near it (or, now and then, anywhere: the pair does
//! not depend on the state, so any law of it will do). In one cluster: a split is proposed, the two
//! being its seeds and all others following one after another in random order, each by its exact
//! conditional given those before it, label and candidate (sequential allocation, Dahl 2005). In
//! two clusters: their merger, every member drawing its candidate anew. The seeds keep their
//! candidates. Either is accepted by the ratio of Metropolis and Hastings, for which the
//! probability of the way back is computed along the same order.

use rand::RngExt;

use super::blocks::LANES;
use super::chain::Chain;
use super::cluster::{Cluster, weigh_all};
use super::matrix::pick;

/// One pair in so many is drawn from all objects.
const ANYWHERE: usize = 5;

impl Chain<'_> {
    /// Proposes splits and mergers. Clusters are to be made anew afterwards, as
    /// [`Self::draw_shape`] does.
    pub(super) fn split_and_merge(&mut self, moves: usize) {
        let n = self.labels.len();
        if n < 2 || moves == 0 {
            return;
        }
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); self.clusters.len()];
        for (i, &label) in self.labels.iter().enumerate() {
            members[label as usize].push(i);
        }
        for _ in 0..moves {
            let i = self.rng.random_range(0..n);
            let near = self.data.near.of(i);
            let j = if near.is_empty() || self.rng.random_range(0..ANYWHERE) == 0 {
                let j = self.rng.random_range(0..n - 1);
                if j >= i { j + 1 } else { j }
            } else {
                near[self.rng.random_range(0..near.len())] as usize
            };
            self.split_or_merge(i, j, &mut members);
        }
    }

    /// Proposes a split or a merger of two objects' clusters.
    fn split_or_merge(&mut self, i: usize, j: usize, members: &mut Vec<Vec<usize>>) {
        let (ki, kj) = (self.labels[i], self.labels[j]);
        let splits = ki == kj;
        let mut rest: Vec<usize> =
            members[ki as usize].iter().copied().filter(|&l| l != i && l != j).collect();
        if !splits {
            rest.extend(members[kj as usize].iter().filter(|&&l| l != j));
        }
        for a in (1..rest.len()).rev() {
            rest.swap(a, self.rng.random_range(0..=a));
        }

        let q = self.shape.q;
        let (seed_i, seed_j) = (self.place(i).to_vec(), self.place(j).to_vec());
        let mut place = vec![0.0; q];
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
        let blocks = self.data.blocks;
        let most = blocks.most();
        let mut weighed = [vec![[0.0; LANES]; most], vec![[0.0; LANES]; most], vec![[0.0; LANES]; most]];
        for &l in &rest {
            self.reader.load(blocks, l);
            let own = self.reader.own(blocks, l);
            let fits: [f64; 2] = std::array::from_fn(|p| weigh_all(&parts[p], own, &mut weighed[p]));
            let fit = weigh_all(&whole, own, &mut weighed[2]);
            let joins: [f64; 2] = std::array::from_fn(|p| self.join(parts[p].size) * fits[p]);
            let total = joins[0] + joins[1];
            if !(total > 0.0 && total.is_finite() && fit > 0.0 && fit.is_finite()) {
                return; // too far from all for numbers to tell: no such move
            }
            let lanes = own.len() * LANES;
            let now = self.spot(l) as usize;
            let part = match splits {
                true => pick(&joins, total, &mut self.rng),
                false => usize::from(self.labels[l] == kj),
            };
            let of_part = weighed[part].as_flattened();
            let at = if splits { pick(&of_part[..lanes], fits[part], &mut self.rng) } else { now };
            ln_to_parts += libm::log(joins[part] / total) + libm::log(of_part[at] / fits[part]);
            ln_weights_parts += libm::log(own.all_weights()[at]);
            own.copy_place(at as u32, &mut place);
            parts[part].add(&place, &self.shape);

            let of_whole = weighed[2].as_flattened();
            let merged = if splits { now } else { pick(&of_whole[..lanes], fit, &mut self.rng) };
            ln_to_whole += libm::log(of_whole[merged] / fit);
            ln_weights_whole += libm::log(own.all_weights()[merged]);
            own.copy_place(merged as u32, &mut place);
            whole.add(&place, &self.shape);
            drawn.push(if splits { (part, at as u32) } else { (0, merged as u32) });
        }

        let prior = self.data.prior;
        let ln_parts = prior.ln_weight(parts.iter().map(|part| part.size), self.cohesion)
            + parts.iter().map(|part| part.ln_density(&self.shape)).sum::<f64>()
            + ln_weights_parts;
        let ln_whole = prior.ln_weight(std::iter::once(whole.size), self.cohesion)
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
        for (&l, &(_, spot)) in rest.iter().zip(&drawn) {
            self.choose(l, spot);
        }
        if splits {
            let new = self.clusters.len() as u32;
            self.labels[j] = new;
            for (&l, &(part, _)) in rest.iter().zip(&drawn) {
                self.labels[l] = if part == 0 { ki } else { new };
            }
            self.clusters[ki as usize] = first;
            self.clusters.push(second);
            let all = std::mem::take(&mut members[ki as usize]);
            let (stay, leave) = all.into_iter().partition(|&l| self.labels[l] == ki);
            members[ki as usize] = stay;
            members.push(leave);
        } else {
            self.labels[j] = ki;
            for &l in &rest {
                self.labels[l] = ki;
            }
            self.clusters[ki as usize] = whole;
            let joining = std::mem::take(&mut members[kj as usize]);
            members[ki as usize].extend(joining);
            // The last cluster takes the place of the one that is gone.
            self.clusters.swap_remove(kj as usize);
            members.swap_remove(kj as usize);
            for &l in members.get(kj as usize).map_or(&[][..], |moved| moved) {
                self.labels[l] = kj;
            }
        }
    }
}
