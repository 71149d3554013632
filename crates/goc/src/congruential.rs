//! Knuth's congruential numbers, for tests: the scripts that made reference values draw the same.

use crate::Points;

/// The states of the generator, one after another.
pub(crate) fn states(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state
    }
}

/// Numbers of 31 bits in [0, 1).
pub(crate) fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut next = states(seed);
    move || (next() >> 33) as f64 / (1_u64 << 31) as f64
}

/// Numbers of 53 bits in [0, 1).
pub(crate) fn uniform_53(seed: u64) -> impl FnMut() -> f64 {
    let mut next = states(seed);
    move || (next() >> 11) as f64 / (1_u64 << 53) as f64
}

/// `n` points of `q` features in [0, 1).
pub(crate) fn points(seed: u64, n: usize, q: usize) -> Points {
    let mut next = uniform(seed);
    Points::new((0..n * q).map(|_| next()).collect(), q).unwrap()
}
