//! `goc simulate`: catalogues with known truth.

use crate::desk::Desk;
use crate::stars::numbers;

#[test]
fn simulations_are_the_same_bytes_at_any_number_of_threads() {
    let desk = Desk::new();
    for threads in [1, 2, 4] {
        desk.done(&format!(
            "simulate --dwarfs 3 --age 1 --seed 9 --threads {threads} --stars-out s{threads}.csv -o c{threads}.csv"
        ));
        desk.done(&format!("stars s{threads}.csv --k 3 --threads {threads} -o l{threads}.csv"));
    }
    for file in ["s", "c", "l"] {
        assert!(desk.bytes(&format!("{file}1.csv")) == desk.bytes(&format!("{file}2.csv")), "{file}");
        assert!(desk.bytes(&format!("{file}1.csv")) == desk.bytes(&format!("{file}4.csv")), "{file}");
    }
}

#[test]
fn a_simulated_catalogue_has_the_stars_that_were_asked_for() {
    let desk = Desk::new();
    desk.done("simulate --dwarfs 3 --stars 2,1,3 --field 2 --age 1 --seed 2 --magnitudes -2,2 --errors gaia-dr3 --stars-out s.csv");
    let table = desk.table("s.csv");
    assert_eq!(table.require("truth").unwrap().integers().unwrap(), [0, 0, 1, 2, 2, 2, 3, 4]);
    assert_eq!(table.require("field").unwrap().texts().iter().filter(|f| *f == "true").count(), 2);
    let (b, parallax) = (numbers(&table, "b"), numbers(&table, "true_parallax"));
    assert!(b.iter().all(|b| b.abs() > 20.0) && parallax.iter().all(|p| *p > 0.2));
}

#[test]
fn a_realistic_sky_has_the_truth_of_every_star_and_leaves_out_those_without_velocity() {
    let desk = Desk::new();
    let words = "simulate --sky realistic --stars 100 --age 3 --seed 3 -m 5";
    let said = desk.done(&format!("{words} --stars-out s.parquet -o c.parquet")).err;
    let (stars, candidates) = (desk.table("s.parquet"), desk.table("c.parquet"));
    assert_eq!(stars.rows(), 100);
    let truth = stars.require("truth").unwrap().integers().unwrap();
    let component = stars.require("component").unwrap().texts();
    let field = stars.require("field").unwrap().texts();
    for row in 0..100 {
        let in_none = ["disc", "halo"].contains(&component[row].as_ref());
        assert_eq!((truth[row] == -1, field[row] == "true"), (in_none, in_none), "row {row}");
    }
    for name in ["group", "merger", "disc", "halo"] {
        assert!(component.iter().any(|word| *word == name), "{name}");
    }
    for name in ["fe_h", "fe_h_error", "true_fe_h", "error_factor"] {
        assert!(numbers(&stars, name).iter().all(|number| number.is_finite()), "{name}");
    }
    let velocity = stars.require("radial_velocity").unwrap();
    let without = velocity.nulls();
    assert!(without > 0 && stars.require("radial_velocity_error").unwrap().nulls() == without);
    assert!(said.contains(&format!("dropped {without} of 100 objects")), "{said}");
    assert!(said.contains(&format!("{without} without a radial velocity")), "{said}");
    let objects = candidates.require("object").unwrap().integers().unwrap();
    assert!(objects.iter().all(|object| !velocity.is_null(*object as usize)));
    assert_eq!(objects.chunk_by(|a, b| a == b).count(), 100 - without);
    let told =
        desk.done(&format!("{words} --without-velocity 0 --threads 1 --stars-out all.parquet --json")).out;
    assert!(told.contains("\"n_without_velocity\": 0") && told.contains("\"sky\": \"realistic\""), "{told}");
    let all = desk.table("all.parquet");
    assert_eq!(numbers(&all, "parallax"), numbers(&stars, "parallax"));
    assert_eq!(all.require("radial_velocity").unwrap().nulls(), 0);
}
