//! Files that are cut off or damaged: always an error or the right table, never a panic, never half a table.

mod common;

use common::every_type;
use goc_tables::{Column, Data, Format, Table, TableError, from_bytes, read, to_bytes, write};
use proptest::prelude::*;

const BINARY: [Format; 3] = [Format::Parquet, Format::Fits, Format::VoTable];

#[test]
fn cut_at_any_byte_a_parquet_fits_or_votable_file_is_an_error() {
    let table = every_type(true);
    for format in BINARY {
        let bytes = to_bytes(&table, format).unwrap();
        // After `</VOTABLE>` only a line end follows, which a whole file may lack.
        let whole = bytes.len() - usize::from(format == Format::VoTable);
        for length in 0..whole {
            let error = from_bytes(&bytes[..length], format).unwrap_err();
            assert!(
                matches!(error, TableError::CutOff { .. } | TableError::Malformed { .. }),
                "{format:?} cut at {length}: {error}"
            );
        }
        assert!(from_bytes(&bytes[..whole], format).is_ok());
    }
}

/// A text file cut at the end of a row is a shorter file like any other, and a last value may lose
/// digits unseen: no format without a length or a closing mark can tell. All else is an error.
#[test]
fn cut_at_any_byte_a_csv_or_ecsv_file_is_an_error_or_ends_with_a_whole_row() {
    let table = every_type(true);
    let columns = table.columns().len();
    for format in [Format::Csv, Format::Ecsv] {
        let bytes = to_bytes(&table, format).unwrap();
        for length in 0..bytes.len() {
            if let Ok(found) = from_bytes(&bytes[..length], format) {
                // In what is left every line has all its commas.
                let rows = bytes[..length].split(|&b| b == b'\n').filter(|l| !l.is_empty() && l[0] != b'#');
                assert_eq!(found.rows(), rows.count() - 1, "{format:?} cut at {length}");
                assert!(found.columns().len() <= columns);
            }
        }
    }
}

#[test]
fn a_gzip_file_cut_at_any_byte_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["csv.gz", "ecsv.gz", "fits.gz", "vot.gz"] {
        let path = folder.path().join(format!("t.{ending}"));
        write(&every_type(true), &path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for length in 0..bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.starts_with(&path.display().to_string()), "{error}");
        }
    }
}

#[test]
fn a_cut_fits_file_says_how_many_rows_are_there() {
    let table = Table::new(vec![Column::new("x", Data::F64(vec![1.0; 1000]))]).unwrap();
    let bytes = to_bytes(&table, Format::Fits).unwrap();
    let error = from_bytes(&bytes[..2 * 2880 + 4004], Format::Fits).unwrap_err().to_string();
    assert_eq!(
        error,
        "the file is cut off: it holds 500 of 1000 rows, 3996 bytes of rows are missing; fetch or write it again"
    );
}

#[test]
fn csv_errors_name_line_row_and_column() {
    let error = |text: &str| from_bytes(text.as_bytes(), Format::Csv).unwrap_err().to_string();
    assert_eq!(error(""), "the file is empty; its first line must name the columns");
    assert_eq!(error("# only\n\n"), "the file is empty; its first line must name the columns");
    assert_eq!(error("a,b\n1,2\n3\n"), "row 2 (line 3): 1 fields, but the header names 2 columns");
    assert_eq!(error("a,b\n\n1,2,3\n"), "row 1 (line 3): 3 fields, but the header names 2 columns");
    assert_eq!(error("a,a\n"), "line 1, column `a`: the name occurs twice; rename one of the two");
    assert_eq!(error("a,\n"), "line 1: column 2 has no name; name it in the header");
    assert_eq!(
        error("a,b\n1,\"x\n"),
        "line 2: the file is cut off: a quote is opened and never closed; fetch or write it again"
    );
    assert_eq!(
        error("a\n\"x\"y\n"),
        "line 2: text follows a closing quote; double the quotes inside a quoted field"
    );
    let latin = from_bytes(b"a,b\n1,\xe9\n", Format::Csv).unwrap_err().to_string();
    assert_eq!(latin, "row 1 (line 2), column `b`: \"\u{fffd}\" is not UTF-8; convert the file");
}

#[test]
fn a_text_among_numbers_is_named_with_file_line_and_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stars.csv");
    std::fs::write(&path, "# c\nid,x\n1,0.5\n2,oops\n").unwrap();
    let table = read(&path).unwrap();
    assert_eq!(
        table.require("x").unwrap().numbers().unwrap_err().to_string(),
        format!("{}: row 2 (line 4), column `x`: \"oops\" is not a number", path.display())
    );
}

