//! Uniform means uniform, evenly spread means evenly spread: distribution tests with fixed seeds.
//!
//! A set is `centre + rho A B`. Known of a uniform point of the body B in k directions: in a ball
//! `|u|^k` is uniform, in the cross-polytope `|u|_1^k`, in the cube `max |u|^k`; the second moment
//! of a coordinate is 1/(k+2), 2/((k+1)(k+2)) and 1/3; all are symmetric. The directions are found
//! again with the set itself: for normal shapes `surprise` is half the squared norm.

use super::coverage::{covariance, shapes};
use goc::Points;
use goc::random::stream;
use goc::uncertainty::{Sampler, Size, UncertaintySet};

const DIMENSIONS: [usize; 4] = [1, 2, 3, 6];

/// Largest distance between the empirical distribution and the uniform one on (0, 1).
fn kolmogorov(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    values.iter().enumerate().fold(0.0_f64, |worst, (i, v)| {
        worst.max((v - i as f64 / n).abs()).max(((i + 1) as f64 / n - v).abs())
    })
}

/// The norm of the body at each point, to the power k: uniform on (0, 1) when the points are uniform.
fn depths(name: &str, set: &UncertaintySet, points: &Points) -> Vec<f64> {
    let k = set.rank() as i32;
    points
        .rows()
        .map(|z| {
            let norm = match name {
                "box" => (0..z.len())
                    .map(|c| (z[c] - set.centre()[c]).abs() / set.half_width(c))
                    .fold(0.0, f64::max),
                "l1 ball" => set.surprise(z) / set.rho(),
                _ => (2.0 * set.surprise(z)).sqrt() / set.rho(),
            };
            norm.powi(k)
        })
        .collect()
}

#[test]
fn uniform_and_sobol_points_fill_every_set_evenly_from_centre_to_edge() {
    let n = 20_000;
    for sampler in [Sampler::Uniform, Sampler::Sobol] {
        for d in DIMENSIONS {
            for (name, set) in shapes(d, Size::sigmas(2.0).unwrap()) {
                let points = sampler.points(&set, n, &mut stream(7, d as u64)).unwrap();
                assert!(points.rows().all(|z| set.contains(z)), "{sampler:?} {name} {d}");
                // Kolmogorov's 0.1 % point is 1.95 / sqrt(n).
                let distance = kolmogorov(depths(name, &set, &points));
                assert!(distance < 1.95 / (n as f64).sqrt(), "{sampler:?} {name} {d}: {distance}");
            }
        }
    }
}

#[test]
fn moments_are_those_of_the_uniform_distribution() {
    let n = 20_000;
    for sampler in [Sampler::Uniform, Sampler::Sobol] {
        for d in DIMENSIONS {
            for (name, set) in shapes(d, Size::sigmas(2.0).unwrap()) {
                let points = sampler.points(&set, n, &mut stream(8, d as u64)).unwrap();
                let k = d as f64;
                // Second and fourth moment of one direction: for the spread, and for the error of
                // its estimate.
                let (second, fourth) = match name {
                    "box" => (1.0 / 3.0, 1.0 / 5.0),
                    "l1 ball" => (
                        2.0 / ((k + 1.0) * (k + 2.0)),
                        24.0 / ((k + 1.0) * (k + 2.0) * (k + 3.0) * (k + 4.0)),
                    ),
                    _ => (1.0 / (k + 2.0), 3.0 / ((k + 2.0) * (k + 4.0))),
                };
                for c in 0..d {
                    let scaled: Vec<f64> =
                        points.rows().map(|z| (z[c] - set.centre()[c]) / set.half_width(c)).collect();
                    let mean = scaled.iter().sum::<f64>() / n as f64;
                    let square = scaled.iter().map(|u| u * u).sum::<f64>() / n as f64;
                    let error = (second / n as f64).sqrt();
                    assert!(mean.abs() < 4.5 * error, "{sampler:?} {name} {d} {c}: mean {mean}");
                    let error = ((fourth - second * second) / n as f64).sqrt();
                    assert!(
                        (square - second).abs() < 4.5 * error,
                        "{sampler:?} {name} {d} {c}: {square} {second}"
                    );
                }
            }
        }
    }
}

