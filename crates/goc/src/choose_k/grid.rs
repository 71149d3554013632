//! Coarse-to-fine search for the K with the largest criterion, without trying every K.
//!
//! First comes a geometric ladder over the range, with steps of about a third. Then the midpoints
//! of the gaps between the best K and its tried neighbours are tried repeatedly, until the
//! neighbours are adjacent. That takes `O(log K)` clusterings. If a criterion has several peaks
//! closer than the ladder's steps, one may be missed: the result is the top of the highest peak
//! that the ladder hit.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Ratio of the ladder.
const STEP: f64 = 1.35;

/// Which of several K with the same value is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ties {
    Smaller,
    Larger,
}

/// The K with the largest value, and all values by K. A K for which `value` returns `None` is
/// skipped; an error ends the search. The best is `None` if no K had a value.
pub(crate) fn peak<E>(
    range: RangeInclusive<usize>,
    ties: Ties,
    mut value: impl FnMut(usize) -> Result<Option<f64>, E>,
) -> Result<Peak, E> {
    let (low, high) = (*range.start(), *range.end());
    let mut values: BTreeMap<usize, Option<f64>> = BTreeMap::new();
    let mut k = low;
    while k <= high {
        values.insert(k, value(k)?);
        k = ((k as f64 * STEP) as usize).max(k + 1);
    }
    if low <= high && !values.contains_key(&high) {
        values.insert(high, value(high)?);
    }
    while let Some(best) = largest(&values, ties) {
        let below = values.range(..best).next_back().map(|(k, _)| *k);
        let above = values.range(best + 1..).next().map(|(k, _)| *k);
        let middles: Vec<usize> = [below.map(|b| (b + best) / 2), above.map(|a| (a + best) / 2)]
            .into_iter()
            .flatten()
            .filter(|middle| !values.contains_key(middle))
            .collect();
        if middles.is_empty() {
            break;
        }
        for middle in middles {
            values.insert(middle, value(middle)?);
        }
    }
    let best = largest(&values, ties);
    Ok(Peak { best, values: values.into_iter().filter_map(|(k, v)| Some((k, v?))).collect() })
}

/// The result of [`peak`].
#[derive(Clone, Debug, PartialEq)]
pub struct Peak {
    /// The K with the largest value.
    pub best: Option<usize>,
    /// Every K tried that had a value, ascending.
    pub values: Vec<(usize, f64)>,
}

fn largest(values: &BTreeMap<usize, Option<f64>>, ties: Ties) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (&k, value) in values {
        if let Some(value) = value.filter(|v| !v.is_nan())
            && best.is_none_or(|(_, most)| value > most || (value == most && ties == Ties::Larger))
        {
            best = Some((k, value));
        }
    }
    best.map(|(k, _)| k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_peak_is_found_wherever_it_is_and_few_k_are_tried() {
        for top in 1..=137usize {
            let mut tried = 0;
            let found = peak(1..=137, Ties::Smaller, |k| {
                tried += 1;
                Ok::<_, ()>(Some(-((k as f64).ln() - (top as f64).ln()).abs()))
            })
            .unwrap();
            assert_eq!(found.best, Some(top));
            assert!(tried <= 30, "{top}: {tried}");
            assert_eq!(tried, found.values.len());
        }
    }

    #[test]
    fn ties_go_as_asked_and_nothing_to_try_is_none() {
        assert_eq!(peak(2..=9, Ties::Smaller, |_| Ok::<_, ()>(Some(1.0))).unwrap().best, Some(2));
        let flat = |k| Ok::<_, ()>(Some(if k <= 6 { 1.0 } else { 0.5 }));
        assert_eq!(peak(2..=90, Ties::Larger, flat).unwrap().best, Some(6));
        #[allow(clippy::reversed_empty_ranges)]
        let empty = peak(2..=1, Ties::Smaller, |_| Ok::<_, ()>(Some(1.0))).unwrap();
        assert_eq!((empty.best, empty.values.len()), (None, 0));
        assert_eq!(peak(1..=9, Ties::Smaller, |_| Ok::<_, ()>(None)).unwrap().best, None);
        assert_eq!(
            peak(1..=9, Ties::Smaller, |k| Ok::<_, ()>((k == 5).then_some(0.0))).unwrap().best,
            Some(5)
        );
        assert_eq!(
            peak(1..=9, Ties::Smaller, |k| if k > 3 { Err("failed") } else { Ok(Some(0.0)) }),
            Err("failed")
        );
    }
}
