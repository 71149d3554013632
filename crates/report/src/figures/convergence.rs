//! How a run converges: the paper's Experiment 3, and what `--history` keeps.
//!
//! `eta1(t)` is the NMI between the labels at iteration t and the final ones, `eta2(t)` the mean
//! squared distance of the chosen candidates from the final ones (in scaled features), `eta3(t)`
//! the NMI with the truth over its final value. Thin lines are single runs, thick ones their mean;
//! a run that has ended keeps its last value.

use super::axis::Axis;
use super::panel::{Entry, Page, Panel, Sign};
use super::{Figure, FigureError, Result};
use crate::colours::COLOURS;

/// Runs under one name, such as one K(0): `Q` quantities at each iteration of each run.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs<const Q: usize> {
    /// Their name in the legend.
    pub name: String,
    /// The quantities at t = 1, 2, … of each run.
    pub runs: Vec<Vec<[f64; Q]>>,
}

/// eta1, eta2 and eta3 against iteration.
///
/// ```
/// use goc_report::figures::{Runs, convergence};
/// let run = vec![[0.8, 0.3, 0.95], [0.9, 0.1, 0.99], [1.0, 0.0, 1.0]];
/// let figure = convergence("k-means", &[Runs { name: "K(0) = 50".into(), runs: vec![run] }])?;
/// assert!(figure.svg().contains("K(0) = 50"));
/// # Ok::<(), goc_report::figures::FigureError>(())
/// ```
pub fn convergence(title: &str, series: &[Runs<3>]) -> Result<Figure> {
    by_iteration(title, ["η₁: labels", "η₂: candidates", "η₃: NMI"], series)
}

/// The joint objective, the fraction of objects that changed their candidate, and K, against
/// iteration.
pub fn history(title: &str, series: &[Runs<3>]) -> Result<Figure> {
    by_iteration(title, ["objective", "changed", "clusters"], series)
}

fn by_iteration<const Q: usize>(title: &str, names: [&str; Q], series: &[Runs<Q>]) -> Result<Figure> {
    if series.iter().all(|s| s.runs.iter().all(Vec::is_empty)) {
        return Err(FigureError::Empty { what: "iterations" });
    }
    if series.len() > COLOURS.len() {
        return Err(FigureError::TooMany { what: "series", most: COLOURS.len(), found: series.len() });
    }
    for s in series {
        super::finite("iteration", s.runs.iter().flatten().flatten().copied())?;
    }
    let mut legend: Vec<Entry> = series
        .iter()
        .zip(COLOURS)
        .zip(DASHES.into_iter().cycle())
        .map(|((s, colour), dashes)| Entry {
            text: s.name.clone(),
            colour: colour.into(),
            sign: Sign::Line(dashes),
        })
        .collect();
    if series.len() == 1 && title.is_empty() {
        legend.clear(); // one line needs no telling apart
    }
    if !title.is_empty() {
        legend.insert(0, Entry { text: title.into(), colour: "none".into(), sign: Sign::Line("") });
    }
    let last = series.iter().flat_map(|s| s.runs.iter().map(Vec::len)).max().unwrap_or(1);
    let x = if last > 1 {
        Axis::new("iteration", 1.0 - last as f64 * 0.03, last as f64 * 1.03)
    } else {
        Axis::new("iteration", 0.0, 2.0)
    };
    let panels = names.iter().enumerate().map(|(q, name)| {
        let values = series.iter().flat_map(|s| s.runs.iter().flatten().map(move |step| step[q]));
        let y = Axis::around("", values.clone());
        // Counts have no fractional ticks.
        let y = if values.clone().all(|v| v.fract() == 0.0) { y.whole() } else { y };
        Panel::new(*name, x.clone().whole(), y)
    });
    let mut page = Page::new(panels.collect(), Q, 1.25, &legend, &[]);
    for q in 0..Q {
        page.inside(q, |canvas, placed| {
            for (s, colour) in series.iter().zip(COLOURS) {
                let at = |t: usize, value: f64| placed.place([(t + 1) as f64, value]);
                for run in s.runs.iter().filter(|run| !run.is_empty() && s.runs.len() > 1) {
                    let points: Vec<[f64; 2]> = run.iter().enumerate().map(|(t, v)| at(t, v[q])).collect();
                    let style = format!(
                        "stroke=\"{colour}\" stroke-width=\".5\" stroke-opacity=\".45\" class=\"run\""
                    );
                    canvas.polyline(&points, &style);
                }
            }
            for ((s, colour), dashes) in series.iter().zip(COLOURS).zip(DASHES.into_iter().cycle()) {
                let mean: Vec<[f64; 2]> = mean(&s.runs, q)
                    .into_iter()
                    .enumerate()
                    .map(|(t, v)| placed.place([(t + 1) as f64, v]))
                    .collect();
                let style = format!(
                    "stroke=\"{colour}\" stroke-width=\"1.8\" stroke-dasharray=\"{dashes}\" class=\"mean\""
                );
                canvas.polyline(&mean, &style);
            }
        });
    }
    Ok(page.finish())
}

/// Dashes also help distinguish lines that cross.
const DASHES: [&str; 3] = ["none", "6 3", "1.5 3"];

fn mean<const Q: usize>(runs: &[Vec<[f64; Q]>], q: usize) -> Vec<f64> {
    let runs: Vec<&Vec<[f64; Q]>> = runs.iter().filter(|run| !run.is_empty()).collect();
    let last = runs.iter().map(|run| run.len()).max().unwrap_or(0);
    (0..last)
        .map(|t| runs.iter().map(|run| run[t.min(run.len() - 1)][q]).sum::<f64>() / runs.len() as f64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_has_ended_keeps_its_last_value_in_the_mean() {
        let runs = vec![vec![[0.0], [1.0]], vec![[2.0], [3.0], [5.0]], vec![]];
        assert_eq!(mean(&runs, 0), [1.0, 2.0, 3.0]);
    }
}
