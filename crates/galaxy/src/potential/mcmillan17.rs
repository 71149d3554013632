//! The Milky Way of McMillan (2017, MNRAS 465, 76), best-fitting model.
//!
//! Four discs (thin and thick stellar, atomic and molecular gas), a flattened bulge and a dark
//! halo. The numbers depend slightly on how the multipoles are computed, which matters for
//! reproducing published actions: see [`Build`].

use std::sync::Arc;

use super::PotentialError;
use super::disc::{Disc, Layer};
use super::expansion::Expansion;
use super::multipole::{Joined, Resolution};
use super::spheroid::Spheroid;
use super::table::Grid;
use crate::units::{G, G_2021};

/// Whose numbers the Milky Way reproduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Build {
    /// AGAMA of February 2021, with which the authors computed their actions: 33 angular nodes and
    /// an older value of Newton's constant.
    Authors,
    /// A current AGAMA (1.0.159): 39 angular nodes. Differs from the authors' by a relative 4e-5 in
    /// the potential.
    Agama,
    /// Enough angular nodes and radii for convergence. Differs from AGAMA's by a relative 7e-5 in
    /// the potential.
    Converged,
}

/// McMillan's (2017) Milky Way. Clones share their tables.
///
/// ```
/// use goc_galaxy::potential::{Build, McMillan17, Potential};
/// let milky_way = McMillan17::new(Build::Converged);
/// let speed = milky_way.circular_velocity(8.178);
/// assert!((speed - 233.0).abs() < 1.0);
/// ```
#[derive(Clone, Debug)]
pub struct McMillan17 {
    pub(super) expansion: Arc<Expansion>,
}

/// AGAMA's radii for this model, kpc.
const AGAMA_RADII: (f64, f64) = (2.118_872_117_7e-5, 929_335.963_995_51);

fn parts() -> Result<(Vec<Disc>, Vec<Spheroid>), PotentialError> {
    let discs = vec![
        Disc::new(8.956_79e8, 2.499_55, 0.0, Layer::Exponential(0.3))?,
        Disc::new(1.834_44e8, 3.021_34, 0.0, Layer::Exponential(0.9))?,
        Disc::new(5.313_19e7, 7.0, 4.0, Layer::Isothermal(0.085))?,
        Disc::new(2.179_95e9, 1.5, 12.0, Layer::Isothermal(0.045))?,
    ];
    let spheroids = vec![
        Spheroid::new(9.8351e10, 0.075, 0.0, 1.8)?.axis_ratio(0.5)?.cut_off(2.1, 2.0)?,
        Spheroid::new(8.537_02e6, 19.5725, 1.0, 3.0)?,
    ];
    Ok((discs, spheroids))
}

impl McMillan17 {
    /// Computes the tables.
    pub fn new(build: Build) -> Self {
        let (discs, spheroids) = parts().expect("the parameters above are all positive");
        let agama = |nodes| Resolution {
            degree: 32,
            angles: Resolution::angles_whole(nodes),
            radii: AGAMA_RADII,
            count: 50,
            between: 10,
            joined: Joined::AsAgama,
        };
        let grid = Grid { radii: (1e-4, 2e4) };
        let expansion = match build {
            Build::Authors => Expansion::with_resolution(discs, spheroids, G_2021, &agama(33), &grid),
            Build::Agama => Expansion::with_resolution(discs, spheroids, G, &agama(39), &grid),
            Build::Converged => Expansion::new(discs, spheroids),
        };
        Self { expansion: Arc::new(expansion) }
    }

    #[cfg(test)]
    pub(super) fn expansion(&self) -> &Expansion {
        &self.expansion
    }

    /// The potential at the centre, (km/s)^2.
    pub fn phi0(&self) -> f64 {
        self.expansion.phi0()
    }
}
