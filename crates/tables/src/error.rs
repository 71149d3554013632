//! What can go wrong with a table, and the messages.
//!
//! A message names the file, the row, the column and the value as far as they are known, and says
//! what to do. The first row of data is row 1; text formats add the line number, which is what an
//! editor shows.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A place in a table, as far as it is known.
///
/// ```
/// use goc_tables::Place;
/// let place = Place::file("stars.csv".as_ref()).row(218).line(219).column("parallax");
/// assert_eq!(place.to_string(), "stars.csv: row 218 (line 219), column `parallax`: ");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, if the table came from one.
    pub file: Option<PathBuf>,
    /// The row, counted from 1.
    pub row: Option<u64>,
    /// The line of a text file, counted from 1.
    pub line: Option<u64>,
    /// The column's name.
    pub column: Option<String>,
}

impl Place {
    /// Somewhere in `file`.
    pub fn file(file: &Path) -> Self {
        Self { file: Some(file.to_path_buf()), ..Self::default() }
    }

    /// The same place, at this row (counted from 1).
    pub fn row(mut self, row: u64) -> Self {
        self.row = Some(row);
        self
    }

    /// The same place, at this line (counted from 1).
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The same place, in this column.
    pub fn column(mut self, column: &str) -> Self {
        self.column = Some(column.to_string());
        self
    }

    pub(crate) fn malformed(self, problem: impl Into<String>) -> TableError {
        TableError::Malformed { place: self, problem: problem.into() }
    }

    pub(crate) fn cut_off(self, missing: impl Into<String>) -> TableError {
        TableError::CutOff { place: self, missing: missing.into() }
    }

    /// Refuses what needs more memory than is free, or than the system grants at once: an error now
    /// is better than an abort later.
    pub(crate) fn check_memory(&self, what: &str, bytes: u64) -> Result<()> {
        let mut probe = Vec::<u8>::new();
        let given = goc_memory::check(bytes).is_ok()
            && usize::try_from(bytes).is_ok_and(|bytes| probe.try_reserve_exact(bytes).is_ok());
        // Allocated and freed at once; the compiler must not optimise it away.
        std::hint::black_box(&mut probe);
        if given {
            return Ok(());
        }
        Err(TableError::Memory { place: self.clone(), what: what.into(), bytes })
    }

