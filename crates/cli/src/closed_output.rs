//! Detects whether standard output was closed when the command started, as by `>&-`.
//!
//! Before `main`, Rust's runtime opens /dev/null wherever one of the three streams is closed, so
//! that a file opened later does not take its number. Output is then lost without an error. The
//! only time to detect that the stream was closed is before the runtime starts, when the loader
//! runs the functions in the initialiser section.

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the command started.
pub fn was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

#[cfg(unix)]
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static BEFORE_MAIN: extern "C" fn() = look;

#[cfg(unix)]
extern "C" fn look() {
    // SAFETY: queries the flags of a descriptor, which touches no memory of ours.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    CLOSED.store(flags == -1, Ordering::Relaxed);
}
