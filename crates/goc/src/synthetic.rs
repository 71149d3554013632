//! A synthetic catalogue with known truth: the data of the demonstration and of tests without the
//! authors' data.
//!
//! It resembles the paper's data in spirit, and is small enough to describe on a page. Particles
//! move through a plane, each on a straight line. The members of a group share the three constants
//! of that motion, up to a small spread: the velocity `(vx, vy)` and the angular momentum `l` about
//! the observer. These are the features. The position along the line differs between members, so
//! members of one group are seen in different directions and at different distances, like the stars
//! of a dissolved galaxy.
//!
//! Five coordinates are measured ([`COORDINATES`]): the direction `(nx, ny)`, which is exact; the
//! parallax `p = 1 / distance`; the angular motion `w`; and the speed `u` along the line of sight.
//! The transformation to the features ([`Coasting`]) is
//!
//! ```text
//! t = w / p                    speed across the line of sight
//! vx = nx u - ny t
//! vy = ny u + nx t
//! l  = w / p^2
//! ```
//!
//! The parallax is by far the least precise measurement. As it varies over its error bar, `t`
//! scales with the distance and `l` with the distance squared, so an object's candidates lie along
//! a parabola whose direction depends on the object's position. Sets of one group intersect near
//! their common truth: greedy optimistic clustering finds this intersection, and the means of the
//! sets (UK-means) do not.
//!
//! Group `k = 1, 2, …` has `1 + (k - 1) mod 10` members as in the paper: 275 objects in 50 groups.
//! Each group draws from its own random stream, so the first groups of a larger catalogue are those
//! of a smaller one.

use crate::Points;
use crate::random::{Stream, stream};
use crate::uncertainty::transform::{Rejection, Transform};
use crate::uncertainty::{Object, SetError, Size, UncertaintySet};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Names of the measured coordinates.
pub const COORDINATES: [&str; 5] = ["direction_x", "direction_y", "parallax", "motion", "speed"];

/// Names of the features that [`Coasting`] returns.
pub const FEATURES: [&str; 3] = ["vx", "vy", "momentum"];

/// Position of the parallax among the coordinates.
pub const PARALLAX: usize = 2;

/// The mean velocity of all groups, along x, in units of their dispersion: the observer moves past
/// them. It makes motions, and therefore the sets, large at moderate parallax errors.
const DRIFT: f64 = 3.0;

/// The parameters of the catalogue; [`SyntheticParams::draw`] validates them and draws one.
///
/// ```
/// use goc::synthetic::SyntheticParams;
/// let catalogue = SyntheticParams::default().draw(1)?;
/// assert_eq!(catalogue.values.len(), 275);
/// assert_eq!(catalogue.truth[..4], [0, 1, 1, 2]);
/// let error = SyntheticParams { parallax_error: 0.6, ..Default::default() }.draw(1).unwrap_err();
/// assert_eq!(error.to_string(), "parallax error 0.6 must be from 0 to 0.5");
/// # Ok::<(), goc::synthetic::SyntheticError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticParams {
    /// Number of groups.
    pub groups: usize,
    /// The number of members of the largest group: groups have 1, 2, … up to this many members,
    /// then 1 again.
    pub most_members: usize,
    /// Standard deviation of the features within a group, in units of the dispersion of the groups'
    /// velocities.
    pub spread: f64,
    /// Largest relative error of a parallax. Each object has its own, between half of this and this.
    pub parallax_error: f64,
    /// Largest error of motion and speed, relative to the object's velocity. Each object has its own.
    pub other_error: f64,
}

/// The paper's sizes: 275 objects in 50 groups.
impl Default for SyntheticParams {
    fn default() -> Self {
        Self { groups: 50, most_members: 10, spread: 0.08, parallax_error: 0.14, other_error: 0.01 }
    }
}

/// Why the catalogue cannot be generated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntheticError {
    /// No groups, or groups of none.
    #[error("a catalogue needs at least one group and one member")]
    Empty,
    /// A parameter out of its range.
    #[error("{name} {value} must be from 0 to {most}")]
    Range {
        /// The parameter.
        name: &'static str,
        /// The value found.
        value: f64,
        /// The largest allowed.
        most: f64,
    },
}

impl SyntheticParams {
    /// Draws a catalogue.
    pub fn draw(&self, seed: u64) -> Result<Synthetic, SyntheticError> {
        if self.groups == 0 || self.most_members == 0 {
            return Err(SyntheticError::Empty);
        }
        let ranges = [
            ("spread", self.spread, 1.0),
            ("parallax error", self.parallax_error, 0.5),
            ("other error", self.other_error, 0.5),
        ];
        for (name, value, most) in ranges {
            if !(0.0..=most).contains(&value) {
                return Err(SyntheticError::Range { name, value, most });
            }
        }
        let mut catalogue = Drawn::default();
        for group in 0..self.groups {
            self.draw_group(group, &mut stream(seed, group as u64), &mut catalogue);
        }
        let Drawn { values, errors, features, truth } = catalogue;
        Ok(Synthetic {
            values: Points::trusted(values, COORDINATES.len()),
            errors: Points::trusted(errors, COORDINATES.len()),
            features: Points::trusted(features, FEATURES.len()),
            truth,
        })
    }

