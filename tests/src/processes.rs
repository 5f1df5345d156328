//! Finding what hooks left running.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::project::Project;

/// A process that a hook of a project started, whatever group or session it is in now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookProcess {
    /// Its id.
    pub id: i32,
    /// Its command line.
    pub command: String,
}

impl Project {
    /// What runs on behalf of this project's hooks: every process whose environment names it.
    pub fn processes(&self) -> Vec<HookProcess> {
        let mark = format!("HOOK_PROJECT_DIR={}", self.path().display());
        let of_hooks = |process: &PathBuf| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        let process = |path: PathBuf| {
            let id = path.file_name()?.to_str()?.parse().ok()?;
            let command = fs::read(path.join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            Some(HookProcess { id, command: command.trim().to_owned() })
        };
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(of_hooks).filter_map(process).collect()
    }

    /// Waits until nothing runs on behalf of this project's hooks any more.
    ///
    /// # Panics
    /// When something still does after a generous time.
    #[expect(clippy::panic, reason = "a process that was left behind fails the test")]
    pub async fn assert_nothing_runs(&self) {
        let begun = Instant::now();
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            if begun.elapsed() > Duration::from_secs(30) {
                self.kill_processes();
                panic!("hooks left processes behind: {left:?}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends what a test's hooks left running on purpose.
    pub fn kill_processes(&self) {
        for process in self.processes() {
            if let Some(id) = Pid::from_raw(process.id) {
                // One that ended by itself is as good.
                let _ = kill_process(id, Signal::KILL);
            }
        }
    }

    /// Waits until a hook has made a file, relative to the project.
    ///
    /// # Panics
    /// When it has not after a generous time.
    pub async fn appears(&self, path: impl AsRef<Path>) {
        let path = self.path().join(path);
        let begun = Instant::now();
        while !path.exists() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{} never came", path.display());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
