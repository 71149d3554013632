//! Scores against the truth, with the rules for objects without a truth.
//!
//! An empty truth is unknown, and its object is not scored. A truth of -1 means that the object
//! belongs to no group, as does the label -1: each such object is a group of its own.

use std::collections::HashMap;

use goc::metrics::{MetricsError, Scores};

/// The truth of an object that is in no group.
pub const NO_GROUP: &str = "-1";

/// Scores of labels against the truth, or `None` if no object has one.
pub fn scores_of<L: Copy + Ord>(labels: &[L], truth: &[String]) -> Result<Option<Scores>, MetricsError> {
    let known: Vec<usize> = (0..truth.len()).filter(|&i| !truth[i].is_empty()).collect();
    if known.is_empty() {
        return Ok(None);
    }
    let labels: Vec<L> = known.iter().map(|&i| labels[i]).collect();
    let truth: Vec<String> = known.iter().map(|&i| truth[i].clone()).collect();
    Ok(Some(Scores::of(&labels, &numbered_groups(&truth))?))
}

/// Every score by its name.
pub fn by_name(scores: &Scores) -> [(&'static str, f64); 8] {
    [
        ("nmi", scores.nmi),
        ("f", scores.f),
        ("ari", scores.ari),
        ("ami", scores.ami),
        ("homogeneity", scores.homogeneity),
        ("completeness", scores.completeness),
        ("v_measure", scores.v_measure),
        ("purity", scores.purity),
    ]
}

/// Converts text labels to numbers, equal texts to equal numbers.
pub fn numbered(labels: &[String]) -> Vec<i64> {
    let mut seen: HashMap<&str, i64> = HashMap::new();
    labels
        .iter()
        .map(|label| {
            let next = seen.len() as i64;
            // Whole numbers keep their value, so the order and gaps of the user's numbering are
            // preserved.
            label.parse().unwrap_or_else(|_| *seen.entry(label).or_insert(i64::MIN + next))
        })
        .collect()
}

/// Like [`numbered`], but every [`NO_GROUP`] gets its own number.
pub fn numbered_groups(labels: &[String]) -> Vec<i64> {
    let apart = |(i, label): (usize, &String)| match label.as_str() {
        NO_GROUP => format!("no group {i}"),
        other => other.to_string(),
    };
    numbered(&labels.iter().enumerate().map(apart).collect::<Vec<String>>())
}

/// Whole-number labels in which every -1 gets its own number.
pub fn apart(labels: &[i64]) -> Vec<i64> {
    let own = |(i, &label): (usize, &i64)| if label == -1 { i64::MIN + i as i64 } else { label };
    labels.iter().enumerate().map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_in_no_group_by_the_truth_is_a_group_of_its_own() {
        let truth = ["1", "1", "-1", "-1", ""].map(String::from);
        let apart = scores_of(&[0, 0, 1, 2, 9], &truth).unwrap().unwrap();
        assert_eq!((apart.nmi, apart.ari), (1.0, 1.0));
        let together = scores_of(&[0, 0, 1, 1, 9], &truth).unwrap().unwrap();
        assert!(together.ari < 1.0);
        assert!(scores_of(&[0], &[String::new()]).unwrap().is_none());
    }
}
