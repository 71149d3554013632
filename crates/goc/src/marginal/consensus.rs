//! From many drawn partitions to one, and to how sure it is.
//!
//! `P_ij` is the share of draws in which `i` and `j` are together. Only pairs that ever met are
//! kept, so memory follows the sizes of the clusters, not `n^2`. The estimate minimises the lower
//! bound of the expected variation of information (Wade & Ghahramani 2018),
//!
//! ```text
//! sum_i  a log2 |C_i|  -  2 log2 sum_{j in C_i} P_ij,
//! ```
//!
//! where `C_i` is the cluster of `i` and `a` is 1, or more where joining what is apart is worse
//! than parting what is together (Dahl, Johnson & Müller 2022): the best of all cuts of the average
//! linkage of `1 - P`, and of the drawn partitions themselves. Where `n^2 / 2` numbers do not fit
//! there is no linkage; there objects of the best draw move one by one, to a cluster of one that
//! they have met or to one of their own, until no move lowers the bound. After a linkage such moves
//! are left out: they lower the bound, and on ten mock Milky Ways the scores with it (NMI .939 to
//! .936).

use rayon::prelude::*;

use crate::Partition;
use crate::oracle::dissimilarities::Dissimilarities;
use crate::oracle::linkage::{Linkage, Method};

/// Objects up to which the average linkage is tried: 100 MB of distances.
const LINKAGE_UP_TO: usize = 5000;

/// Rounds of single moves at most.
const ROUNDS: usize = 50;

/// How often two objects were together: the pairs that ever were.
#[derive(Clone, Debug, PartialEq)]
pub struct CoClustering {
    starts: Vec<usize>,
    /// In ascending order for each object, itself left out.
    partners: Vec<u32>,
    counts: Vec<u32>,
    draws: usize,
}

impl CoClustering {
    /// Counts over drawn labels, each of `n` objects.
    pub(crate) fn of_draws(draws: &[Vec<u32>], n: usize) -> Self {
        let members: Vec<Vec<Vec<u32>>> = draws
            .par_iter()
            .map(|labels| {
                let k = labels.iter().max().map_or(0, |most| *most as usize + 1);
                let mut members = vec![Vec::new(); k];
                for (i, &label) in labels.iter().enumerate() {
                    members[label as usize].push(i as u32);
                }
                members
            })
            .collect();
        let rows: Vec<Vec<(u32, u32)>> = (0..n)
            .into_par_iter()
            .map_init(
                || (vec![0_u32; n], Vec::new()),
                |(count, met), i| {
                    for (labels, members) in draws.iter().zip(&members) {
                        for &j in &members[labels[i] as usize] {
                            if count[j as usize] == 0 {
                                met.push(j);
                            }
                            count[j as usize] += 1;
                        }
                    }
                    met.sort_unstable();
                    let row = met.iter().filter(|&&j| j as usize != i).map(|&j| (j, count[j as usize]));
                    let row = row.collect();
                    for j in met.drain(..) {
                        count[j as usize] = 0;
                    }
                    row
                },
            )
            .collect();
        let mut starts = vec![0];
        let (mut partners, mut counts) = (Vec::new(), Vec::new());
        for row in rows {
            for (j, count) in row {
                partners.push(j);
                counts.push(count);
            }
            starts.push(partners.len());
        }
        Self { starts, partners, counts, draws: draws.len() }
    }

