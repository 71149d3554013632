//! `goc cluster`: candidates in, labels out.
//!
//! [`method`] has the flags of the methods, [`auto`] finds K and lambda where they are not given, [`solve`] runs them, [`sure`] asks how sure
//! the answer is, [`labels`] turns it into tables and sentences; all serve `goc stars` too. [`posterior`] has what only the marginal
//! mixture knows.

mod auto;
mod labels;
mod method;
pub mod posterior;
mod solve;
mod sure;

use std::path::PathBuf;

use clap::Args;
use goc::optimistic::hierarchy::{Height, Leaves};
use goc_tables::Table;
use serde_json::Value;

use crate::choices::MethodName;
use crate::fail::Fail;
use crate::long_table::LongTableArgs;
use crate::screen;
pub use labels::{Clustered, HISTORY_KEY, NOISE};
use labels::{history_table, linkage_table, trace_table};
pub use method::MethodArgs;
use posterior::PosteriorArgs;
pub use sure::SureArgs;

/// Cluster uncertain objects; every object gets a label and its chosen candidate
#[derive(Args)]
#[command(after_help = "Example: goc cluster candidates.parquet --k 50 -o labels.parquet\n\
         The authors' published code: --preset authors. Better minima: --k-rule constant --search thorough.\n\
         The number of clusters not given, and how sure each label is: --method marginal, with no other flag.\n\
         K and lambda of another method not known: --k auto --lambda auto.\n\
         All methods on the same candidates, in one table: goc compare candidates.parquet --k 50")]
pub struct Cluster {
    #[command(flatten)]
    table: LongTableArgs,

    /// Where the label table goes [default: standard output, as CSV]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    method: MethodArgs,

    #[command(flatten)]
    sure: SureArgs,

    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Also write the tree over the clusters, for any number of clusters up to K: .nwk (Newick) or a table as scipy's linkage has it
    /// (first, second, height, members; objects as leaves). For methods that choose candidates: goc, gpc, goc-tree
    #[arg(long, value_name = "FILE")]
    tree: Option<PathBuf>,

    /// Also write a table with a row for every K that --k auto looked at: k, the criterion, NMI if there is a truth
    #[arg(long, value_name = "FILE")]
    k_curve: Option<PathBuf>,

    /// Also write a table with a row an iteration: k, objective, objects changed
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,

    /// Also write a table with a row an iteration and object: candidate, label
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,

    #[command(flatten, next_help_heading = "Marginal mixture")]
    posterior: PosteriorArgs,
}

/// What the command has to say, and the labels.
pub struct Done {
    pub labels: Table,
    /// For machines.
    pub summary: Value,
    /// For people.
    pub sentence: String,
}

impl Cluster {
    pub fn run(self) -> Result<(), Fail> {
        let done = self.work()?;
        if self.json {
            if self.output.is_some() {
                screen::write_table(&done.labels, self.output.as_deref())?;
            }
            return screen::print_json(&done.summary);
        }
        // The sentence says where the labels are, so they must be there.
        screen::write_table(&done.labels, self.output.as_deref())?;
        screen::note(done.sentence);
        Ok(())
    }

    /// Everything but the printing; writes --history and --trace.
    pub fn work(&self) -> Result<Done, Fail> {
        self.method.check()?;
        self.sure.check(&self.method, &self.table.input)?;
        if self.trace.is_some() && self.method.method != MethodName::Goc {
            return Err(Fail::usage("--trace needs --method goc"));
        }
        if self.history.is_some() && !matches!(self.method.method, MethodName::Goc | MethodName::GocTree) {
            return Err(Fail::usage("--history needs --method goc or goc-tree"));
        }
        if self.k_curve.is_some() && !self.method.looks_for_k() {
            return Err(Fail::usage("--k-curve needs --k auto and a method that takes K"));
        }
        self.posterior.check(self.method.method, &self.table.input)?;
        if self.posterior.saves_model() && self.sure.noise() {
            return Err(Fail::usage(
                "--save-model keeps the clusters as they were found, --noise changes them: run without --noise to save",
            ));
        }
        let mut outputs =
            vec![&self.output, &self.history, &self.trace, &self.tree, &self.k_curve, self.sure.clusters()];
        outputs.extend(self.posterior.outputs().map(|(_, path)| path));
        for (at, path) in outputs.iter().enumerate().filter_map(|(at, path)| Some((at, path.as_ref()?))) {
            if outputs[..at].iter().any(|other| other.as_ref() == Some(path)) {
                return Err(Fail::usage(format!(
                    "{}: named for two outputs; give each a file of its own",
                    path.display()
                )));
            }
        }
        for path in [&self.output, &self.history, &self.trace, &self.k_curve] {
            screen::check_output_of(&self.table.input, path.as_deref())?;
        }
        let newick = self.tree.as_ref().is_some_and(|path| path.extension().is_some_and(|end| end == "nwk"));
        if !newick {
            screen::check_output_of(&self.table.input, self.tree.as_deref())
                .map_err(|fail| Fail::usage(format!("--tree: {fail}, or .nwk for Newick")))?;
        }
        let method = self.sure.method(&self.method);
        let input = self.table.read(&method.taken())?;
        let done =
            Clustered::new(&method, input, self.seed, self.trace.is_some())?.judged(&self.sure, self.seed)?;
        let labels = done.label_table()?;
        if let Some(path) = &self.k_curve {
            goc_tables::write(&done.auto.curve_table(done.input.truth.as_deref())?, path)?;
        }
        if let Some(path) = &self.history {
            goc_tables::write(&history_table(&done.answer)?, path)?;
        }
        if let Some(path) = &self.trace {
            goc_tables::write(&trace_table(&done.answer, &done.input.candidates)?, path)?;
        }
        if let (Some(path), Some(table)) = (self.sure.clusters(), done.cluster_table()?) {
            goc_tables::write(&table, path)?;
        }
        if let Some(path) = &self.tree {
            let tree = done.tree(&self.method)?;
            if newick {
                goc_tables::write_text(&tree.newick(Leaves::Objects, Height::Total)?, path)?;
            } else {
                goc_tables::write(&linkage_table(&tree)?, path)?;
            }
        }
        self.posterior.write(&done)?;
        let output = self.output.as_deref();
        Ok(Done { summary: done.summary(output), sentence: done.sentence(output), labels })
    }
}
