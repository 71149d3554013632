//! Files that astropy and pyarrow wrote (`golden/make.py`, astropy 8.0.2, pyarrow 26.0.1): the values in
//! the tests are those of the script.

use goc_tables::{Data, Format, Table, from_bytes};

macro_rules! golden {
    ($name:literal) => {
        include_bytes!(concat!("golden/", $name)).as_slice()
    };
}

fn texts(table: &Table, name: &str) -> Vec<String> {
    table.require(name).unwrap().texts()
}

fn nulls(table: &Table, name: &str) -> Vec<bool> {
    let column = table.require(name).unwrap();
    (0..column.len()).map(|row| column.is_null(row)).collect()
}

const NONE: [bool; 3] = [false, false, false];
const SECOND: [bool; 3] = [false, true, false];
const THIRD: [bool; 3] = [false, false, true];

/// The columns that every format holds alike.
fn check_common(table: &Table) {
    assert_eq!(table.names(), ["b", "i", "n", "f", "d", "s"]);
    assert!(table.skipped().is_empty());
    let kinds: Vec<&str> = table.columns().iter().map(|column| column.kind()).collect();
    assert_eq!(kinds, ["bool", "int16", "int64", "float32", "float64", "string"]);
    assert_eq!(texts(table, "n"), ["9007199254740993", "-9223372036854775808", "9223372036854775807"]);
    assert_eq!(texts(table, "f"), ["0.1", "-0.0", "1e-40"]);
    assert_eq!(texts(table, "b")[..2], ["true", "false"]);
    assert_eq!(texts(table, "d")[..2], ["0.1", "NaN"]);
    assert_eq!(texts(table, "s")[..2], ["a b", "c"]);
    assert_eq!(nulls(table, "n"), NONE);
    assert_eq!(nulls(table, "f"), NONE);
}

fn check_notes(table: &Table) {
    assert_eq!(table.require("i").unwrap().unit(), Some("mag"));
    assert_eq!(table.require("i").unwrap().description(), Some("an \"integer\": yes"));
    assert_eq!(table.require("d").unwrap().description().map(str::trim), Some("long ".repeat(30).trim()));
}

fn check_metadata(table: &Table) {
    let long = "x".repeat(100);
    let expected = [("SEED", "42"), ("WHO", "it's: me"), ("LONG", long.as_str())];
    assert_eq!(table.metadata(), expected.map(|(key, value)| (key.to_string(), value.to_string())));
}

#[test]
fn lines_that_end_with_cr_alone_are_lines() {
    let table = goc_tables::from_bytes(b"a,b\r1,x\r2,y\r", goc_tables::Format::Csv).unwrap();
    assert_eq!((table.rows(), table.names()), (2, vec!["a", "b"]));
    assert_eq!(table.require("a").unwrap().place(1).line, Some(3));
}

#[test]
fn astropys_ecsv_in_its_three_manners() {
    for bytes in [golden!("space.ecsv"), golden!("comma.ecsv"), golden!("mask.ecsv")] {
        let table = from_bytes(bytes, Format::Ecsv).unwrap();
        check_common(&table);
        check_notes(&table);
        check_metadata(&table);
        assert_eq!(table.require("d").unwrap().unit(), Some("km / s"));
        for (name, expected) in [("b", THIRD), ("i", SECOND), ("d", THIRD), ("s", THIRD)] {
            assert_eq!(nulls(&table, name), expected, "{name}");
        }
    }
}

#[test]
fn astropys_parquet_with_masks_units_and_metadata() {
    let table = from_bytes(golden!("astropy.parquet"), Format::Parquet).unwrap();
    check_common(&table);
    check_notes(&table);
    check_metadata(&table);
    for (name, expected) in [("b", THIRD), ("i", SECOND), ("d", THIRD), ("s", THIRD)] {
        assert_eq!(nulls(&table, name), expected, "{name}");
    }
}

