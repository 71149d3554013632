//! The iteration of GOC: steps (I), (II), (III) until nothing changes, a tolerance, a limit or a cycle.

use std::collections::HashMap;

use rayon::prelude::*;

use super::select::{Choice, Selector};
use super::{Beginning, Detail, KRule, OptimisticError, OracleEvery, Search, ValidOptimistic};
use crate::oracle::k_means::{KMeans, means};
use crate::oracle::{Oracle, Start};
use crate::points::squared_distance;
use crate::random;
use crate::{Partition, Points};

/// What GOC found.
#[derive(Clone, Debug, PartialEq)]
pub struct Clustering {
    /// The clusters.
    pub partition: Partition,
    /// The chosen candidate of each object.
    pub chosen: Vec<u32>,
    /// The mean of the chosen candidates of each cluster.
    pub centres: Points,
    /// The joint objective: `distance + lambda * penalty` to the centres, summed over the objects.
    pub objective: f64,
    /// Executions of step (III) in the run that was kept.
    pub iterations: usize,
    /// Why it stopped.
    pub ending: Ending,
    /// The representatives before the first iteration and the labels of the first clustering.
    pub first: (Points, Partition),
    /// Every iteration of the run that was kept.
    pub history: Vec<Iteration>,
    /// Swap moves that improved the objective.
    pub swaps_accepted: usize,
}

/// Why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// No object changed its candidate.
    Converged,
    /// No more objects than the tolerance allows changed their candidate.
    Tolerance,
    /// The run came back to a state it had been in so many iterations before.
    Cycle {
        /// Iterations from a state to its return.
        period: usize,
    },
    /// The limit came first.
    Iterations,
}

/// One execution of steps (I) to (III).
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    /// Clusters that have a member after step (III).
    pub k: usize,
    /// The joint objective, with the centres made means of the new choice.
    pub objective: f64,
    /// Objects that chose another candidate than before; all of them in the first iteration.
    pub changed: usize,
    /// Labels of step (II) that led here, and of step (III); empty with [`Detail::Counts`].
    pub oracle_labels: Vec<u32>,
    /// Labels after step (III), numbered like the centres of step (II), so there may be gaps.
    pub labels: Vec<u32>,
    /// Chosen candidates; empty with [`Detail::Counts`].
    pub chosen: Vec<u32>,
}

/// Where the run stands between two iterations.
pub(super) struct State {
    pub(super) choices: Vec<Choice>,
    /// The chosen candidates.
    pub(super) points: Points,
    /// After step (III), gaps closed.
    pub(super) partition: Partition,
    /// Its means.
    pub(super) centres: Points,
    pub(super) objective: f64,
}

