//! `goc stars`: from a star catalogue to labelled stars, in one command.
//!
//! From errors to uncertainty sets, candidates, actions (or another space) and groups: what `goc
//! candidates` and `goc cluster` do, without a file in between. The result is the input's own rows
//! with added columns, so it can go back into TOPCAT or astropy. A star that could not be used is
//! kept, without a label but with the reason.

use std::path::PathBuf;

use clap::Args;
use goc_pipeline::candidate_table::candidate_table;
use goc_pipeline::long_table::MISSING_OR_NAN;
use goc_pipeline::table_columns::TableColumns;
use goc_pipeline::{BadRows, Sampling};
use goc_tables::{Column, Data, Files};
use serde_json::json;

use super::Work;
use super::actions::{check_room, optional, push};
use super::candidates::SamplingArgs;
use super::cluster::{self, FitArgs};
use crate::choices::words;
use crate::console::{self, Console};
use crate::failure::Result;
use crate::measured_table::{MeasuredArgs, MoreArgs, QuotedErrorArgs};
use crate::output::OutputArgs;
use crate::star_table::StarArgs;
use crate::which_table::WhichArgs;

/// The columns added to the stars, besides the features.
const LABEL: &str = "label";
const RUNNER_UP: &str = "runner_up";
const CANDIDATES: &str = "candidates";
const NOTE: &str = "note";
/// Columns copied from the label table, if it has them.
const PLAIN: [&str; 6] = ["probability", "runner_up_probability", "alone", "field", "distance", "penalty"];
/// Stability and significance of the labels, if requested.
const SURE: [&str; 6] = ["stability", "cluster_stability", "recurrence", "log_odds", "p_value", "q_value"];

/// Group the stars of a catalogue with errors: adds labels and actions to its rows
#[derive(Args)]
#[command(after_help = "Example: goc stars gaia.fits --method marginal -o groups.fits\n\
    The paper's method, with K given:\n  goc stars gaia.fits --k 50 -o groups.fits\n\
    As in the paper: --shape box --sampler grid:parallax --penalty density:parallax --variant authors\n\
    --preset authors")]
pub struct Stars {
    /// Table with one row per star: ra, dec, parallax, pmra, pmdec, radial_velocity, their _error
    /// and _corr columns
    input: PathBuf,

    #[command(flatten)]
    which: WhichArgs,

    #[command(flatten)]
    output: OutputArgs,

    /// Column that names the star [default: object, source_id, i or id; else the row's position]
    #[arg(long, value_name = "COLUMN")]
    object: Option<String>,

    /// Value that means "missing", beside NaN and null: such a star is kept without a label
    #[arg(long, value_name = "RULE", default_value = MISSING_OR_NAN)]
    missing: String,

    /// A star with an infinite number, a negative error or a correlation beyond 1: stop, or keep it
    /// without a label
    #[arg(long, value_parser = words::<BadRows>(), default_value = "refuse")]
    bad_rows: BadRows,

    /// Columns of the standard errors of depth, proper motions and radial velocity [default:
    /// x_error, x_err, sigma_x or e_x]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    errors: Option<Vec<String>>,

    #[command(flatten)]
    quoted: QuotedErrorArgs,

    #[command(flatten)]
    more: MoreArgs,

    /// Prefix for the names of the new columns
    #[arg(long, value_name = "TEXT", default_value = "goc_")]
    prefix: String,

    /// Also write the candidates
    #[arg(long, value_name = "FILE")]
    candidates: Option<PathBuf>,

    #[command(flatten)]
    sampling: SamplingArgs,

    #[command(flatten)]
    fit: FitArgs,

