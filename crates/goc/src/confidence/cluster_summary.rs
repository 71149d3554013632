//! The extent of a cluster, and means over its members, for the table of clusters.
//!
//! Cost: O(n q).

use crate::oracle::k_means::means;
use crate::{Partition, Points};

/// The standard deviation of each feature over each cluster's members, with divisor `n - 1`; 0 for
/// a cluster of one. One row per cluster.
///
/// ```
/// use goc::confidence::cluster_summary::spreads;
/// use goc::{Partition, Points};
/// let places = Points::from_rows(&[[1.0], [3.0], [9.0]])?;
/// let found = spreads(&places, &Partition::from_labels(&[0, 0, 1]));
/// assert_eq!(found.values(), [2_f64.sqrt(), 0.0]);
/// # Ok::<(), goc::points::PointsError>(())
/// ```
pub fn spreads(places: &Points, partition: &Partition) -> Points {
    let q = places.features();
    let (centres, sizes) = (means(places, partition), partition.sizes());
    let mut squares = vec![0.0; partition.k() * q];
    for (row, &label) in places.rows().zip(partition.labels()) {
        let label = label as usize;
        for (f, x) in row.iter().enumerate() {
            let off = x - centres.row(label)[f];
            squares[label * q + f] += off * off / (sizes[label].max(2) - 1) as f64;
        }
    }
    Points::trusted(squares.into_iter().map(f64::sqrt).collect(), q)
}

/// The mean of a number over each cluster's members.
pub fn cluster_means(values: &[f64], partition: &Partition) -> Vec<f64> {
    let sizes = partition.sizes();
    let mut sums = vec![0.0; partition.k()];
    for (value, &label) in values.iter().zip(partition.labels()) {
        sums[label as usize] += value;
    }
    sums.iter().zip(sizes).map(|(sum, size)| sum / size as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_taken_over_members() {
        let p = Partition::from_labels(&[1, 0, 1]);
        assert_eq!(cluster_means(&[1.0, 5.0, 2.0], &p), [5.0, 1.5]);
    }
}
