//! Single linkage, with the significance of every merger against a smooth background (Lövdal et al.
//! 2022).
//!
//! It was designed for clumps of stars in integrals of motion. Single linkage merges the objects
//! step by step; each intermediate cluster of at least a minimum size is a candidate:
//!
//! 1. an ellipsoid is fitted to its members, with their mean and covariance, that contains 95.4 %
//!    of a normal cloud: `(x - mean)' C^-1 (x - mean) <= chi2_q(0.954)`, whose axes are the
//!    principal components;
//! 2. the objects within it are counted: `N`, members or not;
//! 3. the same is done for many artificial backgrounds without clumps: their mean is `<N_art>`,
//!    their standard deviation `sigma_art`;
//! 4. its significance is
//!
//! ```text
//! (N - <N_art>) / sqrt(N + sigma_art^2).
//! ```
//!
//! Of nested candidates the most significant one is selected: in descending order, a candidate
//! above 3 becomes a cluster if it shares no member with one already selected. So an object belongs
//! to the most significant candidate on its way up the tree, unless that contains a still more
//! significant clump. All other objects are in no cluster.
//!
//! # Differences from the original
//! The authors generate backgrounds by shuffling velocities before energies and angular momenta are
//! computed. Here only features are available, so the background is one of [`Background`]: blurred
//! positions, or shuffled uncorrelated combinations of features. Their last step, which adds
//! members to clusters by Mahalanobis distance, is omitted. As in the original, errors enter only
//! through the means of the candidates.
//!
//! Cost: `n^2 q` for the tree and up to `n^2 B q^2` for the counts with B backgrounds, much of
//! which a search along the first feature saves; memory `n^2 / 2 + B n q` numbers.

use rand::RngExt;
use rayon::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::{Grouped, Method, MethodError, Result, Tick};
use crate::confidence::Background;
use crate::matrix::{cholesky, lower_inverse};
use crate::oracle::linkage::{Dendrogram, Linkage, Method as LinkageMethod};
use crate::{Candidates, Partition, Points, random};

/// The share of a normal cloud that an ellipsoid contains.
const HELD: f64 = 0.954;

/// Single linkage with the significance of mergers.
///
/// ```
/// use goc::baselines::{Method, significant_linkage::SignificantLinkage};
/// use goc::{Candidates, Points};
/// // Objects that fill a square, and twelve on top of each other, almost.
/// let spread = |i: usize| [(i * 37 % 101) as f64 * 0.1, (i * 53 % 97) as f64 * 0.1];
/// let clump = |i: usize| [4.0 + 0.01 * (i % 4) as f64, 5.0 + 0.01 * (i / 4) as f64];
/// let rows: Vec<[f64; 2]> = (0..60).map(spread).chain((0..12).map(clump)).collect();
/// let candidates = Candidates::from_points(&Points::from_rows(&rows)?)?;
/// let grouped = SignificantLinkage::default().group(&candidates, 1)?;
/// assert_eq!(grouped.k(), 1);
/// assert!(grouped.noise[..60].iter().filter(|noise| **noise).count() > 55 && !grouped.noise[60]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SignificantLinkage {
    least_members: usize,
    significance: f64,
    backgrounds: usize,
    background: Background,
}

impl Default for SignificantLinkage {
    /// Clusters of at least ten members and three sigma, 100 blurred backgrounds.
    fn default() -> Self {
        let (backgrounds, background) = (Self::BACKGROUNDS, Background::default());
        Self { least_members: 10, significance: 3.0, backgrounds, background }
    }
}

/// An intermediate cluster of the linkage.
#[derive(Clone, Debug, PartialEq)]
pub struct Clump {
    /// The index of its merger, from 0.
    pub merger: usize,
    /// Its members, in ascending order.
    pub members: Vec<usize>,
    /// The number of objects within its ellipsoid.
    pub inside: usize,
    /// The mean and standard deviation of that number in the backgrounds.
    pub expected: (f64, f64),
    /// Its significance, in standard deviations.
    pub significance: f64,
}

impl SignificantLinkage {
    /// Default number of backgrounds.
    pub const BACKGROUNDS: usize = 100;

