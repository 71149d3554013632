//! `goc demo`: the whole way on a catalogue the program makes itself.
//!
//! After the catalogue is written, the demonstration types the same commands as a person would: each step is a list of
//! arguments, parsed as those of the command line are, and printed at the end. So what is printed is what was done.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use goc::synthetic::{COORDINATES, SyntheticParams};
use goc_tables::{Column, Data, Table};

use super::candidates::Candidates;
use super::cluster::Cluster;
use crate::fail::Fail;
use crate::screen;

/// Make a small catalogue with known truth, cluster it in three ways and compare them
#[derive(Args)]
#[command(after_help = "Example: goc demo --out my-demo --seed 2")]
pub struct Demo {
    /// Folder for the files
    #[arg(long, value_name = "DIR", default_value = "goc-demo")]
    out: PathBuf,

    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What the demonstration types.
#[derive(Parser)]
#[command(name = "goc")]
struct Typed {
    #[command(subcommand)]
    step: Step,
}

#[derive(Subcommand)]
enum Step {
    Candidates(Box<Candidates>),
    Cluster(Box<Cluster>),
}

/// The ways to cluster: name, file of the labels, flags.
const WAYS: [(&str, &str, &str); 3] = [
    ("UK-means", "labels-uk-means.csv", "--method uk-means"),
    ("GOC", "labels-goc.csv", ""),
    ("GOC, best of 10", "labels-goc-best.csv", "--k-rule constant --starts 10 --swaps 150"),
];

impl Demo {
    pub fn run(self) -> Result<(), Fail> {
        std::fs::create_dir_all(&self.out)
            .map_err(|e| Fail::failed(format!("{}: cannot create the folder: {e}", self.out.display())))?;
        let catalogue =
            SyntheticParams::default().draw(self.seed).map_err(|e| Fail::failed(e.to_string()))?;
        let k = catalogue.truth().last().map_or(1, |last| last + 1);
        let objects = catalogue.truth().len();
        goc_tables::write(&table(&catalogue)?, &self.out.join("catalogue.csv"))?;

        let (seed, k) = (self.seed.to_string(), k.to_string());
        let mut commands = vec![self.line(
            "candidates",
            "catalogue.csv",
            &["--transform", "demo", "--seed", &seed],
            "candidates.parquet",
        )];
        for (_, file, flags) in WAYS {
            let mut more = vec!["--k", k.as_str(), "--seed", seed.as_str()];
            more.extend(flags.split_whitespace());
            commands.push(self.line("cluster", "candidates.parquet", &more, file));
        }

        let mut text = format!("{objects} objects in {k} groups, measured with errors\n\n");
        text.push_str(&format!("{:<16}  {:>5}  {:>5}  {:>3}  {:>7}\n", "", "NMI", "F", "K", "seconds"));
        let mut ways = WAYS.iter();
        for command in &commands {
            match parse(command)?.step {
                Step::Candidates(candidates) => candidates.run()?,
                Step::Cluster(cluster) => {
                    let done = cluster.work()?;
                    goc_tables::write(&done.labels, &PathBuf::from(&command[command.len() - 1]))?;
                    let number = |key: &str| done.summary[key].as_f64().unwrap_or(f64::NAN);
                    text.push_str(&format!(
                        "{:<16}  {:>5.3}  {:>5.3}  {:>3}  {:>7.2}\n",
                        ways.next().map_or("", |way| way.0),
                        number("nmi"),
                        number("f"),
                        number("k"),
                        number("seconds")
                    ));
                }
            }
        }
        text.push_str(&format!("\nfiles in {}: catalogue.csv, candidates.parquet", self.out.display()));
        for (_, file, _) in WAYS {
            text.push_str(&format!(", {file}"));
        }
        text.push_str("\n\nthe same by hand:\n");
        for command in &commands {
            let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
            text.push_str(&format!("  {}\n", words.join(" ")));
        }
        screen::print(&text)
    }

    /// `goc COMMAND IN FLAGS -o OUT`, with the files in the folder.
    fn line(&self, command: &str, input: &str, flags: &[&str], output: &str) -> Vec<String> {
        let file = |name: &str| self.out.join(name).display().to_string();
        let mut words = vec!["goc".to_string(), command.to_string(), file(input)];
        words.extend(flags.iter().map(|flag| flag.to_string()));
        words.extend(["-o".to_string(), file(output)]);
        words
    }
}

fn parse(words: &[String]) -> Result<Typed, Fail> {
    Typed::try_parse_from(words).map_err(|e| Fail::failed(e.to_string()))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The catalogue as a table: object, values with their errors, truth.
fn table(catalogue: &goc::synthetic::Synthetic) -> Result<Table, Fail> {
    let n = catalogue.truth().len() as i64;
    let mut columns = vec![Column::new("object", Data::I64((1..=n).collect()))];
    for (c, name) in COORDINATES.iter().enumerate() {
        let of = |points: &goc::Points| Data::F64(points.rows().map(|row| row[c]).collect());
        columns.push(Column::new(*name, of(catalogue.values())));
        columns.push(Column::new(format!("{name}_error"), of(catalogue.errors())));
    }
    columns.push(Column::new("truth", Data::I64(catalogue.truth().to_vec())));
    Ok(Table::new(columns)?)
}
