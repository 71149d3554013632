use super::*;
use crate::candidates::CandidatesBuilder;
use crate::oracle::k_means::KMeans;
use crate::oracle::{Oracle, Start};
use crate::{Candidates, Points, random};
use proptest::prelude::*;
use rand::RngExt;

/// Groups on a plane; each object is a short random curve through its true place.
fn curves(n: usize, m: usize, groups: usize, seed: u64) -> Candidates {
    let mut rng = random::stream(seed, 0);
    let middles: Vec<[f64; 2]> =
        (0..groups).map(|_| [rng.random_range(-5.0..5.0), rng.random_range(-5.0..5.0)]).collect();
    let mut builder = CandidatesBuilder::new(2);
    for i in 0..n {
        let c = middles[i % groups];
        let turn: f64 = rng.random_range(0.0..std::f64::consts::TAU);
        let shift: f64 = rng.random_range(-1.0..1.0);
        let (mut rows, mut penalties) = (Vec::new(), Vec::new());
        for j in 0..m {
            let s = if m == 1 { 0.0 } else { 2.0 * j as f64 / (m - 1) as f64 - 1.0 };
            rows.push(c[0] + (s + shift) * turn.cos() + 0.1 * rng.random_range(-1.0..1.0));
            rows.push(c[1] + (s + shift) * turn.sin() + 0.1 * rng.random_range(-1.0..1.0));
            penalties.push(s * s);
        }
        builder.push(&rows, &penalties).unwrap();
    }
    builder.build().unwrap()
}

fn quick() -> KMeans {
    KMeans::default().starts(5)
}

fn constant(k: usize) -> Optimistic {
    Optimistic::new(k).k_rule(KRule::Constant)
}

#[test]
fn one_candidate_each_is_the_oracle_alone() {
    for seed in 0..5 {
        let candidates = curves(60, 1, 6, seed);
        let plain = candidates.means();
        for preset in [Preset::Paper, Preset::Authors] {
            // Hartigan-Wong may rest where another centre is nearer; Lloyd's rounds end in the oracle's own
            // fixed points, so compare with an oracle that agrees with step (III).
            let oracle = quick().algorithm(crate::oracle::k_means::Algorithm::Lloyd).max_iterations(100);
            let alone = oracle.cluster(&plain, Start::K(6), &mut random::stream(seed, 0)).unwrap();
            let goc = Optimistic::preset(preset, 6).k_rule(KRule::Occupied).oracle_every(OracleEvery::Always);
            let result = goc.check(&candidates).unwrap().run(&oracle, seed).unwrap();
            assert!(result.partition.same_grouping(&alone));
            assert_eq!(result.termination, Termination::Converged);
        }
    }
}

#[test]
fn the_joint_objective_never_rises_with_k_means_and_constant_k() {
    for seed in 0..20 {
        let candidates = curves(80, 21, 8, seed);
        let result = constant(8).lambda(0.05).check(&candidates).unwrap().run(&quick(), seed).unwrap();
        let objectives: Vec<f64> = result.history.iter().map(|t| t.objective).collect();
        assert!(objectives.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-12)), "seed {seed}: {objectives:?}");
        assert_eq!(result.termination, Termination::Converged);
        assert_eq!(result.objective, objectives[objectives.len() - 1]);
    }
}

#[test]
fn the_result_is_a_fixed_point_of_choosing() {
    let candidates = curves(70, 15, 7, 3);
    let goc = constant(7).lambda(0.1).check(&candidates).unwrap();
    let result = goc.run(&quick(), 3).unwrap();
    for i in 0..candidates.objects() {
        let value = |j: usize, k: usize| {
            crate::points::squared_distance(&candidates.candidate(i, j), result.centres.row(k))
                + 0.1 * candidates.penalty(i, j)
        };
        let own = value(result.chosen[i] as usize, result.partition.labels()[i] as usize);
        for j in 0..candidates.count(i) {
            for k in 0..result.centres.len() {
                assert!(own <= value(j, k) + 1e-12);
            }
        }
    }
}

