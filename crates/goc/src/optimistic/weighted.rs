//! Object weights: some objects count more than others.
//!
//! In a survey that observed one star in three, each observed star should count as three. With a
//! weight `w_i` for every object the joint objective (section 3.3) becomes
//!
//! ```text
//! J_w = sum_i w_i (|chi_i - mu_{c_i}|^2 + lambda * Pen_i(chi_i)).
//! ```
//!
//! Step (III) is the same as without weights: each object chooses independently. What changes are
//! the centres, which are weighted means, and the first clustering, which is weighted k-means: it
//! is seeded by k-means++ (Arthur & Vassilvitskii 2007) with probabilities `w_i d_i^2`, followed by
//! Lloyd's rounds. An object of weight 2 is equivalent to two objects in one place; one of weight 0
//! gets a label and moves no centre.
//!
//! After the first clustering it is a plain descent: candidates and weighted means alternate until
//! no candidate changes. `J_w` never increases with the squared distance, so it terminates. A
//! centre that loses all weight is dropped. An iteration costs one step (III), plus `O(n K q)` per
//! round of k-means.

use rand::RngExt;
use rayon::prelude::*;

use super::distance::Distance;
use super::select::Selector;
use crate::method::Tick;
use crate::points::squared_distance;
use crate::{Candidates, Partition, Points, Stream, random};

/// GOC and k-means with weights on the objects. All parameters are public; [`Weighted::run`] checks
/// them.
///
/// ```
/// use goc::Candidates;
/// use goc::Points;
/// use goc::optimistic::weighted::Weighted;
/// let points = Points::new(vec![0.0, 1.0, 9.0], 1)?;
/// let found = Weighted::new(2).run(&Candidates::from_points(&points)?, &[3.0, 1.0, 1.0], 1, &|| {})?;
/// assert_eq!(found.centres.row(found.partition.labels()[0] as usize), [0.25]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Weighted {
    /// The number of clusters.
    pub k: usize,
    /// Weight of the penalties.
    pub lambda: f64,
    /// Distance of step (III).
    pub distance: Distance,
    /// The number of starts of k-means; the best is kept.
    pub starts: usize,
    /// The maximum number of k-means rounds, and of iterations.
    pub max_iterations: usize,
}

/// The result of the weighted descent.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedClustering {
    /// The clusters.
    pub partition: Partition,
    /// The chosen candidate of each object.
    pub chosen: Vec<u32>,
    /// Weighted means of the chosen candidates; those of the iteration before if the limit was
    /// reached.
    pub centres: Points,
    /// `J_w` after each iteration.
    pub history: Vec<f64>,
    /// True if no object changed any more.
    pub converged: bool,
}

/// Why weighted GOC cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightedError {
    /// The number of weights differs from the number of objects.
    #[error("{weights} weights for {objects} objects")]
    Count {
        /// Weights given.
        weights: usize,
        /// The number of objects.
        objects: usize,
    },
    /// Negative, NaN or infinite.
    #[error("object {object}: weight {value} must be a finite number not below 0")]
    Value {
        /// The object, from 0.
        object: usize,
        /// The value given.
        value: f64,
    },
    /// All weights are zero.
    #[error("all weights are 0; at least one object must count")]
    AllZero,
    /// No clusters, or more than there are objects with positive weight.
    #[error("{k} clusters were asked for, but {objects} objects have a weight above 0")]
    Clusters {
        /// Clusters requested.
        k: usize,
        /// The number of objects with positive weight.
        objects: usize,
    },
    /// A parameter outside its range.
    #[error("{name} is {value}, but must be {must}")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// What was given.
        value: f64,
        /// Its range, in words.
        must: &'static str,
    },
}

impl Weighted {
    /// `k` clusters with the squared distance, lambda 0, 10 starts and at most 200 iterations.
    pub fn new(k: usize) -> Self {
        Self { k, lambda: 0.0, distance: Distance::Squared, starts: 10, max_iterations: 200 }
    }

