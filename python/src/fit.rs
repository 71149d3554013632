//! A fit: candidates in, an interruptible run of the pipeline, and its result as a dictionary of
//! arrays in the units of the input.

use std::sync::atomic::AtomicUsize;

use goc::marginal::{ModelError, Posterior, Prediction, Sums};
use goc::optimistic::hierarchy;
use goc::scale::{Scaler, Scaling};
use goc_pipeline::feature_map::FeatureMap;
use goc_pipeline::model_file::ModelFile;
use goc_pipeline::{Dataset, Fit, MethodName, NOISE, OracleName, PipelineError, Prepared, Speech, fit_with};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::candidates::{Candidates, table};
use crate::oracle::Watched;
use crate::settings::{Asked, refused};
use crate::watch::{self, value_error};

/// The result that the thread of a fit returns.
struct Outcome {
    fit: Fit,
    model: Option<ModelFile>,
    tree: Option<Vec<[f64; 4]>>,
    places: Vec<f64>,
    /// The iterations of the best start, if plain k-means was requested.
    oracle_iterations: Option<usize>,
    /// Remarks, and warnings.
    said: Vec<(bool, String)>,
}

/// Clusters `candidates` according to `settings`; `function` replaces the named oracle. Returns a
/// dictionary.
#[pyfunction]
#[pyo3(signature = (candidates, settings, function=None, threads=None, progress=None))]
pub fn fit<'py>(
    py: Python<'py>,
    candidates: &Candidates,
    settings: &Bound<'py, PyDict>,
    function: Option<Bound<'py, PyAny>>,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let Asked { settings, seed, sample_weight } = Asked::of(settings)?;
    settings.check().map_err(refused)?;
    let named = function.is_none();
    let data = candidates.data.clone();
    let wants_tree = settings.method == MethodName::GocTree;
    let work = move |watch: &watch::Watch| -> Result<Outcome, PipelineError> {
        let mut prepared = Prepared::of(data.without_extras(), &settings, watch)?;
        drop(data);
        prepared.data.object_weights = sample_weight;
        let oracle = settings.oracle();
        let counts = settings.method == MethodName::Oracle && settings.oracle == OracleName::KMeans;
        let k_means = (counts && named).then(|| (settings.k_means(), AtomicUsize::new(0)));
        let oracle =
            Watched { k_means: k_means.as_ref(), ..Watched::new(watch, named.then_some(oracle.as_ref())) };
        let fit = fit_with(prepared, &settings, Some(&oracle), seed, watch)?;
        let model = fit.model().transpose()?;
        let tree = match wants_tree {
            true => Some(fit.tree()?.linkage()?),
            false => None,
        };
        let oracle_iterations =
            k_means.map(|(_, iterations)| iterations.into_inner()).filter(|count| *count > 0);
        Ok(Outcome { places: fit.input_places(), oracle_iterations, tree, model, fit, said: watch.said() })
    };
    let outcome = watch::run(py, threads, progress.as_ref(), function.as_ref(), work)?;
    dictionary(py, outcome.map_err(refused)?)
}

/// The number of steps of a fit with `settings`, if known in advance.
#[pyfunction]
pub fn steps(settings: &Bound<'_, PyDict>) -> PyResult<Option<usize>> {
    Ok(Asked::of(settings)?.settings.steps())
}

