//! The Milky Way: frames, potentials, actions, orbits. Rows are (x, y, z, vx, vy, vz) in kpc and
//! km/s, or the values of a catalogue.

use std::sync::Arc;

use goc_galaxy::actions::Variant;
use goc_galaxy::catalogue::{Angles, Catalogue, DistanceMeasure};
use goc_galaxy::frames::{Galactocentric, JphiSign, Sky, Sun};
use goc_galaxy::orbit::Integrator;
use goc_galaxy::potential::{MWPotential2014, McMillan17, Potential as _, ini};
use goc_galaxy::units::GYR_PER_TIME;
use goc_pipeline::star_model::told_actions;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::candidates::table;
use crate::watch::{self, value_error};

/// Parses a word that selects an option.
pub fn parsed<T: std::str::FromStr>(what: &str, given: &str) -> PyResult<T>
where
    T::Err: std::fmt::Display,
{
    given.parse().map_err(|error| invalid!("{what}='{given}': {error}"))
}

/// Rows of six numbers.
fn stars_of(rows: &PyReadonlyArray2<'_, f64>) -> PyResult<Vec<[f64; 6]>> {
    if rows.shape()[1] != 6 {
        return Err(invalid!("a star has 6 numbers, not {}", rows.shape()[1]));
    }
    let star = |row: numpy::ndarray::ArrayView1<'_, f64>| std::array::from_fn(|c| row[c]);
    Ok(rows.as_array().rows().into_iter().map(star).collect())
}

/// Rows of six numbers as positions.
fn places_of(rows: &PyReadonlyArray2<'_, f64>) -> PyResult<Vec<Galactocentric>> {
    Ok(stars_of(rows)?.into_iter().map(place).collect())
}

fn place([x, y, z, vx, vy, vz]: [f64; 6]) -> Galactocentric {
    Galactocentric { position: [x, y, z], velocity: [vx, vy, vz] }
}

fn row(place: &Galactocentric) -> impl Iterator<Item = f64> {
    place.position.into_iter().chain(place.velocity)
}

/// How a catalogue's rows become positions.
pub fn catalogue_of(sky: &str, far: &str, offset: f64, angles: &str, sun: &str) -> PyResult<Catalogue> {
    let far = match far {
        "parallax" => DistanceMeasure::Parallax { offset },
        "distance" => DistanceMeasure::Distance,
        "distance_modulus" => DistanceMeasure::Modulus,
        other => return Err(invalid!("depth by '{other}' is not known")),
    };
    let catalogue = Catalogue::new(sky_of(sky)?, far, parsed::<Sun>("sun", sun)?).map_err(value_error)?;
    Ok(catalogue.angles(parsed::<Angles>("angles", angles)?))
}

fn sky_of(sky: &str) -> PyResult<Sky> {
    match sky {
        "icrs" => Ok(Sky::Icrs),
        "galactic" => Ok(Sky::Galactic),
        other => Err(invalid!("sky='{other}' is not known; give icrs or galactic")),
    }
}

/// An axisymmetric potential.
#[pyclass(frozen, module = "goc._goc")]
pub struct Potential {
    potential: Arc<dyn goc_galaxy::potential::Potential>,
    /// Whether this is McMillan's Milky Way, which is built as an action finder's variant requires.
    milky_way: bool,
}

#[pymethods]
impl Potential {
    /// `mcmillan17`, `mwpotential2014`, or the text of an ini file.
    #[new]
    #[pyo3(signature = (name, text=None))]
    fn new(name: &str, text: Option<&str>) -> PyResult<Self> {
        let plain = |potential| Self { potential, milky_way: false };
        Ok(match (name, text) {
            ("mcmillan17", _) => {
                let potential = McMillan17::new(Variant::Converged.build());
                Self { potential: Arc::new(potential), milky_way: true }
            }
            ("mwpotential2014", _) => plain(Arc::new(MWPotential2014::new())),
            ("ini", Some(text)) => plain(Arc::new(ini::parse(text).map_err(value_error)?)),
            (other, _) => {
                return Err(invalid!(
                    "potential '{other}' is not known; give mcmillan17, mwpotential2014 or a file that ends in .ini"
                ));
            }
        })
    }

