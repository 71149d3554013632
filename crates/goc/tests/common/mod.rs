//! The data of the paper's authors, for the tests that need it.
//!
//! It belongs to others and is not in the repository: `GOC_DATA` says where it is, else
//! `../shared/data` beside the checkout. Without it these tests say so and pass; where `CI=true`,
//! absence is a failure.

#![allow(dead_code)] // each test file uses its own part

use std::collections::BTreeMap;
use std::path::PathBuf;

use goc::scale::{Scaler, Scaling};
use goc::{Candidates, Points, candidates::CandidatesBuilder};

/// The folder of the shared data, or none after saying so.
pub fn data(test: &str) -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("GOC_DATA").map_or(beside, PathBuf::from);
    if folder.join("paper").is_dir() {
        return Some(folder);
    }
    let message = format!("{test}: SKIPPED: no data in {} (set GOC_DATA)", folder.display());
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
    eprintln!("{message}");
    None
}

/// One of the authors' ten sets as their code sees it: candidates with an action of -9999 dropped, features
/// standardised, penalties scaled to at most 1.
pub struct PaperSet {
    pub candidates: Candidates,
    pub truth: Vec<i64>,
}

pub fn paper_set(folder: &std::path::Path, seed: usize) -> PaperSet {
    paper_set_scaled(folder, seed, Scaling::Standard)
}

pub fn paper_set_scaled(folder: &std::path::Path, seed: usize, scaling: Scaling) -> PaperSet {
    paper_set_mapped(folder, seed, scaling, |actions| actions)
}

/// The same with every (Jr, Jz, Jphi) mapped to other features first.
pub fn paper_set_mapped(
    folder: &std::path::Path,
    seed: usize,
    scaling: Scaling,
    map: impl Fn([f64; 3]) -> [f64; 3],
) -> PaperSet {
    let table = goc_tables::read(&folder.join(format!("paper/seed{seed:02}.fits"))).unwrap();
    let number = |name: &str| table.require(name).unwrap().numbers().unwrap();
    let (object, truth) = (number("i"), number("true_cluster_id"));
    let features = [number("Jr"), number("Jz"), number("Jphi")];
    let penalty = number("parallax_penalty");
    let mut builder = CandidatesBuilder::with_capacity(3, 275, table.rows());
    let mut truths = Vec::new();
    let mut row = 0;
    while row < table.rows() {
        let (mut values, mut penalties) = (Vec::new(), Vec::new());
        let this = object[row];
        truths.push(truth[row] as i64);
        while row < table.rows() && object[row] == this {
            if features.iter().all(|f| f[row] != -9999.0) {
                values.extend(map(std::array::from_fn(|f| features[f][row])));
                penalties.push(penalty[row]);
            }
            row += 1;
        }
        builder.push(&values, &penalties).unwrap();
    }
    let candidates = builder.build().unwrap().scale_penalties();
    let scaler = Scaler::fit(scaling, &candidates).unwrap();
    PaperSet { candidates: scaler.apply(candidates), truth: truths }
}

/// The mean of every star's candidates: what the paper's baselines cluster.
pub fn paper_means(folder: &std::path::Path, seed: usize) -> Points {
    paper_set(folder, seed).candidates.means()
}

/// The rows of a reference table (CSV, also .gz), requested by column name.
pub struct Rows {
    table: goc_tables::Table,
}

pub fn reference(folder: &std::path::Path, file: &str) -> Rows {
    Rows { table: goc_tables::read(&folder.join("reference").join(file)).unwrap() }
}

impl Rows {
    pub fn len(&self) -> usize {
        self.table.rows()
    }

    pub fn numbers(&self, column: &str) -> Vec<f64> {
        self.table.require(column).unwrap().numbers().unwrap()
    }

    pub fn texts(&self, column: &str) -> Vec<String> {
        self.table.require(column).unwrap().texts()
    }
}

/// The authors' first labels of every star, by oracle, K(0) and set.
pub fn first_labels(folder: &std::path::Path) -> BTreeMap<(String, u32, usize), Vec<i64>> {
    let rows = reference(folder, "init_labels_all.csv.gz");
    let (oracle, k0, seed) = (rows.texts("oracle"), rows.numbers("K0"), rows.numbers("seed"));
    let (star, label) = (rows.numbers("star"), rows.numbers("init_cluster"));
    let mut runs: BTreeMap<(String, u32, usize), Vec<i64>> = BTreeMap::new();
    for r in 0..rows.len() {
        let labels =
            runs.entry((oracle[r].clone(), k0[r] as u32, seed[r] as usize)).or_insert_with(|| vec![-1; 275]);
        labels[star[r] as usize - 1] = label[r] as i64;
    }
    runs
}
