//! Extreme deconvolution: a Gaussian mixture of what the objects are, seen through their errors (Bovy, Hogg &
//! Roweis 2011).
//!
//! The true place of an object comes from a mixture of K normal components; what was measured is that place
//! and a normal error of the object's own covariance `S_i`. So the measured place `x_i` has the density
//!
//! ```text
//! p(x_i) = sum_j a_j N(x_i; m_j, T_ij),    T_ij = V_j + S_i
//! ```
//!
//! and EM has closed steps (their equations 16): with `r_ij` the share of component j in `p(x_i)`,
//!
//! ```text
//! b_ij = m_j + V_j T_ij^-1 (x_i - m_j)          where the object is, were it of component j
//! B_ij = V_j - V_j T_ij^-1 V_j                  how well that is known
//! a_j = r_j / n,   m_j = sum_i r_ij b_ij / r_j,   r_j = sum_i r_ij
//! V_j = (sum_i r_ij [(m_j - b_ij)(m_j - b_ij)' + B_ij] + W) / (r_j + 1)
//! ```
//!
//! `W` is their regularisation, an inverse Wishart prior on each `V_j` that keeps a component from shrinking
//! onto one object; without it the denominator is `r_j`. Here it is [`FLOOR`] times the variance of each
//! feature.
//!
//! # What stands for what was measured
//! The weighted mean and covariance of an object's candidates, a candidate weighing `exp(-strength P)`. That
//! is exact for normal errors in the features themselves, and the best normal law where the candidates lie
//! on a curve.
//!
//! # How many components
//! As many as asked for, or as many as have the largest `BIC = 2 ln L - p ln n`, with
//! `p = K (1 + q + q (q + 1) / 2) - 1`. K climbs in steps of a third and stops once three steps in a row were
//! worse than the best; then the gaps around the best are filled in.
//!
//! # What is left out
//! Missing quantities (their projections `R_i`), and the search by splitting and merging components: each fit
//! is the likeliest of several starts, each from k-means on the means.
//!
//! Cost: `n K q^3` a round, tens to hundreds of rounds, some 25 values of K; `n q^2` numbers.

use rayon::prelude::*;

use super::{Grouped, Method, MethodError, Result, Tick, check_k};
use crate::choose_k::{Ties, peak};
use crate::matrix::{cholesky, inverse, ln_det};
use crate::oracle::k_means::KMeans;
use crate::oracle::{Oracle, Start};
use crate::{Candidates, Partition, Points, random};

/// The prior of the components' covariances, in variances of each feature: an extent of three hundredths of
/// that of all objects, less than that of any group that fills its share of the features. Not tuned.
pub const FLOOR: f64 = 1e-3;
/// Parts in which the objects are summed, whatever the number of threads.
const PARTS: usize = 64;
/// A component this far below an object's likeliest, in log density, is lost to rounding.
const LOST: f64 = 40.0;
/// Steps of K without a better BIC, after which it climbs no further.
const PATIENCE: usize = 3;
/// Starts of k-means, of which the best begins a fit.
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
    /// With `k` components, or as many as BIC says: three starts, at most 200 rounds each.
    pub fn new(k: Option<usize>) -> Self {
        Self { k, penalty_strength: 0.0, floor: FLOOR, starts: 3, max_iterations: 200, tolerance: 1e-5 }
    }

    setters! {
        /// A candidate weighs `exp(-strength * penalty)`; 0, all alike, unless told.
        penalty_strength: f64;
        /// The prior of the components' covariances, in variances of each feature; [`FLOOR`] unless told.
        floor: f64;
        /// Starts, of which the likeliest is kept; at least one is made.
        starts: usize = starts.max(1);
        /// Rounds of EM at most.
        max_iterations: usize;
        /// A fit ends when the log likelihood of an object rises by no more than this, on average.
        tolerance: f64;
    }

    /// The likeliest of several fits with `k` components.
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
                return Err(failed("the density of an object is too small for a number; scale the features"));
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

    /// The confidence is the share of the object's component in its density; an object's place is the mean of
    /// where the mixture has it. The objective is minus the log likelihood, with its prior.
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

