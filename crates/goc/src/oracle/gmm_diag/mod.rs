//! A Gaussian mixture with diagonal covariances, as R's `ClusterR::GMM` (which is Armadillo's `gmm_diag`).
//!
//! `p(x) = sum over k of w_k prod over f of N(x_f; m_kf, v_kf)`, in three short stages with the
//! same defaults:
//! 1. K distinct points are drawn as initial means, followed by ten k-means steps;
//! 2. weight, mean and variance of each k-means cluster, no variance below a floor of 1e-10;
//! 3. five EM steps, again with the floor.
//!
//! A point's label is the component with the largest density there, *ignoring the weights*: this is
//! how ClusterR predicts, and what the paper's "GMM (ClusterR)" numbers are based on.
//!
//! # Two modes
//! By default the oracle draws from goc's own stream and follows the rules below.
//! [`GmmDiag::cluster_r`] draws as R does after `set.seed`, and repairs empty clusters as Armadillo
//! does: its labels are those of `ClusterR::GMM` with that seed. The paper's column "GMM
//! (ClusterR)" is one draw, with seed 1.
//!
//! # Rules that differ from Armadillo
//! - A k-means cluster that loses all points takes the point farthest from its own mean (the first
//!   such row on a tie), never a copy of one already taken. So K clusters in give K clusters out.
//!   (Armadillo takes a point of some other cluster by index. From the same initial means the
//!   labels are the same in 95 of 100 runs on the paper's sets; in those that differ a cluster was
//!   lost on the way, and our result has the higher likelihood.)
//! - A cluster of one point, or of equal ones, has the floor as its variance: it is a spike at that
//!   point and stays there.
//! - A component that loses all points in EM keeps its mean and variance; its weight is 0.
//! - [`Start::Centres`]: k-means starts from these centres, once. Of several starts from K, the one
//!   with the highest likelihood wins, the earlier on a tie.
//! - Clamping at the floor is the constrained maximum of each M step, so EM never decreases the
//!   likelihood.

mod cluster_r;
mod k_means;
mod model;
#[cfg(test)]
mod tests;

use super::{Oracle, OracleError, Result, Start};
use crate::random::r::RStream;
use crate::random::stream as numbered_stream;
use crate::{Partition, Points, Stream};
use k_means::{assign, k_means, nearest};
pub use model::Model;
use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;

/// The oracle.
///
/// ```
/// use goc::oracle::{Start, gmm_diag::GmmDiag};
/// use goc::{Points, random::stream};
/// let points = Points::new(vec![0.0, 1.0, 2.0, 20.0, 21.0], 1)?;
/// let fit = GmmDiag::default().starts(5).fit(&points, Start::K(2), &mut stream(1, 0))?;
/// assert_eq!(fit.partition.canonical().labels(), [0, 0, 0, 1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GmmDiag {
    km_iterations: usize,
    em_iterations: usize,
    variance_floor: f64,
    starts: usize,
    r_seed: Option<i32>,
}

impl Default for GmmDiag {
    fn default() -> Self {
        Self { km_iterations: 10, em_iterations: 5, variance_floor: 1e-10, starts: 1, r_seed: None }
    }
}

