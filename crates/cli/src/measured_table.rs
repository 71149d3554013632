//! Measured tables: one row an object, values with their errors.
//!
//! A value's error is found by its name: `x_error`, `x_err`, `sigma_x` or `e_x` for the value `x`; the correlation of two values is in
//! `x_y_corr`, either order, as in Gaia's catalogues. Flags override. A row with a missing value, error or correlation is dropped and
//! counted; NaN and null are refused by name unless `--missing nan`. A number that cannot be (infinite, a negative error, a correlation
//! beyond 1) stops the command, or with `--bad-rows drop` costs its row only.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use goc::random::key_of_text;
use goc::uncertainty::{Covariance, SetError, Size, UncertaintySet};
use goc_galaxy::catalogue::{GaiaCovariance, WhenIndefinite};
use goc_tables::{Column, Data, Missing, Place, Table, TableError};

use crate::fail::Fail;
use goc_pipeline::long_table::{Names, OBJECT_NAMES, group, named, not_finite};
use crate::screen::note;

/// Which columns of a measured table are what.
#[derive(Args, Clone, Debug)]
pub struct MeasuredArgs {
    /// Table with one row an object (.parquet, .fits, .csv, .csv.gz, .ecsv, .vot)
    pub input: PathBuf,

    /// Measured columns [default: every number x with an error column x_error, x_err, sigma_x or e_x]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub values: Option<Vec<String>>,

    /// Columns of their standard errors, in the order of --values (of a star: depth, proper motions, radial velocity); 0 is exact
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub errors: Option<Vec<String>>,

    /// Column that names the object [default: object, source_id, i or id; else the position]
    #[arg(long, value_name = "COLUMN")]
    pub object: Option<String>,

    /// Value that means "missing"; `none`, or `nan` to count NaN and null too
    #[arg(long, value_name = "RULE", default_value = "-9999")]
    pub missing: String,

    /// A row with an infinite number, a negative error or a correlation beyond 1: stop, or drop it with a count
    #[arg(long, value_enum, default_value_t = BadRows::Refuse)]
    pub bad_rows: BadRows,
}

/// What becomes of a row with a number that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BadRows {
    /// Stop and name it
    Refuse,
    /// Leave it out, counted and named
    Drop,
}

/// The form of an uncertainty set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShapeName {
    /// A half-width for every value
    Box,
    /// The level set of normal errors, with correlations where there are columns x_y_corr
    Ellipsoid,
    /// An ellipsoid whose errors are the same for all values
    Ball,
    /// The level set of Laplace errors
    L1,
}

/// A measured table, read and checked.
pub struct Measured {
    table: Table,
    names: Names,
    /// The measured columns, by their position in the table.
    columns: Vec<usize>,
    values: Vec<Vec<f64>>,
    errors: Vec<Vec<f64>>,
    error_names: Vec<String>,
    /// Pairs of values that have a correlation, and those.
    correlations: Vec<(usize, usize, Vec<f64>)>,
    pub shape: ShapeName,
    /// A star catalogue: position, depth, proper motions, radial velocity.
    star: bool,
    /// The rows that miss nothing.
    pub rows: Vec<usize>,
    /// The others, and what is wrong with each: "parallax missing".
    pub dropped: Vec<(usize, String)>,
}

impl MeasuredArgs {
    /// For a star catalogue with the usual names; `input` is what messages name.
    pub fn of_stars(input: PathBuf) -> Self {
        Self {
            input,
            values: None,
            errors: None,
            object: None,
            missing: "-9999".into(),
            bad_rows: BadRows::Refuse,
        }
    }

    /// Reads the table.
    pub fn open(&self) -> Result<Table, Fail> {
        let table = goc_tables::read(&self.input)?;
        if table.rows() == 0 {
            return Err(Fail::failed(format!("{}: the table has no rows", self.input.display())));
        }
        Ok(table)
    }

