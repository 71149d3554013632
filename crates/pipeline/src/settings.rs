//! Settings: one description of a fit, and the list from which the command's flags and Python's
//! keywords are generated.
//!
//! A setting is a row of the table below: its field, type and default, what it is called on the
//! command line and in Python, its help, and which methods use it. The struct [`Settings`], the
//! command's flags (feature `clap`), Python's keywords and their documentation, and the test that
//! both agree all follow from these rows.

mod value;

use goc::baselines::boxes::BoxDistance;
use goc::choice::Choice;
use goc::choose_k::Criterion;
use goc::marginal::{FIELD_PRIOR, SINGLETON_WEIGHT};
use goc::optimistic::{Beginning, Distance, KRule, OracleEvery, Preset, Search};
use goc::oracle::k_means::{Algorithm, Seeding};
use goc::oracle::k_medoids;
use goc::oracle::linkage::Method as LinkageMethod;
use goc::pessimistic::Reading;
use goc::scale::Scaling;
use goc_galaxy::spaces::Space;
use serde_json::{Value as Json, json};

use crate::dataset::Dataset;
use crate::error::{PipelineError, Result};
use crate::names::{BackgroundName, FeatureMapName, MethodName, OracleName, PenaltyScale, SetDistanceName};
pub use value::{Auto, Kind, Value};

/// A row of the list.
pub struct Setting {
    /// The field of [`Settings`].
    pub name: &'static str,
    /// The flag without its dashes.
    pub flag: &'static str,
    /// The keyword in Python.
    pub python: &'static str,
    /// The name of its value in help texts; if empty, the default of its kind.
    pub value_name: &'static str,
    /// A description in a line or two, with other settings in braces: see [`crate::Speech`].
    pub help: &'static str,
    /// Its heading in help texts; if empty, the first one.
    pub heading: &'static str,
    /// The smallest whole number allowed.
    pub least: usize,
    /// What its values are.
    pub kind: fn() -> Kind,
    /// Whether the method uses it, given the other settings.
    pub used: fn(&Settings) -> bool,
    read: fn(&mut Settings, &str) -> Result<(), String>,
    write: fn(&Settings) -> Option<String>,
}

impl Setting {
    /// The setting with this field name.
    pub fn named(name: &str) -> Option<&'static Setting> {
        LIST.iter().find(|setting| setting.name == name)
    }

    /// Its value as text; `None` if it is not set.
    pub fn get(&self, settings: &Settings) -> Option<String> {
        (self.write)(settings)
    }

    /// Its default as text.
    pub fn default(&self) -> Option<String> {
        self.get(&Settings::default())
    }

    /// Sets it from text.
    pub fn set(&self, settings: &mut Settings, text: &str) -> Result<(), String> {
        let whole = matches!((self.kind)(), Kind::Count | Kind::CountOrAuto);
        if whole && text.parse::<usize>().is_ok_and(|number| number < self.least) {
            return Err(format!("{text} is not at least {}", self.least));
        }
        (self.read)(settings, text)
    }
}

macro_rules! settings {
    ($($field:ident: $type:ty = $default:expr, $flag:literal, $python:literal, $value:literal, $least:literal,
       $heading:expr, $help:expr, $used:expr;)+) => {
        /// One description of a fit. `None` leaves a choice to the method or the preset.
        ///
        /// ```
        /// use goc_pipeline::{Auto, MethodName, Settings};
        /// let settings = Settings { k: Some(Auto::Number(50)), ..Settings::default() };
        /// assert_eq!(settings.method, MethodName::Goc);
        /// assert!(settings.check().is_ok());
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            $(#[doc = $help] pub $field: $type,)+
            /// Labels that replace the first clustering, one per object.
            pub initial_labels: Option<Vec<i64>>,
            /// Keep every iteration of GOC in full.
            pub full_history: bool,
            /// The number of measured quantities, if the candidates were drawn with heavy tails;
            /// the fit takes it from the data.
            pub tails: Option<usize>,
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($field: $default,)+ initial_labels: None, full_history: false, tails: None }
            }
        }

        /// Every setting that is a word or a number.
        pub static LIST: &[Setting] = &[$(Setting {
            name: stringify!($field),
            flag: $flag,
            python: $python,
            value_name: $value,
            help: $help,
            heading: $heading,
            least: $least,
            kind: <$type as Value>::kind,
            used: $used,
            read: |settings, text| {
                settings.$field = <$type as Value>::read(text)?;
                Ok(())
            },
            write: |settings| settings.$field.write(),
        }),+];
    };
}