impl ValidOptimistic<'_> {
    /// Runs GOC with `oracle`; everything random follows from `seed`.
    pub fn run(&self, oracle: &dyn Oracle, seed: u64) -> Result<Clustering, OptimisticError> {
        self.run_watched(oracle, seed, &|| {})
    }

    /// As [`Self::run`]; `tick` is called after every iteration, start and swap, from any thread.
    pub fn run_watched(
        &self,
        oracle: &dyn Oracle,
        seed: u64,
        tick: &(dyn Fn() + Sync),
    ) -> Result<Clustering, OptimisticError> {
        let beginning = self.beginning();
        let mut best = if self.params.starts <= 1 {
            self.run_once(oracle, &beginning, random::stream(seed, 0), tick)?
        } else {
            (0..self.params.starts)
                .into_par_iter()
                .map(|s| {
                    let run = self.run_once(oracle, &beginning, random::stream(seed, s as u64), tick)?;
                    Ok((s, run))
                })
                .try_reduce_with(|a, b| {
                    let b_wins = b.1.objective.total_cmp(&a.1.objective).then(b.0.cmp(&a.0)).is_lt();
                    Ok(if b_wins { b } else { a })
                })
                .unwrap_or(Err(OptimisticError::NoIterations))?
                .1
        };
        if self.params.swaps > 0 {
            self.improve_by_swaps(&mut best, seed, tick);
        }
        if self.params.search == Search::Thorough {
            self.search_thoroughly(&mut best, seed, tick);
        }
        Ok(best)
    }

    /// Xi(0).
    pub(super) fn beginning(&self) -> Points {
        let means = self.candidates.means();
        match self.params.beginning {
            Beginning::Mean => means,
            Beginning::NearestToMean => {
                let choice: Vec<u32> =
                    (0..self.candidates.objects()).map(|i| self.nearest_candidate(i, means.row(i))).collect();
                self.candidates.chosen(&choice)
            }
        }
    }

    /// The candidate of object `i` nearest to `place`, the lower one on a tie.
    fn nearest_candidate(&self, i: usize, place: &[f64]) -> u32 {
        let mut squared = vec![0.0; self.candidates.count(i)];
        for (f, x) in place.iter().enumerate() {
            for (sum, value) in squared.iter_mut().zip(self.candidates.feature(i, f)) {
                *sum += (value - x) * (value - x);
            }
        }
        let mut best = 0;
        for j in 1..squared.len() {
            if squared[j] < squared[best] {
                best = j;
            }
        }
        best as u32
    }

    fn run_once(
        &self,
        oracle: &dyn Oracle,
        beginning: &Points,
        stream: random::Stream,
        tick: &(dyn Fn() + Sync),
    ) -> Result<Clustering, OptimisticError> {
        let params = &self.params;
        let n = self.candidates.objects();
        let mut selector = Selector::new(self.candidates, params.distance, params.lambda);
        let later = KMeans::default();
        let first = match &self.initial {
            Some(partition) => partition.clone(),
            None => oracle.cluster(beginning, Start::K(params.k), &mut stream.clone())?,
        };
        let mut partition = first.clone();
        let mut points = beginning.clone();
        let mut previous: Vec<u32> = Vec::new();
        let mut history: Vec<Iteration> = Vec::new();
        // The iteration in which each state was first seen, to notice a return.
        let mut seen: HashMap<u128, usize> = HashMap::new();
        let mut around: Option<Around> = None;

        loop {
            let t = history.len() + 1;
            let step_two = means(&points, &partition);
            let (choices, _) = selector.select(&step_two);
            let state = self.state(choices.to_vec());
            let chosen: Vec<u32> = state.choices.iter().map(|c| c.candidate).collect();
            let changed = if t == 1 { n } else { (0..n).filter(|&i| chosen[i] != previous[i]).count() };
            let full = self.detail == Detail::Full;
            history.push(Iteration {
                k: state.partition.k(),
                objective: state.objective,
                changed,
                oracle_labels: if full { partition.labels().to_vec() } else { Vec::new() },
                labels: if full { state.choices.iter().map(|c| c.centre).collect() } else { Vec::new() },
                chosen: if full { chosen.clone() } else { Vec::new() },
            });
            tick();

            let ending = if let Some(around) = &around {
                (t == around.target).then_some(Ending::Cycle { period: around.period })
            } else if changed == 0 {
                Some(Ending::Converged)
            } else if t > 1 && (changed as f64) <= params.tolerance * n as f64 {
                Some(Ending::Tolerance)
            } else if let Some(&earlier) = seen.get(&fingerprint(&chosen, &state.partition)) {
                let found = Around::new(earlier, t, |s| history[s - 1].objective);
                let ending = (found.target == t).then_some(Ending::Cycle { period: found.period });
                around = Some(found);
                ending
            } else if t >= params.max_iterations {
                Some(Ending::Iterations)
            } else {
                seen.insert(fingerprint(&chosen, &state.partition), t);
                None
            };
            if let Some(ending) = ending {
                if let Some(around) = around {
                    history.truncate(around.detected);
                }
                return Ok(Clustering {
                    partition: state.partition,
                    chosen,
                    centres: state.centres,
                    objective: state.objective,
                    iterations: history.len(),
                    ending,
                    first: (beginning.clone(), first),
                    history,
                    swaps_accepted: 0,
                });
            }

            let start = self.next_start(&state, &step_two);
            points = state.points;
            let oracle: &dyn Oracle = match params.oracle_every {
                OracleEvery::First => &later,
                OracleEvery::Always => oracle,
            };
            // The same stream every time: the next state is a function of this one, so a return is a cycle.
            partition = oracle.cluster(&points, Start::Centres(&start), &mut stream.clone())?;
            previous = chosen;
        }
    }

    /// Everything that follows from a choice: gaps closed, centres made means, the objective.
    pub(super) fn state(&self, choices: Vec<Choice>) -> State {
        let labels: Vec<u32> = choices.iter().map(|c| c.centre).collect();
        let bound = labels.iter().max().map_or(0, |&l| l as usize + 1);
        let partition = Partition::from_bounded(&labels, bound);
        let chosen: Vec<u32> = choices.iter().map(|c| c.candidate).collect();
        let points = self.candidates.chosen(&chosen);
        let centres = means(&points, &partition);
        let objective = (0..points.len())
            .map(|i| {
                let squared = squared_distance(points.row(i), centres.row(partition.labels()[i] as usize));
                let penalty = self.candidates.penalty(i, chosen[i] as usize);
                self.params.distance.of_squared(squared) + self.params.lambda * penalty
            })
            .sum();
        State { choices, points, partition, centres, objective }
    }

    /// Step (I): the centres that the next clustering begins from, and so K(t).
    pub(super) fn next_start(&self, state: &State, step_two: &Points) -> Points {
        match self.params.k_rule {
            KRule::Occupied => state.centres.clone(),
            KRule::Plural => {
                let plural: Vec<usize> = (0..state.partition.k())
                    .zip(state.partition.sizes())
                    .filter(|&(_, size)| size > 1)
                    .map(|(l, _)| l)
                    .collect();
                if plural.is_empty() { state.centres.clone() } else { state.centres.subset(&plural) }
            }
            KRule::Constant => self.all_centres(state, step_two),
        }
    }

    /// `K(0)` centres: means where there are members, the old centre where there are none, and, should the
    /// oracle have found fewer clusters than asked, the objects that lie farthest from their centre.
    fn all_centres(&self, state: &State, step_two: &Points) -> Points {
        let points = &state.points;
        let mut values = step_two.values().to_vec();
        let q = points.features();
        for (choice, &l) in state.choices.iter().zip(state.partition.labels()) {
            let (old, new) = (choice.centre as usize, l as usize);
            values[old * q..(old + 1) * q].copy_from_slice(state.centres.row(new));
        }
        let missing = self.params.k.saturating_sub(step_two.len());
        if missing > 0 {
            let distance = |i: usize| {
                squared_distance(points.row(i), state.centres.row(state.partition.labels()[i] as usize))
            };
            let mut far: Vec<(f64, usize)> =
                (0..points.len()).map(|i| (distance(i), i)).filter(|(d, _)| *d > 0.0).collect();
            far.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            for (_, i) in far.into_iter().take(missing) {
                values.extend_from_slice(points.row(i));
            }
        }
        Points::trusted(values, q)
    }
}

