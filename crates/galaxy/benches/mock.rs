//! A mock data set, and its 275 x 101 candidates to actions: wall time on all cores.

use std::sync::Arc;
use std::time::Instant;

use goc::uncertainty::{Penalty, Propagation, Sampler, Size, WhenAllRejected};
use goc_galaxy::actions::{ActionFinder, Variant};
use goc_galaxy::catalogue::{Catalogue, DistanceMeasure};
use goc_galaxy::frames::{JphiSign, Sky, Sun};
use goc_galaxy::mock::MockParams;
use goc_galaxy::stars::StarActions;

fn main() {
    let begin = Instant::now();
    let finder = Arc::new(ActionFinder::milky_way(Variant::Converged).expect("made"));
    println!("finder set_up_seconds={:.3}", begin.elapsed().as_secs_f64());
    let valid = MockParams::default().check().expect("the defaults are valid");
    let draw = |seed| {
        let begin = Instant::now();
        let mock = valid.draw(finder.potential().as_ref(), seed, &|_| {}).expect("drawn");
        let seconds = begin.elapsed().as_secs_f64();
        println!(
            "mock seed={seed} seconds={seconds:.2} orbits={} redrawn={} orbits_per_second={:.0}",
            mock.counts.orbits,
            mock.counts.redrawn,
            mock.counts.orbits as f64 / seconds
        );
        mock
    };
    let last = [1, 2, 3].map(draw).into_iter().next_back().expect("three");
    let catalogue = Catalogue::new(Sky::Galactic, DistanceMeasure::Parallax { offset: 0.0 }, Sun::hattori())
        .expect("valid");
    let objects = last.objects(Size::sigmas(2.0).expect("valid")).expect("valid");
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
