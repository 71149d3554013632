//! `goc candidates`: measured values with errors in, a long table of candidates out.
//!
//! Objects are taken some thousands at a time and their candidates go straight into the columns of the result, so that the
//! candidates of a large catalogue are in memory once.

mod choices;
mod long;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use goc::synthetic::{self, Coasting};
use goc::uncertainty::transform::{Identity, Kernel, KernelPca, Pca, Transform, TransformError};
use goc::uncertainty::{
    Object, Penalty, PropagateError, Propagation, Reasons, Sampler, Size, WhenAllRejected,
};
use goc::{Ids, Points};
use goc_tables::{Column, Table};
use serde_json::{Value, json};

use crate::choices::{at_least_one, typed};
use crate::fail::Fail;
use crate::long_table::{FEATURES_KEY, TRUTH_NAMES};
use crate::measured_table::{Measured, MeasuredArgs, ShapeName};
use crate::screen;
use choices::{PenaltyName, SamplerName, TransformName};
use long::{Feature, Long};

/// Objects worked on at a time.
const CHUNK: usize = 8192;

/// Turn measured values with errors into candidates: sample each object's uncertainty set
#[derive(Args)]
#[command(
    after_help = "Example: goc candidates stars.fits --values parallax,pmra,pmdec --sigmas 2 -o candidates.parquet\n\
    An object's candidates depend on the seed and its own name only: reordering or filtering the table changes none of them \
    (but pca and kernel-pca are fitted to all values)."
)]
pub struct Candidates {
    #[command(flatten)]
    table: MeasuredArgs,

    /// Where the candidates go [default: standard output, as CSV]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Form of the uncertainty sets [default: ellipsoid if there are correlations, else box]
    #[arg(long, value_enum)]
    shape: Option<ShapeName>,

    /// Size of the sets in errors [default: 2]
    #[arg(long, value_name = "N", group = "size", allow_negative_numbers = true)]
    sigmas: Option<f64>,

    /// Size by the probability that the truth lies outside
    #[arg(long, value_name = "P", group = "size", allow_negative_numbers = true)]
    eta: Option<f64>,

    /// Size by the half-width of each set's widest value; the errors give the form only
    #[arg(long, value_name = "R", group = "size", allow_negative_numbers = true)]
    radius: Option<f64>,

    /// Points drawn for each object
    #[arg(short = 'm', long, value_name = "N", default_value_t = 101, value_parser = at_least_one())]
    draws: usize,

    /// How they are drawn: uniform, sobol (evenly spread), grid:COLUMN (one value in even steps, the others uniform) or
    /// density (from the error distribution, not cut off at the set)
    #[arg(long, default_value = "uniform")]
    sampler: SamplerName,

    /// From values to features: none, pca:Q, kernel-pca:Q (radial), kernel-pca-poly:Q (cubic), or demo (that of `goc demo`)
    #[arg(long, default_value = "none")]
    transform: TransformName,

    /// What a candidate costs: none, density (minus its log density), density:COLUMN[,COLUMN] (of these values only) or
    /// distance (squared, from the features of what was measured)
    #[arg(long, default_value = "density")]
    penalty: PenaltyName,

    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Columns to carry along; truth or true_cluster_id always is
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    keep: Vec<String>,

    /// An object none of whose points has features: refuse it, or go on without (drop)
    #[arg(long, value_enum, default_value_t = WhenEmpty::Refuse)]
    when_empty: WhenEmpty,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WhenEmpty {
    Refuse,
    Drop,
}

/// What was lost on the way.
#[derive(Default)]
struct Lost {
    /// Objects of which nothing is left.
    objects: usize,
    points: usize,
    reasons: Vec<(String, usize)>,
}

impl Candidates {
    pub fn run(self) -> Result<(), Fail> {
        let (table, summary) = self.make()?;
        if self.output.is_some() || !self.json {
            screen::write_table(&table, self.output.as_deref())?;
        }
        if self.json {
            return screen::print_json(&summary);
        }
        screen::note(format!(
            "{} candidates of {} objects, {} features{}",
            summary["n_candidates"],
            summary["n_objects"],
            summary["n_features"],
            self.output.as_ref().map_or_else(String::new, |path| format!(", in {}", path.display()))
        ));
        Ok(())
    }

