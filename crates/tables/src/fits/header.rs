//! What a header says about its unit: the type, the size, the columns of a binary table, and
//! metadata.

use super::cards::{Card, Value, decode_metadata, encoded};
use crate::error::{Place, Result};

/// astropy stores what FITS has no keyword for between these comments.
pub(super) const ASTROPY_BEGIN: &str = "--BEGIN-ASTROPY-SERIALIZED-COLUMNS--";
/// The end of it.
pub(super) const ASTROPY_END: &str = "--END-ASTROPY-SERIALIZED-COLUMNS--";

/// The cards of one unit, accessed by key.
pub(super) struct Header {
    pub cards: Vec<Card>,
}

/// How to read the bytes of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Logical,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    /// Text of this width.
    Chars(usize),
}

/// `TSCAL` and `TZERO`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    None,
    /// An integer shifted by half its range: the FITS convention for the opposite signedness.
    Unsigned,
    /// `zero + scale * raw`.
    Linear {
        scale: f64,
        zero: f64,
    },
}

/// One column that will be read.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub name: String,
    pub kind: Kind,
    /// First byte within a row.
    pub offset: usize,
    pub scale: Scale,
    pub null: Option<i64>,
    pub unit: Option<String>,
    pub description: Option<String>,
}

/// The layout of a table.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub row_bytes: usize,
    pub rows: u64,
    /// Bytes after the rows: variable-length arrays.
    pub heap: u64,
    pub fields: Vec<Field>,
    /// Columns that a table of single values cannot hold.
    pub left: Vec<Left>,
}

/// A column that a table of single values cannot hold.
#[derive(Clone, Debug)]
pub(super) struct Left {
    /// Its number in the file, counted from 1.
    pub n: u64,
    pub name: String,
    pub reason: String,
    /// First byte within a row.
    pub offset: usize,
    /// Bytes within a row.
    pub width: usize,
    /// Number of columns before it that are kept.
    pub after: usize,
    /// Whether its values are on the heap.
    pub varies: bool,
}

/// What a unit holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Image,
    BinaryTable,
    AsciiTable,
    /// Stored as a binary table, but not a table.
    CompressedImage,
    /// A table whose columns are compressed.
    CompressedTable,
    Other,
}

impl Unit {
    pub fn is_table(self) -> bool {
        matches!(self, Unit::BinaryTable | Unit::AsciiTable | Unit::CompressedTable)
    }

    /// For messages.
    pub fn what(self) -> &'static str {
        match self {
            Unit::Image => "an image",
            Unit::BinaryTable => "a binary table",
            Unit::AsciiTable => "an ASCII table",
            Unit::CompressedImage => "a compressed image",
            Unit::CompressedTable => "a compressed table",
            Unit::Other => "neither table nor image",
        }
    }
}

impl Header {
    /// What the unit holds.
    pub fn unit(&self) -> Unit {
        let set = |key| self.text(key) == Some("T");
        match self.text("XTENSION").map(str::trim) {
            None | Some("IMAGE") => Unit::Image,
            Some("BINTABLE") if set("ZIMAGE") => Unit::CompressedImage,
            Some("BINTABLE") if set("ZTABLE") => Unit::CompressedTable,
            Some("BINTABLE") => Unit::BinaryTable,
            Some("TABLE") => Unit::AsciiTable,
            Some(_) => Unit::Other,
        }
    }

    /// The unit's name, empty where it has none.
    pub fn name(&self) -> &str {
        self.text("EXTNAME").unwrap_or_default().trim()
    }

