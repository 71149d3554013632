//! One cluster: the joint density of its members, and how well a candidate fits in.
//!
//! A cluster's covariance is `Sigma ~ inverse Wishart(nu, Psi)`, and its members are normal around
//! their mean. The location of that mean follows the base density `H`, a multivariate t with five
//! degrees of freedom that is wide compared with any cluster. With the covariance integrated out,
//! `n` members with mean `m` and scatter `S` have the density
//!
//! ```text
//! M(x_1 .. x_n) = H(m) n^(-q/2) pi^(-(n-1)q/2) Gamma_q((nu+n-1)/2) / Gamma_q(nu/2) |Psi|^(nu/2) / |Psi + S|^((nu+n-1)/2),
//! ```
//!
//! This is the density of the following process: draw `Sigma`, draw `n` normal residuals, subtract
//! their mean, and add a location drawn from `H`. For one member it is `H(x)`. A further member `x`
//! multiplies it by
//!
//! ```text
//! H(m') / H(m) * t(x; nu + n - q degrees of freedom, m, (Psi + S)(n + 1) / (n (nu + n - q))).
//! ```
//!
//! `nu` is an integer, so the power in the t density is an integer or a half-integer and needs only
//! multiplications and at most one square root. There is no logarithm in the innermost loop, which
//! handles eight candidates at a time.

mod kernel;

use super::matrix::{cholesky, factor, ln_det, mirror, subtract};
use super::shape::{BASE_DF, Shape};
pub(super) use kernel::{bound_all, half_power, half_powers, weigh, weigh_all, weigh_alone, weigh_listed};

/// The members, and the t density of the next one.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) size: usize,
    pub(super) mean: Vec<f64>,
    /// The sum of `(x - mean)(x - mean)'`.
    pub(super) scatter: Vec<f64>,
    /// The inverse of the lower triangle of `Psi + S`.
    low: Vec<f64>,
    /// The normalising constant of the t density, over `H(mean)`'s shape.
    pub(super) scale: f64,
    /// The base's triangle applied to the shift of the mean, `(x - mean) / (n + 1)`, and to the
    /// mean.
    low_base: Vec<f64>,
    at_mean: Vec<f64>,
    /// `n / (n + 1)`, and twice the power of the t density.
    pub(super) share: f64,
    pub(super) twice: usize,
    /// A step of length 1 in the metric of `Psi` is at most this long in the cluster's own metric:
    /// 1 until [`Self::sharpen`] is called.
    shrink: f64,
    /// Whether the density is up to date with the members.
    ready: bool,
}

/// From this number of features on, adding or removing a member updates the triangle in place in
/// q^2 steps. Below it, and where digits are lost, the triangle is recomputed in q^3 steps. The
/// last digits differ, so data with few features keep the recomputation they always had.
const MANY_FEATURES: usize = 16;

/// The determinant's remaining fraction below which the triangle is recomputed after a removal.
const LEAST_LEFT: f64 = 1e-6;

impl Cluster {
    pub(super) fn empty(q: usize) -> Self {
        let square = vec![0.0; q * q];
        Self {
            size: 0,
            mean: vec![0.0; q],
            scatter: square.clone(),
            low: square.clone(),
            scale: 0.0,
            low_base: square,
            at_mean: vec![0.0; q],
            share: 0.0,
            twice: 0,
            shrink: 1.0,
            ready: false,
        }
    }

    pub(super) fn add(&mut self, x: &[f64], shape: &Shape) {
        let moves = self.ready && x.len() >= MANY_FEATURES;
        let move_of = moves.then(|| self.move_of(x));
        self.take_in(x);
        self.follow(move_of, 1.0, shape);
    }

    /// The vector whose square is added to the scatter when `x` joins the current members.
    fn move_of(&self, x: &[f64]) -> Vec<f64> {
        let n = self.size as f64;
        let root = (n / (n + 1.0)).sqrt();
        x.iter().zip(&self.mean).map(|(x, mean)| root * (x - mean)).collect()
    }

    /// Updates the density after the scatter has changed by `sign` times the square of this vector.
    fn follow(&mut self, move_of: Option<Vec<f64>>, sign: f64, shape: &Shape) {
        match move_of {
            Some(move_of) if update(&mut self.low, &move_of, sign) => self.settle(shape),
            _ => self.refresh(shape),
        }
    }

