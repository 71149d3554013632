//! The candidates as the sampler reads them: in blocks of eight that lie together.
//!
//! For every object and cluster the sampler sums a density over all candidates, and nearly all of
//! that sum comes from the few candidates near the cluster. So the candidates of an object are cut
//! into blocks of eight neighbours, each with a centre and a radius; how much a whole block can
//! matter is bounded by one number, and most blocks need no more than that (`cluster`, `chain`).
//! Bounds of eight blocks are computed at a time, which is why blocks are in groups of eight
//! themselves.
//!
//! A block that is not full repeats its last candidate with weight 0, and a group its last block.

use std::ops::Range;

use crate::Candidates;

/// Candidates of a block, and blocks of a group.
pub(super) const LANES: usize = 8;

/// All candidates, in blocks.
pub(super) struct Blocks {
    q: usize,
    /// The first block of each object.
    starts: Vec<usize>,
    /// The first group of each object.
    group_starts: Vec<usize>,
    /// A block after another: eight values of a feature, feature after feature.
    values: Vec<f64>,
    weights: Vec<f64>,
    /// Which candidate of its object each is.
    which: Vec<u32>,
    /// A group after another: eight centres of blocks, feature after feature.
    centres: Vec<f64>,
    /// Sums of the weights of blocks, eight a group.
    totals: Vec<f64>,
}

impl Blocks {
    /// `weights` are one a candidate.
    pub(super) fn new(candidates: &Candidates, weights: &[f64]) -> Self {
        let q = candidates.features();
        let mut blocks = Self {
            q,
            starts: vec![0],
            group_starts: vec![0],
            values: Vec::new(),
            weights: Vec::new(),
            which: Vec::new(),
            centres: Vec::new(),
            totals: Vec::new(),
        };
        for i in 0..candidates.objects() {
            let first = candidates.offsets()[i];
            let mut order: Vec<u32> = (0..candidates.count(i) as u32).collect();
            neighbours_together(candidates, i, &mut order);
            let mut middles = Vec::new();
            for block in order.chunks(LANES) {
                let at = |lane: usize| block[lane.min(block.len() - 1)] as usize;
                for f in 0..q {
                    let column = candidates.feature(i, f);
                    blocks.values.extend((0..LANES).map(|lane| column[at(lane)]));
                    middles.push((0..LANES).map(|lane| column[at(lane)]).sum::<f64>() / LANES as f64);
                }
                blocks.weights.extend(
                    (0..LANES).map(|lane| if lane < block.len() { weights[first + at(lane)] } else { 0.0 }),
                );
                blocks.which.extend((0..LANES).map(|lane| at(lane) as u32));
            }
            let count = order.len().div_ceil(LANES);
            let block_of = |group: usize, lane: usize| (group * LANES + lane).min(count - 1);
            for group in 0..count.div_ceil(LANES) {
                for f in 0..q {
                    blocks.centres.extend((0..LANES).map(|lane| middles[block_of(group, lane) * q + f]));
                }
                for lane in 0..LANES {
                    let own = (blocks.starts[i] + block_of(group, lane)) * LANES;
                    let total: f64 = blocks.weights[own..own + LANES].iter().sum();
                    blocks.totals.push(if group * LANES + lane < count { total } else { 0.0 });
                }
            }
            blocks.starts.push(blocks.starts[i] + count);
            blocks.group_starts.push(blocks.group_starts[i] + count.div_ceil(LANES));
        }
        blocks
    }

    /// The blocks of object `i`.
    pub(super) fn of(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// The groups of object `i`.
    pub(super) fn groups(&self, i: usize) -> Range<usize> {
        self.group_starts[i]..self.group_starts[i + 1]
    }

    /// The most groups that an object has.
    pub(super) fn most_groups(&self) -> usize {
        self.group_starts.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0)
    }

    pub(super) fn values(&self, block: usize) -> &[f64] {
        &self.values[block * LANES * self.q..(block + 1) * LANES * self.q]
    }

    pub(super) fn weights(&self, block: usize) -> &[f64] {
        &self.weights[block * LANES..(block + 1) * LANES]
    }

    pub(super) fn centres(&self, group: usize) -> &[f64] {
        &self.centres[group * LANES * self.q..(group + 1) * LANES * self.q]
    }

