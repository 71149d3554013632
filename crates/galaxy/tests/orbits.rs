//! Orbits against closed forms, and what must hold for every orbit.

use std::f64::consts::TAU;

use goc_galaxy::frames::Galactocentric;
use goc_galaxy::orbit::{Integrator, Orbit, OrbitError, Stop};
use goc_galaxy::potential::{Build, Isochrone, Kepler, McMillan17, Plummer, Potential};
use goc_galaxy::units::G;
use proptest::prelude::*;

fn state(position: [f64; 3], velocity: [f64; 3]) -> Galactocentric {
    Galactocentric { position, velocity }
}

fn apart(a: &Galactocentric, b: &Galactocentric) -> f64 {
    (0..3).map(|c| (a.position[c] - b.position[c]).powi(2)).sum::<f64>().sqrt()
}

fn jphi(s: &Galactocentric) -> f64 {
    s.position[0] * s.velocity[1] - s.position[1] * s.velocity[0]
}

/// Starts like those of disrupted dwarf galaxies, by a formula.
fn dwarfs(count: usize) -> Vec<Galactocentric> {
    let part = |i: usize, step: f64| (i as f64 * step).fract();
    (0..count)
        .map(|i| {
            let (r, angle) = (8.0 + 4.0 * part(i + 1, 0.618_034), TAU * part(i + 1, 0.754_877));
            let v = [part(i + 1, 0.569_840), part(i + 1, 0.324_718), part(i + 1, 0.245_122)];
            state(
                [r * angle.cos(), r * angle.sin(), -5.0 + 10.0 * part(i + 1, 0.819_173)],
                v.map(|u| 300.0 * (u - 0.5)),
            )
        })
        .collect()
}

/// A Kepler orbit with GM = 1, in a plane tilted by the rotation with columns `e1`, `e2`: state at
/// eccentric anomaly `u`.
fn ellipse(e: f64, u: f64, e1: [f64; 3], e2: [f64; 3]) -> Galactocentric {
    let (s, c) = u.sin_cos();
    let b = (1.0 - e * e).sqrt();
    let rate = 1.0 / (1.0 - e * c);
    state(
        std::array::from_fn(|k| (c - e) * e1[k] + b * s * e2[k]),
        std::array::from_fn(|k| rate * (-s * e1[k] + b * c * e2[k])),
    )
}

#[test]
fn kepler_ellipses_are_where_keplers_equation_says() {
    let potential = Kepler::new(1.0 / G).unwrap();
    // Two perpendicular directions of length 1 that lie in none of the coordinate planes.
    let length = 0.48_f64.hypot(0.6);
    let (e1, e2) = ([0.48, 0.6, 0.64], [-0.6 / length, 0.48 / length, 0.0]);
    for e in [0.0, 0.3, 0.7, 0.95] {
        let start = ellipse(e, 0.0, e1, e2);
        // 50 periods and as much more as the eccentric anomaly of 2 takes.
        let u = 2.0_f64;
        let time = 50.0 * TAU + (u - e * u.sin());
        let truth = ellipse(e, u, e1, e2);
        let mut errors = Vec::new();
        for accuracy in [1e-8, 1e-11] {
            let orbit = Integrator::new(accuracy).unwrap().integrate(&potential, &start, time).unwrap();
            assert_eq!(orbit.stop, Stop::Reached);
            errors.push((apart(&orbit.end, &truth), orbit.energy_drift.abs(), orbit.evaluations));
        }
        println!("e = {e}: off by {:.1e} and {:.1e}", errors[0].0, errors[1].0);
        assert!(errors[0].0 < 3e-3 && errors[0].1 < 3e-6, "{errors:?}");
        assert!(errors[1].0 < 1e-6 && errors[1].1 < 1e-9, "{errors:?}");
    }
}

