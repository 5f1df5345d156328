//! `hook tail`: follows a running `hook serve`.

use std::path::{Path, PathBuf};

use clap::Args;
use hook_bus::wire::{self, Line, Tail};
use hook_json::RawJson;
use hook_json::text::PathText;

use super::serve::own_socket;
use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::output::Printer;
use crate::{exit_code, render};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook tail
  hook tail --socket /run/user/1000/hook.sock
  hook tail --json > session.hookrec   a recording, for hook trace and replay

Exit code: 1 if there is no server to follow; 0 when it has ended.")]
pub(crate) struct Arguments {
    /// The socket of the server; by default that of the project's own, else $XDG_RUNTIME_DIR/hook.sock
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
}

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    let socket = match &arguments.socket {
        Some(socket) => socket.clone(),
        None => default_socket(context.project())?,
    };
    let connection = wire::connect(&socket).await.inspect_err(|_| {
        if let Ok(own) = own_socket(context.project())
            && own != socket
        {
            printer.remark(&format!(
                "`hook bridge` asks the server at {} for this project, where none is; `hook serve \
                 --socket` starts one",
                own.shown()
            ));
        }
    })?;
    let mut tail = Tail::start(connection.reader, connection.writer).await?;
    printer.note(&format!("following {}", socket.shown()));
    let mut lines = render::TailLines::default();
    while let Some(line) = tail.next().await? {
        let text = match line {
            Line::Text { text, .. } => text,
            Line::TooLong { length, .. } => {
                printer.warning(&format!("a line of {length} bytes is left out"));
                continue;
            }
        };
        if context.json() {
            match RawJson::parse(text).and_then(|line| line.to_object()) {
                Ok(line) => printer.object(&line).await?,
                Err(error) => printer.warning(&format!("a line is no JSON and left out: {error}")),
            }
        } else if let Some(line) = lines.line(text, printer) {
            printer.text(&line).await?;
        }
    }
    printer.note("the server has ended");
    Ok(exit_code::PROCEED)
}

/// Returns the socket of the project's server, if it exists, else of the user's.
fn default_socket(project: &Path) -> Result<PathBuf> {
    if let Ok(own) = own_socket(project)
        && own.exists()
    {
        return Ok(own);
    }
    let directory = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let user_socket = directory
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join("hook.sock"));
    match (user_socket, own_socket(project)) {
        (Some(user_socket), own) if user_socket.exists() || own.is_err() => Ok(user_socket),
        // If neither exists, the error names the project's own socket.
        (_, Ok(own)) => Ok(own),
        _ => Err(CommandError::Usage(
            "XDG_RUNTIME_DIR is not set, so there is no default socket; name the server's with \
             --socket PATH"
                .to_owned(),
        )),
    }
}
