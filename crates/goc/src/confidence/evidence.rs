//! Evidence for a cluster: how much better its members are explained by each other than by the
//! background.
//!
//! It is the same number for every method, since it needs only the candidates and the partition.
//! With weights `w_ij ~ exp(-penalty_strength * penalty_ij)` that sum to 1 for each object, and a
//! smooth density `b` of all objects, a member `i` of a cluster of `n` has the log odds
//!
//! ```text
//! s_i = ln sum_j w_ij t(x_ij; c_i, v_i (1 + 1/(n-1)) W)  -  ln sum_j w_ij b(x_ij),    t with q (n - 1) degrees of freedom.
//! ```
//!
//! Clusters are normal with a common shape `W` and an individual size `v`, estimated with `q (n -
//! 2)` degrees of freedom plus `nu = q` from a prior around 1; the t is the resulting predictive
//! density of the next member. `c_i` and `v_i` are computed from the *other* members, so that no
//! object vouches for itself: this is the predictive (pseudo) Bayes factor of Geisser & Eddy
//! (1979). The evidence for a cluster is the median over its members.
//!
//! A method may put a stray object into a good cluster, and one distant member would hide the
//! tightness of all others. Medians are therefore used instead of means: `c` is the median
//! position, `v` follows from the median squared distance, and `W` weights objects as a t
//! distribution does.
//!
//! Positions, centres, `v` and `W` are fitted by rounds of expectation-maximisation with fixed
//! labels, much as in extreme deconvolution (Bovy et al. 2011) with sets in place of normal errors.
//! `b` is a kernel density of the objects' mean positions with a wide, heavy-tailed kernel: t with
//! three degrees of freedom, so that a lone distant object is not a discovery.
//!
//! Cost: O(rounds * total * q^2) and O(total * min(n, 1000) * q^2) for the background; total = sum
//! of m_i.

use rayon::prelude::*;

use super::whiten::Whiten;
use crate::objects::Objects;
use crate::scale::median;
use crate::{Candidates, Partition, Points};

/// Rounds of expectation-maximisation.
const ROUNDS: usize = 30;
/// The maximum number of objects that make up the background density.
const KERNELS: usize = 1000;
/// Width of a kernel in standard deviations of all objects.
const WIDTH: f64 = 0.5;
/// Degrees of freedom of a kernel.
const DF: f64 = 3.0;

/// The evidence in a partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Log odds of each object for its cluster against the background; minus infinity for an object
    /// alone.
    pub objects: Vec<f64>,
    /// The median over each cluster's members; minus infinity for a cluster of one.
    pub clusters: Vec<f64>,
    /// The number of members of each cluster.
    pub sizes: Vec<usize>,
    /// The expected position of each object if it belongs to its cluster, in scaled features.
    pub places: Points,
}

/// Computes the evidence for `partition`, which must have as many objects as `candidates`, in
/// scaled features.
///
/// `penalty_strength` is the cost of a penalty of 1 in log likelihood, a finite non-negative
/// number: [`PENALTY_STRENGTH`](crate::candidates::PENALTY_STRENGTH) for the paper's penalties, 1
/// for penalties that are negative log densities.
///
/// ```
/// use goc::candidates::PENALTY_STRENGTH;
/// use goc::confidence::evidence::evidence;
/// use goc::{Candidates, Partition, Points};
/// let rows = [[0.0], [0.1], [0.2], [9.0], [-7.0], [3.0], [5.0]];
/// let candidates = Candidates::from_points(&Points::from_rows(&rows)?)?;
/// let partition = Partition::from_labels(&[0, 0, 0, 1, 2, 3, 3]);
/// let found = evidence(&candidates, &partition, PENALTY_STRENGTH);
/// assert!(found.clusters[0] > 0.0 && found.clusters[0] > found.clusters[3]);
/// assert_eq!(found.clusters[1], f64::NEG_INFINITY);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evidence(candidates: &Candidates, partition: &Partition, penalty_strength: f64) -> Evidence {
    assert_eq!(candidates.objects(), partition.len(), "one label for each object");
    let (n, q) = (candidates.objects(), candidates.features());
    let mut penalties = Vec::new();
    let mut weights = Vec::with_capacity(n);
    for i in 0..n {
        candidates.load_penalties(i, &mut penalties);
        weights.push(ln_weights(&penalties, penalty_strength));
    }
    let means = candidates.means();
    let floor = floor_of(&means);
    let (labels, sizes) = (partition.labels(), partition.sizes());

    let mut fit = Fit::begin(candidates, partition, &means, &floor);
    for _ in 0..ROUNDS {
        fit.round(candidates, &weights, labels, &floor);
    }

    let metric = Whiten::new(&fit.shape, &floor);
    let background = Kernels::new(&means, &floor);
    let objects: Vec<f64> = (0..n)
        .into_par_iter()
        .map(|i| {
            let c = labels[i] as usize;
            if sizes[c] < 2 {
                return f64::NEG_INFINITY;
            }
            let others = fit.without(i, c, q);
            ln_t_of_set(candidates, i, &weights[i], &others, &metric)
                - background.ln_of_set(candidates.block(i), i, &weights[i])
        })
        .collect();
    let of = |own: &Vec<usize>| match own.len() {
        0 | 1 => f64::NEG_INFINITY,
        _ => median(own.iter().map(|&i| objects[i]).collect()),
    };
    let clusters: Vec<f64> = fit.members.iter().map(of).collect();
    Evidence { objects, clusters, sizes, places: Points::trusted(fit.places, q) }
}

