//! Data for the tests of the methods.

use std::fmt::Debug;

use crate::Candidates;
use crate::candidates::CandidatesBuilder;
use crate::random;
use rand::RngExt;

/// `n` objects around points drawn in a square of side 10, with `m` candidates within `spread` of each.
pub(super) fn blobs(n: usize, m: usize, q: usize, spread: f64, seed: u64) -> Candidates {
    let mut stream = random::stream(seed, 99);
    let mut builder = CandidatesBuilder::new(q);
    for _ in 0..n {
        let middle: Vec<f64> = (0..q).map(|_| 10.0 * stream.random::<f64>()).collect();
        let rows: Vec<f64> =
            (0..m * q).map(|v| middle[v % q] + spread * (2.0 * stream.random::<f64>() - 1.0)).collect();
        builder.push(&rows, &[]).unwrap();
    }
    builder.build().unwrap()
}

/// One object of two candidates.
pub(super) fn one_object() -> Candidates {
    let mut builder = CandidatesBuilder::new(1);
    builder.push(&[1.0, 2.0], &[]).unwrap();
    builder.build().unwrap()
}

/// `n` objects with the same three candidates.
pub(super) fn identical(n: usize) -> Candidates {
    let mut builder = CandidatesBuilder::new(2);
    for _ in 0..n {
        builder.push(&[0.1, 0.2, 1.3, -0.7, 0.4, 0.9], &[]).unwrap();
    }
    builder.build().unwrap()
}

/// All labellings of `n` objects with at most `k` clusters, each grouping once.
pub(crate) fn all_partitions(n: usize, k: u32) -> Vec<Vec<u32>> {
    let mut all = vec![vec![0u32]];
    for _ in 1..n {
        all = all
            .into_iter()
            .flat_map(|labels| {
                let next = labels.iter().max().map_or(0, |l| l + 1).min(k - 1);
                (0..=next).map(move |l| [&labels[..], &[l]].concat())
            })
            .collect();
    }
    all
}

/// The 34 objects of five candidates that ELKI was given: three blobs and four strays, drawn by Knuth's
/// congruential numbers.
pub(super) fn elki_objects() -> Candidates {
    let mut uniform = crate::congruential::uniform_53(20050512);
    let blobs = [[0.0, 0.0], [6.0, 0.0], [3.0, 5.0]];
    let mut builder = CandidatesBuilder::new(2);
    for i in 0..34 {
        let mut middle = [0.0; 2];
        for (f, slot) in middle.iter_mut().enumerate() {
            *slot =
                if i < 30 { blobs[i / 10][f] + 4.0 * (uniform() - 0.5) } else { 30.0 * (uniform() - 0.5) };
        }
        let rows: Vec<f64> = (0..10).map(|v| middle[v % 2] + 2.0 * (uniform() - 0.5)).collect();
        builder.push(&rows, &[]).unwrap();
    }
    builder.build().unwrap()
}

/// One thread and four give the same result, to the byte.
pub(super) fn same_on_any_threads<T: PartialEq + Debug + Send>(run: impl Fn() -> T + Sync) {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(&run)
    };
    assert_eq!(on(1), on(4));
}
