//! Low-discrepancy points in the unit cube: a seeded, Owen-scrambled Sobol sequence.
//!
//! The underlying sequence has 2^16 points in 256 dimensions, with each coordinate a multiple of
//! 2^-24. Every further 256 dimensions, and every further 2^16 points, use a separate sequence with
//! a new seed; such blocks are independent of each other and evenly spread within. A point is
//! placed at random inside its cell of 2^-24, so that all digits of a coordinate are used and none
//! is 0 or 1.

use crate::Stream;
use rand::{Rng, RngExt};
use sobol_burley::NUM_DIMENSIONS;

const LENGTH: usize = 1 << 16;
const CELL: f64 = 1.0 / (1 << 24) as f64;

/// The points of one object, in order.
pub(super) struct Sobol {
    dimension: usize,
    next: usize,
    seeds: Vec<u32>,
}

impl Sobol {
    pub(super) fn new(dimension: usize) -> Self {
        Self { dimension, next: 0, seeds: Vec::new() }
    }

    /// Writes the next point: every coordinate above 0 and below 1.
    pub(super) fn point(&mut self, rng: &mut Stream, u: &mut [f64]) {
        let most = NUM_DIMENSIONS as usize;
        let index = self.next % LENGTH;
        if index == 0 {
            self.seeds = (0..self.dimension.div_ceil(most)).map(|_| rng.next_u32()).collect();
        }
        for (c, slot) in u.iter_mut().enumerate() {
            let cell = sobol_burley::sample(index as u32, (c % most) as u32, self.seeds[c / most]);
            let within: f64 = rng.random();
            *slot = (f64::from(cell) + within * CELL).clamp(1e-17, 1.0 - f64::EPSILON / 2.0);
        }
        self.next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn every_dyadic_interval_holds_its_share() {
        let mut rng = stream(3, 0);
        let mut sobol = Sobol::new(5);
        let mut counts = [[0; 256]; 5];
        let mut u = [0.0; 5];
        for _ in 0..1024 {
            sobol.point(&mut rng, &mut u);
            for c in 0..5 {
                counts[c][(u[c] * 256.0) as usize] += 1;
            }
        }
        assert_eq!(counts, [[4; 256]; 5]);
    }

    #[test]
    fn many_dimensions_and_many_points_are_no_limit() {
        let mut rng = stream(3, 1);
        let mut wide = Sobol::new(600);
        let mut u = vec![0.0; 600];
        let mut sums = vec![0.0; 600];
        for _ in 0..256 {
            wide.point(&mut rng, &mut u);
            for (sum, x) in sums.iter_mut().zip(&u) {
                *sum += x / 256.0;
            }
        }
        // Evenly spread: the mean is 1/2 far closer than the 0.018 of independent draws.
        assert!(sums.iter().all(|mean| (mean - 0.5).abs() < 0.003));
        assert_ne!(u[0], u[256]);

        let mut long = Sobol::new(1);
        let mut u = [0.0];
        let mut first = Vec::new();
        for j in 0..LENGTH + 100 {
            long.point(&mut rng, &mut u);
            assert!(u[0] > 0.0 && u[0] < 1.0);
            if j < 100 {
                first.push(u[0]);
            } else if j >= LENGTH {
                assert!((first[j - LENGTH] - u[0]).abs() > CELL);
            }
        }
    }
}
