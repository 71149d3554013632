//! How reliable the labels are: stability, significance, and which objects are in no group.
//!
//! The method that produced the labels is repeated silently with the same settings.
//! [`goc::confidence`] does the rest, and docs/explanation/confidence.md explains how to read the
//! results.

use goc::confidence::noise::{self, ODDS};
use goc::confidence::{Repeats, Significance};
use goc::oracle::k_means::means;
use goc::{Candidates, Partition};
use serde_json::{Value, json};

use crate::error::Result;
use crate::fit::{Fit, Job};
use crate::keep::piece;
use crate::settings::{Auto, Settings};
use crate::watch::Quiet;

/// Judges the result and, if noise is requested, changes it.
pub(crate) fn judge(fit: &mut Fit, job: &Job<'_>) -> Result<()> {
    let settings = fit.settings.clone();
    let quiet = Job { watch: &Quiet(job.watch), weights: None, ..*job };
    let repeat = |candidates: &Candidates, seed: u64| -> Result<Partition> {
        // A bootstrap sample may have fewer objects than the number of clusters requested.
        let k = match settings.k {
            Some(Auto::Number(k)) => Some(Auto::Number(k.min(candidates.objects()))),
            other => other,
        };
        let settings = Settings { k, ..settings.clone() };
        // The seed of each repeat depends only on its number.
        let (name, n) = (format!("repeat-{seed:016x}"), candidates.objects());
        let make = || quiet.with(&settings).group(candidates, seed).map(|found| found.partition);
        piece(job.keep, &name, make, |found| json!(found.labels()), |kept| labels(kept, n))
    };
    let candidates = &fit.prepared.data.candidates;
    let tick = || job.watch.tick();
    if settings.is_repeated() && job.weights.is_some() {
        return Err(usage!("{{stability}}, {{significance}} and {{noise}} do not work with object weights"));
    }
    if let Some(each) = settings.stability {
        let repeats = Repeats::each(each);
        job.watch.begin("repeats", Some(repeats.total() as u64));
        let judged = repeats.judge(candidates, &fit.found, fit.seed, &repeat, &tick);
        job.watch.end();
        fit.stability = Some(judged?);
    }
    let strength = settings.penalty_strength.unwrap_or(goc::candidates::PENALTY_STRENGTH);
    if let Some(runs) = settings.background_runs() {
        job.watch.begin("backgrounds", Some(runs as u64));
        let test =
            Significance { runs, background: settings.background.background(), penalty_strength: strength };
        let judged = test.judge(candidates, &fit.found, fit.seed, &repeat, &tick);
        job.watch.end();
        let verdict = judged?;
        let significant = verdict.significant(settings.fdr).into_iter().filter(|s| *s).count();
        fit.remarks.push(format!(
            "{significant} of {} significant at a false-discovery rate of {}, against {} in backgrounds",
            counted(fit.found.k(), "cluster"),
            settings.fdr,
            counted(verdict.null_clusters, "cluster"),
        ));
        if significant == 0 && settings.noise && fit.grouped.posterior.is_none() {
            fit.remarks.push(
                "no cluster stands out from a background without groups; small groups are seldom significant by themselves: see \
                 {method} marginal"
                    .into(),
            );
        }
        fit.significance = Some(verdict);
    }
    if settings.noise {
        set_noise(fit);
    }
    Ok(())
}

/// The partition of `n` objects that was kept.
fn labels(kept: &Value, n: usize) -> Option<Partition> {
    let label = |value: &Value| value.as_u64().and_then(|label| u32::try_from(label).ok());
    let labels = kept.as_array()?.iter().map(label).collect::<Option<Vec<u32>>>()?;
    (labels.len() == n).then(|| Partition::from_labels(&labels))
}

/// Removes the objects that are in no significant cluster.
fn set_noise(fit: &mut Fit) {
    let Some(verdict) = &fit.significance else { return };
    let by = noise::by_significance(&fit.found, verdict, fit.settings.fdr, ODDS);
    let many = by.iter().filter(|noise| **noise).count();
    fit.remarks.push(format!(
        "noise: {many} by significance (cluster not significant, or log odds of the object below {ODDS})"
    ));
    let grouped = &mut fit.grouped;
    let is_noise = match grouped.noise.is_empty() {
        true => by,
        false => noise::either(&fit.found, &grouped.noise, &by),
    };
    grouped.partition = noise::set_apart(&fit.found, &is_noise);
    if let Some(posterior) = &mut grouped.posterior {
        (grouped.confidence, posterior.runner_up) =
            noise::memberships(posterior, &grouped.partition, &is_noise);
    }
    fit.centres = means(&fit.places, &grouped.partition);
    grouped.noise = is_noise;
}

/// "1 cluster", "2 clusters".
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
