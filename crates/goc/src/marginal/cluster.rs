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

use std::ops::Range;

use multiversion::multiversion;

use super::blocks::{Group, LANES, Own, squares};
use super::matrix::{cholesky, factor, ln_det, mirror, subtract};
use super::shape::{BASE_DF, Base, Shape};

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

/// The factor by which each candidate of one block multiplies the density of a cluster, times its
/// own weight.
pub(super) fn weigh(cluster: &Cluster, own: Own<'_>, block: usize) -> [f64; LANES] {
    let mut out = [[0.0; LANES]];
    weigh_each(cluster, own, block..block + 1, &mut out);
    out[0]
}

/// The same for all blocks of an object, written to `out`; returns the sum.
pub(super) fn weigh_all(cluster: &Cluster, own: Own<'_>, out: &mut [[f64; LANES]]) -> f64 {
    weigh_each(cluster, own, 0..own.len(), out);
    out[..own.len()].iter().flatten().sum()
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn weigh_each(cluster: &Cluster, own: Own<'_>, of: Range<usize>, out: &mut [[f64; LANES]]) {
    for (block, slot) in of.zip(out) {
        *slot = weigh_block(cluster, own.values(block), own.weights(block));
    }
}

/// Sums of [`weigh`] over blocks, for the listed clusters and blocks of an object.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn weigh_listed(clusters: &[Cluster], own: Own<'_>, listed: &[(u32, u32)], sums: &mut Vec<f64>) {
    for &(k, block) in listed {
        let (values, weights) = (own.values(block as usize), own.weights(block as usize));
        sums.push(weigh_block(&clusters[k as usize], values, weights).iter().sum());
    }
}

/// What each candidate of an object has when alone: the base density times its own weight, one per
/// lane.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn weigh_alone(base: &Base, own: Own<'_>, lanes: &mut Vec<f64>) {
    lanes.clear();
    let (q, scale) = (base.q, libm::exp(base.ln_scale));
    let mut d = vec![[0.0; LANES]; q];
    for block in 0..own.len() {
        for ((d, column), middle) in d.iter_mut().zip(own.values(block).chunks_exact(LANES)).zip(&base.middle)
        {
            *d = std::array::from_fn(|lane| column[lane] - middle);
        }
        let shape = squares(&base.low, &d).map(|sum| 1.0 + sum / BASE_DF as f64);
        let t = half_powers(shape, BASE_DF + q);
        let weights = own.weights(block);
        lanes.extend((0..LANES).map(|lane| weights[lane] * (scale / t[lane])));
    }
}

/// Upper bounds of the sums of [`weigh`] over each block of a group in the listed clusters, each
/// multiplied by the cluster's `join`: eight per cluster, written to `bounds`. The radii of blocks
/// are in the metric of `Psi`. A cluster's own metric is wider, and the more so the more members it
/// has (`shrink`). So no candidate is nearer to the cluster's mean than the centre of the block
/// minus the radius in the cluster's metric, and the base's part of the density is at most its
/// share in `scale`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn bound_all(
    clusters: &[Cluster],
    listed: &[u32],
    join: &[f64],
    group: Group<'_>,
    bounds: &mut Vec<[f64; LANES]>,
) {
    for &k in listed {
        let cluster = &clusters[k as usize];
        let factor = join[cluster.size] * cluster.scale * (1.0 + 1e-9);
        let quadratic = quadratic_of(cluster, group.centres);
        let near: [f64; LANES] = std::array::from_fn(|lane| {
            let least = (quadratic[lane].sqrt() - cluster.shrink * group.radii[lane]).max(0.0);
            1.0 + cluster.share * (least * least)
        });
        let t = half_powers(near, cluster.twice);
        bounds.push(std::array::from_fn(|lane| factor * group.totals[lane] / t[lane]));
    }
}

/// `|L (x - mean)|^2` of eight points.
#[inline(always)]
fn quadratic_of(cluster: &Cluster, values: &[f64]) -> [f64; LANES] {
    // A number of features known at compile time allows unrolling; the body is the same.
    match cluster.mean.len() {
        1 => squares(&cluster.low, &differences::<1>(cluster, values)),
        2 => squares(&cluster.low, &differences::<2>(cluster, values)),
        3 => squares(&cluster.low, &differences::<3>(cluster, values)),
        4 => squares(&cluster.low, &differences::<4>(cluster, values)),
        5 => squares(&cluster.low, &differences::<5>(cluster, values)),
        6 => squares(&cluster.low, &differences::<6>(cluster, values)),
        q => {
            let mut d = vec![[0.0; LANES]; q];
            fill_differences(cluster, values, &mut d);
            squares(&cluster.low, &d)
        }
    }
}

