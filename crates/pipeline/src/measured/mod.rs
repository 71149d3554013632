//! Measured values with their errors: one row per object, from any kind of table.
//!
//! Columns of errors and correlations are recognised by their names
//! ([`goc_galaxy::catalogue::schema`]) unless they are given. A row with a missing value, error or
//! correlation is dropped and counted; NaN and null are refused by name unless they count as
//! missing. An impossible number (an infinity, a negative error, a correlation beyond 1) is an
//! error; optionally, only its row is dropped.
//!
//! The columns of a star catalogue are known: position, depth, proper motions, radial velocity. The
//! position counts as exact: its error, a few mas, is negligible. Inconsistent correlations of a
//! star are shrunk just enough to be valid, with a message.
//!
//! Underestimated errors are corrected here ([`QuotedErrors`]), after the rows are checked.
//!
//! Some values may be missing: a star's radial velocity, if requested, and any [additional
//! column](WithColumn). Missing values are drawn from a prior ([`WhenMissing`]).

mod columns;
mod rows;
mod sets;

use goc::Ids;
use goc::random::key_of_text;
use goc_galaxy::catalogue::schema::{Columns, NumberColumn, RowNames, SchemaError, StarColumns, no_stars};
use goc_galaxy::catalogue::{Angles, Unit};
use serde_json::{Value, json};

use self::columns::{choose_shape, correlations};
pub use self::rows::name;
use self::rows::{Numbers, Rows};
use crate::dataset::Feature;
use crate::error::{PipelineError, Result};
use crate::missing_values::{Unmeasured, WhenMissing, WithColumn, fill};
use crate::quoted_errors::{Change, QuotedErrors};
use crate::sampling_names::{BadRows, Shape};
use crate::watch::Watch;

/// Which columns are values and errors, and what to do with unusable rows.
#[derive(Clone, Copy)]
pub struct MeasuredColumns<'a> {
    /// The measured columns; `None` takes every numeric column that has an error column. Ignored
    /// for stars.
    pub values: Option<&'a [String]>,
    /// Their error columns, in the same order; `None` finds them by name. For stars: depth, proper
    /// motions, radial velocity.
    pub errors: Option<&'a [String]>,
    /// The column that names the objects, which is not a value.
    pub object: Option<&'a str>,
    /// Which numbers mean "missing". Null is read as NaN.
    pub missing: &'a dyn Fn(f64) -> bool,
    /// What to do with a row with an impossible number.
    pub bad_rows: BadRows,
    /// How to correct underestimated errors.
    pub quoted: &'a QuotedErrors,
    /// What to do with a star without a radial velocity; `None` treats it like any other missing
    /// value.
    pub missing_rv: Option<WhenMissing>,
    /// Further measured columns, which become features unchanged; missing values are drawn from a
    /// prior.
    pub with: &'a [WithColumn],
}

impl std::fmt::Debug for MeasuredColumns<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { values, errors, bad_rows, quoted, missing_rv, with, .. } = self;
        f.debug_struct("MeasuredColumns")
            .field("values", values)
            .field("errors", errors)
            .field("bad_rows", bad_rows)
            .field("quoted", quoted)
            .field("missing_rv", missing_rv)
            .field("with", with)
            .finish_non_exhaustive()
    }
}

/// The measured values of all objects, checked.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The measured columns.
    pub names: Vec<String>,
    /// Their units, if the table has them; for stars, the units after conversion.
    pub units: Vec<Option<String>>,
    /// The shape of the sets.
    pub shape: Shape,
    /// The rows without missing values.
    pub rows: Vec<usize>,
    /// The other rows, and what is wrong with each, such as "parallax missing".
    pub dropped: Vec<(usize, String)>,
    /// The name of each row's object.
    pub ids: Ids,
    values: Vec<Vec<f64>>,
    errors: Vec<Vec<f64>>,
    error_names: Vec<String>,
    /// Pairs of values that have a correlation, and the correlations.
    correlations: Vec<(usize, usize, Vec<f64>)>,
    quoted: QuotedErrors,
    /// Whether these are stars.
    pub star: bool,
    /// How many values at the end become features unchanged.
    pub with: usize,
    called: RowNames,
    /// Values that were not measured in some rows, and which rows these are.
    unmeasured: Vec<Unmeasured>,
    /// What the provenance records about the correction of errors.
    told: Vec<(&'static str, Value)>,
}

/// A schema error as a pipeline error.
pub(crate) fn of_schema<C: Columns<Error: Into<PipelineError>>>(
    error: SchemaError<C::Error>,
    columns: &C,
) -> PipelineError {
    let source = columns.rows().source();
    match error {
        SchemaError::Columns(error) => error.into(),
        SchemaError::NoStars { places, columns } => {
            usage!("{source}{}", no_stars(places, "with {columns}", &columns))
        }
        SchemaError::NotMeasured => usage!("{source}{error} (see {{columns}})"),
        other => PipelineError::Usage(other.to_string()),
    }
}

