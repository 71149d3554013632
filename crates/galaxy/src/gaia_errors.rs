//! Gaia's measurement errors as a function of brightness.
//!
//! Two families of [`ErrorModel`]:
//!
//! - [`ErrorModel::Paper`], the simulation's (paper, Appendix A): a table for G = 12 to 16, linear between
//!   its entries, constant for brighter stars. Both Galactic proper motions have the error
//!   hypot(pmra error, pmdec error), as in the authors' tables; the radial velocity has an error of
//!   1 km/s. The table ends at G = 16 and so does the model: the errors grow by half with each
//!   magnitude there, so a straight line beyond would be far too optimistic. (The authors' faintest
//!   star has G = 15.4.)
//! - [`ErrorModel::Gaia`], ESA's formula for the errors of a data release averaged over the sky,
//!
//!   ```text
//!   sigma_parallax = T sqrt(40 + 800 z + 30 z^2) microarcseconds,  z = 10^(0.4 (max(G, 13) - 15))
//!   ```
//!
//!   with factors for the proper motions. The two Galactic proper motions get the root mean square
//!   of the errors of pmra and pmdec, the expectation for a rotation by an unknown angle.
//!

use std::fmt;
use std::str::FromStr;

/// A table or formula of Gaia's errors.
///
/// ```
/// use goc_galaxy::gaia_errors::{ErrorModel, Release};
/// let paper = ErrorModel::Paper.at(12.5)?;
/// assert!((paper.parallax - 0.0165).abs() < 1e-15);
/// assert_eq!(paper.radial_velocity, Some(1.0));
/// let dr3 = ErrorModel::Gaia(Release::Dr3).at(15.0)?;
/// assert!((dr3.parallax - 0.0295).abs() < 1e-4);
/// # Ok::<(), goc_galaxy::gaia_errors::ErrorModelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorModel {
    /// The paper's table.
    Paper,
    /// ESA's formula for a data release.
    Gaia(Release),
}

/// A data release of Gaia.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Release {
    /// 34 months of data; the same astrometry as EDR3.
    Dr3,
    /// 60 months, a prediction.
    Dr4,
    /// 120 months, a prediction.
    Dr5,
}

/// Standard errors of one star.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Error of the parallax, mas.
    pub parallax: f64,
    /// Errors of pmra (including cos dec) and pmdec, mas/yr.
    pub icrs_proper_motion: [f64; 2],
    /// Errors of pml (including cos b) and pmb, mas/yr.
    pub galactic_proper_motion: [f64; 2],
    /// Error of the radial velocity, km/s, if the model has one.
    pub radial_velocity: Option<f64>,
}

/// Why there is no error to give.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorModelError {
    /// NaN or infinity.
    #[error("the {what} {value} is not a finite number")]
    NotFinite {
        /// The quantity.
        what: &'static str,
        /// The value found.
        value: f64,
    },
    /// A magnitude fainter than the model covers.
    #[error(
        "the magnitude {magnitude} is fainter than the limit of the errors `{model}` ({limit}); {instead}"
    )]
    TooFaint {
        /// The model.
        model: &'static str,
        /// The magnitude found.
        magnitude: f64,
        /// The faintest magnitude of the model.
        limit: f64,
        /// What to do.
        instead: &'static str,
    },
    /// A name that is not among the choices.
    #[error("{found:?} is not a known model of errors; use `paper`, `gaia-dr3`, `gaia-dr4` or `gaia-dr5`")]
    Name {
        /// What was written.
        found: String,
    },
}

/// G, then the errors of parallax, pmra and pmdec.
const PAPER: [[f64; 4]; 5] = [
    [12.0, 0.018, 0.018, 0.016],
    [13.0, 0.015, 0.016, 0.014],
    [14.0, 0.019, 0.019, 0.017],
    [15.0, 0.027, 0.028, 0.024],
    [16.0, 0.042, 0.044, 0.038],
];

/// The limit of Gaia's catalogue.
const FAINTEST: f64 = 21.0;

impl ErrorModel {
    /// The errors of a star of magnitude G.
    pub fn at(self, g: f64) -> Result<Errors, ErrorModelError> {
        check_finite("magnitude G", g)?;
        match self {
            Self::Paper => paper(g),
            Self::Gaia(release) => release.errors(g),
        }
    }

    /// For metadata and flags; [`FromStr`] reads it back.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Gaia(Release::Dr3) => "gaia-dr3",
            Self::Gaia(Release::Dr4) => "gaia-dr4",
            Self::Gaia(Release::Dr5) => "gaia-dr5",
        }
    }
}

impl fmt::Display for ErrorModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ErrorModel {
    type Err = ErrorModelError;

    fn from_str(text: &str) -> Result<Self, ErrorModelError> {
        [Self::Paper, Self::Gaia(Release::Dr3), Self::Gaia(Release::Dr4), Self::Gaia(Release::Dr5)]
            .into_iter()
            .find(|model| model.name() == text)
            .ok_or_else(|| ErrorModelError::Name { found: text.to_owned() })
    }
}

fn check_finite(what: &'static str, value: f64) -> Result<(), ErrorModelError> {
    if value.is_finite() { Ok(()) } else { Err(ErrorModelError::NotFinite { what, value }) }
}

