//! A mock Milky Way as a catalogue: one row per star, measured values with errors, then the truth.
//!
//! There are two skies, the paper's and a [realistic](goc_galaxy::mock::RealisticParams) one. Their
//! catalogues have the same columns; the realistic one adds metallicities, the component each star
//! belongs to, and how reliable its quoted errors are. Its field stars have the truth -1.

use goc::choice::Choice;
use goc_galaxy::actions::{ActionFinder, Actions, Outcome};
use goc_galaxy::frames::{Galactocentric, JphiSign, Sky};
use goc_galaxy::mock::{
    Component, Counts, Detail, Mock, MockError, MockParams, MockStar, RealisticParams, StarsPerDwarf,
    ValidMock, ValidRealistic,
};

use crate::error::Result;
use crate::memory;

/// Memory per star: its orbit, its measurement and its row.
const BYTES: u64 = 700;

crate::words! {
    /// Which Milky Way is simulated.
    pub enum MockSky {
        /// The paper's Appendix A: small dwarf galaxies with honest errors.
        Paper = "paper",
        /// Groups of 3 to 3000 stars, a merger, globular clusters, a disc and a halo.
        Realistic = "realistic",
    }
}

/// A simulation with checked parameters.
#[derive(Clone, Debug)]
pub enum Simulation {
    /// The paper's.
    Paper(ValidMock),
    /// The realistic one.
    Realistic(ValidRealistic),
}

/// A simulated catalogue.
#[derive(Clone, Debug)]
pub struct MockCatalogue {
    /// One row per star.
    pub columns: Vec<MockColumn>,
    /// How many stars there are.
    pub stars: usize,
    /// How many stars have no radial velocity.
    pub without_velocity: usize,
    /// For the realistic sky: each component with its number of groups (each has a truth; the field
    /// has none) and of stars.
    pub composition: Vec<(Component, usize, usize)>,
    /// Counts of the work done by the simulation.
    pub counts: Counts,
}

impl Simulation {
    /// Checks the numbers. For the realistic sky, `params.stars` is the total number of stars.
    pub fn new(sky: MockSky, params: MockParams, without_velocity: Option<f64>) -> Result<Self, MockError> {
        if sky == MockSky::Paper {
            let what = "share of stars without velocity";
            return match without_velocity {
                Some(_) => Err(MockError::RealisticOnly { what }),
                None => Ok(Self::Paper(params.check()?)),
            };
        }
        let realistic = RealisticParams::default();
        let (stars, per_dwarf) = match params.stars {
            StarsPerDwarf::Each(stars) => (stars, StarsPerDwarf::OneToTen),
            // The check refuses a list.
            other => (realistic.stars, other),
        };
        let without_velocity = without_velocity.unwrap_or(realistic.without_velocity);
        let survey = MockParams { stars: per_dwarf, ..params };
        Ok(Self::Realistic(RealisticParams { stars, without_velocity, survey }.check()?))
    }

    /// Number of dwarf galaxies that will be followed, as counted by progress.
    pub fn dwarfs(&self, seed: u64) -> usize {
        match self {
            Self::Paper(valid) => valid.all_dwarfs(),
            Self::Realistic(valid) => valid.groups(seed),
        }
    }

    /// The catalogue for this seed. `progress` is called with the number of dwarfs that are
    /// complete.
    pub fn draw(
        &self,
        finder: &ActionFinder,
        sign: JphiSign,
        seed: u64,
        progress: &dyn Fn(usize),
    ) -> Result<MockCatalogue> {
        let potential = finder.potential().as_ref();
        let stars = match self {
            Self::Paper(valid) => valid.total(),
            Self::Realistic(valid) => valid.total(),
        };
        let what = format!("a catalogue of {stars} stars");
        memory::check((stars as u64).saturating_mul(BYTES), &what, "simulate fewer")?;
        let failed = |error: MockError| failed!("{error}");
        let (mock, details) = match self {
            Self::Paper(valid) => (valid.draw(potential, seed, progress).map_err(failed)?, Vec::new()),
            Self::Realistic(valid) => {
                let made = valid.draw(potential, seed, progress).map_err(failed)?;
                (made.mock, made.details)
            }
        };
        let places: Vec<Galactocentric> = mock.stars.iter().map(|star| star.place).collect();
        let mut columns = mock_columns(&mock, &finder.many(&places), sign);
        if let Self::Realistic(_) = self {
            make_realistic(&mut columns, &mock, &details);
        }
        Ok(MockCatalogue {
            columns,
            stars: mock.stars.len(),
            without_velocity: details.iter().filter(|detail| !detail.has_velocity).count(),
            composition: composition(&mock, &details),
            counts: mock.counts,
        })
    }
}

/// Each component with its numbers of groups and of stars.
fn composition(mock: &Mock, details: &[Detail]) -> Vec<(Component, usize, usize)> {
    let of = |component: Component| {
        let own = mock.stars.iter().zip(details).filter(|(_, detail)| detail.component == component);
        let groups: Vec<usize> = own.map(|(star, _)| star.group).collect();
        let stars = groups.len();
        // The stars of a group are adjacent.
        let distinct = groups.chunk_by(|a, b| a == b).count();
        (component, if component.is_field() { 0 } else { distinct }, stars)
    };
    if details.is_empty() {
        return Vec::new();
    }
    Component::ALL.iter().map(|(component, ..)| of(*component)).collect()
}

