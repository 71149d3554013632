//! How sure the labels are: stability, significance and noise, as flags, columns and a table of the clusters.
//!
//! The method that made the labels is repeated with its own flags, silently; [`goc::confidence`] does the rest and docs/confidence.md says
//! how to read it.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use goc::confidence::noise::{self, ODDS, SOLITUDE};
use goc::confidence::{
    Background, ConfidenceError, Repeats, Significance, Stability, Verdict, cluster_summary,
};
use goc::oracle::k_means::means;
use goc::scale::Scaler;
use goc::{Candidates, Partition, Points};
use goc_tables::{Column, Data, Table};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::auto::Wish;
use super::method::MethodArgs;
use super::posterior::input_units;
use super::solve::Answer;
use crate::choices::{MethodName, at_least_one};
use crate::fail::Fail;
use crate::long_table::LongTable;
use crate::screen;

/// Runs on backgrounds when `--noise` needs them and none are asked for.
const RUNS: usize = 20;

/// What is asked about the labels.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How sure")]
pub struct SureArgs {
    /// Stability of objects and clusters: repeat the method N times each with other seeds, resampled candidates and resampled
    /// objects
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    stability: Option<usize>,

    /// Significance of clusters: p and q from N runs of the method on backgrounds without groups
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    significance: Option<usize>,

    /// How a background without groups is made
    #[arg(long, value_enum, default_value_t = BackgroundName::Smooth)]
    background: BackgroundName,

    /// Label -1 for objects in no group: by the posterior for --method marginal, by significance for others, by both where
    /// --significance is given
    #[arg(long)]
    noise: bool,

    /// False-discovery rate at which a cluster is significant
    #[arg(long, value_name = "Q", default_value_t = 0.05)]
    fdr: f64,

    /// Also write a table with a row a cluster: label, size, centre, spread, and how sure it is
    #[arg(long, value_name = "FILE")]
    clusters: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BackgroundName {
    /// Places blurred, near where they were
    Smooth,
    /// Uncorrelated combinations of features permuted among the objects
    Shuffled,
}

/// What is known about the clusters as the method found them, before any object was called noise.
pub struct Sure {
    found: Partition,
    stability: Option<Stability>,
    verdict: Option<Verdict>,
    solitude: Vec<f64>,
    /// For people.
    remarks: Vec<String>,
}

impl SureArgs {
    /// What can be said before any table is read.
    pub fn check(&self, method: &MethodArgs, input: &Path) -> Result<(), Fail> {
        if !(self.fdr > 0.0 && self.fdr < 1.0) {
            return Err(Fail::usage(format!("--fdr {} must be above 0 and below 1", self.fdr)));
        }
        if self.repeats(method) && method.init_labels.is_some() {
            return Err(Fail::usage(
                "--stability, --significance and --noise repeat the method on other objects; leave out --init-labels",
            ));
        }
        screen::check_output_of(input, self.clusters.as_deref())
    }

    /// Where the table of clusters goes.
    pub fn clusters(&self) -> &Option<PathBuf> {
        &self.clusters
    }

    /// Whether objects may become noise.
    pub fn noise(&self) -> bool {
        self.noise
    }

    /// The method as it is run, told whether many objects are expected to be in no group.
    pub fn method(&self, method: &MethodArgs) -> MethodArgs {
        MethodArgs { expects_noise: self.noise, ..method.clone() }
    }

    fn runs(&self, by_posterior: bool) -> Option<usize> {
        self.significance.or((self.noise && !by_posterior).then_some(RUNS))
    }

    fn repeats(&self, method: &MethodArgs) -> bool {
        self.stability.is_some() || self.runs(method.method == MethodName::Marginal).is_some()
    }

