//! One column: values of one type, which of them are null, a unit and a description.
//!
//! # Null and NaN
//! Null means "no value was written here": an empty CSV field, a Parquet null, a FITS `TNULL`. NaN
//! is a value in its own right that a computation may have produced, and it is preserved. Only
//! [`Column::numbers`] merges the two, because an `f64` cannot represent null otherwise.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Place, Result, TableError};

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Data {
    /// Booleans.
    Bool(Vec<bool>),
    /// Unsigned bytes.
    U8(Vec<u8>),
    /// 16-bit integers.
    I16(Vec<i16>),
    /// 32-bit integers.
    I32(Vec<i32>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
    /// Text.
    Text(Vec<String>),
}

/// Evaluates one expression for whichever vector the data hold.
macro_rules! each {
    ($data:expr, $values:ident => $body:expr) => {
        match $data {
            $crate::Data::Bool($values) => $body,
            $crate::Data::U8($values) => $body,
            $crate::Data::I16($values) => $body,
            $crate::Data::I32($values) => $body,
            $crate::Data::I64($values) => $body,
            $crate::Data::F32($values) => $body,
            $crate::Data::F64($values) => $body,
            $crate::Data::Text($values) => $body,
        }
    };
}

impl Data {
    /// Number of values.
    pub fn len(&self) -> usize {
        each!(self, values => values.len())
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type's name: `bool`, `uint8`, `int16`, `int32`, `int64`, `float32`, `float64` or `string`.
    pub fn kind(&self) -> &'static str {
        match self {
            Data::Bool(_) => "bool",
            Data::U8(_) => "uint8",
            Data::I16(_) => "int16",
            Data::I32(_) => "int32",
            Data::I64(_) => "int64",
            Data::F32(_) => "float32",
            Data::F64(_) => "float64",
            Data::Text(_) => "string",
        }
    }

    /// Stores the placeholder (0, NaN, empty, false) at a null row, so that equal tables have equal
    /// bytes regardless of what the file stored there.
    fn blank(&mut self, row: usize) {
        match self {
            Data::Bool(v) => v[row] = false,
            Data::U8(v) => v[row] = 0,
            Data::I16(v) => v[row] = 0,
            Data::I32(v) => v[row] = 0,
            Data::I64(v) => v[row] = 0,
            Data::F32(v) => v[row] = f32::NAN,
            Data::F64(v) => v[row] = f64::NAN,
            Data::Text(v) => v[row].clear(),
        }
    }
}

/// Where a column's rows are in the file they came from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    pub file: Option<PathBuf>,
    /// The line of row 0, where every row has exactly one line.
    pub first_line: Option<u64>,
}

impl Origin {
    pub fn place(&self) -> Place {
        Place { file: self.file.clone(), ..Place::default() }
    }

    /// The place of `row`, from 0.
    pub fn at(&self, row: usize) -> Place {
        let mut place = self.place().row(row as u64 + 1);
        place.line = self.first_line.map(|first| first + row as u64);
        place
    }
}

/// A named column.
///
/// ```
/// use goc_tables::{Column, Data};
/// let column = Column::new("parallax", Data::F64(vec![0.5, 1.25]))
///     .with_unit("mas")
///     .with_valid(vec![true, false])?;
/// assert!(column.is_null(1));
/// assert_eq!(column.texts(), ["0.5", ""]);
/// assert!(column.numbers()?[1].is_nan());
/// # Ok::<(), goc_tables::TableError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Column {
    name: String,
    data: Data,
    unit: Option<String>,
    description: Option<String>,
    /// False where null; `None` if nothing is null.
    valid: Option<Vec<bool>>,
    pub(crate) origin: Arc<Origin>,
}

/// Compares names, values, nulls, units and descriptions, but not where the columns were read from.
/// NaN differs from NaN, as usual.
impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.unit == other.unit
            && self.description == other.description
            && self.valid == other.valid
            && self.same_values(other)
    }
}

impl Column {
    /// A column without nulls, unit or description.
    pub fn new(name: impl Into<String>, data: Data) -> Self {
        Self { name: name.into(), data, unit: None, description: None, valid: None, origin: Arc::default() }
    }

