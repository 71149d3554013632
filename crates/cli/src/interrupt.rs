//! SIGINT and SIGTERM: files that are not complete are removed, then the command ends with 130 or
//! 143.

/// Listens from now on, on a thread of its own.
#[cfg(unix)]
pub fn listen() -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

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
