//! The tables: ours beside the paper's, as Markdown, LaTeX or CSV.

use goc::optimistic::Termination;
use goc_tables::{Column, Data, Table};

use super::Layout;
use super::paper::{CELLS, Cell, EXPERIMENTS, Printed};
use super::run::Outcome;
use crate::fail::Fail;

/// Mean and standard deviation (n - 1) of something over the runs of a cell.
fn over(runs: &[&Outcome], value: impl Fn(&Outcome) -> f64) -> (f64, f64) {
    mean_and_deviation(&runs.iter().map(|r| value(r)).collect::<Vec<_>>())
}

/// The deviation is that of n - 1; 0 for a single value.
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    (mean, if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 })
}

/// One quantity of a table: its name, digits, our value and the paper's.
struct Quantity {
    name: &'static str,
    digits: usize,
    ours: fn(&Outcome) -> f64,
    papers: fn(&Cell) -> Printed,
}

const QUANTITIES: [Quantity; 6] = [
    Quantity { name: "NMI", digits: 3, ours: |r| r.scores.nmi, papers: |c| c.nmi },
    Quantity { name: "NMI baseline", digits: 3, ours: |r| r.baseline.nmi, papers: |c| c.baseline_nmi },
    Quantity { name: "F", digits: 3, ours: |r| r.scores.f, papers: |c| c.f },
    Quantity { name: "F baseline", digits: 3, ours: |r| r.baseline.f, papers: |c| c.baseline_f },
    Quantity { name: "clusters", digits: 1, ours: |r| r.k as f64, papers: |c| c.clusters },
    Quantity { name: "iterations", digits: 1, ours: |r| r.iterations as f64, papers: |c| c.iterations },
];

/// All experiments as text; `beside` says whether the paper's figures belong beside ours.
pub fn tables(outcomes: &[Outcome], layout: Layout, beside: bool) -> String {
    let mut text = String::new();
    if layout == Layout::Csv {
        text.push_str("experiment,oracle,lambda,k0,quantity,mean,sd,paper_mean,paper_sd,runs\n");
    }
    for experiment in &EXPERIMENTS {
        let cells: Vec<(usize, &Cell)> =
            CELLS.iter().enumerate().filter(|(_, c)| (experiment.shows)(c)).collect();
        let runs_of = |at: usize| -> Vec<&Outcome> { outcomes.iter().filter(|o| o.cell == at).collect() };
        if cells.iter().all(|(at, _)| runs_of(*at).is_empty()) {
            continue;
        }
        match layout {
            Layout::Markdown => text.push_str(&format!("\n## {}\n\n", experiment.title)),
            Layout::Latex => text.push_str(&format!("% {}\n", experiment.title)),
            Layout::Csv => {}
        }
        let head: Vec<String> = ["oracle".into(), "lambda".into(), "K(0)".into()]
            .into_iter()
            .chain(QUANTITIES.iter().flat_map(|q| {
                let name = q.name.to_string();
                if beside { vec![name, "paper".into()] } else { vec![name] }
            }))
            .chain(["cycles".to_string()])
            .collect();
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
        for (at, cell) in cells {
            let runs = runs_of(at);
            if runs.is_empty() {
                continue;
            }
            if layout == Layout::Csv {
                text.push_str(&csv_rows(experiment.title, cell, &runs));
                continue;
            }
            let mut row = vec![cell.oracle.to_string(), cell.lambda.to_string(), cell.k.to_string()];
            for quantity in &QUANTITIES {
                let value = over(&runs, quantity.ours);
                row.push(pair(Some(value), quantity.digits, layout));
                if beside {
                    row.push(pair((quantity.papers)(cell), quantity.digits, layout));
                }
            }
            let cycles = runs.iter().filter(|r| matches!(r.termination, Termination::Cycle { .. })).count();
            row.push(format!("{cycles} of {}", runs.len()));
            match layout {
                Layout::Latex => text.push_str(&format!("{} \\\\\n", row.join(" & "))),
                _ => text.push_str(&format!("| {} |\n", row.join(" | "))),
            }
        }
        if layout == Layout::Latex {
            text.push_str("\\bottomrule\n\\end{tabular}\n\n");
        }
    }
    text
}

pub fn pair(value: Printed, digits: usize, layout: Layout) -> String {
    match (value, layout) {
        (None, _) => "-".into(),
        (Some((mean, sd)), Layout::Latex) => format!("${mean:.digits$}\\pm{sd:.digits$}$"),
        (Some((mean, sd)), _) => format!("{mean:.digits$} ± {sd:.digits$}"),
    }
}

