//! The methods for uncertain objects on the paper's ten sets: NMI and F at K = 50, with the paper's
//! scaling.
//!
//! The published figures are those of an independent program on the same sets: UK-means 0.838 /
//! 0.681, box with the least distance 0.841 / 0.694, possible worlds with 100 worlds 0.866 / 0.709.
//! Single runs differ by about 0.01 by chance, so methods that begin with random k-means are
//! averaged over several streams.

mod common;

use std::path::Path;

use goc::baselines::boxes::{BoxDistance, Boxes};
use goc::baselines::expected_k_means::ExpectedKMeans;
use goc::baselines::possible_worlds::PossibleWorlds;
use goc::baselines::uk_means::{UkMeans, uk_means};
use goc::baselines::uk_medians::UkMedians;
use goc::baselines::{Grouped, Method};
use goc::metrics::Scores;
use goc::oracle::k_means::{KMeans, means};

/// Mean NMI and F over the ten sets and this many random streams.
fn mean_scores(folder: &Path, streams: u64, group: impl Fn(&goc::Candidates, u64) -> Grouped) -> (f64, f64) {
    let (mut nmi, mut f) = (0.0, 0.0);
    for seed in 1..=10 {
        let set = common::paper_set(folder, seed);
        for stream in 0..streams {
            let grouped = group(&set.candidates, 100 * stream + seed as u64);
            let scores = Scores::of(grouped.partition.labels(), &set.truth).unwrap();
            nmi += scores.nmi / (10 * streams) as f64;
            f += scores.f / (10 * streams) as f64;
        }
    }
    (nmi, f)
}

fn assert_near(name: &str, found: (f64, f64), published: (f64, f64)) {
    println!("{name}: {:.4} / {:.4}, published {} / {}", found.0, found.1, published.0, published.1);
    assert!((found.0 - published.0).abs() < 0.01, "{name}: NMI {}", found.0);
    assert!((found.1 - published.1).abs() < 0.01, "{name}: F {}", found.1);
}

#[test]
fn uk_means_scores_as_published() {
    let Some(folder) = common::data("uk_means_scores_as_published") else { return };
    let oracle = KMeans::default();
    let found = mean_scores(&folder, 6, |c, seed| UkMeans { oracle: &oracle, k: 50 }.group(c, seed).unwrap());
    assert_near("uk-means", found, (0.838, 0.681));
}

#[test]
fn boxes_started_from_uk_means_score_as_published_and_the_farthest_point_scores_less() {
    let Some(folder) = common::data("boxes_started_from_uk_means_score_as_published") else { return };
    let run = |distance| {
        mean_scores(&folder, 3, |c, seed| {
            let (partition, points) = uk_means(c, &KMeans::default(), 50, seed).unwrap();
            Boxes::new(50).distance(distance).group_from(c, &means(&points, &partition)).unwrap()
        })
    };
    let near = run(BoxDistance::Min);
    assert_near("boxes, from uk-means", near, (0.841, 0.694));
    let far = run(BoxDistance::Max);
    println!("boxes-max, from uk-means: {:.4} / {:.4}", far.0, far.1);
    assert!(far.0 < near.0 - 0.01);
}

#[test]
fn a_hundred_worlds_score_as_published() {
    let Some(folder) = common::data("a_hundred_worlds_score_as_published") else { return };
    let oracle = KMeans::default().starts(1);
    let found = mean_scores(&folder, 1, |c, seed| PossibleWorlds::new(&oracle, 50).group(c, seed).unwrap());
    assert_near("worlds", found, (0.866, 0.709));
}

/// No published figure: the order is what is promised. Medians beat means here, the sets have long tails.
#[test]
fn uk_medians_score_above_uk_means() {
    let Some(folder) = common::data("uk_medians_score_above_uk_means") else { return };
    let found = mean_scores(&folder, 1, |c, seed| UkMedians::new(50).starts(2).group(c, seed).unwrap());
    println!("uk-medians: {:.4} / {:.4}", found.0, found.1);
    assert!(found.0 > 0.838 && found.1 > 0.681, "{found:?}");
}

#[test]
fn pruning_saves_two_thirds_of_the_expected_distances_and_changes_nothing() {
    let Some(folder) = common::data("pruning_saves_two_thirds_of_the_expected_distances") else { return };
    let (mut computed, mut pruned) = (0, 0);
    for seed in 1..=10 {
        let set = common::paper_set(&folder, seed);
        let start = set.candidates.means().subset(&(0..50).map(|l| l * 5).collect::<Vec<_>>());
        let method = ExpectedKMeans::new(50);
        let (with, work) = method.group_from(&set.candidates, &start).unwrap();
        let (without, all) = method.pruning(false).group_from(&set.candidates, &start).unwrap();
        assert_eq!(with, without, "set {seed}");
        assert_eq!(work.computed + work.pruned, all.computed);
        computed += work.computed;
        pruned += work.pruned;
    }
    println!("expected distances: {computed} computed, {pruned} pruned");
    assert!(pruned > 2 * computed, "{computed} {pruned}");
}
