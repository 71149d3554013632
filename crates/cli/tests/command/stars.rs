//! `goc actions`, `goc candidates` on star catalogues, `goc stars`.

use goc_tables::{Column, Data, Table};

use crate::desk::{Desk, columns, data};

/// Five stars with Gaia's column names; the fourth has no radial velocity, the fifth a parallax well below 0.
pub const GAIA: &str = "\
source_id,ra,dec,parallax,parallax_error,pmra,pmra_error,pmdec,pmdec_error,radial_velocity,radial_velocity_error,parallax_pmra_corr,parallax_pmdec_corr,pmra_pmdec_corr,name
4001,187.25,12.39,0.40,0.02,-12.1,0.02,3.4,0.02,85.0,1.0,0.1,-0.2,0.05,a
4002,201.1,30.2,0.55,0.02,4.0,0.02,-8.0,0.02,-120.0,1.0,0.0,0.1,0.0,b
4003,150.0,45.0,0.35,0.02,1.0,0.02,-3.0,0.02,20.0,1.0,0.9,0.9,-0.9,c
4004,10.0,-60.0,0.80,0.02,1.0,0.02,-3.0,0.02,,,0.0,0.0,0.0,d
4005,250.0,50.0,-0.80,0.02,1.0,0.02,-3.0,0.02,10.0,1.0,0.0,0.0,0.0,e
";

pub fn numbers(table: &Table, name: &str) -> Vec<f64> {
    table.require(name).unwrap().numbers().unwrap()
}

#[test]
fn every_star_keeps_its_row_and_one_without_actions_says_why() {
    let desk = Desk::with(&[("gaia.csv", GAIA)]);
    let run = desk.done("actions gaia.csv -o a.fits");
    assert_eq!(
        run.err,
        "star columns: ra, dec, parallax, pmra, pmdec, radial_velocity\n\
         2 of 5 stars have no actions: 1 parallax not positive, 1 radial_velocity missing\n\
         actions of 3 stars, in a.fits\n"
    );
    let table = desk.table("a.fits");
    assert!(columns(&table).ends_with("name Jr Jz Jphi energy actions_note"), "{}", columns(&table));
    assert_eq!(table.rows(), 5);
    let notes = table.require("actions_note").unwrap();
    assert_eq!((notes.text(0).as_ref(), notes.text(3).as_ref()), ("", "radial_velocity missing"));
    assert_eq!(notes.text(4).as_ref(), "parallax not positive");
    for name in ["Jr", "Jz", "Jphi", "energy"] {
        let column = table.require(name).unwrap();
        let values = column.numbers().unwrap();
        assert!(
            values[..3].iter().all(|v| v.is_finite()) && values[3].is_nan() && values[4].is_nan(),
            "{name}"
        );
    }
    assert!(table.get_metadata("goc_jphi_sign").unwrap().starts_with("Jphi = x vy - y vx"));
    assert_eq!(table.get_metadata("goc_sun"), Some("hattori"));
    assert_eq!(table.get_metadata("goc_potential"), Some("mcmillan17"));
}

#[test]
fn a_misspelt_parallax_is_named_and_not_taken_for_another_kind_of_table() {
    // With x, y, z, vx, vy, vz beside it, as some catalogues have them, heliocentric.
    let slip = GAIA.replace("parallax,parallax_error,", "paralax,paralax_error,");
    let (head, rows) = slip.split_once('\n').unwrap();
    let rows = rows.lines().map(|row| format!("{row},1,2,3,4,5,6\n")).collect::<String>();
    let both = format!("{head},x,y,z,vx,vy,vz\n{rows}");
    let desk = Desk::with(&[("slip.csv", &slip), ("both.csv", &both)]);
    for command in ["actions both.csv", "stars both.csv --k 2", "candidates slip.csv -o c.csv"] {
        let run = desk.goc(command);
        assert_eq!(run.code, 2, "{command}: {}", run.err);
        assert!(run.err.contains("no column `parallax` (did you mean `paralax`?)"), "{command}: {}", run.err);
    }
    // What is requested by name is done.
    desk.done("actions both.csv --columns x=x -o a.csv");
}

