//! A saved summary of what the chains learned, which assigns later objects to groups.
//!
//! A [`Model`] condenses the [`Posterior`](super::Posterior) into a few numbers: for each cluster
//! its size `n`, and the mean `m` and scatter `S` of its members; and the parameters that all
//! clusters share: the metric `Psi` (its posterior mean), `nu`, `alpha`, the singleton weight `s`,
//! the power and the base density `H`. The members' positions are uncertain, so `m` is the mean of
//! their expected positions and
//!
//! ```text
//! S = sum_i (E x_i - m)(E x_i - m)' + (1 - 1/n) sum_i Cov(x_i),
//! ```
//!
//! is the expected scatter of members that are placed independently. As in the sampler's own sweep,
//! a new object with candidates `x_j` of weights `w_j` then belongs
//!
//! ```text
//! to cluster k      in proportion to   n_k^power sum_j w_j t_k(x_j) H(m'_kj) / H(m_k),
//! to none of them   in proportion to   alpha s sum_j w_j H(x_j),
//! to the field      in proportion to   (n_f + 1) / (n_g + 1) (alpha s + sum_k n_k^power) sum_j w_j t_f(x_j),
//! ```
//!
//! where `t_k` is the Student t of `nu + n - q` degrees of freedom at `m_k` with scale
//! `(Psi + S)(n + 1) / (n (nu + n - q))`, and `m'_kj` is the mean with `x_j` added: the density of
//! the members of a cluster in [`super`]. The field consists of all `n_f` objects in no group,
//! modelled as one normal cloud next to the `n_g` others. New objects are processed one by one:
//! each is compared with the clusters as fitted, never with other new objects. So two new objects
//! of a group unknown to the model are both in no group.
//!
//! The numbers refer to the scaled features that were clustered, so the scaling must be stored with
//! the model. Sums are taken in log space, so even the most distant object gets an answer. The cost
//! is `n m K q^2`, in parallel over objects.

use rayon::prelude::*;

use super::errors::Errors;
use super::extent::Extent;
use super::matrix::{cholesky, ln_det, lower_inverse};
use super::shape::BASE_DF;
use super::{Marginal, Posterior};
use crate::objects::Objects;

/// One cluster of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterParts {
    /// The number of members.
    pub size: usize,
    /// The mean of their expected positions, q numbers in scaled features.
    pub mean: Vec<f64>,
    /// Their expected scatter, q x q, in row-major order.
    pub scatter: Vec<f64>,
}

/// All parts of a model, as stored in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelParts {
    /// The clusters; their order is that of the labels.
    pub clusters: Vec<ClusterParts>,
    /// The objects in no group, if there are any.
    pub field: Option<ClusterParts>,
    /// The scale of the clusters' covariances, `Psi`, q x q.
    pub metric: Vec<f64>,
    /// Degrees of freedom of the covariances.
    pub nu: usize,
    /// The concentration: the propensity to open clusters.
    pub alpha: f64,
    /// How much more readily objects belong to no group.
    pub singleton_weight: f64,
    /// How strongly larger clusters attract objects.
    pub power: f64,
    /// What a penalty of 1 costs in log likelihood.
    pub penalty_strength: f64,
    /// The inferred error model, if candidates were drawn with heavy tails.
    pub errors: Option<Errors>,
    /// The centre of the base density.
    pub base_middle: Vec<f64>,
    /// Its scale, q x q.
    pub base_scale: Vec<f64>,
}

