//! The transformation f of the paper, eq. (3): from measured values to the features that are
//! clustered.
//!
//! `f` maps `d` measured coordinates to `q` features: positions and velocities to orbital actions
//! (the paper's Example 1), or many covariates to a few by kernel PCA (its Example 2). It may be
//! undefined somewhere: a negative parallax has no distance, and an unbound star has no actions.
//! There `f` returns a [`Rejection`] with a reason, and the point does not become a candidate. A
//! NaN or infinite result is a rejection too.
//!
//! One file each: [`Identity`], [`Pca`], [`KernelPca`], [`from_fn`] for a closure, and [`Beside`]
//! for coordinates that are themselves features.

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
    /// The number of input coordinates, d; `None` if any number is accepted.
    fn inputs(&self) -> Option<usize>;

    /// The number of outputs: q features, followed by any extra values that are carried along.
    fn outputs(&self) -> usize;

    /// The number of trailing outputs that are carried along with a candidate but never clustered,
    /// such as the energy of an orbit: q is `outputs() - extras()`.
    fn extras(&self) -> usize {
        0
    }

    /// Writes the outputs for `z` (d values) into `x`, or returns why there are none.
    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection>;

    /// [`apply`](Self::apply) for each row of `points` (d values per row): returns the verdict on
    /// each and writes its outputs to the same row of `x`.
    ///
    /// Processes rows one by one unless overridden. A transformation that is faster on several
    /// points at once (orbital actions take eight) overrides it. The results must be byte-identical
    /// to those of `apply`.
    fn apply_all(&self, d: usize, points: &[f64], x: &mut [f64]) -> Vec<Result<(), Rejection>> {
        let rows = points.chunks_exact(d).zip(x.chunks_exact_mut(self.outputs()));
        rows.map(|(z, x)| self.apply(z, x)).collect()
    }
}

/// A pointer to a transformation is a transformation.
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

/// Why a point has no features. Points are counted by reason, so a reason should not contain the
/// point's own numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    reason: Cow<'static, str>,
}

impl Rejection {
    /// A rejection for this reason, such as "unbound".
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

/// Applies `f` to each row of `points`, turning every kind of failure into a rejection.
pub(super) fn evaluate<T: Transform + ?Sized>(
    f: &T,
    d: usize,
    points: &[f64],
    x: &mut [f64],
) -> Vec<Result<(), Rejection>> {
    // If a closure leaves a feature unset, it must not keep a stale number.
    x.fill(f64::NAN);
    let mut verdicts = f.apply_all(d, points, x);
    for (verdict, x) in verdicts.iter_mut().zip(x.chunks_exact(f.outputs())) {
        if verdict.is_ok() && !x.iter().all(|v| v.is_finite()) {
            *verdict = Err(Rejection::new("not finite"));
        }
    }
    verdicts
}

/// Why a transformation cannot be constructed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    /// No inputs or no outputs.
    #[error("a transformation needs at least one input and one output")]
    Empty,
    /// Too few points to fit.
    #[error("there are {points} points to fit to; at least 2 are needed")]
    TooFewPoints {
        /// Points given.
        points: usize,
    },
    /// More components requested than the points support.
    #[error("{asked} components were asked for, but the points vary in {available} only")]
    TooManyComponents {
        /// Components requested.
        asked: usize,
        /// Directions with variance.
        available: usize,
    },
    /// An invalid kernel parameter.
    #[error("kernel: {name} {value} {must}")]
    Kernel {
        /// The parameter.
        name: &'static str,
        /// The value found.
        value: f64,
        /// What it must be.
        must: &'static str,
    },
    /// Kernel PCA on too many points for the kernel matrix to fit in memory.
    #[error(
        "kernel PCA needs a matrix of {points} by {points} and takes at most {most} points: fit it to a \
         sample"
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

/// The sign that makes the entry of largest magnitude positive (the first one on ties). An
/// eigenvector is determined only up to its sign; this choice is scikit-learn's.
fn sign_of_largest(vector: impl Iterator<Item = f64>) -> f64 {
    let mut largest = 0.0_f64;
    for value in vector {
        if value.abs() > largest.abs() {
            largest = value;
        }
    }
    if largest < 0.0 { -1.0 } else { 1.0 }
}
