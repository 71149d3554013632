//! GOC on several machines: objects in shards, one coordinator, byte-identical results.
//!
//! A [`Shard`] holds a range of the objects; a [`Coordinator`] holds none, only the parameters, the
//! centres and the history. It tells every shard what to do next ([`Coordinator::command`]), takes
//! the answers in the order of the shards ([`Coordinator::take`]), and so on until the run is over.
//! Commands and answers are small and can be serialised to bytes; their transport (threads,
//! processes, a cluster) is outside the scope of this module.
//!
//! # Guarantees
//! *The result is byte-identical to that of one machine, for any division into shards.* The run is
//! that of [`super::Optimistic`] with Lloyd's k-means in every iteration
//! ([`Algorithm::Lloyd`](crate::oracle::k_means::Algorithm::Lloyd)), candidate by candidate and bit
//! by bit. Floating-point sums depend on their order, so the order is that of one machine: chunks
//! of 4096 objects, numbered globally. A shard sends the sums of the chunks it holds completely and
//! the points of those that it shares with its neighbours; the coordinator combines them.
//!
//! *A shard may be lost at any time.* The candidates that its objects have chosen follow from the
//! centres of the last step (III), and every command includes them: a newly created shard gives the
//! same answers as the lost one, only more slowly. For the same reason the coordinator alone is a
//! checkpoint ([`Coordinator::to_bytes`]).
//!
//! # What is not exact
//! An oracle needs all points at once. Up to [`Plan::sample`] objects it receives all of them, and
//! nothing differs from one machine. Beyond that, it receives a sample, drawn by each object's own
//! random stream and therefore independent of the division; its centres are then the start of Lloyd
//! rounds over all objects. [`Outcome::first_on`] reports which case applied.
//! [`OracleEvery::Always`](super::OracleEvery) does so in every iteration; with
//! [`OracleEvery::First`](super::OracleEvery) later clusterings are Lloyd's, where one machine
//! would use Hartigan and Wong's single transfers, which cannot be distributed. Several starts,
//! swaps and the thorough search are rejected.
//!
//! # Cost
//! An iteration takes one command for step (III), one for the objective and one for each of at most
//! [`Plan::rounds`] Lloyd rounds; a round in which a cluster lost its last object takes one more
//! for each such cluster. An answer has `K (q + 1)` numbers for each chunk of 4096 objects and at
//! most `8191 (q + 1)` for the two ends.
//!
//! ```
//! use goc::candidates::CandidatesBuilder;
//! use goc::optimistic::sharded::{Coordinator, Plan, Shard};
//! use goc::optimistic::{KRule, Optimistic, OracleEvery};
//! use goc::oracle::k_means::KMeans;
//!
//! let goc = Optimistic::new(2).k_rule(KRule::Constant).oracle_every(OracleEvery::First);
//! let (mut left, mut right) = (CandidatesBuilder::new(1), CandidatesBuilder::new(1));
//! left.push(&[0.0, 1.0, 2.0], &[])?;
//! right.push(&[2.1], &[])?.push(&[9.0], &[])?;
//! let mut shards =
//!     [Shard::new(Some(left.build()?), 0, &goc), Shard::new(Some(right.build()?), 1, &goc)];
//!
//! let mut coordinator = Coordinator::new(goc, &[1, 2], 1, 1, Plan::default())?;
//! while let Some(command) = coordinator.command() {
//!     let answers: Vec<_> = shards.iter_mut().map(|shard| shard.perform(&command)).collect::<Result<_, _>>()?;
//!     coordinator.take(&answers, &KMeans::default())?;
//! }
//! let outcome = coordinator.outcome().expect("no command is left");
//! assert_eq!(outcome.k, 2);
//! assert_eq!(shards[0].finish(&outcome.final_state)?.chosen, [2]); // the candidate next to the second object
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aggregation;
mod checkpoint;
mod coordinator;
mod encoding;
mod messages;
mod shard;

pub use coordinator::{Basis, Coordinator, Outcome, Plan, Round};
pub use encoding::DecodeError;
pub use messages::{Answer, Command, FinalState};
pub use shard::{Shard, ShardResult};

use super::OptimisticError;
use crate::oracle::OracleError;

/// The result of a step of a sharded run.
pub type Result<T, E = ShardedError> = std::result::Result<T, E>;

/// Why a sharded run cannot continue.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardedError {
    /// Parameters that are invalid on one machine too.
    #[error(transparent)]
    Params(#[from] OptimisticError),
    /// A parameter that needs all objects in one place.
    #[error("{what} needs all objects on one machine; leave it out, or cluster there")]
    Unsupported {
        /// The parameter.
        what: &'static str,
    },
    /// No Lloyd round allowed, or no object sampled.
    #[error("{what} must be at least 1")]
    Plan {
        /// The field of [`Plan`].
        what: &'static str,
    },
    /// Too few objects for the oracle.
    #[error("the sample has {drawn} objects, but {k} clusters are asked for; raise the sample's size")]
    SmallSample {
        /// Objects drawn.
        drawn: usize,
        /// Clusters requested.
        k: usize,
    },
    /// The shards' answers do not match the command, or these shards.
    #[error("{reason}")]
    Answers {
        /// What does not match.
        reason: String,
    },
    /// A command that does not fit the shard.
    #[error("the command has centres of {command} features, part at object {first} has {shard}")]
    Features {
        /// Features in the command.
        command: usize,
        /// First object of the shard.
        first: usize,
        /// Features of the shard.
        shard: usize,
    },
    /// The run is over.
    #[error("the run has ended; no answer is expected")]
    Over,
    /// A checkpoint of a different run.
    #[error(
        "the checkpoint belongs to another run: {what} differs; start again, or use that run's parameters"
    )]
    OtherRun {
        /// What differs.
        what: &'static str,
    },
    /// The oracle failed.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// Bytes that are not a message.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

#[cfg(test)]
mod tests;
