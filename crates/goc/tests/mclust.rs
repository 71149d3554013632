//! Gaussian mixtures with BIC against R's mclust on made-up data, closed forms, invariances and hard input.

use goc::oracle::mclust::{Mclust, MclustFit, Model};
use goc::oracle::{Oracle, OracleError, Start};
use goc::{Partition, Points, random::stream};

const MODELS: [Model; 3] = [Model::Eii, Model::Vii, Model::Vvv];

/// Numbers that R and Rust make alike: the "minimal standard" generator, exact in doubles.
struct Minimal(u64);

impl Minimal {
    fn uniform(&mut self) -> f64 {
        self.0 = 16807 * self.0 % 2_147_483_647;
        self.0 as f64 / 2_147_483_647.0
    }

    fn normal(&mut self) -> f64 {
        (0..12).fold(0.0, |sum, _| sum + self.uniform()) - 6.0
    }
}

/// Points around `centres` in turn; `shear` times the first normal number is added to the other features.
fn blobs(seed: u64, n: usize, centres: &[&[f64]], shear: f64) -> Vec<Vec<f64>> {
    let mut numbers = Minimal(seed);
    (0..n)
        .map(|i| {
            let mut first = 0.0;
            let mut point = Vec::new();
            for (j, c) in centres[i % centres.len()].iter().enumerate() {
                let v = numbers.normal();
                if j == 0 {
                    first = v;
                    point.push(c + v);
                } else {
                    point.push(c + (v + shear * first));
                }
            }
            point
        })
        .collect()
}

fn plane() -> Vec<Vec<f64>> {
    blobs(1, 60, &[&[0.0, 0.0], &[5.0, 1.0], &[1.0, 6.0]], 0.6)
}

fn fit(model: Model, rows: &[Vec<f64>], k: usize) -> MclustFit {
    Mclust::new(model).fit(&Points::from_rows(rows).unwrap(), k).unwrap()
}

const NA: f64 = f64::NAN;

/// What, the points, and the BIC values of each model.
type Golden<'a> = (&'a str, &'a [Vec<f64>], [&'a [f64]; 3]);

fn assert_bics(what: &str, model: Model, rows: &[Vec<f64>], expected: &[f64]) {
    let fit = fit(model, rows, expected.len());
    for (g, (got, want)) in fit.bics.iter().zip(expected).enumerate() {
        match got {
            Some(bic) => {
                assert!((bic - want).abs() < 1e-8, "{what} {model:?} G = {}: {bic} against {want}", g + 1)
            }
            None => assert!(want.is_nan(), "{what} {model:?} G = {}: none against {want}", g + 1),
        }
    }
}

/// BIC for G = 1, 2, ... of `mclustBIC(X, G, modelNames)`, mclust 6.0.0, R 4.2.2, default options,
/// 10 decimals. For the points that occur twice with the tree `hc(X, "VVV", use = "SVD", partition
/// = dupPartition(X))`: by default mclust looks for equal rows after its transformation, whose
/// rounding hides them.
#[test]
fn bic_is_mclusts_for_every_number_of_components() {
    let plane = plane();
    let space =
        blobs(2, 120, &[&[0.0, 0.0, 0.0], &[3.0, 0.0, 1.0], &[0.0, 4.0, -2.0], &[-3.0, 3.0, 3.0]], -0.8);
    let mut twice = plane.clone();
    twice.extend_from_slice(&plane[..25]);
    let table: [Golden<'_>; 3] = [
        (
            "plane",
            &plane,
            [
                &[
                    -573.2972771262,
                    -573.8667274295,
                    -520.1115370901,
                    -517.3102642063,
                    -521.0392300815,
                    -516.3978746445,
                ],
                &[
                    -573.2972771262,
                    -568.6646566132,
                    -527.1624408419,
                    -524.4693382771,
                    -526.6116220922,
                    -532.0874724744,
                ],
                &[
                    -579.8078212121,
                    -524.8907442362,
                    -515.1032568843,
                    -532.2920207736,
                    -542.8016739633,
                    -557.1094301434,
                ],
            ],
        ),
        (
            "space",
            &space,
            [
                &[
                    -1655.2636653962,
                    -1609.5552886189,
                    -1522.2679564072,
                    -1502.2622287092,
                    -1498.2936407046,
                    -1501.1418109839,
                    -1490.6566952466,
                    -1499.0245167693,
                ],
                &[
                    -1655.2636653962,
                    -1576.8111833757,
                    -1510.7740997632,
                    -1508.5429226871,
                    -1501.0207014003,
                    -1504.8824492606,
                    -1505.1927013308,
                    -1515.1336726875,
                ],
                &[
                    -1575.8073117148,
                    -1478.2783811244,
                    -1451.9131352882,
                    -1473.3871949475,
                    -1506.4779359661,
                    -1526.2426119028,
                    -1560.1585343758,
                    -1589.4617122353,
                ],
            ],
        ),
        (
            "points that occur twice",
            &twice,
            [
                &[
                    -805.8187649044,
                    -801.2053436591,
                    -722.1634051304,
                    -705.3685358535,
                    -705.4909760317,
                    -700.6000026110,
                ],
                &[
                    -805.8187649044,
                    -794.3517837727,
                    -726.5211601201,
                    -713.5717581005,
                    -705.1985605385,
                    -710.9525412848,
                ],
                &[-812.0795753391, -730.9254707802, -695.9785924858, -711.9462411667, -730.4063036073, NA],
            ],
        ),
    ];
    for (what, rows, bics) in table {
        for (model, expected) in MODELS.into_iter().zip(bics) {
            assert_bics(what, model, rows, expected);
        }
    }
    // One feature: mclust's models E and V.
    let line = blobs(3, 50, &[&[0.0], &[4.0], &[9.0]], 0.0);
    let equal = [-284.6594715687, -282.5731988874, -270.3511154131, -267.1430256792, -274.9711051796];
    let varying = [-284.6594715687, -267.1022114343, -269.6525122325, -277.1134069416, -288.8755924060];
    assert_bics("line", Model::Eii, &line, &equal);
    assert_bics("line", Model::Vii, &line, &varying);
    assert_bics("line", Model::Vvv, &line, &varying);
}