impl MeasuredColumns<'_> {
    /// Checks every number that is used. If no shape is given, correlations imply an ellipsoid.
    /// `ids` names the object of each row; `star` holds the columns of a star catalogue and the
    /// unit of its positions.
    pub fn measure<C: Columns<Error: Into<PipelineError>>>(
        &self,
        columns: &C,
        ids: Ids,
        star: Option<(&StarColumns, Angles)>,
        shape: Option<Shape>,
        watch: &dyn Watch,
    ) -> Result<Measured> {
        let (there, called) = (columns.names(), columns.rows());
        if self.errors.is_some() && self.values.is_none() && star.is_none() {
            return Err(usage!("{{errors}} needs {{values}}"));
        }
        let asked = match star {
            Some((star, _)) => Some(&star.names[2..]),
            None => self.values,
        };
        let (mut measured, mut error_columns) = self.columns(columns, &there, asked)?;
        let exact: &[String] = star.map_or(&[], |(star, _)| &star.names[..2]);
        let own = exact.len() + measured.len();
        self.add_with(columns, &mut measured, &mut error_columns)?;
        let names = [exact, &measured].concat();
        if asked.is_none() {
            let pairs: Vec<String> =
                names.iter().zip(&error_columns).map(|(v, e)| format!("{v} ({e})")).collect();
            watch.note(&format!("values and errors: {}", pairs.join(", ")));
        }
        let changes = self.changes(&measured, &error_columns, star.map(|(star, _)| star))?;
        let correlated = correlations(&there, &names[..own], exact.len());
        let shape = choose_shape(shape, correlated.len(), watch);
        let used = if shape == Shape::Ellipsoid { &correlated[..] } else { &[] };

        let needed: Vec<Option<Unit>> = match star {
            Some((star, angles)) => {
                star.units(angles).map(Some).into_iter().chain(vec![None; names.len() - own]).collect()
            }
            None => vec![None; names.len()],
        };
        let read = |name: &String, unit| {
            NumberColumn::read(columns, name, unit).map_err(|error| of_schema(error, columns))
        };
        let units_of = names.iter().zip(&needed);
        let values = units_of.map(|(name, unit)| read(name, *unit)).collect::<Result<Vec<_>, _>>()?;
        let errors = error_columns.iter().zip(&needed[exact.len()..]);
        let errors = errors.map(|(name, unit)| read(name, *unit)).collect::<Result<Vec<_>, _>>()?;
        for conversion in errors.iter().filter_map(|error| error.conversion.as_ref()) {
            watch.note(&conversion.to_string());
        }
        let pairs = used.iter().map(|(.., name)| read(name, None)).collect::<Result<Vec<_>, _>>()?;
        let numbers = Numbers { values, errors, correlations: pairs };
        let n = numbers.rows();
        if n == 0 {
            return Err(failed!("{}the table has no rows", called.source()));
        }
        let mut unmeasured = self.unmeasured(columns, &numbers, |c| match star {
            Some(_) if c + 1 == own => self.missing_rv,
            _ => (c >= own).then_some(WhenMissing::Prior(None)),
        })?;
        let Rows { kept: rows, dropped } = self.check_rows(columns, &numbers, &unmeasured, &ids, watch)?;
        let Numbers { values, errors, correlations: pairs } = numbers;
        let units = match star {
            Some(_) => {
                let known = |(unit, name): (&Option<Unit>, &String)| match unit {
                    Some(unit) => Some(unit.name().to_string()),
                    None => columns.unit(name),
                };
                needed.iter().zip(&names).map(known).collect()
            }
            None => names.iter().map(|name| columns.unit(name)).collect(),
        };
        let mut all_errors = vec![vec![0.0; n]; exact.len()];
        let quoted = errors.into_iter().zip(&values[exact.len()..]).zip(&changes);
        all_errors.extend(quoted.map(|((error, value), change)| change.apply(error, value.factor)));
        let unit_of = |at: usize| -> Option<String> {
            let own = columns.unit(&measured[at]).filter(|own| !own.trim().is_empty());
            own.or_else(|| needed[exact.len() + at].map(|unit| unit.name().to_string()))
        };
        say_changes(&measured, &changes, unit_of, watch);
        let pairs = used.iter().zip(pairs).map(|((a, b, _), column)| (*a, *b, column.into_values()));
        let mut values: Vec<Vec<f64>> = values.into_iter().map(NumberColumn::into_values).collect();
        unmeasured.retain(|(_, policy)| matches!(policy, WhenMissing::Prior(_)));
        let mut told = Vec::new();
        if !self.with.is_empty() {
            let with: Vec<String> = self.with.iter().map(WithColumn::to_string).collect();
            told.push(("with", json!(with.join(","))));
        }
        for (own, policy) in &unmeasured {
            let velocity = star.is_some_and(|_| own.coordinate == 5);
            let angles = star.filter(|_| velocity).map(|(_, angles)| angles);
            let filled = fill(own, *policy, angles, &rows, &names[own.coordinate], &mut values)?;
            let Some((sigma, said)) = filled else { continue };
            for &row in rows.iter().filter(|row| own.rows[**row]) {
                all_errors[own.coordinate][row] = sigma;
            }
            watch.note(&format!("{}{said}", called.source()));
            if velocity {
                told.extend([("missing_rv", json!(policy.to_string())), ("missing_rv_prior", json!(said))]);
            }
        }
        let unmeasured: Vec<Unmeasured> = unmeasured
            .into_iter()
            .map(|(own, _)| own)
            .filter(|own| rows.iter().any(|row| own.rows[*row]))
            .collect();
        Ok(Measured {
            error_names: [exact, &error_columns].concat(),
            with: names.len() - own,
            unmeasured,
            told,
            names,
            units,
            shape,
            rows,
            dropped,
            ids,
            values,
            errors: all_errors,
            correlations: pairs.collect(),
            quoted: self.quoted.clone(),
            star: star.is_some(),
            called,
        })
    }
}

