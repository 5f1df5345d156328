//! What a process holds of its system, as the system itself says.

use std::fs;

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
    /// Looks at a process.
    pub fn of(process: u32) -> Self {
        let own = process.to_string();
        let count =
            |part: &str| fs::read_dir(format!("/proc/{own}/{part}")).into_iter().flatten().count();
        let is_zombie = |entry: &fs::DirEntry| {
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            // After the name in parentheses: state, parent.
            let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
            let mut fields = fields.split_ascii_whitespace();
            fields.next() == Some("Z") && fields.next() == Some(&own)
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
