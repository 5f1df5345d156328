//! The user at the terminal, for hooks that ask their host: questions, notifications and a status line
//! (protocol.md §6, "Host calls").
//!
//! | file | what it holds |
//! | --- | --- |
//! | `question` | what a hook may ask, and how an answer is read |
//! | `keyboard` | lines that the user types, and only those typed since the question |
//! | `ui` | the services that hooks get |

#[cfg(unix)]
mod keyboard;
#[cfg(unix)]
mod question;
#[cfg(unix)]
mod ui;

use std::sync::Arc;

use clap::Args;
use hook_bus::HookSystemBuilder;
use hook_core::run::HostServices;

use crate::output::Printer;

// Whether hooks may ask the user. No documentation: clap would take it for its commands'.
#[derive(Debug, Args)]
pub(crate) struct UiArguments {
    /// Ask the user nothing: hooks get what there is without a user. It is so where standard input or
    /// stderr is no terminal
    #[arg(long)]
    no_ui: bool,
}

impl UiArguments {
    /// What hooks may ask of the user; `None` where there is no terminal, or the command reads from it
    /// itself.
    pub(crate) fn services(
        &self,
        printer: &Printer,
        reads_stdin: bool,
    ) -> Option<Arc<dyn HostServices>> {
        if self.no_ui || reads_stdin {
            return None;
        }
        at_terminal(printer)
    }
}

/// A hook system whose hooks may ask that.
pub(crate) fn with_ui(
    builder: HookSystemBuilder,
    ui: Option<Arc<dyn HostServices>>,
) -> HookSystemBuilder {
    match ui {
        Some(ui) => builder.host_services(ui),
        None => builder,
    }
}

#[cfg(unix)]
fn at_terminal(printer: &Printer) -> Option<Arc<dyn HostServices>> {
    use std::io::{IsTerminal, stderr, stdin};

    let is_there = stdin().is_terminal() && stderr().is_terminal();
    is_there.then(|| Arc::new(ui::TerminalUi::new(printer)) as Arc<dyn HostServices>)
}

/// Elsewhere a line that is typed cannot be waited for without a thread that never ends.
#[cfg(not(unix))]
fn at_terminal(_: &Printer) -> Option<Arc<dyn HostServices>> {
    None
}
