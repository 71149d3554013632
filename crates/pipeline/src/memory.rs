//! Checks whether a computation fits into memory before starting it.

use goc_memory::amount;

use crate::error::Result;

/// Refuses `what` if it needs more memory than is free; `way` says what to do instead.
pub(crate) fn check(bytes: u64, what: &str, way: &str) -> Result<()> {
    goc_memory::check(bytes).map_err(|free| {
        let (needed, free) = (amount(bytes), amount(free));
        failed!("{what}: {needed} of memory are needed, but {free} are free; {way}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_named_with_what_it_needs_and_what_to_use_instead() {
        check(1, "a byte", "none").unwrap();
        if let Err(refused) = check(u64::MAX / 2, "affinity", "use goc") {
            let said = refused.to_string();
            assert!(said.starts_with("affinity: 9223372.0 TB of memory are needed, but "), "{said}");
            assert!(said.ends_with(" are free; use goc"), "{said}");
        }
    }
}
