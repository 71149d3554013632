use super::*;
use crate::metrics::Scores;
use crate::random::stream;
use proptest::prelude::*;
use rand_distr::{Distribution, Normal};

/// Normal blobs of different width and elongation, 100 points each, far apart.
fn blobs() -> (Points, Vec<u32>) {
    let mut rng = stream(5, 5);
    let (mut values, mut truth) = (Vec::new(), Vec::new());
    for (blob, (x, y, sx, sy)) in
        [(0.0, 0.0, 0.1, 1.0), (5.0, 0.0, 1.0, 0.1), (0.0, 8.0, 0.5, 0.5)].into_iter().enumerate()
    {
        for _ in 0..100 {
            values.push(Normal::new(x, sx).unwrap().sample(&mut rng));
            values.push(Normal::new(y, sy).unwrap().sample(&mut rng));
            truth.push(blob as u32);
        }
    }
    (Points::new(values, 2).unwrap(), truth)
}

#[test]
fn blobs_are_recovered_with_their_variances() {
    let (points, truth) = blobs();
    let fit = GmmDiag::default().starts(10).fit(&points, Start::K(3), &mut stream(1, 1)).unwrap();
    assert!(Scores::of(&fit.components, &truth).unwrap().ari > 0.99);
    let first = fit.components[0] as usize;
    let v = fit.model.variances.row(first);
    assert!((v[0].sqrt() - 0.1).abs() < 0.03 && (v[1].sqrt() - 1.0).abs() < 0.2, "{v:?}");
    assert!((fit.model.weights[first] - 1.0 / 3.0).abs() < 0.02);
}

#[test]
fn one_component_is_the_mean_and_variance_of_all() {
    let points = Points::new(vec![1.0, 10.0, 2.0, 10.0, 6.0, 10.0], 2).unwrap();
    let fit = GmmDiag::default().fit(&points, Start::K(1), &mut stream(1, 1)).unwrap();
    assert_eq!(fit.model.means.values(), [3.0, 10.0]);
    let variance = (4.0 + 1.0 + 9.0) / 3.0;
    assert!((fit.model.variances.values()[0] - variance).abs() < 1e-14);
    assert_eq!(fit.model.variances.values()[1], 1e-10);
    let tau = std::f64::consts::TAU;
    let want = -1.5 * ((tau * variance).ln() + 1.0 + (tau * 1e-10).ln());
    assert!((fit.log_likelihood() - want).abs() < 1e-12);
    assert_eq!((&fit.model.weights[..], fit.partition.labels()), (&[1.0][..], &[0, 0, 0][..]));
}

#[test]
fn start_centres_are_the_first_means_and_keep_their_numbers() {
    let (points, truth) = blobs();
    let centres = Points::new(vec![0.0, 8.0, 0.0, 0.0, 5.0, 0.0], 2).unwrap();
    let fit = GmmDiag::default().fit(&points, Start::Centres(&centres), &mut stream(1, 1)).unwrap();
    let agree = fit.components.iter().zip(&truth).filter(|(c, t)| **c == (**t + 1) % 3).count();
    assert!(agree >= 298, "{agree}");
    let still = GmmDiag::default().km_iterations(0).em_iterations(0);
    let fit = still.fit(&points, Start::Centres(&centres), &mut stream(1, 1)).unwrap();
    assert_eq!(fit.history.len(), 1);
    // No step at all: still the clusters of the centres, with their own means and shares.
    assert_eq!(
        assign(&points, &centres).iter().filter(|l| **l == 0).count() as f64 / 300.0,
        fit.model.weights[0]
    );
}

#[test]
fn an_empty_cluster_takes_the_farthest_point_and_all_its_copies() {
    let points = Points::new(vec![0.0, 1.0, 9.0, 9.0, 2.0], 1).unwrap();
    let means = Points::new(vec![1.0, 100.0, 200.0], 1).unwrap();
    assert_eq!(assign(&points, &means), [2, 0, 1, 1, 0]);
}

