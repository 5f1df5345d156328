//! The user at the terminal, for hooks that call their host: questions, notifications and a status
//! line (reference/messages.md, "Host calls").
//!
//! | file | contents |
//! | --- | --- |
//! | `question` | the questions of hooks, and parsing of answers |
//! | `keyboard` | lines that the user types after a question |
//! | `ui` | the host services for hooks |

#[cfg(unix)]
mod keyboard;
#[cfg(unix)]
mod question;
#[cfg(unix)]
mod ui;

use std::sync::Arc;

use clap::Args;
use hook_bus::HookSystemBuilder;
use hook_run::HostServices;

use crate::output::Printer;

// Whether hooks may ask the user. Not a doc comment: clap would show it as the command's help.
#[derive(Debug, Args)]
pub(crate) struct UiArguments {
    /// Ask the user nothing: hooks get what there is without a user. It is so where standard input or
    /// stderr is no terminal
    #[arg(long)]
    no_ui: bool,
}

impl UiArguments {
    /// Returns the services through which hooks ask the user. Returns `None` without a terminal, or
    /// if the command reads standard input itself.
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

/// Lets the hooks of a system use these services.
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

    let is_terminal = stdin().is_terminal() && stderr().is_terminal();
    is_terminal.then(|| Arc::new(ui::TerminalUi::new(printer)) as Arc<dyn HostServices>)
}

/// Returns `None`: on this system, waiting for a typed line takes a thread that never ends.
#[cfg(not(unix))]
fn at_terminal(_: &Printer) -> Option<Arc<dyn HostServices>> {
    None
}
