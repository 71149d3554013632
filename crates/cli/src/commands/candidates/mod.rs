//! `goc candidates`: measured values with errors in, a long table of candidates out.

mod sampling;

use std::path::PathBuf;

use clap::Args;
use goc_galaxy::catalogue::schema::{Form, StarColumns};
use goc_galaxy::spaces::Space;
use goc_pipeline::candidate_table::{into_candidate_table, loss_table, piece_table};
use goc_pipeline::long_table::TRUTH_NAMES;
use goc_pipeline::table_columns::TableColumns;
use goc_pipeline::{Dataset, Origin, StarModel};
use goc_tables::{Column, Files, Format, Table};
use serde_json::{Value, json};

use super::Work;
use crate::console::{self, Console};
use crate::failure::{Failure, Result};
use crate::measured_table::MeasuredArgs;
use crate::output::OutputArgs;
use crate::star_table::StarArgs;
pub use sampling::SamplingArgs;

/// Candidates that are in memory together where the output takes them piece by piece.
const AT_A_TIME: usize = 1 << 18;

/// Turn measured values with errors into candidates: sample each object's uncertainty set
#[derive(Args)]
#[command(
    after_help = "Example: goc candidates stars.fits --values parallax,pmra,pmdec --sigmas 2 -o candidates.parquet\n\
    An object's candidates depend only on the seed and on its name: reordering or filtering the table \
    changes none of them (except that pca and kernel-pca are fitted to all values)."
)]
pub struct Candidates {
    #[command(flatten)]
    table: MeasuredArgs,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    sampling: SamplingArgs,

    #[command(flatten, next_help_heading = "Stars")]
    stars: StarArgs,

    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Columns to copy to the output; truth or true_cluster_id is always copied
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    keep: Vec<String>,

    /// Also write a table of the objects that lost candidates: drawn, kept, why
    #[arg(long, value_name = "FILE")]
    losses: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Work for Candidates {
    fn files(&self) -> Files {
        let files = Files::default().reads([&self.table.input]).reads([&self.stars.potential]);
        self.output.files(files).writes_tables(&self.losses)
    }

    fn run(self) -> Result<()> {
        self.output.check(self.json)?;
        let (sampling, model) = (self.sampling.sampling()?, self.stars.model()?); // before the table is read for nothing
        let asked = sampling.star_space()?;
        let table = self.table.open()?;
        let stars = self.star_columns(&table, asked, &model)?;
        let space = asked.unwrap_or_default();
        if stars.is_none() && sampling.distance_prior.is_some() {
            return Err(usage!("--distance-prior needs a star catalogue and --transform actions"));
        }
        let star = stars.as_ref().map(|stars| (stars, model.angles));
        let measured = self.table.measure(&table, sampling.shape, star)?;
        let f = match &stars {
            Some(stars) => model.transformation(stars, model.space(space)?, sampling.distance_prior)?,
            None => sampling.transformation(&measured)?,
        };
        let kept = self.kept(&table)?;
        // Parquet takes the candidates as they are drawn: the bytes are the same, and they are
        // never in memory together.
        let streamed = self.output.file().filter(|_| self.output.format(self.json) == Some(Format::Parquet));
        let (mut counts, mut features) = ((0, 0), Vec::new());
        let mut count = |piece: &Dataset| {
            counts = (counts.0 + piece.candidates.objects(), counts.1 + piece.candidates.total());
            features = piece.feature_names().into_iter().map(str::to_string).collect();
        };
        let origin = match streamed {
            Some(path) => {
                let mut origin = None;
                goc_tables::write_pieces(path, |pieces| {
                    let mut put = |piece: Dataset, rows: Vec<usize>| {
                        count(&piece);
                        Ok(pieces.put(piece_table(piece, &rows, &kept)?)?)
                    };
                    let (watch, each) = (Console::default(), AT_A_TIME / sampling.draws.max(1));
                    let drawn =
                        sampling.sample_in_pieces(&measured, &f, self.seed, each, &watch, &mut put)?;
                    // Written first, so that the candidates of a failed command are not left behind.
                    console::write_asked(&self.losses, || loss_table(&drawn.origin).map(Some))?;
                    origin = Some(drawn.origin);
                    Ok::<_, Failure>(drawn.provenance)
                })?;
                origin
            }
            None => {
                let (dataset, origin) = sampling.sample(&measured, &f, self.seed, &Console::default())?;
                count(&dataset);
                console::write_asked(&self.losses, || loss_table(&origin).map(Some))?;
                let made = into_candidate_table(dataset, &origin, &kept)?;
                self.output.write(&made, self.json)?;
                Some(origin)
            }
        };
        let (objects, candidates) = counts;
        let mut summary = origin.map(|origin| summary(&features, counts, &origin)).unwrap_or_default();
        let features = features.len();
        if self.json {
            summary.extend(self.output.file().map(|path| ("output", json!(path.display().to_string()))));
            return console::print_pairs(summary);
        }
        console::note(format!(
            "{candidates} candidates of {objects} objects, {features} features{}",
            self.output.file().map_or_else(String::new, |path| format!(", in {}", path.display()))
        ));
        Ok(())
    }
}

impl Candidates {
    /// The columns of a star catalogue, if a space of stars is requested; `asked` is the space that
    /// was named.
    fn star_columns(
        &self,
        table: &Table,
        asked: Option<Space>,
        model: &StarModel,
    ) -> Result<Option<StarColumns>> {
        let source = self.table.source();
        let columns = TableColumns::new(table, &source);
        match (asked, self.sampling.transform) {
            (Some(_), _) => {}
            (None, None) if self.table.values.is_none() => {
                if model.find(&columns)?.is_none_or(|found| found.form == Form::Galactocentric) {
                    return Ok(None);
                }
                console::note(
                    "a star catalogue: its candidates are actions (--transform none for the values themselves)",
                );
            }
            _ => return Ok(None),
        }
        Ok(Some(model.require_observed(&columns, &Console::default())?))
    }

    /// The columns that are carried along.
    fn kept<'t>(&self, table: &'t Table) -> Result<Vec<&'t Column>> {
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

/// The summary for programs.
fn summary(
    features: &[String],
    (objects, candidates): (usize, usize),
    origin: &Origin,
) -> Vec<(&'static str, Value)> {
    let (mut told, empty) = (origin.settings.clone(), origin.empty());
    let mut put = |key, value: Value| told.push((key, value));
    put("features", json!(features));
    put("n_objects", json!(objects));
    put("n_candidates", json!(candidates));
    put("n_features", json!(features.len()));
    put("n_objects_missing", json!(origin.dropped.len()));
    put("n_objects_empty", json!(empty.len()));
    put("objects_empty", json!(empty));
    put("n_rejected", json!(origin.rejected()));
    told
}
