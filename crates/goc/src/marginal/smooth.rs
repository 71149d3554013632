//! The field's densities: a density estimate of all objects, so smooth that no group shows.
//!
//! The first is a density estimate by normal kernels, one around each object, with the covariance
//! `h^2 C`, where `C` is the robust covariance of the objects and
//!
//! ```text
//! h = (4 / ((q + 2) n))^(1 / (q + 4))
//! ```
//!
//! is the optimal bandwidth if all objects form one normal cloud. With any more structure than that
//! the optimal bandwidth is narrower, so this one oversmooths rather than undersmooths (Terrell
//! 1990), and whatever stands out is a group; [`LEVELS`] sets how much wider the kernels may be.
//! The other densities are normal around the middle with covariances `C` times [`WIDTHS`], for
//! distant outliers and for a plain cloud, which needs no estimate. The last one is the density of
//! an object alone: without it, objects that the kernels miss in many features would become groups
//! of one. An object is left out of its own density estimate.
//!
//! Catalogues have limits: in distance, in velocity, or where a region was cut out. A kernel
//! extends beyond such an edge, where there are no objects, and underestimates the density just
//! inside it, which then looks like groups along the edge. A second set of densities therefore has
//! *edges* at the outermost objects in each feature, ignoring isolated outliers. The part of a
//! kernel beyond an edge is reflected back. The chain draws whether there are edges, together with
//! the kernel width.
//!
//! Many objects are partitioned into at most [`CELLS`] cells of neighbours by repeated halving, and
//! each cell is one kernel whose covariance includes that of its objects. The estimate is as
//! smooth, and the cost per object does not depend on the number of objects.

mod many;

use rayon::prelude::*;

use super::field::Narrowness;
use super::matrix::{cholesky, inverse, ln_det, lower_inverse};
use super::shape::Base;
use super::sums::FieldSums;
use crate::Points;
use crate::objects::Objects;

/// Maximum number of cells.
const CELLS: usize = 256;

/// From this many objects on, what is negligible is not computed ([`many`]).
const MANY: usize = 5000;

/// How much wider than the optimum for one normal cloud the kernels may be. Narrow kernels describe
/// faint groups as field; wide ones leave bumps of the field that look like groups. So the width is
/// drawn. (Five values from 1 to 2 were no better: AMI 0.761 and 0.761 on mocks with a third field
/// stars, seeds 411 to 416, 0.839 and 0.846 on clouds of 2000 with ten groups of ten, 0.654 and
/// 0.634 on realistic skies of 2000 stars.)
pub(super) const LEVELS: [f64; 3] = [1.0, std::f64::consts::SQRT_2, 2.0];

/// The Dirichlet prior of the shares: for all kernels together, and for each plain cloud. It is
/// small, so that the shares follow the objects in the field, not those in groups. (With 30 and 300
/// for all kernels, members of small groups were lost: AMI 0.747, compared with 0.760 here.)
const KERNELS: f64 = 3.0;
const CLOUD: f64 = 1.0;

/// Covariances of the plain clouds, as multiples of the objects' own.
const WIDTHS: [f64; 3] = [1.0, 4.0, 16.0];

/// A normal density: `exp(ln_scale - |low (x - middle)|^2 / 2)`.
#[derive(Clone, Debug)]
pub(super) struct Normal {
    middle: Vec<f64>,
    low: Vec<f64>,
    /// The variance in each feature.
    variances: Vec<f64>,
    ln_scale: f64,
}

impl Normal {
    pub(super) fn new(middle: Vec<f64>, covariance: &[f64]) -> Option<Self> {
        let q = middle.len();
        let l = cholesky(covariance, q)?;
        let ln_scale = -0.5 * (q as f64 * libm::log(2.0 * std::f64::consts::PI) + ln_det(&l, q));
        let variances = (0..q).map(|f| covariance[f * q + f]).collect();
        Some(Self { middle, low: lower_inverse(&l, q), variances, ln_scale })
    }

    pub(super) fn ln_density(&self, x: &[f64]) -> f64 {
        let q = x.len();
        let row = |r: usize| (0..=r).map(|f| self.low[r * q + f] * (x[f] - self.middle[f])).sum::<f64>();
        self.ln_scale - 0.5 * (0..q).map(|r| row(r) * row(r)).sum::<f64>()
    }

    /// The same, but 0 where it is negligible.
    fn density(&self, x: &[f64]) -> f64 {
        let ln_density = self.ln_density(x);
        if ln_density < self.ln_scale - FAR { 0.0 } else { libm::exp(ln_density) }
    }

