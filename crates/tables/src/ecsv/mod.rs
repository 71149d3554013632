//! Enhanced CSV 1.0, astropy's text format: a YAML header in comment lines, then CSV.
//!
//! Types, units, descriptions and metadata are kept. Metadata is text: a number or a list written
//! by another program is read as its text.
//!
//! Null is an empty field. In a comma-separated file, as written here, `""` in a text column is an
//! empty string; astropy reads both as masked. In a file separated by blanks, or with one column, a
//! null can only be written as `""`, so there it is null.
//!
//! astropy marks masked columns in some files by a second column `x.mask`; it is folded into `x`.

pub(crate) mod header;
mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;
