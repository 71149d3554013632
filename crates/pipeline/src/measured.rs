//! Measured values with their errors: one row per object, whatever the table is made of.
//!
//! Which column is the error of which, and where correlations are, is found by their names
//! ([`goc_galaxy::catalogue::schema`]) unless they are named. A row with a missing value, error or correlation
//! is dropped and counted; NaN and null are refused by name unless they count as missing. A number that
//! cannot be (infinite, a negative error, a correlation beyond 1) is an error, or costs its row only.
//!
//! Of a star catalogue the columns are known: position, depth, proper motions, radial velocity. The position
//! counts as exact: its error, a few mas, is nothing beside the others. Correlations of a star that
//! contradict each other are weakened just enough, which is said.
//!
//! Errors that are quoted too small are mended here ([`QuotedErrors`]), once rows are checked.
//!
//! Some values need not be there: a star's radial velocity where that is asked for, and every column that
//! is [clustered by](WithColumn) beside the others. A prior takes their place ([`WhenMissing`]).

use std::collections::HashMap;
use std::hash::Hash;

use goc::Ids;
use goc::random::key_of_text;
use goc::uncertainty::{Covariance, Object, SetError, Size, UncertaintySet};
use goc_galaxy::catalogue::schema::{
    Columns, NumberColumn, Quantity, RowNames, SchemaError, StarColumns, correlation_column, error_column,
    error_names, no_stars,
};
use goc_galaxy::catalogue::{Angles, GaiaCovariance, Unit, WhenIndefinite};
use serde_json::{Value, json};

use crate::dataset::Feature;
use crate::error::{PipelineError, Result};
use crate::missing_values::{TIMES, Unmeasured, WhenMissing, WithColumn, error_column_of, fill};
use crate::quoted_errors::{Change, ErrorColumn, QuotedErrors};
use crate::sampling_names::{BadRows, Shape};
use crate::watch::Watch;

/// Rows that a remark names, at most.
const NAMED: usize = 5;

/// Which columns are values and errors, and what is done with rows that cannot be used.
#[derive(Clone, Copy)]
pub struct MeasuredColumns<'a> {
    /// The measured columns; none: every number that has an error column. Not looked at for stars.
    pub values: Option<&'a [String]>,
    /// The columns of their errors, in the same order; none: by their names. Of a star: depth, proper
    /// motions, radial velocity.
    pub errors: Option<&'a [String]>,
    /// The column that names the objects: it is no value.
    pub object: Option<&'a str>,
    /// Which numbers stand for "missing". Null is NaN.
    pub missing: &'a dyn Fn(f64) -> bool,
    /// What becomes of a row with a number that cannot be.
    pub bad_rows: BadRows,
    /// What becomes of errors that are quoted too small.
    pub quoted: &'a QuotedErrors,
    /// What becomes of a star without a radial velocity; none: as of any other missing value.
    pub missing_rv: Option<WhenMissing>,
    /// More measured columns, which become features as they are; where one is missing a prior takes its
    /// place.
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
    /// Their units, where the table says them: for stars those that they were brought to.
    pub units: Vec<Option<String>>,
    /// The form of the sets.
    pub shape: Shape,
    /// The rows that miss nothing.
    pub rows: Vec<usize>,
    /// The others, and what is wrong with each: "parallax missing".
    pub dropped: Vec<(usize, String)>,
    /// How the object of each row is called.
    pub ids: Ids,
    values: Vec<Vec<f64>>,
    errors: Vec<Vec<f64>>,
    error_names: Vec<String>,
    /// Pairs of values that have a correlation, and those.
    correlations: Vec<(usize, usize, Vec<f64>)>,
    quoted: QuotedErrors,
    /// Whether these are stars.
    pub star: bool,
    /// How many of the last values become features as they are.
    pub with: usize,
    called: RowNames,
    /// Values that were not measured in some rows, and in which.
    unmeasured: Vec<Unmeasured>,
    /// What provenance says of how they were mended.
    told: Vec<(&'static str, Value)>,
}

