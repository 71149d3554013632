//! Better minima of the joint objective: swap moves.
//!
//! A run of GOC ends in the minimum nearest to its start. A swap move takes one centre away, puts it at an
//! object that lies badly, and descends again; it is kept if the objective fell. For k-means this is
//! random swap clustering (Fränti 2018), which finds far better minima than restarts for the same work; here
//! the descent chooses candidates too. A lower joint objective does mean a better clustering on
//! the paper's data (rank correlation about -.5 with NMI).

use rand::RngExt;

use super::run::{Clustering, State};
use super::select::Selector;
use super::{KRule, ValidOptimistic};
use crate::{Points, Stream, random};

/// Rounds of one descent; most need fewer than ten.
const DESCENT: usize = 50;

/// The stream of the swap moves, apart from those of the starts.
const SWAP_STREAM: u64 = u64::MAX;

impl ValidOptimistic<'_> {
    /// Tries the swap moves asked for on `best`.
    pub(super) fn improve_by_swaps(&self, best: &mut Clustering, seed: u64, tick: &(dyn Fn() + Sync)) {
        let params = &self.params;
        let mut stream = random::stream(seed, SWAP_STREAM);
        let mut selector = Selector::new(self.candidates, params.distance, params.lambda);
        let mut values = self.values(best);
        for _ in 0..params.swaps {
            let object = draw(&values, &mut stream);
            let place =
                self.candidates.candidate(object, stream.random_range(0..self.candidates.count(object)));
            // With a constant K, a cluster that got lost on the way is put back before any is moved.
            let lost = params.k_rule == KRule::Constant && best.centres.len() < params.k;
            let mut trial = best.centres.clone();
            if lost {
                trial = Points::trusted([trial.values(), &place].concat(), trial.features());
            } else {
                let away = stream.random_range(0..trial.len());
                trial.row_mut(away).copy_from_slice(&place);
            }
            let found = self.descend(&mut selector, trial);
            if found.objective < best.objective {
                best.chosen = found.choices.iter().map(|c| c.candidate).collect();
                best.partition = found.partition;
                best.centres = found.centres;
                best.objective = found.objective;
                best.swaps_accepted += 1;
                values = self.values(best);
            }
            tick();
        }
    }

    /// Step (III) and means in turn, from `centres`, until the objective no longer falls.
    fn descend(&self, selector: &mut Selector<'_>, mut centres: Points) -> State {
        let q = centres.features();
        let mut best = self.state(selector.select(&centres).0.to_vec());
        for _ in 0..DESCENT {
            // A centre without objects stays where it was: it may win some back.
            let mut values = centres.values().to_vec();
            for (choice, &l) in best.choices.iter().zip(best.partition.labels()) {
                let old = choice.centre as usize;
                values[old * q..(old + 1) * q].copy_from_slice(best.centres.row(l as usize));
            }
            centres = Points::trusted(values, q);
            let state = self.state(selector.select(&centres).0.to_vec());
            if state.objective >= best.objective {
                break;
            }
            best = state;
        }
        best
    }

    /// What each object adds to the objective.
    fn values(&self, of: &Clustering) -> Vec<f64> {
        let points = self.candidates.chosen(&of.chosen);
        (0..points.len())
            .map(|i| {
                let centre = of.centres.row(of.partition.labels()[i] as usize);
                let squared = crate::points::squared_distance(points.row(i), centre);
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
