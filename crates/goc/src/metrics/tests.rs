use super::*;
use crate::Points;
use crate::random::stream;
use proptest::prelude::*;
use rand::RngExt;

fn array(s: Scores) -> [f64; 8] {
    [s.nmi, s.f, s.ari, s.ami, s.homogeneity, s.completeness, s.v_measure, s.purity]
}

fn assert_close(got: [f64; 8], want: [f64; 8], case: &str) {
    for (at, (g, w)) in got.iter().zip(want).enumerate() {
        assert!((g - w).abs() < 1e-12, "{case}: score {at}: {g} instead of {w}");
    }
}

/// Knuth's 64-bit congruential numbers, the same here and in the script that made the reference values.
fn congruential(seed: u64, n: usize, below: u64) -> Vec<u32> {
    let mut next = crate::congruential::states(seed);
    (0..n).map(|_| ((next() >> 33) % below) as u32).collect()
}

#[test]
fn small_groupings_score_as_in_scikit_learn() {
    // scikit-learn 1.9.1: normalized_mutual_info_score, (F by its formula from contingency_matrix),
    // adjusted_rand_score, adjusted_mutual_info_score, homogeneity_completeness_v_measure, (purity
    // by formula).
    type Case = (&'static [u32], &'static [u32], [f64; 8]);
    let cases: [Case; 7] = [
        (
            &[0, 0, 0, 1, 1, 1],
            &[0, 0, 1, 1, 2, 2],
            [
                0.5158037429793889,
                0.6666666666666667,
                0.24242424242424243,
                0.2987924581708903,
                0.420619835714305,
                0.6666666666666669,
                0.5158037429793889,
                0.6666666666666666,
            ],
        ),
        (
            &[0, 0, 1, 1],
            &[0, 0, 1, 2],
            [
                0.8,
                0.8333333333333333,
                0.5714285714285714,
                0.5714285714285714,
                0.6666666666666666,
                1.0,
                0.8,
                0.75,
            ],
        ),
        (
            &[0, 1, 2, 3],
            &[0, 0, 1, 1],
            [0.6666666666666666, 0.6666666666666666, 0.0, 0.0, 1.0, 0.5, 0.6666666666666666, 1.0],
        ),
        (&[0, 0, 0, 0], &[0, 1, 2, 3], [0.0, 0.4, 0.0, 0.0, 0.0, 1.0, 0.0, 0.25]),
        (&[0, 0, 1, 1], &[0, 1, 0, 1], [0.0, 0.5, -0.5, -0.5, 0.0, 0.0, 0.0, 0.5]),
        (
            &[0, 0, 1, 2, 2, 2, 3],
            &[1, 1, 0, 0, 2, 2, 2],
            [
                0.6843729751257531,
                0.7619047619047619,
                0.2953020134228188,
                0.36203215438680664,
                0.7471790950662619,
                0.631306807542149,
                0.6843729751257531,
                0.8571428571428571,
            ],
        ),
        (&[0, 0, 0], &[0, 0, 0], [1.0; 8]),
    ];
    for (predicted, truth, want) in cases {
        assert_close(array(Scores::of(predicted, truth).unwrap()), want, &format!("{predicted:?} {truth:?}"));
    }
}

#[test]
fn larger_groupings_score_as_in_scikit_learn() {
    // scikit-learn 1.9.1, as above. Objects, predicted clusters, true clusters, quarters copied
    // from the truth.
    let cases: [(usize, u64, u64, u32, [f64; 8]); 6] = [
        (
            50,
            3,
            4,
            0,
            [
                0.023119796672521425,
                0.3384968120294207,
                -0.032993347258922626,
                -0.03273812030315829,
                0.020911019666639566,
                0.02585029676265663,
                0.02311979667252143,
                0.36,
            ],
        ),
        (
            200,
            10,
            7,
            0,
            [
                0.06610596844131411,
                0.23415464196820127,
                0.0002580607351299815,
                -0.006712094098738557,
                0.07262796468270125,
                0.060658803683759636,
                0.06610596844131411,
                0.265,
            ],
        ),
        (
            275,
            50,
            50,
            3,
            [
                0.8027005487121323,
                0.7136729928607216,
                0.4760407560334858,
                0.5711792510112181,
                0.8007171425684277,
                0.8046938051970745,
                0.8027005487121324,
                0.7127272727272728,
            ],
        ),
        (
            1000,
            30,
            60,
            2,
            [
                0.4856226275219202,
                0.35336223309052545,
                0.16661096027018163,
                0.3243321569579198,
                0.44515359928758297,
                0.5341855756305395,
                0.4856226275219202,
                0.305,
            ],
        ),
        (
            2000,
            2,
            300,
            0,
            [
                0.02328477767669187,
                0.00945523303419778,
                -0.00012654522712939387,
                -0.003523826046583024,
                0.013072069508578777,
                0.1064504258254912,
                0.02328477767669187,
                0.0085,
            ],
        ),
        (
            500,
            400,
            20,
            2,
            [
                0.7054400226069888,
                0.6323050719597937,
                0.3569389834524209,
                0.4723674994630896,
                0.914308614871594,
                0.574254788867496,
                0.7054400226069889,
                0.858,
            ],
        ),
    ];
    for (n, k_predicted, k_true, quarters, want) in cases {
        let truth = congruential(n as u64, n, k_true);
        let random = congruential(n as u64 + 1, n, k_predicted);
        let quarter = congruential(n as u64 + 2, n, 4);
        let predicted: Vec<u32> = (0..n)
            .map(|i| if quarter[i] < quarters { truth[i] % k_predicted as u32 } else { random[i] })
            .collect();
        assert_close(array(Scores::of(&predicted, &truth).unwrap()), want, &format!("{n} objects"));
    }
}

