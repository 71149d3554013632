//! `goc reproduce`: the paper's experiments, each cell beside the published one.

use std::path::PathBuf;

use clap::Args;
use goc::choice::Choice;
use goc::optimistic::Preset;
use goc_paper::{FirstLabels, Layout, PaperError, PaperOracle, Plan, Set};
use goc_pipeline::OracleName;
use goc_pipeline::keep::Keep;
use goc_tables::Files;
use serde_json::json;

use super::Work;
use super::plot::write_both;
use crate::choices::words;
use crate::console;
use crate::failure::{Failure, Result};

/// Run the paper's experiments and print each number beside the published one
#[derive(Args)]
#[command(after_help = "Example: goc reproduce --data shared/data --preset authors --seeds 5\n\
    To reproduce every printed digit, begin with the authors' own first labels:\n  goc reproduce --data shared/data --preset authors --init-labels init_labels_all.csv.gz")]
pub struct Reproduce {
    /// Folder with the authors' sets seed01.fits … seed10.fits, or a folder whose subfolder `paper`
    /// has them [default: ten simulated sets]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Choices of the paper, or of the authors' code
    #[arg(long, value_parser = words::<Preset>(), default_value_t = Preset::Authors)]
    preset: Preset,

    /// Runs per cell and set, with different seeds; deterministic oracles run once, and so does the
    /// mixture, whose random draw in the paper is known
    #[arg(long, value_name = "N", default_value_t = 1)]
    seeds: u64,

    /// Initial labels in place of the first clustering: oracle, K0, seed, star, init_cluster
    #[arg(long, value_name = "FILE")]
    init_labels: Option<PathBuf>,

    /// Only these oracles
    #[arg(long, value_parser = words::<OracleName>(), value_delimiter = ',')]
    oracles: Option<Vec<OracleName>>,

    /// How the tables are printed
    #[arg(long, value_parser = words::<Layout>(), default_value_t = Layout::Markdown)]
    format: Layout,

    /// Folder for runs.csv (every run) and convergence.csv (eta1, eta2, eta3 by iteration)
    #[arg(short, long, value_name = "DIR", default_value = "goc-reproduce")]
    output: PathBuf,

    /// Also draw the paper's figures into that folder, as SVG and PNG: Figure 1, the data sets,
    /// convergence with every oracle that is run, the simulation
    #[arg(long)]
    figures: bool,

    /// Save finished runs in this folder, and resume from those it holds
    #[arg(long, value_name = "FOLDER")]
    checkpoint: Option<PathBuf>,

    /// Also give the wall-clock seconds of each run in runs.csv, which differ from run to run
    #[arg(long)]
    times: bool,

    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

impl Work for Reproduce {
    fn files(&self) -> Files {
        let files = Files::default().reads(&self.init_labels);
        let files = files.writes_into(&self.output, ["runs.csv", "convergence.csv"]);
        let drawn = if self.figures { goc_paper::figure_names() } else { Vec::new() };
        let both = |name: &String| [format!("{name}.svg"), format!("{name}.png")];
        files.writes_into(&self.output, drawn.iter().flat_map(both))
    }

    fn run(self) -> Result<()> {
        if self.seeds == 0 {
            return Err(usage!("--seeds must be at least 1"));
        }
        if self.init_labels.is_some() && (self.data.is_none() || self.seeds > 1) {
            return Err(usage!("--init-labels needs --data and a single seed: nothing random is left"));
        }
        let sets = match &self.data {
            Some(folder) => Set::from_folder(folder)?,
            None => {
                console::note(
                    "no --data: ten simulated sets are used; the paper's numbers are for other data and \
                     left out",
                );
                Set::made_here()?
            }
        };
        let first = self.init_labels.as_ref().map(|path| FirstLabels::read(path, &sets)).transpose()?;
        // Oracles that the paper does not use have no cells.
        let of_paper = |name: &OracleName| name.word().parse::<PaperOracle>().ok();
        let oracles = self.oracles.as_ref().map(|names| names.iter().filter_map(of_paper).collect());
        let plan = Plan { preset: self.preset, seeds: self.seeds, oracles, first };
        std::fs::create_dir_all(&self.output)
            .map_err(|e| failed!("{}: cannot create: {e}", self.output.display()))?;
        let checkpoint = self.checkpoint.as_ref().map(|folder| plan.checkpoint(folder, &sets)).transpose()?;
        let keep = checkpoint.as_ref().map(|kept| kept as &dyn Keep);
        let bar = console::progress(plan.runs(&sets) as u64, "runs");
        let outcomes = plan.run(&sets, keep, &|| bar.inc(1))?;
        bar.finish_and_clear();
        // The authors' initial labels and the presets are for GOC; these rows use neither.
        let affinity = if self.oracles.is_none() {
            let bar = console::progress(sets.len() as u64, "sets by affinity propagation");
            let outcomes = goc_paper::affinity(&sets, keep, &|| bar.inc(1))?;
            bar.finish_and_clear();
            Some(outcomes)
        } else {
            None
        };
        let tables = |layout| goc_paper::tables(&outcomes, affinity.as_deref(), layout, self.data.is_some());

        let (runs, convergence) = (self.output.join("runs.csv"), self.output.join("convergence.csv"));
        goc_tables::write(&goc_paper::runs_table(&outcomes, self.times)?, &runs)?;
        goc_tables::write(&goc_paper::convergence_table(&outcomes)?, &convergence)?;
        let figures = match self.figures {
            true => goc_paper::figures(&sets, &outcomes, self.preset)?,
            false => Vec::new(),
        };
        for (name, figure) in &figures {
            write_both(figure, &self.output, name)?;
        }
        let drawn: Vec<&str> = figures.iter().map(|(name, _)| name.as_str()).collect();
        let cycles = outcomes.iter().filter(|outcome| outcome.cycles()).count();
        if self.json {
            return console::print_json(&json!({
                "preset": self.preset.word(),
                "sets": sets.len(),
                "runs": outcomes.len(),
                "cycles": cycles,
                "table": tables(Layout::Csv),
                "runs_file": runs.display().to_string(),
                "convergence_file": convergence.display().to_string(),
                "figures": drawn,
            }));
        }
        console::print(&tables(self.format))?;
        console::note(format!(
            "{} runs, {cycles} of them in a cycle; every run in {}, convergence in {}",
            outcomes.len(),
            runs.display(),
            convergence.display()
        ));
        if !drawn.is_empty() {
            console::note(format!("figures in {}: {}", self.output.display(), drawn.join(", ")));
        }
        Ok(())
    }
}

impl From<PaperError> for Failure {
    fn from(error: PaperError) -> Self {
        match error {
            PaperError::Table(inner) => inner.into(),
            PaperError::Pipeline(inner) => inner.into(),
            PaperError::Optimistic(inner) => inner.into(),
            PaperError::Baseline(inner) => inner.into(),
            PaperError::Oracle(inner) => inner.into(),
            PaperError::Figure(inner) => inner.into(),
            other => failed!("{other}"),
        }
    }
}
