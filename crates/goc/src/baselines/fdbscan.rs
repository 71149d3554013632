//! FDBSCAN: density-based clustering of fuzzy objects (Kriegel & Pfeifle 2005).
//!
//! DBSCAN with probabilities in place of certainties. Two objects are within `eps` with probability
//!
//! ```text
//! P_ij = share of candidate pairs with |x_ia - x_jb| <= eps
//! ```
//!
//! Neighbours are treated as independent, as in the paper. Object `i` then has at least `mu`
//! neighbours (including itself) with the probability that a Poisson-binomial variable with these
//! success probabilities is at least `mu`: its *core probability*. Object `j` is reached from `i`
//! with probability
//!
//! ```text
//! P_reach(j from i) = P(i has at least mu - 1 neighbours among all but j) * P_ij
//! ```
//!
//! An object with a core probability of at least 1/2 founds or extends a cluster, and takes in
//! every object that it reaches with probability at least 1/2. Objects that no core object reaches
//! are noise. Core probabilities are exact, computed by adding one trial after the other (`mu`
//! numbers are kept). ELKI instead counts the objects with `P_ij >= 1/2` and requires `mu` of them:
//! [`CoreRule::Count`]. For certain objects both are DBSCAN.
//!
//! # Choosing eps
//! By default it is the median, over objects, of the root mean square distance to the `mu - 1`-th
//! nearest other object. Over candidate pairs that distance is `sqrt(|mean_i - mean_j|^2 + var_i +
//! var_j)`, without a sum over pairs. Like any such rule for DBSCAN it is a rule of thumb, and its
//! result should be checked.
//!
//! Cost: `n^2 m^2 q` for the pairs that boxes cannot decide, `n^2 mu` for core probabilities and
//! the same again for every likely neighbour; memory `n^2` numbers.

use rayon::prelude::*;

use super::bounding::BoundingBoxes;
use super::{Grouped, Method, MethodError, Result, Tick};
use crate::points::squared_distance;
use crate::{Candidates, Partition};

/// The probability that counts as likely enough, for core objects and for reaching.
const LIKELY: f64 = 0.5;
/// Probabilities are shares of counts and products of them; a sum that is exactly one half must not
/// fail the test because of rounding.
const ROUNDING: f64 = 1e-12;

/// When an object is core, and what it reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CoreRule {
    /// By the probability of enough neighbours, as Kriegel & Pfeifle define it.
    #[default]
    Probability,
    /// ELKI's rule: enough objects that are more likely than not within `eps`; it reaches all of
    /// them.
    Count,
}

/// FDBSCAN.
///
/// ```
/// use goc::baselines::{Method, fdbscan::Fdbscan};
/// use goc::candidates::CandidatesBuilder;
/// let mut builder = CandidatesBuilder::new(1);
/// for set in [[0.0, 1.0], [0.2, 0.8], [0.4, 0.9], [7.0, 9.0]] {
///     builder.push(&set, &[])?;
/// }
/// let grouped = Fdbscan::new(3).eps(1.0).group(&builder.build()?, 1)?;
/// assert_eq!(grouped.partition.labels(), [0, 0, 0, 1]);
/// assert_eq!(grouped.noise, [false, false, false, true]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Fdbscan {
    min_points: usize,
    eps: Option<f64>,
    rule: CoreRule,
}

/// The probabilities behind a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// The radius used, in scaled features.
    pub eps: f64,
    /// Probability that objects `i` and `j` are within `eps`, in row-major order, `n * n`; 1 on the
    /// diagonal.
    pub neighbour: Vec<f64>,
    /// Core probability of each object.
    pub core: Vec<f64>,
}

impl Fdbscan {
    /// Core objects have at least `min_points` objects within `eps`, including themselves; `eps`
    /// follows the rule above.
    pub fn new(min_points: usize) -> Self {
        Self { min_points, eps: None, rule: CoreRule::Probability }
    }

    setters! {
        /// The radius, in scaled features.
        eps: f64 = Some(eps);
        /// When an object is core.
        rule: CoreRule;
    }

