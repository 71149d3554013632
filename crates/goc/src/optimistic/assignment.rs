//! Step (III) after a few centres moved: only what may have changed is evaluated.
//!
//! A swap move ([`super::swap_search`]) changes one of the K centres, and the descent after it a
//! few more. Let C be the centres that changed. An object whose own centre is not in C keeps its
//! pair unless a centre in C offers a better one, so only C is examined; for an object whose centre
//! is in C, all centres are. Both start with boxes ([`super::boxes`]), as [`super::select`] does.
//! With clusters of similar size, that is `2 |C| n` box distances in place of `K n`, and a few
//! candidates in the boxes that remain.
//!
//! The answer equals that of a full selection to the last bit, ties included: under a total order
//! on pairs (value, candidate, squared distance, centre) the minimum is unique, however it is
//! found.

use rayon::prelude::*;

use super::boxes::Boxes;
use super::distance::Distance;
use super::select::{single_error, squared_run, squared_run_single};
use crate::kernel::{CentreLanes, LANES};
use crate::{Candidates, Points};

/// Objects handled by one task.
const CHUNK: usize = 512;

/// One object's pair, with the squared distance that breaks ties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Assigned {
    pub(super) candidate: u32,
    pub(super) centre: u32,
    /// `distance + lambda * penalty`.
    pub(super) value: f64,
    squared: f64,
}

impl Assigned {
    const NONE: Self =
        Self { candidate: u32::MAX, centre: u32::MAX, value: f64::INFINITY, squared: f64::INFINITY };

    #[inline(always)]
    fn beats(&self, other: &Self) -> bool {
        if self.value != other.value {
            return self.value < other.value;
        }
        (self.candidate, self.squared, self.centre) < (other.candidate, other.squared, other.centre)
    }
}

/// What stays fixed during a search: the candidates, their boxes, the weights.
#[derive(Debug)]
pub(super) struct Assigner<'c> {
    candidates: &'c Candidates,
    boxes: Boxes,
    lambda: f64,
    distance: Distance,
    /// The maximum error of a value in single precision; 0 in double precision.
    blur: f64,
}

/// An object that a new centre would win.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Won {
    pub(super) object: usize,
    pub(super) candidate: usize,
    pub(super) value: f64,
}

/// Centres and every object's best pair for them. Centres may have no objects.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    centres: Points,
    lanes: CentreLanes,
    assigned: Vec<Assigned>,
}

impl Assignment {
    pub(super) fn centres(&self) -> &Points {
        &self.centres
    }

    pub(super) fn assigned(&self) -> &[Assigned] {
        &self.assigned
    }
}

impl<'c> Assigner<'c> {
    pub(super) fn new(candidates: &'c Candidates, distance: Distance, lambda: f64) -> Self {
        let blur = if distance == Distance::EuclideanSingle { single_error(candidates) } else { 0.0 };
        Self { candidates, boxes: Boxes::new(candidates), lambda, distance, blur }
    }

    /// Every object at its best pair.
    pub(super) fn assign(&self, centres: Points) -> Assignment {
        let lanes = CentreLanes::from_points(&centres);
        let mut assigned = vec![Assigned::NONE; self.candidates.objects()];
        let all = Change {
            moved: vec![true; centres.len()],
            rows: &[],
            lanes: &lanes,
            new: &lanes,
            centres: &centres,
        };
        self.each_chunk(&mut assigned, |first, chunk| reassign_chunk(self, &all, first, chunk));
        Assignment { centres, lanes, assigned }
    }

    /// Moves the centres `rows` (ascending) to the positions in `places`, and reassigns the
    /// objects.
    pub(super) fn move_centres(&self, assignment: &mut Assignment, rows: &[usize], places: &Points) {
        let mut moved = vec![false; assignment.centres.len()];
        for (place, &k) in places.rows().zip(rows) {
            moved[k] = true;
            assignment.centres.row_mut(k).copy_from_slice(place);
            assignment.lanes.set(k, place);
        }
        let new = CentreLanes::from_points(places);
        let change =
            Change { moved, rows, lanes: &assignment.lanes, new: &new, centres: &assignment.centres };
        self.each_chunk(&mut assignment.assigned, |first, chunk| reassign_chunk(self, &change, first, chunk));
    }

    /// The value of each object at its second-best centre; infinite if there is none.
    pub(super) fn runners_up(&self, assignment: &Assignment) -> Vec<f64> {
        let mut seconds = vec![Assigned::NONE; assignment.assigned.len()];
        self.each_chunk(&mut seconds, |first, chunk| {
            seconds_chunk(self, &assignment.lanes, &assignment.centres, &assignment.assigned, first, chunk);
        });
        seconds.into_iter().map(|best| best.value).collect()
    }

