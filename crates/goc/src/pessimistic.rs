//! Greedy pessimistic clustering, GPC (paper, section 3.3): the worst candidate instead of the
//! best.
//!
//! Robust optimisation guards against the worst case, so step (III) chooses for every object a
//! candidate that is as far away as possible. The paper's formula can be read in two ways, and both
//! are implemented ([`Reading`]):
//!
//! - **min-max**: for each centre the object's farthest candidate counts, and the object joins the
//!   centre for which that is nearest; this is the cautious reading, and a usable method;
//! - **max-max**: the farthest pair of candidate and centre, the literal opposite of step (III).
//!   Objects move to the farthest centre, and with the paper's rule for K(t), which drops clusters
//!   of one member, the run collapses to one cluster on all of the paper's sets, as the paper
//!   reports.
//!
//! Steps (I) and (II) are those of GOC: first the oracle, then k-means from the last centres. GPC
//! need not converge; it stops when an earlier state recurs.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::optimistic::{Distance, KRule, OptimisticError};
use crate::oracle::k_means::{KMeans, means};
use crate::oracle::{Oracle, Start};
use crate::{Candidates, Partition, Points, random};

/// What "pessimistic" maximises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reading {
    /// The minimum over the centres of the maximum over the candidates.
    MinMax,
    /// The maximum over centres and candidates.
    MaxMax,
}

/// Parameters of GPC.
#[derive(Clone, Debug)]
pub struct Pessimistic {
    /// The initial number of clusters.
    pub k: usize,
    /// The weight of the penalties.
    pub lambda: f64,
    /// The distance of step (III).
    pub distance: Distance,
    /// The reading of the formula.
    pub reading: Reading,
    /// Step (I); a constant K keeps the non-empty clusters.
    pub k_rule: KRule,
    /// Maximum number of iterations.
    pub max_iterations: usize,
}

/// The result of GPC.
#[derive(Clone, Debug, PartialEq)]
pub struct PessimisticClustering {
    /// The clusters.
    pub partition: Partition,
    /// The pessimistic candidate of each object.
    pub chosen: Vec<u32>,
    /// Means of the chosen candidates.
    pub centres: Points,
    /// Sum of `distance + lambda * penalty` of the chosen pairs.
    pub objective: f64,
    /// Executions of step (III).
    pub iterations: usize,
    /// True if no object changed its candidate any more.
    pub converged: bool,
    /// True if it returned to an earlier state instead.
    pub cycle: bool,
}

impl Pessimistic {
    /// The paper's distance, lambda 0 and at most 200 iterations.
    pub fn new(k: usize, reading: Reading) -> Self {
        Self {
            k,
            lambda: 0.0,
            distance: Distance::Squared,
            reading,
            k_rule: KRule::Plural,
            max_iterations: 200,
        }
    }

    /// Runs GPC.
    pub fn run(
        &self,
        candidates: &Candidates,
        oracle: &dyn Oracle,
        seed: u64,
    ) -> Result<PessimisticClustering, OptimisticError> {
        if !(self.lambda.is_finite() && self.lambda >= 0.0) {
            return Err(OptimisticError::Lambda { value: self.lambda });
        }
        if self.max_iterations == 0 {
            return Err(OptimisticError::NoIterations);
        }
        let mut points = candidates.means();
        let mut partition = oracle.cluster(&points, Start::K(self.k), &mut random::stream(seed, 0))?;
        let later = KMeans::default();
        let mut previous: Vec<u32> = Vec::new();
        let mut seen = HashSet::new();
        for t in 1.. {
            let step_two = means(&points, &partition);
            let choices: Vec<(u32, u32, f64)> = (0..candidates.objects())
                .into_par_iter()
                .map(|i| self.worst(candidates, i, &step_two))
                .collect();
            let chosen: Vec<u32> = choices.iter().map(|c| c.0).collect();
            let labels: Vec<u32> = choices.iter().map(|c| c.1).collect();
            let new = Partition::from_labels(&labels);
            points = candidates.chosen(&chosen);
            let centres = means(&points, &new);
            let converged = chosen == previous;
            let cycle = !converged && !seen.insert((chosen.clone(), new.canonical().labels().to_vec()));
            if converged || cycle || t >= self.max_iterations {
                let objective = choices.iter().map(|c| c.2).sum();
                return Ok(PessimisticClustering {
                    partition: new,
                    chosen,
                    centres,
                    objective,
                    iterations: t,
                    converged,
                    cycle,
                });
            }
            let plural: Vec<usize> =
                (0..new.k()).zip(new.sizes()).filter(|&(_, size)| size > 1).map(|(l, _)| l).collect();
            let centres = match self.k_rule {
                KRule::Plural if !plural.is_empty() => centres.subset(&plural),
                _ => centres,
            };
            partition = later.cluster(&points, Start::Centres(&centres), &mut random::stream(seed, 0))?;
            previous = chosen;
        }
        Err(OptimisticError::NoIterations) // the loop above only ends by returning
    }

