//! Scores: how well two groupings of the same objects agree.
//!
//! Every score is a function of one [`Contingency`] table: how many objects lie in predicted
//! cluster `k` and true cluster `l`. NMI and F are the paper's own (section 4.2, "Evaluation
//! metrics"). The others are the usual ones, with scikit-learn's definitions and conventions for
//! degenerate groupings.
//!
//! | score | of | range | symmetric |
//! |---|---|---|---|
//! | NMI | `2 I / (H1 + H2)` | 0 to 1 | yes |
//! | F | `sum over l of n_l/n max over k of 2 n_kl / (n_k + n_l)` | above 0, to 1 | no |
//! | ARI | pairs of objects, less what chance gives | -1/2 to 1 | yes |
//! | AMI | `(I - E I) / ((H1 + H2)/2 - E I)` | at most 1, near 0 by chance | yes |
//! | homogeneity | `I / H(truth)` | 0 to 1 | the completeness with the sides swapped |
//! | completeness | `I / H(predicted)` | 0 to 1 | the homogeneity with the sides swapped |
//! | V | harmonic mean of the last two; the same number as NMI | 0 to 1 | yes |
//! | purity | share of objects in the commonest true cluster of their own cluster | above 0, to 1 | no |
//!
//! # Degenerate groupings
//! Two equal groupings score exactly 1 everywhere, even if both are a single cluster or all
//! singletons. A single cluster against several carries no information: NMI, AMI, V and ARI are 0;
//! of homogeneity and completeness, the one whose entropy is 0 is 1. No objects at all is an error,
//! never a NaN.

mod contingency;
mod convergence;

pub use contingency::Contingency;
pub use convergence::{Convergence, eta1, eta2, eta3};

/// All scores of a predicted grouping against the true one.
///
/// ```
/// use goc::metrics::Scores;
/// let scores = Scores::of(&[0u32, 0, 1, 1], &["a", "a", "b", "c"])?;
/// assert_eq!(scores.completeness, 1.0);
/// assert!((scores.nmi - 0.8).abs() < 1e-15);
/// assert!((scores.ari - 4.0 / 7.0).abs() < 1e-15);
/// # Ok::<(), goc::metrics::MetricsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scores {
    /// Normalised mutual information, `2 I / (H1 + H2)`.
    pub nmi: f64,
    /// The paper's F-measure.
    pub f: f64,
    /// Adjusted Rand index.
    pub ari: f64,
    /// Adjusted mutual information, arithmetic mean of the entropies.
    pub ami: f64,
    /// 1 when each predicted cluster contains members of one true cluster only.
    pub homogeneity: f64,
    /// 1 when each true cluster lies within one predicted cluster.
    pub completeness: f64,
    /// Harmonic mean of homogeneity and completeness.
    pub v_measure: f64,
    /// The share of objects in the most common true cluster of their predicted cluster.
    pub purity: f64,
}

impl Scores {
    /// All scores in the order of the fields, for storage.
    pub fn values(&self) -> [f64; 8] {
        let Self { nmi, f, ari, ami, homogeneity, completeness, v_measure, purity } = *self;
        [nmi, f, ari, ami, homogeneity, completeness, v_measure, purity]
    }

    /// The scores from the values returned by [`Self::values`].
    pub fn from_values(values: [f64; 8]) -> Self {
        let [nmi, f, ari, ami, homogeneity, completeness, v_measure, purity] = values;
        Self { nmi, f, ari, ami, homogeneity, completeness, v_measure, purity }
    }

    /// Computes all scores of `predicted` against `truth`; labels may be of any ordered type.
    pub fn of<P: Copy + Ord, T: Copy + Ord>(predicted: &[P], truth: &[T]) -> Result<Self, MetricsError> {
        Ok(Contingency::new(predicted, truth)?.scores())
    }
}

/// Normalised mutual information of two groupings (paper, section 4.2).
///
/// ```
/// assert_eq!(goc::metrics::nmi(&[0, 0, 1], &[5, 5, 3])?, 1.0);
/// # Ok::<(), goc::metrics::MetricsError>(())
/// ```
pub fn nmi<A: Copy + Ord, B: Copy + Ord>(a: &[A], b: &[B]) -> Result<f64, MetricsError> {
    Ok(Contingency::new(a, b)?.nmi())
}

/// Mean and standard deviation (n - 1) of scores over several runs; the deviation of a single value
/// is 0.
///
/// ```
/// assert_eq!(goc::metrics::mean_and_deviation(&[1.0, 2.0, 3.0]), (2.0, 1.0));
/// ```
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    (mean, if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 })
}

/// Why a score cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricsError {
    /// The two groupings are of a different number of objects.
    #[error("{first} labels cannot be compared with {second}: both must label the same objects")]
    LengthsDiffer {
        /// Labels (or points) on the first side.
        first: usize,
        /// Labels (or points) on the second side.
        second: usize,
    },
    /// No objects.
    #[error("there are no objects to score")]
    Empty,
    /// Representatives of different dimension.
    #[error("representatives of {first} features cannot be compared with those of {second}")]
    FeaturesDiffer {
        /// Features of the first.
        first: usize,
        /// Features of the second.
        second: usize,
    },
    /// eta3 divides by the final NMI.
    #[error("the final labels share no information with the truth, so eta3 is not defined")]
    FinalWithoutInformation,
}

#[cfg(test)]
mod tests;
