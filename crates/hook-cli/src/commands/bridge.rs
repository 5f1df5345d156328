//! `hook bridge`: be the hook of another agent.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::Args;
use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_core::language::Language;
use hook_core::{HookEventName, PolicyDecision, RequestInput};
use hook_translate::agents::{Agent, Asked, NotAsked, Said, Verdict};

use super::background::{self, LeftArguments};
use super::input::read_object;
use super::with_hooks_of;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit_code::{self, Stake, Status};
use crate::guards;
use crate::options::Named;
use crate::output::Printer;

#[derive(Debug, Args)]
#[command(after_help = "\
The agent starts this command as its hook. It reads what the agent says on
standard input, runs the hooks that are found, and answers as the agent
understands it, with its exit code.

With --settings, the files are the agent's own, such as .claude/settings.json:
their hooks do here what they do there.

Examples:
  hook bridge claude < event.json
  hook bridge claude --settings .claude/settings.json < event.json
  hook bridge cursor stop --settings .cursor/hooks.json < event.json")]
pub(crate) struct Arguments {
    /// The agent: claude, gemini, llxprt, qwen, codex, cursor, copilot, vscode, pi, omp or a3s
    agent: String,
    /// What the agent calls the event; by default what its input says
    event: Option<String>,
    /// The folder of the plugin that the settings belong to
    #[arg(long, value_name = "DIR", requires = "settings")]
    plugin_root: Option<PathBuf>,
    #[command(flatten)]
    rest: LeftArguments,
}

pub(crate) async fn run(
    arguments: &Arguments,
    context: Context,
    stake: &Stake,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let agent = agent(&arguments.agent)?;
    if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        let text = format!(
            "{0} starts `hook bridge {1}` and writes to its standard input; to try it, give it what {0} \
             would say: `hook bridge {1} < event.json`",
            agent.title(),
            arguments.agent
        );
        return Err(CommandError::Usage(text));
    }
    let (text, said) = read_object().await?;
    let asked = match agent.asked(arguments.event.as_deref(), &said) {
        Ok(asked) => asked,
        // What the agent does not have, it cannot ask about.
        Err(error @ NotAsked::UnknownEvent(_)) => {
            printer.remark(&format!("{error} in {}; nothing was run", arguments.agent));
            return Ok(exit_code::PROCEED);
        }
        Err(error) => {
            let text = format!("{error}; name it: `hook bridge {} EVENT`", arguments.agent);
            return Err(CommandError::Usage(text));
        }
    };
    let context = &context.at(&asked.places());
    let builder = context.builder_for(agent, arguments.plugin_root.as_deref(), asked.patience())?;
    let system = builder.background(arguments.rest.background()).build()?;
    let bridged = with_hooks_of(&system, context, printer, async |system, _, printer| {
        arguments.rest.leave_out(system);
        bridge(arguments, agent, &asked, &text, context, system, printer).await
    });
    let bridged = bridged.await;
    if bridged.is_err() {
        let event = HookEventName::from_name(asked.event_name());
        stake.is_known(event.is_none_or(|event| guards::may_exist(event, &system, context)));
    }
    bridged
}

pub(super) fn agent(name: &str) -> Result<&'static Agent, CommandError> {
    Named::parse(name).map(|Named(agent)| agent).map_err(CommandError::Usage)
}