    /// The same column with a unit; an empty string means none.
    pub fn with_unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = Some(unit.into()).filter(|unit| !unit.is_empty());
        self
    }

    /// The same column with a description; an empty string means none.
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into()).filter(|text| !text.is_empty());
        self
    }

    /// The same column, null wherever `valid` is false.
    ///
    /// The value at a null is replaced by a placeholder (0, NaN, false or an empty string).
    pub fn with_valid(mut self, valid: Vec<bool>) -> Result<Self> {
        if valid.len() != self.len() {
            return Err(self.origin.place().column(&self.name).malformed(format!(
                "a mask of {} rows for {} values",
                valid.len(),
                self.len()
            )));
        }
        for (row, _) in valid.iter().enumerate().filter(|(_, valid)| !**valid) {
            self.data.blank(row);
        }
        self.valid = Some(valid).filter(|valid| valid.contains(&false));
        Ok(self)
    }

    /// The same column with another name.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds the rows of another column of the same type.
    pub(crate) fn append(&mut self, other: &Self) -> Result<()> {
        let (before, more) = (self.len(), other.len());
        match (&mut self.data, &other.data) {
            (Data::Bool(own), Data::Bool(more)) => own.extend_from_slice(more),
            (Data::U8(own), Data::U8(more)) => own.extend_from_slice(more),
            (Data::I16(own), Data::I16(more)) => own.extend_from_slice(more),
            (Data::I32(own), Data::I32(more)) => own.extend_from_slice(more),
            (Data::I64(own), Data::I64(more)) => own.extend_from_slice(more),
            (Data::F32(own), Data::F32(more)) => own.extend_from_slice(more),
            (Data::F64(own), Data::F64(more)) => own.extend_from_slice(more),
            (Data::Text(own), Data::Text(more)) => own.extend_from_slice(more),
            (own, more) => {
                let (kind, known) = (more.kind(), own.kind());
                let problem =
                    format!("is {kind}, but {known} in the partitions before; write all with the same types");
                return Err(other.origin.place().column(&other.name).malformed(problem));
            }
        }
        if self.valid.is_some() || other.valid.is_some() {
            let valid = self.valid.get_or_insert_with(|| vec![true; before]);
            match &other.valid {
                Some(own) => valid.extend_from_slice(own),
                None => valid.resize(before + more, true),
            }
        }
        Ok(())
    }

    /// Takes away the rows from `at` on.
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        let data = match &mut self.data {
            Data::Bool(v) => Data::Bool(v.split_off(at)),
            Data::U8(v) => Data::U8(v.split_off(at)),
            Data::I16(v) => Data::I16(v.split_off(at)),
            Data::I32(v) => Data::I32(v.split_off(at)),
            Data::I64(v) => Data::I64(v.split_off(at)),
            Data::F32(v) => Data::F32(v.split_off(at)),
            Data::F64(v) => Data::F64(v.split_off(at)),
            Data::Text(v) => Data::Text(v.split_off(at)),
        };
        let valid = self.valid.as_mut().map(|valid| valid.split_off(at));
        let (name, unit, description) = (self.name.clone(), self.unit.clone(), self.description.clone());
        Self { name, data, unit, description, valid, origin: Arc::clone(&self.origin) }
    }

    pub(crate) fn with_origin(mut self, origin: &Arc<Origin>) -> Self {
        self.origin = Arc::clone(origin);
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The values, with the placeholder (0, NaN, false, empty) at each null.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The type's name; see [`Data::kind`].
    pub fn kind(&self) -> &'static str {
        self.data.kind()
    }

    /// The unit.
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    /// The description.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// False where null; `None` when nothing is null.
    pub fn valid(&self) -> Option<&[bool]> {
        self.valid.as_deref()
    }

    /// Whether `row` (counted from 0) is null; false for a row that does not exist.
    pub fn is_null(&self, row: usize) -> bool {
        self.valid.as_ref().is_some_and(|valid| valid.get(row) == Some(&false))
    }

    /// Number of null rows.
    pub fn nulls(&self) -> usize {
        self.valid.as_ref().map_or(0, |valid| valid.iter().filter(|v| !**v).count())
    }

    /// The place of `row` (counted from 0) for messages: the file, the row, the line and this
    /// column.
    pub fn place(&self, row: usize) -> Place {
        self.origin.at(row).column(&self.name)
    }

    /// An error about the value at `row` (counted from 0). It names the file, row, column and
    /// value, then `problem`.
    ///
    /// ```
    /// use goc_tables::{Column, Data};
    /// let column = Column::new("parallax_error", Data::F64(vec![-0.03]));
    /// let error = column.value_error(0, "is negative; drop the row or use --missing");
    /// assert_eq!(
    ///     error.to_string(),
    ///     "row 1, column `parallax_error`: -0.03 is negative; drop the row or use --missing"
    /// );
    /// ```
    pub fn value_error(&self, row: usize, problem: impl Into<String>) -> TableError {
        let value = if row < self.len() { self.text(row) } else { "".into() }.into();
        TableError::Value { place: self.place(row), value, problem: problem.into().into() }
    }

    /// All values as `f64`, with null as NaN and booleans as 0 and 1.
    ///
    /// An integer above 2^53 is rounded to the nearest `f64`. A text column is an error that names
    /// its first value that is not a number, even if others are numbers: only the CSV reader infers
    /// types.
    pub fn numbers(&self) -> Result<Vec<f64>> {
        let mut numbers: Vec<f64> = match &self.data {
            Data::Bool(v) => v.iter().map(|&x| f64::from(u8::from(x))).collect(),
            Data::U8(v) => v.iter().map(|&x| x.into()).collect(),
            Data::I16(v) => v.iter().map(|&x| x.into()).collect(),
            Data::I32(v) => v.iter().map(|&x| x.into()).collect(),
            Data::I64(v) => v.iter().map(|&x| x as f64).collect(),
            Data::F32(v) => v.iter().map(|&x| x.into()).collect(),
            Data::F64(v) => v.clone(),
            Data::Text(v) => return Err(self.text_is_no_number(v)),
        };
        if let Some(valid) = &self.valid {
            for (number, valid) in numbers.iter_mut().zip(valid) {
                if !valid {
                    *number = f64::NAN;
                }
            }
        }
        Ok(numbers)
    }

    /// All values as `i64`; floats must be whole. Null is an error that names the row, because an
    /// integer cannot represent it.
    pub fn integers(&self) -> Result<Vec<i64>> {
        if let Some(row) = self.valid.as_ref().and_then(|valid| valid.iter().position(|v| !v)) {
            return Err(self.value_error(row, "is null where an integer is needed; fill it or drop the row"));
        }
        Ok(match &self.data {
            Data::Bool(v) => v.iter().map(|&x| x.into()).collect(),
            Data::U8(v) => v.iter().map(|&x| x.into()).collect(),
            Data::I16(v) => v.iter().map(|&x| x.into()).collect(),
            Data::I32(v) => v.iter().map(|&x| x.into()).collect(),
            Data::I64(v) => v.clone(),
            Data::F32(v) => self.whole(v.iter().map(|&x| x.into()))?,
            Data::F64(v) => self.whole(v.iter().copied())?,
            Data::Text(v) => return Err(self.text_is_no_number(v)),
        })
    }

    fn whole(&self, values: impl Iterator<Item = f64>) -> Result<Vec<i64>> {
        // From 2^53 on neighbouring integers share a float: two ids would become one.
        const LIMIT: f64 = 9_007_199_254_740_992.0;
        values
            .enumerate()
            .map(|(row, x)| {
                if x.fract() == 0.0 && x.abs() < LIMIT {
                    Ok(x as i64)
                } else if x.is_finite() && x.abs() >= LIMIT {
                    Err(self.value_error(
                        row,
                        "is a real number too large to be an exact integer; store it as an integer",
                    ))
                } else {
                    Err(self.value_error(row, "is not a whole number"))
                }
            })
            .collect()
    }

    fn text_is_no_number(&self, values: &[String]) -> TableError {
        let bad = values
            .iter()
            .enumerate()
            .position(|(row, text)| !self.is_null(row) && text.trim().parse::<f64>().is_err());
        match bad {
            Some(row) => self.value_error(row, "is not a number"),
            None => self
                .origin
                .place()
                .column(&self.name)
                .malformed("holds text, not numbers; store it as a number"),
        }
    }

    /// The value at `row` as text; see [`Column::texts`].
    ///
    /// # Panics
    /// If there is no such row, like indexing.
    pub fn text(&self, row: usize) -> Cow<'_, str> {
        if self.is_null(row) {
            return Cow::Borrowed("");
        }
        match &self.data {
            Data::Bool(v) => Cow::Borrowed(if v[row] { "true" } else { "false" }),
            Data::U8(v) => v[row].to_string().into(),
            Data::I16(v) => v[row].to_string().into(),
            Data::I32(v) => v[row].to_string().into(),
            Data::I64(v) => v[row].to_string().into(),
            Data::F32(v) => float_text(v[row]).into(),
            Data::F64(v) => float_text(v[row]).into(),
            Data::Text(v) => Cow::Borrowed(&v[row]),
        }
    }

    /// All values as text, with null as an empty string.
    ///
    /// Floats have the fewest digits that read back to the same bits: `0.1`, `1.0`, `-0.0`, `1e-7`,
    /// `NaN`, `inf`.
    pub fn texts(&self) -> Vec<String> {
        (0..self.len()).map(|row| self.text(row).into_owned()).collect()
    }

    /// Equality that ignores the placeholders at nulls.
    fn same_values(&self, other: &Self) -> bool {
        if self.valid.is_none() {
            return self.data == other.data;
        }
        // A null float is stored as NaN, which would make the column differ from itself.
        let mut a = self.data.clone();
        let mut b = other.data.clone();
        if a.kind() != b.kind() || a.len() != b.len() {
            return false;
        }
        for row in (0..self.len()).filter(|&row| self.is_null(row)) {
            for data in [&mut a, &mut b] {
                match data {
                    Data::F32(v) => v[row] = 0.0,
                    Data::F64(v) => v[row] = 0.0,
                    other => other.blank(row),
                }
            }
        }
        a == b
    }
}

