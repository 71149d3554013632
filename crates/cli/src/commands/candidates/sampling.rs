//! The flags that say how uncertainty sets are sampled, and doing it.
//!
//! Objects are taken some thousands at a time and their candidates go straight into the columns of the result, so that the
//! candidates of a large catalogue are in memory once.

use clap::{Args, ValueEnum};
use goc::synthetic::{self, Coasting};
use goc::uncertainty::transform::{Identity, Kernel, KernelPca, Pca, Transform, TransformError};
use goc::uncertainty::{
    Object, Penalty, PropagateError, Propagation, Reasons, Sampler, Size, WhenAllRejected,
};
use goc::{Ids, Points};
use goc_galaxy::catalogue::{Catalogue, DistancePrior};
use goc_tables::{Column, Data, Table};
use serde_json::{Value, json};

use super::choices::{PenaltyName, SamplerName, TransformName};
use super::long::{Feature, Long};
use crate::choices::{at_least_one, typed};
use crate::fail::Fail;
use goc_pipeline::long_table::{DROPPED_BETWEEN, DROPPED_KEY, FEATURES_KEY};
use crate::measured_table::{Measured, ShapeName};
use crate::screen;

/// Objects worked on at a time.
const CHUNK: usize = 8192;

/// Objects that a message names, at most.
const NAMED: usize = 20;

/// How the uncertainty sets are formed and sampled.
#[derive(Args, Clone, Debug)]
pub struct SamplingArgs {
    /// Form of the uncertainty sets [default: ellipsoid if there are correlations, else box]
    #[arg(long, value_enum)]
    pub shape: Option<ShapeName>,

    /// Size of the sets in errors [default: 2]
    #[arg(long, value_name = "N", group = "size", allow_negative_numbers = true)]
    pub sigmas: Option<f64>,

    /// Size by the probability that the truth lies outside
    #[arg(long, value_name = "P", group = "size", allow_negative_numbers = true)]
    pub eta: Option<f64>,

    /// Size by the half-width of each set's widest value; the errors give the form only
    #[arg(long, value_name = "R", group = "size", allow_negative_numbers = true)]
    pub radius: Option<f64>,

    /// Points drawn for each object
    #[arg(short = 'm', long, value_name = "N", default_value_t = 101, value_parser = at_least_one())]
    pub draws: usize,

    /// How they are drawn: uniform, sobol (evenly spread), grid:COLUMN (one value in even steps, the others uniform) or
    /// density (from the error distribution, not cut off at the set)
    #[arg(long, default_value = "uniform")]
    pub sampler: SamplerName,

    /// What is known of the distances of stars beforehand: volume:REACH (as many in every volume, none beyond REACH kpc) or edsd:LENGTH
    /// (their density falls with that scale length, kpc); points are taken from the set in proportion to it
    #[arg(long, value_name = "PRIOR")]
    pub distance_prior: Option<DistancePrior>,

    /// From values to features: actions (Jr, Jz, Jphi of stars), none, pca:Q, kernel-pca:Q (radial), kernel-pca-poly:Q (cubic),
    /// or coasting (a toy: where tracks cross) [default: actions for a star catalogue, else none]
    #[arg(long)]
    pub transform: Option<TransformName>,

    /// What a candidate costs: none, density (minus its log density), density:COLUMN[,COLUMN] (of these values only) or
    /// distance (squared, from the features of what was measured)
    #[arg(long, default_value = "density")]
    pub penalty: PenaltyName,

    /// An object none of whose points has features: refuse it, or go on without and name it (drop)
    /// [default: drop for a star catalogue, else refuse]
    #[arg(long, value_enum)]
    pub when_empty: Option<WhenEmpty>,
}

/// `--when-empty`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WhenEmpty {
    Refuse,
    Drop,
}

