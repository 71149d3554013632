//! Validation: the scatter of each group in a column that was not used to find it, beside that of
//! random groups.
//!
//! A grey bar spans nine out of ten random groups of the same size at similar positions, with a
//! stroke at their median. The group is a disc: filled where it is tighter than chance, hollow
//! where it is not.

use super::axis::Axis;
use super::canvas::{Anchor, Area, FONT};
use super::panel::{Entry, Page, Panel, Sign};
use super::{Figure, FigureError, Result, finite};
use crate::colours::{COLOURS, GREY, Mark};

/// One group.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidatedGroup {
    /// Its name.
    pub name: String,
    /// Its scatter.
    pub scatter: f64,
    /// The scatter of random groups: low, median, high.
    pub random: [f64; 3],
    /// Whether it is tighter than chance.
    pub tight: bool,
}

/// Groups side by side; `quantity` is the column with its unit, and `note` is written in the
/// corner.
///
/// ```
/// use goc_report::figures::{ValidatedGroup, validation};
/// let group = ValidatedGroup { name: "3".into(), scatter: 0.1, random: [0.3, 0.5, 0.6], tight: true };
/// assert!(validation(&[group], "fe_h", "p = 0.001")?.svg().contains("fe_h"));
/// # Ok::<(), goc_report::figures::FigureError>(())
/// ```
pub fn validation(groups: &[ValidatedGroup], quantity: &str, note: &str) -> Result<Figure> {
    if groups.is_empty() {
        return Err(FigureError::Empty { what: "groups" });
    }
    for (what, of) in [("scatter", 0), ("random scatter", 1)] {
        let numbers =
            |group: &ValidatedGroup| if of == 0 { vec![group.scatter] } else { group.random.to_vec() };
        let all: Vec<f64> = groups.iter().flat_map(numbers).collect();
        finite(what, all.iter().copied())?;
        if let Some((index, &value)) = all.iter().enumerate().find(|(_, value)| **value < 0.0) {
            return Err(FigureError::range(what, index, value, "at least 0"));
        }
    }
    let most = groups.iter().map(|group| group.scatter.max(group.random[2])).fold(0.0, f64::max);
    let most = if most > 0.0 { most } else { 1.0 };
    let n = groups.len() as f64;
    let x = Axis::new("", 0.0, n);
    let y = Axis::new(format!("scatter of {quantity} beyond the errors"), -0.05 * most, 1.2 * most);
    let entry = |text: &str, colour: &str, mark| Entry {
        text: text.into(),
        colour: colour.into(),
        sign: Sign::Mark(mark),
    };
    let legend = [
        entry("group, filled: tighter than chance", COLOURS[0], Mark::Disc),
        entry("nine of ten random groups", GREY, Mark::Square),
    ];
    let panel = Panel::new("", x, y).shows(false, true);
    let mut page = Page::new(vec![panel], 1, 0.55, &legend, &[]);
    page.inside(0, |canvas, placed| {
        let step = placed.length(1.0);
        let bar = (0.5 * step).min(14.0);
        // Names only where they do not touch.
        let every = ((3.0 * FONT) / step).ceil().max(1.0) as usize;
        for (i, group) in groups.iter().enumerate() {
            let at = |value: f64| placed.place([i as f64 + 0.5, value]);
            let ([centre, low], [_, high]) = (at(group.random[0]), at(group.random[2]));
            let area =
                Area { left: centre - 0.5 * bar, top: high, width: bar, height: (low - high).max(0.5) };
            canvas.rectangle(area, &format!("fill=\"{GREY}\" fill-opacity=\".35\" class=\"random\""));
            let [_, middle] = at(group.random[1]);
            let ends = ([centre - 0.5 * bar, middle], [centre + 0.5 * bar, middle]);
            canvas.line(ends.0, ends.1, &format!("stroke=\"{GREY}\" stroke-width=\"1.5\""));
            let fill = if group.tight { COLOURS[0] } else { "#fff" };
            let style =
                format!("fill=\"{fill}\" stroke=\"{}\" stroke-width=\"1.5\" class=\"group\"", COLOURS[0]);
            canvas.circle(at(group.scatter), (0.3 * bar).clamp(2.0, 4.0), &style);
            if i % every == 0 {
                let foot = [centre, placed.area.bottom() - 3.0];
                canvas.text(&group.name, foot, Anchor::Middle, FONT, 0.0);
            }
        }
        let corner = [placed.area.right() - 5.0, placed.area.top + FONT + 3.0];
        canvas.text(note, corner, Anchor::End, FONT, 0.0);
    });
    Ok(page.finish())
}
