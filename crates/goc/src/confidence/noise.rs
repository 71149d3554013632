//! Noise: which objects are in no group, by significance.
//!
//! The members of a cluster that is not significant ([`super::significance`]) are noise. So is a
//! member of a significant cluster whose own log odds ([`super::evidence`]) are below [`ODDS`], and
//! an object that would then be left alone in its cluster: a single object is not a group.
//!
//! The marginal mixture needs none of this: it models the field explicitly ([`crate::marginal`]).

use super::significance::Verdict;
use crate::Partition;
use crate::marginal::Posterior;

/// Log odds below which a member of a significant cluster is noise: even odds, not tuned on any
/// data.
pub const ODDS: f64 = 0.0;

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

/// Objects that are noise by either criterion; an object left alone is noise too.
pub fn either(partition: &Partition, a: &[bool], b: &[bool]) -> Vec<bool> {
    without_single(partition, a.iter().zip(b).map(|(a, b)| *a || *b).collect())
}

/// An object left alone in a cluster is noise.
pub(crate) fn without_single(partition: &Partition, mut noise: Vec<bool>) -> Vec<bool> {
    let mut left = vec![0_usize; partition.k()];
    for (&label, noise) in partition.labels().iter().zip(&noise) {
        left[label as usize] += usize::from(!noise);
    }
    for (&label, noise) in partition.labels().iter().zip(&mut noise) {
        *noise |= left[label as usize] < 2;
    }
    noise
}

/// The partition with every noise object in a cluster of its own, after the others.
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

/// The certainty of each label when noise is set apart: for a member, the mean probability of being
/// together with the remaining members of its cluster; for noise, that of being in the field or
/// alone. Also the second-best cluster by its new number, or none if it no longer exists or is the
/// object's own. `partition` is the result of [`set_apart`] on the posterior's partition.
pub fn memberships(
    found: &Posterior,
    partition: &Partition,
    noise: &[bool],
) -> (Vec<f64>, Vec<Option<(u32, f64)>>) {
    let (n, labels, sizes) = (partition.len(), partition.labels(), partition.sizes());
    let overlaps = found.together.overlaps(partition);
    let sure = |i: usize| {
        let mates = sizes[labels[i] as usize] as f64 - 1.0;
        if noise[i] { found.alone[i] + found.field[i] } else { (overlaps[i] - 1.0) / mates }
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
    use crate::confidence::Significance;
    use crate::{Candidates, Points};
    use std::convert::Infallible;

    #[test]
    fn whoever_is_left_alone_is_noise_too() {
        let p = Partition::from_labels(&[0, 0, 0, 1, 1, 2]);
        let noise = without_single(&p, vec![false, false, true, true, false, false]);
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
}
