//! Gaussian mixtures with the number of components chosen by BIC: the oracle of the R package mclust.
//!
//! For each number of components `G = 1..=K` a mixture is fitted by EM (`em`), starting from the
//! partition into `G` groups of one hierarchical tree (`hierarchy`, on the data transformed by
//! `transform`), and
//!
//! ```text
//! BIC_G = 2 log L_G - (parameters of G) log n
//! ```
//!
//! decides: the largest value wins (Fraley & Raftery 2002). So `K` is only an upper limit on the
//! number of clusters, and the result usually has fewer. Nothing is random.
//!
//! Implemented from the papers: Fraley (1998) for the tree, Scrucca & Raftery (2015) for the
//! transformation, Fraley & Raftery (2002) for the rest.
//!
//! # Where mclust is undocumented or differs
//! - A start group without a valid covariance (one point; for VVV no more points than features)
//!   makes this `G` and, because the tree is nested, every larger one singular: they are not tried.
//! - One feature: EII is mclust's `E`, VII and VVV are its `V`; starts are the quantiles.
//! - Equal points start in the same group, so `G` cannot exceed the number of distinct points.
//! - All points equal: one cluster. Any other data for which no `G` can be fitted (VVV with no more
//!   points than features, or linearly dependent features) is an error that says so.
//! - Constant features, and directions without extent, carry no information for the tree and are
//!   ignored there.
//! - Of start centres only the number is used: the method has its own start.
//!
//! # Cost
//! The tree needs `n^2 / 2` numbers of memory and about `n^2` determinants; EM costs `n G d` (VVV
//! `n G d^2`) per step. `benches/mclust.rs` compares both with mclust.

mod em;
mod hierarchy;
mod kernels;
mod start;
mod transform;

use super::{Oracle, OracleError, Result, Start};
use crate::elementary::ln;
use crate::{Partition, Points, Stream};
use em::Em;
use start::Starts;

/// The covariances that the components may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// One sphere shared by all: `sigma^2 I`.
    Eii,
    /// A separate sphere for each: `sigma_k^2 I`.
    Vii,
    /// An unrestricted covariance for each.
    Vvv,
}

impl Model {
    /// Free parameters of a mixture of `g` components in `d` features.
    ///
    /// ```
    /// use goc::oracle::mclust::Model;
    /// assert_eq!(Model::Vvv.parameters(2, 3), 1 + 2 * 3 + 2 * 6);
    /// ```
    pub fn parameters(self, g: usize, d: usize) -> usize {
        let covariance = match self {
            Model::Eii => 1,
            Model::Vii => g,
            Model::Vvv => g * (d * (d + 1) / 2),
        };
        g.saturating_sub(1) + g * d + covariance
    }

    /// The smallest group of a partition that can have a covariance.
    fn least_members(self, d: usize) -> usize {
        match self {
            Model::Eii => 1,
            Model::Vii => 2,
            Model::Vvv => d + 1,
        }
    }
}

/// The oracle.
///
/// ```
/// use goc::Points;
/// use goc::oracle::mclust::{Mclust, Model};
/// let mut rows = Vec::new();
/// for i in 0..40 {
///     let (x, y) = (f64::from(i % 4), f64::from(i % 5));
///     rows.push([x, y]);
///     rows.push([x + 50.0, y]);
/// }
/// let fit = Mclust::new(Model::Eii).fit(&Points::from_rows(&rows)?, 5)?;
/// assert_eq!(fit.g, 2);
/// assert!((fit.weights[0] - 0.5).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mclust {
    model: Model,
    tolerance: f64,
    max_iterations: usize,
}

impl Mclust {
    /// With mclust's defaults: tolerance 1e-5; the iteration limit is only a safeguard (100 000).
    pub fn new(model: Model) -> Self {
        Self { model, tolerance: 1e-5, max_iterations: 100_000 }
    }

    setters! {
        /// EM stops when the log-likelihood changes by less than this, relative to one plus its size.
        tolerance: f64;
        /// The maximum number of EM steps for each number of components. A low value gives an
        /// early-stopped oracle: whatever is reached then counts as the fit.
        max_iterations: usize;
    }

    /// The covariance model.
    pub fn model(&self) -> Model {
        self.model
    }

