//! The standard scaling on the paper's own data against R's `scale()`.
//!
//! The authors' table of data set 1 is outside the repository (env `GOC_DATA`, else `../shared/data`); the reference
//! holds the mean of each star's scaled candidates as R computed it, to 17 digits.

use goc::candidates::{Candidates, CandidatesBuilder};
use goc::scale::{Scaler, Scaling};
use std::path::PathBuf;

fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("GOC_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    if folder.join("paper/seed01.fits").exists() {
        return Some(folder);
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "the paper's data are missing: set GOC_DATA");
    eprintln!("SKIPPED: no paper data at {}; set GOC_DATA", folder.display());
    None
}

/// Actions of all bound candidates. The table: two header units of 2880 bytes, then rows of twelve big-endian
/// 8-byte cells: i, j, true_cluster_id (integers), Jr, Jz, Jphi, ...
fn candidates(fits: &[u8]) -> Candidates {
    let mut stars: Vec<Vec<f64>> = Vec::new();
    for row in fits[5760..].chunks_exact(96).take(27775) {
        let cell = |c: usize| -> [u8; 8] { row[8 * c..8 * c + 8].try_into().unwrap() };
        let star = i64::from_be_bytes(cell(0)) as usize;
        if star == stars.len() {
            stars.push(Vec::new());
        }
        let actions: Vec<f64> = (3..6).map(|c| f64::from_be_bytes(cell(c))).collect();
        if actions.iter().all(|&a| a != -9999.0) {
            stars[star].extend(actions);
        }
    }
    let mut builder = CandidatesBuilder::new(3);
    for star in &stars {
        builder.push(star, &[]).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn standard_scaling_is_rs_scale_on_the_papers_data() {
    let Some(folder) = data() else { return };
    let candidates = candidates(&std::fs::read(folder.join("paper/seed01.fits")).unwrap());
    let scaler = Scaler::fit(Scaling::Standard, &candidates).unwrap();
    let means = scaler.apply(candidates).means();
    let text =
        std::fs::read_to_string(folder.join("reference/golden_seed1_K50_l0.01/init_means_and_clusters.csv"))
            .unwrap();
    let (mut stars, mut worst) = (0, 0.0_f64);
    for (star, line) in text.lines().skip(1).enumerate() {
        for (f, cell) in line.split(',').skip(1).take(3).enumerate() {
            let want: f64 = cell.parse().unwrap();
            worst = worst.max((means.row(star)[f] - want).abs());
        }
        stars += 1;
    }
    println!("largest difference to R: {worst:e}");
    assert_eq!(stars, 275);
    assert!(worst < 1e-14, "{worst:e}");
}
