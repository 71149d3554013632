//! A table's columns in the form that the catalogue schema reads.

use goc::Ids;
use goc_galaxy::catalogue::schema::{Columns, RowNames};
use goc_tables::{Column, Data, Table, TableError};

use crate::error::Result;
use crate::long_table::{OBJECT_NAMES, named};

/// The columns of a table, which messages call `source`.
#[derive(Clone, Copy, Debug)]
pub struct TableColumns<'t> {
    table: &'t Table,
    source: &'t str,
}

impl<'t> TableColumns<'t> {
    /// The columns of this table; `source` is its name in messages, usually its file.
    pub fn new(table: &'t Table, source: &'t str) -> Self {
        Self { table, source }
    }

    /// The column that names the objects: the given one (`none` for no column), or one with a usual
    /// name.
    pub fn object(&self, given: Option<&str>) -> Result<Option<&'t Column>> {
        named(self.table, given, &OBJECT_NAMES)
    }

    /// The name of the object of each row, or its position if no column names it.
    pub fn ids(&self, object: Option<&Column>) -> Result<Ids> {
        let Some(column) = object else { return Ok(Ids::Position) };
        let Data::Text(texts) = column.data() else { return Ok(Ids::Integer(column.integers()?)) };
        match (0..texts.len()).find(|&row| column.is_null(row)) {
            Some(row) => Err(column.value_error(row, "is null where the name of an object is needed").into()),
            None => Ok(Ids::Text(texts.clone())),
        }
    }
}

impl Columns for TableColumns<'_> {
    type Error = TableError;

    fn names(&self) -> Vec<String> {
        self.table.names().into_iter().map(str::to_string).collect()
    }

    fn require(&self, name: &str) -> Result<(), TableError> {
        self.table.require(name).map(|_| ())
    }

    fn unit(&self, name: &str) -> Option<String> {
        self.table.column(name).and_then(Column::unit).map(str::to_string)
    }

    fn numbers(&self, name: &str) -> Result<Vec<f64>, TableError> {
        self.table.require(name)?.numbers()
    }

    fn is_number(&self, name: &str) -> bool {
        self.table.column(name).is_some_and(|column| !matches!(column.data(), Data::Text(_) | Data::Bool(_)))
    }

    fn is_null(&self, name: &str, row: usize) -> bool {
        self.table.column(name).is_some_and(|column| column.is_null(row))
    }

    fn text(&self, name: &str, row: usize, number: f64) -> String {
        let text = self.table.column(name).map(|column| column.text(row).into_owned());
        text.unwrap_or_else(|| format!("{number:?}"))
    }

    fn complaint(&self, name: &str, row: usize, _: f64, problem: &str) -> String {
        let error = self.table.require(name).map(|column| column.value_error(row, problem));
        error.unwrap_or_else(|error| error).to_string()
    }

    fn rows(&self) -> RowNames {
        let first_line = self.table.columns().first().and_then(|column| column.place(0).line);
        RowNames { source: Some(self.source.to_string()), first: 1, first_line }
    }
}
