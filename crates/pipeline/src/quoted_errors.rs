//! Quoted errors that are too small, mended before any set is made of them.
//!
//! The error of a value is multiplied by the factor of its column, then raised to the floor of its
//! column: `max(factor * quoted, floor)`. Correlations stay as they are. Columns are named by what
//! was measured (`parallax`), not by where its error stands (`parallax_error`).

use std::fmt;

use goc_galaxy::catalogue::schema::NumberColumn;
use serde_json::{Value, json};

use crate::error::Result;

/// Numbers by the column that they are for, as they were given.
type ByColumn = Vec<(String, f64)>;

/// What errors are multiplied by.
#[derive(Clone, Debug, PartialEq)]
pub enum Inflation {
    /// Those of every column, by the same.
    All(f64),
    /// Those of some columns, each by its own.
    Of(ByColumn),
}

/// No column.
impl Default for Inflation {
    fn default() -> Self {
        Self::Of(Vec::new())
    }
}

/// The factor, or `parallax=1.5,pmra=2`: as it is typed.
impl fmt::Display for Inflation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(factor) => write!(f, "{factor}"),
            Self::Of(factors) => f.write_str(&typed(factors)),
        }
    }
}

fn typed(numbers: &ByColumn) -> String {
    let pairs: Vec<String> = numbers.iter().map(|(column, number)| format!("{column}={number}")).collect();
    pairs.join(",")
}

/// What becomes of quoted errors; by default they are taken as they are.
///
/// ```
/// use goc_pipeline::QuotedErrors;
/// let words = |text: &str| vec![text.to_string()];
/// assert!(QuotedErrors::parse(&words("parallax=1.5"), &words("pmra=0.02")).is_ok());
/// assert!(QuotedErrors::parse(&words("-1"), &[]).is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuotedErrors {
    inflation: Inflation,
    floors: ByColumn,
}

/// What a factor must be, in words.
const FACTOR: &str = "a factor is a finite number above 0";
/// What a floor must be, in words.
const FLOOR: &str = "a floor is a finite number from 0, in the unit of its column";

impl QuotedErrors {
    /// Checks the numbers.
    pub fn new(inflation: Inflation, floors: ByColumn) -> Result<Self> {
        let is_factor = |factor: f64| factor.is_finite() && factor > 0.0;
        let wrong = match &inflation {
            Inflation::All(factor) => (!is_factor(*factor)).then(|| factor.to_string()),
            Inflation::Of(factors) => {
                let wrong = factors.iter().find(|(_, factor)| !is_factor(*factor));
                wrong.map(|(column, factor)| format!("{column}={factor}"))
            }
        };
        if let Some(wrong) = wrong {
            return Err(usage!("{{inflate}} {wrong}: {FACTOR}"));
        }
        if let Some((column, floor)) = floors.iter().find(|(_, floor)| !floor.is_finite() || *floor < 0.0) {
            return Err(usage!("{{error_floor}} {column}={floor}: {FLOOR}"));
        }
        Ok(Self { inflation, floors })
    }

    /// From words such as `parallax=1.5`, or for the inflation one number for all columns.
    pub fn parse(inflate: &[String], floors: &[String]) -> Result<Self> {
        let pair = |word: &String| {
            named(word).ok_or_else(|| {
                usage!("{{inflate}} {word}: give COLUMN=FACTOR for each column, or one factor for all")
            })
        };
        let all = match inflate {
            [word] => word.trim().parse().ok(),
            _ => None,
        };
        let inflation = match all {
            Some(factor) => Inflation::All(factor),
            None => Inflation::Of(inflate.iter().map(pair).collect::<Result<_>>()?),
        };
        let floor = |word: &String| {
            named(word)
                .ok_or_else(|| usage!("{{error_floor}} {word}: give COLUMN=ERROR, in the unit of the column"))
        };
        Self::new(inflation, floors.iter().map(floor).collect::<Result<_>>()?)
    }

