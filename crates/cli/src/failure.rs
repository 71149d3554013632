//! How a command fails: a line for people and an exit code, 1 failed or 2 wrong usage.

use std::fmt;
use std::process::ExitCode;

use goc_pipeline::{PipelineError, Speech};

/// Wrong usage; what is said is formatted.
macro_rules! usage {
    ($($said:tt)+) => { $crate::failure::Failure::Usage(format!($($said)+)) };
}

/// The data or the work failed; what is said is formatted.
macro_rules! failed {
    ($($said:tt)+) => { $crate::failure::Failure::Failed(format!($($said)+)) };
}

/// Why a command did not do its work.
#[derive(Debug)]
pub enum Failure {
    /// The flags do not fit together or do not fit the data: exit 2.
    Usage(String),
    /// The data or the work failed: exit 1.
    Failed(String),
    /// Whoever read our output has gone.
    ClosedPipe,
}

impl Failure {
    pub fn usage(message: impl Into<String>) -> Self {
        Failure::Usage(message.into())
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Failure::Failed(message.into())
    }

    /// The same failure, with the flag that it is about.
    pub fn because(self, flag: &str) -> Self {
        match self {
            Failure::Usage(message) => usage!("{flag}: {message}"),
            Failure::Failed(message) => failed!("{flag}: {message}"),
            other => other,
        }
    }

    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Failure::ClosedPipe)
    }

    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Usage(_) => ExitCode::from(2),
            Failure::Failed(_) => ExitCode::from(1),
            Failure::ClosedPipe => ExitCode::SUCCESS,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(message) | Failure::Failed(message) => f.write_str(message),
            Failure::ClosedPipe => f.write_str("the output was closed"),
        }
    }
}

impl From<goc_tables::TableError> for Failure {
    fn from(error: goc_tables::TableError) -> Self {
        use goc_tables::TableError::{Missing, NoColumn};
        match error {
            // Columns and the rule for missing values are named by flags.
            NoColumn { .. } | Missing { .. } => Failure::Usage(error.to_string()),
            other => Failure::Failed(other.to_string()),
        }
    }
}

impl From<PipelineError> for Failure {
    fn from(error: PipelineError) -> Self {
        let message = error.said(Speech::Flags);
        if error.is_usage() { Failure::Usage(message) } else { Failure::Failed(message) }
    }
}

impl From<goc::method::MethodError> for Failure {
    fn from(error: goc::method::MethodError) -> Self {
        PipelineError::from(error).into()
    }
}

impl From<goc::optimistic::OptimisticError> for Failure {
    fn from(error: goc::optimistic::OptimisticError) -> Self {
        goc::method::MethodError::from(error).into()
    }
}

impl From<goc::oracle::OracleError> for Failure {
    fn from(error: goc::oracle::OracleError) -> Self {
        goc::method::MethodError::from(error).into()
    }
}

impl From<goc::optimistic::hierarchy::HierarchyError> for Failure {
    fn from(error: goc::optimistic::hierarchy::HierarchyError) -> Self {
        goc::method::MethodError::from(error).into()
    }
}

impl From<goc::metrics::MetricsError> for Failure {
    fn from(error: goc::metrics::MetricsError) -> Self {
        Failure::Failed(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Failed(error.to_string()),
        }
    }
}
