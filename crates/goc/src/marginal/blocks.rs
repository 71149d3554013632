//! The candidates in the layout the sampler reads: blocks of eight neighbours.
//!
//! For every object and cluster the sampler sums a density over all candidates, and nearly all of
//! that sum comes from the few candidates near the cluster. The candidates of an object are
//! therefore divided into blocks of eight neighbours, each with a centre and a radius. One number
//! bounds how much a whole block can contribute, and most blocks need no more than that (`cluster`,
//! `chain`). Bounds are computed for eight blocks at a time, so blocks are themselves arranged in
//! groups of eight.
//!
//! A partially filled block repeats its last candidate with weight 0, and a group repeats its last
//! block.
//!
//! The features of all candidates, block by block, take as much memory as the candidates
//! themselves. If that is little, they are cached. If it is much, only the order of the candidates
//! is kept, and a [`Reader`] loads and reorders an object when it is visited. Centres and radii are
//! recomputed for each object on every visit: with the features at hand that is cheap (measured in
//! `benches/marginal.rs`).

use multiversion::multiversion;

use super::narrow::Narrow;
use crate::objects::Objects;

/// Candidates of a block, and blocks of a group.
pub(super) const LANES: usize = 8;

/// The features of all blocks are cached if they take at most this many bytes.
pub(super) const KEPT_BYTES: usize = 32 << 20;

/// All candidates, in blocks.
pub(super) struct Blocks<'a> {
    objects: &'a dyn Objects,
    q: usize,
    /// The largest number of blocks of any object.
    most: usize,
    /// The first block of each object.
    starts: Vec<usize>,
    /// Block after block: eight values of a feature, feature after feature. Empty if they are
    /// loaded on demand.
    values: Vec<f64>,
    /// One vector per error model.
    weights: Vec<Vec<f64>>,
    /// The candidate of the object that each lane holds.
    which: Narrow,
}

impl<'a> Blocks<'a> {
    /// `weigh` writes the weights of an object's candidates into the vector it is given, for each
    /// error model in turn. Features are cached if they take at most `kept` bytes, normally
    /// [`KEPT_BYTES`].
    pub(super) fn new(
        objects: &'a dyn Objects,
        laws: usize,
        mut weigh: impl FnMut(usize, &mut Vec<f64>),
        kept: usize,
    ) -> Self {
        let (n, q) = (objects.objects(), objects.features());
        let mut starts = Vec::with_capacity(n + 1);
        let (mut count, mut most) = (0, 0);
        for i in 0..n {
            starts.push(count);
            count += objects.count(i).div_ceil(LANES);
            most = most.max(objects.count(i));
        }
        starts.push(count);
        let keep = count.saturating_mul(LANES * q * size_of::<f64>()) <= kept;
        let mut blocks = Self {
            objects,
            q,
            most: most.div_ceil(LANES),
            starts,
            values: Vec::with_capacity(if keep { count * LANES * q } else { 0 }),
            weights: (0..laws).map(|_| Vec::with_capacity(count * LANES)).collect(),
            which: Narrow::with_capacity(count * LANES, most.saturating_sub(1)),
        };
        let (mut columns, mut weights, mut order) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..n {
            let m = objects.count(i);
            objects.load(i, &mut columns);
            weigh(i, &mut weights);
            order.clear();
            order.extend(0..m as u32);
            neighbours_together(&columns, m, &mut order);
            for block in order.chunks(LANES) {
                let at = |lane: usize| block[lane.min(block.len() - 1)] as usize;
                if keep {
                    for column in columns.chunks_exact(m) {
                        blocks.values.extend((0..LANES).map(|lane| column[at(lane)]));
                    }
                }
                for (law, of_law) in blocks.weights.iter_mut().enumerate() {
                    let weight =
                        |lane: usize| if lane < block.len() { weights[law * m + at(lane)] } else { 0.0 };
                    of_law.extend((0..LANES).map(weight));
                }
                (0..LANES).for_each(|lane| blocks.which.push(at(lane) as u32));
            }
        }
        blocks
    }

