//! galpy's Milky Way, MWPotential2014 (Bovy 2015, ApJS 216, 29, table 1).
//!
//! A bulge (power law 1.8 with an edge at 1.9 kpc), a Miyamoto-Nagai disc (3 kpc, 280 pc) and an
//! NFW halo (16 kpc), which contribute 5, 60 and 35 % of the force at 8 kpc, where the circular
//! speed is 220 km/s.

use std::sync::Arc;

use super::{CutPower, MiyamotoNagai, NFW, PotentialError, Sum};

/// galpy's MWPotential2014. Unlike galpy's, it vanishes at infinity and is in kpc and km/s. Clones
/// share their parts.
///
/// ```
/// use goc_galaxy::potential::{MWPotential2014, Potential};
/// let milky_way = MWPotential2014::new();
/// assert!((milky_way.circular_velocity(8.0) - 220.0).abs() < 1e-10);
/// ```
#[derive(Clone, Debug)]
pub struct MWPotential2014 {
    pub(super) sum: Arc<Sum>,
}

fn parts() -> Result<Sum, PotentialError> {
    let (r, square) = (8.0, 220.0 * 220.0);
    let speed = |share: f64| f64::sqrt(share * square);
    let mut sum = Sum::default();
    sum.push(CutPower::normalised(1.8, 1.9, r, speed(0.05))?);
    sum.push(MiyamotoNagai::normalised(3.0, 0.28, r, speed(0.6))?);
    sum.push(NFW::normalised(16.0, r, speed(0.35))?);
    Ok(sum)
}

impl MWPotential2014 {
    /// The model with galpy's own numbers.
    pub fn new() -> Self {
        Self { sum: Arc::new(parts().expect("the parameters above are all in range")) }
    }
}

impl Default for MWPotential2014 {
    fn default() -> Self {
        Self::new()
    }
}
