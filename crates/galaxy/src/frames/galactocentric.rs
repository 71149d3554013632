//! The position and velocity of a star relative to the centre of the Galaxy.

use std::fmt;
use std::str::FromStr;

use super::FrameError;

/// Position (kpc) and velocity (km/s) in the right-handed axes of the [module](super): the Sun at
/// negative x, the disc rotating from x = -R to y = +R.
///
/// ```
/// use goc_galaxy::frames::{Galactocentric, JphiSign};
/// let star = Galactocentric { position: [-6.0, 8.0, 1.0], velocity: [120.0, 90.0, -3.0] };
/// assert_eq!((star.radius(), star.z()), (10.0, 1.0));
/// assert_eq!((star.v_radial(), star.v_azimuthal(), star.v_z()), (0.0, -150.0, -3.0));
/// assert_eq!(star.jphi(JphiSign::ProgradePositive), 1500.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Galactocentric {
    /// x, y, z, kpc.
    pub position: [f64; 3],
    /// vx, vy, vz, km/s.
    pub velocity: [f64; 3],
}

impl Galactocentric {
    /// The cylindrical radius R, kpc.
    pub fn radius(&self) -> f64 {
        libm::hypot(self.position[0], self.position[1])
    }

    /// The height above the plane, kpc.
    pub fn z(&self) -> f64 {
        self.position[2]
    }

    /// The azimuth phi, radians in (-pi, pi], from the x axis towards the y axis; 0 on the z axis. The Sun is
    /// at pi.
    pub fn azimuth(&self) -> f64 {
        libm::atan2(self.position[1], self.position[0])
    }

    /// The velocity away from the z axis, km/s; along x for a star on the axis.
    pub fn v_radial(&self) -> f64 {
        let [cos, sin] = self.outwards();
        cos * self.velocity[0] + sin * self.velocity[1]
    }

    /// The velocity towards increasing azimuth, km/s; along y for a star on the axis. Negative for
    /// the disc.
    pub fn v_azimuthal(&self) -> f64 {
        let [cos, sin] = self.outwards();
        cos * self.velocity[1] - sin * self.velocity[0]
    }

    /// The velocity towards north, km/s.
    pub fn v_z(&self) -> f64 {
        self.velocity[2]
    }

    /// The angular momentum per mass, position x velocity, kpc km/s.
    pub fn angular_momentum(&self) -> [f64; 3] {
        let ([x, y, z], [vx, vy, vz]) = (self.position, self.velocity);
        [y * vz - z * vy, z * vx - x * vz, x * vy - y * vx]
    }

    /// The azimuthal action, kpc km/s, with the requested sign.
    pub fn jphi(&self, sign: JphiSign) -> f64 {
        sign.of(self.angular_momentum()[2])
    }

    /// True when all six numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.position.iter().chain(&self.velocity).all(|v| v.is_finite())
    }

    fn outwards(&self) -> [f64; 2] {
        let r = self.radius();
        if r > 0.0 { [self.position[0] / r, self.position[1] / r] } else { [1.0, 0.0] }
    }
}

/// The sign convention of Jphi. Programs differ, so it is a named choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum JphiSign {
    /// Jphi = x vy - y vx, the z component of the angular momentum: negative for the disc. The paper's
    /// tables.
    #[default]
    Paper,
    /// Jphi = y vx - x vy: positive for the disc.
    ProgradePositive,
}

impl JphiSign {
    /// Jphi for the angular momentum lz = x vy - y vx.
    pub fn of(self, lz: f64) -> f64 {
        match self {
            Self::Paper => lz,
            Self::ProgradePositive => -lz,
        }
    }

    /// For the metadata of a table.
    pub fn description(self) -> &'static str {
        match self {
            Self::Paper => "Jphi = x vy - y vx: negative for stars that turn with the disc",
            Self::ProgradePositive => "Jphi = y vx - x vy: positive for stars that turn with the disc",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::ProgradePositive => "prograde-positive",
        }
    }
}

impl fmt::Display for JphiSign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for JphiSign {
    type Err = FrameError;

    fn from_str(text: &str) -> Result<Self, FrameError> {
        [Self::Paper, Self::ProgradePositive].into_iter().find(|s| s.name() == text).ok_or_else(|| {
            FrameError::Name {
                what: "sign of Jphi",
                found: text.to_owned(),
                choices: "`paper` (x vy - y vx) or `prograde-positive`",
            }
        })
    }
}
