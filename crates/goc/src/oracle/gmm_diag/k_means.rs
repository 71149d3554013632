//! The k-means steps before EM, with our own rule for a cluster that loses all its points: it takes
//! the point that lies farthest from its own mean.

use super::model::cluster_means;
use crate::Points;
use crate::points::squared_distance;

/// The nearest of `means` to each point, the lower number in a tie, and the squared distance to it.
pub(super) fn nearest(points: &Points, means: &Points) -> (Vec<u32>, Vec<f64>) {
    let nearest_of = |x: &[f64]| {
        let mut best = (0, f64::INFINITY);
        for (k, mean) in means.rows().enumerate() {
            let d = squared_distance(x, mean);
            if d < best.1 {
                best = (k as u32, d);
            }
        }
        best
    };
    points.rows().map(nearest_of).unzip()
}

/// The nearest of `means` to each point, with no mean left without a point. Requires at least as
/// many distinct points as means.
pub(super) fn assign(points: &Points, means: &Points) -> Vec<u32> {
    let (mut labels, mut far) = nearest(points, means);
    let mut sizes = vec![0_usize; means.len()];
    labels.iter().for_each(|&l| sizes[l as usize] += 1);
    for dead in 0..means.len() {
        if sizes[dead] > 0 {
            continue;
        }
        // Never the only point of another cluster: that would only pass the emptiness on.
        let mut farthest: Option<usize> = None;
        for i in (0..points.len()).filter(|&i| sizes[labels[i] as usize] > 1) {
            if farthest.is_none_or(|best| far[i] > far[best]) {
                farthest = Some(i);
            }
        }
        let Some(taken) = farthest else { break };
        // With all its copies, so that no other empty cluster takes one of them.
        for i in 0..points.len() {
            if labels[i] == labels[taken] && i != taken && points.row(i) == points.row(taken) {
                sizes[labels[i] as usize] -= 1;
                sizes[dead] += 1;
                labels[i] = dead as u32;
                far[i] = 0.0;
            }
        }
        sizes[labels[taken] as usize] -= 1;
        sizes[dead] += 1;
        labels[taken] = dead as u32;
        far[taken] = 0.0;
    }
    labels
}

/// Lloyd's steps until nothing changes or `steps` are done.
pub(super) fn k_means(points: &Points, mut means: Points, steps: usize) -> Points {
    let mut before: Vec<u32> = Vec::new();
    for _ in 0..steps {
        let labels = assign(points, &means);
        if labels == before {
            break;
        }
        means = cluster_means(points, &labels, means.len());
        before = labels;
    }
    means
}
