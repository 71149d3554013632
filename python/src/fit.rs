//! A fit: candidates scaled, a method run under watch, its answer as a dictionary of arrays in the units of the input.

use std::sync::Arc;

use goc::marginal::{ModelParts, Posterior};
use goc::scale::Scaler;
use goc::{Candidates as Sets, Points};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::candidates::{Candidates, table};
use crate::oracle::Watched;
use crate::settings::Settings;
use crate::solve::{Answer, Failed, Found, Run};
use crate::watch::{self, value_error};

/// What a penalty of 1 costs in log likelihood, if nothing is known of the penalties: the command's default.
const STRENGTH: f64 = goc::candidates::PENALTY_STRENGTH;

/// What the thread of a fit brings back.
struct Outcome {
    answer: Answer,
    found: Found,
    scaler: Scaler,
    penalty_divisor: f64,
    model: Option<goc::marginal::Model>,
    /// Mean features of each object by the probability of its candidates, in the units of the input.
    expected: Vec<f64>,
}

/// Clusters `candidates` as `settings` say; `function` in place of the named oracle. Returns a dictionary.
#[pyfunction]
#[pyo3(signature = (candidates, settings, function=None, threads=None, progress=None))]
pub fn fit<'py>(
    py: Python<'py>,
    candidates: &Candidates,
    settings: Settings,
    function: Option<Bound<'py, PyAny>>,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    settings.check()?;
    let oracle = settings.oracle()?;
    let named = function.is_none();
    let (sets, scaling) = (candidates.sets.clone(), settings.scaling()?);
    // Weights are likelihoods already: dividing their logarithms would change them.
    let divides = settings.scale_penalties && !candidates.weighted;
    let (weighted, log_density) = (candidates.weighted, candidates.log_density);
    let mut given = settings.clone();
    let work = move |watch: &watch::Watch| -> Result<Outcome, Failed> {
        let scaler = Scaler::fit(scaling, &sets)?;
        let penalty_divisor = match sets.largest_penalty() {
            largest if divides && largest > 0.0 => largest,
            _ => 1.0,
        };
        let scaled = scaler.apply((*sets).clone()).divide_penalties(penalty_divisor);
        // As the command: known log densities are taken as such, others for the paper's, at most 2 before they were scaled.
        given.strength.get_or_insert(match (divides, log_density) {
            (false, _) if !weighted => 1.0,
            (true, true) => penalty_divisor,
            _ => STRENGTH,
        });
        let mixture = given.mixture();
        let roots = given.roots.clone();
        let oracle = Watched { oracle: named.then_some(oracle.as_ref()), watch };
        let (answer, found) = Run { settings: given, oracle: &oracle, watch }.answer(&scaled)?;
        let (mut model, mut expected) = (None, Vec::new());
        if let Some(posterior) = &answer.posterior {
            expected = mean_features(&scaled, &scaler, &roots, posterior);
            // A model knows the clusters as they were found: there is none of clusters that noise was taken from.
            if answer.noise.is_empty() {
                model = Some(goc::marginal::Model::fit(&mixture, &scaled, posterior)?);
            }
        }
        Ok(Outcome { answer, found, scaler, penalty_divisor, model, expected })
    };
    let outcome = watch::run(py, threads, progress.as_ref(), function.as_ref(), work)?;
    let outcome = outcome.map_err(Failed::into_error)?;
    dictionary(py, &settings, outcome)
}

