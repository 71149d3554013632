//! What a clustering gives to people, machines and files: a sentence, a summary, the label table, history and trace.

use std::path::Path;
use std::time::Instant;

use goc::metrics::Scores;
use goc::optimistic::hierarchy::{Height, Hierarchy, Leaves};
use goc::points::squared_distance;
use goc::scale::Scaler;
use goc::{Candidates, Ids};
use goc_tables::{Column, Data, Table};
use serde_json::{Value, json};

use super::auto::Found;
use super::method::MethodArgs;
use super::posterior::{MEAN_FEATURES, certainty_columns, findings, input_units, mean_features};
use super::solve::Answer;
use super::sure::{Sure, SureArgs};
use crate::choices::{KRuleName, MethodName, typed};
use crate::fail::Fail;
use crate::long_table::{DROPPED_BETWEEN, DROPPED_KEY, FEATURES_KEY, LongTable, scores_of};
use crate::screen;

/// Metadata key of the way the objective went: for each iteration K, the objective, the objects that changed.
pub const HISTORY_KEY: &str = "goc_history";

/// The label of an object in no cluster.
pub const NOISE: i32 = -1;

/// A table of candidates, clustered.
pub struct Clustered {
    /// The candidates in scaled features.
    pub input: LongTable,
    pub answer: Answer,
    pub(super) scaler: Scaler,
    scores: Option<Scores>,
    seconds: f64,
    sure: Option<Sure>,
    settings: Vec<(&'static str, Value)>,
    preset: String,
    constant_k: bool,
    /// K falls because clusters are given up, as GOC does it; other methods find their own.
    falls: bool,
    why: WhyFewer,
    /// K and lambda where they were to be found.
    pub auto: Found,
    /// With numbers in place of wishes.
    pub(super) method: MethodArgs,
}

/// Why there are fewer clusters than asked for.
#[derive(Clone, Copy)]
enum WhyFewer {
    Oracle,
    Emptied,
    Single,
}

impl Clustered {
    /// Scales the candidates, runs the method, scores against the truth if there is one.
    pub fn new(method: &MethodArgs, input: LongTable, seed: u64, trace: bool) -> Result<Self, Fail> {
        let began = Instant::now();
        let scaler =
            Scaler::fit(method.scaling(), &input.candidates).map_err(|e| Fail::failed(e.to_string()))?;
        for &f in scaler.constant_features() {
            screen::note(format!(
                "feature {} is the same everywhere; it is centred, not scaled",
                input.features[f].0
            ));
        }
        if method.method == MethodName::Marginal || input.mapped.contains(&true) {
            let features = input.taken_features().join(", ");
            screen::note(format!("clustered by {features}; scaling {}", method.scaling()));
        }
        if method.method == MethodName::Marginal && input.counts_errors_twice() {
            screen::note(
                "the candidates were drawn from the errors, and their penalties weigh them by the errors once more: say --penalty none",
            );
        }
        let input = input.scaled(&scaler, method.penalty_scale);
        let asked = method;
        let (method, auto) = asked.with_strength(&input).resolved(&input.candidates, seed)?;
        let answer = method.solve(&input.candidates, seed, trace)?;
        let seconds = began.elapsed().as_secs_f64();
        let scores = match &input.truth {
            Some(truth) => scores_of(answer.partition.labels(), truth)?,
            None => None,
        };
        let mut unused = asked.unused_flags();
        unused.retain(|flag| *flag != "--strength" || input.weight.is_none());
        if !unused.is_empty() {
            screen::note(format!("not used by --method {}: {}", typed(method.method), unused.join(", ")));
        }
        let mut settings = method.settings(seed);
        settings.push(("feature_map", json!(input.map_name())));
        if let Some(column) = &input.weight {
            settings.push(("weight", json!(column)));
        }
        Ok(Self {
            settings: {
                // What was asked takes the place of what came of it.
                let found = auto.settings();
                settings.retain(|(key, _)| found.iter().all(|(other, _)| other != key));
                settings.into_iter().chain(found).collect()
            },
            auto,
            preset: typed(method.preset),
            constant_k: method.k_rule == Some(KRuleName::Constant),
            falls: matches!(
                method.method,
                MethodName::Goc
                    | MethodName::Gpc
                    | MethodName::GocHull
                    | MethodName::GocBox
                    | MethodName::GocTree
            ),
            why: match (method.oracle.finds_k(), method.drops_single()) {
                (true, _) => WhyFewer::Oracle,
                (_, true) => WhyFewer::Single,
                _ => WhyFewer::Emptied,
            },
            input,
            answer,
            scaler,
            scores,
            seconds,
            sure: None,
            method,
        })
    }