/// What was measured: a place for each object, and the covariance of its error.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    means: Points,
    /// `q * q` numbers for each object, row after row.
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
            return Err(failed("the squares of the errors are too large for numbers; scale the features"));
        }
        Self::of(Points::trusted(places, q), covariances)
    }

    /// Of places and covariances that are known: `q * q` numbers for each object.
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

    /// The prior `W`: a diagonal, in the units of the features. A constant feature counts as one of variance 1.
    fn prior(&self, floor: f64) -> Vec<f64> {
        let n = self.means.len() as f64;
        let variance = |f: usize| {
            let mean = self.means.rows().map(|x| x[f] / n).sum::<f64>();
            self.means.rows().map(|x| (x[f] - mean).powi(2) / n).sum::<f64>()
        };
        let floored = |v: f64| floor * if v > 0.0 { v } else { 1.0 };
        (0..self.means.features()).map(variance).map(floored).collect()
    }

    /// The components that a clustering of the places has.
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

    /// The logarithm of the prior of all covariances, up to a constant; 0 where there is none.
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
            // A component that nothing belongs to stays where it was; its share is 0.
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
    /// What it is made of.
    pub components: Components,
    /// `ln L` of the measured places.
    pub log_likelihood: f64,
    /// `ln L` with the prior of the covariances, before each round and after the last.
    pub history: Vec<f64>,
    /// False when the limit of rounds came first.
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
        let mut used = labels.clone();
        used.sort_unstable();
        used.dedup();
        let used: Vec<usize> = used.into_iter().map(|j| j as usize).collect();
        Ok(Grouped {
            iterations: self.history.len() - 1,
            converged: self.converged,
            objective: Some(-self.objective()),
            places: Some(Points::trusted(places, q)),
            centres: Some(self.components.means.subset(&used)),
            confidence,
            first_k: Some(self.components.shares.len()),
            ..Grouped::new(Partition::from_labels(&labels))
        })
    }
}

/// What the E step leaves: sums around the old means.
struct Sums {
    log_likelihood: f64,
    weight: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Sums {
    fn new(k: usize, q: usize) -> Self {
        Self {
            log_likelihood: 0.0,
            weight: vec![0.0; k],
            first: vec![0.0; k * q],
            second: vec![0.0; k * q * q],
        }
    }

    fn add(&mut self, other: &Self) {
        self.log_likelihood += other.log_likelihood;
        let pairs = self.weight.iter_mut().zip(&other.weight);
        let pairs = pairs.chain(self.first.iter_mut().zip(&other.first));
        for (a, b) in pairs.chain(self.second.iter_mut().zip(&other.second)) {
            *a += b;
        }
    }
}

fn expect(measured: &Measured, components: &Components) -> Result<Sums> {
    let (n, q, k) = (measured.means.len(), measured.means.features(), components.shares.len());
    let part = n.div_ceil(PARTS).max(1);
    let parts: Vec<Result<Sums>> = (0..n.div_ceil(part))
        .into_par_iter()
        .map(|p| {
            let (mut sums, mut seen) = (Sums::new(k, q), Seen::new(k, q));
            for i in p * part..n.min((p + 1) * part) {
                sums.log_likelihood += seen.look(measured, components, i)?;
                seen.each_share(|j, share, seen| {
                    let covariance = components.covariance(j);
                    seen.pulled(covariance, j);
                    sums.weight[j] += share;
                    for a in 0..q {
                        sums.first[j * q + a] += share * seen.gain[a];
                        for b in 0..=a {
                            let known: f64 =
                                (0..q).map(|r| seen.pull[r * q + a] * seen.pull[r * q + b]).sum();
                            let own = covariance[a * q + b] - known + seen.gain[a] * seen.gain[b];
                            sums.second[j * q * q + a * q + b] += share * own;
                        }
                    }
                });
            }
            Ok(sums)
        })
        .collect();
    let mut all = Sums::new(k, q);
    for sums in parts {
        all.add(&sums?);
    }
    Ok(all)
}

/// One object as all components see it, in room that is used again.
struct Seen {
    q: usize,
    /// Log density and share of each component.
    logs: Vec<f64>,
    shares: Vec<f64>,
    /// `L` of `T = L L'` and `L^-1 (x - m)` of each component.
    low: Vec<f64>,
    white: Vec<f64>,
    /// `L^-1 V` and `b - m` of the component last asked for.
    pull: Vec<f64>,
    gain: Vec<f64>,
}

impl Seen {
    fn new(k: usize, q: usize) -> Self {
        Self {
            q,
            logs: vec![0.0; k],
            shares: vec![0.0; k],
            low: vec![0.0; k * q * q],
            white: vec![0.0; k * q],
            pull: vec![0.0; q * q],
            gain: vec![0.0; q],
        }
    }

