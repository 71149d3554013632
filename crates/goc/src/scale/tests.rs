use super::*;
use crate::candidates::CandidatesBuilder;

fn column(values: &[f64]) -> Candidates {
    Candidates::from_points(&Points::new(values.to_vec(), 1).unwrap()).unwrap()
}

fn fit(scaling: Scaling, values: &[f64]) -> Scaler {
    Scaler::fit(scaling, &column(values)).unwrap()
}

/// Two objects, three and two candidates of two features.
fn ragged() -> Candidates {
    let mut b = CandidatesBuilder::new(2);
    b.push(&[1.5, -30.0, 2.25, 10.0, -0.75, 4.0], &[0.0, 1.0, 2.0]).unwrap();
    b.push(&[8.0, 1e3, 3.125, -7.5], &[]).unwrap();
    b.build().unwrap()
}

// NumPy 2.4.6: x.mean(), x.std(ddof=1), np.median(x), np.subtract(*np.percentile(x, [75, 25]))
// with x = [1.5, 2.25, -0.75, 8, 3.125] and [-30, 10, 4, 1000, -7.5].
#[test]
fn centre_and_spread_are_numpys_over_all_candidates_of_all_objects() {
    let s = Scaler::fit(Scaling::Standard, &ragged()).unwrap();
    let r = Scaler::fit(Scaling::Robust, &ragged()).unwrap();
    let close = |a: &[f64], b: [f64; 2]| a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 4e-16 * y.abs());
    assert!(close(s.centre(), [2.825, 195.3]), "{:?}", s.centre());
    assert!(close(s.spread(), [3.2302283201037043, 450.10048878000566]), "{:?}", s.spread());
    assert!(close(r.centre(), [2.25, 4.0]), "{:?}", r.centre());
    assert!(close(r.spread(), [1.625, 17.5]), "{:?}", r.spread());
}

// np.percentile of [3, 1, 4, 1.5, 9, 2.6] at 0, 10, 25, 50, 75, 90, 100 (NumPy's default is type 7).
#[test]
fn quantiles_are_of_type_seven() {
    let expected = [1.0, 1.25, 1.775, 2.8, 3.75, 6.5, 9.0];
    for (p, want) in [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0].into_iter().zip(expected) {
        let got = quantile(&mut [3.0, 1.0, 4.0, 1.5, 9.0, 2.6], p);
        assert!((got - want).abs() <= 1e-15 * want, "{p}: {got} {want}");
    }
}

#[test]
fn scaled_features_have_mean_zero_and_deviation_one_and_come_back() {
    let scaler = Scaler::fit(Scaling::Standard, &ragged()).unwrap();
    let scaled = scaler.apply(ragged());
    let again = Scaler::fit(Scaling::Standard, &scaled).unwrap();
    for f in 0..2 {
        assert!(again.centre()[f].abs() < 1e-16 && (again.spread()[f] - 1.0).abs() < 1e-15);
    }
    assert_eq!(scaled.penalties(0), ragged().penalties(0));
    for (i, j) in [(0, 0), (0, 2), (1, 1)] {
        let mut row = scaled.candidate(i, j);
        scaler.invert_row(&mut row);
        for (back, value) in row.iter().zip(ragged().candidate(i, j)) {
            assert!((back - value).abs() <= 1e-13 * value.abs());
        }
        scaler.apply_row(&mut row);
        for (x, y) in row.iter().zip(scaled.candidate(i, j)) {
            assert!((x - y).abs() < 1e-14);
        }
    }
}

#[test]
fn none_leaves_every_bit() {
    let scaler = Scaler::fit(Scaling::None, &ragged()).unwrap();
    assert_eq!(scaler.apply(ragged()), ragged());
}

#[test]
fn a_large_offset_does_not_eat_the_deviation() {
    // NIST's NumAcc3: 1000000.2, then 1000000.1 and 1000000.3 in turn; certified mean 1000000.2,
    // deviation 0.1.
    let values: Vec<f64> =
        (0..1001).map(|i| 1_000_000.0 + [0.2, 0.1, 0.3][if i == 0 { 0 } else { 1 + i % 2 }]).collect();
    let s = fit(Scaling::Standard, &values);
    assert!((s.centre()[0] - 1_000_000.2).abs() < 1e-9);
    assert!((s.spread()[0] - 0.1).abs() < 1e-9, "{}", s.spread()[0]);
}