async fn bridge(
    arguments: &Arguments,
    agent: &'static Agent,
    asked: &Asked,
    text: &str,
    context: &Context,
    system: &HookSystem,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let event = system.events().from_name(asked.event_name());
    let input = event.and_then(|event| asked.request(event).ok());
    let request = match &input {
        Some(input) => HookExecutionRequest::typed(input.clone()),
        // What is wrong with it is said by the engine, which knows its guards.
        None => HookExecutionRequest::new(asked.event_name(), asked.input().clone()),
    };
    let response = system.bus().request(request).await;
    for warning in &response.processed.warnings {
        printer.warning(warning);
    }
    if let (Some(input), false) = (&input, arguments.rest.is_rest()) {
        hand_over(arguments, input, text, &response, context, system, printer);
    }
    let said = answer(agent, asked, input.as_ref(), &response, |event| {
        guards::unknown(event, system, context)
    });
    if !said.stderr.is_empty() {
        printer.note(&said.stderr);
    }
    for lost in &said.lost {
        printer.warning(&format!("{} ignores {lost}", agent.title()));
    }
    let decision = response.processed.decision;
    if said.stdout.is_empty() && said.code == 0 && decision > PolicyDecision::Proceed {
        printer.warning(&format!(
            "hooks said {} on {}, which {} cannot be told there: {}",
            decision.as_str(),
            asked.home_event(),
            agent.title(),
            response.processed.reason.as_deref().unwrap_or_default()
        ));
    }
    if !said.stdout.is_empty() {
        printer.text(&format!("{}\n", said.stdout)).await?;
    }
    Ok(exit_code::of_agent(said.code))
}

fn hand_over(
    arguments: &Arguments,
    input: &RequestInput,
    text: &str,
    response: &HookExecutionResponse,
    context: &Context,
    system: &HookSystem,
    printer: &mut Printer,
) {
    if background::left(input, response, system, printer).is_empty() {
        return;
    }
    let mut again = vec![OsStr::new("bridge"), OsStr::new(&arguments.agent)];
    again.extend(arguments.event.as_deref().map(OsStr::new));
    if let Some(root) = &arguments.plugin_root {
        again.extend([OsStr::new("--plugin-root"), root.as_os_str()]);
    }
    background::hand_over(&again, text, response, context, printer);
}

/// What the hooks' response is to the agent.
fn answer(
    agent: &Agent,
    asked: &Asked,
    input: Option<&RequestInput>,
    response: &HookExecutionResponse,
    unknown_guards: impl FnOnce(HookEventName) -> Option<String>,
) -> Said {
    let processed = &response.processed;
    let merged = processed.as_answer();
    let tool_input = input.and_then(|input| {
        let original = input.payload.tool_input()?;
        let changed = processed.changed_tool_input(original)?;
        let tool = input.payload.match_subject()?;
        (changed != *original).then(|| agent.arguments(asked.home_event(), tool, &changed))
    });
    // Of an event that only observes nothing is merged, and what is said is said all the same.
    let outputs = &processed.aggregated.all_outputs;
    let said = outputs.iter().filter_map(|output| output.system_message.as_deref());
    let said: Vec<&str> = said.filter(|_| merged.is_none()).collect();
    let said = said.join("\n");
    let mut verdict = Verdict::proceed();
    verdict.decision = processed.decision;
    verdict.reason = processed.reason.as_deref();
    verdict.allowed = response.hooks.iter().any(|hook| hook.grants);
    verdict.system_message =
        processed.system_message.as_deref().or(Some(&*said).filter(|said| !said.is_empty()));
    verdict.additional_context = processed.additional_context.as_deref();
    verdict.tool_input = tool_input.as_ref();
    verdict.answer = merged.as_ref();
    // No event proceeds that a missing guard might have blocked.
    let unknown = response.event.and_then(unknown_guards);
    // To block the end of a turn is to go on working, which helps nobody where hooks could not be asked.
    let ends = [HookEventName::AfterAgent, HookEventName::SubagentStop];
    let goes_on = response.event.is_some_and(|event| ends.contains(&event));
    if goes_on && (response.error().is_some() || unknown.is_some()) {
        verdict.decision = PolicyDecision::Proceed;
        return agent.say(asked.home_event(), &verdict);
    }
    if verdict.decision == PolicyDecision::Proceed
        && let Some(why) = &unknown
    {
        verdict.decision = PolicyDecision::Block;
        verdict.reason = Some(why);
    }
    agent.say(asked.home_event(), &verdict)
}