    fn draw_group(&self, group: usize, rng: &mut Stream, out: &mut Drawn) {
        let centre = [DRIFT + normal(rng), normal(rng)];
        // How closely the group's line passes the observer, on either side. Not through the
        // observer, who would see no motion.
        let side = if rng.random::<bool>() { 1.0 } else { -1.0 };
        let passing = side * between(rng, 0.5, 1.5);
        let momentum = passing * length(centre[0], centre[1]);
        for _ in 0..1 + group % self.most_members {
            let vx = centre[0] + self.spread * normal(rng);
            let vy = centre[1] + self.spread * normal(rng);
            let l = momentum + self.spread * normal(rng);
            // The point of the line nearest to the observer is l / v away from it; the member
            // stands somewhere along.
            let (v, along) = (length(vx, vy), between(rng, -1.0, 1.0));
            let (ex, ey) = (vx / v, vy / v);
            let (x, y) = (along * ex + l / v * ey, along * ey - l / v * ex);
            let distance = length(x, y);
            let truth =
                [x / distance, y / distance, 1.0 / distance, l / (distance * distance), along * v / distance];
            let errors = [
                0.0,
                0.0,
                truth[PARALLAX] * share(rng) * self.parallax_error,
                v / distance * share(rng) * self.other_error,
                v * share(rng) * self.other_error,
            ];
            for c in 0..COORDINATES.len() {
                out.values.push(truth[c] + errors[c] * normal(rng));
            }
            out.errors.extend(errors);
            out.features.extend([vx, vy, l]);
            out.truth.push(group as i64);
        }
    }
}

#[derive(Default)]
struct Drawn {
    values: Vec<f64>,
    errors: Vec<f64>,
    features: Vec<f64>,
    truth: Vec<i64>,
}

fn normal(rng: &mut Stream) -> f64 {
    rng.sample(StandardNormal)
}

fn between(rng: &mut Stream, from: f64, to: f64) -> f64 {
    from + (to - from) * rng.random::<f64>()
}

/// An object's error as a share of the largest: some are measured better than others.
fn share(rng: &mut Stream) -> f64 {
    between(rng, 0.5, 1.0)
}

/// Not `hypot`, whose last digit is the platform's.
fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// A catalogue: what was measured, how well, and what is true. Made by [`SyntheticParams::draw`].
#[derive(Clone, Debug, PartialEq)]
pub struct Synthetic {
    /// Measured coordinates, one row per object, in the order of [`COORDINATES`].
    pub values: Points,
    /// Their standard errors; 0 where a coordinate is exact.
    pub errors: Points,
    /// The true features of each object.
    pub features: Points,
    /// The group of each object, from 0.
    pub truth: Vec<i64>,
}

impl Synthetic {
    /// Every object with a box of this size around its measured values, keyed by its position.
    pub fn objects(&self, size: Size) -> Result<Vec<Object>, SetError> {
        let rows = self.values.rows().zip(self.errors.rows());
        rows.enumerate()
            .map(|(i, (value, error))| Ok(Object::new(i as u64, UncertaintySet::cuboid(value, error, size)?)))
            .collect()
    }
}

/// The transformation of the catalogue: from direction, parallax, motion and speed to the constants
/// of straight motion.
///
/// ```
/// use goc::synthetic::Coasting;
/// use goc::uncertainty::transform::Transform;
/// // Seen along x at the distance 2, coming at speed 1 while moving across at 3.
/// let mut x = [0.0; 3];
/// Coasting.apply(&[1.0, 0.0, 0.5, 1.5, -1.0], &mut x).unwrap();
/// assert_eq!(x, [-1.0, 3.0, 6.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coasting;

impl Transform for Coasting {
    fn inputs(&self) -> Option<usize> {
        Some(COORDINATES.len())
    }

    fn outputs(&self) -> usize {
        FEATURES.len()
    }

    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
        let &[nx, ny, parallax, motion, speed] = z else {
            return Err(Rejection::new("not five coordinates"));
        };
        if parallax <= 0.0 {
            return Err(Rejection::new("parallax not positive"));
        }
        let across = motion / parallax;
        x[0] = nx * speed - ny * across;
        x[1] = ny * speed + nx * across;
        x[2] = across / parallax;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::uk_means::uk_means;
    use crate::metrics::nmi;
    use crate::optimistic::Optimistic;
    use crate::oracle::k_means::KMeans;
    use crate::scale::{Scaler, Scaling};
    use crate::uncertainty::{Penalty, Propagation};

