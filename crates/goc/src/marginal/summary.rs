//! Summaries of all draws.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::agreement::agreement;
use super::co_clustering::CoClustering;
use super::consensus::estimate;
use super::diagnostics::Diagnostics;
use super::draws::{Draw, Members};
use super::smooth::Smooth;
use super::{Posterior, Trace};
use crate::confidence::noise;
use crate::objects::Objects;
use crate::{Partition, Points};

/// An object is in no group if its probability of being in the field or alone exceeds this. Chosen
/// on mocks with a third field stars, seeds 411 to 414, and two realistic skies, seeds 1 and 2: AMI
/// 0.763 and 0.663 with 0.6, 0.765 and 0.665 with this value, 0.765 and 0.664 with 0.8.
const IN_NO_GROUP: f64 = 0.7;

/// If there is a field, a group of at most this many objects is dropped if its recurrence is below
/// the threshold: its few members appear as a group in some draws, and with other objects in the
/// next. Chosen on synthetic sets, with kernels of one fixed width (1.25): moving groups in six
/// features (precision of "in a group" 0.79 without, 0.86 with it, AMI 0.708 and 0.710), and mocks
/// with a third field stars, seeds 411 to 414 (0.84 and 0.87, AMI 0.763 and 0.764).
const FEW: usize = 5;
const COMES_BACK: f64 = 0.4;

/// How often each candidate was drawn, over all chains. One byte each, plus a list of those that
/// passed 255: integer additions give the same result in any order of threads.
pub(super) struct Tally {
    bytes: Vec<AtomicU8>,
    /// Candidates whose byte has wrapped around, once for every time.
    passed: Mutex<Vec<usize>>,
}

impl Tally {
    pub(super) fn new(candidates: usize) -> Self {
        Self { bytes: (0..candidates).map(|_| AtomicU8::new(0)).collect(), passed: Mutex::default() }
    }

    pub(super) fn add(&self, at: usize) {
        if self.bytes[at].fetch_add(1, Relaxed) == u8::MAX {
            self.passed.lock().unwrap_or_else(PoisonError::into_inner).push(at);
        }
    }

    fn counts(self) -> Vec<f64> {
        let mut passed = self.passed.into_inner().unwrap_or_else(PoisonError::into_inner);
        passed.sort_unstable();
        let mut passed = passed.into_iter().peekable();
        let counts = self.bytes.into_iter().enumerate().map(|(at, byte)| {
            let mut count = u64::from(byte.into_inner());
            while passed.next_if_eq(&at).is_some() {
                count += 256;
            }
            count
        });
        counts.map(|count| count as f64).collect()
    }
}

/// What is needed to compute the probabilities of candidates.
pub(super) struct Counts<'a> {
    /// How often each candidate was drawn in a cluster.
    pub(super) tally: Tally,
    /// The field's densities by level, if there may be a field.
    pub(super) smooth: Vec<Smooth>,
    /// The weights of an object's candidates.
    pub(super) weights: &'a Weigh<'a>,
}

/// Writes the weights of an object's candidates to the second list; the first is scratch space.
type Weigh<'a> = dyn Fn(usize, &mut Vec<f64>, &mut Vec<f64>) + Sync + 'a;

impl Counts<'_> {
    /// The share of draws in which each candidate was the object's position. For draws in the
    /// field, it is computed from the mean shares over the draws and the `level` that was drawn
    /// most often.
    fn shares(self, objects: &dyn Objects, field_shares: &[f64], level: usize, draws: f64) -> Vec<f64> {
        let mut shares = self.tally.counts();
        let offsets = objects.offsets();
        shares.iter_mut().for_each(|share| *share /= draws);
        let Some(smooth) = self.smooth.get(level) else { return shares };
        let of = |(values, spare, weights): &mut (Vec<f64>, Vec<f64>, Vec<f64>), i: usize| {
            let in_field = 1.0 - shares[offsets[i]..offsets[i + 1]].iter().sum::<f64>();
            if in_field < 0.5 / draws {
                return Vec::new();
            }
            objects.load(i, values);
            (self.weights)(i, spare, weights);
            smooth.all_densities(i, values, field_shares, spare);
            weights.iter_mut().zip(&*spare).for_each(|(weight, density)| *weight *= density);
            let total: f64 = weights.iter().sum();
            weights.iter().map(|w| in_field * w / total).collect()
        };
        let more: Vec<Vec<f64>> =
            (0..objects.objects()).into_par_iter().map_init(Default::default, of).collect();
        for (i, more) in more.iter().enumerate() {
            shares[offsets[i]..].iter_mut().zip(more).for_each(|(share, more)| *share += more);
        }
        shares
    }
}

