//! Golden values made by others, for the tests that need them.
//!
//! They are not in the repository: `GOC_DATA` says where they are, else `../shared/data` beside the checkout.
//! Without them these tests say so and pass; where `CI=true`, absence is a failure.

#![allow(dead_code)] // each test file uses its own part

use std::path::PathBuf;

/// The folder of the shared data, or none after saying so.
pub fn data(test: &str) -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("GOC_DATA").map_or(beside, PathBuf::from);
    if folder.join("golden").is_dir() {
        return Some(folder);
    }
    let message = format!("{test}: SKIPPED: no data in {} (set GOC_DATA)", folder.display());
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
    eprintln!("{message}");
    None
}

/// Columns of a golden table, in the order requested.
pub fn golden<const N: usize>(folder: &std::path::Path, file: &str, columns: [&str; N]) -> [Vec<f64>; N] {
    let table = goc_tables::read(&folder.join("golden").join(file)).unwrap();
    columns.map(|column| table.require(column).unwrap().numbers().unwrap())
}

/// Median and largest of relative errors.
pub fn median_and_max(mut errors: Vec<f64>) -> (f64, f64) {
    assert!(errors.iter().all(|e| e.is_finite()), "an error is not a number");
    errors.sort_by(f64::total_cmp);
    (errors[errors.len() / 2], errors[errors.len() - 1])
}
