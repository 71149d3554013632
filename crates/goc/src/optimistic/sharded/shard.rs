//! A range of the objects: it executes commands and answers with sums.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use rand::Rng;
use rayon::prelude::*;

use super::messages::{Answer, Command, FarPoint, FinalState, Found, Stretch, Task, ValueStretch};
use super::{Result, ShardedError};
use crate::kernel::CentreLanes;
use crate::optimistic::run::representatives;
use crate::optimistic::select::{Choice, Selector};
use crate::optimistic::termination::member;
use crate::optimistic::{Beginning, Distance, Optimistic};
use crate::oracle::k_means::lloyd::label_chunk;
use crate::oracle::k_means::seeding::bits;
use crate::oracle::k_means::sums::{CHUNK, Sums};
use crate::points::squared_distance;
use crate::{Candidates, Points, random};

/// The objects from `first` on, and their current state.
///
/// The state kept between commands only saves work: any shard of the same objects gives the same
/// answers.
#[derive(Debug)]
pub struct Shard {
    first: usize,
    lambda: f64,
    distance: Distance,
    beginning: Beginning,
    /// `None` if there are no objects.
    held: Option<Held>,
}

#[derive(Debug)]
struct Held {
    selector: Selector<'static>,
    /// Centres of the step (III) that led to the current choice; `None` at the first
    /// representatives.
    selected: Option<Points>,
    choices: Vec<Choice>,
    /// The representatives.
    points: Points,
    /// Centres of the last Lloyd round on the representatives, and its labels.
    labelled: Option<(Points, Vec<u32>)>,
}

/// The final state of a shard's objects, one entry per object.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardResult {
    /// The clusters, numbered over all shards.
    pub labels: Vec<u32>,
    /// The chosen candidates.
    pub chosen: Vec<u32>,
    /// Distances of the chosen candidates from the means of their clusters, in scaled features;
    /// squared if the run's distance is squared.
    pub distances: Vec<f64>,
    /// Penalties of the chosen candidates.
    pub penalties: Vec<f64>,
    /// The chosen candidates themselves, in scaled features, in row-major order.
    pub points: Vec<f64>,
}

impl Shard {
    /// A shard of the objects `candidates`, or of none; `first` is the global index of its first
    /// object.
    ///
    /// Of the parameters, only lambda, the distance and the first representatives are used.
    pub fn new(candidates: Option<Candidates>, first: usize, params: &Optimistic) -> Self {
        let (lambda, distance, beginning) = (params.lambda, params.distance, params.beginning);
        let held = candidates.map(|candidates| Held {
            points: representatives(&candidates, beginning),
            selector: Selector::owning(candidates, distance, lambda),
            selected: None,
            choices: Vec::new(),
            labelled: None,
        });
        Self { first, lambda, distance, beginning, held }
    }

    /// The number of objects.
    pub fn objects(&self) -> usize {
        self.held.as_ref().map_or(0, |held| held.points.len())
    }

    /// The global index of its first object.
    pub fn first(&self) -> usize {
        self.first
    }

    /// The memory used, in bytes: candidates, boxes, choices, points.
    pub fn bytes(&self) -> usize {
        self.held.as_ref().map_or(0, |held| {
            held.selector.candidates().bytes()
                + held.selector.bytes()
                + size_of_val(&held.choices[..])
                + size_of_val(held.points.values())
                + held.labelled.as_ref().map_or(0, |(_, labels)| size_of_val(&labels[..]))
        })
    }

    /// Executes `command`.
    pub fn perform(&mut self, command: &Command) -> Result<Answer> {
        let inner = [command.selected.as_ref(), command.task.points()];
        self.check(inner.into_iter().flatten())?;
        let (first, objects) = (self.first, self.objects());
        self.stand(&command.selected);
        let found = match &command.task {
            Task::Sample { seed, threshold } => Found::Rows { rows: self.sample(*seed, *threshold) },
            Task::Distinct { limit } => {
                Found::Rows { rows: self.held.as_ref().map_or_else(Vec::new, |held| held.distinct(*limit)) }
            }
            Task::Match { rows } => self.match_rows(rows),
            Task::Label { centres, before } => {
                self.check(before.iter())?;
                self.label(centres, before.as_ref())
            }
            Task::Repair { centres } => self.find_farthest(centres),
            Task::Select { centres, limit } => self.select(centres, *limit),
            Task::Value { centres, numbers, far } => self.value(centres, numbers, *far)?,
        };
        Ok(Answer { step: command.step, first, objects, found })
    }

    /// The final state of the objects.
    pub fn finish(&mut self, final_state: &FinalState) -> Result<ShardResult> {
        self.check([&final_state.selected, &final_state.centres].into_iter())?;
        self.stand(&Some(final_state.selected.clone()));
        let labels = self.labels(&final_state.numbers, &final_state.centres)?;
        let Some(held) = &self.held else {
            let (chosen, distances, penalties, points) = Default::default();
            return Ok(ShardResult { labels, chosen, distances, penalties, points });
        };
        let chosen: Vec<u32> = held.choices.iter().map(|c| c.candidate).collect();
        let distance = |(row, &l): (&[f64], &u32)| {
            self.distance.of_squared(squared_distance(row, final_state.centres.row(l as usize)))
        };
        let distances = held.points.rows().zip(&labels).map(distance).collect();
        let candidates = held.selector.candidates();
        let penalties = chosen.iter().enumerate().map(|(i, &j)| candidates.penalty(i, j as usize)).collect();
        Ok(ShardResult { labels, chosen, distances, penalties, points: held.points.values().to_vec() })
    }