#[test]
fn a_constant_feature_becomes_zeros_and_is_listed() {
    for scaling in [Scaling::Standard, Scaling::Robust] {
        let values = [0.1; 7]; // 0.1 * 7 / 7 is not 0.1 in binary
        let s = fit(scaling, &values);
        assert_eq!((s.spread(), s.constant_features()), (&[1.0][..], &[0][..]));
        let zeros = s.apply(column(&values));
        assert!((0..7).all(|i| zeros.candidate(i, 0) == [0.0]));
    }
    assert_eq!(fit(Scaling::Standard, &[4.0]).constant_features(), [0]);
}

#[test]
fn a_robust_feature_with_most_values_equal_falls_back_to_the_deviation() {
    let values = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 9.0];
    let s = fit(Scaling::Robust, &values);
    assert_eq!((s.centre(), s.fallback_features()), (&[0.1][..], &[0][..]));
    assert_eq!(s.spread(), fit(Scaling::Standard, &values).spread());
    assert!(s.constant_features().is_empty());
}

#[test]
fn one_outlier_moves_the_deviation_but_not_the_quartiles() {
    let mut values: Vec<f64> = (0..101).map(f64::from).collect();
    let before = (fit(Scaling::Standard, &values), fit(Scaling::Robust, &values));
    values[100] = 1e6;
    let after = (fit(Scaling::Standard, &values), fit(Scaling::Robust, &values));
    assert!(after.0.spread()[0] > 1000.0 * before.0.spread()[0]);
    assert_eq!(after.1, before.1);
    assert_eq!((after.1.centre()[0], after.1.spread()[0]), (50.0, 50.0));
}

#[test]
fn tiny_and_huge_units_scale_alike() {
    let base = fit(Scaling::Standard, &[1.0, 2.0, 4.0]).spread()[0];
    for unit in [1e-200, 1e-300, 1e200, 1e307] {
        let s = fit(Scaling::Standard, &[unit, 2.0 * unit, 4.0 * unit]);
        assert!((s.spread()[0] / unit - base).abs() < 1e-14, "{unit}: {}", s.spread()[0]);
    }
    assert_eq!(fit(Scaling::Standard, &[8e307; 9]).constant_features(), [0]);
}

#[test]
fn a_feature_too_wide_for_numbers_is_named() {
    let error = Scaler::fit(Scaling::Standard, &column(&[-1.5e308, 1.5e308])).unwrap_err();
    assert!(matches!(error, ScaleError::TooWide { feature: 0, .. }));
    let values = [0.0, 1e-200, 2e-200, 3e-200, 4e-200, 1e200];
    let error = Scaler::fit(Scaling::Robust, &column(&values)).unwrap_err();
    assert!(error.to_string().starts_with("feature 0 reaches from 0.0 to 1e200:"), "{error}");
}

#[test]
fn names_parse_and_print() {
    for scaling in [Scaling::Standard, Scaling::Robust, Scaling::None] {
        assert_eq!(scaling.to_string().parse(), Ok(scaling));
    }
    assert_eq!(
        "z-score".parse::<Scaling>().unwrap_err().to_string(),
        "scaling `z-score` is unknown; use standard, robust or none"
    );
}

#[test]
fn threads_do_not_change_the_bytes() {
    let rows: Vec<f64> = (0..3000).map(|i| (f64::from(i) * 0.7).sin() * f64::from(i % 17).exp()).collect();
    let c = Candidates::from_points(&Points::new(rows, 3).unwrap()).unwrap();
    for scaling in [Scaling::Standard, Scaling::Robust] {
        let at = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Scaler::fit(scaling, &c).unwrap())
        };
        assert!(at(1) == at(2) && at(1) == at(4));
    }
}

#[test]
fn kept_parts_scale_as_the_scaler_they_came_from_and_bad_ones_are_refused() {
    let found = Scaler::fit(Scaling::Robust, &ragged()).unwrap();
    let kept = Scaler::from_parts(Scaling::Robust, found.centre().to_vec(), found.spread().to_vec()).unwrap();
    assert_eq!(kept.apply(ragged()), found.apply(ragged()));
    let refused = |centre: &[f64], spread: &[f64]| {
        Scaler::from_parts(Scaling::Robust, centre.to_vec(), spread.to_vec()).unwrap_err().to_string()
    };
    assert_eq!(refused(&[1.0], &[1.0, 2.0]), "1 centres, but 2 spreads");
    let must = "must be finite, the spread above 0";
    assert_eq!(refused(&[1.0, 2.0], &[1.0, 0.0]), format!("feature 1: the centre 2 and the spread 0 {must}"));
    assert_eq!(refused(&[f64::NAN], &[1.0]), format!("feature 0: the centre NaN and the spread 1 {must}"));
}
