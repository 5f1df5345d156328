//! The commands. Each file defines the arguments of one command, or of two opposite ones, calls a
//! library and renders the result.

pub(crate) mod agents;
pub(crate) mod audit;
mod background;
pub(crate) mod bridge;
pub(crate) mod check;
pub(crate) mod command;
pub(crate) mod completions;
pub(crate) mod connect;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod fire;
pub(crate) mod help;
pub(crate) mod import;
pub(crate) mod init;
mod input;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod packs;
pub(crate) mod replay;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod switching;
pub(crate) mod tail;
pub(crate) mod test;
pub(crate) mod trace;
#[allow(clippy::disallowed_methods, reason = "its printer escapes")]
pub(crate) mod trust;
pub(crate) mod uninstall;
pub(crate) mod watch;

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use hook_bus::HookSystem;
use hook_core::HookListing;
use hook_json::text::{PathText, one_line};
use hook_run::HostServices;
use hook_settings::FailBehavior;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::output::Printer;
use crate::render::plural;
use crate::signals::{Hangup, until_signalled};
use crate::terminal::with_ui;
use crate::{exit_code, progress, server};

/// Prints how the project's own server, if one runs, hears of a change of settings or of trust.
async fn remark_reload(context: &Context, printer: &mut Printer) {
    if let Some((path, process)) = server::running(context).await {
        let path = path.shown();
        let how = process.map_or_else(|| "SIGHUP".to_owned(), |id| format!("`kill -HUP {id}`"));
        printer.remark(&format!(
            "the server at {path} reads this with the next call of an agent, or after {how}"
        ));
    }
}

/// Asks a question that is answered with yes or no, on a terminal. Without one no one is asked, and the
/// answer is no.
async fn confirms(
    question: &str,
    context: &Context,
    printer: &mut Printer,
) -> Result<bool, CommandError> {
    let can_ask = std::io::stdin().is_terminal() && printer.is_interactive();
    if !can_ask || context.json() {
        return Ok(false);
    }
    printer.text(&format!("{question} [y/N] ")).await?;
    let line = BufReader::new(tokio::io::stdin()).lines().next_line().await;
    let line = line.map_err(CommandError::Input)?.unwrap_or_default();
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Runs `work` with the project's hooks. Shows the hooks that take long; a signal ends the hooks,
/// then the work.
async fn with_hooks(
    context: &Context,
    printer: &mut Printer,
    work: impl AsyncFnOnce(&HookSystem, &CancellationToken, &mut Printer) -> Result,
) -> Result {
    with_hooks_of(&context.builder()?.build()?, context, printer, work).await
}

/// Runs `work` with information about the project's hooks. Loads the modules that may run, and runs
/// nothing else; modules may ask the user through `ui`.
async fn with_modules(
    context: &Context,
    ui: Option<Arc<dyn HostServices>>,
    printer: &mut Printer,
    work: impl AsyncFnOnce(&HookSystem, &mut Printer) -> Result,
) -> Result {
    let system = with_ui(context.builder()?, ui).build()?;
    with_hooks_of(&system, context, printer, async |system, stop, printer| {
        match loads_modules(system, stop, printer).await? {
            true => work(system, printer).await,
            false => Ok(exit_code::FAILURE),
        }
    })
    .await
}

/// Loads the modules that may run, and reports failures. Returns `false` if a signal came first.
async fn loads_modules(
    system: &HookSystem,
    stop: &CancellationToken,
    printer: &mut Printer,
) -> Result<bool> {
    tokio::select! {
        loaded = system.load_modules() => loaded?,
        () = stop.cancelled() => return Ok(false),
    }
    let hooks = system.hooks()?;
    for module in system.loaded_modules()? {
        let Some(error) = &module.error else { continue };
        let is_guard = hooks.iter().any(|HookListing { hook, .. }| {
            hook.event.is_wildcard()
                && hook.module() == Some(module.path.as_path())
                && hook.fail_behavior == FailBehavior::Block
        });
        let blocks = if is_guard { ", and blocks every event that can be blocked" } else { "" };
        let (name, error) = (one_line(&module.name), one_line(error));
        printer.warning(&format!("module {name} has no hooks{blocks}: {error}"));
    }
    Ok(true)
}

/// Loads the modules that may run, and reports failures. Settings problems are already reported.
async fn try_modules(context: &Context, printer: &mut Printer) -> Result {
    let system = context.builder()?.build()?;
    system.initialize_blocking().await?;
    while_signals(&system, printer, async |system, stop, printer| {
        loads_modules(system, stop, printer).await.map(|_| exit_code::PROCEED)
    })
    .await
}

/// Runs `work` with a hook system that is not initialized yet, and outlives the work.
async fn with_hooks_of(
    system: &HookSystem,
    context: &Context,
    printer: &mut Printer,
    work: impl AsyncFnOnce(&HookSystem, &CancellationToken, &mut Printer) -> Result,
) -> Result {
    context.initialize(system, printer).await?;
    while_signals(system, printer, work).await
}

/// Runs `work` with an initialized hook system, until a signal ends it.
async fn while_signals(
    system: &HookSystem,
    printer: &mut Printer,
    work: impl AsyncFnOnce(&HookSystem, &CancellationToken, &mut Printer) -> Result,
) -> Result {
    let stop = &CancellationToken::new();
    let lines = progress::lines(printer);
    let work = progress::show_while(system, lines, work(system, stop, printer));
    let ended = until_signalled(system, Hangup::Ends, stop, work).await;
    warn_of_killed(system, printer);
    ended
}

/// Warns that async hooks were ended with the command.
fn warn_of_killed(system: &HookSystem, printer: &mut Printer) {
    let ended = system.ended_in_background();
    if ended > 0 {
        let hooks = plural(ended, "async hook was", "async hooks were");
        printer.warning(&format!("{hooks} ended with the command, before the work was done"));
    }
}

/// Returns `true` if both paths lead to the same existing file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}
