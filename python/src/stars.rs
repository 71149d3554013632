//! The candidates of a star catalogue: its rows sampled and turned into actions, as `goc candidates` does it.

use std::sync::Arc;

use goc::Ids;
use goc::uncertainty::{Object, Penalty, PropagateError, Propagation, UncertaintySet, WhenAllRejected};
use goc_galaxy::catalogue::{DistancePrior, GaiaCovariance, WhenIndefinite};
use goc_galaxy::frames::JphiSign;
use goc_galaxy::stars::StarActions;
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::candidates::table;
use crate::galaxy::{ActionFinder, catalogue_of, parsed, stars_of};
use crate::sets::{at_row, sampler_of, size_of, too_many};
use crate::watch;

/// Objects worked on at a time.
const PART: usize = 8192;

/// How a catalogue is sampled; the words are the command's.
#[derive(Clone, Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Sampling {
    shape: String,
    size: (String, f64),
    sampler: String,
    /// Of a grid.
    coordinate: usize,
    draws: usize,
    /// As the command's `--distance-prior`.
    distance_prior: Option<String>,
    /// none, density or distance.
    penalty: String,
    /// The density of these values only.
    penalty_of: Option<Vec<usize>>,
    drop_empty: bool,
    seed: u64,
    sky: String,
    far: String,
    zero_point: f64,
    angles: String,
    sun: String,
    jphi: String,
}

#[derive(Default)]
struct Made {
    /// Jr, Jz, Jphi, energy of each candidate.
    rows: Vec<f64>,
    penalties: Vec<f64>,
    /// The row of each object that is left, and how many candidates it has.
    objects: Vec<(usize, usize)>,
    /// Row, points drawn, points kept, why.
    losses: Vec<(usize, usize, usize, String)>,
}

