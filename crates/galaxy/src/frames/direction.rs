//! From the sky to the Galaxy and back: the two equations of the [module](super).
//!
//! All candidates of a star share its position on the sky, so everything that depends on it (sines,
//! cosines, rotations) is computed once and stored in a [`Direction`]; each candidate then costs 21
//! multiplications.

use super::vector::{dot, turned, turned_back};
use super::{Distance, FrameError, Galactocentric, Sky, SkyPosition, Sun, check_finite};

/// The complete observation of a star.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// The position on the sky.
    pub position: SkyPosition,
    /// The distance.
    pub distance: Distance,
    /// The proper motion along the longitude (including the cosine of the latitude) and the
    /// latitude of `position`'s frame, mas/yr.
    pub proper_motion: [f64; 2],
    /// The radial velocity, positive away from the Sun, km/s.
    pub radial_velocity: f64,
}

impl Observed {
    /// The same star in another frame of the sky.
    pub fn to(&self, sky: Sky) -> Self {
        let (position, turn) = self.position.turn_to(sky);
        Self { position, proper_motion: turn.apply(self.proper_motion), ..*self }
    }
}

/// A line of sight, which turns distance, proper motion and radial velocity into a position and
/// velocity in the Galaxy.
///
/// ```
/// use goc_galaxy::frames::{Sky, SkyPosition, Sun};
/// let pole = SkyPosition::degrees(Sky::Galactic, 0.0, 90.0)?;
/// let up = Sun::hattori().direction(&pole);
/// let star = up.at(2.0, [0.0, 0.0], -50.0);
/// assert!((star.position[2] - 2.0208).abs() < 1e-15);
/// assert_eq!(star.velocity[2], 7.25 - 50.0);
/// # Ok::<(), goc_galaxy::frames::FrameError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Direction {
    sun_position: [f64; 3],
    sun_velocity: [f64; 3],
    k: f64,
    outwards: [f64; 3],
    along_longitude: [f64; 3],
    along_latitude: [f64; 3],
}

impl Direction {
    /// The unit vector from the Sun to the star, in Galactocentric axes.
    pub fn outwards(&self) -> [f64; 3] {
        self.outwards
    }

    /// The unit vector along increasing ra or l.
    pub fn along_longitude(&self) -> [f64; 3] {
        self.along_longitude
    }

    /// The unit vector along increasing dec or b.
    pub fn along_latitude(&self) -> [f64; 3] {
        self.along_latitude
    }

    /// A star at this distance (kpc) with this proper motion (mas/yr) and radial velocity (km/s).
    /// Nothing is checked: non-finite input gives non-finite output.
    #[inline]
    pub fn at(&self, distance: f64, proper_motion: [f64; 2], radial_velocity: f64) -> Galactocentric {
        let (v1, v2) = (self.k * distance * proper_motion[0], self.k * distance * proper_motion[1]);
        let (u, e1, e2) = (&self.outwards, &self.along_longitude, &self.along_latitude);
        Galactocentric {
            position: std::array::from_fn(|c| self.sun_position[c] + distance * u[c]),
            velocity: std::array::from_fn(|c| {
                self.sun_velocity[c] + (radial_velocity * u[c] + (v1 * e1[c] + v2 * e2[c]))
            }),
        }
    }
}

impl Sun {
    /// The line of sight to a point of the sky.
    pub fn direction(&self, position: &SkyPosition) -> Direction {
        let rotation = self.rotation_from(position.sky());
        let [outwards, along_longitude, along_latitude] = position.axes().map(|axis| turned(rotation, &axis));
        Direction {
            sun_position: self.position(),
            sun_velocity: self.velocity(),
            k: self.kms_per_masyr_kpc(),
            outwards,
            along_longitude,
            along_latitude,
        }
    }

    /// Where the star is and how it moves.
    pub fn galactocentric(&self, star: &Observed) -> Result<Galactocentric, FrameError> {
        for (what, value) in star.position.sky().proper_motions().into_iter().zip(star.proper_motion) {
            check_finite(what, value)?;
        }
        check_finite("radial velocity", star.radial_velocity)?;
        let place =
            self.direction(&star.position).at(star.distance.kpc(), star.proper_motion, star.radial_velocity);
        // The input is finite, but a product may overflow.
        for value in place.position.into_iter().chain(place.velocity) {
            check_finite("Galactocentric position or velocity", value)?;
        }
        Ok(place)
    }

    /// The observation of a star at this position. At a pole of `sky` its longitude is 0, and
    /// proper motions are along the corresponding axes.
    pub fn observe(&self, star: &Galactocentric, sky: Sky) -> Result<Observed, FrameError> {
        for value in star.position {
            check_finite("Galactocentric position", value)?;
        }
        for value in star.velocity {
            check_finite("Galactocentric velocity", value)?;
        }
        let rotation = self.rotation_from(sky);
        let (sun, drift) = (self.position(), self.velocity());
        let away = turned_back(rotation, &std::array::from_fn(|c| star.position[c] - sun[c]));
        let velocity = turned_back(rotation, &std::array::from_fn(|c| star.velocity[c] - drift[c]));
        let distance = libm::hypot(libm::hypot(away[0], away[1]), away[2]);
        if distance == 0.0 {
            return Err(FrameError::AtTheSun);
        }
        let position = SkyPosition::towards(sky, &away);
        let [outwards, e1, e2] = position.axes();
        let per_speed = 1.0 / (self.kms_per_masyr_kpc() * distance);
        Ok(Observed {
            position,
            distance: Distance::from_kpc(distance)?,
            proper_motion: [dot(&e1, &velocity) * per_speed, dot(&e2, &velocity) * per_speed],
            radial_velocity: dot(&outwards, &velocity),
        })
    }
}
