//! How far quoted errors can be trusted: learning the error model.
//!
//! Real errors are often larger than quoted, and some stars, such as those in crowded fields or
//! binaries with their radial velocities, are far off. If some candidates are drawn with heavy
//! tails ([`Sampler::Tails`](crate::uncertainty::Sampler)), they reach far enough to reveal it. A
//! candidate's penalty `p` is half its squared distance from the measured value, in units of the
//! quoted errors. Under a given error model (a `Law` in the code) its weight is
//!
//! ```text
//! w ~ law(p) / drawn(p),
//! ```
//!
//! This importance weight makes draws from one distribution count as draws from the other; the
//! weights of an object sum to 1. The error models are normal: either all quoted errors are
//! multiplied by one factor, or those of a share of the objects are multiplied by a second factor
//! as well ([`LAWS`]). Errors as quoted have half of the prior probability.
//!
//! # Drawing the error model
//! Candidates drawn under one error model hold the chain there: a hundred of them are extremely
//! unlikely under another. So the error model and the candidates are drawn jointly. For every
//! cluster of two or more members, a mean `mu` and a covariance `Sigma` are drawn from their
//! conditional distribution. Given those the members are independent, and
//!
//! ```text
//! p(law | mu, Sigma, labels)  ~  p(law) prod_grouped sum_j w_ij N(x_ij; mu, Sigma) prod_alone sum_j w_ij H(x_ij) prod_field sum_j w_ij f(x_ij)
//! ```
//!
//! is an exact sum over candidates. The candidates of all members are drawn next, and `mu` and
//! `Sigma` are discarded. This leaves out the density `H` of the location of the cluster's mean,
//! and the width limit that applies when there is a field. Both enter through a Metropolis
//! acceptance step.

use rand::RngExt;
use rand_distr::StandardNormal;

use super::blocks::LANES;
use super::chain::{Chain, FIELD};
use super::cluster::Cluster;
use super::field::pick_ln;
use super::matrix::{cholesky, inverse, pick, wishart};
use super::smooth::Normal;
use crate::uncertainty::{STUDENT_DF, TAIL_FACTOR, TAIL_SHARE};

/// An error model: normal, with the quoted errors multiplied by a factor, which is larger for some
/// of the objects.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Law {
    /// The factor that multiplies the quoted errors.
    factor: f64,
    /// The share of objects for which that is not enough, and the further factor for theirs.
    bad: f64,
    by: f64,
}

/// The error models considered; in the first, errors are as quoted. Steps are small: if the models
/// were far apart, a chain would stay at the one under which outlying objects are alone.
const LAWS: [Law; 8] = [
    Law { factor: 1.0, bad: 0.0, by: 1.0 },
    Law { factor: 1.25, bad: 0.0, by: 1.0 },
    Law { factor: 1.6, bad: 0.0, by: 1.0 },
    Law { factor: 2.0, bad: 0.0, by: 1.0 },
    Law { factor: 2.5, bad: 0.0, by: 1.0 },
    Law { factor: 1.0, bad: 0.1, by: 5.0 },
    Law { factor: 1.0, bad: 0.3, by: 3.0 },
    Law { factor: 1.6, bad: 0.2, by: 4.0 },
];

/// The prior probability of the first.
const AS_QUOTED: f64 = 0.5;

/// The log prior probabilities of all error models.
pub(super) fn ln_prior() -> Vec<f64> {
    let other = (1.0 - AS_QUOTED) / (LAWS.len() - 1) as f64;
    (0..LAWS.len()).map(|law| libm::log(if law == 0 { AS_QUOTED } else { other })).collect()
}

impl Law {
    /// The log density of errors of `values` quantities at half the squared distance `p`, up to a
    /// term that all error models share.
    fn ln_density(self, p: f64, values: usize) -> f64 {
        let good = ln_normal(p, values as f64, self.factor);
        if self.bad == 0.0 {
            return good;
        }
        ln_both(good, ln_normal(p, values as f64, self.factor * self.by), self.bad)
    }
}

/// The log density of normal errors in `d` dimensions, `factor` times as large as quoted, at half
/// the squared distance `p` in units of the quoted errors.
fn ln_normal(p: f64, d: f64, factor: f64) -> f64 {
    -0.5 * d * libm::log(2.0 * std::f64::consts::PI) - p / (factor * factor) - d * libm::log(factor)
}

/// The logarithm of `(1 - share) exp(a) + share exp(b)`.
fn ln_both(a: f64, b: f64, share: f64) -> f64 {
    let most = a.max(b);
    most + libm::log((1.0 - share) * libm::exp(a - most) + share * libm::exp(b - most))
}

