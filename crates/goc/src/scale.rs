//! Scaling: features made comparable before distances are taken.
//!
//! A distance adds features up, so their units must not decide. Every feature is shifted by a centre and
//! divided by a spread, both taken over *all candidates of all objects*; an object with more candidates
//! weighs more, as in the authors' code.
//!
//! | [`Scaling`] | centre | spread |
//! |---|---|---|
//! | `Standard` | mean | standard deviation with n - 1 |
//! | `Robust` | median | interquartile range, Q3 - Q1 |
//! | `None` | 0 | 1 |
//!
//! *Standard* is the paper's (section 4.2). Its text says "mean square 1", which divides by n; the numbers
//! it prints come from R's `scale()`, which divides by n - 1, and so does this module. The two differ
//! by the factor sqrt(1 - 1/n), the same for all features: it matters to the weight of a penalty only.
//!
//! *Robust* exists because one nearly unbound star can inflate the standard deviation of an action twentyfold and
//! so switch that feature off. Quartiles interpolate linearly between order statistics (type 7, the default of
//! R and NumPy). The range is used as it is, not divided by 1.349 to match the standard deviation of a
//! normal: a normal feature therefore gets the standard deviation 0.741.
//!
//! # A feature without spread
//! - All values equal: the spread is 1, the scaled feature is 0 everywhere, and the feature is listed
//!   in [`Scaler::constant_features`].
//! - `Robust`, interquartile range 0 though the values differ (at least half of them are equal): the
//!   spread is the standard deviation instead, the centre stays the median, and the feature is listed in
//!   [`Scaler::fallback_features`].
//!
//! # Numbers
//! The mean is a compensated sum, the deviation a second pass around that mean; sums run over the candidates in order
//! whatever the number of threads, so the same candidates give the same bytes. Deviations are
//! squared relative to the largest, so that neither tiny nor huge units under- or overflow.

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
    /// As they are.
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
        /// What was given.
        name: String,
    },
    /// The values reach so far that differences or ratios of them are no longer numbers.
    #[error(
        "feature {feature} reaches from {least} to {largest}: too far to be scaled; use another unit or drop outliers"
    )]
    TooWide {
        /// Feature, from 0.
        feature: usize,
        /// Its least value.
        least: f64,
        /// Its largest value.
        largest: f64,
    },
}

/// The centre and spread of every feature, found once and applied to any candidates of the same features.
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

/// What one feature needs.
struct Feature {
    centre: f64,
    spread: f64,
    constant: bool,
    fallback: bool,
}

