//! `hook fire`: publishes one request and shows the response.

mod fleet;

use std::ffi::OsStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap_complete::engine::ArgValueCompleter;
use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_core::Hook;
use hook_json::{ObjectWriter, RawObject};
use hook_protocol::{HookEventName, PolicyDecision};
use hook_settings::FailBehavior;
use tokio_util::sync::CancellationToken;

use super::background::{self, BackgroundArguments};
use super::input::{DefaultInput, Input, InputArguments};
use super::with_hooks_of;
use crate::context::{Context, UnknownEvent};
use crate::error::{CommandError, Result};
use crate::exit_code::{self, ExitPolicy, Failure, Status};
use crate::fleet::FleetArguments;
use crate::output::Printer;
use crate::server::note_registered;
use crate::signals::{Hangup, until_signalled};
use crate::terminal::{UiArguments, with_ui};
use crate::{complete, guards, render};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook fire BeforeTool             try the hooks with a sample of a tool call
  hook fire BeforeTool --tool run_shell_command --show-input
  hook fire BeforeTool --tool edit --input '{\"tool_input\": {\"path\": \"a.txt\"}}'
  hook fire SessionStart --input '{\"source\": \"startup\"}' --json
  echo '{\"prompt\": \"Say hello\"}' > prompt.json
  hook fire BeforeAgent --input @prompt.json
  hook fire BeforeTool --nats tls://broker.example --nats-creds agent.creds
  echo '{\"tool_name\":\"edit\",\"tool_input\":{}}' | hook fire BeforeTool --as-hook

`hook explain EVENT` says which hooks would run, and runs none.

Exit code: 2 if hooks block, stop, ask or retry; 1 if the event failed; else 0.")]
pub(crate) struct Arguments {
    /// The event, such as BeforeTool; `hook help events` lists them
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
    #[command(flatten)]
    fleet: FleetArguments,
    /// What it means that no engine of the fleet answered
    #[arg(long, value_name = "WORD", requires = "nats", default_value = "block", value_parser = fail_behavior())]
    fail_behavior: FailBehavior,
    #[command(flatten)]
    rest: BackgroundArguments,
    #[command(flatten)]
    ui: UiArguments,
}

fn fail_behavior() -> impl TypedValueParser<Value = FailBehavior> {
    let names = PossibleValuesParser::new(["continue", "block"]);
    names.map(|name| FailBehavior::from_name(&name).unwrap_or(FailBehavior::Block))
}

pub(crate) async fn run(
    arguments: &Arguments,
    context: &Context,
    exit_policy: &ExitPolicy,
    printer: &mut Printer,
) -> Result {
    let event = match context.event(&arguments.event) {
        Ok(event) => event,
        Err(no_event) => {
            return Err(refuse(arguments, no_event, context, exit_policy, printer).await);
        }
    };
    if arguments.fleet.nats.is_some() {
        return ask_fleet(arguments, event, context, printer).await;
    }
    let reads_stdin = arguments.as_hook || arguments.input.is_standard_input();
    let ui = arguments.ui.services(printer, reads_stdin);
    let builder = context.builder()?.background(arguments.rest.background());
    let system = with_ui(builder, ui).build()?;
    let fired = with_hooks_of(&system, context, printer, async |system, stop, printer| {
        arguments.rest.disable_skipped(system);
        fire(arguments, event, context, system, stop, printer).await
    });
    let fired = fired.await;
    if fired.is_err() {
        exit_policy.set_guarded(guards::may_exist(event, &system, context));
    }
    fired
}

/// Reports an unknown event; with `--json`, as the engine's response. A guard may still exist for
/// it: settings that declare the event may be gone or unreadable.
async fn refuse(
    arguments: &Arguments,
    no_event: UnknownEvent,
    context: &Context,
    exit_policy: &ExitPolicy,
    printer: &mut Printer,
) -> CommandError {
    let request = HookExecutionRequest::unchecked(&arguments.event, RawObject::empty());
    let outcome = async {
        let response = context.hook_system(printer).await?.bus().request(request).await;
        let is_blocked = response.processed.decision > PolicyDecision::Proceed;
        exit_policy.set_guarded(is_blocked || !no_event.is_complete);
        match context.json() {
            true => printer.message(&response.to_json()).await,
            false => Ok(()),
        }
    };
    match outcome.await {
        Ok(()) => no_event.into(),
        Err(error) => error,
    }
}

