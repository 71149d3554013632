//! What goes into a file comes out of it; what a format cannot hold is known.

mod common;

use common::{assert_same, every_type};
use goc_tables::{Column, Data, Format, Table, TableError, from_bytes, read, to_bytes, write};
use proptest::prelude::*;

const ALL: [Format; 6] =
    [Format::Csv, Format::Tsv, Format::Ecsv, Format::Parquet, Format::Fits, Format::VoTable];

fn there_and_back(table: &Table, format: Format) -> Table {
    from_bytes(&to_bytes(table, format).unwrap(), format).unwrap()
}

#[test]
fn ecsv_parquet_and_votable_keep_everything() {
    let table = every_type(false);
    for format in [Format::Ecsv, Format::Parquet, Format::VoTable] {
        assert_same(&there_and_back(&table, format), &table);
    }
}

#[test]
fn fits_keeps_everything_ascii() {
    let table = every_type(true);
    assert_same(&there_and_back(&table, Format::Fits), &table);
}

#[test]
fn fits_turns_null_floats_into_nan_and_null_texts_into_empty_ones() {
    let mask = vec![true, false];
    let table = Table::new(vec![
        Column::new("x", Data::F64(vec![1.0, 2.0])).with_valid(mask.clone()).unwrap(),
        Column::new("t", Data::Text(vec!["a".into(), "b".into()])).with_valid(mask).unwrap(),
        Column::new("blanks", Data::Text(vec!["a  ".into(), "  b".into()])),
    ])
    .unwrap();
    let back = there_and_back(&table, Format::Fits);
    assert!(back.columns().iter().all(|column| column.valid().is_none()));
    assert_eq!(back.columns()[0].texts(), ["1.0", "NaN"]);
    assert_eq!(back.columns()[1].texts(), ["a", ""]);
    assert_eq!(back.columns()[2].texts(), ["a", "  b"], "trailing blanks are padding in FITS");
}

#[test]
fn fits_refuses_text_that_is_not_ascii_by_row_and_column() {
    let table = Table::new(vec![Column::new("t", Data::Text(vec!["a".into(), "é".into()]))]).unwrap();
    let error = to_bytes(&table, Format::Fits).unwrap_err().to_string();
    assert!(error.contains("row 2, column `t`: \"é\" is not printable ASCII"), "{error}");
    let table = Table::new(vec![Column::new("é", Data::U8(vec![]))]).unwrap();
    assert!(matches!(to_bytes(&table, Format::Fits), Err(TableError::CannotHold { .. })));
}

#[test]
fn fits_says_so_when_no_byte_is_left_for_null() {
    let mut valid = vec![true; 257];
    valid[256] = false;
    let bytes = (0..=255).chain([0]).collect();
    let table = Table::new(vec![Column::new("b", Data::U8(bytes)).with_valid(valid).unwrap()]).unwrap();
    assert!(matches!(to_bytes(&table, Format::Fits), Err(TableError::CannotHold { .. })));
}

#[test]
fn csv_keeps_values_nulls_and_order_but_widens_types_and_drops_notes() {
    let table = every_type(false);
    for format in [Format::Csv, Format::Tsv] {
        let back = there_and_back(&table, format);
        assert_eq!(back.names(), table.names());
        assert!(back.metadata().is_empty());
        for (found, column) in back.columns().iter().zip(table.columns()) {
            let widened = match column.kind() {
                "uint8" | "int16" | "int32" => "int64",
                "float32" => "float64",
                other => other,
            };
            assert_eq!(found.kind(), widened, "{}", column.name());
            assert_eq!(found.valid(), column.valid(), "{}", column.name());
            if column.kind() != "float32" {
                assert_eq!(found.texts(), column.texts(), "{}", column.name());
            } else {
                // The same shortest digits, now of an f64: read as f32 they are the same number.
                let singles: Vec<f32> = found.texts().iter().map(|t| t.parse().unwrap()).collect();
                assert_eq!(
                    Column::new("single", Data::F32(singles)).texts(),
                    column.texts(),
                    "{}",
                    column.name()
                );
            }
        }
    }
}

#[test]
fn tables_without_rows_keep_their_columns() {
    let empty = Table::new(vec![
        Column::new("x", Data::F64(vec![])).with_unit("kpc"),
        Column::new("t", Data::Text(vec![])),
    ])
    .unwrap();
    for format in [Format::Ecsv, Format::Parquet, Format::Fits, Format::VoTable] {
        assert_same(&there_and_back(&empty, format), &empty);
    }
    assert_eq!(there_and_back(&empty, Format::Csv).names(), ["x", "t"]);
}

