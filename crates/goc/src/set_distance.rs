//! Distances between whole candidate sets (paper, section 5.1, Discussion 1).
//!
//! With `d` the Euclidean distance, between the sets `A` and `B` of two objects:
//!
//! | | | |
//! |---|---|---|
//! | s1 | mean over a and b of `d(a, b)` | the expected distance of the two densities that the candidates sample |
//! | s2 | min over a and b of `d(a, b)` | the optimist's: could they be at the same place? no triangle inequality |
//! | s3 | `max{min_a max_b d, min_b max_a d}` | what the paper prints and its authors computed as "Hausdorff" |
//! | Hausdorff | `max{max_a min_b d, max_b min_a d}` | the distance of that name, a metric on sets |
//!
//! Always `s2 <= Hausdorff <= s3` (the middle step is the minimax inequality). s1 and s3 of a set
//! with itself are not zero unless it is a single point; the tables here nevertheless have a zero
//! diagonal, since no method reads it.
//!
//! Cost: O(n^2 m^2 q), every pair of candidates once, for one table or for all four. Candidates of
//! one set fill the lanes of a vector, and those of the other are processed one by one. Extremes
//! are computed on squares; only s1 needs all the square roots and takes most of the time
//! (`benches/affinity.rs`). Threads share the rows; each pair is summed by one of them in a fixed
//! order, so the bytes do not depend on their number.

use crate::Candidates;
use crate::kernel::{LANES, lane_array};
use crate::oracle::dissimilarities::{Dissimilarities, DissimilaritiesError};
use multiversion::multiversion;
use rayon::prelude::*;

/// A distance between candidate sets, in scaled features.
///
/// ```
/// use goc::candidates::CandidatesBuilder;
/// use goc::set_distance::SetDistance;
/// let mut builder = CandidatesBuilder::new(1);
/// builder.push(&[0.0, 1.0], &[])?.push(&[3.0, 7.0], &[])?;
/// let sets = builder.build()?;
/// assert_eq!(SetDistance::Mean.of(&sets)?.between(0, 1), 4.5);
/// assert_eq!(SetDistance::Min.of(&sets)?.between(0, 1), 2.0);
/// assert_eq!(SetDistance::MinMax.of(&sets)?.between(0, 1), 6.0);
/// assert_eq!(SetDistance::Hausdorff.of(&sets)?.between(0, 1), 6.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SetDistance {
    /// s1: the mean over all pairs of candidates.
    Mean,
    /// s2: the nearest pair of candidates.
    Min,
    /// s3: the larger of two min-max distances, the paper's "Hausdorff".
    MinMax,
    /// The Hausdorff distance: the larger of two max-min distances.
    Hausdorff,
}

impl SetDistance {
    /// All four, in the order of the paper, with the true Hausdorff distance last.
    pub const ALL: [SetDistance; 4] =
        [SetDistance::Mean, SetDistance::Min, SetDistance::MinMax, SetDistance::Hausdorff];

    /// The name used on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            SetDistance::Mean => "s1",
            SetDistance::Min => "s2",
            SetDistance::MinMax => "s3",
            SetDistance::Hausdorff => "hausdorff",
        }
    }

    /// This distance between every pair of sets. An error names the pair whose distance overflows.
    pub fn of(self, candidates: &Candidates) -> Result<Dissimilarities, DissimilaritiesError> {
        let sets = PaddedSets::new(candidates);
        let pick = |of: fn(&Pair) -> f64| move |pairs: Vec<Vec<Pair>>| condensed(&pairs, of);
        match self {
            SetDistance::Mean => pick(Pair::mean)(every_pair(&sets, mean_pair)),
            SetDistance::Min => pick(Pair::min)(every_pair(&sets, extremes_pair)),
            SetDistance::MinMax => pick(Pair::min_max)(every_pair(&sets, extremes_pair)),
            SetDistance::Hausdorff => pick(Pair::hausdorff)(every_pair(&sets, extremes_pair)),
        }
    }
}

/// All four distances between every pair of sets.
#[derive(Clone, Debug, PartialEq)]
pub struct SetDistances {
    /// s1.
    pub mean: Dissimilarities,
    /// s2.
    pub min: Dissimilarities,
    /// s3.
    pub min_max: Dissimilarities,
    /// The true Hausdorff distance.
    pub hausdorff: Dissimilarities,
}