/// Why numbers do not make a model, or a model does not fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No cluster and no field, or no feature.
    #[error("a model needs at least one cluster and one feature")]
    Empty,
    /// The number of values does not match the number of features.
    #[error("{what} has {found} numbers, but {features} features need {wanted}")]
    Count {
        /// Which part.
        what: String,
        /// The number of values found.
        found: usize,
        /// The number of values wanted.
        wanted: usize,
        /// Features of the model.
        features: usize,
    },
    /// A value that is not allowed.
    #[error("{what} is {value}, but must be {must}")]
    Number {
        /// Which part.
        what: String,
        /// The value found.
        value: f64,
        /// The allowed range, in words.
        must: &'static str,
    },
    /// A matrix that is not a covariance matrix.
    #[error("{what} is not a positive definite symmetric matrix")]
    NotPositive {
        /// Which part.
        what: String,
    },
    /// Sums that were taken with a model of other clusters or features.
    #[error(
        "the sums have {found} numbers, but the model's clusters need {wanted}: they are of another model"
    )]
    Sums {
        /// The number of values found.
        found: usize,
        /// The number of values wanted.
        wanted: usize,
    },
    /// Candidates with a different number of features.
    #[error("the model has {model} features, the candidates {candidates}")]
    Features {
        /// Features of the model.
        model: usize,
        /// Features of the candidates.
        candidates: usize,
    },
}

/// Where a new object belongs.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The likeliest cluster; `None` if belonging to no cluster is likelier than each of them.
    pub label: Option<u32>,
    /// The probability of that.
    pub probability: f64,
    /// The likeliest other cluster and its probability.
    pub runner_up: Option<(u32, f64)>,
    /// The probability of belonging to a group that the model has not seen.
    pub alone: f64,
    /// The probability of being in the field.
    pub field: f64,
    /// The probability of each candidate of the object, sum 1.
    pub candidates: Vec<f64>,
}

/// A multivariate t: `ln density = ln_scale - power ln(1 + |low (x - middle)|^2 factor)`.
#[derive(Clone, Debug, PartialEq)]
struct Student {
    middle: Vec<f64>,
    /// The inverse of the lower triangle of the scale matrix.
    low: Vec<f64>,
    factor: f64,
    power: f64,
    ln_scale: f64,
}

impl Student {
    /// With `df` degrees of freedom and the scale `matrix * stretch / df`.
    fn new(middle: &[f64], matrix: &[f64], df: f64, stretch: f64) -> Option<Self> {
        let q = middle.len();
        let l = cholesky(matrix, q)?;
        let power = 0.5 * (df + q as f64);
        let ln_scale = libm::lgamma(power)
            - libm::lgamma(0.5 * df)
            - 0.5 * q as f64 * libm::log(std::f64::consts::PI * stretch)
            - 0.5 * ln_det(&l, q);
        let (middle, low) = (middle.to_vec(), lower_inverse(&l, q));
        Some(Self { middle, low, factor: 1.0 / stretch, power, ln_scale })
    }

    fn ln_density(&self, x: &[f64]) -> f64 {
        let q = self.middle.len();
        let mut sum = 0.0;
        for r in 0..q {
            let mut y = 0.0;
            for f in 0..=r {
                y += self.low[r * q + f] * (x[f] - self.middle[f]);
            }
            sum += y * y;
        }
        // Overflow, and infinities that cancel, count as the largest finite number.
        self.ln_scale - self.power * libm::log1p((sum * self.factor).min(f64::MAX))
    }
}

/// A fitted mixture, made by [`Model::fit`], or by [`Model::new`] from stored parts.
///
/// ```
/// use goc::marginal::{Marginal, Model};
/// use goc::{Candidates, Points};
/// let line = |at: &[f64]| Candidates::from_points(&Points::new(at.to_vec(), 1)?).map_err(Box::<dyn std::error::Error>::from);
/// let candidates = line(&[0.0, 0.1, 0.2, 9.0, 9.1, 9.2])?; // scaled features
/// let marginal = Marginal::default();
/// let model = Model::fit(&marginal, &candidates, &marginal.run(&candidates, 1)?)?;
/// let new = model.predict(&line(&[0.05, 9.05])?)?;
/// assert_eq!((new[0].label, new[1].label), (Some(0), Some(1)));
/// assert!(new[0].probability > 0.9 && new[0].alone < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    parts: ModelParts,
    base: Student,
    /// The density of the next member, the log weight of joining, and `ln H(mean)`.
    next: Vec<(Student, f64, f64)>,
    /// The density of the field, and the log weight of being in it.
    field: Option<(Student, f64)>,
}

