use super::*;
use crate::candidates::CandidatesBuilder;
use crate::oracle::affinity::{Affinity, Preference};
use crate::oracle::k_medoids::KMedoids;
use crate::oracle::linkage::Linkage;
use statrs::distribution::{ContinuousCDF, Normal};

/// Knuth's congruential numbers, as in the script that made the reference values.
fn congruential(seed: u64, n: usize) -> Vec<f64> {
    std::iter::repeat_with(crate::congruential::uniform(seed)).take(n).collect()
}

fn sets(q: usize, rows: &[Vec<f64>]) -> Candidates {
    let mut builder = CandidatesBuilder::new(q);
    for row in rows {
        builder.push(row, &[]).unwrap();
    }
    builder.build().unwrap()
}

fn linkage(k: usize) -> Clusterer {
    Clusterer::Linkage { linkage: Linkage::default(), k }
}

fn divergences(density: Density, share: f64, candidates: &Candidates) -> Vec<f64> {
    let method = DensityClustering::new(density, linkage(1)).share(share);
    method.divergences(candidates).unwrap().into_condensed()
}

fn close(got: &[f64], want: &[f64], relative: f64) {
    assert_eq!(got.len(), want.len());
    for (g, w) in got.iter().zip(want) {
        assert!((g - w).abs() <= relative * w.abs(), "{got:?} {want:?}");
    }
}

const BOTH: [Density; 2] = [Density::Gaussian, Density::Kernel];

#[test]
fn gaussian_divergences_are_those_of_numpy() {
    // numpy: both directions of 1/2 [tr(P1 S0) + d' P1 d - 3 + ln(det S1 / det S0)] with np.cov,
    // three ragged sets of space.
    let second = congruential(32, 21).iter().map(|v| 1.5 * v + 0.2).collect();
    let stretch = [1.0, 2.0, 0.5];
    let third = congruential(33, 42).iter().enumerate().map(|(at, v)| v * stretch[at % 3]).collect();
    let candidates = sets(3, &[congruential(31, 30), second, third]);
    let want = [11.71747007207533, 8.972679163571293, 40.89424410186974];
    close(&divergences(Density::Gaussian, 0.0, &candidates), &want, 1e-12);
}

#[test]
fn kernel_divergences_are_those_of_scipy_on_a_line() {
    // scipy 1.17.1: mean differences of gaussian_kde(set, 'silverman').logpdf, both directions,
    // three ragged sets of a line.
    let second = congruential(22, 9).iter().map(|v| 1.5 * v + 0.4).collect();
    let third = congruential(23, 15).iter().map(|v| v - 2.0).collect();
    let candidates = sets(1, &[congruential(21, 12), second, third]);
    let want = [3.1189774575267037, 50.77860915906407, 85.08286815033696];
    close(&divergences(Density::Kernel, 0.0, &candidates), &want, 1e-12);
}

/// The logarithm of the kernel density of set `j` at `x`, from the definition.
fn log_density(candidates: &Candidates, j: usize, x: &[f64], share: f64, common: &[f64]) -> f64 {
    let (q, m) = (x.len(), candidates.count(j) as f64);
    let bandwidth = |f: usize| {
        let column = candidates.feature(j, f);
        let mean = column.iter().sum::<f64>() / m;
        let own =
            if m > 1.0 { column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (m - 1.0) } else { 0.0 };
        ((1.0 - share) * own + share * common[f]).sqrt()
            * (4.0 / ((q as f64 + 2.0) * m)).powf(1.0 / (q as f64 + 4.0))
    };
    let kernel = |c: usize| {
        let centre = candidates.candidate(j, c);
        let one = |f: usize| {
            let h = bandwidth(f);
            (-0.5 * ((x[f] - centre[f]) / h).powi(2)).exp() / (h * (2.0 * std::f64::consts::PI).sqrt())
        };
        (0..q).map(one).product::<f64>()
    };
    ((0..candidates.count(j)).map(kernel).sum::<f64>() / m).ln()
}

