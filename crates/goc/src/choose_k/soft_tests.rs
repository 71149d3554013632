use super::*;
use crate::candidates::CandidatesBuilder;
use crate::random::stream;
use rand::RngExt;
use rand_distr::StandardNormal;

/// Groups of normal clouds; candidates along a short line with penalties.
fn clouds(n: usize, m: usize, groups: usize, seed: u64) -> (Candidates, Partition) {
    let mut rng = stream(seed, 0);
    let middles: Vec<[f64; 2]> =
        (0..groups).map(|_| [rng.random_range(-9.0..9.0), rng.random_range(-9.0..9.0)]).collect();
    let mut builder = CandidatesBuilder::new(2);
    for i in 0..n {
        let place: [f64; 2] = std::array::from_fn(|f| {
            let z: f64 = rng.sample(StandardNormal);
            middles[i % groups][f] + 0.5 * z
        });
        let (mut rows, mut penalties) = (Vec::new(), Vec::new());
        for j in 0..m {
            let s = if m == 1 { 0.0 } else { 2.0 * j as f64 / (m - 1) as f64 - 1.0 };
            rows.extend([place[0] + 0.4 * s, place[1] - 0.2 * s * s]);
            penalties.push(s * s);
        }
        builder.push(&rows, &penalties).unwrap();
    }
    let labels: Vec<usize> = (0..n).map(|i| i % groups).collect();
    (builder.build().unwrap(), Partition::from_labels(&labels))
}

/// The likelihood as it is written, with the density of a normal distribution in two dimensions by cofactors.
fn by_the_book(c: &Candidates, soft: &Soft, penalty_strength: f64) -> f64 {
    let s = &soft.covariance;
    let det = s[0] * s[3] - s[1] * s[2];
    (0..c.objects())
        .map(|i| {
            let weight = |j: usize| f64::exp(-penalty_strength * c.penalty(i, j));
            let total: f64 = (0..c.count(i)).map(weight).sum();
            let mut sum = 0.0;
            for k in 0..soft.shares.len() {
                for j in 0..c.count(i) {
                    let x = c.candidate(i, j);
                    let (a, b) = (x[0] - soft.means.row(k)[0], x[1] - soft.means.row(k)[1]);
                    let square = (s[3] * a * a - 2.0 * s[1] * a * b + s[0] * b * b) / det;
                    let density = f64::exp(-0.5 * square) / (std::f64::consts::TAU * det.sqrt());
                    sum += soft.shares[k] * weight(j) / total * density;
                }
            }
            sum.ln()
        })
        .sum()
}

