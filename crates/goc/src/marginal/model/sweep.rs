//! Sweeps: clusters of a model moved to all objects, wherever these are.
//!
//! A model may come from a sample, the objects from many places. In a sweep each object is shared
//! out among the clusters and the field in proportion to its probabilities `p_k`, candidate by
//! candidate, and each cluster takes the sums
//!
//! ```text
//! n_k = sum p_k,   f_k = sum p_k E(x - m_k),   s_k = sum p_k E(x - m_k)(x - m_k)'
//! ```
//!
//! where `m_k` is its mean so far. Its next mean is `m_k + f_k / n_k`, its scatter
//! `s_k - f_k f_k' / n_k`, its size `n_k`, rounded: one step of expectation and maximisation. A
//! cluster with less than half a member is dropped. All that the clusters share stays as it was:
//! the metric, `nu`, `alpha` and the base density do not depend on how many objects there are.
//!
//! A sum of floating-point numbers depends on its order, hence on where the objects are. These sums
//! are of whole numbers, in units of 2^-60, so they are the same for any order, any number of
//! threads and any cut into parts. Deviations are taken from the cluster's own mean so that
//! nothing cancels.

use rayon::prelude::*;

use super::{ClusterParts, Model, ModelError, ModelParts};
use crate::objects::Objects;

/// What a number is multiplied by before it is rounded: 2^60.
const UNIT: f64 = (1u64 << 60) as f64;

/// Objects add nothing to a cluster to which they belong with less than this probability.
const VISIBLE: f64 = 1e-9;

/// Sums over some of the objects, for each cluster and for the field; made by [`Model::sums`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums(Vec<i128>);

impl Sums {
    /// Adds the sums over other objects.
    pub fn add(&mut self, other: &Self) -> Result<(), ModelError> {
        let (wanted, found) = (self.0.len(), other.0.len());
        if found != wanted {
            return Err(ModelError::Sums { found, wanted });
        }
        for (sum, value) in self.0.iter_mut().zip(&other.0) {
            *sum = sum.saturating_add(*value);
        }
        Ok(())
    }

    /// As bytes that [`Sums::from_bytes`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    /// From the bytes of [`Sums::to_bytes`]; `None` if they end within a number.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (values, rest) = bytes.as_chunks::<16>();
        rest.is_empty().then(|| Self(values.iter().map(|value| i128::from_le_bytes(*value)).collect()))
    }
}

/// The number of values of one cluster: its count, `f`, and the lower triangle of `s`.
fn width(q: usize) -> usize {
    1 + q + q * (q + 1) / 2
}

impl Model {
    /// The sums of a sweep over `objects`, which may be a part of all objects.
    pub fn sums(&self, objects: &dyn Objects) -> Result<Sums, ModelError> {
        self.check_features(objects)?;
        let empty = || Sums(vec![0; (self.next.len() + 1) * width(self.features())]);
        let one = |(mut sums, mut values, mut penalties): (Sums, Vec<f64>, Vec<f64>), i| {
            objects.load(i, &mut values);
            objects.load_penalties(i, &mut penalties);
            self.add_one(&values, &penalties, &mut sums.0);
            (sums, values, penalties)
        };
        let both = |mut a: Sums, b: Sums| {
            for (sum, value) in a.0.iter_mut().zip(&b.0) {
                *sum = sum.saturating_add(*value);
            }
            a
        };
        let parts = (0..objects.objects()).into_par_iter().fold(|| (empty(), Vec::new(), Vec::new()), one);
        Ok(parts.map(|(sums, ..)| sums).reduce(empty, both))
    }

    /// Adds one object's shares to the sums.
    fn add_one(&self, values: &[f64], penalties: &[f64], sums: &mut [i128]) {
        let (m, k, q) = (penalties.len(), self.next.len(), self.features());
        let shares = self.shares(values, penalties);
        let total: f64 = shares.iter().sum();
        let mut apart = vec![0.0; q];
        let mut own = vec![0.0; width(q)];
        for (place, sums) in sums.chunks_exact_mut(width(q)).enumerate() {
            // The row before the field's is that of groups of their own.
            let (row, middle) = match (self.next.get(place), &self.field) {
                (Some((student, ..)), _) => (place, &student.middle),
                (None, Some((student, _))) => (k + 1, &student.middle),
                (None, None) => continue,
            };
            let shares = &shares[row * m..(row + 1) * m];
            if shares.iter().sum::<f64>() < VISIBLE * total {
                continue;
            }
            own.fill(0.0);
            for (j, share) in shares.iter().enumerate() {
                let share = share / total;
                own[0] += share;
                for f in 0..q {
                    apart[f] = values[f * m + j] - middle[f];
                    own[1 + f] += share * apart[f];
                }
                let mut at = 1 + q;
                for a in 0..q {
                    for b in 0..=a {
                        own[at] += share * apart[a] * apart[b];
                        at += 1;
                    }
                }
            }
            for (sum, value) in sums.iter_mut().zip(&own) {
                // Beyond the range of whole numbers this is the largest of them.
                *sum = sum.saturating_add((value * UNIT).round() as i128);
            }
        }
    }

