//! The oracles on the mean vectors of the authors' ten sets, beside what R finds there.

mod common;

use goc::metrics::Scores;
use goc::oracle::Start;
use goc::oracle::gmm_diag::GmmDiag;
use goc::oracle::k_means::KMeans;
use goc::oracle::k_medoids::KMedoids;
use goc::random::r::RStream;
use goc::random::stream;
use goc::{Partition, Points};

#[test]
fn k_means_from_rs_own_draws_is_rs_k_means() {
    let Some(folder) = common::data("k_means_from_rs_own_draws_is_rs_k_means") else { return };
    // R 4.2.2: set.seed(100000 + 1000 set + K); kmeans(means, K, nstart = 100), which draws each start by
    // sample.int.
    let sets: Vec<Points> = (1..=10).map(|set| common::paper_means(&folder, set)).collect();
    let mut compared = 0;
    for ((_, k, set), labels) in common::first_labels(&folder).iter().filter(|((o, ..), _)| o == "k-means") {
        let means = &sets[set - 1];
        assert_eq!(means.distinct(), means.len());
        let mut draws = RStream::new(100_000 + 1000 * *set as i32 + *k as i32);
        let best = (0..100)
            .map(|_| means.subset(&draws.sample(means.len(), *k as usize)))
            .map(|c| KMeans::default().fit(means, Start::Centres(&c), &mut stream(1, 0)).unwrap())
            .reduce(|a, b| if b.loss < a.loss { b } else { a })
            .unwrap();
        let theirs = Partition::from_labels(labels);
        assert_eq!(best.partition.canonical(), theirs.canonical(), "set {set}, K = {k}");
        compared += 1;
    }
    assert_eq!(compared, 50);
}

#[test]
fn k_medoids_finds_losses_not_above_those_of_cluster_r() {
    let Some(folder) = common::data("k_medoids_finds_losses_not_above_those_of_cluster_r") else { return };
    // ClusterR 1.2.6, Cluster_Medoids.
    let rows = common::reference(&folder, "oracles.csv");
    let (seeds, ks, losses) = (rows.numbers("seed"), rows.numbers("K"), rows.numbers("loss"));
    let oracles = rows.texts("oracle");
    for k in [30, 50, 70] {
        let mut not_above = 0;
        for seed in 1..=10 {
            let row = (0..rows.len())
                .find(|&r| oracles[r] == "k-medoids" && seeds[r] as usize == seed && ks[r] as usize == k)
                .unwrap();
            let means = common::paper_means(&folder, seed);
            let fit = KMedoids::default().fit(&means, Start::K(k), &mut stream(1, 0)).unwrap();
            assert!(fit.converged);
            assert!(fit.loss < 1.01 * losses[row], "set {seed}, K = {k}: {} {}", fit.loss, losses[row]);
            // The same medoids summed in another order differ in the last digits.
            not_above += usize::from(fit.loss <= losses[row] * (1.0 + 1e-12));
        }
        assert!(not_above >= 9, "K = {k}: {not_above} of 10 sets");
    }
}

#[test]
fn the_cluster_r_mixture_has_the_labels_of_cluster_r() {
    let Some(folder) = common::data("the_cluster_r_mixture_has_the_labels_of_cluster_r") else { return };
    // ClusterR 1.2.6, GMM with its default seed, which is 1; labels from 1.
    let firsts = common::first_labels(&folder);
    for set in 1..=10 {
        let means = common::paper_means(&folder, set);
        for k in [30, 50, 70] {
            let fit = GmmDiag::cluster_r(1).fit(&means, Start::K(k), &mut stream(1, 0)).unwrap();
            let ours: Vec<i64> = fit.components.iter().map(|&c| i64::from(c) + 1).collect();
            assert_eq!(ours, firsts[&("GMM_ClusterR".into(), k as u32, set)], "set {set}, K = {k}");
        }
    }
}

#[test]
fn the_diagonal_mixture_scores_as_the_paper_says() {
    let Some(folder) = common::data("the_diagonal_mixture_scores_as_the_paper_says") else { return };
    // The paper's baselines of GMM (ClusterR), Experiment 4: the mean NMI over the ten sets. Ten seeds each,
    // as the first means are drawn.
    for (k, paper) in [(30, 0.807), (50, 0.828), (70, 0.839)] {
        let mut mean = 0.0;
        for set in 1..=10 {
            let set = common::paper_set(&folder, set);
            let means = set.candidates.means();
            for seed in 0..10 {
                let fit = GmmDiag::default().fit(&means, Start::K(k), &mut stream(seed, 0)).unwrap();
                mean += Scores::of(fit.partition.labels(), &set.truth).unwrap().nmi / 100.0;
            }
        }
        eprintln!("diagonal mixture, K = {k}: NMI {mean:.4}, the paper {paper}");
        assert!((mean - paper).abs() < 0.015, "K = {k}: NMI {mean:.4}, the paper {paper}");
    }
}
