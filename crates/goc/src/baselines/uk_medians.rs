//! UK-medians: centres that minimise the expected distance, not its square (Cormode & McGregor
//! 2008, the discrete case).
//!
//! Minimises over labels and centres
//!
//! ```text
//! sum_i mean_j |x_ij - c_{l_i}|
//! ```
//!
//! alternately: every object is assigned to the centre of lowest expected distance, and every
//! centre moves to the geometric median of all candidates of its members (each with weight `1 /
//! m_i`). Without the square the spread of a set no longer cancels, so there is no shortcut over
//! means as for UK-means, and a distant object or candidate pulls a centre by its direction only.
//! (Cormode & McGregor give approximation algorithms with guarantees by reduction to points; this
//! is the usual local descent on their objective.)
//!
//! The geometric median is found by Weiszfeld's iteration `y <- sum w x / |x - y|  /  sum w / |x -
//! y|`. At a candidate that formula divides by zero; there the step of Vardi & Zhang (2000) is
//! used, which stays if the candidate is the median and otherwise leaves it downhill. Weiszfeld's
//! iteration is slow near a candidate, so a Newton step is tried first and kept if it goes
//! downhill. No step increases the sum.
//!
//! Cost of a round: `n m K q` for the expected distances, most of which are saved by the pruning of
//! Ngai et al., and some ten to a hundred passes of `n m q` for the medians.

use super::alternating_minimisation::{DistanceCount, Model, best_of_starts, descend};
use super::expected::{Expected, Power};
use super::{Grouped, Method, Result, Tick, check_k};
use crate::points::squared_distance;
use crate::{Candidates, Points};

/// Weiszfeld's iteration ends at moves below this share of the distance between the median and the
/// candidates.
const STANDS: f64 = 1e-11;
/// Newton's method ends in some ten rounds; this limit is for collinear candidates, for which only
/// Weiszfeld's iteration works.
const WEISZFELD_ROUNDS: usize = 300;
/// With more features than this, computing the Hessian costs more than it saves.
const NEWTON_FEATURES: usize = 16;

/// UK-medians.
///
/// ```
/// use goc::baselines::{Method, uk_medians::UkMedians};
/// use goc::candidates::CandidatesBuilder;
/// let mut builder = CandidatesBuilder::new(1);
/// for set in [[0.0, 1.0], [0.2, 0.8], [7.0, 9.0]] {
///     builder.push(&set, &[])?;
/// }
/// let grouped = UkMedians::new(2).group(&builder.build()?, 1)?;
/// assert_eq!(grouped.partition.canonical().labels(), [0, 0, 1]);
/// assert!((grouped.objective.unwrap() - (0.5 + 0.3 + 1.0)).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct UkMedians {
    k: usize,
    starts: usize,
    max_iterations: usize,
    pruning: bool,
}

impl UkMedians {
    /// For `k` clusters, with 10 starts, at most 100 rounds and pruning.
    pub fn new(k: usize) -> Self {
        Self { k, starts: 10, max_iterations: 100, pruning: true }
    }

    setters! {
        /// The number of starts; at least one is made.
        starts: usize = starts.max(1);
        /// The maximum number of rounds of each start; at least one is made.
        max_iterations: usize = max_iterations.max(1);
        /// Whether bounding boxes are used to rule out distances; the labels are the same either
        /// way.
        pruning: bool;
    }
}

impl Method for UkMedians {
    fn name(&self) -> &str {
        "uk-medians"
    }

    /// The positions are the geometric medians of the sets, in scaled features.
    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        check_k(self.k, candidates)?;
        let model = Medians::new(candidates, self.pruning);
        let way = |centres| descend(&model, centres, self.max_iterations);
        let run = best_of_starts("uk-medians", &model, self.k, self.starts, seed, |run| run.objective, way)?;
        Ok(run.grouped(model.medians))
    }
}

struct Medians<'a> {
    expected: Expected<'a>,
    medians: Points,
}

impl<'a> Medians<'a> {
    fn new(candidates: &'a Candidates, pruning: bool) -> Self {
        let means = candidates.means();
        let medians = (0..candidates.objects())
            .flat_map(|i| geometric_median(&weighted_candidates(candidates, &[i]), means.row(i)))
            .collect();
        Self {
            expected: Expected::new(candidates, Power::Euclidean, pruning),
            medians: Points::trusted(medians, candidates.features()),
        }
    }
}