    #[command(flatten, next_help_heading = "Stars")]
    stars: StarArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Work for Stars {
    fn files(&self) -> Files {
        let potential = [&self.stars.potential];
        let files = self.fit.files().reads([&self.input]).reads(potential);
        self.output.files(files).writes_tables(&self.candidates)
    }

    fn run(self) -> Result<()> {
        self.output.check(self.json)?;
        let sampling = self.sampling.sampling()?;
        let sampler = match &self.sampling.sampler {
            Some(sampler) => sampler.clone(),
            None if self.sampling.says_size() => sampling.sampler.clone(),
            None => sampling.sampler_for(self.fit.settings.method),
        };
        let sampling = Sampling { sampler, extras: self.candidates.is_some(), ..sampling };
        let model = self.stars.model()?;
        self.fit.check()?;
        if self.sampling.transform.is_some() {
            return Err(usage!(
                "goc stars clusters stars in a space (--space); for other features use goc candidates --transform"
            ));
        }
        let args = MeasuredArgs {
            which: self.which.clone(),
            object: self.object.clone(),
            missing: self.missing.clone(),
            errors: self.errors.clone(),
            bad_rows: self.bad_rows,
            quoted: self.quoted.clone(),
            more: self.more.clone(),
            ..MeasuredArgs::of_stars(self.input.clone())
        };
        let space = sampling.star_space()?.unwrap_or_default();
        let table = args.open_for(self.output.format(self.json))?;
        let source = args.source();
        let columns = model.require_observed(&TableColumns::new(&table, &source), &Console::default())?;
        let measured = args.measure(&table, sampling.shape, Some((&columns, model.angles)))?;
        let f = model.transformation(&columns, model.space(space)?, sampling.distance_prior)?;
        // The columns that any method adds: an older probability beside new labels would mislead.
        let with = measured.with_names().iter().map(String::as_str);
        let features = f.features.iter().map(|feature| feature.name.as_str()).chain(with);
        let new = [LABEL, RUNNER_UP, CANDIDATES, NOTE].into_iter().chain(PLAIN).chain(SURE).chain(features);
        check_room(&table, new, &self.prefix, &self.output)?;
        let (dataset, origin) = sampling.sample(&measured, &f, self.fit.seed, &Console::default())?;
        drop(measured);
        console::write_asked(&self.candidates, || candidate_table(&dataset, &origin, &[]).map(Some))?;
        let provenance = dataset.provenance.clone();
        let features: Vec<String> = dataset.features.iter().map(|feature| feature.name.clone()).collect();
        let sets = &dataset.candidates;
        let counts: Vec<usize> = (0..sets.objects()).map(|i| sets.count(i)).collect();
        let done = self.fit.run(dataset, false)?;

        let n = table.rows();
        let labels = done.label_table()?;
        let mut row_of = vec![None; n];
        let mut kept = vec![0_i32; n];
        for (i, &row) in origin.rows.iter().enumerate() {
            row_of[row] = Some(i);
            kept[row] = counts[i] as i32;
        }
        let notes = origin.notes();
        let mut out = table;
        let mut columns = vec![spread_labels(&labels, &row_of)?];
        if let Some(runner_up) = labels.column(RUNNER_UP) {
            columns.push(spread_runner_up(runner_up, &row_of)?);
        }
        let names = PLAIN.into_iter().chain(features.iter().map(String::as_str)).chain(SURE);
        for column in names.filter_map(|name| labels.column(name)) {
            let values = column.numbers()?;
            let spread = row_of.iter().map(|i| i.map_or(f64::NAN, |i: usize| values[i])).collect();
            let spread = optional(column.name(), column.unit().unwrap_or_default(), spread)?;
            columns.push(spread.with_description(column.description().unwrap_or("of the chosen candidate")));
        }
        columns.push(
            Column::new(CANDIDATES, Data::I32(kept)).with_description("number of candidates of the star"),
        );
        columns.push(Column::new(NOTE, Data::Text(notes)).with_description("what was dropped, and why"));
        for column in columns {
            push(&mut out, column, &self.prefix)?;
        }
        for (key, value) in provenance.iter().chain(labels.metadata()) {
            out.set_metadata(key.clone(), value.clone());
        }
        self.output.write(&out, self.json)?;
        if self.json {
            let mut all = origin.settings;
            all.extend(cluster::summary(&done, self.output.file()));
            all.push(("n_stars", json!(n)));
            return console::print_pairs(all);
        }
        console::note(cluster::sentence(&done, self.output.file()));
        Ok(())
    }
}

/// The next best group of each row, null where there is none.
fn spread_runner_up(column: &Column, row_of: &[Option<usize>]) -> Result<Column> {
    let value = |i: &Option<usize>| i.filter(|&i| !column.is_null(i)).map(|i| column.text(i).parse::<i32>());
    let found: Vec<Option<i32>> = row_of.iter().map(|i| value(i).and_then(Result::ok)).collect();
    let valid = found.iter().map(Option::is_some).collect();
    let spread = Column::new(RUNNER_UP, Data::I32(found.iter().map(|v| v.unwrap_or(-1)).collect()));
    Ok(spread.with_description(column.description().unwrap_or_default()).with_valid(valid)?)
}

/// The label of each row of the input, null for a star that was not clustered.
fn spread_labels(labels: &goc_tables::Table, row_of: &[Option<usize>]) -> Result<Column> {
    let label = labels.require(LABEL)?.integers()?;
    let spread = row_of.iter().map(|i| i.map_or(-1, |i| label[i] as i32)).collect();
    let column = Column::new(LABEL, Data::I32(spread))
        .with_description("group, from 0; -1: in no group; empty: not clustered");
    Ok(column.with_valid(row_of.iter().map(Option::is_some).collect())?)
}
