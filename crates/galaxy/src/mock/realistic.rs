//! A sky as hard as real ones: groups of all sizes among stars that belong to none.
//!
//! The paper's simulation has dwarfs of 1 to 10 stars, all with the same dispersion, honest errors,
//! and nothing else. This sky contains, in fractions of all stars,
//!
//! - *groups* (40 %): dwarfs that were accreted and dissolved like the [paper's](super), with 3 to
//!   3000 stars near the Sun, log-uniform, and dispersions of 1 to 60 km/s that grow with their
//!   size;
//! - one *merger* (15 %), broad and radial, as the Gaia-Sausage;
//! - *globular clusters* (4 %), a few pc and km/s wide;
//! - the *thick disc* (15 %) and a smooth *halo* (the rest), which are the field.
//!
//! Some stars have larger errors than quoted, some have no radial velocity, and all have a
//! metallicity. The populations are drawn first (the plan); then every star draws from its own
//! streams, so the result does not depend on threads.

use rand::RngExt;

use goc::random::stream;

use super::draw::{Mock, MockStar, OBSERVATION, Wanted, key};
use super::observe::observe;
use super::params::{MockError, MockParams, ValidMock, check_number};
use super::populations::{Law, normal};
use crate::frames::Galactocentric;
use crate::potential::Potential;

/// Fractions of all stars; the halo has the rest.
const GROUPS_SHARE: f64 = 0.40;
const MERGER_SHARE: f64 = 0.15;
const DISC_SHARE: f64 = 0.15;
const GLOBULARS_SHARE: f64 = 0.04;

/// The range of stars in a group, and of their dispersions in km/s: apart from the scatter, the
/// smallest group is the coldest.
const GROUP_STARS: [usize; 2] = [3, 3000];
const GROUP_DISPERSION: [f64; 2] = [1.0, 60.0];
/// Scatter of the natural logarithm of a group's dispersion at a given size.
const DISPERSION_SCATTER: f64 = 0.4;
/// No group has more than this fraction of the stars in groups, so that there are several groups.
const LARGEST_PART: f64 = 1.0 / 3.0;

const GLOBULAR_STARS: [usize; 2] = [20, 60];
/// Standard deviations of each component within a globular cluster: kpc, km/s.
const GLOBULAR_SIZE: [f64; 2] = [0.002, 0.006];
const GLOBULAR_DISPERSION: [f64; 2] = [1.0, 5.0];

/// Mean metallicity of the smallest group, and its increase with each factor of ten in stars.
const GROUP_METALLICITY: [f64; 2] = [-2.5, 0.4];
/// Scatter of groups about that relation, and of stars within a group.
const METALLICITY_SCATTER: f64 = 0.15;
const GROUP_METALLICITY_SPREAD: f64 = 0.1;
/// Mean and scatter of the clusters' metallicities; the stars within one cluster hardly differ.
const GLOBULAR_METALLICITY: [f64; 2] = [-1.4, 0.4];
const GLOBULAR_METALLICITY_SPREAD: f64 = 0.03;
/// Mean and spread among stars.
const MERGER_METALLICITY: [f64; 2] = [-1.2, 0.2];
const DISC_METALLICITY: [f64; 2] = [-0.6, 0.25];
const HALO_METALLICITY: [f64; 2] = [-1.5, 0.5];
/// Standard error of every measured metallicity.
const METALLICITY_ERROR: f64 = 0.1;

/// Fraction of stars whose errors are larger than quoted, and the factor.
const UNDERESTIMATED_SHARE: f64 = 0.2;
const UNDERESTIMATED_FACTOR: [f64; 2] = [1.5, 2.5];

/// The largest number of stars: each has a random stream with a number below 2^20 in its
/// population.
const MOST_STARS: usize = 1_000_000;
/// A group is redrawn when fewer than one in 50 of its stars are near the Sun, but not before this
/// many were followed per star.
const FOLLOWED_PER_STAR: usize = 50;
const FEWEST_FOLLOWED: usize = 2000;

/// Random streams of the catalogue's other columns, after those of the observations.
const DETAIL: usize = 2 * OBSERVATION;
/// The stream of the plan: no dwarf has this number.
const PLAN: usize = (1 << 31) + 1;

/// The component that a star belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Component {
    /// A dissolved dwarf galaxy.
    Group,
    /// The broad radial merger.
    Merger,
    /// A globular cluster.
    Globular,
    /// The thick disc: field.
    Disc,
    /// The smooth halo: field.
    Halo,
}

