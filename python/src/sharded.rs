//! GOC over shards, for programs that carry the messages themselves (`goc/dask.py`): commands and
//! answers are bytes, and all logic is in the library.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use goc::optimistic::sharded::{self, Answer, Basis, Command, FinalState, Plan};
use goc::optimistic::{Optimistic, Termination};
use goc::oracle::Oracle;
use goc_pipeline::Auto;
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::candidates::{Candidates, table};
use crate::fit::{Map, whole};
use crate::oracle::Watched;
use crate::settings::{Asked, refused};
use crate::watch::{self, value_error};

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn greedy(asked: &Asked) -> PyResult<Optimistic> {
    let k = match asked.settings.k {
        Some(Auto::Number(k)) => k,
        _ => return Err(PyValueError::new_err("over partitions the number of clusters must be given")),
    };
    Ok(asked.settings.greedy(k))
}

/// A contiguous range of the objects.
#[pyclass(frozen, module = "goc._goc")]
pub struct Shard {
    shard: Arc<Mutex<sharded::Shard>>,
}

#[pymethods]
impl Shard {
    /// The objects of `candidates` (None: no objects), mapped as given; `first` is the index of the
    /// first one in the whole data set.
    #[new]
    #[pyo3(signature = (candidates, first, settings, map=None))]
    fn new(
        py: Python<'_>,
        candidates: Option<&Candidates>,
        first: usize,
        settings: &Bound<'_, PyDict>,
        map: Option<PyRef<'_, Map>>,
    ) -> PyResult<Self> {
        let goc = greedy(&Asked::of(settings)?)?;
        let scaled = match (candidates, map) {
            (None, _) => None,
            (Some(given), None) => Some(given.data.candidates.clone()),
            (Some(given), Some(map)) => Some(map.prepared(&given.data)?.data.candidates),
        };
        let shard = py.detach(|| sharded::Shard::new(scaled, first, &goc));
        Ok(Self { shard: Arc::new(Mutex::new(shard)) })
    }

    /// The answer to a command.
    #[pyo3(signature = (command, threads=None))]
    fn perform<'py>(
        &self,
        py: Python<'py>,
        command: &[u8],
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let command = Command::from_bytes(command).map_err(value_error)?;
        let shard = self.shard.clone();
        let answer = watch::run(py, threads, None, None, move |_| {
            locked(&shard).perform(&command).map(|answer| answer.to_bytes())
        })?;
        Ok(PyBytes::new(py, &answer.map_err(value_error)?))
    }

    /// The final state of its objects: labels, chosen candidates, distances, penalties, scaled
    /// points.
    #[pyo3(signature = (last, threads=None))]
    fn finish<'py>(
        &self,
        py: Python<'py>,
        last: &[u8],
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let last = FinalState::from_bytes(last).map_err(value_error)?;
        let shard = self.shard.clone();
        let result = watch::run(py, threads, None, None, move |_| locked(&shard).finish(&last))?
            .map_err(value_error)?;
        let features = result.points.len() / result.labels.len().max(1);
        let put = PyDict::new(py);
        put.set_item("labels", whole(py, result.labels.into_iter().map(i64::from)))?;
        put.set_item("chosen", whole(py, result.chosen.into_iter().map(i64::from)))?;
        put.set_item("distances", result.distances.into_pyarray(py))?;
        put.set_item("penalties", result.penalties.into_pyarray(py))?;
        put.set_item("points", table(py, result.points, features)?)?;
        Ok(put)
    }

    /// The number of bytes it holds.
    #[getter]
    fn nbytes(&self) -> usize {
        locked(&self.shard).bytes()
    }
}

/// Coordinates a run over shards.
#[pyclass(frozen, module = "goc._goc")]
pub struct Coordinator {
    coordinator: Arc<Mutex<sharded::Coordinator>>,
    oracle: Arc<Mutex<Box<dyn Oracle + Send>>>,
    /// A Python function that replaces the named oracle.
    function: Option<Py<PyAny>>,
}

