//! Draws dwarfs and their stars, follows them, and keeps those near the Sun.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use goc::random::stream;

use super::observe::{Measurement, observe};
use super::params::{MockError, ValidMock};
use crate::frames::{Galactocentric, Sky};
use crate::orbit::{Integrator, Stop};
use crate::potential::Potential;
use crate::units::GYR_PER_TIME;

/// How often a dwarf may be drawn, and how many stars may be followed for it in total, before the
/// simulation fails.
const MOST_DRAWS: usize = 1000;
const MOST_FOLLOWED: usize = 600_000;
/// A dwarf is still drawn this often if more of its stars are followed than the paper's 30 000.
const FEWEST_DRAWS: usize = 20;

/// A batch of a dwarf's stars has at least this many, unless fewer are left.
const SMALLEST_BATCH: usize = 8;

/// Orbits followed before the total number is estimated, and the most that the requested stars may
/// need: that many take most of an hour.
const JUDGED_FROM: usize = 100_000;
const MOST_ORBITS: usize = 5_000_000;
/// Orbits within which at least one star must have come near, however few are requested.
const FIRST_WITHIN: usize = 300_000;
/// The highest density that stars may be expected to have, as a fraction of all that are followed,
/// per kpc^3. The paper's dwarfs bring a ten-thousandth of it to the Sun. A volume in which even this
/// density leaves too few stars is refused before any work.
const DENSEST: f64 = 1.0;

/// A star near the Sun.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MockStar {
    /// The dwarf it came with, counted from 0: its true group. A field star is the only star of its
    /// dwarf.
    pub group: usize,
    /// Whether it is a field star.
    pub field: bool,
    /// Its present position and velocity.
    pub place: Galactocentric,
    /// Its initial position and velocity.
    pub start: Galactocentric,
    /// What is measured.
    pub measured: Measurement,
}

/// Counts of the work done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Number of orbits that were followed.
    pub orbits: usize,
    /// Number of dwarfs that were redrawn for lack of near stars.
    pub redrawn: usize,
    /// Number of orbits that ended early, counted as not near.
    pub stopped: usize,
}

/// A mock catalogue.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mock {
    /// The stars, ordered by dwarf, with field stars last.
    pub stars: Vec<MockStar>,
    /// Counts of the work done.
    pub counts: Counts,
}

/// The specification of a dwarf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub number: usize,
    /// Number of stars near the Sun.
    pub stars: usize,
    /// Standard deviation of each component of its stars' velocities, km/s.
    pub dispersion: f64,
    /// Number of stars that are followed before the dwarf is redrawn.
    pub most: usize,
}

/// A dwarf that is being filled.
pub(super) struct Dwarf {
    pub wanted: Wanted,
    /// How often it was drawn before this one.
    pub draw: usize,
    start: Galactocentric,
    /// Stars followed so far.
    tried: usize,
    /// The initial and present states of the near stars.
    near: Vec<(Galactocentric, Galactocentric)>,
}

impl Dwarf {
    /// The initial and present states of the required number of stars.
    pub fn found(&self) -> impl Iterator<Item = &(Galactocentric, Galactocentric)> {
        self.near.iter().take(self.wanted.stars)
    }
}

impl ValidMock {
    /// Runs the simulation with this seed. `progress` is called with the number of completed
    /// dwarfs.
    pub fn draw(
        &self,
        potential: &dyn Potential,
        seed: u64,
        progress: &dyn Fn(usize),
    ) -> Result<Mock, MockError> {
        let params = &self.0;
        let wanted = (0..self.all_dwarfs()).map(|k| self.wanted_of(k)).collect();
        let (dwarfs, counts) = self.follow(potential, seed, wanted, progress)?;
        let mut stars = Vec::with_capacity(self.total());
        for dwarf in &dwarfs {
            let group = dwarf.wanted.number;
            for (place_in, (start, place)) in dwarf.found().enumerate() {
                let mut noise = stream(seed, key(group, dwarf.draw, OBSERVATION + place_in));
                let measured = observe(params, place, 1.0, &mut noise)?;
                let field = group >= params.dwarfs;
                stars.push(MockStar { group, field, place: *place, start: *start, measured });
            }
        }
        Ok(Mock { stars, counts })
    }

