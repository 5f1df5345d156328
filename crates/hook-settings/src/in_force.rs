//! Reload of settings: if a file is broken now, its previous contents stay effective, so that an
//! editing mistake disables no guard (protocol.md §1, "Diagnostics").

use std::sync::Arc;

use super::declaring::declare;
use super::definition::{FileSpans, SettingsFile};
use super::diagnostic::{Diagnostic, Place};
use super::load::load_all;
use super::rule::Rule;
use super::rule::Severity;
use super::source::SettingsSource;
use hook_files::absence;
use hook_protocol::event::Events;

/// Reloads every source. `before` are the files effective until now. With `strict`, a file with any
/// error is broken; otherwise only a file of which nothing can be read.
///
/// Hooks can listen to `events`, to events that the sources declare, and to those that
/// `at_run_time` adds; all are added to `events`. A project's declarations apply only to its own
/// hooks, until a [registry](hook_core::HookRegistry) finds these trusted.
///
/// A deleted file loses its hooks, with a warning if a fleet is no longer called; with `strict`, a
/// missing required file is broken.
#[doc(hidden)]
pub fn read_again(
    sources: &[SettingsSource],
    before: &[SettingsFile],
    strict: bool,
    events: &mut Events,
    at_run_time: impl FnOnce(&mut Events),
) -> Vec<SettingsFile> {
    let loaded = load_all(sources, events, at_run_time);
    let mut read = |(source, loaded): (&SettingsSource, Option<(SettingsFile, String)>)| {
        let is_same = |it: &&SettingsFile| {
            it.path.as_ref() == Some(&source.path) && it.source == source.source
        };
        let Some((now, _)) = loaded else {
            return before.iter().find(is_same).and_then(without_upstream);
        };
        match before.iter().find(is_same) {
            Some(kept) if kept.was_read && is_broken(&now, source, strict) => {
                for definition in &kept.declared {
                    // If an event is declared differently now, its guards block.
                    let _ = declare(&kept.source, definition.clone(), events);
                }
                Some(kept_in_force(kept, now))
            }
            _ => Some(now),
        }
    };
    sources.iter().zip(loaded).filter_map(&mut read).collect()
}

fn is_broken(now: &SettingsFile, source: &SettingsSource, strict: bool) -> bool {
    match strict {
        true => now.diagnostics.iter().any(|it| it.severity == Severity::Error),
        false => !now.was_read && !absence::is_absent(&source.path),
    }
}

/// Returns the remains of a deleted file that had an upstream fleet: a warning for as long as the
/// engine runs, since nothing else shows that a guard is missing.
fn without_upstream(gone: &SettingsFile) -> Option<SettingsFile> {
    let said = gone.diagnostics.iter().find(|problem| problem.rule == Rule::UpstreamGone).cloned();
    let upstream = gone.hooks.iter().find_map(|hook| hook.upstream.as_ref());
    let problem = said.or_else(|| {
        let message = format!(
            "the file is gone, and with it the fleet at {} that was asked behind the hooks; nobody asks it \
             any more",
            upstream?.nats
        );
        let place = gone.path.as_ref().map(Place::of_file).unwrap_or_default();
        Some(Diagnostic::new(Rule::UpstreamGone, place, message))
    })?;
    Some(SettingsFile {
        config: Arc::default(),
        hooks: Vec::new(),
        declared: Vec::new(),
        diagnostics: vec![problem],
        spans: FileSpans::default(),
        ..gone.clone()
    })
}

/// Returns the previous contents, with the problems of the present file.
fn kept_in_force(kept: &SettingsFile, now: SettingsFile) -> SettingsFile {
    let place = kept.path.as_ref().map(Place::of_file).unwrap_or_default();
    let message = "the file is broken now, so what was read of it before stays in force; fix it, \
                   and have the settings read again";
    let mut diagnostics = vec![Diagnostic::new(Rule::UnreadableFile, place, message)];
    diagnostics.extend(now.diagnostics.into_iter().map(without_consequence));
    SettingsFile { diagnostics, ..kept.clone() }
}

/// Removes the consequence from a message: the hooks that are still effective do run.
fn without_consequence(mut problem: Diagnostic) -> Diagnostic {
    if let Some(end) = problem.message.find("; none of its hooks run") {
        problem.message.truncate(end);
    }
    problem
}