    /// How alike two of them are: the shared part of their probabilities, from 0 to 1; 1 when
    /// neither has a pair.
    pub(super) fn agreement(&self, other: &Self) -> f64 {
        let (mut shared, mut all) = (0.0, 0.0);
        for i in 0..self.len() {
            let (mut a, mut b) = (self.partners(i).peekable(), other.partners(i).peekable());
            loop {
                let (p, q) = match (a.peek().copied(), b.peek().copied()) {
                    (None, None) => break,
                    (Some((i, p)), Some((j, q))) if i == j => (p, q),
                    (Some((i, p)), Some((j, _))) if i < j => (p, 0.0),
                    (Some((_, p)), None) => (p, 0.0),
                    (_, Some((_, q))) => (0.0, q),
                };
                if p > 0.0 {
                    a.next();
                }
                if q > 0.0 {
                    b.next();
                }
                shared += p.min(q);
                all += p.max(q);
            }
        }
        if all > 0.0 { shared / all } else { 1.0 }
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// True when there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The objects that were ever together with `i`, and the probability of that.
    pub fn partners(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[i]..self.starts[i + 1];
        let share = |count: u32| f64::from(count) / self.draws as f64;
        self.partners[range.clone()]
            .iter()
            .zip(&self.counts[range])
            .map(move |(&j, &c)| (j as usize, share(c)))
    }

    /// The probability that two objects are together.
    pub fn between(&self, i: usize, j: usize) -> f64 {
        if i == j {
            return 1.0;
        }
        let row = &self.partners[self.starts[i]..self.starts[i + 1]];
        row.binary_search(&(j as u32))
            .map_or(0.0, |at| f64::from(self.counts[self.starts[i] + at]) / self.draws as f64)
    }

    /// `sum_{j in C_i} P_ij` for every object.
    fn overlaps(&self, labels: &[u32]) -> Vec<f64> {
        let of = |i: usize| {
            1.0 + self.partners(i).filter(|(j, _)| labels[*j] == labels[i]).map(|(_, p)| p).sum::<f64>()
        };
        (0..self.len()).map(of).collect()
    }

    /// The lower bound, up to a constant.
    fn cost(&self, labels: &[u32], merge_cost: f64) -> f64 {
        let partition = Partition::from_labels(labels);
        let sizes = partition.sizes();
        self.overlaps(labels)
            .iter()
            .zip(partition.labels())
            .map(|(overlap, &l)| bound(sizes[l as usize], *overlap, merge_cost))
            .sum()
    }

    /// The partition of least cost that is found.
    pub(super) fn estimate(&self, draws: &[Vec<u32>], merge_cost: f64) -> Partition {
        let n = self.len();
        let mut candidates: Vec<Vec<u32>> = Vec::new();
        if n <= LINKAGE_UP_TO
            && let Ok(apart) = Dissimilarities::from_fn(n, |i, j| 1.0 - self.between(i, j))
        {
            let most = draws.iter().flatten().max().map_or(1, |most| *most as usize + 1);
            candidates.extend(self.cuts(apart, most));
        }
        // Every draw costs as much as a cut; a few, spread over all chains, are enough.
        let every = draws.len().div_ceil(60).max(1);
        candidates.extend(draws.iter().step_by(every).cloned());
        let costs: Vec<f64> = candidates.par_iter().map(|labels| self.cost(labels, merge_cost)).collect();
        let best = (0..costs.len()).min_by(|a, b| costs[*a].total_cmp(&costs[*b]).then(a.cmp(b)));
        let mut labels = best.map_or_else(|| vec![0; n], |at| candidates.swap_remove(at));
        if n > LINKAGE_UP_TO {
            self.improve(&mut labels, merge_cost);
        }
        Partition::from_labels(&labels).canonical()
    }

    /// The cuts of the average linkage into up to twice as many clusters as the draws have.
    fn cuts(&self, apart: Dissimilarities, most_clusters: usize) -> Vec<Vec<u32>> {
        let n = self.len();
        let Ok(tree) = Linkage::new(Method::Average).fit_matrix(apart) else { return Vec::new() };
        let most = (2 * most_clusters).min(n);
        (1..=most).filter_map(|k| tree.cut(k).ok()).map(|cut| cut.labels().to_vec()).collect()
    }

    /// Moves objects one by one while that lowers the cost.
    fn improve(&self, labels: &mut [u32], merge_cost: f64) {
        let n = self.len();
        let partition = Partition::from_labels(labels);
        labels.copy_from_slice(partition.labels());
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); partition.k()];
        for (i, &l) in labels.iter().enumerate() {
            members[l as usize].push(i);
        }
        let mut overlaps = self.overlaps(labels);
        let cost_of = |size: usize, overlap: f64| bound(size, overlap, merge_cost);
        for _ in 0..ROUNDS {
            let mut moved = false;
            for i in 0..n {
                let from = labels[i] as usize;
                let size = members[from].len();
                // What the others of its cluster save when it leaves.
                let mut leave = cost_of(size, overlaps[i]);
                for &j in members[from].iter().filter(|j| **j != i) {
                    let p = self.between(i, j);
                    leave += cost_of(size, overlaps[j]) - cost_of(size - 1, overlaps[j] - p);
                }
                let mut targets: Vec<usize> = self.partners(i).map(|(j, _)| labels[j] as usize).collect();
                targets.sort_unstable();
                targets.dedup();
                // Alone it costs nothing.
                let (mut best, mut to) = (if size > 1 { -leave } else { 0.0 }, None);
                for target in targets.into_iter().filter(|t| *t != from) {
                    let size = members[target].len();
                    let mut overlap = 1.0;
                    let mut enter = 0.0;
                    for &j in &members[target] {
                        let p = self.between(i, j);
                        overlap += p;
                        enter += cost_of(size + 1, overlaps[j] + p) - cost_of(size, overlaps[j]);
                    }
                    enter += cost_of(size + 1, overlap);
                    if enter - leave < best - 1e-12 {
                        (best, to) = (enter - leave, Some(target));
                    }
                }
                let to = match to {
                    Some(to) => to,
                    None if size > 1 && best < -1e-12 => {
                        members.push(Vec::new());
                        members.len() - 1
                    }
                    None => continue,
                };
                moved = true;
                members[from].retain(|j| *j != i);
                for &j in &members[from] {
                    overlaps[j] -= self.between(i, j);
                }
                overlaps[i] = 1.0;
                for &j in &members[to] {
                    let p = self.between(i, j);
                    overlaps[j] += p;
                    overlaps[i] += p;
                }
                members[to].push(i);
                labels[i] = to as u32;
            }
            if !moved {
                break;
            }
        }
    }
}

