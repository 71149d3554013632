//! Stability: is the same cluster found again when the method is repeated?
//!
//! The method is repeated in three ways: with other seeds, with each object's candidates resampled,
//! and on a bootstrap of the objects (see `resample`). Every repeat uses its own seed. Its
//! partition is compared with the one under assessment, over the objects that both contain:
//!
//! ```text
//! cluster C   max over clusters D of the repeat   |C and D| / |C or D|          (Hennig 2007, eq. 1)
//! object i    |A and B| / |A or B|,   A, B the other members of its cluster in the two partitions
//! ```
//!
//! and averaged, first over the repeats of one kind, then over the kinds. An object that is alone
//! in both partitions agrees fully. Hennig interprets a mean above 0.75 as a valid cluster and one
//! below 0.5 as dissolved.
//!
//! Source: C. Hennig, "Cluster-wise assessment of cluster stability", Computational Statistics &
//! Data Analysis 52 (2007) 258. The cost per repeat is that of the method plus O(n log n) for the
//! comparison.

use rand::RngExt;
use rayon::prelude::*;

use super::{ConfidenceError, check_objects};
use crate::method::Tick;
use crate::random::{Stream, stream};
use crate::resample::{candidates_of_each, distinct_objects, subset};
use crate::{Candidates, Partition};

/// The streams of stability, separate from those of methods that are given the same seed.
const STREAMS: u64 = 0x5741_0000_0000_0000;

/// The number of repeats of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// With other seeds, everything else unchanged.
    pub seeds: usize,
    /// With the candidates of each object resampled.
    pub candidates: usize,
    /// With the objects resampled.
    pub bootstrap: usize,
}

/// What is changed in a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Seeds,
    Candidates,
    Bootstrap,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Seeds => "another seed",
            Kind::Candidates => "resampled candidates",
            Kind::Bootstrap => "resampled objects",
        }
    }
}

/// Stability from 0 to 1. NaN if no repeat contained the object, or any member of the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    /// Of each object.
    pub objects: Vec<f64>,
    /// Of each cluster.
    pub clusters: Vec<f64>,
    /// Of each cluster, by kind of repeat: seeds, candidates, bootstrap.
    pub by_kind: Vec<[f64; 3]>,
}

impl Repeats {
    /// This many repeats of each kind.
    pub fn each(repeats: usize) -> Self {
        Self { seeds: repeats, candidates: repeats, bootstrap: repeats }
    }

    /// The total number of repeats.
    pub fn total(&self) -> usize {
        self.seeds + self.candidates + self.bootstrap
    }

    /// Repeats `method`, a function of candidates and seed, and compares the results with
    /// `partition`; `tick` is called after every repeat, from any thread. A method with a fixed K
    /// must cope with the smaller number of objects in a bootstrap sample.
    ///
    /// ```
    /// use goc::confidence::Repeats;
    /// use goc::{Candidates, Partition, Points};
    /// let points = Points::from_rows(&[[0.0], [0.1], [5.0], [5.1]])?;
    /// let candidates = Candidates::from_points(&points)?;
    /// let halves = |c: &Candidates, _seed: u64| {
    ///     let side: Vec<bool> = (0..c.objects()).map(|i| c.feature(i, 0)[0] > 2.0).collect();
    ///     Ok::<_, std::convert::Infallible>(Partition::from_labels(&side))
    /// };
    /// let partition = halves(&candidates, 1)?;
    /// let found = Repeats::each(5).judge(&candidates, &partition, 1, &halves, &|| {})?;
    /// assert_eq!(found.clusters, [1.0, 1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn judge<E: Send>(
        &self,
        candidates: &Candidates,
        partition: &Partition,
        seed: u64,
        method: &(dyn Fn(&Candidates, u64) -> Result<Partition, E> + Sync),
        tick: Tick,
    ) -> Result<Stability, ConfidenceError<E>> {
        if self.total() == 0 {
            return Err(ConfidenceError::NoRepeats);
        }
        check_objects(partition, candidates.objects())?;
        let kinds = [
            (Kind::Seeds, self.seeds),
            (Kind::Candidates, self.candidates),
            (Kind::Bootstrap, self.bootstrap),
        ];
        let runs: Vec<(Kind, usize)> =
            kinds.iter().flat_map(|&(kind, count)| (0..count).map(move |r| (kind, r))).collect();
        let found: Vec<Result<Comparison, E>> = runs
            .par_iter()
            .map(|&(kind, repeat)| {
                let mut rng = stream(seed, STREAMS | (kind as u64) << 32 | repeat as u64);
                let compared = once(candidates, partition, kind, method, &mut rng);
                tick();
                compared
            })
            .collect();
        let mut sums = Sums::new(partition);
        for (at, (result, &(kind, _))) in found.into_iter().zip(&runs).enumerate() {
            // In the order of the repeats, so that of several failures always the same one is
            // reported.
            let compared = result.map_err(|error| ConfidenceError::Repeat {
                repeat: at + 1,
                what: kind.name(),
                error,
            })?;
            sums.add(kind, &compared);
        }
        Ok(sums.means())
    }
}

