//! The spaces in which stars are grouped: the features computed from a star's measured values.
//!
//! A [`Space`] is a word with the names and units of its features. Spaces need different parts of
//! the Galaxy model: actions and the extent of an orbit need an action finder, the integrals of
//! motion a potential, positions and velocities nothing. A [`SpaceModel`] is a space together with
//! what it needs, so nothing is built unnecessarily. [`SpaceModel::transform`] is f itself: a
//! [`Transform`] of a catalogue's rows, like [`StarActions`].
//!
//! | space | features | needs |
//! |---|---|---|
//! | `actions` | Jr, Jz, Jphi; the energy is carried along | an action finder |
//! | `iom` | energy = v^2 / 2 + Phi, Lz, Lperp = sqrt(Lx^2 + Ly^2) | a potential |
//! | `orbit` | energy, Lz, circularity, eccentricity, pericentre, apocentre, zmax | an action finder |
//! | `xyzuvw` | heliocentric X, Y, Z (pc) and U, V, W (km/s) in Galactic axes | nothing |
//! | `uvw` | U, V, W alone | nothing |
//! | `galactocentric` | x, y, z, vx, vy, vz in the frame of the Sun that was chosen | nothing |
//!
//! Heliocentric axes are those of Galactic coordinates: X and U towards the Galactic centre, Y and
//! V in the direction of rotation, Z and W north. Velocities are relative to the Sun: its own
//! motion is not added, so they do not depend on the chosen Sun.
//!
//! The extent of an orbit follows from the turning points of the Stäckel fudge (Mackereth & Bovy
//! 2018), so no orbit is integrated. It is exact in a spherical potential; in the Milky Way it
//! differs from integrated orbits by 0.1 % of the apocentre in the median and by less than 2 % for
//! nine orbits out of ten, with a tail in zmax (`tests/spaces.rs`). An unbound star has neither
//! actions nor an extent; its integrals of motion and its position are still defined, and kept.

use std::sync::Arc;

use goc::uncertainty::transform::{Rejection, Transform};

use crate::actions::{ActionFinder, Extent};
use crate::catalogue::{Catalogue, ROW, Reason};
use crate::frames::{Galactocentric, JphiSign};
use crate::potential::Potential;
use crate::stars::{ACTIONS, ENERGY, StarActions, verdicts};

/// Parsecs in a kiloparsec.
const PC_PER_KPC: f64 = 1000.0;

/// A space in which stars are grouped.
///
/// ```
/// use goc_galaxy::spaces::Space;
/// let space: Space = "uvw".parse()?;
/// assert_eq!(space.features(), [("U", "km/s"), ("V", "km/s"), ("W", "km/s")]);
/// let error = "xyz".parse::<Space>().unwrap_err();
/// assert!(error.to_string().ends_with("actions, iom, orbit, xyzuvw, uvw, galactocentric"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Space {
    /// The orbital actions.
    #[default]
    Actions,
    /// Integrals of motion.
    Iom,
    /// The extent of the orbit.
    Orbit,
    /// Heliocentric positions and velocities.
    Xyzuvw,
    /// Heliocentric velocities.
    Uvw,
    /// Positions and velocities in the frame of the Galaxy.
    Galactocentric,
}

goc::choice!(Space {
    Actions = "actions": "Orbital actions: Jr, Jz, Jphi (kpc km/s)",
    Iom = "iom": "Integrals of motion: energy (km2/s2), Lz, Lperp (kpc km/s)",
    Orbit = "orbit": "energy, Lz, circularity, eccentricity, pericentre, apocentre, zmax (kpc)",
    Xyzuvw = "xyzuvw": "Heliocentric Galactic X, Y, Z (pc) and U, V, W (km/s), relative to the Sun",
    Uvw = "uvw": "U, V, W alone",
    Galactocentric = "galactocentric": "x, y, z (kpc), vx, vy, vz (km/s) in the frame of {sun}",
});

