//! `goc candidates`.

use std::collections::BTreeMap;

use goc_tables::{Column, Data, Table};

use crate::desk::{Desk, catalogue, columns};

const STARS: &str = "\
source_id,x,x_error,y,e_y,name
11,1.0,0.1,5.0,0.5,A
12,2.0,0.2,6.0,0.0,B
13,3.0,0.3,7.0,0.1,C
";

const CORRELATED: &str = "\
source_id,x,x_error,y,y_error,z,z_error,x_y_corr,z_x_corr,truth
11,1.0,0.1,5.0,0.5,0.0,1.0,0.9,-0.3,g
12,2.0,0.2,6.0,0.3,1.0,1.0,-0.9,0.3,g
13,3.0,0.3,7.0,0.1,2.0,1.0,0.0,0.0,h
";

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    table.require(name).unwrap().numbers().unwrap()
}

#[test]
fn candidates_go_to_standard_output_and_what_was_chosen_to_standard_error() {
    let run = Desk::with(&[("stars.csv", STARS)]).done("candidates stars.csv -m 3 --keep name");
    insta::assert_snapshot!("candidates_out", run.out);
    insta::assert_snapshot!("candidates_err", run.err);
}

#[test]
fn a_box_holds_its_candidates_and_the_penalty_is_minus_the_log_density() {
    let desk = Desk::with(&[("stars.csv", STARS)]);
    desk.done("candidates stars.csv -m 200 --sigmas 3 -o c.csv");
    let table = desk.table("c.csv");
    assert_eq!((columns(&table).as_str(), table.rows()), ("object candidate x y penalty", 600));
    let (x, y, penalty) = (numbers(&table, "x"), numbers(&table, "y"), numbers(&table, "penalty"));
    let measured = [(1.0, 0.1, 5.0, 0.5), (2.0, 0.2, 6.0, 0.0), (3.0, 0.3, 7.0, 0.1)];
    for row in 0..600 {
        let (x0, ex, y0, ey) = measured[row / 200];
        let dx = (x[row] - x0) / ex;
        let dy: f64 = if ey > 0.0 { (y[row] - y0) / ey } else { y[row] - y0 };
        assert!(dx.abs() <= 3.0 + 1e-9 && dy.abs() <= 3.0 + 1e-9 && (ey > 0.0 || dy == 0.0));
        assert!((penalty[row] - 0.5 * (dx * dx + dy * dy)).abs() < 1e-9, "row {row}");
    }
    assert_eq!(table.require("candidate").unwrap().integers().unwrap()[198..202], [198, 199, 0, 1]);
}

#[test]
fn correlations_make_an_ellipsoid_that_follows_them() {
    let desk = Desk::with(&[("stars.csv", CORRELATED)]);
    let run = desk.done("candidates stars.csv -m 500 --sigmas 2 -o c.csv");
    assert!(run.err.contains("shape: ellipsoid, with 2 correlations\n"), "{}", run.err);
    let table = desk.table("c.csv");
    assert_eq!(columns(&table), "object candidate x y z penalty truth");
    let (x, y, z) = (numbers(&table, "x"), numbers(&table, "y"), numbers(&table, "z"));
    let correlation = |a: &[f64], b: &[f64]| {
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let (ma, mb) = (mean(a), mean(b));
        let sum = |f: &dyn Fn(usize) -> f64| (0..a.len()).map(f).sum::<f64>();
        let ab = sum(&|i| (a[i] - ma) * (b[i] - mb));
        ab / (sum(&|i| (a[i] - ma).powi(2)) * sum(&|i| (b[i] - mb).powi(2))).sqrt()
    };
    for (object, xy, xz) in [(0, 0.9, -0.3), (1, -0.9, 0.3), (2, 0.0, 0.0)] {
        let part = object * 500..(object + 1) * 500;
        // Uniform over an ellipsoid has the correlations of its matrix; 500 points know them to
        // about 1/sqrt(500).
        assert!((correlation(&x[part.clone()], &y[part.clone()]) - xy).abs() < 0.13);
        assert!((correlation(&x[part.clone()], &z[part]) - xz).abs() < 0.13);
    }
    // Half the squared Mahalanobis distance is at most rho^2 / 2 = 2 inside.
    assert!(numbers(&table, "penalty").iter().all(|p| (0.0..=2.0 + 1e-9).contains(p)));
}

