use super::*;
use crate::congruential;
use crate::oracle::graph::tests::{
    blobs, does_not_mind_order_place_and_direction, letters, refuses_bad_requests, works_inside_goc,
};
use crate::random::stream;

fn neighbours(k: usize) -> Spectral {
    Spectral::new(k)
}

#[test]
fn neighbours_group_as_scikit_learn_does() {
    // scikit-learn 1.9.1: SpectralClustering(k, affinity="nearest_neighbors", n_neighbors,
    // n_init=100), labels by first appearance.
    let want = [
        (neighbours(6), 4, "ABCDABCDAACDABCDABCCABCDABCDABCDABCDABCAABCDABCDACCDABCDABCA"),
        (neighbours(10), 4, "ABCDABCDAACDABCDABCCABCDABCDABCDABCDABCAABCDABCDACCDABCDABCA"),
        (neighbours(6), 6, "ABCDEBFDEAFDEBCDABCCABCDEBFDEBFDEBCDEBFAEBCDABFDACFDABCDABCA"),
        (neighbours(10), 6, "ABCDABEDAFEDABCDFBCCABCDABEDABEDABCDABEFABCDABEDFCEDFBCDFBCF"),
    ];
    let points = blobs(1, 60, 2, 4);
    for (oracle, k, labels) in want {
        let fit = oracle.fit(&points, Start::K(k), &mut stream(1, 1)).unwrap();
        assert!(fit.converged);
        assert!(
            fit.partition.same_grouping(&letters(labels)),
            "{oracle:?} {k} {:?}",
            fit.partition.canonical()
        );
    }
    let want = [
        (neighbours(6), "ABCDEABCDDABCDEABCDBABCDEABCDBABCDEABCDDABCDEABCDEABCDEABCDBABCDEABCDBABCDEABCDA"),
        (neighbours(10), "ABCDEABCDDABCDEABCDBABCDEABCDBABCDEABCDEABCDEABCDEABCDEABCDBABCDEABCDBABCDEABCDA"),
    ];
    let points = blobs(2, 80, 3, 5);
    for (oracle, labels) in want {
        let fit = oracle.fit(&points, Start::K(5), &mut stream(1, 1)).unwrap();
        assert!(fit.partition.same_grouping(&letters(labels)), "{oracle:?} {:?}", fit.partition.canonical());
    }
}

#[test]
fn eigenvalues_of_a_ring_are_the_cosines() {
    // Points on a circle with two neighbours each: L has the eigenvalues 1 - cos(2 pi j / n), each twice but
    // the first.
    let n = 500;
    let angle = |i: usize| std::f64::consts::TAU * i as f64 / n as f64;
    let points = Points::new((0..n).flat_map(|i| [angle(i).cos(), angle(i).sin()]).collect(), 2).unwrap();
    let fit = neighbours(3).fit(&points, Start::K(6), &mut stream(1, 1)).unwrap();
    assert!(fit.converged && fit.iterations > 1, "{}", fit.iterations);
    for (j, value) in fit.eigenvalues.iter().enumerate() {
        assert!((value - (1.0 - angle(j.div_ceil(2)).cos())).abs() < 1e-10, "{j} {value}");
    }
}

#[test]
fn rings_within_each_other_are_told_apart() {
    let mut uniform = congruential::uniform(3);
    let mut ring = |i: usize| {
        let (r, angle) = (1.0 + 3.0 * (i % 3) as f64 + 0.2 * uniform(), std::f64::consts::TAU * uniform());
        [r * angle.cos(), r * angle.sin()]
    };
    let points = Points::new((0..600).flat_map(&mut ring).collect(), 2).unwrap();
    let truth = Partition::from_labels(&(0..600).map(|i| i % 3).collect::<Vec<_>>());
    let partition = neighbours(10).cluster(&points, Start::K(3), &mut stream(1, 1)).unwrap();
    assert!(partition.same_grouping(&truth));
}

