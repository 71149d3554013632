//! GOC over hulls and boxes, and the tree over its clusters, on the paper's ten sets.

mod common;

use std::time::Instant;

use goc::metrics::Scores;
use goc::optimistic::continuous::{Continuous, Region};
use goc::optimistic::hierarchy::Hierarchy;
use goc::optimistic::select::Selector;
use goc::optimistic::{Distance, KRule, Optimistic, Termination};
use goc::oracle::k_means::KMeans;

const LAMBDA: f64 = 0.01;

/// Mean of each column.
fn means<const N: usize>(rows: &[[f64; N]]) -> [f64; N] {
    std::array::from_fn(|c| rows.iter().map(|r| r[c]).sum::<f64>() / rows.len() as f64)
}

#[test]
fn box_is_below_hull_is_below_candidates_on_all_ten_sets() {
    let Some(folder) = common::data("box_is_below_hull_is_below_candidates_on_all_ten_sets") else { return };
    let oracle = KMeans::default();
    let mut rows: [Vec<[f64; 7]>; 3] = Default::default();
    for seed in 1..=10 {
        let set = common::paper_set(&folder, seed);
        let goc = Optimistic::new(50).lambda(LAMBDA);
        let began = Instant::now();
        let run = goc.clone().check(&set.candidates).unwrap().run(&oracle, 1).unwrap();
        let seconds = began.elapsed().as_secs_f64();
        let scores = Scores::of(run.partition.labels(), &set.truth).unwrap();
        let (k, t) = (run.partition.k() as f64, run.iterations as f64);
        rows[0].push([scores.nmi, scores.f, k, t, run.objective, run.objective, seconds]);

        // For the centres of this run.
        let mut selector = Selector::new(&set.candidates, Distance::Squared, LAMBDA);
        let mut outer: f64 = selector.select(&run.centres).0.iter().map(|c| c.value).sum();
        for (at, region) in [(1, Region::Hull), (2, Region::Box)] {
            let goc = Continuous::new(region, goc.clone()).check(&set.candidates).unwrap();
            let inner = goc.objective_at(&run.centres).unwrap();
            assert!(inner <= outer, "set {seed}: {region:?} {inner} above {outer}");
            outer = inner;

            let began = Instant::now();
            let found = goc.run(&oracle, 1).unwrap();
            let seconds = began.elapsed().as_secs_f64();
            assert_eq!(found.termination, Termination::Converged, "set {seed}: {region:?}");
            // Convex for these labels, so a run at rest is below any choice of candidates.
            assert!(found.objective <= found.discrete_objective, "set {seed}: {region:?}");
            let scores = Scores::of(found.partition.labels(), &set.truth).unwrap();
            let (k, t) = (found.partition.k() as f64, found.iterations as f64);
            let objectives = [found.objective, found.discrete_objective];
            rows[at].push([scores.nmi, scores.f, k, t, objectives[0], objectives[1], seconds]);
        }
    }
    println!("K(0) = 50, lambda = {LAMBDA}, means over ten sets");
    for (name, rows) in ["candidates", "hull", "box"].iter().zip(&rows) {
        let [nmi, f, k, t, objective, discrete, seconds] = means(rows);
        println!(
            "{name:>10}: NMI {nmi:.3} F {f:.3} K {k:.1} iterations {t:.1} objective {objective:.3} \
             of the nearest candidates {discrete:.3}, {seconds:.3} s"
        );
    }
}

#[test]
fn the_tree_of_seventy_clusters_is_cut_at_fifty() {
    let Some(folder) = common::data("the_tree_of_seventy_clusters_is_cut_at_fifty") else { return };
    let oracle = KMeans::default();
    let (mut direct, mut cuts) = (Vec::new(), Vec::new());
    for seed in 1..=10 {
        let set = common::paper_set(&folder, seed);
        let goc = |k| {
            let goc = Optimistic::new(k).lambda(LAMBDA).k_rule(KRule::Constant);
            goc.check(&set.candidates).unwrap().run(&oracle, 1).unwrap()
        };
        let (fifty, seventy) = (goc(50), goc(70));
        let scores = Scores::of(fifty.partition.labels(), &set.truth).unwrap();
        direct.push([scores.nmi, scores.f, fifty.objective]);

        let began = Instant::now();
        let tree = Hierarchy::new(&set.candidates, &seventy.partition, &seventy.chosen, LAMBDA).unwrap();
        let seconds = began.elapsed().as_secs_f64();
        let own = tree.cut(tree.leaves()).unwrap();
        assert_eq!(own.partition, seventy.partition, "set {seed}");
        let mut below = own.objective;
        for k in (1..tree.leaves()).rev() {
            let cut = tree.cut(k).unwrap();
            assert_eq!(cut.partition.k(), k);
            assert!(cut.objective >= below * (1.0 - 1e-12), "set {seed}, k {k}");
            below = cut.objective;
        }
        assert_eq!(tree.linkage().unwrap().len(), 274);
        let cut = tree.cut(50.min(tree.leaves())).unwrap();
        let scores = Scores::of(cut.partition.labels(), &set.truth).unwrap();
        cuts.push([scores.nmi, scores.f, cut.objective, tree.improved() as f64, seconds]);
    }
    let [nmi, f, objective] = means(&direct);
    println!("GOC at 50: NMI {nmi:.3} F {f:.3} objective {objective:.3}");
    let [nmi, f, objective, improved, seconds] = means(&cuts);
    println!(
        "GOC at 70, tree cut at 50: NMI {nmi:.3} F {f:.3} objective {objective:.3}, \
         {improved:.1} clusters improved, tree in {seconds:.3} s"
    );
}
