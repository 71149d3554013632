//! How a command fails: a line for people and an exit code, 1 failed or 2 wrong usage.

use std::fmt;
use std::process::ExitCode;

use goc_pipeline::{PipelineError, Speech};

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

    /// The same failure, with the flag that it is about.
    pub fn because(self, flag: &str) -> Self {
        match self {
            Fail::Usage(message) => Fail::Usage(format!("{flag}: {message}")),
            Fail::Failed(message) => Fail::Failed(format!("{flag}: {message}")),
            other => other,
        }
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

impl From<PipelineError> for Fail {
    fn from(error: PipelineError) -> Self {
        let message = error.said(Speech::Flags);
        if error.is_usage() { Fail::Usage(message) } else { Fail::Failed(message) }
    }
}

impl From<goc::method::MethodError> for Fail {
    fn from(error: goc::method::MethodError) -> Self {
        PipelineError::from(error).into()
    }
}

impl From<goc::optimistic::OptimisticError> for Fail {
    fn from(error: goc::optimistic::OptimisticError) -> Self {
        goc::method::MethodError::from(error).into()
    }
}

impl From<goc::oracle::OracleError> for Fail {
    fn from(error: goc::oracle::OracleError) -> Self {
        goc::method::MethodError::from(error).into()
    }
}

impl From<goc::optimistic::hierarchy::HierarchyError> for Fail {
    fn from(error: goc::optimistic::hierarchy::HierarchyError) -> Self {
        goc::method::MethodError::from(error).into()
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
