//! Agglomerative linkage: repeatedly merge the two nearest clusters.
//!
//! The distance between clusters is defined by the [`Method`]; the crate `kodama` does the merging
//! in O(n^2) time (median and centroid O(n^3) at worst). The result is a [`Dendrogram`], which is
//! cut at K clusters. Memory: all `n (n - 1) / 2` dissimilarities, 8 bytes each: 100 MB at 5000
//! points, 1.6 GB at 20 000.
//!
//! # Rules
//! - Objects that are merged at dissimilarity 0 are never separated, so equal points share a
//!   cluster, and fewer distinct points than K give fewer clusters.
//! - A cut at K uses the first `n - K` merges. Centroid and median linkage can merge at a lower
//!   height than before (an inversion); the order of the merges counts then, not the heights.
//! - Clusters are numbered by their first member.
//! - Start centres cannot be used; only their number matters, as K. Nothing is random.

use super::dissimilarities::Dissimilarities;
use super::{Oracle, OracleError, Result, Start};
use crate::{Partition, Points, Stream};

/// How far apart two clusters are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// The nearest pair of members.
    Single,
    /// The farthest pair of members.
    Complete,
    /// The mean over all pairs of members (UPGMA).
    #[default]
    Average,
    /// The mean of the two clusters that were joined (WPGMA).
    Weighted,
    /// The increase of the sum of squares.
    Ward,
    /// The distance between the means of the members.
    Centroid,
    /// The distance between midpoints: a merged cluster lies half-way between its two parts.
    Median,
}

impl Method {
    fn kodama(self) -> kodama::Method {
        match self {
            Method::Single => kodama::Method::Single,
            Method::Complete => kodama::Method::Complete,
            Method::Average => kodama::Method::Average,
            Method::Weighted => kodama::Method::Weighted,
            Method::Ward => kodama::Method::Ward,
            Method::Centroid => kodama::Method::Centroid,
            Method::Median => kodama::Method::Median,
        }
    }
}

/// A merge of two clusters. Objects are clusters `0..n`; the i-th merge creates cluster `n + i`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merge {
    /// The part with the lower index.
    pub first: usize,
    /// The part with the higher index.
    pub second: usize,
    /// The dissimilarity of the two parts.
    pub dissimilarity: f64,
    /// The number of objects in the new cluster.
    pub size: usize,
}

/// The tree of merges, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Dendrogram {
    objects: usize,
    merges: Vec<Merge>,
}

impl Dendrogram {
    /// The merges in order, one fewer than objects; numbered as in scipy.
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The clusters at the level with `k` of them; fewer if the remaining objects are equal.
    pub fn cut(&self, k: usize) -> Result<Partition> {
        let n = self.objects;
        match (n, k) {
            (0, _) => return Err(OracleError::NoPoints),
            (_, 0) => return Err(OracleError::NoClusters),
            _ if k > n => return Err(OracleError::MoreClustersThanPoints { k, n }),
            _ => {}
        }
        let equal = self.merges.iter().take_while(|m| m.dissimilarity == 0.0).count();
        let done = (n - k).max(equal);
        // From the last merge down to the objects, every node inherits the root above it.
        let mut root: Vec<usize> = (0..n + done).collect();
        for (i, merge) in self.merges[..done].iter().enumerate().rev() {
            root[merge.first] = root[n + i];
            root[merge.second] = root[n + i];
        }
        Ok(Partition::from_labels(&root[..n]).canonical())
    }
}

/// The oracle.
///
/// ```
/// use goc::Points;
/// use goc::oracle::linkage::{Linkage, Method};
/// let points = Points::new(vec![0.0, 1.0, 10.0, 12.0], 1)?;
/// let tree = Linkage::new(Method::Complete).fit(&points)?;
/// assert_eq!(tree.cut(2)?.labels(), [0, 0, 1, 1]);
/// assert_eq!(tree.merges()[2].dissimilarity, 12.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linkage {
    method: Method,
}

impl Linkage {
    /// Linkage by `method`.
    pub fn new(method: Method) -> Self {
        Self { method }
    }

    /// The tree of points by Euclidean distance.
    pub fn fit(&self, points: &Points) -> Result<Dendrogram> {
        let distances = Dissimilarities::euclidean(points).map_err(|_| self.too_large())?;
        self.fit_matrix(distances)
    }