#[test]
fn directions_in_a_ball_and_a_cross_are_even() {
    let n = 20_000;
    for sampler in [Sampler::Uniform, Sampler::Sobol] {
        for (name, set) in shapes(2, Size::sigmas(2.0).unwrap()) {
            let points = sampler.points(&set, n, &mut stream(9, 0)).unwrap();
            let turned = points.rows().map(|z| {
                let u = [0, 1].map(|c| (z[c] - set.centre()[c]) / set.half_width(c));
                match name {
                    "ball" => u[1].atan2(u[0]) / std::f64::consts::TAU,
                    // Along one edge of the diamond the share of one coordinate is even.
                    "l1 ball" => {
                        let share = u[0].abs() / (u[0].abs() + u[1].abs());
                        let quarter =
                            f64::from(u8::from(u[0] < 0.0)) * 0.5 + f64::from(u8::from(u[1] < 0.0)) * 0.25;
                        quarter + 0.25 * share
                    }
                    _ => 0.5 + 0.5 * u[0],
                }
            });
            if name == "ellipsoid" {
                continue; // an affine image of the ball: its moments are tested with the covariance below
            }
            let distance = kolmogorov(turned.map(|t| t.rem_euclid(1.0)).collect());
            assert!(distance < 1.95 / (n as f64).sqrt(), "{sampler:?} {name}: {distance}");
        }
    }
}

#[test]
fn an_ellipsoid_has_the_correlations_of_its_covariance() {
    let (n, d) = (40_000, 6);
    let set = UncertaintySet::ellipsoid(&[0.0; 6], covariance(d), Size::sigmas(1.5).unwrap()).unwrap();
    for (sampler, factor) in [
        (Sampler::Uniform, 1.5 * 1.5 / (d as f64 + 2.0)),
        (Sampler::Sobol, 1.5 * 1.5 / (d as f64 + 2.0)),
        (Sampler::Density, 1.0),
    ] {
        let points = sampler.points(&set, n, &mut stream(10, 0)).unwrap();
        let matrix = covariance(d);
        for i in 0..d {
            for j in 0..=i {
                let got = points.rows().map(|z| z[i] * z[j]).sum::<f64>() / n as f64;
                let scale = (matrix.variance(i) * matrix.variance(j)).sqrt() * factor;
                let want = matrix.matrix()[i * d + j] * factor;
                // A product of two such coordinates has a standard deviation below 1.5 scale.
                assert!(
                    (got - want).abs() < 4.5 * 1.5 * scale / (n as f64).sqrt(),
                    "{sampler:?} {i} {j}: {got} {want}"
                );
            }
        }
    }
}

#[test]
fn draws_from_the_density_have_its_distribution() {
    let n = 20_000;
    let (normal, laplace) = (
        |x: f64| 0.5 * erfc(-x / 2.0_f64.sqrt()),
        |x: f64| {
            if x < 0.0 { 0.5 * x.exp() } else { 1.0 - 0.5 * (-x).exp() }
        },
    );
    for (name, set) in shapes(3, Size::sigmas(1.0).unwrap()) {
        let points = Sampler::Density.points(&set, n, &mut stream(11, 0)).unwrap();
        for c in 0..3 {
            let levels = points.rows().map(|z| {
                let x = (z[c] - set.centre()[c]) / set.half_width(c);
                if name == "l1 ball" { laplace(x) } else { normal(x) }
            });
            let distance = kolmogorov(levels.collect());
            assert!(distance < 1.95 / (n as f64).sqrt(), "{name} {c}: {distance}");
        }
    }
    let limits = UncertaintySet::limits(&[1.0, 2.0], &[0.5, 0.0]).unwrap();
    let points = Sampler::Density.points(&limits, n, &mut stream(11, 1)).unwrap();
    assert!(points.rows().all(|z| limits.contains(z)));
    assert!(kolmogorov(points.rows().map(|z| z[0] - 0.5).collect()) < 1.95 / (n as f64).sqrt());
}

/// The complementary error function, by its continued fraction and series: independent of what the
/// sampler uses.
fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x < 2.0 {
        let (mut term, mut sum) = (x, x);
        for n in 1..100 {
            term *= -x * x / n as f64;
            sum += term / (2 * n + 1) as f64;
        }
        return 1.0 - 2.0 / std::f64::consts::PI.sqrt() * sum;
    }
    let mut fraction = 0.0;
    for n in (1..100).rev() {
        fraction = 0.5 * n as f64 / (x + fraction);
    }
    (-x * x).exp() / std::f64::consts::PI.sqrt() / (x + fraction)
}

