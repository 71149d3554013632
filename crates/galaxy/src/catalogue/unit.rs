//! Units as tables write them, and conversions between them.
//!
//! The same unit has many spellings: `mas/yr`, `mas yr-1`, `mas.yr**-1`, `mas / yr`. Separators are
//! removed and case is ignored; what is left names an angle, a length, a magnitude, or an angle or
//! length per time.

/// What a unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// An angle, such as a position or a parallax.
    Angle,
    /// An angle per time: a proper motion.
    ProperMotion,
    /// A length per time.
    Velocity,
    /// A length.
    Length,
    /// A magnitude.
    Magnitude,
}

/// A unit that a quantity may be required in.
///
/// ```
/// use goc_galaxy::catalogue::{Kind, Unit};
/// let needed = Unit::MAS_PER_YEAR;
/// assert_eq!(needed.kind(), Kind::ProperMotion);
/// assert_eq!(needed.factor_from("mas.yr**-1"), Some(1.0));
/// assert_eq!(needed.factor_from("arcsec / yr"), Some(1000.0));
/// assert_eq!(needed.factor_from("km/s"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    kind: Kind,
    name: &'static str,
    /// The size in milliarcseconds, kilometres, magnitudes, or those per second.
    size: f64,
}

const MAS_PER_DEGREE: f64 = 3.6e6;
const SECONDS_PER_YEAR: f64 = 31_557_600.0;
/// IAU 2015: 648000 / pi astronomical units.
const KM_PER_PARSEC: f64 = 3.085_677_581_491_367e13;

/// Names of angles, and milliarcseconds in each.
const ANGLES: [(&[&str], f64); 7] = [
    (&["deg", "degree", "degrees"], MAS_PER_DEGREE),
    (&["rad", "radian", "radians"], MAS_PER_DEGREE * (180.0 / std::f64::consts::PI)),
    (&["arcmin", "arcminute", "arcminutes"], 6e4),
    (&["arcsec", "arcsecond", "arcseconds", "as"], 1e3),
    (&["mas", "milliarcsec", "milliarcsecond", "milliarcseconds", "marcsec"], 1.0),
    (&["uas", "µas", "μas", "microarcsec", "microarcsecond", "microarcseconds", "uarcsec"], 1e-3),
    (&["hourangle", "hourangles"], 15.0 * MAS_PER_DEGREE),
];

/// Names of lengths, and kilometres in each.
const LENGTHS: [(&[&str], f64); 8] = [
    (&["km", "kilometer", "kilometre", "kilometers", "kilometres"], 1.0),
    (&["m", "meter", "metre", "meters", "metres"], 1e-3),
    (&["cm"], 1e-5),
    (&["au", "astronomicalunit"], 149_597_870.7),
    (&["pc", "parsec", "parsecs"], KM_PER_PARSEC),
    (&["kpc", "kiloparsec", "kiloparsecs"], 1e3 * KM_PER_PARSEC),
    (&["mpc", "megaparsec", "megaparsecs"], 1e6 * KM_PER_PARSEC),
    (&["lyr", "ly", "lightyear", "lightyears"], 9.460_730_472_580_8e12),
];

/// Names of times, and seconds in each.
const TIMES: [(&[&str], f64); 7] = [
    (&["s", "sec", "second", "seconds"], 1.0),
    (&["min", "minute", "minutes"], 60.0),
    (&["h", "hr", "hour", "hours"], 3600.0),
    (&["d", "day", "days"], 86_400.0),
    (&["yr", "year", "years", "a"], SECONDS_PER_YEAR),
    (&["myr"], 1e6 * SECONDS_PER_YEAR),
    (&["gyr"], 1e9 * SECONDS_PER_YEAR),
];

const MAGNITUDES: [(&[&str], f64); 2] =
    [(&["mag", "mags", "magnitude", "magnitudes"], 1.0), (&["mmag"], 1e-3)];

impl Unit {
    /// Degrees.
    pub const DEGREE: Self = Self { kind: Kind::Angle, name: "deg", size: MAS_PER_DEGREE };
    /// Radians.
    pub const RADIAN: Self = Self { kind: Kind::Angle, name: "rad", size: ANGLES[1].1 };
    /// Milliarcseconds.
    pub const MAS: Self = Self { kind: Kind::Angle, name: "mas", size: 1.0 };
    /// Milliarcseconds per year.
    pub const MAS_PER_YEAR: Self =
        Self { kind: Kind::ProperMotion, name: "mas/yr", size: 1.0 / SECONDS_PER_YEAR };
    /// Kilometres per second.
    pub const KM_PER_SECOND: Self = Self { kind: Kind::Velocity, name: "km/s", size: 1.0 };
    /// Kiloparsecs.
    pub const KPC: Self = Self { kind: Kind::Length, name: "kpc", size: 1e3 * KM_PER_PARSEC };
    /// Magnitudes.
    pub const MAG: Self = Self { kind: Kind::Magnitude, name: "mag", size: 1.0 };

