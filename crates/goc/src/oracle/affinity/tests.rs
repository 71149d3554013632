use super::*;
use crate::congruential;
use crate::random::stream;

fn with(preference: Preference) -> Affinity {
    Affinity::default().preference(preference)
}

fn line(values: &[f64]) -> Points {
    Points::new(values.to_vec(), 1).unwrap()
}

#[test]
fn points_are_clustered_as_by_scikit_learn() {
    // scikit-learn 1.9.1, affinity_propagation(S, preference=p, damping=0.9, max_iter=1000,
    // convergence_iter=100) on 30 points of the plane, p = np.quantile of the similarities off the
    // diagonal (numpy's rule is R's type 7).
    let points = congruential::points(7, 30, 2);
    let four = [2, 3, 0, 0, 2, 1, 1, 0, 3, 1, 3, 3, 2, 1, 1, 0, 1, 3, 0, 1, 0, 2, 2, 2, 3, 0, 3, 0, 1, 2];
    let eleven =
        [8, 0, 5, 1, 2, 4, 4, 5, 0, 3, 0, 9, 7, 3, 4, 5, 4, 9, 10, 6, 5, 7, 2, 8, 9, 10, 9, 10, 3, 7];
    type Want<'a> = (f64, f64, &'a [usize], [u32; 30], f64);
    let want: [Want<'_>; 3] = [
        (0.1, -0.7779735840035982, &[2, 6, 12, 24], four, -4.242909391466759),
        (0.5, -0.31073006575269896, &[2, 6, 12, 24], four, -2.3739353184631624),
        (0.9, -0.04691351909151351, &[1, 3, 4, 13, 14, 15, 19, 21, 23, 26, 27], eleven, -0.7720604035986572),
    ];
    for (q, preference, exemplars, labels, net) in want {
        let fit = with(Preference::Quantile(q)).fit(&points, &mut stream(1, 0)).unwrap();
        assert!((fit.preference - preference).abs() < 1e-15, "{q}: {}", fit.preference);
        assert!(fit.partition.same_grouping(&Partition::from_labels(&labels)), "{q}: {fit:?}");
        // Which of two members is the exemplar is a tie that each program breaks in its own way.
        for (k, size) in fit.partition.sizes().into_iter().enumerate() {
            assert!(size == 2 || exemplars.contains(&fit.exemplars[k]), "{q}: {fit:?}");
        }
        assert!((fit.net_similarity - net).abs() < 1e-13, "{q}: {}", fit.net_similarity);
        assert!(fit.converged);
        let oracle = with(Preference::Quantile(q));
        let as_oracle = oracle.cluster(&points, Start::K(7), &mut stream(1, 0)).unwrap();
        assert_eq!(as_oracle, fit.partition, "K must not matter");
    }
}

#[test]
fn similarities_that_are_not_symmetric_are_clustered_as_by_scikit_learn() {
    // scikit-learn 1.9.1, as above, S = -(U * V) of two tables of congruential numbers.
    let (u, v) = (congruential::points(11, 20, 20), congruential::points(12, 20, 20));
    let square = u.values().iter().zip(v.values()).map(|(u, v)| -(u * v)).collect();
    let similarities = Similarities::from_square(square).unwrap();
    let want: [(f64, &[usize], [u32; 20], f64); 2] = [
        (
            -0.05,
            &[1, 2, 5, 14, 17, 18],
            [1, 0, 1, 1, 3, 2, 0, 5, 5, 0, 2, 2, 3, 1, 3, 0, 1, 4, 5, 2],
            -0.4379903105969311,
        ),
        (-0.3, &[1, 2, 18], [1, 0, 1, 1, 1, 0, 0, 2, 2, 0, 0, 0, 2, 1, 2, 0, 1, 0, 2, 1], -1.421775834616027),
    ];
    for (p, exemplars, labels, net) in want {
        let fit = with(Preference::Value(p)).fit_similarities(&similarities, &mut stream(1, 0)).unwrap();
        assert_eq!((&fit.exemplars[..], fit.partition.labels()), (exemplars, &labels[..]));
        assert!((fit.net_similarity - net).abs() < 1e-13);
    }
}