    /// Asks how sure the labels are; `--noise` changes them and the scores.
    pub fn judged(mut self, sure: &SureArgs, seed: u64) -> Result<Self, Fail> {
        let began = Instant::now();
        self.sure = Some(sure.judge(&self.method, &self.input.candidates, &mut self.answer, seed)?);
        if let Some(truth) = &self.input.truth {
            self.scores = scores_of(self.answer.partition.labels(), truth)?;
        }
        self.seconds += began.elapsed().as_secs_f64();
        Ok(self)
    }

    /// A row a cluster.
    pub fn cluster_table(&self) -> Result<Option<Table>, Fail> {
        let Some(sure) = &self.sure else { return Ok(None) };
        sure.cluster_table(&self.input, &self.answer, &self.scaler).map(Some)
    }

    /// The label table: a row an object.
    pub fn label_table(&self) -> Result<Table, Fail> {
        let (input, answer) = (&self.input, &self.answer);
        let candidates = &input.candidates;
        let n = candidates.objects();
        let is_noise = |i: usize| answer.noise.get(i).copied().unwrap_or(false);
        let distance: Vec<f64> = (0..n)
            .map(|i| {
                if is_noise(i) {
                    return f64::NAN;
                }
                let centre = answer.centres.row(answer.partition.labels()[i] as usize);
                squared_distance(answer.representatives.row(i), centre).sqrt()
            })
            .collect();
        let labels =
            (0..n).map(|i| if is_noise(i) { NOISE } else { answer.partition.labels()[i] as i32 }).collect();
        let meaning =
            if answer.noise.is_empty() { "cluster, from 0" } else { "cluster, from 0; -1: in no cluster" };
        let mut columns =
            vec![input.object_column(), Column::new("label", Data::I32(labels)).with_description(meaning)];
        if let Some(p) = &answer.posterior {
            columns.extend(certainty_columns(answer.confidence.clone(), &p.runner_up, p.alone.clone())?);
        } else if !answer.confidence.is_empty() {
            columns.push(
                Column::new("probability", Data::F64(answer.confidence.clone()))
                    .with_description("how sure the method is of the label, from 0 to 1"),
            );
        }
        if let Some(sure) = &self.sure {
            columns.extend(sure.columns()?);
        }
        if let Some(chosen) = &answer.chosen {
            let penalties = (0..n).map(|i| candidates.penalty(i, chosen[i] as usize)).collect();
            let rows = (0..n).map(|i| input.row(i, chosen[i] as usize) as i64).collect();
            columns.push(
                Column::new("candidate", Data::I32(chosen.iter().map(|&j| j as i32).collect()))
                    .with_description(
                        "chosen candidate, from 0, among those of the object that were not dropped",
                    ),
            );
            columns.push(
                Column::new("row", Data::I64(rows))
                    .with_description("row of the input table, from 0, of that candidate"),
            );
            columns.push(
                Column::new("penalty", Data::F64(penalties))
                    .with_description("penalty of the chosen candidate, as scaled"),
            );
        }
        columns.push(
            Column::new("distance", Data::F64(distance))
                .with_description(
                    "distance of the representative to its cluster's centre, in scaled features",
                )
                .with_valid((0..n).map(|i| !is_noise(i)).collect())?,
        );
        let original = match &answer.posterior {
            Some(posterior) => mean_features(input, &self.scaler, &posterior.candidates),
            None => input_units(input, &self.scaler, &answer.representatives),
        };
        columns.extend(input.feature_columns(&original, answer.posterior.as_ref().map(|_| MEAN_FEATURES)));
        columns.extend(input.truth_column());
        let mut table = Table::new(columns)?;
        for (key, value) in &self.settings {
            table.set_metadata(format!("goc_{key}"), text_of(value));
        }
        for (key, value) in self.found(false) {
            table.set_metadata(format!("goc_{key}"), text_of(&value));
        }
        self.add_origin(&mut table);
        Ok(table)
    }

