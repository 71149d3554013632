//! Long computations with a responsive interpreter.
//!
//! The work runs in its own thread, on a pool with the requested number of threads. The calling
//! thread waits without the interpreter's lock, wakes up several times a second, shows progress and
//! checks for signals. After Ctrl-C the work's next [`Watch::tick`] unwinds it; this is how the
//! algorithms' progress hooks, which return nothing, become places to stop. Work that reaches no
//! such place within [`PATIENCE`] is abandoned: it owns everything it touches, so this is safe, and
//! it ends on its own.
//!
//! A Python function that the work needs (an oracle) is called by the waiting thread, at the work's
//! request through [`Watch::ask`]. So it runs in its user's thread, Ctrl-C reaches it like any
//! other Python code, and no Python thread is ever left behind.
//!
//! Each call has its own thread pool instead of rayon's global one: after a fork (multiprocessing),
//! the global pool would have no threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use goc::Points;
use goc_pipeline::Speech;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::candidates::table;

/// An error about unusable input from Python; the arguments are those of `format!`.
macro_rules! invalid {
    ($($said:tt)+) => { pyo3::exceptions::PyValueError::new_err(format!($($said)+)) };
}

/// How often signals are polled.
const INTERVAL: Duration = Duration::from_millis(50);
/// How long work may take to notice that it should stop.
const PATIENCE: Duration = Duration::from_millis(2000);

/// Points to be labelled by a Python function.
pub struct Question {
    pub points: Points,
    pub k: usize,
    pub seed: u32,
}

/// What the work sends to the waiting thread.
enum Message<T> {
    /// It has ended, well or by unwinding.
    Done(std::thread::Result<T>),
    /// It waits for labels.
    Asked(Question, Sender<Vec<i64>>),
}

/// Forwards a question; false if nobody is listening any more.
type Asking = Box<dyn Fn(Question, Sender<Vec<i64>>) -> bool + Send + Sync>;

/// The state shared by the work and the waiting thread.
pub struct Watch {
    stop: AtomicBool,
    ticks: AtomicUsize,
    asking: Asking,
    said: Said,
}

/// Remarks of the work in Python's wording; true marks a warning. Used on its own, it collects what
/// is reported while the interpreter's lock is held.
#[derive(Default)]
pub struct Said(Mutex<Vec<(bool, String)>>);

impl Said {
    fn say(&self, warning: bool, remark: &str) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.push((warning, Speech::Keywords.of(remark)));
    }

    /// The remarks so far.
    pub fn all(&self) -> Vec<(bool, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl goc_pipeline::Watch for Said {
    fn note(&self, remark: &str) {
        self.say(false, remark);
    }

    fn warn(&self, warning: &str) {
        self.say(true, warning);
    }
}

impl goc_pipeline::Watch for Watch {
    fn tick(&self) {
        Watch::tick(self);
    }

    fn check(&self) {
        Watch::check(self);
    }

    fn note(&self, remark: &str) {
        self.said.note(remark);
    }

    fn warn(&self, warning: &str) {
        self.said.warn(warning);
    }
}

/// The payload that unwinds work that was asked to stop: not a panic, so there is no message.
struct Stopped;

impl Watch {
    /// The work's remarks so far.
    pub fn said(&self) -> Vec<(bool, String)> {
        self.said.all()
    }

    /// Counts a step of the work; does not return if the work must stop.
    pub fn tick(&self) {
        self.ticks.fetch_add(1, Ordering::Relaxed);
        self.check();
    }

    /// Sets the number of completed steps.
    pub fn set(&self, done: usize) {
        self.ticks.store(done, Ordering::Relaxed);
        self.check();
    }

    /// Labels from the Python function; does not return if it failed.
    pub fn ask(&self, question: Question) -> Vec<i64> {
        let (sender, answer) = mpsc::channel();
        let labels = (self.asking)(question, sender).then(|| answer.recv().ok()).flatten();
        labels.unwrap_or_else(|| resume_unwind(Box::new(Stopped)))
    }

    /// Does not return if the work must stop.
    pub fn check(&self) {
        if self.stop.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped));
        }
    }
}

/// Runs `work` on `threads` threads (by default, all cores); `progress` is called with the number
/// of completed steps, `function` to label points.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
    function: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send + 'static,
) -> PyResult<T> {
    let threads = threads.unwrap_or(0); // rayon's word for all cores
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start {threads} threads: {error}")))?;
    let (sender, receiver) = mpsc::channel();
    let questions = Mutex::new(sender.clone());
    let asking: Asking = Box::new(move |question, answer| {
        let questions = questions.lock().unwrap_or_else(PoisonError::into_inner);
        questions.send(Message::Asked(question, answer)).is_ok()
    });
    let (stop, ticks) = (AtomicBool::new(false), AtomicUsize::new(0));
    let watch = Arc::new(Watch { stop, ticks, asking, said: Said::default() });
    let theirs = watch.clone();
    std::thread::Builder::new()
        .name("goc".into())
        .spawn(move || {
            let done = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(&theirs))));
            // Nobody listens any more if the work was abandoned.
            let _ = sender.send(Message::Done(done));
        })
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;

    let receiver = Mutex::new(receiver);
    loop {
        let step = match py.detach(|| wait(&receiver, INTERVAL)) {
            Ok(Message::Done(Ok(answer))) => {
                show(progress, &watch)?;
                return Ok(answer);
            }
            Ok(Message::Done(Err(panic))) => return Err(PyRuntimeError::new_err(internal(panic.as_ref()))),
            Ok(Message::Asked(question, answer)) => labels(py, function, question).map(|labels| {
                // The work cannot have ended while it waits.
                let _ = answer.send(labels);
            }),
            Err(RecvTimeoutError::Disconnected) => {
                Err(PyRuntimeError::new_err("internal error: the work ended without an answer"))
            }
            Err(RecvTimeoutError::Timeout) => py.check_signals().and_then(|()| show(progress, &watch)),
        };
        if let Err(error) = step {
            watch.stop.store(true, Ordering::Relaxed);
            py.detach(|| leave(&receiver));
            return Err(error);
        }
    }
}

/// Gives the work time to notice that it should stop; its remaining answers are ignored.
fn leave<T>(receiver: &Mutex<Receiver<Message<T>>>) {
    let end = Instant::now() + PATIENCE;
    // A question is dropped, which stops the asker.
    while let Ok(Message::Asked(..)) = wait(receiver, end.saturating_duration_since(Instant::now())) {}
}

fn wait<T>(receiver: &Mutex<Receiver<T>>, time: Duration) -> Result<T, RecvTimeoutError> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time)
}

fn show(progress: Option<&Bound<'_, PyAny>>, watch: &Watch) -> PyResult<()> {
    match progress {
        Some(progress) => progress.call1((watch.ticks.load(Ordering::Relaxed),)).map(|_| ()),
        None => Ok(()),
    }
}

/// The result of the Python function `(points, k, seed) -> labels`, with labels as an int64 array.
fn labels(py: Python<'_>, function: Option<&Bound<'_, PyAny>>, question: Question) -> PyResult<Vec<i64>> {
    let function = function.ok_or_else(|| PyRuntimeError::new_err("internal error: nobody to ask"))?;
    let array = table(py, question.points.values().to_vec(), question.points.features())?;
    let labels = function.call1((array, question.k, question.seed))?;
    let labels: PyReadonlyArray1<'_, i64> = labels.extract()?;
    Ok(labels.as_array().iter().copied().collect())
}

fn internal(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("internal error, please report it: {text}")
}

/// A library error as Python's ValueError.
pub fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
