//! Coordinates that were not measured, such as the radial velocity of most stars in Gaia.
//!
//! Such a coordinate is known only through a prior, so the set is long in that direction. A hundred
//! independent draws from a wide prior leave gaps in which a narrow group may lie. The `m` points
//! therefore take one value from each of `m` strata of equal probability, in random order: every
//! single value follows the prior, and gaps are never wider than two strata.
//!
//! # Heavy tails
//! The error model is learned from the distances between the drawn and the measured values
//! ([`Sampler::Tails`]). An unmeasured value carries no information on errors, and the prior must
//! not become wider where errors are larger. So the error of the coordinate is drawn like any
//! other, counts in the penalty like any other, and is then discarded: the value used comes from
//! the prior. The weights `law(p) / drawn(p)` thus stay the same as for a fully measured object,
//! and summed over the discarded error they are those of the other coordinates alone.

use super::set::Density;
use super::{Object, Sampler};
use crate::Stream;
use rand::RngExt;
use statrs::function::erf::erfc_inv;

/// Redraws the unmeasured coordinates of an object's points from their prior. Returns the original
/// points, from which penalties may have to be computed.
pub(super) fn draw(
    object: &Object,
    sampler: Sampler,
    points: &mut [f64],
    rng: &mut Stream,
) -> Option<Vec<f64>> {
    let set = object.set();
    let follows = matches!(sampler, Sampler::Density | Sampler::Tails) && set.density() == Density::Normal;
    if object.unmeasured.is_empty() || !follows {
        return None;
    }
    let before = (sampler == Sampler::Tails).then(|| points.to_vec());
    let d = set.dimension();
    let m = points.len() / d;
    let mut order: Vec<usize> = (0..m).collect();
    for &coordinate in &object.unmeasured {
        let (centre, error) = (set.centre()[coordinate], set.error(coordinate));
        for last in (1..m).rev() {
            order.swap(last, rng.random_range(0..=last));
        }
        for (z, stretch) in points.chunks_exact_mut(d).zip(&order) {
            z[coordinate] = centre + error * normal_within(*stretch, m, rng);
        }
    }
    before
}

/// A standard normal value within one of `m` strata of equal probability.
fn normal_within(stretch: usize, m: usize, rng: &mut Stream) -> f64 {
    // Not at the very start of the first, which is minus infinity.
    let below = (stretch as f64 + rng.random::<f64>().max(1e-9)) / m as f64;
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use crate::uncertainty::transform::Identity;
    use crate::uncertainty::{Covariance, Penalty, Propagation, Size, UncertaintySet};

    /// The second of three coordinates was not measured: 10 +- 100.
    fn object(times: usize) -> Object {
        let sigma = Covariance::new(&[1.0, 0.0, 0.5, 0.0, 1e4, 0.0, 0.5, 0.0, 4.0], 3).unwrap();
        let set = UncertaintySet::ellipsoid(&[1.0, 10.0, 5.0], sigma, Size::sigmas(2.0).unwrap()).unwrap();
        Object::new(3, set).unmeasured(vec![1], times)
    }

    #[test]
    fn every_stretch_of_the_prior_has_one_candidate_whatever_the_errors_do() {
        for sampler in [Sampler::Density, Sampler::Tails] {
            let how = Propagation::new(Identity::new(3)).sampler(sampler).draws(50);
            let (made, report) = how.propagate(&[object(4)]).unwrap();
            assert_eq!((made.count(0), report.drawn()), (200, 200));
            let mut values: Vec<f64> = (0..200).map(|j| made.candidate(0, j)[1]).collect();
            values.sort_by(f64::total_cmp);
            for (j, value) in values.iter().enumerate() {
                // The normal quantiles at both ends of the stratum.
                let end = |share: f64| 10.0 - 100.0 * std::f64::consts::SQRT_2 * erfc_inv(2.0 * share);
                let ends = (end(j as f64 / 200.0), end((j + 1) as f64 / 200.0));
                assert!(ends.0 <= *value && *value <= ends.1, "{sampler:?} {j}: {value}, {ends:?}");
            }
        }
    }

    #[test]
    fn the_other_coordinates_are_drawn_as_ever() {
        let how = |object: Object| {
            let how = Propagation::new(Identity::new(3)).sampler(Sampler::Tails).penalty(Penalty::Surprise);
            how.draws(40).propagate(&[object]).unwrap().0
        };
        let (own, plain) = (how(object(1)), how(Object::new(3, object(1).set().clone())));
        for j in 0..40 {
            let (a, b) = (own.candidate(0, j), plain.candidate(0, j));
            assert_eq!((a[0], a[2], own.penalty(0, j)), (b[0], b[2], plain.penalty(0, j)));
            assert_ne!(a[1], b[1]);
        }
    }

    #[test]
    fn the_mean_and_width_of_the_values_are_those_of_the_prior() {
        let mut rng = stream(1, 1);
        let m = 1000;
        let values: Vec<f64> = (0..m).map(|stretch| normal_within(stretch, m, &mut rng)).collect();
        let mean = values.iter().sum::<f64>() / m as f64;
        let square = values.iter().map(|v| v * v).sum::<f64>() / m as f64;
        assert!(mean.abs() < 0.003 && (square - 1.0).abs() < 0.02, "{mean} {square}");
    }
}