/// The shortest text that reads back to the same float. `{:?}` is the standard library's form that
/// uses an exponent instead of long runs of zeros.
pub(crate) fn float_text(value: impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

/// Unsigned 64-bit values: integers if all of them fit a signed one, otherwise their digits as
/// text, so that no identifier is ever rounded.
pub(crate) fn unsigned(values: Vec<u64>) -> Data {
    if values.iter().all(|&v| i64::try_from(v).is_ok()) {
        Data::I64(values.into_iter().map(|v| v as i64).collect())
    } else {
        Data::Text(values.iter().map(u64::to_string).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_column_as_numbers_names_the_first_bad_value() {
        let origin = Arc::new(Origin { file: Some("a.csv".into()), first_line: Some(2) });
        let column =
            Column::new("x", Data::Text(vec!["1".into(), "two".into(), "3".into()])).with_origin(&origin);
        assert_eq!(
            column.numbers().unwrap_err().to_string(),
            "a.csv: row 2 (line 3), column `x`: \"two\" is not a number"
        );
        assert!(column.integers().is_err());
    }

    #[test]
    fn null_is_nan_among_numbers_and_refused_among_integers() {
        let column = Column::new("n", Data::I32(vec![7, 8])).with_valid(vec![false, true]).unwrap();
        let numbers = column.numbers().unwrap();
        assert!(numbers[0].is_nan());
        assert_eq!(numbers[1], 8.0);
        assert!(column.integers().unwrap_err().to_string().contains("row 1, column `n`"));
    }

    #[test]
    fn integers_of_floats_are_whole_or_refused() {
        let ok = Column::new("i", Data::F64(vec![3.0, -2.0]));
        assert_eq!(ok.integers().unwrap(), [3, -2]);
        for bad in [0.5, f64::NAN, f64::INFINITY, 9.3e18] {
            assert!(Column::new("i", Data::F64(vec![bad])).integers().is_err(), "{bad}");
        }
    }

    #[test]
    fn texts_of_floats_read_back_to_the_same_bits() {
        let values = vec![0.1, -0.0, 5e-324, f64::MAX, 1.0, f64::INFINITY, f64::NEG_INFINITY];
        let column = Column::new("x", Data::F64(values.clone()));
        for (text, value) in column.texts().iter().zip(&values) {
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
        }
    }

    #[test]
    fn a_column_with_null_floats_equals_itself() {
        let column = Column::new("x", Data::F64(vec![1.0, 2.0])).with_valid(vec![true, false]).unwrap();
        assert_eq!(column, column.clone());
        assert_ne!(column, Column::new("x", Data::F64(vec![1.0, 2.0])));
    }

    #[test]
    fn a_mask_of_another_length_is_refused() {
        assert!(Column::new("x", Data::U8(vec![1])).with_valid(vec![]).is_err());
    }
}
