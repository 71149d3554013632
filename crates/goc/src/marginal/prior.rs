//! The prior on partitions: the number of clusters and their sizes.
//!
//! A product partition model with the cohesion
//!
//! ```text
//! p(partition) = (1 / Z_n) prod_k alpha c(n_k),   c(1) = s,   c(n) = ((n - 1)!)^power
//! ```
//!
//! It is exchangeable for every power, because it depends on the sizes alone. Power 1 (with `s` 1)
//! is the Dirichlet process, in which large clusters attract everything. With a power below 1 sizes
//! stay similar, which suits many groups of a few objects but rules out groups of hundreds. The
//! power is therefore drawn too, as 1/2 or 1. (Powers in between were tried: chains get stuck there
//! on their way from one to the other.) An object joins a cluster of `n` in proportion to `n^power`
//! (a singleton to `1 / s`) and a new one in proportion to `alpha s`. So `alpha` controls how many
//! groups there are, and the singleton weight `s` how many objects belong to none.
//!
//! Whatever is not given is drawn on a grid, which requires the normalising constant: `Z_n` is a
//! sum over all partitions, and with `B_m = Z_m / m!`
//!
//! ```text
//! m B_m = sum_{j=1..m} alpha c(j) / (j - 1)! B_{m-j},   B_0 = 1.
//! ```
//!
//! This takes `O(n^2)` per grid point, once. Negligible terms are skipped, so in practice it costs
//! far less. For the Dirichlet process, where the terms do not become negligible, the sum has a
//! closed form: `Z_n = alpha (alpha + 1) ... (alpha + n - 1)`.

use rayon::prelude::*;

use super::matrix::pick;
use crate::Stream;

/// The powers that may be drawn.
const POWERS: [f64; 2] = [0.5, 1.0];

/// The smallest value that `alpha` may take when sizes stay similar; the grid is logarithmic, with
/// equal prior probabilities. With smaller values allowed too, the probabilities reported on mock
/// sets were overconfident.
const FROM: f64 = 2.0;
/// The same for the Dirichlet process, where 2 would mean some fifteen clusters of a thousand
/// objects.
const FROM_ONE: f64 = 0.125;
const STEP: f64 = std::f64::consts::SQRT_2;
const VALUES: usize = 22;

/// The values that the singleton weight may take.
const SINGLETON_WEIGHTS: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// Terms whose logarithm is this far below the largest are not added.
const NEGLIGIBLE: f64 = -60.0;

/// Which parameters of the prior are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cohesion {
    pub(super) alpha: f64,
    pub(super) singleton_weight: f64,
    pub(super) power: f64,
}

/// The prior for `n` objects, with the tables needed to draw its [`Cohesion`].
#[derive(Clone, Debug)]
pub(super) struct PartitionPrior {
    n: usize,
    /// Each with `ln Z_m` for every number `m` of grouped objects.
    table: Vec<(Cohesion, Vec<f64>)>,
    /// `ln (n - 1)!`.
    ln_factorial: Vec<f64>,
}

impl PartitionPrior {
    /// Fixes what is given, and draws the rest.
    pub(super) fn new(
        n: usize,
        power: Option<f64>,
        alpha: Option<f64>,
        singleton_weight: Option<f64>,
    ) -> Self {
        let ln_factorial: Vec<f64> = (0..=n + 1).map(|size| libm::lgamma(size.max(1) as f64)).collect();
        let powers = power.map_or_else(|| POWERS.to_vec(), |p| vec![p]);
        let singles = singleton_weight.map_or_else(|| SINGLETON_WEIGHTS.to_vec(), |s| vec![s]);
        let mut grid = Vec::new();
        for power in powers {
            let from = if power == 1.0 { FROM_ONE } else { FROM };
            let alphas =
                alpha.map_or_else(|| (0..VALUES).map(|v| from * STEP.powi(v as i32)).collect(), |a| vec![a]);
            for alpha in alphas {
                grid.extend(singles.iter().map(|&singleton_weight| Cohesion {
                    alpha,
                    singleton_weight,
                    power,
                }));
            }
        }
        let mut prior = Self { n, table: Vec::new(), ln_factorial };
        prior.table =
            grid.into_par_iter().map(|cohesion| (cohesion, prior.ln_constants(n, cohesion))).collect();
        prior
    }

