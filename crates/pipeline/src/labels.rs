//! A fit as tables: one row per object, per cluster or per iteration, plus the mixture's tables.

use std::path::Path;

use goc::choice::Choice;
use goc::choose_k::Criterion;
use goc::confidence::cluster_summary as summary;
use goc::marginal::Posterior;
use goc::optimistic::hierarchy::Hierarchy;
use goc::points::squared_distance;
use goc::{Candidates, Ids, Points};
use goc_tables::{Column, Data, Table};
use serde_json::{Value, json};

use crate::dataset::{Dataset, Feature};
use crate::error::Result;
use crate::fit::{AutoFound, Fit};
use crate::long_table::{DROPPED_BETWEEN, DROPPED_KEY, FEATURES_KEY};
use crate::sampling::plain;
use crate::scores::scores_of;

/// Metadata key of the history: K, the objective and the number of changed objects at each
/// iteration.
pub const HISTORY_KEY: &str = "goc_history";

/// Metadata key of the digest of the candidates that the labels belong to.
pub const DIGEST_KEY: &str = "goc_candidates";

/// The description of an object's features if the object has no chosen candidate.
pub const MEAN_FEATURES: &str = "mean over the candidates, by their probability";

/// Descriptions of the columns of the label table.
const OF_LABELS: &[(&str, &str)] = &[
    (
        "stability",
        "share of its fellow members that the object keeps when the method is repeated, from 0 to 1",
    ),
    ("cluster_stability", "how well its cluster comes back when the method is repeated, from 0 to 1"),
    ("recurrence", "how well its cluster comes back from draw to draw, from 0 to 1; empty: in no cluster"),
    ("log_odds", "log odds of the object's cluster against the background; empty: alone"),
    ("p_value", "of its cluster, as it was found, against backgrounds without groups"),
    ("q_value", "false-discovery rate at which its cluster is significant"),
    ("probability", "confidence in the label, from 0 to 1"),
    ("candidate", "chosen candidate, from 0, among those of the object that were not dropped"),
    ("row", "row of the input table, from 0, of that candidate"),
    ("penalty", "penalty of the chosen candidate, as scaled"),
    ("distance", "distance of the representative to its cluster's centre, in scaled features"),
    ("runner_up", "the next best cluster"),
    ("runner_up_probability", "probability of that cluster"),
    ("alone", "probability of being alone, a group of one"),
    ("field", "probability of being in the field, in no group"),
];

/// Those of the cluster table.
const OF_CLUSTERS: &[(&str, &str)] = &[
    ("stability", "mean agreement with the best match in repeats, from 0 to 1"),
    ("evidence", "median of the members' log odds against the background"),
    ("q_value", "false-discovery rate at which the cluster is significant"),
    ("probability", "mean of the members' probabilities"),
    ("recurrence", "mean over the draws of the Jaccard similarity to the most similar cluster, from 0 to 1"),
    ("label", "cluster, from 0"),
    ("size", "members"),
];

/// Those of the table of candidates.
const OF_CANDIDATES: &[(&str, &str)] = &[
    ("candidate", "from 0, among those of the object that were not dropped"),
    ("row", "row of the input table, from 0"),
    ("weight", "prior probability, from its penalty or weight; sums to 1 for each object"),
    ("posterior", "posterior probability, given the groups; sums to 1 for each object"),
];

type Made<T> = Result<T>;

/// Refuses labels that belong to other candidates, using the digest that labels record. There is
/// nothing to compare if the candidates were read differently (other features or weights), or if
/// the labels come from another program and have no digest.
pub fn check_candidates(data: &Dataset, labels: &Table, file: &Path, candidates: &Path) -> Made<()> {
    let same = |key, value: Option<&str>| labels.get_metadata(key) == value;
    let alike = same(FEATURES_KEY, Some(&data.feature_names().join(",")))
        && same("goc_weight", data.weight_column.as_deref());
    match labels.get_metadata(DIGEST_KEY) {
        Some(digest) if alike && digest != data.digest() => Err(failed!(
            "{}: these are not the candidates from which {} was made (digest {}, but the labels have \
             {digest}); give that \
             table, read with the same --missing",
            candidates.display(),
            file.display(),
            data.digest()
        )),
        _ => Ok(()),
    }
}

