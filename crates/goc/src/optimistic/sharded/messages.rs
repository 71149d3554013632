//! The messages between the coordinator and the shards.
//!
//! A command is self-contained: it includes the centres from which the objects made their current
//! choice, so a shard that has just been created, or has already executed the command, gives the
//! same answer.

use super::Result;
use super::encoding::{codec_enum, codec_struct, pack, unpack};
use crate::Points;
use crate::oracle::k_means::sums::Sums;

const COMMAND: &[u8; 8] = b"gocpcmd1";
const ANSWER: &[u8; 8] = b"gocpans1";
const LAST: &[u8; 8] = b"gocplst1";

/// The next task of every shard.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    pub(super) step: u64,
    /// Centres of the last step (III); `None` while the objects are at their first representatives.
    pub(super) selected: Option<Points>,
    pub(super) task: Task,
}
codec_struct!(Command { step, selected, task });

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Task {
    /// The representatives of the objects whose draw is at most `threshold`.
    Sample { seed: u64, threshold: u64 },
    /// The first `limit` distinct representatives.
    Distinct { limit: usize },
    /// Sums over the objects whose representative is each of `rows`.
    Match { rows: Points },
    /// One Lloyd round; `before` holds the centres of the previous round.
    Label { centres: Points, before: Option<Points> },
    /// The number of objects of each centre, and the one farthest from it.
    Repair { centres: Points },
    /// Step (III). Then, whether there are `limit` distinct representatives.
    Select { centres: Points, limit: usize },
    /// The objective: `numbers` holds the new index of each centre of step (III). Also the `far`
    /// farthest objects.
    Value { centres: Points, numbers: Vec<u32>, far: usize },
}
codec_enum!(Task: "a task" {
    0 => Sample { seed, threshold },
    1 => Distinct { limit },
    2 => Match { rows },
    3 => Label { centres, before },
    4 => Repair { centres },
    5 => Select { centres, limit },
    6 => Value { centres, numbers, far },
});

impl Task {
    /// The points in the command, which must have the shards' features.
    pub(super) fn points(&self) -> Option<&Points> {
        match self {
            Task::Sample { .. } | Task::Distinct { .. } => None,
            Task::Match { rows } => Some(rows),
            Task::Label { centres, .. }
            | Task::Repair { centres }
            | Task::Select { centres, .. }
            | Task::Value { centres, .. } => Some(centres),
        }
    }
}

/// The answer of one shard.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub(super) step: u64,
    /// The first object of the shard and its number of objects.
    pub(super) first: usize,
    pub(super) objects: usize,
    pub(super) found: Found,
}
codec_struct!(Answer { step, first, objects, found });

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Found {
    Rows { rows: Vec<f64> },
    Sums { sums: Vec<Stretch>, changed: usize },
    Farthest { counts: Vec<u64>, farthest: Vec<Option<FarPoint>> },
    Selected { sums: Vec<Stretch>, changed: usize, marks: Vec<u128>, distinct: usize },
    Values { values: Vec<ValueStretch>, far: Vec<FarPoint> },
}
codec_enum!(Found: "an answer" {
    0 => Rows { rows },
    1 => Sums { sums, changed },
    2 => Farthest { counts, farthest },
    3 => Selected { sums, changed, marks, distinct },
    4 => Values { values, far },
});

/// A range of consecutive objects within one chunk.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stretch {
    /// All of it.
    Chunk { sums: Sums },
    /// Some of it: the objects themselves.
    Piece { labels: Vec<u32>, rows: Vec<f64> },
}
codec_enum!(Stretch: "sums" { 0 => Chunk { sums }, 1 => Piece { labels, rows } });

/// The same for one number per object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ValueStretch {
    Chunk { sum: f64 },
    Piece { values: Vec<f64> },
}
codec_enum!(ValueStretch: "values" { 0 => Chunk { sum }, 1 => Piece { values } });

/// An object that lies far from its centre.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FarPoint {
    pub(super) squared: f64,
    /// Its global index.
    pub(super) object: usize,
    pub(super) row: Vec<f64>,
}
codec_struct!(FarPoint { squared, object, row });

impl FarPoint {
    /// Farthest first, then by index.
    pub(super) fn order(&self, other: &Self) -> std::cmp::Ordering {
        other.squared.total_cmp(&self.squared).then(self.object.cmp(&other.object))
    }
}

/// What the shards need to report the final state of their objects: [`super::Shard::finish`].
#[derive(Clone, Debug, PartialEq)]
pub struct FinalState {
    /// Centres of the last step (III).
    pub(super) selected: Points,
    /// The label of each of them; `u32::MAX` for one without objects.
    pub(super) numbers: Vec<u32>,
    /// Means of the final clusters.
    pub(super) centres: Points,
}
codec_struct!(FinalState { selected, numbers, centres });

macro_rules! bytes {
    ($type:ident, $kind:ident, $what:literal) => {
        impl $type {
            /// Serialises the message.
            pub fn to_bytes(&self) -> Vec<u8> {
                pack($kind, self)
            }

            /// Parses the result of [`Self::to_bytes`].
            pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
                Ok(unpack($kind, $what, bytes)?)
            }
        }
    };
}
bytes!(Command, COMMAND, "a command");
bytes!(Answer, ANSWER, "an answer");
bytes!(FinalState, LAST, "a last word");
