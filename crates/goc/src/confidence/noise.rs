//! Noise: which objects are in no group.
//!
//! Two ways to know, and what they have in common:
//!
//! - by the posterior of the marginal mixture: an object's *solitude* is the expected value of one over the size of its cluster,
//!   `E[1 / |C_i|]`: 1 for an object that is always alone, 1/2 for one of a pair, small for a member of a large group.
//!   Unlike the probability of being alone it sees that a stray object is in passing company only. Where objects crowd, company is had by chance, and
//!   the mixture, which knows of a wide and smooth density of places only, does not see that: the odds are raised there ([`in_crowds`]). An
//!   object is noise above [`SOLITUDE`].
//! - by significance: the members of a cluster that is not significant ([`super::significance`]) are noise, and so is
//!   a member of a significant one whose own log odds ([`super::evidence`]) are below [`ODDS`].
//!
//! One that would be left alone in its cluster is noise as well: one object is no group.
//!
//! Cost: O(n) for each draw, and that of the background density in [`super::evidence`].

use std::collections::BTreeMap;

use super::evidence::ln_background;
use super::significance::Verdict;
use crate::Partition;
use crate::marginal::{CoClustering, Draw, Marginal, Posterior};
use crate::objects::Objects;

/// Solitude above which an object is noise. Chosen on mock Milky Ways with a third field stars, seeds 201 to 230 (docs/confidence.md).
pub const SOLITUDE: f64 = 0.435;

/// The power of the crowding in [`in_crowds`], chosen on the same sets. It is small because the groups are part of the crowd.
const CROWDING: f64 = 0.25;

/// Log odds below which a member of a significant cluster is noise: even odds, not tuned on any set.
pub const ODDS: f64 = 0.0;

/// The marginal mixture told that many of `n` objects may be in no group: `alpha` a thirtieth of them, the singleton weight 8 and power 1/2, chosen on the
/// same sets. Left to draw them, it takes too many strays into groups, as the density of places that it compares with is a wide and
/// smooth one.
pub fn expecting(model: Marginal, n: usize) -> Marginal {
    model.alpha(Some((n as f64 / 30.0).max(1.0))).singleton_weight(Some(8.0)).power(Some(0.5))
}

/// How alone each object is: what its draws say, with crowds taken into account. `objects` are those that the mixture ran
/// on, `penalty_strength` is the mixture's.
pub fn solitude(objects: &dyn Objects, found: &Posterior, penalty_strength: f64) -> Vec<f64> {
    in_crowds(&in_draws(&found.draws), objects, found, penalty_strength)
}

/// `E[1 / |C_i|]` over drawn labels, each of the same objects.
///
/// ```
/// use goc::confidence::noise::in_draws;
/// use goc::marginal::Draw;
/// let draws = [Draw::new(&[0, 0, 1, 2]), Draw::new(&[0, 0, 0, 0])];
/// assert_eq!(in_draws(&draws), [0.375, 0.375, 0.625, 0.625]);
/// ```
pub fn in_draws(draws: &[Draw]) -> Vec<f64> {
    let n = draws.first().map_or(0, Draw::len);
    let mut sums = vec![0.0; n];
    for draw in draws {
        let sizes = draw.sizes();
        for (sum, label) in sums.iter_mut().zip(draw.labels()) {
            *sum += 1.0 / sizes[label as usize] as f64;
        }
    }
    sums.into_iter().map(|sum| sum / draws.len() as f64).collect()
}

/// The solitude of objects in crowds: its odds times the fourth root of how much denser the objects lie around each (a kernel density of all others) than
/// the mixture expects. `objects` are those that it ran on. Where a feature is the same for all objects there is no density, and nothing is changed.
pub fn in_crowds(
    solitude: &[f64],
    objects: &dyn Objects,
    found: &Posterior,
    penalty_strength: f64,
) -> Vec<f64> {
    let Some(dense) = ln_background(objects, penalty_strength) else { return solitude.to_vec() };
    let corrected = |((s, dense), base): ((&f64, f64), &f64)| {
        let factor = libm::exp(CROWDING * (dense - libm::log(*base)));
        // Too far out for numbers to tell.
        if factor.is_finite() { s * factor / (s * factor + (1.0 - s)) } else { *s }
    };
    solitude.iter().zip(dense).zip(&found.base).map(corrected).collect()
}