#[test]
fn degenerate_groupings_are_defined() {
    let singletons = [0, 1, 2, 3, 4];
    let one = [9; 5];
    assert_eq!(array(Scores::of(&one, &one).unwrap()), [1.0; 8]);
    assert_eq!(array(Scores::of(&singletons, &singletons).unwrap()), [1.0; 8]);
    assert_eq!(array(Scores::of(&[3], &[8]).unwrap()), [1.0; 8]);
    let lumped = Scores::of(&one, &singletons).unwrap();
    assert_eq!((lumped.nmi, lumped.ari, lumped.ami, lumped.v_measure), (0.0, 0.0, 0.0, 0.0));
    assert_eq!((lumped.homogeneity, lumped.completeness), (0.0, 1.0));
    let split = Scores::of(&singletons, &one).unwrap();
    assert_eq!((split.nmi, split.ari, split.ami, split.v_measure), (0.0, 0.0, 0.0, 0.0));
    assert_eq!((split.homogeneity, split.completeness), (1.0, 0.0));
}

#[test]
fn nothing_to_score_is_an_error_that_says_so() {
    assert_eq!(Scores::of::<u32, u32>(&[], &[]), Err(MetricsError::Empty));
    let error = Scores::of(&[1, 2], &[1]).unwrap_err();
    assert_eq!(error.to_string(), "2 labels cannot be compared with 1: both must label the same objects");
}

/// ARI from its definition: look at every pair of objects.
fn ari_by_pairs(a: &[u32], b: &[u32]) -> f64 {
    let (mut both, mut in_a, mut in_b, mut all) = (0.0, 0.0, 0.0, 0.0);
    for i in 0..a.len() {
        for j in 0..i {
            all += 1.0;
            in_a += f64::from(u8::from(a[i] == a[j]));
            in_b += f64::from(u8::from(b[i] == b[j]));
            both += f64::from(u8::from(a[i] == a[j] && b[i] == b[j]));
        }
    }
    let expected = in_a * in_b / all;
    (both - expected) / ((in_a + in_b) / 2.0 - expected)
}

/// The mean mutual information over all orders of `b` against `a`.
fn emi_by_enumeration(a: &[u32], b: &mut Vec<u32>, at: usize) -> (f64, f64) {
    if at == b.len() {
        return (Contingency::new(a, b).unwrap().mutual_information(), 1.0);
    }
    let (mut sum, mut count) = (0.0, 0.0);
    for j in at..b.len() {
        b.swap(at, j);
        let (s, c) = emi_by_enumeration(a, b, at + 1);
        (sum, count) = (sum + s, count + c);
        b.swap(at, j);
    }
    (sum, count)
}

#[test]
fn expected_information_is_the_mean_over_all_permutations() {
    let cases: [(&[u32], &[u32]); 5] = [
        (&[0, 0, 1, 1, 2, 2, 2], &[0, 1, 1, 1, 1, 2, 2]),
        (&[0, 0, 0, 0, 0, 0, 1], &[0, 0, 0, 0, 1, 1, 1]),
        (&[0, 1, 2, 3, 4, 5], &[0, 0, 0, 1, 1, 2]),
        (&[0, 0, 0, 0, 1, 1, 1, 1], &[0, 0, 0, 0, 0, 1, 1, 1]),
        (&[0, 0], &[0, 1]),
    ];
    for (a, b) in cases {
        let (sum, count) = emi_by_enumeration(a, &mut b.to_vec(), 0);
        let got = Contingency::new(a, b).unwrap().expected_mutual_information();
        assert!((got - sum / count).abs() < 1e-13, "{a:?} {b:?}: {got} instead of {}", sum / count);
    }
}

#[test]
fn chance_agreement_scores_near_zero_once_adjusted() {
    let mut rng = stream(1, 1);
    let mut label = |k: u32| (0..20_000).map(|_| rng.random_range(0..k)).collect::<Vec<u32>>();
    let scores = Scores::of(&label(40), &label(25)).unwrap();
    assert!(scores.ari.abs() < 1e-3 && scores.ami.abs() < 2e-3, "{scores:?}");
    // The unadjusted information is lifted by (39 * 24) / (2 * 20000) nats, by the chi-square approximation.
    let lift = 39.0 * 24.0 / 40_000.0 / ((40_f64.ln() + 25_f64.ln()) / 2.0);
    assert!((scores.nmi / lift - 1.0).abs() < 0.2, "{scores:?}");
}

