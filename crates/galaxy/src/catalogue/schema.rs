//! Which columns of a table hold a star's position and motion: names, errors, correlations and
//! units.
//!
//! Three forms are recognised by their usual names: Gaia's own (ra, dec, parallax, pmra, pmdec,
//! radial_velocity), Galactic (l, b, parallax, pml, pmb, radial velocity), and Galactocentric x, y,
//! z, vx, vy, vz. The first complete form is used. A distance or a distance modulus may replace the
//! parallax. A user may give other names for some columns; a form or depth with a column named by
//! the user takes precedence.
//!
//! The error of a value is found by its name: `x_error`, `x_err`, `sigma_x` or `e_x` for the value
//! `x`. The correlation of two values is in `x_y_corr`, either order, as in Gaia's catalogues.
//!
//! A column with a stated unit is converted to the required one, and so is its error. A unit that
//! is unknown, or that measures something else, is refused by name. Columns without a unit are
//! assumed to be in the required one.
//!
//! Tables of any kind are read through [`Columns`].

mod columns;
mod number_column;
mod quantity;

pub use columns::{Columns, RowNames};
use number_column::conversion;
pub use number_column::{Conversion, NumberColumn};
pub use quantity::{Quantity, UnknownQuantity};

use super::{Angles, Catalogue, DistanceMeasure, Unit};
use crate::frames::{FrameError, Sky, Sun};

/// Columns named by the user, by the quantity they hold.
pub type OtherNames = [(Quantity, String)];

/// How a catalogue expresses the distance of a star.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// By its parallax, mas.
    Parallax,
    /// By its distance, kpc.
    Distance,
    /// By its distance modulus, mag.
    Modulus,
}

impl Depth {
    /// All of them, in order of preference where a table has several.
    const ALL: [Depth; 3] = [Self::Parallax, Self::Distance, Self::Modulus];

    /// What the column holds.
    pub fn quantity(self) -> Quantity {
        match self {
            Self::Parallax => Quantity::Parallax,
            Self::Distance => Quantity::Distance,
            Self::Modulus => Quantity::DistanceModulus,
        }
    }
}

/// The form of a catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As measured, in this frame.
    Observed(Sky, Depth),
    /// Positions and velocities in the Galaxy.
    Galactocentric,
}

impl Form {
    /// What the six columns hold.
    pub fn quantities(self) -> [Quantity; 6] {
        use Quantity::{B, Dec, L, PmB, PmDec, PmL, PmRa, Ra, RadialVelocity, Vx, Vy, Vz, X, Y, Z};
        match self {
            Self::Observed(Sky::Icrs, depth) => [Ra, Dec, depth.quantity(), PmRa, PmDec, RadialVelocity],
            Self::Observed(Sky::Galactic, depth) => [L, B, depth.quantity(), PmL, PmB, RadialVelocity],
            Self::Galactocentric => [X, Y, Z, Vx, Vy, Vz],
        }
    }
}

/// A result of reading columns `C`, or the error.
type Schema<T, C> = Result<T, SchemaError<<C as Columns>::Error>>;

/// What is wrong with the columns of a catalogue. The caller says which setting corrects it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError<E> {
    /// No form is complete.
    #[error("{}", no_stars(*.places, "for the columns", .columns))]
    NoStars {
        /// Whether Galactocentric positions would also be accepted.
        places: bool,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// Galactocentric positions where measured values are required.
    #[error(
        "x, y, z, vx, vy, vz were not measured, so they have no error bars to sample; ra, dec, parallax, pmra, \
         pmdec, radial_velocity are needed"
    )]
    NotMeasured,
    /// A unit that is unknown or measures something else.
    #[error("column `{column}` is in {unit}, but {needed} is needed; convert it")]
    Unit {
        /// The column.
        column: String,
        /// Its unit.
        unit: String,
        /// The unit that is needed.
        needed: &'static str,
    },
    /// A column that does not exist or cannot be read.
    #[error("{0}")]
    Columns(E),
}

