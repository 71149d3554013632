//! A background without groups: the same objects with the same sets, at new positions.
//!
//! What a method finds there, it finds by chance. The background must resemble the data in
//! everything but the groups: the same extent and tails of every feature, the same dependence
//! between features (actions are correlated), and the same sets (an object's errors depend on its
//! position). Dependence is measured by *normal scores*: feature by feature, an object's rank among
//! all objects is converted to a quantile of the normal distribution. Let `z` be the scores of an
//! object, `R = L L'` their correlations, `x` its mean position, `m` and `S` the median and the
//! spread (half the range of the middle 68 %) of each feature, and `e` standard normal. Then
//!
//! ```text
//! smooth     x' = m + (x - m + h S L e) / sqrt(1 + h^2)
//! shuffled   z' = L u',   u = L^-1 z, each component of u permuted among the objects; back to x' by smoothed quantiles
//! ```
//!
//! Smooth blurs on the scale `h` and keeps an object near its original position, so that errors
//! that grow along a feature still do. Shuffled preserves only the marginal distribution of every
//! feature and the correlations of the scores. A group with more than a tenth of all objects shows
//! in a feature's marginal distribution and reappears as a false group, so its p-values are too
//! large there. The object's set is shifted as a whole by the change of its mean position.
//!
//! Cost: O(n m q + n q log n).

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use statrs::distribution::{ContinuousCDF, Normal};

use super::evidence::robust_spreads;
use crate::resample::moved;
use crate::scale::median;
use crate::{Candidates, Stream};

/// How new positions are generated.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Background {
    /// Blurred on this scale, in units of the spread of all objects; [`Background::default`] uses
    /// [`BLUR`].
    Smooth {
        /// The scale `h`.
        blur: f64,
    },
    /// Components of the uncorrelated scores permuted among the objects.
    Shuffled,
}

/// The default blur: several times the spread of a group that could be distinguished from its
/// neighbours, and less than the extent of the whole.
pub const BLUR: f64 = 0.5;

impl Default for Background {
    fn default() -> Self {
        Self::Smooth { blur: BLUR }
    }
}

impl Background {
    /// Draws a background: the objects without their groups.
    pub fn draw(self, candidates: &Candidates, rng: &mut Stream) -> Candidates {
        let (n, q) = (candidates.objects(), candidates.features());
        let means = candidates.means();
        let columns: Vec<Vec<f64>> = (0..q).map(|f| means.rows().map(|row| row[f]).collect()).collect();
        let law = Normal::standard();
        let scores: Vec<Vec<f64>> = columns.iter().map(|column| normal_scores(column, &law)).collect();
        let l = correlation_root(&scores);
        let back: Vec<Vec<f64>> = match self {
            Self::Smooth { blur } => {
                let shrink = 1.0 / (1.0 + blur * blur).sqrt();
                let spread = robust_spreads(&means);
                let middle: Vec<f64> = columns.iter().map(|column| median(column.clone())).collect();
                let mut fresh = vec![vec![0.0; n]; q];
                for i in 0..n {
                    let e: Vec<f64> = (0..q).map(|_| StandardNormal.sample(rng)).collect();
                    for (f, column) in fresh.iter_mut().enumerate() {
                        let kick: f64 = (0..=f).map(|g| l[f][g] * e[g]).sum();
                        column[i] =
                            middle[f] + (columns[f][i] - middle[f] + blur * spread[f] * kick) * shrink;
                    }
                }
                fresh
            }
            Self::Shuffled => {
                let mut u = scores.clone();
                for i in 0..n {
                    for f in 0..q {
                        let known: f64 = (0..f).map(|g| l[f][g] * u[g][i]).sum();
                        u[f][i] = (scores[f][i] - known) / l[f][f];
                    }
                }
                for column in &mut u {
                    for at in (1..n).rev() {
                        column.swap(at, rng.random_range(0..=at));
                    }
                }
                let score = |f: usize, i: usize| (0..=f).map(|g| l[f][g] * u[g][i]).sum();
                (0..q)
                    .map(|f| {
                        let fresh: Vec<f64> = (0..n).map(|i| score(f, i)).collect();
                        values_of(&fresh, &columns[f])
                    })
                    .collect()
            }
        };
        let shifts: Vec<Vec<f64>> =
            (0..n).map(|i| (0..q).map(|f| back[f][i] - columns[f][i]).collect()).collect();
        moved(candidates, &shifts)
    }
}

/// The normal quantile of each value's rank; equal values share their mean rank.
fn normal_scores(values: &[f64], law: &Normal) -> Vec<f64> {
    let n = values.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut scores = vec![0.0; n];
    let mut at = 0;
    while at < n {
        let end = at + order[at..].iter().take_while(|&&i| values[i] == values[order[at]]).count();
        let rank = 0.5 * (at + end) as f64;
        for &i in &order[at..end] {
            scores[i] = law.inverse_cdf(rank / n as f64);
        }
        at = end;
    }
    scores
}

/// The values in ascending order, each replaced by the mean of its neighbours: up to a twentieth of
/// all values on either side, equally many on both. A group is a step in every feature; without
/// smoothing, the steps of several features would combine into new groups.
fn smooth_quantiles(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (0..n)
        .map(|at| {
            let reach = (n / 20).min(at).min(n - 1 - at);
            let near = &sorted[at - reach..=at + reach];
            near.iter().sum::<f64>() / near.len() as f64
        })
        .collect()
}

