//! From the minimum spanning tree to clusters: the hierarchy, its large components, and those of
//! them that last.
//!
//! Edges are added from the shortest on, all edges of one length at once, and the components that
//! they join become a node of the hierarchy. Read from the root down, a node with at least two large
//! children (`min_cluster_size` points) splits its cluster; a node with one or none only loses
//! points. The density `lambda = 1 / length` at which a point leaves the last large node that holds
//! it is kept, and with it
//!
//! - the excess of mass of each cluster, `sum over its points of (lambda at which the point leaves -
//!   lambda at which the cluster is born)`. A cluster is selected if it has at least that of the
//!   best selection below it. The root is never selected.
//! - the outlier score of each point (GLOSH, Campello et al. 2015), `1 - lambda / lambda_max`, with
//!   the highest density at which its cluster or one below still has `min_cluster_size` points.
//!
//! Nodes of one length are numbered by their lowest member and sums run over the points in order,
//! so the result depends on the components at every length and on nothing else: not on which of
//! several minimum spanning trees is given, nor on the order of its edges.

use super::super::graph::{Components, Edge};
use super::HdbscanFit;

/// No node, no cluster.
const NONE: u32 = u32::MAX;
/// The cluster of the root.
const ROOT: u32 = 0;

/// The clusters of the points that `edges` span, of at least `size` points each.
pub(super) fn clusters(edges: Vec<Edge>, size: usize) -> HdbscanFit {
    let n = edges.len() + 1;
    let condensed = Condensed::new(&Hierarchy::new(edges, size), size);
    let chosen = condensed.select();
    let deaths = condensed.deaths();
    let mut number = vec![NONE; chosen.len()];
    let mut clusters = 0;
    let mut labels = vec![None; n];
    for (label, &cluster) in labels.iter_mut().zip(&condensed.of_point) {
        let chosen = chosen[cluster as usize];
        if chosen != NONE {
            let number = &mut number[chosen as usize];
            if *number == NONE {
                *number = clusters;
                clusters += 1;
            }
            *label = Some(*number);
        }
    }
    let outlier_scores = condensed
        .of_point
        .iter()
        .zip(&condensed.leaves_at)
        .map(|(&cluster, &lambda)| {
            let death = deaths[cluster as usize];
            if death > 0.0 { (death - lambda) / death } else { 0.0 }
        })
        .collect();
    HdbscanFit { labels, clusters: clusters as usize, outlier_scores }
}

/// The density at a length. Equal points are together at any density.
fn density(length: f64) -> f64 {
    (1.0 / length).min(f64::MAX)
}

/// All components at all lengths: the points first, then every node after its children.
struct Hierarchy {
    points: usize,
    parent: Vec<u32>,
    /// The length at which the children join; of nodes, without the points.
    length: Vec<f64>,
    size: Vec<usize>,
    /// The number of large children.
    large: Vec<u32>,
}

impl Hierarchy {
    fn new(mut edges: Vec<Edge>, large: usize) -> Self {
        let n = edges.len() + 1;
        edges.sort_unstable_by(|a, b| a.weight.total_cmp(&b.weight));
        let mut tree = Self {
            points: n,
            parent: vec![NONE; n],
            length: Vec::with_capacity(n),
            size: vec![1; n],
            large: vec![0; n],
        };
        let mut components = Components::new(n);
        // The latest node of each component, at its lowest member.
        let mut node_of: Vec<u32> = (0..n as u32).collect();
        let (mut joined, mut grown) = (Vec::new(), Vec::new());
        for group in edges.chunk_by(|a, b| a.weight == b.weight) {
            joined.clear();
            for edge in group {
                joined.extend([components.find(edge.a), components.find(edge.b)]);
            }
            joined.sort_unstable();
            joined.dedup();
            for edge in group {
                components.join(edge.a, edge.b);
            }
            let before = tree.parent.len() as u32;
            grown.clear();
            for &member in &joined {
                let lowest = components.find(member);
                let child = node_of[member as usize];
                // The lowest member of a new component comes first among those that it was joined from.
                if lowest == member {
                    grown.push(member);
                    tree.begin(group[0].weight);
                    node_of[member as usize] = before + grown.len() as u32 - 1;
                }
                tree.adopt(node_of[lowest as usize], child, large);
            }
        }
        tree
    }

