//! Builds the covariance of a measured vector from Gaia's columns.
//!
//! Gaia gives five errors (ra, dec, parallax, pmra, pmdec) and ten correlations. With the position
//! taken as exact, what remains is the parallax, pmra and pmdec with three correlations a, b, c,
//! and the radial velocity, which is measured independently:
//!
//! ```text
//! Sigma = diag(errors) | 1 a b 0 | diag(errors)      a = parallax_pmra_corr
//!                      | a 1 c 0 |                   b = parallax_pmdec_corr
//!                      | b c 1 0 |                   c = pmra_pmdec_corr
//!                      | 0 0 0 1 |
//! ```
//!
//! in mas, mas/yr and km/s. Rounded or edited correlations can be inconsistent: given a and b, c
//! must lie within ab -+ sqrt((1 - a^2)(1 - b^2)). Such a star is refused, with an error that names
//! the column furthest out of range. Optionally, the correlations are
//! [shrunk](WhenIndefinite::Shrink) instead: all three are multiplied by the largest number for
//! which the matrix is positive definite. That is the root of the determinant, 1 - t^2 (a^2 + b^2 +
//! c^2) + 2 t^3 abc, which decreases from t = 0 to t = 1 (its derivative 2t (3abc t
//! - a^2 - b^2 - c^2) is never positive there, by the AM-GM inequality).

use goc::uncertainty::{Covariance, SetError};

/// The columns of the errors.
const ERRORS: [&str; 4] = ["parallax_error", "pmra_error", "pmdec_error", "radial_velocity_error"];

/// The columns of the correlations and the errors they belong to.
const CORRELATIONS: [(&str, usize, usize); 3] =
    [("parallax_pmra_corr", 0, 1), ("parallax_pmdec_corr", 0, 2), ("pmra_pmdec_corr", 1, 2)];

/// Margin by which a shrunk matrix is kept away from the singular one.
const MARGIN: f64 = 1e-6;

/// What to do with inconsistent correlations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenIndefinite {
    /// An error that names the column.
    #[default]
    Refuse,
    /// Multiply all three by the largest number that makes the matrix positive definite, and report
    /// it.
    Shrink,
}

/// The covariance of (parallax, pmra, pmdec, radial velocity); also of (parallax, pml, pmb, radial
/// velocity) or with a distance in place of the parallax, if the errors and correlations refer to
/// these.
///
/// ```
/// use goc_galaxy::catalogue::{GaiaCovariance, WhenIndefinite};
/// let good = GaiaCovariance::new([0.02, 0.03, 0.025, 1.0]).correlations([0.1, -0.3, 0.2]).build()?;
/// assert_eq!(good.shrunk_by(), None);
///
/// let contradiction = GaiaCovariance::new([0.02, 0.03, 0.025, 1.0]).correlations([0.9, 0.9, -0.9]);
/// assert!(contradiction.build().is_err());
/// let mended = contradiction.when_indefinite(WhenIndefinite::Shrink).build()?;
/// assert!((mended.shrunk_by().unwrap() - 0.5 / 0.9).abs() < 1e-6);
/// # Ok::<(), goc_galaxy::catalogue::GaiaCovarianceError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GaiaCovariance {
    matrix: [[f64; 4]; 4],
    shrunk_by: Option<f64>,
}

/// Errors and correlations, not yet checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaiaCovarianceBuilder {
    errors: [f64; 4],
    correlations: [f64; 3],
    when_indefinite: WhenIndefinite,
}

impl GaiaCovariance {
    /// From the errors of parallax (mas), pmra, pmdec (mas/yr) and radial velocity (km/s); an error
    /// of 0 means an exact value.
    #[allow(clippy::new_ret_no_self)] // the correlations come next
    pub fn new(errors: [f64; 4]) -> GaiaCovarianceBuilder {
        GaiaCovarianceBuilder { errors, correlations: [0.0; 3], when_indefinite: WhenIndefinite::Refuse }
    }

    /// The matrix, in the order and units of the errors.
    pub fn matrix(&self) -> [[f64; 4]; 4] {
        self.matrix
    }

    /// The factor applied to the correlations, if they had to be shrunk.
    pub fn shrunk_by(&self) -> Option<f64> {
        self.shrunk_by
    }

    /// The covariance of the measured vector, for an uncertainty set.
    pub fn measured(&self) -> Result<Covariance, SetError> {
        Covariance::new(self.matrix.as_flattened(), 4)
    }

    /// The covariance of a row of a [`Catalogue`](super::Catalogue): the exact position, then the
    /// measured vector.
    pub fn with_exact_position(&self) -> Result<Covariance, SetError> {
        let mut row = [[0.0; 6]; 6];
        for i in 0..4 {
            row[i + 2][2..].copy_from_slice(&self.matrix[i]);
        }
        Covariance::new(row.as_flattened(), 6)
    }
}

impl GaiaCovarianceBuilder {
    /// The columns `parallax_pmra_corr`, `parallax_pmdec_corr`, `pmra_pmdec_corr`.
    pub fn correlations(mut self, correlations: [f64; 3]) -> Self {
        self.correlations = correlations;
        self
    }