/// The transformation f, and what its results are called.
pub struct Function {
    /// As the metadata have it.
    pub name: String,
    pub transform: Box<dyn Transform>,
    pub columns: Vec<Feature>,
    /// So many of the columns are features; those behind are carried along.
    pub features: usize,
    /// How the values are distributed beforehand.
    pub prior: Option<(Catalogue, DistancePrior)>,
    /// What else the metadata should say about it.
    pub settings: Vec<(&'static str, Value)>,
}

/// What became of an object that lost points.
pub struct Loss {
    /// Its row in the input.
    pub row: usize,
    pub drawn: usize,
    pub kept: usize,
    pub reasons: Reasons,
}

/// The candidates of a catalogue.
pub struct Sampled {
    pub table: Table,
    /// The input's row of each object, in the order of the candidates, and how many it has.
    pub objects: Vec<(usize, usize)>,
    pub losses: Vec<Loss>,
    pub settings: Vec<(&'static str, Value)>,
    pub features: Vec<String>,
}

impl SamplingArgs {
    /// What the authors did: a box, the parallax in even steps, a penalty for the parallax alone.
    pub fn of_the_authors(draws: usize, sigmas: f64, distance_prior: Option<DistancePrior>) -> Self {
        Self {
            shape: Some(ShapeName::Box),
            sigmas: Some(sigmas),
            eta: None,
            radius: None,
            draws,
            sampler: SamplerName::Grid("parallax".into()),
            distance_prior,
            transform: None,
            penalty: PenaltyName::DensityOf(vec!["parallax".into()]),
            when_empty: None,
        }
    }

    /// Draws from every object's set and applies `f`. Says what was lost.
    pub fn sample(
        &self,
        measured: &Measured,
        f: &Function,
        seed: u64,
        when_empty: WhenEmpty,
        kept: &[&Column],
    ) -> Result<Sampled, Fail> {
        let size = self.size()?;
        let sampler = match &self.sampler {
            SamplerName::Uniform => Sampler::Uniform,
            SamplerName::Sobol => Sampler::Sobol,
            SamplerName::Density => Sampler::Density,
            SamplerName::Grid(column) => Sampler::Grid { coordinate: measured.coordinate(column)? },
        };
        let columns: Vec<usize> = match &self.penalty {
            PenaltyName::DensityOf(names) => {
                names.iter().map(|name| measured.coordinate(name)).collect::<Result<_, _>>()?
            }
            _ => Vec::new(),
        };
        let penalty = || match self.penalty {
            PenaltyName::None => Penalty::None,
            PenaltyName::Density => Penalty::Surprise,
            PenaltyName::DensityOf(_) => Penalty::SurpriseOf(columns.clone()),
            PenaltyName::Distance => Penalty::FromCentre,
        };

        let room = measured.rows.len().saturating_mul(self.draws);
        let too_many = || {
            let (m, n) = (self.draws, measured.rows.len());
            Fail::failed(format!("{m} candidates of {n} objects do not fit into memory; draw fewer"))
        };
        let mut long = Long::with_room(room, f.columns.len(), !matches!(self.penalty, PenaltyName::None))
            .map_err(|_| too_many())?;
        if let Some((_, prior)) = f.prior {
            screen::note(format!("points are taken in proportion to the distance prior {prior}"));
        }
        let mut losses = Vec::new();
        let bar = screen::progress(measured.rows.len() as u64, "objects");
        for part in measured.rows.chunks(CHUNK) {
            let objects = part
                .iter()
                .map(|&row| Ok(Object::new(measured.key(row), measured.set(row, size)?)))
                .collect::<Result<Vec<_>, Fail>>()?;
            let mut made = Propagation::new(f.transform.as_ref());
            if let Some((catalogue, prior)) = f.prior {
                made = made.prior(move |row| catalogue.ln_prior(prior, row));
            }
            let (sets, report) = made
                .sampler(sampler)
                .draws(self.draws)
                .penalty(penalty())
                .when_all_rejected(match when_empty {
                    WhenEmpty::Refuse => WhenAllRejected::Refuse,
                    WhenEmpty::Drop => WhenAllRejected::LeaveOut,
                })
                .ids(Ids::Integer((0..part.len() as i64).collect()))
                .seed(seed)
                .propagate_some(&objects)
                .map_err(|error| explain(error, measured, part))?;
            if let Some(sets) = sets {
                long.take(&sets, report.objects().iter().map(|&i| part[i]));
            }
            let mut lost: Vec<_> = report.losses().iter().chain(report.left_out()).collect();
            lost.sort_by_key(|loss| loss.object);
            losses.extend(lost.into_iter().map(|loss| Loss {
                row: part[loss.object],
                drawn: loss.drawn,
                kept: loss.drawn - loss.reasons.total(),
                reasons: loss.reasons.clone(),
            }));
            bar.inc(part.len() as u64);
        }
        bar.finish_and_clear();
        let dropped = say(&losses, measured);
        if long.objects.is_empty() {
            return Err(Fail::failed("no object has candidates"));
        }

        let settings = self.settings(measured, f, seed);
        let objects = long.objects.clone();
        let mut table = long.into_table(measured.names(), &f.columns, kept)?;
        for (key, value) in &settings {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            table.set_metadata(format!("goc_{key}"), text);
        }
        let features: Vec<String> = f.columns[..f.features].iter().map(|f| f.name.clone()).collect();
        table.set_metadata(FEATURES_KEY, features.join(","));
        if !dropped.is_empty() {
            table.set_metadata(DROPPED_KEY, dropped.join(DROPPED_BETWEEN));
        }
        Ok(Sampled { table, objects, losses, settings, features })
    }