    pub(crate) fn cannot_hold(self, problem: impl Into<String>) -> TableError {
        TableError::CannotHold { place: self, problem: problem.into() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        let mut parts = Vec::new();
        match (self.row, self.line) {
            (Some(row), Some(line)) => parts.push(format!("row {row} (line {line})")),
            (Some(row), None) => parts.push(format!("row {row}")),
            (None, Some(line)) => parts.push(format!("line {line}")),
            (None, None) => {}
        }
        if let Some(column) = &self.column {
            parts.push(format!("column `{column}`"));
        }
        if parts.is_empty() { Ok(()) } else { write!(f, "{}: ", parts.join(", ")) }
    }
}

/// What can go wrong with a table.
pub type Result<T, E = TableError> = std::result::Result<T, E>;

/// Why a table cannot be read, made or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The operating system reported an error.
    #[error("{}: cannot {doing}: {source}", .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What was tried: `read`, `create`, ...
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The file's extension does not identify a format.
    #[error("{}: unknown kind of table; name it {}", .file.display(), crate::Format::ENDINGS)]
    UnknownFormat {
        /// The file.
        file: PathBuf,
    },
    /// Neither the name of an output nor anything else identifies its format.
    #[error("{}: unknown kind of table; name it {}, or give its --format", .file.display(), crate::Format::ENDINGS)]
    UnknownOutput {
        /// The file.
        file: PathBuf,
    },
    /// The file ends before the table does.
    #[error("{place}the file is cut off: {missing}; fetch or write it again")]
    CutOff {
        /// Where it was noticed.
        place: Place,
        /// What is missing.
        missing: String,
    },
    /// The file is not what its name says, is damaged, or uses unsupported features.
    #[error("{place}{problem}")]
    Malformed {
        /// Where.
        place: Place,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A requested table that the file does not contain.
    #[error("{place}{problem}")]
    NoTable {
        /// The file.
        place: Place,
        /// Which tables there are.
        problem: String,
    },
    /// A table that is too large for this machine.
    #[error(
        "{place}{what} need {}, more memory than there is; read fewer rows or columns, or use a larger \
         machine",
        goc_memory::amount(*.bytes)
    )]
    Memory {
        /// Where.
        place: Place,
        /// What is to be held.
        what: Box<str>,
        /// How much memory that takes.
        bytes: u64,
    },
    /// A value that cannot be used as asked.
    #[error("{place}{} {problem}", shown(.value))]
    Value {
        /// Where.
        place: Place,
        /// The value, as text.
        value: Box<str>,
        /// What is wrong with it and what to do.
        problem: Box<str>,
    },
    /// A column whose length differs from that of the first.
    #[error("{place}{len} values, but the table has {rows} rows")]
    Length {
        /// The column.
        place: Place,
        /// Its length.
        len: usize,
        /// The table's length.
        rows: usize,
    },
    /// Two columns with the same name.
    #[error("{place}the name occurs twice; rename one of the two")]
    Duplicate {
        /// The column.
        place: Place,
    },
    /// A column that does not exist.
    #[error("{}", no_column(.file, .wanted, .near, .columns))]
    NoColumn {
        /// The table's file.
        file: Option<PathBuf>,
        /// The name requested.
        wanted: String,
        /// Similar names, the nearest first.
        near: Vec<String>,
        /// All existing names.
        columns: Vec<String>,
    },
    /// A column that is in the file but has no place in a table of single values.
    #[error("{place}was left out on reading: {reason}")]
    Skipped {
        /// The column.
        place: Place,
        /// Why.
        reason: String,
    },
    /// A table that this format cannot hold.
    #[error("{place}{problem}")]
    CannotHold {
        /// Where.
        place: Place,
        /// What the format lacks, and which format has it.
        problem: String,
    },
    /// An output that would overwrite a file that is still needed.
    #[error("{}: {problem}", .file.display())]
    Overwrites {
        /// The output.
        file: PathBuf,
        /// What it would destroy, and what to do.
        problem: String,
    },
    /// An output that cannot be where its name says.
    #[error("{}: {problem}", .file.display())]
    NoPlace {
        /// The output.
        file: PathBuf,
        /// Why, and what to do.
        problem: String,
    },
    /// Not a rule for missing values.
    #[error("`{text}` is not a rule for missing values; give numbers such as -9999, `nan` or `none`")]
    Missing {
        /// What was given.
        text: String,
    },
}

fn no_column(file: &Option<PathBuf>, wanted: &str, near: &[String], columns: &[String]) -> String {
    let mut text = Place { file: file.clone(), ..Place::default() }.to_string();
    text.push_str(&format!("no column `{wanted}`"));
    if let Some(first) = near.first() {
        text.push_str(&format!(" (did you mean `{first}`?)"));
    }
    if columns.is_empty() {
        text.push_str("; the table has no columns");
    } else {
        text.push_str(&format!("; there are: {}", columns.join(", ")));
    }
    text
}

/// A number unchanged, anything else in quotes, so that blanks and an empty string are visible.
fn shown(value: &str) -> String {
    if value.parse::<f64>().is_ok() { value.to_string() } else { format!("{value:?}") }
}

/// Names of `columns` close enough to `wanted` to suggest a typing error, the nearest first.
pub fn near_names(wanted: &str, columns: &[String]) -> Vec<String> {
    let simple = |s: &str| s.to_lowercase().replace(['_', '-', ' ', '.'], "");
    let key = simple(wanted);
    let mut found: Vec<(usize, &String)> = columns
        .iter()
        .map(|name| (edit_distance(&key, &simple(name)), name))
        .filter(|(distance, _)| *distance <= (key.chars().count() / 3).max(1))
        .collect();
    found.sort_by_key(|(distance, _)| *distance);
    found.into_iter().take(3).map(|(_, name)| name.clone()).collect()
}

/// Insertions, deletions and replacements that turn `a` into `b` (Levenshtein).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            row.push((above[j] + usize::from(x != y)).min(above[j + 1] + 1).min(row[j] + 1));
        }
        above = row;
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_ignore_case_and_underscores_and_leave_strangers_out() {
        let names: Vec<String> = ["source_id", "ra", "parallax", "parallax_error"].map(String::from).into();
        assert_eq!(near_names("SourceID", &names), ["source_id"]);
        assert_eq!(near_names("paralax", &names), ["parallax"]);
        assert!(near_names("energy", &names).is_empty());
    }

    #[test]
    fn edit_distance_of_kitten_and_sitting_is_three() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
