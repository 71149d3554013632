//! Settings from Python: a dictionary by the library's own names, and the list of all settings.

use goc::scale::Scaling;
use goc_pipeline::settings::{Kind, LIST, Setting};
use goc_pipeline::{MethodName, PipelineError, Settings, Speech};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt};

/// The library's error about an invalid setting, in Python's wording.
pub fn refused(error: PipelineError) -> PyErr {
    PyValueError::new_err(error.said(Speech::Keywords))
}

/// The settings of a fit, with those that are not a word or a number: initial labels, object
/// weights and the seed.
#[derive(Clone, Debug)]
pub struct Asked {
    pub settings: Settings,
    pub seed: u64,
    pub sample_weight: Option<Vec<f64>>,
}

impl Asked {
    /// From a dictionary; None means the default.
    pub fn of(told: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut asked = Self { settings: Settings::default(), seed: 1, sample_weight: None };
        for (key, value) in told.iter() {
            let name: String = key.extract()?;
            match name.as_str() {
                "seed" => asked.seed = value.extract()?,
                "sample_weight" => asked.sample_weight = value.extract()?,
                "initial_labels" => asked.settings.initial_labels = value.extract()?,
                _ if value.is_none() => {}
                _ => asked.settings.set(&name, &text(&value)?).map_err(refused)?,
            }
        }
        Ok(asked)
    }
}

/// A value as the library reads it. Both languages write the fewest digits that identify a number.
fn text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(match value {
        _ if value.is_instance_of::<PyBool>() => value.extract::<bool>()?.to_string(),
        _ if value.is_instance_of::<PyInt>() => value.str()?.to_string(),
        _ if value.is_instance_of::<PyFloat>() => value.extract::<f64>()?.to_string(),
        _ => value.str()?.to_string(),
    })
}

/// Every setting: name, python, default (as `method` has it), help, kind, words.
#[pyfunction]
#[pyo3(signature = (method="goc"))]
pub fn settings<'py>(py: Python<'py>, method: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let method: MethodName = method.parse().map_err(crate::watch::value_error)?;
    let mut own = Settings::of(method);
    // Standard scaling depends on the data; see `Settings::scaling_of`.
    own.scale = Some(own.scaling()).filter(|scaling| *scaling != Scaling::Standard);
    own.feature_map = Some(own.map());
    LIST.iter().map(|setting| entry(py, setting, &own)).collect()
}

fn entry<'py>(py: Python<'py>, setting: &Setting, own: &Settings) -> PyResult<Bound<'py, PyDict>> {
    let put = PyDict::new(py);
    put.set_item("name", setting.name)?;
    put.set_item("python", setting.python)?;
    put.set_item("flag", setting.flag)?;
    put.set_item("help", Speech::Keywords.of(setting.help))?;
    let least = |least| if least > 0 { "count" } else { "whole" };
    let default = setting.get(own);
    let number = |text: String| text.parse::<f64>().ok();
    let whole = |text: String| text.parse::<usize>().ok();
    let (kind, words) = match (setting.kind)() {
        Kind::Words(words) => ("word", Some(words.iter().map(|(word, _)| *word).collect::<Vec<_>>())),
        Kind::Count => (least(setting.least), None),
        Kind::Real => ("number", None),
        Kind::Flag => ("flag", None),
        Kind::CountOrAuto => ("count or auto", None),
        Kind::RealOrAuto => ("number or auto", None),
        _ => ("text", None),
    };
    match (setting.kind)() {
        Kind::Count | Kind::CountOrAuto => put.set_item("default", default.and_then(whole))?,
        Kind::Real | Kind::RealOrAuto => put.set_item("default", default.and_then(number))?,
        Kind::Flag => put.set_item("default", default.as_deref() == Some("true"))?,
        _ => put.set_item("default", default)?,
    }
    put.set_item("kind", kind)?;
    put.set_item("words", words)?;
    Ok(put)
}
