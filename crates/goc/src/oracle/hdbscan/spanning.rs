//! The minimum spanning tree of the mutual reachability, by Boruvka's rounds over a k-d tree.
//!
//! In a round every component finds its shortest edge to another component; these edges join the
//! components, and at least half of them vanish. Four things make a round cheap, and none changes
//! its result:
//!
//! - The shortest edge of a *point* to another component is kept from round to round. Until the two
//!   components join it stays the shortest; afterwards its length is a lower bound on the next one.
//! - A point whose lower bound reaches the shortest edge that its component has found so far is not
//!   looked at. Threads share what they find: whoever finds less sees less, never something wrong.
//! - Nodes of the tree whose points all belong to the component of the point are skipped, and so are
//!   nodes that are too far or whose points are all too sparse (their least core distance).
//! - Everything is squared; the root is taken of the edges of the finished tree.
//!
//! Equal lengths: any of several shortest edges may be taken, as long as none closes a circle. All
//! minimum spanning trees have the same components at every length, and the hierarchy
//! ([`super::hierarchy`]) is made of these alone, so the choice is never seen.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::super::graph::{Components, Edge};
use super::tree::{Search, Tree};
use crate::Points;
use crate::kernel::LANES;

/// Leaves that one thread takes at once.
const RUN: usize = 32;
/// The component of a node with points of several.
const MIXED: u32 = u32::MAX;
/// No point.
const NONE: u32 = u32::MAX;

/// The edges of the minimum spanning tree, `n - 1` of them in no particular order. The core distance is the
/// distance to the `samples`-th point, the point itself being the first; `samples` is at most the
/// number of points.
pub(super) fn mutual_reachability_tree(points: &Points, samples: usize) -> Vec<Edge> {
    let tree = Tree::new(points);
    let core = core_distances(&tree, samples);
    let mut forest = Forest::new(&tree, core);
    let mut edges = Vec::with_capacity(points.len() - 1);
    while forest.round(&mut edges) {}
    edges
}

/// The squared core distance at every position; infinite in lanes without a point.
fn core_distances(tree: &Tree, samples: usize) -> Vec<f64> {
    let mut core = vec![f64::INFINITY; tree.leaves() * LANES];
    core.par_chunks_mut(RUN * LANES).enumerate().for_each(|(run, core)| {
        core_of_run(tree, samples, run * RUN, core);
    });
    core
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn core_of_run(tree: &Tree, samples: usize, first: usize, core: &mut [f64]) {
    // The number of features known to the compiler: half the time.
    match tree.features() {
        1 => core_of_points::<1>(tree, samples, first, core),
        2 => core_of_points::<2>(tree, samples, first, core),
        3 => core_of_points::<3>(tree, samples, first, core),
        _ => core_of_points::<0>(tree, samples, first, core),
    }
}

#[inline(always)]
fn core_of_points<const Q: usize>(tree: &Tree, samples: usize, first: usize, core: &mut [f64]) {
    let mut point = vec![0.0; tree.features()];
    let mut stack = Vec::new();
    let mut nearest = Nearest { distances: vec![0.0; samples] };
    for (leaf, core) in (first..).zip(core.chunks_exact_mut(LANES)) {
        for (position, core) in tree.positions(leaf).zip(core) {
            tree.copy_point(position, &mut point);
            nearest.distances.fill(f64::INFINITY);
            tree.search::<Q>(&point, leaf, &mut nearest, &mut stack);
            *core = nearest.bound();
        }
    }
}

/// The least distances so far, in ascending order.
struct Nearest {
    distances: Vec<f64>,
}

impl Search for Nearest {
    #[inline(always)]
    fn bound(&self) -> f64 {
        self.distances[self.distances.len() - 1]
    }

    #[inline(always)]
    fn floor(&self, _: usize) -> f64 {
        0.0
    }

    #[inline(always)]
    fn look(&mut self, _: usize, distances: &[f64; LANES]) {
        for &d in distances {
            if d < self.bound() {
                let mut at = self.distances.len() - 1;
                while at > 0 && self.distances[at - 1] > d {
                    self.distances[at] = self.distances[at - 1];
                    at -= 1;
                }
                self.distances[at] = d;
            }
        }
    }
}

/// The components so far.
struct Forest<'a> {
    tree: &'a Tree,
    components: Components,
    /// The component at each position, from 0 without gaps.
    of: Vec<u32>,
    /// The component of each node, or [`MIXED`].
    of_node: Vec<u32>,
    /// The squared core distance at each position, and the least one of each node.
    core: Vec<f64>,
    least_core: Vec<f64>,
    /// For each position: a lower bound on its edges to other components, and the end of the
    /// shortest one, or [`NONE`]. While the end is in another component, the bound is its length.
    bound: Vec<f64>,
    end: Vec<u32>,
}

