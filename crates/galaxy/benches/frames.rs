//! Conversion of stars and of candidates, one thread: `cargo bench -p goc-galaxy --bench frames`.
//!
//! The rival is astropy 8.0.2, `ICRS(...).transform_to(Galactocentric())` on arrays of a million
//! stars: 260 ns a star (processor time, best of four) on the machine where this measures 130 ns a
//! star and 28 ns a candidate (`--profile dev`, in which this package is optimised in full).

use std::hint::black_box;

use cpu_time::ThreadTime;
use goc_galaxy::catalogue::{Catalogue, DistanceMeasure, ROW};
use goc_galaxy::frames::{Sky, Sun};

fn main() {
    let catalogue = Catalogue::new(Sky::Icrs, DistanceMeasure::Parallax { offset: 0.0 }, Sun::astropy_v4_0())
        .unwrap_or_else(|error| panic!("{error}"));
    let sun = catalogue.sun();
    let rows = |stars: usize, candidates: usize| -> Vec<f64> {
        (0..stars * candidates)
            .flat_map(|at| {
                let (star, candidate) = ((at / candidates) as f64, (at % candidates) as f64);
                let (ra, dec) = (star * 137.508 % 360.0, star * 0.618 % 180.0 - 90.0);
                [ra, dec, 0.2 + 0.001 * candidate, -3.0 + 0.01 * candidate, 5.0, 100.0]
            })
            .collect()
    };
    println!("sun {sun}");
    // A table in one call, and one star's candidates a call, as the propagation does.
    for (stars, candidates, together) in [(1_000_000, 1, 1_000_000), (10_000, 100, 100)] {
        let rows = rows(stars, candidates);
        let best = (0..5)
            .map(|_| {
                let start = ThreadTime::now();
                for part in rows.chunks(together * ROW) {
                    black_box(catalogue.places(black_box(part)));
                }
                start.elapsed().as_secs_f64()
            })
            .fold(f64::INFINITY, f64::min);
        let each = best * 1e9 / (stars * candidates) as f64;
        println!("{stars:>8} stars of {candidates:>3} candidates: {best:.4} s, {each:.1} ns a candidate");
    }
}
