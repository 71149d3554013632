//! The paper's experiments, tables and figures (Okuno & Hattori 2022).
//!
//! ```text
//! sets ──> Plan::run ──> outcomes ──> tables (ours beside the printed ones), runs, convergence, figures
//! ```
//!
//! - [`Set`]: the authors' data sets, read from a folder, or ten generated here.
//! - [`Plan`]: which of the paper's cells are run, how often, and how each run starts.
//! - [`affinity()`]: Discussion 1, affinity propagation on distances between sets.
//! - [`tables()`]: all of it as Markdown, LaTeX or CSV; [`runs_table`] and [`convergence_table`]: every
//!   run and every step.
//! - [`figures()`]: the figures of the paper; [`simulation_figure`]: the one that needs no data set.
//!
//! Nothing here writes a file or prints a message: `goc reproduce` does.

mod affinity;
mod cells;
mod error;
mod figures;
mod first_labels;
mod kept;
mod run;
mod sets;
mod simulation;
mod tables;

pub use affinity::{AffinityOutcome, affinity};
pub use cells::PaperOracle;
pub use error::PaperError;
pub use figures::{figure_names, figures, spread_evenly};
pub use first_labels::FirstLabels;
pub use run::{Outcome, Plan};
pub use sets::Set;
pub use simulation::simulation_figure;
pub use tables::{Layout, convergence_table, runs_table, tables};
