//! Drawn partitions in compact form: there are hundreds of them, each with a label for every
//! object.

use super::narrow::Narrow;
use crate::Partition;

/// One drawn partition: a label for every object that is not in the field.
///
/// ```
/// use goc::marginal::Draw;
/// let draw = Draw::new(&[0, 1, 0, 2]);
/// assert_eq!((draw.len(), draw.clusters(), draw.label(3)), (4, 3, 2));
/// assert_eq!(draw.labels().collect::<Vec<_>>(), [0, 1, 0, 2]);
/// assert_eq!(draw.sizes(), [2, 1, 1]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    labels: Narrow,
    clusters: usize,
}

impl Draw {
    /// From labels that start at 0, and the set of field objects, which have no label.
    pub(super) fn with_field(labels: &[u32], field: &[bool]) -> Self {
        let grouped: Vec<u32> =
            labels.iter().zip(field).filter(|(_, field)| !**field).map(|(label, _)| *label).collect();
        let bound = labels.iter().max().map_or(0, |most| *most as usize + 1);
        let partition = Partition::from_bounded(&grouped, bound).canonical();
        let (clusters, mut next) = (partition.k(), partition.labels().iter());
        let mut narrow = Narrow::with_capacity(labels.len(), clusters);
        for field in field {
            let label = if *field { clusters as u32 } else { next.next().copied().unwrap_or(0) };
            narrow.push(label);
        }
        Self { labels: narrow, clusters }
    }

    /// Turns the field into one more cluster, after the others.
    pub(super) fn with_field_as_cluster(mut self) -> Self {
        self.clusters += usize::from((0..self.len()).any(|i| self.in_field(i)));
        self
    }

    /// From labels that start at 0.
    pub fn new(labels: &[u32]) -> Self {
        let most = labels.iter().max().copied();
        let mut narrow = Narrow::with_capacity(labels.len(), most.unwrap_or(0) as usize);
        labels.iter().for_each(|label| narrow.push(*label));
        Self { labels: narrow, clusters: most.map_or(0, |most| most as usize + 1) }
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// True when there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One more than the largest label: the number of clusters if every label is used, as in the
    /// draws of a [`Posterior`](super::Posterior).
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// The label of object `i`; for an object in the field, one more than the last cluster's.
    pub fn label(&self, i: usize) -> u32 {
        self.labels.get(i)
    }

    /// Whether object `i` is in the field.
    pub fn in_field(&self, i: usize) -> bool {
        self.label(i) as usize == self.clusters
    }

    /// The labels of all objects, as returned by [`Self::label`].
    pub fn labels(&self) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
        self.labels.range(0..self.len())
    }

    /// The number of members of each cluster.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.clusters + 1];
        self.labels().for_each(|label| sizes[label as usize] += 1);
        sizes.truncate(self.clusters);
        sizes
    }

    /// The objects without company: those in the field, and those alone in their cluster.
    pub(super) fn without_company(&self) -> impl Iterator<Item = bool> + '_ {
        let sizes = self.sizes();
        self.labels().map(move |label| sizes.get(label as usize).is_none_or(|size| *size == 1))
    }
}

/// The members of each cluster of one draw: object indices, cluster after cluster.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Members {
    starts: Vec<u32>,
    objects: Narrow,
}

impl Members {
    pub(super) fn of(draw: &Draw) -> Self {
        let mut starts = vec![0; draw.clusters + 2];
        draw.labels().for_each(|label| starts[label as usize + 1] += 1);
        for k in 0..=draw.clusters {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut objects = Narrow::zeros(draw.len(), draw.len().saturating_sub(1));
        for (i, label) in draw.labels().enumerate() {
            objects.set(next[label as usize] as usize, i as u32);
            next[label as usize] += 1;
        }
        Self { starts, objects }
    }

    /// The members of cluster `k`, ascending; none for the field.
    pub(super) fn of_cluster(&self, k: u32) -> impl Iterator<Item = u32> + '_ {
        let k = k as usize;
        // Objects in the field are not together.
        let in_field = k + 2 == self.starts.len();
        let range = self.starts[k] as usize..self.starts[k + 1] as usize;
        self.objects.range(if in_field { 0..0 } else { range })
    }

    /// The objects in the field, ascending.
    pub(super) fn of_field(&self) -> impl Iterator<Item = u32> + '_ {
        let from = self.starts[self.starts.len() - 2];
        self.objects.range(from as usize..self.objects.len())
    }
}
