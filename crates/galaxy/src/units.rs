//! Physical constants in kpc, km/s and solar masses.

/// Newton's constant, kpc (km/s)^2 / Msun: IAU 2015 solar mass parameter and parsec.
pub const G: f64 = 4.300_917_270_677_36e-6;

/// Newton's constant as in AGAMA before October 2021 (larger by 7.6e-7), used for the authors'
/// actions.
pub const G_2021: f64 = 4.300_920_553_006_144e-6;

/// Gyr in a unit of time, kpc / (km/s).
pub const GYR_PER_TIME: f64 = 0.977_792_221_680_789;

/// The velocity in km/s of a proper motion of 1 mas/yr at 1 kpc.
pub const KMS_PER_MASYR_KPC: f64 = 4.740_470_464;
