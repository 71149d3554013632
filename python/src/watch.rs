//! Long work beside a living interpreter.
//!
//! The work runs in a thread of its own, on a pool of as many threads as were asked for; the thread that called waits without the
//! interpreter's lock, wakes up a few times a second, shows progress and asks for signals. After Ctrl-C the work's next
//! [`Watch::tick`] unwinds it; that is how the algorithms' own progress hooks, which return nothing, become places to
//! stop. Work that has no such place within [`PATIENCE`] is left behind: it owns everything it touches, so that is safe; it ends
//! by itself.
//!
//! A pool for each call, not rayon's own: a process that forks (multiprocessing) would have a global pool without its threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// How often signals are asked for.
const INTERVAL: Duration = Duration::from_millis(50);
/// How long work may take to notice that it is to stop.
const PATIENCE: Duration = Duration::from_millis(2000);

/// What the work and the waiting thread share.
#[derive(Default)]
pub struct Watch {
    stop: AtomicBool,
    ticks: AtomicUsize,
}

/// The unwinding of work that was told to stop: no panic, so no message.
struct Stopped;

impl Watch {
    /// Counts a step of the work; does not return if it is to stop.
    pub fn tick(&self) {
        self.ticks.fetch_add(1, Ordering::Relaxed);
        self.check();
    }

    /// Says how many steps are done.
    pub fn set(&self, done: usize) {
        self.ticks.store(done, Ordering::Relaxed);
        self.check();
    }

    /// Whether the work is to stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Does not return if the work is to stop.
    pub fn check(&self) {
        if self.stopped() {
            resume_unwind(Box::new(Stopped));
        }
    }
}

/// Runs `work` on `threads` threads (all cores if none are said); `progress` is called with the steps done.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send + 'static,
) -> PyResult<T> {
    let threads = threads.unwrap_or(0); // rayon's word for all cores
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start {threads} threads: {error}")))?;
    let watch = Arc::new(Watch::default());
    let (sender, receiver) = mpsc::channel();
    let theirs = watch.clone();
    std::thread::Builder::new()
        .name("goc".into())
        .spawn(move || {
            let done = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(&theirs))));
            // Nobody listens any more if the work was left behind.
            let _ = sender.send(done);
        })
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;

    let receiver = Mutex::new(receiver);
    loop {
        match py.detach(|| wait(&receiver, INTERVAL)) {
            Ok(Ok(answer)) => {
                if let Some(progress) = progress {
                    progress.call1((watch.ticks.load(Ordering::Relaxed),))?;
                }
                return Ok(answer);
            }
            Ok(Err(panic)) => return Err(PyRuntimeError::new_err(internal(panic.as_ref()))),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("internal error: the work ended without an answer"));
            }
            Err(RecvTimeoutError::Timeout) => {
                let shown = match progress {
                    Some(progress) => progress.call1((watch.ticks.load(Ordering::Relaxed),)).map(|_| ()),
                    None => Ok(()),
                };
                if let Err(error) = py.check_signals().and(shown) {
                    watch.stop.store(true, Ordering::Relaxed);
                    // Whatever it still answers is of no use.
                    let _ = py.detach(|| wait(&receiver, PATIENCE));
                    return Err(error);
                }
            }
        }
    }
}

fn wait<T>(receiver: &Mutex<Receiver<T>>, time: Duration) -> Result<T, RecvTimeoutError> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time)
}

fn internal(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("internal error, please report it: {text}")
}

/// An error of the library as Python's ValueError.
pub fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
