//! Comma- and tab-separated values.
//!
//! The file does not state types, so they are inferred from the whole column ([`infer`]);
//! everything else is RFC 4180 with `#` comment lines:
//!
//! - the first line that is neither blank nor a comment holds the column names;
//! - a field may be quoted (`"`, doubled inside) and may then contain commas and line ends;
//! - an empty field is null, and so is a bare `null` (the Gaia archive writes it); a quoted empty
//!   field is an empty string in a text column and null in any other;
//! - a row with more or fewer fields than the header is an error;
//! - comments before the header that look like `# key: value` become metadata.
//!
//! Written CSV has no comments, so every program can read it. Units, descriptions and metadata need
//! one of the other formats.

mod infer;
mod read;
pub(crate) mod tokens;
mod write;

pub(crate) use read::{explain, read};
pub(crate) use write::{Manner, write, write_rows};