#[test]
fn each_of_few_distinct_points_is_its_own_cluster() {
    let rng = &mut stream(1, 1);
    let points = Points::new(vec![3.0, 1.0, 3.0, 2.0, 1.0], 1).unwrap();
    let centres = Points::new(vec![7.0, 8.0, 9.0, 1.0], 1).unwrap();
    for start in [Start::K(3), Start::K(5), Start::Centres(&centres)] {
        let partition = GmmDiag::default().cluster(&points, start, rng).unwrap();
        assert_eq!(partition.canonical().labels(), [0, 1, 0, 2, 1]);
    }
    let close = Points::new(vec![0.0, 1e-9, 2e-9, 2e-9], 1).unwrap();
    assert_eq!(GmmDiag::default().cluster(&close, Start::K(4), rng).unwrap().labels(), [0, 1, 2, 2]);
    let all = Points::new((0..20).map(|i| f64::from(i * i)).collect(), 1).unwrap();
    assert_eq!(GmmDiag::default().cluster(&all, Start::K(20), rng).unwrap().k(), 20);
}

#[test]
fn weights_do_not_count_in_labels() {
    // Two equal kernels, one with most of the weight: the border stays in the middle.
    let points = Points::new(vec![0.0, 4.0, 1.9, 2.1], 1).unwrap();
    let model = Model {
        weights: vec![0.9, 0.1],
        means: Points::new(vec![0.0, 4.0], 1).unwrap(),
        variances: Points::new(vec![1.0, 1.0], 1).unwrap(),
    };
    assert_eq!(model.labels(&points), [0, 1, 0, 1]);
}

#[test]
fn bad_requests_are_errors() {
    let rng = &mut stream(1, 1);
    let points = Points::new(vec![1.0, 2.0], 1).unwrap();
    let oracle = GmmDiag::default();
    assert_eq!(oracle.cluster(&points, Start::K(0), rng), Err(OracleError::NoClusters));
    let too_many = OracleError::MoreClustersThanPoints { k: 3, n: 2 };
    assert_eq!(oracle.cluster(&points, Start::K(3), rng), Err(too_many));
    let none = Points::new(vec![], 1).unwrap();
    assert_eq!(oracle.cluster(&none, Start::K(1), rng), Err(OracleError::NoPoints));
    for floor in [0.0, -1.0, f64::NAN] {
        let error = oracle.clone().variance_floor(floor).fit(&points, Start::K(1), rng).unwrap_err();
        assert!(error.to_string().contains("variance floor"), "{error}");
    }
    let huge = Points::new(vec![-1e300, 0.0, 1e300], 1).unwrap();
    for k in [1, 2] {
        assert!(matches!(oracle.fit(&huge, Start::K(k), rng), Err(OracleError::Failed { .. })));
    }
}

#[test]
fn threads_do_not_change_the_bytes() {
    let (points, _) = blobs();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| GmmDiag::default().starts(6).fit(&points, Start::K(7), &mut stream(2, 2)).unwrap())
    };
    assert_eq!(run(1), run(3));
}

/// 40 points of R's `set.seed(5); runif(80)`.
fn r_points() -> Points {
    let mut stream = RStream::new(5);
    Points::new((0..80).map(|_| stream.uniform()).collect(), 2).unwrap()
}

#[test]
fn cluster_r_draws_the_points_that_armadillo_draws_in_r() {
    // R 4.2.2, RcppArmadillo 0.12.0.1.0: set.seed(seed), then arma::randperm(n, k).
    for (seed, n, drawn) in [
        (1, 275, &[115, 26, 46, 132, 227, 91, 9, 270, 166, 266][..]),
        (2, 275, &[50, 30, 217, 168, 255, 51, 266, 132, 110, 82]),
        (77, 1000, &[186, 20, 13, 563, 564, 835, 871, 19]),
        (1, 6, &[4, 0, 1, 2, 5, 3]),
    ] {
        assert_eq!(cluster_r::random_subset(n, drawn.len(), &mut RStream::new(seed)), drawn);
    }
}

