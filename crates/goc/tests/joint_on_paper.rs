//! The thorough search on the paper's ten sets, as issue 5 asks: K = 50, lambda 0.01, squared
//! distance, the paper's scaling.

mod common;

use goc::metrics::nmi;
use goc::optimistic::{KRule, Optimistic, Search};
use goc::oracle::k_means::KMeans;

#[test]
fn the_thorough_search_reaches_the_nmi_of_forty_starts_and_150_swaps_and_a_lower_objective_than_ten() {
    let Some(folder) = common::data("joint_on_paper") else { return };
    let (mut score, mut lower) = (0.0, 0);
    for set in 1..=10 {
        let paper = common::paper_set(&folder, set);
        let goc = || Optimistic::new(50).k_rule(KRule::Constant).lambda(0.01);
        let run = |goc: Optimistic| goc.check(&paper.candidates).unwrap().run(&KMeans::default(), 1).unwrap();
        let found = run(goc().search(Search::Thorough));
        assert_eq!(found.partition.k(), 50);
        lower += usize::from(found.objective < run(goc().starts(10).swaps(150)).objective);
        score += nmi(found.partition.labels(), &paper.truth).unwrap() / 10.0;
    }
    println!("mean NMI {score:.4}; a lower objective in {lower} of 10 sets");
    // 40 starts and 150 swaps: 0.894 (measured before this search was written).
    assert!(score >= 0.894, "{score}");
    assert!(lower >= 9, "{lower}");
}
