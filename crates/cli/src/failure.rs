//! How a command fails: a line for people and an exit code, 1 failed or 2 wrong usage.

use std::fmt;
use std::process::ExitCode;

use goc::method::MethodError;
use goc_pipeline::{PipelineError, Speech};

/// Wrong usage; the arguments are those of `format!`.
macro_rules! usage {
    ($($said:tt)+) => { $crate::failure::Failure::Usage(format!($($said)+)) };
}

/// The data are bad or the computation failed; the arguments are those of `format!`.
macro_rules! failed {
    ($($said:tt)+) => { $crate::failure::Failure::Failed(format!($($said)+)) };
}

/// The result of a part of a command, or why the command stops.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a command did not do its work.
#[derive(Debug)]
pub enum Failure {
    /// The flags contradict each other or do not suit the data: exit 2.
    Usage(String),
    /// The data are bad or the computation failed: exit 1.
    Failed(String),
    /// The reader of our output has closed it.
    ClosedPipe,
}

impl Failure {
    /// The same failure, with the flag that it concerns.
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

impl From<PipelineError> for Failure {
    fn from(error: PipelineError) -> Self {
        let message = error.said(Speech::Flags);
        if error.is_usage() { Failure::Usage(message) } else { Failure::Failed(message) }
    }
}

/// Errors of the crates below, as the pipeline or a method reports them.
macro_rules! failures {
    ($($error:ty => $by:ty),+ $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                <$by>::from(error).into()
            }
        })+
    };
}

failures! {
    goc_tables::TableError => PipelineError,
    MethodError => PipelineError,
    goc::metrics::MetricsError => PipelineError,
    goc::optimistic::OptimisticError => MethodError,
    goc::oracle::OracleError => MethodError,
    goc::optimistic::hierarchy::HierarchyError => MethodError,
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Failed(error.to_string()),
        }
    }
}
