//! What holds for every potential: Poisson's equation, force and curvature as derivatives, the same
//! bytes for one point and for eight, numbers at the awkward places; and closed forms, and galpy's
//! numbers, where there are any.

use std::f64::consts::PI;

use goc_galaxy::potential::*;
use goc_galaxy::real::{LANES, Lanes};
use goc_galaxy::units::G;

type Named = (&'static str, Box<dyn Potential>);

/// Potentials that are written as one formula.
fn formulas() -> Vec<Named> {
    vec![
        ("Kepler", Box::new(Kepler::new(1e10).unwrap())),
        ("Plummer", Box::new(Plummer::new(3e10, 0.7).unwrap())),
        ("Isochrone", Box::new(Isochrone::new(2e11, 3.0).unwrap())),
        ("NFW", Box::new(NFW::new(8e11, 16.0).unwrap())),
        ("MiyamotoNagai", Box::new(MiyamotoNagai::new(6e10, 3.0, 0.28).unwrap())),
        ("Logarithmic", Box::new(Logarithmic::new(220.0, 0.5, 0.8).unwrap())),
        ("CutPower", Box::new(CutPower::new(1e9, 1.8, 1.9).unwrap())),
        ("MWPotential2014", Box::new(MWPotential2014::new())),
    ]
}

/// Potentials read off a table.
fn tables() -> Vec<Named> {
    let disc = |zd| Disc::new(9e8, 2.5, 0.0, Layer::Exponential(zd)).unwrap();
    let ring = Disc::new(5e7, 7.0, 4.0, Layer::Isothermal(0.085)).unwrap();
    let bulge =
        Spheroid::new(1e11, 0.075, 0.0, 1.8).unwrap().axis_ratio(0.5).unwrap().cut_off(2.1, 2.0).unwrap();
    vec![
        ("McMillan17 converged", Box::new(McMillan17::new(Build::Converged))),
        ("disc, ring and bulge", Box::new(Expansion::new(vec![disc(0.3), ring], vec![bulge]))),
        ("a disc too thin for the table", Box::new(Expansion::new(vec![disc(0.004)], vec![]))),
    ]
}

/// Places from 30 pc to 100 kpc, none within their own steps of the plane or the axis.
fn places() -> Vec<(f64, f64)> {
    let mut places = Vec::new();
    for r in [0.03, 0.2, 0.9, 2.3, 5.1, 8.2, 14.7, 41.0, 100.0] {
        for angle in [0.03f64, 0.1, -0.4, 0.8, 1.2, 1.5] {
            places.push((r * angle.cos(), r * angle.sin()));
        }
    }
    places
}

/// The derivative of `f` at 0 to eighth order.
fn derivative(step: f64, f: impl Fn(f64) -> f64) -> f64 {
    const WEIGHTS: [f64; 4] = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
    let pair = |(k, w): (usize, &f64)| w * (f((k + 1) as f64 * step) - f(-((k + 1) as f64) * step));
    WEIGHTS.iter().enumerate().map(pair).sum::<f64>() / step
}

/// Largest errors of (force, curvature, Poisson's equation) against differences, relative to their sizes.
fn derivative_errors(potential: &dyn Potential) -> (f64, f64, f64) {
    let mut worst = (0.0f64, 0.0f64, 0.0f64);
    for (r, z) in places() {
        let h = 5e-4 * (r * r + z * z).sqrt();
        let (gradient, c) = (potential.gradient(r, z), potential.curvature(r, z));
        assert_eq!(gradient.phi, potential.value(r, z), "gradient and value must agree at {r}, {z}");
        let size = gradient.d_r.hypot(gradient.d_z);
        let d_r = derivative(h, |s| potential.value(r + s, z));
        let d_z = derivative(h, |s| potential.value(r, z + s));
        // In a core the force is too small a part of the potential for differences to show all its digits.
        let rounding = 1e-15 * gradient.phi.abs() / h;
        worst.0 = worst.0.max(((gradient.d_r - d_r).hypot(gradient.d_z - d_z) - rounding) / size);
        let (rr, rz) = (
            derivative(h, |s| potential.gradient(r + s, z).d_r),
            derivative(h, |s| potential.gradient(r, z + s).d_r),
        );
        let (zr, zz) = (
            derivative(h, |s| potential.gradient(r + s, z).d_z),
            derivative(h, |s| potential.gradient(r, z + s).d_z),
        );
        let bend = c.d_rr.abs() + c.d_rz.abs() + c.d_zz.abs();
        for error in [c.d_rr - rr, c.d_rz - rz, c.d_rz - zr, c.d_zz - zz] {
            worst.1 = worst.1.max(error.abs() / bend);
        }
        let laplacian = c.d_rr + c.d_zz + gradient.d_r / r;
        let error = laplacian - 4.0 * PI * G * potential.density(r, z);
        worst.2 = worst.2.max(error.abs() / bend);
    }
    worst
}

#[test]
fn force_and_curvature_are_derivatives_and_poissons_equation_holds() {
    for (name, potential) in formulas() {
        let (force, curvature, poisson) = derivative_errors(&*potential);
        println!("{name}: force {force:.1e}, curvature {curvature:.1e}, Poisson {poisson:.1e}");
        assert!(force < 1e-10 && curvature < 1e-9 && poisson < 1e-12, "{name}");
    }
    for (name, potential) in tables() {
        let (force, curvature, poisson) = derivative_errors(&*potential);
        println!("{name}: force {force:.1e}, curvature {curvature:.1e}, Poisson {poisson:.1e}");
        // The force is the exact gradient of the table; the curvature is the direct sum's; the
        // multipoles end at degree 96, which shows in the density of a thin disc before anywhere
        // else: most with 4 pc.
        let (most_curvature, most_poisson) = if name.contains("thin") { (5e-5, 5e-3) } else { (1e-5, 5e-4) };
        assert!(force < 1e-9 && curvature < most_curvature && poisson < most_poisson, "{name}");
    }
}

#[test]
fn eight_points_at_once_give_the_bytes_of_single_ones() {
    let mut places = places();
    places.extend([(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1e-9, 0.0), (0.0, -1e7), (1e6, 1e3), (3.0, -1e-12)]);
    for (name, potential) in formulas().into_iter().chain(tables()) {
        for some in places.chunks(LANES) {
            let at = |l: usize| some[l % some.len()];
            let r = Lanes(std::array::from_fn(|l| at(l).0));
            let z = Lanes(std::array::from_fn(|l| at(l).1));
            let (values, gradients) = (potential.values(&r, &z), potential.gradients(&r, &z));
            for l in 0..LANES {
                let one = potential.gradient(r.0[l], z.0[l]);
                let (r, z) = at(l);
                assert_eq!(values.0[l].to_bits(), potential.value(r, z).to_bits(), "{name} at {r}, {z}");
                assert_eq!(gradients.phi.0[l].to_bits(), one.phi.to_bits(), "{name} at {r}, {z}");
                assert_eq!(gradients.d_r.0[l].to_bits(), one.d_r.to_bits(), "{name} at {r}, {z}");
                assert_eq!(gradients.d_z.0[l].to_bits(), one.d_z.to_bits(), "{name} at {r}, {z}");
            }
        }
    }
}

#[test]
fn centre_axis_plane_and_far_away_give_numbers() {
    for (name, potential) in formulas().into_iter().chain(tables()) {
        for (r, z) in [(0.0, 0.0), (0.0, 0.5), (0.0, -30.0), (0.3, 0.0), (1e-40, 0.0), (1e9, 0.0), (0.0, 1e9)]
        {
            let (gradient, c) = (potential.gradient(r, z), potential.curvature(r, z));
            if name == "Kepler" && r * r + z * z == 0.0 {
                assert_eq!(gradient.phi, f64::NEG_INFINITY);
            } else {
                assert!(gradient.phi.is_finite(), "{name} at {r}, {z}: {}", gradient.phi);
            }
            for number in [gradient.d_r, gradient.d_z, c.d_rr, c.d_rz, c.d_zz] {
                assert!(number.is_finite(), "{name} at {r}, {z}: {gradient:?} {c:?}");
            }
            assert!(potential.density(r, z) >= 0.0, "{name} at {r}, {z}");
        }
        let (axis, plane) = (potential.gradient(0.0, 2.0), potential.gradient(2.0, 0.0));
        assert!(axis.d_r.abs() < 1e-7 * axis.d_z.abs(), "{name}: no force across the axis, {axis:?}");
        // The slope along z at the plane itself.
        assert!(plane.d_z.abs() < 1e-7 * plane.d_r.abs(), "{name}: no force across the plane, {plane:?}");
        let (above, below) = (potential.gradient(3.0, 1.0), potential.gradient(3.0, -1.0));
        assert_eq!((above.phi, above.d_r, above.d_z), (below.phi, below.d_r, -below.d_z), "{name}");
    }
}

#[test]
fn a_spheroid_found_by_multipoles_is_the_closed_form() {
    // Hernquist: rho = M a / (2 pi r (r + a)^3), Phi = -G M / (r + a). NFW: its own formula.
    let (mass, a) = (5e10, 1.3);
    let hernquist =
        Expansion::new(vec![], vec![Spheroid::new(mass / (2.0 * PI * a * a * a), a, 1.0, 4.0).unwrap()]);
    let halo =
        Expansion::new(vec![], vec![Spheroid::new(mass / (4.0 * PI * a * a * a), a, 1.0, 3.0).unwrap()]);
    let nfw = NFW::new(mass, a).unwrap();
    for radius in [0.0, 1e-6, 1e-3, 0.05, 0.4, 1.3, 7.0, 60.0, 900.0, 3e4, 1e7] {
        let (r, z) = (0.6 * radius, 0.8 * radius);
        let known = -G * mass / (radius + a);
        assert!((hernquist.value(r, z) / known - 1.0).abs() < 1e-9, "Hernquist at {radius}");
        let (one, other) = (halo.gradient(r, z), nfw.gradient(r, z));
        // Beyond the multipoles' grid (here from 2.6e-5 to 65 000 kpc) the density is taken for a power law.
        let (most, steep) = match radius {
            ..2.6e-5 => (1e-9, 1e-4),
            ..6.5e4 => (1e-9, 1e-7),
            _ => (2e-3, 1e-2),
        };
        assert!((one.phi / other.phi - 1.0).abs() < most, "NFW at {radius}: {} {}", one.phi, other.phi);
        if radius > 0.0 {
            assert!((one.d_r / other.d_r - 1.0).abs() < steep, "NFW at {radius}: {} {}", one.d_r, other.d_r);
        }
    }
    assert!((hernquist.phi0() / (-G * mass / a) - 1.0).abs() < 1e-9);
}

#[test]
fn a_very_thin_disc_turns_as_freemans() {
    // v^2 = 4 pi G Sigma0 Rd y^2 (I0 K0 - I1 K1), y = R / 2 Rd (Freeman 1970); the last factors by mpmath.
    let (sigma, rd) = (5e8, 3.0);
    let disc =
        Expansion::new(vec![Disc::new(sigma, rd, 0.0, Layer::Exponential(1e-3 * rd)).unwrap()], vec![]);
    for (y, factor) in
        [(0.25, 0.068_352_503_149_372_8), (1.0, 0.192_871_324_051_401), (2.0, 0.148_619_888_089_044)]
    {
        let known = (4.0 * PI * G * sigma * rd * factor).sqrt();
        let speed = disc.circular_velocity(2.0 * rd * y);
        assert!((speed / known - 1.0).abs() < 2e-3, "y = {y}: {speed} not {known}");
    }
    assert!(
        (Disc::new(sigma, rd, 0.0, Layer::Exponential(0.3)).unwrap().mass() / (2.0 * PI * sigma * rd * rd)
            - 1.0)
            .abs()
            < 1e-12
    );
}

#[test]
fn circular_velocities_and_masses_are_the_textbooks() {
    let (mass, b, r) = (3e10, 0.7, 2.0);
    let speed = |p: &dyn Potential| p.circular_velocity(r);
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-13, "{a} not {b}");
    let gm = G * mass;
    close(speed(&Kepler::new(mass).unwrap()), (gm / r).sqrt());
    close(speed(&Plummer::new(mass, b).unwrap()), (gm * r * r / (r * r + b * b).powf(1.5)).sqrt());
    let a = (b * b + r * r).sqrt();
    close(speed(&Isochrone::new(mass, b).unwrap()), (gm * r * r / ((b + a) * (b + a) * a)).sqrt());
    let within = (1.0 + r / b).ln() - r / (r + b);
    close(speed(&NFW::new(mass, b).unwrap()), (gm * within / r).sqrt());
    close(speed(&Logarithmic::new(200.0, b, 0.7).unwrap()), 200.0 * r / (r * r + b * b).sqrt());
    // kappa = Omega in a Kepler orbit; kappa^2 = 2 Omega^2 and nu = Omega / q where the rotation
    // curve is flat.
    let (kappa, nu, omega) = Kepler::new(mass).unwrap().epicycle_frequencies(r);
    close(kappa, omega);
    close(nu, omega);
    let (kappa, nu, omega) = Logarithmic::new(200.0, 1e-9, 0.7).unwrap().epicycle_frequencies(r);
    close(kappa, 2f64.sqrt() * omega);
    close(nu, omega / 0.7);
    // A spheroid's whole mass: Hernquist's.
    let one = Spheroid::new(mass / (2.0 * PI * b * b * b), b, 1.0, 4.0).unwrap();
    assert!((one.mass().unwrap() / mass - 1.0).abs() < 1e-9);
    assert!(Spheroid::new(1e7, 20.0, 1.0, 3.0).unwrap().mass().is_err());
}

