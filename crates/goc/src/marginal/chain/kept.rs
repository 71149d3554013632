//! Checkpoints of chains, so that an interrupted run resumes with byte-identical results.
//!
//! A chain is saved at its start and at regular intervals. Its state ([`Chain::state`]), with the
//! position of its random numbers, replaces the previous one, and what the draws contributed since
//! then is appended. Everything else in a chain follows from its state through the operations that
//! end every sweep ([`Chain::rebuild`]), to the last bit.
//!
//! Saving destructures every field of its source: a new field does not compile until it is decided
//! here whether to save it.

use std::collections::{BTreeSet, VecDeque};

use rand_chacha::rand_core::SeedableRng;

use super::{Chain, Data, FIELD};
use crate::Stream;
use crate::marginal::draws::Draw;
use crate::marginal::prior::Cohesion;
use crate::marginal::shape::Shape;
use crate::marginal::summary::Tally;
use crate::marginal::{MarginalError, Trace};

/// The minimum number of sweeps between checkpoints, and the approximate maximum number of
/// checkpoints.
const LEAST: usize = 10;
const MOST: usize = 50;

/// A saved part of a chain, as numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// Real numbers; they must be restored to the last bit.
    pub reals: Vec<f64>,
    /// Integers.
    pub counts: Vec<u64>,
}

/// Storage for finished parts of chains.
pub trait KeepStretches: Sync {
    /// The part of this name, if it was finished.
    fn kept(&self, name: &str) -> Result<Option<Stretch>, String>;

    /// Stores a part, replacing any of the same name, atomically: completely or not at all.
    fn keep(&self, name: &str, stretch: &Stretch) -> Result<(), String>;

    /// The message for a stored part that is not valid.
    fn damaged(&self, name: &str) -> String;
}

/// Reads the contents of a part in the order in which they were written.
struct Taken {
    reals: VecDeque<f64>,
    counts: VecDeque<u64>,
}

impl Taken {
    fn real(&mut self) -> Option<f64> {
        self.reals.pop_front()
    }

    fn reals(&mut self, count: usize) -> Option<Vec<f64>> {
        (0..count).map(|_| self.real()).collect()
    }

    fn count(&mut self) -> Option<usize> {
        self.counts.pop_front()?.try_into().ok()
    }

    /// Counts below a bound, or [`FIELD`] where that is allowed.
    fn below(&mut self, bound: usize, field: bool) -> Option<u32> {
        let count = self.count()?;
        (count < bound || (field && count == FIELD as usize)).then_some(count as u32)
    }
}

impl<'a> Chain<'a> {
    /// Everything that the next sweep depends on.
    fn state(&self, to: &mut Stretch) {
        let Self {
            data: _,
            shape: Shape { q: _, nu, psi, triangle: _, base: _, constants: _ },
            labels,
            spots: _, // which are kept as candidates
            places: _,
            reader,
            clusters: _,
            cohesion: Cohesion { alpha, singleton_weight, power },
            constants: _,
            in_field: _,
            field_shares,
            level,
            field_sums: _,
            scale,
            joins: _,
            rng,
            moves,
            steps,
            entropy,
            // Recomputed for every object, or by `rebuild`.
            extents: _,
            screening: _,
            batch: _,
            order,
            near: _,
            bounds: _,
            listed: _,
            sums: _,
            alone: _,
        } = self;
        to.reals.extend([*alpha, *singleton_weight, *power, *scale, *entropy]);
        to.reals.extend(psi);
        to.reals.extend(field_shares);
        let position = rng.get_word_pos();
        to.counts.extend([position as u64, (position >> 64) as u64, rng.get_stream()]);
        to.counts.extend(rng.get_seed().map(u64::from));
        let few = [*nu, reader.law, *level, moves[0], moves[1], *steps];
        to.counts.extend(few.iter().chain(order).map(|count| *count as u64));
        to.counts.extend(labels.iter().map(|label| u64::from(*label)));
        to.counts.extend((0..labels.len()).map(|i| u64::from(self.choice(i))));
    }