#[test]
fn frequencies_of_a_nearly_circular_orbit_are_the_epicycles() {
    // In the plane at 8 kpc, 1 km/s off the circular speed of McMillan's Milky Way (232.8 km/s there).
    let desk = Desk::with(&[("s.csv", "x,y,z,vx,vy,vz\n-8,0,0,1,232.5,1\n-8,0,0,2000,0,0\n")]);
    desk.done("actions s.csv --frequencies -o f.csv");
    let table = desk.table("f.csv");
    let omega = numbers(&table, "Omega_phi");
    // Omega = v / R, in rad/Gyr; negative, as Jphi is.
    assert!((omega[0] + 232.5 / 8.0 / 0.977_792_2).abs() < 0.3, "{omega:?}");
    let (kappa, nu) = (numbers(&table, "Omega_r")[0], numbers(&table, "Omega_z")[0]);
    assert!((1.2..1.6).contains(&(kappa / omega[0].abs())) && nu > 2.0 * omega[0].abs(), "{kappa} {nu}");
    assert!(omega[1].is_nan() && table.require("actions_note").unwrap().text(1) == "unbound");
    let angle = numbers(&table, "theta_r")[0];
    assert!((0.0..std::f64::consts::TAU).contains(&angle));
}

#[test]
fn a_parallax_of_zero_and_positions_off_the_sky_have_their_reasons() {
    let desk = Desk::with(&[(
        "s.csv",
        "ra,dec,parallax,pmra,pmdec,radial_velocity\n10,20,0,1,1,5\n10,95,1,1,1,5\n10,20,inf,1,1,5\n10,20,1,1,1,\n",
    )]);
    desk.done("actions s.csv -o a.csv");
    let notes = desk.table("a.csv").require("actions_note").unwrap().texts();
    assert_eq!(
        notes,
        [
            "parallax not positive",
            "position beyond the pole or a full turn",
            "parallax infinite",
            "radial_velocity missing"
        ]
    );
}

#[test]
fn the_sign_of_jphi_is_a_choice_that_changes_nothing_else() {
    let desk = Desk::with(&[("gaia.csv", GAIA)]);
    desk.done("actions gaia.csv -o paper.csv");
    desk.done("actions gaia.csv --jphi prograde-positive -o other.csv");
    let (paper, other) = (desk.table("paper.csv"), desk.table("other.csv"));
    assert_eq!(numbers(&paper, "Jr")[..3], numbers(&other, "Jr")[..3]);
    for row in 0..3 {
        assert_eq!(numbers(&paper, "Jphi")[row], -numbers(&other, "Jphi")[row]);
    }
}

#[test]
fn a_star_has_the_same_actions_in_every_frame_and_form() {
    // One star thrice: Galactic with parallax, the same with its distance, and Galactocentric by
    // hand (hattori's Sun).
    let (l, b, d) = (30.0_f64, 40.0_f64, 2.0_f64);
    let (pml, pmb, rv) = (3.0, -2.0, 50.0);
    let k = 4.740470464;
    let (sl, cl, sb, cb) =
        (l.to_radians().sin(), l.to_radians().cos(), b.to_radians().sin(), b.to_radians().cos());
    let (vl, vb) = (k * pml * d, k * pmb * d);
    let x = d * cb * cl - 8.178;
    let (y, z) = (d * cb * sl, d * sb + 0.0208);
    let vx = rv * cb * cl - vl * sl - vb * sb * cl + 11.1;
    let vy = rv * cb * sl + vl * cl - vb * sb * sl + 247.30;
    let vz = rv * sb + vb * cb + 7.25;
    let desk = Desk::with(&[
        ("g.csv", &format!("l,b,parallax,pml,pmb,HRV\n{l},{b},{},{pml},{pmb},{rv}\n", 1.0 / d)),
        ("d.csv", &format!("glon,glat,dist_kpc,pml,pmb,rv\n{l},{b},{d},{pml},{pmb},{rv}\n")),
        ("c.csv", &format!("x,y,z,vx,vy,vz\n{x},{y},{z},{vx},{vy},{vz}\n")),
        (
            "r.csv",
            &format!(
                "ell,bee,p,pml,pmb,rv\n{},{},{},{pml},{pmb},{rv}\n",
                l.to_radians(),
                b.to_radians(),
                1.0 / d
            ),
        ),
    ]);
    let actions = |file: &str, flags: &str| -> Vec<f64> {
        desk.done(&format!("actions {file} {flags} -o out-{file}"));
        let table = desk.table(&format!("out-{file}"));
        ["Jr", "Jz", "Jphi", "energy"].iter().map(|name| numbers(&table, name)[0]).collect()
    };
    let first = actions("g.csv", "");
    for other in [
        actions("d.csv", ""),
        actions("c.csv", ""),
        actions("r.csv", "--angles radians --columns parallax=p"),
    ] {
        for (a, b) in first.iter().zip(&other) {
            assert!((a - b).abs() <= 1e-7 * a.abs().max(1.0), "{first:?} {other:?}");
        }
    }
}

