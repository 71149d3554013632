//! Discussion 1 of the paper: affinity propagation on distances between the sets.
//!
//! The paper's third distance is called the Hausdorff distance but is not; the true one has its own
//! rows.

use goc::baselines::clusterer::Clusterer;
use goc::metrics::Scores;
use goc::oracle::affinity::{Affinity, Preference};
use goc::set_distance::SetDistance::{self, Hausdorff, Mean, Min, MinMax};
use goc::set_distance::all_four;
use goc_pipeline::keep::{self, Keep, piece};
use rayon::prelude::*;
use serde_json::{Value as Json, json};

use crate::tables::{Block, Row, Value};
use crate::{PaperError, Set};

/// The rows of the paper's table by distance and quantile; NMI, F and clusters, each as mean and
/// deviation over its ten sets.
#[rustfmt::skip]
const ROWS: [(SetDistance, f64, Option<[f64; 6]>); 12] = [
    (Mean, 0.5, Some([0.801, 0.022, 0.566, 0.035, 23.5, 2.80])),
    (Mean, 0.7, Some([0.825, 0.022, 0.623, 0.035, 30.6, 2.95])),
    (Mean, 0.9, Some([0.848, 0.024, 0.680, 0.046, 55.0, 4.83])),
    (Min, 0.5, Some([0.751, 0.048, 0.488, 0.074, 17.0, 3.50])),
    (Min, 0.7, Some([0.793, 0.029, 0.558, 0.052, 20.7, 3.20])),
    (Min, 0.9, Some([0.863, 0.026, 0.717, 0.048, 33.0, 2.71])),
    (MinMax, 0.5, Some([0.745, 0.030, 0.500, 0.047, 27.6, 5.08])),
    (MinMax, 0.7, Some([0.772, 0.025, 0.553, 0.039, 38.7, 6.11])),
    (MinMax, 0.9, Some([0.816, 0.016, 0.617, 0.028, 74.9, 7.48])),
    (Hausdorff, 0.5, None),
    (Hausdorff, 0.7, None),
    (Hausdorff, 0.9, None),
];

/// The quantities of the table and the digits they are printed with.
const QUANTITIES: [(&str, usize); 3] = [("NMI", 3), ("F", 3), ("clusters", 1)];

/// The result of one run of affinity propagation.
#[derive(Debug)]
pub struct AffinityOutcome {
    row: usize,
    values: [f64; QUANTITIES.len()],
    converged: bool,
}

/// The rows of a set as JSON, to be saved.
fn written(rows: &[AffinityOutcome]) -> Json {
    rows.iter().map(|row| json!([row.row, row.values.map(keep::real), row.converged])).collect()
}

/// Reads rows that were saved.
fn read(kept: &Json) -> Option<Vec<AffinityOutcome>> {
    let row = |kept: &Json| {
        let values = kept.get(1)?.as_array()?.iter().map(keep::to_real).collect::<Option<Vec<f64>>>()?;
        let row = keep::to_count(kept.get(0)?).filter(|&row| row < ROWS.len())?;
        Some(AffinityOutcome { row, values: values.try_into().ok()?, converged: kept.get(2)?.as_bool()? })
    };
    kept.as_array()?.iter().map(row).collect()
}

/// All rows on all sets; `tick` is called after each set. Finished sets are saved, or read back if
/// they were saved before.
pub fn affinity(
    sets: &[Set],
    keep: Option<&dyn Keep>,
    tick: &(dyn Fn() + Sync),
) -> Result<Vec<AffinityOutcome>, PaperError> {
    let of_set = |set: &Set| -> Result<Vec<AffinityOutcome>, PaperError> {
        let distances = all_four(&set.candidates).map_err(PaperError::making)?;
        let outcome = |(row, (distance, quantile, _)): (usize, &(SetDistance, f64, _))| {
            let affinity = Affinity::default().preference(Preference::Quantile(*quantile));
            let found = Clusterer::Affinity(affinity).group(distances.get(*distance).clone(), 1)?;
            let scores = Scores::of(found.partition.labels(), &set.truth)?;
            let values = [scores.nmi, scores.f, found.partition.k() as f64];
            Ok(AffinityOutcome { row, values, converged: found.converged })
        };
        ROWS.iter().enumerate().map(outcome).collect()
    };
    let of_set = |set: &Set| {
        let name = format!("affinity.set-{}", set.id);
        let outcomes = piece(keep, &name, || of_set(set), |made| written(made), read);
        tick();
        outcomes
    };
    Ok(sets.par_iter().map(of_set).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// The table of Discussion 1.
pub(crate) fn block(outcomes: &[AffinityOutcome]) -> Block {
    let row = |(at, (distance, quantile, paper)): (usize, &(SetDistance, f64, Option<[f64; 6]>))| {
        let runs: Vec<&AffinityOutcome> = outcomes.iter().filter(|o| o.row == at).collect();
        let value = |(v, (name, digits)): (usize, (&'static str, usize))| {
            let paper = paper.map(|paper| (paper[2 * v], paper[2 * v + 1]));
            Value::new(name, digits, runs.iter().map(|run| run.values[v]), paper)
        };
        Row {
            keys: vec![distance.name().to_string(), quantile.to_string()],
            csv: format!("affinity {} q={quantile},,", distance.name()),
            values: QUANTITIES.into_iter().enumerate().map(value).collect(),
            counted: runs.iter().filter(|run| run.converged).count(),
            runs: runs.len(),
        }
    };
    Block {
        title: "Discussion 1: affinity propagation on distances between sets",
        keys: &["distance", "q"],
        counted: "converged",
        rows: ROWS.iter().enumerate().map(row).collect(),
    }
}
