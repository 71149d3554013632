//! Sums of potentials.

use super::{Curvature, Gradient, Potential};
use crate::real::{LANES, Lanes};

/// The sum of any potentials.
///
/// ```
/// use goc_galaxy::potential::{Kepler, MiyamotoNagai, Potential, Sum};
/// let galaxy = Sum::new(vec![Box::new(Kepler::new(4e6)?), Box::new(MiyamotoNagai::new(1e11, 3.0, 0.3)?)]);
/// let alone = MiyamotoNagai::new(1e11, 3.0, 0.3)?;
/// assert!(galaxy.circular_velocity(8.0) > alone.circular_velocity(8.0));
/// # Ok::<(), goc_galaxy::potential::PotentialError>(())
/// ```
#[derive(Default)]
pub struct Sum {
    parts: Vec<Box<dyn Potential>>,
}

impl std::fmt::Debug for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sum of {} potentials", self.parts.len())
    }
}

impl Sum {
    /// The sum of `parts`; an empty sum is 0 everywhere.
    pub fn new(parts: Vec<Box<dyn Potential>>) -> Self {
        Self { parts }
    }

    /// Adds one more.
    pub fn push(&mut self, part: impl Potential + 'static) {
        self.parts.push(Box::new(part));
    }

    /// Number of potentials in the sum.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

impl Potential for Sum {
    fn value(&self, r: f64, z: f64) -> f64 {
        self.parts.iter().fold(0.0, |sum, part| sum + part.value(r, z))
    }

    fn gradient(&self, r: f64, z: f64) -> Gradient {
        self.parts.iter().fold(Gradient { phi: 0.0, d_r: 0.0, d_z: 0.0 }, |sum, part| {
            let one = part.gradient(r, z);
            Gradient { phi: sum.phi + one.phi, d_r: sum.d_r + one.d_r, d_z: sum.d_z + one.d_z }
        })
    }

    fn curvature(&self, r: f64, z: f64) -> Curvature {
        self.parts.iter().fold(Curvature { d_rr: 0.0, d_rz: 0.0, d_zz: 0.0 }, |sum, part| {
            let one = part.curvature(r, z);
            Curvature { d_rr: sum.d_rr + one.d_rr, d_rz: sum.d_rz + one.d_rz, d_zz: sum.d_zz + one.d_zz }
        })
    }

    fn density(&self, r: f64, z: f64) -> f64 {
        self.parts.iter().fold(0.0, |sum, part| sum + part.density(r, z))
    }

    fn values(&self, r: &Lanes, z: &Lanes) -> Lanes {
        self.parts.iter().fold(Lanes([0.0; LANES]), |sum, part| sum + part.values(r, z))
    }

    fn gradients(&self, r: &Lanes, z: &Lanes) -> Gradient<Lanes> {
        let zero = Lanes([0.0; LANES]);
        self.parts.iter().fold(Gradient { phi: zero, d_r: zero, d_z: zero }, |sum, part| {
            let one = part.gradients(r, z);
            Gradient { phi: sum.phi + one.phi, d_r: sum.d_r + one.d_r, d_z: sum.d_z + one.d_z }
        })
    }
}
