//! A running `hook serve --socket`, and its clients.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, ChildStderr, Command};

use crate::binary::hook_binary;
use crate::holdings::Holdings;
use crate::json;
use crate::project::Project;

const PATIENCE: Duration = Duration::from_secs(60);

/// A serving engine in a process of its own, reached over a socket.
#[derive(Debug)]
pub struct SocketServed {
    process: Child,
    stderr: BufReader<ChildStderr>,
    socket: PathBuf,
}

#[expect(clippy::expect_used, clippy::panic, reason = "an engine that is not there fails the test")]
impl SocketServed {
    /// Starts the engine on the project's settings, with its socket in a folder that is not there
    /// yet, and waits until it listens.
    ///
    /// # Panics
    /// When it does not come up.
    pub async fn start(project: &Project, arguments: &[&str]) -> Self {
        Self::start_after(project, ":", arguments).await
    }

    /// [`start`](Self::start), with its socket there.
    ///
    /// # Panics
    /// When it does not come up.
    pub async fn start_at(project: &Project, socket: &Path) -> Self {
        Self::start_with(project, socket, ":", &[]).await
    }

    /// [`start`](Self::start), after something is done by the shell that becomes the engine.
    ///
    /// # Panics
    /// When it does not come up.
    pub async fn start_after(project: &Project, before: &str, arguments: &[&str]) -> Self {
        let socket = project.home().join("run/hook.sock");
        Self::start_with(project, &socket, before, arguments).await
    }

    /// [`start_at`](Self::start_at) with these arguments, after something is done by the shell that becomes the engine.
    ///
    /// # Panics
    /// When it does not come up.
    pub async fn start_with(
        project: &Project,
        socket: &Path,
        before: &str,
        arguments: &[&str],
    ) -> Self {
        let mut process = Command::from(project.command("bash"))
            .arg("-c")
            .arg(format!("{before}; exec \"$0\" \"$@\""))
            .arg(hook_binary())
            .args(["serve", "--settings"])
            .arg(project.settings())
            .arg("--socket")
            .arg(socket)
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("failed to start the hook binary");
        let stderr = BufReader::new(process.stderr.take().expect("it is piped"));
        let mut served = Self { process, stderr, socket: socket.to_owned() };
        let mut said = served.says().await;
        // Agents ask another one.
        if said.starts_with("note: `hook bridge` asks ") {
            said = served.says().await;
        }
        assert!(said.starts_with("listening on "), "{said}");
        served
    }

    /// The next line that it says on stderr.
    ///
    /// # Panics
    /// When none comes.
    pub async fn says(&mut self) -> String {
        let mut line = String::new();
        let read = self.stderr.read_line(&mut line);
        match tokio::time::timeout(PATIENCE, read).await {
            Ok(Ok(_)) => line,
            other => panic!("the engine said nothing: {other:?}"),
        }
    }

    /// Where its socket is.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Connects, and reads the greeting.
    ///
    /// # Panics
    /// When nobody greets.
    pub async fn client(&self) -> SocketClient {
        let mut client = self.stranger().await;
        assert_eq!(client.receive().await["type"], "hook-hello");
        client
    }

    /// Connects, and reads nothing yet.
    ///
    /// # Panics
    /// When nobody listens.
    pub async fn stranger(&self) -> SocketClient {
        SocketClient::connect(&self.socket).await
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// When it is gone.
    pub fn signal(&self, signal: Signal) {
        let id = self.process.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        kill_process(id.expect("it runs"), signal).expect("failed to send a signal");
    }

    /// What its process holds of the system.
    pub fn holdings(&self) -> Holdings {
        Holdings::of(self.process.id().unwrap_or_default())
    }

    /// Waits until all of its threads are mostly asleep. In a process that spins, one never is, however
    /// little of a processor it gets.
    ///
    /// # Panics
    /// When they never are.
    pub async fn rests(&self) {
        const LOOKS: usize = 100;
        let begun = Instant::now();
        loop {
            let mut asleep = 0;
            for _ in 0..LOOKS {
                asleep += usize::from(Holdings::is_asleep(self.process.id().unwrap_or_default()));
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            if asleep > LOOKS / 2 {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "the engine spins: asleep in {asleep} of {LOOKS}");
        }
    }

    /// Waits for its end; how it ended and what it said last.
    ///
    /// # Panics
    /// When it does not end.
    pub async fn ended(mut self) -> (ExitStatus, String) {
        let mut said = String::new();
        let ended = async {
            self.stderr.read_to_string(&mut said).await?;
            self.process.wait().await
        };
        match tokio::time::timeout(PATIENCE, ended).await {
            Ok(Ok(status)) => (status, said),
            other => panic!("the engine did not end: {other:?}"),
        }
    }
}

/// A client on a socket.
#[derive(Debug)]
pub struct SocketClient {
    reader: BufReader<OwnedReadHalf>,
    /// What it writes to; closed by being dropped.
    pub writer: OwnedWriteHalf,
}

#[expect(clippy::expect_used, clippy::panic, reason = "a server that is not there fails the test")]
impl SocketClient {
    /// Connects.
    ///
    /// # Panics
    /// When nobody listens.
    pub async fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).await.expect("failed to connect");
        let (reader, writer) = stream.into_split();
        Self { reader: BufReader::new(reader), writer }
    }

    /// Sends text as it is.
    ///
    /// # Panics
    /// When the server does not read.
    pub async fn send(&mut self, text: impl AsRef<[u8]>) {
        self.writer.write_all(text.as_ref()).await.expect("failed to write to the server");
    }

    /// Reads one message; null at the end.
    ///
    /// # Panics
    /// When none comes.
    pub async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        match tokio::time::timeout(PATIENCE, read).await {
            Ok(Ok(_)) => json(line.as_bytes()),
            other => panic!("failed to read from the server: {other:?}"),
        }
    }

    /// Sends a message and reads one.
    pub async fn ask(&mut self, message: &Value) -> Value {
        self.send(format!("{message}\n")).await;
        self.receive().await
    }
}
