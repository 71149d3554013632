//! What `--sampler`, `--transform` and `--penalty` take: a word, some with a column or a number behind it.
//!
//! Each prints as it is typed: so it stands in the metadata of the candidates.

use std::fmt;
use std::str::FromStr;

/// `--sampler`, with the column by its name.
#[derive(Clone, Debug)]
pub enum SamplerName {
    Uniform,
    Sobol,
    Density,
    Grid(String),
}

impl FromStr for SamplerName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "uniform" => Ok(Self::Uniform),
            None if text == "sobol" => Ok(Self::Sobol),
            None if text == "density" => Ok(Self::Density),
            Some(("grid", column)) if !column.is_empty() => Ok(Self::Grid(column.to_string())),
            _ => Err("give uniform, sobol, density or grid:COLUMN".into()),
        }
    }
}

impl fmt::Display for SamplerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Sobol => f.write_str("sobol"),
            Self::Density => f.write_str("density"),
            Self::Grid(column) => write!(f, "grid:{column}"),
        }
    }
}

/// `--transform`.
#[derive(Clone, Copy, Debug)]
pub enum TransformName {
    Actions,
    None,
    Pca(usize),
    KernelPca(usize),
    KernelPcaPoly(usize),
    Coasting,
}

impl FromStr for TransformName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = "give actions, none, pca:Q, kernel-pca:Q, kernel-pca-poly:Q or coasting, with Q the number of features";
        let Some((name, q)) = text.split_once(':') else {
            return match text {
                "actions" => Ok(Self::Actions),
                "none" => Ok(Self::None),
                "coasting" => Ok(Self::Coasting),
                _ => Err(known.into()),
            };
        };
        let q = q.parse().ok().filter(|&q| q > 0).ok_or("Q must be a whole number from 1")?;
        match name {
            "pca" => Ok(Self::Pca(q)),
            "kernel-pca" => Ok(Self::KernelPca(q)),
            "kernel-pca-poly" => Ok(Self::KernelPcaPoly(q)),
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

/// `--penalty`, with the columns by their names.
#[derive(Clone, Debug)]
pub enum PenaltyName {
    None,
    Density,
    DensityOf(Vec<String>),
    Distance,
}

impl FromStr for PenaltyName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            None if text == "density" => Ok(Self::Density),
            None if text == "distance" => Ok(Self::Distance),
            Some(("density", columns)) if !columns.is_empty() => {
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
