//! `--space` of `goc stars` and `goc candidates`: every space from a catalogue to labels, figures
//! and the page.

use crate::desk::{Desk, columns};

const SPACES: [(&str, &str); 6] = [
    ("actions", "Jr,Jz,Jphi"),
    ("iom", "energy,Lz,Lperp"),
    ("orbit", "energy,Lz,circularity,eccentricity,pericentre,apocentre,zmax"),
    ("xyzuvw", "X,Y,Z,U,V,W"),
    ("uvw", "U,V,W"),
    ("galactocentric", "x,y,z,vx,vy,vz"),
];

/// Gaia's columns of two open clusters that are far apart in the sky and in velocity: eight stars
/// each, and one without a radial velocity.
fn two_clusters() -> String {
    let mut text =
        "source_id,ra,dec,parallax,parallax_error,pmra,pmra_error,pmdec,pmdec_error,radial_velocity,\
                    radial_velocity_error,truth\n"
            .to_string();
    for i in 0..8 {
        let t = f64::from(i) - 3.5;
        let (a, b) = (0.3 * t, 0.2 * (t * t - 5.0));
        for (cluster, [ra, dec, parallax, pmra, pmdec, rv]) in
            [[56.75, 24.12, 7.36, 19.9, -45.5, 5.6], [130.1, 19.7, 5.37, -36.0, -12.9, 34.8]]
                .into_iter()
                .enumerate()
        {
            text += &format!(
                "{},{},{},{},0.05,{},0.05,{},0.05,{},0.5,{cluster}\n",
                100 * (cluster + 1) + i as usize,
                ra + a,
                dec + b,
                parallax + 0.03 * b,
                pmra + a,
                pmdec - b,
                rv + 0.5 * a
            );
        }
    }
    text + "900,57,24,7.3,0.05,20,0.05,-45,0.05,,,0\n"
}

#[test]
fn every_space_goes_from_a_catalogue_to_labels_figures_and_the_page() {
    let desk = Desk::with(&[("gaia.csv", &two_clusters())]);
    for (space, features) in SPACES {
        let named = features.replace(',', " ");
        desk.done(&format!(
            "stars gaia.csv --space {space} --method marginal --chains 2 --burn 10 --keep 20 -m 15 --candidates c.parquet -o g.fits"
        ));
        let stars = desk.table("g.fits");
        let own: Vec<String> = features.split(',').map(|name| format!("goc_{name}")).collect();
        assert!(columns(&stars).contains(&own.join(" ")), "{}", columns(&stars));
        assert_eq!(stars.get_metadata("goc_features"), Some(features));
        assert!(stars.require("goc_label").unwrap().is_null(16), "no radial velocity");
        let unit = |name: &str| stars.require(name).unwrap().unit().map(str::to_string);
        match space {
            "xyzuvw" => assert_eq!((unit("goc_X"), unit("goc_U")), (Some("pc".into()), Some("km/s".into()))),
            "iom" => assert_eq!(unit("goc_energy"), Some("km2 s-2".into())),
            "orbit" => assert_eq!((unit("goc_circularity"), unit("goc_zmax")), (None, Some("kpc".into()))),
            _ => {}
        }

        let candidates = desk.table("c.parquet");
        let energy = if space == "actions" { " energy" } else { "" };
        assert_eq!(columns(&candidates), format!("object candidate {named}{energy} penalty"));
        // Actions are told by their transformation, as before there were other spaces.
        let said = (space != "actions").then_some(space);
        assert_eq!(candidates.get_metadata("goc_space"), said);
        assert_eq!(stars.get_metadata("goc_space"), said);
        assert_eq!(candidates.get_metadata("goc_transform"), Some(space));
        let potential = ["actions", "iom", "orbit"].contains(&space);
        assert_eq!(candidates.get_metadata("goc_potential").is_some(), potential, "{space}");
        assert_eq!(candidates.get_metadata("goc_sun").is_some(), !space.ends_with("uvw"), "{space}");

        // The same in two steps; robust scaling, but for actions as before.
        let two_steps = format!("candidates gaia.csv --space {space} --missing nan -m 15 -o again.parquet");
        desk.done(&format!("{two_steps} --sampler tails"));
        assert_eq!(
            desk.table("again.parquet").require("penalty").unwrap().numbers().unwrap(),
            candidates.require("penalty").unwrap().numbers().unwrap()
        );
        desk.done(&two_steps);
        desk.done("cluster again.parquet --k 2 -o l.parquet");
        let labels = desk.table("l.parquet");
        let scale = if space == "actions" { "standard" } else { "robust" };
        assert_eq!(labels.get_metadata("goc_scale"), Some(scale), "{space}");
        assert_eq!(labels.get_metadata("goc_features"), Some(features));
        desk.done("cluster again.parquet --k 2 --scale standard -o s.parquet");
        assert_eq!(desk.table("s.parquet").get_metadata("goc_scale"), Some("standard"));
        desk.done("plot clusters l.parquet --candidates again.parquet -o p.svg");
        desk.done("report g.fits -o page.html");
        desk.done("report l.parquet --candidates again.parquet -o page.html");
    }
}

