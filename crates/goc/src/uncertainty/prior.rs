//! Priors: what is known about the true values independently of the measurement.
//!
//! The errors describe how likely a measurement is given the truth. If some true values are more
//! likely than others (stars fill a volume, so more of them are far than near; a survey has a
//! limit), candidates should follow the product of the two. They do so if points are taken from the
//! set in proportion to the prior: the sampler draws more points than requested, and stratified
//! resampling keeps the requested number. That is, the points are laid end to end, each as long as
//! its prior density; the total length is cut into equal steps, and one point is picked at a random
//! position within every step. A point that is several steps long is picked about that often. (A
//! single random offset for all steps would resonate with the pattern of low-discrepancy points.)
//! Penalties are unchanged: they still measure the distance from the measured value.

use rand::RngExt;

use super::transform::Rejection;
use crate::Stream;

/// The log of a density of the true values, up to a constant; a rejection where the density is
/// zero.
pub type LnPrior<'a> = Box<dyn Fn(&[f64]) -> Result<f64, Rejection> + Sync + Send + 'a>;

/// Points drawn for each point kept.
pub(super) const DRAWN_FOR_ONE: usize = 16;

/// Why none of an object's points can be kept.
pub(super) enum Nothing {
    /// The prior excludes all of them; the rejection of the first.
    Rejected(Rejection),
    /// The prior is not a density: NaN or infinity at a point.
    NotADensity(f64),
}

/// Selects `m` of the `points` (`d` values each), in proportion to the prior and in their order.
pub(super) fn choose(
    ln_prior: &LnPrior<'_>,
    points: &[f64],
    d: usize,
    m: usize,
    rng: &mut Stream,
) -> Result<Vec<f64>, Nothing> {
    let (mut first, mut ln) = (None, Vec::with_capacity(points.len() / d));
    for z in points.chunks_exact(d) {
        match ln_prior(z) {
            Ok(value) if value.is_nan() || value == f64::INFINITY => {
                return Err(Nothing::NotADensity(value));
            }
            Ok(value) => ln.push(value),
            Err(rejection) => {
                first.get_or_insert(rejection);
                ln.push(f64::NEG_INFINITY);
            }
        }
    }
    let most = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return Err(Nothing::Rejected(first.unwrap_or_else(|| Rejection::new("the prior is zero"))));
    }
    let lengths: Vec<f64> = ln.iter().map(|value| libm::exp(value - most)).collect();
    let step = lengths.iter().sum::<f64>() / m as f64;
    let last = lengths.iter().rposition(|length| *length > 0.0).unwrap_or(0);
    let mut chosen = Vec::with_capacity(m * d);
    let (mut at, mut end) = (0, lengths[0]);
    for stratum in 0..m {
        let place = (stratum as f64 + rng.random::<f64>()) * step;
        // Rounding may place the last position slightly beyond the end.
        while place >= end && at < last {
            at += 1;
            end += lengths[at];
        }
        chosen.extend_from_slice(&points[at * d..][..d]);
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    fn chosen(ln: &[f64], m: usize, seed: u64) -> Vec<f64> {
        let points: Vec<f64> = (0..ln.len()).map(|i| i as f64).collect();
        let prior: LnPrior<'_> = Box::new(|z| Ok(ln[z[0] as usize]));
        choose(&prior, &points, 1, m, &mut stream(seed, 1)).unwrap_or_default()
    }

    #[test]
    fn each_point_comes_as_often_as_its_share_says_give_or_take_two() {
        let weights = [0.0_f64, 1.0, 2.0, 0.0, 5.0, 0.5, 1.5];
        let ln: Vec<f64> = weights.iter().map(|w| w.ln() + 700.0).collect();
        for seed in 0..50 {
            let found = chosen(&ln, 40, seed);
            assert_eq!(found.len(), 40);
            assert!(found.is_sorted());
            for (i, w) in weights.iter().enumerate() {
                let times = found.iter().filter(|z| **z == i as f64).count() as f64;
                assert!(
                    (times - 4.0 * w).abs() < if *w > 0.0 { 2.0 } else { f64::EPSILON },
                    "point {i}: {times} times, weight {w}"
                );
            }
        }
    }

    #[test]
    fn each_point_comes_as_often_as_its_share_says_on_the_mean() {
        let ln: Vec<f64> = (1..=10).map(|i| f64::from(i).ln()).collect();
        let mut times = [0.0; 10];
        for seed in 0..20_000 {
            for z in chosen(&ln, 3, seed) {
                times[z as usize] += 1.0 / 20_000.0;
            }
        }
        for (i, found) in times.iter().enumerate() {
            let expected = 3.0 * (i + 1) as f64 / 55.0;
            assert!((found - expected).abs() < 0.015, "point {i}: {found}, expected {expected}");
        }
    }

    #[test]
    fn a_prior_that_allows_nothing_or_is_no_density_is_said() {
        let mut rng = stream(1, 1);
        let none: LnPrior<'_> = Box::new(|z| Err(Rejection::new(format!("not at {}", z[0]))));
        let Err(Nothing::Rejected(why)) = choose(&none, &[3.0, 4.0], 1, 2, &mut rng) else { panic!() };
        assert_eq!(why.reason(), "not at 3");
        let zero: LnPrior<'_> = Box::new(|_| Ok(f64::NEG_INFINITY));
        let Err(Nothing::Rejected(why)) = choose(&zero, &[3.0], 1, 2, &mut rng) else { panic!() };
        assert_eq!(why.reason(), "the prior is zero");
        let bad: LnPrior<'_> = Box::new(|z| Ok(if z[0] > 3.5 { f64::NAN } else { 0.0 }));
        assert!(
            matches!(choose(&bad, &[3.0, 4.0], 1, 2, &mut rng), Err(Nothing::NotADensity(v)) if v.is_nan())
        );
    }
}
