//! Single steps, for programs that drive the iteration themselves: step (III), the sums of the
//! k-means step, an oracle on points.

use std::sync::Arc;

use goc::Points;
use goc::optimistic::Distance;
use goc::optimistic::select::Selector;
use goc::oracle::{Oracle, Start};
use goc::random::stream;
use goc_pipeline::settings::LAMBDA;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::candidates::{Candidates, table};
use crate::fit::{Map, whole};
use crate::oracle::Watched;
use crate::settings::{Asked, refused};
use crate::watch::{self, value_error};

type Sums<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>);
type Choices<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// Step (III): for each object, the candidate and the centre with the smallest `distance + weight *
/// penalty`. The candidates are first mapped as in a fit; `means` places each object at the mean of
/// its candidates; the centres are in scaled features. Returns (candidate, centre, value).
#[pyfunction]
#[pyo3(signature = (candidates, centres, distance="squared", penalty_weight=LAMBDA, map=None, means=false, threads=None))]
#[allow(clippy::too_many_arguments)] // keywords in Python
pub fn select<'py>(
    py: Python<'py>,
    candidates: &Candidates,
    centres: PyReadonlyArray2<'py, f64>,
    distance: &str,
    penalty_weight: f64,
    map: Option<PyRef<'py, Map>>,
    means: bool,
    threads: Option<usize>,
) -> PyResult<Choices<'py>> {
    let distance: Distance = distance.parse().map_err(value_error)?;
    let centres = points(&centres)?;
    let q = candidates.data.candidates.features();
    if centres.features() != q {
        let found = centres.features();
        return Err(invalid!("X has {q} features, but the centres have {found}"));
    }
    if centres.is_empty() {
        return Err(PyValueError::new_err("there are no centres"));
    }
    let data = match map {
        None => candidates.data.clone(),
        Some(map) => Arc::new(map.prepared(&candidates.data)?.data),
    };
    let work = move |_: &watch::Watch| {
        // With `means`, every object is at the mean of its candidates.
        let points = means.then(|| goc::Candidates::from_points(&data.candidates.means())).transpose()?;
        let sets = points.as_ref().unwrap_or(&data.candidates);
        Ok(Selector::new(sets, distance, penalty_weight).select(&centres).0.to_vec())
    };
    let choices = watch::run(py, threads, None, None, work)?;
    let choices = choices.map_err(|error: goc::candidates::CandidatesError| value_error(error))?;
    let candidate = whole(py, choices.iter().map(|c| i64::from(c.candidate)));
    let nearest = whole(py, choices.iter().map(|c| i64::from(c.centre)));
    let values: Vec<f64> = choices.iter().map(|c| c.value).collect();
    Ok((candidate, nearest, values.into_pyarray(py)))
}

/// For each of `k` clusters, the sum of its points, added in order, and their number.
#[pyfunction]
pub fn cluster_sums<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    labels: PyReadonlyArray1<'py, i64>,
    k: usize,
) -> PyResult<Sums<'py>> {
    let (n, q) = (points.shape()[0], points.shape()[1]);
    let (values, labels) = (points.as_slice()?, labels.as_slice()?);
    if labels.len() != n {
        return Err(invalid!("{} labels for {n} points", labels.len()));
    }
    let (mut sums, mut sizes) = (vec![0.0; k * q], vec![0_i64; k]);
    for (i, &label) in labels.iter().enumerate() {
        let Some(at) = usize::try_from(label).ok().filter(|&l| l < k) else {
            return Err(invalid!("row {i}: label {label} is not among {k} clusters"));
        };
        sizes[at] += 1;
        for (sum, value) in sums[at * q..][..q].iter_mut().zip(&values[i * q..]) {
            *sum += value;
        }
    }
    Ok((table(py, sums, q)?, sizes.into_pyarray(py)))
}

/// The oracle of `settings`, or `function`, on plain points; random draws from stream `key` of the seed.
#[pyfunction]
#[pyo3(signature = (points, settings, key=0, function=None, threads=None))]
pub fn oracle<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    settings: &Bound<'py, PyDict>,
    key: u64,
    function: Option<Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let points = self::points(&points)?;
    let Asked { settings, seed, .. } = Asked::of(settings)?;
    let (oracle, k) = (settings.oracle(), settings.wanted().map_err(refused)?);
    let named = function.is_none();
    let found = watch::run(py, threads, None, function.as_ref(), move |watch| {
        let watched = Watched::new(watch, named.then_some(oracle.as_ref()));
        watched.cluster(&points, Start::K(k), &mut stream(seed, key))
    })?;
    let partition = found.map_err(value_error)?;
    Ok(whole(py, partition.labels().iter().map(|&l| i64::from(l))))
}

/// A table of numbers as points.
pub fn points(array: &PyReadonlyArray2<'_, f64>) -> PyResult<Points> {
    let values: Vec<f64> = array.as_array().iter().copied().collect();
    Points::new(values, array.shape()[1]).map_err(value_error)
}
