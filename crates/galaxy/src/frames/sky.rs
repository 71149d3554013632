//! Positions on the sky: equatorial (ICRS) and Galactic, and the rotation between them.
//!
//! The rotation from ICRS to Galactic is astropy's: the IAU 1958 pole and zero of longitude carried from
//! B1950 to the FK5 at J2000 (pole at ra 192.8594812065348, dec 27.12825118085622, longitude of the celestial
//! pole 122.9319185680026 degrees), then the FK5's offset from the ICRS (USNO circular 179: -19.9, 9.1, -22.9
//! mas). Gaia's own `l` and `b` columns follow the Hipparcos catalogue's definition, which places the same
//! axes in the ICRS directly; the two differ by less than 0.1 arcseconds.
//!
//! Rotating the sky rotates proper motions too: (pm1, pm2) is a vector in the plane of e1 (along
//! longitude) and e2 (along latitude), and the two frames' e1, e2 at a star differ by one angle, a
//! [`Turn`]. All computations use unit vectors, so nothing is divided by the cosine of a latitude.
//! At a pole the longitude is arbitrary but fixes what e1 and e2 mean: a position given at a pole
//! keeps its longitude, and one computed there has longitude 0.

use std::f64::consts::{FRAC_PI_2, TAU};
use std::fmt;
use std::str::FromStr;

use super::vector::{Matrix, Vector, dot, turned, turned_back};
use super::{FrameError, check_finite};

/// ICRS to Galactic: the rotations described in the module documentation, multiplied out with 50
/// digits.
pub(super) const ICRS_TO_GALACTIC: Matrix = [
    [-0.054_875_657_712_591_73, -0.873_437_051_955_616_3, -0.483_835_073_616_715_57],
    [0.494_109_437_192_727_3, -0.444_829_721_223_295_34, 0.746_982_183_986_667_5],
    [-0.867_666_137_559_658_8, -0.198_076_337_273_000_53, 0.455_983_813_687_301_6],
];

/// A frame of coordinates on the sky.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sky {
    /// Right ascension and declination, as in Gaia's `ra`, `dec`, `pmra`, `pmdec`.
    Icrs,
    /// Galactic longitude l and latitude b.
    Galactic,
}

impl Sky {
    /// Names of the two coordinates: `ra`, `dec` or `l`, `b`.
    pub fn coordinates(self) -> [&'static str; 2] {
        match self {
            Self::Icrs => ["ra", "dec"],
            Self::Galactic => ["l", "b"],
        }
    }

    /// Names of the two proper motions, `pmra`, `pmdec` or `pml`, `pmb`; the first includes the cosine of the
    /// latitude.
    pub fn proper_motions(self) -> [&'static str; 2] {
        match self {
            Self::Icrs => ["pmra", "pmdec"],
            Self::Galactic => ["pml", "pmb"],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Icrs => "icrs",
            Self::Galactic => "galactic",
        }
    }
}

impl fmt::Display for Sky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Sky {
    type Err = FrameError;

    fn from_str(text: &str) -> Result<Self, FrameError> {
        [Self::Icrs, Self::Galactic].into_iter().find(|s| s.name() == text).ok_or_else(|| FrameError::Name {
            what: "frame of the sky",
            found: text.to_owned(),
            choices: "`icrs` or `galactic`",
        })
    }
}

/// A validated point on the sky.
///
/// ```
/// use goc_galaxy::frames::{Sky, SkyPosition};
/// let north = SkyPosition::degrees(Sky::Galactic, 0.0, 90.0)?;
/// let [ra, dec] = north.to(Sky::Icrs).in_degrees();
/// assert!((ra - 192.8594779).abs() < 1e-7 && (dec - 27.1282524).abs() < 1e-7);
/// assert!(SkyPosition::degrees(Sky::Icrs, 10.0, 90.1).is_err());
/// # Ok::<(), goc_galaxy::frames::FrameError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkyPosition {
    sky: Sky,
    lon: f64,
    lat: f64,
}

