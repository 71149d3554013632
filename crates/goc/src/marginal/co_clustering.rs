//! How often objects are together, over all draws.
//!
//! `P_ij` is the share of draws in which `i` and `j` are in one cluster; objects in the field are
//! together with nobody. No pair is stored. The pairs of one object are counted when they are asked
//! for, by going through the members of its clusters. Sums of `P_ij` over a cluster of a partition,
//! which is what summaries need, follow from how many objects each cluster shares with each cluster
//! of a draw: memory and time are proportional to objects times draws, however large the clusters.
//! All sums are of integers, so they depend neither on order nor on threads.

use rayon::prelude::*;

use super::draws::{Draw, Members};
use crate::Partition;

/// The number of objects whose pairs are counted at once.
const CHUNK: usize = 256;

/// How often objects were together.
#[derive(Clone, Debug, PartialEq)]
pub struct CoClustering {
    objects: usize,
    draws: Vec<Draw>,
    members: Vec<Members>,
}

impl CoClustering {
    /// From draws of `n` objects each.
    pub(super) fn new(draws: Vec<Draw>, members: Vec<Members>, n: usize) -> Self {
        Self { objects: n, draws, members }
    }

    /// The same if the members of clusters are not known yet.
    #[cfg(test)]
    pub(crate) fn of_draws(draws: &[Draw], n: usize) -> Self {
        Self::new(draws.to_vec(), draws.par_iter().map(Members::of).collect(), n)
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.objects
    }

    /// True when there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The drawn labels, chain after chain.
    pub fn draws(&self) -> &[Draw] {
        &self.draws
    }

    /// The objects that were ever together with `i`, ascending, and the probability of being
    /// together.
    pub fn partners(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + use<> {
        let mut met = Met::none(self.objects);
        let draws = self.draws.len() as f64;
        let row = self.count(i, 0, &mut met);
        row.into_iter()
            .filter(move |(j, _)| *j as usize != i)
            .map(move |(j, count)| (j as usize, f64::from(count) / draws))
    }

    /// The probability that two objects are together.
    pub fn between(&self, i: usize, j: usize) -> f64 {
        if i == j {
            return 1.0;
        }
        let count = self.draws.iter().filter(|draw| !draw.in_field(i) && draw.label(i) == draw.label(j));
        count.count() as f64 / self.draws.len() as f64
    }

    /// All pairs `i < j` that were ever together, ascending, with the probability of being
    /// together. They are counted some objects at a time, in parallel.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let draws = self.draws.len() as f64;
        (0..self.objects).step_by(CHUNK).flat_map(move |from| {
            let chunk = (from..self.objects.min(from + CHUNK)).into_par_iter();
            let count = |met: &mut Met, i: usize| (i, self.count(i, i as u32 + 1, met));
            let rows: Vec<_> = chunk.map_init(|| Met::none(self.objects), count).collect();
            rows.into_iter().flat_map(move |(i, row)| {
                row.into_iter().map(move |(j, count)| (i, j as usize, f64::from(count) / draws))
            })
        })
    }

    /// The objects from `least` on that were together with `i`, ascending, and how often.
    fn count(&self, i: usize, least: u32, met: &mut Met) -> Vec<(u32, u32)> {
        for (draw, members) in self.draws.iter().zip(&self.members) {
            members.of_cluster(draw.label(i)).filter(|j| *j >= least).for_each(|j| met.add(j));
        }
        met.take()
    }

    /// The expected number of pairs that are together.
    pub fn expected_pairs(&self) -> f64 {
        let of_size = |size: usize| size as u64 * (size as u64).saturating_sub(1) / 2;
        let of_draw = |draw: &Draw| draw.sizes().into_iter().map(of_size).sum::<u64>();
        self.draws.iter().map(of_draw).sum::<u64>() as f64 / self.draws.len() as f64
    }

    /// `sum_{j in C_i} P_ij` for every object, itself included.
    pub fn overlaps(&self, partition: &Partition) -> Vec<f64> {
        let (n, labels, clusters) = (self.objects, partition.labels(), partition.k());
        let of_draw = |(mut sums, mut met): (Vec<u64>, Met), (draw, members): (&Draw, &Members)| {
            for k in 0..draw.clusters() as u32 {
                members.of_cluster(k).for_each(|i| met.add(labels[i as usize]));
                for i in members.of_cluster(k) {
                    sums[i as usize] += u64::from(met.counts[labels[i as usize] as usize]);
                }
                met.clear();
            }
            members.of_field().for_each(|i| sums[i as usize] += 1);
            (sums, met)
        };
        let none = || (vec![0; n], Met::none(clusters));
        let add = |mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        let all = self.draws.par_iter().zip(&self.members);
        let sums = all.fold(none, of_draw).map(|(sums, _)| sums).reduce(|| vec![0; n], add);
        sums.into_iter().map(|sum| sum as f64 / self.draws.len() as f64).collect()
    }

