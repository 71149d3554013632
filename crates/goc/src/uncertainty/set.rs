//! Uncertainty sets: eqs. (1) and (2) of the paper.
//!
//! A measured value `zeta` comes with a known error distribution. The set of possible true values
//! is a level set of its density (eq. 2), large enough to contain the truth with probability `1 -
//! eta` (eq. 1):
//!
//! | constructor | density | set |
//! |---|---|---|
//! | [`UncertaintySet::cuboid`] | independent normals | box, a half-width per coordinate (the authors' choice) |
//! | [`UncertaintySet::limits`] | uniform | the same box, given by its half-widths |
//! | [`UncertaintySet::l1_ball`] | Laplace | `sum_c abs(dz_c) / b_c <= rho` |
//! | [`UncertaintySet::ball`] | normal, one error for all | Euclidean ball |
//! | [`UncertaintySet::ellipsoid`] | normal with covariance | `dz^T Sigma^-1 dz <= rho^2` |
//!
//! The box is not a level set of independent normals (those are ellipsoids), but it is what the
//! error bars of surveys suggest, and eq. (1) holds for it all the same.
//!
//! Internally all are represented in the same way: a unit body `B` (cube, cross-polytope or ball)
//! in the `k` directions that have an error, and a linear map `A`; the set is `zeta + rho A B`. A
//! coordinate with error 0 is exact: it has its measured value at every point of the set. If all
//! coordinates are exact, the set is a single point.

use super::{Covariance, SetError, Size};

/// The unit body behind a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Cube,
    Cross,
    Ball,
}

/// The error density of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Density {
    /// Normal errors, independent or with a covariance.
    Normal,
    /// Independent Laplace errors.
    Laplace,
    /// Uniform over the set itself.
    Uniform,
}

/// The linear map from the directions of the body to the coordinates.
#[derive(Clone, Debug, PartialEq)]
enum Frame {
    /// Coordinate `active[a]` is `scale[a]` times direction `a`.
    Diagonal {
        active: Vec<usize>,
        scale: Vec<f64>,
    },
    Full(Covariance),
}

/// The possible true values of an object's covariates, around the measured ones.
///
/// ```
/// use goc::uncertainty::{Size, UncertaintySet};
/// // Parallax 0.5 +- 0.1, proper motion 3 +- 0.2, and a longitude known exactly.
/// let set = UncertaintySet::cuboid(&[0.5, 3.0, 1.57], &[0.1, 0.2, 0.0], Size::sigmas(2.0)?)?;
/// assert_eq!(set.half_width(1), 0.4);
/// assert!(set.contains(&[0.31, 3.39, 1.57]) && !set.contains(&[0.5, 3.0, 1.58]));
/// # Ok::<(), goc::uncertainty::SetError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct UncertaintySet {
    centre: Vec<f64>,
    body: Body,
    density: Density,
    frame: Frame,
    rho: f64,
}

impl UncertaintySet {
    /// A box around `centre` from independent normal errors, one per coordinate.
    pub fn cuboid(centre: &[f64], errors: &[f64], size: Size) -> Result<Self, SetError> {
        check_not_negative("error", errors)?;
        Self::diagonal(centre, errors, Body::Cube, Density::Normal, size)
    }

    /// A box given by its half-widths: the errors are hard limits, and all values in between are
    /// equally likely.
    pub fn limits(centre: &[f64], half_widths: &[f64]) -> Result<Self, SetError> {
        check_not_negative("half-width", half_widths)?;
        Self::diagonal(centre, half_widths, Body::Cube, Density::Uniform, Size::sigmas(1.0)?)
    }

    /// An l1 ball around `centre` from independent Laplace errors of density `exp(-abs(dz) / scale)`.
    pub fn l1_ball(centre: &[f64], scales: &[f64], size: Size) -> Result<Self, SetError> {
        check_not_negative("scale", scales)?;
        Self::diagonal(centre, scales, Body::Cross, Density::Laplace, size)
    }

    /// A Euclidean ball around `centre` from normal errors, the same in all coordinates.
    pub fn ball(centre: &[f64], error: f64, size: Size) -> Result<Self, SetError> {
        let errors = vec![error; centre.len()];
        check_not_negative("error", &errors)?;
        Self::diagonal(centre, &errors, Body::Ball, Density::Normal, size)
    }