    fn check<'p>(&self, points: impl Iterator<Item = &'p Points>) -> Result<()> {
        let Some(held) = &self.held else { return Ok(()) };
        let shard = held.points.features();
        for points in points {
            if points.features() != shard {
                return Err(ShardedError::Features { command: points.features(), first: self.first, shard });
            }
            if points.is_empty() {
                return Err(ShardedError::Answers { reason: "the command has no centres".into() });
            }
        }
        Ok(())
    }

    /// Updates the objects to the choice that follows from `selected`.
    fn stand(&mut self, selected: &Option<Points>) {
        let Some(held) = &mut self.held else { return };
        if held.selected == *selected {
            return;
        }
        match selected {
            Some(centres) => held.select(centres),
            None => {
                held.points = representatives(held.selector.candidates(), self.beginning);
                held.choices.clear();
                held.selected = None;
                held.labelled = None;
            }
        }
    }

    fn sample(&self, seed: u64, threshold: u64) -> Vec<f64> {
        let Some(held) = &self.held else { return Vec::new() };
        if threshold == u64::MAX {
            return held.points.values().to_vec();
        }
        let drawn =
            |i: usize| random::stream(seed ^ SAMPLING, (self.first + i) as u64).next_u64() <= threshold;
        let rows: Vec<usize> = (0..held.points.len()).into_par_iter().filter(|&i| drawn(i)).collect();
        held.points.subset(&rows).values().to_vec()
    }

    fn match_rows(&self, rows: &Points) -> Found {
        let Some(held) = &self.held else { return Found::Sums { sums: Vec::new(), changed: 0 } };
        let number: HashMap<Vec<u64>, u32> =
            rows.rows().enumerate().map(|(l, row)| (bits(row), l as u32)).collect();
        // All representatives are among the rows, which the coordinator gathered from them.
        let labels: Vec<u32> =
            held.points.rows().map(|row| number.get(&bits(row)).copied().unwrap_or(0)).collect();
        Found::Sums { sums: held.stretches(self.first, &labels, rows.len()), changed: 0 }
    }

    fn label(&mut self, centres: &Points, before: Option<&Points>) -> Found {
        let first = self.first;
        let Some(held) = &mut self.held else { return Found::Sums { sums: Vec::new(), changed: 0 } };
        let (n, k, q) = (held.points.len(), centres.len(), centres.features());
        let lanes = CentreLanes::from_points(centres);
        let old = match (before, held.labelled.take()) {
            (None, _) => vec![u32::MAX; n],
            (Some(before), Some((on, labels))) if on == *before => labels,
            (Some(before), _) => {
                let lanes = CentreLanes::from_points(before);
                let mut labels = vec![u32::MAX; n];
                labels
                    .par_chunks_mut(CHUNK)
                    .zip(held.points.values().par_chunks(CHUNK * q))
                    .for_each(|(labels, rows)| _ = label_chunk(&lanes, before.len(), q, rows, labels));
                labels
            }
        };
        let found: Vec<(Stretch, Vec<u32>, usize)> = cuts(first, n)
            .into_par_iter()
            .map(|cut| {
                let rows = &held.points.values()[cut.start * q..cut.end * q];
                let mut labels = old[cut.clone()].to_vec();
                let (sums, changed) = label_chunk(&lanes, k, q, rows, &mut labels);
                let stretch = if cut.len() == CHUNK {
                    Stretch::Chunk { sums }
                } else {
                    Stretch::Piece { labels: labels.clone(), rows: rows.to_vec() }
                };
                (stretch, labels, changed)
            })
            .collect();
        let mut labels = Vec::with_capacity(n);
        let (mut sums, mut changed) = (Vec::with_capacity(found.len()), 0);
        for (stretch, new, c) in found {
            labels.extend_from_slice(&new);
            sums.push(stretch);
            changed += c;
        }
        held.labelled = Some((centres.clone(), labels));
        Found::Sums { sums, changed }
    }

    fn find_farthest(&self, centres: &Points) -> Found {
        let mut counts = vec![0; centres.len()];
        let mut farthest: Vec<Option<FarPoint>> = vec![None; centres.len()];
        if let Some(held) = &self.held {
            let lanes = CentreLanes::from_points(centres);
            for (i, row) in held.points.rows().enumerate() {
                let (l, squared) = lanes.nearest(row);
                counts[l] += 1;
                // The lower index wins a tie.
                if farthest[l].as_ref().is_none_or(|far| squared > far.squared) {
                    farthest[l] = Some(FarPoint { squared, object: self.first + i, row: row.to_vec() });
                }
            }
        }
        Found::Farthest { counts, farthest }
    }

    fn select(&mut self, centres: &Points, limit: usize) -> Found {
        let k = centres.len();
        let mut marks = vec![0u128; k];
        let first = self.first;
        let Some(held) = &mut self.held else {
            return Found::Selected { sums: Vec::new(), changed: 0, marks, distinct: 0 };
        };
        let before: Vec<u32> = held.choices.iter().map(|c| c.candidate).collect();
        held.select(centres);
        let changed = if before.is_empty() {
            held.choices.len()
        } else {
            before.iter().zip(&held.choices).filter(|(old, new)| **old != new.candidate).count()
        };
        for (i, choice) in held.choices.iter().enumerate() {
            let mark = &mut marks[choice.centre as usize];
            *mark = mark.wrapping_add(member((first + i) as u64, choice.candidate));
        }
        let labels: Vec<u32> = held.choices.iter().map(|c| c.centre).collect();
        let distinct = held.distinct(limit).len() / centres.features();
        Found::Selected { sums: held.stretches(first, &labels, k), changed, marks, distinct }
    }

    /// The labels of the choices, renumbered.
    fn labels(&self, numbers: &[u32], centres: &Points) -> Result<Vec<u32>> {
        let Some(held) = &self.held else { return Ok(Vec::new()) };
        let number = |c: &Choice| {
            numbers.get(c.centre as usize).copied().filter(|&l| (l as usize) < centres.len()).ok_or_else(
                || {
                    let reason =
                        format!("the command has no label for centre {}, which has objects", c.centre);
                    ShardedError::Answers { reason }
                },
            )
        };
        held.choices.iter().map(number).collect()
    }

    fn value(&self, centres: &Points, numbers: &[u32], far: usize) -> Result<Found> {
        let labels = self.labels(numbers, centres)?;
        let Some(held) = &self.held else {
            return Ok(Found::Values { values: Vec::new(), far: Vec::new() });
        };
        let squared: Vec<f64> = held
            .points
            .rows()
            .zip(&labels)
            .map(|(row, &l)| squared_distance(row, centres.row(l as usize)))
            .collect();
        let candidates = held.selector.candidates();
        let value = |i: usize| {
            let penalty = candidates.penalty(i, held.choices[i].candidate as usize);
            self.distance.of_squared(squared[i]) + self.lambda * penalty
        };
        let stretch = |cut: Range<usize>| {
            if cut.len() == CHUNK {
                let mut sum = 0.0;
                cut.for_each(|i| sum += value(i));
                ValueStretch::Chunk { sum }
            } else {
                ValueStretch::Piece { values: cut.map(value).collect() }
            }
        };
        let values = cuts(self.first, squared.len()).into_iter().map(stretch).collect();
        let mut farthest: Vec<FarPoint> = Vec::new();
        if far > 0 {
            farthest = (0..squared.len())
                .filter(|&i| squared[i] > 0.0)
                .map(|i| FarPoint {
                    squared: squared[i],
                    object: self.first + i,
                    row: held.points.row(i).to_vec(),
                })
                .collect();
            farthest.sort_by(FarPoint::order);
            farthest.truncate(far);
        }
        Ok(Found::Values { values, far: farthest })
    }
}

