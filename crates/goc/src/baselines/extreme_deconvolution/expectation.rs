//! The E step of extreme deconvolution: every object under all components, and the sums from which
//! the M step follows.

use rayon::prelude::*;

use super::{Components, Measured, Result, failed};

/// The number of parts in which the objects are summed, for any number of threads.
const PARTS: usize = 64;
/// A component this far below an object's most likely one, in log density, is lost to rounding.
const LOST: f64 = 40.0;

/// The result of the E step: sums around the old means.
pub(super) struct Sums {
    pub(super) log_likelihood: f64,
    pub(super) weight: Vec<f64>,
    pub(super) first: Vec<f64>,
    pub(super) second: Vec<f64>,
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

/// The sums over all objects, under these components.
pub(super) fn expect(measured: &Measured, components: &Components) -> Result<Sums> {
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

/// One object under all components; its buffers are reused.
pub(super) struct Seen {
    q: usize,
    /// Log density and share of each component.
    logs: Vec<f64>,
    shares: Vec<f64>,
    /// `L` of `T = L L'` and `L^-1 (x - m)` of each component.
    low: Vec<f64>,
    white: Vec<f64>,
    /// `L^-1 V` and `b - m` of the component last requested.
    pull: Vec<f64>,
    pub(super) gain: Vec<f64>,
}

impl Seen {
    pub(super) fn new(k: usize, q: usize) -> Self {
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
    pub(super) fn look(&mut self, measured: &Measured, components: &Components, i: usize) -> Result<f64> {
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

    pub(super) fn likeliest(&self) -> (usize, f64) {
        let larger =
            |best: (usize, f64), (j, &share): (usize, &f64)| if share > best.1 { (j, share) } else { best };
        self.shares.iter().enumerate().fold((0, f64::NEG_INFINITY), larger)
    }

    /// Iterates over the components with a positive share.
    pub(super) fn each_share(&mut self, mut each: impl FnMut(usize, f64, &mut Self)) {
        for j in 0..self.shares.len() {
            let share = self.shares[j];
            if share > 0.0 {
                each(j, share, self);
            }
        }
    }

    /// The contribution of the object to a component with this covariance: `L^-1 V`, and `b - m` in
    /// its rows.
    pub(super) fn pulled(&mut self, covariance: &[f64], j: usize) {
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
