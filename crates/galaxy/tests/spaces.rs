//! The spaces of stars against astropy, closed forms and integrated orbits.

use std::sync::Arc;

use goc::choice::Choice;
use goc::uncertainty::transform::Transform;
use goc_galaxy::actions::{ActionFinder, Extent, Outcome, Variant};
use goc_galaxy::catalogue::{Catalogue, DistanceMeasure};
use goc_galaxy::frames::{Galactocentric, JphiSign, Sky, Sun};
use goc_galaxy::orbit::Integrator;
use goc_galaxy::potential::{Isochrone, MWPotential2014, McMillan17, Plummer, Potential};
use goc_galaxy::spaces::{Needs, Space, SpaceModel};

/// ra, dec, parallax, pmra, pmdec, radial velocity; heliocentric X, Y, Z (pc), U, V, W (km/s);
/// Galactocentric x, y, z (kpc), vx, vy, vz (km/s).
///
/// Made with astropy 8.0.2 (2026-11-18): `SkyCoord(ra, dec, distance=1 kpc / parallax,
/// pm_ra_cosdec, pm_dec, radial_velocity)`, then `.galactic.cartesian.xyz` and
/// `.galactic.velocity`, and `.transform_to(Galactocentric())` under
/// `galactocentric_frame_defaults.set("v4.0")`.
const ASTROPY: [[[f64; 6]; 3]; 4] = [
    [
        [187.25, 12.39, 0.4, -12.1, 3.4, 85.0],
        [
            142.5367792119478,
            -659.0933554896336,
            2407.338616672213,
            -138.8747151051761,
            -61.47893958798092,
            79.66240922316976,
        ],
        [
            -7.973276051855687,
            -0.6590970240825229,
            2.42776493983096,
            -125.77042055925224,
            184.12107258260838,
            87.7975099410963,
        ],
    ],
    [
        [10.0, -60.0, 0.8, 1.0, -3.0, -20.0],
        [
            395.19637777631624,
            -552.7826005576804,
            -1049.1669168979577,
            -3.8961904820932824,
            -7.201330627788123,
            26.155046889382085,
        ],
        [
            -7.729464156796968,
            -0.5527814271083875,
            -1.0293758016821841,
            9.07075976975993,
            238.39863457879673,
            33.944923011517915,
        ],
    ],
    [
        [266.4, -28.9, 10.0, 5.0, -2.5, 12.5],
        [
            99.99997977500198,
            0.04992281366554552,
            0.03940446499622885,
            12.500926377589543,
            0.2297707074334226,
            -2.635633499080694,
        ],
        [
            -8.021973613000556,
            4.9829735156964317e-05,
            0.020583453035031736,
            25.39413970310429,
            245.82976295032518,
            5.112379171742008,
        ],
    ],
    [
        [56.75, 24.12, 7.36, 19.9, -45.5, 5.6],
        [
            -121.17516898446132,
            28.939040690785706,
            -54.21853094512255,
            -6.711085294739182,
            -28.42000870015379,
            -14.20363933401165,
        ],
        [
            -8.243286884264904,
            0.028939233047241865,
            -0.033108161338189945,
            6.152555727222828,
            217.18001840551676,
            -6.406457367354475,
        ],
    ],
];

/// l, b, parallax, pml, pmb, radial velocity of one star and its X, Y, Z, U, V, W by the same
/// astropy.
const GALACTIC: [[f64; 6]; 2] = [
    [30.0, 40.0, 0.5, 3.0, -2.0, 50.0],
    [
        1326.8278963378768,
        766.0444431189779,
        1285.5752193730784,
        29.504804359671503,
        49.87754951792096,
        17.613736258889492,
    ],
];

fn catalogue(sky: Sky, sun: Sun) -> Catalogue {
    Catalogue::new(sky, DistanceMeasure::Parallax { offset: 0.0 }, sun).unwrap()
}

fn features(f: &dyn Transform, row: &[f64; 6]) -> Vec<f64> {
    let mut x = vec![f64::NAN; f.outputs()];
    f.apply(row, &mut x).unwrap();
    x
}

fn near(found: &[f64], wanted: &[f64], by: f64) {
    assert_eq!(found.len(), wanted.len());
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() <= by, "{found:?} {wanted:?}");
    }
}

