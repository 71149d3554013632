//! The `goc` command: parse, call, print.
//!
//! One file or folder per command under `commands/`. Shared parts are here: [`long_table`],
//! [`measured_table`] and [`star_table`] are the flags for the roles of columns, [`which_table`]
//! those that choose among the tables of a file, [`output`] those that say where a table goes,
//! [`choices`] parses values of flags, [`console`] prints messages and progress, [`failure`]
//! decides the exit code, [`interrupt`] ends the command on a signal, and [`out_of_memory`] ends it
//! when there is no memory left. Rules, names and defaults are in `goc-pipeline`.

#[macro_use]
mod failure;

mod choices;
mod closed_output;
mod commands;
mod console;
mod interrupt;
mod long_table;
mod measured_table;
mod out_of_memory;
mod output;
mod star_table;
mod which_table;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use goc_tables::Existing;

use crate::commands::perform;
use crate::failure::Result;

/// Cluster objects whose measurements have error bars.
#[derive(Parser)]
#[command(name = "goc", version, max_term_width = 100, after_help = "Try it: goc demo")]
struct Goc {
    #[command(subcommand)]
    command: Command,

    /// Number of threads [default: all cores]; the result does not depend on it
    #[arg(long, global = true, value_name = "N", display_order = 900)]
    threads: Option<usize>,

    /// Refuse to replace an existing file, before any work is done
    #[arg(long, global = true, display_order = 901)]
    no_clobber: bool,
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
    Validate(commands::validate::Validate),
    Compare(Box<commands::compare::Compare>),
    Plot(commands::plot::Plot),
    Report(Box<commands::report::Report>),
    Reproduce(commands::reproduce::Reproduce),
    Completions(commands::completions::Completions),
    Man(commands::man::Man),
}

fn main() -> ExitCode {
    // If this fails, running out of memory is an abort, as in other programs.
    let _ = out_of_memory::listen();
    let parsed = command().try_get_matches().and_then(|matches| Goc::from_arg_matches(&matches));
    let done = match parsed {
        Ok(goc) => run(goc),
        // The command line is wrong, and the message may not reach the user.
        Err(error) if error.use_stderr() => {
            let _ = error.print();
            return ExitCode::from(2);
        }
        Err(help) => console::printed(help.print()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fail) if fail.is_closed_pipe() => ExitCode::SUCCESS, // `goc … | head` is no failure
        Err(fail) => {
            console::say(&format!("error: {fail}\n"));
            fail.exit_code()
        }
    }
}

/// The whole command line.
fn command() -> clap::Command {
    numbers_may_be_negative(Goc::command())
}

/// Every flag that takes a value accepts `-9999` as one instead of an unknown flag; a rule for
/// missing values may be a list that begins with one, `-9999,nan`.
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

/// Maximum number of threads, more than any machine has cores; each takes memory and time to start.
const MOST_THREADS: usize = 4096;

fn run(goc: Goc) -> Result<()> {
    interrupt::listen().map_err(|e| failed!("cannot listen for signals: {e}"))?;
    if let Some(threads) = goc.threads {
        if threads == 0 {
            return Err(usage!("--threads must be at least 1"));
        }
        if threads > MOST_THREADS {
            return Err(usage!("--threads is {threads}, but must be at most {MOST_THREADS}"));
        }
    }
    // Done now, where it can fail: a pool created on first use panics if memory is short.
    rayon::ThreadPoolBuilder::new()
        .num_threads(goc.threads.unwrap_or(0))
        .build_global()
        .map_err(|e| failed!("cannot start threads (is memory short?): {e}"))?;
    let existing = if goc.no_clobber { Existing::Keep } else { Existing::Replace };
    match goc.command {
        Command::Demo(demo) => perform(demo, existing),
        Command::Simulate(simulate) => perform(*simulate, existing),
        Command::Actions(actions) => perform(*actions, existing),
        Command::Stars(stars) => perform(*stars, existing),
        Command::Candidates(candidates) => perform(*candidates, existing),
        Command::Cluster(cluster) => perform(*cluster, existing),
        Command::Predict(predict) => perform(predict, existing),
        Command::Score(score) => perform(score, existing),
        Command::Validate(validate) => perform(validate, existing),
        Command::Compare(compare) => perform(*compare, existing),
        Command::Plot(plot) => perform(plot, existing),
        Command::Report(report) => perform(*report, existing),
        Command::Reproduce(reproduce) => perform(reproduce, existing),
        Command::Completions(completions) => perform(completions, existing),
        Command::Man(man) => perform(man, existing),
    }
}
