//! Are groups tighter than chance in a quantity that was not used to find them?
//!
//! Stars with a common origin have similar metallicities. Groups found from orbits alone can
//! therefore be tested with them: are the members of a group more alike than stars on similar
//! orbits? Under the null hypothesis a star's value depends only on its position.
//!
//! # The statistic
//! The agreement of members, given their errors `e`, is the mean over pairs of
//!
//! ```text
//! N(x_i - x_j; 0, e_i^2 + e_j^2 + (0.1 s)^2),
//! ```
//!
//! the density of such a difference between members that are alike apart from their errors. `s` is
//! the robust spread of all values; a tenth of it keeps exact values comparable. A few members that
//! do not belong hardly affect the agreement of the others: with a fifth of interlopers in groups
//! of ten, it detects 95 of 100 cases at the level 0.05, where the variance detects 61. The scatter
//! in excess of the errors is reported too, also from pairs and robust:
//!
//! ```text
//! scatter^2 = median over pairs of (x_i - x_j)^2 / 0.91 - (e_i^2 + e_j^2) / 2.
//! ```
//!
//! # Random groups
//! Each member is replaced by one of its nearest objects outside the group, chosen at random
//! without repetition, so a random group has the size and approximately the positions of the group.
//! The p-value is the share of random groups that agree at least as well, with one added to both
//! counts. For all groups together, the sum of their agreements, weighted by size, is compared with
//! the same sum over random groups.
//!
//! Cost: n N q for the neighbours, 40 n for each draw.

use rand::RngExt;
use rayon::prelude::*;

use super::discovery::{p_value, q_values};
use crate::points::squared_distance;
use crate::random::stream;
use crate::scale::{median, robust_deviation};
use crate::{Points, Stream};

/// Default number of random groups for each group.
pub const DRAWS: usize = 999;
/// Default number of nearest objects that may replace a member, unless the group is large.
pub const NEIGHBOURS: usize = 20;
/// The minimum number of members with a value in a group.
const FEWEST: usize = 2;
/// The maximum number of partners with which each member is paired.
const PARTNERS: usize = 40;
/// The maximum number of objects outside a group among which neighbours are searched.
const MOST_OUTSIDE: usize = 20_000;
/// The minimum error of a difference, as a fraction of the spread of all values.
const LEAST_ERROR: f64 = 0.1;
/// The largest value or error that can be squared safely. Values are taken in units of their
/// spread, so values that are small relative to it lose no precision.
pub const LARGEST: f64 = 1e150;
/// In these units, larger distances are clipped to this one, whose square is still finite.
const FAR: f64 = 1e100;
/// The median of a chi-square variable of one degree of freedom, times two.
const MEDIAN_SQUARE: f64 = 0.909_872_9;

/// How groups are tested.
///
/// ```
/// use goc::Points;
/// use goc::confidence::Tightness;
/// // Forty objects along a line, ten of them a group with like values.
/// let places = Points::new((0..40).map(f64::from).collect(), 1)?;
/// let groups: Vec<Option<u32>> = (0..40).map(|i| (10..20).contains(&i).then_some(0)).collect();
/// let value = |i: u32| if (10..20).contains(&i) { 0.5 } else { f64::from(i * 7 % 40) / 40.0 };
/// let values: Vec<f64> = (0..40).map(value).collect();
/// let found = Tightness::default().judge(&places, &groups, &values, &[0.02; 40], 1)?;
/// assert!(found.groups[0].p_value < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tightness {
    /// The number of random groups for each group.
    pub draws: usize,
    /// The minimum number of nearest objects that may replace a member; twice the group's size if
    /// that is larger.
    pub neighbours: usize,
}

impl Default for Tightness {
    fn default() -> Self {
        Self { draws: DRAWS, neighbours: NEIGHBOURS }
    }
}

/// Why groups cannot be tested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TightnessError {
    /// Lists of different lengths.
    #[error("{found} {what} for {expected} objects")]
    Length {
        /// What the list contains.
        what: &'static str,
        /// The number of objects.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// A value that cannot be squared.
    #[error("object {object}: the value is beyond {LARGEST:e}, too far out to be squared")]
    BadValue {
        /// The object, from 0.
        object: usize,
    },
    /// An error that is negative, NaN or too large to be squared, where there is a value.
    #[error("object {object}: the error is not from 0 to {LARGEST:e}")]
    BadError {
        /// The object, from 0.
        object: usize,
    },
    /// No draws.
    #[error("no random groups were asked for; ask for at least 1")]
    NoDraws,
    /// No group has two values.
    #[error("no group has {FEWEST} members with a value")]
    NoGroups,
    /// All values are the same.
    #[error("the values are the same for all objects")]
    NoSpread,
}