#[test]
fn places_and_velocities_are_those_of_astropy() {
    for [row, heliocentric, galactocentric] in &ASTROPY {
        let astropy = catalogue(Sky::Icrs, Sun::astropy_v4_0());
        let of = |model: SpaceModel, catalogue| features(&*model.transform(catalogue, JphiSign::Paper), row);
        near(&of(SpaceModel::Galactocentric, astropy), galactocentric, 2e-11);
        // What is seen from the Sun does not depend on where the Sun is.
        for sun in [Sun::astropy_v4_0(), Sun::hattori()] {
            near(&of(SpaceModel::Xyzuvw, catalogue(Sky::Icrs, sun)), heliocentric, 2e-10);
            near(&of(SpaceModel::Uvw, catalogue(Sky::Icrs, sun)), &heliocentric[3..], 2e-11);
        }
    }
    let f = SpaceModel::Xyzuvw.transform(catalogue(Sky::Galactic, Sun::hattori()), JphiSign::Paper);
    near(&features(&*f, &GALACTIC[0]), &GALACTIC[1], 2e-10);
}

#[test]
fn integrals_of_motion_are_their_closed_forms() {
    let (mass, scale) = (1e11, 3.0);
    let potential: Arc<dyn Potential> = Arc::new(Plummer::new(mass, scale).unwrap());
    for sign in [JphiSign::Paper, JphiSign::ProgradePositive] {
        for [row, _, [x, y, z, vx, vy, vz]] in &ASTROPY {
            let f = SpaceModel::Iom(Arc::clone(&potential));
            let found = features(&*f.transform(catalogue(Sky::Icrs, Sun::astropy_v4_0()), sign), row);
            // -G M / sqrt(r^2 + a^2), r x v.
            let r2 = x * x + y * y + z * z;
            let phi = -goc_galaxy::units::G * mass / (r2 + scale * scale).sqrt();
            let energy = 0.5 * (vx * vx + vy * vy + vz * vz) + phi;
            let l = [y * vz - z * vy, z * vx - x * vz, x * vy - y * vx];
            let lz = if sign == JphiSign::Paper { l[2] } else { -l[2] };
            let wanted = [energy, lz, (l[0] * l[0] + l[1] * l[1]).sqrt()];
            for (a, b) in found.iter().zip(wanted) {
                assert!((a - b).abs() <= 1e-10 * b.abs().max(1.0), "{found:?} {wanted:?}");
            }
        }
    }
}

/// For the Galactocentric stars of [`ASTROPY`] in MWPotential2014 (ro = 8 kpc, vo = 220 km/s): the
/// energy above the potential at R = ro, z = 0, then Lz and Lperp, all in km/s and kpc km/s;
/// eccentricity, pericentre, apocentre and zmax (kpc) of the integrated orbit.
///
/// Made with galpy 1.12.1 (2026-11-19): `Orbit.integrate(linspace(0, 600, 600001), MWPotential2014,
/// method="dop853_c")`, then `e`, `rperi`, `rap` and `zmax`; `L()` and `evaluatePotentials`.
const GALPY: [[f64; 7]; 4] = [
    [
        33186.816280321866,
        -1550.9430485731048,
        640.8399615202688,
        0.43666423774460356,
        5.393978397839584,
        13.756158196521154,
        4.788417395621663,
    ],
    [
        28996.50750634504,
        -1837.6795534756632,
        339.6958746389434,
        0.15217541737855267,
        7.5275850182363016,
        10.229826532538134,
        1.5679182503529692,
    ],
    [
        30685.53734169958,
        -1972.0411370609465,
        41.84113097277876,
        0.15724058790962697,
        7.831918319037399,
        10.754449763429168,
        0.08818503612695397,
    ],
    [
        25071.69197142508,
        -1790.4552474906332,
        53.474770301417315,
        0.021057819657301097,
        7.988835645352795,
        8.332527977075117,
        0.09691631948316293,
    ],
];

#[test]
fn integrals_of_motion_and_orbits_are_those_of_galpy() {
    let potential: Arc<dyn Potential> = Arc::new(MWPotential2014::new());
    let zero = potential.gradient(8.0, 0.0).phi;
    let finder = ActionFinder::new(Arc::clone(&potential), Variant::Converged).unwrap();
    let iom =
        SpaceModel::Iom(potential).transform(catalogue(Sky::Icrs, Sun::astropy_v4_0()), JphiSign::Paper);
    for ([row, _, [x, y, z, vx, vy, vz]], galpy) in ASTROPY.iter().zip(&GALPY) {
        let [energy, lz, l_perp] = features(&*iom, row)[..] else { panic!("three of them") };
        for (a, b) in [energy - zero, lz, l_perp].iter().zip(galpy) {
            assert!((a - b).abs() <= 1e-6 * b.abs(), "{a} {b}");
        }
        let found = extent(&finder, &Galactocentric { position: [*x, *y, *z], velocity: [*vx, *vy, *vz] });
        // The fudge's error, in parts of the apocentre.
        let lengths = [found.pericentre, found.apocentre, found.z_max];
        for (a, b) in lengths.iter().zip(&galpy[4..]) {
            assert!((a - b).abs() <= 0.002 * galpy[5], "{found:?} {galpy:?}");
        }
        assert!((found.eccentricity() - galpy[3]).abs() <= 0.002, "{found:?} {galpy:?}");
    }
}

