//! The field: objects that belong to no group.
//!
//! Of `n` objects `n_f` are in the field. Half of the prior probability says that none are; under
//! the other half, all shares of field objects are equally likely:
//!
//! ```text
//! p(field objects) = 1/2 [n_f = 0] + 1/2 B(n_f + 1, n - n_f + 1).
//! ```
//!
//! A field object is drawn from a smooth density, a mixture of densities that are fixed before the
//! chains start ([`super::smooth`]); the mixture shares `pi` and the kernel width are drawn. A
//! field object thus has no position that others depend on: its candidates are summed over, and
//! only its membership in the field is kept.

use rand::seq::SliceRandom;
use rand_distr::{Distribution, Gamma};

use super::matrix::pick;
use super::sums::{FieldSums, Row};
use crate::Stream;

/// The prior on which objects are in the field, for `n` objects, and the field's densities at each.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// The logarithm of that probability, by the number of field objects.
    ln_share: Vec<f64>,
    /// The possible smoothness levels, from the narrowest kernels on, with equal prior
    /// probabilities.
    levels: Vec<Level>,
    /// The Dirichlet prior of the densities' shares.
    prior: Vec<f64>,
}

/// The field's densities with kernels of one width.
#[derive(Clone, Debug)]
pub(super) struct Level {
    /// For every error model, the sums over each object's candidates of weight times density.
    pub(super) sums: Vec<FieldSums>,
    /// The limit on the width of groups in the presence of this field.
    pub(super) narrow: Narrowness,
    /// The log prior probability relative to the other levels.
    pub(super) ln_prior: f64,
}

/// The limit on the width of a group when there is a field: the mean square distance of its members
/// from their mean, in the metric of the objects' covariance `C` and per feature, is at most that
/// of the field's kernels. The field describes anything wider equally well, so the two could not be
/// distinguished.
#[derive(Clone, Debug)]
pub(super) struct Narrowness {
    /// `C^-1`, in row-major order.
    inverse: Vec<f64>,
    /// The upper limit, times the number of features.
    most: f64,
}

impl Narrowness {
    /// At most `most` in the metric with this inverse.
    pub(super) fn new(inverse: Vec<f64>, most: f64, features: usize) -> Self {
        Self { inverse, most: most * features as f64 }
    }

    /// No limit on the width.
    pub(super) fn any() -> Self {
        Self { inverse: Vec::new(), most: f64::INFINITY }
    }

    /// Whether this many members with this scatter are narrow enough.
    pub(super) fn holds(&self, size: usize, scatter: &[f64]) -> bool {
        let sum: f64 = self.inverse.iter().zip(scatter).map(|(a, b)| a * b).sum();
        size < 2 || sum <= self.most * (size - 1) as f64
    }
}

impl Field {
    /// With these log prior probabilities of no field and of a field. Levels hold the sums of each
    /// object in each density, object after object.
    pub(super) fn new(n: usize, ln_none: f64, ln_some: f64, levels: Vec<Level>, prior: Vec<f64>) -> Self {
        let ln_beta = |a: f64, b: f64| libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
        let ln_share = (0..=n)
            .map(|field| {
                let ln_some = ln_some + ln_beta(field as f64 + 1.0, (n - field) as f64 + 1.0);
                match field {
                    0 => ln_none.max(ln_some) + libm::log1p(libm::exp(-(ln_none - ln_some).abs())),
                    _ => ln_some,
                }
            })
            .collect();
        Self { ln_share, levels, prior }
    }

    /// No field, for `n` objects.
    pub(super) fn none(n: usize) -> Self {
        let mut sums = FieldSums::new();
        (0..n).for_each(|_| sums.push(&[], 0.0));
        let level = Level { sums: vec![sums], narrow: Narrowness::any(), ln_prior: 0.0 };
        Self::new(n, 0.0, f64::NEG_INFINITY, vec![level], vec![1.0])
    }

    /// Whether there may be a field.
    pub(super) fn is_open(&self) -> bool {
        self.ln_share.get(1).is_some_and(|ln| *ln > f64::NEG_INFINITY)
    }

    /// `ln p` of a particular set of this many objects being the field.
    pub(super) fn ln_share(&self, field: usize) -> f64 {
        self.ln_share[field]
    }