/// Log weights of an object's candidates from their penalties; the weights sum to 1.
fn ln_weights(penalties: &[f64], penalty_strength: f64) -> Vec<f64> {
    let raw: Vec<f64> = penalties.iter().map(|p| -penalty_strength * p).collect();
    let total = ln_sum_exp(&raw);
    raw.iter().map(|v| v - total).collect()
}

fn ln_sum_exp(values: &[f64]) -> f64 {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + libm::log(values.iter().map(|v| libm::exp(v - most)).sum())
}

/// The lower limit of each feature's variance: a ten-thousandth of the objects' own spread, and at
/// least 1e-12.
fn floor_of(means: &Points) -> Vec<f64> {
    let spread = robust_spreads(means);
    spread.iter().map(|s| (1e-4 * s).powi(2).max(1e-12)).collect()
}

/// The spread of each feature: half the range of the middle 68 %, which for a normal distribution
/// is its standard deviation. A single outlier does not affect it.
pub(super) fn robust_spreads(means: &Points) -> Vec<f64> {
    let n = means.len();
    (0..means.features())
        .map(|f| {
            let mut column: Vec<f64> = means.rows().map(|row| row[f]).collect();
            column.sort_by(f64::total_cmp);
            let at = |share: f64| column[((share * (n - 1) as f64).round() as usize).min(n - 1)];
            let middle = 0.5 * (at(0.84) - at(0.16));
            if middle > 0.0 { middle } else { column[n - 1] - column[0] }
        })
        .collect()
}

/// The initial covariance: round, and as wide as the typical set, which is wider than any real
/// cluster needs.
fn first_covariance(candidates: &Candidates, floor: &[f64]) -> Vec<f64> {
    let (n, q) = (candidates.objects(), candidates.features());
    let wide = robust_spreads(&candidates.means());
    let mut within = vec![0.0; q * q];
    for f in 0..q {
        let mut variances: Vec<f64> = (0..n)
            .map(|i| {
                let column = candidates.feature(i, f);
                let mean = column.iter().sum::<f64>() / column.len() as f64;
                column.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / column.len() as f64
            })
            .collect();
        variances.sort_by(f64::total_cmp);
        within[f * q + f] = variances[n / 2].max((0.2 * wide[f]).powi(2)) + floor[f];
    }
    within
}

/// The median of each feature over the members' positions: a stray object in a cluster does not
/// move it.
fn centres_of(places: &[f64], members: &[Vec<usize>], q: usize) -> Vec<f64> {
    members.iter().flat_map(|own| centre_of(places, own.iter().copied(), q)).collect()
}

fn centre_of(places: &[f64], own: impl Iterator<Item = usize> + Clone, q: usize) -> Vec<f64> {
    (0..q).map(|f| median(own.clone().map(|i| places[i * q + f]).collect())).collect()
}

/// Clusters of a common shape, each with its own centre and size.
struct Fit {
    /// The shape `W`, in row-major order.
    shape: Vec<f64>,
    centres: Vec<f64>,
    /// The factor `v` of each cluster's covariance.
    factors: Vec<f64>,
    places: Vec<f64>,
    /// Squared distance of each object from its centre in units of the shape, including the scatter
    /// of its candidates around its position.
    distances: Vec<f64>,
    members: Vec<Vec<usize>>,
}

/// The summary of the other members of an object's cluster.
struct Others {
    centre: Vec<f64>,
    /// The factor of the covariance, including the uncertainty of the mean.
    factor: f64,
    df: f64,
}

