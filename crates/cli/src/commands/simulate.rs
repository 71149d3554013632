//! `goc simulate`: a mock Milky Way with known truth, as a catalogue and as candidates.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use goc::uncertainty::Size;
use goc_galaxy::catalogue::DistancePrior;
use goc_galaxy::frames::JphiSign;
use goc_galaxy::gaia_errors::ErrorModel;
use goc_galaxy::mock::{Component, MockParams, RealisticParams, StarsPerDwarf};
use goc_pipeline::candidate_table::into_candidate_table;
use goc_pipeline::labels::describe;
use goc_pipeline::long_table::MISSING_OR_NAN;
use goc_pipeline::mock_catalogue::{MockCatalogue, MockColumn, MockSky, MockValues, Simulation};
use goc_pipeline::table_columns::TableColumns;
use goc_pipeline::{Sampling, StarModel};
use goc_tables::{Column, Data, Files, Format, Table};
use serde_json::{Value, json};

use super::Work;
use super::actions::optional;
use crate::choices::{at_least_one, words};
use crate::console::{self, Console};
use crate::failure::Result;
use crate::measured_table::MeasuredArgs;
use crate::output::{formats, is_standard_output};

/// Simulate a mock Milky Way: stars of disrupted dwarf galaxies near the Sun, with Gaia's errors
#[derive(Args)]
#[command(after_help = "Example: goc simulate --stars-out stars.parquet -o candidates.parquet --seed 3\n\
    The defaults are the paper's: 50 dwarfs, 275 stars, 10 Gyr, 101 candidates per star.\n\
    --sky realistic draws its own groups; --dwarfs, --field, --dispersion, --most and --full do not \
    apply to it.")]
pub struct Simulate {
    /// File for the candidates, made as the authors made theirs [default: none]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// File for the catalogue, with errors and truth [default: standard output, as CSV, if there is
    /// no -o]
    #[arg(long, value_name = "FILE")]
    stars_out: Option<PathBuf>,

    /// Format of these tables, if their names do not say; `-` is standard output
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,

    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// The paper's sky (Appendix A), or a harder one: groups of all sizes, a merger, a disc, a halo
    #[arg(long, value_parser = words::<MockSky>(), default_value = "paper")]
    sky: MockSky,

    /// Dwarf galaxies
    #[arg(long, value_name = "N", default_value_t = 50)]
    dwarfs: usize,

    #[arg(
        long,
        value_name = "N[,N…]",
        value_delimiter = ',',
        help = format!(
            "Stars per dwarf: one number, or a list with one for each [default: 1 to 10 in turn]. For \
             the realistic sky: all stars together [default: {}]",
            RealisticParams::default().stars
        )
    )]
    stars: Vec<usize>,

    #[arg(
        long,
        value_name = "SHARE",
        allow_negative_numbers = true,
        help = format!(
            "Share of the realistic sky's stars without a radial velocity [default: {}]",
            RealisticParams::default().without_velocity
        )
    )]
    without_velocity: Option<f64>,

    /// Additional field stars, without siblings
    #[arg(long, value_name = "N", default_value_t = 0)]
    field: usize,

    /// Spread of velocities within a dwarf, km/s
    #[arg(long, value_name = "KM/S", default_value_t = 5.0, allow_negative_numbers = true)]
    dispersion: f64,

    /// Spread of the dwarfs' own velocities, km/s
    #[arg(long, value_name = "KM/S", default_value_t = 100.0, allow_negative_numbers = true)]
    speed: f64,

    /// When the dwarfs fell in, Gyr ago
    #[arg(long, value_name = "GYR", default_value_t = 10.0, allow_negative_numbers = true)]
    age: f64,

    /// Distance out to which stars are observed, kpc
    #[arg(long, value_name = "KPC", default_value_t = 5.0, allow_negative_numbers = true)]
    reach: f64,

    /// Lowest Galactic latitude that is observed, degrees
    #[arg(long, value_name = "DEG", default_value_t = 20.0, allow_negative_numbers = true)]
    latitude: f64,

    /// Range of absolute magnitudes
    #[arg(
        long,
        value_name = "M,M",
        value_delimiter = ',',
        default_value = "-2,2",
        allow_hyphen_values = true
    )]
    magnitudes: Vec<f64>,

    /// Gaia's errors: paper (the authors' table), gaia-dr3, gaia-dr4 or gaia-dr5 (ESA's formula)
    #[arg(long, default_value = "paper")]
    errors: ErrorModel,

    /// Stars followed per dwarf before another dwarf is drawn in its place
    #[arg(long, value_name = "N", default_value_t = 30_000, value_parser = at_least_one())]
    most: usize,

    /// Follow that many stars of every dwarf, as the authors did (far slower, same distribution)
    #[arg(long)]
    full: bool,

    /// Relative accuracy of the orbits
    #[arg(long, default_value_t = MockParams::default().accuracy, allow_negative_numbers = true)]
    accuracy: f64,

    /// Candidates of each star
    #[arg(short = 'm', long, value_name = "N", default_value_t = 101, value_parser = at_least_one())]
    draws: usize,

    /// Half-width of the candidates' boxes, in errors
    #[arg(long, default_value_t = 2.0, allow_negative_numbers = true)]
    sigmas: f64,

    /// Prior on the distances, for the candidates: volume:REACH or edsd:LENGTH, see goc candidates
    /// [default: none]
    #[arg(long, value_name = "PRIOR")]
    distance_prior: Option<DistancePrior>,

    #[command(flatten, next_help_heading = "Stars")]
    model: ModelArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The model of the Galaxy.