    /// Restores the chain from this state; `None` if the state is invalid.
    fn of_state(data: &'a Data<'a>, shape: &Shape, from: &mut Taken) -> Option<Self> {
        let n = data.blocks.objects();
        let [alpha, singleton_weight, power, scale, entropy] = from.reals(5)?.try_into().ok()?;
        let psi = from.reals(shape.psi.len())?;
        let field_shares = from.reals(data.field.first().len())?;
        let position = u128::from(from.counts.pop_front()?) | u128::from(from.counts.pop_front()?) << 64;
        let (number, mut seed) = (from.counts.pop_front()?, [0; 32]);
        for byte in &mut seed {
            *byte = from.counts.pop_front()?.try_into().ok()?;
        }
        let mut rng = Stream::from_seed(seed);
        rng.set_stream(number);
        rng.set_word_pos(position);
        let (nu, law, level) = (from.count()?, from.count()?, from.count()?);
        let moves = [from.count()?, from.count()?];
        let steps = from.count()?;
        let batches = n.div_ceil(if n < super::MANY { 1 } else { super::BATCH });
        let order: Vec<usize> =
            (0..batches).map(|_| from.below(batches, false).map(|at| at as usize)).collect::<Option<_>>()?;
        let labels: Vec<u32> = (0..n).map(|_| from.below(n, true)).collect::<Option<_>>()?;
        let choice: Vec<u32> =
            (0..n).map(|i| from.below(data.blocks.candidates(i), false)).collect::<Option<_>>()?;
        let used: BTreeSet<u32> = labels.iter().copied().filter(|label| *label != FIELD).collect();
        let cohesion = Cohesion { alpha, singleton_weight, power };
        let prior = data.prior.constants(cohesion);
        let known = law < data.ln_laws.len() && level < data.field.levels().len() && !prior.is_empty();
        // Every label is used: no cluster is empty.
        let likeness = data.likenesses.iter().find(|likeness| likeness.nu == nu)?;
        if !known || !used.iter().copied().eq(0..used.len() as u32) {
            return None;
        }
        let shape = Shape::new(likeness, psi, shape.base.clone());
        let mut chain = Self::new(data, shape, labels, &choice, rng);
        chain.cohesion = cohesion;
        chain.reader.law = law;
        (chain.field_shares, chain.level, chain.scale) = (field_shares, level, scale);
        (chain.moves, chain.steps, chain.order) = (moves, steps, order);
        chain.entropy = entropy;
        chain.rebuild();
        Some(chain)
    }
}

impl Trace {
    /// The sums over all draws so far.
    fn sums(&self, to: &mut Stretch) {
        let Self {
            draws: _, // which are kept one by one, as their densities
            ln_densities: _,
            moves: _, // the chain's
            with_field,
            levels,
            field_shares,
            metric,
            ln_nu,
            alpha,
            singleton_weight,
            power,
            laws,
        } = self;
        let numbers = [ln_nu, alpha, singleton_weight, power];
        to.reals.extend(field_shares.iter().chain(metric).chain(numbers).chain(laws));
        to.counts.push(*with_field as u64);
        to.counts.extend(levels.iter().map(|times| *times as u64));
    }

    /// An empty trace with the same lengths.
    fn without_draws(&self) -> Self {
        let lengths = [self.levels.len(), self.field_shares.len(), self.metric.len(), self.laws.len()];
        Self::new(lengths, self.draws.capacity())
    }

    fn take_sums(&mut self, from: &mut Taken) -> Option<()> {
        self.field_shares = from.reals(self.field_shares.len())?;
        self.metric = from.reals(self.metric.len())?;
        (self.ln_nu, self.alpha) = (from.real()?, from.real()?);
        (self.singleton_weight, self.power) = (from.real()?, from.real()?);
        self.laws = from.reals(self.laws.len())?;
        self.with_field = from.count()?;
        for times in &mut self.levels {
            *times = from.count()?;
        }
        Some(())
    }
}

/// Writes a draw: labels, where the field's label is one more than the largest of the others.
fn put_draw(draw: &Draw, to: &mut Stretch) {
    to.counts.push(draw.clusters() as u64);
    to.counts.extend(draw.labels().map(u64::from));
}

