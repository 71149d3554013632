//! k-means by the distance to bounding boxes: the method for uncertain objects that the paper
//! compares with its own (Figure 3).
//!
//! Ngai et al. (2006) put the smallest box `B_i` around each object's candidates. As the paper
//! interprets them, k-means then measures the distance from the centre to the box instead of to a
//! point:
//!
//! ```text
//! min:  l_i = argmin_k min_{x in B_i} |x - c_k|^2        max:  l_i = argmin_k max_{x in B_i} |x - c_k|^2
//! ```
//!
//! The minimum distance is optimistic over the whole box, including its corners where there is no
//! candidate; the maximum is pessimistic. The centre of a cluster is **the mean of its members' set
//! means**, as in Ngai et al., whatever the distance. It does not minimise the sum of box
//! distances, so unlike that of k-means this objective may increase, and a run may cycle: it ends
//! when no label changes or at the limit of rounds, and reports which. Of several starts, the one
//! with the lowest k-means loss of the set means is chosen, because under the minimum distance many
//! partitions cost next to nothing.
//!
//! Starts matter: on the paper's ten sets at K = 50 random starts give NMI 0.85 and F 0.71, and one
//! run from UK-means' centres ([`Boxes::group_from`]) gives 0.845 and 0.69.
//!
//! In the original the boxes only bound expected distances; for that pruning see
//! [`super::expected_k_means`] and [`super::uk_medians`]. The cost of a round is `n K q`, whatever
//! the number of candidates.

use super::alternating_minimisation::{Model, Run, best_of_starts, descend};
use super::bounding::BoundingBoxes;
use super::expected_k_means::{check_features, mean_of_rows};
use super::{Grouped, Method, Result, Tick, check_k};
use crate::points::squared_distance;
use crate::{Candidates, Points};

/// The point of the box from which the distance is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoxDistance {
    /// The one nearest to the centre; 0 for a centre in the box.
    #[default]
    Min,
    /// The one farthest from the centre.
    Max,
}

/// k-means with distances to boxes.
///
/// ```
/// use goc::baselines::{Method, boxes::{BoxDistance, Boxes}};
/// use goc::candidates::CandidatesBuilder;
/// let mut builder = CandidatesBuilder::new(1);
/// for set in [[0.0, 1.0], [0.2, 0.8], [7.0, 9.0]] {
///     builder.push(&set, &[])?;
/// }
/// let candidates = builder.build()?;
/// let near = Boxes::new(2).group(&candidates, 1)?;
/// assert_eq!(near.partition.canonical().labels(), [0, 0, 1]);
/// assert_eq!(near.objective, Some(0.0)); // each centre lies in the boxes of its members
/// let far = Boxes::new(2).distance(BoxDistance::Max).group(&candidates, 1)?;
/// assert!((far.objective.unwrap() - (0.25 + 0.09 + 1.0)).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Boxes {
    k: usize,
    distance: BoxDistance,
    starts: usize,
    max_iterations: usize,
}

impl Boxes {
    /// For `k` clusters, with the minimum distance, 10 starts and at most 100 rounds.
    pub fn new(k: usize) -> Self {
        Self { k, distance: BoxDistance::Min, starts: 10, max_iterations: 100 }
    }

    setters! {
        /// The point of the box from which the distance is measured.
        distance: BoxDistance;
        /// The number of starts; at least one is made.
        starts: usize = starts.max(1);
        /// The maximum number of rounds of each start; at least one is made.
        max_iterations: usize = max_iterations.max(1);
    }

    /// One run from given centres instead of random ones.
    pub fn group_from(&self, candidates: &Candidates, centres: &Points) -> Result<Grouped> {
        check_k(centres.len(), candidates)?;
        check_features(centres, candidates)?;
        let model = self.model(candidates);
        let run = descend(&model, centres.clone(), self.max_iterations);
        Ok(run.grouped(model.means))
    }

    fn model(&self, candidates: &Candidates) -> BoxModel {
        BoxModel { boxes: BoundingBoxes::new(candidates), distance: self.distance, means: candidates.means() }
    }
}

struct BoxModel {
    boxes: BoundingBoxes,
    distance: BoxDistance,
    means: Points,
}

impl Model for BoxModel {
    fn cost(&self, i: usize, centre: &[f64]) -> f64 {
        match self.distance {
            BoxDistance::Min => self.boxes.min_squared(i, centre),
            BoxDistance::Max => self.boxes.max_squared(i, centre),
        }
    }

    fn anchors(&self) -> &Points {
        &self.means
    }