impl Model for Medians<'_> {
    fn cost(&self, i: usize, centre: &[f64]) -> f64 {
        self.expected.distance(i, centre)
    }

    fn anchors(&self) -> &Points {
        &self.medians
    }

    fn centre(&self, members: &[usize], old: &[f64]) -> Vec<f64> {
        geometric_median(&weighted_candidates(self.expected.candidates, members), old)
    }

    fn nearest(&self, i: usize, centres: &Points, count: &mut DistanceCount) -> usize {
        self.expected.nearest(i, centres, count)
    }
}

/// Weighted points, in row-major order.
struct Weighted {
    rows: Points,
    weights: Vec<f64>,
}

fn weighted_candidates(candidates: &Candidates, members: &[usize]) -> Weighted {
    let q = candidates.features();
    let total: usize = members.iter().map(|&i| candidates.count(i)).sum();
    let (mut values, mut weights) = (vec![0.0; total * q], Vec::with_capacity(total));
    let mut rows = values.chunks_exact_mut(q);
    for &i in members {
        let m = candidates.count(i);
        for (j, row) in rows.by_ref().take(m).enumerate() {
            candidates.copy_candidate(i, j, row);
            weights.push(1.0 / m as f64);
        }
    }
    Weighted { rows: Points::trusted(values, q), weights }
}

/// Weiszfeld's iteration from `start` with the step of Vardi & Zhang at a vertex; never worse than
/// `start`.
fn geometric_median(points: &Weighted, start: &[f64]) -> Vec<f64> {
    let weight: f64 = points.weights.iter().sum();
    let mut y = start.to_vec();
    for round in 0..WEISZFELD_ROUNDS {
        let at = Resultant::at(points, &y);
        if at.is_median() {
            return y;
        }
        // A median at a candidate is approached ever more slowly, so the nearest candidate is
        // tested from time to time.
        if round % 16 == 3 {
            let vertex = points.rows.row(at.nearest);
            if Resultant::at(points, vertex).is_median() {
                return vertex.to_vec();
            }
        }
        if let Some(newton) = at.newton_step(points, &y)
            && total_distance(points, &newton) < at.sum
        {
            y = newton;
            continue;
        }
        let share = 1.0 - at.here / at.norm;
        let mut moved = 0.0f64;
        for (y, p) in y.iter_mut().zip(&at.vector) {
            let step = share * p / at.inverse;
            *y += step;
            moved = moved.max(step.abs());
        }
        if moved <= STANDS * at.sum / weight {
            break;
        }
    }
    // Only rounding can make the last worse than the first.
    if total_distance(points, &y) <= total_distance(points, start) { y } else { start.to_vec() }
}

/// The resultant of the unit vectors from a position `y` to all candidates, and related quantities.
struct Resultant {
    /// `sum w |x - y|`.
    sum: f64,
    /// `sum w / |x - y|` over the candidates that are not at `y`.
    inverse: f64,
    /// The weight located at `y` itself.
    here: f64,
    /// `sum w (x - y) / |x - y|` over the candidates that are not at `y`.
    vector: Vec<f64>,
    /// Its length.
    norm: f64,
    /// The candidate nearest to `y`.
    nearest: usize,
}

impl Resultant {
    fn at(points: &Weighted, y: &[f64]) -> Self {
        let mut at =
            Self { sum: 0.0, inverse: 0.0, here: 0.0, vector: vec![0.0; y.len()], norm: 0.0, nearest: 0 };
        let mut least = f64::INFINITY;
        for (j, (x, w)) in points.rows.rows().zip(&points.weights).enumerate() {
            let d = squared_distance(x, y).sqrt();
            if d < least {
                (least, at.nearest) = (d, j);
            }
            if d == 0.0 {
                at.here += w;
                continue;
            }
            at.sum += w * d;
            at.inverse += w / d;
            for (p, (x, y)) in at.vector.iter_mut().zip(x.iter().zip(y)) {
                *p += w / d * (x - y);
            }
        }
        at.norm = at.vector.iter().map(|p| p * p).sum::<f64>().sqrt();
        at
    }