/// Calls a fleet. If that fails, the event counts as guarded: the fleet may have guards.
async fn ask_fleet(
    arguments: &Arguments,
    event: HookEventName,
    context: &Context,
    printer: &mut Printer,
) -> Result {
    // This system only handles signals: no settings are read, and no hooks run.
    let (idle, stop) =
        (&HookSystem::builder(context.project()).build()?, &CancellationToken::new());
    let work = async {
        let Some(input) = read(arguments, event, stop, printer).await? else {
            return Ok(exit_code::FAILURE);
        };
        let begun = Instant::now();
        let request = request(arguments, context, &input);
        let response = fleet::ask(arguments, request, context, stop).await?;
        let fired =
            Fired { elapsed: begun.elapsed(), interrupted: stop.is_cancelled(), event, input };
        answer(arguments, &fired, (&response, &[]), context, None, printer).await
    };
    until_signalled(idle, Hangup::Ends, stop, work).await
}

/// Reads the event's input. Returns `None` if a signal ends the wait.
async fn read(
    arguments: &Arguments,
    event: HookEventName,
    stop: &CancellationToken,
    printer: &mut Printer,
) -> Result<Option<Input>> {
    let default_input = match arguments.as_hook {
        // As a hook, the command decides about a real event, so no sample is used.
        true => DefaultInput::StandardInput,
        false => DefaultInput::Sample(event.sample_input()),
    };
    let input = tokio::select! {
        input = arguments.input.read(default_input, printer) => input?,
        () = stop.cancelled() => return Ok(None),
    };
    arguments.input.advise(event, &input, printer);
    if input.is_sample {
        printer.remark(match arguments.show_input {
            true => "a sample was used as the input; --input gives another",
            false => "a sample was used as the input; --show-input shows it, --input gives another",
        });
    }
    Ok(Some(input))
}

async fn fire(
    arguments: &Arguments,
    event: HookEventName,
    context: &Context,
    system: &HookSystem,
    stop: &CancellationToken,
    printer: &mut Printer,
) -> Result {
    let Some(input) = read(arguments, event, stop, printer).await? else {
        return Ok(exit_code::FAILURE);
    };
    let begun = Instant::now();
    let response = system.bus().request(request(arguments, context, &input)).await;
    let fired = Fired { elapsed: begun.elapsed(), interrupted: stop.is_cancelled(), event, input };
    let background_hooks = match arguments.rest.is_background_run() {
        true => Vec::new(),
        false => match fired.input.of(event) {
            Ok(input) => background::background_hooks(&input, &response, system, printer),
            Err(_) => Vec::new(),
        },
    };
    if !background_hooks.is_empty() {
        let command_line = ["fire", event.as_str(), "--input", "-", "--as-hook"].map(OsStr::new);
        background::hand_over(
            &command_line,
            fired.input.json.as_str(),
            &response,
            context,
            printer,
        );
    }
    let response = block_for_unsearched_settings(response, context);
    answer(arguments, &fired, (&response, &background_hooks), context, Some(system), printer).await
}

/// Shows the response and returns its exit code.
async fn answer(
    arguments: &Arguments,
    fired: &Fired,
    (response, background_hooks): (&HookExecutionResponse, &[Arc<Hook>]),
    context: &Context,
    system: Option<&HookSystem>,
    printer: &mut Printer,
) -> Result {
    let status = status(response);
    match show(arguments, fired, (response, background_hooks), context, system, printer).await {
        Ok(()) => Ok(status),
        // The decision holds even if showing the response fails.
        Err(error) if status != exit_code::PROCEED => {
            if error.failure() != Failure::ClosedOutput {
                printer.problem(&error.to_string());
            }
            Ok(status)
        }
        Err(error) => Err(error),
    }
}

