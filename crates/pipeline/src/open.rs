//! Data sets straight from files, with the usual names: the short way in.

use std::path::Path;

use goc_tables::{Missing, Table, Which};

use crate::dataset::Dataset;
use crate::error::Result;
use crate::long_table::LongTable;
use crate::measured::MeasuredColumns;
use crate::quoted_errors::QuotedErrors;
use crate::sampling::{Sampling, star_candidates};
use crate::sampling_names::BadRows;
use crate::star_model::StarModel;
use crate::table_columns::TableColumns;
use crate::watch::Watch;

impl Dataset {
    /// From a table with one row per candidate, such as `goc candidates` writes. [`LongTable`] names
    /// other columns.
    pub fn read(path: impl AsRef<Path>, watch: &dyn Watch) -> Result<Self> {
        LongTable::new(path.as_ref()).read(watch)
    }

    /// From a star catalogue with errors, one row per star: orbital actions that each star may have.
    pub fn read_stars(
        path: impl AsRef<Path>,
        model: &StarModel,
        sampling: &Sampling,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let path = path.as_ref();
        let (table, source) = (open(path, watch)?, path.display().to_string());
        let columns = TableColumns::new(&table, &source);
        let object = columns.object(None)?;
        let missing = Missing::default();
        let measured = MeasuredColumns {
            values: None,
            errors: None,
            object: object.map(|column| column.name()),
            missing: &|number| missing.is_missing(number),
            bad_rows: BadRows::Refuse,
            quoted: &QuotedErrors::default(),
        };
        Ok(star_candidates(&columns, columns.ids(object)?, &measured, model, sampling, seed, watch)?.0)
    }
}

/// Columns that a remark names, at most.
const NAMED: usize = 10;

/// Reads a table that has rows. What the file has beside them is said.
pub fn open(path: &Path, watch: &dyn Watch) -> Result<Table> {
    open_which(path, &Which::First, watch)
}

/// The same for one of the tables of a file.
pub fn open_which(path: &Path, which: &Which, watch: &dyn Watch) -> Result<Table> {
    let table = goc_tables::read_which(path, which)?;
    let left_out = left_out(&table);
    match (&left_out, table.columns().is_empty(), table.rows()) {
        (Some(left_out), true, _) => Err(failed!("{}: no column can be used: {left_out}", path.display())),
        (_, _, 0) => Err(failed!("{}: the table has no rows", path.display())),
        (Some(left_out), ..) => {
            watch.note(&format!("{}: left out on reading: {left_out}", path.display()));
            Ok(table)
        }
        (None, ..) => Ok(table),
    }
}

/// What the file has and the table has not, with the reasons.
fn left_out(table: &Table) -> Option<String> {
    let skipped = table.skipped();
    let named = skipped.iter().take(NAMED).map(|skipped| format!("{} ({})", skipped.name, skipped.reason));
    let mut text = named.collect::<Vec<_>>().join(", ");
    if skipped.len() > NAMED {
        text.push_str(&format!(", and {} more", skipped.len() - NAMED));
    }
    (!skipped.is_empty()).then_some(text)
}
