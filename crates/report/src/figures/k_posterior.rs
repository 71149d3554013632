//! The posterior of K: the probability of each number of clusters.

use super::axis::Axis;
use super::canvas::Area;
use super::panel::{Page, Panel};
use super::{Figure, FigureError, Result};
use crate::colours::COLOURS;

/// Bars of the probability of each K; the title gives the most probable K and the mean.
pub fn k_posterior(posterior: &[(u64, f64)]) -> Result<Figure> {
    let Some(&best) = posterior.iter().reduce(|best, next| if next.1 > best.1 { next } else { best }) else {
        return Err(FigureError::Empty { what: "numbers of clusters" });
    };
    if let Some((index, &(_, value))) =
        posterior.iter().enumerate().find(|(_, (_, p))| !(0.0..=1.0 + 1e-9).contains(p))
    {
        return Err(FigureError::Range { what: "probability", index, value, wanted: "from 0 to 1" });
    }
    let total: f64 = posterior.iter().map(|(_, p)| p).sum();
    let mean =
        posterior.iter().map(|(k, p)| *k as f64 * p).sum::<f64>() / if total > 0.0 { total } else { 1.0 };
    let (first, last) =
        posterior.iter().fold((u64::MAX, 0), |(low, high), (k, _)| (low.min(*k), high.max(*k)));
    let x = Axis::new("number of clusters K", first as f64 - 0.7, last as f64 + 0.7).whole();
    let y = Axis::new("probability", 0.0, if best.1 > 0.0 { best.1 * 1.08 } else { 1.0 });
    let title = format!("most probable K = {}, mean {mean:.1}", best.0);
    let mut page = Page::new(vec![Panel::new(title, x, y)], 1, 0.6, &[], &[]);
    page.inside(0, |canvas, placed| {
        let width = placed.length(0.8);
        for &(k, p) in posterior {
            let [x, top] = placed.place([k as f64, p]);
            let area = Area { left: x - width / 2.0, top, width, height: placed.area.bottom() - top };
            canvas.rectangle(area, &format!("fill=\"{}\" class=\"bar\"", COLOURS[0]));
        }
    });
    Ok(page.finish())
}