#[test]
fn isochrone_has_its_closed_form_radial_period() {
    let (mass, b) = (1e11, 2.0);
    let potential = Isochrone::new(mass, b).unwrap();
    let gm = G * mass;
    let start = state([7.0, 1.0, -2.0], [60.0, 90.0, 50.0]);
    let speed2: f64 = start.velocity.iter().map(|v| v * v).sum();
    let energy = 0.5 * speed2 + potential.value(50_f64.sqrt(), -2.0);
    // T_r = 2 pi G M / (-2 E)^(3/2), for every angular momentum (Binney & Tremaine, eq. 3.41).
    let period = TAU * gm / (-2.0 * energy).powf(1.5);
    let radius = |s: &Galactocentric| s.position.iter().map(|x| x * x).sum::<f64>().sqrt();
    let fine = Integrator::new(1e-11).unwrap();
    for turns in [1.0, 10.0, 100.0] {
        let end = fine.integrate(&potential, &start, turns * period).unwrap().end;
        let miss = (radius(&end) - radius(&start)).abs();
        println!("{turns} radial periods of {period:.4}: radius off by {miss:.1e} kpc");
        assert!(miss < 1e-7);
        // The angle turned in a radial period: pi (1 + L / sqrt(L^2 + 4 G M b)) (Binney & Tremaine, eq.
        // 3.43).
        let cross = |s: &Galactocentric| {
            let (p, v) = (s.position, s.velocity);
            [p[1] * v[2] - p[2] * v[1], p[2] * v[0] - p[0] * v[2], p[0] * v[1] - p[1] * v[0]]
        };
        let l = cross(&start).iter().map(|x| x * x).sum::<f64>().sqrt();
        let turned = turns * TAU / 2.0 * (1.0 + l / (l * l + 4.0 * gm * b).sqrt());
        let dot: f64 = (0..3).map(|c| start.position[c] * end.position[c]).sum();
        let angle = (dot / (radius(&start) * radius(&end))).clamp(-1.0, 1.0);
        assert!((angle - turned.cos()).abs() < 1e-7, "{turns} periods: {} not {}", angle, turned.cos());
    }
}

#[test]
fn back_in_time_is_back_at_the_start() {
    let galaxy = McMillan17::new(Build::Agama);
    let fine = Integrator::new(1e-10).unwrap();
    for start in dwarfs(4) {
        let there = fine.integrate(&galaxy, &start, 3.0).unwrap();
        let back = fine.integrate(&galaxy, &there.end, -3.0).unwrap();
        assert_eq!(back.time, -3.0);
        assert!(apart(&back.end, &start) < 2e-4, "{}", apart(&back.end, &start));
    }
}

#[test]
fn angular_momentum_about_the_axis_and_energy_stay() {
    let galaxy = McMillan17::new(Build::Agama);
    for (start, orbit) in
        dwarfs(24).iter().zip(Integrator::default().many(&galaxy, &dwarfs(24), 5.0).unwrap())
    {
        assert!(orbit.energy_drift.abs() < 1e-5, "{orbit:?}");
        let size = 10.0 * 200.0;
        assert!((jphi(&orbit.end) - jphi(start)).abs() < 1e-6 * size, "{} {}", jphi(&orbit.end), jphi(start));
    }
}

#[test]
fn neighbours_and_threads_do_not_change_the_bytes() {
    let galaxy = McMillan17::new(Build::Agama);
    let starts = dwarfs(37);
    let integrator = Integrator::default();
    let many = |threads: usize, starts: &[Galactocentric]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| integrator.many(&galaxy, starts, 1.0).unwrap())
    };
    let one = many(1, &starts);
    assert_eq!(one.len(), starts.len());
    assert_eq!(one, many(2, &starts));
    assert_eq!(one, many(4, &starts));
    let alone: Vec<Orbit> = starts.iter().map(|s| integrator.integrate(&galaxy, s, 1.0).unwrap()).collect();
    assert_eq!(one, alone);
    let reversed: Vec<Galactocentric> = starts.iter().rev().copied().collect();
    let mut turned = many(2, &reversed);
    turned.reverse();
    assert_eq!(one, turned);
}