#[test]
fn open_clusters_are_told_apart_by_place_and_velocity() {
    let desk = Desk::with(&[("gaia.csv", &two_clusters())]);
    for space in ["xyzuvw", "uvw", "galactocentric"] {
        desk.done(&format!("stars gaia.csv --space {space} --k 2 --k-rule constant -o g.fits"));
        let table = desk.table("g.fits");
        let (label, truth) = (table.require("goc_label").unwrap(), table.require("truth").unwrap());
        for row in 0..16 {
            let alike = label.text(row) == label.text(0);
            assert_eq!(alike, truth.text(row) == truth.text(0), "{space}, row {row}");
        }
    }
}

#[test]
fn a_space_changes_neither_draws_nor_penalties_and_uvw_is_the_end_of_xyzuvw() {
    let desk = Desk::with(&[("gaia.csv", &two_clusters())]);
    let made = |space: &str, flags: &str| {
        desk.done(&format!(
            "candidates gaia.csv --missing nan --space {space} {flags} -m 9 -o {space}.parquet"
        ));
        desk.table(&format!("{space}.parquet"))
    };
    let numbers = |table: &goc_tables::Table, name: &str| table.require(name).unwrap().numbers().unwrap();
    let (actions, all, velocities) = (made("actions", ""), made("xyzuvw", ""), made("uvw", ""));
    for name in ["U", "V", "W"] {
        assert_eq!(numbers(&all, name), numbers(&velocities, name));
    }
    assert_eq!(numbers(&all, "penalty"), numbers(&actions, "penalty"));
    let iom = made("iom", "");
    assert_eq!(numbers(&iom, "energy"), numbers(&actions, "energy"));
    assert_eq!(numbers(&iom, "Lz"), numbers(&actions, "Jphi"));
    // Lz follows the sign of Jphi; what is seen from the Sun does not depend on where the Sun is.
    let turned = made("iom", "--jphi prograde-positive");
    assert!(numbers(&iom, "Lz").iter().zip(numbers(&turned, "Lz")).all(|(a, b)| *a == -b));
    assert_eq!(numbers(&made("xyzuvw", "--sun astropy-v4.0"), "X"), numbers(&all, "X"));
    // The default is actions, to the byte.
    desk.done("candidates gaia.csv --missing nan -m 9 -o default.parquet");
    assert_eq!(desk.bytes("default.parquet"), desk.bytes("actions.parquet"));
}

#[test]
fn a_space_that_needs_no_potential_reads_none() {
    let desk = Desk::with(&[("gaia.csv", &two_clusters())]);
    let run = desk.goc("candidates gaia.csv --missing nan --potential gone.ini --space iom -o c.csv");
    assert!(run.code != 0 && run.err.contains("gone.ini"), "{}", run.err);
    for space in ["xyzuvw", "uvw", "galactocentric"] {
        desk.done(&format!(
            "candidates gaia.csv --missing nan --potential gone.ini --space {space} -o c.csv"
        ));
    }
}

