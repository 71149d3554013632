//! The candidates of a catalogue are in memory about once, while they are made and while they are clustered:
//! counted by an allocator that knows the most there ever was.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use goc::Ids;
use goc::oracle::k_means::Algorithm;
use goc_galaxy::catalogue::schema::Columns;
use goc_pipeline::{
    BadRows, Dataset, MeasuredColumns, MethodName, PipelineError, QuotedErrors, Sampling, Settings,
    StarModel, Unwatched, fit_owned, star_candidates,
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

/// This many stars, made up as they are read.
struct Stars(usize);

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
        Ok((0..self.0).map(|i| from + width * (step * i as f64).fract()).collect())
    }
}

/// The candidates of this many stars, 101 each.
fn candidates(stars: usize) -> Dataset {
    let reading = MeasuredColumns {
        values: None,
        errors: None,
        object: None,
        missing: &|_| false,
        bad_rows: BadRows::Refuse,
        quoted: &QuotedErrors::default(),
        missing_rv: None,
        with: &[],
    };
    let (sampling, model) = (Sampling { extras: false, ..Sampling::default() }, StarModel::default());
    star_candidates(&Stars(stars), Ids::Position, &reading, &model, &sampling, 1, &Unwatched).unwrap().0
}

/// The most bytes that were there at a time while `work` was done.
fn most<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let done = work();
    (MOST.load(Ordering::Relaxed) - before, done)
}

fn at_most(limit: f64, bytes: usize, own: usize, what: &str) {
    let ratio = bytes as f64 / own as f64;
    println!("{what}: {bytes} bytes at most for candidates of {own}: {ratio:.3}");
    assert!(ratio <= limit, "{what}: {ratio:.3} times the candidates, not {limit}");
}

/// One test: what is counted is counted for the whole program.
#[test]
fn candidates_are_in_memory_about_once_from_the_catalogue_to_the_labels() {
    // `goc stars`: the energy is of no use, and the data set goes into the fit.
    let (bytes, data) = most(|| candidates(10_000));
    let own = data.candidates.bytes();
    assert!(data.candidates.total() > 1_000_000);
    at_most(1.25, bytes, own, "candidates");
    drop(data);
    let settings = Settings {
        algorithm: Algorithm::Lloyd,
        oracle_starts: Some(1),
        oracle_iterations: Some(10),
        max_iterations: 3,
        ..Settings::of(MethodName::Goc).clusters(50)
    };
    let (bytes, _) = most(|| fit_owned(candidates(10_000), &settings, 1, &Unwatched).unwrap());
    at_most(1.6, bytes, own, "GOC, the catalogue not counted");
}
