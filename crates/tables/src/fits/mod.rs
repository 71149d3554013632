//! FITS tables (FITS standard 4.0, section 7): binary ones are read and written, ASCII ones read.
//!
//! A file is a chain of units of 2880-byte blocks: a header of 80-character cards, then data. The
//! first table is read, or the named unit ([`read`]); a compressed image is stored as a table but
//! is not one. Rows are contiguous and have a fixed number of bytes, big-endian in a binary table,
//! so reading is arithmetic and the file is never held in memory.
//!
//! | column | becomes |
//! |---|---|
//! | `L` `B` `I` `J` `K` `E` `D` `rA` | bool, uint8, int16, int32, int64, float32, float64, string |
//! | unsigned by `TZERO` (int8, uint16, uint32, uint64) | the next wider signed type; beyond int64: string |
//! | any other `TSCAL`, `TZERO` | float64 |
//! | arrays, bits, complex, variable length | left out, with the reason, or carried to another FITS file (`carried`) |
//!
//! `TNULL` is null, and so is a logical that is neither true nor false. FITS has no null for floats
//! (NaN is written and read back as NaN) or for text (an empty string is written). Text is ASCII,
//! and trailing blanks are not kept.
//!
//! The parts: [`cards`] (header lines), `header` (what they say about a table), `read` (the units),
//! `binary` and `ascii` (rows of the two kinds of table), `write`.

mod ascii;
mod binary;
mod cards;
mod carried;
mod header;
mod read;
mod write;

pub(crate) use carried::Carried;
pub(crate) use read::read;
pub(crate) use write::{check, write};

/// Headers and data are padded to a whole number of blocks of this size.
const BLOCK: usize = 2880;
