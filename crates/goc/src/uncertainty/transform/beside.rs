//! Measured values that are themselves features, next to the features from a transformation.
//!
//! A star's metallicity does not change with its orbit: to cluster stars by both, `f` maps
//! (position, proper motion, velocity, metallicity) to (actions, metallicity).

use super::{Rejection, Transform};

/// Transforms the first inputs with another transformation and passes the last inputs through
/// unchanged.
///
/// ```
/// use goc::uncertainty::transform::{Beside, Transform, from_fn};
/// let product = from_fn(1, |z, x| {
///     x[0] = z[0] * z[1];
///     Ok(())
/// });
/// let f = Beside::new(product, 2, 1);
/// let mut x = [0.0; 2];
/// f.apply(&[2.0, 3.0, -1.5], &mut x).unwrap();
/// assert_eq!(x, [6.0, -1.5]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Beside<T> {
    inner: T,
    own: usize,
    more: usize,
}

impl<T: Transform> Beside<T> {
    /// `inner` takes the first `own` inputs; the `more` inputs after them are passed through as
    /// features.
    pub fn new(inner: T, own: usize, more: usize) -> Self {
        Self { inner, own, more }
    }
}

impl<T: Transform> Transform for Beside<T> {
    fn inputs(&self) -> Option<usize> {
        Some(self.own + self.more)
    }

    fn outputs(&self) -> usize {
        self.inner.outputs() + self.more
    }

    fn extras(&self) -> usize {
        self.inner.extras()
    }

    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
        self.apply_all(self.own + self.more, z, x).pop().unwrap_or_else(|| Err(Rejection::new("no point")))
    }

    fn apply_all(&self, d: usize, points: &[f64], x: &mut [f64]) -> Vec<Result<(), Rejection>> {
        if self.more == 0 {
            return self.inner.apply_all(d, points, x);
        }
        let (outputs, extras) = (self.inner.outputs(), self.inner.extras());
        let own: Vec<f64> = points.chunks_exact(d).flat_map(|z| &z[..self.own]).copied().collect();
        let mut given = vec![f64::NAN; points.len() / d * outputs];
        let verdicts = self.inner.apply_all(self.own, &own, &mut given);
        let rows = given.chunks_exact(outputs).zip(points.chunks_exact(d));
        for ((given, z), x) in rows.zip(x.chunks_exact_mut(outputs + self.more)) {
            let (features, carried) = given.split_at(outputs - extras);
            x[..features.len()].copy_from_slice(features);
            x[features.len()..][..self.more].copy_from_slice(&z[self.own..]);
            x[features.len() + self.more..].copy_from_slice(carried);
        }
        verdicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maps two inputs to one feature and one extra value; rejects the third point.
    struct Sum;

    impl Transform for Sum {
        fn inputs(&self) -> Option<usize> {
            Some(2)
        }
        fn outputs(&self) -> usize {
            2
        }
        fn extras(&self) -> usize {
            1
        }
        fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
            if z[0] < 0.0 {
                return Err(Rejection::new("negative"));
            }
            x.copy_from_slice(&[z[0] + z[1], 10.0 * z[0]]);
            Ok(())
        }
    }

    #[test]
    fn what_is_beside_stands_between_features_and_what_is_carried_along() {
        let f = Beside::new(Sum, 2, 2);
        assert_eq!((f.inputs(), f.outputs(), f.extras()), (Some(4), 4, 1));
        let points = [1.0, 2.0, 7.0, 8.0, -1.0, 0.0, 5.0, 6.0, 3.0, 4.0, 9.0, 0.5];
        let mut x = [0.0; 12];
        let verdicts = f.apply_all(4, &points, &mut x);
        assert_eq!(verdicts.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(x[..4], [3.0, 7.0, 8.0, 10.0]);
        assert_eq!(x[8..], [7.0, 9.0, 0.5, 30.0]);
        let plain = Beside::new(Sum, 2, 0);
        let mut x = [0.0; 2];
        assert!(plain.apply(&[1.0, 2.0], &mut x).is_ok() && x == [3.0, 10.0]);
    }
}
