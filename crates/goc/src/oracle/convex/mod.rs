//! Convex clustering (sum of norms: Pelckmans et al. 2005, Hocking et al. 2011; solved as by Chi & Lange
//! 2015).
//!
//! Every point `x_i` gets its own position `u_i`, and positions attract each other:
//!
//! `min over u of 1/2 sum_i |x_i - u_i|^2 + gamma sum_(i<j) w_ij |u_i - u_j|`.
//!
//! The norms are not squared, so positions become exactly equal as gamma grows: points with the
//! same position form a cluster. The problem is convex, so there is a unique solution and no
//! dependence on a start; as gamma grows, it goes from every point alone to all in one.
//!
//! # Weights
//! `w_ij = exp(-phi d_ij^2)` between the `neighbours` nearest neighbours (of either point), 0
//! otherwise. By default `phi = 1 / (2 s^2)` with `s` the median length of these edges. Neighbours
//! alone may leave the graph disconnected, in components that no gamma would ever join, so the
//! edges of the minimum spanning tree that join components are added, and the path ends in one
//! cluster. No weight is below 1e-4: distant components are joined late, but not only at a gamma of
//! 1e20.
//!
//! # Choosing gamma for K
//! The gamma is searched by bisection on the logarithm. If the path jumps over K the result is the
//! last partition before the jump, **the smallest available K not below** the requested one;
//! [`ConvexFit::partition`] has the number of clusters.
//!
//! # Decisions
//! - Equal points share one position with their total mass, so they never separate; with K or fewer
//!   distinct points each is a cluster.
//! - The solution is certified by its duality gap: it has converged when `primal - dual` is at most
//!   `tolerance` times the primal, so small clusters far apart are resolved as well as large ones.
//!   `|u - u_exact|^2 <= 2 gap`.
//! - An edge is fused when its dual variable stays inside its ball after a last step (Chi & Lange's
//!   `v_l = 0`), and clusters are the connected components of fused edges.
//! - For weights like these the path may in theory split what it had joined, so the number of
//!   clusters need not decrease monotonically with gamma; every gamma is solved separately, and
//!   nothing is forced to stay joined.
//! - Start centres cannot be used; only their number matters, as K. Nothing is random. Sums run in
//!   a fixed order on one thread.
//!
//! Cost: O(n^2 q) for the graph, O(n `neighbours` q) per iteration, some tens of iterations for
//! each of 20 to 50 gammas; some hundreds where a path without clusters (a grid, uniform points)
//! collapses at once.

mod ama;
mod balance;
mod levels;

use super::graph::{Components, bridge, distances_are_finite, nearest};
use super::{Oracle, OracleError, Result, Start};
use crate::elementary::exp;
use crate::{Partition, Points, Stream};
use ama::Problem;
use levels::Levels;

/// The convex clustering oracle. Defaults: ten neighbours, phi by the rule above.
///
/// ```
/// use goc::{Points, oracle::convex::Convex};
/// let points = Points::new(vec![0.0, 0.2, 0.3, 5.0, 5.1, 5.3], 1)?;
/// let fit = Convex::default().fit(&points, 2)?;
/// assert_eq!(fit.partition.labels(), [0, 0, 0, 1, 1, 1]);
/// assert!(fit.converged && fit.gap < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Convex {
    neighbours: usize,
    phi: Option<f64>,
    tolerance: f64,
    max_iterations: usize,
}

impl Default for Convex {
    fn default() -> Self {
        Self { neighbours: 10, phi: None, tolerance: 1e-6, max_iterations: 5000 }
    }
}

/// The solution at one gamma.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexFit {
    /// The strength of the attraction, in units of the (scaled) features.
    pub gamma: f64,
    /// The clusters, numbered by first member.
    pub partition: Partition,
    /// The position of each point; those of one cluster agree, exactly or up to the gap.
    pub places: Points,
    /// The value of the objective.
    pub objective: f64,
    /// An upper bound on how far the objective is above the minimum.
    pub gap: f64,
    /// Steps of the solver for this gamma.
    pub iterations: usize,
    /// False if the limit on steps was reached before the gap was small.
    pub converged: bool,
}

