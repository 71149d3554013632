//! How likely the state of a chain is.

use super::{Chain, FIELD, ORDER};
use crate::random::stream;

impl Chain<'_> {
    /// The log of the stationary density, up to constants and the prior of the metric: the quantity
    /// shown in a trace plot.
    pub(in crate::marginal) fn ln_density(&self) -> f64 {
        self.ln_groups() + self.ln_field()
    }

    /// The log density of the objects in the field with the current shares.
    fn ln_field(&self) -> f64 {
        let field = self.labels.iter().zip(&self.field_sums).filter(|(label, _)| **label == FIELD);
        field.map(|(_, sum)| libm::log(*sum)).sum()
    }

    /// The part of it that does not come from field objects.
    fn ln_groups(&self) -> f64 {
        let clusters: f64 = self.clusters.iter().map(|cluster| cluster.ln_density(&self.shape)).sum();
        let grouped = self.spots.iter().enumerate().filter(|(i, _)| self.labels[*i] != FIELD);
        let choices: f64 =
            grouped.map(|(i, &spot)| libm::log(self.data.blocks.weight(self.reader.law, i, spot))).sum();
        clusters + choices + self.ln_prior() + self.data.ln_laws[self.reader.law]
    }

    /// An estimate of the log weight of all states similar to this one, for comparing initial
    /// states. It includes the entropy of the assignments to field or alone and of the candidates,
    /// and the prior of the metric as a density of its logarithm, so it does not depend on the unit
    /// of the features.
    ///
    /// The field's shares are integrated out; otherwise hundreds of shares would fit the data
    /// without paying for it.
    pub(in crate::marginal) fn ln_joint(&self) -> f64 {
        let (q, df) = (self.shape.q as f64, self.data.metric_df);
        let trace = self.trace_of_expected();
        let ln_det = self.shape.ln_det_psi() - q * libm::log(self.shape.expected_times());
        let a = self.scale;
        let prior = 0.5 * (df - q - 1.0) * ln_det - 0.5 * df * (q * libm::log(a) + trace / a);
        let (members, rng) = (field_of(&self.labels).collect(), &mut stream(self.steps as u64, ORDER));
        let field = self.data.field.ln_marginal(self.reader.law, self.level, members, rng);
        let level = self.data.field.levels()[self.level].ln_prior;
        self.ln_groups() + field + level + prior + 0.5 * (q + 1.0) * ln_det + self.entropy
    }

    /// `ln p` of labels, given the cohesion.
    fn ln_prior(&self) -> f64 {
        let each = self.data.prior.ln_weight(self.clusters.iter().map(|c| c.size), self.cohesion);
        each + self.ln_prior_field(self.in_field)
    }

    /// The contribution of one cluster.
    pub(in crate::marginal) fn ln_prior_of(&self, size: usize) -> f64 {
        self.data.prior.ln_weight(std::iter::once(size), self.cohesion)
    }

    /// The contribution of this many objects in the field.
    pub(in crate::marginal) fn ln_prior_field(&self, field: usize) -> f64 {
        self.data.field.ln_share(field) + self.ln_scale_prior(field)
            - self.constants[self.labels.len() - field]
    }
}

/// The objects in the field.
pub(super) fn field_of(labels: &[u32]) -> impl Iterator<Item = usize> {
    labels.iter().enumerate().filter(|(_, label)| **label == FIELD).map(|(i, _)| i)
}