fn dictionary(py: Python<'_>, outcome: Outcome) -> PyResult<Bound<'_, PyDict>> {
    let Outcome { fit, model, tree, places, oracle_iterations, said } = outcome;
    let q = fit.centres.features();
    let centres = fit.input_centres();
    let Fit { prepared, settings, grouped, auto, found, stability, significance, .. } = fit;
    let put = PyDict::new(py);
    let labels = |labels: &[u32]| whole(py, labels.iter().map(|&l| i64::from(l)));
    put.set_item("labels", labels(grouped.partition.labels()))?;
    put.set_item("found_labels", labels(found.labels()))?;
    put.set_item("chosen", grouped.chosen.as_ref().map(|chosen| labels(chosen)))?;
    put.set_item("representatives", table(py, places, q)?)?;
    put.set_item("centres", table(py, centres, q)?)?;
    put.set_item("scaled_centres", table(py, fit.centres.values().to_vec(), q)?)?;
    put.set_item("scaled_representatives", table(py, fit.places.values().to_vec(), q)?)?;
    put.set_item("objective", grouped.objective)?;
    let some = |values: Vec<f64>| (!values.is_empty()).then(|| values.into_pyarray(py));
    put.set_item("noise", (!grouped.noise.is_empty()).then(|| grouped.noise.into_pyarray(py)))?;
    put.set_item("confidence", some(grouped.confidence))?;
    put.set_item("iterations", grouped.iterations)?;
    put.set_item("oracle_iterations", oracle_iterations)?;
    put.set_item("converged", grouped.converged)?;
    put.set_item("cycle", grouped.cycle)?;
    put.set_item("history_k", whole(py, grouped.history.iter().map(|t| t.k as i64)))?;
    let objectives: Vec<f64> = grouped.history.iter().map(|t| t.objective).collect();
    put.set_item("history_objective", objectives.into_pyarray(py))?;
    put.set_item("history_changed", whole(py, grouped.history.iter().map(|t| t.changed as i64)))?;
    let curve = auto.k.as_ref().map(|(_, chosen)| &chosen.curve[..]).unwrap_or_default();
    put.set_item("k_curve", curve.iter().map(|t| (t.k, t.value)).collect::<Vec<_>>())?;
    put.set_item("penalty_weight", settings.lambda())?;
    if let Some(stability) = stability {
        put.set_item("stability_objects", stability.objects.into_pyarray(py))?;
        put.set_item("stability_clusters", stability.clusters.into_pyarray(py))?;
    }
    if let Some(verdict) = significance {
        put.set_item("p_values", verdict.p.into_pyarray(py))?;
        put.set_item("q_values", verdict.q.into_pyarray(py))?;
        let odds =
            verdict.evidence.objects.iter().map(|odds| if odds.is_finite() { *odds } else { f64::NAN });
        put.set_item("log_odds", odds.collect::<Vec<f64>>().into_pyarray(py))?;
    }
    if let Some(posterior) = &grouped.posterior {
        posterior_items(py, &put, posterior)?;
    }
    put.set_item("tree", tree.map(|rows| table(py, rows.concat(), 4)).transpose()?)?;
    let map = Map { map: prepared.map, divisor: prepared.penalty_divisor.unwrap_or(1.0) };
    put.set_item("model", model.map(|file| Py::new(py, Model { file })).transpose()?)?;
    put.set_item("map", Py::new(py, map)?)?;
    put.set_item("said", said)?;
    Ok(put)
}

/// A linkage table in Newick format; `names` are those of the leaves.
#[pyfunction]
pub fn newick(tree: PyReadonlyArray2<'_, f64>, names: Vec<String>) -> PyResult<String> {
    let rows: Vec<[f64; 4]> =
        tree.as_array().rows().into_iter().map(|row| std::array::from_fn(|c| row[c])).collect();
    hierarchy::newick(&rows, &names).map_err(value_error)
}

/// Whole numbers as an array.
pub fn whole(py: Python<'_>, values: impl Iterator<Item = i64>) -> Bound<'_, PyArray1<i64>> {
    values.collect::<Vec<i64>>().into_pyarray(py)
}

fn posterior_items(py: Python<'_>, put: &Bound<'_, PyDict>, posterior: &Posterior) -> PyResult<()> {
    put.set_item("alone", posterior.alone.clone().into_pyarray(py))?;
    put.set_item("field", posterior.field.clone().into_pyarray(py))?;
    put.set_item("recurrence", posterior.recurrence.clone().into_pyarray(py))?;
    let runner_up = posterior.runner_up.iter();
    put.set_item("runner_up", whole(py, runner_up.clone().map(|r| r.map_or(-1, |(l, _)| i64::from(l)))))?;
    let shares: Vec<f64> = runner_up.map(|r| r.map_or(0.0, |(_, p)| p)).collect();
    put.set_item("runner_up_probability", shares.into_pyarray(py))?;
    put.set_item("k_values", whole(py, posterior.k.iter().map(|(k, _)| *k as i64)))?;
    let chances: Vec<f64> = posterior.k.iter().map(|(_, p)| *p).collect();
    put.set_item("k_probabilities", chances.into_pyarray(py))?;
    put.set_item("candidate_probabilities", posterior.candidates.clone().into_pyarray(py))?;
    let (mut a, mut b, mut together) = (Vec::new(), Vec::new(), Vec::new());
    for (i, j, probability) in posterior.together.pairs() {
        a.push(i as i64);
        b.push(j as i64);
        together.push(probability);
    }
    put.set_item("together_a", a.into_pyarray(py))?;
    put.set_item("together_b", b.into_pyarray(py))?;
    put.set_item("together_probability", together.into_pyarray(py))?;
    put.set_item("agreement", posterior.diagnostics.agreement)?;
    put.set_item("effective_draws", posterior.diagnostics.effective_k)?;
    put.set_item("error_factor", posterior.errors.as_ref().map(|errors| errors.factor()))?;
    put.set_item("bad_errors", posterior.errors.as_ref().map(|errors| errors.bad()))?;
    Ok(())
}

/// Roots, scaling and the divisor of penalties of a fit, which prepare new objects.
#[pyclass(frozen, module = "goc._goc")]
#[derive(Clone)]
pub struct Map {
    pub map: FeatureMap,
    pub divisor: f64,
}

/// What pickle stores of a map: roots, scaling, centre, spread, divisor.
type MapParts = (Vec<bool>, String, Vec<f64>, Vec<f64>, f64);

#[pymethods]
impl Map {
    #[new]
    #[pyo3(signature = (roots, scaling, centre, spread, divisor=1.0))]
    fn new(
        roots: Vec<bool>,
        scaling: &str,
        centre: Vec<f64>,
        spread: Vec<f64>,
        divisor: f64,
    ) -> PyResult<Self> {
        let scaling: Scaling = scaling.parse().map_err(value_error)?;
        let scaler = Scaler::from_parts(scaling, centre, spread).map_err(value_error)?;
        let roots = if roots.is_empty() { vec![false; scaler.centre().len()] } else { roots };
        let divisor = if divisor > 0.0 { divisor } else { 1.0 };
        Ok(Self { map: FeatureMap { roots, scaler }, divisor })
    }

    /// What is subtracted from each feature, after its root.
    #[getter]
    fn centre<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.map.scaler.centre().to_vec().into_pyarray(py)
    }

    /// What each feature is divided by.
    #[getter]
    fn spread<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.map.scaler.spread().to_vec().into_pyarray(py)
    }

    /// Features of which the root is taken.
    #[getter]
    fn roots(&self) -> Vec<bool> {
        self.map.roots.clone()
    }

    /// The parts that it is made of, for pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, MapParts)> {
        let scaler = &self.map.scaler;
        let parts = (
            self.map.roots.clone(),
            scaler.scaling().to_string(),
            scaler.centre().to_vec(),
            scaler.spread().to_vec(),
            self.divisor,
        );
        Ok((py.get_type::<Self>().into_any(), parts))
    }
}

