//! What the integration tests share.

use std::path::PathBuf;

/// A file of the shared data, by `GOC_DATA` or beside the repository; `None` when the data are absent, which
/// is said aloud, and is a failure under `CI=true`.
#[allow(dead_code)] // each test file is its own crate and not all need data
pub fn shared(file: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var_os("GOC_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let path = folder.join(file);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{} is missing under CI", path.display());
    eprintln!("SKIPPED: {} is absent; set GOC_DATA to the shared data", path.display());
    None
}

use goc_tables::{Column, Data, Table};

/// Every type, nulls, a unit, descriptions, metadata and the values that formats get wrong.
/// `ascii` keeps to what FITS can hold.
#[allow(dead_code)]
pub fn every_type(ascii: bool) -> Table {
    let texts = if ascii {
        ["plain", "with, comma", "\"quoted\"", "# no comment", "it's 100% a=b&"]
    } else {
        ["Größe", "with, comma\nand line", "\"quoted\"\t", "# no comment ", "\u{1F30C} <&>; null"]
    };
    let valid = || vec![true, true, false, true, true, true];
    let with_null = |column: Column| column.with_valid(valid()).unwrap();
    let mut text: Vec<String> = texts.map(String::from).into();
    text.push(String::new());
    let (unit, key) = if ascii { ("0.1nm", "A long key") } else { ("\u{212B}", "Schlüssel: =") };
    let mut table = Table::new(vec![
        with_null(Column::new("truth", Data::Bool(vec![true, false, false, true, false, true]))),
        with_null(Column::new("byte", Data::U8(vec![0, 255, 7, 254, 1, 2]))),
        with_null(Column::new("short", Data::I16(vec![i16::MIN, i16::MAX, 0, -1, 0, 1]))),
        with_null(Column::new("int", Data::I32(vec![i32::MIN, i32::MAX, 0, -1, 0, 1]))).with_unit("mas/yr"),
        with_null(Column::new("long", Data::I64(vec![i64::MIN, i64::MAX, 0, -1, 0, 1 << 53 | 1]))),
        Column::new("id", Data::I64(vec![1, 2, 3, 4, 5, 6347331261819205248]))
            .with_description("Gaia's \"id\""),
        Column::new(
            "single",
            Data::F32(vec![0.1, -0.0, f32::MIN_POSITIVE / 2.0, f32::MAX, f32::INFINITY, f32::NAN]),
        ),
        Column::new("double", Data::F64(vec![0.1, -0.0, 5e-324, f64::MAX, f64::NEG_INFINITY, f64::NAN]))
            .with_unit(unit)
            .with_description(
                "one fifth of what is, said long enough to need a second line: ".repeat(4).trim(),
            ),
        Column::new("text", Data::Text(text)),
    ])
    .unwrap();
    if !ascii {
        let doubles = Data::F64(vec![1.0, f64::NAN, 9.0, 2.0, -0.0, 3.0]);
        table
            .push(with_null(Column::new("Ω", doubles).with_description("größer\nals <1> & \"so\"")))
            .unwrap();
        let texts = ["a", "", "x", "c", "null", "true"].map(String::from);
        table.push(with_null(Column::new("note", Data::Text(texts.into())))).unwrap();
    }
    table.set_metadata("SEED", "42");
    table.set_metadata("method", "greedy 'optimistic', K=50");
    table.set_metadata(key, "x".repeat(300));
    if !ascii {
        table.set_metadata("lines", "one\ntwo # three: \"four\"\\");
        table.set_metadata("empty", "");
    }
    table
}

/// Equality to the bit, NaN equal to NaN.
#[allow(dead_code)]
pub fn assert_same(found: &Table, expected: &Table) {
    assert_eq!(found.names(), expected.names());
    assert_eq!(found.rows(), expected.rows());
    for (a, b) in found.columns().iter().zip(expected.columns()) {
        let name = b.name();
        assert_eq!(a.kind(), b.kind(), "{name}");
        assert_eq!(a.unit(), b.unit(), "{name}");
        assert_eq!(a.description(), b.description(), "{name}");
        assert_eq!(a.valid(), b.valid(), "{name}");
        // The texts have every bit of a float but the NaN's, and an integer entire.
        assert_eq!(a.texts(), b.texts(), "{name}");
    }
    assert_eq!(found.metadata(), expected.metadata());
}
