//! Clustering by divergences between densities fitted to the sets (Jiang, Pei, Tao & Lin 2013).
//!
//! The candidates of an object are treated as draws from a density `p_i`. Two objects are similar
//! if their densities are: the dissimilarity is the Kullback-Leibler divergence in both directions,
//!
//! `J(i, j) = integral of (p_i - p_j) ln(p_i / p_j) = KL(p_i || p_j) + KL(p_j || p_i)`,
//!
//! and affinity propagation, k-medoids or linkage then clusters the objects ([`Clusterer`]). The
//! [`Density`] is a Gaussian, with `J` in closed form (`gaussian.rs`, O(n m q^2 + n q^3 + n^2
//! q^2)), or a kernel density, with `J` estimated over the candidates (`kernel_density.rs`, O(n^2
//! m^2 q)). The other density distance in the literature, the expected distance between a draw from
//! each density, is s1 of [`crate::set_distance`].
//!
//! # Regularisation
//! A set of one candidate, or on a line, has no density. So each set's covariance is shrunk towards
//! what the sets have in common,
//!
//! `(1 - share) S_i + share D`,
//!
//! where `S_i` is the set's own covariance (divisor m - 1, zero for one candidate) and `D` is
//! diagonal: for each feature the mean variance within the sets; if that is zero, the variance of
//! the sets' means; if that is zero too, 1. The kernel density uses the diagonal of the result for
//! its bandwidths. Penalties are ignored.

mod gaussian;
mod kernel_density;
#[cfg(test)]
mod tests;

use super::clusterer::{Clusterer, not_computed};
use super::{Grouped, Method, MethodError, Result, Tick};
use crate::Candidates;
use crate::oracle::dissimilarities::Dissimilarities;

/// The density fitted to each set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Density {
    /// One Gaussian with full covariance.
    #[default]
    Gaussian,
    /// A Gaussian product kernel on each candidate, with bandwidths by Silverman's rule.
    Kernel,
}

/// A divergence of densities and the method that clusters by it.
///
/// ```
/// use goc::baselines::{Method, clusterer::Clusterer, kl::{Density, DensityClustering}};
/// use goc::candidates::CandidatesBuilder;
/// use goc::oracle::linkage::Linkage;
/// let mut builder = CandidatesBuilder::new(1);
/// for set in [[0.0, 1.0, 2.0], [0.5, 1.0, 1.6], [7.0, 8.0, 9.0]] {
///     builder.push(&set, &[])?;
/// }
/// let method = DensityClustering::new(
///     Density::Gaussian,
///     Clusterer::Linkage { linkage: Linkage::default(), k: 2 },
/// );
/// assert_eq!(method.name(), "linkage-kl");
/// assert_eq!(method.group(&builder.build()?, 1)?.partition.labels(), [0, 0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DensityClustering {
    density: Density,
    share: f64,
    clusterer: Clusterer,
}

impl DensityClustering {
    /// With a shrinkage of 0.01 towards what the sets have in common.
    pub fn new(density: Density, clusterer: Clusterer) -> Self {
        Self { density, share: 0.01, clusterer }
    }

    /// The shrinkage of the covariance towards what the sets have in common, 0 to 1.
    pub fn share(mut self, share: f64) -> Self {
        self.share = share;
        self
    }

    fn static_name(&self) -> &'static str {
        match (&self.clusterer, self.density) {
            (Clusterer::Affinity(_), Density::Gaussian) => "affinity-kl",
            (Clusterer::Affinity(_), Density::Kernel) => "affinity-kde",
            (Clusterer::KMedoids { .. }, Density::Gaussian) => "k-medoids-kl",
            (Clusterer::KMedoids { .. }, Density::Kernel) => "k-medoids-kde",
            (Clusterer::Linkage { .. }, Density::Gaussian) => "linkage-kl",
            (Clusterer::Linkage { .. }, Density::Kernel) => "linkage-kde",
        }
    }

    /// The divergence `J` of every pair of objects' densities (dimensionless; features as scaled).
    pub fn divergences(&self, candidates: &Candidates) -> Result<Dissimilarities> {
        let method = self.static_name();
        if !(0.0..=1.0).contains(&self.share) {
            let (value, must) = (self.share, "from 0 to 1");
            return Err(MethodError::Parameter { method, name: "share", value, must });
        }
        let common = common_variances(candidates);
        let values = match self.density {
            Density::Gaussian => gaussian::divergences(candidates, self.share, &common),
            Density::Kernel => kernel_density::divergences(candidates, self.share, &common),
        };
        let flat = |object: usize| MethodError::Failed {
            method,
            reason: format!(
                "object {object}: its candidates have no density; raise the share or scale the features"
            ),
        };
        Dissimilarities::from_condensed(values.map_err(flat)?).map_err(|e| not_computed(method, &e))
    }
}

impl Method for DensityClustering {
    fn name(&self) -> &str {
        self.static_name()
    }

    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        self.clusterer.check(candidates)?;
        Ok(self.clusterer.group(self.divergences(candidates)?, seed)?)
    }
}

/// Mean and sum of squares about it.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, values.iter().map(|v| (v - mean) * (v - mean)).sum())
}

/// With divisor m - 1; zero for one value.
fn variance(values: &[f64]) -> f64 {
    moments(values).1 / (values.len().max(2) - 1) as f64
}

/// The diagonal of `D`, see the top of this module.
fn common_variances(candidates: &Candidates) -> Vec<f64> {
    let n = candidates.objects();
    let means = candidates.means();
    (0..candidates.features())
        .map(|f| {
            let within = (0..n).map(|i| variance(candidates.feature(i, f))).sum::<f64>() / n as f64;
            let column: Vec<f64> = means.rows().map(|row| row[f]).collect();
            let between = variance(&column);
            match (within > 0.0, between > 0.0) {
                (true, _) => within,
                (_, true) => between,
                _ => 1.0,
            }
        })
        .collect()
}
