//! A k-d tree whose leaves are blocks of eight points.
//!
//! The points are put into an order in which neighbours in space are neighbours in memory: a
//! *position* is a place in that order, and leaf `l` holds the positions from `8 l` on. Every node
//! covers a run of leaves and knows the box around their points. A node is split in the middle of
//! its leaves along the widest side of its box, so all leaves but the last are full. Within a leaf
//! the points lie feature after feature, so that one step of a vector unit computes all eight
//! distances.
//!
//! A distance to a box is computed with the operations of a distance to a point, in the same order.
//! Rounding is monotone, so it never exceeds the computed distance to a point in the box, and
//! skipping a box never loses a point.

use crate::Points;
use crate::kernel::LANES;

/// Nodes with more leaves than this are built on several threads.
const SPREAD: usize = 256;

/// The tree of some points.
pub(super) struct Tree {
    features: usize,
    leaves: usize,
    /// The point at each position.
    pub(super) order: Vec<u32>,
    /// The coordinates: leaf by leaf, feature by feature, eight lanes. Lanes without a point are infinite.
    blocks: Vec<f64>,
    /// The box of each node: all lows, then all highs.
    boxes: Vec<f64>,
    /// How many leaves each node covers. The left child follows its parent, the right child the
    /// nodes of the left.
    covered: Vec<u32>,
    /// The first leaf of each node.
    first: Vec<u32>,
}

/// What looks for points from one place: which nodes and leaves it still wants to see.
pub(super) trait Search {
    /// Nodes at this squared distance or beyond are skipped.
    fn bound(&self) -> f64;
    /// A lower bound on the value of every point of a node, whatever its distance; infinite to skip the node.
    fn floor(&self, node: usize) -> f64;
    /// Looks at the points of a leaf, given their squared distances.
    fn look(&mut self, leaf: usize, distances: &[f64; LANES]);
}

/// How many leaves the left child of a node with `leaves` leaves has.
fn left_leaves(leaves: usize) -> usize {
    leaves.div_ceil(2)
}

impl Tree {
    /// Of at least one point.
    pub(super) fn new(points: &Points) -> Self {
        let (n, q) = (points.len(), points.features());
        let leaves = n.div_ceil(LANES);
        let nodes = 2 * leaves - 1;
        let mut order: Vec<u32> = (0..n as u32).collect();
        let mut boxes = vec![0.0; nodes * 2 * q];
        let mut covered = vec![0; nodes];
        build(points, &mut order, &mut boxes, &mut covered);
        let mut blocks = vec![f64::INFINITY; leaves * q * LANES];
        for (position, &i) in order.iter().enumerate() {
            let block = position / LANES * q * LANES + position % LANES;
            for (f, &x) in points.row(i as usize).iter().enumerate() {
                blocks[block + f * LANES] = x;
            }
        }
        let mut first = vec![0; nodes];
        for node in 0..nodes {
            if covered[node] > 1 {
                let left = left_leaves(covered[node] as usize);
                first[node + 1] = first[node];
                first[node + 2 * left] = first[node] + left as u32;
            }
        }
        Self { features: q, leaves, order, blocks, boxes, covered, first }
    }

    pub(super) fn features(&self) -> usize {
        self.features
    }

    pub(super) fn leaves(&self) -> usize {
        self.leaves
    }

    pub(super) fn nodes(&self) -> usize {
        self.covered.len()
    }

    /// The positions in a leaf.
    pub(super) fn positions(&self, leaf: usize) -> std::ops::Range<usize> {
        leaf * LANES..((leaf + 1) * LANES).min(self.order.len())
    }

    /// The leaf that a node is, if it is one.
    #[inline(always)]
    pub(super) fn leaf(&self, node: usize) -> Option<usize> {
        (self.covered[node] == 1).then_some(self.first[node] as usize)
    }

    /// Both children of a node that is no leaf.
    #[inline(always)]
    pub(super) fn children(&self, node: usize) -> (usize, usize) {
        (node + 1, node + 2 * left_leaves(self.covered[node] as usize))
    }

    /// The coordinates at a position.
    #[inline(always)]
    pub(super) fn copy_point(&self, position: usize, into: &mut [f64]) {
        let block = &self.blocks[position / LANES * self.features * LANES..];
        for (f, x) in into.iter_mut().enumerate() {
            *x = block[f * LANES + position % LANES];
        }
    }

    /// Shows `search` all leaves that it wants to see from `point`, near ones first, beginning with
    /// leaf `home`. `Q` is the number of features, or 0 where it is not known beforehand.
    #[inline(always)]
    pub(super) fn search<const Q: usize>(
        &self,
        point: &[f64],
        home: usize,
        search: &mut impl Search,
        stack: &mut Vec<(f64, usize)>,
    ) {
        search.look(home, &self.distances::<Q>(point, home));
        stack.clear();
        stack.push((search.floor(0), 0));
        while let Some((lower, mut node)) = stack.pop() {
            if lower >= search.bound() {
                continue;
            }
            while self.covered[node] > 1 {
                let (left, right) = self.children(node);
                let l = self.to_box::<Q>(point, left).max(search.floor(left));
                let r = self.to_box::<Q>(point, right).max(search.floor(right));
                let (near, nearer, far, farther) =
                    if r < l { (right, r, left, l) } else { (left, l, right, r) };
                let bound = search.bound();
                if farther < bound {
                    stack.push((farther, far));
                }
                if nearer >= bound {
                    break;
                }
                node = near;
            }
            if self.covered[node] == 1 {
                let leaf = self.first[node] as usize;
                if leaf != home {
                    search.look(leaf, &self.distances::<Q>(point, leaf));
                }
            }
        }
    }

