//! What the integration tests share.

use std::path::PathBuf;

/// A file of the shared data, by `GOC_DATA` or beside the repository; `None` when the data are absent, which
/// is said aloud, and is a failure under `CI=true`.
#[allow(dead_code)] // each test file is its own crate and not all need data
pub fn shared(file: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var_os("GOC_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let path = folder.join(file);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{} is missing under CI", path.display());
    eprintln!("SKIPPED: {} is absent; set GOC_DATA to the shared data", path.display());
    None
}