/// The message that no form is complete. `naming` says how to name other columns, such as "with
/// --columns".
pub fn no_stars(places: bool, naming: &str, columns: &[String]) -> String {
    let others = if places { "; or x, y, z, vx, vy, vz" } else { "" };
    format!(
        "not a star catalogue: ra, dec, parallax, pmra, pmdec, radial_velocity (or l, b, pml, \
         pmb{others}) are needed; \
         give other names {naming} (the table has {})",
        columns.join(", ")
    )
}

/// The columns of a catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StarColumns {
    /// What they are.
    pub form: Form,
    /// Their names in the table: longitude, latitude, depth, proper motions, radial velocity; or x, y, z, vx,
    /// vy, vz.
    pub names: [String; 6],
}

impl StarColumns {
    /// The columns of a star catalogue, if the table is one.
    pub fn find<C: Columns>(columns: &C, given: &OtherNames) -> Schema<Option<StarColumns>, C> {
        use Quantity::{B, Dec, L, PmB, PmDec, PmL, PmRa, Ra, RadialVelocity};
        let there = columns.names();
        for (_, name) in given {
            columns.require(name).map_err(SchemaError::Columns)?;
        }
        let is_given = |quantity: Quantity| given.iter().any(|(own, _)| *own == quantity);
        let column = |quantity: Quantity| -> Option<String> {
            let own = given.iter().find(|(own, _)| *own == quantity).map(|(_, name)| name.clone());
            own.or_else(|| quantity.names().iter().find_map(|name| like(&there, name).cloned()))
        };
        // A depth named by the user takes precedence over a parallax that happens to exist.
        let asked = Depth::ALL.into_iter().filter(|depth| is_given(depth.quantity()));
        let depth = asked.chain(Depth::ALL).find(|depth| column(depth.quantity()).is_some());
        let complete = |form: Form| -> Option<StarColumns> {
            let names: Vec<String> = form.quantities().into_iter().map(column).collect::<Option<_>>()?;
            Some(StarColumns { form, names: names.try_into().ok()? })
        };
        let observed = |sky: Sky| complete(Form::Observed(sky, depth?));
        let place = Form::Galactocentric;
        if place.quantities().into_iter().any(is_given) {
            return Ok(complete(place));
        }
        if [L, B, PmL, PmB].into_iter().any(is_given) {
            return Ok(observed(Sky::Galactic));
        }
        let sky = observed(Sky::Icrs).or_else(|| observed(Sky::Galactic));
        // Everything was measured except the distance: probably a misnamed column, not another kind
        // of table.
        let all = |quantities: [Quantity; 5]| quantities.into_iter().all(|own| column(own).is_some());
        let measured = all([Ra, Dec, PmRa, PmDec, RadialVelocity]) || all([L, B, PmL, PmB, RadialVelocity]);
        if sky.is_none() && depth.is_none() && measured {
            columns.require(Quantity::Parallax.name()).map_err(SchemaError::Columns)?;
        }
        Ok(sky.or_else(|| complete(place)))
    }

    /// Like [`Self::find`], or an error that says what is required.
    pub fn require<C: Columns>(columns: &C, given: &OtherNames) -> Schema<Self, C> {
        let found = Self::find(columns, given)?;
        found.ok_or_else(|| SchemaError::NoStars { places: true, columns: columns.names() })
    }

    /// Like [`Self::require`], for measured values.
    pub fn require_observed<C: Columns>(columns: &C, given: &OtherNames) -> Schema<Self, C> {
        match Self::find(columns, given)? {
            Some(found) if found.form == Form::Galactocentric => Err(SchemaError::NotMeasured),
            Some(found) => Ok(found),
            None => Err(SchemaError::NoStars { places: false, columns: columns.names() }),
        }
    }

    /// Other columns that could hold the radial velocity, unless the user named one: some surveys
    /// have several.
    pub fn other_velocities<C: Columns>(&self, columns: &C, given: &OtherNames) -> Vec<String> {
        let named = given.iter().any(|(own, _)| *own == Quantity::RadialVelocity);
        if named || self.form == Form::Galactocentric {
            return Vec::new();
        }
        let there = columns.names();
        let names = Quantity::RadialVelocity.names().iter().filter_map(|name| like(&there, name));
        names.filter(|name| **name != self.names[5]).cloned().collect()
    }

