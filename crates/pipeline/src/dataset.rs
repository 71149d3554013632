//! Data sets: the candidates of all objects, and everything that is known of them.
//!
//! A [`Dataset`] is what every way in ends with: a long table, measured values with errors, a star
//! catalogue, arrays. Its candidates are in the units of the input. Clustering needs other numbers (roots
//! of actions, scaled features): those are a [`super::Prepared`], made from a data set without another
//! copy where the data set is no longer needed.

use goc::Candidates;
use goc::candidates::PENALTY_STRENGTH;
use goc_galaxy::catalogue::schema::RowNames;
use goc_galaxy::spaces::Space;
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::sampling_names::SamplerName;

/// A feature as the input names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// The column, or `sqrt(column)` where the root itself was asked for.
    pub name: String,
    /// Its unit, where the input says one.
    pub unit: Option<String>,
}

impl Feature {
    /// Without a unit.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), unit: None }
    }

    /// With a unit.
    pub fn with_unit(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: Some(unit.into()) }
    }
}

/// Another number of every candidate, carried along and never clustered: the energy of an orbit.
#[derive(Clone, Debug, PartialEq)]
pub struct Extra {
    /// Its name and unit.
    pub feature: Feature,
    /// One value per candidate, in the order of the candidates.
    pub values: Vec<f64>,
}

/// What kind of number the penalties are: methods by likelihood weigh a candidate by it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum PenaltyKind {
    /// Not known; taken for the paper's, which are at most 2 before they are scaled.
    #[default]
    Unknown,
    /// Minus the log density of the errors, relative to what was measured.
    LogDensity,
    /// The same of candidates that were drawn with heavy tails ([`SamplerName::Tails`]): methods by
    /// likelihood take the law of the draws into account, and may learn that of the errors.
    ///
    /// [`SamplerName::Tails`]: crate::SamplerName::Tails
    Tails {
        /// How many quantities were measured.
        values: usize,
    },
    /// Made of weights (likelihoods) by this strength: `-ln(w / largest) / strength`. Dividing them by
    /// their largest would change what they mean, so they are never scaled.
    Weights {
        /// The penalty strength that gives the weights back.
        strength: f64,
    },
}

/// The candidates of all objects with names, units, truth and provenance.
///
/// ```
/// use goc::candidates::CandidatesBuilder;
/// use goc_pipeline::Dataset;
/// let mut builder = CandidatesBuilder::new(2);
/// builder.push(&[0.0, 1.0, 0.5, 1.5], &[])?;
/// builder.push(&[4.0, 4.0], &[])?;
/// let data = Dataset::new(builder.build()?).named(["x", "y"])?;
/// assert_eq!(data.features[1].name, "y");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The candidates in the units of the input, with the ids of the objects.
    pub candidates: Candidates,
    /// Names and units of the features.
    pub features: Vec<Feature>,
    /// The true group of each object as the input writes it; empty text: not known.
    pub truth: Option<Vec<String>>,
    /// Other numbers of every candidate.
    pub extras: Vec<Extra>,
    /// What kind of number the penalties are.
    pub penalties: PenaltyKind,
    /// How much each object counts; none: all alike.
    pub object_weights: Option<Vec<f64>>,
    /// How the candidates came about: `goc_*` keys, as tables keep them in their metadata.
    pub provenance: Vec<(String, String)>,
    /// What was dropped on the way and why, a sentence each.
    pub dropped: Vec<String>,
    /// Candidates that were dropped when the table was read.
    pub dropped_candidates: usize,
    /// The column that weights came from.
    pub weight_column: Option<String>,
    /// The row of the input that each candidate came from; none: the same order.
    pub rows: Option<Vec<usize>>,
    /// How messages call the rows of the table, where each candidate was one of them.
    pub row_names: Option<RowNames>,
    /// What messages call the input: its file.
    pub source: Option<String>,
    /// [`Dataset::digest`], where the candidates are no longer in the units of the input.
    pub(crate) digest: Option<String>,
}

/// The key under which provenance says what the penalties are.
const PENALTY_KEY: &str = "goc_penalty";
/// The key under which provenance says how candidates were drawn.
const SAMPLER_KEY: &str = "goc_sampler";
/// The key under which provenance says how many quantities were measured.
const MEASURED_KEY: &str = "goc_measured";
/// The key under which provenance says which space stars are in.
const SPACE_KEY: &str = "goc_space";
/// How the sampler and the kind of penalty are called that follow the density of the errors.
const DENSITY: &str = "density";

