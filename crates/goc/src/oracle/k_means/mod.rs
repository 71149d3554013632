//! k-means (MacQueen 1967): the oracle of the paper's Experiments 1-3.
//!
//! Finds `k` centres and labels with a small sum of squared distances, `sum_i |x_i - mu_{c_i}|^2`
//! (paper, section 3.3). There are two ways to descend from a start: Hartigan & Wong's single
//! transfers, which are R's default and reach the better optimum for small data, and Lloyd's
//! rounds, which for many points run in an accelerated form that skips most distances and still
//! gives exactly Lloyd's labels. The best of several starts is kept.
//!
//! # Decisions
//! - Fewer distinct points than `k`: each distinct point is a cluster.
//! - A cluster that loses its last point moves to the point farthest from its own centre, which
//!   lowers the loss and keeps `k`. (Hartigan-Wong never empties a cluster that has a point.)
//! - Ties between centres go to the lower index; between starts to the earlier one.

mod hamerly;
mod hartigan_wong;
pub(crate) mod lloyd;
pub(crate) mod seeding;
pub(crate) mod sums;

use rand::Rng;
use rayon::prelude::*;

use super::{Oracle, OracleError, Result, Start};
use crate::kernel::CentreLanes;
use crate::points::squared_distance;
use crate::{Partition, Points, Stream, random};
use sums::{CHUNK, Sums};

/// How a start is improved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Algorithm {
    /// Single transfers (AS 136), one thread per start; for up to some ten thousand points.
    #[default]
    HartiganWong,
    /// Whole rounds, on many threads; accelerated where that pays.
    Lloyd,
}

/// How starts are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Seeding {
    /// `k` distinct points, all equally likely.
    #[default]
    Random,
    /// k-means++ (Arthur & Vassilvitskii 2007): each next centre with probability proportional to its squared
    /// distance from those before.
    PlusPlus,
}

/// The k-means oracle. The defaults are those of the paper's authors: Hartigan-Wong, 100 random
/// starts, at most 10 iterations.
///
/// ```
/// use goc::{Points, oracle::{Oracle, Start, k_means::KMeans}, random};
/// let points = Points::new(vec![0.0, 0.1, 5.0, 5.1], 1)?;
/// let partition = KMeans::default().cluster(&points, Start::K(2), &mut random::stream(1, 0))?;
/// assert_eq!(partition.canonical().labels(), [0, 0, 1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KMeans {
    algorithm: Algorithm,
    seeding: Seeding,
    starts: usize,
    max_iterations: usize,
}

impl Default for KMeans {
    fn default() -> Self {
        Self { algorithm: Algorithm::HartiganWong, seeding: Seeding::Random, starts: 100, max_iterations: 10 }
    }
}

/// The result of k-means.
#[derive(Clone, Debug, PartialEq)]
pub struct KMeansFit {
    /// The clusters.
    pub partition: Partition,
    /// Their means, one per cluster.
    pub centres: Points,
    /// Sum of squared distances of the points to their centres.
    pub loss: f64,
    /// Rounds of the best start.
    pub iterations: usize,
    /// False if the limit on iterations was reached first.
    pub converged: bool,
}

impl KMeans {
    setters! {
        /// How each start is improved.
        algorithm: Algorithm;
        /// How starts are drawn.
        seeding: Seeding;
        /// The number of starts; at least one is made.
        starts: usize = starts.max(1);
        /// The maximum number of rounds of each start; a low one gives the early-stopped oracle of
        /// the paper's extensions.
        max_iterations: usize = max_iterations.max(1);
    }

    /// The full result, of which [`Oracle::cluster`] returns the labels.
    pub fn fit(&self, points: &Points, start: Start<'_>, stream: &mut Stream) -> Result<KMeansFit> {
        start.check(points)?;
        let k = start.k();
        if k == 1 {
            return Ok(finish(points, vec![0; points.len()], 1, true));
        }
        if let Some(labels) = seeding::labels_if_fewer_distinct(points, k) {
            return Ok(finish(points, labels, 1, true));
        }
        match start {
            Start::Centres(centres) => Ok(self.descend(points, centres)),
            Start::K(_) => {
                let base = stream.next_u64();
                (0..self.starts)
                    .into_par_iter()
                    .map(|s| {
                        let mut own = random::stream(base, s as u64);
                        let centres = match self.seeding {
                            Seeding::Random => seeding::random(points, k, &mut own),
                            Seeding::PlusPlus => seeding::plus_plus(points, k, &mut own),
                        };
                        (s, self.descend(points, &centres))
                    })
                    .reduce_with(|a, b| {
                        let b_wins = b.1.loss.total_cmp(&a.1.loss).then(b.0.cmp(&a.0)).is_lt();
                        if b_wins { b } else { a }
                    })
                    .map(|(_, fit)| fit)
                    .ok_or(OracleError::NoPoints)
            }
        }
    }

