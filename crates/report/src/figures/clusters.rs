//! The paper's Figure 1: clusters over the uncertainty sets.
//!
//! Grey dots are the candidates of all objects, coloured marks the representatives, a circle
//! encloses the members of each cluster. Panels share both axes, so that two methods can be
//! compared. A cluster in a later panel takes the look of the cluster in the first panel with which
//! it shares most members, so that what has not changed looks the same.

use std::collections::{BTreeMap, BTreeSet};

use super::axis::Axis;
use super::panel::{Page, Panel};
use super::{Circle, Figure, FigureError, Result, counted, enclosing_circle, finite_points};
use crate::colours::{GREY, Mark, look};

/// The colour of the sets.
pub(super) const BACKGROUND: &str = "#BFBFBF";

/// One clustering.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterPanel {
    /// The title above it.
    pub title: String,
    /// The representative of each object, in the plane of the figure.
    pub points: Vec<[f64; 2]>,
    /// The cluster of each object; `None` for noise.
    pub labels: Vec<Option<u32>>,
}

/// The plane of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// The names of the two directions, with units.
    pub names: [String; 2],
    /// Whether both directions have the same unit, so that distances are comparable.
    pub equal: bool,
}

impl Plane {
    /// Two principal components and their shares of the variance.
    pub fn components(components: &super::Components) -> Self {
        let [first, second] = components.shares().map(|share| (100.0 * share).round());
        Self { names: [format!("PC 1 ({first} %)"), format!("PC 2 ({second} %)")], equal: true }
    }
}

/// Clusterings of the same objects side by side, over `sets`, the candidates of all of them.
///
/// ```
/// use goc_report::figures::{ClusterPanel, Plane, clusters};
/// let panel = ClusterPanel {
///     title: "two clusters".into(),
///     points: vec![[0.0, 0.0], [1.0, 0.0], [5.0, 4.0]],
///     labels: vec![Some(0), Some(0), Some(1)],
/// };
/// let plane = Plane { names: ["x (kpc)".into(), "y (kpc)".into()], equal: true };
/// let figure = clusters(&[[0.5, 0.5]], &[panel], &plane)?;
/// assert_eq!(figure.svg().matches("<use ").count(), 3);
/// # Ok::<(), goc_report::figures::FigureError>(())
/// ```
pub fn clusters(sets: &[[f64; 2]], panels: &[ClusterPanel], plane: &Plane) -> Result<Figure> {
    Ok(drawn(sets, panels, plane, 0.0)?.0)
}

/// Like [`clusters`], but a few distant objects do not squeeze the others into a corner: an end of
/// an axis is cut off if its outermost 0.5 % would extend the axis by more than half. Also returns
/// the number of objects outside.
///
/// ```
/// use goc_report::figures::{ClusterPanel, Plane, most_clusters};
/// let points = (0..200).map(|i| [if i == 7 { 1e6 } else { f64::from(i) }, 0.0]).collect();
/// let panel = ClusterPanel { title: "one is far".into(), points, labels: vec![Some(0); 200] };
/// let plane = Plane { names: ["x".into(), "y".into()], equal: false };
/// let (_, outside) = most_clusters(&[], &[panel], &plane)?;
/// assert_eq!(outside, 1);
/// # Ok::<(), goc_report::figures::FigureError>(())
/// ```
pub fn most_clusters(sets: &[[f64; 2]], panels: &[ClusterPanel], plane: &Plane) -> Result<(Figure, usize)> {
    drawn(sets, panels, plane, 0.005)
}

