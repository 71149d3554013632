//! Results of the marginal mixture: the posterior of K, the co-clustering and the calibration of
//! its probabilities; and whether groups are tighter than chance.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use goc_pipeline::long_table::{OBJECT_NAMES, not_finite, require_named};
use goc_pipeline::validate::RATE;
use goc_report::figures::{self, Calibration, Figure, Pair, ValidatedGroup};
use goc_tables::{Column, Table};

use super::super::score::LABEL_NAMES;
use super::about;
use super::plane::numbers_of;

use crate::failure::Result;

/// A column of finite numbers.
pub fn finite(table: &Table, name: &str) -> Result<Vec<f64>> {
    let column = table.require(name)?;
    finite_of(column)
}

pub fn finite_of(column: &Column) -> Result<Vec<f64>> {
    let numbers = column.numbers()?;
    match numbers.iter().position(|v| !v.is_finite()) {
        Some(row) => Err(not_finite(column, row).into()),
        None => Ok(numbers),
    }
}

/// Like [`finite`], for values from 0 to 1.
fn probabilities(table: &Table, name: &str) -> Result<Vec<f64>> {
    let numbers = finite(table, name)?;
    match numbers.iter().position(|p| !(0.0..=1.0).contains(p)) {
        Some(row) => Err(table.require(name)?.value_error(row, "is not from 0 to 1").into()),
        None => Ok(numbers),
    }
}

pub fn k_posterior(path: &Path) -> Result<Figure> {
    let table = goc_tables::read(path)?;
    let column = table.require("k")?;
    let k = column.integers()?;
    if let Some(row) = k.iter().position(|k| *k < 0) {
        return Err(column.value_error(row, "is not a number of clusters").into());
    }
    let p = probabilities(&table, "probability")?;
    let rows: Vec<(u64, f64)> = k.into_iter().map(i64::unsigned_abs).zip(p).collect();
    figures::k_posterior(&rows).map_err(about(path))
}

pub fn calibration(path: &Path) -> Result<Figure> {
    let table = goc_tables::read(path)?;
    let kind = table.require("kind")?;
    let (said, was) = (probabilities(&table, "said")?, probabilities(&table, "came_true")?);
    let count = finite(&table, "count")?;
    let mut kinds: Vec<Calibration> = Vec::new();
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    for row in 0..table.rows() {
        let name = kind.text(row).into_owned();
        let next = *at.entry(name.clone()).or_insert(kinds.len());
        if next == kinds.len() {
            kinds.push(Calibration { name, bins: Vec::new() });
        }
        kinds[next].bins.push([said[row], was[row], count[row]]);
    }
    figures::calibration(&kinds).map_err(about(path))
}

pub fn validation(path: &Path) -> Result<Figure> {
    let table = goc_tables::read(path)?;
    let label = table.require("label")?;
    let column = |name: &str| -> Result<Vec<f64>> { Ok(table.require(name)?.numbers()?) };
    let (scatter, q) = (column("scatter")?, column("q_value")?);
    let (low, median, high) = (column("random_low")?, column("random_median")?, column("random_high")?);
    // A group that could not be tested has nothing to compare with.
    let rows = (0..table.rows()).filter(|&row| q[row].is_finite());
    let groups: Vec<ValidatedGroup> = rows
        .map(|row| ValidatedGroup {
            name: label.text(row).into_owned(),
            scatter: scatter[row],
            random: [low[row], median[row], high[row]],
            tight: q[row] <= RATE,
        })
        .collect();
    let by = table.get_metadata("goc_by").unwrap_or("the column");
    let quantity = match table.require("scatter")?.unit() {
        Some(unit) => format!("{by} ({unit})"),
        None => by.to_string(),
    };
    let p = table.get_metadata("goc_p_value").and_then(|p| p.parse::<f64>().ok());
    let note = p.map_or_else(String::new, |p| format!("all together: p = {p:.3}"));
    figures::validation(&groups, &quantity, &note).map_err(about(path))
}

pub fn together(path: &Path, labels: &Path) -> Result<Figure> {
    let table = goc_tables::read(labels)?;
    let objects = require_named(&table, labels, None, &OBJECT_NAMES, "object", "")?;
    let label = require_named(&table, labels, None, &LABEL_NAMES, "label", "")?;
    let mut at: HashMap<String, usize> = HashMap::new();
    for row in 0..table.rows() {
        if at.insert(objects.text(row).into_owned(), row).is_some() {
            return Err(objects.value_error(row, "is labelled twice").into());
        }
    }
    let pairs = goc_tables::read(path)?;
    let p = probabilities(&pairs, "probability")?;
    let (a, b) = (pairs.require("object_a")?, pairs.require("object_b")?);
    let number = |column: &Column, row: usize| {
        let problem = || column.value_error(row, format!("is not an object of {}", labels.display()));
        at.get(column.text(row).as_ref()).copied().ok_or_else(problem)
    };
    let mut listed = Vec::with_capacity(pairs.rows());
    for (row, &probability) in p.iter().enumerate() {
        let (a, b) = (number(a, row)?, number(b, row)?);
        if a != b {
            listed.push(Pair { a, b, probability });
        }
    }
    let labels: Vec<Option<i64>> =
        numbers_of(&label.texts()).into_iter().map(|label| label.map(i64::from)).collect();
    figures::together(&labels, &listed).map_err(about(path))
}