fn dictionary<'py>(py: Python<'py>, settings: &Settings, outcome: Outcome) -> PyResult<Bound<'py, PyDict>> {
    let Outcome { answer, found, scaler, penalty_divisor, model, expected } = outcome;
    let q = scaler.centre().len();
    let put = PyDict::new(py);
    let labels: Vec<i64> = answer.partition.labels().iter().map(|&l| i64::from(l)).collect();
    put.set_item("labels", labels.into_pyarray(py))?;
    let chosen = answer.chosen.as_ref().map(|chosen| whole(py, chosen.iter().map(|&j| i64::from(j))));
    put.set_item("chosen", chosen)?;
    let representatives = match answer.posterior {
        Some(_) => expected,
        None => input_units(&scaler, &settings.roots, &answer.representatives),
    };
    put.set_item("representatives", table(py, representatives, q)?)?;
    put.set_item("centres", table(py, input_units(&scaler, &settings.roots, &answer.centres), q)?)?;
    put.set_item("scaled_centres", table(py, answer.centres.values().to_vec(), q)?)?;
    put.set_item("scaled_representatives", table(py, answer.representatives.values().to_vec(), q)?)?;
    put.set_item("scale_centre", scaler.centre().to_vec().into_pyarray(py))?;
    put.set_item("scale_spread", scaler.spread().to_vec().into_pyarray(py))?;
    put.set_item("constant_features", scaler.constant_features().to_vec())?;
    put.set_item("penalty_divisor", penalty_divisor)?;
    put.set_item("objective", answer.objective)?;
    put.set_item("noise", (!answer.noise.is_empty()).then(|| answer.noise.clone().into_pyarray(py)))?;
    let confidence = (!answer.confidence.is_empty()).then(|| answer.confidence.clone().into_pyarray(py));
    put.set_item("confidence", confidence)?;
    let solitude = (!answer.solitude.is_empty()).then(|| answer.solitude.clone().into_pyarray(py));
    put.set_item("solitude", solitude)?;
    put.set_item("iterations", answer.iterations)?;
    put.set_item("converged", answer.converged)?;
    put.set_item("cycle", answer.cycle)?;
    put.set_item("history_k", whole(py, answer.history.iter().map(|t| t.k as i64)))?;
    let objectives: Vec<f64> = answer.history.iter().map(|t| t.objective).collect();
    put.set_item("history_objective", objectives.into_pyarray(py))?;
    put.set_item("history_changed", whole(py, answer.history.iter().map(|t| t.changed as i64)))?;
    put.set_item("k_found", found.k)?;
    put.set_item("k_curve", found.k_curve)?;
    put.set_item("penalty_weight_found", found.penalty_weight)?;
    if let Some(posterior) = &answer.posterior {
        posterior_items(py, &put, posterior)?;
    }
    put.set_item("model", model.map(|model| Py::new(py, Model { model: Arc::new(model) })).transpose()?)?;
    Ok(put)
}

