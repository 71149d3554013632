//! Reading the first binary table, block by block.

use super::BLOCK;
use super::cards::{Cards, decode};
use super::header::{Field, Header, Kind, Layout, Scale};
use crate::Table;
use crate::ecsv::header as description;
use crate::error::{Place, Result, TableError};
use crate::file::Input;
use crate::gather::{Declared, Gathered, Values};

/// Bytes of rows held at a time.
const CHUNK: usize = 1 << 20;

/// Finds and reads the first binary table; later ones are listed as skipped.
pub(crate) fn read(mut input: Input<'_>) -> Result<Table> {
    let place = input.place();
    let mut unit = 0;
    loop {
        let Some(mut header) = next_header(&mut input, unit)? else {
            return Err(place.malformed(format!("no binary table among the {unit} units of the FITS file")));
        };
        if header.text("XTENSION") == Some("BINTABLE") {
            let mut table = read_table(&mut input, &mut header)?;
            list_other_tables(&mut input, unit + 1, &mut table);
            input.check_rest()?;
            return Ok(table.with_origin(&input.origin(None)));
        }
        if header.text("XTENSION") == Some("TABLE") {
            return Err(
                place.malformed(format!("unit {unit} is a FITS ASCII table; convert it to a binary table"))
            );
        }
        let data = padded(header.data_bytes(&place)?);
        let got = input.pass(data)?;
        if got < data {
            let missing = format!("{} of the {data} bytes of data of unit {unit} are missing", data - got);
            return Err(place.cut_off(missing));
        }
        unit += 1;
    }
}

fn padded(bytes: u64) -> u64 {
    // Saturating: a size near 2^64 is refused as cut off, for no file is that long.
    bytes.checked_next_multiple_of(BLOCK as u64).unwrap_or(u64::MAX)
}

/// The next unit's header, or `None` at the end of the file.
fn next_header(input: &mut Input<'_>, unit: usize) -> Result<Option<Header>> {
    let mut block = [0; BLOCK];
    let mut cards = Cards::default();
    let mut first = true;
    loop {
        let got = input.fill(&mut block)?;
        let begins = block.starts_with(b"SIMPLE  =") || block.starts_with(b"XTENSION=");
        if first && unit > 0 && (got == 0 || !begins) {
            // The standard lets anything follow the last unit.
            return Ok(None);
        }
        if first && unit == 0 && got >= 9 && !block.starts_with(b"SIMPLE  =") {
            return Err(input.place().malformed("not a FITS file: it does not begin with SIMPLE"));
        }
        if got < BLOCK {
            return Err(input
                .place()
                .cut_off(format!("it ends after {} bytes, inside the header of unit {unit}", input.taken)));
        }
        first = false;
        cards.take(&block);
        if cards.ended {
            return Ok(Some(Header { cards: cards.cards }));
        }
    }
}