    /// Number of candidates of object `i`.
    pub(super) fn candidates(&self, i: usize) -> usize {
        self.objects.count(i)
    }

    /// Number of objects.
    pub(super) fn objects(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of blocks of object `i`.
    pub(super) fn count(&self, i: usize) -> usize {
        self.starts[i + 1] - self.starts[i]
    }

    /// The largest number of blocks of any object.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// The candidate of object `i` at a spot, i.e. at a lane counted over all the object's blocks.
    pub(super) fn candidate(&self, i: usize, spot: u32) -> u32 {
        self.which.get(self.starts[i] * LANES + spot as usize)
    }

    /// The weight of the candidate at a spot of object `i`.
    pub(super) fn weight(&self, law: usize, i: usize, spot: u32) -> f64 {
        self.weights[law][self.starts[i] * LANES + spot as usize]
    }

    /// The weights of all lanes of object `i`.
    pub(super) fn weights_of(&self, law: usize, i: usize) -> &[f64] {
        &self.weights[law][self.starts[i] * LANES..self.starts[i + 1] * LANES]
    }

    /// The spot of candidate `j` of object `i`.
    pub(super) fn spot_of(&self, i: usize, j: u32) -> u32 {
        self.numbers(i).position(|at| at == j).unwrap_or(0) as u32
    }

    /// The candidate of object `i` at each of its spots.
    fn numbers(&self, i: usize) -> impl Iterator<Item = u32> + '_ {
        self.which.range(self.starts[i] * LANES..self.starts[i + 1] * LANES)
    }

    /// Copies the values of the lanes of object `i`, in the order of its candidates, into `sorted`.
    pub(super) fn in_order(&self, i: usize, lanes: &[f64], sorted: &mut Vec<f64>) {
        let m = self.objects.count(i);
        sorted.clear();
        sorted.resize(m, 0.0);
        // Lanes beyond the last candidate repeat it and have no weight.
        for (j, value) in self.numbers(i).zip(lanes).take(m) {
            sorted[j as usize] = *value;
        }
    }
}

/// The blocks of one object.
#[derive(Clone, Copy)]
pub(super) struct Own<'a> {
    q: usize,
    values: &'a [f64],
    weights: &'a [f64],
}

impl<'a> Own<'a> {
    /// Number of blocks.
    pub(super) fn len(self) -> usize {
        self.weights.len() / LANES
    }

    pub(super) fn values(self, block: usize) -> &'a [f64] {
        &self.values[block * LANES * self.q..(block + 1) * LANES * self.q]
    }

    pub(super) fn weights(self, block: usize) -> &'a [f64; LANES] {
        &self.weights.as_chunks::<LANES>().0[block]
    }

    /// The weights of all lanes.
    pub(super) fn all_weights(self) -> &'a [f64] {
        self.weights
    }

    /// The features of the candidate at a spot.
    pub(super) fn copy_place(self, spot: u32, place: &mut [f64]) {
        let (block, lane) = (spot as usize / LANES, spot as usize % LANES);
        for (slot, column) in place.iter_mut().zip(self.values(block).chunks_exact(LANES)) {
            *slot = column[lane];
        }
    }
}

/// Loads one object after another if the features of blocks are not cached.
#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    /// The error model of the weights.
    pub(super) law: usize,
    /// The object currently loaded.
    object: Option<usize>,
    columns: Vec<f64>,
    values: Vec<f64>,
}

impl Reader {
    /// Prepares object `i` for [`Self::own`].
    pub(super) fn load(&mut self, blocks: &Blocks<'_>, i: usize) {
        if !blocks.values.is_empty() || self.object == Some(i) {
            return;
        }
        self.object = Some(i);
        let (m, q) = (blocks.objects.count(i), blocks.q);
        let lanes = blocks.starts[i] * LANES..blocks.starts[i + 1] * LANES;
        blocks.objects.load(i, &mut self.columns);
        self.values.resize(lanes.len() * q, 0.0);
        match &blocks.which {
            Narrow::Bits8(which) => arrange(&which[lanes], &self.columns, m, &mut self.values),
            Narrow::Bits16(which) => arrange(&which[lanes], &self.columns, m, &mut self.values),
            Narrow::Bits32(which) => arrange(&which[lanes], &self.columns, m, &mut self.values),
        }
    }

