//! Calls to the project's own server, if it runs. They need no start of an engine, and hooks that
//! clients registered at the server run too.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use hook_agents::{Agent, AgentRequest};
use hook_bus::bridge::BridgeAnswer;
use hook_bus::wire::{self, BridgeMessage, Connection, ServerCallError};
use hook_files::file_lock::FileLock;
use hook_json::text::PathText;

use crate::context::{Context, answer_deadline};
use crate::server::{OwnServer, connect};

/// The maximum time by which the server answers before the call's deadline.
const MARGIN: Duration = Duration::from_secs(2);

/// Returns the answer of the project's own server, or `None` if there is none.
///
/// # Errors
/// Returns the reason if the server would not answer like an engine here, or not in time.
pub(super) async fn ask(
    agent: &'static Agent,
    call: &AgentRequest,
    payload: &str,
    context: &Context,
) -> Result<Option<BridgeAnswer>, String> {
    let Some(OwnServer { path, expected }) = OwnServer::of(context) else { return Ok(None) };
    let deadline = answer_deadline(call.timeout());
    let mut message =
        BridgeMessage::new(agent, Some(call.foreign_event().to_owned()), payload.to_owned());
    // The server answers before this call stops waiting, so no hook is started twice.
    message.deadline = Some(deadline.saturating_sub(MARGIN.min(deadline / 4)));
    let attempt = async || {
        let Some(Connection { reader, writer, .. }) = connect(&path).await? else {
            return Ok(None);
        };
        wire::call_server(reader, writer, &expected, &message).await.map(Some)
    };
    let request = async {
        let mut bridged = attempt().await;
        if matches!(bridged, Err(ServerCallError::OtherSettings)) {
            // The server was told to reload its settings, and may have them now.
            bridged = attempt().await;
        }
        bridged.map_err(|error| format!("{}: {error}", path.shown()))
    };
    match tokio::time::timeout(deadline, request).await {
        Ok(answer) => answer,
        Err(_) => Err(format!("{} has not answered in time", path.shown())),
    }
}

/// The script that closes descriptors left open by the agent, then becomes the server.
#[cfg(unix)]
const DETACHED: &str = r#"for it in /dev/fd/*; do n=${it##*/}; case $n in 0|1|2) ;; *) eval "exec $n>&-" ;; esac; done 2>/dev/null; exec "$0" "$@""#;

/// Starts a server for later calls in the project. It ends by itself when it is no longer used.
pub(super) fn start(context: &Context) {
    let Some(socket) = wire::default_socket_path(context.project()) else { return };
    let lock = match FileLock::try_acquire(&socket.with_extension("starting")) {
        Ok(Some(lock)) => lock,
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(target: "hook::bridge", "no server is started: {error}");
            return;
        }
    };
    let Ok(binary) = std::env::current_exe() else { return };
    let mut command = detached(&binary, lock);
    command.args(["serve", "--socket", "--idle-exit", "600", "--project"]).arg(context.project());
    command.current_dir(context.project()).env_remove("CLAUDE_ENV_FILE");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(_) => {
            tracing::info!(target: "hook::bridge", "a server is started at {}", socket.shown())
        }
        Err(error) => tracing::warn!(target: "hook::bridge", "no server could be started: {error}"),
    }
}

/// Returns a command for a program that outlives this one and has none of its descriptors.
///
/// The server keeps the lock as its standard input for its whole life. So no second server starts
/// before the socket exists, and the next one can start however this one ended.
#[cfg(unix)]
fn detached(program: &Path, lock: FileLock) -> Command {
    let mut command = Command::new("/bin/bash");
    command.args(["--norc", "--noprofile", "-c", DETACHED]).arg(program);
    command.env_remove("BASH_ENV").stdin(lock.into_file());
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

/// Returns a command for a program that outlives this one, without a console.
///
/// The server cannot keep the lock, which belongs to one process here. Of two servers that start at
/// once, the second finds that the pipe exists, and ends.
#[cfg(windows)]
fn detached(program: &Path, lock: FileLock) -> Command {
    /// `CREATE_NO_WINDOW` and `CREATE_NEW_PROCESS_GROUP`.
    const FLAGS: u32 = 0x0800_0000 | 0x0000_0200;
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    std::os::windows::process::CommandExt::creation_flags(&mut command, FLAGS);
    // Held until this process ends.
    std::mem::forget(lock);
    command
}