#[test]
fn messages_follow_their_definitions() {
    let n = 11;
    let s = congruential::points(3, n, n);
    let mut messages = Messages::new(n, 0.6);
    (0..n).for_each(|i| (0..n).for_each(|k| messages.set_similarity(i, k, -s.row(i)[k])));
    let s = |i: usize, k: usize| -s.row(i)[k];
    let (mut r, mut a) = (vec![vec![0.0; n]; n], vec![vec![0.0; n]; n]);
    let mut exemplars = vec![false; n];
    let mut seen = 0;
    for round in 0..40 {
        for i in 0..n {
            let old: Vec<f64> = r[i].clone();
            for k in 0..n {
                let rivals = (0..n).filter(|&o| o != k).map(|o| a[i][o] + s(i, o));
                r[i][k] = 0.6 * old[k] + 0.4 * (s(i, k) - rivals.fold(f64::NEG_INFINITY, f64::max));
            }
        }
        for i in 0..n {
            for k in 0..n {
                let others = (0..n).filter(|&o| o != i && o != k).map(|o: usize| r[o][k].max(0.0));
                let sum: f64 = others.sum();
                let target = if i == k { sum } else { (r[k][k] + sum).min(0.0) };
                a[i][k] = 0.6 * a[i][k] + 0.4 * target;
            }
        }
        messages.pass();
        messages.update_exemplars(&mut exemplars);
        let want: Vec<bool> = (0..n).map(|k| a[k][k] + r[k][k] > 0.0).collect();
        assert_eq!(exemplars, want, "round {round}");
        seen += want.iter().filter(|e| **e).count();
    }
    assert!(seen > 40, "a test without exemplars proves nothing");
}

/// The largest net similarity over all sets of exemplars.
fn optimum(similarities: &Similarities, preference: f64) -> f64 {
    let n = similarities.len();
    let mut best = f64::NEG_INFINITY;
    for set in 1_u32..1 << n {
        let chosen = |k: &usize| set >> k & 1 == 1;
        let of = |i: usize| {
            let row = similarities.row(i);
            if chosen(&i) {
                preference
            } else {
                (0..n).filter(chosen).map(|k| row[k]).fold(f64::NEG_INFINITY, f64::max)
            }
        };
        best = best.max((0..n).map(of).sum());
    }
    best
}

#[test]
fn the_net_similarity_is_that_of_the_labels_and_as_often_the_optimum_as_with_scikit_learn() {
    let (mut tried, mut optimal) = (0, 0);
    for seed in 0..60 {
        let similarities = Similarities::of_points(&congruential::points(seed, 9, 2)).unwrap();
        for q in [0.2, 0.5, 0.8] {
            let oracle = with(Preference::Quantile(q));
            let fit = oracle.fit_similarities(&similarities, &mut stream(1, 0)).unwrap();
            let by_hand: f64 = (0..9)
                .map(|i| {
                    let e = fit.exemplars[fit.partition.labels()[i] as usize];
                    if e == i { fit.preference } else { similarities.row(i)[e] }
                })
                .sum();
            assert!((fit.net_similarity - by_hand).abs() < 1e-12);
            let best = optimum(&similarities, fit.preference);
            assert!(fit.net_similarity <= best + 1e-12);
            tried += 1;
            optimal += usize::from(fit.net_similarity >= best - 1e-12);
        }
    }
    println!("{optimal} of {tried} optimal");
    // scikit-learn 1.9.1 with the same parameters on the same points: 149 of 180.
    assert!(tried == 180 && optimal >= 149, "{optimal} of {tried}");
}

#[test]
fn quantiles_are_rs_type_7() {
    // R: quantile(c(4, 1, 3, 10), c(0, 0.25, 0.5, 0.9, 1))
    let values = [4.0, 1.0, 3.0, 10.0];
    for (q, want) in [(0.0, 1.0), (0.25, 2.5), (0.5, 3.5), (0.9, 8.2), (1.0, 10.0)] {
        assert!((quantile(&mut values.clone(), q) - want).abs() < 1e-14, "{q}");
    }
}

