//! The tables: our results beside the paper's, as Markdown, LaTeX or CSV; and every run and step as
//! tables for files.
//!
//! Markdown and LaTeX have a row for each setting, with mean ± deviation in its cells. CSV has a
//! row for each quantity of a setting, all experiments in one table, in full precision.

use goc::metrics::mean_and_deviation;
use goc::optimistic::Termination;
use goc_tables::{Column, Data, Table, TableError};

use crate::affinity::{self, AffinityOutcome};
use crate::cells::{CELLS, Cell, EXPERIMENTS, Experiment, Printed};
use crate::run::{Outcome, Step};

goc_pipeline::words! {
    /// The format of the tables.
    #[non_exhaustive]
    pub enum Layout {
        /// For reading, and for pages.
        Markdown = "markdown",
        /// With booktabs, for a paper.
        Latex = "latex",
        /// For programs.
        Csv = "csv",
    }
}

/// One table of the paper.
pub(crate) struct Block {
    /// In CSV the part before the colon names the rows.
    pub title: &'static str,
    /// Headings of the columns that identify a row.
    pub keys: &'static [&'static str],
    /// Heading of the last column, which counts some of the runs.
    pub counted: &'static str,
    pub rows: Vec<Row>,
}

/// A setting and the results of its runs.
pub(crate) struct Row {
    pub keys: Vec<String>,
    /// Oracle, lambda and K(0) in the form used in CSV.
    pub csv: String,
    pub values: Vec<Value>,
    pub counted: usize,
    pub runs: usize,
}

/// One quantity of a setting, ours and the paper's: mean and deviation.
pub(crate) struct Value {
    name: &'static str,
    digits: usize,
    ours: (f64, f64),
    paper: Printed,
}

impl Value {
    pub fn new(name: &'static str, digits: usize, runs: impl Iterator<Item = f64>, paper: Printed) -> Self {
        Self { name, digits, ours: mean_and_deviation(&runs.collect::<Vec<_>>()), paper }
    }

    fn cell(&self, value: Printed, layout: Layout) -> String {
        let digits = self.digits;
        match (value, layout) {
            (None, _) => "-".into(),
            (Some((mean, sd)), Layout::Latex) => format!("${mean:.digits$}\\pm{sd:.digits$}$"),
            (Some((mean, sd)), _) => format!("{mean:.digits$} ± {sd:.digits$}"),
        }
    }
}

impl Block {
    fn text(&self, layout: Layout, beside: bool) -> String {
        let (title, head) = (self.title, self.head(beside));
        let lined = |line: &dyn Fn(Vec<String>) -> String| -> (String, String) {
            (line(head.clone()), self.cells(layout, beside).map(line).collect())
        };
        match layout {
            Layout::Markdown => {
                let (first, rows) = lined(&|cells| format!("| {} |\n", cells.join(" | ")));
                format!("\n## {title}\n\n{first}|{}\n{rows}", "---|".repeat(head.len()))
            }
            Layout::Latex => {
                let (first, rows) = lined(&|cells| format!("{} \\\\\n", cells.join(" & ")));
                let columns = "r".repeat(head.len() - 1);
                format!(
                    "% {title}\n\\begin{{tabular}}{{l{columns}}}\n\\toprule\n{first}\\midrule\n{rows}\
                     \\bottomrule\n\\end{{tabular}}\n\n"
                )
            }
            Layout::Csv => self.csv(),
        }
    }

    fn head(&self, beside: bool) -> Vec<String> {
        let mut head: Vec<&str> = self.keys.to_vec();
        for value in self.rows.first().iter().flat_map(|row| &row.values) {
            head.push(value.name);
            head.extend(beside.then_some("paper"));
        }
        head.push(self.counted);
        head.into_iter().map(String::from).collect()
    }

    fn cells(&self, layout: Layout, beside: bool) -> impl Iterator<Item = Vec<String>> {
        self.rows.iter().map(move |row| {
            let mut cells = row.keys.clone();
            for value in &row.values {
                cells.push(value.cell(Some(value.ours), layout));
                cells.extend(beside.then(|| value.cell(value.paper, layout)));
            }
            cells.push(format!("{} of {}", row.counted, row.runs));
            cells
        })
    }

