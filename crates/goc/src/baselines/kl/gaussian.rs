//! The divergence of Gaussians, in closed form.
//!
//! With means `mu`, covariances `S` and precisions `P = S^-1`, the log determinants cancel between
//! the two directions, and
//!
//! `J(i, j) = 1/2 [tr((P_i - P_j)(S_j - S_i)) + (mu_i - mu_j)' (P_i + P_j) (mu_i - mu_j)]`.
//!
//! In this form the divergence of equal Gaussians is exactly 0, and no two large traces are
//! subtracted.

use super::moments;
use crate::Candidates;
use rayon::prelude::*;

struct Gaussian {
    mean: Vec<f64>,
    covariance: Vec<f64>,
    precision: Vec<f64>,
}

/// `J` of every `i < j`, in row-major order; or the first object whose covariance is not positive
/// definite.
pub(super) fn divergences(candidates: &Candidates, share: f64, common: &[f64]) -> Result<Vec<f64>, usize> {
    let n = candidates.objects();
    let fitted: Vec<Option<Gaussian>> =
        (0..n).into_par_iter().map(|i| fit(candidates, i, share, common)).collect();
    let mut gaussians = Vec::with_capacity(n);
    for (i, gaussian) in fitted.into_iter().enumerate() {
        gaussians.push(gaussian.ok_or(i)?);
    }
    let rows: Vec<Vec<f64>> = (0..n)
        .into_par_iter()
        .map(|i| gaussians[i + 1..].iter().map(|other| divergence(&gaussians[i], other)).collect())
        .collect();
    Ok(rows.concat())
}

fn fit(candidates: &Candidates, i: usize, share: f64, common: &[f64]) -> Option<Gaussian> {
    let (q, m) = (common.len(), candidates.count(i));
    let mean: Vec<f64> = (0..q).map(|f| moments(candidates.feature(i, f)).0).collect();
    let mut covariance = vec![0.0; q * q];
    for f in 0..q {
        for g in 0..=f {
            let (x, y) = (candidates.feature(i, f), candidates.feature(i, g));
            let sum: f64 = x.iter().zip(y).map(|(x, y)| (x - mean[f]) * (y - mean[g])).sum();
            let own = (1.0 - share) * sum / (m.max(2) - 1) as f64;
            let value = if f == g { own + share * common[f] } else { own };
            covariance[f * q + g] = value;
            covariance[g * q + f] = value;
        }
    }
    let precision = inverse(&covariance, q)?;
    Some(Gaussian { mean, covariance, precision })
}

/// The inverse of a positive definite matrix by its Cholesky factor; `None` if the matrix is not
/// positive definite.
fn inverse(matrix: &[f64], q: usize) -> Option<Vec<f64>> {
    let mut factor = vec![0.0; q * q];
    for f in 0..q {
        for g in 0..=f {
            let known: f64 = (0..g).map(|h| factor[f * q + h] * factor[g * q + h]).sum();
            let rest = matrix[f * q + g] - known;
            if f != g {
                factor[f * q + g] = rest / factor[g * q + g];
            } else if rest > 4.0 * f64::EPSILON * matrix[f * q + f] && rest.is_finite() {
                factor[f * q + f] = rest.sqrt();
            } else {
                return None;
            }
        }
    }
    // Columns of the factor's inverse, which is lower triangular too.
    let mut root = vec![0.0; q * q];
    for g in 0..q {
        for f in g..q {
            let known: f64 = (g..f).map(|h| factor[f * q + h] * root[h * q + g]).sum();
            root[f * q + g] = (if f == g { 1.0 } else { 0.0 } - known) / factor[f * q + f];
        }
    }
    let entry = |f: usize, g: usize| (f.max(g)..q).map(|h| root[h * q + f] * root[h * q + g]).sum();
    Some((0..q * q).map(|at| entry(at / q, at % q)).collect())
}

fn divergence(a: &Gaussian, b: &Gaussian) -> f64 {
    let q = a.mean.len();
    let (mut shapes, mut places) = (0.0, 0.0);
    for f in 0..q {
        let mut row = 0.0;
        for g in 0..q {
            let at = f * q + g;
            shapes += (a.precision[at] - b.precision[at]) * (b.covariance[at] - a.covariance[at]);
            row += (a.precision[at] + b.precision[at]) * (a.mean[g] - b.mean[g]);
        }
        places += (a.mean[f] - b.mean[f]) * row;
    }
    // Either part can be negative only through rounding; NaN is passed on for the caller to reject.
    let at_least_zero = |v: f64| if v < 0.0 { 0.0 } else { v };
    0.5 * (at_least_zero(shapes) + at_least_zero(places))
}
