//! What a realistic sky promises: who is in it, how they move, what their errors are worth.

use std::sync::OnceLock;

use goc_galaxy::frames::Galactocentric;
use goc_galaxy::mock::{Component, Detail, MockError, MockParams, MockStar, RealisticMock, RealisticParams};
use goc_galaxy::potential::{Build, McMillan17};

/// Young, so that a test is quick.
fn young(stars: usize) -> RealisticParams {
    let survey = MockParams { age: 1.0, ..MockParams::default() };
    RealisticParams { stars, survey, ..RealisticParams::default() }
}

fn draw(params: RealisticParams, seed: u64) -> RealisticMock {
    params.check().unwrap().draw(&McMillan17::new(Build::Agama), seed, &|_| {}).unwrap()
}

/// One of the default size for all tests that only look.
fn sky() -> &'static RealisticMock {
    static SKY: OnceLock<RealisticMock> = OnceLock::new();
    SKY.get_or_init(|| draw(young(5000), 1))
}

fn stars(sky: &RealisticMock) -> impl Iterator<Item = (&MockStar, &Detail)> {
    sky.mock.stars.iter().zip(&sky.details)
}

fn of(component: Component) -> Vec<&'static MockStar> {
    stars(sky()).filter(|(_, detail)| detail.component == component).map(|(star, _)| star).collect()
}

/// The groups of a component, one after the other.
fn groups(component: Component) -> Vec<Vec<&'static MockStar>> {
    let mut groups: Vec<Vec<&MockStar>> = Vec::new();
    for star in of(component) {
        match groups.last_mut() {
            Some(group) if group[0].group == star.group => group.push(star),
            _ => groups.push(vec![star]),
        }
    }
    groups
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn spread(values: &[f64]) -> f64 {
    let mean = mean(values);
    (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64).sqrt()
}

fn spread_of(stars: &[&MockStar], value: impl Fn(&MockStar) -> f64) -> f64 {
    spread(&stars.iter().map(|star| value(star)).collect::<Vec<_>>())
}

/// The root mean square of the three spreads.
fn dispersion(stars: &[&MockStar], place: impl Fn(&MockStar) -> Galactocentric) -> f64 {
    let squares: f64 = (0..3).map(|c| spread_of(stars, |star| place(star).velocity[c]).powi(2)).sum();
    (squares / 3.0).sqrt()
}

#[test]
fn there_are_as_many_stars_as_were_asked_for_and_every_component_has_its_share() {
    let count = |component| of(component).len();
    assert_eq!((sky().mock.stars.len(), sky().details.len()), (5000, 5000));
    assert!((1990..=2000).contains(&count(Component::Group)));
    assert_eq!((count(Component::Merger), count(Component::Disc)), (750, 750));
    assert!((180..=200).contains(&count(Component::Globular)));
    assert!(count(Component::Halo) >= 1300);
    for small in [1, 2, 10, 57] {
        assert_eq!(draw(young(small), 2).mock.stars.len(), small);
    }
}

#[test]
fn groups_are_numbered_from_0_and_field_stars_are_alone() {
    let (mut next, mut field) = (0, 0);
    for component in [Component::Group, Component::Merger, Component::Globular] {
        for group in groups(component) {
            assert!(group.iter().all(|star| star.group == next && !star.field));
            next += 1;
        }
    }
    for star in sky().mock.stars.iter().filter(|star| star.field) {
        assert_eq!(star.group, next + field);
        field += 1;
    }
    assert_eq!(field, of(Component::Disc).len() + of(Component::Halo).len());
    assert_eq!(groups(Component::Merger).len(), 1);
}

#[test]
fn groups_have_sizes_and_dispersions_within_bounds_and_the_larger_are_the_hotter() {
    let groups = groups(Component::Group);
    assert!((8..40).contains(&groups.len()), "{}", groups.len());
    let (mut small, mut large) = (Vec::new(), Vec::new());
    for group in &groups {
        // A third of the 2000 stars in groups, at most.
        assert!((3..=666).contains(&group.len()), "{}", group.len());
        let hot = dispersion(group, |star| star.start);
        if group.len() >= 30 {
            // A tenth beyond the bounds for chance: a spread of thirty stars in three directions.
            assert!((0.9..66.0).contains(&hot), "{} stars: {hot} km/s", group.len());
        }
        if group.len() < 30 { small.push(hot.ln()) } else { large.push(hot.ln()) }
    }
    assert!(mean(&small) + 0.7 < mean(&large), "{small:?} {large:?}");
}

