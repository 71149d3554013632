//! Which format a file has: its name's ending says.

use std::path::Path;

use crate::error::{Result, TableError};

/// The formats of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Comma-separated values: `.csv`.
    Csv,
    /// Tab-separated values: `.tsv`.
    Tsv,
    /// Enhanced CSV 1.0: `.ecsv`.
    Ecsv,
    /// Apache Parquet: `.parquet`, `.pq`.
    Parquet,
    /// FITS binary table: `.fits`, `.fit`.
    Fits,
    /// Virtual Observatory table: `.vot`, `.votable`, `.xml`.
    VoTable,
}

impl Format {
    /// The endings, for messages.
    pub const ENDINGS: &'static str = ".csv, .tsv, .ecsv, .parquet, .pq, .fits, .fit, .vot, .votable or .xml (all but Parquet also with .gz)";

    /// All of them with the word that names each.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Csv, "csv"),
        (Self::Tsv, "tsv"),
        (Self::Ecsv, "ecsv"),
        (Self::Parquet, "parquet"),
        (Self::Fits, "fits"),
        (Self::VoTable, "votable"),
    ];

    /// The format that was asked for, or that the name says, and whether it is compressed with gzip.
    pub fn asked(path: &Path, format: Option<Self>) -> Result<(Self, bool)> {
        let Some(format) = format else { return Self::of(path) };
        let gzip = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
        if gzip && format == Self::Parquet {
            return Err(TableError::UnknownFormat { file: path.to_path_buf() });
        }
        Ok((format, gzip))
    }

    /// The format of a file by its name, and whether it is compressed with gzip.
    ///
    /// ```
    /// use goc_tables::Format;
    /// assert_eq!(Format::of("stars.csv.gz".as_ref())?, (Format::Csv, true));
    /// assert_eq!(Format::of("STARS.FITS".as_ref())?, (Format::Fits, false));
    /// # Ok::<(), goc_tables::TableError>(())
    /// ```
    pub fn of(path: &Path) -> Result<(Self, bool)> {
        let unknown = || TableError::UnknownFormat { file: path.to_path_buf() };
        let name = path.file_name().ok_or_else(unknown)?.to_string_lossy().to_lowercase();
        let (stem, gzip) = name.strip_suffix(".gz").map_or((name.as_str(), false), |stem| (stem, true));
        let (_, ending) = stem.rsplit_once('.').ok_or_else(unknown)?;
        let format = match ending {
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            "ecsv" => Self::Ecsv,
            "parquet" | "pq" if !gzip => Self::Parquet,
            "fits" | "fit" => Self::Fits,
            "vot" | "votable" | "xml" => Self::VoTable,
            _ => return Err(unknown()),
        };
        Ok((format, gzip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_ending_lists_the_known_ones() {
        for name in ["stars", "stars.hdf5", "stars.parquet.gz", ".gz", "csv"] {
            let error = Format::of(name.as_ref()).unwrap_err().to_string();
            assert!(error.starts_with(name) && error.contains(".parquet"), "{error}");
        }
    }
}
