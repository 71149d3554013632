//! The transformation f of the paper's Example 1: from what was measured of a star to its orbital actions.
//!
//! A star is six numbers in the order of a catalogue: longitude and latitude on the sky, a depth (parallax, distance or distance
//! modulus), the two proper motions, the radial velocity. [`StarFrame`] gives its Galactocentric place, [`StarActions`] the features
//! (Jr, Jz, Jphi) and behind them the energy. Where there is no answer there is a reason: a parallax that is
//! not positive has no distance, an unbound star no actions.

use goc::uncertainty::transform::{Rejection, Transform};

use crate::actions::{ActionFinder, Outcome};
use crate::frames::{Direction, Distance, FrameError, Galactocentric, JphiSign, Sky, SkyPosition, Sun};

/// How a catalogue says how far a star is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// Parallax, mas.
    Parallax,
    /// Distance, kpc.
    Distance,
    /// Distance modulus, magnitudes.
    Modulus,
}

/// The unit of longitude and latitude.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Angles {
    /// Degrees.
    #[default]
    Degrees,
    /// Radians.
    Radians,
}

/// How the six numbers of a star become a place in the Galaxy.
///
/// ```
/// use goc_galaxy::frames::{Sky, Sun};
/// use goc_galaxy::stars::{Angles, Depth, StarFrame};
/// let frame = StarFrame::new(Sky::Galactic, Depth::Parallax, Angles::Degrees, Sun::hattori());
/// let star = frame.place(&[0.0, 90.0, 0.5, 0.0, 0.0, -7.25])?;
/// assert!((star.z() - 2.0208).abs() < 1e-12 && star.v_z().abs() < 1e-12);
/// let reason = frame.place(&[0.0, 90.0, -0.1, 0.0, 0.0, 0.0]).unwrap_err();
/// assert_eq!(reason.reason(), "parallax not positive");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StarFrame {
    sky: Sky,
    depth: Depth,
    angles: Angles,
    sun: Sun,
    zero_point: f64,
}

impl StarFrame {
    /// For a catalogue in these coordinates, seen from this Sun.
    pub fn new(sky: Sky, depth: Depth, angles: Angles, sun: Sun) -> Self {
        Self { sky, depth, angles, sun, zero_point: 0.0 }
    }

    /// Adds this to every parallax, mas; 0 unless told.
    pub fn zero_point(mut self, mas: f64) -> Self {
        self.zero_point = mas;
        self
    }

    /// The place of one star: longitude, latitude, depth, two proper motions (mas/yr, the first with the cosine of the latitude), radial
    /// velocity (km/s).
    pub fn place(&self, star: &[f64; 6]) -> Result<Galactocentric, Rejection> {
        self.at(&self.direction(star[0], star[1])?, star)
    }

    fn direction(&self, lon: f64, lat: f64) -> Result<Direction, Rejection> {
        let position = match self.angles {
            Angles::Degrees => SkyPosition::degrees(self.sky, lon, lat),
            Angles::Radians => SkyPosition::radians(self.sky, lon, lat),
        };
        Ok(self.sun.direction(&position.map_err(reject)?))
    }

    fn at(&self, direction: &Direction, star: &[f64; 6]) -> Result<Galactocentric, Rejection> {
        let distance = match self.depth {
            Depth::Parallax => Distance::from_parallax(star[2] + self.zero_point),
            Depth::Distance => Distance::from_kpc(star[2]),
            Depth::Modulus => Distance::from_modulus(star[2]),
        };
        let place = direction.at(distance.map_err(reject)?.kpc(), [star[3], star[4]], star[5]);
        if place.is_finite() { Ok(place) } else { Err(Rejection::new("position or velocity not finite")) }
    }
}

/// A reason without the star's own numbers, so that stars can be counted by it.
fn reject(error: FrameError) -> Rejection {
    Rejection::new(match error {
        FrameError::NotPositiveParallax { .. } => "parallax not positive",
        FrameError::NotPositiveDistance { .. } => "distance not positive",
        FrameError::NotFinite { .. } => "a measured value is not finite",
        FrameError::Latitude { .. } => "latitude beyond the pole",
        _ => "no distance",
    })
}

/// From what was measured to (Jr, Jz, Jphi, energy): a [`Transform`] of six numbers into four.
pub struct StarActions {
    frame: StarFrame,
    finder: ActionFinder,
    sign: JphiSign,
}

impl StarActions {
    /// In this frame, by this finder, with Jphi counted this way.
    pub fn new(frame: StarFrame, finder: ActionFinder, sign: JphiSign) -> Self {
        Self { frame, finder, sign }
    }
}

impl Transform for StarActions {
    fn inputs(&self) -> Option<usize> {
        Some(6)
    }

    fn outputs(&self) -> usize {
        4
    }

    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
        self.apply_all(6, z, x).pop().unwrap_or_else(|| Err(Rejection::new("no star")))
    }

    fn apply_all(&self, d: usize, points: &[f64], x: &mut [f64]) -> Vec<Result<(), Rejection>> {
        let mut verdicts = Vec::with_capacity(points.len() / d);
        let mut places = Vec::with_capacity(points.len() / d);
        // The candidates of a star have one direction.
        let mut last: Option<([f64; 2], Direction)> = None;
        for z in points.chunks_exact(d) {
            let star: [f64; 6] = std::array::from_fn(|c| z[c]);
            let position = [star[0], star[1]];
            let place = match &last {
                Some((same, direction)) if *same == position => self.frame.at(direction, &star),
                _ => self.frame.direction(star[0], star[1]).and_then(|direction| {
                    let place = self.frame.at(&direction, &star);
                    last = Some((position, direction));
                    place
                }),
            };
            verdicts.push(place.map(|place| places.push(place)));
        }
        let mut outcomes = self.finder.many(&places).into_iter();
        for (verdict, x) in verdicts.iter_mut().zip(x.chunks_exact_mut(4)) {
            if verdict.is_err() {
                continue;
            }
            match outcomes.next() {
                Some(Outcome::Bound(actions)) => {
                    let a = actions.with_sign(self.sign);
                    x.copy_from_slice(&[a.jr, a.jz, a.jphi, a.energy]);
                }
                Some(Outcome::Unbound { .. }) => *verdict = Err(Rejection::new("unbound")),
                Some(Outcome::Undefined(reason)) => *verdict = Err(Rejection::new(reason.to_string())),
                _ => *verdict = Err(Rejection::new("no actions")),
            }
        }
        verdicts
    }
}