    /// The factor by which the density at `x` is multiplied when the part beyond edges is reflected
    /// back. An image of `x` behind an edge is given by the feature and the image's position minus
    /// `x`. Features are treated independently: this is exact for one edge, and for several edges
    /// if features are independent.
    fn folded(&self, x: &[f64], images: &[(usize, f64)]) -> f64 {
        let beyond = |&(f, step): &(usize, f64)| {
            let away = step * (x[f] - self.middle[f] + 0.5 * step) / self.variances[f];
            if away > 0.0 && away < NEGLIGIBLE { 1.0 + libm::exp(-away) } else { 1.0 }
        };
        images.iter().map(beyond).product()
    }
}

/// How far below the middle of a kernel, in log density, a density counts as zero; and how much
/// less likely than the position itself, in the logarithm, an image is when it adds nothing.
const FAR: f64 = 60.0;
const NEGLIGIBLE: f64 = 12.0;

/// With more features than this there are no edges, because every object lies near one.
pub(super) const MOST_ENDING: usize = 8;

/// The range of the objects in each feature: the outermost objects, ignoring isolated outliers.
#[derive(Clone, Debug)]
struct Edges {
    low: Vec<f64>,
    high: Vec<f64>,
    /// The distance from an edge within which it matters.
    reach: Vec<f64>,
}

/// An object is isolated if its distance to its inward neighbours is this many times larger than
/// theirs.
const BY_ITSELF: f64 = 4.0;

impl Edges {
    /// Edges of these objects, for kernels with this covariance.
    fn new(places: &Points, kernel: &[f64]) -> Self {
        let q = places.features();
        let mut edges = Self { low: vec![0.0; q], high: vec![0.0; q], reach: vec![0.0; q] };
        for f in 0..q {
            let mut values: Vec<f64> = (0..places.len()).map(|i| places.row(i)[f]).collect();
            values.sort_unstable_by(f64::total_cmp);
            edges.low[f] = end(&values);
            values.iter_mut().for_each(|v| *v = -*v);
            values.reverse();
            edges.high[f] = -end(&values);
            edges.reach[f] = 2.0 * kernel[f * q + f].sqrt();
        }
        edges
    }

    /// The images of `x` behind nearby edges; `None` if `x` is outside.
    fn images(&self, x: &[f64], images: &mut Vec<(usize, f64)>) -> bool {
        images.clear();
        for (f, x) in x.iter().enumerate() {
            for step in [2.0 * (self.low[f] - x), 2.0 * (self.high[f] - x)] {
                if step.abs() < 2.0 * self.reach[f] {
                    images.push((f, step));
                }
            }
        }
        (0..x.len()).all(|f| self.low[f] <= x[f] && x[f] <= self.high[f])
    }
}

/// The lower end of ascending values, ignoring isolated ones.
fn end(values: &[f64]) -> f64 {
    let n = values.len();
    let some = (n / 200).max(3);
    let mut first = 0;
    while first + 2 * some < n / 20 {
        let (near, next) =
            (values[first + some] - values[first], values[first + 2 * some] - values[first + some]);
        if near <= BY_ITSELF * next {
            break;
        }
        first += 1;
    }
    values.get(first).copied().unwrap_or(0.0)
}

/// Neighbours that share one kernel.
#[derive(Clone, Debug)]
struct Cell {
    kernel: Normal,
    count: f64,
    /// The sum of `(x - mean)(x - mean)'`.
    scatter: Vec<f64>,
}

impl Cell {
    fn new(mean: Vec<f64>, scatter: Vec<f64>, count: f64, kernel: &[f64]) -> Option<Self> {
        let spread: Vec<f64> = kernel.iter().zip(&scatter).map(|(k, s)| k + s / count).collect();
        Some(Self { kernel: Normal::new(mean, &spread)?, count, scatter })
    }

    /// The same cell without an object at `x`; `None` if it is the only one.
    fn without(&self, x: &[f64], kernel: &[f64]) -> Option<Self> {
        let (q, left) = (x.len(), self.count - 1.0);
        if left < 0.5 {
            return None;
        }
        let away: Vec<f64> = x.iter().zip(&self.kernel.middle).map(|(x, m)| x - m).collect();
        let mean = self.kernel.middle.iter().zip(&away).map(|(m, a)| m - a / left).collect();
        let times = self.count / left;
        let scatter = (0..q * q).map(|at| self.scatter[at] - times * away[at / q] * away[at % q]).collect();
        Self::new(mean, scatter, left, kernel)
    }
}

