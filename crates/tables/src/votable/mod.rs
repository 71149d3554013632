//! VOTable 1.1 to 1.5, the Virtual Observatory's XML.
//!
//! The first table is read, or the named one; its data may be text (`TABLEDATA`), `BINARY` or
//! `BINARY2`. Tables are written as `BINARY2`: only it has a null flag for every value and keeps
//! every bit of a float.
//!
//! | column | becomes |
//! |---|---|
//! | `boolean` `bit` `unsignedByte` `short` `int` `long` `float` `double` `char` `unicodeChar` | bool, bool, uint8, int16, int32, int64, float32, float64, string, string |
//! | arrays, complex numbers | left out, with the reason |
//!
//! Null is an empty cell, `null` in a column that is not text, the `null` of the field's `VALUES`,
//! or a flag of `BINARY2`. Without flags, an empty string cannot be distinguished from a null and
//! counts as one. Metadata are `PARAM` and `INFO` (written as `PARAM`), as well as a table's name
//! and description. XML folds line ends and indentation in descriptions to single blanks.
//!
//! The parts: `field` (what a column is), `binary` (rows of bytes), `read` (the XML), `write`.

mod binary;
mod field;
mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;
