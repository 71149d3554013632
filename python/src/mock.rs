//! A mock Milky Way (paper, Appendix A) as a catalogue: the columns that `goc simulate` writes.

use goc_galaxy::actions::{Actions, Outcome};
use goc_galaxy::frames::{Galactocentric, JphiSign, Sky, Sun};
use goc_galaxy::gaia_errors::ErrorModel;
use goc_galaxy::mock::{Mock, MockParams, MockStar, StarsPerDwarf};
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
    columns(py, &mock, &actions, sign)
}

fn columns<'py>(
    py: Python<'py>,
    mock: &Mock,
    actions: &[Outcome],
    sign: JphiSign,
) -> PyResult<Bound<'py, PyDict>> {
    let put = PyDict::new(py);
    let stars = &mock.stars;
    let whole = |value: &dyn Fn(usize) -> i64| (0..stars.len()).map(value).collect::<Vec<i64>>();
    let number = |name: &str, value: &dyn Fn(&MockStar) -> f64| {
        put.set_item(name, stars.iter().map(value).collect::<Vec<f64>>().into_pyarray(py))
    };
    let degrees = |star: &MockStar| star.measured.truth.to(Sky::Galactic).position.in_degrees();
    put.set_item("object", whole(&|i| i as i64).into_pyarray(py))?;
    number("l", &|s| degrees(s)[0])?;
    number("b", &|s| degrees(s)[1])?;
    number("parallax", &|s| s.measured.parallax)?;
    number("parallax_error", &|s| s.measured.errors.parallax)?;
    number("pml", &|s| s.measured.proper_motion[0])?;
    number("pml_error", &|s| s.measured.errors.galactic_proper_motion[0])?;
    number("pmb", &|s| s.measured.proper_motion[1])?;
    number("pmb_error", &|s| s.measured.errors.galactic_proper_motion[1])?;
    number("radial_velocity", &|s| s.measured.radial_velocity)?;
    number("radial_velocity_error", &|s| s.measured.radial_velocity_error)?;
    number("phot_g_mean_mag", &|s| s.measured.magnitude)?;
    put.set_item("truth", whole(&|i| stars[i].group as i64).into_pyarray(py))?;
    put.set_item("field", stars.iter().map(|s| s.field).collect::<Vec<bool>>().into_pyarray(py))?;
    number("true_parallax", &|s| s.measured.truth.distance.parallax())?;
    number("true_pml", &|s| s.measured.truth.proper_motion[0])?;
    number("true_pmb", &|s| s.measured.truth.proper_motion[1])?;
    number("true_radial_velocity", &|s| s.measured.truth.radial_velocity)?;
    for (c, name) in ["true_x", "true_y", "true_z"].into_iter().enumerate() {
        number(name, &|s| s.place.position[c])?;
    }
    for (c, name) in ["true_vx", "true_vy", "true_vz"].into_iter().enumerate() {
        number(name, &|s| s.place.velocity[c])?;
    }
    let truth = |name: &str, value: &dyn Fn(&Actions) -> f64| {
        let of = |outcome: &Outcome| outcome.bound().map_or(f64::NAN, |a| value(&a.with_sign(sign)));
        put.set_item(name, actions.iter().map(of).collect::<Vec<f64>>().into_pyarray(py))
    };
    truth("true_Jr", &|a| a.jr)?;
    truth("true_Jz", &|a| a.jz)?;
    truth("true_Jphi", &|a| a.jphi)?;
    truth("true_energy", &|a| a.energy)?;
    Ok(put)
}
