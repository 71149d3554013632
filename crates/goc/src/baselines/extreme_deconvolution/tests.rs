//! Extreme deconvolution against astroML, scikit-learn and closed forms.

use super::*;
use crate::baselines::testing::{blobs, one_object, same_on_any_threads};
use crate::candidates::CandidatesBuilder;

/// Even steps of an irrational number, between -0.5 and 0.5; Python's
/// `math.fmod(s * 0.618033988749895, 1) - 0.5`.
fn even(s: usize) -> f64 {
    (s as f64 * 0.618_033_988_749_895) % 1.0 - 0.5
}

/// Twelve objects of two groups that overlap, each with its own covariance, or with none.
fn twelve(errors: f64) -> Measured {
    let group = |i: usize| (i % 2) as f64;
    let place = |i: usize| [2.2 * group(i) + 2.0 * even(1 + i * 7), 1.1 * group(i) + 2.0 * even(50 + i * 11)];
    let rows: Vec<[f64; 2]> = (0..12).map(place).collect();
    let own = |i: usize| {
        let across = 0.1 * even(200 + i);
        [0.1 + 0.5 * even(100 + i).abs(), across, across, 0.2 + 0.3 * even(300 + i).abs()]
    };
    let covariances = (0..12).flat_map(own).map(|v| errors * v).collect();
    Measured::of(Points::from_rows(&rows).unwrap(), covariances).unwrap()
}

fn two() -> Components {
    Components {
        shares: vec![0.4, 0.6],
        means: Points::new(vec![0.0, 0.0, 2.0, 1.0], 2).unwrap(),
        covariances: [1.0, 0.0, 0.0, 1.0].repeat(2),
    }
}

/// This many rounds and no prior.
fn plain(rounds: usize) -> ExtremeDeconvolution {
    ExtremeDeconvolution::new(Some(2)).floor(0.0).max_iterations(rounds).tolerance(-1.0)
}

fn near(found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() < tolerance, "{found:?} is not {wanted:?}");
    }
}

#[test]
fn twenty_rounds_are_those_of_astroml() {
    // astroML 1.0.2, XDGMM(2): alpha, mu and V set as in `two`, twenty times _EMstep, logL.
    let found = plain(20).fit_from(&twelve(1.0), two()).unwrap();
    assert!((found.history[0] + 34.350_932_707_600_76).abs() < 1e-9);
    assert!((found.log_likelihood + 27.683_442_673_190_495).abs() < 1e-9);
    near(&found.components.shares, &[0.486_625_197_049_598_5, 0.513_374_802_950_401_5], 1e-10);
    let means = [
        0.137_984_397_670_884_72,
        0.155_218_687_967_000_67,
        2.311_858_920_221_640_6,
        1.175_297_496_547_773_8,
    ];
    near(found.components.means.values(), &means, 1e-10);
    let covariances = [
        0.045_614_328_554_866_45,
        0.019_872_124_923_841_73,
        0.019_872_124_923_841_73,
        0.081_135_355_515_164_67,
        0.195_423_960_888_956_7,
        -0.046_402_029_721_605_53,
        -0.046_402_029_721_605_53,
        0.080_028_213_432_499_48,
    ];
    near(&found.components.covariances, &covariances, 1e-10);
}

#[test]
fn without_errors_it_is_the_mixture_of_scikit_learn() {
    // scikit-learn 1.9.1, GaussianMixture(2, reg_covar=0, tol=0, max_iter=7) from `two`, score.
    let found = plain(7).fit_from(&twelve(0.0), two()).unwrap();
    near(&found.components.shares, &[0.496_251_256_688_362_56, 0.503_748_743_311_637_4], 1e-10);
    let means = [
        0.162_501_593_524_779_72,
        0.116_631_782_502_078_74,
        2.337_230_296_267_235_6,
        1.146_668_558_005_686_1,
    ];
    near(found.components.means.values(), &means, 1e-10);
    let covariances = [
        0.289_331_580_740_458_7,
        0.043_651_607_326_247_57,
        0.043_651_607_326_247_57,
        0.357_495_386_030_450_7,
        0.344_452_005_721_864_2,
        -0.074_142_260_525_440_17,
        -0.074_142_260_525_440_17,
        0.289_945_936_030_996_6,
    ];
    near(&found.components.covariances, &covariances, 1e-10);
}

#[test]
fn one_component_and_equal_errors_have_a_closed_form() {
    // V is the covariance of the measured places less that of the errors.
    let x: Vec<f64> = (0..40).map(|i| 3.0 * even(7 * i)).collect();
    let mean = x.iter().sum::<f64>() / 40.0;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 40.0;
    let measured = Measured::of(Points::new(x, 1).unwrap(), vec![0.2; 40]).unwrap();
    let begin =
        Components { shares: vec![1.0], means: Points::new(vec![5.0], 1).unwrap(), covariances: vec![1.0] };
    let found = plain(400).fit_from(&measured, begin).unwrap();
    near(found.components.means.values(), &[mean], 1e-9);
    near(&found.components.covariances, &[variance - 0.2], 1e-9);
}