#[test]
fn hard_places_have_actions_or_a_reason_and_never_a_nan_without_one() {
    let stars = "\
object,x,y,z,vx,vy,vz
centre,0,0,0,10,0,0
at rest in the centre,0,0,0,0,0,0
Sun,-8.178,0,0.0208,11.1,247.3,7.25
z axis,0,0,5,0,0,50
z axis moving out,0,0,5,30,0,50
no angular momentum,8,0,1,50,0,20
in the plane,8,0,0,20,200,0
at rest,8,1,2,0,0,0
unbound,8,0,1,900,0,0
circular,-8,0,0,0,230,0
far,1e9,0,0,0,0,0
";
    let desk = Desk::with(&[("hard.csv", stars)]);
    desk.done("actions hard.csv -o out.csv");
    let table = desk.table("out.csv");
    let (jr, jz, jphi) = (numbers(&table, "Jr"), numbers(&table, "Jz"), numbers(&table, "Jphi"));
    let notes = table.require("actions_note").unwrap();
    for row in 0..table.rows() {
        let there = [jr[row], jz[row], jphi[row]].iter().all(|v| v.is_finite());
        assert_ne!(
            there,
            !notes.text(row).is_empty(),
            "row {row}: {} {:?}",
            notes.text(row),
            (jr[row], jz[row])
        );
        assert!(!there || (jr[row] >= 0.0 && jz[row] >= 0.0), "row {row}");
    }
    assert_eq!(notes.text(8).as_ref(), "unbound");
    assert_eq!((jz[6], jphi[5]), (0.0, 0.0));
    assert!(jphi[6] > 0.0 && jphi[9] < 0.0);
}

#[test]
fn a_catalogue_becomes_candidates_and_what_was_lost_is_counted_by_star() {
    let desk = Desk::with(&[("gaia.csv", GAIA)]);
    let run = desk.done("candidates gaia.csv -m 20 --missing nan --losses lost.csv -o c.parquet");
    assert!(run.err.contains("a star catalogue: its candidates are actions"), "{}", run.err);
    assert!(run.err.contains("shape: ellipsoid, with 3 correlations\n"), "{}", run.err);
    assert!(
        run.err.contains("dropped 1 of 5 objects, a value or an error is missing: 4004\n"),
        "{}",
        run.err
    );
    assert!(run.err.contains("object 4003: its correlations contradict each other"), "{}", run.err);
    assert!(run.err.contains("they were multiplied by 0.555"), "{}", run.err);
    assert!(run.err.contains("dropped 1 objects, all their points were rejected: 4005\n"), "{}", run.err);
    let table = desk.table("c.parquet");
    assert_eq!(columns(&table), "object candidate Jr Jz Jphi energy penalty");
    assert_eq!(table.rows(), 60);
    assert_eq!(table.get_metadata("goc_features"), Some("Jr,Jz,Jphi"));
    for key in ["goc_potential", "goc_sun", "goc_jphi_sign", "goc_seed", "goc_version", "goc_variant"] {
        assert!(table.get_metadata(key).is_some(), "{key}");
    }
    let lost = desk.table("lost.csv");
    assert_eq!(lost.rows(), 1);
    assert_eq!(lost.require("reasons").unwrap().text(0).as_ref(), "20 parallax not positive");
}

