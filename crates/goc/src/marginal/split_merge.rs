//! Moves of many objects at once: splitting a cluster, or merging two.
//!
//! Moving one object at a time, two clusters that ought to be one exchange members for a very long
//! time. Here two objects are drawn, one anywhere and the other near it (or, occasionally,
//! anywhere: the pair does not depend on the state, so any distribution is valid). If they are in
//! one cluster, a split is proposed: the two are its seeds, and all other members follow one after
//! another in random order, with label and candidate drawn from the exact conditional given those
//! before (sequential allocation, Dahl 2005). If they are in two clusters, a merger is proposed, in
//! which every member redraws its candidate. The seeds keep their candidates. Either proposal is
//! accepted by the Metropolis-Hastings ratio, for which the probability of the reverse move is
//! computed along the same order.
//!
//! A *near* (local) move considers only the objects near the first seed: it splits off a small
//! subset of them, and everything else stays where it is. The reverse move merges a cluster whose
//! members are all near. The cost does not depend on the size of the clusters, and this is how a
//! small group is found inside a large one. If the second object is in the field, the move is
//! between a group and the field ([`Chain::found_or_dissolve`]), and always local.

use rand::RngExt;

use super::blocks::LANES;
use super::chain::{Chain, FIELD};
use super::cluster::{Cluster, weigh_all};
use super::matrix::pick;

/// The numbers of near objects that a new group may be gathered from: few for a small group, so
/// that no others come between.
const REACHES: [usize; 3] = [10, 25, usize::MAX];

/// One pair in this many is drawn from all objects.
const ANYWHERE: usize = 5;