impl SetDistances {
    /// The table of one distance.
    pub fn get(&self, distance: SetDistance) -> &Dissimilarities {
        match distance {
            SetDistance::Mean => &self.mean,
            SetDistance::Min => &self.min,
            SetDistance::MinMax => &self.min_max,
            SetDistance::Hausdorff => &self.hausdorff,
        }
    }
}

/// All four tables in one pass over the pairs of candidates: byte-identical to those of
/// [`SetDistance::of`].
pub fn all_four(candidates: &Candidates) -> Result<SetDistances, DissimilaritiesError> {
    let pairs = every_pair(&PaddedSets::new(candidates), full_pair);
    Ok(SetDistances {
        mean: condensed(&pairs, Pair::mean)?,
        min: condensed(&pairs, Pair::min)?,
        min_max: condensed(&pairs, Pair::min_max)?,
        hausdorff: condensed(&pairs, Pair::hausdorff)?,
    })
}

fn condensed(pairs: &[Vec<Pair>], of: fn(&Pair) -> f64) -> Result<Dissimilarities, DissimilaritiesError> {
    Dissimilarities::from_condensed(pairs.iter().flatten().map(of).collect())
}

/// The result of one pass over two sets. Each kernel fills only its own fields.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    mean: f64,
    min2: f64,
    min_max2: f64,
    max_min2: f64,
}

impl Pair {
    fn mean(&self) -> f64 {
        self.mean
    }

    fn min(&self) -> f64 {
        self.min2.sqrt()
    }

    fn min_max(&self) -> f64 {
        self.min_max2.sqrt()
    }

    fn hausdorff(&self) -> f64 {
        self.max_min2.sqrt()
    }
}

/// The sets, each padded to whole vectors with copies of its last candidate, which change no
/// minimum or maximum.
struct PaddedSets {
    features: usize,
    counts: Vec<usize>,
    starts: Vec<usize>,
    values: Vec<f64>,
    widest: usize,
}

impl PaddedSets {
    fn new(candidates: &Candidates) -> Self {
        let (n, features) = (candidates.objects(), candidates.features());
        let counts: Vec<usize> = (0..n).map(|i| candidates.count(i)).collect();
        let (mut starts, mut values) = (vec![0], Vec::new());
        let mut widest = 0;
        for i in 0..n {
            let padded = counts[i].next_multiple_of(LANES);
            widest = widest.max(counts[i]);
            for f in 0..features {
                let column = candidates.feature(i, f);
                values.extend_from_slice(column);
                // Sets are never empty.
                values.extend(std::iter::repeat_n(column[column.len() - 1], padded - counts[i]));
            }
            starts.push(values.len());
        }
        Self { features, counts, starts, values, widest }
    }

    fn set(&self, i: usize) -> Set<'_> {
        Set {
            features: self.features,
            count: self.counts[i],
            padded: self.counts[i].next_multiple_of(LANES),
            values: &self.values[self.starts[i]..self.starts[i + 1]],
        }
    }
}

/// One padded set, feature after feature.
#[derive(Clone, Copy)]
struct Set<'a> {
    features: usize,
    count: usize,
    padded: usize,
    values: &'a [f64],
}

/// The smallest and largest squared distance so far of each candidate of the first set, by lane.
struct Rows {
    least: Vec<[f64; LANES]>,
    most: Vec<[f64; LANES]>,
}

type Kernel = fn(Set<'_>, Set<'_>, &mut Rows) -> Pair;