goc::choice!(Component {
    Group = "group",
    Merger = "merger",
    Globular = "globular",
    Disc = "disc",
    Halo = "halo",
});

impl Component {
    /// Whether its stars belong to no group.
    pub fn is_field(self) -> bool {
        matches!(self, Self::Disc | Self::Halo)
    }
}

/// The parameters of the simulation.
///
/// ```
/// use goc_galaxy::mock::RealisticParams;
/// let valid = RealisticParams { stars: 300, ..RealisticParams::default() }.check()?;
/// assert!(valid.groups(1) > 3);
/// assert!(RealisticParams { without_velocity: 2.0, ..RealisticParams::default() }.check().is_err());
/// # Ok::<(), goc_galaxy::mock::MockError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RealisticParams {
    /// Total number of stars.
    pub stars: usize,
    /// Fraction of stars without a radial velocity.
    pub without_velocity: f64,
    /// Where and when groups start, the volume, the magnitudes and Gaia's errors. The numbers of
    /// dwarfs and of their stars apply only to the paper's sky and must be left at their defaults.
    pub survey: MockParams,
}

impl Default for RealisticParams {
    fn default() -> Self {
        Self { stars: 5000, without_velocity: 0.1, survey: MockParams::default() }
    }
}

/// Checked parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidRealistic {
    stars: usize,
    without_velocity: f64,
    survey: ValidMock,
}

/// What is known about a star in addition to its [`MockStar`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Detail {
    /// The component it belongs to.
    pub component: Component,
    /// The errors of the parallax and proper motions, in units of the quoted ones.
    pub error_factor: f64,
    /// Whether the radial velocity was measured.
    pub has_velocity: bool,
    /// The true \[Fe/H\].
    pub true_metallicity: f64,
    /// The measured one.
    pub metallicity: f64,
    /// Its standard error.
    pub metallicity_error: f64,
}

/// A realistic sky.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RealisticMock {
    /// The stars: groups, the merger, globular clusters, then the field. A field star has its own
    /// group. Stars that were not followed have the same initial and present state.
    pub mock: Mock,
    /// One for each star.
    pub details: Vec<Detail>,
}

/// A planned population of stars with one origin.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Population {
    component: Component,
    stars: usize,
    /// Mean and spread.
    metallicity: [f64; 2],
    origin: Origin,
}

/// How the positions of a population's stars are determined.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    /// Followed from the accretion of a dwarf with this dispersion, km/s.
    Fell { dispersion: f64 },
    /// Drawn at their present positions.
    Drawn(Law),
    /// Drawn around a centre that is itself drawn as a star of the halo.
    Clustered { size: f64, dispersion: f64 },
}

impl RealisticParams {
    /// Checks everything.
    pub fn check(self) -> Result<ValidRealistic, MockError> {
        let (survey, paper) = (&self.survey, MockParams::default());
        for (what, given) in [
            ("dwarfs", survey.dwarfs != paper.dwarfs),
            ("a list of stars", survey.stars != paper.stars),
            ("field", survey.field != paper.field),
            ("dispersion", survey.dispersion != paper.dispersion),
            ("most", survey.most != paper.most),
            ("full", survey.full != paper.full),
        ] {
            if given {
                return Err(MockError::PaperOnly { what });
            }
        }
        if self.stars == 0 {
            return Err(MockError::NoStars);
        }
        let (stars, share) = (self.stars as f64, self.without_velocity);
        check_number("number of stars", stars, self.stars <= MOST_STARS, "must not be above 1000000")?;
        let in_range = (0.0..=1.0).contains(&share);
        check_number("share of stars without velocity", share, in_range, "must be from 0 to 1")?;
        Ok(ValidRealistic { stars: self.stars, without_velocity: share, survey: self.survey.check()? })
    }
}

impl ValidRealistic {
    /// Stars that will be observed.
    pub fn total(&self) -> usize {
        self.stars
    }

    /// The number of groups that will be followed with this seed, as counted by progress.
    pub fn groups(&self, seed: u64) -> usize {
        self.plan(seed).iter().filter(|p| p.component == Component::Group).count()
    }

