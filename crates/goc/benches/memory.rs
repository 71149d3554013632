//! Peak memory of a run beside the candidates' own size, by counting every allocation.

mod made;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use goc::optimistic::{KRule, Optimistic};
use goc::oracle::k_means::{Algorithm, KMeans, Seeding};

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

fn main() {
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
