use super::*;

fn two_objects() -> Candidates {
    let mut b = CandidatesBuilder::new(2);
    b.push(&[1.0, 10.0, 3.0, 30.0], &[]).unwrap();
    b.push(&[5.0, 50.0], &[4.0]).unwrap();
    b.build().unwrap()
}

#[test]
fn values_lie_feature_after_feature_within_an_object() {
    let c = two_objects();
    assert_eq!(c.block(0), [1.0, 3.0, 10.0, 30.0]);
    assert_eq!(c.feature(0, 1), [10.0, 30.0]);
    assert_eq!(c.candidate(1, 0), [5.0, 50.0]);
    assert_eq!(c.means().values(), [2.0, 20.0, 5.0, 50.0]);
    assert_eq!(c.chosen(&[1, 0]).values(), [3.0, 30.0, 5.0, 50.0]);
}

#[test]
fn penalties_missing_for_one_object_are_zero() {
    let c = two_objects();
    assert_eq!((c.penalty(0, 1), c.penalty(1, 0)), (0.0, 4.0));
    assert_eq!(c.scale_penalties().penalty(1, 0), 1.0);
}

#[test]
fn weights_come_back_from_their_penalties_and_bad_ones_are_refused_by_name() {
    let mut b = CandidatesBuilder::new(1);
    let (weights, penalty_strength) = ([3.0, 1e-300, 0.0, 0.5], 1.7);
    assert_eq!(b.push_weighted(&[1.0, 2.0, 3.0, 4.0], &weights, penalty_strength).unwrap(), 1);
    let cases: [(&[f64], f64, &str); 5] = [
        (&[1.0, -2.0], 1.0, "object 1, candidate 1: weight -2 must be a finite number not below 0"),
        (&[f64::NAN, 1.0], 1.0, "object 1, candidate 0: weight NaN must be a finite number not below 0"),
        (&[0.0, 0.0], 1.0, "object 1: all weights are 0; at least one must be above"),
        (&[1.0, 1.0], 0.0, "strength is 0, but weights need a finite number above 0"),
        (&[1.0], 1.0, "object 1: 1 penalties for 2 candidates"),
    ];
    for (weights, penalty_strength, message) in cases {
        assert_eq!(b.push_weighted(&[5.0, 6.0], weights, penalty_strength).unwrap_err().to_string(), message);
    }
    let c = b.build().unwrap();
    assert_eq!((c.objects(), c.feature(0, 0)), (1, &[1.0, 2.0, 4.0][..]));
    for (p, w) in c.penalties(0).iter().zip([3.0, 1e-300, 0.5]) {
        assert!((3.0 * (-penalty_strength * p).exp() / w - 1.0).abs() < 1e-12, "{p} {w}");
    }
}

#[test]
fn bad_sets_are_refused_by_name() {
    let mut b = CandidatesBuilder::new(2);
    let cases: [(&[f64], &[f64], &str); 6] = [
        (&[], &[], "object 0 has no candidates"),
        (&[1.0], &[], "object 0: 1 values do not make whole candidates of 2 features"),
        (&[1.0, f64::INFINITY], &[], "object 0, candidate 0, feature 1: inf is not a finite number"),
        (&[1.0, 1.0], &[-0.5], "object 0, candidate 0: penalty -0.5 must be a finite number not below 0"),
        (&[1.0, 1.0], &[f64::NAN], "object 0, candidate 0: penalty NaN must be a finite number not below 0"),
        (&[1.0, 1.0], &[0.0, 0.0], "object 0: 2 penalties for 1 candidates"),
    ];
    for (rows, penalties, message) in cases {
        assert_eq!(b.push(rows, penalties).unwrap_err().to_string(), message);
    }
    assert_eq!(b.build().unwrap_err(), CandidatesError::NoObjects);
    assert_eq!(CandidatesBuilder::new(0).push(&[], &[]).unwrap_err(), CandidatesError::NoFeatures);
}

#[test]
fn the_same_id_twice_is_refused() {
    let mut b = CandidatesBuilder::new(1);
    b.push(&[1.0], &[]).unwrap();
    b.push(&[2.0], &[]).unwrap();
    let error = b.build_with(Ids::Integer(vec![7, 7])).unwrap_err();
    assert_eq!(error.to_string(), "object 7 occurs twice");
}
