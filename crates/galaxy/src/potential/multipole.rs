//! The potential of any smooth axisymmetric density by multipole expansion.
//!
//! With rho(r, mu) = sum over even l of rho_l(r) P_l(mu), mu = z/r, each term has its own potential
//!
//! Phi_l = -4 pi G / (2l + 1) (I_l + E_l), I_l = r^(-l-1) int_0^r rho_l s^(l+2) ds,
//! E_l = r^l int_r^inf rho_l s^(1-l) ds.
//!
//! The integrals run from node to node of a grid even in ln r, always as ratios of radii, so that no power
//! overflows. At the nodes Phi_l and its slope are exact and its second derivative follows from
//! Poisson's equation: between them a quintic carries all three (twice continuously
//! differentiable). Beyond the grid each term continues as W r^p + U r^l (inside) or W r^p + U
//! r^(-l-1) (outside), the exact solution for a power-law density, with p chosen such that value,
//! slope and second derivative are continuous.

use std::f64::consts::PI;

use super::legendre::{even_polynomials, gauss};
use super::radial_spline::Column;
use crate::real::{LANES, Lanes, Real};

/// A density to expand.
pub(super) trait Source: Sync {
    /// The density at cylindrical radius `r` and height `z` of eight points.
    fn densities(&self, r: &Lanes, z: &Lanes) -> Lanes;
}

/// The resolution of the expansion.
#[derive(Clone, Debug)]
pub(super) struct Resolution {
    /// Highest degree, even.
    pub degree: usize,
    /// Angular nodes, mu in [0, 1], with weights that sum to 1.
    pub angles: Vec<(f64, f64)>,
    /// First and last radius, kpc.
    pub radii: (f64, f64),
    /// Number of radii.
    pub count: usize,
    /// Number of quadrature points between two radii.
    pub between: usize,
    /// How to interpolate between them.
    pub joined: Joined,
}

/// The interpolation between radii.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// Each multipole's own quintic, with the second derivatives of Poisson's equation.
    TermByTerm,
    /// One [spline](super::radial_spline) through the sum, as in AGAMA.
    AsAgama,
}

impl Resolution {
    /// `n` Gauss-Legendre nodes over [-1, 1]; the two halves are symmetric, so only one is kept.
    pub fn angles_whole(n: usize) -> Vec<(f64, f64)> {
        gauss(n)
            .into_iter()
            .filter(|&(x, _)| x >= 0.0)
            .map(|(x, w)| (x, if x == 0.0 { 0.5 * w } else { w }))
            .collect()
    }

    /// `n` nodes with mu = u^2 and Gauss-Legendre nodes for u: concentrated towards the plane,
    /// where discs are thin.
    pub fn angles_to_plane(n: usize) -> Vec<(f64, f64)> {
        let half = |(x, w): (f64, f64)| (0.5 * (x + 1.0), 0.5 * w);
        gauss(n).into_iter().map(half).map(|(u, w)| (u * u, 2.0 * u * w)).collect()
    }
}

/// A density's potential as a sum over multipoles.
#[derive(Clone, Debug)]
pub(super) struct Multipole {
    first: f64,
    step: f64,
    count: usize,
    terms: usize,
    /// Phi_l and its first and second derivatives with respect to ln r, times the step to that
    /// power, for each node.
    nodes: Vec<[f64; 3]>,
    joined: Joined,
    within: Vec<Tail>,
    without: Vec<Tail>,
}

/// A term beyond the grid: w e^(p d) + u e^(q d), d = ln r - ln r of the last node.
#[derive(Clone, Copy, Debug)]
struct Tail {
    w: f64,
    p: f64,
    u: f64,
    q: f64,
}

impl Tail {
    fn at(&self, d: f64) -> [f64; 3] {
        let (w, u) = (self.w * Real::exp(self.p * d), self.u * Real::exp(self.q * d));
        [w + u, self.p * w + self.q * u, self.p * self.p * w + self.q * self.q * u]
    }

    /// The tail that continues `value` and `slope` with the source term 4 pi G rho_l r^2 at the node; `q` is
    /// the exponent of the homogeneous solution that stays bounded, `other` that of the other one.
    fn new(value: f64, slope: f64, source: f64, q: f64, other: f64) -> Self {
        // w (p - q) = slope - q value, w (p - q)(p - other) = source.
        let rest = slope - q * value;
        if rest == 0.0 {
            return Self { w: 0.0, p: q, u: value, q };
        }
        // A multipole that is pure rounding error must not grow: it is bounded inside and vanishes
        // outside.
        let (least, most) = if other < q { (0.01, q + 50.0) } else { (q - 50.0, -0.01) };
        let p = (other + source / rest).clamp(least, most);
        // A density exactly resonant with the homogeneous solution would need a logarithm; this is
        // close enough to it.
        let away = if (p - q).abs() < 1e-4 { 1e-4f64.copysign(p - q) } else { p - q };
        let w = rest / away;
        Self { w, p: q + away, u: value - w, q }
    }
}

