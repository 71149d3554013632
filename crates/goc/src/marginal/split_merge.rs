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
//!
//! A *near* move considers the objects near the first seed only: what it splits off is a small part
//! of them, and all else stays where it is. The way back merges a cluster whose members are all
//! near. That costs the same however large the clusters are, and is how a small group is found
//! inside a large one, or in the field.
//!
//! Kinds: of a split cluster's parts, one keeps its kind, the other has that kind or any; a merged
//! cluster has the kind of one of the two. In near moves the far part keeps its kind.

use rand::RngExt;

use super::blocks::LANES;
use super::chain::Chain;
use super::cluster::{Cluster, weigh_all};
use super::matrix::pick;
use super::shape::GROUP;

/// One pair in so many is drawn from all objects.
const ANYWHERE: usize = 5;

impl Chain<'_> {
    /// Proposes splits and mergers, and as many near ones. Clusters are to be made anew afterwards,
    /// as [`Self::draw_shape`] does.
    pub(super) fn split_and_merge(&mut self, moves: usize, near_moves: usize) {
        let n = self.labels.len();
        if n < 2 || moves + near_moves == 0 {
            return;
        }
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); self.clusters.len()];
        for (i, &label) in self.labels.iter().enumerate() {
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
            self.split_or_merge(i, j, at >= moves, &mut members);
        }
    }

    /// The kinds of two parts of a cluster of kind `whole`, and the probability of that.
    fn draw_parts(&mut self, whole: usize, near: bool) -> [usize; 2] {
        let other =
            if self.rng.random::<bool>() { whole } else { self.rng.random_range(0..self.open_kinds()) };
        if near || self.rng.random::<bool>() { [other, whole] } else { [whole, other] }
    }

    fn ln_parts(&self, [first, second]: [usize; 2], whole: usize, near: bool) -> f64 {
        let of = |kind: usize| f64::from(u8::from(kind == whole)) * 0.5 + 0.5 / self.open_kinds() as f64;
        let second_keeps = if second == whole { of(first) } else { 0.0 };
        let first_keeps = if first == whole { of(second) } else { 0.0 };
        libm::log(if near { second_keeps } else { 0.5 * (first_keeps + second_keeps) })
    }

    fn ln_merged(whole: usize, [first, second]: [usize; 2], near: bool) -> f64 {
        match (near, first == whole, second == whole) {
            (true, _, true) | (false, true, true) => 0.0,
            (false, true, false) | (false, false, true) => -std::f64::consts::LN_2,
            _ => f64::NEG_INFINITY,
        }
    }

    /// Kinds that clusters may have.
    fn open_kinds(&self) -> usize {
        if self.data.field.is_open() { self.shape.kinds.len() } else { 1 }
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
            // All of the first seed's cluster must be near, or there is no way back.
            let own = rest.iter().filter(|&&l| self.labels[l] == ki).count();
            if own + 1 != self.clusters[ki as usize].size {
                return;
            }
        }
        for a in (1..rest.len()).rev() {
            rest.swap(a, self.rng.random_range(0..=a));
        }
        let total =
            self.clusters[ki as usize].size + if splits { 0 } else { self.clusters[kj as usize].size };
        let kind_of = |k: u32| self.clusters[k as usize].kind;
        let (whole_kind, part_kinds) = if splits {
            let whole = kind_of(ki);
            (whole, self.draw_parts(whole, near))
        } else {
            let kinds = [kind_of(ki), kind_of(kj)];
            let second = near || self.rng.random::<bool>();
            (kinds[usize::from(second)], kinds)
        };
        // Objects in the field that this move does not concern.
        let counted = |kind: usize, size: usize| if kind == GROUP { 0 } else { size };
        let field = if splits {
            self.in_field - counted(whole_kind, total)
        } else {
            self.in_field
                - counted(part_kinds[0], self.clusters[ki as usize].size)
                - counted(part_kinds[1], self.clusters[kj as usize].size)
        };
        // Any number will do that both ways have in common.
        let field_join = self.field_join(field + total / 2, total.div_ceil(2).max(1));

        // Both states side by side: the one the chain is in is walked as it is, the other is drawn.
        let q = self.shape.q;
        let mut place = vec![0.0; q];
        let seed_i = self.place(i).to_vec();
        let far = self.without(kj as usize, i, &rest, &members[kj as usize]);
        let of_kind = |kind: usize| far.clone().with_kind(kind, &self.shape);
        let mut parts = [Cluster::of_kind(part_kinds[0], &self.shape), of_kind(part_kinds[1])];
        parts[0].add(&seed_i, &self.shape);
        parts[1].refresh(&self.shape);
        let mut whole = of_kind(whole_kind);
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
            let joins: [f64; 2] = std::array::from_fn(|p| self.join(&parts[p], field_join) * fits[p]);
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

        let of = |cluster: &Cluster| {
            self.ln_prior_of(cluster.size, cluster.kind) + cluster.ln_density(&self.shape)
        };
        let in_parts = field + parts.iter().map(|part| counted(part.kind, part.size)).sum::<usize>();
        let in_whole = field + counted(whole.kind, whole.size);
        let ln_parts = parts.iter().map(of).sum::<f64>() + self.ln_prior_field(in_parts) + ln_weights_parts;
        let ln_whole = of(&whole) + self.ln_prior_field(in_whole) + ln_weights_whole;
        ln_to_parts += self.ln_parts(part_kinds, whole_kind, near);
        ln_to_whole += Self::ln_merged(whole_kind, part_kinds, near);
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
            // The part of the first seed is the new one.
            let new = self.clusters.len() as u32;
            self.in_field = in_parts;
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
            self.in_field = in_whole;
            let joining = std::mem::take(&mut members[ki as usize]);
            for &l in &joining {
                self.labels[l] = kj;
            }
            self.clusters[kj as usize] = whole;
            members[kj as usize].extend(joining);
            // The last cluster takes the place of the one that is gone.
            self.clusters.swap_remove(ki as usize);
            members.swap_remove(ki as usize);
            for &l in members.get(ki as usize).map_or(&[][..], |moved| moved) {
                self.labels[l] = ki;
            }
        }
    }

    /// Cluster `k` of `members` without object `i` and those of `rest`. Its density is not ready.
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
        let mut cluster = Cluster::of_kind(self.clusters[k].kind, &self.shape);
        if rest.len() + 2 >= members.len() && rest.len() > 200 {
            // Nearly all leave: looked up in a set of marks, not in a list.
            let mut marks = vec![false; self.labels.len()];
            rest.iter().for_each(|&l| marks[l] = true);
            members.iter().filter(|&&l| l != i && !marks[l]).for_each(|&l| cluster.take_in(self.place(l)));
        } else {
            members.iter().filter(|&&l| !gone(l)).for_each(|&l| cluster.take_in(self.place(l)));
        }
        cluster
    }
}
