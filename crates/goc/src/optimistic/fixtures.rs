//! Data for the tests that compare a pruned search with the full one.

use rand::RngExt;

use crate::candidates::CandidatesBuilder;
use crate::{Candidates, Points, Stream, random};

/// Numbers around 0; coarse ones are whole, so that there are ties everywhere.
pub(super) struct Numbers {
    rng: Stream,
    coarse: bool,
}

impl Numbers {
    pub(super) fn new(seed: u64, coarse: bool) -> Self {
        Self { rng: random::stream(seed, 0), coarse }
    }

    pub(super) fn one(&mut self, scale: f64) -> f64 {
        let x: f64 = self.rng.random_range(-1.0..1.0) * scale;
        if self.coarse { x.round() } else { x }
    }

    pub(super) fn several(&mut self, count: usize, scale: f64) -> Vec<f64> {
        (0..count).map(|_| self.one(scale)).collect()
    }

    /// As far apart as the objects are.
    pub(super) fn centres(&mut self, k: usize, q: usize) -> Points {
        Points::new(self.several(k * q, 4.0), q).unwrap()
    }

    /// Objects with this many candidates each, around a place of their own.
    pub(super) fn candidates(&mut self, q: usize, sizes: &[usize], penalised: bool) -> Candidates {
        let mut builder = CandidatesBuilder::new(q);
        for &m in sizes {
            let middle = self.several(q, 4.0);
            let rows: Vec<f64> = (0..m * q).map(|v| middle[v % q] + self.one(1.5)).collect();
            let penalties: Vec<f64> =
                if penalised { (0..m).map(|_| self.one(2.0).abs()).collect() } else { vec![] };
            builder.push(&rows, &penalties).unwrap();
        }
        builder.build().unwrap()
    }
}
