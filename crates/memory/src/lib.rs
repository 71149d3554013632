//! Checks whether something fits into memory before trying it: a system that runs out of memory
//! kills the process instead of reporting an error.
//!
//! Free memory is the smallest of three numbers: what the machine has available, what is left of
//! the limit on the process (`ulimit -v`), and what is left for its control group, as in a
//! container. If the system does not report free memory, everything fits.

/// Refuses a request for more bytes than are free; the error holds the number of free bytes.
///
/// ```
/// assert_eq!(goc_memory::check(1), Ok(()));
/// ```
pub fn check(bytes: u64) -> Result<(), u64> {
    match available().filter(|free| *free < bytes) {
        Some(free) => Err(free),
        None => Ok(()),
    }
}

/// A number of bytes, formatted for people.
///
/// ```
/// assert_eq!(goc_memory::amount(2_500_000_000), "2.5 GB");
/// ```
pub fn amount(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{:.0} MB", bytes as f64 / 1e6),
        1_000_000_000..1_000_000_000_000 => format!("{:.1} GB", bytes as f64 / 1e9),
        _ => format!("{:.1} TB", bytes as f64 / 1e12),
    }
}

/// Free bytes, where the system reports them.
fn available() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = || kilobytes(&read("/proc/meminfo")?, "MemAvailable:");
    let limit = || {
        let most = of_limits(&read("/proc/self/limits")?)?;
        Some(most.saturating_sub(kilobytes(&read("/proc/self/status")?, "VmSize:")?))
    };
    let group = || {
        let groups = read("/proc/self/cgroup")?;
        let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
        let folder = format!("/sys/fs/cgroup{own}");
        let most: u64 = read(&format!("{folder}/memory.max"))?.trim().parse().ok()?;
        // Its page cache is released when memory is needed.
        let stat = read(&format!("{folder}/memory.stat"))?;
        let used = stat.lines().find_map(|line| line.strip_prefix("anon "))?.trim().parse().ok()?;
        Some(most.saturating_sub(used))
    };
    [machine(), limit(), group()].into_iter().flatten().min()
}

/// The number of kB after `key`, in bytes.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key))?;
    rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The soft limit on the address space in /proc/self/limits, in bytes, or `None` if there is none.
fn of_limits(text: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_understood() {
        assert_eq!(kilobytes("MemTotal: 8 kB\nMemAvailable:    2 kB\n", "MemAvailable:"), Some(2048));
        let limits =
            "Max cpu time  unlimited  unlimited  seconds\nMax address space  4096  unlimited  bytes\n";
        assert_eq!(of_limits(limits), Some(4096));
        assert_eq!(of_limits("Max address space         unlimited            unlimited  bytes\n"), None);
    }

    #[test]
    fn what_no_machine_has_is_refused_where_the_system_says_what_it_has() {
        assert_eq!(check(1), Ok(()));
        assert_eq!(check(u64::MAX / 2).err(), available());
        assert_eq!(amount(u64::MAX / 2), "9223372.0 TB");
    }
}
