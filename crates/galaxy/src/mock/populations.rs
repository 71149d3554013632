//! Populations that are drawn where they are observed: the halo, a radial merger, the thick disc,
//! globular clusters.
//!
//! The dwarfs of the mock are followed from their accretion to today; these populations are not. A
//! star's position is drawn from a density within the observed volume, and its velocity from a
//! Gaussian at that position; a star that would escape from the Galaxy is redrawn. This is not an
//! exact equilibrium, but it has the densities, the rotation and the velocity ellipsoids measured
//! near the Sun, at no cost.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::params::{MockError, ValidMock};
use crate::frames::Galactocentric;
use crate::potential::Potential;

/// Maximum number of draws of one star; beyond it, none is in the volume.
const MOST_TRIES: usize = 1_000_000;

/// Core radius, within which the halo's density no longer rises as r^-3, kpc.
const HALO_CORE: f64 = 1.0;
/// Standard deviation of each component of the halo's velocities, km/s.
const HALO_DISPERSION: f64 = 145.0;
/// The merger's: radial, polar and azimuthal (Gaia-Sausage: Belokurov et al. 2018).
const MERGER_DISPERSION: [f64; 3] = [175.0, 65.0, 60.0];
/// The thick disc's: R, phi, z.
const DISC_DISPERSION: [f64; 3] = [60.0, 40.0, 40.0];
/// How much slower than a circular orbit the thick disc rotates, km/s.
const DISC_LAG: f64 = 45.0;
/// Its scale length and scale height, kpc.
const DISC_LENGTH: f64 = 2.5;
const DISC_HEIGHT: f64 = 0.9;

/// The distribution of a population's stars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Law {
    /// Density (r^2 + core^2)^(-3/2); isotropic velocities.
    Halo,
    /// The halo's density; mostly radial velocities.
    Merger,
    /// Density exp(-R / length - |z| / height); rotates with the Galaxy.
    Disc,
    /// Gaussian around a centre: kpc and km/s for each component.
    Cluster { centre: Galactocentric, size: f64, dispersion: f64 },
}

impl Law {
    /// A star of the population that can be observed and is bound to the Galaxy.
    pub fn draw(
        &self,
        survey: &ValidMock,
        potential: &dyn Potential,
        rng: &mut goc::Stream,
    ) -> Result<Galactocentric, MockError> {
        for _ in 0..MOST_TRIES {
            let Some(position) = self.position(survey, rng) else { continue };
            let star = Galactocentric { position, velocity: self.velocity(position, potential, rng) };
            let speed_squared: f64 = star.velocity.iter().map(|v| v * v).sum();
            let bound = 0.5 * speed_squared + potential.value(star.radius(), star.z()) < 0.0;
            if bound && survey.is_near(&star) {
                return Ok(star);
            }
        }
        Err(MockError::TooRare { near: 0, tries: MOST_TRIES, population: self.name() })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Halo => "halo",
            Self::Merger => "merger",
            Self::Disc => "disc",
            Self::Cluster { .. } => "globular cluster",
        }
    }

    /// A position, or `None` if the density rejects the point.
    fn position(&self, survey: &ValidMock, rng: &mut goc::Stream) -> Option<[f64; 3]> {
        if let Self::Cluster { centre, size, .. } = self {
            return Some(centre.position.map(|x| x + size * normal(rng)));
        }
        let (sun, reach) = (survey.0.sun.position(), survey.0.reach);
        let distance = reach * libm::cbrt(rng.random::<f64>());
        let cos = 2.0 * rng.random::<f64>() - 1.0;
        let sin = (1.0 - cos * cos).sqrt();
        let angle = std::f64::consts::TAU * rng.random::<f64>();
        let towards = [sin * libm::cos(angle), sin * libm::sin(angle), cos];
        let [x, y, z] = std::array::from_fn(|c| sun[c] + distance * towards[c]);
        // The densest point within reach cannot be nearer to the centre than this.
        let nearest = |of_the_sun: f64| (of_the_sun - reach).max(0.0);
        let radius = libm::hypot(x, y);
        let density = if *self == Self::Disc {
            let inwards = radius - nearest(libm::hypot(sun[0], sun[1]));
            libm::exp(-inwards / DISC_LENGTH - z.abs() / DISC_HEIGHT)
        } else {
            let from_centre = |r: f64| r * r + HALO_CORE * HALO_CORE;
            let densest = from_centre(nearest(libm::hypot(libm::hypot(sun[0], sun[1]), sun[2])));
            let ratio = densest / from_centre(libm::hypot(radius, z));
            ratio * ratio.sqrt()
        };
        (rng.random::<f64>() < density).then_some([x, y, z])
    }

    fn velocity(&self, position: [f64; 3], potential: &dyn Potential, rng: &mut goc::Stream) -> [f64; 3] {
        let [x, y, z] = position;
        let radius = libm::hypot(x, y);
        let [cos, sin] = if radius > 0.0 { [x / radius, y / radius] } else { [1.0, 0.0] };
        match self {
            Self::Halo => std::array::from_fn(|_| HALO_DISPERSION * normal(rng)),
            Self::Merger => {
                let [outwards, south, around] = MERGER_DISPERSION.map(|sigma| sigma * normal(rng));
                let r = libm::hypot(radius, z).max(f64::MIN_POSITIVE);
                let (up, flat) = (z / r, radius / r);
                in_axes([outwards * flat + south * up, around, outwards * up - south * flat], [cos, sin])
            }
            Self::Disc => {
                let circular = (radius * potential.gradient(radius, 0.0).d_r).max(0.0).sqrt();
                // The disc rotates towards smaller azimuth.
                let mean = [0.0, DISC_LAG - circular, 0.0];
                let v = std::array::from_fn(|c| mean[c] + DISC_DISPERSION[c] * normal(rng));
                in_axes(v, [cos, sin])
            }
            Self::Cluster { centre, dispersion, .. } => centre.velocity.map(|v| v + dispersion * normal(rng)),
        }
    }
}

/// Converts a velocity along R, phi and z to x, y and z, given the cosine and sine of the azimuth.
fn in_axes([v_r, v_phi, v_z]: [f64; 3], [cos, sin]: [f64; 2]) -> [f64; 3] {
    [v_r * cos - v_phi * sin, v_r * sin + v_phi * cos, v_z]
}

/// A draw from N(0, 1).
pub(super) fn normal(rng: &mut goc::Stream) -> f64 {
    StandardNormal.sample(rng)
}