#[test]
fn sizes_are_those_of_the_sets() {
    let desk = Desk::with(&[("one.csv", "object,x,x_error\n1,0.0,1.0\n")]);
    let reach = |flags: &str| {
        desk.done(&format!("candidates one.csv -m 2 --sampler grid:x {flags} -o c.csv"));
        numbers(&desk.table("c.csv"), "x")
    };
    assert_eq!(reach(""), [-2.0, 2.0]);
    assert_eq!(reach("--sigmas 3"), [-3.0, 3.0]);
    assert_eq!(reach("--radius 0.25"), [-0.25, 0.25]);
    // scipy.stats.norm.ppf(0.975)
    assert!((reach("--eta 0.05")[1] - 1.959963984540054).abs() < 1e-12);
    // scipy.stats.expon.ppf(0.95): the l1 ball of one coordinate
    assert!((reach("--eta 0.05 --shape l1")[1] - 2.995732273553991).abs() < 1e-12);
}

#[test]
fn values_and_errors_may_be_named() {
    let desk = Desk::with(&[("t.csv", "id,a,b,da,db\nu,1.0,2.0,0.1,0.0\nv,3.0,4.0,0.1,0.2\n")]);
    desk.done("candidates t.csv --values b,a --errors db,da -m 4 -o c.csv");
    let table = desk.table("c.csv");
    assert_eq!(columns(&table), "object candidate b a penalty");
    assert_eq!(numbers(&table, "b")[..4], [2.0; 4]);
    assert_eq!(table.require("object").unwrap().texts()[3..5], ["u", "v"]);
}

#[test]
fn units_and_settings_travel_with_the_candidates_and_cluster_finds_the_features() {
    let desk = Desk::new();
    let column = |name: &str, values: Vec<f64>| Column::new(name, Data::F64(values));
    let table = Table::new(vec![
        column("parallax", vec![1.0, 1.1, 5.0, 5.1]).with_unit("mas"),
        column("parallax_error", vec![0.1; 4]).with_unit("mas"),
        column("mass", vec![1.0, 2.0, 3.0, 4.0]).with_unit("Msun"),
    ])
    .unwrap();
    desk.write("stars.fits", &table);
    desk.done("candidates stars.fits -m 5 --keep mass --sampler sobol --eta 0.1 --seed 9 -o c.fits");
    let made = desk.table("c.fits");
    assert_eq!(columns(&made), "object candidate parallax penalty mass");
    assert_eq!(made.require("parallax").unwrap().unit(), Some("mas"));
    assert_eq!(made.require("mass").unwrap().unit(), Some("Msun"));
    let said = |key: &str| made.get_metadata(key).unwrap_or("");
    assert_eq!(said("goc_features"), "parallax");
    assert_eq!((said("goc_seed"), said("goc_m"), said("goc_shape")), ("9", "5", "box"));
    assert_eq!((said("goc_sampler"), said("goc_size"), said("goc_transform")), ("sobol", "eta 0.1", "none"));
    assert_eq!(said("goc_version"), env!("CARGO_PKG_VERSION"));
    // Without the metadata `mass` would be a feature too.
    let json = desk.json("cluster c.fits --k 2 --json");
    assert_eq!((json["n_features"].as_u64(), json["n_objects"].as_u64()), (Some(1), Some(4)));
}

/// The rows of each object, by its name.
fn by_object(table: &Table) -> BTreeMap<String, Vec<Vec<u64>>> {
    let mut all: BTreeMap<String, Vec<Vec<u64>>> = BTreeMap::new();
    let names = table.require("object").unwrap().texts();
    for (row, name) in names.iter().enumerate() {
        let bits = |column: &str| numbers(table, column)[row].to_bits();
        all.entry(name.clone()).or_default().push(vec![bits("x"), bits("y"), bits("penalty")]);
    }
    all
}