impl Multipole {
    /// The potential of `source` with Newton's constant `g`.
    pub fn new(source: &impl Source, g: f64, resolution: &Resolution) -> Self {
        let terms = resolution.degree / 2 + 1;
        let count = resolution.count;
        let first = Real::ln(resolution.radii.0);
        let step = (Real::ln(resolution.radii.1) - first) / (count - 1) as f64;
        let radii: Vec<f64> = (0..count).map(|k| Real::exp(first + step * k as f64)).collect();
        let projection = Projection::new(source, &resolution.angles, terms);

        let rule = gauss(resolution.between);
        let mut rho = vec![0.0; terms];
        // Contributions of the shells to the potentials at their outer and inner edges.
        let (mut inside, mut outside) = (vec![vec![0.0; terms]; count], vec![vec![0.0; terms]; count]);
        for shell in 0..=count {
            for &(x, weight) in &rule {
                let t = 0.5 * (x + 1.0);
                let (s, ds) = if shell == 0 {
                    (radii[0] * t, radii[0])
                } else if shell == count {
                    (radii[count - 1] / t, radii[count - 1] / (t * t))
                } else {
                    let width = radii[shell] - radii[shell - 1];
                    (radii[shell - 1] + width * t, width)
                };
                projection.at(s, &mut rho);
                let common = 0.5 * weight * ds * s;
                if shell < count {
                    let ratio = s / radii[shell];
                    let mut power = ratio;
                    for (sum, &rho) in inside[shell].iter_mut().zip(&rho) {
                        *sum += common * rho * power;
                        power *= ratio * ratio;
                    }
                }
                if shell > 0 {
                    let ratio = radii[shell - 1] / s;
                    let mut power = 1.0;
                    for (sum, &rho) in outside[shell - 1].iter_mut().zip(&rho) {
                        *sum += common * rho * power;
                        power *= ratio * ratio;
                    }
                }
            }
        }
        let ratio = Real::exp(-step);
        for k in 1..count {
            let mut power = ratio;
            for t in 0..terms {
                inside[k][t] += power * inside[k - 1][t];
                power *= ratio * ratio;
            }
        }
        for k in (0..count - 1).rev() {
            let mut power = 1.0;
            for t in 0..terms {
                outside[k][t] += power * outside[k + 1][t];
                power *= ratio * ratio;
            }
        }

        let mut nodes = Vec::with_capacity(count * terms);
        let (mut within, mut without) = (Vec::new(), Vec::new());
        for k in 0..count {
            projection.at(radii[k], &mut rho);
            for t in 0..terms {
                let l = 2.0 * t as f64;
                let factor = -4.0 * PI * g / (2.0 * l + 1.0);
                let (i, e) = (inside[k][t], outside[k][t]);
                let (value, slope) = (factor * (i + e), factor * (l * e - (l + 1.0) * i));
                let source = 4.0 * PI * g * rho[t] * radii[k] * radii[k];
                let second = source + l * (l + 1.0) * value - slope;
                nodes.push([value, slope * step, second * step * step]);
                if k == 0 {
                    within.push(Tail::new(value, slope, source, l, -l - 1.0));
                }
                if k == count - 1 {
                    without.push(Tail::new(value, slope, source, -l - 1.0, l));
                }
            }
        }
        Self { first, step, count, terms, nodes, joined: resolution.joined, within, without }
    }

    /// Number of multipoles.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// ln of the first radius, and the step to the next.
    pub fn radii(&self) -> (f64, f64) {
        (self.first, self.step)
    }

    /// AGAMA's spline along one direction, if that is the interpolation; it is valid where `covers`
    /// is true.
    pub fn column(&self, mu: f64) -> Option<Column> {
        if self.joined == Joined::TermByTerm {
            return None;
        }
        let mut angular = vec![[0.0; 3]; self.terms];
        even_polynomials(mu, &mut angular);
        let at_nodes = self.nodes.chunks(self.terms).map(|terms| {
            let mut sums = [[0.0; 2]; 3];
            // From the small terms to the large ones.
            for (f, p) in terms.iter().zip(&angular).rev() {
                for (sum, p) in sums.iter_mut().zip(p) {
                    sum[0] += f[0] * p;
                    sum[1] += f[1] / self.step * p;
                }
            }
            sums
        });
        Some(Column::new(self, at_nodes))
    }

    /// Whether ln r lies between the first and the last radius.
    pub fn covers(&self, ln_r: f64) -> bool {
        ln_r >= self.first && ln_r <= self.first + self.step * (self.count - 1) as f64
    }

