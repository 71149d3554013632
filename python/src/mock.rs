//! A mock Milky Way as a catalogue: the columns that `goc simulate` writes.

use goc_galaxy::frames::{JphiSign, Sun};
use goc_galaxy::gaia_errors::ErrorModel;
use goc_galaxy::mock::{MockParams, StarsPerDwarf};
use goc_pipeline::mock_catalogue::{MockColumn, MockSky, MockValues, Simulation};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::galaxy::{ActionFinder, parsed};
use crate::watch::{self, value_error};

/// The parameters of the simulation.
#[derive(Clone, Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Wanted {
    sky: String,
    dwarfs: usize,
    /// None: 1 to 10 in turn; of the realistic sky: all stars.
    stars: Option<Vec<usize>>,
    /// None: the realistic sky's own.
    without_velocity: Option<f64>,
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

/// Simulates; a dictionary of columns, one row per star.
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
    let sky = parsed::<MockSky>("sky", &wanted.sky)?;
    let simulation = Simulation::new(sky, params, wanted.without_velocity).map_err(value_error)?;
    let (finder, seed) = (finder.finder.clone(), wanted.seed);
    let mock = watch::run(py, threads, progress.as_ref(), None, move |watch| {
        simulation.draw(&finder, sign, seed, &|done| watch.set(done))
    })?
    .map_err(value_error)?;
    let put = PyDict::new(py);
    for MockColumn { name, values, .. } in mock.columns {
        match values {
            MockValues::Integers(values) => put.set_item(name, values.into_pyarray(py))?,
            MockValues::Numbers(values) | MockValues::Optional(values) => {
                put.set_item(name, values.into_pyarray(py))?;
            }
            MockValues::Flags(values) => put.set_item(name, values.into_pyarray(py))?,
            MockValues::Words(values) => {
                put.set_item(name, py.import("numpy")?.call_method1("array", (values,))?)?;
            }
        }
    }
    Ok(put)
}