fn paper(g: f64) -> Result<Errors, ErrorModelError> {
    let [limit, ..] = PAPER[PAPER.len() - 1];
    if g > limit {
        return Err(ErrorModelError::TooFaint {
            model: ErrorModel::Paper.name(),
            magnitude: g,
            limit,
            instead: "use `gaia-dr3`",
        });
    }
    let above = PAPER.iter().position(|row| row[0] >= g).unwrap_or(PAPER.len() - 1);
    let (low, high) = (&PAPER[above.saturating_sub(1)], &PAPER[above]);
    let [parallax, pm1, pm2] = std::array::from_fn(|c| {
        if above == 0 { high[c + 1] } else { low[c + 1] + (high[c + 1] - low[c + 1]) * (g - low[0]) }
    });
    Ok(Errors {
        parallax,
        icrs_proper_motion: [pm1, pm2],
        galactic_proper_motion: [libm::hypot(pm1, pm2); 2],
        radial_velocity: Some(1.0),
    })
}

impl Release {
    /// T of the parallax, and the factors of pmra and pmdec relative to the parallax.
    fn factors(self) -> (f64, [f64; 2]) {
        match self {
            Self::Dr3 => (1.0, [1.03, 0.89]),
            Self::Dr4 => (0.749, [0.58, 0.50]),
            Self::Dr5 => (0.527, [0.29, 0.25]),
        }
    }

    fn errors(self, g: f64) -> Result<Errors, ErrorModelError> {
        if g > FAINTEST {
            return Err(ErrorModelError::TooFaint {
                model: ErrorModel::Gaia(self).name(),
                magnitude: g,
                limit: FAINTEST,
                instead: "Gaia does not see the star",
            });
        }
        let (t, factors) = self.factors();
        let z = libm::exp10(0.4 * (g.max(13.0) - 15.0));
        let parallax = 1e-3 * t * (40.0 + 800.0 * z + 30.0 * z * z).sqrt();
        let [pm1, pm2] = factors.map(|factor| factor * parallax);
        Ok(Errors {
            parallax,
            icrs_proper_motion: [pm1, pm2],
            galactic_proper_motion: [(0.5 * (pm1 * pm1 + pm2 * pm2)).sqrt(); 2],
            radial_velocity: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_table_is_met_at_its_entries_and_linear_between() {
        for row in PAPER {
            let errors = ErrorModel::Paper.at(row[0]).unwrap();
            assert_eq!(
                [errors.parallax, errors.icrs_proper_motion[0], errors.icrs_proper_motion[1]],
                row[1..]
            );
        }
        let errors = ErrorModel::Paper.at(15.25).unwrap();
        assert!((errors.parallax - 0.03075).abs() < 1e-16);
        assert!((errors.galactic_proper_motion[1] - 0.032_f64.hypot(0.0275)).abs() < 1e-16);
        assert_eq!(ErrorModel::Paper.at(-3.0), ErrorModel::Paper.at(12.0));
    }

    /// PyGaia 3.2.2: `parallax_uncertainty`, `proper_motion_uncertainty` (microarcseconds, also per year).
    #[test]
    fn gaias_formula_is_that_of_pygaia() {
        for (release, g, want) in [
            (Release::Dr3, 3.0, [12.943918314264115, 13.33223586369204, 11.520087299695062]),
            (Release::Dr3, 13.0, [12.943918314264115, 13.33223586369204, 11.520087299695062]),
            (Release::Dr3, 14.5, [23.594683526183598, 24.302524031969106, 20.999268338303402]),
            (Release::Dr3, 15.0, [29.49576240750525, 30.38063527973041, 26.251228542679673]),
            (Release::Dr3, 20.7, [1114.3208791669313, 1147.7505055419392, 991.7455824585688]),
            (Release::Dr4, 12.0, [9.694994817383822, 5.6230969940826165, 4.847497408691911]),
            (Release::Dr4, 17.25, [68.18573616014315, 39.54772697288303, 34.092868080071575]),
            (Release::Dr5, 12.0, [6.821444951617189, 1.9782190359689846, 1.7053612379042973]),
            (Release::Dr5, 20.0, [324.88171564432497, 94.21569753685424, 81.22042891108124]),
        ] {
            let errors = ErrorModel::Gaia(release).at(g).unwrap();
            let [pmra, pmdec] = errors.icrs_proper_motion;
            for (got, want) in [errors.parallax, pmra, pmdec].into_iter().zip(want) {
                assert!((got * 1e3 / want - 1.0).abs() < 1e-14, "{release:?} at {g}: {got}, not {want}");
            }
            let [pml, pmb] = errors.galactic_proper_motion;
            assert!((pml * pml + pmb * pmb - pmra * pmra - pmdec * pmdec).abs() < 1e-15 * pmra * pmra);
        }
    }

    #[test]
    fn beyond_a_model_is_an_error_that_says_what_to_do() {
        for (model, g, message) in [
            (
                "paper",
                16.01,
                "the magnitude 16.01 is fainter than the limit of the errors `paper` (16); use `gaia-dr3`",
            ),
            (
                "gaia-dr4",
                21.5,
                "the magnitude 21.5 is fainter than the limit of the errors `gaia-dr4` (21); Gaia does not see",
            ),
            ("gaia-dr5", f64::INFINITY, "the magnitude G inf is not a finite number"),
        ] {
            let model: ErrorModel = model.parse().unwrap();
            let error = model.at(g).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
        assert_eq!(ErrorModel::Gaia(Release::Dr3).to_string().parse(), Ok(ErrorModel::Gaia(Release::Dr3)));
        let error = "dr2".parse::<ErrorModel>().unwrap_err().to_string();
        assert_eq!(
            error,
            "\"dr2\" is not a known model of errors; use `paper`, `gaia-dr3`, `gaia-dr4` or `gaia-dr5`"
        );
    }
}
