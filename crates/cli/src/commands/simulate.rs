//! `goc simulate`: a mock Milky Way with known truth (paper, Appendix A), as a catalogue and as candidates.

use std::path::PathBuf;

use clap::Args;
use goc_galaxy::actions::Outcome;
use goc_galaxy::catalogue::DistancePrior;
use goc_galaxy::frames::{Galactocentric, JphiSign, Sky};
use goc_galaxy::gaia_errors::ErrorModel;
use goc_galaxy::mock::{Mock, MockParams, MockStar, StarsPerDwarf};
use goc_tables::{Column, Data, Table};
use serde_json::{Value, json};

use super::actions::optional;
use super::candidates::{SamplingArgs, WhenEmpty, actions_of};
use crate::choices::at_least_one;
use crate::fail::Fail;
use crate::measured_table::MeasuredArgs;
use crate::screen;
use crate::star_table::StarArgs;

/// Make a mock Milky Way: stars of torn dwarf galaxies near the Sun, measured with Gaia's errors
#[derive(Args)]
#[command(after_help = "Example: goc simulate --stars-out stars.parquet -o candidates.parquet --seed 3\n\
    The defaults are the paper's: 50 dwarfs, 275 stars, 10 Gyr, 101 candidates a star.")]
pub struct Simulate {
    /// Where the candidates go, made as the authors made theirs [default: none are made]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Where the catalogue goes, with errors and truth [default: standard output, as CSV, if no -o]
    #[arg(long, value_name = "FILE")]
    stars_out: Option<PathBuf>,

    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Dwarf galaxies
    #[arg(long, value_name = "N", default_value_t = 50)]
    dwarfs: usize,

    /// Stars of each dwarf: a number, or a list with one for each [default: 1 to 10 in turn]
    #[arg(long, value_name = "N[,N…]", value_delimiter = ',')]
    stars: Vec<usize>,

    /// Field stars without siblings beside them
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

    /// Farthest stars that are observed, kpc
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

    /// Stars followed of a dwarf before another is drawn in its place
    #[arg(long, value_name = "N", default_value_t = 30_000, value_parser = at_least_one())]
    most: usize,

    /// Follow that many of every dwarf, as the authors did (far slower, the same law)
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

    /// What the candidates know of distances beforehand: volume:REACH or edsd:LENGTH, see goc candidates [default: nothing]
    #[arg(long, value_name = "PRIOR")]
    distance_prior: Option<DistancePrior>,

    #[command(flatten, next_help_heading = "Stars")]
    model: ModelArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The model of the Galaxy.
#[derive(Args, Clone, Debug)]
struct ModelArgs {
    /// How actions are computed: converged, authors (as the paper's tables) or agama (as AGAMA today)
    #[arg(long, default_value = "converged")]
    variant: goc_galaxy::actions::Variant,

    /// The Sun's place and velocity
    #[arg(long, default_value = "hattori")]
    sun: goc_galaxy::frames::Sun,

    /// Sign of Jphi: paper (x vy - y vx, negative for the disc) or prograde-positive
    #[arg(long, default_value = "paper")]
    jphi: JphiSign,
}

impl Simulate {
    pub fn run(self) -> Result<(), Fail> {
        for path in [&self.output, &self.stars_out] {
            screen::check_output(path.as_deref())?;
        }
        let sampling = SamplingArgs::of_the_authors(self.draws, self.sigmas, self.distance_prior);
        sampling.size()?;
        let stars = StarArgs::of_model(self.model.variant, self.model.sun, self.model.jphi);
        let params = self.params()?;
        let valid = params.check().map_err(|e| Fail::usage(e.to_string()))?;
        let finder = stars.finder()?;
        let bar = screen::progress(valid.all_dwarfs() as u64, "dwarfs");
        let mock = valid
            .draw(finder.potential().as_ref(), self.seed, &|done| bar.set_position(done as u64))
            .map_err(|e| Fail::failed(e.to_string()))?;
        bar.finish_and_clear();

        let places: Vec<Galactocentric> = mock.stars.iter().map(|star| star.place).collect();
        let mut table = catalogue_table(&mock, &finder.many(&places), self.model.jphi)?;
        table.set_metadata("goc_version", env!("CARGO_PKG_VERSION"));
        let mut settings = self.settings();
        settings.extend(stars.settings());
        for (key, value) in &settings {
            table.set_metadata(
                format!("goc_{key}"),
                value.as_str().map_or_else(|| value.to_string(), str::to_string),
            );
        }
        if let Some(path) = &self.stars_out {
            goc_tables::write(&table, path)?;
        } else if self.output.is_none() && !self.json {
            screen::write_table(&table, None)?;
        }
        let mut candidates = None;
        if let Some(path) = &self.output {
            let args =
                MeasuredArgs::of_stars(self.stars_out.clone().unwrap_or_else(|| "the mock catalogue".into()));
            let columns = stars
                .find(&table)?
                .ok_or_else(|| Fail::failed("the mock catalogue lacks a column of stars"))?;
            let measured = args.measure(table, sampling.shape, Some(&columns.names))?;
            let f = actions_of(&stars, &columns, self.distance_prior)?;
            let truth = measured.table().require("truth")?.clone();
            let made = sampling.sample(&measured, &f, self.seed, WhenEmpty::Drop, &[&truth])?;
            let mut long = made.table;
            for (key, value) in &settings {
                long.set_metadata(
                    format!("goc_{key}"),
                    value.as_str().map_or_else(|| value.to_string(), str::to_string),
                );
            }
            goc_tables::write(&long, path)?;
            candidates = Some((made.objects.len(), long.rows()));
        }
        if self.json {
            return screen::print_json(&self.summary(&settings, &mock, candidates));
        }
        screen::note(format!(
            "{} stars of {} dwarfs near the Sun; {} orbits followed, {} dwarfs drawn anew",
            mock.stars.len(),
            self.dwarfs + self.field,
            mock.counts.orbits,
            mock.counts.redrawn
        ));
        for (what, path) in [("stars", &self.stars_out), ("candidates", &self.output)] {
            if let Some(path) = path {
                screen::note(format!("{what} in {}", path.display()));
            }
        }
        Ok(())
    }

