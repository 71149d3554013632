//! Scores of labels against the truth.

use goc::metrics::Scores;
use goc_pipeline::scores::apart;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::watch::value_error;

/// Every score of whole-number labels `predicted` against `truth`; -1, in no group, is a group of its own each time.
#[pyfunction]
pub fn scores(py: Python<'_>, predicted: Vec<i64>, truth: Vec<i64>) -> PyResult<Bound<'_, PyDict>> {
    let s = Scores::of(&apart(&predicted), &apart(&truth)).map_err(value_error)?;
    let put = PyDict::new(py);
    for (name, value) in [
        ("nmi", s.nmi),
        ("f", s.f),
        ("ari", s.ari),
        ("ami", s.ami),
        ("homogeneity", s.homogeneity),
        ("completeness", s.completeness),
        ("v_measure", s.v_measure),
        ("purity", s.purity),
    ] {
        put.set_item(name, value)?;
    }
    Ok(put)
}

/// The key of the random stream of an object with this name.
#[pyfunction]
pub fn key_of_text(text: &str) -> u64 {
    goc::random::key_of_text(text)
}
