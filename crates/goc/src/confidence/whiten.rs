//! A covariance in the form in which it is used: distances in its units, and its determinant.

/// The inverse of the lower triangle `L` of a covariance `L L'`, and the log of the determinant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Whiten {
    q: usize,
    low: Vec<f64>,
    ln_det: f64,
}

impl Whiten {
    /// From a covariance in row-major order. A conditional variance, given the features before it,
    /// that is below the feature's `floor` is raised to it, so every input is valid.
    pub(super) fn new(covariance: &[f64], floor: &[f64]) -> Self {
        let q = floor.len();
        let mut l = vec![0.0; q * q];
        let mut low = vec![0.0; q * q];
        let mut ln_det = 0.0;
        for i in 0..q {
            for j in 0..i {
                let known: f64 = (0..j).map(|k| l[i * q + k] * l[j * q + k]).sum();
                l[i * q + j] = (covariance[i * q + j] - known) / l[j * q + j];
            }
            let known: f64 = (0..i).map(|k| l[i * q + k] * l[i * q + k]).sum();
            l[i * q + i] = (covariance[i * q + i] - known).max(floor[i]).sqrt();
            ln_det += 2.0 * libm::log(l[i * q + i]);
            low[i * q + i] = 1.0 / l[i * q + i];
            for j in 0..i {
                let sum: f64 = (j..i).map(|k| l[i * q + k] * low[k * q + j]).sum();
                low[i * q + j] = -sum / l[i * q + i];
            }
        }
        Self { q, low, ln_det }
    }

    /// Of the covariance times `factor`.
    pub(super) fn widened(&self, factor: f64) -> Self {
        let low = self.low.iter().map(|v| v / factor.sqrt()).collect();
        Self { q: self.q, low, ln_det: self.ln_det + self.q as f64 * libm::log(factor) }
    }

    pub(super) fn ln_det(&self) -> f64 {
        self.ln_det
    }

    /// The trace of the inverse covariance times `other`: the mean squared distance of a variable
    /// with covariance `other`.
    pub(super) fn trace(&self, other: &[f64]) -> f64 {
        let q = self.q;
        let mut sum = 0.0;
        for r in 0..q {
            for a in 0..=r {
                for b in 0..=r {
                    sum += self.low[r * q + a] * other[a * q + b] * self.low[r * q + b];
                }
            }
        }
        sum
    }

    /// The squared distance from `centre` of each of the `m` points of a block, stored feature
    /// after feature.
    pub(super) fn distances(
        &self,
        block: &[f64],
        m: usize,
        centre: &[f64],
        mut each: impl FnMut(usize, f64),
    ) {
        let q = self.q;
        for j in 0..m {
            let mut sum = 0.0;
            for r in 0..q {
                let y: f64 = (0..=r).map(|f| self.low[r * q + f] * (block[f * m + j] - centre[f])).sum();
                sum += y * y;
            }
            each(j, sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_and_determinant_are_those_of_the_inverse_by_hand() {
        // [[4, 2], [2, 5]]: determinant 16, inverse [[5, -2], [-2, 4]] / 16.
        let w = Whiten::new(&[4.0, 2.0, 2.0, 5.0], &[1e-9, 1e-9]);
        assert!((w.ln_det() - f64::ln(16.0)).abs() < 1e-14);
        w.distances(&[3.0, 1.0, 2.0, 0.0], 2, &[0.0, 1.0], |j, d| {
            // (3, 1) and (1, -1) from the centre.
            let want = [(5.0 * 9.0 - 4.0 * 3.0 + 4.0) / 16.0, (5.0 + 4.0 + 4.0) / 16.0][j];
            assert!((d - want).abs() < 1e-14, "{j}: {d} {want}");
        });
        // The trace of [[5, -2], [-2, 4]] / 16 times [[1, 3], [3, 2]].
        assert!((w.trace(&[1.0, 3.0, 3.0, 2.0]) - (5.0 - 12.0 + 8.0) / 16.0).abs() < 1e-14);
        let wide = w.widened(4.0);
        assert!((wide.ln_det() - f64::ln(256.0)).abs() < 1e-14);
        wide.distances(&[4.0, 1.0], 1, &[0.0, 1.0], |_, d| assert!((d - 1.25).abs() < 1e-14));
    }

    #[test]
    fn a_flat_covariance_is_raised_to_the_floor() {
        let w = Whiten::new(&[1.0, 1.0, 1.0, 1.0], &[0.01, 0.01]);
        assert!((w.ln_det() - f64::ln(0.01)).abs() < 1e-12);
    }
}
