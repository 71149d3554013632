//! Data sets: the candidates of all objects, and everything that is known about them.
//!
//! Every kind of input becomes a [`Dataset`]: a long table, measured values with errors, a star
//! catalogue, or arrays. Its candidates are in the units of the input. Clustering works on
//! transformed numbers (roots of actions, scaled features). These are held by a
//! [`super::Prepared`], which is made without a copy if the data set is no longer needed.

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
    /// The column, or `sqrt(column)` where the root itself was requested.
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

/// An additional number for every candidate, such as the energy of an orbit. It is carried along
/// but never clustered.
#[derive(Clone, Debug, PartialEq)]
pub struct Extra {
    /// Its name and unit.
    pub feature: Feature,
    /// One value per candidate, in the order of the candidates.
    pub values: Vec<f64>,
}

/// What kind of number the penalties are. Likelihood methods need to know it to weight candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum PenaltyKind {
    /// Unknown; treated like the paper's penalties, which are at most 2 before scaling.
    #[default]
    Unknown,
    /// Minus the log density of the errors, relative to what was measured.
    LogDensity,
    /// The same, for candidates drawn with heavy tails ([`SamplerName::Tails`]). Likelihood methods
    /// take the distribution of the draws into account, and may learn the distribution of the
    /// errors.
    ///
    /// [`SamplerName::Tails`]: crate::SamplerName::Tails
    Tails {
        /// How many quantities were measured.
        values: usize,
    },
    /// Computed from weights (likelihoods) with this strength: `-ln(w / largest) / strength`.
    /// Dividing them by their maximum would change their meaning, so they are never scaled.
    Weights {
        /// The penalty strength that recovers the weights.
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
    /// The true group of each object as written in the input; an empty string means unknown.
    pub truth: Option<Vec<String>>,
    /// Additional numbers for every candidate.
    pub extras: Vec<Extra>,
    /// What kind of number the penalties are.
    pub penalties: PenaltyKind,
    /// The weight of each object; `None` if all are equal.
    pub object_weights: Option<Vec<f64>>,
    /// Which objects have a value that was drawn from a prior; empty if none has.
    pub from_prior: Vec<bool>,
    /// How the candidates were made: `goc_*` keys, as in the metadata of tables.
    pub provenance: Vec<(String, String)>,
    /// What was dropped and why, as one sentence each.
    pub dropped: Vec<String>,
    /// Number of candidates dropped when the table was read.
    pub dropped_candidates: usize,
    /// The column that the weights came from.
    pub weight_column: Option<String>,
    /// The input row that each candidate came from; `None` if the order is the same.
    pub rows: Option<Vec<usize>>,
    /// How messages refer to the rows of the table, if each candidate was one row.
    pub row_names: Option<RowNames>,
    /// The name of the input in messages: its file.
    pub source: Option<String>,
    /// [`Dataset::digest`], kept when the candidates are no longer in the units of the input.
    pub(crate) digest: Option<String>,
}

/// The provenance key for the kind of penalties.
const PENALTY_KEY: &str = "goc_penalty";
/// The provenance key for how candidates were drawn.
const SAMPLER_KEY: &str = "goc_sampler";
/// The provenance key for the number of measured quantities.
const MEASURED_KEY: &str = "goc_measured";
/// The provenance key for the space that the stars are in.
const SPACE_KEY: &str = "goc_space";
/// The name of the sampler, and of the penalty, that follow the density of the errors.
const DENSITY: &str = "density";

impl Dataset {
    /// Candidates about which nothing else is known; features are called `x0`, `x1`, ...
    pub fn new(candidates: Candidates) -> Self {
        let features = (0..candidates.features()).map(|f| Feature::new(format!("x{f}"))).collect();
        Self {
            candidates,
            features,
            truth: None,
            extras: Vec::new(),
            penalties: PenaltyKind::Unknown,
            object_weights: None,
            from_prior: Vec::new(),
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

    /// Whether the features have no names of their own.
    pub fn is_unnamed(&self) -> bool {
        let own = |(f, feature): (usize, &Feature)| feature.name == format!("x{f}");
        self.source.is_none() && self.features.iter().enumerate().all(own)
    }

    /// The row of the input, from 0, that candidate `j` of object `i` came from.
    pub fn row(&self, i: usize, j: usize) -> usize {
        let at = self.candidates.offsets()[i] + j;
        self.rows.as_ref().map_or(at, |rows| rows[at])
    }

    /// A copy without the extra columns, which no method uses.
    pub fn without_extras(&self) -> Self {
        Self {
            candidates: self.candidates.clone(),
            features: self.features.clone(),
            truth: self.truth.clone(),
            extras: Vec::new(),
            provenance: self.provenance.clone(),
            dropped: self.dropped.clone(),
            object_weights: self.object_weights.clone(),
            from_prior: self.from_prior.clone(),
            weight_column: self.weight_column.clone(),
            rows: self.rows.clone(),
            row_names: self.row_names.clone(),
            source: self.source.clone(),
            digest: self.digest.clone(),
            ..*self
        }
    }

    /// The default cost of a penalty of 1 in log likelihood. `divisor` is what the penalties were
    /// divided by, or `None` if they were not scaled. Known log densities are used as they are.
    pub fn penalty_strength(&self, divisor: Option<f64>) -> f64 {
        match (self.penalties, divisor) {
            (PenaltyKind::Weights { strength }, _) => strength,
            (_, None) => 1.0,
            (PenaltyKind::LogDensity | PenaltyKind::Tails { .. }, Some(divisor)) => divisor,
            (PenaltyKind::Unknown, Some(_)) => PENALTY_STRENGTH,
        }
    }

    /// The kind of penalties according to the provenance.
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

    /// Whether candidates drawn from the errors also have the density of the errors as penalties,
    /// so that a likelihood method would count the errors twice.
    pub fn counts_errors_twice(&self) -> bool {
        let drawn = |(key, value): &(String, String)| key == SAMPLER_KEY && value == DENSITY;
        self.penalties == PenaltyKind::LogDensity && self.provenance.iter().any(drawn)
    }

    /// The space of stars, where the provenance names one; actions are recognised by their
    /// transformation.
    pub fn space(&self) -> Option<Space> {
        let said = self.provenance.iter().find(|(key, _)| key == SPACE_KEY);
        said.and_then(|(_, word)| word.parse().ok())
    }

    /// A short digest of the objects' ids and their candidates in the units of the input. Labels
    /// record it, so that candidates of another run are not mistaken for the ones they belong to.
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

    /// Stores the digest before the candidates are changed in place.
    pub fn keep_digest(&mut self) {
        self.digest = Some(self.digest());
    }

    /// The name of object `i`.
    pub fn name(&self, i: usize) -> String {
        self.candidates.name(i)
    }
}