impl Fit {
    fn begin(candidates: &Candidates, partition: &Partition, means: &Points, floor: &[f64]) -> Self {
        let mut members = vec![Vec::new(); partition.k()];
        for (i, &c) in partition.labels().iter().enumerate() {
            members[c as usize].push(i);
        }
        Self {
            shape: first_covariance(candidates, floor),
            centres: centres_of(means.values(), &members, candidates.features()),
            factors: vec![1.0; partition.k()],
            places: means.values().to_vec(),
            distances: vec![0.0; candidates.objects()],
            members,
        }
    }

    fn round(&mut self, candidates: &Candidates, weights: &[Vec<f64>], labels: &[u32], floor: &[f64]) {
        let (n, q) = (candidates.objects(), candidates.features());
        let metric = Whiten::new(&self.shape, floor);
        let found: Vec<(Vec<f64>, Vec<f64>)> = (0..n)
            .into_par_iter()
            .map(|i| {
                let c = labels[i] as usize;
                let centre = &self.centres[c * q..(c + 1) * q];
                expectation(candidates, i, &weights[i], centre, &metric.widened(self.factors[c]))
            })
            .collect();
        self.places = found.iter().flat_map(|(place, _)| place.iter().copied()).collect();
        self.centres = centres_of(&self.places, &self.members, q);
        // Each cluster contributes as if it had the common size, with stray objects downweighted:
        // the weights of a t distribution.
        let (nu, mut shape, mut freedom) = (q as f64, vec![0.0; q * q], 0.0);
        for (c, own) in self.members.iter().enumerate().filter(|(_, own)| own.len() > 1) {
            let share = 1.0 - 1.0 / own.len() as f64;
            for &i in own {
                let off = |f: usize| self.places[i * q + f] - self.centres[c * q + f];
                let weight = (2.0 * nu) / (nu + self.distances[i] / self.factors[c]);
                freedom += share;
                for a in 0..q {
                    for b in 0..q {
                        let spread = off(a) * off(b) + share * found[i].1[a * q + b];
                        shape[a * q + b] += weight * spread / self.factors[c];
                    }
                }
            }
        }
        for v in &mut shape {
            *v /= f64::max(freedom, 1.0);
        }
        for f in 0..q {
            shape[f * q + f] += floor[f];
        }
        self.shape = shape;
        let metric = Whiten::new(&self.shape, floor);
        for (i, &c) in labels.iter().enumerate() {
            let (c, mut distance) = (c as usize, 0.0);
            let centre = &self.centres[c * q..(c + 1) * q];
            metric.distances(&self.places[i * q..(i + 1) * q], 1, centre, |_, d| distance = d);
            self.distances[i] = distance + metric.trace(&found[i].1);
        }
        for (factor, own) in self.factors.iter_mut().zip(&self.members) {
            *factor = factor_of(own.iter().map(|&i| self.distances[i]).collect(), q);
        }
    }

    /// The summary without object `i` of its cluster `c`, which has two or more members.
    fn without(&self, i: usize, c: usize, q: usize) -> Others {
        let others = self.members[c].iter().copied().filter(move |&j| j != i);
        let left = (self.members[c].len() - 1) as f64;
        // Distances from the centre of all members: one member hardly moves the median.
        let factor = factor_of(others.clone().map(|j| self.distances[j]).collect(), q);
        Others {
            centre: centre_of(&self.places, others, q),
            factor: factor * (1.0 + 1.0 / left),
            df: q as f64 * left,
        }
    }
}

/// `v`: the estimate from the median squared distance of the members, weighted by their degrees of
/// freedom against the prior's.
fn factor_of(distances: Vec<f64>, q: usize) -> f64 {
    let (nu, freedom) = (q as f64, (q * distances.len().saturating_sub(1)) as f64);
    // The median of chi-square with q degrees of freedom (Wilson & Hilferty), over q.
    let typical = (1.0 - 2.0 / (9.0 * nu)).powi(3);
    (nu + freedom * median(distances) / (nu * typical)) / (nu + freedom)
}

/// An object's expected position within its cluster, and the covariance of that position.
fn expectation(
    candidates: &Candidates,
    i: usize,
    ln_w: &[f64],
    centre: &[f64],
    metric: &Whiten,
) -> (Vec<f64>, Vec<f64>) {
    let (q, m) = (candidates.features(), candidates.count(i));
    let block = candidates.block(i);
    let mut ln = ln_w.to_vec();
    metric.distances(block, m, centre, |j, d| ln[j] -= 0.5 * d);
    let total = ln_sum_exp(&ln);
    let share: Vec<f64> = ln.iter().map(|v| libm::exp(v - total)).collect();
    let place: Vec<f64> = (0..q).map(|f| (0..m).map(|j| share[j] * block[f * m + j]).sum()).collect();
    let mut spread = vec![0.0; q * q];
    for a in 0..q {
        for b in 0..q {
            spread[a * q + b] = (0..m)
                .map(|j| share[j] * (block[a * m + j] - place[a]) * (block[b * m + j] - place[b]))
                .sum();
        }
    }
    (place, spread)
}

