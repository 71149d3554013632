//! One round of messages in one pass over the rows.
//!
//! The availability of row `i` needs the sums of the columns of the last responsibilities; the next
//! responsibility of row `i` needs nothing but that row of availabilities. So a pass updates both
//! for one row after the other, and adds the new responsibilities to the column sums of the next
//! pass: each number is read and written once a round, in the order in which it lies. The sums of a
//! column run over the rows in order, so the bytes do not depend on the width of the vector unit.

use crate::kernel::LANES;

pub(super) struct Messages {
    n: usize,
    /// Length of a row: n, filled up to whole vectors with similarities of minus infinity.
    stride: usize,
    keep: f64,
    similarities: Vec<f64>,
    responsibilities: Vec<f64>,
    availabilities: Vec<f64>,
    own_responsibility: Vec<f64>,
    own_availability: Vec<f64>,
    /// `r(k,k)` and the positive responsibilities of all other rows, by column.
    support: Vec<f64>,
    next_support: Vec<f64>,
}

impl Messages {
    /// All messages zero; `damping` is the share that a message keeps.
    pub(super) fn new(n: usize, damping: f64) -> Self {
        let stride = n.next_multiple_of(LANES);
        Self {
            n,
            stride,
            keep: damping,
            similarities: vec![f64::NEG_INFINITY; n * stride],
            responsibilities: vec![0.0; n * stride],
            availabilities: vec![0.0; n * stride],
            own_responsibility: vec![0.0; n],
            own_availability: vec![0.0; n],
            support: vec![0.0; stride],
            next_support: vec![0.0; stride],
        }
    }

    pub(super) fn set_similarity(&mut self, i: usize, k: usize, s: f64) {
        self.similarities[i * self.stride + k] = s;
    }

    /// One round.
    pub(super) fn pass(&mut self) {
        self.next_support.fill(0.0);
        for i in 0..self.n {
            let row = i * self.stride..(i + 1) * self.stride;
            let responsibilities = &mut self.responsibilities[row.clone()];
            let availabilities = &mut self.availabilities[row.clone()];
            let before = self.next_support[i];
            update_row(
                i,
                self.own_availability[i],
                self.keep,
                &self.similarities[row],
                &self.support,
                responsibilities,
                availabilities,
                &mut self.next_support,
            );
            // Of the object itself the responsibility counts also when it is negative.
            self.own_responsibility[i] = responsibilities[i];
            self.next_support[i] = before + responsibilities[i];
        }
        std::mem::swap(&mut self.support, &mut self.next_support);
        for k in 0..self.n {
            let target = self.support[k] - self.own_responsibility[k];
            self.own_availability[k] = self.keep * self.own_availability[k] + (1.0 - self.keep) * target;
        }
    }

    /// Writes who is an exemplar now; true when that is not what was there.
    pub(super) fn update_exemplars(&self, exemplars: &mut [bool]) -> bool {
        let mut changed = false;
        for (k, slot) in exemplars.iter_mut().enumerate() {
            let now = self.own_availability[k] + self.own_responsibility[k] > 0.0;
            changed |= now != *slot;
            *slot = now;
        }
        changed
    }
}

/// Availabilities of the last round, then responsibilities of this one, for row `i`.
#[allow(clippy::too_many_arguments)] // the slices of one row, borrowed apart from each other
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn update_row(
    i: usize,
    own_availability: f64,
    keep: f64,
    similarities: &[f64],
    support: &[f64],
    responsibilities: &mut [f64],
    availabilities: &mut [f64],
    next_support: &mut [f64],
) {
    let take = 1.0 - keep;
    for ((a, &r), &support) in availabilities.iter_mut().zip(&*responsibilities).zip(support) {
        let others = support - if r > 0.0 { r } else { 0.0 };
        let target = if others < 0.0 { others } else { 0.0 };
        *a = keep * *a + take * target;
    }
    availabilities[i] = own_availability;

    // The two largest of a + s in each lane, then over the lanes.
    let mut first = [f64::NEG_INFINITY; LANES];
    let mut second = [f64::NEG_INFINITY; LANES];
    for (a, s) in availabilities.chunks_exact(LANES).zip(similarities.chunks_exact(LANES)) {
        for l in 0..LANES {
            let v = a[l] + s[l];
            let lower = if v < first[l] { v } else { first[l] };
            first[l] = if v > first[l] { v } else { first[l] };
            second[l] = if lower > second[l] { lower } else { second[l] };
        }
    }
    let (mut best, mut rival) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for v in first.into_iter().chain(second) {
        rival = rival.max(best.min(v));
        best = best.max(v);
    }

    let messages = responsibilities.iter_mut().zip(next_support);
    for (((r, sum), &a), &s) in messages.zip(&*availabilities).zip(similarities) {
        // Where the best occurs twice the rival is as large, so it does not matter which of them is the best.
        let against = if a + s == best { rival } else { best };
        *r = keep * *r + take * (s - against);
        *sum += if *r > 0.0 { *r } else { 0.0 };
    }
}
