//! Step (III) from the first iteration to settled centres: CPU seconds an iteration beside one pass over the memory of
//! the candidates in the same run, which is the rival: nobody who looks at every candidate is faster.
//!
//! 1e5 objects x 101 and K = 1000 by default; a million (3.2 GB) with GOC_BENCH_LARGE=1. One thread. The centres
//! are those of a real run: the means of each selection.

mod made;

use cpu_time::ThreadTime;
use goc::optimistic::{Distance, select::Selector};
use goc::{Candidates, Points};
use std::hint::black_box;

const K: usize = 1000;
const ITERATIONS: usize = 40;

/// CPU seconds of one pass: all values and penalties added up, eight sums at a time.
fn pass(candidates: &Candidates) -> f64 {
    let add = |sums: &mut [f64; 8], values: &[f64]| {
        let (eights, rest) = values.as_chunks::<8>();
        for eight in eights {
            for l in 0..8 {
                sums[l] += eight[l];
            }
        }
        rest.iter().for_each(|x| sums[0] += x);
    };
    let begin = ThreadTime::now();
    let mut sums = [0.0; 8];
    for i in 0..candidates.objects() {
        for f in 0..candidates.features() {
            add(&mut sums, candidates.feature(i, f));
        }
        add(&mut sums, candidates.penalties(i));
    }
    black_box(sums);
    begin.elapsed().as_secs_f64()
}

/// One step (III): the means of the chosen candidates, where a centre that nobody chose stays; CPU seconds, centres that
/// moved, and distances to points and boxes that were computed.
fn select(
    candidates: &Candidates,
    selector: &mut Selector<'_>,
    centres: &Points,
) -> (Points, f64, usize, u64) {
    let begin = ThreadTime::now();
    let (choices, effort) = selector.select(centres);
    let seconds = begin.elapsed().as_secs_f64();
    let mut sums = vec![0.0; centres.values().len()];
    let mut counts = vec![0.0; K];
    for (i, choice) in choices.iter().enumerate() {
        let l = choice.centre as usize;
        counts[l] += 1.0;
        for (f, x) in candidates.candidate(i, choice.candidate as usize).iter().enumerate() {
            sums[l * 3 + f] += x;
        }
    }
    let mut moved = 0;
    for l in 0..K {
        for f in 0..3 {
            sums[l * 3 + f] = if counts[l] > 0.0 { sums[l * 3 + f] / counts[l] } else { centres.row(l)[f] };
        }
        moved += usize::from(sums[l * 3..l * 3 + 3] != *centres.row(l));
    }
    (Points::new(sums, 3).expect("finite"), seconds, moved, effort.distances + effort.boxes)
}

fn main() {
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().expect("one thread");
    let n = if std::env::var_os("GOC_BENCH_LARGE").is_some() { 1_000_000 } else { 100_000 };
    pool.install(|| {
        let candidates = made::curves(n, 101, K, 2);
        // One object of each group: close to where the centres belong, as after a first clustering.
        let rows: Vec<usize> = (0..K).collect();
        let start: Vec<f64> = rows.iter().flat_map(|&i| candidates.candidate(i, 50)).collect();
        let mut centres = Points::new(start, 3).expect("finite");
        let mut selector = Selector::new(&candidates, Distance::Squared, 0.01);
        let mut one = f64::INFINITY;
        for iteration in 1..=ITERATIONS {
            let (next, seconds, moved, looks) = select(&candidates, &mut selector, &centres);
            centres = next;
            one = one.min(pass(&candidates));
            if iteration == 1 || iteration % 5 == 0 {
                println!(
                    "settled n={n} k={K} iteration={iteration} moved={moved} looks_an_object={:.1} cpu={seconds:.4} \
                     pass={one:.4} passes={:.2}",
                    looks as f64 / n as f64,
                    seconds / one,
                );
            }
        }
    });
}
