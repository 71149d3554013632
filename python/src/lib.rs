//! The Python package `goc`: what Rust knows, called from Python.
//!
//! One file a concern: [`candidates`] takes arrays in, [`settings`] says how to cluster, [`oracle`] lets Python itself
//! cluster, [`solve`] runs a method and [`fit`] hands its answer over; [`kernel`] has single steps and [`parts`] whole runs, for programs that lead the
//! iteration themselves; [`sets`] samples uncertainty, [`galaxy`], [`stars`] and [`mock`] are the Milky Way's, [`metrics`] scores,
//! [`report`] makes the page. Every call
//! that may take long goes through [`watch`]: without the interpreter's lock, with progress, and stopped by Ctrl-C.
//!
//! Nothing is decided here: names, defaults and documentation are Python's (`goc/*.py`).

mod candidates;
mod fit;
mod galaxy;
mod kernel;
mod metrics;
mod mock;
mod oracle;
mod parts;
mod report;
mod sets;
mod settings;
mod solve;
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
    module.add_class::<fit::Model>()?;
    module.add_class::<parts::Part>()?;
    module.add_class::<parts::Conductor>()?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::select, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::cluster_sums, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::oracle, module)?)?;
    module.add_function(wrap_pyfunction!(galaxy::to_galactocentric, module)?)?;
    module.add_function(wrap_pyfunction!(galaxy::from_galactocentric, module)?)?;
    module.add_function(wrap_pyfunction!(galaxy::orbits, module)?)?;
    module.add_function(wrap_pyfunction!(stars::star_candidates, module)?)?;
    module.add_function(wrap_pyfunction!(mock::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::scores, module)?)?;
    module.add_function(wrap_pyfunction!(report::page, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::key_of_text, module)?)?;
    Ok(())
}
