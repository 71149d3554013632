//! A fence around the Parquet decoder: its panics become `None`, and say nothing.
//!
//! Of a thousand damaged files the decoder refuses most by an error and panics on a few (an assertion on a negative
//! offset, an absent dictionary). The panic is caught; the standard hook would still print "panicked at",
//! which a user would take for a crash, so the hook is asked to be silent for this thread while it is inside.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; `None` when it panicked.
pub(super) fn fenced<T>(work: impl FnOnce() -> T) -> Option<T> {
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
    // Whatever `work` held is dropped with the panic: nothing half-changed is seen again.
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    INSIDE.set(outer);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_inside_is_none_and_one_outside_is_a_panic() {
        assert_eq!(fenced(|| 1), Some(1));
        assert_eq!(fenced(|| -> i32 { panic!("inside") }), None);
        assert!(!INSIDE.get());
        assert!(panic::catch_unwind(|| panic!("outside, as this test means to")).is_err());
    }
}
