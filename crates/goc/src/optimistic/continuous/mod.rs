//! GOC over convex sets: the hull or the bounding box of each object's candidates (paper, Discussion 2).
//!
//! The candidates are a sample of where an object may be. Here the object may also be anywhere
//! *between* them: instead of the best candidate, step (III) takes the best point of the set's
//! convex hull or bounding box, by projection. Steps (I) and (II) and the objective are those of
//! [`super`], with the squared distance:
//!
//! ```text
//! J = sum_i min over x in T_i of |x - mu_{c_i}|^2 + lambda * Pen_i(x)
//! ```
//!
//! | [`Region`] | `T_i` | nearest point | `Pen_i(x)` |
//! |---|---|---|---|
//! | `Hull` | mixtures `sum_j w_j x_ij` | quadratic programme (`hull.rs`) | the same mixture of the candidates' penalties |
//! | `Box` | `[min_j, max_j]` in every feature | clamping | the least penalty of the set, wherever `x` is |
//!
//! A corner of the box may be far from every candidate, so it has no natural penalty. A constant
//! penalty has no influence on the positions, and with the lowest one `J` of the box stays below
//! that of the hull, which is below that of the candidates, for the same centres.
//!
//! # What convexity gives
//! With fixed labels, `J` is jointly convex in all positions and centres. So if positions and
//! centres are both stationary, they are optimal for these labels: `objective` of a converged run
//! is at most the joint objective of *any* choice of candidates with the same labels. The price is
//! the paper's own objection: hull and box contain positions where the object cannot be, most of
//! all for a curved set.
//!
//! # Decisions
//! - An object whose set contains several centres is equally near to each of them: distance 0. For
//!   large sets such ties are the rule, not the exception; they go to the centre nearest to the
//!   mean of the set, then to the lower index.
//! - After step (III) positions and centres are iterated to convergence with fixed labels, by
//!   Newton's method; alternating between the two would take hundreds of iterations.
//! - A run has converged when the grouping is unchanged and no position has moved more than
//!   [`Continuous::still`].
//! - A return to a grouping with all positions stationary is a cycle; it is reported, and the best
//!   state is returned, as in [`super`]. If the limit of iterations is reached, the last state is
//!   returned and reported as such.
//!
//! An iteration costs `O(n K q)` for boxes; for hulls, `O(n K q)` for the box bounds that rule out
//! most centres, and `O(m q)` per round of the solver for the remaining ones.

mod hull;
mod place;

use std::collections::HashMap;

use super::run::State;
use super::select::Choice;
use super::termination::DetectedCycle;
use super::{Distance, Optimistic, OptimisticError, OracleEvery, Termination, ValidOptimistic};
use crate::oracle::k_means::{KMeans, means};
use crate::oracle::{Oracle, Start};
use crate::points::squared_distance;
use crate::{Candidates, Partition, Points, random};
use place::{Placer, Spot};

/// The convex set around an object's candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Region {
    /// The convex hull: all mixtures of the candidates.
    Hull,
    /// The smallest box with sides along the features.
    Box,
}

/// How far a position may move, in scaled features, and still count as stationary.
const STILL: f64 = 1e-6;

/// GOC over convex sets, as requested; [`Continuous::check`] validates it.
///
/// ```
/// use goc::candidates::CandidatesBuilder;
/// use goc::optimistic::continuous::{Continuous, Region};
/// use goc::optimistic::{KRule, Optimistic};
/// use goc::oracle::k_means::KMeans;
///
/// let mut builder = CandidatesBuilder::new(1);
/// builder.push(&[0.0, 4.0], &[])?; // anywhere between 0 and 4
/// builder.push(&[3.0], &[])?;
/// builder.push(&[9.0], &[])?;
/// let candidates = builder.build()?;
/// let goc = Optimistic::new(2).k_rule(KRule::Constant);
/// let result = Continuous::new(Region::Hull, goc).check(&candidates)?.run(&KMeans::default(), 1)?;
/// assert_eq!(result.partition.canonical().labels(), [0, 0, 1]);
/// assert!((result.places.row(0)[0] - 3.0).abs() < 1e-3); // no candidate is there
/// assert_eq!(result.discrete_objective, 0.5); // of the candidates, 4 is nearest: 2 * 0.5^2
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Continuous {
    region: Region,
    goc: Optimistic,
    still: f64,
}

/// Why GOC over convex sets cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContinuousError {
    /// An error of GOC itself.
    #[error(transparent)]
    Goc(#[from] OptimisticError),
    /// A distance other than the squared one.
    #[error("hulls and boxes are searched by squared distance only; choose the squared distance")]
    NotSquared,
    /// Trimming, which is not supported for hulls and boxes.
    #[error("hulls and boxes have no trimming; ask for a share of 0")]
    Trim,
    /// Swap moves, which place a centre at a candidate.
    #[error("{swaps} swap moves were asked for; hulls and boxes have none, ask for 0")]
    Swaps {
        /// Swap moves requested.
        swaps: usize,
    },
    /// A bound on moves that is negative or not a number.
    #[error("places that move by {value} cannot be called still; it must be a finite number not below 0")]
    Still {
        /// The value given.
        value: f64,
    },
    /// Centres with a different number of features than the candidates.
    #[error("the centres have {centres} features, the candidates {candidates}")]
    FeaturesDiffer {
        /// Features of the centres.
        centres: usize,
        /// Features of the candidates.
        candidates: usize,
    },
    /// No centres to choose from.
    #[error("there are no centres")]
    NoCentres,
}

