use super::*;
use proptest::prelude::*;
use rand::RngExt;

fn cloud(n: usize, q: usize, groups: usize, seed: u64) -> Points {
    let mut rng = random::stream(seed, 0);
    let middles: Vec<f64> = (0..groups * q).map(|_| rng.random_range(-4.0..4.0)).collect();
    let values = (0..n)
        .flat_map(|i| {
            let g = i % groups;
            (0..q).map(|f| middles[g * q + f] + rng.random_range(-0.6..0.6)).collect::<Vec<_>>()
        })
        .collect();
    Points::new(values, q).unwrap()
}

fn oracles() -> Vec<KMeans> {
    [Algorithm::HartiganWong, Algorithm::Lloyd]
        .into_iter()
        .flat_map(|a| {
            [Seeding::Random, Seeding::PlusPlus]
                .map(|s| KMeans::default().algorithm(a).seeding(s).starts(20).max_iterations(100))
        })
        .collect()
}

/// The least loss over all labelings, by looking at every one.
fn best_loss_by_enumeration(points: &Points, k: usize) -> f64 {
    let n = points.len();
    let mut best = f64::INFINITY;
    for code in 0..k.pow(n as u32) {
        let labels: Vec<u32> = (0..n).map(|i| (code / k.pow(i as u32) % k) as u32).collect();
        best = best.min(finish(points, labels, 1, true).loss);
    }
    best
}

#[test]
fn many_starts_find_the_optimum_that_enumeration_finds() {
    for seed in 0..10 {
        let points = cloud(8, 2, 3, seed);
        let best = best_loss_by_enumeration(&points, 3);
        for oracle in oracles() {
            let fit = oracle.fit(&points, Start::K(3), &mut random::stream(seed, 1)).unwrap();
            assert!((fit.loss - best).abs() < 1e-12, "{oracle:?}: {} instead of {best}", fit.loss);
        }
    }
}

#[test]
fn no_single_transfer_improves_a_hartigan_wong_result() {
    let points = cloud(120, 3, 9, 4);
    let fit = KMeans::default()
        .starts(3)
        .max_iterations(100)
        .fit(&points, Start::K(12), &mut random::stream(4, 1))
        .unwrap();
    assert!(fit.converged);
    for i in 0..points.len() {
        for l in 0..12 {
            let mut labels = fit.partition.labels().to_vec();
            labels[i] = l;
            assert!(finish(&points, labels, 1, true).loss >= fit.loss - 1e-12);
        }
    }
}

#[test]
fn accelerated_rounds_equal_plain_rounds_exactly() {
    for seed in 0..6 {
        let points = cloud(3000, 1 + seed as usize % 4, 7, seed);
        let start = seeding::random(&points, 20, &mut random::stream(seed, 2));
        for limit in [1, 2, 3, 5, 50] {
            assert_eq!(lloyd::run(&points, &start, limit), hamerly::run(&points, &start, limit));
        }
    }
}

#[test]
fn more_rounds_never_raise_the_loss() {
    let points = cloud(500, 3, 10, 9);
    for oracle in oracles() {
        let start = seeding::random(&points, 12, &mut random::stream(9, 2));
        let losses: Vec<f64> = (1..12)
            .map(|limit| {
                let oracle = oracle.clone().max_iterations(limit);
                oracle.fit(&points, Start::Centres(&start), &mut random::stream(0, 0)).unwrap().loss
            })
            .collect();
        assert!(losses.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-12)), "{oracle:?}: {losses:?}");
    }
}

#[test]
fn fewer_distinct_points_than_k_give_each_its_own_cluster() {
    let points = Points::new(vec![1.0, 2.0, 1.0, 2.0, 1.0], 1).unwrap();
    for oracle in oracles() {
        let fit = oracle.fit(&points, Start::K(4), &mut random::stream(1, 0)).unwrap();
        assert_eq!(fit.partition.canonical().labels(), [0, 1, 0, 1, 0]);
        assert_eq!(fit.loss, 0.0);
    }
}

#[test]
fn as_many_clusters_as_points_put_each_alone() {
    let points = cloud(9, 2, 3, 3);
    for oracle in oracles() {
        let fit = oracle.fit(&points, Start::K(9), &mut random::stream(1, 0)).unwrap();
        assert_eq!((fit.partition.k(), fit.loss), (9, 0.0));
    }
}

#[test]
fn start_centres_without_points_are_moved_not_lost() {
    let points = cloud(60, 2, 4, 5);
    let centres = Points::new(vec![0.0, 0.0, 900.0, 900.0, -900.0, 1.0, 0.0, 0.1], 2).unwrap();
    for oracle in oracles() {
        let fit = oracle.fit(&points, Start::Centres(&centres), &mut random::stream(1, 0)).unwrap();
        assert_eq!(fit.partition.k(), 4, "{oracle:?}");
    }
}

#[test]
fn wrong_wishes_are_named() {
    let points = cloud(5, 2, 2, 1);
    let ask =
        |start: Start<'_>| KMeans::default().fit(&points, start, &mut random::stream(1, 0)).unwrap_err();
    assert_eq!(ask(Start::K(0)), OracleError::NoClusters);
    assert_eq!(ask(Start::K(6)), OracleError::MoreClustersThanPoints { k: 6, n: 5 });
    let centres = cloud(2, 3, 1, 1);
    assert_eq!(ask(Start::Centres(&centres)), OracleError::FeaturesDiffer { centres: 3, points: 2 });
}

#[test]
fn threads_do_not_change_the_result() {
    let points = cloud(20_000, 3, 10, 8);
    let oracle =
        KMeans::default().algorithm(Algorithm::Lloyd).seeding(Seeding::PlusPlus).starts(3).max_iterations(30);
    let fits: Vec<KMeansFit> = [1, 2, 4]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| oracle.fit(&points, Start::K(10), &mut random::stream(3, 0)).unwrap())
        })
        .collect();
    assert_eq!(fits[0], fits[1]);
    assert_eq!(fits[0], fits[2]);
}

proptest! {
    #[test]
    fn coarse_data_with_many_ties_never_break_it(
        values in prop::collection::vec(-2i32..3, 2..60),
        k in 1usize..8,
        seed in 0u64..1000,
    ) {
        let points = Points::new(values.iter().map(|&v| f64::from(v)).collect(), 1).unwrap();
        let k = k.min(points.len());
        for oracle in oracles() {
            let fit = oracle.fit(&points, Start::K(k), &mut random::stream(seed, 0)).unwrap();
            prop_assert_eq!(fit.partition.k(), k.min(points.distinct()));
        }
    }
}