#[derive(Args, Clone, Copy, Debug)]
struct ModelArgs {
    /// How actions are computed: converged, authors (as the paper's tables) or agama (as AGAMA
    /// today)
    #[arg(long, default_value = "converged")]
    variant: goc_galaxy::actions::Variant,

    /// The Sun's position and velocity
    #[arg(long, default_value = "hattori")]
    sun: goc_galaxy::frames::Sun,

    /// Sign of Jphi: paper (x vy - y vx, negative for the disc) or prograde-positive
    #[arg(long, default_value = "paper")]
    jphi: JphiSign,
}

impl Work for Simulate {
    fn files(&self) -> Files {
        let files = [&self.output, &self.stars_out].map(|path| path.as_deref());
        let files = files.into_iter().map(|path| path.filter(|path| !is_standard_output(path)));
        files.fold(Files::default(), |all, path| all.writes_table_as(path, self.format))
    }

    fn run(self) -> Result<()> {
        let printed = [self.output.as_deref(), self.stars_out.as_deref()];
        let printed = printed.into_iter().flatten().filter(|path| is_standard_output(path)).count();
        if printed + usize::from(self.json) > 1 {
            return Err(usage!("standard output takes one result; name files for the others"));
        }
        let sampling = Sampling {
            draws: self.draws,
            size: Size::sigmas(self.sigmas).map_err(|error| usage!("{error}"))?,
            distance_prior: self.distance_prior,
            ..Sampling::of_the_authors()
        };
        let ModelArgs { variant, sun, jphi } = self.model;
        let model = StarModel { variant, sun, jphi, ..StarModel::default() };
        let simulation =
            Simulation::new(self.sky, self.params()?, self.without_velocity).map_err(|e| usage!("{e}"))?;
        let finder = Arc::new(model.finder()?);
        let bar = console::progress(simulation.dwarfs(self.seed) as u64, "dwarfs");
        let mut mock = simulation
            .draw(&finder, jphi, self.seed, &|done| bar.set_position(done as u64))
            .map_err(|e| failed!("{e}"))?;
        bar.finish_and_clear();

        let mut table = catalogue_table(std::mem::take(&mut mock.columns))?;
        table.set_metadata("goc_version", env!("CARGO_PKG_VERSION"));
        let mut settings = self.settings();
        settings.extend(model.settings());
        describe(&mut table, &settings);
        if let Some(path) = &self.stars_out {
            self.write(&table, Some(path))?;
        } else if self.output.is_none() && !self.json {
            self.write(&table, None)?;
        }
        let mut candidates = None;
        if let Some(path) = &self.output {
            let name = self.stars_out.clone().unwrap_or_else(|| "the mock catalogue".into());
            // Stars without a radial velocity have no candidates: they are dropped with a count.
            let args = MeasuredArgs { missing: MISSING_OR_NAN.into(), ..MeasuredArgs::of_stars(name) };
            let columns = model
                .find(&TableColumns::new(&table, &args.source()))?
                .ok_or_else(|| failed!("the mock catalogue lacks a column of stars"))?;
            let measured = args.measure(&table, sampling.shape, Some((&columns, model.angles)))?;
            let f = model.actions(&columns, finder, sampling.distance_prior)?;
            let (dataset, origin) = sampling.sample(&measured, &f, self.seed, &Console::default())?;
            let objects = dataset.candidates.objects();
            let mut long = into_candidate_table(dataset, &origin, &[table.require("truth")?])?;
            describe(&mut long, &settings);
            self.write(&long, Some(path))?;
            candidates = Some((objects, long.rows()));
        }
        if self.json {
            return console::print_pairs(summary(settings, &mock, candidates));
        }
        console::note(self.told(&mock));
        for (what, path) in [("stars", &self.stars_out), ("candidates", &self.output)] {
            path.iter().for_each(|path| console::note(format!("{what} in {}", path.display())));
        }
        Ok(())
    }
}

impl Simulate {
    /// Writes a table to a file or to standard output.
    fn write(&self, table: &Table, path: Option<&Path>) -> Result<()> {
        console::write_table(table, path.filter(|path| !is_standard_output(path)), self.format)
    }

