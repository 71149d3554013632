//! Settings: one description of a fit, and the list that every door is made from.
//!
//! A setting is a row of the table below: its field, type and default, what it is called on the command
//! line and in Python, its help, and which methods use it. The struct [`Settings`], the command's flags
//! (feature `clap`), Python's keywords and their documentation, and the test that holds both doors
//! together all follow from these rows.

use std::fmt;
use std::str::FromStr;

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

/// A number, or the wish to have it found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Auto<T> {
    /// This.
    Number(T),
    /// What the data say.
    Auto,
}

impl<T> Auto<T> {
    /// The number, if it is one.
    pub fn number(self) -> Option<T> {
        match self {
            Auto::Number(number) => Some(number),
            Auto::Auto => None,
        }
    }
}

/// What the values of a setting are.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// One of these words; each with what it is, for help texts.
    Words(Vec<(&'static str, &'static str)>),
    /// A whole number of at least the row's `least`.
    Count,
    /// A real number.
    Real,
    /// Yes or no.
    Flag,
    /// A whole number, or `auto`.
    CountOrAuto,
    /// A real number, or `auto`.
    RealOrAuto,
}

/// A type that a setting can have: to and from text.
pub trait Value: Sized {
    /// What its values are.
    fn kind() -> Kind;
    /// From text.
    fn read(text: &str) -> Result<Self, String>;
    /// As text; none where nothing is set.
    fn write(&self) -> Option<String>;
}

macro_rules! word_value {
    ($($type:ty),+ $(,)?) => {
        $(impl Value for $type {
            fn kind() -> Kind {
                Kind::Words(<$type>::ALL.iter().map(|(_, word, about)| (*word, *about)).collect())
            }

            fn read(text: &str) -> Result<Self, String> {
                <$type>::from_word(text).map_err(|error| error.to_string())
            }

            fn write(&self) -> Option<String> {
                Some(self.word().to_string())
            }
        })+
    };
}

word_value! {
    Algorithm, BackgroundName, Beginning, BoxDistance, Criterion, Distance, FeatureMapName, KRule, LinkageMethod,
    MethodName, OracleEvery, OracleName, PenaltyScale, Preset, Reading, Scaling, Search, Seeding, SetDistanceName,
    k_medoids::Distance
}

macro_rules! plain_value {
    ($type:ty, $kind:expr) => {
        impl Value for $type {
            fn kind() -> Kind {
                $kind
            }

            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|error: <$type as FromStr>::Err| error.to_string())
            }

            fn write(&self) -> Option<String> {
                Some(self.to_string())
            }
        }
    };
}

plain_value!(usize, Kind::Count);
plain_value!(f64, Kind::Real);
plain_value!(bool, Kind::Flag);
plain_value!(Auto<usize>, Kind::CountOrAuto);
plain_value!(Auto<f64>, Kind::RealOrAuto);

/// A setting that may be left to the method or the preset.
impl<T: Value> Value for Option<T> {
    fn kind() -> Kind {
        T::kind()
    }

    fn read(text: &str) -> Result<Self, String> {
        T::read(text).map(Some)
    }

    fn write(&self) -> Option<String> {
        self.as_ref().and_then(Value::write)
    }
}

impl<T: FromStr> FromStr for Auto<T>
where
    T::Err: fmt::Display,
{
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Auto::Auto),
            number => {
                number.parse().map(Auto::Number).map_err(|error| format!("{error}; give a number or auto"))
            }
        }
    }
}

impl<T: fmt::Display> fmt::Display for Auto<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Auto::Number(number) => number.fmt(f),
            Auto::Auto => f.write_str("auto"),
        }
    }
}

/// A row of the list.
pub struct Setting {
    /// The field of [`Settings`].
    pub name: &'static str,
    /// The flag without its dashes.
    pub flag: &'static str,
    /// The keyword in Python.
    pub python: &'static str,
    /// What stands for its value in help texts; empty: what the kind says.
    pub value_name: &'static str,
    /// What it is, in a line or two. Other settings stand in braces: see [`crate::Speech`].
    pub help: &'static str,
    /// The heading that it stands under in help texts; empty: the first.
    pub heading: &'static str,
    /// The least whole number that it may be.
    pub least: usize,
    /// What its values are.
    pub kind: fn() -> Kind,
    /// Whether the method uses it as it is set.
    pub used: fn(&Settings) -> bool,
    read: fn(&mut Settings, &str) -> Result<(), String>,
    write: fn(&Settings) -> Option<String>,
}

