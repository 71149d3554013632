//! Folders of partitions, among them HATS catalogues, in place of one table.

use goc_tables::{Column, Data, Table};

use crate::desk::Desk;

/// Stars of two clumps, some of them without a velocity.
fn stars(from: usize, to: usize) -> Table {
    let column = |name: &str, value: &dyn Fn(f64) -> f64| {
        Column::new(name, Data::F64((from..to).map(|i| value(i as f64)).collect()))
    };
    let error = |name: &str, size: f64| column(&format!("{name}_error"), &move |_| size);
    Table::new(vec![
        Column::new("source_id", Data::I64((from..to).map(|i| 9000 + i as i64 * 7).collect())),
        column("ra", &|i| 150.0 + i % 2.0 * 40.0 + (i * 0.37).sin()),
        column("dec", &|i| 20.0 - i % 2.0 * 50.0 + (i * 0.73).cos()),
        column("parallax", &|i| 0.5 + 0.01 * (i * 1.3).sin()),
        error("parallax", 0.02),
        column("pmra", &|i| 3.0 - i % 2.0 * 9.0 + 0.05 * (i * 0.9).sin()),
        error("pmra", 0.02),
        column("pmdec", &|i| -4.0 + i % 2.0 * 6.0 + 0.05 * (i * 0.4).cos()),
        error("pmdec", 0.02),
        column("radial_velocity", &|i| if i == 5.0 { f64::NAN } else { 20.0 + (i * 0.6).sin() }),
        error("radial_velocity", 1.0),
    ])
    .unwrap()
}

/// The stars in one file, in a folder of files, and as a HATS collection with a margin.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("whole.parquet", &stars(0, 40));
    for folder in ["parts", "survey/halo/dataset/Norder=0/Dir=0", "survey/halo_10arcs/dataset"] {
        std::fs::create_dir_all(desk.path(folder)).unwrap();
    }
    for (place, from, to) in [("9", 0, 13), ("10", 13, 14), ("11", 14, 40)] {
        desk.write(&format!("parts/part.{place}.parquet"), &stars(from, to));
        desk.write(&format!("survey/halo/dataset/Norder=0/Dir=0/Npix={place}.parquet"), &stars(from, to));
        desk.write(&format!("survey/halo_10arcs/dataset/{place}.parquet"), &stars(from, to));
    }
    desk.write("survey/halo/per_partition_statistics.parquet", &stars(0, 2));
    desk.put("survey/collection.properties", b"obs_collection=survey\nhats_primary_table_url=halo\n");
    desk.put("survey/halo/hats.properties", b"obs_collection=halo\ndataproduct_type=object\n");
    desk.put("survey/halo/partition_info.csv", b"Norder,Npix\n0,9\n0,10\n0,11\n");
    desk
}

#[test]
fn stars_in_a_folder_of_partitions_are_those_of_one_table() {
    let desk = desk();
    desk.done("stars whole.parquet --k 2 -m 11 -o whole.csv");
    for folder in ["parts", "survey", "survey/halo", "survey/halo/dataset"] {
        desk.done(&format!("stars {folder} --k 2 -m 11 -o parts.csv"));
        assert_eq!(desk.text("parts.csv"), desk.text("whole.csv"), "{folder}");
    }
}

#[test]
fn candidates_of_a_folder_of_partitions_have_the_bytes_of_one_table() {
    let desk = desk();
    desk.done("candidates whole.parquet -m 11 --missing nan -o whole-candidates.parquet");
    for folder in ["parts", "survey"] {
        desk.done(&format!("candidates {folder} -m 11 --missing nan -o parts.parquet"));
        assert!(desk.bytes("parts.parquet") == desk.bytes("whole-candidates.parquet"), "{folder}");
    }
    std::fs::create_dir(desk.path("candidates")).unwrap();
    desk.done("candidates parts/part.9.parquet -m 11 --missing nan -o candidates/0.parquet");
    desk.done("candidates parts/part.10.parquet -m 11 --missing nan -o candidates/1.parquet");
    desk.done("candidates parts/part.11.parquet -m 11 --missing nan -o candidates/2.parquet");
    desk.done("cluster candidates --k 2 -o parts.csv");
    desk.done("cluster whole-candidates.parquet --k 2 -o whole.csv");
    assert_eq!(desk.text("parts.csv"), desk.text("whole.csv"));
}

#[test]
fn a_margin_or_a_lost_partition_is_refused_by_name() {
    let desk = desk();
    desk.put("survey/halo/hats.properties", b"obs_collection=halo\ndataproduct_type=margin\n");
    desk.refused(
        "stars survey --k 2 -o o.csv",
        1,
        "error: survey/halo: is a HATS margin, not a catalogue of objects; give the catalogue or its collection",
    );
    desk.put("survey/halo/hats.properties", b"obs_collection=halo\ndataproduct_type=object\n");
    std::fs::remove_file(desk.path("survey/halo/dataset/Norder=0/Dir=0/Npix=10.parquet")).unwrap();
    desk.refused(
        "stars survey --k 2 -o o.csv",
        1,
        "error: survey/halo: the list of partitions has Norder=0, Npix=10, but there is no survey/halo/dataset/Norder=0/Dir=0/Npix=10.parquet",
    );
}
