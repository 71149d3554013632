//! From a table to labels: one pipeline behind the command, the Python package and the library.
//!
//! ```text
//! table or arrays ──> Dataset ──prepare──> Prepared ──fit──> Fit ──> label table, model, report
//! ```
//!
//! - [`Dataset`]: the candidates of all objects with everything known about them: names, units,
//!   truth, the kind of penalties, and where they come from.
//! - [`MeasuredColumns`] and [`Sampling`]: from values with errors, or a star catalogue, to a data set.
//! - [`Settings`]: one checked description of a fit. The name, default, possible values and help of
//!   every setting are defined here; the command's flags and Python's keywords are generated from
//!   that list.
//! - [`fit()`]: runs the method, searches for K and lambda if they are not given, and assesses how
//!   reliable the answer is. Every method returns a [`Fit`].
//!
//! The command and the Python package only convert inputs and outputs; all rules are here.

#[macro_use]
mod error;
#[macro_use]
mod words;

#[cfg(feature = "tables")]
pub mod candidate_table;
#[cfg(feature = "tables")]
pub mod checkpoint;
pub mod compare;
pub mod dataset;
pub mod feature_map;
mod fit;
#[cfg(feature = "clap")]
mod flags;
mod judge;
pub mod keep;
#[cfg(feature = "tables")]
pub mod labels;
#[cfg(feature = "tables")]
pub mod long_table;
pub mod measured;
mod memory;
mod methods;
mod missing_values;
pub mod mock_catalogue;
pub mod model_file;
mod names;
#[cfg(feature = "tables")]
mod open;
#[cfg(feature = "tables")]
pub mod predict;
mod prepared;
mod quoted_errors;
pub mod sampling;
mod sampling_names;
pub mod scores;
pub mod settings;
mod speech;
pub mod star_model;
#[cfg(feature = "tables")]
pub mod table_columns;
pub mod validate;
mod watch;

pub use dataset::{Dataset, Extra, Feature, PenaltyKind};
pub use error::PipelineError;
pub use fit::{AutoFound, Fit, NOISE, fit, fit_keeping, fit_owned, fit_with};
#[cfg(feature = "clap")]
pub use flags::possible_values;
pub use judge::counted;
pub use measured::{Measured, MeasuredColumns};
pub use missing_values::{WhenMissing, WithColumn, error_column_of};
pub use names::{BackgroundName, FeatureMapName, MethodName, OracleName, PenaltyScale, SetDistanceName};
#[cfg(feature = "tables")]
pub use open::{open, open_for, open_which};
pub use prepared::Prepared;
pub use quoted_errors::{Inflation, QuotedErrors};
pub use sampling::{Loss, Origin, Sampling, Transformation, star_candidates};
pub use sampling_names::{BadRows, PenaltyName, SamplerName, Shape, TransformName, WhenEmpty};
pub use settings::{Auto, Setting, Settings};
pub use speech::Speech;
pub use star_model::StarModel;
pub use watch::{Unwatched, Watch};

/// Everything a program needs to go from a file to labels.
pub mod prelude {
    pub use goc::candidates::CandidatesBuilder;
    pub use goc::{Candidates, Points};

    pub use crate::{
        Auto, Dataset, Fit, MethodName, OracleName, Sampling, Settings, StarModel, Unwatched, Watch, fit,
        fit_owned,
    };
}

/// Compiles and runs the Rust example in the README.
#[cfg(all(doctest, feature = "tables"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Does the same for the contributor examples that add an oracle, a method or a transform.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
struct Contributing;