    /// `ln p(x_i)`, and the share of each component in it.
    fn look(&mut self, measured: &Measured, components: &Components, i: usize) -> Result<f64> {
        let (q, own, x) = (self.q, measured.covariance(i), measured.means.row(i));
        let constant = q as f64 * libm::log(std::f64::consts::TAU);
        for j in 0..components.shares.len() {
            let (covariance, mean) = (components.covariance(j), components.means.row(j));
            let low = &mut self.low[j * q * q..(j + 1) * q * q];
            let white = &mut self.white[j * q..(j + 1) * q];
            let (mut far, mut log_det) = (0.0, 0.0);
            for a in 0..q {
                for b in 0..=a {
                    let mut sum = covariance[a * q + b] + own[a * q + b];
                    for r in 0..b {
                        sum -= low[a * q + r] * low[b * q + r];
                    }
                    if a > b {
                        low[a * q + b] = sum / low[b * q + b];
                    } else if sum > 0.0 && sum.is_finite() {
                        low[a * q + a] = sum.sqrt();
                        log_det += libm::log(sum);
                    } else {
                        return Err(failed(
                            "errors and components have no extent in some direction; drop features that depend on others",
                        ));
                    }
                }
                let known: f64 = (0..a).map(|r| low[a * q + r] * white[r]).sum();
                white[a] = (x[a] - mean[a] - known) / low[a * q + a];
                far += white[a] * white[a];
            }
            self.logs[j] = libm::log(components.shares[j]) - 0.5 * (constant + log_det + far);
        }
        let most = self.logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut total = 0.0;
        for (share, log) in self.shares.iter_mut().zip(&self.logs) {
            *share = if *log > most - LOST { libm::exp(log - most) } else { 0.0 };
            total += *share;
        }
        self.shares.iter_mut().for_each(|share| *share /= total);
        Ok(most + libm::log(total))
    }

    fn likeliest(&self) -> (usize, f64) {
        let larger =
            |best: (usize, f64), (j, &share): (usize, &f64)| if share > best.1 { (j, share) } else { best };
        self.shares.iter().enumerate().fold((0, f64::NEG_INFINITY), larger)
    }

    /// Goes through the components that have a share.
    fn each_share(&mut self, mut each: impl FnMut(usize, f64, &mut Self)) {
        for j in 0..self.shares.len() {
            let share = self.shares[j];
            if share > 0.0 {
                each(j, share, self);
            }
        }
    }

