//! Rows of catalogues: the authors' stars, real Gaia stars, and what is rejected.

mod common;

use goc::uncertainty::transform::Transform;
use goc::uncertainty::{Object, Propagation, Sampler, Size, UncertaintySet, WhenAllRejected};
use goc_galaxy::catalogue::{Angles, Catalogue, DistanceMeasure, GaiaCovariance, Reason, WhenIndefinite};
use goc_galaxy::frames::{Distance, JphiSign, Observed, Sky, SkyPosition, Sun};
use goc_galaxy::gaia_errors::ErrorModel;
use proptest::prelude::*;

const STAR: [f64; 6] = [187.25, 12.39, 0.40, -12.1, 3.4, 85.0];

fn gaia(offset: f64) -> Catalogue {
    Catalogue::new(Sky::Icrs, DistanceMeasure::Parallax { offset }, Sun::hattori()).unwrap()
}

/// By the frames directly.
fn by_hand(sky: Sky, sun: Sun, distance: Distance, row: [f64; 6]) -> [f64; 6] {
    let star = Observed {
        position: SkyPosition::degrees(sky, row[0], row[1]).unwrap(),
        distance,
        proper_motion: [row[3], row[4]],
        radial_velocity: row[5],
    };
    let place = sun.galactocentric(&star).unwrap();
    let ([x, y, z], [vx, vy, vz]) = (place.position, place.velocity);
    [x, y, z, vx, vy, vz]
}

#[test]
fn a_row_is_what_the_frames_make_of_it() {
    let mut x = [0.0; 6];
    for (far, distance) in [
        (DistanceMeasure::Parallax { offset: 0.0 }, Distance::from_parallax(0.40).unwrap()),
        (DistanceMeasure::Parallax { offset: 0.017 }, Distance::from_parallax(0.40 + 0.017).unwrap()),
        (DistanceMeasure::Distance, Distance::from_kpc(0.40).unwrap()),
        (DistanceMeasure::Modulus, Distance::from_modulus(0.40).unwrap()),
    ] {
        for sky in [Sky::Icrs, Sky::Galactic] {
            for sun in [Sun::hattori(), Sun::astropy_v4_0()] {
                let catalogue = Catalogue::new(sky, far, sun).unwrap();
                catalogue.apply(&STAR, &mut x).unwrap();
                assert_eq!(x, by_hand(sky, sun, distance, STAR), "{far:?} {sky} {sun}");
                let radians = catalogue.angles(Angles::Radians);
                let mut row = STAR;
                row[..2].iter_mut().for_each(|angle| *angle = angle.to_radians());
                radians.apply(&row, &mut x).unwrap();
                assert_eq!(x, by_hand(sky, sun, distance, STAR), "{far:?} {sky} {sun}, radians");
            }
        }
    }
}

