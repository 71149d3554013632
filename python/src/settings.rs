//! How to cluster, as Python says it: one dictionary with every key of the command's flags.
//!
//! The words are the command's own, so that a setting means the same in both.

use goc::baselines::boxes::BoxDistance;
use goc::choose_k::Criterion;
use goc::optimistic::{Beginning, Distance, KRule, Optimistic, OracleEvery, Preset, Search};
use goc::oracle::Oracle;
use goc::oracle::affinity::{Affinity, Preference};
use goc::oracle::convex::Convex;
use goc::oracle::gmm_diag::GmmDiag;
use goc::oracle::hdbscan::Hdbscan;
use goc::oracle::k_means::{Algorithm, KMeans, Seeding};
use goc::oracle::k_medoids::KMedoids;
use goc::oracle::linkage::{Linkage, Method};
use goc::oracle::mclust::{Mclust, Model};
use goc::oracle::mean_shift::{Bandwidth, MeanShift};
use goc::oracle::spectral::Spectral;
use goc::pessimistic::Reading;
use goc::scale::Scaling;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::watch::value_error;

/// A method with all its settings. `None` is the method's or the preset's own choice.
#[derive(Clone, Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    pub method: String,
    pub oracle: String,
    pub preset: String,
    /// None: to be found.
    pub k: Option<usize>,
    pub k_by: String,
    /// None: to be found.
    pub penalty_weight: Option<f64>,
    /// Divide the penalties by the largest.
    pub scale_penalties: bool,
    pub scale: String,
    pub distance: Option<String>,
    pub k_rule: Option<String>,
    pub oracle_every: Option<String>,
    pub begin: Option<String>,
    pub initial_labels: Option<Vec<i64>>,
    pub starts: usize,
    pub swaps: usize,
    pub search: Option<String>,
    pub tolerance: f64,
    pub max_iter: usize,
    pub oracle_starts: Option<usize>,
    pub oracle_iterations: Option<usize>,
    pub algorithm: String,
    pub seeding: String,
    pub linkage: String,
    pub reading: String,
    pub set_distance: String,
    pub box_distance: String,
    pub worlds: usize,
    pub preference: f64,
    pub bandwidth: Option<f64>,
    pub min_cluster_size: usize,
    pub min_points: usize,
    pub eps: Option<f64>,
    /// None: what makes the penalties a likelihood, as far as is known.
    pub strength: Option<f64>,
    pub chains: usize,
    pub burn: usize,
    pub keep: usize,
    /// Objects in no group are set apart (the marginal mixture).
    pub noise: bool,
    /// Features of which the square root was taken: results are told without it.
    pub roots: Vec<bool>,
    /// How much each object counts.
    pub sample_weight: Option<Vec<f64>>,
    pub seed: u64,
}

/// The value of a word, or an error with all words there are.
pub fn word<T: Clone>(what: &str, given: &str, known: &[(&str, T)]) -> PyResult<T> {
    known.iter().find(|(name, _)| *name == given).map(|(_, value)| value.clone()).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        PyValueError::new_err(format!("{what}='{given}' is not known; give one of {}", names.join(", ")))
    })
}

impl Settings {
    /// Every word is one that is known.
    pub fn check(&self) -> PyResult<()> {
        self.oracle()?;
        self.greedy(1)?;
        self.criterion()?;
        self.reading()?;
        self.box_distance()?;
        self.scaling()?;
        if self.burn.checked_add(self.keep).and_then(|sweeps| sweeps.checked_mul(self.chains)).is_none() {
            return Err(PyValueError::new_err("burn and keep are more sweeps than can be counted"));
        }
        Ok(())
    }

    pub fn scaling(&self) -> PyResult<Scaling> {
        let known = [("standard", Scaling::Standard), ("robust", Scaling::Robust), ("none", Scaling::None)];
        word("scale", &self.scale, &known)
    }

    pub fn criterion(&self) -> PyResult<Criterion> {
        let known = [
            ("marginal", Criterion::Marginal),
            ("silhouette", Criterion::Silhouette),
            ("bic", Criterion::Bic),
            ("icl", Criterion::Icl),
            ("stability", Criterion::Stability),
        ];
        word("k_by", &self.k_by, &known)
    }

    pub fn reading(&self) -> PyResult<Reading> {
        word("reading", &self.reading, &[("min-max", Reading::MinMax), ("max-max", Reading::MaxMax)])
    }

    pub fn box_distance(&self) -> PyResult<BoxDistance> {
        word("box_distance", &self.box_distance, &[("min", BoxDistance::Min), ("max", BoxDistance::Max)])
    }

    pub fn distance(&self) -> PyResult<Option<Distance>> {
        self.distance.as_deref().map(distance_of).transpose()
    }

    pub fn k_rule(&self) -> PyResult<Option<KRule>> {
        let known = [("constant", KRule::Constant), ("occupied", KRule::Occupied), ("plural", KRule::Plural)];
        self.k_rule.as_deref().map(|given| word("k_rule", given, &known)).transpose()
    }