    /// The model after a sweep whose sums over all objects are `sums`.
    pub fn swept(&self, sums: &Sums) -> Result<Self, ModelError> {
        let (k, q) = (self.next.len(), self.features());
        let (found, wanted) = (sums.0.len(), (k + 1) * width(q));
        if found != wanted {
            return Err(ModelError::Sums { found, wanted });
        }
        let moved = |before: &ClusterParts, sums: &[i128]| {
            let sums: Vec<f64> = sums.iter().map(|value| *value as f64 / UNIT).collect();
            let n = sums[0];
            if n < 0.5 {
                return None;
            }
            let first = &sums[1..=q];
            let mean = before.mean.iter().zip(first).map(|(mean, f)| mean + f / n).collect();
            let mut scatter = vec![0.0; q * q];
            let mut at = 1 + q;
            for a in 0..q {
                for b in 0..=a {
                    let value = sums[at] - first[a] * first[b] / n;
                    (scatter[a * q + b], scatter[b * q + a]) = (value, value);
                    at += 1;
                }
            }
            Some(ClusterParts { size: n.round().max(1.0) as usize, mean, scatter })
        };
        let each = sums.0.chunks_exact(width(q));
        let clusters = self.parts.clusters.iter().zip(each).filter_map(|(c, own)| moved(c, own)).collect();
        let field = self.parts.field.as_ref().zip(sums.0.chunks_exact(width(q)).nth(k));
        let field = field.and_then(|(field, own)| moved(field, own));
        Self::new(ModelParts { clusters, field, ..self.parts.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{groups, parts};
    use super::*;
    use crate::Candidates;
    use crate::candidates::CandidatesBuilder;

    fn model() -> Model {
        let field = ClusterParts { size: 4, mean: vec![0.4, -0.3], scatter: vec![9.0, 1.0, 1.0, 7.0] };
        Model::new(ModelParts { field: Some(field), ..parts() }).unwrap()
    }

    fn some(objects: &Candidates, wanted: impl Fn(usize) -> bool) -> Candidates {
        let mut builder = CandidatesBuilder::new(2);
        for i in (0..objects.objects()).filter(|i| wanted(*i)) {
            let mut rows = vec![0.0; 2 * objects.count(i)];
            for (j, row) in rows.chunks_exact_mut(2).enumerate() {
                objects.copy_candidate(i, j, row);
            }
            builder.push(&rows, objects.penalties(i)).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn sums_over_any_parts_in_any_order_are_those_over_the_whole() {
        let (model, objects) = (model(), groups(3, 40));
        let whole = model.sums(&objects).unwrap();
        for cut in [1, 17, 63] {
            let mut sums = model.sums(&some(&objects, |i| i >= cut)).unwrap();
            let bytes = model.sums(&some(&objects, |i| i < cut)).unwrap().to_bytes();
            sums.add(&Sums::from_bytes(&bytes).unwrap()).unwrap();
            assert_eq!(sums, whole);
        }
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| model.sums(&objects)).unwrap(), whole);
        }
    }

    #[test]
    fn a_sweep_is_the_weighted_mean_and_scatter_of_all_candidates() {
        // By the probabilities alone: each object a single candidate, each cluster at a group.
        let mut parts = model().parts;
        for (g, cluster) in parts.clusters.iter_mut().enumerate() {
            cluster.mean = vec![8.0 * g as f64 + 0.3, 0.2];
        }
        let model = Model::new(parts).unwrap();
        let objects = Candidates::from_points(&groups(3, 40).means()).unwrap();
        let swept = model.swept(&model.sums(&objects).unwrap()).unwrap();
        let points = objects.means();
        let of = |i: usize, c: usize| {
            let shares = model.shares(points.row(i), &[0.0]);
            let share = shares[c] / shares.iter().sum::<f64>();
            if share < VISIBLE { 0.0 } else { share }
        };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} {b}");
        let n = |c: usize| (0..points.len()).map(|i| of(i, c)).sum::<f64>();
        // The row of the field is the last; it may have nobody left.
        let left: Vec<usize> = [0, 1, 2, 4].into_iter().filter(|c| n(*c) >= 0.5).collect();
        let ours: Vec<&ClusterParts> = swept.parts().clusters.iter().chain(&swept.parts().field).collect();
        assert!(ours.len() == left.len() && left.len() >= 3, "{left:?}");
        for (c, own) in left.into_iter().zip(ours) {
            let n = n(c);
            assert_eq!(own.size, n.round().max(1.0) as usize);
            let mean = |f: usize| (0..points.len()).map(|i| of(i, c) * points.row(i)[f]).sum::<f64>() / n;
            let mean = [mean(0), mean(1)];
            for a in 0..2 {
                near(own.mean[a], mean[a]);
                for b in 0..2 {
                    let apart = |i: usize, f: usize| points.row(i)[f] - mean[f];
                    let each = (0..points.len()).map(|i| of(i, c) * apart(i, a) * apart(i, b));
                    near(own.scatter[a * 2 + b], each.sum());
                }
            }
        }
    }

    #[test]
    fn a_cluster_that_nobody_is_left_in_is_dropped() {
        let mut parts = parts();
        parts.clusters[1].mean = vec![1e3, 1e3];
        let model = Model::new(parts).unwrap();
        let swept = model.swept(&model.sums(&groups(1, 50)).unwrap()).unwrap();
        assert!(swept.parts().clusters.len() < 3 && !swept.parts().clusters.is_empty());
    }

    #[test]
    fn sums_of_another_model_are_refused() {
        let (model, other) = (model(), Model::new(ModelParts { clusters: vec![], ..model().parts }).unwrap());
        let sums = other.sums(&groups(1, 5)).unwrap();
        let problem = model.swept(&sums).unwrap_err();
        assert_eq!(problem, ModelError::Sums { found: 6, wanted: 24 });
        assert_eq!(model.sums(&groups(1, 5)).unwrap().add(&sums), Err(problem));
        assert_eq!(Sums::from_bytes(&[0; 17]), None);
    }
}