/// Noise by solitude above `most`, and the partition of the others. One that is not noise but alone in its cluster has company in the
/// draws, only not always the same: it joins the cluster that it was together with most often. If there is none it is noise after all.
pub fn by_solitude(
    partition: &Partition,
    solitude: &[f64],
    most: f64,
    together: &CoClustering,
) -> (Partition, Vec<bool>) {
    let noise: Vec<bool> = solitude.iter().map(|s| *s > most).collect();
    let mut labels = partition.labels().to_vec();
    let mut members = vec![0_usize; partition.k()];
    for (&label, _) in labels.iter().zip(&noise).filter(|(_, noise)| !**noise) {
        members[label as usize] += 1;
    }
    for i in 0..labels.len() {
        if noise[i] || members[labels[i] as usize] > 1 {
            continue;
        }
        let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
        for (j, p) in together.partners(i).filter(|(j, _)| !noise[*j]) {
            *sums.entry(labels[j]).or_default() += p;
        }
        let mean = |(label, sum): (u32, f64)| (label, sum / members[label as usize] as f64);
        // The lower label on a tie.
        let best = sums.into_iter().map(mean).reduce(|a, b| if b.1 > a.1 { b } else { a });
        if let Some((label, _)) = best {
            members[labels[i] as usize] -= 1;
            members[label as usize] += 1;
            labels[i] = label;
        }
    }
    let partition = Partition::from_labels(&labels);
    let noise = without_single(&partition, noise);
    (partition, noise)
}

/// Noise by significance at a false-discovery rate, and by log odds below `least`.
pub fn by_significance(partition: &Partition, verdict: &Verdict, rate: f64, least: f64) -> Vec<bool> {
    let significant = verdict.significant(rate);
    let noise = partition
        .labels()
        .iter()
        .zip(&verdict.evidence.objects)
        .map(|(&label, odds)| !significant[label as usize] || *odds < least)
        .collect();
    without_single(partition, noise)
}

/// Objects that are noise by either; one that is left alone is noise too.
pub fn either(partition: &Partition, a: &[bool], b: &[bool]) -> Vec<bool> {
    without_single(partition, a.iter().zip(b).map(|(a, b)| *a || *b).collect())
}

/// Whoever is left alone in a cluster is noise.
fn without_single(partition: &Partition, mut noise: Vec<bool>) -> Vec<bool> {
    let mut left = vec![0_usize; partition.k()];
    for (&label, noise) in partition.labels().iter().zip(&noise) {
        left[label as usize] += usize::from(!noise);
    }
    for (&label, noise) in partition.labels().iter().zip(&mut noise) {
        *noise |= left[label as usize] < 2;
    }
    noise
}

/// The partition with every noise object in a cluster of its own, behind the others.
pub fn set_apart(partition: &Partition, noise: &[bool]) -> Partition {
    let k = partition.k();
    let labels: Vec<usize> = partition
        .labels()
        .iter()
        .zip(noise)
        .enumerate()
        .map(|(i, (&label, noise))| if *noise { k + i } else { label as usize })
        .collect();
    Partition::from_labels(&labels)
}