const ALWAYS: fn(&Settings) -> bool = |_| true;
const GREEDY: fn(&Settings) -> bool = |s| s.method.is_greedy();
const GREEDY_OR_GPC: fn(&Settings) -> bool = |s| s.method.is_greedy() || s.method == MethodName::Gpc;
const MIXTURE: fn(&Settings) -> bool = |s| s.method == MethodName::Marginal;
const SURE: &str = "How sure";
const PRIOR: &str = "Prior of the marginal mixture";

settings! {
    method: MethodName = MethodName::Goc, "method", "method", "", 0, "",
        "Method for uncertain objects", ALWAYS;
    oracle: OracleName = OracleName::KMeans, "oracle", "oracle", "", 0, "",
        "Oracle: the clusterer of plain points, run on one point per object", |s| s.method.uses_oracle();
    preset: Preset = Preset::Paper, "preset", "preset", "", 0, "",
        "Set of choices: those of the paper, or those of the authors' code", ALWAYS;
    k: Option<Auto<usize>> = None, "k", "n_clusters", "K", 0, "",
        "Initial number of clusters, K(0), or auto; methods that find K need none",
        |s| !matches!(s.k, Some(Auto::Number(_))) || s.method.takes_k();
    k_by: Option<Criterion> = None, "k-by", "k_by", "", 0, "",
        "How {k} auto chooses K [default: marginal]", ALWAYS;
    lambda: Auto<f64> = Auto::Number(LAMBDA), "lambda", "penalty_weight", "", 0, "",
        "Weight of the penalties, or auto: the weight that follows from the likelihood",
        |s| s.lambda != Auto::Auto || s.method.uses_lambda();
    penalty_scale: PenaltyScale = PenaltyScale::Max, "penalty-scale", "scale_penalties", "", 0, "",
        "Divide the penalties by the largest (max), or leave them as they are (none)", ALWAYS;
    scale: Option<Scaling> = None, "scale", "scale", "", 0, "",
        "Scaling of the features: standard (mean, deviation), robust (median, IQR) or none [default: \
         robust for marginal and for stars in spaces other than actions, else standard]",
        ALWAYS;
    feature_map: Option<FeatureMapName> = None, "feature-map", "feature_map", "MAP", 0, "",
        "Map applied to the features [default: auto for marginal, else none]", ALWAYS;
    distance: Option<Distance> = None, "distance", "distance", "", 0, "",
        "Distance of step (III); overrides the preset", GREEDY_OR_GPC;
    k_rule: Option<KRule> = None, "k-rule", "k_rule", "", 0, "",
        "How K(t) follows from the previous clusters; overrides the preset", GREEDY_OR_GPC;
    oracle_every: Option<OracleEvery> = None, "oracle-every", "oracle_every", "", 0, "",
        "Whether the oracle runs in the first iteration only or always; overrides the preset", GREEDY;
    begin: Option<Beginning> = None, "begin", "begin", "", 0, "",
        "Initial representative of each object; overrides the preset", GREEDY;
    starts: usize = 1, "starts", "n_init", "N", 1, "",
        "Number of starts; the best joint objective is kept", GREEDY;
    swaps: usize = 0, "swaps", "swaps", "N", 0, "",
        "Number of swap moves to try afterwards", GREEDY;
    search: Option<Search> = None, "search", "search", "", 0, "",
        "Search for a better minimum of the joint objective [default: plain; thorough with {k} auto and with {trim}]",
        |s| s.method.has_preset_distance();
    trim: Auto<f64> = Auto::Number(0.0), "trim", "trim", "SHARE", 0, "",
        "Share of the objects to trim, or auto to learn it: the objects farthest from every centre move \
         no centre and get label -1",
        |s| s.method == MethodName::Goc;
    tolerance: f64 = 0.0, "tolerance", "tol", "SHARE", 0, "",
        "Stop once at most this share of the objects changes; 0 is full convergence", GREEDY;
    max_iterations: usize = 200, "max-iterations", "max_iter", "N", 1, "",
        "Maximum number of iterations", |s| GREEDY_OR_GPC(s) || s.method.has_rounds();
    oracle_starts: Option<usize> = None, "oracle-starts", "n_init", "N", 1, "",
        "Number of starts of the oracle [default: depends on the oracle; 100 for k-means]",
        |s| s.method.uses_oracle() || s.method.has_rounds() || s.method == MethodName::Medoids;
    oracle_iterations: Option<usize> = None, "oracle-iterations", "max_iter", "N", 1, "",
        "Maximum number of iterations of the oracle; a low number stops it early",
        |s| s.method.uses_oracle() || s.method.compares_sets();
    oracle_tolerance: Option<f64> = None, "oracle-tolerance", "tol", "X", 0, "",
        "Smallest gain per iteration for which mclust and convex continue [default: the oracle's own]",
        |s| s.method.uses_oracle() && s.oracle.has_tolerance();
    oracle_distance: k_medoids::Distance = k_medoids::Distance::Euclidean, "oracle-distance", "metric", "", 0, "",
        "Distance whose sum k-medoids minimises", |s| s.has_oracle(OracleName::KMedoids);
    algorithm: Algorithm = Algorithm::HartiganWong, "algorithm", "algorithm", "", 0, "",
        "Algorithm of k-means", |s| s.has_oracle(OracleName::KMeans);
    seeding: Seeding = Seeding::Random, "seeding", "init", "", 0, "",
        "Initial centres of k-means", |s| s.has_oracle(OracleName::KMeans);
    linkage: LinkageMethod = LinkageMethod::Average, "linkage", "linkage", "", 0, "",
        "How the linkage oracle joins clusters",
        |s| s.has_oracle(OracleName::Linkage) || s.method == MethodName::Linkage;
    reading: Reading = Reading::MinMax, "reading", "reading", "", 0, "",
        "Reading of the pessimistic objective ({method} gpc)", |s| s.method == MethodName::Gpc;
    set_distance: SetDistanceName = SetDistanceName::S2, "set-distance", "set_distance", "", 0, "",
        "Distance between sets, for {method} affinity, medoids and linkage", |s| s.method.compares_sets();
    box_distance: BoxDistance = BoxDistance::Min, "box", "box_distance", "", 0, "",
        "Distance to a box, for {method} boxes", |s| s.method == MethodName::Boxes;
    worlds: usize = 100, "worlds", "worlds", "N", 1, "",
        "Worlds to sample, for {method} worlds, representative-worlds, consistent-worlds, hdbscan-draws \
         and foptics",
        |s| s.method.has_worlds();
    preference: f64 = 0.5, "preference", "preference", "Q", 0, "",
        "Preference of affinity propagation, as a quantile of the similarities",
        |s| s.has_oracle(OracleName::Affinity) || s.method == MethodName::Affinity;
    damping: Option<f64> = None, "damping", "damping", "SHARE", 0, "",
        "Damping of affinity propagation: the share of the old messages that is kept, from 0.5 to below \
         1 [default: 0.9]",
        |s| s.has_oracle(OracleName::Affinity) || s.method == MethodName::Affinity;
    bandwidth: Option<f64> = None, "bandwidth", "bandwidth", "H", 0, "",
        "Bandwidth of mean shift, in scaled features [default: by scikit-learn's rule]",
        |s| s.has_oracle(OracleName::MeanShift);
    min_cluster_size: usize = 5, "min-cluster-size", "min_cluster_size", "N", 1, "",
        "Minimum size of an HDBSCAN cluster", Settings::asks_hdbscan;
    min_samples: Option<usize> = None, "min-samples", "min_samples", "N", 1, "",
        "Neighbours that make a point dense, for HDBSCAN [default: {min_cluster_size}]",
        Settings::asks_hdbscan;
    least_members: usize = 10, "least-members", "least_members", "N", 2, "",
        "Minimum size of a cluster, for {method} significant-linkage", |s| s.method == MethodName::SignificantLinkage;
    min_points: usize = 3, "min-points", "min_points", "N", 1, "",
        "Objects within reach, itself included, that make an object dense, for {method} fdbscan and foptics",
        |s| matches!(s.method, MethodName::Fdbscan | MethodName::Foptics);
    penalty_strength: Option<f64> = None, "strength", "strength", "X", 0, "",
        "What a penalty of 1 costs in log likelihood: the marginal mixture and extreme deconvolution \
         weight a candidate by exp(-strength * penalty) [default: for penalties of goc candidates, the \
         value that makes this the likelihood; else 2, which does so for the paper's penalties]",
        |s| s.method.uses_strength();
    chains: usize = 4, "chains", "chains", "N", 1, "",
        "Chains of the marginal mixture", MIXTURE;
    burn: Option<usize> = None, "burn", "burn", "N", 0, "",
        "Sweeps of each chain before draws are kept [default: 40; 240 if values are drawn from a prior]",
        MIXTURE;
    keep: usize = 140, "keep", "keep", "N", 1, "",
        "Draws kept of each chain", MIXTURE;
    field_prior: f64 = FIELD_PRIOR, "field-prior", "field_prior", "P", 0, PRIOR,
        "Prior probability that there is a field, objects that belong to no group; 0 rules it out",
        MIXTURE;
    alpha: Auto<f64> = Auto::Auto, "alpha", "alpha", "A", 0, PRIOR,
        "Concentration of the prior on partitions, above 0, or auto to draw it: the larger, the more \
         groups", MIXTURE;
    power: Auto<f64> = Auto::Auto, "power", "power", "P", 0, PRIOR,
        "How strongly large groups attract objects, from 0 (not at all) to 1 (Dirichlet process), or \
         auto to draw it",
        MIXTURE;
    singleton_weight: Auto<f64> = Auto::Number(SINGLETON_WEIGHT), "singleton-weight", "singleton_weight", "S", 0, PRIOR,
        "Prior weight of groups of one, beyond {alpha}, above 0, or auto to draw it", MIXTURE;
    nu: Option<usize> = None, "nu", "nu", "N", 3, PRIOR,
        "Degrees of freedom of the groups' covariances: the more, the more alike they are [default: \
         drawn with the groups]",
        MIXTURE;
    eps: Option<f64> = None, "eps", "eps", "R", 0, "",
        "Radius of {method} fdbscan and foptics, in scaled features [default: from the data]",
        |s| matches!(s.method, MethodName::Fdbscan | MethodName::Foptics);
    stability: Option<usize> = None, "stability", "stability", "N", 1, SURE,
        "Stability of objects and clusters: repeat the method N times with other seeds, N times with \
         resampled candidates and N times with resampled objects",
        ALWAYS;
    significance: Option<usize> = None, "significance", "significance", "N", 1, SURE,
        "Significance of clusters: p-values and q-values from N runs of the method on backgrounds \
         without groups", ALWAYS;
    background: BackgroundName = BackgroundName::Smooth, "background", "background", "", 0, SURE,
        "How a background without groups is made", ALWAYS;
    noise: bool = false, "noise", "noise", "", 0, SURE,
        "Give label -1 to objects whose cluster is not significant; {method} marginal has a field for \
         them and needs this only together with {significance}", |s| s.method != MethodName::Marginal || s.significance.is_some();
    fdr: f64 = 0.05, "fdr", "fdr", "Q", 0, SURE,
        "False-discovery rate at which a cluster is significant", ALWAYS;
}