/// Puts settings into the metadata of a table.
pub fn describe(table: &mut Table, settings: &[(&str, Value)]) {
    for (key, value) in settings {
        table.set_metadata(format!("goc_{key}"), plain(value));
    }
}

impl AutoFound {
    /// What the metadata record about it.
    pub fn described(&self) -> Vec<(&'static str, Value)> {
        let mut settings = Vec::new();
        if let Some((by, chosen)) = &self.k {
            settings.push(("k_asked", json!("auto")));
            settings.push(("k_by", json!(by.word())));
            settings.push(("k_chosen", json!(chosen.k)));
        }
        if let Some(found) = &self.lambda {
            settings.push(("lambda_asked", json!("auto")));
            settings.push(("lambda_rounds", json!(found.rounds)));
        }
        settings
    }

    /// One row per K that was tried: K, the criterion and, if the truth is known, the NMI of the
    /// clustering. `None` if K was given.
    pub fn curve_table(&self, truth: Option<&[String]>) -> Made<Option<Table>> {
        let Some((by, chosen)) = &self.k else { return Ok(None) };
        let trials = &chosen.curve;
        let name = if *by == Criterion::Marginal { "expected_ari" } else { by.word() };
        let mut columns = vec![
            Column::new("k", Data::I64(trials.iter().map(|t| t.k as i64).collect())),
            Column::new(name, Data::F64(trials.iter().map(|t| t.value).collect())),
        ];
        if let Some(truth) = truth {
            let mut scores = Vec::with_capacity(trials.len());
            for trial in trials {
                scores.push(match &trial.partition {
                    Some(partition) => scores_of(partition.labels(), truth)?.map(|s| s.nmi),
                    None => None,
                });
            }
            if scores.iter().any(Option::is_some) {
                let values = scores.iter().map(|s| s.unwrap_or(f64::NAN)).collect();
                let valid = scores.iter().map(Option::is_some).collect();
                columns.push(Column::new("nmi", Data::F64(values)).with_valid(valid)?);
            }
        }
        columns.push(Column::new("chosen", Data::Bool(trials.iter().map(|t| t.k == chosen.k).collect())));
        let mut table = Table::new(columns)?;
        describe(&mut table, &self.described());
        Ok(Some(table))
    }
}

impl Dataset {
    /// The objects as named in the input.
    pub fn object_column(&self) -> Column {
        let all: Vec<usize> = (0..self.candidates.objects()).collect();
        named("object", &self.candidates, &all).with_description("object, as the input names it")
    }

    /// The features of each object, from these consecutive rows, with their units.
    pub fn feature_columns(&self, rows: &[f64], description: Option<&str>) -> Vec<Column> {
        let q = self.features.len();
        let column = |(f, feature): (usize, &Feature)| {
            let values = rows.iter().skip(f).step_by(q).copied().collect();
            let mut column = Column::new(feature.name.clone(), Data::F64(values));
            if let Some(description) = description {
                column = column.with_description(description);
            }
            with_unit(column, feature)
        };
        self.features.iter().enumerate().map(column).collect()
    }

    /// The columns of the label table that are known before the fit, to check that the output
    /// format can hold them.
    pub fn known_columns(&self) -> Made<Table> {
        let n = self.candidates.objects();
        let mut columns = vec![self.object_column()];
        columns.extend(["label", "distance"].map(|name| Column::new(name, Data::F64(vec![0.0; n]))));
        columns.extend(self.feature_columns(&vec![0.0; n * self.features.len()], None));
        columns.extend(self.truth_column());
        Ok(Table::new(columns)?)
    }

    /// The true groups, as numbers where all of them are.
    pub fn truth_column(&self) -> Option<Column> {
        let truth = self.truth.as_ref()?;
        let whole: Result<Vec<i64>, _> = truth.iter().map(|t| t.parse()).collect();
        let truth = whole.map_or_else(|_| Data::Text(truth.clone()), Data::I64);
        Some(described("truth", truth, "true group, as the input names it"))
    }
}

fn with_unit(column: Column, feature: &Feature) -> Column {
    match &feature.unit {
        Some(unit) => column.with_unit(unit.clone()),
        None => column,
    }
}

