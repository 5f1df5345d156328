//! `hook bridge`: acts as a hook of another agent.

mod reading;
mod server;
mod watchdog;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use hook_agents::{Agent, AgentRequest, RequestError, Verdict};
use hook_bus::bridge::{Bridge, BridgeAnswer, BridgeState, ProcessTurn};
use hook_bus::{HookExecutionResponse, HookSystem};
use hook_json::RawObject;
use hook_json::text::shortened;
use hook_protocol::{HookEventName, RequestInput};
use hook_settings::language::Language;

use self::watchdog::Watchdog;
use super::background::{self, BackgroundArguments};
use super::input::object_of;
use super::serve::own_socket;
use super::while_signals;
use crate::context::{Context, answer_deadline, show_settings_problems};
use crate::error::CommandError;
use crate::exit_code::{self, ExitPolicy, Status};
use crate::guards;
use crate::options::NamedAgent;
use crate::output::Printer;
use crate::stdout;

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
    /// The agent, as `hook agents` lists it
    agent: String,
    /// What the agent calls the event; by default what its input says
    event: Option<String>,
    /// The folder of the plugin that the settings belong to
    #[arg(long, value_name = "DIR", requires = "settings")]
    plugin_root: Option<PathBuf>,
    #[command(flatten)]
    rest: BackgroundArguments,
}