/// Warnock's closed form of the L2 star discrepancy of points in the unit cube.
fn discrepancy(points: &[Vec<f64>]) -> f64 {
    let (n, d) = (points.len() as f64, points[0].len() as i32);
    let single: f64 = points.iter().map(|p| p.iter().map(|x| (1.0 - x * x) / 2.0).product::<f64>()).sum();
    let mut double = 0.0;
    for p in points {
        for r in points {
            double += p.iter().zip(r).map(|(x, y)| 1.0 - x.max(*y)).product::<f64>();
        }
    }
    (3.0_f64.powi(-d) - 2.0 / n * single + double / (n * n)).sqrt()
}

#[test]
fn sobol_points_are_spread_more_evenly_than_independent_ones() {
    for (d, m) in [(2, 101), (2, 256), (6, 256)] {
        let set = UncertaintySet::limits(&vec![0.5; d], &vec![0.5; d]).unwrap();
        let of = |sampler: Sampler, key| {
            let points = sampler.points(&set, m, &mut stream(12, key)).unwrap();
            discrepancy(&points.rows().map(<[f64]>::to_vec).collect::<Vec<_>>())
        };
        let worst_sobol = (0..10).map(|key| of(Sampler::Sobol, key)).fold(0.0, f64::max);
        let best_uniform = (0..10).map(|key| of(Sampler::Uniform, key)).fold(1.0, f64::min);
        println!("d {d} m {m}: Sobol at most {worst_sobol:.5}, independent at least {best_uniform:.5}");
        assert!(worst_sobol < best_uniform, "{d} {m}: {worst_sobol} {best_uniform}");
    }
}

#[test]
fn sobol_points_stay_even_in_a_ball_an_l1_ball_and_an_ellipsoid() {
    // The volume below a plane through the set, estimated by 256 points: errors over 20 keys.
    for d in [2, 3] {
        for (name, set) in shapes(d, Size::sigmas(2.0).unwrap()) {
            let spread_of = |sampler: Sampler| {
                let errors = (0..20).map(|key| {
                    let points = sampler.points(&set, 256, &mut stream(13, key)).unwrap();
                    // By symmetry half the set lies on either side.
                    let below = points.rows().filter(|z| {
                        (0..d)
                            .map(|c| (z[c] - set.centre()[c]) / set.half_width(c) * [1.0, 0.7, -0.4][c])
                            .sum::<f64>()
                            < 0.0
                    });
                    (below.count() as f64 / 256.0 - 0.5).powi(2)
                });
                (errors.sum::<f64>() / 20.0).sqrt()
            };
            let (sobol, uniform) = (spread_of(Sampler::Sobol), spread_of(Sampler::Uniform));
            println!("{name} {d}: {sobol:.4} {uniform:.4}");
            assert!(sobol < 0.6 * uniform, "{name} {d}: {sobol} {uniform}");
        }
    }
}

#[test]
fn grid_slices_are_uniform_over_what_is_left_of_the_set() {
    // At step t of a ball in 3 directions the other two fill a disc of radius sqrt(1 - t^2); of a
    // cross-polytope, a diamond of size 1 - |t|; of a box, a square. The depth squared is uniform.
    let n = 20_001;
    for (name, set) in shapes(3, Size::sigmas(2.0).unwrap()) {
        for coordinate in 0..3 {
            let points = Sampler::Grid { coordinate }.points(&set, n, &mut stream(14, 0)).unwrap();
            let mut levels = Vec::new();
            for z in points.rows() {
                assert!(set.contains(z), "{name} {coordinate} {z:?}");
                let u: Vec<f64> = (0..3).map(|c| (z[c] - set.centre()[c]) / set.half_width(c)).collect();
                let t = u[coordinate];
                let others = (0..3).filter(|c| *c != coordinate).map(|c| u[c].abs());
                if t.abs() > 0.999 {
                    continue; // the slice shrinks to a point: its depth is all rounding
                }
                levels.push(match name {
                    "box" => others.fold(0.0, f64::max).powi(2),
                    "l1 ball" => (others.sum::<f64>() / (1.0 - t.abs())).powi(2),
                    _ => (2.0 * set.surprise(z) / set.rho().powi(2) - t * t) / (1.0 - t * t),
                });
            }
            let distance = kolmogorov(levels);
            assert!(distance < 1.95 / (n as f64).sqrt(), "{name} {coordinate}: {distance}");
        }
    }
}
