//! Set distances, density divergences and affinity propagation on one set of the paper, one thread:
//! least CPU milliseconds of a few runs.
//!
//! Rivals: R takes 71 s for the three distances of the paper; loops without vectors over the same
//! candidates are timed beside. Without the authors' data a set of the same size is made here.

#[path = "../tests/common/mod.rs"]
mod common;
mod made;

use cpu_time::ThreadTime;
use goc::Candidates;
use goc::baselines::clusterer::Clusterer;
use goc::baselines::kl::{Density, DensityClustering};
use goc::oracle::affinity::{Affinity, Preference};
use goc::oracle::linkage::Linkage;
use goc::points::squared_distance;
use goc::random::stream;
use goc::set_distance::{SetDistance, all_four};

fn least<T>(what: &str, runs: usize, mut run: impl FnMut() -> T) -> T {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..runs {
        let begin = ThreadTime::now();
        let this = run();
        best = best.min(begin.elapsed().as_secs_f64());
        result = Some(this);
    }
    println!("{what:<44} {:>9.2} ms", best * 1e3);
    result.expect("at least one run")
}

/// The mean, the least and both extremes of extremes of every pair, by loops over plain vectors.
fn plain_loops(candidates: &Candidates) -> f64 {
    let n = candidates.objects();
    let rows: Vec<Vec<Vec<f64>>> =
        (0..n).map(|i| (0..candidates.count(i)).map(|c| candidates.candidate(i, c)).collect()).collect();
    let mut check = 0.0;
    for i in 0..n {
        for j in i + 1..n {
            let mut columns = vec![(f64::INFINITY, 0.0_f64); rows[j].len()];
            let (mut sum, mut max_min, mut min_max) = (0.0, 0.0_f64, f64::INFINITY);
            for a in &rows[i] {
                let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
                for (b, column) in rows[j].iter().zip(&mut columns) {
                    let d = squared_distance(a, b).sqrt();
                    sum += d;
                    (low, high) = (low.min(d), high.max(d));
                    *column = (column.0.min(d), column.1.max(d));
                }
                (max_min, min_max) = (max_min.max(low), min_max.min(high));
            }
            let least = columns.iter().fold(f64::INFINITY, |v, c| v.min(c.0));
            let hausdorff = columns.iter().fold(max_min, |v, c| v.max(c.0));
            let s3 = min_max.max(columns.iter().fold(f64::INFINITY, |v, c| v.min(c.1)));
            check += sum / (rows[i].len() * rows[j].len()) as f64 + least + hausdorff + s3;
        }
    }
    check
}

fn main() {
    let candidates: Candidates = match common::data("affinity") {
        Some(folder) => common::paper_set(&folder, 1).candidates,
        None => made::curves(275, 101, 50, 1),
    };
    // One thread that is this one, so that its CPU time is all there is.
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().expect("one thread");
    pool.install(|| {
        let tables = least("four set distances, one pass", 4, || all_four(&candidates).expect("finite"));
        for distance in SetDistance::ALL {
            least(&format!("{} alone", distance.name()), 3, || distance.of(&candidates).expect("finite"));
        }
        let check = least("four set distances, plain loops", 1, || plain_loops(&candidates));
        let ours: f64 = SetDistance::ALL.iter().map(|d| tables.get(*d).condensed().iter().sum::<f64>()).sum();
        assert!((check - ours).abs() < 1e-9 * ours, "both must compute the same");
        for density in [Density::Gaussian, Density::Kernel] {
            let method =
                DensityClustering::new(density, Clusterer::Linkage { linkage: Linkage::default(), k: 50 });
            least(&format!("{density:?} divergences"), 2, || {
                method.divergences(&candidates).expect("finite")
            });
        }
        for distance in SetDistance::ALL {
            for q in [0.5, 0.9] {
                let oracle = Affinity::default().preference(Preference::Quantile(q));
                let fit = oracle.fit_matrix(tables.get(distance), &mut stream(1, 0)).expect("exemplars");
                let what = format!("affinity {} q={q}, {} rounds", distance.name(), fit.iterations);
                least(&what, 5, || {
                    oracle.fit_matrix(tables.get(distance), &mut stream(1, 0)).expect("exemplars")
                });
            }
        }
    });
}