    /// The last card with this key. The standard leaves the choice open, and most programs take the
    /// last.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.cards.iter().rev().find(|card| card.key == key).map(|card| &card.value)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).map(Value::text)
    }

    /// A count that must exist and not be negative.
    pub fn count(&self, key: &str, place: &Place) -> Result<u64> {
        let text = self.text(key).unwrap_or("absent");
        text.parse::<u64>().map_err(|_| {
            place
                .clone()
                .malformed(format!("the FITS keyword {key} is `{text}`, not a count; the header is damaged"))
        })
    }

    /// Bytes of data after this header, without padding.
    pub fn data_bytes(&self, place: &Place) -> Result<u64> {
        let axes = self.count("NAXIS", place)?;
        if axes == 0 {
            return Ok(0);
        }
        let damaged = || place.clone().malformed("the FITS header gives an impossible size; it is damaged");
        if axes > 999 {
            return Err(damaged());
        }
        let bits = self.text("BITPIX").and_then(|t| t.parse::<i64>().ok()).ok_or_else(damaged)?;
        let mut elements = 1u64;
        for axis in 1..=axes {
            let length = self.count(&format!("NAXIS{axis}"), place)?;
            // Random groups: a first axis of zero counts as one.
            let groups = axis == 1 && length == 0 && self.text("GROUPS") == Some("T");
            elements = elements.checked_mul(if groups { 1 } else { length }).ok_or_else(damaged)?;
        }
        let parameters = self.text("PCOUNT").map_or(Ok(0), |_| self.count("PCOUNT", place))?;
        let groups = self.text("GCOUNT").map_or(Ok(1), |_| self.count("GCOUNT", place))?;
        elements
            .checked_add(parameters)
            .and_then(|n| n.checked_mul(groups))
            .and_then(|n| n.checked_mul(bits.unsigned_abs() / 8))
            .ok_or_else(damaged)
    }

    /// The size of a table's rows and how many there are.
    pub fn size(&self, place: &Place) -> Result<Layout> {
        let row_bytes = usize::try_from(self.count("NAXIS1", place)?)
            .ok()
            .filter(|&bytes| bytes <= 1 << 30)
            .ok_or_else(|| place.clone().malformed("a FITS row of more than 1 GiB; the header is damaged"))?;
        let heap = self.text("PCOUNT").map_or(Ok(0), |_| self.count("PCOUNT", place))?;
        Ok(Layout { row_bytes, rows: self.count("NAXIS2", place)?, heap, ..Layout::default() })
    }

    /// A binary table's layout.
    pub fn layout(&self, place: &Place) -> Result<Layout> {
        let malformed = |problem: String| place.clone().malformed(problem);
        let mut layout = self.size(place)?;
        let columns = self.count("TFIELDS", place)?;
        if columns > 999 {
            return Err(malformed(format!("{columns} columns; a FITS table has at most 999")));
        }
        let mut offset = 0usize;
        for n in 1..=columns {
            let name = self.column_name(n);
            let form = self.text(&format!("TFORM{n}")).unwrap_or_default().trim();
            let column = place.clone().column(&name);
            let bad = || {
                column.clone().malformed(format!(
                    "TFORM{n} is `{form}`, which is not a FITS type; the header is damaged"
                ))
            };
            let (repeat, letter, rest) = split_form(form).ok_or_else(bad)?;
            let width = element_bytes(letter, repeat).ok_or_else(bad)?;
            match self.kind(n, repeat, letter, rest) {
                Ok(kind) => {
                    let (scale, null) = self.scaling(n, &kind, &column)?;
                    layout.fields.push(Field {
                        name,
                        kind,
                        offset,
                        scale,
                        null,
                        unit: self.column_text("TUNIT", n),
                        description: self.column_text("TCOMM", n),
                    });
                }
                Err(reason) => {
                    let (after, varies) = (layout.fields.len(), matches!(letter, b'P' | b'Q'));
                    layout.left.push(Left { n, name, reason, offset, width, after, varies });
                }
            }
            offset = offset.checked_add(width).ok_or_else(bad)?;
        }
        if offset != layout.row_bytes {
            return Err(malformed(format!(
                "the columns take {offset} bytes a row, but NAXIS1 is {}; the header is damaged",
                layout.row_bytes
            )));
        }
        Ok(layout)
    }

    /// The column's name, or its number if it has none.
    pub fn column_name(&self, n: u64) -> String {
        self.column_text("TTYPE", n).unwrap_or_else(|| format!("col{n}"))
    }

    /// A column's text, such as its unit.
    pub fn column_text(&self, stem: &str, n: u64) -> Option<String> {
        self.text(&format!("{stem}{n}")).map(str::trim).filter(|t| !t.is_empty()).map(String::from)
    }

    /// The kind of a column, or why a table of single values cannot hold it.
    fn kind(&self, n: u64, repeat: usize, letter: u8, rest: &str) -> Result<Kind, String> {
        if letter == b'A' {
            let array = self.text(&format!("TDIM{n}")).is_some_and(|dim| dim.contains(','));
            return if repeat == 0 {
                Err("it is empty (a text of width 0)".into())
            } else if array || rest.trim_end().parse::<usize>().is_ok_and(|width| width < repeat) {
                Err("each value is an array of texts".into())
            } else {
                Ok(Kind::Chars(repeat))
            };
        }
        let kind = match letter {
            b'L' => Kind::Logical,
            b'B' => Kind::Byte,
            b'I' => Kind::Short,
            b'J' => Kind::Int,
            b'K' => Kind::Long,
            b'E' => Kind::Float,
            b'D' => Kind::Double,
            b'X' => return Err(format!("each value is an array of {repeat} bits")),
            b'C' | b'M' => return Err("its values are complex numbers".into()),
            _ => return Err("each value is an array of variable length".into()),
        };
        match repeat {
            0 => Err("it is empty (0 values a row)".into()),
            1 => Ok(kind),
            _ => Err(format!("each value is an array of {repeat}")),
        }
    }

    fn scaling(&self, n: u64, kind: &Kind, place: &Place) -> Result<(Scale, Option<i64>)> {
        let (scale, zero) = (number(self, "TSCAL", n, 1.0, place)?, number(self, "TZERO", n, 0.0, place)?);
        let shift = match kind {
            Kind::Byte => -128.0,
            Kind::Short => 32768.0,
            Kind::Int => 2_147_483_648.0,
            Kind::Long => 9_223_372_036_854_775_808.0,
            _ => 0.0,
        };
        let scale = if matches!(kind, Kind::Logical | Kind::Chars(_)) || (scale == 1.0 && zero == 0.0) {
            Scale::None
        } else if scale == 1.0 && zero == shift {
            Scale::Unsigned
        } else {
            Scale::Linear { scale, zero }
        };
        let integer = matches!(kind, Kind::Byte | Kind::Short | Kind::Int | Kind::Long);
        let null = match self.text(&format!("TNULL{n}")).filter(|_| integer) {
            None => None,
            Some(text) => Some(text.parse::<i64>().map_err(|_| {
                place
                    .clone()
                    .malformed(format!("TNULL{n} is `{text}`, not an integer; the header is damaged"))
            })?),
        };
        Ok((scale, null))
    }

    /// Extracts astropy's YAML description of the columns from the comments, if it exists.
    ///
    /// Lines longer than 70 characters are split; each piece except the last ends with a backslash.
    pub fn take_astropy(&mut self) -> Option<String> {
        let at = |text: &str| {
            self.cards.iter().position(|card| card.key == "COMMENT" && card.value.text() == text)
        };
        let (begin, end) = (at(ASTROPY_BEGIN)?, at(ASTROPY_END)?);
        if end < begin {
            return None;
        }
        let mut yaml = String::new();
        for card in self.cards.drain(begin..=end).filter(|card| card.key == "COMMENT") {
            let line = card.value.text();
            match line.strip_suffix('\\').filter(|_| line.chars().count() == 71) {
                Some(piece) => yaml.push_str(piece),
                None if line == ASTROPY_BEGIN || line == ASTROPY_END => {}
                None => {
                    yaml.push_str(line);
                    yaml.push('\n');
                }
            }
        }
        Some(yaml)
    }

    /// Everything that is not structural, in order; repeated remarks are joined by newlines.
    pub fn metadata(&self) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for Card { key, value } in &self.cards {
            if encoded(key)
                && let Some(entry) = decode_metadata(value.text())
            {
                found.push(entry);
                continue;
            }
            if structural(key) || (key.is_empty() && value.text().is_empty()) {
                continue;
            }
            let key = if key.is_empty() { "COMMENT" } else { key };
            if matches!(value, Value::Remark(_))
                && let Some((_, text)) = found.iter_mut().find(|(k, _)| k == key)
            {
                text.push('\n');
                text.push_str(value.text());
                continue;
            }
            found.push((key.to_string(), value.text().to_string()));
        }
        found
    }
}

