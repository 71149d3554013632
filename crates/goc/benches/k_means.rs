//! k-means at a million points: seconds for the same start and rounds as scikit-learn's in
//! `bench/compare.py`; and ten starts of Hartigan-Wong, the default, at 2000 to 20 000 points.
//!
//! The script writes the points and the start centres as raw numbers and names the folder in
//! GOC_BENCH_DIR; without it the bench makes its own and runs alone. All cores, as scikit-learn
//! does.

mod made;

use std::path::Path;
use std::time::Instant;

use cpu_time::ProcessTime;

use goc::oracle::{
    Start,
    k_means::{Algorithm, KMeans},
};
use goc::{Points, random::stream};
use rand::RngExt;

fn read(path: &Path) -> Option<Vec<f64>> {
    let bytes = std::fs::read(path).ok()?;
    Some(bytes.as_chunks::<8>().0.iter().map(|c| f64::from_le_bytes(*c)).collect())
}

fn main() {
    let folder = std::env::var("GOC_BENCH_DIR").ok();
    let given = folder.as_ref().and_then(|folder| {
        let folder = Path::new(folder);
        Some((read(&folder.join("points.f64"))?, read(&folder.join("centres.f64"))?))
    });
    let (points, centres) = given.unwrap_or_else(|| {
        let mut rng = stream(1, 0);
        let middles: Vec<f64> = (0..150).map(|_| rng.random_range(-10.0..10.0)).collect();
        let points: Vec<f64> =
            (0..3_000_000).map(|v| middles[(v / 3 % 50) * 3 + v % 3] + rng.random_range(-1.0..1.0)).collect();
        let centres = points[..150].to_vec();
        (points, centres)
    });
    let points = Points::new(points, 3).expect("finite");
    let centres = Points::new(centres, 3).expect("finite");
    let oracle = KMeans::default().algorithm(Algorithm::Lloyd).max_iterations(100);
    let (mut seconds, mut fit) = (f64::INFINITY, None);
    for _ in 0..3 {
        let begin = Instant::now();
        fit = Some(oracle.fit(&points, Start::Centres(&centres), &mut stream(1, 0)).expect("valid"));
        seconds = seconds.min(begin.elapsed().as_secs_f64());
    }
    let fit = fit.expect("three runs were made");
    println!(
        "k_means n={} q=3 k={} seconds={seconds:.4} loss={:.6} iterations={}",
        points.len(),
        centres.len(),
        fit.loss,
        fit.iterations
    );
    for n in [2000, 5000, 20_000] {
        let points = made::blobs(n, 3);
        for k in [10, 50] {
            let oracle = KMeans::default().starts(10);
            let (mut cpu, mut loss) = (f64::INFINITY, 0.0);
            for _ in 0..5 {
                let begin = ProcessTime::now();
                loss = oracle.fit(&points, Start::K(k), &mut stream(1, 0)).expect("valid").loss;
                cpu = cpu.min(begin.elapsed().as_secs_f64());
            }
            println!("hartigan_wong n={n} q=3 k={k} starts=10 cpu={cpu:.5} loss={loss:.6}");
        }
    }
}
