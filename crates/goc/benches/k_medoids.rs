//! k-medoids on one thread: seconds and loss, to set beside the PyPI package kmedoids in `bench/compare.py`.
//!
//! Both make the same points by the same congruential numbers: 40 blobs with tails. The rival is
//! given its distance matrix for free. `make bench` runs both.

mod made;

use goc::oracle::Start;
use goc::oracle::dissimilarities::Dissimilarities;
use goc::oracle::k_medoids::{KMedoids, Medoids};
use goc::random::stream;
use made::blobs;
use std::time::Instant;

/// The least time of five, so that what else the machine does counts little.
fn timed(what: &str, mut run: impl FnMut(u64) -> Medoids) {
    for seed in 0..3 {
        let mut seconds = f64::INFINITY;
        let mut fit = None;
        for _ in 0..5 {
            let begin = Instant::now();
            fit = Some(run(seed));
            seconds = seconds.min(begin.elapsed().as_secs_f64());
        }
        let fit = fit.expect("five runs were made");
        println!("{what} seed={seed} seconds={seconds:.4} loss={:.4} swaps={}", fit.loss, fit.swaps);
    }
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    pool.install(|| {
        for (n, q, k) in
            [(5000, 3, 50), (5000, 3, 5), (1000, 3, 50), (300, 3, 50), (2000, 12, 50), (2000, 40, 50)]
        {
            let points = blobs(n, q);
            let oracle = KMedoids::default().starts(1);
            let case = format!("n={n} q={q} k={k}");
            timed(&format!("points {case}"), |seed| {
                oracle.fit(&points, Start::K(k), &mut stream(seed, 0)).expect("a valid request")
            });
            let matrix = Dissimilarities::euclidean(&points).expect("finite distances");
            timed(&format!("matrix {case}"), |seed| {
                oracle.fit_matrix(&matrix, k, &mut stream(seed, 0)).expect("a valid request")
            });
        }
    });
}