/// How sure each label is when noise is set apart: the mean probability of being together with the others of the cluster as it is left, that of
/// being alone for noise; and the next best cluster by its number now, none where that is gone or the object's own. `partition` is what
/// [`set_apart`] left of the posterior's.
pub fn memberships(
    found: &Posterior,
    partition: &Partition,
    noise: &[bool],
) -> (Vec<f64>, Vec<Option<(u32, f64)>>) {
    let (n, labels) = (partition.len(), partition.labels());
    let mut members = vec![Vec::new(); partition.k()];
    for (i, &label) in labels.iter().enumerate() {
        members[label as usize].push(i);
    }
    let sure = |i: usize| {
        let mates = members[labels[i] as usize].iter().filter(|&&j| j != i);
        let sum: f64 = mates.clone().map(|&j| found.together.between(i, j)).sum();
        if noise[i] { found.alone[i] } else { sum / mates.count() as f64 }
    };
    let mut now = vec![None; found.partition.k()];
    for i in (0..n).filter(|&i| !noise[i]) {
        now[found.partition.labels()[i] as usize] = Some(labels[i]);
    }
    let renamed = |(next, own): (&Option<(u32, f64)>, &u32)| {
        next.and_then(|(label, p)| Some((now[label as usize]?, p))).filter(|(label, _)| label != own)
    };
    ((0..n).map(sure).collect(), found.runner_up.iter().zip(labels).map(renamed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::PENALTY_STRENGTH;
    use crate::confidence::Significance;
    use crate::{Candidates, Points};
    use std::convert::Infallible;

    #[test]
    fn whoever_is_left_alone_is_noise_too() {
        let p = Partition::from_labels(&[0, 0, 0, 1, 1, 2]);
        // The fifth was together with the first two and the fourth, the sixth with none.
        let draws =
            [[0, 0, 0, 1, 0, 2], [0, 0, 1, 2, 2, 3], [0, 0, 0, 1, 1, 2]].map(|labels| Draw::new(&labels));
        let together = CoClustering::of_draws(&draws, 6);
        let solitude = [0.1, 0.2, 0.9, 0.9, 0.1, 0.1];
        let (regrouped, noise) = by_solitude(&p, &solitude, 0.4, &together);
        assert_eq!(noise, [false, false, true, true, false, true]);
        assert_eq!(set_apart(&regrouped, &noise).labels(), [0, 0, 1, 2, 0, 3]);
        let noise = without_single(&p, solitude.iter().map(|s| *s > 0.4).collect());
        assert_eq!(noise, [false, false, true, true, true, true]);
        assert_eq!(set_apart(&p, &noise).labels(), [0, 0, 1, 2, 3, 4]);
        assert_eq!(either(&p, &noise, &[true, false, false, false, false, false]), [true; 6]);
    }

    #[test]
    fn members_of_no_significant_cluster_are_noise() {
        let rows: Vec<[f64; 1]> = (0..12).map(|i| [f64::from(i * i)]).collect();
        let c = Candidates::from_points(&Points::from_rows(&rows).unwrap()).unwrap();
        let pairs = |c: &Candidates, _: u64| {
            Ok::<_, Infallible>(Partition::from_labels(&(0..c.objects()).map(|i| i / 2).collect::<Vec<_>>()))
        };
        let p = pairs(&c, 1).unwrap();
        let mut verdict = Significance::new(1).judge(&c, &p, 1, &pairs, &|| {}).unwrap();
        verdict.q = vec![0.01, 0.2, f64::NAN, 0.01, 0.05, 0.9];
        verdict.evidence.objects = vec![1.0, 2.0, 5.0, 5.0, 5.0, 5.0, -3.0, 4.0, 0.1, 0.2, 9.0, 9.0];
        let noise = by_significance(&p, &verdict, 0.05, 0.0);
        let grouped: Vec<usize> = (0..12).filter(|&i| !noise[i]).collect();
        // Pair 3 has a member below the odds, so that the other is alone.
        assert_eq!(grouped, [0, 1, 8, 9]);
    }

    #[test]
    fn company_in_a_crowd_counts_for_less_than_company_far_out() {
        // Twenty-five objects close together in the middle of a wide ring of twelve.
        let mut rows: Vec<[f64; 2]> =
            (0..25).map(|i| [0.2 * f64::from(i % 5) - 0.4, 0.2 * f64::from(i / 5) - 0.4]).collect();
        rows.extend((0..12).map(|i| {
            let angle = std::f64::consts::FRAC_PI_6 * f64::from(i);
            [9.0 * libm::cos(angle), 9.0 * libm::sin(angle)]
        }));
        let candidates = Candidates::from_points(&Points::from_rows(&rows).unwrap()).unwrap();
        let found = Marginal::default().length(1, 1, 2).run(&candidates, 1).unwrap();
        let corrected = in_crowds(&[0.4; 37], &candidates, &found, PENALTY_STRENGTH);
        assert!(corrected[12] > 0.4 && corrected[30] < corrected[12], "{corrected:?}");
        // Without doubt there is nothing to correct.
        assert_eq!(in_crowds(&[1.0; 37], &candidates, &found, PENALTY_STRENGTH), [1.0; 37]);
        assert_eq!(in_crowds(&[0.0; 37], &candidates, &found, PENALTY_STRENGTH), [0.0; 37]);
    }

    #[test]
    fn one_object_and_equal_objects_are_no_crowd() {
        for n in [1, 2, 5] {
            let rows = vec![[3.0, 4.0]; n];
            let candidates = Candidates::from_points(&Points::from_rows(&rows).unwrap()).unwrap();
            let found = Marginal::default().length(1, 1, 2).run(&candidates, 1).unwrap();
            assert_eq!(in_crowds(&vec![0.4; n], &candidates, &found, PENALTY_STRENGTH), vec![0.4; n]);
        }
    }

    #[test]
    fn no_draws_and_no_objects_have_no_solitude() {
        assert!(in_draws(&[]).is_empty());
        assert_eq!(in_draws(&[Draw::new(&[3])]), [1.0]);
    }

    #[test]
    fn penalties_in_another_unit_with_a_strength_to_match_leave_the_solitude() {
        let mut builder = crate::candidates::CandidatesBuilder::new(1);
        for i in 0..20 {
            let x = f64::from(i * i % 17);
            builder.push(&[x, x + 0.5, x - 0.7], &[0.0, 0.3, f64::from(i % 4) * 0.5]).unwrap();
        }
        let candidates = builder.build().unwrap();
        let model = Marginal::default().length(1, 2, 4);
        let found = model.run(&candidates, 1).unwrap();
        let alone = solitude(&candidates, &found, PENALTY_STRENGTH);
        let finer = candidates.divide_penalties(8.0);
        assert_eq!(solitude(&finer, &found, PENALTY_STRENGTH * 8.0), alone);
        assert_ne!(solitude(&finer, &found, PENALTY_STRENGTH), alone);
    }
}
