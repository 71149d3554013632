//! The number of threads never changes a byte.

use crate::desk::{Desk, catalogue};

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("catalogue.csv", &catalogue(12, 3));
    desk
}

/// Output at 1, 2 and 4 threads is the same.
#[track_caller]
fn same_at_any_number(desk: &Desk, words: &str) {
    let one = desk.done(&format!("{words} --threads 1")).out;
    assert!(one.lines().count() > 50, "{words}: {one}");
    for threads in [2, 4] {
        assert!(
            one == desk.done(&format!("{words} --threads {threads}")).out,
            "{words}: {threads} threads differ"
        );
    }
}

#[test]
fn candidates_are_the_same_bytes_at_any_number_of_threads() {
    let desk = desk();
    for sampler in ["uniform", "sobol", "density", "grid:parallax"] {
        let words =
            format!("candidates catalogue.csv --transform coasting --when-empty drop --sampler {sampler}");
        same_at_any_number(&desk, &words);
    }
    same_at_any_number(&desk, "candidates catalogue.csv --transform kernel-pca:3");
}

#[test]
fn labels_are_the_same_bytes_at_any_number_of_threads_with_every_oracle() {
    let desk = desk();
    desk.done("candidates catalogue.csv --transform coasting --when-empty drop -o c.csv");
    for oracle in ["k-means", "k-medoids", "gmm-diag", "mclust-eii", "mclust-vii", "mclust-vvv", "linkage"] {
        let words = format!("cluster c.csv --k 12 --starts 3 --swaps 5 --k-rule constant --oracle {oracle}");
        same_at_any_number(&desk, &words);
    }
    for way in
        ["--preset authors", "--method gpc", "--method uk-means", "--algorithm lloyd --seeding plus-plus"]
    {
        same_at_any_number(&desk, &format!("cluster c.csv --k 12 {way}"));
    }
}