/// One repeat compared with the partition: NaN for what the repeat does not contain.
struct Comparison {
    objects: Vec<f64>,
    clusters: Vec<f64>,
}

fn once<E>(
    candidates: &Candidates,
    partition: &Partition,
    kind: Kind,
    method: &(dyn Fn(&Candidates, u64) -> Result<Partition, E> + Sync),
    rng: &mut Stream,
) -> Result<Comparison, E> {
    let n = candidates.objects();
    let everyone = || (0..n).collect::<Vec<usize>>();
    let seed = rng.random();
    let (objects, found) = match kind {
        Kind::Seeds => (everyone(), method(candidates, seed)?),
        Kind::Candidates => (everyone(), method(&candidates_of_each(candidates, rng), seed)?),
        Kind::Bootstrap => {
            let objects = distinct_objects(n, rng);
            let found = method(&subset(candidates, &objects), seed)?;
            (objects, found)
        }
    };
    Ok(compare(partition, &objects, &found))
}

/// `found` holds the label of each of `objects`, which are some or all of the partition's.
fn compare(partition: &Partition, objects: &[usize], found: &Partition) -> Comparison {
    let pair = |at: usize| (partition.labels()[objects[at]], found.labels()[at]);
    let mut pairs: Vec<(u32, u32)> = (0..objects.len()).map(pair).collect();
    pairs.sort_unstable();
    let mut shared: Vec<((u32, u32), usize)> = Vec::new();
    let mut own = vec![0_usize; partition.k()];
    for pair in pairs {
        own[pair.0 as usize] += 1;
        match shared.last_mut() {
            Some((last, count)) if *last == pair => *count += 1,
            _ => shared.push((pair, 1)),
        }
    }
    let other = found.sizes();
    let mut clusters = vec![f64::NAN; partition.k()];
    for &((c, d), both) in &shared {
        let (c, d) = (c as usize, d as usize);
        let jaccard = both as f64 / (own[c] + other[d] - both) as f64;
        clusters[c] = clusters[c].max(jaccard);
    }
    let mut of_objects = vec![f64::NAN; partition.len()];
    for (at, &i) in objects.iter().enumerate() {
        let (c, d) = pair(at);
        // Every pair that occurs was counted.
        let both = shared.binary_search_by_key(&(c, d), |entry| entry.0).map_or(1, |at| shared[at].1);
        let either = own[c as usize] + other[d as usize] - both;
        of_objects[i] = if either == 1 { 1.0 } else { (both - 1) as f64 / (either - 1) as f64 };
    }
    Comparison { objects: of_objects, clusters }
}

/// Sums and counts by kind, in the order of the repeats.
struct Sums {
    objects: Vec<[(f64, u32); 3]>,
    clusters: Vec<[(f64, u32); 3]>,
}

impl Sums {
    fn new(partition: &Partition) -> Self {
        Self { objects: vec![[(0.0, 0); 3]; partition.len()], clusters: vec![[(0.0, 0); 3]; partition.k()] }
    }

    fn add(&mut self, kind: Kind, compared: &Comparison) {
        let objects = self.objects.iter_mut().zip(&compared.objects);
        for (sums, value) in objects.chain(self.clusters.iter_mut().zip(&compared.clusters)) {
            if !value.is_nan() {
                sums[kind as usize].0 += value;
                sums[kind as usize].1 += 1;
            }
        }
    }

