//! Moves of single objects between clusters that lower the expected variation of information.
//!
//! With `n_k` members in cluster `k`, of which `n_kl` are in cluster `l` of draw `t`, the expected
//! variation of information between a partition and the draws is, up to a constant and a factor,
//!
//! ```text
//! a sum_k f(n_k)  -  2 / T sum_t sum_kl f(n_kl),        f(x) = x log2 x
//! ```
//!
//! (`a` as in [`super::consensus`]). A move changes two clusters, and in every draw two numbers of
//! each, so its cost does not depend on the sizes of the clusters, and no pair of objects is looked
//! at (Dahl, Johnson & Müller 2022).

use super::draws::Draw;
use crate::Partition;

/// Maximum number of rounds over all objects.
const ROUNDS: usize = 20;

/// The number of draws that moves are judged by, spread over all chains.
const JUDGES: usize = 100;

/// Moves objects of `kept` as long as that lowers the expected variation of information. Other
/// objects stay alone.
pub(super) fn improve(draws: &[Draw], labels: &mut [u32], kept: &[usize], merge_cost: f64) {
    let every = draws.len().div_ceil(JUDGES).max(1);
    let mut moved = Moved::new(draws.iter().step_by(every).collect(), labels, kept, merge_cost);
    for _ in 0..ROUNDS {
        let mut any = false;
        for &i in kept {
            any |= moved.place(i);
        }
        if !any {
            break;
        }
    }
    labels.copy_from_slice(&moved.labels);
}

/// A partition that objects move in, with what it shares with each draw.
struct Moved<'a> {
    draws: Vec<&'a Draw>,
    labels: Vec<u32>,
    sizes: Vec<u32>,
    /// For each cluster and each draw, the draw's clusters that share members with it, and how many.
    shared: Vec<Vec<Vec<(u32, u32)>>>,
    /// For each draw, the clusters that share members with each of the draw's clusters.
    found_in: Vec<Vec<Vec<u32>>>,
    merge_cost: f64,
}

impl<'a> Moved<'a> {
    fn new(draws: Vec<&'a Draw>, labels: &[u32], kept: &[usize], merge_cost: f64) -> Self {
        let partition = Partition::from_labels(labels);
        let found_in = draws.iter().map(|draw| vec![Vec::new(); draw.clusters()]).collect();
        let mut moved = Self {
            labels: partition.labels().to_vec(),
            sizes: vec![0; partition.k()],
            shared: vec![vec![Vec::new(); draws.len()]; partition.k()],
            draws,
            found_in,
            merge_cost,
        };
        for &i in kept {
            moved.put(i, moved.labels[i]);
        }
        moved
    }

    /// Puts the object where it costs least. Returns whether that is another cluster.
    fn place(&mut self, i: usize) -> bool {
        let from = self.labels[i];
        let mut targets: Vec<u32> = (self.draws.iter().zip(&self.found_in))
            .filter(|(draw, _)| !draw.in_field(i))
            .flat_map(|(draw, found_in)| &found_in[draw.label(i) as usize])
            .copied()
            .collect();
        targets.sort_unstable();
        targets.dedup();
        if targets == [from] && self.sizes[from as usize] == 1 {
            return false;
        }
        self.take(i, from);
        // Being alone costs nothing; staying wins ties.
        let stay = self.cost(i, from);
        let (mut best, mut to) = if stay <= 0.0 { (stay, Some(from)) } else { (0.0, None) };
        for target in targets {
            let cost = self.cost(i, target);
            if cost < best - 1e-9 {
                (best, to) = (cost, Some(target));
            }
        }
        let to = to.unwrap_or_else(|| match self.sizes[from as usize] {
            0 => from,
            _ => {
                self.sizes.push(0);
                self.shared.push(vec![Vec::new(); self.draws.len()]);
                self.sizes.len() as u32 - 1
            }
        });
        self.labels[i] = to;
        self.put(i, to);
        to != from
    }

    /// What it costs to add object `i` to cluster `k`, compared with leaving it alone.
    fn cost(&self, i: usize, k: u32) -> f64 {
        let gain: f64 = (self.draws.iter().zip(&self.shared[k as usize]))
            .filter(|(draw, _)| !draw.in_field(i))
            .filter_map(|(draw, shared)| shared.iter().find(|(l, _)| *l == draw.label(i)))
            .map(|(_, count)| grown(*count))
            .sum();
        self.merge_cost * grown(self.sizes[k as usize]) - 2.0 / self.draws.len() as f64 * gain
    }