/// What a number cannot be: in short, and with what to do.
type Impossible = [&'static str; 2];

const INFINITE: Impossible =
    ["is not a finite number", "is not a finite number; mend it, or {bad_rows=drop}"];
const NAN: Impossible =
    [INFINITE[0], "is not a finite number; mend it, or drop such rows with {missing=nan}"];
const NULL: Impossible =
    [INFINITE[0], "is null where a number is needed; fill it, or drop such rows with {missing=nan}"];
const NEGATIVE: Impossible =
    ["is negative", "is negative where an error is needed; 0 is exact, else {bad_rows=drop}"];
const NO_ERROR: Impossible = [
    "is no error that can be squared",
    "is no error that can be squared: 0 is exact, others are from 1e-150 to 1e150; mend it, or {bad_rows=drop}",
];
const MISSING: Impossible =
    ["is missing", "is missing; leave such stars out ({missing_rv=drop}) or draw it ({missing_rv=prior})"];
const NO_CORRELATION: Impossible =
    ["is no correlation", "is no correlation; mend it, {bad_rows=drop}, or {shape=box}"];

/// A schema's error as the pipeline has it.
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
    /// Checks every number that is used. Without a shape, correlations make it an ellipsoid. `ids` call the
    /// objects, one for each row; `star` has the columns of a star catalogue and the unit of its positions.
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

        let n = values[0].numbers.len();
        if n == 0 {
            return Err(failed!("{}the table has no rows", called.source()));
        }
        let policy = |c: usize| match star {
            Some(_) if c + 1 == own => self.missing_rv,
            _ => (c >= own).then_some(WhenMissing::Prior(None)),
        };
        let missing = |column: &NumberColumn, row: usize| {
            column.numbers[row].is_nan() || (self.missing)(column.numbers[row])
        };
        // Values that need not be there, and in which rows they are not: a value without an error neither.
        let mut unmeasured = Vec::new();
        for (coordinate, policy) in (0..names.len()).filter_map(|c| Some((c, policy(c)?))) {
            let pair = [&values[coordinate], &errors[coordinate - exact.len()]];
            let rows: Vec<bool> = (0..n).map(|row| pair.iter().any(|c| missing(c, row))).collect();
            if policy == WhenMissing::Refuse
                && let Some(row) = rows.iter().position(|is| *is)
            {
                let column = pair.into_iter().find(|c| missing(c, row)).unwrap_or(pair[0]);
                let (name, number) = (&column.name, column.numbers[row]);
                return Err(PipelineError::Failed(columns.complaint(name, row, number, MISSING[1])));
            }
            unmeasured.push((Unmeasured { coordinate, rows }, policy));
        }
        let priors = || unmeasured.iter().filter(|(_, policy)| matches!(policy, WhenMissing::Prior(_)));
        let gone = |c: usize, row: usize| priors().any(|(own, _)| own.coordinate == c && own.rows[row]);
        let all = |row: usize| {
            let values = values.iter().enumerate().filter(move |(c, _)| !gone(*c, row));
            let errors = errors.iter().enumerate().filter(move |(c, _)| !gone(c + exact.len(), row));
            values.chain(errors).map(|(_, column)| column).chain(&pairs)
        };
        let errors_at = |row: usize| {
            errors
                .iter()
                .enumerate()
                .filter(move |(c, _)| !gone(c + exact.len(), row))
                .map(|(_, column)| column)
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
            let beyond = || pairs.iter().find(|c| c.numbers[row].abs() > 1.0);
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
        if let Some([first, second]) = named_twice(&ids) {
            let (source, object) = (called.source(), name(&ids, first));
            let [first, second] = [first, second].map(|row| called.first + row as u64);
            return Err(failed!(
                "{source}object {object} stands in rows {first} and {second}; one row an object is needed"
            ));
        }
        if rows.is_empty() {
            return Err(failed!(
                "{}no objects left: all {n} miss a value or an error, or have a number that cannot be",
                called.source()
            ));
        }
        let said = ["a value or an error is missing", "a number is not possible ({bad_rows=drop})"];
        for (rows, why) in [missed, refused].iter().zip(said).filter(|(rows, _)| !rows.is_empty()) {
            let some: Vec<String> = rows.iter().take(NAMED).map(|&row| name(&ids, row)).collect();
            let (count, more) = (rows.len(), if rows.len() > some.len() { ", …" } else { "" });
            watch.note(&format!("dropped {count} of {n} objects, {why}: {}{more}", some.join(", ")));
        }
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

    /// What is done to the errors of each measured column.
    fn changes(
        &self,
        measured: &[String],
        errors: &[String],
        star: Option<&StarColumns>,
    ) -> Result<Vec<Change>> {
        let quantities = star.map(|star| star.form.quantities());
        let pairs = measured.iter().zip(errors).enumerate();
        let columns = pairs.map(|(at, (name, errors))| ErrorColumn {
            name,
            // The first two, the position, are exact.
            quantity: quantities.and_then(|own| own.get(2 + at).copied()).map(Quantity::name),
            errors,
        });
        self.quoted.changes(&columns.collect::<Vec<_>>())
    }

    /// Adds the columns that are clustered by beside the others, and those of their errors.
    fn add_with<C: Columns<Error: Into<PipelineError>>>(
        &self,
        columns: &C,
        measured: &mut Vec<String>,
        errors: &mut Vec<String>,
    ) -> Result<()> {
        for with in self.with {
            if measured.contains(&with.value) {
                return Err(usage!("{{with}} names `{}`, which is among the values already", with.value));
            }
            let error = error_column_of(columns, with)?;
            measured.push(with.value.clone());
            errors.push(error);
        }
        Ok(())
    }

    /// The measured columns and those of their errors.
    fn columns<C: Columns<Error: Into<PipelineError>>>(
        &self,
        columns: &C,
        there: &[String],
        asked: Option<&[String]>,
    ) -> Result<(Vec<String>, Vec<String>)> {
        let source = || columns.rows().source();
        let Some(asked) = asked else {
            let object = |name: &String| self.object == Some(name.as_str());
            let pairs: Vec<(String, String)> = there
                .iter()
                .filter(|name| columns.is_number(name) && !object(name))
                .filter_map(|name| {
                    let error = error_column(there, name).filter(|error| columns.is_number(error))?;
                    Some((name.clone(), error))
                })
                .collect();
            if pairs.is_empty() {
                return Err(usage!(
                    "{}no values with errors found (x with x_error, x_err, sigma_x or e_x); name them with \
                     {{values}} and {{errors}} (the table has {})",
                    source(),
                    there.join(", ")
                ));
            }
            return Ok(pairs.into_iter().unzip());
        };
        let names: Vec<String> = asked.iter().filter(|name| !name.is_empty()).cloned().collect();
        if names.is_empty() {
            return Err(usage!("{{values}} names no column"));
        }
        if let Some((at, name)) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            let number = at + 1;
            let message = format!("{{values}} names `{name}` twice (the second is number {number})");
            return Err(PipelineError::Usage(message));
        }
        for name in &names {
            columns.require(name).map_err(Into::into)?;
        }
        let errors = match self.errors {
            Some(errors) if errors.len() == names.len() => {
                for name in errors {
                    columns.require(name).map_err(Into::into)?;
                }
                errors.to_vec()
            }
            Some(errors) => {
                let (e, v) = (errors.len(), names.len());
                return Err(usage!("{{errors}} names {e} columns for {v} values"));
            }
            None => {
                let none = |name: &String| {
                    let (source, tried) = (source(), error_names(name).join(", "));
                    usage!(
                        "{source}no error column for `{name}` (looked for {tried}); name it with {{errors}}"
                    )
                };
                let found = names.iter().map(|name| error_column(there, name).ok_or_else(|| none(name)));
                found.collect::<Result<_, _>>()?
            }
        };
        Ok((names, errors))
    }
}