pub(super) fn summarise(
    objects: &dyn Objects,
    mut traces: Vec<Trace>,
    counts: Counts<'_>,
    merge_cost: f64,
) -> Posterior {
    let (n, q) = (objects.objects(), objects.features());
    // Decided for all draws together: single draws vary if the evidence is weak.
    let with_field: usize = traces.iter().map(|trace| trace.with_field).sum();
    let any = |draw: &Draw| (0..n).any(|i| draw.in_field(i));
    let present: usize = traces.iter().map(|trace| trace.draws.iter().filter(|draw| any(draw)).count()).sum();
    let has_field = 2 * with_field > traces.iter().map(|trace| trace.draws.len()).sum();
    if 2 * with_field < present {
        for trace in &mut traces {
            let draws = std::mem::take(&mut trace.draws);
            trace.draws = draws.into_iter().map(Draw::with_field_as_cluster).collect();
        }
    }
    let (diagnostics, together) = co_clustering(&mut traces, n);
    let draws = together.draws();
    let mut metric = vec![0.0; q * q];
    for trace in &traces {
        for (sum, psi) in metric.iter_mut().zip(&trace.metric) {
            *sum += psi;
        }
    }
    let traces_ln_nu: f64 = traces.iter().map(|trace| trace.ln_nu).sum();
    let alpha: f64 = traces.iter().map(|trace| trace.alpha).sum();
    let singleton_weight: f64 = traces.iter().map(|trace| trace.singleton_weight).sum();
    let power: f64 = traces.iter().map(|trace| trace.power).sum();
    let mut field_shares = vec![0.0; traces.first().map_or(0, |trace| trace.field_shares.len())];
    for trace in &traces {
        field_shares.iter_mut().zip(&trace.field_shares).for_each(|(sum, share)| *sum += share);
    }
    let mut levels = vec![0; traces.first().map_or(0, |trace| trace.levels.len())];
    for trace in &traces {
        levels.iter_mut().zip(&trace.levels).for_each(|(sum, times)| *sum += times);
    }
    let level =
        levels.iter().enumerate().rev().max_by_key(|(_, times)| **times).map_or(0, |(level, _)| level);
    let total = draws.len() as f64;
    let nu = libm::exp(traces_ln_nu / total).round() as usize;
    for sum in &mut metric {
        *sum *= (nu - q - 1) as f64 / total;
    }
    let share = |times: Vec<u32>| -> Vec<f64> { times.iter().map(|t| f64::from(*t) / total).collect() };
    let (mut in_field, mut without) = (vec![0; n], vec![0; n]);
    for draw in draws {
        in_field.iter_mut().enumerate().for_each(|(i, times)| *times += u32::from(draw.in_field(i)));
        without.iter_mut().zip(draw.without_company()).for_each(|(times, is)| *times += u32::from(is));
    }
    let (field, without) = (share(in_field), share(without));
    let alone: Vec<f64> = without.iter().zip(&field).map(|(without, field)| without - field).collect();
    // If there is no field, an object alone is a cluster of one.
    let apart: Vec<bool> = without.iter().map(|p| has_field && *p > IN_NO_GROUP).collect();
    let (partition, in_no_group) = match estimate(&together, merge_cost, &apart) {
        partition if has_field => {
            let fleeting = fleeting(&partition, draws);
            let apart = apart.iter().zip(&fleeting).map(|(apart, fleeting)| *apart || *fleeting).collect();
            let in_no_group = noise::without_single(&partition, apart);
            (noise::set_apart(&partition, &in_no_group), in_no_group)
        }
        partition => (partition, Vec::new()),
    };
    let mut k: Vec<(usize, f64)> = Vec::new();
    let mut numbers: Vec<usize> = draws.iter().map(Draw::clusters).collect();
    numbers.sort_unstable();
    for number in numbers {
        match k.last_mut() {
            Some((last, share)) if *last == number => *share += 1.0 / total,
            _ => k.push((number, 1.0 / total)),
        }
    }
    let (membership, runner_up) = memberships(&partition, &together, &without, &in_no_group);
    let shares = counts.shares(objects, &field_shares, level, total);
    let (mut places, mut values) = (Vec::with_capacity(n * q), Vec::new());
    for (i, from) in objects.offsets()[..n].iter().enumerate() {
        objects.load(i, &mut values);
        let m = objects.count(i);
        let own = &shares[*from..from + m];
        places.extend(
            values.chunks_exact(m).map(|column| column.iter().zip(own).map(|(x, p)| x * p).sum::<f64>()),
        );
    }
    Posterior {
        recurrence: recurrence(&partition, draws),
        in_no_group,
        withheld: Vec::new(),
        membership,
        runner_up,
        partition,
        alone,
        field,
        together,
        k,
        candidates: shares,
        places: Points::trusted(places, q),
        diagnostics,
        metric,
        nu,
        alpha: libm::exp(alpha / total),
        singleton_weight: libm::exp(singleton_weight / total),
        power: power / total,
        errors: None,
        partial: false,
    }
}

