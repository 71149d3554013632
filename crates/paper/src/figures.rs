//! The paper's figures: clusters of the baseline and of GOC, the data sets, convergence with every
//! oracle, the simulation.

use std::collections::BTreeMap;

use goc::baselines::uk_means::uk_means;
use goc::choice::Choice;
use goc::optimistic::{Optimistic, Preset};
use goc::{Candidates, Points};
use goc_report::figures::{
    ClusterPanel, Components, Figure, FigureError, Plane, Runs, TruthPanel, clusters, convergence, truth,
};

use crate::run::Step;
use crate::{Outcome, PaperError, PaperOracle, Set, simulation_figure};

/// K and lambda of Figure 1.
const FIGURE_1: (usize, f64) = (20, 0.01);
/// Data sets that the paper shows.
const SHOWN: usize = 3;
/// The seed of the two dwarfs.
const DWARFS: u64 = 1;

/// The names that figures may have.
pub fn figure_names() -> Vec<String> {
    let convergence = PaperOracle::ALL.iter().map(|(_, word, _)| format!("convergence-{word}"));
    ["figure-1-clusters", "data-sets", "simulation"]
        .map(String::from)
        .into_iter()
        .chain(convergence)
        .collect()
}

/// All figures by name; convergence is shown for the oracles that were run.
pub fn figures(
    sets: &[Set],
    outcomes: &[Outcome],
    preset: Preset,
) -> Result<Vec<(String, Figure)>, PaperError> {
    let mut made = Vec::new();
    if let Some(set) = sets.first() {
        made.push(("figure-1-clusters".into(), figure_1(set, preset)?));
    }
    made.push(("data-sets".into(), data_sets(&sets[..sets.len().min(SHOWN)])?));
    for (oracle, runs) in runs_by_oracle(outcomes) {
        made.push((format!("convergence-{oracle}"), convergence(oracle, &runs)?));
    }
    made.push(("simulation".into(), simulation_figure(DWARFS)?));
    Ok(made)
}

fn figure_1(set: &Set, preset: Preset) -> Result<Figure, PaperError> {
    let (k, lambda) = FIGURE_1;
    let oracle = PaperOracle::KMeans.build();
    let (baseline, means) = uk_means(&set.candidates, oracle.as_ref(), k, 1)?;
    let goc = Optimistic::preset(preset, k).lambda(lambda).check(&set.candidates)?.run(oracle.as_ref(), 1)?;
    let (components, grey) = principal_plane(&set.candidates)?;
    let panel = |title: &str, points: &Points, labels: &[u32]| ClusterPanel {
        title: title.into(),
        points: points.rows().map(|row| components.place(row)).collect(),
        labels: labels.iter().map(|label| Some(*label)).collect(),
    };
    let panels = [
        panel(&format!("k-means of means, K = {k}"), &means, baseline.labels()),
        panel(&format!("GOC, K(0) = {k}"), &set.candidates.chosen(&goc.chosen), goc.partition.labels()),
    ];
    Ok(clusters(&grey, &panels, &Plane::components(&components))?)
}

fn data_sets(sets: &[Set]) -> Result<Figure, PaperError> {
    let chosen = sets.first().map(|set| spread_evenly(set.truth.clone())).unwrap_or_default();
    let panel = |set: &Set| {
        let counts = (0..set.candidates.objects()).map(|i| set.candidates.count(i));
        let group = |truth| chosen.iter().position(|g| g == truth);
        Ok(TruthPanel {
            title: format!("instance {}", set.id),
            points: principal_plane(&set.candidates)?.1,
            groups: set.truth.iter().zip(counts).flat_map(|(t, m)| vec![group(t); m]).collect(),
        })
    };
    let panels: Vec<TruthPanel> = sets.iter().map(panel).collect::<Result<_, FigureError>>()?;
    // The paper counts from 1.
    let first = sets.iter().flat_map(|set| set.truth.iter().copied()).min().unwrap_or(1);
    let mut legend: Vec<String> = chosen.iter().map(|group| (group + 1 - first).to_string()).collect();
    if let Some(name) = legend.first_mut() {
        name.insert_str(0, "true cluster ");
    }
    Ok(truth(&panels, &legend, &Plane { names: ["PC 1".into(), "PC 2".into()], equal: true })?)
}

/// Six groups spread evenly over all in order, like the paper's 1, 10, 20, 30, 40, 50 of 50.
///
/// ```
/// let all: Vec<u32> = (1..=50).rev().collect();
/// assert_eq!(goc_paper::spread_evenly(all), [1, 10, 20, 30, 40, 50]);
/// assert_eq!(goc_paper::spread_evenly(vec!["b", "a", "b"]), ["a", "b"]);
/// ```
pub fn spread_evenly<G: Ord + Clone>(mut groups: Vec<G>) -> Vec<G> {
    groups.sort();
    groups.dedup();
    let mut at: Vec<usize> = (0..6).map(|i| (i * groups.len()).div_ceil(5).max(1) - 1).collect();
    at.dedup();
    at.into_iter().filter_map(|at| groups.get(at).cloned()).collect()
}

/// The principal components of all candidates, and where each of them lies.
fn principal_plane(candidates: &Candidates) -> Result<(Components, Vec<[f64; 2]>), FigureError> {
    let rows: Vec<Vec<f64>> = (0..candidates.objects())
        .flat_map(|i| (0..candidates.count(i)).map(move |j| candidates.candidate(i, j)))
        .collect();
    let components = Components::fit(rows.iter().map(Vec::as_slice))?;
    let points = rows.iter().map(|row| components.place(row)).collect();
    Ok((components, points))
}

/// The three etas by run and iteration.
type Traces = Vec<Vec<[f64; 3]>>;

/// The first seed's runs with lambda = 0.01 of each oracle, by K(0): one line per data set, as in
/// the paper.
fn runs_by_oracle(outcomes: &[Outcome]) -> BTreeMap<&'static str, Vec<Runs<3>>> {
    let mut by_oracle: BTreeMap<&str, BTreeMap<usize, Traces>> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|run| run.seed == 1 && run.cell.in_experiment_4()) {
        let eta = |step: &Step| {
            Some([step.eta.eta1, step.eta.eta2, step.eta.eta3.filter(|eta3| eta3.is_finite())?])
        };
        // A run that ends in a single cluster has no NMI to divide by, and no line.
        if let Some(steps) = outcome.convergence.iter().map(eta).collect::<Option<Vec<_>>>() {
            let runs = by_oracle.entry(outcome.cell.oracle.word()).or_default();
            runs.entry(outcome.cell.k).or_default().push(steps);
        }
    }
    let named = |(k, runs): (usize, Traces)| Runs { name: format!("K(0) = {k}"), runs };
    by_oracle.into_iter().map(|(oracle, runs)| (oracle, runs.into_iter().map(named).collect())).collect()
}
