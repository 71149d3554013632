//! Small symmetric matrices, row after row: what covariances of q features need, q a handful.
//!
//! Written out because samplers and EM steps factor one for every object they move; a call into a large library for a 3 x 3 matrix costs more
//! than the arithmetic. Sums run in a fixed order.

/// The lower triangle L with `L L' = a`; none when `a` is not positive definite.
pub(crate) fn cholesky(a: &[f64], q: usize) -> Option<Vec<f64>> {
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
pub(crate) fn lower_inverse(l: &[f64], q: usize) -> Vec<f64> {
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
pub(crate) fn ln_det(l: &[f64], q: usize) -> f64 {
    2.0 * (0..q).map(|i| libm::log(l[i * q + i])).sum::<f64>()
}

/// The inverse of a positive definite matrix.
pub(crate) fn inverse(a: &[f64], q: usize) -> Option<Vec<f64>> {
    let low = lower_inverse(&cholesky(a, q)?, q);
    let mut inverse = vec![0.0; q * q];
    for i in 0..q {
        for j in 0..q {
            inverse[i * q + j] = (i.max(j)..q).map(|k| low[k * q + i] * low[k * q + j]).sum();
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