    fn begin(&mut self, length: f64) {
        self.parent.push(NONE);
        self.length.push(length);
        self.size.push(0);
        self.large.push(0);
    }

    fn adopt(&mut self, parent: u32, child: u32, large: usize) {
        let (p, c) = (parent as usize, child as usize);
        self.parent[c] = parent;
        self.size[p] += self.size[c];
        self.large[p] += u32::from(self.size[c] >= large);
    }
}

/// The clusters of the hierarchy: its large components, each from the split in which it is born to that in which
/// it ends. Numbered so that every cluster comes after the one it is part of; the first is the root.
struct Condensed {
    /// The last cluster that holds each point, and the density at which the point leaves it.
    of_point: Vec<u32>,
    leaves_at: Vec<f64>,
    parent: Vec<u32>,
    born: Vec<f64>,
    /// The density at which a cluster splits and how many points its parts have; none for most.
    split: Vec<(f64, usize)>,
}

impl Condensed {
    fn new(tree: &Hierarchy, size: usize) -> Self {
        let n = tree.points;
        let nodes = tree.parent.len();
        let mut found = Self {
            of_point: vec![ROOT; n],
            leaves_at: vec![0.0; n],
            parent: vec![NONE],
            born: vec![0.0],
            split: vec![(0.0, 0)],
        };
        // The cluster of each node, and the density of the last large node at or above it.
        let mut cluster = vec![ROOT; nodes];
        let mut lambda = vec![0.0; nodes];
        for v in (0..nodes).rev() {
            let parent = tree.parent[v] as usize;
            let is_root = tree.parent[v] == NONE;
            let mut inherited = 0.0;
            if !is_root {
                inherited = lambda[parent];
                cluster[v] = cluster[parent];
                if tree.size[v] >= size && tree.large[parent] >= 2 {
                    let from = cluster[parent] as usize;
                    found.split[from] = (inherited, found.split[from].1 + tree.size[v]);
                    cluster[v] = found.parent.len() as u32;
                    found.parent.push(from as u32);
                    found.born.push(inherited);
                    found.split.push((0.0, 0));
                }
            }
            if v < n {
                found.of_point[v] = cluster[v];
                found.leaves_at[v] = inherited;
            } else if tree.size[v] >= size {
                lambda[v] = density(tree.length[v - n]);
            } else {
                lambda[v] = inherited;
            }
        }
        found
    }

    /// For each cluster the selected one that it belongs to, or [`NONE`].
    fn select(&self) -> Vec<u32> {
        let count = self.parent.len();
        let mut mass = vec![0.0; count];
        for (&c, &lambda) in self.of_point.iter().zip(&self.leaves_at) {
            mass[c as usize] += lambda - self.born[c as usize];
        }
        for (c, &(lambda, points)) in self.split.iter().enumerate() {
            if points > 0 {
                mass[c] += (lambda - self.born[c]) * points as f64;
            }
        }
        let mut below = vec![0.0; count];
        let mut chosen = vec![NONE; count];
        for c in (1..count).rev() {
            if mass[c] >= below[c] {
                chosen[c] = c as u32;
            }
            below[self.parent[c] as usize] += f64::max(mass[c], below[c]);
        }
        for c in 1..count {
            let above = chosen[self.parent[c] as usize];
            if above != NONE {
                chosen[c] = above;
            }
        }
        chosen
    }