const WEIGHT_FLOOR: f64 = 1e-4;
/// Halving for K ends when the gammas are this near.
const SEARCH_RATIO: f64 = 1.001;
/// More steps than any path has: from 1e-7 to 1e+40 of the first gamma.
const PATH_LIMIT: usize = 500;

impl Convex {
    setters! {
        /// The number of nearest neighbours connected by edges; 0 uses the spanning tree alone.
        neighbours: usize;
        /// How fast weights decrease with the squared distance; 0 gives all edges equal weights.
        /// Validated in `fit`.
        phi: f64 = Some(phi);
        /// The gap, relative to the objective, at which a solution is accepted. Validated in `fit`.
        tolerance: f64;
        /// The maximum number of steps for each gamma; at least one.
        max_iterations: usize = max_iterations.max(1);
    }

    /// The last partition of the path with at least `k` clusters.
    pub fn fit(&self, points: &Points, k: usize) -> Result<ConvexFit> {
        Start::K(k).check(points)?;
        let mut search = Search::new(self, points)?;
        let mut below = search.at(0.0);
        if search.nodes() <= k {
            return Ok(below);
        }
        // Double until there are K or fewer.
        let mut gamma = search.before_any_joins();
        let mut above = None;
        for _ in 0..PATH_LIMIT {
            let fit = search.at(gamma);
            match fit.partition.k().cmp(&k) {
                std::cmp::Ordering::Equal => return Ok(fit),
                std::cmp::Ordering::Less => {
                    above = Some(fit.gamma);
                    break;
                }
                std::cmp::Ordering::Greater => below = fit,
            }
            gamma *= 2.0;
        }
        let Some(mut above) = above else { return Ok(below) };
        // The first gamma joins nothing, so there is a gamma above 0 to halve from unless that was not solved
        // well.
        let mut low = if below.gamma > 0.0 { below.gamma } else { above / 1024.0 };
        while above > low * SEARCH_RATIO {
            let fit = search.at((above * low).sqrt());
            match fit.partition.k().cmp(&k) {
                std::cmp::Ordering::Equal => return Ok(fit),
                std::cmp::Ordering::Less => above = fit.gamma,
                std::cmp::Ordering::Greater => {
                    low = fit.gamma;
                    below = fit;
                }
            }
        }
        Ok(below)
    }
}

/// The problem of some points, and the last solution to start the next from.
struct Search<'a> {
    params: &'a Convex,
    levels: Levels,
    /// The distinct point that each point is.
    node_of: Vec<u32>,
    shortest: f64,
}

impl<'a> Search<'a> {
    fn new(params: &'a Convex, points: &Points) -> Result<Self> {
        if points.is_empty() {
            return Err(OracleError::NoPoints);
        }
        if !distances_are_finite(points) {
            return Err(failed("the distances are too large to be squared; scale the features".into()));
        }
        if params.phi.is_some_and(|phi| !(phi >= 0.0 && phi.is_finite())) {
            let phi = params.phi.unwrap_or_default();
            return Err(failed(format!("phi is {phi}, but must be finite and not below 0")));
        }
        if !(params.tolerance > 0.0 && params.tolerance.is_finite()) {
            let reason = format!("the tolerance is {}, but must be above 0 and finite", params.tolerance);
            return Err(failed(reason));
        }
        let (nodes, node_of) = merge_equal(points);
        let mut mass = vec![0.0; nodes.len()];
        node_of.iter().for_each(|&i| mass[i as usize] += 1.0);
        let edges = edges(&nodes, params);
        let shortest = edges.iter().map(|e| e.squared).fold(f64::INFINITY, f64::min).sqrt();
        let weighted = edges.iter().map(|e| (e.a, e.b, e.weight)).collect();
        let problem = Problem::new(nodes, mass, weighted);
        Ok(Self { params, levels: Levels::new(problem), node_of, shortest })
    }