/// The result for one group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupTightness {
    /// The number of members, with or without a value.
    pub members: usize,
    /// The number of members with a value.
    pub values: usize,
    /// The median of their values; NaN if there are none.
    pub middle: f64,
    /// Their scatter in excess of the errors; 0 if the errors explain it all, NaN for fewer than
    /// two values.
    pub scatter: f64,
    /// The scatter of random groups: the quantiles 0.05, 0.5 and 0.95; NaN if there are none.
    pub random: [f64; 3],
    /// The share of random groups that agree at least as well; NaN if there are none.
    pub p_value: f64,
    /// The lowest false-discovery rate at which the group would be called tight (Benjamini &
    /// Hochberg 1995).
    pub q_value: f64,
}

/// The result for all groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Tight {
    /// The result for each group.
    pub groups: Vec<GroupTightness>,
    /// The p-value of all groups together.
    pub p_value: f64,
}

impl Tightness {
    /// Tests the groups, numbered from 0; an object without a number is in no group. `places` must
    /// be in comparable units. A NaN value is missing, and its error is ignored.
    pub fn judge(
        &self,
        places: &Points,
        groups: &[Option<u32>],
        values: &[f64],
        errors: &[f64],
        seed: u64,
    ) -> Result<Tight, TightnessError> {
        let n = places.len();
        let lengths = [("groups", groups.len()), ("values", values.len()), ("errors", errors.len())];
        if let Some((what, found)) = lengths.into_iter().find(|(_, found)| *found != n) {
            return Err(TightnessError::Length { what, expected: n, found });
        }
        if self.draws == 0 {
            return Err(TightnessError::NoDraws);
        }
        let known: Vec<usize> = (0..n).filter(|&i| values[i].is_finite()).collect();
        if let Some(&object) = known.iter().find(|&&i| values[i].abs() > LARGEST) {
            return Err(TightnessError::BadValue { object });
        }
        if let Some(&object) = known.iter().find(|&&i| !(0.0..=LARGEST).contains(&errors[i])) {
            return Err(TightnessError::BadError { object });
        }
        let count = groups.iter().flatten().map(|group| *group as usize + 1).max().unwrap_or(0);
        let mut members = vec![Vec::new(); count];
        let mut sizes = vec![0; count];
        groups.iter().flatten().for_each(|group| sizes[*group as usize] += 1);
        for &i in &known {
            if let Some(group) = groups[i] {
                members[group as usize].push(i);
            }
        }
        if members.iter().all(|members: &Vec<usize>| members.len() < FEWEST) {
            return Err(TightnessError::NoGroups);
        }
        let deviation = robust_deviation(&known.iter().map(|&i| values[i]).collect::<Vec<_>>());
        let least = LEAST_ERROR * deviation;
        if least == 0.0 {
            return Err(TightnessError::NoSpread);
        }
        // A power of two, so nothing is rounded.
        let unit = libm::exp2(f64::from(libm::ilogb(deviation).max(-1000)));
        let in_units = |all: &[f64]| all.iter().map(|v| (v / unit).clamp(-FAR, FAR)).collect();
        let sample = Sample {
            places,
            values,
            in_units: in_units(values),
            errors: in_units(errors),
            least: least / unit,
            unit,
        };
        let each: Vec<(GroupTightness, Option<Compared>)> = members
            .par_iter()
            .enumerate()
            .map(|(group, own)| {
                let mut rng = stream(seed, group as u64);
                let outside = known.iter().copied().filter(|&i| groups[i] != Some(group as u32)).collect();
                self.of_group(&sample, own, outside, sizes[group], &mut rng)
            })
            .collect();
        let compared: Vec<&Compared> = each.iter().filter_map(|(_, compared)| compared.as_ref()).collect();
        let observed: f64 = compared.iter().map(|c| c.weight * c.agreement).sum();
        let random: Vec<f64> =
            (0..self.draws).map(|draw| compared.iter().map(|c| c.weight * c.random[draw]).sum()).collect();
        let p = if compared.is_empty() { f64::NAN } else { p_value(observed, &random) };
        let mut found: Vec<GroupTightness> = each.into_iter().map(|(group, _)| group).collect();
        let q = q_values(&found.iter().map(|group| group.p_value).collect::<Vec<_>>());
        found.iter_mut().zip(q).for_each(|(group, q)| group.q_value = q);
        Ok(Tight { groups: found, p_value: p })
    }

