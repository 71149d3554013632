//! The `goc` command: parse, call, print.
//!
//! One file or folder per command under `commands/`. What several need stands beside: [`long_table`],
//! [`measured_table`] and [`star_table`] are the flags that say which columns are what, [`choices`] parses
//! values of flags, [`console`] talks to people, [`failure`] decides the exit code. Rules, names and
//! defaults are in `goc-pipeline`.

#[macro_use]
mod failure;

mod choices;
mod commands;
mod console;
mod long_table;
mod measured_table;
mod star_table;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::failure::Result;

/// Cluster objects whose measurements have error bars.
#[derive(Parser)]
#[command(name = "goc", version, max_term_width = 100, after_help = "Try it: goc demo")]
struct Goc {
    #[command(subcommand)]
    command: Command,

    /// Threads to use; all cores if not given. The result is the same at any number
    #[arg(long, global = true, value_name = "N", display_order = 900)]
    threads: Option<usize>,
}

#[derive(Subcommand)]
enum Command {
    Demo(commands::demo::Demo),
    Simulate(Box<commands::simulate::Simulate>),
    Actions(Box<commands::actions::Actions>),
    Stars(Box<commands::stars::Stars>),
    // Boxed: these have far more flags than the others.
    Candidates(Box<commands::candidates::Candidates>),
    Cluster(Box<commands::cluster::Cluster>),
    Predict(commands::predict::Predict),
    Score(commands::score::Score),
    Compare(Box<commands::compare::Compare>),
    Plot(commands::plot::Plot),
    Report(Box<commands::report::Report>),
    Reproduce(commands::reproduce::Reproduce),
}

fn main() -> std::process::ExitCode {
    // clap prints its own errors and exits with 2, or 0 for --help.
    let matches = numbers_may_be_negative(Goc::command()).get_matches();
    let goc = Goc::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match run(goc) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(fail) if fail.is_closed_pipe() => std::process::ExitCode::SUCCESS, // `goc … | head` is no failure
        Err(fail) => {
            eprintln!("error: {fail}");
            fail.exit_code()
        }
    }
}

/// Every flag that takes a value takes `-9999` for one, not for an unknown flag; a rule for missing
/// values may be a list that begins so, `-9999,nan`.
fn numbers_may_be_negative(command: clap::Command) -> clap::Command {
    let takes_value = |arg: &clap::Arg| arg.get_action().takes_values();
    command
        .mut_args(|arg| match arg.get_id().as_str() {
            "missing" => arg.allow_hyphen_values(true),
            _ if takes_value(&arg) => arg.allow_negative_numbers(true),
            _ => arg,
        })
        .mut_subcommands(numbers_may_be_negative)
}

fn run(goc: Goc) -> Result<()> {
    if let Some(threads) = goc.threads {
        if threads == 0 {
            return Err(usage!("--threads must be at least 1"));
        }
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|e| failed!("cannot start {threads} threads: {e}"))?;
    }
    match goc.command {
        Command::Demo(demo) => demo.run(),
        Command::Simulate(simulate) => simulate.run(),
        Command::Actions(actions) => actions.run(),
        Command::Stars(stars) => stars.run(),
        Command::Candidates(candidates) => candidates.run(),
        Command::Cluster(cluster) => cluster.run(),
        Command::Predict(predict) => predict.run(),
        Command::Score(score) => score.run(),
        Command::Compare(compare) => compare.run(),
        Command::Plot(plot) => plot.run(),
        Command::Report(report) => report.run(),
        Command::Reproduce(reproduce) => reproduce.run(),
    }
}
