//! What all clusters share: the distribution of their locations, and their expected width.

use std::sync::Arc;

use super::cluster::half_power;
use super::matrix::{cholesky, ln_det, lower_inverse};

/// Degrees of freedom of the base density.
pub(super) const BASE_DF: usize = 5;

/// The base density of cluster locations, `H`.
#[derive(Clone, Debug)]
pub(super) struct Base {
    pub(super) q: usize,
    pub(super) middle: Vec<f64>,
    /// The inverse of the lower triangle of its scale matrix.
    pub(super) low: Vec<f64>,
    pub(super) ln_scale: f64,
}

impl Base {
    /// Around `middle` with this positive definite scale matrix.
    pub(super) fn new(middle: Vec<f64>, scale: &[f64]) -> Option<Self> {
        let q = middle.len();
        let l = cholesky(scale, q)?;
        let df = BASE_DF as f64;
        let ln_scale = libm::lgamma((df + q as f64) / 2.0)
            - libm::lgamma(df / 2.0)
            - 0.5 * q as f64 * libm::log(df * std::f64::consts::PI)
            - 0.5 * ln_det(&l, q);
        Some(Self { q, middle, low: lower_inverse(&l, q), ln_scale })
    }

    /// Number of features.
    pub(super) fn features(&self) -> usize {
        self.q
    }

    /// `1 + d' S^-1 d / df`: the density is this to the power `-(df + q) / 2`, times a constant.
    fn shape(&self, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for r in 0..self.q {
            let mut y = 0.0;
            for f in 0..=r {
                y += self.low[r * self.q + f] * (x[f] - self.middle[f]);
            }
            sum += y * y;
        }
        1.0 + sum / BASE_DF as f64
    }

    /// Uses the same operations as [`weigh_alone`].
    pub(super) fn density(&self, x: &[f64]) -> f64 {
        libm::exp(self.ln_scale) / half_power(self.shape(x), BASE_DF + self.q)
    }

    pub(super) fn ln_density(&self, x: &[f64]) -> f64 {
        self.ln_scale - 0.5 * (BASE_DF + self.q) as f64 * libm::log(self.shape(x))
    }
}

/// How similar the clusters' covariances are: `nu` degrees of freedom, and what follows from them.
#[derive(Clone, Debug)]
pub(super) struct Likeness {
    /// At least q + 2, so that covariances have a mean.
    pub(super) nu: usize,
    /// Indexed by the number of members: the part of the t density's constant that does not depend
    /// on their positions.
    constants: Arc<[f64]>,
}

impl Likeness {
    /// For clusters of at most `most` members in `q` features.
    pub(super) fn new(nu: usize, q: usize, most: usize) -> Self {
        let constant = |n: usize| {
            let (n, half) = (n as f64, q as f64 / 2.0);
            let twice = nu as f64 + n;
            libm::exp(
                libm::lgamma(twice / 2.0) - libm::lgamma(twice / 2.0 - half)
                    + half * libm::log(n / ((n + 1.0) * std::f64::consts::PI)),
            )
        };
        Self { nu, constants: (0..=most).map(constant).collect() }
    }
}

/// The parameters that all clusters share.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) q: usize,
    /// Degrees of freedom of the covariances; at least q.
    pub(super) nu: usize,
    /// The metric, `Psi`.
    pub(super) psi: Vec<f64>,
    /// Its lower triangle.
    pub(super) triangle: Vec<f64>,
    pub(super) base: Base,
    /// Indexed by the number of members: the part of the t density's constant that does not depend
    /// on their positions.
    pub(super) constants: Arc<[f64]>,
}

impl Shape {
    /// With this metric, `Psi`.
    pub(super) fn new(likeness: &Likeness, psi: Vec<f64>, base: Base) -> Self {
        let (q, nu, constants) = (base.q, likeness.nu, likeness.constants.clone());
        let mut shape = Self { q, nu, psi: Vec::new(), triangle: Vec::new(), base, constants };
        shape.set_psi(psi);
        shape
    }

    /// The factor from the metric to the expected covariance: `E Sigma = Psi / (nu - q - 1)`.
    pub(super) fn expected_times(&self) -> f64 {
        (self.nu - self.q - 1) as f64
    }

    /// Changes the similarity of the covariances and keeps their mean.
    pub(super) fn as_alike(&self, likeness: &Likeness) -> Self {
        let times = (likeness.nu - self.q - 1) as f64 / self.expected_times();
        Self::new(likeness, self.psi.iter().map(|v| v * times).collect(), self.base.clone())
    }

    /// `ln |Psi|`.
    pub(super) fn ln_det_psi(&self) -> f64 {
        ln_det(&self.triangle, self.q)
    }

    /// Sets another metric, which must be positive definite.
    pub(super) fn set_psi(&mut self, psi: Vec<f64>) {
        // Without a triangle, no bound on lengths in a cluster's metric is known: NaN, which
        // `shrink` turns into a trivial bound.
        let q = self.q;
        self.triangle = cholesky(&psi, q).unwrap_or_else(|| vec![f64::NAN; q * q]);
        self.psi = psi;
    }
}