impl Setting {
    /// The setting of this field name.
    pub fn named(name: &str) -> Option<&'static Setting> {
        LIST.iter().find(|setting| setting.name == name)
    }

    /// Its value as text; none where it is left open.
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
            /// Of how many measured quantities the candidates were drawn with heavy tails, if they were:
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
        "Oracle that clusters one point per object", |s| s.method.uses_oracle();
    preset: Preset = Preset::Paper, "preset", "preset", "", 0, "",
        "Choices that belong together: what the paper says, or what the authors' code does", ALWAYS;
    k: Option<Auto<usize>> = None, "k", "n_clusters", "K", 0, "",
        "Number of clusters to begin with, K(0), or auto; not needed by methods that find it",
        |s| !matches!(s.k, Some(Auto::Number(_))) || s.method.takes_k();
    k_by: Option<Criterion> = None, "k-by", "k_by", "", 0, "",
        "How {k} auto chooses K [default: marginal]", ALWAYS;
    lambda: Auto<f64> = Auto::Number(LAMBDA), "lambda", "penalty_weight", "", 0, "",
        "Weight of the penalties, or auto: the one that the likelihood has",
        |s| s.lambda != Auto::Auto || s.method.uses_lambda();
    penalty_scale: PenaltyScale = PenaltyScale::Max, "penalty-scale", "scale_penalties", "", 0, "",
        "Divide the penalties by the largest (max), or leave them (none)", ALWAYS;
    scale: Option<Scaling> = None, "scale", "scale", "", 0, "",
        "How features are made comparable: standard, robust (median, IQR) or none [default: robust for marginal and for stars in other spaces than actions, else standard]",
        ALWAYS;
    feature_map: Option<FeatureMapName> = None, "feature-map", "feature_map", "MAP", 0, "",
        "What is taken of the features [default: auto for marginal, else none]", ALWAYS;
    distance: Option<Distance> = None, "distance", "distance", "", 0, "",
        "Distance of step (III); overrides the preset", GREEDY_OR_GPC;
    k_rule: Option<KRule> = None, "k-rule", "k_rule", "", 0, "",
        "How K(t) follows from the clusters before; overrides the preset", GREEDY_OR_GPC;
    oracle_every: Option<OracleEvery> = None, "oracle-every", "oracle_every", "", 0, "",
        "When the oracle is used; overrides the preset", GREEDY;
    begin: Option<Beginning> = None, "begin", "begin", "", 0, "",
        "First representative of each object; overrides the preset", GREEDY;
    starts: usize = 1, "starts", "n_init", "N", 1, "",
        "Keep the best joint objective of N starts", GREEDY;
    swaps: usize = 0, "swaps", "swaps", "N", 0, "",
        "Then try N swap moves", GREEDY;
    search: Option<Search> = None, "search", "search", "", 0, "",
        "Search for a better minimum of the joint objective [default: plain; thorough with {k} auto and with {trim}]",
        |s| s.method.has_preset_distance();
    trim: Auto<f64> = Auto::Number(0.0), "trim", "trim", "SHARE", 0, "",
        "Share of the objects, farthest from every centre, that move no centre and get label -1, or auto: learned",
        |s| s.method == MethodName::Goc;
    tolerance: f64 = 0.0, "tolerance", "tol", "SHARE", 0, "",
        "Stop once no more than this share of the objects change; 0 is perfect convergence", GREEDY;
    max_iterations: usize = 200, "max-iterations", "max_iter", "N", 1, "",
        "Iterations at most", |s| GREEDY_OR_GPC(s) || s.method.has_rounds();
    oracle_starts: Option<usize> = None, "oracle-starts", "n_init", "N", 1, "",
        "Starts of the oracle [default: the oracle's own; 100 for k-means]",
        |s| s.method.uses_oracle() || s.method.has_rounds() || s.method == MethodName::Medoids;
    oracle_iterations: Option<usize> = None, "oracle-iterations", "max_iter", "N", 1, "",
        "Iterations of the oracle at most: a low number is the early-stopped oracle",
        |s| s.method.uses_oracle() || s.method.compares_sets();
    oracle_tolerance: Option<f64> = None, "oracle-tolerance", "tol", "X", 0, "",
        "What an iteration of the oracle must gain to go on; for mclust and convex [default: the oracle's own]",
        |s| s.method.uses_oracle() && s.oracle.has_tolerance();
    oracle_distance: k_medoids::Distance = k_medoids::Distance::Euclidean, "oracle-distance", "metric", "", 0, "",
        "The distance that k-medoids adds up", |s| s.has_oracle(OracleName::KMedoids);
    algorithm: Algorithm = Algorithm::HartiganWong, "algorithm", "algorithm", "", 0, "",
        "How k-means descends", |s| s.has_oracle(OracleName::KMeans);
    seeding: Seeding = Seeding::Random, "seeding", "init", "", 0, "",
        "How k-means draws its starts", |s| s.has_oracle(OracleName::KMeans);
    linkage: LinkageMethod = LinkageMethod::Average, "linkage", "linkage", "", 0, "",
        "How the linkage oracle joins clusters",
        |s| s.has_oracle(OracleName::Linkage) || s.method == MethodName::Linkage;
    reading: Reading = Reading::MinMax, "reading", "reading", "", 0, "",
        "What pessimism ({method} gpc) maximises", |s| s.method == MethodName::Gpc;
    set_distance: SetDistanceName = SetDistanceName::S2, "set-distance", "set_distance", "", 0, "",
        "Distance between sets, for {method} affinity, medoids and linkage", |s| s.method.compares_sets();
    box_distance: BoxDistance = BoxDistance::Min, "box", "box_distance", "", 0, "",
        "Distance to a box that {method} boxes takes", |s| s.method == MethodName::Boxes;
    worlds: usize = 100, "worlds", "worlds", "N", 1, "",
        "Worlds that {method} worlds, representative-worlds, consistent-worlds, hdbscan-draws and foptics sample",
        |s| s.method.has_worlds();
    preference: f64 = 0.5, "preference", "preference", "Q", 0, "",
        "Preference of affinity propagation: this quantile of the similarities",
        |s| s.has_oracle(OracleName::Affinity) || s.method == MethodName::Affinity;
    damping: Option<f64> = None, "damping", "damping", "SHARE", 0, "",
        "How much of the last messages affinity propagation keeps, from 0.5 to below 1 [default: its own, 0.9]",
        |s| s.has_oracle(OracleName::Affinity) || s.method == MethodName::Affinity;
    bandwidth: Option<f64> = None, "bandwidth", "bandwidth", "H", 0, "",
        "Bandwidth of mean shift, in scaled features [default: by scikit-learn's rule]",
        |s| s.has_oracle(OracleName::MeanShift);
    min_cluster_size: usize = 5, "min-cluster-size", "min_cluster_size", "N", 1, "",
        "Least members of a cluster of HDBSCAN", Settings::asks_hdbscan;
    min_samples: Option<usize> = None, "min-samples", "min_samples", "N", 1, "",
        "Neighbours that make a place dense to HDBSCAN [default: {min_cluster_size}]",
        Settings::asks_hdbscan;
    least_members: usize = 10, "least-members", "least_members", "N", 2, "",
        "Least members of a cluster of {method} significant-linkage", |s| s.method == MethodName::SignificantLinkage;
    min_points: usize = 3, "min-points", "min_points", "N", 1, "",
        "Objects, itself one of them, that make an object of {method} fdbscan or foptics dense",
        |s| matches!(s.method, MethodName::Fdbscan | MethodName::Foptics);
    penalty_strength: Option<f64> = None, "strength", "strength", "X", 0, "",
        "What a penalty of 1 costs in log likelihood: the marginal mixture and extreme deconvolution weigh a candidate by exp(-strength * penalty) \
         [default: with the penalties of goc candidates what makes that the likelihood; else 2, which does so for the paper's]",
        |s| s.method.uses_strength();
    chains: usize = 4, "chains", "chains", "N", 1, "",
        "Chains of the marginal mixture", MIXTURE;
    burn: usize = 40, "burn", "burn", "N", 0, "",
        "Sweeps of each chain before draws are kept", MIXTURE;
    keep: usize = 140, "keep", "keep", "N", 1, "",
        "Draws kept of each chain", MIXTURE;
    field_prior: f64 = FIELD_PRIOR, "field-prior", "field_prior", "P", 0, PRIOR,
        "Probability beforehand that some objects are in the field, which is in no group; 0 rules it out",
        MIXTURE;
    alpha: Auto<f64> = Auto::Auto, "alpha", "alpha", "A", 0, PRIOR,
        "Readiness to open groups, above 0, or auto: drawn with the groups", MIXTURE;
    power: Auto<f64> = Auto::Auto, "power", "power", "P", 0, PRIOR,
        "How much larger groups draw objects in, from 0 (not at all) to 1 (Dirichlet process), or auto: drawn",
        MIXTURE;
    singleton_weight: Auto<f64> = Auto::Number(SINGLETON_WEIGHT), "singleton-weight", "singleton_weight", "S", 0, PRIOR,
        "How much readier objects are to be alone than {alpha} says, above 0, or auto: drawn", MIXTURE;
    nu: Option<usize> = None, "nu", "nu", "N", 3, PRIOR,
        "Degrees of freedom of the groups' covariances: the more, the more alike they are [default: features + 7]",
        MIXTURE;
    eps: Option<f64> = None, "eps", "eps", "R", 0, "",
        "Radius of {method} fdbscan and foptics, in scaled features [default: by a rule]",
        |s| matches!(s.method, MethodName::Fdbscan | MethodName::Foptics);
    stability: Option<usize> = None, "stability", "stability", "N", 1, SURE,
        "Stability of objects and clusters: repeat the method N times each with other seeds, resampled candidates and resampled objects",
        ALWAYS;
    significance: Option<usize> = None, "significance", "significance", "N", 1, SURE,
        "Significance of clusters: p and q from N runs of the method on backgrounds without groups", ALWAYS;
    background: BackgroundName = BackgroundName::Smooth, "background", "background", "", 0, SURE,
        "How a background without groups is made", ALWAYS;
    noise: bool = false, "noise", "noise", "", 0, SURE,
        "Label -1 for objects in no group, by the significance of their cluster; {method} marginal does so by its field and needs \
         this only to add {significance}", |s| s.method != MethodName::Marginal || s.significance.is_some();
    fdr: f64 = 0.05, "fdr", "fdr", "Q", 0, SURE,
        "False-discovery rate at which a cluster is significant", ALWAYS;
}

