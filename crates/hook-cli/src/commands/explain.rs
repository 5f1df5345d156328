//! `hook explain`: shows which hooks would run for an event, and why the others would not.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use hook_core::ExplainedHook;

use super::input::{DefaultInput, InputArguments};
use super::with_modules;
use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::output::Printer;
use crate::server::LiveStates;
use crate::{complete, exit_code, render};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook explain BeforeTool --tool write_file
  hook explain SessionStart --input '{\"source\": \"resume\"}'
  hook explain AfterTool --all --json | jq 'select(.runs | not) | .reasons'

No hook is run; modules are loaded.
`hook fire EVENT` with the same arguments runs what this says.")]
pub(crate) struct Arguments {
    /// The event, such as BeforeTool; `hook help events` lists them
    #[arg(add = ArgValueCompleter::new(complete::event_names))]
    event: String,
    #[command(flatten)]
    input: InputArguments,
    /// List the hooks of other events, too
    #[arg(long)]
    all: bool,
}

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    let event = context.event(&arguments.event)?;
    let input = arguments.input.read(DefaultInput::Sample(event.sample_input()), printer).await?;
    arguments.input.advise(event, &input, printer);
    let request = input.of(event).map_err(|reason| {
        CommandError::Usage(format!("{reason}; `hook fire` would run no hook with it"))
    })?;
    with_modules(context, None, printer, async |system, printer| {
        let explanation = system.explain(&request)?;
        let states = LiveStates::of(context, &system.hooks()?, printer).await;
        if context.json() {
            let is_shown = |hook: &&ExplainedHook| arguments.all || hook.hook.event == event;
            for hook in explanation.hooks.iter().filter(is_shown) {
                printer.message(&render::explained_json(&explanation, hook, &states)).await?;
            }
            return Ok(exit_code::PROCEED);
        }
        let explained = render::Explained {
            explanation: &explanation,
            states: &states,
            is_sample_subject: input.is_sample && !arguments.input.names_tool(),
            all: arguments.all,
            sources: &context.sources(),
        };
        printer.text(&render::explained(&explained, printer)).await?;
        Ok(exit_code::PROCEED)
    })
    .await
}
