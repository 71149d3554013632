//! An ensemble of groupings of the same objects, one for each possible world, and what they have in
//! common.
//!
//! Worlds are either drawn with their probability, or enumerated with a probability each. From them
//! follow:
//!
//! - **co-association** `p_ij`, the probability that `i` and `j` share a cluster;
//! - **consensus**: average linkage on `1 - p_ij` cut at K;
//! - the **confidence** of an object: its mean co-association with the others of its cluster; for
//!   an object alone, one minus its largest co-association with any other.
//!
//! Cost: `W n^2`.

use rayon::prelude::*;

use super::{MethodError, Result};
use crate::Partition;
use crate::oracle::dissimilarities::Dissimilarities;
use crate::oracle::linkage::{Dendrogram, Linkage, Method as LinkageMethod};

/// Groupings of the same objects with a probability each.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    partitions: Vec<Partition>,
    probabilities: Vec<f64>,
}

impl Ensemble {
    /// Groupings of `W` worlds drawn with their probabilities: each counts `1 / W`.
    ///
    /// An error if there are no groupings, or groupings of different numbers of objects.
    pub fn sampled(partitions: Vec<Partition>) -> Result<Self> {
        let probability = 1.0 / partitions.len() as f64;
        let probabilities = vec![probability; partitions.len()];
        Self::exact(partitions, probabilities)
    }

    /// Groupings of all possible worlds, with their probabilities.
    pub fn exact(partitions: Vec<Partition>, probabilities: Vec<f64>) -> Result<Self> {
        let failed = |reason: &str| Err(MethodError::Failed { method: "worlds", reason: reason.into() });
        let Some(first) = partitions.first().filter(|p| !p.is_empty()) else {
            return failed("there are no groupings to combine; ask for at least one world");
        };
        if partitions.iter().any(|p| p.len() != first.len()) {
            return failed("the groupings are of different numbers of objects");
        }
        if partitions.len() != probabilities.len()
            || probabilities.iter().any(|p| !(0.0..=1.0 + 1e-9).contains(p))
            || (probabilities.iter().sum::<f64>() - 1.0).abs() > 1e-6
        {
            return failed("every grouping needs a probability, and they must add up to 1");
        }
        Ok(Self { partitions, probabilities })
    }

    /// The groupings, one per world.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    fn objects(&self) -> usize {
        self.partitions[0].len()
    }

    /// The probability of sharing a cluster, for the pairs `i < j` in row-major order.
    pub fn co_association(&self) -> Vec<f64> {
        let n = self.objects();
        // One task per row; within it the worlds are added in order.
        let rows: Vec<Vec<f64>> = (0..n)
            .into_par_iter()
            .map(|i| {
                let mut row = vec![0.0; n - i - 1];
                for (partition, p) in self.partitions.iter().zip(&self.probabilities) {
                    let labels = partition.labels();
                    for (slot, l) in row.iter_mut().zip(&labels[i + 1..]) {
                        *slot += if *l == labels[i] { *p } else { 0.0 };
                    }
                }
                row
            })
            .collect();
        // Sums of probabilities are rounded; pairs together in every world must have exactly 1.
        rows.concat().into_iter().map(|p| if p > 1.0 - 1e-9 { 1.0 } else { p }).collect()
    }

    /// One grouping that combines all: average linkage on one minus the co-association, cut at K.
    /// Objects that are together in every world are never separated.
    pub fn consensus(&self, k: usize) -> Result<Partition> {
        Ok(self.tree()?.cut(k)?)
    }

    /// Like [`Self::consensus`], but merges all clusters that are together with at least this
    /// probability, on average.
    pub fn agreed(&self, probability: f64) -> Result<Partition> {
        // Sums of shares are rounded; pairs together in exactly this many worlds must not fail the
        // test because of that.
        const ROUNDING: f64 = 1e-9;
        let tree = self.tree()?;
        let near = |apart: f64| apart <= 1.0 - probability + ROUNDING;
        let merged = tree.merges().iter().take_while(|merge| near(merge.dissimilarity)).count();
        Ok(tree.cut(self.objects() - merged)?)
    }

    fn tree(&self) -> Result<Dendrogram> {
        let apart = self.co_association().into_iter().map(|p| 1.0 - p).collect();
        // The pairs of n objects, all between 0 and 1: this cannot fail.
        let apart = Dissimilarities::from_condensed(apart)
            .map_err(|error| MethodError::Failed { method: "worlds", reason: error.to_string() })?;
        Ok(Linkage::new(LinkageMethod::Average).fit_matrix(apart)?)
    }

    /// The confidence in each object's assignment in `partition`, from 0 to 1.
    pub fn confidence(&self, partition: &Partition) -> Vec<f64> {
        let n = self.objects();
        let together = self.co_association();
        // The start of the pairs of row i, such that pair (i, j) is at start + j.
        let between = |i: usize, j: usize| {
            let (i, j) = (i.min(j), i.max(j));
            together[i * (2 * n - i - 1) / 2 + j - i - 1]
        };
        let labels = partition.labels();
        (0..n)
            .map(|i| {
                let others = (0..n).filter(|&j| j != i && labels[j] == labels[i]);
                let (count, sum) = others.fold((0usize, 0.0), |(c, s), j| (c + 1, s + between(i, j)));
                if count > 0 {
                    sum / count as f64
                } else {
                    1.0 - (0..n).filter(|&j| j != i).map(|j| between(i, j)).fold(0.0, f64::max)
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partitions(labels: &[&[u32]]) -> Vec<Partition> {
        labels.iter().map(|l| Partition::from_labels(l)).collect()
    }

    #[test]
    fn co_association_is_the_probability_of_sharing_a_cluster() {
        let worlds = partitions(&[&[0, 0, 1, 1], &[0, 0, 0, 1], &[0, 1, 1, 1]]);
        let ensemble = Ensemble::exact(worlds, vec![0.5, 0.25, 0.25]).unwrap();
        assert_eq!(ensemble.co_association(), [0.75, 0.25, 0.0, 0.5, 0.25, 0.75]);
        let consensus = ensemble.consensus(2).unwrap();
        assert_eq!(consensus.labels(), [0, 0, 1, 1]);
        assert_eq!(ensemble.agreed(0.75).unwrap(), consensus);
        assert_eq!(ensemble.agreed(0.76).unwrap().k(), 4);
        assert_eq!(ensemble.agreed(0.25).unwrap().k(), 1);
        assert_eq!(ensemble.confidence(&consensus), [0.75; 4]);
        let alone = Partition::from_labels(&[0, 0, 0, 1]);
        assert_eq!(ensemble.confidence(&alone), [0.5, 0.625, 0.375, 0.25]);
    }

    #[test]
    fn bad_ensembles_are_named() {
        let message = |e: MethodError| e.to_string();
        assert_eq!(
            message(Ensemble::sampled(Vec::new()).unwrap_err()),
            "worlds: there are no groupings to combine; ask for at least one world"
        );
        let unequal = partitions(&[&[0, 0], &[0]]);
        assert_eq!(
            message(Ensemble::sampled(unequal).unwrap_err()),
            "worlds: the groupings are of different numbers of objects"
        );
        let halves = Ensemble::exact(partitions(&[&[0, 0]]), vec![0.5]).unwrap_err();
        assert_eq!(message(halves), "worlds: every grouping needs a probability, and they must add up to 1");
    }
}
