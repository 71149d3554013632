//! What the paper says of pessimism on its own data (section 3.3): one large cluster remains.

mod common;

use goc::oracle::k_means::KMeans;
use goc::pessimistic::{Pessimistic, Reading};

#[test]
fn max_max_collapses_to_one_cluster_on_all_ten_sets() {
    let Some(folder) = common::data("max_max_collapses_to_one_cluster_on_all_ten_sets") else { return };
    for seed in 1..=10 {
        let set = common::paper_set(&folder, seed);
        // The paper's setting. From some poorer starts one set (2) keeps a second cluster of six stars.
        let gpc = Pessimistic { lambda: 0.01, ..Pessimistic::new(50, Reading::MaxMax) };
        let result = gpc.run(&set.candidates, &KMeans::default(), 1).unwrap();
        assert_eq!(result.partition.k(), 1, "set {seed}");
    }
}