    /// An ellipsoid around `centre` from normal errors with a covariance.
    pub fn ellipsoid(centre: &[f64], covariance: Covariance, size: Size) -> Result<Self, SetError> {
        let (expected, found) = (centre.len(), covariance.dimension());
        if expected != found {
            return Err(SetError::Length {
                what: "covariance",
                expected: expected * expected,
                found: found * found,
            });
        }
        let widest = (0..found).map(|c| covariance.variance(c).sqrt()).fold(0.0, f64::max);
        let rho = size.rho(Body::Ball, covariance.rank(), widest);
        Self::checked(centre, Body::Ball, Density::Normal, Frame::Full(covariance), rho)
    }

    fn diagonal(
        centre: &[f64],
        errors: &[f64],
        body: Body,
        density: Density,
        size: Size,
    ) -> Result<Self, SetError> {
        if errors.len() != centre.len() {
            return Err(SetError::Length { what: "errors", expected: centre.len(), found: errors.len() });
        }
        let active: Vec<usize> = (0..errors.len()).filter(|&c| errors[c] > 0.0).collect();
        let scale: Vec<f64> = active.iter().map(|&c| errors[c]).collect();
        let rho = size.rho(body, active.len(), scale.iter().copied().fold(0.0, f64::max));
        Self::checked(centre, body, density, Frame::Diagonal { active, scale }, rho)
    }

    fn checked(
        centre: &[f64],
        body: Body,
        density: Density,
        frame: Frame,
        rho: f64,
    ) -> Result<Self, SetError> {
        if centre.is_empty() {
            return Err(SetError::NoCoordinates);
        }
        check_finite("value", centre)?;
        let set = Self { centre: centre.to_vec(), body, density, frame, rho };
        for (coordinate, &value) in centre.iter().enumerate() {
            // Draws from a density reach beyond the set, but never as far as 500 errors.
            let half_width = set.half_width(coordinate).max(500.0 * set.error(coordinate));
            if !(value.abs() + half_width).is_finite() {
                return Err(SetError::TooWide { coordinate, value, half_width });
            }
        }
        Ok(set)
    }

    /// The measured value, zeta.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// Number of coordinates, d.
    pub fn dimension(&self) -> usize {
        self.centre.len()
    }

    /// Number of independent directions with an error, k.
    pub fn rank(&self) -> usize {
        match &self.frame {
            Frame::Diagonal { active, .. } => active.len(),
            Frame::Full(covariance) => covariance.rank(),
        }
    }

    /// The size in units of the errors: rho.
    pub fn rho(&self) -> f64 {
        self.rho
    }

    /// The error density of the set.
    pub fn density(&self) -> Density {
        self.density
    }

    /// The extent of the set around the measured value along one coordinate; 0 for an exact
    /// coordinate.
    ///
    /// # Panics
    /// If there is no such coordinate.
    pub fn half_width(&self, coordinate: usize) -> f64 {
        assert!(coordinate < self.dimension(), "no coordinate {coordinate}");
        self.rho * self.error(coordinate)
    }

    /// The error of one coordinate: the half-width at rho = 1.
    pub(super) fn error(&self, coordinate: usize) -> f64 {
        match &self.frame {
            Frame::Diagonal { active, scale } => {
                active.iter().position(|&c| c == coordinate).map_or(0.0, |a| scale[a])
            }
            Frame::Full(covariance) => covariance.variance(coordinate).sqrt(),
        }
    }

    /// True if `z` lies in the set, boundary included. The tolerance for rounding is 1e-12 of the
    /// size plus a few units in the last place of the coordinates, which matters where an error is
    /// small compared with its value.
    pub fn contains(&self, z: &[f64]) -> bool {
        if z.len() != self.dimension() {
            return false;
        }
        let u = self.directions(z);
        let mut back = self.centre.clone();
        self.add_image(1.0, &u, &mut back);
        // Outside the directions with an error the difference must vanish.
        let flat = (0..z.len()).all(|c| {
            let unit = z[c].abs().max(self.centre[c].abs()) * 1e-12;
            (back[c] - z[c]).abs() <= unit.max(1e-9 * self.half_width(c))
        });
        let last_places: f64 = self
            .narrowest()
            .map(|(c, width)| 4.0 * f64::EPSILON * z[c].abs().max(self.centre[c].abs()) / width)
            .sum();
        flat && norm(self.body, &u) <= self.rho * (1.0 + 1e-12) + last_places
    }

