//! Extreme deconvolution: a Gaussian mixture of the true positions, convolved with the errors
//! (Bovy, Hogg & Roweis 2011).
//!
//! The true position of an object comes from a mixture of K normal components. The measurement is
//! that position plus a normal error with the object's own covariance `S_i`. So the measured
//! position `x_i` has the density
//!
//! ```text
//! p(x_i) = sum_j a_j N(x_i; m_j, T_ij),    T_ij = V_j + S_i
//! ```
//!
//! and EM has closed-form steps (their equations 16): with `r_ij` the share of component j in
//! `p(x_i)`,
//!
//! ```text
//! b_ij = m_j + V_j T_ij^-1 (x_i - m_j)          where the object is, were it of component j
//! B_ij = V_j - V_j T_ij^-1 V_j                  how well that is known
//! a_j = r_j / n,   m_j = sum_i r_ij b_ij / r_j,   r_j = sum_i r_ij
//! V_j = (sum_i r_ij [(m_j - b_ij)(m_j - b_ij)' + B_ij] + W) / (r_j + 1)
//! ```
//!
//! `W` is their regularisation, an inverse Wishart prior on each `V_j` that keeps a component from
//! shrinking onto one object; without it the denominator is `r_j`. Here it is [`FLOOR`] times the
//! variance of each feature.
//!
//! # The measured values
//! They are represented by the weighted mean and covariance of an object's candidates, where a
//! candidate has weight `exp(-strength P)`. That is exact for normal errors in the features
//! themselves, and the best normal approximation where the candidates lie on a curve.
//!
//! # Number of components
//! The requested number, or the one with the largest `BIC = 2 ln L - p ln n`, with `p = K (1 + q +
//! q (q + 1) / 2) - 1`. K increases in steps of a third until three successive steps were worse
//! than the best; then the gaps around the best are filled in.
//!
//! # Omissions
//! Missing quantities (their projections `R_i`) and the split-and-merge search over components are
//! not implemented: each fit is the most likely of several starts, each from k-means on the means.
//!
//! Cost: `n K q^3` per round, tens to hundreds of rounds, some 25 values of K; `n q^2` numbers.

mod expectation;

use super::{Grouped, Method, MethodError, Result, Tick, check_k};
use crate::choose_k::{Ties, peak};
use crate::matrix::{cholesky, inverse, ln_det};
use crate::oracle::k_means::KMeans;
use crate::oracle::{Oracle, Start};
use crate::{Candidates, Partition, Points, random};
use expectation::{Seen, Sums, expect};

/// The prior of the components' covariances, as a fraction of each feature's variance: an extent of
/// 0.03 of that of all objects, smaller than that of any group that fills its share of the
/// features. Not tuned.
pub const FLOOR: f64 = 1e-3;
/// The number of steps of K without a better BIC after which it is not increased further.
const PATIENCE: usize = 3;
/// The number of k-means starts, of which the best initialises a fit.
const K_MEANS_STARTS: usize = 5;

/// Extreme deconvolution.
///
/// ```
/// use goc::baselines::{Method, extreme_deconvolution::ExtremeDeconvolution};
/// use goc::candidates::CandidatesBuilder;
/// let mut builder = CandidatesBuilder::new(1);
/// for x in [0.0, 0.1, 0.3, 0.4, 7.0, 7.2, 7.3, 7.5] {
///     builder.push(&[x - 0.1, x, x + 0.1], &[])?;
/// }
/// let grouped = ExtremeDeconvolution::new(None).group(&builder.build()?, 1)?;
/// assert_eq!(grouped.partition.canonical().labels(), [0, 0, 0, 0, 1, 1, 1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ExtremeDeconvolution {
    k: Option<usize>,
    penalty_strength: f64,
    floor: f64,
    starts: usize,
    max_iterations: usize,
    tolerance: f64,
}

impl ExtremeDeconvolution {
    /// With `k` components, or as many as the BIC selects; three starts, at most 200 rounds each.
    pub fn new(k: Option<usize>) -> Self {
        Self { k, penalty_strength: 0.0, floor: FLOOR, starts: 3, max_iterations: 200, tolerance: 1e-5 }
    }