    /// One descent from `centres`; there are at least as many distinct points.
    fn descend(&self, points: &Points, centres: &Points) -> KMeansFit {
        let k = centres.len();
        match self.algorithm {
            Algorithm::HartiganWong => {
                let run = match hartigan_wong::run(points, centres, self.max_iterations) {
                    Ok(run) => Ok(run),
                    Err(hartigan_wong::EmptyCluster) => {
                        let filled = fill_empty_clusters(points, centres.clone());
                        hartigan_wong::run(points, &filled, self.max_iterations)
                    }
                };
                match run {
                    Ok(run) => finish(points, run.labels, run.iterations, run.converged),
                    // Only if rounding undid the repair: Lloyd repairs as it goes.
                    Err(hartigan_wong::EmptyCluster) => lloyd::run(points, centres, self.max_iterations),
                }
            }
            Algorithm::Lloyd if hamerly::pays(points.len(), k) => {
                hamerly::run(points, centres, self.max_iterations)
            }
            Algorithm::Lloyd => lloyd::run(points, centres, self.max_iterations),
        }
    }
}

impl Oracle for KMeans {
    fn name(&self) -> &str {
        "k-means"
    }

    fn cluster(&self, points: &Points, start: Start<'_>, stream: &mut Stream) -> Result<Partition> {
        self.fit(points, start, stream).map(|fit| fit.partition)
    }
}

/// Removes empty clusters, computes the means and sums the loss.
fn finish(points: &Points, labels: Vec<u32>, iterations: usize, converged: bool) -> KMeansFit {
    let bound = labels.iter().max().map_or(0, |&l| l as usize + 1);
    let partition = Partition::from_bounded(&labels, bound);
    let centres = means(points, &partition);
    let loss = points
        .rows()
        .zip(partition.labels())
        .map(|(x, &l)| squared_distance(x, centres.row(l as usize)))
        .sum();
    KMeansFit { partition, centres, loss, iterations, converged }
}

/// The mean of each cluster (paper, eq. 9).
pub fn means(points: &Points, partition: &Partition) -> Points {
    let (k, q) = (partition.k(), points.features());
    let chunks: Vec<Sums> = points
        .values()
        .par_chunks(CHUNK * q)
        .zip(partition.labels().par_chunks(CHUNK))
        .map(|(rows, labels)| Sums::of(k, q, rows, labels))
        .collect();
    let mut total = Sums::new(k, q);
    chunks.iter().for_each(|chunk| total.merge(chunk));
    // Every label of a partition is used, so none is left out.
    total.means_of_occupied(q)
}

/// Moves centres without points until every one has some: each goes to the point that is farthest
/// from its own centre and not alone there. The loss decreases with every move, so this terminates.
fn fill_empty_clusters(points: &Points, mut centres: Points) -> Points {
    let k = centres.len();
    loop {
        let lanes = CentreLanes::from_points(&centres);
        let mut sizes = vec![0usize; k];
        let nearest: Vec<(usize, f64)> = points.rows().map(|x| lanes.nearest(x)).collect();
        for &(l, _) in &nearest {
            sizes[l] += 1;
        }
        let Some(empty) = sizes.iter().position(|&s| s == 0) else { return centres };
        let farthest = (0..nearest.len())
            .filter(|&i| sizes[nearest[i].0] > 1 && nearest[i].1 > 0.0)
            .max_by(|&a, &b| nearest[a].1.total_cmp(&nearest[b].1).then(b.cmp(&a)));
        let Some(farthest) = farthest else { return centres };
        let row = points.row(farthest).to_vec();
        centres.row_mut(empty).copy_from_slice(&row);
    }
}

#[cfg(test)]
mod tests;
