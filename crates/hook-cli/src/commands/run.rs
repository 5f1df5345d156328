//! `hook run`: plays a script of messages and prints the responses.

use std::path::{Path, PathBuf};
use std::pin::pin;

use clap::Args;
use futures::StreamExt;
use hook_record::script::play;
use tokio::io::AsyncRead;

use super::with_hooks_of;
use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::output::Printer;
use crate::terminal::{UiArguments, with_ui};
use crate::{exit_code, render};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook run session.jsonl
  hook run --concurrent 8 - < session.jsonl | jq .processed.decision

Responses come in the order of the script.

Exit code: 1 if the script cannot be read; else 0, whatever hooks decide.")]
pub(crate) struct Arguments {
    /// The script, one request message a line; - is standard input
    script: PathBuf,
    /// How many requests may be in flight at once
    #[arg(long, value_name = "N", default_value_t = std::num::NonZeroUsize::MIN, value_parser = crate::options::count)]
    concurrent: std::num::NonZeroUsize,
    #[command(flatten)]
    ui: UiArguments,
}

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    let ui = arguments.ui.services(printer, arguments.script == Path::new("-"));
    let system = with_ui(context.builder()?, ui).build()?;
    with_hooks_of(&system, context, printer, async |system, stop, printer| {
        let unreadable = CommandError::read("the script", &arguments.script);
        let script: Box<dyn AsyncRead + Unpin> = if arguments.script == Path::new("-") {
            Box::new(tokio::io::stdin())
        } else {
            let file = tokio::fs::File::open(&arguments.script).await;
            Box::new(file.map_err(&unreadable)?)
        };
        let as_messages = context.json() || !printer.is_interactive();
        let mut responses = pin!(play(system.bus(), script, arguments.concurrent.get(), stop));
        while let Some(response) = responses.next().await {
            let response = response.map_err(&unreadable)?;
            if as_messages {
                printer.message(&response.to_json()).await?;
            } else {
                printer.text(&render::response(&response, printer)).await?;
            }
        }
        Ok(exit_code::PROCEED)
    })
    .await
}