    fn check(&self, objects: usize, weights: &[f64]) -> Result<(), WeightedError> {
        if weights.len() != objects {
            return Err(WeightedError::Count { weights: weights.len(), objects });
        }
        if let Some(object) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(WeightedError::Value { object, value: weights[object] });
        }
        let counting = weights.iter().filter(|w| **w > 0.0).count();
        if counting == 0 {
            return Err(WeightedError::AllZero);
        }
        if self.k == 0 || self.k > counting {
            return Err(WeightedError::Clusters { k: self.k, objects: counting });
        }
        if !(self.lambda.is_finite() && self.lambda >= 0.0) {
            let must = "a finite number not below 0";
            return Err(WeightedError::Parameter { name: "lambda", value: self.lambda, must });
        }
        for (name, value) in [("starts", self.starts), ("max_iterations", self.max_iterations)] {
            if value == 0 {
                return Err(WeightedError::Parameter { name, value: 0.0, must: "at least 1" });
            }
        }
        Ok(())
    }

    fn first(&self, points: &Points, weights: &[f64], seed: u64) -> Partition {
        let runs: Vec<(f64, Vec<u32>)> = (0..self.starts)
            .into_par_iter()
            .map(|s| self.lloyd(points, weights, &mut random::stream(seed, s as u64)))
            .collect();
        let best = runs.iter().enumerate().min_by(|a, b| a.1.0.total_cmp(&b.1.0).then(a.0.cmp(&b.0)));
        Partition::from_labels(best.map_or(&[][..], |(_, run)| &run.1))
    }

    /// Runs weighted GOC, starting from k-means on the means of the sets. `tick` is called after
    /// every iteration.
    pub fn run(
        &self,
        candidates: &Candidates,
        weights: &[f64],
        seed: u64,
        tick: Tick,
    ) -> Result<WeightedClustering, WeightedError> {
        self.check(candidates.objects(), weights)?;
        let first = self.first(&candidates.means(), weights, seed);
        Ok(self.descend(candidates, weights, &candidates.means(), first, tick))
    }

    /// The descent from a first clustering of `points`.
    fn descend(
        &self,
        candidates: &Candidates,
        weights: &[f64],
        points: &Points,
        first: Partition,
        tick: Tick,
    ) -> WeightedClustering {
        let mut selector = Selector::new(candidates, self.distance, self.lambda);
        let mut centres = weighted_means(points, first.labels(), weights, first.k());
        let mut last: Vec<(u32, u32)> = Vec::new();
        let mut history = Vec::new();
        let mut converged = false;
        while history.len() < self.max_iterations {
            let choices: Vec<(u32, u32)> =
                selector.select(&centres).0.iter().map(|c| (c.candidate, c.centre)).collect();
            history.push(self.objective(candidates, weights, &choices, &centres));
            tick();
            converged = choices == last;
            if converged {
                break;
            }
            let chosen: Vec<u32> = choices.iter().map(|c| c.0).collect();
            let labels: Vec<u32> = choices.iter().map(|c| c.1).collect();
            let next = weighted_means(&candidates.chosen(&chosen), &labels, weights, centres.len());
            // A dropped centre renumbers the others, so labels cannot be compared with the previous
            // ones.
            last = if next.len() == centres.len() { choices } else { Vec::new() };
            centres = next;
        }
        let (choices, _) = selector.select(&centres);
        let chosen: Vec<u32> = choices.iter().map(|c| c.candidate).collect();
        let labels: Vec<u32> = choices.iter().map(|c| c.centre).collect();
        let occupied: Vec<usize> = (0..centres.len()).filter(|&c| labels.contains(&(c as u32))).collect();
        let (partition, centres) = (Partition::from_labels(&labels), centres.subset(&occupied));
        WeightedClustering { partition, chosen, centres, history, converged }
    }

    fn objective(
        &self,
        candidates: &Candidates,
        weights: &[f64],
        choices: &[(u32, u32)],
        centres: &Points,
    ) -> f64 {
        let mut point = vec![0.0; centres.features()];
        let value = |(i, &(candidate, centre)): (usize, &(u32, u32))| {
            candidates.copy_candidate(i, candidate as usize, &mut point);
            let squared = squared_distance(&point, centres.row(centre as usize));
            let penalty = candidates.penalty(i, candidate as usize);
            weights[i] * (self.distance.of_squared(squared) + self.lambda * penalty)
        };
        choices.iter().enumerate().map(value).sum()
    }

    /// One start: its loss and labels.
    fn lloyd(&self, points: &Points, weights: &[f64], stream: &mut Stream) -> (f64, Vec<u32>) {
        let mut centres = seeded(points, weights, self.k, stream);
        let mut labels: Vec<u32> = Vec::new();
        let mut loss = f64::INFINITY;
        for _ in 0..self.max_iterations {
            let nearest: Vec<(u32, f64)> = points.rows().map(|x| nearest(x, &centres)).collect();
            loss = nearest.iter().zip(weights).map(|((_, d), w)| w * d).sum();
            let next: Vec<u32> = nearest.iter().map(|(c, _)| *c).collect();
            if next == labels {
                break;
            }
            let moved = weighted_means(points, &next, weights, centres.len());
            // A dropped centre renumbers the rest, so another round is needed.
            labels = if moved.len() == centres.len() { next } else { Vec::new() };
            centres = moved;
        }
        let labels = points.rows().map(|x| nearest(x, &centres).0).collect();
        (loss, labels)
    }
}

