//! Scaling: making features comparable before distances are computed.
//!
//! A distance adds up features, so their units must not matter. Every feature is shifted by a
//! centre and divided by a spread, both computed over *all candidates of all objects*; an object
//! with more candidates has more weight, as in the authors' code.
//!
//! | [`Scaling`] | centre | spread |
//! |---|---|---|
//! | `Standard` | mean | standard deviation with n - 1 |
//! | `Robust` | median | interquartile range, Q3 - Q1 |
//! | `None` | 0 | 1 |
//!
//! *Standard* is the paper's choice (section 4.2). Its text says "mean square 1", which divides by
//! n; the numbers it prints come from R's `scale()`, which divides by n - 1, and so does this
//! module. The two differ by the factor sqrt(1 - 1/n), the same for all features, which affects
//! only the weight of a penalty.
//!
//! *Robust* exists because one nearly unbound star can inflate the standard deviation of an action
//! twentyfold and thereby suppress that feature. Quartiles interpolate linearly between order
//! statistics (type 7, the default of R and NumPy). The range is used as it is, not divided by
//! 1.349 to match the standard deviation of a normal distribution, so a normal feature is scaled to
//! standard deviation 0.741.
//!
//! # A feature without spread
//! - All values equal: the spread is set to 1, the scaled feature is 0 everywhere, and the feature
//!   is listed in [`Scaler::constant_features`].
//! - `Robust` with interquartile range 0 although the values differ (at least half of them are
//!   equal): the spread is the standard deviation instead, the centre remains the median, and the
//!   feature is listed in [`Scaler::fallback_features`].
//!
//! # Numerics
//! The mean is a compensated sum, and the deviation a second pass around that mean. Sums run over
//! the candidates in order for any number of threads, so the same candidates give the same bytes.
//! Deviations are squared relative to the largest, so that neither tiny nor huge units underflow or
//! overflow.

use crate::objects::Objects;
use crate::{Candidates, Points};
use rayon::prelude::*;
use std::fmt;
use std::str::FromStr;

/// How features are made comparable.
///
/// ```
/// use goc::scale::Scaling;
/// assert_eq!("robust".parse(), Ok(Scaling::Robust));
/// assert_eq!(Scaling::Standard.to_string(), "standard");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scaling {
    /// Mean 0 and standard deviation (n - 1) 1: the paper's.
    #[default]
    Standard,
    /// Median 0 and interquartile range 1.
    Robust,
    /// Unscaled.
    None,
}

impl fmt::Display for Scaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Scaling::Standard => "standard",
            Scaling::Robust => "robust",
            Scaling::None => "none",
        })
    }
}

impl FromStr for Scaling {
    type Err = ScaleError;

    fn from_str(name: &str) -> Result<Self, ScaleError> {
        match name {
            "standard" => Ok(Scaling::Standard),
            "robust" => Ok(Scaling::Robust),
            "none" => Ok(Scaling::None),
            _ => Err(ScaleError::UnknownName { name: name.to_owned() }),
        }
    }
}

/// Why features cannot be scaled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScaleError {
    /// Not the name of a scaling.
    #[error("scaling `{name}` is unknown; use standard, robust or none")]
    UnknownName {
        /// The name given.
        name: String,
    },
    /// The numbers of centres and spreads differ.
    #[error("{centres} centres, but {spreads} spreads")]
    Parts {
        /// Centres given.
        centres: usize,
        /// Spreads given.
        spreads: usize,
    },
    /// A centre or a spread that cannot be used for scaling.
    #[error(
        "feature {feature}: the centre {centre} and the spread {spread} must be finite, the spread above 0"
    )]
    NoScale {
        /// Feature, from 0.
        feature: usize,
        /// Its centre.
        centre: f64,
        /// Its spread.
        spread: f64,
    },
    /// The values span so wide a range that their differences or ratios are not finite.
    #[error(
        "feature {feature} reaches from {least:?} to {largest:?}: too far to be scaled; use another unit or drop outliers"
    )]
    TooWide {
        /// Feature, from 0.
        feature: usize,
        /// Its smallest value.
        least: f64,
        /// Its largest value.
        largest: f64,
    },
}