impl Fit {
    /// The choices behind this result: what was requested, wherever it differs from what was found.
    pub fn described(&self) -> Vec<(&'static str, Value)> {
        let mut settings = self.settings.described(self.seed);
        settings.push(("feature_map", json!(self.prepared.map.name())));
        if let Some(column) = &self.prepared.data.weight_column {
            settings.push(("weight", json!(column)));
        }
        let found = self.auto.described();
        settings.retain(|(key, _)| found.iter().all(|(other, _)| other != key));
        settings.into_iter().chain(found).collect()
    }

    /// How the fit ended; `whole` includes nested tables.
    pub fn outcome(&self, whole: bool) -> Vec<(&'static str, Value)> {
        let grouped = &self.grouped;
        let mut found = vec![
            ("k", json!(self.k())),
            ("n_noise", json!(grouped.noise_count())),
            ("iterations", json!(grouped.iterations)),
            ("converged", json!(grouped.converged)),
            ("cycle", json!(grouped.cycle)),
            ("objective", json!(grouped.objective)),
        ];
        if let Some(posterior) = &grouped.posterior {
            found.extend(findings(posterior, whole));
        }
        found
    }

    /// The label table: one row per object.
    pub fn label_table(&self) -> Made<Table> {
        let (data, grouped) = (&self.prepared.data, &self.grouped);
        let candidates = &data.candidates;
        let n = candidates.objects();
        let centre = |i: usize| self.centres.row(grouped.partition.labels()[i] as usize);
        let away = |i| squared_distance(self.places.row(i), centre(i)).sqrt();
        let distance = (0..n).map(|i| if self.is_noise(i) { f64::NAN } else { away(i) }).collect();
        let meaning =
            if grouped.noise.is_empty() { "cluster, from 0" } else { "cluster, from 0; -1: in no cluster" };
        let mut columns = vec![data.object_column(), described("label", Data::I32(self.labels()), meaning)];
        if let Some(p) = &grouped.posterior {
            let (alone, field) = (p.alone.clone(), p.field.clone());
            columns.extend(certainty_columns(grouped.confidence.clone(), &p.runner_up, alone, field)?);
        } else if !grouped.confidence.is_empty() {
            columns.push(Column::new("probability", Data::F64(grouped.confidence.clone())));
        }
        self.add_sure_columns(&mut columns)?;
        if let Some(chosen) = &grouped.chosen {
            let penalties = (0..n).map(|i| candidates.penalty(i, chosen[i] as usize)).collect();
            columns.push(Column::new("candidate", Data::I32(chosen.iter().map(|&j| j as i32).collect())));
            let rows = (0..n).map(|i| data.row(i, chosen[i] as usize) as i64).collect();
            columns.push(Column::new("row", Data::I64(rows)));
            columns.push(Column::new("penalty", Data::F64(penalties)));
        }
        let valid = (0..n).map(|i| !self.is_noise(i)).collect();
        columns.push(Column::new("distance", Data::F64(distance)).with_valid(valid)?);
        let mut columns = told(columns, OF_LABELS);
        let what = match (&grouped.posterior, &grouped.chosen) {
            (Some(_), _) => MEAN_FEATURES,
            (None, Some(_)) => "of the chosen candidate",
            (None, None) => "of the object's representative",
        };
        columns.extend(data.feature_columns(&self.input_places(), Some(what)));
        columns.extend(data.truth_column());
        let mut table = Table::new(columns)?;
        describe(&mut table, &self.described());
        describe(&mut table, &self.outcome(false));
        self.add_origin(&mut table);
        Ok(table)
    }

    /// Records the input in the label table, so that the labels are self-contained: the features,
    /// how the candidates were made (unless the clustering has a setting with that name), what was
    /// dropped, and the history of the objective.
    fn add_origin(&self, table: &mut Table) {
        let data = &self.prepared.data;
        table.set_metadata(FEATURES_KEY, data.feature_names().join(","));
        for (key, value) in &data.provenance {
            if table.get_metadata(key).is_none() {
                table.set_metadata(key.clone(), value.clone());
            }
        }
        table.set_metadata(DIGEST_KEY, data.digest());
        if !data.dropped.is_empty() {
            table.set_metadata(DROPPED_KEY, data.dropped.join(DROPPED_BETWEEN));
        }
        if !self.grouped.history.is_empty() {
            let steps: Vec<Value> =
                self.grouped.history.iter().map(|t| json!([t.k, t.objective, t.changed])).collect();
            table.set_metadata(HISTORY_KEY, Value::from(steps).to_string());
        }
    }

