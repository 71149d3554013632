//! Boxes around candidates, which rule out most pairs in [`super::select`].
//!
//! Each object has one box around all its candidates, and one around each run of eight in storage
//! order. A sampler that steps along a coordinate, as the authors' does, makes neighbours in
//! storage neighbours in space. Balls would be weak bounds here, because the sets are long curves.
//! A box also stores the lowest penalty inside.
//!
//! Boxes take `(2q + 1)` numbers per eight candidates of `q + 1` numbers: 22 % for three features.
//! Objects with few candidates have none, because examining their candidates costs no more than
//! examining boxes.

use crate::Candidates;
use crate::kernel::LANES;

/// Objects with fewer candidates than this have no boxes.
const WORTH: usize = 2 * LANES;

/// The boxes of all objects.
#[derive(Clone, Debug)]
pub(crate) struct Boxes {
    features: usize,
    /// The index of each object's first box: first the one around all candidates, then the runs.
    /// One entry more than there are objects.
    offsets: Vec<usize>,
    /// Per object, for the box around all candidates: the lower corner, the upper corner and the
    /// lowest penalty. Then the same for its runs, with each number stored for all runs
    /// contiguously, so that one centre is compared with several at once.
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
    /// Squared distance to a centre, zero inside; never larger than that of a candidate in the box.
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
        let mut one = vec![0.0; stride];
        for i in 0..n {
            let m = candidates.count(i);
            if m < WORTH {
                continue;
            }
            let boxes = &mut values[offsets[i] * stride..offsets[i + 1] * stride];
            let (whole, runs) = boxes.split_at_mut(stride);
            surround(candidates, i, 0, m, whole);
            let count = m.div_ceil(LANES);
            for r in 0..count {
                surround(candidates, i, r * LANES, m.min((r + 1) * LANES), &mut one);
                for (v, value) in one.iter().enumerate() {
                    runs[v * count + r] = *value;
                }
            }
        }
        Self { features: q, offsets, values }
    }

    /// The number of runs of object `i`; 0 for an object without boxes.
    #[inline(always)]
    pub(crate) fn runs(&self, i: usize) -> usize {
        (self.offsets[i + 1] - self.offsets[i]).saturating_sub(1)
    }

    /// The box around all candidates of object `i`.
    #[inline(always)]
    pub(crate) fn whole(&self, i: usize) -> BoxView<'_> {
        let q = self.features;
        let stride = 2 * q + 1;
        let values = &self.values[self.offsets[i] * stride..][..stride];
        BoxView { low: &values[..q], high: &values[q..2 * q], penalty: values[2 * q] }
    }

    /// The lowest penalty in each run of object `i`.
    #[inline(always)]
    pub(crate) fn run_penalties(&self, i: usize) -> &[f64] {
        let (q, runs) = (self.features, self.runs(i));
        &self.run_values(i)[2 * q * runs..]
    }

    /// Adds to `out` the squared distance of every run of object `i` to a centre.
    #[inline(always)]
    pub(crate) fn run_distances(&self, i: usize, centre: &[f64], out: &mut Vec<f64>) {
        let (q, runs, from) = (self.features, self.runs(i), out.len());
        let values = self.run_values(i);
        out.resize(from + runs, 0.0);
        let out = &mut out[from..];
        for (f, &c) in centre.iter().enumerate() {
            let low = &values[f * runs..(f + 1) * runs];
            let high = &values[(q + f) * runs..(q + f + 1) * runs];
            for r in 0..runs {
                let d = (low[r] - c).max(c - high[r]).max(0.0);
                out[r] += d * d;
            }
        }
    }

    #[inline(always)]
    fn run_values(&self, i: usize) -> &[f64] {
        let stride = 2 * self.features + 1;
        &self.values[(self.offsets[i] + 1) * stride..self.offsets[i + 1] * stride]
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
