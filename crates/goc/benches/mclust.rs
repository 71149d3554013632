//! Mixtures with BIC on one thread: least wall time of three, and the result, to set beside
//! `bench/mclust_rival.R`.
//!
//! Both make the same points by the same congruential numbers: 40 blobs. Run
//! `make bench` runs both.

use goc::Points;
use goc::oracle::mclust::{Mclust, Model};
use std::time::Instant;

/// `n` points of 3 features around 40 centres.
fn blobs(n: usize) -> Points {
    let mut state = 1_u64;
    let mut uniform = || {
        state = 16807 * state % 2_147_483_647;
        state as f64 / 2_147_483_647.0
    };
    let centres: Vec<f64> = (0..120).map(|_| 10.0 * uniform()).collect();
    let mut values = Vec::with_capacity(3 * n);
    for i in 0..n {
        for j in 0..3 {
            values.push(centres[3 * (i % 40) + j] + (uniform() + uniform() + uniform() - 1.5));
        }
    }
    Points::new(values, 3).expect("finite by construction")
}

fn main() {
    for (n, k) in [(275, 50), (1000, 50), (3000, 50)] {
        let points = blobs(n);
        for model in [Model::Eii, Model::Vii, Model::Vvv] {
            let mut least = f64::INFINITY;
            let mut answer = String::new();
            for _ in 0..3 {
                let begin = Instant::now();
                let fit = Mclust::new(model).fit(&points, k).expect("a valid request");
                least = least.min(begin.elapsed().as_secs_f64());
                answer = format!("G={} bic={:.6}", fit.g, fit.bic);
            }
            println!("n={n} K={k} {model:?} seconds={least:.4} {answer}");
        }
    }
}
