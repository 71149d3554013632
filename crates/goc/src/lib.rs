//! Clustering of objects whose measurements have error bars.
//!
//! The method is greedy optimistic clustering (Okuno & Hattori 2022). Every object is represented
//! by a small set of *candidates*, the values its true features may have, and the clustering may
//! choose for each object the candidate that makes the clusters tightest.
//!
//! Data flow through the modules in one direction:
//!
//! 1. [`uncertainty`]: a measured value and its error become a set, which is sampled and mapped by
//!    a function `f` (paper, sections 2 and 3.1);
//! 2. [`candidates`]: the sampled sets of all objects, validated once;
//! 3. [`scale`]: scaling that makes features comparable;
//! 4. [`optimistic`] (GOC), [`pessimistic`] (GPC), [`baselines`] and [`marginal`] cluster them,
//!    most of them through any [`oracle`] for plain points, some through a [`set_distance`];
//! 5. [`metrics`] scores the result against a known truth; [`confidence`] says how reliable it is
//!    where the truth is unknown.
//!
//! [`synthetic`] generates a catalogue with known truth to try all of this on.
//!
//! This crate works on numbers only: it knows nothing of files, terminals or stars.

#[macro_use]
mod setters;

pub mod baselines;
pub mod candidates;
pub mod choice;
pub mod choose_k;
pub mod confidence;
#[cfg(test)]
mod congruential;
pub mod eigen;
pub mod elementary;
mod kernel;
pub mod marginal;
mod matrix;
pub mod method;
pub mod metrics;
pub mod objects;
pub mod optimistic;
pub mod oracle;
pub mod partition;
pub mod pessimistic;
pub mod points;
pub mod random;
mod resample;
pub mod scale;
pub mod set_distance;
pub mod synthetic;
pub mod uncertainty;

pub use candidates::{Candidates, Ids};
pub use partition::Partition;
pub use points::Points;
pub use random::Stream;

/// The number of objects in words, for messages about too few of them.
fn only_objects(n: usize) -> String {
    if n == 1 { "there is only 1 object".into() } else { format!("there are only {n} objects") }
}
