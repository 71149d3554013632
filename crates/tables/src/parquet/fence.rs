//! A fence around the Parquet crates: their panics become errors and print nothing.
//!
//! The decoder returns an error for most damaged files and panics on a few (an assertion on a
//! negative offset, an absent dictionary); zstd panics if it gets no memory. The panic is caught.
//! The standard hook would still print "panicked at", which a user would take for a crash, so the
//! hook is silenced for this thread while it is inside the fence.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// How a panic ended the work.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// There was not enough memory.
    Memory,
    /// Something the crates did not expect.
    Unexpected,
}

/// Runs `work`, which may panic.
pub(super) fn fenced<T>(work: impl FnOnce() -> T) -> Result<T, Broken> {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !INSIDE.get() {
                before(info);
            }
        }));
    });
    let outer = INSIDE.replace(true);
    // Everything that `work` owned is dropped with the panic, so no inconsistent state is visible.
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    INSIDE.set(outer);
    result.map_err(|said| {
        let text = said.downcast_ref::<&str>().copied();
        let text = text.or_else(|| said.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
        // The wording of zstd's bindings.
        if text.contains("null pointer") { Broken::Memory } else { Broken::Unexpected }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_inside_is_an_error_and_one_outside_is_a_panic() {
        assert_eq!(fenced(|| 1), Ok(1));
        assert_eq!(fenced(|| -> i32 { panic!("inside") }), Err(Broken::Unexpected));
        let no_memory = || -> i32 { panic!("zstd returned null pointer when creating new context") };
        assert_eq!(fenced(no_memory), Err(Broken::Memory));
        assert!(!INSIDE.get());
        assert!(panic::catch_unwind(|| panic!("outside, as this test means to")).is_err());
    }
}
