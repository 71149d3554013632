//! Enhanced CSV 1.0, astropy's text format: a YAML header in comment lines, then CSV.
//!
//! Types, units, descriptions and metadata are kept. Metadata is text: a number or a list another program
//! put there is read as the text of it.
//!
//! Null is an empty field. In a file separated by commas, as written here, `""` in a text column is an empty
//! text; astropy reads both as masked. In a file separated by blanks, and in a file of one column, a null can
//! only be written `""`, so there it is null.
//!
//! astropy marks masked columns in some files by a second column `x.mask`; it is folded into `x`.

pub(crate) mod header;
mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;