fn read_table(input: &mut Input<'_>, header: &mut Header) -> Result<Table> {
    let place = input.place();
    let layout = header.layout(&place)?;
    let row = layout.row_bytes as u64;
    let body = layout
        .rows
        .checked_mul(row)
        .and_then(|n| n.checked_add(layout.heap))
        .ok_or_else(|| place.clone().malformed("an impossible number of rows"))?;
    let whole = padded(body);
    let available = input.len.map(|len| len.saturating_sub(input.taken));
    if let Some(available) = available.filter(|&available| available < whole) {
        return Err(cut_off(&layout, available, place));
    }
    let held: u64 = layout.fields.iter().map(held_bytes).sum();
    let what = format!("{} rows of {} columns", layout.rows, layout.fields.len());
    place.check_memory(&what, held.saturating_mul(layout.rows))?;
    // Room for all rows at once: growing columns would need half as much again. What a compressed
    // file claims to have and has not is never touched.
    let room = if row == 0 { 0 } else { usize::try_from(layout.rows).unwrap_or(0) };
    let mut columns: Vec<Gathered> = layout.fields.iter().map(|f| gathered(f, room)).collect();
    let rows_a_chunk = (CHUNK / layout.row_bytes.max(1)).max(1) as u64;
    let mut buffer = vec![0; layout.row_bytes * rows_a_chunk.min(layout.rows.max(1)) as usize];
    let mut done = 0u64;
    while row > 0 && done < layout.rows {
        let rows = rows_a_chunk.min(layout.rows - done);
        let bytes = &mut buffer[..layout.row_bytes * rows as usize];
        let got = input.fill(bytes)?;
        if got < bytes.len() {
            return Err(cut_off(&layout, done * row + got as u64, place));
        }
        for (column, field) in columns.iter_mut().zip(&layout.fields) {
            take(column, field, bytes, layout.row_bytes);
        }
        done += rows;
    }
    let after = whole - layout.rows * row;
    let got = input.pass(after)?;
    if got < after {
        return Err(cut_off(&layout, layout.rows * row + got, place));
    }

    let origin = input.origin(None);
    let mut finished = Vec::with_capacity(columns.len());
    for (field, column) in layout.fields.iter().zip(columns) {
        finished.push(
            column
                .finish(&field.name)?
                .with_unit(field.unit.clone().unwrap_or_default())
                .with_description(field.description.clone().unwrap_or_default())
                .with_origin(&origin),
        );
    }
    let mut table = Table::new(finished)?;
    for (name, reason) in layout.skipped {
        table.skip(name, reason);
    }
    let astropy = header.take_astropy();
    for (key, value) in header.metadata() {
        table.set_metadata(key, value);
    }
    match astropy.as_deref().map(description::parse) {
        Some(Ok(described)) => described.apply(&mut table)?,
        Some(Err(reason)) => table.skip("astropy's description of the columns", reason),
        None => {}
    }
    Ok(table)
}

fn cut_off(layout: &Layout, available: u64, place: Place) -> TableError {
    let row = layout.row_bytes as u64;
    let whole = available.checked_div(row).unwrap_or(layout.rows).min(layout.rows);
    let missing = if whole < layout.rows {
        format!(
            "it holds {whole} of {} rows, {} bytes of rows are missing",
            layout.rows,
            layout.rows.saturating_mul(row).saturating_sub(available)
        )
    } else {
        let body = layout.rows.saturating_mul(row).saturating_add(layout.heap);
        format!("all rows are there, but {} bytes after them are missing", padded(body) - available)
    };
    place.cut_off(missing)
}

/// Names the tables that follow. They are not read, so a fault in them is of no concern here.
fn list_other_tables(input: &mut Input<'_>, first: usize, table: &mut Table) {
    let mut unit = first;
    while let Ok(Some(header)) = next_header(input, unit) {
        if header.text("XTENSION") == Some("BINTABLE") {
            let name = header.text("EXTNAME").unwrap_or_default().trim();
            table.skip(format!("unit {unit} {name}").trim_end(), "a further table; only the first is read");
        }
        let Ok(bytes) = header.data_bytes(&input.place()) else { return };
        match input.pass(padded(bytes)) {
            Ok(got) if got == padded(bytes) => unit += 1,
            _ => return,
        }
    }
}

/// What a value of the field takes in memory, at least.
fn held_bytes(field: &Field) -> u64 {
    match (&field.kind, field.scale) {
        (_, Scale::Linear { .. }) | (Kind::Double | Kind::Long, _) => 8,
        (Kind::Logical, _) | (Kind::Byte, Scale::None) => 1,
        (Kind::Byte, Scale::Unsigned) | (Kind::Short, Scale::None) => 2,
        (Kind::Short, Scale::Unsigned) | (Kind::Int, Scale::None) | (Kind::Float, _) => 4,
        (Kind::Int, Scale::Unsigned) => 8,
        // Trailing blanks are not kept, so the width says nothing.
        (Kind::Chars(_), _) => size_of::<String>() as u64,
    }
}

/// An empty column of the type the field becomes.
fn gathered(field: &Field, room: usize) -> Gathered {
    let kind = match (&field.kind, field.scale) {
        (_, Scale::Linear { .. }) | (Kind::Double, _) => Declared::F64,
        (Kind::Logical, _) => Declared::Bool,
        (Kind::Byte, Scale::None) => Declared::U8,
        (Kind::Byte, Scale::Unsigned) => Declared::I8,
        (Kind::Short, Scale::None) => Declared::I16,
        (Kind::Short, Scale::Unsigned) => Declared::U16,
        (Kind::Int, Scale::None) => Declared::I32,
        (Kind::Int, Scale::Unsigned) => Declared::U32,
        (Kind::Long, Scale::None) => Declared::I64,
        (Kind::Long, Scale::Unsigned) => Declared::U64,
        (Kind::Float, _) => Declared::F32,
        (Kind::Chars(_), _) => Declared::Text,
    };
    Gathered::new(kind, room)
}

