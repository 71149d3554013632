//! Shortcuts that read data sets straight from files with the usual column names.

use std::path::Path;

use goc_tables::{Format, Missing, Skipped, Table, Which};

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
    /// From a table with one row per candidate, as written by `goc candidates`. [`LongTable`] names
    /// other columns.
    pub fn read(path: impl AsRef<Path>, watch: &dyn Watch) -> Result<Self> {
        LongTable::new(path.as_ref()).read(watch)
    }

    /// From a star catalogue with errors, one row per star: candidates for the orbital actions of
    /// each star.
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
            missing_rv: None,
            with: &[],
        };
        Ok(star_candidates(&columns, columns.ids(object)?, &measured, model, sampling, seed, watch)?.0)
    }
}

/// Reads a non-empty table, and reports what else the file contains.
pub fn open(path: &Path, watch: &dyn Watch) -> Result<Table> {
    open_which(path, &Which::First, watch)
}

/// The same for one of the tables of a file.
pub fn open_which(path: &Path, which: &Which, watch: &dyn Watch) -> Result<Table> {
    look(goc_tables::read_which(path, which)?, path, watch)
}

/// The same for a table whose rows will be written out again: from FITS to FITS and from Parquet to
/// Parquet, every column is kept, even those that goc cannot use.
pub fn open_for(path: &Path, which: &Which, to: Option<Format>, watch: &dyn Watch) -> Result<Table> {
    look(goc_tables::read_for(path, which, to)?, path, watch)
}

fn look(table: Table, path: &Path, watch: &dyn Watch) -> Result<Table> {
    let unseen: Vec<&Skipped> = table.skipped().iter().chain(table.carried()).collect();
    if table.columns().is_empty() && !unseen.is_empty() {
        return Err(failed!("{}: no column can be used: {}", path.display(), listed(&unseen)));
    }
    if table.rows() == 0 {
        return Err(failed!("{}: the table has no rows", path.display()));
    }
    if !table.skipped().is_empty() {
        let left_out = listed(&table.skipped().iter().collect::<Vec<_>>());
        watch.note(&format!("{}: left out on reading: {left_out}", path.display()));
    }
    Ok(table)
}

/// Lists all of them, grouped by reason.
fn listed(skipped: &[&Skipped]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for skipped in skipped {
        match reasons.iter_mut().find(|(reason, _)| *reason == skipped.reason) {
            Some((_, names)) => names.push(&skipped.name),
            None => reasons.push((&skipped.reason, vec![&skipped.name])),
        }
    }
    let texts = reasons.iter().map(|(reason, names)| format!("{} ({reason})", names.join(", ")));
    texts.collect::<Vec<_>>().join(", ")
}