/// Whether the chains agree, and the co-clustering of all of them. Takes the draws out of the
/// traces.
fn co_clustering(traces: &mut [Trace], n: usize) -> (Diagnostics, CoClustering) {
    let members: Vec<Vec<Members>> =
        traces.iter().map(|trace| trace.draws.par_iter().map(Members::of).collect()).collect();
    let chains: Vec<Vec<(&Draw, &Members)>> = traces
        .iter()
        .zip(&members)
        .map(|(trace, members)| trace.draws.iter().zip(members).collect())
        .collect();
    let diagnostics = Diagnostics::new(traces, agreement(&chains, n));
    let draws = traces.iter_mut().flat_map(|trace| std::mem::take(&mut trace.draws)).collect();
    (diagnostics, CoClustering::new(draws, members.into_iter().flatten().collect(), n))
}

/// How well each cluster is recovered: the mean over the draws of its Jaccard similarity
/// (intersection over union) to the most similar cluster of the draw.
pub(super) fn recurrence(partition: &Partition, draws: &[Draw]) -> Vec<f64> {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); partition.k()];
    for (i, &label) in partition.labels().iter().enumerate() {
        members[label as usize].push(i);
    }
    let of_draw = |draw: &Draw| -> Vec<f64> {
        let sizes = draw.sizes();
        let mut shared = vec![0_usize; sizes.len()];
        let best = |members: &Vec<usize>| {
            let labels = || members.iter().filter(|i| !draw.in_field(**i)).map(|i| draw.label(*i) as usize);
            labels().for_each(|label| shared[label] += 1);
            let jaccard = |l: usize| shared[l] as f64 / (members.len() + sizes[l] - shared[l]) as f64;
            let best = labels().map(jaccard).fold(0.0, f64::max);
            labels().for_each(|label| shared[label] = 0);
            best
        };
        members.iter().map(best).collect()
    };
    let all: Vec<Vec<f64>> = draws.par_iter().map(of_draw).collect();
    let mean = |k: usize| all.iter().map(|of| of[k]).sum::<f64>() / draws.len() as f64;
    (0..partition.k()).map(mean).collect()
}

/// The objects in groups that do not recur: small, and seldom drawn twice.
fn fleeting(partition: &Partition, draws: &[Draw]) -> Vec<bool> {
    let (back, sizes) = (recurrence(partition, draws), partition.sizes());
    let of = |label: &u32| sizes[*label as usize] <= FEW && back[*label as usize] < COMES_BACK;
    partition.labels().iter().map(of).collect()
}

/// The certainty of each label, and the second-best cluster.
pub(super) fn memberships(
    partition: &Partition,
    together: &CoClustering,
    without_company: &[f64],
    in_no_group: &[bool],
) -> (Vec<f64>, Vec<Option<(u32, f64)>>) {
    let (labels, sizes) = (partition.labels(), partition.sizes());
    let of = |(i, sums): (usize, Vec<(u32, f64)>)| {
        let (mut own, mut next): (f64, Option<(u32, f64)>) = (0.0, None);
        for (label, sum) in sums {
            let size = sizes[label as usize];
            if label == labels[i] {
                own = sum / (size.max(2) - 1) as f64;
            } else if next.is_none_or(|(_, best)| sum / size as f64 > best) {
                next = Some((label, sum / size as f64));
            }
        }
        (if sizes[labels[i] as usize] == 1 { without_company[i] } else { own }, next)
    };
    together.with_clusters(partition, in_no_group).into_iter().enumerate().map(of).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_comes_back_by_its_most_alike_of_every_draw() {
        let partition = Partition::from_labels(&[0, 0, 0, 1, 1, 2]);
        let same = Draw::new(&[0, 0, 0, 1, 1, 2]);
        assert_eq!(recurrence(&partition, std::slice::from_ref(&same)), [1.0, 1.0, 1.0]);
        // The first group in two parts, the second with another object, the third in the field.
        let other = Draw::with_field(&[0, 0, 1, 2, 2, 2], &[false, false, false, false, false, true]);
        let back = recurrence(&partition, std::slice::from_ref(&other));
        assert_eq!(back, [2.0 / 3.0, 1.0, 0.0]);
        let twice = recurrence(&partition, &[same, other]);
        assert!((twice[0] - 5.0 / 6.0).abs() < 1e-12 && twice[1..] == [1.0, 0.5], "{twice:?}");
    }
}