#[test]
fn a_graph_in_pieces_has_a_defined_answer() {
    // Five groups of four with three neighbours each: five pieces, at 0, 10, 30, 70, 90.
    let places = [0.0, 10.0, 30.0, 70.0, 90.0];
    let values = (0..20).map(|i| places[i / 4] + 0.1 * (i % 4) as f64 + 0.001 * (i * i % 7) as f64);
    let points = Points::new(values.collect(), 1).unwrap();
    let at = |k: usize| neighbours(4).fit(&points, Start::K(k), &mut stream(1, 1)).unwrap();
    let grouped =
        |groups: [u32; 5]| Partition::from_labels(&(0..20).map(|i| groups[i / 4]).collect::<Vec<_>>());
    assert_eq!(at(5).pieces, 5);
    assert_eq!(at(5).partition, grouped([0, 1, 2, 3, 4]));
    // Fewer than the pieces: the nearest are joined first (30 and 90 are 20 away from their neighbours).
    assert_eq!(at(4).partition, grouped([0, 0, 1, 2, 3]));
    assert_eq!(at(2).partition, grouped([0, 0, 0, 1, 1]));
    assert_eq!(at(1).partition.k(), 1);
    // More than the pieces: pieces are parted, never joined.
    let fit = at(7);
    assert_eq!((fit.partition.k(), fit.converged), (7, true));
    assert!((0..20).all(|i| {
        (0..20).all(|j| fit.partition.labels()[i] != fit.partition.labels()[j] || i / 4 == j / 4)
    }));
    // Without neighbours every point is a piece, and pieces are joined as by single linkage.
    let alone = neighbours(1).fit(&points, Start::K(5), &mut stream(1, 1)).unwrap();
    assert_eq!((alone.pieces, alone.partition), (20, grouped([0, 1, 2, 3, 4])));
}

#[test]
fn order_place_and_direction_do_not_matter() {
    does_not_mind_order_place_and_direction(|points| {
        neighbours(8).cluster(points, Start::K(4), &mut stream(1, 1)).unwrap()
    });
}

#[test]
fn threads_do_not_change_the_bytes() {
    let points = blobs(6, 600, 3, 12);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| neighbours(10).fit(&points, Start::K(12), &mut stream(1, 1)).unwrap())
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn one_restart_is_not_convergence() {
    let angle = |i: usize| std::f64::consts::TAU * i as f64 / 500.0;
    let points = Points::new((0..500).flat_map(|i| [angle(i).cos(), angle(i).sin()]).collect(), 2).unwrap();
    let fit = neighbours(3).max_restarts(1).fit(&points, Start::K(6), &mut stream(1, 1)).unwrap();
    assert_eq!((fit.converged, fit.iterations, fit.partition.k()), (false, 1, 6));
}

#[test]
fn one_point_equal_points_and_k_equal_to_n_are_defined() {
    let rng = &mut stream(1, 1);
    let points = blobs(1, 12, 2, 3);
    let oracle = neighbours(10);
    let one = Points::new(vec![5.0], 1).unwrap();
    assert_eq!(oracle.cluster(&one, Start::K(1), rng).unwrap().labels(), [0]);
    let equal = Points::new(vec![5.0; 12], 2).unwrap();
    assert_eq!(oracle.cluster(&equal, Start::K(3), rng).unwrap().labels(), [0; 6]);
    assert_eq!(oracle.cluster(&points, Start::K(12), rng).unwrap().k(), 12);
    assert_eq!(oracle.cluster(&points, Start::K(11), rng).unwrap().k(), 11);
    assert_eq!(oracle.cluster(&points, Start::K(1), rng).unwrap().k(), 1);
}

#[test]
fn bad_parameters_are_named() {
    let points = blobs(1, 10, 2, 1);
    let error =
        |oracle: Spectral| oracle.fit(&points, Start::K(2), &mut stream(1, 1)).unwrap_err().to_string();
    assert_eq!(error(neighbours(0)), "spectral: the number of neighbours must be at least 1");
    refuses_bad_requests(&neighbours(10));
}

#[test]
fn it_works_inside_goc() {
    works_inside_goc(&neighbours(6));
}