#[test]
fn astropys_fits_with_tnull_and_descriptions() {
    let table = from_bytes(golden!("astropy.fits"), Format::Fits).unwrap();
    check_common(&table);
    check_notes(&table);
    check_metadata(&table);
    assert_eq!(table.require("d").unwrap().unit(), Some("km s-1"));
    assert_eq!(nulls(&table, "i"), SECOND);
    // astropy itself writes a masked float as NaN and a masked text as an empty one.
    assert_eq!(texts(&table, "d")[2], "NaN");
    assert_eq!(texts(&table, "s")[2], "");
}

#[test]
fn astropys_votable_in_its_three_manners() {
    let table = from_bytes(golden!("tabledata.vot"), Format::VoTable).unwrap();
    check_common(&table);
    check_notes(&table);
    for (name, expected) in [("b", THIRD), ("i", SECOND), ("d", THIRD), ("s", THIRD)] {
        assert_eq!(nulls(&table, name), expected, "{name}");
    }
    let table = from_bytes(golden!("binary.vot"), Format::VoTable).unwrap();
    check_common(&table);
    assert_eq!(texts(&table, "i"), ["1", "2", "3"]);
    let table = from_bytes(golden!("binary2.vot"), Format::VoTable).unwrap();
    check_common(&table);
    check_notes(&table);
    for (name, expected) in [("b", THIRD), ("i", SECOND), ("d", THIRD)] {
        assert_eq!(nulls(&table, name), expected, "{name}");
    }
}

#[test]
fn fits_columns_of_every_odd_kind() {
    let table = from_bytes(golden!("odd.fits"), Format::Fits).unwrap();
    for (name, kind, values) in [
        ("u2", "int32", ["0", "65535"]),
        ("u4", "int64", ["0", "4294967295"]),
        ("u8", "int64", ["7", "9223372036854775807"]),
        ("huge", "string", ["7", "18446744073709551615"]),
        ("i1", "int16", ["-128", "127"]),
        ("scaled", "float64", ["11.0", "9.5"]),
        ("null", "int32", ["5", ""]),
        ("name", "string", ["ab", "Messier3"]),
        ("after", "float64", ["1.5", "2.5"]),
    ] {
        let column = table.require(name).unwrap();
        assert_eq!((column.kind(), column.texts()), (kind, values.map(String::from).to_vec()), "{name}");
    }
    assert_eq!(table.require("null").unwrap().unit(), Some("pc"));
    for (name, reason) in [
        ("vector", "each value is an array of 3"),
        ("bits", "each value is an array of 11 bits"),
        ("z", "its values are complex numbers"),
        ("ragged", "each value is an array of variable length"),
        ("unit 3 MORE", "a further table; only the first is read"),
    ] {
        let skipped = table.skipped().iter().find(|skipped| skipped.name == name);
        assert_eq!(skipped.map(|s| s.reason.as_str()), Some(reason), "{name}");
    }
    assert_eq!(table.skipped().len(), 5);
    assert_eq!(table.get_metadata("lower key"), Some("value"));
    assert_eq!(table.get_metadata("HISTORY"), Some("first\nsecond"));
    assert_eq!(table.get_metadata("EXTNAME"), Some("ODD"));
}

