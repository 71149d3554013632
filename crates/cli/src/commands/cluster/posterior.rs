//! What the marginal mixture has to say beyond a label: columns of the label table, tables of their own, the model.

use std::path::PathBuf;

use clap::Args;
use goc::marginal::{Marginal, Model, Posterior};
use goc::scale::Scaler;
use goc::{Candidates, Ids, Points};
use goc_tables::{Column, Data, Table};
use serde_json::{Value, json};

use super::labels::Clustered;
use crate::choices::{MethodName, typed};
use crate::fail::Fail;
use crate::long_table::LongTable;
use crate::model_file::ModelFile;
use crate::screen;

/// What the features of an object are where it has no chosen candidate.
pub const MEAN_FEATURES: &str = "mean over the candidates, by their probability";

/// What else `--method marginal` writes.
#[derive(Args, Clone, Debug)]
pub struct PosteriorArgs {
    /// Also write the pairs of objects that may be together: object_a, object_b, probability
    #[arg(long, value_name = "FILE")]
    together: Option<PathBuf>,

    /// Pairs below this probability are left out of --together
    #[arg(long, value_name = "P", default_value_t = 0.05, requires = "together")]
    together_above: f64,

    /// Also write the probability of each number of clusters: k, probability
    #[arg(long, value_name = "FILE")]
    k_posterior: Option<PathBuf>,

    /// Also write how likely each candidate is, before and after: object, candidate, row, weight, posterior
    #[arg(long, value_name = "FILE")]
    candidate_weights: Option<PathBuf>,

    /// Also keep the model, for goc predict (.json)
    #[arg(long, value_name = "FILE")]
    save_model: Option<PathBuf>,
}

impl PosteriorArgs {
    /// Whether a model is to be kept.
    pub fn saves_model(&self) -> bool {
        self.save_model.is_some()
    }

