//! The field in which stars move: composable axisymmetric potentials.
//!
//! A [`Potential`] is a function of the cylindrical radius R and the height z, even in z. There are
//! three kinds:
//! - formulas, one file each: [`Kepler`], [`Plummer`], [`Isochrone`], [`NFW`], [`MiyamotoNagai`],
//!   [`Logarithmic`], [`CutPower`];
//! - the [`Expansion`] of any [`Disc`]s and [`Spheroid`]s: the discs' sharp part as a formula, the
//!   rest by multipoles, all evaluated from one smooth table;
//! - a [`Sum`] of others.
//!
//! [`McMillan17`] and [`MWPotential2014`] are ready-made Milky Ways; [`ini`] reads AGAMA's text format.

mod closed_form;
mod cut_power;
mod direct;
mod disc;
mod expansion;
pub mod ini;
mod isochrone;
mod kepler;
mod legendre;
mod logarithmic;
mod mcmillan17;
mod miyamoto_nagai;
mod multipole;
mod mw2014;
mod nfw;
mod plummer;
mod radial_spline;
mod spheroid;
mod sum;
mod table;

pub use cut_power::CutPower;
pub use disc::{Disc, Layer};
pub use expansion::Expansion;
pub use isochrone::Isochrone;
pub use kepler::Kepler;
pub use logarithmic::Logarithmic;
pub use mcmillan17::{Build, McMillan17};
pub use miyamoto_nagai::MiyamotoNagai;
pub use mw2014::MWPotential2014;
pub use nfw::NFW;
pub use plummer::Plummer;
pub use spheroid::Spheroid;
pub use sum::Sum;

use std::sync::Arc;

use crate::real::{LANES, Lanes};

/// An invalid parameter of a potential.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PotentialError {
    /// A number outside the range that the potential allows.
    #[error("{potential}: {parameter} is {value}, it must be {allowed}")]
    Parameter {
        /// Which potential.
        potential: &'static str,
        /// Which of its parameters.
        parameter: &'static str,
        /// The value given.
        value: f64,
        /// The allowed values.
        allowed: &'static str,
    },
}

/// `value` if it is finite and positive.
fn positive(potential: &'static str, parameter: &'static str, value: f64) -> Result<f64, PotentialError> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(PotentialError::Parameter { potential, parameter, value, allowed: "finite and above 0" })
}

/// Potential and its first derivatives at a point, (km/s)^2 and (km/s)^2/kpc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gradient<T = f64> {
    /// The potential.
    pub phi: T,
    /// Its derivative with respect to R: minus the radial force.
    pub d_r: T,
    /// Its derivative with respect to z: minus the vertical force.
    pub d_z: T,
}

/// Second derivatives of the potential, (km/s)^2/kpc^2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curvature {
    /// Second derivative with respect to R.
    pub d_rr: f64,
    /// Mixed derivative with respect to R and z.
    pub d_rz: f64,
    /// Second derivative with respect to z.
    pub d_zz: f64,
}

/// An axisymmetric potential, even in z; `r` is the cylindrical radius (>= 0), kpc.
///
/// The lane-wise methods give bitwise the same results as the scalar ones; a performance-critical
/// potential overrides them with one pass over all lanes.
pub trait Potential: Send + Sync {
    /// The potential, (km/s)^2. It must vanish at infinity where the potential can.
    fn value(&self, r: f64, z: f64) -> f64;
    /// The potential and its gradient.
    fn gradient(&self, r: f64, z: f64) -> Gradient;
    /// Second derivatives.
    fn curvature(&self, r: f64, z: f64) -> Curvature;
    /// The mass density that generates the potential, Msun/kpc^3.
    fn density(&self, r: f64, z: f64) -> f64;

    /// [`value`](Self::value) for eight points.
    fn values(&self, r: &Lanes, z: &Lanes) -> Lanes {
        Lanes(std::array::from_fn(|l| self.value(r.0[l], z.0[l])))
    }

    /// [`gradient`](Self::gradient) for eight points.
    fn gradients(&self, r: &Lanes, z: &Lanes) -> Gradient<Lanes> {
        let mut out =
            Gradient { phi: Lanes([0.0; LANES]), d_r: Lanes([0.0; LANES]), d_z: Lanes([0.0; LANES]) };
        for l in 0..LANES {
            let one = self.gradient(r.0[l], z.0[l]);
            (out.phi.0[l], out.d_r.0[l], out.d_z.0[l]) = (one.phi, one.d_r, one.d_z);
        }
        out
    }

    /// Speed on a circular orbit in the plane, km/s.
    fn circular_velocity(&self, r: f64) -> f64 {
        (r * self.gradient(r, 0.0).d_r).max(0.0).sqrt()
    }

    /// Frequencies of nearly circular motion at `r`: (kappa, nu, Omega), radians per unit of time.
    ///
    /// kappa^2 = Phi_RR + 3 Phi_R / R, nu^2 = Phi_zz, Omega^2 = Phi_R / R; 0 where a square is negative.
    fn epicycle_frequencies(&self, r: f64) -> (f64, f64, f64) {
        let (slope, c) = (self.gradient(r, 0.0).d_r / r, self.curvature(r, 0.0));
        ((c.d_rr + 3.0 * slope).max(0.0).sqrt(), c.d_zz.max(0.0).sqrt(), slope.max(0.0).sqrt())
    }
}

/// Implements a potential by forwarding to another: `[generics] type, self => the other`.
macro_rules! forward {
    ($([$($generics:tt)*] $type:ty, $self:ident => $inner:expr;)+) => {$(
        impl $($generics)* Potential for $type {
            fn value(&$self, r: f64, z: f64) -> f64 {
                $inner.value(r, z)
            }
            fn gradient(&$self, r: f64, z: f64) -> Gradient {
                $inner.gradient(r, z)
            }
            fn curvature(&$self, r: f64, z: f64) -> Curvature {
                $inner.curvature(r, z)
            }
            fn density(&$self, r: f64, z: f64) -> f64 {
                $inner.density(r, z)
            }
            fn values(&$self, r: &Lanes, z: &Lanes) -> Lanes {
                $inner.values(r, z)
            }
            fn gradients(&$self, r: &Lanes, z: &Lanes) -> Gradient<Lanes> {
                $inner.gradients(r, z)
            }
        }
    )+};
}

forward! {
    [<P: Potential + ?Sized>] &P, self => **self;
    [<P: Potential + ?Sized>] Box<P>, self => **self;
    [<P: Potential + ?Sized>] Arc<P>, self => **self;
    [] McMillan17, self => self.expansion;
    [] MWPotential2014, self => self.sum;
}