#[test]
fn the_merger_is_radial_and_the_disc_turns() {
    let merger = of(Component::Merger);
    let sigma_r = spread_of(&merger, |star| star.place.v_radial());
    let sigma_phi = spread_of(&merger, |star| star.place.v_azimuthal());
    assert!(sigma_r > 2.0 * sigma_phi && sigma_r > 140.0, "{sigma_r} {sigma_phi}");
    let turning =
        |stars: &[&MockStar]| mean(&stars.iter().map(|star| -star.place.v_azimuthal()).collect::<Vec<_>>());
    assert!(turning(&merger).abs() < 10.0);
    let disc = of(Component::Disc);
    assert!((165.0..205.0).contains(&turning(&disc)), "{}", turning(&disc));
    for (value, wanted) in [
        (spread_of(&disc, |star| star.place.v_radial()), 60.0),
        (spread_of(&disc, |star| star.place.v_azimuthal()), 40.0),
        (spread_of(&disc, |star| star.place.v_z()), 40.0),
    ] {
        assert!((value / wanted - 1.0).abs() < 0.15, "{value} {wanted}");
    }
    let halo = of(Component::Halo);
    assert!(turning(&halo).abs() < 15.0);
    let hot = dispersion(&halo, |star| star.place);
    assert!((135.0..150.0).contains(&hot), "{hot}");
}

#[test]
fn the_disc_is_thin_and_the_halo_falls_off() {
    let heights = |component| {
        let mut heights: Vec<f64> = of(component).iter().map(|star| star.place.z().abs()).collect();
        heights.sort_by(f64::total_cmp);
        heights[heights.len() / 2]
    };
    assert!(heights(Component::Disc) + 0.5 < heights(Component::Halo));
    let inner = |star: &&&MockStar| star.place.radius() < 8.2;
    let halo = of(Component::Halo);
    assert!(halo.iter().filter(inner).count() * 2 > halo.len() + 200);
}

#[test]
fn globular_clusters_are_a_few_pc_and_km_s_wide() {
    let clusters = groups(Component::Globular);
    assert!((3..=10).contains(&clusters.len()));
    for cluster in clusters.iter().filter(|cluster| cluster.len() >= 10) {
        assert!(cluster.len() <= 60);
        let hot = dispersion(cluster, |star| star.place);
        assert!((0.7..7.0).contains(&hot), "{hot}");
        for c in 0..3 {
            let size = spread_of(cluster, |star| star.place.position[c]);
            assert!((0.001..0.010).contains(&size), "{size} kpc");
        }
    }
}

#[test]
fn stars_are_in_the_volume_and_bound() {
    for star in &sky().mock.stars {
        let seen = star.measured.truth;
        assert!(seen.distance.kpc() < 5.0 && seen.position.in_degrees()[1].abs() > 20.0);
        let speed = star.place.velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
        assert!(speed < 700.0, "{speed}");
    }
}

#[test]
fn one_star_in_five_is_off_by_more_than_its_quoted_errors_and_by_the_factor_that_is_told() {
    let large: Vec<(&MockStar, &Detail)> = stars(sky()).filter(|(_, d)| d.error_factor > 1.0).collect();
    assert!((900..1100).contains(&large.len()), "{}", large.len());
    assert!(large.iter().all(|(_, d)| (1.5..2.5).contains(&d.error_factor)));
    let off = |star: &MockStar| {
        let (m, [pml, pmb]) = (&star.measured, star.measured.errors.galactic_proper_motion);
        [
            (m.parallax - m.truth.distance.parallax()) / m.errors.parallax,
            (m.proper_motion[0] - m.truth.proper_motion[0]) / pml,
            (m.proper_motion[1] - m.truth.proper_motion[1]) / pmb,
            (m.radial_velocity - m.truth.radial_velocity) / m.radial_velocity_error,
        ]
    };
    for c in 0..4 {
        let rms = |values: Vec<f64>| mean(&values.iter().map(|v| v * v).collect::<Vec<_>>()).sqrt();
        let honest = stars(sky()).filter(|(_, d)| d.error_factor == 1.0).map(|(s, _)| off(s)[c]).collect();
        let quoted = rms(large.iter().map(|(s, _)| off(s)[c]).collect());
        let told = rms(large.iter().map(|(s, d)| off(s)[c] / d.error_factor).collect());
        assert!((rms(honest) - 1.0).abs() < 0.05);
        if c < 3 {
            assert!((1.8..2.25).contains(&quoted) && (told - 1.0).abs() < 0.1, "{c}: {quoted} {told}");
        } else {
            assert!((quoted - 1.0).abs() < 0.1, "the radial velocity is measured by others: {quoted}");
        }
    }
}