    /// The size of the sets, checked.
    pub fn size(&self) -> Result<Size, Fail> {
        let size = match (self.sigmas, self.eta, self.radius) {
            (_, Some(eta), _) => Size::eta(eta),
            (_, _, Some(radius)) => Size::radius(radius),
            (sigmas, _, _) => Size::sigmas(sigmas.unwrap_or(2.0)),
        };
        size.map_err(|e| Fail::usage(e.to_string()))
    }

    /// A table that is not one of stars has no distances.
    pub fn refuse_prior(&self) -> Result<(), Fail> {
        match self.distance_prior {
            Some(_) => Err(Fail::usage("--distance-prior needs a star catalogue and --transform actions")),
            None => Ok(()),
        }
    }

    /// f for values that are not stars, and the names and units of what it gives.
    pub fn function(&self, measured: &Measured) -> Result<Function, Fail> {
        let numbered = |prefix: &str, q: usize| {
            (1..=q).map(|c| Feature { name: format!("{prefix}{c}"), unit: None }).collect()
        };
        let centres = || {
            let rows: Vec<Vec<f64>> = measured.rows.iter().map(|&row| measured.value(row)).collect();
            Points::from_rows(&rows).map_err(|e| Fail::failed(e.to_string()))
        };
        let kernel_pca = |kernel, q| -> Result<Box<dyn Transform>, Fail> {
            Ok(Box::new(KernelPca::fit(&centres()?, kernel, q).map_err(unfit)?))
        };
        let name = self.transform.unwrap_or(TransformName::None);
        let (transform, columns): (Box<dyn Transform>, Vec<Feature>) = match name {
            TransformName::None => {
                let names = measured
                    .columns()
                    .map(|c| Feature { name: c.name().to_string(), unit: c.unit().map(str::to_string) });
                let names: Vec<_> = names.collect();
                (Box::new(Identity::new(names.len())), names)
            }
            TransformName::Pca(q) => (Box::new(Pca::fit(&centres()?, q).map_err(unfit)?), numbered("pc", q)),
            TransformName::KernelPca(q) => (kernel_pca(Kernel::Rbf { gamma: None }, q)?, numbered("kpc", q)),
            TransformName::KernelPcaPoly(q) => {
                let kernel = Kernel::Polynomial { degree: 3, gamma: None, coef0: 1.0 };
                (kernel_pca(kernel, q)?, numbered("kpc", q))
            }
            TransformName::Coasting => {
                let names: Vec<&str> = measured.columns().map(Column::name).collect();
                if names != synthetic::COORDINATES {
                    return Err(Fail::usage(format!(
                        "--transform coasting takes the values {} in this order, not {}",
                        synthetic::COORDINATES.join(", "),
                        names.join(", ")
                    )));
                }
                (
                    Box::new(Coasting),
                    synthetic::FEATURES.map(|name| Feature { name: name.into(), unit: None }).into(),
                )
            }
            TransformName::Actions => return Err(Fail::usage("--transform actions needs a star catalogue")),
        };
        let features = columns.len();
        Ok(Function {
            name: name.to_string(),
            transform,
            columns,
            features,
            prior: None,
            settings: Vec::new(),
        })
    }

