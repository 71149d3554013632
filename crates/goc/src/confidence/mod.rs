//! Confidence: whether a cluster is recovered on resampling, whether it is more than chance, and
//! which objects are in no cluster.
//!
//! It works for every method that returns a partition, because it only calls the method: on the
//! same candidates with another seed, on resampled candidates ([`stability`]), and on a background
//! without groups ([`significance`]). docs/explanation/confidence.md explains the numbers to users.
//!
//! All repeats run in parallel, each with its own numbered random stream, so the result is
//! identical to the byte for any number of threads.

pub mod background;
pub mod cluster_summary;
pub mod discovery;
pub mod evidence;
pub mod noise;
pub mod significance;
pub mod stability;
pub mod tightness;
mod whiten;

pub use background::Background;
pub use significance::{Significance, Verdict};
pub use stability::{Repeats, Stability};
pub use tightness::Tightness;

/// Why confidence cannot be measured. `E` is the method's own error.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfidenceError<E> {
    /// No repeats were requested.
    #[error("no repeats were asked for; ask for at least 1")]
    NoRepeats,
    /// The partition is for a different number of objects than the candidates.
    #[error("the partition has {partition} objects, the candidates have {candidates}")]
    Objects {
        /// Objects of the partition.
        partition: usize,
        /// Objects of the candidates.
        candidates: usize,
    },
    /// A repeat of the method failed.
    #[error("repeat {repeat} ({what}) failed: {error}")]
    Repeat {
        /// Its number, from 1.
        repeat: usize,
        /// What was done to the candidates.
        what: &'static str,
        /// The method's error.
        error: E,
    },
}

/// Checks that the partition has as many objects as the candidates.
fn check_objects<E>(partition: &crate::Partition, objects: usize) -> Result<(), ConfidenceError<E>> {
    if partition.len() == objects {
        return Ok(());
    }
    Err(ConfidenceError::Objects { partition: partition.len(), candidates: objects })
}
