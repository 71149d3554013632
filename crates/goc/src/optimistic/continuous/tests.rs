use super::hull::{Corral, Hull, Nearest, Solver};
use super::*;
use crate::candidates::CandidatesBuilder;
use crate::optimistic::select::Selector;
use crate::optimistic::{KRule, Preset};
use crate::oracle::k_means::Algorithm;
use proptest::prelude::*;
use rand::RngExt;

/// Groups on a plane; each object is a short bent curve near its group.
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
            let bend = 0.5 * s * s;
            rows.push(c[0] + (s + shift) * turn.cos() - bend * turn.sin());
            rows.push(c[1] + (s + shift) * turn.sin() + bend * turn.cos());
            penalties.push(s * s);
        }
        builder.push(&rows, &penalties).unwrap();
    }
    builder.build().unwrap()
}

fn one_set(rows: &[f64], q: usize, penalties: &[f64]) -> Candidates {
    let mut builder = CandidatesBuilder::new(q);
    builder.push(rows, penalties).unwrap();
    builder.build().unwrap()
}

fn cold(candidates: &Candidates, centre: &[f64], lambda: f64) -> (Nearest, Corral, Vec<f64>) {
    let (mut corral, mut place) = (Corral::default(), vec![0.0; centre.len()]);
    let hull = Hull::new(candidates, 0, lambda);
    let nearest = Solver::default().nearest(&hull, centre, f64::INFINITY, &mut corral, &mut place).unwrap();
    (nearest, corral, place)
}

/// `|X w - c|^2 + lambda p'w` by its definition.
fn value_of(candidates: &Candidates, centre: &[f64], lambda: f64, weights: &[f64]) -> f64 {
    let mut value = 0.0;
    for (f, c) in centre.iter().enumerate() {
        let x: f64 = candidates.feature(0, f).iter().zip(weights).map(|(x, w)| x * w).sum();
        value += (x - c) * (x - c);
    }
    value + lambda * (0..weights.len()).map(|j| weights[j] * candidates.penalty(0, j)).sum::<f64>()
}

fn random_set(m: usize, q: usize, seed: u64) -> (Candidates, Vec<f64>) {
    let mut rng = random::stream(seed, 1);
    let rows: Vec<f64> = (0..m * q).map(|_| rng.random_range(-1.0..1.0)).collect();
    let penalties: Vec<f64> = (0..m).map(|_| rng.random_range(0.0..1.0)).collect();
    let centre = (0..q).map(|_| rng.random_range(-2.0..2.0)).collect();
    (one_set(&rows, q, &penalties), centre)
}

#[test]
fn nearest_points_of_triangles_and_tetrahedra_agree_with_dense_sampling() {
    for seed in 0..60 {
        let (m, q) = [(3, 2), (3, 3), (4, 3), (4, 2)][seed as usize % 4];
        let lambda = [0.0, 0.3, 5.0][seed as usize % 3];
        let (candidates, centre) = random_set(m, q, seed);
        let (nearest, _, place) = cold(&candidates, &centre, lambda);
        let steps = if m == 3 { 300 } else { 60 };
        let mut least = f64::INFINITY;
        for a in 0..=steps {
            for b in 0..=steps - a {
                for c in if m == 3 { steps - a - b..=steps - a - b } else { 0..=steps - a - b } {
                    let share = |x: usize| x as f64 / steps as f64;
                    let weights = [share(a), share(b), share(c), share(steps - a - b - c)];
                    least = least.min(value_of(&candidates, &centre, lambda, &weights[..m]));
                }
            }
        }
        assert!(nearest.value <= least + 1e-12, "seed {seed}: {} above {least}", nearest.value);
        // The nearest weights of the grid are within m / steps in sum, the corners within 2 sqrt(q) of each
        // other.
        let step = 2.0 * (q as f64).sqrt() * m as f64 / steps as f64;
        let allowed =
            (2.0 * squared_distance(&place, &centre).sqrt() + step) * step + lambda * m as f64 / steps as f64;
        assert!(least - nearest.value <= allowed, "seed {seed}: {} far below {least}", nearest.value);
    }
}

