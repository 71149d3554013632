//! The box around each object's candidates, with its minimum and maximum distances.
//!
//! For a box with lower corner `l` and upper corner `u` and a centre `c`, feature by feature,
//! `min = max(l - c, c - u, 0)` and `max = max(|c - l|, |u - c|)`; the sums of their squares are
//! the squared distances to the nearest and to the farthest point of the box. Every candidate lies
//! between the two, and so does any mean over candidates.

use crate::{Candidates, Points};

/// Lower and upper corner of every object's candidates.
#[derive(Clone, Debug)]
pub(crate) struct BoundingBoxes {
    low: Points,
    high: Points,
}

impl BoundingBoxes {
    pub(crate) fn new(candidates: &Candidates) -> Self {
        let (n, q) = (candidates.objects(), candidates.features());
        let (mut low, mut high) = (Vec::with_capacity(n * q), Vec::with_capacity(n * q));
        for i in 0..n {
            for f in 0..q {
                let column = candidates.feature(i, f);
                low.push(column.iter().copied().fold(f64::INFINITY, f64::min));
                high.push(column.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            }
        }
        Self { low: Points::trusted(low, q), high: Points::trusted(high, q) }
    }

    /// Squared distance to the nearest point of box `i`; 0 inside.
    #[inline]
    pub(crate) fn min_squared(&self, i: usize, centre: &[f64]) -> f64 {
        let mut sum = 0.0;
        for ((l, h), c) in self.low.row(i).iter().zip(self.high.row(i)).zip(centre) {
            let d = (l - c).max(c - h).max(0.0);
            sum += d * d;
        }
        sum
    }

    /// Squared distance to the farthest point of box `i`, one of its corners.
    #[inline]
    pub(crate) fn max_squared(&self, i: usize, centre: &[f64]) -> f64 {
        let mut sum = 0.0;
        for ((l, h), c) in self.low.row(i).iter().zip(self.high.row(i)).zip(centre) {
            let d = (c - l).abs().max((h - c).abs());
            sum += d * d;
        }
        sum
    }

    /// Squared distances between the nearest and between the farthest points of two boxes.
    pub(crate) fn between_squared(&self, i: usize, j: usize) -> (f64, f64) {
        let (mut near, mut far) = (0.0, 0.0);
        for f in 0..self.low.features() {
            let (l, h) = (self.low.row(i)[f], self.high.row(i)[f]);
            let (m, k) = (self.low.row(j)[f], self.high.row(j)[f]);
            let gap = (l - k).max(m - h).max(0.0);
            let span = (h - m).abs().max((k - l).abs());
            near += gap * gap;
            far += span * span;
        }
        (near, far)
    }

    /// The middles of all boxes.
    pub(crate) fn middles(&self) -> Points {
        // Halved before the addition: two large corners must not overflow.
        let values = self.low.values().iter().zip(self.high.values()).map(|(l, h)| 0.5 * l + 0.5 * h);
        Points::trusted(values.collect(), self.low.features())
    }

    /// Half the width of box `i` in feature `f`.
    pub(crate) fn half(&self, i: usize, f: usize) -> f64 {
        0.5 * self.high.row(i)[f] - 0.5 * self.low.row(i)[f]
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
        fn nearest_and_farthest_point_are_found_by_a_fine_grid(
            rows in prop::collection::vec(-4i32..4, 6),
            centre in prop::collection::vec(-6i32..6, 2),
        ) {
            let rows: Vec<f64> = rows.into_iter().map(f64::from).collect();
            let centre: Vec<f64> = centre.into_iter().map(f64::from).collect();
            let mut builder = CandidatesBuilder::new(2);
            builder.push(&rows, &[]).unwrap();
            let boxes = BoundingBoxes::new(&builder.build().unwrap());
            let side = |f: usize| {
                let column = [rows[f], rows[2 + f], rows[4 + f]];
                let low = column.iter().copied().fold(f64::INFINITY, f64::min);
                let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                (low, high)
            };
            // Corners and centre are integers, so an integer grid contains both extreme points.
            let (mut near, mut far) = (f64::INFINITY, 0.0f64);
            let ((l0, h0), (l1, h1)) = (side(0), side(1));
            let mut x = l0;
            while x <= h0 {
                let mut y = l1;
                while y <= h1 {
                    let d = squared_distance(&[x, y], &centre);
                    (near, far) = (near.min(d), far.max(d));
                    y += 1.0;
                }
                x += 1.0;
            }
            prop_assert_eq!(boxes.min_squared(0, &centre), near);
            prop_assert_eq!(boxes.max_squared(0, &centre), far);
        }
    }
}