/// Reports the correction of quoted errors in words.
fn say_changes(
    measured: &[String],
    changes: &[Change],
    unit_of: impl Fn(usize) -> Option<String>,
    watch: &dyn Watch,
) {
    let each = || measured.iter().zip(changes);
    let factors: Vec<String> = each()
        .filter_map(|(name, change)| change.factor.map(|factor| format!("{name} by {factor}")))
        .collect();
    if !factors.is_empty() {
        watch.note(&format!("errors multiplied: {}", factors.join(", ")));
    }
    let floors: Vec<String> = each()
        .enumerate()
        .filter_map(|(at, (name, change))| {
            let unit = unit_of(at).map_or_else(String::new, |unit| format!(" {unit}"));
            change.floor.map(|floor| format!("{name} {floor}{unit}"))
        })
        .collect();
    if !floors.is_empty() {
        watch.note(&format!("errors are at least: {}", floors.join(", ")));
    }
}

impl Measured {
    /// Number of rows in the table, including those that were dropped.
    pub fn table_rows(&self) -> usize {
        self.values[0].len()
    }

    /// The name of a row's object.
    pub fn name(&self, row: usize) -> String {
        name(&self.ids, row)
    }

    /// The name of the table in messages.
    pub fn source(&self) -> Option<&str> {
        self.called.source.as_deref()
    }

    /// The index of the value with this name.
    pub fn coordinate(&self, name: &str) -> Result<usize> {
        self.names.iter().position(|own| own == name).ok_or_else(|| {
            let all = self.names.join(", ");
            usage!("`{name}` is not one of the values, which are {all}")
        })
    }

    /// The provenance of the correction of quoted errors and of the treatment of missing values.
    pub(crate) fn own_settings(&self) -> Vec<(&'static str, Value)> {
        self.quoted.settings().into_iter().chain(self.told.iter().cloned()).collect()
    }

    /// The values that were not measured in a row.
    fn unmeasured_in(&self, row: usize) -> impl Iterator<Item = usize> {
        self.unmeasured.iter().filter(move |own| own.rows[row]).map(|own| own.coordinate)
    }

    /// The rows with values drawn from a prior, and which values these are.
    pub(crate) fn filled(&self) -> Vec<(usize, String)> {
        let said = |row: &usize| {
            let names: Vec<&str> = self.unmeasured_in(*row).map(|c| self.names[c].as_str()).collect();
            (!names.is_empty()).then(|| (*row, format!("{} from the prior", names.join(", "))))
        };
        self.rows.iter().filter_map(said).collect()
    }

    /// Which of these rows have a value drawn from a prior; empty if none has.
    pub(crate) fn with_a_value_from_prior(&self, rows: &[usize]) -> Vec<bool> {
        let all: Vec<bool> = rows.iter().map(|row| self.unmeasured_in(*row).next().is_some()).collect();
        if all.contains(&true) { all } else { Vec::new() }
    }

    /// The key of a row's random stream. It depends on the object's name, not on its position.
    pub fn key(&self, row: usize) -> u64 {
        match &self.ids {
            Ids::Integer(ids) => ids[row] as u64,
            Ids::Text(ids) => key_of_text(&ids[row]),
            _ => row as u64,
        }
    }

    /// The columns that become features as they are.
    pub fn with_names(&self) -> &[String] {
        &self.names[self.names.len() - self.with..]
    }

    /// Some of the values, as features.
    pub(crate) fn features(&self, which: std::ops::Range<usize>) -> Vec<Feature> {
        let feature = |c: usize| Feature { name: self.names[c].clone(), unit: self.units[c].clone() };
        which.map(feature).collect()
    }

    /// The measured values of a row.
    pub fn value(&self, row: usize) -> Vec<f64> {
        self.values.iter().map(|column| column[row]).collect()
    }
    /// How many of the values have errors. Positions on the sky are exact and do not count.
    pub fn uncertain(&self) -> usize {
        let has_errors = |column: &&Vec<f64>| self.rows.iter().any(|row| column[*row] > 0.0);
        self.errors.iter().filter(has_errors).count()
    }
    /// An error at a row, which names the table, the row and the object.
    pub fn failed(&self, row: usize, problem: &str) -> PipelineError {
        failed!("{}: object {}: {problem}", self.called.at(row), self.name(row))
    }
}