    fn of_group(
        &self,
        sample: &Sample<'_>,
        own: &[usize],
        mut outside: Vec<usize>,
        members: usize,
        rng: &mut Stream,
    ) -> (GroupTightness, Option<Compared>) {
        let n = own.len();
        let nan = f64::NAN;
        let middle = if n == 0 { nan } else { median(own.iter().map(|&i| sample.values[i]).collect()) };
        let mut found = GroupTightness {
            members,
            values: n,
            middle,
            scatter: nan,
            random: [nan; 3],
            p_value: nan,
            q_value: nan,
        };
        if n < FEWEST {
            return (found, None);
        }
        let mut own = own.to_vec();
        shuffle(&mut own, rng);
        let (agreement, scatter) = sample.agreement_and_scatter(&own);
        found.scatter = scatter;
        if outside.len() < n {
            return (found, None);
        }
        if outside.len() > MOST_OUTSIDE.max(2 * n) {
            shuffle(&mut outside, rng);
            outside.truncate(MOST_OUTSIDE.max(2 * n));
        }
        let near = self.neighbours.max(2 * n).min(outside.len());
        let nearest: Vec<Vec<usize>> = own.iter().map(|&i| sample.nearest(i, &outside, near)).collect();
        let (mut random, mut scatters) = (Vec::with_capacity(self.draws), Vec::with_capacity(self.draws));
        let mut used = std::collections::HashSet::with_capacity(n);
        let mut picked = Vec::with_capacity(n);
        for _ in 0..self.draws {
            used.clear();
            picked.clear();
            for near in &nearest {
                // Twice as many as there are members, so that a free one is found soon.
                let first = rng.random_range(0..near.len());
                let mut at = near[first];
                for _ in 0..near.len() {
                    if !used.contains(&at) {
                        break;
                    }
                    at = near[rng.random_range(0..near.len())];
                }
                used.insert(at);
                picked.push(at);
            }
            let (agreement, scatter) = sample.agreement_and_scatter(&picked);
            random.push(agreement);
            scatters.push(scatter);
        }
        scatters.sort_by(f64::total_cmp);
        let quantile = |share: f64| scatters[((self.draws - 1) as f64 * share).round() as usize];
        found.random = [quantile(0.05), quantile(0.5), quantile(0.95)];
        found.p_value = p_value(agreement, &random);
        // In units of the chance level, so that no single group dominates.
        let mean = random.iter().sum::<f64>() / self.draws as f64;
        let weight = n as f64 / mean.max(f64::MIN_POSITIVE);
        (found, Some(Compared { weight, agreement, random }))
    }
}

/// A group's agreement and that of its random groups.
struct Compared {
    weight: f64,
    agreement: f64,
    random: Vec<f64>,
}

/// The data on all objects.
struct Sample<'a> {
    places: &'a Points,
    values: &'a [f64],
    /// The same, their errors and the least error of a difference, in units of the spread of the values.
    in_units: Vec<f64>,
    errors: Vec<f64>,
    least: f64,
    unit: f64,
}