    fn nodes(&self) -> usize {
        self.levels.problem().nodes.len()
    }

    /// A gamma too small to join any two points: each is pulled by less than a tenth of the way to its
    /// nearest.
    fn before_any_joins(&self) -> f64 {
        let least = 0.05 * self.shortest / self.levels.problem().strongest_pull();
        least.max(f64::MIN_POSITIVE)
    }

    fn at(&mut self, gamma: f64) -> ConvexFit {
        let mut run = self.levels.solve(gamma, self.params.tolerance, self.params.max_iterations);
        let labels = run.clusters.labels();
        let rows: Vec<usize> = self.node_of.iter().map(|&i| i as usize).collect();
        let labels: Vec<u32> = rows.iter().map(|&i| labels[i]).collect();
        ConvexFit {
            gamma,
            partition: Partition::from_labels(&labels),
            places: self.levels.state().places().subset(&rows),
            objective: run.objective,
            gap: run.gap,
            iterations: run.iterations,
            converged: run.converged,
        }
    }
}

/// The distinct points, and which of them each point is.
fn merge_equal(points: &Points) -> (Points, Vec<u32>) {
    let firsts = points.distinct_rows();
    let mut order = firsts.clone();
    let compare = |a: usize, b: usize| {
        let ordering = |(x, y): (&f64, &f64)| x.partial_cmp(y).filter(|o| o.is_ne());
        points.row(a).iter().zip(points.row(b)).find_map(ordering).unwrap_or(std::cmp::Ordering::Equal)
    };
    order.sort_by(|&a, &b| compare(a, b));
    let node_of = (0..points.len())
        .map(|i| {
            let first = order[order.partition_point(|&f| compare(f, i).is_lt())];
            firsts.partition_point(|&f| f < first) as u32
        })
        .collect();
    (points.subset(&firsts), node_of)
}

struct WeightedEdge {
    a: u32,
    b: u32,
    squared: f64,
    weight: f64,
}

/// Neighbours of either, and what the spanning tree adds; ordered by their nodes.
fn edges(nodes: &Points, params: &Convex) -> Vec<WeightedEdge> {
    let mut pairs: Vec<(u32, u32, f64)> = Vec::new();
    let mut pieces = Components::new(nodes.len());
    for (i, near) in nearest(nodes, params.neighbours).iter().enumerate() {
        for &(d, j) in near {
            let i = i as u32;
            pieces.join(i, j);
            pairs.push((i.min(j), i.max(j), d));
        }
    }
    pairs.extend(bridge(nodes, &mut pieces, 1).iter().map(|e| (e.a.min(e.b), e.a.max(e.b), e.weight)));
    pairs.sort_by_key(|&(a, b, _)| (a, b));
    pairs.dedup_by_key(|&mut (a, b, _)| (a, b));
    let mut squared: Vec<f64> = pairs.iter().map(|p| p.2).collect();
    let middle = squared.len() / 2;
    let phi = params.phi.unwrap_or_else(|| match squared.len() {
        0 => 0.0,
        _ => 0.5 / *squared.select_nth_unstable_by(middle, f64::total_cmp).1,
    });
    let weight = |d: f64| if phi == 0.0 { 1.0 } else { exp((-phi * d).max(-700.0)).max(WEIGHT_FLOOR) };
    pairs.iter().map(|&(a, b, d)| WeightedEdge { a, b, squared: d, weight: weight(d) }).collect()
}

fn failed(reason: String) -> OracleError {
    OracleError::Failed { oracle: "convex".into(), reason }
}

impl Oracle for Convex {
    fn name(&self) -> &str {
        "convex"
    }

    fn cluster(&self, points: &Points, start: Start<'_>, _stream: &mut Stream) -> Result<Partition> {
        start.check(points)?;
        self.fit(points, start.k()).map(|fit| fit.partition)
    }
}

#[cfg(test)]
mod tests;