#[test]
fn starts_and_swaps_only_lower_the_objective_and_reach_the_enumerated_minimum() {
    // 4 objects x 3 candidates x 2 clusters: 81 choices times 16 labelings can be looked at one by one.
    for seed in 0..8 {
        let candidates = curves(4, 3, 2, seed);
        let goc = |starts, swaps| {
            constant(2)
                .lambda(0.1)
                .starts(starts)
                .swaps(swaps)
                .check(&candidates)
                .unwrap()
                .run(&quick(), seed)
                .unwrap()
        };
        let (one, several, swapped) = (goc(1, 0), goc(8, 0), goc(8, 30));
        assert!(several.objective <= one.objective && swapped.objective <= several.objective);

        let mut least = f64::INFINITY;
        for choice in 0..81usize {
            let chosen: Vec<u32> = (0..4).map(|i| (choice / 3usize.pow(i) % 3) as u32).collect();
            let points = candidates.chosen(&chosen);
            let penalty: f64 = (0..4).map(|i| candidates.penalty(i, chosen[i] as usize)).sum();
            for code in 0..16u32 {
                let labels: Vec<u32> = (0..4).map(|i| code >> i & 1).collect();
                let partition = crate::Partition::from_labels(&labels);
                let centres = crate::oracle::k_means::means(&points, &partition);
                let spread: f64 = (0..4)
                    .map(|i| {
                        let centre = centres.row(partition.labels()[i] as usize);
                        crate::points::squared_distance(points.row(i), centre)
                    })
                    .sum();
                least = least.min(spread + 0.1 * penalty);
            }
        }
        assert!((swapped.objective - least).abs() < 1e-12, "seed {seed}: {} not {least}", swapped.objective);
    }
}

#[test]
fn swaps_pay_on_a_harder_set() {
    let candidates = curves(200, 15, 20, 5);
    let goc = |swaps| {
        constant(20)
            .lambda(0.01)
            .swaps(swaps)
            .check(&candidates)
            .unwrap()
            .run(&KMeans::default().starts(1), 1)
            .unwrap()
    };
    let (plain, swapped) = (goc(0), goc(200));
    assert!(swapped.swaps_accepted > 0);
    assert!(swapped.objective < plain.objective);
}

#[test]
fn the_thorough_search_reaches_the_enumerated_minimum_and_never_rises() {
    // 5 objects x 2 candidates x 2 clusters: every choice and labelling.
    for seed in 0..12 {
        let candidates = curves(5, 2, 2, seed);
        let base = || constant(2).lambda(0.1);
        let plain = base().check(&candidates).unwrap().run(&quick(), seed).unwrap();
        let found = base().search(Search::Thorough).check(&candidates).unwrap().run(&quick(), seed).unwrap();
        let mut least = f64::INFINITY;
        for choice in 0..32usize {
            let chosen: Vec<u32> = (0..5).map(|i| (choice >> i & 1) as u32).collect();
            let points = candidates.chosen(&chosen);
            let penalty: f64 = (0..5).map(|i| candidates.penalty(i, chosen[i] as usize)).sum();
            for code in 0..32u32 {
                let labels: Vec<u32> = (0..5).map(|i| code >> i & 1).collect();
                let partition = crate::Partition::from_labels(&labels);
                let centres = crate::oracle::k_means::means(&points, &partition);
                let spread: f64 = (0..5)
                    .map(|i| {
                        let centre = centres.row(partition.labels()[i] as usize);
                        crate::points::squared_distance(points.row(i), centre)
                    })
                    .sum();
                least = least.min(spread + 0.1 * penalty);
            }
        }
        assert!(found.objective <= plain.objective);
        assert!((found.objective - least).abs() < 1e-12, "seed {seed}: {} not {least}", found.objective);
    }
}

#[test]
fn the_thorough_search_beats_random_swaps_and_its_objective_is_that_of_its_choice() {
    let candidates = curves(200, 15, 20, 5);
    let oracle = KMeans::default().starts(1);
    let base = || constant(20).lambda(0.01);
    let swapped = base().swaps(200).check(&candidates).unwrap().run(&oracle, 1).unwrap();
    let found = base().search(Search::Thorough).check(&candidates).unwrap().run(&oracle, 1).unwrap();
    assert!(found.objective < swapped.objective, "{} {}", found.objective, swapped.objective);
    assert_eq!(found.partition.k(), 20);
    let points = candidates.chosen(&found.chosen);
    assert_eq!(found.centres, crate::oracle::k_means::means(&points, &found.partition));
    let objective: f64 = (0..200)
        .map(|i| {
            let centre = found.centres.row(found.partition.labels()[i] as usize);
            crate::points::squared_distance(points.row(i), centre)
                + 0.01 * candidates.penalty(i, found.chosen[i] as usize)
        })
        .sum();
    assert_eq!(found.objective, objective);
}

