//! The result of an estimator as a report page: its attributes in, one HTML file out.

use goc_report::page::{Feature, Page, PageError, Step};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::candidates::Candidates;
use crate::watch::value_error;

/// `told` holds what the page shows, by name. `ids`, `labels` (-1: in no group), `features` and
/// `title` are required; `probability`, `runner_up` (labels and probabilities), `truth`, `chosen`,
/// `together`, `history` and `facts` (headings with names and values) are optional.
#[pyfunction]
pub fn page(
    py: Python<'_>,
    told: &Bound<'_, PyDict>,
    places: PyReadonlyArray2<'_, f64>,
    candidates: Option<PyRef<'_, Candidates>>,
) -> PyResult<String> {
    let of = Told(told);
    let names: Vec<String> = of.need("features")?;
    let (values, q) = (places.as_slice()?, places.shape()[1]);
    let column = |f: usize| values.iter().skip(f).step_by(q.max(1)).copied().collect();
    let features =
        names.into_iter().enumerate().map(|(f, name)| Feature { name, unit: None, values: column(f) });
    let labels: Vec<i64> = of.need("labels")?;
    let page = Page::new(of.need("ids")?, clusters(&labels), features.collect()).map_err(value_error)?;
    let mut page = page.title(of.need::<String>("title")?);
    let told = |made: Result<Page, PageError>| made.map_err(value_error);
    if let Some(probability) = of.maybe("probability")? {
        page = told(page.probability(probability))?;
    }
    if let Some((labels, probability)) = of.maybe::<(Vec<i64>, Vec<f64>)>("runner_up")? {
        page = told(page.runner_up(clusters(&labels), probability))?;
    }
    if let Some(truth) = of.maybe("truth")? {
        page = told(page.truth(truth))?;
    }
    if let Some(candidates) = candidates {
        let chosen = of.maybe::<Vec<u32>>("chosen")?;
        page = told(page.candidates(candidates.data.candidates.clone(), chosen))?;
    }
    if let Some(pairs) = of.maybe::<Vec<(usize, usize, f64)>>("together")? {
        page = told(page.together(&pairs))?;
    }
    if let Some(steps) = of.maybe::<Vec<(u32, f64, u64)>>("history")? {
        let step = |(k, objective, changed)| Step { k, objective, changed };
        page = page.history(steps.into_iter().map(step).collect());
    }
    for (heading, facts) in of.maybe::<Vec<(String, Vec<(String, String)>)>>("facts")?.unwrap_or_default() {
        page = page.facts(heading, facts);
    }
    py.detach(|| page.html()).map_err(value_error)
}

/// What Python passed, by name.
struct Told<'a, 'py>(&'a Bound<'py, PyDict>);

impl<'py> Told<'_, 'py> {
    fn maybe<T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>>(&self, name: &str) -> PyResult<Option<T>> {
        let value = self.0.get_item(name)?.filter(|value| !value.is_none());
        value.map(|value| value.extract::<T>().map_err(Into::into)).transpose()
    }

    fn need<T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>>(&self, name: &str) -> PyResult<T> {
        let missing = || pyo3::exceptions::PyKeyError::new_err(name.to_string());
        self.maybe(name)?.ok_or_else(missing)
    }
}

fn clusters(labels: &[i64]) -> Vec<Option<u32>> {
    labels.iter().map(|&label| u32::try_from(label).ok()).collect()
}