#[test]
fn cluster_r_labels_are_armadillos_where_clusters_die() {
    let forty = r_points();
    let some_twice = forty.subset(&(0..40).chain(0..20).collect::<Vec<_>>());
    let one_often = forty.subset(&(0..20).chain([20; 30]).collect::<Vec<_>>());
    // R 4.2.2, RcppArmadillo 0.12.0.1.0: set.seed(seed), gmm_diag::learn(eucl_dist, random_subset, 10, 5,
    // 1e-10), the average log-likelihood and the component of the largest log_p; copies have the label of
    // their first. In the first step 0, 2, 8, 5, 12 and 14 clusters die; the last three runs draw 2, 8 and 11
    // points more, as too few clusters have two.
    #[rustfmt::skip]
    let runs: [(&Points, usize, i32, f64, &[u32]); 6] = [
        (&some_twice, 5, 1, 0.0972444353771, &[3, 4, 3, 2, 4, 1, 1, 1, 2, 2, 0, 1, 3, 2, 3, 1, 1, 3, 2, 1, 4, 0, 0, 4, 0, 1, 0, 0, 1, 1, 4, 0, 0, 4, 0, 0, 3, 3, 3, 1]),
        (&some_twice, 20, 2, 4.09020200768, &[14, 19, 4, 10, 12, 5, 5, 2, 13, 10, 0, 2, 15, 13, 16, 1, 6, 15, 10, 3, 19, 0, 0, 9, 0, 5, 11, 19, 2, 6, 1, 11, 7, 12, 7, 0, 17, 18, 4, 8]),
        (&some_twice, 36, 3, 11.0038309077, &[8, 15, 10, 25, 21, 19, 1, 3, 24, 23, 16, 13, 5, 29, 11, 4, 4, 14, 6, 20, 15, 0, 7, 2, 17, 1, 27, 7, 3, 13, 28, 22, 9, 31, 18, 26, 10, 11, 10, 12]),
        (&one_often, 8, 2, 12.4533426754, &[6, 0, 6, 2, 0, 4, 4, 1, 3, 2, 2, 1, 7, 3, 3, 1, 1, 7, 2, 4, 5]),
        (&one_often, 16, 3, 16.1187074947, &[7, 0, 7, 5, 0, 2, 2, 8, 12, 5, 9, 10, 1, 12, 11, 4, 3, 15, 13, 14, 6]),
        (&one_often, 20, 3, 18.0395510759, &[7, 0, 17, 5, 0, 19, 9, 18, 15, 5, 10, 1, 2, 3, 12, 4, 6, 14, 13, 16, 8]),
    ];
    for (points, k, seed, average, labels) in runs {
        let fit = GmmDiag::cluster_r(seed).fit(points, Start::K(k), &mut stream(1, 1)).unwrap();
        assert_eq!(&fit.components[..labels.len()], labels, "K = {k}, seed {seed}");
        let distance = fit.log_likelihood() / points.len() as f64 - average;
        assert!(distance.abs() < 1e-9, "K = {k}, seed {seed}: {distance:e}");
    }
}

#[test]
fn cluster_r_takes_the_number_of_the_centres_and_nothing_from_the_stream() {
    let points = r_points();
    let centres = points.subset(&[0, 1, 2, 3]);
    let oracle = GmmDiag::cluster_r(1);
    let fit = oracle.fit(&points, Start::K(4), &mut stream(1, 1)).unwrap();
    let mut given = stream(2, 2);
    assert_eq!(fit, oracle.fit(&points, Start::Centres(&centres), &mut given).unwrap());
    assert_eq!(given, stream(2, 2));
    let of = |seed| GmmDiag::cluster_r(seed).fit(&points, Start::K(4), &mut stream(1, 1)).unwrap();
    let best = oracle.starts(3).fit(&points, Start::K(4), &mut stream(1, 1)).unwrap();
    let each = [of(1), of(2), of(3)];
    let most = each.iter().map(Mixture::log_likelihood).fold(f64::NEG_INFINITY, f64::max);
    assert!(each.contains(&best) && best.log_likelihood() == most);
    assert!(each[0].log_likelihood() < most, "another seed than the first must win for this to say anything");
}

proptest! {
    #[test]
    fn em_never_lowers_the_likelihood(
        values in prop::collection::vec(-3.0..3.0, 20..120), q in 1usize..4, k in 1usize..8, seed in 0u64..1000,
        floor in prop::sample::select(vec![1e-10, 1e-3, 0.5]),
    ) {
        let n = values.len() / q;
        let points = Points::new(values[..n * q].to_vec(), q).unwrap();
        let oracle = GmmDiag::default().km_iterations(2).em_iterations(30).variance_floor(floor);
        let fit = oracle.fit(&points, Start::K(k.min(n)), &mut stream(seed, 0)).unwrap();
        for pair in fit.history.windows(2) {
            prop_assert!(pair[1] >= pair[0] - 1e-9 * pair[0].abs().max(1.0), "{:?}", fit.history);
        }
        prop_assert!(fit.model.variances.values().iter().all(|v| *v >= floor));
        prop_assert!((fit.model.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