    /// Judges the answer and, with `--noise`, changes it.
    pub fn judge(
        &self,
        method: &MethodArgs,
        candidates: &Candidates,
        answer: &mut Answer,
        seed: u64,
    ) -> Result<Sure, Fail> {
        let mut method = method.clone();
        method.quiet = true;
        let repeat = |candidates: &Candidates, seed: u64| {
            // The bootstrap has fewer objects than the method may have been asked for clusters.
            let k = match method.k {
                Some(Wish::Number(k)) => Some(Wish::Number(k.min(candidates.objects()))),
                other => other,
            };
            MethodArgs { k, ..method.clone() }.solve(candidates, seed, false).map(|answer| answer.partition)
        };
        let found = answer.partition.clone();
        let stability = match self.stability {
            Some(each) => {
                let repeats = Repeats::each(each);
                let bar = screen::progress(repeats.total() as u64, "repeats");
                let judged =
                    repeats.judge(candidates, &found, seed, &repeat, &|| bar.inc(1)).map_err(told)?;
                bar.finish_and_clear();
                Some(judged)
            }
            None => None,
        };
        let solitude = std::mem::take(&mut answer.solitude);
        let verdict = match self.runs(!solitude.is_empty()) {
            Some(runs) => {
                let background = match self.background {
                    BackgroundName::Smooth => Background::default(),
                    BackgroundName::Shuffled => Background::Shuffled,
                };
                let bar = screen::progress(runs as u64, "backgrounds");
                let penalty_strength = method.strength();
                let test = Significance { runs, background, penalty_strength };
                let judged = test.judge(candidates, &found, seed, &repeat, &|| bar.inc(1)).map_err(told)?;
                bar.finish_and_clear();
                Some(judged)
            }
            None => None,
        };
        let mut sure = Sure { found, stability, verdict, solitude, remarks: Vec::new() };
        if let Some(verdict) = &sure.verdict {
            let significant = verdict.significant(self.fdr).into_iter().filter(|s| *s).count();
            sure.remarks.push(format!(
                "{significant} of {} significant at a false-discovery rate of {}, against {} in backgrounds",
                screen::counted(sure.found.k(), "cluster"),
                self.fdr,
                screen::counted(verdict.null_clusters, "cluster"),
            ));
            if significant == 0 && self.noise && answer.posterior.is_none() {
                let advice = "no cluster stands out from a background without groups; small groups are seldom significant by themselves: see \
                              --method marginal --noise";
                sure.remarks.push(advice.into());
            }
        }
        if self.noise {
            sure.set_noise(answer, self.fdr);
        }
        Ok(sure)
    }
}

impl Sure {
    fn set_noise(&mut self, answer: &mut Answer, rate: f64) {
        let n = self.found.len();
        let mut is_noise = if answer.noise.is_empty() { vec![false; n] } else { answer.noise.clone() };
        let mut reasons = Vec::new();
        let count = |noise: &[bool]| noise.iter().filter(|noise| **noise).count();
        let mut grouped = self.found.clone();
        if let Some(posterior) = &answer.posterior {
            let (regrouped, by) =
                noise::by_solitude(&self.found, &self.solitude, SOLITUDE, &posterior.together);
            reasons
                .push(format!("{} by the posterior (solitude above {SOLITUDE}, or left alone)", count(&by)));
            grouped = regrouped;
            is_noise = noise::either(&grouped, &is_noise, &by);
        }
        if let Some(verdict) = &self.verdict {
            let by = noise::by_significance(&self.found, verdict, rate, ODDS);
            reasons.push(format!(
                "{} by significance (cluster not significant, or log odds of the object below {ODDS})",
                count(&by)
            ));
            is_noise = noise::either(&grouped, &is_noise, &by);
        }
        self.remarks.push(format!("noise: {}", reasons.join("; ")));
        answer.partition = noise::set_apart(&grouped, &is_noise);
        if let Some(posterior) = &mut answer.posterior {
            (answer.confidence, posterior.runner_up) =
                noise::memberships(posterior, &answer.partition, &is_noise);
        }
        answer.centres = means(&answer.representatives, &answer.partition);
        answer.noise = is_noise;
    }

    /// For people.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// For machines.
    pub fn summary(&self) -> Vec<(&'static str, Value)> {
        let mean = |values: &[f64]| {
            let known: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
            if known.is_empty() { Value::Null } else { json!(known.iter().sum::<f64>() / known.len() as f64) }
        };
        let mut all = Vec::new();
        if let Some(stability) = &self.stability {
            all.push(("mean_stability", mean(&stability.objects)));
        }
        if let Some(verdict) = &self.verdict {
            all.push(("k_tested", json!(verdict.p.iter().filter(|p| p.is_finite()).count())));
            all.push(("null_clusters", json!(verdict.null_clusters)));
        }
        all
    }

    /// Columns for the label table: of the object, and of the cluster it was found in.
    pub fn columns(&self) -> Result<Vec<Column>, Fail> {
        let of_cluster = |values: &[f64]| -> Vec<f64> {
            self.found.labels().iter().map(|&label| values[label as usize]).collect()
        };
        let mut columns = Vec::new();
        if let Some(stability) = &self.stability {
            columns.push(known("stability", stability.objects.clone())?.with_description(
                "how many of the object's fellow members it keeps when the method is repeated, from 0 to 1",
            ));
            columns.push(known("cluster_stability", of_cluster(&stability.clusters))?.with_description(
                "how well its cluster comes back when the method is repeated, from 0 to 1",
            ));
        }
        if !self.solitude.is_empty() {
            columns.push(
                known("solitude", self.solitude.clone())?
                    .with_description("expected value of one over the size of the object's cluster"),
            );
        }
        if let Some(verdict) = &self.verdict {
            columns.push(
                known("log_odds", verdict.evidence.objects.clone())?.with_description(
                    "log odds of the object's cluster against the background; empty: alone",
                ),
            );
            columns.push(
                known("p_value", of_cluster(&verdict.p))?
                    .with_description("of its cluster, as it was found, against backgrounds without groups"),
            );
            columns.push(
                known("q_value", of_cluster(&verdict.q))?
                    .with_description("false-discovery rate at which its cluster is significant"),
            );
        }
        Ok(columns)
    }

