//! Feature maps: what is done to features before they are clustered, and how to undo it.
//!
//! Two steps that can both be undone: the square root of some features, then the scaling. Actions have a
//! map of their own: a group of stars is round in `sqrt(Jr), sqrt(Jz), Jphi`, as radial and vertical
//! actions are squares of amplitudes and cannot be negative (docs/methods.md has what it gains).

use goc::Points;
use goc::objects::Objects;
use goc::scale::Scaler;

/// The names of the actions, in the paper's order.
pub const ACTIONS: [&str; 3] = ["Jr", "Jz", "Jphi"];

/// Roots and scaling of the features of a data set.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureMap {
    /// Features of which the square root is taken.
    pub roots: Vec<bool>,
    /// What makes them comparable.
    pub scaler: Scaler,
}

impl FeatureMap {
    /// One feature vector back in the units of the input, in place.
    pub fn invert_row(&self, row: &mut [f64]) {
        self.scaler.invert_row(row);
        for (value, _) in row.iter_mut().zip(&self.roots).filter(|(_, root)| **root) {
            *value *= *value;
        }
    }

    /// Points, such as centres, back in the units of the input, row after row.
    pub fn invert(&self, points: &Points) -> Vec<f64> {
        let mut values = points.values().to_vec();
        for row in values.chunks_exact_mut(points.features()) {
            self.invert_row(row);
        }
        values
    }

    /// The mean features of each object by the probability of its candidates, in the units of the input,
    /// row after row. `scaled` are the objects as they were clustered. The mean is taken of the input's
    /// own numbers: the square of a mean of roots would be less than the mean.
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

/// The column whose square root is meant: `sqrt(Jr)`.
pub fn root_of(name: &str) -> Option<&str> {
    name.trim().strip_prefix("sqrt(")?.strip_suffix(')').map(str::trim)
}
