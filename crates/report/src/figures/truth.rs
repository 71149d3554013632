//! The paper's data-set figures: the uncertainty sets of chosen true groups in colour, the others grey.

use super::axis::Axis;
use super::clusters::{BACKGROUND, Plane};
use super::panel::{Entry, Page, Panel, Sign};
use super::{Figure, FigureError, Result, counted, finite_points};
use crate::colours::{COLOURS, Mark};

/// One data set.
#[derive(Clone, Debug, PartialEq)]
pub struct TruthPanel {
    /// The title above it.
    pub title: String,
    /// The candidates of all objects, in the plane of the panel.
    pub points: Vec<[f64; 2]>,
    /// For each candidate, which of the chosen groups it belongs to; `None` for the others.
    pub groups: Vec<Option<usize>>,
}

/// Data sets side by side, each in its own plane. `names` are the chosen groups, seven at most.
///
/// ```
/// use goc_report::figures::{Plane, TruthPanel, truth};
/// let points = vec![[0.0, 0.0], [1.0, 2.0], [3.0, 1.0]];
/// let panel = TruthPanel { title: "instance 1".into(), points, groups: vec![Some(0), Some(0), None] };
/// let plane = Plane { names: ["PC 1".into(), "PC 2".into()], equal: true };
/// assert!(truth(&[panel], &["1".to_string()], &plane)?.svg().contains("instance 1"));
/// # Ok::<(), goc_report::figures::FigureError>(())
/// ```
pub fn truth(panels: &[TruthPanel], names: &[String], plane: &Plane) -> Result<Figure> {
    if panels.is_empty() || panels.iter().any(|panel| panel.points.is_empty()) {
        return Err(FigureError::Empty { what: "points" });
    }
    if names.len() > COLOURS.len() {
        return Err(FigureError::TooMany { what: "groups", most: COLOURS.len(), found: names.len() });
    }
    for panel in panels {
        counted("groups", panel.points.len(), panel.groups.len())?;
        finite_points("candidate", &panel.points)?;
        if let Some((index, &Some(group))) =
            panel.groups.iter().enumerate().find(|(_, group)| group.is_some_and(|g| g >= names.len()))
        {
            let value = group as f64;
            return Err(FigureError::Range { what: "group", index, value, wanted: "one of the names" });
        }
    }
    let legend: Vec<Entry> = names
        .iter()
        .zip(COLOURS)
        .map(|(name, colour)| Entry {
            text: name.clone(),
            colour: colour.into(),
            sign: Sign::Mark(Mark::Disc),
        })
        .collect();
    let columns = panels.len().min(3);
    let frames: Vec<Panel> = panels
        .iter()
        .enumerate()
        .map(|(p, panel)| {
            let x = trimmed(&plane.names[0], panel, 0);
            let y = trimmed(if p % columns == 0 { &plane.names[1] } else { "" }, panel, 1);
            let frame = Panel::new(panel.title.clone(), x, y);
            if plane.equal { frame.equal() } else { frame }
        })
        .collect();
    let tall = match &frames[..] {
        [one] if plane.equal => ((one.y.high - one.y.low) / (one.x.high - one.x.low)).clamp(0.35, 1.5),
        [_] => 0.75,
        _ => 1.1,
    };
    let mut page = Page::new(frames, columns, tall, &legend, &[]);
    let size = if columns == 1 { 1.2 } else { 0.8 };
    for (p, panel) in panels.iter().enumerate() {
        page.inside(p, |canvas, placed| {
            let of = |wanted: Option<usize>| {
                let chosen = panel.points.iter().zip(&panel.groups).filter(move |(_, g)| **g == wanted);
                chosen.map(|(point, _)| placed.place(*point))
            };
            canvas.cloud(of(None), placed.area, size, BACKGROUND);
            for (group, colour) in (0..names.len()).zip(COLOURS) {
                canvas.cloud(of(Some(group)), placed.area, 1.6 * size, colour);
            }
        });
    }
    Ok(page.finish())
}

/// The range of all chosen groups, and of the others without the outermost 1 % on each side: a few
/// sets reach very far.
fn trimmed(name: &str, panel: &TruthPanel, c: usize) -> Axis {
    let mut all: Vec<f64> = panel.points.iter().map(|p| p[c]).collect();
    all.sort_by(f64::total_cmp);
    let cut = all.len() / 100;
    let chosen = panel.points.iter().zip(&panel.groups).filter(|(_, g)| g.is_some()).map(|(p, _)| p[c]);
    Axis::around(name, all[cut..all.len() - cut].iter().copied().chain(chosen))
}
