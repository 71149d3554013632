//! Python as the oracle, and any oracle under watch.

use std::sync::{Arc, Mutex, PoisonError};

use goc::oracle::{Oracle, OracleError, Start};
use goc::{Partition, Points, Stream};
use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rand::RngExt;

use crate::candidates::table;
use crate::watch::Watch;

/// Where the exception of a Python oracle waits until the run has ended.
pub type Raised = Arc<Mutex<Option<PyErr>>>;

/// A Python function `(points, k, seed) -> labels`, labels an array of int64.
pub struct Callable {
    pub function: Py<PyAny>,
    pub raised: Raised,
}

impl Callable {
    fn labels(&self, py: Python<'_>, points: &Points, k: usize, seed: u32) -> PyResult<Vec<i64>> {
        let array = table(py, points.values().to_vec(), points.features())?;
        let labels = self.function.bind(py).call1((array, k, seed))?;
        let labels: PyReadonlyArray1<'_, i64> = labels.extract()?;
        let mut all = Vec::with_capacity(labels.len());
        all.extend(labels.as_array().iter().copied());
        Ok(all)
    }
}

impl Oracle for Callable {
    fn name(&self) -> &str {
        "python"
    }

    fn cluster(
        &self,
        points: &Points,
        start: Start<'_>,
        stream: &mut Stream,
    ) -> Result<Partition, OracleError> {
        start.check(points)?;
        let seed = stream.random_range(0..=u32::try_from(i32::MAX).unwrap_or(u32::MAX));
        let failed = |reason: String| OracleError::Failed { oracle: "python".into(), reason };
        // No interpreter to ask: it is about to end.
        let labels = Python::try_attach(|py| self.labels(py, points, start.k(), seed))
            .ok_or_else(|| failed("the interpreter has ended".into()))?
            .map_err(|error| {
                let reason = error.to_string();
                self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                failed(reason)
            })?;
        if labels.len() != points.len() {
            return Err(OracleError::WrongLength { labels: labels.len(), points: points.len() });
        }
        Ok(Partition::from_labels(&labels))
    }
}

/// An oracle that can be stopped each time it is asked.
pub struct Watched<'w> {
    pub oracle: &'w dyn Oracle,
    pub watch: &'w Watch,
}

impl Oracle for Watched<'_> {
    fn name(&self) -> &str {
        self.oracle.name()
    }

    fn cluster(
        &self,
        points: &Points,
        start: Start<'_>,
        stream: &mut Stream,
    ) -> Result<Partition, OracleError> {
        self.watch.check();
        self.oracle.cluster(points, start, stream)
    }
}