impl Continuous {
    /// GOC with the parameters of `goc`, over the `region` of each object.
    ///
    /// The tolerance of `goc` is the share of objects that may still change cluster or position.
    pub fn new(region: Region, goc: Optimistic) -> Self {
        Self { region, goc, still: STILL }
    }

    /// How far a position may move between iterations and count as stationary, in units of the
    /// features; 1e-6 by default.
    pub fn still(mut self, distance: f64) -> Self {
        self.still = distance;
        self
    }

    /// Checks everything against `candidates`.
    pub fn check(self, candidates: &Candidates) -> Result<ValidContinuous<'_>, ContinuousError> {
        if self.goc.distance != Distance::Squared {
            return Err(ContinuousError::NotSquared);
        }
        if self.goc.trims() {
            return Err(ContinuousError::Trim);
        }
        if self.goc.swaps > 0 {
            return Err(ContinuousError::Swaps { swaps: self.goc.swaps });
        }
        if !(self.still.is_finite() && self.still >= 0.0) {
            return Err(ContinuousError::Still { value: self.still });
        }
        Ok(ValidContinuous { region: self.region, still: self.still, goc: self.goc.check(candidates)? })
    }
}

/// Parameters validated against their candidates; made by [`Continuous::check`].
#[derive(Clone, Debug)]
pub struct ValidContinuous<'c> {
    region: Region,
    still: f64,
    goc: ValidOptimistic<'c>,
}

/// The result of GOC over convex sets.
#[derive(Clone, Debug, PartialEq)]
pub struct ContinuousClustering {
    /// The clusters.
    pub partition: Partition,
    /// The position of each object.
    pub places: Points,
    /// The mean of the positions of each cluster.
    pub centres: Points,
    /// The joint objective over the convex sets.
    pub objective: f64,
    /// The candidate of each object with the lowest `distance + lambda * penalty` to the object's
    /// own centre.
    pub nearest: Vec<u32>,
    /// The joint objective of those candidates, with their own means as centres: comparable to
    /// [`super::Clustering::objective`].
    pub discrete_objective: f64,
    /// Executions of step (III) in the run that was kept.
    pub iterations: usize,
    /// Why the run stopped.
    pub termination: Termination,
    /// Every iteration of the run that was kept.
    pub history: Vec<ContinuousIteration>,
}

/// One execution of steps (I) to (III).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContinuousIteration {
    /// Clusters that have a member after step (III).
    pub k: usize,
    /// The joint objective, with the centres updated to the means of the new positions.
    pub objective: f64,
    /// Objects whose cluster or position changed; all of them in the first iteration.
    pub changed: usize,
}

