//! Whether a chain's field is one.
//!
//! The field's density is that of all objects, seen smoothly. One wide group beside others fits that
//! as well. What makes a field of it is that groups lie within it. So where most of what else there
//! is lies within the field it is the field, and where not, it is a wide group. It changes no draw
//! of the chain, only what is said of it.

use super::chain::{Chain, FIELD};
use super::smooth::Smooth;

/// Another cluster lies within the field where the field is at least as dense as for all but this
/// share of its own members.
const OUTSKIRTS: f64 = 0.05;

/// The least size of a cluster that counts: pairs come and go anywhere.
const TELLING: usize = 3;

impl Chain<'_> {
    /// Whether the objects in the field are a field, or one wide group.
    pub(super) fn has_field(&self, smooth: &Smooth) -> bool {
        let members = self.labels.iter().zip(&self.field_sums).filter(|(label, _)| **label == FIELD);
        let mut own: Vec<f64> = members.map(|(_, sum)| *sum).collect();
        if own.is_empty() {
            return false;
        }
        own.sort_unstable_by(f64::total_cmp);
        let least = own[(OUTSKIRTS * own.len() as f64) as usize];
        let mut spare = Vec::new();
        let (mut embedded, mut others) = (0, 0);
        for cluster in self.clusters.iter().filter(|cluster| cluster.size >= TELLING) {
            let density = smooth.density(&cluster.mean, None, &self.field_shares, &mut spare);
            others += cluster.size;
            embedded += if density >= least { cluster.size } else { 0 };
        }
        2 * embedded >= others
    }
}