impl<'a> Forest<'a> {
    fn new(tree: &'a Tree, core: Vec<f64>) -> Self {
        let n = tree.order.len();
        let mut least_core = vec![0.0; tree.nodes()];
        for node in (0..tree.nodes()).rev() {
            least_core[node] = match tree.leaf(node) {
                Some(leaf) => tree.positions(leaf).map(|p| core[p]).fold(f64::INFINITY, f64::min),
                None => {
                    let (left, right) = tree.children(node);
                    least_core[left].min(least_core[right])
                }
            };
        }
        Self {
            tree,
            components: Components::new(n),
            of: vec![MIXED; core.len()],
            of_node: vec![MIXED; tree.nodes()],
            bound: core.clone(),
            end: vec![NONE; core.len()],
            core,
            least_core,
        }
    }

    /// Joins every component to its nearest; false when there is only one left.
    fn round(&mut self, edges: &mut Vec<Edge>) -> bool {
        let count = self.components.count();
        if count <= 1 {
            return false;
        }
        self.name_components();
        let shortest = self.search(count);
        let mut best = vec![NONE; count];
        for position in 0..self.end.len() {
            if self.is_current(position) {
                let component = self.of[position] as usize;
                if best[component] == NONE && self.bound[position] <= length(&shortest[component]) {
                    best[component] = position as u32;
                }
            }
        }
        for position in best.into_iter().filter(|&p| p != NONE) {
            let (from, to) = (position as usize, self.end[position as usize] as usize);
            if self.components.join(position, to as u32) {
                let (a, b) = (self.tree.order[from], self.tree.order[to]);
                edges.push(Edge { a, b, weight: self.bound[from].sqrt() });
            }
        }
        true
    }

    fn name_components(&mut self) {
        let labels = self.components.labels();
        self.of[..labels.len()].copy_from_slice(&labels);
        for node in (0..self.tree.nodes()).rev() {
            self.of_node[node] = match self.tree.leaf(node) {
                Some(leaf) => {
                    let own = &self.of[self.tree.positions(leaf)];
                    if own.iter().all(|&c| c == own[0]) { own[0] } else { MIXED }
                }
                None => {
                    let (left, right) = self.tree.children(node);
                    if self.of_node[left] == self.of_node[right] { self.of_node[left] } else { MIXED }
                }
            };
        }
    }

    /// Whether the end kept for a position is in another component.
    fn is_current(&self, position: usize) -> bool {
        let end = self.end[position];
        end != NONE && self.of[end as usize] != self.of[position]
    }

    /// Finds new ends where they are needed; returns the shortest length of each component.
    fn search(&mut self, count: usize) -> Vec<AtomicU64> {
        let shortest: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(f64::INFINITY.to_bits())).collect();
        for position in 0..self.end.len() {
            if self.is_current(position) {
                lower(&shortest[self.of[position] as usize], self.bound[position]);
            }
        }
        let view = View {
            tree: self.tree,
            of: &self.of,
            of_node: &self.of_node,
            core: &self.core,
            least_core: &self.least_core,
            shortest: &shortest,
        };
        self.bound
            .par_chunks_mut(RUN * LANES)
            .zip(self.end.par_chunks_mut(RUN * LANES))
            .enumerate()
            .for_each(|(run, (bound, end))| search_run(&view, run * RUN, bound, end));
        shortest
    }
}

/// A length as it is shared between threads: numbers that are not negative are ordered as their bits are.
fn length(shared: &AtomicU64) -> f64 {
    f64::from_bits(shared.load(Relaxed))
}

fn lower(shared: &AtomicU64, length: f64) {
    shared.fetch_min(length.to_bits(), Relaxed);
}

/// What all threads see during a round.
struct View<'a> {
    tree: &'a Tree,
    of: &'a [u32],
    of_node: &'a [u32],
    core: &'a [f64],
    least_core: &'a [f64],
    shortest: &'a [AtomicU64],
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn search_run(view: &View<'_>, first: usize, bound: &mut [f64], end: &mut [u32]) {
    match view.tree.features() {
        1 => search_points::<1>(view, first, bound, end),
        2 => search_points::<2>(view, first, bound, end),
        3 => search_points::<3>(view, first, bound, end),
        _ => search_points::<0>(view, first, bound, end),
    }
}

