//! Async hooks of an event that was fired: a process of their own runs them, which outlives the
//! command.

use std::io::{Seek, Write};
use std::process::{Command, Stdio};

use hook_bus::HookSystem;
use hook_core::HookEventName;

use crate::commands::input::Input;
use crate::context::Context;
use crate::output::Printer;

/// Starts the process, if the event has such hooks. They are told the input as it came.
pub(super) fn hand_over(
    event: HookEventName,
    input: &Input,
    context: &Context,
    system: &HookSystem,
    printer: &mut Printer,
) {
    let hooks = system.hooks().unwrap_or_default();
    let runs = hooks.iter().any(|listing| {
        let hook = &listing.hook;
        hook.event == event && listing.enabled && listing.trusted && hook.runs_in_background()
    });
    if !runs {
        return;
    }
    let start = || {
        let mut told = tempfile::tempfile()?;
        told.write_all(input.json.as_str().as_bytes())?;
        told.rewind()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["fire", event.as_str(), "--input", "-", "--async-only", "--as-hook"]);
        command.args(context.arguments());
        command.stdin(told).stdout(Stdio::null()).stderr(Stdio::null());
        // What ends the group of this command does not end the hooks.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn()
    };
    if let Err(error) = start() {
        printer.warning(&format!("the async hooks of {event} were not started: {error}"));
    }
}
