//! Reads ECSV: the YAML states the types, so values are parsed once.

use super::header::{self, Described, Description};
use crate::csv::explain;
use crate::csv::tokens::{Field, Rows};
use crate::error::{Result, TableError};
use crate::file::Input;
use crate::gather::{Declared, Gathered};
use crate::{Column, Table};

/// Reads the whole input.
pub(crate) fn read(mut input: Input<'_>) -> Result<Table> {
    let bytes = input.rest()?;
    let place = input.place();
    let malformed = |problem: String| place.clone().malformed(problem);

    let mut yaml = String::new();
    let mut rows = Rows::new(&bytes, b',');
    let mut first = true;
    while let Some(line) = rows.comment() {
        let line = std::str::from_utf8(line).map_err(|_| malformed("the header is not UTF-8".into()))?;
        let line = line.strip_prefix(' ').unwrap_or(line);
        if first && !line.starts_with("%ECSV ") {
            break;
        }
        if !first {
            yaml.push_str(line);
            yaml.push('\n');
        }
        first = false;
    }
    if first {
        return Err(malformed("not an ECSV file: it does not begin with `# %ECSV 1.0`".into()));
    }
    let description = header::parse(&yaml).map_err(malformed)?;
    let delimiter = match description.delimiter.as_deref() {
        None | Some(" ") => b' ',
        Some(",") => b',',
        Some(other) => return Err(malformed(format!("ECSV knows no delimiter {other:?}"))),
    };
    let mut table = body(&bytes, delimiter, &description, &input)?;
    description.apply(&mut table)?;
    Ok(table)
}

/// What to do with one column's fields.
enum Taker {
    Gather(Gathered),
    Skip(String),
}

fn taker(described: &Described) -> Taker {
    if let Some(subtype) = &described.subtype {
        return Taker::Skip(format!("its values are of the compound type `{subtype}`"));
    }
    let kind = match described.datatype.as_str() {
        "bool" => Declared::Bool,
        "int8" => Declared::I8,
        "uint8" => Declared::U8,
        "int16" => Declared::I16,
        "uint16" => Declared::U16,
        "int32" => Declared::I32,
        "uint32" => Declared::U32,
        "int64" => Declared::I64,
        "uint64" => Declared::U64,
        "float16" | "float32" => Declared::F32,
        "float64" | "float128" => Declared::F64,
        "string" => Declared::Text,
        other => return Taker::Skip(format!("its values are of the type `{other}`")),
    };
    Taker::Gather(Gathered::new(kind, 0))
}

fn body(bytes: &[u8], delimiter: u8, description: &Description, input: &Input<'_>) -> Result<Table> {
    let place = input.place();
    let mut rows = Rows::new(bytes, delimiter);
    let mut fields: Vec<Field> = Vec::new();
    let Some(line) = rows.next(&mut fields).map_err(|fault| explain(fault, &place))? else {
        return Err(place.cut_off("the line that names the columns is missing"));
    };
    let names: Vec<&str> = description.columns.iter().map(|column| column.name.as_str()).collect();
    let written: Vec<_> = fields.iter().map(|field| field.text(bytes).unwrap_or_default()).collect();
    if written != names {
        return Err(place.line(line).malformed(format!(
            "the columns are named {}, but the YAML header describes {}",
            written.join(", "),
            names.join(", ")
        )));
    }

    let mut takers: Vec<Taker> = description.columns.iter().map(taker).collect();
    let (mut row, mut first_line, mut regular) = (0u64, None, true);
    while let Some(line) = rows.next(&mut fields).map_err(|fault| explain(fault, &place))? {
        regular &= line == *first_line.get_or_insert(line) + row;
        row += 1;
        let here = || place.clone().row(row).line(line);
        if fields.len() != names.len() {
            let problem = format!("{} fields, but the header names {} columns", fields.len(), names.len());
            return Err(here().malformed(problem));
        }
        let quoted_is_text = delimiter == b',' && names.len() > 1;
        for ((field, taker), name) in fields.iter().zip(&mut takers).zip(&names) {
            if let Taker::Gather(column) = taker {
                take(column, field, bytes, quoted_is_text).map_err(|problem| TableError::Value {
                    place: here().column(name),
                    value: String::from_utf8_lossy(field.bytes(bytes)).into(),
                    problem: problem.into(),
                })?;
            }
        }
    }

    let origin = input.origin(first_line.filter(|_| regular));
    let (mut columns, mut skipped): (Vec<Column>, _) = (Vec::new(), Vec::new());
    for (name, taker) in names.iter().zip(takers) {
        match taker {
            Taker::Gather(column) => columns.push(column.finish(name)?.with_origin(&origin)),
            Taker::Skip(reason) => skipped.push((*name, reason)),
        }
    }
    let mut table = Table::new(columns)?.with_origin(&origin);
    for (name, reason) in skipped {
        table.skip(name, reason);
    }
    Ok(table)
}

fn take(
    column: &mut Gathered,
    field: &Field,
    bytes: &[u8],
    quoted_is_text: bool,
) -> Result<(), &'static str> {
    let text = field.text(bytes).map_err(|_| "is not UTF-8; convert the file")?;
    let empty_text = field.quoted && quoted_is_text && column.is_text();
    if text.is_empty() && !empty_text {
        column.push_null();
        return Ok(());
    }
    column.push_text(&text)
}