    /// Draws dwarfs and follows their stars until each has the required number near the Sun.
    pub(super) fn follow(
        &self,
        potential: &dyn Potential,
        seed: u64,
        wanted: Vec<Wanted>,
        progress: &dyn Fn(usize),
    ) -> Result<(Vec<Dwarf>, Counts), MockError> {
        let integrator = Integrator::new(self.0.accuracy)?;
        let time = self.0.age / GYR_PER_TIME;
        let mut counts = Counts::default();
        let mut near = 0;
        let all: usize = wanted.iter().map(|wanted| wanted.stars).sum();
        let volume = self.volume();
        if MOST_ORBITS as f64 * DENSEST * volume < all as f64 {
            return Err(MockError::TooSmall { volume });
        }
        let mut dwarfs: Vec<Dwarf> = wanted.into_iter().map(|wanted| self.dwarf(seed, wanted, 0)).collect();
        loop {
            // All incomplete dwarfs advance together, so the last ones do not leave threads idle.
            let mut batches: Vec<(usize, usize)> =
                (0..dwarfs.len()).filter_map(|k| Some((k, self.batch(&dwarfs[k])?))).collect();
            progress(dwarfs.len() - batches.len());
            if batches.is_empty() {
                return Ok((dwarfs, counts));
            }
            // Batches double; without a limit the last one before the judgement would cost as much
            // as all before it.
            if let Some(left) = JUDGED_FROM.checked_sub(counts.orbits).filter(|left| *left > 0) {
                let most = left.div_ceil(batches.len()).max(SMALLEST_BATCH);
                batches.iter_mut().for_each(|(_, size)| *size = most.min(*size));
            }
            let mut starts = Vec::new();
            for &(k, size) in &batches {
                let dwarf = &dwarfs[k];
                starts.extend((dwarf.tried..dwarf.tried + size).map(|s| self.star(seed, dwarf, s)));
            }
            let orbits = integrator.many(potential, &starts, time)?;
            counts.orbits += orbits.len();
            counts.stopped += orbits.iter().filter(|orbit| orbit.stop != Stop::Reached).count();
            let mut followed = starts.iter().zip(&orbits);
            for (k, size) in batches {
                let dwarf = &mut dwarfs[k];
                for (start, orbit) in followed.by_ref().take(size) {
                    if orbit.stop == Stop::Reached && self.is_near(&orbit.end) {
                        dwarf.near.push((*start, orbit.end));
                        near += 1;
                    }
                }
                dwarf.tried += size;
                let Wanted { number, stars, most, .. } = dwarf.wanted;
                if dwarf.near.len() < stars && dwarf.tried >= most {
                    counts.redrawn += 1;
                    let draw = dwarf.draw + 1;
                    let followed = draw * most;
                    if draw >= MOST_DRAWS || (draw >= FEWEST_DRAWS && followed >= MOST_FOLLOWED) {
                        return Err(MockError::TooFew { dwarf: number, draws: draw, wanted: stars });
                    }
                    *dwarf = self.dwarf(seed, dwarf.wanted, draw);
                }
            }
            // As if the next star were near.
            let expected = counts.orbits / (near + 1) * all;
            let never = near == 0 && counts.orbits >= FIRST_WITHIN;
            if never || counts.orbits >= JUDGED_FROM && expected > MOST_ORBITS {
                let population = "dwarf galaxies";
                return Err(MockError::TooRare { near, tries: counts.orbits, population });
            }
        }
    }

    /// The first `count` stars of a dwarf in their initial state, whether or not they end near the
    /// Sun. Used for pictures of how it dissolves.
    pub fn siblings(&self, seed: u64, dwarf: usize, count: usize) -> Vec<Galactocentric> {
        let dwarf = self.dwarf(seed, self.wanted_of(dwarf), 0);
        (0..count).map(|s| self.star(seed, &dwarf, s)).collect()
    }

    /// The specification of dwarf `number` of the paper's sky.
    fn wanted_of(&self, number: usize) -> Wanted {
        let (stars, dispersion) = (self.wanted(number), self.0.dispersion);
        // Without dispersion all stars are identical: either the first ones are near, or none is.
        let most = if dispersion > 0.0 { self.0.most } else { stars };
        Wanted { number, stars, dispersion, most }
    }

    /// How many more stars of a dwarf to follow; `None` when it is complete.
    fn batch(&self, dwarf: &Dwarf) -> Option<usize> {
        let left = dwarf.wanted.most - dwarf.tried;
        if self.0.full {
            return (left > 0).then_some(left);
        }
        let missing = dwarf.wanted.stars.checked_sub(dwarf.near.len()).filter(|missing| *missing > 0)?;
        // As many as should suffice at the rate so far, but at most as many as were already
        // followed, so that little is wasted.
        let rate = (dwarf.near.len() as f64 + 0.5) / (dwarf.tried as f64 + SMALLEST_BATCH as f64);
        let enough = (missing as f64 / rate).ceil() as usize;
        Some(enough.clamp(SMALLEST_BATCH, dwarf.tried.max(64)).min(left))
    }

