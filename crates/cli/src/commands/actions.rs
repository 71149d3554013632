//! `goc actions`: stars in, the same stars with their orbital actions out.
//!
//! Every row is kept. A star without actions (unbound, no distance, a missing number) has empty
//! fields and the reason in `actions_note`.

use std::path::PathBuf;

use clap::Args;
use goc_galaxy::actions::{ActionFinder, Motion, Outcome};
use goc_galaxy::frames::{Galactocentric, JphiSign};
use goc_galaxy::stars::{ACTIONS, ENERGY};
use goc_galaxy::units::GYR_PER_TIME;
use goc_pipeline::labels::describe;
use goc_pipeline::long_table::MISSING;
use goc_pipeline::star_model::{Place, told_actions};
use goc_pipeline::table_columns::TableColumns;
use goc_tables::{Column, Data, Files, Missing, Table};
use rayon::prelude::*;
use serde_json::json;

use super::Work;
use crate::console::{self, Console};
use crate::failure::Result;
use crate::output::OutputArgs;
use crate::star_table::StarArgs;
use crate::which_table::WhichArgs;

/// Why a star has no actions.
const NOTE: &str = "actions_note";

/// Frequencies and angles.
const MOTION: [&str; 6] = ["Omega_r", "Omega_z", "Omega_phi", "theta_r", "theta_z", "theta_phi"];

/// Compute orbital actions of stars: adds Jr, Jz, Jphi and energy to the table
#[derive(Args)]
#[command(after_help = "Example: goc actions gaia.fits --sun astropy-v4.0 -o actions.fits\n\
    The authors' tables:\n  goc actions stars.csv --variant authors --angles radians --columns l=we_ell,b=we_bee")]
pub struct Actions {
    /// Table with one row per star (.parquet, .fits, .csv, .csv.gz, .ecsv, .vot; `-` is standard
    /// input)
    input: PathBuf,

    #[command(flatten)]
    which: WhichArgs,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    stars: StarArgs,

    /// Also give the frequencies (rad/Gyr) and angles (rad): Omega_r, Omega_z, Omega_phi, theta_r,
    /// theta_z, theta_phi
    #[arg(long)]
    frequencies: bool,

    /// Value that means "missing", beside NaN and null
    #[arg(long, value_name = "RULE", default_value = MISSING)]
    missing: String,

    /// Prefix for new columns whose names the table already has
    #[arg(long, value_name = "TEXT", default_value = "")]
    prefix: String,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Work for Actions {
    fn files(&self) -> Files {
        let files = Files::default().reads([&self.input]).reads([&self.stars.potential]);
        self.output.files(files)
    }

    fn run(self) -> Result<()> {
        self.output.check(self.json)?;
        let (missing, model) = (Missing::parse(&self.missing)?, self.stars.model()?);
        let to = self.output.format(self.json);
        let mut table = goc_pipeline::open_for(&self.input, &self.which.which(), to, &Console::default())?;
        check_room(&table, self.new_names(), &self.prefix, &self.output)?;
        let source = self.input.display().to_string();
        let columns = TableColumns::new(&table, &source);
        let stars = model.require(&columns, &Console::default())?;
        let places = model.places(&columns, &stars, &|number| missing.is_missing(number))?;
        let finder = model.finder()?;
        let found: Vec<Galactocentric> = places.iter().filter_map(|p| p.as_ref().ok().copied()).collect();
        let mut found = finder.many(&found).into_iter();
        let outcomes: Vec<Result<Outcome, String>> = places
            .iter()
            .map(|place| match place {
                // One outcome for each position, in order.
                Ok(_) => found.next().ok_or_else(|| "not computed".to_string()),
                Err(reason) => Err(reason.clone()),
            })
            .collect();
        let added = outcome_columns(model.jphi, &outcomes)?;
        let mut reasons = std::collections::BTreeMap::<String, usize>::new();
        for note in added.notes.iter().filter(|note| !note.is_empty()) {
            *reasons.entry(note.clone()).or_default() += 1;
        }
        for column in added.columns {
            push(&mut table, column, &self.prefix)?;
        }
        if self.frequencies {
            for column in motion_columns(&finder, &places, model.jphi)? {
                push(&mut table, column, &self.prefix)?;
            }
        }
        table.set_metadata("goc_version", env!("CARGO_PKG_VERSION"));
        describe(&mut table, &model.settings());
        self.output.write(&table, self.json)?;
        let without: usize = reasons.values().sum();
        if self.json {
            let mut told = vec![("version", json!(env!("CARGO_PKG_VERSION")))];
            told.extend(model.settings());
            told.push(("n_stars", json!(outcomes.len())));
            told.push(("n_without_actions", json!(without)));
            told.push(("reasons", json!(reasons)));
            told.extend(self.output.file().map(|path| ("output", json!(path.display().to_string()))));
            return console::print_pairs(told);
        }
        if without > 0 {
            let all: Vec<String> =
                reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
            console::note(format!(
                "{without} of {} stars have no actions: {}",
                outcomes.len(),
                all.join(", ")
            ));
        }
        if without == outcomes.len() {
            console::note("no star has actions: check the units (degrees, mas or kpc, mas/yr, km/s)");
        }
        let to = self.output.file().map_or_else(String::new, |path| format!(", in {}", path.display()));
        console::note(format!("actions of {} stars{to}", outcomes.len() - without));
        Ok(())
    }
}

impl Actions {
    /// The columns that are added.
    fn new_names(&self) -> impl Iterator<Item = &'static str> {
        let motion: &[&str] = if self.frequencies { &MOTION } else { &[] };
        let actions = ACTIONS.into_iter().chain([ENERGY]).map(|(name, _)| name);
        actions.chain([NOTE]).chain(motion.iter().copied())
    }
}