#[test]
fn reordering_or_filtering_the_catalogue_never_changes_an_objects_candidates() {
    for names in [["11", "-12", "9007199254740993"], ["Fimbulthul", "ω Cen", "12"]] {
        let row = |i: usize| format!("{},{}.0,0.{},5.0,0.5\n", names[i], i + 1, i + 1);
        let head = "object,x,x_error,y,y_error\n";
        let desk = Desk::with(&[
            ("all.csv", &format!("{head}{}{}{}", row(0), row(1), row(2))),
            ("turned.csv", &format!("{head}{}{}{}", row(2), row(0), row(1))),
            ("few.csv", &format!("{head}{}", row(1))),
        ]);
        for sampler in ["uniform", "sobol", "density", "grid:x"] {
            let made = |file: &str| {
                desk.done(&format!("candidates {file} -m 6 --sampler {sampler} -o c.csv"));
                by_object(&desk.table("c.csv"))
            };
            let (all, turned, few) = (made("all.csv"), made("turned.csv"), made("few.csv"));
            assert_eq!(all.len(), 3);
            assert_eq!(all, turned, "{sampler}");
            assert_eq!(few[names[1]], all[names[1]], "{sampler}");
            assert_eq!(few.len(), 1);
        }
    }
}

#[test]
fn another_seed_gives_other_candidates_and_the_same_seed_the_same() {
    let desk = Desk::with(&[("stars.csv", STARS)]);
    let made = |seed: u32| desk.done(&format!("candidates stars.csv --seed {seed}")).out;
    assert_eq!(made(1), made(1));
    assert_eq!(made(1), desk.done("candidates stars.csv").out);
    assert_ne!(made(1), made(2));
}

#[test]
fn rows_with_a_missing_value_are_dropped_counted_and_named() {
    let desk = Desk::with(&[(
        "t.csv",
        "object,x,x_error\na,1.0,0.1\nb,-9999,0.1\nc,3.0,-9999\nd,4.0,0.1\ne,,0.1\n",
    )]);
    desk.refused(
        "candidates t.csv --shape box -o c.csv --values x",
        1,
        "error: t.csv: row 5 (line 6), column `x`: \"\" is null where a number is needed; fill it, or drop such rows with --missing nan",
    );
    let run = desk.done("candidates t.csv --missing nan -m 2 -o c.csv");
    assert!(
        run.err.contains("dropped 3 of 5 objects, a value or an error is missing: b, c, e\n"),
        "{}",
        run.err
    );
    assert_eq!(desk.table("c.csv").require("object").unwrap().texts(), ["a", "a", "d", "d"]);
}

#[test]
fn objects_without_a_name_are_called_by_their_position_in_the_table() {
    let desk = Desk::with(&[("t.csv", "x,x_error\n1.0,0.1\n-9999,0.1\n3.0,0.1\n")]);
    // A rule that begins with a minus is a value, not a flag.
    for missing in ["", "--missing -9999", "--missing -9999,nan"] {
        desk.done(&format!("candidates t.csv -m 1 {missing} -o c.csv"));
        assert_eq!(desk.table("c.csv").require("object").unwrap().texts(), ["0", "2"]);
    }
}

#[test]
fn transformations_give_as_many_features_as_asked() {
    let desk = Desk::new();
    desk.write("t.csv", &catalogue(6, 1));
    for (transform, want) in
        [("pca:2", "pc1 pc2"), ("kernel-pca:3", "kpc1 kpc2 kpc3"), ("kernel-pca-poly:1", "kpc1")]
    {
        desk.done(&format!("candidates t.csv --transform {transform} -m 4 -o c.csv"));
        assert_eq!(columns(&desk.table("c.csv")), format!("object candidate {want} penalty truth"));
    }
    desk.done("candidates t.csv --transform coasting --when-empty drop -m 4 --penalty none -o c.csv");
    assert_eq!(columns(&desk.table("c.csv")), "object candidate vx vy momentum truth");
}

