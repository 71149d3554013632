//! Better minima of the joint objective through swap moves: a fixed number, or a search that stops
//! when no move improves the objective.
//!
//! A run of GOC ends in the local minimum nearest to its start. A swap move removes one centre,
//! places it at a poorly represented object, and descends again; it is kept if the objective
//! decreased. For k-means this is random swap clustering (Fränti 2018), which finds far better
//! minima than restarts for the same effort; here the descent chooses candidates too. On the
//! paper's data a lower joint objective does mean a better clustering (rank correlation about -0.5
//! with NMI).
//!
//! Every move works on a [`Assignment`], which examines the changed centres only;
//! [`super::guided_swaps`] selects its moves.

use rand::RngExt;

use super::assignment::{Assigned, Assigner, Assignment};
use super::run::Clustering;
use super::select::Choice;
use super::trimmed::{self, is_marked};
use super::{KRule, ValidOptimistic};
use crate::method::Tick;
use crate::oracle::k_means::sums::{ChunkedSum, ChunkedSums};
use crate::points::squared_distance;
use crate::{Points, Stream, random};

/// Maximum number of rounds of one descent; most need fewer than ten.
const DESCENT: usize = 50;

/// The stream of the swap moves, separate from those of the starts.
const SWAP_STREAM: u64 = u64::MAX;

/// The stream of the thorough search.
pub(super) const SEARCH_STREAM: u64 = u64::MAX - 1;

/// The end state of a descent.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    pub(super) assignment: Assignment,
    /// The means of the clusters; a centre without objects stays where it was.
    pub(super) means: Points,
    /// The joint objective with these means.
    pub(super) objective: f64,
    /// The largest value of an object that is not trimmed, infinite if none is trimmed: the maximum
    /// cost of an object.
    pub(super) cap: f64,
}

impl ValidOptimistic<'_> {
    /// Tries the requested swap moves on `best`.
    pub(super) fn improve_by_swaps(&self, best: &mut Clustering, seed: u64, tick: Tick) {
        let params = &self.params;
        let mut stream = random::stream(seed, SWAP_STREAM);
        let assigner = Assigner::new(self.candidates, params.distance, params.lambda);
        let mut values = self.values(best);
        let mut current = assigner.assign(best.moving_centres());
        for _ in 0..params.swaps {
            let object = draw(&values, &mut stream);
            let place =
                self.candidates.candidate(object, stream.random_range(0..self.candidates.count(object)));
            let q = place.len();
            let trial = if self.lost_a_cluster(best) {
                assigner.assign(Points::trusted([best.moving_centres().values(), &place].concat(), q))
            } else {
                let away = stream.random_range(0..best.clusters());
                let mut trial = current.clone();
                assigner.move_centres(&mut trial, &[away], &Points::trusted(place, q));
                trial
            };
            let found = self.descend(&assigner, trial);
            if found.objective < best.objective {
                self.keep(best, &found);
                best.swaps_accepted += 1;
                values = self.values(best);
                current = assigner.assign(best.moving_centres());
            }
            tick();
        }
    }

    /// With a constant K, a cluster that was lost on the way is restored before any centre is
    /// moved.
    pub(super) fn lost_a_cluster(&self, best: &Clustering) -> bool {
        self.params.k_rule == KRule::Constant && best.clusters() < self.params.k
    }

    /// Alternates step (III) and means until the objective no longer decreases.
    pub(super) fn descend(&self, assigner: &Assigner<'_>, assignment: Assignment) -> Settled {
        let mut best = self.settle(assignment);
        for _ in 0..DESCENT {
            let rows: Vec<usize> = (0..best.means.len())
                .filter(|&k| best.means.row(k) != best.assignment.centres().row(k))
                .collect();
            if rows.is_empty() {
                break;
            }
            let mut assignment = best.assignment.clone();
            assigner.move_centres(&mut assignment, &rows, &best.means.subset(&rows));
            let next = self.settle(assignment);
            if next.objective >= best.objective {
                break;
            }
            best = next;
        }
        best
    }

    /// Moves centres to the means and computes the objective, with the operations of a full
    /// recomputation in the same order.
    fn settle(&self, assignment: Assignment) -> Settled {
        let q = assignment.centres().features();
        let trimmed = trimmed::worst(assignment.assigned().iter().map(|own| own.value), self.trimmed);
        let kept = |i: &usize| !is_marked(&trimmed, *i);
        let mut sums = ChunkedSums::new(assignment.centres().len(), q);
        let mut point = vec![0.0; q];
        for i in (0..assignment.assigned().len()).filter(kept) {
            let own = &assignment.assigned()[i];
            self.candidates.copy_candidate(i, own.candidate as usize, &mut point);
            sums.add(own.centre as usize, &point);
        }
        let means = sums.total().means_or(assignment.centres());
        let values = (0..assignment.assigned().len()).filter(kept).map(|i| {
            let own = &assignment.assigned()[i];
            self.candidates.copy_candidate(i, own.candidate as usize, &mut point);
            let squared = squared_distance(&point, means.row(own.centre as usize));
            let penalty = self.candidates.penalty(i, own.candidate as usize);
            self.params.distance.of_squared(squared) + self.params.lambda * penalty
        });
        let objective = values.collect::<ChunkedSum>().total();
        let cap = match trimmed.is_empty() {
            true => f64::INFINITY,
            false => {
                (0..trimmed.len()).filter(kept).map(|i| assignment.assigned()[i].value).fold(0.0, f64::max)
            }
        };
        Settled { assignment, means, objective, cap }
    }

    /// Adopts the result of a descent.
    pub(super) fn keep(&self, best: &mut Clustering, found: &Settled) {
        let choice = |s: &Assigned| Choice { candidate: s.candidate, centre: s.centre, value: s.value };
        let state = self.state(found.assignment.assigned().iter().map(choice).collect());
        best.chosen = state.choices.iter().map(|c| c.candidate).collect();
        best.partition = state.partition;
        best.trimmed = state.trimmed;
        best.centres = state.centres;
        best.objective = state.objective;
    }

    /// The contribution of each object to the objective; 0 for a trimmed one.
    fn values(&self, of: &Clustering) -> Vec<f64> {
        let points = self.candidates.chosen(&of.chosen);
        (0..points.len())
            .map(|i| {
                if is_marked(&of.trimmed, i) {
                    return 0.0;
                }
                let centre = of.centres.row(of.partition.labels()[i] as usize);
                let squared = squared_distance(points.row(i), centre);
                let penalty = self.candidates.penalty(i, of.chosen[i] as usize);
                self.params.distance.of_squared(squared) + self.params.lambda * penalty
            })
            .collect()
    }
}

/// An object with probability proportional to its value; any one if all are zero.
fn draw(values: &[f64], stream: &mut Stream) -> usize {
    let total: f64 = values.iter().sum();
    if total <= 0.0 {
        return stream.random_range(0..values.len());
    }
    let mut target = stream.random::<f64>() * total;
    for (i, v) in values.iter().enumerate() {
        if target < *v {
            return i;
        }
        target -= v;
    }
    values.len() - 1
}
