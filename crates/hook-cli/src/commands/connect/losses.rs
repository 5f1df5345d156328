//! Losses of hooks in an agent: events that it never fires, and answers that it ignores.

use std::collections::BTreeMap;
use std::time::Duration;

use hook_agents::Agent;
use hook_json::text::PathText;
use hook_settings::language::Language;

use super::entries::Entries;
use crate::context::Context;
use crate::error::CommandError;
use crate::render::counted;

/// The maximum number of lines shown; the others are counted.
const SHOWN: usize = 6;

/// Returns a warning if no hook runs in the project, with the next step.
///
/// # Errors
/// Returns an error if the settings cannot be read at all.
pub(super) async fn unguarded(context: &Context) -> Result<Option<String>, CommandError> {
    let system = context.builder()?.build()?;
    // Errors are reported elsewhere.
    let initialized = system.initialize_here().await.is_ok();
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
            if count == 1 { "1 hook is".to_owned() } else { format!("{count} hooks are") }
        ),
    }))
}

/// Returns the agent's events that hooks need: those that can be refused, those that hooks listen
/// to, and connected ones, since other projects may need them.
pub(super) fn needed(
    agent: &'static Agent,
    connected: &Entries,
    context: &Context,
) -> Vec<&'static str> {
    let heard = Heard::of(agent, context);
    let is_needed = |(theirs, ours): &(&'static str, &'static str)| {
        agent.can_refuse(theirs)
            || heard.all
            || heard.counts.contains_key(*ours)
            || connected.commands.iter().any(|(event, _)| event == theirs)
    };
    agent.asks().filter(is_needed).map(|(theirs, _)| theirs).collect()
}

/// Returns the agent's unconnected events that hooks listen to.
pub(crate) fn unconnected(entries: &Entries, context: &Context) -> Vec<&'static str> {
    let heard = Heard::of(entries.agent, context);
    let is_connected = |theirs: &str| entries.commands.iter().any(|(event, _)| event == theirs);
    let asks = entries.agent.asks().collect::<Vec<_>>();
    // One connected name of an event is enough.
    let is_lost = |ours: &str| {
        !asks.iter().any(|(theirs, other)| *other == ours && is_connected(theirs))
            && (heard.all || heard.counts.contains_key(ours))
    };
    asks.iter().filter(|(_, ours)| is_lost(ours)).map(|(theirs, _)| *theirs).collect()
}

/// The events that hooks listen to, without hooks that the agent runs itself.
struct Heard {
    /// The number of hooks of each event.
    counts: BTreeMap<String, usize>,
    /// `true` if some hooks declare their events only while running.
    all: bool,
}

impl Heard {
    fn of(agent: &Agent, context: &Context) -> Self {
        // Errors are reported elsewhere.
        let files = context.settings_files().unwrap_or_default();
        let mut heard = Self { counts: BTreeMap::new(), all: false };
        for file in &files {
            // The agent reads its own files itself.
            let is_own = file.language.is_some_and(|language| language.name() == agent.word());
            for entry in file.hooks.iter().filter(|_| !is_own) {
                heard.all |= entry.event.is_every();
                *heard.counts.entry(entry.event.as_str().to_owned()).or_default() += 1;
            }
        }
        heard
    }
}

/// Returns the losses as lines. `events` are the agent's connected events.
pub(super) fn of(agent: &'static Agent, events: &[&str], context: &Context) -> Vec<String> {
    let title = agent.title();
    let hooks = Heard::of(agent, context).counts;
    let mut lines = Vec::new();
    for (event, count) in &hooks {
        let asking: Vec<&str> =
            agent.asks().filter(|(_, ours)| ours == event).map(|(theirs, _)| theirs).collect();
        let hooks = counted(*count, "hook");
        if asking.is_empty() {
            lines.push(format!("{event}: {title} never asks; {hooks} will not run there"));
        } else if !asking.iter().any(|theirs| events.contains(theirs)) {
            lines.push(format!("{event}: not connected; {hooks} will not run there"));
        }
    }
    for (theirs, ours) in agent.asks().filter(|(theirs, _)| events.contains(theirs)) {
        let ignored = agent.ignores(theirs);
        if hooks.contains_key(ours) && !ignored.is_empty() {
            let ignored = ignored.join("; ");
            lines.push(format!(
                "{ours}: what {title} passes over at {theirs} of a hook's answer: {ignored}"
            ));
        }
    }
    if let Some(more @ 1..) = lines.len().checked_sub(SHOWN) {
        lines.truncate(SHOWN);
        lines.push(format!("and {more} more"));
    }
    lines
}
