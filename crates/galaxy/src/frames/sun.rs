//! The Sun: its position and velocity in the Galaxy.
//!
//! Distances and velocities are measured relative to the Sun, so every action depends on the
//! assumed position and velocity. Named choices:
//!
//! | name | x, y, z (kpc) | velocity (km/s) | axes |
//! |---|---|---|---|
//! | `hattori` | -8.178, 0, 0.0208 | 11.1, 247.30, 7.25 | those of Galactic l, b: the paper's |
//! | `astropy-v4.0` | -8.12197.., 0, 0.0208 | 12.9, 245.6, 7.78 | astropy's `Galactocentric`, "v4.0" |
//! | `r0=8.2,z0=0.0208,vx=11.1,vy=245,vz=7.25` | -r0, 0, z0 | as written | those of Galactic l, b |
//! | the same with `,tilt=astropy` | distance r0 to the centre | as written | astropy's construction |
//!
//! Astropy's axes are not those of l and b. Its x axis points at Sgr A* (ra 266.4051, dec
//! -28.936175 degrees), rolled by 58.5986320306 degrees to put the north Galactic pole in the x-z
//! plane, then tilted by asin(z0 / r0) so that the centre lies in the plane z = 0 though the Sun is
//! above it. The tilt is 0.147 degrees, which is 10 pc at 4 kpc.

use std::fmt;
use std::str::FromStr;

use super::sky::ICRS_TO_GALACTIC;
use super::vector::{Matrix, Vector, product};
use crate::frames::Sky;
use crate::units::KMS_PER_MASYR_KPC;

/// km/s in 1 mas/yr at 1 kpc from the astronomical unit and the Julian year: astropy's.
const KMS_PER_MASYR_KPC_ASTROPY: f64 = 4.740_470_463_533_349;

const IDENTITY: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// ICRS to the axes of astropy's frame before its tilt: the rotations described in the module
/// documentation, multiplied out with 50 digits.
const ICRS_TO_CENTRE: Matrix = [
    [-0.054_873_956_175_539_376, -0.873_437_182_224_834_5, -0.483_835_031_431_981_2],
    [0.494_110_762_704_004_67, -0.444_828_617_802_545_46, 0.746_981_964_282_902_6],
    [-0.867_665_490_332_369_8, -0.198_078_240_831_793_98, 0.455_984_218_362_072_3],
];

/// Galactic to the same axes, likewise: they differ by a third of an arcsecond.
const GALACTIC_TO_CENTRE: Matrix = [
    [0.999_999_999_998_543, 9.302_043_803_734_935e-7, -1.431_327_276_446_024_7e-6],
    [-9.302_064_827_701_417e-7, 0.999_999_999_998_488_7, -1.468_844_151_522_274_4e-6],
    [1.431_325_910_118_597_5e-6, 1.468_845_482_950_045_8e-6, 0.999_999_999_997_896_9],
];

/// The orientation of the Galactocentric axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tilt {
    /// Along those of Galactic l, b; the Sun's r0 is its distance along x.
    None,
    /// As in astropy's `Galactocentric` frame; r0 is the Sun's distance from the centre.
    Astropy,
}

/// The Sun's position and velocity, and the axes they are given in.
///
/// ```
/// use goc_galaxy::frames::{Sun, Tilt};
/// let sun: Sun = "r0=8.2,z0=0.0208,vx=11.1,vy=245,vz=7.25".parse()?;
/// assert_eq!(sun, Sun::new(8.2, 0.0208, [11.1, 245.0, 7.25], Tilt::None)?);
/// assert_eq!("hattori".parse::<Sun>()?.to_string(), "hattori");
/// assert!(Sun::new(8178.0, 20.8, [11.1, 245.0, 7.25], Tilt::None).is_err()); // parsecs
/// # Ok::<(), goc_galaxy::frames::SunError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    r0: f64,
    z0: f64,
    tilt: Tilt,
    position: Vector,
    velocity: Vector,
    from_icrs: Matrix,
    from_galactic: Matrix,
    k: f64,
}