    pub(super) fn totals(&self, group: usize) -> &[f64] {
        &self.totals[group * LANES..(group + 1) * LANES]
    }

    /// The number within its object of the candidate at a spot: which lane of all blocks' lanes.
    pub(super) fn candidate(&self, spot: usize) -> u32 {
        self.which[spot]
    }

    /// Its features.
    pub(super) fn copy_place(&self, spot: usize, place: &mut [f64]) {
        let values = self.values(spot / LANES);
        for (f, slot) in place.iter_mut().enumerate() {
            *slot = values[f * LANES + spot % LANES];
        }
    }

    /// The spot of candidate `j` of object `i`.
    pub(super) fn spot_of(&self, i: usize, j: u32) -> usize {
        let first = self.starts[i] * LANES;
        let own = &self.which[first..self.starts[i + 1] * LANES];
        first + own.iter().position(|at| *at == j).unwrap_or(0)
    }

    /// How far candidates reach, in the metric with this inverse triangle.
    pub(super) fn extents(&self, low: &[f64]) -> Extents {
        let (q, n, groups) = (self.q, self.starts.len() - 1, self.totals.len() / LANES);
        let mut extents = Extents {
            radii: vec![0.0; groups * LANES],
            centres: vec![0.0; groups * q],
            reaches: vec![0.0; groups],
        };
        let mut d = vec![[0.0; LANES]; q];
        let mut centre = vec![0.0; q];
        for i in 0..n {
            for (group, blocks) in self.groups(i).zip(self.of(i).step_by(LANES)) {
                let blocks = blocks..(blocks + LANES).min(self.of(i).end);
                let at = |lane: usize, f: usize| self.centres[(group * q + f) * LANES + lane];
                // The mean of the blocks' centres, without the last one repeated; whitened.
                for (f, slot) in centre.iter_mut().enumerate() {
                    *slot = (0..blocks.len()).map(|lane| at(lane, f)).sum::<f64>() / blocks.len() as f64;
                }
                for r in 0..q {
                    extents.centres[group * q + r] = (0..=r).map(|f| low[r * q + f] * centre[f]).sum();
                }
                for f in 0..q {
                    d[f] = std::array::from_fn(|lane| at(lane, f) - centre[f]);
                }
                let apart = squares(low, &d);
                let mut reach = 0.0_f64;
                for (lane, block) in blocks.enumerate() {
                    let values = self.values(block);
                    for f in 0..q {
                        let middle = at(lane, f);
                        for (d, x) in d[f].iter_mut().zip(&values[f * LANES..(f + 1) * LANES]) {
                            *d = x - middle;
                        }
                    }
                    // A little more than the largest, for rounding.
                    let radius = squares(low, &d).into_iter().fold(0.0, f64::max).sqrt() * (1.0 + 1e-9);
                    extents.radii[group * LANES + lane] = radius;
                    reach = reach.max(apart[lane].sqrt() * (1.0 + 1e-9) + radius);
                }
                extents.reaches[group] = reach;
            }
        }
        extents
    }
}

/// How far candidates reach in some metric.
#[derive(Clone, Debug, Default)]
pub(super) struct Extents {
    /// Of each block from its centre, in groups as [`Blocks::centres`].
    pub(super) radii: Vec<f64>,
    /// The centre of each group, in the metric's own coordinates.
    pub(super) centres: Vec<f64>,
    /// Of each group from its centre.
    pub(super) reaches: Vec<f64>,
}

impl Extents {
    /// The centre of a group.
    pub(super) fn centre(&self, group: usize) -> &[f64] {
        let q = self.centres.len() / self.reaches.len();
        &self.centres[group * q..(group + 1) * q]
    }
}

/// `|L d|^2` of eight differences, L lower triangular.
#[inline(always)]
pub(super) fn squares(low: &[f64], d: &[[f64; LANES]]) -> [f64; LANES] {
    let q = d.len();
    let mut sum = [0.0; LANES];
    for r in 0..q {
        let mut y = [0.0; LANES];
        for f in 0..=r {
            let l = low[r * q + f];
            for lane in 0..LANES {
                y[lane] += l * d[f][lane];
            }
        }
        for lane in 0..LANES {
            sum[lane] += y[lane] * y[lane];
        }
    }
    sum
}

