//! The field: objects that belong to no group.
//!
//! Of `n` objects `n_f` are field. Half of the prior says that none is; the other half, that every
//! share of them is as likely as any other:
//!
//! ```text
//! p(field objects) = 1/2 [n_f = 0] + 1/2 B(n_f + 1, n - n_f + 1).
//! ```
//!
//! A field object lies somewhere in a smooth density, a mixture of some that are known before the
//! chains begin ([`super::smooth`]), with shares `pi` and a width of the kernels that are drawn. So it has no place of its own that
//! others depend on: its candidates are summed over, and what is kept of it is that it is field.

use rand_distr::{Distribution, Gamma};

use super::matrix::pick;
use crate::Stream;

/// The prior of who is field, for `n` objects, and what the field's densities say of each.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// The logarithm of that probability, by the number of field objects.
    ln_share: Vec<f64>,
    /// How smooth it may be, from the narrowest kernels on; all alike beforehand.
    levels: Vec<Level>,
    /// The Dirichlet prior of the densities' shares.
    prior: Vec<f64>,
}

/// The field's densities with kernels of one width.
#[derive(Clone, Debug)]
pub(super) struct Level {
    /// Under every law of the errors and for every object, the sum over its candidates of weight and
    /// each density.
    pub(super) sums: Vec<Vec<f64>>,
    /// How wide groups may be beside it.
    pub(super) narrow: Narrowness,
    /// The logarithm of how likely it is beforehand, beside others.
    pub(super) ln_prior: f64,
}

/// How wide a group may be beside a field: the mean square distance of its members from their mean,
/// in the metric of the objects' covariance `C` and for each feature, is at most that of the
/// field's kernels. What is wider the field describes as well, and could not be told from it.
#[derive(Clone, Debug)]
pub(super) struct Narrowness {
    /// `C^-1`, row after row.
    inverse: Vec<f64>,
    /// The most that it may be, times the features.
    most: f64,
}

impl Narrowness {
    /// At most `most` in the metric with this inverse.
    pub(super) fn new(inverse: Vec<f64>, most: f64, features: usize) -> Self {
        Self { inverse, most: most * features as f64 }
    }

    /// Any width.
    pub(super) fn any() -> Self {
        Self { inverse: Vec::new(), most: f64::INFINITY }
    }

    /// Whether so many members with this scatter are narrow enough.
    pub(super) fn holds(&self, size: usize, scatter: &[f64]) -> bool {
        let sum: f64 = self.inverse.iter().zip(scatter).map(|(a, b)| a * b).sum();
        size < 2 || sum <= self.most * (size - 1) as f64
    }
}

impl Field {
    /// With these logarithms of how likely no field and a field are beforehand. Levels have the sums of
    /// each object in each of so many densities, object after object.
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

    /// None at all, for `n` objects.
    pub(super) fn none(n: usize) -> Self {
        let level = Level { sums: vec![vec![0.0; n]], narrow: Narrowness::any(), ln_prior: 0.0 };
        Self::new(n, 0.0, f64::NEG_INFINITY, vec![level], vec![1.0])
    }

    /// Whether there may be a field.
    pub(super) fn is_open(&self) -> bool {
        self.ln_share.get(1).is_some_and(|ln| *ln > f64::NEG_INFINITY)
    }

    /// `ln p` of any so many objects being the field ones.
    pub(super) fn ln_share(&self, field: usize) -> f64 {
        self.ln_share[field]
    }

    /// How smooth it may be.
    pub(super) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The sums of object `i`, one for each density.
    fn sums(&self, law: usize, level: usize, i: usize) -> &[f64] {
        &self.levels[level].sums[law][i * self.prior.len()..(i + 1) * self.prior.len()]
    }

    /// The sum of object `i` in the field with these shares.
    pub(super) fn sum(&self, law: usize, level: usize, i: usize, shares: &[f64]) -> f64 {
        self.sums(law, level, i).iter().zip(shares).map(|(sum, share)| sum * share).sum()
    }

    /// What is expected of the shares: what to begin with.
    pub(super) fn first(&self) -> Vec<f64> {
        let total: f64 = self.prior.iter().sum();
        self.prior.iter().map(|v| v / total).collect()
    }

    /// Draws the shares anew given who is field: by way of a density for each of them. Returns
    /// them, and a lower bound (in the mean) of what the members have with the shares integrated out:
    /// `ln p` of the densities drawn and of the members in them, with the entropy of that draw.
    pub(super) fn draw(
        &self,
        law: usize,
        level: usize,
        members: impl Iterator<Item = usize>,
        shares: &[f64],
        rng: &mut Stream,
    ) -> (Vec<f64>, f64) {
        let mut counts = self.prior.clone();
        let mut weights = vec![0.0; self.prior.len()];
        let mut ln = 0.0;
        for i in members {
            let sums = self.sums(law, level, i);
            for (weight, (sum, share)) in weights.iter_mut().zip(sums.iter().zip(shares)) {
                *weight = sum * share;
            }
            let total: f64 = weights.iter().sum();
            let at = pick(&weights, total, rng);
            counts[at] += 1.0;
            ln += libm::log(total / shares[at]);
        }
        // The densities drawn, by Polya's urn.
        let ln_urn = |counts: &[f64]| {
            counts.iter().map(|c| libm::lgamma(*c)).sum::<f64>() - libm::lgamma(counts.iter().sum())
        };
        ln += ln_urn(&counts) - ln_urn(&self.prior);
        // A Dirichlet draw: gamma variates over their sum.
        let drawn: Vec<f64> =
            counts.iter().map(|count| Gamma::new(*count, 1.0).map_or(0.0, |law| law.sample(rng))).collect();
        let total: f64 = drawn.iter().sum();
        (if total > 0.0 { drawn.iter().map(|v| v / total).collect() } else { shares.to_vec() }, ln)
    }
}

/// An index drawn in proportion to weights of which the logarithms are given.
pub(super) fn pick_ln(ln: &[f64], rng: &mut Stream) -> usize {
    let most = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = ln.iter().map(|v| libm::exp(v - most)).collect();
    pick(&weights, weights.iter().sum(), rng)
}
