//! The parameters of a mock Milky Way, checked once.

use crate::frames::Sun;
use crate::gaia_errors::ErrorModel;

/// How many stars of each dwarf are observed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StarsPerDwarf {
    /// n_k = 1 + (k mod 10), as in the paper: 275 stars of 50 dwarfs.
    OneToTen,
    /// The same number for all.
    Each(usize),
    /// A number for each dwarf.
    List(Vec<usize>),
}

impl StarsPerDwarf {
    /// The number of stars of dwarf `k`.
    pub fn of(&self, k: usize) -> usize {
        match self {
            Self::OneToTen => 1 + k % 10,
            Self::Each(n) => *n,
            Self::List(list) => list.get(k).copied().unwrap_or(0),
        }
    }
}

/// The parameters of the simulation. The defaults are the paper's.
///
/// ```
/// use goc_galaxy::mock::{MockParams, StarsPerDwarf};
/// let params = MockParams { dwarfs: 3, stars: StarsPerDwarf::Each(2), ..MockParams::default() };
/// assert_eq!(params.check()?.total(), 6);
/// assert!(MockParams { dwarfs: 0, ..MockParams::default() }.check().is_err());
/// # Ok::<(), goc_galaxy::mock::MockError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MockParams {
    /// Number of dwarf galaxies.
    pub dwarfs: usize,
    /// Number of stars observed of each.
    pub stars: StarsPerDwarf,
    /// Number of additional field stars: each is the only star of its own dwarf.
    pub field: usize,
    /// Initial positions of the dwarfs: smallest and largest cylindrical radius, kpc.
    pub radius: [f64; 2],
    /// Initial positions of the dwarfs: largest height above or below the plane, kpc.
    pub height: f64,
    /// Standard deviation of each component of a dwarf's velocity, km/s.
    pub speed: f64,
    /// Standard deviation of each component of a star's velocity within its dwarf, km/s.
    pub dispersion: f64,
    /// How long ago the simulation starts, Gyr.
    pub age: f64,
    /// Stars are observed within this distance of the Sun, kpc.
    pub reach: f64,
    /// Stars are observed farther than this from the Galactic plane, degrees of latitude.
    pub latitude: f64,
    /// Range of absolute magnitudes M_G.
    pub magnitudes: [f64; 2],
    /// The model of Gaia's errors.
    pub errors: ErrorModel,
    /// Number of stars of a dwarf that are followed before the dwarf is rejected.
    pub most: usize,
    /// Follow that many stars of every dwarf instead of stopping once enough are near.
    pub full: bool,
    /// Accuracy of the [orbits](crate::orbit). 1e-7 leaves errors of a parsec after 10 Gyr, like
    /// AGAMA at its 1e-8.
    pub accuracy: f64,
    /// The Sun.
    pub sun: Sun,
}

impl Default for MockParams {
    fn default() -> Self {
        Self {
            dwarfs: 50,
            stars: StarsPerDwarf::OneToTen,
            field: 0,
            radius: [8.0, 12.0],
            height: 5.0,
            speed: 100.0,
            dispersion: 5.0,
            age: 10.0,
            reach: 5.0,
            latitude: 20.0,
            magnitudes: [-2.0, 2.0],
            errors: ErrorModel::Paper,
            most: 30_000,
            full: false,
            accuracy: 1e-7,
            sun: Sun::hattori(),
        }
    }
}