/// The default weight of the penalties. It is the paper's value, and the start of the search for
/// lambda.
pub const LAMBDA: f64 = 0.01;

/// Sweeps of each chain of the mixture before draws are kept, unless told otherwise.
const BURN: usize = 40;

/// Number of runs on backgrounds if noise needs them and no number was requested.
const NOISE_RUNS: usize = 20;

impl Settings {
    /// A method with its own defaults.
    pub fn of(method: MethodName) -> Self {
        Self { method, ..Self::default() }
    }

    /// With this initial number of clusters.
    pub fn clusters(mut self, k: usize) -> Self {
        self.k = Some(Auto::Number(k));
        self
    }

    /// Sets one setting by the name of its field.
    pub fn set(&mut self, name: &str, text: &str) -> Result<()> {
        let setting = Setting::named(name).ok_or_else(|| usage!("there is no setting `{name}`"))?;
        let problem = |problem| usage!("{{{name}}} {text}: {problem}");
        setting.set(self, text).map_err(problem)
    }

    /// Whether the method uses this oracle.
    fn has_oracle(&self, oracle: OracleName) -> bool {
        self.method.uses_oracle() && self.oracle == oracle
    }

    fn asks_hdbscan(&self) -> bool {
        self.has_oracle(OracleName::Hdbscan) || self.method == MethodName::HdbscanDraws
    }

