//! The report page: one HTML file with everything in it, that opens from disk and needs no network.
//!
//! Astronomers look before they read: the page draws every star in linked views, with its whole uncertainty
//! set under the pointer, beside the table of clusters, the truth if there is one, and what made the result.
//! [`Page`] is built from plain numbers and text; `html` writes it, the same bytes for the same input.
//! [`input`] checks, `clusters` sums up, `principal` finds the view of two components, `pack` packs the
//! numbers, `html` puts all into the markup, style and script of `assets/page/`.
//!
//! Cost: O(n m q) time, and about `2.7 n m q` bytes for the candidates in the file.

mod clusters;
mod html;
pub mod input;
mod pack;
mod principal;

pub use input::{AngleUnit, Extra, Feature, Page, PageError, SkyFrame, Step};