impl Model {
    /// Fits the model to the result of `marginal`: `posterior` is what it returned for these
    /// candidates.
    pub fn fit(
        marginal: &Marginal,
        objects: &dyn Objects,
        posterior: &Posterior,
    ) -> Result<Self, ModelError> {
        let q = objects.features();
        // Objects in no group come last, as one cluster. One whose label is withheld is not known to
        // be in the field, nor in a group: it tells of neither.
        let groups = posterior.groups();
        let known = |i: &usize| !posterior.withheld.get(*i).is_some_and(|is| *is);
        let label = |i: usize| match posterior.in_no_group.get(i) {
            Some(true) => groups,
            _ => posterior.partition.labels()[i] as usize,
        };
        let n = posterior.partition.len();
        let empty = ClusterParts { size: 0, mean: vec![0.0; q], scatter: vec![0.0; q * q] };
        let mut clusters = vec![empty; groups + 1];
        for i in (0..n).filter(known) {
            let cluster = &mut clusters[label(i)];
            cluster.size += 1;
            for (sum, x) in cluster.mean.iter_mut().zip(posterior.places.row(i)) {
                *sum += x;
            }
        }
        for cluster in clusters.iter_mut().filter(|cluster| cluster.size > 0) {
            for sum in &mut cluster.mean {
                *sum /= cluster.size as f64;
            }
        }
        let mut values = Vec::new();
        for i in (0..n).filter(known) {
            let cluster = &mut clusters[label(i)];
            let share = 1.0 - 1.0 / cluster.size as f64;
            let place = posterior.places.row(i);
            let own = &posterior.candidates[objects.offsets()[i]..objects.offsets()[i + 1]];
            objects.load(i, &mut values);
            let column = |f: usize| &values[f * own.len()..(f + 1) * own.len()];
            for a in 0..q {
                for b in 0..q {
                    let (xa, xb) = (column(a), column(b));
                    let covariance: f64 =
                        (0..own.len()).map(|j| own[j] * (xa[j] - place[a]) * (xb[j] - place[b])).sum();
                    let apart = (place[a] - cluster.mean[a]) * (place[b] - cluster.mean[b]);
                    cluster.scatter[a * q + b] += apart + share * covariance;
                }
            }
        }
        let field = clusters.pop().filter(|field| field.size > 0);
        let Extent { middle: base_middle, covariance: base_scale, .. } = Extent::of(objects);
        Self::new(ModelParts {
            clusters,
            field,
            metric: posterior.metric.clone(),
            nu: posterior.nu,
            alpha: posterior.alpha,
            singleton_weight: posterior.singleton_weight,
            power: posterior.power,
            penalty_strength: marginal.penalty_strength,
            errors: posterior.errors.clone(),
            base_middle,
            base_scale,
        })
    }