    setters! {
        /// A candidate has weight `exp(-strength * penalty)`; 0 by default, which gives equal
        /// weights.
        penalty_strength: f64;
        /// The prior of the components' covariances, as a fraction of each feature's variance;
        /// [`FLOOR`] by default.
        floor: f64;
        /// The number of starts, of which the most likely is kept; at least one is made.
        starts: usize = starts.max(1);
        /// Maximum number of EM rounds.
        max_iterations: usize;
        /// A fit ends when the mean log likelihood per object increases by no more than this.
        tolerance: f64;
    }

    /// The most likely of several fits with `k` components.
    pub fn fit(&self, measured: &Measured, k: usize, seed: u64) -> Result<Mixture> {
        let mut best: Option<Mixture> = None;
        for start in 0..self.starts {
            let mut stream =
                random::stream(random::key_of_text("extreme deconvolution") ^ seed, start as u64);
            let oracle = KMeans::default().starts(K_MEANS_STARTS);
            let partition = oracle.cluster(&measured.means, Start::K(k), &mut stream)?;
            let begin = measured.components(&partition, self.floor);
            let found = self.fit_from(measured, begin)?;
            if best.as_ref().is_none_or(|best| found.objective() > best.objective()) {
                best = Some(found);
            }
        }
        best.ok_or_else(|| failed("no fit was made"))
    }

    /// EM from these components.
    pub fn fit_from(&self, measured: &Measured, begin: Components) -> Result<Mixture> {
        let prior = measured.prior(self.floor);
        let n = measured.means.len();
        let mut components = begin;
        let mut history: Vec<f64> = Vec::new();
        loop {
            let sums = expect(measured, &components)?;
            let objective = sums.log_likelihood + components.log_prior(&prior)?;
            if !objective.is_finite() {
                return Err(failed("the density of an object underflows; scale the features"));
            }
            let risen = history.last().map(|last| objective - last);
            history.push(objective);
            let converged = risen.is_some_and(|risen| risen <= self.tolerance * n as f64);
            if converged || history.len() > self.max_iterations {
                return Ok(Mixture { components, log_likelihood: sums.log_likelihood, history, converged });
            }
            components = components.maximise(&sums, &prior, n);
        }
    }
}

impl Method for ExtremeDeconvolution {
    fn name(&self) -> &str {
        "extreme-deconvolution"
    }

    /// The confidence is the share of the object's component in its density; an object's position
    /// is its posterior mean under the mixture. The objective is minus the log likelihood,
    /// including its prior.
    fn group_watched(&self, candidates: &Candidates, seed: u64, tick: Tick) -> Result<Grouped> {
        if let Some(k) = self.k {
            check_k(k, candidates)?;
        }
        let measured = Measured::new(candidates, self.penalty_strength)?;
        let mixture = match self.k {
            Some(k) => self.fit(&measured, k, seed)?,
            None => self.by_bic(&measured, seed, tick)?,
        };
        mixture.grouped(&measured)
    }
}

impl ExtremeDeconvolution {
    fn by_bic(&self, measured: &Measured, seed: u64, tick: Tick) -> Result<Mixture> {
        let n = measured.means.len();
        let mut best: Option<(f64, Mixture)> = None;
        let (mut highest, mut worse) = (0, 0);
        peak(1..=(n / 2).max(1), Ties::Smaller, |k| {
            if k > highest && worse >= PATIENCE {
                return Ok(None);
            }
            let found = self.fit(measured, k, seed)?;
            tick();
            let bic = found.bic(n);
            let better = best.as_ref().is_none_or(|(most, _)| bic > *most);
            if k > highest {
                (highest, worse) = (k, if better { 0 } else { worse + 1 });
            }
            if better {
                best = Some((bic, found));
            }
            Ok::<_, MethodError>(Some(bic))
        })?;
        best.map(|(_, mixture)| mixture).ok_or_else(|| failed("no number of components has a BIC"))
    }
}

fn failed(reason: &str) -> MethodError {
    MethodError::Failed { method: "extreme-deconvolution", reason: reason.into() }
}

/// The measurements: a position for each object, and the covariance of its error.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    means: Points,
    /// `q * q` numbers for each object, in row-major order.
    covariances: Vec<f64>,
}