#[test]
fn energy_and_lz_have_the_bytes_of_the_actions() {
    let finder = Arc::new(ActionFinder::milky_way(Variant::Converged).unwrap());
    let potential: Arc<dyn Potential> = Arc::new(McMillan17::new(Variant::Converged.build()));
    let sun = || catalogue(Sky::Icrs, Sun::hattori());
    let actions = SpaceModel::Actions(Arc::clone(&finder)).transform(sun(), JphiSign::Paper);
    let iom = SpaceModel::Iom(potential).transform(sun(), JphiSign::Paper);
    let orbit = SpaceModel::Orbit(finder).transform(sun(), JphiSign::Paper);
    for [row, ..] in &ASTROPY {
        let (a, i, o) = (features(&*actions, row), features(&*iom, row), features(&*orbit, row));
        assert_eq!([a[3], a[2]], [i[0], i[1]]);
        assert_eq!([a[3], a[2]], [o[0], o[1]]);
    }
}

#[test]
fn an_unbound_star_keeps_its_integrals_and_has_no_orbit() {
    let sphere: Arc<dyn Potential> = Arc::new(Isochrone::new(1e9, 2.0).unwrap());
    let finder = Arc::new(ActionFinder::new(Arc::clone(&sphere), Variant::Converged).unwrap());
    let galactic = || catalogue(Sky::Galactic, Sun::hattori());
    let iom = SpaceModel::Iom(sphere).transform(galactic(), JphiSign::Paper);
    assert!(features(&*iom, &GALACTIC[0])[0] > 0.0);
    let orbit = SpaceModel::Orbit(finder).transform(galactic(), JphiSign::Paper);
    let mut x = [0.0; 7];
    assert_eq!(orbit.apply(&GALACTIC[0], &mut x).unwrap_err().reason(), "unbound");
    // A parallax without a distance has the same reason in every space.
    let mut row = GALACTIC[0];
    row[2] = -0.1;
    for f in [iom, orbit] {
        assert_eq!(f.apply(&row, &mut x[..f.outputs()]).unwrap_err().reason(), "parallax not positive");
    }
}

fn extent(finder: &ActionFinder, star: &Galactocentric) -> Extent {
    let Outcome::Bound(found) = finder.extents(std::slice::from_ref(star))[0] else { panic!("bound") };
    found
}

#[test]
fn in_a_sphere_the_extent_of_an_orbit_is_exact() {
    let sphere = Isochrone::new(1e11, 2.0).unwrap();
    let finder = ActionFinder::new(Arc::new(sphere.clone()), Variant::Converged).unwrap();
    for (position, velocity) in [
        ([-8.0, 0.0, 1.0], [30.0, 150.0, 20.0]),
        ([3.0, 4.0, -2.0], [-60.0, 20.0, 110.0]),
        ([-8.0, 1.0, 0.5], [100.0, -30.0, -40.0]),
    ] {
        let star = Galactocentric { position, velocity };
        let found = extent(&finder, &star);
        let l: f64 = star.angular_momentum().iter().map(|l| l * l).sum::<f64>().sqrt();
        // At both ends the radial velocity is 0: 2 (E - Phi) = L^2 / r^2.
        for r in [found.pericentre, found.apocentre] {
            let kinetic = 2.0 * (found.energy - sphere.value(r, 0.0));
            assert!((kinetic - l * l / (r * r)).abs() < 1e-5 * kinetic, "{star:?} {found:?}");
        }
        // The plane of the orbit is tilted by arccos(|Lz| / L).
        let sin = (1.0 - (found.lz / l).powi(2)).sqrt();
        assert!((found.z_max - found.apocentre * sin).abs() < 1e-6 * found.z_max, "{found:?}");
        let e = (found.apocentre - found.pericentre) / (found.apocentre + found.pericentre);
        assert_eq!(found.eccentricity(), e);
        assert!((0.0..1.0).contains(&e) && found.circularity.abs() < 1.0);
    }
    let speed = sphere.circular_velocity(8.0);
    let round = Galactocentric { position: [-8.0, 0.0, 0.0], velocity: [0.0, speed, 0.0] };
    let found = extent(&finder, &round);
    assert!((found.circularity + 1.0).abs() < 1e-6 && found.eccentricity() < 1e-3 && found.z_max < 1e-3);
    assert!((found.with_sign(JphiSign::ProgradePositive).circularity - 1.0).abs() < 1e-6);
}