#[test]
fn states_between_steps_are_those_of_a_direct_integration() {
    let galaxy = McMillan17::new(Build::Agama);
    let integrator = Integrator::default();
    let start = dwarfs(3)[2];
    // Unsorted, both ways, two in one step, one twice, the start itself.
    let times = [0.5, -0.4, 1.3, 0.500_1, 0.0, -1.1, 0.5, 2.0];
    let states = integrator.trajectory(&galaxy, &start, &times).unwrap();
    assert_eq!(states[4], start);
    assert_eq!(states[0], states[6]);
    let exact = Integrator::new(1e-12).unwrap();
    for (time, found) in times.iter().zip(&states) {
        let truth = exact.integrate(&galaxy, &start, *time).unwrap().end;
        let direct = integrator.integrate(&galaxy, &start, *time).unwrap().end;
        let (ours, theirs) = (apart(found, &truth), apart(&direct, &truth));
        let speed = (0..3).map(|c| (found.velocity[c] - truth.velocity[c]).abs()).fold(0.0, f64::max);
        println!("t = {time}: dense {ours:.1e} kpc {speed:.1e} km/s, direct {theirs:.1e} kpc");
        assert!(ours <= 1.1 * theirs + 1e-9 && speed < 1e-3);
    }
}

#[test]
fn states_between_steps_are_as_good_as_the_steps() {
    let potential = Plummer::new(1e11, 3.0).unwrap();
    let start = state([8.0, 0.0, 1.0], [20.0, 150.0, 40.0]);
    let times: Vec<f64> = (1..200).map(|i| f64::from(i) * 0.01).collect();
    let truth = Integrator::new(1e-13).unwrap().trajectory(&potential, &start, &times).unwrap();
    for accuracy in [1e-6, 1e-8, 1e-10] {
        let integrator = Integrator::new(accuracy).unwrap();
        let dense = integrator.trajectory(&potential, &start, &times).unwrap();
        let direct = times.iter().map(|&t| integrator.integrate(&potential, &start, t).unwrap().end);
        let worst = [dense, direct.collect()]
            .map(|states| states.iter().zip(&truth).map(|(a, b)| apart(a, b)).fold(0.0, f64::max));
        println!("accuracy {accuracy:e}: dense {:.1e} kpc, direct {:.1e} kpc", worst[0], worst[1]);
        assert!(worst[0] <= 1.1 * worst[1]);
    }
}

#[test]
fn a_plunge_into_a_point_mass_stops_with_a_reason() {
    let potential = Kepler::new(1e10).unwrap();
    let fall = state([1.0, 0.0, 0.0], [0.0; 3]);
    let orbit = Integrator::default().integrate(&potential, &fall, 10.0).unwrap();
    assert_eq!(orbit.stop, Stop::Singular);
    // Free fall from rest takes pi/2 sqrt(r^3 / 2 G M).
    let time = TAU / 4.0 / (2.0 * G * 1e10_f64).sqrt();
    assert!((orbit.time - time).abs() < 1e-6, "{} not {time}", orbit.time);
    let many =
        Integrator::default().many(&potential, &[fall, state([1.0, 0.0, 0.0], [0.0, 200.0, 0.0])], 1.0);
    let many = many.unwrap();
    assert_eq!((many[0].stop, many[1].stop), (Stop::Singular, Stop::Reached));
    let states = Integrator::default().trajectory(&potential, &fall, &[0.5 * time, 2.0 * time]);
    assert!(matches!(states, Err(OrbitError::Stopped { stop: Stop::Singular, .. })), "{states:?}");
    // The centre itself.
    let stuck = Integrator::default().integrate(&potential, &state([0.0; 3], [1.0, 0.0, 0.0]), 1.0).unwrap();
    assert_eq!(stuck.stop, Stop::Singular);
}