/// `ln sum_j w_j t(x_j)`, with the t of the other members.
fn ln_t_of_set(candidates: &Candidates, i: usize, ln_w: &[f64], others: &Others, metric: &Whiten) -> f64 {
    let (q, df) = (candidates.features() as f64, others.df);
    let metric = metric.widened(others.factor);
    let mut ln = ln_w.to_vec();
    let power = 0.5 * (df + q);
    metric.distances(candidates.block(i), ln_w.len(), &others.centre, |j, d| {
        ln[j] -= power * libm::log1p(d / df);
    });
    ln_sum_exp(&ln) + libm::lgamma(power)
        - libm::lgamma(0.5 * df)
        - 0.5 * q * libm::log(df * std::f64::consts::PI)
        - 0.5 * metric.ln_det()
}

/// The smooth density of all objects.
struct Kernels {
    /// The object at which each kernel is centred, and its position.
    at: Vec<(usize, Vec<f64>)>,
    metric: Whiten,
    ln_scale: f64,
}

impl Kernels {
    fn new(means: &Points, floor: &[f64]) -> Self {
        let (n, q) = (means.len(), means.features());
        let step = n.div_ceil(KERNELS);
        let at = (0..n).step_by(step).map(|i| (i, means.row(i).to_vec())).collect();
        let mut covariance = vec![0.0; q * q];
        for (f, spread) in robust_spreads(means).iter().enumerate() {
            covariance[f * q + f] = (WIDTH * spread).powi(2);
        }
        let metric = Whiten::new(&covariance, floor);
        let ln_scale = libm::lgamma((DF + q as f64) / 2.0)
            - libm::lgamma(DF / 2.0)
            - 0.5 * q as f64 * libm::log(DF * std::f64::consts::PI)
            - 0.5 * metric.ln_det();
        Self { at, metric, ln_scale }
    }