    /// The objects for which a centre at `place` would be better than their own.
    pub(super) fn won(&self, assignment: &Assignment, place: &[f64]) -> Vec<Won> {
        let mut won = Vec::new();
        attract(self, &assignment.assigned, place, &mut won);
        won
    }

    fn each_chunk(&self, assigned: &mut [Assigned], work: impl Fn(usize, &mut [Assigned]) + Sync) {
        if assigned.len() <= CHUNK {
            return work(0, assigned);
        }
        assigned.par_chunks_mut(CHUNK).enumerate().for_each(|(c, chunk)| work(c * CHUNK, chunk));
    }

    #[inline(always)]
    fn value(&self, squared: f64, penalty: f64) -> f64 {
        self.distance.of_squared(squared) + self.lambda * penalty
    }

    /// A lower bound for a box at this squared distance with this lowest penalty. Rounding is
    /// monotone and the operations are the same, so no candidate in the box has a lower value.
    #[inline(always)]
    fn floor(&self, squared: f64, penalty: f64) -> f64 {
        match self.distance {
            Distance::EuclideanSingle => squared.sqrt() + self.lambda * penalty - self.blur,
            _ => self.value(squared, penalty),
        }
    }

    /// Improves `best` of object `i` with centre number `k` at `centre`.
    #[inline(always)]
    fn improve(&self, i: usize, k: usize, centre: &[f64], best: &mut Assigned, room: &mut Vec<f64>) {
        let (m, q) = (self.candidates.count(i), self.candidates.features());
        let (block, penalties) = (self.candidates.block(i), self.candidates.penalties(i));
        let runs = self.boxes.runs(i);
        room.clear();
        if runs > 0 {
            self.boxes.run_distances(i, centre, room);
        }
        for (r, from) in (0..m).step_by(LANES).enumerate() {
            if runs > 0 && self.floor(room[r], self.boxes.run_penalties(i)[r]) > best.value {
                continue;
            }
            let squared = match self.distance {
                Distance::EuclideanSingle => squared_run_single(block, m, q, from, centre),
                _ => squared_run(block, m, q, from, centre),
            };
            for l in 0..LANES.min(m - from) {
                let j = from + l;
                let found = Assigned {
                    candidate: j as u32,
                    centre: k as u32,
                    value: self.value(squared[l], penalties.get(j).copied().unwrap_or(0.0)),
                    squared: squared[l],
                };
                if found.beats(best) {
                    *best = found;
                }
            }
        }
    }

    /// Improves `best` of object `i` with all centres of `lanes` whose boxes do not rule them out;
    /// `name` gives a centre's number and position, or `None` to skip it.
    #[inline(always)]
    fn improve_by_all<'a>(
        &self,
        i: usize,
        lanes: &CentreLanes,
        name: impl Fn(usize) -> Option<(usize, &'a [f64])>,
        best: &mut Assigned,
        room: &mut Vec<f64>,
    ) {
        let boxed = self.boxes.runs(i) > 0;
        for first in (0..lanes.padded()).step_by(LANES) {
            let (floors, penalty) = if boxed {
                let whole = self.boxes.whole(i);
                (lanes.squared_box_block(whole.low, whole.high, first), whole.penalty)
            } else {
                ([0.0; LANES], 0.0)
            };
            for (l, &squared) in floors.iter().enumerate().take(lanes.k() - first.min(lanes.k())) {
                if self.floor(squared, penalty) > best.value {
                    continue;
                }
                if let Some((k, centre)) = name(first + l) {
                    self.improve(i, k, centre, best, room);
                }
            }
        }
    }
}

