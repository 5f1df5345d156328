//! Losses of hooks in an agent: events that it never fires, and answers that it ignores.

use std::collections::BTreeMap;
use std::time::Duration;

use hook_agents::Agent;
use hook_json::text::PathText;
use hook_settings::language::Language;

use super::entries::Entries;
use crate::context::Context;
use crate::error::Result;
use crate::render::{counted, plural};

/// The maximum number of lines shown; the others are counted.
const MAX_SHOWN: usize = 6;

/// Returns a warning if no hook runs in the project, with the next step.
///
/// # Errors
/// Returns an error if the settings cannot be read at all.
pub(super) async fn no_hooks_warning(context: &Context) -> Result<Option<String>> {
    let system = context.builder()?.build()?;
    // Errors are reported elsewhere.
    let initialized = system.initialize_blocking().await.is_ok();
    let hooks = system.hooks().unwrap_or_default();
    system.shutdown(Duration::ZERO).await;
    if !initialized || hooks.iter().any(|hook| hook.enabled && hook.trusted) {
        return Ok(None);
    }
    let project = context.project().shown();
    Ok(Some(match hooks.iter().filter(|hook| hook.enabled).count() {
        0 => format!(
            "no hook runs in this project, {project}: `hook init --user` makes one for all projects, \
             `hook init` one for this"
        ),
        count => format!(
            "no hook runs in this project, {project}: {} not trusted; `hook trust` shows what would \
             run and asks",
            plural(count, "hook is", "hooks are")
        ),
    }))
}

/// Returns the agent's events that hooks need: those that can be refused, those that hooks listen
/// to, and connected ones, since other projects may need them.
pub(super) fn needed_events(
    agent: &'static Agent,
    connected: &Entries,
    context: &Context,
) -> Vec<&'static str> {
    let listened = ListenedEvents::of(agent, context);
    let is_needed = |(foreign, native): &(&'static str, &'static str)| {
        agent.can_refuse(foreign)
            || listened.all
            || listened.counts.contains_key(*native)
            || connected.commands.iter().any(|(event, _)| event == foreign)
    };
    agent.connected_event_names().filter(is_needed).map(|(foreign, _)| foreign).collect()
}

/// Returns the agent's unconnected events that hooks listen to.
pub(crate) fn unconnected(entries: &Entries, context: &Context) -> Vec<&'static str> {
    let listened = ListenedEvents::of(entries.agent, context);
    let is_connected = |foreign: &str| entries.commands.iter().any(|(event, _)| event == foreign);
    let asks = entries.agent.connected_event_names().collect::<Vec<_>>();
    // One connected name of an event is enough.
    let is_lost = |native: &str| {
        !asks.iter().any(|(foreign, other)| *other == native && is_connected(foreign))
            && (listened.all || listened.counts.contains_key(native))
    };
    asks.iter().filter(|(_, native)| is_lost(native)).map(|(foreign, _)| *foreign).collect()
}

/// The events that hooks listen to, without hooks that the agent runs itself.
struct ListenedEvents {
    /// The number of hooks of each event.
    counts: BTreeMap<String, usize>,
    /// `true` if some hooks declare their events only while running.
    all: bool,
}

impl ListenedEvents {
    fn of(agent: &Agent, context: &Context) -> Self {
        // Errors are reported elsewhere.
        let files = context.settings_files().unwrap_or_default();
        let mut listened = Self { counts: BTreeMap::new(), all: false };
        for file in &files {
            // The agent reads its own files itself.
            let is_own = file.language.is_some_and(|language| language.name() == agent.name());
            for entry in file.hooks.iter().filter(|_| !is_own) {
                listened.all |= entry.event.is_wildcard();
                *listened.counts.entry(entry.event.as_str().to_owned()).or_default() += 1;
            }
        }
        listened
    }
}

/// Returns the losses as lines. `events` are the agent's connected events.
pub(super) fn losses(agent: &'static Agent, events: &[&str], context: &Context) -> Vec<String> {
    let title = agent.title();
    let hooks = ListenedEvents::of(agent, context).counts;
    let mut lines = Vec::new();
    for (event, count) in &hooks {
        let foreign_events: Vec<&str> = agent
            .connected_event_names()
            .filter(|(_, native)| native == event)
            .map(|(foreign, _)| foreign)
            .collect();
        let hooks = counted(*count, "hook");
        if foreign_events.is_empty() {
            lines.push(format!("{event}: {title} never asks; {hooks} will not run there"));
        } else if !foreign_events.iter().any(|foreign| events.contains(foreign)) {
            lines.push(format!("{event}: not connected; {hooks} will not run there"));
        }
    }
    for (foreign, native) in
        agent.connected_event_names().filter(|(foreign, _)| events.contains(foreign))
    {
        let ignored = agent.ignores(foreign);
        if hooks.contains_key(native) && !ignored.is_empty() {
            let ignored = ignored.join("; ");
            lines.push(format!(
                "{native}: what {title} passes over at {foreign} of a hook's answer: {ignored}"
            ));
        }
    }
    if let Some(more @ 1..) = lines.len().checked_sub(MAX_SHOWN) {
        lines.truncate(MAX_SHOWN);
        lines.push(format!("and {more} more"));
    }
    lines
}
