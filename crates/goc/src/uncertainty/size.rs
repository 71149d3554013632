//! The size of a set: eq. (1) of the paper, `P(Z in set) >= 1 - eta`.
//!
//! Every set here is `{ |z - zeta| <= rho }` in the norm of its density, in units of the errors.
//! The level sets of a density already have the right shape (eq. 2), so only the number rho
//! remains. It is given directly, or follows from eta as a quantile of `|Z - zeta|`:
//!
//! | set | density | rho for eta |
//! |---|---|---|
//! | box | independent normals | normal quantile of `(1 + (1 - eta)^(1/k)) / 2` |
//! | l1 ball | Laplace | quantile 1 - eta of Gamma(k, 1) |
//! | ball, ellipsoid | normal | square root of the quantile 1 - eta of chi-square with k degrees |
//!
//! where `k` is the number of independent directions that have an error: exact coordinates do not
//! count.

use std::fmt;

use super::SetError;
use super::set::Body;
use statrs::distribution::{ContinuousCDF, Gamma};
use statrs::function::erf::erfc_inv;
use statrs::function::gamma::{gamma_ur, ln_gamma};

/// The size of an uncertainty set.
///
/// ```
/// use goc::uncertainty::Size;
/// let two_sigmas = Size::sigmas(2.0)?;
/// let five_percent = Size::eta(0.05)?;
/// assert!(Size::eta(1.5).is_err());
/// # Ok::<(), goc::uncertainty::SetError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size(Kind);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Sigmas(f64),
    Radius(f64),
    Eta(f64),
}

impl Size {
    /// A multiple of the errors: the half-width of every coordinate is `number` times its error
    /// (its scale, for Laplace errors).
    pub fn sigmas(number: f64) -> Result<Self, SetError> {
        check(number).map(|v| Self(Kind::Sigmas(v)))
    }

    /// An absolute radius: the errors determine only the shape, and the set's widest coordinate
    /// gets this half-width. For a ball this is its radius.
    pub fn radius(radius: f64) -> Result<Self, SetError> {
        check(radius).map(|v| Self(Kind::Radius(v)))
    }

    /// Large enough that the true value lies outside with probability `eta`, from 1e-12 (where the
    /// quantile runs out of digits) to below 1.
    pub fn eta(eta: f64) -> Result<Self, SetError> {
        if (1e-12..1.0).contains(&eta) { Ok(Self(Kind::Eta(eta))) } else { Err(SetError::Eta { value: eta }) }
    }

    /// rho for a set of this body with `k` directions, whose widest coordinate has the half-width
    /// `widest` at rho = 1.
    pub(super) fn rho(self, body: Body, k: usize, widest: f64) -> f64 {
        if k == 0 {
            return 0.0;
        }
        match self.0 {
            Kind::Sigmas(number) => number,
            Kind::Radius(radius) => radius / widest,
            Kind::Eta(eta) => quantile(body, k, eta),
        }
    }
}

/// In the form in which it was given: "sigmas 2".
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Sigmas(number) => write!(f, "sigmas {number}"),
            Kind::Radius(radius) => write!(f, "radius {radius}"),
            Kind::Eta(eta) => write!(f, "eta {eta}"),
        }
    }
}

fn check(value: f64) -> Result<f64, SetError> {
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(SetError::Size { value }) }
}

/// The `1 - eta` quantile of the norm of `k` standard errors; `k >= 1` and `0 < eta < 1`.
fn quantile(body: Body, k: usize, eta: f64) -> f64 {
    match body {
        // 1 - (1 - eta)^(1/k), accurate for small eta: the two-sided tail of each coordinate.
        Body::Cube => std::f64::consts::SQRT_2 * erfc_inv(-((-eta).ln_1p() / k as f64).exp_m1()),
        Body::Cross => gamma_quantile(k as f64, eta),
        // Chi-square with k degrees of freedom is twice a gamma with shape k/2.
        Body::Ball => (2.0 * gamma_quantile(0.5 * k as f64, eta)).sqrt(),
    }
}

/// The value that Gamma(shape, 1) exceeds with probability `eta`.
///
/// The library's quantile is accurate to ten digits. Two Newton steps on the upper tail, which
/// preserves the digits of a small eta, give the rest.
fn gamma_quantile(shape: f64, eta: f64) -> f64 {
    let mut x = Gamma::new(shape, 1.0).map_or(f64::NAN, |law| law.inverse_cdf(1.0 - eta));
    for _ in 0..2 {
        let density = ((shape - 1.0) * x.ln() - x - ln_gamma(shape)).exp();
        x += (gamma_ur(shape, x) - eta) / density;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    // scipy 1.17.1: norm.ppf((1 + (1-eta)**(1/k))/2), gamma.ppf(1-eta, k), chi.ppf(1-eta, k)
    #[test]
    fn quantiles_are_scipys() {
        let expected: [(usize, f64, [f64; 3]); 10] = [
            (1, 0.05, [1.959963984540054, 2.9957322735539913, 1.959963984540055]),
            (2, 0.05, [2.2364766445577917, 4.743864518390579, 2.4477468306808166]),
            (3, 0.05, [2.387737887070816, 6.29579362187199, 2.795483482915107]),
            (6, 0.05, [2.6310382845367792, 10.513034908741535, 3.5484626592010207]),
            (1, 0.32, [0.994457883209753, 1.1394342831883646, 0.9944578832097473]),
            (2, 0.32, [1.3551214210715499, 2.3477111595614955, 1.5095921854516634]),
            (3, 0.32, [1.5521176915949972, 3.504584973475301, 1.8724001590921167]),
            (6, 0.32, [1.8644761556204603, 6.852062638157002, 2.6474837009792154]),
            (6, 1e-06, [5.233126340888405, 25.412626069437227, 6.185332357861595]),
            (50, 0.01, [3.7177732834020882, 67.90336158551338, 8.726619692012063]),
        ];
        for (k, eta, [cube, cross, ball]) in expected {
            for (body, want) in [(Body::Cube, cube), (Body::Cross, cross), (Body::Ball, ball)] {
                let got = quantile(body, k, eta);
                assert!((got - want).abs() <= 1e-12 * want, "{body:?} {k} {eta}: {got} {want}");
            }
        }
    }

    #[test]
    fn sizes_that_are_no_sizes_are_refused() {
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Size::sigmas(bad).is_err() && Size::radius(bad).is_err());
        }
        for bad in [0.0, 1e-13, 1.0, -0.1, f64::NAN] {
            let error = Size::eta(bad).unwrap_err();
            assert_eq!(error.to_string(), format!("eta {bad} must be at least 1e-12 and below 1"));
        }
    }
}
