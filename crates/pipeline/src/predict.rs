//! New objects, classified by a saved model.
//!
//! They are prepared like the original objects: the same features, roots and scaling, and the same
//! divisor of penalties. Each is compared with the groups of the model; an object that fits none of
//! them has the label -1.

use goc::marginal::Prediction;
use goc_tables::{Data, Table};

use crate::dataset::Dataset;
use crate::error::Result;
use crate::feature_map::{root_of, rooted};
use crate::fit::NOISE;
use crate::judge::counted;
use crate::labels::{MEAN_FEATURES, certainty_columns, described};
use crate::long_table::{LongTable, any_case};
use crate::model_file::ModelFile;
use crate::open::open_which;
use crate::prepared::Prepared;
use crate::watch::Watch;

/// New objects with their groups.
pub struct Predicted {
    /// The objects, prepared for the model.
    pub prepared: Prepared,
    /// The model's prediction for each object.
    pub predictions: Vec<Prediction>,
}

impl ModelFile {
    /// Predicts the groups of the objects in a table; `columns` names columns that cannot be found
    /// by the model's own names.
    pub fn predict(&self, columns: &LongTable, watch: &dyn Watch) -> Result<Predicted> {
        let data = self.read_objects(columns, watch)?;
        let prepared = Prepared::like(data, &self.map, self.penalty_divisor)?;
        let predictions = prepared.predict(&self.model, watch)?;
        Ok(Predicted { prepared, predictions })
    }

    /// The new table, its columns found by the model's names, or by `features` in the model's order.
    fn read_objects(&self, columns: &LongTable, watch: &dyn Watch) -> Result<Dataset> {
        let input = columns.input.display();
        let wanted: Vec<&str> = self.features.iter().map(|feature| feature.name.as_str()).collect();
        let table = open_which(&columns.input, &columns.which, watch)?;
        let mut columns = columns.clone();
        columns.penalty_strength = self.model.parts().penalty_strength;
        match &columns.features {
            Some(names) if names.len() != wanted.len() => {
                let (named, own) = (counted(names.len(), "column"), wanted.len());
                let (names, wanted) = (names.join(", "), wanted.join(", "));
                return Err(usage!("--features names {named} ({names}), but the model has {own} ({wanted})"));
            }
            Some(_) => {}
            None => columns.features = Some(self.find_features(&table, &columns)?),
        }
        let data = columns.group(&table, watch)?;
        for (own, new) in self.features.iter().zip(&data.features) {
            let said = |unit: &Option<String>| unit.clone().filter(|unit| !unit.is_empty());
            if let (Some(model), Some(unit)) = (said(&own.unit), said(&new.unit))
                && model != unit
            {
                return Err(failed!(
                    "{input}: column `{}` is in {unit}, but the model's {} in {model}; convert it",
                    new.name,
                    own.name
                ));
            }
        }
        Ok(data)
    }

    fn find_features(&self, table: &Table, columns: &LongTable) -> Result<Vec<String>> {
        let wanted: Vec<&str> = self.features.iter().map(|feature| feature.name.as_str()).collect();
        let mut names = Vec::new();
        for name in &wanted {
            let column = root_of(name).unwrap_or(name);
            let Some(found) = any_case(table, column) else {
                return Err(usage!(
                    "{}: no column `{column}`: the model has the features {}, the table the columns {}; name them in the model's order with --features",
                    columns.input.display(),
                    wanted.join(", "),
                    table.names().join(", ")
                ));
            };
            let ends = ["_error", "_err"].map(|end| format!("{}{end}", found.name()));
            if let Some(error) = ends.iter().find(|end| table.column(end).is_some()) {
                return Err(columns.error_bar(error));
            }
            names.push(rooted(found.name(), root_of(name).is_some()));
        }
        Ok(names)
    }
}

impl Predicted {
    /// The group of each object; -1 for an object in none.
    pub fn labels(&self) -> Vec<i32> {
        self.predictions.iter().map(|p| p.label.map_or(NOISE, |label| label as i32)).collect()
    }

    /// One row per object.
    pub fn table(&self) -> Result<Table> {
        let (found, data) = (&self.predictions, &self.prepared.data);
        let probability = found.iter().map(|p| p.probability).collect();
        let runner_up: Vec<Option<(u32, f64)>> = found.iter().map(|p| p.runner_up).collect();
        let alone = found.iter().map(|p| p.alone).collect();
        let field = found.iter().map(|p| p.field).collect();
        let shares: Vec<f64> = found.iter().flat_map(|p| p.candidates.iter().copied()).collect();
        let mut columns = vec![
            data.object_column(),
            described("label", Data::I32(self.labels()), "cluster of the model, from 0; -1: in none of them"),
        ];
        columns.extend(certainty_columns(probability, &runner_up, alone, field)?);
        let means = self.prepared.map.mean_features(&data.candidates, &shares);
        columns.extend(data.feature_columns(&means, Some(MEAN_FEATURES)));
        columns.extend(data.truth_column());
        let mut table = Table::new(columns)?;
        table.set_metadata("goc_version", env!("CARGO_PKG_VERSION"));
        table.set_metadata("goc_method", "predict");
        Ok(table)
    }
}