#[test]
fn one_column_of_nulls_keeps_its_rows() {
    let mask = vec![false, true, false];
    let numbers = Column::new("n", Data::I64(vec![1, 2, 3])).with_valid(mask.clone()).unwrap();
    let texts = ["", "b", ""].map(String::from).into();
    let texts = Column::new("t", Data::Text(texts)).with_valid(mask).unwrap();
    for column in [numbers, texts] {
        let table = Table::new(vec![column]).unwrap();
        for format in ALL {
            if format == Format::Fits && table.names() == ["t"] {
                continue; // FITS has no null texts: tested above
            }
            assert_same(&there_and_back(&table, format), &table);
        }
    }
}

#[test]
fn the_same_table_gives_the_same_bytes() {
    let table = every_type(true);
    for format in ALL {
        assert_eq!(to_bytes(&table, format).unwrap(), to_bytes(&table.clone(), format).unwrap());
    }
}

#[test]
fn files_are_written_whole_under_their_name_and_leave_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let table = every_type(true);
    let endings = [
        "csv", "csv.gz", "tsv", "ecsv", "ecsv.gz", "parquet", "pq", "fits", "fit", "fits.gz", "vot",
        "votable", "xml", "vot.gz",
    ];
    for ending in endings {
        let path = folder.path().join(format!("t.{ending}"));
        write(&table, &path).unwrap();
        let first = std::fs::read(&path).unwrap();
        write(&table, &path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), first, "{ending}: the same bytes again");
        let back = read(&path).unwrap();
        assert_eq!(back.names(), table.names(), "{ending}");
        assert_eq!(back.source(), Some(path.as_path()));
    }
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, endings.len());
}

#[test]
fn a_failed_write_leaves_the_old_file_and_no_temporary() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.fits");
    std::fs::write(&path, "old").unwrap();
    let table = Table::new(vec![Column::new("t", Data::Text(vec!["é".into()]))]).unwrap();
    assert!(write(&table, &path).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = read("no/such.fits".as_ref()).unwrap_err().to_string();
    assert!(error.starts_with("no/such.fits: cannot read: "), "{error}");
}

fn any_column(rows: usize) -> impl Strategy<Value = (Data, Vec<bool>)> {
    let vec = |n| prop::collection::vec(any::<bool>(), n);
    let data = prop_oneof![
        prop::collection::vec(any::<bool>(), rows).prop_map(Data::Bool),
        prop::collection::vec(any::<u8>(), rows).prop_map(Data::U8),
        prop::collection::vec(any::<i16>(), rows).prop_map(Data::I16),
        prop::collection::vec(any::<i32>(), rows).prop_map(Data::I32),
        prop::collection::vec(any::<i64>(), rows).prop_map(Data::I64),
        prop::collection::vec(any::<u32>().prop_map(f32::from_bits), rows).prop_map(Data::F32),
        prop::collection::vec(any::<u64>().prop_map(f64::from_bits), rows).prop_map(Data::F64),
        prop::collection::vec("[^\\x00]{0,12}", rows).prop_map(Data::Text),
    ];
    (data, vec(rows))
}

fn any_table() -> impl Strategy<Value = Table> {
    (0usize..7).prop_flat_map(|rows| prop::collection::vec(any_column(rows), 2..6)).prop_map(|columns| {
        let named = columns.into_iter().enumerate().map(|(at, (data, valid))| {
            Column::new(format!("c{at}"), data).with_unit("km/s").with_valid(valid).unwrap()
        });
        Table::new(named.collect()).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_table_survives_ecsv_parquet_and_votable(table in any_table()) {
        for format in [Format::Ecsv, Format::Parquet, Format::VoTable] {
            assert_same(&there_and_back(&table, format), &table);
        }
    }

    #[test]
    fn any_metadata_survives(key in "[^\\x00-\\x1f\u{fffe}\u{ffff}]{1,30}", value in "[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\u{fffe}\u{ffff}]{0,90}") {
        let mut table = Table::new(vec![Column::new("a", Data::U8(vec![1])), Column::new("b", Data::U8(vec![1]))]).unwrap();
        table.set_metadata(&key, &value);
        for format in [Format::Ecsv, Format::Parquet, Format::VoTable, Format::Fits] {
            let back = there_and_back(&table, format);
            prop_assert_eq!(back.metadata(), table.metadata(), "{:?}", format);
        }
    }

    #[test]
    fn any_text_column_survives_csv(texts in prop::collection::vec("[a-z\",\n\r# é;\t]{0,8}x", 1..5)) {
        let table = Table::new(vec![Column::new("t", Data::Text(texts.clone())), Column::new("u", Data::Text(texts))]).unwrap();
        for format in [Format::Csv, Format::Tsv] {
            assert_same(&there_and_back(&table, format), &table);
        }
    }
}
