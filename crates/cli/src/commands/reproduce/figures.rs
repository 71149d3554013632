//! The paper's figures: clusters of the baseline and of GOC, the data sets, convergence with every oracle, the simulation.

use std::collections::BTreeMap;
use std::path::Path;

use goc::baselines::uk_means::uk_means;
use goc::optimistic::{Optimistic, Preset};
use goc::{Candidates, Points};
use goc_report::figures::{
    ClusterPanel, Components, Figure, Plane, Runs, TruthPanel, clusters, convergence, truth,
};

use super::super::plot::{simulated, spread_groups, write_both};
use super::paper::CELLS;
use super::run::{Outcome, Step};
use super::sets::Set;
use goc_pipeline::Settings;
use crate::fail::Fail;

/// K and lambda of Figure 1.
const FIGURE_1: (usize, f64) = (20, 0.01);
/// Data sets that the paper shows.
const SHOWN: usize = 3;
/// The seed of the two dwarfs.
const DWARFS: u64 = 1;

/// Writes all of them, as SVG and PNG; gives their names.
pub fn write(folder: &Path, sets: &[Set], outcomes: &[Outcome], preset: Preset) -> Result<Vec<String>, Fail> {
    let mut made: Vec<(String, Figure)> = Vec::new();
    if let Some(set) = sets.first() {
        made.push(("figure-1-clusters".into(), figure_1(set, preset)?));
    }
    made.push(("data-sets".into(), data_sets(&sets[..sets.len().min(SHOWN)])?));
    for (oracle, runs) in runs_by_oracle(outcomes) {
        made.push((format!("convergence-{oracle}"), convergence(&oracle, &runs)?));
    }
    made.push(("simulation".into(), simulated(DWARFS)?));
    for (name, figure) in &made {
        write_both(figure, folder, name)?;
    }
    Ok(made.into_iter().map(|(name, _)| name).collect())
}

fn figure_1(set: &Set, preset: Preset) -> Result<Figure, Fail> {
    let (k, lambda) = FIGURE_1;
    let oracle = Settings::default().oracle();
    let (baseline, means) = uk_means(&set.candidates, oracle.as_ref(), k, 1)?;
    let goc = Optimistic::preset(preset, k).lambda(lambda).check(&set.candidates)?.run(oracle.as_ref(), 1)?;
    let rows = rows_of(&set.candidates);
    let components = Components::fit(rows.iter().map(Vec::as_slice))?;
    let panel = |title: &str, points: &Points, labels: &[u32]| ClusterPanel {
        title: title.into(),
        points: points.rows().map(|row| components.place(row)).collect(),
        labels: labels.iter().map(|label| Some(*label)).collect(),
    };
    let panels = [
        panel(&format!("k-means of means, K = {k}"), &means, baseline.labels()),
        panel(&format!("GOC, K(0) = {k}"), &set.candidates.chosen(&goc.chosen), goc.partition.labels()),
    ];
    let grey: Vec<[f64; 2]> = rows.iter().map(|row| components.place(row)).collect();
    Ok(clusters(&grey, &panels, &Plane::components(&components))?)
}

fn data_sets(sets: &[Set]) -> Result<Figure, Fail> {
    let names = |set: &Set| set.truth.iter().map(i64::to_string).collect::<Vec<_>>();
    let chosen = sets.first().map(|set| spread_groups(&names(set))).unwrap_or_default();
    let panels: Vec<TruthPanel> = sets
        .iter()
        .map(|set| {
            let rows = rows_of(&set.candidates);
            let components = Components::fit(rows.iter().map(Vec::as_slice))?;
            let counts = (0..set.candidates.objects()).map(|i| set.candidates.count(i));
            Ok(TruthPanel {
                title: format!("instance {}", set.id),
                points: rows.iter().map(|row| components.place(row)).collect(),
                groups: names(set)
                    .iter()
                    .zip(counts)
                    .flat_map(|(t, m)| std::iter::repeat_n(chosen.iter().position(|g| g == t), m))
                    .collect(),
            })
        })
        .collect::<Result<_, Fail>>()?;
    // The paper counts from 1.
    let first = sets.iter().flat_map(|set| set.truth.iter().copied()).min().unwrap_or(1);
    let counted = |name: &String| name.parse::<i64>().map_or(name.clone(), |k| (k + 1 - first).to_string());
    let legend: Vec<String> = chosen
        .iter()
        .enumerate()
        .map(|(g, name)| (g, counted(name)))
        .map(|(g, name)| if g == 0 { format!("true cluster {name}") } else { name })
        .collect();
    Ok(truth(&panels, &legend, &Plane { names: ["PC 1".into(), "PC 2".into()], equal: true })?)
}

fn rows_of(candidates: &Candidates) -> Vec<Vec<f64>> {
    (0..candidates.objects())
        .flat_map(|i| (0..candidates.count(i)).map(move |j| candidates.candidate(i, j)))
        .collect()
}

/// The three etas by run and iteration.
type Traces = Vec<Vec<[f64; 3]>>;

/// The first seed's runs with lambda = .01 of each oracle, by K(0): one line a data set, as in the paper.
fn runs_by_oracle(outcomes: &[Outcome]) -> BTreeMap<String, Vec<Runs<3>>> {
    let mut by_oracle: BTreeMap<String, BTreeMap<usize, Traces>> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.seed == 1) {
        let cell = &CELLS[outcome.cell];
        if cell.lambda == 0.01 && [30, 50, 70].contains(&cell.k) {
            let eta = |step: &Step| {
                Some([step.eta.eta1, step.eta.eta2, step.eta.eta3.filter(|eta3| eta3.is_finite())?])
            };
            // A run that ends in a single cluster has no NMI to divide by, and no line.
            if let Some(steps) = outcome.convergence.iter().map(eta).collect::<Option<Vec<_>>>() {
                let runs = by_oracle.entry(cell.oracle.to_string()).or_default();
                runs.entry(cell.k).or_default().push(steps);
            }
        }
    }
    let named = |(k, runs): (usize, Traces)| Runs { name: format!("K(0) = {k}"), runs };
    by_oracle.into_iter().map(|(oracle, runs)| (oracle, runs.into_iter().map(named).collect())).collect()
}