pub(crate) async fn run(
    arguments: &Arguments,
    context: Context,
    exit_policy: &ExitPolicy,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let agent = match agent(&arguments.agent) {
        Ok(agent) => agent,
        Err(error) => return refuse_unknown(arguments, &error, printer).await,
    };
    if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        let text = format!(
            "{0} starts `hook bridge {1}` and writes to its standard input; to try it, give it what {0} \
             would say: `hook bridge {1} < event.json`",
            agent.title(),
            arguments.agent
        );
        return Err(CommandError::Usage(text));
    }
    let started = Instant::now();
    let event = arguments.event.as_deref();
    let (text, payload) = match read(agent, event).await {
        Ok(read) => read,
        Err(error) => return refuse(agent, event, &error, &context, printer).await,
    };
    let call = match agent.parse_request(event, &payload) {
        Ok(asked) => asked.with_trailing_text(&text),
        // An agent cannot fire an event that it does not have, unless it is of a later version.
        Err(error @ RequestError::UnknownEvent(_))
            if event.is_some() || !RequestError::is_about_tool(&payload) =>
        {
            printer.remark(&format!("{error} in {}; nothing was run", arguments.agent));
            // Some agents take the remark on stderr as the answer if stdout is empty.
            let answer = agent.response("", &Verdict::proceed());
            if !answer.stdout.is_empty() {
                printer.raw(&format!("{}\n", answer.stdout)).await?;
            }
            return Ok(exit_code::PROCEED);
        }
        Err(error) => {
            let text = format!(
                "{error}; name one of {}'s: `hook bridge {} EVENT`",
                agent.title(),
                arguments.agent
            );
            return refuse(agent, event, &CommandError::Usage(text), &context, printer).await;
        }
    };
    let watchdog = match context.answer_limit(call.timeout()) {
        Some(limit) if !arguments.rest.is_background_run() => {
            Some(Watchdog::start(agent, call.foreign_event(), started, limit)?)
        }
        _ => None,
    };
    for root in call.unread_workspace() {
        printer.warning(&format!(
            "{} names {} as a folder of its workspace, which is none on this machine: no guards of it are asked",
            agent.title(),
            shortened(&root)
        ));
    }
    let context = &context.at_paths_of(&call);
    if let Some(error) = context.misplaced() {
        return refuse(agent, Some(call.foreign_event()), &error, context, printer).await;
    }
    let mut unasked = None;
    let other_servers = guards::other_servers(context);
    if context.has_only_defaults() && !arguments.rest.is_background_run() {
        let asked = match other_servers.is_empty() && context.workspace().is_empty() {
            true => server::ask(agent, &call, &text, context).await,
            false => Err("it does not have the guards of the other projects here".to_owned()),
        };
        match asked {
            Ok(Some(bridged)) => {
                tracing::info!(target: "hook::bridge", "the project's server was asked");
                return write_answer(&bridged, (agent, &call), watchdog.as_ref(), printer).await;
            }
            Ok(None) => unasked = Some(Unasked::NoServer),
            Err(why) => {
                tracing::info!(target: "hook::bridge", "the server is not asked: {why}; the engine runs here");
                unasked = Some(Unasked::Failed(why));
            }
        }
    }
    let timeout = call.timeout().saturating_sub(started.elapsed());
    let builder = context.builder_for(agent, arguments.plugin_root.as_deref(), timeout)?;
    let mut builder = builder.bridge_state(BridgeState::for_user());
    // The same hooks answer an equal call of another process.
    let is_shared = matches!(unasked, Some(Unasked::NoServer)) && call.is_of_tool();
    if is_shared {
        builder = builder.hash_settings();
    }
    let system = builder.background(arguments.rest.background()).build()?;
    let bridged = async {
        // Of hooks that do not run the answer tells, as far as they are about this event.
        system.initialize_blocking().await?;
        show_settings_problems(&system, printer);
        while_signals(&system, printer, async |system, _, printer| {
            arguments.rest.disable_skipped(system);
            if matches!(unasked, Some(Unasked::NoServer)) && system.wants_server() {
                server::start(context);
            }
            if let Some(unasked) = &unasked {
                block_for_guards(unasked, context, system, printer);
            }
            for socket in &other_servers {
                let reason = "this call is another project's, too, and does not reach it";
                guards::block_for_remembered(system, socket, reason, printer);
            }
            let bridge = Bridge::new(agent, call.clone(), &system.events());
            let turn = match is_shared {
                // Half of the time is left for hooks, should they have to run here after all.
                true => bridge.turn(system, &text, timeout / 2).await,
                false => None,
            };
            let answer = match turn {
                Some(ProcessTurn::Repeat(answer)) => answer,
                turn => {
                    let answer =
                        run_hooks(arguments, &bridge, &text, context, system, printer).await;
                    if let Some(ProcessTurn::First(first)) = turn {
                        first.answer(&answer);
                    }
                    answer
                }
            };
            write_answer(&answer, (agent, &call), watchdog.as_ref(), printer).await
        })
        .await
    };
    let bridged = bridged.await;
    if bridged.is_err() {
        let event = HookEventName::from_name(call.event_name());
        exit_policy
            .set_guarded(event.is_none_or(|event| guards::may_exist(event, &system, context)));
    }
    if let (Err(error), Some(state)) = (&bridged, BridgeState::for_user())
        && logs_calls(context)
    {
        let code = if exit_policy.is_guarded() { 2 } else { 1 };
        let (event, why) = (call.foreign_event(), error.to_string());
        state.log_without_hooks(agent, Some(event), context.project(), &why, code);
    }
    bridged
}

/// The reason why the project's own server did not answer.
enum Unasked {
    NoServer,
    Failed(String),
}

/// Blocks for the guards that programs registered at the project's own server.
fn block_for_guards(
    unasked: &Unasked,
    context: &Context,
    system: &HookSystem,
    printer: &mut Printer,
) {
    let Ok(socket) = own_socket(context.project()) else { return };
    let reason = match unasked {
        Unasked::NoServer => "the server has ended",
        Unasked::Failed(why) => why,
    };
    guards::block_for_remembered(system, &socket, reason, printer);
}

pub(super) fn agent(name: &str) -> Result<&'static Agent, CommandError> {
    NamedAgent::parse(name).map(|NamedAgent(agent)| agent).map_err(CommandError::Usage)
}

/// Reads the agent's input, as text and as an object.
async fn read(agent: &Agent, event: Option<&str>) -> Result<(String, RawObject), CommandError> {
    let text = reading::value(answer_deadline(agent.bridge_timeout(event))).await?;
    let object = object_of(&text)?;
    Ok((text, object))
}