impl Sun {
    /// The paper's: R0 = 8.178 kpc, z0 = 0.0208 kpc, velocity (11.1, 247.30, 7.25) km/s, no tilt.
    pub fn hattori() -> Self {
        Self::with(8.178, 0.0208, [11.1, 247.30, 7.25], Tilt::None)
    }

    /// Astropy's `Galactocentric` frame with its parameters "v4.0", the same rotations and the same
    /// constants.
    pub fn astropy_v4_0() -> Self {
        Self::with(8.122, 0.0208, [12.9, 245.6, 7.78], Tilt::Astropy)
    }

    /// Custom values: r0 and z0 in kpc, the velocity in km/s relative to the Galactic centre (not
    /// to the local standard of rest).
    pub fn new(r0: f64, z0: f64, velocity: [f64; 3], tilt: Tilt) -> Result<Self, SunError> {
        let values = [("r0", r0), ("z0", z0), ("vx", velocity[0]), ("vy", velocity[1]), ("vz", velocity[2])];
        if let Some(&(what, value)) = values.iter().find(|(_, value)| !value.is_finite()) {
            return Err(SunError::NotFinite { what, value });
        }
        if !(r0 > 0.0 && r0 <= 100.0) {
            return Err(SunError::Distance { value: r0 });
        }
        if z0.abs() >= r0 {
            return Err(SunError::Height { z0, r0 });
        }
        Ok(Self::with(r0, z0, velocity, tilt))
    }

    /// From values known to be valid.
    fn with(r0: f64, z0: f64, velocity: Vector, tilt: Tilt) -> Self {
        match tilt {
            Tilt::None => Self {
                r0,
                z0,
                tilt,
                position: [-r0, 0.0, z0],
                velocity,
                from_icrs: ICRS_TO_GALACTIC,
                from_galactic: IDENTITY,
                k: KMS_PER_MASYR_KPC,
            },
            Tilt::Astropy => {
                let sin = z0 / r0;
                let cos = ((1.0 - sin) * (1.0 + sin)).sqrt();
                let lowered = [[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]];
                Self {
                    r0,
                    z0,
                    tilt,
                    position: [-r0 * cos, 0.0, z0],
                    velocity,
                    from_icrs: product(&lowered, &ICRS_TO_CENTRE),
                    from_galactic: product(&lowered, &GALACTIC_TO_CENTRE),
                    k: KMS_PER_MASYR_KPC_ASTROPY,
                }
            }
        }
    }

    /// An observer at rest at the origin of the Galactic axes. Its observations have heliocentric
    /// positions and velocities, independent of the chosen Sun.
    pub(crate) fn origin() -> Self {
        let at_rest = Self::with(0.0, 0.0, [0.0; 3], Tilt::None);
        Self { position: [0.0; 3], k: KMS_PER_MASYR_KPC_ASTROPY, ..at_rest }
    }

    /// x, y, z, kpc.
    pub fn position(&self) -> [f64; 3] {
        self.position
    }

    /// vx, vy, vz, km/s.
    pub fn velocity(&self) -> [f64; 3] {
        self.velocity
    }

    /// The orientation of the axes.
    pub fn tilt(&self) -> Tilt {
        self.tilt
    }

    /// km/s in 1 mas/yr at 1 kpc.
    pub fn kms_per_masyr_kpc(&self) -> f64 {
        self.k
    }

    /// From the axes of a frame of the sky to the Galactocentric ones.
    pub(super) fn rotation_from(&self, sky: Sky) -> &Matrix {
        match sky {
            Sky::Icrs => &self.from_icrs,
            Sky::Galactic => &self.from_galactic,
        }
    }
}

/// The preset's name, or all values; [`FromStr`] reads it back.
impl fmt::Display for Sun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = presets().into_iter().find(|(_, sun)| sun == self) {
            return f.pad(name);
        }
        let [vx, vy, vz] = self.velocity;
        write!(f, "r0={},z0={},vx={vx},vy={vy},vz={vz}", self.r0, self.z0)?;
        match self.tilt {
            Tilt::None => Ok(()),
            Tilt::Astropy => f.write_str(",tilt=astropy"),
        }
    }
}