#[test]
fn velocities_are_missing_for_the_share_that_was_asked_for_and_nothing_else_changes() {
    let without = |sky: &RealisticMock| sky.details.iter().filter(|d| !d.has_velocity).count();
    assert!((430..570).contains(&without(sky())), "{}", without(sky()));
    let (all, some) = (draw(RealisticParams { without_velocity: 0.0, ..young(100) }, 4), draw(young(100), 4));
    assert_eq!(without(&all), 0);
    assert_eq!(all.mock, some.mock);
    assert!(all.details.iter().zip(&some.details).all(|(a, b)| a.metallicity == b.metallicity));
}

#[test]
fn metallicities_tell_components_apart_and_are_measured_within_their_errors() {
    let metallicities = |component| -> Vec<f64> {
        let own = stars(sky()).filter(|(_, d)| d.component == component);
        own.map(|(_, d)| d.true_metallicity).collect()
    };
    for (component, wanted, width) in
        [(Component::Halo, -1.5, 0.5), (Component::Disc, -0.6, 0.25), (Component::Merger, -1.2, 0.2)]
    {
        let values = metallicities(component);
        assert!((mean(&values) - wanted).abs() < 0.05, "{component}: {}", mean(&values));
        assert!((spread(&values) / width - 1.0).abs() < 0.1, "{component}: {}", spread(&values));
    }
    let off: Vec<f64> =
        sky().details.iter().map(|d| (d.metallicity - d.true_metallicity) / d.metallicity_error).collect();
    assert!(mean(&off).abs() < 0.05 && (spread(&off) - 1.0).abs() < 0.05);
    for group in groups(Component::Group).iter().filter(|group| group.len() >= 50) {
        let own: Vec<f64> = stars(sky())
            .filter(|(star, _)| star.group == group[0].group)
            .map(|(_, detail)| detail.true_metallicity)
            .collect();
        assert!((0.07..0.13).contains(&spread(&own)), "{}", spread(&own));
    }
}

#[test]
fn threads_do_not_change_the_bytes() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| draw(young(100), 7))
    };
    let one = on(1);
    assert_eq!(one, on(3));
    assert_ne!(one, draw(young(100), 8));
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let survey = |survey: MockParams| RealisticParams { survey, ..young(300) };
    for (params, message) in [
        (young(0), "there are no stars to simulate"),
        (young(2_000_000), "number of stars 2000000 must not be above 1000000"),
        (
            RealisticParams { without_velocity: 1.5, ..young(300) },
            "share of stars without velocity 1.5 must be from 0 to 1",
        ),
        (
            survey(MockParams { dwarfs: 3, ..MockParams::default() }),
            "dwarfs is for the sky `paper`; the sky `realistic` draws its own, leave it out",
        ),
        (survey(MockParams { age: -1.0, ..MockParams::default() }), "age -1 must be from 0 to 100 Gyr"),
    ] {
        assert_eq!(params.check().unwrap_err().to_string(), message);
    }
    // So few that there is no group to follow, so high that no star can be observed.
    let survey = MockParams { latitude: 89.99999, ..MockParams::default() };
    let none = RealisticParams { survey, ..young(5) }.check().unwrap();
    let error = none.draw(&McMillan17::new(Build::Agama), 1, &|_| {}).unwrap_err();
    assert!(matches!(error, MockError::TooRare { population: "halo", .. }), "{error}");
}