    /// `ln sum_j w_j b(x_j)` of the candidates of object `i`, feature after feature; an object is
    /// not part of its own background.
    fn ln_of_set(&self, values: &[f64], i: usize, ln_w: &[f64]) -> f64 {
        let q = values.len() / ln_w.len();
        let mut sums = vec![0.0; ln_w.len()];
        let mut kernels = 0_u32;
        for (_, centre) in self.at.iter().filter(|(of, _)| *of != i) {
            kernels += 1;
            self.metric.distances(values, ln_w.len(), centre, |j, d| {
                // (1 + d / 3)^-(3 + q) / 2 by a square root and multiplications.
                let x = 1.0 / (1.0 + d / DF);
                let whole = x.powi((DF as i32 + q as i32) / 2);
                sums[j] += if (DF as usize + q).is_multiple_of(2) { whole } else { whole * x.sqrt() };
            });
        }
        // A single object: only its own kernel exists.
        if kernels == 0 {
            return self.ln_scale;
        }
        let ln: Vec<f64> = ln_w.iter().zip(&sums).map(|(w, sum)| w + libm::log(*sum)).collect();
        ln_sum_exp(&ln) + self.ln_scale - libm::log(f64::from(kernels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::{CandidatesBuilder, PENALTY_STRENGTH};
    use crate::random::stream;
    use rand_distr::{Distribution, StandardNormal};

    fn points(rows: &[[f64; 2]]) -> Candidates {
        Candidates::from_points(&Points::from_rows(rows).unwrap()).unwrap()
    }

    #[test]
    fn the_odds_of_plain_points_are_those_written_out() {
        // One feature, clusters {0, 1} and {10, 12}: squared distances S = 1/4 and 1 from their
        // middles. With m = (7/9)^3, d = S / W and f = (1 + d / m) / 2, the shape solves W = sum
        // over both of 2 / (1 + d / f) S / f: W = 1.9221996781 by scipy's brentq. Of a cluster of
        // two one is left: t with 1 degree of freedom, variance 2 W.
        let rows = [[0.0], [1.0], [10.0], [12.0]];
        let c = Candidates::from_points(&Points::from_rows(&rows).unwrap()).unwrap();
        let found = evidence(&c, &Partition::from_labels(&[0, 0, 1, 1]), PENALTY_STRENGTH);
        // The middle 68 % by nearest ranks 0.16 * 3 -> 0 and 0.84 * 3 -> 3: spread 6, kernel 3 wide.
        let t = |d: f64| {
            // Density of t with 3 degrees of freedom: 2 / (pi sqrt 3 (1 + x^2 / 3)^2).
            2.0 / (std::f64::consts::PI * 3_f64.sqrt() * (1.0 + d * d / 27.0).powi(2)) / 3.0
        };
        let variance = 2.0 * 1.922_199_678_1_f64;
        let cauchy = 1.0 / (std::f64::consts::PI * variance.sqrt() * (1.0 + 1.0 / variance));
        let want = f64::ln(cauchy) - ((t(1.0) + t(10.0) + t(12.0)) / 3.0).ln();
        assert!((found.objects[0] - want).abs() < 1e-5, "{} {want}", found.objects[0]);
        assert!((found.clusters[0] - 0.5 * (found.objects[0] + found.objects[1])).abs() < 1e-12);
        assert_eq!(found.places.values(), [0.0, 1.0, 10.0, 12.0]);
    }

    #[test]
    fn sets_that_cross_are_evidence_where_their_means_are_not() {
        // Members' sets are lines through one point, in turns; the others lie apart.
        let mut builder = CandidatesBuilder::new(2);
        for i in 0..6 {
            let (dx, dy) = (libm::cos(f64::from(i)), libm::sin(f64::from(i)));
            let rows: Vec<f64> =
                (0..=20).flat_map(|j| [dx * f64::from(j) * 0.1, dy * f64::from(j) * 0.1]).collect();
            builder.push(&rows, &[]).unwrap();
        }
        let mut rng = stream(1, 1);
        for _ in 0..40 {
            let x: [f64; 2] = std::array::from_fn(|_| {
                3.0 * {
                    let z: f64 = StandardNormal.sample(&mut rng);
                    z
                }
            });
            builder.push(&x, &[]).unwrap();
        }
        let c = builder.build().unwrap();
        let labels: Vec<usize> = (0..46).map(|i| if i < 6 { 0 } else { i }).collect();
        let found = evidence(&c, &Partition::from_labels(&labels), PENALTY_STRENGTH);
        assert!(found.objects[..6].iter().all(|s| *s > 2.0), "{:?}", &found.objects[..6]);
        let places = &found.places.values()[..12];
        assert!(places.iter().all(|v| v.abs() < 0.4), "{places:?}");
    }

    #[test]
    fn degenerate_partitions_have_defined_evidence() {
        let alone = evidence(&points(&[[1.0, 2.0]]), &Partition::from_labels(&[0]), PENALTY_STRENGTH);
        assert_eq!(alone.clusters, [f64::NEG_INFINITY]);
        for rows in [vec![[1.0, 2.0]; 3], vec![[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]]] {
            let c = points(&rows);
            let one = evidence(&c, &Partition::from_labels(&[0, 0, 0]), PENALTY_STRENGTH);
            assert!(one.clusters[0].is_finite(), "{one:?}");
            let singles = evidence(&c, &Partition::from_labels(&[0, 1, 2]), PENALTY_STRENGTH);
            assert!(singles.clusters.iter().all(|v| *v == f64::NEG_INFINITY));
            let pair = evidence(&c, &Partition::from_labels(&[0, 0, 1]), PENALTY_STRENGTH);
            assert!(pair.clusters[0].is_finite());
        }
    }

    #[test]
    fn penalties_in_another_unit_with_a_strength_to_match_change_nothing() {
        let mut rng = stream(2, 1);
        let mut draw = || -> f64 { StandardNormal.sample(&mut rng) };
        let mut builder = CandidatesBuilder::new(2);
        for _ in 0..30 {
            let (x, y) = (3.0 * draw(), 3.0 * draw());
            let rows: Vec<f64> = (0..7).flat_map(|_| [x + draw(), y + draw()]).collect();
            let penalties: Vec<f64> = (0..7).map(|_| draw().abs()).collect();
            builder.push(&rows, &penalties).unwrap();
        }
        let candidates = builder.build().unwrap();
        let partition = Partition::from_labels(&(0..30).map(|i| i % 6).collect::<Vec<_>>());
        let found = evidence(&candidates, &partition, PENALTY_STRENGTH);
        for c in [0.25, 8.0] {
            // A power of two, so that not a bit is rounded.
            let other = candidates.clone().divide_penalties(1.0 / c);
            assert_eq!(evidence(&other, &partition, PENALTY_STRENGTH / c), found);
            // The strength matters.
            assert_ne!(evidence(&other, &partition, PENALTY_STRENGTH), found);
        }
    }
}
