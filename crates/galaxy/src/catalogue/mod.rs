//! Converts a catalogue's measured vectors to Galactocentric ones: the first half of f in the
//! paper's Example 1.
//!
//! A row has six numbers in a fixed order, in the frame and units of a [`Catalogue`]:
//!
//! ```text
//! ra or l, dec or b, parallax (mas) or distance (kpc) or modulus,
//! pmra or pml, pmdec or pmb (mas/yr), radial velocity (km/s)
//! ```
//!
//! The position on the sky is known far better than anything else and is treated as exact, so the
//! last four are *the measured vector*. Its covariance is made by [`GaiaCovariance`] from Gaia's
//! `_error` and `_corr` columns.
//!
//! A row may have no position in the Galaxy: within its error, a parallax may be negative. The
//! [`Reason`] is returned, and counted by `goc`'s propagation. As a [`Transform`] a catalogue gives
//! x, y, z, vx, vy, vz; actions compose with [`Catalogue::places`], which computes the sines and
//! cosines of a star's position once for all its candidates.
//!
//! ```
//! use goc::uncertainty::{Object, Propagation, Sampler, Size, UncertaintySet};
//! use goc_galaxy::catalogue::{Catalogue, DistanceMeasure, GaiaCovariance};
//! use goc_galaxy::frames::{Sky, Sun};
//!
//! let gaia = Catalogue::new(Sky::Icrs, DistanceMeasure::Parallax { offset: 0.017 }, Sun::hattori())?;
//! let covariance = GaiaCovariance::new([0.02, 0.025, 0.022, 1.5]).correlations([0.1, -0.2, 0.05]).build()?;
//! let row = [187.25, 12.39, 0.40, -12.1, 3.4, 85.0]; // ra, dec, parallax, pmra, pmdec, radial velocity
//! let set = UncertaintySet::ellipsoid(&row, covariance.with_exact_position()?, Size::sigmas(2.0)?)?;
//!
//! let (candidates, _) = Propagation::new(gaia)
//!     .sampler(Sampler::Sobol)
//!     .draws(64)
//!     .propagate(&[Object::new(1, set)])?;
//! assert_eq!((candidates.total(), candidates.features()), (64, 6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`schema`] determines which columns of a table hold these six numbers, and in which units.

mod covariance;
mod prior;
pub mod schema;
mod unit;

use std::fmt;
use std::str::FromStr;

use goc::uncertainty::transform::{Rejection, Transform};

use crate::frames::{Direction, Distance, FrameError, Galactocentric, Sky, SkyPosition, Sun};

pub use covariance::{GaiaCovariance, GaiaCovarianceBuilder, GaiaCovarianceError, WhenIndefinite};
pub use prior::DistancePrior;
pub use unit::{Kind, Unit};

/// Number of values in a row.
pub const ROW: usize = 6;

/// How a catalogue gives a star's distance.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum DistanceMeasure {
    /// Its parallax, mas; the distance is 1 / (parallax + offset).
    Parallax {
        /// Added to every parallax, mas: minus the zero point. 0.017 for Gaia EDR3 and DR3 as a whole
        /// (Lindegren et al. 2021); 0 leaves parallaxes as they are, as in the paper.
        offset: f64,
    },
    /// Its distance, kpc.
    Distance,
    /// Its distance modulus, magnitudes.
    Modulus,
}

/// The unit of positions on the sky.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Angles {
    /// As in Gaia's catalogues.
    #[default]
    Degrees,
    /// As in the authors' tables.
    Radians,
}

impl fmt::Display for Angles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Degrees => "degrees",
            Self::Radians => "radians",
        })
    }
}

impl FromStr for Angles {
    type Err = FrameError;

    fn from_str(text: &str) -> Result<Self, FrameError> {
        match text {
            "degrees" => Ok(Self::Degrees),
            "radians" => Ok(Self::Radians),
            _ => Err(FrameError::Name {
                what: "unit of angles",
                found: text.to_owned(),
                choices: "`degrees` or `radians`",
            }),
        }
    }
}

/// Why a row has no position in the Galaxy. The text contains no numbers, so rows can be counted by
/// reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// The parallax, after its offset, is not positive.
    NotPositiveParallax,
    /// The distance is not positive.
    NotPositiveDistance,
    /// A number is NaN or infinite.
    NotFinite,
    /// The position is beyond a pole or a full turn.
    OffTheSky,
    /// The distance or a velocity overflows.
    TooFar,
}

impl Reason {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::NotPositiveParallax => "parallax not positive",
            Self::NotPositiveDistance => "distance not positive",
            Self::NotFinite => "a measured value is not finite",
            Self::OffTheSky => "position beyond the pole or a full turn",
            Self::TooFar => "distance or velocity beyond the finite numbers",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

impl From<Reason> for Rejection {
    fn from(reason: Reason) -> Self {
        Rejection::new(reason.text())
    }
}

/// How rows are read, and the Sun they were observed from. See the [module](self) for the order of
/// a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Catalogue {
    sky: Sky,
    measure: DistanceMeasure,
    sun: Sun,
    angles: Angles,
}