    /// The probabilities of being neighbours and of being core; the latter are 0 or 1 under
    /// [`CoreRule::Count`].
    pub fn density(&self, candidates: &Candidates) -> Result<Density> {
        if self.min_points == 0 {
            let (method, name, must) = ("fdbscan", "min_points", "at least 1");
            return Err(MethodError::Parameter { method, name, value: 0.0, must });
        }
        let eps = match self.eps {
            Some(eps) if eps.is_finite() && eps >= 0.0 => eps,
            Some(value) => {
                let (method, name, must) = ("fdbscan", "eps", "a finite number not below 0");
                return Err(MethodError::Parameter { method, name, value, must });
            }
            None => default_eps(candidates, self.min_points),
        };
        let neighbour = neighbour_probabilities(candidates, eps);
        let n = candidates.objects();
        let core_chance = |row: &[f64]| match self.rule {
            CoreRule::Probability => at_least(self.min_points, row, usize::MAX),
            CoreRule::Count => {
                f64::from(u8::from(row.iter().filter(|p| likely(**p)).count() >= self.min_points))
            }
        };
        let core = neighbour.chunks_exact(n).map(core_chance).collect();
        Ok(Density { eps, neighbour, core })
    }
}

impl Method for Fdbscan {
    fn name(&self) -> &str {
        "fdbscan"
    }

    /// The confidence of a core object is its core probability; of a border object, the probability
    /// of being reached by the object that founded or extended its cluster; of noise, that of not
    /// being core.
    fn group_watched(&self, candidates: &Candidates, _seed: u64, _: Tick) -> Result<Grouped> {
        let Density { neighbour, core, .. } = self.density(candidates)?;
        let n = candidates.objects();
        const NONE: usize = usize::MAX;
        let mut labels = vec![NONE; n];
        let mut confidence = core.clone();
        let mut clusters = 0;
        for founder in 0..n {
            if labels[founder] != NONE || !likely(core[founder]) {
                continue;
            }
            labels[founder] = clusters;
            let mut queue = vec![founder];
            while let Some(i) = queue.pop() {
                let row = &neighbour[i * n..(i + 1) * n];
                for j in 0..n {
                    if labels[j] != NONE || !likely(row[j]) {
                        continue;
                    }
                    let reach = match self.rule {
                        CoreRule::Probability => at_least(self.min_points - 1, row, j) * row[j],
                        CoreRule::Count => row[j],
                    };
                    if likely(reach) {
                        labels[j] = clusters;
                        if likely(core[j]) {
                            queue.push(j);
                        } else {
                            confidence[j] = reach;
                        }
                    }
                }
            }
            clusters += 1;
        }
        let noise: Vec<bool> = labels.iter().map(|&l| l == NONE).collect();
        for (i, label) in labels.iter_mut().enumerate().filter(|(_, l)| **l == NONE) {
            *label = clusters;
            clusters += 1;
            confidence[i] = 1.0 - core[i];
        }
        Ok(Grouped { noise, confidence, ..Grouped::new(Partition::from_labels(&labels)) })
    }
}

fn likely(probability: f64) -> bool {
    probability >= LIKELY - ROUNDING
}

/// Probability that at least `wanted` of these independent trials, all but `left_out`, succeed.
fn at_least(wanted: usize, chances: &[f64], left_out: usize) -> f64 {
    if wanted == 0 {
        return 1.0;
    }
    if wanted > chances.len() {
        return 0.0;
    }
    // exactly[s]: s successes so far, s < wanted; beyond that, success is certain and the mass
    // leaves.
    let mut exactly = vec![0.0; wanted];
    exactly[0] = 1.0;
    let mut enough = 0.0;
    for (j, &p) in chances.iter().enumerate() {
        if j == left_out || p == 0.0 {
            continue;
        }
        enough += exactly[wanted - 1] * p;
        for s in (1..wanted).rev() {
            exactly[s] = exactly[s] * (1.0 - p) + exactly[s - 1] * p;
        }
        exactly[0] *= 1.0 - p;
    }
    enough
}

