//! `hook serve`: a long-lived engine for an agent in any language.

use clap::Args;
use hook_bus::HookSystem;
use hook_bus::wire::serve_client;
use tokio_util::sync::CancellationToken;

use crate::context::{self, Context};
use crate::error::CommandError;
use crate::exit_code::{self, Status};
use crate::output::Printer;
use crate::signals::{Hangup, until_signalled};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  hook serve --stdio --project ~/code/thing

Beside requests a client may send:
  {\"type\":\"hook-subscribe\"}                        be told when its hooks start and finish
  {\"type\":\"hook-cancel\",\"correlationId\":\"c-1\"}    end a request's hooks
  {\"type\":\"hook-reload\"}                           read the settings anew (as SIGHUP does)")]
pub(crate) struct Arguments {
    /// Talk over standard input and output
    #[arg(long, required = true)]
    stdio: bool,
}

pub(crate) async fn run(
    _: &Arguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let system = &context.hook_system(printer).await?;
    let stop = &CancellationToken::new();
    let work = serve(system, stop, printer);
    until_signalled(system, Hangup::IsHeardElsewhere, stop, work).await
}

async fn serve(
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