    /// `ln Z_m` for `m` from 0 to `n`.
    fn ln_constants(&self, n: usize, cohesion: Cohesion) -> Vec<f64> {
        let Cohesion { alpha, singleton_weight, power } = cohesion;
        if power == 1.0 && singleton_weight == 1.0 {
            return (0..=n).map(|m| libm::lgamma(alpha + m as f64) - libm::lgamma(alpha)).collect();
        }
        let ln_alpha = libm::log(alpha);
        // alpha (j - 1)!^(power - 1)
        let mut term: Vec<f64> = (0..=n).map(|j| ln_alpha + (power - 1.0) * self.ln_factorial[j]).collect();
        if let Some(first) = term.get_mut(1) {
            *first += libm::log(singleton_weight);
        }
        let mut b = vec![0.0; n + 1];
        let mut values = Vec::new();
        for m in 1..=n {
            // All terms but the first rise and then fall in j, so the sum stops once they are
            // negligible.
            let mut most = f64::NEG_INFINITY;
            values.clear();
            for j in 1..=m {
                let value = term[j] + b[m - j];
                most = most.max(value);
                values.push(value);
                if j > 2 && value < most + NEGLIGIBLE {
                    break;
                }
            }
            let sum: f64 = values.iter().map(|v| libm::exp(v - most)).sum();
            b[m] = most + libm::log(sum) - libm::log(m as f64);
        }
        b.iter().zip(1..).map(|(b, next)| b + libm::lgamma(f64::from(next))).collect()
    }

    /// The initial value: the middle of the grid.
    pub(super) fn first(&self) -> Cohesion {
        self.table[self.table.len() / 2].0
    }

    /// All values that may be drawn.
    #[cfg(test)]
    pub(super) fn grid(&self) -> Vec<Cohesion> {
        self.table.iter().map(|(cohesion, _)| *cohesion).collect()
    }

    /// `ln Z_m` by the number of grouped objects.
    pub(super) fn constants(&self, cohesion: Cohesion) -> &[f64] {
        self.table.iter().find(|(own, _)| *own == cohesion).map_or(&[], |(_, ln)| ln)
    }

    /// The weights of joining a cluster, indexed by its size.
    pub(super) fn joins(&self, cohesion: Cohesion) -> Vec<f64> {
        let mut joins: Vec<f64> = (0..=self.n).map(|size| libm::pow(size as f64, cohesion.power)).collect();
        if let Some(one) = joins.get_mut(1) {
            *one = 1.0 / cohesion.singleton_weight;
        }
        joins
    }

    /// `ln p(partition)` for these sizes, up to a constant.
    pub(super) fn ln_weight(&self, sizes: impl Iterator<Item = usize>, cohesion: Cohesion) -> f64 {
        let (ln_alpha, ln_single) = (libm::log(cohesion.alpha), libm::log(cohesion.singleton_weight));
        let of = |size| if size == 1 { ln_single } else { cohesion.power * self.ln_factorial[size] };
        sizes.map(|size| ln_alpha + of(size)).sum()
    }

    /// Draws new values given the sizes of the clusters.
    pub(super) fn draw(&self, sizes: impl Iterator<Item = usize>, rng: &mut Stream) -> Cohesion {
        if self.table.len() == 1 {
            return self.table[0].0;
        }
        let (mut clusters, mut singles, mut factorials, mut grouped) = (0.0, 0.0, 0.0, 0);
        for size in sizes {
            clusters += 1.0;
            grouped += size;
            match size {
                1 => singles += 1.0,
                _ => factorials += self.ln_factorial[size],
            }
        }
        let ln_of = |(cohesion, z): &(Cohesion, Vec<f64>)| {
            clusters * libm::log(cohesion.alpha)
                + singles * libm::log(cohesion.singleton_weight)
                + cohesion.power * factorials
                - z[grouped]
        };
        let ln: Vec<f64> = self.table.iter().map(ln_of).collect();
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
        for (n, power, alpha, singleton_weight) in [
            (1, 0.5, 2.0, 4.0),
            (4, 1.0, 1.5, 1.0),
            (4, 1.0, 1.5, 0.5),
            (6, 0.5, 3.0, 1.0),
            (7, 0.3, 0.7, 9.0),
        ] {
            let prior = PartitionPrior::new(n, Some(power), Some(alpha), Some(singleton_weight));
            let cohesion = Cohesion { alpha, singleton_weight, power };
            let sum: f64 = all_partitions(n, n as u32)
                .iter()
                .map(|labels| prior.ln_weight(sizes(labels).into_iter(), cohesion).exp())
                .sum();
            assert!((prior.table[0].1[n] - sum.ln()).abs() < 1e-12, "{n} {power} {alpha}");
        }
    }

    #[test]
    fn power_one_is_the_dirichlet_process_and_powers_near_it_come_near() {
        let (n, alpha) = (300, 7.5);
        let rising: f64 = (0..n).map(|i| (alpha + f64::from(i)).ln()).sum();
        let prior = PartitionPrior::new(n as usize, Some(1.0), Some(alpha), Some(1.0));
        assert!((prior.table[0].1[300] - rising).abs() < 1e-9, "{} {rising}", prior.table[0].1[300]);
        let near = PartitionPrior::new(n as usize, Some(1.0 - 1e-9), Some(alpha), Some(1.0));
        assert!((near.table[0].1[300] - rising).abs() < 1e-5, "{} {rising}", near.table[0].1[300]);
    }
}