    /// Runs the simulation with this seed. `progress` is called with the number of completed
    /// groups.
    pub fn draw(
        &self,
        potential: &dyn Potential,
        seed: u64,
        progress: &dyn Fn(usize),
    ) -> Result<RealisticMock, MockError> {
        let plan = self.plan(seed);
        let wanted = plan.iter().enumerate().filter_map(|(number, p)| match p.origin {
            Origin::Fell { dispersion } => {
                Some(Wanted { number, stars: p.stars, dispersion, most: self.most_followed(p.stars) })
            }
            Origin::Drawn(_) | Origin::Clustered { .. } => None,
        });
        let (dwarfs, counts) = self.survey.follow(potential, seed, wanted.collect(), progress)?;
        let mut dwarfs = dwarfs.into_iter();
        let first_field = plan.iter().filter(|p| !p.component.is_field()).count();
        let mut field_stars = 0;
        let (mut stars, mut details) = (Vec::with_capacity(self.stars), Vec::with_capacity(self.stars));
        for (number, population) in plan.iter().enumerate() {
            let (places, draw) = match population.origin {
                Origin::Fell { .. } => {
                    let dwarf = dwarfs.next();
                    let draw = dwarf.as_ref().map_or(0, |dwarf| dwarf.draw);
                    (dwarf.iter().flat_map(|dwarf| dwarf.found()).copied().collect(), draw)
                }
                _ => (self.places(population, potential, seed, number)?, 0),
            };
            let field = population.component.is_field();
            for (s, (start, place)) in places.into_iter().enumerate() {
                let detail = self.detail(population, &mut stream(seed, key(number, draw, DETAIL + s)));
                let mut noise = stream(seed, key(number, draw, OBSERVATION + s));
                let measured = observe(&self.survey.0, &place, detail.error_factor, &mut noise)?;
                let group = if field { first_field + field_stars } else { number };
                field_stars += usize::from(field);
                stars.push(MockStar { group, field, place, start, measured });
                details.push(detail);
            }
        }
        Ok(RealisticMock { mock: Mock { stars, counts }, details })
    }

    /// The populations: those with their own group first, the field last.
    fn plan(&self, seed: u64) -> Vec<Population> {
        let rng = &mut stream(seed, key(PLAN, 0, 0));
        let part = |share: f64| (share * self.stars as f64) as usize;
        let mut plan = Vec::new();
        let in_groups = part(GROUPS_SHARE);
        let largest = (LARGEST_PART * in_groups as f64) as usize;
        for stars in sizes(in_groups, [GROUP_STARS[0], largest.min(GROUP_STARS[1])], rng) {
            let [mean, gain] = GROUP_METALLICITY;
            let factor = stars as f64 / GROUP_STARS[0] as f64;
            let mean = mean + gain * libm::log10(factor) + METALLICITY_SCATTER * normal(rng);
            let origin = Origin::Fell { dispersion: dispersion_of(stars, rng) };
            let metallicity = [mean, GROUP_METALLICITY_SPREAD];
            plan.push(Population { component: Component::Group, stars, metallicity, origin });
        }
        plan.push(Population {
            component: Component::Merger,
            stars: part(MERGER_SHARE),
            metallicity: MERGER_METALLICITY,
            origin: Origin::Drawn(Law::Merger),
        });
        for stars in sizes(part(GLOBULARS_SHARE), GLOBULAR_STARS, rng) {
            let [mean, scatter] = GLOBULAR_METALLICITY;
            let metallicity = [mean + scatter * normal(rng), GLOBULAR_METALLICITY_SPREAD];
            let size = between(GLOBULAR_SIZE, rng);
            let origin = Origin::Clustered { size, dispersion: between(GLOBULAR_DISPERSION, rng) };
            plan.push(Population { component: Component::Globular, stars, metallicity, origin });
        }
        plan.push(Population {
            component: Component::Disc,
            stars: part(DISC_SHARE),
            metallicity: DISC_METALLICITY,
            origin: Origin::Drawn(Law::Disc),
        });
        let planned: usize = plan.iter().map(|p| p.stars).sum();
        plan.push(Population {
            component: Component::Halo,
            stars: self.stars - planned,
            metallicity: HALO_METALLICITY,
            origin: Origin::Drawn(Law::Halo),
        });
        // In a small sky the merger may have no stars; a group without stars gets no number.
        plan.retain(|p| p.stars > 0);
        plan
    }

