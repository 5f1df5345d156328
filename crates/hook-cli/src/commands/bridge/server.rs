//! Asking the project's own server, where one runs: a call then costs no start of an engine, and what lives
//! in the server answers, too.

use hook_bus::bridge::Bridged;
use hook_core::text::PathText;
use hook_translate::agents::{Agent, Asked};

use crate::context::Context;

/// How much sooner than it is waited for the server answers, at most.
#[cfg(unix)]
const SLACK: std::time::Duration = std::time::Duration::from_secs(2);

/// What the project's own server answers; `None` where there is none.
///
/// # Errors
/// When it is not one that would answer as an engine here, or does not answer in time. It says why.
#[cfg(unix)]
pub(super) async fn ask(
    agent: &'static Agent,
    asked: &Asked,
    said: &str,
    context: &Context,
) -> Result<Option<Bridged>, String> {
    use hook_bus::wire::{self, AskError, BridgeMessage};

    use crate::context::time_to_answer;
    use crate::server::OwnServer;

    let Some(OwnServer { path, expected }) = OwnServer::of(context) else { return Ok(None) };
    let deadline = time_to_answer(asked.patience());
    let mut message =
        BridgeMessage::new(agent, Some(asked.foreign_event().to_owned()), said.to_owned());
    // The server has answered before it is waited for no more: what it began is not begun again.
    message.deadline = Some(deadline.saturating_sub(SLACK.min(deadline / 4)));
    let once = async || {
        let stream = wire::connect(&path).await.map_err(|error| error.to_string());
        let (reader, writer) = stream.map_err(AskError::Refused)?.into_split();
        wire::ask(reader, writer, &expected, &message).await
    };
    let asking = async {
        let mut bridged = once().await;
        if matches!(bridged, Err(AskError::OtherSettings)) {
            // It was told to read them again, and may know them now.
            bridged = once().await;
        }
        bridged.map(Some).map_err(|error| format!("{}: {error}", path.shown()))
    };
    match tokio::time::timeout(deadline, asking).await {
        Ok(answered) => answered,
        Err(_) => Err(format!("{} has not answered in time", path.shown())),
    }
}

#[cfg(not(unix))]
pub(super) async fn ask(
    _: &'static Agent,
    _: &Asked,
    _: &str,
    _: &Context,
) -> Result<Option<Bridged>, String> {
    Ok(None)
}

/// Closes what the agent left open, so that nothing waits for the server's end, and becomes the server.
#[cfg(unix)]
const DETACHED: &str = r#"for it in /dev/fd/*; do n=${it##*/}; case $n in 0|1|2) ;; *) eval "exec $n>&-" ;; esac; done 2>/dev/null; exec "$0" "$@""#;

/// Starts a server for the project, which later calls ask. It ends by itself when nobody asks any more.
#[cfg(unix)]
pub(super) fn start(context: &Context) {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use hook_core::files::file_lock::FileLock;

    let Some(socket) = hook_bus::wire::socket_of(context.project()) else { return };
    // The server holds it as its standard input for as long as it lives, so that nobody starts another one
    // between its start and its socket, and the next one when it is gone, however it ended.
    let lock = match FileLock::try_take(&socket.with_extension("starting")) {
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
