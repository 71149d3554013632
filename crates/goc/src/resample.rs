//! New candidates from existing ones: resampled within each object, for fewer objects, or shifted.
//!
//! - [`candidates_of_each`]: every object keeps its number of candidates, drawn uniformly with
//!   replacement from its own. A candidate keeps its penalty. Uniform draws are the bootstrap of
//!   the *sample* that represents the set: the penalty already expresses how likely a candidate is,
//!   and drawing by it as well would count it twice.
//! - [`distinct_objects`]: a bootstrap of the objects that uses an object drawn twice only once,
//!   which leaves about 63 % of them. Copies would coincide and create artificial clusters
//!   (Hennig's own program makes the same choice by default).
//! - [`moved`]: each object's whole set shifted, its shape preserved.
//!
//! Cost: O(n m q) each.

use rand::RngExt;

use crate::candidates::{Candidates, CandidatesBuilder};
use crate::{Ids, Stream};

/// Each object with as many candidates as before, drawn uniformly with replacement from its own.
pub(crate) fn candidates_of_each(candidates: &Candidates, rng: &mut Stream) -> Candidates {
    rebuilt(candidates, 0..candidates.objects(), |i, _| {
        let m = candidates.count(i);
        let mut drawn: Vec<usize> = (0..m).map(|_| rng.random_range(0..m)).collect();
        // Neighbours in storage stay neighbours in space, which pruning relies on.
        drawn.sort_unstable();
        drawn
    })
}

/// The distinct objects among `n` drawn with replacement, ascending.
pub(crate) fn distinct_objects(n: usize, rng: &mut Stream) -> Vec<usize> {
    let mut drawn = vec![false; n];
    for _ in 0..n {
        drawn[rng.random_range(0..n)] = true;
    }
    (0..n).filter(|&i| drawn[i]).collect()
}

/// Only these objects, in this order; each at most once.
pub(crate) fn subset(candidates: &Candidates, objects: &[usize]) -> Candidates {
    rebuilt(candidates, objects.iter().copied(), |i, _| (0..candidates.count(i)).collect())
}

/// Each object's candidates shifted by its row of `shifts`.
pub(crate) fn moved(candidates: &Candidates, shifts: &[Vec<f64>]) -> Candidates {
    rebuilt(candidates, 0..candidates.objects(), |i, shift| {
        shift.copy_from_slice(&shifts[i]);
        (0..candidates.count(i)).collect()
    })
}

/// Objects in order, each with the candidates that `choose` names; `choose` may fill in a shift.
fn rebuilt(
    candidates: &Candidates,
    objects: impl Iterator<Item = usize>,
    mut choose: impl FnMut(usize, &mut [f64]) -> Vec<usize>,
) -> Candidates {
    let q = candidates.features();
    let mut builder = CandidatesBuilder::with_capacity(q, candidates.objects(), candidates.total());
    let mut kept = Vec::new();
    let mut shift = vec![0.0; q];
    for i in objects {
        let chosen = choose(i, &mut shift);
        let mut rows = Vec::with_capacity(chosen.len() * q);
        for &j in &chosen {
            for (f, by) in shift.iter().enumerate() {
                rows.push(candidates.feature(i, f)[j] + by);
            }
        }
        let penalties: Vec<f64> = match candidates.has_penalties() {
            true => chosen.iter().map(|&j| candidates.penalty(i, j)).collect(),
            false => Vec::new(),
        };
        // The values were checked when `candidates` was made, and shifts are differences of such values.
        builder.push(&rows, &penalties).expect("values of candidates are candidates");
        kept.push(i);
    }
    let ids = match candidates.ids() {
        Ids::Position => Ids::Position,
        Ids::Integer(v) => Ids::Integer(kept.iter().map(|&i| v[i]).collect()),
        Ids::Text(v) => Ids::Text(kept.iter().map(|&i| v[i].clone()).collect()),
    };
    builder.build_with(ids).expect("at least one object, each of them once")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    fn three() -> Candidates {
        let mut b = CandidatesBuilder::new(2);
        b.push(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], &[0.0, 0.5, 1.0]).unwrap();
        b.push(&[6.0, 7.0], &[]).unwrap();
        b.push(&[8.0, 9.0, 10.0, 11.0], &[]).unwrap();
        b.build_with(Ids::Text(vec!["a".into(), "b".into(), "c".into()])).unwrap()
    }

    #[test]
    fn resampled_candidates_are_the_objects_own_with_their_penalties_evenly() {
        let c = three();
        let mut rng = stream(1, 1);
        let mut counts = [0; 3];
        for _ in 0..2000 {
            let r = candidates_of_each(&c, &mut rng);
            assert_eq!((r.count(0), r.count(1), r.count(2)), (3, 1, 2));
            assert_eq!(r.candidate(1, 0), [6.0, 7.0]);
            for j in 0..3 {
                let from = (0..3).find(|&k| c.candidate(0, k) == r.candidate(0, j)).unwrap();
                assert_eq!(c.penalty(0, from), r.penalty(0, j));
                counts[from] += 1;
            }
        }
        // 2000 each, standard deviation 37.
        assert!(counts.iter().all(|n| (i32::from(*n as i16) - 2000).abs() < 150), "{counts:?}");
    }

    #[test]
    fn a_bootstrap_keeps_about_63_percent_of_the_objects() {
        let mut rng = stream(1, 1);
        let mean = (0..200).map(|_| distinct_objects(300, &mut rng).len()).sum::<usize>() as f64 / 200.0;
        assert!((mean / 300.0 - 0.632).abs() < 0.01, "{mean}");
        assert_eq!(distinct_objects(1, &mut rng), [0]);
    }

    #[test]
    fn a_subset_keeps_candidates_penalties_and_names() {
        let s = subset(&three(), &[0, 2]);
        assert_eq!((s.objects(), s.name(1).as_str(), s.penalty(0, 1)), (2, "c", 0.5));
        assert_eq!(s.candidate(1, 1), [10.0, 11.0]);
    }

    #[test]
    fn a_moved_set_keeps_its_shape() {
        let m = moved(&three(), &[vec![1.0, -1.0], vec![0.0, 0.0], vec![10.0, 20.0]]);
        assert_eq!(m.candidate(0, 2), [5.0, 4.0]);
        assert_eq!(m.candidate(1, 0), [6.0, 7.0]);
        assert_eq!((m.candidate(2, 0), m.penalty(0, 2)), (vec![18.0, 29.0], 1.0));
    }
}
