//! Infers the type of a text column from all its rows.
//!
//! | every value is | the column is |
//! |---|---|
//! | `true` or `false`, any case | bool |
//! | an integer that fits 64 bits | int64 |
//! | a number, `nan`, `inf` | float64 |
//! | anything else | string |
//! | nothing: no value at all | float64, all null |
//!
//! Two rules keep identifiers whole. Integers beyond 64 bits, or with leading zeros (`007`, which
//! is not `7`), turn a column of integers into a text column, digit for digit. And a column of
//! integers with some `nan` values is int64 with nulls, not float64, if one of the integers is too
//! large for a float64 (above 2^53).
//!
//! One pass usually suffices: values are stored while the type is still a guess. If the guess turns
//! out wrong in a way that loses text (`007`, then `x1`), the column is read a second time.

use super::tokens::Field;
use crate::Data;

/// What one field looks like.
enum Cell {
    Null,
    /// `""`: an empty string if the column is text, otherwise null.
    QuotedEmpty,
    Bool(bool),
    Int(i64),
    /// An integer whose digits must be kept: beyond 64 bits, or with leading zeros.
    Long(f64),
    Nan,
    Float(f64),
    Text,
}

fn classify(bytes: &[u8], quoted: bool) -> Cell {
    if bytes.is_empty() {
        return if quoted { Cell::QuotedEmpty } else { Cell::Null };
    }
    match bytes[0] {
        b'0'..=b'9' | b'+' | b'-' | b'.' => {}
        b'n' if !quoted && bytes == b"null" => return Cell::Null,
        b't' | b'T' if bytes.eq_ignore_ascii_case(b"true") => return Cell::Bool(true),
        b'f' | b'F' if bytes.eq_ignore_ascii_case(b"false") => return Cell::Bool(false),
        b'n' | b'N' | b'i' | b'I' => {}
        _ => return Cell::Text,
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Cell::Text };
    if let Ok(value) = text.parse::<i64>() {
        let digits = text.trim_start_matches(['+', '-']);
        if digits.len() > 1 && digits.starts_with('0') {
            return Cell::Long(value as f64);
        }
        // `-0` is a float: as an integer it would lose its sign.
        return if value == 0 && bytes[0] == b'-' { Cell::Float(-0.0) } else { Cell::Int(value) };
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_nan() => Cell::Nan,
        Ok(value) => {
            let digits = text.trim_start_matches(['+', '-']);
            let whole = digits.bytes().all(|b| b.is_ascii_digit());
            if whole { Cell::Long(value) } else { Cell::Float(value) }
        }
        Err(_) => Cell::Text,
    }
}

/// Above this an `f64` skips integers.
const EXACT: u64 = 1 << 53;

#[derive(Default)]
struct Seen {
    bool: bool,
    int: bool,
    /// An integer that no `f64` represents exactly.
    inexact: bool,
    long: bool,
    nan: bool,
    float: bool,
    text: bool,
    quoted_empty: bool,
}

/// The types a column may turn out to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int,
    Float,
    Text,
}

impl Seen {
    fn kind(&self) -> Kind {
        let number = self.int || self.long || self.nan || self.float;
        if self.text || (self.bool && number) {
            return Kind::Text;
        }
        if self.bool {
            return Kind::Bool;
        }
        if self.float {
            return Kind::Float;
        }
        if self.long {
            return Kind::Text;
        }
        if self.int && (!self.nan || self.inexact) {
            return Kind::Int;
        }
        if !number && self.quoted_empty { Kind::Text } else { Kind::Float }
    }
}

/// The values so far.
enum Values {
    /// Only nulls so far.
    Nothing,
    Bool(Vec<bool>),
    Int(Vec<i64>),
    Float(Vec<f64>),
    Text(Vec<String>),
    /// The guess was wrong: the second pass is needed.
    Again,
}

/// Gathers one column.
pub(super) struct Builder {
    seen: Seen,
    values: Values,
    nulls: Vec<usize>,
    rows: usize,
    /// The second pass knows the type.
    known: Option<Kind>,
}

impl Builder {
    pub fn new() -> Self {
        Self { seen: Seen::default(), values: Values::Nothing, nulls: Vec::new(), rows: 0, known: None }
    }

    /// For the second pass.
    pub fn of_kind(kind: Kind, rows: usize) -> Self {
        let values = match kind {
            Kind::Bool => Values::Bool(Vec::with_capacity(rows)),
            Kind::Int => Values::Int(Vec::with_capacity(rows)),
            Kind::Float => Values::Float(Vec::with_capacity(rows)),
            Kind::Text => Values::Text(Vec::with_capacity(rows)),
        };
        Self { values, known: Some(kind), ..Self::new() }
    }

