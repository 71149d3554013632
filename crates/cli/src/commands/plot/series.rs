//! Series by iteration or by size: convergence, history, benches.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use goc_report::figures::{self, Bars, Figure, Line, Runs};
use goc_tables::{Data, Table};

use super::probabilities::{finite, finite_of};
use super::{about, stem};

use crate::failure::Result;

/// From `convergence.csv` of `goc reproduce` if there is a column eta1, otherwise from files of
/// `--history`.
pub fn convergence(paths: &[PathBuf], oracle: Option<&str>) -> Result<Figure> {
    let tables: Vec<Table> = paths.iter().map(|path| goc_tables::read(path)).collect::<Result<_, _>>()?;
    match (&tables[..], paths) {
        ([table], [path]) if table.column("eta1").is_some() => of_reproduce(table, path, oracle),
        _ => {
            if oracle.is_some() {
                return Err(usage!("--oracle is for the file convergence.csv of goc reproduce"));
            }
            let series: Vec<Runs<3>> = tables
                .iter()
                .zip(paths)
                .map(|(table, path)| Ok(Runs { name: stem(path), runs: vec![of_history(table)?] }))
                .collect::<Result<_>>()?;
            figures::history("", &series).map_err(about(&paths[0]))
        }
    }
}

fn of_history(table: &Table) -> Result<Vec<[f64; 3]>> {
    let (objective, changed, k) =
        (finite(table, "objective")?, finite(table, "changed")?, finite(table, "k")?);
    Ok((0..table.rows()).map(|t| [objective[t], changed[t], k[t]]).collect())
}

/// The three etas by iteration.
type Run = BTreeMap<i64, [f64; 3]>;

fn of_reproduce(table: &Table, path: &Path, oracle: Option<&str>) -> Result<Figure> {
    let names = table.require("oracle")?.texts();
    let mut known: Vec<&String> = names.iter().collect();
    known.sort_unstable();
    known.dedup();
    let listed = known.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let oracle = match (oracle, &known[..]) {
        (Some(name), _) if known.iter().any(|one| *one == name) => name.to_string(),
        (Some(name), _) => {
            return Err(usage!("{}: there is no oracle {name}; --oracle is one of {listed}", path.display()));
        }
        (None, [one]) => one.to_string(),
        (None, _) => {
            return Err(usage!("{}: choose with --oracle: {listed}", path.display()));
        }
    };
    let whole = |name: &str| -> Result<Vec<i64>> { Ok(table.require(name)?.integers()?) };
    let (k, set, seed, t) = (whole("k0")?, whole("set")?, whole("seed")?, whole("t")?);
    let eta = [finite(table, "eta1")?, finite(table, "eta2")?, finite(table, "eta3")?];
    // By K(0), by set and seed, by iteration.
    let mut runs: BTreeMap<i64, BTreeMap<(i64, i64), Run>> = BTreeMap::new();
    for row in (0..table.rows()).filter(|row| names[*row] == oracle) {
        let run = runs.entry(k[row]).or_default().entry((set[row], seed[row])).or_default();
        run.insert(t[row], [eta[0][row], eta[1][row], eta[2][row]]);
    }
    // Only the paper's three if they exist; five would crowd the figure.
    if [30, 50, 70].iter().all(|k| runs.contains_key(k)) {
        runs.retain(|k, _| [30, 50, 70].contains(k));
    }
    let series: Vec<Runs<3>> = runs
        .into_iter()
        .map(|(k, runs)| Runs {
            name: format!("K(0) = {k}"),
            runs: runs.into_values().map(|run| run.into_values().collect()).collect(),
        })
        .collect();
    figures::convergence(&oracle, &series).map_err(about(path))
}

/// Lines if there is a column `n`, otherwise bars.
pub fn bench(path: &Path) -> Result<Figure> {
    let table = goc_tables::read(path)?;
    if table.column("n").is_some() { lines(&table, path) } else { bars(&table, path) }
}

fn lines(table: &Table, path: &Path) -> Result<Figure> {
    let (n, seconds) = (finite(table, "n")?, finite(table, "seconds")?);
    let series = table.column("series").map(|column| column.texts());
    let mut lines: Vec<Line> = Vec::new();
    for row in 0..table.rows() {
        let name = series.as_ref().map_or("measured", |names| &names[row]);
        let at = lines.iter().position(|line| line.name == name).unwrap_or_else(|| {
            lines.push(Line { name: name.into(), points: Vec::new() });
            lines.len() - 1
        });
        lines[at].points.push([n[row], seconds[row]]);
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    }
    figures::scaling(&lines, ["n", "seconds"]).map_err(about(path))
}

fn bars(table: &Table, path: &Path) -> Result<Figure> {
    let is_text = |data: &Data| matches!(data, Data::Text(_));
    let names = table.columns().iter().find(|column| is_text(column.data())).ok_or_else(|| {
        failed!(
            "{}: a table of benchmarks has a column n, or a column of names; the table has {}",
            path.display(),
            table.names().join(", ")
        )
    })?;
    let quantities: Vec<Bars> = table
        .columns()
        .iter()
        .filter(|column| !is_text(column.data()))
        .map(|column| {
            let quantity = match column.unit() {
                Some(unit) => format!("{} ({unit})", column.name()),
                None => column.name().to_string(),
            };
            Ok(Bars { quantity: quantity.replace('_', " "), values: finite_of(column)? })
        })
        .collect::<Result<_>>()?;
    figures::bars(&names.texts(), &quantities).map_err(about(path))
}