/// Slow and simple: steps against the gradient, each followed by the projection onto the simplex.
fn projected_gradient(candidates: &Candidates, centre: &[f64], lambda: f64) -> f64 {
    let m = candidates.count(0);
    let length: f64 = 2.0 * candidates.block(0).iter().map(|x| x * x).sum::<f64>();
    let mut w = vec![1.0 / m as f64; m];
    for _ in 0..40_000 {
        let mut gradient: Vec<f64> = (0..m).map(|j| lambda * candidates.penalty(0, j)).collect();
        for (f, c) in centre.iter().enumerate() {
            let column = candidates.feature(0, f);
            let off: f64 = column.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>() - c;
            gradient.iter_mut().zip(column).for_each(|(g, x)| *g += 2.0 * off * x);
        }
        w.iter_mut().zip(&gradient).for_each(|(w, g)| *w -= g / length);
        let mut sorted = w.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let (mut sum, mut shift) = (0.0, 0.0);
        for (j, x) in sorted.iter().enumerate() {
            sum += x;
            let level = (sum - 1.0) / (j + 1) as f64;
            if *x > level {
                shift = level;
            }
        }
        w.iter_mut().for_each(|x| *x = (*x - shift).max(0.0));
    }
    value_of(candidates, centre, lambda, &w)
}

#[test]
fn nearest_points_agree_with_a_slow_projected_gradient() {
    for seed in 0..24 {
        let (m, q) = (2 + seed as usize % 9, 1 + seed as usize % 5);
        let lambda = [0.0, 0.2, 1.0][seed as usize % 3];
        let (candidates, centre) = random_set(m, q, 100 + seed);
        let slow = projected_gradient(&candidates, &centre, lambda);
        let fast = cold(&candidates, &centre, lambda).0.value;
        assert!(fast <= slow + 1e-13, "seed {seed}: {fast} above {slow}");
        assert!(slow - fast <= 1e-7, "seed {seed}: {fast} below {slow}");
    }
}

#[test]
fn degenerate_hulls_have_their_closed_forms() {
    let place = |rows: &[f64], q, centre: &[f64]| cold(&one_set(rows, q, &[]), centre, 0.0).2;
    assert_eq!(place(&[1.0, 2.0], 2, &[5.0, 5.0]), [1.0, 2.0]); // one point
    assert_eq!(place(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0], 2, &[5.0, 5.0]), [1.0, 2.0]); // one point three times
    let line = [0.0, 0.0, 1.0, 1.0, 4.0, 4.0, 2.0, 2.0, 4.0, 4.0];
    let foot = place(&line, 2, &[0.0, 5.0]); // collinear: the foot of the perpendicular
    assert!(foot.iter().all(|x| (x - 2.5).abs() < 1e-15), "{foot:?}");
    assert_eq!(place(&line, 2, &[9.0, 5.0]), [4.0, 4.0]); // beyond the end
    let segment = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]; // two points in four dimensions
    assert_eq!(place(&segment, 4, &[0.25, 3.0, 0.0, 0.0]), [0.25, 0.0, 0.0, 0.0]);
    let square = [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    assert_eq!(place(&square, 2, &[0.3, 0.6]), [0.3, 0.6]); // inside: the centre itself
    assert_eq!(place(&square, 2, &[0.3, 7.0]), [0.3, 1.0]);
}

#[test]
fn of_equal_places_the_mixture_with_the_least_penalty_is_taken() {
    // 0 and 2 mix to 1 at penalty 4; the candidate at 1 costs 3, its duplicate 1.
    let candidates = one_set(&[0.0, 2.0, 1.0, 1.0], 1, &[4.0, 4.0, 3.0, 1.0]);
    let (nearest, corral, place) = cold(&candidates, &[1.0], 0.1);
    assert_eq!((place[0], corral.members.as_slice(), nearest.penalty), (1.0, &[3][..], 0.1));
    // On a segment x in [0, 1] with penalty x: minimum of (x - c)^2 + lambda x at c - lambda / 2.
    let segment = one_set(&[0.0, 1.0], 1, &[0.0, 1.0]);
    let (nearest, _, place) = cold(&segment, &[0.8], 0.4);
    assert!((place[0] - 0.6).abs() < 1e-15 && (nearest.value - (0.04 + 0.24)).abs() < 1e-15);
}

