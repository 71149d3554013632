//! Corrects underestimated quoted errors before uncertainty sets are made from them.
//!
//! The error of a value is multiplied by the factor of its column, then raised to the floor of its
//! column: `max(factor * quoted, floor)`. Correlations are unchanged. Columns are named by the
//! measured quantity (`parallax`), not by its error column (`parallax_error`).

use std::fmt;

use goc_galaxy::catalogue::schema::NumberColumn;
use serde_json::{Value, json};

use crate::error::Result;

/// Numbers per column, as given.
type ByColumn = Vec<(String, f64)>;

/// The factors by which errors are multiplied.
#[derive(Clone, Debug, PartialEq)]
pub enum Inflation {
    /// The same factor for every column.
    All(f64),
    /// A separate factor for each of some columns.
    Of(ByColumn),
}

/// No column.
impl Default for Inflation {
    fn default() -> Self {
        Self::Of(Vec::new())
    }
}

/// The factor, or `parallax=1.5,pmra=2`, as typed on the command line.
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

/// The correction of quoted errors; by default none.
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

    /// The correction to the errors of each of these columns.
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

    /// What the provenance records: nothing if errors are used as quoted.
    pub(crate) fn settings(&self) -> Vec<(&'static str, Value)> {
        let told = [("inflate", self.inflation.to_string()), ("error_floor", typed(&self.floors))];
        told.into_iter().filter(|(_, text)| !text.is_empty()).map(|(key, text)| (key, json!(text))).collect()
    }
}

/// The two sides of `parallax=1.5`, split at the last `=`: a name may contain one, a number cannot.
fn named(word: &str) -> Option<(String, f64)> {
    let (column, number) = word.rsplit_once('=')?;
    let column = column.trim();
    Some((column.to_string(), number.trim().parse().ok()?)).filter(|_| !column.is_empty())
}

/// A measured column, as it may be named.
pub(crate) struct ErrorColumn<'a> {
    /// Its name in the table.
    pub name: &'a str,
    /// The quantity of a star that it holds, such as `radial_velocity` for a column called `HRV`.
    pub quantity: Option<&'static str>,
    /// The column of its errors.
    pub errors: &'a str,
}

impl ErrorColumn<'_> {
    /// The index of the named column; the error lists the columns and suggests one.
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

/// A name similar to the given one.
#[cfg(feature = "tables")]
fn near(wanted: &str, names: &[String]) -> Option<String> {
    goc_tables::near_names(wanted, names).into_iter().next()
}

/// The tables crate defines when names are similar; without it, the list must suffice.
#[cfg(not(feature = "tables"))]
fn near(_wanted: &str, _names: &[String]) -> Option<String> {
    None
}

/// What is done to the errors of one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Change {
    /// The errors are multiplied by this,
    pub factor: Option<f64>,
    /// then raised to this, in the unit of the measured column.
    pub floor: Option<f64>,
}

impl Change {
    /// The errors to use, in the required unit; `unit` is the factor that converts the measured
    /// column to it.
    pub fn apply(&self, mut quoted: NumberColumn, unit: f64) -> Vec<f64> {
        // Applied before units are converted, so the result is the same as if the column had been
        // multiplied in the table.
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
