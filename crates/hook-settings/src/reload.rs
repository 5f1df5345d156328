//! Reload of settings: if a file is broken now, its previous contents stay effective, so that an
//! editing mistake disables no guard (reference/settings.md, "Diagnostics").

use std::sync::Arc;

use super::declaring::declare;
use super::definition::{FileSpans, HookEntry, SettingsFile};
use super::diagnostic::{Diagnostic, Location};
use super::keywords::{FailBehavior, Severity};
use super::load::load_all;
use super::rule::Rule;
use super::source::SettingsSource;
use hook_files::absence;
use hook_protocol::event::Events;

/// Reloads every source. `before` are the files effective until now. With `strict`, a file with any
/// error is broken; otherwise only a file of which nothing can be read.
///
/// Hooks can listen to `events`, to events that the sources declare, and to those that
/// `declare_runtime_events` adds; all are added to `events`. A project's declarations apply only to its own
/// hooks, until a registry of hook-core finds these trusted.
///
/// A deleted file loses its hooks, with a warning if a fleet is no longer called; with `strict`, a
/// missing required file is broken.
pub fn reload_files(
    sources: &[SettingsSource],
    previous: &[SettingsFile],
    strict: bool,
    events: &mut Events,
    declare_runtime_events: impl FnOnce(&mut Events),
) -> Vec<SettingsFile> {
    let loaded = load_all(sources, events, declare_runtime_events);
    let mut read = |(source, loaded): (&SettingsSource, Option<(SettingsFile, String)>)| {
        let is_same = |file: &&SettingsFile| {
            file.path.as_ref() == Some(&source.path) && file.source == source.source
        };
        let Some((current, _)) = loaded else {
            return previous.iter().find(is_same).and_then(report_removed_upstream);
        };
        match previous.iter().find(is_same) {
            Some(previous_file)
                if previous_file.was_read
                    && (is_broken(&current, source, strict)
                        || lacks_guard(&current, previous_file)) =>
            {
                let mut kept = keep_previous(previous_file, current);
                for definition in &previous_file.declared {
                    // If an event is declared differently now, its guards block.
                    if let Err(error) = declare(&previous_file.source, definition.clone(), events) {
                        let location = Location::of_file(&source.path);
                        let message = format!("what the file declared before: {error}");
                        let problem = Diagnostic::new(Rule::InvalidEvent, location, message);
                        kept.diagnostics.push(problem);
                    }
                }
                Some(kept)
            }
            _ => Some(current),
        }
    };
    sources.iter().zip(loaded).filter_map(&mut read).collect()
}

fn is_broken(current: &SettingsFile, source: &SettingsSource, strict: bool) -> bool {
    match strict {
        true => current.diagnostics.iter().any(|problem| problem.severity == Severity::Error),
        false => !current.was_read && !absence::is_absent(&source.path),
    }
}

/// Checks whether a guard is gone from a file that has errors, so that it may not be meant to be.
fn lacks_guard(current: &SettingsFile, previous: &SettingsFile) -> bool {
    let is_guard =
        |hook: &&HookEntry| hook.fail_behavior == FailBehavior::Block && hook.unreadable.is_none();
    let is_same = |one: &HookEntry, other: &HookEntry| {
        (one.event, &one.command, &one.name) == (other.event, &other.command, &other.name)
    };
    current.diagnostics.iter().any(|problem| problem.severity == Severity::Error)
        && previous
            .hooks
            .iter()
            .filter(is_guard)
            .any(|guard| !current.hooks.iter().filter(is_guard).any(|hook| is_same(guard, hook)))
}

/// Returns the remains of a deleted file that had an upstream fleet: a warning for as long as the
/// engine runs, since nothing else shows that a guard is missing.
fn report_removed_upstream(removed: &SettingsFile) -> Option<SettingsFile> {
    let reported =
        removed.diagnostics.iter().find(|problem| problem.rule == Rule::UpstreamGone).cloned();
    let upstream = removed.hooks.iter().find_map(|hook| hook.upstream.as_ref());
    let problem = reported.or_else(|| {
        let message = format!(
            "the file is gone, and with it the fleet at {} that was asked behind the hooks; nobody asks it \
             any more",
            upstream?.nats
        );
        let location = removed.path.as_ref().map(Location::of_file).unwrap_or_default();
        Some(Diagnostic::new(Rule::UpstreamGone, location, message))
    })?;
    Some(SettingsFile {
        config: Arc::default(),
        hooks: Vec::new(),
        rules: Vec::new(),
        declared: Vec::new(),
        diagnostics: vec![problem],
        spans: FileSpans::default(),
        ..removed.clone()
    })
}

/// Returns the previous contents, with the problems of the present file.
fn keep_previous(previous: &SettingsFile, current: SettingsFile) -> SettingsFile {
    let location = previous.path.as_ref().map(Location::of_file).unwrap_or_default();
    let message = "the file is broken now, so what was read of it before stays in force; fix it, \
                   and have the settings read again";
    let mut diagnostics = vec![Diagnostic::new(Rule::UnreadableFile, location, message)];
    diagnostics.extend(current.diagnostics.into_iter().map(without_consequence));
    SettingsFile { diagnostics, ..previous.clone() }
}

/// Removes the consequence from a message: the hooks that are still effective do run.
fn without_consequence(mut problem: Diagnostic) -> Diagnostic {
    if let Some(end) = problem.message.find("; none of its hooks run") {
        problem.message.truncate(end);
    }
    problem
}
