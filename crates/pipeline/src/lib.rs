//! From a table to labels: one pipeline behind every door.
//!
//! ```text
//! table or arrays ──> Dataset ──prepare──> Prepared ──fit──> Fit ──> label table, model, report
//! ```
//!
//! - [`Dataset`]: the candidates of all objects with everything that is known of them: names, units,
//!   truth, what kind of number the penalties are, where they come from.
//! - [`Settings`]: one checked description of a fit. Every setting has its name, its default, its words
//!   and its help here; the command's flags and Python's keywords are made from that list.
//! - [`fit()`]: runs the method, looks for K and lambda where they are not given, and says how sure the
//!   answer is. One [`Fit`] for every method.
//!
//! The command and the Python package convert, call and convert back; whatever is a rule stands here.

pub mod dataset;
pub mod feature_map;

pub use dataset::{Dataset, Extra, Feature, PenaltyKind};
