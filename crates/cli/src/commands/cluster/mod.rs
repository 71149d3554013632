//! `goc cluster`: candidates in, labels out.
//!
//! [`print`] prints the report on a fit; `goc stars` shares it.

mod print;

use std::path::PathBuf;

use clap::Args;
use goc_pipeline::labels::linkage_table;
use goc_pipeline::long_table::labels_for;
use goc_pipeline::scores::numbered;
use goc_pipeline::{Dataset, Fit, MethodName, Prepared, Settings, checkpoint, fit_keeping, fit_owned};
use goc_tables::{Files, Format, Table};
use serde_json::Value;

use super::Work;
use crate::console::{self, Console};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::long_table::LongTableArgs;
use crate::output::OutputArgs;
pub use print::{sentence, summary};

/// Cluster objects with uncertain values: every object gets a label
#[derive(Args)]
#[command(after_help = "Example: goc cluster candidates.parquet --k 50 -o labels.parquet\n\
    If K is unknown, or to get a probability for each label:\n  goc cluster candidates.parquet --method marginal -o labels.parquet\n\
    K and lambda from the data, for another method:\n  goc cluster candidates.parquet --k auto --lambda auto -o labels.parquet\n\
    As in the authors' published code: --preset authors\n\
    Better minima: --k-rule constant --search thorough\n\
    All methods on the same candidates, in one table: goc compare candidates.parquet --k 50")]
pub struct Cluster {
    #[command(flatten)]
    table: LongTableArgs,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    fit: FitArgs,

    /// Also write the tree over the clusters, for any number of clusters up to K: .nwk (Newick) or
    /// scipy's linkage table (first, second, height, members; objects are the leaves). For methods
    /// that choose candidates: goc, gpc, goc-tree
    #[arg(long, value_name = "FILE")]
    tree: Option<PathBuf>,

    /// Also write a table with one row per K that --k auto tried: k, the criterion, and NMI if the
    /// truth is known
    #[arg(long, value_name = "FILE")]
    k_curve: Option<PathBuf>,

    /// Also write a table with one row per iteration: k, objective, objects changed
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,

    /// Also write a table with one row per iteration and object: candidate, label
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,

    #[command(flatten, next_help_heading = "Marginal mixture")]
    posterior: PosteriorArgs,
}

/// The method with its settings, the seed, and what comes from files.
#[derive(Args, Clone, Debug)]
pub struct FitArgs {
    #[command(flatten)]
    pub settings: Settings,

    /// Initial labels in place of the first clustering: a table with object and label
    #[arg(long, value_name = "FILE")]
    init_labels: Option<PathBuf>,

    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Save the chains of --method marginal, and finished repeats of --stability, --significance
    /// and --noise, in this folder, and resume from what it holds
    #[arg(long, value_name = "FOLDER", help_heading = "How sure")]
    checkpoint: Option<PathBuf>,

    /// On Ctrl-C, end --method marginal with the draws made so far and say that the answer is
    /// partial; a second Ctrl-C ends the command
    #[arg(long, help_heading = "How sure")]
    partial: bool,

    /// Also write a table with one row per cluster: label, size, centre, spread, and how reliable
    /// it is
    #[arg(long, value_name = "FILE", help_heading = "How sure")]
    pub clusters: Option<PathBuf>,
}

impl FitArgs {
    /// What can be said before any table is read.
    pub fn check(&self) -> Result<()> {
        self.settings.check()?;
        let kept = self.settings.is_repeated() || self.settings.method == MethodName::Marginal;
        if self.checkpoint.is_some() && !kept {
            return Err(usage!(
                "--checkpoint saves the chains of --method marginal and the repeats of --stability, \
                 --significance and --noise; ask for one of these"
            ));
        }
        if self.partial && self.settings.method != MethodName::Marginal {
            return Err(usage!("--partial needs --method marginal, not {}", self.settings.method));
        }
        Ok(self.settings.check_initial_labels(self.init_labels.is_some())?)
    }

    /// What it reads and writes.
    pub fn files(&self) -> Files {
        Files::default().reads(&self.init_labels).writes_tables(&self.clusters)
    }

    /// Clusters the data; writes `--clusters`.
    pub fn run(&self, data: Dataset, full_history: bool) -> Result<Fit> {
        let mut settings = Settings { full_history, ..self.settings.clone() };
        if let Some(path) = self.init_labels.as_ref().filter(|_| settings.method.is_greedy()) {
            let labels = labels_for(&data.candidates, path, &["label", "init_cluster", "cluster"])?;
            settings.initial_labels = Some(numbered(&labels));
        } else if self.init_labels.is_some() {
            console::note(format!("not used by --method {}: --init-labels", settings.method));
        }
        if self.partial {
            interrupt::answer();
        }
        let console = Console::default();
        let fit = match &self.checkpoint {
            None => fit_owned(data, &settings, self.seed, &console)?,
            Some(folder) => {
                let prepared = Prepared::of(data, &settings, &console)?;
                let checkpoint = checkpoint::of_fit(folder, &prepared, &settings, self.seed)?;
                fit_keeping(prepared, &settings, None, self.seed, &console, Some(&checkpoint))?
            }
        };
        console::write_asked(&self.clusters, || fit.cluster_table().map(Some))?;
        Ok(fit)
    }
}

/// What else `--method marginal` writes.
#[derive(Args, Clone, Debug)]
struct PosteriorArgs {
    /// Also write the pairs of objects that may be together: object_a, object_b, probability
    #[arg(long, value_name = "FILE")]
    together: Option<PathBuf>,

    /// Pairs below this probability are left out of --together
    #[arg(long, value_name = "P", default_value_t = 0.05, requires = "together")]
    together_above: f64,