/// The densities.
#[derive(Clone, Debug)]
pub(super) struct Smooth {
    cells: Vec<Cell>,
    clouds: Vec<Normal>,
    /// The base density of cluster locations, which applies to an object alone.
    base: Base,
    /// The cell of each object, and its position.
    cell_of: Vec<u32>,
    places: Points,
    /// The covariance of a kernel.
    kernel: Vec<f64>,
    /// The edges at which kernels are reflected.
    edges: Option<Edges>,
    /// The inverse of the objects' covariance, and the kernel width in its units.
    inverse: Vec<f64>,
    bandwidth: f64,
    width: f64,
}

impl Smooth {
    /// From objects at these positions; `None` if they have no extent.
    pub(super) fn new(
        places: &Points,
        middle: &[f64],
        covariance: &[f64],
        base: &Base,
        wider: f64,
        ends: bool,
    ) -> Option<Self> {
        let (n, q) = (places.len(), middle.len());
        let clouds: Option<Vec<Normal>> = WIDTHS
            .iter()
            .map(|width| {
                Normal::new(middle.to_vec(), &covariance.iter().map(|v| v * width).collect::<Vec<_>>())
            })
            .collect();
        let h = wider * bandwidth(n, q);
        let kernel: Vec<f64> = covariance.iter().map(|v| h * h * v).collect();
        let mut order: Vec<u32> = (0..n as u32).collect();
        let mut cell_ends = Vec::new();
        halve(places, &mut order, 0, CELLS, &mut cell_ends);
        let (mut cells, mut cell_of, mut from) = (Vec::with_capacity(cell_ends.len()), vec![0; n], 0);
        for to in cell_ends {
            let own = &order[from..to];
            let count = own.len() as f64;
            let mean: Vec<f64> =
                (0..q).map(|f| own.iter().map(|i| places.row(*i as usize)[f]).sum::<f64>() / count).collect();
            let mut scatter = vec![0.0; q * q];
            for &i in own {
                let x = places.row(i as usize);
                for at in 0..q * q {
                    scatter[at] += (x[at / q] - mean[at / q]) * (x[at % q] - mean[at % q]);
                }
                cell_of[i as usize] = cells.len() as u32;
            }
            cells.push(Cell::new(mean, scatter, count, &kernel)?);
            from = to;
        }
        Some(Self {
            cells,
            clouds: clouds?,
            base: base.clone(),
            cell_of,
            places: places.clone(),
            edges: ends.then(|| Edges::new(places, &kernel)),
            kernel,
            inverse: inverse(covariance, q)?,
            bandwidth: h,
            width: h * ((0..q).map(|f| covariance[f * q + f]).sum::<f64>() / q as f64).sqrt(),
        })
    }

    /// The log prior probability relative to the others. Edges are estimated from the outermost
    /// objects, which are within about `1 / n` of the true ones: each costs `ln n`.
    pub(super) fn ln_prior(&self) -> f64 {
        let edges = self.edges.as_ref().map_or(0, |edges| edges.low.len() + edges.high.len());
        -(edges as f64) * libm::log(self.cell_of.len() as f64)
    }

    /// The number of densities.
    pub(super) fn len(&self) -> usize {
        self.cells.len() + self.clouds.len() + 1
    }

    /// The standard deviation of the kernels, averaged over the features.
    pub(super) fn width(&self) -> f64 {
        self.width
    }

    /// The limit on the width of groups when there is a field.
    pub(super) fn narrowness(&self) -> Narrowness {
        Narrowness::new(self.inverse.clone(), self.bandwidth * self.bandwidth, self.inverse.len().isqrt())
    }

    /// The Dirichlet prior of the shares.
    pub(super) fn prior(&self) -> Vec<f64> {
        let n = self.cell_of.len() as f64;
        let cells = self.cells.iter().map(|cell| KERNELS * cell.count / n);
        cells.chain(std::iter::repeat_n(CLOUD, self.clouds.len() + 1)).collect()
    }

    /// The cell of object `i`, and the cell without that object.
    fn own(&self, i: usize) -> (usize, Option<Cell>) {
        let own = self.cell_of[i] as usize;
        (own, self.cells[own].without(self.places.row(i), &self.kernel))
    }

