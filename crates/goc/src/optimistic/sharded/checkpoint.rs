//! Checkpoints: the coordinator as bytes.
//!
//! They contain its complete state and nothing of the objects, because the objects' choices follow
//! from the centres. The setup comes first, so that a checkpoint of another run is rejected, naming
//! the difference, before anything else is read.

use super::coordinator::{Basis, Chosen, Coordinator, Outcome, Plan, Round, Setup, Stage};
use super::encoding::{Codec, DecodeError, Reader, codec_enum, codec_struct, pack, unpack};
use super::{Result, ShardedError};
use crate::optimistic::termination::{DetectedCycle, Termination, Watch};
use crate::optimistic::{Beginning, Distance, KRule, Optimistic, OracleEvery};

const CHECKPOINT: &[u8; 8] = b"gocpchk1";

/// Names whose meaning cannot change from version to version.
macro_rules! codec_names {
    ($type:ident: $what:literal { $($tag:literal => $variant:ident),* }) => {
        codec_enum!($type: $what { $($tag => $variant {}),* });
    };
}
codec_names!(Distance: "a distance" { 0 => Squared, 1 => Euclidean, 2 => EuclideanSingle });
codec_names!(KRule: "a rule for K" { 0 => Constant, 1 => Occupied, 2 => Plural });
codec_names!(OracleEvery: "when the oracle is used" { 0 => First, 1 => Always });
codec_names!(Beginning: "a beginning" { 0 => Mean, 1 => NearestToMean });
codec_enum!(Termination: "an ending" {
    0 => Converged {},
    1 => Tolerance {},
    2 => Cycle { period },
    3 => Iterations {},
});

impl Codec for Basis {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Basis::All => None,
            Basis::Sample(objects) => Some(*objects),
        }
        .write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Option::read(from)?.map_or(Basis::All, Basis::Sample))
    }
}

codec_struct!(Plan { sample, rounds });
codec_struct!(Round { k, objective, changed, passes });
codec_struct!(DetectedCycle { detected, period, target });
codec_struct!(Chosen { step_two, counts, centres, changed, mark, distinct });
codec_enum!(Stage: "a stage" {
    0 => Gather { start },
    1 => Distinct { start },
    2 => Match { rows },
    3 => Label { centres, before, round },
    4 => Repair { centres, before, round },
    5 => Select { step_two },
    6 => Value { chosen },
    7 => Done { outcome },
});
codec_struct!(Outcome {
    k,
    centres,
    sizes,
    objective,
    iterations,
    termination,
    first_on,
    history,
    final_state
});

impl Codec for Box<Outcome> {
    fn write(&self, out: &mut Vec<u8>) {
        self.as_ref().write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Outcome::read(from).map(Box::new)
    }
}

impl Codec for Watch {
    fn write(&self, out: &mut Vec<u8>) {
        self.t.write(out);
        self.seen.iter().map(|(&mark, &t)| (mark, t)).collect::<Vec<_>>().write(out);
        self.cycle.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let t = usize::read(from)?;
        let seen: Vec<(u128, usize)> = Vec::read(from)?;
        Ok(Self { t, seen: seen.into_iter().collect(), cycle: Option::read(from)? })
    }
}

/// The parameters that a sharded run may set; [`Coordinator::new`] rejects the others.
impl Codec for Optimistic {
    fn write(&self, out: &mut Vec<u8>) {
        self.k.write(out);
        self.lambda.write(out);
        self.distance.write(out);
        self.k_rule.write(out);
        self.oracle_every.write(out);
        self.beginning.write(out);
        self.tolerance.write(out);
        self.max_iterations.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Optimistic::new(usize::read(from)?)
            .lambda(f64::read(from)?)
            .distance(Distance::read(from)?)
            .k_rule(KRule::read(from)?)
            .oracle_every(OracleEvery::read(from)?)
            .beginning(Beginning::read(from)?)
            .tolerance(f64::read(from)?)
            .max_iterations(usize::read(from)?))
    }
}

codec_struct!(Setup { params, sizes, features, seed, plan });

/// The state of a coordinator except its setup.
struct Progress {
    step: u64,
    stage: Stage,
    selected: Option<crate::Points>,
    first_on: Basis,
    passes: usize,
    history: Vec<Round>,
    watch: Watch,
}
codec_struct!(Progress { step, stage, selected, first_on, passes, history, watch });

impl Coordinator {
    /// The complete state, from which [`Self::resume`] continues.
    pub fn to_bytes(&self) -> Vec<u8> {
        let progress = Progress {
            step: self.step,
            stage: self.stage.clone(),
            selected: self.selected.clone(),
            first_on: self.first_on,
            passes: self.passes,
            history: self.history.clone(),
            watch: self.watch.clone(),
        };
        pack(CHECKPOINT, &(self.setup.clone(), progress))
    }

    /// Restores this run from the result of [`Self::to_bytes`]; rejects the bytes of a different
    /// run.
    pub fn resume(&self, bytes: &[u8]) -> Result<Self> {
        let (setup, progress): (Setup, Progress) = unpack(CHECKPOINT, "a checkpoint", bytes)?;
        if let Some(what) = self.setup.difference(&setup) {
            return Err(ShardedError::OtherRun { what });
        }
        let Progress { step, stage, selected, first_on, passes, history, watch } = progress;
        if watch.seen.values().any(|&t| t == 0 || t > history.len()) {
            return Err(DecodeError::Kind { what: "a checkpoint" }.into());
        }
        let (setup, n) = (self.setup.clone(), self.n);
        Ok(Self { setup, n, step, stage, selected, first_on, passes, history, watch })
    }
}

impl Setup {
    /// The first difference between two setups.
    fn difference(&self, other: &Self) -> Option<&'static str> {
        let (a, b) = (&self.params, &other.params);
        let same = [
            (a.k == b.k, "the number of clusters"),
            (a.lambda.to_bits() == b.lambda.to_bits(), "lambda"),
            (a.distance == b.distance, "the distance"),
            (a.k_rule == b.k_rule, "the rule for K"),
            (a.oracle_every == b.oracle_every, "when the oracle is used"),
            (a.beginning == b.beginning, "the first representative"),
            (a.tolerance.to_bits() == b.tolerance.to_bits(), "the tolerance"),
            (a.max_iterations == b.max_iterations, "the limit on iterations"),
            (self.sizes == other.sizes, "the cut of the objects into parts"),
            (self.features == other.features, "the number of features"),
            (self.seed == other.seed, "the seed"),
            (self.plan == other.plan, "the sample's size or the number of rounds"),
        ];
        same.iter().find(|(same, _)| !same).map(|&(_, what)| what)
    }
}
