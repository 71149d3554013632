//! `--inflate` and `--error-floor`: quoted errors that are too small.

use crate::desk::Desk;
use crate::stars::{GAIA, numbers};

#[test]
fn errors_that_are_quoted_too_small_are_mended_and_that_is_said() {
    let doubled = GAIA.replace("0.40,0.02,", "0.40,0.04,").replace("0.55,0.02,", "0.55,0.04,");
    let doubled = doubled.replace("0.35,0.02,", "0.35,0.04,").replace(",0.80,0.02,", ",0.80,0.04,");
    let doubled = doubled.replace("-0.80,0.02,", "-0.80,0.04,");
    let desk = Desk::with(&[("gaia.csv", GAIA), ("doubled.csv", &doubled)]);
    let flags = "--k 2 -m 9 --candidates c.csv";
    let candidates = || desk.bytes("c.csv");
    let labels = |name: &str| numbers(&desk.table(name), "goc_Jr")[..3].to_vec();
    desk.done(&format!("stars doubled.csv {flags} -o file.parquet"));
    let expected = candidates();
    let run = desk.done(&format!("stars gaia.csv {flags} --inflate parallax=2 -o flag.parquet"));
    assert!(run.err.contains("\nerrors multiplied: parallax by 2\n"), "{}", run.err);
    assert_eq!(candidates(), expected);
    assert_eq!(labels("flag.parquet"), labels("file.parquet"));
    let made = desk.table("flag.parquet");
    assert_eq!(made.get_metadata("goc_inflate"), Some("parallax=2"));
    assert_eq!(made.get_metadata("goc_error_floor"), None);

    let floors = "--error-floor parallax=0.04 --error-floor pmra=0.001,radial_velocity=0.5";
    let run = desk.done(&format!("stars gaia.csv {flags} {floors} -o floor.parquet"));
    let said = "\nerrors are at least: parallax 0.04 mas, pmra 0.001 mas/yr, radial_velocity 0.5 km/s\n";
    assert!(run.err.contains(said), "{}", run.err);
    assert_eq!(candidates(), expected);
    let told = desk.table("floor.parquet");
    let floors = "parallax=0.04,pmra=0.001,radial_velocity=0.5";
    assert_eq!(told.get_metadata("goc_error_floor"), Some(floors));

    let told = desk.json("candidates gaia.csv --missing nan -m 3 --inflate 1.5 -o c.csv --json");
    assert_eq!(told["inflate"], "1.5");
}

#[test]
fn a_column_of_another_name_is_mended_by_either_name() {
    let other = GAIA.replace("radial_velocity", "HRV");
    let desk = Desk::with(&[("gaia.csv", &other)]);
    let made = |name: &str| {
        desk.done(&format!("candidates gaia.csv --missing nan -m 5 --inflate {name}=3 -o c.csv"));
        desk.bytes("c.csv")
    };
    assert_eq!(made("HRV"), made("radial_velocity"));
}

#[test]
fn what_cannot_be_done_to_errors_is_refused() {
    let desk = Desk::with(&[("gaia.csv", GAIA)]);
    for (flags, said) in [
        ("--inflate 0", "--inflate 0: a factor is a finite number above 0"),
        ("--inflate -1.5", "--inflate -1.5: a factor is a finite number above 0"),
        ("--error-floor 0.1", "--error-floor 0.1: give COLUMN=ERROR, in the unit of the column"),
        (
            "--inflate paralax=2",
            "--inflate: no measured column with errors `paralax` (did you mean `parallax`?); there are: \
             parallax, pmra, pmdec, radial_velocity",
        ),
    ] {
        for command in ["stars gaia.csv --k 2", "candidates gaia.csv --missing nan"] {
            let run = desk.goc(&format!("{command} -m 3 -o x.csv {flags}"));
            assert_eq!(run.code, 2, "{command} {flags}: {}", run.err);
            assert!(run.err.contains(said), "{command} {flags}: {}", run.err);
        }
    }
}