    /// The required unit of each column.
    pub fn units(&self, angles: Angles) -> [Unit; 6] {
        self.form.quantities().map(|quantity| quantity.unit(angles))
    }

    /// The unit conversions; an error names a unit that cannot be converted.
    pub fn conversions<C: Columns>(&self, columns: &C, angles: Angles) -> Schema<Vec<Conversion>, C> {
        let mut all = Vec::new();
        for (name, unit) in self.names.iter().zip(self.units(angles)) {
            all.extend(conversion(columns, name, unit)?.map(|(_, conversion)| conversion));
        }
        Ok(all)
    }

    /// The six columns as numbers.
    pub fn read<C: Columns>(&self, columns: &C, angles: Angles) -> Schema<StarRows, C> {
        let units = self.units(angles);
        let mut read = Vec::with_capacity(6);
        for (name, unit) in self.names.iter().zip(units) {
            read.push(NumberColumn::read(columns, name, Some(unit))?);
        }
        Ok(StarRows { columns: read })
    }

    /// How rows of these columns become positions; `None` if they already are. `zero_point` is
    /// added to every parallax.
    pub fn catalogue(
        &self,
        angles: Angles,
        sun: Sun,
        zero_point: f64,
    ) -> Result<Option<Catalogue>, DepthError> {
        let Form::Observed(sky, depth) = self.form else { return Ok(None) };
        if zero_point != 0.0 && depth != Depth::Parallax {
            return Err(DepthError::NoParallax);
        }
        let measure = match depth {
            Depth::Parallax => DistanceMeasure::Parallax { offset: zero_point },
            Depth::Distance => DistanceMeasure::Distance,
            Depth::Modulus => DistanceMeasure::Modulus,
        };
        Ok(Some(Catalogue::new(sky, measure, sun)?.angles(angles)))
    }
}

/// A zero point that does not fit the catalogue.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DepthError {
    /// There are no parallaxes to add it to.
    #[error("a zero point is for parallaxes; the catalogue has distances")]
    NoParallax,
    /// It is not a number.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// The six numbers of every star, as in the table.
#[derive(Clone, Debug, PartialEq)]
pub struct StarRows {
    /// In the order of [`StarColumns::names`].
    pub columns: Vec<NumberColumn>,
}