/// A column's number, such as its scale.
pub(super) fn number(header: &Header, stem: &str, n: u64, default: f64, place: &Place) -> Result<f64> {
    let Some(text) = header.text(&format!("{stem}{n}")) else { return Ok(default) };
    // Fortran's exponent letter is legal in FITS.
    text.replace(['d', 'D'], "E").parse::<f64>().map_err(|_| {
        place.clone().malformed(format!("{stem}{n} is `{text}`, not a number; the header is damaged"))
    })
}

/// `r`, the type letter and what follows it, of a `TFORM` such as `1J`, `D`, `16A`, `1PE(20)`.
fn split_form(form: &str) -> Option<(usize, u8, &str)> {
    let digits = form.bytes().take_while(u8::is_ascii_digit).count();
    let repeat = if digits == 0 { 1 } else { form[..digits].parse().ok()? };
    let letter = *form.as_bytes().get(digits)?;
    Some((repeat, letter, form.get(digits + 1..)?))
}

fn element_bytes(letter: u8, repeat: usize) -> Option<usize> {
    let one: usize = match letter {
        b'L' | b'B' | b'A' => 1,
        b'I' => 2,
        b'J' | b'E' => 4,
        b'K' | b'D' | b'C' | b'P' => 8,
        b'M' | b'Q' => 16,
        b'X' => return repeat.checked_add(7).map(|bits| bits / 8),
        _ => return None,
    };
    one.checked_mul(repeat)
}

/// Keywords that describe the structure of a unit and are therefore not metadata.
pub(super) fn structural(key: &str) -> bool {
    const WHOLE: [&str; 17] = [
        "SIMPLE", "XTENSION", "BITPIX", "NAXIS", "EXTEND", "PCOUNT", "GCOUNT", "GROUPS", "TFIELDS", "THEAP",
        "CHECKSUM", "DATASUM", "END", "CONTINUE", "LONGSTRN", "EXTVER", "EXTLEVEL",
    ];
    const NUMBERED: [&str; 15] = [
        "NAXIS", "TBCOL", "TTYPE", "TFORM", "TUNIT", "TNULL", "TSCAL", "TZERO", "TDISP", "TDIM", "TCOMM",
        "TUCD", "TUTYP", "TDMIN", "TDMAX",
    ];
    WHOLE.contains(&key)
        || key == "HIERARCH"
        || key == "INHERIT"
        || NUMBERED.iter().any(|stem| {
            key.strip_prefix(stem).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_split_into_repeat_letter_and_rest() {
        assert_eq!(split_form("D"), Some((1, b'D', "")));
        assert_eq!(split_form("16A"), Some((16, b'A', "")));
        assert_eq!(split_form("1PE(20)"), Some((1, b'P', "E(20)")));
        assert_eq!(split_form("12"), None);
        assert_eq!(split_form(""), None);
        assert_eq!(element_bytes(b'X', 9), Some(2));
    }
}
