//! The partitions from which EM begins.
//!
//! Two or more features: the tree of [`super::hierarchy`] cut at every number of groups. One
//! feature: the values cut at their quantiles, as mclust does, since with sorted values a tree has
//! nothing to add.

use super::hierarchy::Tree;
use super::transform::scaled_svd;
use crate::Points;

/// Start partitions for every number of groups up to the number of distinct points.
pub(super) struct Starts {
    /// For each point the number of its distinct point, by first appearance.
    group: Vec<u32>,
    distinct: usize,
    source: Source,
}

enum Source {
    Tree(Tree),
    /// For each point how many points are less than or equal to it, minus one.
    Quantiles(Vec<usize>),
}

impl Starts {
    /// Prepares the starts; `columns` are the features of `points`, possibly shifted and scaled.
    pub(super) fn new(points: &Points, columns: &[Vec<f64>]) -> Self {
        let (group, firsts) = distinct_groups(points);
        let source = match columns {
            [values] => Source::Quantiles(last_ranks(values)),
            _ => Source::Tree(Tree::grow(&scaled_svd(columns), &group, firsts)),
        };
        Self { group, distinct: firsts, source }
    }

    /// How many different points there are: the most groups a start can have.
    pub(super) fn distinct(&self) -> usize {
        self.distinct
    }

    /// All points, neighbours side by side: the leaves of the tree, or the values in order.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.group.len()).collect();
        match &self.source {
            Source::Tree(tree) => {
                let mut place = vec![0; self.distinct];
                for (at, &leaf) in tree.leaves().iter().enumerate() {
                    place[leaf as usize] = at;
                }
                order.sort_by_key(|&i| place[self.group[i] as usize]);
            }
            Source::Quantiles(ranks) => order.sort_by_key(|&i| ranks[i]),
        }
        order
    }

    /// True when a start with more groups splits groups of one with fewer.
    pub(super) fn nested(&self) -> bool {
        matches!(self.source, Source::Tree(_))
    }

    /// Writes the labels of the start with `groups` groups, numbered `0..groups`, all used.
    pub(super) fn labels(&self, groups: usize, labels: &mut Vec<u32>) {
        labels.clear();
        match &self.source {
            Source::Tree(tree) => {
                let cut = tree.cut(groups);
                labels.extend(self.group.iter().map(|&g| cut[g as usize]));
            }
            Source::Quantiles(ranks) => {
                quantile_labels(ranks, groups, labels);
                let mut used = vec![false; groups];
                labels.iter().for_each(|&l| used[l as usize] = true);
                if used.contains(&false) {
                    // Many equal values can leave a quantile class empty: cut the distinct values.
                    labels.clear();
                    quantile_labels(&distinct_ranks(ranks), groups, labels);
                }
            }
        }
    }
}

/// The class of a value is the number of the `groups - 1` inner quantiles at or below it.
///
/// The quantile `j / groups` (linear between order statistics) lies at place `(n - 1) j / groups`.
/// A value whose last equal has rank `r` is not below it exactly when `r >= (n - 1) j / groups`:
/// whole numbers decide.
fn quantile_labels(last_rank: &[usize], groups: usize, labels: &mut Vec<u32>) {
    let highest = last_rank.iter().copied().max().unwrap_or(0).max(1);
    labels.extend(last_rank.iter().map(|r| (r * groups / highest).min(groups - 1) as u32));
}

fn last_ranks(values: &[f64]) -> Vec<usize> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    values.iter().map(|v| sorted.partition_point(|s| s <= v).saturating_sub(1)).collect()
}

fn distinct_ranks(last_rank: &[usize]) -> Vec<usize> {
    let mut used = last_rank.to_vec();
    used.sort_unstable();
    used.dedup();
    last_rank.iter().map(|r| used.partition_point(|u| u < r)).collect()
}

/// Equal points get equal numbers, counted by first appearance; and how many there are.
fn distinct_groups(points: &Points) -> (Vec<u32>, usize) {
    let firsts = points.distinct_rows();
    if firsts.len() == points.len() {
        return ((0..points.len() as u32).collect(), firsts.len());
    }
    let compare = |a: usize, b: usize| {
        let pairs = points.row(a).iter().zip(points.row(b));
        pairs
            .map(|(x, y)| x.partial_cmp(y).unwrap_or(std::cmp::Ordering::Equal))
            .find(|o| o.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    };
    let mut by_value: Vec<u32> = (0..firsts.len() as u32).collect();
    by_value.sort_by(|&a, &b| compare(firsts[a as usize], firsts[b as usize]));
    let group = (0..points.len())
        .map(|i| by_value[by_value.partition_point(|&g| compare(firsts[g as usize], i).is_lt())])
        .collect();
    (group, firsts.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantile_start(values: &[f64], groups: usize) -> Vec<u32> {
        let points = Points::new(values.to_vec(), 1).unwrap();
        let mut labels = Vec::new();
        Starts::new(&points, &[values.to_vec()]).labels(groups, &mut labels);
        labels
    }

    /// Expected classes from mclust 6.0.0 (its classes of quantiles), numbered from 0.
    #[test]
    fn one_feature_is_cut_at_its_quantiles_as_mclust_does() {
        let x = [1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 9.0, 10.0];
        assert_eq!(quantile_start(&x, 2), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
        assert_eq!(quantile_start(&x, 3), [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]);
        assert_eq!(quantile_start(&x, 4), [0, 0, 0, 1, 1, 2, 3, 3, 3, 3]);
        let nine: Vec<f64> = (1..10).map(f64::from).collect();
        assert_eq!(quantile_start(&nine, 4), [0, 0, 1, 1, 2, 2, 3, 3, 3]);
        let noise = [
            -0.962, -0.293, 0.259, -1.152, 0.196, 0.030, 0.085, 1.117, -1.219, 1.267, -0.745, -1.131, -0.716,
            0.253, 0.152, -0.308, -0.953,
        ];
        assert_eq!(quantile_start(&noise, 4), [0, 2, 3, 0, 3, 2, 2, 3, 0, 3, 1, 0, 1, 3, 2, 1, 1]);
    }

    #[test]
    fn every_quantile_class_is_used_even_with_many_equal_values() {
        let x = [1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 3.0, 2.0, 5.0, 5.0, 5.0];
        for groups in 1..=4 {
            let mut used = quantile_start(&x, groups);
            used.sort_unstable();
            used.dedup();
            assert_eq!(used.len(), groups);
        }
    }

    #[test]
    fn equal_points_share_a_number_given_by_first_appearance() {
        let rows = [[3.0, 1.0], [0.0, 2.0], [3.0, 1.0], [-0.0, 2.0], [0.0, 1.0]];
        let points = Points::from_rows(&rows).unwrap();
        assert_eq!(distinct_groups(&points), (vec![0, 1, 0, 1, 2], 3));
    }
}
