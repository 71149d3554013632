//! Presents results: figures as SVG and PNG, and a page that opens from disk.
//!
//! - [`figures`]: one file per figure.
//! - [`page`]: the report, one self-contained HTML file.

pub mod colours;
#[cfg(feature = "figures")]
pub mod figures;
pub mod page;
