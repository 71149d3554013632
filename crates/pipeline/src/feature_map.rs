//! Feature maps: how features are transformed before clustering, and how to invert that.
//!
//! Two steps, both reversible: the square root of some features, then scaling. Actions have their
//! own map: a group of stars is rounder in `sqrt(Jr), sqrt(Jz), Jphi`, because radial and vertical
//! actions scale as squares of amplitudes and cannot be negative (docs/explanation/peers.md
//! reports the gain).

use goc::Points;
use goc::objects::Objects;
use goc::scale::Scaler;

/// The names of the actions, in the paper's order.
pub const ACTIONS: [&str; 3] = ["Jr", "Jz", "Jphi"];

/// Roots and scaling of the features of a data set.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureMap {
    /// Which features are replaced by their square root.
    pub roots: Vec<bool>,
    /// The scaling.
    pub scaler: Scaler,
}

impl FeatureMap {
    /// Maps one feature vector back to the units of the input, in place.
    pub fn invert_row(&self, row: &mut [f64]) {
        self.scaler.invert_row(row);
        for (value, _) in row.iter_mut().zip(&self.roots).filter(|(_, root)| **root) {
            *value *= *value;
        }
    }

    /// Converts points, such as centres, back to the units of the input, row by row.
    pub fn invert(&self, points: &Points) -> Vec<f64> {
        let mut values = points.values().to_vec();
        for row in values.chunks_exact_mut(points.features()) {
            self.invert_row(row);
        }
        values
    }

    /// The mean features of each object, weighted by the probabilities of its candidates, in the
    /// units of the input, row by row. `scaled` holds the objects as they were clustered. The mean
    /// is taken over the input's own numbers, because the square of a mean of roots would be
    /// smaller than the mean.
    pub fn mean_features(&self, scaled: &dyn Objects, probabilities: &[f64]) -> Vec<f64> {
        let (q, offsets) = (scaled.features(), scaled.offsets());
        let mut values = Vec::new();
        let mut means = vec![0.0; scaled.objects() * q];
        let mut row = vec![0.0; q];
        for (i, mean) in means.chunks_exact_mut(q).enumerate() {
            scaled.load(i, &mut values);
            let m = scaled.count(i);
            for j in 0..m {
                for (f, value) in row.iter_mut().enumerate() {
                    *value = values[f * m + j];
                }
                self.invert_row(&mut row);
                for (sum, value) in mean.iter_mut().zip(&row) {
                    *sum += probabilities[offsets[i] + j] * value;
                }
            }
        }
        means
    }

    /// The name of the map: `actions` where roots are taken, else `none`.
    pub fn name(&self) -> &'static str {
        if self.roots.contains(&true) { "actions" } else { "none" }
    }
}

/// The name of a feature, or of its square root.
pub(crate) fn rooted(name: &str, root: bool) -> String {
    if root { format!("sqrt({name})") } else { name.to_string() }
}

/// The column inside a root such as `sqrt(Jr)`.
pub fn root_of(name: &str) -> Option<&str> {
    name.trim().strip_prefix("sqrt(")?.strip_suffix(')').map(str::trim)
}
