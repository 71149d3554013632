//! Small symmetric matrices, row after row: what covariances of q features need, q a handful.
//!
//! Written out because the sampler factors one for every object it moves; a call into a large library for a 3 x 3
//! matrix costs more than the arithmetic. Sums run in a fixed order.

use rand::RngExt;
use rand_distr::{Distribution, Gamma, StandardNormal};

use crate::Stream;

/// The lower triangle L with `L L' = a`; none when `a` is not positive definite.
pub(super) fn cholesky(a: &[f64], q: usize) -> Option<Vec<f64>> {
    let mut l = vec![0.0; q * q];
    for i in 0..q {
        for j in 0..=i {
            let mut sum = a[i * q + j];
            for k in 0..j {
                sum -= l[i * q + k] * l[j * q + k];
            }
            if i == j {
                if !(sum > 0.0 && sum.is_finite()) {
                    return None;
                }
                l[i * q + i] = sum.sqrt();
            } else {
                l[i * q + j] = sum / l[j * q + j];
            }
        }
    }
    Some(l)
}

/// The inverse of a lower triangle.
pub(super) fn lower_inverse(l: &[f64], q: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; q * q];
    for i in 0..q {
        inverse[i * q + i] = 1.0 / l[i * q + i];
        for j in 0..i {
            let mut sum = 0.0;
            for k in j..i {
                sum -= l[i * q + k] * inverse[k * q + j];
            }
            inverse[i * q + j] = sum / l[i * q + i];
        }
    }
    inverse
}

/// `ln det(L L')`.
pub(super) fn ln_det(l: &[f64], q: usize) -> f64 {
    2.0 * (0..q).map(|i| libm::log(l[i * q + i])).sum::<f64>()
}

/// The inverse of a positive definite matrix.
pub(super) fn inverse(a: &[f64], q: usize) -> Option<Vec<f64>> {
    let low = lower_inverse(&cholesky(a, q)?, q);
    let mut inverse = vec![0.0; q * q];
    for i in 0..q {
        for j in 0..q {
            inverse[i * q + j] = (i.max(j)..q).map(|k| low[k * q + i] * low[k * q + j]).sum();
        }
    }
    Some(inverse)
}

/// A draw from the Wishart distribution with `df` degrees of freedom (above q - 1) and this scale matrix (Bartlett).
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

/// An index drawn in proportion to weights that are not negative and not all zero; their sum is given.
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
    fn a_matrix_times_its_inverse_is_one() {
        let inverse = inverse(&A, 3).unwrap();
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| A[i * 3 + k] * inverse[k * 3 + j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-14);
            }
        }
        // The determinant by cofactors.
        let det = 4.0 * (15.0 - 2.25) - 2.0 * (6.0 - 0.9) + 0.6 * (3.0 - 3.0);
        assert!((ln_det(&cholesky(&A, 3).unwrap(), 3) - f64::ln(det)).abs() < 1e-14);
        assert_eq!(cholesky(&[1.0, 2.0, 2.0, 1.0], 2), None);
    }

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
