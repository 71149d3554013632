//! Boxes around candidates: what rules out most pairs in [`super::select`].
//!
//! One box around all candidates of an object, and one around each run of eight in storage order: a sampler that
//! walks along a coordinate, as the authors' does, makes neighbours in storage neighbours in space. Balls would
//! be weak here, the sets are long curves. A box also holds the least penalty inside.
//!
//! Boxes cost `(2q + 1)` numbers per eight candidates of `q + 1` numbers: 22 % for three features.
//! Objects with few candidates have none; looking at their candidates costs no more than looking at boxes.

use crate::Candidates;
use crate::kernel::LANES;

/// Objects with fewer candidates than this have no boxes.
const WORTH: usize = 2 * LANES;

/// Boxes of all objects.
#[derive(Clone, Debug)]
pub(crate) struct Boxes {
    features: usize,
    /// Where each object's boxes begin: first the one around all, then the runs. One entry more than objects.
    offsets: Vec<usize>,
    /// Per box: the lower corner, the upper corner, the least penalty.
    values: Vec<f64>,
}

/// One box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxView<'a> {
    pub(crate) low: &'a [f64],
    pub(crate) high: &'a [f64],
    pub(crate) penalty: f64,
}

impl BoxView<'_> {
    /// Squared distance to a centre, zero inside; never above that of a candidate in the box.
    #[inline(always)]
    pub(crate) fn squared_distance(&self, centre: &[f64]) -> f64 {
        let mut sum = 0.0;
        for f in 0..centre.len() {
            let d = (self.low[f] - centre[f]).max(centre[f] - self.high[f]).max(0.0);
            sum += d * d;
        }
        sum
    }
}

impl Boxes {
    pub(crate) fn new(candidates: &Candidates) -> Self {
        let (n, q) = (candidates.objects(), candidates.features());
        let mut offsets = Vec::with_capacity(n + 1);
        offsets.push(0);
        let mut count = 0;
        for i in 0..n {
            let m = candidates.count(i);
            if m >= WORTH {
                count += 1 + m.div_ceil(LANES);
            }
            offsets.push(count);
        }
        let stride = 2 * q + 1;
        let mut values = vec![0.0; count * stride];
        for i in 0..n {
            let m = candidates.count(i);
            if m < WORTH {
                continue;
            }
            let boxes = &mut values[offsets[i] * stride..offsets[i + 1] * stride];
            let (whole, runs) = boxes.split_at_mut(stride);
            surround(candidates, i, 0, m, whole);
            for (r, run) in runs.chunks_exact_mut(stride).enumerate() {
                surround(candidates, i, r * LANES, m.min((r + 1) * LANES), run);
            }
        }
        Self { features: q, offsets, values }
    }

    /// How many runs object `i` has; 0 for an object without boxes.
    #[inline(always)]
    pub(crate) fn runs(&self, i: usize) -> usize {
        (self.offsets[i + 1] - self.offsets[i]).saturating_sub(1)
    }

    /// The box around all candidates of object `i`.
    #[inline(always)]
    pub(crate) fn whole(&self, i: usize) -> BoxView<'_> {
        self.view(self.offsets[i])
    }

    /// The box around run `r` of object `i`.
    #[inline(always)]
    pub(crate) fn run(&self, i: usize, r: usize) -> BoxView<'_> {
        self.view(self.offsets[i] + 1 + r)
    }

    #[inline(always)]
    fn view(&self, b: usize) -> BoxView<'_> {
        let q = self.features;
        let stride = 2 * q + 1;
        let values = &self.values[b * stride..(b + 1) * stride];
        BoxView { low: &values[..q], high: &values[q..2 * q], penalty: values[2 * q] }
    }

    pub(crate) fn bytes(&self) -> usize {
        std::mem::size_of_val(&self.values[..]) + std::mem::size_of_val(&self.offsets[..])
    }
}

fn surround(candidates: &Candidates, i: usize, from: usize, to: usize, out: &mut [f64]) {
    let q = candidates.features();
    for f in 0..q {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &x in &candidates.feature(i, f)[from..to] {
            low = low.min(x);
            high = high.max(x);
        }
        (out[f], out[q + f]) = (low, high);
    }
    let penalties = candidates.penalties(i);
    out[2 * q] = if penalties.is_empty() {
        0.0
    } else {
        penalties[from..to].iter().copied().fold(f64::INFINITY, f64::min)
    };
}