fn csv_rows(title: &str, cell: &Cell, runs: &[&Outcome]) -> String {
    let experiment = title.split(':').next().unwrap_or(title);
    let mut text = String::new();
    for quantity in &QUANTITIES {
        let (mean, sd) = over(runs, quantity.ours);
        let (paper, paper_sd) = match (quantity.papers)(cell) {
            Some((mean, sd)) => (mean.to_string(), sd.to_string()),
            None => (String::new(), String::new()),
        };
        text.push_str(&format!(
            "{experiment},{},{},{},{},{mean},{sd},{paper},{paper_sd},{}\n",
            cell.oracle.to_string(),
            cell.lambda,
            cell.k,
            quantity.name,
            runs.len()
        ));
    }
    text
}

/// A row a run.
pub fn runs_table(outcomes: &[Outcome]) -> Result<Table, Fail> {
    let text = |value: fn(&Outcome) -> String| Data::Text(outcomes.iter().map(value).collect());
    let real = |value: fn(&Outcome) -> f64| Data::F64(outcomes.iter().map(value).collect());
    let whole = |value: fn(&Outcome) -> usize| Data::I64(outcomes.iter().map(|o| value(o) as i64).collect());
    Ok(Table::new(vec![
        Column::new("oracle", text(|o| CELLS[o.cell].oracle.to_string())),
        Column::new("lambda", real(|o| CELLS[o.cell].lambda)),
        Column::new("k0", whole(|o| CELLS[o.cell].k)),
        Column::new("set", whole(|o| o.set)),
        Column::new("seed", whole(|o| o.seed as usize)),
        Column::new("nmi", real(|o| o.scores.nmi)),
        Column::new("f", real(|o| o.scores.f)),
        Column::new("ari", real(|o| o.scores.ari)),
        Column::new("k", whole(|o| o.k)),
        Column::new("iterations", whole(|o| o.iterations)),
        Column::new("ending", text(|o| ending(o.termination))),
        Column::new("objective", real(|o| o.objective)),
        Column::new("baseline_nmi", real(|o| o.baseline.nmi)),
        Column::new("baseline_f", real(|o| o.baseline.f)),
        Column::new("baseline_k", whole(|o| o.baseline_k)),
        Column::new("seconds", real(|o| o.seconds)),
    ])?)
}

fn ending(termination: Termination) -> String {
    match termination {
        Termination::Converged => "converged".into(),
        Termination::Cycle { period } => format!("cycle of {period}"),
        _ => "limit".into(),
    }
}

/// The numbers behind the convergence figures: a row a run and iteration. `t` = 1 is the first clustering.
pub fn convergence_table(outcomes: &[Outcome]) -> Result<Table, Fail> {
    let shown: Vec<(&Outcome, usize)> = outcomes
        .iter()
        .filter(|o| CELLS[o.cell].lambda == 0.01)
        .flat_map(|o| (0..o.convergence.len()).map(move |t| (o, t)))
        .collect();
    let real =
        |value: fn(&Outcome, usize) -> f64| Data::F64(shown.iter().map(|(o, t)| value(o, *t)).collect());
    let whole = |value: fn(&Outcome, usize) -> usize| {
        Data::I64(shown.iter().map(|(o, t)| value(o, *t) as i64).collect())
    };
    let kept_valid = shown.iter().map(|(o, t)| o.convergence[*t].kept.is_some()).collect();
    Ok(Table::new(vec![
        Column::new("oracle", Data::Text(shown.iter().map(|(o, _)| CELLS[o.cell].oracle.to_string()).collect())),
        Column::new("k0", whole(|o, _| CELLS[o.cell].k)),
        Column::new("set", whole(|o, _| o.set)),
        Column::new("seed", whole(|o, _| o.seed as usize)),
        Column::new("t", whole(|_, t| t + 1)),
        Column::new("eta1", real(|o, t| o.convergence[t].eta.eta1)),
        Column::new("eta2", real(|o, t| o.convergence[t].eta.eta2)),
        Column::new("eta3", real(|o, t| o.convergence[t].eta.eta3.unwrap_or(f64::NAN))),
        Column::new("nmi", real(|o, t| o.convergence[t].nmi)),
        Column::new("k", whole(|o, t| o.convergence[t].k)),
        Column::new("kept", real(|o, t| o.convergence[t].kept.unwrap_or(0.0))).with_valid(kept_valid)?,
    ])?)
}
