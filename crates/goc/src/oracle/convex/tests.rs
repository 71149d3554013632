use super::*;
use crate::metrics::Scores;
use crate::oracle::graph::tests::{
    blobs, does_not_mind_order_place_and_direction, letters, refuses_bad_requests, works_inside_goc,
};
use crate::points::squared_distance;
use crate::random::stream;

/// The solution at one gamma, from nothing.
fn solve(oracle: &Convex, points: &Points, gamma: f64) -> ConvexFit {
    Search::new(oracle, points).unwrap().at(gamma)
}

/// The solutions along growing gamma until all is one, each begun from the last.
fn path(oracle: &Convex, points: &Points) -> Vec<ConvexFit> {
    let mut search = Search::new(oracle, points).unwrap();
    let mut path = vec![search.at(0.0), search.at(search.before_any_joins())];
    while path[path.len() - 1].partition.k() > 1 {
        path.push(search.at(1.25 * path[path.len() - 1].gamma));
    }
    path
}

#[test]
fn two_points_follow_the_closed_form() {
    // At distance d with weight 1 each moves gamma towards the other until they meet at gamma = d / 2.
    let points = Points::new(vec![1.0, 1.0, 4.0, 5.0], 2).unwrap();
    let oracle = Convex::default().phi(0.0).tolerance(1e-14);
    for gamma in [0.0, 0.5, 2.0, 2.4] {
        let fit = solve(&oracle, &points, gamma);
        assert_eq!((fit.partition.k(), fit.converged), (2, true));
        assert!((fit.objective - (gamma * 5.0 - gamma * gamma)).abs() < 1e-12);
        assert!(squared_distance(fit.places.row(0), &[1.0 + 0.6 * gamma, 1.0 + 0.8 * gamma]) < 1e-20);
    }
    for gamma in [2.6, 9.0, 1e6] {
        let fit = solve(&oracle, &points, gamma);
        assert_eq!((fit.partition.k(), fit.converged), (1, true));
        assert!((fit.objective - 6.25).abs() < 1e-10);
        assert!(squared_distance(fit.places.row(1), &[2.5, 3.0]) < 1e-12);
    }
    // Mass counts: three points at 0 and one at 3 move gamma / 3 and gamma, and meet at gamma = 9 / 4.
    let points = Points::new(vec![0.0, 0.0, 3.0, 0.0], 1).unwrap();
    let fit = solve(&oracle, &points, 1.5);
    assert_eq!(fit.partition.labels(), [0, 0, 1, 0]);
    assert!((fit.places.row(0)[0] - 0.5).abs() < 1e-12 && (fit.places.row(2)[0] - 1.5).abs() < 1e-12);
    assert_eq!(solve(&oracle, &points, 2.3).partition.k(), 1);
}

/// The objective from its definition, over all pairs; so many neighbours that no bridge is needed.
fn objective(points: &Points, places: &Points, gamma: f64, neighbours: usize, phi: f64) -> f64 {
    let n = points.len();
    let d = |i: usize, j: usize| squared_distance(points.row(i), points.row(j));
    let nearer = |i: usize, j: usize| (0..n).filter(|&o| o != i && d(i, o) < d(i, j)).count();
    let mut sum = 0.0;
    for i in 0..n {
        sum += 0.5 * squared_distance(points.row(i), places.row(i));
        for j in 0..i {
            if nearer(i, j) < neighbours || nearer(j, i) < neighbours {
                let w = (-phi * d(i, j)).exp().max(1e-4);
                sum += gamma * w * squared_distance(places.row(i), places.row(j)).sqrt();
            }
        }
    }
    sum
}

