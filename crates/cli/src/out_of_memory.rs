//! What happens when the system has no more memory to give.
//!
//! Large things are estimated before they are asked for (`goc-memory`). What is left are the many
//! small ones, of which Rust's runtime makes an abort: exit 134, and an unfinished file stays. So
//! the allocator notes when it was refused, and a handler of the abort removes what is unfinished
//! and ends the command as any other failure does. Whatever asks in a way that can fail
//! (`try_reserve`) is refused as before, and goes on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that were asked for last and not given; 0: none so far.
static REFUSED: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which notes what it refused.
struct Noting;

#[global_allocator]
static ALLOCATOR: Noting = Noting;

fn noted(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        REFUSED.store(size, Ordering::Relaxed);
    }
    pointer
}

// SAFETY: everything is the system's own, whose promises are kept; a number is stored beside it.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        noted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        noted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        noted(unsafe { System.realloc(pointer, layout, size) }, size)
    }
}

/// Ends the command with 1 instead of an abort, from now on, where memory is the reason.
#[cfg(unix)]
pub fn listen() -> std::io::Result<()> {
    // SAFETY: `give_up` allocates nothing, waits for no lock and does not return where it does
    // anything. The abort comes from the very thread that asked for memory, between two steps of it.
    unsafe { signal_hook::low_level::register(libc::SIGABRT, give_up) }.map(drop)
}

/// Where there is no such signal the system ends the command.
#[cfg(not(unix))]
pub fn listen() -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn give_up() {
    let refused = REFUSED.load(Ordering::Relaxed);
    if refused == 0 {
        return; // another reason: the abort goes on
    }
    goc_tables::abandon_writing_at_once();
    // Without an allocation; what does not fit is not said.
    let mut text = [0_u8; 128];
    let mut rest = &mut text[..];
    let _ = std::io::Write::write_fmt(
        &mut rest,
        format_args!(
            "error: out of memory: {} kB more were asked for; use less data or a larger machine\n",
            refused.div_ceil(1000)
        ),
    );
    let left = rest.len();
    let said = &text[..text.len() - left];
    // SAFETY: writes bytes that are there, and ends the process, which no caller comes back from.
    unsafe {
        libc::write(libc::STDERR_FILENO, said.as_ptr().cast(), said.len());
        libc::_exit(1);
    }
}
