//! Lists of hooks.

use std::collections::BTreeSet;
use std::fmt::Write;

use hook_core::{Hook, HookListing, NotRun};
use hook_json::ObjectWriter;
use hook_protocol::HookEventName;
use hook_run::ModuleCommand;
use hook_settings::{DEFAULT_PRIORITY, FailBehavior};

use super::columns::{aligned, first_line};
use super::hook::{cells, write_hook};
use crate::output::{Printer, Tone};
use crate::server::LiveStates;

/// Formats a hook as a line of JSON.
pub(crate) fn listing_json(listing: &HookListing, states: &LiveStates) -> Vec<u8> {
    ObjectWriter::line(|object| {
        write_hook(object, &listing.hook, states);
        object.bool("enabled", listing.enabled);
        if let Some(source) = listing.disabled_by.first() {
            object.text("disabledBy", &source.to_string());
            let file = source.file.as_ref().map(|file| file.to_string_lossy());
            object.optional_text("disabledIn", file.as_deref());
            object.optional_text("disabledSetting", source.switch.setting());
        }
        object.bool("trusted", listing.trusted);
        if listing.hook.changed_since_trusted() {
            object.bool("changed", true);
        }
        object.optional_text("blocks", suspension(listing).as_deref());
    })
}

/// Formats hooks for people, by event, in run order.
pub(crate) fn listings(listings: &[HookListing], states: &LiveStates, printer: &Printer) -> String {
    let rows: Vec<_> = listings.iter().map(|listing| cells(&listing.hook)).collect();
    let lines: Vec<_> = listings.iter().zip(aligned(&rows, printer)).collect();
    let mut out = String::new();
    let events: BTreeSet<_> = listings.iter().map(|listing| listing.hook.event).collect();
    for event in events {
        let of_event: Vec<_> =
            lines.iter().filter(|(listing, _)| listing.hook.event == event).collect();
        let mut title = printer.paint(Tone::Strong, event.as_str());
        if let Some(declared) = declared(event) {
            let _ = write!(title, "  {}", printer.paint(Tone::Quiet, &declared));
        }
        let _ = writeln!(out, "{title}");
        let priorities: BTreeSet<i32> =
            of_event.iter().map(|(listing, _)| listing.hook.priority).collect();
        let has_several = priorities.len() > 1;
        for chunk in of_event.chunk_by(|left, right| left.0.hook.priority == right.0.hook.priority)
        {
            let hooks: Vec<&Hook> = chunk.iter().map(|(listing, _)| &*listing.hook).collect();
            if let Some(heading) = heading(&hooks, has_several) {
                let _ = writeln!(out, "  {}", printer.paint(Tone::Plain, &heading));
            }
            for (listing, line) in chunk {
                entry(&mut out, listing, line, states, printer);
            }
        }
    }
    out
}

/// Returns the heading of a priority, unless it is the default, the only one, and runs its hooks at
/// once. A sequential hook affects its priority only for events that it matches.
fn heading(hooks: &[&Hook], has_several: bool) -> Option<String> {
    let priority = hooks.first()?.priority;
    let sequential = hooks.iter().filter(|hook| hook.sequential).count();
    let how = match sequential {
        _ if hooks.len() < 2 => None,
        0 => None,
        all if all == hooks.len() => Some("one after the other".to_owned()),
        _ => {
            let hook = hooks.iter().find(|hook| hook.sequential)?;
            let name = first_line(hook.display_name());
            Some(format!("one after the other where `{name}` is among them"))
        }
    };
    let which =
        (has_several || priority != DEFAULT_PRIORITY).then(|| format!("priority {priority}"));
    match (which, how) {
        (None, None) => None,
        (which, how) => Some([which, how].into_iter().flatten().collect::<Vec<_>>().join(", ")),
    }
}

/// Describes a declared event. Returns `None` for a built-in one.
fn declared(event: HookEventName) -> Option<String> {
    let row = event.row();
    if event.is_wildcard() {
        return Some("every event: these say themselves which ones they listen to".to_owned());
    }
    if !row.is_declared() {
        return None;
    }
    let mut parts = vec!["declared".to_owned()];
    parts
        .extend(super::help::matcher(row.matching).map(|(field, how)| {
            format!("matchers are compared with {}, {how}", first_line(field))
        }));
    parts.push(match row.block_means {
        Some(meaning) => format!("a block means: {}", first_line(meaning)),
        None => "a block means nothing".to_owned(),
    });
    Some(parts.join("; "))
}

