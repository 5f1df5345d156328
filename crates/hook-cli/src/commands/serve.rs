//! `hook serve`: a long-lived engine for an agent in any language.

use hook_bus::HookSystem;
use hook_bus::wire::serve_client;
use tokio_util::sync::CancellationToken;

use crate::error::CommandError;
use crate::exit_code::{self, Status};

pub(crate) async fn serve(
    system: &HookSystem,
    stop: &CancellationToken,
) -> Result<Status, CommandError> {
    let client = serve_client(system, tokio::io::stdin(), tokio::io::stdout(), stop);
    tokio::select! {
        // A client that is gone is the ordinary end of an agent that was killed.
        ended = client => ended.map(|_| exit_code::PROCEED).map_err(CommandError::Input),
        error = reload_on_hangup(system) => Err(error),
    }
}

#[cfg(unix)]
async fn reload_on_hangup(system: &HookSystem) -> CommandError {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hangup = match signal(SignalKind::hangup()) {
        Ok(hangup) => hangup,
        Err(error) => return CommandError::Signals(error),
    };
    loop {
        hangup.recv().await;
        // Logged where it is done; a system that worked goes on with what it had.
        let _ = system.reload().await;
    }
}

#[cfg(not(unix))]
async fn reload_on_hangup(_: &HookSystem) -> CommandError {
    std::future::pending().await
}
