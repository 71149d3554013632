//! A mock data set, and its 275 x 101 candidates to actions: wall time on all cores.

use std::sync::Arc;
use std::time::Instant;

use goc::uncertainty::{Object, Penalty, Propagation, Sampler, Size, UncertaintySet, WhenAllRejected};
use goc_galaxy::actions::{ActionFinder, Variant};
use goc_galaxy::catalogue::{Catalogue, Far};
use goc_galaxy::frames::{JphiSign, Sky, Sun};
use goc_galaxy::mock::MockParams;
use goc_galaxy::stars::StarActions;

fn main() {
    let begin = Instant::now();
    let finder = Arc::new(ActionFinder::milky_way(Variant::Converged).expect("made"));
    println!("finder set_up_seconds={:.3}", begin.elapsed().as_secs_f64());
    let valid = MockParams::default().check().expect("the defaults are valid");
    let mut stars = Vec::new();
    for seed in 1..=3 {
        let begin = Instant::now();
        let mock = valid.draw(finder.potential().as_ref(), seed, &|_| {}).expect("drawn");
        let seconds = begin.elapsed().as_secs_f64();
        println!(
            "mock seed={seed} seconds={seconds:.2} orbits={} redrawn={} orbits_per_second={:.0}",
            mock.counts.orbits,
            mock.counts.redrawn,
            mock.counts.orbits as f64 / seconds
        );
        stars = mock.stars;
    }
    let catalogue =
        Catalogue::new(Sky::Galactic, Far::Parallax { offset: 0.0 }, Sun::hattori()).expect("valid");
    let objects: Vec<Object> = stars
        .iter()
        .enumerate()
        .map(|(i, star)| {
            let m = &star.measured;
            let [l, b] = m.truth.position.in_degrees();
            let [pml, pmb] = m.errors.galactic_proper_motion;
            let row = [l, b, m.parallax, m.proper_motion[0], m.proper_motion[1], m.radial_velocity];
            let errors = [0.0, 0.0, m.errors.parallax, pml, pmb, m.radial_velocity_error];
            let size = Size::sigmas(2.0).expect("valid");
            Object::new(i as u64, UncertaintySet::cuboid(&row, &errors, size).expect("valid"))
        })
        .collect();
    let make = Propagation::new(StarActions::new(catalogue, finder, JphiSign::Paper))
        .sampler(Sampler::Grid { coordinate: 2 })
        .draws(101)
        .penalty(Penalty::SurpriseOf(vec![2]))
        .when_all_rejected(WhenAllRejected::LeaveOut);
    let best = (0..5)
        .map(|_| {
            let begin = Instant::now();
            let (candidates, _) = make.propagate(&objects).expect("candidates");
            assert!(candidates.objects() > 270);
            begin.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    println!("candidates stars={} m=101 seconds={best:.4}", objects.len());
}
