//! The table: one row per method, mean and standard deviation over its runs.

use goc_tables::{Column, Data, Table};
use serde_json::{Value, json};

use goc::metrics::mean_and_deviation;
use goc_pipeline::compare::{Outcome, Row};

use super::Run;
use crate::console::counted;
use crate::failure::Result;

/// Mean and standard deviation (n - 1); no deviation of a single run.
type Spread = Option<(f64, Option<f64>)>;

/// One quantity of the table.
pub struct Quantity {
    name: &'static str,
    digits: usize,
    of: fn(&Outcome) -> Option<f64>,
}

/// The quantities of the table; times differ from run to run, so they are included only on request.
pub fn quantities(times: bool) -> &'static [Quantity] {
    if times { &QUANTITIES } else { &QUANTITIES[..QUANTITIES.len() - 1] }
}

const QUANTITIES: [Quantity; 7] = [
    Quantity { name: "nmi", digits: 3, of: |o| Some(o.scores.as_ref()?.nmi) },
    Quantity { name: "f", digits: 3, of: |o| Some(o.scores.as_ref()?.f) },
    Quantity { name: "ari", digits: 3, of: |o| Some(o.scores.as_ref()?.ari) },
    Quantity { name: "k", digits: 1, of: |o| Some(o.k as f64) },
    Quantity { name: "iterations", digits: 1, of: |o| (o.iterations > 0).then_some(o.iterations as f64) },
    // Adding 0 turns -0 into 0.
    Quantity { name: "objective", digits: 3, of: |o| Some(o.objective? + 0.0) },
    // The last, see `quantities`.
    Quantity { name: "seconds", digits: 3, of: |o| Some(o.seconds) },
];

/// The summary of a method's runs.
pub struct Summary {
    values: [Spread; QUANTITIES.len()],
    runs: usize,
    failed: usize,
    converged: usize,
}

impl Summary {
    pub fn of(row: usize, runs: &[Run]) -> Self {
        let mine: Vec<&Run> = runs.iter().filter(|run| run.row == row).collect();
        let done: Vec<&Outcome> = mine.iter().filter_map(|run| run.outcome.as_ref().ok()).collect();
        let values = std::array::from_fn(|q| spread(&done, QUANTITIES[q].of));
        let converged = done.iter().filter(|outcome| outcome.converged).count();
        Self { values, runs: mine.len(), failed: mine.len() - done.len(), converged }
    }

    /// "yes", "no", "8 of 10", "failed".
    fn ending(&self) -> String {
        let done = self.runs - self.failed;
        let converged = match self.converged {
            _ if done == 0 => return "failed".into(),
            c if c == done => "yes".to_string(),
            0 => "no".to_string(),
            c => format!("{c} of {done}"),
        };
        if self.failed == 0 { converged } else { format!("{converged}, {} failed", self.failed) }
    }
}

fn spread(outcomes: &[&Outcome], of: fn(&Outcome) -> Option<f64>) -> Spread {
    let values: Vec<f64> = outcomes.iter().filter_map(|outcome| of(outcome)).collect();
    let (mean, deviation) = mean_and_deviation(&values);
    match values.len() {
        0 => None,
        1 => Some((mean, None)),
        _ => Some((mean, Some(deviation))),
    }
}

/// With `many`, some method has several runs, so the table shows deviations.
pub fn markdown(rows: &[Row], quantities: &[Quantity], table: &[Summary], many: bool) -> String {
    let head: Vec<&str> =
        ["method"].into_iter().chain(quantities.iter().map(|q| q.name)).chain(["converged"]).collect();
    let mut lines = vec![head.iter().map(|h| h.to_string()).collect::<Vec<_>>()];
    for (row, summary) in rows.iter().zip(table) {
        let mut line = vec![row.name.clone()];
        for (value, quantity) in summary.values.iter().zip(quantities) {
            let digits = if many || quantity.digits != 1 { quantity.digits } else { 0 };
            line.push(match value {
                None => "-".into(),
                Some((mean, Some(sd))) => format!("{mean:.digits$} ± {sd:.digits$}"),
                Some((mean, None)) => format!("{mean:.digits$}"),
            });
        }
        line.push(summary.ending());
        lines.push(line);
    }
    // Columns of equal width: the table is read in a terminal before it is rendered.
    let widths: Vec<usize> =
        (0..head.len()).map(|c| lines.iter().map(|l| l[c].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let cells: Vec<String> = line
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(c, (cell, &w))| if c == 0 { format!("{cell:<w$}") } else { format!("{cell:>w$}") })
            .collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
        if at == 0 {
            let rules: Vec<String> = widths.iter().map(|&w| "-".repeat(w + 2)).collect();
            text.push_str(&format!("|{}|\n", rules.join("|")));
        }
    }
    text
}

