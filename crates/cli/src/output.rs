//! Where a command's table goes, and in which format.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use goc_tables::{Files, Format, Table};

use crate::console;
use crate::failure::Result;

/// Where a command's table goes, and in which format.
#[derive(Args, Clone, Debug, Default)]
pub struct OutputArgs {
    /// File to write; `-` is standard output [default: standard output, as CSV]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Format of the output, if its name does not say
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
}

/// The formats, by name.
pub fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(|(_, word)| word)).try_map(|given| {
        let found = Format::ALL.into_iter().find(|(_, word)| *word == given);
        found.map(|(format, _)| format).ok_or_else(|| format!("`{given}` is not a format"))
    })
}

/// Whether the name means standard output.
pub fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

impl OutputArgs {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| !is_standard_output(path))
    }

    /// The format of the table, if it is known and a table is written at all.
    pub fn format(&self, json: bool) -> Option<Format> {
        match self.file() {
            Some(path) => Format::asked(path, self.format).ok().map(|(format, _)| format),
            None => self.format.filter(|_| !json),
        }
    }

    /// Refuses a table that the format cannot hold, before any work is done.
    pub fn check_can_hold(&self, table: &Table) -> Result<()> {
        match (self.file(), self.format) {
            (Some(path), format) => Ok(goc_tables::check_can_hold_as(table, path, format)?),
            (None, Some(format)) => {
                Ok(goc_tables::check_can_hold_as(table, Path::new("standard output"), Some(format))?)
            }
            (None, None) => Ok(()),
        }
    }

    /// Also writes this.
    pub fn files(&self, files: Files) -> Files {
        files.writes_table_as(self.file(), self.format)
    }

    /// Refuses to mix the table and JSON. With `--json` and no file, no table is written.
    pub fn check(&self, json: bool) -> Result<()> {
        if json && self.output.is_some() && self.file().is_none() {
            return Err(usage!("--json and -o cannot both go to standard output; name a file for the table"));
        }
        Ok(())
    }

    /// Writes the table, unless standard output is for JSON.
    pub fn write(&self, table: &Table, json: bool) -> Result<()> {
        match self.file() {
            None if json => Ok(()),
            file => console::write_table(table, file, self.format),
        }
    }
}