#[test]
fn penalties_are_of_the_kind_asked_for() {
    let desk = Desk::with(&[("stars.csv", STARS)]);
    let made = |penalty: &str| {
        desk.done(&format!("candidates stars.csv -m 3 --sampler grid:x --penalty {penalty} -o c.csv"));
        desk.table("c.csv")
    };
    // The grid's ends are 2 errors off, its middle is the measured value: 2^2 / 2.
    let table = made("density:x");
    for (got, want) in numbers(&table, "penalty").iter().zip([2.0, 0.0, 2.0].repeat(3)) {
        assert!((got - want).abs() < 1e-12);
    }
    let table = made("distance");
    let (x, y) = (numbers(&table, "x"), numbers(&table, "y"));
    for (row, got) in numbers(&table, "penalty").iter().enumerate().take(3) {
        assert!((got - ((x[row] - 1.0).powi(2) + (y[row] - 5.0).powi(2))).abs() < 1e-12);
    }
    assert!(made("none").column("penalty").is_none());
}

#[test]
fn an_object_whose_points_are_all_rejected_is_refused_or_dropped() {
    let head = "object,direction_x,direction_x_error,direction_y,direction_y_error,parallax,parallax_error,\
                motion,motion_error,speed,speed_error\n";
    let good = "7,1.0,0,0.0,0,0.5,0.05,1.0,0.1,2.0,0.1\n";
    let bad = "8,1.0,0,0.0,0,-0.5,0.05,1.0,0.1,2.0,0.1\n";
    let desk = Desk::with(&[("t.csv", &format!("{head}{good}{bad}")), ("bad.csv", &format!("{head}{bad}"))]);
    let quiet = "--transform coasting --shape box --values direction_x,direction_y,parallax,motion,speed";
    desk.refused(
        &format!("candidates t.csv {quiet} -o c.csv"),
        1,
        "error: t.csv: row 2 (line 3): object 8: all 101 points were rejected (101 parallax not \
         positive); fix its values, or use --when-empty drop",
    );
    let json = desk.json(&format!("candidates t.csv {quiet} --when-empty drop --json -o c.csv"));
    assert_eq!(json["n_objects"], 1);
    assert_eq!(json["n_objects_empty"], 1);
    assert_eq!(json["n_rejected"], 101);
    assert_eq!(desk.table("c.csv").require("object").unwrap().integers().unwrap(), vec![7; 101]);
    let run = desk.goc(&format!("candidates bad.csv {quiet} --when-empty drop -o d.csv"));
    assert_eq!(run.code, 1);
    assert!(run.err.ends_with("error: no object has candidates\n"), "{}", run.err);
}

#[test]
fn json_says_what_was_made() {
    let desk = Desk::with(&[("stars.csv", STARS)]);
    let json = desk.json("candidates stars.csv -m 10 -o c.csv --json");
    insta::assert_snapshot!("candidates_json", format!("{json:#}"));
}