/// Why a mock Milky Way cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MockError {
    /// A number that makes no sense.
    #[error("{what} {value} {must}")]
    Number {
        /// Which.
        what: &'static str,
        /// The value found.
        value: f64,
        /// What it must be.
        must: &'static str,
    },
    /// A list whose length differs from the number of dwarfs.
    #[error("{found} numbers of stars for {dwarfs} dwarfs")]
    List {
        /// Dwarfs.
        dwarfs: usize,
        /// Numbers.
        found: usize,
    },
    /// No stars are requested.
    #[error("there are no stars to simulate")]
    NoStars,
    /// Too few stars near the Sun, in every draw of a dwarf.
    #[error(
        "dwarf {dwarf} was drawn {draws} times and never had {wanted} stars in reach; ask for fewer, or a larger reach"
    )]
    TooFew {
        /// The dwarf.
        dwarf: usize,
        /// How often it was drawn.
        draws: usize,
        /// Stars requested of it.
        wanted: usize,
    },
    /// A volume too small for stars to come into it by chance.
    #[error(
        "the volume that is observed has only {volume:.0e} kpc^3, too few stars would come into it; take a larger reach or a lower latitude"
    )]
    TooSmall {
        /// In kpc^3.
        volume: f64,
    },
    /// Stars are too rare in the volume to be found by chance.
    #[error(
        "{near} of {tries} stars of the {population} were in the volume, too few to wait for more; take a larger reach or a lower latitude"
    )]
    TooRare {
        /// How many were in the volume.
        near: usize,
        /// How many were drawn.
        tries: usize,
        /// Dwarf galaxies, halo, merger, disc or globular cluster.
        population: &'static str,
    },
    /// A parameter of the paper's sky given for the realistic one.
    #[error("{what} is for the sky `paper`; the sky `realistic` draws its own, leave it out")]
    PaperOnly {
        /// Which.
        what: &'static str,
    },
    /// A parameter of the realistic sky given for the paper's.
    #[error("{what} is for the sky `realistic`; leave it out")]
    RealisticOnly {
        /// Which.
        what: &'static str,
    },
    /// An orbit could not be followed.
    #[error(transparent)]
    Orbit(#[from] crate::orbit::OrbitError),
    /// A star is too faint for the error model.
    #[error(transparent)]
    Errors(#[from] crate::gaia_errors::ErrorModelError),
    /// The observation failed.
    #[error(transparent)]
    Frame(#[from] crate::frames::FrameError),
}

/// Checked parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidMock(pub(super) MockParams);

/// Returns an error that says what `value` must be, unless it is `good`.
pub(super) fn check_number(
    what: &'static str,
    value: f64,
    good: bool,
    must: &'static str,
) -> Result<(), MockError> {
    if value.is_finite() && good { Ok(()) } else { Err(MockError::Number { what, value, must }) }
}

impl MockParams {
    /// Checks everything.
    pub fn check(self) -> Result<ValidMock, MockError> {
        let number = check_number;
        let positive = "must be positive";
        let [inner, outer] = self.radius;
        number("inner radius", inner, inner >= 0.0, "must not be negative")?;
        number("outer radius", outer, outer >= inner, "must not be below the inner one")?;
        number("height", self.height, self.height >= 0.0, "must not be negative")?;
        number("speed", self.speed, self.speed >= 0.0, "must not be negative")?;
        number("dispersion", self.dispersion, self.dispersion >= 0.0, "must not be negative")?;
        number("age", self.age, (0.0..=100.0).contains(&self.age), "must be from 0 to 100 Gyr")?;
        number("reach", self.reach, self.reach > 0.0, positive)?;
        number(
            "latitude",
            self.latitude,
            (0.0..90.0).contains(&self.latitude),
            "must be from 0 to below 90",
        )?;
        let [bright, faint] = self.magnitudes;
        number("bright end of the magnitudes", bright, true, "must be a number")?;
        number("faint end of the magnitudes", faint, faint >= bright, "must not be below the bright one")?;
        number(
            "accuracy",
            self.accuracy,
            (1e-13..=1e-3).contains(&self.accuracy),
            "must be from 1e-13 to 1e-3",
        )?;
        number(
            "number of stars followed",
            self.most as f64,
            self.most > 0 && self.most < 1 << 20,
            "must be from 1 to 1e6",
        )?;
        let largest = (0..self.dwarfs).map(|k| self.stars.of(k)).max().unwrap_or(0);
        number(
            "number of stars of a dwarf",
            largest as f64,
            largest <= self.most,
            "must not be above the number followed",
        )?;
        if let StarsPerDwarf::List(list) = &self.stars
            && list.len() != self.dwarfs
        {
            return Err(MockError::List { dwarfs: self.dwarfs, found: list.len() });
        }
        let valid = ValidMock(self);
        if valid.total() == 0 { Err(MockError::NoStars) } else { Ok(valid) }
    }
}

impl ValidMock {
    /// Number of stars that will be observed.
    pub fn total(&self) -> usize {
        (0..self.0.dwarfs).map(|k| self.0.stars.of(k)).sum::<usize>() + self.0.field
    }

    /// Number of dwarfs, including those of field stars.
    pub fn all_dwarfs(&self) -> usize {
        self.0.dwarfs + self.0.field
    }

    /// Number of stars requested of a dwarf; field stars come after the others.
    pub(super) fn wanted(&self, dwarf: usize) -> usize {
        if dwarf < self.0.dwarfs { self.0.stars.of(dwarf) } else { 1 }
    }
}
