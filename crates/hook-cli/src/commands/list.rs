//! `hook list`: lists all hooks, and whether they run.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::with_modules;
use crate::context::Context;
use crate::error::Result;
use crate::output::Printer;
use crate::server::{LiveStates, note_registered};
use crate::{complete, exit_code, render};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook list
  hook list --event BeforeTool
  hook list --json | jq 'select(.enabled | not) | .name'

`hook explain EVENT` says which of them run for one event.")]
pub(crate) struct Arguments {
    /// Only hooks of this event
    #[arg(long, add = ArgValueCompleter::new(complete::event_names))]
    event: Option<String>,
}

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    let event = arguments.event.as_deref().map(|name| context.event(name)).transpose()?;
    with_modules(context, None, printer, async |system, printer| {
        let mut listings = system.hooks()?;
        let states = LiveStates::of(context, &listings, printer).await;
        listings.retain(|listing| event.is_none_or(|event| listing.hook.event == event));
        // In run order: hooks of the same priority keep the order of the settings.
        listings.sort_by_key(|listing| (listing.hook.event, listing.hook.priority));
        note_registered(context, "are not listed", printer).await;
        if context.json() {
            for listing in &listings {
                printer.message(&render::listing_json(listing, &states)).await?;
            }
            return Ok(exit_code::PROCEED);
        }
        let text = match listings.is_empty() {
            true => render::nothing_found(event, &context.sources(), printer),
            false => render::listings(&listings, &states, printer),
        };
        printer.text(&text).await?;
        Ok(exit_code::PROCEED)
    })
    .await
}
