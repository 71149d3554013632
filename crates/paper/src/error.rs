//! What can go wrong in an experiment.

use std::path::{Path, PathBuf};

/// Why an experiment, a table or a figure of the paper could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PaperError {
    /// A file or folder that does not hold what it should.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The initial labels lack a run.
    #[error("the first labels have none for {oracle}, K0 = {k}, set {set}")]
    NoFirstLabels {
        /// The oracle's name in the authors' tables.
        oracle: &'static str,
        /// K(0).
        k: usize,
        /// The data set.
        set: usize,
    },
    /// A table that cannot be read or made.
    #[error(transparent)]
    Table(#[from] goc_tables::TableError),
    /// A data set that cannot be read.
    #[error(transparent)]
    Pipeline(#[from] goc_pipeline::PipelineError),
    /// GOC could not run.
    #[error(transparent)]
    Optimistic(#[from] goc::optimistic::OptimisticError),
    /// The baseline could not run.
    #[error(transparent)]
    Baseline(#[from] goc::method::MethodError),
    /// An oracle failed.
    #[error(transparent)]
    Oracle(#[from] goc::oracle::OracleError),
    /// Labels that cannot be scored.
    #[error(transparent)]
    Metrics(#[from] goc::metrics::MetricsError),
    /// A figure that cannot be drawn.
    #[error(transparent)]
    Figure(#[from] goc_report::figures::FigureError),
    /// A data set or a simulation that could not be made, scaled or compared.
    #[error(transparent)]
    Making(Box<dyn std::error::Error + Send + Sync>),
}

impl PaperError {
    pub(crate) fn file(path: &Path, problem: impl ToString) -> Self {
        Self::File { path: path.to_path_buf(), problem: problem.to_string() }
    }

    pub(crate) fn making(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Making(Box::new(error))
    }
}