    /// The highest density at which each cluster, or one below it, has enough points.
    fn deaths(&self) -> Vec<f64> {
        let mut deaths: Vec<f64> = self.split.iter().map(|&(lambda, _)| lambda).collect();
        for (&c, &lambda) in self.of_point.iter().zip(&self.leaves_at) {
            deaths[c as usize] = f64::max(deaths[c as usize], lambda);
        }
        for c in (1..deaths.len()).rev() {
            let parent = self.parent[c] as usize;
            deaths[parent] = f64::max(deaths[parent], deaths[c]);
        }
        deaths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Points;
    use crate::congruential;
    use crate::oracle::graph::tests::blobs;
    use crate::oracle::hdbscan::Hdbscan;
    use crate::points::squared_distance;

    /// A cluster by the definition: its points with the density at which each leaves, and its parts.
    struct Cluster {
        points: Vec<usize>,
        mass: f64,
        parts: Vec<Cluster>,
    }

    /// The parts of `members` that edges shorter than `length` connect.
    fn parts(members: &[usize], reach: &[Vec<f64>], length: f64) -> Vec<Vec<usize>> {
        let mut left = members.to_vec();
        let mut parts = Vec::new();
        while let Some(seed) = left.pop() {
            let mut part = vec![seed];
            let mut at = 0;
            while at < part.len() {
                let (near, far) = left.iter().partition(|&&j| reach[part[at]][j] < length);
                part.extend::<Vec<usize>>(near);
                left = far;
                at += 1;
            }
            parts.push(part);
        }
        parts
    }

    fn cluster(points: Vec<usize>, born: f64, size: usize, reach: &[Vec<f64>], lengths: &[f64]) -> Cluster {
        let (mut mass, mut members) = (0.0, points.clone());
        for &length in lengths {
            let found = parts(&members, reach, length);
            if found.len() == 1 {
                continue;
            }
            let lambda = density(length);
            let (large, small): (Vec<_>, Vec<_>) = found.into_iter().partition(|part| part.len() >= size);
            mass += (lambda - born) * small.iter().map(|part| part.len() as f64).sum::<f64>();
            if large.len() != 1 {
                mass += (lambda - born) * large.iter().map(|part| part.len() as f64).sum::<f64>();
                let parts = large.into_iter().map(|p| cluster(p, lambda, size, reach, lengths)).collect();
                return Cluster { points, mass, parts };
            }
            members = large.concat();
        }
        unreachable!("at the shortest length every point is alone")
    }

    /// The selected clusters at or below `cluster`, and their mass.
    fn select(cluster: &Cluster) -> (f64, Vec<Vec<usize>>) {
        let below: Vec<_> = cluster.parts.iter().map(select).collect();
        let mass: f64 = below.iter().map(|(mass, _)| mass).sum();
        if cluster.mass >= mass {
            return (cluster.mass, vec![cluster.points.clone()]);
        }
        (mass, below.into_iter().flat_map(|(_, chosen)| chosen).collect())
    }

    fn labels_by_definition(points: &Points, size: usize, samples: usize) -> Vec<Option<u32>> {
        let n = points.len();
        let between = |i: usize, j: usize| squared_distance(points.row(i), points.row(j)).sqrt();
        let core: Vec<f64> = (0..n)
            .map(|i| {
                let mut all: Vec<f64> = (0..n).map(|j| between(i, j)).collect();
                all.sort_by(f64::total_cmp);
                all[samples - 1]
            })
            .collect();
        let reach: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| between(i, j).max(core[i]).max(core[j])).collect()).collect();
        let mut lengths: Vec<f64> = reach.concat();
        lengths.sort_by(|a, b| b.total_cmp(a));
        lengths.dedup();
        let root = cluster((0..n).collect(), 0.0, size, &reach, &lengths);
        let mut chosen: Vec<Vec<usize>> = root.parts.iter().flat_map(|part| select(part).1).collect();
        chosen.iter_mut().for_each(|members| members.sort_unstable());
        chosen.sort_unstable();
        let mut labels = vec![None; n];
        for (number, members) in chosen.iter().enumerate() {
            for &i in members {
                labels[i] = Some(number as u32);
            }
        }
        labels
    }

    #[test]
    fn the_clusters_are_those_of_the_definition_with_and_without_equal_distances() {
        let mut uniform = congruential::uniform(11);
        let mut most = 0;
        for steps in [0.0, 4.0, 9.0, 25.0] {
            for q in [1, 2, 3] {
                let points = if steps == 0.0 {
                    blobs(q as u64, 90, q, 5)
                } else {
                    let middle = |uniform: &mut dyn FnMut() -> f64| (uniform() + uniform()) * steps;
                    Points::new((0..90 * q).map(|_| middle(&mut uniform).floor()).collect(), q).unwrap()
                };
                for (size, samples) in [(2, 1), (3, 3), (5, 2), (5, 5), (4, 9)] {
                    let fit = Hdbscan::new(size).min_samples(samples).fit(&points).unwrap();
                    let want = labels_by_definition(&points, size, samples);
                    assert_eq!(fit.labels, want, "{steps} {q} {size} {samples}");
                    most = most.max(fit.clusters);
                }
            }
        }
        assert!(most > 5, "too easy: never more than {most} clusters");
    }
}