impl Map {
    /// Prepares new objects like those of the fit.
    pub fn prepared(&self, data: &Dataset) -> PyResult<Prepared> {
        let (given, wanted) = (data.candidates.features(), self.map.roots.len());
        if given != wanted {
            return Err(invalid!("X has {given} features, but {wanted} were fitted"));
        }
        Prepared::like(data.without_extras(), &self.map, self.divisor).map_err(refused)
    }
}

/// The model that the marginal mixture keeps to classify new objects.
#[pyclass(frozen, module = "goc._goc")]
pub struct Model {
    file: ModelFile,
}

#[pymethods]
impl Model {
    /// Labels (-1: in no group), their probabilities, and the probabilities of being in no group,
    /// for objects in the original features.
    #[pyo3(signature = (candidates, threads=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        candidates: &Candidates,
        threads: Option<usize>,
    ) -> PyResult<Answer<'py>> {
        let prepared = self.prepared(candidates)?;
        let model = self.file.model.clone();
        let work = move |watch: &watch::Watch| prepared.predict(&model, watch);
        let found = watch::run(py, threads, None, None, work)?.map_err(value_error)?;
        let labels = found.iter().map(|p| p.label.map_or(-1, i64::from));
        let probability: Vec<f64> = found.iter().map(|p| p.probability).collect();
        let alone: Vec<f64> = found.iter().map(|p| p.alone + p.field).collect();
        Ok((whole(py, labels), probability.into_pyarray(py), alone.into_pyarray(py)))
    }

    /// The same with all that the table of `goc predict` has, and the probabilities of being in a
    /// group of its own and in the field apart: a dictionary of arrays.
    #[pyo3(signature = (candidates, threads=None))]
    fn assign<'py>(
        &self,
        py: Python<'py>,
        candidates: &Candidates,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let prepared = self.prepared(candidates)?;
        let model = self.file.model.clone();
        let q = self.file.model.features();
        let work = move |watch: &watch::Watch| {
            let found = prepared.predict(&model, watch)?;
            let shares: Vec<f64> = found.iter().flat_map(|p| p.candidates.iter().copied()).collect();
            let means = prepared.map.mean_features(&prepared.data.candidates, &shares);
            Ok::<_, ModelError>((found, means))
        };
        let (found, means) = watch::run(py, threads, None, None, work)?.map_err(value_error)?;
        let put = PyDict::new(py);
        let label = |p: &Prediction| p.label.map_or(i64::from(NOISE), i64::from);
        put.set_item("label", whole(py, found.iter().map(label)))?;
        let numbers = |of: &dyn Fn(&Prediction) -> f64| -> Bound<'py, PyArray1<f64>> {
            found.iter().map(of).collect::<Vec<f64>>().into_pyarray(py)
        };
        put.set_item("probability", numbers(&|p| p.probability))?;
        let runner_up = found.iter().map(|p| p.runner_up.map_or(-1, |(l, _)| i64::from(l)));
        put.set_item("runner_up", whole(py, runner_up))?;
        put.set_item("runner_up_probability", numbers(&|p| p.runner_up.map_or(0.0, |(_, share)| share)))?;
        put.set_item("alone", numbers(&|p| p.alone))?;
        put.set_item("field", numbers(&|p| p.field))?;
        put.set_item("features", table(py, means, q)?)?;
        Ok(put)
    }

    /// The sums of a sweep over these objects, as bytes.
    #[pyo3(signature = (candidates, threads=None))]
    fn sums<'py>(
        &self,
        py: Python<'py>,
        candidates: &Candidates,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let prepared = self.prepared(candidates)?;
        let model = self.file.model.clone();
        let sums = watch::run(py, threads, None, None, move |_| prepared.sums(&model))?;
        Ok(PyBytes::new(py, &sums.map_err(value_error)?.to_bytes()))
    }

    /// The model after a sweep, from the sums over each part of the objects.
    fn swept(&self, parts: Vec<PyBackedBytes>) -> PyResult<Self> {
        let mut whole: Option<Sums> = None;
        for bytes in parts {
            let part = Sums::from_bytes(&bytes).ok_or_else(|| invalid!("the sums are cut off"))?;
            match &mut whole {
                Some(whole) => whole.add(&part).map_err(value_error)?,
                None => whole = Some(part),
            }
        }
        let sums = whole.ok_or_else(|| invalid!("there are no sums"))?;
        let model = self.file.model.swept(&sums).map_err(value_error)?;
        Ok(Self { file: ModelFile { model, ..self.file.clone() } })
    }

    /// The number of members of each cluster.
    #[getter]
    fn sizes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        whole(py, self.file.model.parts().clusters.iter().map(|cluster| cluster.size as i64))
    }

    /// The mean of each cluster in the units of the input.
    #[getter]
    fn centres<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let q = self.file.model.features();
        let mut means = Vec::new();
        for cluster in &self.file.model.parts().clusters {
            let mut mean = cluster.mean.clone();
            self.file.map.invert_row(&mut mean);
            means.extend(mean);
        }
        table(py, means, q)
    }

    /// The text of its file, which `goc predict` reads.
    fn to_text(&self) -> String {
        self.file.to_text()
    }

    /// The text of its file, for pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Self>().getattr("from_text")?, (self.file.to_text(),)))
    }

    /// Restores what `__reduce__` returned.
    #[staticmethod]
    fn from_text(text: &str) -> PyResult<Self> {
        Ok(Self { file: ModelFile::from_bytes(text.as_bytes()).map_err(value_error)? })
    }
}

