//! Columns of a binary table that a table of single values cannot hold. Their bytes are kept, so
//! copying from one FITS file to another loses and changes nothing.

use super::cards::{Value, Writer, printable};
use super::header::{Header, Left};

/// The keywords that describe a column's bytes, besides its name.
const STEMS: [&str; 12] = [
    "TFORM", "TUNIT", "TDIM", "TSCAL", "TZERO", "TNULL", "TDISP", "TCOMM", "TUCD", "TUTYP", "TDMIN", "TDMAX",
];

/// Such columns, and the heap that arrays of variable length point into.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    pub(super) columns: Vec<Cells>,
    /// Unchanged, so that pointers into it stay valid.
    pub(super) heap: Vec<u8>,
}

/// One column.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    name: String,
    /// Number of columns of the table before it.
    pub after: usize,
    offset: usize,
    /// Number of bytes in a row.
    pub width: usize,
    bytes: Vec<u8>,
    cards: Vec<(&'static str, Value)>,
}

impl Cells {
    pub fn new(left: &Left, header: &Header, rows: usize) -> Self {
        let card = |stem: &'static str| Some((stem, header.get(&format!("{stem}{}", left.n))?.clone()));
        Self {
            name: left.name.clone(),
            after: left.after,
            offset: left.offset,
            width: left.width,
            bytes: Vec::with_capacity(rows.saturating_mul(left.width)),
            cards: STEMS.into_iter().filter_map(card).collect(),
        }
    }

    /// Extracts this column's bytes from a run of whole rows.
    pub fn take(&mut self, bytes: &[u8], row_bytes: usize) {
        for row in bytes.chunks_exact(row_bytes) {
            self.bytes.extend_from_slice(&row[self.offset..self.offset + self.width]);
        }
    }

    /// The bytes of a row.
    pub fn row(&self, row: usize) -> &[u8] {
        &self.bytes[row * self.width..(row + 1) * self.width]
    }

    /// Writes its header cards, as column number `n`.
    pub fn describe(&self, n: usize, writer: &mut Writer) {
        writer.text(&format!("TTYPE{n}"), &self.name);
        for (stem, value) in &self.cards {
            let key = format!("{stem}{n}");
            match value {
                Value::Bare(number) => writer.number(&key, number),
                // Old files have units in Latin-1, which a header may not contain.
                other if printable(other.text()) => writer.text(&key, other.text()),
                _ => {}
            }
        }
    }
}
