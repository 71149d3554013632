//! The figures: one file per figure, each from plain numbers to a drawing that can be saved as SVG
//! or PNG.
//!
//! A [`Figure`] is SVG text. It is written by a thin layer of its own: general plotting libraries
//! place marks on whole pixels and write one element per dot, which for 275 x 101 candidates is
//! megabytes; and they guess the width of text, so labels collide. Here coordinates keep hundredths
//! of a unit, a cloud is one path, and text is measured in the font that draws it.
//!
//! Every figure is [`WIDTH`] units wide and no letter is smaller than [`FONT`] of them: drawn 400
//! px wide it has letters of 11 px, and on a wall they grow with it. The PNG is drawn from the SVG
//! by resvg with a font that is part of the program, so that the same numbers give the same bytes
//! on any machine.
//!
//! | figure | shows |
//! |---|---|
//! | [`clusters()`] | clusters over the uncertainty sets, circles around them (the paper's Figure 1) |
//! | [`truth()`] | the sets of chosen true groups in colour (the paper's data-set figures) |
//! | [`convergence()`] | eta1, eta2, eta3 by iteration (Experiment 3) |
//! | [`history()`] | objective, changes and K by iteration |
//! | [`simulation()`] | positions, velocities and actions of two dwarfs at three times (Appendix A) |
//! | [`bars()`], [`scaling()`] | benches: bars by name, lines by size |
//! | [`calibration()`] | probabilities against how often they came true |
//! | [`k_posterior()`] | the probability of each number of clusters |
//! | [`validation()`] | the scatter of each group in a column it was not found by, beside random groups |
//! | [`together()`] | co-clustering probabilities, objects in the order of their clusters |
//!
//! Cost: linear in what is drawn; clouds are thinned to what a screen can show.

mod axis;
mod bench;
mod calibration;
mod canvas;
mod clusters;
mod components;
mod convergence;
mod enclosing;
mod font;
mod heat;
mod k_posterior;
mod lines;
mod panel;
mod png;
mod simulation;
#[cfg(test)]
mod tests;
mod truth;
mod validation;

pub use bench::{Bars, bars, scaling};
pub use calibration::{Calibration, calibration};
pub use canvas::{FONT, WIDTH};
pub use clusters::{ClusterPanel, Plane, clusters, most_clusters};
pub use components::Components;
pub use convergence::{Runs, convergence, history};
pub use enclosing::{Circle, enclosing_circle};
pub use heat::{Pair, together};
pub use k_posterior::k_posterior;
pub use lines::Line;
pub use simulation::{Dwarf, Snapshot, simulation};
pub use truth::{TruthPanel, truth};
pub use validation::{ValidatedGroup, validation};

/// A drawing.
///
/// ```
/// use goc_report::figures::k_posterior;
/// let figure = k_posterior(&[(2, 0.25), (3, 0.75)])?;
/// assert!(figure.svg().starts_with("<svg "));
/// assert!(figure.png(400)?.starts_with(b"\x89PNG"));
/// # Ok::<(), goc_report::figures::FigureError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    svg: String,
}

impl Figure {
    /// The drawing as SVG, text as text.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// The drawing as PNG, this many pixels wide (16 to 8192).
    pub fn png(&self, width_px: u32) -> Result<Vec<u8>> {
        png::rasterise(&self.svg, width_px)
    }
}

/// A figure, or why there is none.
pub type Result<T, E = FigureError> = std::result::Result<T, E>;

/// Why there is no figure.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// Nothing to draw.
    #[error("there are no {what} to draw")]
    Empty {
        /// What was looked for.
        what: &'static str,
    },
    /// NaN or infinity in a number to be drawn.
    #[error("{what} {index}: {value} is not a finite number and cannot be drawn")]
    NotFinite {
        /// What it belongs to.
        what: &'static str,
        /// Which of them, from 0.
        index: usize,
        /// The value given.
        value: f64,
    },
    /// A value out of its range.
    #[error("{what} {index}: {value} is not {wanted}")]
    Range {
        /// What it belongs to.
        what: &'static str,
        /// Which of them, from 0.
        index: usize,
        /// The value given.
        value: f64,
        /// The range.
        wanted: &'static str,
    },
    /// Lists whose lengths should match but do not.
    #[error("{found} {what} where {expected} are needed")]
    Count {
        /// What is counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// More items than can be distinguished.
    #[error("{found} {what} are more than a figure can show; at most {most}")]
    TooMany {
        /// What is counted.
        what: &'static str,
        /// How many there may be.
        most: usize,
        /// How many there are.
        found: usize,
    },
    /// A PNG with zero width, or one that is too large.
    #[error("a width of {width} px is out of range; 16 to 8192 are possible")]
    Width {
        /// The width requested.
        width: u32,
    },
    /// A figure taller than a PNG may be.
    #[error("the figure would be {height} px high at this width, more than 16384; ask for a smaller one")]
    Height {
        /// The resulting height.
        height: f64,
    },
    /// The SVG could not be drawn.
    #[error("cannot draw the figure as PNG: {0}")]
    Draw(String),
}

impl FigureError {
    fn range(what: &'static str, index: usize, value: f64, wanted: &'static str) -> Self {
        Self::Range { what, index, value, wanted }
    }
}

/// Numbers beyond this cannot be squared and added.
const LARGEST: f64 = 1e100;

/// Refuses NaN, infinity, and numbers near it.
fn finite(what: &'static str, values: impl IntoIterator<Item = f64>) -> Result<()> {
    let bad = |value: &f64| value.is_nan() || value.abs() > LARGEST;
    match values.into_iter().enumerate().find(|(_, value)| bad(value)) {
        Some((index, value)) if value.is_finite() => {
            Err(FigureError::Range { what, index, value, wanted: "between -1e100 and 1e100" })
        }
        Some((index, value)) => Err(FigureError::NotFinite { what, index, value }),
        None => Ok(()),
    }
}

/// Like [`finite`], for points; the index is that of the point.
fn finite_points(what: &'static str, points: &[[f64; 2]]) -> Result<()> {
    finite(what, points.iter().map(|[x, y]| if x.abs() <= LARGEST { *y } else { *x }))
}

/// Refuses lists of different lengths.
fn counted(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(FigureError::Count { what, expected, found }) }
}