    /// Like [`Self::add`], but the density is not up to date until [`Self::refresh`].
    pub(super) fn take_in(&mut self, x: &[f64]) {
        let (q, n) = (x.len(), self.size as f64);
        self.ready = false;
        let share = n / (n + 1.0);
        for i in 0..q {
            for j in 0..q {
                self.scatter[i * q + j] += share * (x[i] - self.mean[i]) * (x[j] - self.mean[j]);
            }
        }
        for i in 0..q {
            self.mean[i] += (x[i] - self.mean[i]) / (n + 1.0);
        }
        self.size += 1;
    }

    /// Removes a member. Rounding errors do not accumulate: the chain rebuilds all clusters after
    /// every sweep.
    pub(super) fn remove(&mut self, x: &[f64], shape: &Shape) {
        let moves = self.ready && x.len() >= MANY_FEATURES && self.size > 2;
        self.take_out(x);
        if self.size > 0 {
            self.follow(moves.then(|| self.move_of(x)), -1.0, shape);
        }
    }

    /// Like [`Self::remove`], but the density is not up to date until [`Self::refresh`].
    pub(super) fn take_out(&mut self, x: &[f64]) {
        let (q, n) = (x.len(), self.size as f64);
        self.ready = false;
        self.size -= 1;
        if self.size == 0 {
            return;
        }
        for i in 0..q {
            self.mean[i] = (n * self.mean[i] - x[i]) / (n - 1.0);
        }
        let share = (n - 1.0) / n;
        for i in 0..q {
            for j in 0..q {
                self.scatter[i * q + j] -= share * (x[i] - self.mean[i]) * (x[j] - self.mean[j]);
            }
        }
        if self.size == 1 {
            self.scatter.fill(0.0);
        }
    }

    /// The metric plus the scatter of the members, `Psi + S`.
    pub(super) fn spread(&self, shape: &Shape) -> Vec<f64> {
        shape.psi.iter().zip(&self.scatter).map(|(p, s)| p + s).collect()
    }

    /// Bounds how wide the cluster is, for [`bound_all`]. This costs as much as [`Self::refresh`],
    /// so it is done for clusters that objects are compared with, not at every step of a proposal.
    pub(super) fn sharpen(&mut self, shape: &Shape) {
        self.shrink = shrink(&self.low, &shape.triangle, shape.q).min(1.0);
    }

    /// Brings the density up to date.
    pub(super) fn refresh(&mut self, shape: &Shape) {
        let q = shape.q;
        for (slot, (p, s)) in self.low.iter_mut().zip(shape.psi.iter().zip(&self.scatter)) {
            *slot = p + s;
        }
        if !invert_triangle(&mut self.low, q) {
            // Rounding in a subtraction can leave a scatter that is not positive semidefinite;
            // `Psi` alone is positive definite.
            self.low.copy_from_slice(&shape.psi);
            invert_triangle(&mut self.low, q);
        }
        self.settle(shape);
    }

    /// Computes everything that follows from the triangle, the members and their mean.
    fn settle(&mut self, shape: &Shape) {
        let q = shape.q;
        self.ready = true;
        self.shrink = 1.0;
        // 1 / sqrt(det (Psi + S)).
        let root: f64 = (0..q).map(|f| self.low[f * q + f]).product();
        let base = &shape.base;
        self.share = self.size as f64 / (self.size as f64 + 1.0);
        self.twice = shape.nu + self.size;
        let step = 1.0 / (self.size as f64 + 1.0);
        for (slot, v) in self.low_base.iter_mut().zip(&base.low) {
            *slot = v * step;
        }
        let mut sum = 0.0;
        for r in 0..q {
            let mut y = 0.0;
            for f in 0..=r {
                y += base.low[r * q + f] * (self.mean[f] - base.middle[f]);
            }
            self.at_mean[r] = y;
            sum += y * y;
        }
        let at_mean = half_power(1.0 + sum / BASE_DF as f64, BASE_DF + q);
        self.scale = shape.constants[self.size] * root * at_mean;
    }

