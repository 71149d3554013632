//! The whole chain: sets, points, f, candidates, penalties, and what is lost on the way.

use super::coverage::covariance;
use goc::random::{key_of_text, stream};
use goc::uncertainty::transform::{Identity, Kernel, KernelPca, Rejection, Transform, from_fn};
use goc::uncertainty::{
    Object, Penalty, PropagateError, Propagation, Sampler, Size, UncertaintySet, WhenAllRejected,
};
use goc::{Candidates, Ids, Points};

const SAMPLERS: [Sampler; 4] =
    [Sampler::Uniform, Sampler::Sobol, Sampler::Grid { coordinate: 1 }, Sampler::Density];

/// Objects of three coordinates with a covariance each.
fn objects(n: u64) -> Vec<Object> {
    (0..n)
        .map(|i| {
            let centre = [i as f64, 10.0 - i as f64, 0.5];
            let set = UncertaintySet::ellipsoid(&centre, covariance(3), Size::eta(0.1).unwrap()).unwrap();
            Object::new(1000 + i, set)
        })
        .collect()
}

/// Parallax and its error, the other coordinate exact.
fn star(key: u64, parallax: f64, error: f64) -> Object {
    let set = UncertaintySet::cuboid(&[parallax, 1.0], &[error, 0.0], Size::sigmas(2.0).unwrap()).unwrap();
    Object::new(key, set)
}

fn distance() -> impl Transform {
    from_fn(1, |z, x| {
        if z[0] <= 0.0 {
            return Err(Rejection::new("parallax not positive"));
        }
        x[0] = z[1] / z[0];
        Ok(())
    })
}

fn bits(candidates: &Candidates) -> Vec<u64> {
    (0..candidates.objects())
        .flat_map(|i| candidates.block(i).iter().chain(candidates.penalties(i)).map(|v| v.to_bits()))
        .collect()
}

#[test]
fn other_objects_and_their_order_do_not_change_an_objects_candidates() {
    let all = objects(30);
    let fewer: Vec<Object> = all.iter().rev().step_by(3).cloned().collect();
    for sampler in SAMPLERS {
        let of = |objects: &[Object]| {
            let made = Propagation::new(Identity::new(3))
                .sampler(sampler)
                .draws(17)
                .penalty(Penalty::Surprise)
                .seed(5);
            made.propagate(objects).unwrap().0
        };
        let (whole, part) = (of(&all), of(&fewer));
        for (i, object) in fewer.iter().enumerate() {
            let j = (object.key() - 1000) as usize;
            assert_eq!(part.block(i), whole.block(j), "{sampler:?}");
            assert_eq!(part.penalties(i), whole.penalties(j));
        }
        let other_seed = Propagation::new(Identity::new(3)).sampler(sampler).draws(17).seed(6);
        assert_ne!(other_seed.propagate(&all).unwrap().0.block(0), whole.block(0));
    }
}

#[test]
fn threads_do_not_change_the_bytes() {
    let objects = objects(5000); // more than one chunk of work
    let centres =
        Points::from_rows(&objects[..40].iter().map(|o| o.set().centre()).collect::<Vec<_>>()).unwrap();
    let f = KernelPca::fit(&centres, Kernel::Rbf { gamma: None }, 2).unwrap();
    for sampler in SAMPLERS {
        let at = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let made = Propagation::new(&f).sampler(sampler).draws(4).penalty(Penalty::FromCentre);
            pool.install(|| bits(&made.propagate(&objects).unwrap().0))
        };
        let one = at(1);
        assert_eq!(one.len(), 5000 * 4 * 3);
        assert!(one == at(2) && one == at(4), "{sampler:?}");
    }
}

#[test]
fn candidates_are_f_of_the_samplers_points() {
    let all = objects(4);
    let f = from_fn(2, |z, x| {
        x[0] = z[0] * z[1];
        x[1] = z[2].exp();
        Ok(())
    });
    let made = Propagation::new(&f).sampler(Sampler::Sobol).draws(7).seed(9);
    let (candidates, report) = made.propagate(&all).unwrap();
    assert_eq!((report.drawn(), report.kept(), report.objects()), (28, 28, &[0, 1, 2, 3][..]));
    for i in 0..4 {
        let points = Sampler::Sobol.points(all[i].set(), 7, &mut stream(9, all[i].key())).unwrap();
        for (j, z) in points.rows().enumerate() {
            assert_eq!(candidates.candidate(i, j), [z[0] * z[1], z[2].exp()]);
        }
    }
    assert!(!candidates.has_penalties());
}

