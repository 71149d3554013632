//! From the checked values of a row to its uncertainty set.

use goc::uncertainty::{Covariance, Object, SetError, Size, UncertaintySet};
use goc_galaxy::catalogue::{GaiaCovariance, WhenIndefinite};

use super::Measured;
use crate::error::Result;
use crate::missing_values::TIMES;
use crate::sampling_names::Shape;
use crate::watch::Watch;

impl Measured {
    /// The object of a row: its uncertainty set, under its own key.
    pub fn object(&self, row: usize, size: Size, watch: &dyn Watch) -> Result<Object> {
        let object = Object::new(self.key(row), self.set(row, size, watch)?);
        let unmeasured: Vec<usize> = self.unmeasured_in(row).collect();
        Ok(if unmeasured.is_empty() { object } else { object.unmeasured(unmeasured, TIMES) })
    }

    /// The factor by which a row gets more points than usual.
    pub(crate) fn times(&self, row: usize) -> usize {
        if self.unmeasured_in(row).next().is_some() { TIMES } else { 1 }
    }
    /// The uncertainty set of a row.
    pub fn set(&self, row: usize, size: Size, watch: &dyn Watch) -> Result<UncertaintySet> {
        let value = self.value(row);
        let errors: Vec<f64> = self.errors.iter().map(|column| column[row]).collect();
        let set = match self.shape {
            Shape::Box => UncertaintySet::cuboid(&value, &errors, size),
            Shape::L1 => UncertaintySet::l1_ball(&value, &errors, size),
            Shape::Ball => {
                if let Some(other) = errors.iter().position(|e| *e != errors[0]) {
                    let problem = format!(
                        "{} is {} but {} is {}; a ball has one error for all values, use {{shape=ellipsoid}}",
                        self.error_names[0], errors[0], self.error_names[other], errors[other]
                    );
                    return Err(self.failed(row, &problem));
                }
                UncertaintySet::ball(&value, errors[0], size)
            }
            Shape::Ellipsoid if self.star => return self.star_ellipsoid(row, &value, &errors, size, watch),
            Shape::Ellipsoid => {
                let d = value.len();
                let mut matrix = vec![0.0; d * d];
                for c in 0..d {
                    matrix[c * d + c] = 1.0;
                }
                for (a, b, numbers) in &self.correlations {
                    matrix[a * d + b] = numbers[row];
                    matrix[b * d + a] = numbers[row];
                }
                Covariance::from_correlations(&errors, &matrix)
                    .and_then(|covariance| UncertaintySet::ellipsoid(&value, covariance, size))
            }
        };
        set.map_err(|error| match error {
            SetError::NotPositive { .. } => self.failed(
                row,
                "the correlations contradict each other (the covariance is not positive semi-definite); \
                 fix them, drop the row, or use {shape=box}",
            ),
            other => self.failed(row, &other.to_string()),
        })
    }
    /// The ellipsoid of a star.
    fn star_ellipsoid(
        &self,
        row: usize,
        value: &[f64],
        errors: &[f64],
        size: Size,
        watch: &dyn Watch,
    ) -> Result<UncertaintySet> {
        // Depth and the two proper motions are values 2, 3 and 4. The radial velocity, value 5, is
        // an independent measurement.
        let correlations = [(2, 3), (2, 4), (3, 4)].map(|pair| {
            let found = self.correlations.iter().find(|(a, b, _)| (*a, *b) == pair);
            found.map_or(0.0, |(.., numbers)| numbers[row])
        });
        let covariance = GaiaCovariance::new([errors[2], errors[3], errors[4], errors[5]])
            .correlations(correlations)
            .when_indefinite(WhenIndefinite::Shrink)
            .build()
            .map_err(|error| self.failed(row, &error.to_string()))?;
        if let Some(factor) = covariance.shrunk_by() {
            watch.warn(&format!(
                "object {}: its correlations contradict each other (the covariance is not positive definite); \
                 they were multiplied by {factor:.4}",
                self.name(row)
            ));
        }
        let d = value.len();
        let mut matrix = vec![0.0; d * d];
        for (r, own) in covariance.matrix().iter().enumerate() {
            matrix[(r + 2) * d + 2..][..4].copy_from_slice(own);
        }
        // The additional columns are independent measurements.
        (6..d).for_each(|c| matrix[c * d + c] = errors[c] * errors[c]);
        Covariance::new(&matrix, d)
            .and_then(|covariance| UncertaintySet::ellipsoid(value, covariance, size))
            .map_err(|error| self.failed(row, &error.to_string()))
    }
}
