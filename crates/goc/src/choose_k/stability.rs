//! Stability: a number of clusters is good if the clusters are recovered on resampling (Ben-Hur,
//! Elisseeff & Guyon 2002; von Luxburg 2010).
//!
//! Each repetition leaves out a fifth of the objects, resamples the candidates of every other
//! object from its own set with replacement (a bootstrap of the uncertainty), and clusters with its
//! own seed. The criterion is the adjusted Rand index on the objects that two repetitions share,
//! averaged over all pairs. The chance level is 0 at any K, so values for different K are
//! comparable. Coarse clusters are recovered more easily than fine ones, so among equally stable
//! numbers the largest is chosen. At least two clusters are required, since a single cluster is
//! always recovered. The cost is `repeats` clusterings per K.

use rand::RngExt;
use rayon::prelude::*;

use crate::metrics::Contingency;
use crate::resample::{candidates_of_each, subset};
use crate::{Candidates, Partition, random};

/// Default number of repetitions.
pub const REPEATS: usize = 6;

/// The stream of the resampling, separate from those of starts and moves.
const STREAM: u64 = 1 << 60;

/// The number of objects kept in a repetition, out of five.
const KEPT_OF_FIVE: usize = 4;

/// The objects drawn for a repetition, with resampled candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct Resampled {
    /// The objects, ascending.
    pub objects: Vec<usize>,
    /// Their candidates: for each object, as many as it has, drawn with replacement from its own.
    pub candidates: Candidates,
}

/// Four fifths of the objects, rounded up, with resampled candidates.
pub fn resample(candidates: &Candidates, seed: u64, repeat: u64) -> Resampled {
    let n = candidates.objects();
    let mut rng = random::stream(seed, STREAM + repeat);
    let mut objects: Vec<usize> = (0..n).collect();
    let kept = (n * KEPT_OF_FIVE).div_ceil(5);
    for at in 0..kept {
        objects.swap(at, rng.random_range(at..n));
    }
    objects.truncate(kept);
    objects.sort_unstable();
    let candidates = candidates_of_each(&subset(candidates, &objects), &mut rng);
    Resampled { objects, candidates }
}

/// The adjusted Rand index on shared objects, averaged over all pairs of clusterings, each with
/// ascending objects; `None` for fewer than two clusterings, or two that share nothing.
pub fn agreement(clusterings: &[(&[usize], Partition)]) -> Option<f64> {
    let pairs: Vec<(usize, usize)> =
        (0..clusterings.len()).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
    let indices: Option<Vec<f64>> = pairs
        .par_iter()
        .map(|&(a, b)| {
            let (first, second) = shared(&clusterings[a], &clusterings[b]);
            Some(Contingency::new(&first, &second).ok()?.ari())
        })
        .collect();
    let indices = indices?;
    (!indices.is_empty()).then(|| indices.iter().sum::<f64>() / indices.len() as f64)
}

/// The labels of the objects in both.
fn shared(a: &(&[usize], Partition), b: &(&[usize], Partition)) -> (Vec<u32>, Vec<u32>) {
    a.0.iter()
        .zip(a.1.labels())
        .filter_map(|(object, label)| Some((*label, b.1.labels()[b.0.binary_search(object).ok()?])))
        .unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Points;
    use crate::candidates::CandidatesBuilder;

    #[test]
    fn resampled_candidates_are_the_objects_own_and_follow_the_seed() {
        let mut builder = CandidatesBuilder::new(1);
        for i in 0..10 {
            let x = 10.0 * f64::from(i);
            builder.push(&[x, x + 1.0, x + 2.0], &[x, x + 1.0, x + 2.0]).unwrap();
        }
        let candidates = builder.build().unwrap();
        let drawn = resample(&candidates, 1, 0);
        assert_eq!((drawn.objects.len(), drawn.candidates.objects()), (8, 8));
        assert!(drawn.objects.windows(2).all(|w| w[0] < w[1]));
        for (at, &i) in drawn.objects.iter().enumerate() {
            assert_eq!(drawn.candidates.count(at), 3);
            for j in 0..3 {
                let x = drawn.candidates.candidate(at, j)[0];
                assert!((0..3).any(|own| candidates.candidate(i, own)[0] == x));
                assert_eq!(drawn.candidates.penalty(at, j), x);
            }
        }
        assert_eq!(drawn, resample(&candidates, 1, 0));
        assert!((1..4).all(|repeat| resample(&candidates, 1, repeat) != drawn));
        let plain = Candidates::from_points(&Points::new(vec![1.0, 2.0], 1).unwrap()).unwrap();
        assert_eq!(resample(&plain, 3, 1).candidates, plain);
    }

    #[test]
    fn agreement_is_the_mean_adjusted_rand_index_of_all_pairs_on_what_they_share() {
        let all = [0, 1, 2, 3];
        let p = |labels: &[u32]| Partition::from_labels(labels);
        let (a, b) = (p(&[0, 0, 1, 1]), p(&[0, 0, 1, 2]));
        // ARI of a and b is 4/7 (the example of Scores).
        let found = agreement(&[(&all, a.clone()), (&all, a.clone()), (&all, b.clone())]).unwrap();
        assert!((found - (1.0 + 2.0 * 4.0 / 7.0) / 3.0).abs() < 1e-15);
        // Without object 3 they agree; object 9 is in one of them only.
        assert_eq!(agreement(&[(&all, a.clone()), (&[0, 1, 2, 9], b.clone())]), Some(1.0));
        assert_eq!(agreement(&[(&all, a.clone())]), None);
        assert_eq!(agreement(&[(&all, a), (&[5, 6, 7, 8], b)]), None);
    }
}