impl Sample<'_> {
    /// The objects of `among` nearest to object `i`.
    fn nearest(&self, i: usize, among: &[usize], count: usize) -> Vec<usize> {
        let place = self.places.row(i);
        let mut far: Vec<(f64, usize)> =
            among.iter().map(|&j| (squared_distance(place, self.places.row(j)), j)).collect();
        let by = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if count < far.len() {
            far.select_nth_unstable_by(count, by);
            far.truncate(count);
        }
        far.sort_by(by);
        far.into_iter().map(|(_, j)| j).collect()
    }

    /// The mean over pairs of the density of their difference; the robust scatter beyond the errors.
    fn agreement_and_scatter(&self, members: &[usize]) -> (f64, f64) {
        let n = members.len();
        // Each member is paired with the next ones in a circle; going half-way round gives every
        // pair.
        let partners = PARTNERS.min(n / 2);
        let (mut sum, mut pairs, mut squares) = (0.0, 0, Vec::with_capacity(n * partners));
        for (at, &i) in members.iter().enumerate() {
            for step in 1..=partners {
                // With an even number of members the opposite one would occur twice.
                if 2 * step == n && at >= step {
                    continue;
                }
                let j = members[(at + step) % n];
                let square = (self.in_units[i] - self.in_units[j]).powi(2);
                let error = self.errors[i].powi(2) + self.errors[j].powi(2);
                let width = error + self.least * self.least;
                sum += libm::exp(-0.5 * square / width) / width.sqrt();
                squares.push(square / MEDIAN_SQUARE - 0.5 * error);
                pairs += 1;
            }
        }
        (sum / f64::from(pairs), median(squares).max(0.0).sqrt() * self.unit)
    }
}

