//! Neighbours, spanning trees and connected components, shared by the graph-based oracles.
//!
//! Spanning trees are computed from every pair: O(n^2 q) time, O(n) memory in addition to the
//! result. So are neighbours in many features; in few, a tree finds the same ones ([`Tree`]). Ties
//! go to the lower index, so no result depends on the order of evaluation.

use super::nearest::Tree;
use crate::Points;
use crate::points::squared_distance;
use rayon::prelude::*;

/// The `k` nearest other points of one point, nearest first: `(squared distance, number)`.
pub(crate) type Neighbours = Vec<(f64, u32)>;

/// Up to this many features a tree finds neighbours; in more, most boxes are near every point.
const TREE_UP_TO: usize = 8;

/// The `k` nearest other points of every point (all others if there are fewer).
pub(crate) fn nearest(points: &Points, k: usize) -> Vec<Neighbours> {
    let n = points.len();
    let k = k.min(n.saturating_sub(1));
    if points.features() <= TREE_UP_TO {
        return Tree::new(points).nearest(k);
    }
    nearest_of_all(points, k)
}

/// The same by looking at all pairs.
fn nearest_of_all(points: &Points, k: usize) -> Vec<Neighbours> {
    let n = points.len();
    let by_distance = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    (0..n)
        .into_par_iter()
        .map_init(Vec::new, |all: &mut Neighbours, i| {
            if k == 0 {
                return Vec::new();
            }
            let own = points.row(i);
            all.clear();
            all.extend(points.rows().enumerate().map(|(j, row)| (squared_distance(own, row), j as u32)));
            all.swap_remove(i);
            all.select_nth_unstable_by(k - 1, by_distance);
            let mut near = all[..k].to_vec();
            near.sort_unstable_by(by_distance);
            near
        })
        .collect()
}

/// True if every squared distance between points is finite: no coordinate range is beyond about
/// 1e150.
pub(crate) fn distances_are_finite(points: &Points) -> bool {
    let q = points.features();
    let mut low = vec![f64::INFINITY; q];
    let mut high = vec![f64::NEG_INFINITY; q];
    for row in points.rows() {
        for f in 0..q {
            low[f] = low[f].min(row[f]);
            high[f] = high[f].max(row[f]);
        }
    }
    points.is_empty() || squared_distance(&low, &high).is_finite()
}

/// An edge of a spanning tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Edge {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) weight: f64,
}

/// The minimum spanning tree of the complete graph on `n` nodes (Prim 1957), `n - 1` edges.
pub(super) fn spanning_tree(n: usize, weight: impl Fn(usize, usize) -> f64) -> Vec<Edge> {
    let mut edges = Vec::with_capacity(n.saturating_sub(1));
    // Nodes outside the tree, each with its lightest edge into it.
    let mut outside: Vec<Edge> =
        (1..n as u32).map(|b| Edge { a: 0, b, weight: weight(0, b as usize) }).collect();
    while !outside.is_empty() {
        let mut best = 0;
        for at in 1..outside.len() {
            let (e, f) = (&outside[at], &outside[best]);
            if e.weight < f.weight || (e.weight == f.weight && e.b < f.b) {
                best = at;
            }
        }
        let edge = outside.swap_remove(best);
        for e in &mut outside {
            let w = weight(edge.b as usize, e.b as usize);
            if w < e.weight {
                *e = Edge { a: edge.b, weight: w, ..*e };
            }
        }
        edges.push(edge);
    }
    edges
}

/// Disjoint sets of `0..n` that can be joined.
#[derive(Clone, Debug)]
pub(super) struct Components {
    parent: Vec<u32>,
    count: usize,
}

impl Components {
    pub(super) fn new(n: usize) -> Self {
        Self { parent: (0..n as u32).collect(), count: n }
    }

    /// The lowest member of the set of `i`.
    pub(super) fn find(&mut self, i: u32) -> u32 {
        let mut root = i;
        while self.parent[root as usize] != root {
            root = self.parent[root as usize];
        }
        let mut at = i;
        while at != root {
            at = std::mem::replace(&mut self.parent[at as usize], root);
        }
        root
    }