    /// The Newton step on `sum w |x - y|`, whose Hessian is `sum w/d (I - u u^T)`, with `u` the
    /// unit vector to the candidate; `None` if that is singular (all candidates on one line) or `y`
    /// coincides with a candidate.
    fn newton_step(&self, points: &Weighted, y: &[f64]) -> Option<Vec<f64>> {
        let q = y.len();
        if self.here > 0.0 || q > NEWTON_FEATURES {
            return None;
        }
        let mut hessian = vec![0.0; q * q];
        for (x, w) in points.rows.rows().zip(&points.weights) {
            let squared = squared_distance(x, y);
            let (scale, d) = (w / squared.sqrt(), squared);
            for a in 0..q {
                for b in 0..=a {
                    hessian[a * q + b] -= scale * (x[a] - y[a]) * (x[b] - y[b]) / d;
                }
                hessian[a * q + a] += scale;
            }
        }
        let step = solve_positive(&mut hessian, &self.vector)?;
        Some(y.iter().zip(step).map(|(y, s)| y + s).collect())
    }

    /// True if the resultant of all others is not longer than the weight located here.
    fn is_median(&self) -> bool {
        // The sum of unit vectors that cancel is rounded.
        self.norm <= self.here * (1.0 + 1e-12) || self.inverse == 0.0
    }
}

/// Solves `A s = b` by Cholesky for the lower triangle of `A`, which is overwritten; `None` if it
/// is not positive definite.
fn solve_positive(a: &mut [f64], b: &[f64]) -> Option<Vec<f64>> {
    let q = b.len();
    let mut s = b.to_vec();
    for i in 0..q {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|l| a[i * q + l] * a[j * q + l]).sum();
            let rest = a[i * q + j] - dot;
            if i != j {
                a[i * q + j] = rest / a[j * q + j];
            } else if rest > 1e-12 * a[i * q + i] {
                a[i * q + i] = rest.sqrt();
            } else {
                return None;
            }
        }
        let dot: f64 = (0..i).map(|l| a[i * q + l] * s[l]).sum();
        s[i] = (s[i] - dot) / a[i * q + i];
    }
    for i in (0..q).rev() {
        let dot: f64 = (i + 1..q).map(|l| a[l * q + i] * s[l]).sum();
        s[i] = (s[i] - dot) / a[i * q + i];
    }
    Some(s)
}

