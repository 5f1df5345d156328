//! What a process holds of its system, as the system itself says.

use std::fs;
use std::path::Path;

/// What a process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holdings {
    /// Open descriptors.
    pub descriptors: usize,
    /// Threads.
    pub threads: usize,
    /// Dead children that nobody has reaped.
    pub zombies: usize,
    /// Memory in use, in KiB.
    pub resident: u64,
    /// The most memory that was ever in use, in KiB.
    pub peak: u64,
}

impl Holdings {
    /// Whether no thread of a process runs, or wants to.
    pub fn is_asleep(process: u32) -> bool {
        let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let mut states = threads.map(|thread| state(&thread.path()));
        states.all(|state| state.is_none_or(|(state, _)| state != "R"))
    }

    /// Looks at a process.
    pub fn of(process: u32) -> Self {
        let own = process.to_string();
        let count =
            |part: &str| fs::read_dir(format!("/proc/{own}/{part}")).into_iter().flatten().count();
        let is_zombie = |entry: &fs::DirEntry| {
            state(&entry.path()).is_some_and(|(state, parent)| state == "Z" && parent == own)
        };
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let status = fs::read_to_string(format!("/proc/{own}/status")).unwrap_or_default();
        let kibibytes = |field: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(field));
            line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or_default()
        };
        Self {
            descriptors: count("fd"),
            threads: count("task"),
            zombies: processes.filter(is_zombie).count(),
            resident: kibibytes("VmRSS:"),
            peak: kibibytes("VmHWM:"),
        }
    }
}

/// The state of a process or thread, and the id of its parent.
fn state(process: &Path) -> Option<(String, String)> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // They follow the name in parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().map(str::to_owned);
    Some((fields.next()?, fields.next()?))
}