    /// The number of clusters requested; 1 for a method that needs none.
    pub fn wanted(&self) -> Result<usize> {
        match self.k {
            Some(Auto::Number(k)) => Ok(k),
            _ if self.method.finds_k() => Ok(1),
            Some(Auto::Auto) => Err(usage!("{{k}} auto is not available here; give a number")),
            None => Err(usage!("{{method}} {} needs {{k}}, the number of clusters; see --help", self.method)),
        }
    }

    /// Whether K must be found before the method runs.
    pub fn looks_for_k(&self) -> bool {
        self.k == Some(Auto::Auto) && !self.method.finds_k()
    }

    /// The checks that need no data.
    pub fn check(&self) -> Result<()> {
        let usage = |text: &str| Err(PipelineError::Usage(text.into()));
        if self.k_by.is_some() && !self.looks_for_k() {
            return usage("{k_by} is a way to find K: it needs {k} auto and a method that takes K");
        }
        if self.lambda == Auto::Auto {
            let squared = match self.distance {
                Some(distance) => distance == Distance::Squared,
                None => self.preset == Preset::Paper || !self.method.has_preset_distance(),
            };
            if !squared {
                return usage(
                    "{lambda} auto is defined for the squared distance only; add {distance} squared",
                );
            }
        }
        if let Auto::Number(share) = self.trim
            && !(0.0..1.0).contains(&share)
        {
            return usage(&format!(
                "{{trim}} {share} must be a share of the objects, from 0 to below 1, or auto"
            ));
        }
        if !(self.fdr > 0.0 && self.fdr < 1.0) {
            return usage(&format!("{{fdr}} {} must be above 0 and below 1", self.fdr));
        }
        if self.burn().checked_add(self.keep).and_then(|sweeps| sweeps.checked_mul(self.chains)).is_none() {
            return usage("{burn} and {keep} ask for more sweeps than can be counted");
        }
        self.check_initial_labels(self.initial_labels.is_some())?;
        if self.k != Some(Auto::Auto) {
            self.wanted()?;
        }
        Ok(())
    }