    /// Fits `1..=max_g` components and returns the fit with the largest BIC (the smaller number on
    /// a tie).
    pub fn fit(&self, points: &Points, max_g: usize) -> Result<MclustFit> {
        Start::K(max_g).check(points)?;
        self.check()?;
        let (d, n) = (points.features(), points.len());
        let data = Centred::of(points);
        let starts = Starts::new(points, &data.columns);
        let most = max_g.min(starts.distinct());
        // EM sees the points with neighbours side by side, which makes it faster (`em`).
        let order = starts.order();
        let sorted: Vec<Vec<f64>> =
            data.columns.iter().map(|column| order.iter().map(|&i| column[i]).collect()).collect();
        let mut em = Em::new(self.model, &sorted, most);
        let mut bics = vec![None; max_g];
        let mut best: Option<MclustFit> = None;
        let mut start_labels = Vec::with_capacity(n);
        let mut labels = Vec::with_capacity(n);
        let mut members = Vec::new();
        for g in 1..=most {
            starts.labels(g, &mut start_labels);
            labels.clear();
            labels.extend(order.iter().map(|&i| start_labels[i]));
            members.clear();
            members.resize(g, 0);
            labels.iter().for_each(|&l| members[l as usize] += 1);
            if members.iter().any(|&m| m < self.model.least_members(d)) {
                if starts.nested() {
                    break;
                }
                continue;
            }
            let Some(run) = em.run(&labels, g, self.tolerance, self.max_iterations) else { continue };
            let loglik = run.loglik - (n * d) as f64 * ln(data.scale);
            let bic = 2.0 * loglik - self.model.parameters(g, d) as f64 * ln(n as f64);
            if !bic.is_finite() {
                continue;
            }
            bics[g - 1] = Some(bic);
            if best.as_ref().is_none_or(|b| bic > b.bic) {
                best = Some(MclustFit {
                    model: self.model,
                    g,
                    loglik,
                    bic,
                    bics: Vec::new(),
                    weights: em.weights(),
                    means: Points::trusted(data.restored_means(em.means()), d),
                    covariances: em.covariances().iter().map(|v| v * data.scale * data.scale).collect(),
                    partition: Partition::from_labels(&in_place(&em.labels(), &order)),
                    iterations: run.iterations,
                    converged: run.converged,
                });
            }
        }
        match best {
            Some(mut fit) => {
                fit.bics = bics;
                Ok(fit)
            }
            None => Err(self.failed(format!(
                "no number of components up to {most} has a covariance that is not singular for {n} points of {d} features; {}",
                if self.model == Model::Eii { "the points are all equal" } else { "remove dependent features, or use mclust-eii" }
            ))),
        }
    }

    fn check(&self) -> Result<()> {
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(
                self.failed(format!("the tolerance {} must be a number of at least 0", self.tolerance))
            );
        }
        if self.max_iterations == 0 {
            return Err(self.failed("the limit on iterations must be at least 1".to_string()));
        }
        Ok(())
    }

    fn failed(&self, reason: String) -> OracleError {
        OracleError::Failed { oracle: self.name().to_string(), reason }
    }
}

impl Oracle for Mclust {
    fn name(&self) -> &str {
        match self.model {
            Model::Eii => "mclust-eii",
            Model::Vii => "mclust-vii",
            Model::Vvv => "mclust-vvv",
        }
    }

    fn cluster(&self, points: &Points, start: Start<'_>, _: &mut Stream) -> Result<Partition> {
        start.check(points)?;
        self.check()?;
        let first = points.row(0);
        if points.rows().all(|row| row == first) {
            return Ok(Partition::from_labels(&vec![0u32; points.len()]));
        }
        Ok(self.fit(points, start.k())?.partition)
    }
}

/// A fitted mixture.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MclustFit {
    /// The model.
    pub model: Model,
    /// The number of components.
    pub g: usize,
    /// Log-likelihood.
    pub loglik: f64,
    /// `2 loglik - parameters ln n`; larger is better.
    pub bic: f64,
    /// BIC of `1, 2, ...` components; `None` where a component became singular.
    pub bics: Vec<Option<f64>>,
    /// Mixing weights.
    pub weights: Vec<f64>,
    /// Means, one row per component.
    pub means: Points,
    /// Covariance matrices, `d x d` numbers per component, one component after the other.
    pub covariances: Vec<f64>,
    /// The component with the largest posterior probability for each point. Components that no
    /// point prefers are left out, so there may be fewer clusters than `g`.
    pub partition: Partition,
    /// The number of EM steps.
    pub iterations: usize,
    /// False if EM was stopped by the iteration limit.
    pub converged: bool,
}

/// Labels of points in `order`, put back to the order of the points.
fn in_place(labels: &[u32], order: &[usize]) -> Vec<u32> {
    let mut placed = vec![0; labels.len()];
    for (&label, &i) in labels.iter().zip(order) {
        placed[i] = label;
    }
    placed
}

/// The features as columns about their mean.
///
/// Values so large or small that their squares leave the range of numbers are divided by a power of 2.
struct Centred {
    columns: Vec<Vec<f64>>,
    mean: Vec<f64>,
    scale: f64,
}

impl Centred {
    fn of(points: &Points) -> Self {
        let (n, d) = (points.len(), points.features());
        let scale = scale_of(points.values());
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(d);
        let mut mean = Vec::with_capacity(d);
        for j in 0..d {
            let mut column: Vec<f64> = points.rows().map(|row| row[j] / scale).collect();
            let first = column[0];
            // About the first value, so that a constant column is centred to exact zeros.
            let shift = first + column.iter().map(|v| v - first).sum::<f64>() / n as f64;
            column.iter_mut().for_each(|v| *v -= shift);
            columns.push(column);
            mean.push(shift);
        }
        Self { columns, mean, scale }
    }

    fn restored_means(&self, means: &[f64]) -> Vec<f64> {
        let mean = self.mean.iter().cycle();
        means.iter().zip(mean).map(|(m, shift)| (m + shift) * self.scale).collect()
    }
}

/// 1, or the power of 2 that brings values of extreme size near 1.
fn scale_of(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    if largest == 0.0 || (1e-60..1e60).contains(&largest) {
        return 1.0;
    }
    // Exponent bits alone; subnormal numbers get the smallest normal power.
    f64::from_bits(largest.to_bits() & 0x7ff0_0000_0000_0000).max(f64::MIN_POSITIVE)
}