impl SkyPosition {
    /// From degrees: (ra, dec) or (l, b). The longitude may have either sign, up to a full turn.
    pub fn degrees(sky: Sky, lon: f64, lat: f64) -> Result<Self, FrameError> {
        let [what_lon, what_lat] = sky.coordinates();
        if check_finite(what_lon, lon)?.abs() > 360.0 {
            return Err(FrameError::Longitude { what: what_lon, degrees: lon });
        }
        if check_finite(what_lat, lat)?.abs() > 90.0 {
            return Err(FrameError::Latitude { what: what_lat, degrees: lat });
        }
        Ok(Self { sky, lon: lon.to_radians(), lat: lat.to_radians() })
    }

    /// From radians: (ra, dec) or (l, b). The longitude may have either sign, up to a full turn.
    pub fn radians(sky: Sky, lon: f64, lat: f64) -> Result<Self, FrameError> {
        let [what_lon, what_lat] = sky.coordinates();
        if check_finite(what_lon, lon)?.abs() > TAU {
            return Err(FrameError::Longitude { what: what_lon, degrees: lon.to_degrees() });
        }
        if check_finite(what_lat, lat)?.abs() > FRAC_PI_2 {
            return Err(FrameError::Latitude { what: what_lat, degrees: lat.to_degrees() });
        }
        Ok(Self { sky, lon, lat })
    }

    /// The frame.
    pub fn sky(&self) -> Sky {
        self.sky
    }

    /// Longitude and latitude in radians.
    pub fn in_radians(&self) -> [f64; 2] {
        [self.lon, self.lat]
    }

    /// Longitude and latitude in degrees.
    pub fn in_degrees(&self) -> [f64; 2] {
        [self.lon.to_degrees(), self.lat.to_degrees()]
    }

    /// The same point in another frame, its longitude in [0, 2 pi); unchanged in its own.
    pub fn to(&self, sky: Sky) -> Self {
        self.turn_to(sky).0
    }

    /// The same point in another frame, and the rotation of proper motions between the frames.
    pub fn turn_to(&self, sky: Sky) -> (Self, Turn) {
        let rotate: fn(&Matrix, &Vector) -> Vector = match (self.sky, sky) {
            (Sky::Icrs, Sky::Galactic) => turned,
            (Sky::Galactic, Sky::Icrs) => turned_back,
            _ => return (*self, Turn { cos: 1.0, sin: 0.0 }),
        };
        let [u, e1, _] = self.axes().map(|axis| rotate(&ICRS_TO_GALACTIC, &axis));
        let there = Self::towards(sky, &u);
        let [_, t1, t2] = there.axes();
        (there, Turn::new(dot(&e1, &t1), dot(&e1, &t2)))
    }

    /// The unit vectors to the point, along its longitude and along its latitude, in the axes of its frame.
    pub(super) fn axes(&self) -> [Vector; 3] {
        let (sin_lon, cos_lon) = libm::sincos(self.lon);
        let (sin_lat, cos_lat) = libm::sincos(self.lat);
        [
            [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat],
            [-sin_lon, cos_lon, 0.0],
            [-sin_lat * cos_lon, -sin_lat * sin_lon, cos_lat],
        ]
    }

    /// The point a vector (not 0) points to.
    pub(super) fn towards(sky: Sky, v: &Vector) -> Self {
        let lon = libm::atan2(v[1], v[0]);
        let lon = if lon < 0.0 { lon + TAU } else { lon };
        // A longitude just below 0 rounds to a full turn.
        let lon = if lon >= TAU { 0.0 } else { lon };
        Self { sky, lon, lat: libm::atan2(v[2], libm::hypot(v[0], v[1])) }
    }
}

/// The angle by which proper motions at one point of the sky turn between frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    cos: f64,
    sin: f64,
}

impl Turn {
    /// From the components of the old e1 along the new e1 and e2.
    fn new(cos: f64, sin: f64) -> Self {
        // Rounding makes the two deviate from a rotation; normalising preserves lengths.
        let norm = libm::hypot(cos, sin);
        Self { cos: cos / norm, sin: sin / norm }
    }

    /// A proper motion (or a part of it) in the new frame.
    pub fn apply(&self, proper_motion: [f64; 2]) -> [f64; 2] {
        let [p1, p2] = proper_motion;
        [self.cos * p1 - self.sin * p2, self.sin * p1 + self.cos * p2]
    }

    /// The rotation matrix, rows (new e1, new e2), for covariances.
    pub fn matrix(&self) -> [[f64; 2]; 2] {
        [[self.cos, -self.sin], [self.sin, self.cos]]
    }
}