/// Candidates of stars: rows (n, 6), errors of the last four, their correlations (n, 3) for an ellipsoid.
#[pyfunction]
#[pyo3(signature = (rows, errors, correlations, keys, finder, sampling, threads=None, progress=None))]
#[allow(clippy::too_many_arguments)] // called from one place in Python
pub fn star_candidates<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, f64>,
    errors: PyReadonlyArray2<'py, f64>,
    correlations: Option<PyReadonlyArray2<'py, f64>>,
    keys: PyReadonlyArray1<'py, u64>,
    finder: &ActionFinder,
    sampling: Sampling,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let values = stars_of(&rows)?;
    let n = values.len();
    let fits = |array: &PyReadonlyArray2<'_, f64>, columns| array.shape() == [n, columns];
    if !fits(&errors, 4) || correlations.as_ref().is_some_and(|c| !fits(c, 3)) || keys.len() != n {
        return Err(PyValueError::new_err("rows, errors, correlations and keys do not fit together"));
    }
    let size = size_of(&sampling.size.0, sampling.size.1)?;
    let sampler = sampler_of(&sampling.sampler, sampling.coordinate)?;
    let (errors, keys) = (errors.as_array(), keys.as_array());
    let correlations = correlations.as_ref().map(|c| c.as_array());
    let mut objects = Vec::with_capacity(n);
    let mut weakened = Vec::new();
    for i in 0..n {
        let own: [f64; 4] = std::array::from_fn(|c| errors[[i, c]]);
        let wide = [0.0, 0.0, own[0], own[1], own[2], own[3]];
        let set = match sampling.shape.as_str() {
            "box" => UncertaintySet::cuboid(&values[i], &wide, size),
            "l1" => UncertaintySet::l1_ball(&values[i], &wide, size),
            "ellipsoid" => {
                let pairs = std::array::from_fn(|c| correlations.as_ref().map_or(0.0, |all| all[[i, c]]));
                let covariance = GaiaCovariance::new(own)
                    .correlations(pairs)
                    .when_indefinite(WhenIndefinite::Shrink)
                    .build()
                    .map_err(|error| PyValueError::new_err(format!("row {i}: {error}")))?;
                if let Some(factor) = covariance.shrunk_by() {
                    weakened.push((i, factor));
                }
                covariance
                    .with_exact_position()
                    .and_then(|covariance| UncertaintySet::ellipsoid(&values[i], covariance, size))
            }
            other => {
                return Err(PyValueError::new_err(format!(
                    "shape='{other}' is not known; give box, ellipsoid or l1"
                )));
            }
        };
        objects.push(Object::new(keys[i], set.map_err(|error| at_row(i, error))?));
    }
    let catalogue =
        catalogue_of(&sampling.sky, &sampling.far, sampling.zero_point, &sampling.angles, &sampling.sun)?;
    let f = StarActions::new(catalogue, finder.finder.clone(), parsed::<JphiSign>("jphi", &sampling.jphi)?);
    let prior = sampling.distance_prior.as_deref();
    let prior = prior.map(|prior| parsed::<DistancePrior>("distance_prior", prior)).transpose()?;
    let mut made = Made::default();
    let room = n.checked_mul(sampling.draws).and_then(|rows| rows.checked_mul(4));
    room.and_then(|room| made.rows.try_reserve_exact(room).ok())
        .ok_or_else(|| too_many(n, sampling.draws))?;
    check_penalty(&sampling)?;
    let objects = Arc::new(objects);
    let made = watch::run(py, threads, progress.as_ref(), None, move |watch| {
        for (p, part) in objects.chunks(PART).enumerate() {
            let penalty = match (sampling.penalty.as_str(), &sampling.penalty_of) {
                ("none", _) => Penalty::None,
                ("distance", _) => Penalty::FromCentre,
                (_, Some(some)) => Penalty::SurpriseOf(some.clone()),
                _ => Penalty::Surprise,
            };
            let mut how = Propagation::new(&f);
            if let Some(prior) = prior {
                how = how.prior(move |row| catalogue.ln_prior(prior, row));
            }
            let (sets, report) = how
                .sampler(sampler)
                .draws(sampling.draws)
                .penalty(penalty)
                .when_all_rejected(match sampling.drop_empty {
                    true => WhenAllRejected::LeaveOut,
                    false => WhenAllRejected::Refuse,
                })
                .ids(Ids::Integer((0..part.len()).map(|i| (p * PART + i) as i64).collect()))
                .seed(sampling.seed)
                .propagate_some(part)?;
            if let Some(sets) = sets {
                let mut row = [0.0; 4];
                for (o, &i) in report.objects().iter().enumerate() {
                    made.objects.push((p * PART + i, sets.count(o)));
                    for j in 0..sets.count(o) {
                        sets.copy_candidate(o, j, &mut row);
                        made.rows.extend_from_slice(&row);
                    }
                    made.penalties.extend_from_slice(sets.penalties(o));
                }
            }
            let mut lost: Vec<_> = report.losses().iter().chain(report.left_out()).collect();
            lost.sort_by_key(|loss| loss.object);
            made.losses.extend(lost.into_iter().map(|loss| {
                let kept = loss.drawn - loss.reasons.total();
                (p * PART + loss.object, loss.drawn, kept, loss.reasons.to_string())
            }));
            watch.set(p * PART + part.len());
        }
        Ok(made)
    })?
    .map_err(|error: PropagateError| watch::value_error(error))?;
    if made.objects.is_empty() {
        return Err(PyValueError::new_err("no object has candidates"));
    }
    let put = PyDict::new(py);
    let mut offsets = vec![0_i64];
    offsets.extend(made.objects.iter().scan(0, |sum, (_, m)| {
        *sum += *m as i64;
        Some(*sum)
    }));
    put.set_item("rows", table(py, made.rows, 4)?)?;
    put.set_item("offsets", offsets.into_pyarray(py))?;
    let penalties = (!made.penalties.is_empty()).then(|| made.penalties.into_pyarray(py));
    put.set_item("penalties", penalties)?;
    let left: Vec<i64> = made.objects.iter().map(|(i, _)| *i as i64).collect();
    put.set_item("objects", left.into_pyarray(py))?;
    put.set_item("losses", made.losses)?;
    put.set_item("weakened", weakened)?;
    Ok(put)
}

fn check_penalty(sampling: &Sampling) -> PyResult<()> {
    match sampling.penalty.as_str() {
        "none" | "density" | "distance" => Ok(()),
        other => Err(PyValueError::new_err(format!(
            "penalty='{other}' is not known; give none, density, density:COLUMN or distance"
        ))),
    }
}