impl Scaler {
    /// Finds centre and spread over all candidates of all objects.
    pub fn fit(scaling: Scaling, candidates: &Candidates) -> Result<Self, ScaleError> {
        let features: Vec<Feature> = (0..candidates.features())
            .into_par_iter()
            .map(|f| match scaling {
                Scaling::Standard => standard(candidates, f),
                Scaling::Robust => robust(candidates, f),
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

    /// The candidates with every feature shifted and divided, in place. Penalties and ids stay.
    ///
    /// Candidates other than those of [`fit`](Self::fit) may lie so far out that a scaled value has no finite number;
    /// it becomes the largest finite one of its sign.
    ///
    /// # Panics
    /// When the candidates have another number of features than those of [`fit`](Self::fit).
    pub fn apply(&self, mut candidates: Candidates) -> Candidates {
        self.check(candidates.features());
        if self.scaling != Scaling::None {
            candidates.map_features(|f, value| self.forward(f, value));
        }
        candidates
    }

    /// One feature vector scaled in place.
    ///
    /// # Panics
    /// When `row` has another number of features.
    pub fn apply_row(&self, row: &mut [f64]) {
        self.check(row.len());
        for (f, value) in row.iter_mut().enumerate() {
            *value = self.forward(f, *value);
        }
    }

    /// One scaled feature vector back in input units, in place.
    ///
    /// # Panics
    /// When `row` has another number of features.
    pub fn invert_row(&self, row: &mut [f64]) {
        self.check(row.len());
        for (f, value) in row.iter_mut().enumerate() {
            *value = finite(*value * self.spread[f] + self.centre[f]);
        }
    }

    /// Scaled points, such as centres, back in input units.
    ///
    /// # Panics
    /// When the points have another number of features.
    pub fn invert(&self, points: &Points) -> Points {
        let mut points = points.clone();
        for i in 0..points.len() {
            self.invert_row(points.row_mut(i));
        }
        points
    }

    /// Which scaling this is.
    pub fn scaling(&self) -> Scaling {
        self.scaling
    }

    /// What is subtracted from each feature.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// What each feature is divided by; above 0.
    pub fn spread(&self) -> &[f64] {
        &self.spread
    }

    /// Features with the same value in all candidates: they cannot tell objects apart.
    pub fn constant_features(&self) -> &[usize] {
        &self.constant
    }

    /// Features whose interquartile range is 0 though their values differ, scaled by the standard deviation instead.
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

/// Keeps the promise of [`Candidates`] and [`Points`] that all values are finite.
fn finite(value: f64) -> f64 {
    value.clamp(-f64::MAX, f64::MAX)
}

fn standard(candidates: &Candidates, f: usize) -> Result<Feature, ScaleError> {
    let Some((least, largest)) = range(candidates, f)? else {
        return Ok(constant(candidates, f));
    };
    let centre = mean(candidates, f).clamp(least, largest);
    let spread = deviation(candidates, f, centre);
    checked(f, least, largest, Feature { centre, spread, constant: false, fallback: false })
}

fn robust(candidates: &Candidates, f: usize) -> Result<Feature, ScaleError> {
    let Some((least, largest)) = range(candidates, f)? else {
        return Ok(constant(candidates, f));
    };
    let mut column: Vec<f64> = Vec::with_capacity(candidates.total());
    for i in 0..candidates.objects() {
        column.extend_from_slice(candidates.feature(i, f));
    }
    let centre = quantile(&mut column, 0.5);
    let range = quantile(&mut column, 0.75) - quantile(&mut column, 0.25);
    let fallback = range == 0.0;
    let spread = if fallback { deviation(candidates, f, mean(candidates, f)) } else { range };
    checked(f, least, largest, Feature { centre, spread, constant: false, fallback })
}

/// Scaled values must be numbers; with a tiny spread and a far outlier they may not be.
fn checked(feature: usize, least: f64, largest: f64, found: Feature) -> Result<Feature, ScaleError> {
    let reach = (largest - found.centre).max(found.centre - least) / found.spread;
    if reach.is_finite() { Ok(found) } else { Err(ScaleError::TooWide { feature, least, largest }) }
}

/// Least and largest value; `None` when they are the same.
fn range(candidates: &Candidates, f: usize) -> Result<Option<(f64, f64)>, ScaleError> {
    let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
    for i in 0..candidates.objects() {
        for &value in candidates.feature(i, f) {
            least = least.min(value);
            largest = largest.max(value);
        }
    }
    if least == largest {
        Ok(None)
    } else if (largest - least).is_finite() {
        Ok(Some((least, largest)))
    } else {
        Err(ScaleError::TooWide { feature: f, least, largest })
    }
}

/// The value itself is the centre: a mean would be off by a rounding and leave noise instead of zeros.
fn constant(candidates: &Candidates, f: usize) -> Feature {
    Feature { centre: candidates.feature(0, f)[0], spread: 1.0, constant: true, fallback: false }
}

/// The mean by a compensated sum.
fn mean(candidates: &Candidates, f: usize) -> f64 {
    let n = candidates.total() as f64;
    let sum_of = |divisor: f64| {
        let mut sum = Compensated::default();
        for i in 0..candidates.objects() {
            for &value in candidates.feature(i, f) {
                sum.add(value / divisor);
            }
        }
        sum.total()
    };
    let mean = sum_of(1.0) / n;
    // Values near the largest number overflow a plain sum; divided first they do not.
    if mean.is_finite() { mean } else { sum_of(n) }
}

/// The standard deviation with n - 1 around `mean`; there are at least two different values.
fn deviation(candidates: &Candidates, f: usize, mean: f64) -> f64 {
    let mut largest = 0.0_f64;
    for i in 0..candidates.objects() {
        for &value in candidates.feature(i, f) {
            largest = largest.max((value - mean).abs());
        }
    }
    let mut sum = Compensated::default();
    for i in 0..candidates.objects() {
        for &value in candidates.feature(i, f) {
            let part = (value - mean) / largest;
            sum.add(part * part);
        }
    }
    largest * (sum.total() / (candidates.total() - 1) as f64).sqrt()
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
mod tests {
    use super::*;
    use crate::candidates::CandidatesBuilder;

    fn column(values: &[f64]) -> Candidates {
        Candidates::from_points(&Points::new(values.to_vec(), 1).unwrap()).unwrap()
    }

    fn fit(scaling: Scaling, values: &[f64]) -> Scaler {
        Scaler::fit(scaling, &column(values)).unwrap()
    }

    /// Two objects, three and two candidates of two features.
    fn ragged() -> Candidates {
        let mut b = CandidatesBuilder::new(2);
        b.push(&[1.5, -30.0, 2.25, 10.0, -0.75, 4.0], &[0.0, 1.0, 2.0]).unwrap();
        b.push(&[8.0, 1e3, 3.125, -7.5], &[]).unwrap();
        b.build().unwrap()
    }

    // NumPy 2.4.6: x.mean(), x.std(ddof=1), np.median(x), np.subtract(*np.percentile(x, [75, 25]))
    // with x = [1.5, 2.25, -0.75, 8, 3.125] and [-30, 10, 4, 1000, -7.5].
    #[test]
    fn centre_and_spread_are_numpys_over_all_candidates_of_all_objects() {
        let s = Scaler::fit(Scaling::Standard, &ragged()).unwrap();
        let r = Scaler::fit(Scaling::Robust, &ragged()).unwrap();
        let close = |a: &[f64], b: [f64; 2]| a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 4e-16 * y.abs());
        assert!(close(s.centre(), [2.825, 195.3]), "{:?}", s.centre());
        assert!(close(s.spread(), [3.2302283201037043, 450.10048878000566]), "{:?}", s.spread());
        assert!(close(r.centre(), [2.25, 4.0]), "{:?}", r.centre());
        assert!(close(r.spread(), [1.625, 17.5]), "{:?}", r.spread());
    }

    // np.percentile of [3, 1, 4, 1.5, 9, 2.6] at 0, 10, 25, 50, 75, 90, 100 (NumPy's default is type 7).
    #[test]
    fn quantiles_are_of_type_seven() {
        let expected = [1.0, 1.25, 1.775, 2.8, 3.75, 6.5, 9.0];
        for (p, want) in [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0].into_iter().zip(expected) {
            let got = quantile(&mut [3.0, 1.0, 4.0, 1.5, 9.0, 2.6], p);
            assert!((got - want).abs() <= 1e-15 * want, "{p}: {got} {want}");
        }
    }

    #[test]
    fn scaled_features_have_mean_zero_and_deviation_one_and_come_back() {
        let scaler = Scaler::fit(Scaling::Standard, &ragged()).unwrap();
        let scaled = scaler.apply(ragged());
        let again = Scaler::fit(Scaling::Standard, &scaled).unwrap();
        for f in 0..2 {
            assert!(again.centre()[f].abs() < 1e-16 && (again.spread()[f] - 1.0).abs() < 1e-15);
        }
        assert_eq!(scaled.penalties(0), ragged().penalties(0));
        for (i, j) in [(0, 0), (0, 2), (1, 1)] {
            let mut row = scaled.candidate(i, j);
            scaler.invert_row(&mut row);
            for (back, value) in row.iter().zip(ragged().candidate(i, j)) {
                assert!((back - value).abs() <= 1e-13 * value.abs());
            }
            scaler.apply_row(&mut row);
            for (x, y) in row.iter().zip(scaled.candidate(i, j)) {
                assert!((x - y).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn none_leaves_every_bit() {
        let scaler = Scaler::fit(Scaling::None, &ragged()).unwrap();
        assert_eq!(scaler.apply(ragged()), ragged());
    }

    #[test]
    fn a_large_offset_does_not_eat_the_deviation() {
        // NIST's NumAcc3: 1000000.2, then 1000000.1 and 1000000.3 in turn; certified mean 1000000.2, deviation 0.1.
        let values: Vec<f64> =
            (0..1001).map(|i| 1_000_000.0 + [0.2, 0.1, 0.3][if i == 0 { 0 } else { 1 + i % 2 }]).collect();
        let s = fit(Scaling::Standard, &values);
        assert!((s.centre()[0] - 1_000_000.2).abs() < 1e-9);
        assert!((s.spread()[0] - 0.1).abs() < 1e-9, "{}", s.spread()[0]);
    }

    #[test]
    fn a_constant_feature_becomes_zeros_and_is_listed() {
        for scaling in [Scaling::Standard, Scaling::Robust] {
            let values = [0.1; 7]; // 0.1 * 7 / 7 is not 0.1 in binary
            let s = fit(scaling, &values);
            assert_eq!((s.spread(), s.constant_features()), (&[1.0][..], &[0][..]));
            let zeros = s.apply(column(&values));
            assert!((0..7).all(|i| zeros.candidate(i, 0) == [0.0]));
        }
        assert_eq!(fit(Scaling::Standard, &[4.0]).constant_features(), [0]);
    }

    #[test]
    fn a_robust_feature_with_most_values_equal_falls_back_to_the_deviation() {
        let values = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 9.0];
        let s = fit(Scaling::Robust, &values);
        assert_eq!((s.centre(), s.fallback_features()), (&[0.1][..], &[0][..]));
        assert_eq!(s.spread(), fit(Scaling::Standard, &values).spread());
        assert!(s.constant_features().is_empty());
    }

    #[test]
    fn one_outlier_moves_the_deviation_but_not_the_quartiles() {
        let mut values: Vec<f64> = (0..101).map(f64::from).collect();
        let before = (fit(Scaling::Standard, &values), fit(Scaling::Robust, &values));
        values[100] = 1e6;
        let after = (fit(Scaling::Standard, &values), fit(Scaling::Robust, &values));
        assert!(after.0.spread()[0] > 1000.0 * before.0.spread()[0]);
        assert_eq!(after.1, before.1);
        assert_eq!((after.1.centre()[0], after.1.spread()[0]), (50.0, 50.0));
    }

    #[test]
    fn tiny_and_huge_units_scale_alike() {
        let base = fit(Scaling::Standard, &[1.0, 2.0, 4.0]).spread()[0];
        for unit in [1e-200, 1e-300, 1e200, 1e307] {
            let s = fit(Scaling::Standard, &[unit, 2.0 * unit, 4.0 * unit]);
            assert!((s.spread()[0] / unit - base).abs() < 1e-14, "{unit}: {}", s.spread()[0]);
        }
        assert_eq!(fit(Scaling::Standard, &[8e307; 9]).constant_features(), [0]);
    }

    #[test]
    fn a_feature_too_wide_for_numbers_is_named() {
        let error = Scaler::fit(Scaling::Standard, &column(&[-1.5e308, 1.5e308])).unwrap_err();
        assert!(matches!(error, ScaleError::TooWide { feature: 0, .. }));
        let values = [0.0, 1e-200, 2e-200, 3e-200, 4e-200, 1e200];
        let error = Scaler::fit(Scaling::Robust, &column(&values)).unwrap_err();
        assert!(error.to_string().starts_with("feature 0 reaches from 0 to 1"), "{error}");
    }

    #[test]
    fn names_parse_and_print() {
        for scaling in [Scaling::Standard, Scaling::Robust, Scaling::None] {
            assert_eq!(scaling.to_string().parse(), Ok(scaling));
        }
        assert_eq!(
            "z-score".parse::<Scaling>().unwrap_err().to_string(),
            "scaling `z-score` is unknown; use standard, robust or none"
        );
    }

    #[test]
    fn threads_do_not_change_the_bytes() {
        let rows: Vec<f64> =
            (0..3000).map(|i| (f64::from(i) * 0.7).sin() * f64::from(i % 17).exp()).collect();
        let c = Candidates::from_points(&Points::new(rows, 3).unwrap()).unwrap();
        for scaling in [Scaling::Standard, Scaling::Robust] {
            let at = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| Scaler::fit(scaling, &c).unwrap())
            };
            assert!(at(1) == at(2) && at(1) == at(4));
        }
    }
}
