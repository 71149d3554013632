//! Star catalogues: Python's tables read by the library's schema, sampled and turned into actions
//! by its driver.

use std::sync::Arc;

use goc::Ids;
use goc::choice::Choice;
use goc_galaxy::actions::Variant;
use goc_galaxy::catalogue::DistancePrior;
use goc_galaxy::catalogue::schema::{Columns, Depth, Form, Quantity, RowNames, StarColumns};
use goc_galaxy::frames::Sky;
use goc_galaxy::spaces::{Needs, Space, SpaceModel};
use goc_pipeline::{
    BadRows, Inflation, MeasuredColumns, PipelineError, QuotedErrors, Sampling, Shape, StarModel, WhenEmpty,
    WithColumn,
};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::candidates::{Candidates, table};
use crate::fit::whole;
use crate::galaxy::{ActionFinder, Potential, parsed};
use crate::sets::size_of;
use crate::settings::refused;
use crate::watch::{self, Said};

/// A Python table, `goc._tables.Table`, with the names of its rows.
struct PyColumns<'py> {
    table: Bound<'py, PyAny>,
    names: Vec<String>,
    ids: Ids,
}

impl<'py> PyColumns<'py> {
    fn new(table: Bound<'py, PyAny>, ids: Ids) -> PyResult<Self> {
        let names = table.getattr("names")?.extract()?;
        Ok(Self { table, names, ids })
    }
}

impl Columns for PyColumns<'_> {
    type Error = PipelineError;

    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn require(&self, name: &str) -> Result<(), PipelineError> {
        match self.names.iter().any(|own| own == name) {
            true => Ok(()),
            false => Err(PipelineError::Failed(format!(
                "no column `{name}`; the table has {}",
                self.names.join(", ")
            ))),
        }
    }

    fn unit(&self, name: &str) -> Option<String> {
        self.table.call_method1("unit", (name,)).ok()?.extract().ok()?
    }

    fn numbers(&self, name: &str) -> Result<Vec<f64>, PipelineError> {
        let read = || -> PyResult<Vec<f64>> {
            let array: PyReadonlyArray1<'_, f64> = self.table.call_method1("numbers", (name,))?.extract()?;
            Ok(array.as_array().iter().copied().collect())
        };
        read().map_err(|error| PipelineError::Failed(error.value(self.table.py()).to_string()))
    }

    /// The number as Python prints it.
    fn text(&self, _: &str, _: usize, number: f64) -> String {
        if number.is_nan() { "nan".into() } else { format!("{number:?}") }
    }

    fn complaint(&self, name: &str, row: usize, number: f64, problem: &str) -> String {
        let object = goc_pipeline::measured::name(&self.ids, row);
        format!("row {row}, object {object}, column `{name}`: {} {problem}", self.text(name, row, number))
    }

    fn rows(&self) -> RowNames {
        RowNames::default() // Python counts from 0
    }
}

/// The factors for errors: one for all columns, or one for each of some columns.
#[derive(Clone, Debug, FromPyObject)]
enum Factors {
    All(f64),
    Of(Vec<(String, f64)>),
}

/// How a catalogue is read and sampled; the words are the command's.
#[derive(Clone, Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Wanted {
    columns: Vec<(String, String)>,
    errors: Option<Vec<String>>,
    inflate: Factors,
    error_floor: Vec<(String, f64)>,
    missing: Option<f64>,
    drop_nan: bool,
    missing_rv: Option<String>,
    with: Vec<String>,
    bad_rows: String,
    shape: Option<String>,
    size: (String, f64),
    sampler: String,
    draws: usize,
    distance_prior: Option<String>,
    penalty: String,
    space: String,
    when_empty: String,
    potential: String,
    variant: String,
    sun: String,
    jphi: String,
    angles: String,
    zero_point: f64,
    seed: u64,
}