#[test]
fn the_likelihood_is_the_one_written_down_and_never_falls() {
    for seed in 0..8 {
        let (candidates, partition) = clouds(60, 7, 4, seed);
        let soft = Soft::fit(&candidates, &partition, &candidates.means(), 2.0, 1e-6).unwrap();
        let book = by_the_book(&candidates, &soft, 2.0);
        assert!((soft.log_likelihood - book).abs() < 1e-9, "{} {book}", soft.log_likelihood);
        assert!(soft.history.windows(2).all(|w| w[1] >= w[0] - 1e-9), "{:?}", soft.history);
        assert!(soft.converged && soft.history.len() > 2);
        assert_eq!(soft.history.last(), Some(&soft.log_likelihood));
        assert!((soft.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_end_is_a_stationary_point_of_the_likelihood() {
    let (candidates, partition) = clouds(80, 5, 3, 3);
    let soft = Soft::fit(&candidates, &partition, &candidates.means(), 2.0, 1e-6).unwrap();
    // Every mean and the covariance moved a little, both ways: no way rises by more than EM's own threshold
    // allows.
    for (k, f) in [(0, 0), (1, 1), (2, 0)] {
        for step in [-0.02, 0.02] {
            let mut other = soft.clone();
            other.means.row_mut(k)[f] += step;
            assert!(by_the_book(&candidates, &other, 2.0) < soft.log_likelihood);
        }
    }
    for at in [0, 3] {
        for factor in [0.95, 1.05] {
            let mut other = soft.clone();
            other.covariance[at] *= factor;
            assert!(by_the_book(&candidates, &other, 2.0) < soft.log_likelihood);
        }
    }
}

#[test]
fn one_cluster_of_plain_points_is_the_closed_form() {
    let (candidates, _) = clouds(50, 1, 1, 1);
    let one = Partition::from_labels(&[0; 50]);
    let soft = Soft::fit(&candidates, &one, &candidates.means(), 2.0, 1e-6).unwrap();
    let places = candidates.means();
    let mean = |f: usize| places.rows().map(|x| x[f]).sum::<f64>() / 50.0;
    let cov =
        |a: usize, b: usize| places.rows().map(|x| (x[a] - mean(a)) * (x[b] - mean(b))).sum::<f64>() / 50.0;
    let det = cov(0, 0) * cov(1, 1) - cov(0, 1) * cov(0, 1);
    let log_likelihood = -25.0 * (2.0 * std::f64::consts::TAU.ln() + det.ln() + 2.0);
    assert!((soft.log_likelihood - log_likelihood).abs() < 1e-9);
    // p = 0 + 2 + 3.
    assert!((soft.bic() - (2.0 * log_likelihood - 5.0 * 50f64.ln())).abs() < 1e-9);
    assert_eq!(soft.icl(), soft.bic());
    assert!((soft.mean_variance() - (cov(0, 0) + cov(1, 1)) / 2.0).abs() < 1e-12);
    assert!((soft.lambda(2.0) - 2.0 * (cov(0, 0) + cov(1, 1))).abs() < 1e-12);
}

/// scikit-learn 1.9: GaussianMixture(3, covariance_type="tied", means_init, weights_init, precisions_init of
/// the same start, reg_covar=0, tol=1e-9, max_iter=1000) on the points below; bic() there is minus ours.
#[test]
fn plain_points_agree_with_scikit_learn() {
    let points = Points::new(POINTS.to_vec(), 2).unwrap();
    let candidates = Candidates::from_points(&points).unwrap();
    let labels: Vec<usize> = (0..12).map(|i| i / 4).collect();
    let soft = Soft::fit(&candidates, &Partition::from_labels(&labels), &points, 2.0, 1e-6).unwrap();
    assert!((soft.log_likelihood - SKLEARN_LOG_LIKELIHOOD).abs() < 1e-4, "{}", soft.log_likelihood);
    assert!((soft.bic() + SKLEARN_BIC).abs() < 2e-4, "{}", soft.bic());
}

const POINTS: [f64; 24] = [
    0.1, 0.2, 0.9, -0.3, -0.6, 0.5, 0.4, 1.1, 2.0, 2.1, 2.5, 1.6, 1.4, 2.8, 2.9, 2.3, -2.0, 3.0, -2.4, 2.5,
    -1.0, 2.0, -1.7, 3.6,
];
const SKLEARN_LOG_LIKELIHOOD: f64 = -30.66077862713739;
const SKLEARN_BIC: f64 = 88.65553040194278;

#[test]
fn threads_do_not_change_the_bytes() {
    let (candidates, partition) = clouds(300, 9, 7, 2);
    let fits: Vec<Soft> = [1, 2, 4]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Soft::fit(&candidates, &partition, &candidates.means(), 2.0, 1e-6).unwrap())
        })
        .collect();
    assert_eq!(fits[0], fits[1]);
    assert_eq!(fits[0], fits[2]);
}

#[test]
fn degenerate_input_has_a_named_error() {
    let same = Candidates::from_points(&Points::new(vec![1.0; 8], 2).unwrap()).unwrap();
    let fit = |partition: &Partition| Soft::fit(&same, partition, &same.means(), 2.0, 1e-6).unwrap_err();
    assert_eq!(fit(&Partition::from_labels(&[0, 0, 1, 1])), SoftError::Flat);
    assert_eq!(fit(&Partition::from_labels(&[0, 0, 1])), SoftError::Objects { labels: 3, n: 4 });
    let one = Candidates::from_points(&Points::new(vec![1.0, 2.0], 2).unwrap()).unwrap();
    let alone = Partition::from_labels(&[0]);
    assert_eq!(Soft::fit(&one, &alone, &one.means(), 2.0, 1e-6), Err(SoftError::Flat));
    // Every point a cluster: the covariance falls to nothing, and that is said.
    let (plain, _) = clouds(6, 1, 2, 1);
    let all = Partition::from_labels(&[0, 1, 2, 3, 4, 5]);
    assert_eq!(Soft::fit(&plain, &all, &plain.means(), 2.0, 1e-6), Err(SoftError::Flat));
    assert_eq!(
        Soft::fit(&plain, &all, &plain.means(), -1.0, 1e-6).unwrap_err().to_string(),
        "the strength of the penalties is -1; it must be a finite number not below 0"
    );
}