    /// Checks that initial labels are compatible with the other settings; they need not be set yet.
    pub fn check_initial_labels(&self, given: bool) -> Result<()> {
        let usage = |text: &str| Err(PipelineError::Usage(text.into()));
        if given && self.looks_for_k() {
            return usage("--init-labels fixes K, so it cannot go with {k} auto");
        }
        if given && self.is_repeated() {
            return usage(
                "{stability}, {significance} and {noise} repeat the method on other objects; leave out --init-labels",
            );
        }
        Ok(())
    }

    /// Sweeps of each chain before draws are kept.
    pub fn burn(&self) -> usize {
        self.burn.unwrap_or(BURN)
    }

    /// Number of runs on backgrounds: as requested, or what noise needs for a method without a
    /// field.
    pub(crate) fn background_runs(&self) -> Option<usize> {
        let has_field = self.method == MethodName::Marginal;
        self.significance.or((self.noise && !has_field).then_some(NOISE_RUNS))
    }

    /// Whether the fit is repeated to assess it.
    pub fn is_repeated(&self) -> bool {
        self.stability.is_some() || self.background_runs().is_some()
    }

    /// Whether objects are removed from the clusters that the method found.
    pub fn changes_clusters(&self) -> bool {
        self.noise && self.background_runs().is_some()
    }

