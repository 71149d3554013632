//! The values that settings take, and how they are read from text and written as text.

use std::fmt;
use std::str::FromStr;

use goc::baselines::boxes::BoxDistance;
use goc::choice::Choice;
use goc::choose_k::Criterion;
use goc::optimistic::{Beginning, Distance, KRule, OracleEvery, Preset, Search};
use goc::oracle::k_means::{Algorithm, Seeding};
use goc::oracle::k_medoids;
use goc::oracle::linkage::Method as LinkageMethod;
use goc::pessimistic::Reading;
use goc::scale::Scaling;

use crate::error::Result;
use crate::names::{BackgroundName, FeatureMapName, MethodName, OracleName, PenaltyScale, SetDistanceName};

/// A number, or `auto` to determine it from the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Auto<T> {
    /// This.
    Number(T),
    /// Determined from the data.
    Auto,
}

impl<T> Auto<T> {
    /// The number, if it is one.
    pub fn number(self) -> Option<T> {
        match self {
            Auto::Number(number) => Some(number),
            Auto::Auto => None,
        }
    }
}

/// The kind of values that a setting takes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// One of these words, each with its description for help texts.
    Words(Vec<(&'static str, &'static str)>),
    /// A whole number of at least the row's `least`.
    Count,
    /// A real number.
    Real,
    /// Yes or no.
    Flag,
    /// A whole number, or `auto`.
    CountOrAuto,
    /// A real number, or `auto`.
    RealOrAuto,
}

/// A type that a setting can have, converted to and from text.
pub trait Value: Sized {
    /// What its values are.
    fn kind() -> Kind;
    /// From text.
    fn read(text: &str) -> Result<Self, String>;
    /// To text; `None` if nothing is set.
    fn write(&self) -> Option<String>;
}

macro_rules! word_value {
    ($($type:ty),+ $(,)?) => {
        $(impl Value for $type {
            fn kind() -> Kind {
                Kind::Words(<$type>::ALL.iter().map(|(_, word, about)| (*word, *about)).collect())
            }

            fn read(text: &str) -> Result<Self, String> {
                <$type>::from_word(text).map_err(|error| error.to_string())
            }

            fn write(&self) -> Option<String> {
                Some(self.word().to_string())
            }
        })+
    };
}

word_value! {
    Algorithm, BackgroundName, Beginning, BoxDistance, Criterion, Distance, FeatureMapName, KRule, LinkageMethod,
    MethodName, OracleEvery, OracleName, PenaltyScale, Preset, Reading, Scaling, Search, Seeding, SetDistanceName,
    k_medoids::Distance
}

macro_rules! plain_value {
    ($type:ty, $kind:expr) => {
        impl Value for $type {
            fn kind() -> Kind {
                $kind
            }

            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|error: <$type as FromStr>::Err| error.to_string())
            }

            fn write(&self) -> Option<String> {
                Some(self.to_string())
            }
        }
    };
}

plain_value!(usize, Kind::Count);
plain_value!(f64, Kind::Real);
plain_value!(bool, Kind::Flag);
plain_value!(Auto<usize>, Kind::CountOrAuto);
plain_value!(Auto<f64>, Kind::RealOrAuto);

/// An optional setting, which falls back to the method or the preset.
impl<T: Value> Value for Option<T> {
    fn kind() -> Kind {
        T::kind()
    }

    fn read(text: &str) -> Result<Self, String> {
        T::read(text).map(Some)
    }

    fn write(&self) -> Option<String> {
        self.as_ref().and_then(Value::write)
    }
}

impl<T: FromStr> FromStr for Auto<T>
where
    T::Err: fmt::Display,
{
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Auto::Auto),
            number => {
                number.parse().map(Auto::Number).map_err(|error| format!("{error}; give a number or auto"))
            }
        }
    }
}

impl<T: fmt::Display> fmt::Display for Auto<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Auto::Number(number) => number.fmt(f),
            Auto::Auto => f.write_str("auto"),
        }
    }
}