    /// All densities at `x`; `own` is left out of its cell.
    fn densities(&self, x: &[f64], own: Option<&(usize, Option<Cell>)>, densities: &mut [f64]) {
        for (slot, cell) in densities.iter_mut().zip(&self.cells) {
            *slot = cell.kernel.density(x);
        }
        for (slot, cloud) in densities[self.cells.len()..].iter_mut().zip(&self.clouds) {
            *slot = libm::exp(cloud.ln_density(x));
        }
        if let Some(last) = densities.last_mut() {
            *last = libm::exp(self.base.ln_density(x));
        }
        if let Some((own, left)) = own {
            let part = |left: &Cell| left.count / self.cells[*own].count * left.kernel.density(x);
            densities[*own] = left.as_ref().map_or(0.0, part);
        }
        self.fold(x, own, densities);
    }

    /// Reflects the kernels at the edges, if there are any.
    fn fold(&self, x: &[f64], own: Option<&(usize, Option<Cell>)>, densities: &mut [f64]) {
        let Some(edges) = &self.edges else { return };
        let mut images = Vec::new();
        if !edges.images(x, &mut images) {
            densities[..self.cells.len()].fill(0.0);
        } else if !images.is_empty() {
            for (at, (density, cell)) in densities.iter_mut().zip(&self.cells).enumerate() {
                let kernel = match own {
                    Some((own, Some(left))) if at == *own => &left.kernel,
                    _ => &cell.kernel,
                };
                if *density > 0.0 {
                    *density *= kernel.folded(x, &images);
                }
            }
        }
    }

    /// The density at `x` with these shares.
    pub(super) fn density(&self, x: &[f64], i: Option<usize>, shares: &[f64], spare: &mut Vec<f64>) -> f64 {
        spare.resize(self.len(), 0.0);
        self.densities(x, i.map(|i| self.own(i)).as_ref(), spare);
        spare.iter().zip(shares).map(|(density, share)| density * share).sum()
    }

    /// The same for all candidates of object `i`, whose features are given one after another.
    pub(super) fn all_densities(&self, i: usize, features: &[f64], shares: &[f64], out: &mut Vec<f64>) {
        if self.cell_of.len() >= MANY {
            return many::mixed(self, i, features, shares, out);
        }
        let (q, mut spare) = (self.kernel.len().isqrt(), Vec::new());
        let m = features.len() / q;
        let mut x = vec![0.0; q];
        out.clear();
        for j in 0..m {
            x.iter_mut().enumerate().for_each(|(f, x)| *x = features[f * m + j]);
            out.push(self.density(&x, Some(i), shares, &mut spare));
        }
    }

    /// For every error model and every object, the sums over its candidates of weight times each
    /// density; and the same for `ending`, the same kernels with edges, if given. `weigh` writes the
    /// weights under all error models to the last vector.
    pub(super) fn sums(
        &self,
        ending: Option<&Self>,
        objects: &dyn Objects,
        laws: usize,
        weigh: impl Fn(usize, &mut Vec<f64>, &mut Vec<f64>) + Sync,
    ) -> Vec<Vec<FieldSums>> {
        if objects.objects() >= MANY {
            return many::sums(self, ending, objects, laws, weigh);
        }
        let q = objects.features();
        let kinds = 1 + usize::from(ending.is_some());
        let of = |(values, spare, weights, x): &mut (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>), i: usize| {
            objects.load(i, values);
            weigh(i, spare, weights);
            x.resize(q, 0.0);
            let m = weights.len() / laws;
            let own = self.own(i);
            let mut sums = vec![0.0; kinds * laws * self.len()];
            let mut densities = vec![0.0; kinds * self.len()];
            for j in 0..m {
                x.iter_mut().enumerate().for_each(|(f, x)| *x = values[f * m + j]);
                let (plain, folded) = densities.split_at_mut(self.len());
                self.densities(x, Some(&own), plain);
                if let Some(ending) = ending {
                    folded.copy_from_slice(plain);
                    ending.fold(x, Some(&own), folded);
                }
                for (at, sums) in sums.chunks_exact_mut(self.len()).enumerate() {
                    let weight = weights[at % laws * m + j];
                    let own = &densities[at / laws * self.len()..][..self.len()];
                    sums.iter_mut().zip(own).for_each(|(sum, d)| *sum += weight * d);
                }
            }
            sums
        };
        let rows: Vec<Vec<f64>> =
            (0..objects.objects()).into_par_iter().map_init(Default::default, of).collect();
        let mut all = vec![vec![FieldSums::new(); laws]; kinds];
        for row in rows {
            let parts = row.chunks_exact(self.len());
            all.iter_mut().flatten().zip(parts).for_each(|(sums, part)| sums.push(part, 0.0));
        }
        all
    }
}

