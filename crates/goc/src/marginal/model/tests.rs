use super::*;
use crate::candidates::CandidatesBuilder;
use crate::{Candidates, Partition, Points};

pub(super) fn parts() -> ModelParts {
    let cluster = |size, mean: [f64; 2], scatter: [f64; 4]| ClusterParts {
        size,
        mean: mean.to_vec(),
        scatter: scatter.to_vec(),
    };
    ModelParts {
        field: None,
        clusters: vec![
            cluster(3, [0.0, 0.5], [0.2, 0.05, 0.05, 0.1]),
            cluster(1, [2.0, 1.0], [0.0; 4]),
            cluster(5, [-1.0, -2.0], [0.9, -0.2, -0.2, 0.3]),
        ],
        metric: vec![0.6, 0.1, 0.1, 0.4],
        nu: 7,
        alpha: 1.5,
        singleton_weight: 1.0,
        power: 0.5,
        penalty_strength: 2.0,
        errors: None,
        base_middle: vec![0.3, 0.2],
        base_scale: vec![4.0, 0.5, 0.5, 3.0],
    }
}

#[test]
fn probabilities_of_a_tiny_model_are_those_of_scipys_student_t() {
    // scipy 1.x, stats.multivariate_t.pdf: n_k^.5 w t_k(x) H(m') / H(m), and 1.5 w H(x),
    // normalised; by cluster, the last for none.
    let mut builder = CandidatesBuilder::new(2);
    builder.push(&[0.1, 0.4, 1.5, 0.8, -0.5, -1.2], &[0.0, 0.3, 1.0]).unwrap();
    builder.push(&[6.0, -5.0], &[0.0]).unwrap();
    builder.push(&[1.0, 0.7, 1.1, 0.9], &[0.2, 0.0]).unwrap();
    let found = Model::new(parts()).unwrap().predict(&builder.build().unwrap()).unwrap();
    type Want<'a> = (Option<u32>, f64, (u32, f64), f64, &'a [f64]);
    let want: [Want<'_>; 3] = [
        (
            Some(0),
            0.855433358891,
            (1, 0.103952684374),
            0.0378639961126,
            &[0.880607245124, 0.11445996607, 0.00493278880627],
        ),
        (None, 0.999978614812, (1, 1.68557806825e-05), 0.999978614812, &[1.0]),
        (Some(1), 0.507699335909, (0, 0.270144689165), 0.222153539891, &[0.404871890468, 0.595128109532]),
    ];
    for (found, want) in found.iter().zip(want) {
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        assert_eq!((found.label, found.runner_up.unwrap().0), (want.0, want.2.0));
        near(found.probability, want.1);
        near(found.runner_up.unwrap().1, want.2.1);
        near(found.alone, want.3);
        found.candidates.iter().zip(want.4).for_each(|(a, b)| near(*a, *b));
    }
}

