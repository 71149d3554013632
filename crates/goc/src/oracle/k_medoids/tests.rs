use super::*;
use crate::random::stream;

/// The loss of medoids by its definition.
fn loss_of(points: &Points, medoids: &[usize], distance: Distance) -> f64 {
    points
        .rows()
        .map(|x| {
            let nearest =
                medoids.iter().map(|&m| squared_distance(x, points.row(m))).fold(f64::INFINITY, f64::min);
            if distance == Distance::Euclidean { nearest.sqrt() } else { nearest }
        })
        .sum()
}

/// The least loss over all sets of `k` medoids.
fn global_optimum(points: &Points, k: usize, distance: Distance) -> f64 {
    (0_u32..1 << points.len())
        .filter(|set| set.count_ones() as usize == k)
        .map(|set| {
            let medoids: Vec<usize> = (0..points.len()).filter(|&i| set >> i & 1 == 1).collect();
            loss_of(points, &medoids, distance)
        })
        .fold(f64::INFINITY, f64::min)
}

/// The least loss that a single swap can reach.
fn best_swap(points: &Points, medoids: &[usize], distance: Distance) -> f64 {
    let mut best = f64::INFINITY;
    for out in 0..medoids.len() {
        for candidate in 0..points.len() {
            let mut swapped = medoids.to_vec();
            swapped[out] = candidate;
            best = best.min(loss_of(points, &swapped, distance));
        }
    }
    best
}

fn blobs(n: usize, q: usize, seed: u64) -> Points {
    let mut rng = stream(seed, 0);
    let centres: Vec<f64> = (0..10 * q).map(|_| rng.random_range(-5.0..5.0)).collect();
    let values =
        (0..n * q).map(|at| centres[(at / q) % 10 * q + at % q] + rng.random_range(-1.0..1.0)).collect();
    Points::new(values, q).unwrap()
}

#[test]
fn no_single_swap_lowers_the_loss_and_the_loss_is_that_of_the_medoids() {
    for (n, q, k) in [(60, 2, 5), (150, 3, 12), (70, 11, 4), (33, 1, 32), (40, 2, 1)] {
        let points = blobs(n, q, n as u64);
        for distance in [Distance::Euclidean, Distance::SquaredEuclidean] {
            let oracle = KMedoids::default().distance(distance);
            let fit = oracle.fit(&points, Start::K(k), &mut stream(3, 3)).unwrap();
            let loss = loss_of(&points, &fit.medoids, distance);
            assert!((fit.loss - loss).abs() <= 1e-12 * loss);
            let swapped = best_swap(&points, &fit.medoids, distance);
            assert!(swapped >= loss * (1.0 - 1e-11), "{n} {k}: a swap gives {swapped} < {loss}");
            assert!(fit.converged && fit.partition.k() == k);
            for (label, &m) in fit.medoids.iter().enumerate() {
                assert_eq!(fit.partition.labels()[m] as usize, label);
            }
        }
    }
}

#[test]
fn a_matrix_of_the_distances_gives_the_same_medoids() {
    let points = blobs(120, 3, 5);
    let d = Dissimilarities::euclidean(&points).unwrap();
    for k in [1, 9] {
        let oracle = KMedoids::default();
        let direct = oracle.fit(&points, Start::K(k), &mut stream(1, 2)).unwrap();
        let matrix = oracle.fit_matrix(&d, k, &mut stream(1, 2)).unwrap();
        assert_eq!(direct.medoids, matrix.medoids);
        assert_eq!(direct.partition, matrix.partition);
        assert!((direct.loss - matrix.loss).abs() < 1e-11);
    }
}

#[test]
fn start_centres_choose_the_nearest_free_points() {
    let points = Points::new(vec![0.0, 0.1, 5.0, 9.0, 9.0, 10.0], 1).unwrap();
    let centres = Points::new(vec![9.1, 9.2, 0.0], 1).unwrap();
    // The two nines are one point, so the second centre takes the ten.
    assert_eq!(nearest_points(&points, &centres, &points.distinct_rows()), [3, 5, 0]);
    let still = KMedoids::default().rounds(0);
    let fit = still.fit(&points, Start::Centres(&centres), &mut stream(1, 1)).unwrap();
    assert_eq!(fit.medoids, [3, 5, 0]);
    assert_eq!(fit.partition.labels(), [2, 2, 0, 0, 0, 1]);
    assert!(!fit.converged);
}

#[test]
fn fewer_distinct_points_than_clusters_make_each_its_own() {
    let points = Points::new(vec![1.0, 2.0, 1.0, 2.0, 3.0, 1.0], 1).unwrap();
    let centres = Points::new(vec![0.0, 1.0, 2.0, 3.0, 4.0], 1).unwrap();
    for start in [Start::K(3), Start::K(4), Start::K(6), Start::Centres(&centres)] {
        let fit = KMedoids::default().fit(&points, start, &mut stream(1, 1)).unwrap();
        assert_eq!(fit.partition.labels(), [0, 1, 0, 1, 2, 0]);
        assert_eq!((&fit.medoids[..], fit.loss), (&[0, 1, 4][..], 0.0));
    }
    let d = Dissimilarities::euclidean(&points).unwrap();
    let fit = KMedoids::default().fit_matrix(&d, 5, &mut stream(1, 1)).unwrap();
    assert_eq!(fit.partition.canonical().labels(), [0, 1, 0, 1, 2, 0]);
    assert_eq!(fit.medoids.len(), 3);
}