    /// Stability and significance columns for the label table: of the object, and of the cluster in
    /// which it was found.
    fn add_sure_columns(&self, columns: &mut Vec<Column>) -> Made<()> {
        let of_cluster = |values: &[f64]| -> Vec<f64> {
            self.found.labels().iter().map(|&label| values[label as usize]).collect()
        };
        if let Some(stability) = &self.stability {
            columns.push(known("stability", stability.objects.clone())?);
            columns.push(known("cluster_stability", of_cluster(&stability.clusters))?);
        }
        if let Some(posterior) = &self.grouped.posterior {
            let all = of_cluster(&posterior.recurrence).into_iter().enumerate();
            let of = all.map(|(i, value)| if self.is_noise(i) { f64::NAN } else { value }).collect();
            columns.push(known("recurrence", of)?);
        }
        if let Some(verdict) = &self.significance {
            columns.push(known("log_odds", verdict.evidence.objects.clone())?);
            columns.push(known("p_value", of_cluster(&verdict.p))?);
            columns.push(known("q_value", of_cluster(&verdict.q))?);
        }
        Ok(())
    }

    /// One row per remaining cluster: label, size, centre, spread, and how reliable it is.
    pub fn cluster_table(&self) -> Made<Table> {
        let (data, grouped) = (&self.prepared.data, &self.grouped);
        let (labels, sizes) = (grouped.partition.labels(), grouped.partition.sizes());
        // The first member of each cluster that is not noise identifies the cluster as it was
        // found.
        let mut first = vec![None; grouped.partition.k()];
        for i in (0..labels.len()).rev().filter(|&i| !self.is_noise(i)) {
            first[labels[i] as usize] = Some(i);
        }
        let rows: Vec<(usize, usize)> =
            first.iter().enumerate().filter_map(|(c, first)| Some((c, (*first)?))).collect();
        let of_found = |values: &[f64]| -> Vec<f64> {
            rows.iter().map(|&(_, i)| values[self.found.labels()[i] as usize]).collect()
        };
        let columns = vec![
            Column::new("label", Data::I32(rows.iter().map(|row| row.0 as i32).collect())),
            Column::new("size", Data::I64(rows.iter().map(|row| sizes[row.0] as i64).collect())),
        ];
        let mut columns = told(columns, OF_CLUSTERS);
        // Both are in readable units: the square root of a feature is undone first.
        let q = data.features.len();
        let centres = self.input_centres();
        let places = Points::new(self.prepared.map.invert(&self.places), q)?;
        let spreads = summary::spreads(&places, &grouped.partition);
        for (f, feature) in data.features.iter().enumerate() {
            let centre = rows.iter().map(|row| centres[row.0 * q + f]).collect();
            let column = Column::new(feature.name.clone(), Data::F64(centre));
            columns.push(with_unit(column.with_description("centre"), feature));
            let spread = rows.iter().map(|row| spreads.row(row.0)[f]).collect();
            let column = Column::new(format!("{}_spread", feature.name), Data::F64(spread));
            let column = column.with_description("standard deviation of the members' places");
            columns.push(with_unit(column, feature));
        }
        let mut sure = Vec::new();
        if let Some(stability) = &self.stability {
            sure.push(known("stability", of_found(&stability.clusters))?);
            for (kind, name) in
                ["stability_seeds", "stability_candidates", "stability_objects"].into_iter().enumerate()
            {
                let values: Vec<f64> = stability.by_kind.iter().map(|kinds| kinds[kind]).collect();
                sure.push(known(name, of_found(&values))?);
            }
        }
        if let Some(verdict) = &self.significance {
            sure.push(known("evidence", of_found(&verdict.evidence.clusters))?);
            sure.push(known("p_value", of_found(&verdict.p))?);
            sure.push(known("q_value", of_found(&verdict.q))?);
        }
        if !grouped.confidence.is_empty() {
            let mean = summary::cluster_means(&grouped.confidence, &grouped.partition);
            sure.push(known("probability", rows.iter().map(|row| mean[row.0]).collect())?);
        }
        if let Some(posterior) = &grouped.posterior {
            sure.push(known("recurrence", of_found(&posterior.recurrence))?);
        }
        columns.extend(told(sure, OF_CLUSTERS));
        let mut table = Table::new(columns)?;
        describe(&mut table, &self.described());
        describe(&mut table, &self.outcome(false));
        Ok(table)
    }