    /// The blocks of object `i`, which must be the last one loaded.
    pub(super) fn own<'a>(&'a self, blocks: &'a Blocks<'_>, i: usize) -> Own<'a> {
        let lanes = blocks.starts[i] * LANES..blocks.starts[i + 1] * LANES;
        let values = match blocks.values.is_empty() {
            true => &self.values[..],
            false => &blocks.values[lanes.start * blocks.q..lanes.end * blocks.q],
        };
        Own { q: blocks.q, values, weights: &blocks.weights[self.law][lanes] }
    }
}

/// Columns of `m` candidates in the order of their blocks.
fn arrange<T: Copy + Into<u32>>(which: &[T], columns: &[f64], m: usize, values: &mut [f64]) {
    let q = columns.len() / m;
    for (which, block) in which.chunks_exact(LANES).zip(values.chunks_exact_mut(LANES * q)) {
        for (column, lanes) in columns.chunks_exact(m).zip(block.chunks_exact_mut(LANES)) {
            for (slot, j) in lanes.iter_mut().zip(which) {
                *slot = column[(*j).into() as usize];
            }
        }
    }
}

/// Positions and radii of the blocks of one object in some metric, in groups of eight.
#[derive(Clone, Debug, Default)]
pub(super) struct Extents {
    q: usize,
    /// Centres of eight blocks, feature after feature.
    centres: Vec<f64>,
    /// Sums of the weights of blocks.
    totals: Vec<[f64; LANES]>,
    /// The largest distance of candidates from the centre of their block.
    radii: Vec<[f64; LANES]>,
    /// The centre of each group, in the metric's own coordinates, and the largest distance of
    /// candidates from it.
    middles: Vec<f64>,
    reaches: Vec<f64>,
}

/// One group of [`Extents`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'a> {
    pub(super) centres: &'a [f64],
    pub(super) totals: &'a [f64; LANES],
    pub(super) radii: &'a [f64; LANES],
    pub(super) middle: &'a [f64],
    pub(super) reach: f64,
}

impl Extents {
    /// Computes the extents of an object, in the metric with this inverse triangle.
    pub(super) fn measure(&mut self, own: Own<'_>, low: &[f64]) {
        let groups = own.len().div_ceil(LANES);
        self.q = own.q;
        self.centres.resize(groups * own.q * LANES, 0.0);
        self.totals.resize(groups, [0.0; LANES]);
        self.radii.resize(groups, [0.0; LANES]);
        self.middles.resize(groups * own.q, 0.0);
        self.reaches.resize(groups, 0.0);
        measure(own, low, self);
    }

    /// Number of groups.
    pub(super) fn len(&self) -> usize {
        self.reaches.len()
    }

