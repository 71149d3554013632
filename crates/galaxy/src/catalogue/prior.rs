//! Priors on a star's distance.
//!
//! A parallax with a large error says little about the distance, and 1 / parallax is a poor
//! estimate: stars fill a volume, so more of them lie behind the measured distance than in front of
//! it, out to the limit of the survey. Two priors on the distance d are available (Bailer-Jones
//! 2015):
//!
//! ```text
//! volume:R    d^2                up to R kpc, nothing beyond      as many stars everywhere, seen to a limit
//! edsd:L      d^2 exp(-d / L)                                     their density falls with the scale length L kpc
//! ```
//!
//! A density in distance is converted to one in the catalogue's value by the Jacobian of the
//! distance: d^2 for a parallax, d for a distance modulus.

use std::fmt;
use std::str::FromStr;

use goc::uncertainty::transform::Rejection;

use super::{Catalogue, DistanceMeasure, Reason};
use crate::frames::FrameError;

/// The prior distribution of distances.
///
/// ```
/// use goc_galaxy::catalogue::DistancePrior;
/// let halo: DistancePrior = "volume:5".parse()?;
/// assert!(halo.ln_density(4.0) - halo.ln_density(2.0) == 4_f64.ln());
/// assert_eq!(halo.ln_density(5.1), f64::NEG_INFINITY);
/// # Ok::<(), goc_galaxy::frames::FrameError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum DistancePrior {
    /// Uniform space density out to a limit.
    Volume {
        /// The limit, kpc.
        reach: f64,
    },
    /// Exponentially decreasing space density.
    Edsd {
        /// The scale length, kpc.
        length: f64,
    },
}

impl DistancePrior {
    /// The log of the density at a distance in kpc, up to a constant.
    pub fn ln_density(&self, kpc: f64) -> f64 {
        let in_volume = 2.0 * libm::log(kpc);
        match *self {
            Self::Volume { reach } if kpc > reach => f64::NEG_INFINITY,
            Self::Volume { .. } => in_volume,
            Self::Edsd { length } => in_volume - kpc / length,
        }
    }
}

impl Catalogue {
    /// The log of the density of a row, by its third value alone, up to a constant: what
    /// [`Propagation::prior`](goc::uncertainty::Propagation::prior) takes.
    ///
    /// ```
    /// use goc::uncertainty::{Object, Propagation, Sampler, Size, UncertaintySet};
    /// use goc_galaxy::catalogue::{Catalogue, DistancePrior, DistanceMeasure};
    /// use goc_galaxy::frames::{Sky, Sun};
    ///
    /// let gaia = Catalogue::new(Sky::Icrs, DistanceMeasure::Parallax { offset: 0.017 }, Sun::hattori())?;
    /// let row = [187.25, 12.39, 0.15, -12.1, 3.4, 85.0]; // at 6 kpc, by its parallax
    /// let set = UncertaintySet::cuboid(&row, &[0.0, 0.0, 0.05, 0.02, 0.02, 1.0], Size::sigmas(2.0)?)?;
    /// let near = DistancePrior::Volume { reach: 5.0 };
    /// let (candidates, _) = Propagation::new(gaia)
    ///     .sampler(Sampler::Density)
    ///     .prior(|row| gaia.ln_prior(near, row))
    ///     .propagate(&[Object::new(1, set)])?;
    /// let sun = gaia.sun().position();
    /// for j in 0..candidates.count(0) {
    ///     let x = candidates.candidate(0, j);
    ///     let squared: f64 = (0..3).map(|c| (x[c] - sun[c]).powi(2)).sum();
    ///     assert!(squared.sqrt() < 5.0 + 1e-9);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ln_prior(&self, prior: DistancePrior, row: &[f64]) -> Result<f64, Rejection> {
        let depth = row.get(2).ok_or_else(|| Rejection::new(Reason::NotFinite.text()))?;
        let kpc = self.distance(*depth)?.kpc();
        let slope = match self.measure {
            DistanceMeasure::Parallax { .. } => 2.0 * libm::log(kpc),
            DistanceMeasure::Distance => 0.0,
            DistanceMeasure::Modulus => libm::log(kpc),
        };
        match prior.ln_density(kpc) {
            f64::NEG_INFINITY => Err(Rejection::new("beyond the reach of the distance prior")),
            ln => Ok(ln + slope),
        }
    }
}

impl fmt::Display for DistancePrior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Volume { reach } => f.pad(&format!("volume:{reach}")),
            Self::Edsd { length } => f.pad(&format!("edsd:{length}")),
        }
    }
}

impl FromStr for DistancePrior {
    type Err = FrameError;