#[test]
fn what_makes_no_candidates_is_refused() {
    let desk = Desk::with(&[
        ("stars.csv", STARS),
        ("negative.csv", "object,x,x_error\na,1.0,0.1\nb,2.0,-0.5\n"),
        ("nan.csv", "object,x,x_error\na,NaN,0.1\n"),
        ("infinite.csv", "object,x,x_error\na,1.0,inf\n"),
        ("text.csv", "object,x,x_error\na,one,0.1\n"),
        ("plain.csv", "object,x\na,1.0\n"),
        ("twice.csv", "object,x,x_error\na,1.0,0.1\nb,2.0,0.1\na,3.0,0.1\n"),
        ("gone.csv", "object,x,x_error\na,-9999,0.1\n"),
        ("none.csv", "object,x,x_error\n"),
        ("ball.csv", "object,x,x_error,y,y_error\na,1.0,0.1,2.0,0.3\n"),
        ("corr.csv", "object,x,x_error,y,y_error,x_y_corr\na,1.0,0.1,2.0,0.3,0.5\nb,1.0,0.1,2.0,0.3,1.5\n"),
        (
            "indefinite.csv",
            "object,x,x_error,y,y_error,z,z_error,x_y_corr,x_z_corr,y_z_corr\n\
             a,1,1,1,1,1,1,0.1,0.1,0.1\nb,1,1,1,1,1,1,-0.9,-0.9,-0.9\n",
        ),
    ]);
    let cases = [
        (
            "negative.csv --values x --shape box",
            1,
            "negative.csv: row 2 (line 3), column `x_error`: -0.5 is negative where an error is needed; use 0 for an exact value, or --bad-rows drop",
        ),
        (
            "nan.csv --values x --shape box",
            1,
            "nan.csv: row 1 (line 2), column `x`: NaN is not a finite number; fix it, or drop such rows \
             with --missing nan",
        ),
        (
            "infinite.csv --values x --shape box",
            1,
            "infinite.csv: row 1 (line 2), column `x_error`: inf is not a finite number; fix it, or \
             --bad-rows drop",
        ),
        (
            "text.csv --values x --shape box",
            1,
            "text.csv: row 1 (line 2), column `x`: \"one\" is not a number",
        ),
        (
            "plain.csv",
            2,
            "plain.csv: no values with errors found (x with x_error, x_err, sigma_x or e_x); name them with --values and --errors (the table has object, x)",
        ),
        (
            "plain.csv --values x",
            2,
            "plain.csv: no error column for `x` (looked for x_error, x_err, sigma_x, e_x); name it with --errors",
        ),
        (
            "stars.csv --values x,mass",
            2,
            "stars.csv: no column `mass`; there are: source_id, x, x_error, y, e_y, name",
        ),
        ("stars.csv --values x,y --errors x_error", 2, "--errors names 1 columns for 2 values"),
        ("stars.csv --values x,x", 2, "--values names `x` twice (the second is number 2)"),
        (
            "twice.csv --values x --shape box",
            1,
            "twice.csv: object a is in rows 1 and 3; every object needs exactly one row",
        ),
        (
            "gone.csv --values x --shape box",
            1,
            "gone.csv: no objects left: all 1 lack a value or an error, or have an impossible number",
        ),
        ("none.csv --values x", 1, "none.csv: the table has no rows"),
        (
            "ball.csv --values x,y --shape ball",
            1,
            "ball.csv: row 1 (line 2): object a: x_error is 0.1 but y_error is 0.3; a ball has one error for all values, use --shape ellipsoid",
        ),
        (
            "corr.csv --values x,y --shape ellipsoid",
            1,
            "corr.csv: row 2 (line 3), column `x_y_corr`: 1.5 is not a correlation; fix it, --bad-rows \
             drop, or --shape box",
        ),
        (
            "indefinite.csv --values x,y,z --shape ellipsoid",
            1,
            "indefinite.csv: row 2 (line 3): object b: the correlations contradict each other (the \
             covariance is not positive semi-definite); fix them, drop the row, or use --shape box",
        ),
        (
            "stars.csv --values x,y --shape box --sampler grid:z",
            2,
            "`z` is not one of the values, which are x, y",
        ),
        (
            "stars.csv --values x,y --shape box --penalty density:z",
            2,
            "`z` is not one of the values, which are x, y",
        ),
        ("stars.csv --values x,y --shape box --penalty density:x,x", 2, "--penalty names a column twice"),
        (
            "stars.csv --values x,y --shape box --transform pca:3",
            2,
            "--transform: 3 components were asked for, but the points vary in 1 only",
        ),
        (
            "stars.csv --values x,y --shape box --transform coasting",
            2,
            "--transform coasting takes the values direction_x, direction_y, parallax, motion, speed in this order, not x, y",
        ),
        (
            "stars.csv --values x,y --shape box --keep x",
            2,
            "--keep x: the candidates have a column of that name already",
        ),
        ("stars.csv --eta 1.5", 2, "eta 1.5 must be at least 1e-12 and below 1"),
        ("stars.csv --sigmas -1", 2, "the size -1 of an uncertainty set must be a finite number not below 0"),
        (
            "stars.csv --sigmas nan",
            2,
            "the size NaN of an uncertainty set must be a finite number not below 0",
        ),
        (
            "stars.csv --missing x",
            2,
            "`x` is not a rule for missing values; give numbers such as -9999, `nan` or `none`",
        ),
    ];
    for (words, code, message) in cases {
        desk.refused(&format!("candidates {words} -o c.csv"), code, &format!("error: {message}"));
    }
    for words in [
        "--sigmas 2 --eta 0.1",
        "-m 0",
        "--sampler grid:",
        "--transform pca:0",
        "--penalty heavy",
        "--errors x_error",
    ] {
        let run = desk.goc(&format!("candidates stars.csv {words} -o c.csv"));
        assert_eq!(run.code, 2, "{words}: {}", run.err);
        assert!(!desk.path("c.csv").exists());
    }
}