/// The centre and spread of every feature, computed once and applied to any candidates with the
/// same features.
///
/// ```
/// use goc::scale::{Scaler, Scaling};
/// use goc::{Candidates, Points};
/// let points = Points::new(vec![1.0, 7.0, 2.0, 7.0, 3.0, 7.0], 2)?;
/// let candidates = Candidates::from_points(&points)?;
/// let scaler = Scaler::fit(Scaling::Standard, &candidates)?;
/// assert_eq!((scaler.centre(), scaler.spread()), (&[2.0, 7.0][..], &[1.0, 1.0][..]));
/// assert_eq!(scaler.constant_features(), [1]); // nothing to scale there: worth a message
/// let scaled = scaler.apply(candidates);
/// assert_eq!(scaled.candidate(2, 0), [1.0, 0.0]);
/// assert_eq!(scaler.invert(&scaled.means()), points);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scaler {
    scaling: Scaling,
    centre: Vec<f64>,
    spread: Vec<f64>,
    constant: Vec<usize>,
    fallback: Vec<usize>,
}

/// What is computed for one feature.
struct Feature {
    centre: f64,
    spread: f64,
    constant: bool,
    fallback: bool,
}

impl Scaler {
    /// Computes centre and spread over all candidates of all objects.
    pub fn fit(scaling: Scaling, candidates: &Candidates) -> Result<Self, ScaleError> {
        Self::fit_objects(scaling, candidates)
    }

    /// The same for objects that are loaded one by one, such as the square roots of some features.
    pub fn fit_objects(scaling: Scaling, objects: &dyn Objects) -> Result<Self, ScaleError> {
        let features: Vec<Feature> = (0..objects.features())
            .into_par_iter()
            .map(|f| match scaling {
                Scaling::Standard => standard(objects, f),
                Scaling::Robust => robust(objects, f),
                Scaling::None => Ok(Feature { centre: 0.0, spread: 1.0, constant: false, fallback: false }),
            })
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Result<_, _>>()?; // the first bad feature by number, not by thread
        let numbers = |wanted: fn(&Feature) -> bool| {
            features.iter().enumerate().filter(|(_, x)| wanted(x)).map(|(f, _)| f).collect()
        };
        Ok(Self {
            scaling,
            centre: features.iter().map(|x| x.centre).collect(),
            spread: features.iter().map(|x| x.spread).collect(),
            constant: numbers(|x| x.constant),
            fallback: numbers(|x| x.fallback),
        })
    }

    /// From stored centres and spreads: one of each for every feature, finite, with positive
    /// spreads.
    pub fn from_parts(scaling: Scaling, centre: Vec<f64>, spread: Vec<f64>) -> Result<Self, ScaleError> {
        if centre.len() != spread.len() {
            return Err(ScaleError::Parts { centres: centre.len(), spreads: spread.len() });
        }
        let good = |f: &usize| centre[*f].is_finite() && spread[*f].is_finite() && spread[*f] > 0.0;
        if let Some(feature) = (0..centre.len()).find(|f| !good(f)) {
            let (centre, spread) = (centre[feature], spread[feature]);
            return Err(ScaleError::NoScale { feature, centre, spread });
        }
        Ok(Self { scaling, centre, spread, constant: Vec::new(), fallback: Vec::new() })
    }

    /// The candidates with every feature shifted and divided, in place. Penalties and ids are
    /// unchanged.
    ///
    /// Candidates other than those of [`fit`](Self::fit) may lie so far out that a scaled value
    /// overflows; it becomes the largest finite number of its sign.
    ///
    /// # Panics
    /// If the candidates have a different number of features than those of [`fit`](Self::fit).
    pub fn apply(&self, mut candidates: Candidates) -> Candidates {
        self.check(candidates.features());
        if self.scaling != Scaling::None {
            candidates.map_features(|f, value| self.forward(f, value));
        }
        candidates
    }

