//! Distances from one point to many centres, eight centres at a time.
//!
//! The centres are stored feature after feature, padded to a multiple of [`LANES`] with infinity,
//! so that a padded centre is never the nearest. The inner loops have a fixed length and no branch,
//! so the compiler vectorises them when the caller is compiled for a machine with vector
//! instructions. The callers are, through `#[multiversion]`; the functions here are
//! `#[inline(always)]` so that they inherit the caller's target features. Fused multiply-add is
//! avoided on purpose: the bytes of a result must not depend on the machine.

use crate::Points;

/// The number of values that one step of a kernel handles: one AVX-512 register, two of AVX2.
pub(crate) const LANES: usize = 8;

/// Centres, feature after feature, padded with infinity.
#[derive(Clone, Debug)]
pub(crate) struct CentreLanes {
    k: usize,
    padded: usize,
    values: Vec<f64>,
}

impl CentreLanes {
    pub(crate) fn new(k: usize, features: usize) -> Self {
        let padded = k.next_multiple_of(LANES);
        Self { k, padded, values: vec![f64::INFINITY; padded * features] }
    }

    pub(crate) fn from_points(centres: &Points) -> Self {
        let mut lanes = Self::new(centres.len(), centres.features());
        for (k, row) in centres.rows().enumerate() {
            lanes.set(k, row);
        }
        lanes
    }

    pub(crate) fn set(&mut self, k: usize, row: &[f64]) {
        for (f, &v) in row.iter().enumerate() {
            self.values[f * self.padded + k] = v;
        }
    }

    #[inline(always)]
    pub(crate) fn at_mut(&mut self, k: usize, f: usize) -> &mut f64 {
        &mut self.values[f * self.padded + k]
    }

    pub(crate) fn k(&self) -> usize {
        self.k
    }

    /// The required length of a buffer for all distances.
    pub(crate) fn padded(&self) -> usize {
        self.padded
    }

    /// Squared distances of `point` to the [`LANES`] centres from `first` on.
    #[inline(always)]
    pub(crate) fn squared_block(&self, point: &[f64], first: usize) -> [f64; LANES] {
        let mut sum = [0.0; LANES];
        for (f, &x) in point.iter().enumerate() {
            let from = f * self.padded + first;
            let c: &[f64; LANES] = lane_array(&self.values[from..from + LANES]);
            for l in 0..LANES {
                let d = x - c[l];
                sum[l] += d * d;
            }
        }
        sum
    }

    /// Squared distances of the box `[low, high]` to the [`LANES`] centres from `first` on.
    ///
    /// Rounding is monotone, so this never exceeds the computed distance of a point inside the box.
    #[inline(always)]
    pub(crate) fn squared_box_block(&self, low: &[f64], high: &[f64], first: usize) -> [f64; LANES] {
        let mut sum = [0.0; LANES];
        for f in 0..low.len() {
            let from = f * self.padded + first;
            let c: &[f64; LANES] = lane_array(&self.values[from..from + LANES]);
            for l in 0..LANES {
                let d = (low[f] - c[l]).max(c[l] - high[f]).max(0.0);
                sum[l] += d * d;
            }
        }
        sum
    }

    /// Nearest centre (the lower number on a tie) and its squared distance.
    #[inline(always)]
    pub(crate) fn nearest(&self, point: &[f64]) -> (usize, f64) {
        let mut best = [f64::INFINITY; LANES];
        let mut step = [0u64; LANES];
        for (s, first) in (0..self.padded).step_by(LANES).enumerate() {
            let d = self.squared_block(point, first);
            for l in 0..LANES {
                let closer = d[l] < best[l];
                best[l] = if closer { d[l] } else { best[l] };
                step[l] = if closer { s as u64 } else { step[l] };
            }
        }
        least_lane(&best, &step)
    }

