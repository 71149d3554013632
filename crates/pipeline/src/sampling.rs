//! From measured values with errors to candidates: the one place where uncertainty sets are
//! sampled.
//!
//! [`Sampling`] specifies how: the shape and size of the sets, how many points are drawn and from
//! which distribution, what a candidate costs, and what is done with objects that lose all their
//! points. Objects are processed some hundreds at a time and their candidates go straight into the
//! [`Dataset`], so that the candidates of a large catalogue are in memory only once. An object's
//! candidates depend only on the seed and its name.

use goc::candidates::CandidatesBuilder;
use goc::synthetic::{self, Coasting};
use goc::uncertainty::transform::{Beside, Identity, Kernel, KernelPca, Pca, Transform, TransformError};
use goc::uncertainty::{Penalty, PropagateError, Propagation, Reasons, Sampler, Size, WhenAllRejected};
use goc::{Ids, Points};
use goc_galaxy::catalogue::schema::Columns;
use goc_galaxy::catalogue::{Catalogue, DistancePrior};
use goc_galaxy::spaces::Space;
use serde_json::{Value, json};

use crate::dataset::{Dataset, Extra, Feature, PenaltyKind};
use crate::error::{PipelineError, Result};
use crate::measured::{Measured, MeasuredColumns};
use crate::names::MethodName;
use crate::sampling_names::{PenaltyName, SamplerName, Shape, TransformName, WhenEmpty};
use crate::star_model::StarModel;
use crate::watch::Watch;

/// Objects processed at a time: their candidates are in memory twice.
const CHUNK: usize = 512;

/// Maximum number of objects that a remark names.
const NAMED: usize = 20;

/// Metadata key that lists which columns of a candidate table are features.
pub const FEATURES_KEY: &str = "goc_features";

/// Metadata key under which every table records what was dropped, and why.
pub const DROPPED_KEY: &str = "goc_dropped";

/// Separator between the sentences under [`DROPPED_KEY`].
pub const DROPPED_BETWEEN: &str = "; ";

/// How uncertainty sets are formed and sampled.
///
/// ```
/// use goc_pipeline::Sampling;
/// let sampling = Sampling::default();
/// assert_eq!((sampling.size.to_string().as_str(), sampling.draws), ("sigmas 2", 101));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Shape of the sets; `None` means an ellipsoid if there are correlations, otherwise a box.
    pub shape: Option<Shape>,
    /// Their size.
    pub size: Size,
    /// Candidates drawn per object.
    pub draws: usize,
    /// How they are drawn.
    pub sampler: SamplerName,
    /// The prior on the distances of stars.
    pub distance_prior: Option<DistancePrior>,
    /// From values to features; `None` means actions for a star catalogue, otherwise the values
    /// themselves.
    pub transform: Option<TransformName>,
    /// The space of a star catalogue's features; `None` means actions.
    pub space: Option<Space>,
    /// What a candidate costs.
    pub penalty: PenaltyName,
    /// What to do with an object without valid points; `None` drops it from a star catalogue and
    /// otherwise refuses it.
    pub when_empty: Option<WhenEmpty>,
    /// Whether to keep the transformation's extra outputs, such as the energy of an orbit.
    pub extras: bool,
}

impl Sampling {
    /// Default number of candidates per object: the paper's 101.
    pub const DRAWS: usize = 101;
    /// Default size of the sets, in standard errors.
    pub const SIGMAS: f64 = 2.0;

    /// The default sampler of a method: heavy tails for the marginal mixture, which learns from
    /// them how reliable the quoted errors are; uniform for all others.
    pub fn sampler_for(&self, method: MethodName) -> SamplerName {
        let may = self.penalty == PenaltyName::Density && self.shape != Some(Shape::L1);
        if method == MethodName::Marginal && may { SamplerName::Tails } else { SamplerName::default() }
    }

    /// The paper's choices: a box, the parallax on an even grid, and a penalty on the parallax
    /// alone.
    pub fn of_the_authors() -> Self {
        Self {
            shape: Some(Shape::Box),
            sampler: SamplerName::Grid("parallax".into()),
            penalty: PenaltyName::DensityOf(vec!["parallax".into()]),
            ..Self::default()
        }
    }
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            shape: None,
            size: default_size(),
            draws: Self::DRAWS,
            sampler: SamplerName::default(),
            distance_prior: None,
            transform: None,
            space: None,
            penalty: PenaltyName::default(),
            when_empty: None,
            extras: true,
        }
    }
}