    /// GOC with everything but a penalty weight that is to be found.
    pub fn greedy(&self, k: usize) -> PyResult<Optimistic> {
        let preset = word("preset", &self.preset, &[("paper", Preset::Paper), ("authors", Preset::Authors)])?;
        let mut goc = Optimistic::preset(preset, k)
            .lambda(self.lambda())
            .tolerance(self.tolerance)
            .max_iterations(self.max_iter)
            .starts(self.starts)
            .swaps(self.swaps);
        if let Some(given) = &self.search {
            let known = [("plain", Search::Plain), ("thorough", Search::Thorough)];
            goc = goc.search(word("search", given, &known)?);
        }
        if let Some(distance) = self.distance()? {
            goc = goc.distance(distance);
        }
        if let Some(rule) = self.k_rule()? {
            goc = goc.k_rule(rule);
        }
        if let Some(given) = &self.oracle_every {
            let known = [("first", OracleEvery::First), ("always", OracleEvery::Always)];
            goc = goc.oracle_every(word("oracle_every", given, &known)?);
        }
        if let Some(given) = &self.begin {
            let known = [("mean", Beginning::Mean), ("nearest-to-mean", Beginning::NearestToMean)];
            goc = goc.beginning(word("begin", given, &known)?);
        }
        if let Some(labels) = &self.initial_labels {
            goc = goc.initial_labels(labels.clone());
        }
        Ok(goc)
    }

    /// The penalty weight as a number; where one is to be found, where the search begins.
    pub fn lambda(&self) -> f64 {
        self.penalty_weight.unwrap_or(0.01)
    }

    pub fn affinity(&self) -> Affinity {
        let affinity = Affinity::default().preference(Preference::Quantile(self.preference));
        match self.oracle_iterations {
            Some(iterations) => affinity.max_iterations(iterations),
            None => affinity,
        }
    }

    pub fn medoids(&self) -> KMedoids {
        let mut medoids = KMedoids::default();
        if let Some(starts) = self.oracle_starts {
            medoids = medoids.starts(starts);
        }
        if let Some(rounds) = self.oracle_iterations {
            medoids = medoids.rounds(rounds);
        }
        medoids
    }

    pub fn linkage(&self) -> PyResult<Linkage> {
        let known = [
            ("single", Method::Single),
            ("complete", Method::Complete),
            ("average", Method::Average),
            ("weighted", Method::Weighted),
            ("ward", Method::Ward),
            ("centroid", Method::Centroid),
            ("median", Method::Median),
        ];
        word("linkage", &self.linkage, &known).map(Linkage::new)
    }

    fn k_means(&self) -> PyResult<KMeans> {
        let algorithms = [("hartigan-wong", Algorithm::HartiganWong), ("lloyd", Algorithm::Lloyd)];
        let seedings = [("random", Seeding::Random), ("plus-plus", Seeding::PlusPlus)];
        let mut oracle = KMeans::default()
            .algorithm(word("algorithm", &self.algorithm, &algorithms)?)
            .seeding(word("seeding", &self.seeding, &seedings)?);
        if let Some(starts) = self.oracle_starts {
            oracle = oracle.starts(starts);
        }
        if let Some(iterations) = self.oracle_iterations {
            oracle = oracle.max_iterations(iterations);
        }
        Ok(oracle)
    }

    /// The oracle of that name.
    pub fn oracle(&self) -> PyResult<Box<dyn Oracle + Send>> {
        let iterations = self.oracle_iterations;
        let mclust = |model| -> Box<dyn Oracle + Send> {
            let oracle = Mclust::new(model);
            Box::new(match iterations {
                Some(iterations) => oracle.max_iterations(iterations),
                None => oracle,
            })
        };
        Ok(match self.oracle.as_str() {
            "k-means" => Box::new(self.k_means()?),
            "k-medoids" => Box::new(self.medoids()),
            "gmm-diag" => {
                let mut oracle = GmmDiag::default();
                if let Some(starts) = self.oracle_starts {
                    oracle = oracle.starts(starts);
                }
                if let Some(iterations) = iterations {
                    oracle = oracle.em_iterations(iterations);
                }
                Box::new(oracle)
            }
            "mclust-eii" => mclust(Model::Eii),
            "mclust-vii" => mclust(Model::Vii),
            "mclust-vvv" => mclust(Model::Vvv),
            "linkage" => Box::new(self.linkage()?),
            "affinity" => Box::new(self.affinity()),
            "mean-shift" => {
                let mut oracle = MeanShift::default();
                if let Some(bandwidth) = self.bandwidth {
                    oracle = oracle.bandwidth(Bandwidth::Given(bandwidth));
                }
                if let Some(iterations) = iterations {
                    oracle = oracle.max_iterations(iterations);
                }
                Box::new(oracle)
            }
            "spectral" => Box::new(Spectral::default()),
            "convex" => {
                let oracle = Convex::default();
                Box::new(match iterations {
                    Some(iterations) => oracle.max_iterations(iterations),
                    None => oracle,
                })
            }
            "hdbscan" => Box::new(Hdbscan::new(self.min_cluster_size)),
            other => {
                return Err(value_error(format!(
                    "oracle='{other}' is not known; give k-means, k-medoids, gmm-diag, mclust-eii, mclust-vii, mclust-vvv, \
                     linkage, affinity, mean-shift, spectral, convex, hdbscan, a function or a clusterer of scikit-learn"
                )));
            }
        })
    }
}

/// A distance by its name.
pub fn distance_of(given: &str) -> PyResult<Distance> {
    let known = [
        ("squared", Distance::Squared),
        ("euclidean", Distance::Euclidean),
        ("euclidean-f32", Distance::EuclideanSingle),
    ];
    word("distance", given, &known)
}