impl Dataset {
    /// Candidates of which nothing else is known; features are called `x0`, `x1`, ...
    pub fn new(candidates: Candidates) -> Self {
        let features = (0..candidates.features()).map(|f| Feature::new(format!("x{f}"))).collect();
        Self {
            candidates,
            features,
            truth: None,
            extras: Vec::new(),
            penalties: PenaltyKind::Unknown,
            object_weights: None,
            provenance: Vec::new(),
            dropped: Vec::new(),
            dropped_candidates: 0,
            weight_column: None,
            rows: None,
            row_names: None,
            source: None,
            digest: None,
        }
    }

    /// With names for the features.
    pub fn named<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Result<Self> {
        let features: Vec<Feature> = names.into_iter().map(|name| Feature::new(name)).collect();
        let (found, wanted) = (features.len(), self.candidates.features());
        if found != wanted {
            return Err(failed!("{found} features where {wanted} are needed"));
        }
        self.features = features;
        Ok(self)
    }

    /// Names of the features.
    pub fn feature_names(&self) -> Vec<&str> {
        self.features.iter().map(|feature| feature.name.as_str()).collect()
    }

    /// Whether nobody named the features.
    pub fn is_unnamed(&self) -> bool {
        let own = |(f, feature): (usize, &Feature)| feature.name == format!("x{f}");
        self.source.is_none() && self.features.iter().enumerate().all(own)
    }

    /// The row of the input, from 0, that candidate `j` of object `i` came from.
    pub fn row(&self, i: usize, j: usize) -> usize {
        let at = self.candidates.offsets()[i] + j;
        self.rows.as_ref().map_or(at, |rows| rows[at])
    }

    /// A copy without the extra columns, which no method looks at.
    pub fn without_extras(&self) -> Self {
        Self {
            candidates: self.candidates.clone(),
            features: self.features.clone(),
            truth: self.truth.clone(),
            extras: Vec::new(),
            provenance: self.provenance.clone(),
            dropped: self.dropped.clone(),
            object_weights: self.object_weights.clone(),
            weight_column: self.weight_column.clone(),
            rows: self.rows.clone(),
            row_names: self.row_names.clone(),
            source: self.source.clone(),
            digest: self.digest.clone(),
            ..*self
        }
    }

    /// What a penalty of 1 costs in log likelihood, unless told. `divisor` is what the penalties were
    /// divided by, none where they were left as they are. Known log densities are taken as such.
    pub fn penalty_strength(&self, divisor: Option<f64>) -> f64 {
        match (self.penalties, divisor) {
            (PenaltyKind::Weights { strength }, _) => strength,
            (_, None) => 1.0,
            (PenaltyKind::LogDensity | PenaltyKind::Tails { .. }, Some(divisor)) => divisor,
            (PenaltyKind::Unknown, Some(_)) => PENALTY_STRENGTH,
        }
    }

    /// What kind of penalties the provenance says.
    pub fn said_penalties(&self) -> PenaltyKind {
        let said =
            |key: &str| self.provenance.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str());
        let values =
            || said(MEASURED_KEY).and_then(|values| values.parse().ok()).filter(|values| *values > 0);
        match said(PENALTY_KEY) {
            Some(DENSITY) if said(SAMPLER_KEY) == Some(&SamplerName::Tails.to_string()) => match values() {
                Some(values) => PenaltyKind::Tails { values },
                None => PenaltyKind::Unknown,
            },
            Some(penalty) if penalty.starts_with(DENSITY) => PenaltyKind::LogDensity,
            _ => PenaltyKind::Unknown,
        }
    }

    /// Whether candidates that were drawn from the errors have the density of the errors as penalties
    /// too, so that a method by likelihood would count the errors twice.
    pub fn counts_errors_twice(&self) -> bool {
        let drawn = |(key, value): &(String, String)| key == SAMPLER_KEY && value == DENSITY;
        self.penalties == PenaltyKind::LogDensity && self.provenance.iter().any(drawn)
    }

    /// The space that stars are in, where the provenance says one; those by actions are told by
    /// their transformation alone.
    pub fn space(&self) -> Option<Space> {
        let said = self.provenance.iter().find(|(key, _)| key == SPACE_KEY);
        said.and_then(|(_, word)| word.parse().ok())
    }

    /// A short digest of the objects' ids and their candidates in the units of the input. Labels keep it,
    /// so that the candidates of another run are not taken for theirs.
    pub fn digest(&self) -> String {
        if let Some(digest) = &self.digest {
            return digest.clone();
        }
        let mut hash = Sha256::new();
        for i in 0..self.candidates.objects() {
            hash.update(self.name(i).as_bytes());
            hash.update([0]);
            for f in 0..self.candidates.features() {
                for value in self.candidates.feature(i, f) {
                    hash.update(value.to_le_bytes());
                }
            }
        }
        hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Keeps the digest, before the candidates are changed in place.
    pub fn keep_digest(&mut self) {
        self.digest = Some(self.digest());
    }

    /// The name of object `i`.
    pub fn name(&self, i: usize) -> String {
        self.candidates.name(i)
    }
}
