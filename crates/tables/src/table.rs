//! The table type: columns of equal length with unique names, and metadata.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::column::{Column, Data, Origin};
use crate::error::{Place, Result, TableError, near_names};

/// A column (or a second table) that is in the file but not in the [`Table`], and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its name in the file.
    pub name: String,
    /// Why it was left out.
    pub reason: String,
}

/// Columns of equal length with unique names, and ordered metadata (key and text).
///
/// ```
/// use goc_tables::{Column, Data, Table};
/// let mut table = Table::new(vec![
///     Column::new("object", Data::I64(vec![1, 2])),
///     Column::new("Jr", Data::F64(vec![0.5, 2.5])).with_unit("kpc km/s"),
/// ])?;
/// table.set_metadata("seed", "42");
/// assert_eq!(table.rows(), 2);
/// assert_eq!(table.require("Jr")?.numbers()?, [0.5, 2.5]);
/// assert_eq!(
///     table.require("jr").unwrap_err().to_string(),
///     "no column `jr` (did you mean `Jr`?); there are: object, Jr"
/// );
/// # Ok::<(), goc_tables::TableError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    metadata: Vec<(String, String)>,
    skipped: Vec<Skipped>,
    carried: Vec<Skipped>,
    stored: Stored,
    source: Option<PathBuf>,
}

/// Columns that a table of single values cannot hold, in the format's own storage: they are written
/// unchanged to a file of the same format.
#[derive(Clone, Debug, Default)]
pub(crate) enum Stored {
    /// There are none.
    #[default]
    Nothing,
    /// From a FITS file.
    Fits(crate::fits::Carried),
    /// From a Parquet file.
    Parquet(crate::parquet::Carried),
}

/// Compares columns and metadata, regardless of where the tables came from.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.columns == other.columns && self.metadata == other.metadata
    }
}

impl Table {
    /// Checks that the lengths are equal and that the names are unique and not empty.
    pub fn new(columns: Vec<Column>) -> Result<Self> {
        let mut names = std::collections::HashSet::new();
        for column in &columns {
            check_name(column)?;
            if !names.insert(column.name()) {
                return Err(duplicate(column));
            }
            check_length(column, columns[0].len())?;
        }
        Ok(Self { columns, ..Self::default() })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// All columns in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// All names in order.
    pub fn names(&self) -> Vec<&str> {
        self.columns.iter().map(Column::name).collect()
    }

    /// The column of this name, if there is one.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name() == name)
    }

    /// Whether there is a column of this name, including those that are only carried along.
    pub fn has(&self, name: &str) -> bool {
        self.column(name).is_some() || self.carried.iter().any(|carried| carried.name == name)
    }

    /// The column of this name. The error lists the existing columns and suggests similar names, or
    /// says why the column was left out on reading.
    pub fn require(&self, name: &str) -> Result<&Column> {
        if let Some(column) = self.column(name) {
            return Ok(column);
        }
        if let Some(skipped) = self.skipped.iter().chain(&self.carried).find(|skipped| skipped.name == name) {
            return Err(TableError::Skipped {
                place: Place { file: self.source.clone(), ..Place::default() }.column(name),
                reason: skipped.reason.clone(),
            });
        }
        let columns: Vec<String> = self.columns.iter().map(|c| c.name().to_string()).collect();
        Err(TableError::NoColumn {
            file: self.source.clone(),
            wanted: name.to_string(),
            near: near_names(name, &columns),
            columns,
        })
    }

    /// Adds a column at the end; the first one sets the number of rows.
    pub fn push(&mut self, column: Column) -> Result<()> {
        check_name(&column)?;
        if self.has(column.name()) {
            return Err(duplicate(&column));
        }
        if !self.columns.is_empty() {
            check_length(&column, self.rows())?;
        }
        self.columns.push(column);
        Ok(())
    }

