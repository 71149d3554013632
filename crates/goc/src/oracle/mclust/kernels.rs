//! The inner loops of EM: one component, all points.
//!
//! Features are stored one after the other, padded to whole vectors, so that the loops become
//! vector code. Sums are kept in eight strands added in a fixed order: the same bits with any
//! vector width.

use std::ops::Range;

use crate::elementary::exp;

/// Points a vector may hold; all rows of buffers are a multiple of it long.
pub(super) const STRANDS: usize = 8;

/// Points looked at together when exponentials are skipped.
const BLOCK: usize = 8;

/// A log density so far below the largest of its point counts as probability 0 (it is below 1e-26) when all
/// of a block are: with neighbours stored together, that spares most exponentials.
const FAR: f64 = -60.0;

/// Adds the strands in a fixed order.
#[inline(always)]
fn add_up(s: [f64; STRANDS]) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

#[inline(always)]
fn sum(a: &[f64]) -> f64 {
    let mut strands = [0.0; STRANDS];
    for a in a.as_chunks::<STRANDS>().0 {
        for s in 0..STRANDS {
            strands[s] += a[s];
        }
    }
    add_up(strands)
}

#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut strands = [0.0; STRANDS];
    for (a, b) in a.as_chunks::<STRANDS>().0.iter().zip(b.as_chunks::<STRANDS>().0) {
        for s in 0..STRANDS {
            strands[s] += a[s] * b[s];
        }
    }
    add_up(strands)
}

/// The sum of the weights, and the weighted mean of each feature into `mean`.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn weighted_mean(weights: &[f64], span: Range<usize>, columns: &[f64], mean: &mut [f64]) -> f64 {
    let stride = weights.len().max(1);
    let weights = &weights[span.clone()];
    let count = sum(weights);
    for (m, column) in mean.iter_mut().zip(columns.chunks_exact(stride)) {
        *m = dot(weights, &column[span.clone()]) / count;
    }
    count
}

/// Squared distances to `mean`; their weighted sum.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn squared_distances(
    weights: &[f64],
    span: Range<usize>,
    columns: &[f64],
    mean: &[f64],
    distance: &mut [f64],
) -> f64 {
    distance.fill(0.0);
    for (m, column) in mean.iter().zip(columns.chunks_exact(weights.len().max(1))) {
        for (q, x) in distance.iter_mut().zip(column) {
            let difference = x - m;
            *q += difference * difference;
        }
    }
    dot(&weights[span.clone()], &distance[span])
}

/// Differences to `mean`, and the weighted scatter matrix.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn scatter(
    weights: &[f64],
    span: Range<usize>,
    columns: &[f64],
    mean: &[f64],
    differences: &mut [f64],
    product: &mut [f64],
    matrix: &mut [f64],
) {
    let (d, stride) = (mean.len(), weights.len());
    for (j, m) in mean.iter().enumerate() {
        for (y, x) in differences[j * stride..][..stride].iter_mut().zip(&columns[j * stride..][..stride]) {
            *y = x - m;
        }
    }
    for i in 0..d {
        let row_i = &differences[i * stride..][..stride];
        for (p, (w, x)) in
            product[span.clone()].iter_mut().zip(weights[span.clone()].iter().zip(&row_i[span.clone()]))
        {
            *p = w * x;
        }
        for j in 0..=i {
            let value = dot(&product[span.clone()], &differences[j * stride..][..stride][span.clone()]);
            matrix[i * d + j] = value;
            matrix[j * d + i] = value;
        }
    }
}

/// Squared Mahalanobis distances: solves `L y = difference` for all points at once, in place.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn mahalanobis(factor: &[f64], differences: &mut [f64], distance: &mut [f64]) {
    let stride = distance.len();
    let d = differences.len() / stride.max(1);
    distance.fill(0.0);
    for i in 0..d {
        let (solved, rest) = differences.split_at_mut(i * stride);
        let y = &mut rest[..stride];
        for j in 0..i {
            let l = factor[i * d + j];
            for (y, x) in y.iter_mut().zip(&solved[j * stride..][..stride]) {
                *y -= l * x;
            }
        }
        let inverse = 1.0 / factor[i * d + i];
        for (y, q) in y.iter_mut().zip(distance.iter_mut()) {
            *y *= inverse;
            *q += *y * *y;
        }
    }
}

/// What expectation reads and writes, component after component, each row padded to whole vectors.
pub(super) struct Expectation {
    /// Posterior probabilities; the padding is 0.
    pub(super) posterior: Vec<f64>,
    /// Squared distances, then log densities.
    pub(super) density: Vec<f64>,
    /// For each component a range, of whole vectors, outside of which its posterior probabilities are 0.
    pub(super) spans: Vec<Range<usize>>,
    /// The largest log density of each point.
    pub(super) largest: Vec<f64>,
    /// The sum of the densities of each point, relative to the largest.
    pub(super) total: Vec<f64>,
    reciprocal: Vec<f64>,
}

impl Expectation {
    /// Room for `most` components.
    pub(super) fn new(stride: usize, most: usize) -> Self {
        Self {
            posterior: vec![0.0; most * stride],
            density: vec![0.0; most * stride],
            spans: vec![0..stride; most],
            largest: vec![0.0; stride],
            total: vec![0.0; stride],
            reciprocal: vec![0.0; stride],
        }
    }
}

/// Turns squared distances into log densities `constant - slope * distance`, and these into posterior
/// probabilities of the first `n` points.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn posteriors(buffers: &mut Expectation, constant: &[f64], slope: &[f64], n: usize) {
    let Expectation { posterior, density, spans, largest, total, reciprocal } = buffers;
    let stride = largest.len().max(1);
    let used = constant.len() * stride;
    let (posterior, density) = (&mut posterior[..used], &mut density[..used]);
    largest.fill(f64::NEG_INFINITY);
    for ((row, c), h) in density.chunks_exact_mut(stride).zip(constant).zip(slope) {
        for (t, m) in row.iter_mut().zip(largest.iter_mut()) {
            *t = c - h * *t;
            // Not `if t > m`: that becomes a masked store, which some processors do one element at a time.
            *m = m.max(*t);
        }
    }
    total.fill(0.0);
    let rows = posterior.chunks_exact_mut(stride).zip(density.chunks_exact(stride));
    for ((z, t), span) in rows.zip(spans.iter_mut()) {
        let (mut first, mut end) = (stride, 0);
        for start in (0..stride).step_by(BLOCK) {
            let (z, t) = (&mut z[start..][..BLOCK], &t[start..][..BLOCK]);
            let (largest, total) = (&largest[start..][..BLOCK], &mut total[start..][..BLOCK]);
            let mut near = 0;
            for i in 0..BLOCK {
                near |= u64::from(t[i] - largest[i] > FAR);
            }
            if near == 0 {
                z.fill(0.0);
                continue;
            }
            (first, end) = (first.min(start), start + BLOCK);
            for i in 0..BLOCK {
                z[i] = exp(t[i] - largest[i]);
                total[i] += z[i];
            }
        }
        let first = first.min(end) / STRANDS * STRANDS;
        *span = first..end.next_multiple_of(STRANDS);
    }
    for (r, s) in reciprocal.iter_mut().zip(total.iter()) {
        *r = 1.0 / s;
    }
    reciprocal[n..].fill(0.0);
    for (z, span) in posterior.chunks_exact_mut(stride).zip(spans.iter()) {
        for (z, r) in z[span.clone()].iter_mut().zip(&reciprocal[span.clone()]) {
            *z *= r;
        }
    }
}