#[test]
fn the_authors_grid_and_penalty_come_out() {
    // Their candidates: parallax obs + s sigma, s = linspace(-2, 2, 101), motions redrawn in +-2
    // sigma, l and b exact; penalty ((j - 50) / 50)^2 after scaling.
    let (value, error) = ([1.2, 0.4, 0.37, -2.0, 3.0, 150.0], [0.0, 0.0, 0.031, 0.02, 0.03, 1.5]);
    let set = UncertaintySet::cuboid(&value, &error, Size::sigmas(2.0).unwrap()).unwrap();
    let (candidates, _) = Propagation::new(Identity::new(6))
        .sampler(Sampler::Grid { coordinate: 2 })
        .draws(101)
        .penalty(Penalty::SurpriseOf(vec![2]))
        .scale_penalties(true)
        .propagate(&[Object::new(key_of_text("star"), set)])
        .unwrap();
    for j in 0..101 {
        let z = candidates.candidate(0, j);
        let s = -2.0 + 0.04 * j as f64;
        assert!((z[2] - (0.37 + s * 0.031)).abs() < 1e-16, "{j}");
        let want = ((j as f64 - 50.0) / 50.0).powi(2);
        assert!((candidates.penalty(0, j) - want).abs() < 1e-14, "{j}: {}", candidates.penalty(0, j));
        assert_eq!(z[..2], value[..2]);
        for c in 3..6 {
            assert!((z[c] - value[c]).abs() <= 2.0 * error[c]);
        }
    }
    assert_eq!(candidates.candidate(0, 50)[2], 0.37);
    assert_eq!(candidates.penalty(0, 50), 0.0);
    // The motions are drawn anew for every candidate.
    let motions: Vec<f64> = (0..101).map(|j| candidates.candidate(0, j)[3]).collect();
    assert_eq!(Points::new(motions, 1).unwrap().distinct(), 101);
}

#[test]
fn penalties_are_what_they_say() {
    let all = objects(3);
    let f = from_fn(1, |z, x| {
        x[0] = z[0] + 2.0 * z[1];
        Ok(())
    });
    let of = |penalty| Propagation::new(&f).draws(5).penalty(penalty).propagate(&all).unwrap().0;
    let from_centre = of(Penalty::FromCentre);
    let surprise = of(Penalty::Surprise);
    for i in 0..3 {
        let points = Sampler::Uniform.points(all[i].set(), 5, &mut stream(0, all[i].key())).unwrap();
        for j in 0..5 {
            let x = from_centre.candidate(i, j)[0];
            let centre = all[i].set().centre()[0] + 2.0 * all[i].set().centre()[1];
            assert_eq!(from_centre.penalty(i, j), (x - centre).powi(2));
            assert_eq!(surprise.penalty(i, j), all[i].set().surprise(points.row(j)));
            assert!(surprise.penalty(i, j) <= 0.5 * all[i].set().rho().powi(2) * (1.0 + 1e-12));
        }
    }
}

#[test]
fn rejections_are_counted_by_object_and_reason() {
    // Grid of 5 over +-2 sigma: 0.1 +- 0.1 gives -0.1, 0, 0.1, 0.2, 0.3.
    let stars = [star(1, 1.0, 0.1), star(2, 0.1, 0.1), star(3, 5.0, 0.0)];
    let made = Propagation::new(distance()).sampler(Sampler::Grid { coordinate: 0 }).draws(5);
    let (candidates, report) = made.propagate(&stars).unwrap();
    assert_eq!((0..3).map(|i| candidates.count(i)).collect::<Vec<_>>(), [5, 3, 5]);
    assert_eq!((report.drawn(), report.kept(), report.reasons().total()), (15, 13, 2));
    assert_eq!(report.reasons().iter().collect::<Vec<_>>(), [("parallax not positive", 2)]);
    assert_eq!(report.losses().len(), 1);
    assert_eq!((report.losses()[0].object, report.losses()[0].drawn), (1, 5));
    assert_eq!(report.losses()[0].reasons.to_string(), "2 parallax not positive");
    assert!(report.left_out().is_empty());
}

