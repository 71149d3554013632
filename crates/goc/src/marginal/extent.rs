//! The extent of the objects: where clusters may lie, and how wide the field is expected to be.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::MarginalError;
use super::matrix::{cholesky, lower_inverse};
use super::shape::Base;
use crate::Points;
use crate::objects::Objects;
use crate::scale::median;

/// Maximum number of fixed-point iterations in [`Extent::robust`], and the change at which they
/// stop.
const ROUNDS: usize = 100;
const SETTLED: f64 = 1e-6;

/// Objects per feature below which the robust estimate has too few.
const ENOUGH: usize = 10;

/// The largest absolute log base density at which densities of narrow groups and of distant
/// outliers are still finite numbers. Scaled features are near 0.
const LARGEST_LN_DENSITY: f64 = 400.0;

/// The medians of the objects' candidates, and their summary.
pub(super) struct Extent {
    medians: Points,
    /// The median of the medians.
    pub(super) middle: Vec<f64>,
    /// Their covariance.
    pub(super) covariance: Vec<f64>,
}

impl Extent {
    pub(super) fn of(objects: &dyn Objects) -> Self {
        let (n, q) = (objects.objects(), objects.features());
        let (mut rows, mut values) = (Vec::with_capacity(n * q), Vec::new());
        for i in 0..n {
            objects.load(i, &mut values);
            rows.extend(values.chunks_exact(objects.count(i)).map(|column| median(column.to_vec())));
        }
        let medians = Points::trusted(rows, q);
        let column = |f: usize| (0..n).map(|i| medians.row(i)[f]).collect::<Vec<f64>>();
        let middle: Vec<f64> = (0..q).map(|f| median(column(f))).collect();
        let means: Vec<f64> = (0..q).map(|f| column(f).iter().sum::<f64>() / n as f64).collect();
        let mut covariance = vec![0.0; q * q];
        for a in 0..q {
            for b in 0..q {
                let product = |i: usize| (medians.row(i)[a] - means[a]) * (medians.row(i)[b] - means[b]);
                covariance[a * q + b] = (0..n).map(product).sum::<f64>() / (n.max(2) - 1) as f64;
            }
        }
        // A small isotropic term, so that few objects, or objects in a plane, have a density too.
        let total: f64 = (0..q).map(|f| covariance[f * q + f]).sum::<f64>() / q as f64;
        for f in 0..q {
            covariance[f * q + f] += if total > 0.0 { 1e-6 * total } else { 1.0 };
        }
        Self { medians, middle, covariance }
    }

    /// The base density of cluster locations: around the middle, as wide as the objects.
    pub(super) fn base(&self) -> Result<Base, MarginalError> {
        let base = Base::new(self.middle.clone(), &self.covariance).ok_or(MarginalError::Flat)?;
        if base.ln_scale.abs() > LARGEST_LN_DENSITY { Err(MarginalError::Unit) } else { Ok(base) }
    }

    /// A covariance that is robust to outliers: Tyler's (1987) for the shape, with a size such that
    /// half of the objects are as near as half of a normal cloud would be. Falls back to the plain
    /// covariance where there are too few objects.
    pub(super) fn robust(&self) -> Vec<f64> {
        self.tyler().unwrap_or_else(|| self.covariance.clone())
    }

    fn tyler(&self) -> Option<Vec<f64>> {
        let (n, q) = (self.medians.len(), self.middle.len());
        if n < ENOUGH * q {
            return None;
        }
        let away: Vec<Vec<f64>> = (0..n)
            .map(|i| self.medians.row(i).iter().zip(&self.middle).map(|(x, m)| x - m).collect())
            .collect();
        let distances = |v: &[f64]| -> Option<Vec<f64>> {
            let low = lower_inverse(&cholesky(v, q)?, q);
            let row = |x: &[f64], r: usize| (0..=r).map(|f| low[r * q + f] * x[f]).sum::<f64>();
            Some(away.iter().map(|x| (0..q).map(|r| row(x, r) * row(x, r)).sum()).collect())
        };
        let trace = |m: &[f64]| (0..q).map(|f| m[f * q + f]).sum::<f64>();
        let mut v = self.covariance.clone();
        for _ in 0..ROUNDS {
            let mut next = vec![0.0; q * q];
            for (x, d) in away.iter().zip(distances(&v)?).filter(|(_, d)| *d > 0.0) {
                for (at, slot) in next.iter_mut().enumerate() {
                    *slot += x[at / q] * x[at % q] / d;
                }
            }
            let times = trace(&v) / trace(&next);
            next.iter_mut().for_each(|m| *m *= times);
            let change = next.iter().zip(&v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let settled = change < SETTLED * trace(&v);
            v = next;
            if settled {
                break;
            }
        }
        let half = ChiSquared::new(q as f64).ok()?.inverse_cdf(0.5);
        let times = median(distances(&v)?) / half;
        v.iter_mut().for_each(|m| *m *= times);
        (times > 0.0 && cholesky(&v, q).is_some()).then_some(v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Candidates;
    use crate::random::stream;
    use rand_distr::{Distribution, StandardNormal};

    fn cloud(n: usize, outliers: usize) -> Candidates {
        let rng = &mut stream(4, 0);
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        let mut rows: Vec<[f64; 2]> = Vec::new();
        for i in 0..n + outliers {
            let (a, b) = (normal(), normal());
            rows.push(if i < n { [3.0 * a, a + b] } else { [500.0 + a, -300.0 * b] });
        }
        Candidates::from_points(&Points::from_rows(&rows).unwrap()).unwrap()
    }

    #[test]
    fn outliers_do_not_pull_the_robust_covariance() {
        let want = [9.0, 3.0, 3.0, 2.0];
        for outliers in [0, 200] {
            let found = Extent::of(&cloud(4000, outliers)).robust();
            for (v, want) in found.iter().zip(want) {
                assert!((v / want - 1.0).abs() < 0.25, "{outliers}: {found:?}");
            }
        }
        assert!(Extent::of(&cloud(4000, 200)).covariance[0] > 1000.0);
    }

    #[test]
    fn it_turns_and_stretches_with_the_objects() {
        let plain = cloud(300, 20);
        let turned: Vec<[f64; 2]> =
            (0..320).map(|i| plain.means().row(i).to_vec()).map(|x| [2.0 * x[0], 5.0 * x[1]]).collect();
        let turned = Candidates::from_points(&Points::from_rows(&turned).unwrap()).unwrap();
        let (a, b) = (Extent::of(&plain).robust(), Extent::of(&turned).robust());
        for (at, times) in [4.0, 10.0, 10.0, 25.0].into_iter().enumerate() {
            assert!((b[at] / a[at] / times - 1.0).abs() < 1e-3, "{a:?} {b:?}");
        }
    }

    #[test]
    fn few_objects_have_their_plain_covariance() {
        let extent = Extent::of(&cloud(15, 0));
        assert_eq!(extent.robust(), extent.covariance);
    }
}