/// The centre nearest to `x`, the lower one on a tie, and its squared distance.
fn nearest(x: &[f64], centres: &Points) -> (u32, f64) {
    let mut best = (0, f64::INFINITY);
    for (c, centre) in centres.rows().enumerate() {
        let squared = squared_distance(x, centre);
        if squared < best.1 {
            best = (c as u32, squared);
        }
    }
    best
}

/// Weighted k-means++; returns fewer centres if no weight is left away from the existing ones.
fn seeded(points: &Points, weights: &[f64], k: usize, stream: &mut Stream) -> Points {
    let mut rows: Vec<usize> = Vec::with_capacity(k);
    let mut far: Vec<f64> = weights.to_vec();
    while rows.len() < k {
        let total: f64 = far.iter().sum();
        if total <= 0.0 {
            break;
        }
        let mut target = stream.random::<f64>() * total;
        let mut at = far.iter().rposition(|w| *w > 0.0).unwrap_or(0);
        for (i, w) in far.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            if target < *w {
                at = i;
                break;
            }
            target -= w;
        }
        rows.push(at);
        for (i, x) in points.rows().enumerate() {
            let squared = weights[i] * squared_distance(x, points.row(at));
            far[i] = if rows.len() == 1 { squared } else { far[i].min(squared) };
        }
    }
    points.subset(&rows)
}

