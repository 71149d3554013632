//! Expected distances of an uncertain object to a centre, and the min-max pruning of Ngai et al. (2006).
//!
//! The expectation is a sum over all `m` candidates, `E d(X_i, c) = mean_j d(x_ij, c)`: `m` times
//! as expensive as a distance. Ngai, Kao, Chui, Cheng, Chau & Yip ("Efficient clustering of
//! uncertain data", ICDM 2006) avoid most of them. The distances to the nearest and the farthest
//! point of the object's bounding box enclose the expectation, so a centre cannot win if its
//! nearest point of the box is farther away than the smallest of all farthest points; if one centre
//! is left, nothing needs to be summed.

use super::alternating_minimisation::DistanceCount;
use super::bounding::BoundingBoxes;
use crate::{Candidates, Points};

/// A bound is used only if it is decisive by more than the rounding of a sum over candidates, so
/// pruning never changes a label.
const CLEAR: f64 = 1.0 + 1e-9;

/// The power of the distance that is averaged over an object's candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Power {
    Squared,
    Euclidean,
}

/// Expected distances, with or without boxes for pruning.
pub(super) struct Expected<'a> {
    pub(super) candidates: &'a Candidates,
    power: Power,
    boxes: Option<BoundingBoxes>,
}

impl<'a> Expected<'a> {
    pub(super) fn new(candidates: &'a Candidates, power: Power, pruning: bool) -> Self {
        Self { candidates, power, boxes: pruning.then(|| BoundingBoxes::new(candidates)) }
    }

    /// The mean distance of the candidates of object `i`.
    pub(super) fn distance(&self, i: usize, centre: &[f64]) -> f64 {
        const CHUNK: usize = 32;
        let m = self.candidates.count(i);
        let block = self.candidates.block(i);
        let mut total = 0.0;
        // Chunks of a fixed length keep the partial sums in registers; candidates are added in order.
        for from in (0..m).step_by(CHUNK) {
            let len = CHUNK.min(m - from);
            let mut squares = [0.0; CHUNK];
            for (f, c) in centre.iter().enumerate() {
                for (s, x) in squares.iter_mut().zip(&block[f * m + from..f * m + from + len]) {
                    let d = x - c;
                    *s += d * d;
                }
            }
            for s in &squares[..len] {
                total += if self.power == Power::Squared { *s } else { s.sqrt() };
            }
        }
        total / m as f64
    }

    /// The centre of least expected distance; ties to the lower number.
    pub(super) fn nearest(&self, i: usize, centres: &Points, count: &mut DistanceCount) -> usize {
        let k = centres.len();
        let Some(boxes) = &self.boxes else {
            count.computed += k as u64;
            return super::alternating_minimisation::least(centres.rows().map(|c| self.distance(i, c)));
        };
        // Squares order as their roots do, so one bound serves both powers.
        let bound = centres.rows().map(|c| boxes.max_squared(i, c)).fold(f64::INFINITY, f64::min) * CLEAR;
        let left: Vec<usize> = (0..k).filter(|&l| boxes.min_squared(i, centres.row(l)) <= bound).collect();
        if let [only] = left[..] {
            count.pruned += k as u64;
            return only;
        }
        count.pruned += (k - left.len()) as u64;
        count.computed += left.len() as u64;
        let at =
            super::alternating_minimisation::least(left.iter().map(|&l| self.distance(i, centres.row(l))));
        left.get(at).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::CandidatesBuilder;
    use crate::points::squared_distance;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pruned_and_unpruned_choose_the_same_centre(
            values in prop::collection::vec(-20i32..20, 2 * 70),
            centres in prop::collection::vec(-20i32..20, 2..24),
        ) {
            // Integers make ties, which must be resolved in the same way too.
            let row = |v: &[i32]| v.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
            let mut builder = CandidatesBuilder::new(2);
            builder.push(&row(&values), &[]).unwrap();
            builder.push(&row(&values[..6]), &[]).unwrap();
            builder.push(&row(&values[..2]), &[]).unwrap();
            let candidates = builder.build().unwrap();
            let centres = Points::new(row(&centres[..centres.len() / 2 * 2]), 2).unwrap();
            for power in [Power::Squared, Power::Euclidean] {
                let (with, without) =
                    (Expected::new(&candidates, power, true), Expected::new(&candidates, power, false));
                let (mut pruned, mut all) = (DistanceCount::default(), DistanceCount::default());
                for i in 0..3 {
                    prop_assert_eq!(
                        with.nearest(i, &centres, &mut pruned),
                        without.nearest(i, &centres, &mut all)
                    );
                }
                prop_assert_eq!(pruned.computed + pruned.pruned, all.computed);
            }
        }

        #[test]
        fn the_expectation_is_the_mean_over_candidates(
            values in prop::collection::vec(-9.0f64..9.0, 3 * 45),
        ) {
            let mut builder = CandidatesBuilder::new(3);
            builder.push(&values, &[]).unwrap();
            let candidates = builder.build().unwrap();
            let centre = [0.3, -1.1, 2.0];
            let squares: Vec<f64> = values.chunks(3).map(|x| squared_distance(x, &centre)).collect();
            let squared = Expected::new(&candidates, Power::Squared, false).distance(0, &centre);
            let plain = Expected::new(&candidates, Power::Euclidean, false).distance(0, &centre);
            prop_assert!((squared - squares.iter().sum::<f64>() / 45.0).abs() < 1e-12 * squared);
            let mean_root = squares.iter().map(|s| s.sqrt()).sum::<f64>() / 45.0;
            prop_assert!((plain - mean_root).abs() < 1e-12 * plain);
        }
    }
}
