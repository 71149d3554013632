//! Sums over many points whose result does not depend on how the work is divided.
//!
//! Adding floating-point numbers in a different order gives different bytes. So one order is fixed
//! for the whole crate: points are processed in chunks of [`CHUNK`] by their index, each chunk is
//! summed from its first point to its last, and the chunks' sums are added in order. Threads take
//! whole chunks; machines that hold a range of the points ([`crate::optimistic::sharded`]) provide
//! the sums of the chunks they hold completely and the points of those they hold in part.

use crate::Points;

/// Points in a chunk.
pub(crate) const CHUNK: usize = 4096;

/// Sums and counts of the members of each centre.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sums {
    pub(crate) values: Vec<f64>,
    pub(crate) counts: Vec<u64>,
}

impl Sums {
    pub(crate) fn new(k: usize, q: usize) -> Self {
        Self { values: vec![0.0; k * q], counts: vec![0; k] }
    }

    /// Of the members `rows` with their `labels`.
    pub(crate) fn of(k: usize, q: usize, rows: &[f64], labels: &[u32]) -> Self {
        let mut sums = Self::new(k, q);
        for (row, &l) in rows.chunks_exact(q).zip(labels) {
            sums.add(l as usize, row);
        }
        sums
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, label: usize, row: &[f64]) {
        self.counts[label] += 1;
        let q = row.len();
        for (s, x) in self.values[label * q..(label + 1) * q].iter_mut().zip(row) {
            *s += x;
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (a, b) in self.values.iter_mut().zip(&other.values) {
            *a += b;
        }
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
    }

    /// The means; `None` if some centre has no member.
    pub(crate) fn means(&self, q: usize) -> Option<Points> {
        if self.counts.contains(&0) {
            return None;
        }
        Some(self.means_of_occupied(q))
    }

    /// The means of the centres that have a member, in order.
    pub(crate) fn means_of_occupied(&self, q: usize) -> Points {
        let occupied = self.values.chunks_exact(q).zip(&self.counts).filter(|(_, count)| **count > 0);
        let values = occupied.flat_map(|(sum, &count)| sum.iter().map(move |s| s / count as f64)).collect();
        Points::trusted(values, q)
    }

    /// Means where a centre has members, the old centre where it has none.
    pub(crate) fn means_or(&self, centres: &Points) -> Points {
        let q = centres.features();
        let mut new = centres.clone();
        for (l, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            for (x, s) in new.row_mut(l).iter_mut().zip(&self.values[l * q..]) {
                *x = s / count as f64;
            }
        }
        new
    }
}

/// [`Sums`] of points that come one by one, in order, or by the chunk.
pub(crate) struct ChunkedSums {
    total: Sums,
    chunk: Sums,
    filled: usize,
}

impl ChunkedSums {
    pub(crate) fn new(k: usize, q: usize) -> Self {
        Self { total: Sums::new(k, q), chunk: Sums::new(k, q), filled: 0 }
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, label: usize, row: &[f64]) {
        self.chunk.add(label, row);
        self.filled += 1;
        if self.filled == CHUNK {
            self.close();
        }
    }

    /// The next whole chunk; false, and nothing added, when one is begun already.
    pub(crate) fn add_chunk(&mut self, chunk: &Sums) -> bool {
        let fits = self.filled == 0;
        if fits {
            self.total.merge(chunk);
        }
        fits
    }

    pub(crate) fn total(mut self) -> Sums {
        self.close();
        self.total
    }

    fn close(&mut self) {
        if self.filled > 0 {
            self.total.merge(&self.chunk);
            self.chunk.values.fill(0.0);
            self.chunk.counts.fill(0);
            self.filled = 0;
        }
    }
}

/// A sum of one number per point, in the same order.
#[derive(Default)]
pub(crate) struct ChunkedSum {
    total: f64,
    chunk: f64,
    filled: usize,
}

impl ChunkedSum {
    #[inline(always)]
    pub(crate) fn add(&mut self, value: f64) {
        self.chunk += value;
        self.filled += 1;
        if self.filled == CHUNK {
            self.close();
        }
    }

    /// The next whole chunk; false, and nothing added, when one is begun already.
    pub(crate) fn add_chunk(&mut self, chunk: f64) -> bool {
        let fits = self.filled == 0;
        if fits {
            self.total += chunk;
        }
        fits
    }

    pub(crate) fn total(mut self) -> f64 {
        self.close();
        self.total
    }

    fn close(&mut self) {
        if self.filled > 0 {
            self.total += self.chunk;
            self.chunk = 0.0;
            self.filled = 0;
        }
    }
}

impl FromIterator<f64> for ChunkedSum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = Self::default();
        values.into_iter().for_each(|value| sum.add(value));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_to_one_chunk_a_sum_is_the_plain_one_and_beyond_it_is_by_chunks() {
        let value = |i: usize| 1.0 / (i as f64 + 1.0);
        for n in [1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5] {
            let by_hand: f64 = (0..n)
                .collect::<Vec<_>>()
                .chunks(CHUNK)
                .map(|c| c.iter().map(|&i| value(i)).sum::<f64>())
                .sum();
            assert_eq!((0..n).map(value).collect::<ChunkedSum>().total(), by_hand);
            let mut sums = ChunkedSums::new(1, 1);
            (0..n).for_each(|i| sums.add(0, &[value(i)]));
            assert_eq!(sums.total().values, [by_hand]);
        }
        let plain: f64 = (0..CHUNK).map(value).sum();
        assert_eq!((0..CHUNK).map(value).collect::<ChunkedSum>().total(), plain);
    }

    #[test]
    fn a_chunk_in_the_middle_of_another_is_refused() {
        let mut sum = ChunkedSum::default();
        assert!(sum.add_chunk(2.0));
        sum.add(1.0);
        assert!(!sum.add_chunk(2.0));
        assert_eq!(sum.total(), 3.0);
    }
}
