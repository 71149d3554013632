//! Why a fit has no answer: what to change in the settings, or what failed.

use goc::choose_k::ChooseError;
use goc::confidence::ConfidenceError;
use goc::method::MethodError;
use goc::metrics::MetricsError;
use goc::optimistic::hierarchy::HierarchyError;

use crate::Speech;

/// Why the pipeline stops. Messages name settings in braces; [`PipelineError::said`] puts their names in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PipelineError {
    /// Settings that do not fit together or do not fit the data: the user must change them.
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
    /// In the words of a door.
    pub fn said(&self, speech: Speech) -> String {
        match self {
            Self::Usage(text) | Self::Failed(text) => speech.of(text),
            other => other.to_string(),
        }
    }

    /// Whether other settings would mend it, rather than other data.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Usage(_) => true,
            Self::Failed(_) => false,
            Self::Method(error) => error.is_about_parameters(),
            // Columns and the rule for missing values are named by settings.
            #[cfg(feature = "tables")]
            Self::Table(error) => {
                use goc_tables::TableError::{Missing, NoColumn};
                matches!(error, NoColumn { .. } | Missing { .. })
            }
        }
    }
}

impl From<ChooseError> for PipelineError {
    fn from(error: ChooseError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<HierarchyError> for PipelineError {
    fn from(error: HierarchyError) -> Self {
        Self::Method(error.into())
    }
}

impl From<MetricsError> for PipelineError {
    fn from(error: MetricsError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<ConfidenceError<PipelineError>> for PipelineError {
    fn from(error: ConfidenceError<PipelineError>) -> Self {
        Self::Failed(error.to_string())
    }
}
