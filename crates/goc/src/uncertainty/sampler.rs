//! Samplers: from a set to points in it, eq. (4) of the paper.
//!
//! | [`Sampler`] | points |
//! |---|---|
//! | `Uniform` | independent, uniform over the set: the paper's text |
//! | `Sobol` | evenly spread over the set (low discrepancy): fewer holes at the same number |
//! | `Grid` | one coordinate in even steps through the set, the others uniform over what is left of it: what the authors ran |
//! | `Density` | independent draws from the error distribution itself, *not* cut off at the set |
//! | `Tails` | most of them the same, the others with heavy tails: Student's t of [`STUDENT_DF`] degrees of freedom with errors [`TAIL_FACTOR`] times as large |
//!
//! # Uniform sampling of a body
//! Cube: each direction independently. Ball: a normal vector gives the direction, and `w^(1/k)`
//! with uniform `w` the radius. Cross-polytope (l1 ball): `k + 1` exponentials divided by their
//! sum, with the last one dropped and random signs. Boxes and ellipsoids are linear images of
//! these, so uniform samples stay uniform.
//!
//! # Low-discrepancy sampling of a body
//! A volume-preserving map from the unit cube of the *same* dimension keeps the points evenly
//! spread. Ball: each coordinate is mapped to a normal value `g_c` by the quantile function; `g /
//! |g|` is the direction. The chi distribution function of `|g|` is uniform and independent of the
//! direction, so its k-th root is the radius. Cross-polytope: the same with Laplace values and the
//! gamma distribution of their l1 norm.
//!
//! The uniform points and the grid of a box use arithmetic only and are bit-identical on every
//! machine. The others use the platform's logarithms and exponentials, whose last digit may differ
//! between systems.
//!
//! # The grid
//! `m` values from minus to plus the half-width of the chosen coordinate, both ends included. With
//! odd `m` the middle one is the measured value itself, and `m = 1` gives the measured value alone.
//! At each value the other coordinates are redrawn uniformly over the corresponding slice of the
//! set: for a box this is their full range; for a ball or an ellipsoid it is a smaller ball or
//! ellipsoid (shifted as the correlations require), which shrinks to a point at the ends. The
//! authors used a box of 2 sigma and 101 values of the parallax.

use super::set::{Body, Density};
use super::sobol::Sobol;
use super::{SetError, UncertaintySet};
use crate::{Points, Stream};
use rand::RngExt;
use rand_distr::{Exp1, StandardNormal};
use statrs::function::erf::erfc_inv;
use statrs::function::gamma::gamma_lr;

/// How points are drawn from a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sampler {
    /// Independent and uniform over the set.
    #[default]
    Uniform,
    /// Evenly spread over the set.
    Sobol,
    /// One coordinate (from 0) in even steps, the others uniform.
    Grid {
        /// The coordinate that is stepped through.
        coordinate: usize,
    },
    /// Independent draws from the error distribution, not cut off at the set.
    Density,
    /// Mostly the same, but some with heavy tails, for errors that may be underestimated.
    Tails,
}

/// Degrees of freedom of the tails of [`Sampler::Tails`]: the smallest integer for which the
/// variance is finite.
pub const STUDENT_DF: f64 = 3.0;

/// The share of draws from the tails.
pub const TAIL_SHARE: f64 = 0.3;
/// See [`TAIL_SHARE`].
pub const TAIL_FACTOR: f64 = 2.0;

/// The largest factor by which heavy-tailed draws multiply all errors. It bounds the draws; only
/// one in 60 000 would be farther.
const LARGEST_FACTOR: f64 = 45.0;

impl Sampler {
    /// `m` points of `set`, drawn from `stream`.
    ///
    /// ```
    /// use goc::random::stream;
    /// use goc::uncertainty::{Sampler, Size, UncertaintySet};
    /// let set = UncertaintySet::cuboid(&[5.0, 1.0], &[0.5, 0.1], Size::sigmas(2.0)?)?;
    /// let points = Sampler::Grid { coordinate: 0 }.points(&set, 5, &mut stream(1, 42))?;
    /// let stepped: Vec<f64> = points.rows().map(|z| z[0]).collect();
    /// assert_eq!(stepped, [4.0, 4.5, 5.0, 5.5, 6.0]);
    /// assert!(points.rows().all(|z| set.contains(z)));
    /// # Ok::<(), goc::uncertainty::SetError>(())
    /// ```
    pub fn points(&self, set: &UncertaintySet, m: usize, stream: &mut Stream) -> Result<Points, SetError> {
        let mut values = Vec::with_capacity(m * set.dimension());
        self.draw(set, m, stream, |_, z| values.extend_from_slice(z))?;
        Ok(Points::trusted(values, set.dimension()))
    }

