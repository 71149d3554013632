//! `goc score`: how well labels agree with the truth.

use std::path::{Path, PathBuf};

use clap::Args;
use goc::metrics::Scores;
use goc_tables::{Column, Files, Table};
use serde_json::json;

use goc_pipeline::Unwatched;
use goc_pipeline::long_table::{OBJECT_NAMES, TRUTH_NAMES, require_named};
use goc_pipeline::scores::{NO_GROUP, by_name, numbered_groups};

use super::Work;
use crate::console;
use crate::failure::Result;
use crate::which_table::WhichArgs;

pub const LABEL_NAMES: [&str; 4] = ["label", "labels", "cluster", "goc_label"];

/// The prefix that `goc stars` gave its columns, inferred from the label column: `goc_` for
/// `goc_label`.
pub fn prefix_of(label: &str) -> &str {
    label.strip_suffix("label").unwrap_or_default()
}

/// Compare labels with the true groups: NMI, F, ARI, AMI, homogeneity, completeness, V, purity
#[derive(Args)]
#[command(after_help = "Example: goc score labels.parquet --truth truth.csv --json")]
pub struct Score {
    /// Table with one label per object, such as `goc cluster -o` writes
    labels: PathBuf,

    #[command(flatten)]
    which: WhichArgs,

    /// Column of the labels [default: label, labels, cluster or goc_label]
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,

    /// Where the truth is: a column of the same table, or another table with one row per object
    /// [default: truth or true_cluster_id]
    #[arg(long, value_name = "COLUMN|FILE")]
    truth: Option<String>,

    /// Column that names the object, when the truth is in another table
    #[arg(long, value_name = "COLUMN")]
    object: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Work for Score {
    fn files(&self) -> Files {
        Files::default().reads([&self.labels])
    }

    fn run(self) -> Result<()> {
        let table = goc_pipeline::open_which(&self.labels, &self.which.which(), &Unwatched)?;
        let labels = column(&table, self.label.as_deref(), &LABEL_NAMES, "label", &self.labels)?;
        if let Some(objects) = OBJECT_NAMES.iter().find_map(|name| table.column(name)) {
            let mut seen = std::collections::HashSet::new();
            if let Some(row) = (0..table.rows()).find(|&r| !seen.insert(objects.text(r))) {
                return Err(objects.value_error(row, "is labelled twice").into());
            }
        }
        let other = self.truth.as_ref().map(PathBuf::from).filter(|path| path.is_file());
        let truth = match &other {
            Some(path) => self.truth_from(&table, path)?,
            None => column(&table, self.truth.as_deref(), &TRUTH_NAMES, "truth", &self.labels)?.texts(),
        };
        // Objects without a label were not clustered; objects without a truth cannot be scored.
        let judged: Vec<usize> =
            (0..table.rows()).filter(|&row| !labels.is_null(row) && !truth[row].is_empty()).collect();
        if judged.is_empty() {
            return Err(failed!("{}: no object has a label and a truth", self.labels.display()));
        }
        if judged.len() < table.rows() {
            let left = console::counted(table.rows() - judged.len(), "object");
            console::note(format!("{left} of {} without a label or a truth: left out", table.rows()));
        }
        let truth: Vec<String> = judged.iter().map(|&row| truth[row].clone()).collect();
        let groups: Vec<String> = judged.iter().map(|&row| labels.text(row).into_owned()).collect();
        // Objects in no group do not form a group, neither in the labels nor in the truth.
        let scores = Scores::of(&numbered_groups(&groups), &numbered_groups(&truth))?;
        let apart = |labels: &[String]| labels.iter().filter(|label| *label == NO_GROUP).count();
        let (noise, no_truth) = (apart(&groups), apart(&truth));
        let rows = by_name(&scores);
        let distinct = |labels: &[String]| {
            let mut all: Vec<&String> = labels.iter().filter(|label| *label != NO_GROUP).collect();
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        let (k, k_true) = (distinct(&groups), distinct(&truth));
        for (count, what) in [(noise, "cluster (label"), (no_truth, "true group (truth")] {
            if count > 0 {
                let objects = console::counted(count, "object");
                console::note(format!(
                    "{objects} in no {what} {NO_GROUP}): each counts as a group of its own in the scores"
                ));
            }
        }
        if self.json {
            let mut object = json!({ "n_objects": judged.len(), "k": k, "k_true": k_true, "n_noise": noise });
            for (name, value) in rows {
                object[name] = json!(value);
            }
            return console::print_json(&object);
        }
        let mut text = format!(
            "{}, {}, {}\n",
            console::counted(judged.len(), "object"),
            console::counted(k, "cluster"),
            console::counted(k_true, "true group")
        );
        for (name, value) in rows {
            text.push_str(&format!("{name:<13} {value:.4}\n"));
        }
        console::print(&text)
    }
}

impl Score {
    /// The truth of each labelled object, from a separate table.
    fn truth_from(&self, labels: &Table, path: &Path) -> Result<Vec<String>> {
        let truths = goc_tables::read(path)?;
        let objects = column(labels, self.object.as_deref(), &OBJECT_NAMES, "object", &self.labels)?;
        let names = column(&truths, self.object.as_deref(), &OBJECT_NAMES, "object", path)?;
        let values = column(&truths, None, &TRUTH_NAMES, "truth", path)?;
        let mut known = std::collections::HashMap::new();
        for row in 0..truths.rows() {
            let value = values.text(row).into_owned();
            // A long table names the same object many times, which is fine if the truth is the
            // same.
            let before = known.insert(names.text(row).into_owned(), value.clone());
            if let Some(before) = before.filter(|before| *before != value) {
                return Err(values
                    .value_error(row, format!("contradicts {before} for the same object"))
                    .into());
            }
        }
        (0..labels.rows())
            .map(|row| match known.get(objects.text(row).as_ref()) {
                Some(truth) => Ok(truth.clone()),
                None => Err(objects.value_error(row, format!("is not in {}", path.display())).into()),
            })
            .collect()
    }
}

/// The column named by a flag, or the first usual name that exists.
pub fn column<'t>(
    table: &'t Table,
    flag: Option<&str>,
    usual: &[&str],
    what: &str,
    path: &Path,
) -> Result<&'t Column> {
    // Here `none` is a name like any other.
    match flag {
        Some(name) => Ok(table.require(name)?),
        None => Ok(require_named(table, path, None, usual, what, &format!("; name it with --{what}"))?),
    }
}
