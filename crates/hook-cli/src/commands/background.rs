//! Async hooks of a fired event. A separate process runs them, which outlives the command.

use std::ffi::OsStr;
use std::io::{Seek, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

use clap::Args;
use hook_bus::{HookExecutionResponse, HookSystem};
use hook_core::Hook;
use hook_json::text::one_line;
use hook_protocol::RequestInput;
use hook_run::Background;

use crate::context::Context;
use crate::output::Printer;

// The hidden options of that process. Not a doc comment: clap would show it as the command's help.
#[derive(Debug, Args)]
pub(crate) struct BackgroundArguments {
    /// Run the async hooks of the event alone, and wait for them: what the command starts for them
    #[arg(long, hide = true)]
    async_only: bool,
    /// With --async-only: leave out the hook of this name, since the plan ended before it
    #[arg(long, hide = true, value_name = "NAME")]
    not_started: Vec<String>,
}

impl BackgroundArguments {
    /// Returns `true` if this process only runs async hooks.
    pub(super) fn is_background_run(&self) -> bool {
        self.async_only
    }

    pub(super) fn background(&self) -> Background {
        match self.async_only {
            true => Background::Only,
            false => Background::Skip,
        }
    }

    /// Disables hooks that come after the end of the plan.
    pub(super) fn disable_skipped(&self, system: &HookSystem) {
        for name in &self.not_started {
            // A hook that no longer exists is not started either.
            let _ = system.set_hook_enabled(name, false);
        }
    }
}

/// Returns the matching async hooks of the event that the process has to run, without those after
/// the end of the plan.
pub(super) fn background_hooks(
    input: &RequestInput,
    response: &HookExecutionResponse,
    system: &HookSystem,
    printer: &mut Printer,
) -> Vec<Arc<Hook>> {
    let event = input.event();
    let hooks = system.hooks().unwrap_or_default();
    if !hooks.iter().any(|listing| listing.hook.event == event && listing.hook.runs_in_background())
    {
        return Vec::new();
    }
    let explanation = system.explain(input);
    let is_pending = |hook: &Arc<Hook>| {
        let mut ended = response.not_started.iter();
        hook.runs_in_background() && !ended.any(|skipped| skipped.hook.is_same_hook(&hook.identity))
    };
    let running = explanation.iter().flat_map(|explanation| explanation.running());
    let running = running.map(|explained| Arc::clone(&explained.hook)).filter(is_pending);
    // The process identifies hooks that were not started by their names.
    let has_unique_name = |hook: &Arc<Hook>| {
        let mut ended = response.not_started.iter();
        !ended.any(|skipped| skipped.hook.display_name() == hook.display_name())
    };
    let (unique, ambiguous): (Vec<_>, Vec<_>) = running.partition(has_unique_name);
    for hook in ambiguous {
        printer.warning(&format!(
            "the async hook `{}` of {event} was not started: another one of that name comes after the \
             end of the plan; give each a name of its own",
            one_line(hook.display_name())
        ));
    }
    unique
}

/// Starts the process: this command again, with these arguments and this standard input. Its hooks
/// get the original input.
pub(super) fn hand_over(
    arguments: &[&OsStr],
    input: &str,
    response: &HookExecutionResponse,
    context: &Context,
    printer: &mut Printer,
) {
    let start = || {
        let mut stdin = tempfile::tempfile()?;
        stdin.write_all(input.as_bytes())?;
        stdin.rewind()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments).arg("--async-only");
        let ended = response.not_started.iter().map(|skipped| skipped.hook.display_name());
        command.args(ended.map(|name| format!("--not-started={name}")));
        command.args(context.arguments());
        command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null());
        // A signal to this command's process group does not reach the hooks.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn()
    };
    if let Err(error) = start() {
        printer.warning(&format!("the async hooks of the event were not started: {error}"));
    }
}