/// The weight of the penalties where nothing was said, and where the search for one begins: the paper's.
pub const LAMBDA: f64 = 0.01;

/// Runs on backgrounds when noise needs them and none are asked for.
const NOISE_RUNS: usize = 20;

impl Settings {
    /// A method with its own defaults.
    pub fn of(method: MethodName) -> Self {
        Self { method, ..Self::default() }
    }

    /// With so many clusters at first.
    pub fn clusters(mut self, k: usize) -> Self {
        self.k = Some(Auto::Number(k));
        self
    }

    /// Sets one by the name of its field.
    pub fn set(&mut self, name: &str, text: &str) -> Result<()> {
        let setting = Setting::named(name).ok_or_else(|| usage!("there is no setting `{name}`"))?;
        let problem = |problem| usage!("{{{name}}} {text}: {problem}");
        setting.set(self, text).map_err(problem)
    }

    /// Whether the method asks this oracle.
    fn has_oracle(&self, oracle: OracleName) -> bool {
        self.method.uses_oracle() && self.oracle == oracle
    }

    fn asks_hdbscan(&self) -> bool {
        self.has_oracle(OracleName::Hdbscan) || self.method == MethodName::HdbscanDraws
    }

    /// The number of clusters asked for; 1 for a method that needs none.
    pub fn wanted(&self) -> Result<usize> {
        match self.k {
            Some(Auto::Number(k)) => Ok(k),
            _ if self.method.finds_k() => Ok(1),
            Some(Auto::Auto) => Err(usage!("{{k}} auto is not for this command; give a number")),
            None => Err(usage!("{{method}} {} needs {{k}}, the number of clusters; see --help", self.method)),
        }
    }

