//! Lloyd's k-means with most distances skipped (Hamerly 2010): the same labels, less work.
//!
//! Each point carries an upper bound on the distance to its own centre and a lower bound on the
//! distance to every other. When the centres move, the bounds move with them by the triangle
//! inequality; while the upper one stays below the lower one, no distance is needed. Half the
//! distance to the nearest other centre serves as a second lower bound.
//!
//! The bounds are widened by a few units of rounding at every step, so a skipped point is one whose
//! own centre is the nearest in floating point too: labels equal [`super::lloyd`]'s, round by
//! round.

use rayon::prelude::*;

use super::sums::{CHUNK, Sums};
use super::{KMeansFit, fill_empty_clusters, finish};
use crate::kernel::CentreLanes;
use crate::{Points, points::squared_distance};

/// A few units in the last place; covers the rounding of one square root, product and sum.
const SLACK: f64 = 8.0 * f64::EPSILON;

/// Below this many point-centre pairs the bounds cost more than they save.
pub(super) fn pays(n: usize, k: usize) -> bool {
    k >= 4 && n * k >= 100_000
}

#[derive(Clone, Copy)]
struct Bound {
    upper: f64,
    lower: f64,
}

/// Runs from `centres`; there are at least as many distinct points.
pub(super) fn run(points: &Points, centres: &Points, max_iterations: usize) -> KMeansFit {
    let (n, k, q) = (points.len(), centres.len(), points.features());
    let mut centres = centres.clone();
    let mut labels = vec![0u32; n];
    // Nothing is known yet: every point looks at all centres in the first round.
    let mut bounds = vec![Bound { upper: f64::INFINITY, lower: 0.0 }; n];
    let mut drift = vec![0.0; k];
    for iteration in 1..=max_iterations {
        let moved = Moved::new(&centres, &drift);
        let parts: Vec<(Sums, usize)> = labels
            .par_chunks_mut(CHUNK)
            .zip(bounds.par_chunks_mut(CHUNK))
            .zip(points.values().par_chunks(CHUNK * q))
            .map(|((labels, bounds), rows)| label_chunk(&moved, q, rows, labels, bounds))
            .collect();
        let mut sums = Sums::new(k, q);
        let mut changed = 0;
        for (part, c) in &parts {
            sums.merge(part);
            changed += c;
        }
        let converged = changed == 0 && iteration > 1;
        if converged || iteration == max_iterations {
            return finish(points, labels, iteration, converged);
        }
        let new = match sums.means(q) {
            Some(means) => means,
            None => fill_empty_clusters(points, sums.means_or(&centres)),
        };
        for l in 0..k {
            drift[l] = squared_distance(new.row(l), centres.row(l)).sqrt() * (1.0 + SLACK);
        }
        centres = new;
    }
    finish(points, labels, max_iterations, false)
}

/// The centres of a round and how far they came.
struct Moved<'a> {
    lanes: CentreLanes,
    rows: &'a Points,
    drift: &'a [f64],
    /// The farthest any centre moved, and the farthest any other than that one did.
    most: f64,
    most_of: usize,
    most_of_others: f64,
    /// Half the distance from each centre to its nearest neighbour.
    half_gap: Vec<f64>,
}

impl<'a> Moved<'a> {
    fn new(centres: &'a Points, drift: &'a [f64]) -> Self {
        let k = centres.len();
        let mut most_of = 0;
        for l in 1..k {
            if drift[l] > drift[most_of] {
                most_of = l;
            }
        }
        let most_of_others =
            drift.iter().enumerate().filter(|&(l, _)| l != most_of).map(|(_, d)| *d).fold(0.0, f64::max);
        let lanes = CentreLanes::from_points(centres);
        let half_gap =
            centres.rows().map(|row| 0.5 * lanes.two_nearest(row).3.sqrt() * (1.0 - SLACK)).collect();
        Self { lanes, rows: centres, drift, most: drift[most_of], most_of, most_of_others, half_gap }
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn label_chunk(
    moved: &Moved<'_>,
    q: usize,
    rows: &[f64],
    labels: &mut [u32],
    bounds: &mut [Bound],
) -> (Sums, usize) {
    let mut sums = Sums::new(moved.rows.len(), q);
    let mut changed = 0;
    for ((row, label), bound) in rows.chunks_exact(q).zip(labels).zip(bounds) {
        let own = *label as usize;
        let others = if own == moved.most_of { moved.most_of_others } else { moved.most };
        bound.upper = (bound.upper + moved.drift[own]) * (1.0 + SLACK);
        bound.lower = (bound.lower - others) - SLACK * (bound.lower.abs() + others);
        let lower = bound.lower.max(moved.half_gap[own]);
        if bound.upper >= lower {
            bound.upper = squared_distance(row, moved.rows.row(own)).sqrt() * (1.0 + SLACK);
            if bound.upper >= lower {
                let (a, da, _, db) = moved.lanes.two_nearest(row);
                changed += usize::from(a != own);
                *label = a as u32;
                bound.upper = da.sqrt() * (1.0 + SLACK);
                bound.lower = db.sqrt() * (1.0 - SLACK);
            }
        }
        sums.add(*label as usize, row);
    }
    (sums, changed)
}