    /// Checks every number that is used. Without a shape, correlations make it an ellipsoid.
    ///
    /// Of a star catalogue the columns are known: the first two, the position on the sky, count as exact (its error, a few mas,
    /// is nothing beside the others).
    pub fn measure(
        &self,
        table: Table,
        shape: Option<ShapeName>,
        star: Option<&[String; 6]>,
    ) -> Result<Measured, Fail> {
        let missing = Missing::parse(&self.missing)?;
        let object = named(&table, self.object.as_deref(), &OBJECT_NAMES)?;
        let exact = star.map_or(Ok(Vec::new()), |names| {
            names[..2].iter().map(|n| table.require(n)).collect::<Result<Vec<_>, _>>()
        })?;
        if self.errors.is_some() && self.values.is_none() && star.is_none() {
            return Err(Fail::usage("--errors needs --values"));
        }
        let asked = star.map(|names| names[2..].to_vec()).or_else(|| self.values.clone());
        let (value_columns, error_columns) = self.columns(&table, object, asked.as_deref())?;
        let value_columns = [exact.clone(), value_columns].concat();
        if asked.is_none() {
            let pairs: Vec<String> = value_columns
                .iter()
                .zip(&error_columns)
                .map(|(v, e)| format!("{} ({})", v.name(), e.name()))
                .collect();
            note(format!("values and errors: {}", pairs.join(", ")));
        }
        let there = correlation_columns(&table, &value_columns, exact.len());
        let shape = match shape {
            Some(shape) => shape,
            None if there.is_empty() => {
                note("shape: box, as there are no correlations");
                ShapeName::Box
            }
            None => {
                note(format!("shape: ellipsoid, with {} correlations", there.len()));
                ShapeName::Ellipsoid
            }
        };
        let used: &[_] = if shape == ShapeName::Ellipsoid { &there } else { &[] };
        if used.len() < there.len() {
            note("the correlations are not used: they need --shape ellipsoid");
        }

        let numbers = |columns: &[&Column]| -> Result<Vec<Vec<f64>>, Fail> {
            Ok(columns.iter().map(|c| c.numbers()).collect::<Result<_, _>>()?)
        };
        let values = numbers(&value_columns)?;
        let mut errors = vec![vec![0.0; table.rows()]; exact.len()];
        errors.extend(numbers(&error_columns)?);
        let correlation_columns: Vec<&Column> = used.iter().map(|c| c.2).collect();
        let correlations = numbers(&correlation_columns)?;
        let all: Vec<(&Column, &Vec<f64>)> = value_columns
            .iter()
            .chain(&error_columns)
            .chain(&correlation_columns)
            .copied()
            .zip(values.iter().chain(&errors[exact.len()..]).chain(&correlations))
            .collect();
        // The column, what is wrong with it, and what an error says more.
        let bad = |row: usize| -> Option<(&Column, &str, TableError)> {
            if let Some((column, numbers)) = all.iter().find(|(_, numbers)| !numbers[row].is_finite()) {
                let error = match numbers[row].is_nan() {
                    true => not_finite(column, row),
                    false => column.value_error(row, "is not a finite number; mend it, or --bad-rows drop"),
                };
                return Some((column, "is not a finite number", error));
            }
            let negative = error_columns.iter().zip(&errors[exact.len()..]).find(|(_, e)| e[row] < 0.0);
            if let Some((column, _)) = negative {
                let problem = "is negative where an error is needed; 0 is exact, else --bad-rows drop";
                return Some((column, "is negative", column.value_error(row, problem)));
            }
            let beyond = correlation_columns.iter().zip(&correlations).find(|(_, c)| c[row].abs() > 1.0);
            beyond.map(|(column, _)| {
                let problem = "is no correlation; mend it, --bad-rows drop, or --shape box";
                (*column, "is no correlation", column.value_error(row, problem))
            })
        };
        let mut rows = Vec::with_capacity(table.rows());
        let (mut dropped, mut missed, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..table.rows() {
            if let Some((column, _)) = all.iter().find(|(_, numbers)| missing.is_missing(numbers[row])) {
                missed.push(row);
                dropped.push((row, format!("{} missing", column.name())));
                continue;
            }
            match bad(row) {
                None => rows.push(row),
                Some((column, what, _)) if self.bad_rows == BadRows::Drop => {
                    refused.push(row);
                    dropped.push((row, format!("{} {} {what}", column.name(), column.text(row))));
                }
                Some((.., error)) => return Err(error.into()),
            }
        }

        let (groups, names) = group(&table, object)?;
        if groups.len() < table.rows()
            && let Some(twice) = (0..groups.len()).find(|&o| groups.rows(o).count() > 1)
        {
            let at: Vec<String> = groups.rows(twice).take(2).map(|row| (row + 1).to_string()).collect();
            return Err(Fail::failed(format!(
                "{}: object {} stands in rows {}; one row an object is needed",
                self.input.display(),
                names.name(twice),
                at.join(" and ")
            )));
        }
        if rows.is_empty() {
            return Err(Fail::failed(format!(
                "{}: no objects left: all {} miss a value or an error, or have a number that cannot be",
                self.input.display(),
                table.rows()
            )));
        }
        for (rows, why) in [
            (&missed, "a value or an error is missing"),
            (&refused, "a number is not possible (--bad-rows drop)"),
        ] {
            if !rows.is_empty() {
                let some: Vec<String> = rows.iter().take(5).map(|&row| names.name(row)).collect();
                let more = if rows.len() > some.len() { ", …" } else { "" };
                let (count, all) = (rows.len(), table.rows());
                note(format!("dropped {count} of {all} objects, {why}: {}{more}", some.join(", ")));
            }
        }
        let correlations =
            used.iter().zip(correlations).map(|(&(a, b, _), numbers)| (a, b, numbers)).collect();
        let position = |wanted: &&Column| table.columns().iter().position(|c| c.name() == wanted.name());
        Ok(Measured {
            columns: value_columns.iter().filter_map(position).collect(),
            error_names: exact.iter().chain(&error_columns).map(|c| c.name().to_string()).collect(),
            names,
            values,
            errors,
            correlations,
            shape,
            star: star.is_some(),
            rows,
            dropped,
            table,
        })
    }

    /// The measured columns and those of their errors.
    fn columns<'t>(
        &self,
        table: &'t Table,
        object: Option<&Column>,
        asked: Option<&[String]>,
    ) -> Result<(Vec<&'t Column>, Vec<&'t Column>), Fail> {
        let Some(names) = asked else {
            let pairs: Vec<(&Column, &Column)> = table
                .columns()
                .iter()
                .filter(|c| is_number(c) && object.is_none_or(|o| o.name() != c.name()))
                .filter_map(|c| Some((c, error_column(table, c.name()).filter(|e| is_number(e))?)))
                .collect();
            if pairs.is_empty() {
                return Err(Fail::usage(format!(
                    "{}: no values with errors found (x with x_error, x_err, sigma_x or e_x); name them with \
                     --values and --errors (the table has {})",
                    self.input.display(),
                    table.names().join(", ")
                )));
            }
            return Ok(pairs.into_iter().unzip());
        };
        let names: Vec<&String> = names.iter().filter(|n| !n.is_empty()).collect();
        if names.is_empty() {
            return Err(Fail::usage("--values names no column"));
        }
        if let Some((at, name)) = names.iter().enumerate().find(|(at, n)| names[..*at].contains(n)) {
            return Err(Fail::usage(format!(
                "--values names `{name}` twice (the second is number {})",
                at + 1
            )));
        }
        let values = names.iter().map(|n| table.require(n)).collect::<Result<Vec<_>, _>>()?;
        let errors = match &self.errors {
            Some(errors) if errors.len() == values.len() => {
                errors.iter().map(|n| table.require(n)).collect::<Result<_, _>>()?
            }
            Some(errors) => {
                let (e, v) = (errors.len(), values.len());
                return Err(Fail::usage(format!("--errors names {e} columns for {v} values")));
            }
            None => values
                .iter()
                .map(|column| {
                    error_column(table, column.name()).ok_or_else(|| {
                        Fail::usage(format!(
                            "{}: no error column for `{}` (looked for {}); name it with --errors",
                            self.input.display(),
                            column.name(),
                            error_names(column.name()).join(", ")
                        ))
                    })
                })
                .collect::<Result<_, _>>()?,
        };
        Ok((values, errors))
    }
}