    /// The squared distances of `point` to the points of a leaf.
    #[inline(always)]
    fn distances<const Q: usize>(&self, point: &[f64], leaf: usize) -> [f64; LANES] {
        let q = if Q == 0 { self.features } else { Q };
        let block = &self.blocks[leaf * q * LANES..(leaf + 1) * q * LANES];
        let mut sum = [0.0; LANES];
        for (x, lanes) in point[..q].iter().zip(block.as_chunks::<LANES>().0) {
            for l in 0..LANES {
                let d = x - lanes[l];
                sum[l] += d * d;
            }
        }
        sum
    }

    /// The squared distance of `point` to the box of a node; zero inside.
    #[inline(always)]
    fn to_box<const Q: usize>(&self, point: &[f64], node: usize) -> f64 {
        let q = if Q == 0 { self.features } else { Q };
        let (low, high) = self.boxes[node * 2 * q..(node + 1) * 2 * q].split_at(q);
        let mut sum = 0.0;
        for f in 0..q {
            let d = (low[f] - point[f]).max(point[f] - high[f]).max(0.0);
            sum += d * d;
        }
        sum
    }
}

/// Orders the points of a node, and makes its box and those of all nodes below.
fn build(points: &Points, order: &mut [u32], boxes: &mut [f64], covered: &mut [u32]) {
    let q = points.features();
    let leaves = order.len().div_ceil(LANES);
    covered[0] = leaves as u32;
    let (own, below) = boxes.split_at_mut(2 * q);
    let (low, high) = own.split_at_mut(q);
    low.fill(f64::INFINITY);
    high.fill(f64::NEG_INFINITY);
    for &i in order.iter() {
        for (f, &x) in points.row(i as usize).iter().enumerate() {
            low[f] = low[f].min(x);
            high[f] = high[f].max(x);
        }
    }
    if leaves == 1 {
        return;
    }
    let mut widest = 0;
    for f in 1..q {
        if high[f] - low[f] > high[widest] - low[widest] {
            widest = f;
        }
    }
    let left = left_leaves(leaves);
    let value = |i: u32| points.row(i as usize)[widest];
    order.select_nth_unstable_by(left * LANES, |&a, &b| value(a).total_cmp(&value(b)).then(a.cmp(&b)));
    let (lower, upper) = order.split_at_mut(left * LANES);
    let nodes = 2 * left - 1;
    let (lower_boxes, upper_boxes) = below.split_at_mut(nodes * 2 * q);
    let (lower_covered, upper_covered) = covered[1..].split_at_mut(nodes);
    let mut lower = || build(points, lower, lower_boxes, lower_covered);
    let mut upper = || build(points, upper, upper_boxes, upper_covered);
    if leaves > SPREAD {
        rayon::join(lower, upper);
    } else {
        lower();
        upper();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::graph::tests::blobs;
    use crate::points::squared_distance;

    #[test]
    fn boxes_hold_their_points_and_leaves_are_full_but_the_last() {
        for n in [1, 7, 8, 9, 64, 1000] {
            let points = blobs(1, n, 3, 4);
            let tree = Tree::new(&points);
            let mut seen = tree.order.clone();
            seen.sort_unstable();
            assert!(seen.iter().copied().eq(0..n as u32));
            for node in 0..tree.nodes() {
                let first = tree.first[node] as usize;
                let leaves = first..first + tree.covered[node] as usize;
                for position in leaves.flat_map(|leaf| tree.positions(leaf)) {
                    let row = points.row(tree.order[position] as usize);
                    let mut copied = [0.0; 3];
                    tree.copy_point(position, &mut copied);
                    assert_eq!(row, copied);
                    assert_eq!(tree.to_box::<3>(row, node), 0.0);
                }
            }
        }
    }

    #[test]
    fn a_box_is_never_farther_than_its_points() {
        let points = blobs(2, 300, 3, 5);
        let tree = Tree::new(&points);
        for row in points.rows() {
            for node in 0..tree.nodes() {
                let lower = tree.to_box::<0>(row, node);
                let first = tree.first[node] as usize;
                for leaf in first..first + tree.covered[node] as usize {
                    let distances = tree.distances::<3>(row, leaf);
                    for position in tree.positions(leaf) {
                        let distance = squared_distance(row, points.row(tree.order[position] as usize));
                        assert_eq!(distance, distances[position % LANES]);
                        assert!(lower <= distance);
                    }
                }
            }
        }
    }
}
