//! One run of an experiment: GOC with one oracle on one set, its baseline, and how it converged.

use std::time::Instant;

use goc::baselines::uk_means::uk_means;
use goc::metrics::{Convergence, Scores};
use goc::optimistic::{Clustering, Optimistic, Preset, Termination};
use goc::oracle::Oracle;
use goc::oracle::gmm_diag::GmmDiag;

use super::paper::Cell;
use super::sets::{FirstLabels, Set};
use goc_pipeline::{OracleName, Settings};
use crate::fail::Fail;

/// What one run gave.
pub struct Outcome {
    /// Which cell, by its place in the paper's list.
    pub cell: usize,
    pub set: usize,
    pub seed: u64,
    pub scores: Scores,
    pub k: usize,
    pub iterations: usize,
    pub termination: Termination,
    pub objective: f64,
    pub baseline: Scores,
    pub baseline_k: usize,
    pub seconds: f64,
    /// eta1, eta2, eta3, NMI and K, before the first iteration and after each.
    pub convergence: Vec<Step>,
}

/// The state after an iteration, compared with the final one.
pub struct Step {
    pub eta: Convergence,
    pub nmi: f64,
    pub k: usize,
    /// Share of objects that kept their candidate; none before there were two.
    pub kept: Option<f64>,
}

/// Iterations at most; the authors' cap is 50, and cycles are found long before this.
const MAX_ITERATIONS: usize = 200;

/// The seed of the paper's mixture: `ClusterR::GMM` sets it itself, to 1 unless told.
const CLUSTER_R_SEED: i32 = 1;

/// The oracle as the paper used it. The draw behind its mixture is known, so that one is made here too.
fn oracle_of(name: OracleName) -> Box<dyn Oracle> {
    match name {
        OracleName::GmmDiag => Box::new(GmmDiag::cluster_r(CLUSTER_R_SEED)),
        other => Settings { oracle: other, ..Settings::default() }.oracle(),
    }
}

/// Whether runs with [`oracle_of`] depend on the seed.
pub fn draws(name: OracleName) -> bool {
    name.draws() && name != OracleName::GmmDiag
}

pub fn run(
    (at, cell): (usize, &Cell),
    set: &Set,
    seed: u64,
    preset: Preset,
    first: Option<&FirstLabels>,
) -> Result<Outcome, Fail> {
    let oracle = oracle_of(cell.oracle);
    let mut goc = Optimistic::preset(preset, cell.k).lambda(cell.lambda).max_iterations(MAX_ITERATIONS);
    if let Some(first) = first {
        goc = goc.initial_labels(first.of(cell.oracle, cell.k, set.id)?);
    }
    let began = Instant::now();
    let found = goc.check(&set.candidates)?.run(oracle.as_ref(), seed)?;
    let seconds = began.elapsed().as_secs_f64();
    // With the sets' means as first representatives the first clustering is the baseline itself.
    let baseline = match preset {
        Preset::Authors => found.first.1.clone(),
        _ => uk_means(&set.candidates, oracle.as_ref(), cell.k, seed)?.0,
    };
    Ok(Outcome {
        cell: at,
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
        convergence: convergence(set, &found, preset)?,
    })
}

/// The states after each iteration. The paper's labels at `t` are those of step (III); the authors' script takes those
/// of the k-means that follows, so with their preset this does too.
fn convergence(set: &Set, found: &Clustering, preset: Preset) -> Result<Vec<Step>, Fail> {
    let last = (found.partition.labels(), &set.candidates.chosen(&found.chosen));
    let n = set.candidates.objects() as f64;
    let step = |labels: &[u32], points: &goc::Points, kept: Option<f64>| -> Result<Step, Fail> {
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
