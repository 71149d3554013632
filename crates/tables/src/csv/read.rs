//! Reading CSV: header, rows, types.

use super::infer::Builder;
use super::tokens::{Fault, Field, Rows};
use crate::error::{Place, Result, TableError};
use crate::file::Input;
use crate::{Column, Table};

/// Reads the whole input.
pub(crate) fn read(mut input: Input<'_>, delimiter: u8) -> Result<Table> {
    let mut bytes = input.rest()?;
    let place = input.place();
    if !bytes.contains(&b'\n') {
        // Lines may end with CR alone, as on old Macs.
        bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
    }
    let mut rows = Rows::new(&bytes, delimiter);
    let metadata = leading_comments(&mut rows);

    let mut fields = Vec::new();
    let Some(header_line) = rows.next(&mut fields).map_err(|fault| explain(fault, &place))? else {
        let problem = "the file is empty; its first line must name the columns";
        return Err(place.malformed(problem));
    };
    let names = header(&fields, &bytes, &place.clone().line(header_line))?;

    let mut builders: Vec<Option<Builder>> = names.iter().map(|_| Some(Builder::new())).collect();
    let shape = scan(&mut rows, &names, &bytes, &place, &mut builders)?;

    let mut columns = Vec::with_capacity(names.len());
    let mut again: Vec<Option<Builder>> = names.iter().map(|_| None).collect();
    for (slot, builder) in again.iter_mut().zip(builders.into_iter().flatten()) {
        let kind = builder.kind();
        let finished = builder.finish();
        if finished.is_none() {
            *slot = Some(Builder::of_kind(kind, shape.rows));
        }
        columns.push(finished);
    }
    if again.iter().any(Option::is_some) {
        let mut rows = Rows::new(&bytes, delimiter);
        rows.next(&mut fields).map_err(|fault| explain(fault, &place))?;
        scan(&mut rows, &names, &bytes, &place, &mut again)?;
    }

    let origin = input.origin(shape.first_line);
    let mut finished = Vec::with_capacity(names.len());
    for ((name, first), second) in names.iter().zip(columns).zip(again) {
        // A second pass with a known kind always finishes; if it did not, this is an error, not a
        // panic.
        let (data, valid) = first
            .or_else(|| second.and_then(Builder::finish))
            .ok_or_else(|| place.clone().column(name).malformed("has no single type"))?;
        let column = Column::new(name.clone(), data).with_origin(&origin);
        finished.push(match valid {
            Some(valid) => column.with_valid(valid)?,
            None => column,
        });
    }
    let mut table = Table::new(finished)?.with_origin(&origin);
    for (key, value) in metadata {
        table.set_metadata(key, value);
    }
    Ok(table)
}

/// `# key: value` lines above the header.
fn leading_comments(rows: &mut Rows<'_>) -> Vec<(String, String)> {
    let mut metadata = Vec::new();
    loop {
        if let Some(comment) = rows.comment() {
            let text = String::from_utf8_lossy(comment);
            if let Some((key, value)) = text.split_once(": ")
                && !key.trim().is_empty()
            {
                metadata.push((key.trim().to_string(), value.trim().to_string()));
            }
        } else if !rows.blank() {
            return metadata;
        }
    }
}

fn header(fields: &[Field], bytes: &[u8], place: &Place) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::with_capacity(fields.len());
    let mut known = std::collections::HashSet::new();
    for (at, field) in fields.iter().enumerate() {
        let malformed = |problem: String| place.clone().malformed(problem);
        let name = field
            .text(bytes)
            .map_err(|_| malformed(format!("the name of column {} is not UTF-8", at + 1)))?
            .into_owned();
        if name.is_empty() {
            return Err(malformed(format!("column {} has no name; name it in the header", at + 1)));
        }
        if !known.insert(name.clone()) {
            return Err(TableError::Duplicate { place: place.clone().column(&name) });
        }
        names.push(name);
    }
    Ok(names)
}

struct Shape {
    rows: usize,
    /// The line of the first row, if every row has exactly one line.
    first_line: Option<u64>,
}

/// Passes every field of every row to its builder.
fn scan(
    rows: &mut Rows<'_>,
    names: &[String],
    bytes: &[u8],
    place: &Place,
    builders: &mut [Option<Builder>],
) -> Result<Shape> {
    let mut fields = Vec::with_capacity(names.len());
    let mut shape = Shape { rows: 0, first_line: None };
    let mut regular = true;
    while let Some(line) = rows.next(&mut fields).map_err(|fault| explain(fault, place))? {
        let first = *shape.first_line.get_or_insert(line);
        regular &= line == first + shape.rows as u64;
        shape.rows += 1;
        let here = || place.clone().row(shape.rows as u64).line(line);
        if fields.len() != names.len() {
            let problem = format!("{} fields, but the header names {} columns", fields.len(), names.len());
            return Err(here().malformed(problem));
        }
        for ((builder, field), name) in builders.iter_mut().zip(&fields).zip(names) {
            if let Some(builder) = builder {
                builder.push(field, bytes).map_err(|_| TableError::Value {
                    place: here().column(name),
                    value: String::from_utf8_lossy(field.bytes(bytes)).into(),
                    problem: "is not UTF-8; convert the file".into(),
                })?;
            }
        }
    }
    shape.first_line = shape.first_line.filter(|_| regular);
    Ok(shape)
}

/// A fault of the text as an error.
pub(crate) fn explain(fault: Fault, place: &Place) -> TableError {
    match fault {
        Fault::Unclosed(line) => place.clone().line(line).cut_off("a quote is opened and never closed"),
        Fault::AfterQuote(line) => place
            .clone()
            .line(line)
            .malformed("text follows a closing quote; double the quotes inside a quoted field"),
    }
}
