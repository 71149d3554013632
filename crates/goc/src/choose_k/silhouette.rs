//! The silhouette of a clustering (Rousseeuw 1987): how much closer objects are to their own
//! cluster than to the next one.
//!
//! Let `a_i` be the mean distance of an object's position to the others of its cluster, and `b_i`
//! the lowest mean distance to the members of another cluster. Then
//!
//! ```text
//! s_i = (b_i - a_i) / max(a_i, b_i),        s_i = 0 for an object alone in its cluster
//! ```
//!
//! and the criterion is the mean over the objects. It requires at least two clusters and fewer
//! clusters than objects. The positions are the chosen candidates (GOC) or whatever else represents
//! an object, so the silhouette is optimistic where GOC is. The cost is `O(n^2 q)`.

use rayon::prelude::*;

use crate::points::squared_distance;
use crate::{Partition, Points};

/// The mean silhouette; `None` for one cluster or as many clusters as objects.
///
/// ```
/// use goc::choose_k::silhouette::silhouette;
/// use goc::{Partition, Points};
/// let places = Points::new(vec![0.0, 1.0, 10.0, 11.0], 1)?;
/// let two = silhouette(&places, &Partition::from_labels(&[0, 0, 1, 1])).unwrap();
/// // (9.5 + 8.5) / 2 over the outer and the inner points: 1 - 1/10.5 and 1 - 1/9.5.
/// assert!((two - (1.0 - 0.5 / 10.5 - 0.5 / 9.5)).abs() < 1e-15);
/// # Ok::<(), goc::points::PointsError>(())
/// ```
pub fn silhouette(places: &Points, partition: &Partition) -> Option<f64> {
    let (n, k) = (places.len(), partition.k());
    if k < 2 || k >= n {
        return None;
    }
    let (labels, sizes) = (partition.labels(), partition.sizes());
    let each: Vec<f64> = (0..n)
        .into_par_iter()
        .map(|i| {
            let own = labels[i] as usize;
            if sizes[own] == 1 {
                return 0.0;
            }
            let mut sums = vec![0.0; k];
            for (j, place) in places.rows().enumerate() {
                sums[labels[j] as usize] += squared_distance(places.row(i), place).sqrt();
            }
            let inside = sums[own] / (sizes[own] - 1) as f64;
            let outside =
                (0..k).filter(|l| *l != own).map(|l| sums[l] / sizes[l] as f64).fold(f64::INFINITY, f64::min);
            let most = inside.max(outside);
            if most > 0.0 { (outside - inside) / most } else { 0.0 }
        })
        .collect();
    Some(each.iter().sum::<f64>() / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scikit-learn 1.9's silhouette_score of the same points and labels, one object alone among them.
    #[test]
    fn agrees_with_scikit_learn() {
        let points = Points::new(POINTS.to_vec(), 2).unwrap();
        let found = silhouette(&points, &Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2, 2, 3])).unwrap();
        assert!((found - SKLEARN).abs() < 1e-12, "{found}");
    }

    const POINTS: [f64; 18] =
        [0.1, 0.2, 0.4, -0.3, -0.2, 0.5, 3.0, 3.1, 2.5, 3.6, -2.0, 4.0, -2.4, 3.5, -1.0, 3.0, 6.0, -1.0];
    const SKLEARN: f64 = 0.6870219324144213;

    #[test]
    fn equal_places_have_none_and_too_few_or_too_many_clusters_no_silhouette() {
        let equal = Points::new(vec![1.0; 4], 1).unwrap();
        assert_eq!(silhouette(&equal, &Partition::from_labels(&[0, 0, 1, 1])), Some(0.0));
        assert_eq!(silhouette(&equal, &Partition::from_labels(&[0, 0, 0, 0])), None);
        assert_eq!(silhouette(&equal, &Partition::from_labels(&[0, 1, 2, 3])), None);
        let one = Points::new(vec![1.0], 1).unwrap();
        assert_eq!(silhouette(&one, &Partition::from_labels(&[0])), None);
    }
}