    /// Also write the probability of each number of clusters: k, probability
    #[arg(long, value_name = "FILE")]
    k_posterior: Option<PathBuf>,

    /// Also write the probability of each candidate before and after the fit: object, candidate,
    /// row, weight, posterior
    #[arg(long, value_name = "FILE")]
    candidate_weights: Option<PathBuf>,

    /// Also save the model for goc predict (.json)
    #[arg(long, value_name = "FILE")]
    save_model: Option<PathBuf>,
}

impl PosteriorArgs {
    /// The files requested, by flag.
    fn outputs(&self) -> [(&'static str, &Option<PathBuf>); 4] {
        [
            ("--together", &self.together),
            ("--k-posterior", &self.k_posterior),
            ("--candidate-weights", &self.candidate_weights),
            ("--save-model", &self.save_model),
        ]
    }

    /// What can be said before any table is read.
    fn check(&self, settings: &Settings) -> Result<()> {
        let asked = self.outputs().into_iter().find(|(_, path)| path.is_some());
        if let Some((flag, _)) = asked.filter(|_| settings.method != MethodName::Marginal) {
            return Err(usage!("{flag} needs --method marginal, not {}", settings.method));
        }
        if !(0.0..=1.0).contains(&self.together_above) {
            return Err(usage!("--together-above is {}, but must be from 0 to 1", self.together_above));
        }
        let Some(path) = &self.save_model else { return Ok(()) };
        if path.extension().is_none_or(|end| end != "json") {
            return Err(usage!("{}: a model is saved as .json", path.display()));
        }
        if settings.changes_clusters() {
            return Err(usage!(
                "--save-model saves the clusters as they were found, but --noise changes them; run \
                 without --noise"
            ));
        }
        Ok(())
    }

    /// What it writes, beside `files`.
    fn files(&self, files: Files) -> Files {
        let tables = [&self.together, &self.k_posterior, &self.candidate_weights];
        files.writes_tables(tables.into_iter().flatten()).writes(&self.save_model)
    }

    /// Writes what was requested.
    fn write(&self, fit: &Fit) -> Result<()> {
        console::write_asked(&self.together, || fit.together_table(self.together_above))?;
        console::write_asked(&self.k_posterior, || fit.k_table())?;
        console::write_asked(&self.candidate_weights, || fit.candidate_weight_table())?;
        if let (Some(path), Some(model)) = (&self.save_model, fit.model()) {
            model?.write(path)?;
        }
        Ok(())
    }
}

/// What the command has to say, and the labels.
pub struct Done {
    pub labels: Table,
    /// For machines.
    pub summary: Vec<(&'static str, Value)>,
    /// For people.
    pub sentence: String,
}

impl Work for Cluster {
    fn files(&self) -> Files {
        let files = self.output.files(self.fit.files().reads([&self.table.input]));
        let files = files.writes_tables(&self.history).writes_tables(&self.trace);
        // A tree may also be written in Newick format.
        self.posterior.files(files.writes_tables(&self.k_curve).writes(&self.tree))
    }

    fn run(self) -> Result<()> {
        self.output.check(self.json)?;
        let done = self.work()?;
        // The sentence says where the labels are, so they are written first.
        self.output.write(&done.labels, self.json)?;
        if self.json {
            return console::print_pairs(done.summary);
        }
        console::note(done.sentence);
        Ok(())
    }
}

impl Cluster {
    /// The checks that need no table; returns whether the tree is in Newick format.
    fn check(&self) -> Result<bool> {
        let settings = &self.fit.settings;
        self.fit.check()?;
        if self.trace.is_some() && settings.method != MethodName::Goc {
            return Err(usage!("--trace needs --method goc"));
        }
        if self.history.is_some() && !matches!(settings.method, MethodName::Goc | MethodName::GocTree) {
            return Err(usage!("--history needs --method goc or goc-tree"));
        }
        if self.k_curve.is_some() && !settings.looks_for_k() {
            return Err(usage!("--k-curve needs --k auto and a method that takes K"));
        }
        self.posterior.check(settings)?;
        let newick = self.tree.as_ref().is_some_and(|path| path.extension().is_some_and(|end| end == "nwk"));
        if let Some(path) = self.tree.as_ref().filter(|_| !newick) {
            Format::of(path).map_err(|error| usage!("--tree: {error}, or .nwk for Newick"))?;
        }
        Ok(newick)
    }

    /// Everything except printing; writes the other requested files.
    pub fn work(&self) -> Result<Done> {
        let newick = self.check()?;
        let mut columns = self.table.table();
        if let Some(strength) = self.fit.settings.penalty_strength {
            columns.penalty_strength = strength;
        }
        let data = columns.read(&Console::default())?;
        self.output.check_can_hold(&data.known_columns()?)?;
        let fit = self.fit.run(data, self.trace.is_some())?;
        let labels = fit.label_table()?;
        console::write_asked(&self.k_curve, || fit.auto.curve_table(fit.prepared.data.truth.as_deref()))?;
        console::write_asked(&self.history, || fit.history_table().map(Some))?;
        console::write_asked(&self.trace, || fit.trace_table().map(Some))?;
        if let Some(path) = &self.tree {
            let tree = fit.tree().map_err(|error| Failure::from(error).because("--tree"))?;
            if newick {
                goc_tables::write_text(&tree.newick()?, path)?;
            } else {
                goc_tables::write(&linkage_table(&tree)?, path)?;
            }
        }
        self.posterior.write(&fit)?;
        let output = self.output.file();
        Ok(Done { summary: summary(&fit, output), sentence: sentence(&fit, output), labels })
    }
}