    /// Joins two sets; returns false if they were already joined.
    pub(super) fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        self.parent[a.max(b) as usize] = a.min(b);
        self.count -= 1;
        true
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The set of every node, numbered from 0 by the lowest member.
    pub(super) fn labels(&mut self) -> Vec<u32> {
        let n = self.parent.len();
        let mut number = vec![0; n];
        let mut next = 0;
        (0..n as u32)
            .map(|i| {
                let root = self.find(i);
                if root == i {
                    number[i as usize] = next;
                    next += 1;
                }
                number[root as usize]
            })
            .collect()
    }
}

/// Joins `components` by the shortest edges between points until `want` are left: single linkage of
/// the components. Returns the edges used.
pub(super) fn bridge(points: &Points, components: &mut Components, want: usize) -> Vec<Edge> {
    if components.count() <= want {
        return Vec::new();
    }
    // The spanning tree of all points contains a shortest bridge for every cut, and therefore every
    // edge needed here.
    let mut tree = spanning_tree(points.len(), |i, j| squared_distance(points.row(i), points.row(j)));
    tree.sort_by(|e, f| e.weight.total_cmp(&f.weight).then((e.a, e.b).cmp(&(f.a, f.b))));
    let mut used = Vec::new();
    for edge in tree {
        if components.count() <= want {
            break;
        }
        if components.join(edge.a, edge.b) {
            used.push(edge);
        }
    }
    used
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Partition;
    use crate::candidates::CandidatesBuilder;
    use crate::congruential;
    use crate::optimistic::Optimistic;
    use crate::oracle::{Oracle, OracleError, Start};
    use crate::random::stream;
    use proptest::prelude::*;

    /// `n` points of `q` features around `blobs` centres in a box of side 20, with every tenth one anywhere
    /// in it.
    pub(in crate::oracle) fn blobs(seed: u64, n: usize, q: usize, blobs: usize) -> Points {
        let mut uniform = congruential::uniform(seed);
        let centres: Vec<f64> = (0..blobs * q).map(|_| 20.0 * uniform()).collect();
        let mut values = Vec::new();
        for i in 0..n {
            for f in 0..q {
                values.push(if i % 10 == 9 {
                    20.0 * uniform()
                } else {
                    centres[i % blobs * q + f] + uniform() + uniform() + uniform() - 1.5
                });
            }
        }
        Points::new(values, q).unwrap()
    }

    /// The partition that a line of letters shows.
    pub(in crate::oracle) fn letters(line: &str) -> Partition {
        Partition::from_labels(line.as_bytes())
    }

    /// The same points of the plane in another order, turned and moved; and where each came from.
    pub(in crate::oracle) fn elsewhere(points: &Points) -> (Points, Vec<usize>) {
        let n = points.len();
        let from: Vec<usize> = (0..n).map(|i| (7 * i + 3) % n).collect();
        let turned = |&i: &usize| {
            let row = points.row(i);
            [0.6 * row[0] - 0.8 * row[1] + 31.0, 0.8 * row[0] + 0.6 * row[1] - 17.0]
        };
        (Points::new(from.iter().flat_map(turned).collect(), 2).unwrap(), from)
    }

    /// That `cluster` groups points alike in any order, place and direction.
    pub(in crate::oracle) fn does_not_mind_order_place_and_direction(cluster: impl Fn(&Points) -> Partition) {
        for seed in 1..6 {
            // 59 and 7 have no common factor, so the new order has every point once.
            let points = blobs(seed, 59, 2, 4);
            let (moved, from) = elsewhere(&points);
            let (before, after) = (cluster(&points), cluster(&moved));
            let before: Vec<u32> = from.iter().map(|&i| before.labels()[i]).collect();
            assert!(after.same_grouping(&Partition::from_labels(&before)), "seed {seed}");
        }
    }

    /// That GOC with this oracle puts three far groups of uncertain objects together.
    pub(in crate::oracle) fn works_inside_goc(oracle: &dyn Oracle) {
        let mut builder = CandidatesBuilder::new(2);
        let mut uniform = congruential::uniform(9);
        for i in 0..36 {
            let place = [10.0 * f64::from(i % 3) + uniform(), uniform()];
            let candidates: Vec<f64> = (0..4).flat_map(|_| place.map(|x| x + 0.2 * uniform())).collect();
            builder.push(&candidates, &[]).unwrap();
        }
        let candidates = builder.build().unwrap();
        let run = Optimistic::new(3).check(&candidates).unwrap().run(oracle, 1).unwrap();
        let truth: Vec<u32> = (0..36).map(|i| i % 3).collect();
        assert!(run.partition.same_grouping(&Partition::from_labels(&truth)), "{:?}", run.partition);
    }

    /// The answers that every oracle gives to bad requests.
    pub(in crate::oracle) fn refuses_bad_requests(oracle: &dyn Oracle) {
        let rng = &mut stream(1, 1);
        let points = blobs(1, 3, 2, 1);
        assert_eq!(oracle.cluster(&points, Start::K(0), rng), Err(OracleError::NoClusters));
        let too_many = OracleError::MoreClustersThanPoints { k: 4, n: 3 };
        assert_eq!(oracle.cluster(&points, Start::K(4), rng), Err(too_many));
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(oracle.cluster(&none, Start::K(1), rng), Err(OracleError::NoPoints));
        let huge = Points::new(vec![-1e300, 0.0, 1e300, 1.0], 1).unwrap();
        let error = oracle.cluster(&huge, Start::K(2), rng).unwrap_err().to_string();
        assert!(error.ends_with("too large to be squared; scale the features"), "{error}");
    }

    #[test]
    fn the_tree_finds_the_neighbours_of_the_search_through_all_pairs_ties_included() {
        for (n, q, k) in [(1, 2, 0), (2, 1, 1), (40, 3, 39), (700, 1, 12), (900, 3, 20), (300, 8, 7)] {
            let points = blobs(5, n, q, 4);
            assert_eq!(Tree::new(&points).nearest(k), nearest_of_all(&points, k));
            // On a grid of few values nearly all distances are ties.
            let coarse: Vec<f64> = points.values().iter().map(|v| (v / 4.0).round()).collect();
            let coarse = Points::new(coarse, q).unwrap();
            assert_eq!(Tree::new(&coarse).nearest(k), nearest_of_all(&coarse, k));
        }
    }

    proptest! {
        #[test]
        fn neighbours_are_those_of_a_full_sort(values in prop::collection::vec(-4i32..4, 2..60), k in 0usize..9) {
            let points = Points::new(values.iter().map(|&v| f64::from(v)).collect(), 1).unwrap();
            let n = points.len();
            for (i, near) in nearest(&points, k).iter().enumerate() {
                let mut all: Vec<(i32, u32)> =
                    (0..n).filter(|&j| j != i).map(|j| ((values[i] - values[j]).pow(2), j as u32)).collect();
                all.sort_unstable();
                all.truncate(k);
                let got: Vec<(i32, u32)> = near.iter().map(|&(d, j)| (d as i32, j)).collect();
                prop_assert_eq!(got, all);
            }
        }

        #[test]
        fn the_spanning_tree_is_as_light_as_kruskals(values in prop::collection::vec(-9i32..9, 2..40)) {
            let points = Points::new(values.iter().map(|&v| f64::from(v)).collect(), 1).unwrap();
            let n = points.len();
            let tree = spanning_tree(n, |i, j| squared_distance(points.row(i), points.row(j)));
            let mut all: Vec<(i32, u32, u32)> = (0..n)
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .map(|(i, j)| ((values[i] - values[j]).pow(2), i as u32, j as u32))
                .collect();
            all.sort_unstable();
            let mut sets = Components::new(n);
            let kruskal: i32 = all.iter().filter(|&&(_, a, b)| sets.join(a, b)).map(|e| e.0).sum();
            prop_assert_eq!(tree.iter().map(|e| e.weight).sum::<f64>(), f64::from(kruskal));
            let mut sets = Components::new(n);
            prop_assert!(tree.iter().all(|e| sets.join(e.a, e.b)) && sets.count() == 1);
        }
    }

    #[test]
    fn bridges_join_the_nearest_components_first() {
        let points = Points::new(vec![0.0, 1.0, 5.0, 6.0, 8.5, 30.0], 1).unwrap();
        let mut sets = Components::new(6);
        sets.join(0, 1);
        sets.join(2, 3);
        let used = bridge(&points, &mut sets, 2);
        assert_eq!(sets.labels(), [0, 0, 0, 0, 0, 1]);
        assert_eq!(used.iter().map(|e| e.weight).collect::<Vec<_>>(), [6.25, 16.0]);
    }
}