    setters! {
        /// The minimum number of members of a cluster; at least two.
        least_members: usize = least_members.max(2);
        /// The minimum significance of a cluster.
        significance: f64;
        /// The number of backgrounds to draw; at least one.
        backgrounds: usize = backgrounds.max(1);
        /// How they are drawn.
        background: Background;
    }

    /// All candidates, by merger, evaluated against these backgrounds.
    pub fn clumps(&self, points: &Points, backgrounds: &[Points], tick: Tick) -> Result<Vec<Clump>> {
        let tree = Linkage::new(LinkageMethod::Single).fit(points)?;
        let (order, firsts) = leaves(&tree, points.len());
        let (own, others) = (Sorted::new(points), backgrounds.iter().map(Sorted::new).collect::<Vec<_>>());
        let limit = ChiSquared::new(points.features() as f64).map(|law| law.inverse_cdf(HELD));
        let limit = limit.map_err(|error| failed(&error.to_string()))?;
        let floor = spreads(points);
        let large: Vec<usize> =
            (0..tree.merges().len()).filter(|&m| tree.merges()[m].size >= self.least_members).collect();
        let clump = |&merger: &usize| {
            let (first, size) = (firsts[merger], tree.merges()[merger].size);
            let mut members = order[first..first + size].to_vec();
            members.sort_unstable();
            let ellipsoid = Ellipsoid::around(points, &members, limit, &floor)?;
            let inside = own.count(&ellipsoid);
            let counts: Vec<f64> = others.iter().map(|other| other.count(&ellipsoid) as f64).collect();
            let mean = counts.iter().sum::<f64>() / counts.len() as f64;
            let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / counts.len() as f64;
            let significance = (inside as f64 - mean) / (inside as f64 + variance).sqrt();
            tick();
            Ok(Clump { merger, members, inside, expected: (mean, variance.sqrt()), significance })
        };
        let found: Vec<Result<Clump>> = large.par_iter().map(clump).collect();
        found.into_iter().collect()
    }

    /// The selected candidates, the most significant first.
    pub fn taken<'c>(&self, clumps: &'c [Clump], objects: usize) -> Vec<&'c Clump> {
        let mut order: Vec<&Clump> = clumps.iter().filter(|c| c.significance > self.significance).collect();
        order.sort_by(|a, b| b.significance.total_cmp(&a.significance).then(a.merger.cmp(&b.merger)));
        let mut free = vec![true; objects];
        order.retain(|clump| {
            let apart = clump.members.iter().all(|&i| free[i]);
            if apart {
                clump.members.iter().for_each(|&i| free[i] = false);
            }
            apart
        });
        order
    }
}

impl Method for SignificantLinkage {
    fn name(&self) -> &str {
        "significant-linkage"
    }

    /// The steps are candidates.
    fn group_watched(&self, candidates: &Candidates, seed: u64, tick: Tick) -> Result<Grouped> {
        let points = candidates.means();
        let n = points.len();
        let clumps = if n < self.least_members {
            Vec::new()
        } else {
            let plain = Candidates::from_points(&points).map_err(|error| failed(&error.to_string()))?;
            let mut numbers = random::stream(seed, random::key_of_text("significant linkage"));
            let own: u64 = numbers.random();
            let draw = |b: usize| self.background.draw(&plain, &mut random::stream(own, b as u64)).means();
            let backgrounds: Vec<Points> = (0..self.backgrounds).into_par_iter().map(draw).collect();
            self.clumps(&points, &backgrounds, tick)?
        };
        let mut labels: Vec<usize> = (0..n).map(|i| n + i).collect();
        for (label, clump) in self.taken(&clumps, n).into_iter().enumerate() {
            clump.members.iter().for_each(|&i| labels[i] = label);
        }
        let noise = labels.iter().map(|&label| label >= n).collect();
        Ok(Grouped { noise, places: Some(points), ..Grouped::new(Partition::from_labels(&labels)) })
    }
}

fn failed(reason: &str) -> MethodError {
    MethodError::Failed { method: "significant-linkage", reason: reason.into() }
}