impl Model {
    fn prepared(&self, candidates: &Candidates) -> PyResult<Prepared> {
        let ModelFile { map, penalty_divisor, .. } = &self.file;
        Map { map: map.clone(), divisor: *penalty_divisor }.prepared(&candidates.data)
    }
}

/// Labels, their probabilities, and the probabilities of being in no group.
type Answer<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Every method on the same candidates: a list of dictionaries, one per row.
#[pyfunction]
#[pyo3(signature = (candidates, settings, truth=None, only=None, seeds=1, threads=None, progress=None))]
#[allow(clippy::too_many_arguments)] // keywords in Python
pub fn compare<'py>(
    py: Python<'py>,
    candidates: &Candidates,
    settings: &Bound<'py, PyDict>,
    truth: Option<Vec<String>>,
    only: Option<Vec<String>>,
    seeds: u64,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    use goc_pipeline::compare::{Outcome, outcome, rows_called};
    let Asked { settings, seed, .. } = Asked::of(settings)?;
    let wanted = rows_called(only.as_deref())
        .map_err(|(name, kinds)| invalid!("only: no such method {name}; there are {kinds}"))?;
    let data = candidates.data.clone();
    type Run = (String, u64, Result<Outcome, String>);
    let work = move |watch: &watch::Watch| -> Result<Vec<Run>, PipelineError> {
        let mut prepared = Prepared::new(data.without_extras(), &settings, watch)?;
        prepared.data.truth = truth;
        let mut runs = Vec::new();
        for row in wanted {
            let own = row.settings(&settings)?;
            for s in 0..if row.draws { seeds } else { 1 } {
                let seed = seed.wrapping_add(s);
                let said = |error: PipelineError| error.said(Speech::Keywords);
                runs.push((row.name.clone(), seed, outcome(&prepared, &own, seed).map_err(said)));
                watch.tick();
            }
        }
        Ok(runs)
    };
    let runs = watch::run(py, threads, progress.as_ref(), None, work)?.map_err(refused)?;
    let entry = |(name, seed, outcome): Run| -> PyResult<Bound<'py, PyDict>> {
        let put = PyDict::new(py);
        put.set_item("method", name)?;
        put.set_item("seed", seed)?;
        let found = outcome.as_ref().ok();
        let scores = found.and_then(|found| found.scores.as_ref());
        put.set_item("nmi", scores.map(|s| s.nmi))?;
        put.set_item("f", scores.map(|s| s.f))?;
        put.set_item("ari", scores.map(|s| s.ari))?;
        put.set_item("ami", scores.map(|s| s.ami))?;
        put.set_item("k", found.map(|found| found.k))?;
        put.set_item("noise", found.map(|found| found.noise))?;
        put.set_item("iterations", found.map(|found| found.iterations))?;
        put.set_item("objective", found.and_then(|found| found.objective))?;
        put.set_item("converged", found.map(|found| found.converged))?;
        put.set_item("seconds", found.map(|found| found.seconds))?;
        put.set_item("failure", outcome.as_ref().err())?;
        Ok(put)
    };
    runs.into_iter().map(entry).collect()
}