    /// The two nearest centres: `(nearest, its squared distance, second, its squared distance)`.
    #[inline(always)]
    pub(crate) fn two_nearest(&self, point: &[f64]) -> (usize, f64, usize, f64) {
        let mut best = [f64::INFINITY; LANES];
        let mut second = [f64::INFINITY; LANES];
        let mut step = [0u64; LANES];
        let mut second_step = [0u64; LANES];
        for (s, first) in (0..self.padded).step_by(LANES).enumerate() {
            let d = self.squared_block(point, first);
            for l in 0..LANES {
                let closer = d[l] < best[l];
                let between = d[l] < second[l];
                second[l] = if closer {
                    best[l]
                } else if between {
                    d[l]
                } else {
                    second[l]
                };
                second_step[l] = if closer {
                    step[l]
                } else if between {
                    s as u64
                } else {
                    second_step[l]
                };
                best[l] = if closer { d[l] } else { best[l] };
                step[l] = if closer { s as u64 } else { step[l] };
            }
        }
        let (k, value) = least_lane(&best, &step);
        // The runner-up is the best of another lane, or the second-best of the winner's lane.
        let lane = k % LANES;
        best[lane] = second[lane];
        step[lane] = second_step[lane];
        let (k2, value2) = least_lane(&best, &step);
        (k, value, k2, value2)
    }
}

/// The smallest value over the lanes, and the centre it belongs to; ties go to the lower centre.
///
/// Halves are compared with halves: three steps that wait for each other where lane after lane takes seven.
#[inline(always)]
pub(crate) fn least_lane(best: &[f64; LANES], step: &[u64; LANES]) -> (usize, f64) {
    let mut least = *best;
    for half in [LANES / 2, LANES / 4, LANES / 8] {
        for l in 0..half {
            least[l] = if least[l + half] < least[l] { least[l + half] } else { least[l] };
        }
    }
    // Branch-free: a lane that does not hold the smallest value counts as a centre beyond all
    // others.
    let mut centre = [u64::MAX; LANES];
    for l in 0..LANES {
        let this = step[l] * LANES as u64 + l as u64;
        centre[l] = if best[l] == least[0] { this } else { u64::MAX };
    }
    for half in [LANES / 2, LANES / 4, LANES / 8] {
        for l in 0..half {
            centre[l] = centre[l].min(centre[l + half]);
        }
    }
    (centre[0] as usize, least[0])
}

/// A slice of known length as an array, so that loops over it have a fixed length.
#[inline(always)]
pub(crate) fn lane_array(slice: &[f64]) -> &[f64; LANES] {
    // The callers cut the slice to LANES; the compiler removes the check.
    slice.first_chunk().expect("the slice has LANES values")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::squared_distance;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nearest_two_agree_with_a_plain_search(
            q in 1usize..5,
            k in 1usize..30,
            seed in prop::collection::vec(-3i32..3, 200),
        ) {
            // Small integers make many ties.
            let value = |i: usize| f64::from(seed[i % seed.len()]);
            let centres = Points::new((0..k * q).map(value).collect(), q).unwrap();
            let point: Vec<f64> = (0..q).map(|f| value(f + 101)).collect();
            let lanes = CentreLanes::from_points(&centres);

            let mut order: Vec<usize> = (0..k).collect();
            order.sort_by(|&a, &b| {
                let d = |c: usize| squared_distance(&point, centres.row(c));
                d(a).total_cmp(&d(b)).then(a.cmp(&b))
            });
            let (a, da) = lanes.nearest(&point);
            prop_assert_eq!(a, order[0]);
            prop_assert_eq!(da, squared_distance(&point, centres.row(a)));
            if k > 1 {
                let (a2, _, b, db) = lanes.two_nearest(&point);
                prop_assert_eq!(a2, order[0]);
                prop_assert_eq!(db, squared_distance(&point, centres.row(order[1])));
                prop_assert_eq!(db, squared_distance(&point, centres.row(b)));
                prop_assert_ne!(a2, b);
            }
        }
    }
}