#[test]
fn a_star_with_a_number_that_cannot_be_stops_the_command_or_stays_without_a_label() {
    let head = "source_id,ra,dec,parallax,parallax_error,pmra,pmra_error,pmdec,pmdec_error,radial_velocity,\
                radial_velocity_error,pmra_pmdec_corr\n";
    let mut text = head.to_string();
    for (id, parallax, error, corr) in [
        (1, "1.0", "0.05", "0.1"),
        (2, "inf", "0.05", "0.1"),
        (3, "1.1", "-0.05", "0.1"),
        (4, "1.2", "0.05", "1.5"),
    ] {
        text.push_str(&format!("{id},10,20,{parallax},0.02,3,{error},4,0.05,-50,2,{corr}\n"));
    }
    text.push_str("5,200,-40,0.9,0.02,-3,0.05,4,0.05,150,2,0.0\n");
    let desk = Desk::with(&[("stars.csv", &text)]);
    let run = desk.goc("stars stars.csv --k 1");
    assert_eq!(run.code, 1);
    assert!(run.err.contains("row 2 (line 3), column `parallax`: inf"), "{}", run.err);
    let said = desk.done("stars stars.csv --k 1 --bad-rows drop -o out.csv").err;
    assert!(
        said.contains("dropped 3 of 5 objects, a number is impossible (--bad-rows drop): 2, 3, 4"),
        "{said}"
    );
    let out = desk.table("out.csv");
    let label = out.require("goc_label").unwrap();
    assert_eq!([0, 1, 2, 3, 4].map(|row| label.is_null(row)), [false, true, true, true, false]);
    let notes = out.require("goc_note").unwrap().texts();
    for (row, reason) in [(1, "not a finite number"), (2, "negative"), (3, "no correlation")] {
        assert!(notes[row].contains(reason), "{notes:?}");
    }
}

#[test]
fn nulls_are_refused_by_name_unless_asked_for() {
    let desk = Desk::with(&[("gaia.csv", GAIA)]);
    let run = desk.goc("candidates gaia.csv -o c.parquet");
    assert_eq!(run.code, 1);
    assert!(run.err.contains("gaia.csv: row 4 (line 5), column `radial_velocity`"), "{}", run.err);
    assert!(run.err.contains("--missing nan"), "{}", run.err);
}

#[test]
fn distances_with_errors_work_in_place_of_parallaxes() {
    let stars = "\
object,l,b,distance,distance_error,pml,pml_error,pmb,pmb_error,radial_velocity,radial_velocity_error
1,30,40,2.0,0.1,3,0.02,-2,0.02,50,1
2,60,-50,1.5,0.1,1,0.02,4,0.02,-80,1
";
    let desk = Desk::with(&[("d.csv", stars)]);
    let run = desk.done("candidates d.csv -m 11 --sampler grid:distance --penalty density:distance -o c.csv");
    assert!(run.err.contains("star columns: l, b, distance, pml, pmb, radial_velocity"), "{}", run.err);
    assert_eq!(desk.table("c.csv").rows(), 22);
    assert_eq!(numbers(&desk.table("c.csv"), "penalty")[..11].iter().filter(|p| **p == 0.0).count(), 1);
    let run = desk.goc("candidates d.csv --zero-point 0.017 -o x.csv");
    assert_eq!(run.code, 2);
    assert!(
        run.err.ends_with("error: --zero-point is for parallaxes; the catalogue has distances\n"),
        "{}",
        run.err
    );
}

/// Thirty stars of three dwarfs.
fn mock(desk: &Desk) {
    desk.done("simulate --dwarfs 3 --stars 10 --age 3 --seed 4 --stars-out stars.parquet -o c.parquet");
}