#[test]
fn kernel_divergences_follow_their_definition_on_ragged_sets() {
    let sizes = [1, 4, 9, 17, 2];
    let rows: Vec<Vec<f64>> =
        sizes.iter().enumerate().map(|(s, m)| congruential(40 + s as u64, 3 * m)).collect();
    let candidates = sets(3, &rows);
    let share = 0.2;
    let common = common_variances(&candidates);
    let within =
        |f: usize| sizes.iter().enumerate().map(|(i, _)| variance(candidates.feature(i, f))).sum::<f64>();
    close(&common, &[within(0) / 5.0, within(1) / 5.0, within(2) / 5.0], 1e-15);
    let kl = |i: usize, j: usize| {
        let at = |c| {
            let x = candidates.candidate(i, c);
            log_density(&candidates, i, &x, share, &common) - log_density(&candidates, j, &x, share, &common)
        };
        (0..sizes[i]).map(at).sum::<f64>() / sizes[i] as f64
    };
    let got = divergences(Density::Kernel, share, &candidates);
    let pairs = (0..5).flat_map(|i| (i + 1..5).map(move |j| (i, j)));
    for ((i, j), got) in pairs.zip(got) {
        let want = (kl(i, j) + kl(j, i)).max(0.0);
        assert!((got - want).abs() <= 1e-11 * (1.0 + want), "{i} {j}: {got} {want}");
    }
}

#[test]
fn singletons_are_at_their_squared_distance_in_common_deviations() {
    // No set has a spread, so D is the variance of the means and both densities are a Gaussian of share * D.
    let rows = [vec![0.0, 1.0], vec![3.0, 5.0], vec![-1.0, 4.0]];
    let candidates = sets(2, &rows);
    let variances = [13.0 / 3.0, 13.0 / 3.0]; // of (0, 3, -1) and (1, 5, 4), divisor 2
    close(&common_variances(&candidates), &variances, 1e-15);
    let squared = |i: usize, j: usize| {
        (0..2).map(|f| (rows[i][f] - rows[j][f]).powi(2) / (0.25 * variances[f])).sum::<f64>()
    };
    let want = [squared(0, 1), squared(0, 2), squared(1, 2)];
    close(&divergences(Density::Gaussian, 0.25, &candidates), &want, 1e-14);
    // Silverman's factor for one candidate and two features is 1.
    close(&divergences(Density::Kernel, 0.25, &candidates), &want, 1e-12);
}

#[test]
fn many_candidates_bring_both_densities_to_the_closed_form() {
    // Quantiles of N(0, 1) and N(1, 1): J = 1. The kernel widens both variances by h^2 = (1.06 m^(-1/5))^2.
    let m = 1000;
    let normal = Normal::new(0.0, 1.0).unwrap();
    let zero: Vec<f64> = (0..m).map(|c| normal.inverse_cdf((c as f64 + 0.5) / m as f64)).collect();
    let one = zero.iter().map(|v| v + 1.0).collect();
    let candidates = sets(1, &[zero, one]);
    let [gaussian, kernel] = BOTH.map(|d| divergences(d, 0.0, &candidates)[0]);
    assert!((gaussian - 1.0).abs() < 0.01, "{gaussian}");
    let widened = 1.0 / (1.0 + (1.06 * (m as f64).powf(-0.2)).powi(2));
    assert!((kernel - widened).abs() < 0.02, "{kernel} {widened}");
}

#[test]
fn densities_far_apart_stay_finite() {
    let candidates = sets(1, &[vec![0.0, 1.0, 2.0], vec![1e6, 1e6 + 1.0, 1e6 + 2.0]]);
    for density in BOTH {
        let far = divergences(density, 0.01, &candidates)[0];
        assert!(far > 1e11 && far < 1e13, "{density:?}: {far}");
    }
}