    /// Rejects a grid along a coordinate that a set of this dimension does not have.
    pub(super) fn check(&self, dimension: usize) -> Result<(), SetError> {
        match *self {
            Sampler::Grid { coordinate } if coordinate >= dimension => {
                Err(SetError::NoSuchCoordinate { coordinate, dimension })
            }
            _ => Ok(()),
        }
    }

    /// Calls `take(j, z)` for `m` points in order.
    pub(super) fn draw(
        &self,
        set: &UncertaintySet,
        m: usize,
        rng: &mut Stream,
        mut take: impl FnMut(usize, &[f64]),
    ) -> Result<(), SetError> {
        self.check(set.dimension())?;
        if *self == Sampler::Tails && set.density() != Density::Normal {
            return Err(SetError::TailsOfOthers);
        }
        let k = set.rank();
        let (mut u, mut cube) = (vec![0.0; k], vec![0.0; k]);
        let mut z = set.centre().to_vec();
        let mut sobol = Sobol::new(k);
        let slice = match *self {
            Sampler::Grid { coordinate } => Some(Slice::new(set, coordinate)),
            _ => None,
        };
        for j in 0..m {
            z.copy_from_slice(set.centre());
            match (self, &slice) {
                (Sampler::Sobol, _) => {
                    sobol.point(rng, &mut cube);
                    spread(set.body(), &cube, &mut u);
                    set.add_image(set.rho(), &u, &mut z);
                }
                (Sampler::Grid { .. }, Some(slice)) => {
                    slice.point(set, grid_step(j, m), rng, &mut u, &mut z);
                }
                (Sampler::Density | Sampler::Tails, _) if set.density() != Density::Uniform => {
                    for slot in &mut u {
                        *slot = match set.density() {
                            Density::Laplace => rng.sample::<f64, _>(Exp1) * sign(rng),
                            _ => rng.sample(StandardNormal),
                        };
                    }
                    let factor = if *self == Sampler::Tails { tail_factor(rng) } else { 1.0 };
                    set.add_image(factor, &u, &mut z);
                }
                _ => {
                    uniform(set.body(), rng, &mut u);
                    set.add_image(set.rho(), &u, &mut z);
                }
            }
            take(j, &z);
        }
        Ok(())
    }
}

/// Step `j` of `m` from -1 to 1. Integer arithmetic until the division makes the steps symmetric
/// and the middle exactly 0.
fn grid_step(j: usize, m: usize) -> f64 {
    if m == 1 { 0.0 } else { (2.0 * j as f64 - (m - 1) as f64) / (m - 1) as f64 }
}

/// The factor that multiplies a normal vector. In the tails, for Student's distribution, it is the
/// square root of the degrees of freedom over a chi-square variate.
fn tail_factor(rng: &mut Stream) -> f64 {
    if rng.random::<f64>() >= TAIL_SHARE {
        return 1.0;
    }
    let chi_square: f64 =
        (0..STUDENT_DF as usize).map(|_| rng.sample::<f64, _>(StandardNormal).powi(2)).sum();
    TAIL_FACTOR * (STUDENT_DF / chi_square).sqrt().min(LARGEST_FACTOR)
}

fn sign(rng: &mut Stream) -> f64 {
    if rng.random::<bool>() { 1.0 } else { -1.0 }
}

/// A uniform point of the unit body.
fn uniform(body: Body, rng: &mut Stream, u: &mut [f64]) {
    let k = u.len();
    if k == 0 {
        return;
    }
    match body {
        Body::Cube => {
            for slot in u.iter_mut() {
                *slot = 2.0 * rng.random::<f64>() - 1.0;
            }
        }
        Body::Ball => {
            let mut squares = 0.0;
            for slot in u.iter_mut() {
                let g: f64 = rng.sample(StandardNormal);
                *slot = g;
                squares += g * g;
            }
            // The largest of k uniform values has the distribution of w^(1/k), without a power
            // function.
            let radius = (0..k).map(|_| rng.random::<f64>()).fold(0.0, f64::max);
            rescale(u, radius, squares.sqrt());
        }
        Body::Cross => {
            let mut sum: f64 = rng.sample(Exp1);
            for slot in u.iter_mut() {
                let e: f64 = rng.sample(Exp1);
                sum += e;
                *slot = e * sign(rng);
            }
            rescale(u, 1.0, sum);
        }
    }
}

