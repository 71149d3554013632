//! The authors' own runs, iteration by iteration.
//!
//! `reference/traces_all.csv.gz` holds, for 310 runs of the authors' R code, the candidate that
//! every star chose in every iteration. With their first labels everything after is deterministic.

mod common;

use std::collections::BTreeMap;

use goc::Points;
use goc::metrics::Scores;
use goc::optimistic::{Clustering, Optimistic, Preset, Termination};
use goc::oracle::k_means::KMeans;

type Run = (String, String, u32, usize); // oracle, lambda as text, K(0), data set

/// Selected candidates (from 0) of every star, by iteration.
type Trace = Vec<Vec<u32>>;

fn traces(folder: &std::path::Path) -> BTreeMap<Run, Trace> {
    let rows = common::reference(folder, "traces_all.csv.gz");
    let (oracle, lambda) = (rows.texts("oracle"), rows.texts("lambda"));
    let (k0, seed, itr) = (rows.numbers("K0"), rows.numbers("seed"), rows.numbers("itr"));
    let (star, selected) = (rows.numbers("star"), rows.numbers("selected_candidate"));
    let mut runs: BTreeMap<Run, Trace> = BTreeMap::new();
    for r in 0..rows.len() {
        let run = (oracle[r].clone(), lambda[r].clone(), k0[r] as u32, seed[r] as usize);
        let trace = runs.entry(run).or_default();
        let t = itr[r] as usize - 2; // their iteration 1 is the first clustering
        trace.resize_with(trace.len().max(t + 1), || vec![u32::MAX; 275]);
        trace[t][star[r] as usize - 1] = selected[r] as u32 - 1;
    }
    runs
}

/// By how much the two candidates differ for `star` in iteration `t`: a near-tie that float32
/// decides otherwise.
fn margin(set: &common::PaperSet, run: &Clustering, lambda: f64, t: usize, star: usize, theirs: u32) -> f64 {
    let points = if t == 0 { run.first.0.clone() } else { set.candidates.chosen(&run.history[t - 1].chosen) };
    let partition = goc::Partition::from_labels(&run.history[t].oracle_labels);
    let centres: Points = goc::oracle::k_means::means(&points, &partition);
    let best = |j: u32| {
        let x = set.candidates.candidate(star, j as usize);
        let nearest =
            centres.rows().map(|c| goc::points::squared_distance(&x, c)).fold(f64::INFINITY, f64::min);
        nearest.sqrt() + lambda * set.candidates.penalty(star, j as usize)
    };
    best(theirs) - best(run.history[t].chosen[star])
}

#[test]
fn authors_310_traces_are_reproduced() {
    let Some(folder) = common::data("authors_310_traces_are_reproduced") else { return };
    let (traces, firsts) = (traces(&folder), common::first_labels(&folder));
    assert_eq!(traces.len(), 310);
    let sets: Vec<common::PaperSet> = (1..=10).map(|s| common::paper_set(&folder, s)).collect();
    let (mut same, mut different) = (0, Vec::new());
    for ((oracle, lambda_text, k0, seed), trace) in &traces {
        let set = &sets[seed - 1];
        let lambda: f64 = lambda_text.parse().unwrap();
        let labels = firsts[&(oracle.clone(), *k0, *seed)].clone();
        let goc = Optimistic::preset(Preset::Authors, *k0 as usize).lambda(lambda).initial_labels(labels);
        let run = goc.check(&set.candidates).unwrap().run(&KMeans::default(), 1).unwrap();
        let ours: Trace = run.history.iter().map(|t| t.chosen.clone()).collect();
        if ours == *trace {
            assert_eq!(run.termination, Termination::Converged);
            same += 1;
            continue;
        }
        let found = (0..trace.len().min(ours.len()))
            .find_map(|t| (0..275).find(|&i| ours[t][i] != trace[t][i]).map(|i| (t, i)));
        let name = format!("{oracle}, lambda {lambda}, K(0) = {k0}, set {seed}");
        match found {
            None => different.push(format!("{name}: {} iterations instead of {}", ours.len(), trace.len())),
            Some((t, i)) => different.push(format!(
                "{name}: iteration {}, star {}: candidate {} instead of {}, margin {:e}",
                t + 2,
                i + 1,
                ours[t][i] + 1,
                trace[t][i] + 1,
                margin(set, &run, lambda, t, i, trace[t][i])
            )),
        }
    }
    for line in &different {
        println!("{line}");
    }
    println!("{same} of {} traces equal the authors', candidate by candidate", traces.len());
    assert_eq!(same, 310);
}

#[test]
fn scores_of_the_authors_runs_equal_theirs() {
    let Some(folder) = common::data("scores_of_the_authors_runs_equal_theirs") else { return };
    let firsts = common::first_labels(&folder);
    let sets: Vec<common::PaperSet> = (1..=10).map(|s| common::paper_set(&folder, s)).collect();
    let rows = common::reference(&folder, "reference.csv");
    let (method, oracle) = (rows.texts("method"), rows.texts("oracle"));
    let (lambda, k0, seed, rep) =
        (rows.numbers("lambda"), rows.numbers("K0"), rows.numbers("seed"), rows.numbers("rep"));
    let (nmi, f, k, iters) =
        (rows.numbers("nmi"), rows.numbers("f"), rows.numbers("k"), rows.numbers("iters"));
    let (mut goc_runs, mut baseline_runs, mut worst) = (0, 0, 0.0f64);
    for r in 0..rows.len() {
        if rep[r] != 1.0 {
            continue;
        }
        let key = (oracle[r].clone(), k0[r] as u32, seed[r] as usize);
        let Some(labels) = firsts.get(&key) else { continue };
        let set = &sets[seed[r] as usize - 1];
        let (scores, found) = match method[r].as_str() {
            "GOC_R" => {
                let goc = Optimistic::preset(Preset::Authors, k0[r] as usize)
                    .lambda(lambda[r])
                    .initial_labels(labels.clone());
                let run = goc.check(&set.candidates).unwrap().run(&KMeans::default(), 1).unwrap();
                assert_eq!(run.iterations as f64, iters[r], "iterations of {key:?}, lambda {}", lambda[r]);
                goc_runs += 1;
                (Scores::of(run.partition.labels(), &set.truth).unwrap(), run.partition.k())
            }
            "baseline_R" => {
                baseline_runs += 1;
                let partition = goc::Partition::from_labels(labels);
                (Scores::of(labels, &set.truth).unwrap(), partition.k())
            }
            _ => continue,
        };
        worst = worst.max((scores.nmi - nmi[r]).abs()).max((scores.f - f[r]).abs());
        assert!((scores.nmi - nmi[r]).abs() <= 1e-12, "NMI {} not {} of {key:?}", scores.nmi, nmi[r]);
        assert!((scores.f - f[r]).abs() <= 1e-12, "F {} not {} of {key:?}", scores.f, f[r]);
        assert_eq!(found as f64, k[r], "K of {key:?}");
    }
    println!("{goc_runs} runs and {baseline_runs} baselines; largest difference of a score {worst:e}");
    assert_eq!((goc_runs, baseline_runs), (310, 160));
}
