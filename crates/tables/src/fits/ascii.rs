//! ASCII tables (FITS standard 4.0, section 7.2): every value is text in columns of fixed width.
//!
//! | format | becomes |
//! |---|---|
//! | `Aw` | string |
//! | `Iw` | int32 up to nine characters, else int64 |
//! | `Fw.d` `Ew.d` `Dw.d` | float64 |
//!
//! A number that is all blanks, or is `TNULL`, is null. If a real number has no decimal point, the
//! standard implies one before its last `d` digits, as implemented here and in CFITSIO.

use super::cards::decode;
use super::header::{Header, number};
use crate::error::{Place, Result, TableError};
use crate::gather::{Declared, Gathered};

/// What the characters of a column represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    /// A real number with this many digits after the decimal point, if none is written.
    Real(u32),
}

/// One column.
pub(super) struct Field {
    pub name: String,
    kind: Kind,
    /// Its characters within a row.
    from: usize,
    width: usize,
    scale: f64,
    zero: f64,
    null: Option<String>,
    pub unit: Option<String>,
    pub description: Option<String>,
}

/// The columns that the header describes, checked to fit in rows of `row_bytes`.
pub(super) fn fields(header: &Header, row_bytes: usize, place: &Place) -> Result<Vec<Field>> {
    let columns = header.count("TFIELDS", place)?;
    if columns > 999 {
        return Err(place.clone().malformed(format!("{columns} columns; a FITS table has at most 999")));
    }
    (1..=columns).map(|n| field(header, n, row_bytes, place)).collect()
}

fn field(header: &Header, n: u64, row_bytes: usize, place: &Place) -> Result<Field> {
    let name = header.column_name(n);
    let column = place.clone().column(&name);
    let damaged = |what: String| column.clone().malformed(format!("{what}; the header is damaged"));
    let form = header.text(&format!("TFORM{n}")).unwrap_or_default().trim();
    let (kind, width) = split_form(form)
        .ok_or_else(|| damaged(format!("TFORM{n} is `{form}`, which is not a type of an ASCII table")))?;
    let begin = header.count(&format!("TBCOL{n}"), &column)?;
    let from = usize::try_from(begin).ok().and_then(|begin| begin.checked_sub(1));
    let from = from
        .filter(|from| from.checked_add(width).is_some_and(|end| end <= row_bytes))
        .ok_or_else(|| damaged(format!("TBCOL{n} is {begin}, but a row has {row_bytes} characters")))?;
    Ok(Field {
        kind,
        from,
        width,
        scale: number(header, "TSCAL", n, 1.0, &column)?,
        zero: number(header, "TZERO", n, 0.0, &column)?,
        null: header.text(&format!("TNULL{n}")).map(|null| null.trim().to_string()),
        unit: header.column_text("TUNIT", n),
        description: header.column_text("TCOMM", n),
        name,
    })
}

/// Type and width of a `TFORM` such as `A12`, `I6`, `F8.3`, `D25.17`.
fn split_form(form: &str) -> Option<(Kind, usize)> {
    let letter = *form.as_bytes().first()?;
    let rest = form.get(1..)?;
    let (width, digits) = rest.split_once('.').unwrap_or((rest, "0"));
    let (width, digits) = (width.parse().ok()?, digits.parse().ok()?);
    let kind = match letter {
        b'A' => Kind::Text,
        b'I' => Kind::Integer,
        b'F' | b'E' | b'D' => Kind::Real(digits),
        _ => return None,
    };
    Some((kind, width)).filter(|_| width > 0)
}

impl Field {
    /// An empty column of the type the field becomes.
    pub fn gathered(&self, room: usize) -> Gathered {
        let declared = match self.kind {
            Kind::Text => Declared::Text,
            Kind::Integer if self.scaled() => Declared::F64,
            // Nine digits fit 32 bits.
            Kind::Integer if self.width <= 9 => Declared::I32,
            Kind::Integer => Declared::I64,
            Kind::Real(_) => Declared::F64,
        };
        Gathered::new(declared, room)
    }

    /// The minimum memory that a value takes.
    pub fn held_bytes(&self) -> u64 {
        match self.kind {
            Kind::Text => size_of::<String>() as u64,
            _ => 8,
        }
    }

