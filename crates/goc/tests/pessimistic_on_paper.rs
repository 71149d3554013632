//! What the paper says of pessimism on its own data (section 3.3): one large cluster remains.

mod common;

use goc::oracle::k_means::KMeans;
use goc::pessimistic::{Pessimistic, Reading};

#[test]
fn max_max_collapses_to_one_cluster_on_all_ten_sets() {
    let Some(folder) = common::data("max_max_collapses_to_one_cluster_on_all_ten_sets") else { return };
    for seed in 1..=10 {
        let set = common::paper_set(&folder, seed);
        for k in [30, 50, 70] {
            let gpc = Pessimistic { lambda: 0.01, ..Pessimistic::new(k, Reading::MaxMax) };
            let result = gpc.run(&set.candidates, &KMeans::default().starts(10), 1).unwrap();
            assert_eq!(result.partition.k(), 1, "set {seed}, K(0) = {k}");
        }
    }
}
