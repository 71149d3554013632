//! The authors' tables and the real stars, against values other programs read from the same files.

mod common;

use goc_tables::{Data, Format, from_bytes, read, to_bytes};

/// Rows 1, 1001 and 27775 as astropy 7 reads them (`Table.read`, `repr`).
const SEED01: [(usize, [i64; 3], [f64; 9]); 3] = [
    (
        0,
        [0, 0, 0],
        [
            600.2740527871082,
            355.39699354429536,
            -297.78210418275887,
            -162531.67883787534,
            0.27173537429023864,
            0.30263967684088033,
            0.015452151275320833,
            -2.0,
            2.0000000000000036,
        ],
    ),
    (
        1000,
        [9, 91, 3],
        [
            162.93291535194894,
            390.576890395088,
            -1220.2726877732819,
            -154515.48871168692,
            0.42766331743234975,
            0.39814331743234976,
            0.018,
            1.6400000000000001,
            1.3447999999999996,
        ],
    ),
    (
        27774,
        [274, 100, 49],
        [
            744.4628451179885,
            127.55937257209848,
            97.25613060155065,
            -169075.2508776144,
            0.25609772591201735,
            0.22130365314312705,
            0.017397036384445154,
            2.0,
            1.9999999999999982,
        ],
    ),
];

#[test]
fn the_authors_fits_table_reads_as_astropy_reads_it() {
    let Some(path) = common::shared("paper/seed01.fits") else { return };
    let table = read(&path).unwrap();
    assert_eq!(table.rows(), 27775);
    assert_eq!(table.source(), Some(path.as_path()));
    let names = [
        "i",
        "j",
        "true_cluster_id",
        "Jr",
        "Jz",
        "Jphi",
        "energy",
        "parallax_used",
        "parallax_obs",
        "parallax_error",
        "parallax_used_sigma",
        "parallax_penalty",
    ];
    assert_eq!(table.names(), names);
    assert!(table.skipped().is_empty());
    for (row, integers, numbers) in SEED01 {
        for (name, expected) in names[..3].iter().zip(integers) {
            assert_eq!(table.require(name).unwrap().integers().unwrap()[row], expected, "{name} {row}");
        }
        for (name, expected) in names[3..].iter().zip(numbers) {
            assert_eq!(table.require(name).unwrap().numbers().unwrap()[row], expected, "{name} {row}");
        }
    }
}

#[test]
fn the_authors_fits_table_survives_every_format() {
    let Some(path) = common::shared("paper/seed01.fits") else { return };
    let table = read(&path).unwrap();
    for format in [Format::Fits, Format::Csv, Format::Ecsv, Format::Parquet, Format::VoTable] {
        let bytes = to_bytes(&table, format).unwrap();
        assert_eq!(from_bytes(&bytes, format).unwrap(), table, "{format:?}");
    }
}

#[test]
fn an_authors_fits_table_cut_off_says_how_many_rows_there_are() {
    let Some(path) = common::shared("paper/seed01.fits") else { return };
    let bytes = std::fs::read(path).unwrap();
    let error = from_bytes(&bytes[..bytes.len() / 2], Format::Fits).unwrap_err().to_string();
    assert!(error.contains("of 27775 rows") && error.contains("cut off"), "{error}");
}

#[test]
fn the_real_stars_read_as_pandas_reads_them() {
    let Some(path) = common::shared("real/gaia_halo_2000.csv.gz") else { return };
    let table = read(&path).unwrap();
    assert_eq!((table.rows(), table.columns().len()), (2000, 67));
    // pandas: 64 float64 and 3 int64 columns, 25424 missing fields.
    let kinds = |kind| table.columns().iter().filter(|c| c.kind() == kind).count();
    assert_eq!((kinds("float64"), kinds("int64")), (64, 3));
    assert_eq!(table.columns().iter().map(|c| c.nulls()).sum::<usize>(), 25424);
    assert_eq!(table.require("dr2_radial_velocity").unwrap().nulls(), 1315);
    let Data::I64(ids) = table.require("source_id").unwrap().data() else { panic!("source_id is no int64") };
    assert_eq!((ids[0], ids[1999]), (1346251627713054336, 6847331261819205248));
    let last = |name: &str| table.require(name).unwrap().numbers().unwrap()[1999];
    assert_eq!(last("ra"), 304.54252302957536);
    assert_eq!(last("dec_error"), 0.013461171999999999);
    assert_eq!(last("parallax"), 0.4105761196634863);
}
