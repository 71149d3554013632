//! Where k-means begins: distinct random points, or k-means++.

use std::collections::HashSet;

use rand::RngExt;
use rayon::prelude::*;

use crate::points::squared_distance;
use crate::{Partition, Points, Stream};

/// Points below which a distance pass is not worth spreading over threads.
const CHUNK: usize = 8192;

/// When there are fewer than `k` distinct points: labels that give each its own cluster.
pub(super) fn labels_if_fewer_distinct(points: &Points, k: usize) -> Option<Vec<u32>> {
    // Nearly always the first few rows show k distinct points, so look there before sorting anything.
    let mut seen = HashSet::new();
    for row in points.rows() {
        seen.insert(bits(row));
        if seen.len() >= k {
            return None;
        }
    }
    let keys: Vec<Vec<u64>> = points.rows().map(bits).collect();
    let labels = Partition::from_labels(&keys.iter().collect::<Vec<_>>()).canonical();
    Some(labels.labels().to_vec())
}

/// The bits of a row, `-0.0` as `0.0`: equal rows have equal bits.
pub(crate) fn bits(row: &[f64]) -> Vec<u64> {
    row.iter().map(|&x| if x == 0.0 { 0 } else { x.to_bits() }).collect()
}

/// `k` distinct points drawn without replacement; there are at least `k`.
pub(super) fn random(points: &Points, k: usize, stream: &mut Stream) -> Points {
    let n = points.len();
    let mut rows = Vec::with_capacity(k);
    let mut taken = HashSet::with_capacity(k);
    let mut tries = 0;
    // Drawing with rejection is fast while few are taken or equal; else shuffle all rows once.
    while rows.len() < k && tries < 4 * k {
        tries += 1;
        let i = stream.random_range(0..n);
        if taken.insert(bits(points.row(i))) {
            rows.push(i);
        }
    }
    if rows.len() < k {
        let mut order: Vec<usize> = (0..n).collect();
        for i in 0..n {
            let j = stream.random_range(i..n);
            order.swap(i, j);
            if taken.insert(bits(points.row(order[i]))) {
                rows.push(order[i]);
                if rows.len() == k {
                    break;
                }
            }
        }
    }
    points.subset(&rows)
}

/// k-means++: the first centre at random, each next with probability proportional to its squared
/// distance from the nearest so far. There are at least `k` distinct points, so the weights never
/// all vanish.
pub(super) fn plus_plus(points: &Points, k: usize, stream: &mut Stream) -> Points {
    let n = points.len();
    let mut rows = vec![stream.random_range(0..n)];
    let mut nearest = vec![f64::INFINITY; n];
    while rows.len() < k {
        let newest = points.row(rows[rows.len() - 1]);
        // Chunk sums are added in order: the same total at any number of threads.
        let sums: Vec<f64> = nearest
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map(|(c, chunk)| {
                let mut sum = 0.0;
                for (i, d) in chunk.iter_mut().enumerate() {
                    *d = d.min(squared_distance(points.row(c * CHUNK + i), newest));
                    sum += *d;
                }
                sum
            })
            .collect();
        let total: f64 = sums.iter().sum();
        rows.push(draw(&nearest, &sums, stream.random::<f64>() * total));
    }
    points.subset(&rows)
}

/// The first point whose running sum of weights exceeds `target`; never one of weight zero.
fn draw(weights: &[f64], chunk_sums: &[f64], mut target: f64) -> usize {
    let mut from = 0;
    for (c, sum) in chunk_sums.iter().enumerate() {
        from = c * CHUNK;
        if target < *sum {
            break;
        }
        target -= sum;
    }
    let mut last_positive = None;
    for i in from..weights.len() {
        if weights[i] > 0.0 {
            last_positive = Some(i);
            if target < weights[i] {
                return i;
            }
            target -= weights[i];
        }
    }
    // Rounding ran past the end: the last point that has a weight.
    last_positive.or_else(|| weights.iter().rposition(|w| *w > 0.0)).unwrap_or(0)
}