#[test]
fn solutions_are_those_of_cvxpy() {
    // cvxpy 1.9.3 with Clarabel (gap 1e-11): the least objective, the place of point 0, places nearer than
    // 1e-4 as letters.
    let want = [
        (0.2, 6.198991385977355, [2.6807971143483877, 6.7777286874201925], "ABCDEFGHIJKDILMNOPQRSTMDUVWDXY"),
        (0.5, 10.450303782996851, [2.195431100388552, 6.550191831228993], "ABCDABEFAGEDAHEDABCIABEDABJDAK"),
        (1.0, 13.580137877042555, [2.097134840378895, 6.6022994598872335], "ABCDABCDAECDABCDABCFABCDABCDAG"),
        (5.0, 28.731509466246017, [2.089448668156365, 6.606409191546019], "ABCDABCDAACDABCDABCEABCDABCDAF"),
        (20.0, 52.62950800561168, [2.089613931803839, 6.606434412100697], "ABBCABBCAABCABBCABBDABBCABBCAE"),
        (
            100.0,
            61.471166512667956,
            [2.0904950570737375, 6.606553720119247],
            "ABBBABBBAABBABBBABBCABBBABBBAD",
        ),
    ];
    let points = blobs(3, 30, 2, 4);
    let oracle = Convex::default().neighbours(4).phi(0.25).tolerance(1e-11).max_iterations(100_000);
    for (gamma, least, place, labels) in want {
        let fit = solve(&oracle, &points, gamma);
        assert!(fit.converged, "{gamma} {}", fit.gap);
        assert!((fit.objective - least).abs() < 1e-7 * least, "{gamma} {} {least}", fit.objective);
        assert!(squared_distance(fit.places.row(0), &place) < 1e-9, "{gamma} {:?}", fit.places.row(0));
        assert!(fit.partition.same_grouping(&letters(labels)), "{gamma} {:?}", fit.partition);
    }
}

#[test]
fn the_objective_is_that_of_the_definition_and_the_gap_bounds_it() {
    let points = blobs(3, 30, 2, 4);
    let exact = Convex::default().neighbours(12).phi(0.1).tolerance(1e-12).max_iterations(100_000);
    for gamma in [0.1, 1.0, 3.0] {
        let least = solve(&exact, &points, gamma);
        for steps in [1, 5, 50] {
            let rough = solve(&exact.clone().max_iterations(steps), &points, gamma);
            let value = objective(&points, &rough.places, gamma, 12, 0.1);
            assert!((rough.objective - value).abs() < 1e-10 * value, "{gamma} {steps}");
            assert!(!rough.converged || steps > 1, "{gamma}");
            assert!(rough.objective - least.objective <= rough.gap + 1e-9, "{gamma} {steps}");
            assert!(rough.objective >= least.objective - 1e-9);
        }
    }
}

#[test]
fn with_equal_weights_the_path_only_joins_and_ends_in_one() {
    // All pairs with one weight: it is proved that clusters never part again (Chiquet, Gutierrez & Rigaill
    // 2017). On a tree the count falls here, but single points may change sides.
    for (seed, neighbours) in [(1, 39), (2, 39), (1, 0), (2, 0), (3, 0), (4, 0)] {
        let oracle =
            Convex::default().neighbours(neighbours).phi(0.0).tolerance(1e-11).max_iterations(50_000);
        let path = path(&oracle, &blobs(seed, 40, 2, 3));
        assert_eq!((path[0].partition.k(), path[path.len() - 1].partition.k()), (40, 1));
        for pair in path.windows(2) {
            let (before, after) = (&pair[0], &pair[1]);
            assert!(before.converged && before.gamma < after.gamma);
            assert!(after.objective >= before.objective - before.gap);
            assert!(after.partition.k() <= before.partition.k(), "{} {}", before.gamma, after.gamma);
            if neighbours > 0 {
                let nested = Scores::of(before.partition.labels(), after.partition.labels()).unwrap();
                assert_eq!(nested.homogeneity, 1.0, "{seed} {}", after.gamma);
            }
        }
    }
}

#[test]
fn coarser_scales_only_speed_up() {
    // The path starts each gamma from coarser problems, a solution by itself from nothing.
    let points = blobs(5, 120, 2, 6);
    let oracle = Convex::default().tolerance(1e-8).max_iterations(100_000);
    let path = path(&oracle, &points);
    let scale = path[path.len() - 1].objective;
    for along in path.iter().step_by(6) {
        let alone = solve(&oracle, &points, along.gamma);
        assert!(along.converged && alone.converged);
        assert!((along.objective - alone.objective).abs() <= 1e-8 * scale, "{}", along.gamma);
        for (u, v) in along.places.rows().zip(alone.places.rows()) {
            // |u - exact|^2 <= 2 gap for each of the two.
            assert!(squared_distance(u, v) <= 8.0 * 1e-8 * scale, "{}", along.gamma);
        }
    }
}

