//! Step (III) by examining every pair: the reference for pruning, in answers and in speed.
//!
//! Eight candidates stay in registers while looping over the centres, which is close to the fastest
//! possible evaluation of all distances.

use super::Distance;
use super::select::{Choice, nearest, squared_run, squared_run_single};
use crate::kernel::{CentreLanes, LANES};
use crate::{Candidates, Points};

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn exhaust_chunk(
    candidates: &Candidates,
    lambda: f64,
    distance: Distance,
    lanes: &CentreLanes,
    centres: &Points,
    first: usize,
    choices: &mut [Choice],
) {
    let q = candidates.features();
    let mut point = vec![0.0; q];
    for (offset, choice) in choices.iter_mut().enumerate() {
        let i = first + offset;
        let (m, block, penalties) = (candidates.count(i), candidates.block(i), candidates.penalties(i));
        for from in (0..m).step_by(LANES) {
            let best = match q {
                _ if distance == Distance::EuclideanSingle => {
                    least_over_centres(centres, |c| squared_run_single(block, m, q, from, c))
                }
                2 => nearest_of_run::<2>(block, m, from, centres.values()),
                3 => nearest_of_run::<3>(block, m, from, centres.values()),
                4 => nearest_of_run::<4>(block, m, from, centres.values()),
                _ => least_over_centres(centres, |c| squared_run(block, m, q, from, c)),
            };
            for l in 0..LANES.min(m - from) {
                let penalty = penalties.get(from + l).copied().unwrap_or(0.0);
                let value = distance.of_squared(best[l]) + lambda * penalty;
                if value < choice.value {
                    (choice.value, choice.candidate) = (value, (from + l) as u32);
                }
            }
        }
        candidates.copy_candidate(i, choice.candidate as usize, &mut point);
        choice.centre = nearest(distance, lanes, centres, &point).0 as u32;
    }
}

#[inline(always)]
fn least_over_centres(centres: &Points, run: impl Fn(&[f64]) -> [f64; LANES]) -> [f64; LANES] {
    let mut best = [f64::INFINITY; LANES];
    for centre in centres.rows() {
        let d = run(centre);
        for l in 0..LANES {
            best[l] = if d[l] < best[l] { d[l] } else { best[l] };
        }
    }
    best
}

/// Lowest squared distance of eight candidates to any centre; the candidates stay in registers.
#[inline(always)]
fn nearest_of_run<const Q: usize>(block: &[f64], m: usize, from: usize, centres: &[f64]) -> [f64; LANES] {
    let mut x = [[f64::INFINITY; LANES]; Q];
    let width = LANES.min(m - from);
    for f in 0..Q {
        x[f][..width].copy_from_slice(&block[f * m + from..f * m + from + width]);
    }
    let mut best = [f64::INFINITY; LANES];
    for centre in centres.chunks_exact(Q) {
        let mut sum = [0.0; LANES];
        for f in 0..Q {
            for l in 0..LANES {
                let d = x[f][l] - centre[f];
                sum[l] += d * d;
            }
        }
        for l in 0..LANES {
            best[l] = if sum[l] < best[l] { sum[l] } else { best[l] };
        }
    }
    best
}
