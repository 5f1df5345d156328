//! `hook connect --verify`: proof that an agent calls `hook bridge`, obeys its answer and shows the reason. The agent
//! itself is started once, without its user and without a network.

mod trial;

use std::process::Stdio;
use std::time::Duration;

use hook_agents::Agent;
use hook_json::text::{PathText, shortened};
use hook_protocol::HookEventName;
use hook_settings::language::Language;
use serde_json::json;
use tokio::process::Command;

use self::trial::{Observation, Trial};
use super::command::binary_of;
use super::entries::{self, Entries, Scope};
use super::installed::Installed;
use crate::context::Context;
use crate::error::Result;
use crate::exit_code;
use crate::output::Printer;
use crate::signals::next_signal;

/// The time limit for a binary to say its version.
const BINARY_TIMEOUT: Duration = Duration::from_secs(10);

/// The outcome for one agent.
#[derive(Debug)]
enum Outcome {
    /// The agent was not run, for a reason that is not its connection's.
    NotTried { reason: String, by_hand: String },
    /// The connection does not work.
    Failed { problem: String, fix: String, observation: Option<Observation> },
    /// The agent calls, obeys and shows the reason.
    Works(Observation),
}

/// Verifies these agents; without any, those that are connected for the user.
pub(super) async fn run(
    named: &[&'static Agent],
    context: &Context,
    printer: &mut Printer,
) -> Result {
    tokio::select! {
        // Dropping a trial ends its agent.
        status = verify_all(named, context, printer) => status,
        status = next_signal() => status,
    }
}

async fn verify_all(named: &[&'static Agent], context: &Context, printer: &mut Printer) -> Result {
    let all = hook_agents::agents().iter().copied().filter(|agent| agent.entry().is_some());
    let connected =
        all.filter(|agent| !entries::of(agent, Scope::User, context).commands.is_empty());
    let agents: Vec<&'static Agent> =
        if named.is_empty() { connected.collect() } else { named.to_vec() };
    if agents.is_empty() {
        printer.problem("no agent is connected for the user; `hook connect AGENT` does it");
        return Ok(exit_code::FAILURE);
    }
    let mut status = exit_code::PROCEED;
    for agent in agents {
        let installed = Installed::find(agent);
        let version = match &installed {
            Some(installed) => installed.version().await,
            None => None,
        };
        let outcome = verify(agent, installed.as_ref(), context, printer).await;
        let is_proven = matches!(outcome, Outcome::Works(_));
        let is_wanted = !named.is_empty() || matches!(outcome, Outcome::Failed { .. });
        if !is_proven && is_wanted {
            status = exit_code::FAILURE;
        }
        show(agent, version.as_deref(), &outcome, printer).await?;
    }
    Ok(status)
}

async fn verify(
    agent: &'static Agent,
    installed: Option<&Installed>,
    context: &Context,
    printer: &mut Printer,
) -> Outcome {
    let entries = entries::of(agent, Scope::User, context);
    if let Some(broken) = broken_entries(&entries).await {
        return broken;
    }
    let headless = agent.program().and_then(|program| program.headless);
    let name = agent.name();
    let by_hand = format!(
        "start {} in a project, have it run a command, and look whether `hook log {name}` shows the call",
        agent.title()
    );
    let (installed, headless) = match (installed, headless) {
        (Some(installed), Some(headless)) => (installed, headless),
        (_, None) => {
            let reason = format!("{} cannot be run here without its user", agent.title());
            return Outcome::NotTried { reason, by_hand };
        }
        (None, Some(_)) => {
            let program = agent.program().map(|program| program.name).unwrap_or_default();
            let reason = format!("its program, `{program}`, is not in PATH");
            return Outcome::NotTried { reason, by_hand };
        }
    };
    let observed = match Trial::prepare(agent, headless, &entries.file) {
        Ok(trial) => {
            let observed = trial.run(&installed.path).await;
            if let Err(error) = trial.remove().await {
                printer.warning(&format!("folders of the run could not be removed: {error}"));
            }
            observed
        }
        Err(error) => Err(error),
    };
    match observed {
        Ok(observation) => judge(agent, &entries, observation),
        Err(error) => Outcome::NotTried {
            reason: format!("{} could not be started: {error}", installed.path.shown()),
            by_hand,
        },
    }
}

/// Returns the outcome for entries that cannot work, whatever the agent does.
async fn broken_entries(entries: &Entries) -> Option<Outcome> {
    let agent = entries.agent;
    let failed = |problem: String| Outcome::Failed {
        problem,
        fix: entries.repair_command(),
        observation: None,
    };
    if entries.commands.is_empty() {
        return Some(failed(format!("it is not connected: {} has no entry", entries.file.shown())));
    }
    if let Some(stale) = entries.stale().filter(|_| entries.is_broken()) {
        return Some(failed(stale));
    }
    let about_tools = entries.commands.iter().find(|(event, _)| is_about_tools(agent, event));
    let Some((_, command)) = about_tools else {
        let events = agent.connected_event_names().map(|(event, _)| event);
        let events =
            events.filter(|event| is_about_tools(agent, event)).collect::<Vec<_>>().join(", ");
        let file = entries.file.shown();
        return Some(failed(format!(
            "{file} has no entry for {events}, so no tool call is asked about"
        )));
    };
    let binary = binary_of(command)?;
    let mut program = Command::new(&binary);
    program.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let why = match tokio::time::timeout(BINARY_TIMEOUT, program.kill_on_drop(true).status()).await
    {
        Ok(Ok(status)) if status.success() => return None,
        Ok(Ok(status)) => status.to_string(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "it does not end".to_owned(),
    };
    Some(failed(format!("its entries call {}, which does not work: {why}", binary.shown())))
}

/// Returns `true` if the agent asks about tool calls by this event.
fn is_about_tools(agent: &Agent, event: &str) -> bool {
    let mut events = agent.connected_event_names();
    events.any(|(known, native)| known == event && native == HookEventName::BeforeTool.as_str())
}

/// Judges a run.
fn judge(agent: &'static Agent, entries: &Entries, observation: Observation) -> Outcome {
    let title = agent.title();
    let has_asked = observation.events.iter().any(|event| is_about_tools(agent, event));
    let end = match observation.is_timed_out {
        true => "; it was ended, since it took too long".to_owned(),
        false if observation.reached_model || observation.last_line.is_empty() => String::new(),
        false => format!("; its last line: {}", shortened(&observation.last_line)),
    };
    let next_step = agent.entry().map(|entry| entry.next_step).unwrap_or_default();
    let (problem, fix) = if has_asked && observation.ran_command {
        let refused = if observation.is_refused { "was refused" } else { "was not refused" };
        (
            format!("it asked, {refused}, and ran the command all the same{end}"),
            format!("hook log {}, and report it: docs/agents says that it obeys", agent.name()),
        )
    } else if has_asked && observation.is_refused && observation.is_reason_shown {
        return Outcome::Works(observation);
    } else if has_asked && observation.is_refused {
        (format!("it asked and obeyed, and did not tell its model why{end}"), String::new())
    } else if has_asked {
        (format!("it asked, and was not refused{end}"), format!("hook log {}", agent.name()))
    } else if observation.ran_command {
        (format!("it ran a command and did not ask{end}"), next_step.to_owned())
    } else if observation.reached_model {
        (format!("it did not ask, and did not run the command either{end}"), next_step.to_owned())
    } else {
        let reason = format!("{title} ended without a call of its model{end}");
        let by_hand =
            format!("start it, and look at `hook connect --list` and {}", entries.file.shown());
        return Outcome::NotTried { reason, by_hand };
    };
    Outcome::Failed { problem, fix, observation: Some(observation) }
}

async fn show(
    agent: &Agent,
    version: Option<&str>,
    outcome: &Outcome,
    printer: &mut Printer,
) -> Result<()> {
    let observation = match outcome {
        Outcome::Works(observation) => Some(observation),
        Outcome::Failed { observation, .. } => observation.as_ref(),
        Outcome::NotTried { .. } => None,
    };
    let (problem, next_step) = match outcome {
        Outcome::Works(_) => (None, None),
        Outcome::Failed { problem, fix, .. } => {
            (Some(problem), Some(fix).filter(|fix| !fix.is_empty()))
        }
        Outcome::NotTried { reason, by_hand } => (Some(reason), Some(by_hand)),
    };
    let object = json!({
        "agent": agent.name(), "version": version, "tried": observation.is_some(),
        "works": matches!(outcome, Outcome::Works(_)),
        "events": observation.map(|observation| &observation.events),
        "obeyed": observation.map(|observation| observation.is_refused && !observation.ran_command),
        "reasonShown": observation.map(|observation| observation.is_reason_shown),
        "problem": problem, "nextStep": next_step,
    });
    let text = |_: &Printer| {
        let version = version.map(|version| format!(" {version}")).unwrap_or_default();
        let name = format!("{}{version}", agent.name());
        let next_step = next_step.map(|step| format!("\n  → {step}")).unwrap_or_default();
        match outcome {
            Outcome::Works(observation) => {
                let events = observation.events.iter().map(String::as_str).collect::<Vec<_>>();
                format!("✓ {name}: asked ({}), obeyed, reason shown\n", events.join(", "))
            }
            Outcome::Failed { problem, .. } => format!("✗ {name}: {problem}{next_step}\n"),
            Outcome::NotTried { reason, .. } => {
                format!("- {name}: not tried: {reason}{next_step}\n")
            }
        }
    };
    printer.show(&(object, text)).await
}
