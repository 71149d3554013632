//! A mock Milky Way: the simulation of the paper's Appendix A.
//!
//! Small dwarf galaxies fell into the Milky Way ten billion years ago and were torn apart. Each
//! starts at R ~ U(8, 12) kpc, z ~ U(-5, 5) kpc and a random azimuth, with a velocity N(0, (100
//! km/s)^2) in each direction; its stars start at the same position with velocities that differ by
//! N(0, (5 km/s)^2). They orbit as test particles. Of those that are now within 5 kpc of the Sun
//! and more than 20 degrees from the Galactic plane, n_k are observed, with
//! [errors](crate::gaia_errors) that depend on their brightness. This procedure was recovered from
//! the authors' tables.
//!
//! # The exact shortcut
//! The authors followed 30 000 stars of each dwarf and picked n_k of the near ones. Stars are
//! independent draws, so the first n_k near ones of a sequence have the same distribution as n_k
//! picked at random among all near ones: the sequence can end there. A dwarf that has not yielded
//! n_k after 30 000 stars is redrawn, just as it would have been rejected in the original. `full`
//! follows all of them regardless.
//!
//! Star s of dwarf k draws from its own random stream, so the result depends neither on threads nor
//! on the batch size.
//!
//! [`RealisticParams`] makes a harder sky from the same parts: groups of all sizes, a merger, a
//! disc and a halo.

mod draw;
mod observe;
mod params;
mod populations;
mod realistic;

pub use draw::{Counts, Mock, MockStar};
pub use observe::Measurement;
pub use params::{MockError, MockParams, StarsPerDwarf, ValidMock};
pub use realistic::{Component, Detail, RealisticMock, RealisticParams, ValidRealistic};
