//! `goc candidates`: measured values with errors in, a long table of candidates out.
//!
//! [`sampling`] has the flags and the work, which `goc stars` shares; [`long`] is the table while it grows.

mod choices;
mod long;
mod sampling;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use goc_galaxy::catalogue::DistancePrior;
use goc_galaxy::stars::StarActions;
use goc_tables::{Column, Table};
use serde_json::json;

use crate::fail::Fail;
use goc_pipeline::long_table::TRUTH_NAMES;
use crate::measured_table::MeasuredArgs;
use crate::screen;
use crate::star_table::{ACTION_COLUMNS, Form, StarArgs, StarColumns};
use choices::TransformName;
use long::Feature;
pub use sampling::{Function, SamplingArgs, WhenEmpty};

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

    #[command(flatten, next_help_heading = "Stars")]
    stars: StarArgs,

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
        let table = self.table.open()?;
        let star = self.star_columns(&table)?;
        if star.is_none() {
            self.sampling.refuse_prior()?;
        }
        let measured = self.table.measure(table, self.sampling.shape, star.as_ref().map(|s| &s.names))?;
        let (f, when_empty) = match &star {
            Some(columns) => {
                (actions_of(&self.stars, columns, self.sampling.distance_prior)?, WhenEmpty::Drop)
            }
            None => (self.sampling.function(&measured)?, WhenEmpty::Refuse),
        };
        let when_empty = self.sampling.when_empty.unwrap_or(when_empty);
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

    /// The columns of a star catalogue, if actions are what is wanted.
    fn star_columns(&self, table: &Table) -> Result<Option<StarColumns>, Fail> {
        match self.sampling.transform {
            Some(TransformName::Actions) => Ok(Some(self.stars.require_observed(table, &self.table.input)?)),
            None if self.table.values.is_none() => {
                let found = self.stars.find(table)?.filter(|columns| columns.form != Form::Galactocentric);
                if found.is_some() {
                    screen::note(
                        "a star catalogue: its candidates are actions (--transform none for the values themselves)",
                    );
                    return Ok(Some(self.stars.require_observed(table, &self.table.input)?));
                }
                Ok(None)
            }
            _ => Ok(None),
        }
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

/// The transformation from what was measured of a star to its actions; the energy is carried along.
pub fn actions_of(
    stars: &StarArgs,
    columns: &StarColumns,
    prior: Option<DistancePrior>,
) -> Result<Function, Fail> {
    let Form::Observed(sky, depth) = columns.form else {
        return Err(Fail::usage("candidates need a catalogue of measured values, not Galactocentric ones"));
    };
    let catalogue = stars.catalogue(sky, depth)?;
    let transform = StarActions::new(catalogue, Arc::new(stars.finder()?), stars.jphi);
    let columns = ACTION_COLUMNS.map(|(name, unit)| Feature { name: name.into(), unit: Some(unit.into()) });
    Ok(Function {
        name: "actions".into(),
        transform: Box::new(transform),
        columns: columns.into(),
        features: 3,
        prior: prior.map(|prior| (catalogue, prior)),
        settings: stars.settings(),
    })
}