    fn params(&self) -> Result<MockParams> {
        let [bright, faint] = self.magnitudes[..] else {
            return Err(usage!("--magnitudes takes two numbers, bright and faint: --magnitudes -2,2"));
        };
        Ok(MockParams {
            dwarfs: self.dwarfs,
            stars: match self.stars[..] {
                [] => StarsPerDwarf::OneToTen,
                [n] => StarsPerDwarf::Each(n),
                _ => StarsPerDwarf::List(self.stars.clone()),
            },
            field: self.field,
            dispersion: self.dispersion,
            speed: self.speed,
            age: self.age,
            reach: self.reach,
            latitude: self.latitude,
            magnitudes: [bright, faint],
            errors: self.errors,
            most: self.most,
            full: self.full,
            accuracy: self.accuracy,
            sun: self.model.sun,
            ..MockParams::default()
        })
    }

    /// A description of the result for people.
    fn told(&self, mock: &MockCatalogue) -> String {
        let MockCatalogue { stars, counts, .. } = mock;
        let took = format!("{} orbits followed, {} dwarfs drawn anew", counts.orbits, counts.redrawn);
        if self.sky == MockSky::Paper {
            return format!("{stars} stars of {} dwarfs near the Sun; {took}", self.dwarfs + self.field);
        }
        let parts = mock.composition.iter().map(|(component, groups, stars)| match component {
            Component::Group => format!("{stars} of {groups} groups"),
            Component::Globular => format!("{stars} of {groups} globular clusters"),
            other => format!("{stars} of the {other}"),
        });
        let parts: Vec<String> = parts.collect();
        let without = mock.without_velocity;
        format!(
            "{stars} stars near the Sun: {}; {without} without a radial velocity; {took}",
            parts.join(", ")
        )
    }

    fn settings(&self) -> Vec<(&'static str, Value)> {
        let mut settings = vec![("seed", json!(self.seed))];
        settings.extend(match self.sky {
            MockSky::Paper => vec![
                ("dwarfs", json!(self.dwarfs)),
                ("field_stars", json!(self.field)),
                ("dispersion_km_s", json!(self.dispersion)),
            ],
            MockSky::Realistic => vec![
                ("sky", json!(self.sky.to_string())),
                (
                    "without_velocity",
                    json!(self.without_velocity.unwrap_or(RealisticParams::default().without_velocity)),
                ),
            ],
        });
        settings.extend([
            ("speed_km_s", json!(self.speed)),
            ("age_gyr", json!(self.age)),
            ("reach_kpc", json!(self.reach)),
            ("latitude_deg", json!(self.latitude)),
            ("error_model", json!(self.errors.to_string())),
            ("accuracy", json!(self.accuracy)),
        ]);
        settings
    }
}

/// The summary for programs; `candidates` holds the numbers of objects and candidates.
fn summary(
    settings: Vec<(&'static str, Value)>,
    mock: &MockCatalogue,
    candidates: Option<(usize, usize)>,
) -> Vec<(&'static str, Value)> {
    let mut told = vec![("version", json!(env!("CARGO_PKG_VERSION")))];
    told.extend(settings);
    told.push(("n_stars", json!(mock.stars)));
    if !mock.composition.is_empty() {
        let groups: usize = mock.composition.iter().map(|(_, groups, _)| groups).sum();
        let of_each =
            mock.composition.iter().map(|(component, _, stars)| (component.to_string(), json!(stars)));
        told.push(("n_groups", json!(groups)));
        told.push(("n_stars_of", Value::Object(of_each.collect())));
        told.push(("n_without_velocity", json!(mock.without_velocity)));
    }
    told.push(("n_orbits", json!(mock.counts.orbits)));
    told.push(("n_orbits_stopped", json!(mock.counts.stopped)));
    told.push(("n_dwarfs_redrawn", json!(mock.counts.redrawn)));
    if let Some((objects, total)) = candidates {
        told.extend([("n_objects", json!(objects)), ("n_candidates", json!(total))]);
    }
    told
}

/// The catalogue as a table.
fn catalogue_table(columns: Vec<MockColumn>) -> Result<Table> {
    let column = |column: MockColumn| {
        let MockColumn { name, unit, description, values } = column;
        let made = match values {
            MockValues::Integers(values) => Column::new(name, Data::I64(values)).with_unit(unit),
            MockValues::Numbers(values) => Column::new(name, Data::F64(values)).with_unit(unit),
            MockValues::Flags(values) => Column::new(name, Data::Bool(values)).with_unit(unit),
            MockValues::Optional(values) => optional(name, unit, values)?,
            MockValues::Words(values) => {
                Column::new(name, Data::Text(values.into_iter().map(String::from).collect())).with_unit(unit)
            }
        };
        Ok(made.with_description(description))
    };
    Ok(Table::new(columns.into_iter().map(column).collect::<Result<_>>()?)?)
}
