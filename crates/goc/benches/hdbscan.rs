//! HDBSCAN with its defaults: wall and CPU seconds at three sizes in three features, and in many features, where a
//! tree helps less. The points are those of `k_medoids.rs` too; `bench/compare.py` runs scikit-learn and
//! fast_hdbscan on the same, and compares the labels that this writes into GOC_BENCH_DIR.

mod made;

use cpu_time::ProcessTime;
use goc::oracle::hdbscan::Hdbscan;
use made::blobs;
use std::time::Instant;

fn main() {
    let folder = std::env::var("GOC_BENCH_DIR").ok();
    for (n, q) in [(2000, 3), (20_000, 3), (100_000, 3), (20_000, 10), (20_000, 30)] {
        let points = blobs(n, q);
        let (mut seconds, mut cpu, mut fit) = (f64::INFINITY, f64::INFINITY, None);
        for _ in 0..3 {
            let (begin, begin_cpu) = (Instant::now(), ProcessTime::now());
            fit = Some(Hdbscan::default().fit(&points).expect("finite points"));
            seconds = seconds.min(begin.elapsed().as_secs_f64());
            cpu = cpu.min(begin_cpu.elapsed().as_secs_f64());
        }
        let fit = fit.expect("three runs were made");
        println!("hdbscan n={n} q={q} k={} seconds={seconds:.4} cpu={cpu:.4}", fit.clusters);
        if let Some(folder) = &folder {
            let labels: Vec<String> = fit.partition().labels().iter().map(u32::to_string).collect();
            std::fs::write(std::path::Path::new(folder).join(format!("{n}-{q}.txt")), labels.join("\n"))
                .expect("the folder can be written");
        }
    }
}
