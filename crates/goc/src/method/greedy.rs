//! GOC and its relatives as [`Method`]s, each with its own parameters and an oracle.

use super::{Grouped, Method, MethodError, Result, Tick, check_k};
use crate::optimistic::continuous::{Continuous, Region};
use crate::optimistic::hierarchy::Hierarchy;
use crate::optimistic::weighted::Weighted;
use crate::optimistic::{Optimistic, Termination};
use crate::oracle::{Oracle, Start};
use crate::pessimistic::Pessimistic;
use crate::{Candidates, random};

/// Greedy optimistic clustering.
///
/// ```
/// use goc::candidates::CandidatesBuilder;
/// use goc::method::{Method, greedy::Greedy};
/// use goc::optimistic::{KRule, Optimistic};
/// use goc::oracle::k_means::KMeans;
/// let mut builder = CandidatesBuilder::new(1);
/// for set in [&[0.0, 1.0, 2.0][..], &[2.1], &[9.0]] {
///     builder.push(set, &[])?;
/// }
/// let goc = Greedy { params: Optimistic::new(2).k_rule(KRule::Constant), oracle: &KMeans::default() };
/// let found = goc.group(&builder.build()?, 1)?;
/// assert_eq!(found.chosen, Some(vec![2, 0, 0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Greedy<'o> {
    /// Everything but the oracle.
    pub params: Optimistic,
    /// The oracle that clusters the representatives.
    pub oracle: &'o dyn Oracle,
}

/// GOC over the convex hull or the bounding box of each set.
pub struct GreedyOver<'o> {
    /// The convex set around the candidates.
    pub region: Region,
    /// Everything but the oracle; its distance must be the squared one.
    pub params: Optimistic,
    /// The oracle that clusters the representatives.
    pub oracle: &'o dyn Oracle,
}

/// GOC with 1.5 K clusters, merged down to K by a tree whose members choose their candidates again.
pub struct GreedyTree<'o> {
    /// The final number of clusters.
    pub k: usize,
    /// The run before the tree, for [`GreedyTree::first_k`] clusters.
    pub params: Optimistic,
    /// Weight of the penalties in the tree.
    pub lambda: f64,
    /// The oracle that clusters the representatives.
    pub oracle: &'o dyn Oracle,
}

/// Greedy pessimistic clustering.
pub struct Worst<'o> {
    /// Everything but the oracle.
    pub params: Pessimistic,
    /// The oracle that clusters the initial representatives.
    pub oracle: &'o dyn Oracle,
}

/// GOC with weights on the objects; over the means of the sets it is k-means with weights.
pub struct WeightedGreedy<'w> {
    /// Everything but the weights.
    pub params: Weighted,
    /// The weight of each object.
    pub weights: &'w [f64],
    /// Whether each set is represented by its mean, so that nothing is chosen.
    pub means: bool,
}

/// The oracle alone, on the means of the sets: plain clustering of plain points.
pub struct Plain<'o> {
    /// The oracle that clusters the points.
    pub oracle: &'o dyn Oracle,
    /// Clusters requested.
    pub k: usize,
    /// Whether the oracle reports noise as clusters of one.
    pub single_is_noise: bool,
}

fn ended(termination: Termination, grouped: Grouped) -> Grouped {
    Grouped {
        converged: matches!(termination, Termination::Converged | Termination::Tolerance),
        cycle: matches!(termination, Termination::Cycle { .. }),
        ..grouped
    }
}

impl Method for Greedy<'_> {
    fn name(&self) -> &str {
        "goc"
    }

    fn group_watched(&self, candidates: &Candidates, seed: u64, tick: Tick) -> Result<Grouped> {
        let valid = self.params.clone().check(candidates)?;
        let found = valid.run_watched(self.oracle, seed, tick)?;
        // K(0) is what was requested, unless first labels say otherwise. An oracle may find fewer.
        let first_k = self.params.has_initial_labels().then(|| found.first.1.k());
        let grouped = Grouped {
            objective: Some(found.objective),
            iterations: found.iterations,
            history: found.history,
            first_k,
            noise: found.trimmed,
            ..Grouped::at_chosen(found.partition, candidates, found.chosen, found.centres)
        };
        Ok(ended(found.termination, grouped))
    }
}