#[test]
fn identical_sets_are_at_exactly_zero_and_one_cluster() {
    let candidates = sets(2, &vec![vec![0.1, 0.7, 1.3, -0.4, 2.2, 0.9]; 4]);
    for density in BOTH {
        assert_eq!(divergences(density, 0.01, &candidates), [0.0; 6], "{density:?}");
        for clusterer in [Clusterer::Affinity(Affinity::default()), linkage(3)] {
            let grouped = DensityClustering::new(density, clusterer).group(&candidates, 1).unwrap();
            assert_eq!(grouped.partition.labels(), [0; 4]);
        }
    }
    // Without any spread at all, D is 1.
    let points = sets(1, &vec![vec![5.0]; 3]);
    for density in BOTH {
        assert_eq!(divergences(density, 0.5, &points), [0.0; 3], "{density:?}");
    }
}

#[test]
fn every_pairing_separates_two_far_groups() {
    let rows: Vec<Vec<f64>> = (0..6)
        .map(|i| congruential(50 + i, 10).iter().map(|v| v + if i < 3 { 0.0 } else { 30.0 }).collect())
        .collect();
    let candidates = sets(1, &rows);
    let mut names = std::collections::BTreeSet::new();
    for density in BOTH {
        let affinity = Affinity::default().preference(Preference::Quantile(0.0));
        let search = KMedoids::default();
        for clusterer in [Clusterer::Affinity(affinity), Clusterer::KMedoids { search, k: 2 }, linkage(2)] {
            let method = DensityClustering::new(density, clusterer);
            let grouped = method.group(&candidates, 1).unwrap();
            assert_eq!(grouped.partition.canonical().labels(), [0, 0, 0, 1, 1, 1], "{}", method.name());
            names.insert(method.name().to_owned());
        }
    }
    assert_eq!(names.len(), 6, "{names:?}");
}

#[test]
fn one_object_and_k_equal_to_n_are_answered() {
    for density in BOTH {
        let one = DensityClustering::new(density, linkage(1)).group(&sets(1, &[vec![1.0, 2.0]]), 1).unwrap();
        assert_eq!(one.partition.labels(), [0]);
        let three = sets(1, &[vec![0.0, 1.0], vec![5.0, 6.5], vec![9.0]]);
        let each = DensityClustering::new(density, linkage(3)).group(&three, 1).unwrap();
        assert_eq!(each.partition.k(), 3);
    }
}

#[test]
fn threads_do_not_change_the_bytes() {
    let rows: Vec<Vec<f64>> = (0..20).map(|i| congruential(60 + i, 3 * (1 + i as usize))).collect();
    let candidates = sets(3, &rows);
    for density in BOTH {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| divergences(density, 0.05, &candidates))
        };
        assert_eq!(on(1), on(3));
    }
}

#[test]
fn bad_requests_are_named() {
    let line = sets(2, &[vec![0.0, 0.0, 1.0, 1.0, 3.0, 2.0], vec![4.0, 4.0, 5.0, 5.0, 7.0, 7.0]]);
    let flat = DensityClustering::new(Density::Gaussian, linkage(1)).share(0.0);
    assert_eq!(
        flat.group(&line, 1).unwrap_err().to_string(),
        "linkage-kl: object 1: its candidates have no density; raise the share or scale the features"
    );
    let single = sets(1, &[vec![0.0, 1.0], vec![4.0]]);
    for (density, name) in [(Density::Gaussian, "linkage-kl"), (Density::Kernel, "linkage-kde")] {
        let error = DensityClustering::new(density, linkage(1)).share(0.0).group(&single, 1).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{name}: object 1: its")), "{error}");
        let share = DensityClustering::new(density, linkage(1)).share(1.5).group(&single, 1).unwrap_err();
        assert_eq!(share.to_string(), format!("{name}: share is 1.5, but must be from 0 to 1"));
        let none = DensityClustering::new(density, linkage(0)).group(&single, 1);
        assert_eq!(none, Err(MethodError::NoClusters));
        let many = DensityClustering::new(density, linkage(3)).group(&single, 1);
        assert_eq!(many, Err(MethodError::MoreClustersThanObjects { k: 3, n: 2 }));
        let apart = sets(1, &[vec![0.0, 1.0], vec![1e160, 1e160]]);
        let error = DensityClustering::new(density, linkage(1)).group(&apart, 1).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{name}: objects 0 and 1: dissim")), "{error}");
    }
}
