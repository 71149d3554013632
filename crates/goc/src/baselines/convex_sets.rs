//! GOC over the hull or the bounding box of each set, as a [`Method`] beside the others.
//!
//! The boxes are the sets of Ngai et al. (2006) with the optimistic (least) distance; the hull is the
//! tightest convex set around the candidates. All of the method is in [`crate::optimistic::continuous`].

use super::{Grouped, Method, MethodError, check_k};
use crate::Candidates;
use crate::optimistic::continuous::{Continuous, ContinuousError, Region};
use crate::optimistic::{Optimistic, OptimisticError, Termination};
use crate::oracle::Oracle;

/// GOC over convex sets, all else as the paper says.
///
/// ```
/// use goc::baselines::{Method, convex_sets::ConvexSets};
/// use goc::candidates::CandidatesBuilder;
/// use goc::optimistic::continuous::Region;
/// use goc::oracle::k_means::KMeans;
/// let mut builder = CandidatesBuilder::new(1);
/// for set in [[0.0, 3.0], [1.0, 2.0], [7.0, 9.0], [8.0, 8.5]] {
///     builder.push(&set, &[])?;
/// }
/// let oracle = KMeans::default();
/// let method = ConvexSets { region: Region::Box, oracle: &oracle, k: 2, lambda: 0.0 };
/// let grouped = method.group(&builder.build()?, 1)?;
/// assert_eq!((method.name(), grouped.partition.canonical().labels()), ("goc-box", &[0, 0, 1, 1][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ConvexSets<'a> {
    /// The set around an object's candidates.
    pub region: Region,
    /// Clusters the places.
    pub oracle: &'a dyn Oracle,
    /// Clusters at first.
    pub k: usize,
    /// Weight of the penalties.
    pub lambda: f64,
}

impl ConvexSets<'_> {
    fn label(&self) -> &'static str {
        match self.region {
            Region::Hull => "goc-hull",
            Region::Box => "goc-box",
        }
    }
}

impl Method for ConvexSets<'_> {
    fn name(&self) -> &str {
        self.label()
    }

    fn group(&self, candidates: &Candidates, seed: u64) -> Result<Grouped, MethodError> {
        check_k(self.k, candidates)?;
        if !(self.lambda.is_finite() && self.lambda >= 0.0) {
            return Err(MethodError::Parameter {
                method: self.label(),
                name: "lambda",
                value: self.lambda,
                must: "a finite number not below 0",
            });
        }
        let found = Continuous::new(self.region, Optimistic::new(self.k).lambda(self.lambda))
            .check(candidates)
            .and_then(|goc| goc.run(self.oracle, seed))
            .map_err(|error| match error {
                ContinuousError::Goc(OptimisticError::Oracle(error)) => MethodError::Oracle(error),
                other => MethodError::Failed { method: self.label(), reason: other.to_string() },
            })?;
        Ok(Grouped {
            iterations: found.iterations,
            converged: found.termination == Termination::Converged,
            objective: Some(found.objective),
            places: Some(found.places),
            ..Grouped::new(found.partition)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::CandidatesBuilder;
    use crate::oracle::k_means::KMeans;

    #[test]
    fn wrong_wishes_are_named() {
        let mut builder = CandidatesBuilder::new(1);
        builder.push(&[0.0, 1.0], &[]).unwrap();
        let candidates = builder.build().unwrap();
        let oracle = KMeans::default();
        let refuse = |k, lambda| {
            let method = ConvexSets { region: Region::Hull, oracle: &oracle, k, lambda };
            method.group(&candidates, 1).unwrap_err().to_string()
        };
        assert_eq!(refuse(0, 0.0), "the number of clusters must be at least 1");
        assert_eq!(refuse(2, 0.0), "2 clusters were asked for, but there is only 1 object");
        assert_eq!(refuse(1, f64::NAN), "goc-hull: lambda is NaN, but must be a finite number not below 0");
    }

    #[test]
    fn one_object_and_as_many_clusters_as_objects_are_answered() {
        let oracle = KMeans::default();
        for region in [Region::Hull, Region::Box] {
            let mut builder = CandidatesBuilder::new(1);
            builder.push(&[0.0, 1.0], &[]).unwrap();
            let method = ConvexSets { region, oracle: &oracle, k: 1, lambda: 0.1 };
            let one = method.group(&builder.clone().build().unwrap(), 1).unwrap();
            assert_eq!((one.partition.k(), one.objective, one.converged), (1, Some(0.0), true));

            builder.push(&[5.0], &[]).unwrap();
            let method = ConvexSets { k: 2, ..method };
            let each = method.group(&builder.build().unwrap(), 1).unwrap();
            assert_eq!((each.partition.k(), each.objective), (2, Some(0.0)));
        }
    }
}