    /// `ln M` of the members.
    pub(super) fn ln_density(&self, shape: &Shape) -> f64 {
        let (q, n, nu) = (shape.q as f64, self.size as f64, shape.nu as f64);
        let ln_gamma_q = |x: f64| (0..shape.q).map(|f| libm::lgamma(x - f as f64 / 2.0)).sum::<f64>();
        let ln_det_of = |a: &[f64]| cholesky(a, shape.q).map_or(f64::NAN, |l| ln_det(&l, shape.q));
        shape.base.ln_density(&self.mean)
            - 0.5 * q * libm::log(n)
            - 0.5 * (n - 1.0) * q * libm::log(std::f64::consts::PI)
            + ln_gamma_q((nu + n - 1.0) / 2.0)
            - ln_gamma_q(nu / 2.0)
            + 0.5 * nu * shape.ln_det_psi()
            - 0.5 * (nu + n - 1.0) * ln_det_of(&self.spread(shape))
    }
}

/// Updates the inverse of the lower triangle of a matrix `A` to that of `A + sign v v'`; returns
/// false if too few digits would be left. With `p = low v`, the lower triangle of `I + sign p p'`
/// has the inverse
///
/// ```text
/// row i:  sqrt(t_(i-1) / t_i) (e_i - sign p_i / t_(i-1) sum_(j<i) p_j e_j),   t_i = 1 + sign sum_(j<=i) p_j^2,
/// ```
///
/// and its product with `low` is the result, in q^2 steps (Gill, Golub, Murray & Saunders 1974).
fn update(low: &mut [f64], v: &[f64], sign: f64) -> bool {
    let q = v.len();
    let (mut before, mut sums) = (1.0, vec![0.0; q]);
    for i in 0..q {
        let row = &mut low[i * q..=i * q + i];
        let p: f64 = row.iter().zip(v).map(|(l, v)| l * v).sum();
        let after = before + sign * p * p;
        if !(after > LEAST_LEFT && after.is_finite()) {
            return false;
        }
        let (keep, times) = ((before / after).sqrt(), sign * p / before);
        for (l, sum) in row.iter_mut().zip(&mut sums) {
            let own = *l;
            *l = keep * (own - times * *sum);
            *sum += p * own;
        }
        before = after;
    }
    true
}

/// An upper bound on how much shorter a step is in the metric of `low` (the inverse of the lower
/// triangle of `Psi + S`) than in that of `Psi`: the square root of the Frobenius norm of `low Psi
/// low'`, which bounds its largest eigenvalue.
fn shrink(low: &[f64], triangle: &[f64], q: usize) -> f64 {
    // low L, lower triangular; then the norm of its product with its own transpose. As in `factor`,
    // independent rows are processed side by side.
    let mut product = vec![0.0; q * q];
    for k in 0..q {
        let other = &triangle[k * q..=k * q + k];
        for (r, row) in (k..q).zip(product[k * q..].chunks_exact_mut(q)) {
            subtract(&mut row[..=k], -low[r * q + k], other);
        }
    }
    mirror(&mut product, q);
    let mut dots = vec![0.0; q * q];
    for c in 0..q {
        let column = &product[c * q..(c + 1) * q];
        for (r, row) in (c..q).zip(dots[c * q..].chunks_exact_mut(q)) {
            subtract(&mut row[c..=r], -column[r], &column[c..=r]);
        }
    }
    let mut squares = 0.0;
    for r in 0..q {
        for (s, dot) in dots[r * q..=r * q + r].iter().enumerate() {
            squares += if r == s { dot * dot } else { 2.0 * dot * dot };
        }
    }
    let norm = squares.sqrt().sqrt() * (1.0 + 1e-9);
    if norm.is_nan() { f64::INFINITY } else { norm }
}

/// Inverts the lower triangle of `a` in place; false when `a` is not positive definite.
fn invert_triangle(a: &mut [f64], q: usize) -> bool {
    if !factor(a, q) {
        return false;
    }
    for k in 0..q {
        a[k * q..k * q + k].fill(0.0);
    }
    for k in 0..q {
        let (above, below) = a.split_at_mut((k + 1) * q);
        let row = &mut above[k * q..];
        let inverse = 1.0 / row[k];
        row[..k].iter_mut().for_each(|v| *v *= inverse);
        row[k] = inverse;
        let (done, column) = row.split_at(k + 1);
        for (times, other) in column.iter().zip(below.chunks_exact_mut(q)) {
            subtract(&mut other[..=k], *times, done);
        }
    }
    for i in 0..q {
        a[i * q + i + 1..(i + 1) * q].fill(0.0);
    }
    true
}

#[cfg(test)]
mod tests;
