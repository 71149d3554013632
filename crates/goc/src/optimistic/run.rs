//! The iteration of GOC: steps (I), (II), (III) until nothing changes, a tolerance, a limit or a cycle.

use rayon::prelude::*;

use super::select::{Choice, Selector};
use super::termination::{Termination, Watch, fingerprint};
use super::trimmed::{self, is_marked};
use super::{Beginning, Detail, KRule, OptimisticError, OracleEvery, Search, Trim, ValidOptimistic};
use crate::method::Tick;
use crate::oracle::k_means::sums::ChunkedSum;
use crate::oracle::k_means::{KMeans, means};
use crate::oracle::{Oracle, Start};
use crate::points::squared_distance;
use crate::random;
use crate::{Candidates, Partition, Points};

/// The result of GOC.
#[derive(Clone, Debug, PartialEq)]
pub struct Clustering {
    /// The clusters. Each trimmed object forms a cluster of its own; these come last.
    pub partition: Partition,
    /// Which objects are trimmed; empty if none are.
    pub trimmed: Vec<bool>,
    /// The chosen candidate of each object.
    pub chosen: Vec<u32>,
    /// The mean of the chosen candidates of each cluster.
    pub centres: Points,
    /// The joint objective: `distance + lambda * penalty` to the centres, summed over the objects
    /// that are not trimmed.
    pub objective: f64,
    /// Executions of step (III) in the run that was kept.
    pub iterations: usize,
    /// Why the run stopped.
    pub termination: Termination,
    /// The representatives before the first iteration and the labels of the first clustering.
    pub first: (Points, Partition),
    /// Every iteration of the run that was kept.
    pub history: Vec<Iteration>,
    /// Swap moves that improved the objective.
    pub swaps_accepted: usize,
}

/// One execution of steps (I) to (III).
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    /// Clusters that have a member after step (III).
    pub k: usize,
    /// The joint objective, with the centres updated to the means of the new choice.
    pub objective: f64,
    /// Objects that changed their candidate, became trimmed or ceased to be; all of them in the
    /// first iteration.
    pub changed: usize,
    /// Labels of step (II) that led to this state; empty with [`Detail::Counts`]. Trimmed objects
    /// have [`u32::MAX`].
    pub oracle_labels: Vec<u32>,
    /// Labels after step (III), numbered like the centres of step (II), so there may be gaps.
    pub labels: Vec<u32>,
    /// Chosen candidates; empty with [`Detail::Counts`].
    pub chosen: Vec<u32>,
}

/// The state of the run between two iterations.
pub(super) struct State {
    pub(super) choices: Vec<Choice>,
    /// The chosen candidates.
    pub(super) points: Points,
    /// Which objects are trimmed; empty if none are.
    pub(super) trimmed: Vec<bool>,
    /// After step (III), with empty clusters removed; each trimmed object is a cluster of its own,
    /// after the others.
    pub(super) partition: Partition,
    /// Its means.
    pub(super) centres: Points,
    pub(super) objective: f64,
}

impl State {
    /// The number of clusters, not counting trimmed objects.
    fn clusters(&self) -> usize {
        self.partition.k() - trimmed::marked(&self.trimmed)
    }

    /// The centres of the clusters, without the positions of trimmed objects.
    fn moving_centres(&self) -> Points {
        first_rows(&self.centres, self.clusters())
    }

    /// The index of each object's centre; [`u32::MAX`] if it is trimmed.
    fn kept_labels(&self) -> Vec<u32> {
        let label = |(i, c): (usize, &Choice)| if is_marked(&self.trimmed, i) { u32::MAX } else { c.centre };
        self.choices.iter().enumerate().map(label).collect()
    }
}

impl Clustering {
    /// The centres of the clusters, without the positions of trimmed objects.
    pub(super) fn moving_centres(&self) -> Points {
        first_rows(&self.centres, self.clusters())
    }

    /// The number of clusters, not counting trimmed objects.
    pub fn clusters(&self) -> usize {
        self.partition.k() - trimmed::marked(&self.trimmed)
    }
}