impl Measured {
    /// The weighted mean and covariance of each object's candidates.
    pub fn new(candidates: &Candidates, penalty_strength: f64) -> Result<Self> {
        if !(penalty_strength.is_finite() && penalty_strength >= 0.0) {
            let (method, must) = ("extreme-deconvolution", "a finite number not below 0");
            let (name, value) = ("strength", penalty_strength);
            return Err(MethodError::Parameter { method, name, value, must });
        }
        let (n, q) = (candidates.objects(), candidates.features());
        let (mut places, mut covariances) = (Vec::with_capacity(n * q), Vec::with_capacity(n * q * q));
        for i in 0..n {
            let m = candidates.count(i);
            let least = (0..m).map(|j| candidates.penalty(i, j)).fold(f64::INFINITY, f64::min);
            let weight = |j| libm::exp(-penalty_strength * (candidates.penalty(i, j) - least));
            let mut weights: Vec<f64> = (0..m).map(weight).collect();
            let total: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|w| *w /= total);
            let mean = |f| candidates.feature(i, f).iter().zip(&weights).map(|(x, w)| w * x).sum::<f64>();
            let own: Vec<f64> = (0..q).map(mean).collect();
            for a in 0..q {
                for b in 0..q {
                    let pairs = candidates.feature(i, a).iter().zip(candidates.feature(i, b)).zip(&weights);
                    covariances.push(pairs.map(|((x, y), w)| w * (x - own[a]) * (y - own[b])).sum());
                }
            }
            places.extend(own);
        }
        if covariances.iter().any(|v: &f64| !v.is_finite()) {
            return Err(failed("the squares of the errors overflow; scale the features"));
        }
        Self::of(Points::trusted(places, q), covariances)
    }

    /// From known positions and covariances: `q * q` numbers for each object.
    pub fn of(means: Points, covariances: Vec<f64>) -> Result<Self> {
        let q = means.features();
        if means.is_empty() || covariances.len() != means.len() * q * q {
            return Err(failed("every object needs a covariance of as many rows and columns as features"));
        }
        Ok(Self { means, covariances })
    }

    fn covariance(&self, i: usize) -> &[f64] {
        let square = self.means.features().pow(2);
        &self.covariances[i * square..(i + 1) * square]
    }

    /// The prior `W`: a diagonal matrix, in the units of the features. A constant feature counts as
    /// one of variance 1.
    fn prior(&self, floor: f64) -> Vec<f64> {
        let n = self.means.len() as f64;
        let variance = |f: usize| {
            let mean = self.means.rows().map(|x| x[f] / n).sum::<f64>();
            self.means.rows().map(|x| (x[f] - mean).powi(2) / n).sum::<f64>()
        };
        let floored = |v: f64| floor * if v > 0.0 { v } else { 1.0 };
        (0..self.means.features()).map(variance).map(floored).collect()
    }

    /// The components given by a clustering of the positions.
    fn components(&self, partition: &Partition, floor: f64) -> Components {
        let (n, q, prior) = (self.means.len() as f64, self.means.features(), self.prior(floor));
        let means = crate::oracle::k_means::means(&self.means, partition);
        let sizes = partition.sizes();
        let mut covariances = vec![0.0; sizes.len() * q * q];
        for (x, &l) in self.means.rows().zip(partition.labels()) {
            let (own, centre) = (&mut covariances[l as usize * q * q..], means.row(l as usize));
            for a in 0..q {
                for b in 0..q {
                    own[a * q + b] += (x[a] - centre[a]) * (x[b] - centre[b]);
                }
            }
        }
        for (own, size) in covariances.chunks_exact_mut(q * q).zip(&sizes) {
            (0..q).for_each(|f| own[f * q + f] += prior[f]);
            own.iter_mut().for_each(|v| *v /= *size as f64 + 1.0);
        }
        Components { shares: sizes.iter().map(|s| *s as f64 / n).collect(), means, covariances }
    }
}

/// The components of a mixture.
#[derive(Clone, Debug, PartialEq)]
pub struct Components {
    /// `a_j`.
    pub shares: Vec<f64>,
    /// `m_j`.
    pub means: Points,
    /// `V_j`, `q * q` numbers each.
    pub covariances: Vec<f64>,
}

