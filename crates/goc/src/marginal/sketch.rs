//! All clusters at a glance: which of them may matter to an object at all.
//!
//! Seen in the metric of `Psi`, a cluster is its mean and one number for how much wider than `Psi` it is, and an object is a ball around all
//! its candidates. With `s = 1 + |L^-1 S L^-T|` (Frobenius, `L L' = Psi`), `Psi + S` is at most `s Psi`, so every candidate `x` of a ball
//! of radius `r` has
//!
//! ```text
//! (x - mean)' (Psi + S)^-1 (x - mean)  >=  max(0, |L^-1 (centre - mean)| - r)^2 / s
//! ```
//!
//! and the density in the cluster is at most that of the t density there, with the least power any cluster has. Eight clusters at a
//! time; most are out of the question by this alone.

use multiversion::multiversion;

use super::cluster::{Cluster, half_powers};
use super::runs::LANES;

/// The clusters, eight a block.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    q: usize,
    count: usize,
    /// A block after another: eight whitened means feature after feature, then `n / ((n + 1) s)`, then the largest density times the
    /// weight of joining.
    blocks: Vec<f64>,
    /// The inverse triangle of `Psi`.
    low: Vec<f64>,
    /// Twice the least power of a t density.
    twice: usize,
}

impl Sketch {
    /// Of no clusters, in the metric with this inverse triangle.
    pub(super) fn new(low: Vec<f64>, q: usize, nu: usize) -> Self {
        Self { q, count: 0, blocks: Vec::new(), low, twice: nu + 1 }
    }

    fn slot(&self, k: usize, row: usize) -> usize {
        (k / LANES * (self.q + 2) + row) * LANES + k % LANES
    }

    /// Cluster `k` has changed, or is new if it is the next one.
    pub(super) fn set(&mut self, k: usize, cluster: &Cluster, join: f64) {
        let q = self.q;
        if k == self.count {
            self.count += 1;
            if k.is_multiple_of(LANES) {
                self.blocks.resize(self.blocks.len() + (q + 2) * LANES, 0.0);
            }
        }
        for r in 0..q {
            let y: f64 = (0..=r).map(|f| self.low[r * q + f] * cluster.mean[f]).sum();
            let slot = self.slot(k, r);
            self.blocks[slot] = y;
        }
        // L^-1 S L^-T, summed by squares; S is symmetric.
        let mut squares = 0.0;
        if cluster.size > 1 {
            for r in 0..q {
                for c in 0..q {
                    let mut sum = 0.0;
                    for f in 0..=r {
                        for g in 0..=c {
                            sum += self.low[r * q + f] * cluster.scatter[f * q + g] * self.low[c * q + g];
                        }
                    }
                    squares += sum * sum;
                }
            }
        }
        let slot = self.slot(k, q);
        self.blocks[slot] = cluster.share / (1.0 + squares.sqrt()) * (1.0 - 1e-9);
        let slot = self.slot(k, q + 1);
        self.blocks[slot] = cluster.scale * join * (1.0 + 1e-9);
    }

    /// The last cluster takes the place of `k`.
    pub(super) fn swap_remove(&mut self, k: usize) {
        let last = self.count - 1;
        for row in 0..self.q + 2 {
            let (from, to) = (self.slot(last, row), self.slot(k, row));
            self.blocks[to] = self.blocks[from];
        }
        // A density of 0: no object belongs there.
        let slot = self.slot(last, self.q + 1);
        self.blocks[slot] = 0.0;
        self.count = last;
        self.blocks.truncate(last.div_ceil(LANES) * (self.q + 2) * LANES);
    }

    /// Puts the clusters whose bound for a ball is above `least` into `near`; returns the sum of the bounds of all others.
    pub(super) fn near(&self, centre: &[f64], radius: f64, least: f64, near: &mut Vec<u32>) -> f64 {
        near.clear();
        let mut bounds = [0.0; LANES];
        let mut others = 0.0;
        for (block, values) in self.blocks.chunks_exact((self.q + 2) * LANES).enumerate() {
            bound_block(values, centre, radius, self.twice, &mut bounds);
            for (lane, &bound) in bounds.iter().enumerate() {
                if bound > least {
                    near.push((block * LANES + lane) as u32);
                } else {
                    others += bound;
                }
            }
        }
        others
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn bound_block(values: &[f64], centre: &[f64], radius: f64, twice: usize, bounds: &mut [f64; LANES]) {
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