    fn from_str(text: &str) -> Result<Self, FrameError> {
        let unknown = || FrameError::Name {
            what: "distance prior",
            found: text.to_owned(),
            choices: "`volume:REACH` or `edsd:LENGTH`, with a positive number of kpc",
        };
        let (name, kpc) = text.split_once(':').ok_or_else(unknown)?;
        let kpc: f64 =
            kpc.parse().ok().filter(|kpc: &f64| kpc.is_finite() && *kpc > 0.0).ok_or_else(unknown)?;
        match name {
            "volume" => Ok(Self::Volume { reach: kpc }),
            "edsd" => Ok(Self::Edsd { length: kpc }),
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::{Sky, Sun};
    use goc::uncertainty::transform::Identity;
    use goc::uncertainty::{Object, Propagation, UncertaintySet};

    fn catalogue(measure: DistanceMeasure) -> Catalogue {
        Catalogue::new(Sky::Galactic, measure, Sun::hattori()).unwrap()
    }

    #[test]
    fn words_are_read_back_and_others_refused() {
        for text in ["volume:5", "edsd:1.35"] {
            assert_eq!(text.parse::<DistancePrior>().unwrap().to_string(), text);
        }
        for text in ["volume", "volume:", "volume:0", "volume:-1", "edsd:nan", "edsd:inf", "ggd:1", ""] {
            let error = text.parse::<DistancePrior>().unwrap_err().to_string();
            assert!(error.contains("`volume:REACH` or `edsd:LENGTH`"), "{text}: {error}");
        }
    }

    /// The distances of 40 000 points, uniform in what the catalogue has between `from` and `to`,
    /// taken by the prior.
    fn distances(measure: DistanceMeasure, prior: DistancePrior, from: f64, to: f64) -> Vec<f64> {
        let own = catalogue(measure);
        let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
        let set =
            UncertaintySet::limits(&[0.0, 0.0, middle, 0.0, 0.0, 0.0], &[0.0, 0.0, half, 0.0, 0.0, 0.0]);
        let (made, _) = Propagation::new(Identity::new(6))
            .prior(|row| own.ln_prior(prior, row))
            .draws(40_000)
            .propagate(&[Object::new(1, set.unwrap())])
            .unwrap();
        let mut kpc: Vec<f64> =
            (0..40_000).map(|j| own.distance(made.candidate(0, j)[2]).unwrap().kpc()).collect();
        kpc.sort_by(f64::total_cmp);
        kpc
    }

    /// The largest gap between the sorted values and a distribution function.
    fn gap(sorted: &[f64], distribution: impl Fn(f64) -> f64) -> f64 {
        let n = sorted.len() as f64;
        let at = sorted.iter().enumerate();
        at.map(|(i, kpc)| (distribution(*kpc) - (i as f64 + 0.5) / n).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn whatever_a_catalogue_has_its_distances_come_out_the_same() {
        // From 1 to 4 kpc, so that a value that says nothing leaves the prior as it is.
        let ways = [
            (DistanceMeasure::Parallax { offset: 0.0 }, 0.25, 1.0),
            (DistanceMeasure::Parallax { offset: 0.05 }, 0.2, 0.95),
            (DistanceMeasure::Distance, 1.0, 4.0),
            (DistanceMeasure::Modulus, 10.0, 5.0 * 4_f64.log10() + 10.0),
        ];
        for (measure, from, to) in ways {
            let volume = distances(measure, DistancePrior::Volume { reach: 3.0 }, from, to);
            let cubes = |kpc: f64| (kpc.powi(3) - 1.0) / 26.0;
            assert!(gap(&volume, cubes) < 0.02, "{measure:?}: {}", gap(&volume, cubes));
            let falling = distances(measure, DistancePrior::Edsd { length: 0.8 }, from, to);
            // The integral of d^2 exp(-d / L).
            let below = |d: f64| {
                let (d, l) = (d / 0.8, 0.8_f64);
                -l.powi(3) * (-d).exp() * (d * d + 2.0 * d + 2.0)
            };
            let share = |kpc: f64| (below(kpc) - below(1.0)) / (below(4.0) - below(1.0));
            assert!(gap(&falling, share) < 0.02, "{measure:?}: {}", gap(&falling, share));
        }
    }

    #[test]
    fn a_place_without_a_distance_is_told_from_one_too_far() {
        let own = catalogue(DistanceMeasure::Parallax { offset: 0.0 });
        let why = |parallax: f64| {
            own.ln_prior(DistancePrior::Volume { reach: 5.0 }, &[0.0, 0.0, parallax, 0.0, 0.0, 0.0])
                .unwrap_err()
        };
        assert_eq!(why(0.19).reason(), "beyond the reach of the distance prior");
        assert_eq!(why(-0.1).reason(), "parallax not positive");
        assert!(own.ln_prior(DistancePrior::Volume { reach: 5.0 }, &[0.0, 0.0]).is_err());
    }
}
