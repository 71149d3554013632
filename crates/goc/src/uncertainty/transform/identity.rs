//! No transformation: the measured coordinates are the features.

use super::{Rejection, Transform};

/// `f(z) = z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    dimension: usize,
}

impl Identity {
    /// For this many coordinates.
    pub fn new(dimension: usize) -> Self {
        Self { dimension }
    }
}

impl Transform for Identity {
    fn inputs(&self) -> Option<usize> {
        Some(self.dimension)
    }

    fn outputs(&self) -> usize {
        self.dimension
    }

    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
        x.copy_from_slice(z);
        Ok(())
    }
}