/// The objects in an order in which the members of every merger are contiguous, and the start of
/// each.
fn leaves(tree: &Dendrogram, n: usize) -> (Vec<usize>, Vec<usize>) {
    let merges = tree.merges();
    let size = |node: usize| if node < n { 1 } else { merges[node - n].size };
    let mut firsts = vec![0; n + merges.len()];
    for (at, merge) in merges.iter().enumerate().rev() {
        firsts[merge.first] = firsts[n + at];
        firsts[merge.second] = firsts[n + at] + size(merge.first);
    }
    let mut order = vec![0; n];
    (0..n).for_each(|i| order[firsts[i]] = i);
    (order, firsts.split_off(n))
}

/// The variance of each feature over all objects.
fn spreads(points: &Points) -> Vec<f64> {
    let n = points.len() as f64;
    let variance = |f: usize| {
        let mean = points.rows().map(|x| x[f] / n).sum::<f64>();
        points.rows().map(|x| (x[f] - mean).powi(2) / n).sum::<f64>()
    };
    (0..points.features()).map(variance).collect()
}

/// All points within a Mahalanobis distance of a mean.
struct Ellipsoid {
    mean: Vec<f64>,
    /// `L^-1` of the covariance `L L'`.
    white: Vec<f64>,
    /// The largest squared distance.
    limit: f64,
    /// Its extent along the first feature.
    reach: f64,
}

impl Ellipsoid {
    /// With the mean and covariance of the members; in a direction without extent, a billionth of
    /// the variance of all objects.
    fn around(points: &Points, members: &[usize], limit: f64, floor: &[f64]) -> Result<Self> {
        let (m, q) = (members.len() as f64, points.features());
        let mean: Vec<f64> =
            (0..q).map(|f| members.iter().map(|&i| points.row(i)[f]).sum::<f64>() / m).collect();
        let mut covariance = vec![0.0; q * q];
        for &i in members {
            let x = points.row(i);
            for a in 0..q {
                for b in 0..q {
                    covariance[a * q + b] += (x[a] - mean[a]) * (x[b] - mean[b]) / (m - 1.0);
                }
            }
        }
        let low = cholesky(&covariance, q).or_else(|| {
            for f in 0..q {
                covariance[f * q + f] += 1e-9 * if floor[f] > 0.0 { floor[f] } else { 1.0 };
            }
            cholesky(&covariance, q)
        });
        let low = low.ok_or_else(|| {
            failed("the covariance of a cluster overflows or underflows; scale the features")
        })?;
        // Slightly more than its extent, so that rounding excludes nobody.
        let reach = (limit * covariance[0]).sqrt() * (1.0 + 1e-9);
        Ok(Self { mean, white: lower_inverse(&low, q), limit, reach })
    }

    fn holds(&self, x: &[f64]) -> bool {
        let q = self.mean.len();
        let mut far = 0.0;
        for a in 0..q {
            let y: f64 = (0..=a).map(|f| self.white[a * q + f] * (x[f] - self.mean[f])).sum();
            far += y * y;
        }
        far <= self.limit
    }
}

/// Points sorted by their first feature, so that few need to be examined.
struct Sorted {
    points: Points,
}

