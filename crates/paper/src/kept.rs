//! Runs that are saved in a checkpoint, and the identity of such a checkpoint.

use std::path::Path;

use goc::metrics::Convergence;
use goc::optimistic::Termination;
use goc_pipeline::checkpoint::{Checkpoint, digest, digest_of};
use goc_pipeline::keep::{real, scores, to_count, to_real, to_scores};
use serde_json::{Value, json};

use crate::cells::Cell;
use crate::run::{Outcome, Plan, Step};
use crate::{PaperError, Set};

impl Plan {
    /// Opens a folder for the runs of this plan. The names of the runs contain oracles and seeds,
    /// so a plan with more of them reuses the existing runs.
    pub fn checkpoint(&self, folder: &Path, sets: &[Set]) -> Result<Checkpoint, PaperError> {
        let truth = sets.iter().flat_map(|set| set.truth.iter().map(|group| group.to_le_bytes()));
        let first = self.first.as_ref().map_or_else(|| "none".to_string(), |first| first.digest());
        let identity = [
            ("preset", goc::choice::Choice::word(self.preset).to_string()),
            ("candidates", digest(sets.iter().map(|set| &set.candidates))),
            ("truth", digest_of(truth)),
            ("init_labels", first),
        ];
        Ok(Checkpoint::open(folder, "reproduce", &identity)?)
    }
}

impl Outcome {
    pub(crate) fn written(&self) -> Value {
        json!({
            "scores": scores(&self.scores),
            "k": self.k,
            "iterations": self.iterations,
            "termination": termination(self.termination),
            "objective": real(self.objective),
            "baseline": scores(&self.baseline),
            "baseline_k": self.baseline_k,
            "seconds": real(self.seconds),
            "convergence": self.convergence.iter().map(Step::written).collect::<Vec<_>>(),
        })
    }

    pub(crate) fn read(kept: &Value, cell: &'static Cell, set: usize, seed: u64) -> Option<Self> {
        Some(Self {
            cell,
            set,
            seed,
            scores: to_scores(kept.get("scores")?)?,
            k: to_count(kept.get("k")?)?,
            iterations: to_count(kept.get("iterations")?)?,
            termination: to_termination(kept.get("termination")?)?,
            objective: to_real(kept.get("objective")?)?,
            baseline: to_scores(kept.get("baseline")?)?,
            baseline_k: to_count(kept.get("baseline_k")?)?,
            seconds: to_real(kept.get("seconds")?)?,
            convergence: kept
                .get("convergence")?
                .as_array()?
                .iter()
                .map(Step::read)
                .collect::<Option<Vec<Step>>>()?,
        })
    }
}

impl Step {
    fn written(&self) -> Value {
        let Convergence { eta1, eta2, eta3 } = self.eta;
        json!([real(eta1), real(eta2), eta3.map(real), real(self.nmi), self.k, self.kept.map(real)])
    }

    fn read(kept: &Value) -> Option<Self> {
        let [eta1, eta2, eta3, nmi, k, share] = &kept.as_array()?[..] else { return None };
        Some(Self {
            eta: Convergence { eta1: to_real(eta1)?, eta2: to_real(eta2)?, eta3: optional(eta3)? },
            nmi: to_real(nmi)?,
            k: to_count(k)?,
            kept: optional(share)?,
        })
    }
}

/// An optional number; `None` for anything else.
fn optional(kept: &Value) -> Option<Option<f64>> {
    if kept.is_null() { Some(None) } else { to_real(kept).map(Some) }
}

/// A cycle by its length, the other endings by their names.
fn termination(of: Termination) -> Value {
    match of {
        Termination::Converged => json!("converged"),
        Termination::Tolerance => json!("tolerance"),
        Termination::Cycle { period } => json!(period),
        _ => json!("iterations"),
    }
}

fn to_termination(kept: &Value) -> Option<Termination> {
    Some(match kept.as_str() {
        None => Termination::Cycle { period: to_count(kept)? },
        Some("converged") => Termination::Converged,
        Some("tolerance") => Termination::Tolerance,
        Some("iterations") => Termination::Iterations,
        Some(_) => return None,
    })
}
