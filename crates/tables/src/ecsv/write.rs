//! Writing ECSV, separated by commas.

use std::io::Write;
use std::path::Path;

use super::header;
use crate::error::{Place, Result};
use crate::file::write_failed;
use crate::{Table, csv};

/// Writes the YAML header and the rows.
pub(crate) fn write(table: &Table, out: &mut dyn Write, path: &Path) -> Result<()> {
    if table.columns().is_empty() {
        return Err(Place::file(path).cannot_hold("a table without columns has no header to write"));
    }
    let mut text = String::from("# %ECSV 1.0\n# ---\n");
    for line in header::lines(table, Some(',')) {
        text.push_str("# ");
        text.push_str(&line);
        text.push('\n');
    }
    out.write_all(text.as_bytes()).map_err(write_failed(path))?;
    // astropy needs Python's spelling of booleans, and `""` for a null alone in its row.
    let manner = csv::Manner { delimiter: b',', null_alone: "\"\"", truth: ["False", "True"] };
    csv::write_rows(table, out, &manner).map_err(write_failed(path))
}
