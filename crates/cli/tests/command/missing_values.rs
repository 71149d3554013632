//! Stars without a radial velocity or a metallicity, columns to cluster by beside the orbits, and
//! `goc validate`.

use crate::desk::{Desk, columns};

/// Values of a star by the names of their columns.
type Change<'a> = (usize, &'a str, &'a str);

/// Forty stars of a halo seen from the Sun; every third belongs to one stream, with like metallicities.
fn stars(changes: &[Change<'_>]) -> String {
    let head = "source_id,ra,dec,parallax,parallax_error,pmra,pmra_error,pmdec,pmdec_error,radial_velocity,\
                radial_velocity_error,fe_h,fe_h_error,name";
    let names: Vec<&str> = head.split(',').collect();
    let mut text = format!("{head}\n");
    let part = |i: usize, root: f64| (root.sqrt() * (i + 1) as f64).fract();
    for i in 0..40 {
        let stream = i % 3 == 0;
        let pm = |root: f64| if stream { 3.0 + 0.1 * part(i, root) } else { 16.0 * part(i, root) - 8.0 };
        let (rv, fe_h) = match stream {
            true => (80.0 + 10.0 * part(i, 5.0), -1.4 + 0.05 * part(i, 7.0)),
            false => (500.0 * part(i, 5.0) - 250.0, -2.5 + 2.0 * part(i, 7.0)),
        };
        let (ra, dec) =
            if stream { (150.0 + part(i, 2.0), 30.0) } else { (360.0 * part(i, 2.0), 80.0 * part(i, 3.0)) };
        let mut row = [
            (100 + i).to_string(),
            format!("{ra:.4}"),
            format!("{dec:.4}"),
            format!("{:.4}", 0.8 + 0.2 * part(i, 11.0)),
            "0.02".into(),
            format!("{:.4}", pm(13.0)),
            "0.02".into(),
            format!("{:.4}", pm(17.0)),
            "0.02".into(),
            format!("{rv:.3}"),
            "1".into(),
            format!("{fe_h:.4}"),
            "0.1".into(),
            format!("star {i}"),
        ];
        for (_, name, value) in changes.iter().filter(|(at, ..)| *at == i) {
            row[names.iter().position(|own| own == name).unwrap()] = (*value).into();
        }
        text.push_str(&row.join(","));
        text.push('\n');
    }
    text
}

#[test]
fn a_star_without_a_velocity_is_labelled_and_says_so() {
    let desk =
        Desk::with(&[("s.csv", &stars(&[(5, "radial_velocity", ""), (8, "radial_velocity", "-9999")]))]);
    let run =
        desk.done("stars s.csv --space uvw --missing-rv prior --k 3 -m 20 -o l.fits --candidates c.fits");
    assert!(
        run.err.contains("`radial_velocity` of 2 of 40 objects is drawn from a prior: sigma "),
        "{}",
        run.err
    );
    let (table, candidates) = (desk.table("l.fits"), desk.table("c.fits"));
    let label = table.require("goc_label").unwrap();
    assert_eq!(label.nulls(), 0);
    let notes = table.require("goc_note").unwrap();
    for row in 0..40 {
        let filled = row == 5 || row == 8;
        assert_eq!(notes.text(row).starts_with("radial_velocity from the prior"), filled, "{row}");
    }
    // Four times as many candidates.
    let counts = table.require("goc_candidates").unwrap().integers().unwrap();
    assert_eq!((counts[4], counts[5], counts[8]), (20, 80, 80));
    assert_eq!(candidates.rows() as i64, counts.iter().sum::<i64>());
    assert_eq!(table.get_metadata("goc_missing_rv"), Some("prior"));
    assert!(table.get_metadata("goc_missing_rv_prior").unwrap().contains("around the motion ("));
    // A prior that is told is taken; the same with any number of threads.
    let told = "stars s.csv --space uvw --missing-rv prior:60 --k 3 -m 20";
    let run = desk.done(&format!("{told} -o a.csv --threads 1"));
    assert!(run.err.contains("sigma 60.0000"), "{}", run.err);
    desk.done(&format!("{told} -o b.csv --threads 3"));
    assert_eq!(desk.text("a.csv"), desk.text("b.csv"));
    // In two steps the same candidates.
    desk.done("candidates s.csv --space uvw --missing-rv prior -m 20 -o two.fits");
    let two = desk.table("two.fits");
    assert_eq!(
        two.require("U").unwrap().numbers().unwrap(),
        candidates.require("U").unwrap().numbers().unwrap()
    );
}

#[test]
fn a_star_without_a_velocity_is_labelled_only_where_its_probability_is_high() {
    let gone: Vec<Change<'_>> = (0..40).step_by(2).map(|i| (i, "radial_velocity", "")).collect();
    let desk = Desk::with(&[("s.csv", &stars(&gone))]);
    let short = "--method marginal --chains 2 --burn 10 --keep 40";
    let run =
        desk.done(&format!("stars s.csv --space uvw --missing-rv prior {short} -m 20 -o l.csv --seed 3"));
    assert!(run.err.contains(" of 20 objects with a value from a prior have no label"), "{}", run.err);
    let table = desk.table("l.csv");
    let labels = table.require("goc_label").unwrap().integers().unwrap();
    let sure = table.require("goc_probability").unwrap().numbers().unwrap();
    let in_group =
        |i: usize| labels[i] >= 0 && labels.iter().filter(|label| **label == labels[i]).count() > 1;
    assert!((0..40).step_by(2).filter(|i| in_group(*i)).all(|i| sure[i] >= 0.7), "{labels:?} {sure:?}");
    // Who is withheld has its group as the next best.
    let next = table.require("goc_runner_up").unwrap();
    let withheld: Vec<usize> = (0..40).step_by(2).filter(|i| labels[*i] == -1 && !next.is_null(*i)).collect();
    assert!(!withheld.is_empty());
    // In two steps the same labels, whatever the format of the candidates.
    for file in ["c.csv", "c.parquet"] {
        let sampled = "candidates s.csv --space uvw --missing-rv prior --sampler tails -m 20 --seed 3";
        desk.done(&format!("{sampled} -o {file}"));
        let truths = desk.table(file);
        let from_prior = truths.require("from_prior").unwrap();
        let first = truths.require("candidate").unwrap().integers().unwrap();
        let drawn = (0..truths.rows()).filter(|row| first[*row] == 0 && from_prior.text(*row) == "true");
        assert_eq!(drawn.count(), 20);
        let features = if file == "c.csv" { "--features U,V,W" } else { "" };
        desk.done(&format!("cluster {file} {features} {short} -o two.csv --seed 3"));
        if file == "c.parquet" {
            assert_eq!(desk.table("two.csv").require("label").unwrap().integers().unwrap(), labels);
        }
    }
    // A column of that name that says something else is named.
    let wrong = desk.text("c.csv").replace(",true", ",perhaps");
    let desk = Desk::with(&[("w.csv", &wrong)]);
    let run = desk.goc(&format!("cluster w.csv --features U,V,W {short}"));
    assert!(run.code != 0 && run.err.contains("column `from_prior`: "), "{}", run.err);
}

#[test]
fn a_velocity_that_is_missing_can_be_refused_or_dropped() {
    let desk = Desk::with(&[("s.csv", &stars(&[(5, "radial_velocity_error", "")]))]);
    let refused = desk.goc("stars s.csv --space uvw --missing-rv refuse --k 2 -o l.csv");
    assert_eq!(refused.code, 1);
    let why = "row 6 (line 7), column `radial_velocity_error`: \"\" is missing; leave such stars out (--missing-rv drop) \
               or draw it (--missing-rv prior)";
    assert!(refused.err.contains(why), "{}", refused.err);
    for command in
        ["stars s.csv --k 2 --space uvw -m 5 -o l.csv", "candidates s.csv --space uvw -m 5 -o c.csv"]
    {
        let dropped = desk.done(&format!("{command} --missing-rv drop"));
        assert!(dropped.err.contains("dropped 1 of 40 objects"), "{}", dropped.err);
    }
    assert_eq!(desk.table("l.csv").require("goc_note").unwrap().text(5), "radial_velocity_error missing");
}

#[test]
fn a_star_with_neither_velocity_nor_proper_motion_is_left_out_and_says_why() {
    let gone = [(5, "radial_velocity", ""), (5, "pmra", ""), (6, "radial_velocity", "")];
    let desk = Desk::with(&[("s.csv", &stars(&gone))]);
    desk.done("stars s.csv --space uvw --missing-rv prior --k 2 -m 5 -o l.csv");
    let table = desk.table("l.csv");
    assert_eq!(table.require("goc_label").unwrap().nulls(), 1);
    let notes = table.require("goc_note").unwrap();
    assert_eq!(notes.text(5), "pmra missing");
    assert!(notes.text(6).starts_with("radial_velocity from the prior"));
}

#[test]
fn priors_that_cannot_be_are_named() {
    let none: Vec<Change<'_>> = (0..40).map(|i| (i, "radial_velocity", "")).collect();
    let desk = Desk::with(&[("none.csv", &stars(&none)), ("s.csv", &stars(&[(5, "radial_velocity", "")]))]);
    for rule in ["prior", "prior:100"] {
        let run = desk.goc(&format!("stars none.csv --space uvw --missing-rv {rule} --k 2 -o l.csv"));
        assert_eq!(run.code, 1);
        let why = "only 0 objects have `radial_velocity`, too few to learn a prior from (at least 10); use \
                   --missing-rv drop";
        assert!(run.err.contains(why), "{}", run.err);
    }
    for rule in ["prior:0", "prior:-3", "prior:nan", "prior:1e300", "prior:x"] {
        let run = desk.goc(&format!("stars s.csv --space uvw --missing-rv {rule} --k 2 -o l.csv"));
        assert!(run.code == 2 && run.err.contains("but must be above 0 and at most"), "{}", run.err);
    }
    let run = desk.goc("candidates s.csv --values parallax --missing-rv prior -o c.csv");
    assert!(run.code == 2 && run.err.contains("--missing-rv is for the radial velocities"), "{}", run.err);
    assert_eq!(desk.files(), ["none.csv", "s.csv"]);
}

#[test]
fn a_metallicity_is_a_feature_and_one_that_is_missing_is_a_wide_set() {
    let gone = [(5, "fe_h", "-9999"), (6, "fe_h", "nan"), (7, "fe_h_error", ""), (9, "fe_h_error", "0")];
    let desk = Desk::with(&[("s.csv", &stars(&gone))]);
    let flags = "--with fe_h:fe_h_error -m 20";
    let run = desk.done(&format!("stars s.csv --space uvw {flags} --k 3 -o l.fits --candidates c.fits"));
    assert!(run.err.contains("`fe_h` of 3 of 40 objects is drawn from a prior"), "{}", run.err);
    let (table, candidates) = (desk.table("l.fits"), desk.table("c.fits"));
    assert!(columns(&table).contains("goc_U goc_V goc_W goc_fe_h"), "{}", columns(&table));
    assert_eq!(candidates.get_metadata("goc_features"), Some("U,V,W,fe_h"));
    assert_eq!(candidates.get_metadata("goc_with"), Some("fe_h:fe_h_error"));
    assert_eq!(table.require("goc_label").unwrap().nulls(), 0);
    let objects = candidates.require("object").unwrap().integers().unwrap();
    let fe_h = candidates.require("fe_h").unwrap().numbers().unwrap();
    let of = |i: i64| {
        let own: Vec<f64> =
            objects.iter().zip(&fe_h).filter(|(o, _)| **o == 100 + i).map(|(_, v)| *v).collect();
        let high = own.iter().copied().fold(f64::MIN, f64::max);
        (own.len(), high - own.iter().copied().fold(f64::MAX, f64::min))
    };
    // Within two errors, exact where the error is 0, and wide where the value is missing.
    assert!(of(4).0 == 20 && of(4).1 < 0.4, "{:?}", of(4));
    assert_eq!(of(9), (20, 0.0));
    for i in [5, 6, 7] {
        assert!(of(i).0 == 80 && of(i).1 > 1.0, "{i}: {:?}", of(i));
    }
    // For measured values that are no stars, too.
    desk.done(&format!("candidates s.csv {flags} --values parallax,pmra --transform pca:1 -o pca.fits"));
    assert_eq!(desk.table("pca.fits").get_metadata("goc_features"), Some("pc1,fe_h"));
}

#[test]
fn columns_that_cannot_be_clustered_by_are_named() {
    let desk = Desk::with(&[("s.csv", &stars(&[(5, "fe_h_error", "-0.1")]))]);
    for (with, why) in [
        ("name:fe_h_error", "column `name` holds no numbers"),
        ("fe_h:name", "column `name` holds no numbers"),
        ("fe_h:nothing", "no column `nothing`"),
        ("nothing", "no column `nothing`"),
        ("source_id", "no error column for `source_id`"),
        ("parallax", "names `parallax`, which is among the values already"),
        ("fe_h", "column `fe_h_error`: -0.1 is negative where an error is needed"),
        (":", "give COLUMN, or COLUMN:ERROR_COLUMN"),
    ] {
        for command in ["stars s.csv --space uvw --k 2 -o l.csv", "candidates s.csv --space uvw -o c.csv"] {
            let run = desk.goc(&format!("{command} --with {with}"));
            assert!(run.code != 0 && run.err.contains(why), "{command} {with}: {}", run.err);
        }
    }
    assert_eq!(desk.files(), ["s.csv"]);
}

#[test]
fn a_parallax_that_is_compatible_with_zero_needs_a_distance_prior_alone() {
    let desk = Desk::with(&[("s.csv", &stars(&[(5, "parallax", "-0.02"), (5, "parallax_error", "0.1")]))]);
    let run = "stars s.csv --space uvw --method marginal --chains 1 --burn 2 --keep 2 --distance-prior edsd:1.35 -m 20 -o l.fits";
    desk.done(run);
    let table = desk.table("l.fits");
    let counts = table.require("goc_candidates").unwrap().integers().unwrap();
    assert!(table.require("goc_label").unwrap().nulls() == 0 && counts[5] > 10, "{counts:?}");
}

#[test]
fn groups_are_validated_by_their_chemistry_and_drawn() {
    let desk = Desk::with(&[("s.csv", &stars(&[(3, "fe_h", "-9999")]))]);
    let run = desk.done("stars s.csv --space uvw --k 4 -m 10 -o groups.fits");
    assert_eq!(run.code, 0);
    let run = desk.done("validate groups.fits --by fe_h:fe_h_error -o v.csv --seed 2");
    assert!(run.err.contains("by fe_h, 39 of 40 stars with a value"), "{}", run.err);
    let table = desk.table("v.csv");
    assert_eq!(
        columns(&table),
        "label members values median scatter random_low random_median random_high p_value q_value"
    );
    let values = table.require("values").unwrap().integers().unwrap();
    assert_eq!(values.iter().sum::<i64>(), 39);
    let said = desk.json("validate groups.fits --by fe_h --json");
    assert_eq!(said["features"], serde_json::json!(["goc_U", "goc_V", "goc_W"]));
    assert!(said["p_value"].as_f64().unwrap() <= 1.0 && said["n_values"] == 39);
    desk.done("validate groups.fits --by fe_h -o again.csv --seed 2 --threads 1");
    assert_eq!(desk.text("again.csv"), desk.text("v.csv"));
    desk.done("plot validation v.csv -o v.svg");
    assert!(desk.text("v.svg").contains("scatter of"));
    // Groups that were found by it prove nothing.
    desk.done("stars s.csv --space uvw --k 4 -m 10 --with fe_h -o with.fits");
    let run = desk.done("validate with.fits --by fe_h -o w.csv");
    assert!(run.err.contains("warning: `fe_h` was used to find the groups"), "{}", run.err);
    for (flags, why) in [
        ("--by name:fe_h_error", "column `name` holds no numbers"),
        ("--by nothing", "no column `nothing`"),
        ("--by fe_h --label nothing", "no column `nothing`"),
        ("--by fe_h --features nothing", "no column `nothing`"),
        ("--by fe_h --draws 0", "--draws"),
    ] {
        let run = desk.goc(&format!("validate groups.fits {flags}"));
        assert!(run.code != 0 && run.err.contains(why), "{flags}: {}", run.err);
    }
    let run = desk.goc("validate s.csv --by fe_h --label source_id");
    assert!(run.code != 0 && run.err.contains("--features"), "{}", run.err);
}

/// A table of stars in two groups with a value each, as `goc stars` writes it.
fn judged(value: impl Fn(usize) -> String, label: impl Fn(usize) -> String) -> Desk {
    let mut text = String::from("goc_label,goc_U,goc_V,goc_W,fe_h,fe_h_error\n");
    for i in 0..40 {
        let (u, v) = (i * 7 % 40, i * 11 % 40);
        text += &format!("{},{u}.5,{v}.5,{i}.5,{},0.1\n", label(i), value(i));
    }
    Desk::with(&[("g.csv", &text)])
}

#[test]
fn values_that_cannot_be_squared_are_named_and_prove_no_group_tight() {
    let label = |i: usize| (i / 8 % 3).to_string();
    for (value, error) in
        [("1e308", "is not finite, or too far out"), ("-1e200", "too far out to be squared")]
    {
        let desk = judged(|i| if i % 2 == 0 { value.into() } else { i.to_string() }, label);
        let run = desk.goc("validate g.csv --by fe_h -o v.csv");
        assert_eq!((run.code, desk.files().len()), (1, 1), "{}", run.err);
        assert!(run.err.starts_with("error: g.csv: row 1 (line 2), column `fe_h`: "), "{}", run.err);
        assert!(run.err.contains(error), "{}", run.err);
    }
    // A label that no whole number can be, and groups that nothing can be compared with.
    let run = judged(|i| i.to_string(), |i| if i == 3 { "1e300".into() } else { "1".into() })
        .goc("validate g.csv --by fe_h");
    assert!(run.code == 1 && run.err.contains("is not a whole number"), "{}", run.err);
    let run = judged(|i| i.to_string(), |_| "1".into()).goc("validate g.csv --by fe_h");
    assert!(run.code == 0 && run.err.contains("none has as many stars outside"), "{}", run.err);
    let run = judged(|i| i.to_string(), label).goc("validate g.csv --by fe_h --draws 100000000000");
    assert!(run.code == 1 && run.err.contains("ask for fewer (--draws)"), "{}", run.err);
}