    /// The potential at the centre.
    pub fn centre(&self) -> f64 {
        self.within[0].u
    }

    /// Writes Phi_l and its first and second derivatives with respect to ln r, for each l, into
    /// `out`.
    pub fn profile(&self, ln_r: f64, out: &mut [[f64; 3]]) {
        let x = (ln_r - self.first) / self.step;
        if x < 0.0 {
            for (out, tail) in out.iter_mut().zip(&self.within) {
                *out = tail.at(x * self.step);
            }
            return;
        }
        let last = (self.count - 1) as f64;
        if x > last {
            for (out, tail) in out.iter_mut().zip(&self.without) {
                *out = tail.at((x - last) * self.step);
            }
            return;
        }
        let k = (x as usize).min(self.count - 2);
        let t = x - k as f64;
        let (low, high) = (&self.nodes[k * self.terms..], &self.nodes[(k + 1) * self.terms..]);
        for (n, out) in out.iter_mut().enumerate().take(self.terms) {
            let ([f0, d0, s0], [f1, d1, s1]) = (low[n], high[n]);
            let (rise, turn, bend) = (f1 - f0 - d0 - 0.5 * s0, d1 - d0 - s0, s1 - s0);
            let a3 = 10.0 * rise - 4.0 * turn + 0.5 * bend;
            let a4 = -15.0 * rise + 7.0 * turn - bend;
            let a5 = 6.0 * rise - 3.0 * turn + 0.5 * bend;
            let value = f0 + t * (d0 + t * (0.5 * s0 + t * (a3 + t * (a4 + t * a5))));
            let slope = d0 + t * (s0 + t * (3.0 * a3 + t * (4.0 * a4 + t * 5.0 * a5)));
            let second = s0 + t * (6.0 * a3 + t * (12.0 * a4 + t * 20.0 * a5));
            *out = [value, slope / self.step, second / (self.step * self.step)];
        }
    }

    /// The sum of all multipoles at (ln r, mu): the value and its derivatives
    /// [Phi, Phi_x, Phi_mu, Phi_xx, Phi_xmu, Phi_mumu], x = ln r.
    pub fn sum(&self, ln_r: f64, mu: f64) -> [f64; 6] {
        if self.covers(ln_r)
            && let Some(column) = self.column(mu)
        {
            return column.at(ln_r);
        }
        let (mut radial, mut angular) = (vec![[0.0; 3]; self.terms], vec![[0.0; 3]; self.terms]);
        self.profile(ln_r, &mut radial);
        even_polynomials(mu, &mut angular);
        let mut sum = [0.0; 6];
        // From the small terms to the large ones.
        for (f, p) in radial.iter().zip(&angular).rev() {
            sum[0] += f[0] * p[0];
            sum[1] += f[1] * p[0];
            sum[2] += f[0] * p[1];
            sum[3] += f[2] * p[0];
            sum[4] += f[1] * p[1];
            sum[5] += f[0] * p[2];
        }
        sum
    }
}

/// The multipoles of a density on one sphere.
struct Projection<'a, S> {
    source: &'a S,
    /// Runs of eight angles: sine and cosine of the latitude.
    runs: Vec<(Lanes, Lanes)>,
    /// (2l + 1) P_l times the weight, by run and term; 0 for the padding.
    weights: Vec<Lanes>,
    terms: usize,
}

impl<'a, S: Source> Projection<'a, S> {
    fn new(source: &'a S, angles: &[(f64, f64)], terms: usize) -> Self {
        let (mut runs, mut weights) = (Vec::new(), Vec::new());
        for run in angles.chunks(LANES) {
            let mu = Lanes(std::array::from_fn(|n| run.get(n).map_or(0.5, |a| a.0)));
            runs.push((mu, (-(mu * mu) + 1.0).sqrt()));
            let mut table = vec![Lanes([0.0; LANES]); terms];
            let mut p = vec![[0.0; 3]; terms];
            for (n, &(mu, weight)) in run.iter().enumerate() {
                even_polynomials(mu, &mut p);
                for t in 0..terms {
                    table[t].0[n] = (4 * t + 1) as f64 * weight * p[t][0];
                }
            }
            weights.extend(table);
        }
        Self { source, runs, weights, terms }
    }

    fn at(&self, radius: f64, rho: &mut [f64]) {
        let mut sums = vec![Lanes([0.0; LANES]); self.terms];
        for (&(sin, cos), weights) in self.runs.iter().zip(self.weights.chunks(self.terms)) {
            let density = self.source.densities(&(cos * radius), &(sin * radius));
            for (sum, &weight) in sums.iter_mut().zip(weights) {
                *sum += weight * density;
            }
        }
        for (rho, sum) in rho.iter_mut().zip(&sums) {
            *rho = sum.0.iter().sum();
        }
    }
}
