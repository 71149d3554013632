//! The prior on partitions: how many clusters, and of which sizes.
//!
//! A product partition model with the cohesion
//!
//! ```text
//! p(partition) = (1 / Z_n) prod_k alpha ((n_k - 1)!)^power
//! ```
//!
//! It is exchangeable for every power, as it depends on the sizes alone. Power 1 is the Dirichlet process, whose large clusters
//! draw everything in; with a power below 1 sizes stay alike, which is what groups of a few objects need. An object joins
//! a cluster of `n` in proportion to `n^power` and a new one in proportion to `alpha`.
//!
//! `alpha` is not given but drawn, on a grid, which takes the constant: `Z_n` is a sum over all partitions, and with `B_m = Z_m / m!`
//!
//! ```text
//! m B_m = sum_{j=1..m} alpha (j - 1)!^power / (j - 1)! B_{m-j},   B_0 = 1.
//! ```
//!
//! `O(n^2)` an `alpha`, once; where the terms have died out they are not added, so in practice far less.

use super::matrix::pick;
use crate::Stream;

/// The values that `alpha` may have: equal steps of its logarithm, all alike beforehand.
const FROM: f64 = 0.25;
const STEP: f64 = std::f64::consts::SQRT_2;
const VALUES: usize = 20;

/// Terms below this share of the largest are not added.
const NEGLIGIBLE: f64 = -60.0;

/// The prior for `n` objects, with what drawing `alpha` takes.
#[derive(Clone, Debug)]
pub(super) struct PartitionPrior {
    power: f64,
    /// `alpha` and `ln Z_n`.
    table: Vec<(f64, f64)>,
    /// `n^power`.
    join: Vec<f64>,
    /// `ln (n - 1)!`.
    ln_factorial: Vec<f64>,
}

impl PartitionPrior {
    /// `alpha` fixed, or drawn when not given.
    pub(super) fn new(n: usize, power: f64, alpha: Option<f64>) -> Self {
        let ln_factorial: Vec<f64> = (0..=n + 1).map(|size| libm::lgamma(size.max(1) as f64)).collect();
        let join = (0..=n).map(|size| libm::pow(size as f64, power)).collect();
        let values = match alpha {
            Some(alpha) => vec![alpha],
            None => (0..VALUES).map(|v| FROM * STEP.powi(v as i32)).collect(),
        };
        let mut prior = Self { power, table: Vec::new(), join, ln_factorial };
        prior.table = values.into_iter().map(|alpha| (alpha, prior.ln_constant(n, alpha))).collect();
        prior
    }

    /// `ln Z_n`.
    fn ln_constant(&self, n: usize, alpha: f64) -> f64 {
        let ln_alpha = libm::log(alpha);
        // alpha (j - 1)!^(power - 1)
        let term: Vec<f64> = (0..=n).map(|j| ln_alpha + (self.power - 1.0) * self.ln_factorial[j]).collect();
        let mut b = vec![0.0; n + 1];
        for m in 1..=n {
            // The terms rise and fall once in j, so the sum stops where they have died out.
            let (mut most, mut values) = (f64::NEG_INFINITY, Vec::new());
            for j in 1..=m {
                let value = term[j] + b[m - j];
                most = most.max(value);
                values.push(value);
                if value < most + NEGLIGIBLE {
                    break;
                }
            }
            let sum: f64 = values.iter().map(|v| libm::exp(v - most)).sum();
            b[m] = most + libm::log(sum) - libm::log(m as f64);
        }
        b[n] + libm::lgamma(n as f64 + 1.0)
    }

    /// The `alpha` to begin with: the middle one.
    pub(super) fn first_alpha(&self) -> f64 {
        self.table[self.table.len() / 2].0
    }

    /// The values that `alpha` may have.
    #[cfg(test)]
    pub(super) fn alphas(&self) -> impl Iterator<Item = f64> + '_ {
        self.table.iter().map(|(alpha, _)| *alpha)
    }

    /// The weight of joining a cluster of `size`.
    pub(super) fn join(&self, size: usize) -> f64 {
        self.join[size]
    }

    /// The weights of joining a cluster, by its size.
    pub(super) fn joins(&self) -> &[f64] {
        &self.join
    }

    /// `ln p(partition)` for these sizes, constant left out.
    pub(super) fn ln_weight(&self, sizes: impl Iterator<Item = usize>, alpha: f64) -> f64 {
        let ln_alpha = libm::log(alpha);
        sizes.map(|size| ln_alpha + self.power * self.ln_factorial[size]).sum()
    }

    /// Draws `alpha` given the sizes of the clusters.
    pub(super) fn draw_alpha(&self, clusters: usize, rng: &mut Stream) -> f64 {
        if self.table.len() == 1 {
            return self.table[0].0;
        }
        let ln: Vec<f64> =
            self.table.iter().map(|(alpha, z)| clusters as f64 * libm::log(*alpha) - z).collect();
        let most = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = ln.iter().map(|v| libm::exp(v - most)).collect();
        self.table[pick(&weights, weights.iter().sum(), rng)].0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::testing::all_partitions;

    fn sizes(labels: &[u32]) -> Vec<usize> {
        let k = labels.iter().max().map_or(0, |most| *most as usize + 1);
        (0..k).map(|l| labels.iter().filter(|x| **x as usize == l).count()).collect()
    }

    #[test]
    fn the_constant_is_the_sum_over_all_partitions() {
        for (n, power, alpha) in [(1, 0.5, 2.0), (4, 1.0, 1.5), (6, 0.5, 3.0), (7, 0.0, 0.7)] {
            let prior = PartitionPrior::new(n, power, Some(alpha));
            let sum: f64 = all_partitions(n, n as u32)
                .iter()
                .map(|labels| prior.ln_weight(sizes(labels).into_iter(), alpha).exp())
                .sum();
            assert!((prior.table[0].1 - sum.ln()).abs() < 1e-12, "{n} {power} {alpha}");
        }
    }

    #[test]
    fn power_one_is_the_dirichlet_process() {
        // Z_n = alpha (alpha + 1) ... (alpha + n - 1).
        let (n, alpha) = (300, 7.5);
        let rising = libm::lgamma(alpha + f64::from(n)) - libm::lgamma(alpha);
        let prior = PartitionPrior::new(n as usize, 1.0, Some(alpha));
        assert!((prior.table[0].1 - rising).abs() < 1e-9, "{} {rising}", prior.table[0].1);
    }
}