    fn dwarf(&self, seed: u64, wanted: Wanted, draw: usize) -> Dwarf {
        let params = &self.0;
        let mut rng = stream(seed, key(wanted.number, draw, 0));
        let [inner, outer] = params.radius;
        let r = inner + (outer - inner) * rng.random::<f64>();
        let z = params.height * (2.0 * rng.random::<f64>() - 1.0);
        let phi = std::f64::consts::TAU * rng.random::<f64>();
        let velocity = std::array::from_fn(|_| {
            let normal: f64 = StandardNormal.sample(&mut rng);
            params.speed * normal
        });
        let start = Galactocentric { position: [r * libm::cos(phi), r * libm::sin(phi), z], velocity };
        Dwarf { wanted, draw, start, tried: 0, near: Vec::new() }
    }

    /// The initial state of star `s` of a dwarf.
    fn star(&self, seed: u64, dwarf: &Dwarf, s: usize) -> Galactocentric {
        let mut rng = stream(seed, key(dwarf.wanted.number, dwarf.draw, s + 1));
        let mut star = dwarf.start;
        for v in &mut star.velocity {
            let normal: f64 = StandardNormal.sample(&mut rng);
            *v += dwarf.wanted.dispersion * normal;
        }
        star
    }

    /// The volume that [`Self::is_near`] accepts, kpc^3: a ball without the layer around the plane.
    fn volume(&self) -> f64 {
        let beyond = 1.0 - libm::sin(self.0.latitude.to_radians());
        4.0 / 3.0 * std::f64::consts::PI * self.0.reach.powi(3) * beyond
    }

    /// Whether a star is within reach of the Sun and, as seen from there, far enough from the
    /// Galactic plane.
    pub(super) fn is_near(&self, star: &Galactocentric) -> bool {
        let sun = self.0.sun.position();
        let [dx, dy, dz] = std::array::from_fn(|c| star.position[c] - sun[c]);
        // Most are far away: one comparison avoids computing their angles.
        dx * dx + dy * dy + dz * dz < self.0.reach * self.0.reach
            && self.0.sun.observe(star, Sky::Galactic).is_ok_and(|seen| {
                seen.distance.kpc() < self.0.reach && seen.position.in_degrees()[1].abs() > self.0.latitude
            })
    }
}

/// Streams of observations come after those of stars.
pub(super) const OBSERVATION: usize = 1 << 20;

/// The random stream of a part of a dwarf's draw.
pub(super) fn key(dwarf: usize, draw: usize, part: usize) -> u64 {
    // 22 bits for the part, 10 for the draw, the rest for the dwarf. Numbers below 2^32 are for the streams
    // that, with the same seed, draw the candidates of the observed stars; so dwarf 0 has another number.
    let number = if dwarf == 0 { 1 << 31 } else { dwarf as u64 };
    (number << 32) | ((draw as u64) << 22) | part as u64
}

#[cfg(test)]
mod tests {
    use super::super::{MockParams, StarsPerDwarf};
    use super::*;
    use crate::gaia_errors::{ErrorModel, Release};
    use crate::potential::{Build, McMillan17};

    /// Few and young, so that a test is quick.
    fn small() -> MockParams {
        MockParams { dwarfs: 4, stars: StarsPerDwarf::Each(3), age: 0.5, most: 400, ..MockParams::default() }
    }

    #[test]
    fn the_shortcut_finds_the_first_near_stars_of_all() {
        let galaxy = McMillan17::new(Build::Agama);
        let short = small().check().unwrap().draw(&galaxy, 3, &|_| {}).unwrap();
        let full = MockParams { full: true, ..small() }.check().unwrap().draw(&galaxy, 3, &|_| {}).unwrap();
        assert_eq!(short.stars, full.stars);
        assert!(short.counts.orbits < full.counts.orbits);
        assert_eq!(short.counts.redrawn, full.counts.redrawn);
        assert_eq!(full.counts.orbits, 400 * (4 + full.counts.redrawn));
    }

    #[test]
    fn stars_are_near_the_sun_and_measured_within_their_errors() {
        let galaxy = McMillan17::new(Build::Agama);
        let params = MockParams { dwarfs: 20, stars: StarsPerDwarf::OneToTen, ..small() };
        let mock = params.check().unwrap().draw(&galaxy, 5, &|_| {}).unwrap();
        assert_eq!(mock.stars.len(), 110);
        let mut squares = [0.0; 4];
        for star in &mock.stars {
            let m = &star.measured;
            assert!(m.truth.distance.kpc() < 5.0 && m.truth.position.in_degrees()[1].abs() > 20.0);
            let [pml, pmb] = m.errors.galactic_proper_motion;
            assert_eq!(m.errors, ErrorModel::Paper.at(m.magnitude).unwrap());
            let off = [
                (m.parallax - m.truth.distance.parallax()) / m.errors.parallax,
                (m.proper_motion[0] - m.truth.proper_motion[0]) / pml,
                (m.proper_motion[1] - m.truth.proper_motion[1]) / pmb,
                (m.radial_velocity - m.truth.radial_velocity) / m.radial_velocity_error,
            ];
            for (sum, off) in squares.iter_mut().zip(off) {
                *sum += off * off;
            }
        }
        // A chi-square with 110 degrees of freedom: 110 +- 14.8; four of its standard deviations.
        assert!(squares.iter().all(|sum| (sum - 110.0).abs() < 60.0), "{squares:?}");
    }

