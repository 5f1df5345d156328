//! The settings of another agent, parsed by its language.

use std::sync::Arc;

use super::definition::{
    DEFAULT_PRIORITY, FileSpans, HookEntry, HookSpans, HooksConfig, SettingsFile, TimeoutOrigin,
};
use super::diagnostic::Diagnostic;
use super::document::Document;
use super::fail_behavior::FailBehavior;
use super::rule::Rule;
use super::source::{HookSource, SettingsSource};
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
    SettingsFile {
        source: source.source.clone(),
        path: Some(source.path.clone()),
        project: source.project.clone(),
        language: source.language,
        hooks: read.hooks.into_iter().map(|hook| entry(hook, &document, &config)).collect(),
        rules: Vec::new(),
        config,
        declared: Vec::new(),
        diagnostics: read
            .problems
            .into_iter()
            .map(|problem| diagnostic(problem, &document))
            .collect(),
        entries: read.entries,
        was_read: read.was_read,
        mentions_guard: false,
        spans: FileSpans::default(),
    }
}

/// Converts a problem of an agent's hooks to a diagnostic.
pub(super) fn diagnostic(problem: ForeignProblem, document: &Document<'_>) -> Diagnostic {
    let rule = match (problem.loss, problem.path.is_empty()) {
        (ForeignLoss::Hooks, true) => Rule::NotJson,
        (ForeignLoss::Hooks, false) => Rule::ForeignSkipped,
        (ForeignLoss::Part, _) => Rule::ForeignLost,
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
    HookEntry {
        event: entry.event,
        matcher: entry.hook.matcher.as_deref().map(|matcher| Arc::new(matcher.into())),
        priority: DEFAULT_PRIORITY,
        sequential: entry.sequential,
        command: entry.hook.command.shown(),
        name: entry.name,
        description: None,
        timeout: Some(entry.timeout),
        timeout_origin: TimeoutOrigin::Hook,
        fail_behavior: match entry.blocks_on_failure {
            true => FailBehavior::Block,
            false => FailBehavior::Continue,
        },
        is_async: entry.is_async && !entry.blocks_on_failure,
        env: entry.hook.variables.clone(),
        data: Vec::new(),
        worker: None,
        module: None,
        purpose: None,
        upstream: None,
        config: Arc::clone(config),
        spans: HookSpans { foreign_hook: Some(entry.range.clone()), ..HookSpans::default() },
        location: document.location_at(entry.range, entry.path),
        foreign: Some(Arc::new(entry.hook)),
        unreadable: None,
    }
}