/// The shape that was asked for, or the one that fits the columns; said.
fn choose_shape(asked: Option<Shape>, correlations: usize, watch: &dyn Watch) -> Shape {
    match asked {
        Some(shape) => {
            if shape != Shape::Ellipsoid && correlations > 0 {
                watch.note("the correlations are not used: they need {shape=ellipsoid}");
            }
            shape
        }
        None if correlations == 0 => {
            watch.note("shape: box, as there are no correlations");
            Shape::Box
        }
        None => {
            watch.note(&format!("shape: ellipsoid, with {correlations} correlations"));
            Shape::Ellipsoid
        }
    }
}

/// What is done to quoted errors, in words.
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

/// The correlations among the values behind the exact ones: two positions and the column.
fn correlations(there: &[String], names: &[String], exact: usize) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    for a in exact..names.len() {
        for b in a + 1..names.len() {
            let column = correlation_column(there, &names[a], &names[b]);
            found.extend(column.map(|column| (a, b, column)));
        }
    }
    found
}

/// How the object of a row is called.
pub fn name(ids: &Ids, row: usize) -> String {
    match ids {
        Ids::Integer(ids) => ids[row].to_string(),
        Ids::Text(ids) => ids[row].clone(),
        _ => row.to_string(),
    }
}

/// The rows of the first object that stands in two.
fn named_twice(ids: &Ids) -> Option<[usize; 2]> {
    fn twice<K: Eq + Hash>(ids: &[K]) -> Option<[usize; 2]> {
        let mut first = HashMap::with_capacity(ids.len());
        let mut found: Option<[usize; 2]> = None;
        for (row, id) in ids.iter().enumerate() {
            let before = *first.entry(id).or_insert(row);
            // Of several the one whose first row comes first.
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

impl Measured {
    /// Rows of the table, those that were dropped counted.
    pub fn table_rows(&self) -> usize {
        self.values[0].len()
    }

    /// How the object of a row is called.
    pub fn name(&self, row: usize) -> String {
        name(&self.ids, row)
    }

    /// What messages call the table.
    pub fn source(&self) -> Option<&str> {
        self.called.source.as_deref()
    }

    /// Which of the values has this name.
    pub fn coordinate(&self, name: &str) -> Result<usize> {
        self.names.iter().position(|own| own == name).ok_or_else(|| {
            let all = self.names.join(", ");
            usage!("`{name}` is none of the values; those are {all}")
        })
    }

    /// What provenance says of what was done to quoted errors, and for missing values.
    pub(crate) fn own_settings(&self) -> Vec<(&'static str, Value)> {
        self.quoted.settings().into_iter().chain(self.told.iter().cloned()).collect()
    }

    /// What is to be clustered in a row: its set, under its own key.
    pub fn object(&self, row: usize, size: Size, watch: &dyn Watch) -> Result<Object> {
        let object = Object::new(self.key(row), self.set(row, size, watch)?);
        let unmeasured: Vec<usize> = self.unmeasured_in(row).collect();
        Ok(if unmeasured.is_empty() { object } else { object.unmeasured(unmeasured, TIMES) })
    }

    /// How many times as many points as usual a row gets.
    pub(crate) fn times(&self, row: usize) -> usize {
        if self.unmeasured_in(row).next().is_some() { TIMES } else { 1 }
    }

    /// The values that were not measured in a row.
    fn unmeasured_in(&self, row: usize) -> impl Iterator<Item = usize> {
        self.unmeasured.iter().filter(move |own| own.rows[row]).map(|own| own.coordinate)
    }

    /// The rows that a prior had to help, and with what.
    pub(crate) fn filled(&self) -> Vec<(usize, String)> {
        let said = |row: &usize| {
            let names: Vec<&str> = self.unmeasured_in(*row).map(|c| self.names[c].as_str()).collect();
            (!names.is_empty()).then(|| (*row, format!("{} from the prior", names.join(", "))))
        };
        self.rows.iter().filter_map(said).collect()
    }

    /// The key of a row's random stream: it belongs to the object's name, not to its place.
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

    /// What was measured in a row.
    pub fn value(&self, row: usize) -> Vec<f64> {
        self.values.iter().map(|column| column[row]).collect()
    }

    /// The uncertainty set of a row.
    pub fn set(&self, row: usize, size: Size, watch: &dyn Watch) -> Result<UncertaintySet> {
        let value = self.value(row);
        let errors: Vec<f64> = self.errors.iter().map(|column| column[row]).collect();
        let set = match self.shape {
            Shape::Box => UncertaintySet::cuboid(&value, &errors, size),
            Shape::L1 => UncertaintySet::l1_ball(&value, &errors, size),
            Shape::Ball => {
                if let Some(other) = errors.iter().position(|e| *e != errors[0]) {
                    let problem = format!(
                        "{} is {} but {} is {}; a ball has one error for all values, use {{shape=ellipsoid}}",
                        self.error_names[0], errors[0], self.error_names[other], errors[other]
                    );
                    return Err(self.failed(row, &problem));
                }
                UncertaintySet::ball(&value, errors[0], size)
            }
            Shape::Ellipsoid if self.star => return self.star_ellipsoid(row, &value, &errors, size, watch),
            Shape::Ellipsoid => {
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
        set.map_err(|error| match error {
            SetError::NotPositive { .. } => self.failed(
                row,
                "the correlations contradict each other (the covariance is not positive semi-definite); \
                 mend them, drop the row, or use {shape=box}",
            ),
            other => self.failed(row, &other.to_string()),
        })
    }

    /// How many of the values have errors: positions on the sky, which are exact, do not count.
    pub fn uncertain(&self) -> usize {
        let has_errors = |column: &&Vec<f64>| self.rows.iter().any(|row| column[*row] > 0.0);
        self.errors.iter().filter(has_errors).count()
    }

    /// The ellipsoid of a star.
    fn star_ellipsoid(
        &self,
        row: usize,
        value: &[f64],
        errors: &[f64],
        size: Size,
        watch: &dyn Watch,
    ) -> Result<UncertaintySet> {
        // Depth and the two proper motions are values 2, 3 and 4; the radial velocity, 5, was measured by others.
        let correlations = [(2, 3), (2, 4), (3, 4)].map(|pair| {
            let found = self.correlations.iter().find(|(a, b, _)| (*a, *b) == pair);
            found.map_or(0.0, |(.., numbers)| numbers[row])
        });
        let covariance = GaiaCovariance::new([errors[2], errors[3], errors[4], errors[5]])
            .correlations(correlations)
            .when_indefinite(WhenIndefinite::Shrink)
            .build()
            .map_err(|error| self.failed(row, &error.to_string()))?;
        if let Some(factor) = covariance.shrunk_by() {
            watch.warn(&format!(
                "object {}: its correlations contradict each other (the covariance is not positive definite); \
                 they were multiplied by {factor:.4}",
                self.name(row)
            ));
        }
        let d = value.len();
        let mut matrix = vec![0.0; d * d];
        for (r, own) in covariance.matrix().iter().enumerate() {
            matrix[(r + 2) * d + 2..][..4].copy_from_slice(own);
        }
        // What is measured beside is measured by others.
        (6..d).for_each(|c| matrix[c * d + c] = errors[c] * errors[c]);
        Covariance::new(&matrix, d)
            .and_then(|covariance| UncertaintySet::ellipsoid(value, covariance, size))
            .map_err(|error| self.failed(row, &error.to_string()))
    }

    /// A failure at a row, named by table, row and object.
    pub fn failed(&self, row: usize, problem: &str) -> PipelineError {
        failed!("{}: object {}: {problem}", self.called.at(row), self.name(row))
    }
}
