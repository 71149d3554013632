//! Stars: how a catalogue is read, the model of the Galaxy, and the transformation to a space built
//! from both.

use std::sync::Arc;

use goc_galaxy::actions::{ActionFinder, Outcome, Variant};
use goc_galaxy::catalogue::schema::{Columns, DepthError, Quantity, SchemaError, StarColumns};
use goc_galaxy::catalogue::{Angles, Catalogue, DistancePrior};
use goc_galaxy::frames::{Galactocentric, JphiSign, Sun};
use goc_galaxy::potential::{MWPotential2014, McMillan17, Potential, ini};
use goc_galaxy::spaces::{Needs, Space, SpaceModel};
use serde_json::{Value, json};

use crate::dataset::Feature;
use crate::error::{PipelineError, Result};
use crate::measured::of_schema;
use crate::sampling::Transformation;
use crate::watch::Watch;

/// How a star catalogue is read, and the model of the Galaxy.
///
/// ```
/// use goc_pipeline::StarModel;
/// let model = StarModel::default();
/// assert_eq!((model.potential.as_str(), model.zero_point), ("mcmillan17", 0.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StarModel {
    /// Columns whose names differ from the usual ones.
    pub other_names: Vec<(Quantity, String)>,
    /// Unit of positions on the sky if their columns state none.
    pub angles: Angles,
    /// The Sun's position and velocity.
    pub sun: Sun,
    /// The Galaxy: `mcmillan17`, `mwpotential2014`, or a file of components (AGAMA's .ini).
    pub potential: String,
    /// How actions are computed.
    pub variant: Variant,
    /// Sign convention of Jphi.
    pub jphi: JphiSign,
    /// Added to every parallax, mas.
    pub zero_point: f64,
}

/// The usual names, McMillan's Galaxy, the paper's Sun.
impl Default for StarModel {
    fn default() -> Self {
        Self {
            other_names: Vec::new(),
            angles: Angles::Degrees,
            sun: Sun::hattori(),
            potential: "mcmillan17".into(),
            variant: Variant::Converged,
            jphi: JphiSign::Paper,
            zero_point: 0.0,
        }
    }
}

/// The name of the space in settings and, after `goc_`, in the provenance.
const SPACE: &str = "space";

/// A feature with its unit, if it has one.
fn feature(name: &str, unit: &str) -> Feature {
    Feature { name: name.to_string(), unit: (!unit.is_empty()).then(|| unit.to_string()) }
}

/// A star's position, or why it has none.
pub type Place = Result<Galactocentric, String>;

/// Jr, Jz, Jphi and energy, NaN where undefined, and why there are no actions.
pub fn told_actions(outcome: &Outcome, sign: JphiSign) -> ([f64; 4], String) {
    let none = |energy, why: &str| ([f64::NAN, f64::NAN, f64::NAN, energy], why.to_string());
    match outcome {
        Outcome::Bound(a) => ([a.jr, a.jz, sign.of(a.jphi), a.energy], String::new()),
        // The energy is known nevertheless, as in the authors' tables.
        Outcome::Unbound { energy } => none(*energy, "unbound"),
        Outcome::Undefined(reason) => none(f64::NAN, &reason.to_string()),
        _ => none(f64::NAN, "no actions"),
    }
}

impl StarModel {
    /// The columns of a star catalogue, if the table is one.
    pub fn find<C: Columns<Error: Into<PipelineError>>>(&self, columns: &C) -> Result<Option<StarColumns>> {
        StarColumns::find(columns, &self.other_names).map_err(|error| of_schema(error, columns))
    }

    /// The columns of stars, measured or not; reports which they are and what is converted.
    pub fn require<C: Columns<Error: Into<PipelineError>>>(
        &self,
        columns: &C,
        watch: &dyn Watch,
    ) -> Result<StarColumns> {
        self.said(columns, StarColumns::require(columns, &self.other_names), watch)
    }

    /// Like [`Self::require`], for measured values.
    pub fn require_observed<C: Columns<Error: Into<PipelineError>>>(
        &self,
        columns: &C,
        watch: &dyn Watch,
    ) -> Result<StarColumns> {
        self.said(columns, StarColumns::require_observed(columns, &self.other_names), watch)
    }

    fn said<C: Columns<Error: Into<PipelineError>>>(
        &self,
        columns: &C,
        found: Result<StarColumns, SchemaError<C::Error>>,
        watch: &dyn Watch,
    ) -> Result<StarColumns> {
        let stars = found.map_err(|error| of_schema(error, columns))?;
        watch.note(&format!("star columns: {}", stars.names.join(", ")));
        let converted = stars.conversions(columns, self.angles);
        for conversion in converted.map_err(|error| of_schema(error, columns))? {
            watch.note(&conversion.to_string());
        }
        let others = stars.other_velocities(columns, &self.other_names);
        if !others.is_empty() {
            watch.note(&format!(
                "radial velocity: {} (there is also {}; {{radial_velocity=COLUMN}} chooses)",
                stars.names[5],
                others.join(", ")
            ));
        }
        Ok(stars)
    }