    pub(super) fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        (0..self.len()).map(|g| Group {
            centres: &self.centres[g * self.q * LANES..(g + 1) * self.q * LANES],
            totals: &self.totals[g],
            radii: &self.radii[g],
            middle: &self.middles[g * self.q..(g + 1) * self.q],
            reach: self.reaches[g],
        })
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn measure(own: Own<'_>, low: &[f64], extents: &mut Extents) {
    // A number of features known at compile time allows unrolling; the body is the same.
    match own.q {
        1 => measure_body(own, low, extents, &mut [[0.0; LANES]; 1]),
        2 => measure_body(own, low, extents, &mut [[0.0; LANES]; 2]),
        3 => measure_body(own, low, extents, &mut [[0.0; LANES]; 3]),
        4 => measure_body(own, low, extents, &mut [[0.0; LANES]; 4]),
        5 => measure_body(own, low, extents, &mut [[0.0; LANES]; 5]),
        6 => measure_body(own, low, extents, &mut [[0.0; LANES]; 6]),
        q => measure_body(own, low, extents, &mut vec![[0.0; LANES]; q]),
    }
}

#[inline(always)]
fn measure_body(own: Own<'_>, low: &[f64], extents: &mut Extents, d: &mut [[f64; LANES]]) {
    let q = d.len();
    for (g, first) in (0..own.len()).step_by(LANES).enumerate() {
        let count = LANES.min(own.len() - first);
        let centres = &mut extents.centres[g * q * LANES..(g + 1) * q * LANES];
        let (totals, radii) = (&mut extents.totals[g], &mut extents.radii[g]);
        for lane in 0..LANES {
            let block = first + lane.min(count - 1);
            for (f, column) in own.values(block).chunks_exact(LANES).enumerate() {
                centres[f * LANES + lane] = column.iter().sum::<f64>() / LANES as f64;
            }
            totals[lane] = if lane < count { own.weights(block).iter().sum() } else { 0.0 };
        }
        // The mean of the blocks' centres, without repetitions of the last one; whitened.
        let middle = &mut extents.middles[g * q..(g + 1) * q];
        for f in 0..q {
            let lanes = &centres[f * LANES..(f + 1) * LANES];
            let mean = lanes[..count].iter().sum::<f64>() / count as f64;
            d[f] = std::array::from_fn(|lane| lanes[lane] - mean);
            middle[f] = mean;
        }
        // From the last coordinate backwards, so that earlier coordinates are still unmodified.
        for r in (0..q).rev() {
            middle[r] = (0..=r).map(|f| low[r * q + f] * middle[f]).sum();
        }
        let apart = squares(low, d);
        let mut reach = 0.0_f64;
        for lane in 0..LANES {
            if lane >= count {
                radii[lane] = 0.0;
                continue;
            }
            for (f, column) in own.values(first + lane).as_chunks::<LANES>().0.iter().enumerate() {
                d[f] = std::array::from_fn(|at| column[at] - centres[f * LANES + lane]);
            }
            // Slightly more than the largest, to allow for rounding.
            radii[lane] = squares(low, d).into_iter().fold(0.0, f64::max).sqrt() * (1.0 + 1e-9);
            reach = reach.max(apart[lane].sqrt() * (1.0 + 1e-9) + radii[lane]);
        }
        extents.reaches[g] = reach;
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

/// Weights that are known already, one per candidate.
#[cfg(test)]
pub(super) fn of_all<'a>(
    objects: &'a dyn Objects,
    weights: &'a [f64],
) -> impl FnMut(usize, &mut Vec<f64>) + 'a {
    let offsets = objects.offsets();
    move |i, own| {
        own.clear();
        own.extend_from_slice(&weights[offsets[i]..offsets[i + 1]]);
    }
}

/// Orders the `m` candidates of an object, given feature after feature, so that every eight of them
/// are close together: recursive halving along the widest feature.
fn neighbours_together(columns: &[f64], m: usize, order: &mut [u32]) {
    if order.len() <= LANES {
        return;
    }
    let width = |column: &[f64]| {
        let of = |j: &u32| column[*j as usize];
        let most = order.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        most - order.iter().map(of).fold(f64::INFINITY, f64::min)
    };
    let widths: Vec<f64> = columns.chunks_exact(m).map(width).collect();
    let widest = (0..widths.len()).fold(0, |best, f| if widths[f] > widths[best] { f } else { best });
    let column = &columns[widest * m..(widest + 1) * m];
    order.sort_by(|a, b| column[*a as usize].total_cmp(&column[*b as usize]).then(a.cmp(b)));
    // The left half consists of whole blocks.
    let half = order.len().div_ceil(LANES).div_ceil(2) * LANES;
    let (left, right) = order.split_at_mut(half);
    neighbours_together(columns, m, left);
    neighbours_together(columns, m, right);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Candidates;
    use crate::candidates::CandidatesBuilder;

    /// Objects with 1, 8, 9 and 101 candidates on curves, and one with 300 on request.
    fn ragged(large: bool) -> (Candidates, Vec<f64>) {
        let mut builder = CandidatesBuilder::new(3);
        for m in [1, 8, 9, 101].into_iter().chain(large.then_some(300)) {
            let point = |j: usize| {
                let t = (j * 37 % m) as f64 / m as f64 * 3.0;
                [libm::cos(t), libm::sin(t), t * t]
            };
            let rows: Vec<f64> = (0..m).flat_map(point).collect();
            builder.push(&rows, &[]).unwrap();
        }
        let candidates = builder.build().unwrap();
        let weights = (0..candidates.total()).map(|j| 0.5 + j as f64).collect();
        (candidates, weights)
    }

    #[test]
    fn every_candidate_is_in_one_block_with_its_weight_and_padding_weighs_nothing() {
        // Cached or loaded, with indices of one byte or more.
        for (large, kept) in [(false, KEPT_BYTES), (false, 0), (true, KEPT_BYTES), (true, 0)] {
            let (candidates, weights) = ragged(large);
            let blocks = Blocks::new(&candidates, 1, of_all(&candidates, &weights), kept);
            assert_eq!(blocks.values.is_empty(), kept == 0);
            let mut reader = Reader::default();
            for i in 0..candidates.objects() {
                let mut seen = vec![0.0; candidates.count(i)];
                reader.load(&blocks, i);
                let own = reader.own(&blocks, i);
                assert_eq!(own.len(), blocks.count(i));
                for spot in 0..(own.len() * LANES) as u32 {
                    let j = blocks.candidate(i, spot);
                    let weight = own.weights(spot as usize / LANES)[spot as usize % LANES];
                    assert_eq!(weight, blocks.weight(0, i, spot));
                    seen[j as usize] += weight;
                    let mut row = vec![0.0; 3];
                    own.copy_place(spot, &mut row);
                    assert_eq!(row, candidates.candidate(i, j as usize));
                    assert_eq!(blocks.candidate(i, blocks.spot_of(i, j)), j);
                }
                let first = candidates.offsets()[i];
                assert_eq!(seen, weights[first..first + seen.len()]);
                let mut sorted = Vec::new();
                blocks.in_order(i, own.all_weights(), &mut sorted);
                assert_eq!(sorted, seen);
                let mut extents = Extents::default();
                extents.measure(own, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
                assert_eq!(extents.len(), own.len().div_ceil(LANES));
                let total: f64 = extents.groups().flat_map(|group| group.totals).sum();
                assert!((total / seen.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
            assert_eq!((blocks.count(3), blocks.most()), (13, if large { 38 } else { 13 }));
        }
    }

    #[test]
    fn radii_hold_all_candidates_and_neighbours_make_them_small() {
        let (candidates, weights) = ragged(false);
        let low = [2.0, 0.0, 0.0, 0.3, 1.0, 0.0, -0.2, 0.1, 0.5];
        let blocks = Blocks::new(&candidates, 1, of_all(&candidates, &weights), KEPT_BYTES);
        let (mut reader, mut extents) = (Reader::default(), Extents::default());
        for i in 0..4 {
            reader.load(&blocks, i);
            let own = reader.own(&blocks, i);
            extents.measure(own, &low);
            let length = |d: [f64; 3]| squares(&low, &d.map(|v| [v; LANES]))[0].sqrt();
            for (at, group) in extents.groups().enumerate() {
                for lane in 0..LANES.min(own.len() - at * LANES) {
                    let values = own.values(at * LANES + lane);
                    let small = i < 3 || group.radii[lane] < 1.0;
                    assert!(small, "the whole curve is more than 4 long: {group:?}");
                    for spot in 0..LANES {
                        let x: [f64; 3] = std::array::from_fn(|f| values[f * LANES + spot]);
                        let from = |f: usize| x[f] - group.centres[f * LANES + lane];
                        assert!(length(std::array::from_fn(from)) <= group.radii[lane]);
                        let white = |r: usize| (0..3).map(|f| low[r * 3 + f] * x[f]).sum::<f64>();
                        let apart: f64 = (0..3).map(|r| (white(r) - group.middle[r]).powi(2)).sum();
                        assert!(apart.sqrt() <= group.reach + 1e-12);
                    }
                }
            }
        }
    }
}
