//! The Python package `goc`: what Rust knows, called from Python.
//!
//! One file a concern: [`candidates`] takes arrays in, [`settings`] says how to cluster, [`oracle`] lets Python itself
//! cluster, [`fit`] calls the pipeline and hands its answer over; [`kernel`] has single steps and [`sharded`] whole runs, for programs that lead the
//! iteration themselves; [`sets`] samples uncertainty, [`galaxy`], [`stars`] and [`mock`] are the Milky Way's, [`metrics`] scores,
//! [`report`] makes the page. Every call
//! that may take long goes through [`watch`]: without the interpreter's lock, with progress, and stopped by Ctrl-C.
//!
//! Nothing is decided here: rules, names and defaults are the library's (`goc-pipeline`).

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
mod watch;

use pyo3::prelude::*;

#[pymodule]
fn _goc(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<candidates::Candidates>()?;
    module.add_class::<sets::Sets>()?;
    module.add_class::<galaxy::Potential>()?;
    module.add_class::<galaxy::ActionFinder>()?;
    module.add_class::<fit::Map>()?;
    module.add_class::<fit::Model>()?;
    module.add_class::<sharded::Shard>()?;
    module.add_class::<sharded::Coordinator>()?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    module.add_function(wrap_pyfunction!(fit::compare, module)?)?;
    module.add_function(wrap_pyfunction!(settings::settings, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::select, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::cluster_sums, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::oracle, module)?)?;
    module.add_function(wrap_pyfunction!(galaxy::to_galactocentric, module)?)?;
    module.add_function(wrap_pyfunction!(galaxy::from_galactocentric, module)?)?;
    module.add_function(wrap_pyfunction!(galaxy::orbits, module)?)?;
    module.add_function(wrap_pyfunction!(stars::star_candidates, module)?)?;
    module.add_function(wrap_pyfunction!(stars::star_rows, module)?)?;
    module.add_function(wrap_pyfunction!(stars::star_names, module)?)?;
    module.add_function(wrap_pyfunction!(mock::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::scores, module)?)?;
    module.add_function(wrap_pyfunction!(report::page, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::key_of_text, module)?)?;
    Ok(())
}