    /// Builds a model from stored parts, which are checked.
    pub fn new(parts: ModelParts) -> Result<Self, ModelError> {
        let q = parts.base_middle.len();
        if q == 0 || (parts.clusters.is_empty() && parts.field.is_none()) {
            return Err(ModelError::Empty);
        }
        let number = |what: &str, value: f64, good: bool, must| match good && value.is_finite() {
            true => Ok(()),
            false => Err(ModelError::Number { what: what.to_string(), value, must }),
        };
        number("alpha", parts.alpha, parts.alpha > 0.0, "a finite number above 0")?;
        number("single", parts.singleton_weight, parts.singleton_weight > 0.0, "a finite number above 0")?;
        number("power", parts.power, (0.0..=1.0).contains(&parts.power), "from 0 to 1")?;
        number(
            "strength",
            parts.penalty_strength,
            parts.penalty_strength >= 0.0,
            "a finite number not below 0",
        )?;
        if let Some(errors) = &parts.errors {
            number("values", errors.values as f64, errors.values > 0, "at least 1")?;
            let laws = errors.shares.len();
            number("laws", laws as f64, laws == Errors::LAWS, "as many as this version knows")?;
            for share in &errors.shares {
                number("a law's share", *share, *share >= 0.0, "a finite number not below 0")?;
            }
        }
        number("nu", parts.nu as f64, parts.nu >= q, "at least the number of features")?;
        check(&parts.base_middle, "the base density's middle", q, q)?;
        check(&parts.base_scale, "the base density's scale", q, q * q)?;
        check(&parts.metric, "the metric", q, q * q)?;
        let not_positive = |what: &str| ModelError::NotPositive { what: what.to_string() };
        symmetric(&parts.metric, q).ok_or_else(|| not_positive("the metric"))?;
        let scale =
            symmetric(&parts.base_scale, q).ok_or_else(|| not_positive("the base density's scale"))?;
        let base = Student::new(&parts.base_middle, scale, BASE_DF as f64, BASE_DF as f64)
            .ok_or_else(|| not_positive("the base density's scale"))?;
        let student = |cluster: &ClusterParts, name: &str| {
            let n = cluster.size as f64;
            number(&format!("{name}'s size"), n, cluster.size > 0, "at least 1")?;
            check(&cluster.mean, &format!("{name}'s mean"), q, q)?;
            check(&cluster.scatter, &format!("{name}'s scatter"), q, q * q)?;
            let spread: Vec<f64> = parts.metric.iter().zip(&cluster.scatter).map(|(p, s)| p + s).collect();
            let df = parts.nu as f64 + n - q as f64;
            symmetric(&spread, q)
                .and_then(|spread| Student::new(&cluster.mean, spread, df, (n + 1.0) / n))
                .ok_or_else(|| not_positive(&format!("{name}'s scatter with the metric")))
        };
        let mut next = Vec::with_capacity(parts.clusters.len());
        let (mut grouped, mut joins) = (0.0, parts.alpha * parts.singleton_weight);
        for (k, cluster) in parts.clusters.iter().enumerate() {
            let density = student(cluster, &format!("cluster {k}"))?;
            // As in the prior: joining a singleton costs what being alone gains.
            let ln_join = if cluster.size == 1 {
                -libm::log(parts.singleton_weight)
            } else {
                parts.power * libm::log(cluster.size as f64)
            };
            grouped += cluster.size as f64;
            joins += libm::exp(ln_join);
            next.push((density, ln_join, base.ln_density(&cluster.mean)));
        }
        let ln_field = |size: usize| libm::log((size as f64 + 1.0) / (grouped + 1.0) * joins);
        let in_field = |field: &ClusterParts| Ok((student(field, "the field")?, ln_field(field.size)));
        let field = parts.field.as_ref().map(in_field).transpose()?;
        Ok(Self { parts, base, next, field })
    }

    /// The same model for candidates that were not drawn with heavy tails.
    pub fn without_errors(&self) -> Self {
        Self { parts: ModelParts { errors: None, ..self.parts.clone() }, ..self.clone() }
    }

    /// The parts of the model.
    pub fn parts(&self) -> &ModelParts {
        &self.parts
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.parts.base_middle.len()
    }

    /// Assigns each of these objects independently. Features must be scaled like those of the
    /// model.
    /// The group of each object.
    pub fn predict(&self, objects: &dyn Objects) -> Result<Vec<Prediction>, ModelError> {
        self.check_features(objects)?;
        let of = |(values, penalties): &mut (Vec<f64>, Vec<f64>), i| {
            objects.load(i, values);
            objects.load_penalties(i, penalties);
            self.predict_one(values, penalties)
        };
        Ok((0..objects.objects()).into_par_iter().map_init(Default::default, of).collect())
    }

    fn check_features(&self, objects: &dyn Objects) -> Result<(), ModelError> {
        let (model, candidates) = (self.features(), objects.features());
        if candidates == model { Ok(()) } else { Err(ModelError::Features { model, candidates }) }
    }