    /// The candidates, and what a machine may want to know about them.
    pub fn make(&self) -> Result<(Table, Value), Fail> {
        let size = self.size()?;
        screen::check_output(self.output.as_deref())?;
        let measured = self.table.read(self.shape)?;
        let kept = self.kept(measured.table())?;
        let (transform, features) = self.transform(&measured)?;
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
        let mut long = Long::with_room(room, features.len(), !matches!(self.penalty, PenaltyName::None))
            .map_err(|_| too_many())?;
        let mut lost = Lost::default();
        let bar = screen::progress(measured.rows.len() as u64, "objects");
        for part in measured.rows.chunks(CHUNK) {
            let objects = part
                .iter()
                .map(|&row| Ok(Object::new(measured.key(row), measured.set(row, size)?)))
                .collect::<Result<Vec<_>, Fail>>()?;
            let made = Propagation::new(transform.as_ref())
                .sampler(sampler)
                .draws(self.draws)
                .penalty(penalty())
                .when_all_rejected(match self.when_empty {
                    WhenEmpty::Refuse => WhenAllRejected::Refuse,
                    WhenEmpty::Drop => WhenAllRejected::LeaveOut,
                })
                .ids(Ids::Integer((0..part.len() as i64).collect()))
                .seed(self.seed)
                .propagate(&objects);
            match made {
                Ok((sets, report)) => {
                    long.take(&sets, report.objects().iter().map(|&i| part[i]));
                    lost.count(report.left_out().len(), report.reasons());
                }
                // All objects of this part; there may be others.
                Err(PropagateError::NothingLeft { reasons, .. }) => lost.count(part.len(), &reasons),
                Err(error) => return Err(explain(error, &measured, part)),
            }
            bar.inc(part.len() as u64);
        }
        bar.finish_and_clear();
        lost.say();
        if long.objects.is_empty() {
            return Err(Fail::failed("no object has candidates"));
        }

        let summary = self.summary(&measured, &long, &lost, &features);
        let mut table = long.into_table(measured.names(), &features, &kept)?;
        for (key, value) in self.settings(&measured) {
            table.set_metadata(
                format!("goc_{key}"),
                value.as_str().map_or_else(|| value.to_string(), str::to_string),
            );
        }
        let names: Vec<&str> = features.iter().map(|f| f.name.as_str()).collect();
        table.set_metadata(FEATURES_KEY, names.join(","));
        Ok((table, summary))
    }

    fn size(&self) -> Result<Size, Fail> {
        let size = match (self.sigmas, self.eta, self.radius) {
            (_, Some(eta), _) => Size::eta(eta),
            (_, _, Some(radius)) => Size::radius(radius),
            (sigmas, _, _) => Size::sigmas(sigmas.unwrap_or(2.0)),
        };
        size.map_err(|e| Fail::usage(e.to_string()))
    }

    /// The columns that are carried along.
    fn kept<'t>(&self, table: &'t Table) -> Result<Vec<&'t Column>, Fail> {
        let mut kept: Vec<&Column> = Vec::new();
        for name in self.keep.iter().filter(|name| !name.is_empty()) {
            kept.push(table.require(name)?);
        }
        for name in TRUTH_NAMES {
            if let Some(column) = table.column(name)
                && !kept.iter().any(|k| k.name() == name)
            {
                kept.push(column);
            }
        }
        Ok(kept)
    }

    /// f, and the names and units of what it gives.
    fn transform(&self, measured: &Measured) -> Result<(Box<dyn Transform>, Vec<Feature>), Fail> {
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
        Ok(match self.transform {
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
            TransformName::Demo => {
                let names: Vec<&str> = measured.columns().map(Column::name).collect();
                if names != synthetic::COORDINATES {
                    return Err(Fail::usage(format!(
                        "--transform demo takes the values {} in this order, not {}",
                        synthetic::COORDINATES.join(", "),
                        names.join(", ")
                    )));
                }
                (
                    Box::new(Coasting),
                    synthetic::FEATURES.map(|name| Feature { name: name.into(), unit: None }).into(),
                )
            }
        })
    }

    /// The choices that made these candidates.
    fn settings(&self, measured: &Measured) -> Vec<(&'static str, Value)> {
        let size = match (self.sigmas, self.eta, self.radius) {
            (_, Some(eta), _) => format!("eta {eta}"),
            (_, _, Some(radius)) => format!("radius {radius}"),
            (sigmas, _, _) => format!("sigmas {}", sigmas.unwrap_or(2.0)),
        };
        vec![
            ("version", json!(env!("CARGO_PKG_VERSION"))),
            ("seed", json!(self.seed)),
            ("shape", json!(typed(measured.shape))),
            ("size", json!(size)),
            ("sampler", json!(self.sampler.to_string())),
            ("m", json!(self.draws)),
            ("transform", json!(self.transform.to_string())),
            ("penalty", json!(self.penalty.to_string())),
        ]
    }

    fn summary(&self, measured: &Measured, long: &Long, lost: &Lost, features: &[Feature]) -> Value {
        let mut object = serde_json::Map::new();
        for (key, value) in self.settings(measured) {
            object.insert(key.into(), value);
        }
        let names: Vec<&String> = features.iter().map(|f| &f.name).collect();
        object.insert("features".into(), json!(names));
        object.insert("n_objects".into(), json!(long.objects.len()));
        object.insert("n_candidates".into(), json!(long.candidate.len()));
        object.insert("n_features".into(), json!(features.len()));
        let missing = measured.table().rows() - measured.rows.len();
        object.insert("n_objects_missing".into(), json!(missing));
        object.insert("n_objects_empty".into(), json!(lost.objects));
        object.insert("n_rejected".into(), json!(lost.points));
        if let Some(path) = &self.output {
            object.insert("output".into(), json!(path.display().to_string()));
        }
        Value::Object(object)
    }
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

impl Lost {
    fn count(&mut self, objects: usize, reasons: &Reasons) {
        self.objects += objects;
        self.points += reasons.total();
        for (reason, count) in reasons.iter() {
            match self.reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, sum)) => *sum += count,
                None => self.reasons.push((reason.to_string(), count)),
            }
        }
    }

    fn say(&self) {
        if self.points > 0 {
            let reasons: Vec<String> = self.reasons.iter().map(|(r, count)| format!("{count} {r}")).collect();
            screen::note(format!("{} points were rejected: {}", self.points, reasons.join(", ")));
        }
        if self.objects > 0 {
            screen::note(format!("dropped {} objects: all their points were rejected", self.objects));
        }
    }
}