/// What one object adds to the cost.
fn bound(size: usize, overlap: f64, merge_cost: f64) -> f64 {
    merge_cost * libm::log2(size as f64) - 2.0 * libm::log2(overlap)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three groups of four, of which one object wanders in a fifth of the draws.
    fn draws() -> Vec<Vec<u32>> {
        (0..20).map(|d| (0..12).map(|i| if i == 5 && d % 5 == 0 { 2 } else { i / 4 }).collect()).collect()
    }

    #[test]
    fn shares_of_draws_are_the_probabilities_and_only_pairs_that_met_are_kept() {
        let together = CoClustering::of_draws(&draws(), 12);
        assert_eq!((together.between(0, 1), together.between(5, 4), together.between(4, 5)), (1.0, 0.8, 0.8));
        assert_eq!((together.between(5, 9), together.between(0, 9), together.between(3, 3)), (0.2, 0.0, 1.0));
        assert_eq!(together.partners(0).map(|(j, _)| j).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(together.agreement(&together), 1.0);
    }

    #[test]
    fn the_estimate_and_single_moves_find_the_groups_and_moves_never_raise_the_bound() {
        let together = CoClustering::of_draws(&draws(), 12);
        let truth: Vec<u32> = (0..12).map(|i| i / 4).collect();
        assert_eq!(together.estimate(&draws(), 1.0).labels(), truth);
        for start in [vec![0; 12], (0..12).collect(), (0..12).map(|i| i % 3).collect::<Vec<u32>>()] {
            let mut labels = start.clone();
            together.improve(&mut labels, 1.0);
            assert!(together.cost(&labels, 1.0) <= together.cost(&start, 1.0) + 1e-9);
        }
        let mut labels = truth.clone();
        labels[0] = 2;
        together.improve(&mut labels, 1.0);
        assert_eq!(Partition::from_labels(&labels).canonical().labels(), truth);
    }
}
