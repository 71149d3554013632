//! Lloyd's k-means: give every point to its nearest centre, make the centres means, repeat.
//!
//! Points are handled in chunks of fixed size; the chunks' sums are added in order, so the answer is the same at
//! any number of threads. Every round looks at all centres; [`super::hamerly`] skips most of them and is
//! compared with this one in the tests.

use rayon::prelude::*;

use super::{KMeansFit, finish, seat_all};
use crate::Points;
use crate::kernel::CentreLanes;

/// Points handled by one task.
pub(super) const CHUNK: usize = 4096;

/// Sums and counts of the members of each centre.
#[derive(Clone)]
pub(super) struct Sums {
    pub(super) values: Vec<f64>,
    pub(super) counts: Vec<u64>,
}

impl Sums {
    pub(super) fn new(k: usize, q: usize) -> Self {
        Self { values: vec![0.0; k * q], counts: vec![0; k] }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, label: usize, row: &[f64]) {
        self.counts[label] += 1;
        let q = row.len();
        for (s, x) in self.values[label * q..(label + 1) * q].iter_mut().zip(row) {
            *s += x;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (a, b) in self.values.iter_mut().zip(&other.values) {
            *a += b;
        }
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
    }

    /// The means; none when some centre has no member.
    pub(super) fn means(&self, q: usize) -> Option<Points> {
        if self.counts.contains(&0) {
            return None;
        }
        let values = self.values.iter().enumerate().map(|(i, s)| s / self.counts[i / q] as f64).collect();
        Some(Points::trusted(values, q))
    }
}

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
            None => seat_all(points, keep_or_mean(&sums, &centres, q)),
        };
    }
    finish(points, labels, max_iterations, false)
}

/// Means where a cluster has members, the old centre where it has none.
pub(super) fn keep_or_mean(sums: &Sums, centres: &Points, q: usize) -> Points {
    let mut values = centres.values().to_vec();
    for (l, &count) in sums.counts.iter().enumerate() {
        if count > 0 {
            for f in 0..q {
                values[l * q + f] = sums.values[l * q + f] / count as f64;
            }
        }
    }
    Points::trusted(values, q)
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
fn label_chunk(centres: &CentreLanes, k: usize, q: usize, rows: &[f64], labels: &mut [u32]) -> (Sums, usize) {
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