#[test]
fn the_thorough_search_has_an_answer_for_one_object_equal_sets_and_k_equal_n() {
    let run = |candidates: &Candidates, k| {
        let goc = constant(k).lambda(0.01).search(Search::Thorough).check(candidates).unwrap();
        goc.run(&quick(), 1).unwrap()
    };
    let one = run(&curves(1, 5, 1, 1), 1);
    assert_eq!((one.partition.k(), one.chosen.len()), (1, 1));
    let mut builder = CandidatesBuilder::new(2);
    for _ in 0..6 {
        builder.push(&[1.0, 2.0, 1.0, 2.0], &[]).unwrap();
    }
    let equal = run(&builder.build().unwrap(), 3);
    assert_eq!((equal.partition.k(), equal.objective), (1, 0.0));
    let all = run(&curves(7, 5, 3, 1), 7);
    assert_eq!(all.partition.k(), 7);
    assert!(
        all.objective < 1e-12,
        "every object has its own centre and its least penalty: {}",
        all.objective
    );
    for distance in [Distance::Euclidean, Distance::EuclideanSingle] {
        let candidates = curves(60, 15, 6, 2);
        let base = || constant(6).lambda(0.01).distance(distance);
        let plain = base().check(&candidates).unwrap().run(&quick(), 1).unwrap();
        let found = base().search(Search::Thorough).check(&candidates).unwrap().run(&quick(), 1).unwrap();
        assert!(found.objective <= plain.objective);
    }
}

#[test]
fn threads_do_not_change_the_bytes() {
    // More objects than one task takes.
    let candidates = curves(700, 21, 12, 2);
    let results: Vec<Clustering> = [1, 2, 4]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                constant(12)
                    .lambda(0.02)
                    .starts(4)
                    .swaps(20)
                    .search(Search::Thorough)
                    .check(&candidates)
                    .unwrap()
                    .run(&quick(), 7)
                    .unwrap()
            })
        })
        .collect();
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

/// An oracle that always leaves the first object badly assigned: a centre waits at its other candidate.
struct Restless;

impl Oracle for Restless {
    fn name(&self) -> &str {
        "restless"
    }

    fn cluster(
        &self,
        points: &Points,
        _: Start<'_>,
        _: &mut crate::Stream,
    ) -> Result<crate::Partition, crate::oracle::OracleError> {
        let labels = if points.row(0)[0] < 0.5 { [0, 0, 1, 2, 2] } else { [0, 2, 2, 1, 0] };
        Ok(crate::Partition::from_labels(&labels))
    }
}

#[test]
fn a_cycle_is_noticed_and_its_best_state_returned() {
    let mut builder = CandidatesBuilder::new(1);
    builder.push(&[0.0, 1.0], &[]).unwrap();
    for fixed in [-0.2, 0.2, 0.7, 1.3] {
        builder.push(&[fixed], &[]).unwrap();
    }
    let candidates = builder.build().unwrap();
    for limit in [10, 11, 30] {
        let goc = constant(3).max_iterations(limit).check(&candidates).unwrap();
        let result = goc.run(&Restless, 1).unwrap();
        assert_eq!(result.termination, Termination::Cycle { period: 2 });
        let cycle = &result.history[result.history.len() - 2..];
        assert_ne!(cycle[0].objective, cycle[1].objective);
        assert_eq!(result.objective, cycle[0].objective.min(cycle[1].objective));
    }
}

#[test]
fn limits_and_tolerance_stop_early_and_say_so() {
    let candidates = curves(150, 21, 10, 1);
    let base = || constant(10).lambda(0.01);
    let whole = base().check(&candidates).unwrap().run(&quick(), 1).unwrap();
    assert!(whole.iterations > 2, "the set converges too fast to test limits on");
    let cut = base().max_iterations(1).check(&candidates).unwrap().run(&quick(), 1).unwrap();
    assert_eq!((cut.termination, cut.iterations), (Termination::Iterations, 1));
    let loose = base().tolerance(0.5).check(&candidates).unwrap().run(&quick(), 1).unwrap();
    assert_eq!(loose.termination, Termination::Tolerance);
    assert!(loose.iterations < whole.iterations);
}

#[test]
fn an_early_stopped_oracle_still_descends() {
    let candidates = curves(150, 21, 10, 6);
    let hasty = KMeans::default().starts(1).max_iterations(1);
    let result = constant(10).lambda(0.01).check(&candidates).unwrap().run(&hasty, 1).unwrap();
    assert!(result.history.windows(2).all(|w| w[1].objective <= w[0].objective * (1.0 + 1e-12)));
}

#[test]
fn wrong_wishes_are_named() {
    let candidates = curves(5, 3, 2, 1);
    let refuse = |p: Optimistic| p.check(&candidates).map(|_| ()).unwrap_err().to_string();
    assert_eq!(refuse(Optimistic::new(0)), "the number of clusters must be at least 1");
    assert_eq!(refuse(Optimistic::new(6)), "6 clusters were asked for, but there are only 5 objects");
    assert_eq!(
        refuse(Optimistic::new(2).lambda(-1.0)),
        "lambda is -1; it must be a finite number not below 0"
    );
    assert_eq!(
        refuse(Optimistic::new(2).lambda(f64::NAN)),
        "lambda is NaN; it must be a finite number not below 0"
    );
    assert_eq!(refuse(Optimistic::new(2).initial_labels(vec![1, 2])), "2 first labels for 5 objects");
    assert_eq!(
        refuse(Optimistic::new(2).tolerance(1.5)),
        "the tolerance is 1.5; it is a share of the objects, from 0 to below 1"
    );
    assert_eq!(refuse(Optimistic::new(2).max_iterations(0)), "at least one iteration must be allowed");
}