#[test]
fn one_object_is_one_cluster() {
    for preference in [Preference::Quantile(0.5), Preference::Value(-3.0)] {
        let fit = with(preference).fit(&line(&[5.0]), &mut stream(1, 0)).unwrap();
        assert_eq!((&fit.exemplars[..], fit.partition.labels()), (&[0][..], &[0][..]));
        assert!(fit.converged);
    }
}

#[test]
fn identical_points_are_one_cluster_unless_an_exemplar_is_worth_more() {
    let points = line(&[2.0; 6]);
    let of = |p| with(p).fit(&points, &mut stream(1, 0)).unwrap().partition.k();
    assert_eq!(of(Preference::Quantile(0.5)), 1);
    assert_eq!(of(Preference::Value(-1.0)), 1);
    assert_eq!(of(Preference::Value(0.1)), 6);
}

#[test]
fn two_objects_are_one_cluster_at_any_quantile() {
    // Their only similarity is the preference: one exemplar is as good as two.
    let fit = Affinity::default().fit(&line(&[0.0, 3.0]), &mut stream(1, 0)).unwrap();
    assert_eq!((fit.partition.k(), fit.net_similarity), (1, -18.0));
}

#[test]
fn a_large_preference_makes_each_object_its_own_cluster() {
    let points = congruential::points(5, 20, 2);
    let fit = with(Preference::Value(0.5)).fit(&points, &mut stream(1, 0)).unwrap();
    assert_eq!(fit.exemplars, (0..20).collect::<Vec<_>>());
    assert_eq!(fit.net_similarity, 10.0);
}

