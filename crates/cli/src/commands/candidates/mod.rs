//! `goc candidates`: measured values with errors in, a long table of candidates out.
//!
//! [`sampling`] has the flags and the work, which `goc stars` shares; [`long`] is the table while it grows.

mod choices;
mod long;
mod sampling;

use std::path::PathBuf;

use clap::Args;
use goc_tables::{Column, Table};
use serde_json::json;

use crate::fail::Fail;
use crate::long_table::TRUTH_NAMES;
use crate::measured_table::MeasuredArgs;
use crate::screen;
pub use sampling::{SamplingArgs, WhenEmpty};

/// Turn measured values with errors into candidates: sample each object's uncertainty set
#[derive(Args)]
#[command(
    after_help = "Example: goc candidates stars.fits --values parallax,pmra,pmdec --sigmas 2 -o candidates.parquet\n\
    An object's candidates depend on the seed and its own name only: reordering or filtering the table changes none of them \
    (but pca and kernel-pca are fitted to all values)."
)]
pub struct Candidates {
    #[command(flatten)]
    table: MeasuredArgs,

    /// Where the candidates go [default: standard output, as CSV]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    sampling: SamplingArgs,

    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Columns to carry along; truth or true_cluster_id always is
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    keep: Vec<String>,

    /// Also write a table of the objects that lost points: drawn, kept, why
    #[arg(long, value_name = "FILE")]
    losses: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Candidates {
    pub fn run(self) -> Result<(), Fail> {
        self.sampling.size()?; // before the table is read for nothing
        for path in [&self.output, &self.losses] {
            screen::check_output(path.as_deref())?;
        }
        let measured = self.table.read(self.sampling.shape)?;
        let f = self.sampling.function(&measured)?;
        let when_empty = self.sampling.when_empty.unwrap_or(WhenEmpty::Refuse);
        let kept = self.kept(measured.table())?;
        let made = self.sampling.sample(&measured, &f, self.seed, when_empty, &kept)?;
        if let Some(path) = &self.losses {
            goc_tables::write(&made.loss_table(&measured)?, path)?;
        }
        if self.output.is_some() || !self.json {
            screen::write_table(&made.table, self.output.as_deref())?;
        }
        if self.json {
            let mut summary = made.summary(&measured);
            if let Some(path) = &self.output {
                summary.insert("output".into(), json!(path.display().to_string()));
            }
            return screen::print_json(&summary.into());
        }
        screen::note(format!(
            "{} candidates of {} objects, {} features{}",
            made.table.rows(),
            made.objects.len(),
            made.features.len(),
            self.output.as_ref().map_or_else(String::new, |path| format!(", in {}", path.display()))
        ));
        Ok(())
    }

    /// The columns that are carried along.
    fn kept<'t>(&self, table: &'t Table) -> Result<Vec<&'t Column>, Fail> {
        let mut kept: Vec<&Column> = Vec::new();
        for name in self.keep.iter().filter(|name| !name.is_empty()) {
            kept.push(table.require(name)?);
        }
        for name in TRUTH_NAMES {
            if let Some(column) = table.column(name)
                && !kept.iter().any(|k| k.name() == name)
            {
                kept.push(column);
            }
        }
        Ok(kept)
    }
}
