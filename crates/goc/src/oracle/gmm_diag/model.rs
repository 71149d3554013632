//! The mixture itself: from clusters to weights, means and variances, the E step, the M step, labels.

use crate::Points;

/// The mean of each cluster; zeros for one without points.
pub(super) fn cluster_means(points: &Points, labels: &[u32], k: usize) -> Points {
    let q = points.features();
    let mut sums = vec![0.0; k * q];
    let mut sizes = vec![0_usize; k];
    for (x, &l) in points.rows().zip(labels) {
        sizes[l as usize] += 1;
        for (sum, v) in sums[l as usize * q..][..q].iter_mut().zip(x) {
            *sum += v;
        }
    }
    for (sum, &size) in sums.chunks_exact_mut(q).zip(&sizes) {
        sum.iter_mut().for_each(|s| *s /= size.max(1) as f64);
    }
    Points::trusted(sums, q)
}

/// The mixture's numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The weight of each component.
    pub weights: Vec<f64>,
    /// The mean of each component.
    pub means: Points,
    /// The variances of each component, feature by feature.
    pub variances: Points,
}

impl Model {
    /// Weight, mean and variance of each cluster.
    pub(super) fn of_clusters(points: &Points, labels: &[u32], k: usize, floor: f64) -> Self {
        let q = points.features();
        let means = cluster_means(points, labels, k);
        let mut variances = vec![0.0; k * q];
        let mut sizes = vec![0_usize; k];
        for (x, &l) in points.rows().zip(labels) {
            let l = l as usize;
            sizes[l] += 1;
            for f in 0..q {
                let d = x[f] - means.row(l)[f];
                variances[l * q + f] += d * d;
            }
        }
        for (row, &size) in variances.chunks_exact_mut(q).zip(&sizes) {
            row.iter_mut().for_each(|v| *v = (*v / size.max(1) as f64).max(floor));
        }
        let weights = sizes.iter().map(|&s| s as f64 / points.len() as f64).collect();
        Self { weights, means, variances: Points::trusted(variances, q) }
    }

    /// The log of the factor that does not depend on the point: `-1/2 sum over f of ln(2 pi v)`.
    fn log_norms(&self) -> Vec<f64> {
        let tau = std::f64::consts::TAU;
        self.variances.rows().map(|row| -0.5 * row.iter().map(|v| (tau * v).ln()).sum::<f64>()).collect()
    }

    /// Log density of component `k` at `x`, less its norm.
    fn log_kernel(&self, k: usize, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for ((x, m), v) in x.iter().zip(self.means.row(k)).zip(self.variances.row(k)) {
            let d = x - m;
            sum += d * d / v;
        }
        -0.5 * sum
    }

    /// E step: fills in the share of each component in each point; returns the log-likelihood.
    pub(super) fn expect(&self, points: &Points, responsibilities: &mut [f64]) -> f64 {
        let k = self.weights.len();
        let fixed: Vec<f64> = self.log_norms().iter().zip(&self.weights).map(|(n, w)| n + w.ln()).collect();
        let mut total = 0.0;
        for (x, shares) in points.rows().zip(responsibilities.chunks_exact_mut(k)) {
            let mut most = f64::NEG_INFINITY;
            for (c, share) in shares.iter_mut().enumerate() {
                *share = fixed[c] + self.log_kernel(c, x);
                most = most.max(*share);
            }
            let mut sum = 0.0;
            for share in shares.iter_mut() {
                *share = (*share - most).exp();
                sum += *share;
            }
            shares.iter_mut().for_each(|s| *s /= sum);
            total += most + sum.ln();
        }
        total
    }

    /// M step: weights, means and variances from the shares.
    pub(super) fn maximise(&mut self, points: &Points, responsibilities: &[f64], floor: f64) {
        let (k, q) = (self.weights.len(), points.features());
        let mut mass = vec![0.0; k];
        let mut means = vec![0.0; k * q];
        for (x, shares) in points.rows().zip(responsibilities.chunks_exact(k)) {
            // Most shares are exactly 0: the components lie far apart.
            for (c, &share) in shares.iter().enumerate().filter(|(_, s)| **s > 0.0) {
                mass[c] += share;
                for f in 0..q {
                    means[c * q + f] += share * x[f];
                }
            }
        }
        let alive: Vec<bool> = mass.iter().map(|m| *m >= f64::MIN_POSITIVE).collect();
        for c in (0..k).filter(|&c| alive[c]) {
            for f in 0..q {
                self.means.row_mut(c)[f] = means[c * q + f] / mass[c];
            }
        }
        let mut variances = vec![0.0; k * q];
        for (x, shares) in points.rows().zip(responsibilities.chunks_exact(k)) {
            for (c, &share) in shares.iter().enumerate().filter(|(_, s)| **s > 0.0) {
                for f in 0..q {
                    let d = x[f] - self.means.row(c)[f];
                    variances[c * q + f] += share * d * d;
                }
            }
        }
        for c in (0..k).filter(|&c| alive[c]) {
            for f in 0..q {
                self.variances.row_mut(c)[f] = (variances[c * q + f] / mass[c]).max(floor);
            }
        }
        for (weight, m) in self.weights.iter_mut().zip(&mass) {
            *weight = m / points.len() as f64;
        }
    }

    /// The component with the largest density at each point; ties go to the lower index.
    pub(super) fn labels(&self, points: &Points) -> Vec<u32> {
        let fixed = self.log_norms();
        let label = |x: &[f64]| {
            let mut best = (0, f64::NEG_INFINITY);
            for (c, norm) in fixed.iter().enumerate() {
                let density = norm + self.log_kernel(c, x);
                if density > best.1 {
                    best = (c, density);
                }
            }
            best.0 as u32
        };
        points.rows().map(label).collect()
    }
}
