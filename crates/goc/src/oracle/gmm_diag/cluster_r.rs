//! The draws and the k-means steps of `ClusterR::GMM`, which is Armadillo's `gmm_diag` on R's random numbers.
//!
//! What it does there (on the paper's ten sets, with K = 30, 50, 70 and the seeds 1 to 100, the labels that
//! follow are Armadillo's in 3000 of 3000 runs):
//! - First means: every point gets a key, the whole part of `runif() * (2^31 - 1)`; the points of the K least
//!   keys, least first.
//! - A mean whose cluster is empty moves onto a point. The empty clusters in rising order take, one each, the
//!   last point of the clusters of two points or more in falling order; that point still counts for its own
//!   cluster in this step. Empty clusters beyond those take points drawn at random.
//! - It stops where the means move no more: the mean of their squared moves is at most the machine epsilon.

use super::k_means::nearest;
use super::model::cluster_means;
use crate::Points;
use crate::points::squared_distance;
use crate::random::r::RStream;

/// The largest number of C's `rand`, which Armadillo asks R's stream for instead.
const RAND_MAX: f64 = 2_147_483_647.0;

/// The rows of `k` of `n` points, in the order drawn.
pub(super) fn random_subset(n: usize, k: usize, stream: &mut RStream) -> Vec<usize> {
    let mut keys: Vec<(u32, usize)> = (0..n).map(|row| ((stream.uniform() * RAND_MAX) as u32, row)).collect();
    keys.sort_unstable();
    keys.into_iter().take(k).map(|(_, row)| row).collect()
}

/// At most `steps` steps from `means`.
pub(super) fn k_means(points: &Points, mut means: Points, steps: usize, stream: &mut RStream) -> Points {
    let k = means.len();
    for _ in 0..steps {
        let labels = nearest(points, &means).0;
        let mut moved = cluster_means(points, &labels, k);
        let (mut sizes, mut last_rows) = (vec![0_usize; k], vec![0_usize; k]);
        for (row, &label) in labels.iter().enumerate() {
            sizes[label as usize] += 1;
            last_rows[label as usize] = row;
        }
        let mut givers = (0..k).rev().filter(|&c| sizes[c] >= 2);
        for empty in (0..k).filter(|&c| sizes[c] == 0) {
            let row = match givers.next() {
                Some(giver) => last_rows[giver],
                None => random_row(points.len(), stream),
            };
            moved.row_mut(empty).copy_from_slice(points.row(row));
        }
        let moves: f64 = means.rows().zip(moved.rows()).map(|(a, b)| squared_distance(a, b)).sum();
        means = moved;
        if moves / k as f64 <= f64::EPSILON {
            break;
        }
    }
    means
}

fn random_row(n: usize, stream: &mut RStream) -> usize {
    let scale = n as f64 / RAND_MAX;
    ((stream.uniform() * RAND_MAX * scale) as usize).min(n - 1)
}