impl StarRows {
    /// Number of stars.
    pub fn len(&self) -> usize {
        self.columns[0].numbers.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A star in the required units.
    pub fn star(&self, row: usize) -> [f64; 6] {
        std::array::from_fn(|c| self.columns[c].value(row))
    }
}

/// The usual names of the error of a value.
pub fn error_names(value: &str) -> [String; 4] {
    [format!("{value}_error"), format!("{value}_err"), format!("sigma_{value}"), format!("e_{value}")]
}

/// The column of a value's error, if there is one.
pub fn error_column(there: &[String], value: &str) -> Option<String> {
    error_names(value).into_iter().find(|name| there.contains(name))
}

/// The column of the correlation of two values, if there is one.
pub fn correlation_column(there: &[String], first: &str, second: &str) -> Option<String> {
    let either = [format!("{first}_{second}_corr"), format!("{second}_{first}_corr")];
    either.into_iter().find(|name| there.contains(name))
}

/// The column with this name, or one that differs only in case.
fn like<'t>(there: &'t [String], name: &str) -> Option<&'t String> {
    let same = there.iter().find(|own| *own == name);
    same.or_else(|| there.iter().find(|own| own.eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of one row: name, number, unit.
    struct Row(Vec<(&'static str, f64, &'static str)>);

    impl Columns for Row {
        type Error = String;

        fn names(&self) -> Vec<String> {
            self.0.iter().map(|column| column.0.to_string()).collect()
        }

        fn require(&self, name: &str) -> Result<(), String> {
            self.numbers(name).map(|_| ())
        }

        fn unit(&self, name: &str) -> Option<String> {
            self.0.iter().find(|column| column.0 == name).map(|column| column.2.to_string())
        }

        fn numbers(&self, name: &str) -> Result<Vec<f64>, String> {
            let found = self.0.iter().find(|column| column.0 == name);
            found.map(|column| vec![column.1]).ok_or_else(|| format!("no {name}"))
        }
    }

    fn gaia() -> Row {
        Row(vec![
            ("RA", 1.0, "rad"),
            ("dec", 0.5, ""),
            ("parallax", 0.002, "arcsec"),
            ("pmra", 3.0, "mas / yr"),
            ("pmdec", 1.0, "deg/yr"),
            ("rv", 20.0, "km s-1"),
            ("HRV", 20_000.0, "m/s"),
        ])
    }

    #[test]
    fn columns_are_found_by_their_names_and_brought_to_one_unit() {
        let table = gaia();
        let stars = StarColumns::find(&table, &[]).unwrap().unwrap();
        assert_eq!(stars.form, Form::Observed(Sky::Icrs, Depth::Parallax));
        assert_eq!(stars.names, ["RA", "dec", "parallax", "pmra", "pmdec", "rv"]);
        assert_eq!(stars.other_velocities(&table, &[]), ["HRV"]);
        let rows = stars.read(&table, Angles::Degrees).unwrap();
        let star = rows.star(0);
        assert!((star[0] - 1_f64.to_degrees()).abs() < 1e-13);
        assert_eq!([star[1], star[2], star[3], star[5]], [0.5, 2.0, 3.0, 20.0]);
        assert!((star[4] / 3.6e6 - 1.0).abs() < 1e-15, "{}", star[4]);
        let said: Vec<String> =
            rows.columns.iter().filter_map(|c| c.conversion.as_ref()).map(Conversion::to_string).collect();
        assert_eq!(said[0], "column `RA`: converted from rad to deg");
        assert_eq!(said.len(), 3);
        // The unit of a column wins over what angles are said to be in; a column without one is taken so.
        let radians = stars.read(&table, Angles::Radians).unwrap().star(0);
        assert_eq!(radians[..2], [1.0, 0.5]);
    }

    #[test]
    fn a_unit_that_is_not_known_is_refused_by_name() {
        let mut table = gaia();
        table.0[2].2 = "furlong";
        let stars = StarColumns::find(&table, &[]).unwrap().unwrap();
        let error = stars.read(&table, Angles::Degrees).unwrap_err();
        assert_eq!(error.to_string(), "column `parallax` is in furlong, but mas is needed; convert it");
    }

    #[test]
    fn what_the_user_names_goes_first() {
        let mut table = gaia();
        table.0.push(("d", 2.0, "kpc"));
        let own = [(Quantity::Distance, "d".to_string()), (Quantity::RadialVelocity, "HRV".to_string())];
        let stars = StarColumns::find(&table, &own).unwrap().unwrap();
        assert_eq!(stars.form, Form::Observed(Sky::Icrs, Depth::Distance));
        assert_eq!((stars.names[2].as_str(), stars.names[5].as_str()), ("d", "HRV"));
        assert!(stars.other_velocities(&table, &own).is_empty());
        assert_eq!(stars.catalogue(Angles::Degrees, Sun::hattori(), 0.017), Err(DepthError::NoParallax));
        let wrong = [(Quantity::Ra, "nope".to_string())];
        let refused = StarColumns::find(&table, &wrong);
        assert_eq!(refused, Err(SchemaError::Columns("no nope".to_string())));
    }

    #[test]
    fn everything_but_the_depth_is_a_slip_of_the_pen() {
        let mut table = gaia();
        table.0.remove(2);
        let slip = StarColumns::find(&table, &[]).unwrap_err();
        assert_eq!(slip, SchemaError::Columns("no parallax".to_string()));
        table.0.truncate(2);
        assert_eq!(StarColumns::find(&table, &[]).unwrap(), None);
        let needs = StarColumns::require_observed(&table, &[]).unwrap_err().to_string();
        assert!(needs.ends_with("give other names for the columns (the table has RA, dec)"), "{needs}");
    }

    #[test]
    fn errors_and_correlations_are_found_by_their_names() {
        let there = ["e_x", "x_err", "y_x_corr"].map(String::from);
        assert_eq!(error_column(&there, "x").as_deref(), Some("x_err"));
        assert_eq!(error_column(&there, "y"), None);
        assert_eq!(correlation_column(&there, "x", "y").as_deref(), Some("y_x_corr"));
    }
}