fn is_number(column: &Column) -> bool {
    !matches!(column.data(), Data::Text(_) | Data::Bool(_))
}

fn error_names(value: &str) -> [String; 4] {
    [format!("{value}_error"), format!("{value}_err"), format!("sigma_{value}"), format!("e_{value}")]
}

fn error_column<'t>(table: &'t Table, value: &str) -> Option<&'t Column> {
    error_names(value).iter().find_map(|name| table.column(name))
}

/// The correlations among the values behind the exact ones: two positions and the column.
fn correlation_columns<'t>(
    table: &'t Table,
    values: &[&Column],
    exact: usize,
) -> Vec<(usize, usize, &'t Column)> {
    let mut found = Vec::new();
    for a in exact..values.len() {
        for b in a + 1..values.len() {
            let (x, y) = (values[a].name(), values[b].name());
            let either = [format!("{x}_{y}_corr"), format!("{y}_{x}_corr")];
            if let Some(column) = either.iter().find_map(|name| table.column(name)) {
                found.push((a, b, column));
            }
        }
    }
    found
}

impl Measured {
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The table itself, when all is done.
    pub fn into_table(self) -> Table {
        self.table
    }

    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The measured columns.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().map(|&at| &self.table.columns()[at])
    }

    /// Which of the values has this name.
    pub fn coordinate(&self, name: &str) -> Result<usize, Fail> {
        self.columns().position(|c| c.name() == name).ok_or_else(|| {
            let all: Vec<&str> = self.columns().map(Column::name).collect();
            Fail::usage(format!("`{name}` is none of the values; those are {}", all.join(", ")))
        })
    }

    /// The key of a row's random stream: it belongs to the object's name, not to its place.
    pub fn key(&self, row: usize) -> u64 {
        match &self.names {
            Names::Position => row as u64,
            Names::Integer(ids) => ids[row] as u64,
            Names::Text(ids) => key_of_text(&ids[row]),
        }
    }

    /// What was measured in a row.
    pub fn value(&self, row: usize) -> Vec<f64> {
        self.values.iter().map(|column| column[row]).collect()
    }

    /// The uncertainty set of a row.
    pub fn set(&self, row: usize, size: Size) -> Result<UncertaintySet, Fail> {
        let value = self.value(row);
        let errors: Vec<f64> = self.errors.iter().map(|column| column[row]).collect();
        let set = match self.shape {
            ShapeName::Box => UncertaintySet::cuboid(&value, &errors, size),
            ShapeName::L1 => UncertaintySet::l1_ball(&value, &errors, size),
            ShapeName::Ball => {
                if let Some(other) = errors.iter().position(|e| *e != errors[0]) {
                    return Err(self.failed(
                        row,
                        format!(
                            "{} is {} but {} is {}; a ball has one error for all values, use --shape ellipsoid",
                            self.error_names[0], errors[0], self.error_names[other], errors[other]
                        ),
                    ));
                }
                UncertaintySet::ball(&value, errors[0], size)
            }
            ShapeName::Ellipsoid if self.star => return self.star_ellipsoid(row, &value, &errors, size),
            ShapeName::Ellipsoid => {
                let d = value.len();
                let mut matrix = vec![0.0; d * d];
                for c in 0..d {
                    matrix[c * d + c] = 1.0;
                }
                for (a, b, numbers) in &self.correlations {
                    matrix[a * d + b] = numbers[row];
                    matrix[b * d + a] = numbers[row];
                }
                Covariance::from_correlations(&errors, &matrix)
                    .and_then(|covariance| UncertaintySet::ellipsoid(&value, covariance, size))
            }
        };
        set.map_err(|error| {
            let problem = match error {
                SetError::NotPositive { .. } => {
                    "the correlations contradict each other (the covariance is not positive semi-definite); \
                     mend them, drop the row, or use --shape box"
                        .to_string()
                }
                other => other.to_string(),
            };
            self.failed(row, problem)
        })
    }

    /// The ellipsoid of a star. Correlations that contradict each other are weakened just enough, which is said.
    fn star_ellipsoid(
        &self,
        row: usize,
        value: &[f64],
        errors: &[f64],
        size: Size,
    ) -> Result<UncertaintySet, Fail> {
        let mut correlations = [0.0; 3];
        for (a, b, numbers) in &self.correlations {
            // Depth and the two proper motions are values 2, 3 and 4; the radial velocity, 5, was measured by others.
            match (a, b) {
                (2, 3) => correlations[0] = numbers[row],
                (2, 4) => correlations[1] = numbers[row],
                (3, 4) => correlations[2] = numbers[row],
                _ => {}
            }
        }
        let covariance = GaiaCovariance::new([errors[2], errors[3], errors[4], errors[5]])
            .correlations(correlations)
            .when_indefinite(WhenIndefinite::Shrink)
            .build()
            .map_err(|e| self.failed(row, e.to_string()))?;
        if let Some(factor) = covariance.shrunk_by() {
            note(format!(
                "object {}: its correlations contradict each other (the covariance is not positive definite); \
                 they were multiplied by {factor:.4}",
                self.names.name(row)
            ));
        }
        covariance
            .with_exact_position()
            .and_then(|covariance| UncertaintySet::ellipsoid(value, covariance, size))
            .map_err(|e| self.failed(row, e.to_string()))
    }

    /// A failure at a row, named by file, row and object.
    pub fn failed(&self, row: usize, problem: String) -> Fail {
        let place = self.columns().next().map_or_else(Place::default, |c| c.place(row));
        let place = Place { column: None, ..place };
        Fail::failed(format!("{place}object {}: {problem}", self.names.name(row)))
    }
}
