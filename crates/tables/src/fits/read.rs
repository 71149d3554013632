//! Finds the requested table among the units of a file, and reads its rows block by block.

use super::cards::Cards;
use super::carried::{Carried, Cells};
use super::header::{Header, Layout, Unit};
use super::{BLOCK, ascii, binary};
use crate::ecsv::header as description;
use crate::error::{Place, Result, TableError};
use crate::file::Input;
use crate::gather::Gathered;
use crate::table::Stored;
use crate::{Column, Pick, Table, Which};

/// Bytes of rows held at a time.
const CHUNK: usize = 1 << 20;

/// Reads the requested unit: by default, the first table. The other tables are listed as skipped.
/// With `carry`, columns that a table cannot hold are kept for another FITS file.
pub(crate) fn read(mut input: Input<'_>, which: &Which, carry: bool) -> Result<Table> {
    let wanted = match which {
        Which::Hdu(pick) => Some(pick),
        _ => None,
    };
    let (mut found, mut passed) = (None, Vec::new());
    let mut unit = 0;
    loop {
        // Nothing after the table that was read matters, not even an error.
        let header = match (next_header(&mut input, unit), found.is_some()) {
            (Ok(Some(header)), _) => header,
            (Ok(None), _) | (Err(_), true) => break,
            (Err(error), false) => return Err(error),
        };
        let kind = header.unit();
        let chosen = match wanted {
            Some(pick) => pick.is(unit, &[header.name()]),
            None => kind.is_table(),
        };
        if chosen && found.is_none() {
            found = Some(read_unit(&mut input, header, unit, carry)?);
        } else {
            passed.push((unit, header.name().to_string(), kind));
            if !pass(&mut input, &header, unit, found.is_some())? {
                break;
            }
        }
        unit += 1;
    }
    let Some(mut table) = found else { return Err(none_found(&input, wanted, &passed)) };
    for (unit, name, _) in passed.iter().filter(|(.., kind)| kind.is_table()) {
        let name = format!("unit {unit} {name}");
        table.skip(name.trim_end(), format!("another table of the file, which --hdu {unit} reads"));
    }
    input.check_rest()?;
    Ok(table.with_origin(&input.origin(None)))
}

/// Skips a unit's data; false if they are incomplete and that does not matter.
fn pass(input: &mut Input<'_>, header: &Header, unit: usize, lenient: bool) -> Result<bool> {
    let place = input.place();
    let passed = header.data_bytes(&place).and_then(|bytes| {
        let data = padded(bytes);
        let got = input.pass(data)?;
        let missing = format!("{} of the {data} bytes of data of unit {unit} are missing", data - got);
        if got == data { Ok(()) } else { Err(place.cut_off(missing)) }
    });
    match passed {
        Ok(()) => Ok(true),
        Err(_) if lenient => Ok(false),
        Err(error) => Err(error),
    }
}

/// The error that the table does not exist, with those that do.
fn none_found(input: &Input<'_>, wanted: Option<&Pick>, units: &[(usize, String, Unit)]) -> TableError {
    let Some(pick) = wanted else {
        let problem = format!("no table among the {} units of the FITS file", units.len());
        return input.place().malformed(problem);
    };
    let named = units.iter().map(|(unit, name, kind)| {
        let name = format!("{unit} {name}");
        format!("{} ({})", name.trim_end(), kind.what())
    });
    let units = named.collect::<Vec<_>>().join(", ");
    TableError::NoTable { place: input.place(), problem: format!("no HDU {pick}; there are: {units}") }
}

/// Reads the table that the unit must be.
fn read_unit(input: &mut Input<'_>, header: Header, unit: usize, carry: bool) -> Result<Table> {
    let problem = match header.unit() {
        Unit::BinaryTable => return read_binary(input, header, carry),
        Unit::AsciiTable => return read_ascii(input, header),
        Unit::CompressedTable => "uncompress it with funpack",
        Unit::Image | Unit::CompressedImage | Unit::Other => "name a table",
    };
    let problem = format!("HDU {unit} is {}; {problem}", header.unit().what());
    Err(TableError::NoTable { place: input.place(), problem })
}