#[test]
fn one_command_gives_the_catalogue_back_with_labels_and_its_origin() {
    let desk = Desk::new();
    mock(&desk);
    let before = desk.table("stars.parquet");
    // A star without a radial velocity goes along without a label.
    let mut columns: Vec<Column> = before.columns().to_vec();
    let at = columns.iter().position(|c| c.name() == "radial_velocity").unwrap();
    let mut values = columns[at].numbers().unwrap();
    values[7] = f64::NAN;
    columns[at] = Column::new("radial_velocity", Data::F64(values));
    desk.write("gap.fits", &Table::new(columns).unwrap());
    desk.done("stars gap.fits --k 3 -o labelled.fits");
    let table = desk.table("labelled.fits");
    assert_eq!(table.rows(), 30);
    assert_eq!(numbers(&table, "true_Jr"), numbers(&before, "true_Jr"));
    let label = table.require("goc_label").unwrap();
    assert!(label.is_null(7) && label.nulls() == 1);
    assert_eq!(table.require("goc_note").unwrap().text(7).as_ref(), "radial_velocity missing");
    for key in
        ["goc_potential", "goc_sun", "goc_jphi_sign", "goc_seed", "goc_version", "goc_method", "goc_variant"]
    {
        assert!(table.get_metadata(key).is_some(), "{key}");
    }
    // The default said in words: a rule that begins with a minus is a value, not a flag.
    desk.done("stars gap.fits --k 3 --missing -9999,nan -o again.fits");
    assert_eq!(desk.table("again.fits").require("goc_label").unwrap(), label);
    desk.done("actions gap.fits --missing -9999,-999 -o actions.fits");
    // The two steps by hand give the same labels.
    desk.done("candidates gap.fits --missing nan -o by-hand.parquet");
    desk.done("cluster by-hand.parquet --k 3 -o by-hand.csv");
    let by_hand: Vec<i64> = desk.table("by-hand.csv").require("label").unwrap().integers().unwrap();
    let labels: Vec<i64> =
        (0..30).filter(|&row| row != 7).map(|row| label.text(row).parse().unwrap()).collect();
    assert_eq!(labels, by_hand);
}

#[test]
fn columns_are_converted_by_their_units_and_a_unit_that_is_not_known_is_refused() {
    let star = |[ra, parallax, pm]: [&str; 3], values: [f64; 4]| {
        let column =
            |name: &str, value: f64, unit: &str| Column::new(name, Data::F64(vec![value])).with_unit(unit);
        Table::new(vec![
            column("RA", values[0], ra),
            column("dec", values[1], ra),
            column("parallax", values[2], parallax),
            column("pmra", values[3], pm),
            column("pmdec", values[3], pm),
            column("radial_velocity", 10.0, "km s**-1"),
        ])
        .unwrap()
    };
    let desk = Desk::new();
    let (ra, dec) = (70.0_f64, 20.0_f64);
    desk.write("good.vot", &star(["degree", "mas", "mas.yr**-1"], [ra, dec, 0.5, 1.0]));
    desk.write("rad.fits", &star(["rad", "mas", "mas/yr"], [ra.to_radians(), dec.to_radians(), 0.5, 1.0]));
    desk.write("arcsec.ecsv", &star(["deg", "arcsec", "arcsec yr-1"], [ra, dec, 0.5e-3, 1e-3]));
    desk.write("furlong.ecsv", &star(["deg", "furlong", "mas yr-1"], [ra, dec, 0.5, 1.0]));
    let said = desk.done("actions good.vot -o good.csv").err;
    assert!(!said.contains("converted"), "{said}");
    let jr = |name: &str| numbers(&desk.table(name), "Jr")[0];
    let good = jr("good.csv");
    for (words, note) in [
        ("rad.fits", "column `RA`: converted from rad to deg\n"),
        ("rad.fits --angles radians", ""),
        ("good.vot --angles radians", "column `dec`: converted from degree to rad\n"),
        ("arcsec.ecsv", "column `parallax`: converted from arcsec to mas\n"),
    ] {
        let run = desk.done(&format!("actions {words} -o other.csv"));
        assert!(run.err.contains(note), "{words}: {}", run.err);
        assert!((jr("other.csv") - good).abs() < 1e-6 * good, "{words}: {} {good}", jr("other.csv"));
    }
    let run = desk.goc("actions furlong.ecsv -o x.csv");
    assert_eq!(run.code, 2);
    assert!(
        run.err.ends_with("error: column `parallax` is in furlong, but mas is needed; convert it\n"),
        "{}",
        run.err
    );
}

