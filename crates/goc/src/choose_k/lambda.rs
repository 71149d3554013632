//! The weight of the penalties derived from the likelihood.
//!
//! GOC minimises `|x - mu|^2 + lambda P`, and the soft model `|x - mu|^2 / (2 sigma^2) +
//! penalty_strength P`. These are equivalent for `lambda = 2 penalty_strength sigma^2`
//! ([`super::soft`]). The variance within clusters follows from a clustering, and the clustering
//! from lambda, so the two are updated alternately, a few times. This weight applies to the squared
//! distance; the unsquared one has no such likelihood.

use super::soft::{ROUGHLY, Soft, SoftError};
use super::{ChooseError, Solution};
use crate::Candidates;

/// Maximum number of rounds.
const ROUNDS: usize = 6;
/// Relative changes below this count as converged.
const SETTLED: f64 = 0.02;

/// The lambda found.
#[derive(Clone, Debug, PartialEq)]
pub struct LambdaFound {
    /// The value after the last round.
    pub lambda: f64,
    /// Lambda after each round.
    pub rounds: Vec<f64>,
    /// False if the limit of rounds was reached first.
    pub settled: bool,
}

/// Clusters with `first`, fits the soft model, takes its lambda, and repeats until it converges.
/// Uninformative penalties leave `first` unchanged.
pub fn lambda<E: From<ChooseError>>(
    candidates: &Candidates,
    penalty_strength: f64,
    first: f64,
    mut solve: impl FnMut(f64) -> Result<Solution, E>,
) -> Result<LambdaFound, E> {
    let any = (0..candidates.objects()).any(|i| candidates.penalties(i).iter().any(|p| *p > 0.0));
    let mut found = LambdaFound { lambda: first, rounds: Vec::new(), settled: !any };
    while any && !found.settled && found.rounds.len() < ROUNDS {
        let solution = solve(found.lambda)?;
        let soft =
            match Soft::fit(candidates, &solution.partition, &solution.places, penalty_strength, ROUGHLY) {
                Ok(soft) => soft,
                Err(SoftError::Flat) => return Err(ChooseError::NoLambda.into()),
                Err(other) => return Err(ChooseError::Soft(other).into()),
            };
        let next = soft.lambda(penalty_strength);
        found.settled = (next - found.lambda).abs() <= SETTLED * next;
        found.rounds.push(next);
        found.lambda = next;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::CandidatesBuilder;
    use crate::{Partition, Points};

    #[test]
    fn a_fixed_clustering_gives_twice_strength_times_variance() {
        // Two clusters of plain points with variances 1 and 4 around their means; all penalties are
        // equal, so they do not matter.
        let mut builder = CandidatesBuilder::new(1);
        for x in [-1.0, 1.0, 98.0, 102.0] {
            builder.push(&[x], &[0.5]).unwrap();
        }
        let candidates = builder.build().unwrap();
        let solve = |_: f64| -> Result<Solution, ChooseError> {
            Ok(Solution { partition: Partition::from_labels(&[0, 0, 1, 1]), places: candidates.means() })
        };
        let found = lambda(&candidates, 2.0, 0.01, solve).unwrap();
        assert!((found.lambda - 2.0 * 2.0 * 2.5).abs() < 1e-9, "{}", found.lambda);
        assert!(found.settled);
        assert_eq!(found.rounds.len(), 2);
    }

    #[test]
    fn without_penalties_the_first_stays_and_a_flat_set_is_named() {
        let points = Points::new(vec![0.0, 1.0, 2.0], 1).unwrap();
        let plain = Candidates::from_points(&points).unwrap();
        let never = |_: f64| -> Result<Solution, ChooseError> { panic!("nothing to find") };
        assert_eq!(lambda(&plain, 2.0, 0.01, never).unwrap().lambda, 0.01);
        let mut builder = CandidatesBuilder::new(1);
        for _ in 0..2 {
            builder.push(&[1.0], &[0.5]).unwrap();
        }
        let flat = builder.build().unwrap();
        let solve = |_: f64| -> Result<Solution, ChooseError> {
            Ok(Solution { partition: Partition::from_labels(&[0, 0]), places: flat.means() })
        };
        assert_eq!(lambda(&flat, 2.0, 0.01, solve), Err(ChooseError::NoLambda));
    }
}
