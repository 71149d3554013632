//! How sure are we: does a cluster come back, is it more than chance, which objects are in none.
//!
//! Every method that answers with a partition can be asked, since it is only ever called: on the same candidates with
//! another seed, on resampled ones ([`stability`]), and on a background that has no groups ([`significance`]). The numbers are
//! explained for users in docs/confidence.md.
//!
//! All repeats run side by side, each from a random stream of its own number, so the result has the same bytes at any
//! number of threads.

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

/// Why there is no measure of confidence. `E` is the method's own error.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfidenceError<E> {
    /// No repeats were asked for.
    #[error("no repeats were asked for; ask for at least 1")]
    NoRepeats,
    /// The partition is not one of the candidates' objects.
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
        /// What the method said.
        error: E,
    },
}

/// That the partition is one of these objects.
fn check_objects<E>(partition: &crate::Partition, objects: usize) -> Result<(), ConfidenceError<E>> {
    if partition.len() == objects {
        return Ok(());
    }
    Err(ConfidenceError::Objects { partition: partition.len(), candidates: objects })
}