fn take_draw(n: usize, from: &mut Taken) -> Option<Draw> {
    let clusters = from.count().filter(|clusters| *clusters <= n)?;
    let labels: Vec<u32> = (0..n).map(|_| from.below(clusters + 1, false)).collect::<Option<_>>()?;
    let field: Vec<bool> = labels.iter().map(|label| *label as usize == clusters).collect();
    let draw = Draw::with_field(&labels, &field);
    (draw.clusters() == clusters).then_some(draw)
}

/// Storage, and whether the chains were told to end early.
type Kept<'a> = (&'a dyn KeepStretches, &'a (dyn Fn() -> bool + Sync));

/// Saves one chain, or does nothing.
#[derive(Clone, Copy)]
pub(in crate::marginal) struct Keeper<'a> {
    /// The storage, and whether the chains were told to end early: that is not saved.
    keep: Option<Kept<'a>>,
    data: &'a Data<'a>,
    shape: &'a Shape,
    /// The index of the chain.
    chain: usize,
    /// The number of sweeps between checkpoints.
    every: usize,
}

impl<'a> Keeper<'a> {
    /// For a chain with this many sweeps.
    pub(in crate::marginal) fn new(
        keep: Option<Kept<'a>>,
        data: &'a Data<'a>,
        shape: &'a Shape,
        chain: usize,
        sweeps: usize,
    ) -> Self {
        Self { keep, data, shape, chain, every: LEAST.max(sweeps / MOST) }
    }

    /// Reads what was stored under this name, if it exists.
    fn kept<T>(
        &self,
        name: &str,
        read: impl FnOnce(&mut Taken) -> Option<T>,
    ) -> Result<Option<T>, MarginalError> {
        let (Some((keep, _)), name) = (self.keep, self.name(name)) else { return Ok(None) };
        let Some(kept) = keep.kept(&name).map_err(MarginalError::Kept)? else { return Ok(None) };
        let mut from = Taken { reals: kept.reals.into(), counts: kept.counts.into() };
        match read(&mut from).filter(|_| from.reals.is_empty() && from.counts.is_empty()) {
            Some(read) => Ok(Some(read)),
            None => Err(MarginalError::Kept(keep.damaged(&name))),
        }
    }

    fn keep(&self, name: &str, write: impl FnOnce(&mut Stretch)) -> Result<(), MarginalError> {
        let Some((keep, _)) = self.keep.filter(|(_, ended)| !ended()) else { return Ok(()) };
        let mut stretch = Stretch::default();
        write(&mut stretch);
        keep.keep(&self.name(name), &stretch).map_err(MarginalError::Kept)
    }

    fn name(&self, of: &str) -> String {
        format!("chain-{}.{of}", self.chain)
    }

