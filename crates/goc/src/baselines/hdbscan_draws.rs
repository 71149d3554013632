//! HDBSCAN on Monte Carlo draws from the errors, combined by consensus.
//!
//! This is how HDBSCAN is commonly combined with error bars: draw a value of every object from its
//! errors, cluster, and repeat. A draw is a possible world ([`super::possible_worlds`]): one
//! candidate for each object, with all candidates of an object equally likely. If there are no more
//! worlds than requested, all are used. With
//!
//! ```text
//! p_ij = share of worlds in which i and j are in one cluster of HDBSCAN
//! ```
//!
//! (noise is in no cluster, not even with itself), average linkage on `1 - p` is cut at 1/2, which
//! gives groups whose members are together in half of the worlds, on average. Objects left alone
//! are noise. So the number of groups is inferred, and a group may be smaller than the minimum
//! cluster size of HDBSCAN if parts of a cluster vary between worlds.
//!
//! The confidence of a member is the mean of `p` with the others of its group; that of noise is one
//! minus its largest `p`.
//!
//! Cost: `W` runs of HDBSCAN, and `W n^2` to combine them; memory `n^2 / 2` numbers.

use super::ensemble::Ensemble;
use super::possible_worlds::{cluster_worlds, draw, enumerate};
use super::{Grouped, Method, Result, Tick};
use crate::Candidates;
use crate::oracle::hdbscan::Hdbscan;

/// Objects that are together in this share of the worlds form a group.
const AGREED: f64 = 0.5;

/// HDBSCAN over draws with a consensus.
///
/// ```
/// use goc::baselines::{Method, hdbscan_draws::HdbscanDraws};
/// use goc::candidates::CandidatesBuilder;
/// use goc::oracle::hdbscan::Hdbscan;
/// let mut builder = CandidatesBuilder::new(1);
/// for x in [0.0, 0.1, 0.3, 5.0, 5.1, 5.3, 90.0] {
///     builder.push(&[x, x + 0.01], &[])?;
/// }
/// let grouped = HdbscanDraws::new(Hdbscan::new(3).min_samples(2)).group(&builder.build()?, 1)?;
/// assert_eq!(grouped.partition.canonical().labels(), [0, 0, 0, 1, 1, 1, 2]);
/// assert_eq!(grouped.noise, [false, false, false, false, false, false, true]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HdbscanDraws {
    oracle: Hdbscan,
    worlds: usize,
}

impl HdbscanDraws {
    /// Clusters each world with `oracle`: 100 worlds.
    pub fn new(oracle: Hdbscan) -> Self {
        Self { oracle, worlds: 100 }
    }

    setters! {
        /// The number of worlds to draw; at least one.
        worlds: usize = worlds.max(1);
    }

    /// The groupings of the worlds; each noise object is a cluster of its own.
    pub fn ensemble(&self, candidates: &Candidates, seed: u64) -> Result<Ensemble> {
        let worlds = match enumerate(candidates, self.worlds) {
            Some(all) => all,
            None => draw(candidates, self.worlds, seed),
        };
        let partitions = cluster_worlds(&self.oracle, 1, candidates, &worlds, seed)?;
        Ensemble::exact(partitions, worlds.into_iter().map(|world| world.probability).collect())
    }
}

impl Method for HdbscanDraws {
    fn name(&self) -> &str {
        "hdbscan-draws"
    }