/// Maps a point of the unit cube to the unit body, preserving volumes.
fn spread(body: Body, cube: &[f64], u: &mut [f64]) {
    let k = cube.len();
    if body == Body::Cube || k <= 1 {
        for (slot, x) in u.iter_mut().zip(cube) {
            *slot = 2.0 * x - 1.0;
        }
        return;
    }
    let root = 1.0 / k as f64;
    match body {
        Body::Cube => {}
        Body::Ball => {
            let mut squares = 0.0;
            for (slot, x) in u.iter_mut().zip(cube) {
                *slot = -std::f64::consts::SQRT_2 * erfc_inv(2.0 * x);
                squares += *slot * *slot;
            }
            let within = if squares > 0.0 { gamma_lr(0.5 * k as f64, 0.5 * squares) } else { 0.0 };
            rescale(u, within.min(1.0).powf(root), squares.sqrt());
        }
        Body::Cross => {
            let mut sum = 0.0;
            for (slot, x) in u.iter_mut().zip(cube) {
                let v = 2.0 * x - 1.0;
                let length = -(-v.abs()).ln_1p();
                *slot = length.copysign(v);
                sum += length;
            }
            let within = if sum > 0.0 { gamma_lr(k as f64, sum) } else { 0.0 };
            rescale(u, within.min(1.0).powf(root), sum);
        }
    }
}

/// Multiplies by `to / from`; the zero vector, which has no direction, stays.
fn rescale(u: &mut [f64], to: f64, from: f64) {
    if from > 0.0 {
        let factor = to / from;
        for slot in u {
            *slot *= factor;
        }
    }
}

/// The slices of a set perpendicular to one coordinate.
struct Slice {
    coordinate: usize,
    half_width: f64,
    across: Across,
}

/// The orientation of a slice in the space of the body.
enum Across {
    /// The coordinate is exact: every slice is the whole set.
    Exact,
    /// The coordinate is this direction of the body.
    Direction(usize),
    /// The coordinate increases along an oblique direction of a ball: `sign` and the vector `v` of
    /// the Householder reflection `H = 1 - 2 v v^T / v^T v` that maps the first axis to `-sign`
    /// times that direction.
    Reflected { sign: f64, v: Vec<f64> },
}

impl Slice {
    fn new(set: &UncertaintySet, coordinate: usize) -> Self {
        let across = match set.towards(coordinate) {
            None => Across::Exact,
            Some(e) => match e.iter().position(|&x| x == 1.0) {
                Some(direction) => Across::Direction(direction),
                None => {
                    let sign = if e[0] < 0.0 { -1.0 } else { 1.0 };
                    let mut v = e;
                    v[0] += sign; // away from cancellation
                    Across::Reflected { sign, v }
                }
            },
        };
        Self { coordinate, half_width: set.half_width(coordinate), across }
    }

