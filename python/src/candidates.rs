//! Arrays in: the candidates of all objects, checked once and stored in the library's layout.
//!
//! The library stores an object's candidates feature by feature, numpy candidate by candidate. The
//! pass that transposes them is the only copy, the same one that the command makes of its table.

use std::sync::Arc;

use goc::Ids;
use goc::candidates::{CandidatesBuilder, PENALTY_STRENGTH};
use goc_pipeline::{Dataset, PenaltyKind};
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::fit::whole;
use crate::watch::value_error;

/// The candidates of all objects.
#[pyclass(frozen, module = "goc._goc")]
pub struct Candidates {
    pub data: Arc<Dataset>,
}

#[pymethods]
impl Candidates {
    /// values (N, q) and offsets (n + 1), C-contiguous; one penalty or one weight per candidate, or
    /// neither. `names` names the objects in messages, `features` the features; `metadata` records
    /// how the candidates were made, `from_prior` which objects have a value drawn from a prior.
    #[new]
    #[pyo3(signature = (values, offsets, penalty=None, weight=None, strength=PENALTY_STRENGTH, names=None, features=None, metadata=None, from_prior=None))]
    #[allow(clippy::too_many_arguments)] // called from Python, by name
    fn new(
        values: PyReadonlyArray2<'_, f64>,
        offsets: PyReadonlyArray1<'_, i64>,
        penalty: Option<PyReadonlyArray1<'_, f64>>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        strength: f64,
        names: Option<Vec<String>>,
        features: Option<Vec<String>>,
        metadata: Option<Vec<(String, String)>>,
        from_prior: Option<Vec<bool>>,
    ) -> PyResult<Self> {
        let (rows, q) = (values.shape()[0], values.shape()[1]);
        let (values, offsets) = (values.as_slice()?, offsets.as_slice()?);
        let penalties = penalty.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
        let weights = weight.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
        for (name, given) in [("penalties", penalties), ("weights", weights)] {
            if let Some(count) = given.map(<[f64]>::len).filter(|count| *count != rows) {
                return Err(invalid!("{count} {name} for {rows} candidates"));
            }
        }
        check_offsets(offsets, rows)?;
        let ids = names.map_or(Ids::Position, Ids::Text);
        let n = offsets.len() - 1;
        let mut builder = CandidatesBuilder::with_capacity(q, n, rows);
        // Done with the interpreter's lock held: another Python thread could otherwise write to the
        // arrays.
        for i in 0..n {
            let (from, to) = (offsets[i] as usize, offsets[i + 1] as usize);
            let set = &values[from * q..to * q];
            if let Some(weights) = weights {
                builder.push_weighted(set, &weights[from..to], strength).map_err(value_error)?;
            } else {
                builder.push(set, penalties.map_or(&[][..], |all| &all[from..to])).map_err(value_error)?;
            }
        }
        let mut data = Dataset::new(builder.build_with(ids).map_err(value_error)?);
        if let Some(features) = features {
            data = data.named(features).map_err(value_error)?;
        }
        data.provenance = metadata.unwrap_or_default();
        data.from_prior = from_prior.unwrap_or_default();
        if !data.from_prior.is_empty() && data.from_prior.len() != n {
            return Err(invalid!("{} from_prior where {n} are needed", data.from_prior.len()));
        }
        data.penalties = match (weights, penalties) {
            (Some(_), _) => PenaltyKind::Weights { strength },
            (None, Some(_)) => data.said_penalties(),
            (None, None) => PenaltyKind::Unknown,
        };
        Ok(Self { data: Arc::new(data) })
    }

    /// The same objects with other penalties; the features are not copied into Python.
    fn with_penalties(&self, penalty: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        let mut data = self.data.without_extras();
        data.candidates = data.candidates.with_penalties(penalty.as_slice()?).map_err(value_error)?;
        data.penalties = PenaltyKind::Unknown;
        Ok(Self { data: Arc::new(data) })
    }

    /// Which objects have a value drawn from a prior; empty if none has.
    #[getter(from_prior)]
    fn drawn_from_prior(&self) -> Vec<bool> {
        self.data.from_prior.clone()
    }

    /// Whether the penalties are minus log densities of the errors.
    #[getter]
    fn log_density(&self) -> bool {
        self.data.penalties == PenaltyKind::LogDensity
    }

    #[getter]
    fn n_objects(&self) -> usize {
        self.data.candidates.objects()
    }

    #[getter]
    fn n_candidates(&self) -> usize {
        self.data.candidates.total()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.data.candidates.features()
    }

    /// Where each object's candidates begin; one more than objects.
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        whole(py, self.data.candidates.offsets().iter().map(|&at| at as i64))
    }

    /// The candidates of object `i`, row by row: a copy.
    fn object<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let sets = &self.data.candidates;
        if i >= sets.objects() {
            return Err(pyo3::exceptions::PyIndexError::new_err(format!("there is no object {i}")));
        }
        let q = sets.features();
        let mut values = vec![0.0; sets.count(i) * q];
        for (j, row) in values.chunks_exact_mut(q).enumerate() {
            sets.copy_candidate(i, j, row);
        }
        table(py, values, q)
    }

    /// Whether candidates have penalties.
    #[getter]
    fn has_penalties(&self) -> bool {
        self.data.candidates.has_penalties()
    }

    /// The mean of each object's candidates.
    fn means<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let means = self.data.candidates.means();
        table(py, means.values().to_vec(), means.features())
    }

    /// All candidates, row by row: a copy.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        rows_of(py, &self.data.candidates)
    }

    /// The penalties, or None: a copy.
    #[getter]
    fn penalties<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        penalties_of(py, &self.data.candidates)
    }
}

/// All candidates, row by row.
pub fn rows_of<'py>(py: Python<'py>, sets: &goc::Candidates) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let q = sets.features();
    let mut values = vec![0.0; sets.total() * q];
    let mut rows = values.chunks_exact_mut(q);
    for i in 0..sets.objects() {
        for (j, row) in rows.by_ref().take(sets.count(i)).enumerate() {
            sets.copy_candidate(i, j, row);
        }
    }
    table(py, values, q)
}

/// All penalties in the order of the candidates.
pub fn penalties_of<'py>(py: Python<'py>, sets: &goc::Candidates) -> Option<Bound<'py, PyArray1<f64>>> {
    let all = || (0..sets.objects()).flat_map(|i| sets.penalties(i).iter().copied());
    sets.has_penalties().then(|| all().collect::<Vec<f64>>().into_pyarray(py))
}

/// Numbers as a table of `columns` columns.
pub fn table(py: Python<'_>, values: Vec<f64>, columns: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let rows = values.len() / columns.max(1);
    values.into_pyarray(py).reshape([rows, columns])
}

fn check_offsets(offsets: &[i64], rows: usize) -> PyResult<()> {
    if offsets.len() < 2 {
        return Err(PyValueError::new_err("there are no objects"));
    }
    if offsets[0] != 0 || offsets[offsets.len() - 1] != rows as i64 {
        return Err(invalid!(
            "offsets go from {} to {}, but must go from 0 to the {rows} candidates there are",
            offsets[0],
            offsets[offsets.len() - 1]
        ));
    }
    match offsets.windows(2).position(|pair| pair[1] < pair[0]) {
        Some(i) => Err(invalid!("offsets fall from {} to {} at object {i}", offsets[i], offsets[i + 1])),
        None => Ok(()),
    }
}
