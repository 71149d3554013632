//! What is known of every object before the chains start.

use super::blocks::{Blocks, Reader};
use super::chain::Near;
use super::cluster::weigh_alone;
use super::shape::Base;
use crate::Points;
use crate::objects::Objects;

/// The number of neighbours of each object that local splits and mergers consider.
const NEAR: usize = 60;

/// What is known of every object before the chains start.
pub(super) struct First {
    /// What the object has when alone, under each error model: the sum over candidates of weight
    /// times base density.
    pub(super) alone_sum: Vec<Vec<f64>>,
    /// The candidate with the largest weight, and its features.
    pub(super) likeliest: Vec<u32>,
    pub(super) points: Points,
}

impl First {
    pub(super) fn new(blocks: &Blocks<'_>, base: &Base, laws: usize) -> Self {
        let (n, q) = (blocks.objects(), base.features());
        let (mut alone_sum, mut likeliest) = (vec![Vec::with_capacity(n); laws], Vec::with_capacity(n));
        let mut points = vec![0.0; n * q];
        let (mut reader, mut lanes, mut sorted) = (Reader::default(), Vec::new(), Vec::new());
        for (i, point) in points.chunks_exact_mut(q).enumerate() {
            reader.load(blocks, i);
            for (law, sums) in alone_sum.iter_mut().enumerate() {
                reader.law = law;
                weigh_alone(base, reader.own(blocks, i), &mut lanes);
                blocks.in_order(i, &lanes, &mut sorted);
                sums.push(sorted.iter().sum());
            }
            reader.law = 0;
            let own = reader.own(blocks, i);
            blocks.in_order(i, own.all_weights(), &mut sorted);
            let best = largest(&sorted);
            likeliest.push(best);
            own.copy_place(blocks.spot_of(i, best), point);
        }
        Self { alone_sum, likeliest, points: Points::trusted(points, q) }
    }
}

/// The number of initial clusters when none is given. It is small: a large group that starts in
/// pieces teaches the metric that clusters are small, and stays in pieces. Finding a split is
/// easier than leaving such a state.
pub(super) fn first_clusters(n: usize) -> usize {
    ((n as f64).sqrt().ceil() as usize).max(n.min(3))
}

/// The nearest objects to each object, by the means of their sets.
pub(super) fn near(objects: &dyn Objects) -> Near {
    let count = NEAR.min(objects.objects().saturating_sub(1));
    let nearest = crate::oracle::graph::nearest(&objects.means(), count);
    Near::new(nearest.into_iter().map(|row| row.into_iter().map(|(_, j)| j)), count)
}

/// The index of the largest weight; the lower one on a tie.
pub(super) fn largest(weights: &[f64]) -> u32 {
    let mut best = 0;
    for (j, w) in weights.iter().enumerate() {
        if *w > weights[best] {
            best = j;
        }
    }
    best as u32
}