#[test]
fn bad_requests_are_errors() {
    let points = blobs(4, 2, 1);
    let d = Dissimilarities::euclidean(&points).unwrap();
    let oracle = KMedoids::default();
    let rng = &mut stream(1, 1);
    let too_many = OracleError::MoreClustersThanPoints { k: 5, n: 4 };
    assert_eq!(oracle.fit(&points, Start::K(0), rng), Err(OracleError::NoClusters));
    assert_eq!(oracle.fit(&points, Start::K(5), rng), Err(too_many.clone()));
    assert_eq!(oracle.fit_matrix(&d, 0, rng), Err(OracleError::NoClusters));
    assert_eq!(oracle.fit_matrix(&d, 5, rng), Err(too_many));
    let none = Points::new(vec![], 2).unwrap();
    assert_eq!(oracle.fit(&none, Start::K(1), rng), Err(OracleError::NoPoints));
    let huge = Points::new(vec![-1e300, 0.0, 1e300], 1).unwrap();
    for k in [1, 2] {
        let error = oracle.fit(&huge, Start::K(k), rng).unwrap_err();
        assert_eq!(
            error.to_string(),
            "k-medoids: the distances are too large to be summed; scale the points"
        );
    }
}

#[test]
fn more_starts_never_raise_the_loss_and_threads_do_not_change_the_bytes() {
    let points = blobs(200, 2, 8);
    let loss = |starts| {
        let oracle = KMedoids::default().starts(starts);
        oracle.fit(&points, Start::K(15), &mut stream(4, 4)).unwrap().loss
    };
    assert!(loss(8) <= loss(2) && loss(2) <= loss(1));
    let oracle = KMedoids::default().starts(6);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| oracle.fit(&points, Start::K(15), &mut stream(4, 4)).unwrap())
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn enough_starts_find_the_optimum_of_tiny_sets() {
    // There are at most 70 sets of medoids; with 500 starts the best is among them, or one leads to it.
    // Whole numbers, so that points repeat and losses tie.
    let mut rng = stream(11, 0);
    for case in 0..60 {
        let (n, q) = (rng.random_range(2..=8), rng.random_range(1..=3));
        let k = rng.random_range(1..=n);
        let values = (0..n * q).map(|_| f64::from(rng.random_range(-6..6_i32))).collect();
        let points = Points::new(values, q).unwrap();
        for distance in [Distance::Euclidean, Distance::SquaredEuclidean] {
            let oracle = KMedoids::default().distance(distance).starts(500);
            let fit = oracle.fit(&points, Start::K(k), &mut stream(1, case)).unwrap();
            let optimum = global_optimum(&points, k, distance);
            assert!((fit.loss - optimum).abs() <= 1e-12 * (1.0 + optimum), "{} {optimum}", fit.loss);
            assert_eq!(fit.partition.k(), k.min(points.distinct()));
        }
    }
}

#[test]
fn a_tie_on_every_swap_still_ends() {
    // A lattice: most swaps change nothing or tie. The search must end by itself, not by the limit.
    let points =
        Points::new((0..144).flat_map(|i| [f64::from(i % 12), f64::from(i / 12)]).collect(), 2).unwrap();
    for k in [2, 7, 36, 72, 143] {
        let fit = KMedoids::default().fit(&points, Start::K(k), &mut stream(1, 1)).unwrap();
        assert!(fit.converged && fit.partition.k() == k);
    }
}

#[test]
fn skipping_blocks_never_changes_who_is_within_reach() {
    for (n, q) in [(1, 1), (16, 2), (17, 3), (500, 3), (230, 9)] {
        let points = blobs(n, q, 21);
        let space = PointSpace::new(&points, true);
        let mut rng = stream(1, n as u64);
        // Among them reaches that are exactly a distance, and of nobody and of everybody.
        let raw: Vec<f64> = (0..n)
            .map(|i| match i % 4 {
                0 => space.raw(i, rng.random_range(0..n)),
                1 => rng.random_range(0.0..2.0),
                2 => 0.0,
                _ => {
                    if rng.random_bool(0.02) {
                        f64::INFINITY
                    } else {
                        0.5
                    }
                }
            })
            .collect();
        let mut reach = space.reach();
        reach.set(&raw);
        let mut hits = space::Hits::default();
        for candidate in 0..n {
            space.within(candidate, &reach, &mut hits);
            let got: Vec<(usize, f64)> = hits.iter().collect();
            let want: Vec<(usize, f64)> =
                (0..n).map(|o| (o, space.raw(o, candidate))).filter(|&(o, d)| d < raw[o]).collect();
            assert_eq!(got, want);
        }
    }
}
