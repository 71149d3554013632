//! Binary tables (FITS standard 4.0, section 7.3): the bytes of rows as values of columns.

use super::cards::decode;
use super::header::{Field, Kind, Scale};
use crate::gather::{Declared, Gathered, Values};

/// The minimum memory that a value of the field takes.
pub(super) fn held_bytes(field: &Field) -> u64 {
    match (&field.kind, field.scale) {
        (_, Scale::Linear { .. }) | (Kind::Double | Kind::Long, _) => 8,
        (Kind::Logical, _) | (Kind::Byte, Scale::None) => 1,
        (Kind::Byte, Scale::Unsigned) | (Kind::Short, Scale::None) => 2,
        (Kind::Short, Scale::Unsigned) | (Kind::Int, Scale::None) | (Kind::Float, _) => 4,
        (Kind::Int, Scale::Unsigned) => 8,
        // Trailing blanks are not kept, so the width is not a bound.
        (Kind::Chars(_), _) => size_of::<String>() as u64,
    }
}

/// An empty column of the type the field becomes.
pub(super) fn gathered(field: &Field, room: usize) -> Gathered {
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

/// Extracts this column's bytes from a run of whole rows.
pub(super) fn take(column: &mut Gathered, field: &Field, bytes: &[u8], row_bytes: usize) {
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
