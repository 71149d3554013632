//! Binary rows: `BINARY` and `BINARY2`.
//!
//! Cells are contiguous and big-endian; a cell of variable length begins with its count. `BINARY2`
//! puts one bit per column before each row, the first column in the highest bit: set where the
//! value is null.

use super::field::{Reading, Size};
use crate::error::{Place, Result, TableError};
use crate::gather::Values;

/// Reads rows until the bytes end, which must be at the end of a row.
pub(super) fn rows(
    mut bytes: &[u8],
    flagged: bool,
    readings: &mut [Reading],
    names: &[String],
    place: &Place,
) -> Result<u64> {
    let flag_bytes = if flagged { readings.len().div_ceil(8) } else { 0 };
    let mut row = 0u64;
    while !bytes.is_empty() && !readings.is_empty() {
        let before = bytes.len();
        row += 1;
        let cut =
            |name: &str| place.clone().row(row).column(name).cut_off("the binary data end inside this row");
        let flags = take(&mut bytes, flag_bytes).ok_or_else(|| cut(&names[0]))?;
        for (at, (reading, name)) in readings.iter_mut().zip(names).enumerate() {
            let count = match reading.size {
                Size::One => 1,
                Size::Fixed(count) => count,
                Size::Variable => {
                    let prefix = take(&mut bytes, 4).ok_or_else(|| cut(name))?;
                    u32::from_be_bytes([prefix[0], prefix[1], prefix[2], prefix[3]]) as usize
                }
            };
            let length =
                if reading.bits { Some(count.div_ceil(8)) } else { count.checked_mul(reading.element) };
            let cell = length.and_then(|length| take(&mut bytes, length)).ok_or_else(|| cut(name))?;
            let null = flagged && flags[at / 8] & (0x80 >> (at % 8)) != 0;
            put(reading, cell, null, flagged).map_err(|problem| TableError::Value {
                place: place.clone().row(row).column(name),
                value: format!("{cell:02x?}").into(),
                problem: problem.into(),
            })?;
        }
        if bytes.len() == before {
            // Columns of no bytes at all: the rows cannot be counted.
            return Err(place.clone().malformed("rows of no bytes"));
        }
    }
    Ok(row)
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (head, tail) = bytes.split_at_checked(length)?;
    *bytes = tail;
    Some(head)
}

/// Adds one cell to its column.
fn put(reading: &mut Reading, cell: &[u8], null: bool, flagged: bool) -> Result<(), &'static str> {
    let Ok(column) = &mut reading.to else { return Ok(()) };
    if null {
        column.push_null();
        return Ok(());
    }
    const SHORT: &str = "has too few bytes";
    let mut is_null = false;
    // Nulls need the row's number, so the value is pushed first and taken back as null below.
    match &mut column.values {
        Values::Bool(v) if reading.bits => v.push(*cell.first().ok_or(SHORT)? != 0),
        Values::Bool(v) => match cell.first().ok_or(SHORT)? {
            b'T' | b't' | b'1' => v.push(true),
            b'F' | b'f' | b'0' => v.push(false),
            _ => is_null = true,
        },
        Values::U8(v) => {
            let value = *cell.first().ok_or(SHORT)?;
            is_null = reading.null_integer == Some(value.into());
            if !is_null {
                v.push(value);
            }
        }
        Values::I16(v) => {
            let value = i16::from_be_bytes(cell.try_into().map_err(|_| SHORT)?);
            is_null = reading.null_integer == Some(value.into());
            if !is_null {
                v.push(value);
            }
        }
        Values::I32(v) => {
            let value = i32::from_be_bytes(cell.try_into().map_err(|_| SHORT)?);
            is_null = reading.null_integer == Some(value.into());
            if !is_null {
                v.push(value);
            }
        }
        Values::I64(v) => {
            let value = i64::from_be_bytes(cell.try_into().map_err(|_| SHORT)?);
            is_null = reading.null_integer == Some(value);
            if !is_null {
                v.push(value);
            }
        }
        Values::F32(v) => v.push(f32::from_be_bytes(cell.try_into().map_err(|_| SHORT)?)),
        Values::F64(v) => v.push(f64::from_be_bytes(cell.try_into().map_err(|_| SHORT)?)),
        Values::Text(v) => {
            let text = if reading.wide { wide_text(cell)? } else { narrow_text(cell) };
            is_null = text.is_empty() && !flagged;
            if !is_null {
                v.push(text);
            }
        }
        // VOTable has no unsigned 64-bit type.
        Values::U64(_) => return Err(SHORT),
    }
    if is_null {
        column.push_null();
    }
    Ok(())
}

/// `char`: UTF-8 (ASCII before VOTable 1.5), otherwise Latin-1; ends at the first NUL.
fn narrow_text(cell: &[u8]) -> String {
    let end = cell.iter().position(|&b| b == 0).unwrap_or(cell.len());
    match std::str::from_utf8(&cell[..end]) {
        Ok(text) => text.to_string(),
        Err(_) => cell[..end].iter().map(|&b| char::from(b)).collect(),
    }
}

/// `unicodeChar`: UTF-16, the high byte first.
fn wide_text(cell: &[u8]) -> Result<String, &'static str> {
    let units =
        cell.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).take_while(|&unit| unit != 0);
    char::decode_utf16(units).collect::<Result<_, _>>().map_err(|_| "is not UTF-16")
}
