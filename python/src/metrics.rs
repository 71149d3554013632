//! Scores of labels against the truth, and validation of groups by a column that was not used to
//! find them.

use goc::confidence::Tightness;
use goc::metrics::Scores;
use goc_pipeline::scores::{apart, by_name};
use goc_pipeline::validate::Validation;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::settings::refused;
use crate::watch::{self, value_error};

/// Every score of integer labels `predicted` against `truth`; each -1, in no group, is a group of
/// its own.
#[pyfunction]
pub fn scores(py: Python<'_>, predicted: Vec<i64>, truth: Vec<i64>) -> PyResult<Bound<'_, PyDict>> {
    let scores = Scores::of(&apart(&predicted), &apart(&truth)).map_err(value_error)?;
    by_name(&scores).into_py_dict(py)
}

/// Tests whether groups are tighter than chance in `values`: a dictionary with a list for each
/// column of the command's table, and the overall p-value.
#[pyfunction]
#[pyo3(signature = (labels, features, values, errors, draws, neighbours, seed, threads=None))]
#[allow(clippy::too_many_arguments)] // keywords in Python
pub fn validate(
    py: Python<'_>,
    labels: Vec<Option<i64>>,
    features: Vec<(String, Vec<f64>)>,
    values: Vec<f64>,
    errors: Vec<f64>,
    draws: usize,
    neighbours: usize,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<Bound<'_, PyDict>> {
    let how = Tightness { draws, neighbours };
    let work = move |_: &watch::Watch| Validation::judge(&labels, &features, &values, &errors, how, seed);
    let found = watch::run(py, threads, None, None, work)?.map_err(refused)?;
    let groups = &found.found.groups;
    let put = PyDict::new(py);
    put.set_item("labels", found.labels.clone())?;
    put.set_item("members", groups.iter().map(|g| g.members).collect::<Vec<_>>())?;
    put.set_item("n_values", groups.iter().map(|g| g.values).collect::<Vec<_>>())?;
    put.set_item("medians", groups.iter().map(|g| g.middle).collect::<Vec<_>>())?;
    put.set_item("scatter", groups.iter().map(|g| g.scatter).collect::<Vec<_>>())?;
    put.set_item("random", groups.iter().map(|g| g.random.to_vec()).collect::<Vec<_>>())?;
    put.set_item("p_values", groups.iter().map(|g| g.p_value).collect::<Vec<_>>())?;
    put.set_item("q_values", groups.iter().map(|g| g.q_value).collect::<Vec<_>>())?;
    put.set_item("p_value", found.found.p_value)?;
    Ok(put)
}

/// The key of the random stream of an object with this name.
#[pyfunction]
pub fn key_of_text(text: &str) -> u64 {
    goc::random::key_of_text(text)
}

/// One number per key; the objects with the smallest are a random sample that depends on their
/// names alone.
#[pyfunction]
pub fn lots<'py>(
    py: Python<'py>,
    seed: u64,
    keys: PyReadonlyArray1<'py, u64>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    Ok(goc::random::lots(seed, keys.as_slice()?).into_pyarray(py))
}
