//! The runs of the experiments: GOC with one oracle on one set, its baseline, and its convergence.

use std::time::Instant;

use goc::baselines::uk_means::uk_means;
use goc::metrics::{Convergence, Scores};
use goc::optimistic::{Clustering, Optimistic, Preset, Termination};
use goc_pipeline::keep::{Keep, piece};
use rayon::prelude::*;

use crate::cells::{CELLS, Cell};
use crate::{FirstLabels, PaperError, PaperOracle, Set};

/// Maximum number of iterations; the authors' cap is 50, and cycles are found long before this.
const MAX_ITERATIONS: usize = 200;

/// Which of the paper's cells are run, and how.
#[derive(Debug)]
pub struct Plan {
    /// Choices of the paper, or of the authors' code.
    pub preset: Preset,
    /// Runs of every cell and set with different seeds; deterministic oracles run once.
    pub seeds: u64,
    /// Only the cells of these oracles; `None` for all cells.
    pub oracles: Option<Vec<PaperOracle>>,
    /// Initial labels to use instead of a first clustering.
    pub first: Option<FirstLabels>,
}

/// The result of one run.
#[derive(Debug)]
pub struct Outcome {
    pub(crate) cell: &'static Cell,
    /// The number of the data set.
    pub(crate) set: usize,
    pub(crate) seed: u64,
    pub(crate) scores: Scores,
    pub(crate) k: usize,
    pub(crate) iterations: usize,
    pub(crate) termination: Termination,
    pub(crate) objective: f64,
    pub(crate) baseline: Scores,
    pub(crate) baseline_k: usize,
    pub(crate) seconds: f64,
    /// eta1, eta2, eta3, NMI and K, before the first iteration and after each.
    pub(crate) convergence: Vec<Step>,
}

/// The state after an iteration, compared with the final one.
#[derive(Debug)]
pub(crate) struct Step {
    pub eta: Convergence,
    pub nmi: f64,
    pub k: usize,
    /// Fraction of objects that kept their candidate; `None` before the second iteration.
    pub kept: Option<f64>,
}

impl Outcome {
    /// Whether the run ended in a cycle.
    pub fn cycles(&self) -> bool {
        matches!(self.termination, Termination::Cycle { .. })
    }
}

impl Plan {
    fn jobs<'s>(&self, sets: &'s [Set]) -> Vec<(&'static Cell, &'s Set, u64)> {
        CELLS
            .iter()
            .filter(|cell| self.oracles.as_ref().is_none_or(|only| only.contains(&cell.oracle)))
            .flat_map(|cell| sets.iter().map(move |set| (cell, set)))
            .flat_map(|(cell, set)| {
                // A deterministic oracle would repeat the same result.
                let seeds = if cell.oracle.draws() { self.seeds } else { 1 };
                (1..=seeds).map(move |seed| (cell, set, seed))
            })
            .collect()
    }

    /// The number of runs on these sets.
    pub fn runs(&self, sets: &[Set]) -> usize {
        self.jobs(sets).len()
    }

    /// Runs all of them, by cell, set and seed; `tick` is called after each. Each is saved, or read
    /// back if it was saved before.
    pub fn run(
        &self,
        sets: &[Set],
        keep: Option<&dyn Keep>,
        tick: &(dyn Fn() + Sync),
    ) -> Result<Vec<Outcome>, PaperError> {
        let one = |(cell, set, seed): (&'static Cell, &Set, u64)| {
            let Cell { oracle, lambda, k, .. } = cell;
            let name = format!("{oracle}.lambda-{lambda}.k-{k}.set-{}.seed-{seed}", set.id);
            let make = || self.one(cell, set, seed);
            let outcome =
                piece(keep, &name, make, Outcome::written, |kept| Outcome::read(kept, cell, set.id, seed));
            tick();
            outcome
        };
        self.jobs(sets).into_par_iter().map(one).collect()
    }

    fn one(&self, cell: &'static Cell, set: &Set, seed: u64) -> Result<Outcome, PaperError> {
        let oracle = cell.oracle.build();
        let mut goc =
            Optimistic::preset(self.preset, cell.k).lambda(cell.lambda).max_iterations(MAX_ITERATIONS);
        if let Some(first) = &self.first {
            goc = goc.initial_labels(first.of(cell, set.id)?);
        }
        let began = Instant::now();
        let found = goc.check(&set.candidates)?.run(oracle.as_ref(), seed)?;
        let seconds = began.elapsed().as_secs_f64();
        // With the sets' means as first representatives the first clustering is the baseline itself.
        let baseline = match self.preset {
            Preset::Authors => found.first.1.clone(),
            _ => uk_means(&set.candidates, oracle.as_ref(), cell.k, seed)?.0,
        };
        Ok(Outcome {
            cell,
            set: set.id,
            seed,
            scores: Scores::of(found.partition.labels(), &set.truth)?,
            k: found.partition.k(),
            iterations: found.iterations,
            termination: found.termination,
            objective: found.objective,
            baseline: Scores::of(baseline.labels(), &set.truth)?,
            baseline_k: baseline.k(),
            seconds,
            convergence: convergence(set, &found, self.preset)?,
        })
    }
}

/// The states after each iteration. The paper's labels at `t` are those of step (III); the authors'
/// script takes those of the k-means that follows, so with their preset this does too.
fn convergence(set: &Set, found: &Clustering, preset: Preset) -> Result<Vec<Step>, PaperError> {
    let last = (found.partition.labels(), &set.candidates.chosen(&found.chosen));
    let n = set.candidates.objects() as f64;
    let step = |labels: &[u32], points: &goc::Points, kept: Option<f64>| -> Result<Step, PaperError> {
        Ok(Step {
            eta: Convergence::of((labels, points), last, Some(&set.truth))?,
            nmi: goc::metrics::nmi(labels, &set.truth)?,
            k: goc::Partition::from_labels(labels).k(),
            kept,
        })
    };
    let mut steps = vec![step(found.first.1.labels(), &found.first.0, None)?];
    for (t, iteration) in found.history.iter().enumerate() {
        let kept = (t > 0).then(|| 1.0 - iteration.changed as f64 / n);
        let labels = match (preset, found.history.get(t + 1)) {
            (Preset::Authors, Some(next)) => &next.oracle_labels,
            _ => &iteration.labels,
        };
        steps.push(step(labels, &set.candidates.chosen(&iteration.chosen), kept)?);
    }
    Ok(steps)
}