    /// The negative log density at `z` relative to the centre: half the squared Mahalanobis
    /// distance for normal errors, the scaled l1 distance for Laplace errors, 0 for uniform ones.
    pub fn surprise(&self, z: &[f64]) -> f64 {
        let u = self.directions(z);
        match self.density {
            Density::Normal => 0.5 * u.iter().map(|x| x * x).sum::<f64>(),
            Density::Laplace => u.iter().map(|x| x.abs()).sum(),
            Density::Uniform => 0.0,
        }
    }

    /// The set for some of the coordinates only: that of their marginal distribution, at the same
    /// rho.
    pub fn marginal(&self, coordinates: &[usize]) -> Result<Self, SetError> {
        let dimension = self.dimension();
        if let Some(&coordinate) = coordinates.iter().find(|&&c| c >= dimension) {
            return Err(SetError::NoSuchCoordinate { coordinate, dimension });
        }
        let centre: Vec<f64> = coordinates.iter().map(|&c| self.centre[c]).collect();
        let frame = match &self.frame {
            Frame::Full(covariance) => Frame::Full(covariance.marginal(coordinates)?),
            Frame::Diagonal { active, scale } => {
                let kept: Vec<(usize, f64)> = coordinates
                    .iter()
                    .enumerate()
                    .filter_map(|(new, c)| active.iter().position(|a| a == c).map(|a| (new, scale[a])))
                    .collect();
                Frame::Diagonal {
                    active: kept.iter().map(|k| k.0).collect(),
                    scale: kept.iter().map(|k| k.1).collect(),
                }
            }
        };
        Self::checked(&centre, self.body, self.density, frame, self.rho)
    }

    /// The coordinates that determine the directions, each with its error conditional on those
    /// before it.
    fn narrowest(&self) -> impl Iterator<Item = (usize, f64)> {
        (0..self.rank()).map(|k| match &self.frame {
            Frame::Diagonal { active, scale } => (active[k], scale[k]),
            Frame::Full(covariance) => covariance.pivot(k),
        })
    }

    pub(super) fn body(&self) -> Body {
        self.body
    }

    /// `z += scale * A u`.
    pub(super) fn add_image(&self, factor: f64, u: &[f64], z: &mut [f64]) {
        match &self.frame {
            Frame::Diagonal { active, scale } => {
                for (a, &c) in active.iter().enumerate() {
                    z[c] += factor * scale[a] * u[a];
                }
            }
            Frame::Full(covariance) => covariance.add_image(factor, u, z),
        }
    }

    /// The direction in which one coordinate increases, in the space of the body: a unit vector, or
    /// `None` for an exact coordinate.
    pub(super) fn towards(&self, coordinate: usize) -> Option<Vec<f64>> {
        let mut e = vec![0.0; self.rank()];
        match &self.frame {
            Frame::Diagonal { active, .. } => e[active.iter().position(|&c| c == coordinate)?] = 1.0,
            Frame::Full(covariance) => {
                let row = covariance.factor_row(coordinate);
                let length = row.iter().map(|l| l * l).sum::<f64>().sqrt();
                if length == 0.0 {
                    return None;
                }
                for (slot, l) in e.iter_mut().zip(row) {
                    *slot = l / length;
                }
            }
        }
        Some(e)
    }

    /// `u` with `A u = z - zeta`.
    fn directions(&self, z: &[f64]) -> Vec<f64> {
        let mut u = vec![0.0; self.rank()];
        match &self.frame {
            Frame::Diagonal { active, scale } => {
                for (a, &c) in active.iter().enumerate() {
                    u[a] = (z[c] - self.centre[c]) / scale[a];
                }
            }
            Frame::Full(covariance) => {
                let dz: Vec<f64> = z.iter().zip(&self.centre).map(|(x, c)| x - c).collect();
                covariance.solve(&dz, &mut u);
            }
        }
        u
    }
}

fn norm(body: Body, u: &[f64]) -> f64 {
    match body {
        Body::Cube => u.iter().fold(0.0, |largest, x| x.abs().max(largest)),
        Body::Cross => u.iter().map(|x| x.abs()).sum(),
        Body::Ball => u.iter().map(|x| x * x).sum::<f64>().sqrt(),
    }
}

fn check_finite(what: &'static str, values: &[f64]) -> Result<(), SetError> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(coordinate) => Err(SetError::NotFinite { what, coordinate, value: values[coordinate] }),
        None => Ok(()),
    }
}