#[test]
fn what_makes_no_stars_is_refused() {
    let desk = Desk::with(&[
        ("t.csv", "a,b\n1,2\n"),
        ("e.csv", "x,y,z,vx,vy,vz\n"),
        ("x.csv", "x,y,z,vx,vy,vz\n1,2,3,4,5,6\n"),
        ("bad.ini", "[Potential]\ntype = Ring\n"),
    ]);
    let needs = "error: t.csv: not a star catalogue: ra, dec, parallax, pmra, pmdec, radial_velocity (or l, b, pml, pmb; or x, y, z, vx, \
                 vy, vz) are needed; give other names with --columns (the table has a, b)";
    desk.refused("actions t.csv", 2, needs);
    // What has no error bars is not offered where they are needed.
    let needs = needs.replace("; or x, y, z, vx, vy, vz", "");
    desk.refused("stars t.csv --k 2", 2, &needs);
    desk.refused("candidates t.csv --transform actions", 2, &needs);
    desk.refused("actions e.csv", 1, "error: e.csv: the table has no rows");
    desk.refused(
        "actions x.csv -o x.csv",
        2,
        "error: x.csv: the output would overwrite the input; name another file",
    );
    for (words, code, part) in [
        ("actions x.csv --columns nope=x", 2, "--columns nope=x: give NAME=COLUMN"),
        ("actions x.csv --columns ra=zz", 2, "no column `zz`"),
        ("actions x.csv --potential ring", 2, "give mcmillan17, mwpotential2014 or a file that ends in .ini"),
        ("actions x.csv --potential no.ini", 1, "no.ini"),
        ("actions x.csv --potential bad.ini", 1, "bad.ini"),
        ("actions x.csv --sun mars", 2, "mars"),
        ("stars x.csv --k 2", 2, "were not measured"),
        ("simulate --dwarfs 0", 2, "there are no stars to simulate"),
        ("simulate --dispersion -1", 2, ""),
        ("simulate --age -1", 2, "age -1 must be from 0 to 100 Gyr"),
        ("simulate --magnitudes 1", 2, "--magnitudes takes two numbers"),
        ("simulate --dwarfs 2 --stars 1,2,3", 2, "3 numbers of stars for 2 dwarfs"),
        ("simulate --reach 0", 2, "reach 0 must be positive"),
        ("simulate --without-velocity 0.1", 2, "without velocity is for the sky `realistic`"),
        ("simulate --sky realistic --dwarfs 3", 2, "dwarfs is for the sky `paper`"),
        ("simulate --sky realistic --stars 1,2", 2, "a list of stars is for the sky `paper`"),
        ("simulate --sky realistic --without-velocity 2", 2, "must be from 0 to 1"),
    ] {
        let run = desk.goc(words);
        assert_eq!(run.code, code, "goc {words}: {}", run.err);
        assert!(run.err.contains(part), "goc {words}: {}", run.err);
    }
}

#[test]
fn real_gaia_stars_have_the_published_lz_and_energies_and_go_through_in_one_command() {
    let Some(folder) = data("real_gaia_stars_have_the_published_lz_and_energies") else { return };
    let desk = Desk::new();
    std::fs::copy(folder.join("real/gaia_halo_2000.csv.gz"), desk.path("gaia.csv.gz")).unwrap();
    // The frame of the published columns: R0 = 8.2 kpc, 232.8 km/s and (11.1, 12.24, 7.25),
    // parallaxes + 0.017 mas, Lz positive for the disc.
    desk.done(
        "actions gaia.csv.gz --columns radial_velocity=any_vlos --zero-point 0.017 --jphi prograde-positive \
         --sun r0=8.2,z0=0,vx=11.1,vy=245.04,vz=7.25 -o a.parquet",
    );
    let table = desk.table("a.parquet");
    let (jphi, lz) = (numbers(&table, "Jphi"), numbers(&table, "Lz"));
    let (energy, theirs) = (numbers(&table, "energy"), numbers(&table, "En"));
    assert_eq!(table.rows(), 2000);
    assert!(energy.iter().chain(&jphi).all(|v| v.is_finite()));
    // The same angular momentum, but for the last digits of their constants (4.74 km/s for 4.74047:
    // one part in ten thousand).
    let mut off: Vec<f64> = jphi.iter().zip(&lz).map(|(a, b)| (a - b).abs()).collect();
    off.sort_by(f64::total_cmp);
    println!(
        "Lz: median difference {:.3} kpc km/s, 99 % {:.3}, of a median |Lz| of 458",
        off[1000], off[1980]
    );
    assert!(off[1000] < 0.2 && off[1980] < 2.0);
    // Another potential with another zero point: energies on a line of slope 1, not the same.
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (a, b) = (mean(&energy), mean(&theirs));
    let sum = |f: &dyn Fn(usize) -> f64| (0..2000).map(f).sum::<f64>();
    let covariance = sum(&|i| (energy[i] - a) * (theirs[i] - b));
    let (va, vb) = (sum(&|i| (energy[i] - a).powi(2)), sum(&|i| (theirs[i] - b).powi(2)));
    let (correlation, slope) = (covariance / (va * vb).sqrt(), covariance / vb);
    println!("energy: correlation {correlation:.5}, slope {slope:.4}, offset {:.0} (km/s)^2", a - b);
    assert!(correlation > 0.999 && (slope - 1.0).abs() < 0.02);

    let summary = desk.json(
        "stars gaia.csv.gz --columns radial_velocity=any_vlos --zero-point 0.017 --k 30 --json -o l.fits",
    );
    assert_eq!((summary["n_stars"].as_u64(), summary["n_objects"].as_u64()), (Some(2000), Some(2000)));
    let labelled = desk.table("l.fits");
    assert_eq!(labelled.rows(), 2000);
    assert_eq!(labelled.require("goc_label").unwrap().nulls(), 0);
}