fn first_rows(points: &Points, count: usize) -> Points {
    let q = points.features();
    Points::trusted(points.values()[..count * q].to_vec(), q)
}

impl ValidOptimistic<'_> {
    /// Runs GOC with `oracle`; all randomness derives from `seed`.
    pub fn run(&self, oracle: &dyn Oracle, seed: u64) -> Result<Clustering, OptimisticError> {
        self.run_watched(oracle, seed, &|| {})
    }

    /// Like [`Self::run`]; `tick` is called after every iteration, start and swap, from any thread.
    pub fn run_watched(
        &self,
        oracle: &dyn Oracle,
        seed: u64,
        tick: Tick,
    ) -> Result<Clustering, OptimisticError> {
        match self.params.trim {
            Trim::Auto => self.run_learning(oracle, seed, tick),
            Trim::Share(_) => self.run_trimmed(oracle, seed, tick),
        }
    }

    /// Runs with the number of trimmed objects given by `self`.
    pub(super) fn run_trimmed(
        &self,
        oracle: &dyn Oracle,
        seed: u64,
        tick: Tick,
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
        representatives(self.candidates, self.params.beginning)
    }

    fn run_once(
        &self,
        oracle: &dyn Oracle,
        beginning: &Points,
        stream: random::Stream,
        tick: Tick,
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
        // From the previous state: which objects are missing from the current points.
        let mut trimmed_before: Vec<bool> = Vec::new();
        let mut history: Vec<Iteration> = Vec::new();
        let mut watch = Watch::default();

        loop {
            let t = history.len() + 1;
            let step_two = means(&points, &partition);
            let (choices, _) = selector.select(&step_two);
            let state = self.state(choices.to_vec());
            let chosen: Vec<u32> = state.choices.iter().map(|c| c.candidate).collect();
            let (now, then) = (&state.trimmed, &trimmed_before);
            let same = |i: usize| match (is_marked(now, i), is_marked(then, i)) {
                (false, false) => chosen[i] == previous[i],
                (now, then) => now == then,
            };
            let changed = if t == 1 { n } else { (0..n).filter(|&i| !same(i)).count() };
            let full = self.detail == Detail::Full;
            history.push(Iteration {
                k: state.clusters(),
                objective: state.objective,
                changed,
                oracle_labels: if full { untrimmed(partition.labels(), then) } else { Vec::new() },
                labels: if full { state.kept_labels() } else { Vec::new() },
                chosen: if full { chosen.clone() } else { Vec::new() },
            });
            tick();

            let mark = || fingerprint(&chosen, &state.partition);
            let termination = watch.termination(params, n, changed, mark, &|s| history[s - 1].objective);
            if let Some(termination) = termination {
                history.truncate(watch.kept());
                return Ok(Clustering {
                    partition: state.partition,
                    trimmed: state.trimmed,
                    chosen,
                    centres: state.centres,
                    objective: state.objective,
                    iterations: history.len(),
                    termination,
                    first: (beginning.clone(), first),
                    history,
                    swaps_accepted: 0,
                });
            }

            let start = self.next_start(&state, &step_two);
            points = match state.trimmed.is_empty() {
                true => state.points,
                false => state.points.subset(&trimmed::unmarked(&state.trimmed, n)),
            };
            let oracle: &dyn Oracle = match params.oracle_every {
                OracleEvery::First => &later,
                OracleEvery::Always => oracle,
            };
            // The same stream every time: the next state is a function of this one, so a recurring
            // state is a cycle.
            partition = oracle.cluster(&points, Start::Centres(&start), &mut stream.clone())?;
            previous = chosen;
            trimmed_before = state.trimmed;
        }
    }

    /// Computes everything that follows from a choice: empty clusters removed, centres set to the
    /// means, the objective.
    pub(super) fn state(&self, choices: Vec<Choice>) -> State {
        let labels: Vec<u32> = choices.iter().map(|c| c.centre).collect();
        let bound = labels.iter().max().map_or(0, |&l| l as usize + 1);
        let trimmed = trimmed::worst(choices.iter().map(|c| c.value), self.trimmed);
        let partition = trimmed::partition(&labels, bound, &trimmed);
        let chosen: Vec<u32> = choices.iter().map(|c| c.candidate).collect();
        let points = self.candidates.chosen(&chosen);
        let centres = means(&points, &partition);
        let values = (0..points.len()).filter(|&i| !is_marked(&trimmed, i)).map(|i| {
            let squared = squared_distance(points.row(i), centres.row(partition.labels()[i] as usize));
            let penalty = self.candidates.penalty(i, chosen[i] as usize);
            self.params.distance.of_squared(squared) + self.params.lambda * penalty
        });
        let objective = values.collect::<ChunkedSum>().total();
        State { choices, points, trimmed, partition, centres, objective }
    }

    /// Step (I): the centres that the next clustering starts from, and hence K(t).
    pub(super) fn next_start(&self, state: &State, step_two: &Points) -> Points {
        match self.params.k_rule {
            KRule::Occupied => state.moving_centres(),
            KRule::Plural => {
                let plural: Vec<usize> = (0..state.clusters())
                    .zip(state.partition.sizes())
                    .filter(|&(_, size)| size > 1)
                    .map(|(l, _)| l)
                    .collect();
                if plural.is_empty() { state.moving_centres() } else { state.centres.subset(&plural) }
            }
            KRule::Constant => self.all_centres(state, step_two),
        }
    }

    /// `K(0)` centres: the mean of each non-empty cluster and the old centre of each empty one. If
    /// the oracle found fewer clusters than requested, the objects farthest from their centre fill
    /// up the rest.
    fn all_centres(&self, state: &State, step_two: &Points) -> Points {
        let points = &state.points;
        let mut values = step_two.values().to_vec();
        let q = points.features();
        let kept = || (0..points.len()).filter(|&i| !is_marked(&state.trimmed, i));
        for i in kept() {
            let (old, new) = (state.choices[i].centre as usize, state.partition.labels()[i] as usize);
            values[old * q..(old + 1) * q].copy_from_slice(state.centres.row(new));
        }
        let missing = self.params.k.saturating_sub(step_two.len());
        if missing > 0 {
            let distance = |i: usize| {
                squared_distance(points.row(i), state.centres.row(state.partition.labels()[i] as usize))
            };
            let mut far: Vec<(f64, usize)> =
                kept().map(|i| (distance(i), i)).filter(|(d, _)| *d > 0.0).collect();
            far.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            for (_, i) in far.into_iter().take(missing) {
                values.extend_from_slice(points.row(i));
            }
        }
        Points::trusted(values, q)
    }
}

/// Labels of the objects that are not marked, at their positions among all objects; [`u32::MAX`]
/// for the marked ones.
fn untrimmed(labels: &[u32], trimmed: &[bool]) -> Vec<u32> {
    if trimmed.is_empty() {
        return labels.to_vec();
    }
    let mut labels = labels.iter();
    trimmed.iter().map(|&out| if out { u32::MAX } else { labels.next().map_or(u32::MAX, |l| *l) }).collect()
}

/// The first representative of each object.
pub(super) fn representatives(candidates: &Candidates, beginning: Beginning) -> Points {
    let means = candidates.means();
    match beginning {
        Beginning::Mean => means,
        Beginning::NearestToMean => {
            let choice: Vec<u32> =
                (0..candidates.objects()).map(|i| nearest_candidate(candidates, i, means.row(i))).collect();
            candidates.chosen(&choice)
        }
    }
}

/// The candidate of object `i` nearest to `place`, the lower one on a tie.
fn nearest_candidate(candidates: &Candidates, i: usize, place: &[f64]) -> u32 {
    let mut squared = vec![0.0; candidates.count(i)];
    for (f, x) in place.iter().enumerate() {
        for (sum, value) in squared.iter_mut().zip(candidates.feature(i, f)) {
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
