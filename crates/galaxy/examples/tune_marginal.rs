//! How the marginal mixture's defaults were chosen: on mock Milky Ways of our own, never on the
//! authors' sets.
//!
//! Twenty mocks (seeds 101 to 120), one run of every setting on each; one row per setting: mean
//! scores, the K of the partition, the posterior mean of K, and how alike the chains are.
//! Differences below about 0.001 in NMI are chance: the standard error of a difference over twenty
//! sets. The table is in docs/appendix/tuning.md.
//!
//!     cargo run --release -p goc-galaxy --example tune_marginal

mod made;

use std::sync::Arc;

use goc::Candidates;
use goc::marginal::Marginal;
use goc::metrics::Scores;
use goc_galaxy::actions::{ActionFinder, Variant};
use goc_galaxy::mock::MockParams;

const SEEDS: std::ops::RangeInclusive<u64> = 101..=120;

fn main() -> Result<(), made::Failure> {
    let finder = Arc::new(ActionFinder::milky_way(Variant::Authors)?);
    let valid = MockParams::default().check()?;
    let mut sets = Vec::new();
    for seed in SEEDS {
        let mock = valid.draw(finder.potential().as_ref(), seed, &|_| {})?;
        let (candidates, truth) = made::candidates(&mock, &finder, seed)?;
        sets.push((made::roots(&candidates)?, truth));
        eprintln!("mock {seed} of {SEEDS:?}");
    }
    let plain = Marginal::default;
    let settings: Vec<(&str, Marginal)> = vec![
        ("the defaults", plain()),
        ("merge cost 1 (plain variation of information)", plain().merge_cost(1.0)),
        ("merge cost 1.2", plain().merge_cost(1.2)),
        ("merge cost 1.35", plain().merge_cost(1.35)),
        ("alpha 3", plain().alpha(Some(3.0))),
        ("alpha 5", plain().alpha(Some(5.0))),
        ("alpha 5, merge cost 1", plain().alpha(Some(5.0)).merge_cost(1.0)),
        ("power 0.3", plain().power(Some(0.3))),
        ("power 0.5", plain().power(Some(0.5))),
        ("power 1 (Dirichlet process)", plain().power(Some(1.0))),
        ("nu 8", plain().nu(8)),
        ("nu 14", plain().nu(14)),
        ("spread 0.05", plain().spread(Some(0.05))),
        ("spread 0.2", plain().spread(Some(0.2))),
        ("no splits and mergers", plain().moves(0)),
        ("60 splits and mergers a sweep", plain().moves(60)),
        ("two chains", plain().length(2, 40, 140)),
        ("eight chains", plain().length(8, 40, 140)),
        ("burn 80, keep 400", plain().length(4, 80, 400)),
    ];
    println!("| setting | NMI | F | K | mean of K | chains agree |\n|---|---|---|---|---|---|");
    for (name, model) in settings {
        let row = mean_row(&model, &sets)?;
        println!(
            "| {name} | {:.4} | {:.4} | {:.1} | {:.1} | {:.3} |",
            row[0], row[1], row[2], row[3], row[4]
        );
    }
    Ok(())
}

fn mean_row(model: &Marginal, sets: &[(Candidates, Vec<i64>)]) -> Result<[f64; 5], made::Failure> {
    let mut sums = [0.0; 5];
    for (candidates, truth) in sets {
        let found = model.run(candidates, 1)?;
        let scores = Scores::of(found.partition.labels(), truth)?;
        let mean_k: f64 = found.k.iter().map(|(k, p)| *k as f64 * p).sum();
        let row = [scores.nmi, scores.f, found.partition.k() as f64, mean_k, found.diagnostics.agreement];
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value / sets.len() as f64;
        }
    }
    Ok(sums)
}
