//! A partition of objects into clusters: the result type of every method.
//!
//! Labels run from 0 to `k - 1`, and every label is used: a cluster without members is not a
//! cluster. A partition made from labels with gaps is renumbered without gaps, preserving the order
//! of the labels.

/// Labels `0..k`, each used at least once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    labels: Vec<u32>,
    k: usize,
}

impl Partition {
    /// Removes gaps in `labels`, preserving the order of the labels that occur.
    ///
    /// ```
    /// use goc::Partition;
    /// let p = Partition::from_labels(&[7u32, 2, 7]);
    /// assert_eq!((p.labels(), p.k()), (&[1, 0, 1][..], 2));
    /// ```
    pub fn from_labels<L: Copy + Ord>(labels: &[L]) -> Self {
        let mut used: Vec<L> = labels.to_vec();
        used.sort_unstable();
        used.dedup();
        let labels = labels.iter().map(|l| used.partition_point(|u| u < l) as u32).collect();
        Self { labels, k: used.len() }
    }

    /// Like [`Self::from_labels`] for labels below `bound`, by counting instead of sorting.
    pub(crate) fn from_bounded(labels: &[u32], bound: usize) -> Self {
        let mut new = vec![u32::MAX; bound];
        for &l in labels {
            new[l as usize] = 0;
        }
        let mut k = 0;
        for slot in new.iter_mut().filter(|slot| **slot == 0) {
            *slot = k;
            k += 1;
        }
        Self { labels: labels.iter().map(|&l| new[l as usize]).collect(), k: k as usize }
    }

    /// The label of each object.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The number of clusters.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// True when there are no objects.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The number of members of each cluster.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.k];
        for &l in &self.labels {
            sizes[l as usize] += 1;
        }
        sizes
    }

    /// The same grouping numbered by first appearance: equal for equal groupings.
    pub fn canonical(&self) -> Self {
        let mut new = vec![u32::MAX; self.k];
        let mut next = 0;
        let labels = self
            .labels
            .iter()
            .map(|&l| {
                let slot = &mut new[l as usize];
                if *slot == u32::MAX {
                    *slot = next;
                    next += 1;
                }
                *slot
            })
            .collect();
        Self { labels, k: self.k }
    }

    /// True if both group the objects in the same way, regardless of numbering.
    pub fn same_grouping(&self, other: &Self) -> bool {
        self.canonical() == other.canonical()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_closed_and_order_is_kept() {
        let p = Partition::from_labels(&[5, 1, 9, 1]);
        assert_eq!(p.labels(), [1, 0, 2, 0]);
        assert_eq!(p.sizes(), [2, 1, 1]);
    }

    #[test]
    fn counting_and_sorting_close_gaps_alike() {
        let labels = [5u32, 1, 9, 1, 0, 9];
        assert_eq!(Partition::from_bounded(&labels, 12), Partition::from_labels(&labels));
    }

    #[test]
    fn numbering_does_not_matter_for_a_grouping() {
        let a = Partition::from_labels(&[0, 0, 1, 2]);
        let b = Partition::from_labels(&[2, 2, 0, 1]);
        assert!(a.same_grouping(&b));
        assert!(!a.same_grouping(&Partition::from_labels(&[0, 1, 1, 2])));
    }
}