/// Converts scores back to values: the smoothed quantile, linear between the values that occur.
fn values_of(scores: &[f64], values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let sorted = smooth_quantiles(values);
    let at = |score: f64| {
        let below = 0.5 * libm::erfc(-score * std::f64::consts::FRAC_1_SQRT_2);
        let rank = (below * n as f64 - 0.5).clamp(0.0, (n - 1) as f64);
        let low = (rank as usize).min(n - 1);
        let high = (low + 1).min(n - 1);
        sorted[low] + (rank - low as f64) * (sorted[high] - sorted[low])
    };
    scores.iter().map(|&score| at(score)).collect()
}

/// The lower triangle of the scores' correlations. They are shrunk slightly, so that the triangle
/// exists for dependent features or very few objects too.
fn correlation_root(scores: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let q = scores.len();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let mut l = vec![vec![0.0; q]; q];
    for a in 0..q {
        for b in 0..=a {
            let scale = (product(&scores[a], &scores[a]) * product(&scores[b], &scores[b])).sqrt();
            let r = if scale > 0.0 { 0.999 * product(&scores[a], &scores[b]) / scale } else { 0.0 };
            let known: f64 = (0..b).map(|g| l[a][g] * l[b][g]).sum();
            l[a][b] = if a == b { (1.0 - known).max(1e-6).sqrt() } else { (r - known) / l[b][b] };
        }
    }
    l
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Points;
    use crate::candidates::CandidatesBuilder;
    use crate::points::squared_distance;
    use crate::random::stream;

    /// Groups of ten around positions with correlated features, one of them skewed.
    fn grouped(groups: usize) -> Candidates {
        let mut rng = stream(5, 5);
        let mut draw = || -> f64 { StandardNormal.sample(&mut rng) };
        let mut rows = Vec::new();
        for _ in 0..groups {
            let (a, b) = (draw(), draw());
            let centre = [a, 0.8 * a + 0.6 * b];
            for _ in 0..10 {
                let x = [centre[0] + 0.01 * draw(), centre[1] + 0.01 * draw()];
                rows.push([x[0], libm::exp(x[1])]);
            }
        }
        Candidates::from_points(&Points::from_rows(&rows).unwrap()).unwrap()
    }

    fn rank_correlation(points: &Points) -> f64 {
        let law = Normal::standard();
        let score = |f: usize| {
            let column: Vec<f64> = points.rows().map(|r| r[f]).collect();
            normal_scores(&column, &law)
        };
        let (a, b) = (score(0), score(1));
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
    }

    fn nearest(points: &Points) -> f64 {
        let near = |i: usize| {
            (0..points.len())
                .filter(|&j| j != i)
                .map(|j| squared_distance(points.row(i), points.row(j)))
                .fold(f64::INFINITY, f64::min)
        };
        (0..points.len()).map(|i| near(i).sqrt()).sum::<f64>() / points.len() as f64
    }

    #[test]
    fn groups_are_gone_and_extent_and_correlation_are_kept() {
        let c = grouped(40);
        let before = c.means();
        for background in [Background::default(), Background::Shuffled] {
            let after = background.draw(&c, &mut stream(1, 1)).means();
            assert!(nearest(&after) > 3.0 * nearest(&before), "{background:?}");
            assert!((rank_correlation(&after) - rank_correlation(&before)).abs() < 0.1, "{background:?}");
            for f in 0..2 {
                let sorted = |p: &Points| {
                    let mut v: Vec<f64> = p.rows().map(|r| r[f]).collect();
                    v.sort_by(f64::total_cmp);
                    v
                };
                let (a, b) = (sorted(&before), sorted(&after));
                let (range, kept) = (a[300] - a[100], b[300] - b[100]);
                // Interquartile range: 40 independent groups determine their range to about 15 %.
                assert!((kept / range - 1.0).abs() < 0.3, "{background:?} {f}: {kept} {range}");
                // The median of 400 correlated values moves by a few per cent of the interquartile
                // range.
                assert!((a[200] - b[200]).abs() < 0.2 * (a[300] - a[100]), "{background:?} {f}");
            }
        }
    }

    #[test]
    fn a_set_keeps_its_shape_and_penalties() {
        let mut b = CandidatesBuilder::new(1);
        for i in 0..9 {
            b.push(&[f64::from(i), f64::from(i) + 1.0], &[0.0, 0.5]).unwrap();
        }
        let c = b.build().unwrap();
        let after = Background::Shuffled.draw(&c, &mut stream(1, 1));
        for i in 0..9 {
            let x = after.feature(i, 0);
            assert!((x[1] - x[0] - 1.0).abs() < 1e-12);
            assert_eq!(after.penalty(i, 1), 0.5);
        }
    }

    #[test]
    fn scores_go_back_to_the_values_they_came_from() {
        // Too few values to be smoothed.
        let values = [3.0, -1.0, 3.0, 10.0, 0.0];
        let law = Normal::standard();
        let back = values_of(&normal_scores(&values, &law), &values);
        for (a, b) in back.iter().zip(values) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }

    #[test]
    fn few_or_identical_objects_have_a_background_too() {
        for rows in [vec![[1.0, 2.0]], vec![[1.0, 2.0]; 2], vec![[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]] {
            let c = Candidates::from_points(&Points::from_rows(&rows).unwrap()).unwrap();
            for background in [Background::default(), Background::Shuffled] {
                let after = background.draw(&c, &mut stream(1, 1));
                assert_eq!(after.objects(), rows.len());
                assert!(after.means().values().iter().all(|v| v.is_finite()));
            }
        }
    }
}