impl Wanted {
    fn model(&self) -> PyResult<StarModel> {
        Ok(StarModel {
            other_names: other_names(&self.columns)?,
            angles: parsed("angles", &self.angles)?,
            sun: parsed("sun", &self.sun)?,
            potential: self.potential.clone(),
            variant: parsed("variant", &self.variant)?,
            jphi: parsed("jphi", &self.jphi)?,
            zero_point: self.zero_point,
        })
    }

    fn quoted(&self) -> PyResult<QuotedErrors> {
        let inflation = match &self.inflate {
            Factors::All(factor) => Inflation::All(*factor),
            Factors::Of(factors) => Inflation::Of(factors.clone()),
        };
        QuotedErrors::new(inflation, self.error_floor.clone()).map_err(refused)
    }

    fn with(&self) -> PyResult<Vec<WithColumn>> {
        self.with.iter().map(|column| parsed("with_", column)).collect()
    }

    fn sampling(&self) -> PyResult<Sampling> {
        let shape = self.shape.as_deref().map(|shape| parsed::<Shape>("shape", shape));
        let prior = self.distance_prior.as_deref();
        let prior = prior.map(|prior| parsed::<DistancePrior>("distance_prior", prior));
        Ok(Sampling {
            shape: shape.transpose()?,
            size: size_of(&self.size.0, self.size.1)?,
            draws: self.draws,
            sampler: parsed("sampler", &self.sampler)?,
            distance_prior: prior.transpose()?,
            transform: None,
            space: Some(parsed::<Space>("space", &self.space)?),
            penalty: parsed("penalty", &self.penalty)?,
            when_empty: Some(parsed::<WhenEmpty>("on_empty", &self.when_empty)?),
            extras: true,
        })
    }
}

fn other_names(columns: &[(String, String)]) -> PyResult<Vec<(Quantity, String)>> {
    let each = |(name, column): &(String, String)| Ok((parsed::<Quantity>("columns", name)?, column.clone()));
    columns.iter().map(each).collect()
}

/// Ids as integers, as text, or as positions.
fn ids_of(ids: Option<&Bound<'_, PyAny>>) -> PyResult<Ids> {
    let Some(ids) = ids else { return Ok(Ids::Position) };
    if let Ok(whole) = ids.extract::<PyReadonlyArray1<'_, i64>>() {
        return Ok(Ids::Integer(whole.as_array().iter().copied().collect()));
    }
    Ok(Ids::Text(ids.extract()?))
}

/// What `galaxy.from_gaia` must provide for each space: an action finder, a potential, or nothing.
#[pyfunction]
pub fn star_spaces(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let needs = PyDict::new(py);
    for (space, word, _) in Space::ALL {
        needs.set_item(
            *word,
            match space.needs() {
                Needs::Nothing => None,
                Needs::Potential => Some("potential"),
                Needs::Finder => Some("finder"),
            },
        )?;
    }
    Ok(needs)
}

/// A space with what Python provides for it.
fn space_model(space: Space, galaxy: &Bound<'_, PyAny>, variant: Variant) -> PyResult<SpaceModel> {
    let potential = || Ok::<_, PyErr>(galaxy.cast::<Potential>()?.get().built(variant));
    let finder = || Ok(galaxy.cast::<ActionFinder>()?.get().finder.clone());
    SpaceModel::of(space, potential, finder)
}

