//! Draws of Wishart matrices, and of an index by weight.

use rand::RngExt;
use rand_distr::{Distribution, Gamma, StandardNormal};

use crate::Stream;
pub(super) use crate::matrix::{cholesky, factor, inverse, ln_det, lower_inverse, mirror, subtract};

/// A draw from the Wishart distribution with `df` degrees of freedom (above q - 1) and this scale
/// matrix (Bartlett).
pub(super) fn wishart(df: f64, scale: &[f64], q: usize, rng: &mut Stream) -> Option<Vec<f64>> {
    let l = cholesky(scale, q)?;
    let mut a = vec![0.0; q * q];
    for i in 0..q {
        a[i * q + i] = (2.0 * Gamma::new((df - i as f64) / 2.0, 1.0).ok()?.sample(rng)).sqrt();
        for j in 0..i {
            a[i * q + j] = StandardNormal.sample(rng);
        }
    }
    let mut b = vec![0.0; q * q];
    for i in 0..q {
        for j in 0..=i {
            b[i * q + j] = (j..=i).map(|k| l[i * q + k] * a[k * q + j]).sum();
        }
    }
    let mut draw = vec![0.0; q * q];
    for i in 0..q {
        for j in 0..q {
            draw[i * q + j] = (0..=i.min(j)).map(|k| b[i * q + k] * b[j * q + k]).sum();
        }
    }
    Some(draw)
}

/// Draws an index in proportion to weights that are non-negative and not all zero; their sum is
/// given.
pub(super) fn pick(weights: &[f64], total: f64, rng: &mut Stream) -> usize {
    let mut left = rng.random::<f64>() * total;
    let mut last = 0;
    for (at, &w) in weights.iter().enumerate() {
        if w > 0.0 {
            last = at;
            left -= w;
            if left < 0.0 {
                break;
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    const A: [f64; 9] = [4.0, 2.0, 0.6, 2.0, 5.0, 1.5, 0.6, 1.5, 3.0];

    #[test]
    fn wishart_draws_have_the_mean_and_the_spread_of_the_law() {
        let (rng, draws, df) = (&mut stream(1, 0), 20_000, 7.0);
        let (mut mean, mut square) = ([0.0; 9], [0.0; 9]);
        for _ in 0..draws {
            for (at, v) in wishart(df, &A, 3, rng).unwrap().into_iter().enumerate() {
                mean[at] += v / f64::from(draws);
                square[at] += v * v / f64::from(draws);
            }
        }
        for i in 0..3 {
            for j in 0..3 {
                let at = i * 3 + j;
                let variance = df * (A[at] * A[at] + A[i * 4] * A[j * 4]);
                assert!((mean[at] - df * A[at]).abs() < 4.0 * (variance / f64::from(draws)).sqrt());
                let found = square[at] - mean[at] * mean[at];
                assert!((found / variance - 1.0).abs() < 0.1, "{found} {variance}");
            }
        }
    }

    #[test]
    fn picks_follow_the_weights() {
        let rng = &mut stream(1, 0);
        let mut counts = [0; 4];
        for _ in 0..20_000 {
            counts[pick(&[1.0, 0.0, 3.0, 4.0], 8.0, rng)] += 1;
        }
        assert_eq!(counts[1], 0);
        for (at, want) in [(0, 2500.0), (2, 7500.0), (3, 10_000.0)] {
            assert!((f64::from(counts[at]) - want).abs() < 4.0 * f64::sqrt(want), "{counts:?}");
        }
    }
}
