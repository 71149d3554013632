//! The soft model: a mixture of K normal clusters with one covariance, summed over the candidates.
//!
//! Where GOC assigns every object one candidate and one cluster, the soft model has the likelihood
//!
//! ```text
//! ln L = sum_i ln sum_k pi_k sum_j w_ij N(x_ij; mu_k, Sigma),      w_ij ~ exp(-penalty_strength * penalty_ij), sum_j w_ij = 1
//! ```
//!
//! maximised by EM (Dempster, Laird & Rubin 1977) from an existing clustering. A full covariance
//! shared by all clusters permits clusters of one object and is, apart from the shape, what k-means
//! and GOC assume. It provides
//!
//! - `BIC = 2 ln L - p ln n` with `p = K - 1 + K q + q (q + 1) / 2` (Schwarz 1978) and `ICL = BIC -
//!   2 sum_i H_i`, where `H_i` is the entropy of an object's memberships (Biernacki, Celeux &
//!   Govaert 2000); the larger the better, as in mclust;
//! - the weight of the penalties implied by the likelihood: `|x - mu|^2 / (2 sigma^2) +
//!   penalty_strength P` has the same minimum as `|x - mu|^2 + lambda P` for `lambda = 2
//!   penalty_strength sigma^2`, with `sigma^2` the mean variance.
//!
//! One round costs `n m K q`; exponentials are computed only for pairs that are not lost to
//! rounding in an object's sum. Sums run over fixed chunks of objects in order, so the result is
//! byte-identical for any number of threads.

use rayon::prelude::*;

use crate::matrix::{cholesky, ln_det, lower_inverse};
use crate::oracle::k_means::means;
use crate::{Candidates, Partition, Points};

/// Objects whose sums are computed by one task.
const CHUNK: usize = 32;
/// Maximum number of rounds.
const ROUNDS: usize = 200;
/// EM stops when the mean log likelihood per object increases by less than this: BIC is then
/// accurate to a few hundredths for some hundred objects.
pub(super) const ROUGHLY: f64 = 1e-4;
/// A pair this far below an object's largest, in log density, contributes less than one unit of
/// rounding even if all pairs did.
const LOST: f64 = 60.0;

/// Why the soft model cannot be fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SoftError {
    /// A singular covariance.
    #[error(
        "the clusters have no extent in some direction; take fewer clusters or drop features that depend on others"
    )]
    Flat,
    /// The clustering is for a different number of objects.
    #[error("a clustering of {labels} objects for {n}")]
    Objects {
        /// Objects clustered.
        labels: usize,
        /// The number of objects.
        n: usize,
    },
    /// A strength that is negative or not a number.
    #[error("the strength of the penalties is {value}; it must be a finite number not below 0")]
    PenaltyStrength {
        /// The value given.
        value: f64,
    },
}

/// A fitted soft model, in scaled features.
#[derive(Clone, Debug, PartialEq)]
pub struct Soft {
    /// The share of each cluster.
    pub shares: Vec<f64>,
    /// The clusters' means.
    pub means: Points,
    /// The covariance of all clusters, in row-major order.
    pub covariance: Vec<f64>,
    /// `ln L` of these parameters.
    pub log_likelihood: f64,
    /// `ln L` before each round and after the last one.
    pub history: Vec<f64>,
    /// Entropy of the memberships, summed over the objects.
    pub entropy: f64,
    /// The most likely cluster of each object, with empty clusters removed.
    pub partition: Partition,
    /// False if the limit of rounds was reached first.
    pub converged: bool,
}

impl Soft {
    /// Runs EM from a clustering and the positions of its objects, until the mean log likelihood
    /// per object increases by less than `enough`.
    pub fn fit(
        candidates: &Candidates,
        partition: &Partition,
        places: &Points,
        penalty_strength: f64,
        enough: f64,
    ) -> Result<Self, SoftError> {
        let (n, q) = (candidates.objects(), candidates.features());
        if partition.len() != n || places.len() != n {
            return Err(SoftError::Objects { labels: partition.len().min(places.len()), n });
        }
        if !(penalty_strength.is_finite() && penalty_strength >= 0.0) {
            return Err(SoftError::PenaltyStrength { value: penalty_strength });
        }
        let log_weights = log_weights(candidates, penalty_strength);
        let centres = means(places, partition);
        let mut covariance = vec![0.0; q * q];
        for (x, &l) in places.rows().zip(partition.labels()) {
            let centre = centres.row(l as usize);
            for a in 0..q {
                for b in 0..q {
                    covariance[a * q + b] += (x[a] - centre[a]) * (x[b] - centre[b]) / n as f64;
                }
            }
        }
        // The optimistic choice makes clusters tighter than they are, down to zero if every object
        // is alone. The start is therefore no narrower than a small share of the whole extent,
        // which EM is free to change.
        let whole = extent(places);
        for f in 0..q {
            covariance[f * q + f] = covariance[f * q + f].max(1e-4 * whole[f]);
        }
        let mut shares: Vec<f64> = partition.sizes().iter().map(|s| *s as f64 / n as f64).collect();
        let mut centres = centres;
        let mut history: Vec<f64> = Vec::new();
        loop {
            let sums = expect(candidates, &log_weights, &shares, &centres, &covariance)?;
            let risen = history.last().map(|last| sums.log_likelihood - last);
            history.push(sums.log_likelihood);
            let converged = risen.is_some_and(|risen| risen <= enough * n as f64);
            if converged || history.len() > ROUNDS {
                return Ok(Self {
                    shares,
                    means: centres,
                    covariance,
                    log_likelihood: sums.log_likelihood,
                    history,
                    entropy: sums.entropy,
                    partition: Partition::from_labels(&sums.labels),
                    converged,
                });
            }
            (shares, centres, covariance) = maximise(&sums, &centres, n);
        }
    }

