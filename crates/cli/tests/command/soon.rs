//! Small input is done, or refused, within CPU seconds, however odd its numbers.

use crate::desk::{Desk, Run};

/// CPU seconds, of all threads together. The longest command here needs about a fifth of it.
const LIMIT: usize = 40;

/// Runs `goc` with a limit of CPU time, after which the system ends it.
fn soon(desk: &Desk, words: &str) -> Run {
    let mut shell = std::process::Command::new("sh");
    let line = format!("ulimit -t {LIMIT}; exec \"$0\" {words}");
    shell.current_dir(desk.path(".")).args(["-c", &line, env!("CARGO_BIN_EXE_goc")]);
    let output = shell.env_remove("RUST_BACKTRACE").output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    let code = output.status.code().unwrap_or_else(|| panic!("goc {words}: no end in {LIMIT} s: {err}"));
    Run { code, out: String::from_utf8(output.stdout).unwrap(), err }
}

#[test]
fn the_number_of_groups_of_twelve_objects_with_fifty_features() {
    let mut text = String::from("object");
    (0..50).for_each(|f| text.push_str(&format!(",x{f}")));
    for row in 0..36 {
        text.push_str(&format!("\n{}", row / 3));
        for f in 0..50 {
            // Multiples of an irrational number fill the unit interval evenly: there is no group.
            text.push_str(&format!(",{:.4}", (f64::from(1 + row * 50 + f) * 0.618_033_988_7).fract()));
        }
    }
    let desk = Desk::with(&[("c.csv", &text)]);
    let run = soon(&desk, "cluster c.csv --k auto -o labels.csv");
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn volumes_and_ages_that_no_simulation_can_fill() {
    let desk = Desk::new();
    for (flags, code, message) in [
        (
            "--latitude 89.999",
            1,
            "error: the volume that is observed has only 8e-8 kpc^3, too few stars would come into it; \
             take a larger reach or a lower latitude",
        ),
        (
            "--reach 1e-9",
            1,
            "error: the volume that is observed has only 3e-27 kpc^3, too few stars would come into it; \
             take a larger reach or a lower latitude",
        ),
        (
            "--sky realistic --latitude 89.999",
            1,
            "error: the volume that is observed has only 8e-8 kpc^3, too few stars would come into it; \
             take a larger reach or a lower latitude",
        ),
        ("--age 1e9", 2, "error: age 1000000000 must be from 0 to 100 Gyr"),
    ] {
        let run = soon(&desk, &format!("simulate {flags} -o c.csv"));
        assert_eq!((run.code, run.err.trim_end()), (code, message), "{flags}");
        assert!(desk.files().is_empty(), "{flags}");
    }
}

#[test]
fn a_galaxy_of_odd_proportions() {
    // The slowest of 450 mutations of the galaxy of McMillan (2017): a bulge that is a needle.
    let galaxy = "[Potential thin]\ntype=Disk\nsurfaceDensity=2.999999\nscaleRadius=2.49955\nscaleHeight=3\n\
        [Potential thick]\ntype=Disk\nsurfaceDensity=1.83444e+08\nscaleRadius=3.02134\nscaleHeight=0.9\n\
        [Potential gas]\ntype=Disk\nsurfaceDensity=5.31319e+07\nscaleRadius=7\nscaleHeight=-0.085\n\
        innerCutoffRadius=4\n\
        [Potential bulge]\ntype=Spheroid\ndensityNorm=9.83351e+10\naxisRatioZ=1e9\ngamma=0\nbeta=1.8\n\
        scaleRadius=0.075\nouterCutoffRadius=2.1\n\
        [Potential halo]\ntype=Spheroid\ndensityNorm=8.53702e+06\ngamma=1\nbeta=3\nscaleRadius=19.5725\n";
    let stars = "l,b,parallax,pml,pmb,radial_velocity\n120,50,0.8,-3,2,150\n300,-40,0.5,1,-4,-80\n";
    let desk = Desk::with(&[("odd.ini", galaxy), ("s.csv", stars)]);
    let run = soon(&desk, "actions s.csv --potential odd.ini -o actions.csv");
    assert_eq!(run.code, 0, "{}", run.err);
}
