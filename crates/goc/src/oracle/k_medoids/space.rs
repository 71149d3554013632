//! Where distances come from: points, or a matrix of them.
//!
//! FasterPAM asks one question over and over: *which objects are nearer to this candidate than to
//! their second medoid, and how near?* With K clusters that is about `2 / K` of the objects, so a
//! space that can leave the others out without looking at each is much faster than a row of a
//! distance matrix.
//!
//! [`PointSpace`] puts points that lie together into blocks of 16 (by halving along the widest
//! feature) with a box around each. A block is skipped when the box is farther from the candidate
//! than the farthest second medoid of its members. Box and point distances are summed in the same
//! order of features with rounded operations that never decrease as their arguments grow, so the
//! bound holds for the rounded numbers too and skipping never changes the answer. Memory is O(n).
//! At n = 5000, q = 3, K = 50 it takes 0.08 s where streaming the ready-made matrix takes 0.55 s;
//! only from about 40 features on would the matrix win, by a factor of two
//! (`benches/k_medoids.rs`).

use crate::Points;
use crate::points::squared_distance;
use multiversion::multiversion;

/// Points a block: two AVX-512 or four AVX2 registers of distances. 8 and 32 measure alike within a fifth.
const LANES: usize = 16;

/// How far each object looks: only a candidate nearer than this matters to it.
pub(super) struct Reach {
    /// In raw units (see [`Space::loss_of_raw`]); padded to whole blocks.
    raw: Vec<f64>,
    /// The farthest of each block.
    blocks: Vec<f64>,
}

impl Reach {
    /// Sets the reach of all objects to `raw`.
    pub(super) fn set(&mut self, raw: &[f64]) {
        self.raw[..raw.len()].copy_from_slice(raw);
        for (most, block) in self.blocks.iter_mut().zip(self.raw.chunks_exact(LANES)) {
            *most = block.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        }
    }
}

/// Objects within reach of a candidate, and their distances from it.
#[derive(Default)]
pub(super) struct Hits {
    objects: Vec<u32>,
    distances: Vec<f64>,
    bounds: Vec<f64>,
    len: usize,
}

impl Hits {
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let objects = self.objects[..self.len].iter().map(|&o| o as usize);
        objects.zip(self.distances[..self.len].iter().copied())
    }

    fn make_room(&mut self, n: usize, blocks: usize) {
        if self.objects.len() < n {
            self.objects.resize(n, 0);
            self.distances.resize(n, 0.0);
        }
        self.bounds.resize(blocks, 0.0);
        self.len = 0;
    }
}

/// Objects with distances. Objects are numbered as suits the space; `place` tells where a row went.
pub(super) trait Space: Sync {
    /// Number of objects.
    fn len(&self) -> usize;
    /// The row of the input at each place.
    fn row_at(&self, place: usize) -> usize;
    /// The places in order of the input's rows.
    fn places(&self) -> &[u32];
    /// What is compared: the squared distance, where a root would only cost time.
    fn raw(&self, a: usize, b: usize) -> f64;
    /// The distance that is summed up, from the one that is compared.
    fn loss_of_raw(&self, raw: f64) -> f64;
    /// Nobody is in reach of anybody.
    fn reach(&self) -> Reach {
        let blocks = self.len().div_ceil(LANES);
        Reach { raw: vec![f64::NEG_INFINITY; blocks * LANES], blocks: vec![f64::NEG_INFINITY; blocks] }
    }
    /// Finds every object whose distance from `candidate` is less than its reach, in order.
    fn within(&self, candidate: usize, reach: &Reach, hits: &mut Hits);
    /// The distance that is summed up.
    fn distance(&self, a: usize, b: usize) -> f64 {
        self.loss_of_raw(self.raw(a, b))
    }
}

/// Points in blocks that lie together.
pub(super) struct PointSpace {
    n: usize,
    squared: bool,
    rows: Vec<u32>,
    places: Vec<u32>,
    /// In the order of places, row after row.
    points: Points,
    /// Block after block, within it feature after feature, 16 points each; infinity where there is none.
    lanes: Vec<f64>,
    /// Feature after feature: the least and greatest value in each block.
    low: Vec<f64>,
    high: Vec<f64>,
}

impl PointSpace {
    pub(super) fn new(points: &Points, squared: bool) -> Self {
        let (n, q) = (points.len(), points.features());
        let mut rows: Vec<u32> = (0..n as u32).collect();
        lay_together(points, &mut rows);
        let mut places = vec![0; n];
        for (place, &row) in rows.iter().enumerate() {
            places[row as usize] = place as u32;
        }
        let blocks = n.div_ceil(LANES);
        let mut lanes = vec![f64::INFINITY; blocks * LANES * q];
        let mut low = vec![f64::INFINITY; blocks * q];
        let mut high = vec![f64::NEG_INFINITY; blocks * q];
        for (place, &row) in rows.iter().enumerate() {
            let (block, lane) = (place / LANES, place % LANES);
            for (f, &v) in points.row(row as usize).iter().enumerate() {
                lanes[(block * q + f) * LANES + lane] = v;
                let corner = f * blocks + block;
                low[corner] = low[corner].min(v);
                high[corner] = high[corner].max(v);
            }
        }
        let order: Vec<usize> = rows.iter().map(|&r| r as usize).collect();
        Self { n, squared, points: points.subset(&order), rows, places, lanes, low, high }
    }
}