    /// What is done to the errors of each of these columns.
    pub(crate) fn changes(&self, columns: &[ErrorColumn<'_>]) -> Result<Vec<Change>> {
        let mut changes = vec![Change::default(); columns.len()];
        match &self.inflation {
            Inflation::All(factor) => {
                changes.iter_mut().for_each(|change| change.factor = Some(*factor));
            }
            Inflation::Of(factors) => {
                for (name, factor) in factors {
                    let change = &mut changes[ErrorColumn::position(columns, name, "{inflate}")?];
                    if change.factor.replace(*factor).is_some() {
                        return Err(usage!("{{inflate}} names `{name}` twice"));
                    }
                }
            }
        }
        for (name, floor) in &self.floors {
            let change = &mut changes[ErrorColumn::position(columns, name, "{error_floor}")?];
            if change.floor.replace(*floor).is_some() {
                return Err(usage!("{{error_floor}} names `{name}` twice"));
            }
        }
        Ok(changes)
    }

    /// What provenance says of it: nothing where errors are taken as they are.
    pub(crate) fn settings(&self) -> Vec<(&'static str, Value)> {
        let told = [("inflate", self.inflation.to_string()), ("error_floor", typed(&self.floors))];
        told.into_iter().filter(|(_, text)| !text.is_empty()).map(|(key, text)| (key, json!(text))).collect()
    }
}

/// The two sides of `parallax=1.5`. The last sign counts: a name may have one, a number has none.
fn named(word: &str) -> Option<(String, f64)> {
    let (column, number) = word.rsplit_once('=')?;
    let column = column.trim();
    Some((column.to_string(), number.trim().parse().ok()?)).filter(|_| !column.is_empty())
}

/// A measured column, as it may be named.
pub(crate) struct ErrorColumn<'a> {
    /// Its name in the table.
    pub name: &'a str,
    /// What it holds of a star: `radial_velocity` where the table has `HRV`.
    pub quantity: Option<&'static str>,
    /// The column of its errors.
    pub errors: &'a str,
}

impl ErrorColumn<'_> {
    /// Which of the columns is named; an error says which there are, and which may be meant.
    fn position(columns: &[Self], wanted: &str, setting: &str) -> Result<usize> {
        let own = columns.iter().position(|column| column.name == wanted);
        let found = own.or_else(|| columns.iter().position(|column| column.quantity == Some(wanted)));
        found.ok_or_else(|| {
            let names: Vec<String> = columns.iter().map(|column| column.name.to_string()).collect();
            let of_errors = columns.iter().find(|column| column.errors == wanted);
            let meant = of_errors.map(|column| column.name.to_string()).or_else(|| near(wanted, &names));
            let meant = meant.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
            let names = names.join(", ");
            usage!("{setting}: no measured column with errors `{wanted}`{meant}; there are: {names}")
        })
    }
}

/// A name that is much like the one that was given.
#[cfg(feature = "tables")]
fn near(wanted: &str, names: &[String]) -> Option<String> {
    goc_tables::near_names(wanted, names).into_iter().next()
}

/// The rule for names that are much alike is that of the tables; without them the list must do.
#[cfg(not(feature = "tables"))]
fn near(_wanted: &str, _names: &[String]) -> Option<String> {
    None
}

/// What is done to the errors of one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Change {
    /// They are multiplied by this,
    pub factor: Option<f64>,
    /// then raised to this, in the unit of the measured column.
    pub floor: Option<f64>,
}

impl Change {
    /// The errors to use, in the unit that is needed; `unit` is the factor that brings the measured
    /// column there.
    pub fn apply(&self, mut quoted: NumberColumn, unit: f64) -> Vec<f64> {
        // Before units are converted: so it is what the table would give, were it multiplied there.
        if let Some(factor) = self.factor {
            quoted.numbers.iter_mut().for_each(|error| *error *= factor);
        }
        let mut errors = quoted.into_values();
        if let Some(floor) = self.floor {
            errors.iter_mut().for_each(|error| *error = error.max(floor * unit));
        }
        errors
    }
}