#[test]
fn a_transformation_chosen_at_run_time_works_like_any_other() {
    let choices: [Box<dyn Transform>; 2] = [Box::new(Identity::new(2)), Box::new(distance())];
    let features = choices.map(|f| Propagation::new(f).propagate(&[star(1, 1.0, 0.1)]).unwrap().0.features());
    assert_eq!(features, [2, 1]);
}

#[test]
fn an_answer_that_is_no_number_or_missing_is_a_rejection() {
    let f = from_fn(2, |z, x| {
        x[0] = 1.0 / z[0];
        if z[0] < 0.2 {
            x[1] = 1.0; // else forgotten
        }
        Ok(())
    });
    // 0.1 +- 0.1 in five: -0.1, 0 (infinite), 0.1, then two that forget a feature.
    let stars = [star(1, 0.1, 0.1)];
    let made = Propagation::new(f).sampler(Sampler::Grid { coordinate: 0 }).draws(5);
    let (candidates, report) = made.propagate(&stars).unwrap();
    assert_eq!((candidates.count(0), report.reasons().of("not finite")), (2, 3));
}

#[test]
fn an_object_that_loses_everything_is_refused_by_name_or_left_out() {
    let stars = [star(1, 1.0, 0.1), star(2, -3.0, 0.1), star(3, 2.0, 0.1)];
    let text = || Ids::Text(["a", "b", "c"].map(String::from).to_vec());
    let error = Propagation::new(distance()).ids(text()).draws(7).propagate(&stars).unwrap_err();
    assert_eq!(
        error.to_string(),
        "object b: all 7 points were rejected (7 parallax not positive); leave it out, or check its values"
    );

    let leave = || Propagation::new(distance()).draws(7).when_all_rejected(WhenAllRejected::LeaveOut);
    let (candidates, report) = leave().ids(text()).propagate(&stars).unwrap();
    assert_eq!((candidates.name(0), candidates.name(1)), ("a".into(), "c".into()));
    assert_eq!((report.objects(), report.left_out()[0].object), (&[0, 2][..], 1));
    assert_eq!(report.left_out()[0].reasons.of("parallax not positive"), 7);
    // Without ids the names are the positions among the objects given.
    let (candidates, _) = leave().propagate(&stars).unwrap();
    assert_eq!(candidates.name(1), "2");
    assert_eq!(
        leave().propagate(&stars[1..2]).unwrap_err().to_string(),
        "all points of all 1 objects were rejected (7 parallax not positive)"
    );
}

#[test]
fn a_measured_value_that_f_rejects_cannot_be_measured_from() {
    // The measured parallax is negative, some of the set is not.
    let stars = [star(1, 1.0, 0.1), star(2, -0.1, 0.2)];
    let made = || Propagation::new(distance()).draws(50);
    assert_eq!(made().propagate(&stars).unwrap().0.objects(), 2);
    let leave = made().penalty(Penalty::FromCentre).when_all_rejected(WhenAllRejected::LeaveOut);
    let (candidates, report) = leave.propagate(&stars).unwrap();
    assert_eq!(candidates.objects(), 1);
    assert_eq!(report.left_out()[0].reasons.of("measured value: parallax not positive"), 50);
}

