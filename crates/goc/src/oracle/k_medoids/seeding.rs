//! The first medoids: BUILD, LAB, k-medoids++ or chance.
//!
//! All choose among `allowed` places, one for each distinct point, so that no two medoids coincide.

use super::space::{Hits, Space};
use crate::Stream;
use rand::RngExt;
use rand::seq::SliceRandom;

/// `k` different places drawn evenly.
pub(super) fn random(allowed: &[usize], k: usize, rng: &mut Stream) -> Vec<usize> {
    let mut places = allowed.to_vec();
    places.partial_shuffle(rng, k).0.to_vec()
}

/// Each next medoid is drawn with a chance in proportion to what it costs now (Arthur & Vassilvitskii 2007,
/// with the loss of k-medoids in place of the square).
pub(super) fn plus_plus<S: Space>(space: &S, allowed: &[usize], k: usize, rng: &mut Stream) -> Vec<usize> {
    let mut medoids = vec![allowed[rng.random_range(0..allowed.len())]];
    let mut costs: Vec<f64> = allowed.iter().map(|&o| space.distance(o, medoids[0])).collect();
    while medoids.len() < k {
        let total: f64 = costs.iter().sum();
        let mut target = rng.random::<f64>() * total;
        // The last one with a cost, should rounding carry the target past the end.
        let mut chosen = costs.iter().rposition(|&c| c > 0.0);
        for (at, &cost) in costs.iter().enumerate() {
            target -= cost;
            if target < 0.0 {
                chosen = Some(at);
                break;
            }
        }
        // All costs 0: only distances that underflow, or a matrix with zeros, come here. Any unused place will do.
        let chosen = chosen.or_else(|| allowed.iter().position(|o| !medoids.contains(o)));
        let Some(medoid) = chosen.map(|at| allowed[at]) else { break };
        medoids.push(medoid);
        for (cost, &o) in costs.iter_mut().zip(allowed) {
            *cost = cost.min(space.distance(o, medoid));
        }
    }
    medoids
}

/// BUILD of PAM (Kaufman & Rousseeuw 1987): each next medoid is the one that lowers the loss most. `O(k n^2)` at
/// worst, less where the space can skip.
pub(super) fn build<S: Space>(space: &S, allowed: &[usize], k: usize) -> Vec<usize> {
    let n = space.len();
    let mut reach = space.reach();
    let mut hits = Hits::default();
    let mut raw = vec![f64::INFINITY; n];
    let mut nearest = vec![f64::INFINITY; n];
    let mut used = vec![false; n];
    let mut medoids = Vec::with_capacity(k);
    while medoids.len() < k {
        reach.set(&raw);
        let mut best = (None, f64::NEG_INFINITY);
        for &candidate in allowed.iter().filter(|&&c| !used[c]) {
            space.within(candidate, &reach, &mut hits);
            let gain: f64 = if medoids.is_empty() {
                -hits.iter().map(|(_, d)| d).sum::<f64>()
            } else {
                hits.iter().map(|(o, d)| nearest[o] - d).sum()
            };
            if best.0.is_none() || gain > best.1 {
                best = (Some(candidate), gain);
            }
        }
        let Some(medoid) = best.0 else { break };
        used[medoid] = true;
        medoids.push(medoid);
        for o in 0..n {
            let d = space.raw(o, medoid);
            if d < raw[o] {
                raw[o] = d;
                nearest[o] = space.loss_of_raw(d);
            }
        }
    }
    medoids
}

/// Linear approximative BUILD (Schubert & Rousseeuw 2021, algorithm 4): each next medoid is the best of a
/// sample of `10 + ceil(sqrt n)` places, judged by that sample alone.
pub(super) fn lab<S: Space>(space: &S, allowed: &[usize], k: usize, rng: &mut Stream) -> Vec<usize> {
    let size = 10 + (space.len() as f64).sqrt().ceil() as usize;
    let mut nearest = vec![f64::INFINITY; space.len()];
    let mut free = allowed.to_vec();
    let mut medoids: Vec<usize> = Vec::with_capacity(k);
    while medoids.len() < k && !free.is_empty() {
        let count = size.min(free.len());
        let sample: Vec<usize> = free.partial_shuffle(rng, count).0.to_vec();
        let mut best = (sample[0], f64::INFINITY);
        for &candidate in &sample {
            let loss: f64 = sample.iter().map(|&o| nearest[o].min(space.distance(o, candidate))).sum();
            if loss < best.1 {
                best = (candidate, loss);
            }
        }
        medoids.push(best.0);
        free.retain(|&o| o != best.0);
        for (o, known) in nearest.iter_mut().enumerate() {
            *known = known.min(space.distance(o, best.0));
        }
    }
    medoids
}
