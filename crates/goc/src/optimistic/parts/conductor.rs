//! The conductor: where the run stands, what comes next, and how answers are put together.

use std::collections::HashSet;

use super::PartsError;
use super::message::{Answer, Command, Far, Found, Last, Stretch, Task, ValueStretch};
use crate::optimistic::ending::{Ending, Watch, together};
use crate::optimistic::{KRule, Optimistic, OracleEvery, Search};
use crate::oracle::k_means::means;
use crate::oracle::k_means::seeding::bits;
use crate::oracle::k_means::sums::{ChunkedSum, ChunkedSums, Sums};
use crate::oracle::{Oracle, Start};
use crate::{Points, random};

/// What a run over parts has beside the parameters of GOC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Objects that an oracle gets at most; about so many are drawn when there are more.
    pub sample: usize,
    /// Lloyd rounds in one iteration at most: `max_iterations` of [`KMeans`](crate::oracle::k_means::KMeans).
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
    /// So many of them, drawn at random.
    Sample(usize),
}

/// One iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Clusters that have a member after step (III).
    pub k: usize,
    /// The joint objective, with the centres made means of the new choice.
    pub objective: f64,
    /// Objects that chose another candidate than before; all of them in the first iteration.
    pub changed: usize,
    /// Lloyd rounds and repairs of empty clusters over all parts before step (III); 0 when the oracle had all objects.
    pub passes: usize,
}

/// What the run found; the labels are with the parts: [`super::Part::finish`].
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Number of clusters.
    pub k: usize,
    /// The mean of the chosen candidates of each cluster.
    pub centres: Points,
    /// Members of each cluster.
    pub sizes: Vec<u64>,
    /// The joint objective.
    pub objective: f64,
    /// Executions of step (III), those of going around a cycle again not counted.
    pub iterations: usize,
    /// Why it stopped.
    pub ending: Ending,
    /// What the first clustering was made on.
    pub first_on: Basis,
    /// Every iteration.
    pub history: Vec<Round>,
    /// For the parts.
    pub last: Last,
}

/// What makes a run: two of the same setup give the same bytes.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) params: Optimistic,
    pub(super) sizes: Vec<usize>,
    pub(super) features: usize,
    pub(super) seed: u64,
    pub(super) plan: Plan,
}

/// Leads a run of GOC over parts.
#[derive(Clone, Debug)]
pub struct Conductor {
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

/// What is awaited.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stage {
    /// Points for the oracle; no start in the first iteration.
    Gather { start: Option<Points> },
    /// Are there as many different points as centres?
    Distinct { start: Points },
    /// There are not: these are all.
    Match { rows: Points },
    /// A Lloyd round.
    Label { centres: Points, before: Option<Points>, round: usize },
    /// A Lloyd round left a cluster empty.
    Seat { centres: Points, before: Points, round: usize },
    /// Step (III).
    Select { step_two: Points },
    /// The objective of the new choice.
    Value { chosen: Chosen },
    /// Nothing.
    Done { outcome: Box<Outcome> },
}

/// What is known of a choice before its objective is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    pub(super) step_two: Points,
    pub(super) counts: Vec<u64>,
    pub(super) centres: Points,
    pub(super) changed: usize,
    pub(super) mark: u128,
    /// At least so many different representatives.
    pub(super) distinct: usize,
}