/// Takes this column's bytes out of a run of whole rows.
fn take(column: &mut Gathered, field: &Field, bytes: &[u8], row_bytes: usize) {
    let (at, from) = (field.offset, column.values.len());
    /// The big-endian number at `at` of each row.
    macro_rules! cells {
        ($type:ty) => {
            bytes.chunks_exact(row_bytes).map(move |row| {
                let mut cell = [0; size_of::<$type>()];
                cell.copy_from_slice(&row[at..at + size_of::<$type>()]);
                <$type>::from_be_bytes(cell)
            })
        };
    }
    // The raw integers are compared with TNULL before any scaling, as the standard says.
    if let Some(null) = field.null {
        let mut find = |raw: i64, row: usize| {
            if raw == null {
                column.nulls.push(from + row);
            }
        };
        match field.kind {
            Kind::Byte => cells!(u8).enumerate().for_each(|(row, raw)| find(raw.into(), row)),
            Kind::Short => cells!(i16).enumerate().for_each(|(row, raw)| find(raw.into(), row)),
            Kind::Int => cells!(i32).enumerate().for_each(|(row, raw)| find(raw.into(), row)),
            Kind::Long => cells!(i64).enumerate().for_each(|(row, raw)| find(raw, row)),
            _ => {}
        }
    }
    match (&mut column.values, &field.kind, field.scale) {
        (Values::F64(values), kind, Scale::Linear { scale, zero }) => {
            let apply = |raw: f64| zero + scale * raw;
            match kind {
                Kind::Byte => values.extend(cells!(u8).map(|raw| apply(raw.into()))),
                Kind::Short => values.extend(cells!(i16).map(|raw| apply(raw.into()))),
                Kind::Int => values.extend(cells!(i32).map(|raw| apply(raw.into()))),
                Kind::Long => values.extend(cells!(i64).map(|raw| apply(raw as f64))),
                Kind::Float => values.extend(cells!(f32).map(|raw| apply(raw.into()))),
                _ => values.extend(cells!(f64).map(apply)),
            }
        }
        (Values::Bool(values), ..) => {
            for (row, raw) in cells!(u8).enumerate() {
                values.push(raw == b'T');
                if raw != b'T' && raw != b'F' {
                    column.nulls.push(from + row);
                }
            }
        }
        (Values::U8(values), ..) => values.extend(cells!(u8)),
        (Values::I16(values), Kind::Byte, _) => values.extend(cells!(u8).map(|raw| i16::from(raw) - 128)),
        (Values::I16(values), ..) => values.extend(cells!(i16)),
        (Values::I32(values), Kind::Short, _) => {
            values.extend(cells!(i16).map(|raw| i32::from(raw) + 32768));
        }
        (Values::I32(values), ..) => values.extend(cells!(i32)),
        (Values::I64(values), Kind::Int, _) => {
            values.extend(cells!(i32).map(|raw| i64::from(raw) + (1 << 31)));
        }
        (Values::I64(values), ..) => values.extend(cells!(i64)),
        // Adding 2^63 modulo 2^64 flips the top bit.
        (Values::U64(values), ..) => values.extend(cells!(u64).map(|raw| raw ^ (1 << 63))),
        (Values::F32(values), ..) => values.extend(cells!(f32)),
        (Values::F64(values), ..) => values.extend(cells!(f64)),
        (Values::Text(values), kind, _) => {
            let width = if let Kind::Chars(width) = kind { *width } else { 0 };
            values.extend(bytes.chunks_exact(row_bytes).map(|row| text(&row[at..at + width])));
        }
    }
}

/// Text ends at the first NUL; trailing blanks are padding.
fn text(cell: &[u8]) -> String {
    let end = cell.iter().position(|&b| b == 0).unwrap_or(cell.len());
    let end = cell[..end].iter().rposition(|&b| b != b' ').map_or(0, |last| last + 1);
    decode(&cell[..end])
}