#[test]
fn what_does_not_fit_together_is_named() {
    let all = objects(3);
    let id = || Propagation::new(Identity::new(3));
    let message = |made: Propagation<'_, Identity>| made.propagate(&objects(3)).unwrap_err().to_string();
    assert_eq!(id().propagate(&[]).unwrap_err(), PropagateError::NoObjects);
    assert_eq!(message(id().draws(0)), "object 0: at least one point must be drawn");
    assert!(message(id().draws(usize::MAX)).ends_with("more than any memory holds; draw fewer"));
    assert_eq!(message(id().ids(Ids::Integer(vec![1]))), "1 ids for 3 objects");
    assert_eq!(message(id().ids(Ids::Integer(vec![1, 2, 1]))), "object 1 occurs twice");
    assert_eq!(
        message(Propagation::new(Identity::new(2))),
        "the transformation takes 2 coordinates, the objects have 3"
    );
    assert_eq!(
        message(id().sampler(Sampler::Grid { coordinate: 3 })),
        "sampler: there is no coordinate 3: the set has 3, counted from 0"
    );
    assert_eq!(
        message(id().penalty(Penalty::SurpriseOf(vec![0, 4]))),
        "penalty: there is no coordinate 4: the set has 3, counted from 0"
    );
    assert_eq!(
        message(id().penalty(Penalty::SurpriseOf(vec![2, 0, 2]))),
        "penalty: coordinate 2 is given twice"
    );
    let mixed = [all[0].clone(), star(1, 1.0, 0.1)];
    assert_eq!(id().propagate(&mixed).unwrap_err().to_string(), "object 1 has 2 coordinates, object 0 has 3");
    let nothing = from_fn(0, |_, _| Ok(()));
    assert_eq!(Propagation::new(nothing).propagate(&all).unwrap_err(), PropagateError::NoOutputs);
}

/// Measured 2 +- 1, with the prior 0 +- 1: the truth is 1 with a variance of 1/2.
#[test]
fn candidates_follow_the_errors_times_the_prior() {
    let set = UncertaintySet::cuboid(&[2.0], &[1.0], Size::sigmas(5.0).unwrap()).unwrap();
    let object = Object::new(3, set);
    for sampler in [Sampler::Density, Sampler::Uniform, Sampler::Sobol, Sampler::Grid { coordinate: 0 }] {
        let by_density = sampler == Sampler::Density;
        let (made, _) = Propagation::new(Identity::new(1))
            .sampler(sampler)
            .prior(|z| Ok(-0.5 * z[0] * z[0]))
            .penalty(if by_density { Penalty::None } else { Penalty::Surprise })
            .draws(20_000)
            .propagate(std::slice::from_ref(&object))
            .unwrap();
        let weight = |j: usize| if by_density { 1.0 } else { (-made.penalty(0, j)).exp() };
        let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
            (0..20_000).map(|j| weight(j) * f(made.candidate(0, j)[0])).sum()
        };
        let mean = sum(&|x| x) / sum(&|_| 1.0);
        let variance = sum(&|x| (x - mean) * (x - mean)) / sum(&|_| 1.0);
        assert!((mean - 1.0).abs() < 0.02, "{sampler:?}: mean {mean}");
        assert!((variance - 0.5).abs() < 0.02, "{sampler:?}: variance {variance}");
    }
}

#[test]
fn a_prior_leaves_no_point_where_it_has_none_and_says_why_an_object_is_gone() {
    let stars = [star(1, 0.5, 0.1), star(2, 0.1, 0.01), star(3, 0.25, 0.1)];
    let within = |kpc: f64| {
        move |z: &[f64]| if z[0] >= 1.0 / kpc { Ok(-4.0 * z[0].ln()) } else { Err(Rejection::new("too far")) }
    };
    let of = |objects: &[Object], kpc: f64| {
        let made = Propagation::new(distance()).prior(within(kpc)).draws(50);
        made.when_all_rejected(WhenAllRejected::LeaveOut).seed(4).propagate(objects).unwrap()
    };
    let (made, report) = of(&stars, 5.0);
    assert_eq!((made.objects(), made.total()), (2, 100));
    assert!((0..2).all(|i| made.feature(i, 0).iter().all(|d| *d <= 5.0)));
    assert_eq!(report.left_out()[0].object, 1);
    assert_eq!(report.reasons().of("too far"), 50);
    // Alone, or beside others: the same candidates.
    assert_eq!(of(&stars[2..], 5.0).0.block(0), made.block(1));
    let refused = Propagation::new(distance()).prior(within(5.0)).propagate(&stars).unwrap_err();
    assert!(
        refused.to_string().starts_with("object 1: all 100 points were rejected (100 too far)"),
        "{refused}"
    );
    let bad = Propagation::new(distance()).prior(|_| Ok(f64::INFINITY)).propagate(&stars).unwrap_err();
    assert_eq!(bad, PropagateError::Prior { object: 0, value: f64::INFINITY });
}