impl ValidContinuous<'_> {
    /// Runs with `oracle`; all randomness derives from `seed`.
    pub fn run(&self, oracle: &dyn Oracle, seed: u64) -> Result<ContinuousClustering, ContinuousError> {
        let mut best = self.run_once(oracle, random::stream(seed, 0))?;
        for start in 1..self.goc.params.starts {
            let next = self.run_once(oracle, random::stream(seed, start as u64))?;
            if next.objective < best.objective {
                best = next;
            }
        }
        Ok(best)
    }

    /// The lowest value of every object for `centres`, summed: the objective after step (III)
    /// alone.
    pub fn objective_at(&self, centres: &Points) -> Result<f64, ContinuousError> {
        let candidates = self.goc.candidates;
        if centres.features() != candidates.features() {
            return Err(ContinuousError::FeaturesDiffer {
                centres: centres.features(),
                candidates: candidates.features(),
            });
        }
        if centres.is_empty() {
            return Err(ContinuousError::NoCentres);
        }
        let mut placer = Placer::new(candidates, self.region, self.goc.params.lambda);
        placer.place(centres);
        Ok(placer.spots.iter().map(|spot| spot.value).sum())
    }

    fn run_once(
        &self,
        oracle: &dyn Oracle,
        stream: random::Stream,
    ) -> Result<ContinuousClustering, ContinuousError> {
        let params = &self.goc.params;
        let n = self.goc.candidates.objects();
        let mut placer = Placer::new(self.goc.candidates, self.region, params.lambda);
        let later = KMeans::default();
        let mut points = self.goc.beginning();
        let mut partition = match &self.goc.initial {
            Some(partition) => partition.clone(),
            None => oracle
                .cluster(&points, Start::K(params.k), &mut stream.clone())
                .map_err(OptimisticError::from)?,
        };
        let mut history: Vec<ContinuousIteration> = Vec::new();
        let mut before: Option<Partition> = None;
        // The positions when each grouping was last seen, to detect a recurrence.
        let mut seen: HashMap<Vec<u32>, (usize, Points)> = HashMap::new();
        let mut cycle: Option<DetectedCycle> = None;
        loop {
            let t = history.len() + 1;
            let step_two = means(&points, &partition);
            placer.place(&step_two);
            placer.settle(self.still);
            let state = state(&placer.spots);
            let grouping = state.partition.canonical();
            let moved = |from: &Points, i: usize| squared_distance(from.row(i), state.points.row(i)).sqrt();
            let changed = match &before {
                None => n,
                Some(before) => (0..n)
                    .filter(|&i| before.labels()[i] != grouping.labels()[i] || moved(&points, i) > self.still)
                    .count(),
            };
            history.push(ContinuousIteration { k: state.partition.k(), objective: state.objective, changed });
            let termination = if let Some(cycle) = &cycle {
                (t == cycle.target).then_some(Termination::Cycle { period: cycle.period })
            } else if changed == 0 {
                Some(Termination::Converged)
            } else if t > 1 && (changed as f64) <= params.tolerance * n as f64 {
                Some(Termination::Tolerance)
            } else if let Some((earlier, places)) = seen.get(grouping.labels())
                && (0..n).all(|i| moved(places, i) <= self.still)
            {
                let found = DetectedCycle::new(*earlier, t, |s| history[s - 1].objective);
                let termination = (found.target == t).then_some(Termination::Cycle { period: found.period });
                cycle = Some(found);
                termination
            } else {
                (t >= params.max_iterations).then_some(Termination::Iterations)
            };
            if let Some(termination) = termination {
                history.truncate(cycle.map_or(t, |cycle| cycle.detected));
                return Ok(self.finish(state, termination, history));
            }
            let start = self.goc.next_start(&state, &step_two);
            let oracle: &dyn Oracle = match params.oracle_every {
                OracleEvery::First => &later,
                OracleEvery::Always => oracle,
            };
            partition = oracle
                .cluster(&state.points, Start::Centres(&start), &mut stream.clone())
                .map_err(OptimisticError::from)?;
            points = state.points;
            seen.insert(grouping.labels().to_vec(), (t, points.clone()));
            before = Some(grouping);
        }
    }

    fn finish(
        &self,
        state: State,
        termination: Termination,
        history: Vec<ContinuousIteration>,
    ) -> ContinuousClustering {
        let (candidates, lambda) = (self.goc.candidates, self.goc.params.lambda);
        let labels = state.partition.labels();
        let nearest: Vec<u32> = (0..candidates.objects())
            .map(|i| best_candidate(candidates, i, state.centres.row(labels[i] as usize), lambda).0)
            .collect();
        let points = candidates.chosen(&nearest);
        let discrete = means(&points, &state.partition);
        let discrete_objective = (0..points.len())
            .map(|i| {
                squared_distance(points.row(i), discrete.row(labels[i] as usize))
                    + lambda * candidates.penalty(i, nearest[i] as usize)
            })
            .sum();
        ContinuousClustering {
            partition: state.partition,
            places: state.points,
            centres: state.centres,
            objective: state.objective,
            nearest,
            discrete_objective,
            iterations: history.len(),
            termination,
            history,
        }
    }
}

/// Computes everything that follows from the positions: empty clusters removed, centres set to the
/// means, the objective.
fn state(spots: &[Spot]) -> State {
    let labels: Vec<u32> = spots.iter().map(|s| s.centre).collect();
    let bound = labels.iter().max().map_or(0, |&l| l as usize + 1);
    let partition = Partition::from_bounded(&labels, bound);
    let q = spots.first().map_or(1, |s| s.place.len());
    let points = Points::trusted(spots.iter().flat_map(|s| s.place.iter().copied()).collect(), q);
    let centres = means(&points, &partition);
    let objective = spots
        .iter()
        .zip(points.rows().zip(partition.labels()))
        .map(|(spot, (x, &l))| squared_distance(x, centres.row(l as usize)) + spot.penalty)
        .sum();
    // The rule for K(t) uses the centre only.
    let choices = spots.iter().map(|s| Choice { candidate: 0, centre: s.centre, value: s.value }).collect();
    State { choices, points, trimmed: Vec::new(), partition, centres, objective }
}

/// The candidate of object `i` with the lowest `squared distance + lambda * penalty` to `centre`,
/// the lower one on a tie, and that value.
pub(super) fn best_candidate(candidates: &Candidates, i: usize, centre: &[f64], lambda: f64) -> (u32, f64) {
    let (m, block, penalties) = (candidates.count(i), candidates.block(i), candidates.penalties(i));
    let (mut best, mut least) = (0, f64::INFINITY);
    for j in 0..m {
        let mut squared = 0.0;
        for (f, c) in centre.iter().enumerate() {
            let d = block[f * m + j] - c;
            squared += d * d;
        }
        let value = squared + lambda * penalties.get(j).copied().unwrap_or(0.0);
        if value < least {
            (best, least) = (j as u32, value);
        }
    }
    (best, least)
}

#[cfg(test)]
mod tests;