#[test]
fn the_wanted_k_is_met_or_the_nearest_not_below() {
    let points = blobs(1, 60, 2, 4);
    for k in [1, 2, 4, 7, 20, 59, 60] {
        let fit = Convex::default().fit(&points, k).unwrap();
        assert!(fit.partition.k() >= k && fit.converged, "{k} {}", fit.partition.k());
        assert!(fit.partition.k() <= k + 1, "{k} {}", fit.partition.k());
    }
    // The corners of a square all meet at once, so there is nothing between four and one.
    let square = Points::new(vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0], 2).unwrap();
    let corners = Convex::default().neighbours(2).phi(0.0);
    let found = |k: usize| corners.fit(&square, k).unwrap().partition.k();
    assert_eq!([found(4), found(3), found(2), found(1)], [4, 4, 4, 1]);
}

#[test]
fn neighbours_in_pieces_are_bridged_so_that_the_path_ends_in_one() {
    let place = |i: usize| 1e3 * (i / 5) as f64 + (i % 5) as f64;
    let points = Points::new((0..20).map(place).collect(), 1).unwrap();
    let path = path(&Convex::default().neighbours(2), &points);
    assert_eq!(path[path.len() - 1].partition.k(), 1);
    let fit = Convex::default().neighbours(2).fit(&points, 4).unwrap();
    let truth: Vec<usize> = (0..20).map(|i| i / 5).collect();
    assert_eq!(fit.partition, Partition::from_labels(&truth));
}

#[test]
fn order_place_and_direction_do_not_matter() {
    does_not_mind_order_place_and_direction(|points| solve(&Convex::default(), points, 1.0).partition);
}

#[test]
fn one_step_is_not_convergence() {
    let fit = solve(&Convex::default().max_iterations(1), &blobs(1, 60, 2, 4), 2.0);
    assert_eq!((fit.converged, fit.iterations, fit.partition.len()), (false, 1, 60));
    let fit = Convex::default().max_iterations(1).fit(&blobs(1, 60, 2, 4), 5).unwrap();
    assert!(fit.partition.len() == 60 && fit.gap.is_finite());
}

#[test]
fn one_point_equal_points_and_k_equal_to_n_are_defined() {
    let rng = &mut stream(1, 1);
    let oracle = Convex::default();
    let one = Points::new(vec![5.0], 1).unwrap();
    assert_eq!(oracle.cluster(&one, Start::K(1), rng).unwrap().labels(), [0]);
    let equal = Points::new(vec![5.0; 12], 2).unwrap();
    assert_eq!(oracle.cluster(&equal, Start::K(4), rng).unwrap().labels(), [0; 6]);
    let mixed = Points::new(vec![4.0, 1.0, 4.0, 1.0, 9.0, -0.0, 0.0], 1).unwrap();
    assert_eq!(oracle.cluster(&mixed, Start::K(7), rng).unwrap().labels(), [0, 1, 0, 1, 2, 3, 3]);
}

#[test]
fn bad_parameters_are_named() {
    let points = blobs(1, 10, 2, 1);
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let error = |fit: Result<ConvexFit>| fit.unwrap_err().to_string();
        let phi = error(Convex::default().phi(bad).fit(&points, 2));
        assert_eq!(phi, format!("convex: phi is {bad}, but must be finite and not below 0"));
        let tolerance = error(Convex::default().tolerance(bad).fit(&points, 2));
        assert_eq!(tolerance, format!("convex: the tolerance is {bad}, but must be above 0 and finite"));
    }
    refuses_bad_requests(&Convex::default());
}

#[test]
fn it_works_inside_goc() {
    works_inside_goc(&Convex::default());
}

#[test]
fn a_gamma_too_large_for_numbers_is_not_called_solved() {
    let points = blobs(1, 20, 2, 2).values().iter().map(|x| 1e10 * x).collect();
    let points = Points::new(points, 2).unwrap();
    let fit = solve(&Convex::default().phi(0.0).max_iterations(50), &points, 1e308);
    assert!(!fit.converged || (fit.gap.is_finite() && fit.objective.is_finite()), "{fit:?}");
    assert_eq!(fit.partition.len(), 20);
}

#[test]
fn far_along_the_path_the_points_need_few_steps() {
    // The coarse problem moves the clusters; what flows within them is balanced at once.
    let path = path(&Convex::default(), &blobs(5, 400, 3, 12));
    let late: Vec<&ConvexFit> = path.iter().filter(|fit| fit.partition.k() <= 100).collect();
    assert!(late.len() > 20 && late.iter().all(|fit| fit.converged && fit.iterations <= 20));
}
