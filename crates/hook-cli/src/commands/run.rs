//! `hook run`: play a script of messages, print the responses.

use std::path::Path;
use std::pin::pin;

use futures::StreamExt;
use hook_bus::HookSystem;
use hook_bus::script::play;
use tokio::io::AsyncRead;
use tokio_util::sync::CancellationToken;

use crate::args::{Common, Run};
use crate::error::CommandError;
use crate::exit_code::{self, Status};
use crate::output::Printer;
use crate::render;

pub(crate) async fn run(
    run: &Run,
    common: &Common,
    system: &HookSystem,
    stop: &CancellationToken,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let script: Box<dyn AsyncRead + Unpin> = if run.script == Path::new("-") {
        Box::new(tokio::io::stdin())
    } else {
        let file = tokio::fs::File::open(&run.script).await;
        Box::new(file.map_err(|source| unreadable(run, source))?)
    };
    let as_messages = common.json || !printer.is_interactive();
    let mut responses = pin!(play(system.bus(), script, run.concurrent.get(), stop));
    while let Some(response) = responses.next().await {
        let response = response.map_err(|source| unreadable(run, source))?;
        if as_messages {
            printer.message(&response.to_json()).await?;
        } else {
            printer.text(&render::response(&response, printer)).await?;
        }
    }
    Ok(exit_code::PROCEED)
}

fn unreadable(run: &Run, source: std::io::Error) -> CommandError {
    CommandError::Read { what: "the script", path: run.script.clone(), source }
}
