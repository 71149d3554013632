//! Access to the columns of a table, of whatever kind it is, and how messages refer to its rows.

use std::fmt;

/// Access to columns by name, for any kind of table.
pub trait Columns {
    /// Why a column cannot be read.
    type Error: fmt::Display;

    /// All names, in order.
    fn names(&self) -> Vec<String>;

    /// Succeeds if there is a column of this name; otherwise the error lists the existing columns.
    fn require(&self, name: &str) -> Result<(), Self::Error>;

    /// The unit that a column states.
    fn unit(&self, name: &str) -> Option<String>;

    /// A column as numbers, NaN where there is none.
    fn numbers(&self, name: &str) -> Result<Vec<f64>, Self::Error>;

    /// Whether a column holds numbers, not text or booleans.
    fn is_number(&self, name: &str) -> bool {
        let _ = name;
        true
    }

    /// Whether a value is null.
    fn is_null(&self, name: &str, row: usize) -> bool {
        let _ = (name, row);
        false
    }

    /// A value as the table writes it; `number` is what [`numbers`](Self::numbers) made of it.
    fn text(&self, name: &str, row: usize, number: f64) -> String {
        let _ = (name, row);
        format!("{number:?}")
    }

    /// A message about a value: where it is, what it is, then `problem`.
    fn complaint(&self, name: &str, row: usize, number: f64, problem: &str) -> String {
        format!("{}, column `{name}`: {} {problem}", self.rows().at(row), self.text(name, row, number))
    }

    /// How messages refer to the table and its rows.
    fn rows(&self) -> RowNames {
        RowNames::default()
    }
}

/// How messages refer to a table and its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowNames {
    /// The table: its file.
    pub source: Option<String>,
    /// The number of the first row.
    pub first: u64,
    /// The line of the first row, where every row has one line.
    pub first_line: Option<u64>,
}

impl RowNames {
    /// "stars.csv: ", or nothing.
    pub fn source(&self) -> String {
        self.source.as_ref().map_or_else(String::new, |source| format!("{source}: "))
    }

    /// "stars.csv: row 2 (line 3)". Rows are counted from 0 here.
    pub fn at(&self, row: usize) -> String {
        let number = self.first + row as u64;
        let line =
            self.first_line.map_or_else(String::new, |first| format!(" (line {})", first + row as u64));
        format!("{}row {number}{line}", self.source())
    }
}