    /// Step (III) reversed: candidate, centre and value of object `i`. Ties go to the lower
    /// indices.
    fn worst(&self, candidates: &Candidates, i: usize, centres: &Points) -> (u32, u32, f64) {
        let (m, block) = (candidates.count(i), candidates.block(i));
        let mut squared = vec![0.0; m];
        let mut per_centre = (0..centres.len()).map(|k| {
            squared.fill(0.0);
            for (f, c) in centres.row(k).iter().enumerate() {
                for (sum, x) in squared.iter_mut().zip(&block[f * m..(f + 1) * m]) {
                    *sum += (x - c) * (x - c);
                }
            }
            let mut worst = (0u32, k as u32, f64::NEG_INFINITY);
            for (j, s) in squared.iter().enumerate() {
                let value = self.distance.of_squared(*s) + self.lambda * candidates.penalty(i, j);
                if value > worst.2 {
                    worst = (j as u32, k as u32, value);
                }
            }
            worst
        });
        let first = per_centre.next().unwrap_or((0, 0, 0.0));
        per_centre.fold(first, |best, this| {
            let wins = match self.reading {
                Reading::MinMax => this.2 < best.2,
                Reading::MaxMax => this.2 > best.2,
            };
            if wins { this } else { best }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::CandidatesBuilder;
    use crate::points::squared_distance;

    fn two_groups() -> Candidates {
        let mut builder = CandidatesBuilder::new(1);
        for i in 0..20 {
            let x = if i % 2 == 0 { 0.0 } else { 10.0 } + f64::from(i) * 0.01;
            builder.push(&[x - 1.0, x, x + 1.0], &[0.5, 0.0, 0.5]).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn min_max_keeps_groups_that_are_apart() {
        let result = Pessimistic::new(2, Reading::MinMax).run(&two_groups(), &KMeans::default(), 1).unwrap();
        let expected: Vec<u32> = (0..20).map(|i| i % 2).collect();
        assert_eq!(result.partition.canonical().labels(), expected);
        // Every chosen candidate lies at an end of its set, never in the middle.
        assert!(result.chosen.iter().all(|&j| j != 1));
    }

    #[test]
    fn max_max_collapses_to_one_cluster() {
        let mut builder = CandidatesBuilder::new(1);
        for i in 0..20 {
            builder.push(&[f64::from(i) - 0.4, f64::from(i), f64::from(i) + 0.4], &[]).unwrap();
        }
        builder.push(&[90.0, 100.0], &[]).unwrap(); // everything is farthest from the lonely one
        let candidates = builder.build().unwrap();
        let result = Pessimistic::new(5, Reading::MaxMax).run(&candidates, &KMeans::default(), 1).unwrap();
        assert_eq!(result.partition.k(), 1);
    }

    #[test]
    fn min_max_is_what_enumeration_finds() {
        let candidates = two_groups();
        let centres = Points::new(vec![1.5, 4.0, 9.0], 1).unwrap();
        let gpc = Pessimistic { lambda: 0.3, ..Pessimistic::new(3, Reading::MinMax) };
        for i in 0..candidates.objects() {
            let worst: Vec<f64> = (0..3)
                .map(|k| {
                    (0..3)
                        .map(|j| {
                            squared_distance(&candidates.candidate(i, j), centres.row(k))
                                + 0.3 * candidates.penalty(i, j)
                        })
                        .fold(f64::NEG_INFINITY, f64::max)
                })
                .collect();
            let least = worst.iter().copied().fold(f64::INFINITY, f64::min);
            let (_, k, value) = gpc.worst(&candidates, i, &centres);
            assert_eq!((worst[k as usize], value), (least, least));
        }
    }
}
