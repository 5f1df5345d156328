//! `hook serve`: a long-lived engine for an agent in any language.

use hook_bus::HookSystem;
use hook_bus::wire::serve_client;
use tokio_util::sync::CancellationToken;

use crate::context;
use crate::error::CommandError;
use crate::exit_code::{self, Status};
use crate::output::Printer;

pub(crate) async fn serve(
    system: &HookSystem,
    stop: &CancellationToken,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let client = serve_client(system, tokio::io::stdin(), tokio::io::stdout(), stop);
    tokio::select! {
        // A client that is gone is the ordinary end of an agent that was killed.
        ended = client => ended.map(|_| exit_code::PROCEED).map_err(CommandError::Input),
        error = reload_on_hangup(system, printer) => Err(error),
    }
}

#[cfg(unix)]
async fn reload_on_hangup(system: &HookSystem, printer: &mut Printer) -> CommandError {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hangup = match signal(SignalKind::hangup()) {
        Ok(hangup) => hangup,
        Err(error) => return CommandError::Signals(error),
    };
    loop {
        hangup.recv().await;
        match system.reload().await {
            Ok(()) => context::show_settings_problems(system, printer),
            // A system that worked goes on with what it had.
            Err(error) => printer.problem(&error.to_string()),
        }
    }
}

#[cfg(not(unix))]
async fn reload_on_hangup(_: &HookSystem, _: &mut Printer) -> CommandError {
    std::future::pending().await
}