/// Which centres changed.
struct Change<'a> {
    moved: Vec<bool>,
    /// The numbers of the changed centres.
    rows: &'a [usize],
    lanes: &'a CentreLanes,
    /// The changed centres alone.
    new: &'a CentreLanes,
    centres: &'a Points,
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn reassign_chunk(assigner: &Assigner<'_>, change: &Change<'_>, first: usize, assigned: &mut [Assigned]) {
    let mut room = Vec::new();
    let centres = change.centres;
    for (offset, best) in assigned.iter_mut().enumerate() {
        let (i, own) = (first + offset, best.centre as usize);
        if own < change.moved.len() && !change.moved[own] {
            let name = |at: usize| Some((change.rows[at], centres.row(change.rows[at])));
            assigner.improve_by_all(i, change.new, name, best, &mut room);
        } else {
            *best = Assigned::NONE;
            // The old centre is still near: a sharp initial bound.
            if own < change.moved.len() {
                assigner.improve(i, own, centres.row(own), best, &mut room);
            }
            assigner.improve_by_all(
                i,
                change.lanes,
                |k| (k != own).then(|| (k, centres.row(k))),
                best,
                &mut room,
            );
        }
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn seconds_chunk(
    assigner: &Assigner<'_>,
    lanes: &CentreLanes,
    centres: &Points,
    assigned: &[Assigned],
    first: usize,
    seconds: &mut [Assigned],
) {
    let mut room = Vec::new();
    for (offset, second) in seconds.iter_mut().enumerate() {
        let own = assigned[first + offset].centre as usize;
        let name = |k: usize| (k != own).then(|| (k, centres.row(k)));
        assigner.improve_by_all(first + offset, lanes, name, second, &mut room);
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn attract(assigner: &Assigner<'_>, assigned: &[Assigned], place: &[f64], won: &mut Vec<Won>) {
    let mut room = Vec::new();
    for (i, best) in assigned.iter().enumerate() {
        if assigner.boxes.runs(i) > 0 {
            let whole = assigner.boxes.whole(i);
            if assigner.floor(whole.squared_distance(place), whole.penalty) >= best.value {
                continue;
            }
        }
        // Only strictly lower values count, so a pair as good as the present one changes nothing.
        let mut new = Assigned { value: best.value, candidate: 0, centre: 0, squared: f64::NEG_INFINITY };
        assigner.improve(i, 0, place, &mut new, &mut room);
        if new.value < best.value {
            won.push(Won { object: i, candidate: new.candidate as usize, value: new.value });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::select::{Choice, Selector};
    use super::*;
    use crate::optimistic::fixtures::Numbers;
    use proptest::prelude::*;

    fn choices(assignment: &Assignment) -> Vec<Choice> {
        let choice = |s: &Assigned| Choice { candidate: s.candidate, centre: s.centre, value: s.value };
        assignment.assigned.iter().map(choice).collect()
    }

    proptest! {
        #[test]
        fn moving_some_centres_gives_what_a_full_selection_gives(
            q in 1usize..5,
            sizes in prop::collection::vec(1usize..45, 1..14),
            k in 2usize..20,
            lambda in prop::sample::select(vec![0.0, 0.01, 0.5]),
            distance in prop::sample::select(vec![
                Distance::Squared, Distance::Euclidean, Distance::EuclideanSingle,
            ]),
            coarse in any::<bool>(),
            seed in any::<u64>(),
        ) {
            let mut numbers = Numbers::new(seed, coarse);
            let candidates = numbers.candidates(q, &sizes, true);
            let assigner = Assigner::new(&candidates, distance, lambda);
            let full = Selector::new(&candidates, distance, lambda);
            let mut assignment = assigner.assign(numbers.centres(k, q));
            prop_assert_eq!(choices(&assignment), full.select_exhaustively(assignment.centres()));
            for round in 0..5 {
                let rows: Vec<usize> = (0..k).filter(|c| (c * 7 + round) % 4 == 0).collect();
                let places = Points::new(numbers.several(rows.len() * q, 4.0), q);
                let Ok(places) = places else { continue };
                assigner.move_centres(&mut assignment, &rows, &places);
                prop_assert_eq!(choices(&assignment), full.select_exhaustively(assignment.centres()));
                // Runners-up and objects won, compared with selections without the own centre and
                // with one more.
                let seconds = assigner.runners_up(&assignment);
                let place = numbers.several(q, 4.0);
                let more = Points::new([assignment.centres().values(), &place[..]].concat(), q).unwrap();
                let with: Vec<(usize, f64)> = full
                    .select_exhaustively(&more)
                    .iter()
                    .enumerate()
                    .filter(|(i, c)| c.value < assignment.assigned[*i].value)
                    .map(|(i, c)| (i, c.value))
                    .collect();
                let won: Vec<(usize, f64)> =
                    assigner.won(&assignment, &place).iter().map(|w| (w.object, w.value)).collect();
                prop_assert_eq!(won, with);
                for (i, second) in seconds.iter().enumerate() {
                    let others: Vec<usize> =
                        (0..k).filter(|c| *c != assignment.assigned[i].centre as usize).collect();
                    let without = full.select_exhaustively(&assignment.centres().subset(&others));
                    prop_assert_eq!(*second, without[i].value);
                }
            }
        }
    }
}