    /// A row a cluster that is left.
    pub fn cluster_table(&self, input: &LongTable, answer: &Answer, scaler: &Scaler) -> Result<Table, Fail> {
        let (labels, sizes) = (answer.partition.labels(), answer.partition.sizes());
        let noise = |i: usize| answer.noise.get(i).copied().unwrap_or(false);
        // The first member of each cluster that is not noise tells where it was found.
        let mut first = vec![None; answer.partition.k()];
        for i in (0..labels.len()).rev().filter(|&i| !noise(i)) {
            first[labels[i] as usize] = Some(i);
        }
        let rows: Vec<(usize, usize)> =
            first.iter().enumerate().filter_map(|(c, first)| Some((c, (*first)?))).collect();
        let of_found = |values: &[f64]| -> Vec<f64> {
            rows.iter().map(|&(_, i)| values[self.found.labels()[i] as usize]).collect()
        };
        let mut columns = vec![
            Column::new("label", Data::I32(rows.iter().map(|row| row.0 as i32).collect()))
                .with_description("cluster, from 0"),
            Column::new("size", Data::I64(rows.iter().map(|row| sizes[row.0] as i64).collect()))
                .with_description("members"),
        ];
        // Both where people read them: a root that was taken of a feature is undone first.
        let centres = input_units(input, scaler, &answer.centres);
        let places = Points::from_rows(&input_units(input, scaler, &answer.representatives))
            .map_err(|e| Fail::failed(e.to_string()))?;
        let spreads = cluster_summary::spreads(&places, &answer.partition);
        for (f, (name, unit)) in input.features.iter().enumerate() {
            let with_unit = |column: Column| match unit {
                Some(unit) => column.with_unit(unit.clone()),
                None => column,
            };
            let centre = rows.iter().map(|row| centres[row.0][f]).collect();
            columns.push(with_unit(Column::new(name.clone(), Data::F64(centre)).with_description("centre")));
            let spread = rows.iter().map(|row| spreads.row(row.0)[f]).collect();
            columns.push(with_unit(
                Column::new(format!("{name}_spread"), Data::F64(spread))
                    .with_description("standard deviation of the members' places"),
            ));
        }
        if let Some(stability) = &self.stability {
            columns.push(
                known("stability", of_found(&stability.clusters))?
                    .with_description("mean agreement with the best match in repeats, from 0 to 1"),
            );
            for (kind, name) in
                ["stability_seeds", "stability_candidates", "stability_objects"].into_iter().enumerate()
            {
                let values: Vec<f64> = stability.by_kind.iter().map(|kinds| kinds[kind]).collect();
                columns.push(known(name, of_found(&values))?);
            }
        }
        if let Some(verdict) = &self.verdict {
            columns.push(
                known("evidence", of_found(&verdict.evidence.clusters))?
                    .with_description("median of the members' log odds against the background"),
            );
            columns.push(known("p_value", of_found(&verdict.p))?);
            columns.push(
                known("q_value", of_found(&verdict.q))?
                    .with_description("false-discovery rate at which the cluster is significant"),
            );
        }
        if !answer.confidence.is_empty() {
            let mean = cluster_summary::cluster_means(&answer.confidence, &answer.partition);
            columns.push(
                known("probability", rows.iter().map(|row| mean[row.0]).collect())?
                    .with_description("mean of the members' probabilities"),
            );
        }
        Ok(Table::new(columns)?)
    }
}

/// Numbers, null where they are not finite.
fn known(name: &str, values: Vec<f64>) -> Result<Column, Fail> {
    let valid: Vec<bool> = values.iter().map(|v| v.is_finite()).collect();
    let values = values.into_iter().map(|v| if v.is_finite() { v } else { f64::NAN }).collect();
    let column = Column::new(name, Data::F64(values));
    Ok(if valid.contains(&false) { column.with_valid(valid)? } else { column })
}

/// A repeat that failed, in one line.
fn told(error: ConfidenceError<Fail>) -> Fail {
    Fail::failed(error.to_string())
}

impl MethodArgs {
    /// The bar, or a hidden one while repeats run side by side and have a bar of their own.
    pub(super) fn shown(&self, bar: ProgressBar) -> ProgressBar {
        if self.quiet { ProgressBar::hidden() } else { bar }
    }
}