    /// `2 ln L - p ln n`.
    pub fn bic(&self) -> f64 {
        let (k, q) = (self.shares.len(), self.means.features());
        let parameters = k - 1 + k * q + q * (q + 1) / 2;
        2.0 * self.log_likelihood - parameters as f64 * libm::log(self.partition.len() as f64)
    }

    /// `BIC - 2 H`.
    pub fn icl(&self) -> f64 {
        self.bic() - 2.0 * self.entropy
    }

    /// The mean over the features of the variance within clusters.
    pub fn mean_variance(&self) -> f64 {
        let q = self.means.features();
        (0..q).map(|f| self.covariance[f * q + f]).sum::<f64>() / q as f64
    }

    /// The weight of the penalties in the squared joint objective that this likelihood implies.
    pub fn lambda(&self, penalty_strength: f64) -> f64 {
        2.0 * penalty_strength * self.mean_variance()
    }
}

/// `ln w_ij`, in the order of the candidates.
fn log_weights(candidates: &Candidates, penalty_strength: f64) -> Vec<f64> {
    let mut all = Vec::with_capacity(candidates.total());
    for i in 0..candidates.objects() {
        let from = all.len();
        all.extend((0..candidates.count(i)).map(|j| -penalty_strength * candidates.penalty(i, j)));
        let most = all[from..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = all[from..].iter().map(|w| libm::exp(w - most)).sum();
        let log_total = most + libm::log(total);
        all[from..].iter_mut().for_each(|w| *w -= log_total);
    }
    all
}

/// The variance of each feature over all objects.
fn extent(places: &Points) -> Vec<f64> {
    let (n, q) = (places.len() as f64, places.features());
    (0..q)
        .map(|f| {
            let mean = places.rows().map(|x| x[f]).sum::<f64>() / n;
            places.rows().map(|x| (x[f] - mean) * (x[f] - mean)).sum::<f64>() / n
        })
        .collect()
}

/// The result of the E step.
struct Sums {
    log_likelihood: f64,
    entropy: f64,
    labels: Vec<u32>,
    /// Responsibility of each cluster.
    weight: Vec<f64>,
    /// For each cluster and feature, the responsibility-weighted deviations from the old mean.
    first: Vec<f64>,
    /// For all clusters together, their products.
    second: Vec<f64>,
}

impl Sums {
    fn new(k: usize, q: usize) -> Self {
        Self {
            log_likelihood: 0.0,
            entropy: 0.0,
            labels: Vec::new(),
            weight: vec![0.0; k],
            first: vec![0.0; k * q],
            second: vec![0.0; q * q],
        }
    }

    fn add(&mut self, other: &Self) {
        self.log_likelihood += other.log_likelihood;
        self.entropy += other.entropy;
        self.labels.extend_from_slice(&other.labels);
        let pairs = self.weight.iter_mut().zip(&other.weight);
        let pairs = pairs.chain(self.first.iter_mut().zip(&other.first));
        for (a, b) in pairs.chain(self.second.iter_mut().zip(&other.second)) {
            *a += b;
        }
    }
}

/// The parameters as the E step uses them.
struct Step<'a> {
    candidates: &'a Candidates,
    log_weights: &'a [f64],
    centres: &'a Points,
    /// `ln pi_k` and the constant of the density.
    log_shares: Vec<f64>,
    /// The inverse of the covariance's lower triangle, which makes the metric Euclidean.
    whiten: Vec<f64>,
    /// The centres in that metric.
    white: Points,
}

