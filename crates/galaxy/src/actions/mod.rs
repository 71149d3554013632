//! Actions: the transformation f of the paper's Example 1, from position and velocity to (Jr, Jz,
//! Jphi).
//!
//! Actions are integrals of motion: a star keeps them while it orbits the Galaxy for ten billion
//! years, so stars accreted with one dwarf galaxy share them long after they have spread over the
//! sky. They are computed with the Stäckel fudge (Binney 2012), as `fudge.rs` explains, with a
//! focal distance for each energy and Lz taken from a table of [shell orbits](FocalDistances).
//!
//! The method has three [variants](Variant): `converged`, with a fine table and converged
//! integrals; `authors`, which reproduces the paper's tables; and `agama`, which reproduces a
//! current AGAMA (Vasiliev 2019). They differ by about 1e-4 in the median; the method's own error
//! is 1 or 2 % in Jr and Jz for halo stars, 0.3 % for disc stars (against orbits whose actions are
//! known), so the choice matters only for comparisons.
//!
//! ```
//! use std::sync::Arc;
//! use goc_galaxy::actions::{ActionFinder, Outcome, Variant};
//! use goc_galaxy::frames::Galactocentric;
//! use goc_galaxy::potential::Isochrone;
//!
//! let sphere = Isochrone::new(1e11, 2.0)?;
//! let finder = ActionFinder::new(Arc::new(sphere), Variant::Converged)?;
//! let star = Galactocentric { position: [-8.0, 0.0, 1.0], velocity: [30.0, 150.0, 20.0] };
//! let Outcome::Bound(actions) = finder.actions(&star) else { panic!("bound") };
//! assert_eq!(actions.jphi, -8.0 * 150.0);
//!
//! // In a sphere the vertical action is what the tilt takes from the whole angular momentum.
//! let [lx, ly, lz] = star.angular_momentum();
//! assert!((actions.jz - ((lx * lx + ly * ly + lz * lz).sqrt() - lz.abs())).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod angles;
mod circular;
mod energy_nodes;
mod finder;
mod focal;
mod fudge;
mod lockstep;
mod quadrature;
mod shell;
mod solve;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

pub use angles::Motion;
pub use finder::ActionFinder;
pub use focal::FocalDistances;

use crate::frames::JphiSign;
use crate::potential::Build;

/// The actions of a bound star, kpc km/s, and its energy, (km/s)^2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Actions {
    /// Radial action: 0 for a circular or shell orbit.
    pub jr: f64,
    /// Vertical action: 0 for an orbit in the plane.
    pub jz: f64,
    /// Azimuthal action, the angular momentum x vy - y vx: negative for the disc, as in the paper's tables.
    pub jphi: f64,
    /// Kinetic and potential energy per mass; below 0.
    pub energy: f64,
}

impl Actions {
    /// The same with the sign convention `sign` for Jphi.
    pub fn with_sign(self, sign: JphiSign) -> Self {
        Self { jphi: sign.of(self.jphi), ..self }
    }
}

/// The extent of a bound star's orbit, from the turning points of the Stäckel fudge (Mackereth &
/// Bovy 2018).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Kinetic and potential energy per mass, (km/s)^2; below 0.
    pub energy: f64,
    /// The angular momentum x vy - y vx, kpc km/s: negative for the disc.
    pub lz: f64,
    /// Lz over that of the circular orbit of the same energy, from -1 to 1, with the sign of Lz.
    pub circularity: f64,
    /// The least distance from the centre, kpc.
    pub pericentre: f64,
    /// The largest, kpc.
    pub apocentre: f64,
    /// The largest height above the plane, kpc.
    pub z_max: f64,
}

impl Extent {
    /// (apocentre - pericentre) / (apocentre + pericentre), from 0 to 1.
    pub fn eccentricity(&self) -> f64 {
        let sum = self.apocentre + self.pericentre;
        if sum > 0.0 { ((self.apocentre - self.pericentre) / sum).max(0.0) } else { 0.0 }
    }

    /// The same with the sign convention `sign` for Lz and the circularity.
    pub fn with_sign(self, sign: JphiSign) -> Self {
        Self { lz: sign.of(self.lz), circularity: sign.of(self.circularity), ..self }
    }

    fn is_finite(&self) -> bool {
        let all = [self.energy, self.circularity, self.pericentre, self.apocentre, self.z_max];
        all.iter().all(|x| x.is_finite())
    }
}

/// The result for a star.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome<T = Actions> {
    /// It is bound, with the requested result.
    Bound(T),
    /// Its energy is not below 0: it escapes from the Galaxy and has no actions.
    Unbound {
        /// The energy, (km/s)^2.
        energy: f64,
    },
    /// It has neither actions nor a meaningful energy.
    Undefined(Reason),
}

impl<T> Outcome<T> {
    /// What was requested, if the star is bound.
    pub fn bound(self) -> Option<T> {
        match self {
            Self::Bound(found) => Some(found),
            _ => None,
        }
    }
}

impl Outcome {
    /// The energy, bound or not, (km/s)^2.
    pub fn energy(&self) -> Option<f64> {
        match self {
            Self::Bound(actions) => Some(actions.energy),
            Self::Unbound { energy } => Some(*energy),
            Self::Undefined(_) => None,
        }
    }
}

/// Why a star that is not unbound has no actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A coordinate, a velocity or the potential there is NaN or infinite.
    NotFinite,
    /// Bound, but beyond the range of the tables.
    TooFar,
    /// Angles were requested for an orbit without a finite period in some coordinate, such as one
    /// through the centre.
    NoPeriod,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite => f.pad("position, velocity or potential is not finite"),
            Self::TooFar => f.pad("farther than 100 Mpc from the centre; check the unit of distance"),
            Self::NoPeriod => f.pad("the orbit has actions but no angles"),
        }
    }
}

/// Which numbers the actions reproduce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Variant {
    /// A fine table of focal distances with smooth interpolation; integrals and roots to about nine
    /// digits.
    #[default]
    Converged,
    /// AGAMA of February 2021, which computed the paper's tables.
    Authors,
    /// AGAMA 1.0.159.
    Agama,
}

impl Variant {
    /// All of them, the default first.
    pub const ALL: [Variant; 3] = [Variant::Converged, Variant::Authors, Variant::Agama];

    /// How the Milky Way of McMillan (2017) is built for this variant.
    pub fn build(self) -> Build {
        match self {
            Self::Converged => Build::Converged,
            Self::Authors => Build::Authors,
            Self::Agama => Build::Agama,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::Authors => "authors",
            Self::Agama => "agama",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Variant {
    type Err = ActionError;

    fn from_str(text: &str) -> Result<Self, ActionError> {
        let found = Self::ALL.into_iter().find(|v| v.name() == text);
        found.ok_or_else(|| ActionError::Variant { found: text.to_owned() })
    }
}

/// Why an action finder could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ActionError {
    /// A potential in which bound orbits do not behave as the fudge assumes.
    #[error("the potential {what}, seen at R = {radius} kpc; actions need one that grows outwards to 0")]
    Potential {
        /// What is wrong with it.
        what: &'static str,
        /// Where, kpc.
        radius: f64,
    },
    /// The potential itself could not be made.
    #[error(transparent)]
    Build(#[from] crate::potential::PotentialError),
    /// An unknown name of a variant.
    #[error("{found:?} is no variant of the actions; use `converged`, `authors` or `agama`")]
    Variant {
        /// What was written.
        found: String,
    },
}