/// A cycle that was noticed: the run goes around once more, to the best state in it.
pub(super) struct Around {
    pub(super) detected: usize,
    pub(super) period: usize,
    /// The iteration that will be in the best state.
    pub(super) target: usize,
}

impl Around {
    /// The state after iteration `t` is the one after iteration `earlier`; `objective` is that of an iteration.
    pub(super) fn new(earlier: usize, t: usize, objective: impl Fn(usize) -> f64) -> Self {
        let best = (earlier + 1..=t).min_by(|&a, &b| objective(a).total_cmp(&objective(b))).unwrap_or(t);
        let target = if best == t { t } else { t + best - earlier };
        Self { detected: t, period: t - earlier, target }
    }
}

/// A number that two different states share with probability 2^-128: two hashes over the
/// choices and the grouping, whatever the clusters' numbers.
fn fingerprint(chosen: &[u32], partition: &Partition) -> u128 {
    let mut a: u64 = 0xcbf2_9ce4_8422_2325;
    let mut b: u64 = 0x9e37_79b9_7f4a_7c15;
    for (&candidate, &label) in chosen.iter().zip(partition.canonical().labels()) {
        let word = (u64::from(candidate) << 32) | u64::from(label);
        a = (a ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        a ^= a >> 29;
        b = (b.rotate_left(23) ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        b ^= b >> 33;
    }
    (u128::from(a) << 64) | u128::from(b)
}
