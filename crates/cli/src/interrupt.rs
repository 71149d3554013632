//! Signals. SIGINT and SIGTERM: files that are not complete are removed, then the command ends with
//! 130 or 143. SIGXFSZ, which a file beyond `ulimit -f` brings, does not end it: the write fails
//! then, and the error is reported like that of a full disk.

/// Listens from now on, on a thread of its own.
#[cfg(unix)]
pub fn listen() -> std::io::Result<()> {
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    // Left alone it would end the command with its file half written; a flag that nobody looks at is enough.
    static TOO_LARGE: AtomicBool = AtomicBool::new(false);
    signal_hook::flag::register(libc::SIGXFSZ, &TOO_LARGE)?;
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            goc_tables::abandon_writing();
            std::process::exit(128 + signal);
        }
    })?;
    Ok(())
}

/// Where there are no such signals the system ends the command.
#[cfg(not(unix))]
pub fn listen() -> std::io::Result<()> {
    Ok(())
}