/// Posterior probabilities and the weights, means and covariances they give, from the definitions: d = 2.
fn one_more_step(fit: &MclustFit, rows: &[Vec<f64>]) -> Vec<[f64; 6]> {
    let density = |x: &[f64], k: usize| {
        let (m, c) = (fit.means.row(k), &fit.covariances[4 * k..][..4]);
        let (x, y) = (x[0] - m[0], x[1] - m[1]);
        let determinant = c[0] * c[3] - c[1] * c[2];
        let distance = (c[3] * x * x - (c[1] + c[2]) * x * y + c[0] * y * y) / determinant;
        fit.weights[k] * (-0.5 * distance).exp() / determinant.sqrt()
    };
    (0..fit.g)
        .map(|k| {
            let z: Vec<f64> =
                rows.iter().map(|x| density(x, k) / (0..fit.g).map(|l| density(x, l)).sum::<f64>()).collect();
            let count: f64 = z.iter().sum();
            let mean = |j: usize| rows.iter().zip(&z).map(|(x, z)| z * x[j]).sum::<f64>() / count;
            let m = [mean(0), mean(1)];
            let cov = |a: usize, b: usize| {
                rows.iter().zip(&z).map(|(x, z)| z * (x[a] - m[a]) * (x[b] - m[b])).sum::<f64>() / count
            };
            [count / rows.len() as f64, m[0], m[1], cov(0, 0), cov(0, 1), cov(1, 1)]
        })
        .collect()
}

/// Of the same runs: `$G`, `$loglik`, `$parameters`, `$classification` (numbered from 1 in R). Ours
/// are the parameters of the log-likelihood; so are mclust's for VVV, for VII they come from one
/// maximisation more.
#[test]
fn parameters_and_labels_are_mclusts() {
    let spheres = fit(Model::Vii, &plane(), 6);
    assert_eq!(spheres.g, 4);
    assert!((spheres.loglik - -231.5270849219).abs() < 1e-8);
    let mclust = [
        [0.3322849209636, -0.0777448392338, 0.2469793697180, 0.958750551470],
        [0.3344676125812, 4.7821341978922, 1.0445372722130, 1.075965151387],
        [0.2746644574198, 0.4036197594149, 5.2735863588990, 0.491213506015],
        [0.0585830090354, 2.3916906823515, 7.8324316747860, 0.701013143239],
    ];
    for (next, want) in one_more_step(&spheres, &plane()).iter().zip(mclust) {
        let variance = (next[3] + next[5]) / 2.0;
        for (got, want) in [next[0], next[1], next[2], variance].iter().zip(want) {
            assert!((got - want).abs() < 1e-10, "{got} against {want}");
        }
    }
    let mut labels: Vec<u32> = (0..60).map(|i| i % 3).collect();
    for i in [8, 26, 41] {
        labels[i] = 3;
    }
    assert_eq!(spheres.partition.labels(), labels);

    let free = fit(Model::Vvv, &plane(), 6);
    assert_eq!(free.g, 3);
    assert!((free.loglik - -222.7496996633).abs() < 1e-8);
    let (mean, covariance) = (free.means.row(0), &free.covariances[..4]);
    let ours = [free.weights[0], mean[0], mean[1], covariance[0], covariance[1], covariance[3]];
    let mclust =
        [0.333934229890, -0.0742402471729, 0.2644922970343, 0.692298782960, 0.562099691038, 1.247521141608];
    for (got, want) in ours.iter().zip(mclust) {
        assert!((got - want).abs() < 1e-10, "{got} against {want}");
    }
    assert_eq!(free.partition.labels(), (0..60).map(|i| i % 3).collect::<Vec<u32>>());
}

