//! What of a chain's clusters is field.
//!
//! A component of the field is a normal cloud as wide as the data. One wide group beside others, or
//! one cloud that is all there is, fits that as well. What makes a field of it is that groups lie
//! within it. So where most of what else there is lies within components of the field, they are the
//! field, but for those that have nothing within them; and where not, they are wide groups. It
//! changes no draw of the chain, only what is said of it.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::chain::Chain;

/// The part of a component's own members that the ellipsoid encloses within which another cluster's
/// mean has to lie.
const ENCLOSED: f64 = 0.95;

/// The square of that ellipsoid's radius, in standard deviations, for `q` features.
pub(super) fn reach(q: usize) -> f64 {
    ChiSquared::new(q as f64).map_or(f64::INFINITY, |law| law.inverse_cdf(ENCLOSED))
}

impl Chain<'_> {
    /// Which clusters are field; `reach` as [`reach`] has it.
    pub(super) fn field_clusters(&self, reach: f64) -> Vec<bool> {
        let clusters = &self.clusters;
        let within = |l: usize, k: usize| {
            let own = &clusters[k];
            // The covariance expected of a component is (scale + scatter) / freedom.
            let freedom = (self.shape.kinds[own.kind].nu + own.size) as f64 - self.shape.q as f64 - 2.0;
            k != l && own.quadratic(&clusters[l].mean) * freedom < reach
        };
        let plural: Vec<usize> = (0..clusters.len()).filter(|k| clusters[*k].size > 1).collect();
        let components: Vec<usize> = plural.iter().copied().filter(|k| clusters[*k].field).collect();
        let mut field: Vec<bool> = clusters.iter().map(|cluster| cluster.field).collect();
        let Some(&largest) = components.iter().max_by_key(|k| clusters[**k].size) else { return field };
        let (mut embedded, mut others) = (0, 0);
        for &l in plural.iter().filter(|l| **l != largest) {
            others += clusters[l].size;
            if components.iter().any(|&k| within(l, k)) {
                embedded += clusters[l].size;
            }
        }
        let is_field = 2 * embedded >= others;
        for &k in &components {
            field[k] = is_field && plural.iter().any(|&l| within(l, k));
        }
        field
    }
}