impl Chosen {
    /// The label of each centre of step (II): gaps closed.
    fn numbers(&self) -> Vec<u32> {
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

impl Conductor {
    /// For parts of so many objects each, in order; everything random follows from `seed`.
    pub fn new(
        params: Optimistic,
        sizes: &[usize],
        features: usize,
        seed: u64,
        plan: Plan,
    ) -> Result<Self, PartsError> {
        let n = sizes.iter().sum();
        params.check_numbers(n)?;
        let unsupported = [
            (params.starts > 1, "more than one start"),
            (params.swaps > 0, "a swap move"),
            (params.search != Search::Plain, "the thorough search"),
            (params.initial.is_some(), "a table of first labels"),
        ];
        if let Some(&(_, what)) = unsupported.iter().find(|(asked, _)| *asked) {
            return Err(PartsError::Unsupported { what });
        }
        let least = [
            (plan.sample, "the sample's size"),
            (plan.rounds, "the number of rounds"),
            (features, "the number of features"),
        ];
        if let Some(&(_, what)) = least.iter().find(|(value, _)| *value == 0) {
            return Err(PartsError::Plan { what });
        }
        if n > plan.sample && plan.sample < params.k {
            return Err(PartsError::SmallSample { drawn: plan.sample, k: params.k });
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

    /// What every part has to do now; none when the run is over.
    pub fn command(&self) -> Option<Command> {
        let task = match &self.stage {
            Stage::Gather { .. } => Task::Sample { seed: self.setup.seed, threshold: self.threshold() },
            Stage::Distinct { start } => Task::Distinct { limit: start.len() },
            Stage::Match { rows } => Task::Match { rows: rows.clone() },
            Stage::Label { centres, before, .. } => {
                Task::Label { centres: centres.clone(), before: before.clone() }
            }
            Stage::Seat { centres, .. } => Task::Seat { centres: centres.clone() },
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

    /// Takes the answers of all parts, in the order of the parts.
    ///
    /// After an error the conductor is where it was, so the command can be given again.
    pub fn take(&mut self, answers: &[Answer], oracle: &dyn Oracle) -> Result<(), PartsError> {
        self.check(answers)?;
        let next = match &self.stage {
            Stage::Gather { start } => self.gathered(answers, start.as_ref(), oracle)?,
            Stage::Distinct { start } => self.distinguished(answers, start)?,
            Stage::Match { rows } => {
                let (sums, _) = self.sums(answers, rows.len())?;
                Next::to(Stage::Select { step_two: sums.means_of_occupied(self.setup.features) })
            }
            Stage::Label { centres, round, .. } => self.labelled(answers, centres, *round)?,
            Stage::Seat { centres, before, round } => self.seated(answers, centres, before, *round)?,
            Stage::Select { step_two } => Next {
                selected: Some(step_two.clone()),
                ..Next::to(Stage::Value { chosen: self.chosen(answers, step_two)? })
            },
            Stage::Value { chosen } => return self.valued(answers, chosen.clone()),
            Stage::Done { .. } => return Err(PartsError::Over),
        };
        self.go(next);
        Ok(())
    }

    /// Runs to the end over parts that are at hand.
    pub fn run(&mut self, parts: &mut [super::Part], oracle: &dyn Oracle) -> Result<&Outcome, PartsError> {
        while let Some(command) = self.command() {
            let answers: Vec<Answer> =
                parts.iter_mut().map(|part| part.perform(&command)).collect::<Result<_, _>>()?;
            self.take(&answers, oracle)?;
        }
        self.outcome().ok_or(PartsError::Over)
    }

    /// What the run found, once it is over.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.stage {
            Stage::Done { outcome } => Some(outcome),
            _ => None,
        }
    }

    /// Iterations done so far.
    pub fn iterations(&self) -> usize {
        self.history.len()
    }

    /// Answers taken so far.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// Every iteration so far.
    pub fn history(&self) -> &[Round] {
        &self.history
    }

    fn go(&mut self, next: Next) {
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

    /// The answers must be those of the parts, in order, to the command that was given.
    fn check(&self, answers: &[Answer]) -> Result<(), PartsError> {
        let wrong = |reason| Err(PartsError::Answers { reason });
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

    /// Draws up to this number are in the sample.
    fn threshold(&self) -> u64 {
        let sample = self.setup.plan.sample;
        if self.n <= sample {
            return u64::MAX;
        }
        ((u128::from(u64::MAX) * sample as u128) / self.n as u128) as u64
    }

    /// Clusters that a constant K lacks.
    fn missing(&self, step_two: &Points) -> usize {
        match self.setup.params.k_rule {
            KRule::Constant => self.setup.params.k.saturating_sub(step_two.len()),
            KRule::Occupied | KRule::Plural => 0,
        }
    }

    /// The points of `answers`, one part after the other.
    fn rows(&self, answers: &[Answer]) -> Result<Points, PartsError> {
        let mut values = Vec::new();
        for answer in answers {
            let Found::Rows { rows } = &answer.found else { return mismatch(answer) };
            values.extend_from_slice(rows);
        }
        Points::new(values, self.setup.features)
            .map_err(|error| PartsError::Answers { reason: format!("points of the parts: {error}") })
    }

    fn gathered(
        &self,
        answers: &[Answer],
        start: Option<&Points>,
        oracle: &dyn Oracle,
    ) -> Result<Next, PartsError> {
        let points = self.rows(answers)?;
        let all = points.len() == self.n;
        let start = start.map_or(Start::K(self.setup.params.k), Start::Centres);
        if points.len() < start.k() {
            return Err(PartsError::SmallSample { drawn: points.len(), k: start.k() });
        }
        // The same stream every time: the next state is a function of this one, so a return is a cycle.
        let partition = oracle.cluster(&points, start, &mut random::stream(self.setup.seed, 0))?;
        let centres = means(&points, &partition);
        let next = if all { Next::to(Stage::Select { step_two: centres }) } else { self.rounds(centres, 0) };
        let basis = if all { Basis::All } else { Basis::Sample(points.len()) };
        let first = matches!(start, Start::K(_));
        Ok(Next { first_on: first.then_some(basis), ..next })
    }

    /// Lloyd rounds from `start`; `distinct` different points are known of.
    fn rounds(&self, start: Points, distinct: usize) -> Next {
        Next::to(if start.len() == 1 {
            // All go to the only centre: the first round is the last.
            Stage::Label { centres: start, before: None, round: self.setup.plan.rounds }
        } else if distinct >= start.len() {
            Stage::Label { centres: start, before: None, round: 1 }
        } else {
            Stage::Distinct { start }
        })
    }

    fn distinguished(&self, answers: &[Answer], start: &Points) -> Result<Next, PartsError> {
        let points = self.rows(answers)?;
        let mut seen = HashSet::new();
        let firsts: Vec<usize> = (0..points.len()).filter(|&i| seen.insert(bits(points.row(i)))).collect();
        Ok(if firsts.len() < start.len() {
            Next::to(Stage::Match { rows: points.subset(&firsts) })
        } else {
            self.rounds(start.clone(), firsts.len())
        })
    }

    fn labelled(&self, answers: &[Answer], centres: &Points, round: usize) -> Result<Next, PartsError> {
        let q = self.setup.features;
        let (sums, changed) = self.sums(answers, centres.len())?;
        let stage = if changed == 0 || round >= self.setup.plan.rounds {
            Stage::Select { step_two: sums.means_of_occupied(q) }
        } else {
            match sums.means(q) {
                Some(means) => {
                    Stage::Label { centres: means, before: Some(centres.clone()), round: round + 1 }
                }
                None => Stage::Seat { centres: sums.means_or(centres), before: centres.clone(), round },
            }
        };
        Ok(Next { passes: 1, ..Next::to(stage) })
    }

    /// A centre without objects goes to the object that is farthest from its own centre and not alone there.
    fn seated(
        &self,
        answers: &[Answer],
        centres: &Points,
        before: &Points,
        round: usize,
    ) -> Result<Next, PartsError> {
        let mut sizes = vec![0; centres.len()];
        let mut farthest: Vec<Option<&Far>> = vec![None; centres.len()];
        for answer in answers {
            let Found::Seats { counts, farthest: far } = &answer.found else { return mismatch(answer) };
            if counts.len() != centres.len() || far.len() != centres.len() {
                return mismatch(answer);
            }
            for l in 0..centres.len() {
                sizes[l] += counts[l];
                // Parts come in order, so on a tie the lower number stays.
                if let Some(new) = &far[l]
                    && farthest[l].is_none_or(|old| new.squared > old.squared)
                {
                    farthest[l] = Some(new);
                }
            }
        }
        let candidates = (0..centres.len()).filter(|&l| sizes[l] > 1).filter_map(|l| farthest[l]);
        let far = candidates.filter(|far| far.squared > 0.0).min_by(|a, b| a.order(b));
        let mut centres = centres.clone();
        let stage = match (sizes.iter().position(|&s| s == 0), far) {
            (Some(empty), Some(far)) if far.row.len() == centres.features() => {
                centres.row_mut(empty).copy_from_slice(&far.row);
                Stage::Seat { centres, before: before.clone(), round }
            }
            _ => Stage::Label { centres, before: Some(before.clone()), round: round + 1 },
        };
        Ok(Next { passes: 1, ..Next::to(stage) })
    }

    /// Sums of Lloyd rounds, and how many labels changed.
    fn sums(&self, answers: &[Answer], k: usize) -> Result<(Sums, usize), PartsError> {
        let mut all = Joined::new(k, self.setup.features);
        let mut changed = 0;
        for answer in answers {
            let Found::Sums { sums, changed: c } = &answer.found else { return mismatch(answer) };
            all.add(sums, answer)?;
            changed += c;
        }
        Ok((all.sums.total(), changed))
    }

    fn chosen(&self, answers: &[Answer], step_two: &Points) -> Result<Chosen, PartsError> {
        let k = step_two.len();
        let mut all = Joined::new(k, self.setup.features);
        let (mut changed, mut distinct) = (0, 0);
        let mut marks = vec![0u128; k];
        for answer in answers {
            let Found::Selected { sums, changed: c, marks: m, distinct: d } = &answer.found else {
                return mismatch(answer);
            };
            if m.len() != k {
                return mismatch(answer);
            }
            all.add(sums, answer)?;
            changed += c;
            distinct = distinct.max(*d);
            marks.iter_mut().zip(m).for_each(|(a, b)| *a = a.wrapping_add(*b));
        }
        let sums = all.sums.total();
        let occupied: Vec<u128> =
            marks.into_iter().zip(&sums.counts).filter(|(_, count)| **count > 0).map(|(m, _)| m).collect();
        let changed = if self.selected.is_none() { self.n } else { changed };
        Ok(Chosen {
            step_two: step_two.clone(),
            centres: sums.means_of_occupied(self.setup.features),
            counts: sums.counts,
            changed,
            mark: together(&occupied),
            distinct,
        })
    }

    fn valued(&mut self, answers: &[Answer], chosen: Chosen) -> Result<(), PartsError> {
        let mut sum = ChunkedSum::default();
        let mut far: Vec<&Far> = Vec::new();
        for answer in answers {
            let Found::Values { values, far: f } = &answer.found else { return mismatch(answer) };
            for stretch in values {
                match stretch {
                    ValueStretch::Chunk { sum: chunk } if !sum.add_chunk(*chunk) => return mismatch(answer),
                    ValueStretch::Chunk { .. } => {}
                    ValueStretch::Piece { values } => values.iter().for_each(|v| sum.add(*v)),
                }
            }
            far.extend(f);
        }
        if far.iter().any(|far| far.row.len() != self.setup.features) {
            return Err(PartsError::Answers { reason: "a far point has another number of features".into() });
        }
        far.sort_by(|a, b| a.order(b));
        far.truncate(self.missing(&chosen.step_two));

        let objective = sum.total();
        let (k, changed) = (chosen.centres.len(), chosen.changed);
        self.history.push(Round { k, objective, changed, passes: self.passes });
        self.passes = 0;
        let history = &self.history;
        let value = |s: usize| history[s - 1].objective;
        let ending = self.watch.ending(&self.setup.params, self.n, changed, || chosen.mark, &value);
        let next = match ending {
            Some(ending) => {
                self.history.truncate(self.watch.kept());
                Next::to(Stage::Done { outcome: Box::new(self.finish(chosen, objective, ending)) })
            }
            None => {
                let start = self.next_start(&chosen, &far);
                match self.setup.params.oracle_every {
                    OracleEvery::Always => Next::to(Stage::Gather { start: Some(start) }),
                    OracleEvery::First => self.rounds(start, chosen.distinct),
                }
            }
        };
        self.go(next);
        Ok(())
    }

    /// Step (I): the centres that the next clustering begins from, and so K(t).
    fn next_start(&self, chosen: &Chosen, far: &[&Far]) -> Points {
        match self.setup.params.k_rule {
            KRule::Occupied => chosen.centres.clone(),
            KRule::Plural => {
                let sizes = chosen.counts.iter().filter(|count| **count > 0).enumerate();
                let plural: Vec<usize> = sizes.filter(|(_, size)| **size > 1).map(|(l, _)| l).collect();
                if plural.is_empty() { chosen.centres.clone() } else { chosen.centres.subset(&plural) }
            }
            KRule::Constant => {
                let mut start = chosen.step_two.clone();
                for (old, &new) in chosen.numbers().iter().enumerate().filter(|(_, new)| **new != u32::MAX) {
                    start.row_mut(old).copy_from_slice(chosen.centres.row(new as usize));
                }
                let mut values = start.values().to_vec();
                far.iter().for_each(|far| values.extend_from_slice(&far.row));
                Points::trusted(values, self.setup.features)
            }
        }
    }

    fn finish(&self, chosen: Chosen, objective: f64, ending: Ending) -> Outcome {
        let numbers = chosen.numbers();
        Outcome {
            k: chosen.centres.len(),
            centres: chosen.centres.clone(),
            sizes: chosen.counts.iter().copied().filter(|count| *count > 0).collect(),
            objective,
            iterations: self.history.len(),
            ending,
            first_on: self.first_on,
            history: self.history.clone(),
            last: Last { selected: chosen.step_two, numbers, centres: chosen.centres },
        }
    }
}

/// Where the conductor goes after taking answers.
struct Next {
    stage: Stage,
    selected: Option<Points>,
    first_on: Option<Basis>,
    passes: usize,
}

impl Next {
    fn to(stage: Stage) -> Self {
        Self { stage, selected: None, first_on: None, passes: 0 }
    }
}

/// The parts' sums in the order of one machine.
struct Joined {
    sums: ChunkedSums,
    k: usize,
    q: usize,
}

impl Joined {
    fn new(k: usize, q: usize) -> Self {
        Self { sums: ChunkedSums::new(k, q), k, q }
    }

    fn add(&mut self, stretches: &[Stretch], answer: &Answer) -> Result<(), PartsError> {
        for stretch in stretches {
            let fits = match stretch {
                Stretch::Chunk { sums } => {
                    sums.counts.len() == self.k
                        && sums.values.len() == self.k * self.q
                        && self.sums.add_chunk(sums)
                }
                Stretch::Piece { labels, rows } => {
                    let fits =
                        rows.len() == labels.len() * self.q && labels.iter().all(|&l| (l as usize) < self.k);
                    if fits {
                        for (row, &l) in rows.chunks_exact(self.q).zip(labels) {
                            self.sums.add(l as usize, row);
                        }
                    }
                    fits
                }
            };
            if !fits {
                return mismatch(answer);
            }
        }
        Ok(())
    }
}

fn mismatch<T>(answer: &Answer) -> Result<T, PartsError> {
    let reason = format!("the part from object {} on does not answer what was asked", answer.first);
    Err(PartsError::Answers { reason })
}