#[test]
fn ecsv_errors_name_line_row_column_and_value() {
    let good = "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: a, datatype: int16}\n# - {name: b, datatype: float64}\na b\n";
    let error = |text: String| from_bytes(text.as_bytes(), Format::Ecsv).unwrap_err().to_string();
    assert_eq!(
        error(format!("{good}1 2\n40000 1\n")),
        "row 2 (line 8), column `a`: 40000 is not an integer of the column's type"
    );
    assert!(error(good.replace("a b", "a c")).contains("named a, c, but the YAML header describes a, b"));
    assert!(error(good.replace("%ECSV", "%CSV")).contains("not an ECSV file"));
    assert!(error(good.replace("# datatype:", "# datatype: [")).contains("line"));
    let skipped = good.replace("float64", "complex128");
    let table = from_bytes(skipped.as_bytes(), Format::Ecsv).unwrap();
    assert!(table.require("b").unwrap_err().to_string().contains("complex128"));
}

#[test]
fn votable_errors_name_row_column_and_value() {
    let good = "<?xml version='1.0'?>\n<VOTABLE><RESOURCE><TABLE nrows='1'><FIELD name='a' datatype='int'/><DATA><TABLEDATA>\n<TR><TD>1</TD></TR>\n</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>";
    assert_eq!(from_bytes(good.as_bytes(), Format::VoTable).unwrap().rows(), 1);
    let error = |from: &str, to: &str| {
        assert!(good.contains(from));
        from_bytes(good.replace(from, to).as_bytes(), Format::VoTable).unwrap_err().to_string()
    };
    assert_eq!(error("<TD>1<", "<TD>x<"), "row 1, column `a`: \"x\" is not an integer of the column's type");
    assert_eq!(error("<TD>1</TD>", ""), "row 1: 0 cells, but there are 1 fields");
    assert_eq!(error("nrows='1'", "nrows='2'"), "nrows is 2, but there are 1 rows");
    assert!(error("'int'", "'integer'").contains("column `a`: its datatype is `integer`"));
    assert!(error("</VOTABLE>", "").contains("cut off"));
    assert!(error("VOTABLE", "HTML").contains("not a VOTable: the root element is HTML"));
}

#[test]
fn files_of_another_kind_are_refused_by_name_of_the_kind() {
    for (format, said) in [
        (Format::Fits, "not a FITS file"),
        (Format::Parquet, "not a Parquet file"),
        (Format::Ecsv, "not an ECSV file"),
        (Format::VoTable, "VOT"),
    ] {
        let error = from_bytes(b"a,b\n1,2\n3,4\n", format).unwrap_err().to_string();
        assert!(error.contains(said), "{format:?}: {error}");
    }
}

/// Exhaustive where the proptest below is random. Some of these make the Parquet decoder panic
/// inside its fence.
#[test]
fn any_single_byte_may_be_wrong() {
    let files: [(&[u8], Format); 4] = [
        (include_bytes!("golden/snappy.parquet"), Format::Parquet),
        (include_bytes!("golden/odd.fits"), Format::Fits),
        (include_bytes!("golden/tabledata.vot"), Format::VoTable),
        (include_bytes!("golden/space.ecsv"), Format::Ecsv),
    ];
    for (bytes, format) in files {
        let rows = from_bytes(bytes, format).unwrap().rows();
        let mut damaged = bytes.to_vec();
        for at in 0..bytes.len() {
            for value in [0x00, 0xff, bytes[at] ^ 0x01] {
                damaged[at] = value;
                if let Ok(table) = from_bytes(&damaged, format) {
                    assert!(table.columns().iter().all(|column| column.len() == table.rows()));
                    // Parquet says more than once how many rows there are.
                    assert!(format != Format::Parquet || table.rows() == rows, "byte {at}: {table:?}");
                }
            }
            damaged[at] = bytes[at];
        }
    }
}

/// Flips, inserts and removes bytes.
fn damage(bytes: &[u8], hits: &[(prop::sample::Index, u8, u8)]) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    for (at, value, how) in hits {
        if damaged.is_empty() {
            break;
        }
        let at = at.index(damaged.len());
        match how % 4 {
            0 => damaged.insert(at, *value),
            1 => {
                damaged.remove(at);
            }
            _ => damaged[at] = *value,
        }
    }
    damaged
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_damaged_file_never_panics(
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<u8>()), 1..6),
        which in 0usize..6,
    ) {
        let formats = [Format::Csv, Format::Tsv, Format::Ecsv, Format::Parquet, Format::Fits, Format::VoTable];
        let format = formats[which];
        let bytes = to_bytes(&every_type(format == Format::Fits), format).unwrap();
        // Whatever comes out of it, it comes out in order, and the columns are of one length.
        if let Ok(table) = from_bytes(&damage(&bytes, &hits), format) {
            prop_assert!(table.columns().iter().all(|column| column.len() == table.rows()));
            for column in table.columns() {
                let _ = (column.numbers(), column.integers(), column.texts());
            }
        }
    }

    #[test]
    fn noise_is_never_a_panic(noise in prop::collection::vec(any::<u8>(), 0..600), which in 0usize..6) {
        let formats = [Format::Csv, Format::Tsv, Format::Ecsv, Format::Parquet, Format::Fits, Format::VoTable];
        let _ = from_bytes(&noise, formats[which]);
    }
}
