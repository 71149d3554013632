//! Apache Parquet, via Arrow.
//!
//! | column | becomes |
//! |---|---|
//! | bool, uint8, int16, int32, int64, float, double, string (any kind, also dictionaries) | the same |
//! | int8, uint16, uint32, uint64, half | the next wider type; uint64 beyond int64: string |
//! | lists, structs, dates and times, decimals, raw bytes | left out, with the reason, or carried to another Parquet file (`carried`) |
//!
//! Nulls are kept for every type. Units and descriptions are the fields' metadata `unit` and
//! `description`; the table's metadata are the file's key-value pairs. For astropy the same is also
//! written as `table_meta_yaml`, and read from there. (astropy 8 itself does not support Parquet
//! nulls: it reads a null integer as a float NaN and a null string as `None`. pyarrow and pandas
//! support them.)
//!
//! The decoder belongs to another crate and panics on some damaged files, so reading is fenced (`fence`): a
//! panic becomes an error.

mod carried;
mod fence;
mod pages;
mod read;
mod stream;
mod write;

pub(crate) use carried::Carried;
pub(crate) use read::read;
pub use stream::{Pieces, write_pieces};
pub(crate) use write::{check, write};

#[cfg(test)]
mod tests;

/// The key of astropy's description of a table.
const ASTROPY: &str = "table_meta_yaml";
/// The prefix, before the column's name, of astropy's key for the length of a text column.
const ASTROPY_LENGTH: &str = "table::len::";

/// The error that the system has too little memory for the Parquet crates.
fn no_memory(file: &std::path::Path, doing: &'static str) -> crate::TableError {
    let source = std::io::ErrorKind::OutOfMemory.into();
    crate::TableError::Io { file: file.to_path_buf(), doing, source }
}

/// Keys that describe the storage, not the table: Arrow's schema, pandas' index, astropy's notes.
fn about_storage(key: &str) -> bool {
    key == "ARROW:schema" || key == "pandas" || key == ASTROPY || key.starts_with(ASTROPY_LENGTH)
}