impl Space {
    /// Names and units of its features; a number without a unit has an empty one.
    pub fn features(self) -> &'static [(&'static str, &'static str)] {
        const L: &str = "kpc km/s";
        const V: &str = "km/s";
        match self {
            Self::Actions => &ACTIONS,
            Self::Iom => &[ENERGY, ("Lz", L), ("Lperp", L)],
            Self::Orbit => &[
                ENERGY,
                ("Lz", L),
                ("circularity", ""),
                ("eccentricity", ""),
                ("pericentre", "kpc"),
                ("apocentre", "kpc"),
                ("zmax", "kpc"),
            ],
            Self::Xyzuvw => &[("X", "pc"), ("Y", "pc"), ("Z", "pc"), ("U", V), ("V", V), ("W", V)],
            Self::Uvw => &[("U", V), ("V", V), ("W", V)],
            Self::Galactocentric => {
                &[("x", "kpc"), ("y", "kpc"), ("z", "kpc"), ("vx", V), ("vy", V), ("vz", V)]
            }
        }
    }

    /// Names and units of the extra values carried along.
    pub fn extras(self) -> &'static [(&'static str, &'static str)] {
        if self == Self::Actions { &[ENERGY] } else { &[] }
    }

    /// Which parts of the Galaxy model it needs.
    pub fn needs(self) -> Needs {
        match self {
            Self::Actions | Self::Orbit => Needs::Finder,
            Self::Iom => Needs::Potential,
            Self::Xyzuvw | Self::Uvw | Self::Galactocentric => Needs::Nothing,
        }
    }

    /// Whether its numbers depend on the Sun's position and velocity.
    pub fn needs_sun(self) -> bool {
        !matches!(self, Self::Xyzuvw | Self::Uvw)
    }
}

/// The parts of the Galaxy model that a space needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Only frames.
    Nothing,
    /// A potential.
    Potential,
    /// A potential with its table of focal distances.
    Finder,
}

/// A space with the parts of the Galaxy model that it needs.
#[derive(Clone)]
#[non_exhaustive]
pub enum SpaceModel {
    /// [`Space::Actions`].
    Actions(Arc<ActionFinder>),
    /// [`Space::Iom`].
    Iom(Arc<dyn Potential>),
    /// [`Space::Orbit`].
    Orbit(Arc<ActionFinder>),
    /// [`Space::Xyzuvw`].
    Xyzuvw,
    /// [`Space::Uvw`].
    Uvw,
    /// [`Space::Galactocentric`].
    Galactocentric,
}

impl SpaceModel {
    /// The model of this space; `potential` and `finder` are called only if needed.
    pub fn of<E>(
        space: Space,
        potential: impl FnOnce() -> Result<Arc<dyn Potential>, E>,
        finder: impl FnOnce() -> Result<Arc<ActionFinder>, E>,
    ) -> Result<Self, E> {
        Ok(match space {
            Space::Actions => Self::Actions(finder()?),
            Space::Iom => Self::Iom(potential()?),
            Space::Orbit => Self::Orbit(finder()?),
            Space::Xyzuvw => Self::Xyzuvw,
            Space::Uvw => Self::Uvw,
            Space::Galactocentric => Self::Galactocentric,
        })
    }

    /// Its space.
    pub fn space(&self) -> Space {
        match self {
            Self::Actions(_) => Space::Actions,
            Self::Iom(_) => Space::Iom,
            Self::Orbit(_) => Space::Orbit,
            Self::Xyzuvw => Space::Xyzuvw,
            Self::Uvw => Space::Uvw,
            Self::Galactocentric => Space::Galactocentric,
        }
    }