    /// At points (n, 3) in kpc: potential ((km/s)^2), acceleration (3 columns, (km/s)^2/kpc) and
    /// density (Msun/kpc^3).
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        if points.shape()[1] != 3 {
            return Err(PyValueError::new_err("points need three coordinates, x, y, z"));
        }
        let mut values = Vec::with_capacity(points.shape()[0] * 5);
        for point in points.as_array().rows() {
            let (x, y, z) = (point[0], point[1], point[2]);
            let r = x.hypot(y);
            let gradient = self.potential.gradient(r, z);
            let slope = if r > 0.0 { gradient.d_r / r } else { 0.0 };
            values.extend([
                gradient.phi,
                -slope * x,
                -slope * y,
                -gradient.d_z,
                self.potential.density(r, z),
            ]);
        }
        table(py, values, 5)
    }

    /// Circular speed at these radii (kpc), km/s.
    fn circular_velocity<'py>(
        &self,
        py: Python<'py>,
        radii: PyReadonlyArray1<'py, f64>,
    ) -> Bound<'py, PyArray1<f64>> {
        let speeds: Vec<f64> =
            radii.as_array().iter().map(|&r| self.potential.circular_velocity(r)).collect();
        speeds.into_pyarray(py)
    }
}

impl Potential {
    /// The potential as a variant of the actions requires it.
    pub fn built(&self, variant: Variant) -> Arc<dyn goc_galaxy::potential::Potential> {
        match self.milky_way && variant != Variant::Converged {
            true => Arc::new(McMillan17::new(variant.build())),
            false => self.potential.clone(),
        }
    }
}

/// Computes actions in one potential.
#[pyclass(frozen, module = "goc._goc")]
pub struct ActionFinder {
    pub finder: Arc<goc_galaxy::actions::ActionFinder>,
}

type Found<'py> = (Bound<'py, PyArray2<f64>>, Vec<String>);

#[pymethods]
impl ActionFinder {
    #[new]
    fn new(py: Python<'_>, potential: &Potential, variant: &str) -> PyResult<Self> {
        let variant = parsed::<Variant>("variant", variant)?;
        let (milky_way, potential) = (potential.milky_way, potential.potential.clone());
        let finder = py.detach(|| match milky_way {
            true => goc_galaxy::actions::ActionFinder::milky_way(variant),
            false => goc_galaxy::actions::ActionFinder::new(potential, variant),
        });
        Ok(Self { finder: Arc::new(finder.map_err(value_error)?) })
    }

    /// (Jr, Jz, Jphi, energy) of stars (n, 6), NaN where undefined, and why.
    #[pyo3(signature = (stars, jphi="paper", threads=None))]
    fn actions<'py>(
        &self,
        py: Python<'py>,
        stars: PyReadonlyArray2<'py, f64>,
        jphi: &str,
        threads: Option<usize>,
    ) -> PyResult<Found<'py>> {
        let stars = places_of(&stars)?;
        let (sign, finder) = (parsed::<JphiSign>("jphi", jphi)?, self.finder.clone());
        let found = watch::run(py, threads, None, None, move |watch| {
            let mut found = Vec::with_capacity(stars.len());
            for part in stars.chunks(PART) {
                found.extend(finder.many(part));
                watch.tick();
            }
            found
        })?;
        let told: (Vec<[f64; 4]>, Vec<String>) = found.iter().map(|found| told_actions(found, sign)).unzip();
        Ok((table(py, told.0.concat(), 4)?, told.1))
    }

    /// Angles (rad) and frequencies (rad/Gyr) in the order r, z, phi: (n, 6), NaN where undefined.
    #[pyo3(signature = (stars, jphi="paper", threads=None))]
    fn angles<'py>(
        &self,
        py: Python<'py>,
        stars: PyReadonlyArray2<'py, f64>,
        jphi: &str,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let stars = places_of(&stars)?;
        let (sign, finder) = (parsed::<JphiSign>("jphi", jphi)?, self.finder.clone());
        let rows = watch::run(py, threads, None, None, move |watch| {
            let one = |star: &Galactocentric| {
                watch.check();
                let Some(motion) = finder.with_angles(star).bound() else { return [f64::NAN; 6] };
                let turn = |c: usize| if c == 2 { sign.of(1.0) } else { 1.0 };
                std::array::from_fn(|c| match c {
                    0..3 => (turn(c) * motion.angles[c]).rem_euclid(std::f64::consts::TAU),
                    _ => turn(c - 3) * motion.frequencies[c - 3] / GYR_PER_TIME,
                })
            };
            stars.par_iter().map(one).collect::<Vec<[f64; 6]>>()
        })?;
        table(py, rows.into_iter().flatten().collect(), 6)
    }
}