    /// The initial state of the chain and its log density: restored, or computed and saved now.
    pub(in crate::marginal) fn begun(
        &self,
        make: impl FnOnce() -> Result<(f64, Chain<'a>), MarginalError>,
    ) -> Result<(f64, Chain<'a>), MarginalError> {
        let read = |from: &mut Taken| Some((from.real()?, Chain::of_state(self.data, self.shape, from)?));
        if let Some(begun) = self.kept("begun", read)? {
            return Ok(begun);
        }
        let begun = make()?;
        self.keep("begun", |to| {
            to.reals.push(begun.0);
            begun.1.state(to);
        })?;
        Ok(begun)
    }

    /// Whether a chain with `of` sweeps is saved after `sweeps` sweeps.
    fn is_time(&self, sweeps: usize, of: usize) -> bool {
        self.keep.is_some() && (sweeps.is_multiple_of(self.every) || sweeps == of)
    }

    /// The number of burn-in sweeps already done, and the sums collected in them; restores `chain`
    /// to its state after them.
    pub(in crate::marginal) fn burnt(
        &self,
        chain: &mut Chain<'a>,
    ) -> Result<Option<(usize, [f64; 2])>, MarginalError> {
        let read = |from: &mut Taken| {
            let made = (from.count()?, from.reals(2)?.try_into().ok()?);
            Some((made, Chain::of_state(self.data, self.shape, from)?))
        };
        Ok(self.kept("burnt", read)?.map(|(made, kept)| {
            *chain = kept;
            made
        }))
    }

    /// Saves the chain if a checkpoint is due after this many burn-in sweeps.
    pub(in crate::marginal) fn keep_burnt(
        &self,
        chain: &Chain<'_>,
        sweeps: usize,
        of: usize,
        sums: [f64; 2],
    ) -> Result<(), MarginalError> {
        if !self.is_time(sweeps, of) {
            return Ok(());
        }
        self.keep("burnt", |to| {
            to.counts.push(sweeps as u64);
            to.reals.extend(sums);
            chain.state(to);
        })
    }

    /// The number of draws already stored; restores `chain`, `trace` and `tally` to their state
    /// after them.
    pub(in crate::marginal) fn walked(
        &self,
        chain: &mut Chain<'a>,
        trace: &mut Trace,
        tally: &Tally,
        offsets: &[usize],
    ) -> Result<usize, MarginalError> {
        let mut sums = trace.without_draws();
        let read = |from: &mut Taken| {
            let draws = from.count()?;
            sums.take_sums(from)?;
            Some((draws, Chain::of_state(self.data, self.shape, from)?))
        };
        let Some((draws, kept)) = self.kept("drawn", read)? else { return Ok(0) };
        *trace = sums;
        let n = chain.labels.len();
        while trace.draws.len() < draws {
            let from = trace.draws.len();
            let read = |from: &mut Taken| {
                let mut own = Vec::new();
                for _ in 0..from.count()? {
                    let (draw, ln_density) = (take_draw(n, from)?, from.real()?);
                    let choice = |i: usize| match draw.in_field(i) {
                        true => Some(FIELD),
                        false => from.below(offsets[i + 1] - offsets[i], false),
                    };
                    let choices: Vec<u32> = (0..n).map(choice).collect::<Option<_>>()?;
                    own.push((draw, ln_density, choices));
                }
                (!own.is_empty()).then_some(own)
            };
            let name = format!("draws-{from}");
            let Some(own) = self.kept(&name, read)? else {
                let damaged = self.keep.map(|(keep, _)| keep.damaged(&self.name(&name)));
                return Err(MarginalError::Kept(damaged.unwrap_or_default()));
            };
            for (draw, ln_density, choices) in own {
                trace.draws.push(draw);
                trace.ln_densities.push(ln_density);
                for (from, choice) in offsets.iter().zip(&choices).filter(|(_, choice)| **choice != FIELD) {
                    tally.add(from + *choice as usize);
                }
            }
        }
        *chain = kept;
        Ok(draws)
    }

    /// Records the candidates of the last draw, and saves the chain if a checkpoint is due.
    /// `stretch` holds the candidates of the draws since the last checkpoint.
    pub(in crate::marginal) fn keep_walked(
        &self,
        chain: &Chain<'_>,
        trace: &Trace,
        stretch: &mut Vec<Vec<u32>>,
        of: usize,
    ) -> Result<(), MarginalError> {
        if self.keep.is_none() {
            return Ok(());
        }
        let grouped = (0..chain.labels.len()).filter(|i| chain.labels[*i] != FIELD);
        stretch.push(grouped.map(|i| chain.choice(i)).collect());
        let draws = trace.draws.len();
        if !self.is_time(draws, of) {
            return Ok(());
        }
        let from = draws - stretch.len();
        self.keep(&format!("draws-{from}"), |to| {
            to.counts.push(stretch.len() as u64);
            for ((draw, ln_density), choices) in
                trace.draws[from..].iter().zip(&trace.ln_densities[from..]).zip(stretch.iter())
            {
                put_draw(draw, to);
                to.reals.push(*ln_density);
                to.counts.extend(choices.iter().map(|choice| u64::from(*choice)));
            }
        })?;
        stretch.clear();
        // Written after its draws, so that they exist whenever it does.
        self.keep("drawn", |to| {
            to.counts.push(draws as u64);
            trace.sums(to);
            chain.state(to);
        })
    }
}
