//! `goc demo`: from simulation to report page, on a mock Milky Way.
//!
//! The demonstration runs the commands that a user would type: each step is a list of arguments
//! that is parsed like a command line and printed at the end, so the printed commands are those
//! that ran.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use goc_tables::Files;

use super::Work;
use super::candidates::Candidates;
use super::cluster::Cluster;
use super::report::Report;
use super::score::Score;
use super::simulate::Simulate;
use crate::console;
use crate::failure::Result;

/// Simulate stars with known truth, cluster them in four ways, and compare
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
    Simulate(Box<Simulate>),
    Candidates(Box<Candidates>),
    Cluster(Box<Cluster>),
    Score(Score),
    Report(Box<Report>),
}

/// The ways to cluster: name, file of the labels, flags.
const WAYS: [(&str, &str, &str); 4] = [
    ("UK-means", "labels-uk-means.csv", "--k 50 --method uk-means"),
    ("GOC", "labels-goc.csv", "--k 50"),
    ("GOC, best of 10", "labels-goc-best.csv", "--k 50 --k-rule constant --starts 10 --swaps 150"),
    // Nothing is told to this one. Its labels keep their metadata, which the page shows.
    ("marginal mixture", "labels-marginal.ecsv", "--method marginal"),
];

impl Work for Demo {
    fn files(&self) -> Files {
        let fixed = ["stars.csv", "candidates.parquet", "together.csv", "report.html"];
        Files::default().writes_into(&self.out, fixed.into_iter().chain(WAYS.map(|(_, file, _)| file)))
    }

    fn run(self) -> Result<()> {
        std::fs::create_dir_all(&self.out)
            .map_err(|e| failed!("{}: cannot create the folder: {e}", self.out.display()))?;
        let seed = self.seed.to_string();
        let stars = self.file("stars.csv");
        let candidates = self.file("candidates.parquet");
        let (pairs, page) = (self.file("together.csv"), self.file("report.html"));
        let best = WAYS[WAYS.len() - 1].1;
        let mut commands = vec![
            words(&["simulate", "--seed", &seed, "--stars-out", &stars]),
            // As the authors drew theirs: the parallax on an even grid, with a penalty only for the
            // parallax.
            words(&["candidates", &stars, "--seed", &seed])
                .flags("--sampler grid:parallax --penalty density:parallax")
                .chain(&["-o", &candidates]),
        ];
        for (_, file, flags) in WAYS {
            let mut line = words(&["cluster", &candidates, "--seed", &seed]).flags(flags);
            if file == best {
                line = line.chain(&["--together", &pairs]);
            }
            commands.push(line.chain(&["-o", &self.file(file)]));
        }
        let best = self.file(best);
        commands.push(words(&["score", &best]));
        let report = words(&["report", &best, "--candidates", &candidates, "--stars", &stars]);
        commands.push(report.chain(&["--together", &pairs, "--title", "Mock Milky Way", "-o", &page]));

        let mut text = format!("{:<16}  {:>5}  {:>5}  {:>3}  {:>7}\n", "", "NMI", "F", "K", "seconds");
        let mut ways = WAYS.iter();
        let mut columns = String::new();
        for command in &commands {
            match parse(command)?.step {
                Step::Simulate(simulate) => simulate.run()?,
                Step::Candidates(candidates) => candidates.run()?,
                Step::Cluster(cluster) => {
                    let done = cluster.work()?;
                    goc_tables::write(&done.labels, &PathBuf::from(&command.0[command.0.len() - 1]))?;
                    columns = done.labels.names().join(", ");
                    let number = |key: &str| {
                        let told = done.summary.iter().rev().find(|(name, _)| *name == key);
                        told.and_then(|(_, value)| value.as_f64()).unwrap_or(f64::NAN)
                    };
                    text.push_str(&format!(
                        "{:<16}  {:>5.3}  {:>5.3}  {:>3}  {:>7.2}\n",
                        ways.next().map_or("", |way| way.0),
                        number("nmi"),
                        number("f"),
                        number("k"),
                        number("seconds")
                    ));
                }
                Step::Score(score) => {
                    let (name, file, _) = WAYS[WAYS.len() - 1];
                    console::print(&format!(
                        "{text}\nNMI and F compare the labels with the truth; 1 is perfect. UK-means is \
                         k-means on the means of the candidates;\n\
                         GOC drops singleton clusters, so fewer than 50 are left unless K is held constant.\n\n\
                         the {name} finds K itself; {file} has the columns\n  {columns}\n\nthe {name} by every score:\n"
                    ))?;
                    score.run()?;
                }
                Step::Report(report) => report.run()?,
            }
        }
        let mut text = format!("\nfiles in {}: stars.csv, candidates.parquet", self.out.display());
        for (_, file, _) in WAYS {
            text.push_str(&format!(", {file}"));
        }
        text.push_str(", together.csv, report.html");
        text.push_str("\n\nthe same by hand:\n");
        for command in &commands {
            let words: Vec<String> = command.0.iter().map(|word| quoted(word)).collect();
            text.push_str(&format!("  {}\n", words.join(" ")));
        }
        text.push_str(&format!("\nto look at it, open this page in a browser: {page}\n"));
        console::print(&text)
    }
}

impl Demo {
    fn file(&self, name: &str) -> String {
        self.out.join(name).display().to_string()
    }
}

/// A command line, word by word.
struct Line(Vec<String>);

/// `goc` and these words.
fn words(words: &[&str]) -> Line {
    Line(vec!["goc".to_string()]).chain(words)
}

impl Line {
    fn flags(self, flags: &str) -> Self {
        self.chain(&flags.split_whitespace().collect::<Vec<_>>())
    }

    fn chain(mut self, words: &[&str]) -> Self {
        self.0.extend(words.iter().map(|word| word.to_string()));
        self
    }
}

fn parse(line: &Line) -> Result<Typed> {
    Typed::try_parse_from(&line.0).map_err(|e| failed!("{e}"))
}

/// A word quoted for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
