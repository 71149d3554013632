//! Expectation and maximisation for Gaussian mixtures with spherical or free covariances.
//!
//! One step takes the posterior probabilities `z_ik` to parameters (maximisation) and these to a
//! log-likelihood and new probabilities (expectation):
//!
//! ```text
//! n_k = sum_i z_ik,  pi_k = n_k / n,  mu_k = sum_i z_ik x_i / n_k,  W_k = sum_i z_ik (x_i - mu_k)(x_i - mu_k)'
//! EII: sigma^2 = sum_k tr W_k / (n d)     VII: sigma_k^2 = tr W_k / (n_k d)     VVV: Sigma_k = W_k / n_k
//! z_ik = pi_k phi(x_i; mu_k, Sigma_k) / sum_l pi_l phi(x_i; mu_l, Sigma_l)
//! ```
//!
//! The loops over points are in [`super::kernels`]. The spherical models keep the squared distances of the
//! maximisation for the expectation that follows.
//!
//! A component may run into a singularity: the likelihood grows without bound as it closes in on too few
//! points. Then this number of components has no fit. The limits: a variance (EII, VII), or the squared
//! pivot of a covariance (VVV), at most machine epsilon times the variance of the data, or a component
//! with less than the root of epsilon points. mclust has the first limit for data of unit variance; being
//! relative here, it does not depend on the units.

use super::Model;
use super::kernels::{
    Expectation, STRANDS, mahalanobis, posteriors, scatter, squared_distances, weighted_mean,
};
use crate::elementary::ln;

/// Buffers for one data set, used for every number of components.
pub(super) struct Em {
    model: Model,
    n: usize,
    /// `n` rounded up to whole vectors.
    stride: usize,
    d: usize,
    /// Features, each `stride` long, centred; the padding is 0.
    columns: Vec<f64>,
    /// Smallest acceptable variance, for spherical models and for each feature.
    least_variance: f64,
    least_variances: Vec<f64>,
    g: usize,
    expectation: Expectation,
    /// Differences to a mean (VVV): `d` rows, then products.
    centred: Vec<f64>,
    counts: Vec<f64>,
    means: Vec<f64>,
    /// EII, VII: one variance a component. VVV: `d x d` a component.
    variances: Vec<f64>,
    factor: Vec<f64>,
    /// Constant and slope of each component's log density in the squared distance.
    constant: Vec<f64>,
    slope: Vec<f64>,
}

/// How a run of [`Em`] ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) loglik: f64,
    pub(super) iterations: usize,
    pub(super) converged: bool,
}

impl Em {
    /// For features that are centred; room for `most` components.
    pub(super) fn new(model: Model, columns: &[Vec<f64>], most: usize) -> Self {
        let d = columns.len();
        let n = columns.first().map_or(0, Vec::len);
        let stride = n.next_multiple_of(STRANDS);
        let mut flat = vec![0.0; d * stride];
        for (row, column) in flat.chunks_exact_mut(stride.max(1)).zip(columns) {
            row[..n].copy_from_slice(column);
        }
        let variance = |column: &Vec<f64>| column.iter().map(|v| v * v).sum::<f64>() / n as f64;
        let variances: Vec<f64> = columns.iter().map(variance).collect();
        let full = model == Model::Vvv;
        Self {
            model,
            n,
            stride,
            d,
            columns: flat,
            least_variance: f64::EPSILON * variances.iter().sum::<f64>() / d as f64,
            least_variances: variances.iter().map(|v| f64::EPSILON * v).collect(),
            g: 0,
            expectation: Expectation::new(stride, most),
            centred: vec![0.0; if full { (d + 1) * stride } else { 0 }],
            counts: vec![0.0; most],
            means: vec![0.0; most * d],
            variances: vec![0.0; if full { most * d * d } else { most }],
            factor: vec![0.0; if full { d * d } else { 0 }],
            constant: vec![0.0; most],
            slope: vec![0.0; most],
        }
    }

    /// Runs from a partition into `g` groups until the log-likelihood changes by less than `tolerance`
    /// relative to one plus its size. Nothing when a component becomes singular.
    pub(super) fn run(&mut self, labels: &[u32], g: usize, tolerance: f64, limit: usize) -> Option<Run> {
        self.begin(labels, g);
        let mut loglik = self.step()?;
        if g == 1 {
            return Some(Run { loglik, iterations: 1, converged: true });
        }
        for iteration in 2..=limit {
            let next = self.step()?;
            let change = (next - loglik).abs() / (1.0 + next.abs());
            loglik = next;
            if change < tolerance {
                return Some(Run { loglik, iterations: iteration, converged: true });
            }
        }
        Some(Run { loglik, iterations: limit, converged: false })
    }

    /// Sets the posterior probabilities to a partition.
    pub(super) fn begin(&mut self, labels: &[u32], g: usize) {
        self.g = g;
        self.expectation.posterior[..g * self.stride].fill(0.0);
        self.expectation.spans.fill(0..self.stride);
        for (i, &label) in labels.iter().enumerate() {
            self.expectation.posterior[label as usize * self.stride + i] = 1.0;
        }
    }