#[test]
fn a_centre_that_cannot_win_is_given_up_and_one_that_can_is_not() {
    for seed in 0..200 {
        let (candidates, centre) = random_set(9, 3, 500 + seed);
        let value = cold(&candidates, &centre, 0.1).0.value;
        let hull = Hull::new(&candidates, 0, 0.1);
        let within = |cutoff| {
            let (mut corral, mut place) = (Corral::default(), vec![0.0; 3]);
            Solver::default().nearest(&hull, &centre, cutoff, &mut corral, &mut place).is_some()
        };
        assert!(within(value * (1.0 + 1e-12)), "seed {seed}");
        assert!(!within(value * (1.0 - 1e-9)), "seed {seed}");
    }
}

/// Coordinates with many duplicates, collinear and coplanar triples, or none.
fn coordinates() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        prop::collection::vec((-2i32..3).prop_map(f64::from), 120),
        prop::collection::vec(-3.0f64..3.0, 120),
        // Thin: some coordinates nearly constant.
        prop::collection::vec((-1.0f64..1.0, 0u32..9).prop_map(|(x, e)| x * 10f64.powi(-(e as i32))), 120),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_nearest_point_satisfies_the_variational_inequality(
        values in coordinates(),
        q in 1usize..6,
        m in 1usize..16,
        lambda in prop::sample::select(vec![0.0, 0.01, 1.0]),
        far in prop::sample::select(vec![0.5, 2.0, 100.0]),
        moved in -0.1f64..0.1,
    ) {
        let penalties: Vec<f64> = (0..m).map(|j| values[119 - j].abs()).collect();
        let candidates = one_set(&values[..m * q], q, &penalties);
        let centre: Vec<f64> = (0..q).map(|f| far * values[90 + f]).collect();
        let (nearest, corral, place) = cold(&candidates, &centre, lambda);

        prop_assert!(corral.members.len() <= q + 1);
        prop_assert!(corral.weights.iter().all(|w| (0.0..=1.0).contains(w)));
        prop_assert!((corral.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let mut weights = vec![0.0; m];
        corral.members.iter().zip(&corral.weights).for_each(|(&j, w)| weights[j as usize] = *w);
        let scale = 1.0 + squared_distance(&place, &centre);
        prop_assert!((value_of(&candidates, &centre, lambda, &weights) - nearest.value).abs() < 1e-12 * scale);

        // <x - p, c - p> <= 0 for every x of the set, with the penalty's slope on top.
        for j in 0..m {
            let x = candidates.candidate(0, j);
            let along: f64 = (0..q).map(|f| (x[f] - place[f]) * (centre[f] - place[f])).sum();
            let slope = 2.0 * along - lambda * candidates.penalty(0, j) + nearest.penalty;
            prop_assert!(slope <= 1e-10 * scale.sqrt(), "candidate {}: {:e}", j, slope);
            prop_assert!(slope <= nearest.gap.max(0.0) + 1e-12 * scale);
        }

        // From the corral of another centre, the same value.
        let other: Vec<f64> = centre.iter().map(|c| c + moved).collect();
        let (mut warm, mut there) = (corral, place);
        let hull = Hull::new(&candidates, 0, lambda);
        let found = Solver::default().nearest(&hull, &other, f64::INFINITY, &mut warm, &mut there).unwrap();
        let again = cold(&candidates, &other, lambda).0;
        prop_assert!((found.value - again.value).abs() <= 1e-11 * scale, "{} {}", found.value, again.value);
    }

    #[test]
    fn box_is_below_hull_is_below_candidates_for_the_same_centres(
        seed in 0u64..10_000,
        k in 1usize..6,
        lambda in prop::sample::select(vec![0.0, 0.05, 1.0]),
    ) {
        let candidates = curves(12, 7, 3, seed);
        let mut rng = random::stream(seed, 2);
        let centres =
            Points::new((0..2 * k).map(|_| rng.random_range(-6.0..6.0)).collect(), 2).unwrap();
        let at = |region| {
            let goc = Continuous::new(region, Optimistic::new(1).lambda(lambda));
            goc.check(&candidates).unwrap().objective_at(&centres).unwrap()
        };
        let (inner, outer) = (at(Region::Hull), at(Region::Box));
        let mut selector = Selector::new(&candidates, Distance::Squared, lambda);
        let discrete: f64 = selector.select(&centres).0.iter().map(|c| c.value).sum();
        prop_assert!(outer <= inner * (1.0 + 1e-12) && inner <= discrete * (1.0 + 1e-12));
    }
}

fn constant(k: usize) -> Optimistic {
    Optimistic::new(k).k_rule(KRule::Constant)
}

fn run(region: Region, goc: Optimistic, candidates: &Candidates, seed: u64) -> ContinuousClustering {
    let oracle = KMeans::default().starts(5);
    Continuous::new(region, goc).still(1e-6).check(candidates).unwrap().run(&oracle, seed).unwrap()
}

const REGIONS: [Region; 2] = [Region::Hull, Region::Box];

#[test]
fn one_candidate_each_is_plain_k_means() {
    for seed in 0..5 {
        let candidates = curves(60, 1, 6, seed);
        let plain = candidates.means();
        // Lloyd's fixed points are those of step (III); Hartigan and Wong's need not be.
        let oracle = KMeans::default().starts(5).algorithm(Algorithm::Lloyd).max_iterations(100);
        let fit = oracle.fit(&plain, Start::K(6), &mut random::stream(seed, 0)).unwrap();
        for region in REGIONS {
            let goc = Continuous::new(region, constant(6)).check(&candidates).unwrap();
            let result = goc.run(&oracle, seed).unwrap();
            assert!(result.partition.same_grouping(&fit.partition));
            assert_eq!(result.places, plain);
            assert!((result.objective - fit.loss).abs() < 1e-12 * fit.loss);
            assert_eq!(result.discrete_objective, result.objective);
            assert_eq!(result.termination, Termination::Converged);
        }
    }
}

#[test]
fn the_objective_never_rises_with_k_means_and_constant_k() {
    for seed in 0..10 {
        let candidates = curves(80, 15, 8, seed);
        for region in REGIONS {
            for every in [OracleEvery::First, OracleEvery::Always] {
                let goc = constant(8).lambda(0.05).oracle_every(every).max_iterations(2000);
                let result = run(region, goc, &candidates, seed);
                let falls = |w: &[ContinuousIteration]| w[1].objective <= w[0].objective * (1.0 + 1e-12);
                assert!(result.history.windows(2).all(falls), "{region:?} {seed}: {:?}", result.history);
                assert_eq!(result.termination, Termination::Converged, "{region:?} {seed}");
                assert_eq!(result.objective, result.history[result.iterations - 1].objective);
            }
        }
    }
}

#[test]
fn a_converged_run_is_below_every_choice_of_candidates_with_its_labels() {
    for seed in 0..10 {
        let candidates = curves(6, 3, 2, seed);
        for region in REGIONS {
            let result = run(region, constant(2).lambda(0.1).max_iterations(100_000), &candidates, seed);
            assert_eq!(result.termination, Termination::Converged);
            let mut least = f64::INFINITY;
            for code in 0..3usize.pow(6) {
                let chosen: Vec<u32> = (0..6).map(|i| (code / 3usize.pow(i) % 3) as u32).collect();
                let points = candidates.chosen(&chosen);
                let centres = means(&points, &result.partition);
                let value: f64 = (0..6)
                    .map(|i| {
                        let centre = centres.row(result.partition.labels()[i] as usize);
                        squared_distance(points.row(i), centre)
                            + 0.1 * candidates.penalty(i, chosen[i] as usize)
                    })
                    .sum();
                least = least.min(value);
            }
            assert!(result.objective <= least + 1e-9, "{region:?} {seed}: {} {least}", result.objective);
            assert!(result.discrete_objective >= least - 1e-12);
        }
    }
}

#[test]
fn newtons_rest_is_where_places_and_centres_come_by_turns() {
    for seed in 0..6 {
        let candidates = curves(24, 7, 3, seed);
        let result = run(Region::Hull, constant(3).lambda(0.1), &candidates, seed);
        let labels = result.partition.labels();
        // Any start will do, the problem is convex: from the means of the sets, each place by a fresh search.
        let mut places = candidates.means();
        let mut penalties = [0.0; 24];
        let mut solver = Solver::default();
        for _ in 0..3000 {
            let centres = means(&places, &result.partition);
            for i in 0..24 {
                let hull = Hull::new(&candidates, i, 0.1);
                let (mut corral, place) = (Corral::default(), places.row_mut(i));
                let centre = centres.row(labels[i] as usize);
                penalties[i] =
                    solver.nearest(&hull, centre, f64::INFINITY, &mut corral, place).unwrap().penalty;
            }
        }
        let centres = means(&places, &result.partition);
        let turns: f64 = (0..24)
            .map(|i| squared_distance(places.row(i), centres.row(labels[i] as usize)) + penalties[i])
            .sum();
        assert!(result.objective <= turns + 1e-10, "seed {seed}: {} above {turns}", result.objective);
        assert!(turns - result.objective <= 1e-6, "seed {seed}: {} below {turns}", result.objective);
    }
}

#[test]
fn hulls_that_share_a_point_meet_there() {
    // Three long segments through (1, 1), none with a candidate there: one cluster of objective 0.
    let mut builder = CandidatesBuilder::new(2);
    builder.push(&[-3.0, 1.0, 4.0, 1.0], &[]).unwrap();
    builder.push(&[1.0, -2.0, 1.0, 7.0], &[]).unwrap();
    builder.push(&[-1.0, -1.0, 2.0, 2.0], &[]).unwrap();
    let candidates = builder.build().unwrap();
    let result = run(Region::Hull, constant(1), &candidates, 1);
    assert_eq!(result.termination, Termination::Converged);
    assert!(result.objective < 1e-10 && result.discrete_objective > 1.0, "{result:?}");
    assert!(result.places.values().iter().all(|x| (x - 1.0).abs() < 1e-5));
}

#[test]
fn an_object_whose_set_holds_two_centres_goes_to_the_one_nearer_its_mean() {
    let mut builder = CandidatesBuilder::new(1);
    builder.push(&[-1.0, 11.0, 12.0], &[]).unwrap(); // mean 7.33, both 0 and 10 inside
    for x in [0.0, 0.0, 10.0, 10.0] {
        builder.push(&[x], &[]).unwrap();
    }
    let candidates = builder.build().unwrap();
    for region in REGIONS {
        let result = run(region, constant(2).initial_labels(vec![0, 0, 0, 1, 1]), &candidates, 1);
        assert_eq!(result.partition.labels(), [1, 0, 0, 1, 1]);
        assert!(result.objective < 1e-10);
    }
}

#[test]
fn threads_do_not_change_the_bytes() {
    let candidates = curves(150, 15, 9, 4);
    for region in REGIONS {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(region, Optimistic::new(9).lambda(0.02).starts(2), &candidates, 7))
        };
        let (one, several) = (with(1), with(4));
        assert_eq!(one, several);
        assert_eq!(one.objective.to_bits(), several.objective.to_bits());
    }
}

