//! Frames: from the observation of a star to its position and velocity in the Galaxy, and back.
//!
//! A catalogue gives a position on the sky in [`Sky::Icrs`] or [`Sky::Galactic`] coordinates, a
//! [`Distance`] in one of three forms (parallax, distance, distance modulus), the proper motion
//! along both coordinates and the radial velocity. The potential needs [`Galactocentric`] position
//! and velocity. The conversion depends on the [`Sun`], whose own position and velocity are a named
//! choice.
//!
//! With u the unit vector from the Sun to the star and e1, e2 those along its longitude and latitude, all in
//! Galactocentric axes (a [`Direction`]),
//!
//! ```text
//! position = sun + d u
//! velocity = sun's velocity + v_r u + k d (pm1 e1 + pm2 e2)
//! ```
//!
//! where pm1 includes the cosine of the latitude (Gaia's `pmra`, also written pmra*) and k =
//! 4.74047 km/s is the speed of 1 mas/yr at 1 kpc. The axes are right-handed: x from the Sun to the
//! Galactic centre, y in the direction of rotation at the Sun, z to the north Galactic pole. So the
//! disc has x vy - y vx < 0, as in the paper's tables; a [`JphiSign`] sets whether Jphi has this
//! sign.
//!
//! Angles are in degrees or radians, as the constructor's name says. Sines and cosines come from
//! `libm`, not from the system, so results are bitwise identical on every machine.
//!
//! ```
//! use goc_galaxy::frames::{Distance, JphiSign, Observed, Sky, SkyPosition, Sun};
//!
//! let star = Observed {
//!     position: SkyPosition::degrees(Sky::Icrs, 187.25, 12.39)?,
//!     distance: Distance::from_parallax(0.40)?,
//!     proper_motion: [-12.1, 3.4],
//!     radial_velocity: 85.0,
//! };
//! let sun = Sun::hattori();
//! let place = sun.galactocentric(&star)?;
//! assert!((place.position[2] - 2.42814).abs() < 1e-5);
//! println!("Jphi = {} kpc km/s", place.jphi(JphiSign::Paper));
//!
//! let back = sun.observe(&place, Sky::Icrs)?;
//! assert!((back.distance.parallax() - 0.40).abs() < 1e-13);
//! # Ok::<(), goc_galaxy::frames::FrameError>(())
//! ```

mod direction;
mod distance;
mod galactocentric;
mod sky;
mod sun;
mod vector;

pub use direction::{Direction, Observed};
pub use distance::Distance;
pub use galactocentric::{Galactocentric, JphiSign};
pub use sky::{Sky, SkyPosition, Turn};
pub use sun::{Sun, SunError, Tilt};

/// Why an observation has no position in the Galaxy, or a position has no observation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// NaN or infinity.
    #[error("the {what} {value} is not a finite number")]
    NotFinite {
        /// The quantity.
        what: &'static str,
        /// The value found.
        value: f64,
    },
    /// A parallax that has no distance.
    #[error("the parallax {value} mas is not positive, so it gives no distance; leave the star out")]
    NotPositiveParallax {
        /// The value found, mas.
        value: f64,
    },
    /// A distance that is not positive.
    #[error("the distance {value} kpc is not positive")]
    NotPositiveDistance {
        /// The value found, kpc.
        value: f64,
    },
    /// A parallax or distance modulus so extreme that its distance is not a positive finite number.
    #[error("the {what} {value} has no finite distance; check its unit")]
    DistanceRange {
        /// Parallax or distance modulus.
        what: &'static str,
        /// The value found.
        value: f64,
    },
    /// A longitude or right ascension beyond a full turn, most likely degrees taken for radians.
    #[error(
        "the {what} {degrees} degrees is beyond a full turn; check whether the angle is in degrees or radians"
    )]
    Longitude {
        /// `l` or `ra`.
        what: &'static str,
        /// The value found, in degrees.
        degrees: f64,
    },
    /// A latitude or declination beyond the pole.
    #[error(
        "the {what} {degrees} degrees is beyond the pole; check whether the angle is in degrees or radians"
    )]
    Latitude {
        /// `b` or `dec`.
        what: &'static str,
        /// The value found, in degrees.
        degrees: f64,
    },
    /// A star at the Sun's position, which has no direction.
    #[error("the star is at the Sun, so it has no direction on the sky")]
    AtTheSun,
    /// A name that is not among the choices.
    #[error("{found:?} is no {what}; use {choices}")]
    Name {
        /// What was to be named.
        what: &'static str,
        /// What was written.
        found: String,
        /// The choices.
        choices: &'static str,
    },
}

pub(crate) fn check_finite(what: &'static str, value: f64) -> Result<f64, FrameError> {
    if value.is_finite() { Ok(value) } else { Err(FrameError::NotFinite { what, value }) }
}
