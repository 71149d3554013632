//! The first medoids.
//!
//! They are chosen among `allowed` places, one for each distinct point, so that no two medoids coincide.

use super::space::{Hits, Space};
use crate::Stream;
use rand::RngExt;

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
        // All costs 0: only distances that underflow, or a matrix with zeros, come here. Any unused
        // place will do.
        let chosen = chosen.or_else(|| allowed.iter().position(|o| !medoids.contains(o)));
        let Some(medoid) = chosen.map(|at| allowed[at]) else { break };
        medoids.push(medoid);
        for (cost, &o) in costs.iter_mut().zip(allowed) {
            *cost = cost.min(space.distance(o, medoid));
        }
    }
    medoids
}

/// The one medoid of least loss, the first in a tie.
pub(super) fn best<S: Space>(space: &S, allowed: &[usize]) -> Vec<usize> {
    let mut reach = space.reach();
    reach.set(&vec![f64::INFINITY; space.len()]);
    let mut hits = Hits::default();
    let mut best = (None, f64::NEG_INFINITY);
    for &candidate in allowed {
        space.within(candidate, &reach, &mut hits);
        let gain = -hits.iter().map(|(_, d)| d).sum::<f64>();
        if best.0.is_none() || gain > best.1 {
            best = (Some(candidate), gain);
        }
    }
    Vec::from_iter(best.0)
}