#[test]
fn identical_sets_one_object_and_k_equal_to_n_are_answered() {
    for region in REGIONS {
        let mut builder = CandidatesBuilder::new(2);
        for _ in 0..5 {
            builder.push(&[0.0, 0.0, 1.0, 2.0, 3.0, 1.0], &[]).unwrap();
        }
        let same = builder.build().unwrap();
        let result = run(region, Optimistic::new(3), &same, 1);
        assert_eq!((result.partition.k(), result.objective), (1, 0.0));

        let one = one_set(&[0.0, 1.0], 1, &[0.5, 0.25]);
        let result = run(region, Optimistic::new(1).lambda(1.0), &one, 1);
        assert_eq!((result.partition.k(), result.termination), (1, Termination::Converged));
        assert!((result.objective - 0.25).abs() < 1e-9, "{region:?} {}", result.objective);

        let candidates = curves(8, 3, 8, 3);
        let result = run(region, constant(8), &candidates, 1);
        assert!(result.objective < 1e-9, "{region:?} {}", result.objective);
    }
}

#[test]
fn a_run_that_does_not_settle_says_so() {
    let candidates = curves(60, 9, 5, 2);
    for region in REGIONS {
        let one = run(region, constant(5).max_iterations(1), &candidates, 1);
        assert_eq!((one.termination, one.iterations), (Termination::Iterations, 1));
        assert_eq!(one.objective, one.history[0].objective);
    }
}