#[inline(always)]
fn weigh_block(cluster: &Cluster, values: &[f64], weights: &[f64]) -> [f64; LANES] {
    match cluster.mean.len() {
        1 => weigh_body(cluster, &differences::<1>(cluster, values), weights),
        2 => weigh_body(cluster, &differences::<2>(cluster, values), weights),
        3 => weigh_body(cluster, &differences::<3>(cluster, values), weights),
        4 => weigh_body(cluster, &differences::<4>(cluster, values), weights),
        5 => weigh_body(cluster, &differences::<5>(cluster, values), weights),
        6 => weigh_body(cluster, &differences::<6>(cluster, values), weights),
        q => {
            let mut d = vec![[0.0; LANES]; q];
            fill_differences(cluster, values, &mut d);
            weigh_body(cluster, &d, weights)
        }
    }
}

#[inline(always)]
fn differences<const Q: usize>(cluster: &Cluster, values: &[f64]) -> [[f64; LANES]; Q] {
    let mut d = [[0.0; LANES]; Q];
    fill_differences(cluster, values, &mut d);
    d
}

#[inline(always)]
fn fill_differences(cluster: &Cluster, values: &[f64], d: &mut [[f64; LANES]]) {
    for ((d, column), mean) in d.iter_mut().zip(values.chunks_exact(LANES)).zip(&cluster.mean) {
        for (slot, x) in d.iter_mut().zip(column) {
            *slot = x - mean;
        }
    }
}

