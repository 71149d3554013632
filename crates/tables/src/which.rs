//! Which table to read from a file that has several.
//!
//! FITS counts its units (HDUs) from 0, the primary one, and names them by `EXTNAME`; VOTable's tables
//! are counted from 1 here and have a `name` or an `ID`. The other formats hold one table.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// Which table of a file to read.
///
/// ```
/// use goc_tables::{Pick, Which};
/// assert_eq!("2".parse(), Ok(Pick::Number(2)));
/// assert_eq!("GAIA".parse(), Ok(Pick::Name("GAIA".into())));
/// let table = goc_tables::read_which("none.csv".as_ref(), &Which::Hdu(Pick::Number(2)));
/// assert_eq!(table.unwrap_err().to_string(), "none.csv: only FITS files have HDUs; leave --hdu out");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// The first there is.
    #[default]
    First,
    /// A unit of a FITS file.
    Hdu(Pick),
    /// A table of a VOTable file.
    Table(Pick),
}

/// A table by its number or its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Its number, as the format counts.
    Number(usize),
    /// Its name, in any case.
    Name(String),
}

impl Pick {
    /// Whether this selects the table with this number and these names.
    pub(crate) fn is(&self, number: usize, names: &[&str]) -> bool {
        match self {
            Pick::Number(wanted) => *wanted == number,
            Pick::Name(wanted) => names.iter().any(|name| wanted.trim().eq_ignore_ascii_case(name.trim())),
        }
    }
}

/// Digits are a number, anything else a name.
impl FromStr for Pick {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.trim().parse().map_or_else(|_| Pick::Name(text.to_string()), Pick::Number))
    }
}

impl fmt::Display for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pick::Number(number) => write!(f, "{number}"),
            Pick::Name(name) => write!(f, "`{name}`"),
        }
    }
}