/// Two standard errors.
fn default_size() -> Size {
    Size::sigmas(Sampling::SIGMAS).unwrap_or_else(|_| unreachable!("a finite number above 0"))
}

/// The transformation f, and the names of its results.
pub struct Transformation {
    /// Its name in the provenance.
    pub name: String,
    /// f itself.
    pub transform: Box<dyn Transform + Send>,
    /// Its features.
    pub features: Vec<Feature>,
    /// Its extra outputs.
    pub extras: Vec<Feature>,
    /// The prior of the values.
    pub prior: Option<(Catalogue, DistancePrior)>,
    /// Further settings to record in the provenance.
    pub settings: Vec<(&'static str, Value)>,
}

/// An object that lost points.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// Its row in the input.
    pub row: usize,
    /// Its name.
    pub name: String,
    /// Points drawn for it.
    pub drawn: usize,
    /// Points that became candidates.
    pub kept: usize,
    /// Why the others did not.
    pub reasons: Reasons,
}

/// Where candidates came from: the rows of the input, and what was lost in between.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// Number of rows in the input.
    pub table_rows: usize,
    /// The row of each object of the data set.
    pub rows: Vec<usize>,
    /// Rows that were not used, and why, such as "parallax missing".
    pub dropped: Vec<(usize, String)>,
    /// Objects that lost points, with their rows; `kept` is 0 if nothing is left.
    pub losses: Vec<Loss>,
    /// Rows of objects with a value drawn from a prior, such as "radial_velocity from the prior".
    pub filled: Vec<(usize, String)>,
    /// The choices that produced the candidates, as values.
    pub settings: Vec<(&'static str, Value)>,
}

impl Origin {
    /// Number of points that have no features.
    pub fn rejected(&self) -> usize {
        self.losses.iter().map(|loss| loss.reasons.total()).sum()
    }

    /// The names of objects without any candidate left.
    pub fn empty(&self) -> Vec<&str> {
        emptied(&self.losses)
    }

    /// For each row of the input, what was dropped and why; empty if nothing was.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![String::new(); self.table_rows];
        for (row, problem) in &self.dropped {
            notes[*row].clone_from(problem);
        }
        for (row, what) in &self.filled {
            notes[*row].clone_from(what);
        }
        for loss in &self.losses {
            let what = if loss.kept == 0 { "no candidates" } else { "candidates dropped" };
            let note = &mut notes[loss.row];
            let between = if note.is_empty() { "" } else { "; " };
            *note = format!("{note}{between}{what}: {}", loss.reasons);
        }
        notes
    }
}

/// The names of the objects that kept nothing.
fn emptied(losses: &[Loss]) -> Vec<&str> {
    losses.iter().filter(|loss| loss.kept == 0).map(|loss| loss.name.as_str()).collect()
}

/// The candidates of a star catalogue, in the space given by `sampling`. `ids` names the star of
/// each row.
pub fn star_candidates<C: Columns<Error: Into<PipelineError>>>(
    columns: &C,
    ids: Ids,
    measured: &MeasuredColumns<'_>,
    model: &StarModel,
    sampling: &Sampling,
    seed: u64,
    watch: &dyn Watch,
) -> Result<(Dataset, Origin)> {
    let space = sampling.star_space()?.unwrap_or_default();
    let stars = model.require_observed(columns, watch)?;
    let measured = measured.measure(columns, ids, Some((&stars, model.angles)), sampling.shape, watch)?;
    let f = model.transformation(&stars, model.space(space)?, sampling.distance_prior)?;
    sampling.sample(&measured, &f, seed, watch)
}

impl Sampling {
    /// The space that was requested, by its own name or as the transformation to actions; `None` if
    /// neither was.
    pub fn star_space(&self) -> Result<Option<Space>> {
        match (self.transform, self.space) {
            (None, space) => Ok(space),
            (Some(TransformName::Actions), None | Some(Space::Actions)) => Ok(Some(Space::Actions)),
            (Some(_), None) => Ok(None),
            (Some(transform), Some(space)) => Err(usage!(
                "{{space}} {space} and {{transform}} {transform} both say what the features are; leave one of them out"
            )),
        }
    }

