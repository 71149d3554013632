//! Uncertainty sets: measured values with errors, one set per object, sampled from the object's own
//! random stream.

use std::sync::Arc;

use goc::random::stream;
use goc::uncertainty::{Covariance, Object, Sampler, SetError, Size, UncertaintySet};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::candidates::table;
use crate::watch;

/// The uncertainty sets of many objects.
#[pyclass(frozen, module = "goc._goc")]
pub struct Sets {
    objects: Arc<Vec<Object>>,
    dimension: usize,
}

/// A size by its kind.
pub fn size_of(kind: &str, value: f64) -> PyResult<Size> {
    match kind {
        "sigmas" => Size::sigmas(value),
        "eta" => Size::eta(value),
        "radius" => Size::radius(value),
        other => return Err(invalid!("size by '{other}' is not known")),
    }
    .map_err(watch::value_error)
}

/// A sampler by its name; `coordinate` is that of a grid.
pub fn sampler_of(name: &str, coordinate: usize) -> PyResult<Sampler> {
    match name {
        "uniform" => Ok(Sampler::Uniform),
        "sobol" => Ok(Sampler::Sobol),
        "density" => Ok(Sampler::Density),
        "tails" => Ok(Sampler::Tails),
        "grid" => Ok(Sampler::Grid { coordinate }),
        other => Err(invalid!("sampler='{other}' is not known; give uniform, sobol, density, tails or grid")),
    }
}

/// An error of one object's set, with its row.
pub fn at_row(row: usize, error: SetError) -> PyErr {
    invalid!("object {row}: {error}")
}

/// The error that there are more numbers than memory can hold.
pub fn too_many(objects: usize, draws: usize) -> PyErr {
    invalid!("{draws} points of {objects} objects do not fit into memory; draw fewer")
}

#[pymethods]
impl Sets {
    /// `shape` box, l1, ball or ellipsoid; `spread` has d errors per row, one for a ball, or a d x
    /// d covariance for an ellipsoid.
    #[new]
    fn new(
        shape: &str,
        centre: PyReadonlyArray2<'_, f64>,
        spread: PyReadonlyArray2<'_, f64>,
        size: (String, f64),
        keys: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<Self> {
        let (n, d) = (centre.shape()[0], centre.shape()[1]);
        let (wide, keys) = (spread.shape()[1], keys.as_slice()?);
        let wanted = match shape {
            "ball" => 1,
            "ellipsoid" => d * d,
            _ => d,
        };
        if spread.shape()[0] != n || keys.len() != n || wide != wanted {
            return Err(invalid!(
                "errors of shape ({}, {wide}) and {} keys do not fit {n} objects of {d} values",
                spread.shape()[0],
                keys.len()
            ));
        }
        let size = size_of(&size.0, size.1)?;
        let (centres, spreads) = (centre.as_slice()?, spread.as_slice()?);
        let mut objects = Vec::with_capacity(n);
        for i in 0..n {
            let (value, own) = (&centres[i * d..][..d], &spreads[i * wide..][..wide]);
            let set = match shape {
                "box" => UncertaintySet::cuboid(value, own, size),
                "l1" => UncertaintySet::l1_ball(value, own, size),
                "ball" => UncertaintySet::ball(value, own[0], size),
                "ellipsoid" => {
                    Covariance::new(own, d).and_then(|own| UncertaintySet::ellipsoid(value, own, size))
                }
                other => return Err(invalid!("shape '{other}' is not known")),
            };
            objects.push(Object::new(keys[i], set.map_err(|error| at_row(i, error))?));
        }
        Ok(Self { objects: Arc::new(objects), dimension: d })
    }

    fn __len__(&self) -> usize {
        self.objects.len()
    }

    #[getter]
    fn dimension(&self) -> usize {
        self.dimension
    }

    /// `m` points for each of the objects `first..last`, ordered by object: (objects * m, d).
    #[pyo3(signature = (m, sampler, coordinate, seed, first, last, threads=None))]
    #[allow(clippy::too_many_arguments)] // keywords in Python
    fn sample<'py>(
        &self,
        py: Python<'py>,
        m: usize,
        sampler: &str,
        coordinate: usize,
        seed: u64,
        first: usize,
        last: usize,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (objects, d) = (self.objects.clone(), self.dimension);
        if m == 0 || first > last || last > objects.len() {
            return Err(PyValueError::new_err("at least one point must be drawn of objects there are"));
        }
        let sampler = sampler_of(sampler, coordinate)?;
        let room = (last - first).checked_mul(m).and_then(|rows| rows.checked_mul(d));
        let mut values: Vec<f64> = Vec::new();
        room.and_then(|room| values.try_reserve_exact(room).ok()).ok_or_else(|| too_many(last - first, m))?;
        let values = watch::run(py, threads, None, None, move |watch| {
            let each = |object: &Object| -> Result<Vec<f64>, SetError> {
                watch.check();
                let mut own = stream(seed, object.key());
                Ok(sampler.points(object.set(), m, &mut own)?.values().to_vec())
            };
            let drawn = objects[first..last].par_iter().map(each).collect::<Result<Vec<_>, _>>()?;
            for own in drawn {
                values.extend_from_slice(&own);
            }
            Ok(values)
        })?
        .map_err(|error: SetError| invalid!("sampler: {error}"))?;
        table(py, values, d)
    }

    /// Minus log density of the errors at each point, relative to the measured values; `points` as
    /// returned by [`Self::sample`].
    #[pyo3(signature = (points, m, first, coordinates=None))]
    fn surprise<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
        m: usize,
        first: usize,
        coordinates: Option<Vec<usize>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let d = self.dimension;
        let rows = points.shape()[0];
        if points.shape()[1] != d
            || m == 0
            || !rows.is_multiple_of(m)
            || first + rows / m > self.objects.len()
        {
            return Err(invalid!("{rows} points do not fit the objects"));
        }
        let values = points.as_slice()?;
        let mut surprises = Vec::with_capacity(rows);
        for (o, own) in values.chunks_exact(m * d).enumerate() {
            let set = self.objects[first + o].set();
            match &coordinates {
                None => surprises.extend(own.chunks_exact(d).map(|z| set.surprise(z))),
                Some(some) => {
                    let part = set.marginal(some).map_err(|error| at_row(first + o, error))?;
                    let of = |z: &[f64]| part.surprise(&some.iter().map(|&c| z[c]).collect::<Vec<_>>());
                    surprises.extend(own.chunks_exact(d).map(of));
                }
            }
        }
        Ok(surprises.into_pyarray(py))
    }

    /// The measured values: (n, d).
    #[getter]
    fn centres<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.objects.iter().flat_map(|o| o.set().centre().iter().copied()).collect();
        table(py, values, self.dimension)
    }
}
