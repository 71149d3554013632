//! Greedy optimistic clustering, GOC (paper, section 3.2).
//!
//! Objects are sets of candidates, and the clustering may choose for each object the candidate that
//! makes the clusters tight. Starting from a first representative of each object, repeat:
//!
//! 1. **(I)** set the number of clusters `K(t)`: [`KRule`];
//! 2. **(II)** cluster the representatives with an oracle, and take the means as centres (eq. 9);
//! 3. **(III)** assign every object the candidate and the centre with the lowest
//!    `distance + lambda * penalty` (eq. 8): [`select`].
//!
//! Stop when no object changes its candidate. With k-means, the squared distance and constant `K`,
//! every step lowers
//!
//! ```text
//! J = sum_i |chi_i - mu_{c_i}|^2 + lambda * Pen_i(chi_i)          (section 3.3, "Optimistic")
//! ```
//!
//! so the run terminates. With another oracle in every iteration it may not: runs then often return
//! to an earlier state. This is detected and reported ([`Termination::Cycle`]), and the best state
//! of the cycle is returned.
//!
//! The authors' code differs from the paper in several points; [`Preset`] offers both by name.
//!
//! ```
//! use goc::candidates::CandidatesBuilder;
//! use goc::optimistic::{KRule, Optimistic, Preset};
//! use goc::oracle::k_means::KMeans;
//!
//! let mut builder = CandidatesBuilder::new(1);
//! builder.push(&[0.0, 1.0, 2.0], &[])?; // uncertain: anywhere between 0 and 2
//! builder.push(&[2.1], &[])?;
//! builder.push(&[9.0], &[])?;
//! let candidates = builder.build()?;
//! let goc = Optimistic::preset(Preset::Paper, 2).k_rule(KRule::Constant).check(&candidates)?;
//! let result = goc.run(&KMeans::default(), 1)?;
//! assert_eq!(result.partition.canonical().labels(), [0, 0, 1]);
//! assert_eq!(result.chosen[0], 2); // the candidate next to the second object
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assignment;
mod boxes;
pub mod continuous;
mod distance;
mod exhaustive;
#[cfg(test)]
mod fixtures;
mod guided_swaps;
pub mod hierarchy;
mod params;
mod run;
pub mod select;
pub mod sharded;
mod swap_search;
mod termination;
mod trim_share;
mod trimmed;
pub mod weighted;

pub use distance::Distance;
pub use params::{
    Beginning, Detail, KRule, Optimistic, OptimisticError, OracleEvery, Preset, Search, ValidOptimistic,
};
pub use run::{Clustering, Iteration};
pub use termination::Termination;
pub use trimmed::Trim;

#[cfg(test)]
mod tests;
