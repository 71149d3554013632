//! Talking to people: messages and progress on standard error, results on standard output.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use std::sync::{Mutex, PoisonError};

use goc_pipeline::{PipelineError, Speech, Watch};
use goc_tables::{Format, Table};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Map, Value};

use crate::closed_output;
use crate::failure::{Failure, Result};

/// A remark on standard error.
pub fn note(message: impl AsRef<str>) {
    say(&format!("{}\n", message.as_ref()));
}

/// Text to standard error. Where nobody can hear it, the work goes on.
pub fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

pub use goc_pipeline::counted;

/// Somebody at a terminal who watches a fit: remarks as they come, a bar for what takes long.
#[derive(Default)]
pub struct Console {
    bar: Mutex<Option<ProgressBar>>,
}

impl Console {
    fn set(&self, bar: Option<ProgressBar>) {
        let mut own = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = std::mem::replace(&mut *own, bar) {
            before.finish_and_clear();
        }
    }
}

impl Watch for Console {
    fn begin(&self, steps: &str, total: Option<u64>) {
        self.set(Some(match total {
            Some(total) => progress(total, steps),
            None => counter(steps),
        }));
    }

    fn tick(&self) {
        if let Some(bar) = &*self.bar.lock().unwrap_or_else(PoisonError::into_inner) {
            bar.inc(1);
        }
    }

    fn end(&self) {
        self.set(None);
    }

    fn note(&self, remark: &str) {
        note(Speech::Flags.of(remark));
    }
}

/// A progress bar on a terminal, nothing in a pipe. `what` is counted: "starts", "runs".
pub fn progress(total: u64, what: &str) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    let template = format!("{{spinner}} {{bar:30}} {{pos}} of {{len}} {what}, {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

/// A spinner that counts what has no known end.
pub fn counter(what: &str) -> ProgressBar {
    let bar = progress(0, what);
    bar.unset_length();
    if let Ok(style) = ProgressStyle::with_template(&format!("{{spinner}} {{pos}} {what}")) {
        bar.set_style(style);
    }
    bar
}

/// Text to standard output; a closed pipe is reported as such.
pub fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> Result<()> {
    printed(std::io::stdout().lock().write_all(bytes))
}

/// What came of printing, once all of it has left the program.
pub fn printed(written: std::io::Result<()>) -> Result<()> {
    if closed_output::was_closed() {
        return Err(failed!("cannot write to standard output: it is closed"));
    }
    written.and_then(|()| std::io::stdout().lock().flush()).map_err(|error| match Failure::from(error) {
        Failure::Failed(problem) => failed!("cannot write to standard output: {problem}"),
        other => other,
    })
}

/// One JSON object to standard output.
pub fn print_json(object: &Value) -> Result<()> {
    print(&format!("{object:#}\n"))
}

/// These keys and values as one JSON object to standard output.
pub fn print_pairs(pairs: Vec<(&str, Value)>) -> Result<()> {
    print_json(&pairs.into_iter().map(|(key, value)| (key.to_string(), value)).collect::<Map<_, _>>().into())
}

/// A table to the file that a flag names, if it is there and there is such a table.
pub fn write_asked(
    path: &Option<PathBuf>,
    table: impl FnOnce() -> Result<Option<Table>, PipelineError>,
) -> Result<()> {
    if let Some(path) = path
        && let Some(table) = table()?
    {
        goc_tables::write(&table, path)?;
    }
    Ok(())
}

/// As [`write_table`], unless standard output is for JSON.
pub fn write_beside_json(table: &Table, path: Option<&Path>, json: bool) -> Result<()> {
    if path.is_some() || !json { write_table(table, path) } else { Ok(()) }
}

/// A table to `path`, or as CSV to standard output when there is none.
pub fn write_table(table: &Table, path: Option<&Path>) -> Result<()> {
    match path {
        Some(path) => Ok(goc_tables::write(table, path)?),
        None => print_bytes(&goc_tables::to_bytes(table, Format::Csv)?),
    }
}