    /// A row per iteration.
    pub fn history_table(&self) -> Made<Table> {
        let h = &self.grouped.history;
        Ok(Table::new(vec![
            Column::new("iteration", Data::I32((1..=h.len() as i32).collect())),
            Column::new("k", Data::I32(h.iter().map(|t| t.k as i32).collect())),
            Column::new("objective", Data::F64(h.iter().map(|t| t.objective).collect())),
            Column::new("changed", Data::I64(h.iter().map(|t| t.changed as i64).collect())),
        ])?)
    }

    /// One row per iteration and object, if every iteration was kept in full.
    pub fn trace_table(&self) -> Made<Table> {
        let (h, candidates) = (&self.grouped.history, &self.prepared.data.candidates);
        let n = candidates.objects();
        let each = |value: &dyn Fn(usize, usize) -> i32| -> Vec<i32> {
            (0..h.len()).flat_map(|t| (0..n).map(move |i| (t, i))).map(|(t, i)| value(t, i)).collect()
        };
        let objects: Vec<usize> = (0..h.len()).flat_map(|_| 0..n).collect();
        Ok(Table::new(vec![
            Column::new("iteration", Data::I32(each(&|t, _| t as i32 + 1))),
            named("object", candidates, &objects),
            Column::new("candidate", Data::I32(each(&|t, i| h[t].chosen[i] as i32))),
            Column::new("oracle_label", Data::I32(each(&|t, i| h[t].oracle_labels[i] as i32))),
            Column::new("label", Data::I32(each(&|t, i| h[t].labels[i] as i32))),
        ])?)
    }

    /// Pairs of objects that share a cluster with at least this probability; `None` without a
    /// posterior.
    pub fn together_table(&self, above: f64) -> Made<Option<Table>> {
        let Some(posterior) = &self.grouped.posterior else { return Ok(None) };
        let candidates = &self.prepared.data.candidates;
        let (mut a, mut b, mut probability) = (Vec::new(), Vec::new(), Vec::new());
        for (i, j, p) in posterior.together.pairs().filter(|(_, _, p)| *p >= above) {
            a.push(i);
            b.push(j);
            probability.push(p);
        }
        Ok(Some(Table::new(vec![
            named("object_a", candidates, &a),
            named("object_b", candidates, &b),
            described("probability", Data::F64(probability), "of being in one group"),
        ])?))
    }

    /// The probability of each number of clusters; `None` without a posterior.
    pub fn k_table(&self) -> Made<Option<Table>> {
        let Some(posterior) = &self.grouped.posterior else { return Ok(None) };
        let k = posterior.k.iter().map(|(k, _)| *k as i64).collect();
        Ok(Some(Table::new(vec![
            described("k", Data::I64(k), "number of clusters, singletons included"),
            Column::new("probability", Data::F64(posterior.k.iter().map(|(_, p)| *p).collect())),
        ])?))
    }

    /// The prior and posterior probability of each candidate; `None` without a posterior.
    pub fn candidate_weight_table(&self) -> Made<Option<Table>> {
        let Some(posterior) = &self.grouped.posterior else { return Ok(None) };
        let data = &self.prepared.data;
        let candidates = &data.candidates;
        let weights = self.settings.mixture().weights(&self.prepared.objects());
        let each = || (0..candidates.objects()).flat_map(|i| (0..candidates.count(i)).map(move |j| (i, j)));
        let objects: Vec<usize> = each().map(|(i, _)| i).collect();
        let columns = vec![
            named("object", candidates, &objects),
            Column::new("candidate", Data::I32(each().map(|(_, j)| j as i32).collect())),
            Column::new("row", Data::I64(each().map(|(i, j)| data.row(i, j) as i64).collect())),
            Column::new("weight", Data::F64(weights)),
            Column::new("posterior", Data::F64(posterior.candidates.clone())),
        ];
        Ok(Some(Table::new(told(columns, OF_CANDIDATES))?))
    }
}