#[test]
fn all_candidates_equal_make_one_cluster() {
    let mut builder = CandidatesBuilder::new(2);
    for _ in 0..6 {
        builder.push(&[1.0, 2.0, 1.0, 2.0], &[]).unwrap();
    }
    let candidates = builder.build().unwrap();
    for rule in [KRule::Constant, KRule::Occupied, KRule::Plural] {
        let result = Optimistic::new(3).k_rule(rule).check(&candidates).unwrap().run(&quick(), 1).unwrap();
        assert_eq!((result.partition.k(), result.objective), (1, 0.0));
    }
}

/// Objects in the order `order`, each one's candidates shuffled, all moved, turned and scaled.
fn changed(c: &Candidates, order: &[usize], seed: u64, shift: [f64; 2], turn: f64, scale: f64) -> Candidates {
    let mut builder = CandidatesBuilder::new(2);
    for &i in order {
        let (mut rows, mut penalties) = (Vec::new(), Vec::new());
        for j in shuffled(c.count(i), seed + i as u64) {
            let x = c.candidate(i, j);
            rows.push(scale * (turn.cos() * x[0] - turn.sin() * x[1]) + shift[0]);
            rows.push(scale * (turn.sin() * x[0] + turn.cos() * x[1]) + shift[1]);
            penalties.push(c.penalty(i, j));
        }
        builder.push(&rows, &penalties).unwrap();
    }
    builder.build().unwrap()
}

fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut rng = random::stream(seed, 9);
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    order
}

/// First labels that are not yet good, so that there is something to do.
fn poor_labels(n: usize) -> Vec<i64> {
    (0..n).map(|i| i64::from(i % 5 == 0) + i64::from(i % 7 == 0) * 2).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn place_direction_scale_and_order_of_candidates_leave_the_partition(
        seed in 0u64..10_000,
        shift in prop::array::uniform2(-20.0f64..20.0),
        turn in 0.0f64..6.3,
        scale in 0.1f64..10.0,
        preset in prop::sample::select(vec![Preset::Paper, Preset::Authors]),
    ) {
        let candidates = curves(40, 9, 5, seed);
        let order: Vec<usize> = (0..40).collect();
        let other = changed(&candidates, &order, seed, shift, turn, scale);
        // Scaling space scales the distance, so lambda goes along with it.
        let lambda = 0.05;
        let scaled = match preset { Preset::Authors => lambda * scale, _ => lambda * scale * scale };
        let run = |c: &Candidates, lambda: f64| {
            let mut goc = Optimistic::preset(preset, 4).lambda(lambda).initial_labels(poor_labels(40));
            if preset == Preset::Authors {
                goc = goc.distance(Distance::Euclidean); // single precision would see a turn as a change
            }
            goc.check(c).unwrap().run(&KMeans::default(), 1).unwrap()
        };
        let (a, b) = (run(&candidates, lambda), run(&other, scaled));
        prop_assert_eq!(a.partition, b.partition);
    }

    #[test]
    fn the_order_of_the_objects_leaves_the_partition(seed in 0u64..10_000) {
        let candidates = curves(40, 9, 5, seed);
        let order = shuffled(40, seed);
        let other = changed(&candidates, &order, seed, [0.0, 0.0], 0.0, 1.0);
        // Lloyd's rounds do not depend on the order of the points; Hartigan and Wong's transfers do.
        let oracle = KMeans::default().algorithm(crate::oracle::k_means::Algorithm::Lloyd).max_iterations(100);
        let run = |c: &Candidates, labels: Vec<i64>| {
            let goc = Optimistic::new(4).lambda(0.05).initial_labels(labels);
            goc.check(c).unwrap().run(&oracle, 1).unwrap()
        };
        let labels = poor_labels(40);
        let a = run(&candidates, labels.clone());
        let b = run(&other, order.iter().map(|&i| labels[i]).collect());
        let mut back = vec![0; 40];
        for (place, &i) in order.iter().enumerate() {
            back[i] = b.partition.labels()[place];
        }
        prop_assert!(a.partition.same_grouping(&crate::Partition::from_labels(&back)));
    }
}
