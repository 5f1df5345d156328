//! A running `hook serve --stdio`, as an agent in another language has it.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::binary::hook_binary;
use crate::json;
use crate::project::Project;

/// A serving engine in a process of its own, and this test as its client.
#[derive(Debug)]
pub struct Served {
    process: Child,
    /// What it reads.
    pub stdin: Option<ChildStdin>,
    /// What it writes.
    pub stdout: BufReader<ChildStdout>,
}

#[expect(clippy::expect_used, clippy::panic, reason = "an engine that is not there fails the test")]
impl Served {
    /// Starts the engine on the project's settings and reads its greeting.
    ///
    /// # Panics
    /// When it does not come up.
    pub async fn start(project: &Project) -> Self {
        Self::start_as(project, hook_binary(), None).await
    }

    /// Starts a copy of the engine, as another user if one is given.
    ///
    /// # Panics
    /// When it does not come up.
    pub async fn start_as(project: &Project, binary: &Path, user: Option<u32>) -> Self {
        let mut command = Command::new(binary);
        command
            .args(["serve", "--stdio", "--settings"])
            .arg(project.settings())
            .current_dir(project.path())
            .env("HOME", project.home())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("HOOK_DEPTH")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let mut process = command.spawn().expect("failed to start the hook binary");
        let stdin = process.stdin.take();
        let stdout = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut served = Self { process, stdin, stdout };
        assert_eq!(served.receive().await["type"], "hook-hello");
        served
    }

    /// The engine's process.
    pub fn id(&self) -> u32 {
        self.process.id().unwrap_or_default()
    }

    /// Sends text as it is.
    ///
    /// # Panics
    /// When the engine does not read.
    pub async fn send(&mut self, text: impl AsRef<[u8]>) {
        let stdin = self.stdin.as_mut().expect("it is open");
        stdin.write_all(text.as_ref()).await.expect("failed to write to the engine");
    }

    /// Reads one message.
    ///
    /// # Panics
    /// When none comes.
    pub async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line);
        match tokio::time::timeout(Duration::from_secs(60), read).await {
            Ok(Ok(_)) => json(line.as_bytes()),
            other => panic!("failed to read from the engine: {other:?}"),
        }
    }

    /// Sends a request and reads one message.
    pub async fn ask(&mut self, request: &Value) -> Value {
        self.send(format!("{request}\n")).await;
        self.receive().await
    }

    /// A size in KiB from the process's status, such as `VmRSS`.
    ///
    /// # Panics
    /// When the system does not say.
    pub fn kibibytes(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        let number = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
        number.unwrap_or_else(|| panic!("no {field} in the status of the engine"))
    }

    /// How many descriptors, threads and dead children that nobody reaped the process has.
    pub fn holdings(&self) -> Holdings {
        let own = self.id().to_string();
        let count =
            |part: &str| fs::read_dir(format!("/proc/{own}/{part}")).into_iter().flatten().count();
        let is_zombie = |entry: &fs::DirEntry| {
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
            let mut fields = fields.split_ascii_whitespace();
            fields.next() == Some("Z") && fields.next() == Some(&own)
        };
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        Holdings {
            descriptors: count("fd"),
            threads: count("task"),
            zombies: processes.filter(is_zombie).count(),
        }
    }

    /// Closes its input, reads what it still writes, and gives its exit code.
    ///
    /// # Panics
    /// When it does not end.
    pub async fn finish(mut self) -> (Vec<Value>, Option<i32>) {
        self.stdin = None;
        let mut messages = Vec::new();
        let mut line = String::new();
        let patience = Duration::from_secs(60);
        while let Ok(Ok(1..)) =
            tokio::time::timeout(patience, self.stdout.read_line(&mut line)).await
        {
            messages.push(json(line.as_bytes()));
            line.clear();
        }
        match tokio::time::timeout(patience, self.process.wait()).await {
            Ok(Ok(status)) => (messages, status.code()),
            other => panic!("the engine did not end: {other:?}"),
        }
    }
}

/// What a process holds of its system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holdings {
    /// Open descriptors.
    pub descriptors: usize,
    /// Threads.
    pub threads: usize,
    /// Dead children.
    pub zombies: usize,
}

/// A request message.
pub fn request(event: &str, input: &Value, id: &str) -> Value {
    serde_json::json!({"type": "hook-execution-request", "eventName": event, "input": input,
        "correlationId": id})
}