#[test]
fn a_distance_prior_keeps_candidates_within_its_reach_and_says_which_stars_have_none() {
    // The third star's parallax is wide, its neighbour's beyond reach for certain.
    let gaia = GAIA
        .replace("4003,150.0,45.0,0.35,0.02", "4003,150.0,45.0,0.25,0.1")
        .replace(",0.9,0.9,-0.9,", ",0,0,0,");
    let gaia = gaia.replace("4002,201.1,30.2,0.55,0.02", "4002,201.1,30.2,0.11,0.01");
    let desk = Desk::with(&[("gaia.csv", &gaia)]);
    let way = "--missing nan --sampler density --penalty none";
    let run = desk.done(&format!("candidates gaia.csv {way} --distance-prior volume:5 -o near.parquet"));
    assert!(run.err.contains("in proportion to the distance prior volume:5\n"), "{}", run.err);
    assert!(run.err.contains("101 beyond the reach of the distance prior"), "{}", run.err);
    assert!(run.err.contains("dropped 2 objects, all their points were rejected: 4002, 4005"), "{}", run.err);
    let near = desk.table("near.parquet");
    assert_eq!(near.get_metadata("goc_distance_prior"), Some("volume:5"));
    assert_eq!(near.rows(), 2 * 101);
    desk.done(&format!("candidates gaia.csv {way} -o any.parquet"));
    assert_eq!(desk.table("any.parquet").get_metadata("goc_distance_prior"), None);
    // A star that lies well within is moved outwards by little, the wide one is held back.
    let spread = |file: &str, star: i64| {
        let table = desk.table(file);
        let ids = table.require("object").unwrap().integers().unwrap();
        let energies = numbers(&table, "energy");
        let own: Vec<f64> = ids.iter().zip(energies).filter(|(id, _)| **id == star).map(|(_, e)| e).collect();
        let (low, high) = own.iter().fold((f64::MAX, f64::MIN), |(a, b), e| (a.min(*e), b.max(*e)));
        high - low
    };
    assert!(spread("near.parquet", 4003) < 0.5 * spread("any.parquet", 4003));
    desk.done("stars gaia.csv --method marginal --distance-prior edsd:1.35 -o groups.fits");
    assert_eq!(desk.table("groups.fits").get_metadata("goc_distance_prior"), Some("edsd:1.35"));

    for (words, said) in [
        ("--distance-prior volume:far", "`volume:REACH` or `edsd:LENGTH`"),
        ("--transform none --distance-prior volume:5", "--distance-prior needs a star catalogue"),
        ("--values parallax --distance-prior volume:5", "--distance-prior needs a star catalogue"),
    ] {
        let refused = desk.goc(&format!("candidates gaia.csv {words} -o x.csv"));
        assert_eq!(refused.code, 2, "{words}");
        assert!(refused.err.contains(said), "{words}: {}", refused.err);
    }
    desk.done("simulate --dwarfs 4 --stars 2 --distance-prior volume:5 -o mock.parquet");
    let mock = desk.table("mock.parquet");
    assert_eq!(mock.get_metadata("goc_distance_prior"), Some("volume:5"));
}
