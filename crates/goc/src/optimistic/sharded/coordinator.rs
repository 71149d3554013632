//! The coordinator: the state of the run and the next step; [`super::aggregation`] combines the
//! answers.

use super::messages::{Answer, Command, FinalState, Task};
use super::{Result, ShardedError};
use crate::Points;
use crate::optimistic::termination::{Termination, Watch};
use crate::optimistic::{KRule, Optimistic, Search};
use crate::oracle::Oracle;

/// The parameters of a sharded run in addition to those of GOC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The maximum number of objects passed to an oracle; about this many are drawn if there are
    /// more.
    pub sample: usize,
    /// The maximum number of Lloyd rounds in one iteration: `max_iterations` of
    /// [`KMeans`](crate::oracle::k_means::KMeans).
    pub rounds: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self { sample: 20_000, rounds: 10 }
    }
}

/// What the oracle clustered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// All objects.
    All,
    /// This many of them, drawn at random.
    Sample(usize),
}

/// One iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Clusters that have a member after step (III).
    pub k: usize,
    /// The joint objective, with the centres updated to the means of the new choice.
    pub objective: f64,
    /// Objects that changed their candidate; all of them in the first iteration.
    pub changed: usize,
    /// Lloyd rounds and repairs of empty clusters over all shards before step (III); 0 when the
    /// oracle had all objects.
    pub passes: usize,
}

/// The result of the run; the labels stay with the shards: [`super::Shard::finish`].
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Number of clusters.
    pub k: usize,
    /// The mean of the chosen candidates of each cluster.
    pub centres: Points,
    /// The number of members of each cluster.
    pub sizes: Vec<u64>,
    /// The joint objective.
    pub objective: f64,
    /// Executions of step (III), not counting an extra round through a cycle.
    pub iterations: usize,
    /// Why the run stopped.
    pub termination: Termination,
    /// The objects on which the first clustering was computed.
    pub first_on: Basis,
    /// Every iteration.
    pub history: Vec<Round>,
    /// The final state, to be sent to the shards.
    pub final_state: FinalState,
}

/// What determines a run: equal setups give byte-identical results.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) params: Optimistic,
    pub(super) sizes: Vec<usize>,
    pub(super) features: usize,
    pub(super) seed: u64,
    pub(super) plan: Plan,
}

/// Coordinates a run of GOC over shards.
#[derive(Clone, Debug)]
pub struct Coordinator {
    pub(super) setup: Setup,
    pub(super) n: usize,
    pub(super) step: u64,
    pub(super) stage: Stage,
    /// Centres of the last step (III).
    pub(super) selected: Option<Points>,
    pub(super) first_on: Basis,
    pub(super) passes: usize,
    pub(super) history: Vec<Round>,
    pub(super) watch: Watch,
}

/// The answer that is awaited.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stage {
    /// Points for the oracle; no start in the first iteration.
    Gather { start: Option<Points> },
    /// Are there as many distinct points as centres?
    Distinct { start: Points },
    /// There are not: these are all.
    Match { rows: Points },
    /// A Lloyd round.
    Label { centres: Points, before: Option<Points>, round: usize },
    /// A Lloyd round left a cluster empty.
    Repair { centres: Points, before: Points, round: usize },
    /// Step (III).
    Select { step_two: Points },
    /// The objective of the new choice.
    Value { chosen: Chosen },
    /// Nothing.
    Done { outcome: Box<Outcome> },
}

/// What is known of a choice before its objective is computed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    pub(super) step_two: Points,
    pub(super) counts: Vec<u64>,
    pub(super) centres: Points,
    pub(super) changed: usize,
    pub(super) mark: u128,
    /// A lower bound on the number of distinct representatives.
    pub(super) distinct: usize,
}

impl Chosen {
    /// The label of each centre of step (II), with empty clusters removed.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let mut next = 0;
        let number = |&count: &u64| {
            if count == 0 {
                return u32::MAX;
            }
            next += 1;
            next - 1
        };
        self.counts.iter().map(number).collect()
    }
}

impl Coordinator {
    /// For shards with these numbers of objects, in order; all randomness derives from `seed`.
    pub fn new(params: Optimistic, sizes: &[usize], features: usize, seed: u64, plan: Plan) -> Result<Self> {
        let n = sizes.iter().sum();
        params.check_numbers(n)?;
        let unsupported = [
            (params.starts > 1, "more than one start"),
            (params.swaps > 0, "a swap move"),
            (params.search != Search::Plain, "the thorough search"),
            (params.trims(), "trimming"),
            (params.initial.is_some(), "a table of first labels"),
        ];
        if let Some(&(_, what)) = unsupported.iter().find(|(asked, _)| *asked) {
            return Err(ShardedError::Unsupported { what });
        }
        let least = [
            (plan.sample, "the sample's size"),
            (plan.rounds, "the number of rounds"),
            (features, "the number of features"),
        ];
        if let Some(&(_, what)) = least.iter().find(|(value, _)| *value == 0) {
            return Err(ShardedError::Plan { what });
        }
        if n > plan.sample && plan.sample < params.k {
            return Err(ShardedError::SmallSample { drawn: plan.sample, k: params.k });
        }
        Ok(Self {
            setup: Setup { params, sizes: sizes.to_vec(), features, seed, plan },
            n,
            step: 0,
            stage: Stage::Gather { start: None },
            selected: None,
            first_on: Basis::All,
            passes: 0,
            history: Vec::new(),
            watch: Watch::default(),
        })
    }