    #[test]
    fn the_start_has_the_law_that_was_asked_for() {
        let params = MockParams { dwarfs: 2000, stars: StarsPerDwarf::Each(1), ..MockParams::default() };
        let valid = params.check().unwrap();
        let dwarfs: Vec<Dwarf> = (0..2000).map(|k| valid.dwarf(1, valid.wanted_of(k), 0)).collect();
        let mean = |f: &dyn Fn(&Dwarf) -> f64| dwarfs.iter().map(f).sum::<f64>() / 2000.0;
        assert!(dwarfs.iter().all(|d| (8.0..12.0).contains(&d.start.radius()) && d.start.z().abs() < 5.0));
        assert!((mean(&|d| d.start.radius()) - 10.0).abs() < 0.1);
        for c in 0..3 {
            assert!((mean(&|d| d.start.velocity[c].powi(2)).sqrt() - 100.0).abs() < 5.0);
        }
        let spread = (0..2000)
            .map(|s| (valid.star(1, &dwarfs[0], s).velocity[1] - dwarfs[0].start.velocity[1]).powi(2))
            .sum::<f64>()
            / 2000.0;
        assert!((spread.sqrt() - 5.0).abs() < 0.3);
    }

    #[test]
    fn siblings_begin_where_the_stars_that_are_found_began() {
        let galaxy = McMillan17::new(Build::Agama);
        // So far that every dwarf is in reach as it is first drawn.
        let valid =
            MockParams { reach: 30.0, latitude: 0.0, errors: ErrorModel::Gaia(Release::Dr3), ..small() }
                .check()
                .unwrap();
        let mock = valid.draw(&galaxy, 3, &|_| {}).unwrap();
        assert_eq!((mock.counts.redrawn, mock.stars.len()), (0, 12));
        for star in &mock.stars {
            assert!(valid.siblings(3, star.group, 400).contains(&star.start));
        }
    }

    #[test]
    fn a_volume_that_hardly_a_star_comes_into_is_an_error_soon() {
        let galaxy = McMillan17::new(Build::Agama);
        let volume = |reach, latitude| MockParams { reach, latitude, age: 0.0, most: 30_000, ..small() };
        for params in [volume(1e-9, 20.0), volume(5.0, 89.999), volume(5.0, 89.9999)] {
            let error = params.check().unwrap().draw(&galaxy, 1, &|_| {}).unwrap_err();
            assert!(matches!(error, MockError::TooSmall { volume: 0.0..1e-7 }), "{error}");
        }
        // Four dwarfs are redrawn from time to time; 400 have enough stars to be judged at once.
        let few = volume(5.0, 89.9).check().unwrap().draw(&galaxy, 1, &|_| {}).unwrap_err();
        assert!(matches!(few, MockError::TooRare { near: 0, tries: ..400_000, .. }), "{few}");
        let more = MockParams { dwarfs: 400, ..volume(5.0, 89.9) };
        let more = more.check().unwrap().draw(&galaxy, 1, &|_| {}).unwrap_err();
        assert!(matches!(more, MockError::TooRare { near: 0, tries: ..110_000, .. }), "{more}");
        // A few come into this one, of some seeds: one dwarf of forty thousand begins within the cone.
        let many = MockParams { dwarfs: 400, dispersion: 0.0, most: 3, ..volume(20.0, 89.2) };
        let valid = many.check().unwrap();
        let found = (1..9).map(|seed| match valid.draw(&galaxy, seed, &|_| {}).unwrap_err() {
            MockError::TooRare { near, tries, .. } if tries < 1_000_000 => near,
            error => panic!("{error}"),
        });
        assert!(found.sum::<usize>() > 0);
    }

    #[test]
    fn a_dwarf_that_never_comes_near_is_an_error_that_names_it() {
        let params = MockParams { reach: 0.01, most: 3, dwarfs: 1, age: 0.0, ..small() };
        let error = params.check().unwrap().draw(&McMillan17::new(Build::Agama), 1, &|_| {}).unwrap_err();
        assert_eq!(
            error.to_string(),
            "dwarf 0 was drawn 1000 times and never had 3 stars in reach; ask for fewer, or a larger reach"
        );
    }
}
