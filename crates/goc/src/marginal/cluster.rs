//! One cluster: what its members are together, and how well a candidate fits to them.
//!
//! A cluster's covariance is `Sigma ~ inverse Wishart(nu, Psi)`, its members are normal around their mean, and where that mean lies
//! follows the base density `H`, a multivariate t with five degrees of freedom that is wide beside any cluster. With the covariance
//! integrated out, `n` members with mean `m` and scatter `S` have the density
//!
//! ```text
//! M(x_1 .. x_n) = H(m) n^(-q/2) pi^(-(n-1)q/2) Gamma_q((nu+n-1)/2) / Gamma_q(nu/2) |Psi|^(nu/2) / |Psi + S|^((nu+n-1)/2),
//! ```
//!
//! which is that of: draw `Sigma`, draw `n` normal residuals, subtract their mean, add a place drawn from `H`. For one member it is `H(x)`. A
//! further member `x` multiplies it by
//!
//! ```text
//! H(m') / H(m) * t(x; nu + n - q degrees of freedom, m, (Psi + S)(n + 1) / (n (nu + n - q))).
//! ```
//!
//! `nu` is whole, so the power in the t density is a whole or half one and takes multiplications and at most a root: no
//! logarithm in the innermost loop, which runs over eight candidates at a time.

use multiversion::multiversion;

use super::matrix::{cholesky, ln_det, lower_inverse};

/// Degrees of freedom of the base density.
pub(super) const BASE_DF: usize = 5;

/// Candidates that one step of the kernel handles.
const LANES: usize = 8;

/// Where clusters may lie, `H`.
#[derive(Clone, Debug)]
pub(super) struct Base {
    q: usize,
    middle: Vec<f64>,
    /// The inverse of the lower triangle of its scale matrix.
    low: Vec<f64>,
    ln_scale: f64,
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

    pub(super) fn density(&self, x: &[f64]) -> f64 {
        libm::exp(self.ln_scale) / half_power(self.shape(x), BASE_DF + self.q)
    }

    pub(super) fn ln_density(&self, x: &[f64]) -> f64 {
        self.ln_scale - 0.5 * (BASE_DF + self.q) as f64 * libm::log(self.shape(x))
    }
}

/// What all clusters share.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) q: usize,
    /// Degrees of freedom of the covariances; at least q.
    pub(super) nu: usize,
    /// Their scale, `Psi`.
    pub(super) psi: Vec<f64>,
    pub(super) base: Base,
}

/// Members, and the t density of the next one.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) size: usize,
    pub(super) mean: Vec<f64>,
    /// The sum of `(x - mean)(x - mean)'`.
    pub(super) scatter: Vec<f64>,
    /// The inverse of the lower triangle of `Psi + S`.
    low: Vec<f64>,
    /// The constant of the t density, over `H(mean)`'s shape.
    scale: f64,
}

impl Cluster {
    pub(super) fn empty(q: usize) -> Self {
        let (mean, scatter, low) = (vec![0.0; q], vec![0.0; q * q], vec![0.0; q * q]);
        Self { size: 0, mean, scatter, low, scale: 0.0 }
    }

    pub(super) fn add(&mut self, x: &[f64], shape: &Shape) {
        let (q, n) = (shape.q, self.size as f64);
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
        self.refresh(shape);
    }

    /// Takes a member out. Rounding errors do not pile up: the chain makes all clusters anew after every sweep.
    pub(super) fn remove(&mut self, x: &[f64], shape: &Shape) {
        let (q, n) = (shape.q, self.size as f64);
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
        self.refresh(shape);
    }

    /// `Psi + S`.
    pub(super) fn spread(&self, shape: &Shape) -> Vec<f64> {
        shape.psi.iter().zip(&self.scatter).map(|(p, s)| p + s).collect()
    }

    pub(super) fn refresh(&mut self, shape: &Shape) {
        let (q, n) = (shape.q, self.size as f64);
        let spread = self.spread(shape);
        // Subtraction can leave a scatter that is negative by rounding; Psi alone is positive definite.
        let l = cholesky(&spread, q).or_else(|| cholesky(&shape.psi, q)).unwrap_or_else(|| spread.clone());
        self.low = lower_inverse(&l, q);
        let df = shape.nu as f64 + n - q as f64;
        let ln = libm::lgamma((df + q as f64) / 2.0)
            - libm::lgamma(df / 2.0)
            - 0.5 * q as f64 * libm::log(std::f64::consts::PI)
            - 0.5 * ln_det(&l, q)
            + 0.5 * q as f64 * libm::log(n / (n + 1.0));
        self.scale = libm::exp(ln) * half_power(shape.base.shape(&self.mean), BASE_DF + q);
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
            + 0.5 * nu * ln_det_of(&shape.psi)
            - 0.5 * (nu + n - 1.0) * ln_det_of(&self.spread(shape))
    }