    /// The command for every shard; `None` if the run is over.
    pub fn command(&self) -> Option<Command> {
        let task = match &self.stage {
            Stage::Gather { .. } => Task::Sample { seed: self.setup.seed, threshold: self.threshold() },
            Stage::Distinct { start } => Task::Distinct { limit: start.len() },
            Stage::Match { rows } => Task::Match { rows: rows.clone() },
            Stage::Label { centres, before, .. } => {
                Task::Label { centres: centres.clone(), before: before.clone() }
            }
            Stage::Repair { centres, .. } => Task::Repair { centres: centres.clone() },
            Stage::Select { step_two } => {
                Task::Select { centres: step_two.clone(), limit: self.setup.params.k }
            }
            Stage::Value { chosen } => Task::Value {
                centres: chosen.centres.clone(),
                numbers: chosen.numbers(),
                far: self.missing(&chosen.step_two),
            },
            Stage::Done { .. } => return None,
        };
        Some(Command { step: self.step, selected: self.selected.clone(), task })
    }

    /// Takes the answers of all shards, in the order of the shards.
    ///
    /// On an error the coordinator is unchanged, so the command can be issued again.
    pub fn take(&mut self, answers: &[Answer], oracle: &dyn Oracle) -> Result<()> {
        self.check(answers)?;
        let next = match &self.stage {
            Stage::Gather { start } => self.gathered(answers, start.as_ref(), oracle)?,
            Stage::Distinct { start } => self.distinguished(answers, start)?,
            Stage::Match { rows } => {
                let (sums, _) = self.sums(answers, rows.len())?;
                Next::to(Stage::Select { step_two: sums.means_of_occupied(self.setup.features) })
            }
            Stage::Label { centres, round, .. } => self.labelled(answers, centres, *round)?,
            Stage::Repair { centres, before, round } => self.repaired(answers, centres, before, *round)?,
            Stage::Select { step_two } => Next {
                selected: Some(step_two.clone()),
                ..Next::to(Stage::Value { chosen: self.chosen(answers, step_two)? })
            },
            Stage::Value { chosen } => return self.valued(answers, chosen.clone()),
            Stage::Done { .. } => return Err(ShardedError::Over),
        };
        self.go(next);
        Ok(())
    }

    /// Runs to the end over local shards.
    pub fn run(&mut self, shards: &mut [super::Shard], oracle: &dyn Oracle) -> Result<&Outcome> {
        while let Some(command) = self.command() {
            let answers: Vec<Answer> =
                shards.iter_mut().map(|shard| shard.perform(&command)).collect::<Result<_, _>>()?;
            self.take(&answers, oracle)?;
        }
        self.outcome().ok_or(ShardedError::Over)
    }

    /// The result of the run, once it is over.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.stage {
            Stage::Done { outcome } => Some(outcome),
            _ => None,
        }
    }

    /// The number of iterations completed.
    pub fn iterations(&self) -> usize {
        self.history.len()
    }

    /// The number of rounds of answers taken.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// All iterations so far.
    pub fn history(&self) -> &[Round] {
        &self.history
    }

    pub(super) fn go(&mut self, next: Next) {
        self.step += 1;
        self.passes += next.passes;
        if let Some(basis) = next.first_on {
            self.first_on = basis;
        }
        if next.selected.is_some() {
            self.selected = next.selected;
        }
        self.stage = next.stage;
    }

    /// Checks that the answers are those of the shards, in order, to the current command.
    fn check(&self, answers: &[Answer]) -> Result<()> {
        let wrong = |reason| Err(ShardedError::Answers { reason });
        if answers.len() != self.setup.sizes.len() {
            return wrong(format!("{} answers for {} parts", answers.len(), self.setup.sizes.len()));
        }
        let mut first = 0;
        for (p, (answer, &size)) in answers.iter().zip(&self.setup.sizes).enumerate() {
            if answer.step != self.step {
                return wrong(format!("part {p} answers step {}, not {}", answer.step, self.step));
            }
            if answer.objects != size || (size > 0 && answer.first != first) {
                return wrong(format!(
                    "part {p} has {} objects from {} on, not {size} from {first} on",
                    answer.objects, answer.first
                ));
            }
            first += size;
        }
        Ok(())
    }

    /// Objects with draws up to this number are in the sample.
    fn threshold(&self) -> u64 {
        let sample = self.setup.plan.sample;
        if self.n <= sample {
            return u64::MAX;
        }
        ((u128::from(u64::MAX) * sample as u128) / self.n as u128) as u64
    }

    /// The number of clusters missing from a constant K.
    pub(super) fn missing(&self, step_two: &Points) -> usize {
        match self.setup.params.k_rule {
            KRule::Constant => self.setup.params.k.saturating_sub(step_two.len()),
            KRule::Occupied | KRule::Plural => 0,
        }
    }
}

/// The state after taking answers.
pub(super) struct Next {
    pub(super) stage: Stage,
    pub(super) selected: Option<Points>,
    pub(super) first_on: Option<Basis>,
    pub(super) passes: usize,
}

impl Next {
    pub(super) fn to(stage: Stage) -> Self {
        Self { stage, selected: None, first_on: None, passes: 0 }
    }
}