    /// How rows become Galactocentric positions; `None` if the rows already are.
    pub fn catalogue(&self, stars: &StarColumns) -> Result<Option<Catalogue>> {
        stars.catalogue(self.angles, self.sun, self.zero_point).map_err(|error| {
            PipelineError::Usage(match error {
                DepthError::NoParallax => {
                    "{zero_point} is for parallaxes; the catalogue has distances".to_string()
                }
                other => format!("{{zero_point}}: {other}"),
            })
        })
    }

    /// The position of each star, or why it is unknown. `missing` says which numbers besides NaN
    /// mean "missing".
    pub fn places<C: Columns<Error: Into<PipelineError>>>(
        &self,
        columns: &C,
        stars: &StarColumns,
        missing: &dyn Fn(f64) -> bool,
    ) -> Result<Vec<Place>> {
        let rows = stars.read(columns, self.angles).map_err(|error| of_schema(error, columns))?;
        let catalogue = self.catalogue(stars)?;
        let place = |row: usize| -> Place {
            let given = |c: usize| rows.columns[c].numbers[row];
            if let Some(c) = (0..6).find(|&c| given(c).is_nan() || missing(given(c))) {
                return Err(format!("{} missing", stars.names[c]));
            }
            if let Some(c) = (0..6).find(|&c| !given(c).is_finite()) {
                return Err(format!("{} infinite", stars.names[c]));
            }
            let star = rows.star(row);
            match &catalogue {
                Some(catalogue) => catalogue.places(&star)[0].map_err(|reason| reason.to_string()),
                None => {
                    let [x, y, z, vx, vy, vz] = star;
                    Ok(Galactocentric { position: [x, y, z], velocity: [vx, vy, vz] })
                }
            }
        };
        Ok((0..rows.len()).map(place).collect())
    }

    /// The potential.
    pub fn potential(&self) -> Result<Arc<dyn Potential>> {
        let failed = |error: &dyn std::fmt::Display| failed!("{}: {error}", self.potential);
        Ok(match self.potential.to_ascii_lowercase().as_str() {
            "mcmillan17" => Arc::new(McMillan17::new(self.variant.build())),
            "mwpotential2014" => Arc::new(MWPotential2014::new()),
            name if name.ends_with(".ini") => {
                let text = std::fs::read_to_string(&self.potential).map_err(|error| failed(&error))?;
                Arc::new(ini::parse(&text).map_err(|error| failed(&error))?)
            }
            other => {
                return Err(usage!(
                    "{{potential}} {other}: give mcmillan17, mwpotential2014 or a file that ends in .ini"
                ));
            }
        })
    }

    /// The action finder; this computes its tables.
    pub fn finder(&self) -> Result<ActionFinder> {
        ActionFinder::new(self.potential()?, self.variant)
            .map_err(|error| failed!("{}: {error}", self.potential))
    }

    /// A space with the parts of the Galaxy model that it needs; nothing else is computed.
    pub fn space(&self, space: Space) -> Result<SpaceModel> {
        SpaceModel::of(space, || self.potential(), || self.finder().map(Arc::new))
    }

    /// From the measurements of a star to its actions; the energy is carried along.
    pub fn actions(
        &self,
        stars: &StarColumns,
        finder: Arc<ActionFinder>,
        prior: Option<DistancePrior>,
    ) -> Result<Transformation> {
        self.transformation(stars, SpaceModel::Actions(finder), prior)
    }

    /// From the measurements of a star to its features in a space.
    pub fn transformation(
        &self,
        stars: &StarColumns,
        model: SpaceModel,
        prior: Option<DistancePrior>,
    ) -> Result<Transformation> {
        let space = model.space();
        let Some(catalogue) = self.catalogue(stars)? else {
            let message = "candidates need a catalogue of measured values, not Galactocentric ones";
            return Err(PipelineError::Usage(message.into()));
        };
        let named = |told: &[(&str, &str)]| told.iter().map(|&(name, unit)| feature(name, unit)).collect();
        Ok(Transformation {
            name: space.to_string(),
            transform: model.transform(catalogue, self.jphi),
            features: named(space.features()),
            extras: named(space.extras()),
            prior: prior.map(|prior| (catalogue, prior)),
            settings: self.settings_of(space),
        })
    }

    /// The provenance of candidates in this space: everything their numbers depend on.
    fn settings_of(&self, space: Space) -> Vec<(&'static str, Value)> {
        let used = |key: &str| match key {
            "potential" | "variant" | "jphi_sign" => space.needs() != Needs::Nothing,
            "sun" => space.needs_sun(),
            _ => true,
        };
        // Candidates in actions are identified by their transformation, as before other spaces
        // existed.
        let told = (space != Space::Actions).then(|| (SPACE, json!(space.to_string())));
        let model = self.settings().into_iter().filter(|(key, _)| used(key));
        told.into_iter().chain(model).collect()
    }

    /// What the provenance of every output records about it.
    pub fn settings(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("potential", json!(self.potential)),
            ("variant", json!(self.variant.to_string())),
            ("sun", json!(self.sun.to_string())),
            ("jphi_sign", json!(self.jphi.description())),
            ("angles", json!(self.angles.to_string())),
            ("zero_point_mas", json!(self.zero_point)),
        ]
    }
}