/// The new columns, and the reason of each star that has no actions.
struct Added {
    columns: Vec<Column>,
    notes: Vec<String>,
}

fn outcome_columns(sign: JphiSign, outcomes: &[Result<Outcome, String>]) -> Result<Added> {
    let n = outcomes.len();
    let (mut values, mut notes) = (vec![vec![f64::NAN; n]; 4], vec![String::new(); n]);
    for (row, outcome) in outcomes.iter().enumerate() {
        let (numbers, note) = match outcome {
            Ok(outcome) => told_actions(outcome, sign),
            Err(reason) => ([f64::NAN; 4], reason.clone()),
        };
        values.iter_mut().zip(numbers).for_each(|(column, value)| column[row] = value);
        notes[row] = note;
    }
    let mut columns = Vec::new();
    for ((name, unit), values) in ACTIONS.into_iter().chain([ENERGY]).zip(values) {
        columns.push(optional(name, unit, values)?);
    }
    columns.push(Column::new(NOTE, Data::Text(notes.clone())).with_description("why there are no actions"));
    Ok(Added { columns, notes })
}

/// Frequencies and angles; empty where there are no actions. The sign of the azimuth follows that
/// of Jphi.
fn motion_columns(finder: &ActionFinder, places: &[Place], sign: JphiSign) -> Result<Vec<Column>> {
    let mut values = vec![vec![f64::NAN; places.len()]; 6];
    let found: Vec<Option<Motion>> = places
        .par_iter()
        .map(|place| place.as_ref().ok().and_then(|star| finder.with_angles(star).bound()))
        .collect();
    for (row, motion) in found.iter().enumerate() {
        let Some(motion) = motion else { continue };
        for c in 0..3 {
            let turn = if c == 2 { sign.of(1.0) } else { 1.0 };
            values[c][row] = turn * motion.frequencies[c] / GYR_PER_TIME;
            let angle = turn * motion.angles[c];
            values[3 + c][row] = angle.rem_euclid(std::f64::consts::TAU);
        }
    }
    let units = ["rad/Gyr", "rad/Gyr", "rad/Gyr", "rad", "rad", "rad"];
    MOTION.into_iter().zip(units).zip(values).map(|((name, unit), v)| optional(name, unit, v)).collect()
}

/// A column of numbers, null where NaN.
pub fn optional(name: &str, unit: &str, values: Vec<f64>) -> Result<Column> {
    let valid: Vec<bool> = values.iter().map(|v| !v.is_nan()).collect();
    let all = valid.iter().all(|v| *v);
    let column = Column::new(name, Data::F64(values)).with_unit(unit);
    Ok(if all { column } else { column.with_valid(valid)? })
}

/// Refuses a table that cannot take columns of these names with the prefix, or that cannot be
/// written to `output`, before the columns are computed.
pub fn check_room<'n>(
    table: &Table,
    names: impl IntoIterator<Item = &'n str>,
    prefix: &str,
    output: &OutputArgs,
) -> Result<()> {
    names.into_iter().try_for_each(|name| new_name(table, name, prefix).map(|_| ()))?;
    output.check_can_hold(table)
}

/// The name with the prefix; refuses one that already exists.
fn new_name(table: &Table, name: &str, prefix: &str) -> Result<String> {
    let name = format!("{prefix}{name}");
    if table.has(&name) {
        return Err(usage!(
            "the table already has a column `{name}`; use another --prefix, such as --prefix new_"
        ));
    }
    Ok(name)
}

/// Adds a column under its name with the prefix; refuses one that already exists.
pub fn push(table: &mut Table, column: Column, prefix: &str) -> Result<()> {
    let name = new_name(table, column.name(), prefix)?;
    Ok(table.push(column.with_name(name))?)
}
