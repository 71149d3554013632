//! The selection kernel, step (III): distances a second when every pair is looked at, and what
//! pruning leaves.
//!
//! The rival of the pruned selection is the exhaustive one on the same centres; both give the same choices.

#[path = "../tests/common/mod.rs"]
mod common;
mod made;

use cpu_time::ThreadTime;
use goc::optimistic::{Distance, select::Selector};
use goc::oracle::{Start, k_means::KMeans};
use goc::{Candidates, Points, random::stream};

fn bench(name: &str, candidates: &Candidates, k: usize, repeats: usize) {
    let means = candidates.means();
    let oracle = KMeans::default().starts(1);
    let first = oracle.fit(&means, Start::K(k), &mut stream(1, 0)).expect("valid").centres;
    // The centres of a real run: each selection's means, so that the warm bounds meet real moves.
    let mut centres: Vec<Points> = vec![first];
    let mut selector = Selector::new(candidates, Distance::Squared, 0.01);
    for _ in 0..9 {
        let now = &centres[centres.len() - 1];
        let (choices, _) = selector.select(now);
        let mut sums = vec![0.0; now.values().len()];
        let mut counts = vec![0.0; k];
        for (i, choice) in choices.iter().enumerate() {
            let l = choice.centre as usize;
            counts[l] += 1.0;
            for (f, x) in candidates.candidate(i, choice.candidate as usize).iter().enumerate() {
                sums[l * 3 + f] += x;
            }
        }
        for l in 0..k {
            for f in 0..3 {
                sums[l * 3 + f] = if counts[l] > 0.0 { sums[l * 3 + f] / counts[l] } else { now.row(l)[f] };
            }
        }
        centres.push(Points::new(sums, 3).expect("finite"));
    }
    let pairs = (candidates.total() * k) as f64;

    let mut exhaustive = f64::INFINITY;
    for _ in 0..repeats {
        let begin = ThreadTime::now();
        for c in &centres {
            std::hint::black_box(selector.select_exhaustively(c));
        }
        exhaustive = exhaustive.min(begin.elapsed().as_secs_f64() / centres.len() as f64);
    }
    let (mut pruned, mut distances, mut boxes) = (f64::INFINITY, 0, 0);
    for _ in 0..repeats {
        let mut selector = Selector::new(candidates, Distance::Squared, 0.01);
        (distances, boxes) = (0, 0);
        let begin = ThreadTime::now();
        for c in &centres {
            let (_, effort) = selector.select(c);
            distances += effort.distances;
            boxes += effort.boxes;
        }
        pruned = pruned.min(begin.elapsed().as_secs_f64() / centres.len() as f64);
    }
    let looks = (distances + boxes) as f64 / centres.len() as f64;
    println!(
        "select {name} k={k} exhaustive_per_second={:.2e} pruned_looks_fewer={:.1} distances_fewer={:.1} \
         pruned_times_faster={:.1} pruned_ms={:.3}",
        pairs / exhaustive,
        pairs / looks,
        pairs * centres.len() as f64 / distances as f64,
        exhaustive / pruned,
        pruned * 1e3,
    );
}

fn main() {
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().expect("one thread");
    pool.install(|| {
        if let Some(folder) = common::data("select") {
            let set = common::paper_set(&folder, 1).candidates;
            bench("paper_set_1", &set, 50, 20);
        }
        bench("made_275x101", &made::curves(275, 101, 50, 1), 50, 20);
        let large = made::curves(20_000, 101, 1000, 2);
        bench("made_20000x101", &large, 50, 3);
        bench("made_20000x101", &large, 1000, 1);
    });
}
