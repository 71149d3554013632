//! What the marginal mixture finds.

use super::co_clustering::CoClustering;
use super::diagnostics::Diagnostics;
use super::errors::Errors;
use crate::{Partition, Points};

/// What the chains found.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// A single partition: the one with the least expected variation of information. An object in
    /// no group forms a cluster of its own; these clusters come last.
    pub partition: Partition,
    /// Which objects are in no group: if there is a field, those that are in it or alone. Empty if
    /// there is no field.
    pub in_no_group: Vec<bool>,
    /// Which objects are in no group because their label was withheld ([`Self::withhold`]); empty
    /// unless it was.
    pub withheld: Vec<bool>,
    /// How well each cluster is recovered: the mean over the draws of its Jaccard similarity to the
    /// most similar cluster.
    pub recurrence: Vec<f64>,
    /// The certainty of each object's label: the mean probability of being together with the other
    /// members of its cluster or, for an object in no group, of being in the field or alone.
    pub membership: Vec<f64>,
    /// The second-best cluster of each object, and the mean probability of being together with its
    /// members.
    pub runner_up: Vec<Option<(u32, f64)>>,
    /// The probability that an object is alone in its group.
    pub alone: Vec<f64>,
    /// The probability that the object is in the field.
    pub field: Vec<f64>,
    /// The probability that two objects are together.
    pub together: CoClustering,
    /// The probability of each number of clusters, ascending.
    pub k: Vec<(usize, f64)>,
    /// The probability of each candidate, in the order of the candidates.
    pub candidates: Vec<f64>,
    /// The posterior mean of each object's features.
    pub places: Points,
    /// Whether the chains agree.
    pub diagnostics: Diagnostics,
    /// The metric `Psi`, averaged over the draws through the expected covariance: q x q, in
    /// row-major order.
    pub metric: Vec<f64>,
    /// Degrees of freedom of the covariances: the geometric mean over the draws.
    pub nu: usize,
    /// `alpha`: the geometric mean over the draws. Its grid is logarithmic, and a few draws of a
    /// thousand must not dominate the mean.
    pub alpha: f64,
    /// The singleton weight, averaged in the same way.
    pub singleton_weight: f64,
    /// The power: the mean over the draws.
    pub power: f64,
    /// Whether the chains were ended before they had made all their draws.
    pub partial: bool,
    /// The inferred error model, if candidates were drawn with heavy tails.
    pub errors: Option<Errors>,
}

impl Posterior {
    /// The number of clusters of the partition, not counting objects without a label.
    pub fn groups(&self) -> usize {
        self.partition.k() - self.unlabelled().into_iter().filter(|is| *is).count()
    }
}