#[pymethods]
impl Coordinator {
    /// For shards of `sizes` objects; `function` replaces the named oracle.
    #[new]
    #[pyo3(signature = (settings, sizes, features, sample, rounds, function=None))]
    fn new(
        settings: &Bound<'_, PyDict>,
        sizes: Vec<usize>,
        features: usize,
        sample: usize,
        rounds: usize,
        function: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let settings = Asked::of(settings)?;
        settings.settings.check().map_err(refused)?;
        let plan = Plan { sample, rounds };
        let led = sharded::Coordinator::new(greedy(&settings)?, &sizes, features, settings.seed, plan);
        let coordinator = Arc::new(Mutex::new(led.map_err(value_error)?));
        Ok(Self { coordinator, oracle: Arc::new(Mutex::new(settings.settings.oracle())), function })
    }

    /// The next command for every shard; None when the run is over.
    fn command<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let command = locked(&self.coordinator).command()?;
        Some(PyBytes::new(py, &command.to_bytes()))
    }

    /// Takes the shards' answers, in the order of the shards.
    #[pyo3(signature = (answers, threads=None))]
    fn take(&self, py: Python<'_>, answers: Vec<PyBackedBytes>, threads: Option<usize>) -> PyResult<()> {
        let (coordinator, oracle) = (self.coordinator.clone(), self.oracle.clone());
        let function = self.function.as_ref().map(|function| function.bind(py));
        let named = function.is_none();
        let done = watch::run(py, threads, None, function, move |watch| {
            let answers: Vec<Answer> =
                answers.iter().map(|bytes| Answer::from_bytes(bytes)).collect::<Result<_, _>>()?;
            let oracle = locked(&oracle);
            let watched = Watched::new(watch, named.then_some(oracle.as_ref()));
            locked(&coordinator).take(&answers, &watched)
        })?;
        done.map_err(value_error)
    }

    /// The whole state, to resume from later.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &locked(&self.coordinator).to_bytes())
    }

    /// Resumes from the bytes of `to_bytes`; refused if they belong to another run.
    fn resume(&self, bytes: &[u8]) -> PyResult<()> {
        let mut coordinator = locked(&self.coordinator);
        *coordinator = coordinator.resume(bytes).map_err(value_error)?;
        Ok(())
    }

    /// Number of completed iterations.
    #[getter]
    fn iterations(&self) -> usize {
        locked(&self.coordinator).iterations()
    }

    /// Number of answers taken.
    #[getter]
    fn steps(&self) -> u64 {
        locked(&self.coordinator).steps()
    }

    /// (k, objective, changed, passes) of every iteration so far.
    #[getter]
    fn history(&self) -> Vec<(usize, f64, usize, usize)> {
        let coordinator = locked(&self.coordinator);
        coordinator.history().iter().map(|r| (r.k, r.objective, r.changed, r.passes)).collect()
    }

    /// The result of the run, once it is over; centres in scaled features.
    fn outcome<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let coordinator = locked(&self.coordinator);
        let Some(outcome) = coordinator.outcome() else { return Ok(None) };
        let put = PyDict::new(py);
        let q = outcome.centres.features();
        put.set_item("centres", table(py, outcome.centres.values().to_vec(), q)?)?;
        put.set_item("sizes", whole(py, outcome.sizes.iter().map(|&size| size as i64)))?;
        put.set_item("objective", outcome.objective)?;
        put.set_item("iterations", outcome.iterations)?;
        let converged = matches!(outcome.termination, Termination::Converged | Termination::Tolerance);
        put.set_item("converged", converged)?;
        put.set_item("cycle", matches!(outcome.termination, Termination::Cycle { .. }))?;
        let sample = if let Basis::Sample(objects) = outcome.first_on { Some(objects) } else { None };
        put.set_item("first_on", sample)?;
        put.set_item("last", PyBytes::new(py, &outcome.final_state.to_bytes()))?;
        Ok(Some(put))
    }
}
