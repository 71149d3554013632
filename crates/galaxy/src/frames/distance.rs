//! Distance, parallax and distance modulus: three ways to express one quantity.
//!
//! d = 1 / parallax (kpc and mas), as in the paper; no prior, no correction. DM = 5 log10(d / 10 pc).

use super::{FrameError, check_finite};

/// A positive finite distance.
///
/// ```
/// use goc_galaxy::frames::Distance;
/// let d = Distance::from_parallax(0.5)?;
/// assert_eq!(d.kpc(), 2.0);
/// assert!((d.modulus() - 11.505149978319906).abs() < 1e-14);
/// assert!(Distance::from_parallax(-0.1).is_err());
/// # Ok::<(), goc_galaxy::frames::FrameError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Distance(f64);

impl Distance {
    /// From kpc.
    pub fn from_kpc(kpc: f64) -> Result<Self, FrameError> {
        check_finite("distance", kpc)?;
        if kpc > 0.0 { Ok(Self(kpc)) } else { Err(FrameError::NotPositiveDistance { value: kpc }) }
    }

    /// From a parallax in mas: its inverse.
    pub fn from_parallax(mas: f64) -> Result<Self, FrameError> {
        check_finite("parallax", mas)?;
        if mas <= 0.0 {
            return Err(FrameError::NotPositiveParallax { value: mas });
        }
        Self::in_range(1.0 / mas, "parallax", mas)
    }

    /// From a distance modulus in magnitudes, without extinction.
    pub fn from_modulus(magnitudes: f64) -> Result<Self, FrameError> {
        check_finite("distance modulus", magnitudes)?;
        Self::in_range(libm::exp10((magnitudes - 10.0) / 5.0), "distance modulus", magnitudes)
    }

    fn in_range(kpc: f64, what: &'static str, value: f64) -> Result<Self, FrameError> {
        if kpc.is_finite() && kpc > 0.0 {
            Ok(Self(kpc))
        } else {
            Err(FrameError::DistanceRange { what, value })
        }
    }

    /// In kpc.
    pub fn kpc(self) -> f64 {
        self.0
    }

    /// As a parallax, mas.
    pub fn parallax(self) -> f64 {
        1.0 / self.0
    }

    /// As a distance modulus, magnitudes.
    pub fn modulus(self) -> f64 {
        5.0 * libm::log10(self.0) + 10.0
    }
}
