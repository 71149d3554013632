//! Messages and progress on standard error, results on standard output.

use std::borrow::Cow;
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

/// Text to standard error. If it cannot be written, the work continues.
pub fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(harmless(text).as_bytes());
}

/// The text with terminal control characters escaped, such as `\u{1b}`: names and ids come from
/// files, and a file must not colour, move or rewrite what people read. Newlines and tabs are kept.
fn harmless(text: &str) -> Cow<'_, str> {
    // Besides control characters, those that change the text direction.
    let obeyed = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if obeyed(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

pub use goc_pipeline::counted;

/// Watches a fit for a user at a terminal: remarks as they come, and a bar for long work.
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

    fn enough(&self) -> bool {
        crate::interrupt::enough()
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

/// A spinner that counts steps of unknown total.
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

/// Bytes to standard output: unchanged to a file or a pipe, escaped to a terminal.
fn print_bytes(bytes: &[u8]) -> Result<()> {
    let shown = match std::str::from_utf8(bytes) {
        _ if !std::io::stdout().is_terminal() => Cow::Borrowed(bytes),
        Ok(text) => Cow::Owned(harmless(text).into_owned().into_bytes()),
        Err(_) => {
            return Err(usage!("standard output is a terminal, and this format is not text; name a file"));
        }
    };
    printed(std::io::stdout().lock().write_all(&shown))
}

/// The result of printing, once all output has been flushed.
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

/// Writes a table to the file that a flag names, if both exist.
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

/// Writes a table to `path`, or to standard output if there is none, as CSV unless a format is
/// named.
pub fn write_table(table: &Table, path: Option<&Path>, format: Option<Format>) -> Result<()> {
    match path {
        Some(path) => Ok(goc_tables::write_as(table, path, format)?),
        None => print_bytes(&goc_tables::to_bytes(table, format.unwrap_or(Format::Csv))?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(harmless("\u{1b}[2Jstar\r\u{7}\u{9b}A\u{202e}"), r"\u{1b}[2Jstar\r\u{7}\u{9b}A\u{202e}");
        assert!(matches!(harmless("größer, two\nlines\tand a tab"), Cow::Borrowed(_)));
    }
}
