//! Tests that results are byte-identical for any number of threads, for the oracles and tables that
//! use threads, or libraries that may.

use super::Start;
use super::affinity::Affinity;
use super::convex::Convex;
use super::graph::tests::blobs;
use super::hdbscan::Hdbscan;
use super::mean_shift::MeanShift;
use super::spectral::Spectral;
use crate::candidates::CandidatesBuilder;
use crate::congruential;
use crate::random::stream;
use crate::set_distance::{SetDistance, all_four};
use std::fmt::Debug;

/// That `work` has one outcome on one, two and four threads. Compared as text: it has every digit, and the
/// sign of a zero.
fn on_any_number_of_threads<T: Debug + Send>(what: &str, work: impl Fn() -> T + Sync) {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| format!("{:?}", work()))
    };
    let one = on(1);
    for threads in [2, 4] {
        assert!(one == on(threads), "{what}: another outcome on {threads} threads");
    }
}

#[test]
fn convex_clustering_is_the_same_on_any_number_of_threads() {
    let points = blobs(1, 400, 3, 8);
    for k in [3, 20, 200] {
        on_any_number_of_threads("convex", || Convex::default().fit(&points, k).unwrap());
    }
}

#[test]
fn spectral_clustering_is_the_same_on_any_number_of_threads() {
    let points = blobs(2, 500, 3, 9);
    let oracle = Spectral::default();
    on_any_number_of_threads("spectral", || oracle.fit(&points, Start::K(9), &mut stream(1, 1)).unwrap());
}

#[test]
fn mean_shift_is_the_same_on_any_number_of_threads() {
    let points = blobs(3, 400, 3, 7);
    on_any_number_of_threads("mean-shift", || MeanShift::default().fit(&points).unwrap());
}

#[test]
fn hdbscan_is_the_same_on_any_number_of_threads() {
    let points = blobs(4, 600, 3, 9);
    // Points on a grid have many distances alike, so that any order of work would show.
    let grid = crate::Points::new((0..900).map(|i| f64::from((i * i) % 31)).collect(), 3).unwrap();
    for points in [&points, &grid] {
        on_any_number_of_threads("hdbscan", || Hdbscan::default().fit(points).unwrap());
    }
}

#[test]
fn affinity_propagation_is_the_same_on_any_number_of_threads() {
    let points = blobs(5, 250, 3, 6);
    on_any_number_of_threads("affinity", || Affinity::default().fit(&points, &mut stream(1, 1)).unwrap());
}

#[test]
fn set_distances_are_the_same_on_any_number_of_threads() {
    let mut uniform = congruential::uniform(6);
    let mut builder = CandidatesBuilder::new(3);
    for i in 0..70 {
        let rows: Vec<f64> = (0..3 * (1 + i % 23)).map(|_| uniform()).collect();
        builder.push(&rows, &[]).unwrap();
    }
    let sets = builder.build().unwrap();
    on_any_number_of_threads("all four", || all_four(&sets).unwrap());
    for distance in SetDistance::ALL {
        on_any_number_of_threads(distance.name(), || distance.of(&sets).unwrap());
    }
}