/// Candidates of a star catalogue, `model` being what its space needs ([`star_spaces`]): a
/// dictionary with the candidates, the extra values, the row of each object, the dropped rows, the
/// stars that lost points, and the messages.
#[pyfunction]
#[pyo3(signature = (stars, ids, model, wanted, threads=None, progress=None))]
pub fn star_candidates<'py>(
    py: Python<'py>,
    stars: Bound<'py, PyAny>,
    ids: Option<Bound<'py, PyAny>>,
    model: Bound<'py, PyAny>,
    wanted: Wanted,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (galaxy, (model, sampling)) = (model, (wanted.model()?, wanted.sampling()?));
    let space = sampling.star_space().map_err(refused)?.unwrap_or_default();
    let space = space_model(space, &galaxy, model.variant)?;
    let bad_rows = parsed::<BadRows>("on_bad", &wanted.bad_rows)?;
    let ids = ids_of(ids.as_ref())?;
    let columns = PyColumns::new(stars, ids.clone())?;
    let heard = Said::default();
    let found = model.require_observed(&columns, &heard).map_err(refused)?;
    let reading = MeasuredColumns {
        values: None,
        errors: wanted.errors.as_deref(),
        object: None,
        missing: &|number| wanted.missing == Some(number) || (wanted.drop_nan && number.is_nan()),
        bad_rows,
        quoted: &wanted.quoted()?,
        missing_rv: wanted.missing_rv.as_deref().map(|rule| parsed("missing_rv", rule)).transpose()?,
        with: &wanted.with()?,
    };
    let measured = reading.measure(&columns, ids, Some((&found, model.angles)), sampling.shape, &heard);
    let measured = measured.map_err(refused)?;
    drop(columns);
    let f = model.transformation(&found, space, sampling.distance_prior).map_err(refused)?;
    let work = move |watch: &watch::Watch| -> Result<_, PipelineError> {
        let made = sampling.sample(&measured, &f, wanted.seed, watch)?;
        Ok((made, watch.said()))
    };
    let ((mut data, origin), said) =
        watch::run(py, threads, progress.as_ref(), None, work)?.map_err(refused)?;
    let put = PyDict::new(py);
    let extras = PyDict::new(py);
    for extra in std::mem::take(&mut data.extras) {
        extras.set_item(extra.feature.name, extra.values.into_pyarray(py))?;
    }
    put.set_item("extras", extras)?;
    put.set_item("metadata", data.provenance.clone())?;
    put.set_item("features", data.feature_names())?;
    put.set_item("candidates", Candidates { data: Arc::new(data) })?;
    put.set_item("rows", whole(py, origin.rows.iter().map(|&row| row as i64)))?;
    put.set_item("dropped", origin.dropped)?;
    let losses = origin.losses.iter().map(|l| (l.row, l.drawn, l.kept, l.reasons.to_string()));
    put.set_item("losses", losses.collect::<Vec<_>>())?;
    put.set_item("said", [heard.all(), said].concat())?;
    Ok(put)
}

/// Numbers, form and depth of stars.
type Rows<'py> = (Bound<'py, PyArray2<f64>>, &'static str, Option<&'static str>);

/// The six numbers of every star in the required units (n, 6), the form (icrs, galactic or
/// galactocentric) and the kind of the third number (parallax, distance or distance_modulus).
#[pyfunction]
pub fn star_rows<'py>(
    py: Python<'py>,
    stars: Bound<'py, PyAny>,
    columns: Vec<(String, String)>,
    angles: &str,
) -> PyResult<Rows<'py>> {
    let model = StarModel {
        other_names: other_names(&columns)?,
        angles: parsed("angles", angles)?,
        ..StarModel::default()
    };
    let columns = PyColumns::new(stars, Ids::Position)?;
    let found: StarColumns = model.require(&columns, &goc_pipeline::Unwatched).map_err(refused)?;
    let rows =
        found.read(&columns, model.angles).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let values = (0..rows.len()).flat_map(|row| rows.star(row)).collect();
    let (form, depth) = match found.form {
        Form::Observed(sky, depth) => (if sky == Sky::Icrs { "icrs" } else { "galactic" }, Some(depth)),
        Form::Galactocentric => ("galactocentric", None),
    };
    Ok((table(py, values, 6)?, form, depth.map(|depth: Depth| depth.quantity().name())))
}

/// The usual names of each quantity of a star.
#[pyfunction]
pub fn star_names(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let names = PyDict::new(py);
    for quantity in Quantity::ALL {
        names.set_item(quantity.name(), quantity.names().to_vec())?;
    }
    Ok(names)
}