    /// One maximisation and one expectation: the log-likelihood of the parameters found.
    pub(super) fn step(&mut self) -> Option<f64> {
        let n = self.n as f64;
        let least_count = f64::EPSILON.sqrt();
        for k in 0..self.g {
            self.counts[k] = weighted_mean(
                row(&self.expectation.posterior, k, self.stride),
                self.expectation.spans[k].clone(),
                &self.columns,
                &mut self.means[k * self.d..][..self.d],
            );
            if self.counts[k].is_nan() || self.counts[k] <= least_count {
                return None;
            }
        }
        match self.model {
            Model::Eii | Model::Vii => self.spherical_variances()?,
            Model::Vvv => self.full_covariances()?,
        }
        for k in 0..self.g {
            self.constant[k] += ln(self.counts[k] / n);
        }
        posteriors(&mut self.expectation, &self.constant[..self.g], &self.slope[..self.g], self.n);
        let loglik = self.loglik();
        loglik.is_finite().then_some(loglik)
    }

    /// `sum_i largest_i + ln total_i`. The totals lie between 1 and the number of components, so
    /// eight of them can be multiplied before the logarithm is taken.
    fn loglik(&self) -> f64 {
        let mut sum = 0.0;
        for (largest, total) in
            self.expectation.largest[..self.n].chunks(8).zip(self.expectation.total[..self.n].chunks(8))
        {
            sum += largest.iter().sum::<f64>() + ln(total.iter().product());
        }
        sum
    }

    fn spherical_variances(&mut self) -> Option<()> {
        let d = self.d as f64;
        let mut within = 0.0;
        for k in 0..self.g {
            let trace = squared_distances(
                row(&self.expectation.posterior, k, self.stride),
                self.expectation.spans[k].clone(),
                &self.columns,
                &self.means[k * self.d..][..self.d],
                row_mut(&mut self.expectation.density, k, self.stride),
            );
            within += trace;
            self.variances[k] = trace / (self.counts[k] * d);
        }
        if self.model == Model::Eii {
            self.variances[..self.g].fill(within / (self.n as f64 * d));
        }
        for k in 0..self.g {
            let variance = self.variances[k];
            if variance.is_nan() || variance <= self.least_variance {
                return None;
            }
            self.constant[k] = -0.5 * d * (LN_TAU + ln(variance));
            self.slope[k] = 0.5 / variance;
        }
        Some(())
    }

    fn full_covariances(&mut self) -> Option<()> {
        let d = self.d;
        let (differences, product) = self.centred.split_at_mut(d * self.stride);
        for k in 0..self.g {
            let mean = &self.means[k * d..][..d];
            let covariance = &mut self.variances[k * d * d..][..d * d];
            scatter(
                row(&self.expectation.posterior, k, self.stride),
                self.expectation.spans[k].clone(),
                &self.columns,
                mean,
                differences,
                product,
                covariance,
            );
            covariance.iter_mut().for_each(|v| *v /= self.counts[k]);
            let log_determinant = cholesky(covariance, &mut self.factor, &self.least_variances)?;
            mahalanobis(&self.factor, differences, row_mut(&mut self.expectation.density, k, self.stride));
            self.constant[k] = -0.5 * (d as f64 * LN_TAU + log_determinant);
            self.slope[k] = 0.5;
        }
        Some(())
    }

    /// The component of largest posterior probability for each point; the lower of equals.
    pub(super) fn labels(&self) -> Vec<u32> {
        (0..self.n)
            .map(|i| {
                let mut best = 0;
                for k in 1..self.g {
                    if self.expectation.density[k * self.stride + i]
                        > self.expectation.density[best * self.stride + i]
                    {
                        best = k;
                    }
                }
                best as u32
            })
            .collect()
    }

    /// Mixing weights.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.counts[..self.g].iter().map(|c| c / self.n as f64).collect()
    }

    /// Means of the centred features, component after component.
    pub(super) fn means(&self) -> &[f64] {
        &self.means[..self.g * self.d]
    }

    /// Covariance matrices, `d x d` a component.
    pub(super) fn covariances(&self) -> Vec<f64> {
        let d = self.d;
        if self.model == Model::Vvv {
            return self.variances[..self.g * d * d].to_vec();
        }
        let mut all = vec![0.0; self.g * d * d];
        for k in 0..self.g {
            for j in 0..d {
                all[k * d * d + j * d + j] = self.variances[k];
            }
        }
        all
    }
}

const LN_TAU: f64 = 1.837_877_066_409_345_3; // ln(2 pi)

fn row(rows: &[f64], k: usize, stride: usize) -> &[f64] {
    &rows[k * stride..][..stride]
}

fn row_mut(rows: &mut [f64], k: usize, stride: usize) -> &mut [f64] {
    &mut rows[k * stride..][..stride]
}

