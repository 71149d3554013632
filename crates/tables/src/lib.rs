//! Reading and writing tables: CSV, ECSV, Parquet, FITS and VOTable, with one [`Table`] type.
//!
//! [`read()`] and [`write()`] choose the format from the file's extension ([`Format`]); every
//! format gives the same [`Table`]: columns with a type, a unit, a description and nulls, and
//! metadata as ordered text.
//!
//! A truncated or damaged file is an error that names the file and, where possible, the row, the
//! column and the value ([`TableError`]); it never causes a panic or a shorter table. Columns that
//! a table of single values cannot hold (arrays, complex numbers, ...) are left out and listed with
//! the reason ([`Table::skipped`]).
//!
//! Suggested reading order of the modules: `table` and `column` (what a table is), `missing` (when
//! a value counts as missing), `file` (files and gzip), `folder` (partitions as one table), `destination` (atomic writing), `files`
//! (what must not be overwritten), then one module per format.
//!
//! ```
//! use goc_tables::{Column, Data, Format, Table};
//! let table = Table::new(vec![
//!     Column::new("id", Data::I64(vec![1, 2])),
//!     Column::new("name", Data::Text(vec!["Fimbulthul, outer".into(), "".into()])),
//! ])?;
//! let bytes = goc_tables::to_bytes(&table, Format::Csv)?;
//! assert_eq!(String::from_utf8_lossy(&bytes), "id,name\n1,\"Fimbulthul, outer\"\n2,\"\"\n");
//! assert_eq!(goc_tables::from_bytes(&bytes, Format::Csv)?, table);
//! # Ok::<(), goc_tables::TableError>(())
//! ```

#[macro_use]
mod column;
mod csv;
mod destination;
mod ecsv;
mod error;
mod file;
mod files;
mod fits;
mod folder;
mod format;
mod gather;
mod missing;
mod parquet;
mod table;
mod ucd;
mod votable;
mod which;
mod yaml;

pub use column::{Column, Data};
pub use destination::{abandon_writing, abandon_writing_at_once};
pub use error::{Place, TableError, near_names};
pub use file::{
    check_can_hold, check_can_hold_as, from_bytes, from_bytes_which, read, read_for, read_which, to_bytes,
    write, write_as, write_bytes, write_text,
};
pub use files::{Existing, Files};
pub use folder::partitions;
pub use format::Format;
pub use missing::Missing;
pub use parquet::{Pieces, write_pieces};
pub use table::{Skipped, Table};
pub use which::{Pick, Which};
