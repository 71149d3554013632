//! How fast actions are found, in stars a second of CPU time of one thread, and how long a finder takes to
//! make.
//!
//! The rival: AGAMA 1.0.159, the same method in the same potential: 6.8e4 (halo) to 8.1e4 (disc) stars a
//! second of CPU time on one core of a machine of the same kind (measured elsewhere, stated here as figures).
//!
//! The stars are AGAMA's golden ones where they are at hand (`GOC_DATA`), else made here.

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;

use cpu_time::ThreadTime;
use goc_galaxy::actions::{ActionFinder, Variant};
use goc_galaxy::frames::Galactocentric;

/// AGAMA's actions, stars a second.
const AGAMA: [(&str, f64); 2] = [("halo", 6.8e4), ("disc", 8.1e4)];

fn golden(kind: &str) -> Option<Vec<Galactocentric>> {
    let folder = common::data("actions")?;
    let table = goc_tables::read(&folder.join("golden/actions_current.csv.gz")).ok()?;
    let number = |name: &str| table.require(name).ok()?.numbers().ok();
    let [x, y, z] = [number("x")?, number("y")?, number("z")?];
    let [vx, vy, vz] = [number("vx")?, number("vy")?, number("vz")?];
    let kinds = table.require("kind").ok()?.texts();
    let star = |i: usize| Galactocentric { position: [x[i], y[i], z[i]], velocity: [vx[i], vy[i], vz[i]] };
    Some((0..x.len()).filter(|&i| kinds[i] == kind).map(star).collect())
}

/// Stars between 2 and 20 kpc: the halo's going anywhere, the disc's round.
fn made(kind: &str) -> Vec<Galactocentric> {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..1200)
        .map(|_| {
            let (r, phi) = (2.0 + 18.0 * uniform(), std::f64::consts::TAU * uniform());
            let mut about = |width: f64| width * (uniform() + uniform() + uniform() - 1.5);
            let (z, spin, wide) =
                if kind == "halo" { (about(10.0), about(250.0), 250.0) } else { (about(0.6), 220.0, 60.0) };
            let (v_r, v_phi) = (about(wide), -spin + about(30.0));
            let (cos, sin) = (phi.cos(), phi.sin());
            Galactocentric {
                position: [r * cos, r * sin, z],
                velocity: [v_r * cos - v_phi * sin, v_r * sin + v_phi * cos, about(0.7 * wide)],
            }
        })
        .collect()
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread can be had");
    pool.install(|| {
        for variant in Variant::ALL {
            let start = ThreadTime::now();
            let finder = ActionFinder::milky_way(variant).expect("the Milky Way has bound orbits");
            println!("{variant}: made in {:.0} ms of CPU time", 1e3 * start.elapsed().as_secs_f64());
            for (kind, agama) in AGAMA {
                let stars = golden(kind).unwrap_or_else(|| made(kind));
                let rate = (0..8)
                    .map(|_| {
                        let start = ThreadTime::now();
                        for _ in 0..10 {
                            black_box(finder.many(&stars));
                        }
                        10.0 * stars.len() as f64 / start.elapsed().as_secs_f64()
                    })
                    .fold(0.0, f64::max);
                println!(
                    "{variant}: {kind}: {rate:.2e} stars/s, {:.1} times AGAMA's {agama:.1e}",
                    rate / agama
                );
            }
        }
    });
}
