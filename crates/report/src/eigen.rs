//! Eigenvectors of a small symmetric matrix, by Jacobi's rotations (Golub & Van Loan, *Matrix Computations*, section 8.5).
//!
//! Only sums, products and square roots in a fixed order, so that a picture has the same bytes on every machine, which a
//! linear algebra library tuned to the processor does not promise. For q features a few q^3.

/// Eigenvalues, in no order, and the vectors as columns.
pub(crate) fn eigen(mut a: Vec<f64>, q: usize) -> (Vec<f64>, Vec<f64>) {
    let mut v: Vec<f64> = (0..q * q).map(|at| f64::from(u8::from(at / q == at % q))).collect();
    // Convergence is quadratic: a handful of sweeps is enough for any matrix of full precision.
    for _ in 0..60 {
        let off: f64 =
            (0..q).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i * q + j].powi(2)).sum();
        let all: f64 = (0..q).map(|i| a[i * q + i].powi(2)).sum();
        if off <= all * 1e-30 {
            break;
        }
        for i in 0..q {
            for j in i + 1..q {
                if a[i * q + j] == 0.0 {
                    continue;
                }
                let theta = (a[j * q + j] - a[i * q + i]) / (2.0 * a[i * q + j]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..q {
                    let (x, y) = (a[k * q + i], a[k * q + j]);
                    (a[k * q + i], a[k * q + j]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..q {
                    let (x, y) = (a[i * q + k], a[j * q + k]);
                    (a[i * q + k], a[j * q + k]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (v[k * q + i], v[k * q + j]);
                    (v[k * q + i], v[k * q + j]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    ((0..q).map(|i| a[i * q + i]).collect(), v)
}
