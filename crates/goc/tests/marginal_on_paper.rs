//! The marginal mixture on the authors' ten sets, all defaults, neither K nor lambda given. The
//! defaults were chosen on mocks of our own (`crates/galaxy/examples/tune_marginal.rs`).

mod common;

use common::PaperSet;
use goc::marginal::Marginal;
use goc::metrics::Scores;
use goc::scale::Scaling;

/// Mean NMI, F and K over the ten sets.
fn means(of: impl Fn(usize) -> PaperSet) -> [f64; 3] {
    let mut means = [0.0; 3];
    for seed in 1..=10 {
        let set = of(seed);
        let found = Marginal::default().run(&set.candidates, 1).unwrap();
        let scores = Scores::of(found.partition.labels(), &set.truth).unwrap();
        for (mean, value) in means.iter_mut().zip([scores.nmi, scores.f, found.partition.k() as f64]) {
            *mean += value / 10.0;
        }
    }
    let [nmi, f, k] = means;
    println!("mean NMI {nmi:.4}, F {f:.4}, K {k:.1}");
    means
}

#[test]
fn groups_and_their_number_are_found_in_square_roots_and_robust_scaling() {
    let name = "groups_and_their_number_are_found_in_square_roots_and_robust_scaling";
    let Some(folder) = common::data(name) else { return };
    let roots = |[jr, jz, jphi]: [f64; 3]| [jr.sqrt(), jz.sqrt(), jphi];
    let [nmi, f, k] = means(|seed| common::paper_set_mapped(&folder, seed, Scaling::Robust, roots));
    assert!(nmi >= 0.943 && f >= 0.875 && (47.0..=53.0).contains(&k), "NMI {nmi}, F {f}, K {k}");
}

#[test]
fn groups_and_their_number_are_found_in_the_papers_own_scaling() {
    let Some(folder) = common::data("groups_and_their_number_are_found_in_the_papers_own_scaling") else {
        return;
    };
    let [nmi, f, k] = means(|seed| common::paper_set(&folder, seed));
    assert!(nmi >= 0.940 && f >= 0.860 && (47.0..=53.0).contains(&k), "NMI {nmi}, F {f}, K {k}");
}