    fn scaled(&self) -> bool {
        self.scale != 1.0 || self.zero != 0.0
    }

    /// Extracts this column's characters from a run of whole rows, the first of which is `first`.
    pub fn take(
        &self,
        column: &mut Gathered,
        bytes: &[u8],
        row_bytes: usize,
        first: u64,
        place: &Place,
    ) -> Result<()> {
        for (row, cells) in bytes.chunks_exact(row_bytes).enumerate() {
            let cell = decode(&cells[self.from..self.from + self.width]);
            self.take_cell(column, &cell).map_err(|problem| TableError::Value {
                place: place.clone().row(first + row as u64 + 1).column(&self.name),
                value: cell.trim().into(),
                problem: problem.into(),
            })?;
        }
        Ok(())
    }

    fn take_cell(&self, column: &mut Gathered, cell: &str) -> Result<(), &'static str> {
        let text = cell.trim();
        let null = self.null.as_deref() == Some(text);
        match self.kind {
            Kind::Text if null && !text.is_empty() => column.push_null(),
            Kind::Text => return column.push_text(cell.trim_end()),
            _ if null || text.is_empty() => column.push_null(),
            Kind::Integer if !self.scaled() => return column.push_text(text.trim_start_matches('+')),
            Kind::Integer => self.push_real(column, text, 0)?,
            Kind::Real(digits) => self.push_real(column, text, digits)?,
        }
        Ok(())
    }

    fn push_real(&self, column: &mut Gathered, text: &str, digits: u32) -> Result<(), &'static str> {
        const PROBLEM: &str = "is not a number";
        let text = plain(text, digits).ok_or(PROBLEM)?;
        if !self.scaled() {
            return column.push_text(&text);
        }
        let raw: f64 = text.parse().map_err(|_| PROBLEM)?;
        column.push_text(&format!("{:?}", self.zero + self.scale * raw))
    }
}

/// A Fortran real as Rust reads it: `1.5D+03`, `1.5+03` and, with two digits after the point,
/// `150`.
fn plain(text: &str, digits: u32) -> Option<String> {
    let text = text.replace(['d', 'D', 'e'], "E");
    let sign = |at: usize, c: char| at > 0 && (c == '+' || c == '-');
    let cut = text.find('E').or_else(|| text.char_indices().find(|&(at, c)| sign(at, c)).map(|(at, _)| at));
    let (mantissa, exponent) = match cut {
        Some(at) => (&text[..at], text[at..].trim_start_matches('E')),
        None => (text.as_str(), "0"),
    };
    if mantissa.contains('.') || !mantissa.ends_with(|c: char| c.is_ascii_digit()) {
        // Unchanged: there is a point, or this is NaN, an infinity or not a number at all.
        return Some(if cut.is_some() { format!("{mantissa}E{exponent}") } else { mantissa.to_string() });
    }
    let power = exponent.parse::<i64>().ok()?.checked_sub(i64::from(digits))?;
    Some(format!("{mantissa}E{power}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_split_into_type_and_width() {
        assert_eq!(split_form("A12"), Some((Kind::Text, 12)));
        assert_eq!(split_form("I6"), Some((Kind::Integer, 6)));
        assert_eq!(split_form("F8.3"), Some((Kind::Real(3), 8)));
        for bad in ["", "A", "Z3", "I0", "F8.x", "1J"] {
            assert_eq!(split_form(bad), None, "{bad}");
        }
    }

    #[test]
    fn reals_are_read_as_fortran_writes_them() {
        for (text, digits, value) in [
            ("1.5", 2, 1.5),
            ("-1.5D+03", 2, -1500.0),
            ("1.5e-3", 2, 0.0015),
            ("2.5-3", 1, 0.0025),
            ("150", 2, 1.5),
            ("-150E1", 2, -15.0),
            ("7", 0, 7.0),
        ] {
            assert_eq!(plain(text, digits).unwrap().parse::<f64>().unwrap(), value, "{text}");
        }
        assert!(plain("abc", 2).is_none_or(|text| text.parse::<f64>().is_err()));
    }
}
