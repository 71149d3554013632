//! Why a fit failed: what to change in the settings, or what went wrong.

use goc::candidates::CandidatesError;
use goc::choose_k::ChooseError;
use goc::confidence::ConfidenceError;
use goc::marginal::ModelError;
use goc::method::MethodError;
use goc::metrics::MetricsError;
use goc::optimistic::hierarchy::HierarchyError;
use goc::points::PointsError;
use goc::scale::ScaleError;

use crate::Speech;

/// The settings must be changed; the arguments are those of `format!`.
macro_rules! usage {
    ($($said:tt)+) => { $crate::PipelineError::Usage(format!($($said)+)) };
}

/// The data are bad or the computation failed; the arguments are those of `format!`.
macro_rules! failed {
    ($($said:tt)+) => { $crate::PipelineError::Failed(format!($($said)+)) };
}

/// The result of the pipeline, or why it stopped.
pub type Result<T, E = PipelineError> = std::result::Result<T, E>;

/// Why the pipeline stops. Messages name settings in braces; [`PipelineError::said`] inserts the
/// names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PipelineError {
    /// The settings contradict each other or do not suit the data; the user must change them.
    #[error("{}", Speech::Flags.of(.0))]
    Usage(String),
    /// The data or the work failed.
    #[error("{}", Speech::Flags.of(.0))]
    Failed(String),
    /// The method has no answer.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// A table cannot be read, written or made.
    #[cfg(feature = "tables")]
    #[error(transparent)]
    Table(#[from] goc_tables::TableError),
}

impl PipelineError {
    /// The message, with settings named as in the command or in Python.
    pub fn said(&self, speech: Speech) -> String {
        match self {
            Self::Usage(text) | Self::Failed(text) => speech.of(text),
            other => other.to_string(),
        }
    }

    /// Whether other settings would fix it, rather than other data.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Usage(_) => true,
            Self::Failed(_) => false,
            Self::Method(error) => error.is_about_parameters(),
            // Settings name columns, tables, outputs and the rule for missing values.
            #[cfg(feature = "tables")]
            Self::Table(error) => {
                use goc_tables::TableError::{Missing, NoColumn, NoTable, Overwrites};
                matches!(error, NoColumn { .. } | NoTable { .. } | Missing { .. } | Overwrites { .. })
            }
        }
    }
}

impl From<HierarchyError> for PipelineError {
    fn from(error: HierarchyError) -> Self {
        Self::Method(error.into())
    }
}

/// Library errors caused by the data or the computation.
macro_rules! failures {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for PipelineError {
            fn from(error: $error) -> Self {
                Self::Failed(error.to_string())
            }
        })+
    };
}

failures! {
    CandidatesError, ChooseError, ConfidenceError<PipelineError>, MetricsError, ModelError, PointsError, ScaleError
}