/// `P(|x_i - x_j| <= eps)` over all pairs of candidates; rows of all objects, 1 on the diagonal.
fn neighbour_probabilities(candidates: &Candidates, eps: f64) -> Vec<f64> {
    let n = candidates.objects();
    let boxes = BoundingBoxes::new(candidates);
    let square = eps * eps;
    let upper: Vec<Vec<f64>> = (0..n)
        .into_par_iter()
        .map(|i| {
            (i + 1..n)
                .map(|j| {
                    let (near, far) = boxes.between_squared(i, j);
                    if near > square {
                        0.0
                    } else if far <= square {
                        1.0
                    } else {
                        share_within(candidates, i, j, square)
                    }
                })
                .collect()
        })
        .collect();
    let mut all = vec![1.0; n * n];
    for (i, row) in upper.iter().enumerate() {
        for (after, &p) in row.iter().enumerate() {
            let j = i + 1 + after;
            (all[i * n + j], all[j * n + i]) = (p, p);
        }
    }
    all
}

fn share_within(candidates: &Candidates, i: usize, j: usize, square: f64) -> f64 {
    let (a, b) = (candidates.count(i), candidates.count(j));
    let block = candidates.block(j);
    let mut row = vec![0.0; candidates.features()];
    let mut squares = vec![0.0; b];
    let mut within = 0usize;
    for x in 0..a {
        candidates.copy_candidate(i, x, &mut row);
        squares.fill(0.0);
        for (f, x) in row.iter().enumerate() {
            for (s, y) in squares.iter_mut().zip(&block[f * b..(f + 1) * b]) {
                let d = x - y;
                *s += d * d;
            }
        }
        within += squares.iter().filter(|s| **s <= square).count();
    }
    within as f64 / (a * b) as f64
}