fn expect(
    candidates: &Candidates,
    log_weights: &[f64],
    shares: &[f64],
    centres: &Points,
    covariance: &[f64],
) -> Result<Sums, SoftError> {
    let (n, q, k) = (candidates.objects(), candidates.features(), shares.len());
    let (whiten, log_det) = whitening(covariance, q).ok_or(SoftError::Flat)?;
    let constant = -0.5 * (q as f64 * libm::log(std::f64::consts::TAU) + log_det);
    let white = Points::trusted(centres.rows().flat_map(|x| times(&whiten, x)).collect(), q);
    let log_shares = shares.iter().map(|s| libm::log(*s) + constant).collect();
    let step = Step { candidates, log_weights, centres, log_shares, whiten, white };
    let chunks: Vec<Sums> = (0..n.div_ceil(CHUNK))
        .into_par_iter()
        .map(|c| expect_chunk(&step, c * CHUNK, n.min((c + 1) * CHUNK)))
        .collect();
    let mut sums = Sums::new(k, q);
    for chunk in &chunks {
        sums.add(chunk);
    }
    Ok(sums)
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn expect_chunk(step: &Step<'_>, from: usize, to: usize) -> Sums {
    let (q, k) = (step.candidates.features(), step.white.len());
    let mut sums = Sums::new(k, q);
    let (mut white, mut logs, mut member) = (Vec::new(), Vec::new(), vec![0.0; k]);
    for i in from..to {
        let m = step.candidates.count(i);
        let weights = &step.log_weights[step.candidates.offsets()[i]..][..m];
        white.clear();
        white.resize(q * m, 0.0);
        for a in 0..q {
            for b in 0..=a {
                let factor = step.whiten[a * q + b];
                for (y, x) in white[a * m..(a + 1) * m].iter_mut().zip(step.candidates.feature(i, b)) {
                    *y += factor * x;
                }
            }
        }
        // Log densities of all pairs, cluster after cluster.
        logs.clear();
        logs.resize(k * m, 0.0);
        let mut most = f64::NEG_INFINITY;
        for (c, logs) in logs.chunks_exact_mut(m).enumerate() {
            for (a, centre) in step.white.row(c).iter().enumerate() {
                for (sum, y) in logs.iter_mut().zip(&white[a * m..(a + 1) * m]) {
                    *sum += (y - centre) * (y - centre);
                }
            }
            let share = step.log_shares[c];
            for (log, w) in logs.iter_mut().zip(weights) {
                *log = share + w - 0.5 * *log;
                most = if *log > most { *log } else { most };
            }
        }
        let mut total = 0.0;
        for (c, logs) in logs.chunks_exact_mut(m).enumerate() {
            member[c] = 0.0;
            for log in logs.iter_mut() {
                *log = if *log > most - LOST { libm::exp(*log - most) } else { 0.0 };
                member[c] += *log;
            }
            total += member[c];
        }
        sums.log_likelihood += most + libm::log(total);
        let mut label = 0;
        for (c, logs) in logs.chunks_exact(m).enumerate() {
            if member[c] > member[label] {
                label = c;
            }
            if member[c] == 0.0 {
                continue;
            }
            let share = member[c] / total;
            sums.entropy -= share * libm::log(share);
            sums.weight[c] += share;
            let centre = step.centres.row(c);
            for (j, r) in logs.iter().enumerate().filter(|(_, r)| **r > 0.0) {
                let r = r / total;
                for a in 0..q {
                    let da = step.candidates.feature(i, a)[j] - centre[a];
                    sums.first[c * q + a] += r * da;
                    for b in 0..=a {
                        let db = step.candidates.feature(i, b)[j] - centre[b];
                        sums.second[a * q + b] += r * da * db;
                    }
                }
            }
        }
        sums.labels.push(label as u32);
    }
    sums
}

/// The M step. A cluster with zero responsibility keeps its mean and has no share.
fn maximise(sums: &Sums, old: &Points, n: usize) -> (Vec<f64>, Points, Vec<f64>) {
    let q = old.features();
    let mut centres = old.clone();
    let mut covariance = sums.second.clone();
    for (c, &weight) in sums.weight.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        let first = &sums.first[c * q..(c + 1) * q];
        for a in 0..q {
            centres.row_mut(c)[a] += first[a] / weight;
            for b in 0..=a {
                covariance[a * q + b] -= first[a] * first[b] / weight;
            }
        }
    }
    for a in 0..q {
        for b in 0..=a {
            covariance[a * q + b] /= n as f64;
            covariance[b * q + a] = covariance[a * q + b];
        }
    }
    (sums.weight.iter().map(|w| w / n as f64).collect(), centres, covariance)
}

/// The inverse of the lower triangle L with `L L' = a`, and `ln det a`; `None` if `a` is not
/// positive definite.
fn whitening(a: &[f64], q: usize) -> Option<(Vec<f64>, f64)> {
    let l = cholesky(a, q)?;
    // The residual variance after the other features must exceed rounding.
    let flat = (0..q).any(|f| l[f * q + f] * l[f * q + f] <= 1e-14 * a[f * q + f]);
    (!flat).then(|| (lower_inverse(&l, q), ln_det(&l, q)))
}

/// A lower triangle times a vector.
fn times(l: &[f64], x: &[f64]) -> Vec<f64> {
    let q = x.len();
    (0..q).map(|a| (0..=a).map(|b| l[a * q + b] * x[b]).sum()).collect()
}

#[cfg(test)]
#[path = "soft_tests.rs"]
mod tests;
