//! GOC over parts, for programs that carry the messages themselves (`goc/dask.py`): commands and answers are bytes, all logic is
//! the library's.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use goc::optimistic::sharded::{self, Answer, Basis, Command, FinalState, Plan};
use goc::optimistic::{Optimistic, Termination};
use goc::oracle::Oracle;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::candidates::{Candidates, table};
use crate::fit::rescaled;
use crate::oracle::Watched;
use crate::settings::Settings;
use crate::watch::{self, value_error};

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn greedy(settings: &Settings) -> PyResult<Optimistic> {
    let k =
        settings.k.ok_or_else(|| PyValueError::new_err("over parts the number of clusters must be given"))?;
    settings.greedy(k)
}

/// A stretch of the objects.
#[pyclass(frozen, module = "goc._goc")]
pub struct Part {
    part: Arc<Mutex<sharded::Shard>>,
}

#[pymethods]
impl Part {
    /// The objects of `candidates` (None: no objects), the first of which has number `first` in the whole; scaled as given.
    #[new]
    #[pyo3(signature = (candidates, first, settings, centre=None, spread=None, penalty_divisor=1.0))]
    fn new(
        py: Python<'_>,
        candidates: Option<&Candidates>,
        first: usize,
        settings: Settings,
        centre: Option<Vec<f64>>,
        spread: Option<Vec<f64>>,
        penalty_divisor: f64,
    ) -> PyResult<Self> {
        let goc = greedy(&settings)?;
        let scaled = candidates
            .map(|given| {
                let q = given.sets.features();
                let (centre, spread) =
                    (centre.unwrap_or_else(|| vec![0.0; q]), spread.unwrap_or_else(|| vec![1.0; q]));
                rescaled(given, centre, spread, penalty_divisor)
            })
            .transpose()?;
        let part = py.detach(|| sharded::Shard::new(scaled, first, &goc));
        Ok(Self { part: Arc::new(Mutex::new(part)) })
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
        let part = self.part.clone();
        let answer = watch::run(py, threads, None, None, move |_| {
            locked(&part).perform(&command).map(|answer| answer.to_bytes())
        })?;
        Ok(PyBytes::new(py, &answer.map_err(value_error)?))
    }

    /// How its objects ended: labels, chosen candidates, distances, penalties, scaled points.
    #[pyo3(signature = (last, threads=None))]
    fn finish<'py>(
        &self,
        py: Python<'py>,
        last: &[u8],
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let last = FinalState::from_bytes(last).map_err(value_error)?;
        let part = self.part.clone();
        let result = watch::run(py, threads, None, None, move |_| locked(&part).finish(&last))?
            .map_err(value_error)?;
        let features = result.points.len() / result.labels.len().max(1);
        let put = PyDict::new(py);
        put.set_item("labels", whole(py, result.labels))?;
        put.set_item("chosen", whole(py, result.chosen))?;
        put.set_item("distances", result.distances.into_pyarray(py))?;
        put.set_item("penalties", result.penalties.into_pyarray(py))?;
        put.set_item("points", table(py, result.points, features)?)?;
        Ok(put)
    }

    #[getter]
    fn n_objects(&self) -> usize {
        locked(&self.part).objects()
    }

    /// Bytes it holds.
    #[getter]
    fn nbytes(&self) -> usize {
        locked(&self.part).bytes()
    }
}