/// A fired event.
struct Fired {
    event: HookEventName,
    input: Input,
    elapsed: Duration,
    /// `true` if a signal ended the command.
    interrupted: bool,
}

/// Turns the response into a block if the user's settings could not be searched: a guard in them might
/// have blocked it.
fn block_for_unsearched_settings(
    mut response: HookExecutionResponse,
    context: &Context,
) -> HookExecutionResponse {
    if response.processed.decision == PolicyDecision::Proceed
        && let Some(why) = guards::unsearched(context)
    {
        response.processed.decision = PolicyDecision::Block;
        response.processed.reason = Some(why);
    }
    response
}

async fn show(
    arguments: &Arguments,
    fired: &Fired,
    (response, background_hooks): (&HookExecutionResponse, &[Arc<Hook>]),
    context: &Context,
    system: Option<&HookSystem>,
    printer: &mut Printer,
) -> Result<()> {
    if context.json() {
        return printer.message(&response.to_json()).await;
    }
    if arguments.as_hook {
        return print_as_hook(response, printer).await;
    }
    let registry = system.map(HookSystem::registry).transpose()?;
    let input = fired.input.of(fired.event).ok();
    let subject = input.as_ref().and_then(|input| input.payload.match_subject());
    // Problems with a whole file are shown beside the decision already.
    let notices = registry.iter().flat_map(|registry| {
        let is_file_diagnostic = |notice: &str| {
            let mut file_diagnostics =
                registry.diagnostics().iter().filter(|diagnostic| diagnostic.is_whole_file());
            file_diagnostics.any(|diagnostic| diagnostic.to_string() == notice)
        };
        registry.notices(Some(fired.event)).filter(move |notice| !is_file_diagnostic(notice))
    });
    let unmatched =
        input.as_ref().filter(|_| response.hooks.is_empty() && background_hooks.is_empty());
    let explanation = match (system, unmatched) {
        (Some(system), Some(input)) => Some(system.explain(input)?),
        _ => None,
    };
    let shown = render::Fired {
        event: fired.event,
        subject: subject.map(str::to_owned),
        explanation: explanation.as_ref(),
        notices: notices.collect(),
        interrupted: fired.interrupted,
        background_hooks,
        input: arguments.show_input.then_some(&fired.input.json),
        response,
        elapsed: fired.elapsed,
        full: arguments.full,
    };
    printer.text(&render::fired(&shown, printer)).await?;
    if system.is_some() && context.has_no_settings() {
        printer.remark("there are no hooks yet; `hook init` writes a first guard");
    }
    if system.is_some() {
        note_registered(context, "were not asked", printer).await;
    }
    Ok(())
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

/// Prints a hook's output on stdout, and its reason on stderr.
async fn print_as_hook(response: &HookExecutionResponse, printer: &mut Printer) -> Result<()> {
    let processed = &response.processed;
    if let Some(reason) = &processed.reason {
        printer.note(reason);
    } else if let Some(error) = response.error() {
        printer.problem(&error.to_string());
    }
    let Some(mut output) = processed.to_output() else { return Ok(()) };
    if let Some(event) = response.event {
        output = output.without_unknown_fields(event);
    }
    // A hook's output has no field for a warning of the writer.
    let (line, warning) = ObjectWriter::line_and_warning(|out| output.write(out));
    if let Some(warning) = warning {
        printer.warning(&warning);
    }
    match printer.message(&line).await {
        // The hooks' changes are lost, even if the reader closed the pipe.
        Err(CommandError::Output(error)) => Err(CommandError::Answer(error)),
        printed => printed,
    }
}

impl Arguments {
    /// Returns the name of the event.
    pub(crate) fn event(&self) -> &str {
        &self.event
    }
}

fn status(response: &HookExecutionResponse) -> Status {
    match response.processed.decision {
        PolicyDecision::Proceed if response.success() => exit_code::PROCEED,
        PolicyDecision::Proceed => exit_code::FAILURE,
        PolicyDecision::Ask
        | PolicyDecision::Retry
        | PolicyDecision::Block
        | PolicyDecision::Stop => exit_code::BLOCKED,
    }
}