/// Orders candidates so that every eight of them lie together: halves along the widest feature, and
/// so on.
fn neighbours_together(candidates: &Candidates, i: usize, order: &mut [u32]) {
    if order.len() <= LANES {
        return;
    }
    let width = |f: usize| {
        let column = candidates.feature(i, f);
        let of = |j: &u32| column[*j as usize];
        let most = order.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        most - order.iter().map(of).fold(f64::INFINITY, f64::min)
    };
    let widths: Vec<f64> = (0..candidates.features()).map(width).collect();
    let widest = (0..widths.len()).fold(0, |best, f| if widths[f] > widths[best] { f } else { best });
    let column = candidates.feature(i, widest);
    order.sort_by(|a, b| column[*a as usize].total_cmp(&column[*b as usize]).then(a.cmp(b)));
    // The left half has whole blocks.
    let half = order.len().div_ceil(LANES).div_ceil(2) * LANES;
    let (left, right) = order.split_at_mut(half);
    neighbours_together(candidates, i, left);
    neighbours_together(candidates, i, right);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::CandidatesBuilder;

    /// Objects with 1, 8, 9 and 101 candidates on curves.
    fn ragged() -> (Candidates, Vec<f64>) {
        let mut builder = CandidatesBuilder::new(3);
        for m in [1, 8, 9, 101] {
            let point = |j: usize| {
                let t = (j * 37 % m) as f64 / m as f64 * 3.0;
                [libm::cos(t), libm::sin(t), t * t]
            };
            let rows: Vec<f64> = (0..m).flat_map(point).collect();
            builder.push(&rows, &[]).unwrap();
        }
        let weights = (0..119).map(|j| 0.5 + f64::from(j)).collect();
        (builder.build().unwrap(), weights)
    }

    #[test]
    fn every_candidate_is_in_one_run_with_its_weight_and_padding_weighs_nothing() {
        let (candidates, weights) = ragged();
        let blocks = Blocks::new(&candidates, &weights);
        for i in 0..4 {
            let mut seen = vec![0.0; candidates.count(i)];
            for block in blocks.of(i) {
                for lane in 0..LANES {
                    let j = blocks.candidate(block * LANES + lane);
                    seen[j as usize] += blocks.weights(block)[lane];
                    let mut row = vec![0.0; 3];
                    blocks.copy_place(block * LANES + lane, &mut row);
                    assert_eq!(row, candidates.candidate(i, j as usize));
                    assert_eq!(blocks.candidate(blocks.spot_of(i, j)), j);
                }
            }
            let first = candidates.offsets()[i];
            assert_eq!(seen, weights[first..first + seen.len()]);
            let total: f64 = blocks.groups(i).flat_map(|group| blocks.totals(group)).sum();
            assert!((total - seen.iter().sum::<f64>()).abs() < 1e-9);
        }
        assert_eq!(blocks.of(3).len(), 13);
        assert_eq!((blocks.groups(3).len(), blocks.most_groups()), (2, 2));
    }

    #[test]
    fn radii_hold_all_candidates_and_neighbours_make_them_small() {
        let (candidates, weights) = ragged();
        let blocks = Blocks::new(&candidates, &weights);
        let low = [2.0, 0.0, 0.0, 0.3, 1.0, 0.0, -0.2, 0.1, 0.5];
        let radii = blocks.extents(&low).radii;
        for (at, block) in blocks.of(3).enumerate() {
            let slot = blocks.groups(3).start * LANES + at;
            let centre: Vec<f64> =
                (0..3).map(|f| blocks.centres[(slot / LANES * 3 + f) * LANES + slot % LANES]).collect();
            for lane in 0..LANES {
                let d: Vec<[f64; LANES]> =
                    (0..3).map(|f| [blocks.values(block)[f * LANES + lane] - centre[f]; LANES]).collect();
                assert!(squares(&low, &d)[0].sqrt() <= radii[slot]);
            }
            assert!(radii[slot] < 1.0, "the whole curve is more than 4 long: {}", radii[slot]);
        }
    }
}