/// Orders `rows` so that any 16 from a multiple of 16 on lie together: halves along the widest feature.
fn lay_together(points: &Points, rows: &mut [u32]) {
    if rows.len() <= LANES {
        return;
    }
    let value = |row: u32, f: usize| points.row(row as usize)[f];
    let spread = |f: usize| {
        let (low, high) = rows.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &row| {
            (low.min(value(row, f)), high.max(value(row, f)))
        });
        high - low
    };
    let mut widest = (0, f64::NEG_INFINITY);
    for f in 0..points.features() {
        let s = spread(f);
        if s > widest.1 {
            widest = (f, s);
        }
    }
    // Whole blocks on the left, so that boxes never straddle a cut.
    let cut = (rows.len() / 2).div_ceil(LANES) * LANES;
    let f = widest.0;
    rows.select_nth_unstable_by(cut, |&a, &b| value(a, f).total_cmp(&value(b, f)).then(a.cmp(&b)));
    let (left, right) = rows.split_at_mut(cut);
    lay_together(points, left);
    lay_together(points, right);
}

impl Space for PointSpace {
    fn len(&self) -> usize {
        self.n
    }

    fn row_at(&self, place: usize) -> usize {
        self.rows[place] as usize
    }

    fn places(&self) -> &[u32] {
        &self.places
    }

    fn raw(&self, a: usize, b: usize) -> f64 {
        squared_distance(self.points.row(a), self.points.row(b))
    }

    fn loss_of_raw(&self, raw: f64) -> f64 {
        if self.squared { raw } else { raw.sqrt() }
    }

    fn within(&self, candidate: usize, reach: &Reach, hits: &mut Hits) {
        hits.make_room(self.n.div_ceil(LANES) * LANES, reach.blocks.len());
        let at = self.points.row(candidate);
        box_distances(&self.low, &self.high, at, &mut hits.bounds);
        hits.len = scan_blocks(&self.lanes, at, reach, &hits.bounds, &mut hits.objects, &mut hits.distances);
        if !self.squared {
            roots(&mut hits.distances[..hits.len]);
        }
    }
}

/// The squared distance of `at` from each block's box.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn box_distances(low: &[f64], high: &[f64], at: &[f64], bounds: &mut [f64]) {
    let blocks = bounds.len();
    bounds.fill(0.0);
    for (f, &x) in at.iter().enumerate() {
        let (low, high) = (&low[f * blocks..(f + 1) * blocks], &high[f * blocks..(f + 1) * blocks]);
        for b in 0..blocks {
            let below = low[b] - x;
            let above = x - high[b];
            let outside = if below > above { below } else { above };
            let outside = if outside > 0.0 { outside } else { 0.0 };
            bounds[b] += outside * outside;
        }
    }
}

/// Writes the objects within reach and their squared distances; returns how many.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn scan_blocks(
    lanes: &[f64],
    at: &[f64],
    reach: &Reach,
    bounds: &[f64],
    objects: &mut [u32],
    distances: &mut [f64],
) -> usize {
    let q = at.len();
    let mut len = 0;
    for (b, (&bound, &most)) in bounds.iter().zip(&reach.blocks).enumerate() {
        if bound >= most {
            continue;
        }
        let mut squared = [0.0; LANES];
        for (lane, &x) in lanes[b * q * LANES..(b + 1) * q * LANES].chunks_exact(LANES).zip(at) {
            for j in 0..LANES {
                let d = lane[j] - x;
                squared[j] += d * d;
            }
        }
        let reach = &reach.raw[b * LANES..(b + 1) * LANES];
        // Without a branch: write always, advance only past what counts. `len` never exceeds b * LANES + j.
        for j in 0..LANES {
            objects[len] = (b * LANES + j) as u32;
            distances[len] = squared[j];
            len += usize::from(squared[j] < reach[j]);
        }
    }
    len
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn roots(values: &mut [f64]) {
    for v in values {
        *v = v.sqrt();
    }
}

/// A full matrix of dissimilarities, streamed row by row.
pub(super) struct MatrixSpace {
    n: usize,
    square: Vec<f64>,
    places: Vec<u32>,
}

impl MatrixSpace {
    /// `square` holds n * n values, row after row.
    pub(super) fn new(square: Vec<f64>, n: usize) -> Self {
        debug_assert_eq!(square.len(), n * n);
        Self { n, square, places: (0..n as u32).collect() }
    }
}

impl Space for MatrixSpace {
    fn len(&self) -> usize {
        self.n
    }

    fn row_at(&self, place: usize) -> usize {
        place
    }

    fn places(&self) -> &[u32] {
        &self.places
    }

    fn raw(&self, a: usize, b: usize) -> f64 {
        self.square[a * self.n + b]
    }

    fn loss_of_raw(&self, raw: f64) -> f64 {
        raw
    }

    fn within(&self, candidate: usize, reach: &Reach, hits: &mut Hits) {
        hits.make_room(self.n, 0);
        let row = &self.square[candidate * self.n..(candidate + 1) * self.n];
        let mut len = 0;
        for (o, (&d, &far)) in row.iter().zip(&reach.raw).enumerate() {
            hits.objects[len] = o as u32;
            hits.distances[len] = d;
            len += usize::from(d < far);
        }
        hits.len = len;
    }
}
