//! Discussion 1 of the paper: affinity propagation on distances between the sets.
//!
//! The paper's third distance is not the Hausdorff distance that it is called; the true one has rows of its own.

use goc::baselines::clusterer::Clusterer;
use goc::metrics::Scores;
use goc::oracle::affinity::{Affinity, Preference};
use goc::set_distance::{SetDistance, all_four};
use rayon::prelude::*;

use super::Layout;
use super::paper::Printed;
use super::print::{mean_and_deviation, pair};
use super::sets::Set;
use crate::fail::Fail;

/// A row of the paper's table: NMI, F, clusters; each mean and deviation over its ten sets.
struct Row {
    distance: SetDistance,
    quantile: f64,
    paper: Option<[(f64, f64); 3]>,
}

const fn row(distance: SetDistance, quantile: f64, v: [f64; 6]) -> Row {
    Row { distance, quantile, paper: Some([(v[0], v[1]), (v[2], v[3]), (v[4], v[5])]) }
}

const ROWS: [Row; 12] = [
    row(SetDistance::Mean, 0.5, [0.801, 0.022, 0.566, 0.035, 23.5, 2.80]),
    row(SetDistance::Mean, 0.7, [0.825, 0.022, 0.623, 0.035, 30.6, 2.95]),
    row(SetDistance::Mean, 0.9, [0.848, 0.024, 0.680, 0.046, 55.0, 4.83]),
    row(SetDistance::Min, 0.5, [0.751, 0.048, 0.488, 0.074, 17.0, 3.50]),
    row(SetDistance::Min, 0.7, [0.793, 0.029, 0.558, 0.052, 20.7, 3.20]),
    row(SetDistance::Min, 0.9, [0.863, 0.026, 0.717, 0.048, 33.0, 2.71]),
    row(SetDistance::MinMax, 0.5, [0.745, 0.030, 0.500, 0.047, 27.6, 5.08]),
    row(SetDistance::MinMax, 0.7, [0.772, 0.025, 0.553, 0.039, 38.7, 6.11]),
    row(SetDistance::MinMax, 0.9, [0.816, 0.016, 0.617, 0.028, 74.9, 7.48]),
    Row { distance: SetDistance::Hausdorff, quantile: 0.5, paper: None },
    Row { distance: SetDistance::Hausdorff, quantile: 0.7, paper: None },
    Row { distance: SetDistance::Hausdorff, quantile: 0.9, paper: None },
];

/// One run.
pub struct Outcome {
    row: usize,
    values: [f64; 3],
    converged: bool,
}

/// All rows on all sets; `tick` after each set.
pub fn run(sets: &[Set], tick: &(dyn Fn() + Sync)) -> Result<Vec<Outcome>, Fail> {
    let of_set = |set: &Set| -> Result<Vec<Outcome>, Fail> {
        let distances = all_four(&set.candidates).map_err(|e| Fail::failed(e.to_string()))?;
        let outcomes = ROWS
            .iter()
            .enumerate()
            .map(|(at, row)| {
                let affinity = Affinity::default().preference(Preference::Quantile(row.quantile));
                let found = Clusterer::Affinity(affinity).group(distances.get(row.distance).clone(), 1)?;
                let scores = Scores::of(found.partition.labels(), &set.truth)?;
                let values = [scores.nmi, scores.f, found.partition.k() as f64];
                Ok(Outcome { row: at, values, converged: found.converged })
            })
            .collect();
        tick();
        outcomes
    };
    Ok(sets.par_iter().map(of_set).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// The table; `beside` says whether the paper's figures belong beside ours.
pub fn table(outcomes: &[Outcome], layout: Layout, beside: bool) -> String {
    let title = "Discussion 1: affinity propagation on distances between sets";
    let mut text = match layout {
        Layout::Markdown => format!("\n## {title}\n\n"),
        Layout::Latex => format!("% {title}\n"),
        Layout::Csv => String::new(),
    };
    let mut head: Vec<String> = ["distance", "q"].map(String::from).to_vec();
    for name in ["NMI", "F", "clusters"] {
        head.push(name.into());
        if beside {
            head.push("paper".into());
        }
    }
    head.push("converged".into());
    match layout {
        Layout::Markdown => {
            text.push_str(&format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len())));
        }
        Layout::Latex => {
            text.push_str(&format!("\\begin{{tabular}}{{l{}}}\n\\toprule\n", "r".repeat(head.len() - 1)));
            text.push_str(&format!("{} \\\\\n\\midrule\n", head.join(" & ")));
        }
        Layout::Csv => {}
    }
    for (at, row) in ROWS.iter().enumerate() {
        let runs: Vec<&Outcome> = outcomes.iter().filter(|o| o.row == at).collect();
        let spread = |v: usize| mean_and_deviation(&runs.iter().map(|o| o.values[v]).collect::<Vec<_>>());
        let converged = runs.iter().filter(|o| o.converged).count();
        let digits = [3, 3, 1];
        if layout == Layout::Csv {
            for (v, name) in ["NMI", "F", "clusters"].into_iter().enumerate() {
                let (mean, sd) = spread(v);
                let (paper, paper_sd) = row.paper.map_or((String::new(), String::new()), |paper| {
                    (paper[v].0.to_string(), paper[v].1.to_string())
                });
                text.push_str(&format!(
                    "Discussion 1,affinity {} q={},,,{name},{mean},{sd},{paper},{paper_sd},{}\n",
                    row.distance.name(),
                    row.quantile,
                    runs.len()
                ));
            }
            continue;
        }
        let mut cells = vec![row.distance.name().to_string(), row.quantile.to_string()];
        for (v, digits) in digits.into_iter().enumerate() {
            cells.push(pair(Some(spread(v)), digits, layout));
            if beside {
                let paper: Printed = row.paper.map(|paper| paper[v]);
                cells.push(pair(paper, digits, layout));
            }
        }
        cells.push(format!("{converged} of {}", runs.len()));
        match layout {
            Layout::Latex => text.push_str(&format!("{} \\\\\n", cells.join(" & "))),
            _ => text.push_str(&format!("| {} |\n", cells.join(" | "))),
        }
    }
    if layout == Layout::Latex {
        text.push_str("\\bottomrule\n\\end{tabular}\n\n");
    }
    text
}