    /// The files asked for, by flag.
    pub fn outputs(&self) -> [(&'static str, &Option<PathBuf>); 4] {
        [
            ("--together", &self.together),
            ("--k-posterior", &self.k_posterior),
            ("--candidate-weights", &self.candidate_weights),
            ("--save-model", &self.save_model),
        ]
    }

    /// What can be said before any table is read.
    pub fn check(&self, method: MethodName, input: &std::path::Path) -> Result<(), Fail> {
        let asked = self.outputs().into_iter().find(|(_, path)| path.is_some());
        if let Some((flag, _)) = asked.filter(|_| method != MethodName::Marginal) {
            return Err(Fail::usage(format!("{flag} needs --method marginal, not {}", typed(method))));
        }
        if !(0.0..=1.0).contains(&self.together_above) {
            return Err(Fail::usage(format!(
                "--together-above is {}, but must be from 0 to 1",
                self.together_above
            )));
        }
        for path in [&self.together, &self.k_posterior, &self.candidate_weights] {
            screen::check_output_of(input, path.as_deref())?;
        }
        match &self.save_model {
            Some(path) if path.extension().is_none_or(|end| end != "json") => {
                Err(Fail::usage(format!("{}: a model is kept as .json", path.display())))
            }
            Some(path) => screen::check_place(path),
            None => Ok(()),
        }
    }

    /// Writes what was asked for.
    pub fn write(&self, done: &Clustered) -> Result<(), Fail> {
        let Some(posterior) = &done.answer.posterior else { return Ok(()) };
        let mixture = done.method.mixture();
        if let Some(path) = &self.together {
            let table = together_table(&done.input.candidates, posterior, self.together_above)?;
            goc_tables::write(&table, path)?;
        }
        if let Some(path) = &self.k_posterior {
            goc_tables::write(&k_table(posterior)?, path)?;
        }
        if let Some(path) = &self.candidate_weights {
            goc_tables::write(&weights_table(&done.input, posterior, &mixture)?, path)?;
        }
        if let Some(path) = &self.save_model {
            let model = Model::fit(&mixture, &done.input.candidates, posterior)
                .map_err(|error| Fail::failed(format!("the model cannot be kept: {error}")))?;
            ModelFile::new(model, &done.input, &done.scaler, done.input.penalty_divisor).write(path)?;
        }
        Ok(())
    }
}

/// The columns that follow the label: how sure it is, and what else it may be.
pub fn certainty_columns(
    probability: Vec<f64>,
    runner_up: &[Option<(u32, f64)>],
    alone: Vec<f64>,
) -> Result<Vec<Column>, Fail> {
    let valid: Vec<bool> = runner_up.iter().map(Option::is_some).collect();
    let labels = runner_up.iter().map(|next| next.map_or(-1, |(label, _)| label as i32)).collect();
    let shares = runner_up.iter().map(|next| next.map_or(0.0, |(_, p)| p)).collect();
    Ok(vec![
        Column::new("probability", Data::F64(probability))
            .with_description("how sure the method is of the label, from 0 to 1"),
        Column::new("runner_up", Data::I32(labels))
            .with_description("the next best cluster")
            .with_valid(valid.clone())?,
        Column::new("runner_up_probability", Data::F64(shares))
            .with_description("probability of that cluster")
            .with_valid(valid)?,
        Column::new("alone", Data::F64(alone)).with_description("probability of belonging to no group"),
    ])
}

/// The mean features of each object over its candidates, by their probability, in the units of the input. The mean is taken of the
/// input's own numbers: the square of a mean of roots would be less than the mean.
pub fn mean_features(input: &LongTable, scaler: &Scaler, probability: &[f64]) -> Vec<Vec<f64>> {
    let candidates = &input.candidates;
    let (q, offsets) = (candidates.features(), candidates.offsets());
    let mut row = vec![0.0; q];
    (0..candidates.objects())
        .map(|i| {
            let mut mean = vec![0.0; q];
            for j in 0..candidates.count(i) {
                candidates.copy_candidate(i, j, &mut row);
                scaler.invert_row(&mut row);
                input.undo_map(&mut row);
                for (sum, value) in mean.iter_mut().zip(&row) {
                    *sum += probability[offsets[i] + j] * value;
                }
            }
            mean
        })
        .collect()
}

/// Points in scaled features, in the units of the input.
pub fn input_units(input: &LongTable, scaler: &Scaler, points: &Points) -> Vec<Vec<f64>> {
    let back = |row: &[f64]| {
        let mut row = row.to_vec();
        scaler.invert_row(&mut row);
        input.undo_map(&mut row);
        row
    };
    points.rows().map(back).collect()
}

/// What the summary and the metadata say of the chains. `whole`: with the probabilities of K too.
pub fn findings(posterior: &Posterior, whole: bool) -> Vec<(&'static str, Value)> {
    let chains = &posterior.diagnostics;
    let mean: f64 = posterior.k.iter().map(|(k, p)| *k as f64 * p).sum();
    let mut found = vec![
        ("k_mean", json!(mean)),
        ("agreement", json!(chains.agreement)),
        ("effective_draws", json!(chains.effective_k)),
        ("effective_draws_ln_density", json!(chains.effective_ln_density)),
        ("moves_taken", json!(chains.moves_taken)),
    ];
    if whole {
        let k: Vec<Value> = posterior.k.iter().map(|(k, p)| json!({ "k": k, "probability": p })).collect();
        found.push(("k_posterior", json!(k)));
    }
    found
}

/// Names of these objects as a column.
fn named(name: &str, candidates: &Candidates, objects: &[usize]) -> Column {
    let data = match candidates.ids() {
        Ids::Integer(v) => Data::I64(objects.iter().map(|&i| v[i]).collect()),
        Ids::Text(v) => Data::Text(objects.iter().map(|&i| v[i].clone()).collect()),
        _ => Data::I64(objects.iter().map(|&i| i as i64).collect()),
    };
    Column::new(name, data)
}

fn together_table(candidates: &Candidates, posterior: &Posterior, above: f64) -> Result<Table, Fail> {
    let (mut a, mut b, mut probability) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..candidates.objects() {
        for (j, p) in posterior.together.partners(i).filter(|(j, p)| *j > i && *p >= above) {
            a.push(i);
            b.push(j);
            probability.push(p);
        }
    }
    Ok(Table::new(vec![
        named("object_a", candidates, &a),
        named("object_b", candidates, &b),
        Column::new("probability", Data::F64(probability)).with_description("of being in one group"),
    ])?)
}

fn k_table(posterior: &Posterior) -> Result<Table, Fail> {
    Ok(Table::new(vec![
        Column::new("k", Data::I64(posterior.k.iter().map(|(k, _)| *k as i64).collect()))
            .with_description("number of clusters, those of one object too"),
        Column::new("probability", Data::F64(posterior.k.iter().map(|(_, p)| *p).collect())),
    ])?)
}

fn weights_table(input: &LongTable, posterior: &Posterior, mixture: &Marginal) -> Result<Table, Fail> {
    let candidates = &input.candidates;
    let each = || (0..candidates.objects()).flat_map(|i| (0..candidates.count(i)).map(move |j| (i, j)));
    let objects: Vec<usize> = each().map(|(i, _)| i).collect();
    Ok(Table::new(vec![
        named("object", candidates, &objects),
        Column::new("candidate", Data::I32(each().map(|(_, j)| j as i32).collect()))
            .with_description("from 0, among those of the object that were not dropped"),
        Column::new("row", Data::I64(each().map(|(i, j)| input.row(i, j) as i64).collect()))
            .with_description("row of the input table, from 0"),
        Column::new("weight", Data::F64(mixture.weights(candidates)))
            .with_description("probability beforehand, from its penalty or weight; sum 1 for an object"),
        Column::new("posterior", Data::F64(posterior.candidates.clone()))
            .with_description("probability given the groups; sum 1 for an object"),
    ])?)
}