impl Chain<'_> {
    /// Proposes splits and mergers, and an equal number of local ones. Clusters must be rebuilt
    /// afterwards, as [`Self::draw_shape`] does.
    pub(super) fn split_and_merge(&mut self, moves: usize, near_moves: usize) {
        let n = self.labels.len();
        if n < 2 || moves + near_moves == 0 {
            return;
        }
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); self.clusters.len()];
        for (i, &label) in self.labels.iter().enumerate().filter(|(_, label)| **label != FIELD) {
            members[label as usize].push(i);
        }
        for at in 0..moves + near_moves {
            let i = self.rng.random_range(0..n);
            let near = self.data.near.of(i);
            let j = if near.is_empty() || self.rng.random_range(0..ANYWHERE) == 0 {
                let j = self.rng.random_range(0..n - 1);
                if j >= i { j + 1 } else { j }
            } else {
                near[self.rng.random_range(0..near.len())] as usize
            };
            match (self.labels[i], self.labels[j]) {
                (_, FIELD) => self.found_or_dissolve(i, j, &mut members),
                (FIELD, _) => {} // no way back from what it would be
                _ => self.split_or_merge(i, j, at >= moves, &mut members),
            }
        }
    }

    /// Proposes a split or a merger of two objects' clusters.
    fn split_or_merge(&mut self, i: usize, j: usize, near: bool, members: &mut Vec<Vec<usize>>) {
        let (ki, kj) = (self.labels[i], self.labels[j]);
        let splits = ki == kj;
        let concerned = |l: usize, label: u32| l != i && l != j && (label == ki || label == kj);
        let mut rest: Vec<usize> = if near {
            let all = self.data.near.around(i).iter().map(|l| *l as usize);
            all.filter(|&l| concerned(l, self.labels[l])).collect()
        } else {
            let second = if splits { &[][..] } else { &members[kj as usize] };
            members[ki as usize].iter().chain(second).copied().filter(|&l| l != i && l != j).collect()
        };
        if near && !splits {
            // All members of the first seed's cluster must be near, or there is no reverse move.
            let own = rest.iter().filter(|&&l| self.labels[l] == ki).count();
            if own + 1 != self.clusters[ki as usize].size {
                return;
            }
        }
        for a in (1..rest.len()).rev() {
            rest.swap(a, self.rng.random_range(0..=a));
        }
        // Handles both states together: the chain's current state is replayed as it is, the other
        // is drawn.
        let q = self.shape.q;
        let mut place = vec![0.0; q];
        let seed_i = self.place(i).to_vec();
        let far = self.without(kj as usize, i, &rest, &members[kj as usize]);
        let mut parts = [Cluster::empty(q), far.clone()];
        parts[0].add(&seed_i, &self.shape);
        parts[1].refresh(&self.shape);
        let mut whole = far;
        whole.add(&seed_i, &self.shape);
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
            let joins: [f64; 2] = std::array::from_fn(|p| self.join(&parts[p]) * fits[p]);
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

        let of = |cluster: &Cluster| self.ln_prior_of(cluster.size) + cluster.ln_density(&self.shape);
        let ln_parts = parts.iter().map(of).sum::<f64>() + ln_weights_parts;
        let ln_whole = of(&whole) + ln_weights_whole;
        let ln_ratio = ln_parts - ln_whole + ln_to_whole - ln_to_parts;
        let ln_ratio = if splits { ln_ratio } else { -ln_ratio };
        self.moves[0] += 1;
        let accepted = libm::log(self.rng.random::<f64>()) < ln_ratio;
        let narrow = match splits {
            true => parts.iter().all(|part| self.is_narrow(part)),
            false => self.is_narrow(&whole),
        };
        if !accepted || !(narrow || self.in_field == 0) {
            return;
        }
        self.moves[1] += 1;
        let [first, second] = parts;
        for (&l, &(_, spot)) in rest.iter().zip(&drawn) {
            self.choose(l, spot);
        }
        if splits {
            // The part of the first seed becomes the new cluster.
            let new = self.clusters.len() as u32;
            self.labels[i] = new;
            for (&l, &(part, _)) in rest.iter().zip(&drawn) {
                self.labels[l] = if part == 0 { new } else { kj };
            }
            self.clusters[kj as usize] = second;
            self.clusters.push(first);
            let all = std::mem::take(&mut members[kj as usize]);
            let (stay, leave) = all.into_iter().partition(|&l| self.labels[l] == kj);
            members[kj as usize] = stay;
            members.push(leave);
        } else {
            let joining = std::mem::take(&mut members[ki as usize]);
            for &l in &joining {
                self.labels[l] = kj;
            }
            self.clusters[kj as usize] = whole;
            members[kj as usize].extend(joining);
            self.drop_members(ki, members);
        }
    }

    /// Removes cluster `k`, which has no members left; the last cluster takes its place.
    fn drop_members(&mut self, k: u32, members: &mut Vec<Vec<usize>>) {
        self.clusters.swap_remove(k as usize);
        members.swap_remove(k as usize);
        for &l in members.get(k as usize).map_or(&[][..], |moved| moved) {
            self.labels[l] = k;
        }
    }

    /// For an object `j` in the field: if `i` is in the field too, proposes a new group of both and
    /// other nearby field objects; if `i` is in a group whose members are all near, proposes moving
    /// them all to the field.
    fn found_or_dissolve(&mut self, i: usize, j: usize, members: &mut Vec<Vec<usize>>) {
        let (ki, founds) = (self.labels[i], self.labels[i] == FIELD);
        let concerned = |l: &usize| *l != j && (self.labels[*l] == FIELD || self.labels[*l] == ki);
        let around = self.data.near.around(i);
        let of = REACHES[self.rng.random_range(0..REACHES.len())].min(around.len());
        let rest: Vec<usize> = around[..of].iter().map(|l| *l as usize).filter(concerned).collect();
        let mut in_field = self.in_field;
        if !founds {
            let size = self.clusters[ki as usize].size;
            if rest.iter().filter(|l| self.labels[**l] == ki).count() + 1 != size {
                return;
            }
            in_field += size;
        }
        let blocks = self.data.blocks;
        self.reader.load(blocks, i);
        let seed = if founds { self.spot_alone(i) } else { self.spot(i) };
        let mut place = vec![0.0; self.shape.q];
        self.reader.own(blocks, i).copy_place(seed, &mut place);
        let mut group = Cluster::empty(self.shape.q);
        group.add(&place, &self.shape);
        let mut ln_weights = libm::log(blocks.weight(self.reader.law, i, seed));
        let mut ln_field = libm::log(self.field_sums[i]);
        let mut ln_to_group = ln_weights + self.shape.base.ln_density(&place)
            - libm::log(self.data.alone_sum[self.reader.law][i]);
        // As if all others were in the field: any number will do that is the same in both
        // directions.
        let field_join = self.field_join(in_field - 1, 1);
        let mut weighed = vec![[0.0; LANES]; blocks.most()];
        let mut joined = vec![(i, seed)];
        for &l in &rest {
            self.reader.load(blocks, l);
            let own = self.reader.own(blocks, l);
            let fit = weigh_all(&group, own, &mut weighed);
            let (join, stay) = (self.join(&group) * fit, field_join * self.field_sums[l]);
            let total = join + stay;
            if !(total > 0.0 && total.is_finite()) {
                return; // too far from all for numbers to tell: no such move
            }
            let joins = match founds {
                true => pick(&[join, stay], total, &mut self.rng) == 0,
                false => self.labels[l] == ki,
            };
            ln_to_group += libm::log(if joins { join } else { stay } / total);
            if joins {
                let of_group = weighed.as_flattened();
                let at = match founds {
                    true => pick(&of_group[..own.len() * LANES], fit, &mut self.rng),
                    false => self.spot(l) as usize,
                };
                ln_to_group += libm::log(of_group[at] / fit);
                ln_weights += libm::log(own.all_weights()[at]);
                ln_field += libm::log(self.field_sums[l]);
                own.copy_place(at as u32, &mut place);
                group.add(&place, &self.shape);
                joined.push((l, at as u32));
            }
        }
        let ln_group = self.ln_prior_of(group.size)
            + group.ln_density(&self.shape)
            + ln_weights
            + self.ln_prior_field(in_field - group.size);
        let ln_field = ln_field + self.ln_prior_field(in_field);
        let ln_ratio = ln_group - ln_field - ln_to_group;
        self.moves[0] += 1;
        let accepted = libm::log(self.rng.random::<f64>()) < if founds { ln_ratio } else { -ln_ratio };
        if !accepted || (founds && !self.is_narrow(&group)) {
            return;
        }
        self.moves[1] += 1;
        if founds {
            let new = self.clusters.len() as u32;
            self.in_field -= group.size;
            for &(l, spot) in &joined {
                self.choose(l, spot);
                self.labels[l] = new;
            }
            self.clusters.push(group);
            members.push(joined.into_iter().map(|(l, _)| l).collect());
        } else {
            self.in_field = in_field;
            joined.iter().for_each(|(l, _)| self.labels[*l] = FIELD);
            self.drop_members(ki, members);
        }
    }

    /// Cluster `k` of `members` without object `i` and those of `rest`. Its density is not up to
    /// date.
    fn without(&self, k: usize, i: usize, rest: &[usize], members: &[usize]) -> Cluster {
        let gone = |l: usize| l == i || rest.contains(&l);
        let leaving = rest.iter().filter(|&&l| self.labels[l] as usize == k).count();
        if members.len() > 2 * leaving + 2 {
            let mut cluster = self.clusters[k].clone();
            for &l in rest.iter().chain([&i]).filter(|&&l| self.labels[l] as usize == k) {
                cluster.take_out(self.place(l));
            }
            return cluster;
        }
        let mut cluster = Cluster::empty(self.shape.q);
        if rest.len() + 2 >= members.len() && rest.len() > 200 {
            // Nearly all members leave, so they are looked up in a set of marks, not in a list.
            let mut marks = vec![false; self.labels.len()];
            rest.iter().for_each(|&l| marks[l] = true);
            members.iter().filter(|&&l| l != i && !marks[l]).for_each(|&l| cluster.take_in(self.place(l)));
        } else {
            members.iter().filter(|&&l| !gone(l)).for_each(|&l| cluster.take_in(self.place(l)));
        }
        cluster
    }
}
