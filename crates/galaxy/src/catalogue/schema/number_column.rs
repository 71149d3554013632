//! Columns of numbers, and their conversion to the required unit.

use std::fmt;

use super::{Columns, Schema, SchemaError};
use crate::catalogue::Unit;

/// A column as in the table, with the factor that converts it to the required unit. Numbers that
/// mean "missing" must be detected before the conversion.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberColumn {
    /// Its name.
    pub name: String,
    /// The numbers as in the table.
    pub numbers: Vec<f64>,
    /// The conversion factor.
    pub factor: f64,
    /// What was converted, if anything.
    pub conversion: Option<Conversion>,
}

/// The conversion of a column that is not in the required unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// The column.
    pub column: String,
    /// The unit that it states.
    pub from: String,
    /// The unit that is needed.
    pub to: &'static str,
}

impl fmt::Display for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column `{}`: converted from {} to {}", self.column, self.from, self.to)
    }
}

impl NumberColumn {
    /// Reads a column; `unit` is the required one, if it matters.
    pub fn read<C: Columns>(columns: &C, name: &str, unit: Option<Unit>) -> Schema<Self, C> {
        let converted = unit.map(|unit| conversion(columns, name, unit)).transpose()?.flatten();
        let (factor, conversion) = match converted {
            Some((factor, conversion)) => (factor, Some(conversion)),
            None => (1.0, None),
        };
        let numbers = columns.numbers(name).map_err(SchemaError::Columns)?;
        Ok(Self { name: name.to_string(), numbers, factor, conversion })
    }

    /// A value in the required unit.
    pub fn value(&self, row: usize) -> f64 {
        self.numbers[row] * self.factor
    }

    /// All values in the required unit.
    pub fn into_values(mut self) -> Vec<f64> {
        if self.factor != 1.0 {
            self.numbers.iter_mut().for_each(|number| *number *= self.factor);
        }
        self.numbers
    }
}

/// The conversion of a column to the required unit, if it differs from the column's own.
pub(super) fn conversion<C: Columns>(
    columns: &C,
    name: &str,
    needed: Unit,
) -> Schema<Option<(f64, Conversion)>, C> {
    let Some(own) = columns.unit(name).filter(|own| !own.trim().is_empty()) else { return Ok(None) };
    let column = name.to_string();
    match needed.factor_from(&own) {
        None => Err(SchemaError::Unit { column, unit: own, needed: needed.name() }),
        Some(1.0) => Ok(None),
        Some(factor) => Ok(Some((factor, Conversion { column, from: own, to: needed.name() }))),
    }
}
