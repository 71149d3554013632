//! The marginal mixture: all chains on one paper set on one core, the cost of a sweep as the
//! objects grow at a fixed number of clusters, and a sweep for the rival in `bench/compare.py`,
//! which does the same sums in numpy. Limits: 2 s of one core for a set; sweeps about linear in the
//! objects.
//!
//! Without the authors' data a set of the same size is made here. GOC_BENCH_LARGE=1 adds 20 000
//! objects of 101 candidates, all defaults, all cores (limit 10 minutes on two).

#[path = "../tests/common/mod.rs"]
mod common;
mod made;

use cpu_time::{ProcessTime, ThreadTime};
use goc::Candidates;
use goc::marginal::Marginal;

/// Seconds of CPU time of this thread, the least of some runs.
fn least<T>(runs: usize, mut run: impl FnMut() -> T) -> (f64, T) {
    let mut best = (f64::INFINITY, None);
    for _ in 0..runs {
        let begin = ThreadTime::now();
        let this = run();
        best = (best.0.min(begin.elapsed().as_secs_f64()), Some(this));
    }
    (best.0, best.1.expect("at least one run"))
}

fn main() {
    let one_set: Candidates = match common::data("marginal") {
        Some(folder) => common::paper_set(&folder, 1).candidates,
        None => made::curves(275, 101, 50, 1),
    };
    // One thread that is this one, so that its CPU time is all there is.
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().expect("one thread");
    pool.install(|| {
        let (seconds, found) = least(3, || Marginal::default().run(&one_set, 1).expect("runs"));
        println!("marginal set=1 all_chains_s={seconds:.3} limit_s=2 k={}", found.partition.k());
        let sweeps = 100;
        let of = |burn: usize| Marginal::default().length(1, burn, 1).moves(0);
        // One draw is kept of both, so the start and the summary (pairs of objects: not linear) drop out.
        let per_sweep = |candidates: &Candidates, begin: usize| {
            let (short, _) = least(2, || of(0).begin(begin).run(candidates, 1).expect("runs"));
            let (long, found) = least(2, || of(sweeps).begin(begin).run(candidates, 1).expect("runs"));
            let clusters = found.k.iter().map(|(k, p)| *k as f64 * p).sum::<f64>();
            ((long - short) / sweeps as f64 * 1e3, clusters)
        };
        let (milliseconds, clusters) = per_sweep(&one_set, 60);
        println!("marginal set=1 sweep_ms={milliseconds:.3} k={clusters:.0}");
        for n in [1000, 3000, 10_000] {
            let candidates = made::curves(n, 101, 50, 1);
            let (milliseconds, clusters) = per_sweep(&candidates, 60);
            println!(
                "marginal objects={n} sweep_ms={milliseconds:.2} us_an_object={:.2} k={clusters:.0} ns_an_object_and_cluster={:.0}",
                milliseconds * 1e3 / n as f64,
                milliseconds * 1e6 / (n as f64 * clusters)
            );
        }
    });
    if std::env::var("GOC_BENCH_LARGE").as_deref() == Ok("1") {
        let candidates = made::curves(20_000, 101, 500, 1);
        let (wall, cpu) = (std::time::Instant::now(), ProcessTime::now());
        let found = Marginal::default().run(&candidates, 1).expect("runs");
        println!(
            "marginal objects=20000 groups=500 wall_s={:.0} cpu_s={:.0} limit_s=600 k={} agreement={:.3}",
            wall.elapsed().as_secs_f64(),
            cpu.elapsed().as_secs_f64(),
            found.partition.k(),
            found.diagnostics.agreement
        );
    }
}