    /// What it measures.
    pub fn kind(self) -> Kind {
        self.kind
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The factor that converts a number in the unit `text` to this one; `None` if the unit is
    /// unknown or measures something else. It is exactly 1 for the unit itself.
    pub fn factor_from(self, text: &str) -> Option<f64> {
        let separators = |c: &char| !(c.is_whitespace() || ".*^()\"'".contains(*c));
        let plain: String = text.chars().filter(separators).flat_map(char::to_lowercase).collect();
        let size = match self.kind {
            Kind::Angle => named(&ANGLES, &plain),
            Kind::Length => named(&LENGTHS, &plain),
            Kind::Magnitude => named(&MAGNITUDES, &plain),
            Kind::ProperMotion => per_time(&ANGLES, &plain),
            Kind::Velocity => per_time(&LENGTHS, &plain),
        }?;
        Some(size / self.size)
    }
}

fn named(units: &[(&[&str], f64)], plain: &str) -> Option<f64> {
    units.iter().find(|(names, _)| names.contains(&plain)).map(|(_, size)| *size)
}

/// `mas/yr` or `masyr-1`.
fn per_time(units: &[(&[&str], f64)], plain: &str) -> Option<f64> {
    if let Some((unit, time)) = plain.split_once('/') {
        return Some(named(units, unit)? / named(&TIMES, time)?);
    }
    let product = plain.strip_suffix("-1")?;
    // The boundary between words is not marked: `masyr` is mas and yr.
    let ends = product.char_indices().skip(1).map(|(at, _)| product.split_at(at));
    ends.filter_map(|(unit, time)| Some(named(units, unit)? / named(&TIMES, time)?)).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_written_otherwise_is_the_same_to_the_last_bit() {
        for (unit, texts) in [
            (Unit::DEGREE, vec!["deg", "Degree", " degrees ", "'deg'"]),
            (Unit::RADIAN, vec!["rad", "radians"]),
            (Unit::MAS, vec!["mas", "milliarcsec", "(mas)"]),
            (
                Unit::MAS_PER_YEAR,
                vec!["mas/yr", "mas yr-1", "mas.yr**-1", "mas yr^-1", "mas / yr", "mas/year", "mas/a"],
            ),
            (Unit::KM_PER_SECOND, vec!["km/s", "km s-1", "km s**-1", "KM.S**-1", "km/sec"]),
            (Unit::KPC, vec!["kpc"]),
            (Unit::MAG, vec!["mag", "mags", "magnitude"]),
        ] {
            for text in texts {
                assert_eq!(unit.factor_from(text), Some(1.0), "{text}");
            }
        }
    }

    /// Factors by astropy.units 7.
    #[test]
    fn other_units_are_converted() {
        let near = |unit: Unit, text: &str, factor: f64| {
            let found = unit.factor_from(text).unwrap_or(f64::NAN);
            assert!((found / factor - 1.0).abs() < 1e-14, "{text}: {found}");
        };
        near(Unit::DEGREE, "rad", 57.295_779_513_082_32);
        near(Unit::RADIAN, "deg", 0.017_453_292_519_943_295);
        near(Unit::DEGREE, "hourangle", 15.0);
        near(Unit::DEGREE, "arcsec", 1.0 / 3600.0);
        near(Unit::MAS, "arcsec", 1e3);
        near(Unit::MAS, "uas", 1e-3);
        near(Unit::MAS_PER_YEAR, "deg/yr", 3.6e6);
        near(Unit::MAS_PER_YEAR, "arcsec yr-1", 1e3);
        near(Unit::MAS_PER_YEAR, "rad / s", 6.509_222_249_623_368e15);
        near(Unit::KM_PER_SECOND, "m/s", 1e-3);
        near(Unit::KM_PER_SECOND, "kpc Gyr-1", 0.977_792_221_680_789);
        near(Unit::KPC, "pc", 1e-3);
        near(Unit::KPC, "Mpc", 1e3);
        near(Unit::KPC, "m", 3.240_779_289_444_365e-20);
        near(Unit::KPC, "AU", 4.848_136_811_095_36e-9);
        near(Unit::MAG, "mmag", 1e-3);
    }

    #[test]
    fn what_is_not_known_or_measures_something_else_has_no_factor() {
        for (unit, texts) in [
            (Unit::MAS, vec!["furlong", "mas/yr", "kpc", "", "mag"]),
            (Unit::MAS_PER_YEAR, vec!["mas", "km/s", "/yr", "mas/", "-1", "yr-1", "mas/furlong"]),
            (Unit::KM_PER_SECOND, vec!["km", "mas/yr", "km2/s2"]),
            (Unit::KPC, vec!["mas", "kpc/s"]),
        ] {
            for text in texts {
                assert_eq!(unit.factor_from(text), None, "{text}");
            }
        }
    }
}