impl Held {
    fn select(&mut self, centres: &Points) {
        let (choices, _) = self.selector.select(centres);
        self.choices = choices.to_vec();
        let chosen: Vec<u32> = self.choices.iter().map(|c| c.candidate).collect();
        self.points = self.selector.candidates().chosen(&chosen);
        self.selected = Some(centres.clone());
        self.labelled = None;
    }

    /// The first `limit` distinct representatives, in row-major order.
    fn distinct(&self, limit: usize) -> Vec<f64> {
        let (mut rows, mut seen) = (Vec::new(), HashSet::new());
        for row in self.points.rows() {
            if seen.len() >= limit {
                break;
            }
            if seen.insert(bits(row)) {
                rows.extend_from_slice(row);
            }
        }
        rows
    }

    /// Sums over the objects, which start at index `first`, by their labels below `k`.
    fn stretches(&self, first: usize, labels: &[u32], k: usize) -> Vec<Stretch> {
        let q = self.points.features();
        cuts(first, labels.len())
            .into_par_iter()
            .map(|cut| {
                let (rows, labels) =
                    (&self.points.values()[cut.start * q..cut.end * q], &labels[cut.clone()]);
                if cut.len() == CHUNK {
                    Stretch::Chunk { sums: Sums::of(k, q, rows, labels) }
                } else {
                    Stretch::Piece { labels: labels.to_vec(), rows: rows.to_vec() }
                }
            })
            .collect()
    }
}

/// Separates the draws of the sample from all other draws with the same seed.
const SAMPLING: u64 = 0x7061_7274_5f73_616d;

/// The ranges, by position in the shard, of `n` objects starting at index `first`: each within one
/// chunk.
fn cuts(first: usize, n: usize) -> Vec<Range<usize>> {
    let mut cuts = Vec::with_capacity(n / CHUNK + 2);
    let mut from = 0;
    while from < n {
        let to = n.min(from + CHUNK - (first + from) % CHUNK);
        cuts.push(from..to);
        from = to;
    }
    cuts
}
