//! How fast McMillan's Milky Way is computed, in points per second of CPU time of one thread.
//!
//! The rival: AGAMA 1.0.159, the same potential, potential and force: 3.3e6 points per second of
//! CPU time on one core of a machine of the same kind (measured elsewhere, stated here as a
//! figure).

use std::hint::black_box;

use cpu_time::ThreadTime;
use goc_galaxy::potential::{Build, McMillan17, Potential};
use goc_galaxy::real::{LANES, Lanes};

/// AGAMA's potential and force, points per second.
const AGAMA: f64 = 3.3e6;
const RUNS: usize = 512;

/// The best of some rounds, in points per second.
fn rate(mut round: impl FnMut() -> f64) -> f64 {
    (0..10)
        .map(|_| {
            let start = ThreadTime::now();
            black_box(round());
            (RUNS * LANES * 100) as f64 / start.elapsed().as_secs_f64()
        })
        .fold(0.0, f64::max)
}

fn main() {
    for build in [Build::Authors, Build::Agama, Build::Converged] {
        let seconds = (0..5)
            .map(|_| {
                let start = ThreadTime::now();
                black_box(McMillan17::new(build));
                start.elapsed().as_secs_f64()
            })
            .fold(f64::INFINITY, f64::min);
        println!("set-up of {build:?}: {:.1} ms", 1e3 * seconds);
    }
    let milky_way = McMillan17::new(Build::Converged);
    // Stars anywhere within 20 kpc of the axis and 10 of the plane, in no order: the hardest case
    // for the caches.
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let points: Vec<(Lanes, Lanes)> = (0..RUNS)
        .map(|_| {
            let r = Lanes(std::array::from_fn(|_| 20.0 * uniform()));
            (r, Lanes(std::array::from_fn(|_| 20.0 * uniform() - 10.0)))
        })
        .collect();
    let gradients = rate(|| {
        let mut sum = 0.0;
        for (r, z) in points.iter().cycle().take(RUNS * 100) {
            let gradient = milky_way.gradients(r, z);
            sum += gradient.phi.0[0] + gradient.d_r.0[1] + gradient.d_z.0[2];
        }
        sum
    });
    let values =
        rate(|| points.iter().cycle().take(RUNS * 100).map(|(r, z)| milky_way.values(r, z).0[0]).sum());
    let single = rate(|| {
        let mut sum = 0.0;
        for (r, z) in points.iter().cycle().take(RUNS * 100) {
            for l in 0..LANES {
                sum += milky_way.gradient(r.0[l], z.0[l]).d_r;
            }
        }
        sum
    });
    println!(
        "potential and force, eight at once: {gradients:.2e} /s, {:.1} times AGAMA's {AGAMA:.1e} /s",
        gradients / AGAMA
    );
    println!("potential alone, eight at once:     {values:.2e} /s");
    println!("potential and force, one at a time: {single:.2e} /s");
}
