//! The nearest neighbours of all points by a k-d tree.
//!
//! A node is split in the middle of the widest side of its box; a leaf has some points. A search
//! goes down to the nearer child first and skips a box that is farther than all neighbours found so
//! far. The distance to a box is computed with the operations of the distance to a point, and
//! rounding is monotone, so no neighbour is lost: the result is that of the search through all
//! pairs, to the last bit, ties included. Cost: about O(n log n) in few features.

use rayon::prelude::*;

use super::graph::Neighbours;
use crate::Points;
use crate::points::squared_distance;

/// The largest number of points in a leaf.
const LEAF: usize = 16;

/// Points in the order of the tree, and the boxes of its nodes.
pub(super) struct Tree<'a> {
    points: &'a Points,
    order: Vec<u32>,
    nodes: Vec<Node>,
}

struct Node {
    low: Vec<f64>,
    high: Vec<f64>,
    /// The points below, as a range of the order.
    from: usize,
    to: usize,
    /// The second child; the first follows its parent. 0 in a leaf.
    second: usize,
}

impl<'a> Tree<'a> {
    pub(super) fn new(points: &'a Points) -> Self {
        let mut tree = Self { points, order: (0..points.len() as u32).collect(), nodes: Vec::new() };
        tree.grow(0, points.len());
        tree
    }

    /// Makes the node of these points, and all below.
    fn grow(&mut self, from: usize, to: usize) {
        let (points, q) = (self.points, self.points.features());
        let (mut low, mut high) = (vec![f64::INFINITY; q], vec![f64::NEG_INFINITY; q]);
        let own = &mut self.order[from..to];
        for i in own.iter() {
            for (f, x) in points.row(*i as usize).iter().enumerate() {
                low[f] = low[f].min(*x);
                high[f] = high[f].max(*x);
            }
        }
        let at = self.nodes.len();
        let widest =
            (0..q).reduce(|best, f| if high[f] - low[f] > high[best] - low[best] { f } else { best });
        self.nodes.push(Node { low, high, from, to, second: 0 });
        let Some(f) = widest.filter(|_| to - from > LEAF) else { return };
        let half = (to - from) / 2;
        let of = |i: &u32| points.row(*i as usize)[f];
        own.select_nth_unstable_by(half, |a, b| of(a).total_cmp(&of(b)).then(a.cmp(b)));
        self.grow(from, from + half);
        self.nodes[at].second = self.nodes.len();
        self.grow(from + half, to);
    }

    /// The `k` nearest other points of every point, nearest first; ties go to the lower number.
    pub(super) fn nearest(&self, k: usize) -> Vec<Neighbours> {
        let of = |(heap, stack): &mut (Neighbours, Vec<(f64, usize)>), i: usize| {
            heap.clear();
            self.search(i, k, heap, stack);
            heap.clone()
        };
        (0..self.points.len()).into_par_iter().map_init(Default::default, of).collect()
    }

    /// Fills `found`, in ascending order, with the nearest of point `i`.
    fn search(&self, i: usize, k: usize, found: &mut Neighbours, stack: &mut Vec<(f64, usize)>) {
        if k == 0 {
            return;
        }
        let own = self.points.row(i);
        stack.clear();
        stack.push((0.0, 0));
        while let Some((least, mut at)) = stack.pop() {
            // A box that is exactly as far may hold a tie with a lower number.
            let beyond = |least: f64, found: &Neighbours| {
                found.len() == k && found.last().is_some_and(|last| least > last.0)
            };
            if beyond(least, found) {
                continue;
            }
            while self.nodes[at].second > 0 {
                let (a, b) = (at + 1, self.nodes[at].second);
                let (to_a, to_b) = (self.nodes[a].distance(own), self.nodes[b].distance(own));
                let (near, far) = if to_b < to_a { (b, (to_a, a)) } else { (a, (to_b, b)) };
                if !beyond(far.0, found) {
                    stack.push(far);
                }
                at = near;
            }
            let node = &self.nodes[at];
            for &j in self.order[node.from..node.to].iter().filter(|j| **j as usize != i) {
                let this = (squared_distance(own, self.points.row(j as usize)), j);
                let before =
                    |other: &(f64, u32)| other.0.total_cmp(&this.0).then(other.1.cmp(&this.1)).is_lt();
                if found.len() == k {
                    if found.last().is_some_and(before) {
                        continue;
                    }
                    found.pop();
                }
                let place = found.partition_point(before);
                found.insert(place, this);
            }
        }
    }
}

impl Node {
    /// The squared distance of a point to the box.
    fn distance(&self, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for ((x, low), high) in x.iter().zip(&self.low).zip(&self.high) {
            let away = (low - x).max(x - high).max(0.0);
            sum += away * away;
        }
        sum
    }
}