    /// The choices that made these candidates.
    fn settings(&self, measured: &Measured, f: &Function, seed: u64) -> Vec<(&'static str, Value)> {
        let size = match (self.sigmas, self.eta, self.radius) {
            (_, Some(eta), _) => format!("eta {eta}"),
            (_, _, Some(radius)) => format!("radius {radius}"),
            (sigmas, _, _) => format!("sigmas {}", sigmas.unwrap_or(2.0)),
        };
        let mut settings = vec![
            ("version", json!(env!("CARGO_PKG_VERSION"))),
            ("seed", json!(seed)),
            ("shape", json!(typed(measured.shape))),
            ("size", json!(size)),
            ("sampler", json!(self.sampler.to_string())),
            ("m", json!(self.draws)),
            ("transform", json!(f.name)),
            ("penalty", json!(self.penalty.to_string())),
        ];
        if let Some((_, prior)) = f.prior {
            settings.push(("distance_prior", json!(prior.to_string())));
        }
        settings.extend(f.settings.iter().cloned());
        settings
    }
}

impl Sampled {
    /// For machines.
    pub fn summary(&self, measured: &Measured) -> serde_json::Map<String, Value> {
        let mut object = serde_json::Map::new();
        for (key, value) in &self.settings {
            object.insert((*key).into(), value.clone());
        }
        let empty = self.losses.iter().filter(|loss| loss.kept == 0);
        let names: Vec<String> = empty.map(|loss| measured.names().name(loss.row)).collect();
        let mut put = |key: &str, value: Value| object.insert(key.into(), value);
        put("features", json!(self.features));
        put("n_objects", json!(self.objects.len()));
        put("n_candidates", json!(self.table.rows()));
        put("n_features", json!(self.features.len()));
        put("n_objects_missing", json!(measured.table().rows() - measured.rows.len()));
        put("n_objects_empty", json!(names.len()));
        put("objects_empty", json!(names));
        put("n_rejected", json!(self.losses.iter().map(|loss| loss.reasons.total()).sum::<usize>()));
        object
    }

    /// A row for each object that lost points: drawn, kept, why.
    pub fn loss_table(&self, measured: &Measured) -> Result<Table, Fail> {
        let rows = || self.losses.iter();
        let names = rows().map(|loss| measured.names().name(loss.row));
        let count =
            |number: &dyn Fn(&Loss) -> usize| Data::I32(rows().map(|loss| number(loss) as i32).collect());
        Ok(Table::new(vec![
            Column::new("object", Data::Text(names.collect())),
            Column::new("drawn", count(&|loss| loss.drawn)),
            Column::new("kept", count(&|loss| loss.kept)),
            Column::new("reasons", Data::Text(rows().map(|loss| loss.reasons.to_string()).collect())),
        ])?)
    }
}

/// What was lost, by reason, and the objects of which nothing is left, by name: said, and given back as sentences together with what
/// was dropped before anything was drawn (which has been said).
fn say(losses: &[Loss], measured: &Measured) -> Vec<String> {
    let mut sentences = Vec::new();
    let gone = measured.table().rows() - measured.rows.len();
    if gone > 0 {
        let all = measured.table().rows();
        sentences.push(format!("dropped {gone} of {all} objects: a value is missing or not possible"));
    }
    let mut all = Reasons::default();
    for loss in losses {
        all.add(&loss.reasons);
    }
    if all.total() > 0 {
        sentences.push(format!("{} points of {} objects were rejected: {all}", all.total(), losses.len()));
        screen::note(&sentences[sentences.len() - 1]);
    }
    let empty: Vec<&Loss> = losses.iter().filter(|loss| loss.kept == 0).collect();
    if !empty.is_empty() {
        let named: Vec<String> =
            empty.iter().take(NAMED).map(|loss| measured.names().name(loss.row)).collect();
        let more = if empty.len() > NAMED { ", …" } else { "" };
        sentences.push(format!(
            "dropped {} objects, all their points were rejected: {}{more}",
            empty.len(),
            named.join(", ")
        ));
        screen::note(&sentences[sentences.len() - 1]);
    }
    sentences
}

fn unfit(error: TransformError) -> Fail {
    Fail::usage(format!("--transform: {error}"))
}

/// The library counts objects within the part it was given; people know them by name and row.
fn explain(error: PropagateError, measured: &Measured, part: &[usize]) -> Fail {
    match error {
        PropagateError::AllRejected { object, drawn, reasons } => {
            let row = object.parse().ok().and_then(|i: usize| part.get(i).copied()).unwrap_or(part[0]);
            measured.failed(
                row,
                format!(
                    "all {drawn} points were rejected ({reasons}); mend its values, or use --when-empty drop"
                ),
            )
        }
        PropagateError::Penalty { object, draw, value } => {
            let row = part.get(object).copied().unwrap_or(part[0]);
            measured.failed(row, format!("draw {draw}: the penalty {value} is not a finite number"))
        }
        PropagateError::PenaltyTwice { .. } => Fail::usage("--penalty names a column twice"),
        other => Fail::failed(other.to_string()),
    }
}