/// `kernel` on every `i < j`, a row for each `i`.
fn every_pair(sets: &PaddedSets, kernel: Kernel) -> Vec<Vec<Pair>> {
    let n = sets.counts.len();
    (0..n)
        .into_par_iter()
        .map_init(
            || Rows { least: vec![[0.0; LANES]; sets.widest], most: vec![[0.0; LANES]; sets.widest] },
            |rows, i| (i + 1..n).map(|j| kernel(sets.set(i), sets.set(j), rows)).collect(),
        )
        .collect()
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn full_pair(a: Set<'_>, b: Set<'_>, rows: &mut Rows) -> Pair {
    pair::<true, true>(a, b, rows)
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn mean_pair(a: Set<'_>, b: Set<'_>, rows: &mut Rows) -> Pair {
    pair::<true, false>(a, b, rows)
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn extremes_pair(a: Set<'_>, b: Set<'_>, rows: &mut Rows) -> Pair {
    pair::<false, true>(a, b, rows)
}

#[inline(always)]
fn pair<const MEAN: bool, const EXTREMES: bool>(a: Set<'_>, b: Set<'_>, rows: &mut Rows) -> Pair {
    // A number of features known at compile time keeps a vector of candidates in registers.
    match a.features {
        2 => pair_of::<MEAN, EXTREMES, 2>(a, b, rows),
        3 => pair_of::<MEAN, EXTREMES, 3>(a, b, rows),
        _ => pair_of::<MEAN, EXTREMES, 0>(a, b, rows),
    }
}

/// `squared` and the square of one feature's difference.
#[inline(always)]
fn with_feature(mut squared: [f64; LANES], x: f64, y: &[f64; LANES]) -> [f64; LANES] {
    for l in 0..LANES {
        let d = x - y[l];
        squared[l] += d * d;
    }
    squared
}

/// The lower value of each lane.
///
/// Adding zero changes no value. Without it the compiler turns "store the lower one back" into a
/// masked store, which on AMD machines takes longer than all the arithmetic (measured: 810 instead
/// of 250 ms for one table).
#[inline(always)]
fn lower(a: [f64; LANES], b: [f64; LANES]) -> [f64; LANES] {
    let mut out = b;
    for l in 0..LANES {
        out[l] = (if a[l] < b[l] { a[l] } else { b[l] }) + 0.0;
    }
    out
}

/// The higher value of each lane; the zero as in [`lower`].
#[inline(always)]
fn higher(a: [f64; LANES], b: [f64; LANES]) -> [f64; LANES] {
    let mut out = b;
    for l in 0..LANES {
        out[l] = (if a[l] > b[l] { a[l] } else { b[l] }) + 0.0;
    }
    out
}

/// The largest of the rows' minima, and the smallest of the rows' maxima.
///
/// Not inlined: together with the loop over the lanes, the compiler would reorder the lanes there
/// and load them one by one (measured: twice the total time).
#[inline(never)]
fn over_rows(least: &[[f64; LANES]], most: &[[f64; LANES]]) -> (f64, f64) {
    let lesser = |a: f64, b: f64| if a < b { a } else { b };
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    let (mut max_min, mut min_max) = (0.0, f64::INFINITY);
    for (v, w) in least.iter().zip(most) {
        let left = lesser(lesser(v[0], v[1]), lesser(v[2], v[3]));
        max_min = larger(max_min, lesser(left, lesser(lesser(v[4], v[5]), lesser(v[6], v[7]))));
        let left = larger(larger(w[0], w[1]), larger(w[2], w[3]));
        min_max = lesser(min_max, larger(left, larger(larger(w[4], w[5]), larger(w[6], w[7]))));
    }
    (max_min, min_max)
}

/// `Q` is the number of features, or 0 for any.
#[inline(always)]
fn pair_of<const MEAN: bool, const EXTREMES: bool, const Q: usize>(
    a: Set<'_>,
    b: Set<'_>,
    rows: &mut Rows,
) -> Pair {
    let (least, most) = (&mut rows.least[..a.count], &mut rows.most[..a.count]);
    least.fill([f64::INFINITY; LANES]);
    most.fill([0.0; LANES]);
    let points: [&[f64]; Q] = std::array::from_fn(|f| &a.values[f * a.padded..][..a.count]);
    // Over the columns so far, by lane: the minimum, the largest of the minima, the smallest of the
    // maxima.
    let (mut min, mut max_min, mut min_max) = ([f64::INFINITY; LANES], [0.0; LANES], [f64::INFINITY; LANES]);
    let mut sum = [0.0; LANES];
    for first in (0..b.padded).step_by(LANES) {
        let lanes: [&[f64; LANES]; Q] =
            std::array::from_fn(|f| lane_array(&b.values[f * b.padded + first..][..LANES]));
        let (mut low, mut high) = ([f64::INFINITY; LANES], [0.0; LANES]);
        let mut block_sum = [0.0; LANES];
        for (row, (row_least, row_most)) in least.iter_mut().zip(most.iter_mut()).enumerate() {
            let mut squared = [0.0; LANES];
            if Q > 0 {
                for f in 0..Q {
                    squared = with_feature(squared, points[f][row], lanes[f]);
                }
            } else {
                for f in 0..a.features {
                    let y = lane_array(&b.values[f * b.padded + first..][..LANES]);
                    squared = with_feature(squared, a.values[f * a.padded + row], y);
                }
            }
            if EXTREMES {
                *row_least = lower(squared, *row_least);
                *row_most = higher(squared, *row_most);
                low = lower(squared, low);
                high = higher(squared, high);
            }
            if MEAN {
                for l in 0..LANES {
                    block_sum[l] += squared[l].sqrt();
                }
            }
        }
        // Copies at the end of the last vector must not be summed.
        let counted = LANES.min(b.count - first);
        for l in 0..counted {
            sum[l] += block_sum[l];
        }
        min = lower(low, min);
        max_min = higher(low, max_min);
        min_max = lower(high, min_max);
    }
    let mut pair = Pair::default();
    if MEAN {
        pair.mean = sum.iter().sum::<f64>() / (a.count * b.count) as f64;
    }
    if EXTREMES {
        let (row_max_min, row_min_max) = over_rows(least, most);
        // One array is one row: its least, or its largest.
        let least_of = |v: [f64; LANES]| over_rows(&[v], &[v]).0;
        let most_of = |v: [f64; LANES]| over_rows(&[v], &[v]).1;
        pair.min2 = least_of(min);
        pair.max_min2 = row_max_min.max(most_of(max_min));
        pair.min_max2 = row_min_max.max(least_of(min_max));
    }
    pair
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::CandidatesBuilder;
    use crate::points::squared_distance;
    use crate::random::stream;
    use rand::RngExt;

    /// `n` sets of 1 to `most` candidates with `q` features; every fourth is a repetition of the one before.
    fn ragged(n: usize, most: usize, q: usize, seed: u64) -> Candidates {
        let mut rng = stream(seed, 7);
        let mut builder = CandidatesBuilder::new(q);
        let mut rows: Vec<f64> = Vec::new();
        for i in 0..n {
            if i % 4 != 3 {
                let m = rng.random_range(1..=most);
                let middle: f64 = rng.random_range(-3.0..3.0);
                rows = (0..m * q).map(|_| middle + rng.random_range(-1.0..1.0)).collect();
            }
            builder.push(&rows, &[]).unwrap();
        }
        builder.build().unwrap()
    }

    /// All distances of the candidates of two sets, a row for each candidate of the first.
    fn table(sets: &Candidates, i: usize, j: usize) -> Vec<Vec<f64>> {
        let d = |a, b| squared_distance(&sets.candidate(i, a), &sets.candidate(j, b)).sqrt();
        (0..sets.count(i)).map(|a| (0..sets.count(j)).map(|b| d(a, b)).collect()).collect()
    }

    fn turned(table: &[Vec<f64>]) -> Vec<Vec<f64>> {
        (0..table[0].len()).map(|b| table.iter().map(|row| row[b]).collect()).collect()
    }

    fn least(values: impl IntoIterator<Item = f64>) -> f64 {
        values.into_iter().fold(f64::INFINITY, f64::min)
    }

    fn most(values: impl IntoIterator<Item = f64>) -> f64 {
        values.into_iter().fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn all_four_follow_their_definitions_on_ragged_sets() {
        for (most_candidates, q, seed) in [(1, 1, 1), (3, 2, 2), (8, 3, 3), (19, 3, 4), (40, 5, 5)] {
            let sets = ragged(14, most_candidates, q, seed);
            let all = all_four(&sets).unwrap();
            for (i, j) in (0..14).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let rows = table(&sets, i, j);
                let columns = turned(&rows);
                let pairs = (sets.count(i) * sets.count(j)) as f64;
                let mean = rows.iter().flatten().sum::<f64>() / pairs;
                assert!((all.mean.between(i, j) - mean).abs() <= 1e-14 * mean, "{i} {j}");
                assert_eq!(all.min.between(i, j), least(rows.iter().flatten().copied()));
                let min_max = |t: &[Vec<f64>]| least(t.iter().map(|r| most(r.iter().copied())));
                let max_min = |t: &[Vec<f64>]| most(t.iter().map(|r| least(r.iter().copied())));
                assert_eq!(all.min_max.between(i, j), min_max(&rows).max(min_max(&columns)));
                assert_eq!(all.hausdorff.between(i, j), max_min(&rows).max(max_min(&columns)));
            }
        }
    }

    #[test]
    fn one_table_alone_has_the_bytes_of_all_four() {
        let sets = ragged(20, 30, 3, 6);
        let all = all_four(&sets).unwrap();
        for distance in SetDistance::ALL {
            assert_eq!(distance.of(&sets).unwrap(), *all.get(distance), "{distance:?}");
        }
    }

    #[test]
    fn the_order_of_the_objects_does_not_matter() {
        let sets = ragged(12, 20, 3, 8);
        let mut builder = CandidatesBuilder::new(3);
        for i in (0..12).rev() {
            let rows: Vec<f64> = (0..sets.count(i)).flat_map(|c| sets.candidate(i, c)).collect();
            builder.push(&rows, &[]).unwrap();
        }
        let (all, turned) = (all_four(&sets).unwrap(), all_four(&builder.build().unwrap()).unwrap());
        for (i, j) in (0..12).flat_map(|i| (0..i).map(move |j| (i, j))) {
            for distance in SetDistance::ALL {
                let (here, there) =
                    (all.get(distance).between(i, j), turned.get(distance).between(11 - i, 11 - j));
                // Extremes are exact; the mean is summed in another order.
                let allowed = if distance == SetDistance::Mean { 1e-14 * here } else { 0.0 };
                assert!((here - there).abs() <= allowed, "{distance:?} {i} {j}: {here} {there}");
            }
        }
    }

    #[test]
    fn s2_is_below_hausdorff_below_s3_and_hausdorff_is_a_metric() {
        let sets = ragged(24, 12, 2, 9);
        let all = all_four(&sets).unwrap();
        let h = |i, j| all.hausdorff.between(i, j);
        for (i, j) in (0..24).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let farthest = most(table(&sets, i, j).into_iter().flatten());
            let s3 = all.min_max.between(i, j);
            assert!(all.min.between(i, j) <= h(i, j) && h(i, j) <= s3 && s3 <= farthest, "{i} {j}");
            let s1 = all.mean.between(i, j);
            assert!(all.min.between(i, j) <= s1 * (1.0 + 1e-14) && s1 <= farthest * (1.0 + 1e-14));
            assert_eq!(h(i, j) == 0.0, sets.block(i) == sets.block(j));
            for k in 0..24 {
                assert!(h(i, j) <= (h(i, k) + h(k, j)) * (1.0 + 1e-14), "{i} {j} {k}");
            }
        }
    }

    #[test]
    fn identical_singletons_are_at_zero_and_other_singletons_at_their_distance() {
        let mut builder = CandidatesBuilder::new(2);
        for row in [[1.0, 2.0], [1.0, 2.0], [4.0, 6.0]] {
            builder.push(&row, &[]).unwrap();
        }
        let all = all_four(&builder.build().unwrap()).unwrap();
        for distance in SetDistance::ALL {
            assert_eq!(all.get(distance).condensed(), [0.0, 5.0, 5.0], "{distance:?}");
        }
    }

    #[test]
    fn one_object_has_an_empty_table() {
        let all = all_four(&ragged(1, 5, 3, 1)).unwrap();
        assert_eq!((all.mean.len(), all.hausdorff.condensed().len()), (1, 0));
    }

    #[test]
    fn threads_do_not_change_the_bytes() {
        let sets = ragged(40, 25, 3, 10);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| all_four(&sets).unwrap())
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn distances_that_overflow_name_the_pair() {
        let mut builder = CandidatesBuilder::new(1);
        builder.push(&[0.0], &[]).unwrap().push(&[1.0], &[]).unwrap().push(&[1e200], &[]).unwrap();
        let sets = builder.build().unwrap();
        for distance in SetDistance::ALL {
            let error = distance.of(&sets).unwrap_err();
            assert_eq!(
                error,
                DissimilaritiesError::Value { i: 0, j: 2, value: f64::INFINITY },
                "{distance:?}"
            );
        }
    }
}
