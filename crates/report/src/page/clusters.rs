//! The contents of the table of clusters: size, centre and spread in the input's own units and, if
//! there is a truth, the group that a cluster matches.
//!
//! The centre is the mean of the members' places, the spread their standard deviation (`n - 1` below; 0 for a
//! cluster of one). Cost: O(n q).

use std::collections::{BTreeMap, HashMap};

use goc::metrics::Scores;

use super::input::{Page, PageError};

/// One cluster, or the objects in none.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cluster {
    /// None: the objects in no group.
    pub label: Option<u32>,
    pub size: usize,
    pub centre: Vec<f64>,
    pub spread: Vec<f64>,
    /// Mean probability of the members that have one; NaN if none has.
    pub probability: f64,
}

/// The clusters in the order of their labels, the objects in none last.
pub(super) fn clusters(page: &Page) -> Vec<Cluster> {
    let mut members: BTreeMap<(bool, Option<u32>), Vec<usize>> = BTreeMap::new();
    for (i, label) in page.labels.iter().enumerate() {
        members.entry((label.is_none(), *label)).or_default().push(i);
    }
    let mean = |values: &mut dyn Iterator<Item = f64>| {
        let (mut sum, mut count) = (0.0, 0.0);
        for value in values.filter(|v| !v.is_nan()) {
            (sum, count) = (sum + value, count + 1.0);
        }
        if count > 0.0 { sum / count } else { f64::NAN }
    };
    members
        .into_iter()
        .map(|((_, label), members)| {
            let centre: Vec<f64> =
                page.features.iter().map(|f| mean(&mut members.iter().map(|&i| f.values[i]))).collect();
            let below = (members.len().max(2) - 1) as f64;
            let spread = page.features.iter().zip(&centre).map(|(f, centre)| {
                members.iter().map(|&i| (f.values[i] - centre).powi(2) / below).sum::<f64>().sqrt()
            });
            Cluster {
                label,
                size: members.len(),
                spread: spread.collect(),
                centre,
                probability: page
                    .probability
                    .as_ref()
                    .map_or(f64::NAN, |p| mean(&mut members.iter().map(|&i| p[i]))),
            }
        })
        .collect()
}

/// The clusters against the truth.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Confusion {
    pub scores: Scores,
    /// Number of objects that have a truth.
    pub judged: usize,
    /// True groups, in the order of their first cluster, so that a good clustering is a diagonal.
    pub groups: Vec<String>,
    /// The group of each object, counted from 0; `None` if the truth is unknown.
    pub group_of: Vec<Option<u32>>,
    /// Position of the cluster in [`clusters`], group, objects; only where there are any.
    pub cells: Vec<(u32, u32, u64)>,
}

/// `None` if no object has a truth. In the scores, each object in no group counts as a group of its
/// own, as in `goc score`.
pub(super) fn confusion(page: &Page, clusters: &[Cluster]) -> Result<Option<Confusion>, PageError> {
    let Some(truth) = &page.truth else { return Ok(None) };
    let row_of: HashMap<Option<u32>, u32> = clusters.iter().zip(0..).map(|(c, at)| (c.label, at)).collect();
    let mut count: BTreeMap<(&str, u32), u64> = BTreeMap::new();
    let (mut predicted, mut known) = (Vec::new(), Vec::new());
    for (i, group) in truth.iter().enumerate().filter(|(_, group)| !group.is_empty()) {
        *count.entry((group, row_of[&page.labels[i]])).or_default() += 1;
        predicted.push(page.labels[i].map_or(-1 - i as i64, i64::from));
        known.push(group.as_str());
    }
    if known.is_empty() {
        return Ok(None);
    }
    // A group is placed at the cluster that contains most of it.
    let mut best: BTreeMap<&str, (u64, u32)> = BTreeMap::new();
    for (&(group, row), &objects) in &count {
        let entry = best.entry(group).or_insert((0, row));
        if objects > entry.0 {
            *entry = (objects, row);
        }
    }
    let mut order: Vec<(&str, (u64, u32))> = best.into_iter().collect();
    order.sort_by(|a, b| (a.1.1, b.1.0, natural(a.0)).cmp(&(b.1.1, a.1.0, natural(b.0))));
    let at: HashMap<&str, u32> = order.iter().zip(0..).map(|((group, _), at)| (*group, at)).collect();
    let mut cells: Vec<(u32, u32, u64)> =
        count.iter().map(|(&(group, row), &objects)| (row, at[group], objects)).collect();
    cells.sort_unstable();
    Ok(Some(Confusion {
        scores: Scores::of(&predicted, &known)?,
        judged: known.len(),
        groups: order.iter().map(|(group, _)| (*group).to_string()).collect(),
        group_of: truth.iter().map(|group| at.get(group.as_str()).copied()).collect(),
        cells,
    }))
}