/// Number of stars between two checks of the clock.
const PART: usize = 4096;

/// Rows of a catalogue (longitude, latitude, depth, two proper motions, radial velocity) as
/// Galactocentric positions and velocities; NaN and a reason where there is no position.
#[pyfunction]
pub fn to_galactocentric<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, f64>,
    sky: &str,
    far: &str,
    offset: f64,
    angles: &str,
    sun: &str,
) -> PyResult<Found<'py>> {
    let catalogue = catalogue_of(sky, far, offset, angles, sun)?;
    let stars = stars_of(&rows)?;
    let mut values = Vec::with_capacity(stars.len() * 6);
    let mut notes = Vec::with_capacity(stars.len());
    for star in stars {
        let found = match star.iter().all(|v| v.is_finite()) {
            true => catalogue.places(&star)[0].map_err(|reason| reason.to_string()),
            false => Err("a number is missing or not finite".to_string()),
        };
        match found {
            Ok(place) => {
                values.extend(row(&place));
                notes.push(String::new());
            }
            Err(reason) => {
                values.extend([f64::NAN; 6]);
                notes.push(reason);
            }
        }
    }
    Ok((table(py, values, 6)?, notes))
}

/// Observables of Galactocentric positions and velocities: longitude, latitude (degrees), distance
/// (kpc), proper motions (mas/yr), radial velocity.
#[pyfunction]
pub fn from_galactocentric<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, f64>,
    sky: &str,
    sun: &str,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (sky, sun) = (sky_of(sky)?, parsed::<Sun>("sun", sun)?);
    let mut values = Vec::with_capacity(rows.shape()[0] * 6);
    for (i, star) in stars_of(&rows)?.into_iter().enumerate() {
        let seen = sun.observe(&place(star), sky).map_err(|error| invalid!("row {i}: {error}"))?;
        values.extend(seen.position.in_degrees());
        values.push(seen.distance.kpc());
        values.extend(seen.proper_motion);
        values.push(seen.radial_velocity);
    }
    table(py, values, 6)
}

/// States (n * times, 6) of stars (n, 6) at times (Gyr, in any order, 0 is now).
#[pyfunction]
#[pyo3(signature = (potential, stars, times, accuracy=1e-8, threads=None, progress=None))]
pub fn orbits<'py>(
    py: Python<'py>,
    potential: &Potential,
    stars: PyReadonlyArray2<'py, f64>,
    times: Vec<f64>,
    accuracy: f64,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let stars = places_of(&stars)?;
    let integrator = Integrator::new(accuracy).map_err(value_error)?;
    let times: Vec<f64> = times.into_iter().map(|gyr| gyr / GYR_PER_TIME).collect();
    let potential = potential.potential.clone();
    let states = watch::run(py, threads, progress.as_ref(), None, move |watch| {
        let one = |(i, star): (usize, &Galactocentric)| {
            watch.check();
            let states = integrator.trajectory(potential.as_ref(), star, &times);
            watch.tick();
            states.map_err(|error| format!("star {i}: {error}"))
        };
        stars.par_iter().enumerate().map(one).collect::<Result<Vec<_>, String>>()
    })?
    .map_err(value_error)?;
    table(py, states.iter().flatten().flat_map(row).collect(), 6)
}
