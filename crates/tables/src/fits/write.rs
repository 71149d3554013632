//! Writes one binary table after an empty primary unit.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use super::BLOCK;
use super::cards::{Writer, printable};
use super::carried::{Carried, Cells};
use super::header::{ASTROPY_BEGIN, ASTROPY_END};
use crate::ecsv::header as description;
use crate::error::{Place, Result, TableError};
use crate::file::write_failed;
use crate::table::Stored;
use crate::ucd::ucd;
use crate::{Column, Data, Table};

/// The layout of one column in a row.
struct Form<'a> {
    column: &'a Column,
    letter: char,
    width: usize,
    /// The integer that stands for null.
    null: Option<i64>,
}

/// What a row consists of.
enum Cell<'a> {
    /// A value of the table.
    Own(Form<'a>),
    /// Bytes of the file that the table was read from.
    Carried(&'a Cells),
}

impl Cell<'_> {
    fn width(&self) -> usize {
        match self {
            Cell::Own(form) => form.width,
            Cell::Carried(cells) => cells.width,
        }
    }
}

/// The columns carried along from another FITS file.
fn carried(table: &Table) -> Option<&Carried> {
    match table.stored() {
        Stored::Fits(carried) => Some(carried),
        _ => None,
    }
}

/// Refuses what FITS cannot hold.
pub(crate) fn check(table: &Table, path: &Path) -> Result<()> {
    cells(table, path).map(|_| ())
}

fn cells<'a>(table: &'a Table, path: &Path) -> Result<Vec<Cell<'a>>> {
    let place = Place::file(path);
    let carried = carried(table).map_or(&[][..], |carried| &carried.columns);
    let all = table.columns().len() + carried.len();
    if all > 999 {
        return Err(place.cannot_hold(format!("{all} columns; FITS holds 999, Parquet any number")));
    }
    let mut cells = Vec::with_capacity(all);
    for (at, column) in table.columns().iter().enumerate() {
        cells.extend(carried.iter().filter(|cells| cells.after == at).map(Cell::Carried));
        cells.push(Cell::Own(form(column, &place)?));
    }
    cells.extend(carried.iter().filter(|cells| cells.after >= table.columns().len()).map(Cell::Carried));
    Ok(cells)
}

/// Writes the table. Text must be ASCII.
pub(crate) fn write(table: &Table, out: &mut dyn Write, path: &Path) -> Result<()> {
    let cells = cells(table, path)?;
    let row_bytes: usize = cells.iter().map(Cell::width).sum();
    let heap = carried(table).map_or(&[][..], |carried| &carried.heap);

    let failed = write_failed(path);
    out.write_all(&primary()).map_err(&failed)?;
    out.write_all(&header(table, &cells, row_bytes, heap.len())).map_err(&failed)?;
    let mut bytes = Vec::with_capacity((1 << 16) + row_bytes);
    for row in 0..table.rows() {
        for cell in &cells {
            match cell {
                Cell::Own(form) => put(form, row, &mut bytes),
                Cell::Carried(cells) => bytes.extend_from_slice(cells.row(row)),
            }
        }
        if bytes.len() >= 1 << 16 {
            out.write_all(&bytes).map_err(&failed)?;
            bytes.clear();
        }
    }
    out.write_all(&bytes).map_err(&failed)?;
    out.write_all(heap).map_err(&failed)?;
    let body = row_bytes * table.rows() + heap.len();
    out.write_all(&vec![0; body.next_multiple_of(BLOCK) - body]).map_err(&failed)
}

fn primary() -> Vec<u8> {
    let mut writer = Writer::default();
    writer.number("SIMPLE", "T");
    writer.number("BITPIX", 8);
    writer.number("NAXIS", 0);
    writer.number("EXTEND", "T");
    writer.finish()
}