#[test]
fn galpys_milky_way_is_reproduced() {
    // galpy 1.12.0, MWPotential2014 with ro = 8 kpc, vo = 220 km/s: R, z, then evaluatePotentials, minus
    // evaluateRforces and evaluatezforces, evaluateR2derivs, evaluateRzderivs, evaluatez2derivs and
    // evaluateDensities, in km/s and kpc with G = 1.
    const GALPY: [[f64; 9]; 8] = [
        [
            0.02,
            0.01,
            -183303.94785131127,
            191042.45623947855,
            96410.9953457181,
            -4087160.4104347276,
            -6819646.5727449795,
            6231133.858538842,
            930745.7673350234,
        ],
        [
            0.5,
            0.1,
            -159813.1361275897,
            23816.276230735453,
            12741.51542453271,
            -18297.13957267893,
            -14261.917284537049,
            113151.04866176471,
            11338.712339722186,
        ],
        [
            2.0,
            -1.5,
            -110929.5768019448,
            9533.295500820761,
            -14289.517551494897,
            743.7807622458946,
            4766.763256541973,
            -2540.2273119996366,
            236.3611015309933,
        ],
        [
            8.0,
            0.0,
            -66470.17152750782,
            6050.0,
            0.0,
            -908.8818389718123,
            0.0,
            5617.857142857142,
            434.90881111212803,
        ],
        [
            8.0,
            0.4,
            -66130.65196117328,
            5944.715407859285,
            1381.6024276098294,
            -866.6069111330239,
            -422.16122794233013,
            1491.439960672876,
            108.85581187293515,
        ],
        [
            12.0,
            5.0,
            -42673.59349938762,
            2780.603661009328,
            1451.175441011675,
            -167.23592556072126,
            -216.84053871514215,
            107.82936915648695,
            13.712027174309961,
        ],
        [
            3.0,
            20.0,
            -24417.950489277337,
            253.8826466475474,
            1763.0369602459411,
            80.97095454421535,
            -25.55623155739277,
            -94.78503111430177,
            5.635157078012105,
        ],
        [
            60.0,
            30.0,
            14387.697882787399,
            372.2679288347216,
            188.87412897217845,
            -5.351867898238887,
            -5.883353413354632,
            3.204944260722423,
            0.3228889205627767,
        ],
    ];
    let milky_way = MWPotential2014::new();
    // galpy's zero is elsewhere: compare with the Sun's place.
    let (ours, theirs) = (milky_way.value(8.0, 0.0), GALPY[3][2]);
    for [r, z, phi, d_r, d_z, d_rr, d_rz, d_zz, density] in GALPY {
        let (gradient, c) = (milky_way.gradient(r, z), milky_way.curvature(r, z));
        let pairs = [
            (gradient.phi - ours, phi - theirs, theirs),
            (gradient.d_r, d_r, d_r),
            (gradient.d_z, d_z, d_r),
            (c.d_rr, d_rr, d_zz),
            (c.d_rz, d_rz, d_zz),
            (c.d_zz, d_zz, d_zz),
            (G * milky_way.density(r, z), density, density),
        ];
        for (n, (ours, theirs, size)) in pairs.into_iter().enumerate() {
            assert!((ours - theirs).abs() < 2e-10 * size.abs(), "{r}, {z}, number {n}: {ours} not {theirs}");
        }
    }
    assert!(milky_way.value(1e6, 0.0) < 0.0 && milky_way.value(1e6, 0.0) > -100.0);
}

#[test]
fn impossible_parameters_are_named() {
    let message = |e: PotentialError| e.to_string();
    assert_eq!(
        message(Plummer::new(1e10, -1.0).unwrap_err()),
        "Plummer: scale radius is -1, it must be finite and above 0"
    );
    assert!(
        message(Disc::new(1e9, 2.0, f64::NAN, Layer::Exponential(0.3)).unwrap_err()).contains("hole radius")
    );
    assert!(message(Disc::new(1e9, 2.0, 0.0, Layer::Isothermal(0.0)).unwrap_err()).contains("scale height"));
    assert!(message(Spheroid::new(1e9, 2.0, 2.0, 3.0).unwrap_err()).contains("gamma"));
    assert!(message(CutPower::new(1e9, 2.5, 1.0).unwrap_err()).contains("alpha"));
    assert!(Kepler::new(f64::INFINITY).is_err() && NFW::new(1e12, 0.0).is_err());
    assert!(MiyamotoNagai::new(1e10, -1.0, 0.1).is_err() && Logarithmic::new(0.0, 1.0, 1.0).is_err());
    assert!(Isochrone::new(f64::NAN, 1.0).is_err());
}
