//! Which columns of a long table are what, as flags.

use std::path::PathBuf;

use clap::Args;
use goc_pipeline::long_table::{LongTable, MISSING};

use crate::which_table::WhichArgs;

/// Which columns of a long table are what.
#[derive(Args, Clone, Debug)]
pub struct LongTableArgs {
    /// Table with one row per candidate (.parquet, .fits, .csv, .csv.gz, .ecsv, .vot; `-` is
    /// standard input)
    pub input: PathBuf,

    #[command(flatten)]
    pub columns: ColumnArgs,
}

/// The columns alone.
#[derive(Args, Clone, Debug)]
pub struct ColumnArgs {
    #[command(flatten)]
    pub which: WhichArgs,

    /// Column that names the object [default: object, source_id, i or id]
    #[arg(long, value_name = "COLUMN")]
    pub object: Option<String>,

    /// Feature columns, or their square roots: sqrt(Jr),sqrt(Jz),Jphi [default: those the table's
    /// metadata name, or Jr,Jz,Jphi, or every other column of real numbers]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub features: Option<Vec<String>>,

    /// Penalty column, or `none` [default: penalty or parallax_penalty, if present]
    #[arg(long, value_name = "COLUMN")]
    pub penalty: Option<String>,

    /// Column of weights in place of penalties: each candidate's likelihood, up to a factor
    #[arg(long, value_name = "COLUMN", conflicts_with = "penalty")]
    pub weight: Option<String>,

    /// Column of the objects' weights, the same in all rows of an object [default: all equal]
    #[arg(long, value_name = "COLUMN")]
    pub object_weight: Option<String>,

    /// Column of the true groups, or `none` [default: truth or true_cluster_id, if present]
    #[arg(long, value_name = "COLUMN")]
    pub truth: Option<String>,

    /// Value that means "missing"; `none`, or `nan` to count NaN and null too
    #[arg(long, value_name = "RULE", default_value = MISSING)]
    pub missing: String,
}

impl ColumnArgs {
    /// For one table.
    pub fn of(&self, input: impl Into<PathBuf>) -> LongTable {
        LongTable {
            which: self.which.which(),
            object: self.object.clone(),
            features: self.features.clone(),
            penalty: self.penalty.clone(),
            weight: self.weight.clone(),
            object_weight: self.object_weight.clone(),
            truth: self.truth.clone(),
            missing: self.missing.clone(),
            ..LongTable::new(input)
        }
    }
}

impl LongTableArgs {
    /// In the form that the pipeline needs.
    pub fn table(&self) -> LongTable {
        self.columns.of(&self.input)
    }
}
