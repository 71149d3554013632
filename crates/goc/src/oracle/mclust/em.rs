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
//! The inner loops run over points, stored feature after feature and padded to whole vectors, so that
//! they become vector code. Sums are kept in sixteen strands added in a fixed order: the same bits with any
//! vector width. The spherical models keep the squared distances of the maximisation
//! for the expectation that follows.
//!
//! A component may run into a singularity: the likelihood grows without bound as it closes in on too few
//! points. Then this number of components has no fit. The limits: a variance (EII, VII), or the squared
//! pivot of a covariance (VVV), at most machine epsilon times the variance of the data, or a component
//! with less than the root of epsilon points. mclust has the first limit for data of unit variance; being
//! relative here, it does not depend on the units.

use std::ops::Range;

use super::Model;
use super::elementary::{exp, ln};

/// Points a vector may hold; all rows of buffers are a multiple of it long.
const STRANDS: usize = 16;

/// Points looked at together when exponentials are skipped.
const BLOCK: usize = 8;

/// A log density so far below the largest of its point counts as probability 0 (it is below 1e-26) when all
/// of a block are: with neighbours stored together, that spares most exponentials.
const FAR: f64 = -60.0;

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
    /// Posterior probabilities, component after component; the padding is 0.
    posterior: Vec<f64>,
    /// Squared distances, then log densities, component after component.
    density: Vec<f64>,
    largest: Vec<f64>,
    total: Vec<f64>,
    reciprocal: Vec<f64>,
    /// For each component a range, of whole vectors, outside of which all its posterior probabilities are 0.
    spans: Vec<Range<usize>>,
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
            posterior: vec![0.0; most * stride],
            density: vec![0.0; most * stride],
            largest: vec![0.0; stride],
            total: vec![0.0; stride],
            reciprocal: vec![0.0; stride],
            spans: vec![0..stride; most],
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
        self.posterior[..g * self.stride].fill(0.0);
        self.spans.fill(0..self.stride);
        for (i, &label) in labels.iter().enumerate() {
            self.posterior[label as usize * self.stride + i] = 1.0;
        }
    }

    /// One maximisation and one expectation: the log-likelihood of the parameters found.
    pub(super) fn step(&mut self) -> Option<f64> {
        let n = self.n as f64;
        let least_count = f64::EPSILON.sqrt();
        for k in 0..self.g {
            self.counts[k] = weighted_mean(
                row(&self.posterior, k, self.stride),
                self.spans[k].clone(),
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
        let used = self.g * self.stride;
        posteriors(
            &mut self.density[..used],
            &mut self.posterior[..used],
            &self.constant[..self.g],
            &self.slope[..self.g],
            &mut self.largest,
            &mut self.total,
            &mut self.reciprocal,
            &mut self.spans[..self.g],
            self.n,
        );
        let loglik = self.loglik();
        loglik.is_finite().then_some(loglik)
    }

    /// `sum_i largest_i + ln total_i`. The totals lie between 1 and the number of components, so eight of them can be
    /// multiplied before the logarithm is taken.
    fn loglik(&self) -> f64 {
        let mut sum = 0.0;
        for (largest, total) in self.largest[..self.n].chunks(8).zip(self.total[..self.n].chunks(8)) {
            sum += largest.iter().sum::<f64>() + ln(total.iter().product());
        }
        sum
    }

    fn spherical_variances(&mut self) -> Option<()> {
        let d = self.d as f64;
        let mut within = 0.0;
        for k in 0..self.g {
            let trace = squared_distances(
                row(&self.posterior, k, self.stride),
                self.spans[k].clone(),
                &self.columns,
                &self.means[k * self.d..][..self.d],
                row_mut(&mut self.density, k, self.stride),
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
                row(&self.posterior, k, self.stride),
                self.spans[k].clone(),
                &self.columns,
                mean,
                differences,
                product,
                covariance,
            );
            covariance.iter_mut().for_each(|v| *v /= self.counts[k]);
            let log_determinant = cholesky(covariance, &mut self.factor, &self.least_variances)?;
            mahalanobis(&self.factor, differences, row_mut(&mut self.density, k, self.stride));
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
                    if self.density[k * self.stride + i] > self.density[best * self.stride + i] {
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

/// Adds the strands in a fixed order.
#[inline(always)]
fn add_up(mut s: [f64; STRANDS]) -> f64 {
    let mut half = STRANDS / 2;
    while half > 0 {
        for i in 0..half {
            s[i] += s[i + half];
        }
        half /= 2;
    }
    s[0]
}

#[inline(always)]
fn sum(a: &[f64]) -> f64 {
    let mut strands = [0.0; STRANDS];
    for a in a.chunks_exact(STRANDS) {
        for s in 0..STRANDS {
            strands[s] += a[s];
        }
    }
    add_up(strands)
}

#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut strands = [0.0; STRANDS];
    for (a, b) in a.chunks_exact(STRANDS).zip(b.chunks_exact(STRANDS)) {
        for s in 0..STRANDS {
            strands[s] += a[s] * b[s];
        }
    }
    add_up(strands)
}

/// The sum of the weights, and the weighted mean of each feature into `mean`.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn weighted_mean(weights: &[f64], span: Range<usize>, columns: &[f64], mean: &mut [f64]) -> f64 {
    let stride = weights.len().max(1);
    let weights = &weights[span.clone()];
    let count = sum(weights);
    for (m, column) in mean.iter_mut().zip(columns.chunks_exact(stride)) {
        *m = dot(weights, &column[span.clone()]) / count;
    }
    count
}

/// Squared distances to `mean`; their weighted sum.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn squared_distances(
    weights: &[f64],
    span: Range<usize>,
    columns: &[f64],
    mean: &[f64],
    distance: &mut [f64],
) -> f64 {
    distance.fill(0.0);
    for (m, column) in mean.iter().zip(columns.chunks_exact(weights.len().max(1))) {
        for (q, x) in distance.iter_mut().zip(column) {
            let difference = x - m;
            *q += difference * difference;
        }
    }
    dot(&weights[span.clone()], &distance[span])
}

/// Differences to `mean`, and the weighted scatter matrix.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn scatter(
    weights: &[f64],
    span: Range<usize>,
    columns: &[f64],
    mean: &[f64],
    differences: &mut [f64],
    product: &mut [f64],
    matrix: &mut [f64],
) {
    let (d, stride) = (mean.len(), weights.len());
    for (j, m) in mean.iter().enumerate() {
        for (y, x) in differences[j * stride..][..stride].iter_mut().zip(&columns[j * stride..][..stride]) {
            *y = x - m;
        }
    }
    for i in 0..d {
        let row_i = &differences[i * stride..][..stride];
        for (p, (w, x)) in
            product[span.clone()].iter_mut().zip(weights[span.clone()].iter().zip(&row_i[span.clone()]))
        {
            *p = w * x;
        }
        for j in 0..=i {
            let value = dot(&product[span.clone()], &differences[j * stride..][..stride][span.clone()]);
            matrix[i * d + j] = value;
            matrix[j * d + i] = value;
        }
    }
}

/// Squared Mahalanobis distances: solves `L y = difference` for all points at once, in place.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn mahalanobis(factor: &[f64], differences: &mut [f64], distance: &mut [f64]) {
    let stride = distance.len();
    let d = differences.len() / stride.max(1);
    distance.fill(0.0);
    for i in 0..d {
        let (solved, rest) = differences.split_at_mut(i * stride);
        let y = &mut rest[..stride];
        for j in 0..i {
            let l = factor[i * d + j];
            for (y, x) in y.iter_mut().zip(&solved[j * stride..][..stride]) {
                *y -= l * x;
            }
        }
        let inverse = 1.0 / factor[i * d + i];
        for (y, q) in y.iter_mut().zip(distance.iter_mut()) {
            *y *= inverse;
            *q += *y * *y;
        }
    }
}