    /// Takes the next row's field; an error if its text is needed and is not UTF-8.
    pub fn push(&mut self, field: &Field, all: &[u8]) -> Result<(), std::str::Utf8Error> {
        let row = self.rows;
        self.rows += 1;
        if matches!(self.values, Values::Again) && self.seen.text {
            return Ok(());
        }
        let cell = classify(field.bytes(all), field.quoted);
        self.note(&cell);
        if matches!(self.values, Values::Nothing) {
            self.begin(&cell, row);
        }
        match (&mut self.values, cell) {
            (Values::Nothing | Values::Again, _) => {}
            (Values::Text(values), Cell::Null) => {
                self.nulls.push(row);
                values.push(String::new());
            }
            (Values::Text(values), _) => values.push(field.text(all)?.into_owned()),
            (Values::Bool(values), Cell::Bool(value)) => values.push(value),
            (Values::Int(values), Cell::Int(value)) => values.push(value),
            (Values::Int(values), Cell::Nan) if self.known == Some(Kind::Int) => {
                self.nulls.push(row);
                values.push(0);
            }
            (Values::Float(values), Cell::Int(value)) => values.push(value as f64),
            (Values::Float(values), Cell::Float(value) | Cell::Long(value)) => values.push(value),
            (Values::Float(values), Cell::Nan) => values.push(f64::NAN),
            (Values::Bool(values), Cell::Null | Cell::QuotedEmpty) => {
                self.nulls.push(row);
                values.push(false);
            }
            (Values::Int(values), Cell::Null | Cell::QuotedEmpty) => {
                self.nulls.push(row);
                values.push(0);
            }
            (Values::Float(values), Cell::Null | Cell::QuotedEmpty) => {
                self.nulls.push(row);
                values.push(f64::NAN);
            }
            (Values::Int(values), Cell::Float(value)) => {
                let mut floats: Vec<f64> = values.iter().map(|&v| v as f64).collect();
                floats.push(value);
                self.values = Values::Float(floats);
            }
            (Values::Int(values), Cell::Nan) if !self.seen.inexact => {
                let mut floats: Vec<f64> = values.iter().map(|&v| v as f64).collect();
                floats.push(f64::NAN);
                self.values = Values::Float(floats);
            }
            _ => self.values = Values::Again,
        }
        Ok(())
    }

    fn note(&mut self, cell: &Cell) {
        let seen = &mut self.seen;
        match cell {
            Cell::Null => {}
            Cell::QuotedEmpty => seen.quoted_empty = true,
            Cell::Bool(_) => seen.bool = true,
            Cell::Int(value) => {
                seen.int = true;
                seen.inexact |= value.unsigned_abs() > EXACT;
            }
            Cell::Long(_) => seen.long = true,
            Cell::Nan => seen.nan = true,
            Cell::Float(_) => seen.float = true,
            Cell::Text => seen.text = true,
        }
    }

    /// The first non-null value determines the guess.
    fn begin(&mut self, cell: &Cell, row: usize) {
        self.values = match cell {
            Cell::Null | Cell::QuotedEmpty => return,
            // Which of the earlier rows were `""` is no longer known.
            Cell::Text if self.seen.quoted_empty => Values::Again,
            Cell::Text => Values::Text(vec![String::new(); row]),
            Cell::Bool(_) => Values::Bool(vec![false; row]),
            Cell::Int(_) => Values::Int(vec![0; row]),
            Cell::Nan | Cell::Float(_) => Values::Float(vec![f64::NAN; row]),
            Cell::Long(_) => Values::Again,
        };
        self.nulls = (0..row).collect();
    }

    /// The column's type, once every row has been seen.
    pub fn kind(&self) -> Kind {
        self.known.unwrap_or_else(|| self.seen.kind())
    }

    /// The values and the mask, or `None` when a second pass is needed.
    pub fn finish(self) -> Option<(Data, Option<Vec<bool>>)> {
        let kind = self.kind();
        let (data, nulls) = match (self.values, kind) {
            (Values::Bool(values), Kind::Bool) => (Data::Bool(values), self.nulls),
            (Values::Int(values), Kind::Int) => (Data::I64(values), self.nulls),
            (Values::Float(values), Kind::Float) => (Data::F64(values), self.nulls),
            (Values::Text(values), Kind::Text) => (Data::Text(values), self.nulls),
            (Values::Nothing, Kind::Float) => {
                (Data::F64(vec![f64::NAN; self.rows]), (0..self.rows).collect())
            }
            _ => return None,
        };
        let valid = (!nulls.is_empty()).then(|| {
            let mut valid = vec![true; data.len()];
            for row in nulls {
                valid[row] = false;
            }
            valid
        });
        Some((data, valid))
    }
}
