//! Calibration: is a probability of 0.8 right eight times out of ten?
//!
//! Plots the mean predicted probability of each bin against the observed frequency; the area of the
//! discs is proportional to the number of cases. The expected calibration error is the mean
//! absolute difference of the two over all cases.

use super::axis::Axis;
use super::canvas::{Anchor, FONT};
use super::panel::{Page, Panel};
use super::{Figure, FigureError, Result};
use crate::colours::{COLOURS, GREY};

/// One kind of probabilities, binned.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// What was predicted.
    pub name: String,
    /// For each bin: the mean probability, the fraction that came true, and the number of cases.
    pub bins: Vec<[f64; 3]>,
}

impl Calibration {
    /// The expected calibration error.
    ///
    /// ```
    /// use goc_report::figures::Calibration;
    /// let bins = vec![[0.2, 0.3, 10.0], [0.8, 0.8, 30.0]];
    /// assert!((Calibration { name: "member".into(), bins }.error() - 0.025).abs() < 1e-12);
    /// ```
    pub fn error(&self) -> f64 {
        let cases: f64 = self.bins.iter().map(|bin| bin[2]).sum();
        let off: f64 = self.bins.iter().map(|[said, was, count]| (said - was).abs() * count).sum();
        if cases > 0.0 { off / cases } else { 0.0 }
    }
}

/// One panel per kind.
pub fn calibration(kinds: &[Calibration]) -> Result<Figure> {
    if kinds.iter().all(|kind| kind.bins.is_empty()) {
        return Err(FigureError::Empty { what: "bins" });
    }
    for kind in kinds {
        for (index, [said, was, count]) in kind.bins.iter().enumerate() {
            for value in [*said, *was] {
                if !(0.0..=1.0).contains(&value) {
                    return Err(FigureError::Range { what: "bin", index, value, wanted: "from 0 to 1" });
                }
            }
            if !(count.is_finite() && *count >= 0.0) {
                return Err(FigureError::range("bin", index, *count, "a number of cases"));
            }
        }
    }
    let columns = kinds.len().min(3);
    let panels = kinds.iter().enumerate().map(|(k, kind)| {
        let first = k % columns == 0;
        // Below 0 there is room for the error.
        let y = Axis::new(if first { "share that came true" } else { "" }, -0.19, 1.04);
        Panel::new(kind.name.clone(), Axis::new("probability said", -0.04, 1.04), y)
            .equal()
            .shows(true, first)
    });
    let mut page = Page::new(panels.collect(), columns, 1.23 / 1.08, &[], &[]);
    for (k, kind) in kinds.iter().enumerate() {
        page.inside(k, |canvas, placed| {
            let style = format!("stroke=\"{GREY}\" stroke-width=\"1\" stroke-dasharray=\"4 2.5\"");
            canvas.line(placed.place([0.0, 0.0]), placed.place([1.0, 1.0]), &style);
            let most = kind.bins.iter().map(|bin| bin[2]).fold(1.0, f64::max);
            for [said, was, count] in &kind.bins {
                let radius = 1.5 + (placed.area.width * 0.035) * (count / most).sqrt();
                let style = format!("fill=\"{}\" fill-opacity=\".75\" class=\"bin\"", COLOURS[0]);
                canvas.circle(placed.place([*said, *was]), radius, &style);
            }
            let at = [placed.area.right() - 5.0, placed.area.bottom() - 6.0];
            canvas.text(&format!("error {:.3}", kind.error()), at, Anchor::End, FONT, 0.0);
        });
    }
    Ok(page.finish())
}
