//! A mock Milky Way as a catalogue: one row per star, measured values with errors, then the truth.

use goc_galaxy::actions::{Actions, Outcome};
use goc_galaxy::frames::{JphiSign, Sky};
use goc_galaxy::mock::{Mock, MockStar};

/// A column of the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct MockColumn {
    /// Its name.
    pub name: &'static str,
    /// Its unit; empty: none.
    pub unit: &'static str,
    /// What it is, where the name alone does not say it.
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
    /// Truths.
    Flags(Vec<bool>),
}

/// All columns; `actions` are those of the stars' true places.
pub fn mock_columns(mock: &Mock, actions: &[Outcome], sign: JphiSign) -> Vec<MockColumn> {
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
