//! Eq. (1): a set made for eta holds the truth with the probability 1 - eta.

use goc::random::stream;
use goc::uncertainty::{Covariance, Sampler, Size, UncertaintySet};

/// Some errors per coordinate, of very different units.
const ERRORS: [f64; 6] = [0.1, 25.0, 1e-6, 3.0, 400.0, 1.0];
const CENTRE: [f64; 6] = [0.5, -1000.0, 2.0, 0.0, 1e4, -7.0];

/// A full covariance of dimension d: AR(1) correlations 0.6^|i-j| with alternating signs.
pub fn covariance(d: usize) -> Covariance {
    let correlations: Vec<f64> =
        (0..d * d).map(|at| (-0.6_f64).powi((at / d).abs_diff(at % d) as i32)).collect();
    Covariance::from_correlations(&ERRORS[..d], &correlations).unwrap()
}

/// The four shapes in `d` dimensions.
pub fn shapes(d: usize, size: Size) -> [(&'static str, UncertaintySet); 4] {
    let (centre, errors) = (&CENTRE[..d], &ERRORS[..d]);
    [
        ("box", UncertaintySet::cuboid(centre, errors, size).unwrap()),
        ("l1 ball", UncertaintySet::l1_ball(centre, errors, size).unwrap()),
        ("ball", UncertaintySet::ball(centre, 0.7, size).unwrap()),
        ("ellipsoid", UncertaintySet::ellipsoid(centre, covariance(d), size).unwrap()),
    ]
}

#[test]
fn the_share_of_draws_inside_the_set_is_one_minus_eta() {
    let n = 40_000;
    for d in [1, 2, 3, 6] {
        for eta in [0.05, 0.32] {
            for (name, set) in shapes(d, Size::eta(eta).unwrap()) {
                let draws = Sampler::Density.points(&set, n, &mut stream(20, d as u64)).unwrap();
                let inside = draws.rows().filter(|z| set.contains(z)).count() as f64 / n as f64;
                let error = (eta * (1.0 - eta) / n as f64).sqrt();
                assert!((inside - (1.0 - eta)).abs() < 4.0 * error, "{name} {d} {eta}: {inside}");
            }
        }
    }
}

#[test]
fn exact_coordinates_do_not_count_in_the_level() {
    let eta = Size::eta(0.1).unwrap();
    let padded = UncertaintySet::cuboid(&[1.0, 5.0, 2.0, 9.0], &[0.3, 0.0, 0.4, 0.0], eta).unwrap();
    let plain = UncertaintySet::cuboid(&[1.0, 2.0], &[0.3, 0.4], eta).unwrap();
    assert_eq!(padded.rho(), plain.rho());
    let matrix = [0.09, 0.0, 0.06, 0.0, 0.0, 0.0, 0.06, 0.0, 0.16];
    let flat =
        UncertaintySet::ellipsoid(&[1.0, 5.0, 2.0], Covariance::new(&matrix, 3).unwrap(), eta).unwrap();
    let full = Covariance::new(&[0.09, 0.06, 0.06, 0.16], 2).unwrap();
    let full = UncertaintySet::ellipsoid(&[1.0, 2.0], full, eta).unwrap();
    assert_eq!((flat.rho(), flat.rank()), (full.rho(), 2));
    let points = Sampler::Uniform.points(&flat, 1000, &mut stream(1, 1)).unwrap();
    assert!(points.rows().all(|z| z[1] == 5.0 && flat.contains(z)));
}

#[test]
fn one_coordinate_is_the_same_interval_in_every_normal_shape() {
    let eta = Size::eta(0.05).unwrap();
    let widths = [
        UncertaintySet::cuboid(&[0.0], &[2.0], eta).unwrap(),
        UncertaintySet::ball(&[0.0], 2.0, eta).unwrap(),
        UncertaintySet::ellipsoid(&[0.0], Covariance::new(&[4.0], 1).unwrap(), eta).unwrap(),
    ]
    .map(|set| set.half_width(0));
    assert!(widths.iter().all(|w| (w - 2.0 * 1.959963984540054).abs() < 1e-13), "{widths:?}");
}

proptest::proptest! {
    /// `B B^T` of any matrix B of d rows and r columns is a covariance of rank at most r, and all
    /// that is drawn lies in its ellipsoid.
    #[test]
    fn every_product_with_its_transpose_is_a_covariance(
        d in 1_usize..6,
        r in 1_usize..6,
        entries in proptest::collection::vec(-10.0_f64..10.0, 25),
        units in proptest::collection::vec(-4.0_f64..4.0, 5),
    ) {
        let b = |i: usize, k: usize| entries[5 * i + k] * 10.0_f64.powf(units[i]);
        let matrix: Vec<f64> =
            (0..d * d).map(|at| (0..r).map(|k| b(at / d, k) * b(at % d, k)).sum()).collect();
        let covariance = Covariance::new(&matrix, d).unwrap();
        proptest::prop_assert!(covariance.rank() <= r.min(d));
        let centre: Vec<f64> = (0..d).map(|i| b(i, 0)).collect();
        let set = UncertaintySet::ellipsoid(&centre, covariance, Size::sigmas(2.0).unwrap()).unwrap();
        for sampler in [Sampler::Uniform, Sampler::Sobol, Sampler::Grid { coordinate: d - 1 }] {
            let points = sampler.points(&set, 9, &mut stream(1, 1)).unwrap();
            for z in points.rows() {
                proptest::prop_assert!(set.contains(z), "{sampler:?} {z:?} {set:?}");
                for c in 0..d {
                    let reach = set.half_width(c) * (1.0 + 1e-9);
                    proptest::prop_assert!((z[c] - centre[c]).abs() <= reach);
                }
            }
        }
    }
}