#[test]
fn a_cycle_is_noticed_and_its_best_state_returned() {
    // Single points, so that the grouping is all there is, and an oracle that contradicts itself: it joins
    // the middle point with the left one if it is alone with the right one, and the other way round; the
    // places tell it nothing.
    let mut builder = CandidatesBuilder::new(1);
    for x in [0.0, 4.0, 8.5, 30.0, 31.0] {
        builder.push(&[x], &[]).unwrap();
    }
    let candidates = builder.build().unwrap();
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let restless =
        crate::oracle::custom::Custom::new("restless", |_: &Points, _: Start<'_>, _: &mut crate::Stream| {
            let turn = calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 2;
            // Centres 2, 8.5, 30.5 keep {0, 4}; centres 0, 6.25, 30.5 keep {4, 8.5}.
            Ok::<Vec<u32>, String>(if turn == 1 { vec![0, 0, 1, 2, 2] } else { vec![0, 1, 1, 2, 2] })
        });
    for region in REGIONS {
        calls.store(0, std::sync::atomic::Ordering::Relaxed);
        let result =
            Continuous::new(region, constant(3)).check(&candidates).unwrap().run(&restless, 1).unwrap();
        assert_eq!((result.termination, result.iterations), (Termination::Cycle { period: 2 }, 3));
        // {0, 4} spreads 8, {4, 8.5} spreads 10.125; {30, 31} adds 0.5.
        assert_eq!(result.objective, 8.5);
        assert_eq!(result.partition.labels(), [0, 0, 1, 2, 2]);
    }
}

