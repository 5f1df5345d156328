//! A running `hook serve --stdio`, as an agent in another language has it.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::binary::hook_binary;
use crate::holdings::Holdings;
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
        let mut command = Command::from(project.command(binary));
        command
            .args(["serve", "--stdio", "--settings"])
            .arg(project.settings())
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

    /// What its process holds of the system.
    pub fn holdings(&self) -> Holdings {
        Holdings::of(self.id())
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

/// A request message.
pub fn request(event: &str, input: &Value, id: &str) -> Value {
    serde_json::json!({"type": "hook-execution-request", "eventName": event, "input": input,
        "correlationId": id})
}