    /// What the label table says of its input, so that it can be told from the labels alone: the features, how the candidates were
    /// made (where the clustering has no setting of that name), what was dropped, and the way the objective went.
    fn add_origin(&self, table: &mut Table) {
        let names: Vec<&str> = self.input.features.iter().map(|(name, _)| name.as_str()).collect();
        table.set_metadata(FEATURES_KEY, names.join(","));
        for (key, value) in &self.input.origin {
            if table.get_metadata(key).is_none() {
                table.set_metadata(key.clone(), value.clone());
            }
        }
        if !self.input.dropped_why.is_empty() {
            table.set_metadata(DROPPED_KEY, self.input.dropped_why.join(DROPPED_BETWEEN));
        }
        if !self.answer.history.is_empty() {
            let steps: Vec<Value> =
                self.answer.history.iter().map(|t| json!([t.k, t.objective, t.changed])).collect();
            table.set_metadata(HISTORY_KEY, Value::from(steps).to_string());
        }
    }

    /// The tree over the clusters.
    pub fn tree(&self, method: &MethodArgs) -> Result<Hierarchy<'_>, Fail> {
        let chosen = self.answer.chosen.as_ref().ok_or_else(|| {
            Fail::usage(format!(
                "--tree needs a method that chooses candidates, such as goc; {} does not",
                typed(method.method)
            ))
        })?;
        Ok(Hierarchy::new(&self.input.candidates, &self.answer.partition, chosen, self.method.lambda())?)
    }

    /// How it ended. `whole`: tables within it too.
    fn found(&self, whole: bool) -> Vec<(&'static str, Value)> {
        let answer = &self.answer;
        let mut found = vec![
            ("k", json!(answer.k())),
            ("n_noise", json!(answer.noise_count())),
            ("iterations", json!(answer.iterations)),
            ("converged", json!(answer.converged)),
            ("cycle", json!(answer.cycle)),
            ("objective", json!(answer.objective)),
        ];
        if let Some(posterior) = &answer.posterior {
            found.extend(findings(posterior, whole));
        }
        found
    }

    /// For machines.
    pub fn summary(&self, output: Option<&Path>) -> Value {
        let (input, answer) = (&self.input, &self.answer);
        let mut object = serde_json::Map::new();
        for (key, value) in &self.settings {
            object.insert((*key).into(), value.clone());
        }
        let mut put = |key: &str, value: Value| object.insert(key.into(), value);
        put("preset", json!(self.preset));
        // A method without an oracle says so.
        if !self.settings.iter().any(|(key, _)| *key == "oracle") {
            put("oracle", Value::Null);
        }
        put("n_objects", json!(input.candidates.objects()));
        put("n_candidates", json!(input.candidates.total()));
        put("n_dropped", json!(input.dropped));
        put("n_features", json!(input.candidates.features()));
        put("k_initial", json!(answer.k_initial));
        for (key, value) in self.found(true) {
            put(key, value);
        }
        for (key, value) in self.sure.iter().flat_map(Sure::summary) {
            put(key, value);
        }
        if let Some(curve) = self.auto.curve() {
            put("k_curve", curve);
        }
        put("seconds", json!(self.seconds));
        if let Some(scores) = &self.scores {
            put("nmi", json!(scores.nmi));
            put("f", json!(scores.f));
            put("ari", json!(scores.ari));
        }
        if let Some(path) = output {
            put("output", json!(path.display().to_string()));
        }
        Value::Object(object)
    }

