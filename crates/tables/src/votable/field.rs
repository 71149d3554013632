//! A `FIELD`: the type of a column, its size in a binary row, and its null value.

use crate::gather::{Declared, Gathered, Values};

/// How many values a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    One,
    Fixed(usize),
    /// A count precedes the values.
    Variable,
}

/// A column as declared.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldTag {
    pub name: String,
    pub datatype: String,
    pub arraysize: Option<String>,
    pub unit: Option<String>,
    pub description: Option<String>,
    pub null: Option<String>,
}

/// What to do with a column's cells.
pub(super) struct Reading {
    /// Bytes of one element in a binary row; for bits see `cell_bytes`.
    pub element: usize,
    pub size: Size,
    pub bits: bool,
    pub wide: bool,
    pub to: Result<Gathered, String>,
    null: Option<String>,
    /// The null as an integer, for binary cells.
    pub null_integer: Option<i64>,
}

impl FieldTag {
    /// How to read the column, or what is wrong with its declaration.
    pub fn reading(&self) -> Result<Reading, String> {
        let (element, kind) = match self.datatype.as_str() {
            "boolean" => (1, Some(Declared::Bool)),
            "bit" => (1, Some(Declared::Bool)),
            "unsignedByte" => (1, Some(Declared::U8)),
            "short" => (2, Some(Declared::I16)),
            "int" => (4, Some(Declared::I32)),
            "long" => (8, Some(Declared::I64)),
            "float" => (4, Some(Declared::F32)),
            "double" => (8, Some(Declared::F64)),
            "char" => (1, Some(Declared::Text)),
            "unicodeChar" => (2, Some(Declared::Text)),
            "floatComplex" => (8, None),
            "doubleComplex" => (16, None),
            other => return Err(format!("its datatype is `{other}`, which VOTable does not know")),
        };
        let (size, dimensions) = self.size()?;
        let text = kind == Some(Declared::Text);
        let to = match kind {
            None => Err("its values are complex numbers".into()),
            Some(_) if text && dimensions > 1 => Err("each value is an array of texts".into()),
            Some(_) if !text && size != Size::One => {
                Err(format!("each value is an array ({})", self.arraysize.as_deref().unwrap_or_default()))
            }
            Some(kind) => Ok(Gathered::new(kind, 0)),
        };
        Ok(Reading {
            element,
            size,
            bits: self.datatype == "bit",
            wide: self.datatype == "unicodeChar",
            to,
            null_integer: self.null.as_deref().and_then(integer),
            null: self.null.clone(),
        })
    }

    fn size(&self) -> Result<(Size, usize), String> {
        let Some(text) = self.arraysize.as_deref().map(str::trim).filter(|text| !text.is_empty()) else {
            return Ok((Size::One, 0));
        };
        let bad = || format!("its arraysize is `{text}`, which is not a size");
        let dimensions = text.split('x').count();
        if let Some(limit) = text.strip_suffix('*') {
            let lengths = limit.trim_end_matches('x').split('x').filter(|part| !part.is_empty());
            for length in lengths {
                length.parse::<usize>().map_err(|_| bad())?;
            }
            return Ok((Size::Variable, dimensions));
        }
        let mut product = 1usize;
        for length in text.split('x') {
            let length = length.parse::<usize>().map_err(|_| bad())?;
            product = product.checked_mul(length).filter(|&n| n <= 1 << 30).ok_or_else(bad)?;
        }
        Ok((if product == 1 { Size::One } else { Size::Fixed(product) }, dimensions))
    }
}

impl Reading {
    /// Takes a cell of `TABLEDATA`.
    pub fn take_text(&mut self, text: &str) -> Result<(), &'static str> {
        let Ok(column) = &mut self.to else { return Ok(()) };
        if column.is_text() {
            if text.is_empty() || self.null.as_deref() == Some(text) {
                column.push_null();
                return Ok(());
            }
            return column.push_text(text);
        }
        let text = text.trim();
        let null = text.is_empty()
            // Neither a number nor a boolean is spelled like this; IRSA's services write it for a
            // missing value.
            || text.eq_ignore_ascii_case("null")
            || (text == "?" && matches!(column.values, Values::Bool(_)))
            || self.null.as_deref() == Some(text)
            || (self.null_integer.is_some() && integer(text) == self.null_integer);
        if null {
            column.push_null();
            return Ok(());
        }
        match integer(text) {
            // Integers may be written in hexadecimal.
            Some(value) if text.contains(['x', 'X']) => column.push_text(&value.to_string()),
            _ => column.push_text(text),
        }
    }
}

/// A decimal or `0x` integer.
fn integer(text: &str) -> Option<i64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(text: &str) -> Result<(Size, usize), String> {
        FieldTag { arraysize: Some(text.into()), ..FieldTag::default() }.size()
    }

    #[test]
    fn sizes_are_read_as_the_standard_writes_them() {
        assert_eq!(size("1"), Ok((Size::One, 1)));
        assert_eq!(size("5"), Ok((Size::Fixed(5), 1)));
        assert_eq!(size("*"), Ok((Size::Variable, 1)));
        assert_eq!(size("12*"), Ok((Size::Variable, 1)));
        assert_eq!(size("3x2"), Ok((Size::Fixed(6), 2)));
        assert_eq!(size("3x*"), Ok((Size::Variable, 2)));
        assert!(size("two").is_err());
        assert!(size("99999999999x99999999999").is_err());
    }
}
