//! The co-clustering matrix: the probability that two objects are in the same group.
//!
//! Objects are ordered by cluster, large ones first and noise last, and within a cluster by
//! decreasing certainty. Certain clusters show as dark squares on the diagonal, uncertain ones as
//! shades outside them. Beyond [`CELLS`] objects, neighbours share a cell, which shows their mean.
//! Cells of one shade in a row are one rectangle, and each shade is one path.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::axis::Axis;
use super::canvas::number;
use super::panel::{Entry, Page, Panel, Sign};
use super::{Figure, FigureError, Result};
use crate::colours::{COLOURS, Mark};

/// Maximum number of cells along a side.
const CELLS: usize = 400;
/// Shades between white and the darkest.
const SHADES: usize = 10;

/// Two objects, by index, and the probability that they are in the same group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// One of them.
    pub a: usize,
    /// The other.
    pub b: usize,
    /// From 0 to 1.
    pub probability: f64,
}

/// The matrix of objects with these labels (`None`: noise). Pairs that are not listed have
/// probability 0; each may be listed once, in either order.
///
/// ```
/// use goc_report::figures::{Pair, together};
/// let pairs = [Pair { a: 0, b: 1, probability: 0.9 }];
/// assert!(together(&[Some(0), Some(0), None], &pairs)?.svg().contains("<path"));
/// # Ok::<(), goc_report::figures::FigureError>(())
/// ```
pub fn together(labels: &[Option<i64>], pairs: &[Pair]) -> Result<Figure> {
    let n = labels.len();
    if n == 0 {
        return Err(FigureError::Empty { what: "objects" });
    }
    for (index, pair) in pairs.iter().enumerate() {
        if !(0.0..=1.0).contains(&pair.probability) {
            return Err(FigureError::range("pair", index, pair.probability, "a probability from 0 to 1"));
        }
        if let Some(&object) = [pair.a, pair.b].iter().find(|o| **o >= n) {
            let value = object as f64;
            return Err(FigureError::Range { what: "pair", index, value, wanted: "the number of an object" });
        }
    }
    let order = order_of(labels, pairs);
    let mut place = vec![0; n];
    for (at, &object) in order.iter().enumerate() {
        place[object] = at;
    }
    let side = n.min(CELLS);
    let cell = |at: usize| at * side / n;
    let mut sums: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for pair in pairs {
        let (a, b) = (cell(place[pair.a]), cell(place[pair.b]));
        *sums.entry((a, b)).or_default() += pair.probability;
        *sums.entry((b, a)).or_default() += pair.probability;
    }
    let mut sizes = vec![0.0; side];
    for at in 0..n {
        // An object is always together with itself.
        *sums.entry((cell(at), cell(at))).or_default() += 1.0;
        sizes[cell(at)] += 1.0;
    }
    let legend: Vec<Entry> = (1..=5)
        .map(|fifth| Entry {
            text: format!("{}{:.1}", if fifth == 1 { "probability " } else { "" }, f64::from(fifth) / 5.0),
            colour: shade(fifth as usize * SHADES / 5),
            sign: Sign::Mark(Mark::Square),
        })
        .collect();
    let axis = |name: &str| Axis::new(name, 0.0, n as f64).whole();
    let panel = Panel::new("", axis("objects, cluster by cluster"), axis("")).bare();
    let mut page = Page::new(vec![panel], 1, 1.0, &legend, &[]);
    page.inside(0, |canvas, placed| {
        let unit = placed.area.width / side as f64;
        let mut paths = vec![String::new(); SHADES + 1];
        let mut cells =
            sums.iter().map(|(&(r, c), sum)| (r, c, level(sum / (sizes[r] * sizes[c])))).peekable();
        while let Some((r, c, level)) = cells.next() {
            let mut end = c + 1;
            while cells.next_if(|next| *next == (r, end, level)).is_some() {
                end += 1;
            }
            let (x, y) = (placed.area.left + c as f64 * unit, placed.area.top + r as f64 * unit);
            let (w, h) = ((end - c) as f64 * unit, unit);
            let _ = write!(
                paths[level],
                "M{} {}h{}v{}h-{}z",
                number(x),
                number(y),
                number(w),
                number(h),
                number(w)
            );
        }
        for (level, d) in paths.iter().enumerate().skip(1).filter(|(_, d)| !d.is_empty()) {
            let style = format!("fill=\"{}\" shape-rendering=\"crispEdges\" class=\"cells\"", shade(level));
            canvas.path(d, &style);
        }
        let mut from = 0;
        let mut outlines = String::new();
        for run in order.chunk_by(|a, b| labels[*a].is_some() && labels[*a] == labels[*b]) {
            let (start, size) = (from as f64, run.len() as f64);
            from += run.len();
            if run.len() > 1 {
                let scale = placed.area.width / n as f64;
                let (x, y, w) =
                    (placed.area.left + start * scale, placed.area.top + start * scale, size * scale);
                let [x, y, w] = [x, y, w].map(number);
                let _ = write!(outlines, "M{x} {y}h{w}v{w}h-{w}z");
            }
        }
        if !outlines.is_empty() {
            let style =
                format!("fill=\"none\" stroke=\"{}\" stroke-width=\".7\" class=\"outlines\"", COLOURS[1]);
            canvas.path(&outlines, &style);
        }
    });
    Ok(page.finish())
}

/// Objects by cluster: large ones first, noise last; within a cluster, the most certain first.
fn order_of(labels: &[Option<i64>], pairs: &[Pair]) -> Vec<usize> {
    let mut sizes: BTreeMap<i64, usize> = BTreeMap::new();
    for label in labels.iter().flatten() {
        *sizes.entry(*label).or_default() += 1;
    }
    let mut within = vec![0.0; labels.len()];
    for pair in pairs.iter().filter(|p| labels[p.a].is_some() && labels[p.a] == labels[p.b]) {
        within[pair.a] += pair.probability;
        within[pair.b] += pair.probability;
    }
    let rank = |i: usize| match labels[i] {
        Some(label) => (0, usize::MAX - sizes[&label], label),
        None => (1, 0, 0),
    };
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&i, &j| rank(i).cmp(&rank(j)).then(within[j].total_cmp(&within[i])).then(i.cmp(&j)));
    order
}

/// 0 is left white.
fn level(probability: f64) -> usize {
    ((probability * SHADES as f64).round() as usize).min(SHADES)
}

/// From white to dark blue, in even steps of lightness.
fn shade(level: usize) -> String {
    let t = level as f64 / SHADES as f64;
    let mix = |from: f64, to: f64| (from + (to - from) * t).round() as u8;
    format!("#{:02X}{:02X}{:02X}", mix(255.0, 0.0), mix(255.0, 50.0), mix(255.0, 110.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_clusters_come_first_and_noise_last() {
        let labels = [None, Some(3), Some(1), Some(1), Some(3), Some(1), Some(9)];
        let pairs = [Pair { a: 2, b: 5, probability: 0.9 }, Pair { a: 3, b: 5, probability: 0.8 }];
        assert_eq!(order_of(&labels, &pairs), [5, 2, 3, 1, 4, 6, 0]);
    }

    #[test]
    fn shades_run_from_white_to_dark() {
        assert_eq!((level(0.04), level(0.06), level(1.0)), (0, 1, SHADES));
        assert_eq!((shade(0), shade(SHADES)), ("#FFFFFF".into(), "#00326E".into()));
    }
}