    /// For people.
    pub fn sentence(&self, output: Option<&Path>) -> String {
        let (input, answer, seconds) = (&self.input, &self.answer, self.seconds);
        let ending = match (answer.converged, answer.cycle) {
            (true, _) => "converged",
            (_, true) => "in a cycle, its best state kept",
            _ if answer.posterior.is_some() => "not converged",
            _ => "stopped at the limit, see --max-iterations",
        };
        let mut text = format!(
            "{}, {}: {} after {} ({ending}){}, {seconds:.3} s",
            screen::counted(input.candidates.objects(), "object"),
            screen::counted(input.candidates.total(), "candidate"),
            screen::counted(answer.k(), "cluster"),
            screen::counted(answer.iterations, "iteration"),
            answer.objective.map_or_else(String::new, |objective| format!(", objective {objective:.6}")),
        );
        let found = self.auto.sentence();
        if !found.is_empty() {
            text.push_str(&format!("\n{found}"));
        }
        if !answer.remark.is_empty() {
            text.push_str(&format!("\n{}", answer.remark));
        }
        for remark in self.sure.iter().flat_map(Sure::remarks) {
            text.push_str(&format!("\n{remark}"));
        }
        if answer.noise_count() > 0 {
            text.push_str(&format!(
                "\n{} in no cluster (label {NOISE})",
                screen::counted(answer.noise_count(), "object")
            ));
        }
        if answer.k() < answer.k_initial && answer.noise.is_empty() && !self.constant_k && self.falls {
            let why = match self.why {
                WhyFewer::Oracle => "the oracle finds K itself",
                WhyFewer::Emptied => "clusters that emptied were given up; --k-rule constant keeps K",
                WhyFewer::Single => {
                    "clusters that emptied, or kept one member only, were given up; --k-rule constant keeps K"
                }
            };
            text.push_str(&format!("\nK fell from {} to {}: {why}", answer.k_initial, answer.k()));
        }
        if let Some(s) = &self.scores {
            text.push_str(&format!("\nagainst the truth: NMI {:.3}, F {:.3}, ARI {:.3}", s.nmi, s.f, s.ari));
        }
        if let Some(path) = output {
            text.push_str(&format!("\nlabels in {}", path.display()));
        }
        text
    }
}

/// A setting as metadata holds it.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// The tree as scipy's linkage has it: leaves are the objects in the order of the label table, then one a row.
pub fn linkage_table(tree: &Hierarchy<'_>) -> Result<Table, Fail> {
    let rows = tree.linkage(Leaves::Objects, Height::Total)?;
    let whole = |c: usize| Data::I64(rows.iter().map(|row| row[c] as i64).collect());
    Ok(Table::new(vec![
        Column::new("first", whole(0)),
        Column::new("second", whole(1)),
        Column::new("height", Data::F64(rows.iter().map(|row| row[2]).collect())),
        Column::new("members", whole(3)),
    ])?)
}

/// A row an iteration.
pub fn history_table(answer: &Answer) -> Result<Table, Fail> {
    let h = &answer.history;
    Ok(Table::new(vec![
        Column::new("iteration", Data::I32((1..=h.len() as i32).collect())),
        Column::new("k", Data::I32(h.iter().map(|t| t.k as i32).collect())),
        Column::new("objective", Data::F64(h.iter().map(|t| t.objective).collect())),
        Column::new("changed", Data::I64(h.iter().map(|t| t.changed as i64).collect())),
    ])?)
}

/// A row an iteration and object.
pub fn trace_table(answer: &Answer, candidates: &Candidates) -> Result<Table, Fail> {
    let (h, n) = (&answer.history, candidates.objects());
    let each = |value: &dyn Fn(usize, usize) -> i32| -> Vec<i32> {
        (0..h.len()).flat_map(|t| (0..n).map(move |i| (t, i))).map(|(t, i)| value(t, i)).collect()
    };
    let names = (0..h.len()).flat_map(|_| (0..n).map(|i| candidates.name(i)));
    let objects = match candidates.ids() {
        Ids::Text(_) => Data::Text(names.collect()),
        _ => Data::I64(names.map(|name| name.parse().unwrap_or_default()).collect()),
    };
    Ok(Table::new(vec![
        Column::new("iteration", Data::I32(each(&|t, _| t as i32 + 1))),
        Column::new("object", objects),
        Column::new("candidate", Data::I32(each(&|t, i| h[t].chosen[i] as i32))),
        Column::new("oracle_label", Data::I32(each(&|t, i| h[t].oracle_labels[i] as i32))),
        Column::new("label", Data::I32(each(&|t, i| h[t].labels[i] as i32))),
    ])?)
}