    /// What each candidate multiplies the density by, times its own weight, into `out`; returns the sum. `block` has the candidates
    /// feature after feature.
    pub(super) fn weigh(&self, block: &[f64], weights: &[f64], shape: &Shape, out: &mut [f64]) -> f64 {
        let q = shape.q;
        let share = 1.0 / (self.size as f64 + 1.0);
        // The base's triangle acts on the move of the mean, (x - mean) / (n + 1).
        let low_base: Vec<f64> = shape.base.low.iter().map(|v| v * share).collect();
        let mut at_mean = vec![0.0; q];
        for r in 0..q {
            for f in 0..=r {
                at_mean[r] += shape.base.low[r * q + f] * (self.mean[f] - shape.base.middle[f]);
            }
        }
        let kernel = Kernel {
            q,
            mean: &self.mean,
            low: &self.low,
            low_base: &low_base,
            at_mean: &at_mean,
            share: self.size as f64 * share,
            scale: self.scale,
            twice: shape.nu + self.size,
        };
        weigh_all(&kernel, block, weights, out)
    }
}

/// The numbers that the innermost loop reads.
struct Kernel<'a> {
    q: usize,
    mean: &'a [f64],
    low: &'a [f64],
    low_base: &'a [f64],
    at_mean: &'a [f64],
    share: f64,
    scale: f64,
    /// Twice the power of the t density.
    twice: usize,
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn weigh_all(kernel: &Kernel<'_>, block: &[f64], weights: &[f64], out: &mut [f64]) -> f64 {
    // A number of features that the compiler knows lets it unroll; the body is the same.
    match kernel.q {
        1 => weigh_body(kernel, 1, &mut [[0.0; LANES]; 1], block, weights, out),
        2 => weigh_body(kernel, 2, &mut [[0.0; LANES]; 2], block, weights, out),
        3 => weigh_body(kernel, 3, &mut [[0.0; LANES]; 3], block, weights, out),
        4 => weigh_body(kernel, 4, &mut [[0.0; LANES]; 4], block, weights, out),
        q => weigh_body(kernel, q, &mut vec![[0.0; LANES]; q], block, weights, out),
    }
}

#[inline(always)]
fn weigh_body(
    kernel: &Kernel<'_>,
    q: usize,
    d: &mut [[f64; LANES]],
    block: &[f64],
    weights: &[f64],
    out: &mut [f64],
) -> f64 {
    let m = weights.len();
    let mut sum = [0.0; LANES];
    let mut first = 0;
    while first < m {
        let last = (first + LANES).min(m);
        for f in 0..q {
            let column = &block[f * m + first..f * m + last];
            for (slot, x) in d[f].iter_mut().zip(column) {
                *slot = x - kernel.mean[f];
            }
        }
        let (mut quadratic, mut base) = ([0.0; LANES], [0.0; LANES]);
        for r in 0..q {
            let (mut y, mut b) = ([0.0; LANES], [kernel.at_mean[r]; LANES]);
            for f in 0..=r {
                let (l, lb) = (kernel.low[r * q + f], kernel.low_base[r * q + f]);
                for lane in 0..LANES {
                    y[lane] += l * d[f][lane];
                    b[lane] += lb * d[f][lane];
                }
            }
            for lane in 0..LANES {
                quadratic[lane] += y[lane] * y[lane];
                base[lane] += b[lane] * b[lane];
            }
        }
        let density = finish(kernel, quadratic, base, q);
        for (lane, at) in (first..last).enumerate() {
            out[at] = weights[at] * density[lane];
            sum[lane] += out[at];
        }
        first = last;
    }
    sum.iter().sum()
}

/// The t density times the ratio of base densities, of eight candidates.
#[inline(always)]
fn finish(kernel: &Kernel<'_>, quadratic: [f64; LANES], base: [f64; LANES], q: usize) -> [f64; LANES] {
    let df = BASE_DF as f64;
    let t = half_powers(quadratic.map(|v| 1.0 + kernel.share * v), kernel.twice);
    let h = half_powers(base.map(|v| 1.0 + v / df), BASE_DF + q);
    std::array::from_fn(|lane| kernel.scale / (t[lane] * h[lane]))
}