#[test]
fn ties_settle_for_any_seed() {
    // Pairs of equal points, and the corners of squares: every exemplar has an equal rival.
    let pairs = line(&[0.0, 0.0, 5.0, 5.0, 20.0, 20.0, 26.0, 26.0]);
    let corners =
        Points::new(vec![0., 0., 0., 1., 1., 0., 1., 1., 9., 9., 9., 10., 10., 9., 10., 10.], 2).unwrap();
    for seed in 0..20 {
        let fit = with(Preference::Value(-10.0)).fit(&pairs, &mut stream(seed, 0)).unwrap();
        assert!(fit.converged, "seed {seed}");
        assert_eq!(fit.partition.canonical().labels(), [0, 0, 1, 1, 2, 2, 3, 3]);
        let fit = with(Preference::Value(-10.0)).fit(&corners, &mut stream(seed, 0)).unwrap();
        assert!(fit.converged, "seed {seed}");
        assert_eq!(fit.partition.canonical().labels(), [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(fit.net_similarity, -20.0 - 8.0);
    }
}

#[test]
fn a_longer_window_settles_ties_of_three() {
    // Objects 0 to 2 are equally good exemplars. With the usual window scikit-learn 1.9.1 ends
    // before one of them wins, with a single cluster of net similarity -362.
    let far = vec![1.0, 1.0, 90.0, 90.5, 91.0, 1.0, 89.5, 90.0, 90.0, 90.0, 89.5, 91.0, 0.5, 1.0, 1.5];
    let table = Dissimilarities::from_condensed(far).unwrap();
    for seed in 0..20 {
        let oracle = with(Preference::Quantile(0.0)).window(200);
        let fit = oracle.fit_matrix(&table, &mut stream(seed, 0)).unwrap();
        assert_eq!(fit.partition.labels(), [0, 0, 0, 1, 1, 1]);
        assert_eq!((fit.net_similarity, fit.converged), (-185.5, true));
    }
}

#[test]
fn the_same_stream_gives_the_same_bytes() {
    let points = congruential::points(9, 60, 3);
    let of = || Affinity::default().fit(&points, &mut stream(4, 2)).unwrap();
    assert_eq!(of(), of());
}

#[test]
fn forbidden_pairs_split_what_is_not_connected() {
    // Two components, and object 6 that nothing is connected with.
    let component = [0, 0, 0, 1, 1, 1, 2];
    let square = (0..49).map(|at| {
        let (i, k) = (at / 7, at % 7);
        if component[i] == component[k] { -1.0 - 0.1 * k as f64 } else { f64::NEG_INFINITY }
    });
    let similarities = Similarities::from_square(square.collect()).unwrap();
    for p in [-50.0, -3.0] {
        let fit = with(Preference::Value(p)).fit_similarities(&similarities, &mut stream(1, 0)).unwrap();
        assert_eq!(fit.partition.labels(), [0, 0, 0, 1, 1, 1, 2], "{p}");
        assert_eq!(fit.exemplars, [0, 3, 6]);
    }
    let all = Similarities::from_square(vec![f64::NEG_INFINITY; 9]).unwrap();
    let fit = Affinity::default().fit_similarities(&all, &mut stream(1, 0)).unwrap();
    assert_eq!(fit.partition.labels(), [0, 1, 2]);
}

#[test]
fn too_few_rounds_are_said_with_the_exemplars_so_far_or_an_error_when_there_are_none() {
    let points = congruential::points(7, 30, 2);
    let oracle = with(Preference::Quantile(0.9));
    let fit = oracle.clone().max_iterations(30).fit(&points, &mut stream(1, 0)).unwrap();
    assert_eq!((fit.converged, fit.iterations), (false, 30));
    assert_eq!(fit.partition.k(), fit.exemplars.len());
    let error =
        with(Preference::Value(-100.0)).max_iterations(1).fit(&points, &mut stream(1, 0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "affinity: no exemplars after 1 rounds; raise the preference (now -100), the damping or the rounds"
    );
}

#[test]
fn bad_requests_are_errors() {
    let points = line(&[1.0, 2.0, 4.0]);
    let rng = &mut stream(1, 0);
    let default = Affinity::default();
    let bad = [
        (default.clone().damping(0.4), "affinity: the damping is 0.4, but must be at least 0.5 and below 1"),
        (
            default.clone().damping(f64::NAN),
            "affinity: the damping is NaN, but must be at least 0.5 and below 1",
        ),
        (default.clone().window(0), "affinity: the window of rounds is 0, but must be at least 1"),
        (
            default.clone().max_iterations(0),
            "affinity: the largest number of rounds is 0, but must be at least 1",
        ),
        (
            with(Preference::Quantile(1.5)),
            "affinity: the quantile of the preference is 1.5, but must be from 0 to 1",
        ),
        (
            with(Preference::Value(f64::INFINITY)),
            "affinity: the preference is inf, but must be a finite number",
        ),
    ];
    for (oracle, message) in bad {
        assert_eq!(oracle.fit(&points, rng).unwrap_err().to_string(), message);
    }
    let huge = "affinity: the similarities are too large to be summed; scale them";
    assert_eq!(default.fit(&line(&[0.0, 1.0, 1e200]), rng).unwrap_err().to_string(), huge);
    assert_eq!(default.fit(&line(&[0.0, 1.0, 1e153]), rng).unwrap_err().to_string(), huge);
    assert_eq!(default.fit(&line(&[]), rng), Err(OracleError::NoPoints));
    assert_eq!(default.cluster(&points, Start::K(0), rng), Err(OracleError::NoClusters));
    let too_many = OracleError::MoreClustersThanPoints { k: 4, n: 3 };
    assert_eq!(default.cluster(&points, Start::K(4), rng), Err(too_many));
    assert_eq!(
        Similarities::from_square(vec![0.0; 5]).unwrap_err().to_string(),
        "5 values are not a square table; n objects have n * n similarities"
    );
    let error = Similarities::from_square(vec![f64::NAN, 1.0, f64::INFINITY, f64::NAN]).unwrap_err();
    assert!(error.to_string().starts_with("objects 1 and 0: similarity inf"), "{error}");
    let error = Similarities::from_square(vec![0.0, f64::NAN, 0.0, 0.0]).unwrap_err();
    assert!(matches!(error, SimilaritiesError::Value { i: 0, k: 1, .. }));
}