    /// The possible smoothness levels.
    pub(super) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The sums of object `i`.
    fn sums(&self, law: usize, level: usize, i: usize) -> Row<'_> {
        self.levels[level].sums[law].of(i)
    }

    /// The sum of object `i` in the field with these shares.
    pub(super) fn sum(&self, law: usize, level: usize, i: usize, shares: &[f64]) -> f64 {
        self.sums(law, level, i).with(shares)
    }

    /// The expected shares, used as initial values.
    pub(super) fn first(&self) -> Vec<f64> {
        let total: f64 = self.prior.iter().sum();
        self.prior.iter().map(|v| v / total).collect()
    }

    /// Draws new shares given which objects are in the field, by drawing a density for each of
    /// them.
    pub(super) fn draw(
        &self,
        law: usize,
        level: usize,
        members: impl Iterator<Item = usize>,
        shares: &[f64],
        rng: &mut Stream,
    ) -> Vec<f64> {
        let mut counts = self.prior.clone();
        let mut weights = Vec::new();
        for i in members {
            let row = self.sums(law, level, i);
            let total = weigh(row, shares, &mut weights);
            if let Some(density) = row.density(pick(&weights, total, rng)) {
                counts[density] += 1.0;
            }
        }
        // A Dirichlet draw: gamma variates over their sum.
        let drawn: Vec<f64> =
            counts.iter().map(|count| Gamma::new(*count, 1.0).map_or(0.0, |law| law.sample(rng))).collect();
        let total: f64 = drawn.iter().sum();
        if total > 0.0 { drawn.iter().map(|v| v / total).collect() } else { shares.to_vec() }
    }

    /// `ln p` of the members with the shares integrated out, approximately: one member after
    /// another, each with the shares expected after those before it, where each of those counts
    /// towards every density with the probability that it came from there (Smith and Makov 1978).
    ///
    /// Every factor is a predictive density given those before it, so the product is a density too.
    /// Two orders of 2000 objects differ by about 10, whereas drawing one density for each object
    /// (Kong, Liu and Wong 1994) differs by 100 from run to run.
    pub(super) fn ln_marginal(
        &self,
        law: usize,
        level: usize,
        mut members: Vec<usize>,
        rng: &mut Stream,
    ) -> f64 {
        members.shuffle(rng);
        let mut counts = self.prior.clone();
        let first: f64 = counts.iter().sum();
        let mut weights = Vec::new();
        let mut ln = 0.0;
        for (before, i) in members.into_iter().enumerate() {
            let row = self.sums(law, level, i);
            let total = weigh(row, &counts, &mut weights);
            ln += libm::log(total / (first + before as f64));
            row.entries().zip(&weights).for_each(|((at, _), weight)| counts[at] += weight / total);
        }
        ln
    }
}

/// The weight of an object in each density times its share, and their sum.
fn weigh(row: Row<'_>, shares: &[f64], weights: &mut Vec<f64>) -> f64 {
    weights.clear();
    weights.extend(row.entries().map(|(at, sum)| sum * shares[at]));
    weights.iter().sum()
}

/// Draws an index in proportion to weights given as logarithms.
pub(super) fn pick_ln(ln: &[f64], rng: &mut Stream) -> usize {
    let most = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = ln.iter().map(|v| libm::exp(v - most)).collect();
    pick(&weights, weights.iter().sum(), rng)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    fn field(prior: &[f64], sums: &[f64]) -> Field {
        let n = sums.len() / prior.len();
        let level = Level {
            sums: vec![FieldSums::of_all(sums, prior.len())],
            narrow: Narrowness::any(),
            ln_prior: 0.0,
        };
        Field::new(n, libm::log(0.5), libm::log(0.5), vec![level], prior.to_vec())
    }

    /// `p` of all objects with the shares integrated out, summed over the densities each may come
    /// from.
    fn exact(field: &Field, counts: &mut [f64], i: usize, n: usize) -> f64 {
        if i == n {
            return 1.0;
        }
        let total: f64 = counts.iter().sum();
        let mut sum = 0.0;
        for k in 0..counts.len() {
            let own = field.sums(0, 0, i).entries().find(|(at, _)| *at == k).map_or(0.0, |(_, own)| own);
            let p = counts[k] / total * own;
            counts[k] += 1.0;
            sum += p * exact(field, counts, i + 1, n);
            counts[k] -= 1.0;
        }
        sum
    }

    #[test]
    fn the_shares_are_integrated_out() {
        let ln_of = |field: &Field, n: usize, seed: u64| {
            field.ln_marginal(0, 0, (0..n).collect(), &mut stream(seed, 0))
        };
        // If the density from which each object comes is known, it is exact.
        let known = field(&[0.5, 2.0], &[3.0, 0.0, 0.0, 1.5, 2.0, 0.0, 0.7, 0.0]);
        let want = libm::log(exact(&known, &mut known.prior.clone(), 0, 4));
        assert!((ln_of(&known, 4, 1) - want).abs() < 1e-12);
        // Otherwise approximate, for any order.
        let sums: Vec<f64> = (0..24).map(|v| 0.2 + f64::from(v * 7 % 11)).collect();
        let open = field(&[1.0, 0.3, 0.1], &sums);
        let want = libm::log(exact(&open, &mut open.prior.clone(), 0, 8));
        for seed in 0..20 {
            let found = ln_of(&open, 8, seed);
            assert!((found - want).abs() < 0.5, "{found} {want}");
        }
    }
}