/// The log density of the draws at half the squared distance `p`.
fn ln_drawn(p: f64, d: f64) -> f64 {
    let wide = ln_student(p / (TAIL_FACTOR * TAIL_FACTOR), d) - d * libm::log(TAIL_FACTOR);
    ln_both(ln_normal(p, d, 1.0), wide, TAIL_SHARE)
}

/// The log density of Student's t in `d` dimensions at half the squared distance `p`.
fn ln_student(p: f64, d: f64) -> f64 {
    let df = STUDENT_DF;
    libm::lgamma(0.5 * (df + d))
        - libm::lgamma(0.5 * df)
        - 0.5 * d * libm::log(df * std::f64::consts::PI)
        - 0.5 * (df + d) * libm::log1p(2.0 * p / df)
}

/// The weights of an object's candidates under every error model in turn, each set summing to 1.
pub(super) fn weigh(penalties: &[f64], strength: f64, values: usize, weights: &mut Vec<f64>) {
    weights.clear();
    for law in LAWS {
        let first = weights.len();
        let ln = |p: &f64| {
            let p = strength * p;
            law.ln_density(p, values) - ln_drawn(p, values as f64)
        };
        weights.extend(penalties.iter().map(ln));
        let own = &mut weights[first..];
        let most = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        own.iter_mut().for_each(|w| *w = libm::exp(*w - most));
        let sum: f64 = own.iter().sum();
        own.iter_mut().for_each(|w| *w /= sum);
    }
}

/// The inferred error model.
#[derive(Clone, Debug, PartialEq)]
pub struct Errors {
    /// The number of quantities measured of each object.
    pub values: usize,
    /// The probability of each error model, in the order of the list.
    pub shares: Vec<f64>,
}

impl Errors {
    /// The number of error models.
    pub const LAWS: usize = LAWS.len();

    /// The factor by which the quoted errors of most objects should be multiplied: the geometric
    /// mean.
    pub fn factor(&self) -> f64 {
        libm::exp(self.mean(|law| libm::log(law.factor)))
    }

    /// The share of objects whose errors are far larger than that.
    pub fn bad(&self) -> f64 {
        self.mean(|law| law.bad)
    }

    fn mean(&self, of: impl Fn(&Law) -> f64) -> f64 {
        LAWS.iter().zip(&self.shares).map(|(law, share)| share * of(law)).sum()
    }

    /// The weights of an object's candidates, averaged over the error models by their
    /// probabilities.
    pub(super) fn weigh(&self, penalties: &[f64], strength: f64, weights: &mut Vec<f64>) {
        let mut all = Vec::new();
        weigh(penalties, strength, self.values, &mut all);
        weights.clear();
        weights.resize(penalties.len(), 0.0);
        for (own, share) in all.chunks_exact(penalties.len()).zip(&self.shares) {
            weights.iter_mut().zip(own).for_each(|(sum, w)| *sum += share * w);
        }
    }
}

