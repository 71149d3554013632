//! Small symmetric matrices, row after row: what covariances of q features need, q a handful.
//!
//! Written out because samplers and EM steps factor one for every object they move; a call into a
//! large library for a 3 x 3 matrix costs more than the arithmetic. Sums run in a fixed order.

/// The lower triangle L with `L L' = a`; none when `a` is not positive definite.
pub(crate) fn cholesky(a: &[f64], q: usize) -> Option<Vec<f64>> {
    let mut l = a.to_vec();
    if !factor(&mut l, q) {
        return None;
    }
    for i in 0..q {
        for j in 0..i {
            l[i * q + j] = l[j * q + i];
            l[j * q + i] = 0.0;
        }
    }
    Some(l)
}

/// Replaces `a`, of which the part below the diagonal counts, by the transpose of its lower triangle L:
/// that stands on and above the diagonal. False when `a` is not positive definite.
///
/// Row after row is taken off all that are left, which are independent of each other and several
/// numbers wide: twice as fast as the schoolbook's three loops in 50 features. Every number is the
/// same sum in the same order as there.
pub(crate) fn factor(a: &mut [f64], q: usize) -> bool {
    mirror(a, q);
    for k in 0..q {
        let (above, below) = a.split_at_mut((k + 1) * q);
        let row = &mut above[k * q..];
        if !(row[k] > 0.0 && row[k].is_finite()) {
            return false;
        }
        let root = row[k].sqrt();
        row[k] = root;
        row[k + 1..].iter_mut().for_each(|v| *v /= root);
        for (i, other) in (k + 1..q).zip(below.chunks_exact_mut(q)) {
            subtract(&mut other[i..], row[i], &row[i..]);
        }
    }
    true
}

/// What is below the diagonal, above it.
pub(crate) fn mirror(a: &mut [f64], q: usize) {
    for i in 0..q {
        for j in 0..i {
            a[j * q + i] = a[i * q + j];
        }
    }
}

/// `row -= times * other`, number by number.
#[inline(always)]
pub(crate) fn subtract(row: &mut [f64], times: f64, other: &[f64]) {
    for (slot, v) in row.iter_mut().zip(other) {
        *slot -= times * v;
    }
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

    /// The three loops that everybody knows.
    fn schoolbook(a: &[f64], q: usize) -> Vec<f64> {
        let mut l = vec![0.0; q * q];
        for i in 0..q {
            for j in 0..=i {
                let sum = (0..j).fold(a[i * q + j], |sum, k| sum - l[i * q + k] * l[j * q + k]);
                l[i * q + j] = if i == j { sum.sqrt() } else { sum / l[j * q + j] };
            }
        }
        l
    }

    #[test]
    fn factors_are_those_of_the_schoolbook_bit_for_bit() {
        for q in [1, 2, 3, 7, 8, 50] {
            let value = |i: usize, j: usize| libm::sin((i * j + i + j) as f64);
            let a: Vec<f64> = (0..q * q)
                .map(|at| value(at / q, at % q) + if at / q == at % q { 2.0 * q as f64 } else { 0.0 })
                .collect();
            let (want, mut found) = (schoolbook(&a, q), a.clone());
            assert!(factor(&mut found, q));
            for i in 0..q {
                for j in 0..=i {
                    assert_eq!(found[j * q + i].to_bits(), want[i * q + j].to_bits(), "{q}: {i} {j}");
                }
            }
            assert_eq!(cholesky(&a, q).unwrap(), want);
        }
    }

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