/// A column with a description of what it holds.
pub(crate) fn described(name: &str, data: Data, what: &str) -> Column {
    Column::new(name, data).with_description(what)
}

/// The columns, with descriptions added to those listed in `what`.
fn told(columns: Vec<Column>, what: &[(&str, &str)]) -> Vec<Column> {
    let tell = |column: Column| match what.iter().find(|(name, _)| *name == column.name()) {
        Some((_, what)) => column.with_description(*what),
        None => column,
    };
    columns.into_iter().map(tell).collect()
}

/// Numbers, null where they are not finite.
fn known(name: &str, values: Vec<f64>) -> Made<Column> {
    let valid: Vec<bool> = values.iter().map(|v| v.is_finite()).collect();
    let values = values.into_iter().map(|v| if v.is_finite() { v } else { f64::NAN }).collect();
    let column = Column::new(name, Data::F64(values));
    Ok(if valid.contains(&false) { column.with_valid(valid)? } else { column })
}

/// The columns that follow the label: its probability and the runner-up.
pub fn certainty_columns(
    probability: Vec<f64>,
    runner_up: &[Option<(u32, f64)>],
    alone: Vec<f64>,
    field: Vec<f64>,
) -> Made<Vec<Column>> {
    let valid: Vec<bool> = runner_up.iter().map(Option::is_some).collect();
    let labels = runner_up.iter().map(|next| next.map_or(-1, |(label, _)| label as i32)).collect();
    let shares = runner_up.iter().map(|next| next.map_or(0.0, |(_, p)| p)).collect();
    let columns = vec![
        Column::new("probability", Data::F64(probability)),
        Column::new("runner_up", Data::I32(labels)).with_valid(valid.clone())?,
        Column::new("runner_up_probability", Data::F64(shares)).with_valid(valid)?,
        Column::new("alone", Data::F64(alone)),
        Column::new("field", Data::F64(field)),
    ];
    Ok(told(columns, OF_LABELS))
}

/// What the summary and the metadata say about the chains; `whole` includes the probabilities of K.
fn findings(posterior: &Posterior, whole: bool) -> Vec<(&'static str, Value)> {
    let chains = &posterior.diagnostics;
    let mean: f64 = posterior.k.iter().map(|(k, p)| *k as f64 * p).sum();
    let mut found = vec![
        ("k_mean", json!(mean)),
        ("agreement", json!(chains.agreement)),
        ("effective_draws", json!(chains.effective_k)),
        ("effective_draws_ln_density", json!(chains.effective_ln_density)),
        ("moves_taken", json!(chains.moves_taken)),
    ];
    if posterior.partial {
        found.push(("partial", json!(true)));
    }
    if let Some(errors) = &posterior.errors {
        found.push(("error_factor", json!(errors.factor())));
        found.push(("bad_errors", json!(errors.bad())));
    }
    if whole {
        let k: Vec<Value> = posterior.k.iter().map(|(k, p)| json!({ "k": k, "probability": p })).collect();
        found.push(("k_posterior", json!(k)));
    }
    found
}

/// Names of these objects as a column.
pub(crate) fn named(name: &str, candidates: &Candidates, objects: &[usize]) -> Column {
    let data = match candidates.ids() {
        Ids::Integer(v) => Data::I64(objects.iter().map(|&i| v[i]).collect()),
        Ids::Text(v) => Data::Text(objects.iter().map(|&i| v[i].clone()).collect()),
        _ => Data::I64(objects.iter().map(|&i| i as i64).collect()),
    };
    Column::new(name, data)
}

/// The tree in the format of scipy's linkage matrix: the leaves are the objects in the order of the
/// label table, and each row adds one node.
pub fn linkage_table(tree: &Hierarchy<'_>) -> Made<Table> {
    let rows = tree.linkage()?;
    let whole = |c: usize| Data::I64(rows.iter().map(|row| row[c] as i64).collect());
    Ok(Table::new(vec![
        Column::new("first", whole(0)),
        Column::new("second", whole(1)),
        Column::new("height", Data::F64(rows.iter().map(|row| row[2]).collect())),
        Column::new("members", whole(3)),
    ])?)
}