/// Groups in a row, far apart, each object a few candidates around its group.
pub(super) fn groups(k: usize, each: usize) -> Candidates {
    let mut builder = CandidatesBuilder::new(2);
    for i in 0..k * each {
        let (g, t) = ((i % k) as f64, i as f64);
        let m = 1 + i % 4;
        let rows: Vec<f64> = (0..m)
            .flat_map(|j| {
                let s = 0.4 * j as f64;
                [8.0 * g + 0.1 * libm::sin(t) + s * libm::cos(t), 0.1 * libm::cos(2.0 * t) + s * libm::sin(t)]
            })
            .collect();
        let penalties: Vec<f64> = (0..m).map(|j| 0.2 * j as f64).collect();
        builder.push(&rows, &penalties).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn training_objects_of_separated_groups_get_their_own_labels_and_a_far_one_none() {
    let candidates = groups(5, 8);
    let marginal = Marginal::default().length(2, 30, 40);
    let posterior = marginal.run(&candidates, 3).unwrap();
    assert_eq!(posterior.partition.k(), 5);
    let model = Model::fit(&marginal, &candidates, &posterior).unwrap();
    for (i, p) in model.predict(&candidates).unwrap().iter().enumerate() {
        assert_eq!(p.label, Some(posterior.partition.labels()[i]), "{i}: {p:?}");
        assert!(p.probability > 0.9 && p.alone < 0.1, "{i}: {p:?}");
        assert!((p.candidates.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    for far in [50.0, 1e8, 1e160, f64::MAX] {
        let point = Candidates::from_points(&Points::new(vec![far, -far], 2).unwrap()).unwrap();
        let found = &model.predict(&point).unwrap()[0];
        assert!(found.label.is_none() && found.alone > 0.9, "{far}: {found:?}");
    }
}

#[test]
fn the_scatter_of_a_fitted_cluster_is_its_mean_over_all_placings_of_the_members() {
    let mut builder = CandidatesBuilder::new(1);
    let places: [&[f64]; 3] = [&[0.0, 1.0], &[0.5, 2.0, 3.0], &[1.5, -1.0]];
    let shares: [&[f64]; 3] = [&[0.25, 0.75], &[0.5, 0.2, 0.3], &[0.9, 0.1]];
    for rows in places {
        builder.push(rows, &[]).unwrap();
    }
    let candidates = builder.build().unwrap();
    let marginal = Marginal::default().length(1, 2, 4);
    let mut posterior = marginal.run(&candidates, 1).unwrap();
    posterior.partition = Partition::from_labels(&[0, 0, 0]);
    posterior.in_no_group = Vec::new();
    posterior.candidates = shares.concat();
    let mean = |i: usize| -> f64 { places[i].iter().zip(shares[i]).map(|(x, p)| x * p).sum() };
    posterior.places = Points::new((0..3).map(mean).collect(), 1).unwrap();
    let mut want = 0.0;
    for a in 0..2 {
        for b in 0..3 {
            for c in 0..2 {
                let x = [places[0][a], places[1][b], places[2][c]];
                let m = x.iter().sum::<f64>() / 3.0;
                let scatter: f64 = x.iter().map(|x| (x - m) * (x - m)).sum();
                want += shares[0][a] * shares[1][b] * shares[2][c] * scatter;
            }
        }
    }
    let model = Model::fit(&marginal, &candidates, &posterior).unwrap();
    let cluster = &model.parts().clusters[0];
    assert!((cluster.scatter[0] - want).abs() < 1e-12, "{} {want}", cluster.scatter[0]);
    assert!((cluster.mean[0] - (mean(0) + mean(1) + mean(2)) / 3.0).abs() < 1e-12);
}

#[test]
fn one_object_equal_objects_and_a_cluster_for_each_make_models() {
    for points in [vec![1.0, 2.0], vec![3.0; 12], vec![0.0, 0.0, 50.0, 0.0, 0.0, 50.0]] {
        let candidates = Candidates::from_points(&Points::new(points, 2).unwrap()).unwrap();
        let marginal = Marginal::default().length(2, 10, 10);
        let mut posterior = marginal.run(&candidates, 1).unwrap();
        let n = candidates.objects() as u32;
        for labels in [posterior.partition.labels().to_vec(), (0..n).collect(), vec![0; n as usize]] {
            posterior.partition = Partition::from_labels(&labels);
            let model = Model::fit(&marginal, &candidates, &posterior).unwrap();
            for found in model.predict(&candidates).unwrap() {
                assert!((0.0..=1.0).contains(&found.probability) && (0.0..=1.0).contains(&found.alone));
                assert_eq!(found.runner_up.is_none(), found.label.is_some() && posterior.partition.k() == 1);
            }
        }
    }
}

#[test]
fn the_same_probabilities_at_any_number_of_threads() {
    let model = Model::new(parts()).unwrap();
    let candidates = groups(3, 20);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| model.predict(&candidates).unwrap())
    };
    assert_eq!(run(1), run(4));
}

#[test]
fn numbers_that_make_no_model_are_refused_by_name() {
    type Change = fn(&mut ModelParts);
    let cases: [(Change, &str); 11] = [
        (|p| p.clusters.clear(), "a model needs at least one cluster and one feature"),
        (|p| p.alpha = 0.0, "alpha is 0, but must be a finite number above 0"),
        (|p| p.singleton_weight = f64::NAN, "single is NaN, but must be a finite number above 0"),
        (|p| p.power = 1.5, "power is 1.5, but must be from 0 to 1"),
        (|p| p.penalty_strength = -1.0, "strength is -1, but must be a finite number not below 0"),
        (|p| p.nu = 1, "nu is 1, but must be at least the number of features"),
        (|p| p.metric.truncate(3), "the metric has 3 numbers, but 2 features need 4"),
        (|p| p.metric[0] = f64::NAN, "the metric is NaN, but must be finite"),
        (|p| p.metric[1] = 0.2, "the metric is not a positive definite symmetric matrix"),
        (|p| p.clusters[1].size = 0, "cluster 1's size is 0, but must be at least 1"),
        (
            |p| p.clusters[2].scatter[0] = -9.0,
            "cluster 2's scatter with the metric is not a positive definite symmetric matrix",
        ),
    ];
    for (change, message) in cases {
        let mut parts = parts();
        change(&mut parts);
        assert_eq!(Model::new(parts).unwrap_err().to_string(), message);
    }
    let line = Candidates::from_points(&Points::new(vec![1.0, 2.0], 1).unwrap()).unwrap();
    let error = Model::new(parts()).unwrap().predict(&line).unwrap_err();
    assert_eq!(error.to_string(), "the model has 2 features, the candidates 1");
}