    fn params(&self) -> Result<MockParams, Fail> {
        let [bright, faint] = self.magnitudes[..] else {
            return Err(Fail::usage("--magnitudes takes two numbers, bright and faint: --magnitudes -2,2"));
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

    fn settings(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("seed", json!(self.seed)),
            ("dwarfs", json!(self.dwarfs)),
            ("field_stars", json!(self.field)),
            ("dispersion_km_s", json!(self.dispersion)),
            ("speed_km_s", json!(self.speed)),
            ("age_gyr", json!(self.age)),
            ("reach_kpc", json!(self.reach)),
            ("latitude_deg", json!(self.latitude)),
            ("error_model", json!(self.errors.to_string())),
            ("accuracy", json!(self.accuracy)),
        ]
    }

    fn summary(
        &self,
        settings: &[(&'static str, Value)],
        mock: &Mock,
        candidates: Option<(usize, usize)>,
    ) -> Value {
        let mut object = serde_json::Map::new();
        object.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
        for (key, value) in settings {
            object.insert((*key).into(), value.clone());
        }
        object.insert("n_stars".into(), json!(mock.stars.len()));
        object.insert("n_orbits".into(), json!(mock.counts.orbits));
        object.insert("n_orbits_stopped".into(), json!(mock.counts.stopped));
        object.insert("n_dwarfs_redrawn".into(), json!(mock.counts.redrawn));
        if let Some((objects, total)) = candidates {
            object.insert("n_objects".into(), json!(objects));
            object.insert("n_candidates".into(), json!(total));
        }
        Value::Object(object)
    }
}

/// The catalogue: a row a star, measured values with errors, then the truth.
fn catalogue_table(mock: &Mock, actions: &[Outcome], sign: JphiSign) -> Result<Table, Fail> {
    let stars = &mock.stars;
    let numbers = |value: &dyn Fn(&MockStar) -> f64| -> Vec<f64> { stars.iter().map(value).collect() };
    let column = |name: &str, unit: &str, value: &dyn Fn(&MockStar) -> f64| {
        Column::new(name, Data::F64(numbers(value))).with_unit(unit)
    };
    let degrees = |star: &MockStar| star.measured.truth.to(Sky::Galactic).position.in_degrees();
    let mut columns = vec![
        Column::new("object", Data::I64((0..stars.len() as i64).collect())).with_description("star, from 0"),
        column("l", "deg", &|s| degrees(s)[0]),
        column("b", "deg", &|s| degrees(s)[1]),
        column("parallax", "mas", &|s| s.measured.parallax),
        column("parallax_error", "mas", &|s| s.measured.errors.parallax),
        column("pml", "mas/yr", &|s| s.measured.proper_motion[0]).with_description("with cos b"),
        column("pml_error", "mas/yr", &|s| s.measured.errors.galactic_proper_motion[0]),
        column("pmb", "mas/yr", &|s| s.measured.proper_motion[1]),
        column("pmb_error", "mas/yr", &|s| s.measured.errors.galactic_proper_motion[1]),
        column("radial_velocity", "km/s", &|s| s.measured.radial_velocity),
        column("radial_velocity_error", "km/s", &|s| s.measured.radial_velocity_error),
        column("phot_g_mean_mag", "mag", &|s| s.measured.magnitude),
        Column::new("truth", Data::I64(stars.iter().map(|s| s.group as i64).collect()))
            .with_description("dwarf galaxy the star came with, from 0"),
        Column::new("field", Data::Bool(stars.iter().map(|s| s.field).collect()))
            .with_description("a star without siblings"),
        column("true_parallax", "mas", &|s| s.measured.truth.distance.parallax()),
        column("true_pml", "mas/yr", &|s| s.measured.truth.proper_motion[0]),
        column("true_pmb", "mas/yr", &|s| s.measured.truth.proper_motion[1]),
        column("true_radial_velocity", "km/s", &|s| s.measured.truth.radial_velocity),
    ];
    for (c, name) in ["x", "y", "z"].into_iter().enumerate() {
        columns.push(column(&format!("true_{name}"), "kpc", &|s| s.place.position[c]));
    }
    for (c, name) in ["vx", "vy", "vz"].into_iter().enumerate() {
        columns.push(column(&format!("true_{name}"), "km/s", &|s| s.place.velocity[c]));
    }
    let truth = |value: &dyn Fn(&goc_galaxy::actions::Actions) -> f64| -> Vec<f64> {
        actions
            .iter()
            .map(|outcome| outcome.bound().map_or(f64::NAN, |a| value(&a.with_sign(sign))))
            .collect()
    };
    columns.push(optional("true_Jr", "kpc km/s", truth(&|a| a.jr))?);
    columns.push(optional("true_Jz", "kpc km/s", truth(&|a| a.jz))?);
    columns.push(optional("true_Jphi", "kpc km/s", truth(&|a| a.jphi))?);
    columns.push(optional("true_energy", "km2 s-2", truth(&|a| a.energy))?);
    Ok(Table::new(columns)?)
}