    /// The tree of objects with given dissimilarities, which are overwritten. Ward, centroid and
    /// median linkage are meaningful only for Euclidean distances.
    pub fn fit_matrix(&self, dissimilarities: Dissimilarities) -> Result<Dendrogram> {
        // Squares and sums of these stay finite, so kodama never meets a NaN (it would panic).
        const LARGEST: f64 = 1e140;
        let n = dissimilarities.len();
        if n == 0 {
            return Err(OracleError::NoPoints);
        }
        if dissimilarities.condensed().iter().any(|&d| d > LARGEST) {
            return Err(self.too_large());
        }
        let tree = kodama::linkage(&mut dissimilarities.into_condensed(), n, self.method.kodama());
        let merges = tree.steps().iter().map(|step| Merge {
            first: step.cluster1,
            second: step.cluster2,
            dissimilarity: step.dissimilarity,
            size: step.size,
        });
        Ok(Dendrogram { objects: n, merges: merges.collect() })
    }

    fn too_large(&self) -> OracleError {
        OracleError::Failed {
            oracle: self.name().into(),
            reason: "the dissimilarities are too large to be squared and summed; scale them".into(),
        }
    }
}

impl Oracle for Linkage {
    fn name(&self) -> &str {
        "linkage"
    }

    fn cluster(&self, points: &Points, start: Start<'_>, _stream: &mut Stream) -> Result<Partition> {
        start.check(points)?;
        self.fit(points)?.cut(start.k())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congruential;
    use crate::points::squared_distance;
    use crate::random::stream;

    const METHODS: [Method; 7] = [
        Method::Single,
        Method::Complete,
        Method::Average,
        Method::Weighted,
        Method::Ward,
        Method::Centroid,
        Method::Median,
    ];

    #[test]
    fn trees_and_cuts_are_those_of_scipy() {
        // scipy 1.17.1: linkage(pdist(X), method)[:, 2] and fcluster(Z, 3, 'maxclust') on 12 points
        // of the plane.
        let want: [(&[f64], [u32; 12]); 7] = [
            (
                &[
                    0.08494961167527017,
                    0.10452777334044697,
                    0.11682291883676182,
                    0.22881567170803344,
                    0.23774227671545095,
                    0.2391207723500844,
                    0.24846062397304375,
                    0.27156793470847357,
                    0.34352543436689076,
                    0.3477299134053232,
                    0.4031191090227437,
                ],
                [3, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1],
            ),
            (
                &[
                    0.08494961167527017,
                    0.10452777334044697,
                    0.21659528871033532,
                    0.23774227671545095,
                    0.34352543436689076,
                    0.3640333411097228,
                    0.43824405944911704,
                    0.5323990193847872,
                    0.6081350410249637,
                    0.9313318571182119,
                    1.1416627922736988,
                ],
                [2, 1, 3, 3, 1, 3, 2, 3, 1, 2, 1, 1],
            ),
            (
                &[
                    0.08494961167527017,
                    0.10452777334044697,
                    0.16670910377354858,
                    0.23774227671545095,
                    0.3069456036692603,
                    0.30791288837441,
                    0.41219704035547555,
                    0.43297865084873116,
                    0.4897535755651265,
                    0.640453625637307,
                    0.7738330407834697,
                ],
                [1, 3, 2, 2, 3, 2, 2, 2, 3, 1, 3, 3],
            ),
            (
                &[
                    0.08494961167527017,
                    0.10452777334044697,
                    0.16670910377354858,
                    0.23774227671545095,
                    0.2981011864290636,
                    0.30791288837441,
                    0.41219704035547555,
                    0.4591787499384777,
                    0.5429190705202631,
                    0.6816682055681571,
                    0.759826014875807,
                ],
                [2, 1, 3, 3, 1, 3, 3, 3, 1, 2, 1, 1],
            ),
            (
                &[
                    0.08494961167527017,
                    0.10452777334044697,
                    0.1916560908803374,
                    0.23774227671545095,
                    0.3374657602774236,
                    0.36318016937237935,
                    0.41219704035547555,
                    0.6036326945025043,
                    0.6431974586704508,
                    1.038380752846283,
                    1.453769122231529,
                ],
                [2, 1, 3, 3, 1, 3, 3, 3, 1, 2, 1, 1],
            ),
            (
                &[
                    0.08494961167527017,
                    0.10452777334044697,
                    0.16597904349239126,
                    0.23774227671545095,
                    0.29225392130767835,
                    0.29653536655330015,
                    0.41219704035547555,
                    0.4151821742922648,
                    0.47721354619312834,
                    0.5714010548934948,
                    0.6839261848259175,
                ],
                [1, 3, 2, 2, 3, 2, 2, 2, 3, 1, 3, 3],
            ),
            (
                &[
                    0.08494961167527017,
                    0.10452777334044697,
                    0.16597904349239126,
                    0.23774227671545095,
                    0.28651605527423896,
                    0.29225392130767835,
                    0.41219704035547555,
                    0.4200429933306468,
                    0.5275562627062264,
                    0.6446880509853624,
                    0.6098153788146732,
                ],
                [2, 3, 1, 2, 3, 2, 2, 1, 3, 2, 3, 3],
            ),
        ];
        let points = congruential::points(7, 12, 2);
        for (method, (heights, labels)) in METHODS.into_iter().zip(want) {
            let tree = Linkage::new(method).fit(&points).unwrap();
            for (merge, height) in tree.merges().iter().zip(heights) {
                assert!((merge.dissimilarity - height).abs() < 1e-14, "{method:?}: {merge:?} {height}");
            }
            let cut = tree.cut(3).unwrap();
            // Median has an inversion at the top here, which does not touch the cut at three.
            assert!(cut.same_grouping(&Partition::from_labels(&labels)), "{method:?}: {cut:?}");
        }
    }

    #[test]
    fn a_larger_tree_is_that_of_scipy() {
        // scipy 1.17.1 on 300 points of space: sum of the heights, height 150, last height, sizes
        // at four clusters (centroid left out: its inversions make maxclust mean something else).
        let want: [(f64, f64, f64, &[usize]); 7] = [
            (30.523214594776633, 0.10569011224212971, 0.19510197989607828, &[1, 2, 2, 295]),
            (64.48672112927719, 0.14143296104787556, 1.5191968047657685, &[43, 67, 72, 118]),
            (47.87587685240606, 0.13183553103575768, 0.7463331775842077, &[39, 41, 82, 138]),
            (48.97818250840453, 0.13250765862022384, 0.851637905477973, &[47, 67, 92, 94]),
            (96.02832949444566, 0.14581262119505137, 5.735453144393725, &[58, 64, 89, 89]),
            (43.42503692599472, 0.12530293509901533, 0.643748086306079, &[]),
            (43.861018132809455, 0.12709764502681234, 0.5601951637740942, &[21, 36, 49, 194]),
        ];
        let points = congruential::points(8, 300, 3);
        for (method, (sum, middle, last, sizes)) in METHODS.into_iter().zip(want) {
            let tree = Linkage::new(method).fit(&points).unwrap();
            let heights: Vec<f64> = tree.merges().iter().map(|m| m.dissimilarity).collect();
            assert!((heights.iter().sum::<f64>() - sum).abs() < 1e-11, "{method:?}");
            assert!(
                (heights[150] - middle).abs() < 1e-13 && (heights[298] - last).abs() < 1e-13,
                "{method:?}"
            );
            if !sizes.is_empty() {
                let mut got = tree.cut(4).unwrap().sizes();
                got.sort_unstable();
                assert_eq!(got, sizes, "{method:?}");
            }
        }
    }

    /// A cluster as the definitions see it.
    #[derive(Clone)]
    struct Cluster {
        members: Vec<usize>,
        mean: Vec<f64>,
        midpoint: Vec<f64>,
    }

    /// All heights from the definitions: look at every pair of clusters, join the nearest.
    fn heights_by_definition(points: &Points, method: Method) -> Vec<f64> {
        let n = points.len();
        let single = |i: usize| Cluster {
            members: vec![i],
            mean: points.row(i).to_vec(),
            midpoint: points.row(i).to_vec(),
        };
        let mut clusters: Vec<Cluster> = (0..n).map(single).collect();
        let between = |i: usize, j: usize| squared_distance(points.row(i), points.row(j)).sqrt();
        // Weighted linkage alone is defined by its history.
        let mut weighted: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| between(i, j)).collect()).collect();
        let mut heights = Vec::new();
        while clusters.len() > 1 {
            let mut best = (f64::INFINITY, 0, 0);
            for b in 0..clusters.len() {
                for a in 0..b {
                    let (x, y) = (&clusters[a], &clusters[b]);
                    let pairs = x.members.iter().flat_map(|&i| y.members.iter().map(move |&j| between(i, j)));
                    let (s, t) = (x.members.len() as f64, y.members.len() as f64);
                    let d = match method {
                        Method::Single => pairs.fold(f64::INFINITY, f64::min),
                        Method::Complete => pairs.fold(0.0, f64::max),
                        Method::Average => pairs.sum::<f64>() / (s * t),
                        Method::Weighted => weighted[a][b],
                        Method::Ward => (2.0 * s * t / (s + t) * squared_distance(&x.mean, &y.mean)).sqrt(),
                        Method::Centroid => squared_distance(&x.mean, &y.mean).sqrt(),
                        Method::Median => squared_distance(&x.midpoint, &y.midpoint).sqrt(),
                    };
                    if d < best.0 {
                        best = (d, a, b);
                    }
                }
            }
            let (height, a, b) = best;
            heights.push(height);
            let gone = clusters.remove(b);
            let kept = &mut clusters[a];
            let (s, t) = (kept.members.len() as f64, gone.members.len() as f64);
            for f in 0..points.features() {
                kept.mean[f] = (s * kept.mean[f] + t * gone.mean[f]) / (s + t);
                kept.midpoint[f] = (kept.midpoint[f] + gone.midpoint[f]) / 2.0;
            }
            kept.members.extend(gone.members);
            let gone = weighted.remove(b);
            weighted.iter_mut().for_each(|row| {
                row.remove(b);
            });
            let gone: Vec<f64> = gone.iter().enumerate().filter(|(j, _)| *j != b).map(|(_, &d)| d).collect();
            for (j, d) in gone.into_iter().enumerate() {
                let mean = (weighted[a][j] + d) / 2.0;
                weighted[a][j] = mean;
                weighted[j][a] = mean;
            }
        }
        heights
    }

    #[test]
    fn heights_follow_the_definitions() {
        for seed in 0..5 {
            let points = congruential::points(seed, 25, 3);
            for method in METHODS {
                let tree = Linkage::new(method).fit(&points).unwrap();
                for (merge, want) in tree.merges().iter().zip(heights_by_definition(&points, method)) {
                    assert!((merge.dissimilarity - want).abs() < 1e-13, "{method:?} {merge:?} {want}");
                }
            }
        }
    }

    #[test]
    fn cuts_are_nested_and_have_k_clusters() {
        let points = congruential::points(3, 60, 2);
        for method in METHODS {
            let tree = Linkage::new(method).fit(&points).unwrap();
            for k in 1..=60 {
                let cut = tree.cut(k).unwrap();
                assert_eq!(cut.k(), k);
                if k > 1 {
                    // Knowing the finer cut settles the coarser one.
                    let coarse = tree.cut(k - 1).unwrap();
                    assert_eq!(
                        crate::metrics::Scores::of(cut.labels(), coarse.labels()).unwrap().homogeneity,
                        1.0
                    );
                }
            }
        }
    }

    #[test]
    fn equal_points_are_never_cut_apart() {
        let points = Points::new(vec![4.0, 1.0, 4.0, 1.0, 9.0, 4.0, 4.0], 1).unwrap();
        for method in METHODS {
            for k in 3..=7 {
                let cut = Linkage::new(method).cluster(&points, Start::K(k), &mut stream(1, 1)).unwrap();
                assert_eq!(cut.labels(), [0, 1, 0, 1, 2, 0, 0], "{method:?}");
            }
        }
    }

    #[test]
    fn bad_requests_are_errors() {
        let rng = &mut stream(1, 1);
        let points = congruential::points(1, 3, 2);
        let oracle = Linkage::default();
        assert_eq!(oracle.cluster(&points, Start::K(0), rng), Err(OracleError::NoClusters));
        let too_many = OracleError::MoreClustersThanPoints { k: 4, n: 3 };
        assert_eq!(oracle.cluster(&points, Start::K(4), rng), Err(too_many.clone()));
        assert_eq!(oracle.fit(&points).unwrap().cut(4), Err(too_many));
        assert_eq!(oracle.fit(&points).unwrap().cut(0), Err(OracleError::NoClusters));
        assert_eq!(oracle.fit(&Points::new(vec![], 2).unwrap()), Err(OracleError::NoPoints));
        let huge = Points::new(vec![-1e300, 0.0, 1e150, 1e300], 1).unwrap();
        for method in METHODS {
            assert!(matches!(Linkage::new(method).fit(&huge), Err(OracleError::Failed { .. })));
        }
        let one = Points::new(vec![5.0], 1).unwrap();
        assert_eq!(oracle.cluster(&one, Start::K(1), rng).unwrap().labels(), [0]);
        let centres = congruential::points(2, 2, 2);
        assert_eq!(oracle.cluster(&points, Start::Centres(&centres), rng).unwrap().k(), 2);
    }
}
