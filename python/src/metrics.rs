//! Scores of labels against the truth.

use goc::metrics::Scores;
use goc_pipeline::scores::{apart, by_name};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::watch::value_error;

/// Every score of whole-number labels `predicted` against `truth`; -1, in no group, is a group of its own each time.
#[pyfunction]
pub fn scores(py: Python<'_>, predicted: Vec<i64>, truth: Vec<i64>) -> PyResult<Bound<'_, PyDict>> {
    let scores = Scores::of(&apart(&predicted), &apart(&truth)).map_err(value_error)?;
    by_name(&scores).into_py_dict(py)
}

/// The key of the random stream of an object with this name.
#[pyfunction]
pub fn key_of_text(text: &str) -> u64 {
    goc::random::key_of_text(text)
}