/// The figure, and how many objects lie outside in at least one panel; `cut` is the fraction of
/// objects at each end of an axis that may.
fn drawn(sets: &[[f64; 2]], panels: &[ClusterPanel], plane: &Plane, cut: f64) -> Result<(Figure, usize)> {
    if panels.iter().all(|panel| panel.points.is_empty()) {
        return Err(FigureError::Empty { what: "points" });
    }
    finite_points("candidate", sets)?;
    for panel in panels {
        counted("labels", panel.points.len(), panel.labels.len())?;
        finite_points("point", &panel.points)?;
    }
    let ends = [0, 1].map(|c| {
        ends_of(panels.iter().flat_map(|panel| panel.points.iter().map(move |p| p[c])).collect(), cut)
    });
    let spans = ends.map(|ends| {
        let axis = Axis::around("", ends.into_iter());
        axis.high - axis.low
    });
    let within = |p: &[f64; 2]| (0..2).all(|c| (ends[c][0]..=ends[c][1]).contains(&p[c]));
    // Circles are round on the page; if the axes differ in unit, they are ellipses in the data.
    let scale = if plane.equal { [1.0, 1.0] } else { spans.map(|span| 1.0 / span) };
    let mut circles: Vec<(u32, Circle)> = Vec::new();
    for panel in panels {
        let outside = panel.points.iter().zip(&panel.labels).filter(|(point, _)| !within(point));
        let far: BTreeSet<u32> = outside.filter_map(|(_, label)| *label).collect();
        let of_panel = circles_of(panel, |p| [p[0] * scale[0], p[1] * scale[1]]);
        // A circle around a distant object reaches as far.
        circles.extend(of_panel.into_iter().filter(|(label, _)| !far.contains(label)));
    }
    let range = |c: usize| {
        let reach = |o: &Circle| [(o.centre[c] - o.radius) / scale[c], (o.centre[c] + o.radius) / scale[c]];
        let edges = circles.iter().flat_map(|(_, circle)| reach(circle));
        Axis::around(&plane.names[c], ends[c].into_iter().chain(edges))
    };
    let (x, y) = (range(0), range(1));
    let columns = if panels.len() == 1 { 1 } else { 2 };
    let least = if columns == 1 { 0.35 } else { 0.6 };
    let tall = if plane.equal { ((y.high - y.low) / (x.high - x.low)).clamp(least, 1.5) } else { 1.0 };
    let frames = panels.iter().enumerate().map(|(p, panel)| {
        let frame = Panel::new(panel.title.clone(), x.clone(), y.clone());
        let frame = if plane.equal { frame.equal() } else { frame };
        frame.shows(p + columns >= panels.len(), p % columns == 0)
    });
    let mut page = Page::new(frames.collect(), columns, tall, &[], &[]);
    // Smaller frames, smaller marks.
    let mark = if columns == 1 { 1.0 } else { 0.75 };
    page.canvas.mark_scale = mark;
    let mut outside = BTreeSet::new();
    for (p, panel) in panels.iter().enumerate() {
        let looks = looks_of(panel, &panels[0]);
        page.inside(p, |canvas, placed| {
            let seen = |point: &[f64; 2]| {
                let [x, y] = placed.place(*point);
                let area = &placed.area;
                (area.left..=area.right()).contains(&x) && (area.top..=area.bottom()).contains(&y)
            };
            outside.extend((0..panel.points.len()).filter(|&i| !seen(&panel.points[i])));
            let dots = sets.iter().map(|point| placed.place(*point));
            canvas.cloud(dots, placed.area, if columns == 1 { 1.0 } else { 0.8 }, BACKGROUND);
            for (label, circle) in circles_of(panel, |point| placed.place(point)) {
                let (colour, _) = look(looks[&label]);
                // A little larger than the members need, so that their marks are inside too.
                let radius = circle.radius + 3.5 * mark;
                let style = format!(
                    "fill=\"{colour}\" fill-opacity=\".1\" stroke=\"{colour}\" stroke-width=\".9\" class=\"cluster\""
                );
                canvas.circle(circle.centre, radius, &style);
            }
            let of = |wanted: Option<u32>| {
                let chosen = panel.points.iter().zip(&panel.labels).filter(move |(_, l)| **l == wanted);
                chosen.map(|(point, _)| placed.place(*point))
            };
            if panel.labels.contains(&None) {
                canvas.marks(of(None), Mark::Cross, GREY);
            }
            for (label, number) in &looks {
                let (colour, mark) = look(*number);
                canvas.marks(of(Some(*label)), mark, colour);
            }
        });
    }
    Ok((page.finish(), outside.len()))
}

/// The range of values that an axis shows. An end is cut off if up to a fraction `cut` of the
/// values lies far beyond the others.
fn ends_of(mut values: Vec<f64>, cut: f64) -> [f64; 2] {
    values.sort_by(f64::total_cmp);
    let [Some(&first), Some(&last)] = [values.first(), values.last()] else { return [0.0, 1.0] };
    let cut = (values.len() as f64 * cut) as usize;
    let (low, high) = (values[cut], values[values.len() - 1 - cut]);
    let room = 0.5 * (high - low);
    [if low - first > room { low } else { first }, if last - high > room { high } else { last }]
}

/// The circle of each cluster, with its members mapped by `place`.
fn circles_of(panel: &ClusterPanel, place: impl Fn([f64; 2]) -> [f64; 2]) -> Vec<(u32, Circle)> {
    let mut members: BTreeMap<u32, Vec<[f64; 2]>> = BTreeMap::new();
    for (point, label) in panel.points.iter().zip(&panel.labels) {
        if let Some(label) = label {
            members.entry(*label).or_default().push(place(*point));
        }
    }
    members.iter().filter_map(|(label, points)| Some((*label, enclosing_circle(points)?))).collect()
}

/// The index of each cluster's look: its own in the first panel; elsewhere that of the cluster with
/// which it shares most members.
fn looks_of(panel: &ClusterPanel, first: &ClusterPanel) -> BTreeMap<u32, usize> {
    let mut own: Vec<u32> = panel.labels.iter().flatten().copied().collect();
    own.sort_unstable();
    own.dedup();
    let mut theirs: Vec<u32> = first.labels.iter().flatten().copied().collect();
    theirs.sort_unstable();
    theirs.dedup();
    let number = |label: u32| theirs.binary_search(&label).unwrap_or(0);
    let mut shared: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for pair in panel.labels.iter().zip(&first.labels) {
        if let (Some(a), Some(b)) = pair {
            *shared.entry((*a, *b)).or_default() += 1;
        }
    }
    let mut pairs: Vec<((u32, u32), usize)> = shared.into_iter().collect();
    pairs.sort_by_key(|&(pair, count)| (std::cmp::Reverse(count), pair));
    let mut looks = BTreeMap::new();
    let mut taken = vec![false; theirs.len() + own.len()];
    for ((a, b), _) in pairs {
        if !looks.contains_key(&a) && !taken[number(b)] {
            taken[number(b)] = true;
            looks.insert(a, number(b));
        }
    }
    let mut free = (0..taken.len()).filter(|k| !taken[*k]).collect::<Vec<_>>().into_iter();
    for label in own {
        if let std::collections::btree_map::Entry::Vacant(entry) = looks.entry(label) {
            entry.insert(free.next().unwrap_or(0));
        }
    }
    looks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_changed_looks_the_same() {
        let panel = |labels: &[u32]| ClusterPanel {
            title: String::new(),
            points: vec![[0.0; 2]; labels.len()],
            labels: labels.iter().map(|l| Some(*l)).collect(),
        };
        let (first, second) = (panel(&[5, 5, 5, 7, 7, 9]), panel(&[1, 1, 1, 0, 2, 2]));
        assert_eq!(looks_of(&first, &first), BTreeMap::from([(5, 0), (7, 1), (9, 2)]));
        assert_eq!(looks_of(&second, &first), BTreeMap::from([(1, 0), (0, 1), (2, 2)]));
    }
}