impl Method for GreedyOver<'_> {
    fn name(&self) -> &str {
        match self.region {
            Region::Hull => "goc-hull",
            Region::Box => "goc-box",
        }
    }

    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        let valid = Continuous::new(self.region, self.params.clone()).check(candidates)?;
        let found = valid.run(self.oracle, seed)?;
        let grouped = Grouped {
            objective: Some(found.objective),
            iterations: found.iterations,
            places: Some(found.places),
            centres: Some(found.centres),
            ..Grouped::new(found.partition)
        };
        Ok(ended(found.termination, grouped))
    }
}

impl GreedyTree<'_> {
    /// The number of clusters of the run before the tree: 1.5 times as many, but at most the number
    /// of objects.
    pub fn first_k(k: usize, objects: usize) -> usize {
        (k + k / 2).min(objects)
    }
}

impl Method for GreedyTree<'_> {
    fn name(&self) -> &str {
        "goc-tree"
    }

    fn group_watched(&self, candidates: &Candidates, seed: u64, tick: Tick) -> Result<Grouped> {
        check_k(self.k, candidates)?;
        if self.params.trims() {
            let reason = "it has no trimming; ask for a share of 0".into();
            return Err(MethodError::Failed { method: "goc-tree", reason });
        }
        let first = self.params.clone().clusters(Self::first_k(self.k, candidates.objects()));
        let found = first.check(candidates)?.run_watched(self.oracle, seed, tick)?;
        let tree = Hierarchy::new(candidates, &found.partition, &found.chosen, self.lambda)?;
        let cut = tree.cut(self.k.min(found.partition.k()))?;
        let grouped = Grouped {
            objective: Some(cut.objective),
            iterations: found.iterations,
            history: found.history,
            ..Grouped::at_chosen(cut.partition, candidates, cut.chosen, cut.centres)
        };
        Ok(ended(found.termination, grouped))
    }
}

impl Method for Worst<'_> {
    fn name(&self) -> &str {
        "gpc"
    }

    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        let found = self.params.run(candidates, self.oracle, seed)?;
        Ok(Grouped {
            objective: Some(found.objective),
            iterations: found.iterations,
            converged: found.converged,
            cycle: found.cycle,
            ..Grouped::at_chosen(found.partition, candidates, found.chosen, found.centres)
        })
    }
}

impl Method for WeightedGreedy<'_> {
    fn name(&self) -> &str {
        "weighted"
    }

    fn group_watched(&self, candidates: &Candidates, seed: u64, tick: Tick) -> Result<Grouped> {
        let means = match self.means {
            // One candidate per object, its mean: then the descent is that of k-means.
            true => Some(
                Candidates::from_points(&candidates.means())
                    .map_err(|error| MethodError::Failed { method: "weighted", reason: error.to_string() })?,
            ),
            false => None,
        };
        let sets = means.as_ref().unwrap_or(candidates);
        let found = self.params.run(sets, self.weights, seed, tick)?;
        Ok(Grouped {
            places: Some(sets.chosen(&found.chosen)),
            centres: Some(found.centres),
            chosen: (!self.means).then_some(found.chosen),
            objective: found.history.last().copied(),
            iterations: found.history.len(),
            converged: found.converged,
            ..Grouped::new(found.partition)
        })
    }
}

impl Method for Plain<'_> {
    fn name(&self) -> &str {
        "oracle"
    }

    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        let points = candidates.means();
        let partition = self.oracle.cluster(&points, Start::K(self.k), &mut random::stream(seed, 0))?;
        let sizes = partition.sizes();
        let noise = match self.single_is_noise {
            true => partition.labels().iter().map(|&label| sizes[label as usize] == 1).collect(),
            false => Vec::new(),
        };
        Ok(Grouped { places: Some(points), iterations: 1, noise, ..Grouped::new(partition) })
    }
}
