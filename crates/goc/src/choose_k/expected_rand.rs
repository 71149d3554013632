//! How close a clustering is to the draws of the marginal mixture: the expected adjusted Rand
//! index.
//!
//! Let `I_ij` be 1 if the clustering has i and j together, and `p_ij` the probability of that under
//! the mixture, both summed over the pairs i < j, with N pairs in all. Then (PEAR; Fritsch &
//! Ickstadt 2009)
//!
//! ```text
//! (sum I p - sum I sum p / N) / ((sum I + sum p) / 2 - sum I sum p / N).
//! ```
//!
//! The mixture's own number of clusters is not suitable for another method. Its clusters are
//! normal, so a group with long tails becomes one large cluster and many clusters of one or two
//! stray objects, which count as much as groups do. A method with clusters of similar size would
//! split the large ones to reach this number. Pairs are counted instead, because strays are in few
//! of them. One is perfect agreement, zero is the chance level at any K.
//!
//! Both sums of `p` follow from what the clusters share with those of every draw, without going
//! through pairs.

use crate::Partition;
use crate::marginal::CoClustering;

/// The expected adjusted Rand index of `partition`; `None` if both have all objects in one cluster,
/// or each object alone, so that there is no agreement to measure.
pub(super) fn expected_rand(together: &CoClustering, partition: &Partition) -> Option<f64> {
    let n = partition.len();
    let pairs = 0.5 * n as f64 * (n as f64 - 1.0);
    let of_clusters: f64 =
        partition.sizes().iter().map(|&size| 0.5 * size as f64 * (size as f64 - 1.0)).sum();
    // Every pair is seen from both sides, and an overlap includes the object itself.
    let shared: f64 = together.overlaps(partition).iter().map(|overlap| 0.5 * (overlap - 1.0)).sum();
    let of_draws = together.expected_pairs();
    let chance = of_clusters * of_draws / pairs;
    let most = 0.5 * (of_clusters + of_draws);
    (most - chance > f64::EPSILON * pairs).then(|| (shared - chance) / (most - chance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marginal::Marginal;
    use crate::metrics::Contingency;
    use crate::{Candidates, Points};

    /// Two tight groups and one between them.
    fn draws() -> CoClustering {
        let places = vec![0.0, 0.1, 0.2, 0.15, 5.0, 5.1, 5.2, 5.05, 2.5, 2.6];
        let candidates = Candidates::from_points(&Points::new(places, 1).unwrap()).unwrap();
        Marginal::default().length(2, 20, 60).run(&candidates, 3).unwrap().together
    }

    #[test]
    fn it_is_the_formula_summed_over_all_pairs() {
        let together = draws();
        let partition = Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1, 1, 0, 1]);
        let (mut shared, mut of_clusters, mut of_draws, mut pairs) = (0.0, 0.0, 0.0, 0.0);
        for i in 0..10 {
            for j in i + 1..10 {
                let same = f64::from(u8::from(partition.labels()[i] == partition.labels()[j]));
                let p = together.between(i, j);
                shared += same * p;
                of_clusters += same;
                of_draws += p;
                pairs += 1.0;
            }
        }
        let chance = of_clusters * of_draws / pairs;
        let want = (shared - chance) / (0.5 * (of_clusters + of_draws) - chance);
        assert!((expected_rand(&together, &partition).unwrap() - want).abs() < 1e-12);
    }

    #[test]
    fn with_one_draw_it_is_the_adjusted_rand_index_and_one_cluster_is_worth_nothing() {
        let places = vec![0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 9.0];
        let candidates = Candidates::from_points(&Points::new(places, 1).unwrap()).unwrap();
        let found = Marginal::default().length(1, 10, 1).run(&candidates, 3).unwrap();
        let other = Partition::from_labels(&[0, 0, 1, 1, 1, 1, 2]);
        let ari = Contingency::new(found.partition.labels(), other.labels()).unwrap().ari();
        assert!((expected_rand(&found.together, &other).unwrap() - ari).abs() < 1e-12);
        assert!(expected_rand(&draws(), &Partition::from_labels(&[0; 10])).unwrap().abs() < 1e-12);
    }
}