#[test]
fn errors_of_any_measured_column_are_multiplied_then_raised_to_the_floor() {
    let mended = "\
source_id,x,x_error,y,e_y,name
11,1.0,0.2,5.0,0.5,A
12,2.0,0.4,6.0,0.25,B
13,3.0,0.6,7.0,0.25,C
";
    let desk = Desk::with(&[("stars.csv", STARS), ("mended.csv", mended)]);
    for flags in ["", "--sampler sobol", "--shape l1 --sampler density", "--transform pca:1"] {
        desk.done(&format!("candidates mended.csv -m 9 {flags} -o file.csv"));
        desk.done(&format!(
            "candidates stars.csv -m 9 {flags} --inflate x=2 --error-floor x=0.1,y=0.25 -o flag.csv"
        ));
        assert_eq!(desk.bytes("flag.csv"), desk.bytes("file.csv"), "{flags}");
    }
}

#[test]
fn draws_from_the_density_reach_beyond_two_errors_whatever_the_size_of_the_set() {
    let desk = Desk::with(&[("one.csv", "object,x,x_error,y,y_error\n1,0.0,1.0,0.0,1.0\n")]);
    let drawn = |flags: &str| {
        desk.done(&format!("candidates one.csv -m 20000 {flags} -o c.csv"));
        numbers(&desk.table("c.csv"), "x")
    };
    for shape in ["box", "ellipsoid"] {
        let x = drawn(&format!("--sampler density --shape {shape}"));
        let beyond = |limit: f64| x.iter().filter(|x| x.abs() > limit).count() as f64 / 20_000.0;
        // 2 * scipy.stats.norm.sf(2) and of 3, within four of their standard errors.
        assert!((beyond(2.0) - 0.0455).abs() < 0.0059, "{}", beyond(2.0));
        assert!((beyond(3.0) - 0.0027).abs() < 0.0015, "{}", beyond(3.0));
        assert_eq!(drawn(&format!("--sampler density --shape {shape} --sigmas 1")), x);
    }
    for sampler in ["uniform", "sobol", "grid:x"] {
        assert!(drawn(&format!("--sampler {sampler}")).iter().all(|x| x.abs() <= 2.0), "{sampler}");
    }
}

#[test]
fn candidates_that_go_to_parquet_as_they_are_drawn_are_those_of_the_whole_table() {
    // More objects than are drawn at a time; the last piece lacks one of its objects.
    let n = 3000;
    let column =
        |name: &str, value: &dyn Fn(usize) -> f64| Column::new(name, Data::F64((0..n).map(value).collect()));
    let names = (0..n).map(|i| format!("star {}", i * i % 9973 + i)).collect();
    let desk = Desk::new();
    desk.write(
        "values.parquet",
        &Table::new(vec![
            Column::new("object", Data::Text(names)),
            column("x", &|i| (i as f64).sin()),
            column("x_error", &|_| 0.1),
            column("y", &|i| (i as f64).cos()),
            column("y_error", &|i| if i == 2990 { f64::NAN } else { 0.2 }),
            column("extra", &|i| i as f64),
        ])
        .unwrap(),
    );
    let drawn = "candidates values.parquet --values x,y -m 101 --keep extra --missing nan --object object";
    let whole = desk.done(&format!("{drawn} -o whole.ecsv --losses whole-losses.csv"));
    let pieces = desk.done(&format!("{drawn} -o pieces.parquet --losses losses.csv"));
    assert_eq!(pieces.err.replace("pieces.parquet", "whole.ecsv"), whole.err);
    assert_eq!(desk.table("pieces.parquet"), desk.table("whole.ecsv"));
    assert_eq!(desk.text("losses.csv"), desk.text("whole-losses.csv"));
    desk.write("again.parquet", &desk.table("pieces.parquet"));
    assert!(desk.bytes("again.parquet") == desk.bytes("pieces.parquet"));
    let told = |file: &str| desk.json(&format!("{drawn} -o {file} --json"));
    let (mut a, mut b) = (told("whole.ecsv"), told("pieces.parquet"));
    (a["output"], b["output"]) = (serde_json::Value::Null, serde_json::Value::Null);
    assert_eq!(a, b);
}