impl GmmDiag {
    /// Label for label as R's `ClusterR::GMM(data, K, seed = seed)`; R's own default is seed 1.
    ///
    /// This oracle draws nothing from the stream it is given. Of [`Start::Centres`] it uses only
    /// the number, since `GMM` takes no centres. Several [`starts`](Self::starts) use the seeds
    /// `seed`, `seed + 1`, …. One thing differs from R: if there are no more than K distinct
    /// points, each is a cluster, as with every oracle here.
    /// oracle here.
    ///
    /// ```
    /// use goc::oracle::{Start, gmm_diag::GmmDiag};
    /// use goc::{Points, random::stream};
    /// let points = Points::new(vec![0.0, 1.0, 2.0, 20.0, 21.0], 1)?;
    /// let oracle = GmmDiag::cluster_r(1);
    /// let fit = oracle.fit(&points, Start::K(2), &mut stream(1, 0))?;
    /// assert_eq!(fit, oracle.fit(&points, Start::K(2), &mut stream(2, 0))?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cluster_r(seed: i32) -> Self {
        Self { r_seed: Some(seed), ..Self::default() }
    }

    setters! {
        /// k-means steps before EM; 10 by default.
        km_iterations: usize;
        /// EM steps; 5 by default.
        em_iterations: usize;
        /// The lower limit of every variance; 1e-10 by default. Must be positive.
        variance_floor: f64;
        /// The number of starts; the most likely is kept. 0 counts as 1, the default.
        starts: usize = starts.max(1);
    }

    /// Clusters points.
    pub fn fit(&self, points: &Points, start: Start<'_>, stream: &mut Stream) -> Result<Mixture> {
        start.check(points)?;
        if !(self.variance_floor.is_finite() && self.variance_floor > 0.0) {
            return Err(
                self.failed(format!("the variance floor {} must be a positive number", self.variance_floor))
            );
        }
        let distinct = points.distinct_rows();
        let k = start.k();
        let found = if distinct.len() <= k {
            self.one_each(points, points.subset(&distinct))
        } else if let Some(seed) = self.r_seed {
            self.likeliest(|s| self.run_as_cluster_r(points, k, RStream::new(seed.wrapping_add(s as i32))))?
        } else if let Start::Centres(centres) = start {
            self.run_from(points, centres.clone())
        } else {
            let seed: u64 = stream.random();
            self.likeliest(|s| {
                let mut rows = distinct.clone();
                let rows = rows.partial_shuffle(&mut numbered_stream(seed, s as u64), k).0;
                self.run_from(points, points.subset(rows))
            })?
        };
        if !found.log_likelihood().is_finite() {
            return Err(self.failed("the points are too far apart to be squared; scale them".into()));
        }
        Ok(found)
    }

    fn failed(&self, reason: String) -> OracleError {
        OracleError::Failed { oracle: self.name().into(), reason }
    }

    /// The most likely of all starts, the earlier on a tie.
    fn likeliest(&self, run: impl Fn(usize) -> Mixture + Sync + Send) -> Result<Mixture> {
        let runs: Vec<Mixture> = (0..self.starts).into_par_iter().map(run).collect();
        let likelier = |a: Mixture, b: Mixture| if b.log_likelihood() > a.log_likelihood() { b } else { a };
        // At least one start, by the builder.
        runs.into_iter().reduce(likelier).ok_or(OracleError::NoClusters)
    }

    fn run_from(&self, points: &Points, means: Points) -> Mixture {
        let means = k_means(points, means, self.km_iterations);
        self.expectation_maximisation(points, &assign(points, &means), means.len())
    }

    fn run_as_cluster_r(&self, points: &Points, k: usize, mut stream: RStream) -> Mixture {
        let first = cluster_r::random_subset(points.len(), k, &mut stream);
        let means = cluster_r::k_means(points, points.subset(&first), self.km_iterations, &mut stream);
        // A cluster that is empty after the last step stays empty: a component with zero weight.
        self.expectation_maximisation(points, &nearest(points, &means).0, k)
    }

    fn expectation_maximisation(&self, points: &Points, labels: &[u32], k: usize) -> Mixture {
        let mut model = Model::of_clusters(points, labels, k, self.variance_floor);
        let mut responsibilities = vec![0.0; points.len() * k];
        let mut history = vec![model.expect(points, &mut responsibilities)];
        for _ in 0..self.em_iterations {
            model.maximise(points, &responsibilities, self.variance_floor);
            history.push(model.expect(points, &mut responsibilities));
        }
        let labels = model.labels(points);
        Mixture { partition: Partition::from_labels(&labels), components: labels, model, history }
    }

    /// A spike at each distinct point. Without EM, which would merge spikes that are closer than
    /// the square root of the floor.
    fn one_each(&self, points: &Points, distinct: Points) -> Mixture {
        let labels = assign(points, &distinct);
        let model = Model::of_clusters(points, &labels, distinct.len(), self.variance_floor);
        let history = vec![model.expect(points, &mut vec![0.0; points.len() * distinct.len()])];
        Mixture { partition: Partition::from_labels(&labels), components: labels, model, history }
    }
}

impl Oracle for GmmDiag {
    fn name(&self) -> &str {
        "gmm-diag"
    }

    fn cluster(&self, points: &Points, start: Start<'_>, stream: &mut Stream) -> Result<Partition> {
        Ok(self.fit(points, start, stream)?.partition)
    }
}

/// A fitted mixture.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    /// The clusters; components that have the largest density at no point are left out.
    pub partition: Partition,
    /// The component of each point.
    pub components: Vec<u32>,
    /// The components themselves.
    pub model: Model,
    /// The log-likelihood before EM and after each step.
    pub history: Vec<f64>,
}

impl Mixture {
    /// The log-likelihood of the points.
    pub fn log_likelihood(&self) -> f64 {
        // The history begins with the likelihood before EM.
        self.history[self.history.len() - 1]
    }
}