#[test]
fn what_cannot_be_a_space_is_named() {
    let places = "x,y,z,vx,vy,vz,x_error\n1,2,3,4,5,6,1\n2,3,4,5,6,7,1\n";
    let desk = Desk::with(&[("gaia.csv", &two_clusters()), ("places.csv", places)]);
    for (command, said) in [
        (
            "stars gaia.csv --k 2 --space cylindrical",
            "[possible values: actions, iom, orbit, xyzuvw, uvw, galactocentric]",
        ),
        (
            "candidates places.csv --space xyzuvw",
            "x, y, z, vx, vy, vz were not measured, so they have no error bars to sample",
        ),
        ("stars places.csv --k 2 --space galactocentric", "were not measured"),
        (
            "candidates gaia.csv --space uvw --transform none",
            "--space uvw and --transform none both say what the features are; leave one of them out",
        ),
        (
            "stars gaia.csv --k 2 --space uvw --transform none",
            "goc stars clusters stars in a space (--space)",
        ),
        (
            "stars gaia.csv --k 2 --space uvw --feature-map actions",
            "--feature-map actions needs features Jr and Jz, not U, V, W",
        ),
    ] {
        let run = desk.goc(command);
        assert_eq!(run.code, 2, "{command}: {}", run.err);
        assert!(run.err.contains(said), "{command}: {}", run.err);
    }
}

#[test]
fn the_mixture_learns_how_far_quoted_errors_hold_and_others_warn() {
    let desk = Desk::with(&[("gaia.csv", &two_clusters())]);
    let short = "--method marginal --chains 2 --burn 10 --keep 20 -m 15";
    let stars = format!("stars gaia.csv --space xyzuvw {short} --json -o g.fits");
    let found = desk.json(&stars);
    assert_eq!((&found["sampler"], &found["measured"]), (&"tails".into(), &4.into()));
    let factor = found["error_factor"].as_f64().unwrap();
    assert!((1.0..=2.5).contains(&factor) && found["bad_errors"].is_f64(), "{found}");
    // Told how, or how large the sets are, it takes the errors at their word.
    for flag in ["--sampler uniform", "--sigmas 2", "--penalty none", "--shape l1"] {
        let found = desk.json(&format!("{stars} {flag}"));
        assert_eq!((&found["sampler"], &found["error_factor"]), (&"uniform".into(), &().into()), "{flag}");
    }

    let candidates = "candidates gaia.csv --space xyzuvw --missing nan --sampler tails -m 15 -o c.parquet";
    for (flag, message) in [
        (
            "--penalty density:parallax",
            "--sampler tails goes with --penalty density or none, not density:parallax",
        ),
        ("--shape l1", "--sampler tails needs normal errors, not those of the shape l1"),
    ] {
        let run = desk.goc(&format!("{candidates} {flag}"));
        assert!(run.code == 2 && run.err.ends_with(&format!("error: {message}\n")), "{flag}: {}", run.err);
    }
    desk.done(candidates);
    let run = desk.done("cluster c.parquet --k 2 -o l.csv");
    assert!(run.err.contains("drawn with heavy tails, which only the marginal mixture"), "{}", run.err);
    // A model keeps what was learned; candidates without tails are weighed as ever.
    let run =
        desk.done(&format!("cluster c.parquet {} --save-model m.json -o l.csv", &short[..short.len() - 6]));
    assert!(run.err.contains("times the quoted ones"), "{}", run.err);
    assert!(desk.text("m.json").contains("\"errors\""));
    desk.done("predict m.json c.parquet -o p.csv");
    desk.done("candidates gaia.csv --space xyzuvw --missing nan -m 15 -o plain.parquet");
    desk.done("predict m.json plain.parquet -o p.csv");
    desk.done(&format!("cluster plain.parquet {} --save-model n.json -o l.csv", &short[..short.len() - 6]));
    let run = desk.done("predict n.json c.parquet -o p.csv");
    assert!(run.err.contains("those of the model were not"), "{}", run.err);
}
