//! A mock Milky Way (paper, Appendix A) as a catalogue: the columns that `goc simulate` writes.

use goc_galaxy::frames::{Galactocentric, JphiSign, Sun};
use goc_galaxy::gaia_errors::ErrorModel;
use goc_galaxy::mock::{MockParams, StarsPerDwarf};
use goc_pipeline::mock_catalogue::{MockColumn, MockValues, mock_columns};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::galaxy::{ActionFinder, parsed};
use crate::watch::{self, value_error};

/// What is simulated.
#[derive(Clone, Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Wanted {
    dwarfs: usize,
    /// None: 1 to 10 in turn.
    stars: Option<Vec<usize>>,
    field: usize,
    dispersion: f64,
    speed: f64,
    age: f64,
    reach: f64,
    latitude: f64,
    magnitudes: [f64; 2],
    errors: String,
    most: usize,
    full: bool,
    accuracy: Option<f64>,
    sun: String,
    jphi: String,
    seed: u64,
}

/// Simulates; a dictionary of columns, a row a star.
#[pyfunction]
#[pyo3(signature = (wanted, finder, threads=None, progress=None))]
pub fn simulate<'py>(
    py: Python<'py>,
    wanted: Wanted,
    finder: &ActionFinder,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let sign = parsed::<JphiSign>("jphi", &wanted.jphi)?;
    let params = MockParams {
        dwarfs: wanted.dwarfs,
        stars: match wanted.stars.as_deref() {
            None | Some([]) => StarsPerDwarf::OneToTen,
            Some([n]) => StarsPerDwarf::Each(*n),
            Some(list) => StarsPerDwarf::List(list.to_vec()),
        },
        field: wanted.field,
        dispersion: wanted.dispersion,
        speed: wanted.speed,
        age: wanted.age,
        reach: wanted.reach,
        latitude: wanted.latitude,
        magnitudes: wanted.magnitudes,
        errors: parsed::<ErrorModel>("errors", &wanted.errors)?,
        most: wanted.most,
        full: wanted.full,
        accuracy: wanted.accuracy.unwrap_or(MockParams::default().accuracy),
        sun: parsed::<Sun>("sun", &wanted.sun)?,
        ..MockParams::default()
    };
    let valid = params.check().map_err(value_error)?;
    let (finder, seed) = (finder.finder.clone(), wanted.seed);
    let (mock, actions) = watch::run(py, threads, progress.as_ref(), None, move |watch| {
        let mock = valid.draw(finder.potential().as_ref(), seed, &|done| watch.set(done))?;
        let places: Vec<Galactocentric> = mock.stars.iter().map(|star| star.place).collect();
        let actions = finder.many(&places);
        Ok((mock, actions))
    })?
    .map_err(|error: goc_galaxy::mock::MockError| value_error(error))?;
    let put = PyDict::new(py);
    for MockColumn { name, values, .. } in mock_columns(&mock, &actions, sign) {
        match values {
            MockValues::Integers(values) => put.set_item(name, values.into_pyarray(py))?,
            MockValues::Numbers(values) | MockValues::Optional(values) => {
                put.set_item(name, values.into_pyarray(py))?;
            }
            MockValues::Flags(values) => put.set_item(name, values.into_pyarray(py))?,
        }
    }
    Ok(put)
}
