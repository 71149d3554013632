//! How a command fails: a line for people and an exit code, 1 failed or 2 wrong usage.

use std::fmt;
use std::process::ExitCode;

/// Why a command did not do its work.
#[derive(Debug)]
pub enum Fail {
    /// The flags do not fit together or do not fit the data: exit 2.
    Usage(String),
    /// The data or the work failed: exit 1.
    Failed(String),
    /// Whoever read our output has gone.
    ClosedPipe,
}

impl Fail {
    pub fn usage(message: impl Into<String>) -> Self {
        Fail::Usage(message.into())
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Fail::Failed(message.into())
    }

    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Fail::ClosedPipe)
    }

    pub fn exit_code(&self) -> ExitCode {
        match self {
            Fail::Usage(_) => ExitCode::from(2),
            Fail::Failed(_) => ExitCode::from(1),
            Fail::ClosedPipe => ExitCode::SUCCESS,
        }
    }
}

impl fmt::Display for Fail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fail::Usage(message) | Fail::Failed(message) => f.write_str(message),
            Fail::ClosedPipe => f.write_str("the output was closed"),
        }
    }
}

impl From<goc_tables::TableError> for Fail {
    fn from(error: goc_tables::TableError) -> Self {
        use goc_tables::TableError::{Missing, NoColumn};
        match error {
            // Columns and the rule for missing values are named by flags.
            NoColumn { .. } | Missing { .. } => Fail::Usage(error.to_string()),
            other => Fail::Failed(other.to_string()),
        }
    }
}

impl From<goc::optimistic::OptimisticError> for Fail {
    fn from(error: goc::optimistic::OptimisticError) -> Self {
        use goc::optimistic::OptimisticError::Oracle;
        match error {
            Oracle(inner) => inner.into(),
            other => Fail::Usage(other.to_string()), // parameters that do not fit the data
        }
    }
}

impl From<goc::oracle::OracleError> for Fail {
    fn from(error: goc::oracle::OracleError) -> Self {
        use goc::oracle::OracleError::{MoreClustersThanPoints, NoClusters};
        match error {
            NoClusters | MoreClustersThanPoints { .. } => Fail::Usage(error.to_string()),
            other => Fail::Failed(other.to_string()),
        }
    }
}

impl From<goc::baselines::MethodError> for Fail {
    fn from(error: goc::baselines::MethodError) -> Self {
        use goc::baselines::MethodError::{MoreClustersThanObjects, NoClusters, Oracle, Parameter};
        match error {
            Oracle(inner) => inner.into(),
            NoClusters | MoreClustersThanObjects { .. } | Parameter { .. } => Fail::Usage(error.to_string()),
            other => Fail::Failed(other.to_string()),
        }
    }
}

impl From<goc::optimistic::hierarchy::HierarchyError> for Fail {
    fn from(error: goc::optimistic::hierarchy::HierarchyError) -> Self {
        Fail::Failed(error.to_string())
    }
}

impl From<goc::optimistic::continuous::ContinuousError> for Fail {
    fn from(error: goc::optimistic::continuous::ContinuousError) -> Self {
        use goc::optimistic::continuous::ContinuousError::Goc;
        match error {
            Goc(inner) => inner.into(),
            other => Fail::Usage(other.to_string()), // flags that do not fit hulls and boxes
        }
    }
}

impl From<goc::marginal::MarginalError> for Fail {
    fn from(error: goc::marginal::MarginalError) -> Self {
        use goc::marginal::MarginalError::{Oracle, Parameter};
        match error {
            Oracle(inner) => inner.into(),
            Parameter { .. } => Fail::Usage(error.to_string()),
            other => Fail::Failed(other.to_string()),
        }
    }
}

impl From<goc::choose_k::ChooseError> for Fail {
    fn from(error: goc::choose_k::ChooseError) -> Self {
        Fail::Failed(error.to_string())
    }
}

impl From<goc::metrics::MetricsError> for Fail {
    fn from(error: goc::metrics::MetricsError) -> Self {
        Fail::Failed(error.to_string())
    }
}

impl From<std::io::Error> for Fail {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Fail::ClosedPipe,
            _ => Fail::Failed(error.to_string()),
        }
    }
}
