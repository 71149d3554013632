//! UK-means, the paper's baseline (Chau et al. 2006).
//!
//! UK-means assigns an object to the centre with the lowest *expected* squared distance. That
//! expectation is the squared distance to the object's mean plus the object's own variance, which
//! does not depend on the centre (Lee, Kao & Cheng 2007), so UK-means is k-means on the means of
//! the sets (paper, eq. 10). With an oracle other than k-means it is the paper's baseline for that
//! oracle.

use super::{Grouped, Method, Result, Tick};
use crate::oracle::k_means::means as means_of;
use crate::oracle::{Oracle, OracleError, Start};
use crate::points::squared_distance;
use crate::{Candidates, Partition, Points, random};

/// Clusters the mean of each set; returns the partition and the means.
///
/// ```
/// use goc::baselines::uk_means::uk_means;
/// use goc::candidates::CandidatesBuilder;
/// use goc::oracle::k_means::KMeans;
/// let mut builder = CandidatesBuilder::new(1);
/// for set in [[0.0, 1.0], [0.2, 0.8], [7.0, 9.0]] {
///     builder.push(&set, &[])?;
/// }
/// let (partition, means) = uk_means(&builder.build()?, &KMeans::default(), 2, 1)?;
/// assert_eq!(partition.canonical().labels(), [0, 0, 1]);
/// assert_eq!(means.row(2), [8.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn uk_means(
    candidates: &Candidates,
    oracle: &dyn Oracle,
    k: usize,
    seed: u64,
) -> Result<(Partition, Points), OracleError> {
    let means = candidates.means();
    let partition = oracle.cluster(&means, Start::K(k), &mut random::stream(seed, 0))?;
    Ok((partition, means))
}

/// UK-means as a [`Method`].
pub struct UkMeans<'a> {
    /// The oracle that clusters the means.
    pub oracle: &'a dyn Oracle,
    /// Clusters requested.
    pub k: usize,
}

impl Method for UkMeans<'_> {
    fn name(&self) -> &str {
        "uk-means"
    }

    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        let (partition, means) = uk_means(candidates, self.oracle, self.k, seed)?;
        let centres = means_of(&means, &partition);
        let distance = |(x, &l): (&[f64], &u32)| squared_distance(x, centres.row(l as usize));
        let objective = means.rows().zip(partition.labels()).map(distance).sum();
        Ok(Grouped {
            objective: Some(objective),
            iterations: 1,
            places: Some(means),
            centres: Some(centres),
            ..Grouped::new(partition)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::CandidatesBuilder;
    use crate::oracle::k_means::{KMeans, means};

    #[test]
    fn the_centre_of_least_expected_distance_is_the_one_nearest_to_the_mean() {
        let mut builder = CandidatesBuilder::new(2);
        for i in 0..30 {
            let x = f64::from(i % 3) * 4.0;
            builder.push(&[x, 0.0, x + 1.3, 0.4, x - 0.2, f64::from(i) * 0.03], &[]).unwrap();
        }
        let candidates = builder.build().unwrap();
        let (partition, points) = uk_means(&candidates, &KMeans::default(), 3, 1).unwrap();
        let centres = means(&points, &partition);
        for i in 0..30 {
            let expected = |k: usize| {
                (0..3).map(|j| squared_distance(&candidates.candidate(i, j), centres.row(k))).sum::<f64>()
                    / 3.0
            };
            let own = partition.labels()[i] as usize;
            assert!((0..3).all(|k| expected(own) <= expected(k) + 1e-12));
        }
    }
}
