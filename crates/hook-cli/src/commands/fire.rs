//! `hook fire`: publish one request, show the response.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_core::{JsonObject, PolicyDecision, RawJson};
use tokio::io::AsyncReadExt;
use tokio_util::sync::CancellationToken;

use crate::complete;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit_code::{self, Status};
use crate::output::Printer;
use crate::render;
use crate::signals::{Hangup, until_signalled};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook fire BeforeTool --tool write_file --input '{\"tool_input\": {\"path\": \"a.txt\"}}'
  hook fire SessionStart --input '{\"source\": \"startup\"}' --json
  hook fire BeforeAgent --input @prompt.json")]
pub(crate) struct Arguments {
    /// The event: BeforeTool, AfterTool, BeforeAgent, AfterAgent, SessionStart, SessionEnd,
    /// PreCompress, BeforeModel, AfterModel, BeforeToolSelection or Notification
    #[arg(add = ArgValueCompleter::new(complete::event_names))]
    event: String,
    /// The tool, for events about one; its input is {} unless given
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// The event's input as JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    input: Option<String>,
    /// Print the final output and, on stderr, the reason: to be a hook oneself
    #[arg(long, conflicts_with = "json")]
    as_hook: bool,
}

pub(crate) async fn run(
    arguments: &Arguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let system = &context.hook_system(printer).await?;
    let stop = &CancellationToken::new();
    let work = fire(arguments, context, system, stop, printer);
    until_signalled(system, Hangup::Ends, stop, work).await
}

async fn fire(
    arguments: &Arguments,
    context: &Context,
    system: &HookSystem,
    stop: &CancellationToken,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let request = tokio::select! {
        request = request(arguments) => request?,
        // Whoever was to give the input will not.
        () = stop.cancelled() => return Ok(exit_code::FAILURE),
    };
    let response = system.bus().request(request).await;
    if context.json() {
        printer.message(&response.to_json()).await?;
    } else if arguments.as_hook {
        print_as_hook(&response, printer).await?;
    } else {
        printer.text(&render::response(&response, printer)).await?;
    }
    Ok(status(&response))
}

async fn request(arguments: &Arguments) -> Result<HookExecutionRequest, CommandError> {
    let input = match arguments.input.as_deref() {
        None => RawJson::from(JsonObject::new().to_raw()),
        Some(given) => RawJson::parse(read_input(given).await?).map_err(CommandError::NotJson)?,
    };
    Ok(HookExecutionRequest::unchecked(
        &arguments.event,
        with_tool(input, arguments.tool.as_deref()),
    ))
}

/// Names the tool, with empty arguments where there are none. What is not an object stays as it
/// is, to be refused at the engine's door.
fn with_tool(input: RawJson, tool: Option<&str>) -> RawJson {
    let (Some(tool), Ok(mut fields)) = (tool, input.to_object()) else { return input };
    fields.insert("tool_name", RawJson::from_text(tool));
    if fields.get("tool_input").is_none() {
        fields.insert("tool_input", JsonObject::new().to_raw());
    }
    fields.to_raw().into()
}

async fn read_input(given: &str) -> Result<String, CommandError> {
    let bytes = match given.strip_prefix('@') {
        Some(path) => tokio::fs::read(path).await.map_err(|source| CommandError::Read {
            what: "the input",
            path: path.into(),
            source,
        })?,
        None if given == "-" => {
            let mut bytes = Vec::new();
            let read = tokio::io::stdin().read_to_end(&mut bytes).await;
            read.map_err(CommandError::Input)?;
            bytes
        }
        None => return Ok(given.to_owned()),
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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
