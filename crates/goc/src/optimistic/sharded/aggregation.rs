//! Combining the shards' answers, step by step.

use std::collections::HashSet;

use super::coordinator::{Basis, Chosen, Coordinator, Next, Outcome, Round, Stage};
use super::messages::{Answer, FarPoint, FinalState, Found, Stretch, ValueStretch};
use super::{Result, ShardedError};
use crate::optimistic::termination::{Termination, together};
use crate::optimistic::{KRule, OracleEvery};
use crate::oracle::k_means::means;
use crate::oracle::k_means::seeding::bits;
use crate::oracle::k_means::sums::{ChunkedSum, ChunkedSums, Sums};
use crate::oracle::{Oracle, Start};
use crate::{Points, random};

impl Coordinator {
    /// The points of `answers`, one shard after the other.
    fn rows(&self, answers: &[Answer]) -> Result<Points> {
        let mut values = Vec::new();
        for answer in answers {
            let Found::Rows { rows } = &answer.found else { return mismatch(answer) };
            values.extend_from_slice(rows);
        }
        Points::new(values, self.setup.features)
            .map_err(|error| ShardedError::Answers { reason: format!("points of the parts: {error}") })
    }

    pub(super) fn gathered(
        &self,
        answers: &[Answer],
        start: Option<&Points>,
        oracle: &dyn Oracle,
    ) -> Result<Next> {
        let points = self.rows(answers)?;
        let all = points.len() == self.n;
        let start = start.map_or(Start::K(self.setup.params.k), Start::Centres);
        if points.len() < start.k() {
            return Err(ShardedError::SmallSample { drawn: points.len(), k: start.k() });
        }
        // The same stream every time: the next state is a function of this one, so a recurring
        // state is a cycle.
        let partition = oracle.cluster(&points, start, &mut random::stream(self.setup.seed, 0))?;
        let centres = means(&points, &partition);
        let next = if all { Next::to(Stage::Select { step_two: centres }) } else { self.rounds(centres, 0) };
        let basis = if all { Basis::All } else { Basis::Sample(points.len()) };
        let first = matches!(start, Start::K(_));
        Ok(Next { first_on: first.then_some(basis), ..next })
    }

    /// Lloyd rounds from `start`; at least `distinct` distinct points are known to exist.
    fn rounds(&self, start: Points, distinct: usize) -> Next {
        Next::to(if start.len() == 1 {
            // All objects go to the only centre, so the first round is the last.
            Stage::Label { centres: start, before: None, round: self.setup.plan.rounds }
        } else if distinct >= start.len() {
            Stage::Label { centres: start, before: None, round: 1 }
        } else {
            Stage::Distinct { start }
        })
    }

    pub(super) fn distinguished(&self, answers: &[Answer], start: &Points) -> Result<Next> {
        let points = self.rows(answers)?;
        let mut seen = HashSet::new();
        let firsts: Vec<usize> = (0..points.len()).filter(|&i| seen.insert(bits(points.row(i)))).collect();
        Ok(if firsts.len() < start.len() {
            Next::to(Stage::Match { rows: points.subset(&firsts) })
        } else {
            self.rounds(start.clone(), firsts.len())
        })
    }

    pub(super) fn labelled(&self, answers: &[Answer], centres: &Points, round: usize) -> Result<Next> {
        let q = self.setup.features;
        let (sums, changed) = self.sums(answers, centres.len())?;
        let stage = if changed == 0 || round >= self.setup.plan.rounds {
            Stage::Select { step_two: sums.means_of_occupied(q) }
        } else {
            match sums.means(q) {
                Some(means) => {
                    Stage::Label { centres: means, before: Some(centres.clone()), round: round + 1 }
                }
                None => Stage::Repair { centres: sums.means_or(centres), before: centres.clone(), round },
            }
        };
        Ok(Next { passes: 1, ..Next::to(stage) })
    }

    /// A centre without objects moves to the object farthest from its own centre that is not alone
    /// there.
    pub(super) fn repaired(
        &self,
        answers: &[Answer],
        centres: &Points,
        before: &Points,
        round: usize,
    ) -> Result<Next> {
        let mut sizes = vec![0; centres.len()];
        let mut farthest: Vec<Option<&FarPoint>> = vec![None; centres.len()];
        for answer in answers {
            let Found::Farthest { counts, farthest: far } = &answer.found else { return mismatch(answer) };
            if counts.len() != centres.len() || far.len() != centres.len() {
                return mismatch(answer);
            }
            for l in 0..centres.len() {
                sizes[l] += counts[l];
                // Shards come in order, so the lower index wins a tie.
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
                Stage::Repair { centres, before: before.clone(), round }
            }
            _ => Stage::Label { centres, before: Some(before.clone()), round: round + 1 },
        };
        Ok(Next { passes: 1, ..Next::to(stage) })
    }

    /// Sums of Lloyd rounds, and how many labels changed.
    pub(super) fn sums(&self, answers: &[Answer], k: usize) -> Result<(Sums, usize)> {
        let mut all = Joined::new(k, self.setup.features);
        let mut changed = 0;
        for answer in answers {
            let Found::Sums { sums, changed: c } = &answer.found else { return mismatch(answer) };
            all.add(sums, answer)?;
            changed += c;
        }
        Ok((all.sums.total(), changed))
    }

    pub(super) fn chosen(&self, answers: &[Answer], step_two: &Points) -> Result<Chosen> {
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

    pub(super) fn valued(&mut self, answers: &[Answer], chosen: Chosen) -> Result<()> {
        let mut sum = ChunkedSum::default();
        let mut far: Vec<&FarPoint> = Vec::new();
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
            return Err(ShardedError::Answers {
                reason: "a far point has another number of features".into(),
            });
        }
        far.sort_by(|a, b| a.order(b));
        far.truncate(self.missing(&chosen.step_two));

        let objective = sum.total();
        let (k, changed) = (chosen.centres.len(), chosen.changed);
        self.history.push(Round { k, objective, changed, passes: self.passes });
        self.passes = 0;
        let history = &self.history;
        let value = |s: usize| history[s - 1].objective;
        let termination = self.watch.termination(&self.setup.params, self.n, changed, || chosen.mark, &value);
        let next = match termination {
            Some(termination) => {
                self.history.truncate(self.watch.kept());
                Next::to(Stage::Done { outcome: Box::new(self.finish(chosen, objective, termination)) })
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

    /// Step (I): the centres that the next clustering starts from, and hence K(t).
    fn next_start(&self, chosen: &Chosen, far: &[&FarPoint]) -> Points {
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

    fn finish(&self, chosen: Chosen, objective: f64, termination: Termination) -> Outcome {
        let numbers = chosen.numbers();
        Outcome {
            k: chosen.centres.len(),
            centres: chosen.centres.clone(),
            sizes: chosen.counts.iter().copied().filter(|count| *count > 0).collect(),
            objective,
            iterations: self.history.len(),
            termination,
            first_on: self.first_on,
            history: self.history.clone(),
            final_state: FinalState { selected: chosen.step_two, numbers, centres: chosen.centres },
        }
    }
}

/// The shards' sums combined in the order of one machine.
struct Joined {
    sums: ChunkedSums,
    k: usize,
    q: usize,
}

impl Joined {
    fn new(k: usize, q: usize) -> Self {
        Self { sums: ChunkedSums::new(k, q), k, q }
    }

    fn add(&mut self, stretches: &[Stretch], answer: &Answer) -> Result<()> {
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

fn mismatch<T>(answer: &Answer) -> Result<T> {
    let reason = format!("the part from object {} on does not answer what was asked", answer.first);
    Err(ShardedError::Answers { reason })
}