/// Returns `true` if the settings enable the log of calls.
fn logs_calls(context: &Context) -> bool {
    context.settings_files().is_ok_and(|files| hook_settings::logs_calls(&files))
}

/// Refuses what an unknown agent asks, since an entry of `hook connect` names it: its file may be
/// broken or removed. It is denied in each form that some agent obeys.
async fn refuse_unknown(
    arguments: &Arguments,
    error: &CommandError,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let reason = error.to_string();
    printer.problem(&reason);
    let event = arguments.event.as_deref();
    // A denial at the end of a turn would have the agent go on for ever.
    let ends_turn = event.is_some_and(|event| match hook_agents::find_foreign_event(event) {
        Some((_, native)) => native.is_turn_end(),
        None => event.to_ascii_lowercase().contains("stop") || event.ends_with("end"),
    });
    if ends_turn {
        return Ok(exit_code::FAILURE);
    }
    printer.raw(&format!("{}\n", hook_agents::denial_in_all_forms(event, &reason))).await?;
    Ok(exit_code::from_agent(2))
}

/// Refuses an unreadable request, because guards may be among its hooks.
async fn refuse(
    agent: &Agent,
    event: Option<&str>,
    error: &CommandError,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let answer = agent.refuse_unreadable(event, &error.to_string());
    // If the project controls the user's folders, the settings in them cannot be relied on.
    let is_logged = || context.misplaced().is_none() && logs_calls(context);
    if let Some(state) = BridgeState::for_user().filter(|_| is_logged()) {
        state.log_without_hooks(agent, event, context.project(), &error.to_string(), answer.code);
    }
    printer.problem(&error.to_string());
    if answer.code == 0 {
        return Ok(exit_code::FAILURE);
    }
    if !answer.stdout.is_empty() {
        printer.raw(&format!("{}\n", answer.stdout)).await?;
    }
    Ok(exit_code::from_agent(answer.code))
}

async fn run_hooks(
    arguments: &Arguments,
    bridge: &Bridge,
    text: &str,
    context: &Context,
    system: &HookSystem,
    printer: &mut Printer,
) -> BridgeAnswer {
    let response = system.bus().request(bridge.request()).await;
    if let (Some(input), false) = (bridge.input(), arguments.rest.is_background_run()) {
        hand_over(arguments, input, text, &response, context, system, printer);
    }
    bridge.answer_with_state(system, &response, |event| guards::unknown(event, system, context))
}

/// Prints the answer for the agent, and warnings for its user.
async fn write_answer(
    bridged: &BridgeAnswer,
    (agent, call): (&Agent, &AgentRequest),
    watchdog: Option<&Watchdog>,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    if let Some(watchdog) = watchdog {
        watchdog.end();
    }
    let BridgeAnswer { output: said, warnings, .. } = bridged;
    for warning in warnings {
        printer.warning(warning);
    }
    if !said.stderr.is_empty() {
        printer.note(&said.stderr);
    }
    let says_nothing = agent.response(call.foreign_event(), &Verdict::proceed()).stdout;
    let written = match said.stdout.as_str() {
        "" => Ok(()),
        text if text == says_nothing || stdout::is_read() => {
            printer.raw(&format!("{text}\n")).await.map_err(|error| error.to_string())
        }
        _ => Err("standard output is closed, or leads nowhere".to_owned()),
    };
    if let Err(error) = written {
        // The answer may be a denial, and only the exit code can still deliver it.
        printer.problem(&format!(
            "the agent does not read its answer ({error}); it is refused by exit 2"
        ));
        return Ok(exit_code::BLOCKED);
    }
    Ok(exit_code::from_agent(said.code))
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
    if background::background_hooks(input, response, system, printer).is_empty() {
        return;
    }
    let mut command_line = vec![OsStr::new("bridge"), OsStr::new(&arguments.agent)];
    command_line.extend(arguments.event.as_deref().map(OsStr::new));
    if let Some(root) = &arguments.plugin_root {
        command_line.extend([OsStr::new("--plugin-root"), root.as_os_str()]);
    }
    background::hand_over(&command_line, text, response, context, printer);
}
