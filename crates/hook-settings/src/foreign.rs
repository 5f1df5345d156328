//! The settings of another agent, parsed by its language.

use std::sync::Arc;

use super::definition::{HookEntry, HooksConfig, SettingsFile};
use super::diagnostic::Diagnostic;
use super::document::Document;
use super::keywords::{FailBehavior, TimeoutOrigin};
use super::rule::Rule;
use super::source::{HookSource, SettingsSource};
use super::values::HookSpans;
use crate::language::{
    ForeignEntry, ForeignFile, ForeignLoss, ForeignProblem, Language, OtherFile,
};
use hook_protocol::event::Events;

/// Parses the settings text of an agent.
pub(super) fn parse(
    text: &str,
    source: &SettingsSource,
    language: &'static dyn Language,
    others: &[OtherFile<'_>],
    events: &Events,
) -> SettingsFile {
    let document = Document::new(text, Some(source.path.clone()));
    let file = ForeignFile {
        path: Some(&source.path),
        plugin_root: source.plugin_root.as_deref(),
        is_user: source.source == HookSource::User,
        is_system: source.source == HookSource::System,
        is_explicit: source.source == HookSource::Explicit,
        is_discovered: source.is_discovered,
        events,
        others,
    };
    let read = language.read(text, &file);
    let config = Arc::default();
    let problems = read.problems.into_iter();
    SettingsFile {
        hooks: read.hooks.into_iter().map(|hook| entry(hook, &document, &config)).collect(),
        rules: Vec::new(),
        config,
        diagnostics: problems.map(|problem| diagnostic(problem, &document)).collect(),
        entries: read.entries,
        was_read: read.was_read,
        ..SettingsFile::of(source)
    }
}

/// Converts a problem of an agent's hooks to a diagnostic.
pub(super) fn diagnostic(problem: ForeignProblem, document: &Document<'_>) -> Diagnostic {
    let rule = match (problem.loss, problem.path.is_empty()) {
        (ForeignLoss::Hooks, true) => Rule::NotJson,
        (ForeignLoss::Hooks, false) => Rule::ForeignSkipped,
        (ForeignLoss::Part, _) => Rule::ForeignLost,
        (ForeignLoss::Agent, _) => Rule::ForeignRefused,
        (ForeignLoss::Nothing, _) => Rule::ForeignUnused,
    };
    let location = document.location_at(problem.range, problem.path);
    Diagnostic::new(rule, location, problem.message)
}

/// Returns the entry for an agent's hook in a file with the given options.
pub(super) fn entry(
    entry: ForeignEntry,
    document: &Document<'_>,
    config: &Arc<HooksConfig>,
) -> HookEntry {
    let mut spans = HookSpans::default();
    spans.set("command", entry.range.clone());
    let location = document.location_at(entry.range, entry.path);
    HookEntry {
        matcher: entry.hook.matcher.as_deref().map(|matcher| Arc::new(matcher.into())),
        sequential: entry.sequential,
        command: entry.hook.command.shown(),
        name: entry.name,
        timeout: Some(entry.timeout),
        timeout_origin: TimeoutOrigin::Hook,
        fail_behavior: match entry.blocks_on_failure {
            true => FailBehavior::Block,
            false => FailBehavior::Continue,
        },
        is_async: entry.is_async && !entry.blocks_on_failure,
        env: entry.hook.variables.clone(),
        spans,
        foreign: Some(Arc::new(entry.hook)),
        ..HookEntry::of_file(entry.event, config, location)
    }
}