    /// The positions of a population that is not followed, as both start and end.
    fn places(
        &self,
        population: &Population,
        potential: &dyn Potential,
        seed: u64,
        number: usize,
    ) -> Result<Vec<(Galactocentric, Galactocentric)>, MockError> {
        let law = match population.origin {
            Origin::Drawn(law) => law,
            Origin::Clustered { size, dispersion } => {
                let mut rng = stream(seed, key(number, 0, 0));
                let centre = Law::Halo.draw(&self.survey, potential, &mut rng)?;
                Law::Cluster { centre, size, dispersion }
            }
            Origin::Fell { .. } => return Ok(Vec::new()),
        };
        let place = |s| law.draw(&self.survey, potential, &mut stream(seed, key(number, 0, s + 1)));
        (0..population.stars).map(|s| place(s).map(|place| (place, place))).collect()
    }

    /// The catalogue's other columns for a star. Everything is drawn regardless of the settings, so
    /// a different fraction of velocities leaves the rest unchanged.
    fn detail(&self, population: &Population, rng: &mut goc::Stream) -> Detail {
        let (underestimated, factor) = (rng.random::<f64>(), between(UNDERESTIMATED_FACTOR, rng));
        let velocity: f64 = rng.random();
        let [mean, spread] = population.metallicity;
        let true_metallicity = mean + spread * normal(rng);
        Detail {
            component: population.component,
            error_factor: if underestimated < UNDERESTIMATED_SHARE { factor } else { 1.0 },
            has_velocity: velocity >= self.without_velocity,
            true_metallicity,
            metallicity: true_metallicity + METALLICITY_ERROR * normal(rng),
            metallicity_error: METALLICITY_ERROR,
        }
    }

    /// Number of stars of a group that are followed before it is redrawn: more if the volume, and
    /// so the fraction of near stars, is smaller.
    fn most_followed(&self, stars: usize) -> usize {
        let smaller = MockParams::default().reach / self.survey.0.reach;
        let most = (FOLLOWED_PER_STAR * stars).max(FEWEST_FOLLOWED) as f64 * smaller.powi(3).max(1.0);
        (most as usize).min(OBSERVATION - 1)
    }
}

/// Log-uniform sizes that add up to at most `total`; the remainder is less than the smallest.
fn sizes(total: usize, [smallest, largest]: [usize; 2], rng: &mut goc::Stream) -> Vec<usize> {
    let mut left = total;
    let mut sizes = Vec::new();
    let (from, to) = (smallest as f64, (largest.max(smallest) + 1) as f64);
    while left >= smallest {
        let size = from * libm::pow(to / from, rng.random::<f64>());
        let size = (size as usize).min(left);
        sizes.push(size);
        left -= size;
    }
    sizes
}

/// The dispersion of a group of this many stars, km/s: interpolated from the coldest to the hottest
/// in the logarithm of its size, with scatter.
fn dispersion_of(stars: usize, rng: &mut goc::Stream) -> f64 {
    let [few, many] = GROUP_STARS.map(|stars| stars as f64);
    let [cold, hot] = GROUP_DISPERSION;
    let place = libm::log(stars as f64 / few) / libm::log(many / few);
    let law = cold * libm::pow(hot / cold, place);
    (law * libm::exp(DISPERSION_SCATTER * normal(rng))).clamp(cold, hot)
}

fn between([low, high]: [f64; 2], rng: &mut goc::Stream) -> f64 {
    low + (high - low) * rng.random::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_sky_has_groups_of_3_to_3000_stars_with_1_to_60_km_s() {
        let valid = RealisticParams { stars: 30_000, ..RealisticParams::default() }.check().unwrap();
        let (mut sizes, mut dispersions) = (Vec::new(), Vec::new());
        for seed in 1..=50 {
            let plan = valid.plan(seed);
            assert_eq!(plan.iter().map(|p| p.stars).sum::<usize>(), 30_000);
            for population in plan {
                if let Origin::Fell { dispersion } = population.origin {
                    sizes.push(population.stars);
                    dispersions.push(dispersion);
                }
            }
        }
        assert!(sizes.iter().all(|stars| (3..=3000).contains(stars)));
        assert!(dispersions.iter().all(|dispersion| (1.0..=60.0).contains(dispersion)));
        // Log-uniform: a third in each factor of ten, the last of a sky cut short.
        for from in [3, 30, 300] {
            let part = sizes.iter().filter(|stars| (from..10 * from).contains(*stars)).count();
            let part = part as f64 / sizes.len() as f64;
            assert!((part - 1.0 / 3.0).abs() < 0.06, "{from}: {part}");
        }
        assert!(sizes.iter().any(|stars| *stars > 2500) && dispersions.iter().any(|d| *d > 50.0));
    }
}