    /// The scaling requested, or the method's default.
    pub fn scaling(&self) -> Scaling {
        let own = match self.method {
            MethodName::Marginal => Scaling::Robust,
            MethodName::Oracle => Scaling::None,
            _ => Scaling::Standard,
        };
        self.scale.unwrap_or(own)
    }

    /// The scaling requested, or the method's default for these data. Where that is standard
    /// scaling, stars in spaces other than actions are scaled robustly, because their features
    /// differ in kind and have long tails.
    pub fn scaling_of(&self, data: &Dataset) -> Scaling {
        let other = data.space().is_some_and(|space| space != Space::Actions);
        match (self.scale, self.scaling()) {
            (None, Scaling::Standard) if other => Scaling::Robust,
            (_, scaling) => scaling,
        }
    }

    /// The feature map requested, or the method's default.
    pub fn map(&self) -> FeatureMapName {
        let own = match self.method {
            MethodName::Marginal => FeatureMapName::Auto,
            _ => FeatureMapName::None,
        };
        self.feature_map.unwrap_or(own)
    }

    /// The weight of the penalties as a number.
    pub fn lambda(&self) -> f64 {
        match self.lambda {
            Auto::Number(lambda) => lambda,
            Auto::Auto => LAMBDA,
        }
    }

    /// Whether objects may be trimmed.
    pub fn trims(&self) -> bool {
        self.method == MethodName::Goc && self.trim != Auto::Number(0.0)
    }

    /// Whether singleton clusters are dropped.
    pub fn drops_single(&self) -> bool {
        match self.k_rule {
            Some(rule) => rule == KRule::Plural,
            None => self.preset == Preset::Paper || self.method == MethodName::Gpc,
        }
    }

    /// Settings that differ from the default and that the method does not use.
    pub fn unused(&self) -> Vec<&'static Setting> {
        let changed = |setting: &&Setting| setting.get(self) != setting.default();
        LIST.iter().filter(changed).filter(|setting| !(setting.used)(self)).collect()
    }

    /// The choices behind a result, as recorded in its metadata. The preset's choices are recorded
    /// by its name.
    pub fn described(&self, seed: u64) -> Vec<(&'static str, Json)> {
        let (method, word) =
            (self.method, |name: &str| Setting::named(name).and_then(|known| known.get(self)));
        let (goc, mixture) = (method == MethodName::Goc, method == MethodName::Marginal);
        let preset = |name| (word(name).is_some(), name, json!(word(name)));
        let all = [
            (true, "version", json!(env!("CARGO_PKG_VERSION"))),
            (true, "method", json!(method.word())),
            (method.uses_oracle(), "oracle", json!(self.oracle.word())),
            (method.compares_sets(), "set_distance", json!(self.set_distance.word())),
            (method.is_greedy(), "preset", json!(self.preset.word())),
            preset("distance"),
            preset("k_rule"),
            preset("oracle_every"),
            preset("begin"),
            (self.oracle_starts.is_some(), "oracle_starts", json!(self.oracle_starts)),
            (self.tolerance != 0.0, "tolerance", json!(self.tolerance)),
            (goc, "starts", json!(self.starts)),
            (goc, "swaps", json!(self.swaps)),
            (goc && self.search.is_some(), "search", json!(word("search"))),
            (goc && self.trims(), "trim", json!(word("trim"))),
            (mixture, "chains", json!(self.chains)),
            (mixture, "sweeps", json!(self.burn() + self.keep)),
            (mixture, "burn", json!(self.burn())),
            (method.uses_strength(), "strength", json!(self.penalty_strength)),
            (true, "penalty_scale", json!(self.penalty_scale.word())),
            (true, "max_iterations", json!(self.max_iterations)),
            (true, "k_asked", json!(self.wanted().ok().filter(|_| self.k.is_some()))),
            (true, "lambda", json!(self.lambda())),
            (true, "scale", json!(self.scaling().word())),
            (true, "seed", json!(seed)),
        ];
        all.into_iter().filter(|(told, ..)| *told).map(|(_, key, value)| (key, value)).collect()
    }
}
