//! From a star catalogue to orbital actions; and a mock Milky Way.
//!
//! The transformation f of the paper's Example 1 and the simulation of its Appendix A. The data
//! flow: [`frames`] turns observations into Galactocentric positions and velocities, [`potential`]
//! describes the Galaxy's gravity, [`actions`] turns position and velocity into (Jr, Jz, Jphi),
//! [`orbit`] follows a star through time, [`spaces`] defines the spaces in which stars are grouped,
//! [`gaia_errors`] models Gaia's measurement errors, and [`mock`] combines all of them.
//!
//! Units everywhere: kpc, km/s, solar masses; so time is in kpc/(km/s) = [`units::GYR_PER_TIME`]
//! Gyr, actions in kpc km/s, energies in (km/s)^2. The crate only computes; it uses neither files
//! nor the terminal.

pub mod actions;
pub mod catalogue;
pub mod frames;
pub mod gaia_errors;
pub mod mock;
pub mod orbit;
pub mod potential;
pub mod real;
pub mod spaces;
pub mod stars;
pub mod units;
