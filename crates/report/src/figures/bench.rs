//! Benches: bars by name (speed against rivals, what pruning saves) and lines by size (how the cost grows).

use super::axis::{Axis, signed};
use super::canvas::{Anchor, Area, FONT};
use super::lines::Line;
use super::panel::{Entry, Page, Panel, Sign};
use super::{Figure, FigureError, Result, counted};
use crate::colours::{COLOURS, GREY, MARKS, Mark};

/// One quantity, with a value for every name.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// The measured quantity.
    pub quantity: String,
    /// Its values, in the order of the names; above 0.
    pub values: Vec<f64>,
}

/// Horizontal bars under their names, one colour per quantity, on a logarithmic scale from 1 or
/// from below the least value.
///
/// ```
/// use goc_report::figures::{Bars, bars};
/// let faster = Bars { quantity: "times faster".into(), values: vec![5.3, 14.0] };
/// assert!(bars(&["k-means".into(), "k-medoids".into()], &[faster])?.svg().contains("k-medoids"));
/// # Ok::<(), goc_report::figures::FigureError>(())
/// ```
pub fn bars(names: &[String], quantities: &[Bars]) -> Result<Figure> {
    if names.is_empty() || quantities.is_empty() {
        return Err(FigureError::Empty { what: "bars" });
    }
    if quantities.len() > COLOURS.len() {
        return Err(FigureError::TooMany {
            what: "quantities",
            most: COLOURS.len(),
            found: quantities.len(),
        });
    }
    for q in quantities {
        counted("values", names.len(), q.values.len())?;
        super::finite("value", q.values.iter().copied())?;
        if let Some((index, &value)) = q.values.iter().enumerate().find(|(_, v)| **v <= 0.0) {
            return Err(FigureError::Range { what: "value", index, value, wanted: "above 0" });
        }
    }
    let all = || quantities.iter().flat_map(|q| q.values.iter().copied());
    let least = all().fold(1.0, |low, v| if v < low { v * 0.8 } else { low });
    let name = if quantities.len() == 1 { quantities[0].quantity.clone() } else { String::new() };
    let most = all().fold(2.0 * least, f64::max);
    // Room for the number at the end of the longest bar.
    let x = Axis { log: true, ..Axis::new(name, least, most * libm::pow(most / least, 0.14)) };
    let legend: Vec<Entry> = quantities
        .iter()
        .zip(COLOURS)
        .map(|(q, colour)| Entry {
            text: q.quantity.clone(),
            colour: colour.into(),
            sign: Sign::Mark(Mark::Square),
        })
        .filter(|_| quantities.len() > 1)
        .collect();
    // Numbers at the ends of bars are a line of text high.
    let (bar, pitch, words) = (9.0, 1.2 * FONT, FONT + 6.0);
    let row = words + pitch * quantities.len() as f64 + 1.0;
    let height = row * names.len() as f64 + 4.0;
    let panel = Panel::new("", x, Axis::new("", 0.0, 1.0)).bare();
    let mut page = Page::new(vec![panel], 1, height / 380.0, &legend, &[]);
    page.inside(0, |canvas, placed| {
        let row = (placed.area.height - 4.0) / names.len() as f64;
        for (i, name) in names.iter().enumerate() {
            let top = placed.area.top + 2.0 + i as f64 * row;
            let text = super::font::fitted(name, FONT, placed.area.width - 8.0);
            canvas.text(&text, [placed.area.left + 4.0, top + FONT], Anchor::Start, FONT, 0.0);
            for (at, (q, colour)) in quantities.iter().zip(COLOURS).enumerate() {
                let y = top + words + at as f64 * pitch;
                let end = placed.place([q.values[i], 0.0])[0];
                let area = Area {
                    left: placed.area.left,
                    top: y,
                    width: (end - placed.area.left).max(0.5),
                    height: bar,
                };
                canvas.rectangle(area, &format!("fill=\"{colour}\" class=\"bar\""));
                canvas.text(&short(q.values[i]), [end + 3.0, y + bar - 0.5], Anchor::Start, FONT, 0.0);
            }
        }
    });
    Ok(page.finish())
}

/// Two or three digits.
fn short(value: f64) -> String {
    let text = match value {
        v if v >= 99.5 => format!("{v:.0}"),
        v if v >= 9.95 => format!("{v:.0}"),
        v if v >= 0.995 => format!("{v:.1}"),
        v if v >= 0.001 => format!("{v:.2}"),
        v => format!("{v:.0e}"),
    };
    signed(&text)
}

/// Lines on logarithmic axes, with a dashed one that is proportional to x through the first point.
pub fn scaling(lines: &[Line], axes: [&str; 2]) -> Result<Figure> {
    if lines.iter().all(|line| line.points.is_empty()) {
        return Err(FigureError::Empty { what: "points" });
    }
    if lines.len() >= COLOURS.len() {
        return Err(FigureError::TooMany { what: "lines", most: COLOURS.len() - 1, found: lines.len() });
    }
    for line in lines {
        super::finite_points("point", &line.points)?;
        if let Some((index, p)) = line.points.iter().enumerate().find(|(_, p)| p[0] <= 0.0 || p[1] <= 0.0) {
            return Err(FigureError::range("point", index, p[0].min(p[1]), "above 0"));
        }
    }
    let all = || lines.iter().flat_map(|line| line.points.iter().copied());
    let x = Axis::decades(axes[0], all().map(|p| p[0]));
    let y = Axis::decades(axes[1], all().map(|p| p[1]));
    let mut legend: Vec<Entry> = lines
        .iter()
        .zip(COLOURS)
        .map(|(l, colour)| Entry { text: l.name.clone(), colour: colour.into(), sign: Sign::Line("") })
        .collect();
    legend.push(Entry { text: "in proportion".into(), colour: GREY.into(), sign: Sign::Line("4 2.5") });
    let (low, high) = (x.low, x.high);
    let mut page = Page::new(vec![Panel::new("", x, y)], 1, 0.7, &legend, &[]);
    page.inside(0, |canvas, placed| {
        if let Some([x0, y0]) = lines.iter().find_map(|line| line.points.first().copied()) {
            let ends = [low, high].map(|x| placed.place([x, y0 / x0 * x]));
            let style = format!("stroke=\"{GREY}\" stroke-width=\"1.2\" stroke-dasharray=\"4 2.5\"");
            canvas.line(ends[0], ends[1], &style);
        }
        for ((line, colour), mark) in lines.iter().zip(COLOURS).zip(MARKS) {
            let points: Vec<[f64; 2]> = line.points.iter().map(|p| placed.place(*p)).collect();
            if !points.is_empty() {
                canvas.polyline(&points, &format!("stroke=\"{colour}\" stroke-width=\"1.5\""));
            }
            canvas.marks(points.into_iter(), mark, colour);
        }
    });
    Ok(page.finish())
}
