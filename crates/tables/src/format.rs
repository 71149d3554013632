//! The format of a file, from its extension, or of a stream, from its first bytes.

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
    /// The extensions, for messages.
    pub const ENDINGS: &'static str = ".csv, .tsv, .ecsv, .parquet, .pq, .fits, .fit, .vot, .votable or .xml (all but Parquet also with .gz)";

    /// All formats with their names.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Csv, "csv"),
        (Self::Tsv, "tsv"),
        (Self::Ecsv, "ecsv"),
        (Self::Parquet, "parquet"),
        (Self::Fits, "fits"),
        (Self::VoTable, "votable"),
    ];

    /// The requested format, or the one that the name implies, and whether it is compressed with
    /// gzip.
    pub fn asked(path: &Path, format: Option<Self>) -> Result<(Self, bool)> {
        let Some(format) = format else { return Self::of(path) };
        let gzip = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
        if gzip && format == Self::Parquet {
            return Err(TableError::UnknownFormat { file: path.to_path_buf() });
        }
        Ok((format, gzip))
    }

    /// The format of a table from its first bytes, for a table without a file name.
    ///
    /// CSV and TSV are distinguished by the header line: in TSV it has tabs and no comma.
    ///
    /// ```
    /// use goc_tables::Format;
    /// assert_eq!(Format::of_content(b"# stars\nx\ty\n1\t2\n"), Format::Tsv);
    /// assert_eq!(Format::of_content(b"x,y\n1,2\n"), Format::Csv);
    /// ```
    pub fn of_content(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        match bytes {
            [b'S', b'I', b'M', b'P', b'L', b'E', ..] => return Self::Fits,
            [b'P', b'A', b'R', b'1', ..] => return Self::Parquet,
            [b'#', b' ', b'%', b'E', b'C', b'S', b'V', ..] => return Self::Ecsv,
            _ => {}
        }
        let mut lines = bytes.split(|&byte| byte == b'\n' || byte == b'\r').map(<[u8]>::trim_ascii_start);
        match lines.find(|line| !line.is_empty() && !line.starts_with(b"#")) {
            Some(header) if header.starts_with(b"<") => Self::VoTable,
            Some(header) if header.contains(&b'\t') && !header.contains(&b',') => Self::Tsv,
            _ => Self::Csv,
        }
    }

    /// The format of a file from its name, and whether it is compressed with gzip.
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
    fn the_first_bytes_tell_the_format_of_what_is_written() {
        use crate::{Column, Data, Table};
        let columns = [("a", vec![1.5]), ("b", vec![2.5])];
        let table =
            Table::new(columns.map(|(name, values)| Column::new(name, Data::F64(values))).into()).unwrap();
        for (format, word) in Format::ALL {
            let bytes = crate::to_bytes(&table, format).unwrap();
            assert_eq!(Format::of_content(&bytes), format, "{word}");
        }
        assert_eq!(Format::of_content(b"\xEF\xBB\xBF\n# <a>\n <?xml version='1.0'?>"), Format::VoTable);
        assert_eq!(Format::of_content(b""), Format::Csv);
        assert_eq!(Format::of_content(b"a, b\tc\n"), Format::Csv);
    }

    #[test]
    fn an_unknown_ending_lists_the_known_ones() {
        for name in ["stars", "stars.hdf5", "stars.parquet.gz", ".gz", "csv"] {
            let error = Format::of(name.as_ref()).unwrap_err().to_string();
            assert!(error.starts_with(name) && error.contains(".parquet"), "{error}");
        }
    }
}