fn shuffle(items: &mut [usize], rng: &mut Stream) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.random_range(0..=last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::StandardNormal;

    /// Objects in a square whose values follow a gradient, and groups of seven neighbours; all
    /// members of a tight group have the value of the first.
    fn sky(seed: u64, tight: bool) -> (Points, Vec<Option<u32>>, Vec<f64>, Vec<f64>) {
        let mut rng = stream(seed, 99);
        let n = 600;
        let places: Vec<[f64; 2]> = (0..n).map(|_| [rng.random(), rng.random()]).collect();
        let points = Points::from_rows(&places).unwrap();
        let mut groups = vec![None; n];
        let mut own: Vec<f64> =
            places.iter().map(|p| p[0] + 0.5 * rng.sample::<f64, _>(StandardNormal)).collect();
        for g in 0..12 {
            let mut near: Vec<usize> = (0..n).filter(|&i| groups[i].is_none()).collect();
            let centre: [f64; 2] = [rng.random(), rng.random()];
            near.sort_by(|&a, &b| {
                squared_distance(&places[a], &centre).total_cmp(&squared_distance(&places[b], &centre))
            });
            for &i in &near[..7] {
                groups[i] = Some(g);
                if tight {
                    own[i] = own[near[0]];
                }
            }
        }
        let errors: Vec<f64> = (0..n).map(|i| 0.05 + 0.1 * (i % 3) as f64).collect();
        for (value, error) in own.iter_mut().zip(&errors) {
            *value += error * rng.sample::<f64, _>(StandardNormal);
        }
        (points, groups, own, errors)
    }

    #[test]
    fn p_values_are_uniform_where_values_follow_places_and_small_where_members_are_alike() {
        let judge = Tightness { draws: 199, ..Tightness::default() };
        let (mut p, mut all, mut found, mut together) = (Vec::new(), Vec::new(), 0, 0);
        for seed in 0..25 {
            let (places, groups, values, errors) = sky(seed, false);
            let null = judge.judge(&places, &groups, &values, &errors, seed).unwrap();
            p.extend(null.groups.iter().map(|group| group.p_value));
            all.push(null.p_value);
            let (places, groups, values, errors) = sky(seed, true);
            let tight = judge.judge(&places, &groups, &values, &errors, seed).unwrap();
            found += tight.groups.iter().filter(|group| group.p_value <= 0.05).count();
            together += usize::from(tight.p_value <= 0.005);
        }
        // Kolmogorov: 300 p-values of groups (that share neighbours), 25 of all.
        for (p, most) in [(&mut p, 0.094), (&mut all, 0.32)] {
            p.sort_by(f64::total_cmp);
            let n = p.len() as f64;
            let gap = p.iter().enumerate().map(|(i, p)| (p - (i as f64 + 0.5) / n).abs()).fold(0.0, f64::max);
            assert!(gap < most, "{gap}");
        }
        assert!(found >= 255 && together == 25, "{found} of 300, {together} of 25");
    }

    #[test]
    fn the_unit_of_the_values_changes_nothing_from_1e_minus_300_to_1e148() {
        let (places, groups, values, errors) = sky(2, true);
        let judge = Tightness { draws: 99, ..Tightness::default() };
        let plain = judge.judge(&places, &groups, &values, &errors, 1).unwrap();
        for power in [-996, -498, -33, 33, 491] {
            let times =
                |all: &[f64]| all.iter().map(|v| v * libm::exp2(f64::from(power))).collect::<Vec<_>>();
            let found = judge.judge(&places, &groups, &times(&values), &times(&errors), 1).unwrap();
            assert_eq!(found.p_value, plain.p_value);
            for (own, plain) in found.groups.iter().zip(&plain.groups) {
                assert_eq!((own.p_value, own.q_value), (plain.p_value, plain.q_value), "2^{power}");
                let scale = libm::exp2(f64::from(power));
                assert_eq!((own.middle, own.scatter), (plain.middle * scale, plain.scatter * scale));
            }
        }
    }

    #[test]
    fn what_is_far_out_makes_no_group_tight() {
        let (places, groups, values, errors) = sky(2, false);
        let judge = Tightness { draws: 99, ..Tightness::default() };
        let plain = judge.judge(&places, &groups, &values, &errors, 1).unwrap();
        let mut far = values.clone();
        far[5] = 1e150;
        let found = judge.judge(&places, &groups, &far, &errors, 1).unwrap();
        assert!(found.groups.iter().all(|group| group.scatter.is_finite() && group.p_value > 0.0));
        assert!((found.p_value - plain.p_value).abs() < 0.2, "{} {}", found.p_value, plain.p_value);
        // Uninformative errors: no group agrees better than another.
        let found = judge.judge(&places, &groups, &values, &vec![LARGEST; 600], 1).unwrap();
        assert!(found.p_value > 0.05, "{}", found.p_value);
    }

    #[test]
    fn the_scatter_beyond_the_errors_is_found() {
        let mut rng = stream(1, 1);
        let n = 4000;
        let places = Points::new(vec![0.0; n], 1).unwrap();
        let values: Vec<f64> = (0..n)
            .map(|_| 0.3 * rng.sample::<f64, _>(StandardNormal) + 0.4 * rng.sample::<f64, _>(StandardNormal))
            .collect();
        let errors = vec![0.4; n];
        let groups: Vec<Option<u32>> = (0..n).map(|i| (i < n / 2).then_some(0)).collect();
        let judge = Tightness { draws: 5, ..Tightness::default() };
        let found = judge.judge(&places, &groups, &values, &errors, 1).unwrap();
        assert!((found.groups[0].scatter - 0.3).abs() < 0.02, "{:?}", found.groups[0]);
        let exact = judge.judge(&places, &groups, &values, &vec![0.0; n], 1).unwrap();
        assert!((exact.groups[0].scatter - 0.5).abs() < 0.02, "{:?}", exact.groups[0]);
    }

    #[test]
    fn missing_values_are_left_out_and_what_cannot_be_judged_is_said() {
        let (places, groups, mut values, mut errors) = sky(1, true);
        for i in 0..600 {
            if groups[i] == Some(0) || i % 2 == 0 {
                (values[i], errors[i]) = (f64::NAN, f64::NAN);
            }
        }
        let judge = Tightness { draws: 19, ..Tightness::default() };
        let found = judge.judge(&places, &groups, &values, &errors, 1).unwrap();
        assert_eq!((found.groups[0].members, found.groups[0].values), (7, 0));
        assert!(found.groups[0].p_value.is_nan() && found.groups[0].q_value.is_nan());
        assert!(found.groups[1].p_value <= 1.0);
        // Compared as text, in which NaN equals NaN.
        let again = judge.judge(&places, &groups, &values, &errors, 1).unwrap();
        assert_eq!(format!("{found:?}"), format!("{again:?}"));
        let refused = |groups: &[Option<u32>], values: &[f64], errors: &[f64]| {
            judge.judge(&places, groups, values, errors, 1).unwrap_err()
        };
        assert_eq!(refused(&vec![None; 600], &values, &errors), TightnessError::NoGroups);
        assert_eq!(refused(&groups, &vec![1.0; 600], &vec![0.0; 600]), TightnessError::NoSpread);
        assert!(matches!(refused(&groups[1..], &values, &errors), TightnessError::Length { .. }));
        for error in [-1.0, 1e151, f64::INFINITY, f64::NAN] {
            errors[1] = error;
            assert_eq!(refused(&groups, &values, &errors), TightnessError::BadError { object: 1 });
        }
        for value in [1e151, -1e200, f64::MAX] {
            values[3] = value;
            assert_eq!(refused(&groups, &values, &errors), TightnessError::BadValue { object: 3 });
        }
    }
}