/// Squared distances become log densities; posterior probabilities, and the largest log density and the
/// sum of densities relative to it for each point.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn posteriors(
    density: &mut [f64],
    posterior: &mut [f64],
    constant: &[f64],
    slope: &[f64],
    largest: &mut [f64],
    total: &mut [f64],
    reciprocal: &mut [f64],
    spans: &mut [Range<usize>],
    n: usize,
) {
    let stride = largest.len().max(1);
    largest.fill(f64::NEG_INFINITY);
    for ((row, c), h) in density.chunks_exact_mut(stride).zip(constant).zip(slope) {
        for (t, m) in row.iter_mut().zip(largest.iter_mut()) {
            *t = c - h * *t;
            *m = if *t > *m { *t } else { *m };
        }
    }
    total.fill(0.0);
    let rows = posterior.chunks_exact_mut(stride).zip(density.chunks_exact(stride));
    for ((z, t), span) in rows.zip(spans.iter_mut()) {
        let (mut first, mut end) = (stride, 0);
        for start in (0..stride).step_by(BLOCK) {
            let (z, t) = (&mut z[start..][..BLOCK], &t[start..][..BLOCK]);
            let (largest, total) = (&largest[start..][..BLOCK], &mut total[start..][..BLOCK]);
            let mut nearest = FAR;
            for i in 0..BLOCK {
                let below = t[i] - largest[i];
                nearest = if below > nearest { below } else { nearest };
            }
            if nearest == FAR {
                z.fill(0.0);
                continue;
            }
            (first, end) = (first.min(start), start + BLOCK);
            for i in 0..BLOCK {
                z[i] = exp(t[i] - largest[i]);
                total[i] += z[i];
            }
        }
        let first = first.min(end) / STRANDS * STRANDS;
        *span = first..end.next_multiple_of(STRANDS);
    }
    for (r, s) in reciprocal.iter_mut().zip(total.iter()) {
        *r = 1.0 / s;
    }
    reciprocal[n..].fill(0.0);
    for (z, span) in posterior.chunks_exact_mut(stride).zip(spans.iter()) {
        for (z, r) in z[span.clone()].iter_mut().zip(&reciprocal[span.clone()]) {
            *z *= r;
        }
    }
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