    fn centre(&self, members: &[usize], _old: &[f64]) -> Vec<f64> {
        mean_of_rows(&self.means, members)
    }
}

impl Method for Boxes {
    fn name(&self) -> &str {
        match self.distance {
            BoxDistance::Min => "boxes",
            BoxDistance::Max => "boxes-max",
        }
    }

    /// The objective is the sum of squared box distances of the result.
    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        check_k(self.k, candidates)?;
        let model = self.model(candidates);
        let loss_of_means = |run: &Run| {
            let own = run.partition.labels().iter().map(|&l| run.centres.row(l as usize));
            model.means.rows().zip(own).map(|(mean, centre)| squared_distance(mean, centre)).sum()
        };
        let way = |centres| descend(&model, centres, self.max_iterations);
        let run = best_of_starts("boxes", &model, self.k, self.starts, seed, loss_of_means, way)?;
        Ok(run.grouped(model.means))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::testing::{blobs, identical, one_object};
    use crate::method::MethodError;

    #[test]
    fn one_candidate_each_is_k_means_by_either_distance() {
        let candidates = blobs(50, 1, 2, 0.0, 4);
        let near = Boxes::new(5).group(&candidates, 7).unwrap();
        let far = Boxes::new(5).distance(BoxDistance::Max).group(&candidates, 7).unwrap();
        let points =
            crate::baselines::expected_k_means::ExpectedKMeans::new(5).group(&candidates, 7).unwrap();
        assert_eq!(near, far);
        assert_eq!(near.partition, points.partition);
    }

    #[test]
    fn every_object_is_where_a_plain_search_over_corners_and_clamped_points_puts_it() {
        let candidates = blobs(60, 5, 2, 1.0, 6);
        for distance in [BoxDistance::Min, BoxDistance::Max] {
            let grouped = Boxes::new(6).distance(distance).group(&candidates, 2).unwrap();
            assert!(grouped.converged);
            // At a fixed point the centres are the means of the members' means.
            let means = candidates.means();
            let centres = crate::oracle::k_means::means(&means, &grouped.partition);
            for i in 0..60 {
                let range = |f: usize| {
                    let column = candidates.feature(i, f);
                    let low = column.iter().copied().fold(f64::INFINITY, f64::min);
                    (low, column.iter().copied().fold(f64::NEG_INFINITY, f64::max))
                };
                let (x, y) = (range(0), range(1));
                let cost = |c: &[f64]| match distance {
                    BoxDistance::Min => squared_distance(&[c[0].clamp(x.0, x.1), c[1].clamp(y.0, y.1)], c),
                    BoxDistance::Max => [[x.0, y.0], [x.0, y.1], [x.1, y.0], [x.1, y.1]]
                        .iter()
                        .map(|corner| squared_distance(corner, c))
                        .fold(0.0, f64::max),
                };
                let own = cost(centres.row(grouped.partition.labels()[i] as usize));
                assert!(centres.rows().all(|c| own <= cost(c) + 1e-12));
            }
        }
    }

    #[test]
    fn degenerate_inputs_have_a_defined_answer() {
        assert_eq!(Boxes::new(1).group(&one_object(), 1).unwrap().partition.labels(), [0]);
        assert_eq!(Boxes::new(3).group(&identical(5), 1).unwrap().partition.k(), 1);
        let far = Boxes::new(3).distance(BoxDistance::Max).group(&identical(5), 1).unwrap();
        assert_eq!(far.partition.k(), 1);
        let apart = blobs(9, 4, 2, 0.001, 2);
        assert_eq!(Boxes::new(9).group(&apart, 1).unwrap().partition.k(), 9);
        assert!(!Boxes::new(3).starts(1).max_iterations(1).group(&apart, 1).unwrap().converged);
        let error = |k| Boxes::new(k).group(&apart, 1).unwrap_err();
        assert_eq!(error(0), MethodError::NoClusters);
        assert_eq!(error(10), MethodError::MoreClustersThanObjects { k: 10, n: 9 });
    }

    #[test]
    fn boxes_that_all_overlap_still_get_an_answer() {
        let mut builder = crate::candidates::CandidatesBuilder::new(1);
        for shift in [0.0, 0.1, 0.2, 0.3] {
            builder.push(&[shift - 10.0, shift + 10.0], &[]).unwrap();
        }
        let grouped = Boxes::new(2).group(&builder.build().unwrap(), 1).unwrap();
        assert_eq!(grouped.objective, Some(0.0));
        assert!(grouped.partition.k() <= 2 && grouped.converged);
    }
}
