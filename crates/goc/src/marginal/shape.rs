//! What all clusters share: where they may lie, and of which kinds they are.

use std::sync::Arc;

#[cfg(test)]
use super::cluster::half_power;
use super::matrix::{cholesky, ln_det, lower_inverse};

/// Degrees of freedom of the base density.
pub(super) const BASE_DF: usize = 5;

/// Where clusters may lie, `H`.
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

    /// By the operations of [`weigh_alone`].
    #[cfg(test)]
    pub(super) fn density(&self, x: &[f64]) -> f64 {
        libm::exp(self.ln_scale) / half_power(self.shape(x), BASE_DF + self.q)
    }

    pub(super) fn ln_density(&self, x: &[f64]) -> f64 {
        self.ln_scale - 0.5 * (BASE_DF + self.q) as f64 * libm::log(self.shape(x))
    }
}

/// The kind of groups.
pub(super) const GROUP: usize = 0;

/// What clusters of one kind share: their covariances are inverse Wishart (`nu`, `scale`).
#[derive(Clone, Debug)]
pub(super) struct Kind {
    /// Whether members are in the field, or in a group.
    pub(super) field: bool,
    /// Degrees of freedom of the covariances; at least q.
    pub(super) nu: usize,
    pub(super) scale: Vec<f64>,
    pub(super) ln_det: f64,
    /// By the number of members: what of the t density's constant does not depend on where they
    /// are.
    pub(super) constants: Arc<[f64]>,
}

/// What all clusters share.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) q: usize,
    /// The metric of the groups, `Psi`.
    pub(super) psi: Vec<f64>,
    /// The lower triangle of `Psi`.
    pub(super) triangle: Vec<f64>,
    pub(super) base: Base,
    /// The kinds of clusters: [`GROUP`], then the widths of the field's components.
    pub(super) kinds: Vec<Kind>,
    most: usize,
}

impl Shape {
    /// For clusters of at most `most` members.
    pub(super) fn new(nu: usize, psi: Vec<f64>, base: Base, most: usize) -> Self {
        let q = base.q;
        let mut shape = Self { q, psi: Vec::new(), triangle: Vec::new(), base, kinds: Vec::new(), most };
        let constants = shape.constants(nu);
        let scale = vec![0.0; q * q];
        shape.kinds.push(Kind { field: false, nu, scale, ln_det: 0.0, constants });
        shape.set_psi(psi);
        shape
    }

    fn constants(&self, nu: usize) -> Arc<[f64]> {
        let constant = |n: usize| {
            let (n, half) = (n as f64, self.q as f64 / 2.0);
            let twice = nu as f64 + n;
            libm::exp(
                libm::lgamma(twice / 2.0) - libm::lgamma(twice / 2.0 - half)
                    + half * libm::log(n / ((n + 1.0) * std::f64::consts::PI)),
            )
        };
        (0..=self.most).map(constant).collect()
    }

    /// With a field: components whose covariances are expected to be `covariance` times one of the
    /// widths.
    pub(super) fn field(mut self, nu: usize, covariance: &[f64], widths: &[f64]) -> Self {
        let (q, constants) = (self.q, self.constants(nu));
        for &factor in widths {
            let times = factor * (nu - q - 1) as f64;
            let scale: Vec<f64> = covariance.iter().map(|v| times * v).collect();
            let ln_det = cholesky(&scale, q).map_or(f64::NAN, |l| ln_det(&l, q));
            let constants = constants.clone();
            self.kinds.push(Kind { field: true, nu, scale, ln_det, constants });
        }
        self
    }

    /// `ln |Psi|`.
    pub(super) fn ln_det_psi(&self) -> f64 {
        self.kinds[GROUP].ln_det
    }

    /// Another scale, which is positive definite.
    pub(super) fn set_psi(&mut self, psi: Vec<f64>) {
        // Without one, nothing is known to be shorter in a cluster's metric: NaN, of which `shrink`
        // makes what bounds nothing.
        let q = self.q;
        self.triangle = cholesky(&psi, q).unwrap_or_else(|| vec![f64::NAN; q * q]);
        let ln_det = ln_det(&self.triangle, q);
        self.kinds[GROUP].scale.clone_from(&psi);
        self.kinds[GROUP].ln_det = ln_det;
        self.psi = psi;
    }
}