pub fn csv(rows: &[Row], quantities: &[Quantity], table: &[Summary]) -> String {
    let mut text = String::from("method");
    for quantity in quantities {
        text.push_str(&format!(",{0},{0}_sd", quantity.name));
    }
    text.push_str(",runs,converged,failed,flags\n");
    for (row, summary) in rows.iter().zip(table) {
        text.push_str(&row.name);
        for value in &summary.values[..quantities.len()] {
            let (mean, sd) = value.map_or((None, None), |(mean, sd)| (Some(mean), sd));
            let show = |v: Option<f64>| v.map_or_else(String::new, |v| v.to_string());
            text.push_str(&format!(",{},{}", show(mean), show(sd)));
        }
        let Summary { runs, converged, failed, .. } = summary;
        text.push_str(&format!(",{runs},{converged},{failed},{}\n", row.flags()));
    }
    text
}

pub fn json_rows(rows: &[Row], quantities: &[Quantity], table: &[Summary]) -> Vec<Value> {
    let one = |(row, summary): (&Row, &Summary)| {
        let mut object = json!({
            "method": row.name, "flags": row.flags(), "runs": summary.runs,
            "converged": summary.converged, "failed": summary.failed,
        });
        for (value, quantity) in summary.values.iter().zip(quantities) {
            object[quantity.name] = json!(value.map(|(mean, _)| mean));
            object[format!("{}_sd", quantity.name)] = json!(value.and_then(|(_, sd)| sd));
        }
        object
    };
    rows.iter().zip(table).map(one).collect()
}

/// What the table cannot show: which methods failed and why, and which left objects out as noise.
pub fn remarks(rows: &[Row], runs: &[Run], sets: usize) -> Vec<String> {
    let mut remarks = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let mine: Vec<&Run> = runs.iter().filter(|run| run.row == at).collect();
        let failed: Vec<&String> = mine.iter().filter_map(|run| run.outcome.as_ref().err()).collect();
        if let Some(reason) = failed.first() {
            let count = if failed.len() < mine.len() {
                format!(" in {}", counted(failed.len(), "run"))
            } else {
                String::new()
            };
            remarks.push(format!("{} failed{count}: {reason}", row.name));
        }
        let noise: usize =
            mine.iter().filter_map(|run| run.outcome.as_ref().ok()).map(|outcome| outcome.noise).sum();
        if noise > 0 {
            remarks.push(format!(
                "{}: {} labelled noise; each counts as a group of its own in the scores, but not in k",
                row.name,
                counted(noise, "object")
            ));
        }
    }
    remarks.push(format!(
        "{} of {}, {}; objectives differ between methods and cannot be compared",
        counted(runs.len(), "run"),
        counted(rows.len(), "method"),
        counted(sets, "table")
    ));
    remarks
}

/// One row per run.
pub fn runs_table(rows: &[Row], quantities: &[Quantity], inputs: &[String], runs: &[Run]) -> Result<Table> {
    let text = |of: &dyn Fn(&Run) -> String| Data::Text(runs.iter().map(of).collect());
    let mut columns = vec![
        Column::new("method", text(&|run| rows[run.row].name.clone())),
        Column::new("flags", text(&|run| rows[run.row].flags())),
        Column::new("input", text(&|run| inputs[run.set].clone())),
        Column::new("seed", Data::I64(runs.iter().map(|run| run.seed as i64).collect())),
    ];
    for quantity in quantities {
        let values: Vec<Option<f64>> =
            runs.iter().map(|run| run.outcome.as_ref().ok().and_then(quantity.of)).collect();
        let valid = values.iter().map(Option::is_some).collect();
        let column =
            Column::new(quantity.name, Data::F64(values.iter().map(|v| v.unwrap_or(f64::NAN)).collect()));
        columns.push(column.with_valid(valid)?);
    }
    let converged = |run: &Run| run.outcome.as_ref().is_ok_and(|outcome| outcome.converged);
    columns.push(Column::new("converged", Data::Bool(runs.iter().map(converged).collect())));
    let noise = |run: &Run| run.outcome.as_ref().map_or(0, |outcome| outcome.noise as i64);
    columns.push(Column::new("noise", Data::I64(runs.iter().map(noise).collect())));
    columns
        .push(Column::new("failure", text(&|run| run.outcome.as_ref().err().cloned().unwrap_or_default())));
    Ok(Table::new(columns)?)
}
