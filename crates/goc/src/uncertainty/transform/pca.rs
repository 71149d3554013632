//! Principal components: the directions in which the observed values vary most.
//!
//! Fitted once, to the measured values of all objects; the same directions then take every candidate, so that all
//! objects share one feature space. The directions are the right singular vectors of the centred values; the variance along
//! one is the squared singular value over n - 1. A direction's sign is fixed by its largest entry, which is positive.
//!
//! The same points give the same bits at any number of threads; between processors with different vector units the last digits may
//! differ, because the linear algebra underneath uses them.

use super::{Rejection, Transform, TransformError, sign_of_largest};
use crate::Points;
use faer::Mat;

/// `f(z) = V^T (z - mean)`, with the first `q` principal directions as columns of `V`.
///
/// ```
/// use goc::Points;
/// use goc::uncertainty::transform::{Pca, Transform};
/// let points = Points::new(vec![0.0, 0.0, 1.0, 2.0, 2.0, 4.0], 2)?;
/// let pca = Pca::fit(&points, 1)?;
/// let mut x = [0.0];
/// pca.apply(&[2.0, 4.0], &mut x).unwrap();
/// assert!((x[0] - 5.0_f64.sqrt()).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pca {
    mean: Vec<f64>,
    /// Row after row, a row a component.
    components: Vec<f64>,
    variances: Vec<f64>,
}

impl Pca {
    /// The first `components` directions of `points`.
    pub fn fit(points: &Points, components: usize) -> Result<Self, TransformError> {
        let (n, d) = (points.len(), points.features());
        if components == 0 {
            return Err(TransformError::Empty);
        }
        if n < 2 {
            return Err(TransformError::TooFewPoints { points: n });
        }
        let mean: Vec<f64> =
            (0..d).map(|c| points.rows().map(|row| row[c]).sum::<f64>() / n as f64).collect();
        let centred = Mat::from_fn(n, d, |i, c| points.row(i)[c] - mean[c]);
        let svd = centred.thin_svd().map_err(|_| TransformError::NoConvergence)?;
        let singular = svd.S().column_vector();
        let nothing = singular[0] * f64::EPSILON * n.max(d) as f64;
        let available = (0..singular.nrows()).filter(|&k| singular[k] > nothing).count();
        if components > available {
            return Err(TransformError::TooManyComponents { asked: components, available });
        }
        let mut rows = Vec::with_capacity(components * d);
        for k in 0..components {
            let direction = svd.V().col(k);
            let sign = sign_of_largest(direction.iter().copied());
            rows.extend(direction.iter().map(|v| sign * v));
        }
        let variances = (0..components).map(|k| singular[k] * singular[k] / (n - 1) as f64).collect();
        Ok(Self { mean, components: rows, variances })
    }

    /// The mean of the points it was fitted to.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// One direction, of length 1.
    pub fn component(&self, k: usize) -> &[f64] {
        &self.components[k * self.mean.len()..(k + 1) * self.mean.len()]
    }

    /// The variance (n - 1) along each direction, largest first.
    pub fn variances(&self) -> &[f64] {
        &self.variances
    }
}

impl Transform for Pca {
    fn inputs(&self) -> Option<usize> {
        Some(self.mean.len())
    }

    fn outputs(&self) -> usize {
        self.variances.len()
    }

    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
        for (k, slot) in x.iter_mut().enumerate() {
            *slot = self.component(k).iter().zip(z).zip(&self.mean).map(|((v, z), m)| v * (z - m)).sum();
        }
        Ok(())
    }
}