    /// Metadata in order: key and text.
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }

    /// The text of this key.
    pub fn get_metadata(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    /// Sets a key, in place if it exists, otherwise at the end.
    pub fn set_metadata(&mut self, key: impl Into<String>, value: impl Into<String>) {
        let (key, value) = (key.into(), value.into());
        match self.metadata.iter_mut().find(|(k, _)| *k == key) {
            Some((_, old)) => *old = value,
            None => self.metadata.push((key, value)),
        }
    }

    /// What the file has but the table does not, with reasons; nothing is dropped silently.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Columns that cannot be accessed but are written unchanged to a file of the same format
    /// ([`read_for`](crate::read_for)), with the reasons.
    pub fn carried(&self) -> &[Skipped] {
        &self.carried
    }

    pub(crate) fn stored(&self) -> &Stored {
        &self.stored
    }

    /// Carries these columns along in this storage.
    pub(crate) fn carry(
        &mut self,
        columns: impl Iterator<Item = (String, String)>,
        stored: Stored,
    ) -> Result<()> {
        for (name, reason) in columns {
            if self.has(&name) {
                return Err(TableError::Duplicate { place: Place::default().column(&name) });
            }
            self.carried.push(Skipped { name, reason });
        }
        self.stored = stored;
        Ok(())
    }

    /// The file the table was read from, so that messages can name it.
    pub fn source(&self) -> Option<&Path> {
        self.source.as_deref()
    }

    pub(crate) fn skip(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        self.skipped.push(Skipped { name: name.into(), reason: reason.into() });
    }

    /// Changes every column; names and lengths must stay the same.
    pub(crate) fn map_columns(&mut self, change: impl FnMut(Column) -> Column) {
        self.columns = std::mem::take(&mut self.columns).into_iter().map(change).collect();
    }

    /// Removes the column `mask` and makes `data` null wherever it is true, as astropy stores
    /// masked columns. Nothing happens unless both exist and the mask is a boolean column.
    pub(crate) fn fold_mask(&mut self, data: &str, mask: &str) -> Result<()> {
        let find = |name: &str| self.columns.iter().position(|column| column.name() == name);
        let (Some(at), Some(mask_at)) = (find(data), find(mask)) else { return Ok(()) };
        let Data::Bool(masked) = self.columns[mask_at].data() else { return Ok(()) };
        let valid = masked
            .iter()
            .enumerate()
            .map(|(row, masked)| !masked && !self.columns[at].is_null(row))
            .collect();
        self.columns[at] = self.columns[at].clone().with_valid(valid)?;
        self.columns.remove(mask_at);
        Ok(())
    }

    /// Adds the rows of a table with the same columns, in whatever order it has them; names, units
    /// and metadata stay.
    pub(crate) fn append(&mut self, other: Self) -> Result<()> {
        if let Some(more) = other.columns.iter().find(|column| self.column(column.name()).is_none()) {
            let problem = "the partitions before have no such column; write all with the same columns";
            return Err(more.origin.place().column(more.name()).malformed(problem));
        }
        for column in &mut self.columns {
            column.append(other.require(column.name())?)?;
        }
        Ok(())
    }

    /// Takes away the rows from `at` on; the metadata stay with those before.
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        let columns = self.columns.iter_mut().map(|column| column.split_off(at)).collect();
        Self { columns, ..Self::default() }
    }

    /// Records the file in the table and in each of its columns.
    pub(crate) fn with_origin(mut self, origin: &Arc<Origin>) -> Self {
        self.source.clone_from(&origin.file);
        self.columns = self.columns.into_iter().map(|column| column.with_origin(origin)).collect();
        self
    }
}

fn check_name(column: &Column) -> Result<()> {
    if column.name().is_empty() {
        return Err(column.origin.place().malformed("a column has no name; give every column one"));
    }
    Ok(())
}

fn duplicate(column: &Column) -> TableError {
    TableError::Duplicate { place: column.origin.place().column(column.name()) }
}

fn check_length(column: &Column, rows: usize) -> Result<()> {
    if column.len() == rows {
        return Ok(());
    }
    Err(TableError::Length { place: column.origin.place().column(column.name()), len: column.len(), rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Data;

    fn column(name: &str, rows: usize) -> Column {
        Column::new(name, Data::U8(vec![0; rows]))
    }

    #[test]
    fn lengths_and_names_are_checked_at_construction_and_on_push() {
        assert!(Table::new(vec![column("a", 2), column("b", 3)]).is_err());
        assert!(Table::new(vec![column("a", 2), column("a", 2)]).is_err());
        assert!(Table::new(vec![column("", 2)]).is_err());
        let mut table = Table::new(vec![column("a", 2)]).unwrap();
        assert!(table.push(column("a", 2)).is_err());
        assert!(table.push(column("b", 1)).is_err());
        table.push(column("b", 2)).unwrap();
        assert_eq!(table.names(), ["a", "b"]);
    }

    #[test]
    fn a_skipped_column_asked_for_says_why() {
        let mut table = Table::new(vec![column("a", 1)]).unwrap();
        table.skip("spectrum", "each value is an array of 512");
        assert_eq!(
            table.require("spectrum").unwrap_err().to_string(),
            "column `spectrum`: was left out on reading: each value is an array of 512"
        );
    }

    #[test]
    fn metadata_keeps_its_order_and_one_value_a_key() {
        let mut table = Table::default();
        table.set_metadata("b", "1");
        table.set_metadata("a", "2");
        table.set_metadata("b", "3");
        assert_eq!(table.metadata(), [("b".into(), "3".into()), ("a".into(), "2".into())]);
    }
}
