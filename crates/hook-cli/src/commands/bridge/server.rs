//! Calls to the project's own server, if it runs. They need no start of an engine, and hooks that
//! clients registered at the server run too.

use hook_agents::{Agent, AgentRequest};
use hook_bus::bridge::BridgeAnswer;
#[cfg(unix)]
use hook_json::text::PathText;

use crate::context::Context;

/// The maximum time by which the server answers before the call's deadline.
#[cfg(unix)]
const MARGIN: std::time::Duration = std::time::Duration::from_secs(2);

/// Returns the answer of the project's own server, or `None` if there is none.
///
/// # Errors
/// Returns the reason if the server would not answer like an engine here, or not in time.
#[cfg(unix)]
pub(super) async fn ask(
    agent: &'static Agent,
    call: &AgentRequest,
    payload: &str,
    context: &Context,
) -> Result<Option<BridgeAnswer>, String> {
    use std::io::ErrorKind::{ConnectionRefused, NotFound};

    use hook_bus::wire::{self, BridgeMessage, ServerCallError, SocketError};

    use crate::context::answer_deadline;
    use crate::server::OwnServer;

    let Some(OwnServer { path, expected }) = OwnServer::of(context) else { return Ok(None) };
    let deadline = answer_deadline(call.timeout());
    let mut message =
        BridgeMessage::new(agent, Some(call.foreign_event().to_owned()), payload.to_owned());
    // The server answers before this call stops waiting, so no hook is started twice.
    message.deadline = Some(deadline.saturating_sub(MARGIN.min(deadline / 4)));
    let attempt = async || {
        let (reader, writer) = match wire::connect(&path).await {
            Ok(stream) => stream.into_split(),
            // A killed server leaves its socket behind.
            Err(SocketError::Connect { source, .. })
                if matches!(source.kind(), ConnectionRefused | NotFound) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(ServerCallError::Refused(error.to_string())),
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

#[cfg(not(unix))]
pub(super) async fn ask(
    _: &'static Agent,
    _: &AgentRequest,
    _: &str,
    _: &Context,
) -> Result<Option<BridgeAnswer>, String> {
    Ok(None)
}

/// The script that closes descriptors left open by the agent, then becomes the server.
#[cfg(unix)]
const DETACHED: &str = r#"for it in /dev/fd/*; do n=${it##*/}; case $n in 0|1|2) ;; *) eval "exec $n>&-" ;; esac; done 2>/dev/null; exec "$0" "$@""#;

/// Starts a server for later calls in the project. It ends by itself when it is no longer used.
#[cfg(unix)]
pub(super) fn start(context: &Context) {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use hook_files::file_lock::FileLock;

    let Some(socket) = hook_bus::wire::default_socket_path(context.project()) else { return };
    // The server keeps the lock as its standard input for its whole life. So no second server
    // starts before the socket exists, and the next one can start however this one ended.
    let lock = match FileLock::try_acquire(&socket.with_extension("starting")) {
        Ok(Some(lock)) => lock,
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(target: "hook::bridge", "no server is started: {error}");
            return;
        }
    };
    let Ok(binary) = std::env::current_exe() else { return };
    let mut command = Command::new("/bin/bash");
    command.args(["--norc", "--noprofile", "-c", DETACHED]).arg(binary);
    command.args(["serve", "--socket", "--idle-exit", "600", "--project"]).arg(context.project());
    command
        .current_dir(context.project())
        .env_remove("BASH_ENV")
        .env_remove("CLAUDE_ENV_FILE")
        .process_group(0);
    command.stdin(lock.into_file()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(_) => {
            tracing::info!(target: "hook::bridge", "a server is started at {}", socket.shown())
        }
        Err(error) => tracing::warn!(target: "hook::bridge", "no server could be started: {error}"),
    }
}

#[cfg(not(unix))]
pub(super) fn start(_: &Context) {}