#[test]
fn one_component_has_the_closed_form() {
    let rows = plane();
    let (n, d) = (60.0, 2.0);
    let mean = |j: usize| rows.iter().map(|r| r[j]).sum::<f64>() / n;
    let cov = |a: usize, b: usize| rows.iter().map(|r| (r[a] - mean(a)) * (r[b] - mean(b))).sum::<f64>() / n;
    let ln_tau = (2.0 * std::f64::consts::PI).ln();
    let variance = (cov(0, 0) + cov(1, 1)) / d;
    let sphere = -0.5 * n * d * (ln_tau + variance.ln() + 1.0);
    let determinant = cov(0, 0) * cov(1, 1) - cov(0, 1) * cov(0, 1);
    let free = -0.5 * n * (d * ln_tau + determinant.ln() + d);
    for (model, loglik, parameters) in
        [(Model::Eii, sphere, 3.0), (Model::Vii, sphere, 3.0), (Model::Vvv, free, 5.0)]
    {
        let fit = fit(model, &rows, 1);
        assert!((fit.loglik - loglik).abs() < 1e-10, "{model:?}");
        assert!((fit.bic - (2.0 * loglik - parameters * n.ln())).abs() < 1e-10, "{model:?}");
        assert_eq!((fit.iterations, fit.converged, fit.partition.k()), (1, true, 1));
    }
}

#[test]
fn well_separated_blobs_are_recovered_by_every_model() {
    let centres: [&[f64]; 4] = [&[0.0, 0.0, 0.0], &[30.0, 0.0, 5.0], &[0.0, 30.0, -5.0], &[30.0, 30.0, 40.0]];
    let rows = blobs(11, 200, &centres, 0.0);
    let truth = Partition::from_labels(&(0..200).map(|i| i % 4).collect::<Vec<u32>>());
    for model in MODELS {
        let fit = fit(model, &rows, 12);
        assert_eq!(fit.g, 4, "{model:?}: {:?}", fit.bics);
        assert!(fit.partition.same_grouping(&truth), "{model:?}");
        for k in 0..4 {
            assert!((fit.weights[k] - 0.25).abs() < 1e-9);
        }
    }
}

#[test]
fn order_place_and_units_do_not_change_the_clusters() {
    let rows = plane();
    let shuffled: Vec<usize> = (0..60).map(|i| i * 37 % 60).collect();
    for model in MODELS {
        let plain = fit(model, &rows, 6);
        let permuted: Vec<Vec<f64>> = shuffled.iter().map(|&i| rows[i].clone()).collect();
        let again = fit(model, &permuted, 6);
        assert!((again.bic - plain.bic).abs() < 1e-9, "{model:?}");
        let put_back: Vec<u32> = shuffled.iter().map(|&i| plain.partition.labels()[i]).collect();
        assert!(again.partition.same_grouping(&Partition::from_labels(&put_back)), "{model:?}");

        let moved: Vec<Vec<f64>> = rows.iter().map(|r| vec![r[0] + 4096.0, r[1] - 512.0]).collect();
        let moved = fit(model, &moved, 6);
        assert!((moved.bic - plain.bic).abs() < 1e-8, "{model:?}: {} {}", moved.bic, plain.bic);
        assert_eq!(moved.partition, plain.partition);
        assert!((moved.means.row(0)[0] - 4096.0 - plain.means.row(0)[0]).abs() < 1e-9);

        // Units by powers of two, up to where squares leave the range of numbers: the
        // log-likelihood shifts by n d ln(unit). The tolerance is relative to it, so the number of
        // steps is fixed here.
        let steps = |rows: &[Vec<f64>]| {
            let oracle = Mclust::new(model).tolerance(0.0).max_iterations(30);
            oracle.fit(&Points::from_rows(rows).unwrap(), 6).unwrap()
        };
        let plain = steps(&rows);
        for exponent in [-900, -40, 40, 900] {
            let unit = 2.0_f64.powi(exponent);
            let scaled: Vec<Vec<f64>> = rows.iter().map(|r| r.iter().map(|v| v * unit).collect()).collect();
            let scaled = steps(&scaled);
            assert_eq!(scaled.partition, plain.partition, "{model:?} 2^{exponent}");
            assert!(
                (scaled.loglik + 120.0 * unit.ln() - plain.loglik).abs() < 1e-8,
                "{model:?} 2^{exponent}"
            );
        }
    }
}

