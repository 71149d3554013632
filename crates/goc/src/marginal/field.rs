//! The field: objects that belong to no group.
//!
//! Of `n` objects `n_f` are field. Half of the prior says that none is; the other half, that every
//! share of them is as likely as any other:
//!
//! ```text
//! p(field objects) = 1/2 [n_f = 0] + 1/2 B(n_f + 1, n - n_f + 1).
//! ```
//!
//! The field has components of its own, a Dirichlet process with readiness `alpha_f` to open them.
//! They are normal like groups, but as wide as the data: their covariances are expected to be the
//! data's own, robustly estimated, times a width that each component draws from a grid. So a dense
//! core and far outliers are both field, and nothing as narrow as a group is.

use super::matrix::pick;
use crate::Stream;

/// The values that `alpha_f` may have. Larger ones let the field swallow small groups.
const ALPHAS: [f64; 4] = [0.125, 0.25, 0.5, 1.0];

/// The prior of who is field, for `n` objects.
#[derive(Clone, Debug)]
pub(super) struct FieldPrior {
    /// The logarithm of that probability, by the number of field objects.
    ln_share: Vec<f64>,
    alphas: Vec<f64>,
}

impl FieldPrior {
    /// With a probability of `none` that there is no field at all; 1 rules it out.
    pub(super) fn new(n: usize, none: f64) -> Self {
        let ln_beta = |a: f64, b: f64| libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
        let ln_share = (0..=n)
            .map(|field| {
                let some = (1.0 - none) * libm::exp(ln_beta(field as f64 + 1.0, (n - field) as f64 + 1.0));
                match field {
                    0 => libm::log(none + some),
                    _ => libm::log(1.0 - none) + ln_beta(field as f64 + 1.0, (n - field) as f64 + 1.0),
                }
            })
            .collect();
        Self { ln_share, alphas: ALPHAS.to_vec() }
    }

    /// All that `alpha_f` may be.
    #[cfg(test)]
    pub(super) fn alphas(&self) -> &[f64] {
        &self.alphas
    }

    /// Whether there may be a field.
    pub(super) fn is_open(&self) -> bool {
        self.ln_share.get(1).is_some_and(|ln| *ln > f64::NEG_INFINITY)
    }

    /// `ln p` of any so many objects being the field ones.
    pub(super) fn ln_share(&self, field: usize) -> f64 {
        self.ln_share[field]
    }

    /// What to begin with.
    pub(super) fn first(&self) -> f64 {
        self.alphas[self.alphas.len() / 2]
    }

    /// Draws `alpha_f` anew given so many components of so many objects.
    pub(super) fn draw(&self, components: usize, objects: usize, rng: &mut Stream) -> f64 {
        let ln_of =
            |a: &f64| components as f64 * libm::log(*a) + libm::lgamma(*a) - libm::lgamma(a + objects as f64);
        let ln: Vec<f64> = self.alphas.iter().map(ln_of).collect();
        self.alphas[pick_ln(&ln, rng)]
    }
}

/// An index drawn in proportion to weights of which the logarithms are given.
pub(super) fn pick_ln(ln: &[f64], rng: &mut Stream) -> usize {
    let most = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = ln.iter().map(|v| libm::exp(v - most)).collect();
    pick(&weights, weights.iter().sum(), rng)
}