impl Chain<'_> {
    /// Draws the error model and the candidates of all members. Clusters must be rebuilt
    /// afterwards. Returns `None` if numbers went out of range, which leaves the state unchanged.
    pub(super) fn draw_law(&mut self) -> Option<()> {
        let (data, q) = (self.data, self.shape.q);
        let laws = data.ln_laws.len();
        if laws < 2 {
            return Some(());
        }
        let mut forms = Vec::with_capacity(self.clusters.len());
        for cluster in &self.clusters {
            let form = match cluster.size {
                0 | 1 => None,
                _ => Some(drawn_form(cluster, &cluster.spread(&self.shape), self.shape.nu, &mut self.rng)?),
            };
            forms.push(form);
        }
        // The log likelihood of all objects under each error model, and the density of every
        // candidate of a member relative to the object's largest.
        let mut ln = data.ln_laws.to_vec();
        let mut densities: Vec<f64> = Vec::new();
        let mut x = vec![0.0; q];
        for i in 0..self.labels.len() {
            let label = self.labels[i];
            if label == FIELD {
                for (law, ln) in ln.iter_mut().enumerate() {
                    *ln += libm::log(data.field.sum(law, self.level, i, &self.field_shares));
                }
                continue;
            }
            let Some(form) = &forms[label as usize] else {
                ln.iter_mut().zip(data.alone_sum).for_each(|(ln, sums)| *ln += libm::log(sums[i]));
                continue;
            };
            self.reader.load(data.blocks, i);
            let own = self.reader.own(data.blocks, i);
            let first = densities.len();
            for spot in 0..(own.len() * LANES) as u32 {
                own.copy_place(spot, &mut x);
                densities.push(form.ln_density(&x));
            }
            let own = &mut densities[first..];
            let most = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            own.iter_mut().for_each(|d| *d = libm::exp(*d - most));
            for (law, ln) in ln.iter_mut().enumerate() {
                let weights = data.blocks.weights_of(law, i);
                *ln += libm::log(weights.iter().zip(own.iter()).map(|(w, d)| w * d).sum());
            }
        }
        if !ln.iter().any(|ln| ln.is_finite()) {
            return None;
        }
        let law = pick_ln(&ln, &mut self.rng);
        let was = std::mem::replace(&mut self.reader.law, law);
        let spots: Vec<u32> = (0..self.labels.len()).map(|i| self.spot(i)).collect();
        let (mut first, mut products) = (0, Vec::new());
        for i in 0..self.labels.len() {
            match self.labels[i] {
                FIELD => {}
                k if forms[k as usize].is_none() => {
                    self.reader.load(data.blocks, i);
                    let spot = self.spot_alone(i);
                    self.choose(i, spot);
                }
                _ => {
                    let weights = data.blocks.weights_of(law, i);
                    products.clear();
                    products.extend(weights.iter().zip(&densities[first..]).map(|(w, d)| w * d));
                    first += weights.len();
                    let spot = pick(&products, products.iter().sum(), &mut self.rng);
                    self.choose(i, spot as u32);
                }
            }
        }
        let mut moved = vec![Cluster::empty(q); self.clusters.len()];
        for (i, label) in self.labels.iter().enumerate().filter(|(_, label)| **label != FIELD) {
            moved[*label as usize].take_in(self.place(i));
        }
        let plural = || self.clusters.iter().zip(&moved).filter(|(cluster, _)| cluster.size > 1);
        let base = &self.shape.base;
        let ln_ratio: f64 =
            plural().map(|(now, then)| base.ln_density(&then.mean) - base.ln_density(&now.mean)).sum();
        let narrow = self.in_field == 0 || plural().all(|(_, then)| self.is_narrow(then));
        if narrow && libm::log(self.rng.random::<f64>()) < ln_ratio {
            self.clusters = moved;
        } else {
            self.reader.law = was;
            spots.into_iter().enumerate().for_each(|(i, spot)| self.choose(i, spot));
        }
        Some(())
    }
}

/// A mean and a covariance of a cluster, drawn given its members.
fn drawn_form(cluster: &Cluster, spread: &[f64], nu: usize, rng: &mut crate::Stream) -> Option<Normal> {
    let (q, n) = (cluster.mean.len(), cluster.size as f64);
    let precision = wishart(nu as f64 + n - 1.0, &inverse(spread, q)?, q, rng)?;
    let covariance = inverse(&precision, q)?;
    let triangle = cholesky(&covariance, q)?;
    let normal: Vec<f64> = (0..q).map(|_| rng.sample(StandardNormal)).collect();
    let away = |r: usize| (0..=r).map(|f| triangle[r * q + f] * normal[f]).sum::<f64>() / n.sqrt();
    Normal::new((0..q).map(|r| cluster.mean[r] + away(r)).collect(), &covariance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_turn_draws_of_one_law_into_draws_of_the_other() {
        // One quantity, by brute force: positions in small steps, each with the density of the
        // draws.
        let values: Vec<f64> = (0..400_001).map(|at| (f64::from(at) - 200_000.0) * 0.001).collect();
        let of = |x: &f64| libm::exp(ln_drawn(0.5 * x * x, 1.0));
        let total: f64 = values.iter().map(of).sum();
        assert!((total * 0.001 - 1.0).abs() < 1e-5, "{total}");
        let penalties: Vec<f64> = values.iter().map(|x| 0.5 * x * x).collect();
        let mut weights = Vec::new();
        weigh(&penalties, 1.0, 1, &mut weights);
        for (law, own) in LAWS.iter().zip(weights.chunks_exact(values.len())) {
            let sum: f64 = own.iter().zip(&values).map(|(w, x)| w * of(x)).sum();
            let square: f64 = own.iter().zip(&values).map(|(w, x)| w * of(x) * x * x).sum();
            let variance = law.factor.powi(2) * (1.0 - law.bad + law.bad * law.by.powi(2));
            assert!((square / sum / variance - 1.0).abs() < 1e-3, "{law:?}: {}", square / sum);
        }
    }

    #[test]
    fn half_of_the_prior_says_as_quoted() {
        let sum: f64 = ln_prior().iter().map(|ln| libm::exp(*ln)).sum();
        assert!((sum - 1.0).abs() < 1e-12 && (ln_prior()[0] - libm::log(0.5)).abs() < 1e-12);
        let even = Errors { values: 4, shares: vec![0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0] };
        assert!((even.factor() - libm::sqrt(2.5)).abs() < 1e-12 && (even.bad() - 0.05).abs() < 1e-12);
    }
}
