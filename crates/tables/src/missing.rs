//! The missing-value rule, in one place.
//!
//! A table can say "no value" in three ways, and they are not the same:
//!
//! | in the table | here |
//! |---|---|
//! | null: an empty field, a masked row, `TNULL`, a Parquet null | kept as null; as a number it is NaN |
//! | NaN | a value of its own, kept |
//! | a number that stands for "missing", such as -9999 | an ordinary number until this rule is asked |
//!
//! [`Missing`] says which numbers count as missing. The default is -9999, the usual value in
//! surveys. `none` switches it off. `nan` adds NaN and null; without it, code that needs a finite
//! number refuses them by name. Several values may be given: `-9999,-999,nan`.

use std::fmt;
use std::str::FromStr;

use crate::error::{Result, TableError};

/// Which values count as missing.
///
/// ```
/// use goc_tables::Missing;
/// let missing = Missing::default();
/// assert!(missing.is_missing(-9999.0) && !missing.is_missing(f64::NAN));
/// let missing = Missing::parse("-999, nan")?;
/// assert!(missing.is_missing(-999.0) && missing.is_missing(f64::NAN) && !missing.is_missing(-9999.0));
/// assert!(!Missing::parse("none")?.is_missing(-9999.0));
/// # Ok::<(), goc_tables::TableError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    numbers: Vec<f64>,
    nan: bool,
}

/// -9999, and not NaN.
impl Default for Missing {
    fn default() -> Self {
        Self { numbers: vec![-9999.0], nan: false }
    }
}

impl Missing {
    /// Nothing is missing.
    pub fn none() -> Self {
        Self { numbers: Vec::new(), nan: false }
    }

    /// Reads `none`, or a list of numbers and `nan` separated by commas. `nan` alone adds to the
    /// default -9999.
    pub fn parse(text: &str) -> Result<Self> {
        if text.trim().eq_ignore_ascii_case("none") {
            return Ok(Self::none());
        }
        let mut rule = Self::none();
        for part in text.split(',').map(str::trim) {
            if part.eq_ignore_ascii_case("nan") || part.eq_ignore_ascii_case("null") {
                rule.nan = true;
                continue;
            }
            match part.parse::<f64>() {
                Ok(number) if !number.is_nan() => rule.numbers.push(number),
                _ => return Err(TableError::Missing { text: text.to_string() }),
            }
        }
        if rule.numbers.is_empty() {
            rule.numbers = Self::default().numbers;
        }
        Ok(rule)
    }

    /// Whether `value` counts as missing. A null read as a number is NaN, so `nan` covers it.
    pub fn is_missing(&self, value: f64) -> bool {
        if value.is_nan() { self.nan } else { self.numbers.contains(&value) }
    }
}

impl FromStr for Missing {
    type Err = TableError;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// As [`Missing::parse`] reads it.
impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = self.numbers.iter().map(f64::to_string).collect();
        if self.nan {
            parts.push("nan".into());
        }
        if parts.is_empty() { f.write_str("none") } else { f.write_str(&parts.join(",")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_alone_adds_to_the_default() {
        let rule = Missing::parse("nan").unwrap();
        assert!(rule.is_missing(f64::NAN) && rule.is_missing(-9999.0));
    }

    #[test]
    fn rules_print_as_they_are_parsed() {
        for text in ["none", "-9999", "-9999,nan", "-99.5,-1"] {
            assert_eq!(Missing::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "x", "1,,2", "none,1"] {
            assert!(Missing::parse(text).is_err(), "{text:?}");
        }
    }
}