    fn csv(&self) -> String {
        let experiment = self.title.split(':').next().unwrap_or(self.title);
        let mut text = String::new();
        for row in &self.rows {
            for Value { name, ours: (mean, sd), paper, .. } in &row.values {
                let paper = paper.map_or(",".into(), |(mean, sd)| format!("{mean},{sd}"));
                text += &format!("{experiment},{},{name},{mean},{sd},{paper},{}\n", row.csv, row.runs);
            }
        }
        text
    }
}

/// One quantity of the experiments: its name, digits, our value and where a cell has the paper's.
struct Quantity(&'static str, usize, fn(&Outcome) -> f64, usize);

const QUANTITIES: [Quantity; 6] = [
    Quantity("NMI", 3, |run| run.scores.nmi, 0),
    Quantity("NMI baseline", 3, |run| run.baseline.nmi, 4),
    Quantity("F", 3, |run| run.scores.f, 1),
    Quantity("F baseline", 3, |run| run.baseline.f, 5),
    Quantity("clusters", 1, |run| run.k as f64, 2),
    Quantity("iterations", 1, |run| run.iterations as f64, 3),
];

fn row(cell: &Cell, runs: &[&Outcome]) -> Row {
    let value = |Quantity(name, digits, ours, papers): &Quantity| {
        Value::new(name, *digits, runs.iter().map(|run| ours(run)), cell.printed[*papers])
    };
    let keys = vec![cell.oracle.to_string(), cell.lambda.to_string(), cell.k.to_string()];
    Row {
        csv: keys.join(","),
        keys,
        values: QUANTITIES.iter().map(value).collect(),
        counted: runs.iter().filter(|run| run.cycles()).count(),
        runs: runs.len(),
    }
}

/// The experiment with the cells that were run.
fn block(experiment: &Experiment, outcomes: &[Outcome]) -> Block {
    let rows = CELLS.iter().filter(|cell| (experiment.shows)(cell)).filter_map(|cell| {
        let runs: Vec<&Outcome> = outcomes.iter().filter(|run| std::ptr::eq(run.cell, cell)).collect();
        (!runs.is_empty()).then(|| row(cell, &runs))
    });
    let keys = &["oracle", "lambda", "K(0)"];
    Block { title: experiment.title, keys, counted: "cycles", rows: rows.collect() }
}

/// All experiments that were run as text; `beside` says whether to show the paper's figures beside
/// ours.
pub fn tables(
    outcomes: &[Outcome],
    affinity: Option<&[AffinityOutcome]>,
    layout: Layout,
    beside: bool,
) -> String {
    let head = match layout {
        Layout::Csv => "experiment,oracle,lambda,k0,quantity,mean,sd,paper_mean,paper_sd,runs\n",
        _ => "",
    };
    let blocks = EXPERIMENTS.iter().map(|experiment| block(experiment, outcomes));
    let run = blocks.filter(|block| !block.rows.is_empty()).chain(affinity.map(affinity::block));
    head.to_string() + &run.map(|block| block.text(layout, beside)).collect::<String>()
}

/// One row per run; optionally with the wall-clock seconds, which differ from run to run.
pub fn runs_table(outcomes: &[Outcome], times: bool) -> Result<Table, TableError> {
    let text = |value: fn(&Outcome) -> String| Data::Text(outcomes.iter().map(value).collect());
    let real = |value: fn(&Outcome) -> f64| Data::F64(outcomes.iter().map(value).collect());
    let whole = |value: fn(&Outcome) -> usize| Data::I64(outcomes.iter().map(|o| value(o) as i64).collect());
    let mut table = Table::new(vec![
        Column::new("oracle", text(|o| o.cell.oracle.to_string())),
        Column::new("lambda", real(|o| o.cell.lambda)),
        Column::new("k0", whole(|o| o.cell.k)),
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
    ])?;
    if times {
        table.push(Column::new("seconds", real(|o| o.seconds)))?;
    }
    Ok(table)
}

fn ending(termination: Termination) -> String {
    match termination {
        Termination::Converged => "converged".into(),
        Termination::Cycle { period } => format!("cycle of {period}"),
        _ => "limit".into(),
    }
}

/// The numbers behind the convergence figures: one row per run and iteration. `t` = 1 is the first
/// clustering.
pub fn convergence_table(outcomes: &[Outcome]) -> Result<Table, TableError> {
    let shown: Vec<(&Outcome, usize, &Step)> = outcomes
        .iter()
        .filter(|o| o.cell.lambda == 0.01)
        .flat_map(|o| o.convergence.iter().enumerate().map(move |(t, step)| (o, t + 1, step)))
        .collect();
    let of_run =
        |value: fn(&Outcome) -> usize| Data::I64(shown.iter().map(|(o, ..)| value(o) as i64).collect());
    let real = |value: fn(&Step) -> f64| Data::F64(shown.iter().map(|(.., step)| value(step)).collect());
    let kept_valid = shown.iter().map(|(.., step)| step.kept.is_some()).collect();
    Table::new(vec![
        Column::new("oracle", Data::Text(shown.iter().map(|(o, ..)| o.cell.oracle.to_string()).collect())),
        Column::new("k0", of_run(|o| o.cell.k)),
        Column::new("set", of_run(|o| o.set)),
        Column::new("seed", of_run(|o| o.seed as usize)),
        Column::new("t", Data::I64(shown.iter().map(|(_, t, _)| *t as i64).collect())),
        Column::new("eta1", real(|step| step.eta.eta1)),
        Column::new("eta2", real(|step| step.eta.eta2)),
        Column::new("eta3", real(|step| step.eta.eta3.unwrap_or(f64::NAN))),
        Column::new("nmi", real(|step| step.nmi)),
        Column::new("k", Data::I64(shown.iter().map(|(.., step)| step.k as i64).collect())),
        Column::new("kept", real(|step| step.kept.unwrap_or(0.0))).with_valid(kept_valid)?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Block {
        let value = |name, digits, runs: [f64; 2], paper| Value::new(name, digits, runs.into_iter(), paper);
        let row = Row {
            keys: vec!["k-means".into(), "30".into()],
            csv: "k-means,0.01,30".into(),
            values: vec![value("NMI", 3, [0.5, 0.75], Some((0.625, 0.1))), value("F", 1, [2.0, 2.0], None)],
            counted: 1,
            runs: 2,
        };
        Block { title: "Table 9: a small one", keys: &["oracle", "K(0)"], counted: "cycles", rows: vec![row] }
    }

    #[test]
    fn markdown_has_the_papers_figures_only_where_they_belong() {
        assert_eq!(
            small().text(Layout::Markdown, true),
            "\n## Table 9: a small one\n\n| oracle | K(0) | NMI | paper | F | paper | cycles |\n\
             |---|---|---|---|---|---|---|\n| k-means | 30 | 0.625 ± 0.177 | 0.625 ± 0.100 | 2.0 ± 0.0 | - | 1 of 2 |\n"
        );
        assert_eq!(
            small().text(Layout::Markdown, false),
            "\n## Table 9: a small one\n\n| oracle | K(0) | NMI | F | cycles |\n|---|---|---|---|---|\n\
             | k-means | 30 | 0.625 ± 0.177 | 2.0 ± 0.0 | 1 of 2 |\n"
        );
    }

    #[test]
    fn latex_is_a_whole_tabular() {
        assert_eq!(
            small().text(Layout::Latex, false),
            "% Table 9: a small one\n\\begin{tabular}{lrrrr}\n\\toprule\noracle & K(0) & NMI & F & cycles \\\\\n\
             \\midrule\nk-means & 30 & $0.625\\pm0.177$ & $2.0\\pm0.0$ & 1 of 2 \\\\\n\\bottomrule\n\\end{tabular}\n\n"
        );
    }

    #[test]
    fn csv_has_a_row_for_each_quantity_in_full_precision() {
        assert_eq!(
            small().text(Layout::Csv, false),
            "Table 9,k-means,0.01,30,NMI,0.625,0.1767766952966369,0.625,0.1,2\n\
             Table 9,k-means,0.01,30,F,2,0,,,2\n"
        );
    }
}
