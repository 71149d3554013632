//! `goc compare`: every method and every oracle on the same data, one table.
//!
//! [`goc_pipeline::compare`] defines the rows and runs them; this module selects and prints them.

mod print;

use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, ValueEnum};
use goc::choice::Choice;
use goc::method::check_k;
use goc::optimistic::Preset;
use goc::scale::Scaling;
use goc_pipeline::checkpoint::{Checkpoint, digest, digest_of};
use goc_pipeline::compare::{self, Outcome, Row};
use goc_pipeline::keep::Keep;
use goc_pipeline::settings::LAMBDA;
use goc_pipeline::{Auto, FeatureMapName, PenaltyScale, Prepared, Settings};
use goc_tables::Files;
use serde_json::{Value, json};

use super::Work;
use crate::choices::{at_least_one, words};
use crate::console::{self, Console};
use crate::failure::{Failure, Result};
use crate::long_table::ColumnArgs;
use print::Summary;

/// Run every method and every oracle on the same candidates, and print one table
#[derive(Args)]
#[command(
    after_help = "Example: goc compare candidates.parquet --k 50 --seeds 5 --only goc,uk-means,linkage\n\
    Flags after -- go to every method that has them:\n  goc compare candidates.parquet --k 50 -- --worlds 200"
)]
pub struct Compare {
    /// Tables with one row per candidate; several give a mean over all
    #[arg(required_unless_present = "list", value_name = "TABLE")]
    inputs: Vec<PathBuf>,

    /// Initial number of clusters; methods that find K ignore it
    #[arg(long, value_name = "K", required_unless_present = "list")]
    k: Option<usize>,

    /// Runs with different seeds; deterministic methods run once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one())]
    seeds: usize,

    /// The first of the seeds
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Only these methods: names as in the table, or the part before the slash (goc,
    /// uk-means/k-means, affinity)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Option<Vec<String>>,

    /// Save finished runs in this folder, and resume from those it holds
    #[arg(long, value_name = "FOLDER")]
    checkpoint: Option<PathBuf>,

    /// Also give the wall-clock seconds of each method, which differ from run to run
    #[arg(long)]
    times: bool,

    /// Print the names with their flags, and run nothing
    #[arg(long)]
    list: bool,

    /// Weight of the penalties
    #[arg(long, default_value_t = LAMBDA)]
    lambda: f64,

    /// How features are made comparable: standard, robust (median, IQR) or none
    #[arg(long, default_value = "standard")]
    scale: Scaling,

    /// Map applied to the features: none, actions (sqrt(Jr), sqrt(Jz), Jphi), or auto (actions
    /// where they have those names)
    #[arg(long, value_parser = words::<FeatureMapName>(), value_name = "MAP", default_value = "none", hide_possible_values = true)]
    feature_map: FeatureMapName,

    /// Divide the penalties by the largest (max), or leave them as they are (none)
    #[arg(long, value_parser = words::<PenaltyScale>(), default_value = "max")]
    penalty_scale: PenaltyScale,

    /// Set of choices for GOC
    #[arg(long, value_parser = words::<Preset>(), default_value = "paper")]
    preset: Preset,

    #[command(flatten)]
    columns: ColumnArgs,

    /// How the table is printed
    #[arg(long, value_enum, default_value_t = Layout::Markdown)]
    format: Layout,

    /// Also write every run, one row each
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print one JSON object, as --format json does
    #[arg(long)]
    json: bool,

    /// Flags of `goc cluster` for all methods
    #[arg(last = true, value_name = "FLAGS")]
    flags: Vec<String>,
}

/// How the table is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    Markdown,
    Csv,
    Json,
}

/// Flags of `goc cluster` for all rows.
#[derive(Parser)]
#[command(name = "goc cluster", no_binary_name = true)]
struct Flags {
    #[command(flatten)]
    settings: Settings,
}

/// The result of one run.
pub struct Run {
    /// The index of the row in the list.
    pub row: usize,
    pub set: usize,
    pub seed: u64,
    /// The result, or why there is none.
    pub outcome: Result<Outcome, String>,
}

impl Work for Compare {
    fn files(&self) -> Files {
        Files::default().reads(&self.inputs).writes_tables(&self.output)
    }