#[inline(always)]
fn weigh_body(cluster: &Cluster, d: &[[f64; LANES]], weights: &[f64]) -> [f64; LANES] {
    let q = d.len();
    let quadratic = squares(&cluster.low, d);
    let mut base = [0.0; LANES];
    for r in 0..q {
        let mut b = [cluster.at_mean[r]; LANES];
        for f in 0..=r {
            let l = cluster.low_base[r * q + f];
            for lane in 0..LANES {
                b[lane] += l * d[f][lane];
            }
        }
        for lane in 0..LANES {
            base[lane] += b[lane] * b[lane];
        }
    }
    let inverse_df = 1.0 / BASE_DF as f64;
    let t = half_powers(quadratic.map(|v| 1.0 + cluster.share * v), cluster.twice);
    let h = half_powers(base.map(|v| 1.0 + v * inverse_df), BASE_DF + q);
    std::array::from_fn(|lane| weights[lane] * cluster.scale / (t[lane] * h[lane]))
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

/// `x^(twice / 2)` of each.
#[inline(always)]
pub(super) fn half_powers(x: [f64; LANES], twice: usize) -> [f64; LANES] {
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

/// `x^(twice / 2)`, by the same multiplications as for eight at a time.
pub(super) fn half_power(x: f64, twice: usize) -> f64 {
    half_powers([x; LANES], twice)[0]
}

#[cfg(test)]
mod tests {
    use super::super::blocks::{Blocks, Extents, KEPT_BYTES, Reader, of_all};
    use super::*;
    use crate::Candidates;
    use crate::candidates::CandidatesBuilder;
    use crate::marginal::matrix::lower_inverse;
    use crate::marginal::shape::Likeness;

    fn shape(q: usize, nu: usize) -> Shape {
        let mut psi = vec![0.1; q * q];
        let mut wide = vec![0.3; q * q];
        for f in 0..q {
            psi[f * q + f] = 0.5 + 0.1 * f as f64;
            wide[f * q + f] = 9.0;
        }
        let base = Base::new((0..q).map(|f| 0.2 * f as f64).collect(), &wide).unwrap();
        Shape::new(&Likeness::new(nu, q, 60), psi, base)
    }

    fn point(i: usize, q: usize) -> Vec<f64> {
        (0..q).map(|f| libm::sin((3 * i + f + 1) as f64) * 1.5).collect()
    }

    #[test]
    fn triangles_are_inverted_and_steps_bounded_as_the_formulas_say_in_many_features() {
        for q in [1, 2, 3, 8, 50] {
            let shape = shape(q, q + 7);
            let mut cluster = Cluster::empty(q);
            (0..4).for_each(|i| cluster.add(&point(i, q), &shape));
            assert_eq!(cluster.shrink, 1.0);
            cluster.sharpen(&shape);
            let triangle = cholesky(&cluster.spread(&shape), q).unwrap();
            let at = |a: &[f64], i: usize, j: usize| a[i * q + j];
            let mut norm = 0.0;
            for i in 0..q {
                for j in 0..q {
                    let one: f64 = (0..q).map(|k| at(&cluster.low, i, k) * at(&triangle, k, j)).sum();
                    assert!((one - f64::from(u8::from(i == j))).abs() < 1e-12, "{q}: {i} {j}: {one}");
                    // low Psi low', element by element.
                    let metric: f64 = (0..q)
                        .map(|k| {
                            let row: f64 =
                                (0..q).map(|l| at(&cluster.low, i, l) * at(&shape.psi, l, k)).sum();
                            row * at(&cluster.low, j, k)
                        })
                        .sum();
                    norm += metric * metric;
                }
            }
            let want = norm.sqrt().sqrt().min(1.0);
            assert!((cluster.shrink / want - 1.0).abs() < 1e-8, "{q}: {} {want}", cluster.shrink);
        }
    }

    #[test]
    fn members_that_come_and_go_in_many_features_leave_what_is_made_anew() {
        for q in [MANY_FEATURES - 1, MANY_FEATURES, 50] {
            let shape = shape(q, q + 7);
            let mut cluster = Cluster::empty(q);
            let same = |cluster: &Cluster, within: f64| {
                let mut anew = cluster.clone();
                anew.refresh(&shape);
                for (a, b) in cluster.low.iter().zip(&anew.low) {
                    assert!((a - b).abs() < within, "{q}, {} members: {a} {b}", cluster.size);
                }
                assert!((cluster.scale / anew.scale - 1.0).abs() < within);
            };
            for i in 0..12 {
                cluster.add(&point(i, q), &shape);
                same(&cluster, 1e-11);
            }
            for i in [3, 0, 11, 5, 6, 1, 2, 4, 10, 7, 9] {
                cluster.remove(&point(i, q), &shape);
                same(&cluster, 1e-11);
            }
            assert_eq!(cluster.size, 1);
            // One outlying member that leaves: a recomputed matrix of such numbers has fewer digits
            // itself.
            let far: Vec<f64> = point(20, q).iter().map(|v| v * 1e3).collect();
            cluster.add(&point(3, q), &shape);
            cluster.add(&point(4, q), &shape);
            cluster.add(&far, &shape);
            same(&cluster, 1e-6);
            cluster.remove(&far, &shape);
            same(&cluster, 1e-6);
        }
    }

    #[test]
    fn the_next_members_weight_is_the_ratio_of_the_densities() {
        for (q, nu) in [(1, 3), (2, 6), (3, 10), (4, 9), (6, 8), (17, 21)] {
            let shape = shape(q, nu);
            let mut cluster = Cluster::empty(q);
            for i in 0..6 {
                cluster.add(&point(i, q), &shape);
                let before = cluster.ln_density(&shape);
                // Eleven candidates, so that the last block is not full.
                let m = 11;
                let rows: Vec<f64> = (0..m).flat_map(|j| point(20 + j, q)).collect();
                let weights: Vec<f64> = (0..m).map(|j| 0.1 + j as f64).collect();
                let (candidates, mut reader) = (one_object(&rows, q), Reader::default());
                let blocks = Blocks::new(&candidates, 1, of_all(&candidates, &weights), KEPT_BYTES);
                reader.load(&blocks, 0);
                let own = reader.own(&blocks, 0);
                let (mut out, mut by_block) = (vec![0.0; m], vec![[0.0; LANES]; 2]);
                let sum = weigh_all(&cluster, own, &mut by_block);
                for (block, values) in by_block.iter().enumerate() {
                    for (lane, v) in values.iter().enumerate() {
                        out[blocks.candidate(0, (block * LANES + lane) as u32) as usize] += v;
                    }
                    assert_eq!(*values, weigh(&cluster, own, block));
                }
                assert!((sum - out.iter().sum::<f64>()).abs() < 1e-12 * sum);
                let mut sums = Vec::new();
                weigh_listed(&[cluster.clone()], own, &[(0, 0), (0, 1)], &mut sums);
                assert!((sum - sums[0] - sums[1]).abs() < 1e-12 * sum);
                for j in 0..m {
                    let mut larger = cluster.clone();
                    larger.add(&point(20 + j, q), &shape);
                    let want = weights[j] * (larger.ln_density(&shape) - before).exp();
                    assert!((out[j] / want - 1.0).abs() < 1e-10, "q {q}, {i} {j}: {} {want}", out[j]);
                }
            }
        }
    }

    fn one_object(rows: &[f64], q: usize) -> Candidates {
        let mut builder = CandidatesBuilder::new(q);
        builder.push(rows, &[]).unwrap();
        builder.build().unwrap()
    }

    #[test]
    fn no_run_weighs_more_than_its_bound() {
        for (q, nu, members) in [(1, 3, 3), (3, 10, 3), (6, 8, 3), (1, 3, 40), (3, 10, 40), (6, 8, 40)] {
            let shape = shape(q, nu);
            let rows: Vec<f64> = (0..101)
                .flat_map(|j| (0..q).map(move |f| j as f64 * 0.1 - 5.0 + libm::sin((j + f) as f64) * 0.01))
                .collect();
            let weights: Vec<f64> = (0..101).map(|j| 1.0 + f64::from(j % 7)).collect();
            let (candidates, mut reader) = (one_object(&rows, q), Reader::default());
            let blocks = Blocks::new(&candidates, 1, of_all(&candidates, &weights), KEPT_BYTES);
            let low = lower_inverse(&cholesky(&shape.psi, q).unwrap(), q);
            reader.load(&blocks, 0);
            let own = reader.own(&blocks, 0);
            let mut extents = Extents::default();
            extents.measure(own, &low);
            let mut clusters = vec![Cluster::empty(q); 3];
            for i in 0..3 * members {
                let place: Vec<f64> = point(i, q).iter().map(|v| v + 3.0 * (i % 3) as f64).collect();
                clusters[i % 3].add(&place, &shape);
            }
            clusters.iter_mut().for_each(|cluster| cluster.sharpen(&shape));
            let join: Vec<f64> = (0..=members).map(|n| (n as f64).sqrt()).collect();
            let mut bounds = [Vec::new(), Vec::new()];
            for (group, bounds) in extents.groups().zip(&mut bounds) {
                bound_all(&clusters, &[0, 1, 2], &join, group, bounds);
                assert_eq!(bounds.len(), 3);
            }
            for (k, cluster) in clusters.iter().enumerate() {
                for slot in 0..2 * LANES {
                    let bound = bounds[slot / LANES][k][slot % LANES];
                    if slot >= 13 {
                        assert_eq!(bound, 0.0);
                        continue;
                    }
                    let sum: f64 = join[members] * weigh(cluster, own, slot).iter().sum::<f64>();
                    assert!(bound >= sum, "{bound} {sum}");
                    // In one dimension a block is short and the bound is tight.
                    assert!(q > 1 || bound < 100.0 * sum, "{bound} {sum}");
                }
            }
        }
    }

    #[test]
    fn what_candidates_have_alone_is_the_base_density_times_their_weights_bit_for_bit() {
        for q in [1, 3, 6] {
            let shape = shape(q, q + 7);
            let rows: Vec<f64> = (0..11).flat_map(|j| point(j, q)).collect();
            let weights: Vec<f64> = (0..11).map(|j| 0.1 + f64::from(j)).collect();
            let (candidates, mut reader) = (one_object(&rows, q), Reader::default());
            let blocks = Blocks::new(&candidates, 1, of_all(&candidates, &weights), KEPT_BYTES);
            reader.load(&blocks, 0);
            let (mut lanes, mut sorted) = (Vec::new(), Vec::new());
            weigh_alone(&shape.base, reader.own(&blocks, 0), &mut lanes);
            blocks.in_order(0, &lanes, &mut sorted);
            let want: Vec<f64> = (0..11).map(|j| weights[j] * shape.base.density(&point(j, q))).collect();
            assert_eq!(sorted, want);
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
        // q = 1: a grid over both members, wide enough for the neglected tails to be below 1e-3.
        let shape = shape(1, 6);
        let (step, half) = (0.5, 240);
        let mut sum = 0.0;
        for a in -half..=half {
            let mut cluster = Cluster::empty(1);
            cluster.add(&[f64::from(a) * step], &shape);
            let first = shape.base.density(&[f64::from(a) * step]);
            let (fine, count) = (0.05, 400);
            let rows: Vec<f64> =
                (-count..=count).map(|b| f64::from(a) * step + f64::from(b) * fine).collect();
            let (candidates, weights) = (one_object(&rows, 1), vec![1.0; rows.len()]);
            let blocks = Blocks::new(&candidates, 1, of_all(&candidates, &weights), KEPT_BYTES);
            let (mut reader, mut out) = (Reader::default(), vec![[0.0; LANES]; blocks.count(0)]);
            reader.load(&blocks, 0);
            sum += first * weigh_all(&cluster, reader.own(&blocks, 0), &mut out) * step * fine;
        }
        assert!((sum - 1.0).abs() < 5e-3, "{sum}");
    }
}
