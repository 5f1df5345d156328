//! `hook replay`: fires a recording's requests again and shows what changed.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::trace::read_recording;
use super::with_hooks;
use crate::context::Context;
use crate::error::Result;
use crate::output::Printer;
use crate::render::{self, ReplayTotals, Replayed};
use crate::{complete, exit_code};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook serve --stdio --record session.hookrec   make a recording
  hook replay session.hookrec                   is all as it was?
  hook replay session.hookrec --event BeforeTool --settings new.json
  hook replay session.hookrec --json | jq 'select(.outcome == \"changed\")'

Requests are fired one after the other, through the settings of now, and hooks
run for real. Times, durations and ids do not count.

Exit code: 1 if something changed or could not be replayed; else 0.")]
pub(crate) struct Arguments {
    /// The recording, made by `hook serve --record`
    recording: PathBuf,
    /// Only requests of this event
    #[arg(long, value_name = "EVENT", add = ArgValueCompleter::new(complete::event_names))]
    event: Option<String>,
}

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    let only = arguments.event.as_deref().map(|name| context.event(name)).transpose()?;
    let recording = read_recording(&arguments.recording, printer).await?;
    let mut requests = recording.requests;
    requests.retain(|request| only.is_none_or(|event| request.is_for_event(event)));
    with_hooks(context, printer, async |system, stop, printer| {
        let mut totals = ReplayTotals::default();
        for request in &requests {
            let replayed = request.replay(system.bus()).await;
            if stop.is_cancelled() {
                // A result that a signal cut off does not reflect the hooks.
                break;
            }
            totals.count(&replayed);
            printer.show(&Replayed { request, replayed: &replayed }).await?;
        }
        if !context.json() {
            printer.text(&render::replay_summary(&totals, printer)).await?;
        }
        Ok(if totals.changed == 0 { exit_code::PROCEED } else { exit_code::FAILURE })
    })
    .await
}