    /// A uniform point of the slice at `step` (-1 to 1) half-widths.
    fn point(&self, set: &UncertaintySet, step: f64, rng: &mut Stream, u: &mut [f64], z: &mut [f64]) {
        if matches!(self.across, Across::Exact) {
            uniform(set.body(), rng, u);
            return set.add_image(set.rho(), u, z);
        }
        // At this step the slice of the body is the same kind of body, smaller and of one dimension
        // less.
        let room = match set.body() {
            Body::Cube => 1.0,
            Body::Cross => 1.0 - step.abs(),
            Body::Ball => ((1.0 - step) * (1.0 + step)).sqrt(),
        };
        uniform(set.body(), rng, &mut u[1..]);
        for slot in &mut u[1..] {
            *slot *= room;
        }
        match &self.across {
            Across::Exact => {}
            Across::Direction(direction) => {
                u[0] = step;
                u[..=*direction].rotate_left(1);
            }
            Across::Reflected { sign, v } => {
                u[0] = -sign * step;
                let squares: f64 = v.iter().map(|x| x * x).sum();
                let along: f64 = v.iter().zip(&*u).map(|(a, b)| a * b).sum();
                for (slot, x) in u.iter_mut().zip(v) {
                    *slot -= 2.0 * along / squares * x;
                }
            }
        }
        set.add_image(set.rho(), u, z);
        // The grid coordinate itself is free of the map's rounding errors.
        z[self.coordinate] = set.centre()[self.coordinate] + step * self.half_width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use crate::uncertainty::{Covariance, Size};

    #[test]
    fn grid_steps_are_linspace() {
        // numpy.linspace(-2, 2, 101)[j] is -2 + j 0.04
        for j in 0..101 {
            assert!((2.0 * grid_step(j, 101) - (-2.0 + j as f64 * 0.04)).abs() < 1e-15);
            assert_eq!(grid_step(j, 101), -grid_step(100 - j, 101));
        }
        assert_eq!((grid_step(50, 101), grid_step(0, 1), grid_step(0, 2)), (0.0, 0.0, -1.0));
    }

    #[test]
    fn grid_along_an_exact_coordinate_keeps_it_and_redraws_the_others() {
        let set = UncertaintySet::cuboid(&[1.0, 2.0], &[0.0, 0.5], Size::sigmas(2.0).unwrap()).unwrap();
        let points = Sampler::Grid { coordinate: 0 }.points(&set, 20, &mut stream(1, 1)).unwrap();
        assert!(points.rows().all(|z| z[0] == 1.0 && set.contains(z)));
        assert_eq!(points.distinct(), 20);
    }

    #[test]
    fn grid_outside_the_coordinates_is_refused() {
        let set = UncertaintySet::limits(&[1.0, 2.0], &[0.1, 0.1]).unwrap();
        let error = Sampler::Grid { coordinate: 2 }.points(&set, 3, &mut stream(1, 1)).unwrap_err();
        assert_eq!(error.to_string(), "there is no coordinate 2: the set has 2, counted from 0");
    }

    #[test]
    fn grid_through_an_ellipsoid_follows_the_correlation() {
        let sigma = Covariance::new(&[1.0, 1.6, 0.0, 1.6, 4.0, 0.0, 0.0, 0.0, 1.0], 3).unwrap();
        let set = UncertaintySet::ellipsoid(&[10.0, 20.0, 30.0], sigma, Size::sigmas(2.0).unwrap()).unwrap();
        for coordinate in 0..3 {
            let points = Sampler::Grid { coordinate }.points(&set, 101, &mut stream(5, 1)).unwrap();
            for (j, z) in points.rows().enumerate() {
                assert!(set.contains(z), "{coordinate} {j} {z:?}");
                let want = set.centre()[coordinate] + grid_step(j, 101) * set.half_width(coordinate);
                assert_eq!(z[coordinate], want);
            }
        }
        // At the ends the slice is a point: the regression of the others on the coordinate.
        let points = Sampler::Grid { coordinate: 0 }.points(&set, 2, &mut stream(5, 1)).unwrap();
        for (z, want) in points.rows().zip([[8.0, 16.8, 30.0], [12.0, 23.2, 30.0]]) {
            for c in 0..3 {
                assert!((z[c] - want[c]).abs() < 1e-7, "{z:?}");
            }
        }
    }

    #[test]
    fn some_draws_have_the_tails_of_the_t_distribution_with_three_degrees_of_freedom() {
        let set = UncertaintySet::cuboid(&[1.0, 2.0], &[0.5, 3.0], Size::sigmas(2.0).unwrap()).unwrap();
        let points = Sampler::Tails.points(&set, 40_000, &mut stream(1, 1)).unwrap();
        let away = |z: &[f64]| [(z[0] - 1.0) / 0.5, (z[1] - 2.0) / 3.0];
        let share = |of: &dyn Fn([f64; 2]) -> bool| {
            points.rows().filter(|z| of(away(z))).count() as f64 / points.len() as f64
        };
        // 0.7 times that of scipy.stats.norm plus 0.3 times that of scipy.stats.t(3, scale=2):
        // below 1, 0.6827 and 0.3486; below 6.364, 1 and 0.9500. Both coordinates exceed 3 together
        // far more often than if they were independent, because they share one factor.
        for c in 0..2 {
            assert!((share(&|z| z[c].abs() < 1.0) - 0.5825).abs() < 0.01);
            assert!((share(&|z| z[c].abs() < 6.364) - 0.9850).abs() < 0.003);
        }
        let (one, both) = (share(&|z| z[0].abs() > 3.0), share(&|z| z[0].abs() > 3.0 && z[1].abs() > 3.0));
        assert!(both > 5.0 * one * one, "{one} {both}");
    }

    #[test]
    fn all_exact_gives_the_measured_value_from_every_sampler() {
        let set = UncertaintySet::cuboid(&[1.0, 2.0], &[0.0, 0.0], Size::eta(0.1).unwrap()).unwrap();
        for sampler in [
            Sampler::Uniform,
            Sampler::Sobol,
            Sampler::Grid { coordinate: 1 },
            Sampler::Density,
            Sampler::Tails,
        ] {
            let points = sampler.points(&set, 3, &mut stream(1, 1)).unwrap();
            assert_eq!(points.values(), [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
        }
    }
}
