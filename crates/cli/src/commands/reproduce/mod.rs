//! `goc reproduce`: the paper's experiments, each cell beside the published one.

mod affinity;
mod figures;
mod paper;
mod print;
mod run;
mod sets;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use goc::optimistic::Termination;
use rayon::prelude::*;
use serde_json::json;

use goc::optimistic::Preset;
use goc_pipeline::OracleName;
use crate::fail::Fail;
use crate::screen;
use paper::CELLS;
pub use print::mean_and_deviation;
use run::Outcome;
use sets::{FirstLabels, Set};

/// Run the paper's experiments and print each figure beside the published one
#[derive(Args)]
#[command(after_help = "Example: goc reproduce --data shared/data --preset authors --seeds 5\n\
         To the printed digit: --init-labels init_labels_all.csv.gz (the authors' own first labels).")]
pub struct Reproduce {
    /// Folder with the authors' sets seed01.fits … seed10.fits, or one whose folder `paper` has them
    /// [default: ten sets that the program makes]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// What the paper says, or what the authors' code does
    #[arg(long, value_parser = crate::choices::words::<Preset>(), default_value = "authors")]
    preset: Preset,

    /// Runs of every cell and set with different seeds; oracles that draw nothing run once, and so does the mixture,
    /// whose draw in the paper is known
    #[arg(long, value_name = "N", default_value_t = 1)]
    seeds: u64,

    /// First labels to use instead of a first clustering: oracle, K0, seed, star, init_cluster
    #[arg(long, value_name = "FILE")]
    init_labels: Option<PathBuf>,

    /// Only these oracles
    #[arg(long, value_parser = crate::choices::words::<OracleName>(), value_delimiter = ',')]
    oracles: Option<Vec<OracleName>>,

    /// How the tables are printed
    #[arg(long, value_enum, default_value_t = Layout::Markdown)]
    format: Layout,

    /// Folder for runs.csv (every run) and convergence.csv (eta1, eta2, eta3 by iteration)
    #[arg(short, long, value_name = "DIR", default_value = "goc-reproduce")]
    output: PathBuf,

    /// Also draw the paper's figures into that folder, as SVG and PNG: Figure 1, the data sets, convergence with every
    /// oracle that is run, the simulation
    #[arg(long)]
    figures: bool,

    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// How tables are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    Markdown,
    Latex,
    Csv,
}

impl Reproduce {
    pub fn run(self) -> Result<(), Fail> {
        if self.seeds == 0 {
            return Err(Fail::usage("--seeds must be at least 1"));
        }
        if self.init_labels.is_some() && (self.data.is_none() || self.seeds > 1) {
            return Err(Fail::usage("--init-labels needs --data and a single seed: nothing is left to draw"));
        }
        let preset = self.preset;
        let sets = match &self.data {
            Some(folder) => sets::from_folder(folder)?,
            None => {
                screen::note(
                    "no --data: ten sets made here; the paper's figures are for other data and left out",
                );
                sets::made_here()?
            }
        };
        let first = self.init_labels.as_ref().map(|path| FirstLabels::read(path, &sets)).transpose()?;
        let jobs: Vec<(usize, &Set, u64)> = CELLS
            .iter()
            .enumerate()
            .filter(|(_, cell)| self.oracles.as_ref().is_none_or(|only| only.contains(&cell.oracle)))
            .flat_map(|(at, _)| sets.iter().map(move |set| (at, set)))
            .flat_map(|(at, set)| {
                // What draws nothing gives the same again.
                let seeds = if run::draws(CELLS[at].oracle) { self.seeds } else { 1 };
                (1..=seeds).map(move |seed| (at, set, seed))
            })
            .collect();
        std::fs::create_dir_all(&self.output)
            .map_err(|e| Fail::failed(format!("{}: cannot create: {e}", self.output.display())))?;
        let bar = screen::progress(jobs.len() as u64, "runs");
        let outcomes: Vec<Outcome> = jobs
            .into_par_iter()
            .map(|(at, set, seed)| {
                let outcome = run::run((at, &CELLS[at]), set, seed, preset, first.as_ref());
                bar.inc(1);
                outcome
            })
            .collect::<Result<_, _>>()?;
        bar.finish_and_clear();
        // The authors' first labels and the presets are for GOC; these rows have neither.
        let affinity = if self.oracles.is_none() {
            let bar = screen::progress(sets.len() as u64, "sets by affinity propagation");
            let outcomes = affinity::run(&sets, &|| bar.inc(1))?;
            bar.finish_and_clear();
            Some(outcomes)
        } else {
            None
        };
        let tables = |layout: Layout| {
            let beside = self.data.is_some();
            let mut text = print::tables(&outcomes, layout, beside);
            if let Some(affinity) = &affinity {
                text.push_str(&affinity::table(affinity, layout, beside));
            }
            text
        };

        let (runs, convergence) = (self.output.join("runs.csv"), self.output.join("convergence.csv"));
        goc_tables::write(&print::runs_table(&outcomes)?, &runs)?;
        goc_tables::write(&print::convergence_table(&outcomes)?, &convergence)?;
        let drawn = match self.figures {
            true => figures::write(&self.output, &sets, &outcomes, preset)?,
            false => Vec::new(),
        };
        let cycles = outcomes.iter().filter(|o| matches!(o.termination, Termination::Cycle { .. })).count();
        if self.json {
            return screen::print_json(&json!({
                "preset": self.preset.to_string(),
                "sets": sets.len(),
                "runs": outcomes.len(),
                "cycles": cycles,
                "table": tables(Layout::Csv),
                "runs_file": runs.display().to_string(),
                "convergence_file": convergence.display().to_string(),
                "figures": drawn,
            }));
        }
        screen::print(&tables(self.format))?;
        screen::note(format!(
            "{} runs, {cycles} of them in a cycle; every run in {}, convergence in {}",
            outcomes.len(),
            runs.display(),
            convergence.display()
        ));
        if !drawn.is_empty() {
            screen::note(format!("figures in {}: {}", self.output.display(), drawn.join(", ")));
        }
        Ok(())
    }
}