/// `x^(twice / 2)` of each.
#[inline(always)]
fn half_powers(x: [f64; LANES], twice: usize) -> [f64; LANES] {
    let mut result = if twice % 2 == 1 { x.map(f64::sqrt) } else { [1.0; LANES] };
    let (mut square, mut left) = (x, twice / 2);
    while left > 0 {
        if left % 2 == 1 {
            for lane in 0..LANES {
                result[lane] *= square[lane];
            }
        }
        left /= 2;
        if left > 0 {
            square = square.map(|v| v * v);
        }
    }
    result
}

/// `x^(twice / 2)`, by the same multiplications as eight at a time.
fn half_power(x: f64, twice: usize) -> f64 {
    half_powers([x; LANES], twice)[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(q: usize, nu: usize) -> Shape {
        let mut psi = vec![0.1; q * q];
        let mut wide = vec![0.3; q * q];
        for f in 0..q {
            psi[f * q + f] = 0.5 + 0.1 * f as f64;
            wide[f * q + f] = 9.0;
        }
        let base = Base::new((0..q).map(|f| 0.2 * f as f64).collect(), &wide).unwrap();
        Shape { q, nu, psi, base }
    }

    fn point(i: usize, q: usize) -> Vec<f64> {
        (0..q).map(|f| libm::sin((3 * i + f + 1) as f64) * 1.5).collect()
    }

    #[test]
    fn the_next_members_weight_is_the_ratio_of_the_densities() {
        for (q, nu) in [(1, 3), (2, 6), (3, 10), (4, 9), (6, 8)] {
            let shape = shape(q, nu);
            let mut cluster = Cluster::empty(q);
            for i in 0..6 {
                cluster.add(&point(i, q), &shape);
                let before = cluster.ln_density(&shape);
                // Eleven candidates, so that a part of a step is left over.
                let m = 11;
                let mut block = vec![0.0; q * m];
                for j in 0..m {
                    for (f, v) in point(20 + j, q).into_iter().enumerate() {
                        block[f * m + j] = v;
                    }
                }
                let weights: Vec<f64> = (0..m).map(|j| 0.1 + j as f64).collect();
                let mut out = vec![0.0; m];
                let sum = cluster.weigh(&block, &weights, &shape, &mut out);
                assert!((sum - out.iter().sum::<f64>()).abs() < 1e-12 * sum);
                for j in 0..m {
                    let mut larger = cluster.clone();
                    larger.add(&point(20 + j, q), &shape);
                    let want = weights[j] * (larger.ln_density(&shape) - before).exp();
                    assert!((out[j] / want - 1.0).abs() < 1e-10, "q {q}, {i} {j}: {} {want}", out[j]);
                }
            }
        }
    }

    #[test]
    fn one_member_has_the_base_density_and_leaving_undoes_joining() {
        let shape = shape(3, 10);
        let mut cluster = Cluster::empty(3);
        cluster.add(&point(1, 3), &shape);
        assert!((cluster.ln_density(&shape) - shape.base.density(&point(1, 3)).ln()).abs() < 1e-12);
        let before = cluster.clone();
        cluster.add(&point(2, 3), &shape);
        cluster.remove(&point(2, 3), &shape);
        for (a, b) in cluster.low.iter().chain(&cluster.mean).zip(before.low.iter().chain(&before.mean)) {
            assert!((a - b).abs() < 1e-12);
        }
    }

    #[test]
    fn the_density_of_two_members_integrates_to_one() {
        // q = 1: a grid over both members, wide enough for the tails that are left to be below 1e-3.
        let shape = shape(1, 6);
        let (step, half) = (0.5, 240);
        let mut sum = 0.0;
        for a in -half..=half {
            let mut cluster = Cluster::empty(1);
            cluster.add(&[f64::from(a) * step], &shape);
            let first = shape.base.density(&[f64::from(a) * step]);
            let (fine, count) = (0.05, 400);
            let block: Vec<f64> =
                (-count..=count).map(|b| f64::from(a) * step + f64::from(b) * fine).collect();
            let weights = vec![1.0; block.len()];
            sum += first * cluster.weigh(&block, &weights, &shape, &mut vec![0.0; block.len()]) * step * fine;
        }
        assert!((sum - 1.0).abs() < 5e-3, "{sum}");
    }
}