    /// Scales the values of one feature in place, as [`apply`](Self::apply) does.
    pub(crate) fn apply_feature(&self, f: usize, values: &mut [f64]) {
        if self.scaling != Scaling::None {
            for value in values {
                *value = self.forward(f, *value);
            }
        }
    }

    /// Scales one feature vector in place.
    ///
    /// # Panics
    /// If `row` has a different number of features.
    pub fn apply_row(&self, row: &mut [f64]) {
        self.check(row.len());
        for (f, value) in row.iter_mut().enumerate() {
            *value = self.forward(f, *value);
        }
    }

    /// Converts one scaled feature vector back to input units, in place.
    ///
    /// # Panics
    /// If `row` has a different number of features.
    pub fn invert_row(&self, row: &mut [f64]) {
        self.check(row.len());
        for (f, value) in row.iter_mut().enumerate() {
            *value = finite(*value * self.spread[f] + self.centre[f]);
        }
    }

    /// Converts scaled points, such as centres, back to input units.
    ///
    /// # Panics
    /// If the points have a different number of features.
    pub fn invert(&self, points: &Points) -> Points {
        let mut points = points.clone();
        for i in 0..points.len() {
            self.invert_row(points.row_mut(i));
        }
        points
    }

    /// The kind of scaling.
    pub fn scaling(&self) -> Scaling {
        self.scaling
    }

    /// The value subtracted from each feature.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The value each feature is divided by; positive.
    pub fn spread(&self) -> &[f64] {
        &self.spread
    }

    /// Features with the same value in all candidates, which cannot distinguish objects.
    pub fn constant_features(&self) -> &[usize] {
        &self.constant
    }

    /// Features whose interquartile range is 0 though their values differ, scaled by the standard
    /// deviation instead.
    pub fn fallback_features(&self) -> &[usize] {
        &self.fallback
    }

    fn forward(&self, f: usize, value: f64) -> f64 {
        finite((value - self.centre[f]) / self.spread[f])
    }

    fn check(&self, features: usize) {
        assert_eq!(features, self.centre.len(), "the scaler was fitted to another number of features");
    }
}

/// Maintains the invariant of [`Candidates`] and [`Points`] that all values are finite.
fn finite(value: f64) -> f64 {
    value.clamp(-f64::MAX, f64::MAX)
}

fn standard(objects: &dyn Objects, f: usize) -> Result<Feature, ScaleError> {
    let Some((least, largest)) = range(objects, f)? else {
        return Ok(constant(objects, f));
    };
    let centre = mean(objects, f).clamp(least, largest);
    let spread = deviation(objects, f, centre);
    checked(f, least, largest, Feature { centre, spread, constant: false, fallback: false })
}

fn robust(objects: &dyn Objects, f: usize) -> Result<Feature, ScaleError> {
    let Some((least, largest)) = range(objects, f)? else {
        return Ok(constant(objects, f));
    };
    let mut column: Vec<f64> = Vec::with_capacity(objects.total());
    each_value(objects, f, |value| column.push(value));
    let centre = quantile(&mut column, 0.5);
    let range = quantile(&mut column, 0.75) - quantile(&mut column, 0.25);
    let fallback = range == 0.0;
    let spread = if fallback { deviation(objects, f, mean(objects, f)) } else { range };
    checked(f, least, largest, Feature { centre, spread, constant: false, fallback })
}

/// Every value of a feature, in the order of the candidates.
fn each_value(objects: &dyn Objects, f: usize, mut of: impl FnMut(f64)) {
    let mut column = Vec::new();
    for i in 0..objects.objects() {
        objects.load_feature(i, f, &mut column);
        column.iter().for_each(|value| of(*value));
    }
}

/// Scaled values must be finite; with a tiny spread and a distant outlier they may not be.
fn checked(feature: usize, least: f64, largest: f64, found: Feature) -> Result<Feature, ScaleError> {
    let reach = (largest - found.centre).max(found.centre - least) / found.spread;
    if reach.is_finite() { Ok(found) } else { Err(ScaleError::TooWide { feature, least, largest }) }
}

