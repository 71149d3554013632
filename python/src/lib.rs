//! The Rust part of the Python package `goc`.
//!
//! One file per concern: [`candidates`] takes arrays, [`settings`] describes the fit, [`oracle`]
//! lets a Python function cluster, [`fit`] calls the pipeline and returns its result; [`kernel`]
//! has single steps and [`sharded`] whole runs, for programs that drive the iteration themselves;
//! [`sets`] samples uncertainty, [`galaxy`], [`stars`] and [`mock`] are the Milky Way's,
//! [`metrics`] scores, [`report`] makes the page. Every call that may take long goes through
//! [`watch`]: without the interpreter's lock, with progress, and stopped by Ctrl-C.
//!
//! There are no rules here: names, checks and defaults belong to the library (`goc-pipeline`).

#[macro_use]
mod watch;

mod candidates;
mod fit;
mod galaxy;
mod kernel;
mod metrics;
mod mock;
mod oracle;
mod report;
mod sets;
mod settings;
mod sharded;
mod stars;

use pyo3::pymodule;

/// The module that Python imports.
#[pymodule]
mod _goc {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::candidates::Candidates;
    #[pymodule_export]
    use crate::fit::{Map, Model, compare, fit, newick, steps};
    #[pymodule_export]
    use crate::galaxy::{ActionFinder, Potential, from_galactocentric, orbits, to_galactocentric};
    #[pymodule_export]
    use crate::kernel::{cluster_sums, oracle, select};
    #[pymodule_export]
    use crate::metrics::{key_of_text, lots, scores, validate};
    #[pymodule_export]
    use crate::mock::simulate;
    #[pymodule_export]
    use crate::report::page;
    #[pymodule_export]
    use crate::sets::Sets;
    #[pymodule_export]
    use crate::settings::settings;
    #[pymodule_export]
    use crate::sharded::{Coordinator, Shard};
    #[pymodule_export]
    use crate::stars::{star_candidates, star_names, star_rows, star_spaces};

    /// Candidates drawn per object by default.
    #[pymodule_export]
    const DRAWS: usize = goc_pipeline::Sampling::DRAWS;

    /// How groups are validated by default.
    #[pymodule_export]
    const VALIDATION_DRAWS: usize = goc::confidence::tightness::DRAWS;
    #[pymodule_export]
    const VALIDATION_NEIGHBOURS: usize = goc::confidence::tightness::NEIGHBOURS;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
