//! A closure as f: a user-defined transformation without a type of its own.

use super::{Rejection, Transform};

/// A closure with the number of features it gives. Made by [`from_fn`].
#[derive(Clone, Copy, Debug)]
pub struct FromFn<F> {
    outputs: usize,
    apply: F,
}

/// `f` as a transformation to `outputs` features. It receives the coordinates and the features to
/// fill in; if it leaves a feature unset, the point is rejected as "not finite".
///
/// ```
/// use goc::uncertainty::transform::{Rejection, Transform, from_fn};
/// let log = from_fn(1, |z, x| {
///     if z[0] <= 0.0 {
///         return Err(Rejection::new("not positive"));
///     }
///     x[0] = z[0].ln();
///     Ok(())
/// });
/// let mut x = [0.0];
/// assert!(log.apply(&[1.0], &mut x).is_ok());
/// assert_eq!(log.apply(&[-1.0], &mut x).unwrap_err().reason(), "not positive");
/// ```
pub fn from_fn<F>(outputs: usize, f: F) -> FromFn<F>
where
    F: Fn(&[f64], &mut [f64]) -> Result<(), Rejection> + Sync,
{
    FromFn { outputs, apply: f }
}

impl<F> Transform for FromFn<F>
where
    F: Fn(&[f64], &mut [f64]) -> Result<(), Rejection> + Sync,
{
    fn inputs(&self) -> Option<usize> {
        None
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
        (self.apply)(z, x)
    }
}