    /// What to do if they are inconsistent.
    pub fn when_indefinite(mut self, what: WhenIndefinite) -> Self {
        self.when_indefinite = what;
        self
    }

    /// Checks everything.
    pub fn build(&self) -> Result<GaiaCovariance, GaiaCovarianceError> {
        for (column, value) in ERRORS.into_iter().zip(self.errors) {
            if !value.is_finite() {
                return Err(GaiaCovarianceError::NotFinite { column, value });
            }
            if value < 0.0 {
                return Err(GaiaCovarianceError::NegativeError { column, value });
            }
        }
        let mut correlations = self.correlations;
        for ((column, i, j), value) in CORRELATIONS.into_iter().zip(&mut correlations) {
            if !value.is_finite() {
                return Err(GaiaCovarianceError::NotFinite { column, value: *value });
            }
            if value.abs() > 1.0 {
                return Err(GaiaCovarianceError::Correlation { column, value: *value });
            }
            // Nothing can be correlated with an exact value.
            if self.errors[i] == 0.0 || self.errors[j] == 0.0 {
                *value = 0.0;
            }
        }
        let whole = self.with(correlations, None);
        match whole.measured() {
            Ok(_) => return Ok(whole),
            Err(SetError::NotPositive { .. }) => {}
            Err(error) => return Err(GaiaCovarianceError::Covariance(error)),
        }
        if self.when_indefinite == WhenIndefinite::Refuse {
            return Err(contradiction(correlations));
        }
        let factor = largest_definite(correlations) * (1.0 - MARGIN);
        let shrunk = self.with(correlations.map(|c| c * factor), Some(factor));
        shrunk.measured()?;
        Ok(shrunk)
    }

    fn with(&self, correlations: [f64; 3], shrunk_by: Option<f64>) -> GaiaCovariance {
        let mut matrix = [[0.0; 4]; 4];
        for i in 0..4 {
            matrix[i][i] = self.errors[i] * self.errors[i];
        }
        for ((_, i, j), correlation) in CORRELATIONS.into_iter().zip(correlations) {
            let covariance = correlation * (self.errors[i] * self.errors[j]);
            (matrix[i][j], matrix[j][i]) = (covariance, covariance);
        }
        GaiaCovariance { matrix, shrunk_by }
    }
}

/// The range in which each correlation must lie, given the other two; names the one furthest out of
/// range.
fn contradiction(correlations: [f64; 3]) -> GaiaCovarianceError {
    let mut worst = (f64::NEG_INFINITY, 0, 0.0, 0.0);
    for at in 0..3 {
        let (p, q) = (correlations[(at + 1) % 3], correlations[(at + 2) % 3]);
        let half_width = ((1.0 - p * p) * (1.0 - q * q)).sqrt();
        let (low, high) = (p * q - half_width, p * q + half_width);
        let out = (low - correlations[at]).max(correlations[at] - high);
        if out > worst.0 {
            worst = (out, at, low, high);
        }
    }
    let (_, at, low, high) = worst;
    let others = [(at + 1) % 3, (at + 2) % 3].map(|other| (CORRELATIONS[other].0, correlations[other]));
    GaiaCovarianceError::Contradiction {
        column: CORRELATIONS[at].0,
        value: correlations[at],
        low,
        high,
        first: others[0].0,
        first_value: others[0].1,
        second: others[1].0,
        second_value: others[1].1,
    }
}

/// The root of the determinant between 0 and 1, by bisection, which is reproducible bit for bit on
/// every machine.
fn largest_definite([a, b, c]: [f64; 3]) -> f64 {
    let determinant = |t: f64| 1.0 - t * t * (a * a + b * b + c * c) + 2.0 * t * t * t * (a * b * c);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if determinant(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// What is wrong with a star's errors and correlations.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GaiaCovarianceError {
    /// NaN or infinity.
    #[error("`{column}`: {value} is not a finite number")]
    NotFinite {
        /// The column.
        column: &'static str,
        /// The value found.
        value: f64,
    },
    /// An error below zero.
    #[error("`{column}`: {value} is negative; use 0 for an exact value")]
    NegativeError {
        /// The column.
        column: &'static str,
        /// The value found.
        value: f64,
    },
    /// Not a correlation.
    #[error("`{column}`: {value} is not a correlation, which is at least -1 and at most 1")]
    Correlation {
        /// The column.
        column: &'static str,
        /// The value found.
        value: f64,
    },
    /// Correlations that are inconsistent.
    #[error(
        "`{column}`: {value} contradicts `{first}` {first_value} and `{second}` {second_value}, with which it \
         must be within {low:.6} and {high:.6}; check them, or shrink them"
    )]
    Contradiction {
        /// The column furthest out of range.
        column: &'static str,
        /// Its value.
        value: f64,
        /// The least it may be, given the others.
        low: f64,
        /// The most it may be.
        high: f64,
        /// Another column.
        first: &'static str,
        /// Its value.
        first_value: f64,
        /// The third column.
        second: &'static str,
        /// Its value.
        second_value: f64,
    },
    /// Something else that a covariance cannot be.
    #[error(transparent)]
    Covariance(#[from] SetError),
}