/// `L` with `L L' = matrix` into `factor`; the log determinant, or nothing where a squared pivot is at most
/// the least variance of its feature.
fn cholesky(matrix: &[f64], factor: &mut [f64], least: &[f64]) -> Option<f64> {
    let d = least.len();
    let mut determinant = 0.0;
    for i in 0..d {
        for j in 0..=i {
            let mut sum = matrix[i * d + j];
            for l in 0..j {
                sum -= factor[i * d + l] * factor[j * d + l];
            }
            if i == j {
                if sum.is_nan() || sum <= least[i] {
                    return None;
                }
                determinant += ln(sum);
                factor[i * d + i] = sum.sqrt();
            } else {
                factor[i * d + j] = sum / factor[j * d + j];
            }
        }
    }
    Some(determinant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use rand::RngExt;

    fn noise(seed: u64, n: usize, d: usize) -> (Vec<Vec<f64>>, Vec<u32>) {
        let mut rng = stream(seed, 0);
        let mut columns: Vec<Vec<f64>> =
            (0..d).map(|_| (0..n).map(|_| rng.random::<f64>() + rng.random::<f64>()).collect()).collect();
        for column in &mut columns {
            let mean = column.iter().sum::<f64>() / n as f64;
            column.iter_mut().for_each(|v| *v -= mean);
        }
        (columns, (0..n).map(|i| (i % 3) as u32).collect())
    }

    /// Log-likelihood straight from the definition, with the inverse and determinant of a 2 x 2 matrix.
    fn loglik_by_definition(em: &Em, columns: &[Vec<f64>]) -> f64 {
        let covariances = em.covariances();
        (0..columns[0].len())
            .map(|i| {
                let density: f64 = (0..em.g)
                    .map(|k| {
                        let (x, y) =
                            (columns[0][i] - em.means()[2 * k], columns[1][i] - em.means()[2 * k + 1]);
                        let c = &covariances[4 * k..][..4];
                        let determinant = c[0] * c[3] - c[1] * c[2];
                        let distance = (c[3] * x * x - (c[1] + c[2]) * x * y + c[0] * y * y) / determinant;
                        em.weights()[k] * (-0.5 * distance).exp()
                            / (2.0 * std::f64::consts::PI * determinant.sqrt())
                    })
                    .sum();
                density.ln()
            })
            .sum()
    }

    #[test]
    fn loglik_is_the_one_of_the_definition_and_never_falls() {
        for model in [Model::Eii, Model::Vii, Model::Vvv] {
            for seed in 0..5 {
                let (columns, labels) = noise(seed, 67, 2);
                let mut em = Em::new(model, &columns, 3);
                em.begin(&labels, 3);
                let mut last = f64::NEG_INFINITY;
                for _ in 0..60 {
                    let loglik = em.step().unwrap();
                    assert!(loglik >= last - 1e-11, "{model:?} seed {seed}: {loglik} after {last}");
                    assert!((loglik - loglik_by_definition(&em, &columns)).abs() < 1e-10);
                    last = loglik;
                }
            }
        }
    }

    #[test]
    fn skipping_far_exponentials_does_not_change_the_fit() {
        // Two far blobs stored block by block (whole blocks skipped) and alternating (none skipped).
        let (mut columns, _) = noise(9, 64, 2);
        columns[0].iter_mut().skip(32).for_each(|v| *v += 90.0);
        let labels: Vec<u32> = (0..64).map(|i| u32::from(i >= 32)).collect();
        let order: Vec<usize> = (0..32).flat_map(|i| [i, i + 32]).collect();
        let mixed: Vec<Vec<f64>> = columns.iter().map(|c| order.iter().map(|&i| c[i]).collect()).collect();
        let mixed_labels: Vec<u32> = order.iter().map(|&i| labels[i]).collect();
        for model in [Model::Eii, Model::Vii, Model::Vvv] {
            let a = Em::new(model, &columns, 2).run(&labels, 2, 1e-5, 100).unwrap();
            let b = Em::new(model, &mixed, 2).run(&mixed_labels, 2, 1e-5, 100).unwrap();
            assert!((a.loglik - b.loglik).abs() < 1e-11, "{model:?}: {} {}", a.loglik, b.loglik);
        }
    }

    #[test]
    fn a_component_on_too_few_points_has_no_fit() {
        let (columns, mut labels) = noise(1, 30, 2);
        labels[0] = 3;
        assert!(Em::new(Model::Vii, &columns, 4).run(&labels, 4, 1e-5, 100).is_none());
        assert!(Em::new(Model::Eii, &columns, 4).run(&labels, 4, 1e-5, 100).is_some());
        labels[1] = 3;
        assert!(Em::new(Model::Vii, &columns, 4).run(&labels, 4, 1e-5, 1).is_some());
        assert!(Em::new(Model::Vvv, &columns, 4).run(&labels, 4, 1e-5, 1).is_none());
        labels[2] = 3;
        assert!(Em::new(Model::Vvv, &columns, 4).run(&labels, 4, 1e-5, 1).is_some());
    }
}
