//! Which rows can be used: no required value is missing, and no number is impossible.

use std::collections::HashMap;
use std::hash::Hash;

use goc::Ids;
use goc_galaxy::catalogue::schema::{Columns, NumberColumn};

use super::MeasuredColumns;
use crate::error::{PipelineError, Result};
use crate::missing_values::{Unmeasured, WhenMissing};
use crate::sampling_names::BadRows;
use crate::watch::Watch;

/// Maximum number of rows that a remark names.
const NAMED: usize = 5;

/// Why a number is impossible: a short form, and one with advice on what to do.
type Impossible = [&'static str; 2];

const INFINITE: Impossible = ["is not a finite number", "is not a finite number; fix it, or {bad_rows=drop}"];
const NAN: Impossible = [INFINITE[0], "is not a finite number; fix it, or drop such rows with {missing=nan}"];
const NULL: Impossible =
    [INFINITE[0], "is null where a number is needed; fill it, or drop such rows with {missing=nan}"];
const NEGATIVE: Impossible =
    ["is negative", "is negative where an error is needed; use 0 for an exact value, or {bad_rows=drop}"];
const NO_ERROR: Impossible = [
    "is not an error that can be squared",
    "is not an error that can be squared: use 0 for an exact value, else 1e-150 to 1e150; fix it, or \
     {bad_rows=drop}",
];
const MISSING: Impossible =
    ["is missing", "is missing; leave such stars out ({missing_rv=drop}) or draw it ({missing_rv=prior})"];
const NO_CORRELATION: Impossible =
    ["is no correlation", "is not a correlation; fix it, {bad_rows=drop}, or {shape=box}"];

/// The numbers of all columns in use, with one row per object of the table.
pub(super) struct Numbers {
    /// The measured values; those that count as exact come first.
    pub values: Vec<NumberColumn>,
    /// The errors of all values except the exact ones.
    pub errors: Vec<NumberColumn>,
    /// The correlations that are used.
    pub correlations: Vec<NumberColumn>,
}

impl Numbers {
    /// Number of values that count as exact.
    pub fn exact(&self) -> usize {
        self.values.len() - self.errors.len()
    }

    /// Rows of the table.
    pub fn rows(&self) -> usize {
        self.values[0].numbers.len()
    }
}

/// The rows that can be used, and why the others cannot.
pub(super) struct Rows {
    pub kept: Vec<usize>,
    pub dropped: Vec<(usize, String)>,
}

impl MeasuredColumns<'_> {
    /// Optional values, and the rows in which they are missing. A value without an error counts as
    /// missing.
    pub(super) fn unmeasured<C: Columns<Error: Into<PipelineError>>>(
        &self,
        columns: &C,
        numbers: &Numbers,
        policy: impl Fn(usize) -> Option<WhenMissing>,
    ) -> Result<Vec<(Unmeasured, WhenMissing)>> {
        let Numbers { values, errors, .. } = numbers;
        let missing = |column: &NumberColumn, row: usize| {
            column.numbers[row].is_nan() || (self.missing)(column.numbers[row])
        };
        let mut unmeasured = Vec::new();
        for (coordinate, policy) in (0..values.len()).filter_map(|c| Some((c, policy(c)?))) {
            let pair = [&values[coordinate], &errors[coordinate - numbers.exact()]];
            let rows: Vec<bool> =
                (0..numbers.rows()).map(|row| pair.iter().any(|c| missing(c, row))).collect();
            if policy == WhenMissing::Refuse
                && let Some(row) = rows.iter().position(|is| *is)
            {
                let column = pair.into_iter().find(|c| missing(c, row)).unwrap_or(pair[0]);
                let (name, number) = (&column.name, column.numbers[row]);
                return Err(PipelineError::Failed(columns.complaint(name, row, number, MISSING[1])));
            }
            unmeasured.push((Unmeasured { coordinate, rows }, policy));
        }
        Ok(unmeasured)
    }

    /// Checks every number of every row and reports what is dropped.
    pub(super) fn check_rows<C: Columns<Error: Into<PipelineError>>>(
        &self,
        columns: &C,
        numbers: &Numbers,
        unmeasured: &[(Unmeasured, WhenMissing)],
        ids: &Ids,
        watch: &dyn Watch,
    ) -> Result<Rows> {
        let (Numbers { values, errors, correlations }, exact) = (numbers, numbers.exact());
        let (n, called) = (numbers.rows(), columns.rows());
        let priors = || unmeasured.iter().filter(|(_, policy)| matches!(policy, WhenMissing::Prior(_)));
        let gone = |c: usize, row: usize| priors().any(|(own, _)| own.coordinate == c && own.rows[row]);
        let all = |row: usize| {
            let values = values.iter().enumerate().filter(move |(c, _)| !gone(*c, row));
            let errors = errors.iter().enumerate().filter(move |(c, _)| !gone(c + exact, row));
            values.chain(errors).map(|(_, column)| column).chain(correlations)
        };
        let errors_at = |row: usize| {
            errors.iter().enumerate().filter(move |(c, _)| !gone(c + exact, row)).map(|(_, column)| column)
        };
        let bad = |row: usize| -> Option<(&NumberColumn, Impossible)> {
            if let Some(column) = all(row).find(|c| !c.numbers[row].is_finite()) {
                let null = columns.is_null(&column.name, row);
                let nan = if column.numbers[row].is_nan() { NAN } else { INFINITE };
                return Some((column, if null { NULL } else { nan }));
            }
            let negative = errors_at(row).find(|c| c.numbers[row] < 0.0).map(|column| (column, NEGATIVE));
            // Covariances are products of two errors, sets are a few errors wide.
            let squared = |error: f64| error == 0.0 || (1e-150..=1e150).contains(&error);
            let unfit = || errors_at(row).find(|c| !squared(c.numbers[row])).map(|column| (column, NO_ERROR));
            let beyond = || correlations.iter().find(|c| c.numbers[row].abs() > 1.0);
            negative.or_else(unfit).or_else(|| beyond().map(|column| (column, NO_CORRELATION)))
        };
        let mut rows = Vec::with_capacity(n);
        let (mut dropped, mut missed, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..n {
            let dropped_for = || {
                let (own, _) =
                    unmeasured.iter().find(|(own, policy)| *policy == WhenMissing::Drop && own.rows[row])?;
                Some(&values[own.coordinate])
            };
            if let Some(column) = all(row).find(|c| (self.missing)(c.numbers[row])).or_else(dropped_for) {
                missed.push(row);
                dropped.push((row, format!("{} missing", column.name)));
                continue;
            }
            let Some((column, [short, problem])) = bad(row) else {
                rows.push(row);
                continue;
            };
            let (name, number) = (&column.name, column.numbers[row]);
            if self.bad_rows == BadRows::Refuse {
                return Err(PipelineError::Failed(columns.complaint(name, row, number, problem)));
            }
            refused.push(row);
            dropped.push((row, format!("{name} {} {}", columns.text(name, row, number), short)));
        }
        if let Some([first, second]) = named_twice(ids) {
            let (source, object) = (called.source(), name(ids, first));
            let [first, second] = [first, second].map(|row| called.first + row as u64);
            return Err(failed!(
                "{source}object {object} is in rows {first} and {second}; every object needs exactly one row"
            ));
        }
        if rows.is_empty() {
            return Err(failed!(
                "{}no objects left: all {n} lack a value or an error, or have an impossible number",
                called.source()
            ));
        }
        let said = ["a value or an error is missing", "a number is impossible ({bad_rows=drop})"];
        for (rows, why) in [missed, refused].iter().zip(said).filter(|(rows, _)| !rows.is_empty()) {
            let some: Vec<String> = rows.iter().take(NAMED).map(|&row| name(ids, row)).collect();
            let (count, more) = (rows.len(), if rows.len() > some.len() { ", …" } else { "" });
            watch.note(&format!("dropped {count} of {n} objects, {why}: {}{more}", some.join(", ")));
        }
        Ok(Rows { kept: rows, dropped })
    }
}

/// How the object of a row is called.
pub fn name(ids: &Ids, row: usize) -> String {
    match ids {
        Ids::Integer(ids) => ids[row].to_string(),
        Ids::Text(ids) => ids[row].clone(),
        _ => row.to_string(),
    }
}

/// The rows of the first object that appears twice.
fn named_twice(ids: &Ids) -> Option<[usize; 2]> {
    fn twice<K: Eq + Hash>(ids: &[K]) -> Option<[usize; 2]> {
        let mut first = HashMap::with_capacity(ids.len());
        let mut found: Option<[usize; 2]> = None;
        for (row, id) in ids.iter().enumerate() {
            let before = *first.entry(id).or_insert(row);
            // Of several, the one whose first row comes first.
            if before != row && found.is_none_or(|found| before < found[0]) {
                found = Some([before, row]);
            }
        }
        found
    }
    match ids {
        Ids::Integer(ids) => twice(ids),
        Ids::Text(ids) => twice(ids),
        _ => None,
    }
}
