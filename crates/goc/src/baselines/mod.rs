//! Baselines: the methods that GOC is compared with, one file per method.
//!
//! Each baseline is a struct with its parameters that implements the trait [`Method`], so all of
//! them run on the same candidates and can be compared in one table.

mod alternating_minimisation;
mod bounding;
pub mod boxes;
pub mod clusterer;
pub mod consistent_worlds;
pub mod ensemble;
mod expected;
pub mod expected_k_means;
pub mod extreme_deconvolution;
pub mod fdbscan;
pub mod foptics;
pub mod hdbscan_draws;
pub mod kl;
pub mod possible_worlds;
pub mod representative_worlds;
pub mod robust_boxes;
pub mod set_distances;
pub mod significant_linkage;
#[cfg(test)]
pub(crate) mod testing;
pub mod uk_means;
pub mod uk_medians;

pub use alternating_minimisation::DistanceCount;

pub use crate::method::{Grouped, Method, MethodError, check_k};
use crate::method::{Result, Tick};