#[test]
fn in_the_milky_way_it_is_nearly_that_of_the_integrated_orbit() {
    let finder = ActionFinder::milky_way(Variant::Converged).unwrap();
    let times: Vec<f64> = (0..8000).map(|i| 1e-3 * f64::from(i)).collect(); // 7.8 Gyr
    // Thin disc to halo, a third of them retrograde; angles by the golden ratio.
    let mut errors: [Vec<f64>; 3] = Default::default();
    for i in 0..30 {
        let t = f64::from(i);
        let turn = |k: f64| (k * t * 0.618_033_988_749).fract() * std::f64::consts::TAU;
        let (r, z, random) = (6.0 + 0.15 * t, 0.1 * t * turn(1.0).cos(), 5.0 + 5.0 * t);
        let spin = if i % 3 == 2 && i > 12 { -60.0 } else { 225.0 - 4.0 * t };
        let position = [-r * turn(2.0).cos(), r * turn(2.0).sin(), z];
        let (out, round) = ([-turn(2.0).cos(), turn(2.0).sin()], [turn(2.0).sin(), turn(2.0).cos()]);
        let along = random * turn(3.0).cos();
        let velocity =
            [along * out[0] + spin * round[0], along * out[1] + spin * round[1], random * turn(3.0).sin()];
        let star = Galactocentric { position, velocity };
        let path = Integrator::default().trajectory(finder.potential(), &star, &times).unwrap();
        let radii = path.iter().map(|s| s.position.iter().map(|x| x * x).sum::<f64>().sqrt());
        let (near, far) = radii.fold((f64::INFINITY, 0.0_f64), |(low, high), r| (low.min(r), high.max(r)));
        let high = path.iter().fold(0.0_f64, |high, s| high.max(s.position[2].abs()));
        let found = extent(&finder, &star);
        let pairs = [(found.pericentre, near), (found.apocentre, far), (found.z_max, high)];
        for (errors, (a, b)) in errors.iter_mut().zip(pairs) {
            errors.push((a - b).abs() / far);
        }
    }
    for (errors, [median, largest]) in errors.iter_mut().zip([[0.002, 0.02], [0.002, 0.02], [0.002, 0.15]]) {
        errors.sort_by(f64::total_cmp);
        // Parts of the apocentre: the median, nine of ten, the largest.
        assert!(errors[26] < 0.02, "{errors:?}");
        assert!(errors[15] < median && errors[29] < largest, "{errors:?}");
    }
}

#[test]
fn extents_of_many_have_the_bytes_of_one_by_one() {
    let finder = ActionFinder::milky_way(Variant::Converged).unwrap();
    let star = |i: i32| {
        let t = f64::from(i);
        let position = [-8.0 + 0.3 * t, 0.2 * t, 0.1 * t - 1.0];
        Galactocentric {
            position,
            velocity: [10.0 * t, 200.0 - 9.0 * t, if i == 5 { 2000.0 } else { 5.0 * t }],
        }
    };
    let stars: Vec<_> = (0..19).map(star).collect();
    let together = finder.extents(&stars);
    assert!(matches!(together[5], Outcome::Unbound { .. }));
    for (one, all) in stars.iter().zip(&together) {
        assert_eq!(finder.extents(std::slice::from_ref(one))[0], *all);
    }
}

#[test]
fn every_space_names_what_it_gives_and_builds_only_what_it_needs() {
    for (space, word, about) in Space::ALL {
        assert!(!about.is_empty() && space.features().iter().all(|(name, _)| !name.is_empty()), "{word}");
        let made = SpaceModel::of(*space, || Err("potential"), || Err("finder"));
        match (space.needs(), made) {
            (Needs::Nothing, Ok(model)) => {
                let f = model.transform(catalogue(Sky::Icrs, Sun::hattori()), JphiSign::Paper);
                assert_eq!((f.outputs(), f.extras()), (space.features().len(), space.extras().len()));
            }
            (Needs::Potential, Err(what)) => assert_eq!(what, "potential"),
            (Needs::Finder, Err(what)) => assert_eq!(what, "finder"),
            (needs, _) => panic!("{word}: {needs:?}"),
        }
    }
}