/// Weighted means of the clusters; those without weight are dropped.
fn weighted_means(points: &Points, labels: &[u32], weights: &[f64], k: usize) -> Points {
    let q = points.features();
    let (mut sums, mut totals) = (vec![0.0; k * q], vec![0.0; k]);
    for ((x, &label), w) in points.rows().zip(labels).zip(weights) {
        let c = label as usize;
        totals[c] += w;
        for (sum, value) in sums[c * q..][..q].iter_mut().zip(x) {
            *sum += w * value;
        }
    }
    let kept = (0..k).filter(|&c| totals[c] > 0.0);
    let values = kept.flat_map(|c| sums[c * q..][..q].iter().map(move |sum| (c, *sum)));
    Points::trusted(values.map(|(c, sum)| sum / totals[c]).collect(), q)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::CandidatesBuilder;

    /// Sixty objects of four candidates around three places, with penalties.
    fn sets() -> Vec<(Vec<f64>, Vec<f64>)> {
        let mut rng = random::stream(5, 5);
        let mut uniform = move || rng.random::<f64>();
        (0..60)
            .map(|i| {
                let place = f64::from(i % 3) * 4.0;
                let values = (0..8).map(|_| place + uniform()).collect();
                (values, (0..4).map(|_| uniform()).collect())
            })
            .collect()
    }

    fn built(sets: &[(Vec<f64>, Vec<f64>)]) -> Candidates {
        let mut builder = CandidatesBuilder::new(2);
        for (values, penalties) in sets {
            builder.push(values, penalties).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn a_whole_weight_is_that_many_copies() {
        let sets = sets();
        let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 4)).collect();
        let copies: Vec<usize> = (0..60).flat_map(|i| vec![i; i % 4]).collect();
        let repeated = built(&copies.iter().map(|&i| sets[i].clone()).collect::<Vec<_>>());
        let first: Vec<u32> = (0..60).map(|i| (i % 5) as u32).collect();
        let goc = Weighted { lambda: 0.3, ..Weighted::new(5) };
        let one = built(&sets);
        let once = goc.descend(&one, &weights, &one.means(), Partition::from_labels(&first), &|| {});
        let theirs = Partition::from_labels(&copies.iter().map(|&i| first[i]).collect::<Vec<_>>());
        let twice = goc.descend(&repeated, &vec![1.0; copies.len()], &repeated.means(), theirs, &|| {});
        let spread = |labels: &[u32]| copies.iter().map(|&i| labels[i]).collect::<Vec<u32>>();
        assert_eq!(Partition::from_labels(&spread(once.partition.labels())), twice.partition);
        assert_eq!(spread(&once.chosen), twice.chosen);
        let (a, b) = (once.history.last().unwrap(), twice.history.last().unwrap());
        assert!((a - b).abs() < 1e-12 * a.abs(), "{a} {b}");
    }

    #[test]
    fn objective_never_rises() {
        let one = built(&sets());
        let mut rng = random::stream(7, 1);
        for seed in 0..20 {
            let weights: Vec<f64> = (0..60).map(|_| rng.random::<f64>() * 5.0).collect();
            let goc = Weighted { lambda: 0.3, starts: 1, ..Weighted::new(6) };
            let found = goc.run(&one, &weights, seed, &|| {}).unwrap();
            assert!(found.converged);
            assert!(found.history.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-14)), "{:?}", found.history);
        }
    }

    #[test]
    fn an_object_without_weight_moves_no_centre() {
        let points = Points::new(vec![0.0, 2.0, 100.0, 10.0], 1).unwrap();
        let one = Candidates::from_points(&points).unwrap();
        let found = Weighted::new(2).run(&one, &[1.0, 1.0, 0.0, 1.0], 3, &|| {}).unwrap();
        let mut centres = found.centres.values().to_vec();
        centres.sort_by(f64::total_cmp);
        assert_eq!(centres, [1.0, 10.0]);
        assert_eq!(found.partition.labels()[2], found.partition.labels()[3]);
    }

    #[test]
    fn k_means_finds_the_best_of_all_two_part_splits() {
        // Brute force over all labellings of nine weighted points.
        let values = [0.3, 1.9, 2.2, 4.1, 4.4, 7.0, 7.5, 9.1, 12.0];
        let weights = [1.0, 5.0, 0.5, 2.0, 2.0, 7.0, 1.0, 0.1, 3.0];
        let loss = |labels: &[u32]| -> f64 {
            let mean = |c: u32| {
                let of =
                    |f: &dyn Fn(usize) -> f64| -> f64 { (0..9).filter(|&i| labels[i] == c).map(f).sum() };
                of(&|i| weights[i] * values[i]) / of(&|i| weights[i])
            };
            let centres = [mean(0), mean(1)];
            (0..9).map(|i| weights[i] * (values[i] - centres[labels[i] as usize]).powi(2)).sum()
        };
        let all = (1..255_u32).map(|bits| (0..9).map(|i| (bits >> i) & 1).collect::<Vec<u32>>());
        let best = all.map(|labels| loss(&labels)).fold(f64::INFINITY, f64::min);
        let points = Points::new(values.to_vec(), 1).unwrap();
        let found = Weighted { starts: 20, ..Weighted::new(2) }.first(&points, &weights, 1);
        assert!((loss(found.labels()) - best).abs() < 1e-12 * best);
    }

    #[test]
    fn what_is_wrong_with_weights_is_said() {
        let one = Candidates::from_points(&Points::new(vec![0.0, 1.0], 1).unwrap()).unwrap();
        let run = |k, weights: &[f64]| Weighted::new(k).run(&one, weights, 1, &|| {}).unwrap_err();
        assert_eq!(run(1, &[1.0]), WeightedError::Count { weights: 1, objects: 2 });
        assert_eq!(run(1, &[1.0, -2.0]), WeightedError::Value { object: 1, value: -2.0 });
        assert_eq!(run(1, &[0.0, 0.0]), WeightedError::AllZero);
        assert_eq!(run(2, &[1.0, 0.0]), WeightedError::Clusters { k: 2, objects: 1 });
        assert_eq!(run(0, &[1.0, 1.0]), WeightedError::Clusters { k: 0, objects: 2 });
    }
}