    #[test]
    fn sizes_of_the_groups_are_the_papers() {
        let catalogue = SyntheticParams::default().draw(1).unwrap();
        assert_eq!(catalogue.truth.len(), 275);
        for k in 0..50 {
            let members = catalogue.truth.iter().filter(|&&t| t == k).count();
            assert_eq!(members as i64, 1 + k % 10);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bits_and_more_groups_change_none_of_the_first() {
        let params = SyntheticParams::default();
        let (a, b) = (params.draw(7).unwrap(), params.draw(7).unwrap());
        assert_eq!(a, b);
        assert_ne!(a.values, params.draw(8).unwrap().values);
        let few = SyntheticParams { groups: 20, ..params }.draw(7).unwrap();
        assert_eq!(few.values.values(), &a.values.values()[..few.values.values().len()]);
    }

    #[test]
    fn without_errors_the_transformation_gives_back_the_true_features() {
        let exact =
            SyntheticParams { parallax_error: 0.0, other_error: 0.0, ..Default::default() }.draw(3).unwrap();
        let mut x = [0.0; 3];
        for (z, want) in exact.values.rows().zip(exact.features.rows()) {
            Coasting.apply(z, &mut x).unwrap();
            for f in 0..3 {
                assert!((x[f] - want[f]).abs() < 1e-12, "{x:?} {want:?}");
            }
        }
        assert!(exact.errors.values().iter().all(|&e| e == 0.0));
    }

    #[test]
    fn measured_values_are_off_by_their_errors() {
        // Squared deviations in units of the errors have the mean 1 and the variance 2.
        let params = SyntheticParams { groups: 1000, ..Default::default() };
        let measured = params.draw(5).unwrap();
        let mut sums = [0.0; 5];
        for i in 0..measured.truth.len() {
            let [vx, vy, l] = measured.features.row(i) else { panic!("three features") };
            let (z, e) = (measured.values.row(i), measured.errors.row(i));
            // Directions are exact; the true parallax and motion follow from the angular momentum
            // across the line of sight.
            let across = z[0] * vy - z[1] * vx;
            let truth = [z[0], z[1], across / l, across * across / l, z[0] * vx + z[1] * vy];
            for c in PARALLAX..5 {
                sums[c] += ((z[c] - truth[c]) / e[c]).powi(2);
            }
            assert_eq!(e[..2], [0.0, 0.0]);
        }
        let n = measured.truth.len() as f64;
        for c in PARALLAX..5 {
            assert!(
                (sums[c] / n - 1.0).abs() < 5.0 * (2.0 / n).sqrt(),
                "{}: {}",
                COORDINATES[c],
                sums[c] / n
            );
        }
    }

    #[test]
    fn what_is_no_catalogue_is_refused() {
        let params = SyntheticParams::default;
        assert_eq!(SyntheticParams { groups: 0, ..params() }.draw(1), Err(SyntheticError::Empty));
        assert_eq!(SyntheticParams { most_members: 0, ..params() }.draw(1), Err(SyntheticError::Empty));
        for bad in [-0.1, 1.5, f64::NAN, f64::INFINITY] {
            assert!(SyntheticParams { spread: bad, ..params() }.draw(1).is_err());
            assert!(SyntheticParams { parallax_error: bad, ..params() }.draw(1).is_err());
            assert!(SyntheticParams { other_error: bad, ..params() }.draw(1).is_err());
        }
        let mut x = [0.0; 3];
        let rejection = Coasting.apply(&[1.0, 0.0, -0.1, 1.0, 1.0], &mut x).unwrap_err();
        assert_eq!(rejection.reason(), "parallax not positive");
    }

    /// What the catalogue is for. Measured: 0.856 and 0.915; the paper's own data have 0.838 and
    /// 0.871.
    #[test]
    fn optimism_beats_the_means_of_the_sets_by_three_hundredths_of_nmi() {
        let (mut baseline, mut optimistic) = (0.0, 0.0);
        for seed in 1..=10 {
            let catalogue = SyntheticParams::default().draw(seed).unwrap();
            let objects = catalogue.objects(Size::sigmas(2.0).unwrap()).unwrap();
            let (candidates, _) = Propagation::new(Coasting)
                .draws(101)
                .penalty(Penalty::Surprise)
                .scale_penalties(true)
                .seed(seed)
                .propagate(&objects)
                .unwrap();
            let candidates = Scaler::fit(Scaling::Standard, &candidates).unwrap().apply(candidates);
            let oracle = KMeans::default();
            let (means, _) = uk_means(&candidates, &oracle, 50, seed).unwrap();
            let goc =
                Optimistic::new(50).lambda(0.01).check(&candidates).unwrap().run(&oracle, seed).unwrap();
            baseline += nmi(means.labels(), &catalogue.truth).unwrap() / 10.0;
            optimistic += nmi(goc.partition.labels(), &catalogue.truth).unwrap() / 10.0;
        }
        assert!(optimistic - baseline >= 0.03, "UK-means {baseline}, GOC {optimistic}");
        assert!((0.7..0.95).contains(&baseline) && (0.7..0.95).contains(&optimistic));
    }
}
