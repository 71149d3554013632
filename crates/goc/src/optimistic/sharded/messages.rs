//! What the coordinator and the shards say to each other.
//!
//! A command is complete in itself: it names the centres from which the objects made their present choice, so that a shard which has
//! just been made, or which has done the command before, gives the same answer.

use super::Result;
use super::encoding::{codec_enum, codec_struct, pack, unpack};
use crate::Points;
use crate::oracle::k_means::sums::Sums;

const COMMAND: &[u8; 8] = b"gocpcmd1";
const ANSWER: &[u8; 8] = b"gocpans1";
const LAST: &[u8; 8] = b"gocplst1";

/// What every shard has to do next.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    pub(super) step: u64,
    /// Centres of the last step (III); none while the objects are at their first representatives.
    pub(super) selected: Option<Points>,
    pub(super) task: Task,
}
codec_struct!(Command { step, selected, task });

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Task {
    /// The representatives of the objects whose draw is not above `threshold`.
    Sample { seed: u64, threshold: u64 },
    /// The first `limit` different representatives.
    Distinct { limit: usize },
    /// Sums over the objects whose representative is each of `rows`.
    Match { rows: Points },
    /// One of Lloyd's rounds; `before` has the centres of the round before.
    Label { centres: Points, before: Option<Points> },
    /// How many objects each centre has, and which of them is farthest from it.
    Repair { centres: Points },
    /// Step (III). Then, whether there are `limit` different representatives.
    Select { centres: Points, limit: usize },
    /// The objective: `numbers` has the new number of each centre of step (III). And the `far` farthest objects.
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
    /// Centres in it, all of the same features as the shards.
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

/// What one shard found.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub(super) step: u64,
    /// Where the shard begins and how many objects it has.
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

/// A stretch of consecutive objects within one chunk.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stretch {
    /// All of it.
    Chunk { sums: Sums },
    /// Some of it: the objects themselves.
    Piece { labels: Vec<u32>, rows: Vec<f64> },
}
codec_enum!(Stretch: "sums" { 0 => Chunk { sums }, 1 => Piece { labels, rows } });

/// The same for one number an object.
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
    /// Its number in the whole.
    pub(super) object: usize,
    pub(super) row: Vec<f64>,
}
codec_struct!(FarPoint { squared, object, row });

impl FarPoint {
    /// Farthest first, then by number.
    pub(super) fn order(&self, other: &Self) -> std::cmp::Ordering {
        other.squared.total_cmp(&self.squared).then(self.object.cmp(&other.object))
    }
}

/// What the shards need to say how their objects ended: [`super::Shard::finish`].
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
            /// As bytes, to be sent.
            pub fn to_bytes(&self) -> Vec<u8> {
                pack($kind, self)
            }

            /// From the bytes of [`Self::to_bytes`].
            pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
                Ok(unpack($kind, $what, bytes)?)
            }
        }
    };
}
bytes!(Command, COMMAND, "a command");
bytes!(Answer, ANSWER, "an answer");
bytes!(FinalState, LAST, "a last word");