    /// For every object, the clusters of a partition that it was together with members of, and the
    /// sum of `P_ij` over these members. The object itself does not count, nor do members `j` with
    /// `left_out[j]`.
    pub(super) fn with_clusters(&self, partition: &Partition, left_out: &[bool]) -> Vec<Vec<(u32, f64)>> {
        let labels = partition.labels();
        let counts = |j: u32| !left_out.get(j as usize).is_some_and(|out| *out);
        let shared: Vec<Shared> = self
            .draws
            .par_iter()
            .zip(&self.members)
            .map_init(
                || Met::none(partition.k()),
                |met, (draw, members)| {
                    let mut shared = Shared { starts: vec![0], all: Vec::new() };
                    for k in 0..draw.clusters() as u32 {
                        members
                            .of_cluster(k)
                            .filter(|j| counts(*j))
                            .for_each(|j| met.add(labels[j as usize]));
                        shared.all.extend(met.take());
                        shared.starts.push(shared.all.len() as u32);
                    }
                    shared
                },
            )
            .collect();
        let total = self.draws.len() as f64;
        let of_object = |sums: &mut (Vec<u64>, Vec<u32>), i: usize| {
            let (sums, touched) = sums;
            for (draw, shared) in self.draws.iter().zip(&shared).filter(|(draw, _)| !draw.in_field(i)) {
                for &(l, count) in shared.of_cluster(draw.label(i)) {
                    let own = l == labels[i] && counts(i as u32);
                    let count = u64::from(count - u32::from(own));
                    if count > 0 {
                        if sums[l as usize] == 0 {
                            touched.push(l);
                        }
                        sums[l as usize] += count;
                    }
                }
            }
            touched.sort_unstable();
            let found = touched.iter().map(|l| (*l, std::mem::take(&mut sums[*l as usize]) as f64 / total));
            let found = found.collect();
            touched.clear();
            found
        };
        let none = || (vec![0; partition.k()], Vec::new());
        (0..self.objects).into_par_iter().map_init(none, of_object).collect()
    }
}

/// For every cluster of a draw, the clusters of a partition that share objects with it, and how
/// many.
struct Shared {
    starts: Vec<u32>,
    all: Vec<(u32, u32)>,
}

impl Shared {
    fn of_cluster(&self, k: u32) -> &[(u32, u32)] {
        &self.all[self.starts[k as usize] as usize..self.starts[k as usize + 1] as usize]
    }
}

/// Counts of numbers below a bound, of which few occur.
struct Met {
    counts: Vec<u32>,
    occurred: Vec<u32>,
}

impl Met {
    fn none(bound: usize) -> Self {
        Self { counts: vec![0; bound], occurred: Vec::new() }
    }

    fn add(&mut self, number: u32) {
        let count = &mut self.counts[number as usize];
        if *count == 0 {
            self.occurred.push(number);
        }
        *count += 1;
    }

    /// The numbers that occurred, ascending, and how often; none has occurred afterwards.
    fn take(&mut self) -> Vec<(u32, u32)> {
        self.occurred.sort_unstable();
        let found = self.occurred.iter().map(|j| (*j, self.counts[*j as usize])).collect();
        self.clear();
        found
    }

    fn clear(&mut self) {
        self.occurred.drain(..).for_each(|j| self.counts[j as usize] = 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many objects, some of them in the field in some draws.
    fn many() -> (CoClustering, Vec<Draw>) {
        let n = 2 * CHUNK + 5;
        let label = |d: usize, i: usize| ((i * i + d * i) % (5 + d)) as u32;
        let field = |d: usize, i: usize| (i + d).is_multiple_of(4);
        let draw = |d: usize| {
            let (labels, field): (Vec<_>, Vec<_>) = (0..n).map(|i| (label(d, i), field(d, i))).unzip();
            Draw::with_field(&labels, &field)
        };
        let draws: Vec<Draw> = (0..7).map(draw).collect();
        (CoClustering::of_draws(&draws, n), draws)
    }

    fn by_pairs(draws: &[Draw], i: usize, j: usize) -> usize {
        draws.iter().filter(|draw| !draw.in_field(i) && draw.label(i) == draw.label(j)).count()
    }

    #[test]
    fn pairs_are_those_counted_one_by_one() {
        let (together, draws) = many();
        let n = together.len();
        let mut pairs = together.pairs().peekable();
        for i in 0..n {
            let mut row = together.partners(i).peekable();
            for j in 0..n {
                let count = by_pairs(&draws, i, j);
                let p = count as f64 / 7.0;
                assert_eq!(together.between(i, j), if i == j { 1.0 } else { p });
                if count > 0 && i != j {
                    assert_eq!(row.next(), Some((j, p)));
                }
                if count > 0 && i < j {
                    assert_eq!(pairs.next(), Some((i, j, p)));
                }
            }
            assert!(row.next().is_none());
        }
        assert!(pairs.next().is_none());
    }

    #[test]
    fn sums_over_clusters_are_those_over_pairs() {
        let (together, draws) = many();
        let n = together.len();
        let partition = Partition::from_labels(&(0..n).map(|i| i * 3 % 11).collect::<Vec<_>>());
        let labels = partition.labels();
        let left_out: Vec<bool> = (0..n).map(|i| i % 6 == 1).collect();
        let (overlaps, sums) = (together.overlaps(&partition), together.with_clusters(&partition, &left_out));
        for i in 0..n {
            let mut wanted = vec![0; partition.k()];
            let mut overlap = 0;
            for j in (0..n).filter(|j| *j != i) {
                let count = by_pairs(&draws, i, j);
                overlap += if labels[i] == labels[j] { count } else { 0 };
                wanted[labels[j] as usize] += if left_out[j] { 0 } else { count };
            }
            assert_eq!(overlaps[i], (overlap + 7) as f64 / 7.0);
            let wanted = (0..).zip(wanted).filter(|(_, sum)| *sum > 0);
            let wanted: Vec<(u32, f64)> = wanted.map(|(l, sum)| (l, sum as f64 / 7.0)).collect();
            assert_eq!(sums[i], wanted);
        }
    }
}