fn whole(py: Python<'_>, values: impl Iterator<Item = i64>) -> Bound<'_, PyArray1<i64>> {
    values.collect::<Vec<i64>>().into_pyarray(py)
}

fn posterior_items(py: Python<'_>, put: &Bound<'_, PyDict>, posterior: &Posterior) -> PyResult<()> {
    put.set_item("alone", posterior.alone.clone().into_pyarray(py))?;
    let runner_up = posterior.runner_up.iter();
    put.set_item("runner_up", whole(py, runner_up.clone().map(|r| r.map_or(-1, |(l, _)| i64::from(l)))))?;
    let shares: Vec<f64> = runner_up.map(|r| r.map_or(0.0, |(_, p)| p)).collect();
    put.set_item("runner_up_probability", shares.into_pyarray(py))?;
    put.set_item("k_values", whole(py, posterior.k.iter().map(|(k, _)| *k as i64)))?;
    let chances: Vec<f64> = posterior.k.iter().map(|(_, p)| *p).collect();
    put.set_item("k_probabilities", chances.into_pyarray(py))?;
    put.set_item("candidate_probabilities", posterior.candidates.clone().into_pyarray(py))?;
    let (mut a, mut b, mut together) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..posterior.together.len() {
        for (j, probability) in posterior.together.partners(i).filter(|(j, _)| *j > i) {
            a.push(i as i64);
            b.push(j as i64);
            together.push(probability);
        }
    }
    put.set_item("together_a", a.into_pyarray(py))?;
    put.set_item("together_b", b.into_pyarray(py))?;
    put.set_item("together_probability", together.into_pyarray(py))?;
    put.set_item("agreement", posterior.diagnostics.agreement)?;
    put.set_item("effective_draws", posterior.diagnostics.effective_k)?;
    Ok(())
}

/// Points in scaled features, in the units of the input.
fn input_units(scaler: &Scaler, roots: &[bool], points: &Points) -> Vec<f64> {
    let mut values = points.values().to_vec();
    for row in values.chunks_exact_mut(points.features()) {
        undo(scaler, roots, row);
    }
    values
}

fn undo(scaler: &Scaler, roots: &[bool], row: &mut [f64]) {
    scaler.invert_row(row);
    for (value, _) in row.iter_mut().zip(roots).filter(|(_, root)| **root) {
        *value *= *value;
    }
}

/// The mean is taken of the input's own numbers: the square of a mean of roots would be less than the mean.
fn mean_features(scaled: &Sets, scaler: &Scaler, roots: &[bool], posterior: &Posterior) -> Vec<f64> {
    let (q, offsets) = (scaled.features(), scaled.offsets());
    let mut means = vec![0.0; scaled.objects() * q];
    let mut row = vec![0.0; q];
    for (i, mean) in means.chunks_exact_mut(q).enumerate() {
        for j in 0..scaled.count(i) {
            scaled.copy_candidate(i, j, &mut row);
            undo(scaler, roots, &mut row);
            for (sum, value) in mean.iter_mut().zip(&row) {
                *sum += posterior.candidates[offsets[i] + j] * value;
            }
        }
    }
    means
}

/// What the marginal mixture keeps to judge new objects by; scaled features.
#[pyclass(frozen, module = "goc._goc")]
pub struct Model {
    model: Arc<goc::marginal::Model>,
}

#[pymethods]
impl Model {
    /// Labels (-1: in no group), probabilities and probabilities of being alone, of objects in the features as they were given; scaled
    /// here by the numbers of the fit.
    #[pyo3(signature = (candidates, centre, spread, penalty_divisor, threads=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        candidates: &Candidates,
        centre: Vec<f64>,
        spread: Vec<f64>,
        penalty_divisor: f64,
        threads: Option<usize>,
    ) -> PyResult<Predicted<'py>> {
        let scaled = rescaled(candidates, centre, spread, penalty_divisor)?;
        let model = self.model.clone();
        let found =
            watch::run(py, threads, None, None, move |_| model.predict(&scaled))?.map_err(value_error)?;
        let labels = found.iter().map(|p| p.label.map_or(-1, i64::from));
        let probability: Vec<f64> = found.iter().map(|p| p.probability).collect();
        let alone: Vec<f64> = found.iter().map(|p| p.alone).collect();
        Ok((whole(py, labels), probability.into_pyarray(py), alone.into_pyarray(py)))
    }

    /// Everything it is made of, for pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Parts,))> {
        let p = self.model.parts();
        let clusters = p.clusters.iter().map(|c| (c.size, c.mean.clone(), c.scatter.clone())).collect();
        let numbers = (p.nu, p.alpha, p.singleton_weight, p.power, p.penalty_strength);
        let parts = (clusters, p.metric.clone(), numbers, p.base_middle.clone(), p.base_scale.clone());
        Ok((py.get_type::<Self>().getattr("from_parts")?, (parts,)))
    }

    /// Back from what `__reduce__` gave.
    #[staticmethod]
    fn from_parts(parts: Parts) -> PyResult<Self> {
        let (
            clusters,
            metric,
            (nu, alpha, singleton_weight, power, penalty_strength),
            base_middle,
            base_scale,
        ) = parts;
        let cluster = |(size, mean, scatter)| goc::marginal::ClusterParts { size, mean, scatter };
        let clusters = clusters.into_iter().map(cluster).collect();
        let parts = ModelParts {
            clusters,
            metric,
            nu,
            alpha,
            singleton_weight,
            power,
            penalty_strength,
            base_middle,
            base_scale,
        };
        Ok(Self { model: Arc::new(goc::marginal::Model::new(parts).map_err(value_error)?) })
    }
}

/// Labels, their probabilities, probabilities of being alone.
type Predicted<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The parts of a model as pickle keeps them.
type Parts = (Vec<(usize, Vec<f64>, Vec<f64>)>, Vec<f64>, (usize, f64, f64, f64, f64), Vec<f64>, Vec<f64>);

/// New objects, scaled by the numbers of a fit.
pub fn rescaled(
    candidates: &Candidates,
    centre: Vec<f64>,
    spread: Vec<f64>,
    penalty_divisor: f64,
) -> PyResult<Sets> {
    let (given, wanted) = (candidates.sets.features(), centre.len());
    if given != wanted {
        return Err(PyValueError::new_err(format!("X has {given} features, but {wanted} were fitted")));
    }
    // The scaling's name is of no account once its numbers are known.
    let scaler = Scaler::from_parts(goc::scale::Scaling::Standard, centre, spread).map_err(value_error)?;
    let scaled = scaler.apply((*candidates.sets).clone());
    Ok(if penalty_divisor > 0.0 { scaled.divide_penalties(penalty_divisor) } else { scaled })
}
