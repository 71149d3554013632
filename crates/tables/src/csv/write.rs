//! Writes plain CSV, which every program can read.

use std::io::{self, Write};
use std::path::Path;

use crate::error::Result;
use crate::file::write_failed;
use crate::{Column, Data, Table};

/// Writes the header and the rows. Floats have the fewest digits that read back to the same bits.
pub(crate) fn write(table: &Table, out: &mut dyn Write, delimiter: u8, path: &Path) -> Result<()> {
    if table.columns().is_empty() {
        return Err(crate::Place::file(path).cannot_hold("a table without columns has no header to write"));
    }
    let manner = Manner { delimiter, null_alone: "null", truth: ["false", "true"] };
    write_rows(table, out, &manner).map_err(write_failed(path))
}

/// How the variants of CSV differ.
pub(crate) struct Manner {
    pub delimiter: u8,
    /// Null is written as nothing; alone in its row it needs a word, because a blank line is not a
    /// row.
    pub null_alone: &'static str,
    /// False and true.
    pub truth: [&'static str; 2],
}

/// Header and rows.
pub(crate) fn write_rows(table: &Table, out: &mut dyn Write, manner: &Manner) -> io::Result<()> {
    let delimiter = manner.delimiter;
    let mut line = Vec::new();
    for (at, column) in table.columns().iter().enumerate() {
        if at > 0 {
            line.push(delimiter);
        }
        write_text(column.name(), delimiter, &mut line);
    }
    line.push(b'\n');
    out.write_all(&line)?;
    for row in 0..table.rows() {
        line.clear();
        for (at, column) in table.columns().iter().enumerate() {
            if at > 0 {
                line.push(delimiter);
            }
            if !column.is_null(row) {
                write_field(column, row, manner, &mut line);
            } else if table.columns().len() == 1 {
                line.extend_from_slice(manner.null_alone.as_bytes());
            }
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

/// One value that is not null.
fn write_field(column: &Column, row: usize, manner: &Manner, line: &mut Vec<u8>) {
    // Writing to a vector cannot fail, so the results are ignored.
    let _ = match column.data() {
        Data::U8(v) => write!(line, "{}", v[row]),
        Data::I16(v) => write!(line, "{}", v[row]),
        Data::I32(v) => write!(line, "{}", v[row]),
        Data::I64(v) => write!(line, "{}", v[row]),
        Data::F32(v) => write!(line, "{:?}", v[row]),
        Data::F64(v) => write!(line, "{:?}", v[row]),
        Data::Bool(v) => write!(line, "{}", manner.truth[usize::from(v[row])]),
        Data::Text(v) => {
            write_text(&v[row], manner.delimiter, line);
            Ok(())
        }
    };
}

/// Text, quoted if it would otherwise be misread: as a delimiter, a null, a comment or blanks.
fn write_text(text: &str, delimiter: u8, line: &mut Vec<u8>) {
    let plain = !text.is_empty()
        && text != "null"
        && !text.starts_with([' ', '#', '\u{feff}'])
        && !text.ends_with(' ')
        && !text.bytes().any(|b| b == delimiter || b == b'"' || b == b'\n' || b == b'\r');
    if plain {
        line.extend_from_slice(text.as_bytes());
        return;
    }
    line.push(b'"');
    for part in text.split_inclusive('"') {
        line.extend_from_slice(part.as_bytes());
        if part.ends_with('"') {
            line.push(b'"');
        }
    }
    line.push(b'"');
}
