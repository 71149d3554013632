//! Columns of a binary table that a table of single values cannot hold, kept as their bytes: from one
//! FITS file to another nothing is lost and nothing is changed.

use super::cards::{Value, Writer, printable};
use super::header::{Header, Left};

/// The keywords of a column that say what its bytes are, beside its name.
const STEMS: [&str; 12] = [
    "TFORM", "TUNIT", "TDIM", "TSCAL", "TZERO", "TNULL", "TDISP", "TCOMM", "TUCD", "TUTYP", "TDMIN", "TDMAX",
];

/// Such columns, and the heap that arrays of variable length point into.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    pub(super) columns: Vec<Cells>,
    /// As it was, so that what points into it stays true.
    pub(super) heap: Vec<u8>,
}

/// One column.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    name: String,
    /// Columns of the table that stand before it.
    pub after: usize,
    offset: usize,
    /// Bytes of a row.
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

    /// Takes this column's bytes out of a run of whole rows.
    pub fn take(&mut self, bytes: &[u8], row_bytes: usize) {
        for row in bytes.chunks_exact(row_bytes) {
            self.bytes.extend_from_slice(&row[self.offset..self.offset + self.width]);
        }
    }

    /// The bytes of a row.
    pub fn row(&self, row: usize) -> &[u8] {
        &self.bytes[row * self.width..(row + 1) * self.width]
    }

    /// What its header says, as the column of this number.
    pub fn describe(&self, n: usize, writer: &mut Writer) {
        writer.text(&format!("TTYPE{n}"), &self.name);
        for (stem, value) in &self.cards {
            let key = format!("{stem}{n}");
            match value {
                Value::Bare(number) => writer.number(&key, number),
                // Old files have units in Latin-1, which no header may hold.
                other if printable(other.text()) => writer.text(&key, other.text()),
                _ => {}
            }
        }
    }
}