impl Sorted {
    fn new(points: &Points) -> Self {
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| points.row(a)[0].total_cmp(&points.row(b)[0]));
        Self { points: points.subset(&order) }
    }

    fn count(&self, ellipsoid: &Ellipsoid) -> usize {
        let n = self.points.len();
        let (low, high) = (ellipsoid.mean[0] - ellipsoid.reach, ellipsoid.mean[0] + ellipsoid.reach);
        let below = |least: f64, or_equal: bool| {
            let (mut from, mut to) = (0, n);
            while from < to {
                let middle = (from + to) / 2;
                let x = self.points.row(middle)[0];
                if x < least || (or_equal && x == least) { from = middle + 1 } else { to = middle }
            }
            from
        };
        (below(low, false)..below(high, true)).filter(|&i| ellipsoid.holds(self.points.row(i))).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::testing::{blobs, identical, one_object, same_on_any_threads};

    /// Pseudo-random, between -0.5 and 0.5; Python's `math.fmod(s * s * 0.618033988749895, 1) -
    /// 0.5`.
    fn step(s: usize) -> f64 {
        ((s * s) as f64 * 0.618_033_988_749_895) % 1.0 - 0.5
    }

    /// 36 objects in a square, twelve in a clump and twelve in a larger one.
    fn sky() -> Points {
        let place = |i: usize| match i {
            0..36 => [8.0 * step(1 + i), 8.0 * step(100 + i)],
            36..48 => [1.0 + 0.3 * step(200 + i), 2.0 + 0.2 * step(300 + i)],
            _ => [-2.0 + 0.9 * step(400 + i), -1.0 + 0.6 * step(500 + i)],
        };
        let rows: Vec<[f64; 2]> = (0..60).map(place).collect();
        Points::from_rows(&rows).unwrap()
    }

    /// Five backgrounds that fill the square.
    fn backgrounds() -> Vec<Points> {
        let place = |b: usize, i: usize| [8.0 * step(1000 + 97 * b + i), 8.0 * step(3000 + 89 * b + i)];
        (0..5)
            .map(|b| Points::from_rows(&(0..60).map(|i| place(b, i)).collect::<Vec<_>>()).unwrap())
            .collect()
    }

    #[test]
    fn significances_are_those_of_scipy_and_numpy() {
        // scipy 1.17.1 linkage(x, "single"), numpy 2.4.6 cov and eigh, scipy.stats.chi2.ppf(0.954,
        // 2): size, objects inside, mean and deviation in the backgrounds, significance of every
        // merger of ten members at least.
        let golden = [
            (10, 10, 0.0, 0.0, 3.162277660168379),
            (11, 10, 0.0, 0.0, 3.162277660168379),
            (12, 12, 0.0, 0.0, 3.464101615137755),
            (10, 10, 0.8, 0.7483314773547883, 2.831104292524653),
            (11, 11, 1.0, 0.6324555320336759, 2.9617443887954615),
            (12, 12, 1.0, 0.6324555320336759, 3.1237900883588563),
            (14, 13, 1.4, 1.019803902718557, 3.0958109735650177),
            (13, 12, 0.2, 0.4000000000000001, 3.3838820745907863),
            (15, 15, 1.4, 1.019803902718557, 3.3957579521846717),
            (17, 16, 2.4, 1.3564659966250536, 3.219893321910573),
            (16, 14, 1.6, 1.624807680927192, 3.039800094641852),
            (18, 17, 5.8, 1.8330302779823358, 2.482156360196443),
            (25, 24, 14.2, 2.2271057451320084, 1.8210706583055578),
            (26, 23, 15.0, 2.5298221281347035, 1.4754222271266348),
            (26, 26, 15.0, 3.0983866769659336, 1.843604188673475),
            (27, 26, 18.0, 3.5777087639996634, 1.2843225981358712),
            (30, 31, 25.0, 4.0, 0.8751899489873673),
            (56, 55, 47.4, 1.624807680927192, 1.0010404025702815),
            (58, 56, 52.0, 1.0954451150103321, 0.528885885347945),
            (59, 56, 54.0, 0.8944271909999159, 0.2653724462171376),
            (60, 58, 55.0, std::f64::consts::SQRT_2, 0.3872983346207417),
        ];
        let method = SignificantLinkage::default();
        let clumps = method.clumps(&sky(), &backgrounds(), &|| {}).unwrap();
        assert_eq!(clumps.len(), golden.len());
        for (clump, (size, inside, mean, deviation, significance)) in clumps.iter().zip(golden) {
            assert_eq!((clump.members.len(), clump.inside), (size, inside));
            assert!((clump.expected.0 - mean).abs() < 1e-12 && (clump.expected.1 - deviation).abs() < 1e-12);
            assert!((clump.significance - significance).abs() < 1e-12);
        }
        // The authors' rule by itself, in Python: from the most significant merger up the tree.
        let taken = method.significance(1.5).taken(&clumps, 60).into_iter().map(|c| c.members.clone());
        assert_eq!(
            taken.collect::<Vec<_>>(),
            [
                vec![36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47],
                vec![6, 15, 17, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59]
            ]
        );
    }

    #[test]
    fn a_clump_within_a_significant_cluster_is_taken_alone_if_it_stands_out_more() {
        let clump = |merger, members: std::ops::Range<usize>, significance| Clump {
            merger,
            members: members.collect(),
            inside: 0,
            expected: (0.0, 0.0),
            significance,
        };
        let all = [clump(0, 0..10, 5.0), clump(1, 10..20, 3.5), clump(2, 0..20, 4.0), clump(3, 20..30, 2.9)];
        let method = SignificantLinkage::default();
        let taken: Vec<usize> = method.taken(&all, 30).iter().map(|c| c.merger).collect();
        assert_eq!(taken, [0, 1]);
        let whole = [clump(0, 0..10, 4.0), clump(1, 10..20, 3.5), clump(2, 0..20, 5.0)];
        assert_eq!(method.taken(&whole, 30).iter().map(|c| c.merger).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_tight_clump_stands_out_and_a_smooth_cloud_hardly_ever_has_one() {
        let found =
            SignificantLinkage::default().group(&Candidates::from_points(&sky()).unwrap(), 1).unwrap();
        let of = |i: usize| found.partition.labels()[i];
        assert!((37..48).all(|i| of(i) == of(36) && !found.noise[i]), "{:?}", found.noise);
        let mut clusters = 0;
        for seed in 0..20 {
            let mut numbers = random::stream(seed, 3);
            let rows: Vec<[f64; 2]> =
                (0..150).map(|_| [0; 2].map(|_| (0..12).map(|_| numbers.random::<f64>()).sum())).collect();
            let cloud = Candidates::from_points(&Points::from_rows(&rows).unwrap()).unwrap();
            clusters += SignificantLinkage::default().backgrounds(30).group(&cloud, seed).unwrap().k();
        }
        assert!(clusters <= 4, "{clusters} clusters in 20 clouds");
    }

    #[test]
    fn order_and_place_do_not_matter_to_the_counts() {
        let (points, others) = (sky(), backgrounds());
        let method = SignificantLinkage::default();
        let plain = method.clumps(&points, &others, &|| {}).unwrap();
        let order: Vec<usize> = (0..60).map(|i| (i * 7 + 5) % 60).collect();
        let shuffled = method.clumps(&points.subset(&order), &others, &|| {}).unwrap();
        let shift =
            |points: &Points| Points::new(points.values().iter().map(|v| v + 64.0).collect(), 2).unwrap();
        let moved: Vec<Points> = others.iter().map(shift).collect();
        let moved = method.clumps(&shift(&points), &moved, &|| {}).unwrap();
        for ((a, b), c) in plain.iter().zip(&shuffled).zip(&moved) {
            let mut back: Vec<usize> = b.members.iter().map(|&i| order[i]).collect();
            back.sort_unstable();
            assert_eq!((&a.members, a.inside), (&back, b.inside));
            assert_eq!((&a.members, a.inside), (&c.members, c.inside));
            assert!(
                (a.significance - b.significance).abs() < 1e-9
                    && (a.significance - c.significance).abs() < 1e-9
            );
        }
    }

    #[test]
    fn the_number_of_threads_does_not_change_a_byte() {
        let candidates = blobs(60, 3, 2, 0.5, 3);
        same_on_any_threads(|| {
            SignificantLinkage::default().significance(0.5).group(&candidates, 7).unwrap()
        });
    }

    #[test]
    fn degenerate_inputs_have_a_defined_answer_or_a_named_error() {
        let method = SignificantLinkage::default();
        assert_eq!(method.group(&one_object(), 1).unwrap().noise, [true]);
        assert_eq!(method.group(&blobs(9, 2, 2, 0.5, 1), 1).unwrap().noise, [true; 9]);
        assert_eq!(method.group(&identical(20), 1).unwrap().partition.len(), 20);
        let flat = Points::new((0..40).map(|v| f64::from(v % 2) * f64::from(v)).collect(), 2).unwrap();
        assert_eq!(method.group(&Candidates::from_points(&flat).unwrap(), 1).unwrap().noise.len(), 20);
        let huge = Points::new((0..20).map(|v| f64::from(v) * 1e200).collect(), 1).unwrap();
        let error = method.group(&Candidates::from_points(&huge).unwrap(), 1).unwrap_err();
        assert!(error.to_string().contains("scale"), "{error}");
    }
}
