//! The transformation f of the paper, eq. (3): from what is measured to the features that are clustered.
//!
//! `f` takes `d` measured coordinates to `q` features: positions and velocities to orbital actions (the paper's Example 1), or
//! many covariates to a few by kernel PCA (its Example 2). It may be undefined somewhere: a negative parallax has no
//! distance, an unbound star no actions. There `f` answers with a [`Rejection`] that says why, and the point
//! does not become a candidate. An answer that is NaN or infinite is a rejection too.
//!
//! One file each: [`Identity`], [`Pca`], [`KernelPca`], [`from_fn`] for a closure, and
//! [`Beside`] where some coordinates are features as they are.

mod beside;
mod closure;
mod identity;
mod kernel_pca;
mod pca;

pub use beside::Beside;
pub use closure::{FromFn, from_fn};
pub use identity::Identity;
pub use kernel_pca::{Kernel, KernelPca};
pub use pca::Pca;

use std::borrow::Cow;
use std::fmt;

/// A function from measured coordinates to features.
///
/// ```
/// use goc::uncertainty::transform::{Rejection, Transform};
///
/// /// Parallax (mas) to distance (kpc).
/// struct Distance;
///
/// impl Transform for Distance {
///     fn inputs(&self) -> Option<usize> {
///         Some(1)
///     }
///     fn outputs(&self) -> usize {
///         1
///     }
///     fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
///         if z[0] <= 0.0 {
///             return Err(Rejection::new("parallax not positive"));
///         }
///         x[0] = 1.0 / z[0];
///         Ok(())
///     }
/// }
/// ```
pub trait Transform: Sync {
    /// Coordinates it takes, d; `None` when it takes any number.
    fn inputs(&self) -> Option<usize>;

    /// Numbers it gives: q features, and behind them what is only carried along.
    fn outputs(&self) -> usize;

    /// So many of the outputs, the last ones, are carried along with a candidate and never clustered, such as
    /// the energy of an orbit: q is `outputs() - extras()`.
    fn extras(&self) -> usize {
        0
    }

    /// Writes the outputs for `z` (d values) into `x`, or says why there are none.
    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection>;

    /// [`apply`](Self::apply) for each row of `points` (d values a row): the verdict on each, its outputs in the same row of `x`.
    ///
    /// One by one unless overridden: a transformation that is faster on several points at once (orbital actions take eight) does so
    /// here. It must give what `apply` gives, to the byte.
    fn apply_all(&self, d: usize, points: &[f64], x: &mut [f64]) -> Vec<Result<(), Rejection>> {
        let rows = points.chunks_exact(d).zip(x.chunks_exact_mut(self.outputs()));
        rows.map(|(z, x)| self.apply(z, x)).collect()
    }
}

/// What points to a transformation is one.
macro_rules! through_pointers {
    ($($type:ty),*) => {$(
        impl<T: Transform + ?Sized> Transform for $type {
            fn inputs(&self) -> Option<usize> {
                (**self).inputs()
            }
            fn outputs(&self) -> usize {
                (**self).outputs()
            }
            fn extras(&self) -> usize {
                (**self).extras()
            }
            fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
                (**self).apply(z, x)
            }
            fn apply_all(&self, d: usize, points: &[f64], x: &mut [f64]) -> Vec<Result<(), Rejection>> {
                (**self).apply_all(d, points, x)
            }
        }
    )*};
}

through_pointers!(&T, Box<T>);

/// Why a point has no features. Points are counted by reason, so a reason should not hold the point's own numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    reason: Cow<'static, str>,
}

impl Rejection {
    /// For this reason, such as "unbound".
    pub fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self { reason: reason.into() }
    }

    /// The reason.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    pub(super) fn into_reason(self) -> Cow<'static, str> {
        self.reason
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// `f` of each row of `points` with every way to have no answer made a rejection.
pub(super) fn evaluate<T: Transform + ?Sized>(
    f: &T,
    d: usize,
    points: &[f64],
    x: &mut [f64],
) -> Vec<Result<(), Rejection>> {
    // A closure that forgets a feature must not leave a number there.
    x.fill(f64::NAN);
    let mut verdicts = f.apply_all(d, points, x);
    for (verdict, x) in verdicts.iter_mut().zip(x.chunks_exact(f.outputs())) {
        if verdict.is_ok() && !x.iter().all(|v| v.is_finite()) {
            *verdict = Err(Rejection::new("not finite"));
        }
    }
    verdicts
}

/// Why a transformation cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    /// No inputs or no outputs.
    #[error("a transformation needs at least one input and one output")]
    Empty,
    /// Nothing to fit to.
    #[error("there are {points} points to fit to; at least 2 are needed")]
    TooFewPoints {
        /// Points given.
        points: usize,
    },
    /// More components than the points have.
    #[error("{asked} components were asked for, but the points vary in {available} only")]
    TooManyComponents {
        /// Components asked for.
        asked: usize,
        /// Directions with variance.
        available: usize,
    },
    /// A parameter of a kernel that makes no kernel.
    #[error("kernel: {name} {value} {must}")]
    Kernel {
        /// The parameter.
        name: &'static str,
        /// The value found.
        value: f64,
        /// What it must be.
        must: &'static str,
    },
    /// Kernel PCA on so many points that their matrix would not fit.
    #[error(
        "kernel PCA keeps a matrix of {points} by {points}; at most {most} points: fit it to a sample of them"
    )]
    TooManyPoints {
        /// Points given.
        points: usize,
        /// Points allowed.
        most: usize,
    },
    /// Kernel values that are not finite.
    #[error(
        "the kernel of points {first} and {second} is not a finite number; scale the points or lower the degree"
    )]
    KernelNotFinite {
        /// One point.
        first: usize,
        /// The other.
        second: usize,
    },
    /// The eigenvalue iteration did not converge.
    #[error("the eigenvalues did not converge; scale the points")]
    NoConvergence,
}

/// The sign that makes the entry of largest magnitude positive (the first of equals): an eigenvector is known up to its
/// sign only, and this choice is scikit-learn's.
fn sign_of_largest(vector: impl Iterator<Item = f64>) -> f64 {
    let mut largest = 0.0_f64;
    for value in vector {
        if value.abs() > largest.abs() {
            largest = value;
        }
    }
    if largest < 0.0 { -1.0 } else { 1.0 }
}