#[test]
fn a_million_objects_in_thousands_of_clusters_are_scored() {
    let n = 1_000_000;
    let truth = congruential(1, n, 5000);
    let random = congruential(2, n, 5000);
    let tenth = congruential(3, n, 10);
    let predicted: Vec<u32> = (0..n).map(|i| if tenth[i] == 0 { random[i] } else { truth[i] }).collect();
    let scores = Scores::of(&predicted, &truth).unwrap();
    // Nine in ten objects keep their cluster: of pairs together, 0.81 are together on the other side too.
    assert!((scores.ari - 0.81).abs() < 0.01, "{scores:?}");
    assert!((scores.purity - 0.9).abs() < 0.005, "{scores:?}");
    assert!(scores.ami < scores.nmi && scores.ami > 0.8, "{scores:?}");
}

#[test]
fn convergence_measures_follow_their_definitions() {
    let (at, last, truth) = ([0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 0, 1]);
    assert_eq!(eta1(&last, &last).unwrap(), 1.0);
    assert!((eta1(&at, &last).unwrap() - 0.8).abs() < 1e-15);
    let ratio = nmi(&at, &truth).unwrap() / nmi(&last, &truth).unwrap();
    assert_eq!(eta3(&at, &last, &truth).unwrap(), ratio);
    assert_eq!(eta3(&at, &[0; 4], &truth), Err(MetricsError::FinalWithoutInformation));

    let a = Points::new(vec![0.0, 0.0, 1.0, 1.0], 2).unwrap();
    let b = Points::new(vec![3.0, 4.0, 1.0, 2.0], 2).unwrap();
    assert_eq!(eta2(&a, &b).unwrap(), 13.0);
    assert_eq!(eta2(&a, &a).unwrap(), 0.0);
    let short = Points::new(vec![0.0, 0.0], 2).unwrap();
    assert_eq!(eta2(&a, &short), Err(MetricsError::LengthsDiffer { first: 2, second: 1 }));
    let flat = Points::new(vec![0.0, 0.0], 1).unwrap();
    assert_eq!(eta2(&a, &flat), Err(MetricsError::FeaturesDiffer { first: 2, second: 1 }));
    let none = Points::new(vec![], 2).unwrap();
    assert_eq!(eta2(&none, &none), Err(MetricsError::Empty));
}

fn two_groupings() -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
    (2usize..60).prop_flat_map(|n| (prop::collection::vec(0u32..8, n), prop::collection::vec(0u32..8, n)))
}

proptest! {
    #[test]
    fn bounds_and_symmetry_hold((a, b) in two_groupings()) {
        let (ab, ba) = (Scores::of(&a, &b).unwrap(), Scores::of(&b, &a).unwrap());
        for s in [ab.nmi, ab.f, ab.homogeneity, ab.completeness, ab.v_measure, ab.purity] {
            prop_assert!((0.0..=1.0).contains(&s), "{ab:?}");
        }
        prop_assert!((-0.5..=1.0).contains(&ab.ari) && ab.ami <= 1.0 + 1e-12, "{ab:?}");
        prop_assert!((ab.nmi - ba.nmi).abs() < 1e-14);
        prop_assert!((ab.ami - ba.ami).abs() < 1e-12);
        prop_assert!((ab.ari - ba.ari).abs() < 1e-14);
        prop_assert!((ab.homogeneity - ba.completeness).abs() < 1e-14);
        prop_assert!((ab.nmi - ab.v_measure).abs() < 1e-14);
    }

    #[test]
    fn names_of_clusters_and_order_of_objects_do_not_matter((a, b) in two_groupings()) {
        let renamed: Vec<String> = a.iter().map(|l| format!("cluster {}", (l * 5) % 8)).collect();
        let renamed: Vec<&str> = renamed.iter().map(String::as_str).collect();
        let reversed = (a.iter().rev().copied().collect::<Vec<_>>(), b.iter().rev().copied().collect::<Vec<_>>());
        let want = array(Scores::of(&a, &b).unwrap());
        for got in [Scores::of(&renamed, &b).unwrap(), Scores::of(&reversed.0, &reversed.1).unwrap()] {
            for (g, w) in array(got).iter().zip(want) {
                prop_assert!((g - w).abs() < 1e-12);
            }
        }
        prop_assert_eq!(array(Scores::of(&renamed, &a).unwrap()), [1.0; 8]);
    }

    #[test]
    fn ari_counts_pairs((a, b) in two_groupings()) {
        let want = ari_by_pairs(&a, &b);
        if want.is_finite() {
            prop_assert!((Contingency::new(&a, &b).unwrap().ari() - want).abs() < 1e-12);
        }
    }
}