fn padded(bytes: u64) -> u64 {
    // Saturating: a size near 2^64 is refused as truncated, because no file is that long.
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
            // The standard allows anything after the last unit.
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

fn read_binary(input: &mut Input<'_>, header: Header, carry: bool) -> Result<Table> {
    let place = input.place();
    let mut layout = header.layout(&place)?;
    let left = std::mem::take(&mut layout.left);
    let mut held: u64 = layout.fields.iter().map(binary::held_bytes).sum();
    if carry {
        held += left.iter().map(|left| left.width as u64).sum::<u64>();
    }
    let room = room(&layout, layout.fields.len(), held, &place)?;
    let mut columns: Vec<Gathered> = layout.fields.iter().map(|f| binary::gathered(f, room)).collect();
    let mut carried = Carried::default();
    if carry {
        carried.columns = left.iter().map(|left| Cells::new(left, &header, room)).collect();
    }
    let keep_heap = carry && left.iter().any(|left| left.varies);
    let heap = each_rows(input, &layout, keep_heap, |bytes, _| {
        for (column, field) in columns.iter_mut().zip(&layout.fields) {
            binary::take(column, field, bytes, layout.row_bytes);
        }
        carried.columns.iter_mut().for_each(|cells| cells.take(bytes, layout.row_bytes));
        Ok(())
    })?;
    if keep_heap {
        // There may be a gap before it, which nothing points into.
        let rows = layout.rows.saturating_mul(layout.row_bytes as u64);
        let begins = header.text("THEAP").map_or(Ok(rows), |_| header.count("THEAP", &place))?;
        let gap = usize::try_from(begins.saturating_sub(rows)).unwrap_or(usize::MAX);
        carried.heap = heap.get(gap..).unwrap_or_default().to_vec();
    }
    let fields = layout.fields.drain(..).map(|field| (field.name, field.unit, field.description));
    let mut table = Table::new(finished(fields, columns)?)?;
    if carry && !left.is_empty() {
        table.carry(left.into_iter().map(|left| (left.name, left.reason)), Stored::Fits(carried))?;
    } else {
        left.into_iter().for_each(|left| table.skip(left.name, left.reason));
    }
    describe(table, header)
}

fn read_ascii(input: &mut Input<'_>, header: Header) -> Result<Table> {
    let place = input.place();
    let layout = header.size(&place)?;
    let fields = ascii::fields(&header, layout.row_bytes, &place)?;
    let room = room(&layout, fields.len(), fields.iter().map(ascii::Field::held_bytes).sum(), &place)?;
    let mut columns: Vec<Gathered> = fields.iter().map(|field| field.gathered(room)).collect();
    each_rows(input, &layout, false, |bytes, first| {
        for (column, field) in columns.iter_mut().zip(&fields) {
            field.take(column, bytes, layout.row_bytes, first, &place)?;
        }
        Ok(())
    })?;
    let fields = fields.into_iter().map(|field| (field.name, field.unit, field.description));
    describe(Table::new(finished(fields, columns)?)?, header)
}

/// Room for all rows at once, if there is enough memory: growing columns would need half as much
/// again. Memory for rows that a compressed file claims but lacks is never touched.
fn room(layout: &Layout, columns: usize, held: u64, place: &Place) -> Result<usize> {
    place.check_memory(
        &format!("{} rows of {columns} columns", layout.rows),
        held.saturating_mul(layout.rows),
    )?;
    Ok(if layout.row_bytes == 0 { 0 } else { usize::try_from(layout.rows).unwrap_or(0) })
}

/// Reads the data of a table: `take` is given runs of whole rows and the number of the first.
/// Returns what follows the rows, if that is kept.
fn each_rows(
    input: &mut Input<'_>,
    layout: &Layout,
    keep_heap: bool,
    mut take: impl FnMut(&[u8], u64) -> Result<()>,
) -> Result<Vec<u8>> {
    let place = input.place();
    let row = layout.row_bytes as u64;
    let body = layout
        .rows
        .checked_mul(row)
        .and_then(|n| n.checked_add(layout.heap))
        .ok_or_else(|| place.clone().malformed("an impossible number of rows"))?;
    let whole = padded(body);
    let available = input.len.map(|len| len.saturating_sub(input.taken));
    if let Some(available) = available.filter(|&available| available < whole) {
        return Err(cut_off(layout, available, place));
    }
    let rows_a_chunk = (CHUNK / layout.row_bytes.max(1)).max(1) as u64;
    let mut buffer = vec![0; layout.row_bytes * rows_a_chunk.min(layout.rows.max(1)) as usize];
    let mut done = 0u64;
    while row > 0 && done < layout.rows {
        let rows = rows_a_chunk.min(layout.rows - done);
        let bytes = &mut buffer[..layout.row_bytes * rows as usize];
        let got = input.fill(bytes)?;
        if got < bytes.len() {
            return Err(cut_off(layout, done * row + got as u64, place));
        }
        take(bytes, done)?;
        done += rows;
    }
    let mut heap = Vec::new();
    let mut behind = 0;
    while keep_heap && (heap.len() as u64) < layout.heap {
        // Piece by piece: a compressed file may claim more than it has.
        let piece = (layout.heap - heap.len() as u64).min(CHUNK as u64) as usize;
        place.check_memory("arrays of variable length", piece as u64)?;
        heap.resize(heap.len() + piece, 0);
        let from = heap.len() - piece;
        let got = input.fill(&mut heap[from..])?;
        behind += got as u64;
        if got < piece {
            return Err(cut_off(layout, layout.rows * row + behind, place));
        }
    }
    let after = whole - layout.rows * row - behind;
    let got = input.pass(after)?;
    if got < after {
        return Err(cut_off(layout, layout.rows * row + behind + got, place));
    }
    Ok(heap)
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

type Described = (String, Option<String>, Option<String>);

/// The finished columns, with name, unit and description.
fn finished(fields: impl Iterator<Item = Described>, columns: Vec<Gathered>) -> Result<Vec<Column>> {
    let finish = |((name, unit, description), column): (Described, Gathered)| {
        let column = column.finish(&name)?;
        Ok(column.with_unit(unit.unwrap_or_default()).with_description(description.unwrap_or_default()))
    };
    fields.zip(columns).map(finish).collect()
}

/// Adds what else the header contains besides the columns.
fn describe(mut table: Table, mut header: Header) -> Result<Table> {
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