/// Sorts numbers by value, followed by text.
fn natural(name: &str) -> (i64, &str) {
    (name.parse().unwrap_or(i64::MAX), name)
}

#[cfg(test)]
mod tests {
    use super::super::input::Feature;
    use super::*;

    fn page(labels: &[Option<u32>], x: &[f64]) -> Page {
        let ids = (0..x.len()).map(|i| format!("s{i}")).collect();
        let x = Feature { name: "x".into(), unit: None, values: x.to_vec() };
        Page::new(ids, labels.to_vec(), vec![x]).unwrap()
    }

    #[test]
    fn centre_and_spread_are_those_of_the_members() {
        let found = clusters(&page(&[Some(3), None, Some(3), Some(1)], &[1.0, 50.0, 3.0, 9.0]));
        let told: Vec<_> = found.iter().map(|c| (c.label, c.size, c.centre[0], c.spread[0])).collect();
        assert_eq!(told, [(Some(1), 1, 9.0, 0.0), (Some(3), 2, 2.0, 2_f64.sqrt()), (None, 1, 50.0, 0.0)]);
        assert!(found[0].probability.is_nan());
    }

    #[test]
    fn a_cluster_extra_is_that_of_the_first_member_who_knows_and_never_of_noise() {
        let values = vec![f64::NAN, 0.9, 0.25, 0.5];
        let extra = super::super::input::Extra { name: "q".into(), description: String::new(), values };
        let labels = [Some(3), None, Some(3), Some(1)];
        let page = page(&labels, &[1.0; 4]).cluster_extra_of_members(extra).unwrap();
        assert_eq!(page.cluster_extras[0].1, HashMap::from([(3, 0.25), (1, 0.5)]));
    }

    #[test]
    fn scores_leave_out_what_has_no_truth_and_take_each_noise_object_for_a_group() {
        let labels = [Some(0), Some(0), Some(1), None, None, Some(1)];
        let truth = ["b", "b", "a", "a", "c", ""].map(String::from).to_vec();
        let page = page(&labels, &[0.0; 6]).truth(truth).unwrap();
        let found = confusion(&page, &clusters(&page)).unwrap().unwrap();
        assert_eq!(found.judged, 5);
        assert_eq!(found.scores, Scores::of(&[0, 0, 1, 2, 3], &["b", "b", "a", "a", "c"]).unwrap());
        // b is cluster 0; a goes with cluster 1, the first of two that have one each; c is only in no group.
        assert_eq!(found.groups, ["b", "a", "c"]);
        assert_eq!(found.cells, [(0, 0, 2), (1, 1, 1), (2, 1, 1), (2, 2, 1)]);
        assert_eq!(found.group_of, [Some(0), Some(0), Some(1), Some(1), Some(2), None]);
    }

    #[test]
    fn cells_add_up_to_the_objects_that_have_a_truth() {
        let labels: Vec<Option<u32>> = (0..60).map(|i| (i % 7 != 0).then_some(i % 5)).collect();
        let truth = (0..60).map(|i| if i % 11 == 0 { String::new() } else { (i % 4).to_string() }).collect();
        let page = page(&labels, &[0.0; 60]).truth(truth).unwrap();
        let found = confusion(&page, &clusters(&page)).unwrap().unwrap();
        assert_eq!(found.cells.iter().map(|cell| cell.2).sum::<u64>(), found.judged as u64);
        assert_eq!(found.judged, 54);
    }
}
