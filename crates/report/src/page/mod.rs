//! The report page: one self-contained HTML file that opens from disk and needs no network.
//!
//! The page draws every star in linked views, with the full uncertainty set of the star under the
//! pointer, beside the table of clusters, the truth if there is one, and the settings behind the
//! result. [`Page`] is built from plain numbers and text; `html` writes it, the same bytes for the
//! same input. [`input`] checks, `clusters` sums up, `principal` computes the view of two
//! components, `pack` packs the numbers, and `html` inserts everything into the markup, style and
//! script of `assets/page/`.
//!
//! Cost: O(n m q) time, and about `2.7 n m q` bytes for the candidates in the file.

mod clusters;
mod html;
pub mod input;
mod pack;
mod principal;

pub use input::{AngleUnit, Extra, Feature, Page, PageError, SkyFrame, Step};
