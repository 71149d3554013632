//! Whether a field is a real field, and whether groups drawn without one would be better described
//! with one.
//!
//! The field's density is a smooth density of all objects. One wide group next to others fits that
//! as well. What distinguishes a field is that groups lie within it. So if most of the other groups
//! lie within the field, it is the field; if not, it is a wide group. This changes no draw of the
//! chain, only how the draws are reported.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::chain::{Chain, FIELD};
use super::matrix::{cholesky, ln_det, lower_inverse};
use super::smooth::Smooth;

/// Another cluster lies within the field if the field is at least as dense there as at all but this
/// share of its own members.
const OUTSKIRTS: f64 = 0.05;

/// A cluster lies within another only if its variances are smaller by this factor.
const NARROWER: f64 = 4.0;

/// The share of objects in nested clusters from which on there is a field. (On synthetic sets
/// without a field it was 0, on one whose field consists of a few wide pieces 0.5.)
const NESTED: f64 = 0.25;

/// The minimum size of a cluster that counts: pairs appear by chance anywhere.
const TELLING: usize = 3;

impl Chain<'_> {
    /// Whether the objects in the field form a field, or one wide group.
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

    /// Whether groups without a field are better described with one. This is so if everything is
    /// one cluster, in which small groups would be lost; or if groups are nested, i.e. a good part
    /// of the objects in clusters that contain no others lie within another cluster.
    pub(super) fn is_a_field(&self) -> bool {
        let q = self.shape.q;
        let telling: Vec<_> = self.clusters.iter().filter(|cluster| cluster.size >= TELLING).collect();
        if telling.len() < 2 {
            return true;
        }
        // For each, the inverse triangle of the expected covariance, and its log determinant.
        let forms: Option<Vec<(Vec<f64>, f64)>> = telling
            .iter()
            .map(|cluster| {
                let df = (self.shape.nu + cluster.size - q - 2) as f64;
                let spread: Vec<f64> = cluster.spread(&self.shape).iter().map(|v| v / df).collect();
                let triangle = cholesky(&spread, q)?;
                Some((lower_inverse(&triangle, q), ln_det(&triangle, q)))
            })
            .collect();
        let (Some(forms), Ok(law)) = (forms, ChiSquared::new(q as f64)) else { return false };
        let (far, narrower) = (law.inverse_cdf(1.0 - OUTSKIRTS), q as f64 * libm::log(NARROWER));
        let within = |inner: usize, outer: usize| {
            let (low, ln_det) = &forms[outer];
            let away = |f: usize| telling[inner].mean[f] - telling[outer].mean[f];
            let row = |r: usize| (0..=r).map(|f| low[r * q + f] * away(f)).sum::<f64>();
            forms[inner].1 + narrower < *ln_det && (0..q).map(|r| row(r) * row(r)).sum::<f64>() < far
        };
        let all = 0..telling.len();
        let holds: Vec<bool> =
            all.clone().map(|outer| all.clone().any(|inner| within(inner, outer))).collect();
        let (mut inside, mut others) = (0, 0);
        for inner in all.clone().filter(|k| !holds[*k]) {
            others += telling[inner].size;
            inside += if all.clone().any(|outer| within(inner, outer)) { telling[inner].size } else { 0 };
        }
        inside as f64 >= NESTED * others as f64
    }
}
