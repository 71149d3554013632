//! Names of the choices that make candidates: shapes, samplers, transformations, penalties.
//!
//! Each is printed as it is typed, and recorded in this form in the provenance of the candidates.
//! Some take a column or a number after the word.

use std::fmt;
use std::str::FromStr;

words! {
    /// The shape of an uncertainty set.
    pub enum Shape {
        Box = "box": "One half-width for each value",
        Ellipsoid = "ellipsoid": "The level set of normal errors, with correlations where there are columns x_y_corr",
        Ball = "ball": "An ellipsoid with one error for all values",
        L1 = "l1": "The level set of Laplace errors",
    }

    /// What to do with a row that has an impossible number: an infinity, a negative error, or a
    /// correlation beyond 1.
    #[derive(Default)]
    pub enum BadRows {
        #[default] Refuse = "refuse": "Stop and name it",
        Drop = "drop": "Leave it out, counted and named",
    }

    /// What to do with an object without valid points.
    pub enum WhenEmpty {
        /// Stop and name it.
        Refuse = "refuse",
        /// Continue without it, and name it.
        Drop = "drop",
    }
}

/// How points are drawn from a set; columns are given by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SamplerName {
    /// Evenly at random.
    #[default]
    Uniform,
    /// Evenly spread.
    Sobol,
    /// From the error distribution, not cut off at the set.
    Density,
    /// The same with heavy tails, for the marginal mixture, which learns how reliable the quoted
    /// errors are.
    Tails,
    /// One value on an even grid, the others uniform.
    Grid(String),
}

impl FromStr for SamplerName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "uniform" => Ok(Self::Uniform),
            None if text == "sobol" => Ok(Self::Sobol),
            None if text == "density" => Ok(Self::Density),
            None if text == "tails" => Ok(Self::Tails),
            Some(("grid", column)) if !column.is_empty() => Ok(Self::Grid(column.to_string())),
            _ => Err("give uniform, sobol, density, tails or grid:COLUMN".into()),
        }
    }
}

impl fmt::Display for SamplerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Sobol => f.write_str("sobol"),
            Self::Density => f.write_str("density"),
            Self::Tails => f.write_str("tails"),
            Self::Grid(column) => write!(f, "grid:{column}"),
        }
    }
}

/// From values to features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransformName {
    /// Orbital actions of stars.
    Actions,
    /// The values themselves.
    None,
    /// This many principal components.
    Pca(usize),
    /// The same in the feature space of a radial kernel.
    KernelPca(usize),
    /// The same for a cubic kernel.
    KernelPcaPoly(usize),
    /// A toy example: where tracks cross.
    Coasting,
}

impl FromStr for TransformName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = "give actions, none, pca:Q, kernel-pca:Q, kernel-pca-poly:Q or coasting, with Q the number of features";
        let (name, q) = match text.split_once(':') {
            Some((name, q)) => {
                (name, Some(q.parse().ok().filter(|&q| q > 0).ok_or("Q must be a whole number from 1")?))
            }
            None => (text, None),
        };
        match (name, q) {
            ("actions", None) => Ok(Self::Actions),
            ("none", None) => Ok(Self::None),
            ("coasting", None) => Ok(Self::Coasting),
            ("pca", Some(q)) => Ok(Self::Pca(q)),
            ("kernel-pca", Some(q)) => Ok(Self::KernelPca(q)),
            ("kernel-pca-poly", Some(q)) => Ok(Self::KernelPcaPoly(q)),
            _ => Err(known.into()),
        }
    }
}

impl fmt::Display for TransformName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Actions => f.write_str("actions"),
            Self::None => f.write_str("none"),
            Self::Coasting => f.write_str("coasting"),
            Self::Pca(q) => write!(f, "pca:{q}"),
            Self::KernelPca(q) => write!(f, "kernel-pca:{q}"),
            Self::KernelPcaPoly(q) => write!(f, "kernel-pca-poly:{q}"),
        }
    }
}

/// The penalty of a candidate; columns are given by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PenaltyName {
    /// Nothing.
    None,
    /// Minus the log density of the errors.
    #[default]
    Density,
    /// The same for these values only.
    DensityOf(Vec<String>),
    /// Squared distance from the features of the measured values.
    Distance,
}

impl FromStr for PenaltyName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            None if text == "density" => Ok(Self::Density),
            None if text == "distance" => Ok(Self::Distance),
            Some(("density", columns)) if columns.split(',').all(|column| !column.trim().is_empty()) => {
                Ok(Self::DensityOf(columns.split(',').map(|c| c.trim().to_string()).collect()))
            }
            _ => Err("give none, density, density:COLUMN[,COLUMN] or distance".into()),
        }
    }
}

impl fmt::Display for PenaltyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Density => f.write_str("density"),
            Self::Distance => f.write_str("distance"),
            Self::DensityOf(columns) => write!(f, "density:{}", columns.join(",")),
        }
    }
}

/// The name in messages about candidates: the command's flag, or Python's keyword.
pub(crate) const WORDS: [(&str, &str, &str); 25] = [
    ("{values}", "--values", "values="),
    ("{errors}", "--errors", "errors="),
    ("{inflate}", "--inflate", "inflate"),
    ("{error_floor}", "--error-floor", "error_floor"),
    ("{columns}", "--columns", "columns="),
    ("{keep}", "--keep", "keep"),
    ("{transform}", "--transform", "transform"),
    ("{space}", "--space", "space"),
    ("{sampler}", "--sampler", "sampler"),
    ("{sun}", "--sun", "sun"),
    ("{penalty}", "--penalty", "penalty"),
    ("{potential}", "--potential", "potential"),
    ("{distance_prior}", "--distance-prior", "distance_prior"),
    ("{zero_point}", "--zero-point", "zero_point"),
    ("{draws}", "--draws", "draws"),
    ("{features}", "--features", "features"),
    ("{with}", "--with", "with_"),
    ("{missing_rv=drop}", "--missing-rv drop", "missing_rv='drop'"),
    ("{missing_rv=prior}", "--missing-rv prior", "missing_rv='prior'"),
    ("{shape=box}", "--shape box", "shape='box'"),
    ("{shape=ellipsoid}", "--shape ellipsoid", "shape='ellipsoid'"),
    ("{missing=nan}", "--missing nan", "on_nan='drop'"),
    ("{bad_rows=drop}", "--bad-rows drop", "on_bad='drop'"),
    ("{when_empty=drop}", "--when-empty drop", "on_empty='drop'"),
    ("{radial_velocity=COLUMN}", "--columns radial_velocity=COLUMN", "columns={'radial_velocity': COLUMN}"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_prints_as_it_is_typed() {
        for text in ["uniform", "sobol", "density", "tails", "grid:parallax"] {
            assert_eq!(text.parse::<SamplerName>().map(|name| name.to_string()), Ok(text.into()));
        }
        for text in ["actions", "none", "coasting", "pca:2", "kernel-pca:3", "kernel-pca-poly:1"] {
            assert_eq!(text.parse::<TransformName>().map(|name| name.to_string()), Ok(text.into()));
        }
        for text in ["none", "density", "distance", "density:a,b"] {
            assert_eq!(text.parse::<PenaltyName>().map(|name| name.to_string()), Ok(text.into()));
        }
        for text in ["grid", "grid:", "pca", "pca:0", "density:", "heavy", ""] {
            assert!(text.parse::<SamplerName>().is_err(), "{text}");
            assert!(text.parse::<TransformName>().is_err(), "{text}");
            assert!(text.parse::<PenaltyName>().is_err(), "{text}");
        }
    }
}