#[test]
fn early_stop_keeps_what_was_reached() {
    // `me(plane, "VII", unmap(hclass(hc(plane, "VVV", use = "SVD"), 5)))` needs more than three steps.
    let points = Points::from_rows(&plane()).unwrap();
    let full = Mclust::new(Model::Vii).fit(&points, 5).unwrap();
    let short = Mclust::new(Model::Vii).max_iterations(3).fit(&points, 5).unwrap();
    assert!(full.converged && !short.converged);
    assert_eq!(short.iterations, 3);
    for (few, many) in short.bics.iter().zip(&full.bics) {
        assert!(few.unwrap() <= many.unwrap() + 1e-9);
    }
}

#[test]
fn hard_input_gives_an_answer_or_an_error_but_no_panic() {
    let cluster = |model: Model, rows: &[Vec<f64>], k: usize| {
        Mclust::new(model).cluster(&Points::from_rows(rows).unwrap(), Start::K(k), &mut stream(0, 0))
    };
    for model in MODELS {
        assert_eq!(cluster(model, &[vec![1.0, 2.0]], 1).unwrap().labels(), [0]);
        assert_eq!(cluster(model, &vec![vec![0.1, 0.3]; 7], 5).unwrap().k(), 1);
        let none = Points::new(Vec::new(), 2).unwrap();
        let start = Start::K(1);
        assert_eq!(Mclust::new(model).cluster(&none, start, &mut stream(0, 0)), Err(OracleError::NoPoints));
        assert!(matches!(cluster(model, &[vec![1.0]], 0), Err(OracleError::NoClusters)));
        assert!(matches!(
            cluster(model, &[vec![1.0]], 2),
            Err(OracleError::MoreClustersThanPoints { k: 2, n: 1 })
        ));
    }
    // More features than points, a constant feature, a feature twice: spheres can, free covariances cannot.
    let wide: Vec<Vec<f64>> = blobs(5, 6, &[&[0.0; 9]], 0.0);
    let constant: Vec<Vec<f64>> = plane().into_iter().map(|r| vec![r[0], 3.3, r[1]]).collect();
    let repeated: Vec<Vec<f64>> = plane().into_iter().map(|r| vec![r[0], 2.0 * r[0]]).collect();
    for rows in [&wide, &constant, &repeated] {
        for model in [Model::Eii, Model::Vii] {
            let partition = cluster(model, rows, 6).unwrap();
            assert!((1..=6).contains(&partition.k()));
        }
        let error = cluster(Model::Vvv, rows, 6).unwrap_err().to_string();
        assert!(error.starts_with("mclust-vvv: no number of components up to 6"), "{error}");
        assert!(error.ends_with("or use mclust-eii"), "{error}");
    }
    // Two distinct points, many times each, and fewer distinct points than clusters wanted.
    let pair: Vec<Vec<f64>> = (0..12).map(|i| vec![f64::from(i % 2), 1.0 - f64::from(i % 2)]).collect();
    let fit = Mclust::new(Model::Eii).fit(&Points::from_rows(&pair).unwrap(), 5).unwrap();
    assert_eq!(fit.g, 1);
    assert_eq!(fit.bics.len(), 5);
    assert!(fit.bics[1..].iter().all(Option::is_none));
    for exponent in [-1070, -600, 600, 1020] {
        let rows: Vec<Vec<f64>> =
            plane().iter().map(|r| r.iter().map(|v| v * 2.0_f64.powi(exponent)).collect()).collect();
        for model in MODELS {
            let _ = cluster(model, &rows, 4);
        }
    }
    let points = Points::from_rows(&plane()).unwrap();
    for oracle in [Mclust::new(Model::Eii).tolerance(f64::NAN), Mclust::new(Model::Eii).max_iterations(0)] {
        assert!(matches!(oracle.fit(&points, 3), Err(OracleError::Failed { .. })));
    }
}

#[test]
fn centres_count_only_by_their_number() {
    let points = Points::from_rows(&plane()).unwrap();
    let centres = points.subset(&[0, 1, 2, 3, 4, 5]);
    let oracle = Mclust::new(Model::Vvv);
    let from_centres = oracle.cluster(&points, Start::Centres(&centres), &mut stream(1, 0)).unwrap();
    assert_eq!(from_centres, oracle.cluster(&points, Start::K(6), &mut stream(2, 0)).unwrap());
    assert_eq!(from_centres.k(), 3);
}
