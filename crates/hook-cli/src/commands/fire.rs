//! `hook fire`: publish one request, show the response.

use std::time::Instant;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_core::{HookEventName, PolicyDecision};
use tokio_util::sync::CancellationToken;

use super::input::{Input, InputArguments, Otherwise};
use super::with_hooks;
use crate::complete;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit_code::{self, Status};
use crate::output::Printer;
use crate::render;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook fire BeforeTool             try the hooks with a sample of a tool call
  hook fire BeforeTool --tool run_shell_command --show-input
  hook fire BeforeTool --tool edit --input '{\"tool_input\": {\"path\": \"a.txt\"}}'
  hook fire SessionStart --input '{\"source\": \"startup\"}' --json
  echo '{\"prompt\": \"Say hello\"}' > prompt.json
  hook fire BeforeAgent --input @prompt.json
  echo '{\"tool_name\":\"edit\",\"tool_input\":{}}' | hook fire BeforeTool --as-hook

`hook explain EVENT` says which hooks would run, and runs none.

Exit code: 2 if hooks block, stop or ask; 1 if the event failed; else 0.")]
pub(crate) struct Arguments {
    /// The event: BeforeTool, AfterTool, BeforeAgent, AfterAgent, SessionStart, SessionEnd,
    /// PreCompress, BeforeModel, AfterModel, BeforeToolSelection or Notification
    #[arg(add = ArgValueCompleter::new(complete::event_names))]
    event: String,
    #[command(flatten)]
    input: InputArguments,
    /// Show what each hook was told on its standard input
    #[arg(long)]
    show_input: bool,
    /// Show all that hooks wrote, not only the beginning
    #[arg(long)]
    full: bool,
    /// Be a hook: read the input on standard input, unless --input gives it, print the final output
    /// and, on stderr, the reason. Uses no sample
    #[arg(long, conflicts_with_all = ["json", "show_input", "full"])]
    as_hook: bool,
}

pub(crate) async fn run(
    arguments: &Arguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    with_hooks(context, printer, async |system, stop, printer| {
        fire(arguments, context, system, stop, printer).await
    })
    .await
}

async fn fire(
    arguments: &Arguments,
    context: &Context,
    system: &HookSystem,
    stop: &CancellationToken,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let event = HookEventName::from_name(&arguments.event);
    let otherwise = match event {
        // Who fires as a hook asks about what happens, and not about a sample.
        _ if arguments.as_hook => Otherwise::StandardInput,
        Some(event) => Otherwise::Sample(event.sample_input()),
        None => Otherwise::Nothing,
    };
    let input = tokio::select! {
        input = arguments.input.read(otherwise, printer) => input?,
        // Whoever was to give the input will not.
        () = stop.cancelled() => return Ok(exit_code::FAILURE),
    };
    if let Some(event) = event {
        arguments.input.advise(event, &input, printer);
    }
    if input.is_sample {
        printer.remark(match arguments.show_input {
            true => "a sample was used as the input; --input gives another",
            false => "a sample was used as the input; --show-input shows it, --input gives another",
        });
    }
    let registry = system.registry()?;
    let begun = Instant::now();
    let response = system.bus().request(request(arguments, context, &input)).await;
    let took = begun.elapsed();
    if context.json() {
        printer.message(&response.to_json()).await?;
    } else if arguments.as_hook {
        print_as_hook(&response, printer).await?;
    } else {
        let subject = event.and_then(|event| input.subject(event).ok().flatten());
        let explanation = event
            .filter(|_| response.hooks.is_empty())
            .map(|event| registry.explain(event, subject.as_deref()));
        let fired = render::Fired {
            event: &arguments.event,
            subject,
            explanation: explanation.as_ref(),
            said: registry.notices(event).collect(),
            interrupted: stop.is_cancelled(),
            input: arguments.show_input.then_some(&input.json),
            response: &response,
            took,
            full: arguments.full,
        };
        printer.text(&render::fired(&fired, printer)).await?;
    }
    Ok(status(&response))
}

fn request(arguments: &Arguments, context: &Context, input: &Input) -> HookExecutionRequest {
    let mut request = HookExecutionRequest::unchecked(&arguments.event, input.json.clone());
    if arguments.show_input {
        request = request.with_inputs();
    }
    if arguments.full && context.json() {
        request = request.with_streams();
    }
    request
}

/// Prints what a hook prints: its output, and its reason on stderr.
async fn print_as_hook(
    response: &HookExecutionResponse,
    printer: &mut Printer,
) -> Result<(), CommandError> {
    let processed = &response.processed;
    if let Some(output) = &processed.aggregated.final_output {
        printer.message(output.to_raw().as_str().as_bytes()).await?;
    }
    if let Some(reason) = &processed.reason {
        printer.note(reason);
    } else if let Some(error) = response.error() {
        printer.problem(&error.to_string());
    }
    Ok(())
}

fn status(response: &HookExecutionResponse) -> Status {
    match response.processed.decision {
        PolicyDecision::Proceed if response.success() => exit_code::PROCEED,
        PolicyDecision::Proceed => exit_code::FAILURE,
        PolicyDecision::Ask | PolicyDecision::Block | PolicyDecision::Stop => exit_code::BLOCKED,
    }
}