fn whole(py: Python<'_>, values: Vec<u32>) -> Bound<'_, PyArray1<i64>> {
    values.into_iter().map(i64::from).collect::<Vec<i64>>().into_pyarray(py)
}

/// Leads a run over parts.
#[pyclass(frozen, module = "goc._goc")]
pub struct Conductor {
    conductor: Arc<Mutex<sharded::Coordinator>>,
    oracle: Arc<Mutex<Box<dyn Oracle + Send>>>,
    /// Python's own oracle, in place of the named one.
    function: Option<Py<PyAny>>,
}

#[pymethods]
impl Conductor {
    /// For parts of `sizes` objects; `function` in place of the named oracle.
    #[new]
    #[pyo3(signature = (settings, sizes, features, sample, rounds, function=None))]
    fn new(
        settings: Settings,
        sizes: Vec<usize>,
        features: usize,
        sample: usize,
        rounds: usize,
        function: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        settings.check()?;
        let plan = Plan { sample, rounds };
        let conductor = sharded::Coordinator::new(greedy(&settings)?, &sizes, features, settings.seed, plan)
            .map_err(value_error)?;
        let (conductor, oracle) = (Arc::new(Mutex::new(conductor)), Arc::new(Mutex::new(settings.oracle()?)));
        Ok(Self { conductor, oracle, function })
    }

    /// What every part has to do now; None when the run is over.
    fn command<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let command = locked(&self.conductor).command()?;
        Some(PyBytes::new(py, &command.to_bytes()))
    }

    /// Takes the parts' answers, in the order of the parts.
    #[pyo3(signature = (answers, threads=None))]
    fn take(&self, py: Python<'_>, answers: Vec<PyBackedBytes>, threads: Option<usize>) -> PyResult<()> {
        let (conductor, oracle) = (self.conductor.clone(), self.oracle.clone());
        let function = self.function.as_ref().map(|function| function.bind(py));
        let named = function.is_none();
        let done = watch::run(py, threads, None, function, move |watch| {
            let answers: Vec<Answer> =
                answers.iter().map(|bytes| Answer::from_bytes(bytes)).collect::<Result<_, _>>()?;
            let oracle = locked(&oracle);
            let watched = Watched { oracle: named.then_some(oracle.as_ref()), watch };
            locked(&conductor).take(&answers, &watched)
        })?;
        done.map_err(value_error)
    }

    /// The whole state, to go on from later.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &locked(&self.conductor).to_bytes())
    }

    /// Goes on from the bytes of `to_bytes`; refused when they are of another run.
    fn resume(&self, bytes: &[u8]) -> PyResult<()> {
        let mut conductor = locked(&self.conductor);
        *conductor = conductor.resume(bytes).map_err(value_error)?;
        Ok(())
    }

    /// Iterations done.
    #[getter]
    fn iterations(&self) -> usize {
        locked(&self.conductor).iterations()
    }

    /// Answers taken.
    #[getter]
    fn steps(&self) -> u64 {
        locked(&self.conductor).steps()
    }

    /// (k, objective, changed, passes) of every iteration so far.
    #[getter]
    fn history(&self) -> Vec<(usize, f64, usize, usize)> {
        let conductor = locked(&self.conductor);
        conductor.history().iter().map(|r| (r.k, r.objective, r.changed, r.passes)).collect()
    }

    /// What the run found, once it is over; centres in scaled features.
    fn outcome<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let conductor = locked(&self.conductor);
        let Some(outcome) = conductor.outcome() else { return Ok(None) };
        let put = PyDict::new(py);
        let q = outcome.centres.features();
        put.set_item("centres", table(py, outcome.centres.values().to_vec(), q)?)?;
        let sizes: Vec<i64> = outcome.sizes.iter().map(|&size| size as i64).collect();
        put.set_item("sizes", sizes.into_pyarray(py))?;
        put.set_item("objective", outcome.objective)?;
        put.set_item("iterations", outcome.iterations)?;
        put.set_item(
            "converged",
            matches!(outcome.termination, Termination::Converged | Termination::Tolerance),
        )?;
        put.set_item("cycle", matches!(outcome.termination, Termination::Cycle { .. }))?;
        put.set_item(
            "first_on",
            match outcome.first_on {
                Basis::All => None,
                Basis::Sample(objects) => Some(objects),
            },
        )?;
        put.set_item("last", PyBytes::new(py, &outcome.final_state.to_bytes()))?;
        Ok(Some(put))
    }
}
