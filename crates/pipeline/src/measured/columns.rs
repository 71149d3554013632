//! Identifies the measured columns, their error columns and the correlation columns.

use goc_galaxy::catalogue::schema::{
    Columns, Quantity, StarColumns, correlation_column, error_column, error_names,
};

use super::MeasuredColumns;
use crate::error::{PipelineError, Result};
use crate::missing_values::error_column_of;
use crate::quoted_errors::{Change, ErrorColumn};
use crate::sampling_names::Shape;
use crate::watch::Watch;

impl MeasuredColumns<'_> {
    /// The correction to the errors of each measured column.
    pub(super) fn changes(
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

    /// Adds the additional columns to cluster by, with their error columns.
    pub(super) fn add_with<C: Columns<Error: Into<PipelineError>>>(
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

    /// The measured columns and their error columns.
    pub(super) fn columns<C: Columns<Error: Into<PipelineError>>>(
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

/// The requested shape, or the one that suits the columns, with a message.
pub(super) fn choose_shape(asked: Option<Shape>, correlations: usize, watch: &dyn Watch) -> Shape {
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

/// The correlations among the values that follow the exact ones: two indices and the column.
pub(super) fn correlations(there: &[String], names: &[String], exact: usize) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    for a in exact..names.len() {
        for b in a + 1..names.len() {
            let column = correlation_column(there, &names[a], &names[b]);
            found.extend(column.map(|column| (a, b, column)));
        }
    }
    found
}
