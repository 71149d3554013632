//! A cheap screen of all clusters: which of them can matter to an object at all.
//!
//! In the metric of `Psi`, a cluster is reduced to its mean and one number for how much wider than
//! `Psi` it is, and a group of blocks is a ball around all its candidates. With `s = 1 + |L^-1 S
//! L^-T|` (Frobenius, `L L' = Psi`), `Psi + S` is at most `s Psi`, so every candidate `x` of a ball
//! of radius `r` satisfies
//!
//! ```text
//! (x - mean)' (Psi + S)^-1 (x - mean)  >=  max(0, |L^-1 (centre - mean)| - r)^2 / s
//! ```
//!
//! and the density in the cluster is at most that of the t density there. All clusters are raised
//! to the same power, the smallest `p` of any cluster. If a cluster's own power is `g p`, then
//! `(1 + v)^(g p) >= (1 + g v)^p` (Bernoulli), so the bound stays valid and only loses sharpness.
//! Clusters are processed eight at a time, and most are ruled out by this bound alone.

use multiversion::multiversion;

use super::blocks::LANES;
use super::cluster::{Cluster, half_powers};

/// The clusters, packed in groups of eight.
#[derive(Clone, Debug)]
pub(super) struct Screening {
    q: usize,
    count: usize,
    /// Per group of eight: the whitened means feature after feature, then `g n / ((n + 1) s)`, then
    /// the largest density times the weight of joining.
    packed: Vec<f64>,
    /// The inverse triangle of `Psi`.
    low: Vec<f64>,
    /// Twice the smallest power of any t density.
    twice: usize,
    /// Scratch space: one row of a product.
    row: Vec<f64>,
}

impl Screening {
    /// An empty screen, in the metric with this inverse triangle.
    pub(super) fn new(low: Vec<f64>, q: usize, nu: usize) -> Self {
        Self { q, count: 0, packed: Vec::new(), low, twice: nu + 1, row: vec![0.0; q] }
    }

    /// The inverse triangle of the metric.
    pub(super) fn metric(&self) -> &[f64] {
        &self.low
    }

    fn slot(&self, k: usize, row: usize) -> usize {
        (k / LANES * (self.q + 2) + row) * LANES + k % LANES
    }

    /// Updates cluster `k`, which has changed, or adds it if it is the next one.
    pub(super) fn set(&mut self, k: usize, cluster: &Cluster, join: f64) {
        let q = self.q;
        if k == self.count {
            self.count += 1;
            if k.is_multiple_of(LANES) {
                self.packed.resize(self.packed.len() + (q + 2) * LANES, 0.0);
            }
        }
        for r in 0..q {
            let y: f64 = (0..=r).map(|f| self.low[r * q + f] * cluster.mean[f]).sum();
            let slot = self.slot(k, r);
            self.packed[slot] = y;
        }
        // The sum of squares of L^-1 S L^-T; S is symmetric. Computed row by row: as four nested
        // loops it took most of a sweep in 50 features.
        let mut squares = 0.0;
        if cluster.size > 1 {
            for r in 0..q {
                self.row.fill(0.0);
                for f in 0..=r {
                    let times = self.low[r * q + f];
                    let scatter = &cluster.scatter[f * q..(f + 1) * q];
                    self.row.iter_mut().zip(scatter).for_each(|(sum, s)| *sum += times * s);
                }
                for c in 0..q {
                    let low = &self.low[c * q..=c * q + c];
                    let sum: f64 = self.row.iter().zip(low).map(|(a, b)| a * b).sum();
                    squares += sum * sum;
                }
            }
        }
        let slot = self.slot(k, q);
        let powers = cluster.twice as f64 / self.twice as f64;
        self.packed[slot] = powers * cluster.share / (1.0 + squares.sqrt()) * (1.0 - 1e-9);
        let slot = self.slot(k, q + 1);
        self.packed[slot] = cluster.scale * join * (1.0 + 1e-9);
    }

    /// Removes cluster `k`; the last cluster takes its place.
    pub(super) fn swap_remove(&mut self, k: usize) {
        let last = self.count - 1;
        for row in 0..self.q + 2 {
            let (from, to) = (self.slot(last, row), self.slot(k, row));
            self.packed[to] = self.packed[from];
        }
        // A density of 0: no object belongs there.
        let slot = self.slot(last, self.q + 1);
        self.packed[slot] = 0.0;
        self.count = last;
        self.packed.truncate(last.div_ceil(LANES) * (self.q + 2) * LANES);
    }