    fn put(&mut self, i: usize, k: u32) {
        self.sizes[k as usize] += 1;
        for (t, draw) in self.draws.iter().enumerate().filter(|(_, draw)| !draw.in_field(i)) {
            let (l, shared) = (draw.label(i), &mut self.shared[k as usize][t]);
            match shared.iter_mut().find(|(other, _)| *other == l) {
                Some((_, count)) => *count += 1,
                None => {
                    shared.push((l, 1));
                    self.found_in[t][l as usize].push(k);
                }
            }
        }
    }

    fn take(&mut self, i: usize, k: u32) {
        self.sizes[k as usize] -= 1;
        for (t, draw) in self.draws.iter().enumerate().filter(|(_, draw)| !draw.in_field(i)) {
            let (l, shared) = (draw.label(i), &mut self.shared[k as usize][t]);
            if let Some(at) = shared.iter().position(|(other, _)| *other == l) {
                shared[at].1 -= 1;
                if shared[at].1 == 0 {
                    shared.swap_remove(at);
                    self.found_in[t][l as usize].retain(|other| *other != k);
                }
            }
        }
    }
}

/// `f(x + 1) - f(x)`.
fn grown(x: u32) -> f64 {
    let f = |x: f64| if x > 0.0 { x * libm::log2(x) } else { 0.0 };
    f(f64::from(x) + 1.0) - f(f64::from(x))
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::random::stream;

    /// The expected variation of information times `n T`, up to what does not depend on the
    /// partition, from its definition: entropies of the tables of both.
    fn expected(draws: &[Draw], labels: &[u32], merge_cost: f64) -> f64 {
        let f = |x: usize| if x > 0 { x as f64 * libm::log2(x as f64) } else { 0.0 };
        let k = labels.iter().max().unwrap() + 1;
        let own: f64 = (0..k).map(|k| f(labels.iter().filter(|l| **l == k).count())).sum();
        let mut sum = 0.0;
        for draw in draws {
            sum += merge_cost * own;
            for k in 0..k {
                for l in 0..draw.clusters() as u32 {
                    sum -=
                        2.0 * f((0..labels.len()).filter(|i| labels[*i] == k && draw.label(*i) == l).count());
                }
            }
        }
        sum
    }

    fn draws(seed: u64) -> Vec<Draw> {
        let rng = &mut stream(seed, 0);
        (0..20)
            .map(|_| {
                let label = |i: u32| {
                    if rng.random::<f64>() < 0.2 { rng.random_range(0..4) } else { i / 5 }
                };
                let labels: Vec<u32> = (0..20).map(label).collect();
                let field: Vec<bool> = (0..20).map(|_| rng.random::<f64>() < 0.1).collect();
                Draw::with_field(&labels, &field)
            })
            .collect()
    }

    #[test]
    fn moves_lower_the_expected_variation_to_where_no_single_move_does() {
        let all: Vec<usize> = (0..20).collect();
        for seed in 0..10 {
            let draws = draws(seed);
            for start in [vec![0; 20], (0..20).collect(), (0..20).map(|i| i % 3).collect::<Vec<u32>>()] {
                for merge_cost in [1.0, 1.1] {
                    let mut labels = start.clone();
                    improve(&draws, &mut labels, &all, merge_cost);
                    let found = expected(&draws, &labels, merge_cost);
                    assert!(found <= expected(&draws, &start, merge_cost) + 1e-9);
                    let beyond = labels.iter().max().unwrap() + 1;
                    for i in 0..20 {
                        for to in 0..=beyond {
                            let mut other = labels.clone();
                            other[i] = to;
                            assert!(expected(&draws, &other, merge_cost) >= found - 1e-6);
                        }
                    }
                }
            }
            let mut labels: Vec<u32> = (0..20).map(|i| i / 5).collect();
            labels[0] = 2;
            improve(&draws, &mut labels, &all, 1.0);
            let truth: Vec<u32> = (0..20).map(|i| i / 5).collect();
            assert!(expected(&draws, &labels, 1.0) <= expected(&draws, &truth, 1.0) + 1e-9);
        }
    }

    #[test]
    fn objects_that_are_not_kept_stay_alone() {
        let draws = draws(1);
        let kept: Vec<usize> = (1..20).collect();
        let mut labels: Vec<u32> = (0..20).collect();
        improve(&draws, &mut labels, &kept, 1.0);
        assert_eq!(labels.iter().filter(|l| **l == labels[0]).count(), 1);
    }
}