    /// The iterations are the worlds that were clustered.
    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        let ensemble = self.ensemble(candidates, seed)?;
        let partition = ensemble.agreed(AGREED)?;
        let (confidence, sizes) = (ensemble.confidence(&partition), partition.sizes());
        let noise = partition.labels().iter().map(|&label| sizes[label as usize] == 1).collect();
        let iterations = ensemble.partitions().len();
        Ok(Grouped { noise, confidence, iterations, ..Grouped::new(partition) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::testing::{blobs, identical, one_object, same_on_any_threads};
    use crate::candidates::CandidatesBuilder;

    /// Two groups of eight, two objects between them that may be with either, and two far away.
    fn between() -> Candidates {
        let mut builder = CandidatesBuilder::new(2);
        let step = |s: usize| (s as f64 * 0.618_033_988_749_895) % 1.0 - 0.5;
        for i in 0..16 {
            let x = 6.0 * f64::from(u8::from(i >= 8));
            builder.push(&[x + step(1 + 7 * i), step(40 + 11 * i)], &[]).unwrap();
        }
        builder.push(&[0.3, 0.1, 6.2, 0.3, 0.1, -0.2], &[]).unwrap();
        builder.push(&[5.8, 0.2, 3.0, 9.0], &[]).unwrap();
        builder.push(&[3.0, 30.0], &[]).unwrap();
        builder.push(&[-40.0, 2.0], &[]).unwrap();
        builder.build().unwrap()
    }

    #[test]
    fn all_six_worlds_and_their_consensus_are_those_of_scikit_learn_and_scipy() {
        // scikit-learn 1.9.1, HDBSCAN(min_cluster_size=4, min_samples=3) on the six worlds; the
        // share of worlds in which two are in one cluster; scipy 1.17.1, linkage(1 - share,
        // "average"), fcluster at 0.5.
        let method = HdbscanDraws::new(Hdbscan::new(4).min_samples(3));
        let ensemble = method.ensemble(&between(), 1).unwrap();
        assert_eq!(ensemble.partitions().len(), 6);
        let found = method.group(&between(), 1).unwrap();
        let letters: String = found
            .partition
            .canonical()
            .labels()
            .iter()
            .zip(&found.noise)
            .map(|(&label, &noise)| if noise { '.' } else { (b'A' + label as u8) as char })
            .collect();
        assert_eq!(letters, "AAAAAAAABBBBBBBBAB..");
        let together = ensemble.co_association();
        let pair = |i: usize, j: usize| together[i * (2 * 20 - i - 1) / 2 + j - i - 1];
        let sixths = [
            ((0, 1), 6.0),
            ((0, 16), 4.0),
            ((8, 16), 2.0),
            ((8, 17), 3.0),
            ((16, 17), 1.0),
            ((0, 8), 0.0),
            ((17, 18), 0.0),
        ];
        for ((i, j), share) in sixths {
            assert!((pair(i, j) - share / 6.0).abs() < 1e-12, "{i} {j}: {}", pair(i, j));
        }
    }

    #[test]
    fn one_candidate_each_is_hdbscan_alone() {
        let points = blobs(60, 1, 2, 0.1, 4).means();
        let oracle = Hdbscan::new(4);
        let alone = oracle.fit(&points).unwrap();
        assert!(alone.clusters > 1);
        let found = HdbscanDraws::new(oracle).group(&Candidates::from_points(&points).unwrap(), 1).unwrap();
        assert!(found.partition.same_grouping(&alone.partition()));
        for (noise, label) in found.noise.iter().zip(&alone.labels) {
            assert_eq!(*noise, label.is_none());
        }
        assert_eq!((found.confidence, found.iterations), (vec![1.0; 60], 1));
    }

    #[test]
    fn the_number_of_threads_does_not_change_a_byte() {
        let candidates = blobs(40, 6, 2, 1.5, 3);
        let method = HdbscanDraws::new(Hdbscan::new(3)).worlds(20);
        same_on_any_threads(|| method.group(&candidates, 7).unwrap());
    }

    #[test]
    fn degenerate_inputs_have_a_defined_answer() {
        let method = HdbscanDraws::new(Hdbscan::default());
        let one = method.group(&one_object(), 1).unwrap();
        assert_eq!((one.partition.labels(), &one.noise[..], one.k()), (&[0][..], &[true][..], 0));
        // Every world has three positions with several objects each; the objects at each differ, so
        // no pair agrees.
        let equal = method.group(&identical(30), 1).unwrap();
        assert_eq!(equal.partition.len(), 30);
        // Fewer objects than the minimum cluster size.
        assert_eq!(method.group(&blobs(4, 3, 2, 0.5, 1), 1).unwrap().noise, [true; 4]);
    }
}
