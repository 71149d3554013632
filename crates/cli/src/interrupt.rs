//! Signals. On SIGINT and SIGTERM, incomplete files are removed and the command ends with 130
//! or 143. SIGXFSZ, raised by a file beyond `ulimit -f`, does not end the command: the write fails,
//! and the error is reported like that of a full disk.
//!
//! With `--partial`, the first SIGINT asks for the answer so far instead.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static ANSWERS: AtomicBool = AtomicBool::new(false);
static ENOUGH: AtomicBool = AtomicBool::new(false);

/// From now on the first SIGINT asks for the answer so far.
pub fn answer() {
    ANSWERS.store(true, Relaxed);
}

/// Whether the answer so far was asked for.
pub fn enough() -> bool {
    ENOUGH.load(Relaxed)
}

/// Starts listening, on a separate thread.
#[cfg(unix)]
pub fn listen() -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    // By default it would end the command with its file half written; a flag that nobody reads is
    // enough.
    static TOO_LARGE: AtomicBool = AtomicBool::new(false);
    signal_hook::flag::register(libc::SIGXFSZ, &TOO_LARGE)?;
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            if signal == SIGINT && ANSWERS.load(Relaxed) && !ENOUGH.swap(true, Relaxed) {
                crate::console::note("ending with the draws made so far; once more to end at once");
                continue;
            }
            goc_tables::abandon_writing();
            std::process::exit(128 + signal);
        }
    })?;
    Ok(())
}

/// Without such signals, the system ends the command.
#[cfg(not(unix))]
pub fn listen() -> std::io::Result<()> {
    Ok(())
}