impl Catalogue {
    /// With positions in degrees.
    pub fn new(sky: Sky, measure: DistanceMeasure, sun: Sun) -> Result<Self, FrameError> {
        if let DistanceMeasure::Parallax { offset } = measure
            && !offset.is_finite()
        {
            return Err(FrameError::NotFinite { what: "parallax offset", value: offset });
        }
        Ok(Self { sky, measure, sun, angles: Angles::Degrees })
    }

    /// The paper's: l and b in radians, plain parallaxes, the authors' Sun.
    pub fn paper() -> Self {
        Self {
            sky: Sky::Galactic,
            measure: DistanceMeasure::Parallax { offset: 0.0 },
            sun: Sun::hattori(),
            angles: Angles::Radians,
        }
    }

    /// The unit of positions.
    pub fn angles(mut self, angles: Angles) -> Self {
        self.angles = angles;
        self
    }

    /// The Sun.
    pub fn sun(&self) -> &Sun {
        &self.sun
    }

    /// The same rows seen from the Sun: positions are heliocentric, in Galactic axes (x towards the
    /// centre, y in the direction of rotation, z north), and velocities are relative to the Sun.
    pub fn heliocentric(mut self) -> Self {
        self.sun = Sun::origin();
        self
    }

    /// The line of sight of a row that begins with this position.
    pub fn direction(&self, lon: f64, lat: f64) -> Result<Direction, Reason> {
        let position = match self.angles {
            Angles::Degrees => SkyPosition::degrees(self.sky, lon, lat),
            Angles::Radians => SkyPosition::radians(self.sky, lon, lat),
        };
        match position {
            Ok(position) => Ok(self.sun.direction(&position)),
            Err(FrameError::NotFinite { .. }) => Err(Reason::NotFinite),
            Err(_) => Err(Reason::OffTheSky),
        }
    }

    /// The distance given by the third number of a row, kpc.
    pub fn distance(&self, depth: f64) -> Result<Distance, Reason> {
        let distance = match self.measure {
            DistanceMeasure::Parallax { offset } => Distance::from_parallax(depth + offset),
            DistanceMeasure::Distance => Distance::from_kpc(depth),
            DistanceMeasure::Modulus => Distance::from_modulus(depth),
        };
        distance.map_err(|error| match error {
            FrameError::NotPositiveParallax { .. } => Reason::NotPositiveParallax,
            FrameError::NotPositiveDistance { .. } => Reason::NotPositiveDistance,
            FrameError::NotFinite { .. } => Reason::NotFinite,
            _ => Reason::TooFar,
        })
    }

    /// Where a star with this measured vector is, along a line of sight.
    pub fn place(&self, direction: &Direction, measured: [f64; 4]) -> Result<Galactocentric, Reason> {
        let [depth, pm1, pm2, radial_velocity] = measured;
        let distance = self.distance(depth)?;
        if !(pm1.is_finite() && pm2.is_finite() && radial_velocity.is_finite()) {
            return Err(Reason::NotFinite);
        }
        let place = direction.at(distance.kpc(), [pm1, pm2], radial_velocity);
        if place.is_finite() { Ok(place) } else { Err(Reason::TooFar) }
    }

    /// The positions and velocities of rows of six numbers. Consecutive rows with the same position
    /// on the sky share its sines and cosines, so all candidates of a star are best passed
    /// together.
    ///
    /// Trailing numbers that do not fill a row are ignored.
    pub fn places(&self, rows: &[f64]) -> Vec<Result<Galactocentric, Reason>> {
        // NaN equals no position, so the first row computes its own direction.
        let (mut position, mut direction) = ([f64::NAN; 2], Err(Reason::NotFinite));
        rows.chunks_exact(ROW)
            .map(|row| {
                if position != row[..2] {
                    position = [row[0], row[1]];
                    direction = self.direction(row[0], row[1]);
                }
                match &direction {
                    Ok(direction) => self.place(direction, [row[2], row[3], row[4], row[5]]),
                    Err(reason) => Err(*reason),
                }
            })
            .collect()
    }
}

/// Six numbers to x, y, z (kpc), vx, vy, vz (km/s).
impl Transform for Catalogue {
    fn inputs(&self) -> Option<usize> {
        Some(ROW)
    }

    fn outputs(&self) -> usize {
        6
    }

    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
        let direction = self.direction(z[0], z[1])?;
        write_place(&self.place(&direction, [z[2], z[3], z[4], z[5]])?, x);
        Ok(())
    }

    fn apply_all(&self, _: usize, points: &[f64], x: &mut [f64]) -> Vec<Result<(), Rejection>> {
        let places = self.places(points).into_iter().zip(x.chunks_exact_mut(6));
        places.map(|(place, x)| place.map(|place| write_place(&place, x)).map_err(Rejection::from)).collect()
    }
}

fn write_place(place: &Galactocentric, x: &mut [f64]) {
    x[..3].copy_from_slice(&place.position);
    x[3..].copy_from_slice(&place.velocity);
}
