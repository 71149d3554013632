//! Writing VOTable 1.4 with `BINARY2` data.

use std::io::Write;
use std::path::Path;

use base64::Engine;

use crate::error::{Place, Result};
use crate::file::write_failed;
use crate::ucd::ucd;
use crate::{Column, Data, Table};

/// Bytes per line of base64, which gives 76 characters.
const LINE: usize = 57;

/// Writes the table.
pub(crate) fn write(table: &Table, out: &mut dyn Write, path: &Path) -> Result<()> {
    let failed = write_failed(path);
    let place = Place::file(path);
    let wide =
        table.columns().iter().map(|column| check_text(column, &place)).collect::<Result<Vec<_>, _>>()?;
    out.write_all(header(table, &wide, &place)?.as_bytes()).map_err(&failed)?;
    let mut pending: Vec<u8> = Vec::new();
    let mut lines = String::new();
    for row in 0..table.rows() {
        put_row(table, &wide, row, &mut pending);
        if pending.len() >= 1 << 16 {
            let whole = pending.len() / LINE * LINE;
            encode(&pending[..whole], &mut lines);
            out.write_all(lines.as_bytes()).map_err(&failed)?;
            lines.clear();
            pending.drain(..whole);
        }
    }
    encode(&pending, &mut lines);
    out.write_all(lines.as_bytes()).map_err(&failed)?;
    out.write_all(b"</STREAM>\n</BINARY2>\n</DATA>\n</TABLE>\n</RESOURCE>\n</VOTABLE>\n").map_err(&failed)
}

fn encode(bytes: &[u8], lines: &mut String) {
    for line in bytes.chunks(LINE) {
        base64::engine::general_purpose::STANDARD.encode_string(line, lines);
        lines.push('\n');
    }
}

/// Whether a text column needs `unicodeChar`; an error if VOTable cannot hold a text.
fn check_text(column: &Column, place: &Place) -> Result<bool> {
    let Data::Text(texts) = column.data() else { return Ok(false) };
    // A NUL terminates a text, and the count before it has 32 bits.
    let bad = |text: &String| text.contains('\0') || u32::try_from(text.len()).is_err();
    if let Some(row) = texts.iter().position(bad) {
        return Err(place
            .clone()
            .row(row as u64 + 1)
            .column(column.name())
            .cannot_hold("VOTable cannot hold a text with a NUL in it or longer than 4 GiB; use .parquet"));
    }
    Ok(!texts.iter().all(|text| text.is_ascii()))
}

fn header(table: &Table, wide: &[bool], place: &Place) -> Result<String> {
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <VOTABLE version=\"1.4\" xmlns=\"http://www.ivoa.net/xml/VOTable/v1.3\">\n<RESOURCE>\n",
    );
    xml.push_str(&format!("<TABLE nrows=\"{}\">\n", table.rows()));
    // astropy keeps a table's description in `meta`, and drops its parameters.
    let made = table.metadata().iter().filter(|(key, _)| key.starts_with("goc_"));
    let made: Vec<String> = made.map(|(key, value)| format!("{key}: {value}")).collect();
    if !made.is_empty() {
        xml.push_str(&format!("<DESCRIPTION>{}</DESCRIPTION>\n", escape(&made.join("\n"), place)?));
    }
    for (key, value) in table.metadata() {
        let kind = if value.is_ascii() { "char" } else { "unicodeChar" };
        xml.push_str(&format!(
            "<PARAM name=\"{}\" datatype=\"{kind}\" arraysize=\"*\" value=\"{}\"/>\n",
            escape(key, place)?,
            escape(value, place)?
        ));
    }
    for (column, &wide) in table.columns().iter().zip(wide) {
        let place = place.clone().column(column.name());
        xml.push_str(&format!(
            "<FIELD name=\"{}\" {}",
            escape(column.name(), &place)?,
            datatype(column, wide)
        ));
        if let Some(ucd) = ucd(column) {
            xml.push_str(&format!(" ucd=\"{ucd}\""));
        }
        if let Some(unit) = column.unit() {
            xml.push_str(&format!(" unit=\"{}\"", escape(unit, &place)?));
        }
        match column.description() {
            Some(text) => {
                let text = escape(text, &place)?;
                xml.push_str(&format!("><DESCRIPTION>{text}</DESCRIPTION></FIELD>\n"));
            }
            None => xml.push_str("/>\n"),
        }
    }
    xml.push_str("<DATA>\n<BINARY2>\n<STREAM encoding=\"base64\">\n");
    Ok(xml)
}

fn datatype(column: &Column, wide: bool) -> &'static str {
    match column.data() {
        Data::Bool(_) => "datatype=\"boolean\"",
        Data::U8(_) => "datatype=\"unsignedByte\"",
        Data::I16(_) => "datatype=\"short\"",
        Data::I32(_) => "datatype=\"int\"",
        Data::I64(_) => "datatype=\"long\"",
        Data::F32(_) => "datatype=\"float\"",
        Data::F64(_) => "datatype=\"double\"",
        Data::Text(_) if wide => "datatype=\"unicodeChar\" arraysize=\"*\"",
        Data::Text(_) => "datatype=\"char\" arraysize=\"*\"",
    }
}

/// Text for XML; line ends and tabs as references, or reading would turn them into blanks.
fn escape(text: &str, place: &Place) -> Result<String> {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\r' | '\t' => escaped.push_str(&format!("&#{};", u32::from(c))),
            c if c < ' ' || c == '\u{fffe}' || c == '\u{ffff}' => {
                return Err(place
                    .clone()
                    .cannot_hold(format!("{text:?} has the character {c:?}, which XML forbids; remove it")));
            }
            c => escaped.push(c),
        }
    }
    Ok(escaped)
}

fn put_row(table: &Table, wide: &[bool], row: usize, bytes: &mut Vec<u8>) {
    let flags = bytes.len();
    bytes.resize(flags + table.columns().len().div_ceil(8), 0);
    for (at, column) in table.columns().iter().enumerate() {
        let null = column.is_null(row);
        if null {
            bytes[flags + at / 8] |= 0x80 >> (at % 8);
        }
        match column.data() {
            Data::Bool(_) if null => bytes.push(b'?'),
            Data::Bool(v) => bytes.push(if v[row] { b'T' } else { b'F' }),
            Data::U8(v) => bytes.push(v[row]),
            Data::I16(v) => bytes.extend(v[row].to_be_bytes()),
            Data::I32(v) => bytes.extend(v[row].to_be_bytes()),
            Data::I64(v) => bytes.extend(v[row].to_be_bytes()),
            Data::F32(v) => bytes.extend(v[row].to_be_bytes()),
            Data::F64(v) => bytes.extend(v[row].to_be_bytes()),
            Data::Text(v) => put_text(&v[row], wide[at], bytes),
        }
    }
}

fn put_text(text: &str, wide: bool, bytes: &mut Vec<u8>) {
    let count = if wide { text.encode_utf16().count() } else { text.len() };
    // It was checked above that this fits.
    bytes.extend(u32::try_from(count).unwrap_or(u32::MAX).to_be_bytes());
    if wide {
        bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
    } else {
        bytes.extend_from_slice(text.as_bytes());
    }
}