#[test]
fn the_largest_number_of_steps_ends_an_orbit() {
    let potential = Plummer::new(1e11, 3.0).unwrap();
    let start = state([8.0, 0.0, 1.0], [20.0, 150.0, 40.0]);
    let orbit = Integrator::default().most_steps(20).unwrap().integrate(&potential, &start, 1e6).unwrap();
    assert_eq!((orbit.stop, orbit.evaluations), (Stop::Steps, 1 + 8 * 20));
    assert!(orbit.time > 0.0 && orbit.time < 1e6);
}

#[test]
fn through_the_centre_of_a_smooth_potential_and_along_the_axis() {
    let potential = Plummer::new(1e11, 3.0).unwrap();
    let integrator = Integrator::default();
    for start in [
        state([0.0; 3], [0.0; 3]),
        state([0.0; 3], [0.0, 0.0, 100.0]),
        state([0.0, 0.0, 5.0], [0.0; 3]),
        state([5.0, 0.0, 0.0], [0.0; 3]),
    ] {
        let orbit = integrator.integrate(&potential, &start, 1.0).unwrap();
        assert_eq!(orbit.stop, Stop::Reached);
        assert!(orbit.energy_drift.abs() < 1e-6, "{orbit:?}");
        let still: Vec<usize> =
            (0..3).filter(|&c| start.position[c] == 0.0 && start.velocity[c] == 0.0).collect();
        assert!(still.iter().all(|&c| orbit.end.position[c] == 0.0), "{orbit:?}");
    }
}

#[test]
fn no_time_is_no_motion_and_no_orbits_are_no_orbits() {
    let potential = Plummer::new(1e11, 3.0).unwrap();
    let start = state([8.0, 0.0, 1.0], [20.0, 150.0, 40.0]);
    let orbit = Integrator::default().integrate(&potential, &start, 0.0).unwrap();
    assert_eq!((orbit.end, orbit.steps, orbit.energy_drift), (start, 0, 0.0));
    assert_eq!(Integrator::default().many(&potential, &[start], 0.0).unwrap(), [orbit]);
    assert_eq!(Integrator::default().many(&potential, &[], 1.0).unwrap(), []);
    assert_eq!(Integrator::default().trajectory(&potential, &start, &[]).unwrap(), []);
}

#[test]
fn bad_input_is_named() {
    let potential = Plummer::new(1e11, 3.0).unwrap();
    let good = state([8.0, 0.0, 1.0], [20.0, 150.0, 40.0]);
    let bad = state([8.0, 0.0, 1.0], [20.0, f64::NAN, 40.0]);
    let integrator = Integrator::default();
    let told = |error: OrbitError| error.to_string();
    assert_eq!(told(Integrator::new(0.0).unwrap_err()), "accuracy 0 is not between 1e-13 and 1e-3");
    assert!(Integrator::new(f64::NAN).is_err() && integrator.most_steps(0).is_err());
    let many = integrator.many(&potential, &[good, bad], 1.0).unwrap_err();
    assert_eq!(told(many), "orbit 1: vy = NaN is not a finite number");
    assert_eq!(
        told(integrator.integrate(&potential, &good, f64::INFINITY).unwrap_err()),
        "time 0: inf is not a finite number"
    );
    assert_eq!(
        told(integrator.trajectory(&potential, &good, &[1.0, f64::NAN]).unwrap_err()),
        "time 1: NaN is not a finite number"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the start, an orbit ends: with the time reached and its energy kept, or with a reason.
    #[test]
    fn every_orbit_ends(
        position in prop::array::uniform3(-30.0..30.0_f64),
        velocity in prop::array::uniform3(-800.0..800.0_f64),
        time in -3.0..3.0_f64,
    ) {
        let potential = Isochrone::new(5e11, 4.0).unwrap();
        let orbit = Integrator::default().integrate(&potential, &state(position, velocity), time).unwrap();
        prop_assert_eq!(orbit.stop, Stop::Reached);
        prop_assert_eq!(orbit.time, time);
        // Near the brink of escape the energy is a small difference of large ones.
        prop_assert!(orbit.energy_drift.abs() < 1e-4, "{:?}", orbit);
    }
}