impl Components {
    fn covariance(&self, j: usize) -> &[f64] {
        let square = self.means.features().pow(2);
        &self.covariances[j * square..(j + 1) * square]
    }

    /// The log prior of all covariances, up to a constant; 0 without a prior.
    fn log_prior(&self, prior: &[f64]) -> Result<f64> {
        let q = prior.len();
        if prior.iter().all(|w| *w == 0.0) {
            return Ok(0.0);
        }
        let flat =
            || failed("a component has no extent in some direction; drop features that depend on others");
        let mut sum = 0.0;
        for j in 0..self.shares.len() {
            let low = cholesky(self.covariance(j), q).ok_or_else(flat)?;
            let precision = inverse(self.covariance(j), q).ok_or_else(flat)?;
            let trace: f64 = (0..q).map(|f| prior[f] * precision[f * q + f]).sum();
            sum -= 0.5 * (ln_det(&low, q) + trace);
        }
        Ok(sum)
    }

    fn maximise(&self, sums: &Sums, prior: &[f64], n: usize) -> Self {
        let q = prior.len();
        let one = if prior.iter().all(|w| *w == 0.0) { 0.0 } else { 1.0 };
        let mut next = self.clone();
        for (j, &weight) in sums.weight.iter().enumerate() {
            next.shares[j] = weight / n as f64;
            // A component without members stays where it was; its share is 0.
            if weight == 0.0 {
                continue;
            }
            let moved: Vec<f64> = sums.first[j * q..(j + 1) * q].iter().map(|v| v / weight).collect();
            next.means.row_mut(j).iter_mut().zip(&moved).for_each(|(m, d)| *m += d);
            let second = &sums.second[j * q * q..(j + 1) * q * q];
            let own = &mut next.covariances[j * q * q..(j + 1) * q * q];
            for a in 0..q {
                for b in 0..q {
                    // Both halves by the same sums, so that they are equal to the last bit.
                    let (low, high) = (a.max(b), a.min(b));
                    let scatter = second[low * q + high] - weight * moved[low] * moved[high];
                    own[a * q + b] = (scatter + if a == b { prior[a] } else { 0.0 }) / (weight + one);
                }
            }
        }
        next
    }
}

/// A fitted mixture.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    /// The components of the mixture.
    pub components: Components,
    /// `ln L` of the measured positions.
    pub log_likelihood: f64,
    /// `ln L` with the prior of the covariances, before each round and after the last one.
    pub history: Vec<f64>,
    /// False if the limit of rounds was reached first.
    pub converged: bool,
}

impl Mixture {
    fn objective(&self) -> f64 {
        self.history[self.history.len() - 1]
    }

    /// `2 ln L - p ln n`.
    pub fn bic(&self, n: usize) -> f64 {
        let (k, q) = (self.components.shares.len(), self.components.means.features());
        let parameters = k * (1 + q + q * (q + 1) / 2) - 1;
        2.0 * self.log_likelihood - parameters as f64 * libm::log(n as f64)
    }

    fn grouped(&self, measured: &Measured) -> Result<Grouped> {
        let (n, q) = (measured.means.len(), measured.means.features());
        let mut seen = Seen::new(self.components.shares.len(), q);
        let (mut labels, mut confidence, mut places) = (Vec::new(), Vec::new(), Vec::with_capacity(n * q));
        for i in 0..n {
            seen.look(measured, &self.components, i)?;
            let (label, share) = seen.likeliest();
            labels.push(label as u32);
            confidence.push(share.min(1.0));
            let mut place = vec![0.0; q];
            seen.each_share(|j, share, seen| {
                seen.pulled(self.components.covariance(j), j);
                for (f, slot) in place.iter_mut().enumerate() {
                    *slot += share * (self.components.means.row(j)[f] + seen.gain[f]);
                }
            });
            places.extend(place);
        }
        Ok(Grouped {
            iterations: self.history.len() - 1,
            converged: self.converged,
            objective: Some(-self.objective()),
            places: Some(Points::trusted(places, q)),
            confidence,
            first_k: Some(self.components.shares.len()),
            ..Grouped::new(Partition::from_labels(&labels))
        })
    }
}

#[cfg(test)]
mod tests;
