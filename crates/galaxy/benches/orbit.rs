//! Orbits of 10 Gyr per CPU second, with the accuracy beside the speed.
//!
//! AGAMA 1.0.159 on one core: 81 orbits a second from starts like dwarf galaxies', 44 in the halo with
//! dop853 at accuracy 1e-8 (energy drift 3e-7 median, 4e-6 largest, position 9e-4 kpc median); 113 with
//! dprkn8.

use cpu_time::ThreadTime;
use goc::random::stream;
use goc_galaxy::frames::Galactocentric;
use goc_galaxy::orbit::{Integrator, Orbit};
use goc_galaxy::potential::{Build, McMillan17};
use goc_galaxy::units::GYR_PER_TIME;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

fn normals(rng: &mut goc::Stream, sigma: f64) -> [f64; 3] {
    std::array::from_fn(|_| {
        let x: f64 = StandardNormal.sample(rng);
        x * sigma
    })
}

/// As the mock Milky Way draws its dwarf galaxies.
fn dwarf(rng: &mut goc::Stream) -> Galactocentric {
    let (r, angle) = (rng.random_range(8.0..12.0_f64), rng.random_range(0.0..std::f64::consts::TAU));
    let position = [r * angle.cos(), r * angle.sin(), rng.random_range(-5.0..5.0)];
    Galactocentric { position, velocity: normals(rng, 100.0) }
}

/// Evenly in ln r between 1 and 30 kpc, in any direction, at 130 km/s in each coordinate.
fn halo(rng: &mut goc::Stream) -> Galactocentric {
    let r = rng.random_range(0.0..30.0_f64.ln()).exp();
    let direction = normals(rng, 1.0);
    let length = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
    Galactocentric { position: direction.map(|d| d * r / length), velocity: normals(rng, 130.0) }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let galaxy = McMillan17::new(Build::Agama);
    let time = 10.0 / GYR_PER_TIME;
    // One thread that is this one, so that its CPU time is all there is.
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().expect("one thread");
    type Draw = fn(&mut goc::Stream) -> Galactocentric;
    let kinds: [(&str, Draw, f64); 2] = [("dwarfs", dwarf, 81.0), ("halo", halo, 44.0)];
    for (name, draw, agama) in kinds {
        let starts: Vec<Galactocentric> = (0..256).map(|i| draw(&mut stream(1, i))).collect();
        let run = |accuracy: f64, starts: &[Galactocentric]| -> (f64, Vec<Orbit>) {
            let integrator = Integrator::new(accuracy).expect("valid");
            let begin = ThreadTime::now();
            let orbits = pool.install(|| integrator.many(&galaxy, starts, time).expect("finite"));
            (begin.elapsed().as_secs_f64(), orbits)
        };
        let (_, truth) = run(1e-12, &starts[..64]);
        for accuracy in [1e-7, 1e-8, 1e-9] {
            let (seconds, orbits) = run(accuracy, &starts);
            let drift: Vec<f64> = orbits.iter().map(|o| o.energy_drift.abs()).collect();
            let miss = |(a, b): (&Orbit, &Orbit)| {
                let square = |c: usize| (a.end.position[c] - b.end.position[c]).powi(2);
                (square(0) + square(1) + square(2)).sqrt()
            };
            let mean = |of: fn(&Orbit) -> usize| {
                orbits.iter().map(|o| of(o) as f64).sum::<f64>() / orbits.len() as f64
            };
            println!(
                "orbit starts={name} accuracy={accuracy:.0e} orbits_per_cpu_second={:.0} agama={agama} \
                 drift_median={:.1e} drift_max={:.1e} position_median_kpc={:.1e} steps={:.0} evaluations={:.0} \
                 ns_per_evaluation={:.1}",
                orbits.len() as f64 / seconds,
                median(drift.clone()),
                drift.iter().copied().fold(0.0, f64::max),
                median(orbits.iter().zip(&truth).map(miss).collect()),
                mean(|o| o.steps),
                mean(|o| o.evaluations),
                seconds * 1e9 / orbits.iter().map(|o| o.evaluations as f64).sum::<f64>()
            );
        }
    }
}
