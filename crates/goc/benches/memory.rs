//! Peak memory of a run beside the candidates' own size, by counting every allocation: GOC, and the
//! marginal mixture on scaled features (limit 2.2, the unscaled candidates included). The mixture takes
//! a few sweeps, and what the draws of all defaults add to it is computed; GOC_BENCH_LARGE=1 adds a run
//! with all defaults, where nothing is computed.

mod made;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use goc::marginal::Marginal;
use goc::objects::Scaled;
use goc::optimistic::{KRule, Optimistic};
use goc::oracle::k_means::{Algorithm, KMeans, Seeding};
use goc::scale::{Scaler, Scaling};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system allocator unchanged; only sizes are counted beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The largest since the last call.
fn peak() -> usize {
    PEAK.swap(NOW.load(Relaxed), Relaxed)
}

/// The mixture on 20 000 objects of 101 candidates: the peak before the chains, while they run, and
/// when they are summed up, each over the bytes of features and penalties.
fn mixture(burn: usize, keep: usize) {
    const CHAINS: usize = 4;
    const DRAWS: usize = CHAINS * 140;
    let candidates = made::curves(20_000, 101, 500, 1);
    let own = (candidates.total() * (candidates.features() + 1) * size_of::<f64>()) as f64;
    let scaler = Scaler::fit(Scaling::Robust, &candidates).expect("finite");
    let divisor = candidates.largest_penalty();
    let objects = Scaled::new(&candidates).scaler(&scaler).penalty_divisor(divisor);
    peak();
    let (ticks, setup, chains) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let tick = || match ticks.fetch_add(1, Relaxed) + 1 {
        1 => setup.store(peak(), Relaxed),
        last if last == CHAINS * (burn + keep) => chains.store(peak(), Relaxed),
        _ => {}
    };
    let begin = std::time::Instant::now();
    let marginal = Marginal::default().length(CHAINS, burn, keep);
    let found = marginal.run_watched(&objects, 1, &tick).expect("runs");
    let [setup, chains, summary] =
        [setup.into_inner(), chains.into_inner(), peak()].map(|bytes| bytes as f64 / own);
    // A label of two bytes an object and draw; in the summary as much again for the members.
    let more = ((DRAWS - found.together.draws().len()) * candidates.objects() * 2) as f64 / own;
    println!(
        "memory mixture objects=20000 candidates_bytes={own} threads={} draws={} setup={setup:.3} chains={chains:.3} \
         summary={summary:.3} peak_over_candidates={:.3} with_draws_of_defaults={:.3} limit=2.2 seconds={:.0} k={}",
        rayon::current_num_threads(),
        found.together.draws().len(),
        setup.max(chains).max(summary),
        setup.max(chains + more).max(summary + 2.0 * more),
        begin.elapsed().as_secs_f64(),
        found.partition.k(),
    );
}

fn main() {
    mixture(1, 2);
    if std::env::var("GOC_BENCH_LARGE").as_deref() == Ok("1") {
        mixture(40, 140);
    }
    for n in [100_000, 1_000_000] {
        let candidates = made::curves(n, 101, 50, 1);
        let own = candidates.bytes();
        PEAK.store(NOW.load(Relaxed), Relaxed);
        let oracle = KMeans::default()
            .algorithm(Algorithm::Lloyd)
            .seeding(Seeding::PlusPlus)
            .starts(1)
            .max_iterations(100);
        let begin = std::time::Instant::now();
        let goc = Optimistic::new(50).k_rule(KRule::Constant).lambda(0.01).max_iterations(20);
        let found = goc.check(&candidates).expect("valid").run(&oracle, 1).expect("runs");
        println!(
            "memory objects={n} candidates_bytes={own} peak_over_candidates={:.3} seconds={:.2} iterations={}",
            PEAK.load(Relaxed) as f64 / own as f64,
            begin.elapsed().as_secs_f64(),
            found.iterations,
        );
    }
}