#[inline(always)]
fn search_points<const Q: usize>(view: &View<'_>, first: usize, bound: &mut [f64], end: &mut [u32]) {
    let mut point = vec![0.0; view.tree.features()];
    let mut stack = Vec::new();
    let leaves = bound.chunks_exact_mut(LANES).zip(end.chunks_exact_mut(LANES));
    for (leaf, (bound, end)) in (first..).zip(leaves) {
        for ((position, bound), end) in view.tree.positions(leaf).zip(bound).zip(end) {
            let own = view.of[position];
            if *end != NONE && view.of[*end as usize] != own {
                continue;
            }
            let shortest = &view.shortest[own as usize];
            let limit = length(shortest);
            if *bound >= limit {
                continue;
            }
            view.tree.copy_point(position, &mut point);
            let mut outside = Outside { view, own, core: view.core[position], best: limit, end: NONE };
            view.tree.search::<Q>(&point, leaf, &mut outside, &mut stack);
            (*bound, *end) = (outside.best, outside.end);
            if outside.end != NONE {
                lower(shortest, outside.best);
            }
        }
    }
}

/// The nearest point outside of a component, by mutual reachability.
struct Outside<'a> {
    view: &'a View<'a>,
    own: u32,
    core: f64,
    best: f64,
    end: u32,
}

impl Search for Outside<'_> {
    #[inline(always)]
    fn bound(&self) -> f64 {
        self.best
    }

    #[inline(always)]
    fn floor(&self, node: usize) -> f64 {
        if self.view.of_node[node] == self.own {
            f64::INFINITY
        } else {
            self.view.least_core[node].max(self.core)
        }
    }

    #[inline(always)]
    fn look(&mut self, leaf: usize, distances: &[f64; LANES]) {
        let from = leaf * LANES;
        let cores: &[f64] = &self.view.core[from..from + LANES];
        let components = &self.view.of[from..from + LANES];
        for l in 0..LANES {
            let reach = distances[l].max(cores[l]).max(self.core);
            if reach < self.best && components[l] != self.own {
                self.best = reach;
                self.end = (from + l) as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congruential;
    use crate::oracle::graph::spanning_tree;
    use crate::oracle::graph::tests::blobs;
    use crate::points::squared_distance;

    /// Every pair: core distances by sorting, the tree by Prim.
    fn lengths_by_every_pair(points: &Points, samples: usize) -> Vec<f64> {
        let between = |i: usize, j: usize| squared_distance(points.row(i), points.row(j)).sqrt();
        let core: Vec<f64> = (0..points.len())
            .map(|i| {
                let mut all: Vec<f64> = (0..points.len()).map(|j| between(i, j)).collect();
                all.sort_by(f64::total_cmp);
                all[samples - 1]
            })
            .collect();
        let reach = |i: usize, j: usize| between(i, j).max(core[i]).max(core[j]);
        sorted(spanning_tree(points.len(), reach).iter().map(|edge| edge.weight).collect())
    }

    fn sorted(mut lengths: Vec<f64>) -> Vec<f64> {
        lengths.sort_by(f64::total_cmp);
        lengths
    }

    fn equals_every_pair(points: &Points, samples: usize) {
        let edges = mutual_reachability_tree(points, samples);
        let mut components = Components::new(points.len());
        assert!(edges.iter().all(|edge| components.join(edge.a, edge.b)), "a circle");
        assert_eq!(components.count(), 1);
        let lengths = sorted(edges.iter().map(|edge| edge.weight).collect());
        assert_eq!(lengths, lengths_by_every_pair(points, samples), "{samples} samples");
    }

    #[test]
    fn the_tree_is_as_short_as_that_of_every_pair() {
        for q in 1..=10 {
            for n in [1, 2, 7, 8, 9, 40, 350] {
                let points = blobs(q as u64, n, q, 6);
                for samples in [1, 2, 5, 12].into_iter().filter(|&samples| samples <= n) {
                    equals_every_pair(&points, samples);
                }
            }
        }
    }

    #[test]
    fn equal_points_equal_distances_and_constant_features_are_no_trouble() {
        let mut uniform = congruential::uniform(3);
        let grid = |q: usize, steps: f64, n: usize, uniform: &mut dyn FnMut() -> f64| {
            Points::new((0..n * q).map(|_| (uniform() * steps).floor()).collect(), q).unwrap()
        };
        for (q, steps) in [(1, 5.0), (2, 4.0), (2, 30.0), (3, 6.0), (5, 3.0), (10, 2.0)] {
            let points = grid(q, steps, 400, &mut uniform);
            for samples in [1, 3, 5, 30] {
                equals_every_pair(&points, samples);
            }
        }
        let constant = Points::new((0..300).flat_map(|_| [7.0, uniform(), -1e9]).collect(), 3).unwrap();
        let equal = Points::new(vec![2.5; 200], 2).unwrap();
        for points in [&constant, &equal] {
            for samples in [1, 5, 50, 100] {
                equals_every_pair(points, samples);
            }
        }
    }
}