fn entry(
    out: &mut String,
    listing: &HookListing,
    line: &str,
    states: &LiveStates,
    printer: &Printer,
) {
    let (mark, tone) = match (listing.trusted, listing.enabled) {
        (_, true) if suspension(listing).is_some() => ("✗", Tone::Bad),
        (false, _) => ("!", Tone::Warning),
        (_, false) => ("-", Tone::Quiet),
        _ if listing.hook.loaded_module().is_some_and(|module| module.error.is_some()) => {
            ("✗", Tone::Bad)
        }
        _ if states.get(&listing.hook).is_some_and(|(status, _)| status.is_broken()) => {
            ("✗", Tone::Bad)
        }
        _ => ("✓", Tone::Good),
    };
    let _ = writeln!(out, "  {} {line}", printer.paint(tone, mark));
    for text in notes(listing, states) {
        let _ = writeln!(out, "      {}", printer.paint(Tone::Quiet, &first_line(&text)));
    }
}

/// Returns the description of a hook, and the reasons why it does not run.
fn notes(listing: &HookListing, states: &LiveStates) -> Vec<String> {
    let hook = &listing.hook;
    let mut notes: Vec<String> = hook.description.clone().into_iter().collect();
    if hook.module().is_none() && hook.worker().is_some() {
        let status = states.describe(hook).map(|status| format!("; {status}")).unwrap_or_default();
        notes.push(format!("worker: stays alive and answers calls{status}"));
    }
    // Hooks declared by a module have the module's own listing.
    if hook.module().is_some() && hook.event.is_wildcard() {
        notes.extend(module(listing, states));
    }
    if hook.runs_in_background() {
        notes.push("async: nothing waits for it, and it cannot block".to_owned());
    }
    if !hook.opaque().is_empty() {
        let reasons = hook.opaque().join("; ");
        notes
            .push(format!("opaque: runs in place, and not all that it starts is known: {reasons}"));
    }
    if hook.runs_trusted_copy() {
        let note = "its folder changed since it was trusted; the trusted copy runs; `hook trust` \
                    shows the difference";
        notes.push(note.to_owned());
    }
    match suspension(listing) {
        Some(why) => {
            let blocks = listing.hook.fail_behavior == FailBehavior::Block;
            notes.push(format!("{}: {why}", if blocks { "blocks its event" } else { "fails" }));
        }
        None if listing.trusted => {}
        None => {
            let untrusted = NotRun::Untrusted { changed: hook.changed_since_trusted() };
            notes.push(untrusted.to_string());
        }
    }
    notes.extend(listing.disabled_by.iter().map(|by| NotRun::Disabled(by.clone()).to_string()));
    notes
}

/// Describes a module's content, or the reason why it is not loaded.
fn module(listing: &HookListing, states: &LiveStates) -> Vec<String> {
    let Some(loaded) = listing.hook.loaded_module() else {
        let status = states.describe(&listing.hook);
        return status.map(|status| format!("module: not loaded; {status}")).into_iter().collect();
    };
    if let Some(error) = &loaded.error {
        return vec![format!("module: {error}")];
    }
    // The module is loaded here; the server's process may be in another state.
    let process = states.get(&listing.hook).and_then(|_| states.describe(&listing.hook));
    let process = process.map(|how| format!("process of its modules: {how}"));
    let command = |command: &ModuleCommand| match &command.description {
        Some(description) => format!("command {}: {description}", command.name),
        None => format!("command {}", command.name),
    };
    let renderers = loaded
        .renderers
        .iter()
        .map(|message_type| format!("renders messages of type {message_type}"));
    process.into_iter().chain(loaded.commands.iter().map(command)).chain(renderers).collect()
}

/// Returns the reason why a hook blocks its event, or fails, instead of running. A disabled hook does neither.
fn suspension(listing: &HookListing) -> Option<String> {
    let hook = listing.enabled.then_some(&listing.hook)?;
    hook.suspension().or_else(|| hook.broken_copy())
}
