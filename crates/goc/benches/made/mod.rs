//! Data for benches: short bent curves around group centres, like the paper's stars in action
//! space, and plain points.

#![allow(dead_code)] // each bench uses its own part

use goc::candidates::CandidatesBuilder;
use goc::{Candidates, Points};
use rand::RngExt;

/// `n` objects of `m` candidates in three features, in `groups` groups.
pub fn curves(n: usize, m: usize, groups: usize, seed: u64) -> Candidates {
    let mut rng = goc::random::stream(seed, 0);
    let middles: Vec<[f64; 3]> =
        (0..groups).map(|_| std::array::from_fn(|_| rng.random_range(-2.0..2.0))).collect();
    let mut builder = CandidatesBuilder::with_capacity(3, n, n * m);
    let (mut rows, mut penalties) = (Vec::new(), Vec::new());
    for i in 0..n {
        let c = middles[i % groups];
        let direction: [f64; 3] = std::array::from_fn(|_| rng.random_range(-0.5..0.5));
        let bend: f64 = rng.random_range(-0.3..0.3);
        let shift: f64 = rng.random_range(-0.7..0.7);
        rows.clear();
        penalties.clear();
        for j in 0..m {
            let s = 2.0 * j as f64 / (m.max(2) - 1) as f64 - 1.0;
            for f in 0..3 {
                let along = (s - shift) * direction[f] + if f == 2 { bend * s * s } else { 0.0 };
                rows.push(c[f] + along + 0.02 * rng.random_range(-1.0..1.0));
            }
            penalties.push(s * s);
        }
        builder.push(&rows, &penalties).expect("finite by construction");
    }
    builder.build().expect("there are objects")
}

/// `n` points of `q` features around 40 centres; `bench/compare.py` makes the same for the rivals.
pub fn blobs(n: usize, q: usize) -> Points {
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let centres: Vec<f64> = (0..40 * q).map(|_| 20.0 * uniform()).collect();
    let mut values = Vec::with_capacity(n * q);
    for _ in 0..n {
        let blob = (40.0 * uniform()) as usize;
        for f in 0..q {
            values.push(centres[blob * q + f] + uniform() + uniform() + uniform() - 1.5);
        }
    }
    Points::new(values, q).expect("finite by construction")
}