    /// From a row of a catalogue to the features of the space and the extra values. `sign` sets the
    /// sign convention of Jphi, Lz and the circularity.
    pub fn transform(self, catalogue: Catalogue, sign: JphiSign) -> Box<dyn Transform + Send> {
        let outputs = self.space().features().len();
        match self {
            Self::Actions(finder) => Box::new(StarActions::new(catalogue, finder, sign)),
            Self::Orbit(finder) => Box::new(StarExtents { catalogue, finder, sign }),
            Self::Iom(potential) => {
                let features = move |star: &Galactocentric, x: &mut [f64]| {
                    x.copy_from_slice(&integrals(&*potential, star, sign));
                };
                Box::new(StarPlaces { catalogue, outputs, features })
            }
            Self::Xyzuvw => {
                let features = |star: &Galactocentric, x: &mut [f64]| {
                    x[..3].copy_from_slice(&star.position.map(|kpc| kpc * PC_PER_KPC));
                    x[3..].copy_from_slice(&star.velocity);
                };
                Box::new(StarPlaces { catalogue: catalogue.heliocentric(), outputs, features })
            }
            Self::Uvw => {
                let features = |star: &Galactocentric, x: &mut [f64]| x.copy_from_slice(&star.velocity);
                Box::new(StarPlaces { catalogue: catalogue.heliocentric(), outputs, features })
            }
            Self::Galactocentric => Box::new(catalogue),
        }
    }
}

/// Energy, Lz and Lperp. The energy is bitwise identical to that of the action finder.
fn integrals(potential: &dyn Potential, star: &Galactocentric, sign: JphiSign) -> [f64; 3] {
    let ([x, y, z], [vx, vy, vz]) = (star.position, star.velocity);
    let phi = potential.gradient((x * x + y * y).sqrt(), z.abs()).phi;
    let energy = (vx * vx + vy * vy + vz * vz) * 0.5 + phi;
    let [lx, ly, lz] = star.angular_momentum();
    [energy, sign.of(lz), libm::hypot(lx, ly)]
}

/// Features computed from the position and velocity of one star at a time.
struct StarPlaces<F> {
    catalogue: Catalogue,
    outputs: usize,
    features: F,
}

impl<F: Fn(&Galactocentric, &mut [f64]) + Sync> Transform for StarPlaces<F> {
    fn inputs(&self) -> Option<usize> {
        Some(ROW)
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
        self.apply_all(ROW, z, x).pop().unwrap_or_else(|| Err(Rejection::new("no star")))
    }

    fn apply_all(&self, _: usize, points: &[f64], x: &mut [f64]) -> Vec<Result<(), Rejection>> {
        let places = self.catalogue.places(points).into_iter().zip(x.chunks_exact_mut(self.outputs));
        let verdict = |(place, x): (Result<Galactocentric, Reason>, &mut [f64])| {
            (self.features)(&place?, x);
            Ok(())
        };
        places.map(verdict).collect()
    }
}

/// Features computed from the extent of a star's orbit.
struct StarExtents {
    catalogue: Catalogue,
    finder: Arc<ActionFinder>,
    sign: JphiSign,
}

impl Transform for StarExtents {
    fn inputs(&self) -> Option<usize> {
        Some(ROW)
    }

    fn outputs(&self) -> usize {
        Space::Orbit.features().len()
    }

    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
        self.apply_all(ROW, z, x).pop().unwrap_or_else(|| Err(Rejection::new("no star")))
    }

    fn apply_all(&self, _: usize, points: &[f64], x: &mut [f64]) -> Vec<Result<(), Rejection>> {
        let places = self.catalogue.places(points);
        let found: Vec<_> = places.iter().filter_map(|place| place.ok()).collect();
        let write = |extent: Extent, x: &mut [f64]| {
            let e = extent.with_sign(self.sign);
            let shape = [e.circularity, e.eccentricity(), e.pericentre, e.apocentre, e.z_max];
            x[..2].copy_from_slice(&[e.energy, e.lz]);
            x[2..].copy_from_slice(&shape);
        };
        verdicts(places, self.finder.extents(&found), self.outputs(), x, write)
    }
}