/// The median root mean square distance to the `min_points - 1`-th nearest other object; 0 for a single
/// object.
fn default_eps(candidates: &Candidates, min_points: usize) -> f64 {
    let n = candidates.objects();
    let means = candidates.means();
    let variances: Vec<f64> = (0..n)
        .map(|i| {
            let m = candidates.count(i) as f64;
            (0..candidates.features())
                .flat_map(|f| candidates.feature(i, f).iter().map(move |x| (f, x)))
                .map(|(f, x)| (x - means.row(i)[f]).powi(2))
                .sum::<f64>()
                / m
        })
        .collect();
    if n == 1 {
        return 0.0;
    }
    let rank = min_points.saturating_sub(2).min(n - 2);
    let mut reach: Vec<f64> = (0..n)
        .map(|i| {
            let mut squares: Vec<f64> = (0..n)
                .filter(|&j| j != i)
                .map(|j| squared_distance(means.row(i), means.row(j)) + variances[i] + variances[j])
                .collect();
            squares.sort_by(f64::total_cmp);
            squares[rank].sqrt()
        })
        .collect();
    reach.sort_by(f64::total_cmp);
    reach[n / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::testing::{blobs, elki_objects, identical, one_object};
    use crate::candidates::CandidatesBuilder;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_core_probability_is_the_sum_over_all_subsets(
            chances in prop::collection::vec(0.0f64..=1.0, 1..9),
            wanted in 0usize..6,
            left_out in 0usize..9,
        ) {
            let n = chances.len();
            let mut sum = 0.0;
            for subset in 0u32..1 << n {
                let heads = |j: usize| subset >> j & 1 == 1;
                if left_out < n && heads(left_out) || (subset.count_ones() as usize) < wanted {
                    continue;
                }
                sum += (0..n)
                    .filter(|&j| j != left_out)
                    .map(|j| if heads(j) { chances[j] } else { 1.0 - chances[j] })
                    .product::<f64>();
            }
            prop_assert!((at_least(wanted, &chances, left_out) - sum).abs() < 1e-12);
        }
    }

    #[test]
    fn neighbour_probabilities_are_shares_of_all_candidate_pairs() {
        let candidates = blobs(25, 6, 2, 1.5, 4);
        let density = Fdbscan::new(3).eps(2.0).density(&candidates).unwrap();
        let mut partial = 0;
        for i in 0..25 {
            for j in 0..25 {
                let near = (0..36)
                    .filter(|ab| {
                        let (a, b) = (candidates.candidate(i, ab / 6), candidates.candidate(j, ab % 6));
                        squared_distance(&a, &b) <= 4.0
                    })
                    .count();
                let expected = if i == j { 1.0 } else { near as f64 / 36.0 };
                assert_eq!(density.neighbour[i * 25 + j], expected);
                partial += usize::from(expected > 0.0 && expected < 1.0);
            }
        }
        assert!(partial > 20);
    }

    #[test]
    fn certain_objects_make_plain_dbscan() {
        // A chain, a pair, and two isolated points. With min_points 3 the ends of the chain are
        // border, the pair is noise.
        let points = crate::Points::new(vec![0.0, 0.9, 1.8, 2.7, 10.0, 10.5, 20.0, -30.0], 1).unwrap();
        let candidates = Candidates::from_points(&points).unwrap();
        let grouped = Fdbscan::new(3).eps(1.0).group(&candidates, 1).unwrap();
        assert_eq!(grouped.partition.labels(), [0, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(grouped.noise, [false, false, false, false, true, true, true, true]);
        assert_eq!(grouped.confidence, [1.0; 8]);
        let pairs = Fdbscan::new(2).eps(1.0).group(&candidates, 1).unwrap();
        assert_eq!(pairs.partition.labels(), [0, 0, 0, 0, 1, 1, 2, 3]);
    }

    #[test]
    fn an_object_that_is_a_neighbour_only_half_of_the_time_is_reached_and_less_is_not() {
        let chance = |near: usize| {
            let mut builder = CandidatesBuilder::new(1);
            for x in [0.0, 0.1, 0.2] {
                builder.push(&[x], &[]).unwrap();
            }
            let far: Vec<f64> = (0..4).map(|j| if j < near { 0.5 } else { 50.0 }).collect();
            builder.push(&far, &[]).unwrap();
            Fdbscan::new(3).eps(1.0).group(&builder.build().unwrap(), 1).unwrap()
        };
        let half = chance(2);
        assert_eq!((half.partition.k(), half.noise[3], half.confidence[3]), (1, false, 0.5));
        let less = chance(1);
        // Core itself it is when two of three chances of 1/4 come true: 3/16 * 3/4 + 1/64.
        assert_eq!((less.partition.k(), less.noise[3], less.confidence[3]), (2, true, 1.0 - 10.0 / 64.0));
    }

    #[test]
    fn the_default_radius_is_the_median_of_rms_distances_over_candidate_pairs() {
        let candidates = blobs(11, 5, 2, 1.5, 6);
        let mut reach: Vec<f64> = (0..11)
            .map(|i| {
                let mut d: Vec<f64> = (0..11)
                    .filter(|&j| j != i)
                    .map(|j| {
                        let square = |ab: usize| {
                            squared_distance(
                                &candidates.candidate(i, ab / 5),
                                &candidates.candidate(j, ab % 5),
                            )
                        };
                        ((0..25).map(square).sum::<f64>() / 25.0).sqrt()
                    })
                    .collect();
                d.sort_by(f64::total_cmp);
                d[2]
            })
            .collect();
        reach.sort_by(f64::total_cmp);
        assert!((default_eps(&candidates, 4) - reach[5]).abs() < 1e-12);
    }

    /// FDBSCAN of ELKI 0.7.1 (Debian 0.7.1-10.1), threshold 0.5: eps, min_points, one letter per
    /// cluster and a dot for noise.
    const ELKI: [(f64, usize, &str); 12] = [
        (0.8, 3, ".................................."),
        (1.0, 3, "....................a..a...a......"),
        (1.2, 3, "b....bb.b..d..aad.adcc.c...c......"),
        (1.5, 3, "d....dd.ddaa.ccca.cabbbb..bb.b...."),
        (1.5, 4, "c....cc.ccbb.dddb.dbaaaa...a......"),
        (1.5, 5, ".................................."),
        (1.8, 3, "ec.eceeceedd.dddd.ddaaaabbaaba...."),
        (1.8, 4, "b..b.bb.bbcc.cccc.ccaaaa..aa.a...."),
        (1.8, 5, "b..b.bb.bbcc.cccc.ccaaaa...a.a...."),
        (2.2, 3, "acaacaacaaaaaaaaaaaabbbbbbbbbb...."),
        (2.2, 4, "b.bb.bb.bbbbbbbbb.bbaaaaa.aaaa...."),
        (2.2, 5, "b.bb.bb.bbbbbbbbb.bbaaaaa.aaaa...."),
    ];

    fn letters(text: &str) -> (Partition, Vec<bool>) {
        // Noise is a cluster of its own here; the letters come first.
        let labels: Vec<usize> =
            text.bytes().enumerate().map(|(i, c)| if c == b'.' { 1000 + i } else { c as usize }).collect();
        (Partition::from_labels(&labels), text.bytes().map(|c| c == b'.').collect())
    }

    #[test]
    fn with_elkis_rule_the_labels_are_elkis() {
        let candidates = elki_objects();
        for (eps, min_points, expected) in ELKI {
            let method = Fdbscan::new(min_points).eps(eps).rule(CoreRule::Count);
            let grouped = method.group(&candidates, 1).unwrap();
            let (elki, noise) = letters(expected);
            assert!(
                grouped.partition.same_grouping(&elki),
                "eps {eps}, {min_points}: {:?}",
                grouped.partition.labels()
            );
            assert_eq!(grouped.noise, noise);
        }
    }

    #[test]
    fn at_a_radius_above_the_spread_of_the_sets_both_rules_find_the_same() {
        let candidates = elki_objects();
        for min_points in [3, 5] {
            let method = Fdbscan::new(min_points).eps(2.2);
            let (one, other) = (method.clone(), method.rule(CoreRule::Count));
            let (one, other) = (one.group(&candidates, 1).unwrap(), other.group(&candidates, 1).unwrap());
            assert!(one.partition.same_grouping(&other.partition));
            assert_eq!(one.noise, other.noise);
            assert!(one.partition.k() > 4 && one.noise.contains(&true));
        }
    }

    #[test]
    fn degenerate_inputs_have_a_defined_answer() {
        let one = Fdbscan::new(2).group(&one_object(), 1).unwrap();
        assert_eq!((one.partition.labels(), &one.noise[..]), (&[0][..], &[true][..]));
        let alone = Fdbscan::new(1).group(&one_object(), 1).unwrap();
        assert_eq!(alone.noise, [false]);
        // Equal sets: their own spread sets the radius, so they are dense.
        let equal = Fdbscan::new(3).group(&identical(5), 1).unwrap();
        assert_eq!((equal.partition.k(), equal.noise.contains(&true)), (1, false));
        // More points wanted than there are objects: all noise.
        let candidates = blobs(4, 3, 2, 0.5, 1);
        for wanted in [9, usize::MAX] {
            let noise = Fdbscan::new(wanted).eps(100.0).group(&candidates, 1).unwrap();
            assert_eq!((noise.partition.k(), noise.noise), (4, vec![true; 4]));
        }
        // Nothing is within zero: a graph without an edge.
        let apart = Fdbscan::new(2).eps(0.0).group(&candidates, 1).unwrap();
        assert_eq!(apart.partition.k(), 4);
        let error = Fdbscan::new(2).eps(f64::NAN).group(&candidates, 1).unwrap_err();
        assert_eq!(error.to_string(), "fdbscan: eps is NaN, but must be a finite number not below 0");
        let error = Fdbscan::new(0).group(&candidates, 1).unwrap_err();
        assert_eq!(error.to_string(), "fdbscan: min_points is 0, but must be at least 1");
    }
}
