//! What happens when the system runs out of memory.
//!
//! Large allocations are estimated before they are made (`goc-memory`). What remains are the many
//! small ones, whose failure Rust's runtime turns into an abort: exit 134, and an unfinished file
//! stays. So the allocator records when it was refused memory, and a handler of the abort removes
//! unfinished files and ends the command like any other failure. Fallible allocations
//! (`try_reserve`) are refused as before, and the program continues.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Size of the last refused request in bytes; 0 if there was none.
static REFUSED: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, recording what it refused.
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

/// From now on, ends the command with 1 instead of an abort if memory is the reason.
#[cfg(unix)]
pub fn listen() -> std::io::Result<()> {
    // SAFETY: `give_up` allocates nothing, waits for no lock and does not return where it does
    // anything. The abort comes from the very thread that requested memory, between two steps of it.
    unsafe { signal_hook::low_level::register(libc::SIGABRT, give_up) }.map(drop)
}

/// Without such a signal, the system ends the command.
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
    // Without an allocation; text that does not fit is truncated.
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