#[test]
fn parquet_of_every_arrow_type_and_compression() {
    for bytes in
        [golden!("snappy.parquet"), golden!("zstd.parquet"), golden!("gzip.parquet"), golden!("lz4.parquet")]
    {
        let table = from_bytes(bytes, Format::Parquet).unwrap();
        let long = "a text longer than twelve bytes";
        for (name, kind, values) in [
            ("i8", "int16", ["-128", "", "127"]),
            ("u16", "int32", ["0", "65535", "1"]),
            ("u32", "int64", ["0", "4294967295", "1"]),
            ("u64", "int64", ["0", "9223372036854775807", "1"]),
            ("huge", "string", ["0", "18446744073709551615", "1"]),
            ("half", "float32", ["0.5", "-2.0", "1.0"]),
            ("large", "string", ["é", "", ""]),
            ("dictionary", "string", ["x", "y", "x"]),
            ("view", "string", ["short", long, ""]),
            ("nothing", "float64", ["", "", ""]),
            ("last", "float64", ["1.5", "NaN", ""]),
        ] {
            let column = table.require(name).unwrap();
            assert_eq!((column.kind(), column.texts()), (kind, values.map(String::from).to_vec()), "{name}");
        }
        assert_eq!(nulls(&table, "large"), SECOND);
        assert_eq!(nulls(&table, "last"), THIRD);
        assert_eq!(table.require("last").unwrap().unit(), Some("km/s"));
        assert_eq!(table.require("last").unwrap().description(), Some("the last"));
        assert_eq!(table.get_metadata("survey"), Some("Gaia"));
        let skipped: Vec<&str> = table.skipped().iter().map(|skipped| skipped.name.as_str()).collect();
        assert_eq!(skipped, ["list", "record", "when"]);
        assert!(table.require("when").unwrap_err().to_string().contains("dates or times"));
    }
}

#[test]
fn gaia_archive_csv_with_its_word_null() {
    let text = "source_id,radial_velocity,phot_variable_flag\n4295806720,null,\"NOT_AVAILABLE\"\n34361129088,12.5,null\n";
    let table = from_bytes(text.as_bytes(), Format::Csv).unwrap();
    assert_eq!(table.columns().iter().map(|c| c.kind()).collect::<Vec<_>>(), ["int64", "float64", "string"]);
    assert!(table.columns()[1].is_null(0) && table.columns()[2].is_null(1));
}

#[test]
fn csv_types_are_inferred_over_the_whole_column() {
    let kind = |rows: &str| {
        let text =
            format!("x,y\n{}\n", rows.split('|').map(|v| format!("{v},0")).collect::<Vec<_>>().join("\n"));
        let table = from_bytes(text.as_bytes(), Format::Csv).unwrap();
        (table.columns()[0].kind(), table.columns()[0].texts().join("|"))
    };
    assert_eq!(kind("1|2||3"), ("int64", "1|2||3".into()));
    assert_eq!(kind("1|2.5|3"), ("float64", "1.0|2.5|3.0".into()));
    assert_eq!(kind("nan|1"), ("float64", "NaN|1.0".into()));
    assert_eq!(kind("true|False|"), ("bool", "true|false|".into()));
    assert_eq!(kind("true|1"), ("string", "true|1".into()));
    assert_eq!(kind("007|x1"), ("string", "007|x1".into()));
    assert_eq!(kind("007|7"), ("string", "007|7".into()), "zeros in front belong to the name");
    assert_eq!(kind("00|0.5"), ("float64", "0.0|0.5".into()));
    assert_eq!(kind("|1e5|x|"), ("string", "|1e5|x|".into()));
    assert_eq!(kind("|"), ("float64", "|".into()));
    assert_eq!(kind("\"\"|"), ("string", "|".into()));
    assert_eq!(kind("-0|1"), ("float64", "-0.0|1.0".into()));
    // Identifiers are never rounded.
    assert_eq!(kind("9223372036854775808|1"), ("string", "9223372036854775808|1".into()));
    assert_eq!(kind("nan|6847331261819205249"), ("int64", "|6847331261819205249".into()));
    assert_eq!(kind("6847331261819205249|nan|x"), ("string", "6847331261819205249|nan|x".into()));
    assert_eq!(kind("1e300|12345678901234567890"), ("float64", "1e300|1.2345678901234567e19".into()));
}

#[test]
fn csv_comments_above_the_header_become_metadata() {
    let table = from_bytes(b"# seed: 42\n# just words\n\na\n# inside\n1\n", Format::Csv).unwrap();
    assert_eq!(table.metadata(), [("seed".to_string(), "42".to_string())]);
    let Data::I64(values) = table.columns()[0].data() else { panic!("not integers") };
    assert_eq!(values, &[1]);
}
