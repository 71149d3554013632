//! Builds a column of a declared type, value by value.
//!
//! FITS, ECSV and VOTable declare a column's type before its values. Types that the table lacks are
//! widened to the next signed one; unsigned 64-bit values stay integers if they fit.

use crate::column::unsigned;
use crate::error::Result;
use crate::{Column, Data};

/// A type as a file may declare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declared {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
    Text,
}

/// The values so far.
pub(crate) enum Values {
    Bool(Vec<bool>),
    U8(Vec<u8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Text(Vec<String>),
}

impl Values {
    pub fn len(&self) -> usize {
        match self {
            Values::Bool(v) => v.len(),
            Values::U8(v) => v.len(),
            Values::I16(v) => v.len(),
            Values::I32(v) => v.len(),
            Values::I64(v) => v.len(),
            Values::U64(v) => v.len(),
            Values::F32(v) => v.len(),
            Values::F64(v) => v.len(),
            Values::Text(v) => v.len(),
        }
    }

    pub fn into_data(self) -> Data {
        match self {
            Values::Bool(v) => Data::Bool(v),
            Values::U8(v) => Data::U8(v),
            Values::I16(v) => Data::I16(v),
            Values::I32(v) => Data::I32(v),
            Values::I64(v) => Data::I64(v),
            Values::U64(v) => unsigned(v),
            Values::F32(v) => Data::F32(v),
            Values::F64(v) => Data::F64(v),
            Values::Text(v) => Data::Text(v),
        }
    }
}

/// A column under construction.
pub(crate) struct Gathered {
    pub values: Values,
    /// The rows that are null, in order.
    pub nulls: Vec<usize>,
}

impl Gathered {
    /// With room for this many rows.
    pub fn new(kind: Declared, room: usize) -> Self {
        let values = match kind {
            Declared::Bool => Values::Bool(Vec::with_capacity(room)),
            Declared::U8 => Values::U8(Vec::with_capacity(room)),
            Declared::I8 | Declared::I16 => Values::I16(Vec::with_capacity(room)),
            Declared::U16 | Declared::I32 => Values::I32(Vec::with_capacity(room)),
            Declared::U32 | Declared::I64 => Values::I64(Vec::with_capacity(room)),
            Declared::U64 => Values::U64(Vec::with_capacity(room)),
            Declared::F32 => Values::F32(Vec::with_capacity(room)),
            Declared::F64 => Values::F64(Vec::with_capacity(room)),
            Declared::Text => Values::Text(Vec::with_capacity(room)),
        };
        Self { values, nulls: Vec::new() }
    }

    pub fn is_text(&self) -> bool {
        matches!(self.values, Values::Text(_))
    }

    /// Takes a null.
    pub fn push_null(&mut self) {
        self.nulls.push(self.values.len());
        match &mut self.values {
            Values::Bool(v) => v.push(false),
            Values::U8(v) => v.push(0),
            Values::I16(v) => v.push(0),
            Values::I32(v) => v.push(0),
            Values::I64(v) => v.push(0),
            Values::U64(v) => v.push(0),
            Values::F32(v) => v.push(f32::NAN),
            Values::F64(v) => v.push(f64::NAN),
            Values::Text(v) => v.push(String::new()),
        }
    }

    /// Takes the value that a text represents; the error says what was expected.
    pub fn push_text(&mut self, text: &str) -> Result<(), &'static str> {
        const INTEGER: &str = "is not an integer of the column's type";
        const NUMBER: &str = "is not a number";
        match &mut self.values {
            Values::Bool(v) => v.push(truth(text).ok_or("is neither true nor false")?),
            Values::U8(v) => v.push(text.parse().map_err(|_| INTEGER)?),
            Values::I16(v) => v.push(text.parse().map_err(|_| INTEGER)?),
            Values::I32(v) => v.push(text.parse().map_err(|_| INTEGER)?),
            Values::I64(v) => v.push(text.parse().map_err(|_| INTEGER)?),
            Values::U64(v) => v.push(text.parse().map_err(|_| INTEGER)?),
            Values::F32(v) => v.push(text.parse().map_err(|_| NUMBER)?),
            Values::F64(v) => v.push(text.parse().map_err(|_| NUMBER)?),
            Values::Text(v) => v.push(text.to_string()),
        }
        Ok(())
    }

    /// The column, without unit or description.
    pub fn finish(self, name: &str) -> Result<Column> {
        let column = Column::new(name, self.values.into_data());
        if self.nulls.is_empty() {
            return Ok(column);
        }
        let mut valid = vec![true; column.len()];
        for row in self.nulls {
            valid[row] = false;
        }
        column.with_valid(valid)
    }
}

/// A boolean in the formats' spelling.
fn truth(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" => Some(true),
        "0" | "f" | "F" => Some(false),
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}