    /// The probability of each candidate in each cluster, in a group of its own and in the field:
    /// one row of candidates for each, up to a factor.
    fn shares(&self, values: &[f64], penalties: &[f64]) -> Vec<f64> {
        let (m, k, q) = (penalties.len(), self.next.len(), self.features());
        let mut ln = vec![f64::NEG_INFINITY; (k + 2) * m];
        let (mut x, mut moved) = (vec![0.0; q], vec![0.0; q]);
        let ln_alpha = libm::log(self.parts.alpha * self.parts.singleton_weight);
        let strength = self.parts.penalty_strength;
        let mut weights = Vec::new();
        if let Some(errors) = &self.parts.errors {
            errors.weigh(penalties, strength, &mut weights);
        }
        for j in 0..m {
            for (slot, column) in x.iter_mut().zip(values.chunks_exact(m)) {
                *slot = column[j];
            }
            let ln_weight = weights.get(j).map_or(-strength * penalties[j], |weight| libm::log(*weight));
            for (c, (student, ln_join, ln_base)) in self.next.iter().enumerate() {
                let share = 1.0 / (self.parts.clusters[c].size as f64 + 1.0);
                for f in 0..q {
                    moved[f] = student.middle[f] + share * (x[f] - student.middle[f]);
                }
                let ratio = self.base.ln_density(&moved) - ln_base;
                ln[c * m + j] = ln_weight + ln_join + student.ln_density(&x) + ratio;
            }
            ln[k * m + j] = ln_weight + ln_alpha + self.base.ln_density(&x);
            if let Some((student, ln_join)) = &self.field {
                ln[(k + 1) * m + j] = ln_weight + ln_join + student.ln_density(&x);
            }
        }
        let most = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for value in &mut ln {
            *value = libm::exp(*value - most);
        }
        ln
    }

    /// For one object, given its candidates, feature after feature, and their penalties.
    fn predict_one(&self, values: &[f64], penalties: &[f64]) -> Prediction {
        let (m, k) = (penalties.len(), self.next.len());
        let each = self.shares(values, penalties);
        let total: f64 = each.iter().sum();
        let of: Vec<f64> = each.chunks_exact(m).map(|row| row.iter().sum::<f64>() / total).collect();
        let shares = (0..m).map(|j| each.iter().skip(j).step_by(m).sum::<f64>() / total).collect();
        // The lower label on a tie, and a cluster in preference to none.
        let none = of[k] + of[k + 1];
        let likeliest = (0..k).reduce(|a, b| if of[b] > of[a] { b } else { a });
        let label = likeliest.filter(|c| of[*c] >= none);
        let other = (0..k).filter(|c| Some(*c) != label).reduce(|a, b| if of[b] > of[a] { b } else { a });
        Prediction {
            label: label.map(|c| c as u32),
            probability: label.map_or(none, |c| of[c]),
            runner_up: other.map(|c| (c as u32, of[c])),
            alone: of[k],
            field: of[k + 1],
            candidates: shares,
        }
    }
}

fn check(values: &[f64], what: &str, features: usize, wanted: usize) -> Result<(), ModelError> {
    if values.len() != wanted {
        return Err(ModelError::Count { what: what.to_string(), found: values.len(), wanted, features });
    }
    match values.iter().find(|v| !v.is_finite()) {
        None => Ok(()),
        Some(&value) => Err(ModelError::Number { what: what.to_string(), value, must: "finite" }),
    }
}

/// Returns the matrix if it is positive definite and, up to rounding, symmetric.
fn symmetric(matrix: &[f64], q: usize) -> Option<&[f64]> {
    let alike = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (a.abs() + b.abs());
    let even = (0..q).all(|r| (0..r).all(|c| alike(matrix[r * q + c], matrix[c * q + r])));
    (even && cholesky(matrix, q).is_some()).then_some(matrix)
}

mod sweep;

pub use sweep::Sums;

#[cfg(test)]
mod tests;