#[test]
fn wrong_wishes_are_named() {
    let candidates = curves(5, 3, 2, 1);
    let refuse = |goc: Continuous| goc.check(&candidates).map(|_| ()).unwrap_err().to_string();
    let hull = |goc| Continuous::new(Region::Hull, goc);
    assert_eq!(
        refuse(hull(Optimistic::preset(Preset::Authors, 2))),
        "hulls and boxes are searched by squared distance only; choose the squared distance"
    );
    assert_eq!(
        refuse(hull(Optimistic::new(2).swaps(3))),
        "3 swap moves were asked for; hulls and boxes have none, ask for 0"
    );
    assert_eq!(
        refuse(hull(Optimistic::new(2)).still(f64::NAN)),
        "places that move by NaN cannot be called still; it must be a finite number not below 0"
    );
    assert_eq!(refuse(hull(Optimistic::new(0))), "the number of clusters must be at least 1");
    let goc = hull(Optimistic::new(2)).check(&candidates).unwrap();
    assert_eq!(
        goc.objective_at(&Points::new(vec![0.0], 1).unwrap()).unwrap_err().to_string(),
        "the centres have 1 features, the candidates 2"
    );
    assert_eq!(goc.objective_at(&Points::new(vec![], 2).unwrap()).unwrap_err(), ContinuousError::NoCentres);
}