    /// Whether K is to be found before the method runs.
    pub fn looks_for_k(&self) -> bool {
        self.k == Some(Auto::Auto) && !self.method.finds_k()
    }

    /// What can be said before there are any data.
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
                    "{lambda} auto is the weight that the squared distance has in a likelihood; add {distance} squared",
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
        if self.burn.checked_add(self.keep).and_then(|sweeps| sweeps.checked_mul(self.chains)).is_none() {
            return usage("{burn} and {keep} are more sweeps than can be counted");
        }
        self.check_initial_labels(self.initial_labels.is_some())?;
        if self.k != Some(Auto::Auto) {
            self.wanted()?;
        }
        Ok(())
    }

    /// Whether first labels can go with the rest; they may be on their way still.
    pub fn check_initial_labels(&self, given: bool) -> Result<()> {
        let usage = |text: &str| Err(PipelineError::Usage(text.into()));
        if given && self.looks_for_k() {
            return usage("--init-labels fixes K, so it cannot go with {k} auto");
        }
        if given && self.repeats() {
            return usage(
                "{stability}, {significance} and {noise} repeat the method on other objects; leave out --init-labels",
            );
        }
        Ok(())
    }

    /// Runs on backgrounds: as asked for, or what noise needs of a method without a field.
    pub(crate) fn background_runs(&self) -> Option<usize> {
        let has_field = self.method == MethodName::Marginal;
        self.significance.or((self.noise && !has_field).then_some(NOISE_RUNS))
    }

    /// Whether the fit is repeated to judge it.
    pub fn is_repeated(&self) -> bool {
        self.stability.is_some() || self.background_runs().is_some()
    }

    /// Whether objects are taken from the clusters that the method found.
    pub fn changes_clusters(&self) -> bool {
        self.noise && self.background_runs().is_some()
    }

    fn repeats(&self) -> bool {
        self.stability.is_some() || self.background_runs().is_some()
    }

    /// The scaling asked for, or the method's own.
    pub fn scaling(&self) -> Scaling {
        let own = match self.method {
            MethodName::Marginal => Scaling::Robust,
            MethodName::Oracle => Scaling::None,
            _ => Scaling::Standard,
        };
        self.scale.unwrap_or(own)
    }

    /// The scaling asked for, or the method's own for these data: where that is the standard one,
    /// stars in other spaces than actions, whose features are of different kinds and have tails,
    /// are scaled robustly.
    pub fn scaling_of(&self, data: &Dataset) -> Scaling {
        let other = data.space().is_some_and(|space| space != Space::Actions);
        match (self.scale, self.scaling()) {
            (None, Scaling::Standard) if other => Scaling::Robust,
            (_, scaling) => scaling,
        }
    }

    /// The feature map asked for, or the method's own.
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

    /// Whether clusters of one member are given up.
    pub fn drops_single(&self) -> bool {
        match self.k_rule {
            Some(rule) => rule == KRule::Plural,
            None => self.preset == Preset::Paper || self.method == MethodName::Gpc,
        }
    }

    /// Settings that were changed and that the method does not use.
    pub fn unused(&self) -> Vec<&'static Setting> {
        let changed = |setting: &&Setting| setting.get(self) != setting.default();
        LIST.iter().filter(changed).filter(|setting| !(setting.used)(self)).collect()
    }

    /// The choices that made a result, as its metadata keep them. Those of the preset go by its name.
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
            (mixture, "sweeps", json!(self.burn + self.keep)),
            (mixture, "burn", json!(self.burn)),
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