    /// Pushes the clusters whose bound for a ball exceeds `least` to `near`, and returns the sum of
    /// the bounds of all others.
    pub(super) fn near(&self, centre: &[f64], radius: f64, least: f64, near: &mut Vec<u32>) -> f64 {
        near.clear();
        let mut bounds = [0.0; LANES];
        let mut others = 0.0;
        for (eight, values) in self.packed.chunks_exact((self.q + 2) * LANES).enumerate() {
            bound_eight(values, centre, radius, self.twice, &mut bounds);
            for (lane, &bound) in bounds.iter().enumerate() {
                if bound > least {
                    near.push((eight * LANES + lane) as u32);
                } else {
                    others += bound;
                }
            }
        }
        others
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn bound_eight(values: &[f64], centre: &[f64], radius: f64, twice: usize, bounds: &mut [f64; LANES]) {
    let mut squares = [0.0; LANES];
    let mut rows = values.chunks_exact(LANES);
    for (x, row) in centre.iter().zip(&mut rows) {
        for lane in 0..LANES {
            let d = row[lane] - x;
            squares[lane] += d * d;
        }
    }
    let (Some(narrow), Some(factor)) = (rows.next(), rows.next()) else { return };
    let near: [f64; LANES] = std::array::from_fn(|lane| {
        let least = (squares[lane].sqrt() - radius).max(0.0);
        1.0 + narrow[lane] * (least * least)
    });
    let t = half_powers(near, twice);
    for lane in 0..LANES {
        bounds[lane] = factor[lane] / t[lane];
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::{Blocks, Extents, KEPT_BYTES, Reader, of_all};
    use super::super::cluster::weigh_all;
    use super::super::matrix::{cholesky, lower_inverse};
    use super::super::shape::{Base, Likeness, Shape};
    use super::*;
    use crate::candidates::CandidatesBuilder;

    #[test]
    fn no_cluster_weighs_more_than_its_bound_whatever_came_and_went() {
        let q = 3;
        let psi = vec![0.3, 0.1, 0.0, 0.1, 0.5, -0.1, 0.0, -0.1, 0.2];
        let base = Base::new(vec![0.0; q], &[9.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 9.0]).unwrap();
        let shape = Shape::new(&Likeness::new(7, q, 100), psi, base);
        let low = lower_inverse(&cholesky(&shape.psi, q).unwrap(), q);
        let place = |i: usize| -> Vec<f64> {
            (0..q).map(|f| 3.0 * libm::sin((i * (f + 2)) as f64 + f as f64)).collect()
        };
        let mut builder = CandidatesBuilder::new(q);
        for i in 0..6 {
            let rows: Vec<f64> = (0..30)
                .flat_map(|j| place(50 + i).into_iter().map(move |v| v * (0.7 + 0.02 * f64::from(j))))
                .collect();
            builder.push(&rows, &[]).unwrap();
        }
        let candidates = builder.build().unwrap();
        let weights = vec![1.0 / 30.0; candidates.total()];
        let blocks = Blocks::new(&candidates, 1, of_all(&candidates, &weights), KEPT_BYTES);
        let (mut reader, mut extents) = (Reader::default(), Extents::default());
        // Twenty clusters of one to fifty members, three of which are removed again.
        let mut clusters = vec![Cluster::empty(q); 20];
        for i in 0..250 {
            clusters[i * i % 20].add(&place(i), &shape);
        }
        for (k, cluster) in clusters.iter_mut().enumerate().filter(|(_, cluster)| cluster.size == 0) {
            cluster.add(&place(k), &shape);
        }
        let join = |cluster: &Cluster| (cluster.size as f64).sqrt();
        let mut screening = Screening::new(low, q, shape.nu);
        for (k, cluster) in clusters.iter().enumerate() {
            screening.set(k, cluster, join(cluster));
        }
        for k in [19, 3, 16] {
            clusters.swap_remove(k);
            screening.swap_remove(k);
        }
        let (mut near, mut pruned) = (Vec::new(), 0);
        for i in 0..candidates.objects() {
            reader.load(&blocks, i);
            let own = reader.own(&blocks, i);
            extents.measure(own, screening.metric());
            // Thirty candidates make four blocks, hence one group.
            let group = extents.groups().next().unwrap();
            for least in [0.0, 1e-9, 1e-3, 1.0] {
                let others = screening.near(group.middle, group.reach, least, &mut near);
                assert!(near.iter().all(|k| (*k as usize) < clusters.len()));
                let mut left_out = 0.0;
                for (k, cluster) in clusters.iter().enumerate().filter(|(k, _)| !near.contains(&(*k as u32)))
                {
                    let mut out = vec![[0.0; LANES]; own.len()];
                    let sum = join(cluster) * weigh_all(cluster, own, &mut out);
                    assert!(sum <= least, "object {i}, cluster {k}: {sum} above {least}");
                    left_out += sum;
                    pruned += 1;
                }
                assert!(left_out <= others, "object {i}: {left_out} above {others}");
            }
        }
        assert!(pruned > 50, "{pruned}");
    }
}