    /// Draws from every object's set and applies `f`; reports what was lost.
    pub fn sample(
        &self,
        measured: &Measured,
        f: &Transformation,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<(Dataset, Origin)> {
        let mut whole = None;
        let each = measured.rows.len().max(1);
        let drawn = self.sample_in_pieces(measured, f, seed, each, watch, &mut |piece, rows| {
            whole = Some((piece, rows));
            Ok(())
        })?;
        // There is one: no candidates at all are an error.
        let (dataset, rows) = whole.ok_or_else(|| failed!("no object has candidates"))?;
        let Drawn { provenance, dropped, origin } = drawn;
        Ok((Dataset { provenance, dropped, ..dataset }, Origin { rows, ..origin }))
    }

    /// The same for about `each` objects at a time, so that all candidates are never in memory
    /// together: `take` gets their data set, without provenance, and the row of each object.
    pub fn sample_in_pieces(
        &self,
        measured: &Measured,
        f: &Transformation,
        seed: u64,
        each: usize,
        watch: &dyn Watch,
        take: &mut dyn FnMut(Dataset, Vec<usize>) -> Result<()>,
    ) -> Result<Drawn> {
        let sampler = match &self.sampler {
            SamplerName::Uniform => Sampler::Uniform,
            SamplerName::Sobol => Sampler::Sobol,
            SamplerName::Density => Sampler::Density,
            SamplerName::Tails => Sampler::Tails,
            SamplerName::Grid(column) => Sampler::Grid { coordinate: measured.coordinate(column)? },
        };
        let penalty = match &self.penalty {
            PenaltyName::None => Penalty::None,
            PenaltyName::Density => Penalty::Surprise,
            PenaltyName::Distance => Penalty::FromCentre,
            PenaltyName::DensityOf(names) => {
                let columns = names.iter().map(|name| measured.coordinate(name));
                Penalty::SurpriseOf(columns.collect::<Result<_, _>>()?)
            }
        };
        let heavy = self.sampler == SamplerName::Tails;
        if heavy && measured.shape == Shape::L1 {
            return Err(usage!("{{sampler}} tails needs normal errors, not those of the shape l1"));
        }
        if heavy && !matches!(self.penalty, PenaltyName::None | PenaltyName::Density) {
            return Err(usage!(
                "{{sampler}} tails goes with {{penalty}} density or none, not {}",
                self.penalty
            ));
        }
        if self.draws == 0 {
            return Err(usage!("at least one point must be drawn"));
        }
        let usual = if measured.star { WhenEmpty::Drop } else { WhenEmpty::Refuse };
        let when_empty = self.when_empty.unwrap_or(usual);
        let n = measured.rows.len();
        let too_many =
            || failed!("{} candidates of {n} objects do not fit into memory; draw fewer", self.draws);
        let (q, priced) = (f.features.len() + measured.with, self.penalty != PenaltyName::None);
        // Room for the candidates of these rows.
        let room = |rows: &[usize]| -> Result<(CandidatesBuilder, Vec<Vec<f64>>)> {
            let sets = rows.iter().fold(0_usize, |sum, row| sum.saturating_add(measured.times(*row)));
            let room = sets.saturating_mul(self.draws);
            let builder = CandidatesBuilder::try_with_capacity(q, rows.len(), room, priced);
            let mut extras = vec![Vec::new(); if self.extras { f.extras.len() } else { 0 }];
            for column in &mut extras {
                column.try_reserve_exact(room).map_err(|_| too_many())?;
            }
            Ok((builder.map_err(|_| too_many())?, extras))
        };
        if let Some((_, prior)) = f.prior {
            watch.note(&format!("candidates are drawn in proportion to the distance prior {prior}"));
        }
        let own = measured.names.len() - measured.with;
        let mut propagation = Propagation::new(Beside::new(f.transform.as_ref(), own, measured.with));
        if let Some((catalogue, prior)) = f.prior {
            propagation = propagation.prior(move |row| catalogue.ln_prior(prior, row));
        }
        let propagation = propagation
            .sampler(sampler)
            .draws(self.draws)
            .penalty(penalty)
            .when_all_rejected(match when_empty {
                WhenEmpty::Refuse => WhenAllRejected::Refuse,
                WhenEmpty::Drop => WhenAllRejected::LeaveOut,
            })
            .seed(seed);

        let features = [f.features.clone(), measured.features(own..measured.names.len())].concat();
        let (mut found, mut losses) = (false, Vec::new());
        watch.begin("objects", Some(n as u64));
        for piece in measured.rows.chunks(each.max(1)) {
            let ((mut builder, mut extras), mut rows) = (room(piece)?, Vec::with_capacity(piece.len()));
            for part in piece.chunks(CHUNK) {
                let object = |&row| measured.object(row, self.size, watch);
                let objects = part.iter().map(object).collect::<Result<Vec<_>>>()?;
                let report = propagation.propagate_into(&objects, &mut builder, &mut extras);
                let report = report.map_err(|error| explain(error, measured, part))?;
                rows.extend(report.objects().iter().map(|&i| part[i]));
                let mut lost: Vec<_> = report.losses().iter().chain(report.left_out()).collect();
                lost.sort_by_key(|loss| loss.object);
                losses.extend(lost.into_iter().map(|loss| Loss {
                    row: part[loss.object],
                    name: measured.name(part[loss.object]),
                    drawn: loss.drawn,
                    kept: loss.drawn - loss.reasons.total(),
                    reasons: loss.reasons.clone(),
                }));
                part.iter().for_each(|_| watch.tick());
            }
            if rows.is_empty() {
                continue;
            }
            found = true;
            let extras = f.extras.iter().cloned().zip(extras);
            let dataset = Dataset {
                extras: extras.map(|(feature, values)| Extra { feature, values }).collect(),
                penalties: match self.penalty {
                    PenaltyName::Density if heavy => PenaltyKind::Tails { values: measured.uncertain() },
                    PenaltyName::Density | PenaltyName::DensityOf(_) => PenaltyKind::LogDensity,
                    PenaltyName::None | PenaltyName::Distance => PenaltyKind::Unknown,
                },
                features: features.clone(),
                from_prior: measured.with_a_value_from_prior(&rows),
                source: measured.source().map(str::to_string),
                ..Dataset::new(builder.build_with(ids_of(measured, &rows))?)
            };
            take(dataset, rows)?;
        }
        watch.end();
        let dropped = say(&losses, measured, watch);
        if !found {
            return Err(failed!("no object has candidates"));
        }
        let settings = self.settings(measured, f, seed);
        let (table_rows, gone) = (measured.table_rows(), measured.dropped.clone());
        let provenance = provenance(&settings, &features, &dropped);
        let (rows, filled) = (Vec::new(), measured.filled());
        let origin = Origin { table_rows, rows, dropped: gone, losses, filled, settings };
        Ok(Drawn { provenance, dropped, origin })
    }

    /// f for values that are not stars.
    pub fn transformation(&self, measured: &Measured) -> Result<Transformation> {
        let numbered = |prefix: &str, q: usize| -> Vec<Feature> {
            (1..=q).map(|c| Feature::new(format!("{prefix}{c}"))).collect()
        };
        let own = measured.names.len() - measured.with;
        let centres = || {
            let value = |&row: &usize| measured.value(row)[..own].to_vec();
            let rows: Vec<Vec<f64>> = measured.rows.iter().map(value).collect();
            Ok::<_, PipelineError>(Points::from_rows(&rows)?)
        };
        let unfit = |error: TransformError| usage!("{{transform}}: {error}");
        let kernel_pca = |kernel, q| -> Result<Box<dyn Transform + Send>> {
            Ok(Box::new(KernelPca::fit(&centres()?, kernel, q).map_err(unfit)?))
        };
        let name = self.transform.unwrap_or(TransformName::None);
        let (transform, features): (Box<dyn Transform + Send>, Vec<Feature>) = match name {
            TransformName::None => (Box::new(Identity::new(own)), measured.features(0..own)),
            TransformName::Pca(q) => (Box::new(Pca::fit(&centres()?, q).map_err(unfit)?), numbered("pc", q)),
            TransformName::KernelPca(q) => (kernel_pca(Kernel::Rbf { gamma: None }, q)?, numbered("kpc", q)),
            TransformName::KernelPcaPoly(q) => {
                let kernel = Kernel::Polynomial { degree: 3, gamma: None, coef0: 1.0 };
                (kernel_pca(kernel, q)?, numbered("kpc", q))
            }
            TransformName::Coasting => {
                if measured.names[..own] != synthetic::COORDINATES {
                    return Err(usage!(
                        "{{transform}} coasting takes the values {} in this order, not {}",
                        synthetic::COORDINATES.join(", "),
                        measured.names[..own].join(", ")
                    ));
                }
                (Box::new(Coasting), synthetic::FEATURES.map(Feature::new).into())
            }
            TransformName::Actions => {
                return Err(usage!("{{transform}} actions needs a star catalogue"));
            }
        };
        let (extras, prior, settings) = (Vec::new(), None, Vec::new());
        Ok(Transformation { name: name.to_string(), transform, features, extras, prior, settings })
    }

    /// The choices that produced these candidates.
    fn settings(&self, measured: &Measured, f: &Transformation, seed: u64) -> Vec<(&'static str, Value)> {
        let mut settings = vec![
            ("version", json!(env!("CARGO_PKG_VERSION"))),
            ("seed", json!(seed)),
            ("shape", json!(measured.shape.to_string())),
            ("size", json!(self.size.to_string())),
            ("sampler", json!(self.sampler.to_string())),
            ("m", json!(self.draws)),
            ("transform", json!(f.name)),
            ("penalty", json!(self.penalty.to_string())),
        ];
        if self.sampler == SamplerName::Tails {
            settings.push(("measured", json!(measured.uncertain())));
        }
        if let Some((_, prior)) = f.prior {
            settings.push(("distance_prior", json!(prior.to_string())));
        }
        settings.extend(measured.own_settings());
        settings.extend(f.settings.iter().cloned());
        settings
    }
}

/// What is known once all candidates are drawn.
pub struct Drawn {
    /// How the candidates were made, as metadata: keys and texts.
    pub provenance: Vec<(String, String)>,
    /// What was dropped, in sentences.
    pub dropped: Vec<String>,
    /// What became of the rows; [`Origin::rows`] are those that the pieces came with.
    pub origin: Origin,
}

/// A value in the form in which metadata store it.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// Settings in the form in which metadata store them, and the other provenance of a candidate
/// table.
fn provenance(
    settings: &[(&'static str, Value)],
    features: &[Feature],
    dropped: &[String],
) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> =
        settings.iter().map(|(key, value)| (format!("goc_{key}"), plain(value))).collect();
    let names: Vec<&str> = features.iter().map(|feature| feature.name.as_str()).collect();
    all.push((FEATURES_KEY.into(), names.join(",")));
    if !dropped.is_empty() {
        all.push((DROPPED_KEY.into(), dropped.join(DROPPED_BETWEEN)));
    }
    all
}

/// The names of the objects of these rows.
fn ids_of(measured: &Measured, rows: &[usize]) -> Ids {
    match &measured.ids {
        Ids::Integer(ids) => Ids::Integer(rows.iter().map(|&row| ids[row]).collect()),
        Ids::Text(ids) => Ids::Text(rows.iter().map(|&row| ids[row].clone()).collect()),
        _ => Ids::Integer(rows.iter().map(|&row| row as i64).collect()),
    }
}

/// Reports what was lost, by reason, and names the objects with nothing left. Returns these
/// sentences together with those on what was dropped before the draws, which have already been
/// reported.
fn say(losses: &[Loss], measured: &Measured, watch: &dyn Watch) -> Vec<String> {
    let mut sentences = Vec::new();
    let (all_rows, left) = (measured.table_rows(), measured.rows.len());
    if left < all_rows {
        let gone = all_rows - left;
        sentences.push(format!("dropped {gone} of {all_rows} objects: a value is missing or not possible"));
    }
    let mut all = Reasons::default();
    for loss in losses {
        all.add(&loss.reasons);
    }
    let mut said = |sentence: String| {
        watch.note(&sentence);
        sentences.push(sentence);
    };
    if all.total() > 0 {
        said(format!("{} points of {} objects were rejected: {all}", all.total(), losses.len()));
    }
    let empty = emptied(losses);
    if !empty.is_empty() {
        let more = if empty.len() > NAMED { ", …" } else { "" };
        let named = empty[..empty.len().min(NAMED)].join(", ");
        said(format!("dropped {} objects, all their points were rejected: {named}{more}", empty.len()));
    }
    sentences
}

/// The library counts objects within the part it was given; users know them by name and row.
fn explain(error: PropagateError, measured: &Measured, part: &[usize]) -> PipelineError {
    let row = |i: usize| part.get(i).copied().unwrap_or(part[0]);
    match error {
        PropagateError::AllRejected { object, drawn, reasons } => {
            let way = "fix its values, or use {when_empty=drop}";
            let problem = format!("all {drawn} points were rejected ({reasons}); {way}");
            measured.failed(row(object.parse().unwrap_or(0)), &problem)
        }
        PropagateError::Penalty { object, draw, value } => {
            measured.failed(row(object), &format!("draw {draw}: the penalty {value} is not a finite number"))
        }
        PropagateError::PenaltyTwice { .. } => usage!("{{penalty}} names a column twice"),
        other => PipelineError::Failed(other.to_string()),
    }
}
