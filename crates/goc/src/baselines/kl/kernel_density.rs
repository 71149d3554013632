//! The divergence of kernel densities, estimated over the candidates.
//!
//! `p_j(x) = 1/m sum over candidates c of j, product over features f, of N(x_f; c_f, h_jf^2)`, with
//! the bandwidths of Silverman's rule, `h_jf = sigma_jf (4 / ((q + 2) m_j))^(1 / (q + 4))`, which
//! in one dimension is the `1.06 sigma m^(-1/5)` of Jiang et al. Then
//!
//! `KL(p_i || p_j) ~ 1/m_i sum over candidates c of i of [ln p_i(c) - ln p_j(c)]`,
//!
//! their estimate by the law of large numbers. Sampling may make it negative; the sum of both
//! directions is clipped at 0. A density far from all kernels underflows, so logarithms are summed
//! with the largest exponent factored out, and runs of eight kernels that are each below `e^-45` of
//! the largest are skipped: together they contribute less than a rounding error.

use super::variance;
use crate::Candidates;
use crate::elementary::{exp, ln};
use crate::kernel::{LANES, lane_array};
use multiversion::multiversion;
use rayon::prelude::*;

/// A block of kernels whose largest is below this, relative to the largest of all, is not summed.
const NEGLIGIBLE: f64 = -45.0;

/// The kernels of one set, feature after feature, padded to whole vectors with infinity.
struct Kernels {
    padded: usize,
    centres: Vec<f64>,
    /// One over the bandwidth of each feature.
    narrow: Vec<f64>,
    /// Logarithm of the factor before the sum, without the power of 2 pi, which all densities
    /// share.
    front: f64,
}

/// `J` of every `i < j`, in row-major order; or the first object without a bandwidth.
pub(super) fn divergences(candidates: &Candidates, share: f64, common: &[f64]) -> Result<Vec<f64>, usize> {
    let n = candidates.objects();
    let kernels =
        (0..n).map(|i| fit(candidates, i, share, common).ok_or(i)).collect::<Result<Vec<_>, _>>()?;
    // Mean logarithm of density j over the candidates of i.
    let logs: Vec<Vec<f64>> = (0..n)
        .into_par_iter()
        .map_init(Vec::new, |exponents, i| {
            kernels
                .iter()
                .map(|k| {
                    exponents.resize(k.padded, 0.0);
                    mean_log_density(candidates.block(i), candidates.count(i), k, exponents)
                })
                .collect()
        })
        .collect();
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let both = pairs.map(|(i, j)| (logs[i][i] - logs[i][j]) + (logs[j][j] - logs[j][i]));
    // NaN is passed on for the caller to reject.
    Ok(both.map(|v| if v < 0.0 { 0.0 } else { v }).collect())
}

fn fit(candidates: &Candidates, i: usize, share: f64, common: &[f64]) -> Option<Kernels> {
    let (q, m) = (common.len(), candidates.count(i));
    let padded = m.next_multiple_of(LANES);
    let mut centres = vec![f64::INFINITY; padded * q];
    let mut narrow = Vec::with_capacity(q);
    let mut front = -ln(m as f64);
    let narrowing = exp(ln(4.0 / ((q + 2) as f64 * m as f64)) / (q + 4) as f64);
    for f in 0..q {
        let column = candidates.feature(i, f);
        centres[f * padded..f * padded + m].copy_from_slice(column);
        let bandwidth = ((1.0 - share) * variance(column) + share * common[f]).sqrt() * narrowing;
        if !bandwidth.is_normal() {
            return None;
        }
        narrow.push(1.0 / bandwidth);
        front -= ln(bandwidth);
    }
    Some(Kernels { padded, centres, narrow, front })
}

/// The mean over `m` points, feature after feature, of the logarithm of the density.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn mean_log_density(points: &[f64], m: usize, kernels: &Kernels, exponents: &mut [f64]) -> f64 {
    let q = kernels.narrow.len();
    let mut total = 0.0;
    for c in 0..m {
        let mut largest = [f64::NEG_INFINITY; LANES];
        for first in (0..kernels.padded).step_by(LANES) {
            let mut squared = [0.0; LANES];
            for f in 0..q {
                let (x, narrow) = (points[f * m + c], kernels.narrow[f]);
                let from = f * kernels.padded + first;
                let centre = lane_array(&kernels.centres[from..from + LANES]);
                for l in 0..LANES {
                    let d = (x - centre[l]) * narrow;
                    squared[l] += d * d;
                }
            }
            let block = &mut exponents[first..first + LANES];
            for l in 0..LANES {
                block[l] = -0.5 * squared[l];
                largest[l] = if block[l] > largest[l] { block[l] } else { largest[l] };
            }
        }
        let top = largest.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = [0.0; LANES];
        for block in exponents.chunks_exact(LANES) {
            let block = lane_array(block);
            let mut near = block[0];
            for l in 1..LANES {
                near = if block[l] > near { block[l] } else { near };
            }
            if near - top >= NEGLIGIBLE {
                for l in 0..LANES {
                    sum[l] += exp(block[l] - top);
                }
            }
        }
        // If all exponents overflow, the sum is empty; the resulting minus infinity is rejected by
        // the caller.
        let sum: f64 = sum.iter().sum();
        total += if sum > 0.0 { top + ln(sum) } else { f64::NEG_INFINITY };
    }
    kernels.front + total / m as f64
}