    fn run(self) -> Result<()> {
        let rows = self.rows()?;
        if self.list {
            let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
            let lines = rows.iter().map(|row| format!("{:<width$}  {}\n", row.name, row.flags()));
            return console::print(&lines.collect::<String>());
        }
        let base = self.base()?;
        let methods = rows.iter().map(|row| row.settings(&base)).collect::<Result<Vec<_>, _>>()?;
        if !(self.lambda.is_finite() && self.lambda >= 0.0) {
            return Err(usage!("lambda is {}, but must be a finite number not below 0", self.lambda));
        }
        let sets = self.inputs.iter().map(|path| self.read(path, &base)).collect::<Result<Vec<_>, _>>()?;
        for (set, path) in sets.iter().zip(&self.inputs) {
            check_k(self.k(), &set.data.candidates).map_err(|error| usage!("{}: {error}", path.display()))?;
        }
        let jobs: Vec<(usize, usize, u64)> = (0..rows.len())
            .flat_map(|row| (0..sets.len()).map(move |set| (row, set)))
            .flat_map(|(row, set)| {
                let seeds = if rows[row].draws { self.seeds as u64 } else { 1 };
                (0..seeds).map(move |s| (row, set, self.seed.wrapping_add(s)))
            })
            .collect();
        let checkpoint = self.checkpoint(&sets)?;
        let keep = checkpoint.as_ref().map(|kept| kept as &dyn Keep);
        let bar = console::progress(jobs.len() as u64, "runs");
        let mut runs = Vec::with_capacity(jobs.len());
        for (row, set, seed) in jobs {
            bar.set_message(rows[row].name.clone());
            let name = format!("{}.set-{set}.seed-{seed}", rows[row].name);
            let outcome = compare::kept_outcome(&sets[set], &methods[row], seed, keep, &name)?
                .map_err(|error| error.to_string());
            runs.push(Run { row, set, seed, outcome });
            bar.inc(1);
        }
        bar.finish_and_clear();

        let inputs: Vec<String> = self.inputs.iter().map(|path| path.display().to_string()).collect();
        let quantities = print::quantities(self.times);
        if let Some(path) = &self.output {
            let mut table = print::runs_table(&rows, quantities, &inputs, &runs)?;
            goc_pipeline::labels::describe(&mut table, &self.settings());
            goc_tables::write(&table, path)?;
        }
        let table: Vec<Summary> = (0..rows.len()).map(|row| Summary::of(row, &runs)).collect();
        if self.json || self.format == Layout::Json {
            let mut told = self.settings();
            told.push(("inputs", json!(inputs)));
            told.push(("methods", json!(print::json_rows(&rows, quantities, &table))));
            return console::print_pairs(told);
        }
        console::print(&match self.format {
            Layout::Csv => print::csv(&rows, quantities, &table),
            _ => print::markdown(&rows, quantities, &table, runs.len() > rows.len()),
        })?;
        if runs.len() > rows.len() {
            console::note("±: standard deviation over seeds and tables together");
        }
        for text in print::remarks(&rows, &runs, self.inputs.len()) {
            console::note(text);
        }
        if runs.iter().all(|run| run.outcome.is_err()) {
            return Err(failed!("no method succeeded"));
        }
        Ok(())
    }
}

impl Compare {
    /// K; without it, nothing is run.
    fn k(&self) -> usize {
        self.k.unwrap_or(1)
    }

    /// What all rows have in common.
    fn settings(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("version", json!(env!("CARGO_PKG_VERSION"))),
            ("k_asked", json!(self.k())),
            ("lambda", json!(self.lambda)),
            ("scale", json!(self.scale.to_string())),
            ("feature_map", json!(self.feature_map.word())),
            ("penalty_scale", json!(self.penalty_scale.word())),
            ("preset", json!(self.preset.word())),
            ("flags_for_all", json!(self.flags.join(" "))),
            ("seed", json!(self.seed)),
            ("seeds", json!(self.seeds)),
        ]
    }

    /// The folder of finished runs, if one is named. The names of the runs contain seeds and rows,
    /// so a comparison with more of them reuses the existing runs.
    fn checkpoint(&self, sets: &[Prepared]) -> Result<Option<Checkpoint>> {
        let Some(folder) = &self.checkpoint else { return Ok(None) };
        let settings = self.settings();
        let settings = settings.iter().filter(|(name, _)| !["version", "seed", "seeds"].contains(name));
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
        let mut identity: Vec<(&str, String)> = settings.map(|(name, value)| (*name, text(value))).collect();
        identity.push(("candidates", digest(sets.iter().map(|set| &set.data.candidates))));
        let truths = sets.iter().flat_map(|set| set.data.truth.iter().flatten());
        identity.push(("truth", digest_of(truths)));
        Ok(Some(Checkpoint::open(folder, "compare", &identity)?))
    }

    /// The rows that are requested.
    fn rows(&self) -> Result<Vec<Row>> {
        let trimmed =
            |names: &Vec<String>| names.iter().map(|name| name.trim().to_string()).collect::<Vec<_>>();
        compare::rows_called(self.only.as_ref().map(trimmed).as_deref()).map_err(|(name, kinds)| {
            usage!("--only {name}: no such method; there are {kinds} (goc compare --list names them all)")
        })
    }

    /// What all rows share: the flags here, then those behind `--`.
    fn base(&self) -> Result<Settings> {
        let mut base = Settings {
            k: Some(Auto::Number(self.k())),
            lambda: Auto::Number(self.lambda),
            scale: Some(self.scale),
            feature_map: Some(self.feature_map),
            penalty_scale: self.penalty_scale,
            preset: self.preset,
            ..Settings::default()
        };
        let said = |error: clap::Error| {
            Failure::Usage(error.to_string().trim_start_matches("error: ").trim_end().to_string())
        };
        let matches = Flags::command().try_get_matches_from(&self.flags).map_err(said)?;
        base.update_from_arg_matches(&matches).map_err(said)?;
        Ok(base)
    }

    /// The candidates of a table, scaled.
    fn read(&self, path: &std::path::Path, base: &Settings) -> Result<Prepared> {
        let data = self.columns.of(path).read(&Console::default())?;
        Prepared::new(data, base, &Console::default())
            .map_err(|error| Failure::from(error).because(&path.display().to_string()))
    }
}
