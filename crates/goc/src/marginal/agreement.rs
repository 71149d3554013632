//! The agreement between chains.
//!
//! For one object, a draw determines its company: each other member of its cluster, with equal
//! weight, or nobody if the object is alone or in the field. Over its draws a chain assigns a
//! probability to each of these, and they sum to 1. Two chains agree about the object to the extent
//! that these probabilities overlap, and all objects count equally. If pairs were counted instead,
//! a large group that appears in only a few draws would outweigh everything else, because its
//! weight grows with the square of its size.

use rayon::prelude::*;

use super::draws::{Draw, Members};

/// About this many objects are used, spread evenly over all: with 2000 the mean is accurate to
/// 0.01, and the cost does not grow with the square of the number of objects.
const LOOKED_AT: usize = 2000;

/// The overlap, averaged over pairs of chains and over objects, from 0 to 1; 1 for a single chain.
pub(super) fn agreement(chains: &[Vec<(&Draw, &Members)>], n: usize) -> f64 {
    let pairs = chains.len() * chains.len().saturating_sub(1) / 2;
    let looked_at = n.min(LOOKED_AT);
    if pairs == 0 || looked_at == 0 {
        return 1.0;
    }
    let of = |times: &mut Vec<f64>, at: usize| {
        let i = at * n / looked_at;
        let companies: Vec<_> = chains.iter().map(|draws| company(draws, i, times)).collect();
        let others = |a: usize| companies[a + 1..].iter().map(move |b| (a, b));
        (0..companies.len()).flat_map(others).map(|(a, b)| common(&companies[a], b)).sum::<f64>()
    };
    let each: Vec<f64> = (0..looked_at).into_par_iter().map_init(|| vec![0.0; n], of).collect();
    // Summed in the order of the objects, so that the result does not depend on threads.
    each.iter().sum::<f64>() / (pairs * looked_at) as f64
}

/// The probabilities of the company of object `i`, in ascending order of the companions; the object
/// itself stands for nobody. `times` is 0 for every object on entry and on return.
fn company(draws: &[(&Draw, &Members)], i: usize, times: &mut [f64]) -> Vec<(u32, f64)> {
    let mut met = Vec::new();
    let mut add = |j: u32, share: f64| {
        if times[j as usize] == 0.0 {
            met.push(j);
        }
        times[j as usize] += share / draws.len() as f64;
    };
    for (draw, members) in draws {
        let others = || members.of_cluster(draw.label(i)).filter(|j| *j as usize != i);
        match others().count() {
            0 => add(i as u32, 1.0),
            count => others().for_each(|j| add(j, 1.0 / count as f64)),
        }
    }
    met.sort_unstable();
    met.into_iter().map(|j| (j, std::mem::take(&mut times[j as usize]))).collect()
}

/// The sum of the smaller of the two probabilities.
fn common(a: &[(u32, f64)], b: &[(u32, f64)]) -> f64 {
    let mut b = b.iter().peekable();
    let mut sum = 0.0;
    for (j, p) in a {
        while b.next_if(|(other, _)| other < j).is_some() {}
        if let Some((_, q)) = b.next_if(|(other, _)| other == j) {
            sum += p.min(*q);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    fn of(chains: &[&[Draw]]) -> f64 {
        let members: Vec<Vec<Members>> =
            chains.iter().map(|draws| draws.iter().map(Members::of).collect()).collect();
        let pairs: Vec<Vec<(&Draw, &Members)>> =
            chains.iter().zip(&members).map(|(draws, members)| draws.iter().zip(members).collect()).collect();
        agreement(&pairs, chains[0][0].len())
    }

    #[test]
    fn the_common_part_of_who_keeps_company() {
        let three = Draw::new(&[0, 0, 0, 1, 2]);
        let two = Draw::new(&[0, 0, 1, 1, 2]);
        let (first, second) = (from_ref(&three), from_ref(&two));
        assert_eq!(of(&[first]), 1.0);
        assert_eq!(of(&[first, &[three.clone(), three.clone()]]), 1.0);
        // The first object has the second as company in both chains, with probabilities 1/2 and 1,
        // and the second has the first likewise; the third and the fourth have no company in
        // common; the last has none in both.
        let want = (0.5 + 0.5 + 0.0 + 0.0 + 1.0) / 5.0;
        assert_eq!(of(&[first, second]), want);
        assert_eq!(of(&[first, second, second]), (2.0 * want + 1.0) / 3.0);
        // One of two draws differs: what did not overlap counts half.
        assert_eq!(of(&[first, &[three.clone(), two.clone()]]), (1.0 + want) / 2.0);
    }

    #[test]
    fn in_the_field_is_nobodys_company() {
        let field = Draw::with_field(&[1, 1, 0, 0], &[true, true, false, false]);
        let alone = Draw::new(&[0, 1, 2, 2]);
        assert_eq!(of(&[&[field], &[alone]]), 1.0);
    }

    #[test]
    fn a_group_that_comes_and_goes_does_not_outweigh_the_rest() {
        // A hundred objects in pairs; in one draw of ten, forty of them form one group.
        let pairs: Vec<u32> = (0..100).map(|i| i / 2).collect();
        let group: Vec<u32> = (0..100).map(|i| if i < 40 { 0 } else { i / 2 }).collect();
        let steady = vec![Draw::new(&pairs); 10];
        let mut other = steady.clone();
        other[3] = Draw::with_field(&group, &[false; 100]);
        assert!((of(&[&steady, &other]) - (1.0 - 0.4 * 0.1 * 38.0 / 39.0)).abs() < 1e-12);
    }

    #[test]
    fn of_many_some_are_looked_at() {
        let labels: Vec<u32> = (0..3 * LOOKED_AT as u32).map(|i| i / 3).collect();
        let other: Vec<u32> = (0..3 * LOOKED_AT as u32).map(|i| if i % 2 == 0 { i / 3 } else { 0 }).collect();
        let (a, b) = (Draw::new(&labels), Draw::with_field(&other, &vec![false; other.len()]));
        let found = of(&[&[a], &[b]]);
        assert!(found > 0.1 && found < 0.6, "{found}");
    }
}
