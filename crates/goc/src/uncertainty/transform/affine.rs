//! A matrix and an offset: rotations, changes of unit, differences of coordinates.

use super::{Rejection, Transform, TransformError, check_finite};

/// `f(z) = M z + b`.
///
/// ```
/// use goc::uncertainty::transform::{Affine, Transform};
/// let sum_and_difference = Affine::new(&[1.0, 1.0, 1.0, -1.0], &[0.0, 10.0])?;
/// let mut x = [0.0; 2];
/// sum_and_difference.apply(&[3.0, 2.0], &mut x).unwrap();
/// assert_eq!(x, [5.0, 11.0]);
/// # Ok::<(), goc::uncertainty::transform::TransformError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    matrix: Vec<f64>,
    offset: Vec<f64>,
}

impl Affine {
    /// `matrix` row after row, one row for each value of `offset`.
    pub fn new(matrix: &[f64], offset: &[f64]) -> Result<Self, TransformError> {
        let q = offset.len();
        if q == 0 || matrix.is_empty() {
            return Err(TransformError::Empty);
        }
        if !matrix.len().is_multiple_of(q) {
            let expected = matrix.len().next_multiple_of(q);
            return Err(TransformError::Length { what: "matrix", expected, found: matrix.len() });
        }
        check_finite("matrix", matrix)?;
        check_finite("offset", offset)?;
        Ok(Self { matrix: matrix.to_vec(), offset: offset.to_vec() })
    }
}

impl Transform for Affine {
    fn inputs(&self) -> Option<usize> {
        Some(self.matrix.len() / self.offset.len())
    }

    fn outputs(&self) -> usize {
        self.offset.len()
    }

    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
        for ((slot, row), offset) in x.iter_mut().zip(self.matrix.chunks_exact(z.len())).zip(&self.offset) {
            *slot = offset + row.iter().zip(z).map(|(m, v)| m * v).sum::<f64>();
        }
        Ok(())
    }
}