fn presets() -> [(&'static str, Sun); 2] {
    [("hattori", Sun::hattori()), ("astropy-v4.0", Sun::astropy_v4_0())]
}

impl FromStr for Sun {
    type Err = SunError;

    fn from_str(text: &str) -> Result<Self, SunError> {
        if let Some((_, sun)) = presets().into_iter().find(|(name, _)| *name == text) {
            return Ok(sun);
        }
        if !text.contains('=') {
            return Err(SunError::Name { found: text.to_owned() });
        }
        const KEYS: [&str; 5] = ["r0", "z0", "vx", "vy", "vz"];
        let mut values = [None; 5];
        let mut tilt = None;
        for part in text.split(',') {
            let part = part.trim();
            let (key, value) =
                part.split_once('=').ok_or_else(|| SunError::Part { found: part.to_owned() })?;
            let (key, value) = (key.trim(), value.trim());
            let repeated = || SunError::Repeated { key: key.to_owned() };
            if key == "tilt" {
                let this = match value {
                    "none" => Tilt::None,
                    "astropy" => Tilt::Astropy,
                    _ => return Err(SunError::Tilt { found: value.to_owned() }),
                };
                if tilt.replace(this).is_some() {
                    return Err(repeated());
                }
                continue;
            }
            let at = KEYS
                .iter()
                .position(|k| *k == key)
                .ok_or_else(|| SunError::Part { found: part.to_owned() })?;
            let number: f64 = value
                .parse()
                .map_err(|_| SunError::Number { key: key.to_owned(), found: value.to_owned() })?;
            if values[at].replace(number).is_some() {
                return Err(repeated());
            }
        }
        let value = |at: usize| values[at].ok_or(SunError::Missing { key: KEYS[at] });
        Self::new(value(0)?, value(1)?, [value(2)?, value(3)?, value(4)?], tilt.unwrap_or(Tilt::None))
    }
}

/// Why values or a text do not make a [`Sun`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SunError {
    /// NaN or infinity.
    #[error("the Sun's {what} {value} is not a finite number")]
    NotFinite {
        /// Which value.
        what: &'static str,
        /// The value found.
        value: f64,
    },
    /// Not a distance from the Galactic centre.
    #[error("the Sun's r0 {value} must be above 0 and at most 100; it is in kpc")]
    Distance {
        /// The value found, kpc.
        value: f64,
    },
    /// A height above the plane greater than the distance from the centre.
    #[error("the Sun's z0 {z0} must be smaller than its r0 {r0}; both are in kpc")]
    Height {
        /// The height found, kpc.
        z0: f64,
        /// The distance found, kpc.
        r0: f64,
    },
    /// No such preset.
    #[error("{found:?} is not a known Sun; use `hattori`, `astropy-v4.0` or `r0=..,z0=..,vx=..,vy=..,vz=..`")]
    Name {
        /// What was written.
        found: String,
    },
    /// A part that is not one of the known `key=value`.
    #[error("{found:?} is not a part of a Sun; use r0=, z0= (kpc), vx=, vy=, vz= (km/s), tilt=")]
    Part {
        /// What was written.
        found: String,
    },
    /// A value that is not a number.
    #[error("the Sun's {key} {found:?} is not a number")]
    Number {
        /// Which value.
        key: String,
        /// What was written.
        found: String,
    },
    /// An unknown tilt.
    #[error("the tilt {found:?} is unknown; use `none` or `astropy`")]
    Tilt {
        /// What was written.
        found: String,
    },
    /// A value given twice.
    #[error("the Sun's {key} is given twice")]
    Repeated {
        /// Which value.
        key: String,
    },
    /// A value not given.
    #[error("the Sun's {key} is missing; r0, z0, vx, vy and vz are all needed")]
    Missing {
        /// Which value.
        key: &'static str,
    },
}