fn header(table: &Table, cells: &[Cell<'_>], row_bytes: usize, heap: usize) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.text("XTENSION", "BINTABLE");
    writer.number("BITPIX", 8);
    writer.number("NAXIS", 2);
    writer.number("NAXIS1", row_bytes);
    writer.number("NAXIS2", table.rows());
    writer.number("PCOUNT", heap);
    writer.number("GCOUNT", 1);
    writer.number("TFIELDS", cells.len());
    for (n, cell) in (1..).zip(cells) {
        let form = match cell {
            Cell::Own(form) => form,
            Cell::Carried(cells) => {
                cells.describe(n, &mut writer);
                continue;
            }
        };
        writer.text(&format!("TTYPE{n}"), form.column.name());
        let repeat = if form.letter == 'A' { form.width } else { 1 };
        writer.text(&format!("TFORM{n}"), &format!("{repeat}{}", form.letter));
        if let Some(unit) = form.column.unit() {
            writer.text(&format!("TUNIT{n}"), unit);
        }
        if let Some(null) = form.null {
            writer.number(&format!("TNULL{n}"), null);
        }
        if let Some(ucd) = ucd(form.column) {
            writer.text(&format!("TUCD{n}"), &ucd);
        }
        if let Some(description) = form.column.description() {
            writer.text(&format!("TCOMM{n}"), description);
        }
    }
    let mut coded = 0;
    for (key, value) in table.metadata() {
        let remark = (key == "COMMENT" || key == "HISTORY")
            && value.split('\n').all(|line| printable(line) && line.len() <= 72 && !line.ends_with(' '));
        if remark {
            value.split('\n').for_each(|line| writer.remark(key, line));
        } else {
            writer.metadata(key, value, &mut coded);
        }
    }
    if table.columns().iter().any(|column| column.description().is_some()) {
        describe_for_astropy(table, &mut writer);
    }
    writer.finish()
}

/// astropy does not read `TCOMMn`; it expects descriptions as YAML in comments.
fn describe_for_astropy(table: &Table, writer: &mut Writer) {
    writer.remark("COMMENT", ASTROPY_BEGIN);
    for line in description::columns(table) {
        // Every text in it was checked to be ASCII, so a byte is a character.
        let mut rest = line.as_str();
        while rest.len() > 70 {
            let (piece, after) = rest.split_at(70);
            writer.remark("COMMENT", &format!("{piece}\\"));
            rest = after;
        }
        writer.remark("COMMENT", rest);
    }
    writer.remark("COMMENT", "meta: !!omap");
    writer.remark("COMMENT", "- __serialized_columns__: {}");
    writer.remark("COMMENT", ASTROPY_END);
}

/// Checks that FITS can hold the column, and chooses the integer for null.
fn form<'a>(column: &'a Column, place: &Place) -> Result<Form<'a>> {
    let ascii_only = |what: &str, text: &str| {
        if printable(text) {
            return Ok(());
        }
        Err(place.clone().column(column.name()).cannot_hold(format!(
            "the {what} {text:?} is not ASCII, and FITS holds nothing else; use .ecsv, .parquet or .vot"
        )))
    };
    ascii_only("name", column.name())?;
    ascii_only("unit", column.unit().unwrap_or_default())?;
    ascii_only("description", column.description().unwrap_or_default())?;
    let no_null_left = || {
        place.clone().column(column.name()).cannot_hold(
            "every byte value is taken, so none is left to represent null; store the column as int16",
        )
    };
    let (letter, width, null) = match column.data() {
        Data::Bool(_) => ('L', 1, None),
        Data::U8(v) => {
            // From the top, because 0 is the most likely value.
            let taken: HashSet<u8> = v.iter().copied().collect();
            ('B', 1, Some((0..=u8::MAX).rev().find(|n| !taken.contains(n)).map(i64::from)))
        }
        Data::I16(v) => {
            let taken: HashSet<i16> = v.iter().copied().collect();
            ('I', 2, Some((i16::MIN..=i16::MAX).find(|n| !taken.contains(n)).map(i64::from)))
        }
        Data::I32(v) => ('J', 4, Some(unused(v.iter().map(|&n| n.into()), i32::MIN.into()))),
        Data::I64(v) => ('K', 8, Some(unused(v.iter().copied(), i64::MIN))),
        Data::F32(_) => ('E', 4, None),
        Data::F64(_) => ('D', 8, None),
        Data::Text(v) => {
            if let Some((row, text)) = v.iter().enumerate().find(|(_, text)| !printable(text)) {
                return Err(TableError::Value {
                    place: place.clone().row(row as u64 + 1).column(column.name()),
                    value: text.as_str().into(),
                    problem:
                        "is not printable ASCII, and FITS holds nothing else; use .ecsv, .parquet or .vot"
                            .into(),
                });
            }
            ('A', v.iter().map(String::len).max().unwrap_or(0).max(1), None)
        }
    };
    let null = match null.filter(|_| column.nulls() > 0) {
        None => None,
        Some(found) => Some(found.ok_or_else(no_null_left)?),
    };
    Ok(Form { column, letter, width, null })
}

/// The lowest integer not below `from` that does not occur.
fn unused(values: impl Iterator<Item = i64>, from: i64) -> Option<i64> {
    let mut low: Vec<i64> = values.collect();
    low.sort_unstable();
    low.dedup();
    low.iter().zip(from..).find(|(value, candidate)| *value != candidate).map(|(_, n)| n).or_else(|| {
        // Every value so far is taken in order: the next one is free, if there is one.
        i64::try_from(low.len()).ok().and_then(|n| from.checked_add(n))
    })
}

fn put(form: &Form<'_>, row: usize, bytes: &mut Vec<u8>) {
    let null = form.column.is_null(row);
    // At a null the integer chosen for it; it fits the type, so the casts keep it.
    let stand_in = form.null.filter(|_| null);
    match form.column.data() {
        Data::Bool(_) if null => bytes.push(0),
        Data::Bool(v) => bytes.push(if v[row] { b'T' } else { b'F' }),
        Data::U8(v) => bytes.push(stand_in.map_or(v[row], |n| n as u8)),
        Data::I16(v) => bytes.extend(stand_in.map_or(v[row], |n| n as i16).to_be_bytes()),
        Data::I32(v) => bytes.extend(stand_in.map_or(v[row], |n| n as i32).to_be_bytes()),
        Data::I64(v) => bytes.extend(stand_in.unwrap_or(v[row]).to_be_bytes()),
        Data::F32(v) => bytes.extend(v[row].to_be_bytes()),
        Data::F64(v) => bytes.extend(v[row].to_be_bytes()),
        Data::Text(v) => {
            bytes.extend_from_slice(v[row].as_bytes());
            bytes.extend(std::iter::repeat_n(b' ', form.width - v[row].len()));
        }
    }
}