#[test]
fn every_reason_is_named() {
    let catalogue = gaia(0.017);
    let changed = |at: usize, value: f64| {
        let mut row = STAR;
        row[at] = value;
        row
    };
    for (catalogue, row, reason) in [
        (catalogue, changed(2, -0.017), Reason::NotPositiveParallax),
        (catalogue, changed(2, -1.0), Reason::NotPositiveParallax),
        (catalogue, changed(2, f64::NAN), Reason::NotFinite),
        (catalogue, changed(3, f64::NAN), Reason::NotFinite),
        (catalogue, changed(5, f64::INFINITY), Reason::NotFinite),
        (catalogue, changed(0, f64::NAN), Reason::NotFinite),
        (catalogue, changed(1, 90.01), Reason::OffTheSky),
        (catalogue, changed(0, 400.0), Reason::OffTheSky),
        (catalogue, changed(3, 1e308), Reason::TooFar),
        (gaia(0.0), changed(2, 1e-310), Reason::TooFar),
        (
            Catalogue::new(Sky::Icrs, DistanceMeasure::Distance, Sun::hattori()).unwrap(),
            changed(2, 0.0),
            Reason::NotPositiveDistance,
        ),
        (
            Catalogue::new(Sky::Icrs, DistanceMeasure::Modulus, Sun::hattori()).unwrap(),
            changed(2, 1e6),
            Reason::TooFar,
        ),
    ] {
        assert_eq!(catalogue.places(&row), [Err(reason)], "{row:?}");
        let rejection = catalogue.apply(&row, &mut [0.0; 6]).unwrap_err();
        assert_eq!(rejection.reason(), reason.to_string());
    }
    assert!(catalogue.places(&STAR)[0].is_ok());
    // Without its offset the parallax would be refused, with it it is not.
    assert!(
        gaia(0.017).places(&changed(2, -0.01))[0].is_ok() && gaia(0.0).places(&changed(2, -0.01))[0].is_err()
    );
    let error = Catalogue::new(Sky::Icrs, DistanceMeasure::Parallax { offset: f64::NAN }, Sun::hattori())
        .unwrap_err();
    assert_eq!(error.to_string(), "the parallax offset NaN is not a finite number");
    assert_eq!("radians".parse(), Ok(Angles::Radians));
    assert!("hours".parse::<Angles>().is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    /// Also where lines of sight are shared, change, come back and are bad.
    #[test]
    fn many_rows_at_once_give_the_bytes_of_one_by_one(
        rows in prop::collection::vec(
            (0_usize..4, -0.2..1.0, -20.0..20.0, -20.0..20.0, -300.0..300.0), 1..40),
    ) {
        const POSITIONS: [[f64; 2]; 4] = [[10.0, 20.0], [10.0, -20.0], [300.0, 20.0], [10.0, 91.0]];
        let points: Vec<f64> = rows
            .iter()
            .flat_map(|&(at, plx, pm1, pm2, rv)| [POSITIONS[at][0], POSITIONS[at][1], plx, pm1, pm2, rv])
            .collect();
        let catalogue = gaia(0.0);
        let mut together = vec![f64::NAN; points.len()];
        let verdicts = catalogue.apply_all(6, &points, &mut together);
        prop_assert_eq!(verdicts.len(), rows.len());
        for (i, verdict) in verdicts.into_iter().enumerate() {
            let (mut alone, row) = ([f64::NAN; 6], &points[6 * i..6 * i + 6]);
            prop_assert_eq!(&verdict, &catalogue.apply(row, &mut alone));
            if verdict.is_ok() {
                prop_assert_eq!(alone.map(f64::to_bits).to_vec(),
                    together[6 * i..6 * i + 6].iter().map(|v| v.to_bits()).collect::<Vec<_>>());
            }
        }
    }

    /// By the eigenvalues: 1 + t lambda for the smallest lambda of the off-diagonal part, from the cosine
    /// formula.
    #[test]
    fn correlations_are_accepted_when_definite_and_shrunk_just_enough_otherwise(
        correlations in [-1.0..=1.0_f64, -1.0..=1.0_f64, -1.0..=1.0_f64],
        errors in [1e-3..1.0_f64, 1e-3..1.0_f64, 1e-3..1.0_f64, 0.1..10.0_f64],
    ) {
        let [a, b, c] = correlations;
        let s = a * a + b * b + c * c;
        // lambda^3 - s lambda - 2abc = 0 has three real roots; the smallest is at the angle 2 pi / 3.
        let angle = (3.0 * 3.0_f64.sqrt() * a * b * c / s.powf(1.5)).clamp(-1.0, 1.0).acos();
        let smallest = 2.0 * (s / 3.0).sqrt() * ((angle + 2.0 * std::f64::consts::PI) / 3.0).cos();
        prop_assume!((1.0 + smallest).abs() > 1e-9);
        let builder = GaiaCovariance::new(errors).correlations(correlations);
        let shrunk = builder.when_indefinite(WhenIndefinite::Shrink).build().unwrap();
        if 1.0 + smallest > 0.0 {
            let made = builder.build().unwrap();
            prop_assert_eq!(made.shrunk_by(), None);
            prop_assert_eq!(&made, &shrunk);
            for (i, j, rho) in [(0, 1, a), (0, 2, b), (1, 2, c), (3, 3, 1.0), (1, 1, 1.0), (0, 3, 0.0)] {
                let scale = errors[i] * errors[j];
                prop_assert!((made.matrix()[i][j] - rho * scale).abs() <= 1e-15 * scale);
                prop_assert_eq!(made.matrix()[i][j], made.matrix()[j][i]);
            }
        } else {
            prop_assert!(builder.build().is_err());
            let factor = shrunk.shrunk_by().unwrap();
            prop_assert!((factor * -smallest - 1.0).abs() < 2e-6, "{factor} {smallest}");
            prop_assert!((shrunk.matrix()[0][1] - factor * a * errors[0] * errors[1]).abs() <= 1e-15);
        }
        prop_assert_eq!(shrunk.measured().unwrap().rank(), 4);
        let row = shrunk.with_exact_position().unwrap();
        prop_assert_eq!((row.dimension(), row.rank()), (6, 4));
        prop_assert_eq!(row.marginal(&[2, 3, 4, 5]).unwrap(), shrunk.measured().unwrap());
    }
}

#[test]
fn what_is_wrong_with_errors_and_correlations_is_named() {
    let good = [0.02, 0.03, 0.025, 1.0];
    for (errors, correlations, message) in [
        ([0.02, -0.03, 0.025, 1.0], [0.0; 3], "`pmra_error`: -0.03 is negative; use 0 for an exact value"),
        ([0.02, 0.03, 0.025, f64::NAN], [0.0; 3], "`radial_velocity_error`: NaN is not a finite number"),
        (
            good,
            [0.0, 1.01, 0.0],
            "`parallax_pmdec_corr`: 1.01 is not a correlation, which is at least -1 and at most 1",
        ),
        (good, [0.0, 0.0, f64::NAN], "`pmra_pmdec_corr`: NaN is not a finite number"),
        // 0.9 * -0.9 -+ (1 - 0.81); all three are as far out, so the first is named.
        (
            good,
            [0.9, 0.9, -0.9],
            "`parallax_pmra_corr`: 0.9 contradicts `parallax_pmdec_corr` 0.9 and `pmra_pmdec_corr` -0.9, \
             with which it must be within -1.000000 and -0.620000; check them, or shrink them",
        ),
        // sqrt(1 - 0.64) sqrt(1 - 0.36) = 0.48 around 0.48; the others are less far out.
        (
            good,
            [0.8, -0.5, 0.6],
            "`parallax_pmdec_corr`: -0.5 contradicts `pmra_pmdec_corr` 0.6 and `parallax_pmra_corr` 0.8",
        ),
    ] {
        let error = GaiaCovariance::new(errors).correlations(correlations).build().unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn exact_values_and_full_correlations_are_allowed() {
    let exact = GaiaCovariance::new([0.02, 0.0, 0.025, 0.0]).correlations([0.9, 0.9, -0.9]).build().unwrap();
    assert_eq!(exact.shrunk_by(), None);
    assert_eq!(exact.measured().unwrap().rank(), 2);
    assert!((exact.matrix()[0][2] - 0.9 * 0.02 * 0.025).abs() < 1e-18 && exact.matrix()[0][1] == 0.0);
    let full = GaiaCovariance::new([0.02, 0.03, 0.025, 1.0]).correlations([1.0, -1.0, -1.0]).build().unwrap();
    assert_eq!(full.measured().unwrap().rank(), 2);
}

/// The paper's own rows give the authors' Jphi, and errors of the paper's model with one magnitude explain
/// both columns.
#[test]
fn the_authors_stars_have_the_papers_rows_and_errors() {
    let Some(folder) = common::data("the_authors_stars_have_the_papers_rows_and_errors") else { return };
    let (catalogue, mut stars, mut beyond_the_dip) = (Catalogue::paper(), 0, 0);
    for seed in 1..=10 {
        let table = goc_tables::read(&folder.join(format!("paper/stars_seed{seed:02}.csv"))).unwrap();
        let number = |name: &str| table.require(name).unwrap().numbers().unwrap();
        let columns =
            ["true_ell_radian", "true_bee_radian", "we_parallax", "we_pml", "we_pmb", "we_HRV"].map(number);
        let [jphi, parallax_error, pml_error, pmb_error, hrv_error] =
            ["we_Jphi", "parallax_error", "pml_error", "pmb_error", "HRV_error"].map(number);
        let rows: Vec<f64> =
            (0..table.rows()).flat_map(|i| columns.iter().map(|c| c[i]).collect::<Vec<_>>()).collect();
        for (i, place) in catalogue.places(&rows).into_iter().enumerate() {
            assert!((place.unwrap().jphi(JphiSign::Paper) - jphi[i]).abs() < 5e-4);
            stars += 1;
            // Errors fall from G = 12 to 13 and rise from there: the parallax's error leaves two magnitudes,
            // of which one must have the proper motion's too.
            let bisected = |mut low: f64, mut high: f64, rising: f64| {
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    let error = ErrorModel::Paper.at(middle).unwrap().parallax;
                    if (error - parallax_error[i]) * rising < 0.0 { low = middle } else { high = middle }
                }
                ErrorModel::Paper.at(low).unwrap()
            };
            let fits = [bisected(12.0, 13.0, -1.0), bisected(13.0, 16.0, 1.0)].map(|errors| {
                (errors.parallax - parallax_error[i]).abs() < 1e-9
                    && (errors.galactic_proper_motion[0] - pml_error[i]).abs() < 1e-8
                    && (errors.galactic_proper_motion[1] - pmb_error[i]).abs() < 1e-8
                    && errors.radial_velocity == Some(hrv_error[i])
            });
            assert!(fits[0] || fits[1], "star {i} of set {seed}: {} {}", parallax_error[i], pml_error[i]);
            beyond_the_dip += usize::from(fits[1] && !fits[0]);
        }
    }
    assert_eq!(stars, 2750);
    assert!(beyond_the_dip > 500, "{beyond_the_dip}");
}

/// 2000 Gaia stars: every covariance is accepted as it is, every row has a place; candidates around them as
/// well.
#[test]
fn real_gaia_stars_pass_from_columns_to_candidates() {
    let Some(folder) = common::data("real_gaia_stars_pass_from_columns_to_candidates") else { return };
    let table = goc_tables::read(&folder.join("real/gaia_halo_2000.csv.gz")).unwrap();
    let number = |name: &str| table.require(name).unwrap().numbers().unwrap();
    let values = ["ra", "dec", "parallax", "pmra", "pmdec", "any_vlos"].map(number);
    let errors = ["parallax_error", "pmra_error", "pmdec_error", "any_vlos_error"].map(number);
    let correlations = ["parallax_pmra_corr", "parallax_pmdec_corr", "pmra_pmdec_corr"].map(number);
    let mut objects = Vec::new();
    for i in 0..table.rows() {
        let covariance = GaiaCovariance::new(std::array::from_fn(|c| errors[c][i]))
            .correlations(std::array::from_fn(|c| correlations[c][i]))
            .build()
            .unwrap();
        let row: [f64; 6] = std::array::from_fn(|c| values[c][i]);
        let covariance = covariance.with_exact_position().unwrap();
        let set = UncertaintySet::ellipsoid(&row, covariance, Size::sigmas(2.0).unwrap()).unwrap();
        objects.push(Object::new(i as u64, set));
    }
    let (candidates, report) = Propagation::new(gaia(0.017))
        .sampler(Sampler::Sobol)
        .draws(16)
        .when_all_rejected(WhenAllRejected::LeaveOut)
        .propagate(&objects)
        .unwrap();
    assert_eq!((candidates.objects(), candidates.features()), (2000, 6));
    assert_eq!(report.reasons().of(Reason::NotPositiveParallax.text()), 2000 * 16 - candidates.total());
}
