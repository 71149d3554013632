//! A mock Milky Way: the simulation of the paper's Appendix A.
//!
//! Small dwarf galaxies fell into the Milky Way ten billion years ago and were torn apart. Each begins at R
//! ~ U(8, 12) kpc, z ~ U(-5, 5) kpc, any azimuth, with a velocity N(0, (100 km/s)^2) in each direction; its
//! stars begin at the same place with velocities that differ by N(0, (5 km/s)^2). They go round as test
//! particles. Of those that are now within 5 kpc of the Sun and more than 20 degrees from the Galactic
//! plane, n_k are observed, with [errors](crate::gaia_errors) that follow from their brightness. That is
//! how the authors' tables were made, as recovered from them.
//!
//! # The exact shortcut
//! The authors followed 30 000 stars of each dwarf and picked n_k of the near ones. Stars are independent
//! draws, so the first n_k near ones of a sequence have the same law as n_k picked at random among all near
//! ones: the sequence can end there. A dwarf that has not given n_k after 30 000 is drawn anew, as it would
//! have been given up there. `full` follows all of them all the same.
//!
//! Star s of dwarf k draws from a random stream of its own, so neither threads nor the size of a batch
//! change what is found.
//!
//! [`RealisticParams`] makes a harder sky of the same parts: groups of all sizes, a merger, a disc and a halo.

mod draw;
mod observe;
mod params;
mod populations;
mod realistic;

pub use draw::{Counts, Mock, MockStar};
pub use observe::Measurement;
pub use params::{MockError, MockParams, StarsPerDwarf, ValidMock};
pub use realistic::{Component, Detail, RealisticMock, RealisticParams, ValidRealistic};
