//! `goc compare`: every method and every oracle on the same data, one table.
//!
//! A row of the table is a `goc cluster` command: [`rows`] lists them as the flags that a person would type, so that each can be run
//! again alone. Methods run one after another, that their times may be compared; each uses all threads where it can.

mod print;
mod rows;

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, Parser, ValueEnum};
use goc::baselines::check_k;
use goc::metrics::Scores;
use goc::scale::{Scaler, Scaling};
use serde_json::{Value, json};

use super::cluster::MethodArgs;
use crate::choices::{PenaltyScale, PresetName, at_least_one, typed};
use crate::fail::Fail;
use crate::features::{FeatureMapName, Roots};
use crate::long_table::{LongTable, LongTableArgs, Taken, scores_of};
use crate::screen;
use print::Summary;
use rows::Row;

/// Run every method and every oracle on the same candidates; one table
#[derive(Args)]
#[command(
    after_help = "Example: goc compare candidates.parquet --k 50 --seeds 5 --only goc,uk-means,linkage\n\
         Flags behind -- go to every method that has them: goc compare candidates.parquet --k 50 -- --worlds 200"
)]
pub struct Compare {
    /// Tables with one row a candidate; several give a mean over all
    #[arg(required_unless_present = "list", value_name = "TABLE")]
    inputs: Vec<PathBuf>,

    /// Number of clusters to begin with; methods that find it themselves do not use it
    #[arg(long, value_name = "K", required_unless_present = "list")]
    k: Option<usize>,

    /// Runs with different seeds; a method that draws nothing runs once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one())]
    seeds: usize,

    /// The first of the seeds
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Only these: names as in the table, or what stands before the slash (goc, uk-means/k-means, affinity)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Option<Vec<String>>,

    /// Print the names with their flags, and run nothing
    #[arg(long)]
    list: bool,

    /// Weight of the penalties
    #[arg(long, default_value_t = 0.01, allow_negative_numbers = true)]
    lambda: f64,

    /// How features are made comparable: standard, robust (median, IQR) or none
    #[arg(long, default_value = "standard")]
    scale: Scaling,

    /// What is taken of the features: none (as they are), actions (sqrt(Jr), sqrt(Jz), Jphi), or auto (actions where they have those names)
    #[arg(long, value_enum, value_name = "MAP", default_value_t = FeatureMapName::None, hide_possible_values = true)]
    feature_map: FeatureMapName,

    /// Divide the penalties by the largest (max), or leave them (none)
    #[arg(long, value_enum, default_value_t = PenaltyScale::Max)]
    penalty_scale: PenaltyScale,

    /// Choices of GOC that belong together
    #[arg(long, value_enum, default_value_t = PresetName::Paper)]
    preset: PresetName,

    /// Column that names the object [default: object, source_id, i or id]
    #[arg(long, value_name = "COLUMN")]
    object: Option<String>,

    /// Feature columns, or their square roots: sqrt(Jr),sqrt(Jz),Jphi [default: what the table says, or Jr,Jz,Jphi, or every other column of real numbers]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    features: Option<Vec<String>>,

    /// Penalty column, or `none` [default: penalty or parallax_penalty if there]
    #[arg(long, value_name = "COLUMN")]
    penalty: Option<String>,

    /// Column of the true groups, or `none` [default: truth or true_cluster_id if there]
    #[arg(long, value_name = "COLUMN")]
    truth: Option<String>,

    /// Value that means "missing"; `none`, or `nan` to count NaN and null too
    #[arg(long, value_name = "RULE", default_value = "-9999")]
    missing: String,

    /// How the table is printed
    #[arg(long, value_enum, default_value_t = Layout::Markdown)]
    format: Layout,