pub(super) fn check_not_negative(what: &'static str, values: &[f64]) -> Result<(), SetError> {
    check_finite(what, values)?;
    match values.iter().position(|v| *v < 0.0) {
        Some(coordinate) => Err(SetError::Negative { what, coordinate, value: values[coordinate] }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_widths_follow_the_size() {
        let sigmas = [0.5, 0.0, 2.0];
        let two = Size::sigmas(2.0).unwrap();
        let set = UncertaintySet::cuboid(&[1.0; 3], &sigmas, two).unwrap();
        assert_eq!([0, 1, 2].map(|c| set.half_width(c)), [1.0, 0.0, 4.0]);
        assert_eq!(set.rank(), 2);
        // An absolute radius preserves the shape and applies to the widest coordinate.
        let set = UncertaintySet::l1_ball(&[1.0; 3], &sigmas, Size::radius(10.0).unwrap()).unwrap();
        assert_eq!([0, 1, 2].map(|c| set.half_width(c)), [2.5, 0.0, 10.0]);
        let set = UncertaintySet::ball(&[1.0; 3], 0.3, Size::radius(7.0).unwrap()).unwrap();
        assert!((set.half_width(1) - 7.0).abs() < 1e-15);
        let sigma = Covariance::new(&[4.0, 1.0, 1.0, 9.0], 2).unwrap();
        let set = UncertaintySet::ellipsoid(&[0.0; 2], sigma, two).unwrap();
        assert_eq!([0, 1].map(|c| set.half_width(c)), [4.0, 6.0]);
    }

    #[test]
    fn all_errors_zero_is_the_one_point() {
        for set in [
            UncertaintySet::cuboid(&[3.0, 4.0], &[0.0, 0.0], Size::eta(0.1).unwrap()).unwrap(),
            UncertaintySet::ball(&[3.0, 4.0], 0.0, Size::radius(1.0).unwrap()).unwrap(),
        ] {
            assert!(set.contains(&[3.0, 4.0]) && !set.contains(&[3.0, 4.1]));
        }
    }

    #[test]
    fn surprise_is_minus_the_log_density() {
        let one = Size::sigmas(1.0).unwrap();
        let z = [1.0, -3.0];
        let normal = UncertaintySet::cuboid(&[0.0, 0.0], &[0.5, 2.0], one).unwrap();
        assert_eq!(normal.surprise(&z), 0.5 * (4.0 + 2.25));
        let laplace = UncertaintySet::l1_ball(&[0.0, 0.0], &[0.5, 2.0], one).unwrap();
        assert_eq!(laplace.surprise(&z), 2.0 + 1.5);
        assert_eq!(UncertaintySet::limits(&[0.0, 0.0], &[5.0, 5.0]).unwrap().surprise(&z), 0.0);
        let sigma = Covariance::new(&[2.0, 1.0, 1.0, 2.0], 2).unwrap();
        let full = UncertaintySet::ellipsoid(&[0.0, 0.0], sigma, one).unwrap();
        // z^T [[2, -1], [-1, 2]] z / 3 = (2 + 6 + 18) / 3
        assert!((full.surprise(&z) - 13.0 / 3.0).abs() < 1e-14);
        let of_one = full.marginal(&[1]).unwrap();
        assert!((of_one.surprise(&[-3.0]) - 9.0 / 4.0).abs() < 1e-14);
        assert_eq!(normal.marginal(&[1, 0]).unwrap().surprise(&[-3.0, 1.0]), normal.surprise(&z));
    }

    #[test]
    fn bad_values_and_errors_are_named() {
        let one = Size::sigmas(1.0).unwrap();
        let message = |centre: &[f64], errors: &[f64]| {
            UncertaintySet::cuboid(centre, errors, one).unwrap_err().to_string()
        };
        assert_eq!(message(&[], &[]), "an uncertainty set needs at least one coordinate");
        assert_eq!(message(&[1.0], &[1.0, 2.0]), "errors: 2 values where 1 are needed");
        assert_eq!(
            message(&[1.0, f64::NAN], &[1.0, 1.0]),
            "coordinate 1: the value NaN is not a finite number"
        );
        assert_eq!(
            message(&[1.0, 2.0], &[1.0, -0.03]),
            "coordinate 1: the error -0.03 is negative; use 0 for an exact coordinate"
        );
        assert!(message(&[1e308], &[1e308]).contains("beyond the finite numbers"));
        let sigma = Covariance::new(&[1.0], 1).unwrap();
        assert!(UncertaintySet::ellipsoid(&[1.0, 2.0], sigma, one).is_err());
    }
}
