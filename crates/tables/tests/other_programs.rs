//! Files that astropy and pyarrow wrote (`golden/make.py`, astropy 8.0.2, pyarrow 26.0.1): the values in
//! the tests are those of the script.

use goc_tables::{Data, Format, Pick, Table, TableError, Which, from_bytes, from_bytes_which};

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
        ("unit 3 MORE", "another table of the file, which --hdu 3 reads"),
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
fn a_parquet_page_that_does_not_match_its_checksum_is_refused() {
    let whole = golden!("checksums.parquet");
    assert_eq!(texts(&from_bytes(whole, Format::Parquet).unwrap(), "x"), ["1.5", "2.5", "3.5"]);
    let mut bytes = whole.to_vec();
    let value = bytes.windows(8).position(|window| window == 2.5f64.to_le_bytes()).unwrap();
    bytes[value] ^= 1;
    let said = from_bytes(&bytes, Format::Parquet).unwrap_err().to_string();
    assert!(said.contains("the checksum of a page is wrong"), "{said}");
}

#[test]
fn an_encrypted_parquet_file_is_called_so() {
    let mut bytes = golden!("checksums.parquet").to_vec();
    let end = bytes.len() - 4;
    bytes[..4].copy_from_slice(b"PARE");
    bytes[end..].copy_from_slice(b"PARE");
    let said = from_bytes(&bytes, Format::Parquet).unwrap_err().to_string();
    assert!(said.contains("is encrypted"), "{said}");
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

fn unit(pick: Pick) -> Result<Table, TableError> {
    from_bytes_which(golden!("units.fits"), Format::Fits, &Which::Hdu(pick))
}

/// As astropy reads it.
fn check_ascii(table: &Table) {
    assert_eq!(table.names(), ["name", "n", "long", "f", "d"]);
    assert_eq!(texts(table, "name"), ["ab", "Messier3", ""]);
    assert_eq!(table.require("n").unwrap().integers().unwrap(), [5, -99, 123456]);
    assert_eq!(table.require("n").unwrap().unit(), Some("pc"));
    assert_eq!(texts(table, "long"), ["9007199254740993", "-4611686018427387904", "0"]);
    assert_eq!(table.require("f").unwrap().numbers().unwrap(), [1.5, -0.25, 1234.125]);
    assert_eq!(table.require("d").unwrap().numbers().unwrap(), [0.1, -1e-300, 1e300]);
}

#[test]
fn a_compressed_image_is_no_table_and_an_ascii_table_is_one() {
    let table = from_bytes(golden!("units.fits"), Format::Fits).unwrap();
    check_ascii(&table);
    let others: Vec<&str> = table.skipped().iter().map(|skipped| skipped.name.as_str()).collect();
    assert_eq!(others, ["unit 3 BINARY"]);
}

#[test]
fn a_unit_is_read_by_its_number_or_its_name() {
    check_ascii(&unit(Pick::Number(2)).unwrap());
    for pick in [Pick::Number(3), Pick::Name("binary".into())] {
        let table = unit(pick).unwrap();
        assert_eq!(texts(&table, "x"), ["1.5", "2.5"]);
        assert_eq!(table.skipped()[0].name, "unit 2 ASCII");
    }
    let odd = from_bytes_which(golden!("odd.fits"), Format::Fits, &Which::Hdu(Pick::Number(3))).unwrap();
    assert_eq!(texts(&odd, "x"), ["1.0"]);
    for (pick, problem) in [
        (Pick::Number(1), "HDU 1 is a compressed image; name a table"),
        (Pick::Number(0), "HDU 0 is an image; name a table"),
        (
            Pick::Name("stars".into()),
            "no HDU `stars`; there are: 0 (an image), 1 PICTURE (a compressed image), \
             2 ASCII (an ASCII table), 3 BINARY (a binary table)",
        ),
    ] {
        assert_eq!(unit(pick).unwrap_err().to_string(), problem);
    }
}

/// An ASCII table of one unit, by its cards and rows.
fn ascii_file(cards: &[&str], rows: &[&str]) -> Vec<u8> {
    let block = |bytes: Vec<u8>| {
        let mut bytes = bytes;
        bytes.resize(bytes.len().next_multiple_of(2880), b' ');
        bytes
    };
    let header = |cards: &[String]| {
        block(cards.iter().flat_map(|card| format!("{card:<80}").into_bytes()).collect::<Vec<u8>>())
    };
    let primary = ["SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 0", "END"].map(String::from);
    let mut table: Vec<String> =
        ["XTENSION= 'TABLE   '", "BITPIX  = 8", "NAXIS   = 2"].map(String::from).into();
    table.push(format!("NAXIS1  = {}", rows[0].len()));
    table.push(format!("NAXIS2  = {}", rows.len()));
    table.extend(["PCOUNT  = 0", "GCOUNT  = 1"].map(String::from));
    table.extend(cards.iter().map(|card| card.to_string()));
    table.push("END".into());
    let rows = block(rows.concat().into_bytes());
    [header(&primary), header(&table), rows].concat()
}

#[test]
fn numbers_of_an_ascii_table_are_read_as_the_standard_says() {
    let cards = [
        "TFIELDS = 3",
        "TTYPE1  = 'a'",
        "TFORM1  = 'I4'",
        "TBCOL1  = 1",
        "TNULL1  = '-9'",
        "TTYPE2  = 'b'",
        "TFORM2  = 'F5.2'",
        "TBCOL2  = 5",
        "TTYPE3  = 'c'",
        "TFORM3  = 'I2'",
        "TBCOL3  = 10",
        "TSCAL3  = 0.5",
        "TZERO3  = 1.0D1",
    ];
    let file = ascii_file(&cards, &["  -9 1.5  1", " +12  150 2", "    -2E+1  "]);
    let table = from_bytes(&file, Format::Fits).unwrap();
    assert_eq!(texts(&table, "a"), ["", "12", ""]);
    // Without a point the last two digits are behind it.
    assert_eq!(texts(&table, "b"), ["1.5", "1.5", "-0.2"]);
    assert_eq!(texts(&table, "c"), ["10.5", "11.0", ""]);
    let file = ascii_file(&cards, &["  -9 1.5  1", "  xx  150 2", "    -2E+1  "]);
    assert_eq!(
        from_bytes(&file, Format::Fits).unwrap_err().to_string(),
        "row 2, column `a`: \"xx\" is not an integer of the column's type"
    );
    let beyond = ascii_file(
        &cards.map(|card| if card == "TBCOL3  = 10" { "TBCOL3  = 99" } else { card }),
        &["  -9 1.5  1"],
    );
    let said = from_bytes(&beyond, Format::Fits).unwrap_err().to_string();
    assert!(said.contains("TBCOL3 is 99, but a row has 11 characters"), "{said}");
}

const TWO_TABLES: &str = "<VOTABLE><RESOURCE>\
    <TABLE name='first'><FIELD name='x' datatype='double'/><DATA><TABLEDATA>\
    <TR><TD>null</TD></TR><TR><TD>2.5</TD></TR></TABLEDATA></DATA></TABLE>\
    <TABLE ID='t2'><DESCRIPTION>the other</DESCRIPTION><FIELD name='n' datatype='int'/><DATA><TABLEDATA>\
    <TR><TD>7</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>";

#[test]
fn a_votable_is_read_by_the_tables_number_name_or_id() {
    let read = |which| from_bytes_which(TWO_TABLES.as_bytes(), Format::VoTable, &which);
    for which in [Which::First, Which::Table(Pick::Number(1)), Which::Table(Pick::Name("first".into()))] {
        let table = read(which).unwrap();
        assert_eq!(table.names(), ["x"]);
        assert_eq!(table.skipped()[0].name, "table 2 t2");
    }
    for pick in [Pick::Number(2), Pick::Name("t2".into())] {
        let table = read(Which::Table(pick)).unwrap();
        assert_eq!(texts(&table, "n"), ["7"]);
        assert_eq!(table.get_metadata("description"), Some("the other"));
        assert_eq!(table.skipped()[0].name, "table 1 first");
    }
    let missing = read(Which::Table(Pick::Number(3))).unwrap_err();
    assert_eq!(missing.to_string(), "no table 3; there are: 1 first, 2 t2");
}

#[test]
fn the_word_null_in_a_votables_column_of_numbers_is_no_value() {
    let table = from_bytes(TWO_TABLES.as_bytes(), Format::VoTable).unwrap();
    assert_eq!(texts(&table, "x"), ["", "2.5"]);
    assert!(table.require("x").unwrap().is_null(0));
    // In a text it is a text.
    let text = TWO_TABLES.replace("'double'", "'char' arraysize='*'");
    let table = from_bytes(text.as_bytes(), Format::VoTable).unwrap();
    assert_eq!(texts(&table, "x"), ["null", "2.5"]);
}

/// A file on a disk, since only those are carried on.
fn on_disk(name: &str, bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

#[test]
fn what_a_table_cannot_hold_is_carried_to_a_file_of_the_same_format() {
    for (name, bytes) in [("odd.fits", golden!("odd.fits")), ("snappy.parquet", golden!("snappy.parquet"))] {
        let (folder, path) = on_disk(name, bytes);
        let plain = goc_tables::read(&path).unwrap();
        let format = Some(Format::of(&path).unwrap().0);
        let mut table = goc_tables::read_for(&path, &Which::First, format).unwrap();
        assert_eq!(table.names(), plain.names(), "{name}");
        // Of what was left out, the columns; other tables of the file stay behind.
        let both = [table.carried(), table.skipped()].concat();
        assert_eq!(both, plain.skipped(), "{name}");
        assert!(table.carried().len() >= 3, "{name}");
        // Asked for, it says why; its name is taken.
        let first = table.carried()[0].name.clone();
        assert!(matches!(table.require(&first), Err(TableError::Skipped { .. })), "{name}");
        let new = |name: &str| goc_tables::Column::new(name, Data::F64(vec![1.5; plain.rows()]));
        assert!(matches!(table.push(new(&first)), Err(TableError::Duplicate { .. })), "{name}");
        table.push(new("goc_new")).unwrap();
        // Twice through a file it is what it was, to the byte.
        let (once, twice) = (folder.path().join(format!("1{name}")), folder.path().join(format!("2{name}")));
        goc_tables::write(&table, &once).unwrap();
        let again = goc_tables::read_for(&once, &Which::First, format).unwrap();
        assert_eq!((again.carried(), again.columns().len()), (table.carried(), table.columns().len()));
        goc_tables::write(&again, &twice).unwrap();
        assert!(std::fs::read(once).unwrap() == std::fs::read(twice).unwrap(), "{name}");
        // No other format takes it in silence.
        let said = goc_tables::write(&table, &folder.path().join("x.csv")).unwrap_err().to_string();
        assert!(said.contains(&first) && said.contains("only the format that it comes from"), "{said}");
    }
}
