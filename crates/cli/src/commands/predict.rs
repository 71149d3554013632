//! `goc predict`: groups of new objects, from a model that `goc cluster --save-model` wrote.
//!
//! The new table is prepared like the original one: the same features, map and scaling, and the
//! same divisor of penalties. Each object is compared with the groups of the model; an object that
//! fits none of them has the label -1.

use std::path::PathBuf;

use clap::Args;
use goc_pipeline::model_file::ModelFile;
use goc_pipeline::scores::{by_name, numbered_groups, scores_of};
use goc_pipeline::{NOISE, counted};
use goc_tables::Files;
use serde_json::json;

use super::Work;
use crate::console::{self, Console};
use crate::failure::Result;
use crate::long_table::LongTableArgs;
use crate::output::OutputArgs;

/// Assign new objects to groups, with a model saved by goc cluster --method marginal --save-model
#[derive(Args)]
#[command(mut_arg("features", |arg| arg.help("Feature columns, in the model's order [default: those with the model's names]")))]
#[command(after_help = "Example: goc predict model.json new.parquet -o new-labels.parquet\n\
    First make the model:\n  goc cluster candidates.parquet --method marginal --save-model model.json -o labels.parquet")]
pub struct Predict {
    /// Model that goc cluster --save-model wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    table: LongTableArgs,

    #[command(flatten)]
    output: OutputArgs,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Work for Predict {
    fn files(&self) -> Files {
        self.output.files(Files::default().reads([&self.model, &self.table.input]))
    }

    fn run(self) -> Result<()> {
        self.output.check(self.json)?;
        let file = ModelFile::read(&self.model)?;
        let found = file.predict(&self.table.table(), &Console::default())?;
        let (data, labels) = (&found.prepared.data, found.labels());
        let (n, none) = (labels.len(), labels.iter().filter(|label| **label == NOISE).count());
        let (map, scale) = (file.map.name(), file.map.scaler.scaling().to_string());
        let mut table = found.table()?;
        table.set_metadata("goc_model", self.model.display().to_string());
        table.set_metadata("goc_feature_map", map);
        table.set_metadata("goc_scale", &scale);
        let texts: Vec<String> = labels.iter().map(i32::to_string).collect();
        let scores = match &data.truth {
            Some(truth) => scores_of(&numbered_groups(&texts), truth)?,
            None => None,
        };
        self.output.write(&table, self.json)?;
        let k = file.model.parts().clusters.len();
        if self.json {
            let mut summary = json!({
                "method": "predict",
                "model": self.model.display().to_string(),
                "n_objects": n,
                "n_candidates": data.candidates.total(),
                "n_dropped": data.dropped_candidates,
                "n_features": data.candidates.features(),
                "feature_map": map,
                "scale": scale,
                "k": k,
                "n_noise": none,
            });
            for (name, score) in scores.iter().flat_map(|scores| by_name(scores).into_iter().take(3)) {
                summary[name] = json!(score);
            }
            return console::print_json(&summary);
        }
        let mut text = format!(
            "{}, {}: {} in the model's {}, {none} in none of them (label {NOISE})",
            counted(n, "object"),
            counted(data.candidates.total(), "candidate"),
            n - none,
            counted(k, "cluster"),
        );
        if let Some(s) = &scores {
            text.push_str(&format!("\nagainst the truth: NMI {:.3}, F {:.3}, ARI {:.3}", s.nmi, s.f, s.ari));
        }
        if let Some(path) = self.output.file() {
            text.push_str(&format!("\nlabels in {}", path.display()));
        }
        console::note(text);
        Ok(())
    }
}