/// A column of the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct MockColumn {
    /// Its name.
    pub name: &'static str,
    /// Its unit, or empty if it has none.
    pub unit: &'static str,
    /// A description, where the name alone is not enough.
    pub description: &'static str,
    /// One value for each star.
    pub values: MockValues,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum MockValues {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Real numbers.
    Numbers(Vec<f64>),
    /// Real numbers, NaN where there is none.
    Optional(Vec<f64>),
    /// Booleans.
    Flags(Vec<bool>),
    /// Words.
    Words(Vec<&'static str>),
}

/// The columns of both skies; `actions` are those at the stars' true positions.
fn mock_columns(mock: &Mock, actions: &[Outcome], sign: JphiSign) -> Vec<MockColumn> {
    let stars = &mock.stars;
    let number = |name, unit, value: &dyn Fn(&MockStar) -> f64| MockColumn {
        name,
        unit,
        description: "",
        values: MockValues::Numbers(stars.iter().map(value).collect()),
    };
    let other = |name, description, values| MockColumn { name, unit: "", description, values };
    let truth = |name, unit, value: &dyn Fn(&Actions) -> f64| {
        let of = |outcome: &Outcome| outcome.bound().map_or(f64::NAN, |a| value(&a.with_sign(sign)));
        let values = MockValues::Optional(actions.iter().map(of).collect());
        MockColumn { name, unit, description: "", values }
    };
    let whole = |value: &dyn Fn((usize, &MockStar)) -> i64| {
        MockValues::Integers(stars.iter().enumerate().map(value).collect())
    };
    let degrees = |star: &MockStar| star.measured.truth.to(Sky::Galactic).position.in_degrees();
    let mut columns = vec![
        other("object", "star, from 0", whole(&|(i, _)| i as i64)),
        number("l", "deg", &|s| degrees(s)[0]),
        number("b", "deg", &|s| degrees(s)[1]),
        number("parallax", "mas", &|s| s.measured.parallax),
        number("parallax_error", "mas", &|s| s.measured.errors.parallax),
        MockColumn { description: "with cos b", ..number("pml", "mas/yr", &|s| s.measured.proper_motion[0]) },
        number("pml_error", "mas/yr", &|s| s.measured.errors.galactic_proper_motion[0]),
        number("pmb", "mas/yr", &|s| s.measured.proper_motion[1]),
        number("pmb_error", "mas/yr", &|s| s.measured.errors.galactic_proper_motion[1]),
        number("radial_velocity", "km/s", &|s| s.measured.radial_velocity),
        number("radial_velocity_error", "km/s", &|s| s.measured.radial_velocity_error),
        number("phot_g_mean_mag", "mag", &|s| s.measured.magnitude),
        other("truth", "dwarf galaxy the star came with, from 0", whole(&|(_, s)| s.group as i64)),
        other("field", "a star without siblings", MockValues::Flags(stars.iter().map(|s| s.field).collect())),
        number("true_parallax", "mas", &|s| s.measured.truth.distance.parallax()),
        number("true_pml", "mas/yr", &|s| s.measured.truth.proper_motion[0]),
        number("true_pmb", "mas/yr", &|s| s.measured.truth.proper_motion[1]),
        number("true_radial_velocity", "km/s", &|s| s.measured.truth.radial_velocity),
    ];
    for (c, name) in ["true_x", "true_y", "true_z"].into_iter().enumerate() {
        columns.push(number(name, "kpc", &|s| s.place.position[c]));
    }
    for (c, name) in ["true_vx", "true_vy", "true_vz"].into_iter().enumerate() {
        columns.push(number(name, "km/s", &|s| s.place.velocity[c]));
    }
    columns.push(truth("true_Jr", "kpc km/s", &|a| a.jr));
    columns.push(truth("true_Jz", "kpc km/s", &|a| a.jz));
    columns.push(truth("true_Jphi", "kpc km/s", &|a| a.jphi));
    columns.push(truth("true_energy", "km2 s-2", &|a| a.energy));
    columns
}

/// The columns in which the realistic sky differs from the paper's, and those it adds.
fn make_realistic(columns: &mut Vec<MockColumn>, mock: &Mock, details: &[Detail]) {
    for column in columns.iter_mut() {
        match (column.name, &mut column.values) {
            ("radial_velocity" | "radial_velocity_error", MockValues::Numbers(values)) => {
                let measured = values.iter().zip(details);
                let value =
                    |(value, detail): (&f64, &Detail)| if detail.has_velocity { *value } else { f64::NAN };
                column.values = MockValues::Optional(measured.map(value).collect());
            }
            ("truth", MockValues::Integers(values)) => {
                column.description = "group, merger or globular cluster of the star, from 0; -1: in none";
                for (value, _) in values.iter_mut().zip(&mock.stars).filter(|(_, star)| star.field) {
                    *value = -1;
                }
            }
            ("field", _) => column.description = "a star of the disc or the halo, in no group",
            _ => {}
        }
    }
    let number = |name, unit, description, value: &dyn Fn(&Detail) -> f64| MockColumn {
        name,
        unit,
        description,
        values: MockValues::Numbers(details.iter().map(value).collect()),
    };
    columns.extend([
        MockColumn {
            name: "component",
            unit: "",
            description: "where the star belongs: group, merger, globular, disc or halo",
            values: MockValues::Words(details.iter().map(|detail| detail.component.word()).collect()),
        },
        number("fe_h", "dex", "measured metallicity", &|detail| detail.metallicity),
        number("fe_h_error", "dex", "", &|detail| detail.metallicity_error),
        number("true_fe_h", "dex", "", &|detail| detail.true_metallicity),
        number(
            "error_factor",
            "",
            "true errors of parallax and proper motions, in units of the quoted ones",
            &|detail| detail.error_factor,
        ),
    ]);
}
