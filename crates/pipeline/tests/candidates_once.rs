//! The candidates of a catalogue are in memory once: counted by an allocator that knows the most there ever was.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use goc::Ids;
use goc_galaxy::catalogue::schema::Columns;
use goc_pipeline::{
    BadRows, MeasuredColumns, PipelineError, Sampling, StarModel, Unwatched, star_candidates,
};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn grown(bytes: usize) {
    MOST.fetch_max(NOW.fetch_add(bytes, Ordering::Relaxed) + bytes, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came; only sizes are counted beside.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // A block that moves is there twice for a moment.
        grown(size);
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Ten thousand stars, made up as they are read.
struct Stars;

const STARS: usize = 10_000;

const COLUMNS: [(&str, f64, f64); 10] = [
    ("l", 0.0, 360.0),
    ("b", 20.0, 60.0),
    ("parallax", 0.3, 0.7),
    ("parallax_error", 0.02, 0.01),
    ("pml", -5.0, 10.0),
    ("pml_error", 0.03, 0.01),
    ("pmb", -5.0, 10.0),
    ("pmb_error", 0.03, 0.01),
    ("radial_velocity", -100.0, 200.0),
    ("radial_velocity_error", 1.0, 1.0),
];

impl Columns for Stars {
    type Error = PipelineError;

    fn names(&self) -> Vec<String> {
        COLUMNS.iter().map(|column| column.0.to_string()).collect()
    }

    fn require(&self, _: &str) -> Result<(), PipelineError> {
        Ok(())
    }

    fn unit(&self, _: &str) -> Option<String> {
        None
    }

    fn numbers(&self, name: &str) -> Result<Vec<f64>, PipelineError> {
        let at = COLUMNS.iter().position(|column| column.0 == name).unwrap();
        let (_, from, width) = COLUMNS[at];
        // Even steps of an irrational number, another for each column.
        let step = (2.0 + at as f64).sqrt();
        Ok((0..STARS).map(|i| from + width * (step * i as f64).fract()).collect())
    }
}

#[test]
fn ten_thousand_stars_with_101_candidates_each_are_in_memory_once() {
    let reading = MeasuredColumns {
        values: None,
        errors: None,
        object: None,
        missing: &|_| false,
        bad_rows: BadRows::Refuse,
    };
    let sampling = Sampling { extras: false, ..Sampling::default() };
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let made =
        star_candidates(&Stars, Ids::Position, &reading, &StarModel::default(), &sampling, 1, &Unwatched);
    let (data, _) = made.unwrap();
    let most = MOST.load(Ordering::Relaxed) - before;
    let own = data.candidates.bytes();
    assert!(data.candidates.total() > 1_000_000);
    println!("{most} bytes at most for candidates of {own}: {:.3}", most as f64 / own as f64);
    assert!(most as f64 <= 1.25 * own as f64, "{most} bytes for candidates of {own}");
}