    /// Also write every run, a row each
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

/// The flags of a row, parsed as `goc cluster` parses them.
#[derive(Parser)]
#[command(name = "goc cluster")]
struct Flags {
    #[command(flatten)]
    method: MethodArgs,
}

/// What one run gave.
pub struct Run {
    /// Which row, by its place in the list.
    pub row: usize,
    pub set: usize,
    pub seed: u64,
    /// Why there is no answer, or the answer.
    pub outcome: Result<Outcome, String>,
}

pub struct Outcome {
    pub scores: Option<Scores>,
    pub k: usize,
    pub noise: usize,
    pub iterations: usize,
    pub objective: Option<f64>,
    pub converged: bool,
    pub seconds: f64,
}

impl Compare {
    pub fn run(self) -> Result<(), Fail> {
        let rows = self.rows()?;
        if self.list {
            let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
            let lines = rows.iter().map(|row| format!("{:<width$}  {}\n", row.name, row.flags));
            return screen::print(&lines.collect::<String>());
        }
        for input in &self.inputs {
            screen::check_output_of(input, self.output.as_deref())?;
        }
        let methods = rows.iter().map(|row| self.parse(row)).collect::<Result<Vec<_>, _>>()?;
        if !(self.lambda.is_finite() && self.lambda >= 0.0) {
            return Err(Fail::usage(format!(
                "lambda is {}, but must be a finite number not below 0",
                self.lambda
            )));
        }
        let sets = self.inputs.iter().map(|path| self.read(path)).collect::<Result<Vec<_>, _>>()?;
        for (set, path) in sets.iter().zip(&self.inputs) {
            check_k(self.k(), &set.candidates)
                .map_err(|error| Fail::usage(format!("{}: {error}", path.display())))?;
        }
        let jobs: Vec<(usize, usize, u64)> = (0..rows.len())
            .flat_map(|row| (0..sets.len()).map(move |set| (row, set)))
            .flat_map(|(row, set)| {
                let seeds = if rows[row].draws { self.seeds as u64 } else { 1 };
                (0..seeds).map(move |s| (row, set, self.seed.wrapping_add(s)))
            })
            .collect();
        let bar = screen::progress(jobs.len() as u64, "runs");
        let mut runs = Vec::with_capacity(jobs.len());
        for (row, set, seed) in jobs {
            bar.set_message(rows[row].name.clone());
            let outcome = outcome(&methods[row], &sets[set], seed).map_err(|fail| fail.to_string());
            runs.push(Run { row, set, seed, outcome });
            bar.inc(1);
        }
        bar.finish_and_clear();

        if let Some(path) = &self.output {
            let names: Vec<String> = self.inputs.iter().map(|path| path.display().to_string()).collect();
            let mut table = print::runs_table(&rows, &names, &runs)?;
            for (key, value) in self.settings() {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
                table.set_metadata(format!("goc_{key}"), text);
            }
            goc_tables::write(&table, path)?;
        }
        let table: Vec<Summary> = (0..rows.len()).map(|row| Summary::of(row, &runs)).collect();
        if self.json || self.format == Layout::Json {
            let mut object = serde_json::Map::new();
            for (key, value) in self.settings() {
                object.insert(key.into(), value);
            }
            let inputs: Vec<String> = self.inputs.iter().map(|path| path.display().to_string()).collect();
            object.insert("inputs".into(), json!(inputs));
            object.insert("methods".into(), json!(print::json_rows(&rows, &table)));
            return screen::print_json(&Value::Object(object));
        }
        screen::print(&match self.format {
            Layout::Csv => print::csv(&rows, &table),
            _ => print::markdown(&rows, &table, runs.len() > rows.len()),
        })?;
        if runs.len() > rows.len() {
            screen::note("±: standard deviation over seeds and tables together");
        }
        for text in print::remarks(&rows, &runs, self.inputs.len()) {
            screen::note(text);
        }
        if runs.iter().all(|run| run.outcome.is_err()) {
            return Err(Fail::failed("no method had an answer"));
        }
        Ok(())
    }

    /// K; without one, nothing is run.
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
            ("feature_map", json!(typed(self.feature_map))),
            ("penalty_scale", json!(typed(self.penalty_scale))),
            ("preset", json!(typed(self.preset))),
            ("flags_for_all", json!(self.flags.join(" "))),
            ("seed", json!(self.seed)),
            ("seeds", json!(self.seeds)),
        ]
    }

    /// The rows that are asked for.
    fn rows(&self) -> Result<Vec<Row>, Fail> {
        let all = rows::all();
        let Some(only) = &self.only else { return Ok(all) };
        let only: Vec<&str> = only.iter().map(|name| name.trim()).collect();
        for name in &only {
            if !all.iter().any(|row| row.is_called(name)) {
                let mut kinds: Vec<&str> = all.iter().map(|row| row.kind()).collect();
                kinds.dedup();
                return Err(Fail::usage(format!(
                    "--only {name}: no such method; there are {} (goc compare --list names them all)",
                    kinds.join(", ")
                )));
            }
        }
        Ok(all.into_iter().filter(|row| only.iter().any(|name| row.is_called(name))).collect())
    }

    /// The row's flags behind those that all share.
    fn parse(&self, row: &Row) -> Result<MethodArgs, Fail> {
        let mut line: Vec<String> = ["goc cluster", "--k"].map(String::from).to_vec();
        line.push(self.k().to_string());
        line.push(format!("--lambda={}", self.lambda));
        line.push(format!("--scale={}", self.scale));
        line.push(format!("--feature-map={}", typed(self.feature_map)));
        line.push(format!("--penalty-scale={}", typed(self.penalty_scale)));
        line.push(format!("--preset={}", typed(self.preset)));
        line.extend(self.flags.iter().cloned());
        line.extend(row.flags.split_whitespace().map(String::from));
        Flags::try_parse_from(&line).map(|flags| flags.method).map_err(|error| {
            Fail::usage(format!(
                "{}: {}",
                row.name,
                error.to_string().trim_start_matches("error: ").trim_end()
            ))
        })
    }

    /// The candidates of a table, scaled.
    fn read(&self, path: &std::path::Path) -> Result<LongTable, Fail> {
        let args = LongTableArgs {
            input: path.to_path_buf(),
            object: self.object.clone(),
            features: self.features.clone(),
            penalty: self.penalty.clone(),
            weight: None,
            truth: self.truth.clone(),
            missing: self.missing.clone(),
        };
        let table = args.read(&Taken { roots: Roots::By(self.feature_map), ..Taken::default() })?;
        let scaler = Scaler::fit(self.scale, &table.candidates)
            .map_err(|e| Fail::failed(format!("{}: {e}", path.display())))?;
        Ok(table.scaled(&scaler, self.penalty_scale))
    }
}

fn outcome(method: &MethodArgs, set: &LongTable, seed: u64) -> Result<Outcome, Fail> {
    let began = Instant::now();
    let answer = method.with_strength(set).solve(&set.candidates, seed, false)?;
    let seconds = began.elapsed().as_secs_f64();
    let scores = match &set.truth {
        Some(truth) => scores_of(answer.partition.labels(), truth)?,
        None => None,
    };
    Ok(Outcome {
        scores,
        k: answer.k(),
        noise: answer.noise_count(),
        iterations: answer.iterations,
        objective: answer.objective,
        converged: answer.converged,
        seconds,
    })
}
