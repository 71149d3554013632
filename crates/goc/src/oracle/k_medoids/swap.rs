//! The swap phase of FasterPAM (Schubert & Rousseeuw 2021, algorithm 3).
//!
//! A swap puts object `c` in the place of medoid `i`. For one `c` the change of the loss of *all* K
//! swaps is found in a single pass over the objects, because it splits into three parts:
//! - taking medoid `i` away costs `sum of (second - nearest)` over its members, whatever `c` is;
//! - an object nearer to `c` than to its nearest medoid gains `nearest - d`, whatever `i` is, and
//!   no longer needs its second medoid should its nearest be the one removed;
//! - an object between its nearest and its second medoid goes to `c` rather than the second, if its
//!   nearest is removed.
//!
//! Objects beyond their second medoid do not matter: that is the question [`Space::within`]
//! answers. The best swap of a candidate is made at once (eagerly) if it lowers the loss, and the
//! search ends when no candidate of a whole round helps: then no single swap lowers the loss.

use super::space::{Hits, Reach, Space};

/// A gain below this share of the loss is rounding, not progress; without it two equal states could
/// alternate.
const LEAST_GAIN: f64 = 1e-12;

/// Medoids (as places of the space) with what is known of every object.
pub(super) struct Swapper<'a, S: Space> {
    space: &'a S,
    pub(super) medoids: Vec<usize>,
    is_medoid: Vec<bool>,
    nearest: Vec<u32>,
    second: Vec<u32>,
    to_nearest: Vec<f64>,
    to_second: Vec<f64>,
    raw_second: Vec<f64>,
    reach: Reach,
    hits: Hits,
    /// Objects that lose a medoid in the swap at hand; kept for its memory.
    lost: Vec<usize>,
    /// What it costs to take each medoid away.
    removal: Vec<f64>,
    pub(super) loss: f64,
}

/// How a search ended.
pub(super) struct Search {
    pub(super) swaps: usize,
    pub(super) converged: bool,
}

impl<'a, S: Space> Swapper<'a, S> {
    /// Assigns every object to its two nearest of `medoids` (different places, at least two).
    pub(super) fn new(space: &'a S, medoids: Vec<usize>) -> Self {
        let n = space.len();
        let mut is_medoid = vec![false; n];
        for &m in &medoids {
            is_medoid[m] = true;
        }
        let mut new = Self {
            space,
            is_medoid,
            nearest: vec![0; n],
            second: vec![0; n],
            to_nearest: vec![0.0; n],
            to_second: vec![0.0; n],
            raw_second: vec![0.0; n],
            reach: space.reach(),
            hits: Hits::default(),
            lost: Vec::new(),
            removal: vec![0.0; medoids.len()],
            loss: 0.0,
            medoids,
        };
        for o in 0..n {
            new.find_both(o);
        }
        new.refresh();
        new
    }

    /// Swaps until no candidate of a whole round helps, or `rounds` rounds are over.
    pub(super) fn search(&mut self, rounds: usize) -> Search {
        let n = self.space.len();
        let mut swaps = 0;
        let mut since_swap = 0;
        let mut delta = vec![0.0; self.medoids.len()];
        for _ in 0..rounds {
            for row in 0..n {
                let candidate = self.space.places()[row] as usize;
                if let Some(out) = self.best_swap(candidate, &mut delta) {
                    self.replace(out, candidate);
                    swaps += 1;
                    since_swap = 0;
                } else {
                    since_swap += 1;
                }
                if since_swap == n {
                    return Search { swaps, converged: true };
                }
            }
        }
        Search { swaps, converged: false }
    }

    /// The medoid that `candidate` should replace, if that lowers the loss.
    fn best_swap(&mut self, candidate: usize, delta: &mut [f64]) -> Option<usize> {
        if self.is_medoid[candidate] {
            return None;
        }
        self.space.within(candidate, &self.reach, &mut self.hits);
        delta.copy_from_slice(&self.removal);
        let mut shared = 0.0;
        for (o, d) in self.hits.iter() {
            let slot = &mut delta[self.nearest[o] as usize];
            if d < self.to_nearest[o] {
                shared += d - self.to_nearest[o];
                *slot += self.to_nearest[o] - self.to_second[o];
            } else {
                *slot += d - self.to_second[o];
            }
        }
        let mut best = (0, f64::INFINITY);
        for (i, &change) in delta.iter().enumerate() {
            if change < best.1 {
                best = (i, change);
            }
        }
        (best.1 + shared < -LEAST_GAIN * self.loss).then_some(best.0)
    }

    /// Puts `candidate` in the place of medoid number `out`. The hits must be those of `candidate`.
    fn replace(&mut self, out: usize, candidate: usize) {
        self.is_medoid[self.medoids[out]] = false;
        self.is_medoid[candidate] = true;
        self.medoids[out] = candidate;
        let slot = out as u32;
        let mut lost = std::mem::take(&mut self.lost);
        lost.clear();
        lost.extend((0..self.space.len()).filter(|&o| self.nearest[o] == slot || self.second[o] == slot));
        // Who keeps both medoids may only gain the new one. Who lost one is looked at afresh, below.
        for (o, d) in self.hits.iter() {
            if self.nearest[o] == slot || self.second[o] == slot {
                continue;
            }
            if d < self.to_nearest[o] {
                self.second[o] = self.nearest[o];
                self.to_second[o] = self.to_nearest[o];
                self.nearest[o] = slot;
                self.to_nearest[o] = d;
            } else {
                self.second[o] = slot;
                self.to_second[o] = d;
            }
            self.raw_second[o] = self.space.raw(o, self.medoids[self.second[o] as usize]);
        }
        for &o in &lost {
            self.find_both(o);
        }
        self.lost = lost;
        self.refresh();
    }

    /// Looks at every medoid for the nearest and the second of object `o`; ties go to the lower number.
    fn find_both(&mut self, o: usize) {
        let (mut first, mut second) = ((0, f64::INFINITY), (0, f64::INFINITY));
        for (i, &m) in self.medoids.iter().enumerate() {
            let d = self.space.raw(o, m);
            if d < first.1 {
                second = first;
                first = (i, d);
            } else if d < second.1 {
                second = (i, d);
            }
        }
        self.nearest[o] = first.0 as u32;
        self.second[o] = second.0 as u32;
        self.to_nearest[o] = self.space.loss_of_raw(first.1);
        self.to_second[o] = self.space.loss_of_raw(second.1);
        self.raw_second[o] = second.1;
    }

    /// Recomputes what sums over objects, so that rounding does not pile up over the swaps.
    fn refresh(&mut self) {
        self.reach.set(&self.raw_second);
        self.removal.fill(0.0);
        self.loss = 0.0;
        for o in 0..self.space.len() {
            self.loss += self.to_nearest[o];
            self.removal[self.nearest[o] as usize] += self.to_second[o] - self.to_nearest[o];
        }
    }
}