fn total_distance(points: &Weighted, y: &[f64]) -> f64 {
    points.rows.rows().zip(&points.weights).map(|(x, w)| w * squared_distance(x, y).sqrt()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::testing::{all_partitions, blobs, identical, one_object, same_on_any_threads};
    use crate::method::MethodError;
    use proptest::prelude::*;

    fn median(rows: &[[f64; 2]], weights: &[f64], start: [f64; 2]) -> Vec<f64> {
        let rows = Points::from_rows(rows).unwrap();
        geometric_median(&Weighted { rows, weights: weights.to_vec() }, &start)
    }

    #[test]
    fn the_median_of_an_equilateral_triangle_is_its_middle_and_an_obtuse_corner_is_its_own() {
        let height = 3f64.sqrt() / 2.0;
        let y = median(&[[0.0, 0.0], [1.0, 0.0], [0.5, height]], &[1.0; 3], [0.9, 0.9]);
        assert!((y[0] - 0.5).abs() < 1e-9 && (y[1] - height / 3.0).abs() < 1e-9, "{y:?}");
        // An angle above 120 degrees: the corner itself is the median, also when the rounds start on another
        // corner.
        for start in [[0.0, 0.0], [10.0, 0.0], [5.0, 1.0], [5.0, 0.3]] {
            assert_eq!(median(&[[0.0, 0.0], [10.0, 0.0], [5.0, 1.0]], &[1.0; 3], start), [5.0, 1.0]);
        }
        // Half of all weight on one point: that point.
        assert_eq!(median(&[[0.0, 0.0], [3.0, 4.0], [7.0, -2.0]], &[2.0, 1.0, 1.0], [7.0, -2.0]), [0.0, 0.0]);
    }

    proptest! {
        #[test]
        fn no_step_away_from_the_median_lowers_the_sum(
            values in prop::collection::vec(-5i32..5, 14),
            first in 0usize..7,
        ) {
            // Integers give repeated points and collinear sets; the start is one of the points.
            let rows = Points::new(values.into_iter().map(f64::from).collect(), 2).unwrap();
            let points = Weighted { weights: (0..7).map(|i| 1.0 + f64::from(i % 3)).collect(), rows };
            let y = geometric_median(&points, points.rows.row(first));
            let here = total_distance(&points, &y);
            for r in [1e-3, 1e-2, 0.1, 1.0] {
                for step in 0..32 {
                    let angle = f64::from(step) * std::f64::consts::PI / 16.0;
                    let there = total_distance(&points, &[y[0] + r * angle.cos(), y[1] + r * angle.sin()]);
                    prop_assert!(here <= there * (1.0 + 1e-9), "{} > {}", here, there);
                }
            }
        }
    }

    #[test]
    fn the_best_of_all_partitions_is_found_on_small_data() {
        for seed in 0..8 {
            let candidates = blobs(7, 3, 2, 1.5, seed);
            let model = Medians::new(&candidates, false);
            let cost = |members: &[usize]| {
                let points = weighted_candidates(&candidates, members);
                total_distance(&points, &geometric_median(&points, model.medians.row(members[0])))
            };
            let best = all_partitions(7, 3)
                .into_iter()
                .map(|labels| {
                    crate::baselines::alternating_minimisation::members_of(&labels, 3)
                        .iter()
                        .filter(|m| !m.is_empty())
                        .map(|m| cost(m))
                        .sum()
                })
                .fold(f64::INFINITY, f64::min);
            let found = UkMedians::new(3).starts(30).group(&candidates, 1).unwrap().objective.unwrap();
            assert!((found - best).abs() < 1e-6 * best, "seed {seed}: {found} {best}");
        }
    }

    #[test]
    fn more_rounds_never_raise_the_objective_and_the_last_says_that_it_converged() {
        let candidates = blobs(80, 9, 2, 2.0, 8);
        let after =
            |rounds| UkMedians::new(6).starts(1).max_iterations(rounds).group(&candidates, 4).unwrap();
        let runs: Vec<Grouped> = (1..30).map(after).collect();
        let objective = |g: &Grouped| g.objective.unwrap();
        assert!(runs.windows(2).all(|w| objective(&w[1]) <= objective(&w[0]) * (1.0 + 1e-14)));
        assert!(objective(&runs[28]) < objective(&runs[0]));
        assert!(runs[28].converged && !runs[0].converged);
    }

    #[test]
    fn pruning_changes_no_byte_of_the_answer() {
        let candidates = blobs(60, 12, 3, 0.7, 3);
        let with = UkMedians::new(5).group(&candidates, 2).unwrap();
        assert_eq!(with, UkMedians::new(5).pruning(false).group(&candidates, 2).unwrap());
    }

    #[test]
    fn the_number_of_threads_does_not_change_a_byte() {
        let candidates = blobs(60, 6, 2, 1.5, 3);
        same_on_any_threads(|| UkMedians::new(5).group(&candidates, 7).unwrap());
    }

    #[test]
    fn a_far_candidate_moves_the_mean_but_not_the_median() {
        let mut builder = crate::candidates::CandidatesBuilder::new(1);
        for set in [[0.0, 0.1, 100.0], [0.0, 0.2, 0.1], [30.0, 30.1, 30.2], [31.0, 31.1, 31.0]] {
            builder.push(&set, &[]).unwrap();
        }
        let candidates = builder.build().unwrap();
        assert!(candidates.means().row(0)[0] > 33.0);
        let grouped = UkMedians::new(2).group(&candidates, 1).unwrap();
        assert_eq!(grouped.partition.canonical().labels(), [0, 0, 1, 1]);
        assert_eq!(grouped.places.unwrap().row(0), [0.1]);
    }

    #[test]
    fn degenerate_inputs_have_a_defined_answer() {
        assert_eq!(UkMedians::new(1).group(&one_object(), 1).unwrap().partition.labels(), [0]);
        assert_eq!(UkMedians::new(3).group(&identical(5), 1).unwrap().partition.k(), 1);
        let candidates = blobs(9, 4, 2, 0.5, 2);
        assert_eq!(UkMedians::new(9).group(&candidates, 1).unwrap().partition.k(), 9);
        let error = |k| UkMedians::new(k).group(&candidates, 1).unwrap_err();
        assert_eq!(error(0), MethodError::NoClusters);
        assert_eq!(error(10), MethodError::MoreClustersThanObjects { k: 10, n: 9 });
        let mut builder = crate::candidates::CandidatesBuilder::new(1);
        builder.push(&[1e200], &[]).unwrap();
        builder.push(&[-1e200], &[]).unwrap();
        let error = UkMedians::new(1).group(&builder.build().unwrap(), 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "uk-medians: the distances are too large to be squared and summed; scale the features"
        );
    }
}