    fn means(&self) -> Stability {
        let by_kind = |sums: &[(f64, u32); 3]| sums.map(|(sum, count)| sum / f64::from(count));
        let overall = |sums: &[(f64, u32); 3]| {
            let known: Vec<f64> = by_kind(sums).into_iter().filter(|mean| !mean.is_nan()).collect();
            known.iter().sum::<f64>() / known.len() as f64
        };
        Stability {
            objects: self.objects.iter().map(overall).collect(),
            clusters: self.clusters.iter().map(overall).collect(),
            by_kind: self.clusters.iter().map(by_kind).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Points;
    use crate::oracle::Start;
    use crate::oracle::k_means::KMeans;
    use std::convert::Infallible;

    fn line(n: usize) -> Candidates {
        let rows: Vec<[f64; 1]> = (0..n).map(|i| [(i * i) as f64]).collect();
        Candidates::from_points(&Points::from_rows(&rows).unwrap()).unwrap()
    }

    fn k_means(c: &Candidates, seed: u64) -> Result<Partition, crate::oracle::OracleError> {
        let k = Start::K(3.min(c.objects()));
        Ok(KMeans::default().starts(1).fit(&c.means(), k, &mut stream(seed, 0))?.partition)
    }

    #[test]
    fn agreement_is_as_counted_by_hand() {
        let a = Partition::from_labels(&[0, 0, 0, 1, 1, 2]);
        let b = Partition::from_labels(&[0, 0, 1, 1, 1, 2]);
        let all: Vec<usize> = (0..6).collect();
        let found = compare(&a, &all, &b);
        // {0,1,2} best matches {0,1}: 2 of 3; {3,4} best {2,3,4}: 2 of 3; {5} is {5}.
        assert_eq!(found.clusters, [2.0 / 3.0, 2.0 / 3.0, 1.0]);
        // Object 0: others {1,2} and {1}; object 2: {0,1} and {3,4}; object 3: {4} and {2,4}; 5:
        // none and none.
        assert_eq!(found.objects, [0.5, 0.5, 0.0, 0.5, 0.5, 1.0]);
        // Without objects 1 and 5: {0,2} against {0}, {2,3,4}: 1 of 2; {3,4}: 2 of 3; object 0: {2} and none.
        let found = compare(&a, &[0, 2, 3, 4], &Partition::from_labels(&[0, 1, 1, 1]));
        assert_eq!(found.clusters[..2], [0.5, 2.0 / 3.0]);
        assert!(found.clusters[2].is_nan() && found.objects[1].is_nan());
        assert_eq!((found.objects[0], found.objects[2], found.objects[3]), (0.0, 0.0, 0.5));
    }

    #[test]
    fn identical_repeats_have_stability_one() {
        let c = line(30);
        let fixed = |c: &Candidates, _: u64| {
            let far: Vec<bool> = (0..c.objects()).map(|i| c.feature(i, 0)[0] > 100.0).collect();
            Ok::<_, Infallible>(Partition::from_labels(&far))
        };
        let p = fixed(&c, 1).unwrap();
        let found = Repeats::each(4).judge(&c, &p, 1, &fixed, &|| {}).unwrap();
        assert!(found.objects.iter().chain(&found.clusters).all(|s| *s == 1.0), "{found:?}");
    }

    #[test]
    fn random_labels_are_not_stable() {
        let c = line(60);
        let random = |c: &Candidates, seed: u64| {
            let mut rng = stream(seed, 0);
            let labels: Vec<u32> = (0..c.objects()).map(|_| rng.random_range(0..6)).collect();
            Ok::<_, Infallible>(Partition::from_labels(&labels))
        };
        let p = random(&c, 1).unwrap();
        let found = Repeats::each(10).judge(&c, &p, 1, &random, &|| {}).unwrap();
        assert!(found.clusters.iter().all(|s| *s < 0.4), "{:?}", found.clusters);
        assert!(found.objects.iter().all(|s| *s < 0.25), "{:?}", found.objects);
    }

    #[test]
    fn threads_do_not_change_the_bytes_and_every_repeat_ticks() {
        let c = line(40);
        let p = k_means(&c, 1).unwrap();
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let ticks = std::sync::atomic::AtomicUsize::new(0);
            let tick = || {
                ticks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            };
            let found = pool.install(|| Repeats::each(7).judge(&c, &p, 3, &k_means, &tick).unwrap());
            assert_eq!(ticks.into_inner(), 21);
            format!("{found:?}")
        };
        assert_eq!(on(1), on(2));
        assert_eq!(on(1), on(4));
    }

    #[test]
    fn one_two_and_three_objects_have_an_answer() {
        for n in 1..=3 {
            let c = line(n);
            let p = k_means(&c, 1).unwrap();
            let found = Repeats::each(20).judge(&c, &p, 1, &k_means, &|| {}).unwrap();
            // As many clusters as objects: each alone, always.
            assert!(found.objects.iter().chain(&found.clusters).all(|s| *s == 1.0), "{n}: {found:?}");
        }
    }

    #[test]
    fn bad_requests_and_failed_repeats_are_named() {
        let c = line(3);
        let p = Partition::from_labels(&[0, 0, 1]);
        let fails = |c: &Candidates, _: u64| match c.objects() {
            3 => Ok(Partition::from_labels(&[0, 0, 1])),
            n => Err(format!("{n} objects are too few")),
        };
        let none = Repeats::each(0).judge(&c, &p, 1, &fails, &|| {}).unwrap_err();
        assert_eq!(none.to_string(), "no repeats were asked for; ask for at least 1");
        let short = Partition::from_labels(&[0, 1]);
        let wrong = Repeats::each(1).judge(&c, &short, 1, &fails, &|| {}).unwrap_err();
        assert_eq!(wrong.to_string(), "the partition has 2 objects, the candidates have 3");
        let failed = Repeats { seeds: 1, candidates: 0, bootstrap: 9 };
        let failed = failed.judge(&c, &p, 1, &fails, &|| {}).unwrap_err().to_string();
        assert!(failed.starts_with("repeat ") && failed.contains("(resampled objects) failed: "), "{failed}");
        assert!(failed.ends_with(" objects are too few"), "{failed}");
    }
}
