//! The oracles that look at all pairs, at 2000 points: wall and CPU seconds beside their limits, and the
//! labels of each in a file for `bench/compare.py`, which runs scikit-learn on the same points.
//!
//! The points are those of `k_medoids.rs` too: 40 blobs in space, by congruential numbers. Limits: convex and
//! spectral at most 5 s on two cores; mean-shift has none set.

mod made;

use cpu_time::ProcessTime;
use goc::oracle::{
    Oracle, Start,
    convex::Convex,
    mean_shift::{Bandwidth, MeanShift},
    spectral::Spectral,
};
use goc::random::stream;
use made::blobs;
use std::time::Instant;

fn main() {
    let points = blobs(2000, 3);
    let flat = MeanShift::default().bandwidth(Bandwidth::Given(1.5));
    let cases: [(&str, &dyn Oracle, usize, f64); 5] = [
        ("convex", &Convex::default(), 50, 5.0),
        ("convex-to-5", &Convex::default(), 5, 5.0),
        ("spectral-neighbours", &Spectral::default(), 50, 5.0),
        ("mean-shift-flat", &flat, 1, f64::INFINITY),
        ("mean-shift-quantile", &MeanShift::default(), 1, f64::INFINITY),
    ];
    let folder = std::env::var("GOC_BENCH_DIR").ok();
    for (name, oracle, k, limit) in cases {
        let (mut seconds, mut cpu, mut partition) = (f64::INFINITY, f64::INFINITY, None);
        for _ in 0..2 {
            let (begin, begin_cpu) = (Instant::now(), ProcessTime::now());
            partition =
                Some(oracle.cluster(&points, Start::K(k), &mut stream(1, 0)).expect("a valid request"));
            seconds = seconds.min(begin.elapsed().as_secs_f64());
            cpu = cpu.min(begin_cpu.elapsed().as_secs_f64());
        }
        let partition = partition.expect("two runs were made");
        println!(
            "oracle={name} n=2000 q=3 wanted={k} k={} seconds={seconds:.4} cpu={cpu:.4} limit={limit}",
            partition.k()
        );
        if let Some(folder) = &folder {
            let labels: Vec<String> = partition.labels().iter().map(u32::to_string).collect();
            std::fs::write(std::path::Path::new(folder).join(format!("{name}.txt")), labels.join("\n"))
                .expect("the folder can be written");
        }
    }
}