#[test]
fn the_objective_never_falls() {
    let candidates = blobs(60, 5, 2, 1.5, 3);
    let measured = Measured::new(&candidates, 0.0).unwrap();
    for (k, floor) in [(1, 1e-3), (4, 1e-3), (12, 1e-2), (4, 0.0)] {
        let found = ExtremeDeconvolution::new(None).floor(floor).tolerance(0.0).fit(&measured, k, 1).unwrap();
        assert!(found.history.len() > 2);
        for pair in found.history.windows(2) {
            assert!(pair[1] >= pair[0] - 1e-9 * pair[0].abs(), "{k} {floor}: {pair:?}");
        }
    }
}

#[test]
fn errors_are_the_weighted_covariance_of_the_candidates() {
    let mut builder = CandidatesBuilder::new(2);
    builder.push(&[0.0, 1.0, 2.0, 5.0], &[0.0, 0.5]).unwrap();
    let measured = Measured::new(&builder.build().unwrap(), 2.0).unwrap();
    let second = libm::exp(-1.0) / (1.0 + libm::exp(-1.0));
    near(measured.means.values(), &[2.0 * second, 1.0 + 4.0 * second], 1e-14);
    let v = second * (1.0 - second);
    near(&measured.covariances, &[4.0 * v, 8.0 * v, 8.0 * v, 16.0 * v], 1e-14);
}

/// Three groups of twelve with candidates around each member.
fn three(order: impl Fn(usize) -> usize, shift: f64, copies: usize) -> Candidates {
    let mut builder = CandidatesBuilder::new(2);
    for at in 0..36 * copies {
        let i = order(at % 36);
        let centre = [9.0 * (i % 3) as f64, 7.0 * ((i % 3) / 2) as f64];
        let rows: Vec<f64> = (0..10)
            .map(|v| centre[v % 2] + 1.5 * even(1 + 7 * i + v % 2) + 0.8 * even(500 + 31 * i + 3 * v) + shift)
            .collect();
        builder.push(&rows, &[]).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn bic_finds_three_groups_whatever_their_order_place_and_number_of_copies() {
    let method = ExtremeDeconvolution::new(None);
    let wanted: Vec<u32> = (0..36).map(|i| i % 3).collect();
    let found = method.group(&three(|i| i, 0.0, 1), 1).unwrap();
    assert_eq!((found.partition.canonical().labels(), found.first_k), (&wanted[..], Some(3)));
    let moved = method.group(&three(|i| i, 100.0, 1), 1).unwrap();
    assert!(moved.partition.same_grouping(&found.partition));
    for (a, b) in moved.places.unwrap().values().iter().zip(found.places.unwrap().values()) {
        assert!((a - 100.0 - b).abs() < 1e-9);
    }
    let other = |i: usize| (i * 7 + 5) % 36;
    let shuffled = method.group(&three(other, 0.0, 1), 1).unwrap();
    let expected: Vec<u32> = (0..36).map(|i| wanted[other(i)]).collect();
    assert!(shuffled.partition.same_grouping(&Partition::from_labels(&expected)));
    let twice = method.group(&three(|i| i, 0.0, 2), 1).unwrap();
    assert!(twice.partition.same_grouping(&Partition::from_labels(&wanted.repeat(2))));
}

#[test]
fn an_object_is_drawn_towards_its_group_the_more_the_worse_it_was_measured() {
    let mut builder = CandidatesBuilder::new(1);
    for i in 0..20 {
        builder.push(&[even(i) - 0.05, even(i) + 0.05], &[]).unwrap();
    }
    builder.push(&[1.9, 2.1], &[]).unwrap();
    builder.push(&[0.5, 3.5], &[]).unwrap();
    let found = ExtremeDeconvolution::new(Some(1)).group(&builder.build().unwrap(), 1).unwrap();
    let places = found.places.unwrap();
    assert!(places.row(20)[0] > 1.5 && places.row(21)[0] < 1.0, "{places:?}");
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    let candidates = blobs(90, 6, 2, 1.5, 3);
    same_on_any_threads(|| ExtremeDeconvolution::new(Some(6)).group(&candidates, 7).unwrap());
}

#[test]
fn degenerate_inputs_have_a_defined_answer_or_a_named_error() {
    let one = ExtremeDeconvolution::new(None).group(&one_object(), 1).unwrap();
    assert_eq!((one.partition.labels(), &one.confidence[..]), (&[0][..], &[1.0][..]));
    let points = Points::new(vec![3.0; 8], 2).unwrap();
    let equal = ExtremeDeconvolution::new(None).group(&Candidates::from_points(&points).unwrap(), 1).unwrap();
    assert_eq!(equal.partition.k(), 1);
    let candidates = blobs(9, 4, 2, 0.5, 2);
    let error = |k| ExtremeDeconvolution::new(Some(k)).group(&candidates, 1).unwrap_err();
    assert_eq!(error(0), MethodError::NoClusters);
    assert_eq!(error(10), MethodError::MoreClustersThanObjects { k: 10, n: 9 });
    let wrong = Measured::new(&candidates, -1.0).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "extreme-deconvolution: strength is -1, but must be a finite number not below 0"
    );
    let mut builder = CandidatesBuilder::new(1);
    builder.push(&[1e200, -1e200], &[]).unwrap();
    let huge = ExtremeDeconvolution::new(None).group(&builder.build().unwrap(), 1).unwrap_err();
    assert!(huge.to_string().ends_with("scale the features"), "{huge}");
}