/// The optimal bandwidth for `n` objects of one normal cloud in `q` features, in units of its
/// width.
fn bandwidth(n: usize, q: usize) -> f64 {
    let (n, q) = (n as f64, q as f64);
    libm::pow(4.0 / ((q + 2.0) * n), 1.0 / (q + 4.0))
}

/// Orders objects so that cells of neighbours are contiguous, at most `cells` of them, by recursive
/// halving along the widest feature. `ends` receives the end of each cell, counted from `first`.
fn halve(places: &Points, order: &mut [u32], first: usize, cells: usize, ends: &mut Vec<usize>) {
    if cells <= 1 || order.len() <= 1 {
        ends.push(first + order.len());
        return;
    }
    let width = |f: usize| {
        let of = |i: &u32| places.row(*i as usize)[f];
        let most = order.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        most - order.iter().map(of).fold(f64::INFINITY, f64::min)
    };
    let q = places.features();
    let widths: Vec<f64> = (0..q).map(width).collect();
    let widest = (0..q).fold(0, |best, f| if widths[f] > widths[best] { f } else { best });
    let of = |i: &u32| places.row(*i as usize)[widest];
    order.sort_by(|a, b| of(a).total_cmp(&of(b)).then(a.cmp(b)));
    let half = order.len() / 2;
    let (left, right) = order.split_at_mut(half);
    halve(places, left, first, cells / 2, ends);
    halve(places, right, first + half, cells - cells / 2, ends);
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::random::stream;

    /// Objects that fill a box evenly, and one distant outlier.
    fn filled_box() -> Points {
        let rng = &mut stream(1, 0);
        let mut rows: Vec<[f64; 2]> =
            (0..1500).map(|_| [rng.random::<f64>(), 2.0 * rng.random::<f64>()]).collect();
        rows.push([40.0, 1.0]);
        Points::from_rows(&rows).unwrap()
    }

    fn smooth(places: &Points, ends: bool) -> Smooth {
        let base = Base::new(vec![0.5, 1.0], &[0.1, 0.0, 0.0, 0.4]).unwrap();
        Smooth::new(places, &[0.5, 1.0], &[1.0 / 12.0, 0.0, 0.0, 1.0 / 3.0], &base, 1.0, ends).unwrap()
    }

    /// The density of all kernels together.
    fn kernels(of: &Smooth, x: [f64; 2]) -> f64 {
        let n = of.cell_of.len() as f64;
        let mut densities = vec![0.0; of.len()];
        of.densities(&x, None, &mut densities);
        of.cells.iter().zip(&densities).map(|(cell, density)| cell.count / n * density).sum()
    }

    #[test]
    fn a_filled_box_is_as_dense_at_its_edges_as_within() {
        let places = filled_box();
        let (plain, with_edges) = (smooth(&places, false), smooth(&places, true));
        for x in [[0.5, 1.0], [0.01, 1.0], [0.99, 0.4], [0.5, 1.98]] {
            let density = kernels(&with_edges, x);
            assert!((density / 0.5 - 1.0).abs() < 0.25, "{x:?}: {density}");
        }
        assert!(kernels(&plain, [0.01, 1.0]) < 0.35);
        assert_eq!(kernels(&with_edges, [-0.02, 1.0]), 0.0);
        assert!(with_edges.ln_prior() < -4.0 * 7.0 && plain.ln_prior() == 0.0);
    }

    #[test]
    fn with_edges_the_kernels_still_have_the_sum_1() {
        let of = smooth(&filled_box(), true);
        let steps = 200;
        let at = |step: i32| (f64::from(step) + 0.5) / f64::from(steps);
        let all: f64 = (0..steps)
            .flat_map(|a| (0..steps).map(move |b| [at(a), 2.0 * at(b)]))
            .map(|x| kernels(&of, x) * 2.0 / f64::from(steps * steps))
            .sum();
        // The remainder is the mass of the outlier's kernel that lies outside.
        assert!((0.98..1.001).contains(&all), "{all}");
    }

    #[test]
    fn what_lies_by_itself_is_beyond_the_edge() {
        let edges = smooth(&filled_box(), true).edges.unwrap();
        assert!((0.98..1.0).contains(&edges.high[0]) && (0.0..0.02).contains(&edges.low[0]), "{edges:?}");
    }
}