    /// What a component of this covariance makes of the object: `L^-1 V`, and `b - m` in its rows.
    fn pulled(&mut self, covariance: &[f64], j: usize) {
        let q = self.q;
        let (low, white) = (&self.low[j * q * q..], &self.white[j * q..]);
        for r in 0..q {
            for f in 0..q {
                let known: f64 = (0..r).map(|s| low[r * q + s] * self.pull[s * q + f]).sum();
                self.pull[r * q + f] = (covariance[r * q + f] - known) / low[r * q + r];
            }
        }
        for f in 0..q {
            self.gain[f] = (0..q).map(|r| self.pull[r * q + f] * white[r]).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::testing::{blobs, one_object};
    use crate::candidates::CandidatesBuilder;

    /// Even steps of an irrational number, between -.5 and .5; Python's `math.fmod(s * 0.618033988749895, 1) - .5`.
    fn even(s: usize) -> f64 {
        (s as f64 * 0.618_033_988_749_895) % 1.0 - 0.5
    }

    /// Twelve objects of two groups that overlap, each with its own covariance, or with none.
    fn twelve(errors: f64) -> Measured {
        let group = |i: usize| (i % 2) as f64;
        let place =
            |i: usize| [2.2 * group(i) + 2.0 * even(1 + i * 7), 1.1 * group(i) + 2.0 * even(50 + i * 11)];
        let rows: Vec<[f64; 2]> = (0..12).map(place).collect();
        let own = |i: usize| {
            let across = 0.1 * even(200 + i);
            [0.1 + 0.5 * even(100 + i).abs(), across, across, 0.2 + 0.3 * even(300 + i).abs()]
        };
        let covariances = (0..12).flat_map(own).map(|v| errors * v).collect();
        Measured::of(Points::from_rows(&rows).unwrap(), covariances).unwrap()
    }

    fn two() -> Components {
        Components {
            shares: vec![0.4, 0.6],
            means: Points::new(vec![0.0, 0.0, 2.0, 1.0], 2).unwrap(),
            covariances: [1.0, 0.0, 0.0, 1.0].repeat(2),
        }
    }

    /// So many rounds and no prior.
    fn plain(rounds: usize) -> ExtremeDeconvolution {
        ExtremeDeconvolution::new(Some(2)).floor(0.0).max_iterations(rounds).tolerance(-1.0)
    }

    fn near(found: &[f64], wanted: &[f64], tolerance: f64) {
        assert_eq!(found.len(), wanted.len());
        for (a, b) in found.iter().zip(wanted) {
            assert!((a - b).abs() < tolerance, "{found:?} is not {wanted:?}");
        }
    }

    #[test]
    fn twenty_rounds_are_those_of_astroml() {
        // astroML 1.0.2, XDGMM(2): alpha, mu and V set as in `two`, twenty times _EMstep, logL.
        let found = plain(20).fit_from(&twelve(1.0), two()).unwrap();
        assert!((found.history[0] + 34.350_932_707_600_76).abs() < 1e-9);
        assert!((found.log_likelihood + 27.683_442_673_190_495).abs() < 1e-9);
        near(&found.components.shares, &[0.486_625_197_049_598_5, 0.513_374_802_950_401_5], 1e-10);
        let means = [
            0.137_984_397_670_884_72,
            0.155_218_687_967_000_67,
            2.311_858_920_221_640_6,
            1.175_297_496_547_773_8,
        ];
        near(found.components.means.values(), &means, 1e-10);
        let covariances = [
            0.045_614_328_554_866_45,
            0.019_872_124_923_841_73,
            0.019_872_124_923_841_73,
            0.081_135_355_515_164_67,
            0.195_423_960_888_956_7,
            -0.046_402_029_721_605_53,
            -0.046_402_029_721_605_53,
            0.080_028_213_432_499_48,
        ];
        near(&found.components.covariances, &covariances, 1e-10);
    }

    #[test]
    fn without_errors_it_is_the_mixture_of_scikit_learn() {
        // scikit-learn 1.9.1, GaussianMixture(2, reg_covar=0, tol=0, max_iter=7) from `two`, score.
        let found = plain(7).fit_from(&twelve(0.0), two()).unwrap();
        near(&found.components.shares, &[0.496_251_256_688_362_56, 0.503_748_743_311_637_4], 1e-10);
        let means = [
            0.162_501_593_524_779_72,
            0.116_631_782_502_078_74,
            2.337_230_296_267_235_6,
            1.146_668_558_005_686_1,
        ];
        near(found.components.means.values(), &means, 1e-10);
        let covariances = [
            0.289_331_580_740_458_7,
            0.043_651_607_326_247_57,
            0.043_651_607_326_247_57,
            0.357_495_386_030_450_7,
            0.344_452_005_721_864_2,
            -0.074_142_260_525_440_17,
            -0.074_142_260_525_440_17,
            0.289_945_936_030_996_6,
        ];
        near(&found.components.covariances, &covariances, 1e-10);
    }

    #[test]
    fn one_component_and_equal_errors_have_a_closed_form() {
        // V is the covariance of the measured places less that of the errors.
        let x: Vec<f64> = (0..40).map(|i| 3.0 * even(7 * i)).collect();
        let mean = x.iter().sum::<f64>() / 40.0;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 40.0;
        let measured = Measured::of(Points::new(x, 1).unwrap(), vec![0.2; 40]).unwrap();
        let begin = Components {
            shares: vec![1.0],
            means: Points::new(vec![5.0], 1).unwrap(),
            covariances: vec![1.0],
        };
        let found = plain(400).fit_from(&measured, begin).unwrap();
        near(found.components.means.values(), &[mean], 1e-9);
        near(&found.components.covariances, &[variance - 0.2], 1e-9);
    }

    #[test]
    fn the_objective_never_falls() {
        let candidates = blobs(60, 5, 2, 1.5, 3);
        let measured = Measured::new(&candidates, 0.0).unwrap();
        for (k, floor) in [(1, 1e-3), (4, 1e-3), (12, 1e-2), (4, 0.0)] {
            let found =
                ExtremeDeconvolution::new(None).floor(floor).tolerance(0.0).fit(&measured, k, 1).unwrap();
            assert!(found.history.len() > 2);
            for pair in found.history.windows(2) {
                assert!(pair[1] >= pair[0] - 1e-9 * pair[0].abs(), "{k} {floor}: {pair:?}");
            }
        }
    }

    #[test]
    fn errors_are_the_weighted_covariance_of_the_candidates() {
        let mut builder = CandidatesBuilder::new(2);
        builder.push(&[0.0, 1.0, 2.0, 5.0], &[0.0, 0.5]).unwrap();
        let measured = Measured::new(&builder.build().unwrap(), 2.0).unwrap();
        let second = libm::exp(-1.0) / (1.0 + libm::exp(-1.0));
        near(measured.means.values(), &[2.0 * second, 1.0 + 4.0 * second], 1e-14);
        let v = second * (1.0 - second);
        near(&measured.covariances, &[4.0 * v, 8.0 * v, 8.0 * v, 16.0 * v], 1e-14);
    }

    /// Three groups of twelve with candidates around each member.
    fn three(order: impl Fn(usize) -> usize, shift: f64, copies: usize) -> Candidates {
        let mut builder = CandidatesBuilder::new(2);
        for at in 0..36 * copies {
            let i = order(at % 36);
            let centre = [9.0 * (i % 3) as f64, 7.0 * ((i % 3) / 2) as f64];
            let rows: Vec<f64> = (0..10)
                .map(|v| {
                    centre[v % 2] + 1.5 * even(1 + 7 * i + v % 2) + 0.8 * even(500 + 31 * i + 3 * v) + shift
                })
                .collect();
            builder.push(&rows, &[]).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn bic_finds_three_groups_whatever_their_order_place_and_number_of_copies() {
        let method = ExtremeDeconvolution::new(None);
        let wanted: Vec<u32> = (0..36).map(|i| i % 3).collect();
        let found = method.group(&three(|i| i, 0.0, 1), 1).unwrap();
        assert_eq!((found.partition.canonical().labels(), found.first_k), (&wanted[..], Some(3)));
        let moved = method.group(&three(|i| i, 100.0, 1), 1).unwrap();
        assert!(moved.partition.same_grouping(&found.partition));
        for (a, b) in moved.places.unwrap().values().iter().zip(found.places.unwrap().values()) {
            assert!((a - 100.0 - b).abs() < 1e-9);
        }
        let other = |i: usize| (i * 7 + 5) % 36;
        let shuffled = method.group(&three(other, 0.0, 1), 1).unwrap();
        let expected: Vec<u32> = (0..36).map(|i| wanted[other(i)]).collect();
        assert!(shuffled.partition.same_grouping(&Partition::from_labels(&expected)));
        let twice = method.group(&three(|i| i, 0.0, 2), 1).unwrap();
        assert!(twice.partition.same_grouping(&Partition::from_labels(&wanted.repeat(2))));
    }

    #[test]
    fn an_object_is_drawn_towards_its_group_the_more_the_worse_it_was_measured() {
        let mut builder = CandidatesBuilder::new(1);
        for i in 0..20 {
            builder.push(&[even(i) - 0.05, even(i) + 0.05], &[]).unwrap();
        }
        builder.push(&[1.9, 2.1], &[]).unwrap();
        builder.push(&[0.5, 3.5], &[]).unwrap();
        let found = ExtremeDeconvolution::new(Some(1)).group(&builder.build().unwrap(), 1).unwrap();
        let places = found.places.unwrap();
        assert!(places.row(20)[0] > 1.5 && places.row(21)[0] < 1.0, "{places:?}");
    }

    #[test]
    fn the_number_of_threads_does_not_change_a_byte() {
        let candidates = blobs(90, 6, 2, 1.5, 3);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| ExtremeDeconvolution::new(Some(6)).group(&candidates, 7).unwrap())
        };
        assert_eq!(run(1), run(4));
    }

    #[test]
    fn degenerate_inputs_have_a_defined_answer_or_a_named_error() {
        let one = ExtremeDeconvolution::new(None).group(&one_object(), 1).unwrap();
        assert_eq!((one.partition.labels(), &one.confidence[..]), (&[0][..], &[1.0][..]));
        let points = Points::new(vec![3.0; 8], 2).unwrap();
        let equal =
            ExtremeDeconvolution::new(None).group(&Candidates::from_points(&points).unwrap(), 1).unwrap();
        assert_eq!(equal.partition.k(), 1);
        let candidates = blobs(9, 4, 2, 0.5, 2);
        let error = |k| ExtremeDeconvolution::new(Some(k)).group(&candidates, 1).unwrap_err();
        assert_eq!(error(0), MethodError::NoClusters);
        assert_eq!(error(10), MethodError::MoreClustersThanObjects { k: 10, n: 9 });
        let wrong = Measured::new(&candidates, -1.0).unwrap_err();
        assert_eq!(
            wrong.to_string(),
            "extreme-deconvolution: strength is -1, but must be a finite number not below 0"
        );
        let mut builder = CandidatesBuilder::new(1);
        builder.push(&[1e200, -1e200], &[]).unwrap();
        let huge = ExtremeDeconvolution::new(None).group(&builder.build().unwrap(), 1).unwrap_err();
        assert!(huge.to_string().ends_with("scale the features"), "{huge}");
    }
}
