//! `goc predict`: groups of new objects, from a model that `goc cluster --save-model` kept.
//!
//! The new table is taken as the first one was: the same features, map and scaling, penalties divided by the same number. Each object
//! is weighed against the groups that the model knows; one that fits none of them has the label -1.

use std::path::PathBuf;

use clap::Args;
use goc_tables::{Column, Data, Table};
use serde_json::{Value, json};

use super::cluster::NOISE;
use super::cluster::posterior::{MEAN_FEATURES, certainty_columns, mean_features};
use crate::fail::Fail;
use crate::features::{Roots, any_case, root_of};
use crate::long_table::{LongTable, LongTableArgs, Taken, scores_of};
use crate::model_file::ModelFile;
use crate::screen;

/// Groups of new objects, from a model that goc cluster --method marginal --save-model kept
#[derive(Args)]
#[command(mut_arg("features", |arg| arg.help("Feature columns, in the model's order [default: those with the model's names]")))]
#[command(after_help = "Example: goc predict model.json new.parquet -o new-labels.parquet\n\
         The model before that: goc cluster candidates.parquet --method marginal --save-model model.json -o labels.parquet")]
pub struct Predict {
    /// Model that goc cluster --save-model wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    table: LongTableArgs,

    /// Where the label table goes [default: standard output, as CSV]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Predict {
    pub fn run(self) -> Result<(), Fail> {
        screen::check_output_of(&self.table.input, self.output.as_deref())?;
        let file = ModelFile::read(&self.model)?;
        let input = self.read(&file)?;
        let input = input.map_candidates(|candidates| {
            let scaled = file.scaler.apply(candidates);
            // Weights became penalties by the model's own strength.
            if self.table.weight.is_some() { scaled } else { scaled.divide_penalties(file.penalty_divisor) }
        });
        let found = file.model.predict(&input.candidates).map_err(|e| Fail::failed(e.to_string()))?;

        let labels: Vec<i32> = found.iter().map(|p| p.label.map_or(NOISE, |label| label as i32)).collect();
        let none = labels.iter().filter(|label| **label == NOISE).count();
        let probability = found.iter().map(|p| p.probability).collect();
        let runner_up: Vec<Option<(u32, f64)>> = found.iter().map(|p| p.runner_up).collect();
        let alone = found.iter().map(|p| p.alone).collect();
        let shares: Vec<f64> = found.iter().flat_map(|p| p.candidates.iter().copied()).collect();
        let n = found.len();
        let mut columns = vec![
            input.object_column(),
            Column::new("label", Data::I32(labels.clone()))
                .with_description("cluster of the model, from 0; -1: in none of them"),
        ];
        columns.extend(certainty_columns(probability, &runner_up, alone)?);
        let means = mean_features(&input, &file.scaler, &shares);
        columns.extend(input.feature_columns(&means, Some(MEAN_FEATURES)));
        columns.extend(input.truth_column());
        let mut table = Table::new(columns)?;
        table.set_metadata("goc_version", env!("CARGO_PKG_VERSION"));
        table.set_metadata("goc_method", "predict");
        table.set_metadata("goc_model", self.model.display().to_string());
        table.set_metadata("goc_feature_map", input.map_name());
        table.set_metadata("goc_scale", file.scaler.scaling().to_string());

        // As goc score has it: an object in no group is a group of its own.
        let own = |(i, &label): (usize, &i32)| if label == NOISE { -1 - i as i64 } else { i64::from(label) };
        let numbers: Vec<i64> = labels.iter().enumerate().map(own).collect();
        let scores = match &input.truth {
            Some(truth) => scores_of(&numbers, truth)?,
            None => None,
        };
        if self.output.is_some() || !self.json {
            screen::write_table(&table, self.output.as_deref())?;
        }
        let k = file.model.parts().clusters.len();
        if self.json {
            let mut summary = json!({
                "method": "predict",
                "model": self.model.display().to_string(),
                "n_objects": n,
                "n_candidates": input.candidates.total(),
                "n_dropped": input.dropped,
                "n_features": input.candidates.features(),
                "feature_map": input.map_name(),
                "scale": file.scaler.scaling().to_string(),
                "k": k,
                "n_noise": none,
            });
            if let (Value::Object(object), Some(s)) = (&mut summary, &scores) {
                object.extend([
                    ("nmi".to_string(), json!(s.nmi)),
                    ("f".to_string(), json!(s.f)),
                    ("ari".to_string(), json!(s.ari)),
                ]);
            }
            return screen::print_json(&summary);
        }
        let mut text = format!(
            "{}, {}: {} in the model's {}, {none} in none of them (label {NOISE})",
            screen::counted(n, "object"),
            screen::counted(input.candidates.total(), "candidate"),
            n - none,
            screen::counted(k, "cluster"),
        );
        if let Some(s) = &scores {
            text.push_str(&format!("\nagainst the truth: NMI {:.3}, F {:.3}, ARI {:.3}", s.nmi, s.f, s.ari));
        }
        if let Some(path) = &self.output {
            text.push_str(&format!("\nlabels in {}", path.display()));
        }
        screen::note(text);
        Ok(())
    }

    /// The new table, its columns found by the model's names, or by `--features` in the model's order.
    fn read(&self, file: &ModelFile) -> Result<LongTable, Fail> {
        let input = self.table.input.display();
        let wanted: Vec<&str> = file.features.iter().map(|feature| feature.name.as_str()).collect();
        let table = goc_tables::read(&self.table.input)?;
        if table.rows() == 0 {
            return Err(Fail::failed(format!("{input}: the table has no rows")));
        }
        let mut args = self.table.clone();
        match &self.table.features {
            Some(names) if names.len() != wanted.len() => {
                return Err(Fail::usage(format!(
                    "--features names {} ({}), but the model has {} ({})",
                    screen::counted(names.len(), "column"),
                    names.join(", "),
                    wanted.len(),
                    wanted.join(", ")
                )));
            }
            Some(_) => {}
            None => {
                let mut names = Vec::new();
                for name in &wanted {
                    let column = root_of(name).unwrap_or(name);
                    let Some(found) = any_case(&table, column) else {
                        return Err(Fail::usage(format!(
                            "{input}: no column `{column}`: the model has the features {}, the table the columns {}; name them in the model's order with --features",
                            wanted.join(", "),
                            table.names().join(", ")
                        )));
                    };
                    let ends = ["_error", "_err"].map(|end| format!("{}{end}", found.name()));
                    if let Some(error) = ends.iter().find(|end| table.column(end).is_some()) {
                        return Err(self.table.error_bar(error));
                    }
                    let root = root_of(name).is_some();
                    names.push(if root {
                        format!("sqrt({})", found.name())
                    } else {
                        found.name().to_string()
                    });
                }
                args.features = Some(names);
            }
        }
        let roots = file.features.iter().map(|feature| feature.root).collect();
        let strength = file.model.parts().penalty_strength;
        let long = args.group(&table, &Taken { roots: Roots::Of(roots), strength })?;
        for (feature, (name, unit)) in file.features.iter().zip(&long.features) {
            let said = |unit: &Option<String>| unit.clone().filter(|unit| !unit.is_empty());
            if let (Some(model), Some(new)) = (said(&feature.unit), said(unit))
                && model != new
            {
                return Err(Fail::failed(format!(
                    "{input}: column `{name}` is in {new}, but the model's {} in {model}; convert it",
                    feature.name
                )));
            }
        }
        Ok(long)
    }
}
