//! When a run stops: nothing changed, little changed, a state recurred, or the limit was reached.
//!
//! A state consists of the candidate each object chose and the grouping into clusters, regardless
//! of the clusters' numbers. It is identified by a 128-bit fingerprint, built from sums over
//! objects and over clusters, so that the fingerprints of parts of the objects can be computed
//! separately and combined ([`super::sharded`]).

use std::collections::BTreeMap;

use super::Optimistic;
use crate::Partition;

/// Why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Termination {
    /// No object changed its candidate.
    Converged,
    /// At most the share of objects given by the tolerance changed their candidate.
    Tolerance,
    /// The run returned to its state of this many iterations before.
    Cycle {
        /// The number of iterations from a state to its recurrence.
        period: usize,
    },
    /// The limit was reached.
    Iterations,
}

/// A detected cycle: the run goes around once more, to the best state in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DetectedCycle {
    pub(super) detected: usize,
    pub(super) period: usize,
    /// The iteration that reaches the best state.
    pub(super) target: usize,
}

impl DetectedCycle {
    /// The state after iteration `t` equals the one after iteration `earlier`; `objective` gives
    /// that of an iteration.
    pub(super) fn new(earlier: usize, t: usize, objective: impl Fn(usize) -> f64) -> Self {
        let best = (earlier + 1..=t).min_by(|&a, &b| objective(a).total_cmp(&objective(b))).unwrap_or(t);
        let target = if best == t { t } else { t + best - earlier };
        Self { detected: t, period: t - earlier, target }
    }
}

/// Watches the iterations of a run for termination.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Watch {
    /// The number of iterations so far.
    pub(super) t: usize,
    /// The iteration in which each state was first seen, to detect a recurrence.
    pub(super) seen: BTreeMap<u128, usize>,
    pub(super) cycle: Option<DetectedCycle>,
}

impl Watch {
    /// Called after each iteration, in which `changed` of `n` objects changed their candidate;
    /// `mark` computes the fingerprint of its state.
    pub(super) fn termination(
        &mut self,
        params: &Optimistic,
        n: usize,
        changed: usize,
        mark: impl Fn() -> u128,
        objective: &dyn Fn(usize) -> f64,
    ) -> Option<Termination> {
        self.t += 1;
        let t = self.t;
        if let Some(cycle) = &self.cycle {
            return (t == cycle.target).then_some(Termination::Cycle { period: cycle.period });
        }
        if changed == 0 {
            return Some(Termination::Converged);
        }
        if t > 1 && (changed as f64) <= params.tolerance * n as f64 {
            return Some(Termination::Tolerance);
        }
        let mark = mark();
        if let Some(&earlier) = self.seen.get(&mark) {
            let found = DetectedCycle::new(earlier, t, objective);
            let termination = (found.target == t).then_some(Termination::Cycle { period: found.period });
            self.cycle = Some(found);
            return termination;
        }
        if t >= params.max_iterations {
            return Some(Termination::Iterations);
        }
        self.seen.insert(mark, t);
        None
    }

    /// The number of iterations that belong to the result: the extra round through a cycle does
    /// not.
    pub(super) fn kept(&self) -> usize {
        self.cycle.as_ref().map_or(self.t, |cycle| cycle.detected)
    }
}

/// A number that two different states share with probability 2^-128, independent of the clusters'
/// numbers.
pub(super) fn fingerprint(chosen: &[u32], partition: &Partition) -> u128 {
    let mut clusters = vec![0u128; partition.k()];
    for (i, (&candidate, &label)) in chosen.iter().zip(partition.labels()).enumerate() {
        let cluster = &mut clusters[label as usize];
        *cluster = cluster.wrapping_add(member(i as u64, candidate));
    }
    together(&clusters)
}

/// The fingerprint of an object with its candidate; that of a cluster is the sum over its members.
#[inline]
pub(super) fn member(object: u64, candidate: u32) -> u128 {
    let a = mix(mix(object ^ 0x9e37_79b9_7f4a_7c15) ^ u64::from(candidate));
    let b = mix(mix(object ^ 0xc2b2_ae3d_27d4_eb4f) ^ (u64::from(candidate) << 32));
    (u128::from(a) << 64) | u128::from(b)
}

/// The fingerprint of a state from those of its clusters, all of which are non-empty.
pub(super) fn together(clusters: &[u128]) -> u128 {
    clusters.iter().fold(0, |sum, &cluster| {
        let (high, low) = ((cluster >> 64) as u64, cluster as u64);
        let word = (u128::from(mix(high ^ mix(low))) << 64) | u128::from(mix(low ^ high.rotate_left(32)));
        sum.wrapping_add(word)
    })
}

/// Every bit of the answer depends on every bit of `x` (the finaliser of SplitMix64, Steele et al. 2014).
#[inline]
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn states_share_a_mark_only_if_they_group_and_choose_alike() {
        // All groupings of five objects with two candidates each: 52 partitions times 32 choices.
        let mut marks: HashMap<u128, (Vec<u32>, Vec<u32>)> = HashMap::new();
        for code in 0..3125u32 {
            let labels: Vec<u32> = (0..5).map(|i| code / 5u32.pow(i) % 5).collect();
            let partition = Partition::from_labels(&labels);
            for bits in 0..32u32 {
                let chosen: Vec<u32> = (0..5).map(|i| bits >> i & 1).collect();
                let state = (partition.canonical().labels().to_vec(), chosen);
                let mark = fingerprint(&state.1, &partition);
                assert_eq!(*marks.entry(mark).or_insert_with(|| state.clone()), state);
            }
        }
        assert_eq!(marks.len(), 52 * 32);
    }
}
