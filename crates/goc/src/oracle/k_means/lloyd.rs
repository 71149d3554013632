//! Lloyd's k-means: assign every point to its nearest centre, update the centres to the means,
//! repeat.
//!
//! Points are processed in chunks of fixed size ([`super::sums`]), so the result is the same for
//! any number of threads. Every round examines all centres; [`super::hamerly`] skips most of them
//! and is compared with this version in the tests.

use rayon::prelude::*;

use super::sums::{CHUNK, Sums};
use super::{KMeansFit, fill_empty_clusters, finish};
use crate::Points;
use crate::kernel::CentreLanes;

/// Runs from `centres`; there are at least as many distinct points.
pub(super) fn run(points: &Points, centres: &Points, max_iterations: usize) -> KMeansFit {
    let (n, q) = (points.len(), points.features());
    let mut centres = centres.clone();
    let mut labels = vec![u32::MAX; n];
    for iteration in 1..=max_iterations {
        let (sums, changed) = round(points, &CentreLanes::from_points(&centres), &mut labels);
        let converged = changed == 0;
        if converged || iteration == max_iterations {
            // A round may end with an empty cluster; closing the gap is left to `finish`.
            return finish(points, labels, iteration, converged);
        }
        centres = match sums.means(q) {
            Some(means) => means,
            None => fill_empty_clusters(points, sums.means_or(&centres)),
        };
    }
    finish(points, labels, max_iterations, false)
}

/// Labels every point; returns the sums of the new clusters and how many labels changed.
fn round(points: &Points, centres: &CentreLanes, labels: &mut [u32]) -> (Sums, usize) {
    let (k, q) = (centres.k(), points.features());
    let parts: Vec<(Sums, usize)> = labels
        .par_chunks_mut(CHUNK)
        .zip(points.values().par_chunks(CHUNK * q))
        .map(|(labels, rows)| label_chunk(centres, k, q, rows, labels))
        .collect();
    let mut total = Sums::new(k, q);
    let mut changed = 0;
    for (sums, c) in &parts {
        total.merge(sums);
        changed += c;
    }
    (total, changed)
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn label_chunk(
    centres: &CentreLanes,
    k: usize,
    q: usize,
    rows: &[f64],
    labels: &mut [u32],
) -> (Sums, usize) {
    let mut sums = Sums::new(k, q);
    let mut changed = 0;
    for (row, label) in rows.chunks_exact(q).zip(labels) {
        let (l, _) = centres.nearest(row);
        changed += usize::from(*label != l as u32);
        *label = l as u32;
        sums.add(l, row);
    }
    (sums, changed)
}