/// Smallest and largest value; `None` if they are equal.
fn range(objects: &dyn Objects, f: usize) -> Result<Option<(f64, f64)>, ScaleError> {
    let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
    each_value(objects, f, |value| {
        least = least.min(value);
        largest = largest.max(value);
    });
    if least == largest {
        Ok(None)
    } else if (largest - least).is_finite() {
        Ok(Some((least, largest)))
    } else {
        Err(ScaleError::TooWide { feature: f, least, largest })
    }
}

/// The value itself is the centre: a mean would be off by a rounding error and leave noise instead
/// of zeros.
fn constant(objects: &dyn Objects, f: usize) -> Feature {
    let mut column = Vec::new();
    objects.load_feature(0, f, &mut column);
    Feature { centre: column[0], spread: 1.0, constant: true, fallback: false }
}

/// The mean by a compensated sum.
fn mean(objects: &dyn Objects, f: usize) -> f64 {
    let n = objects.total() as f64;
    let sum_of = |divisor: f64| {
        let mut sum = Compensated::default();
        each_value(objects, f, |value| sum.add(value / divisor));
        sum.total()
    };
    let mean = sum_of(1.0) / n;
    // Values near the largest finite number overflow a plain sum, but not if divided first.
    if mean.is_finite() { mean } else { sum_of(n) }
}

/// The standard deviation with n - 1 around `mean`; there are at least two different values.
fn deviation(objects: &dyn Objects, f: usize, mean: f64) -> f64 {
    let mut largest = 0.0_f64;
    each_value(objects, f, |value| largest = largest.max((value - mean).abs()));
    let mut sum = Compensated::default();
    each_value(objects, f, |value| {
        let part = (value - mean) / largest;
        sum.add(part * part);
    });
    largest * (sum.total() / (objects.total() - 1) as f64).sqrt()
}

/// The standard deviation of normal values with the same median distance from their median, so that
/// a few outliers do not matter. If more than half of the values are equal, the plain one around
/// the median.
///
/// ```
/// use goc::scale::robust_deviation;
/// assert!((robust_deviation(&[1.0, 2.0, 3.0, 4.0, 500.0]) - 1.4826).abs() < 1e-4);
/// assert_eq!(robust_deviation(&[1.0, 1.0, 1.0, 3.0]), 1.0);
/// ```
pub fn robust_deviation(values: &[f64]) -> f64 {
    let middle = median(values.to_vec());
    let robust = NORMAL_DEVIATION * median(values.iter().map(|v| (v - middle).abs()).collect());
    if robust > 0.0 || values.is_empty() {
        return robust;
    }
    (values.iter().map(|v| (v - middle).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

/// One over the upper quartile of the standard normal distribution.
const NORMAL_DEVIATION: f64 = 1.482_602_218_505_602;

/// The median; for an even number of values the mean of the middle two, and 0 if there are none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => 0.5 * (values[n / 2 - 1] + values[n / 2]),
    }
}

/// Quantile of type 7: linear between the order statistics around `(n - 1) p`. Reorders the column.
fn quantile(column: &mut [f64], p: f64) -> f64 {
    let position = (column.len() - 1) as f64 * p;
    let below = position.floor();
    let (_, &mut low, above) = column.select_nth_unstable_by(below as usize, f64::total_cmp);
    let weight = position - below;
    if weight == 0.0 {
        return low;
    }
    let high = above.iter().copied().fold(f64::INFINITY, f64::min);
    low + weight * (high - low) // exact where both are equal, so that a range of 0 is found as 0
}

/// A sum that carries its own rounding errors along (Neumaier 1974).
#[derive(Default)]
struct Compensated {
    sum: f64,
    lost: f64,
}

impl Compensated {
    fn add(&mut self, value: f64) {
        let next = self.sum + value;
        self.lost +=
            if self.sum.abs() >= value.abs() { (self.sum - next) + value } else { (value - next) + self.sum };
        self.sum = next;
    }

    fn total(&self) -> f64 {
        self.sum + self.lost
    }
}

#[cfg(test)]
mod tests;
